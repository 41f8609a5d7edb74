use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::{Condition, Owner, PodFailurePolicy, TemplateMemory, Time, Uid, Word};
use crate::checkpoint::Checkpoints;

/// What is kept of a `JobSet`.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSet {
    /// `metadata.uid`.
    pub uid: Option<Uid>,
    /// `metadata.namespace`.
    pub namespace: Word,
    /// `metadata.name`.
    pub name: Word,
    /// `metadata.labels`.
    pub labels: BTreeMap<Word, Word>,
    /// The annotation `kubectl-sigapps/rule-names`.
    pub rule_names: Option<Word>,
    /// What controls it, as a `TrainJob` does.
    pub owner: Option<Owner>,
    /// The `GitOps` application that it is applied from: `Flux Kustomization apps`.
    pub applied_by: Option<Word>,
    /// `metadata.creationTimestamp`.
    pub created: Option<Time>,
    /// When its deletion was asked for.
    pub deletion_requested: Option<Time>,
    /// `spec.suspend`.
    pub suspend: bool,
    /// `spec.managedBy`, where it is not the built-in controller.
    pub managed_by: Option<Word>,
    /// Whether `spec.startupPolicy` starts one replicated Job after the other.
    pub starts_in_order: bool,
    /// `spec.failurePolicy`.
    pub failure_policy: Option<FailurePolicy>,
    /// `spec.replicatedJobs`.
    pub replicated_jobs: Box<[ReplicatedJob]>,
    /// The templates in `spec.volumeClaimPolicies`.
    pub volume_claims: Box<[VolumeClaimTemplate]>,
    /// `spec.ttlSecondsAfterFinished`.
    pub ttl_seconds_after_finished: Option<u32>,
    /// `status.restarts`: each one deleted the Jobs and pods of the attempt before.
    pub restarts: u32,
    /// `status.restartsCountTowardsMax`.
    pub restarts_counted: u32,
    /// `status.terminalState`: `Failed` or `Completed`.
    pub terminal_state: Option<Word>,
    /// `status.conditions`, those that are `False` as well: some tell why.
    pub conditions: Box<[Condition]>,
    /// `status.replicatedJobsStatus`.
    pub replicated_jobs_status: Box<[ReplicatedJobStatus]>,
    /// `status.currentInPlaceRestartAttempt`.
    pub in_place_attempt: Option<u32>,
}

/// One of `spec.replicatedJobs`.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicatedJob {
    /// Its name.
    pub name: Word,
    /// How many Jobs are made of it.
    pub replicas: u32,
    /// Other replicated Jobs, and the status (`Ready` or `Complete`) that they must reach first.
    pub depends_on: Box<[(Word, Word)]>,
    /// The Jobs' `podFailurePolicy`.
    pub policy: Option<Arc<PodFailurePolicy>>,
    /// Whether the Jobs have `backoffLimitPerIndex`.
    pub per_index: bool,
    /// Names of that policy's rules, from the annotation `kubectl-sigapps/rule-names` of the templates.
    pub rule_names: Option<Word>,
    /// Pods that one of the Jobs runs at once.
    pub pods: u32,
    /// Whether the pods' `restartPolicy` is `Never`; the webhook sets `OnFailure` where there is none.
    pub never_restarts: bool,
    /// GPUs and other accelerators of one pod.
    pub accelerators: f32,
    /// What the pod template says of memory.
    pub memory: Arc<TemplateMemory>,
    /// What the pod template tells of checkpoints, if it tells anything.
    pub checkpoints: Option<Arc<Checkpoints>>,
}

/// One of the claim templates in `spec.volumeClaimPolicies`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeClaimTemplate {
    /// Its name; the claim is called `<name>-<JobSet>`.
    pub name: Word,
    /// Whether the claim stays when the `JobSet` is deleted: `retentionPolicy.whenDeleted` is `Retain`.
    pub retained: bool,
}

/// One of `status.replicatedJobsStatus`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicatedJobStatus {
    /// The replicated Job's name.
    pub name: Word,
    /// Jobs of which all pods are ready.
    pub ready: u32,
    /// Jobs that succeeded.
    pub succeeded: u32,
    /// Jobs that failed.
    pub failed: u32,
    /// By Job index: how often the Job alone was restarted (feature gate `RestartJob`).
    pub job_restarts: Box<[u32]>,
    /// The same, as far as it counts towards `maxRestarts`.
    pub job_restarts_counted: Box<[u32]>,
}

/// `spec.failurePolicy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailurePolicy {
    /// `maxRestarts`.
    pub max_restarts: u32,
    /// `Recreate`, `BlockingRecreate` or `InPlaceRestart`.
    pub restart_strategy: Word,
    /// The rules, in their order.
    pub rules: Box<[FailurePolicyRule]>,
}

/// One of `spec.failurePolicy.rules`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailurePolicyRule {
    /// Its name; the webhook sets `failurePolicyRule<index>` where there is none.
    pub name: Word,
    /// What is done.
    pub action: JobSetAction,
    /// `onJobFailureReasons`; any reason where empty.
    pub reasons: Box<[Word]>,
    /// `onJobFailureMessagePatterns`; any message where empty.
    pub patterns: Box<[Word]>,
    /// `targetReplicatedJobs`; any where empty.
    pub targets: Box<[Word]>,
}

/// A failure policy's action.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobSetAction {
    /// The `JobSet` fails.
    FailJobSet,
    /// All Jobs are made anew, until `maxRestarts` is reached.
    RestartJobSet,
    /// All Jobs are made anew, however often.
    RestartJobSetAndIgnoreMaxRestarts,
    /// The failed Job is made anew, until `maxRestarts` is reached.
    RestartJob,
    /// The failed Job is made anew, however often.
    RestartJobAndIgnoreMaxRestarts,
    /// An action newer than this tool.
    Unknown(Word),
}

impl JobSetAction {
    const ALL: [(Self, &'static str); 5] = [
        (Self::FailJobSet, "FailJobSet"),
        (Self::RestartJobSet, "RestartJobSet"),
        (Self::RestartJobSetAndIgnoreMaxRestarts, "RestartJobSetAndIgnoreMaxRestarts"),
        (Self::RestartJob, "RestartJob"),
        (Self::RestartJobAndIgnoreMaxRestarts, "RestartJobAndIgnoreMaxRestarts"),
    ];

    /// Reads an action as the API spells it.
    pub fn parse(text: &str) -> Self {
        let known = Self::ALL.into_iter().find(|(_, name)| *name == text);
        known.map_or_else(|| Self::Unknown(text.into()), |(action, _)| action)
    }

    /// The action as the API spells it.
    pub fn name(&self) -> &str {
        match self {
            Self::Unknown(text) => text,
            known => Self::ALL.iter().find(|(action, _)| action == known).map_or("", |(_, name)| name),
        }
    }

    /// Whether a restart by it counts towards `maxRestarts`; `None` where it restarts nothing, or that is unknown.
    pub fn counts(&self) -> Option<bool> {
        match self {
            Self::RestartJobSet | Self::RestartJob => Some(true),
            Self::RestartJobSetAndIgnoreMaxRestarts | Self::RestartJobAndIgnoreMaxRestarts => Some(false),
            Self::FailJobSet | Self::Unknown(_) => None,
        }
    }
}

impl fmt::Display for JobSetAction {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl JobSet {
    /// The condition of a type, if it is `True`.
    pub fn condition(&self, type_: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.is_true && *condition.type_ == *type_)
    }

    /// The replicated Job that a child Job's name, `<jobset>-<replicatedJob>-<index>`, is made from.
    pub fn replicated_job_of(&self, job: &str) -> Option<&ReplicatedJob> {
        let (head, index) = job.rsplit_once('-')?;
        let name = head.strip_prefix(&*self.name)?.strip_prefix('-')?;
        index.parse::<u32>().ok()?;
        self.replicated_jobs.iter().find(|replicated| *replicated.name == *name)
    }

    /// GPUs and other accelerators that its pods hold together, by the spec.
    pub fn accelerators(&self) -> f64 {
        let of = |job: &ReplicatedJob| f64::from(job.accelerators) * f64::from(job.pods) * f64::from(job.replicas);
        // The sum of no floats is minus zero.
        self.replicated_jobs.iter().map(of).fold(0.0, |sum, held| sum + held)
    }

    /// Restarts of single Jobs: all, and those that count towards `maxRestarts`.
    pub fn job_restarts(&self) -> (u32, u32) {
        let sum = |list: fn(&ReplicatedJobStatus) -> &[u32]| {
            self.replicated_jobs_status.iter().flat_map(list).fold(0_u32, |sum, count| sum.saturating_add(*count))
        };
        (sum(|status| &status.job_restarts), sum(|status| &status.job_restarts_counted))
    }

    /// Restarts that are compared with `maxRestarts` (`totalRestartsCountTowardsMax`).
    pub fn counted_restarts(&self) -> u32 {
        self.restarts_counted.saturating_add(self.job_restarts().1)
    }

    /// `spec.failurePolicy.maxRestarts`.
    pub fn max_restarts(&self) -> Option<u32> {
        self.failure_policy.as_ref().map(|policy| policy.max_restarts)
    }
}
