//! A control plane with one object of each kind that the roles name, on which no controller but Kubernetes' own works.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::roles::{self, Right};
use crate::api::{Api, has_condition, text};
use crate::assets::Assets;
use crate::control_plane::{ControlPlane, Parts};
use crate::family;
use crate::kubelet::Kubelet;
use crate::scenario::Scenario;
use crate::wait::{Answer, until};
use crate::yaml;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Where all its objects are.
pub(super) const NAMESPACE: &str = "access";

/// Kinds whose definitions no component here ships, as their projects name them.
const UNSHIPPED: [(&str, &str, &str, &str); 3] = [
    ("snapshot.storage.k8s.io", "v1", "volumesnapshots", "VolumeSnapshot"),
    ("checkpoint.k8s.io", "v1alpha1", "podcheckpoints", "PodCheckpoint"),
    ("podsnapshot.gke.io", "v1", "podsnapshots", "PodSnapshot"),
];

pub(super) struct World {
    pub(super) plane: ControlPlane,
    _kubelet: Kubelet,
}

impl World {
    pub(super) async fn start(assets: &Assets) -> Result<Self> {
        let plane = ControlPlane::start(assets, Parts::JobsOnly).await?;
        let api = &plane.api;
        let rights: Vec<Right> = roles::all()?.iter().flat_map(roles::rights).collect();
        let groups: BTreeSet<&str> = rights.iter().map(|right| right.group.as_str()).collect();
        let definitions = definitions(assets, &groups)?;
        for definition in &definitions {
            api.ensure(DEFINITIONS, definition).await?;
        }
        for definition in &definitions {
            served(api, definition).await?;
        }
        let scenarios = Arc::new(Scenario::one_of_each()?);
        let kubelet = Kubelet::start(api, scenarios.clone()).await?;
        for (name, played) in family::play(api, &kubelet, &scenarios).await {
            played.with_context(|| format!("{name} was not played to its end"))?;
        }
        Ok(Self { plane, _kubelet: kubelet })
    }

    /// The name of the Deployment's pod, which its controller chose.
    pub(super) async fn pod_of_deployment(&self) -> Result<String> {
        let pods = self.plane.api.list(&format!("/api/v1/namespaces/{NAMESPACE}/pods")).await?;
        let made = pods.iter().find(|pod| text(pod, "/metadata/ownerReferences/0/kind") == "ReplicaSet");
        Ok(text(made.context("the Deployment has no pod")?, "/metadata/name").to_owned())
    }
}

/// Those of the groups that the roles name. No controller runs here that would convert one version into another.
fn definitions(assets: &Assets, groups: &BTreeSet<&str>) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    for component in ["jobset", "lws", "agent-sandbox", "kueue", "trainer"] {
        let folder = assets.manifests(component).join("crds");
        let entries = fs::read_dir(&folder).with_context(|| format!("no CRDs in {}", folder.display()))?;
        let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        files.sort();
        for file in files {
            all.extend(yaml::documents(&file)?);
        }
    }
    all.retain(|definition| groups.contains(text(definition, "/spec/group")));
    for definition in &mut all {
        definition["spec"]["conversion"] = json!({"strategy": "None"});
    }
    all.extend(UNSHIPPED.map(|(group, version, plural, kind)| {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            // The group is protected, and this is said to be no approved API of it.
            "metadata": {"name": format!("{plural}.{group}"), "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"}},
            "spec": {
                "group": group, "scope": "Namespaced",
                "names": {"plural": plural, "singular": plural.trim_end_matches('s'), "kind": kind, "listKind": format!("{kind}List")},
                "versions": [{
                    "name": version, "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
                }],
            },
        })
    }));
    Ok(all)
}

/// Waits until objects of a kind can be listed, which comes a little after its definition is established.
async fn served(api: &Api, definition: &Value) -> Result<()> {
    let name = text(definition, "/metadata/name");
    let version =
        definition["spec"]["versions"].as_array().into_iter().flatten().find(|version| version["storage"] == true);
    let version = version.map_or("", |version| text(version, "/name"));
    let (group, plural) = (text(definition, "/spec/group"), text(definition, "/spec/names/plural"));
    until(&format!("{name} to be served"), Duration::from_secs(60), || async {
        let seen = api.get(&format!("{DEFINITIONS}/{name}")).await?;
        if !has_condition(&seen, "Established") {
            return Ok(Answer::NotYet(seen["status"].to_string()));
        }
        Ok(match api.list(&format!("/apis/{group}/{version}/{plural}")).await {
            Ok(_) => Answer::Ready(()),
            Err(error) => Answer::NotYet(format!("{error:#}")),
        })
    })
    .await
}
