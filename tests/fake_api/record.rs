//! `record` against a server that breaks: what is written is what was there, and is whole.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sigapps::source::{Filter, Snapshot, SourceState, file};

use crate::support::cluster::Ran;
use crate::support::objects::{job, pod, world};
use crate::support::{FakeApi, Home, Reply, Request};

/// Longer than anything takes: then a test fails.
const LONGEST: Duration = Duration::from_secs(120);

fn command(home: &Home, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-sigapps"));
    command.args(arguments).current_dir(home.path()).env_clear().env("HOME", home.path());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(home: &Home, arguments: &[&str]) -> Ran {
    Ran::of(command(home, arguments).output().unwrap())
}

fn read(path: &Path) -> Snapshot {
    file::read(&[path.to_str().unwrap().to_owned()], Filter::default(), &mut |_| {}).unwrap()
}

#[test]
fn a_snapshot_tells_what_the_cluster_tells_and_its_name_is_printed() {
    let api = FakeApi::start(world);
    let home = Home::of(&api);
    let ran = run(&home, &["record", "-n", "ml", "-o", "now.jsonl.gz"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "now.jsonl.gz\n"), "{ran:?}");
    assert!(ran.stderr.contains("recorded namespace ml of fake: 1 jobs, 1 pods"), "{ran:?}");
    let lines = |arguments: &[&str]| -> Vec<Value> {
        let ran = run(&home, arguments);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let live = lines(&["failures", "-n", "ml", "--all", "-o", "jsonl"]);
    assert_eq!(lines(&["failures", "-f", "now.jsonl.gz", "--all", "-o", "jsonl"]), live);
    assert_eq!(live.len(), 1);
    // What is not installed is told as it was then, and nothing is said of it.
    let snapshot = read(&home.path().join("now.jsonl.gz"));
    let state = |resource: &str| snapshot.sources.iter().find(|source| source.resource == resource).unwrap().state;
    assert_eq!((state("jobs"), state("jobsets")), (SourceState::Read, SourceState::NotInstalled));
    assert_eq!(snapshot.cluster.as_deref(), Some("fake"));
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 2, "no half of a file is left");
}

#[test]
fn a_snapshot_takes_no_file_that_is_there_and_is_whole_or_not_at_all() {
    let api = FakeApi::start(|request| match request.path() {
        "/api/v1/namespaces/ml/pods" => Reply::status(403, "Forbidden", "no"),
        _ => world(request),
    });
    let home = Home::of(&api);
    home.write("now.jsonl", "mine");
    run(&home, &["record", "-n", "ml", "-o", "now.jsonl"]).says(1, &["now.jsonl is there already", "--force"]);
    run(&home, &["record", "-n", "ml", "-o", "now.jsonl", "--force"]).says(1, &["pods"]);
    assert_eq!(std::fs::read_to_string(home.path().join("now.jsonl")).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 2, "no half of a file is left");
    run(&home, &["record", "-n", "ml", "--follow", "-o", "-"]).says(2, &["give -o FILE"]);
}

#[test]
fn what_was_denied_is_denied_to_whoever_reads_the_recording() {
    let api = FakeApi::start(|request| match request.path() {
        "/api/v1/namespaces/ml/events" => Reply::status(403, "Forbidden", "events is forbidden"),
        _ => world(request),
    });
    let home = Home::of(&api);
    let said = "events are left out, reading them was refused: events is forbidden";
    run(&home, &["record", "-n", "ml", "-o", "now.jsonl"]).says(0, &[said]);
    let ran = run(&home, &["failures", "-f", "now.jsonl", "-o", "json"]);
    ran.says(0, &[said]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let events = report["sources"].as_array().unwrap().iter().find(|source| source["resource"] == "events").unwrap();
    assert_eq!((&events["state"], &events["cluster"]), (&json!("denied"), &json!("fake")));
}

#[test]
fn logs_of_what_failed_are_recorded_without_secrets() {
    let api = FakeApi::start(|request| {
        if request.path().ends_with("/log") {
            return Reply::new(200, "text/plain").then("loading\nAPI_TOKEN=hunter2 exit\n");
        }
        world(request)
    });
    let home = Home::of(&api);
    run(&home, &["record", "-n", "ml", "-o", "now.jsonl", "--logs"]).says(0, &["1 pods, 1 logs"]);
    let text = std::fs::read_to_string(home.path().join("now.jsonl")).unwrap();
    let logs: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["kind"] == "Log")
        .collect();
    assert_eq!(logs.len(), 1);
    assert_eq!((&logs[0]["pod"], &logs[0]["container"]), (&json!("train-0"), &json!("main")));
    assert_eq!(logs[0]["text"], "loading\nAPI_TOKEN=(hidden) exit\n");
    assert!(!text.contains("hunter2"));
    run(&home, &["failures", "-f", "now.jsonl"]).says(0, &[]);
    run(&home, &["record", "--logs", "--redact"]).says(2, &["--redact"]);
    let api = FakeApi::start(|request| {
        let is_log = request.path().ends_with("/log");
        if is_log { Reply::status(403, "Forbidden", "no logs for you") } else { world(request) }
    });
    let home = Home::of(&api);
    let ran = run(&home, &["record", "-n", "ml", "-o", "now.jsonl", "--logs"]);
    ran.says(0, &["pods/log", "no logs for you", "0 logs"]);
}

/// A server on which pods of a Job fail one after the other: each watch that is asked for tells of some more, and ends.
struct Changing {
    api: FakeApi,
    home: Home,
}

const PODS: u32 = 40;
const JOBS_PATH: &str = "/apis/batch/v1/jobs";
const PODS_PATH: &str = "/api/v1/pods";

/// The state of the pods at a version: pod N is made at 3N, runs at 3N + 1, has failed at 3N + 2; each fourth is deleted then.
fn pods_at(version: u32) -> Vec<Value> {
    let there = (0..PODS).filter(|number| 3 * number <= version && !(number % 4 == 3 && 3 * number + 2 <= version));
    there.map(|number| pod_at(number, (version - 3 * number).min(2))).collect()
}

fn pod_at(number: u32, age: u32) -> Value {
    let mut pod = pod("ml", &format!("train-{number}"), "train");
    pod["metadata"]["resourceVersion"] = (1000 + 3 * number + age).to_string().into();
    if age < 2 {
        pod["status"] = json!({"phase": if age == 0 { "Pending" } else { "Running" }});
    }
    pod
}

fn change_at(version: u32) -> String {
    let (number, age) = (version / 3, version % 3);
    let mut object = pod_at(number, age);
    object["kind"] = "Pod".into();
    object["apiVersion"] = "v1".into();
    let kind = match age {
        0 => "ADDED",
        2 if number % 4 == 3 => "DELETED",
        _ => "MODIFIED",
    };
    format!("{}\n", json!({"type": kind, "object": object}))
}

fn bookmark(kind: &str, api_version: &str, version: u32) -> String {
    let object =
        json!({"kind": kind, "apiVersion": api_version, "metadata": {"resourceVersion": (1000 + version).to_string()}});
    format!("{}\n", json!({"type": "BOOKMARK", "object": object}))
}

fn list_at(kind: &str, api_version: &str, version: u32, items: &[Value]) -> Reply {
    let head = json!({"resourceVersion": (1000 + version).to_string()});
    Reply::json(
        200,
        json!({"kind": format!("{kind}List"), "apiVersion": api_version, "metadata": head, "items": items}).to_string(),
    )
}

impl Changing {
    /// `breaks` may answer a watch of pods from a version in its own way.
    fn start(breaks: impl Fn(u32) -> Option<Reply> + Send + Sync + 'static) -> Self {
        Self::with(breaks, |_| None)
    }

    /// `other` may answer any request in its own way.
    fn with(
        breaks: impl Fn(u32) -> Option<Reply> + Send + Sync + 'static,
        other: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let now = Arc::new(AtomicU32::new(0));
        let last = 3 * PODS - 1;
        let handler = move |request: &Request| {
            if let Some(reply) = other(request) {
                return reply;
            }
            let is_watch = request.query("watch").is_some();
            let from = || request.query("resourceVersion").unwrap().parse::<u32>().unwrap() - 1000;
            match request.path() {
                PODS_PATH if is_watch => {
                    if let Some(reply) = breaks(from()) {
                        return reply;
                    }
                    let until = now.fetch_max((from() + 5).min(last), Ordering::SeqCst).max((from() + 5).min(last));
                    let changes: String = (from() + 1..=until).map(change_at).collect();
                    let reply = Reply::json(200, changes);
                    if until == last { reply.then_wait_until_stopped() } else { reply }
                }
                PODS_PATH => {
                    let now = now.load(Ordering::SeqCst);
                    list_at("Pod", "v1", now, &pods_at(now))
                }
                JOBS_PATH if is_watch => Reply::json(200, bookmark("Job", "batch/v1", 1)).then_wait_until_stopped(),
                JOBS_PATH => list_at("Job", "batch/v1", 0, &[job("ml", "train")]),
                _ if is_watch => Reply::json(200, "").then_wait_until_stopped(),
                _ => world(request),
            }
        };
        let api = FakeApi::start(handler);
        let home = Home::of(&api);
        Self { api, home }
    }

    fn journal(&self) -> PathBuf {
        self.home.path().join("journal/journal.jsonl")
    }

    /// Starts a recorder; it is killed with the test.
    fn record(&self) -> Recorder {
        self.record_with(&[])
    }

    fn record_with(&self, more: &[&str]) -> Recorder {
        std::fs::create_dir_all(self.journal().parent().unwrap()).unwrap();
        let arguments = [&["record", "-A", "--follow", "-o", "journal/journal.jsonl"], more].concat();
        let mut child = command(&self.home, &arguments).spawn().unwrap();
        let said: Arc<Mutex<Vec<String>>> = Arc::default();
        let (stderr, to) = (child.stderr.take().unwrap(), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                to.lock().unwrap().push(line);
            }
        });
        Recorder { child, said }
    }

    /// Awaits that the journal holds so many lines.
    fn await_lines(&self, recorder: &mut Recorder, lines: usize) {
        let began = Instant::now();
        loop {
            let text = std::fs::read_to_string(self.journal()).unwrap_or_default();
            if text.lines().count() >= lines {
                return;
            }
            if let Some(status) = recorder.child.try_wait().unwrap() {
                panic!("{status}: {:?}", recorder.said.lock().unwrap());
            }
            assert!(
                began.elapsed() < LONGEST,
                "{:?}, asked {:?}",
                recorder.said.lock().unwrap(),
                self.api.asked().len()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Awaits that the last pod has failed, ends the recorder as the kubelet does, and gives what the journal tells.
    fn finish(&self, mut recorder: Recorder) -> String {
        let began = Instant::now();
        let last = format!("train-{}", PODS - 2);
        while !self.holds_end() || !read(&self.journal()).pods.iter().any(|pod| *pod.name == *last) {
            assert!(recorder.child.try_wait().unwrap().is_none(), "{:?}", recorder.said.lock().unwrap());
            assert!(began.elapsed() < LONGEST, "{:?}", recorder.said.lock().unwrap());
            std::thread::sleep(Duration::from_millis(20));
        }
        recorder.end_well();
        let text = std::fs::read_to_string(self.journal()).unwrap();
        let mut seen = std::collections::HashSet::new();
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            let metadata = &value["object"]["metadata"];
            let version = (metadata["uid"].to_string(), metadata["resourceVersion"].to_string());
            assert!(!metadata["resourceVersion"].is_string() || seen.insert(version), "written twice: {line}");
        }
        Self::assert_deletions_are_told(&text);
        let mut pods = read(&self.journal()).pods;
        // What was deleted before it was ever seen to fail is not known.
        pods.retain(|pod| !pod.name.strip_prefix("train-").unwrap().parse::<u32>().is_ok_and(|number| number % 4 == 3));
        format!("{pods:#?}")
    }

    /// The lines of the journal.
    fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.journal()).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Of each pod that was seen and deleted, that is its last line: how it ended, or that it went unseen.
    fn assert_deletions_are_told(text: &str) {
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut told = 0;
        for number in (0..PODS).filter(|number| number % 4 == 3) {
            let name = format!("train-{number}");
            let Some(last) = lines.iter().rfind(|line| line["object"]["metadata"]["name"] == *name) else { continue };
            let is_told = match last["type"].as_str().unwrap() {
                "deleted" => last["object"]["status"]["phase"] == "Failed",
                what => what == "missed",
            };
            assert!(is_told, "{last}");
            told += 1;
        }
        assert!(told > 0, "none was seen at all");
    }

    /// Awaits a line of the journal.
    fn await_line(&self, recorder: &mut Recorder, is_it: impl Fn(&Value) -> bool) {
        let began = Instant::now();
        while !self.lines().iter().any(&is_it) {
            assert!(recorder.child.try_wait().unwrap().is_none(), "{:?}", recorder.said.lock().unwrap());
            assert!(began.elapsed() < LONGEST, "{:?}", recorder.said.lock().unwrap());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether the very last change is written: the deletion of the last pod, or that it is gone.
    fn holds_end(&self) -> bool {
        let text = std::fs::read_to_string(self.journal()).unwrap_or_default();
        let last = format!("train-{}\"", PODS - 1);
        text.lines().any(|line| {
            line.contains(&last) && (line.contains(r#""type":"deleted""#) || line.contains(r#""type":"missed""#))
        })
    }
}

struct Recorder {
    child: Child,
    said: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM flushes, and is no failure.
    fn end_well(&mut self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{:?}", self.said.lock().unwrap());
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `list` without `watch`: what was there is recorded, and that nothing more will be is told twice.
#[test]
fn what_may_not_be_watched_is_said_while_it_records_and_in_the_journal() {
    let api = FakeApi::start(|request| match (request.path(), request.query("watch").is_some()) {
        (path, true) if path.ends_with("/cronjobs") => Reply::status(
            403,
            "Forbidden",
            "cronjobs.batch is forbidden: User \"u\" cannot watch resource \"cronjobs\"",
        ),
        (_, true) => Reply::json(200, "").then_wait_until_stopped(),
        _ => world(request),
    });
    let changing = Changing { home: Home::of(&api), api };
    let mut recorder = changing.record();
    let began = Instant::now();
    let denied = |text: &str| text.lines().any(|line| line.contains("\"denied\"") && line.contains("cannot watch"));
    while !denied(&std::fs::read_to_string(changing.journal()).unwrap_or_default()) {
        assert!(began.elapsed() < LONGEST, "{:?}", recorder.said.lock().unwrap());
        std::thread::sleep(Duration::from_millis(20));
    }
    recorder.end_well();
    let said = recorder.said.lock().unwrap().join("\n");
    assert!(said.contains("cronjobs are not recorded any more: cronjobs.batch cannot be read"), "{said}");
}

/// As for a script that does not ask where the recording is.
#[test]
fn a_recording_that_is_written_is_no_error_because_nobody_reads_its_name() {
    let api = FakeApi::start(world);
    let home = Home::of(&api);
    let mut child = command(&home, &["record", "-n", "ml", "-o", "now.jsonl"]).spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
    assert!(home.path().join("now.jsonl").exists());
}

#[test]
fn logs_that_may_not_be_read_are_said_to_be_left_out() {
    let api = FakeApi::start(|request| match request.path() {
        path if path.ends_with("/log") => Reply::status(403, "Forbidden", "cannot get resource \"pods/log\""),
        _ => world(request),
    });
    let home = Home::of(&api);
    let said = "pods/log are left out, reading them was refused: 1 could not be had; the first: ";
    run(&home, &["record", "-n", "ml", "-o", "now.jsonl", "--logs"]).says(0, &[said, "pods/log"]);
}

#[test]
fn a_journal_of_a_recorder_that_is_killed_again_and_again_tells_what_an_uninterrupted_one_does() {
    let whole = Changing::start(|_| None);
    let expected = {
        let recorder = whole.record();
        whole.finish(recorder)
    };
    assert!(expected.contains("train-38") && !expected.contains("train-39"));
    let broken = Changing::start(|_| None);
    // Wherever it is when the journal has so many lines: often in the middle of a batch.
    for lines in [3, 12, 30, 55] {
        let mut recorder = broken.record();
        broken.await_lines(&mut recorder, lines);
        recorder.kill();
    }
    let recorder = broken.record();
    assert_eq!(broken.finish(recorder), expected);
    let ran = run(&broken.home, &["failures", "-f", "journal"]);
    ran.says(0, &["nothing was recorded from"]);
}

#[test]
fn expired_versions_dropped_connections_and_errors_lose_nothing() {
    let whole = Changing::start(|_| None);
    let recorder = whole.record();
    let expected = whole.finish(recorder);
    let broken = Arc::new(Mutex::new(std::collections::BTreeSet::new()));
    let changing = Changing::start(move |from| {
        // Each break once.
        if !broken.lock().unwrap().insert(from / 10) {
            return None;
        }
        match from / 10 {
            1 => Some(Reply::status(410, "Expired", "too old resource version")),
            3 => Some(Reply::dropped()),
            5 => Some(Reply::status(500, "InternalError", "etcdserver: leader changed")),
            7 => Some(Reply::json(200, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n")),
            9 => Some(Reply::json(200, change_at(from + 1)[..40].to_owned()).then_cut()),
            _ => None,
        }
    });
    let recorder = changing.record();
    assert_eq!(changing.finish(recorder), expected);
    // What was made and deleted before the list was read anew is not known, and that is told.
    let lines = changing.lines();
    let gap = lines.iter().find(|line| line["notRecordedSince"].is_string()).unwrap();
    assert_eq!(gap["notRecordedOf"], json!(["pods"]), "{gap}");
    assert!(whole.lines().iter().all(|line| line["notRecordedSince"].is_null()));
    let ran = run(&changing.home, &["failures", "-f", "journal", "--exit-code"]);
    ran.says(3, &["nothing of pods was recorded from"]);
    // Where a time is asked for, and in some of it nothing was recorded, no answer is whole.
    let ran = run(&changing.home, &["failures", "-f", "journal", "--exit-code", "--since", "1d"]);
    ran.says(4, &["nothing of pods was recorded from"]);
}

/// What is written at the end tells all up to the server's last word, and not up to the end.
#[test]
fn a_journal_is_as_of_the_last_word_of_the_server() {
    let changing = Changing::start(|from| (from >= 20).then(Reply::dropped));
    let mut recorder = changing.record();
    changing.await_line(&mut recorder, |line| line["object"]["metadata"]["resourceVersion"] == "1020");
    let last = changing.lines().iter().filter_map(|line| Some(line["at"].as_str()?.to_owned())).max().unwrap();
    let now = || {
        sigapps::model::Time::from_seconds(i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()).unwrap())
    };
    let last = sigapps::model::Time::parse(&last).unwrap();
    while now() <= last.plus_seconds(1) {
        std::thread::sleep(Duration::from_millis(50));
    }
    recorder.end_well();
    let lines = changing.lines();
    let end = lines.iter().rfind(|line| line["kind"] == "RecordingStatus").unwrap();
    assert!(sigapps::model::Time::parse(end["asOf"].as_str().unwrap()).unwrap() <= last, "{end}");
    let said = recorder.said.lock().unwrap().join("\n");
    for words in
        ["recording all namespaces of fake into ", "journal/journal.jsonl; Ctrl-C", "ended: ", "it tells all up to "]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// What was seen is written, however the recorder ends.
#[test]
fn what_waits_is_written_before_the_recorder_ends_for_an_error() {
    let is_out = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let refuses = Arc::clone(&is_out);
    let changing = Changing::with(
        move |from| {
            let last = (from >= 10).then(|| Reply::json(200, change_at(11)));
            is_out.fetch_or(last.is_some(), Ordering::SeqCst);
            last
        },
        move |request| {
            let is_refused = refuses.load(Ordering::SeqCst) && request.path() != PODS_PATH;
            let again = request.path() == PODS_PATH && request.query("resourceVersion") == Some("1011");
            (is_refused || again).then(|| Reply::status(401, "Unauthorized", "Unauthorized"))
        },
    );
    let mut recorder = changing.record();
    let status = recorder.child.wait().unwrap();
    assert_eq!(status.code(), Some(1), "{:?}", recorder.said.lock().unwrap());
    let last = changing.lines();
    let deleted = last.iter().find(|line| line["type"] == "deleted");
    assert_eq!(deleted.map(|line| &line["object"]["metadata"]["name"]), Some(&json!("train-3")), "{last:?}");
}

/// Each run of a container once, however often its pod changes and the recorder is started, and one that is refused
/// keeps no other from being recorded.
#[test]
fn a_journal_holds_the_log_of_each_run_once() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let changing = Changing::with(
        |_| None,
        move |request| {
            if !request.path().ends_with("/log") {
                return None;
            }
            log.lock().unwrap().push(request.path().to_owned());
            if request.path().contains("/train-1/") {
                return Some(Reply::status(403, "Forbidden", "no logs for you"));
            }
            Some(Reply::new(200, "text/plain").then("password=hunter2 is wrong\n"))
        },
    );
    let mut recorder = changing.record_with(&["--logs"]);
    let is_log_of = |name: String| move |line: &Value| line["kind"] == "Log" && line["pod"] == *name;
    for number in [0, 2, PODS - 2] {
        changing.await_line(&mut recorder, is_log_of(format!("train-{number}")));
    }
    recorder.end_well();
    let before = asked.lock().unwrap().len();
    let mut recorder = changing.record_with(&["--logs"]);
    changing.await_line(&mut recorder, |line| line["notRecordedSince"].is_string());
    recorder.end_well();
    let logs: Vec<Value> = changing.lines().into_iter().filter(|line| line["kind"] == "Log").collect();
    let mut pods: Vec<&str> = logs.iter().map(|log| log["pod"].as_str().unwrap()).collect();
    pods.sort_unstable();
    let count = pods.len();
    pods.dedup();
    assert_eq!(pods.len(), count, "twice: {pods:?}");
    assert!(before <= PODS as usize, "{before}");
    assert!(logs.iter().all(|log| log["text"] == "password=(hidden) is wrong\n"));
    let refused = changing.lines().into_iter().filter_map(|line| line["sources"].as_array().cloned()).flatten();
    assert!(refused.into_iter().any(|source| source["resource"] == "pods/log" && source["state"] == "denied"));
}

/// As a reading of the cluster leaves it out, and says so.
#[test]
fn what_cannot_be_read_is_left_out_counted_and_named() {
    let bad = || {
        let mut bad = pod("ml", "odd", "train");
        bad["status"]["containerStatuses"] = "none".into();
        bad
    };
    let api = FakeApi::start(move |request| match request.path() {
        "/api/v1/namespaces/ml/pods" => list_at("Pod", "v1", 0, &[pod("ml", "train-0", "train"), bad()]),
        _ => world(request),
    });
    let home = Home::of(&api);
    run(&home, &["record", "-n", "ml", "-o", "now.jsonl"]).says(0, &["1 object could not be read", "ml/odd"]);
    let text = std::fs::read_to_string(home.path().join("now.jsonl")).unwrap();
    assert!(!text.contains("\"name\":\"odd\""), "{text}");
    run(&home, &["failures", "-f", "now.jsonl", "--exit-code"]).says(4, &["ml/odd"]);
    // The same where it becomes so while it is watched.
    let changing = Changing::start(|from| {
        let mut odd = pod_at(0, 2);
        (odd["kind"], odd["apiVersion"]) = ("Pod".into(), "v1".into());
        odd["status"]["containerStatuses"] = "none".into();
        odd["metadata"]["resourceVersion"] = "1050".into();
        let line = format!("{}\n", json!({"type": "MODIFIED", "object": odd}));
        (from >= 20).then(|| Reply::json(200, line).then_wait_until_stopped())
    });
    let mut recorder = changing.record();
    changing.await_line(&mut recorder, |line| {
        let pods = line["sources"].as_array().and_then(|all| all.iter().find(|source| source["resource"] == "pods"));
        pods.is_some_and(|pods| pods["skipped"] == 1 && pods["state"] == "unreadable")
    });
    assert!(recorder.said.lock().unwrap().iter().any(|line| line.contains("pods ml/train-0 cannot be read")));
    recorder.end_well();
}

/// Pipes stand for devices: no test touches a real one.
#[test]
fn what_is_no_regular_file_is_not_written_over() {
    let api = FakeApi::start(|request| match request.path() {
        "/apis/batch/v1/namespaces/nosuch/jobs" => list_at("Job", "batch/v1", 0, &[]),
        "/api/v1/namespaces/nosuch/pods" => list_at("Pod", "v1", 0, &[]),
        _ => world(request),
    });
    let home = Home::of(&api);
    assert!(Command::new("mkfifo").arg(home.path().join("pipe")).status().unwrap().success());
    for more in [&["--force"][..], &["--follow"]] {
        let ran = run(&home, &[&["record", "-n", "ml", "-o", "pipe"], more].concat());
        ran.says(2, &["pipe is no regular file"]);
    }
    let left: Vec<_> = home.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    run(&home, &["record", "-n", "nosuch", "-o", "now.jsonl"]).says(0, &["nothing is in namespace nosuch"]);
    let ran = run(&home, &["record", "-n", "ml", "-o", "nowhere/now.jsonl"]);
    ran.says(1, &["cannot write nowhere/now.jsonl: No such file"]);
    assert_eq!(ran.stderr.matches("os error").count(), 1, "{ran:?}");
}

#[test]
fn a_second_recorder_of_a_journal_is_refused() {
    let changing = Changing::start(|_| None);
    let mut recorder = changing.record();
    changing.await_lines(&mut recorder, 2);
    let ran = run(&changing.home, &["record", "-A", "--follow", "-o", "journal/journal.jsonl"]);
    ran.says(1, &["is being written by another recorder"]);
    let ran = run(&changing.home, &["record", "-n", "ml", "--follow", "-o", "nowhere/journal.jsonl"]);
    ran.says(1, &["cannot write nowhere/journal.jsonl: there is no folder nowhere"]);
    recorder.end_well();
}
