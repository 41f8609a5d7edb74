use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::model::{Claim, CronJob, Event, Job, JobSet, Node, Owner, Pod, Taken, Time, Word};
use crate::report::Source;

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
}

impl Resource {
    /// All resources.
    pub const ALL: [Self; 10] = [
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
        }
    }

    /// Whether no report can be made without it.
    pub const fn is_core(self) -> bool {
        matches!(self, Self::Jobs | Self::Pods)
    }
}

/// All that was read, reduced to what may tell of a failure.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The kubeconfig context; `None` for files.
    pub cluster: Option<String>,
    /// Jobs, by namespace, name and uid.
    pub jobs: Vec<Job>,
    /// Pods that may tell of a failure, by namespace, name and uid.
    pub pods: Vec<Pod>,
    /// How many pods that are not among these a Job has, or had, on a node: they are fine.
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
    /// What was read and what was not.
    pub sources: Vec<Source>,
    /// The newest time in the data.
    pub newest: Option<Time>,
    /// Objects of kinds that are not used, by kind.
    pub ignored: BTreeMap<String, u64>,
}

impl Snapshot {
    /// A node by its name; `None` where it was not read, or is gone.
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.binary_search_by(|node| (*node.name).cmp(name)).ok().map(|index| &self.nodes[index])
    }

    /// Puts everything into a fixed order, so that the report does not depend on the order of reading.
    pub(super) fn sort(&mut self) {
        self.jobs.sort_unstable_by(|a, b| (&a.namespace, &a.name, &a.uid).cmp(&(&b.namespace, &b.name, &b.uid)));
        self.pods.sort_unstable_by(|a, b| (&a.namespace, &a.name, &a.uid).cmp(&(&b.namespace, &b.name, &b.uid)));
        self.cron_jobs.sort_unstable_by(|a, b| (&a.namespace, &a.name, &a.uid).cmp(&(&b.namespace, &b.name, &b.uid)));
        self.job_sets.sort_unstable_by(|a, b| (&a.namespace, &a.name, &a.uid).cmp(&(&b.namespace, &b.name, &b.uid)));
        self.events.sort_unstable_by(|a, b| {
            let when = |event: &Event| (event.first, event.last, event.count);
            let what =
                |event: &Event| (event.kind.clone(), event.namespace.clone(), event.name.clone(), event.uid.clone());
            when(a)
                .cmp(&when(b))
                .then_with(|| what(a).cmp(&what(b)))
                .then_with(|| (&a.reason, &a.message).cmp(&(&b.reason, &b.message)))
        });
        self.nodes.sort_unstable_by(|a, b| (&a.name, a.ready).cmp(&(&b.name, b.ready)));
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
