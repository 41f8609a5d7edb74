//! Cases that no recording plays, from objects written down here.

use serde_json::{Value, json};

use crate::support::{View, classes, story_of_objects};

#[allow(clippy::needless_pass_by_value)] // so that `json!` can be written in place
/// A Job named `name`, with its uid derived from it.
pub(crate) fn job(name: &str, spec: Value, status: Value) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}"), "creationTimestamp": "2026-11-30T09:00:00Z"},
        "spec": spec, "status": status,
    })
}

/// A pod of a Job that ended with an exit code at 09:01.
pub(crate) fn failed_pod(name: &str, of: &str, exit_code: i32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "ns", "uid": format!("uid-{name}"), "creationTimestamp": "2026-11-30T09:00:00Z",
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": of, "uid": format!("uid-{of}"), "controller": true}],
        },
        "spec": {"containers": [{"name": "main"}], "nodeName": "node-1"},
        "status": {
            "phase": "Failed", "startTime": "2026-11-30T09:00:00Z",
            "containerStatuses": [{"name": "main", "state": {"terminated": {
                "exitCode": exit_code, "reason": "Error", "startedAt": "2026-11-30T09:00:01Z", "finishedAt": "2026-11-30T09:01:00Z",
            }}}],
        },
    })
}

fn event(of: &str, reason: &str, message: &str, at: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": format!("{of}.{reason}.{at}"), "namespace": "ns"},
        "involvedObject": {"kind": "Job", "name": of, "namespace": "ns", "uid": format!("uid-{of}")},
        "reason": reason, "message": message, "type": "Warning", "firstTimestamp": at, "lastTimestamp": at, "count": 1,
    })
}

fn failing(reason: &str, at: &str) -> Value {
    json!([{"type": "FailureTarget", "status": "True", "reason": reason, "message": "m", "lastTransitionTime": at}])
}

#[test]
fn a_pod_whose_job_is_not_in_the_data_is_never_called_no_policy() {
    let story = story_of_objects(&json!([failed_pod("p", "gone", 9)]), &View::default());
    assert_eq!(story.classes(), classes(&[("unknown", 1)]));
    assert_eq!(story.lines[0]["job"], "gone");
    assert_eq!(story.lines[0]["counted"], Value::Null);
    assert!(story.group("unknown")["notes"][0].as_str().unwrap().contains("not in the data"));
    assert_eq!(story.workload()["state"], "unknown");
    assert_eq!(story.group("unknown")["cause"]["exitCode"], 9);
}

#[test]
fn a_job_of_the_same_name_and_another_uid_is_another_job() {
    let mut old = failed_pod("p", "train", 1);
    old["metadata"]["ownerReferences"][0]["uid"] = "uid-of-the-attempt-before".into();
    let story = story_of_objects(&json!([job("train", json!({}), json!({"active": 1})), old]), &View::default());
    assert_eq!(story.classes(), classes(&[("unknown", 1)]));
}

#[test]
fn a_job_managed_by_another_controller_is_read_and_not_recomputed() {
    let rules = json!([{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]);
    let spec = json!({"managedBy": "kueue.x-k8s.io/multikueue", "podFailurePolicy": {"rules": rules}});
    let managed =
        job("far", spec, json!({"failed": 3, "conditions": failing("BackoffLimitExceeded", "2026-11-30T09:02:00Z")}));
    let story = story_of_objects(&json!([managed, failed_pod("p", "far", 1)]), &View::default());
    assert_eq!(story.classes(), classes(&[("lost", 2), ("unknown", 1)]));
    assert!(story.report["notes"][0].as_str().unwrap().contains("managed by kueue.x-k8s.io/multikueue"));
    let own = job("near", json!({"managedBy": "kubernetes.io/job-controller"}), json!({"failed": 1}));
    let story = story_of_objects(&json!([own, failed_pod("p", "near", 1)]), &View::default());
    assert_eq!(story.classes(), classes(&[("noPolicy", 1)]), "the built-in controller by its name");
}

#[test]
fn a_job_that_cannot_create_pods_fails_by_itself() {
    let quota = "Error creating: pods \"x\" is forbidden: exceeded quota";
    let objects = json!([
        job("stuck", json!({"parallelism": 2}), json!({})),
        event("stuck", "SuccessfulCreate", "Created pod: stuck-1", "2026-11-30T09:00:00Z"),
        event("stuck", "FailedCreate", quota, "2026-11-30T09:01:00Z"),
    ]);
    let story = story_of_objects(&objects, &View::default());
    assert_eq!(story.classes(), classes(&[("jobLevel", 1)]));
    assert!(story.group("jobLevel")["cause"]["text"].as_str().unwrap().contains("exceeded quota"));
    assert_eq!(story.advice(), ["fixConfig"]);
    let mut healed = objects;
    healed[1]["firstTimestamp"] = "2026-11-30T09:02:00Z".into();
    healed[1]["lastTimestamp"] = "2026-11-30T09:02:00Z".into();
    assert_eq!(story_of_objects(&healed, &View::default()).lines.len(), 0, "it created one since");
}

#[test]
fn a_job_with_retries_left_is_waited_for() {
    let objects = json!([
        job("j", json!({"backoffLimit": 6}), json!({"failed": 2, "active": 1})),
        failed_pod("p", "j", 1),
        failed_pod("q", "j", 1)
    ]);
    let story = story_of_objects(&objects, &View::default());
    assert!(story.suggestion("wait")["why"].as_str().unwrap().contains("retries left: 4 of 6"));
    assert_eq!(story.workload()["state"], "running");
}

#[test]
fn kill_by_137_is_oom_only_where_the_reason_says_so() {
    let killed = failed_pod("p", "j", 137);
    let mut out_of_memory = failed_pod("q", "j", 137);
    out_of_memory["status"]["containerStatuses"][0]["state"]["terminated"]["reason"] = "OOMKilled".into();
    let objects = json!([job("j", json!({}), json!({"failed": 2})), killed, out_of_memory]);
    let story = story_of_objects(&objects, &View::default());
    let texts: std::collections::BTreeSet<_> = story.report["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|g| g["cause"]["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(texts.into_iter().collect::<Vec<_>>(), ["OOMKilled (main)", "exit 137 SIGKILL, sender unknown (main)"]);
}

#[test]
fn a_nodes_fast_clock_does_not_turn_a_failure_into_collateral() {
    let failed = job(
        "j",
        json!({"backoffLimit": 0}),
        json!({"failed": 1, "conditions": failing("BackoffLimitExceeded", "2026-11-30T09:00:57Z")}),
    );
    let story = story_of_objects(&json!([failed, failed_pod("p", "j", 1)]), &View::default());
    assert_eq!(story.classes(), classes(&[("noPolicy", 1)]), "it ended 3 s after the decision, by its own clock");
}

#[test]
fn a_pod_killed_after_the_decision_is_collateral_even_where_the_dump_lost_its_deletion() {
    let failed = job(
        "j",
        json!({"backoffLimit": 0}),
        json!({"failed": 2, "conditions": failing("BackoffLimitExceeded", "2026-11-30T09:00:30Z")}),
    );
    let mut first = failed_pod("p", "j", 1);
    first["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"] = "2026-11-30T09:00:29Z".into();
    let story = story_of_objects(&json!([failed, first, failed_pod("q", "j", 143)]), &View::default());
    assert_eq!(story.classes(), classes(&[("collateral", 1), ("noPolicy", 1)]));
    assert_eq!(story.workload()["firstCause"]["pod"], "p");
}

#[test]
fn an_eviction_before_the_decision_is_a_cause_of_its_own() {
    let mut evicted = failed_pod("p", "j", 143);
    evicted["metadata"]["deletionTimestamp"] = "2026-11-30T09:01:30Z".into();
    evicted["metadata"]["deletionGracePeriodSeconds"] = 30.into();
    evicted["status"]["conditions"] = json!([{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting", "lastTransitionTime": "2026-11-30T09:00:59Z"}]);
    let failed = job(
        "j",
        json!({"backoffLimit": 0}),
        json!({"failed": 1, "conditions": failing("BackoffLimitExceeded", "2026-11-30T09:01:00Z")}),
    );
    let story = story_of_objects(&json!([failed, evicted]), &View::default());
    assert_eq!(story.classes(), classes(&[("noPolicy", 1)]));
    assert_eq!(story.lines[0]["reason"], "EvictionByEvictionAPI");
    assert_eq!(story.group("noPolicy")["cause"]["text"], "EvictionByEvictionAPI: Eviction API: evicting");
}

#[test]
fn a_terminating_pod_is_judged_when_it_has_ended_if_the_job_waits_for_that() {
    let mut ending = failed_pod("p", "j", 0);
    ending["metadata"]["deletionTimestamp"] = "2026-11-30T09:01:30Z".into();
    ending["metadata"]["deletionGracePeriodSeconds"] = 30.into();
    ending["status"]["phase"] = "Running".into();
    ending["status"]["containerStatuses"] = json!([{"name": "main", "state": {"running": {}}}]);
    let of = |spec: Value| story_of_objects(&json!([job("j", spec, json!({})), ending]), &View::default());
    assert_eq!(of(json!({"podFailurePolicy": {"rules": []}})).lines.len(), 0);
    assert_eq!(of(json!({"podReplacementPolicy": "Failed"})).lines.len(), 0);
    assert_eq!(of(json!({})).classes(), classes(&[("noPolicy", 1)]), "by default the controller counts it at once");
}

#[test]
fn a_selector_takes_a_job_by_its_own_labels_or_those_of_its_owner() {
    let mut labelled = job("a", json!({}), json!({"failed": 1}));
    labelled["metadata"]["labels"] = json!({"team": "x"});
    let mut owned = job("b", json!({}), json!({"failed": 1}));
    owned["metadata"]["ownerReferences"] = json!([{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "set", "uid": "s", "controller": true}]);
    let set = json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": "set", "namespace": "ns", "uid": "s", "labels": {"team": "x"}}});
    let other = job("c", json!({}), json!({"failed": 1}));
    let objects =
        json!([labelled, owned, set, other, failed_pod("p", "a", 1), failed_pod("q", "b", 1), failed_pod("r", "c", 1)]);
    let story = story_of_objects(&objects, &View { selector: "team=x", ..View::default() });
    let workloads: Vec<_> = story.lines.iter().map(|line| line["workload"].as_str().unwrap()).collect();
    assert_eq!(workloads, ["job/a", "jobset/set"]);
}

#[test]
fn jobs_of_other_groups_are_not_kubernetes_jobs() {
    let volcano =
        json!({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "v", "uid": "v"}});
    let mut pod = failed_pod("p", "v", 1);
    pod["metadata"]["ownerReferences"][0]["apiVersion"] = "batch.volcano.sh/v1alpha1".into();
    let story = story_of_objects(&json!([volcano, pod]), &View::default());
    assert_eq!(story.lines.len(), 0);
}

#[test]
fn failures_can_be_grouped_by_other_things_than_the_rule() {
    use sigapps::request::GroupBy;
    let objects = json!([job("j", json!({}), json!({"failed": 2})), failed_pod("p", "j", 1), failed_pod("q", "j", 2)]);
    let keys = |group_by| {
        let story = story_of_objects(&objects, &View { group_by, ..View::default() });
        let groups = story.report["groups"].as_array().unwrap().clone();
        groups
            .iter()
            .map(|group| (group["key"].as_str().unwrap().to_owned(), group["failures"].as_u64().unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(GroupBy::Node), [("node-1".to_owned(), 2)]);
    assert_eq!(keys(GroupBy::Workload), [("ns/job/j".to_owned(), 2)]);
    assert_eq!(keys(GroupBy::Namespace), [("ns".to_owned(), 2)]);
    assert_eq!(keys(GroupBy::Reason), [("Error".to_owned(), 2)]);
    assert_eq!(keys(GroupBy::Cause).len(), 2);
}

#[test]
fn a_pod_deleted_to_scale_a_job_down_is_no_failure() {
    let mut ending = failed_pod("p", "j", 0);
    ending["metadata"]["deletionTimestamp"] = "2026-11-30T09:01:30Z".into();
    ending["metadata"]["deletionGracePeriodSeconds"] = 30.into();
    ending["status"]["phase"] = "Running".into();
    ending["status"]["containerStatuses"] = json!([{"name": "main", "state": {"running": {}}}]);
    let objects = json!([
        job("j", json!({"parallelism": 1}), json!({"active": 1})),
        ending,
        event("j", "SuccessfulDelete", "Deleted pod: p", "2026-11-30T09:01:00Z"),
    ]);
    assert_eq!(story_of_objects(&objects, &View::default()).lines.len(), 0);
}
