//! Pods of owners that are known, unknown, wrong or none.

use serde_json::{Value, json};

use crate::support::{View, explained_of_objects, story_of_objects};

/// A pod that failed, of an owner: `argoproj.io/v1alpha1`, `Workflow`, `x`.
fn failed(name: &str, owner: Option<(&str, &str, &str)>) -> Value {
    let owners = owner.map(|(api, kind, name)| {
        json!([{"apiVersion": api, "kind": kind, "name": name, "uid": format!("uid-{name}"), "controller": true}])
    });
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}"), "ownerReferences": owners,
            "creationTimestamp": "2026-11-30T09:00:00Z"},
        "spec": {"nodeName": "node-1", "containers": [{"name": "main", "image": "app:1"}]},
        "status": {"phase": "Failed", "startTime": "2026-11-30T09:00:01Z", "containerStatuses": [{"name": "main",
            "state": {"terminated": {"exitCode": 3, "reason": "Error", "startedAt": "2026-11-30T09:00:02Z",
                "finishedAt": "2026-11-30T09:00:05Z"}}}]}})
}

/// The workload that the only failure of some objects is shown under.
fn shown_under(objects: &Value) -> String {
    let story = story_of_objects(objects, &View::default());
    assert_eq!(story.lines.len(), 1, "{:?}", story.lines);
    assert_eq!((&story.lines[0]["class"], &story.lines[0]["exitCode"]), (&json!("noJob"), &json!(3)));
    story.lines[0]["workload"].as_str().unwrap().to_owned()
}

#[test]
fn pods_of_unknown_owners_are_shown_under_these() {
    for (api, kind, expected) in [
        ("argoproj.io/v1alpha1", "Workflow", "workflow/x"),
        ("ray.io/v1", "RayCluster", "raycluster/x"),
        ("sparkoperator.k8s.io/v1beta2", "SparkApplication", "sparkapplication/x"),
        ("tekton.dev/v1", "TaskRun", "taskrun/x"),
        // It has the name of a kind that is known, and is not of it.
        ("batch.volcano.sh/v1alpha1", "Job", "job.batch.volcano.sh/x"),
    ] {
        assert_eq!(shown_under(&json!([failed("p", Some((api, kind, "x")))])), expected);
    }
}

/// Nothing is said of rules, of `backoffLimit`, nor of another pod that would come.
#[test]
fn nothing_of_jobs_is_said_of_pods_that_belong_to_none() {
    let objects = json!([failed("p", Some(("batch.volcano.sh/v1alpha1", "Job", "x")))]);
    let story = story_of_objects(&objects, &View::default());
    assert_eq!(story.lines[0]["counted"], false);
    assert_eq!(story.lines[0]["rule"], Value::Null);
    let told = explained_of_objects(&objects, "pod/p").to_string();
    assert!(!told.contains("podFailurePolicy") && !told.contains("backoffLimit"), "{told}");
    assert!(told.contains("it belongs to Job.batch.volcano.sh x."), "{told}");
    assert!(told.contains("its owner, a Job.batch.volcano.sh, may make another in its place"), "{told}");
}

/// Executors belong to the driver pod, which belongs to the application; a driver that is well is not in the way.
#[test]
fn executors_of_a_spark_driver_are_shown_under_its_application() {
    let executor = failed("executor", Some(("v1", "Pod", "driver")));
    let mut driver = failed("driver", Some(("sparkoperator.k8s.io/v1beta2", "SparkApplication", "pi")));
    let story = story_of_objects(&json!([executor, driver]), &View::default());
    let workloads: Vec<&Value> = story.lines.iter().map(|line| &line["workload"]).collect();
    assert_eq!(workloads, ["sparkapplication/pi", "sparkapplication/pi"]);
    driver["status"] = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    assert_eq!(shown_under(&json!([driver, executor])), "pod/driver");
}

#[test]
fn pods_without_an_owner_are_their_own_workload() {
    assert_eq!(shown_under(&json!([failed("bare", None)])), "pod/bare");
    // A static pod's owner is the node that it was written down on.
    assert_eq!(shown_under(&json!([failed("etcd-node-1", Some(("v1", "Node", "node-1")))])), "pod/etcd-node-1");
}

/// An operator's own kind above a `StatefulSet` is not known: the `StatefulSet` is.
#[test]
fn what_an_operator_owns_stays_a_statefulset() {
    let set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": "pg", "namespace": "ns", "uid": "uid-pg", "ownerReferences": [{"apiVersion": "acid.zalan.do/v1",
            "kind": "postgresql", "name": "main", "uid": "uid-main", "controller": true}]},
        "spec": {"replicas": 1}, "status": {"replicas": 1, "readyReplicas": 0}});
    assert_eq!(shown_under(&json!([set, failed("pg-0", Some(("apps/v1", "StatefulSet", "pg")))])), "statefulset/pg");
    assert_eq!(shown_under(&json!([failed("pg-0", Some(("apps/v1", "StatefulSet", "pg")))])), "statefulset/pg");
}

/// A `ReplicaSet` that is not in the data is known by its name and the hash of its pods; one without a Deployment stays what
/// it is.
#[test]
fn a_deployment_is_known_without_its_replica_set() {
    let mut pod = failed("web-abc12-x", Some(("apps/v1", "ReplicaSet", "web-abc12")));
    assert_eq!(shown_under(&json!([pod])), "replicaset/web-abc12");
    pod["metadata"]["labels"] = json!({"pod-template-hash": "abc12"});
    assert_eq!(shown_under(&json!([pod])), "deployment/web");
}

/// Owners that own each other, or themselves: nothing goes on for ever.
#[test]
fn circles_of_owners_end() {
    let objects = json!([
        failed("a", Some(("v1", "Pod", "b"))),
        failed("b", Some(("v1", "Pod", "a"))),
        failed("c", Some(("v1", "Pod", "c")))
    ]);
    let story = story_of_objects(&objects, &View::default());
    assert_eq!(story.lines.len(), 3);
    for line in &story.lines {
        assert!(line["workload"].as_str().unwrap().starts_with("pod/"), "{line}");
    }
}
