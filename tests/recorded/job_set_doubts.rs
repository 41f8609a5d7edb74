//! What of a `JobSet` cannot be known: it is said to be unknown, and nothing is told in its place.

use serde_json::{Value, json};

use crate::job_sets_made_up::{
    BACKOFF, JobSet, attempts, condition, event, failed_pod, job, job_event, restart, restarts_by,
};
use crate::support::{Story, View};

/// An Event of a restart as recorders before JobSet v0.12 write it: equal ones are one, with a count.
fn folded(job: &str, first: &str, last: &str, count: u32) -> Value {
    let reason = "RestartJobSetFailurePolicyAction";
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": format!("js.{job}.{first}"), "namespace": "ns"},
        "involvedObject": {"kind": "JobSet", "name": "js", "namespace": "ns", "uid": "js-uid"},
        "reason": reason, "message": format!("applying RestartJobSet failure policy action (first failed job: {job})"),
        "eventTime": null, "firstTimestamp": format!("2026-11-30T{first}Z"), "lastTimestamp": format!("2026-11-30T{last}Z"),
        "count": count,
    })
}

/// `1-2 x1 js-b-0 09:20:00`: the attempts that an entry may stand for, for how many, the Job and the end.
fn told(story: &Story) -> Vec<String> {
    let line = |attempt: &Value| {
        let through = attempt["through"].as_u64().map(|through| format!("-{through}")).unwrap_or_default();
        let end = attempt["endedAt"].as_str().map_or("?", |at| &at[11..19]);
        let job = attempt["job"].as_str().unwrap_or("?");
        format!("{}{through} x{} {job} {end}", attempt["attempt"], attempt["count"])
    };
    let ended = attempts(story).iter().filter(|attempt| attempt["outcome"] != "running");
    ended.map(line).collect()
}

fn missing(attempt: &Value) -> String {
    attempt["missing"].to_string()
}

/// The condition `RestartingJobSet` that became true at 09:10 and has the reason of the last restart since.
fn restarting_since_0910() -> Value {
    let message = "applying RestartJobSet failure policy action (first failed job: js-b-0)";
    condition("RestartingJobSet", "True", "FailurePolicy_again", message, "2026-11-30T09:10:00Z")
}

fn restarted(times: u32, events: impl IntoIterator<Item = Value>) -> Story {
    let status = json!({"restarts": times, "restartsCountTowardsMax": times, "conditions": [restarting_since_0910()]});
    let jobs = ["js-a-0", "js-b-0"].map(|name| {
        let mut job = job(name, times, &[]);
        job["metadata"]["creationTimestamp"] = "2026-11-30T11:00:01Z".into();
        job
    });
    JobSet::new(restarts_by("RestartJobSet")).status(status).with(jobs.into_iter().chain(events))
}

#[test]
fn a_condition_that_stays_true_tells_not_when_its_last_reason_came() {
    let twice = restarted(2, []);
    let last = &attempts(&twice)[1];
    assert_eq!((&last["attempt"], &last["job"], &last["endedAt"]), (&json!(1), &json!("js-b-0"), &Value::Null));
    assert!(missing(last).contains("when it ended: the condition RestartingJobSet"), "{last}");
    // Where there was one restart, the condition is of that.
    let once = restarted(1, []);
    assert_eq!(attempts(&once)[0]["endedAt"], "2026-11-30T09:10:00Z");
}

#[test]
fn a_job_that_failed_when_a_condition_became_true_is_not_that_of_its_last_reason() {
    let events = || {
        [
            job_event("js-b-0", 0, "SuccessfulCreate", "Created pod: x", "2026-11-30T09:00:05.200000Z"),
            job_event("js-b-0", 0, "DeadlineExceeded", "m", "2026-11-30T09:10:00.100000Z"),
            job_event("js-b-0", 1, "SuccessfulCreate", "Created pod: y", "2026-11-30T09:10:05.200000Z"),
            job_event("js-b-0", 1, "BackoffLimitExceeded", BACKOFF, "2026-11-30T11:00:00.100000Z"),
        ]
    };
    let story = restarted(2, events());
    let last = &attempts(&story)[1];
    assert_eq!((&last["jobUid"], &last["reason"]), (&Value::Null, &Value::Null));
    assert!(missing(last).contains("why the Job failed"), "{last}");
    assert_eq!(attempts(&restarted(1, events()))[0]["jobUid"], "js-b-0-0");
}

/// Which of the Jobs ended attempt 1, and which attempt 2, no Event tells.
#[test]
fn between_the_first_and_the_last_of_a_folded_event_others_have_no_certain_number() {
    let story = JobSet::new(restarts_by("RestartJobSet"))
        .status(json!({"restarts": 4, "restartsCountTowardsMax": 4}))
        .with([folded("js-a-0", "09:10:00", "09:40:00", 3), folded("js-b-0", "09:20:00", "09:20:00", 1)]);
    assert_eq!(
        told(&story),
        ["0 x1 js-a-0 09:10:00", "1-2 x1 js-a-0 ?", "1-2 x1 js-b-0 09:20:00", "3 x1 js-a-0 09:40:00"]
    );
    for doubtful in &attempts(&story)[1..3] {
        assert!(missing(doubtful).contains("which of attempts 1 to 2"), "{doubtful}");
        assert_eq!((&doubtful["startedAt"], &doubtful["gpuSeconds"]), (&Value::Null, &Value::Null));
    }
    let used: Vec<&Value> = attempts(&story).iter().map(|attempt| &attempt["countedSoFar"]).collect();
    assert_eq!(used, [&json!(1), &Value::Null, &Value::Null, &json!(4), &Value::Null]);
    let lost: Vec<&Value> = story.lines.iter().map(|line| &line["attempt"]).collect();
    assert_eq!(lost.iter().filter(|attempt| attempt.is_null()).count(), 2, "{lost:?}");
}

/// An Event that stands apart is numbered as ever.
#[test]
fn folded_events_that_do_not_overlap_leave_no_doubt() {
    let story = JobSet::new(restarts_by("RestartJobSet"))
        .status(json!({"restarts": 5, "restartsCountTowardsMax": 5}))
        .with([folded("js-a-0", "09:10:00", "09:30:00", 4), folded("js-b-0", "09:40:00", "09:40:00", 1)]);
    assert_eq!(
        told(&story),
        ["0 x1 js-a-0 09:10:00", "1-2 x2 js-a-0 ?", "3 x1 js-a-0 09:30:00", "4 x1 js-b-0 09:40:00"]
    );
    assert!(!missing(&attempts(&story)[1]).contains("which of"), "both of them: {}", attempts(&story)[1]);
}

/// The recorder before JobSet v0.12 drops Events beyond 25 at once: those that are missing may be the last ones.
#[test]
fn where_events_may_have_been_dropped_attempts_are_not_numbered_from_the_last() {
    let story = JobSet::new(restarts_by("RestartJobSet"))
        .status(json!({"restarts": 40, "restartsCountTowardsMax": 40}))
        .with([folded("js-a-0", "09:01:00", "09:36:00", 36)]);
    assert_eq!(
        told(&story),
        ["0-39 x4 ? ?", "0-4 x1 js-a-0 09:01:00", "1-38 x34 js-a-0 ?", "35-39 x1 js-a-0 09:36:00"]
    );
    assert!(missing(&attempts(&story)[1]).contains("which of attempts 0 to 4"), "{}", attempts(&story)[1]);
    let lost: u64 = story.lines.iter().map(|line| line["count"].as_u64().unwrap()).sum();
    assert_eq!(lost, 40, "each restart once");
    assert_eq!(attempts(&story)[4]["attempt"], 40);
}

/// A dump is not to be trusted: what a count says takes no memory.
#[test]
fn counts_beyond_belief_take_no_memory() {
    let events = (0..100).map(|n| folded(&format!("js-a-{n}"), &format!("09:10:{:02}", n % 60), "09:40:00", 1 << 31));
    let story = JobSet::new(restarts_by("RestartJobSet")).status(json!({"restarts": 3})).with(events);
    assert!(attempts(&story).len() <= 301, "{}", attempts(&story).len());
}

/// Of two dumps, the older one holds a Job that is long gone: the later one has its successor.
#[test]
fn a_job_whose_successor_is_there_does_not_make_it_restart() {
    let mut status = json!({"restarts": 3, "restartsCountTowardsMax": 3});
    let outcome = |status: &Value, jobs: &[Value]| {
        let story = JobSet::new(restarts_by("RestartJobSet")).status(status.clone()).with(jobs.to_vec());
        attempts(&story).last().unwrap()["outcome"].clone()
    };
    let mut old = job("js-a-0", 1, &[]);
    old["metadata"]["creationTimestamp"] = "2026-11-30T08:59:00Z".into();
    assert_eq!(outcome(&status, &[old.clone(), job("js-a-0", 3, &[])]), "running");
    // Without a successor, it is being torn down.
    assert_eq!(outcome(&status, &[old.clone(), job("js-b-0", 3, &[])]), "restarting");
    // Where the condition tells, that holds.
    let ready = condition("RestartingJobSet", "False", "JobsReady", "all jobs are ready", "2026-11-30T09:03:20Z");
    status["conditions"] = json!([ready]);
    assert_eq!(outcome(&status, &[old, job("js-b-0", 3, &[])]), "running");
}

/// As hand-written or reduced Events have it.
#[test]
fn events_without_a_uid_from_before_a_jobset_was_made_are_not_its_own() {
    let mut before = restart("RestartJobSet", "FailurePolicy_again", "js-a-0", "2026-11-30T08:00:00.500000Z");
    let mut after = restart("RestartJobSet", "FailurePolicy_again", "js-b-0", "2026-11-30T09:10:00.500000Z");
    for event in before.iter_mut().chain(&mut after) {
        event["involvedObject"].as_object_mut().unwrap().remove("uid");
    }
    let restarted = |events: Vec<Value>| {
        let set = JobSet::new(restarts_by("RestartJobSet")).status(json!({"restarts": 1}));
        attempts(&set.with(events))[0]["job"].clone()
    };
    assert_eq!(restarted(before), Value::Null);
    assert_eq!(restarted(after), "js-b-0");
}

/// Two failures of one Job within two seconds, and all Events there.
#[test]
fn a_job_made_anew_within_the_second_of_a_decision_did_not_lead_to_it() {
    let message = "applying RestartJob failure policy action (first failed job: js-a-0)";
    let limit = "jobset failed due to reaching max number of restarts (first failed job: js-a-0)";
    let ended = condition("Failed", "True", "ReachedMaxRestarts", limit, "2026-11-30T09:00:32Z");
    let mut second = job("js-a-0", 0, &[["Failed", "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:00:31Z"]]);
    second["metadata"]["uid"] = "js-a-0-1".into();
    second["metadata"]["creationTimestamp"] = "2026-11-30T09:00:30Z".into();
    let create = |attempt: u32, at: &str| job_event("js-a-0", attempt, "SuccessfulCreate", "Created pod: x", at);
    let all = || {
        vec![
            second.clone(),
            create(0, "2026-11-30T09:00:01.200000Z"),
            job_event("js-a-0", 0, "DeadlineExceeded", "m", "2026-11-30T09:00:30.100000Z"),
            event("RestartJobFailurePolicyAction", message, "2026-11-30T09:00:30.200000Z"),
            job_event("js-a-0", 1, "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:00:31.900000Z"),
            event("ReachedMaxRestarts", limit, "2026-11-30T09:00:32.100000Z"),
        ]
    };
    let policy = json!({"maxRestarts": 1, "rules": [{"name": "alone", "action": "RestartJob"}]});
    let status = json!({"restarts": 0, "terminalState": "Failed", "conditions": [ended],
        "replicatedJobsStatus": [{"name": "a", "jobRestarts": [1, 0], "jobRestartsCountTowardsMax": [1, 0]}]});
    for created in [Some("2026-11-30T09:00:30.500000Z"), None] {
        let objects = all().into_iter().chain(created.map(|at| create(1, at)));
        let story = JobSet::new(policy.clone()).status(status.clone()).with(objects);
        let uids: Vec<&Value> = attempts(&story).iter().map(|attempt| &attempt["jobUid"]).collect();
        assert_eq!(uids, ["js-a-0-0", "js-a-0-1"], "{created:?}");
    }
}

#[test]
fn a_rules_event_alone_tells_of_a_restart() {
    let both = |job: &str, at: &str| restart("RestartJobSet", "FailurePolicy_again", job, at);
    let mut events = both("js-a-0", "2026-11-30T09:10:00.500000Z");
    events.push(both("js-b-0", "2026-11-30T09:20:00.500000Z").remove(0));
    events.extend(both("js-a-1", "2026-11-30T09:30:00.500000Z"));
    let story = JobSet::new(restarts_by("RestartJobSet"))
        .status(json!({"restarts": 3, "restartsCountTowardsMax": 3}))
        .with(events);
    assert_eq!(told(&story), ["0 x1 js-a-0 09:10:00", "1 x1 js-b-0 09:20:00", "2 x1 js-a-1 09:30:00"]);
    let second = &attempts(&story)[1];
    assert_eq!((&second["rule"]["label"], &second["rule"]["action"]), (&json!("again"), &json!("RestartJobSet")));
    assert_eq!((&second["rule"]["source"], &second["counted"]), (&json!("recorded"), &json!(true)));
}

/// The Event of the second restart's rule is lost: that the rule is the same follows only where nothing speaks against it.
#[test]
fn a_rule_taken_over_from_the_restart_before_yields_to_what_the_failure_tells() {
    let policy = json!({"maxRestarts": 9, "rules": [
        {"name": "deadline", "action": "RestartJobSet", "onJobFailureReasons": ["DeadlineExceeded"]},
        {"name": "other", "action": "RestartJobSet"}]});
    let told = |second: &str| {
        let mut events = restart("RestartJobSet", "FailurePolicy_deadline", "js-a-0", "2026-11-30T09:10:00.500000Z");
        events
            .push(restart("RestartJobSet", "FailurePolicy_x", "js-a-0", "2026-11-30T09:20:00.500000Z").pop().unwrap());
        events.extend([
            job_event("js-a-0", 0, "SuccessfulCreate", "Created pod: x", "2026-11-30T09:00:05.200000Z"),
            job_event("js-a-0", 0, "DeadlineExceeded", "m", "2026-11-30T09:10:00.100000Z"),
            job_event("js-a-0", 1, "SuccessfulCreate", "Created pod: y", "2026-11-30T09:10:05.200000Z"),
            job_event("js-a-0", 1, second, "m", "2026-11-30T09:20:00.100000Z"),
        ]);
        let status = json!({"restarts": 2, "restartsCountTowardsMax": 2});
        let story = JobSet::new(policy.clone()).status(status).with(events);
        assert!(!story.report["notes"].to_string().contains("the controller recorded"));
        let rule = &attempts(&story)[1]["rule"];
        format!("{} {}", rule["label"], rule["source"]).replace('"', "")
    };
    assert_eq!(told("BackoffLimitExceeded"), "other evaluated");
    assert_eq!(told("DeadlineExceeded"), "deadline recorded");
}

/// The Job's creation and the Event of its successor's failure are lost: what is left is the failure of an attempt before.
#[test]
fn a_failure_long_before_a_decision_did_not_lead_to_it() {
    let told = |failed: &str| {
        let mut events = restart("RestartJobSet", "FailurePolicy_again", "js-b-0", "2026-11-30T09:10:00.500000Z");
        events.extend(restart("RestartJobSet", "FailurePolicy_again", "js-a-0", "2026-11-30T10:05:00.500000Z"));
        events.push(job_event("js-a-0", 0, "DeadlineExceeded", "m", failed));
        let status = json!({"restarts": 2, "restartsCountTowardsMax": 2});
        let story = JobSet::new(restarts_by("RestartJobSet")).status(status).with(events);
        attempts(&story)[1]["reason"].clone()
    };
    assert_eq!(told("2026-11-30T09:10:01.900000Z"), Value::Null);
    assert_eq!(told("2026-11-30T10:04:59.900000Z"), "DeadlineExceeded");
    // Behind the decision it may be the next attempt's.
    assert_eq!(told("2026-11-30T10:05:02.100000Z"), Value::Null);
}

/// `reconcileInPlaceRestart` fails the `JobSet` by the counts of its containers.
#[test]
fn restarts_in_place_fail_a_jobset_without_a_job_or_a_rule() {
    let limit = "jobset failed due to reaching max number of restarts";
    let ended = condition("Failed", "True", "ReachedMaxRestarts", limit, "2026-11-30T09:05:01Z");
    let status =
        json!({"restarts": 0, "terminalState": "Failed", "currentInPlaceRestartAttempt": 3, "conditions": [ended]});
    let policy = json!({"maxRestarts": 2, "restartStrategy": "InPlaceRestart", "rules": [{"name": "r", "action": "FailJobSet"}]});
    let mut pod = failed_pod("js-a-0", 0);
    pod["status"] = json!({"phase": "Running", "containerStatuses": [{"name": "main", "restartCount": 3, "state": {"running": {}},
        "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-11-30T09:05:00Z"}}}]});
    let told = |objects: Vec<Value>| JobSet::new(policy.clone()).status(status.clone()).with(objects);
    let story = told(vec![job("js-a-0", 0, &[]), pod]);
    assert!(story.of_class("lost").is_empty(), "{:?}", story.lines);
    let attempt = &attempts(&story)[0];
    assert_eq!(attempt["outcome"], "failed");
    assert!(!missing(attempt).contains("the rule") && !missing(attempt).contains("the Job"), "{attempt}");
    let rule = &attempt["rule"];
    assert_eq!(
        (&rule["label"], &rule["name"], &rule["source"]),
        (&json!("(restarts in place)"), &Value::Null, &Value::Null)
    );
    assert_eq!(rule["failedReason"], "ReachedMaxRestarts");
    // Where its Jobs are gone, nothing else tells that it failed.
    assert_eq!(told(vec![]).of_class("lost")[0]["reason"], "ReachedMaxRestarts");
}

#[test]
fn a_pattern_too_large_is_the_reason_said_and_no_other() {
    let pattern = "a".repeat(20_000);
    let rules = json!([{"name": "r0", "action": "FailJobSet", "onJobFailureMessagePatterns": [pattern]}, {"name": "r1", "action": "RestartJobSet"}]);
    let message = "applying RestartJobSet failure policy action (first failed job: js-a-0)";
    let story = JobSet::new(json!({"maxRestarts": 9, "rules": rules})).status(json!({"restarts": 1})).with([
        event("RestartJobSetFailurePolicyAction", message, "2026-11-30T09:10:30.500000Z"),
        job_event("js-a-0", 0, "SuccessfulCreate", "Created pod: x", "2026-11-30T09:00:01.500000Z"),
        job_event("js-a-0", 0, "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:10:30.400000Z"),
    ]);
    let attempt = &attempts(&story)[0];
    assert_eq!((&attempt["rule"]["label"], &attempt["reason"]), (&json!("(unknown)"), &json!("BackoffLimitExceeded")));
    assert!(missing(attempt).contains("a pattern of a rule is too large to judge"), "{attempt}");
    assert!(!missing(attempt).contains("reason is not known"), "{attempt}");
}

/// The first pods' creation has expired: what is left is that of a replacement.
#[test]
fn a_replacements_creation_is_not_the_start_of_an_attempt() {
    let told = |older: Option<Value>, created: &str| {
        let mut events = restart("RestartJobSet", "FailurePolicy_again", "js-a-0", "2026-11-30T11:00:00.500000Z");
        events.extend([
            job_event("js-a-0", 0, "SuccessfulCreate", "Created pod: x", created),
            job_event("js-a-0", 0, "BackoffLimitExceeded", BACKOFF, "2026-11-30T11:00:00.100000Z"),
        ]);
        events.extend(older);
        let status = json!({"restarts": 1, "restartsCountTowardsMax": 1});
        let story = JobSet::new(restarts_by("RestartJobSet")).status(status).with(events);
        let attempt = attempts(&story)[0].clone();
        (attempt["startedAt"].clone(), attempt["gpuSeconds"].clone(), missing(&attempt))
    };
    let (started, held, why) = told(None, "2026-11-30T10:40:00.500000Z");
    assert_eq!((started, held), (json!("2026-11-30T09:00:00Z"), Value::Null), "as the JobSet was made");
    assert!(why.contains("when its first pods started"), "{why}");
    let known = json!("2026-11-30T09:00:02.5Z");
    assert_eq!(told(None, "2026-11-30T09:00:02.500000Z").0, known, "too soon for a replacement");
    // An Event as old as the JobSet: all since are there.
    let older = event("ResumeJobs", "jobset is resumed", "2026-11-30T09:00:00.000000Z");
    assert_eq!(told(Some(older), "2026-11-30T10:40:00.500000Z").0, "2026-11-30T10:40:00.5Z");
    // Out of a queue.
    let resumed = event("ResumeJobs", "jobset is resumed", "2026-11-30T10:39:59.000000Z");
    assert_eq!(told(Some(resumed), "2026-11-30T10:40:00.500000Z").0, "2026-11-30T10:40:00.5Z");
}

/// The Events that tell where pods ran are in the data: they are used in each command.
#[test]
fn where_a_pod_that_is_gone_ran_is_told_of_its_failure() {
    let scheduled = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "js-a-0-0-x7k2p.1", "namespace": "ns"},
        "involvedObject": {"kind": "Pod", "name": "js-a-0-0-x7k2p", "namespace": "ns"}, "reason": "Scheduled",
        "message": "Successfully assigned ns/js-a-0-0-x7k2p to node-7", "eventTime": "2026-11-30T09:00:02.000000Z",
    });
    let message = "Container main for pod ns/js-a-0-0-x7k2p failed with exit code 42 matching FailJob rule at index 0";
    let mut events = restart("RestartJobSet", "FailurePolicy_again", "js-a-0", "2026-11-30T09:10:00.500000Z");
    events.extend([
        scheduled,
        job_event("js-a-0", 0, "SuccessfulCreate", "Created pod: js-a-0-0-x7k2p", "2026-11-30T09:00:01.100000Z"),
        job_event("js-a-0", 0, "PodFailurePolicy", message, "2026-11-30T09:10:00.400000Z"),
    ]);
    let status = json!({"restarts": 1, "restartsCountTowardsMax": 1});
    let story = JobSet::new(restarts_by("RestartJobSet")).status(status).with(events);
    let lost = story.of_class("lost")[0];
    assert_eq!((&lost["node"], &lost["startedAt"]), (&json!("node-7"), &json!("2026-11-30T09:00:01.1Z")));
    assert_eq!(attempts(&story)[0]["node"], "node-7");
}

/// What is asked not to be there may be on neither a Job nor the `JobSet` above it.
#[test]
fn a_negative_selector_does_not_match_through_the_other_object() {
    let seen = |selector: &'static str, of_set: bool| {
        let mut job = job("js-a-0", 1, &[]);
        let mut set = JobSet::new(restarts_by("RestartJobSet")).status(json!({"restarts": 1}));
        if of_set {
            set = set.label("team", "ml");
        } else {
            job["metadata"]["labels"]["team"] = "ml".into();
        }
        let events = restart("RestartJobSet", "FailurePolicy_again", "js-a-0", "2026-11-30T09:10:00.500000Z");
        let objects = [job, failed_pod("js-a-0", 1)].into_iter().chain(events);
        let story = set.seen_with(objects, &View { selector, ..View::default() });
        story.report["summary"]["failures"].as_u64().unwrap()
    };
    for of_set in [true, false] {
        for negative in ["!team", "team!=ml", "team notin (ml)"] {
            assert_eq!(seen(negative, of_set), 0, "{negative} {of_set}");
        }
        assert!(seen("team=ml", of_set) > 0, "{of_set}");
        assert_eq!(seen("team!=data", of_set), 2, "{of_set}");
    }
}

/// The Jobs that the attempt began with are gone, and their Events with them.
#[test]
fn a_job_made_anew_alone_did_not_begin_with_its_attempt() {
    let limit = "jobset failed due to reaching max number of restarts (first failed job: js-a-0)";
    let ended = condition("Failed", "True", "ReachedMaxRestarts", limit, "2026-11-30T09:50:00Z");
    let started = |own: &str| {
        let mut job = job("js-a-0", 0, &[["Failed", "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:49:59Z"]]);
        job["metadata"]["labels"]["jobset.sigs.k8s.io/job-restart-attempt"] = own.into();
        job["status"]["startTime"] = "2026-11-30T09:30:00Z".into();
        let status = json!({"restarts": 0, "terminalState": "Failed", "conditions": [ended]});
        let policy = json!({"maxRestarts": 1, "rules": [{"name": "alone", "action": "RestartJob"}]});
        let story = JobSet::new(policy).status(status).with([job, failed_pod("js-a-0", 0)]);
        let attempt = attempts(&story).last().unwrap().clone();
        (attempt["startedAt"].clone(), attempt["gpuSeconds"].is_null())
    };
    assert_eq!(started("0"), (json!("2026-11-30T09:30:00Z"), false));
    assert_eq!(started("1"), (json!("2026-11-30T09:00:00Z"), true), "the JobSet's own creation, and no cost");
}

/// Made anew alone, the Event of that lost, and that of its second failure as well: the first one led to nothing later.
#[test]
fn a_job_whose_successor_was_there_did_not_lead_to_a_decision() {
    let message = "applying RestartJob failure policy action (first failed job: js-a-0)";
    let create = |attempt: u32, at: &str| job_event("js-a-0", attempt, "SuccessfulCreate", "Created pod: x", at);
    let reason = |second: Option<&str>| {
        let events = [
            create(0, "2026-11-30T09:00:01.200000Z"),
            job_event("js-a-0", 0, "DeadlineExceeded", "m", "2026-11-30T09:10:00.100000Z"),
            create(1, "2026-11-30T09:10:01.200000Z"),
            event("RestartJobFailurePolicyAction", message, "2026-11-30T09:20:00.200000Z"),
        ];
        let second = second.map(|reason| job_event("js-a-0", 1, reason, "m", "2026-11-30T09:20:00.100000Z"));
        let policy = json!({"maxRestarts": 5, "rules": [{"name": "alone", "action": "RestartJob"}]});
        let status = json!({"restarts": 0, "replicatedJobsStatus": [{"name": "a", "jobRestarts": [1, 0]}]});
        let story = JobSet::new(policy).status(status).with(events.into_iter().chain(second));
        attempts(&story)[0]["reason"].clone()
    };
    assert_eq!(reason(None), Value::Null);
    assert_eq!(reason(Some("BackoffLimitExceeded")), "BackoffLimitExceeded");
}

/// Which Jobs were made anew alone no Event tells: one that is gone may have been, and had not failed when another one did.
#[test]
fn a_job_that_may_have_been_made_anew_is_not_named_as_the_first_one() {
    let limit = "jobset failed due to reaching max number of restarts (first failed job: js-a-1)";
    let ended = condition("Failed", "True", "ReachedMaxRestarts", limit, "2026-11-30T09:20:01Z");
    let earliest = |job_restarts: Value, in_data: bool| {
        let of_first = job_event("js-a-0", 0, "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:10:00.100000Z");
        let first = job("js-a-0", 0, &[["Failed", "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:10:00Z"]]);
        let named = job("js-a-1", 0, &[["Failed", "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:20:00Z"]]);
        let policy = json!({"maxRestarts": 1, "rules": [{"name": "alone", "action": "RestartJob"}]});
        let counters = json!([{"name": "a", "jobRestarts": job_restarts}]);
        let status = json!({
            "restarts": 0, "terminalState": "Failed", "conditions": [ended], "replicatedJobsStatus": counters
        });
        let made = job_event("js-a-0", 0, "SuccessfulCreate", "Created pod: x", "2026-11-30T09:00:01.200000Z");
        let objects = [made, of_first, named].into_iter().chain(in_data.then_some(first));
        let story = JobSet::new(policy).status(status).with(objects);
        attempts(&story).last().unwrap()["earliestJob"].clone()
    };
    assert_eq!(earliest(json!([1, 0]), false), Value::Null);
    assert_eq!(earliest(json!([0, 0]), false), "js-a-0");
    assert_eq!(earliest(json!([1, 0]), true), "js-a-0");
}

/// The condition of a restart stays when its Events have expired; Jobs may have been made anew alone after it as well.
#[test]
fn restarts_of_single_jobs_that_no_event_tells_may_have_come_after_a_condition() {
    let message = "applying RestartJobSet failure policy action (first failed job: js-a-0)";
    let restarting = condition("RestartingJobSet", "True", "FailurePolicy_again", message, "2026-11-30T09:10:00Z");
    let policy = json!({"maxRestarts": 9, "rules": [
        {"name": "alone", "action": "RestartJob", "onJobFailureReasons": ["BackoffLimitExceeded"]},
        {"name": "again", "action": "RestartJobSet"},
    ]});
    let untold = |conditions: Value, events: Vec<Value>| {
        let counters = json!([{"name": "a", "jobRestarts": [2, 0]}]);
        let status = json!({"restarts": 1, "conditions": conditions, "replicatedJobsStatus": counters});
        let story = JobSet::new(policy.clone()).status(status).with(events);
        let entry = attempts(&story)[0].clone();
        (entry["outcome"].clone(), entry["count"].clone(), entry["attempt"].clone(), entry["through"].clone())
    };
    let unknown = |through: Value| (json!("unknown"), json!(2), json!(0), through);
    assert_eq!(untold(json!([restarting]), Vec::new()), unknown(json!(1)));
    // Its Event is there, and older ones are not: they were of the attempt that it ended.
    let events = restart("RestartJobSet", "FailurePolicy_again", "js-a-0", "2026-11-30T09:10:00.500000Z");
    assert_eq!(untold(json!([]), events), unknown(Value::Null));
}

/// The restart's own Event has expired, and that of a Job made anew alone after it has not.
#[test]
fn a_restart_that_a_condition_tells_stands_before_what_came_after_it() {
    let message = "applying RestartJobSet failure policy action (first failed job: js-a-0)";
    let restarting = condition("RestartingJobSet", "True", "FailurePolicy_again", message, "2026-11-30T09:10:00Z");
    let policy = json!({"maxRestarts": 9, "rules": [{"name": "again", "action": "RestartJobSet"}]});
    let alone = |at: &str| {
        let message = "applying RestartJob failure policy action (first failed job: js-a-1)";
        event("RestartJobFailurePolicyAction", message, at)
    };
    for (at, expected) in [
        ("2026-11-30T09:20:00.500000Z", [(0, "restarted"), (1, "jobRestarted"), (1, "restarting")]),
        // Within the second of the condition, the Jobs made by the restart have not failed yet.
        ("2026-11-30T09:10:00.500000Z", [(0, "jobRestarted"), (0, "restarted"), (1, "restarting")]),
    ] {
        let counters = json!([{"name": "a", "jobRestarts": [0, 1]}]);
        let status = json!({"restarts": 1, "conditions": [restarting.clone()], "replicatedJobsStatus": counters});
        let story = JobSet::new(policy.clone()).status(status).with([alone(at)]);
        let told = attempts(&story).iter();
        let told: Vec<_> = told.map(|entry| (entry["attempt"].clone(), entry["outcome"].clone())).collect();
        assert_eq!(told, expected.map(|(attempt, outcome)| (json!(attempt), json!(outcome))), "{at}");
    }
}
