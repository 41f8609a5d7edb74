//! What of an object its maker wrote: the rest is set anew by the server and the controllers.

use serde_json::{Map, Value};

use super::kind::Kind;
use super::object::{is_set, set};

/// Set by the API server, or about the object that is. Source: apimachinery `pkg/apis/meta/v1`, `ObjectMeta`.
const OF_THE_SERVER: [&str; 9] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
    "generateName",
];
/// Finalizers that a deletion sets. Source: apimachinery `pkg/apis/meta/v1`, `FinalizerDeleteDependents`.
const OF_A_DELETION: [&str; 2] = ["foregroundDeletion", "orphan"];
/// Labels by which a Job finds its pods. Source: Kubernetes `pkg/registry/batch/job/strategy.go`, `generateSelector`.
const OF_THE_JOB: [&str; 4] =
    ["controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"];
/// Source: Kubernetes `pkg/controller/job`, before version 1.27.
const JOB_TRACKING: &str = "batch.kubernetes.io/job-tracking";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// What Kueue writes into pod templates as it admits. Source: Kueue `pkg/controller/constants`, `pkg/podset`.
const OF_KUEUE: [&str; 2] = ["kueue.x-k8s.io/podset", "kueue.x-k8s.io/workload"];

/// The object as it could be created. `last-applied-configuration` stays, as it is the same object to `kubectl apply`.
pub(super) fn strip(kind: Kind, object: &Value) -> Value {
    let mut made = object.clone();
    if let Some(fields) = made.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = made.get_mut("metadata").and_then(Value::as_object_mut) {
        strip_metadata(metadata);
    }
    if kind == Kind::Job {
        strip_job(&mut made);
    }
    if let Some(spec) = made.get_mut("spec") {
        strip_templates(spec);
    }
    made
}

/// The same under another name, as an object of its own: `kubectl apply` does not know it, and nobody controls it.
pub(super) fn renamed(mut made: Value, name: &str) -> Value {
    set(&mut made, &["metadata", "name"], name);
    remove(made.get_mut("metadata"), "annotations", &[LAST_APPLIED]);
    made
}

fn strip_metadata(metadata: &mut Map<String, Value>) {
    for field in OF_THE_SERVER {
        metadata.remove(field);
    }
    if let Some(finalizers) = metadata.get_mut("finalizers").and_then(Value::as_array_mut) {
        finalizers.retain(|finalizer| !finalizer.as_str().is_some_and(|text| OF_A_DELETION.contains(&text)));
        if finalizers.is_empty() {
            metadata.remove("finalizers");
        }
    }
    if let Some(owners) = metadata.get_mut("ownerReferences").and_then(Value::as_array_mut) {
        owners.retain(|owner| !is_set(owner, "/controller"));
        if owners.is_empty() {
            metadata.remove("ownerReferences");
        }
    }
}

/// A selector that the server made is made anew; one that its author wrote (`manualSelector`) stays, with its labels.
fn strip_job(job: &mut Value) {
    remove(job.get_mut("metadata"), "annotations", &[JOB_TRACKING]);
    if is_set(job, "/spec/manualSelector") {
        return;
    }
    if let Some(spec) = job.get_mut("spec").and_then(Value::as_object_mut) {
        spec.remove("selector");
    }
    remove(job.get_mut("metadata"), "labels", &OF_THE_JOB);
    remove(job.pointer_mut("/spec/template/metadata"), "labels", &OF_THE_JOB);
}

/// Wherever in the spec: what the server and Kueue write into the metadata of templates.
fn strip_templates(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if let Some(metadata) = fields.get_mut("metadata").filter(|metadata| metadata.is_object()) {
                remove(Some(&mut *metadata), "labels", &OF_KUEUE);
                remove(Some(&mut *metadata), "annotations", &OF_KUEUE);
                if let Some(metadata) =
                    metadata.as_object_mut().filter(|m| m.get("creationTimestamp") == Some(&Value::Null))
                {
                    metadata.remove("creationTimestamp");
                }
            }
            fields.values_mut().for_each(strip_templates);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_templates),
        _ => {}
    }
}

/// Takes keys out of a map of metadata, and the map where nothing is left of it.
fn remove(metadata: Option<&mut Value>, map: &str, keys: &[&str]) {
    let Some(metadata) = metadata.and_then(Value::as_object_mut) else { return };
    let Some(entries) = metadata.get_mut(map).and_then(Value::as_object_mut) else { return };
    for key in keys {
        entries.remove(*key);
    }
    if entries.is_empty() {
        metadata.remove(map);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job() -> Value {
        json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {
                "name": "etl", "namespace": "data", "uid": "u1", "resourceVersion": "7", "generation": 1,
                "creationTimestamp": "2026-11-30T09:00:00Z", "selfLink": "/x",
                "deletionTimestamp": "2026-11-30T09:10:00Z", "deletionGracePeriodSeconds": 0,
                "managedFields": [{"manager": "kubectl"}],
                "finalizers": ["foregroundDeletion", "example.com/keep"],
                "labels": {"team": "data", "job-name": "etl", "batch.kubernetes.io/controller-uid": "u1"},
                "annotations": {"batch.kubernetes.io/job-tracking": "", "note": "mine"},
                "ownerReferences": [{"kind": "ConfigMap", "name": "c", "uid": "o1"},
                                    {"kind": "CronJob", "name": "nightly", "uid": "o2", "controller": true}],
            },
            "spec": {
                "ttlSecondsAfterFinished": 3600, "futureField": {"deep": [1, 2]}, "suspend": false,
                "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "u1"}},
                "template": {
                    "metadata": {"creationTimestamp": null, "labels": {
                        "app": "etl", "controller-uid": "u1", "job-name": "etl",
                        "batch.kubernetes.io/controller-uid": "u1", "batch.kubernetes.io/job-name": "etl"}},
                    "spec": {"containers": [{"name": "main", "newInTomorrow": true}]},
                },
            },
            "status": {"failed": 3},
        })
    }

    #[test]
    fn what_the_server_and_the_job_controller_set_goes_and_the_rest_survives() {
        let expected = json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {
                "name": "etl", "namespace": "data", "finalizers": ["example.com/keep"], "labels": {"team": "data"},
                "annotations": {"note": "mine"}, "ownerReferences": [{"kind": "ConfigMap", "name": "c", "uid": "o1"}],
            },
            "spec": {
                "ttlSecondsAfterFinished": 3600, "futureField": {"deep": [1, 2]}, "suspend": false,
                "template": {
                    "metadata": {"labels": {"app": "etl"}},
                    "spec": {"containers": [{"name": "main", "newInTomorrow": true}]},
                },
            },
        });
        assert_eq!(strip(Kind::Job, &job()), expected);
    }

    #[test]
    fn a_selector_of_the_authors_own_stays_with_its_labels() {
        let mut job = job();
        job["spec"]["manualSelector"] = true.into();
        let stripped = strip(Kind::Job, &job);
        assert_eq!(stripped["spec"]["selector"], job["spec"]["selector"]);
        assert_eq!(stripped["spec"]["template"]["metadata"]["labels"], job["spec"]["template"]["metadata"]["labels"]);
    }

    #[test]
    fn only_a_job_loses_labels_that_a_job_sets() {
        let job_set = json!({
            "metadata": {"name": "j", "labels": {"job-name": "mine"}, "annotations": {LAST_APPLIED: "{}"}},
            "spec": {"replicatedJobs": [{"template": {"spec": {"template": {"metadata": {
                "labels": {"job-name": "mine", "kueue.x-k8s.io/podset": "w"},
                "annotations": {"kueue.x-k8s.io/workload": "jobset-j-1"}}}}}}]},
        });
        let stripped = strip(Kind::JobSet, &job_set);
        assert_eq!(stripped["metadata"], job_set["metadata"]);
        assert_eq!(
            stripped.pointer("/spec/replicatedJobs/0/template/spec/template/metadata"),
            Some(&json!({"labels": {"job-name": "mine"}}))
        );
        let renamed = renamed(stripped, "k");
        assert_eq!(renamed["metadata"], json!({"name": "k", "labels": {"job-name": "mine"}}));
    }
}
