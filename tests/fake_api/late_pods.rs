//! Pods that were asked to end and have not: their nodes decide whether force may be spoken of.

use serde_json::json;
use sigapps::advice::{Kubectl, advise};
use sigapps::analysis::{Options, analyse, report};
use sigapps::model::Time;
use sigapps::report::ReportScope;
use sigapps::request::GroupBy;
use sigapps::source::{Resource, Snapshot, SourceState};

use crate::support::objects::{job, list, pod, whole, world};
use crate::support::{FakeApi, Home, Reply, Request, source};

/// A namespace whose Job is failing, and waits for pods on three nodes: one is asked to end a moment ago, two long ago.
fn held_up(request: &Request) -> Reply {
    let ending = |name: &str, node: &str, at: &str| {
        let mut pod = pod("ml", name, "train");
        pod["metadata"]["deletionTimestamp"] = at.into();
        pod["metadata"]["deletionGracePeriodSeconds"] = 30.into();
        pod["spec"]["nodeName"] = node.into();
        pod["status"] = json!({"phase": "Running", "startTime": "2026-11-30T09:00:00Z"});
        pod
    };
    let node = |name: &str, ready: &str| {
        let conditions = json!([{"type": "Ready", "status": ready}]);
        whole("v1", "Node", json!({"metadata": {"name": name, "uid": name}, "status": {"conditions": conditions}}))
    };
    match request.path().rsplit('/').next().unwrap() {
        "jobs" => {
            let mut job = job("ml", "train");
            job["status"]["conditions"] =
                json!([{"type": "FailureTarget", "status": "True", "reason": "BackoffLimitExceeded"}]);
            list("Job", "batch/v1", "", &[job])
        }
        "pods" => {
            let (long_ago, not_yet) = ("2026-11-30T09:01:30Z", "2999-11-30T09:00:00Z");
            let pods = [
                pod("ml", "own", "train"),
                ending("on-dead", "dead", long_ago),
                ending("on-well", "well", long_ago),
                ending("on-lost", "lost", long_ago),
                ending("on-fresh", "fresh", not_yet),
            ];
            list("Pod", "v1", "", &pods)
        }
        "dead" => node("dead", "Unknown"),
        "well" => node("well", "True"),
        _ => world(request),
    }
}

/// What is advised on what was read, as `kind: first command`.
fn advice(snapshot: &Snapshot) -> Vec<String> {
    let options = Options { now: Some(Time::from_seconds(1_800_000_000)), ..Options::default() };
    let analysis = analyse(snapshot, &options);
    let reported = report(&analysis, &options, GroupBy::Rule, ReportScope::default());
    let suggestions = advise(&analysis, reported, &Kubectl::default()).suggestions;
    let suggestions = suggestions.into_iter().filter(|suggestion| suggestion.why.contains("asked to end"));
    suggestions.map(|suggestion| format!("{:?}: {}", suggestion.kind, suggestion.commands.join("; "))).collect()
}

/// Only these: all nodes would be as many as the cluster's.
#[test]
fn the_nodes_of_pods_that_do_not_end_are_read() {
    let api = FakeApi::start(held_up);
    let mut home = Home::of(&api);
    home.scope.namespace = Some("ml".into());
    let read = home.read();
    let mut asked: Vec<String> = api.asked().into_iter().filter(|path| path.contains("/nodes")).collect();
    asked.sort();
    assert_eq!(asked, ["/api/v1/nodes/dead", "/api/v1/nodes/lost", "/api/v1/nodes/well"]);
    assert_eq!(read.said, Vec::<String>::new());
    assert_eq!(
        advice(read.snapshot()),
        [
            "UnblockTeardown: kubectl describe node dead; \
             kubectl taint nodes dead node.kubernetes.io/out-of-service=nodeshutdown:NoExecute; \
             kubectl delete pod on-dead -n ml --grace-period=0 --force",
            "Inspect: kubectl describe node lost; kubectl describe pod on-lost -n ml",
            "Inspect: kubectl describe pod on-well -n ml",
        ]
    );
}

#[test]
fn where_nodes_are_denied_nothing_is_forced() {
    let api = FakeApi::start(|request| match request.path() {
        path if path.contains("/nodes/") => Reply::status(403, "Forbidden", "nodes is forbidden"),
        _ => held_up(request),
    });
    let read = Home::of(&api).read();
    assert_eq!(source(read.snapshot(), Resource::Nodes).state, SourceState::Denied);
    read.assert_said("nodes are left out");
    let advice = advice(read.snapshot());
    assert_eq!(advice.len(), 3, "{advice:?}");
    assert!(advice.iter().all(|advice| advice.starts_with("Inspect: kubectl describe node")), "{advice:?}");
}
