//! A server of tomorrow: its objects have fields, and its groups versions, that nobody knows yet.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::cluster::Ran;
use crate::support::{FakeApi, Home, Reply, Request};
use crate::unknown::with_unknown_fields;

/// A recording, as a server serves it: lists by the plural of their kind.
struct Served {
    /// Of each plural its kind, its group and version, and its objects.
    lists: BTreeMap<String, (String, String, Vec<Value>)>,
}

impl Served {
    fn recording(name: &str, change: impl Fn(&mut Value)) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/recorded").join(format!("{name}.json"));
        let dump: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let mut lists: BTreeMap<String, (String, String, Vec<Value>)> = BTreeMap::new();
        for item in dump["items"].as_array().unwrap() {
            let (kind, version) = (item["kind"].as_str().unwrap(), item["apiVersion"].as_str().unwrap());
            let mut item = item.clone();
            let fields = item.as_object_mut().unwrap();
            // Lists leave these out.
            fields.remove("kind");
            fields.remove("apiVersion");
            change(&mut item);
            let plural = format!("{}s", kind.to_ascii_lowercase()).replace("sandboxs", "sandboxes");
            let list = lists.entry(plural).or_insert_with(|| (kind.to_owned(), version.to_owned(), Vec::new()));
            list.2.push(item);
        }
        Self { lists }
    }

    fn answer(&self, request: &Request) -> Reply {
        let path = request.path();
        if let Some(group) = path.strip_prefix("/apis/").filter(|rest| !rest.contains('/')) {
            let of_group = |(_, version, _): &&(String, String, Vec<Value>)| version.split('/').next() == Some(group);
            let Some((_, version, _)) = self.lists.values().find(of_group) else { return Reply::no_such_path() };
            let preferred = json!({"groupVersion": version, "version": version, "stabilityOfTomorrow": 3});
            let unknown = json!({"groupVersion": format!("{group}/v99"), "version": "v99"});
            let body = json!({
                "kind": "APIGroup", "apiVersion": "v1", "name": group, "versions": [unknown, preferred], "preferredVersion": preferred,
            });
            return Reply::json(200, body.to_string());
        }
        let last = path.rsplit('/').next().unwrap();
        if let Some((kind, version, items)) = self.lists.get(last) {
            let list = json!({
                "kind": format!("{kind}List"), "apiVersion": version, "metadata": {"resourceVersion": "9", "shard": {"of": 3}},
                "tomorrow": {"items": [1]}, "items": items,
            });
            return Reply::json(200, list.to_string());
        }
        let core = [
            "jobs",
            "pods",
            "cronjobs",
            "events",
            "deployments",
            "replicasets",
            "statefulsets",
            "daemonsets",
            "controllerrevisions",
        ];
        if core.contains(&last) {
            return Reply::json(
                200,
                json!({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": []}).to_string(),
            );
        }
        Reply::status(404, "NotFound", &format!("{path} not found"))
    }

    /// The report, but for what tells of the moment and the place.
    fn report(self) -> Value {
        let api = FakeApi::start(move |request| self.answer(request));
        let home = Home::of(&api);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_kubectl-sigapps"));
        command.args(["failures", "-A", "--all", "-o", "json"]).env_clear().env("HOME", home.path());
        let ran = Ran::of(command.output().unwrap());
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
        let mut report: Value = serde_json::from_str(&ran.stdout).unwrap();
        report["asOf"] = Value::Null;
        report
    }
}

#[test]
fn fields_that_nobody_knows_change_nothing_live_either() {
    for name in ["jobset-llama-70b", "job-with-sidecar", "leaderworkerset-none", "sandbox-pvc-oom"] {
        let today = Served::recording(name, |_| {}).report();
        let tomorrow = Served::recording(name, with_unknown_fields).report();
        assert_eq!(tomorrow, today, "{name}");
        assert!(!today["groups"].as_array().unwrap().is_empty(), "{name}: {today:#}");
    }
}
