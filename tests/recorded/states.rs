use crate::support::{View, classes, fixture, story, story_of};

/// An image that cannot be pulled: at once, although nothing has failed.
#[test]
fn bad_image_cannot_start() {
    let story = story("job-bad-image");
    assert_eq!(story.classes(), classes(&[("pending", 1)]));
    assert_eq!(story.counted(), 0);
    assert_eq!(story.group("pending")["key"], "ImagePullBackOff");
    let fix = story.suggestion("fixImage");
    assert!(fix["why"].as_str().unwrap().contains("registry.example/app:1.4"), "{fix}");
    assert!(fix["commands"][0].as_str().unwrap().starts_with("kubectl describe pod bad-image-"));
}

/// A missing secret: the same.
#[test]
fn bad_config_cannot_start() {
    let story = story("job-bad-config");
    assert_eq!(story.classes(), classes(&[("pending", 1)]));
    assert_eq!(
        story.group("pending")["cause"]["text"],
        "CreateContainerConfigError (app): secret \"db-creds\" not found"
    );
    assert_eq!(story.advice(), ["fixConfig"]);
}

/// No node is large enough; a wait of a few minutes is no failure yet, a longer one is.
#[test]
fn too_big_is_pending_only_after_a_while() {
    assert_eq!(story("job-too-big").lines.len(), 0);
    let patient = View { pending_after: Some(60), ..View::default() };
    let story = story_of(&fixture("recorded/job-too-big.json"), &patient);
    assert_eq!(story.classes(), classes(&[("pending", 1)]));
    assert_eq!(story.group("pending")["key"], "Unschedulable");
    assert_eq!(story.advice(), ["freeCapacity"]);
}

/// A container rule restarts it in place; the policy never sees it and nothing counts.
#[test]
fn inplace_restarts_in_place() {
    let story = story("job-inplace");
    assert_eq!(story.classes(), classes(&[("restarting", 1)]));
    assert_eq!(story.counted(), 0);
    assert_eq!(story.group("restarting")["cause"]["exitCode"], 88);
    assert!(story.group("restarting")["cause"]["text"].as_str().unwrap().contains("restarts: 2"));
    assert!(story.suggestion("inspect")["commands"][0].as_str().unwrap().ends_with("-c trainer --previous"));
}

/// Ignored evictions left no pod behind: the Job is healthy.
#[test]
fn what_is_fine_has_no_failures() {
    for name in ["job-pretrain", "job-all-good", "job-queued", "job-urgent", "job-low-sweep", "jobset-low-train"] {
        let story = story(name);
        assert_eq!(story.report["groups"], serde_json::json!([]), "{name}");
        assert_eq!(story.report["suggestions"], serde_json::json!([]), "{name}");
    }
}

/// maxFailedIndexes is passed; every index failed in its own right.
#[test]
fn sweep_failed_four_indexes() {
    let story = story("job-sweep");
    assert_eq!(story.classes(), classes(&[("noPolicy", 4)]));
    assert_eq!(story.group("noPolicy")["indexes"], "0-3");
    assert_eq!(story.workload()["actedOn"]["reason"], "MaxFailedIndexesExceeded");
}

/// Workloads other than Jobs do not disturb the reading.
#[test]
fn other_workloads_that_are_well_have_no_failures() {
    for name in ["deployment-api-ok", "sandbox-fine-box"] {
        assert_eq!(story(name).lines.len(), 0, "{name}");
    }
}

/// A JobSet that is restarting: its new attempt cannot start.
#[test]
fn restarting_jobset_waits_for_an_image() {
    let story = story("jobset-restarting");
    assert_eq!(story.classes(), classes(&[("lost", 1), ("pending", 1)]));
    let waits = story.of_class("pending")[0];
    assert_eq!((&waits["workload"], &waits["attempt"]), (&"jobset/restarting".into(), &1.into()));
}

/// A JobSet of a TrainJob is shown under that one's name, with the Job's rule.
#[test]
fn trainjobs_are_told_by_their_jobsets() {
    let patient = story("trainjob-bert-patient");
    assert_eq!(patient.classes(), classes(&[("collateral", 1), ("lost", 1), ("rule", 1)]));
    assert_eq!(patient.of_class("rule")[0]["workload"], "trainjob/bert-patient");
    let plain = story("trainjob-bert-plain");
    assert_eq!(plain.classes(), classes(&[("collateral", 1), ("noPolicy", 1)]));
    assert!(plain.group("noPolicy")["cause"]["text"].as_str().unwrap().contains("CUDA error"));
}

/// Recordings of JobSets whose last attempt is all that is left.
#[test]
fn the_last_attempt_of_other_jobsets() {
    let finetune = classes(&[("collateral", 1), ("lost", 2), ("noPolicy", 1)]);
    assert_eq!(story("jobset-finetune").classes(), finetune);
    assert_eq!(story("jobset-finetune").group("noPolicy")["cause"]["signal"], "SIGSEGV");
    assert_eq!(story("jobset-no-policy").classes(), classes(&[("noPolicy", 1)]));
    assert_eq!(story("jobset-rl-loop").lines.len(), 0);
}

/// `--since` counts from the data's own time and leaves out what ended before.
#[test]
fn since_counts_from_the_time_of_the_data() {
    let world = fixture("world.json.gz");
    let last_minute = story_of(&world, &View { since: Some(60), ..View::default() });
    assert!(!last_minute.lines.is_empty());
    for line in &last_minute.lines {
        let at = line["finishedAt"].as_str();
        assert!(at.is_none_or(|at| at >= "2026-11-30T09:13:31Z"), "{line}");
    }
    let workloads: Vec<_> = last_minute.of_class("rule").iter().map(|line| line["workload"].clone()).collect();
    assert!(workloads.contains(&"cronjob/backup".into()) && !workloads.contains(&"job/race".into()), "{workloads:?}");
}
