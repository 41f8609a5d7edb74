//! Watches that break in all the ways that watches do: no change is missed, and none told twice.

use std::time::Duration;

use serde_json::{Value, json};
use sigapps::source::Resource;
use sigapps::source::cluster::{ChangeKind, ClusterError, Interest, Pace, Told, Watch};

use crate::support::objects::list;
use crate::support::{FakeApi, Home, Reply, Request};

const JOBS: &str = "/apis/batch/v1/namespaces/ml/jobs";
/// Longer than anything takes: then a test fails.
const LONGEST: Duration = Duration::from_secs(60);

pub(super) fn job(name: &str, version: u32) -> Value {
    json!({"metadata": {"name": name, "namespace": "ml", "uid": name, "resourceVersion": version.to_string()}})
}

pub(super) fn event(kind: &str, object: &Value) -> String {
    let mut object = object.clone();
    object["kind"] = "Job".into();
    object["apiVersion"] = "batch/v1".into();
    format!("{}\n", json!({"type": kind, "object": object}))
}

pub(super) fn bookmark(version: u32) -> String {
    event("BOOKMARK", &json!({"metadata": {"resourceVersion": version.to_string()}}))
}

/// An error in the middle of a watch.
pub(super) fn error(code: u16, reason: &str) -> String {
    let status = json!({"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": "no more"});
    format!("{}\n", json!({"type": "ERROR", "object": status}))
}

pub(super) fn jobs(version: u32, jobs: &[Value]) -> Reply {
    let head = json!({"resourceVersion": version.to_string()});
    let items = crate::support::objects::items(jobs);
    Reply::json(200, format!(r#"{{"kind":"JobList","apiVersion":"batch/v1","metadata":{head},"items":[{items}]}}"#))
}

/// The version that a watch is asked to go on from; `None` for a list.
pub(super) fn from(request: &Request) -> Option<u32> {
    request.query("watch")?;
    assert_eq!(request.query("allowWatchBookmarks"), Some("true"), "{}", request.target);
    Some(request.query("resourceVersion").unwrap().parse().unwrap())
}

/// A watch on which nothing more comes.
pub(super) fn open(lines: impl Into<String>) -> Reply {
    Reply::json(200, lines).then_wait_until_stopped()
}

/// Tries follow each other at once.
pub(super) fn hurried() -> Pace {
    let soon = Duration::from_millis(4);
    Pace { pause: soon, longest_pause: soon, again: soon, longest_again: soon, ..Pace::default() }
}

/// What a watch of the Jobs tells, up to the line `until`, and what it says to the user.
pub(super) struct Followed {
    pub(super) told: Vec<String>,
    pub(super) said: Vec<String>,
    pub(super) error: Option<ClusterError>,
}

pub(super) fn told(told: Told) -> String {
    match told {
        Told::Change(change) => {
            let object: Value = serde_json::from_slice(&change.object).unwrap();
            assert_eq!((&object["kind"], &object["apiVersion"]), (&json!("Job"), &json!("batch/v1")));
            assert_eq!(change.resource, Resource::Jobs);
            let name = object["metadata"]["name"].as_str().unwrap();
            let version = if change.kind == ChangeKind::Missed { "unseen" } else { &change.version };
            format!("{:?} {name} {version}", change.kind)
        }
        Told::Synced { anew, .. } => if anew { "synced anew" } else { "synced" }.to_owned(),
        Told::Version { version, .. } => format!("up to {version}"),
        Told::Ended { source, error, .. } => format!("{:?}: {error}", source.state),
        Told::Nothing => panic!("nothing came"),
        Told::Interrupted => panic!("interrupted"),
    }
}

pub(super) fn follow(home: &Home, interest: &Interest, until: &str) -> Followed {
    follow_with(home, interest, until, |_| ())
}

/// The same, at another pace.
pub(super) fn follow_at(pace: Pace, home: &Home, interest: &Interest, until: &str) -> Followed {
    follow_as(pace, home, interest, until, |_| ())
}

/// The same, with something done after each thing told.
pub(super) fn follow_with(home: &Home, interest: &Interest, until: &str, after: impl FnMut(&str)) -> Followed {
    follow_as(Pace::default(), home, interest, until, after)
}

fn follow_as(pace: Pace, home: &Home, interest: &Interest, until: &str, mut after: impl FnMut(&str)) -> Followed {
    let mut said = Vec::new();
    let (mut all, mut error) = (Vec::new(), None);
    {
        let mut talk = |line: &str| said.push(line.to_owned());
        let mut watch = Watch::open(&home.environment, &home.connection, 500, &mut talk).unwrap();
        watch.set_pace(pace);
        watch.add(interest.clone());
        while !all.last().is_some_and(|last: &String| last.starts_with(until)) && error.is_none() {
            match watch.next(Some(LONGEST)) {
                Ok(next) => {
                    all.push(told(next));
                    after(all.last().unwrap());
                }
                Err(failed) => error = Some(failed),
            }
        }
    }
    Followed { told: all, said, error }
}

pub(super) fn of_jobs() -> Interest {
    Interest::all(Resource::Jobs, Some("ml"))
}

#[test]
fn what_is_there_is_told_then_each_change_however_the_lines_are_cut() {
    let api = FakeApi::start(|request| {
        if from(request).is_none() {
            return jobs(7, &[job("a", 3), job("b", 4)]);
        }
        let lines = event("ADDED", &job("c", 8)) + &bookmark(20) + "\n" + &event("MODIFIED", &job("a", 21));
        let mut reply = Reply::json(200, "");
        for part in lines.as_bytes().chunks(7) {
            reply = reply.then(String::from_utf8(part.to_vec()).unwrap());
        }
        reply.then(event("DELETED", &job("b", 22))).then_wait_until_stopped()
    });
    let followed = follow(&Home::of(&api), &of_jobs(), "Deleted b");
    let expected = ["Listed a 3", "Listed b 4", "synced", "Set c 8", "up to 20", "Set a 21", "Deleted b 22"];
    assert_eq!(followed.told, expected);
    assert!(followed.said.is_empty(), "{:?}", followed.said);
    let asked = api.asked();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked[1].contains("resourceVersion=7") && asked[1].contains("timeoutSeconds="), "{asked:?}");
}

#[test]
fn one_object_is_listed_and_watched_by_its_name() {
    let api = FakeApi::start(|request| {
        assert_eq!(request.query("fieldSelector"), Some("metadata.name=a"));
        if from(request).is_none() { jobs(7, &[job("a", 3)]) } else { open(event("MODIFIED", &job("a", 8))) }
    });
    let interest = Interest::named(Resource::Jobs, Some("ml"), "a");
    assert_eq!(follow(&Home::of(&api), &interest, "Set a 8").told, ["Listed a 3", "synced", "Set a 8"]);
}

#[test]
fn a_connection_that_drops_in_the_middle_of_a_line_is_taken_up_behind_the_last_whole_one() {
    let api = FakeApi::start(|request| match from(request) {
        None => jobs(7, &[job("a", 3)]),
        Some(7) => {
            let torn = event("MODIFIED", &job("a", 9));
            Reply::json(200, event("MODIFIED", &job("a", 8)) + &torn[..torn.len() / 2]).then_cut()
        }
        // Dropped once more, without an answer.
        Some(8) if request.nth == 1 => Reply::dropped(),
        Some(8) => open(event("MODIFIED", &job("a", 9))),
        other => panic!("{other:?}"),
    });
    let followed = follow(&Home::of(&api), &of_jobs(), "Set a 9");
    assert_eq!(followed.told, ["Listed a 3", "synced", "Set a 8", "Set a 9"]);
    assert!(followed.said[0].contains("was cut") && followed.said[0].contains("trying again"), "{:?}", followed.said);
    assert!(followed.said.iter().filter(|line| line.contains("was cut")).count() <= 2, "{:?}", followed.said);
}

#[test]
fn a_watch_that_its_server_ends_is_taken_up_without_a_word() {
    let api = FakeApi::start(|request| match from(request) {
        None => jobs(7, &[]),
        Some(7) => Reply::json(200, bookmark(15)),
        Some(15) => open(event("ADDED", &job("a", 16))),
        other => panic!("{other:?}"),
    });
    let followed = follow(&Home::of(&api), &of_jobs(), "Set a");
    assert_eq!(followed.told, ["synced", "up to 15", "Set a 16"]);
    assert!(followed.said.is_empty(), "{:?}", followed.said);
}

/// What a second list tells where the first was of `a`, `b` and `c`: `b` is gone, `c` was changed, `d` is new.
fn after_expiry(expire: fn() -> Reply) {
    let api = FakeApi::start(move |request| match from(request) {
        None if request.nth == 1 => jobs(7, &[job("a", 3), job("b", 4), job("c", 5)]),
        None => jobs(100, &[job("a", 3), job("c", 50), job("d", 60)]),
        Some(7) => expire(),
        Some(100) => open(event("MODIFIED", &job("a", 101))),
        other => panic!("{other:?}"),
    });
    let followed = follow(&Home::of(&api), &of_jobs(), "Set a");
    let expected = [
        "Listed a 3",
        "Listed b 4",
        "Listed c 5",
        "synced",
        "Set c 50",
        "Set d 60",
        "Missed b unseen",
        "synced anew",
        "Set a 101",
    ];
    assert_eq!(followed.told, expected);
    assert!(followed.said.is_empty(), "{:?}", followed.said);
}

#[test]
fn a_version_that_expired_is_answered_with_410_and_the_difference_is_told() {
    after_expiry(|| Reply::status(410, "Expired", "too old resource version"));
}

#[test]
fn a_410_without_a_status_is_one_as_well() {
    after_expiry(|| Reply::new(410, "text/plain").then("gone"));
}

#[test]
fn a_version_that_expires_during_the_watch_comes_as_an_event() {
    after_expiry(|| open(error(410, "Gone")));
}

#[test]
fn another_error_during_the_watch_is_no_reason_to_list_anew() {
    let api = FakeApi::start(|request| match from(request) {
        None if request.nth == 1 => jobs(7, &[]),
        Some(7) if request.nth == 1 => Reply::json(200, error(500, "InternalError")),
        Some(7) => open(event("ADDED", &job("a", 8))),
        _ => panic!("{}", request.target),
    });
    let followed = follow(&Home::of(&api), &of_jobs(), "Set a");
    assert_eq!(followed.told, ["synced", "Set a 8"]);
    assert!(followed.said[0].contains("no more"), "{:?}", followed.said);
}

#[test]
fn a_version_that_brings_nothing_but_errors_is_given_up_for_a_new_list() {
    let api = FakeApi::start(|request| match from(request) {
        None if request.nth == 1 => jobs(7, &[job("a", 3)]),
        None => jobs(9, &[job("a", 8)]),
        Some(7) => Reply::status(504, "Timeout", "Too large resource version"),
        Some(9) => open(""),
        other => panic!("{other:?}"),
    });
    let followed = follow(&Home::of(&api), &of_jobs(), "synced anew");
    assert_eq!(followed.told, ["Listed a 3", "synced", "Set a 8", "synced anew"]);
}

#[test]
fn lines_that_are_no_events_are_an_error_of_the_server() {
    let api = FakeApi::start(|request| match from(request) {
        None => jobs(7, &[]),
        Some(7) if request.nth == 1 => Reply::json(200, "<html>bad gateway</html>\n"),
        Some(7) => open(event("ADDED", &job("a", 8))),
        other => panic!("{other:?}"),
    });
    let followed = follow(&Home::of(&api), &of_jobs(), "Set a");
    assert!(followed.said[0].contains("bad gateway"), "{:?}", followed.said);
}

#[test]
fn a_connection_on_which_nothing_comes_is_given_up_in_time() {
    let api = FakeApi::start(|request| match from(request) {
        None => jobs(7, &[]),
        // Half open: the server thinks that it told it.
        Some(7) if request.nth % 2 == 1 => Reply::json(200, bookmark(7)).then_wait_until_stopped(),
        Some(7) => open(event("ADDED", &job("a", 8))),
        other => panic!("{other:?}"),
    });
    let mut home = Home::of(&api);
    let silence = Duration::from_millis(300);
    let after_bookmarks = follow_at(Pace { silence, ..hurried() }, &home, &of_jobs(), "Set a");
    assert_eq!(after_bookmarks.told.last().unwrap(), "Set a 8");
    home.connection.request_timeout = Some(Duration::from_millis(300));
    let followed = follow(&home, &of_jobs(), "Set a");
    assert_eq!(followed.told.last().unwrap(), "Set a 8");
}

#[test]
fn a_watch_that_its_server_does_not_end_when_it_should_is_given_up() {
    let api = FakeApi::start(|request| match from(request) {
        None => jobs(7, &[]),
        // No bookmark, ever: silence alone says nothing.
        Some(7) if request.nth == 1 => open(""),
        Some(7) => open(event("ADDED", &job("a", 8))),
        other => panic!("{other:?}"),
    });
    let (open, grace) = (Duration::from_millis(100), Duration::from_millis(100));
    let followed = follow_at(Pace { open, grace, ..hurried() }, &Home::of(&api), &of_jobs(), "Set a");
    assert_eq!(followed.told, ["synced", "Set a 8"]);
}

#[test]
fn a_server_that_stops_and_comes_back_is_watched_on() {
    let first = FakeApi::start(|request| match from(request) {
        None => jobs(7, &[job("a", 3)]),
        Some(7) => open(event("MODIFIED", &job("a", 8))),
        other => panic!("{other:?}"),
    });
    let (port, home) = (first.port(), Home::of(&first));
    let (mut first, mut second) = (Some(first), None);
    let followed = follow_with(&home, &of_jobs(), "Set a 9", |told| {
        if told == "Set a 8" {
            drop(first.take());
            let _refused = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap_err();
            second = Some(FakeApi::start_at(port, |request| match from(request) {
                // It has just started and is not ready.
                Some(8) if request.nth < 3 => Reply::status(503, "ServiceUnavailable", "not ready"),
                Some(8) => open(event("MODIFIED", &job("a", 9))),
                other => panic!("{other:?}"),
            }));
        }
    });
    assert_eq!(followed.told, ["Listed a 3", "synced", "Set a 8", "Set a 9"]);
    assert_eq!(followed.said.len(), 2, "{:?}", followed.said);
    assert!(followed.said[0].contains("trying again until it answers"), "{:?}", followed.said);
    assert!(followed.said[1].contains("answers again"), "{:?}", followed.said);
}

#[test]
fn what_is_refused_for_a_moment_after_it_was_allowed_is_asked_for_again() {
    let api = FakeApi::start(|request| match from(request) {
        None => jobs(7, &[]),
        // A server that starts knows neither rights nor resources.
        Some(7) if request.nth == 1 => Reply::status(403, "Forbidden", "clusterrole not found"),
        Some(7) if request.nth == 2 => Reply::no_such_path(),
        Some(7) => open(event("ADDED", &job("a", 8))),
        other => panic!("{other:?}"),
    });
    assert_eq!(follow(&Home::of(&api), &of_jobs(), "Set a").told, ["synced", "Set a 8"]);
}

#[test]
fn what_may_be_listed_and_not_watched_is_told_with_the_verbs_that_it_takes() {
    let api = FakeApi::start(|request| match from(request) {
        None => jobs(7, &[job("a", 3)]),
        Some(_) => Reply::status(403, "Forbidden", "cannot watch resource \"jobs\""),
    });
    let followed = follow(&Home::of(&api), &of_jobs(), "Denied");
    assert!(followed.told[2].contains("get, list, watch"), "{:?}", followed.told);
    // At once, but for a second look: nothing says that the server has just started.
    assert_eq!(api.asked().len(), 3, "{:?}", api.asked());
}

#[test]
fn what_is_denied_or_not_installed_from_the_beginning_is_told_at_once() {
    let api = FakeApi::start(|request| match request.path() {
        JOBS => Reply::status(403, "Forbidden", "no"),
        _ => Reply::no_such_path(),
    });
    let home = Home::of(&api);
    let denied = follow(&home, &of_jobs(), "Denied");
    assert!(denied.told[0].contains("cannot be read in namespace \"ml\": no"), "{:?}", denied.told);
    let job_sets = Interest::all(Resource::JobSets, Some("ml"));
    assert!(follow(&home, &job_sets, "NotInstalled").told[0].contains("resource type \"jobsets\""));
    assert_eq!(api.asked().iter().filter(|target| target.contains("jobsets")).count(), 0);
}

#[test]
fn a_server_that_is_not_there_from_the_beginning_is_an_error() {
    let api = FakeApi::start(|_| Reply::no_such_path());
    let home = Home::of(&api);
    drop(api);
    let error = follow(&home, &of_jobs(), "never").error.unwrap();
    assert!(error.to_string().contains("was refused"), "{error}");
}

#[cfg(unix)]
pub(super) mod tokens {
    use super::*;
    use crate::support::tls::Authority;

    pub(crate) const HERE: &str = "0.0.0.0";

    /// A home whose credential plugin gives the tokens `token-1`, `token-2`, … one after the other.
    pub(crate) fn home(api: &FakeApi, authority: &Authority) -> Home {
        use std::os::unix::fs::PermissionsExt as _;
        let cluster = json!({"server": api.url(HERE), "certificate-authority-data": authority.base64()});
        let exec = json!({
            "apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin.sh", "interactiveMode": "Never",
        });
        let home = Home::with(&cluster, &json!({"exec": exec}));
        let script = r#"#!/bin/sh
            cd "$(dirname "$0")"; echo run >> runs; n=$(wc -l < runs | tr -d ' ')
            if [ -e "fails-$n" ]; then exit 1; fi
            if [ -e "hangs-$n" ]; then exec sleep 600; fi
            echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"token-'$n'"}}'"#;
        let path = home.write(".kube/plugin.sh", script);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        home
    }

    pub(crate) fn runs(home: &Home) -> usize {
        std::fs::read_to_string(home.path().join(".kube/runs")).unwrap().lines().count()
    }

    pub(crate) fn bearer(request: &Request) -> u32 {
        request.header("authorization").unwrap().strip_prefix("Bearer token-").unwrap().parse().unwrap()
    }

    pub(crate) fn expired() -> Reply {
        Reply::status(401, "Unauthorized", "Unauthorized")
    }

    /// A server that takes the first token for the list and for one change, and no other one.
    pub(crate) fn first_token_alone(request: &Request) -> Reply {
        match (bearer(request), from(request)) {
            (1, None) => jobs(7, &[]),
            (1, Some(7)) if request.nth == 1 => Reply::json(200, event("ADDED", &job("a", 8))),
            _ => expired(),
        }
    }

    #[test]
    fn a_token_that_expires_is_had_anew_from_its_plugin_each_time() {
        let authority = Authority::new();
        let api = FakeApi::start_tls(authority.server(&[HERE]), |request| match (bearer(request), from(request)) {
            (1, None) => jobs(7, &[]),
            (1, Some(7)) if request.nth == 1 => Reply::json(200, event("ADDED", &job("a", 8))),
            (2, Some(8)) => Reply::json(200, event("ADDED", &job("b", 9))),
            (3, Some(9)) => open(event("ADDED", &job("c", 10))),
            _ => expired(),
        });
        let home = home(&api, &authority);
        let followed = follow(&home, &of_jobs(), "Set c");
        assert_eq!(followed.told, ["synced", "Set a 8", "Set b 9", "Set c 10"]);
        assert_eq!(runs(&home), 3);
        assert!(followed.said.is_empty(), "{:?}", followed.said);
    }

    #[test]
    fn a_new_token_that_is_not_taken_either_ends_it() {
        let authority = Authority::new();
        let api = FakeApi::start_tls(authority.server(&[HERE]), first_token_alone);
        let home = home(&api, &authority);
        let error = follow(&home, &of_jobs(), "never").error.unwrap();
        assert!(error.to_string().contains("You must be logged in"), "{error}");
        assert_eq!(runs(&home), 2);
    }

    #[test]
    fn a_first_token_that_is_not_taken_is_an_error_at_once() {
        let authority = Authority::new();
        let api = FakeApi::start_tls(authority.server(&[HERE]), |_| expired());
        let home = home(&api, &authority);
        assert!(follow(&home, &of_jobs(), "never").error.is_some());
        assert_eq!((runs(&home), api.requests().len()), (1, 1));
    }
}

#[test]
fn a_list_that_expires_on_its_way_is_read_in_one_page() {
    let page = |more: &str, name: &str| list("Job", "batch/v1", more, &[job(name, 3)]);
    let api = FakeApi::start(move |request| {
        if from(request).is_some() {
            return open(event("ADDED", &job("d", 10)));
        }
        match (request.query("limit"), request.query("continue")) {
            (None, None) => jobs(9, &[job("a", 3), job("b", 3), job("c", 3)]),
            (_, None) => page("more", "a"),
            (_, Some("more")) => Reply::status_with(410, "Expired", "too old", &json!({"continue": "on"})),
            (_, Some("on")) => page("", "b"),
            other => panic!("{other:?}"),
        }
    });
    let followed = follow(&Home::of(&api), &of_jobs(), "Set d");
    assert_eq!(followed.told, ["Listed a 3", "Listed b 3", "Listed c 3", "synced", "Set d 10"]);
}
