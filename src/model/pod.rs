use std::ops::Deref;
use std::sync::Arc;

use super::{Ends, Ordinal, Owner, Time, Uid, Word};

/// `status.phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Accepted, not all containers have started.
    Pending,
    /// Bound and started.
    Running,
    /// Ended, all containers with success.
    Succeeded,
    /// Ended, at least one container with failure, or refused by the kubelet.
    Failed,
    /// `Unknown`, absent, or a phase newer than this tool.
    Unknown,
}

/// What kind of container an end belongs to; they stand in different lists of the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContainerKind {
    /// One of `spec.containers`.
    App,
    /// One of `spec.initContainers` that runs to its end.
    Init,
    /// One of `spec.initContainers` with `restartPolicy: Always`.
    Sidecar,
}

/// A container's `state.terminated` (or, for restarts, `lastState.terminated`).
///
/// A hundred thousand containers end in a few ways: all but the times is shared, and read as if it stood here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerEnd {
    /// How it ended.
    pub outcome: Arc<ContainerOutcome>,
    /// When the container started.
    pub started_at: Option<Time>,
    /// When the container ended.
    pub finished_at: Option<Time>,
}

impl Deref for ContainerEnd {
    type Target = ContainerOutcome;

    fn deref(&self) -> &ContainerOutcome {
        &self.outcome
    }
}

/// How a container ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContainerOutcome {
    /// The container's name.
    pub container: Word,
    /// App, init or sidecar.
    pub kind: ContainerKind,
    /// Exit code; negative ones occur on Windows.
    pub exit_code: i32,
    /// `Error`, `OOMKilled`, `ContainerStatusUnknown`, …
    pub reason: Option<Word>,
    /// The termination message, as the container left it.
    pub message: Option<Word>,
    /// The container's memory settings, kept only where it was OOM-killed.
    pub memory: Option<Box<Memory>>,
}

/// Memory request and limit of a container, as written in the pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Memory {
    /// `resources.requests.memory`.
    pub request: Option<Box<str>>,
    /// `resources.limits.memory`.
    pub limit: Option<Box<str>>,
    /// `spec.resources.limits.memory`: what all containers of the pod together may use (KEP-2837).
    pub pod_limit: Option<Box<str>>,
}

/// What a pod template says of its containers' memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TemplateMemory {
    /// Containers and init containers, by name. What a webhook adds to the pods is not among them.
    pub containers: Box<[(Word, Memory)]>,
}

impl TemplateMemory {
    /// What is said of a container; `None` where the template has none of that name.
    pub fn of(&self, container: &str) -> Option<&Memory> {
        self.containers.iter().find(|(name, _)| **name == *container).map(|(_, memory)| memory)
    }
}

/// Type and status of one of `status.conditions`: all that a policy rule can ask for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PodCondition {
    /// The condition's type.
    pub type_: Word,
    /// `True`, `False` or `Unknown`.
    pub status: Word,
}

/// A condition that not every pod has, with what its setter says: `DisruptionTarget`, or a custom one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldCondition {
    /// The condition's type.
    pub type_: Word,
    /// `True`, `False` or `Unknown`.
    pub status: Word,
    /// `EvictionByEvictionAPI`, `PreemptionByScheduler`, …
    pub reason: Option<Word>,
    /// The setter's message.
    pub message: Option<Word>,
    /// When it was set.
    pub at: Option<Time>,
}

/// Why a container, or the whole pod, has not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The container; `None` where the pod waits for a node.
    pub container: Option<Word>,
    /// The container's image.
    pub image: Option<Word>,
    /// `ImagePullBackOff`, `ContainerCreating`, `Unschedulable`, `SchedulingGated`, …
    pub reason: Word,
    /// The kubelet's or the scheduler's message.
    pub message: Option<Word>,
    /// Since when, as far as it is told.
    pub since: Option<Time>,
    /// The field that says so.
    pub path: Word,
}

/// A container that failed in place and was, or will be, started again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restart {
    /// `restartCount`.
    pub count: u32,
    /// Whether the kubelet is holding it in `CrashLoopBackOff`.
    pub backing_off: bool,
    /// How it ended last.
    pub last: ContainerEnd,
}

/// A pod that may tell of a failure. Pods that are fine are not kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Pod {
    /// `metadata.uid`.
    pub uid: Option<Uid>,
    /// `metadata.namespace`.
    pub namespace: Word,
    /// `metadata.name`.
    pub name: Box<str>,
    /// The controlling owner.
    pub owner: Option<Arc<Owner>>,
    /// Whether the labels match the selector asked for.
    pub selected: bool,
    /// The node the pod is, or was, bound to.
    pub node: Option<Word>,
    /// `status.phase`.
    pub phase: Phase,
    /// `metadata.creationTimestamp`.
    pub created: Option<Time>,
    /// `status.startTime`, when the kubelet took it on.
    pub started: Option<Time>,
    /// When its deletion was asked for.
    pub deletion_requested: Option<Time>,
    /// Completion index of an Indexed Job.
    pub index: Option<Ordinal>,
    /// Counted failures of the same index before this pod (`backoffLimitPerIndex` only).
    pub index_failures: Option<Ordinal>,
    /// Ignored failures of the same index before this pod (`backoffLimitPerIndex` only).
    pub index_ignored: Option<Ordinal>,
    /// Label `jobset.sigs.k8s.io/restart-attempt`.
    pub restart_attempt: Option<Ordinal>,
    /// GPUs and other accelerators the pod holds.
    pub accelerators: f32,
    /// Whether the status holds any (init) container status at all; pods refused by the kubelet have none.
    pub has_container_statuses: bool,
    /// Whether all app containers have ended, and at known times.
    pub end_is_known: bool,
    /// Whether it holds the finalizer `batch.kubernetes.io/job-tracking`: the controller has not accounted for it yet.
    pub is_tracked: bool,
    /// Whether its spec names the nodes that it may run on, so that no scheduler chose.
    pub is_pinned: bool,
    /// Ended app containers, in the status' order.
    pub ends: Ends,
    /// Type and status of all conditions, in the status' order; equal lists are shared between pods, in the room of one
    /// pointer.
    pub conditions: Arc<Box<[PodCondition]>>,
    /// What most pods do not have.
    pub rare: Option<Box<Rare>>,
}

/// What is told of few pods; kept apart, as there may be a hundred thousand that failed in the common way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rare {
    /// `status.reason`: `Evicted`, `UnexpectedAdmissionError`, …
    pub reason: Option<Word>,
    /// `status.message`.
    pub message: Option<Word>,
    /// Ended init containers and sidecars, in the status' order.
    pub init_ends: Box<[ContainerEnd]>,
    /// Conditions that not every pod has.
    pub told: Box<[ToldCondition]>,
    /// Why it has not started; in the room of a pointer, as what has ended waits for nothing.
    pub waiting: Option<Box<Waiting>>,
    /// Containers that failed in place.
    pub restarts: Box<[Restart]>,
    /// When it became not ready, kept where its containers do not tell when they ended.
    pub not_ready: Option<Time>,
    /// `metadata.deletionGracePeriodSeconds` of a pod being deleted.
    pub grace_seconds: i64,
    /// Devices that the kubelet reports as unhealthy: `nvidia.com/gpu GPU-5f1c`.
    pub unhealthy_devices: Box<[Word]>,
    /// What is told of pods that belong to no Job, or run and are not ready; in the room of a pointer, as most have neither.
    pub beside: Option<Box<Beside>>,
}

/// What pods have that belong to no Job, or run and are not ready.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// The workload above its controlling owner, where its labels tell it: a `Deployment`, a `LeaderWorkerSet`.
    pub above: Option<Owner>,
    /// Which version of its workload's template it was made from, and which group of a `LeaderWorkerSet` it is in.
    pub made_from: MadeFrom,
    /// Why it is not ready, though it runs.
    pub unready: Option<Unready>,
}

/// What the labels of a pod that belongs to no Job tell of its place in its workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MadeFrom {
    /// `pod-template-hash` or `controller-revision-hash`.
    pub revision: Option<Word>,
    /// `pod-template-generation`: of a `DaemonSet`'s pods.
    pub generation: Option<u64>,
    /// `leaderworkerset.sigs.k8s.io/group-index`.
    pub group: Option<Ordinal>,
}

/// The condition `Ready` of a pod that runs, where it is not `True`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unready {
    /// `ContainersNotReady`, `ReadinessGatesNotReady`, …; none where the node's controller set it.
    pub reason: Option<Word>,
    /// `containers with unready status: [app]`.
    pub message: Option<Word>,
    /// Since when.
    pub since: Option<Time>,
    /// Whether a container of it has not passed its startup probe yet, or it has never been ready.
    pub is_starting: bool,
}

/// How long after it should have ended a pod is not yet called stuck, in seconds: the kubelet and the API server take
/// their time.
pub const TEARDOWN_PATIENCE_SECONDS: i64 = 30;

impl Pod {
    /// `status.reason`: `Evicted`, `UnexpectedAdmissionError`, …
    pub fn reason(&self) -> Option<&str> {
        self.rare.as_ref()?.reason.as_deref()
    }

    /// `status.message`.
    pub fn message(&self) -> Option<&str> {
        self.rare.as_ref()?.message.as_deref()
    }

    /// Ended init containers and sidecars, in the status' order.
    pub fn init_ends(&self) -> &[ContainerEnd] {
        self.rare.as_ref().map_or(&[], |rare| &rare.init_ends)
    }

    /// Conditions that not every pod has.
    pub fn told_conditions(&self) -> &[ToldCondition] {
        self.rare.as_ref().map_or(&[], |rare| &rare.told)
    }

    /// The condition `DisruptionTarget`, if `True`.
    pub fn disruption(&self) -> Option<&ToldCondition> {
        self.told_conditions().iter().find(|told| &*told.type_ == "DisruptionTarget" && &*told.status == "True")
    }

    /// Why it has not started.
    pub fn waiting(&self) -> Option<&Waiting> {
        self.rare.as_ref()?.waiting.as_deref()
    }

    /// Containers that failed in place.
    pub fn restarts(&self) -> &[Restart] {
        self.rare.as_ref().map_or(&[], |rare| &rare.restarts)
    }

    /// How long it may take to end once its deletion was asked for, in seconds.
    pub fn grace_seconds(&self) -> i64 {
        self.rare.as_ref().map_or(0, |rare| rare.grace_seconds)
    }

    /// Devices that the kubelet reports as unhealthy (`allocatedResourcesStatus`).
    pub fn unhealthy_devices(&self) -> &[Word] {
        self.rare.as_ref().map_or(&[], |rare| &rare.unhealthy_devices)
    }

    fn beside(&self) -> Option<&Beside> {
        self.rare.as_ref()?.beside.as_deref()
    }

    /// What its labels tell of its place in its workload.
    pub fn made_from(&self) -> Option<&MadeFrom> {
        self.beside().map(|beside| &beside.made_from)
    }

    /// Why it is not ready, though it runs.
    pub fn unready(&self) -> Option<&Unready> {
        self.beside()?.unready.as_ref()
    }

    /// The workload that it is a pod of, as far as itself tells: above its controlling owner, else that.
    pub fn workload(&self) -> Option<&Owner> {
        self.beside().and_then(|beside| beside.above.as_ref()).or(self.owner.as_deref())
    }

    /// All ended containers, in the order in which the Job controller looks at them.
    pub fn all_ends(&self) -> impl Iterator<Item = &ContainerEnd> {
        self.ends.iter().chain(self.init_ends())
    }

    /// When the pod ended, as the Job controller reckons for its back-off (`getFinishedTime`): the latest end of a
    /// container, else when it became not ready. A pod that the kubelet refused ended when it was taken on. `None` where
    /// it has not ended, or nothing tells when.
    pub fn finished_at(&self) -> Option<Time> {
        if self.phase != Phase::Failed {
            return None;
        }
        let last = self.all_ends().filter_map(|end| end.finished_at).max();
        let refused = self.started.filter(|_| !self.has_container_statuses);
        last.filter(|_| self.end_is_known).or(self.rare.as_ref().and_then(|rare| rare.not_ready)).or(last).or(refused)
    }

    /// Whether it is being deleted and has not ended yet.
    pub fn is_terminating(&self) -> bool {
        self.deletion_requested.is_some() && matches!(self.phase, Phase::Pending | Phase::Running | Phase::Unknown)
    }
}
