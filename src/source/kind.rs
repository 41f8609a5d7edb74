use std::borrow::Cow;

use serde::Deserialize;

use super::snapshot::Resource;

/// The kinds that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Pod,
    Job,
    CronJob,
    JobSet,
    Event,
    Node,
    Claim,
    VolumeSnapshot,
    PodCheckpoint,
    PodSnapshot,
    Deployment,
    ReplicaSet,
    StatefulSet,
    DaemonSet,
    ControllerRevision,
    LeaderWorkerSet,
    DisaggregatedSet,
    Sandbox,
    SandboxClaim,
    SandboxWarmPool,
    TrainJob,
    /// Kueue's `Workload`.
    Queued,
    /// A list within a list.
    List,
    /// The lines of a recording that are no objects.
    Recording,
    RecordingStatus,
    Change,
    Log,
}

impl Kind {
    /// The kind of that name and version, if it is used.
    pub(super) fn of(kind: &str, api_version: &str) -> Option<Self> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        // Hand-written and re-written dumps may lack the version; a group that is told must be the right one, as others
        // have Jobs, too (batch.volcano.sh).
        let of = |expected: &str| api_version.is_empty() || group == expected;
        match kind {
            "Pod" if of("") => Some(Self::Pod),
            "Job" if of("batch") => Some(Self::Job),
            "CronJob" if of("batch") => Some(Self::CronJob),
            "JobSet" if of("jobset.x-k8s.io") => Some(Self::JobSet),
            "Event" if of("") || group == "events.k8s.io" => Some(Self::Event),
            "Node" if of("") => Some(Self::Node),
            "PersistentVolumeClaim" if of("") => Some(Self::Claim),
            "VolumeSnapshot" if of("snapshot.storage.k8s.io") => Some(Self::VolumeSnapshot),
            "PodCheckpoint" if of("checkpoint.k8s.io") => Some(Self::PodCheckpoint),
            "PodSnapshot" if of("podsnapshot.gke.io") => Some(Self::PodSnapshot),
            "Deployment" if of("apps") => Some(Self::Deployment),
            "ReplicaSet" if of("apps") => Some(Self::ReplicaSet),
            "StatefulSet" if of("apps") => Some(Self::StatefulSet),
            "DaemonSet" if of("apps") => Some(Self::DaemonSet),
            "ControllerRevision" if of("apps") => Some(Self::ControllerRevision),
            "LeaderWorkerSet" if of("leaderworkerset.x-k8s.io") => Some(Self::LeaderWorkerSet),
            "DisaggregatedSet" if of("disaggregatedset.x-k8s.io") => Some(Self::DisaggregatedSet),
            "Sandbox" if of("agents.x-k8s.io") => Some(Self::Sandbox),
            "SandboxClaim" if of("extensions.agents.x-k8s.io") => Some(Self::SandboxClaim),
            "SandboxWarmPool" if of("extensions.agents.x-k8s.io") => Some(Self::SandboxWarmPool),
            "TrainJob" if of("trainer.kubeflow.org") => Some(Self::TrainJob),
            "Workload" if of("kueue.x-k8s.io") => Some(Self::Queued),
            "Recording" if of("kubectl-sigapps") => Some(Self::Recording),
            "RecordingStatus" if of("kubectl-sigapps") => Some(Self::RecordingStatus),
            "Change" if of("kubectl-sigapps") => Some(Self::Change),
            "Log" if of("kubectl-sigapps") => Some(Self::Log),
            other if other.ends_with("List") => Some(Self::List),
            _ => None,
        }
    }

    /// A number for the list that its objects are kept in: two kinds share one.
    pub(super) const fn list(self) -> u8 {
        match self {
            Self::ControllerRevision => Self::ReplicaSet as u8,
            other => other as u8,
        }
    }

    /// The resource that it is counted under.
    pub(super) const fn resource(self) -> Resource {
        match self {
            Self::Pod | Self::List | Self::Recording | Self::RecordingStatus | Self::Change | Self::Log => {
                Resource::Pods
            }
            Self::Job => Resource::Jobs,
            Self::CronJob => Resource::CronJobs,
            Self::JobSet => Resource::JobSets,
            Self::Event => Resource::Events,
            Self::Node => Resource::Nodes,
            Self::Claim => Resource::Claims,
            Self::VolumeSnapshot => Resource::VolumeSnapshots,
            Self::PodCheckpoint => Resource::PodCheckpoints,
            Self::PodSnapshot => Resource::PodSnapshots,
            Self::Deployment => Resource::Deployments,
            Self::ReplicaSet => Resource::ReplicaSets,
            Self::StatefulSet => Resource::StatefulSets,
            Self::DaemonSet => Resource::DaemonSets,
            Self::ControllerRevision => Resource::ControllerRevisions,
            Self::LeaderWorkerSet => Resource::LeaderWorkerSets,
            Self::DisaggregatedSet => Resource::DisaggregatedSets,
            Self::Sandbox => Resource::Sandboxes,
            Self::SandboxClaim => Resource::SandboxClaims,
            Self::SandboxWarmPool => Resource::SandboxWarmPools,
            Self::TrainJob => Resource::TrainJobs,
            Self::Queued => Resource::Workloads,
        }
    }
}

/// The members by which an object's kind is known: its own, or, within a typed list that leaves them out and whose own
/// kind is yet to come, its shape.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Shape<'a> {
    #[serde(borrow)]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) api_version: Option<Cow<'a, str>>,
    involved_object: Option<serde::de::IgnoredAny>,
    regarding: Option<serde::de::IgnoredAny>,
    spec: Option<SpecShape>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SpecShape {
    containers: Option<serde::de::IgnoredAny>,
    job_template: Option<serde::de::IgnoredAny>,
    replicated_jobs: Option<serde::de::IgnoredAny>,
    backoff_limit: Option<serde::de::IgnoredAny>,
    completions: Option<serde::de::IgnoredAny>,
    parallelism: Option<serde::de::IgnoredAny>,
}

impl Shape<'_> {
    /// The kind that has such members.
    pub(super) fn kind(&self) -> Option<Kind> {
        let spec = self.spec.as_ref();
        let has = |member: fn(&SpecShape) -> bool| spec.is_some_and(member);
        if self.involved_object.is_some() || self.regarding.is_some() {
            Some(Kind::Event)
        } else if has(|spec| spec.containers.is_some()) {
            Some(Kind::Pod)
        } else if has(|spec| spec.job_template.is_some()) {
            Some(Kind::CronJob)
        } else if has(|spec| spec.replicated_jobs.is_some()) {
            Some(Kind::JobSet)
        } else if has(|spec| spec.backoff_limit.is_some() || spec.completions.is_some() || spec.parallelism.is_some()) {
            Some(Kind::Job)
        } else {
            None
        }
    }
}
