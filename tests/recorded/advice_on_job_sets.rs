//! What to do next about `JobSet`s: what is left of restarts, and what becomes of checkpoints when it is made again.

use serde_json::{Value, json};

use crate::job_sets_made_up::{
    BACKOFF, JobSet, condition, event, failed, failed_pod, job, job_event, restart, restarted_without_end, restarts_by,
};
use crate::support::Story;

const DISRUPTED: &str = "Pod ns/js-a-0-x has condition DisruptionTarget matching FailJob rule at index 0";

/// A rule that fails the Job on a disruption.
fn on_disruption() -> Value {
    json!({"rules": [{"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]})
}

/// One replicated Job, `a`, that saves to a claim that the `JobSet` makes.
fn trainer(when_deleted: &str) -> impl Fn(JobSet) -> JobSet {
    let policies = json!([{
        "templates": [{"metadata": {"name": "ckpt"}, "spec": {}}], "retentionPolicy": {"whenDeleted": when_deleted},
    }]);
    move |job_set| {
        let container = json!({
            "name": "main", "command": ["python3"], "args": ["pretrain_gpt.py", "--save", "/ckpt", "--load", "/ckpt"],
            "volumeMounts": [{"name": "ckpt", "mountPath": "/ckpt"}],
        });
        let template = json!({"spec": {
            "parallelism": 1, "completions": 1, "backoffLimit": 0, "podFailurePolicy": on_disruption(),
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        }});
        let replicated = json!([{"name": "a", "replicas": 1, "template": template}]);
        job_set.spec("replicatedJobs", replicated).spec("volumeClaimPolicies", policies.clone())
    }
}

/// A `JobSet` that a disruption has failed for good: its one restart was used before.
fn out_of_restarts(with: impl Fn(JobSet) -> JobSet) -> Story {
    let said = "jobset failed due to reaching max number of restarts (first failed job: js-a-0)";
    let conditions = [condition("Failed", "True", "ReachedMaxRestarts", said, "2026-11-30T09:20:01Z")];
    let status =
        json!({"restarts": 1, "restartsCountTowardsMax": 1, "terminalState": "Failed", "conditions": conditions});
    let job_set = with(JobSet::new(json!({"maxRestarts": 1}))).status(status);
    let mut others = restart("RestartJobSet", "DefaultFailurePolicy", "js-a-0", "2026-11-30T09:10:01.000000Z");
    others.push(job_event("js-a-0", 0, "PodFailurePolicy", DISRUPTED, "2026-11-30T09:10:00.000000Z"));
    others.push(event("ReachedMaxRestarts", said, "2026-11-30T09:20:01.000000Z"));
    let mut last = job("js-a-0", 1, &[failed("PodFailurePolicy", DISRUPTED, "2026-11-30T09:20:00Z")]);
    last["spec"]["podFailurePolicy"] = on_disruption();
    others.push(last);
    let mut pod = failed_pod("js-a-0", 1);
    pod["metadata"]["name"] = "js-a-0-x".into();
    pod["status"]["conditions"] =
        json!([{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager"}]);
    others.push(pod);
    job_set.with(others)
}

fn why<'a>(story: &'a Story, kind: &str) -> &'a str {
    story.suggestion(kind)["why"].as_str().unwrap()
}

#[test]
fn what_goes_with_the_job_set_is_protected_before_it_is_made_again() {
    let story = out_of_restarts(trainer("Delete"));
    let advice = story.advice();
    assert_eq!(advice[0], "protectCheckpoint", "{advice:?}");
    assert!(advice.contains(&"resumeFromCheckpoint") && !advice.contains(&"restart"), "{advice:?}");
    assert_eq!(
        story.suggestion("protectCheckpoint")["commands"],
        json!([
            r#"kubectl patch pvc ckpt-js -n ns --type=json '--patch=[{"op":"test","path":"/metadata/ownerReferences/0/uid","value":"js-uid"},{"op":"remove","path":"/metadata/ownerReferences/0"}]'"#
        ])
    );
    assert!(why(&story, "resumeFromCheckpoint").contains("protect the claim first"));
    assert_eq!(
        story.suggestion("resumeFromCheckpoint")["commands"],
        json!(["kubectl sigapps restart jobset/js -n ns"])
    );
    assert_eq!(story.suggestion("resumeFromCheckpoint")["safety"], "destructive");
}

#[test]
fn what_is_retained_needs_no_protection() {
    let story = out_of_restarts(trainer("Retain"));
    assert!(!story.advice().contains(&"protectCheckpoint"), "{:?}", story.advice());
    assert!(why(&story, "resumeFromCheckpoint").contains("configured to save to /ckpt, and to resume"));
}

#[test]
fn a_time_to_live_is_told_with_the_time_it_ends() {
    let story = out_of_restarts(|job_set| trainer("Delete")(job_set).spec("ttlSecondsAfterFinished", json!(3600)));
    assert!(why(&story, "protectCheckpoint").contains("which ttlSecondsAfterFinished does at 2026-11-30T10:20:01Z"));
}

#[test]
fn disruptions_that_counted_ask_for_more_restarts_or_a_rule() {
    let story = out_of_restarts(trainer("Retain"));
    assert!(
        why(&story, "raiseRestarts").starts_with("disruptions ended 2 of its attempts and counted (maxRestarts 1)"),
        "{}",
        why(&story, "raiseRestarts")
    );
    let rule = json!({
        "name": "disruption", "action": "RestartJobSetAndIgnoreMaxRestarts",
        "onJobFailureReasons": ["PodFailurePolicy"], "onJobFailureMessagePatterns": ["DisruptionTarget"],
    });
    let patch = json!([{"op": "add", "path": "/spec/failurePolicy/rules", "value": [rule]}]);
    assert_eq!(
        story.suggestion("raiseRestarts")["commands"],
        json!([format!("kubectl sigapps restart jobset/js -n ns '--patch={patch}'")])
    );
}

#[test]
fn without_checkpoints_it_begins_anew() {
    let story = out_of_restarts(|job_set| job_set);
    assert!(why(&story, "restart").contains("it begins anew"), "{:?}", story.advice());
}

#[test]
fn attempts_that_end_alike_are_not_started_again() {
    let message = "Container main for pod ns/js-a-0-x failed with exit code 3 matching FailJob rule at index 0";
    let said = "jobset failed due to reaching max number of restarts (first failed job: js-a-0)";
    let conditions = [condition("Failed", "True", "ReachedMaxRestarts", said, "2026-11-30T09:20:01Z")];
    let status =
        json!({"restarts": 1, "restartsCountTowardsMax": 1, "terminalState": "Failed", "conditions": conditions});
    let job_set = trainer("Retain")(JobSet::new(json!({"maxRestarts": 1}))).status(status);
    let mut others = restart("RestartJobSet", "DefaultFailurePolicy", "js-a-0", "2026-11-30T09:10:01.000000Z");
    others.push(job_event("js-a-0", 0, "PodFailurePolicy", message, "2026-11-30T09:10:00.000000Z"));
    others.push(event("ReachedMaxRestarts", said, "2026-11-30T09:20:01.000000Z"));
    others.push(job_event("js-a-0", 1, "PodFailurePolicy", message, "2026-11-30T09:20:00.000000Z"));
    let story = job_set.with(others);
    assert!(why(&story, "fixThenRestart").starts_with("2 of its attempts ended alike, main of a with exit code 3"));
    for kind in ["restart", "resumeFromCheckpoint", "wait"] {
        assert!(!story.advice().contains(&kind), "{kind}: {:?}", story.advice());
    }
}

#[test]
fn a_job_set_that_restarts_by_itself_is_left_alone() {
    let status = json!({"restarts": 1, "restartsCountTowardsMax": 1});
    let others = restart("RestartJobSet", "DefaultFailurePolicy", "js-a-0", "2026-11-30T09:10:01.000000Z");
    let event = job_event("js-a-0", 0, "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:10:00.000000Z");
    let story = JobSet::new(json!({"maxRestarts": 3})).status(status).with(others.into_iter().chain([event]));
    assert_eq!(story.advice(), ["wait"]);
    assert!(why(&story, "wait").contains("1 of 3 counted restarts used"));
}

#[test]
fn restarts_without_end_are_to_be_suspended() {
    let policy = restarts_by("RestartJobSetAndIgnoreMaxRestarts");
    let story = trainer("Retain")(JobSet::new(policy)).status(json!({"restarts": 3})).with(restarted_without_end());
    assert_eq!(story.advice(), ["fixThenRestart"], "{}", story.report["suggestions"]);
    assert_eq!(
        story.suggestion("fixThenRestart")["commands"][1],
        r#"kubectl patch jobset js -n ns --type=merge '--patch={"spec":{"suspend":true}}'"#
    );
}

/// Rules of a failure policy, and whether one of them restarts uncounted for the failure that the Job's new rule will cause.
#[test]
fn the_job_sets_rule_is_the_one_that_takes_the_failure_to_come() {
    let rule = |action: &str, more: Value| {
        let mut rule = json!({"name": "r", "action": action, "onJobFailureReasons": ["PodFailurePolicy"]});
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        rule
    };
    let uncounted = "RestartJobSetAndIgnoreMaxRestarts";
    let for_job = |name: &str| json!({"targetReplicatedJobs": [name]});
    let for_message = |pattern: &str| json!({"onJobFailureMessagePatterns": [pattern]});
    for (rules, stays) in [
        (json!([]), false),
        (json!([rule(uncounted, json!({}))]), true),
        (json!([rule(uncounted, for_job("a"))]), true),
        (json!([rule(uncounted, for_job("b"))]), false),
        (json!([rule("FailJobSet", json!({})), rule(uncounted, json!({}))]), false),
        (json!([rule("FailJobSet", json!({})), rule(uncounted, for_job("b"))]), false),
        (json!([rule("FailJobSet", for_job("b")), rule(uncounted, json!({}))]), true),
        (json!([rule("FailJobSet", for_message("exit code")), rule(uncounted, json!({}))]), true),
        (json!([rule("RestartJobSet", json!({})), rule(uncounted, json!({}))]), false),
        (json!([rule(uncounted, for_message("exit code"))]), false),
        (json!([rule(uncounted, for_message("has condition DisruptionTarget"))]), true),
    ] {
        let policy = json!({"maxRestarts": 0, "rules": rules});
        let said = "jobset failed due to reaching max number of restarts (first failed job: js-a-0)";
        let conditions = [condition("Failed", "True", "ReachedMaxRestarts", said, "2026-11-30T09:20:01Z")];
        let job_set = JobSet::new(policy).status(json!({"terminalState": "Failed", "conditions": conditions}));
        let mut pod = failed_pod("js-a-0", 0);
        pod["status"]["conditions"] =
            json!([{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}]);
        let last = job("js-a-0", 0, &[failed("BackoffLimitExceeded", BACKOFF, "2026-11-30T09:20:00Z")]);
        let story = job_set.with([last, pod, event("ReachedMaxRestarts", said, "2026-11-30T09:20:01.000000Z")]);
        assert_eq!(why(&story, "editPolicy").contains("rule r stays"), stays, "{rules}: {}", why(&story, "editPolicy"));
        let commands = story.suggestion("editPolicy")["commands"].to_string();
        assert_eq!(commands.contains("/spec/failurePolicy/rules"), !stays, "{rules}: {commands}");
        assert!(stays || why(&story, "editPolicy").contains("in spec.failurePolicy.rules, as rule 0"), "{rules}");
    }
}
