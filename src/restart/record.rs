//! How far a restart is, on this machine's disk: what was begun is gone on with, by whomever runs the command again.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::RestartError;
use super::folder::Folder;
use super::plan::{Action, Step};
use super::trust::ensure_are_about;
use crate::model::Time;
use crate::report::API_VERSION;
use crate::source::cluster::Object;

/// The file of the record.
const FILE: &str = "record.json";
/// The object that is created, as `kubectl create -f` takes it.
pub(super) const MANIFEST: &str = "manifest.json";
const KIND: &str = "RestartRecord";

/// A restart that was begun. It holds no credentials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    api_version: String,
    kind: String,
    /// The server's address without credentials.
    server: String,
    /// The workload.
    subject: Object,
    /// Its uid as it was read first.
    pub(super) uid: String,
    pub(super) started_at: String,
    pub(super) summary: String,
    pub(super) steps: Vec<Step>,
    /// How many of the steps are done.
    pub(super) done: usize,
    /// Whether the next step was begun: it may have been done.
    pub(super) under_way: bool,
    /// Whether there is nothing left to do.
    pub(super) finished: bool,
    /// Commands to look at it with afterwards.
    pub(super) next: Vec<String>,
    /// The flags that said what is to be done.
    pub(super) flags: Vec<String>,
}

impl Record {
    pub(super) fn new(server: &str, subject: &Object, uid: &str, now: Time, summary: &str) -> Self {
        Self {
            api_version: API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            server: server.to_owned(),
            subject: subject.clone(),
            uid: uid.to_owned(),
            started_at: now.to_string(),
            summary: summary.to_owned(),
            steps: Vec::new(),
            done: 0,
            under_way: false,
            finished: false,
            next: Vec::new(),
            flags: Vec::new(),
        }
    }

    /// What is left to do.
    pub(super) fn left(&self) -> &[Step] {
        self.steps.get(self.done..).unwrap_or_default()
    }

    /// Whether these flags ask for the same: those that decide what is done, and not how.
    pub(super) fn is_like(&self, flags: &[String]) -> bool {
        let deciding = |flags: &[String]| -> Vec<String> {
            let deciding = |flag: &&String| ["--keep", "--patch=", "--group="].iter().any(|of| flag.starts_with(of));
            flags.iter().filter(deciding).cloned().collect()
        };
        deciding(&self.flags) == deciding(flags)
    }

    pub(super) fn save(&self, folder: &Folder) -> Result<(), RestartError> {
        let json = serde_json::to_vec_pretty(self).map_err(|error| RestartError::Internal(error.to_string()))?;
        folder.write(FILE, &json)
    }

    /// The restarts of this workload, on this server, that were begun and not finished, the newest first; `say` gets a
    /// line for each record that cannot be read.
    pub(super) fn unfinished(
        bases: &[&Path],
        server: &str,
        subject: &Object,
        say: &mut dyn FnMut(&str),
    ) -> Vec<(Folder, Self)> {
        let mut found: Vec<(Folder, Self)> = Vec::new();
        for entry in bases.iter().filter_map(|base| base.read_dir().ok()).flatten().filter_map(Result::ok) {
            let folder = Folder::at(entry.path());
            if !folder.path().join(FILE).is_file() {
                continue;
            }
            match Self::load(&folder) {
                Ok(record) if record.is_of(server, subject) && !record.finished => found.push((folder, record)),
                Ok(_) => {}
                Err(error) => say(&format!("an earlier restart's record is passed over: {error}")),
            }
        }
        found.sort_by(|a, b| b.1.started_at.cmp(&a.1.started_at));
        found
    }

    fn is_of(&self, server: &str, subject: &Object) -> bool {
        // The group's version may have changed meanwhile.
        self.kind == KIND
            && self.server == server
            && self.subject.rbac_name() == subject.rbac_name()
            && self.subject.namespace == subject.namespace
            && self.subject.name == subject.name
    }

    fn load(folder: &Folder) -> Result<Self, RestartError> {
        let unreadable = |name: &str, error: &serde_json::Error| RestartError::Folder {
            path: folder.path().join(name),
            why: error.to_string(),
        };
        let mut record: Self =
            serde_json::from_slice(&folder.read_own(FILE)?).map_err(|error| unreadable(FILE, &error))?;
        for step in &mut record.steps {
            if let Action::Create { manifest, .. } = &mut step.action {
                let saved: Value = serde_json::from_slice(&folder.read_own(MANIFEST)?)
                    .map_err(|error| unreadable(MANIFEST, &error))?;
                *manifest = saved;
            }
        }
        ensure_are_about(&record.subject, &record.uid, &record.steps)
            .map_err(|why| RestartError::Folder { path: folder.path().join(FILE), why })?;
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(name: &str) -> Object {
        Object { api_version: "batch/v1".into(), resource: "jobs".into(), namespace: "ml".into(), name: name.into() }
    }

    fn saved(base: &Path, folder: &str, server: &str, name: &str, change: impl Fn(&mut Record)) {
        let folder = Folder::create(base, folder).unwrap();
        let manifest = json!({"kind": "Job", "metadata": {"name": name}});
        folder.write(MANIFEST, manifest.to_string().as_bytes()).unwrap();
        let mut record = Record::new(server, &object(name), "u1", Time::from_seconds(0), "s");
        record.steps = vec![Step::new("t", Action::Create { object: object(name), replaces: None, manifest })];
        change(&mut record);
        record.save(&folder).unwrap();
    }

    #[test]
    fn only_an_unfinished_restart_of_the_same_workload_is_found_the_newest_first() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path();
        saved(path, "a", "https://a", "etl", |record| record.finished = true);
        saved(path, "b", "https://b", "etl", |_| {});
        saved(path, "c", "https://a", "other", |_| {});
        let find = |said: &mut Vec<String>| {
            Record::unfinished(&[path, Path::new("/nonexistent")], "https://a", &object("etl"), &mut |line| {
                said.push(line.to_owned());
            })
        };
        assert!(find(&mut Vec::new()).is_empty());
        saved(path, "d", "https://a", "etl", |_| {});
        saved(path, "e", "https://a", "etl", |record| record.started_at = "2026-11-30T09:00:00Z".into());
        std::fs::create_dir(path.join("f")).unwrap();
        std::fs::write(path.join("f").join(FILE), "{").unwrap();
        let mut said = Vec::new();
        let found = find(&mut said);
        let [(folder, record), (older, _)] = &found[..] else { panic!("{found:?}") };
        assert!(folder.path().ends_with("e") && older.path().ends_with("d") && said.len() == 1, "{said:?}");
        let Action::Create { manifest, .. } = &record.left()[0].action else { panic!() };
        assert_eq!(*manifest, json!({"kind": "Job", "metadata": {"name": "etl"}}));
    }

    #[cfg(unix)]
    #[test]
    fn files_and_folders_are_their_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let base = tempfile::tempdir().unwrap();
        let inner = base.path().join("state/restarts");
        saved(&inner, "a", "https://a", "etl", |_| {});
        for (path, mode) in [("", 0o700), ("a", 0o700), ("a/record.json", 0o600), ("a/manifest.json", 0o600)] {
            assert_eq!(inner.join(path).metadata().unwrap().permissions().mode() & 0o777, mode, "{path}");
        }
        assert!(Folder::create(&inner, "a").unwrap().path().ends_with("a-2"));
    }
}
