//! What is known of a cluster that is followed: no more and no less than what it says now.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sigapps::request::Scope;
use sigapps::source::cluster::{Live, Turn};
use sigapps::source::{Resource, Snapshot, SourceState};

use super::watches::hurried;
use crate::support::objects::{items, pod, world};
use crate::support::{FakeApi, Home, Reply, Request, source};

const PODS: &str = "/api/v1/namespaces/ml/pods";
/// Longer than anything takes: then a test fails.
const LONGEST: Duration = Duration::from_secs(60);

fn failed(name: &str, version: u32, node: &str) -> Value {
    let mut pod = pod("ml", name, "train");
    (pod["metadata"]["uid"], pod["metadata"]["resourceVersion"]) = (name.into(), version.to_string().into());
    pod["spec"]["nodeName"] = node.into();
    (pod["kind"], pod["apiVersion"]) = ("Pod".into(), "v1".into());
    pod
}

fn event(kind: &str, pod: &Value) -> String {
    format!("{}\n", json!({"type": kind, "object": pod}))
}

/// One failed pod, and what is told of pods then; all else as `other` says, or as in a small cluster.
fn serving(told: String, other: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static) -> FakeApi {
    FakeApi::start(move |request| match (other(request), request.path(), request.query("watch")) {
        (Some(reply), ..) => reply,
        (None, PODS, None) => {
            let pods = items(&[failed("train-0", 7, "n1")]);
            let head = json!({"resourceVersion": "9"});
            Reply::json(200, format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{head},"items":[{pods}]}}"#))
        }
        (None, PODS, Some(_)) => Reply::json(200, told.clone()).then_wait_until_stopped(),
        (None, _, Some(_)) => Reply::json(200, "").then_wait_until_stopped(),
        _ => world(request),
    })
}

/// What is known once it is as wanted, and all that was said.
fn known(api: &FakeApi, nodes: bool, is_wanted: impl Fn(&Snapshot) -> bool) -> (Snapshot, Vec<String>) {
    let home = Home::of(api);
    let scope = Scope { namespace: Some("ml".to_owned()), nodes, ..home.scope.clone() };
    let mut said = Vec::new();
    let snapshot = {
        let mut talk = |line: &str| said.push(line.to_owned());
        let mut live = Live::open(&home.environment, &home.connection, &scope, &mut talk).unwrap();
        live.set_pace(hurried());
        let begun = Instant::now();
        loop {
            let turn = live.next(Duration::from_millis(50), Some(Duration::from_millis(50))).unwrap();
            assert_ne!(turn, Turn::Interrupted);
            let snapshot = live.snapshot();
            if is_wanted(&snapshot) {
                break snapshot;
            }
            assert!(begun.elapsed() < LONGEST, "{:?}", snapshot.sources);
        }
    };
    (snapshot, said)
}

fn broken() -> Value {
    let mut broken = failed("train-0", 10, "n1");
    broken["status"]["containerStatuses"] = "none".into();
    broken
}

#[test]
fn an_object_that_cannot_be_read_is_counted_and_named_and_its_old_state_is_not_kept() {
    let api = serving(event("MODIFIED", &broken()), |_| None);
    let (snapshot, said) = known(&api, false, |snapshot| source(snapshot, Resource::Pods).skipped > 0);
    let pods = source(&snapshot, Resource::Pods);
    assert_eq!((pods.state, pods.objects, pods.skipped), (SourceState::Unreadable, 0, 1));
    assert_eq!(pods.message.as_deref(), Some("1 object passed over as unreadable: ml/train-0"));
    assert!(snapshot.pods.is_empty());
    assert!(said.iter().any(|line| line.starts_with("pods: ml/train-0 passed over as unreadable")), "{said:?}");
    // Once it can be read again, nothing is amiss.
    let api = serving(event("MODIFIED", &broken()) + &event("MODIFIED", &failed("train-0", 11, "n2")), |_| None);
    let is_on = |snapshot: &Snapshot| snapshot.pods.iter().any(|pod| pod.node.as_deref() == Some("n2"));
    let (snapshot, _) = known(&api, false, is_on);
    let pods = source(&snapshot, Resource::Pods);
    assert_eq!((pods.state, pods.objects, pods.skipped, &pods.message), (SourceState::Read, 1, 0, &None));
}

#[test]
fn what_may_be_read_again_is_told_as_read() {
    let api = serving(String::new(), |request| {
        let denied = request.path().ends_with("/cronjobs") && request.nth <= 2;
        denied.then(|| Reply::status(403, "Forbidden", "no cronjobs"))
    });
    let is_read = |snapshot: &Snapshot| source(snapshot, Resource::CronJobs).state == SourceState::Read;
    known(&api, false, is_read);
    let lists = api.asked().into_iter().filter(|target| target.contains("/cronjobs?") && !target.contains("watch="));
    assert_eq!(lists.count(), 3, "{:?}", api.asked());
}

#[test]
fn nodes_on_which_no_pod_of_interest_is_any_more_are_followed_no_more() {
    let told = event("DELETED", &failed("train-0", 10, "n1")) + &event("ADDED", &failed("train-1", 11, "n2"));
    let api = serving(told, |request| {
        let name = request.query("fieldSelector").filter(|_| request.path() == "/api/v1/nodes")?;
        if request.query("watch").is_some() {
            return None;
        }
        let name = name.strip_prefix("metadata.name=").unwrap();
        let node = json!({"metadata": {"name": name, "uid": name, "resourceVersion": "3"}, "status": {}});
        let head = json!({"resourceVersion": "9"});
        Some(Reply::json(200, format!(r#"{{"kind":"NodeList","apiVersion":"v1","metadata":{head},"items":[{node}]}}"#)))
    });
    let names =
        |snapshot: &Snapshot| -> Vec<String> { snapshot.nodes.iter().map(|node| node.name.to_string()).collect() };
    let (snapshot, _) = known(&api, true, |snapshot| names(snapshot) == ["n2"]);
    assert_eq!(source(&snapshot, Resource::Nodes).objects, 1);
}
