//! Records that somebody else has put where ours may be: none is carried out.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::failed_job;
use crate::support::cluster::Cluster;

const SECRET: &str = "/api/v1/namespaces/prod/secrets/db-creds";

fn at(api_version: &str, resource: &str, namespace: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "resource": resource, "namespace": namespace, "name": name})
}

/// A folder with a record that asks for a deletion, as if an earlier run had come so far.
fn plant(cluster: &Cluster, base: &Path, deleted: &Value, uid: &str) -> PathBuf {
    let folder = base.join("planted");
    std::fs::create_dir_all(&folder).unwrap();
    let job = at("batch/v1", "jobs", "ml", "etl");
    let record = json!({
        "apiVersion": "kubectl-sigapps/v1alpha1", "kind": "RestartRecord", "server": cluster.api.url("127.0.0.1"),
        "subject": job, "uid": "old", "startedAt": "2026-11-30T09:00:00Z", "summary": "s",
        "steps": [
            {"text": "wait", "action": {"do": "awaitGone", "object": job, "uid": "old"}},
            {"text": "delete job/etl, its pods first", "action": {"do": "delete", "object": deleted, "uid": uid}},
        ],
        "done": 1, "underWay": false, "finished": false, "next": [], "flags": [],
    });
    std::fs::write(folder.join("record.json"), record.to_string()).unwrap();
    folder
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn cluster_with_secret() -> (Cluster, PathBuf) {
    let cluster = Cluster::start();
    failed_job(&cluster);
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db-creds", "uid": "s"}});
    cluster.state().objects.insert(SECRET.to_owned(), secret);
    let shared = cluster.home().join("shared");
    std::fs::create_dir(&shared).unwrap();
    set_mode(&shared, 0o1777);
    (cluster, shared)
}

/// The planted record is passed over with these words, and the Job is restarted as if it were not there.
#[track_caller]
fn is_passed_over(cluster: &Cluster, shared: &Path, words: &[&str]) {
    let ran = cluster.restart(&["job/etl", "--yes", "--save-to", shared.to_str().unwrap()]);
    ran.says(0, &[&["an earlier restart's record is passed over", "planted"], words].concat());
    assert!(!ran.stdout.contains("gone on with"), "{ran:?}");
    assert!(cluster.object(SECRET).is_some(), "{:?}", cluster.writes());
    assert_eq!(cluster.writes().last().map(String::as_str), Some("POST etl"));
}

#[test]
fn a_record_about_something_else_is_not_carried_out() {
    for (deleted, uid) in [
        (at("v1", "secrets", "prod", "db-creds"), "s"),
        (at("batch/v1", "jobs", "prod", "etl"), "old"),
        (at("batch/v1", "jobs", "ml", "other"), "old"),
        (at("batch/v1", "jobs", "ml", "etl"), "another"),
    ] {
        let (cluster, shared) = cluster_with_secret();
        let folder = plant(&cluster, &shared, &deleted, uid);
        set_mode(&folder, 0o700);
        set_mode(&folder.join("record.json"), 0o600);
        is_passed_over(&cluster, &shared, &["which a restart of jobs.batch etl does not touch"]);
    }
}

#[test]
fn a_record_that_others_can_write_is_not_believed() {
    for (of_folder, of_file) in [(0o777, 0o600), (0o770, 0o600), (0o700, 0o666)] {
        let (cluster, shared) = cluster_with_secret();
        let folder = plant(&cluster, &shared, &at("batch/v1", "jobs", "ml", "etl"), "old");
        set_mode(&folder, of_folder);
        set_mode(&folder.join("record.json"), of_file);
        is_passed_over(&cluster, &shared, &["others may write to it"]);
    }
}

#[test]
fn a_record_of_another_user_is_not_believed() {
    const NOBODY: Option<u32> = Some(65534);
    for whole_folder in [true, false] {
        let (cluster, shared) = cluster_with_secret();
        let folder = plant(&cluster, &shared, &at("batch/v1", "jobs", "ml", "etl"), "old");
        set_mode(&folder, 0o700);
        set_mode(&folder.join("record.json"), 0o600);
        let given = if whole_folder { folder } else { folder.join("record.json") };
        // Only root can give files away; for others the table of owners is the test.
        if std::os::unix::fs::chown(given, NOBODY, NOBODY).is_err() {
            return;
        }
        is_passed_over(&cluster, &shared, &["belongs to another user (uid 65534)"]);
    }
}
