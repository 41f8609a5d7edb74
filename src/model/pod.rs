use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::condition::ConditionView;
use super::time::MaybeTime;
use super::{Interner, MetaView, Ordinal, Owner, Quantity, Text, Time, Uid, Word, or_default};

/// A pod as it is read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PodView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    metadata: MetaView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    spec: SpecView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    status: StatusView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SpecView<'a> {
    #[serde(borrow)]
    node_name: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    containers: Vec<ContainerView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    init_containers: Vec<ContainerView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ContainerView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    restart_policy: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    resources: ResourcesView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResourcesView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    limits: BTreeMap<Text<'a>, Quantity>,
    #[serde(borrow, deserialize_with = "or_default")]
    requests: BTreeMap<Text<'a>, Quantity>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StatusView<'a> {
    #[serde(borrow)]
    phase: Text<'a>,
    #[serde(borrow)]
    reason: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    start_time: MaybeTime,
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    container_statuses: Vec<ContainerStatusView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    init_container_statuses: Vec<ContainerStatusView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ContainerStatusView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    image: Text<'a>,
    #[serde(deserialize_with = "or_default")]
    restart_count: u32,
    #[serde(borrow, deserialize_with = "or_default")]
    state: StateView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    last_state: StateView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StateView<'a> {
    #[serde(borrow)]
    waiting: Option<WaitingView<'a>>,
    #[serde(borrow)]
    terminated: Option<TerminatedView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WaitingView<'a> {
    #[serde(borrow)]
    reason: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TerminatedView<'a> {
    #[serde(deserialize_with = "or_default")]
    exit_code: i32,
    #[serde(borrow)]
    reason: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    started_at: MaybeTime,
    finished_at: MaybeTime,
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContainerKind {
    /// One of `spec.containers`.
    App,
    /// One of `spec.initContainers` that runs to its end.
    Init,
    /// One of `spec.initContainers` with `restartPolicy: Always`.
    Sidecar,
}

/// A container's `state.terminated` (or, for restarts, `lastState.terminated`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerEnd {
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
    /// When the container started.
    pub started_at: Option<Time>,
    /// When the container ended.
    pub finished_at: Option<Time>,
    /// The container's memory settings, kept only where it was OOM-killed.
    pub memory: Option<Box<Memory>>,
}

/// Memory request and limit of a container, as written in the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// `resources.requests.memory`.
    pub request: Option<Box<str>>,
    /// `resources.limits.memory`.
    pub limit: Option<Box<str>>,
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

/// Conditions that every pod has; they say nothing about how a pod ended.
const ORDINARY_CONDITIONS: [&str; 5] =
    ["PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"];

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
    /// Ended app containers, in the status' order.
    pub ends: Box<[ContainerEnd]>,
    /// Type and status of all conditions, in the status' order; equal lists are shared between pods.
    pub conditions: Arc<[PodCondition]>,
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
    /// Why it has not started.
    pub waiting: Option<Waiting>,
    /// Containers that failed in place.
    pub restarts: Box<[Restart]>,
    /// When it became not ready, kept where its containers do not tell when they ended.
    pub not_ready: Option<Time>,
}

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
        self.rare.as_ref()?.waiting.as_ref()
    }

    /// Containers that failed in place.
    pub fn restarts(&self) -> &[Restart] {
        self.rare.as_ref().map_or(&[], |rare| &rare.restarts)
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

impl<'a> PodView<'a> {
    /// The pod's metadata.
    pub fn metadata(&self) -> &MetaView<'a> {
        &self.metadata
    }

    /// How far the pod's life had come when it was read: of two readings the further one is the newer.
    pub fn stage(&self) -> u8 {
        match self.phase() {
            Phase::Unknown => 0,
            Phase::Pending => 1,
            Phase::Running => 2,
            Phase::Succeeded | Phase::Failed => 3,
        }
    }

    /// The newest time the pod tells of, to learn as of when a dump was taken.
    pub fn newest_time(&self) -> Option<Time> {
        let status = &self.status;
        let statuses = status.container_statuses.iter().chain(&status.init_container_statuses);
        let ends = statuses.filter_map(|s| s.state.terminated.as_ref()).filter_map(|end| end.finished_at.0);
        let conditions = status.conditions.iter().filter_map(|condition| condition.last_transition_time.0);
        let own = [self.metadata.creation_timestamp.0, status.start_time.0, self.metadata.deletion_requested()];
        ends.chain(conditions).chain(own.into_iter().flatten()).max()
    }

    /// The record to keep, or `None` where nothing about the pod speaks of a failure.
    pub fn into_pod(self, interner: &mut Interner, selected: bool) -> Option<Pod> {
        let phase = self.phase();
        let deleting = self.metadata.deletion_timestamp.0.is_some();
        let ended = matches!(phase, Phase::Succeeded | Phase::Failed);
        let waiting = if ended || deleting { None } else { self.waiting(interner) };
        let restarts = if ended { Box::default() } else { self.restarts(interner) };
        let may_tell = phase == Phase::Failed
            || (deleting && phase != Phase::Succeeded)
            || waiting.is_some()
            || !restarts.is_empty();
        if !may_tell {
            return None;
        }
        let number = |text: &str| text.parse().ok().map(Ordinal::new);
        let annotations = &self.metadata.annotations;
        let status = &self.status;
        let end_is_known = !status.container_statuses.is_empty()
            && status
                .container_statuses
                .iter()
                .all(|status| status.state.terminated.as_ref().is_some_and(|end| end.finished_at.0.is_some()));
        let not_ready = status
            .conditions
            .iter()
            .find(|condition| &*condition.type_ == "Ready" && &*condition.status == "False")
            .and_then(|condition| condition.last_transition_time.0);
        let rare = Rare {
            not_ready: not_ready.filter(|_| !end_is_known && phase == Phase::Failed),
            reason: interner.intern_some(&status.reason),
            message: interner.intern_some(&status.message),
            init_ends: self.ends(&status.init_container_statuses, interner),
            told: self.told_conditions(interner),
            waiting,
            restarts,
        };
        Some(Pod {
            uid: self.metadata.uid(),
            namespace: interner.intern(&self.metadata.namespace),
            name: (*self.metadata.name).into(),
            owner: self.metadata.controller(interner).map(|owner| interner.intern_owner(owner)),
            selected,
            node: interner.intern_some(&self.spec.node_name),
            phase,
            created: self.metadata.creation_timestamp.0,
            started: status.start_time.0,
            deletion_requested: self.metadata.deletion_requested(),
            index: number(&annotations.completion_index),
            index_failures: number(&annotations.index_failure_count),
            index_ignored: number(&annotations.index_ignored_failure_count),
            restart_attempt: self.metadata.label("jobset.sigs.k8s.io/restart-attempt").and_then(number),
            accelerators: self.spec.accelerators(),
            end_is_known,
            is_tracked: self
                .metadata
                .finalizers
                .iter()
                .any(|finalizer| &**finalizer == "batch.kubernetes.io/job-tracking"),
            has_container_statuses: !(status.container_statuses.is_empty()
                && status.init_container_statuses.is_empty()),
            ends: self.ends(&status.container_statuses, interner),
            conditions: self.conditions(interner),
            rare: (rare != Rare::default()).then(|| Box::new(rare)),
        })
    }

    fn phase(&self) -> Phase {
        match &*self.status.phase {
            "Pending" => Phase::Pending,
            "Running" => Phase::Running,
            "Succeeded" => Phase::Succeeded,
            "Failed" => Phase::Failed,
            _ => Phase::Unknown,
        }
    }

    fn kind_of(&self, container: &str) -> ContainerKind {
        match self.spec.init_containers.iter().find(|init| &*init.name == container) {
            Some(init) if &*init.restart_policy == "Always" => ContainerKind::Sidecar,
            Some(_) => ContainerKind::Init,
            None => ContainerKind::App,
        }
    }

    /// Path of a container's status.
    fn status_path(&self, container: &str) -> String {
        let list =
            if self.kind_of(container) == ContainerKind::App { "containerStatuses" } else { "initContainerStatuses" };
        format!("status.{list}[name={container}]")
    }

    fn ends(&self, statuses: &[ContainerStatusView], interner: &mut Interner) -> Box<[ContainerEnd]> {
        statuses
            .iter()
            .filter_map(|status| Some((status, status.state.terminated.as_ref()?)))
            .map(|(status, end)| self.end(&status.name, end, interner))
            .collect()
    }

    fn end(&self, container: &str, end: &TerminatedView, interner: &mut Interner) -> ContainerEnd {
        let memory = (&*end.reason == "OOMKilled").then(|| Box::new(self.spec.memory_of(container)));
        ContainerEnd {
            container: interner.intern(container),
            kind: self.kind_of(container),
            exit_code: end.exit_code,
            reason: interner.intern_some(&end.reason),
            message: interner.intern_some(&end.message),
            started_at: end.started_at.0,
            finished_at: end.finished_at.0,
            memory,
        }
    }

    fn conditions(&self, interner: &mut Interner) -> Arc<[PodCondition]> {
        let conditions = self.status.conditions.iter();
        let list: Vec<_> = conditions
            .map(|c| PodCondition { type_: interner.intern(&c.type_), status: interner.intern(&c.status) })
            .collect();
        interner.intern_conditions(list)
    }

    fn told_conditions(&self, interner: &mut Interner) -> Box<[ToldCondition]> {
        let told = self.status.conditions.iter().filter(|c| !ORDINARY_CONDITIONS.contains(&&*c.type_));
        told.map(|condition| ToldCondition {
            type_: interner.intern(&condition.type_),
            status: interner.intern(&condition.status),
            reason: interner.intern_some(&condition.reason),
            message: interner.intern_some(&condition.message),
            at: condition.last_transition_time.0,
        })
        .collect()
    }

    /// The first container in an error that keeps it from starting, else the scheduler's refusal, else the first
    /// container still being created. `CrashLoopBackOff` is a restart, not a wait.
    fn waiting(&self, interner: &mut Interner) -> Option<Waiting> {
        let statuses = || self.status.init_container_statuses.iter().chain(&self.status.container_statuses);
        let creating = |reason: &str| matches!(reason, "" | "ContainerCreating" | "PodInitializing");
        let waits = |status: &&ContainerStatusView| status.state.waiting.is_some();
        let reason_of =
            |status: &ContainerStatusView| status.state.waiting.as_ref().map_or("", |w| &*w.reason).to_owned();
        let in_error = statuses().filter(waits).find(|status| {
            let reason = reason_of(status);
            !creating(&reason) && !matches!(&*reason, "CrashLoopBackOff" | "RestartingAllContainers")
        });
        let mut container = |status: &ContainerStatusView, since| {
            let waiting = status.state.waiting.as_ref()?;
            let reason = waiting.reason.some().unwrap_or("ContainerCreating");
            Some(Waiting {
                container: interner.intern_some(&status.name),
                image: interner.intern_some(&status.image),
                reason: interner.intern(reason),
                message: interner.intern_some(&waiting.message),
                since,
                path: interner.intern(&format!("{}.state.waiting.reason", self.status_path(&status.name))),
            })
        };
        let started = self.status.start_time.0.or(self.metadata.creation_timestamp.0);
        if let Some(status) = in_error {
            return container(status, started);
        }
        if self.phase() != Phase::Pending {
            return None;
        }
        let unscheduled = self.status.conditions.iter().find(|c| &*c.type_ == "PodScheduled" && &*c.status == "False");
        if let Some(condition) = unscheduled {
            return Some(Waiting {
                container: None,
                image: None,
                reason: interner.intern(condition.reason.some().unwrap_or("Unschedulable")),
                message: interner.intern_some(&condition.message),
                since: condition.last_transition_time.0.or(self.metadata.creation_timestamp.0),
                path: interner.intern("status.conditions[type=PodScheduled].reason"),
            });
        }
        // A pod whose init container is in CrashLoopBackOff is pending too; that one is told as a restart.
        if statuses().any(|status| &*reason_of(status) == "CrashLoopBackOff") {
            return None;
        }
        match statuses().find(waits) {
            Some(status) => container(status, started),
            // Neither scheduled nor refused yet, or bound and not yet seen by its kubelet.
            None if statuses().next().is_none() => Some(Waiting {
                container: None,
                image: None,
                reason: interner.intern(if self.spec.node_name.is_empty() { "Pending" } else { "ContainerCreating" }),
                message: None,
                since: self.metadata.creation_timestamp.0,
                path: interner.intern("status.phase"),
            }),
            None => None,
        }
    }

    fn restarts(&self, interner: &mut Interner) -> Box<[Restart]> {
        let statuses = self.status.container_statuses.iter().chain(&self.status.init_container_statuses);
        statuses
            .filter_map(|status| {
                let backing_off = status.state.waiting.as_ref().is_some_and(|w| &*w.reason == "CrashLoopBackOff");
                let last = status.last_state.terminated.as_ref()?;
                let failed = last.exit_code != 0 || &*last.reason == "OOMKilled";
                (status.restart_count > 0 && (failed || backing_off)).then(|| Restart {
                    count: status.restart_count,
                    backing_off,
                    last: self.end(&status.name, last, interner),
                })
            })
            .collect()
    }
}

impl SpecView<'_> {
    /// Accelerators held by the pod: the containers' and sidecars' sum, or the largest init container's if that is more.
    #[allow(clippy::cast_possible_truncation)] // counts of devices are small
    fn accelerators(&self) -> f32 {
        let (sidecars, inits): (Vec<_>, Vec<_>) =
            self.init_containers.iter().partition(|container| &*container.restart_policy == "Always");
        let running: f64 = self.containers.iter().chain(sidecars).map(ContainerView::accelerators).sum();
        inits.into_iter().map(ContainerView::accelerators).fold(running, f64::max) as f32
    }

    fn memory_of(&self, container: &str) -> Memory {
        let found = self.containers.iter().chain(&self.init_containers).find(|c| &*c.name == container);
        let of = |list: fn(&ContainerView) -> Option<Box<str>>| found.and_then(list);
        Memory {
            request: of(|c| c.resources.requests.get("memory").map(|q| q.as_str().into())),
            limit: of(|c| c.resources.limits.get("memory").map(|q| q.as_str().into())),
        }
    }
}

impl ContainerView<'_> {
    fn accelerators(&self) -> f64 {
        // For extended resources limit and request are equal, and the limit alone may be given.
        let list = if self.resources.limits.is_empty() { &self.resources.requests } else { &self.resources.limits };
        list.iter().filter(|(name, _)| is_accelerator(name)).filter_map(|(_, quantity)| quantity.value()).sum()
    }
}

/// Whether an extended resource is a whole accelerator. Slices (`nvidia.com/mig-…`) are not: a seventh of a GPU must not
/// be counted as one.
fn is_accelerator(resource: &str) -> bool {
    resource.ends_with("/gpu")
        || matches!(resource, "google.com/tpu" | "habana.ai/gaudi" | "gpu.intel.com/i915" | "gpu.intel.com/xe")
        || resource.starts_with("aws.amazon.com/neuron")
        || resource.starts_with("huawei.com/Ascend")
}
