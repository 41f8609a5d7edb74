//! Lists, page by page.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use sigapps::source::{Resource, SourceState};

use crate::support::objects::{head, items, job, list, pod, pods, world};
use crate::support::{FakeApi, Home, Reply, Request, source};

#[test]
fn all_sources_are_read_and_told_in_a_fixed_order() {
    let api = FakeApi::start(world);
    let home = Home::of(&api);
    let read = home.read();
    let snapshot = read.snapshot();
    let sources: Vec<_> = snapshot.sources.iter().map(|s| (s.resource.as_str(), s.state, s.objects)).collect();
    assert_eq!(
        sources,
        [
            ("jobs", SourceState::Read, 1),
            ("pods", SourceState::Read, 1),
            ("cronjobs", SourceState::Read, 0),
            ("jobsets", SourceState::NotInstalled, 0),
            ("events", SourceState::Read, 0),
            ("nodes", SourceState::NotAsked, 0),
            ("persistentvolumeclaims", SourceState::NotAsked, 0),
            ("volumesnapshots", SourceState::NotAsked, 0),
            ("podcheckpoints", SourceState::NotAsked, 0),
            ("podsnapshots", SourceState::NotAsked, 0),
            ("deployments", SourceState::Read, 0),
            ("replicasets", SourceState::Read, 0),
            ("statefulsets", SourceState::Read, 0),
            ("daemonsets", SourceState::Read, 0),
            ("controllerrevisions", SourceState::Read, 0),
            ("leaderworkersets", SourceState::NotInstalled, 0),
            ("disaggregatedsets", SourceState::NotInstalled, 0),
            ("sandboxes", SourceState::NotInstalled, 0),
            ("sandboxclaims", SourceState::NotInstalled, 0),
            ("sandboxwarmpools", SourceState::NotInstalled, 0),
            ("trainjobs", SourceState::NotInstalled, 0),
            ("workloads", SourceState::NotInstalled, 0),
        ]
    );
    assert!(snapshot.sources.iter().all(|source| source.cluster.as_deref() == Some("fake")));
    assert_eq!(snapshot.cluster.as_deref(), Some("fake"));
    assert_eq!((snapshot.jobs.len(), snapshot.pods.len()), (1, 1));
    assert_eq!(read.said, Vec::<String>::new());
    let mut asked = api.asked();
    asked.sort();
    assert_eq!(
        asked,
        [
            "/api/v1/events?fieldSelector=involvedObject.kind!=Pod,involvedObject.kind!=ReplicaSet,involvedObject.kind!=Node&limit=500",
            "/api/v1/pods?limit=500",
            "/apis/agents.x-k8s.io",
            "/apis/apps/v1/controllerrevisions?limit=500",
            "/apis/apps/v1/daemonsets?limit=500",
            "/apis/apps/v1/deployments?limit=500",
            "/apis/apps/v1/replicasets?limit=500",
            "/apis/apps/v1/statefulsets?limit=500",
            "/apis/batch/v1/cronjobs?limit=500",
            "/apis/batch/v1/jobs?limit=500",
            "/apis/disaggregatedset.x-k8s.io",
            "/apis/extensions.agents.x-k8s.io",
            "/apis/jobset.x-k8s.io",
            "/apis/kueue.x-k8s.io",
            "/apis/leaderworkerset.x-k8s.io",
            "/apis/trainer.kubeflow.org",
        ]
    );
}

#[test]
fn one_namespace_is_read_by_its_paths_and_without_pages_there_is_no_limit() {
    let api = FakeApi::start(world);
    let mut home = Home::of(&api);
    home.scope.namespace = Some("ml".into());
    home.scope.chunk_size = 0;
    home.read().snapshot();
    let mut asked = api.asked();
    asked.sort();
    assert_eq!(
        asked,
        [
            "/api/v1/namespaces/ml/events?fieldSelector=involvedObject.kind!=Pod,involvedObject.kind!=ReplicaSet,involvedObject.kind!=Node",
            "/api/v1/namespaces/ml/pods",
            "/apis/agents.x-k8s.io",
            "/apis/apps/v1/namespaces/ml/controllerrevisions",
            "/apis/apps/v1/namespaces/ml/daemonsets",
            "/apis/apps/v1/namespaces/ml/deployments",
            "/apis/apps/v1/namespaces/ml/replicasets",
            "/apis/apps/v1/namespaces/ml/statefulsets",
            "/apis/batch/v1/namespaces/ml/cronjobs",
            "/apis/batch/v1/namespaces/ml/jobs",
            "/apis/disaggregatedset.x-k8s.io",
            "/apis/extensions.agents.x-k8s.io",
            "/apis/jobset.x-k8s.io",
            "/apis/kueue.x-k8s.io",
            "/apis/leaderworkerset.x-k8s.io",
            "/apis/trainer.kubeflow.org",
        ]
    );
}

#[test]
fn a_label_selector_is_not_sent_as_a_jobs_labels_are_not_its_pods() {
    let api = FakeApi::start(world);
    let mut home = Home::of(&api);
    home.scope.selector = "app=train".parse().unwrap();
    let read = home.read();
    assert_eq!(read.snapshot().pods.len(), 1);
    assert!(!read.snapshot().pods[0].selected);
    assert!(api.asked().iter().all(|target| !target.contains("labelSelector")));
}

#[test]
fn pages_are_read_to_the_last() {
    let api = FakeApi::start(|request| match (request.path(), request.query("continue")) {
        ("/api/v1/pods", None) => pods("two/=&", &["a", "b"]),
        ("/api/v1/pods", Some("two/=")) => pods("three", &["c"]),
        ("/api/v1/pods", Some("three")) => pods("", &["d"]),
        _ => world(request),
    });
    let read = Home::of(&api).read();
    // The token's own `&` cuts it short for this server; that it comes whole is seen in the target.
    assert!(api.asked().contains(&"/api/v1/pods?limit=500&continue=two/=&".to_owned()), "{:?}", api.asked());
    assert_eq!(source(read.snapshot(), Resource::Pods).objects, 4);
    assert_eq!(read.snapshot().pods.len(), 4);
}

#[test]
fn the_next_page_is_asked_for_before_the_current_one_has_come() {
    let api = FakeApi::start(|request| match (request.path(), request.query("continue")) {
        ("/api/v1/pods", None) => Reply::json(200, head("Pod", "v1", "next"))
            .then(items(&[pod("ml", "a", "train")]))
            .then_wait_until_asked("continue=next")
            .then("]}"),
        ("/api/v1/pods", Some("next")) => pods("", &["b"]),
        _ => world(request),
    });
    let read = Home::of(&api).read();
    assert_eq!(source(read.snapshot(), Resource::Pods).state, SourceState::Read);
    assert_eq!(read.snapshot().pods.len(), 2);
}

#[test]
fn a_token_behind_the_items_is_followed_too() {
    let api = FakeApi::start(|request| match (request.path(), request.query("continue")) {
        ("/api/v1/pods", None) => Reply::json(
            200,
            format!(
                r#"{{"kind":"PodList","apiVersion":"v1","items":[{}],"metadata":{{"continue":"next"}}}}"#,
                pod("ml", "a", "train")
            ),
        ),
        ("/api/v1/pods", Some("next")) => pods("", &["b"]),
        _ => world(request),
    });
    assert_eq!(Home::of(&api).read().snapshot().pods.len(), 2);
}

#[test]
fn a_list_whose_items_are_null_is_empty() {
    let api = FakeApi::start(|request| match request.path() {
        "/api/v1/pods" => Reply::json(200, r#"{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}"#),
        _ => world(request),
    });
    let read = Home::of(&api).read();
    assert_eq!(source(read.snapshot(), Resource::Pods).objects, 0);
    assert_eq!(source(read.snapshot(), Resource::Pods).state, SourceState::Read);
}

#[test]
fn jobsets_are_read_with_the_preferred_version() {
    let api = FakeApi::start(|request| match request.path() {
        "/apis/jobset.x-k8s.io" => Reply::json(
            200,
            r#"{"kind":"APIGroup","apiVersion":"v1","name":"jobset.x-k8s.io",
                "versions":[{"groupVersion":"jobset.x-k8s.io/v1beta1","version":"v1beta1"}],
                "preferredVersion":{"groupVersion":"jobset.x-k8s.io/v1beta1","version":"v1beta1"}}"#,
        ),
        "/apis/jobset.x-k8s.io/v1beta1/jobsets" => {
            list("JobSet", "jobset.x-k8s.io/v1beta1", "", &[crate::support::objects::named("ml", "llama")])
        }
        _ => world(request),
    });
    let read = Home::of(&api).read();
    assert_eq!(source(read.snapshot(), Resource::JobSets).state, SourceState::Read);
    assert_eq!(&*read.snapshot().job_sets[0].name, "llama");
}

#[test]
fn where_jobsets_are_not_installed_their_list_is_never_asked_for() {
    // Authorisation comes before routing: the list of what is not there is forbidden.
    let api = FakeApi::start(|request| {
        if request.path().ends_with("/jobsets") {
            return Reply::status(403, "Forbidden", "jobsets.jobset.x-k8s.io is forbidden");
        }
        world(request)
    });
    let read = Home::of(&api).read();
    assert_eq!(source(read.snapshot(), Resource::JobSets).state, SourceState::NotInstalled);
    assert_eq!(read.said, Vec::<String>::new());
    assert!(api.asked().iter().all(|target| !target.ends_with("/jobsets")));
}

#[test]
fn compressed_answers_are_asked_for_and_read() {
    let api = FakeApi::start(|request| world(request).gzip());
    let mut home = Home::of(&api);
    assert_eq!(home.read().snapshot().pods.len(), 1);
    assert!(api.requests().iter().all(|request| request.header("accept-encoding") == Some("gzip")));
    home.connection.disable_compression = true;
    let before = api.requests().len();
    assert_eq!(home.read().snapshot().pods.len(), 1);
    assert!(api.requests()[before..].iter().all(|request| request.header("accept-encoding").is_none()));
}

#[test]
fn a_list_that_expires_is_continued_and_said_to_be_no_snapshot() {
    let api = FakeApi::start(|request| match (request.path(), request.query("continue")) {
        ("/api/v1/pods", None) => pods("2", &["a", "b"]),
        ("/api/v1/pods", Some("2")) => pods("3", &["c"]),
        ("/api/v1/pods", Some("3")) => expired(Some("fresh")),
        // What was read already comes once more.
        ("/api/v1/pods", Some("fresh")) => pods("", &["c", "d"]),
        _ => world(request),
    });
    let read = Home::of(&api).read();
    let pods = source(read.snapshot(), Resource::Pods);
    assert_eq!((pods.state, pods.objects), (SourceState::Read, 4));
    assert!(pods.message.as_deref().unwrap().contains("not one snapshot"), "{pods:?}");
    read.assert_said("pods: not one snapshot");
    assert_eq!(read.snapshot().pods.len(), 4, "each counts once");
}

#[test]
fn a_list_that_expires_without_a_token_is_read_once_more_from_its_beginning() {
    let expiries = AtomicUsize::new(0);
    let api = FakeApi::start(move |request| match (request.path(), request.query("continue")) {
        ("/api/v1/pods", None) => pods("2", &["a", "b"]),
        ("/api/v1/pods", Some("2")) => pods("3", &["c"]),
        ("/api/v1/pods", Some("3")) if expiries.fetch_add(1, Ordering::SeqCst) == 0 => expired(None),
        ("/api/v1/pods", Some("3")) => pods("", &["d"]),
        _ => world(request),
    });
    let read = Home::of(&api).read();
    let pods = source(read.snapshot(), Resource::Pods);
    assert_eq!((pods.state, pods.objects, pods.message.as_deref()), (SourceState::Read, 4, None));
    read.assert_said("once more from its beginning");
    assert_eq!(read.snapshot().pods.len(), 4, "each counts once");
}

#[test]
fn a_list_that_expires_again_is_truncated() {
    for token in [None, Some("fresh")] {
        let api = FakeApi::start(move |request| match (request.path(), request.query("continue")) {
            ("/api/v1/pods", None) => pods("2", &["a", "b"]),
            ("/api/v1/pods", Some(_)) => expired(token),
            _ => world(request),
        });
        let read = Home::of(&api).read();
        let pods = source(read.snapshot(), Resource::Pods);
        assert_eq!((pods.state, pods.objects), (SourceState::Truncated, 2), "{token:?}");
        read.assert_said("the list expired again");
    }
}

fn expired(token: Option<&str>) -> Reply {
    let metadata = token.map_or(serde_json::json!({}), |token| serde_json::json!({"continue": token}));
    Reply::status_with(410, "Expired", "The provided continue parameter is too old", &metadata)
}

#[test]
fn a_bad_object_is_passed_over_counted_and_named() {
    let api = FakeApi::start(|request| match request.path() {
        "/api/v1/pods" => {
            let mut bad = pod("ml", "bad", "train");
            bad["status"]["containerStatuses"] = serde_json::json!("none");
            list("Pod", "v1", "", &[pod("ml", "a", "train"), bad, pod("ml", "b", "train")])
        }
        _ => world(request),
    });
    let read = Home::of(&api).read();
    let pods = source(read.snapshot(), Resource::Pods);
    assert_eq!((pods.state, pods.objects, pods.skipped), (SourceState::Unreadable, 2, 1));
    assert!(pods.message.as_deref().unwrap().starts_with("1 object passed over as unreadable: ml/bad: "), "{pods:?}");
    read.assert_said("ml/bad");
}

#[test]
fn many_pages_of_several_resources_are_read_side_by_side() {
    const PAGES: usize = 40;
    let page = |request: &Request| request.query("continue").map_or(0, |token| token.parse::<usize>().unwrap());
    let api = FakeApi::start(move |request| {
        let number = page(request);
        let more = if number + 1 < PAGES { (number + 1).to_string() } else { String::new() };
        let objects = |make: fn(&str, &str) -> serde_json::Value| -> Vec<_> {
            (0..25).map(|n| make("ml", &format!("o-{number}-{n}"))).collect()
        };
        match request.path() {
            "/api/v1/pods" => list("Pod", "v1", &more, &objects(|namespace, name| pod(namespace, name, "train"))),
            "/apis/batch/v1/jobs" => list("Job", "batch/v1", &more, &objects(job)),
            _ => world(request),
        }
    });
    let read = Home::of(&api).read();
    assert_eq!(source(read.snapshot(), Resource::Pods).objects, 1000);
    assert_eq!(source(read.snapshot(), Resource::Jobs).objects, 1000);
}

#[test]
fn a_server_that_continues_for_ever_is_not_followed_for_ever() {
    let api = FakeApi::start(|request| match (request.path(), request.query("continue")) {
        ("/api/v1/pods", None) => pods("a", &["p1"]),
        ("/api/v1/pods", Some("a")) => pods("b", &["p2"]),
        ("/api/v1/pods", Some(_)) => pods("a", &["p3"]),
        _ => world(request),
    });
    let read = Home::of(&api).read();
    let snapshot = read.snapshot();
    let told = source(snapshot, Resource::Pods);
    assert_eq!((told.state, told.objects), (SourceState::Truncated, 3), "{:?}", api.asked());
    assert!(told.message.as_deref().unwrap().contains("a page it has given before"), "{told:?}");
    assert!(api.asked().iter().filter(|path| path.starts_with("/api/v1/pods")).count() <= 4);
}

#[test]
fn an_answer_that_is_no_list_is_not_an_empty_list() {
    for body in ["[]", "42", r#"{"some":"json"}"#] {
        let api = FakeApi::start(move |request| match request.path() {
            "/api/v1/pods" => Reply::json(200, body),
            _ => world(request),
        });
        let home = Home::of(&api);
        let error = home.read().error();
        assert!(error.contains("pods") || error.contains("list"), "{body}: {error}");
    }
}

#[test]
fn a_namespace_that_is_not_there_does_not_read_as_one_without_failures() {
    for (status, reason, message, error) in [
        (404, "NotFound", "namespaces \"ml\" not found", Some("namespace \"ml\" not found")),
        (404, "NotFound", "the server could not find the requested resource", None),
        (403, "Forbidden", "namespaces \"ml\" is forbidden", None),
    ] {
        for is_empty in [true, false] {
            let api = FakeApi::start(move |request: &Request| match request.path() {
                "/api/v1/namespaces/ml" => Reply::status(status, reason, message),
                path if is_empty && path.ends_with("/jobs") => list("Job", "batch/v1", "", &[]),
                path if is_empty && path.ends_with("/pods") => list("Pod", "v1", "", &[]),
                _ => world(request),
            });
            let mut home = Home::of(&api);
            home.scope.namespace = Some("ml".to_owned());
            match home.read().result {
                Err(found) => assert_eq!((is_empty, Some(&*found.to_string())), (true, error)),
                Ok(_) => assert!(!is_empty || error.is_none(), "{message} reads as nothing"),
            }
        }
    }
}

/// What stands between may write a list anew, its members by their names: the items before the kind.
#[test]
fn items_that_come_before_the_kind_of_their_list_are_known_by_what_was_asked_for() {
    let api = FakeApi::start(|request: &Request| match request.path().rsplit('/').next() {
        Some("pods") => {
            let pods: Vec<Value> = (0..3000).map(|number| pod("ml", &format!("etl-{number}"), "etl")).collect();
            let list = json!({"apiVersion": "v1", "items": pods, "kind": "PodList", "metadata": {}}).to_string();
            assert!(list.find("items") < list.find("PodList"));
            Reply::json(200, list)
        }
        _ => world(request),
    });
    let home = Home::of(&api);
    let read = home.read();
    assert_eq!(source(read.snapshot(), Resource::Pods).objects, 3000);
    assert_eq!(read.snapshot().pods.len(), 3000);
}
