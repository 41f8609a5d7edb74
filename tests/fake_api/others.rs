//! Workloads that are no Jobs, read with what bears on them.

use serde_json::{Value, json};
use sigapps::request::{Subject, Target, TargetKind};
use sigapps::source::{Resource, SourceState};

use crate::support::objects::{list, whole, world};
use crate::support::{FakeApi, Home, Reply, Request, source};

fn owned(name: &str, labels: &Value, owner: Option<(&str, &str, &str)>) -> Value {
    let owners: Vec<Value> = owner
        .iter()
        .map(|(version, kind, name)| {
            json!({"apiVersion": version, "kind": kind, "name": name, "uid": format!("u-{name}"), "controller": true})
        })
        .collect();
    json!({"metadata": {"name": name, "namespace": "shop", "uid": format!("u-{name}"), "labels": labels,
        "ownerReferences": owners}})
}

/// A Deployment whose pod has failed, a `LeaderWorkerSet` with a leader and a worker, and a Sandbox in a group of its own.
fn namespace(request: &Request) -> Reply {
    let failed = |mut pod: Value| {
        pod["spec"] = json!({"nodeName": "node-1"});
        pod["status"] = json!({"phase": "Failed", "reason": "Evicted"});
        pod
    };
    let web = || {
        let mut web = owned("web", &json!({}), None);
        web["spec"] = json!({"replicas": 1, "selector": {"matchLabels": {"app": "web"},
            "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}]}});
        web
    };
    let set =
        || owned("web-5d", &json!({"app": "web", "pod-template-hash": "5d"}), Some(("apps/v1", "Deployment", "web")));
    let pod = || failed(owned("web-5d-x", &json!({"app": "web"}), Some(("apps/v1", "ReplicaSet", "web-5d"))));
    let group = |group: &str, version: &str| {
        let version = format!("{group}/{version}");
        Reply::json(200, json!({"kind": "APIGroup", "preferredVersion": {"groupVersion": version}}).to_string())
    };
    let worker = || owned("vllm-0-1", &json!({}), Some(("apps/v1", "StatefulSet", "vllm-0")));
    match request.path() {
        "/apis/leaderworkerset.x-k8s.io" => group("leaderworkerset.x-k8s.io", "v1"),
        "/apis/agents.x-k8s.io" => group("agents.x-k8s.io", "v1alpha1"),
        "/apis/apps/v1/namespaces/shop/deployments/web" => whole("apps/v1", "Deployment", web()),
        "/apis/apps/v1/namespaces/shop/replicasets/web-5d" => whole("apps/v1", "ReplicaSet", set()),
        "/apis/apps/v1/namespaces/shop/replicasets" => list("ReplicaSet", "apps/v1", "", &[set()]),
        "/apis/apps/v1/namespaces/shop/statefulsets/vllm-0" => {
            whole("apps/v1", "StatefulSet", owned("vllm-0", &json!({}), Some(("v1", "Pod", "vllm-0"))))
        }
        "/apis/apps/v1/namespaces/shop/statefulsets/vllm" => whole(
            "apps/v1",
            "StatefulSet",
            owned("vllm", &json!({}), Some(("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "vllm"))),
        ),
        "/apis/leaderworkerset.x-k8s.io/v1/namespaces/shop/leaderworkersets/vllm" => {
            whole("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", owned("vllm", &json!({}), None))
        }
        "/apis/agents.x-k8s.io/v1alpha1/namespaces/shop/sandboxes/box" => {
            let mut sandbox = owned("box", &json!({}), None);
            sandbox["status"] = json!({"selector": "agents.x-k8s.io/sandbox-name-hash=1"});
            whole("agents.x-k8s.io/v1alpha1", "Sandbox", sandbox)
        }
        "/api/v1/namespaces/shop/pods/web-5d-x" => whole("v1", "Pod", pod()),
        "/api/v1/namespaces/shop/pods/vllm-0-1" => whole("v1", "Pod", failed(worker())),
        "/api/v1/namespaces/shop/pods/vllm-0" => {
            whole("v1", "Pod", owned("vllm-0", &json!({}), Some(("apps/v1", "StatefulSet", "vllm"))))
        }
        "/api/v1/namespaces/shop/pods" | "/api/v1/pods" => list("Pod", "v1", "", &[pod()]),
        "/api/v1/nodes/node-1" => whole("v1", "Node", json!({"metadata": {"name": "node-1", "uid": "n"}})),
        path if path.split('/').count() > 7 => Reply::status(404, "NotFound", "not found"),
        _ => world(request),
    }
}

fn asking(api: &FakeApi, kind: Option<TargetKind>, name: &str) -> Home {
    let mut home = Home::of(api);
    home.scope.namespace = Some("shop".into());
    home.scope.subject = Some(Subject { kind, name: name.into() });
    home
}

/// A pod is read with its `ReplicaSet`, and that with its Deployment; the server filters by that one's own selector.
#[test]
fn whatever_is_asked_for_the_whole_deployment_is_read() {
    for (kind, name) in [(Some(TargetKind::Deployment), "web"), (Some(TargetKind::Pod), "web-5d-x"), (None, "web")] {
        let api = FakeApi::start(namespace);
        let read = asking(&api, kind, name).read();
        let snapshot = read.snapshot();
        assert_eq!((snapshot.deployments.len(), snapshot.revisions.len(), snapshot.pods.len()), (1, 1, 1), "{name}");
        assert_eq!(snapshot.nodes.len(), 1, "{name}");
        let asked = api.asked();
        let of_pods = "/api/v1/namespaces/shop/pods?labelSelector=app=web,tier in (a,b)&limit=500";
        assert!(asked.iter().any(|asked| asked == of_pods), "{asked:#?}");
        let of_web = "involvedObject.kind=Deployment,involvedObject.name=web";
        assert!(asked.iter().any(|asked| asked.contains(of_web)), "{asked:#?}");
    }
}

/// A worker's `StatefulSet` belongs to its leader, whose own belongs to the `LeaderWorkerSet`.
#[test]
fn a_worker_leads_to_its_leader_worker_set() {
    let api = FakeApi::start(namespace);
    let read = asking(&api, Some(TargetKind::Pod), "vllm-0-1").read();
    assert_eq!(read.snapshot().leader_worker_sets.len(), 1);
    let asked = api.asked();
    assert!(
        asked.iter().any(|asked| asked.contains("labelSelector=leaderworkerset.sigs.k8s.io/name=vllm")),
        "{asked:#?}"
    );
}

/// Older Agent Sandbox serves v1alpha1 alone: the version that the server prefers is taken.
#[test]
fn a_sandbox_is_read_by_the_version_that_there_is() {
    let api = FakeApi::start(namespace);
    let read = asking(&api, Some(TargetKind::Sandbox), "box").read();
    assert_eq!(read.snapshot().sandboxes.len(), 1);
    assert!(api.asked().iter().any(|asked| asked.contains("labelSelector=agents.x-k8s.io/sandbox-name-hash=1")));
}

#[test]
fn what_is_not_installed_is_told_as_that() {
    let api = FakeApi::start(namespace);
    let error = asking(&api, Some(TargetKind::TrainJob), "bert").read().error();
    assert!(error.contains("trainjobs"), "{error}");
    assert!(!api.asked().iter().any(|asked| asked.contains("/trainjobs")), "its group is asked for alone");
}

/// What failed on a node is of any namespace, where none is given.
#[test]
fn a_node_is_read_with_all_that_runs_there() {
    let api = FakeApi::start(namespace);
    let mut home = asking(&api, Some(TargetKind::Node), "node-1");
    home.scope.namespace = None;
    let read = home.read();
    assert_eq!((read.snapshot().nodes.len(), read.snapshot().pods.len()), (1, 1));
    let error = {
        let mut home = asking(&api, Some(TargetKind::Node), "node-9");
        home.scope.namespace = None;
        home.read().error()
    };
    assert!(error.contains("nodes \"node-9\" not found"), "{error}");
}

/// A role for Jobs and pods alone: what is missing is told in a line for each API group, and in the sources.
#[test]
fn what_may_not_be_read_of_one_group_is_told_in_one_line() {
    let api = FakeApi::start(|request| match request.path() {
        path if path.starts_with("/apis/apps/") => Reply::status(403, "Forbidden", "it is forbidden"),
        _ => namespace(request),
    });
    let mut home = Home::of(&api);
    home.scope.namespace = Some("shop".into());
    let read = home.read();
    for resource in [
        Resource::Deployments,
        Resource::ReplicaSets,
        Resource::StatefulSets,
        Resource::DaemonSets,
        Resource::ControllerRevisions,
    ] {
        assert_eq!(source(read.snapshot(), resource).state, SourceState::Denied, "{resource:?}");
    }
    let said: Vec<&String> = read.said.iter().filter(|line| line.contains("refused")).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    let all = "deployments, replicasets, statefulsets, daemonsets, controllerrevisions are left out";
    assert!(said[0].starts_with(all), "{said:?}");
}

/// Where what stands between a pod and its Deployment may not be read, the Deployment is not found, and that is told.
#[test]
fn a_pod_whose_replica_set_may_not_be_read_is_told_alone_and_why() {
    let api = FakeApi::start(|request| match request.path() {
        path if path.contains("/replicasets/") => Reply::status(403, "Forbidden", "replicasets.apps is forbidden"),
        _ => namespace(request),
    });
    let read = asking(&api, Some(TargetKind::Pod), "web-5d-x").read();
    assert_eq!((read.snapshot().pods.len(), read.snapshot().deployments.len()), (1, 0));
    assert_eq!(source(read.snapshot(), Resource::ReplicaSets).state, SourceState::Denied);
    let said = "replicasets are left out, reading them was refused: replicasets.apps is forbidden";
    assert!(read.said.iter().any(|line| line == said), "{:?}", read.said);
}

/// A name alone is looked for in every kind; where some may not be read, the others are found all the same.
#[test]
fn a_name_is_found_where_other_kinds_may_not_be_read() {
    let api = FakeApi::start(|request| match request.path() {
        path if path.contains("/statefulsets/") || path.contains("/cronjobs/") => {
            Reply::status(403, "Forbidden", "it is forbidden")
        }
        _ => namespace(request),
    });
    let read = asking(&api, None, "web").read();
    assert_eq!(read.snapshot().deployments.len(), 1);
    let error = asking(&api, None, "nothing").read().error();
    assert!(error.contains("forbidden"), "what may not be read may be there: {error}");
}

/// Several of several kinds, each with its own.
#[test]
fn targets_of_several_kinds_are_read_together() {
    let api = FakeApi::start(namespace);
    let mut home = Home::of(&api);
    home.scope.namespace = Some("shop".into());
    home.scope.targets = vec![
        Target { kind: TargetKind::Deployment, name: "web".into() },
        Target { kind: TargetKind::LeaderWorkerSet, name: "vllm".into() },
    ];
    let read = home.read();
    assert_eq!((read.snapshot().deployments.len(), read.snapshot().leader_worker_sets.len()), (1, 1));
    home.scope.targets = vec![Target { kind: TargetKind::Deployment, name: "wep".into() }];
    let error = home.read().error();
    assert!(error.contains("deployments.apps \"wep\" not found"), "{error}");
}
