//! Restarts that end halfway: what is said, and that running the command again completes them, nothing lost or done twice.

use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{failed_job, job_set};
use crate::support::Reply;
use crate::support::cluster::Cluster;

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

#[test]
fn what_somebody_else_has_made_again_is_not_made_twice() {
    let cluster = Cluster::start();
    let path = failed_job(&cluster);
    let mut killed = waiting(&cluster);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let mut other = cluster.object(&path).unwrap();
    other["metadata"] = json!({"name": "etl", "namespace": "ml", "uid": "other"});
    cluster.state().objects.insert(path.clone(), other);
    let ran = cluster.restart(&["job/etl", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("it is there already, with uid other"), "{ran:?}");
    assert_eq!(count(&cluster, "POST etl"), 0);
    assert_eq!(cluster.object(&path).unwrap()["metadata"]["uid"], "other");
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
        (resume && real && request.nth == 2).then(|| Reply::status(500, "InternalError", "etcd is away"))
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
