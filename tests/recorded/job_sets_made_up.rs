//! `JobSet`s that no recording plays, from objects written down here.

use serde_json::{Value, json};

use crate::support::{Story, View, story_of_objects};

/// A `JobSet` `js` of two replicated Jobs, `a` and `b`, each with two Jobs of one pod.
pub(crate) struct JobSet(Value);

#[allow(clippy::needless_pass_by_value)] // so that `json!` can be written in place
impl JobSet {
    pub(crate) fn new(failure_policy: Value) -> Self {
        let replicated = |name: &str| {
            json!({"name": name, "replicas": 2, "template": {"spec": {
                "parallelism": 1, "completions": 1, "backoffLimit": 0,
                "template": {"spec": {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}},
            }}})
        };
        Self(json!({
            "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
            "metadata": {"name": "js", "namespace": "ns", "uid": "js-uid", "creationTimestamp": "2026-11-30T09:00:00Z"},
            "spec": {"failurePolicy": failure_policy, "replicatedJobs": [replicated("a"), replicated("b")]},
            "status": {"restarts": 0},
        }))
    }

    pub(crate) fn spec(mut self, field: &str, value: Value) -> Self {
        self.0["spec"][field] = value;
        self
    }

    pub(crate) fn status(mut self, status: Value) -> Self {
        self.0["status"] = status;
        self
    }

    pub(crate) fn label(mut self, key: &str, value: &str) -> Self {
        self.0["metadata"]["labels"][key] = value.into();
        self
    }

    pub(crate) fn changed(mut self, change: impl FnOnce(&mut Value)) -> Self {
        change(&mut self.0);
        self
    }

    pub(crate) fn with(self, others: impl IntoIterator<Item = Value>) -> Story {
        self.seen_with(others, &View::default())
    }

    pub(crate) fn seen_with(self, others: impl IntoIterator<Item = Value>, view: &View) -> Story {
        let items: Vec<Value> = std::iter::once(self.0).chain(others).collect();
        story_of_objects(&Value::Array(items), view)
    }
}

pub(crate) fn condition(type_: &str, status: &str, reason: &str, message: &str, at: &str) -> Value {
    json!({"type": type_, "status": status, "reason": reason, "message": message, "lastTransitionTime": at})
}

/// A Job of the `JobSet`; conditions as `[type, reason, message, time]`.
pub(crate) fn job(name: &str, attempt: u32, conditions: &[[&str; 4]]) -> Value {
    let (replicated, index) = name.trim_start_matches("js-").rsplit_once('-').unwrap();
    let conditions: Vec<Value> =
        conditions.iter().map(|[type_, reason, message, at]| condition(type_, "True", reason, message, at)).collect();
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {
            "name": name, "namespace": "ns", "uid": format!("{name}-{attempt}"), "creationTimestamp": "2026-11-30T09:00:00Z",
            "labels": {
                "jobset.sigs.k8s.io/restart-attempt": attempt.to_string(),
                "jobset.sigs.k8s.io/replicatedjob-name": replicated, "jobset.sigs.k8s.io/job-index": index,
            },
            "ownerReferences": [{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "js", "uid": "js-uid", "controller": true}],
        },
        "spec": {"parallelism": 1, "completions": 1, "backoffLimit": 0},
        "status": {"conditions": conditions},
    })
}

pub(crate) const BACKOFF: &str = "Job has reached the specified backoff limit";

pub(crate) fn failed<'a>(reason: &'a str, message: &'a str, at: &'a str) -> [&'a str; 4] {
    ["Failed", reason, message, at]
}

/// An Event as JobSet v0.12 writes it.
pub(crate) fn event(reason: &str, message: &str, at: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": format!("js.{reason}.{at}"), "namespace": "ns"},
        "involvedObject": {"kind": "JobSet", "name": "js", "namespace": "ns", "uid": "js-uid"},
        "reason": reason, "message": message, "eventTime": at, "firstTimestamp": null, "lastTimestamp": null,
    })
}

/// The two Events of a restart.
pub(crate) fn restart(action: &str, rule: &str, job: &str, at: &str) -> Vec<Value> {
    let message = format!("applying {action} failure policy action (first failed job: {job})");
    vec![event(rule, &message, at), event(&format!("{action}FailurePolicyAction"), &message, at)]
}

/// An Event of the Job controller, whose times are in its name.
pub(crate) fn job_event(of: &str, attempt: u32, reason: &str, message: &str, at: &str) -> Value {
    let whole = format!("{}Z", &at[..19]);
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": format!("{of}.{attempt}.{reason}.{at}"), "namespace": "ns"},
        "involvedObject": {"kind": "Job", "name": of, "namespace": "ns", "uid": format!("{of}-{attempt}")},
        "reason": reason, "message": message, "firstTimestamp": whole, "lastTimestamp": whole, "count": 1, "eventTime": at,
    })
}

pub(crate) fn attempts(story: &Story) -> &Vec<Value> {
    story.workload()["jobSet"]["attempts"].as_array().unwrap()
}

pub(crate) fn situations(story: &Story) -> Vec<(&str, &str)> {
    let list = story.workload()["jobSet"]["situations"].as_array().unwrap();
    list.iter().map(|s| (s["kind"].as_str().unwrap(), s["text"].as_str().unwrap())).collect()
}

/// The text of a situation.
pub(crate) fn situation<'a>(story: &'a Story, kind: &str) -> &'a str {
    let found = situations(story).into_iter().find(|(other, _)| *other == kind);
    found.unwrap_or_else(|| panic!("no {kind} among {:?}", situations(story))).1
}

pub(crate) fn restarts_by(action: &str) -> Value {
    json!({"maxRestarts": 3, "rules": [{"name": "again", "action": action}]})
}

/// The Events of three attempts that the same failure ends, each restarted uncounted.
pub(crate) fn restarted_without_end() -> Vec<Value> {
    let mut events = Vec::new();
    for attempt in 0..3 {
        let at = |second: u32| format!("2026-11-30T09:1{attempt}:0{second}.000000Z");
        let message = "Container main for pod ns/js-a-0-x failed with exit code 3 matching FailJob rule at index 0";
        events.push(job_event("js-a-0", attempt, "PodFailurePolicy", message, &at(0)));
        events.extend(restart("RestartJobSetAndIgnoreMaxRestarts", "FailurePolicy_r", "js-a-0", &at(1)));
    }
    events
}

/// A failed pod, so that the workload is among those reported.
pub(crate) fn failed_pod(of: &str, attempt: u32) -> Value {
    let mut pod = crate::made_up::failed_pod(&format!("{of}-pod"), of, 1);
    pod["metadata"]["ownerReferences"][0]["uid"] = format!("{of}-{attempt}").into();
    pod
}

#[test]
fn a_rule_that_stays_the_same_while_a_restart_is_under_way_is_not_written_twice() {
    let again = || restart("RestartJobSet", "FailurePolicy_again", "js-a-0", "2026-11-30T09:01:00.000001Z");
    // The second restart: no Event of the condition, as it is True already, with this reason and message.
    let second = event(
        "RestartJobSetFailurePolicyAction",
        "applying RestartJobSet failure policy action (first failed job: js-a-0)",
        "2026-11-30T09:02:00.000001Z",
    );
    let story = JobSet::new(restarts_by("RestartJobSet"))
        .status(json!({"restarts": 2, "restartsCountTowardsMax": 2}))
        .with(again().into_iter().chain([second.clone()]));
    assert_eq!(attempts(&story)[1]["rule"]["label"], "again");
    assert_eq!(attempts(&story)[1]["rule"]["source"], "recorded");
    // Once all Jobs were ready in between, it would have been written.
    let ready = event("JobsReady", "all jobs are ready", "2026-11-30T09:01:30.000001Z");
    let story = JobSet::new(restarts_by("RestartJobSet"))
        .status(json!({"restarts": 2, "restartsCountTowardsMax": 2}))
        .with(again().into_iter().chain([ready, second]));
    assert_eq!(attempts(&story)[1]["rule"]["label"], "(unknown)");
    assert!(attempts(&story)[1]["missing"].to_string().contains("the rule: "));
}

/// Recorders before JobSet v0.12 fold equal Events into one.
#[test]
fn one_event_may_stand_for_several_restarts() {
    let message = "applying RestartJobSetAndIgnoreMaxRestarts failure policy action (first failed job: js-a-0)";
    let mut folded = event("RestartJobSetAndIgnoreMaxRestartsFailurePolicyAction", message, "2026-11-30T09:01:00Z");
    folded["eventTime"] = Value::Null;
    folded["firstTimestamp"] = "2026-11-30T09:01:00Z".into();
    folded["lastTimestamp"] = "2026-11-30T09:09:00Z".into();
    folded["count"] = 4.into();
    let story =
        JobSet::new(restarts_by("RestartJobSetAndIgnoreMaxRestarts")).status(json!({"restarts": 4})).with([folded]);
    let ends: Vec<&Value> = attempts(&story).iter().map(|attempt| &attempt["endedAt"]).collect();
    let (first, last) = (json!("2026-11-30T09:01:00Z"), json!("2026-11-30T09:09:00Z"));
    assert_eq!(ends, [&first, &Value::Null, &last, &Value::Null]);
    let between = &attempts(&story)[1];
    assert_eq!((&between["attempt"], &between["through"], &between["count"]), (&json!(1), &json!(2), &json!(2)));
    assert!(between["missing"].to_string().contains("one Event stands for several restarts"));
    assert_eq!(attempts(&story)[3]["attempt"], 4);
}

/// While an attempt is torn down another of its Jobs may still reach Failed: it decided nothing.
#[test]
fn a_job_that_fails_during_the_teardown_decided_nothing() {
    let mut objects = restart("RestartJobSet", "FailurePolicy_again", "js-a-0", "2026-11-30T09:01:00.500000Z");
    objects.extend(restart("RestartJobSet", "FailurePolicy_again", "js-b-0", "2026-11-30T09:05:00.500000Z"));
    objects.extend([
        job_event("js-a-0", 0, "SuccessfulCreate", "Created pod: js-a-0-x", "2026-11-30T09:00:01.100000Z"),
        job_event("js-b-0", 0, "SuccessfulCreate", "Created pod: js-b-0-x", "2026-11-30T09:00:01.200000Z"),
        job_event("js-a-0", 0, "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:01:00.400000Z"),
        job_event("js-b-0", 0, "DeadlineExceeded", "late", "2026-11-30T09:01:01.900000Z"),
        job_event("js-b-0", 1, "SuccessfulCreate", "Created pod: js-b-0-y", "2026-11-30T09:01:02.500000Z"),
        job_event("js-b-0", 1, "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:05:00.450000Z"),
    ]);
    let story = JobSet::new(restarts_by("RestartJobSet"))
        .status(json!({"restarts": 2, "restartsCountTowardsMax": 2}))
        .with(objects);
    let told: Vec<_> = attempts(&story)[..2].iter().map(|a| (&a["jobUid"], &a["reason"])).collect();
    assert_eq!(
        told,
        [(&json!("js-a-0-0"), &json!("BackoffLimitExceeded")), (&json!("js-b-0-1"), &json!("BackoffLimitExceeded")),]
    );
    assert_eq!(attempts(&story)[0]["earliestJob"], Value::Null, "a Job that failed later is not earlier");
}

/// The Job's Event may be written a moment after the decision that its status led to.
#[test]
fn a_jobs_event_may_come_after_the_decision() {
    let mut objects = restart("RestartJobSet", "FailurePolicy_again", "js-a-0", "2026-11-30T09:01:00.400000Z");
    objects.extend([
        job_event("js-a-0", 0, "SuccessfulCreate", "Created pod: js-a-0-x", "2026-11-30T09:00:01.100000Z"),
        job_event("js-a-0", 0, "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:01:00.450000Z"),
        // The next attempt's Job of that name, which fails within the same second.
        job_event("js-a-0", 1, "SuccessfulCreate", "Created pod: js-a-0-y", "2026-11-30T09:01:00.500000Z"),
        job_event("js-a-0", 1, "DeadlineExceeded", "other", "2026-11-30T09:01:00.900000Z"),
    ]);
    let story = JobSet::new(restarts_by("RestartJobSet"))
        .status(json!({"restarts": 1, "restartsCountTowardsMax": 1}))
        .with(objects);
    assert_eq!(attempts(&story)[0]["reason"], "BackoffLimitExceeded");
}

/// Another JobSet of the name was deleted before: its Events are not this one's.
#[test]
fn events_of_an_earlier_jobset_of_the_name_are_not_taken() {
    let mut objects = restart("RestartJobSet", "FailurePolicy_again", "js-a-0", "2026-11-30T08:30:00.000001Z");
    for object in &mut objects {
        object["involvedObject"]["uid"] = "another-uid".into();
    }
    objects.extend(restart("RestartJobSet", "FailurePolicy_again", "js-a-0", "2026-11-30T09:01:00.000001Z"));
    objects.push(job_event("js-a-0", 7, "DeadlineExceeded", "of the other", "2026-11-30T08:29:59.000001Z"));
    let story = JobSet::new(restarts_by("RestartJobSet"))
        .status(json!({"restarts": 1, "restartsCountTowardsMax": 1}))
        .with(objects);
    assert_eq!(attempts(&story).len(), 2);
    assert_eq!(attempts(&story)[0]["reason"], Value::Null);
}

/// Lists are not of one moment: Events may tell of a restart that the status does not count yet.
#[test]
fn events_newer_than_the_status_are_not_lost() {
    let mut objects = restart("RestartJobSet", "FailurePolicy_again", "js-a-0", "2026-11-30T09:01:00.000001Z");
    objects.extend(restart("RestartJobSet", "FailurePolicy_again", "js-b-0", "2026-11-30T09:02:00.000001Z"));
    let story = JobSet::new(restarts_by("RestartJobSet"))
        .status(json!({"restarts": 1, "restartsCountTowardsMax": 1}))
        .with(objects);
    let numbers: Vec<&Value> = attempts(&story).iter().map(|attempt| &attempt["attempt"]).collect();
    assert_eq!(numbers, [&json!(0), &json!(1), &json!(2)]);
}

#[test]
fn the_job_that_failed_first_is_named_where_the_controller_names_another() {
    let policy = json!({"maxRestarts": 0, "rules": [
        {"name": "ofB", "action": "FailJobSet", "targetReplicatedJobs": ["b"]},
        {"name": "ofA", "action": "RestartJobSet", "targetReplicatedJobs": ["a"]},
    ]});
    let failing = condition(
        "Failed",
        "True",
        "FailJobSetFailurePolicyAction",
        "applying FailJobSet failure policy action (first failed job: js-b-1)",
        "2026-11-30T09:05:00Z",
    );
    let story =
        JobSet::new(policy).status(json!({"restarts": 0, "terminalState": "Failed", "conditions": [failing]})).with([
            job("js-a-0", 0, &[failed("BackoffLimitExceeded", BACKOFF, "2026-11-30T09:01:00Z")]),
            job("js-b-1", 0, &[failed("BackoffLimitExceeded", BACKOFF, "2026-11-30T09:04:59Z")]),
            failed_pod("js-b-1", 0),
        ]);
    let attempt = &attempts(&story)[0];
    assert_eq!((&attempt["job"], &attempt["earliestJob"]), (&json!("js-b-1"), &json!("js-a-0")));
    assert_eq!(attempt["rule"]["label"], "ofB", "rule order beats time");
}

#[test]
fn a_job_restarted_alone_is_an_entry_within_its_attempt() {
    let message = |job: &str| format!("applying RestartJob failure policy action (first failed job: {job})");
    let mut objects = vec![
        event("RestartJobFailurePolicyAction", &message("js-a-0"), "2026-11-30T09:01:00.500000Z"),
        event("RestartJobFailurePolicyAction", &message("js-a-0"), "2026-11-30T09:02:00.500000Z"),
    ];
    objects.extend(restart("RestartJobSet", "DefaultFailurePolicy", "js-b-0", "2026-11-30T09:03:00.500000Z"));
    objects.extend([
        job_event("js-a-0", 0, "SuccessfulCreate", "Created pod: js-a-0-x", "2026-11-30T09:00:01.100000Z"),
        job_event("js-a-0", 0, "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:01:00.400000Z"),
        job_event("js-a-0", 1, "SuccessfulCreate", "Created pod: js-a-0-y", "2026-11-30T09:01:01.100000Z"),
        job_event("js-a-0", 1, "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:02:00.400000Z"),
    ]);
    let policy =
        json!({"maxRestarts": 5, "rules": [{"name": "alone", "action": "RestartJob", "targetReplicatedJobs": ["a"]}]});
    let status = json!({"restarts": 1, "restartsCountTowardsMax": 1, "replicatedJobsStatus": [
        {"name": "a", "jobRestarts": [2, 0], "jobRestartsCountTowardsMax": [2, 0]}, {"name": "b"}]});
    let story = JobSet::new(policy).status(status).with(objects);
    let told: Vec<String> = attempts(&story)
        .iter()
        .map(|a| format!("{} {} {} {}", a["attempt"], a["outcome"], a["rule"]["label"], a["jobUid"]).replace('"', ""))
        .collect();
    assert_eq!(
        told,
        [
            "0 jobRestarted alone js-a-0-0",
            "0 jobRestarted alone js-a-0-1",
            "0 restarted (default) null",
            "1 running null null",
        ]
    );
    assert_eq!(story.workload()["jobSet"]["budget"], "3 of 5 counted restarts used");
}

/// A Job that was made anew before is not there any more when the next one fails.
#[test]
fn a_job_that_was_restarted_alone_before_is_not_the_earliest_of_a_later_failure() {
    let message = |job: &str| format!("applying RestartJob failure policy action (first failed job: {job})");
    let create = |job: &str, at: &str| job_event(job, 0, "SuccessfulCreate", "Created pod: x", at);
    let story = JobSet::new(json!({"maxRestarts": 5, "rules": [{"name": "alone", "action": "RestartJob"}]}))
        .status(json!({"restarts": 0, "replicatedJobsStatus": [{"name": "a", "jobRestarts": [1, 1]}]}))
        .with([
            create("js-a-0", "2026-11-30T09:00:01.100000Z"),
            create("js-a-1", "2026-11-30T09:00:01.200000Z"),
            job_event("js-a-0", 0, "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:01:00.400000Z"),
            event("RestartJobFailurePolicyAction", &message("js-a-0"), "2026-11-30T09:01:00.500000Z"),
            job_event("js-a-1", 0, "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:02:00.400000Z"),
            event("RestartJobFailurePolicyAction", &message("js-a-1"), "2026-11-30T09:02:00.500000Z"),
        ]);
    let earliest: Vec<&Value> = attempts(&story).iter().map(|attempt| &attempt["earliestJob"]).collect();
    assert_eq!(earliest, [&Value::Null; 3]);
}

/// Of a Job that is gone only the end of its failing is known: it is compared with the other's end.
#[test]
fn the_end_of_one_jobs_failing_is_not_compared_with_the_beginning_of_anothers() {
    let failing = condition(
        "Failed",
        "True",
        "FailedJobs",
        "jobset failed due to one or more job failures (first failed job: js-a-0)",
        "2026-11-30T09:01:05Z",
    );
    let both = |at: &'static str| {
        [["FailureTarget", "DeadlineExceeded", "m", "2026-11-30T09:01:00Z"], failed("DeadlineExceeded", "m", at)]
    };
    let story = JobSet::new(Value::Null)
        .status(json!({"restarts": 0, "terminalState": "Failed", "conditions": [failing]}))
        .with([
            job_event("js-a-0", 0, "SuccessfulCreate", "Created pod: x", "2026-11-30T09:00:01.100000Z"),
            job_event("js-a-0", 0, "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:01:05.100000Z"),
            job("js-b-0", 0, &both("2026-11-30T09:01:05Z")),
        ]);
    assert_eq!(attempts(&story)[0]["earliestJob"], Value::Null);
}

/// Which attempt a Job was of is told by the restarts before it. Where those are not recorded, it is not known.
#[test]
fn jobs_of_unknown_attempts_are_not_taken_for_the_last_ones() {
    let story =
        JobSet::new(restarts_by("RestartJobSet")).status(json!({"restarts": 3, "restartsCountTowardsMax": 3})).with([
            job_event("js-a-0", 0, "SuccessfulCreate", "Created pod: x", "2026-11-30T09:00:01.100000Z"),
            job_event("js-a-0", 0, "BackoffLimitExceeded", BACKOFF, "2026-11-30T09:01:00.400000Z"),
            job_event("js-b-0", 1, "SuccessfulCreate", "Created pod: y", "2026-11-30T09:02:01.100000Z"),
        ]);
    let last = attempts(&story).last().unwrap();
    assert_eq!((&last["attempt"], &last["startedAt"]), (&json!(3), &Value::Null));
    assert_eq!(attempts(&story)[0]["count"], 3);
}

#[test]
fn only_restarts_count() {
    let ended = condition(
        "Failed",
        "True",
        "ReachedMaxRestarts",
        "jobset failed due to reaching max number of restarts (first failed job: js-a-0)",
        "2026-11-30T09:01:05Z",
    );
    let story = JobSet::new(json!({"maxRestarts": 0}))
        .status(json!({"restarts": 0, "terminalState": "Failed", "conditions": [ended]}))
        .with([
            job("js-a-0", 0, &[failed("BackoffLimitExceeded", BACKOFF, "2026-11-30T09:01:04Z")]),
            failed_pod("js-a-0", 0),
        ]);
    assert_eq!(attempts(&story)[0]["rule"]["action"], "RestartJobSet");
    assert_eq!(attempts(&story)[0]["counted"], Value::Null, "no counter moved");
}

#[test]
fn restarts_of_single_jobs_that_no_event_tells_of_are_said() {
    let policy = json!({"maxRestarts": 5, "rules": [{"name": "alone", "action": "RestartJob"}]});
    let status = json!({"restarts": 0, "replicatedJobsStatus": [{"name": "a", "jobRestarts": [2, 1], "jobRestartsCountTowardsMax": [2, 0]}]});
    let story = JobSet::new(policy).status(status).with([
        job("js-a-0", 0, &[failed("BackoffLimitExceeded", BACKOFF, "2026-11-30T09:01:00Z")]),
        failed_pod("js-a-0", 0),
    ]);
    assert_eq!(story.workload()["jobSet"]["budget"], "2 of 5 counted restarts used, 1 more uncounted");
    let untold = &attempts(&story)[0];
    assert_eq!((&untold["outcome"], &untold["count"]), (&json!("unknown"), &json!(3)));
    assert!(untold["missing"][0].as_str().unwrap().starts_with("restarts of single Jobs: "), "{untold}");
}

#[test]
fn restarts_that_no_limit_ends_are_called_out() {
    let loops = |action: &str, times: u32| {
        let objects = (0..times).flat_map(|n| {
            let at = |second: u32| format!("2026-11-30T09:{:02}:{second:02}.100000Z", n + 1);
            let mut all = restart(action, "FailurePolicy_again", "js-a-0", &at(30));
            all.push(job_event("js-a-0", n, "SuccessfulCreate", "Created pod: js-a-0-x", &at(10)));
            all.push(job_event("js-a-0", n, "BackoffLimitExceeded", BACKOFF, &at(29)));
            all
        });
        JobSet::new(restarts_by(action)).status(json!({"restarts": times})).with(objects)
    };
    let story = loops("RestartJobSetAndIgnoreMaxRestarts", 5);
    let text = situation(&story, "endlessRestarts");
    assert!(
        text.starts_with("the last 5 attempts ended alike within 5m30s: BackoffLimitExceeded, exit codes unknown;"),
        "{text}"
    );
    assert!(text.contains("RestartJobSetAndIgnoreMaxRestarts has no limit"), "{text}");
    let kinds = |story: &Story| situations(story).iter().map(|(kind, _)| (*kind).to_owned()).collect::<Vec<_>>();
    assert!(
        !kinds(&loops("RestartJobSetAndIgnoreMaxRestarts", 2)).contains(&"endlessRestarts".to_owned()),
        "twice is chance"
    );
    assert!(!kinds(&loops("RestartJobSet", 5)).contains(&"endlessRestarts".to_owned()), "maxRestarts ends it");
}

/// Disruptions come from outside: that they come again says nothing of the next attempt.
#[test]
fn drained_nodes_are_no_endless_loop() {
    let message = "Pod ns/js-a-0-x has condition DisruptionTarget matching FailJob rule at index 0";
    let objects = (0..4).flat_map(|n| {
        let at = |second: u32| format!("2026-11-30T09:{:02}:{second:02}.100000Z", n + 1);
        let mut all = restart("RestartJobSetAndIgnoreMaxRestarts", "FailurePolicy_again", "js-a-0", &at(30));
        all.push(job_event("js-a-0", n, "PodFailurePolicy", message, &at(29)));
        all
    });
    let story =
        JobSet::new(restarts_by("RestartJobSetAndIgnoreMaxRestarts")).status(json!({"restarts": 4})).with(objects);
    assert!(!situations(&story).iter().any(|(kind, _)| *kind == "endlessRestarts"), "{:?}", situations(&story));
}

#[test]
fn a_job_bound_to_fail_is_waited_for_and_the_rule_to_come_is_told() {
    let target = [
        "FailureTarget",
        "PodFailurePolicy",
        "Container main for pod ns/js-a-0-x failed with exit code 42 matching FailJob rule at index 0",
        "2026-11-30T09:01:00Z",
    ];
    let mut pod = failed_pod("js-a-0", 0);
    pod["status"] = json!({"phase": "Running"});
    pod["metadata"]["deletionTimestamp"] = "2026-11-30T09:02:00Z".into();
    pod["metadata"]["deletionGracePeriodSeconds"] = 60.into();
    let policy = json!({"maxRestarts": 1, "rules": [{"name": "userError", "action": "FailJobSet", "onJobFailureMessagePatterns": ["exit code 42"]}]});
    let story = JobSet::new(policy).with([job("js-a-0", 0, &[target]), pod]);
    let text = situation(&story, "waitingForFailed");
    for part in [
        "job/js-a-0 is bound to fail (PodFailurePolicy)",
        "pod js-a-0-pod to end on node node-1",
        "grace period 60 s",
        "then userError (FailJobSet) applies",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[test]
fn a_job_that_cannot_be_made_is_told_and_noise_is_not() {
    let refused = |message: &str| {
        JobSet::new(restarts_by("RestartJobSet")).with([
            event("JobCreationFailed", message, "2026-11-30T09:01:00.000001Z"),
            job("js-a-0", 0, &[]),
            failed_pod("js-a-0", 0),
        ])
    };
    let quota =
        refused("job \"js-b-1\" creation failed with error: jobs.batch \"js-b-1\" is forbidden: exceeded quota: jobs");
    let text = situation(&quota, "creationRefused");
    assert!(text.starts_with("1 of 4 Jobs are there; ") && text.contains("exceeded quota"), "{text}");
    let noise = refused("job \"js-b-1\" creation failed with error: jobs.batch \"js-b-1\" already exists");
    assert_eq!(situations(&noise), [], "it heals by itself");
}

#[test]
fn startup_order_says_who_waits_for_whom() {
    let replicated = json!([
        {"name": "driver", "replicas": 1, "template": {"spec": {}}},
        {"name": "workers", "replicas": 4, "dependsOn": [{"name": "driver", "status": "Ready"}], "template": {"spec": {}}},
    ]);
    let status = json!({"replicatedJobsStatus": [{"name": "driver", "ready": 0}, {"name": "workers"}]});
    let waits = JobSet::new(restarts_by("RestartJobSet"))
        .spec("replicatedJobs", replicated.clone())
        .status(status)
        .with([job("js-driver-0", 0, &[]), failed_pod("js-driver-0", 0)]);
    assert_eq!(
        situation(&waits, "startupOrder"),
        "replicated Job workers is not started: it depends on driver being Ready"
    );
    let ready = json!({"replicatedJobsStatus": [{"name": "driver", "ready": 1}, {"name": "workers"}]});
    let goes_on = JobSet::new(restarts_by("RestartJobSet"))
        .spec("replicatedJobs", replicated)
        .status(ready)
        .with([job("js-driver-0", 0, &[]), failed_pod("js-driver-0", 0)]);
    assert_eq!(situations(&goes_on), []);
}

#[test]
fn what_is_suspended_says_by_whom() {
    let suspended = |events: Vec<Value>, label: bool| {
        let set = JobSet::new(restarts_by("RestartJobSet")).spec("suspend", true.into()).status(json!({"conditions": [
            condition("Suspended", "True", "SuspendedJobs", "jobset is suspended", "2026-11-30T09:01:00Z")]}));
        let set = if label { set.label("kueue.x-k8s.io/queue-name", "gpus") } else { set };
        set.with([job("js-a-0", 0, &[]), failed_pod("js-a-0", 0)].into_iter().chain(events))
    };
    let by_hand = suspended(vec![], false);
    assert_eq!(situation(&by_hand, "suspended"), "it is suspended (spec.suspend)");
    let queued = suspended(vec![], true);
    assert!(situation(&queued, "suspended").contains("queue gpus"), "{:?}", situations(&queued));
    let evicted =
        suspended(vec![event("Stopped", "Preempted to accommodate a workload", "2026-11-30T09:01:00.000001Z")], true);
    let text = situation(&evicted, "suspended");
    assert!(text.contains("Kueue has suspended it: Preempted") && text.contains("no failure"), "{text}");
    assert_eq!(evicted.workload()["state"], "suspended");
}

#[test]
fn pods_that_jobset_itself_deleted_are_told() {
    let mut pod = failed_pod("js-a-0", 0);
    pod["status"]["conditions"] = json!([condition(
        "DisruptionTarget",
        "True",
        "ExclusivePlacementViolation",
        "Pod violated JobSet exclusive placement policy",
        "2026-11-30T09:00:30Z"
    )]);
    let story = JobSet::new(restarts_by("RestartJobSet")).with([job("js-a-0", 0, &[]), pod]);
    assert!(situation(&story, "exclusivePlacement").contains("js-a-0-pod"), "{:?}", situations(&story));
}

#[test]
fn in_place_restarts_are_told_by_the_containers() {
    let mut pod = failed_pod("js-a-0", 0);
    pod["status"] = json!({"phase": "Running", "containerStatuses": [{"name": "main", "restartCount": 3, "state": {"running": {}},
        "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-11-30T09:01:00Z"}}}]});
    let policy = json!({"maxRestarts": 4, "restartStrategy": "InPlaceRestart"});
    let story = JobSet::new(policy)
        .status(json!({"restarts": 0, "currentInPlaceRestartAttempt": 3}))
        .with([job("js-a-0", 0, &[]), pod]);
    let text = situation(&story, "inPlaceRestarts");
    assert!(text.contains("attempt 3") && text.contains("is 3") && text.contains("maxRestarts 4"), "{text}");
}

#[test]
fn what_another_controller_manages_is_shown_as_read() {
    let story = JobSet::new(restarts_by("RestartJobSet"))
        .spec("managedBy", "kueue.x-k8s.io/multikueue".into())
        .with([job("js-a-0", 0, &[]), failed_pod("js-a-0", 0)]);
    assert!(situation(&story, "managedElsewhere").contains("kueue.x-k8s.io/multikueue"));
}

/// Of a dump, anything may be missing or odd; nothing of it may stop the reading.
#[test]
fn odd_jobsets_are_read() {
    for odd in [
        json!({"spec": null, "status": null}),
        json!({"spec": {"replicatedJobs": [{}], "failurePolicy": {"rules": [{}]}}, "status": {"restarts": 7}}),
        json!({"spec": {"failurePolicy": {"rules": [{"action": "Teleport", "onJobFailureMessagePatterns": ["("]}]}},
            "status": {"restarts": 4_294_967_295_u32, "replicatedJobsStatus": [{"jobRestarts": [4_294_967_295_u32, 4_294_967_295_u32]}]}}),
    ] {
        let mut object = json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "js", "namespace": "ns", "uid": "js-uid"}});
        for (field, value) in odd.as_object().unwrap() {
            object[field] = value.clone();
        }
        let events = restart("RestartJobSet", "FailurePolicy_", "js-a-0", "2026-11-30T09:01:00.000001Z");
        let odd_event = event("RestartJobSetFailurePolicyAction", "(first failed job: ", "2026-11-30T09:02:00Z");
        let items: Vec<Value> = std::iter::once(object).chain(events).chain([odd_event]).collect();
        story_of_objects(&Value::Array(items), &View::default());
    }
}
