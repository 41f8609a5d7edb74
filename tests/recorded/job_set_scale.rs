//! Large `JobSet`s: what is told of them takes time and memory by their size, not by its square.

use std::fmt::Write as _;

use crate::job_sets_made_up::attempts;
use crate::support::{View, story_of};

/// A moment, some seconds after ten o'clock.
fn at(second: u32) -> String {
    format!("2026-11-30T{:02}:{:02}:{:02}.100000Z", 10 + second / 3600, second / 60 % 60, second % 60)
}

/// An Event, written down by hand: `json!` takes longer than reading it.
fn event(kind: &str, name: &str, uid: &str, reason: &str, message: &str, at: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"Event","metadata":{{"name":"{name}.{uid}.{reason}","namespace":"ns"}},"involvedObject":{{"kind":"{kind}","name":"{name}","namespace":"ns","uid":"{uid}"}},"reason":"{reason}","message":"{message}","eventTime":"{at}"}}"#
    )
}

/// Many Jobs, and many restarts.
#[test]
fn jobs_times_restarts_take_no_square() {
    const JOBS: u32 = 300;
    const RESTARTS: u32 = 200;
    let mut lines = format!(
        r#"{{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{{"name":"js","namespace":"ns","uid":"js-uid","creationTimestamp":"2026-11-30T09:59:00Z"}},"spec":{{"failurePolicy":{{"maxRestarts":900}},"replicatedJobs":[{{"name":"a","replicas":{JOBS}}}]}},"status":{{"restarts":{RESTARTS},"restartsCountTowardsMax":{RESTARTS}}}}}"#
    );
    for attempt in 0..RESTARTS {
        let began = attempt * 60;
        for index in 0..JOBS {
            let (name, uid) = (format!("js-a-{index}"), format!("js-a-{index}-{attempt}"));
            let _ = writeln!(lines, "{}", event("Job", &name, &uid, "SuccessfulCreate", "Created pod: x", &at(began)));
        }
        let uid = format!("js-a-0-{attempt}");
        let _ = writeln!(lines, "{}", event("Job", "js-a-0", &uid, "BackoffLimitExceeded", "m", &at(began + 40)));
        let message = "applying RestartJobSet failure policy action (first failed job: js-a-0)";
        let reason = "RestartJobSetFailurePolicyAction";
        let of_set = event("JobSet", "js", "js-uid", reason, message, &at(began + 41));
        let _ = writeln!(lines, "{}", of_set.replacen("js.js-uid", &format!("js.{attempt}"), 1));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.json");
    std::fs::write(&path, lines).unwrap();
    // Seconds where it is by size; minutes, which somebody sees, where it is not.
    let story = story_of(&path, &View::default());
    assert_eq!(attempts(&story).len(), RESTARTS as usize + 1);
    assert_eq!(attempts(&story)[7]["jobUid"], "js-a-0-7");
}
