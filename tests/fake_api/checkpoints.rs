//! What checkpoints lie on, and what was taken: read where a workload is explained, and only then.

use serde_json::json;
use sigapps::request::{Subject, TargetKind};
use sigapps::source::{Resource, SourceState};

use crate::support::objects::{job, list, named, whole, world};
use crate::support::{FakeApi, Home, Reply, Request, source};

const GROUPS: [(&str, &str, &str); 3] = [
    ("snapshot.storage.k8s.io", "v1", "volumesnapshots"),
    ("checkpoint.k8s.io", "v1alpha1", "podcheckpoints"),
    ("podsnapshot.gke.io", "v1", "podsnapshots"),
];

/// A namespace with a Job that saves to a claim, if it does.
fn namespace(request: &Request, claim: Option<&str>) -> Reply {
    if request.path() != "/apis/batch/v1/namespaces/ml/jobs/train" {
        return world(request);
    }
    let mut job = job("ml", "train");
    if let Some(claim) = claim {
        job["spec"]["template"]["spec"] = json!({
            "containers": [{"name": "t", "command": ["python3", "pretrain_gpt.py", "--save", "/ckpt"],
                "volumeMounts": [{"name": "v", "mountPath": "/ckpt"}]}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}],
        });
    }
    whole("batch/v1", "Job", job)
}

/// The same where all is installed.
fn installed(request: &Request) -> Reply {
    let path = request.path();
    for (group, version, plural) in GROUPS {
        if path == format!("/apis/{group}") {
            let version = format!("{group}/{version}");
            let group = json!({"kind": "APIGroup", "preferredVersion": {"groupVersion": version, "version": "v"}});
            return Reply::json(200, group.to_string());
        }
        if path == format!("/apis/{group}/{version}/namespaces/ml/{plural}") {
            let mut object = named("ml", "one");
            object["spec"] = json!({"source": {"persistentVolumeClaimName": "run"}, "sourcePodName": "train-abc12"});
            object["metadata"]["annotations"] = json!({"podsnapshot.gke.io/origin-pod": "train-abc12"});
            let kind = match plural {
                "volumesnapshots" => "VolumeSnapshot",
                "podcheckpoints" => "PodCheckpoint",
                _ => "PodSnapshot",
            };
            return list(kind, &format!("{group}/{version}"), "", &[object]);
        }
    }
    match path {
        "/api/v1/namespaces/ml/persistentvolumeclaims" => {
            list("PersistentVolumeClaim", "v1", "", &[named("ml", "run"), named("ml", "other")])
        }
        _ => namespace(request, Some("run")),
    }
}

fn home(api: &FakeApi) -> Home {
    let mut home = Home::of(api);
    home.scope.namespace = Some("ml".into());
    home.scope.subject = Some(Subject { kind: Some(TargetKind::Job), name: "train".into() });
    home
}

fn asked(api: &FakeApi, part: &str) -> usize {
    api.asked().iter().filter(|asked| asked.contains(part)).count()
}

#[test]
fn each_group_is_looked_up_once_and_each_list_read_once() {
    let api = FakeApi::start(installed);
    let read = home(&api).read();
    let snapshot = read.snapshot();
    let counts = [&snapshot.volume_snapshots, &snapshot.pod_checkpoints, &snapshot.pod_snapshots].map(Vec::len);
    assert_eq!((snapshot.claims.len(), counts), (2, [1, 1, 1]));
    for (group, _, plural) in GROUPS {
        assert_eq!((asked(&api, group), asked(&api, plural)), (2, 1), "{group}");
    }
    assert_eq!(asked(&api, "persistentvolumeclaims"), 1);
    assert_eq!(read.said, Vec::<String>::new());
}

#[test]
fn what_is_not_installed_costs_one_request_and_is_not_said() {
    let api = FakeApi::start(|request| namespace(request, Some("run")));
    let read = home(&api).read();
    for (group, _, _) in GROUPS {
        assert_eq!(asked(&api, group), 1, "{group}");
    }
    for resource in [Resource::VolumeSnapshots, Resource::PodCheckpoints, Resource::PodSnapshots] {
        assert_eq!(source(read.snapshot(), resource).state, SourceState::NotInstalled);
    }
    assert_eq!(read.said, Vec::<String>::new());
}

#[test]
fn claims_are_read_only_where_a_template_names_one() {
    let api = FakeApi::start(|request| namespace(request, None));
    let read = home(&api).read();
    for resource in [Resource::Claims, Resource::VolumeSnapshots] {
        assert_eq!(source(read.snapshot(), resource).state, SourceState::NotAsked);
    }
    assert_eq!(asked(&api, "persistentvolumeclaims") + asked(&api, "snapshot.storage"), 0);
}

#[test]
fn what_is_denied_is_said_and_the_rest_is_told() {
    for (denied, resource) in [
        ("/persistentvolumeclaims", Resource::Claims),
        ("/volumesnapshots", Resource::VolumeSnapshots),
        ("/podcheckpoints", Resource::PodCheckpoints),
        ("/podsnapshots", Resource::PodSnapshots),
    ] {
        let api = FakeApi::start(move |request| match request.path() {
            path if path.ends_with(denied) => Reply::status(403, "Forbidden", "no"),
            _ => installed(request),
        });
        let read = home(&api).read();
        assert_eq!(source(read.snapshot(), resource).state, SourceState::Denied, "{denied}");
        assert_eq!(read.said, [format!("{} are left out, reading them was refused: no", resource.name())]);
        assert_eq!(read.snapshot().jobs.len(), 1);
    }
}

#[test]
fn failures_do_not_ask_for_them() {
    let api = FakeApi::start(installed);
    let mut home = home(&api);
    home.scope.subject = None;
    let read = home.read();
    assert_eq!(source(read.snapshot(), Resource::Claims).state, SourceState::NotAsked);
    assert_eq!(GROUPS.map(|(group, _, _)| asked(&api, group)), [0, 0, 0]);
}
