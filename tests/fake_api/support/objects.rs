//! Objects as the API server writes them.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Reply, Request};

/// A pod of a Job that ended with exit code 1.
pub(crate) fn pod(namespace: &str, name: &str, job: &str) -> Value {
    json!({
        "metadata": {
            "name": name, "namespace": namespace, "uid": uid(&format!("p{name}")), "resourceVersion": "7",
            "labels": {"batch.kubernetes.io/job-name": job},
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": uid(job), "controller": true}],
        },
        "spec": {"containers": [{"name": "main", "image": "x"}]},
        "status": {"phase": "Failed", "containerStatuses": [
            {"name": "main", "state": {"terminated": {"exitCode": 1, "finishedAt": "2026-11-30T09:00:00Z"}}},
        ]},
    })
}

pub(crate) fn job(namespace: &str, name: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": namespace, "uid": uid(name), "resourceVersion": "7"},
        "spec": {"backoffLimit": 0},
        "status": {"failed": 1},
    })
}

/// A Job that something owns.
pub(crate) fn owned_job(namespace: &str, name: &str, api_version: &str, kind: &str, owner: &str) -> Value {
    let mut job = job(namespace, name);
    job["metadata"]["ownerReferences"] =
        json!([{"apiVersion": api_version, "kind": kind, "name": owner, "uid": uid(owner), "controller": true}]);
    job
}

pub(crate) fn named(namespace: &str, name: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": namespace, "uid": uid(name), "resourceVersion": "7"}, "spec": {}})
}

/// An object of its own, with kind and version.
pub(crate) fn whole(api_version: &str, kind: &str, mut object: Value) -> Reply {
    object["apiVersion"] = json!(api_version);
    object["kind"] = json!(kind);
    Reply::json(200, object.to_string())
}

/// A uid that a name stands for.
fn uid(name: &str) -> String {
    let mut hex = String::new();
    for byte in name.bytes().chain(std::iter::repeat(0)).take(16) {
        let _ = write!(hex, "{byte:02x}");
    }
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// The beginning of a list, to behind the bracket that opens its items; `more` is the token of the next page.
pub(crate) fn head(kind: &str, api_version: &str, more: &str) -> String {
    let metadata = if more.is_empty() { json!({"resourceVersion": "9"}) } else { json!({"continue": more}) };
    format!(r#"{{"kind":"{kind}List","apiVersion":"{api_version}","metadata":{metadata},"items":["#)
}

pub(crate) fn items(items: &[Value]) -> String {
    items.iter().map(Value::to_string).collect::<Vec<_>>().join(",")
}

pub(crate) fn list(kind: &str, api_version: &str, more: &str, objects: &[Value]) -> Reply {
    Reply::json(200, format!("{}{}]}}", head(kind, api_version, more), items(objects)))
}

pub(crate) fn pods(more: &str, names: &[&str]) -> Reply {
    let pods: Vec<Value> = names.iter().map(|name| pod("ml", name, "train")).collect();
    list("Pod", "v1", more, &pods)
}

/// A small cluster without `JobSet`s: one Job with one failed pod.
pub(crate) fn world(request: &Request) -> Reply {
    let path = request.path();
    match path.rsplit('/').next().unwrap() {
        "jobset.x-k8s.io" => Reply::no_such_path(),
        "jobs" => list("Job", "batch/v1", "", &[job("ml", "train")]),
        "pods" => pods("", &["train-0"]),
        "cronjobs" => list("CronJob", "batch/v1", "", &[]),
        "events" => list("Event", "v1", "", &[]),
        "deployments" => list("Deployment", "apps/v1", "", &[]),
        "replicasets" => list("ReplicaSet", "apps/v1", "", &[]),
        "statefulsets" => list("StatefulSet", "apps/v1", "", &[]),
        "daemonsets" => list("DaemonSet", "apps/v1", "", &[]),
        "controllerrevisions" => list("ControllerRevision", "apps/v1", "", &[]),
        _ => Reply::status(404, "NotFound", &format!("{path} not found")),
    }
}
