//! What a `CronJob`'s schedule does beside its runs.

use crate::support::{explained, outline, story};

/// A run that does not end, behind which others are skipped.
#[test]
fn a_run_that_does_not_end_is_told_with_those_behind_it() {
    let story = story("cronjob-forbid");
    assert_eq!(story.failures(), [("workloadLevel", "cronjob/nightly-rollup", "JobAlreadyActive", 1)]);
    assert_eq!(story.writes(), []);
    let told = explained("cronjob-forbid", "cronjob/nightly-rollup");
    assert_eq!(outline(&told).1, ["runBlocks"]);
    let text = told["situations"][0]["text"].as_str().unwrap();
    assert!(text.contains("2 runs were skipped behind run nightly-rollup-29934454, which has not ended"), "{text}");
}

/// The controller says once that it missed too many, and starts the latest one all the same.
#[test]
fn too_many_missed_runs_are_told_and_the_latest_is_started() {
    let story = story("cronjob-missed");
    assert_eq!(story.failures(), [("workloadLevel", "cronjob/invoice-export", "TooManyMissedTimes", 1)]);
    let told = explained("cronjob-missed", "cronjob/invoice-export");
    assert_eq!(outline(&told).1, ["schedulesMissed"]);
    assert!(told["situations"][0]["text"].as_str().unwrap().contains("only the latest one of them is started"));
}

/// A suspended one keeps the failure of its last run and is not advised to be resumed.
#[test]
fn a_suspended_cron_job_is_not_advised_to_be_resumed() {
    let story = story("cronjob-suspended");
    assert_eq!(story.failures(), [("noPolicy", "cronjob/weekly-archive", "Error", 1)]);
    assert_eq!(story.workload()["state"], "suspended");
    assert_eq!(story.writes(), []);
    assert_eq!(outline(&explained("cronjob-suspended", "cronjob/weekly-archive")).1, ["suspended"]);
}

/// Only the last of four failed runs is kept. That of the others is told by Events, of which some are said twice.
#[test]
fn runs_that_are_gone_are_counted_once_each() {
    let failures = [("lost", "cronjob/hourly-load", "RunFailed", 3), ("noPolicy", "cronjob/hourly-load", "Error", 1)];
    assert_eq!(story("cronjob-history").failures(), failures);
}

/// With `startingDeadlineSeconds` the controller passes missed runs over without a word: nothing is made up.
#[test]
fn runs_that_were_missed_in_silence_are_no_failures() {
    assert_eq!(story("cronjob-missed-deadline").lines.len(), 0);
}
