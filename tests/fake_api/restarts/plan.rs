//! What is sent, in which order, and what is saved first.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sigapps::advice::Kubectl;
use sigapps::model::Time;
use sigapps::report::{DryRun, Restart, RestartStep};
use sigapps::restart::{Commands, Console, Kind, Order, run};
use sigapps::source::cluster::Session;

use super::{failed_job, job};
use crate::support::cluster::{Cluster, holds_to_schema};
use crate::support::{Home, Reply};

#[test]
fn a_job_is_made_again_after_all_was_checked_and_saved() {
    let cluster = Cluster::start();
    let path = failed_job(&cluster);
    let ran = cluster.restart(&["job/etl", "--yes", "--save-logs"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.stdout.starts_with("Restart job/etl in namespace ml: the old Job is deleted"), "{}", ran.stdout);
    assert!(ran.stdout.contains("1 pod (1 failed) and its logs: etl-x"), "{}", ran.stdout);

    let writes = cluster.writes();
    let [dry_delete, dry_create, delete, create] = &writes[..] else { panic!("{writes:?}") };
    assert_eq!((dry_delete.as_str(), delete.as_str(), create.as_str()), ("dry DELETE etl", "DELETE etl", "POST etl"));
    // The name is taken while the old one is there: another of the same length is checked.
    assert!(dry_create.starts_with("dry POST ") && !dry_create.ends_with(" etl"), "{dry_create}");
    assert_eq!(dry_create.len(), "dry POST etl".len());

    let requests = cluster.api.requests();
    let sent = |method: &str| requests.iter().rfind(|request| request.method == method).unwrap();
    assert_eq!(
        sent("DELETE").body,
        json!({"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground",
               "preconditions": {"uid": "old"}})
    );
    let made = cluster.object(&path).unwrap();
    assert_eq!(made["metadata"]["uid"].as_str().map(|uid| uid.starts_with("new-")), Some(true));
    let mut expected = job("Failed");
    expected["metadata"] = json!({"name": "etl", "namespace": "ml", "labels": {"team": "data"}});
    expected["spec"]["template"]["metadata"] = json!({"labels": {"app": "etl"}});
    expected["spec"].as_object_mut().unwrap().remove("selector");
    expected.as_object_mut().unwrap().remove("status");
    assert_eq!(sent("POST").body, expected);
    assert!(requests.iter().all(|request| !request.target.contains("secrets")));
}

#[test]
fn what_is_taken_away_is_saved_for_its_owner_alone_and_without_values_of_variables() {
    let cluster = Cluster::start();
    let path = failed_job(&cluster);
    let mut applied = cluster.object(&path).unwrap();
    applied["metadata"]["annotations"] =
        json!({"kapp.k14s.io/original": json!({"spec": job("Failed")["spec"]}).to_string()});
    cluster.put("jobs", &applied);
    assert_eq!(cluster.restart(&["job", "etl", "-y", "--save-logs"]).code, Some(0));
    let [folder] = &cluster.folders()[..] else { panic!() };
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let mut names: Vec<String> = Vec::new();
    for entry in folder.read_dir().unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let text = std::fs::read_to_string(entry.path()).unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{name}");
        // What is created needs the values.
        assert_eq!(text.contains("s3cret"), name == "manifest.json", "{name}");
        assert!(!text.contains("managedFields"), "{name}");
        names.push(name);
    }
    names.sort();
    assert_eq!(
        names,
        [
            "etl-x.main.log",
            "etl-x.main.previous.log",
            "events.json",
            "manifest.json",
            "object.json",
            "pods.json",
            "record.json"
        ]
    );
    let read = |name: &str| -> Value { serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap() };
    assert_eq!(read("object.json")["status"], job("Failed")["status"]);
    assert_eq!(read("events.json")["items"][0]["reason"], "BackOff");
    assert_eq!(std::fs::read_to_string(folder.join("etl-x.main.log")).unwrap(), "the last words\n");
    let record = read("record.json");
    assert_eq!((&record["kind"], &record["finished"]), (&json!("RestartRecord"), &json!(true)));
    assert_eq!(record["server"], cluster.api.url("127.0.0.1"));
}

#[test]
fn a_log_that_cannot_be_had_is_named_and_stops_nothing() {
    let cluster = Cluster::with(|request, _| {
        let gone = request.path().ends_with("/log") && request.query("previous").is_some();
        gone.then(|| Reply::status(400, "BadRequest", "previous terminated container not found"))
    });
    let path = failed_job(&cluster);
    let elsewhere = cluster.home().join("elsewhere");
    let ran = cluster.restart(&["job/etl", "--yes", "--save-logs", "--save-to", elsewhere.to_str().unwrap()]);
    ran.says(0, &["not saved: the log of main in pod/etl-x.previous", "previous terminated container not found"]);
    assert_ne!(cluster.object(&path).unwrap()["metadata"]["uid"], "old");
    assert!(cluster.folders().is_empty());
    assert_eq!(elsewhere.read_dir().unwrap().count(), 1);
}

#[test]
fn where_nobody_can_be_asked_the_server_only_checks() {
    let cluster = Cluster::start();
    let path = failed_job(&cluster);
    let ran = cluster.restart(&["job/etl"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.starts_with("Would restart job/etl"), "{}", ran.stdout);
    assert!(ran.stdout.contains("the server would take all 2 writes; nothing was changed"), "{}", ran.stdout);
    assert!(ran.stdout.contains("To do it: kubectl sigapps restart job/etl --yes -n ml"), "{}", ran.stdout);
    assert!(cluster.writes().iter().all(|write| write.starts_with("dry ")), "{:?}", cluster.writes());
    assert_eq!(cluster.object(&path), Some(job("Failed")));
    assert!(cluster.folders().is_empty());
    cluster.restart(&["job/etl", "--dry-run=none"]).says(2, &["needs --yes where nobody can be asked"]);
}

#[test]
fn a_clients_dry_run_only_reads() {
    let cluster = Cluster::start();
    failed_job(&cluster);
    let ran = cluster.restart(&["job/etl", "--dry-run=client", "-o", "json"]);
    let restart = ran.json();
    assert_eq!((&restart["outcome"], &restart["dryRun"]), (&json!("dryRun"), &json!("client")));
    assert!(cluster.api.requests().iter().all(|request| request.method == "GET"));
}

#[test]
fn the_document_for_machines_holds_to_its_schema_however_it_ends() {
    let cluster = Cluster::start();
    failed_job(&cluster);
    let done = cluster.restart(&["job/etl", "--yes", "-o", "json"]);
    let restart = done.json();
    assert_eq!((&restart["outcome"], &restart["subject"]["uid"]), (&json!("done"), &json!("old")));
    let states: Vec<&Value> = restart["steps"].as_array().unwrap().iter().map(|step| &step["state"]).collect();
    assert_eq!(states, ["done", "done", "done"]);
    assert_eq!(restart["savedTo"], cluster.folders()[0].to_str().unwrap());
    // The new one has not ended.
    let refused = cluster.restart(&["job/etl", "--yes", "-o", "json"]);
    assert_eq!((&refused.json()["outcome"], refused.code), (&json!("refused"), Some(1)));
    let yaml = cluster.restart(&["job/etl", "--yes", "-o", "yaml"]);
    assert!(yaml.stdout.contains("outcome: refused"), "{yaml:?}");
}

/// Says no.
struct Nobody;

impl Console for Nobody {
    fn planned(&mut self, _: &Restart) {}
    fn confirms(&mut self, _: &Restart) -> bool {
        false
    }
    fn saved(&mut self, _: &str) {}
    fn begins(&mut self, _: &RestartStep) {}
    fn ended(&mut self, _: &RestartStep) {}
}

#[test]
fn what_is_declined_leaves_everything_as_it_is_and_says_so() {
    let cluster = Cluster::start();
    let path = failed_job(&cluster);
    let home = Home::of(&cluster.api);
    let mut said = |line: &str| panic!("{line}");
    let session = Session::open(&home.environment, &home.connection, &mut said).unwrap();
    let order = Order {
        kind: Kind::Job,
        name: "etl".into(),
        namespace: "ml".into(),
        keep: false,
        patch: None,
        dry_run: DryRun::None,
        force: false,
        allow_checkpoint_loss: false,
        save_logs: false,
        group: None,
        timeout: Duration::from_secs(1),
        save_to: home.path().join("saved"),
        look_in: Vec::new(),
        now: Time::parse("2026-11-30T09:00:00Z").unwrap(),
        commands: Commands::new(Kubectl::default(), "ml"),
        flags: Vec::new(),
    };
    let restart = run(&session, &order, &mut Nobody).unwrap();
    let document = serde_json::to_value(&restart).unwrap();
    holds_to_schema(&document);
    assert_eq!((&document["outcome"], &document["savedTo"]), (&json!("declined"), &Value::Null));
    assert_eq!(cluster.object(&path), Some(job("Failed")));
    assert!(cluster.writes().iter().all(|write| write.starts_with("dry ")) && !order.save_to.exists());
}

#[test]
fn a_busy_server_is_asked_again_and_that_is_told() {
    let deletions = AtomicUsize::new(0);
    let cluster = Cluster::with(move |request, _| {
        let real = request.method == "DELETE" && request.body.get("dryRun").is_none();
        let first = real && deletions.fetch_add(1, Ordering::SeqCst) == 0;
        first.then(|| Reply::status(429, "TooManyRequests", "slow down").header("retry-after", "0"))
    });
    let path = failed_job(&cluster);
    let ran = cluster.restart(&["job/etl", "--yes"]);
    ran.says(0, &["the deletion of jobs.batch etl", "slow down", "trying again"]);
    assert_ne!(cluster.object(&path).unwrap()["metadata"]["uid"], "old");
}
