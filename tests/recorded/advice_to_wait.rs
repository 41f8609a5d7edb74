//! To wait is advised only where a controller goes on by itself.

use serde_json::{Value, json};

use crate::job_sets_made_up::{self, BACKOFF, JobSet, failed};
use crate::made_up::{failed_pod, job};
use crate::support::{View, story_of_objects};

/// The spec and status of a Job of which the pod of index 4 has failed, and whether that pod is replaced.
#[test]
fn a_job_that_makes_no_other_pods_is_not_waited_for() {
    let limit = |more: Value| {
        let mut spec =
            json!({"completionMode": "Indexed", "parallelism": 2, "completions": 9, "backoffLimitPerIndex": 3});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        spec
    };
    for (spec, status, is_replaced) in [
        (json!({"parallelism": 2, "completions": 9}), json!({"failed": 1}), true),
        (json!({"parallelism": 0, "completions": 9}), json!({"failed": 1}), false),
        // A work queue is served once a pod of it has succeeded.
        (json!({"parallelism": 3}), json!({"failed": 1, "active": 2}), true),
        (json!({"parallelism": 3}), json!({"failed": 1, "active": 2, "succeeded": 1}), false),
        // Without both, both are 1.
        (json!({}), json!({"failed": 1}), true),
        // Scaled down, so that the index is beyond.
        (json!({"completionMode": "Indexed", "parallelism": 2, "completions": 4}), json!({"failed": 1}), false),
        (json!({"completionMode": "Indexed", "parallelism": 2, "completions": 5}), json!({"failed": 1}), true),
        (limit(json!({})), json!({"failed": 4, "failedIndexes": "0-2"}), true),
        (limit(json!({"maxFailedIndexes": 3})), json!({"failed": 4, "failedIndexes": "0-2"}), true),
        (limit(json!({"maxFailedIndexes": 2})), json!({"failed": 4, "failedIndexes": "0-2"}), false),
        (limit(json!({})), json!({"failed": 4, "failedIndexes": "0-3", "succeeded": 4}), true),
        (limit(json!({})), json!({"failed": 5, "failedIndexes": "0-3,5", "succeeded": 4}), false),
        (limit(json!({})), json!({"failed": 1, "failedIndexes": "4"}), false),
    ] {
        let mut pod = failed_pod("p", "train", 1);
        pod["metadata"]["annotations"] = json!({"batch.kubernetes.io/job-completion-index": "4", "batch.kubernetes.io/job-index-failure-count": "0"});
        let story = story_of_objects(&json!([job("train", spec.clone(), status.clone()), pod]), &View::default());
        let waits = story.report["suggestions"].to_string().contains("the Job replaces the pod");
        assert_eq!(waits, is_replaced, "{spec} {status}: {}", story.report["suggestions"]);
    }
}

/// Rules of a failure policy, the Jobs that have failed or are failing, and whether the one of `b` is made anew.
#[test]
fn the_first_rule_that_applies_to_any_failed_job_decides_for_all() {
    type Change = fn(&mut Value);
    let rule = |name: &str, action: &str| json!({"name": name, "action": action, "targetReplicatedJobs": [name]});
    let (fail_a, restart_b) = (rule("a", "FailJobSet"), rule("b", "RestartJobSet"));
    let has_failed =
        |name: &str| job_sets_made_up::job(name, 0, &[failed("BackoffLimitExceeded", BACKOFF, "2026-11-30T09:20:00Z")]);
    let fails = |name: &str| {
        let target = ["FailureTarget", "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:20:00Z"];
        job_sets_made_up::job(name, 0, &[target])
    };
    let none: Change = |_| ();
    let managed: Change = |object| object["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue".into();
    let deleted: Change = |object| object["metadata"]["deletionTimestamp"] = "2026-11-30T09:21:00Z".into();
    for (rules, jobs, change, is_made_anew) in [
        (json!([fail_a, restart_b]), vec![has_failed("js-b-0")], none, true),
        (json!([fail_a, restart_b]), vec![has_failed("js-a-0"), has_failed("js-b-0")], none, false),
        (json!([restart_b, fail_a]), vec![has_failed("js-a-0"), has_failed("js-b-0")], none, true),
        (json!([fail_a, restart_b]), vec![fails("js-a-0"), fails("js-b-0")], none, false),
        // The controller does not look at what has not failed yet.
        (json!([fail_a, restart_b]), vec![fails("js-a-0"), has_failed("js-b-0")], none, true),
        (json!([]), vec![has_failed("js-b-0")], none, true),
        (json!([]), vec![has_failed("js-b-0")], managed, false),
        (json!([]), vec![has_failed("js-b-0")], deleted, false),
    ] {
        let story = JobSet::new(json!({"maxRestarts": 5, "rules": rules})).changed(change);
        let pod = job_sets_made_up::failed_pod("js-b-0", 0);
        let names: Vec<String> = jobs.iter().map(|job| job["status"]["conditions"].to_string()).collect();
        let story = story.with(jobs.into_iter().chain([pod]));
        let waits = story.report["suggestions"].to_string().contains("makes it anew");
        assert_eq!(waits, is_made_anew, "{rules} {names:?}: {}", story.report["suggestions"]);
    }
}
