use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::condition::ConditionView;
use super::placement::{AffinityView, names_nodes};
use super::time::MaybeTime;
use super::{
    Beside, ContainerEnd, ContainerKind, ContainerOutcome, Interner, MadeFrom, Memory, ObjectView, Ordinal, Owner,
    OwnerView, Phase, Pod, PodCondition, Quantity, Rare, Restart, TemplateMemory, Text, Time, ToldCondition, Unready,
    Waiting, Word, or_default,
};

/// A pod as it is read.
pub(crate) type PodView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

/// `spec` of a pod or of a pod template.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SpecView<'a> {
    #[serde(borrow)]
    node_name: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    scheduling_gates: Vec<GateView<'a>>,
    #[serde(borrow)]
    pub(super) restart_policy: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    containers: Vec<ContainerView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    init_containers: Vec<ContainerView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    resources: ResourcesView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    node_selector: BTreeMap<Text<'a>, Text<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    affinity: AffinityView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GateView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
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
pub(crate) struct StatusView<'a> {
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
    started: Option<bool>,
    #[serde(borrow, deserialize_with = "or_default")]
    state: StateView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    last_state: StateView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    allocated_resources_status: Vec<AllocatedView<'a>>,
}

/// Health of a container's devices (KEP-4680).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AllocatedView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    resources: Vec<DeviceView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DeviceView<'a> {
    #[serde(borrow, rename = "resourceID")]
    resource_id: Text<'a>,
    #[serde(borrow)]
    health: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StateView<'a> {
    #[serde(borrow)]
    waiting: Option<WaitingView<'a>>,
    #[serde(borrow)]
    terminated: Option<TerminatedView<'a>>,
    running: Option<RunningView>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RunningView {
    started_at: MaybeTime,
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

/// Conditions that every pod has; they say nothing about how a pod ended.
const ORDINARY_CONDITIONS: [&str; 5] =
    ["PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"];

impl PodView<'_> {
    /// How far the pod's life had come when it was read: of two readings the further one is the newer.
    pub(crate) fn stage(&self) -> u8 {
        match self.phase() {
            Phase::Unknown => 0,
            Phase::Pending => 1,
            Phase::Running => 2,
            Phase::Succeeded | Phase::Failed => 3,
        }
    }

    /// The newest time the pod tells of, to learn as of when a dump was taken.
    pub(crate) fn newest_time(&self) -> Option<Time> {
        let status = &self.status;
        let statuses = status.container_statuses.iter().chain(&status.init_container_statuses);
        let ends = statuses.filter_map(|s| s.state.terminated.as_ref()).filter_map(|end| end.finished_at.0);
        let conditions = status.conditions.iter().filter_map(|condition| condition.last_transition_time.0);
        let own = [self.metadata.creation_timestamp.0, status.start_time.0, self.metadata.deletion_requested()];
        ends.chain(conditions).chain(own.into_iter().flatten()).max()
    }

    /// The record to keep, or `None` where nothing about the pod speaks of a failure and nobody asked for it.
    pub(crate) fn to_pod(&self, interner: &mut Interner, selected: bool, asked_for: bool) -> Option<Pod> {
        let phase = self.phase();
        let deleting = self.metadata.deletion_timestamp.0.is_some();
        let ended = matches!(phase, Phase::Succeeded | Phase::Failed);
        let waiting = if ended || deleting { None } else { self.waiting(interner) };
        let restarts = if ended { Box::default() } else { self.restarts(interner) };
        let may_tell = phase == Phase::Failed
            || (deleting && phase != Phase::Succeeded)
            || waiting.is_some()
            || !restarts.is_empty()
            || self.unready().is_some();
        if !may_tell && !asked_for {
            return None;
        }
        let rare = self.rare(waiting, restarts, interner);
        Some(self.pod(rare, selected, interner))
    }

    /// What is told of few pods.
    fn rare(&self, waiting: Option<Waiting>, restarts: Box<[Restart]>, interner: &mut Interner) -> Rare {
        let status = &self.status;
        let is_deleted = self.metadata.deletion_timestamp.0.is_some();
        let ended_somehow = !self.end_is_known() && self.phase() == Phase::Failed;
        Rare {
            not_ready: self.not_ready().filter(|_| ended_somehow),
            reason: interner.intern_some(&status.reason),
            message: interner.intern_some(&status.message),
            init_ends: self.ends(&status.init_container_statuses, interner),
            told: self.told_conditions(interner),
            waiting: waiting.map(Box::new),
            restarts,
            unhealthy_devices: self.unhealthy_devices(interner),
            beside: self.beside(interner),
            grace_seconds: if is_deleted { self.metadata.deletion_grace_period_seconds } else { 0 },
        }
    }

    fn pod(&self, rare: Rare, selected: bool, interner: &mut Interner) -> Pod {
        let number = |text: &str| text.parse().ok().map(Ordinal::new);
        let (annotations, status) = (&self.metadata.annotations, &self.status);
        let mut finalizers = self.metadata.finalizers.iter();
        Pod {
            uid: self.metadata.uid(),
            namespace: interner.intern(&self.metadata.namespace),
            name: (*self.metadata.name).into(),
            owner: self.metadata.controller(interner).map(|owner| interner.intern_owner(owner)),
            selected,
            node: interner.intern_some(&self.spec.node_name),
            phase: self.phase(),
            created: self.metadata.creation_timestamp.0,
            started: status.start_time.0,
            deletion_requested: self.metadata.deletion_requested(),
            index: number(&annotations.completion_index),
            index_failures: number(&annotations.index_failure_count),
            index_ignored: number(&annotations.index_ignored_failure_count),
            restart_attempt: self.metadata.label("jobset.sigs.k8s.io/restart-attempt").and_then(number),
            accelerators: self.spec.accelerators(),
            end_is_known: self.end_is_known(),
            is_tracked: finalizers.any(|finalizer| &**finalizer == "batch.kubernetes.io/job-tracking"),
            is_pinned: self.spec.names_nodes(),
            has_container_statuses: !(status.container_statuses.is_empty()
                && status.init_container_statuses.is_empty()),
            ends: self.ends(&status.container_statuses, interner),
            conditions: self.conditions(interner),
            rare: (rare != Rare::default()).then(|| Box::new(rare)),
        }
    }

    /// Whether all app containers have ended, and at known times.
    fn end_is_known(&self) -> bool {
        let statuses = &self.status.container_statuses;
        let is_known = |status: &ContainerStatusView| {
            status.state.terminated.as_ref().is_some_and(|end| end.finished_at.0.is_some())
        };
        !statuses.is_empty() && statuses.iter().all(is_known)
    }

    /// When it became not ready.
    fn not_ready(&self) -> Option<Time> {
        let is = |condition: &&ConditionView| &*condition.type_ == "Ready" && &*condition.status == "False";
        self.status.conditions.iter().find(is)?.last_transition_time.0
    }

    /// The owner and the node of a pod that has both, to know how many ran where. One that may not run elsewhere says nothing
    /// of that.
    pub(crate) fn placed(&self, interner: &mut Interner) -> Option<(Arc<Owner>, Word)> {
        if self.spec.names_nodes() {
            return None;
        }
        let node = interner.intern_some(&self.spec.node_name)?;
        let owner = self.metadata.controller(interner)?;
        Some((interner.intern_owner(owner), node))
    }

    /// What pods have that belong to no Job, or run and are not ready.
    fn beside(&self, interner: &mut Interner) -> Option<Box<Beside>> {
        let statuses = &self.status.container_statuses;
        let beside = Beside {
            above: self.above(interner),
            made_from: self.made_from(interner),
            unready: self.unready().map(|condition| Unready {
                reason: interner.intern_some(&condition.reason),
                message: interner.intern_some(&condition.message),
                since: condition.last_transition_time.0,
                is_starting: statuses.iter().any(|status| status.started == Some(false)) || self.was_never_ready(),
            }),
        };
        (beside != Beside::default()).then(|| Box::new(beside))
    }

    /// The condition `Ready` of a pod that runs, where it is not `True`.
    fn unready(&self) -> Option<&ConditionView<'_>> {
        let runs = self.phase() == Phase::Running && self.metadata.deletion_timestamp.0.is_none();
        let is = |condition: &&ConditionView| &*condition.type_ == "Ready" && &*condition.status != "True";
        self.status.conditions.iter().find(is).filter(|_| runs)
    }

    /// Whether it has never been ready: `Ready` is `False` since before its containers started, for the first time.
    fn was_never_ready(&self) -> bool {
        let unready = self.unready().and_then(|condition| condition.last_transition_time.0);
        let statuses = &self.status.container_statuses;
        let starts = || statuses.iter().filter_map(|status| status.state.running.as_ref()?.started_at.0);
        statuses.iter().all(|status| status.restart_count == 0)
            && unready.zip(starts().min()).is_some_and(|(unready, start)| unready <= start)
    }

    /// What the labels of a pod that belongs to no Job tell of its place in its workload.
    fn made_from(&self, interner: &mut Interner) -> MadeFrom {
        let of_job = |owner: &OwnerView| owner.controller && &*owner.kind == "Job";
        if self.metadata.owner_references.iter().any(of_job) {
            return MadeFrom::default();
        }
        let label = |key: &str| self.metadata.label(key);
        let revision = label("pod-template-hash").or_else(|| label("controller-revision-hash"));
        MadeFrom {
            revision: revision.and_then(|hash| interner.intern_some(hash)),
            generation: label("pod-template-generation").and_then(|generation| generation.parse().ok()),
            group: label("leaderworkerset.sigs.k8s.io/group-index")
                .and_then(|group| group.parse().ok())
                .map(Ordinal::new),
        }
    }

    /// The workload above the controlling owner, by the labels that its controller sets.
    ///
    /// Source: a Deployment's `ReplicaSet` is named by it and the hash of its template, and both carry that hash
    /// (`pkg/controller/deployment/sync.go`, `getNewReplicaSet`); all pods of a `LeaderWorkerSet` carry its name
    /// (lws `pkg/controllers/leaderworkerset_controller.go`, `pkg/webhooks/pod_webhook.go`).
    fn above(&self, interner: &mut Interner) -> Option<Owner> {
        let owner = self.metadata.controller(interner)?;
        if owner.is("apps", "ReplicaSet") {
            let hash = self.metadata.label("pod-template-hash").filter(|hash| !hash.is_empty())?;
            let name = owner.name.strip_suffix(hash)?.strip_suffix('-')?;
            return Some(Owner {
                kind: interner.intern("Deployment"),
                name: interner.intern(name),
                uid: None,
                ..owner
            });
        }
        let name =
            self.metadata.label("leaderworkerset.sigs.k8s.io/name").filter(|_| owner.is("apps", "StatefulSet"))?;
        Some(Owner {
            group: interner.intern("leaderworkerset.x-k8s.io"),
            kind: interner.intern("LeaderWorkerSet"),
            name: interner.intern(name),
            uid: None,
        })
    }

    fn unhealthy_devices(&self, interner: &mut Interner) -> Box<[Word]> {
        let statuses = self.status.container_statuses.iter().chain(&self.status.init_container_statuses);
        let devices = statuses.flat_map(|status| &status.allocated_resources_status).flat_map(|allocated| {
            let unhealthy = allocated.resources.iter().filter(|device| &*device.health == "Unhealthy");
            unhealthy.map(|device| format!("{} {}", &*allocated.name, &*device.resource_id))
        });
        devices.map(|device| interner.intern(&device)).collect()
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

    fn ends<Kept: FromIterator<ContainerEnd>>(
        &self,
        statuses: &[ContainerStatusView],
        interner: &mut Interner,
    ) -> Kept {
        statuses
            .iter()
            .filter_map(|status| Some((status, status.state.terminated.as_ref()?)))
            .map(|(status, end)| self.end(&status.name, end, interner))
            .collect()
    }

    fn end(&self, container: &str, end: &TerminatedView, interner: &mut Interner) -> ContainerEnd {
        let memory = (&*end.reason == "OOMKilled").then(|| Box::new(self.spec.memory_of(container)));
        let outcome = ContainerOutcome {
            container: interner.intern(container),
            kind: self.kind_of(container),
            exit_code: end.exit_code,
            reason: interner.intern_some(&end.reason),
            message: interner.intern_some(&end.message),
            memory,
        };
        ContainerEnd {
            outcome: interner.intern_outcome(outcome),
            started_at: end.started_at.0,
            finished_at: end.finished_at.0,
        }
    }

    fn conditions(&self, interner: &mut Interner) -> Arc<Box<[PodCondition]>> {
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
        let started = self.status.start_time.0.or(self.metadata.creation_timestamp.0);
        if let Some(status) = in_error {
            return self.waiting_container(status, started, interner);
        }
        if self.phase() != Phase::Pending {
            return None;
        }
        let unscheduled = self.status.conditions.iter().find(|c| &*c.type_ == "PodScheduled" && &*c.status == "False");
        if let Some(condition) = unscheduled {
            // The condition does not say which gates.
            let gates: Vec<&str> = self.spec.scheduling_gates.iter().map(|gate| &*gate.name).collect();
            return Some(Waiting {
                container: None,
                image: None,
                reason: interner.intern(condition.reason.some().unwrap_or("Unschedulable")),
                message: if gates.is_empty() || &*condition.reason != "SchedulingGated" {
                    interner.intern_some(&condition.message)
                } else {
                    Some(interner.intern(&format!("scheduling gates: {}", gates.join(", "))))
                },
                since: condition.last_transition_time.0.or(self.metadata.creation_timestamp.0),
                path: interner.intern("status.conditions[type=PodScheduled].reason"),
            });
        }
        // A pod whose init container is in CrashLoopBackOff is pending too; that one is told as a restart.
        if statuses().any(|status| &*reason_of(status) == "CrashLoopBackOff") {
            return None;
        }
        match statuses().find(waits) {
            Some(status) => self.waiting_container(status, started, interner),
            None => statuses().next().is_none().then(|| self.waiting_without_status(interner)),
        }
    }

    /// A container that has not started, by its status.
    fn waiting_container(
        &self,
        status: &ContainerStatusView,
        since: Option<Time>,
        interner: &mut Interner,
    ) -> Option<Waiting> {
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
    }

    /// Neither scheduled nor refused yet, or bound and not yet seen by its kubelet.
    fn waiting_without_status(&self, interner: &mut Interner) -> Waiting {
        Waiting {
            container: None,
            image: None,
            reason: interner.intern(if self.spec.node_name.is_empty() { "Pending" } else { "ContainerCreating" }),
            message: None,
            since: self.metadata.creation_timestamp.0,
            path: interner.intern("status.phase"),
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
    pub(super) fn accelerators(&self) -> f32 {
        let (sidecars, inits): (Vec<_>, Vec<_>) =
            self.init_containers.iter().partition(|container| &*container.restart_policy == "Always");
        let running: f64 = self.containers.iter().chain(sidecars).map(ContainerView::accelerators).sum();
        inits.into_iter().map(ContainerView::accelerators).fold(running, f64::max) as f32
    }

    fn memory_of(&self, container: &str) -> Memory {
        let found = self.containers.iter().chain(&self.init_containers).find(|c| &*c.name == container);
        let memory = |list: &BTreeMap<Text, Quantity>| list.get("memory").map(|q| q.as_str().into());
        Memory {
            request: found.and_then(|c| memory(&c.resources.requests)),
            limit: found.and_then(|c| memory(&c.resources.limits)),
            pod_limit: memory(&self.resources.limits),
        }
    }

    /// Whether it names the nodes that the pod may run on.
    fn names_nodes(&self) -> bool {
        names_nodes(&self.node_selector, &self.affinity)
    }

    /// What it says, as a template, of memory.
    pub(super) fn template_memory(&self, interner: &mut Interner) -> Arc<TemplateMemory> {
        let names = self.containers.iter().chain(&self.init_containers).map(|container| &container.name);
        let containers = names.map(|name| (interner.intern(name), self.memory_of(name))).collect();
        interner.intern_template(TemplateMemory { containers })
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
