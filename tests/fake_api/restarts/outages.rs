//! A server that is away for a while, and a disk that is full: what was begun is completed, or it is said how to.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use super::{failed_job, job_set};
use crate::support::cluster::{Cluster, State};
use crate::support::{Reply, Request};

fn is_real(request: &Request) -> bool {
    request.query("dryRun").is_none() && request.body.get("dryRun").is_none()
}

/// A server that is away for so many requests after it was asked for `method`.
fn away_after(method: &'static str, requests: usize) -> impl Fn(&Request, &mut State) -> Option<Reply> + Send + Sync {
    const HERE: usize = usize::MAX;
    let left = AtomicUsize::new(HERE);
    move |request, _| {
        if left.load(Ordering::SeqCst) == HERE {
            if request.method == method && is_real(request) && !request.path().ends_with("reviews") {
                left.store(requests, Ordering::SeqCst);
            }
            return None;
        }
        let before = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        let number = before.ok()?;
        // It goes down, and comes up again.
        Some(if number % 2 == 0 {
            Reply::dropped()
        } else {
            Reply::status(503, "ServiceUnavailable", "apiserver not ready")
        })
    }
}

#[test]
fn an_outage_between_deletion_and_creation_is_waited_for() {
    let cluster = Cluster::with(away_after("DELETE", 8));
    let path = failed_job(&cluster);
    let ran = cluster.restart(&["job/etl", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_ne!(cluster.object(&path).unwrap()["metadata"]["uid"], "old");
}

#[test]
fn a_write_behind_the_first_is_tried_again_while_the_server_is_away() {
    let tries = AtomicUsize::new(0);
    let cluster = Cluster::with(move |request, _| {
        let is_last = match request.method.as_str() {
            "POST" => request.path().ends_with("/jobs"),
            "PATCH" => request.body["spec"]["suspend"] == false,
            _ => false,
        };
        let is_away = is_last && is_real(request) && tries.fetch_add(1, Ordering::SeqCst) % 4 < 3;
        is_away.then(|| Reply::status(503, "ServiceUnavailable", "apiserver not ready"))
    });
    let job = failed_job(&cluster);
    let set = job_set(&cluster, &json!({}), &json!({}), &json!({}));
    for subject in ["job/etl", "jobset/llama"] {
        let ran = cluster.restart(&[subject, "--yes"]);
        ran.says(0, &["apiserver not ready; it is tried again, for at most 300 s"]);
        assert_eq!(ran.stderr.matches("it is tried again").count(), 1, "{ran:?}");
    }
    assert_ne!(cluster.object(&job).unwrap()["metadata"]["uid"], "old");
    assert_eq!(cluster.object(&set).unwrap()["spec"]["suspend"], false);
}

#[test]
fn an_outage_that_is_too_long_is_named_and_the_next_run_goes_on() {
    let cluster = Cluster::with(away_after("DELETE", 4));
    let path = failed_job(&cluster);
    let folder = cluster.home().join("saved");
    let mut command = cluster.command(&["job/etl", "--yes", "--timeout", "300ms", "--save-to", "saved"]);
    let ran = crate::support::cluster::Ran::of(command.current_dir(cluster.home()).output().unwrap());
    // What is printed is run from anywhere.
    let again = format!("to go on: kubectl sigapps restart job/etl --yes --save-to={} -n ml", folder.display());
    ran.says(1, &["after 0.3 s it is still not known: ", "--timeout sets how long to wait", &again]);
    let ran = cluster.restart(&["job/etl", "--yes", "--save-to", folder.to_str().unwrap()]);
    assert!(ran.code == Some(0) && ran.stdout.contains("gone on with"), "{ran:?}");
    assert_ne!(cluster.object(&path).unwrap()["metadata"]["uid"], "old");
}

#[test]
fn a_refusal_ends_a_wait_at_once() {
    let deleted = AtomicUsize::new(0);
    let cluster = Cluster::with(move |request, _| {
        if request.method == "DELETE" && is_real(request) {
            deleted.store(1, Ordering::SeqCst);
        }
        let look = request.method == "GET" && deleted.load(Ordering::SeqCst) == 1;
        look.then(|| Reply::status(403, "Forbidden", "no longer yours"))
    });
    failed_job(&cluster);
    cluster.restart(&["job/etl", "--yes"]).says(1, &["no longer yours"]);
}

/// From the deletion on, no file can be written into the folder. This takes no rights, which root always has.
fn with_full_disk(creation: Option<u16>) -> (Cluster, PathBuf) {
    let base: Arc<OnceLock<PathBuf>> = Arc::default();
    let of_hook = Arc::clone(&base);
    let cluster = Cluster::with(move |request, _| {
        if request.method == "DELETE" && is_real(request) {
            fill(of_hook.get().unwrap());
        }
        let create = request.method == "POST" && request.path().ends_with("/jobs") && is_real(request);
        creation.filter(|_| create && request.nth == 1).map(|code| Reply::status(code, "Forbidden", "not today"))
    });
    let saved = cluster.home().join("saved");
    base.set(saved.clone()).unwrap();
    (cluster, saved)
}

fn fill(base: &Path) {
    for folder in base.read_dir().unwrap() {
        std::fs::create_dir_all(folder.unwrap().path().join(".record.json.new")).unwrap();
    }
}

#[test]
fn a_disk_that_is_full_after_the_deletion_stops_nothing() {
    let (cluster, saved) = with_full_disk(None);
    let path = failed_job(&cluster);
    let ran = cluster.restart(&["job/etl", "--yes", "-o", "json", "--save-to", saved.to_str().unwrap()]);
    ran.says(0, &["how far it is could not be written down", "record.json"]);
    assert_eq!(ran.stderr.matches("could not be written down").count(), 1, "{ran:?}");
    let restart = ran.json();
    assert_eq!(restart["outcome"], "done");
    let noted = |note: &Value| note.as_str().unwrap().contains("could not be written down");
    assert!(restart["notes"].as_array().unwrap().iter().any(noted), "{restart:#}");
    assert_ne!(cluster.object(&path).unwrap()["metadata"]["uid"], "old");
}

#[test]
fn a_restart_that_fails_on_a_full_disk_says_how_to_go_on_and_is_gone_on_with() {
    let (cluster, saved) = with_full_disk(Some(403));
    let path = failed_job(&cluster);
    let arguments = ["job/etl", "--yes", "-o", "json", "--save-to", saved.to_str().unwrap()];
    let ran = cluster.restart(&arguments);
    let restart = ran.json();
    assert_eq!((&restart["outcome"], ran.code), (&json!("failed"), Some(1)));
    let manifest = saved.read_dir().unwrap().next().unwrap().unwrap().path().join("manifest.json");
    let by_hand = format!("kubectl create -f {} -n ml", manifest.display());
    assert!(restart["next"].as_array().unwrap().contains(&json!(by_hand)), "{restart:#}");
    assert_eq!(cluster.object(&path), None);
    assert_eq!(cluster.restart(&arguments).json()["outcome"], "done");
    assert_ne!(cluster.object(&path), None);
}

#[test]
fn where_nothing_was_changed_yet_a_record_that_cannot_be_written_ends_it() {
    let cluster = Cluster::start();
    let path = failed_job(&cluster);
    let file = cluster.home().join("file");
    std::fs::write(&file, "").unwrap();
    cluster.restart(&["job/etl", "--yes", "--save-to", file.to_str().unwrap()]).says(1, &["cannot use", "--save-to"]);
    assert_eq!(cluster.object(&path).unwrap()["metadata"]["uid"], "old");
}
