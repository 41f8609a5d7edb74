//! `failures --watch` and `explain --watch` against a server on which things change.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::cluster::Ran;
use crate::support::objects::{items, job, pod, world};
use crate::support::{FakeApi, Home, Reply, Request};

const PODS: &str = "/api/v1/namespaces/ml/pods";

fn command(home: &Home, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-sigapps"));
    command.args(arguments).env_clear().env("HOME", home.path()).env("COLUMNS", "200");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A run that goes on until it is interrupted.
struct Running {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    _home: Home,
}

impl Running {
    fn start(home: Home, arguments: &[&str]) -> Self {
        let mut child = command(&home, arguments).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines, _home: home }
    }

    /// The next line on standard output; a test that waits for one in vain is ended from outside.
    #[track_caller]
    fn line(&mut self) -> String {
        if let Some(line) = self.lines.next() {
            return line.unwrap();
        }
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        panic!("it has ended: {:?} {said}", self.child.wait());
    }

    #[track_caller]
    fn json(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// Ends it as Ctrl-C does, and tells what it had not been asked for.
    #[track_caller]
    fn interrupt(self) -> Vec<String> {
        Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        let rest: Vec<String> = self.lines.map(Result::unwrap).collect();
        let ran = Ran::of(self.child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(130), "{ran:?}");
        rest
    }
}

fn failed(name: &str, version: usize) -> Value {
    let mut pod = pod("ml", name, "train");
    pod["metadata"]["uid"] = name.into();
    pod["metadata"]["resourceVersion"] = version.to_string().into();
    pod
}

fn event(kind: &str, pod: &Value) -> String {
    let mut pod = pod.clone();
    pod["kind"] = "Pod".into();
    pod["apiVersion"] = "v1".into();
    format!("{}\n", json!({"type": kind, "object": pod}))
}

fn listed(pods: &[Value]) -> Reply {
    let items = items(pods);
    Reply::json(
        200,
        format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"9"}},"items":[{items}]}}"#),
    )
}

/// The small cluster of a Job and a failed pod, whose pods are watched as `pods` says.
fn serving(pods: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> FakeApi {
    FakeApi::start(move |request| match (request.path(), request.query("watch")) {
        (PODS, Some(_)) => pods(request),
        (PODS, None) => listed(&[failed("train-0", 7)]),
        (_, Some(_)) => Reply::json(200, "").then_wait_until_stopped(),
        _ => world(request),
    })
}

fn then(lines: String) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    move |_| Reply::json(200, lines.clone()).then_wait_until_stopped()
}

#[test]
fn failures_are_told_one_by_one_and_each_change_once() {
    let unchanged = event("MODIFIED", &failed("train-0", 11));
    let api = serving(then(event("ADDED", &failed("train-1", 10)) + &unchanged));
    let mut running = Running::start(Home::of(&api), &["failures", "-w", "-o", "jsonl"]);
    assert_eq!(running.json()["pod"], "train-0");
    assert_eq!(running.json()["pod"], "train-1");
    assert_eq!(running.interrupt(), Vec::<String>::new());
}

#[test]
fn what_is_there_in_the_beginning_may_be_left_out() {
    // One more pod with each watch: one that comes before all is read is part of the beginning.
    let api = serving(|request| {
        let version: usize = request.query("resourceVersion").unwrap().parse().unwrap();
        Reply::json(200, event("ADDED", &failed(&format!("train-{version}"), version + 1)))
    });
    let mut running = Running::start(Home::of(&api), &["failures", "--watch-only", "-o", "jsonl"]);
    assert_ne!(running.json()["pod"], "train-0");
    running.interrupt();
}

#[test]
fn each_list_is_read_once_whatever_changes() {
    let api = serving(then(event("ADDED", &failed("train-1", 10))));
    let mut running = Running::start(Home::of(&api), &["failures", "-w", "-o", "jsonl"]);
    running.line();
    running.line();
    running.interrupt();
    let mut lists: Vec<String> = api.asked().into_iter().filter(|target| !target.contains("watch=true")).collect();
    let all = lists.len();
    lists.sort();
    lists.dedup();
    // Of an API group each resource asks by itself.
    assert!(lists.iter().all(|list| list.contains("/namespaces/") || list.starts_with("/apis/")), "{lists:?}");
    let again = all - lists.len();
    assert!(again <= 4, "{again} requests were made again: {:?}", api.asked());
}

#[test]
fn a_burst_of_changes_makes_few_reports_and_loses_nothing() {
    let burst: String =
        (1..=1000).map(|number| event("ADDED", &failed(&format!("train-{number}"), 10 + number))).collect();
    let api = serving(then(burst));
    let mut running = Running::start(Home::of(&api), &["failures", "-w"]);
    let mut reports = 0;
    loop {
        let line = running.line();
        reports += usize::from(line.contains(" read)"));
        if line.contains("1001 failures in ") {
            break;
        }
    }
    running.interrupt();
    assert!(reports < 100, "{reports}");
}

#[test]
fn without_a_terminal_a_table_is_printed_behind_the_one_before() {
    let api = serving(then(event("ADDED", &failed("train-1", 10))));
    let mut running = Running::start(Home::of(&api), &["failures", "--watch"]);
    while !running.line().contains("1 failure in ") {}
    let mut before = String::new();
    loop {
        let line = running.line();
        if line.contains("2 failures in ") {
            break;
        }
        before = line;
    }
    assert_eq!(before, "", "an empty line stands between two reports");
    let rest = running.interrupt();
    assert!(rest.iter().all(|line| !line.contains('\x1b')), "{rest:?}");
}

#[test]
fn an_explanation_is_told_anew_when_it_has_changed() {
    // Another Job's pod changes nothing of it.
    let mut other = failed("other-0", 10);
    other["metadata"]["ownerReferences"][0]["name"] = "other".into();
    other["metadata"]["ownerReferences"][0]["uid"] = "other".into();
    other["metadata"]["labels"]["batch.kubernetes.io/job-name"] = "other".into();
    let failing = |request: &Request| -> Reply {
        let mut job = job("ml", "train");
        job["metadata"]["resourceVersion"] = "12".into();
        job["status"]["conditions"] = json!([{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]);
        let mut object = job;
        object["kind"] = "Job".into();
        object["apiVersion"] = "batch/v1".into();
        let line = format!("{}\n", json!({"type": "MODIFIED", "object": object}));
        assert_eq!(request.query("watch"), Some("true"));
        // Only after the other Job's pod was told.
        Reply::json(200, "").then_wait_until_asked("resourceVersion=10").then(line).then_wait_until_stopped()
    };
    let api = FakeApi::start(move |request| match (request.path(), request.query("watch")) {
        (PODS, None) => listed(&[failed("train-0", 7)]),
        (PODS, Some(_)) if request.query("resourceVersion") == Some("9") => Reply::json(200, event("ADDED", &other)),
        ("/apis/batch/v1/namespaces/ml/jobs", Some(_)) => failing(request),
        (_, Some(_)) => Reply::json(200, "").then_wait_until_stopped(),
        _ => world(request),
    });
    let mut running = Running::start(Home::of(&api), &["explain", "job/train", "-w", "-o", "jsonl"]);
    let first = running.json();
    assert_eq!((&first["kind"], &first["subject"]["name"]), (&json!("Explanation"), &json!("train")));
    let second = running.json();
    assert_eq!(second["state"], "failed", "{second:#}");
    assert_eq!(running.interrupt(), Vec::<String>::new());
}

#[test]
fn a_watch_that_is_denied_is_told_and_without_pods_there_is_none() {
    let api = serving(|_| Reply::status(403, "Forbidden", "cannot watch pods"));
    let ran = Ran::of(command(&Home::of(&api), &["failures", "-w", "-o", "jsonl"]).output().unwrap());
    ran.says(1, &["cannot watch pods", "get, list, watch"]);
}

#[test]
fn what_is_not_there_is_an_error() {
    let api = serving(then(String::new()));
    let home = Home::of(&api);
    for arguments in [&["failures", "job/trian", "-w"][..], &["explain", "job/trian", "-w"]] {
        let ran = Ran::of(command(&home, arguments).output().unwrap());
        ran.says(1, &["job/trian is not in the data; did you mean ", "train?"]);
    }
}

#[test]
fn what_cannot_be_watched_is_wrong_usage() {
    let api = serving(then(String::new()));
    let home = Home::of(&api);
    for (arguments, part) in [
        (&["failures", "-w", "-f", "x.json"][..], "--watch is for a cluster"),
        (&["explain", "job/a", "--watch-only", "-f", "x.json"], "--watch is for a cluster"),
        (&["failures", "-w", "--exit-code"], "leave out --watch"),
    ] {
        Ran::of(command(&home, arguments).output().unwrap()).says(2, &[part]);
    }
    assert_eq!(api.asked().len(), 0);
}
