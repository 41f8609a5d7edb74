//! What looks like an answer and is none: each of these was told wrongly once.

use serde_json::{Value, json};

use crate::job_sets_made_up::{
    BACKOFF, JobSet, attempts, condition, event, failed, failed_pod, job, job_event, restart, restarts_by, situation,
    situations,
};

/// The final condition of a `JobSet` without a failure policy.
fn failed_jobs(job: &str) -> Value {
    let message = format!("jobset failed due to one or more job failures (first failed job: {job})");
    let failed = condition("Failed", "True", "FailedJobs", &message, "2026-11-30T09:05:00Z");
    json!({"restarts": 0, "terminalState": "Failed", "conditions": [failed]})
}

/// Under `OnFailure` a Job deletes the pods that failed, and of one past its deadline all that run: the pod left is the one
/// that succeeded.
#[test]
fn the_pod_left_is_blamed_only_where_that_follows() {
    let told = |restart_policy: &str, reason: &str| {
        let replicated = json!([{"name": "a", "replicas": 1, "template": {"spec": {"parallelism": 2, "completions": 2,
            "template": {"spec": {"restartPolicy": restart_policy, "containers": [{"name": "main"}]}}}}}]);
        let mut objects = restart("RestartJobSet", "DefaultFailurePolicy", "js-a-0", "2026-11-30T09:01:00.500000Z");
        objects.extend([
            job_event("js-a-0", 0, "SuccessfulCreate", "Created pod: js-a-0-0-x", "2026-11-30T09:00:01.100000Z"),
            job_event("js-a-0", 0, "SuccessfulCreate", "Created pod: js-a-0-1-y", "2026-11-30T09:00:01.200000Z"),
            job_event("js-a-0", 0, "SuccessfulDelete", "Deleted pod: js-a-0-1-y", "2026-11-30T09:00:59.000001Z"),
            job_event("js-a-0", 0, reason, "m", "2026-11-30T09:01:00.400000Z"),
        ]);
        let story = JobSet::new(json!({"maxRestarts": 3}))
            .spec("replicatedJobs", replicated)
            .status(json!({"restarts": 1, "restartsCountTowardsMax": 1}))
            .with(objects);
        attempts(&story)[0]["pod"].clone()
    };
    assert_eq!(told("Never", "BackoffLimitExceeded"), "js-a-0-0-x");
    assert_eq!(told("OnFailure", "BackoffLimitExceeded"), Value::Null);
    assert_eq!(told("Never", "DeadlineExceeded"), Value::Null);
}

/// A Job whose first pod failure was ignored, and whose second one counted.
fn ignored_then_counted(reason: &str) -> Vec<Value> {
    let mut job = job("js-a-0", 0, &[failed(reason, "m", "2026-11-30T09:04:59Z")]);
    job["spec"]["podFailurePolicy"] =
        json!({"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [143]}}]});
    job["status"]["failed"] = 1.into();
    let pod = |name: &str, code: i32, at: &str| {
        let mut pod = failed_pod("js-a-0", 0);
        pod["metadata"]["name"] = name.into();
        pod["metadata"]["uid"] = name.into();
        let end = &mut pod["status"]["containerStatuses"][0]["state"]["terminated"];
        end["exitCode"] = code.into();
        end["finishedAt"] = at.into();
        pod
    };
    vec![job, pod("first", 143, "2026-11-30T09:01:00Z"), pod("second", 1, "2026-11-30T09:02:00Z")]
}

#[test]
fn an_ignored_failure_is_not_the_cause_and_leads_to_nothing() {
    let story =
        JobSet::new(Value::Null).status(failed_jobs("js-a-0")).with(ignored_then_counted("BackoffLimitExceeded"));
    let attempt = &attempts(&story)[0];
    assert_eq!((&attempt["pod"], &attempt["exitCode"]), (&json!("second"), &json!(1)));
    let led = |pod: &str| story.lines.iter().find(|line| line["pod"] == pod).unwrap()["jobSetRule"].clone();
    assert_eq!(led("first"), Value::Null);
    assert_eq!(led("second")["label"], "(no failure policy)");
}

#[test]
fn a_deadline_is_no_pods_doing() {
    let story = JobSet::new(Value::Null).status(failed_jobs("js-a-0")).with(ignored_then_counted("DeadlineExceeded"));
    let attempt = &attempts(&story)[0];
    assert_eq!((&attempt["reason"], &attempt["pod"]), (&json!("DeadlineExceeded"), &Value::Null));
}

#[test]
fn attempts_of_which_nothing_is_known_are_not_alike() {
    let action = "RestartJobSetAndIgnoreMaxRestarts";
    let objects = (1..5)
        .flat_map(|n| restart(action, "FailurePolicy_again", "js-a-0", &format!("2026-11-30T09:0{n}:00.500000Z")));
    let story = JobSet::new(restarts_by(action)).status(json!({"restarts": 4})).with(objects);
    assert!(!situations(&story).iter().any(|(kind, _)| *kind == "endlessRestarts"), "{:?}", situations(&story));
}

/// Hours in a queue are no hours of GPUs.
#[test]
fn what_a_queue_holds_back_costs_nothing() {
    let mut late = job("js-a-0", 0, &[failed("BackoffLimitExceeded", BACKOFF, "2026-11-30T09:04:59Z")]);
    late["metadata"]["creationTimestamp"] = "2026-11-29T23:00:00Z".into();
    late["status"]["startTime"] = "2026-11-30T09:04:00Z".into();
    let story = JobSet::new(Value::Null).status(failed_jobs("js-a-0")).with([late.clone(), failed_pod("js-a-0", 0)]);
    assert_eq!(attempts(&story)[0]["gpuSeconds"], 32.0 * 60.0);
    let resumed = [
        event("SuspendedJobs", "jobset is suspended", "2026-11-30T09:04:20.000001Z"),
        event("ResumeJobs", "jobset is resumed", "2026-11-30T09:04:40.000001Z"),
    ];
    let objects = [late, failed_pod("js-a-0", 0)].into_iter().chain(resumed);
    let story = JobSet::new(Value::Null).status(failed_jobs("js-a-0")).with(objects);
    assert_eq!(attempts(&story)[0]["gpuSeconds"], Value::Null);
}

#[test]
fn the_rule_to_come_is_told_only_where_it_is_certain() {
    let target = |at: &'static str| ["FailureTarget", "BackoffLimitExceeded", BACKOFF, at];
    let policy = |max: u32| json!({"maxRestarts": max});
    let one = || [job("js-a-0", 0, &[target("2026-11-30T09:01:00Z")]), failed_pod("js-a-0", 0)];
    let text = |policy: Value, objects: Vec<Value>| {
        let story = JobSet::new(policy).with(objects);
        situation(&story, "waitingForFailed").to_owned()
    };
    assert!(text(policy(1), one().to_vec()).ends_with("; then the default (RestartJobSet) applies"));
    let used_up = text(policy(0), one().to_vec());
    assert!(
        used_up.ends_with("; then the JobSet fails, as maxRestarts 0 is reached (the default, RestartJobSet)"),
        "{used_up}"
    );
    let two = one().into_iter().chain([job("js-b-0", 0, &[target("2026-11-30T09:01:01Z")])]).collect();
    assert!(!text(policy(1), two).contains("then"), "whose pods end first decides");
}

#[test]
fn only_a_silent_kubelet_keeps_a_pod_for_ever() {
    let text = |status: &str| {
        let mut pod = failed_pod("js-a-0", 0);
        pod["status"] = json!({"phase": "Running"});
        pod["metadata"]["deletionTimestamp"] = "2026-11-30T09:02:00Z".into();
        pod["metadata"]["deletionGracePeriodSeconds"] = 60.into();
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"},
            "status": {"conditions": [{"type": "Ready", "status": status, "lastTransitionTime": "2026-11-30T09:00:00Z"}]}});
        let target = ["FailureTarget", "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:01:00Z"];
        let story = JobSet::new(json!({"maxRestarts": 1})).with([job("js-a-0", 0, &[target]), pod, node]);
        situation(&story, "waitingForFailed").to_owned()
    };
    assert!(text("Unknown").contains("NOT READY, its kubelet is silent, so that the pod never ends by itself"));
    assert!(text("False").contains("(NOT READY)"), "{}", text("False"));
    assert!(text("True").contains("(ready), asked ") && text("True").contains("until 2026-11-30T09:02:00Z"));
}

#[test]
fn a_dependency_that_is_lost_again_stops_nothing_that_runs() {
    let replicated = json!([
        {"name": "driver", "replicas": 1, "template": {"spec": {}}},
        {"name": "w", "replicas": 1, "dependsOn": [{"name": "driver", "status": "Ready"}], "template": {"spec": {}}},
    ]);
    let story = JobSet::new(restarts_by("RestartJobSet"))
        .spec("replicatedJobs", replicated)
        .status(json!({"replicatedJobsStatus": [{"name": "driver", "ready": 0}, {"name": "w", "ready": 1}]}))
        .with([job("js-driver-0", 0, &[]), job("js-w-0", 0, &[]), failed_pod("js-w-0", 0)]);
    assert_eq!(situations(&story), []);
}

#[test]
fn a_refusal_that_has_healed_is_not_told() {
    let refused = event("JobCreationFailed", "exceeded quota", "2026-11-30T08:59:00.000001Z");
    let story =
        JobSet::new(restarts_by("RestartJobSet")).with([refused, job("js-a-0", 0, &[]), failed_pod("js-a-0", 0)]);
    assert_eq!(situations(&story), [], "a Job was made after it");
}

#[test]
fn what_kueue_deactivated_does_not_come_back_by_itself() {
    let suspended = |message: &str, at: &str| {
        let status = json!({"conditions": [condition("Suspended", "True", "SuspendedJobs", "jobset is suspended", "2026-11-30T09:01:00Z")]});
        let story = JobSet::new(restarts_by("RestartJobSet")).spec("suspend", true.into()).status(status).with([
            event("Stopped", message, at),
            job("js-a-0", 0, &[]),
            failed_pod("js-a-0", 0),
        ]);
        situation(&story, "suspended").to_owned()
    };
    let deactivated = suspended(
        "The workload is deactivated due to exceeding the maximum number of re-queuing retries",
        "2026-11-30T09:01:00.000001Z",
    );
    assert!(deactivated.ends_with("it stays so until somebody activates its Workload"), "{deactivated}");
    assert_eq!(
        suspended("Preempted", "2026-11-30T08:00:00.000001Z"),
        "it is suspended (spec.suspend)",
        "an older eviction"
    );
}

/// Only restarts are bounded by `maxRestarts`.
#[test]
fn a_rule_that_cannot_have_met_the_limit_is_not_taken_for_it() {
    let policy = json!({"maxRestarts": 1, "rules": [{"name": "userError", "action": "FailJobSet"}]});
    let message = "jobset failed due to reaching max number of restarts (first failed job: js-a-0)";
    let ended = condition("Failed", "True", "ReachedMaxRestarts", message, "2026-11-30T09:05:00Z");
    let story =
        JobSet::new(policy).status(json!({"restarts": 0, "terminalState": "Failed", "conditions": [ended]})).with([
            job("js-a-0", 0, &[failed("BackoffLimitExceeded", BACKOFF, "2026-11-30T09:04:59Z")]),
            failed_pod("js-a-0", 0),
        ]);
    assert_eq!(attempts(&story)[0]["rule"]["label"], "(unknown)");
    assert!(attempts(&story)[0]["missing"].to_string().contains("the rule: "));
}

#[test]
fn a_job_made_anew_alone_waits_for_its_own_pods() {
    let mut old = job("js-a-0", 0, &[]);
    old["metadata"]["labels"]["jobset.sigs.k8s.io/job-restart-attempt"] = "0".into();
    old["metadata"]["deletionTimestamp"] = "2026-11-30T09:01:00Z".into();
    let mut pod = failed_pod("js-a-0", 0);
    pod["status"] = json!({"phase": "Running"});
    pod["metadata"]["deletionTimestamp"] = "2026-11-30T09:02:00Z".into();
    let status =
        json!({"replicatedJobsStatus": [{"name": "a", "jobRestarts": [1, 0], "jobRestartsCountTowardsMax": [1, 0]}]});
    let policy = json!({"maxRestarts": 3, "rules": [{"name": "alone", "action": "RestartJob"}]});
    let story = JobSet::new(policy).status(status).with([old, pod]);
    assert!(situation(&story, "teardownBlocked").contains("pod js-a-0-pod to end"), "{:?}", situations(&story));
    assert_eq!(story.of_class("collateral")[0]["tornDownBy"], "jobSetRestarting");
}

/// One Event that stands for several similar ones has the text of the last.
#[test]
fn a_combined_event_names_no_job() {
    let message =
        "(combined from similar events): applying RestartJobSet failure policy action (first failed job: js-b-0)";
    let mut combined = event("RestartJobSetFailurePolicyAction", message, "2026-11-30T09:01:00Z");
    combined["eventTime"] = Value::Null;
    combined["firstTimestamp"] = "2026-11-30T09:01:00Z".into();
    combined["lastTimestamp"] = "2026-11-30T09:09:00Z".into();
    combined["count"] = 3.into();
    let story = JobSet::new(restarts_by("RestartJobSet"))
        .status(json!({"restarts": 3, "restartsCountTowardsMax": 3}))
        .with([combined]);
    for attempt in &attempts(&story)[..3] {
        assert_eq!((&attempt["outcome"], &attempt["job"]), (&json!("restarted"), &Value::Null));
    }
}

/// Patterns come from a cluster and are not trusted: many large ones cost neither memory nor time.
#[test]
fn patterns_that_are_too_large_are_said_and_not_judged() {
    let patterns = vec![r"\pL{1000}\pL{1000}"; 20];
    let policy = json!({"maxRestarts": 1, "rules": [{"name": "odd", "action": "FailJobSet", "onJobFailureMessagePatterns": patterns}]});
    let message = "jobset failed due to reaching max number of restarts (first failed job: js-a-0)";
    let ended = condition("Failed", "True", "ReachedMaxRestarts", message, "2026-11-30T09:05:00Z");
    let story =
        JobSet::new(policy).status(json!({"restarts": 0, "terminalState": "Failed", "conditions": [ended]})).with([
            job("js-a-0", 0, &[failed("BackoffLimitExceeded", BACKOFF, "2026-11-30T09:04:59Z")]),
            failed_pod("js-a-0", 0),
        ]);
    assert_eq!(attempts(&story)[0]["rule"]["label"], "(unknown)");
}
