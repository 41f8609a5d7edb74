//! Moments at which a workload looks worse, or better, than it is. No recording holds them: the objects in
//! `tests/fixtures/made-up` were written down after the controllers' sources.

use std::path::PathBuf;

use serde_json::json;

use crate::support::{
    Story, View, explained_of_objects, explanation, fixture, items_of_file, outline, story_of, story_of_objects,
};

fn file(name: &str) -> PathBuf {
    fixture(&format!("made-up/{name}.json"))
}

fn seen(name: &str) -> Story {
    story_of(&file(name), &View::default())
}

fn verdict(name: &str, subject: &str) -> String {
    explanation(&file(name), subject).unwrap()["verdict"].as_str().unwrap().to_owned()
}

/// A rolling update keeps `maxUnavailable` used up all the time, and all sets start somewhere.
#[test]
fn what_only_takes_its_time_has_not_failed() {
    for name in [
        "daemonset-rolls",
        "daemonset-rolls-gap",
        "daemonset-rolls-ending",
        "statefulset-starts",
        "statefulset-superseded",
        "deployment-slow-start",
        "deployment-unobserved",
        "deployment-paused",
        "cronjob-skipped-before",
        "trainjob-made-again",
        "kueue-gated-pods",
        "kueue-admission-check",
    ] {
        assert_eq!(seen(name).failures(), [], "{name}");
    }
}

/// Of one that was deleted and made again, the one that is there is told.
#[test]
fn a_deployment_that_is_gone_does_not_fail_in_the_place_of_its_successor() {
    assert_eq!(seen("deployment-made-again").failures(), []);
    assert!(verdict("deployment-made-again", "deployment/web").contains("is well: 3 of 3"));
}

/// No condition of these tells that pods are refused; only Events about what makes the pods.
#[test]
fn refused_pods_are_told_of_kinds_that_have_no_condition_for_them() {
    for (name, subject, kind) in [
        ("daemonset-refused", "daemonset/agent", "fixConfig"),
        ("lws-workers-refused", "leaderworkerset/vllm", "freeCapacity"),
        ("lws-leaders-refused", "leaderworkerset/vllm", "freeCapacity"),
    ] {
        let story = seen(name);
        assert_eq!(story.failures(), [("workloadLevel", subject, "FailedCreate", 1)], "{name}");
        assert_eq!(story.advice(), [kind], "{name}");
        assert!(verdict(name, subject).contains("the next is refused: "), "{name}");
        // A pod that was made later ends it.
        let mut items = items_of_file(&file(name));
        let mut later = items.iter().find(|item| item["reason"] == "FailedCreate").unwrap().clone();
        later["reason"] = "SuccessfulCreate".into();
        later["metadata"]["name"] = "later".into();
        later["metadata"]["uid"] = "later".into();
        later["lastTimestamp"] = "2026-11-30T12:00:00Z".into();
        items.push(later);
        assert_eq!(story_of_objects(&json!(items), &View::default()).failures(), [], "{name}");
    }
}

/// What fails already at the version before is no reason to go back to it.
#[test]
fn nothing_is_rolled_back_for_the_pods_of_the_old_template() {
    for name in ["deployment-old-fails", "statefulset-old-fails", "statefulset-below-partition", "daemonset-old-fails"]
    {
        let story = seen(name);
        assert!(!story.advice().contains(&"rollBack"), "{name}: {:?}", story.advice());
        assert!(story.writes().iter().all(|(command, _)| !command.contains("rollout undo")), "{name}");
    }
    // Its template has reached all pods that it is to reach.
    assert!(!verdict("statefulset-below-partition", "statefulset/db").contains("rollout"));
}

/// With `Parallel` a rollout goes on until new pods that fail use up `maxUnavailable`.
#[test]
fn one_failing_pod_of_three_allowed_does_not_stop_a_rollout() {
    let state = |max: u32| {
        let mut items = items_of_file(&file("statefulset-parallel"));
        let set = items.iter_mut().find(|item| item["kind"] == "StatefulSet").unwrap();
        set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = max.into();
        outline(&explained_of_objects(&json!(items), "statefulset/db")).0
    };
    assert_eq!((state(3), state(1)), ("degraded".to_owned(), "stuck".to_owned()));
}

#[test]
fn a_sandbox_that_expired_after_it_had_failed_is_not_advised_to_be_restarted() {
    let story = seen("sandbox-failed-and-expired");
    assert_eq!(story.failures(), [("workloadLevel", "sandbox/s", "PodFailed", 1)]);
    assert_eq!(story.writes(), []);
    assert!(verdict("sandbox-failed-and-expired", "sandbox/s").contains("its pod is gone, after it had failed"));
}

/// Of an elastic Job the slices before stay; which one counts does not hang on their names.
#[test]
fn of_several_workloads_of_one_job_the_one_that_is_not_finished_counts() {
    for name in ["kueue-slices-a", "kueue-slices-b"] {
        assert_eq!(seen(name).failures(), [("workloadLevel", "job/j", "NeverAdmitted", 1)], "{name}");
    }
}

#[test]
fn what_kueue_holds_is_told_with_why() {
    let note = |name| seen(name).report["notes"].to_string();
    assert!(note("kueue-gated-pods").contains("Kueue holds 2 of its pods, web-b-1 first: it waits in queue q"));
    assert!(note("kueue-admission-check").contains("admission check dws, which is Pending: Waiting for the"));
    // Without its Workload the gate alone tells.
    let mut items = items_of_file(&file("kueue-gated-pods"));
    items.retain(|item| item["kind"] != "Workload");
    let story = story_of_objects(&json!(items), &View::default());
    assert_eq!(story.failures(), []);
    assert!(story.report["notes"].to_string().contains("scheduling gate kueue.x-k8s.io/admission"), "{}", story.report);
}

/// What something else applies, or owns, is changed there.
#[test]
fn what_something_else_owns_is_not_advised_to_be_changed_by_hand() {
    for (name, by) in [
        ("deployment-owned", "InferenceService svc owns it"),
        ("lws-owned", "DisaggregatedSet"),
        ("trainjob-anew-flux", ""),
    ] {
        let story = seen(name);
        assert_eq!(story.writes(), [], "{name}");
        assert!(story.report["suggestions"].to_string().contains(by), "{name}: {}", story.report["suggestions"]);
    }
}

/// Two kinds may have one name, and an anonymised dump no uids.
#[test]
fn the_revisions_of_another_kind_are_not_those_of_a_deployment() {
    let told = explanation(&file("same-name-no-uid"), "deployment/web").unwrap();
    assert!(!told.to_string().contains("redis"), "{told}");
}

/// Only groups whose own pods fail are blamed for that.
#[test]
fn a_group_that_is_starting_is_not_told_with_the_crash_of_another() {
    let told = verdict("lws-one-group-fails", "leaderworkerset/vllm");
    assert!(told.contains("group 1 is not ready: pod vllm-1: exit 1"), "{told}");
    assert!(told.contains("1 more group is not ready yet"), "{told}");
    assert!(verdict("lws-surge", "leaderworkerset/vllm").contains("9 of 10 groups are ready; group 1 is not ready"));
}

/// `Progressing` of a paused rollout is `Unknown`, and not `False`.
#[test]
fn a_condition_that_is_unknown_is_told_as_that() {
    let told = explanation(&file("deployment-paused"), "deployment/web").unwrap();
    assert!(told["timeline"].to_string().contains("Progressing is Unknown: DeploymentPaused"), "{}", told["timeline"]);
    let told = verdict("deployment-unobserved", "deployment/web");
    assert!(told.contains("has not acted on the newest spec yet (generation 3, observed 2)"), "{told}");
}

/// Of a node that was made again, a dump may hold both.
#[test]
fn of_two_nodes_of_one_name_the_newer_state_is_told_in_any_order() {
    let node = |uid: &str, at: &str, problem: &str| {
        let is = |of: &str, status: &str| json!({"type": of, "status": status, "lastTransitionTime": at});
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "uid": uid},
               "status": {"conditions": [is("Ready", "True"), is(problem, "True")]}})
    };
    let (old, new) =
        (node("a", "2026-11-30T08:00:00Z", "DiskPressure"), node("b", "2026-11-30T11:00:00Z", "MemoryPressure"));
    for both in [[old.clone(), new.clone()], [new, old]] {
        let told = explained_of_objects(&json!(both), "node/n1");
        let verdict = told["verdict"].as_str().unwrap();
        assert!(verdict.contains("MemoryPressure") && !verdict.contains("DiskPressure"), "{verdict}");
    }
}
