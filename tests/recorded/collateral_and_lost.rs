use crate::support::{classes, story, story_with_all};

/// OnFailure: the Job deletes the pods that reached its limit; nothing but Events is left of them.
#[test]
fn flaky_onfailure_lost_both_pods() {
    let story = story("job-flaky-onfailure");
    assert_eq!(story.classes(), classes(&[("lost", 2)]));
    assert_eq!(story.lines.len(), 1, "one line a Job");
    assert_eq!(story.lines[0]["count"], 2);
    assert_eq!(story.lines[0]["reason"], "BackoffLimitExceeded");
    assert_eq!(story.counted(), 2);
    assert_eq!(story.report["summary"]["lost"], 2);
    assert!(story.group("lost")["cause"]["text"].as_str().unwrap().contains("exit codes are gone"));
    let inspect = story.suggestion("inspect");
    assert_eq!(inspect["commands"][0], "kubectl describe job flaky-onfailure -n data");
    assert!(inspect["why"].as_str().unwrap().contains("OnFailure"));
}

/// Bound to fail, not yet Failed: two pods take an hour to end and are counted already.
#[test]
fn slow_teardown_is_failing_with_one_failure_and_two_collateral() {
    let story = story("job-slow-teardown");
    assert_eq!(story.classes(), classes(&[("collateral", 2), ("rule", 1)]));
    assert_eq!(story.counted(), 3);
    assert_eq!(story.workload()["state"], "failing");
    assert_eq!(story.workload()["actedOn"]["condition"], "FailureTarget");
    for line in story.of_class("collateral") {
        assert_eq!(line["reason"], "Terminating");
        assert_eq!(line["finishedAt"], serde_json::Value::Null);
    }
}

/// A deadline: no pod failed, the one there was is torn down.
#[test]
fn report_failed_by_its_deadline() {
    let story = story("job-report");
    assert_eq!(story.classes(), classes(&[("collateral", 1), ("jobLevel", 1)]));
    assert_eq!(story.group("jobLevel")["key"], "DeadlineExceeded");
    assert_eq!(story.group("jobLevel")["collateral"], 1);
    assert_eq!(story.counted(), 1, "the pod torn down is in status.failed, the Job's own failure is not");
}

/// The success policy was met; the failure on the way is shown only with --all, and was not collateral.
#[test]
fn leader_wins_failed_once_on_the_way_to_success() {
    assert_eq!(story("job-leader-wins").lines.len(), 0);
    let all = story_with_all("job-leader-wins");
    assert_eq!(all.classes(), classes(&[("noPolicy", 1)]));
    assert_eq!(all.counted(), 1);
}

/// A JobSet's restart is held up by a pod that does not end. Its Job was deleted before it began to fail: neither of the
/// two pods failed by itself.
#[test]
fn stuck_restart_tore_both_pods_down() {
    let story = story("jobset-stuck-restart");
    assert_eq!(story.classes(), classes(&[("collateral", 2), ("lost", 1)]));
    assert_eq!(story.counted(), 2);
    let torn_down = story.of_class("collateral");
    assert!(torn_down.iter().all(|line| line["tornDownBy"] == "jobSetRestarting"));
    let pods: Vec<_> = torn_down.iter().map(|line| line["pod"].as_str().unwrap()).collect();
    assert_eq!(pods, ["stuck-restart-w-1-0-dgk26", "stuck-restart-w-1-1-9jxbs"]);
    assert_eq!(story.workload()["state"], "restarting");
    assert_eq!(story.of_class("lost")[0]["jobSetRule"]["label"], "(default)", "the attempt before");
}

/// Without its Events nothing tells the siblings from failures of their own: they are lost, and said to be.
#[test]
fn without_events_collateral_is_lost() {
    let path = crate::support::fixture("recorded/job-train-config-error.json");
    let mut dump: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    dump["items"].as_array_mut().unwrap().retain(|item| item["kind"] != "Event");
    let story = crate::support::story_of_objects(&dump["items"], &crate::support::View::default());
    assert_eq!(story.classes(), classes(&[("lost", 3), ("rule", 1)]));
    assert_eq!(story.counted(), 4);
    assert!(story.group("lost")["cause"]["text"].as_str().unwrap().contains("Events were not read"));
    assert!(story.report["notes"].to_string().contains("events are not in the data"));
}

/// A sibling that was deleted with the Job and is still in the data keeps the rule it matched, without the blame.
#[test]
fn the_pod_of_the_message_is_never_collateral() {
    let path = crate::support::fixture("recorded/job-race.json");
    let mut dump: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for item in dump["items"].as_array_mut().unwrap() {
        if item["kind"] == "Pod" {
            item["metadata"]["deletionTimestamp"] = "2026-11-30T09:12:33Z".into();
            item["metadata"]["deletionGracePeriodSeconds"] = 30.into();
            item["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"] = "2026-11-30T09:12:04Z".into();
        }
    }
    let story = crate::support::story_of_objects(&dump["items"], &crate::support::View::default());
    assert_eq!(story.classes(), classes(&[("collateral", 3), ("rule", 1)]));
    assert_eq!(story.of_class("rule")[0]["pod"], "race-0-7p5pc");
    let rules: Vec<_> = story.of_class("collateral").iter().map(|line| line["rule"]["index"].clone()).collect();
    assert_eq!(rules, [2, 2, 1]);
}
