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
    assert!(
        story.report["notes"].to_string().contains("managed by kueue.x-k8s.io/multikueue: job/far"),
        "{}",
        story.report["notes"]
    );
    assert_eq!(story.of_class("unknown")[0]["rule"], Value::Null, "its policy is not applied");
    assert!(story.report["suggestions"].to_string().contains("another controller manages the Job"));
    assert!(!story.report["suggestions"].to_string().contains("no rule matched"));
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
    let told = &story.lines[0];
    assert_eq!((&told["class"], &told["workload"]), (&"noJob".into(), &"job.batch.volcano.sh/v".into()));
    assert_eq!((&told["rule"], &told["job"]), (&json!(null), &json!(null)));
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

fn with_deletion(mut pod: Value, requested: &str) -> Value {
    pod["metadata"]["deletionTimestamp"] = requested.into();
    pod["metadata"]["deletionGracePeriodSeconds"] = 0.into();
    pod
}

fn still_running(mut pod: Value) -> Value {
    pod["status"]["phase"] = "Running".into();
    pod["status"]["containerStatuses"] = json!([{"name": "main", "state": {"running": {}}}]);
    pod
}

#[test]
fn an_init_container_that_ended_long_ago_does_not_make_a_pod_torn_down_a_failure() {
    for policy in [json!(null), json!({"rules": []})] {
        let conditions = failing("BackoffLimitExceeded", "2026-11-30T09:01:30Z");
        let failed = job("j", json!({"podFailurePolicy": policy}), json!({"failed": 2, "conditions": conditions}));
        let mut sibling = with_deletion(still_running(failed_pod("sibling", "j", 0)), "2026-11-30T09:01:30Z");
        sibling["status"]["initContainerStatuses"] =
            json!([{"name": "init", "state": {"terminated": {"exitCode": 0, "finishedAt": "2026-11-30T09:00:10Z"}}}]);
        let story = story_of_objects(&json!([failed, failed_pod("bad", "j", 1), sibling]), &View::default());
        assert_eq!(story.of_class("collateral").len(), 1, "{:?}", story.lines);
        assert_eq!(story.of_class("collateral")[0]["pod"], "sibling");
        assert_eq!(story.counted(), 2);
        assert_eq!(story.of_class("lost").len(), 0);
        assert_eq!(story.workload()["firstCause"]["pod"], "bad");
    }
}

#[test]
fn pods_are_deleted_before_the_condition_says_that_the_job_is_suspended() {
    for deleted in ["2026-11-30T09:00:57Z", "2026-11-30T09:01:00Z", "2026-11-30T09:01:03Z"] {
        let conditions = json!([{"type": "Suspended", "status": "True", "reason": "JobSuspended", "lastTransitionTime": "2026-11-30T09:01:00Z"}]);
        let suspended = job("j", json!({"suspend": true}), json!({"conditions": conditions}));
        let mut pod = with_deletion(failed_pod("p", "j", 143), deleted);
        pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"] = "2026-11-30T09:01:04Z".into();
        let story = story_of_objects(&json!([suspended, pod]), &View::default());
        assert_eq!(story.classes(), classes(&[("collateral", 1)]), "{deleted}");
        assert_eq!(story.lines[0]["tornDownBy"], "jobSuspended");
        assert_eq!(story.counted(), 0);
        assert_eq!(story.workload()["state"], "suspended");
    }
}

#[test]
fn pods_left_over_when_a_job_has_succeeded_are_collateral() {
    let conditions = json!([{"type": "SuccessCriteriaMet", "status": "True", "reason": "SuccessPolicy", "lastTransitionTime": "2026-11-30T09:00:50Z"}]);
    let done = job("j", json!({}), json!({"conditions": conditions}));
    let pod = with_deletion(failed_pod("p", "j", 143), "2026-11-30T09:00:50Z");
    let objects = json!([done, pod]);
    assert_eq!(story_of_objects(&objects, &View::default()).lines.len(), 0);
    let all = story_of_objects(&objects, &View { all: true, ..View::default() });
    assert_eq!(all.of_class("collateral")[0]["tornDownBy"], "jobSucceeded");
    assert_eq!(all.counted(), 0);
}

#[test]
fn an_end_that_nobody_saw_has_no_time_and_no_cost() {
    let mut pod = failed_pod("p", "j", 137);
    pod["spec"]["containers"][0]["resources"] = json!({"limits": {"nvidia.com/gpu": 8}});
    pod["status"]["containerStatuses"][0]["state"]["terminated"] =
        json!({"exitCode": 137, "reason": "ContainerStatusUnknown"});
    let of = |pod: &Value| story_of_objects(&json!([job("j", json!({}), json!({"failed": 1})), pod]), &View::default());
    let story = of(&pod);
    assert_eq!(story.lines[0]["finishedAt"], Value::Null);
    assert_eq!(story.lines[0]["gpuSeconds"], Value::Null);
    assert_eq!(story.group("noPolicy")["cause"]["text"], "ContainerStatusUnknown (main)");
    pod["status"]["conditions"] =
        json!([{"type": "Ready", "status": "False", "lastTransitionTime": "2026-11-30T10:00:00Z"}]);
    let story = of(&pod);
    assert_eq!(story.lines[0]["finishedAt"], "2026-11-30T10:00:00Z", "as the Job controller reckons");
    assert_eq!(story.lines[0]["gpuSeconds"], 8.0 * 3600.0);
}

#[test]
fn a_pod_that_the_controller_has_not_accounted_for_is_not_counted() {
    let spec = json!({"completionMode": "Indexed", "completions": 2, "parallelism": 2, "backoffLimitPerIndex": 3});
    let mut tracked = failed_pod("p", "j", 1);
    tracked["metadata"]["finalizers"] = json!(["batch.kubernetes.io/job-tracking"]);
    tracked["metadata"]["annotations"] =
        json!({"batch.kubernetes.io/job-completion-index": "0", "batch.kubernetes.io/job-index-failure-count": "1"});
    let running = json!([job("j", spec.clone(), json!({"failed": 1, "active": 2})), tracked]);
    let story = story_of_objects(&running, &View::default());
    assert_eq!(story.classes(), classes(&[("lost", 1), ("noPolicy", 1)]), "the earlier failure of the index is gone");
    assert_eq!(story.of_class("noPolicy")[0]["counted"], false);
    assert!(story.suggestion("wait")["why"].as_str().unwrap().ends_with("retries left for its index: 1 of 3"));
    let noted = json!({"failed": 0, "active": 2, "uncountedTerminatedPods": {"failed": ["uid-p"]}});
    let story = story_of_objects(&json!([job("j", spec, noted), tracked]), &View::default());
    assert_eq!(story.classes(), classes(&[("noPolicy", 1)]));
    assert_eq!(story.counted(), 1);
}

#[test]
fn what_has_no_replacement_is_not_waited_for() {
    let disruption =
        json!([{"action": "FailIndex", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]);
    let ignore = json!([{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [1]}}]);
    let per_index = |rules: &Value| json!({"completionMode": "Indexed", "completions": 3, "backoffLimitPerIndex": 1, "podFailurePolicy": {"rules": rules}});
    let mut disrupted = failed_pod("p", "j", 1);
    disrupted["metadata"]["annotations"] = json!({"batch.kubernetes.io/job-completion-index": "0"});
    disrupted["status"]["conditions"] =
        json!([{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]);
    let mut used_up = failed_pod("p", "j", 2);
    used_up["metadata"]["annotations"] =
        json!({"batch.kubernetes.io/job-completion-index": "0", "batch.kubernetes.io/job-index-failure-count": "1"});
    let mut deleted = job("j", json!({}), json!({"failed": 1}));
    deleted["metadata"]["deletionTimestamp"] = "2026-11-30T09:02:00Z".into();
    let suspended = job("j", json!({"suspend": true, "podFailurePolicy": {"rules": ignore}}), json!({}));
    let bound_to_fail = job(
        "j",
        json!({"podFailurePolicy": {"rules": ignore}}),
        json!({"conditions": failing("DeadlineExceeded", "2026-11-30T09:05:00Z")}),
    );
    for (job, pod) in [
        (job("j", per_index(&disruption), json!({"failed": 1, "failedIndexes": "0"})), disrupted),
        (job("j", per_index(&ignore), json!({"failed": 2, "failedIndexes": "0"})), used_up),
        (deleted, failed_pod("p", "j", 1)),
        (suspended, failed_pod("p", "j", 1)),
        (bound_to_fail, failed_pod("p", "j", 1)),
        (crate::made_up::job("j", json!({"backoffLimit": 0}), json!({"failed": 1})), failed_pod("p", "j", 1)),
    ] {
        let story = story_of_objects(&json!([job, pod]), &View::default());
        assert!(!story.advice().contains(&"wait"), "{job}: {}", story.report["suggestions"]);
    }
}

#[test]
fn an_ignored_pod_of_a_job_that_goes_on_is_waited_for() {
    let rules = json!([{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [75]}}]);
    let objects = json!([
        job("j", json!({"podFailurePolicy": {"rules": rules}}), json!({"active": 1})),
        failed_pod("p", "j", 75)
    ]);
    let story = story_of_objects(&objects, &View::default());
    assert!(story.suggestion("wait")["why"].as_str().unwrap().contains("not counted, the Job replaces the pod"));
    assert_eq!(story.suggestion("wait")["commands"][0], "kubectl get pods -n ns -l batch.kubernetes.io/job-name=j");
}

#[test]
fn advice_holds_for_every_workload_it_names() {
    let dead = job(
        "dead",
        json!({"backoffLimit": 0}),
        json!({"failed": 1, "conditions": failing("BackoffLimitExceeded", "2026-11-30T09:01:00Z")}),
    );
    let running = job("running", json!({"backoffLimit": 6}), json!({"failed": 1, "active": 1}));
    let objects = json!([dead, running, failed_pod("p", "dead", 1), failed_pod("q", "running", 1)]);
    for group_by in [sigapps::request::GroupBy::Rule, sigapps::request::GroupBy::Namespace] {
        let story = story_of_objects(&objects, &View { group_by, ..View::default() });
        assert_eq!(story.report["groups"].as_array().unwrap().len(), 1);
        assert_eq!(story.suggestion("wait")["subject"], "job/running");
        assert_eq!(story.suggestion("inspect")["subject"], "job/dead");
        assert_eq!(story.report["groups"][0]["suggestions"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn a_lost_group_does_not_give_one_pods_exit_code_to_all() {
    let rules = json!([{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]);
    let message = "Container main for pod ns/x-9 failed with exit code 42 matching FailJob rule at index 0";
    let of = |failed: u32| {
        let conditions = json!([{"type": "Failed", "status": "True", "reason": "PodFailurePolicy", "message": message, "lastTransitionTime": "2026-11-30T09:01:00Z"}]);
        let failed = job(
            "j",
            json!({"podFailurePolicy": {"rules": rules}}),
            json!({"failed": failed, "conditions": conditions}),
        );
        story_of_objects(&json!([failed, failed_pod("other", "elsewhere", 1)]), &View::default())
    };
    let (one, five) = (of(1), of(5));
    let (one, five) = (one.of_class("lost")[0], five.of_class("lost")[0]);
    assert_eq!((&one["pod"], &one["exitCode"], &one["rule"]["index"]), (&"x-9".into(), &42.into(), &0.into()));
    assert_eq!((&five["pod"], &five["exitCode"], &five["rule"]), (&Value::Null, &Value::Null, &Value::Null));
    assert_eq!(five["count"], 5);
}

#[test]
fn jobs_without_pods_in_the_data_do_not_say_that_the_pods_are_gone() {
    let story = story_of_objects(&json!([job("j", json!({}), json!({"failed": 3}))]), &View::default());
    assert_eq!(story.classes(), classes(&[("lost", 3)]));
    assert!(story.group("lost")["cause"]["text"].as_str().unwrap().contains("gone, or not read"));
    assert!(story.report["notes"].to_string().contains("pods are not in the data"));
}

#[test]
fn a_group_may_be_looked_for_without_its_uids() {
    let mut nameless = job("j", json!({}), json!({"failed": 1}));
    nameless["metadata"].as_object_mut().unwrap().remove("uid");
    let story = story_of_objects(&json!([nameless, failed_pod("p", "j", 1)]), &View::default());
    assert_eq!(story.classes(), classes(&[("noPolicy", 1)]), "a Job without a uid is joined by its name");
}

#[test]
fn a_node_that_has_gone_silent_is_not_ready() {
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1", "uid": "n"},
        "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}});
    let objects = json!([job("j", json!({}), json!({"failed": 1})), failed_pod("p", "j", 1), node]);
    let story = story_of_objects(&objects, &View::default());
    assert_eq!(story.group("noPolicy")["nodes"], json!([{"name": "node-1", "failures": 1, "ready": false}]));
}

#[test]
fn where_the_controller_acted_on_another_pod_than_the_first_both_are_named() {
    let rules = json!([{"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [0]}}]);
    let message = "Container main for pod ns/later failed with exit code 42 matching FailJob rule at index 0";
    let conditions = json!([{"type": "FailureTarget", "status": "True", "reason": "PodFailurePolicy", "message": message, "lastTransitionTime": "2026-11-30T09:01:02Z"}]);
    let failed =
        job("j", json!({"podFailurePolicy": {"rules": rules}}), json!({"failed": 2, "conditions": conditions}));
    let mut first = failed_pod("first", "j", 7);
    first["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"] = "2026-11-30T09:00:40Z".into();
    let story = story_of_objects(&json!([failed, first, failed_pod("later", "j", 42)]), &View::default());
    assert_eq!(story.workload()["firstCause"]["pod"], "first");
    assert_eq!(story.workload()["actedOn"]["pod"], "later");
    let note = story.report["notes"][0].as_str().unwrap();
    assert_eq!(note, "job/j: the controller acted on pod later, but first failed first, exit 7 (main)");
}
