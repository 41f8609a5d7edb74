//! Advice that this tool would refuse to follow, or that somebody else would undo, is not given.

use serde_json::{Value, json};

use crate::job_sets_made_up::{self, JobSet, condition, event, failed};
use crate::made_up::{failed_pod, job};
use crate::support::{Story, View, story_of_objects};

const FAILED: &str = "2026-11-30T09:02:00Z";

/// A Job `train` that a disruption has failed for good.
fn disrupted_job(change: impl FnOnce(&mut Value)) -> Vec<Value> {
    let conditions = json!([
        {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "m", "lastTransitionTime": FAILED},
    ]);
    let mut job = job("train", json!({"backoffLimit": 0}), json!({"failed": 1, "conditions": conditions}));
    change(&mut job);
    vec![job, disrupted_pod()]
}

fn disrupted_pod() -> Value {
    let mut pod = failed_pod("p", "train", 143);
    pod["status"]["conditions"] =
        json!([{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}]);
    pod
}

/// A pod template's spec that saves to the claim `ckpt` and loads from there.
fn saving() -> Value {
    json!({
        "containers": [{
            "name": "main", "command": ["python3"], "args": ["pretrain_gpt.py", "--save", "/ckpt", "--load", "/ckpt"],
            "volumeMounts": [{"name": "v", "mountPath": "/ckpt"}],
        }],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "ckpt"}}],
    })
}

fn claim(owners: &[(&str, &str, &str)]) -> Value {
    let owner = |(api, kind, name): &(&str, &str, &str)| json!({"apiVersion": api, "kind": kind, "name": name, "uid": format!("uid-{name}")});
    let owners: Vec<Value> = owners.iter().map(owner).collect();
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "ckpt", "namespace": "ns", "uid": "c", "ownerReferences": owners},
        "status": {"phase": "Bound"},
    })
}

fn story(objects: impl IntoIterator<Item = Value>) -> Story {
    story_of_objects(&Value::Array(objects.into_iter().collect()), &View::default())
}

fn commands(story: &Story) -> String {
    let suggestions = story.report["suggestions"].as_array().unwrap();
    suggestions.iter().map(|suggestion| suggestion["commands"].to_string()).collect()
}

/// Who decides about a Job or `JobSet`, and what is said instead of a command that would be refused.
#[test]
fn what_somebody_else_decides_about_is_started_and_changed_there() {
    type Change = fn(&mut Value);
    let deleted: Change = |object| object["metadata"]["deletionTimestamp"] = "2026-11-30T09:03:00Z".into();
    let managed: Change = |object| object["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue".into();
    let applied: Change = |object| {
        object["metadata"]["annotations"] = json!({"argocd.argoproj.io/tracking-id": "app:batch/Job:ns/train"});
    };
    let owned: Change = |object| {
        let owner = json!([{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "name": "tj", "uid": "tj", "controller": true}]);
        object["metadata"]["ownerReferences"] = owner;
    };
    for (change, words) in [
        (deleted, "it is being deleted since 2026-11-30T09:03:00Z"),
        (managed, "kueue.x-k8s.io/multikueue runs it (spec.managedBy)"),
        (applied, "Argo CD application app applies"),
        (owned, "TrainJob/tj"),
    ] {
        let of_job = story(disrupted_job(change));
        let of_job_set = disrupted_job_set(change);
        for story in [of_job, of_job_set] {
            let text = commands(&story);
            assert!(!text.contains("sigapps restart") && !text.contains("patch"), "{words}: {text}");
            // The policy of a Job that is run elsewhere is not judged, and its pods are not.
            let is_judged = story.lines[0]["class"] != "unknown";
            assert!(
                !is_judged || story.report["suggestions"].to_string().contains(words),
                "{}",
                story.report["suggestions"]
            );
        }
    }
}

/// A `JobSet` that a disruption of its only attempt has failed.
fn disrupted_job_set(change: impl FnOnce(&mut Value)) -> Story {
    const BACKOFF: &str = "Job has reached the specified backoff limit";
    let said = "jobset failed due to reaching max number of restarts (first failed job: js-a-0)";
    let conditions = [condition("Failed", "True", "ReachedMaxRestarts", said, "2026-11-30T09:20:01Z")];
    let status = json!({"terminalState": "Failed", "conditions": conditions});
    let job_set = JobSet::new(json!({"maxRestarts": 0})).status(status).changed(change);
    let mut pod = job_sets_made_up::failed_pod("js-a-0", 0);
    pod["status"]["conditions"] =
        json!([{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}]);
    let job = job_sets_made_up::job("js-a-0", 0, &[failed("BackoffLimitExceeded", BACKOFF, "2026-11-30T09:20:00Z")]);
    job_set.with([job, pod, event("ReachedMaxRestarts", said, "2026-11-30T09:20:01.000000Z")])
}

/// Who would resume a `JobSet` that restarts without end, and how it is stopped then.
#[test]
fn restarts_without_end_are_stopped_by_who_decides() {
    let endless = |change: &dyn Fn(&mut Value)| {
        let events = job_sets_made_up::restarted_without_end();
        let policy = job_sets_made_up::restarts_by("RestartJobSetAndIgnoreMaxRestarts");
        JobSet::new(policy).status(json!({"restarts": 3})).changed(|object| change(object)).with(events)
    };
    let queue = |object: &mut Value| object["metadata"]["labels"] = json!({"kueue.x-k8s.io/queue-name": "q"});
    let managed = |object: &mut Value| object["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue".into();
    let suspend = r#"kubectl patch jobset js -n ns --type=merge '--patch={"spec":{"suspend":true}}'"#;
    let workload = "kubectl get workloads.kueue.x-k8s.io -n ns -l kueue.x-k8s.io/job-uid=js-uid";
    for (change, command) in [
        (&(|_: &mut Value| ()) as &dyn Fn(&mut Value), suspend),
        (&queue, workload),
        (&managed, "kubectl get jobset js -n ns -o yaml"),
    ] {
        let story = endless(change);
        assert_eq!(story.suggestion("fixThenRestart")["commands"][1], command, "{}", story.report["suggestions"]);
    }
}

/// The owners of a claim, in their order, and the patch that protects it.
#[test]
fn only_the_workloads_own_reference_is_taken_from_its_claim() {
    let own = ("batch/v1", "Job", "train");
    let other = ("v1", "ConfigMap", "keep");
    let take = |place: usize| {
        json!([
            {"op": "test", "path": format!("/metadata/ownerReferences/{place}/uid"), "value": "uid-train"},
            {"op": "remove", "path": format!("/metadata/ownerReferences/{place}")},
        ])
    };
    for (owners, patch) in [
        (vec![own], Some(take(0))),
        (vec![other, own], Some(take(1))),
        (vec![own, other], Some(take(0))),
        (vec![other], None),
        (vec![("batch/v1", "Job", "another")], None),
        (vec![], None),
    ] {
        let objects = disrupted_job(|job| job["spec"]["template"]["spec"] = saving());
        let story = story(objects.into_iter().chain([claim(&owners)]));
        let Some(patch) = patch else {
            assert!(!story.advice().contains(&"protectCheckpoint"), "{owners:?}: {:?}", story.advice());
            continue;
        };
        let protect = story.suggestion("protectCheckpoint");
        let expected = format!("kubectl patch pvc ckpt -n ns --type=json '--patch={patch}'");
        assert_eq!(protect["commands"], json!([expected]), "{owners:?}");
        let still = protect["why"].as_str().unwrap().contains("ConfigMap/keep keeps its own");
        assert_eq!(still, owners.contains(&other), "{protect}");
        assert_eq!(story.advice()[0], "protectCheckpoint");
        for kind in ["resumeFromCheckpoint", "editPolicy"] {
            let why = story.suggestion(kind)["why"].as_str().unwrap();
            assert!(why.contains("protect the claim first") || why.contains("protect its claim first"), "{why}");
        }
    }
}

#[test]
fn a_claim_that_is_being_deleted_is_copied_and_not_gone_on_from() {
    let mut claim = claim(&[("batch/v1", "Job", "train")]);
    claim["metadata"]["deletionTimestamp"] = "2026-11-30T09:01:00Z".into();
    let objects = disrupted_job(|job| job["spec"]["template"]["spec"] = saving());
    let story = story(objects.into_iter().chain([claim]));
    assert_eq!(story.advice(), ["protectCheckpoint", "editPolicy"]);
    let protect = story.suggestion("protectCheckpoint");
    assert_eq!(protect["commands"], json!(["kubectl describe pvc ckpt -n ns"]));
    assert!(protect["why"].as_str().unwrap().contains("which cannot be undone"), "{protect}");
    assert_eq!(story.suggestion("editPolicy")["safety"], "readOnly");
}
