//! `kubectl sigapps restart`: what it sends, in which order, and what it leaves when something goes wrong.

mod going_on;
mod kinds;
mod outages;
mod plan;
mod planted;
mod refusals;
mod sizes;

use serde_json::{Value, json};

use crate::support::cluster::Cluster;

/// A Job that failed for good, with one pod and an Event.
pub(crate) fn failed_job(cluster: &Cluster) -> String {
    let owner = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "etl", "uid": "old", "controller": true}]);
    cluster.put(
        "pods",
        &json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": "etl-x", "namespace": "ml", "uid": "pod", "ownerReferences": owner,
                "managedFields": [{"manager": "kubelet"}], "labels": {"batch.kubernetes.io/job-name": "etl"},
            },
            "spec": {"containers": [{"name": "main", "env": [{"name": "TOKEN", "value": "s3cret"}]}]},
            "status": {"phase": "Failed", "containerStatuses": [
                {"name": "main", "restartCount": 1, "state": {"terminated": {"exitCode": 1}}}]},
        }),
    );
    cluster.put(
        "events",
        &json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": "etl.1", "namespace": "ml"},
            "involvedObject": {"kind": "Pod", "name": "etl-x"}, "reason": "BackOff", "message": "m",
        }),
    );
    cluster.put("jobs", &job("Failed"))
}

/// A Job with one condition.
pub(crate) fn job(condition: &str) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {
            "name": "etl", "namespace": "ml", "uid": "old", "resourceVersion": "7", "labels": {"team": "data"},
            "managedFields": [{"manager": "kubectl"}],
        },
        "spec": {
            "backoffLimit": 2, "fieldOfTomorrow": {"kept": true},
            "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "old"}},
            "template": {
                "metadata": {"labels": {"app": "etl", "batch.kubernetes.io/controller-uid": "old", "job-name": "etl"}},
                "spec": {"containers": [{"name": "main", "env": [{"name": "TOKEN", "value": "s3cret"}]}]},
            },
        },
        "status": {"failed": 3, "conditions": [{"type": condition, "status": "True", "reason": "BackoffLimitExceeded"}]},
    })
}

/// A `JobSet`, and the API group that it takes.
pub(crate) fn job_set(cluster: &Cluster, metadata: &Value, spec: &Value, status: &Value) -> String {
    cluster.state().versions.insert("jobset.x-k8s.io", vec!["v1alpha2"]);
    let mut object = json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": spec, "status": status,
    });
    object["metadata"]["name"] = "llama".into();
    object["metadata"]["namespace"] = "ml".into();
    object["metadata"]["uid"] = "set".into();
    cluster.put("jobsets", &object)
}
