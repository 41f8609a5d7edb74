use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::job::JobTemplateView;
use super::time::MaybeTime;
use super::{
    Interner, ObjectView, Owner, OwnerView, PodFailurePolicy, TemplateMemory, Text, Time, Uid, View, Word, or_default,
};
use crate::checkpoint::Checkpoints;

/// A `batch/v1` `CronJob` as it is read.
pub(crate) type CronJobView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SpecView<'a> {
    #[serde(borrow)]
    schedule: Text<'a>,
    #[serde(borrow)]
    time_zone: Text<'a>,
    #[serde(borrow)]
    concurrency_policy: Text<'a>,
    #[serde(deserialize_with = "or_default")]
    suspend: bool,
    failed_jobs_history_limit: Option<u32>,
    #[serde(borrow, deserialize_with = "or_default")]
    job_template: JobTemplateView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StatusView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    active: Vec<OwnerView<'a>>,
    last_schedule_time: MaybeTime,
    last_successful_time: MaybeTime,
}

/// What is kept of a `CronJob`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronJob {
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
    /// What controls it.
    pub owner: Option<Owner>,
    /// The `GitOps` application that it is applied from: `Flux Kustomization apps`.
    pub applied_by: Option<Word>,
    /// `metadata.creationTimestamp`.
    pub created: Option<Time>,
    /// When its deletion was asked for.
    pub deletion_requested: Option<Time>,
    /// `spec.schedule`, with `spec.timeZone` behind it where there is one.
    pub schedule: Word,
    /// `spec.concurrencyPolicy`; `Allow` where it is not told.
    pub concurrency_policy: Word,
    /// `spec.suspend`.
    pub suspend: bool,
    /// `spec.failedJobsHistoryLimit`: failed runs beyond it are deleted. The API server sets 1.
    pub failed_history: u32,
    /// The `podFailurePolicy` that its runs are made with.
    pub policy: Option<Arc<PodFailurePolicy>>,
    /// Whether the `restartPolicy` of its template is `OnFailure`.
    pub restarts_in_place: bool,
    /// What the pod template says of memory.
    pub memory: Arc<TemplateMemory>,
    /// What the pod template tells of checkpoints, if it tells anything.
    pub checkpoints: Option<Arc<Checkpoints>>,
    /// `spec.jobTemplate.spec.ttlSecondsAfterFinished`.
    pub ttl_seconds_after_finished: Option<u32>,
    /// Names of the runs in `status.active`.
    pub active: Box<[Word]>,
    /// `status.lastScheduleTime`.
    pub last_scheduled: Option<Time>,
    /// `status.lastSuccessfulTime`.
    pub last_succeeded: Option<Time>,
}

impl View for CronJobView<'_> {
    type Kept = CronJob;

    fn newest_time(&self) -> Option<Time> {
        let status = &self.status;
        [self.metadata.creation_timestamp.0, status.last_schedule_time.0, status.last_successful_time.0]
            .into_iter()
            .flatten()
            .max()
    }

    fn into_kept(self, interner: &mut Interner) -> Option<CronJob> {
        let spec = &self.spec;
        let schedule = match spec.time_zone.some() {
            Some(zone) => format!("{} ({zone})", &*spec.schedule),
            None => spec.schedule.to_string(),
        };
        Some(CronJob {
            uid: self.metadata.uid(),
            namespace: interner.intern(&self.metadata.namespace),
            name: interner.intern(&self.metadata.name),
            labels: self.metadata.labels(interner),
            rule_names: interner.intern_some(&self.metadata.annotations.rule_names),
            owner: self.metadata.controller(interner),
            applied_by: self.metadata.applied_by(interner),
            created: self.metadata.creation_timestamp.0,
            deletion_requested: self.metadata.deletion_requested(),
            schedule: interner.intern(&schedule),
            concurrency_policy: interner.intern(spec.concurrency_policy.some().unwrap_or("Allow")),
            suspend: spec.suspend,
            failed_history: spec.failed_jobs_history_limit.unwrap_or(1),
            policy: spec
                .job_template
                .spec
                .pod_failure_policy
                .as_ref()
                .map(|policy| Arc::new(policy.to_policy(interner))),
            restarts_in_place: &*spec.job_template.spec.template.spec.restart_policy == "OnFailure",
            memory: spec.job_template.spec.template.spec.template_memory(interner),
            checkpoints: spec.job_template.spec.template.checkpoints(),
            ttl_seconds_after_finished: spec.job_template.spec.ttl_seconds_after_finished,
            active: self.status.active.iter().map(|job| interner.intern(&job.name)).collect(),
            last_scheduled: self.status.last_schedule_time.0,
            last_succeeded: self.status.last_successful_time.0,
        })
    }
}
