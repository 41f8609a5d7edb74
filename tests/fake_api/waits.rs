//! `wait` against a server of which each test plays the part: the end is told in each way that it can come.

use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::cluster::Ran;
use crate::support::objects::{items, pod, whole, world};
use crate::support::{FakeApi, Home, Reply, Request};

pub(super) const JOBS: &str = "/apis/batch/v1/namespaces/ml/jobs";

pub(super) fn command(home: &Home, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-sigapps"));
    command.arg("wait").args(arguments).env_clear().env("HOME", home.path()).env("COLUMNS", "200");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A run against a server, not at a terminal; one that takes too long times out, and fails its test.
pub(super) fn wait(api: &FakeApi, arguments: &[&str]) -> Ran {
    let home = Home::of(api);
    let limit: &[&str] =
        if arguments.iter().any(|one| one.starts_with("--timeout")) { &[] } else { &["--timeout=60s"] };
    Ran::of(command(&home, &[arguments, limit].concat()).output().unwrap())
}

pub(super) fn object(name: &str, version: u32, status: &Value) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "ml", "uid": format!("uid-{name}"), "resourceVersion": version.to_string()},
        "spec": {"backoffLimit": 0}, "status": status,
    })
}

pub(super) fn job(version: u32, condition: &str) -> Value {
    let status = if condition.is_empty() {
        json!({"active": 1, "ready": 1})
    } else {
        json!({"failed": 1, "conditions": [{"type": condition, "status": "True", "reason": "BackoffLimitExceeded"}]})
    };
    object("train", version, &status)
}

pub(super) fn listed(kind: &str, version: u32, objects: &[Value]) -> Reply {
    let api_version = if matches!(kind, "Event" | "Pod") { "v1" } else { "batch/v1" };
    let head = json!({"resourceVersion": version.to_string()});
    Reply::json(
        200,
        format!(
            r#"{{"kind":"{kind}List","apiVersion":"{api_version}","metadata":{head},"items":[{}]}}"#,
            items(objects)
        ),
    )
}

pub(super) fn event(kind: &str, api_version: &str, of: &str, object: &Value) -> String {
    let mut object = object.clone();
    object["kind"] = of.into();
    object["apiVersion"] = api_version.into();
    format!("{}\n", json!({"type": kind, "object": object}))
}

pub(super) fn of_job(kind: &str, job: &Value) -> String {
    event(kind, "batch/v1", "Job", job)
}

pub(super) fn from(request: &Request) -> Option<u32> {
    request.query("watch")?;
    Some(request.query("resourceVersion").unwrap().parse().unwrap())
}

pub(super) fn open(lines: impl Into<String>) -> Reply {
    Reply::json(200, lines).then_wait_until_stopped()
}

/// A server on which `train` is a Job: `jobs` answers the list and the watch of it, and everything else is as it is when it
/// has ended like `end`.
pub(super) fn serving(end: &str, jobs: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> FakeApi {
    let end = job(100, end);
    FakeApi::start(move |request| match request.path() {
        JOBS if request.query("fieldSelector") == Some("metadata.name=train") => jobs(request),
        path if path == format!("{JOBS}/train") => whole("batch/v1", "Job", end.clone()),
        "/api/v1/namespaces/ml/pods" => {
            let mut pod = pod("ml", "train-0", "train");
            pod["metadata"]["ownerReferences"][0]["uid"] = "uid-train".into();
            listed("Pod", 100, &[pod])
        }
        _ => world(request),
    })
}

/// Runs first, then ends like `end`.
pub(super) fn running_then(end: &'static str) -> FakeApi {
    serving(end, move |request| match from(request) {
        None => listed("Job", 7, &[job(3, "")]),
        Some(_) => open(of_job("MODIFIED", &job(8, end))),
    })
}

#[test]
fn a_job_that_fails_ends_the_wait_with_3_and_its_verdict() {
    let ran = wait(&running_then("Failed"), &["job/train"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), ""), "{ran:?}");
    assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    assert!(ran.stdout.starts_with("Job ml/train failed"), "{ran:?}");
    assert!(ran.stdout.contains("exit 1"), "the verdict is that of explain, with what its pods tell: {ran:?}");
}

#[test]
fn a_job_that_completes_ends_the_wait_with_0() {
    let ran = wait(&running_then("Complete"), &["job/train"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("completed"), "{ran:?}");
}

#[test]
fn what_has_ended_before_is_told_at_once() {
    let api = serving("Failed", |request| match from(request) {
        None => listed("Job", 7, &[job(3, "Failed")]),
        Some(_) => open(""),
    });
    assert_eq!(wait(&api, &["job/train", "--timeout=0"]).code, Some(3));
}

#[test]
fn an_end_other_than_the_one_waited_for_is_3_and_said() {
    let ran = wait(&running_then("Complete"), &["job/train", "--for=failed"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(ran.stderr, "job/train: it completed, and did not fail\n");
    assert_eq!(wait(&running_then("Failed"), &["job/train", "--for=failed"]).code, Some(0));
    assert_eq!(wait(&running_then("Failed"), &["job/train", "--for=complete"]).code, Some(3));
}

#[test]
fn what_the_controller_has_decided_counts_with_early_only() {
    let api = || {
        serving("FailureTarget", |request| match from(request) {
            None => listed("Job", 7, &[job(3, "FailureTarget")]),
            Some(_) => open(""),
        })
    };
    assert_eq!(wait(&api(), &["job/train", "--early"]).code, Some(3));
    assert_eq!(wait(&api(), &["job/train", "--timeout=0"]).code, Some(5));
}

#[test]
fn a_wait_that_times_out_says_where_it_stands() {
    let api = serving("", |request| match from(request) {
        None => listed("Job", 7, &[job(3, "")]),
        Some(_) => open(""),
    });
    let ran = wait(&api, &["job/train", "--timeout=1s"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert_eq!(ran.stderr, "error: timed out waiting for job/train to be finished: 1 of 1 pods ready\n");
    assert!(ran.stdout.starts_with("Job ml/train"), "{ran:?}");
}

#[test]
fn an_end_in_a_gap_of_the_watch_is_not_missed() {
    let gaps: [fn(&Request) -> Reply; 4] = [
        // The version expired, and it failed meanwhile.
        |request| match (from(request), request.nth) {
            (None, 1) => listed("Job", 7, &[job(3, "")]),
            (None, _) => listed("Job", 50, &[job(40, "Failed")]),
            (Some(7), _) => Reply::status(410, "Expired", "too old"),
            _ => open(""),
        },
        // The connection dropped in the middle of the line that tells it.
        |request| match (from(request), request.nth) {
            (None, _) => listed("Job", 7, &[job(3, "")]),
            (Some(7), 1) => Reply::json(200, &of_job("MODIFIED", &job(8, "Failed"))[..40]).then_cut(),
            _ => open(of_job("MODIFIED", &job(8, "Failed"))),
        },
        // The server ended the watch in order.
        |request| match (from(request), request.nth) {
            (None, _) => listed("Job", 7, &[job(3, "")]),
            (Some(7), 1) => Reply::json(200, ""),
            _ => open(of_job("MODIFIED", &job(8, "Failed"))),
        },
        // It is deleted as soon as it has ended, and only its deletion is seen.
        |request| match (from(request), request.nth) {
            (None, _) => listed("Job", 7, &[job(3, "")]),
            _ => open(of_job("DELETED", &job(8, "Failed"))),
        },
    ];
    for (number, gap) in gaps.into_iter().enumerate() {
        let ran = wait(&serving("Failed", gap), &["job/train"]);
        assert_eq!(ran.code, Some(3), "{number}: {ran:?}");
        assert!(ran.stdout.starts_with("Job ml/train failed"), "{number}: {ran:?}");
    }
}

#[test]
fn what_is_deleted_is_an_error_that_says_so() {
    let deleted = serving("", |request| match from(request) {
        None => listed("Job", 7, &[job(3, "")]),
        Some(_) => open(of_job("DELETED", &job(8, ""))),
    });
    wait(&deleted, &["job/train"]).says(1, &["error: job/train was deleted while it was waited for\n"]);
    let made_anew = serving("", |request| match (from(request), request.nth) {
        (None, 1) => listed("Job", 7, &[job(3, "")]),
        (None, _) => {
            let mut other = job(60, "Complete");
            other["metadata"]["uid"] = "another".into();
            listed("Job", 70, &[other])
        }
        (Some(7), _) => Reply::status(410, "Expired", "too old"),
        _ => open(""),
    });
    let ran = wait(&made_anew, &["job/train"]);
    ran.says(1, &["was deleted while it was waited for, and another one was made under its name"]);
    assert_eq!(ran.stdout, "");
}

#[test]
fn what_is_not_there_is_an_error_unless_it_may_come() {
    let nothing = |request: &Request| match request.path() {
        JOBS if request.query("fieldSelector").is_some() => match from(request) {
            None => listed("Job", 7, &[]),
            Some(_) => open(of_job("ADDED", &job(8, "")) + &of_job("MODIFIED", &job(9, "Complete"))),
        },
        path if path == format!("{JOBS}/train") => Reply::status(404, "NotFound", "no"),
        _ => world(request),
    };
    let api = FakeApi::start(nothing);
    let ran = wait(&api, &["job/train"]);
    ran.says(1, &["not found in namespace \"ml\"", "--allow-missing"]);
    // It has come, has ended, and is gone when it is asked for: what was seen of it is told.
    let ran = wait(&api, &["job/train", "--allow-missing"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.starts_with("Job ml/train completed"), "{ran:?}");
}

#[test]
fn of_several_the_worst_counts_and_with_any_the_first() {
    let two = || {
        FakeApi::start(|request| {
            let other = |version, condition: &str| {
                let mut other = job(version, condition);
                other["metadata"]["name"] = "other".into();
                other["metadata"]["uid"] = "uid-other".into();
                other
            };
            match (request.path(), request.query("fieldSelector"), from(request)) {
                (JOBS, Some("metadata.name=train"), None) => listed("Job", 7, &[job(3, "")]),
                (JOBS, Some("metadata.name=train"), _) => open(of_job("MODIFIED", &job(8, "Failed"))),
                // Its end is not told before that of the first has been looked into.
                (JOBS, Some("metadata.name=other"), None) => listed("Job", 7, &[other(3, "")]),
                (JOBS, Some("metadata.name=other"), _) => Reply::json(200, "")
                    .then_wait_until_asked("/jobs/train")
                    .then(of_job("MODIFIED", &other(8, "Complete")))
                    .then_wait_until_stopped(),
                (path, ..) if path == format!("{JOBS}/train") => whole("batch/v1", "Job", job(100, "Failed")),
                (path, ..) if path == format!("{JOBS}/other") => whole("batch/v1", "Job", other(100, "Complete")),
                _ => world(request),
            }
        })
    };
    let ran = wait(&two(), &["job/train", "job/other"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (Some(3), 2), "{ran:?}");
    let ran = wait(&two(), &["job/train", "job/other", "--any", "-o", "name"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (Some(3), 1), "{ran:?}");
}

#[test]
fn names_are_kubectls_and_json_is_the_explanation() {
    let ran = wait(&running_then("Failed"), &["job/train", "-o", "name"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), "job.batch/train\n"));
    let ran = wait(&running_then("Failed"), &["job/train", "-o", "json"]);
    let explanation: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&explanation["kind"], &explanation["state"]), (&json!("Explanation"), &json!("failed")));
}

mod labels {
    use super::*;

    fn labelled(jobs: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> FakeApi {
        FakeApi::start(move |request| match request.path() {
            JOBS if request.query("labelSelector") == Some("app=x") => jobs(request),
            JOBS if request.query("fieldSelector") == Some("metadata.name=train") => match from(request) {
                None => listed("Job", 20, &[job(9, "")]),
                Some(_) => open(of_job("MODIFIED", &job(21, "Failed"))),
            },
            path if path == format!("{JOBS}/train") => whole("batch/v1", "Job", job(100, "Failed")),
            _ => world(request),
        })
    }

    #[test]
    fn those_that_are_there_are_waited_for_and_no_other_joins() {
        let api = labelled(|request| match from(request) {
            None => listed("Job", 7, &[job(3, "")]),
            Some(_) => open(of_job("ADDED", &object("newer", 8, &json!({}))) + &of_job("MODIFIED", &job(9, "Failed"))),
        });
        let ran = wait(&api, &["jobs", "-l", "app=x"]);
        assert_eq!((ran.code, ran.stdout.lines().count()), (Some(3), 1), "{ran:?}");
    }

    #[test]
    fn nothing_with_the_labels_is_an_error_unless_it_may_come() {
        let api = labelled(|request| match from(request) {
            None => listed("Job", 7, &[]),
            Some(_) => open(of_job("ADDED", &job(9, "Failed"))),
        });
        wait(&api, &["jobs", "-l", "app=x"]).says(1, &["no jobs with the labels app=x", "--allow-missing"]);
        assert_eq!(wait(&api, &["jobs", "-l", "app=x", "--allow-missing"]).code, Some(3));
    }

    #[test]
    fn what_loses_its_labels_is_still_waited_for() {
        let api = labelled(|request| match from(request) {
            None => listed("Job", 7, &[job(3, "")]),
            Some(_) => open(of_job("DELETED", &job(9, ""))),
        });
        let ran = wait(&api, &["jobs", "-l", "app=x"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), ""), "{ran:?}");
    }
}

mod runs {
    use super::*;

    fn cron_job() -> Value {
        json!({"metadata": {"name": "nightly", "namespace": "ml", "uid": "cj", "resourceVersion": "2"}, "spec": {}})
    }

    fn run(name: &str, created: &str, version: u32, condition: &str) -> Value {
        let mut run = job(version, condition);
        run["metadata"]["name"] = name.into();
        run["metadata"]["uid"] = format!("uid-{name}").into();
        run["metadata"]["creationTimestamp"] = created.into();
        run["metadata"]["ownerReferences"] = json!([
            {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "cj", "controller": true},
        ]);
        run
    }

    fn serving(jobs: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> FakeApi {
        FakeApi::start(move |request| match (request.path(), from(request)) {
            ("/apis/batch/v1/namespaces/ml/cronjobs", None) => listed("CronJob", 7, &[cron_job()]),
            ("/apis/batch/v1/namespaces/ml/cronjobs", _) => open(""),
            ("/apis/batch/v1/namespaces/ml/cronjobs/nightly", _) => whole("batch/v1", "CronJob", cron_job()),
            (path, _) if path.starts_with("/apis/batch/v1/namespaces/ml/jobs/nightly-") => {
                let name = path.rsplit('/').next().unwrap();
                whole("batch/v1", "Job", run(name, "2026-11-30T02:00:00Z", 100, "Failed"))
            }
            (JOBS, _) => jobs(request),
            _ => world(request),
        })
    }

    #[test]
    fn the_latest_run_that_is_under_way_is_waited_for() {
        let api = serving(|request| match from(request) {
            None => listed(
                "Job",
                7,
                &[
                    run("nightly-1", "2026-11-30T01:00:00Z", 3, "Complete"),
                    run("nightly-3", "2026-11-30T03:00:00Z", 5, ""),
                    run("nightly-2", "2026-11-30T02:00:00Z", 4, ""),
                    job(6, ""),
                ],
            ),
            Some(_) => open(
                of_job("MODIFIED", &run("nightly-2", "2026-11-30T02:00:00Z", 8, "Complete"))
                    + &of_job("MODIFIED", &run("nightly-3", "2026-11-30T03:00:00Z", 9, "Failed")),
            ),
        });
        let ran = wait(&api, &["cronjob/nightly"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.stdout.starts_with("Job ml/nightly-3 failed"), "{ran:?}");
    }

    #[test]
    fn without_a_run_under_way_it_is_the_next_one() {
        let api = serving(|request| match from(request) {
            None => listed("Job", 7, &[run("nightly-1", "2026-11-30T01:00:00Z", 3, "Complete")]),
            Some(_) => open(
                // A run of the past that is touched is not the next one.
                of_job("MODIFIED", &run("nightly-1", "2026-11-30T01:00:00Z", 8, "Complete"))
                    + &of_job("ADDED", &run("nightly-2", "2026-11-30T02:00:00Z", 9, ""))
                    + &of_job("MODIFIED", &run("nightly-2", "2026-11-30T02:00:00Z", 10, "Failed")),
            ),
        });
        let ran = wait(&api, &["cronjob/nightly"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert_eq!(ran.stderr, "");
        assert!(ran.stdout.starts_with("Job ml/nightly-2 failed"), "{ran:?}");
    }
}

#[test]
fn a_group_of_a_leader_worker_set_that_is_made_anew_is_told_by_its_events() {
    const LWS: &str = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/ml/leaderworkersets";
    let lws =
        || json!({"metadata": {"name": "vllm", "namespace": "ml", "uid": "l", "resourceVersion": "3"}, "spec": {}});
    let told = |version: u32, count: u32| {
        json!({
            "metadata": {"name": "e", "namespace": "ml", "uid": "e", "resourceVersion": version.to_string()},
            "involvedObject": {"kind": "LeaderWorkerSet", "name": "vllm", "namespace": "ml"},
            "reason": "RecreateGroup", "count": count,
            "message": "Worker pod vllm-1-2 failed, deleted leader pod vllm-1 to recreate group 1",
        })
    };
    let api = |after: u32, object_last: bool| {
        let asked = Arc::new((Mutex::new(false), Condvar::new()));
        FakeApi::start(move |request| match (request.path(), from(request)) {
            ("/apis/leaderworkerset.x-k8s.io", _) => {
                let version = json!({"groupVersion": "leaderworkerset.x-k8s.io/v1", "version": "v1"});
                Reply::json(200, json!({"kind": "APIGroup", "preferredVersion": version}).to_string())
            }
            (LWS, None) => {
                if object_last {
                    let limit = Duration::from_secs(20);
                    drop(asked.1.wait_timeout_while(asked.0.lock().unwrap(), limit, |asked| !*asked).unwrap());
                }
                let mut lws = lws();
                lws["kind"] = "LeaderWorkerSet".into();
                lws["apiVersion"] = "leaderworkerset.x-k8s.io/v1".into();
                listed("LeaderWorkerSet", 7, &[lws])
            }
            (LWS, Some(_)) => open(""),
            ("/apis/leaderworkerset.x-k8s.io/v1/namespaces/ml/leaderworkersets/vllm", _) => {
                whole("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", lws())
            }
            ("/api/v1/namespaces/ml/events", None)
                if request.query("fieldSelector").is_some_and(|fields| fields.contains("name=vllm")) =>
            {
                listed("Event", 7, &[told(4, 2)])
            }
            ("/api/v1/namespaces/ml/events", Some(_)) => {
                *asked.0.lock().unwrap() = true;
                asked.1.notify_all();
                open(event("MODIFIED", "v1", "Event", &told(8, after)))
            }
            _ => world(request),
        })
    };
    for object_last in [false, true] {
        let ran = wait(&api(3, object_last), &["lws/vllm", "--for=restarted", "--timeout=20s"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    // What was told before the wait, and is told again, is no restart.
    assert_eq!(wait(&api(2, false), &["lws/vllm", "--for=restarted", "--timeout=2s"]).code, Some(5));
}

#[test]
fn a_watch_that_is_denied_is_an_error_with_the_verbs_and_nothing_is_polled() {
    let api = serving("", |request| match from(request) {
        None => listed("Job", 7, &[job(3, "")]),
        Some(_) => Reply::status(403, "Forbidden", "User \"me\" cannot watch resource \"jobs\""),
    });
    let ran = wait(&api, &["job/train"]);
    ran.says(1, &["cannot watch resource", "get, list, watch"]);
    assert_eq!(
        api.asked().iter().filter(|target| target.contains("fieldSelector") && !target.contains("watch")).count(),
        1
    );
}

#[test]
fn a_resource_that_is_not_installed_is_an_error() {
    let api = FakeApi::start(world);
    wait(&api, &["jobset/a"]).says(1, &["doesn't have a resource type \"jobsets\""]);
}

#[test]
fn wrong_usage_is_2_and_nothing_is_asked() {
    let api = FakeApi::start(world);
    for (arguments, part) in [
        (&["job/train", "--for=restarted"][..], "a job is never restarted"),
        (&["deployment/web", "--for=finished"], "--for takes ready, failed"),
        (&["jobs"], "give names"),
        (&["jobs", "-l", "a in"], "selector"),
        (&["job/train", "--timeout=soon"], "soon"),
        (&["job/train", "-A"], "-A"),
        (&["jobs", "--all"], "-l with a label"),
        (&["job/train", "--for=condition=complete"], "give --for complete"),
        (&["job/train", "--for=condition=Available=True"], "give --for ready"),
        (&["job/train", "--for=delete"], "kubectl wait's"),
        (&["pod/etl"], "a pod decides nothing that can be waited for"),
        (&["foo/bar"], "kind \"foo\" is not known: a wait is for a job, "),
    ] {
        let ran = wait(&api, arguments);
        ran.says(2, &[part]);
    }
    assert_eq!(api.asked().len(), 0);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_with_130() {
    let api = serving("", |request| match from(request) {
        None => listed("Job", 7, &[job(3, "")]),
        Some(_) => open(""),
    });
    let home = Home::of(&api);
    let child = command(&home, &["job/train"]).spawn().unwrap();
    // Once it watches, it heeds signals.
    let begun = std::time::Instant::now();
    while !api.asked().iter().any(|target| target.contains("watch=true")) {
        assert!(begun.elapsed() < std::time::Duration::from_secs(60), "it does not watch: {:?}", api.asked());
        std::thread::yield_now();
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(130), ""), "{ran:?}");
}
