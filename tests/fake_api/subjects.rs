//! One workload or pod read with all that bears on it.

use serde_json::{Value, json};
use sigapps::request::{Subject, TargetKind};
use sigapps::source::{Resource, SourceState};

use crate::support::objects::{list, named, owned_job, pod, whole, world};
use crate::support::{FakeApi, Home, Reply, Request, source};

/// A namespace with a `JobSet` of one Job, whose pod failed on a node.
fn namespace(request: &Request) -> Reply {
    let job = || owned_job("ml", "llama-w-0", "jobset.x-k8s.io/v1alpha2", "JobSet", "llama");
    let failed = || {
        let mut pod = pod("ml", "llama-w-0-x", "llama-w-0");
        pod["spec"]["nodeName"] = "gpu-1".into();
        pod
    };
    let event = |kind: &str, name: &str, reason: &str| {
        json!({
            "metadata": {"name": format!("{name}.{reason}"), "namespace": "ml", "uid": format!("{name}-{reason}")},
            "involvedObject": {"kind": kind, "name": name, "namespace": "ml"}, "reason": reason, "message": "m",
            "firstTimestamp": "2026-11-30T09:00:00Z", "lastTimestamp": "2026-11-30T09:00:00Z", "count": 1,
        })
    };
    match request.path() {
        "/apis/jobset.x-k8s.io" => Reply::json(
            200,
            r#"{"kind":"APIGroup","preferredVersion":{"groupVersion":"jobset.x-k8s.io/v1alpha2","version":"v1alpha2"}}"#,
        ),
        "/api/v1/namespaces/ml/pods/llama-w-0-x" => whole("v1", "Pod", failed()),
        "/apis/batch/v1/namespaces/ml/jobs/llama-w-0" => whole("batch/v1", "Job", job()),
        "/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets/llama" => {
            whole("jobset.x-k8s.io/v1alpha2", "JobSet", named("ml", "llama"))
        }
        "/apis/batch/v1/namespaces/ml/jobs" => list("Job", "batch/v1", "", &[job()]),
        "/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets" => {
            list("JobSet", "jobset.x-k8s.io/v1alpha2", "", &[named("ml", "llama")])
        }
        "/api/v1/namespaces/ml/pods" => list("Pod", "v1", "", &[failed()]),
        "/api/v1/nodes/gpu-1" => whole("v1", "Node", node()),
        "/api/v1/namespaces/ml/events" => {
            let selector = request.query("fieldSelector").unwrap_or_default();
            let events: Vec<Value> = [
                ("kind=JobSet", event("JobSet", "llama", "FailedJobs")),
                ("kind=Job;", event("Job", "llama-w-0", "BackoffLimitExceeded")),
                ("reason=Scheduled", event("Pod", "llama-w-0-x", "Scheduled")),
            ]
            .into_iter()
            .filter(|(part, _)| format!("{selector};").contains(part))
            .map(|(_, event)| event)
            .collect();
            list("Event", "v1", "", &events)
        }
        path if path.split('/').count() > 6 => Reply::status(404, "NotFound", "not found"),
        _ => world(request),
    }
}

fn node() -> Value {
    json!({"metadata": {"name": "gpu-1", "uid": "n"}, "status": {"conditions": [{"type": "Ready", "status": "False"}]}})
}

fn home(api: &FakeApi, kind: Option<TargetKind>, name: &str) -> Home {
    let mut home = Home::of(api);
    home.scope.namespace = Some("ml".into());
    home.scope.subject = Some(Subject { kind, name: name.into() });
    home
}

/// A pod is read with its Job, and that with its `JobSet`: all its Jobs, pods, Events, and the nodes of pods that failed.
#[test]
fn whatever_is_asked_for_the_whole_jobset_is_read() {
    for (kind, name) in [
        (Some(TargetKind::Pod), "llama-w-0-x"),
        (Some(TargetKind::Job), "llama-w-0"),
        (Some(TargetKind::JobSet), "llama"),
        (None, "llama"),
        (None, "llama-w-0-x"),
    ] {
        let api = FakeApi::start(namespace);
        let read = home(&api, kind, name).read();
        let snapshot = read.snapshot();
        let counts = (snapshot.job_sets.len(), snapshot.jobs.len(), snapshot.pods.len());
        assert_eq!(counts, (1, 1, 1), "{name}");
        let mut about: Vec<&str> = snapshot.events.iter().map(|event| &*event.kind).collect();
        about.sort_unstable();
        assert_eq!(about, ["Job", "JobSet", "Pod"], "{name}");
        assert_eq!(snapshot.nodes[0].ready, Some(false), "{name}");
        let about_pods = api.asked().into_iter().filter(|asked| asked.contains("kind=Pod")).count();
        assert_eq!(about_pods, 1, "one list, none a pod");
    }
}

#[test]
fn nodes_and_events_that_are_denied_are_said_and_the_rest_is_told() {
    let api = FakeApi::start(|request| match request.path() {
        path if path.contains("/nodes/") || path.ends_with("/events") => Reply::status(403, "Forbidden", "no"),
        _ => namespace(request),
    });
    let read = home(&api, Some(TargetKind::JobSet), "llama").read();
    let snapshot = read.snapshot();
    assert_eq!(source(snapshot, Resource::Events).state, SourceState::Denied);
    assert_eq!(source(snapshot, Resource::Nodes).state, SourceState::Denied);
    assert_eq!(snapshot.jobs.len(), 1);
    read.assert_said("nodes are left out");
}

#[test]
fn a_node_that_is_gone_is_no_fault() {
    let api = FakeApi::start(|request| match request.path() {
        path if path.contains("/nodes/") => Reply::status(404, "NotFound", "gone"),
        _ => namespace(request),
    });
    let read = home(&api, Some(TargetKind::JobSet), "llama").read();
    assert_eq!(read.snapshot().nodes.len(), 0);
    assert_eq!(read.said, Vec::<String>::new());
}

#[test]
fn what_is_not_there_is_an_error_with_the_nearest_names() {
    for (kind, name, said) in [
        (
            Some(TargetKind::JobSet),
            "lama",
            r#"jobsets.jobset.x-k8s.io "lama" not found in namespace "ml"; did you mean llama?"#,
        ),
        (
            Some(TargetKind::Pod),
            "llama-w-0-y",
            r#"pods "llama-w-0-y" not found in namespace "ml"; did you mean llama-w-0-x?"#,
        ),
        (
            Some(TargetKind::Job),
            "llama-w-1",
            r#"jobs.batch "llama-w-1" not found in namespace "ml"; did you mean llama-w-0?"#,
        ),
        (None, "lama", r#"workload or pod "lama" not found in namespace "ml"; did you mean llama?"#),
    ] {
        let api = FakeApi::start(namespace);
        assert_eq!(home(&api, kind, name).read().error(), said);
    }
}

#[test]
fn a_pod_that_may_not_be_read_is_an_error_that_names_it() {
    let api = FakeApi::start(|request| match request.path() {
        path if path.contains("/pods/") => Reply::status(403, "Forbidden", "pods is forbidden"),
        _ => namespace(request),
    });
    let error = home(&api, Some(TargetKind::Pod), "llama-w-0-x").read().error();
    assert!(error.contains("pods"), "{error}");
}
