//! Where the API keeps objects of a kind.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::api::text;

struct Kind {
    name: &'static str,
    /// Group and version.
    version: &'static str,
    plural: &'static str,
    scope: Scope,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Namespace,
    Cluster,
}

const fn namespaced(name: &'static str, version: &'static str, plural: &'static str) -> Kind {
    Kind { name, version, plural, scope: Scope::Namespace }
}

const fn of_cluster(name: &'static str, version: &'static str, plural: &'static str) -> Kind {
    Kind { name, version, plural, scope: Scope::Cluster }
}

const KINDS: &[Kind] = &[
    of_cluster("Namespace", "v1", "namespaces"),
    of_cluster("Node", "v1", "nodes"),
    of_cluster("PersistentVolume", "v1", "persistentvolumes"),
    namespaced("Event", "v1", "events"),
    namespaced("PersistentVolumeClaim", "v1", "persistentvolumeclaims"),
    namespaced("Pod", "v1", "pods"),
    namespaced("ResourceQuota", "v1", "resourcequotas"),
    namespaced("DaemonSet", "apps/v1", "daemonsets"),
    namespaced("Deployment", "apps/v1", "deployments"),
    namespaced("ReplicaSet", "apps/v1", "replicasets"),
    namespaced("StatefulSet", "apps/v1", "statefulsets"),
    namespaced("CronJob", "batch/v1", "cronjobs"),
    namespaced("Job", "batch/v1", "jobs"),
    namespaced("PodDisruptionBudget", "policy/v1", "poddisruptionbudgets"),
    namespaced("JobSet", "jobset.x-k8s.io/v1alpha2", "jobsets"),
    namespaced("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", "leaderworkersets"),
    namespaced("DisaggregatedSet", "disaggregatedset.x-k8s.io/v1", "disaggregatedsets"),
    namespaced("Sandbox", "agents.x-k8s.io/v1beta1", "sandboxes"),
    namespaced("SandboxClaim", "extensions.agents.x-k8s.io/v1beta1", "sandboxclaims"),
    namespaced("SandboxTemplate", "extensions.agents.x-k8s.io/v1beta1", "sandboxtemplates"),
    namespaced("SandboxWarmPool", "extensions.agents.x-k8s.io/v1beta1", "sandboxwarmpools"),
    of_cluster("ClusterTrainingRuntime", "trainer.kubeflow.org/v1alpha1", "clustertrainingruntimes"),
    namespaced("TrainingRuntime", "trainer.kubeflow.org/v1alpha1", "trainingruntimes"),
    namespaced("TrainJob", "trainer.kubeflow.org/v1alpha1", "trainjobs"),
    of_cluster("ClusterQueue", "kueue.x-k8s.io/v1beta2", "clusterqueues"),
    of_cluster("ResourceFlavor", "kueue.x-k8s.io/v1beta2", "resourceflavors"),
    namespaced("LocalQueue", "kueue.x-k8s.io/v1beta2", "localqueues"),
    namespaced("Workload", "kueue.x-k8s.io/v1beta2", "workloads"),
    namespaced("VolumeSnapshot", "snapshot.storage.k8s.io/v1", "volumesnapshots"),
    namespaced("PodCheckpoint", "checkpoint.k8s.io/v1alpha1", "podcheckpoints"),
    namespaced("PodSnapshot", "podsnapshot.gke.io/v1", "podsnapshots"),
];

fn known(kind: &str) -> Result<&'static Kind> {
    KINDS.iter().find(|known| known.name == kind).with_context(|| format!("no scenario has had a {kind} yet"))
}

/// The list of a kind's objects in a namespace, which objects of the whole cluster do without.
pub(crate) fn collection(kind: &str, namespace: &str) -> Result<String> {
    let kind = known(kind)?;
    Ok(kind.collection(kind.version, namespace))
}

/// Where the object is created, in the version it is written in.
pub(crate) fn collection_of(object: &Value) -> Result<String> {
    let kind = known(text(object, "/kind"))?;
    Ok(kind.collection(text(object, "/apiVersion"), text(object, "/metadata/namespace")))
}

/// Whether the API knows how to merge its lists, which it does not of custom resources.
pub(crate) fn is_built_in(kind: &str) -> Result<bool> {
    let version = known(kind)?.version;
    Ok(["v1", "apps/v1", "batch/v1", "policy/v1"].contains(&version))
}

impl Kind {
    fn collection(&self, version: &str, namespace: &str) -> String {
        let root = if version.contains('/') { "apis" } else { "api" };
        match self.scope {
            Scope::Namespace => format!("/{root}/{version}/namespaces/{namespace}/{}", self.plural),
            Scope::Cluster => format!("/{root}/{version}/{}", self.plural),
        }
    }
}
