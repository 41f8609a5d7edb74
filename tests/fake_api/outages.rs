//! Servers that are away and come back: what they answer before they are ready is not believed, and what was given up is
//! asked for again.

use std::time::Duration;

use serde_json::json;
use sigapps::source::Resource;
use sigapps::source::cluster::{Interest, Pace, Told, Watch};

use super::watches::{error, event, follow_at, from, hurried, job, jobs, of_jobs, open};
use crate::support::{FakeApi, Home, Reply, Request};

/// More tries than a refusal is granted, and as many as a version.
const LONG: usize = 12;

#[test]
fn a_server_that_was_away_for_long_has_its_time_to_be_ready() {
    for refusal in [|| Reply::status(403, "Forbidden", "clusterrole not found"), Reply::no_such_path] {
        let api = FakeApi::start(move |request| match from(request) {
            None => jobs(7, &[job("a", 3)]),
            Some(7) if request.nth == 1 => Reply::json(200, event("MODIFIED", &job("a", 8))),
            Some(8) if request.nth <= LONG => Reply::dropped(),
            Some(8) if request.nth <= LONG + 3 => refusal(),
            Some(8) => open(event("MODIFIED", &job("a", 9))),
            other => panic!("{other:?}"),
        });
        let followed = follow_at(hurried(), &Home::of(&api), &of_jobs(), "Set a 9");
        assert_eq!(followed.told, ["Listed a 3", "synced", "Set a 8", "Set a 9"]);
    }
}

#[test]
fn a_right_that_is_taken_away_is_believed_in_the_end() {
    let api = FakeApi::start(|request| match from(request) {
        None => jobs(7, &[job("a", 3)]),
        Some(7) => Reply::json(200, event("MODIFIED", &job("a", 8))),
        Some(8) => Reply::status(403, "Forbidden", "no more"),
        other => panic!("{other:?}"),
    });
    let followed = follow_at(hurried(), &Home::of(&api), &of_jobs(), "Denied");
    assert!(followed.told[3].contains("no more"), "{:?}", followed.told);
}

/// A server that does not serve Jobs any more, until the list is asked for so many times more.
fn away_for(lists: usize) -> FakeApi {
    FakeApi::start(move |request| match from(request) {
        None if request.nth == 1 => jobs(7, &[job("a", 3)]),
        None if request.nth <= 1 + lists => Reply::no_such_path(),
        None => jobs(20, &[job("a", 3)]),
        Some(7) => Reply::no_such_path(),
        Some(_) => open(event("MODIFIED", &job("a", 21))),
    })
}

#[test]
fn objects_of_a_resource_that_is_not_served_are_gone_only_after_a_second_look() {
    let soon_back = follow_at(hurried(), &Home::of(&away_for(0)), &of_jobs(), "Set a 21").told;
    assert_eq!(soon_back.len(), 5, "{soon_back:?}");
    assert!(soon_back[2].starts_with("NotInstalled"), "{soon_back:?}");
    assert_eq!(soon_back[3..], ["synced anew", "Set a 21"]);
    let late = follow_at(hurried(), &Home::of(&away_for(3)), &of_jobs(), "Set a 21").told;
    assert!(late[2].starts_with("NotInstalled"), "{late:?}");
    assert_eq!(late[3..], ["Missed a unseen", "Set a 3", "synced anew", "Set a 21"], "told once each");
}

#[test]
fn what_is_installed_or_allowed_later_is_followed_from_then_on() {
    let object = || {
        let mut object = job("a", 3);
        (object["kind"], object["apiVersion"]) = ("Job".into(), "batch/v1".into());
        object
    };
    let answers: [fn(&Request) -> Option<Reply>; 2] = [
        |request| (request.path().ends_with("/jobset.x-k8s.io") && request.nth <= 2).then(Reply::no_such_path),
        |request| {
            (request.path().ends_with("/jobsets") && request.nth <= 2).then(|| Reply::status(403, "Forbidden", "no"))
        },
    ];
    for (answer, state) in answers.into_iter().zip(["NotInstalled", "Denied"]) {
        let api = FakeApi::start(move |request| match (answer(request), request.path()) {
            (Some(reply), _) => reply,
            (None, "/apis/jobset.x-k8s.io") => {
                let version = json!({"groupVersion": "jobset.x-k8s.io/v1", "version": "v1"});
                Reply::json(200, json!({"kind": "APIGroup", "preferredVersion": version}).to_string())
            }
            _ if from(request).is_none() => jobs(7, &[object()]),
            _ => open(""),
        });
        let job_sets = Interest::all(Resource::JobSets, Some("ml"));
        let home = Home::of(&api);
        let mut talk = |_: &str| {};
        let mut watch = Watch::open(&home.environment, &home.connection, 500, &mut talk).unwrap();
        watch.set_pace(hurried());
        watch.add(job_sets);
        let told: Vec<String> = (0..3)
            .map(|_| match watch.next(Some(Duration::from_secs(60))).unwrap() {
                Told::Ended { source, .. } => format!("{:?}", source.state),
                Told::Change(change) => format!("{:?}", change.kind),
                Told::Synced { anew, .. } => format!("synced {anew}"),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(told, [state, "Listed", "synced false"]);
    }
}

#[test]
fn a_server_that_takes_its_time_to_refuse_a_version_is_not_asked_for_it_for_ever() {
    let api = FakeApi::start(|request| match from(request) {
        None if request.nth == 1 => jobs(7, &[job("a", 3)]),
        None => jobs(9, &[job("a", 8)]),
        Some(7) => {
            // The server's own pace.
            std::thread::sleep(Duration::from_millis(30));
            Reply::status(504, "Timeout", "Too large resource version")
        }
        Some(9) => open(""),
        other => panic!("{other:?}"),
    });
    let pace = Pace { a_while: Duration::from_millis(5), ..hurried() };
    let followed = follow_at(pace, &Home::of(&api), &of_jobs(), "synced anew");
    assert_eq!(followed.told, ["Listed a 3", "synced", "Set a 8", "synced anew"]);
}

#[test]
fn a_last_line_without_its_end_is_taken_where_it_is_whole() {
    let api = FakeApi::start(|request| match from(request) {
        None => jobs(7, &[]),
        Some(7) => Reply::json(200, event("ADDED", &job("a", 8)).trim_end()),
        Some(8) if request.nth == 1 => Reply::json(200, &event("ADDED", &job("b", 9))[..40]),
        Some(8) => open(event("ADDED", &job("b", 9))),
        other => panic!("{other:?}"),
    });
    let followed = follow_at(hurried(), &Home::of(&api), &of_jobs(), "Set b");
    assert_eq!(followed.told, ["synced", "Set a 8", "Set b 9"]);
}

#[test]
fn a_watch_that_brings_nothing_but_errors_is_told_once() {
    let api = FakeApi::start(|request| match from(request) {
        None => jobs(7, &[]),
        Some(7) if request.nth <= LONG => Reply::json(200, error(500, "InternalError")),
        Some(7) => open(event("ADDED", &job("a", 8))),
        other => panic!("{other:?}"),
    });
    let followed = follow_at(hurried(), &Home::of(&api), &of_jobs(), "Set a");
    assert_eq!(followed.told.last().unwrap(), "Set a 8");
    let said = |part: &str| followed.said.iter().filter(|line| line.contains(part)).count();
    assert_eq!((said("was cut"), said("answers again")), (1, 1), "{:?}", followed.said);
}

#[test]
fn while_the_server_is_away_it_is_known_since_when() {
    let api = FakeApi::start(|request| match from(request) {
        None => jobs(7, &[]),
        Some(7) if request.nth == 1 => Reply::json(200, event("ADDED", &job("a", 8))),
        Some(8) if request.nth == 1 => Reply::dropped(),
        Some(8) => open(event("ADDED", &job("b", 9))),
        other => panic!("{other:?}"),
    });
    let home = Home::of(&api);
    let mut talk = |_: &str| {};
    let mut watch = Watch::open(&home.environment, &home.connection, 500, &mut talk).unwrap();
    let pause = Duration::from_millis(400);
    watch.set_pace(Pace { pause, longest_pause: pause, ..hurried() });
    watch.add(of_jobs());
    let mut was_away = false;
    loop {
        let told = watch.next(Some(Duration::from_millis(1))).unwrap();
        was_away |= watch.silent_for().is_some();
        if matches!(told, Told::Change(change) if change.version == "9") {
            break;
        }
    }
    assert!(was_away, "nothing was heard of it for a while");
    assert_eq!(watch.silent_for(), None);
}

#[cfg(unix)]
mod tokens {
    use super::super::watches::tokens::{HERE, bearer, expired, first_token_alone, home, runs};
    use super::*;
    use crate::support::tls::Authority;

    #[test]
    fn a_plugin_that_fails_after_an_outage_is_run_again() {
        let authority = Authority::new();
        let api = FakeApi::start_tls(authority.server(&[HERE]), |request| match (bearer(request), from(request)) {
            (1, None) => jobs(7, &[]),
            (1, Some(7)) => Reply::json(200, event("ADDED", &job("a", 8))),
            (1, Some(8)) if request.nth <= LONG => Reply::dropped(),
            (3, Some(8)) => open(event("ADDED", &job("b", 9))),
            _ => expired(),
        });
        let home = home(&api, &authority);
        home.write(".kube/fails-2", "");
        let followed = follow_at(hurried(), &home, &of_jobs(), "Set b");
        assert_eq!(followed.told, ["synced", "Set a 8", "Set b 9"]);
        assert_eq!(runs(&home), 3);
    }

    #[test]
    fn a_plugin_that_hangs_holds_up_nothing() {
        let authority = Authority::new();
        let api = FakeApi::start_tls(authority.server(&[HERE]), first_token_alone);
        let home = home(&api, &authority);
        home.write(".kube/hangs-2", "");
        let mut talk = |_: &str| {};
        let mut watch = Watch::open(&home.environment, &home.connection, 500, &mut talk).unwrap();
        watch.set_pace(hurried());
        watch.add(of_jobs());
        while !home.path().join(".kube/runs").exists() || runs(&home) < 2 {
            watch.next(Some(Duration::from_millis(10))).unwrap();
        }
        // With the plugin waiting ten minutes, this comes back.
        assert!(matches!(watch.next(Some(Duration::from_millis(10))).unwrap(), Told::Nothing));
    }
}
