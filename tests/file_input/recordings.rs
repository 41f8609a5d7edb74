//! Recordings, as `record` writes them: read as any input, with what they tell of themselves.

use serde_json::{Value, json};
use sigapps::source::{Filter, Snapshot, SourceState, file};

const VERSION: &str = "kubectl-sigapps/v1alpha1";

fn header(form: &str, number: u32) -> Value {
    json!({"kind": "Recording", "apiVersion": VERSION, "form": form, "cluster": "prod",
        "startedAt": "2026-11-30T09:00:00Z", "file": number})
}

fn status(as_of: &str) -> Value {
    let sources =
        json!([{"resource": "jobs", "state": "read"}, {"resource": "events", "state": "denied", "message": "no"}]);
    json!({"kind": "RecordingStatus", "apiVersion": VERSION, "asOf": as_of, "sources": sources})
}

/// All was listed.
fn whole() -> Value {
    let mut whole = status("2026-11-30T09:00:00Z");
    whole["sources"] = json!([{"resource": "jobs", "state": "read"}]);
    whole
}

fn change(what: &str, at: &str, object: &Value) -> Value {
    json!({"kind": "Change", "apiVersion": VERSION, "at": at, "type": what, "object": object})
}

fn pod(name: &str, version: u32, phase: &str) -> Value {
    let ended =
        json!([{"name": "main", "state": {"terminated": {"exitCode": 1, "finishedAt": "2026-11-30T09:00:05Z"}}}]);
    json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "ml", "uid": name, "resourceVersion": version.to_string(),
            "creationTimestamp": "2026-11-30T08:00:00Z"},
        "status": {"phase": phase, "containerStatuses": if phase == "Failed" { ended } else { json!([]) }},
    })
}

fn deployment(version: u32) -> Value {
    json!({"kind": "Deployment", "apiVersion": "apps/v1", "metadata":
        {"name": "web", "namespace": "ml", "uid": "web", "resourceVersion": version.to_string()}})
}

/// What is read of files of lines, and what is said.
fn read(files: &[&[Value]]) -> (Snapshot, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    for (number, lines) in files.iter().enumerate() {
        let text = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n";
        std::fs::write(folder.path().join(format!("{number}.jsonl")), text).unwrap();
    }
    let mut said = Vec::new();
    let paths = [folder.path().to_str().unwrap().to_owned()];
    let snapshot = file::read(&paths, Filter::default(), &mut |line| said.push(line.to_owned())).unwrap();
    (snapshot, said)
}

#[test]
fn an_empty_cluster_was_recorded_too_and_ages_count_from_the_recording() {
    let (snapshot, said) = read(&[&[header("snapshot", 1), status("2026-11-30T10:00:00Z")]]);
    assert_eq!(snapshot.newest.unwrap().to_string(), "2026-11-30T10:00:00Z");
    assert_eq!(snapshot.cluster.as_deref(), Some("prod"));
    let state = |name: &str| snapshot.sources.iter().find(|source| source.resource == name).unwrap().state;
    assert_eq!((state("jobs"), state("events")), (SourceState::Read, SourceState::Denied));
    assert_eq!(said, ["events are left out, reading them was refused: no"]);
}

#[test]
fn a_snapshot_without_an_end_is_said_to_be_cut_off() {
    let (snapshot, said) = read(&[&[header("snapshot", 1), pod("a", 1, "Failed")]]);
    assert_eq!(snapshot.pods.len(), 1);
    assert!(said[0].contains("the recording has no end"), "{said:?}");
    let files = snapshot.sources.iter().find(|source| source.file.is_some()).unwrap();
    assert_eq!(files.state, SourceState::Unreadable);
}

#[test]
fn of_a_journal_the_newest_state_counts_whatever_the_order() {
    let lines = [
        header("journal", 1),
        whole(),
        change("added", "2026-11-30T09:00:01Z", &pod("a", 1, "Pending")),
        change("modified", "2026-11-30T09:00:06Z", &pod("a", 3, "Failed")),
        change("modified", "2026-11-30T09:00:02Z", &pod("a", 2, "Running")),
    ];
    let (snapshot, said) = read(&[&lines]);
    assert_eq!(snapshot.pods.len(), 1);
    assert_eq!(snapshot.pods[0].ends.len(), 1);
    assert_eq!(snapshot.newest.unwrap().to_string(), "2026-11-30T09:00:06Z");
    assert_eq!(said, Vec::<String>::new());
}

/// What failed stays as evidence; what was merely there, or hung, is in nobody's way any more.
#[test]
fn what_was_deleted_is_evidence_or_gone() {
    let at = "2026-11-30T09:00:10Z";
    let mut hanging = pod("hanging", 1, "Running");
    hanging["metadata"]["deletionTimestamp"] = "2026-11-30T08:30:00Z".into();
    let of_names = |mut object: Value| {
        object.as_object_mut().unwrap().remove("status");
        object["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        object
    };
    let deletions = [
        header("journal", 2),
        change("deleted", at, &pod("failed", 2, "Failed")),
        change("deleted", at, &hanging),
        change("missed", at, &of_names(pod("unseen", 2, "Pending"))),
        change("missed", at, &of_names(pod("unseen-failed", 2, "Failed"))),
        change("deleted", at, &deployment(2)),
    ];
    let before = [
        header("journal", 1),
        whole(),
        change("added", at, &pod("failed", 1, "Running")),
        change("added", at, &hanging),
        change("added", at, &pod("unseen", 1, "Pending")),
        change("added", at, &pod("unseen-failed", 1, "Failed")),
        change("added", at, &deployment(1)),
        json!({"kind": "Log", "apiVersion": VERSION, "text": "x"}),
    ];
    for files in [[&before[..], &deletions[..]], [&deletions[..], &before[..]]] {
        let (snapshot, said) = read(&files);
        let pods: Vec<&str> = snapshot.pods.iter().map(|pod| &*pod.name).collect();
        assert_eq!(pods, ["failed", "unseen-failed"]);
        assert!(snapshot.deployments.is_empty());
        assert_eq!(snapshot.gone.len(), 2);
        assert_eq!(said, Vec::<String>::new());
        assert!(snapshot.ignored.is_empty(), "{:?}", snapshot.ignored);
    }
}

#[test]
fn what_a_journal_does_not_hold_is_said() {
    let mut again = status("2026-11-30T10:00:00Z");
    again["notRecordedSince"] = "2026-11-30T09:30:00Z".into();
    again["sources"] = whole()["sources"].clone();
    let (snapshot, said) = read(&[&[header("journal", 3), again.clone()]]);
    assert!(said[0].contains("its first 2 files are not among the input"), "{said:?}");
    assert!(said[0].contains("nothing was recorded from 2026-11-30T09:30:00Z to 2026-11-30T10:00:00Z"), "{said:?}");
    // The file itself was read to its end: what is missing is time.
    assert!(snapshot.sources.iter().all(|source| source.state != SourceState::Unreadable));
    assert_eq!(snapshot.gaps.len(), 2);
    let marked = |since: &str| {
        let mut snapshot = read(&[&[header("journal", 3), again.clone()]]).0;
        snapshot.mark_gaps(sigapps::model::Time::parse(since).unwrap());
        snapshot.sources.iter().any(|source| source.state == SourceState::Gap)
    };
    assert!(marked("2026-11-30T09:59:59Z") && !marked("2026-11-30T10:00:00Z"));
}

/// Nothing found in what was never filled is no good news.
#[test]
fn a_journal_that_was_begun_and_no_more_is_said_to_be_cut_off() {
    let at = "2026-11-30T09:00:10Z";
    for lines in [
        &[header("journal", 1)][..],
        &[header("journal", 1), change("added", at, &pod("a", 1, "Failed"))],
        &[change("added", at, &pod("a", 1, "Failed")), whole()],
    ] {
        let (snapshot, said) = read(&[lines]);
        assert!(said[0].contains("the journal ends before") || said[0].contains("no beginning"), "{said:?}");
        let files = snapshot.sources.iter().find(|source| source.file.is_some()).unwrap();
        assert_eq!(files.state, SourceState::Unreadable);
    }
}
