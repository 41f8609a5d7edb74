//! Restarts that end halfway: what is said, and that running the command again completes them, nothing lost or done twice.

use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{failed_job, job, job_set};
use crate::support::Reply;
use crate::support::cluster::{Cluster, Ran};

/// Waits for a condition; the longest it takes is that something is broken.
#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what} did not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn record(cluster: &Cluster) -> Value {
    let folder = cluster.folders().into_iter().next();
    let text = folder.and_then(|folder| std::fs::read(folder.join("record.json")).ok());
    text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// A run that has deleted the Job and waits for it to be gone.
fn waiting(cluster: &Cluster) -> Child {
    cluster.state().slow_deletion = true;
    let child = cluster.command(&["job/etl", "--yes"]).spawn().unwrap();
    until("the second step", || record(cluster)["done"] == 1 && record(cluster)["underWay"] == true);
    child
}

fn count(cluster: &Cluster, write: &str) -> usize {
    cluster.writes().iter().filter(|sent| *sent == write).count()
}

#[test]
fn a_run_killed_between_deletion_and_creation_is_completed_by_the_next() {
    for gone_meanwhile in [true, false] {
        let cluster = Cluster::start();
        let path = failed_job(&cluster);
        let mut killed = waiting(&cluster);
        killed.kill().unwrap();
        killed.wait().unwrap();
        // Where nobody can be asked, nothing is done either.
        let dry = cluster.restart(&["job/etl"]);
        assert!(dry.stdout.contains("is gone on with at step 2 of 3"), "{dry:?}");
        assert_eq!(count(&cluster, "POST etl"), 0);
        if gone_meanwhile {
            cluster.state().let_go();
        }
        let next = cluster.command(&["job/etl", "--yes"]).spawn().unwrap();
        if !gone_meanwhile {
            let looks = cluster.api.requests().len();
            until("a look", || cluster.api.requests().len() > looks + 5);
            assert_eq!(count(&cluster, "POST etl"), 0);
            cluster.state().let_go();
        }
        let output = next.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!((count(&cluster, "DELETE etl"), count(&cluster, "POST etl")), (1, 1));
        let made = cluster.object(&path).unwrap();
        assert_eq!(made["spec"]["fieldOfTomorrow"], json!({"kept": true}));
        assert_eq!((cluster.folders().len(), &record(&cluster)["finished"]), (1, &json!(true)));
        // The new one has not ended: this is a restart of its own, which the finished record does not decide.
        cluster.restart(&["job/etl", "--yes"]).says(1, &["has not ended"]);
    }
}

/// Deletes the Job, waits, is killed, and somebody else makes it again.
fn overtaken(cluster: &Cluster, condition: &str) -> String {
    let path = failed_job(cluster);
    let mut killed = waiting(cluster);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let mut other = job(condition);
    other["metadata"]["uid"] = "other".into();
    cluster.put("jobs", &other);
    cluster.state().slow_deletion = false;
    path
}

#[test]
fn what_somebody_else_has_made_again_is_theirs_and_no_restart_that_was_done() {
    let cluster = Cluster::start();
    let path = overtaken(&cluster, "Running");
    let given_up = "is given up: somebody else has made it again since, with uid other";
    let dry = cluster.restart(&["job/etl", "--dry-run=client", "-o", "json"]);
    assert!(dry.json()["notes"][0].as_str().unwrap().contains(given_up), "{dry:?}");
    assert_eq!(record(&cluster)["finished"], false, "a dry run leaves the record as it is");
    let ran = cluster.restart(&["job/etl", "--yes", "-o", "json"]);
    ran.says(1, &[given_up, "has not ended"]);
    assert_eq!(ran.json()["outcome"], "refused");
    assert_eq!((count(&cluster, "DELETE etl"), count(&cluster, "POST etl")), (1, 0));
    assert_eq!(
        (&cluster.object(&path).unwrap()["metadata"]["uid"], &record(&cluster)["finished"]),
        (&json!("other"), &json!(true))
    );
}

#[test]
fn what_somebody_else_has_made_again_and_has_failed_is_planned_anew() {
    let cluster = Cluster::start();
    let path = overtaken(&cluster, "Failed");
    let ran = cluster.restart(&["job/etl", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("is given up") && ran.stdout.contains("done    delete job/etl"), "{}", ran.stdout);
    assert_eq!((count(&cluster, "DELETE etl"), count(&cluster, "POST etl")), (2, 1));
    assert_eq!(cluster.object(&path).unwrap()["metadata"]["uid"], "new-3", "two dry runs and this");
}

#[test]
fn what_somebody_else_makes_between_deletion_and_creation_stays_and_is_no_success() {
    let cluster = Cluster::with(|request, state| {
        let looks = request.method == "GET" && request.path().ends_with("/jobs/etl");
        if looks && !state.objects.contains_key(request.path()) {
            let mut other = job("Running");
            other["metadata"]["uid"] = "other".into();
            state.objects.insert(request.path().to_owned(), other);
        }
        None
    });
    let path = failed_job(&cluster);
    let ran = cluster.restart(&["job/etl", "--yes", "-o", "json"]);
    let said = "somebody else has made jobs.batch etl meanwhile, with uid other: that one stays as it is";
    ran.says(1, &[said, "to go on: kubectl get job etl -o yaml -n ml"]);
    assert_eq!(ran.json()["outcome"], "failed");
    assert_eq!(
        (cluster.object(&path).unwrap()["metadata"]["uid"].as_str(), count(&cluster, "POST etl")),
        (Some("other"), 0)
    );
    cluster.restart(&["job/etl", "--yes"]).says(1, &["has not ended"]);
}

/// Only the record is behind: the process ended before it could write that the creation was done.
fn left_behind(cluster: &Cluster, begun: &str) {
    assert_eq!(cluster.restart(&["job/etl", "--yes"]).code, Some(0));
    let file = cluster.folders()[0].join("record.json");
    let mut record = record(cluster);
    for (key, value) in [("done", json!(2)), ("underWay", json!(true)), ("finished", json!(false))] {
        record[key] = value;
    }
    if !begun.is_empty() {
        record["startedAt"] = begun.into();
    }
    std::fs::write(file, record.to_string()).unwrap();
}

#[test]
fn a_restart_that_is_complete_is_told_as_that_and_not_as_one_of_now() {
    let cluster = Cluster::start();
    failed_job(&cluster);
    left_behind(&cluster, "");
    let before = cluster.writes().len();
    let ran = cluster.restart(&["job/etl", "--yes", "-o", "json"]);
    let restart = ran.json();
    assert_eq!((ran.code, &restart["outcome"]), (Some(0), &json!("alreadyDone")), "{ran:?}");
    assert_eq!((cluster.writes().len(), restart["steps"].as_array().unwrap().len()), (before, 0));
    cluster.restart(&["job/etl", "--yes"]).says(1, &["has not ended"]);
}

#[test]
fn a_record_of_long_ago_does_not_decide_over_a_restart_of_today() {
    let cluster = Cluster::start();
    let path = failed_job(&cluster);
    left_behind(&cluster, "2026-01-01T00:00:00Z");
    let made = cluster.object(&path).unwrap();
    let mut failed = job("Failed");
    failed["metadata"] = made["metadata"].clone();
    cluster.put("jobs", &failed);
    let ran = cluster.restart(&["job/etl", "--yes"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("was completed: it was created, with uid"), "{ran:?}");
    assert_ne!(cluster.object(&path).unwrap()["metadata"]["uid"], made["metadata"]["uid"]);
}

#[test]
fn a_restart_is_gone_on_with_only_by_the_flags_that_it_was_planned_with() {
    let cluster = Cluster::start();
    let path = failed_job(&cluster);
    cluster.state().slow_deletion = true;
    let (x, y) = (r#"--patch={"spec":{"x":1}}"#, r#"--patch={"spec":{"y":1}}"#);
    let first = ["job/etl", "--yes", x];
    cluster.restart(&[&first[..], &["--timeout", "300ms"]].concat()).says(1, &["is still there"]);
    cluster.state().let_go();
    for other in [&["job/etl", "--yes", y][..], &["job/etl", "--yes"], &["job/etl", "--yes", "--keep"]] {
        let ran = cluster.restart(&[other, &["-o", "json"]].concat());
        ran.says(
            1,
            &[
                "with other flags was begun at",
                "complete that one first, and then, if it is still wanted, run this one again (kubectl sigapps restart job/etl",
                r#": kubectl sigapps restart job/etl --yes '--patch={"spec":{"x":1}}' -n ml"#,
            ],
        );
        assert_eq!(ran.json()["refusals"][0]["reason"], "underWay");
        assert_eq!((cluster.object(&path), count(&cluster, "POST etl")), (None, 0));
    }
    // How it is done may differ.
    let ran = cluster.restart(&["job/etl", "--yes", x, "--force", "--save-logs", "--timeout=10s"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("--save-logs comes too late"), "{ran:?}");
    assert_eq!(cluster.object(&path).unwrap()["spec"]["x"], 1);
}

#[test]
fn an_interrupted_run_says_what_is_done_and_how_to_go_on() {
    for signal in ["-INT", "-TERM"] {
        let cluster = Cluster::start();
        let path = failed_job(&cluster);
        cluster.state().slow_deletion = true;
        let child = cluster.command(&["job/etl", "--yes", "-o", "json"]).spawn().unwrap();
        until("the second step", || record(&cluster)["done"] == 1 && record(&cluster)["underWay"] == true);
        let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let ran = Ran::of(child.wait_with_output().unwrap());
        ran.says(
            130,
            &[
                "could not wait until job/etl and its pods are gone: interrupted while",
                "done: delete job/etl, its pods first; not done: create job/etl from its own spec; to go on: kubectl \
                 sigapps restart job/etl --yes -n ml",
            ],
        );
        let restart = ran.json();
        assert_eq!(restart["outcome"], "failed");
        assert_eq!(restart["next"], json!(["kubectl sigapps restart job/etl --yes -n ml"]));
        let states: Vec<&Value> = restart["steps"].as_array().unwrap().iter().map(|step| &step["state"]).collect();
        assert_eq!(states, ["done", "failed", "planned"]);
        cluster.state().let_go();
        assert_eq!(cluster.restart(&["job/etl", "--yes"]).code, Some(0));
        assert!(cluster.object(&path).is_some() && count(&cluster, "DELETE etl") == 1);
    }
}

/// Whether a write has arrived is worth waiting for.
#[test]
fn a_run_that_is_interrupted_while_it_writes_takes_the_answer_and_stops() {
    let cluster = Cluster::with(|request, state| {
        let real = request.method == "DELETE" && request.body.get("dryRun").is_none();
        if real {
            let pid = state.forbidden.iter().next().expect("the test's own").clone();
            std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
        }
        None
    });
    failed_job(&cluster);
    let child = cluster.command(&["job/etl", "--yes"]).spawn().unwrap();
    cluster.state().forbidden.insert(child.id().to_string());
    let ran = Ran::of(child.wait_with_output().unwrap());
    ran.says(130, &["interrupted", "done: delete job/etl, its pods first", "not done: create job/etl"]);
    assert_eq!((count(&cluster, "DELETE etl"), count(&cluster, "POST etl")), (1, 0));
    assert_eq!(record(&cluster)["done"], 1);
    assert_eq!(cluster.restart(&["job/etl", "--yes"]).code, Some(0));
}

/// Whom it suspended is not there any more: what is left must not be done with another.
#[test]
fn a_jobset_that_is_deleted_while_it_is_waited_for_is_left_alone() {
    for made_again in [false, true] {
        let cluster = Cluster::with(move |request, state| {
            let path = request.path();
            if request.method == "GET"
                && path.ends_with("/jobsets/llama")
                && state.objects[path]["spec"]["suspend"] == true
            {
                let mut other = state.objects.remove(path).unwrap();
                other["metadata"]["uid"] = "other".into();
                if made_again {
                    state.objects.insert(path.to_owned(), other);
                    return None;
                }
                return Some(Reply::status(404, "NotFound", "gone"));
            }
            None
        });
        job_set(&cluster, &json!({}), &json!({}), &json!({}));
        let ran = cluster.restart(&["jobset/llama", "--yes"]);
        let how =
            if made_again { "was deleted and made again by somebody else" } else { "was deleted by somebody else" };
        ran.says(1, &[how, "not done: resume jobset/llama"]);
        assert_eq!((count(&cluster, "PATCH llama"), &record(&cluster)["finished"]), (1, &json!(true)));
    }
}

#[test]
fn a_creation_that_fails_says_what_is_done_and_how_to_go_on() {
    let cluster = Cluster::with(|request, _| {
        let real = request.method == "POST" && request.path().ends_with("/jobs") && request.query("dryRun").is_none();
        (real && request.nth == 1).then(|| Reply::status(403, "Forbidden", "not today"))
    });
    let path = failed_job(&cluster);
    let ran = cluster.restart(&["job/etl", "--yes"]);
    let manifest = cluster.folders()[0].join("manifest.json").display().to_string();
    ran.says(
        1,
        &[
            "could not create job/etl from its own spec: ",
            "not today",
            "done: delete job/etl, its pods first; wait until job/etl and its pods are gone",
            "to go on: kubectl sigapps restart job/etl --yes -n ml or kubectl create -f ",
            &manifest,
        ],
    );
    assert_eq!(cluster.object(&path), None);
    assert_eq!(cluster.restart(&["job/etl", "--yes"]).code, Some(0));
    assert_ne!(cluster.object(&path), None);
}

/// The answer is lost: only a look tells whether the object is there.
#[test]
fn a_creation_without_an_answer_is_looked_after_before_it_is_sent_again() {
    for arrives in [true, false] {
        let tries = AtomicUsize::new(0);
        let cluster = Cluster::with(move |request, state| {
            let real =
                request.method == "POST" && request.path().ends_with("/jobs") && request.query("dryRun").is_none();
            if !real || tries.fetch_add(1, Ordering::SeqCst) > 0 {
                return None;
            }
            if arrives {
                let mut made = request.body.clone();
                made["metadata"]["uid"] = "arrived".into();
                made["metadata"]["managedFields"] = json!([{"manager": "kubectl-sigapps"}]);
                state.objects.insert(format!("{}/etl", request.path()), made);
            }
            Some(Reply::dropped())
        });
        let path = failed_job(&cluster);
        let ran = cluster.restart(&["job/etl", "--yes"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let uid = if arrives { "arrived" } else { "new-" };
        assert!(cluster.object(&path).unwrap()["metadata"]["uid"].as_str().unwrap().starts_with(uid));
        assert_eq!(count(&cluster, "POST etl"), if arrives { 1 } else { 2 });
    }
}

#[test]
fn a_wait_that_takes_too_long_names_what_holds_it_up_and_is_gone_on_with() {
    let cluster = Cluster::start();
    let path = failed_job(&cluster);
    cluster.state().slow_deletion = true;
    let pod = cluster.object("/api/v1/namespaces/ml/pods/etl-x").map(|mut pod| {
        pod["metadata"]["finalizers"] = json!(["example.com/hold"]);
        pod["metadata"]["deletionTimestamp"] = "2026-11-30T09:30:00Z".into();
        pod["spec"]["nodeName"] = "gpu-3".into();
        pod
    });
    cluster.put("pods", &pod.unwrap());
    let ran = cluster.restart(&["job/etl", "--yes", "--timeout", "300ms"]);
    let held = "jobs.batch etl is still there (held by foregroundDeletion)";
    let pod = "still there: pod/etl-x (held by example.com/hold; on node gpu-3)";
    ran.says(1, &[held, pod, "done: delete job/etl", "not done: create job/etl"]);
    // The name is still taken.
    assert!(!ran.stderr.contains("kubectl create"), "{ran:?}");
    // The next run has done nothing itself, but it was done.
    let ran = cluster.restart(&["job/etl", "--yes", "--timeout", "300ms", "-o", "json"]);
    ran.says(1, &[pod, "done: delete job/etl, its pods first; not done: create job/etl"]);
    let (restart, states) = (ran.json(), |step: usize, field: &str| ran.json()["steps"][step][field].clone());
    assert_eq!(restart["steps"].as_array().map(Vec::len), Some(3));
    assert_eq!([states(0, "state"), states(1, "state"), states(2, "state")], ["done", "failed", "planned"]);
    assert_eq!(states(0, "message"), "by an earlier run");
    cluster.state().let_go();
    assert_eq!(cluster.restart(&["job/etl", "--yes"]).code, Some(0));
    assert_eq!(count(&cluster, "DELETE etl"), 1);
    assert_ne!(cluster.object(&path), None);
}

#[test]
fn a_jobset_left_suspended_is_resumed_by_the_next_run() {
    let cluster = Cluster::with(|request, _| {
        let resume = request.method == "PATCH" && request.body["spec"]["suspend"] == false;
        let real = request.query("dryRun").is_none();
        (resume && real && request.nth == 2).then(|| Reply::status(403, "Forbidden", "not today"))
    });
    let path = job_set(&cluster, &json!({}), &json!({}), &json!({}));
    cluster
        .restart(&["jobset/llama", "--yes"])
        .says(1, &["could not resume jobset/llama", "done: suspend jobset/llama"]);
    assert_eq!(cluster.object(&path).unwrap()["spec"]["suspend"], true);
    let ran = cluster.restart(&["jobset/llama", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(cluster.object(&path).unwrap()["spec"]["suspend"], false);
}

/// Whoever resumed it has taken over: there is nothing to go on with, and the next run plans anew.
#[test]
fn a_jobset_that_somebody_else_resumes_meanwhile_is_theirs() {
    let resumed = AtomicUsize::new(0);
    let cluster = Cluster::with(move |request, state| {
        let suspended = request.method == "GET"
            && request.path().ends_with("/jobsets/llama")
            && state.objects[request.path()]["spec"]["suspend"] == true;
        if suspended && resumed.fetch_add(1, Ordering::SeqCst) == 0 {
            state.objects.get_mut(request.path()).unwrap()["spec"]["suspend"] = false.into();
        }
        None
    });
    job_set(&cluster, &json!({}), &json!({}), &json!({}));
    cluster.restart(&["jobset/llama", "--yes"]).says(1, &["was resumed by somebody else meanwhile"]);
    let ran = cluster.restart(&["jobset/llama", "--yes"]);
    assert!(ran.code == Some(0) && !ran.stdout.contains("gone on with"), "{ran:?}");
}

#[test]
fn a_run_that_ended_before_its_first_write_had_an_effect_is_planned_anew() {
    let deletions = AtomicUsize::new(0);
    let cluster = Cluster::with(move |request, _| {
        let real = request.method == "DELETE" && request.body.get("dryRun").is_none();
        let first = real && deletions.fetch_add(1, Ordering::SeqCst) == 0;
        first.then(|| Reply::status(500, "InternalError", "etcd is away"))
    });
    let path = failed_job(&cluster);
    cluster.restart(&["job/etl", "--yes"]).says(1, &["could not delete job/etl", "nothing was done before"]);
    let ran = cluster.restart(&["job/etl", "--yes"]);
    assert!(ran.code == Some(0) && !ran.stdout.contains("gone on with"), "{ran:?}");
    assert_ne!(cluster.object(&path).unwrap()["metadata"]["uid"], "old");
}
