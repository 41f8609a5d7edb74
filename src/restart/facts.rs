use serde_json::Value;

use super::changes;
use super::plan::Plan;
use super::{Order, object};
use crate::report::RefusalReason;
use crate::source::cluster::Object;
use crate::words::{counted, list_names};

/// Names that are given of many.
pub(super) const NAMED: usize = 3;

/// What is known of the workload before anything is done.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// Where it is.
    pub(super) at: Object,
    /// The workload itself.
    pub(super) object: Value,
    /// The Jobs that it controls.
    pub(super) jobs: Vec<Value>,
    /// Its pods.
    pub(super) pods: Vec<Value>,
    /// The volume claims that it made, as far as they matter.
    pub(super) claims: Vec<Claim>,
    /// The namespace's volume claims that something owns.
    pub(super) owned: Vec<Value>,
    /// Whether these could not be read.
    pub(super) owned_unread: bool,
    /// Events about all of these.
    pub(super) events: Vec<Value>,
    /// Why its pods are not known, where they could not be read.
    pub(super) pods_unread: Option<String>,
    /// What could not be read, each a sentence.
    pub(super) unread: Vec<String>,
}

/// A volume claim of a `JobSet`'s template.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Claim {
    pub(super) name: String,
    /// The template's name, which is the volume's in the pods.
    pub(super) template: String,
    pub(super) fate: Fate,
}

/// What becomes of a volume claim when its `JobSet` is deleted.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fate {
    /// It is deleted with it.
    Deleted,
    /// It stays, with this spec.
    Stays(Value),
    /// It is not there.
    Missing,
    /// It could not be read, though its policy keeps it.
    StaysUnread(String),
    /// It could not be read, and its policy deletes it.
    Unknown(String),
}

impl Order {
    /// The same command with one flag more.
    pub(super) fn again_with(&self, flag: &str) -> String {
        self.commands.again(self.kind.name(), &self.name, &self.flags, flag)
    }

    /// The command without any flag.
    pub(super) fn plain_command(&self) -> String {
        self.command_with::<&str>(&[])
    }

    /// The command with these flags alone.
    pub(super) fn command_with<T: AsRef<str>>(&self, flags: &[T]) -> String {
        let flags: Vec<&str> = flags.iter().map(AsRef::as_ref).collect();
        self.commands.restart(self.kind.name(), &self.name, &flags)
    }

    /// The command that shows the workload.
    pub(super) fn look(&self) -> String {
        self.commands.kubectl(&["get", self.kind.name(), &self.name, "-o", "yaml"])
    }

    /// What is made again, with the change that is asked for.
    pub(super) fn changed(&self, plan: &mut Plan, manifest: Value) -> Value {
        let Some(patch) = &self.patch else { return manifest };
        match patch.apply(&manifest) {
            Ok(changed) => {
                changes::notice(plan, &manifest, &changed);
                changed
            }
            Err(why) => {
                plan.refuse(RefusalReason::NotPossible, format!("{}: {why}", self.subject()), Vec::new());
                manifest
            }
        }
    }

    /// `job/etl`.
    pub(super) fn subject(&self) -> String {
        format!("{}/{}", self.kind.name(), self.name)
    }
}

impl Facts {
    /// Pods whose containers still run or are about to.
    pub(super) fn running(&self) -> impl Iterator<Item = &Value> {
        self.pods.iter().filter(|pod| !object::is_over(pod))
    }

    /// `3 pods (2 failed, 1 running) and their logs: etl-a, etl-b, etl-c`.
    pub(super) fn pods_and_logs(&self) -> Option<String> {
        if self.pods.is_empty() {
            return None;
        }
        let count = |phase: &str| self.pods.iter().filter(|pod| object::text(pod, "/status/phase") == phase).count();
        let phases = ["Failed", "Succeeded", "Running", "Pending"];
        let counts: Vec<String> = phases
            .into_iter()
            .map(|phase| (count(phase), phase))
            .filter(|(count, _)| *count > 0)
            .map(|(count, phase)| format!("{count} {}", phase.to_ascii_lowercase()))
            .collect();
        let names: Vec<&str> = self.pods.iter().map(object::name).collect();
        let (number, their) = (counted(self.pods.len(), "pod"), if self.pods.len() == 1 { "its" } else { "their" });
        Some(format!("{number} ({}) and {their} logs: {}", counts.join(", "), list_names(&names, NAMED)))
    }
}
