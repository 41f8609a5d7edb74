use std::fs::{self, OpenOptions};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;
use crate::source::{Filter, Snapshot, file};

/// Large enough that no file is begun anew.
const ONE_FILE: Keeping = Keeping { rotate_size: 1 << 30, keep: 0 };

fn header() -> Header {
    Header { form: "journal".into(), cluster: "prod".into(), started_at: at(0).to_string(), ..Header::default() }
}

fn at(seconds: i64) -> Time {
    Time::from_seconds(1_800_000_000 + seconds)
}

fn kept(kind: &str, api_version: &str, object: &Value) -> Kept {
    let Value::Object(fields) = object.clone() else { panic!("no object") };
    Kept { kind: kind.into(), api_version: api_version.into(), fields }
}

fn pod(name: &str, version: u32, phase: &str) -> Kept {
    let ended = json!([{"name": "main", "state": {"terminated": {"exitCode": 1, "finishedAt": at(5).to_string()}}}]);
    let statuses = if phase == "Failed" { ended } else { json!([]) };
    kept(
        "Pod",
        "v1",
        &json!({
            "metadata": {"name": name, "namespace": "ml", "uid": format!("uid-of-{name}"), "resourceVersion": version.to_string(),
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "uid-of-train", "controller": true}]},
            "status": {"phase": phase, "containerStatuses": statuses},
        }),
    )
}

fn job(version: u32, failed: u32) -> Kept {
    kept(
        "Job",
        "batch/v1",
        &json!({
            "metadata": {"name": "train", "namespace": "ml", "uid": "uid-of-train", "resourceVersion": version.to_string()},
            "spec": {"backoffLimit": 6}, "status": {"failed": failed},
        }),
    )
}

/// What happens, in its order: a Job of which one pod after the other fails and is deleted.
enum Step {
    Set(Resource, Kept),
    Delete(Resource, Kept),
}

fn story() -> Vec<Step> {
    let mut steps = vec![Step::Set(Resource::Jobs, job(1, 0))];
    for number in 1..6 {
        let name = format!("train-{number}");
        let version = number * 10;
        steps.push(Step::Set(Resource::Pods, pod(&name, version, "Pending")));
        steps.push(Step::Set(Resource::Pods, pod(&name, version + 1, "Running")));
        steps.push(Step::Set(Resource::Pods, pod(&name, version + 2, "Failed")));
        steps.push(Step::Set(Resource::Jobs, job(version + 3, number)));
        if number % 2 == 0 {
            steps.push(Step::Delete(Resource::Pods, pod(&name, version + 4, "Failed")));
        }
    }
    steps
}

/// What a list gives after some steps.
fn listed(steps: &[Step]) -> Vec<(Resource, &Kept)> {
    let mut there: Vec<(Resource, &Kept)> = Vec::new();
    for step in steps {
        let (resource, kept, is_there) = match step {
            Step::Set(resource, kept) => (*resource, kept, true),
            Step::Delete(resource, kept) => (*resource, kept, false),
        };
        there.retain(|(_, other)| other.fields["metadata"]["uid"] != kept.fields["metadata"]["uid"]);
        if is_there {
            there.push((resource, kept));
        }
    }
    there
}

/// Opens the journal, takes what a list gives after `from` steps, and then the others.
fn play(path: &Path, keeping: Keeping, steps: &[Step], from: usize) -> Journal {
    let mut journal = Journal::open(path, header(), keeping).unwrap();
    for (resource, kept) in listed(&steps[..from]) {
        journal.set(at(100), resource, kept);
    }
    for resource in [Resource::Jobs, Resource::Pods] {
        journal.listed(at(100), resource).unwrap();
    }
    for step in &steps[from..] {
        match step {
            Step::Set(resource, kept) => drop(journal.set(at(100), *resource, kept)),
            Step::Delete(resource, kept) => drop(journal.delete(at(100), *resource, kept)),
        }
        journal.sync().unwrap();
    }
    journal
}

/// What is read of a folder, without what was said and where it stands.
fn read(folder: &Path) -> Snapshot {
    let mut snapshot = file::read(&[folder.to_str().unwrap().to_owned()], Filter::default(), &mut |_| {}).unwrap();
    snapshot.sources.clear();
    snapshot.ignored.clear();
    snapshot
}

fn told(folder: &Path) -> String {
    let Snapshot { jobs, pods, newest, .. } = read(folder);
    format!("{jobs:#?} {pods:#?} {newest:?}")
}

fn lines(folder: &Path) -> Vec<Value> {
    let names = Names::of(&folder.join("journal.jsonl"));
    let mut lines = Vec::new();
    let rotated = names.rotated().unwrap().into_iter().map(|(_, path)| path);
    for path in rotated.chain([names.current.clone()]) {
        scan::each_line(&path, |line| lines.push(serde_json::from_slice(line).unwrap())).unwrap();
    }
    lines
}

fn assert_nothing_twice(folder: &Path) {
    let mut seen = std::collections::HashSet::new();
    for line in lines(folder).iter().filter(|line| line["kind"] == "Change" && line["type"] != "missed") {
        let metadata = &line["object"]["metadata"];
        assert!(seen.insert((metadata["uid"].to_string(), metadata["resourceVersion"].to_string())), "twice: {line}");
    }
}

fn in_folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    (folder, path)
}

/// Wherever it is cut, and however far the cluster had come when the recorder died.
#[test]
fn a_journal_cut_at_any_byte_tells_the_same_once_it_is_gone_on_with() {
    let steps = story();
    let (whole, path) = in_folder();
    drop(play(&path, ONE_FILE, &steps, 0));
    let expected = told(whole.path());
    let bytes = fs::read(&path).unwrap();
    // Before, at and behind the end of each line, and here and there within.
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    let cuts: Vec<usize> = ends.flat_map(|end| [end, end + 1, end + 2]).chain((0..bytes.len()).step_by(301)).collect();
    for (number, cut) in cuts.into_iter().map(|cut| cut.min(bytes.len())).enumerate() {
        for from in [[0, steps.len()], [steps.len() / 2, steps.len()]][number % 2] {
            let (folder, path) = in_folder();
            fs::write(&path, &bytes[..cut]).unwrap();
            drop(play(&path, ONE_FILE, &steps, from));
            // What was deleted while nobody recorded is not known: with it less may be told, never something else.
            if from == 0 || cut == bytes.len() {
                assert_eq!(told(folder.path()), expected, "cut at {cut}, {from} steps unseen");
            }
            let pods = read(folder.path()).pods;
            assert!(["train-1", "train-3", "train-5"].iter().all(|name| pods.iter().any(|pod| &*pod.name == *name)));
            if from == steps.len() {
                assert_nothing_twice(folder.path());
            }
        }
    }
}

#[test]
fn what_is_torn_or_was_never_written_to_the_disk_is_cut_off() {
    let steps = story();
    let (folder, path) = in_folder();
    drop(play(&path, ONE_FILE, &steps, 0));
    let expected = told(folder.path());
    let whole = fs::read(&path).unwrap();
    for torn in [&b"{\"kind\":\"Change\",\"api"[..], &[0; 4096], b"\n\n", b"\xff\xfe\n{}\n"] {
        fs::write(&path, [&whole[..], torn].concat()).unwrap();
        drop(play(&path, ONE_FILE, &steps, steps.len()));
        assert_eq!(told(folder.path()), expected);
        assert_eq!(fs::read(&path).unwrap(), whole, "nothing was new");
    }
}

#[test]
fn a_state_that_tells_nothing_new_is_not_written() {
    let (folder, path) = in_folder();
    let mut journal = Journal::open(&path, header(), ONE_FILE).unwrap();
    assert!(journal.set(at(1), Resource::Pods, &pod("a", 1, "Running")));
    assert!(!journal.set(at(2), Resource::Pods, &pod("a", 2, "Running")));
    journal.sync().unwrap();
    assert!(!journal.set(at(3), Resource::Pods, &pod("a", 3, "Running")));
    assert!(journal.set(at(4), Resource::Pods, &pod("a", 4, "Failed")));
    journal.sync().unwrap();
    let types: Vec<Value> = lines(folder.path()).iter().map(|line| line["type"].clone()).collect();
    assert_eq!(types, [json!(null), json!("added"), json!("modified")]);
}

#[test]
fn what_went_away_unseen_is_told_by_its_names_and_events_are_left_as_they_are() {
    let (folder, path) = in_folder();
    let event = json!({"metadata": {"name": "e", "namespace": "ml", "uid": "e"}, "reason": "x"});
    let mut journal = Journal::open(&path, header(), ONE_FILE).unwrap();
    journal.set(at(1), Resource::Pods, &pod("a", 1, "Running"));
    journal.set(at(1), Resource::Events, &kept("Event", "v1", &event));
    journal.sync().unwrap();
    drop(journal);
    let mut journal = Journal::open(&path, header(), ONE_FILE).unwrap();
    assert_eq!(journal.last(), Some(at(1)));
    for resource in [Resource::Pods, Resource::Events] {
        journal.listed(at(2), resource).unwrap();
    }
    drop(journal);
    let last = lines(folder.path()).pop().unwrap();
    assert_eq!((&last["type"], &last["object"]["metadata"]["name"]), (&json!("missed"), &json!("a")), "{last}");
    assert_eq!(lines(folder.path()).len(), 4);
    assert_eq!(read(folder.path()).pods.len(), 0, "a pod that is gone is not in trouble");
}

/// Small files, of which few are kept: what is there is told all the same, and what was lost is said.
#[test]
fn rotation_keeps_what_is_there_and_says_what_it_took() {
    let steps = story();
    let (folder, path) = in_folder();
    let keeping = Keeping { rotate_size: 700, keep: 2 };
    drop(play(&path, keeping, &steps, 0));
    let names = Names::of(&path);
    assert_eq!(names.rotated().unwrap().len(), 2);
    let mut said = Vec::new();
    let paths = [folder.path().to_str().unwrap().to_owned()];
    let snapshot = file::read(&paths, Filter::default(), &mut |line| said.push(line.to_owned())).unwrap();
    assert_eq!(snapshot.jobs[0].failed, 5);
    let failed: Vec<&str> = snapshot.pods.iter().map(|pod| &*pod.name).collect();
    for there in ["train-1", "train-3", "train-5"] {
        assert!(failed.contains(&there), "{failed:?}");
    }
    assert!(said.iter().any(|line| line.contains("evidence from before may be missing")), "{said:?}");
    // With all files, nothing is lost.
    let (folder, path) = in_folder();
    drop(play(&path, Keeping { keep: 0, ..keeping }, &steps, 0));
    let (whole, one) = in_folder();
    drop(play(&one, ONE_FILE, &steps, 0));
    assert_eq!(told(folder.path()), told(whole.path()));
    assert_nothing_twice(folder.path());
}

#[test]
fn a_rotation_that_did_not_come_to_its_end_is_gone_on_with() {
    let steps = story();
    let (folder, path) = in_folder();
    drop(play(&path, ONE_FILE, &steps, 0));
    let expected = told(folder.path());
    let bytes = fs::read(&path).unwrap();
    let (aside, packed) = (folder.path().join("journal.000001.jsonl"), folder.path().join("journal.000001.jsonl.gz"));
    // Renamed, and no new file begun.
    fs::rename(&path, &aside).unwrap();
    drop(play(&path, ONE_FILE, &steps, steps.len()));
    assert_eq!(told(folder.path()), expected);
    assert_eq!(lines(folder.path()).last().unwrap()["file"], 2);
    // Packed, and the plain file not removed yet; half of another was packed.
    Names::of(&path).set_aside(7).unwrap();
    fs::rename(folder.path().join("journal.000007.jsonl.gz"), &path).unwrap();
    fs::write(&path, &bytes).unwrap();
    fs::remove_file(&aside).unwrap();
    Names::of(&path).set_aside(1).unwrap();
    fs::write(&aside, &bytes).unwrap();
    fs::write(folder.path().join(".journal.jsonl.tmp"), "half").unwrap();
    drop(play(&path, ONE_FILE, &steps, steps.len()));
    assert!(packed.exists() && !aside.exists() && !folder.path().join(".journal.jsonl.tmp").exists());
    assert_eq!(told(folder.path()), expected);
}

#[test]
fn one_journal_takes_one_writer_and_one_cluster() {
    let (_folder, path) = in_folder();
    let journal = Journal::open(&path, header(), ONE_FILE).unwrap();
    let error = Journal::open(&path, header(), ONE_FILE).err().unwrap().to_string();
    assert!(error.contains("being written by another recorder"), "{error}");
    drop(journal);
    for (other, words) in [
        (Header { cluster: "dev".into(), ..header() }, "it is of cluster prod, and this is dev"),
        (Header { namespace: Some("ml".into()), ..header() }, "it is of all namespaces, and this is of namespace ml"),
        (Header { redacted: true, ..header() }, "without --redact"),
        (Header { form: "snapshot".into(), ..header() }, "it is a journal"),
    ] {
        let error = Journal::open(&path, other, ONE_FILE).err().unwrap().to_string();
        assert!(error.contains(words) && error.contains("give another -o"), "{error}");
    }
    fs::write(&path, "not mine\n").unwrap();
    assert!(matches!(Journal::open(&path, header(), ONE_FILE), Err(JournalError::Foreign { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "not mine\n");
}

/// `/dev/full` takes nothing, as a disk that is full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_that_leaves_what_was_written_whole() {
    let (folder, path) = in_folder();
    let mut journal = Journal::open(&path, header(), ONE_FILE).unwrap();
    journal.set(at(1), Resource::Jobs, &job(1, 0));
    journal.sync().unwrap();
    let whole = fs::read(&path).unwrap();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let file = std::mem::replace(&mut journal.file, full);
    journal.set(at(2), Resource::Jobs, &job(2, 1));
    let error = journal.sync().unwrap_err().to_string();
    assert!(error.contains("cannot write") && error.contains("what was written before is whole"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), whole);
    // There is room again: nothing of it is lost.
    journal.file = file;
    journal.sync().unwrap();
    drop(journal);
    assert_eq!(read(folder.path()).jobs[0].failed, 1);
}

#[cfg(unix)]
#[test]
fn its_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, path) = in_folder();
    drop(play(&path, Keeping { rotate_size: 700, keep: 0 }, &story(), 0));
    for entry in folder.path().read_dir().unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", entry.path().display());
    }
}

fn status(seconds: i64) -> Status {
    let read = crate::source::RecordedSource {
        resource: "pods".into(),
        state: crate::report::SourceState::Read,
        skipped: 0,
        message: None,
    };
    Status { as_of: at(seconds).to_string(), sources: vec![read], ..Status::default() }
}

/// What was carried over is no reason to begin a new file, however often it is opened.
#[test]
fn a_file_that_holds_more_than_its_size_from_before_is_not_begun_anew_at_each_start() {
    let (_folder, path) = in_folder();
    let keeping = Keeping { rotate_size: 700, keep: 1 };
    let mut journal = play(&path, keeping, &story(), 0);
    for version in 1000.. {
        journal.set(at(200), Resource::Jobs, &job(version, version));
        journal.sync().unwrap();
        if journal.length == journal.opening && journal.opening > keeping.rotate_size {
            break;
        }
    }
    let number = journal.file_number();
    drop(journal);
    for _ in 0..3 {
        let mut journal = Journal::open(&path, header(), keeping).unwrap();
        journal.status(status(300));
        journal.sync().unwrap();
        assert_eq!(journal.file_number(), number);
    }
}

/// What became of each resource is known of any file, whatever files before it were removed.
#[test]
fn each_file_tells_what_became_of_the_resources() {
    let (folder, path) = in_folder();
    let keeping = Keeping { rotate_size: 700, keep: 1 };
    let mut journal = Journal::open(&path, header(), keeping).unwrap();
    journal.status(status(1));
    for version in 0..40 {
        journal.set(at(2), Resource::Jobs, &job(version, version));
        journal.sync().unwrap();
    }
    assert!(journal.file_number() > 3);
    let sources =
        file::read(&[folder.path().to_str().unwrap().to_owned()], Filter::default(), &mut |_| {}).unwrap().sources;
    let pods = sources.iter().find(|source| source.resource == "pods").unwrap();
    assert_eq!(pods.state, crate::report::SourceState::Read);
}

/// What a list of nothing costs: no file is read for it, whatever is in the journal.
#[test]
fn objects_that_went_away_are_named_without_a_look_into_the_files() {
    let (folder, path) = in_folder();
    let keeping = Keeping { rotate_size: 700, keep: 0 };
    drop(play(&path, keeping, &story(), 0));
    let mut journal = Journal::open(&path, header(), Keeping { rotate_size: 1 << 30, keep: 0 }).unwrap();
    for (_, rotated) in Names::of(&path).rotated().unwrap() {
        fs::remove_file(rotated).unwrap();
    }
    for resource in [Resource::Jobs, Resource::Pods] {
        journal.listed(at(300), resource).unwrap();
    }
    drop(journal);
    let missed: Vec<Value> = lines(folder.path()).into_iter().filter(|line| line["type"] == "missed").collect();
    let names: Vec<&str> = missed.iter().filter_map(|line| line["object"]["metadata"]["name"].as_str()).collect();
    assert_eq!(names, ["train", "train-1", "train-3", "train-5"]);
    assert!(
        missed
            .iter()
            .all(|line| line["object"]["apiVersion"].is_string() && line["object"]["metadata"]["uid"].is_string())
    );
}

#[cfg(unix)]
#[test]
fn two_ways_to_one_journal_meet_the_same_lock() {
    let (folder, path) = in_folder();
    let link = folder.path().join("link.jsonl");
    std::os::unix::fs::symlink("journal.jsonl", &link).unwrap();
    // Where it leads, there is nothing yet.
    let journal = Journal::open(&link, header(), ONE_FILE).unwrap();
    assert!(matches!(Journal::open(&path, header(), ONE_FILE), Err(JournalError::Busy { .. })));
    drop(journal);
    let elsewhere = tempfile::tempdir().unwrap();
    let far = elsewhere.path().join("far.jsonl");
    std::os::unix::fs::symlink(&path, &far).unwrap();
    let _journal = Journal::open(&path, header(), ONE_FILE).unwrap();
    assert!(matches!(Journal::open(&far, header(), ONE_FILE), Err(JournalError::Busy { .. })));
}

#[test]
fn what_another_version_wrote_is_refused_and_not_cut_off() {
    let (_folder, path) = in_folder();
    drop(play(&path, ONE_FILE, &story(), 0));
    let newer = b"{\"kind\":\"Change\",\"apiVersion\":\"kubectl-sigapps/v1\",\"x\":1}\n";
    let whole = [&fs::read(&path).unwrap()[..], newer].concat();
    fs::write(&path, &whole).unwrap();
    let error = Journal::open(&path, header(), ONE_FILE).err().unwrap().to_string();
    assert!(error.contains("kubectl-sigapps/v1"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), whole);
    // Nor is one gone on with of which it is not known which cluster it is of.
    let text = String::from_utf8(whole).unwrap();
    let headless = text.lines().skip(1).take(3).collect::<Vec<_>>().join("\n") + "\n";
    fs::write(&path, &headless).unwrap();
    let error = Journal::open(&path, header(), ONE_FILE).err().unwrap().to_string();
    assert!(error.contains("which cluster"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), headless);
}

#[test]
fn one_damaged_file_does_not_end_the_recording() {
    let steps = story();
    let (folder, path) = in_folder();
    let keeping = Keeping { rotate_size: 700, keep: 0 };
    drop(play(&path, keeping, &steps, 0));
    let (_, first) = Names::of(&path).rotated().unwrap().remove(0);
    let packed = fs::read(&first).unwrap();
    for damaged in [&packed[..packed.len() / 2], b"no archive at all", b""] {
        fs::write(&first, damaged).unwrap();
        let journal = play(&path, Keeping { keep: 2, ..keeping }, &steps, steps.len());
        assert_eq!(journal.damaged().len(), 1, "{:?}", journal.damaged());
        drop(journal);
        let jobs = read(folder.path()).jobs;
        assert_eq!(jobs[0].failed, 5);
        fs::write(&first, &packed).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_journal_is_a_plain_file_in_a_folder_that_is_there() {
    let (folder, _) = in_folder();
    let fifo = folder.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    for (path, words) in [
        (fifo, "no regular file"),
        (folder.path().to_owned(), "no regular file"),
        (folder.path().join("journal.jsonl.gz"), "does not end in .gz"),
        (folder.path().join("nowhere/journal.jsonl"), "there is no folder"),
    ] {
        let error = Journal::open(&path, header(), ONE_FILE).err().unwrap().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 1, "nothing is left behind");
}
