//! What a wait tells of what is decided: always what decided it, whatever becomes of the cluster, the reader or the time.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::waits::{JOBS, command, from, job, listed, object, of_job, open, running_then, serving, wait};
use crate::support::cluster::Ran;
use crate::support::objects::{whole, world};
use crate::support::{FakeApi, Home, Reply, Request};

/// `train` fails in the watch; asked for by its name, it is as `then` says.
fn fails_and_is(then: fn() -> Reply) -> FakeApi {
    FakeApi::start(move |request| match (request.path(), from(request)) {
        (JOBS, None) if request.query("fieldSelector").is_some() => listed("Job", 7, &[job(3, "")]),
        (JOBS, Some(_)) => open(of_job("MODIFIED", &job(8, "Failed"))),
        (path, _) if path == format!("{JOBS}/train") => then(),
        _ => world(request),
    })
}

#[test]
fn the_verdict_is_of_the_state_that_decided() {
    let by_then: [fn() -> Reply; 3] = [
        || whole("batch/v1", "Job", job(100, "")),
        || whole("batch/v1", "Job", job(100, "Complete")),
        || Reply::status(500, "InternalError", "no"),
    ];
    for then in by_then {
        let ran = wait(&fails_and_is(then), &["job/train"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.stdout.starts_with("Job ml/train failed"), "{ran:?}");
    }
    // It ends while the time is over: what was seen counts for both, too.
    let api = serving("Complete", |request| match from(request) {
        None => listed("Job", 7, &[job(3, "")]),
        Some(_) => open(""),
    });
    let ran = wait(&api, &["job/train", "--timeout=1s"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(ran.stdout.starts_with("Job ml/train is running"), "{ran:?}");
}

#[test]
fn a_server_that_hangs_after_the_decision_does_not_hold_it_up() {
    // The time for requests has no end, and that for the decision is over.
    let ran = wait(&fails_and_is(Reply::silence), &["job/train", "--request-timeout=0", "--timeout=0"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    let ran = wait(&fails_and_is(Reply::silence), &["job/train", "--request-timeout=0", "--timeout=5m"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.starts_with("Job ml/train failed"), "{ran:?}");
    assert!(ran.stderr.contains("job/train: only what was waited for itself could be read: no answer"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_is_heeded_while_what_was_decided_is_looked_into() {
    let api = fails_and_is(Reply::silence);
    let home = Home::of(&api);
    let child = command(&home, &["job/train", "--request-timeout=0"]).spawn().unwrap();
    let begun = std::time::Instant::now();
    while !api.asked().iter().any(|target| target.ends_with("/jobs/train")) {
        assert!(begun.elapsed() < std::time::Duration::from_secs(60), "{:?}", api.asked());
        std::thread::yield_now();
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(130), ""), "{ran:?}");
}

#[test]
fn what_is_decided_together_is_looked_into_together() {
    let jobs: Vec<Value> = (0..40)
        .map(|number| {
            let mut job = job(3, if number == 7 { "Failed" } else { "Complete" });
            job["metadata"]["name"] = format!("job-{number}").into();
            job["metadata"]["uid"] = format!("uid-{number}").into();
            job
        })
        .collect();
    let api = FakeApi::start(move |request| match (request.path(), from(request)) {
        (JOBS, None) => listed("Job", 7, &jobs),
        (JOBS, Some(_)) => open(""),
        _ => world(request),
    });
    let ran = wait(&api, &["jobs", "-l", "app=x"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (Some(3), 40), "{ran:?}");
    assert!(ran.stdout.contains("Job ml/job-7 failed") && ran.stdout.contains("Job ml/job-8 completed"), "{ran:?}");
    assert!(api.asked().len() < 40, "{} requests", api.asked().len());
}

#[test]
fn of_any_that_have_ended_the_first_of_the_command_line_counts() {
    // The list of the first is read last.
    let api = FakeApi::start(|request| {
        let of = |name: &str, condition: &str| {
            let mut job = job(3, condition);
            (job["metadata"]["name"], job["metadata"]["uid"]) = (name.into(), name.into());
            job
        };
        match (request.path(), request.query("fieldSelector"), from(request)) {
            (JOBS, Some("metadata.name=first"), None) => {
                let body = String::from_utf8(listed("Job", 7, &[of("first", "Failed")]).into_body()).unwrap();
                Reply::json(200, "").then_wait_until_asked("metadata.name=other&watch").then(body)
            }
            (JOBS, Some("metadata.name=other"), None) => listed("Job", 7, &[of("other", "Complete")]),
            (JOBS, Some(_), Some(_)) => open(""),
            _ => world(request),
        }
    });
    let ran = wait(&api, &["job/first", "job/other", "--any", "-o", "name"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), "job.batch/first\n"), "{ran:?}");
}

/// A server with `JobSet`s, none of them there, once their group was asked for so often; and with these Jobs.
fn with_job_sets(after: usize, jobs: &'static str) -> FakeApi {
    FakeApi::start(move |request: &Request| match (request.path(), from(request)) {
        ("/apis/jobset.x-k8s.io", _) if request.nth <= after => Reply::no_such_path(),
        ("/apis/jobset.x-k8s.io", _) => {
            let version = json!({"groupVersion": "jobset.x-k8s.io/v1alpha2", "version": "v1alpha2"});
            Reply::json(200, json!({"kind": "APIGroup", "preferredVersion": version}).to_string())
        }
        (path, None) if path.ends_with("/jobsets") && after == 0 => listed("JobSet", 7, &[]),
        (path, None) if path.ends_with("/jobsets") => {
            let mut job_set = object("a", 3, &json!({"terminalState": "Completed"}));
            (job_set["kind"], job_set["apiVersion"]) = ("JobSet".into(), "jobset.x-k8s.io/v1alpha2".into());
            listed("JobSet", 7, &[job_set])
        }
        (JOBS, None) if jobs.is_empty() => listed("Job", 7, &[]),
        (JOBS, None) => listed("Job", 7, &[job(3, jobs)]),
        (_, Some(_)) => open(""),
        _ => world(request),
    })
}

#[test]
fn a_kind_of_which_nothing_has_the_labels_is_no_error_where_another_has() {
    let ran = wait(&with_job_sets(0, "Complete"), &["jobs,jobsets", "-l", "app=x", "-o", "name"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "job.batch/train\n", ""));
    let ran = wait(&with_job_sets(0, ""), &["jobs,jobsets", "-l", "app=x"]);
    ran.says(1, &["no jobs, jobsets with the labels app=x are there in namespace \"ml\""]);
}

#[test]
fn a_kind_that_is_installed_later_may_be_waited_for() {
    let ran = wait(&with_job_sets(1, ""), &["jobset/a", "--allow-missing", "-o", "name"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "jobset.jobset.x-k8s.io/a\n"), "{ran:?}");
}

#[test]
fn that_another_one_was_made_under_its_name_is_told() {
    let mut other = job(9, "");
    other["metadata"]["uid"] = "another".into();
    let lines = of_job("DELETED", &job(8, "")) + &of_job("ADDED", &other);
    let api = serving("", move |request| match from(request) {
        None => listed("Job", 7, &[job(3, "")]),
        Some(_) => open(lines.clone()),
    });
    wait(&api, &["job/train"])
        .says(1, &["was deleted while it was waited for, and another one was made under its name"]);
}

#[test]
fn what_cannot_be_read_is_said_and_decides_nothing() {
    let mut broken = job(8, "Failed");
    broken["status"]["conditions"] = "Failed".into();
    let api = serving("Complete", move |request| match from(request) {
        None => listed("Job", 7, &[job(3, "")]),
        Some(_) => open(of_job("MODIFIED", &broken) + &of_job("MODIFIED", &job(9, "Complete"))),
    });
    let ran = wait(&api, &["job/train"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.starts_with("warning: job/train cannot be read as it is now"), "{ran:?}");
}

#[test]
fn failed_pods_that_may_not_be_read_are_not_nothing() {
    let running = object("train", 3, &json!({"active": 1, "failed": 2}));
    let api = FakeApi::start(move |request| match (request.path(), from(request)) {
        (JOBS, None) => listed("Job", 7, std::slice::from_ref(&running)),
        (_, Some(_)) => open(""),
        (path, _) if path == format!("{JOBS}/train") => whole("batch/v1", "Job", running.clone()),
        (path, _) if path.ends_with("/pods") => Reply::status(403, "Forbidden", "no pods"),
        _ => world(request),
    });
    let ran = wait(&api, &["job/train", "--timeout=1s"]);
    ran.says(5, &["0 of 1 pods ready, 2 failed", "no pods"]);
    assert!(ran.stdout.contains("2 pods of it failed, of which nothing more is known"), "{ran:?}");
}

mod runs {
    use super::*;

    const CRON_JOBS: &str = "/apis/batch/v1/namespaces/ml/cronjobs";

    fn run(condition: &str, version: u32) -> Value {
        let mut run = job(version, condition);
        run["metadata"]["name"] = "nightly-1".into();
        run["metadata"]["creationTimestamp"] = "2026-11-30T01:00:00Z".into();
        run["metadata"]["ownerReferences"] = json!([
            {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "cj", "controller": true},
        ]);
        run
    }

    fn serving(suspend: bool, jobs: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> FakeApi {
        FakeApi::start(move |request| match (request.path(), from(request)) {
            (CRON_JOBS, None) => {
                let metadata = json!({"name": "nightly", "namespace": "ml", "uid": "cj", "resourceVersion": "2"});
                listed("CronJob", 7, &[json!({"metadata": metadata, "spec": {"suspend": suspend}})])
            }
            (JOBS, _) => jobs(request),
            (_, Some(_)) => open(""),
            _ => world(request),
        })
    }

    #[test]
    fn a_run_that_ends_while_the_first_list_is_read_is_the_run() {
        let api = serving(false, |request| match (from(request), request.query("continue"), request.nth) {
            (None, None, 1) => {
                let run = run("", 3);
                let head = json!({"resourceVersion": "7", "continue": "more"});
                Reply::json(
                    200,
                    format!(r#"{{"kind":"JobList","apiVersion":"batch/v1","metadata":{head},"items":[{run}]}}"#),
                )
            }
            (None, Some(_), _) => Reply::status(500, "InternalError", "no"),
            (None, ..) => listed("Job", 9, &[run("Failed", 8)]),
            _ => open(""),
        });
        let ran = wait(&api, &["cronjob/nightly"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.stdout.starts_with("Job ml/nightly-1 failed"), "{ran:?}");
    }

    #[test]
    fn a_cron_job_that_is_suspended_is_said_to_be() {
        let api = serving(true, |request| match from(request) {
            None => listed("Job", 7, &[]),
            Some(_) => open(""),
        });
        let ran = wait(&api, &["cronjob/nightly", "--timeout=1s"]);
        ran.says(5, &["cronjob/nightly is suspended: it has no run before it is resumed\n"]);
    }
}

mod without_a_reader {
    use super::*;

    /// The exit code of a run whose output nobody reads.
    fn unread(home: &Home, subcommand: &str, arguments: &[&str]) -> Option<i32> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-sigapps"));
        command.arg(subcommand).args(arguments).env_clear().env("HOME", home.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        child.wait().unwrap().code()
    }

    #[test]
    fn a_wait_goes_on_and_ends_with_its_code() {
        for (end, code) in [("Failed", 3), ("Complete", 0)] {
            let api = running_then(end);
            let home = Home::of(&api);
            for output in ["verdict", "json", "name"] {
                assert_eq!(
                    unread(&home, "wait", &["job/train", "-o", output, "--timeout=60s"]),
                    Some(code),
                    "{output}"
                );
            }
        }
    }

    #[test]
    fn a_report_ends_with_its_code() {
        let api = FakeApi::start(world);
        let home = Home::of(&api);
        for output in ["wide", "json", "jsonl", "name", "csv"] {
            assert_eq!(unread(&home, "failures", &["--exit-code", "-o", output]), Some(3), "{output}");
        }
        // A snapshot that nobody has read is none.
        assert_eq!(unread(&home, "record", &["-n", "ml", "-o", "-"]), Some(1));
    }
}
