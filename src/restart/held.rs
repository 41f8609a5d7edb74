//! What holds up a deletion that takes too long: the objects that are still there, by name.

use serde_json::Value;

use super::facts::NAMED;
use super::gather::pods_of;
use super::object::{array, is_being_deleted, is_controlled_by, name, text};
use crate::source::cluster::{Object, Session};
use crate::words::list_names;

/// The Jobs and pods of a workload that are still there; empty where there are none, or none can be seen.
pub(super) fn dependents(session: &Session, object: &Object, owner: &str) -> String {
    let (selector, has_jobs) = match object.resource.as_str() {
        // It says itself how its pods are found.
        "jobs" => (session.get(object).ok().flatten().as_ref().map(pods_of).unwrap_or_default(), false),
        "jobsets" => (format!("jobset.sigs.k8s.io/jobset-name={}", object.name), true),
        _ => return String::new(),
    };
    if selector.is_empty() {
        return String::new();
    }
    let mut left = Vec::new();
    for (api_version, resource, one, wanted) in [("batch/v1", "jobs", "job", has_jobs), ("v1", "pods", "pod", true)] {
        let like = Object { api_version: api_version.into(), resource: resource.into(), ..object.clone() };
        // It is said besides: what cannot be listed must not hide what is known.
        let found = if wanted { session.list(&like, &[("labelSelector", &selector)]).ok() } else { None };
        let mut found = found.unwrap_or_default();
        // Those of another one of the same name are not waited for.
        found.retain(|one| has_jobs || is_controlled_by(one, owner));
        left.extend(found.iter().map(|found| format!("{one}/{}{}", name(found), state(found))));
    }
    if left.is_empty() {
        return String::new();
    }
    format!("; still there: {}", list_names(&left, NAMED))
}

/// ` (held by example.com/hold; on node gpu-3)`: whoever puts a finalizer takes it away, and a pod on a node that does not
/// answer ends when the node does.
pub(super) fn state(object: &Value) -> String {
    let finalizers: Vec<&str> = array(object, "/metadata/finalizers").iter().filter_map(Value::as_str).collect();
    let mut parts = Vec::new();
    if !finalizers.is_empty() {
        parts.push(format!("held by {}", finalizers.join(", ")));
    }
    match text(object, "/spec/nodeName") {
        "" => {}
        node => parts.push(format!("on node {node}")),
    }
    if !is_being_deleted(object) {
        parts.push("not being deleted yet".to_owned());
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_known_of_the_holder_is_told() {
        let deleted = json!({"deletionTimestamp": "2026-11-30T09:00:00Z"});
        let mut held = deleted.clone();
        held["finalizers"] = json!(["example.com/hold", "batch.kubernetes.io/job-tracking"]);
        for (metadata, spec, said) in [
            (&deleted, json!({}), ""),
            (&held, json!({}), " (held by example.com/hold, batch.kubernetes.io/job-tracking)"),
            (&deleted, json!({"nodeName": "gpu-3"}), " (on node gpu-3)"),
            (&json!({}), json!({"nodeName": "gpu-3"}), " (on node gpu-3; not being deleted yet)"),
        ] {
            assert_eq!(state(&json!({"metadata": metadata, "spec": spec})), said);
        }
    }
}
