//! `JobSet`s attempt by attempt, and what holds them up.

use serde_json::{Value, json};

use crate::support::{Story, View, classes, items_of, story, story_of_objects};

/// A recording without the objects that `gone` names.
fn without(recording: &str, gone: impl Fn(&Value) -> bool) -> Story {
    let mut items = items_of(recording);
    items.retain(|item| !gone(item));
    story_of_objects(&Value::Array(items), &View::default())
}

fn is_event(item: &Value) -> bool {
    item["kind"] == "Event"
}

fn is_event_of(kind: &'static str) -> impl Fn(&Value) -> bool {
    move |item| is_event(item) && item["involvedObject"]["kind"] == kind
}

fn attempts(story: &Story) -> &Vec<Value> {
    story.workload()["jobSet"]["attempts"].as_array().unwrap()
}

/// Some fields of each attempt, one line each.
fn told(story: &Story) -> Vec<String> {
    let field = |attempt: &Value, path: &str| match attempt.pointer(path) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => "-".to_owned(),
        Some(other) => other.to_string(),
    };
    let line = |attempt: &Value| {
        ["/attempt", "/outcome", "/rule/label", "/rule/action", "/rule/source", "/counted", "/job", "/reason"]
            .map(|path| field(attempt, path))
            .join(" ")
    };
    attempts(story).iter().map(line).collect()
}

#[test]
fn the_three_attempts_of_llama_are_told_in_full() {
    let story = story("jobset-llama-70b");
    assert_eq!(
        told(&story),
        [
            "0 restarted (default) RestartJobSet recorded true llama-70b-slice-1 BackoffLimitExceeded",
            "1 restarted hostMaintenance RestartJobSetAndIgnoreMaxRestarts recorded false llama-70b-slice-1 PodFailurePolicy",
            "2 failed userError FailJobSet evaluated - llama-70b-slice-1 PodFailurePolicy",
        ]
    );
    let of = |attempt: usize| &attempts(&story)[attempt];
    // Attempt 0: of the two pods that the Job made, it deleted one; the other one is the one that failed.
    assert_eq!(of(0)["pod"], "llama-70b-slice-1-0-7ph54");
    assert_eq!(of(0)["podByElimination"], true);
    assert_eq!(of(0)["exitCode"], Value::Null);
    assert!(of(0)["missing"][0].as_str().unwrap().starts_with("the exit code: "), "{}", of(0)["missing"]);
    assert_eq!(of(0)["endedAt"], "2026-11-30T09:12:11.191572Z");
    // Attempt 1: a drained node, told by the Event of a Job that is gone, by its old uid.
    assert_eq!(of(1)["pod"], "llama-70b-slice-1-1-n5dmp");
    assert_eq!(of(1)["condition"], "DisruptionTarget");
    assert_eq!(of(1)["podRule"]["label"], "DisruptionTarget");
    assert_eq!(of(1)["jobUid"], "d6352d75-49fc-4102-91f0-d013cc5e2ee6");
    // Attempt 2 is in the data.
    assert_eq!((&of(2)["container"], &of(2)["exitCode"]), (&json!("trainer"), &json!(42)));
    assert_eq!((&of(2)["node"], &of(2)["said"]), (&json!("gpu-node-4"), &json!("ValueError: bad config")));
    assert_eq!(of(2)["rule"]["index"], 0);
    assert_eq!(of(2)["missing"], json!([]));
    // 24 GPUs for 11 s and a bit.
    assert!(of(2)["gpuSeconds"].as_f64().is_some_and(|spent| (264.0..288.0).contains(&spent)), "{}", of(2));
    let job_set = &story.workload()["jobSet"];
    assert_eq!(job_set["budget"], "1 of 2 counted restarts used, 1 more uncounted");
    assert_eq!(story.report["notes"], json!([]), "evaluated and recorded agree");
}

#[test]
fn failures_are_grouped_by_the_jobsets_rule_and_below_it_the_jobs() {
    let story = story("jobset-llama-70b");
    let groups: Vec<String> = story.report["groups"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|group| group["class"] != "collateral")
        .map(|group| {
            let of_job = group["rule"]["label"].as_str().or(group["jobSetRule"]["jobReason"].as_str());
            format!("{} ← {}", group["jobSetRule"]["label"].as_str().unwrap(), of_job.unwrap())
        })
        .collect();
    assert_eq!(
        groups,
        ["userError ← exit 42 (trainer)", "hostMaintenance ← DisruptionTarget", "(default) ← BackoffLimitExceeded"]
    );
}

#[test]
fn without_events_the_attempts_before_are_said_to_be_unknown() {
    let story = without("jobset-llama-70b", is_event);
    assert_eq!(
        told(&story),
        ["0 unknown - - - - - -", "2 failed userError FailJobSet evaluated - llama-70b-slice-1 PodFailurePolicy"]
    );
    let unknown = &attempts(&story)[0];
    assert_eq!((&unknown["attempt"], &unknown["through"]), (&json!(0), &json!(1)));
    assert!(unknown["missing"][0].as_str().unwrap().contains("Events are not in the data"), "{unknown}");
    let lost = story.of_class("lost");
    let unknown_attempts = lost.iter().find(|line| line["jobSetRule"]["label"] == "(unknown)").unwrap();
    assert_eq!(unknown_attempts["count"], 2, "both are counted");
    let groups = story.report["groups"].to_string();
    assert!(groups.contains("attempts 0 to 1: how they ended"), "{groups}");
    // Where Events were read and do not tell, they have expired.
    let expired = without("jobset-llama-70b", is_event_of("JobSet"));
    assert_eq!(told(&expired)[0], "0 unknown - - - - - -");
    assert!(
        attempts(&expired)[0]["missing"][0].as_str().unwrap().contains("Events expired"),
        "{expired:?}",
        expired = attempts(&expired)[0]
    );
}

#[test]
fn without_the_events_of_jobs_the_rule_stays_and_its_cause_is_unknown() {
    let story = without("jobset-llama-70b", is_event_of("Job"));
    assert_eq!(
        told(&story)[..2],
        [
            "0 restarted (default) RestartJobSet recorded true llama-70b-slice-1 -",
            "1 restarted hostMaintenance RestartJobSetAndIgnoreMaxRestarts recorded false llama-70b-slice-1 -",
        ]
    );
    for attempt in &attempts(&story)[..2] {
        assert!(attempt["missing"][0].as_str().unwrap().starts_with("why the Job failed: "), "{attempt}");
        assert_eq!(attempt["pod"], Value::Null);
    }
}

/// Before v0.12 no Event names the rule: it follows from the Job's reason and message.
#[test]
fn without_a_recorded_rule_it_is_evaluated() {
    let story = without("jobset-llama-70b", |item| {
        let reason = item["reason"].as_str().unwrap_or_default();
        is_event(item) && (reason.starts_with("FailurePolicy_") || reason == "DefaultFailurePolicy")
    });
    assert_eq!(
        told(&story)[..2],
        [
            "0 restarted (default) RestartJobSet evaluated true llama-70b-slice-1 BackoffLimitExceeded",
            "1 restarted hostMaintenance RestartJobSetAndIgnoreMaxRestarts evaluated false llama-70b-slice-1 PodFailurePolicy",
        ]
    );
}

#[test]
fn where_the_recorded_rule_is_not_the_evaluated_one_that_is_said() {
    let mut items = items_of("jobset-llama-70b");
    for item in &mut items {
        if item["reason"] == "FailurePolicy_hostMaintenance" {
            item["reason"] = "FailurePolicy_userError".into();
        }
    }
    let story = story_of_objects(&Value::Array(items), &View::default());
    assert_eq!(attempts(&story)[1]["rule"]["label"], "userError", "the record holds");
    let notes = story.report["notes"].to_string();
    assert!(notes.contains("recorded rule userError") && notes.contains("match rule hostMaintenance"), "{notes}");
}

#[test]
fn the_only_event_left_is_that_of_the_last_restart() {
    // The first restart's Events have expired.
    let story = without("jobset-llama-70b", |item| {
        is_event_of("JobSet")(item) && item["eventTime"].as_str().is_some_and(|at| at < "2026-11-30T09:12:20")
    });
    assert_eq!(told(&story)[0], "0 unknown - - - - - -");
    assert_eq!(attempts(&story)[0]["through"], Value::Null);
    assert!(told(&story)[1].starts_with("1 restarted hostMaintenance"), "numbered from the end");
}

#[test]
fn other_endings_are_told() {
    let finetune = story("jobset-finetune");
    assert_eq!(
        told(&finetune),
        [
            "0 restarted (default) RestartJobSet recorded true finetune-workers-1 BackoffLimitExceeded",
            "1 restarted (default) RestartJobSet recorded true finetune-workers-1 BackoffLimitExceeded",
            "2 failed (default) RestartJobSet evaluated - finetune-workers-1 BackoffLimitExceeded",
        ]
    );
    assert_eq!(attempts(&finetune)[2]["rule"]["failedReason"], "ReachedMaxRestarts");
    let no_policy = story("jobset-no-policy");
    assert_eq!(told(&no_policy), ["0 failed (no failure policy) - - - no-policy-a-1 BackoffLimitExceeded"]);
    assert_eq!(attempts(&no_policy)[0]["rule"]["failedReason"], "FailedJobs");
    let patient = story("trainjob-bert-patient");
    assert_eq!(told(&patient)[1], "1 failed userError FailJobSet evaluated - bert-patient-node-0 PodFailurePolicy");
}

fn situations(story: &Story) -> Vec<(&str, &str)> {
    let list = story.workload()["jobSet"]["situations"].as_array().unwrap();
    list.iter().map(|s| (s["kind"].as_str().unwrap(), s["text"].as_str().unwrap())).collect()
}

#[test]
fn a_restart_that_waits_for_a_pod_names_it_and_its_node() {
    let story = story("jobset-stuck-restart");
    assert_eq!(
        told(&story),
        [
            "0 restarted (default) RestartJobSet recorded true stuck-restart-w-0 BackoffLimitExceeded",
            "1 restarting - - - - - -"
        ]
    );
    let (kind, text) = situations(&story)[0];
    assert_eq!(kind, "teardownBlocked");
    for part in ["stuck-restart-w-1-1-9jxbs", "node gpu-node-1 (ready)", "grace period 7200 s", "BlockingRecreate"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let blocker = &story.workload()["jobSet"]["situations"][0]["blockers"][0];
    assert_eq!((&blocker["node"], &blocker["nodeReady"]), (&json!("gpu-node-1"), &json!(true)));
    assert_eq!(
        story.suggestion("wait")["why"],
        "the JobSet makes its Jobs anew by itself once its pods have ended, which may take until 2026-11-30T11:12:09Z: 1 of 5 \
         counted restarts used"
    );
}

#[test]
fn a_node_that_is_not_ready_keeps_its_pods_for_ever() {
    let mut items = items_of("jobset-stuck-restart");
    for item in &mut items {
        if item["kind"] == "Node" {
            for condition in item["status"]["conditions"].as_array_mut().unwrap() {
                if condition["type"] == "Ready" {
                    condition["status"] = "Unknown".into();
                }
            }
        }
    }
    let story = story_of_objects(&Value::Array(items), &View::default());
    assert!(situations(&story)[0].1.contains("NOT READY"), "{:?}", situations(&story));
    let gone = without("jobset-stuck-restart", |item| item["kind"] == "Node");
    assert!(situations(&gone)[0].1.contains("ready or not: unknown"), "{:?}", situations(&gone));
}

#[test]
fn a_restart_under_way_says_why_and_what_it_waits_for() {
    let story = story("jobset-restarting");
    let (kind, text) = situations(&story)[0];
    assert_eq!(kind, "restarting");
    for part in [
        "rule nodeDrain (RestartJobSetAndIgnoreMaxRestarts) after job/restarting-w-0",
        "1 of 2 Jobs ready",
        "ImagePullBackOff",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert_eq!(story.workload()["jobSet"]["budget"], "0 of 3 counted restarts used, 1 more uncounted");
    // The condition alone tells the rule where Events are gone.
    let without_events = without("jobset-restarting", is_event);
    assert_eq!(
        told(&without_events)[0],
        "0 restarted nodeDrain RestartJobSetAndIgnoreMaxRestarts recorded false restarting-w-0 -"
    );
}

#[test]
fn what_kueue_suspended_has_not_failed() {
    let story = story("jobset-low-train");
    assert_eq!(story.classes(), classes(&[]));
}
