//! What stands above Jobs and `JobSet`s: `TrainJob`s and Kueue's `Workload`s.

use serde_json::{Value, json};

use crate::support::{View, explained, explained_of_objects, items_of, outline, story, story_of_objects, tells};

/// The deadline is the `TrainJob`'s own, and takes all that would tell of it away.
#[test]
fn a_train_job_that_ran_into_its_deadline_says_so() {
    assert_eq!(
        story("trainjob-deadline").failures(),
        [("workloadLevel", "trainjob/bert-short", "DeadlineExceeded", 1)]
    );
    tells(
        "trainjob-deadline",
        "trainjob/bert-short",
        ("failed", &["deadlineExceeded"], &["inspect"]),
        "TrainJob train-a/bert-short has failed: it ran into activeDeadlineSeconds (15s): its JobSet was deleted, with its pods and \
         all that they told.",
    );
}

/// The `JobSet`'s attempts are told under the name of the `TrainJob`.
#[test]
fn a_train_job_fails_with_its_job_set() {
    let story = story("trainjob-failed-before-again");
    let failures = [
        ("lost", "trainjob/llama-lora", "BackoffLimitExceeded", 1),
        ("noPolicy", "trainjob/llama-lora", "Error", 1),
        ("collateral", "trainjob/llama-lora", "jobFailing", 1),
    ];
    assert_eq!(story.failures(), failures);
    tells(
        "trainjob-failed-before-again",
        "trainjob/llama-lora",
        ("failed", &[], &["inspect", "inspect"]),
        "TrainJob train-b/llama-lora failed 0s ago: maxRestarts 1 is reached, by the default action RestartJobSet: container node \
         exited 1 \"torch.OutOfMemoryError: CUDA out of memory\" in pod llama-lora-node-0-1-62xr5 on gpu-node-1. 1 restart before; 1 of \
         1 counted restarts used.",
    );
}

/// Its status is as if nothing had ever failed; Events of another uid tell of the life before.
#[test]
fn a_train_job_that_began_anew_tells_how_it_ended_before() {
    let again = story("trainjob-again");
    assert_eq!(again.failures(), [("lost", "trainjob/llama-lora", "ReachedMaxRestarts", 1)]);
    // Who deleted the JobSet by hand wanted it to run again.
    assert_eq!(again.writes(), []);
    tells(
        "trainjob-again",
        "trainjob/llama-lora",
        ("running", &["begunAnew"], &["inspect"]),
        "TrainJob train-b/llama-lora is running, attempt 0, 1 of 1 Jobs ready or succeeded. Beside that, its JobSet was deleted and \
         made anew 1s ago after the one before had ended 1s ago (ReachedMaxRestarts: jobset failed due to reaching max number of \
         restarts (first failed job: llama-lora-node-0)): restarts count from 0 again, as each time that its JobSet is deleted.",
    );
}

/// With `ttlSecondsAfterFinished` nobody has to delete it: that goes on without end, and suspending is a way out.
#[test]
fn a_train_job_whose_job_set_deletes_itself_begins_anew_without_end() {
    let mut items = items_of("trainjob-again");
    for item in items.iter_mut().filter(|item| item["kind"] == "JobSet") {
        item["spec"]["ttlSecondsAfterFinished"] = json!(60);
    }
    let told = explained_of_objects(&json!(items), "trainjob/llama-lora");
    assert!(told["situations"][0]["text"].as_str().unwrap().contains("goes on without end"), "{told:#}");
    let writes = story_of_objects(&json!(items), &View::default());
    assert_eq!(writes.writes().len(), 1);
}

/// Without Events nothing tells of a life before, and none is claimed.
#[test]
fn without_events_a_train_job_has_not_begun_anew() {
    let items: Vec<Value> = items_of("trainjob-again").into_iter().filter(|item| item["kind"] != "Event").collect();
    assert_eq!(outline(&explained_of_objects(&json!(items), "trainjob/llama-lora")).1, Vec::<String>::new());
    assert_eq!(story_of_objects(&json!(items), &View::default()).lines.len(), 0);
}

#[test]
fn a_suspended_train_job_is_no_failure() {
    let story = story("trainjob-suspended");
    assert_eq!((story.lines.len(), story.advice().len()), (0, 0));
    tells(
        "trainjob-suspended",
        "trainjob/vit-base",
        ("suspended", &["suspended"], &[]),
        "TrainJob train-c/vit-base has been suspended for 0s: it is suspended (spec.suspend).",
    );
}

/// Evicted, waiting, stopped, deactivated by a person: no failure, and nothing is advised to be started.
#[test]
fn what_waits_in_kueue_has_not_failed() {
    for (name, note) in [
        ("kueue-podsready-first", Some("job/llm-eval: Kueue evicted it: not all of its pods were ready in time")),
        (
            "kueue-stopped",
            Some("job/sweep: Kueue evicted it: its queue is stopped; it waits: ClusterQueue paused is inactive"),
        ),
        ("kueue-waiting", Some("job/second: it waits in queue main for quota")),
        ("kueue-deactivated", None),
    ] {
        let story = story(name);
        assert_eq!((story.lines.len(), story.advice().len()), (0, 0), "{name}");
        let notes = story.report["notes"].as_array().unwrap();
        let said = notes.iter().any(|told| note.is_some_and(|note| told.as_str().unwrap().contains(note)));
        assert_eq!(said, note.is_some(), "{name}: {notes:?}");
    }
    tells(
        "kueue-waiting",
        "job/second",
        ("suspended", &["queued"], &[]),
        "Job queue-e/second was suspended 1s ago, which is no failure: it waits in queue main for quota: couldn't assign flavors to \
         pod set main: insufficient unused quota for nvidia.com/gpu in flavor any, 4 more needed.",
    );
    tells(
        "kueue-waiting",
        "workload/job-first-123b7",
        ("running", &[], &[]),
        "Workload queue-e/job-first-123b7 is well: Job first holds quota in ClusterQueue shared.",
    );
    tells(
        "kueue-deactivated",
        "jobset/detector",
        ("suspended", &["deactivated"], &[]),
        "JobSet queue-b/detector has been suspended for 1s: it was deactivated in Kueue; it does not run again before spec.active of \
         workload/jobset-detector-55f90 is made true.",
    );
}

/// More than the queue can ever give is a failure, and no note says that it is none.
#[test]
fn what_kueue_can_never_admit_is_a_failure() {
    let pending = story("kueue-pending");
    assert_eq!(pending.failures(), [("workloadLevel", "job/too-wide", "NeverAdmitted", 1)]);
    assert_eq!(pending.report["notes"], json!([]));
    assert_eq!(pending.writes(), []);
    tells(
        "kueue-pending",
        "job/too-wide",
        ("suspended", &["queued"], &["freeCapacity"]),
        "Job queue-d/too-wide was suspended 0s ago: it waits in queue main for quota: couldn't assign flavors to pod set main: \
         insufficient quota for nvidia.com/gpu in flavor any, previously considered podsets requests (0) + current podset request (8) \
         > maximum capacity (4); it asks for more than the queue can ever give.",
    );
    assert_eq!(outline(&explained("kueue-pending", "workload/job-too-wide-006ff")).0, "stuck");
}

/// Where another flavor only has no room now, it may be admitted later.
#[test]
fn what_fits_in_one_flavor_later_is_not_given_up() {
    let mut items = items_of("kueue-pending");
    for item in items.iter_mut().filter(|item| item["kind"] == "Workload") {
        for condition in item["status"]["conditions"].as_array_mut().unwrap() {
            if condition["type"] == "QuotaReserved" {
                let other = ", insufficient unused quota for nvidia.com/gpu in flavor spot, 2 more needed";
                condition["message"] = json!(format!("{}{other}", condition["message"].as_str().unwrap()));
            }
        }
    }
    assert_eq!(story_of_objects(&json!(items), &View::default()).lines.len(), 0);
}

/// What Kueue has deactivated for a reason does not come again by itself: it is mended, then made active.
#[test]
fn what_kueue_has_deactivated_is_mended_first() {
    let late = story("kueue-podsready");
    assert_eq!(late.failures(), [("workloadLevel", "job/llm-eval", "DeactivatedDueToRequeuingLimitExceeded", 1)]);
    assert_eq!(late.advice(), ["fixThenRestart"]);
    assert!(
        late.suggestion("fixThenRestart")["why"]
            .as_str()
            .unwrap()
            .ends_with("see why its pods did not become ready, and mend that")
    );
    tells(
        "kueue-podsready",
        "job/llm-eval",
        ("suspended", &["deactivated"], &["fixThenRestart"]),
        "Job queue-a/llm-eval was suspended 0s ago: Kueue has deactivated it: its pods did not become ready in time, once too often \
         (RequeuingLimitExceeded, 1 eviction for want of ready pods before); it does not run again before spec.active of \
         workload/job-llm-eval-32458 is made true.",
    );
    let long = story("kueue-maxexec");
    assert_eq!(long.failures().len(), 1);
    assert!(
        long.suggestion("fixThenRestart")["why"].as_str().unwrap().contains("kueue.x-k8s.io/max-exec-time-seconds")
    );
    tells(
        "kueue-maxexec",
        "workload/job-tokenize-c3c9d",
        ("stuck", &["deactivated"], &["fixThenRestart"]),
        "Workload queue-c/job-tokenize-c3c9d is stuck: Job tokenize holds no quota; Kueue has deactivated it: it ran longer than its \
         maximum execution time of 15s; it does not run again before spec.active of workload/job-tokenize-c3c9d is made true.",
    );
}
