//! What workloads that are no Jobs tell of themselves, beside what their pods tell: where they stand, and what is wrong with
//! them as a whole. One file a kind.

mod cron_job;
mod daemon_set;
mod deployment;
mod disaggregated_set;
mod index;
mod leader_worker_set;
mod queue;
mod rollout;
mod sandbox;
mod stateful_set;
mod train_job;
mod words;

use super::Failure;
use super::failure::Told;
use crate::model::{
    DaemonSet, Deployment, DisaggregatedSet, Event, Head, LeaderWorkerSet, Owner, Pod, Queued, Sandbox, SandboxClaim,
    SandboxWarmPool, StatefulSet, Time, TrainJob,
};
use crate::report::{Class, Evidence, RolloutReport, Situation, SituationKind, WorkloadState};
use crate::request::TargetKind;
use crate::source::Snapshot;

pub(super) use cron_job::{RunGone, runs_gone, standing as of_cron_job};
pub(super) use index::Index;
pub(super) use queue::{Queues, of_gated_pods, standing as of_queue};
pub use train_job::TTL;

/// A workload that makes no Jobs itself, or stands above one that does.
#[derive(Clone, Copy, Debug)]
pub enum Other<'s> {
    /// A `Deployment`.
    Deployment(&'s Deployment),
    /// A `StatefulSet` that no `LeaderWorkerSet` owns.
    StatefulSet(&'s StatefulSet),
    /// A `DaemonSet`.
    DaemonSet(&'s DaemonSet),
    /// A `LeaderWorkerSet`.
    LeaderWorkerSet(&'s LeaderWorkerSet),
    /// A `DisaggregatedSet`.
    DisaggregatedSet(&'s DisaggregatedSet),
    /// An Agent Sandbox.
    Sandbox(&'s Sandbox),
    /// What claims one.
    SandboxClaim(&'s SandboxClaim),
    /// What keeps some ready.
    SandboxWarmPool(&'s SandboxWarmPool),
    /// A `TrainJob`.
    TrainJob(&'s TrainJob),
    /// Kueue's `Workload`.
    Queued(&'s Queued),
}

/// Whether a failure may come of the template: what no node has room for, or is lost with its node, is as good as any.
fn is_of_template(failure: &Failure) -> bool {
    let of_nodes = matches!(failure.reason(), Some("NodeNotReady" | "Unschedulable" | "SchedulingGated"));
    let ending = failure.pod.is_some_and(Pod::is_terminating);
    failure.class != Class::Collateral && !of_nodes && !ending
}

/// All of them in a snapshot.
pub(super) fn others(snapshot: &Snapshot) -> impl Iterator<Item = Other<'_>> {
    let deployments = snapshot.deployments.iter().map(Other::Deployment);
    let stateful_sets = snapshot.stateful_sets.iter().map(Other::StatefulSet);
    let daemon_sets = snapshot.daemon_sets.iter().map(Other::DaemonSet);
    let leader_worker_sets = snapshot.leader_worker_sets.iter().map(Other::LeaderWorkerSet);
    let disaggregated_sets = snapshot.disaggregated_sets.iter().map(Other::DisaggregatedSet);
    let sandboxes = snapshot.sandboxes.iter().map(Other::Sandbox);
    let claims = snapshot.sandbox_claims.iter().map(Other::SandboxClaim);
    let pools = snapshot.sandbox_warm_pools.iter().map(Other::SandboxWarmPool);
    let train_jobs = snapshot.train_jobs.iter().map(Other::TrainJob);
    let queued = snapshot.queued.iter().map(Other::Queued);
    let apps = deployments.chain(stateful_sets).chain(daemon_sets).chain(leader_worker_sets).chain(disaggregated_sets);
    apps.chain(sandboxes).chain(claims).chain(pools).chain(train_jobs).chain(queued)
}

/// The names of a kind of them in a snapshot: of objects, and of owners that pods and Jobs tell.
pub fn names_of_kind(snapshot: &Snapshot, kind: TargetKind) -> Vec<String> {
    let own = others(snapshot).filter(|other| other.kind() == kind).map(|other| other.head().name.to_string());
    let of_pods = snapshot.pods.iter().filter_map(|pod| pod.workload());
    let of_sets = snapshot.job_sets.iter().filter_map(|job_set| job_set.owner.as_ref());
    let owners = of_pods.chain(of_sets).filter(|owner| owner.is(kind.group(), kind.kind()));
    own.chain(owners.map(|owner| owner.name.to_string())).collect()
}

/// What is known of a workload beside its own object.
pub(super) struct Around<'a, 's> {
    pub(super) snapshot: &'s Snapshot,
    /// Its pods that may tell of a failure, by name.
    pub(super) pods: &'a [&'s Pod],
    /// Their failures.
    pub(super) failures: &'a [Failure<'s>],
    /// Events about itself, by time.
    pub(super) events: &'a [&'s Event],
    /// What is known of others.
    pub(super) index: &'a Index<'s>,
    pub(super) now: Option<Time>,
    /// Seconds that a pod may wait before that is told.
    pub(super) pending_after: i64,
}

/// Where a workload stands.
#[derive(Clone, Debug)]
pub struct Standing<'s> {
    /// In a word.
    pub state: WorkloadState,
    /// In a sentence without a subject: `0 of 3 replicas are available`.
    pub summary: String,
    /// Whether all that is asked for is there; what is not is only coming up, where nothing is wrong.
    pub is_whole: bool,
    /// What is wrong with it as a whole, the most pressing first.
    pub troubles: Vec<Trouble<'s>>,
    /// What of its template changed, where that is not rolled out yet or did not come up.
    pub rollout: Option<RolloutReport>,
    /// Whether pods made from the newest template alone fail, and not for want of a node.
    pub new_fail: bool,
}

/// Something that is wrong with a workload as a whole.
#[derive(Clone, Debug)]
pub struct Trouble<'s> {
    /// For a reader.
    pub situation: Situation,
    /// The failure that it is, where it is one.
    pub failure: Option<OwnFailure<'s>>,
}

/// A failure of a workload itself.
#[derive(Clone, Debug)]
pub struct OwnFailure<'s> {
    /// `workloadLevel`, or `lost` for what pods did that are gone.
    pub class: Class,
    /// What is told of it.
    pub told: Told<'s>,
    /// How many.
    pub count: u32,
    /// Whether it stands for itself, though failures of its pods are there.
    pub always: bool,
}

impl<'s> Standing<'s> {
    fn new(state: WorkloadState, summary: impl Into<String>) -> Self {
        Self { state, summary: summary.into(), is_whole: true, troubles: Vec::new(), rollout: None, new_fail: false }
    }

    fn whole(self, is_whole: bool) -> Self {
        Self { is_whole, ..self }
    }

    fn with(mut self, troubles: impl IntoIterator<Item = Trouble<'s>>) -> Self {
        self.troubles.extend(troubles);
        self.troubles.sort_by_key(|trouble| trouble.situation.kind);
        self
    }
}

impl Trouble<'_> {
    fn new(kind: SituationKind, since: Option<Time>, text: impl Into<String>) -> Self {
        let situation = Situation { kind, text: text.into(), since, blockers: Vec::new(), evidence: Vec::new() };
        Self { situation, failure: None }
    }

    fn fact(mut self, object: &str, path: impl Into<Box<str>>, value: impl Into<Box<str>>) -> Self {
        self.situation.evidence.push(Evidence::new(object, path, value));
        self
    }

    /// The field of a condition that tells of it.
    fn condition(self, object: &str, condition: &crate::model::Condition) -> Self {
        let path = |field| format!("status.conditions[type={}].{field}", condition.type_);
        self.fact(object, path("reason"), &*condition.reason).fact(object, path("message"), &*condition.message)
    }

    /// It is a failure, if no pod shows one.
    fn failing(mut self, reason: &str, message: &str) -> Self {
        let told = Told {
            reason: Some(reason.into()),
            message: Some(message.into()),
            at: self.situation.since,
            ..Told::default()
        };
        self.failure = Some(OwnFailure { class: Class::WorkloadLevel, told, count: 1, always: false });
        self
    }

    /// It is a failure, whatever its pods show.
    fn always(mut self) -> Self {
        if let Some(failure) = &mut self.failure {
            failure.always = true;
        }
        self
    }
}

impl<'s> Other<'s> {
    /// Its kind.
    pub fn kind(self) -> TargetKind {
        match self {
            Self::Deployment(_) => TargetKind::Deployment,
            Self::StatefulSet(_) => TargetKind::StatefulSet,
            Self::DaemonSet(_) => TargetKind::DaemonSet,
            Self::LeaderWorkerSet(_) => TargetKind::LeaderWorkerSet,
            Self::DisaggregatedSet(_) => TargetKind::DisaggregatedSet,
            Self::Sandbox(_) => TargetKind::Sandbox,
            Self::SandboxClaim(_) => TargetKind::SandboxClaim,
            Self::SandboxWarmPool(_) => TargetKind::SandboxWarmPool,
            Self::TrainJob(_) => TargetKind::TrainJob,
            Self::Queued(_) => TargetKind::Workload,
        }
    }

    /// What all of them have.
    pub fn head(self) -> &'s Head {
        match self {
            Self::Deployment(it) => &it.head,
            Self::StatefulSet(it) => &it.head,
            Self::DaemonSet(it) => &it.head,
            Self::LeaderWorkerSet(it) => &it.head,
            Self::DisaggregatedSet(it) => &it.head,
            Self::Sandbox(it) => &it.head,
            Self::SandboxClaim(it) => &it.head,
            Self::SandboxWarmPool(it) => &it.head,
            Self::TrainJob(it) => &it.head,
            Self::Queued(it) => &it.head,
        }
    }

    /// Whether it is a part of another one, which tells of it.
    pub(in crate::analysis) fn is_part(self) -> bool {
        let of = |kind: &str| self.head().owner.as_ref().is_some_and(|owner| *owner.kind == *kind);
        matches!(self, Self::StatefulSet(_)) && (of("LeaderWorkerSet") || of("Pod"))
    }

    /// Whether it is the owner that controls a pod.
    pub(in crate::analysis) fn controls(self, pod: &Pod) -> bool {
        let head = self.head();
        let is_it = |owner: &Owner| owner.is(self.kind().group(), self.kind().kind()) && owner.name == head.name;
        pod.namespace == head.namespace && pod.owner.as_deref().is_some_and(is_it)
    }

    /// As evidence names it: `deployment/ns/x`.
    fn object(self) -> String {
        let head = self.head();
        super::object(self.kind().name(), &head.namespace, &head.name)
    }

    /// Said where the status is older than the spec: what it tells is of a spec that is no more.
    fn behind_its_spec(self) -> Option<String> {
        let seen = match self {
            Self::Deployment(it) => it.observed_generation,
            Self::StatefulSet(it) => it.observed_generation,
            Self::DaemonSet(it) => it.observed_generation,
            _ => return None,
        };
        let generation = self.head().generation;
        (0 < seen && seen < generation).then(|| {
            format!("its controller has not acted on the newest spec yet (generation {generation}, observed {seen})")
        })
    }

    /// Whether a pod was made from the newest template; nothing where that is not told.
    fn is_newest(self, pod: &Pod, around: &Around) -> Option<bool> {
        let from = pod.made_from()?;
        match self {
            Self::StatefulSet(it) => Some(from.revision.as_ref()? == it.update_revision.as_ref()?),
            Self::DaemonSet(DaemonSet { template_generation: Some(newest), .. }) if from.generation.is_some() => {
                Some(from.generation == Some(*newest))
            }
            Self::Deployment(_) | Self::DaemonSet(_) => {
                let newest = around.index.revisions(self.kind().kind(), self.head()).first()?.hash.as_ref()?;
                Some(from.revision.as_ref()? == newest)
            }
            _ => None,
        }
    }

    /// Where it stands.
    pub(super) fn standing(self, around: &Around<'_, 's>) -> Standing<'s> {
        let object = self.object();
        let rollout = match self {
            Self::Deployment(it) => deployment::rollout(it, around),
            Self::StatefulSet(it) => stateful_set::rollout(it, around),
            Self::DaemonSet(it) => daemon_set::rollout(it, around),
            _ => None,
        };
        let mut standing = match self {
            _ if let Some(behind) = self.behind_its_spec() => {
                Standing::new(WorkloadState::Running, behind).whole(false)
            }
            Self::Deployment(it) => deployment::standing(it, around, &object, rollout.as_ref()),
            Self::StatefulSet(it) => stateful_set::standing(it, around, &object, rollout.as_ref()),
            Self::DaemonSet(it) => daemon_set::standing(it, around, &object, rollout.as_ref()),
            Self::LeaderWorkerSet(it) => leader_worker_set::standing(it, around, &object),
            Self::DisaggregatedSet(it) => disaggregated_set::standing(it, around, &object),
            Self::Sandbox(it) => sandbox::standing(it, around, &object),
            Self::SandboxClaim(it) => sandbox::of_claim(it, around, &object),
            Self::SandboxWarmPool(it) => sandbox::of_pool(it, around, &object),
            Self::TrainJob(it) => train_job::standing(it, around, &object),
            Self::Queued(it) => queue::of_itself(it, around, &object),
        };
        let fails = |newest: bool| {
            let is = |pod| self.is_newest(pod, around) == Some(newest);
            around.failures.iter().filter(|failure| is_of_template(failure)).filter_map(|failure| failure.pod).any(is)
        };
        standing.new_fail = fails(true) && !fails(false);
        standing.rollout = rollout;
        // A Sandbox, and what is above one, tells that itself.
        let has_pods =
            matches!(self, Self::Deployment(_) | Self::StatefulSet(_) | Self::DaemonSet(_) | Self::LeaderWorkerSet(_));
        if has_pods && standing.troubles.is_empty() && around.failures.is_empty() && !standing.is_whole {
            standing.summary.push_str(&around.waits());
        }
        if let Some(asked) = self.head().deletion_requested {
            let text = "it is being deleted, and waits for what it owns, or for a finalizer";
            standing = standing.with([Trouble::new(SituationKind::Deleting, Some(asked), text)]);
        }
        standing
    }
}
