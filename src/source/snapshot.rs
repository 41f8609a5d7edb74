use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::model::{
    Claim, CronJob, DaemonSet, Deployment, DisaggregatedSet, Event, Head, Job, JobSet, LeaderWorkerSet, Node, Owner,
    Pod, Queued, Revision, Sandbox, SandboxClaim, SandboxWarmPool, StatefulSet, Taken, Time, TrainJob, Uid, Word,
};
use crate::report::{Source, SourceState};
use crate::request::TargetKind;

/// The resources that are read, in the order in which they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// `batch/v1` jobs.
    Jobs,
    /// Pods.
    Pods,
    /// `batch/v1` cronjobs.
    CronJobs,
    /// `jobset.x-k8s.io` jobsets.
    JobSets,
    /// Events.
    Events,
    /// Nodes.
    Nodes,
    /// `PersistentVolumeClaim`s.
    Claims,
    /// `snapshot.storage.k8s.io` volumesnapshots.
    VolumeSnapshots,
    /// `checkpoint.k8s.io` podcheckpoints.
    PodCheckpoints,
    /// `podsnapshot.gke.io` podsnapshots.
    PodSnapshots,
    /// `apps/v1` deployments.
    Deployments,
    /// `apps/v1` replicasets.
    ReplicaSets,
    /// `apps/v1` statefulsets.
    StatefulSets,
    /// `apps/v1` daemonsets.
    DaemonSets,
    /// `apps/v1` controllerrevisions.
    ControllerRevisions,
    /// `leaderworkerset.x-k8s.io` leaderworkersets.
    LeaderWorkerSets,
    /// `disaggregatedset.x-k8s.io` disaggregatedsets.
    DisaggregatedSets,
    /// `agents.x-k8s.io` sandboxes.
    Sandboxes,
    /// `extensions.agents.x-k8s.io` sandboxclaims.
    SandboxClaims,
    /// `extensions.agents.x-k8s.io` sandboxwarmpools.
    SandboxWarmPools,
    /// `trainer.kubeflow.org` trainjobs.
    TrainJobs,
    /// `kueue.x-k8s.io` workloads.
    Workloads,
}

impl Resource {
    /// All resources.
    pub const ALL: [Self; 22] = [
        Self::Jobs,
        Self::Pods,
        Self::CronJobs,
        Self::JobSets,
        Self::Events,
        Self::Nodes,
        Self::Claims,
        Self::VolumeSnapshots,
        Self::PodCheckpoints,
        Self::PodSnapshots,
        Self::Deployments,
        Self::ReplicaSets,
        Self::StatefulSets,
        Self::DaemonSets,
        Self::ControllerRevisions,
        Self::LeaderWorkerSets,
        Self::DisaggregatedSets,
        Self::Sandboxes,
        Self::SandboxClaims,
        Self::SandboxWarmPools,
        Self::TrainJobs,
        Self::Workloads,
    ];

    /// The resource's plural name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jobs => "jobs",
            Self::Pods => "pods",
            Self::CronJobs => "cronjobs",
            Self::JobSets => "jobsets",
            Self::Events => "events",
            Self::Nodes => "nodes",
            Self::Claims => "persistentvolumeclaims",
            Self::VolumeSnapshots => "volumesnapshots",
            Self::PodCheckpoints => "podcheckpoints",
            Self::PodSnapshots => "podsnapshots",
            Self::Deployments => "deployments",
            Self::ReplicaSets => "replicasets",
            Self::StatefulSets => "statefulsets",
            Self::DaemonSets => "daemonsets",
            Self::ControllerRevisions => "controllerrevisions",
            Self::LeaderWorkerSets => "leaderworkersets",
            Self::DisaggregatedSets => "disaggregatedsets",
            Self::Sandboxes => "sandboxes",
            Self::SandboxClaims => "sandboxclaims",
            Self::SandboxWarmPools => "sandboxwarmpools",
            Self::TrainJobs => "trainjobs",
            Self::Workloads => "workloads",
        }
    }

    /// The kind of its objects.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Jobs => "Job",
            Self::Pods => "Pod",
            Self::CronJobs => "CronJob",
            Self::JobSets => "JobSet",
            Self::Events => "Event",
            Self::Nodes => "Node",
            Self::Claims => "PersistentVolumeClaim",
            Self::VolumeSnapshots => "VolumeSnapshot",
            Self::PodCheckpoints => "PodCheckpoint",
            Self::PodSnapshots => "PodSnapshot",
            Self::Deployments => "Deployment",
            Self::ReplicaSets => "ReplicaSet",
            Self::StatefulSets => "StatefulSet",
            Self::DaemonSets => "DaemonSet",
            Self::ControllerRevisions => "ControllerRevision",
            Self::LeaderWorkerSets => "LeaderWorkerSet",
            Self::DisaggregatedSets => "DisaggregatedSet",
            Self::Sandboxes => "Sandbox",
            Self::SandboxClaims => "SandboxClaim",
            Self::SandboxWarmPools => "SandboxWarmPool",
            Self::TrainJobs => "TrainJob",
            Self::Workloads => "Workload",
        }
    }

    /// The resource's API group, empty for the core group.
    pub const fn group(self) -> &'static str {
        match self {
            Self::Jobs | Self::CronJobs => "batch",
            Self::JobSets => "jobset.x-k8s.io",
            Self::Pods | Self::Events | Self::Nodes | Self::Claims => "",
            Self::VolumeSnapshots => "snapshot.storage.k8s.io",
            Self::PodCheckpoints => "checkpoint.k8s.io",
            Self::PodSnapshots => "podsnapshot.gke.io",
            Self::Deployments
            | Self::ReplicaSets
            | Self::StatefulSets
            | Self::DaemonSets
            | Self::ControllerRevisions => "apps",
            Self::LeaderWorkerSets => "leaderworkerset.x-k8s.io",
            Self::DisaggregatedSets => "disaggregatedset.x-k8s.io",
            Self::Sandboxes => "agents.x-k8s.io",
            Self::SandboxClaims | Self::SandboxWarmPools => "extensions.agents.x-k8s.io",
            Self::TrainJobs => "trainer.kubeflow.org",
            Self::Workloads => "kueue.x-k8s.io",
        }
    }

    /// As RBAC names it: `jobs.batch`.
    pub fn rbac_name(self) -> String {
        match self.group() {
            "" => self.name().to_owned(),
            group => format!("{}.{group}", self.name()),
        }
    }

    /// What objects of a kind are read as.
    pub const fn of(kind: TargetKind) -> Self {
        match kind {
            TargetKind::Job => Self::Jobs,
            TargetKind::CronJob => Self::CronJobs,
            TargetKind::JobSet => Self::JobSets,
            TargetKind::Deployment => Self::Deployments,
            TargetKind::StatefulSet => Self::StatefulSets,
            TargetKind::DaemonSet => Self::DaemonSets,
            TargetKind::LeaderWorkerSet => Self::LeaderWorkerSets,
            TargetKind::DisaggregatedSet => Self::DisaggregatedSets,
            TargetKind::Sandbox => Self::Sandboxes,
            TargetKind::SandboxClaim => Self::SandboxClaims,
            TargetKind::SandboxWarmPool => Self::SandboxWarmPools,
            TargetKind::TrainJob => Self::TrainJobs,
            TargetKind::Workload => Self::Workloads,
            TargetKind::Node => Self::Nodes,
            TargetKind::Pod => Self::Pods,
        }
    }

    /// Whether it is workloads: what makes pods, or stands above what does.
    pub const fn is_workload(self) -> bool {
        matches!(
            self,
            Self::Jobs
                | Self::CronJobs
                | Self::JobSets
                | Self::Deployments
                | Self::StatefulSets
                | Self::DaemonSets
                | Self::LeaderWorkerSets
                | Self::DisaggregatedSets
                | Self::Sandboxes
                | Self::SandboxClaims
                | Self::SandboxWarmPools
                | Self::TrainJobs
        )
    }

    /// The resource of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|resource| resource.name() == name)
    }

    /// Whether no report can be made without it.
    pub const fn is_core(self) -> bool {
        matches!(self, Self::Jobs | Self::Pods)
    }
}

/// A time in which nothing was recorded: what was made and deleted in it is not in the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// When it was over.
    pub to: Option<Time>,
    /// What is missing, for a person.
    pub text: String,
}

/// All that was read, reduced to what may tell of a failure.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The kubeconfig context, of recordings as well; `None` for other files.
    pub cluster: Option<String>,
    /// Jobs, by namespace, name and uid.
    pub jobs: Vec<Job>,
    /// Pods that may tell of a failure, by namespace, name and uid.
    pub pods: Vec<Pod>,
    /// How many pods that are not among these an owner has, or had, on a node: they are fine.
    pub quiet_pods: HashMap<(Arc<Owner>, Word), u32>,
    /// `CronJob`s, by namespace, name and uid.
    pub cron_jobs: Vec<CronJob>,
    /// `JobSet`s, by namespace, name and uid.
    pub job_sets: Vec<JobSet>,
    /// Events about Jobs, `CronJob`s and `JobSet`s and, as far as asked for, about pods, by time.
    pub events: Vec<Event>,
    /// Nodes, by name.
    pub nodes: Vec<Node>,
    /// `PersistentVolumeClaim`s, by namespace and name.
    pub claims: Vec<Claim>,
    /// `VolumeSnapshot`s of claims, by namespace and name.
    pub volume_snapshots: Vec<Taken>,
    /// `PodCheckpoint`s, by namespace and name.
    pub pod_checkpoints: Vec<Taken>,
    /// GKE's Pod snapshots, by namespace and name.
    pub pod_snapshots: Vec<Taken>,
    /// `Deployment`s, by namespace, name and uid, as all that follow.
    pub deployments: Vec<Deployment>,
    /// `StatefulSet`s.
    pub stateful_sets: Vec<StatefulSet>,
    /// `DaemonSet`s.
    pub daemon_sets: Vec<DaemonSet>,
    /// `ReplicaSet`s and `ControllerRevision`s.
    pub revisions: Vec<Revision>,
    /// `LeaderWorkerSet`s.
    pub leader_worker_sets: Vec<LeaderWorkerSet>,
    /// `DisaggregatedSet`s.
    pub disaggregated_sets: Vec<DisaggregatedSet>,
    /// Agent Sandboxes.
    pub sandboxes: Vec<Sandbox>,
    /// What claims a Sandbox.
    pub sandbox_claims: Vec<SandboxClaim>,
    /// What keeps some Sandboxes ready.
    pub sandbox_warm_pools: Vec<SandboxWarmPool>,
    /// `TrainJob`s.
    pub train_jobs: Vec<TrainJob>,
    /// Kueue's `Workload`s.
    pub queued: Vec<Queued>,
    /// The Jobs, `JobSet`s and pods among these that a journal tells the deletion of, by uid.
    pub gone: BTreeSet<Uid>,
    /// Times in which nothing was recorded, of recordings.
    pub gaps: Vec<Gap>,
    /// What was read and what was not.
    pub sources: Vec<Source>,
    /// The newest time in the data.
    pub newest: Option<Time>,
    /// Objects of kinds that are not used, by kind.
    pub ignored: BTreeMap<String, u64>,
}

impl Snapshot {
    /// Tells of the first file that something is missing in it, where a time from which on all is asked for reaches into one
    /// in which nothing was recorded. What stands now was listed after that, and needs nothing of it.
    pub fn mark_gaps(&mut self, since: Time) {
        if self.gaps.iter().any(|gap| gap.to.is_none_or(|to| to > since))
            && let Some(file) = self.sources.iter_mut().find(|source| source.file.is_some())
            && file.state == SourceState::Read
        {
            file.state = SourceState::Gap;
        }
    }

    /// A node by its name; `None` where it was not read, or is gone.
    pub fn node(&self, name: &str) -> Option<&Node> {
        // Of one that was made again, a dump may hold both: the one whose state is the newest comes first.
        let first = self.nodes.partition_point(|node| *node.name < *name);
        self.nodes.get(first).filter(|node| *node.name == *name)
    }

    /// Puts everything into a fixed order, so that the report does not depend on the order of reading.
    pub(super) fn sort(&mut self) {
        self.jobs.sort_unstable_by(|a, b| (&a.namespace, &a.name, &a.uid).cmp(&(&b.namespace, &b.name, &b.uid)));
        self.pods.sort_unstable_by(|a, b| (&a.namespace, &a.name, &a.uid).cmp(&(&b.namespace, &b.name, &b.uid)));
        self.cron_jobs.sort_unstable_by(|a, b| (&a.namespace, &a.name, &a.uid).cmp(&(&b.namespace, &b.name, &b.uid)));
        self.job_sets.sort_unstable_by(|a, b| (&a.namespace, &a.name, &a.uid).cmp(&(&b.namespace, &b.name, &b.uid)));
        by_name(&mut self.deployments, |it| &it.head);
        by_name(&mut self.stateful_sets, |it| &it.head);
        by_name(&mut self.daemon_sets, |it| &it.head);
        by_name(&mut self.revisions, |it| &it.head);
        by_name(&mut self.leader_worker_sets, |it| &it.head);
        by_name(&mut self.disaggregated_sets, |it| &it.head);
        by_name(&mut self.sandboxes, |it| &it.head);
        by_name(&mut self.sandbox_claims, |it| &it.head);
        by_name(&mut self.sandbox_warm_pools, |it| &it.head);
        by_name(&mut self.train_jobs, |it| &it.head);
        by_name(&mut self.queued, |it| &it.head);
        self.events.sort_unstable_by(|a, b| {
            let when = |event: &Event| (event.first, event.last, event.count);
            let what =
                |event: &Event| (event.kind.clone(), event.namespace.clone(), event.name.clone(), event.uid.clone());
            when(a)
                .cmp(&when(b))
                .then_with(|| what(a).cmp(&what(b)))
                .then_with(|| (&a.reason, &a.message).cmp(&(&b.reason, &b.message)))
        });
        self.nodes.sort_unstable_by(|a, b| {
            let newest_first = a.name.cmp(&b.name).then_with(|| b.ready_since.cmp(&a.ready_since));
            newest_first.then_with(|| format!("{a:?}").cmp(&format!("{b:?}")))
        });
        // Of one that was deleted and made again, a dump may hold both.
        self.claims.sort_unstable_by(|a, b| {
            let names = (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name));
            names.then_with(|| format!("{a:?}").cmp(&format!("{b:?}")))
        });
        for taken in [&mut self.volume_snapshots, &mut self.pod_checkpoints, &mut self.pod_snapshots] {
            taken.sort_unstable_by(|a, b| {
                let names = (&a.namespace, &a.name, a.at).cmp(&(&b.namespace, &b.name, b.at));
                names.then_with(|| format!("{a:?}").cmp(&format!("{b:?}")))
            });
        }
    }
}

fn by_name<T: std::fmt::Debug>(list: &mut [T], head: fn(&T) -> &Head) {
    list.sort_unstable_by(|a, b| {
        let names = |it| {
            let head = head(it);
            (&head.namespace, &head.name, &head.uid)
        };
        // Of a dump made anonymous, or written by hand, several may have one name and no uid.
        names(a).cmp(&names(b)).then_with(|| format!("{a:?}").cmp(&format!("{b:?}")))
    });
}
