use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::condition::ConditionView;
use super::pod_failure_policy::PolicyView;
use super::pod_template::PodTemplateView;
use super::time::MaybeTime;
use super::{Interner, ObjectView, Owner, PodFailurePolicy, TemplateMemory, Text, Time, Uid, View, Word, or_default};
use crate::checkpoint::Checkpoints;

/// A `batch/v1` Job as it is read.
pub(crate) type JobView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

/// `spec` of a Job or of a Job's template.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SpecView<'a> {
    pub(super) parallelism: Option<u32>,
    pub(super) completions: Option<u32>,
    #[serde(borrow)]
    completion_mode: Text<'a>,
    backoff_limit: Option<u32>,
    pub(super) backoff_limit_per_index: Option<u32>,
    max_failed_indexes: Option<u32>,
    #[serde(borrow)]
    managed_by: Text<'a>,
    #[serde(borrow)]
    pod_replacement_policy: Text<'a>,
    #[serde(deserialize_with = "or_default")]
    suspend: bool,
    pub(super) ttl_seconds_after_finished: Option<u32>,
    #[serde(borrow)]
    pub(super) pod_failure_policy: Option<PolicyView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    pub(super) template: PodTemplateView<'a>,
}

/// `spec.jobTemplate` of a `CronJob`, `template` of a replicated Job.
pub(super) type JobTemplateView<'a> = ObjectView<'a, SpecView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StatusView<'a> {
    #[serde(deserialize_with = "or_default")]
    active: u32,
    #[serde(deserialize_with = "or_default")]
    ready: u32,
    #[serde(deserialize_with = "or_default")]
    succeeded: u32,
    #[serde(deserialize_with = "or_default")]
    failed: u32,
    #[serde(borrow)]
    failed_indexes: Text<'a>,
    start_time: MaybeTime,
    completion_time: MaybeTime,
    #[serde(borrow, deserialize_with = "or_default")]
    uncounted_terminated_pods: UncountedView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct UncountedView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    failed: Vec<Text<'a>>,
}

/// One of a Job's `status.conditions` whose status is `True`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobCondition {
    /// `FailureTarget`, `Failed`, `SuccessCriteriaMet`, `Complete`, `Suspended`, …
    pub type_: Word,
    /// `PodFailurePolicy`, `BackoffLimitExceeded`, …
    pub reason: Word,
    /// The controller's message.
    pub message: Word,
    /// When it became true.
    pub at: Option<Time>,
}

/// What is kept of a Job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// `metadata.uid`.
    pub uid: Option<Uid>,
    /// `metadata.namespace`.
    pub namespace: Word,
    /// `metadata.name`.
    pub name: Word,
    /// `metadata.labels`.
    pub labels: BTreeMap<Word, Word>,
    /// Rule names by index, from the annotation `kubectl-sigapps/rule-names` of the Job or of its template.
    pub rule_names: Option<Word>,
    /// The controlling owner: a `CronJob`, a `JobSet`, or something else.
    pub owner: Option<Owner>,
    /// The `GitOps` application that it is applied from: `Flux Kustomization apps`.
    pub applied_by: Option<Word>,
    /// `metadata.creationTimestamp`.
    pub created: Option<Time>,
    /// When its deletion was asked for.
    pub deletion_requested: Option<Time>,
    /// `spec.parallelism`.
    pub parallelism: Option<u32>,
    /// `spec.completions`.
    pub completions: Option<u32>,
    /// Whether `spec.completionMode` is `Indexed`.
    pub indexed: bool,
    /// `spec.backoffLimit`; the API server sets a default of 6.
    pub backoff_limit: Option<u32>,
    /// `spec.backoffLimitPerIndex`.
    pub backoff_limit_per_index: Option<u32>,
    /// `spec.maxFailedIndexes`.
    pub max_failed_indexes: Option<u32>,
    /// `spec.managedBy`, where it is not the built-in controller.
    pub managed_by: Option<Word>,
    /// Whether `spec.podReplacementPolicy` is `Failed`.
    pub replaces_only_failed: bool,
    /// `spec.suspend`.
    pub suspend: bool,
    /// `spec.podFailurePolicy`.
    pub policy: Option<Arc<PodFailurePolicy>>,
    /// Whether the template's `restartPolicy` is `OnFailure`.
    pub restarts_in_place: bool,
    /// Whether its pods ask for GPUs or other accelerators.
    pub has_accelerators: bool,
    /// What the pod template says of memory.
    pub memory: Arc<TemplateMemory>,
    /// What the pod template tells of checkpoints, if it tells anything.
    pub checkpoints: Option<Arc<Checkpoints>>,
    /// `spec.ttlSecondsAfterFinished`.
    pub ttl_seconds_after_finished: Option<u32>,
    /// `status.active`.
    pub active: u32,
    /// `status.ready`.
    pub ready: u32,
    /// `status.succeeded`.
    pub succeeded: u32,
    /// `status.failed`.
    pub failed: u32,
    /// `status.failedIndexes`, as written: `1,3-5,7`.
    pub failed_indexes: Option<Box<str>>,
    /// `status.startTime`.
    pub started: Option<Time>,
    /// `status.completionTime`.
    pub completed: Option<Time>,
    /// `status.uncountedTerminatedPods.failed`: failed, not yet in `status.failed`.
    pub uncounted_failed: Box<[Uid]>,
    /// Conditions with status `True`, in the status' order.
    pub conditions: Box<[JobCondition]>,
}

/// Labels that `JobSet` gives its Jobs (jobset `api/jobset/v1alpha2/jobset_types.go`).
mod label {
    pub(super) const REPLICATED_JOB: &str = "jobset.sigs.k8s.io/replicatedjob-name";
    pub(super) const JOB_INDEX: &str = "jobset.sigs.k8s.io/job-index";
    pub(super) const RESTART_ATTEMPT: &str = "jobset.sigs.k8s.io/restart-attempt";
    pub(super) const OWN_RESTART_ATTEMPT: &str = "jobset.sigs.k8s.io/job-restart-attempt";
}

impl Job {
    /// The `JobSet`'s replicated Job that it is of, by its label.
    pub fn replicated_job(&self) -> Option<&str> {
        self.labels.get(label::REPLICATED_JOB).map(|name| &**name)
    }

    /// Which one of that it is.
    pub fn job_index(&self) -> Option<u32> {
        self.number(label::JOB_INDEX)
    }

    /// The attempt of the `JobSet` that it was made in.
    pub fn restart_attempt(&self) -> Option<u32> {
        self.number(label::RESTART_ATTEMPT)
    }

    /// How often it alone had been made anew (feature gate `RestartJob`).
    pub fn own_restart_attempt(&self) -> Option<u32> {
        self.number(label::OWN_RESTART_ATTEMPT)
    }

    fn number(&self, label: &str) -> Option<u32> {
        self.labels.get(label)?.parse().ok()
    }

    /// The condition of a type, if it is `True`.
    pub fn condition(&self, type_: &str) -> Option<&JobCondition> {
        self.conditions.iter().find(|condition| *condition.type_ == *type_)
    }

    /// The condition that says why the Job fails: `FailureTarget`, from which `Failed` copies reason and message, or,
    /// from controllers before Kubernetes 1.31, `Failed` alone.
    pub fn failing(&self) -> Option<&JobCondition> {
        self.condition("FailureTarget").or_else(|| self.condition("Failed"))
    }

    /// The condition that says that the Job succeeds: `SuccessCriteriaMet` or `Complete`.
    pub fn succeeding(&self) -> Option<&JobCondition> {
        self.condition("SuccessCriteriaMet").or_else(|| self.condition("Complete"))
    }

    /// Whether the controller waits for a deleted pod's end before it counts and replaces it (`onlyReplaceFailedPods`; a
    /// policy sets and demands `podReplacementPolicy: Failed`).
    pub fn waits_for_the_end(&self) -> bool {
        self.replaces_only_failed || self.policy.is_some()
    }

    /// Whether nothing more will happen to it.
    pub fn is_finished(&self) -> bool {
        self.condition("Failed").is_some() || self.condition("Complete").is_some()
    }
}

impl View for JobView<'_> {
    type Kept = Job;

    fn newest_time(&self) -> Option<Time> {
        let conditions = self.status.conditions.iter().filter_map(|condition| condition.last_transition_time.0);
        let own = [
            self.metadata.creation_timestamp.0,
            self.metadata.deletion_requested(),
            self.status.start_time.0,
            self.status.completion_time.0,
        ];
        conditions.chain(own.into_iter().flatten()).max()
    }

    fn into_kept(self, interner: &mut Interner) -> Option<Job> {
        let spec = &self.spec;
        let status = &self.status;
        let rule_names = [&self.metadata, &spec.template.metadata].map(|metadata| &metadata.annotations.rule_names);
        let conditions = status.conditions.iter().filter(|condition| &*condition.status == "True");
        Some(Job {
            uid: self.metadata.uid(),
            namespace: interner.intern(&self.metadata.namespace),
            name: interner.intern(&self.metadata.name),
            labels: self.metadata.labels(interner),
            rule_names: rule_names.into_iter().find_map(|names| interner.intern_some(names)),
            owner: self.metadata.controller(interner),
            applied_by: self.metadata.applied_by(interner),
            created: self.metadata.creation_timestamp.0,
            deletion_requested: self.metadata.deletion_requested(),
            parallelism: spec.parallelism,
            completions: spec.completions,
            indexed: &*spec.completion_mode == "Indexed",
            backoff_limit: spec.backoff_limit,
            backoff_limit_per_index: spec.backoff_limit_per_index,
            max_failed_indexes: spec.max_failed_indexes,
            managed_by: interner.intern_some(&spec.managed_by).filter(|by| &**by != "kubernetes.io/job-controller"),
            replaces_only_failed: &*spec.pod_replacement_policy == "Failed",
            suspend: spec.suspend,
            policy: spec.pod_failure_policy.as_ref().map(|policy| Arc::new(policy.to_policy(interner))),
            restarts_in_place: &*spec.template.spec.restart_policy == "OnFailure",
            has_accelerators: spec.template.spec.accelerators() > 0.0,
            memory: spec.template.spec.template_memory(interner),
            checkpoints: spec.template.checkpoints(),
            ttl_seconds_after_finished: spec.ttl_seconds_after_finished,
            active: status.active,
            ready: status.ready,
            succeeded: status.succeeded,
            failed: status.failed,
            failed_indexes: status.failed_indexes.some().map(Into::into),
            started: status.start_time.0,
            completed: status.completion_time.0,
            uncounted_failed: status
                .uncounted_terminated_pods
                .failed
                .iter()
                .filter_map(|uid| Uid::parse(uid))
                .collect(),
            conditions: conditions
                .map(|condition| JobCondition {
                    type_: interner.intern(&condition.type_),
                    reason: interner.intern(&condition.reason),
                    message: interner.intern(&condition.message),
                    at: condition.last_transition_time.0,
                })
                .collect(),
        })
    }
}
