use serde_json::{Value, json};

use super::*;
use crate::analysis::find;
use crate::source::{Filter, Intake, Snapshot};

fn snapshot(kind: TargetKind, mut object: Value) -> Snapshot {
    let version = match kind.group() {
        "batch" | "apps" => "v1",
        _ => "v1beta1",
    };
    object["apiVersion"] = format!("{}/{version}", kind.group()).into();
    object["kind"] = kind.kind().into();
    let metadata = object.as_object_mut().unwrap().entry("metadata").or_insert(json!({}));
    for (key, value) in [("name", "x"), ("namespace", "ml"), ("uid", "u")] {
        metadata[key] = value.into();
    }
    let mut intake = Intake::live(Filter::default());
    intake.set(object.to_string().as_bytes());
    intake.snapshot()
}

fn settings(awaited: Awaited) -> Settings {
    Settings { awaited, early: false, restarts: Restarts::default() }
}

fn judged_with(kind: TargetKind, object: Value, settings: &Settings) -> Judgement {
    let snapshot = snapshot(kind, object);
    let subject = find(&snapshot, Some(kind), "x").unwrap();
    judge(subject, settings, restarts(subject))
}

fn judged(kind: TargetKind, object: Value, awaited: Awaited) -> Judgement {
    judged_with(kind, object, &settings(awaited))
}

fn status(conditions: &[(&str, &str)]) -> Value {
    let conditions: Vec<Value> =
        conditions.iter().map(|(type_, reason)| json!({"type": type_, "status": "True", "reason": reason})).collect();
    json!({"status": {"conditions": conditions}})
}

#[test]
fn a_job_is_decided_by_its_last_condition_and_early_by_its_controllers_decision() {
    use Awaited::{Complete, Failed, Finished};
    let early = |awaited| Settings { early: true, ..settings(awaited) };
    for (condition, awaited, late, soon) in [
        ("Complete", Finished, Judgement::Came, Judgement::Came),
        ("Complete", Complete, Judgement::Came, Judgement::Came),
        ("Failed", Finished, Judgement::Failed, Judgement::Failed),
        ("Failed", Complete, Judgement::Failed, Judgement::Failed),
        ("Failed", Failed, Judgement::Failed, Judgement::Failed),
        ("SuccessCriteriaMet", Finished, Judgement::Open, Judgement::Came),
        ("FailureTarget", Finished, Judgement::Open, Judgement::Failed),
        ("Suspended", Finished, Judgement::Open, Judgement::Open),
    ] {
        assert_eq!(judged(TargetKind::Job, status(&[(condition, "")]), awaited), late, "{condition}");
        let soon_judged = judged_with(TargetKind::Job, status(&[(condition, "")]), &early(awaited));
        assert_eq!(soon_judged, soon, "{condition}, early");
    }
    let completed = judged(TargetKind::Job, status(&[("Complete", "")]), Failed);
    assert!(matches!(completed, Judgement::Otherwise(_)));
    // A condition that is not true says nothing.
    let not_true = json!({"status": {"conditions": [{"type": "Failed", "status": "False"}]}});
    assert_eq!(judged(TargetKind::Job, not_true, Finished), Judgement::Open);
}

#[test]
fn a_job_is_ready_with_all_the_pods_that_it_has_left_to_run() {
    for (object, expected) in [
        (json!({"spec": {"parallelism": 4}, "status": {"ready": 3, "active": 4}}), Judgement::Open),
        (json!({"spec": {"parallelism": 4}, "status": {"ready": 4}}), Judgement::Came),
        (
            json!({"spec": {"parallelism": 4, "completions": 5}, "status": {"ready": 2, "succeeded": 3}}),
            Judgement::Came,
        ),
        (json!({"spec": {"parallelism": 4, "suspend": true}, "status": {"ready": 4}}), Judgement::Open),
        (json!({"spec": {"parallelism": 0}, "status": {}}), Judgement::Open),
    ] {
        assert_eq!(judged(TargetKind::Job, object.clone(), Awaited::Ready), expected, "{object}");
    }
    assert!(matches!(judged(TargetKind::Job, status(&[("Complete", "")]), Awaited::Ready), Judgement::Otherwise(_)));
    assert_eq!(judged(TargetKind::Job, status(&[("Failed", "")]), Awaited::Ready), Judgement::Failed);
}

#[test]
fn a_job_set_is_decided_by_condition_or_terminal_state() {
    for (object, expected) in [
        (status(&[("Completed", "")]), Judgement::Came),
        (status(&[("Failed", "")]), Judgement::Failed),
        (json!({"status": {"terminalState": "Failed"}}), Judgement::Failed),
        (json!({"status": {"terminalState": "Completed"}}), Judgement::Came),
        (json!({"status": {"restarts": 3}}), Judgement::Open),
    ] {
        assert_eq!(judged(TargetKind::JobSet, object.clone(), Awaited::Finished), expected, "{object}");
    }
}

#[test]
fn a_job_set_is_restarted_when_any_of_its_counts_has_grown_since_the_wait_began() {
    let begun = Restarts { whole: 1, parts: 2, in_place: 0 };
    let settings = Settings { awaited: Awaited::Restarted, early: false, restarts: begun };
    let parts = |counts: &[u32]| json!([{"name": "a", "restartsPerJob": counts, "jobRestarts": counts}]);
    for (whole, expected) in [(0, Judgement::Open), (1, Judgement::Open), (2, Judgement::Came)] {
        let object = json!({"status": {"restarts": whole, "replicatedJobsStatus": parts(&[0])}});
        assert_eq!(judged_with(TargetKind::JobSet, object, &settings), expected, "{whole}");
    }
    let mut failed = status(&[("Failed", "")]);
    failed["status"]["restarts"] = 1.into();
    assert!(matches!(judged_with(TargetKind::JobSet, failed.clone(), &settings), Judgement::Otherwise(_)));
    // It was restarted and failed afterwards, between two looks: it was restarted.
    failed["status"]["restarts"] = 2.into();
    assert_eq!(judged_with(TargetKind::JobSet, failed, &settings), Judgement::Came);
}

#[test]
fn a_job_set_is_ready_when_all_jobs_are_up_or_done() {
    let spec = json!({"replicatedJobs": [{"name": "a", "replicas": 2}, {"name": "b", "replicas": 1}]});
    let object = |a: [u32; 2], b: [u32; 2]| {
        let of =
            |name: &str, [ready, succeeded]: [u32; 2]| json!({"name": name, "ready": ready, "succeeded": succeeded});
        json!({"spec": spec, "status": {"replicatedJobsStatus": [of("a", a), of("b", b)]}})
    };
    for (a, b, expected) in [
        ([1, 0], [1, 0], Judgement::Open),
        ([2, 0], [1, 0], Judgement::Came),
        ([2, 0], [0, 1], Judgement::Came),
        ([0, 2], [0, 1], Judgement::Open),
    ] {
        assert_eq!(judged(TargetKind::JobSet, object(a, b), Awaited::Ready), expected, "{a:?} {b:?}");
    }
}

#[test]
fn a_deployment_is_ready_as_kubectl_rollout_status_has_it_and_fails_past_its_deadline() {
    let object = |observed: u32, [updated, pods, available]: [u32; 3], reason: &str| {
        json!({
            "metadata": {"generation": 2}, "spec": {"replicas": 3},
            "status": {
                "observedGeneration": observed, "updatedReplicas": updated, "replicas": pods,
                "availableReplicas": available,
                "conditions": [{"type": "Progressing", "status": "True", "reason": reason}],
            },
        })
    };
    for (observed, numbers, reason, expected) in [
        (2, [3, 3, 3], "", Judgement::Came),
        (1, [3, 3, 3], "", Judgement::Open),
        (2, [2, 3, 3], "", Judgement::Open),
        (2, [3, 4, 4], "", Judgement::Open),
        (2, [3, 3, 2], "", Judgement::Open),
        (2, [1, 4, 3], "ProgressDeadlineExceeded", Judgement::Failed),
        // That was the rollout before.
        (1, [1, 4, 3], "ProgressDeadlineExceeded", Judgement::Open),
    ] {
        let found = judged(TargetKind::Deployment, object(observed, numbers, reason), Awaited::Ready);
        assert_eq!(found, expected, "{observed} {numbers:?} {reason}");
    }
    let failed = object(2, [1, 4, 3], "ProgressDeadlineExceeded");
    assert_eq!(judged(TargetKind::Deployment, failed, Awaited::Failed), Judgement::Failed);
    assert_eq!(judged(TargetKind::Deployment, object(2, [3, 3, 3], ""), Awaited::Failed), Judgement::Open);
}

#[test]
fn a_stateful_set_is_ready_when_all_pods_are_of_the_newest_template() {
    let object = |spec: Value, status: Value| json!({"metadata": {"generation": 2}, "spec": spec, "status": status});
    let all = json!({"replicas": 3});
    let partition = json!({"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 2}}});
    let by_hand = json!({"replicas": 3, "updateStrategy": {"type": "OnDelete"}});
    let status = |observed: u32, ready: u32, updated: u32, current: &str| {
        json!({
            "observedGeneration": observed, "readyReplicas": ready, "updatedReplicas": updated,
            "currentRevision": current, "updateRevision": "new",
        })
    };
    for (spec, status, expected) in [
        (&all, status(2, 3, 3, "new"), Judgement::Came),
        (&all, status(1, 3, 3, "new"), Judgement::Open),
        (&all, status(2, 2, 3, "new"), Judgement::Open),
        (&all, status(2, 3, 2, "old"), Judgement::Open),
        (&partition, status(2, 3, 0, "old"), Judgement::Open),
        (&partition, status(2, 3, 1, "old"), Judgement::Came),
        (&by_hand, status(2, 3, 0, "old"), Judgement::Came),
    ] {
        let found = judged(TargetKind::StatefulSet, object(spec.clone(), status.clone()), Awaited::Ready);
        assert_eq!(found, expected, "{spec} {status}");
    }
}

#[test]
fn a_daemon_set_is_ready_when_each_node_has_an_available_pod_of_the_newest_template() {
    let object = |observed: u32, desired: u32, updated: u32, unavailable: u32| {
        json!({"metadata": {"generation": 2}, "spec": {}, "status": {
            "observedGeneration": observed, "desiredNumberScheduled": desired, "updatedNumberScheduled": updated,
            "numberUnavailable": unavailable, "numberReady": desired - unavailable,
        }})
    };
    for (object, expected) in [
        (object(2, 3, 3, 0), Judgement::Came),
        (object(2, 0, 0, 0), Judgement::Came),
        (object(1, 3, 3, 0), Judgement::Open),
        (object(2, 3, 2, 0), Judgement::Open),
        (object(2, 3, 3, 1), Judgement::Open),
    ] {
        assert_eq!(judged(TargetKind::DaemonSet, object.clone(), Awaited::Ready), expected, "{object}");
    }
    // Controllers count as unavailable what has a pod; a node without one is not counted.
    let uncounted = json!({"metadata": {"generation": 2}, "spec": {}, "status": {
        "observedGeneration": 2, "desiredNumberScheduled": 2, "updatedNumberScheduled": 2, "numberReady": 1,
    }});
    assert_eq!(judged(TargetKind::DaemonSet, uncounted, Awaited::Ready), Judgement::Open);
}

#[test]
fn a_leader_worker_set_is_ready_when_it_is_available_and_all_groups_are_counted() {
    let object = |conditions: &[&str], ready: u32, updated: u32| {
        let mut object = status(&conditions.iter().map(|type_| (*type_, "")).collect::<Vec<_>>());
        object["spec"] = json!({"replicas": 2});
        object["status"]["readyReplicas"] = ready.into();
        object["status"]["updatedReplicas"] = updated.into();
        object
    };
    for (object, expected) in [
        (object(&["Available"], 2, 2), Judgement::Came),
        (object(&["Available", "UpdateInProgress"], 2, 2), Judgement::Open),
        (object(&["Available"], 1, 2), Judgement::Open),
        (object(&["Available"], 2, 1), Judgement::Open),
        (object(&["Progressing"], 2, 2), Judgement::Open),
    ] {
        assert_eq!(judged(TargetKind::LeaderWorkerSet, object.clone(), Awaited::Ready), expected, "{object}");
    }
}

#[test]
fn a_sandbox_is_ready_finished_failed_or_expired() {
    let unready = |reason: &str, message: &str| json!({"status": {"conditions": [{"type": "Ready", "status": "False", "reason": reason, "message": message}]}});
    for (object, ready, finished) in [
        (status(&[("Ready", "DependenciesReady")]), Judgement::Came, Judgement::Open),
        (status(&[("Finished", "PodFailed")]), Judgement::Failed, Judgement::Failed),
        (unready("PodFailed", ""), Judgement::Failed, Judgement::Failed),
        (unready("DependenciesNotReady", "Pod exists with phase: Failed"), Judgement::Failed, Judgement::Failed),
        (unready("DependenciesNotReady", "Pod exists with phase: Pending"), Judgement::Open, Judgement::Open),
    ] {
        assert_eq!(judged(TargetKind::Sandbox, object.clone(), Awaited::Ready), ready, "{object}");
        assert_eq!(judged(TargetKind::Sandbox, object.clone(), Awaited::Finished), finished, "{object}");
    }
    let succeeded = || status(&[("Finished", "PodSucceeded")]);
    assert_eq!(judged(TargetKind::Sandbox, succeeded(), Awaited::Finished), Judgement::Came);
    assert!(matches!(judged(TargetKind::Sandbox, succeeded(), Awaited::Ready), Judgement::Otherwise(_)));
    for awaited in [Awaited::Ready, Awaited::Finished, Awaited::Complete, Awaited::Failed] {
        let expired = judged(TargetKind::Sandbox, unready("SandboxExpired", ""), awaited);
        assert_eq!(expired, Judgement::Otherwise("its time was over"));
    }
}

#[test]
fn a_train_job_ends_as_its_conditions_say() {
    for (condition, expected) in
        [("Complete", Judgement::Came), ("Failed", Judgement::Failed), ("Suspended", Judgement::Open)]
    {
        assert_eq!(judged(TargetKind::TrainJob, status(&[(condition, "")]), Awaited::Finished), expected);
    }
}

#[test]
fn what_is_waited_for_by_itself_is_possible() {
    for kind in TargetKind::ALL {
        let possible = Awaited::possible(kind);
        assert!(possible.is_empty() || possible.contains(&Awaited::of(kind)), "{kind:?}");
    }
}

#[test]
fn progress_is_told_as_far_as_there_is_something_to_tell() {
    let told = |kind, object| {
        let snapshot = snapshot(kind, object);
        let subject = find(&snapshot, Some(kind), "x").unwrap();
        progress(subject, restarts(subject)).to_string()
    };
    let job = json!({"spec": {"parallelism": 4}, "status": {"ready": 2, "failed": 3, "succeeded": 1}});
    assert_eq!(told(TargetKind::Job, job), "2 of 4 pods ready, 1 succeeded, 3 failed");
    let job_set = json!({"spec": {"replicatedJobs": [{"name": "a", "replicas": 2}]}, "status": {"restarts": 1}});
    assert_eq!(told(TargetKind::JobSet, job_set), "0 of 2 jobs ready, 1 restart");
    assert_eq!(told(TargetKind::TrainJob, json!({})), "not decided yet");
}
