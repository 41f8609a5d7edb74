//! What becomes of checkpoints: the four answers of a pod template, with the fate of the claim that they lie on. It is
//! told by a workload's spec and status alone; that a checkpoint exists is never said.

mod claim;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::sync::Arc;

pub use claim::claim_in;

use crate::checkpoint::{Answer, Checkpoints, Kind, Loss};
use crate::model::{CronJob, Job, JobSet, Time, VolumeClaimTemplate, Word};
pub use crate::report::DeletedBy;
use crate::source::Snapshot;

/// Where the pods of a Job or a replicated Job keep checkpoints, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The replicated Job; `None` for a Job of its own.
    pub replicated_job: Option<Word>,
    /// What the pod template tells.
    pub checkpoints: Arc<Checkpoints>,
    /// Name of the claim that they lie on, as an object.
    pub claim: Option<String>,
    /// Whether the `JobSet` makes that claim (`spec.volumeClaimPolicies`).
    pub made_by_job_set: bool,
    /// Whether they outlive the pod, the claim considered. `Yes` does not say for how long: see `deleted_by`.
    pub durable: Answer,
    /// Why.
    pub why: String,
    /// What would delete them, what comes first by itself. Empty where nothing of the cluster does, as with a bucket, or
    /// where it is not known.
    pub deleted_by: Vec<Deletion>,
}

/// One way in which checkpoints would be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// What does it.
    pub by: DeletedBy,
    /// In words, with the field that says so.
    pub why: String,
    /// When it is, or was, due, where that can be named.
    pub at: Option<Time>,
}

impl Kept {
    /// Whether they go when the `JobSet` is deleted, though they outlive its pods.
    pub fn lost_with_job_set(&self) -> bool {
        self.deletion(DeletedBy::JobSetDeletion).is_some()
    }

    /// Whether their claim is being deleted already.
    pub fn is_being_deleted(&self) -> bool {
        self.deletion(DeletedBy::ClaimDeletion).is_some_and(|deletion| deletion.at.is_some())
    }

    /// One way in which they would be deleted.
    pub fn deletion(&self, by: DeletedBy) -> Option<&Deletion> {
        self.deleted_by.iter().find(|deletion| deletion.by == by)
    }

    fn in_order(mut self) -> Self {
        self.deleted_by.sort_by_key(|deletion| (Reverse(deletion.at.is_some()), deletion.by));
        self
    }
}

/// What a `JobSet`'s pod templates tell of checkpoints, by its spec and status alone: one for each replicated Job that
/// tells anything, in their order.
pub fn kept(job_set: &JobSet) -> Vec<Kept> {
    let told = job_set.replicated_jobs.iter().filter_map(|job| Some((job, job.checkpoints.as_ref()?)));
    told.map(|(job, checkpoints)| of(checkpoints, Some(job.name.clone()), Workload::JobSet(job_set))).collect()
}

/// What a Job's pod template tells of checkpoints, if it tells anything. Of a Job that belongs to a `JobSet`, ask
/// [`kept`] of that: the Job does not tell what becomes of the `JobSet`'s claims.
pub fn of_job(job: &Job) -> Option<Kept> {
    job.checkpoints.as_ref().map(|checkpoints| of(checkpoints, None, Workload::Job(job)))
}

/// The same as [`kept`], with what the data tells of the claims.
pub fn kept_in(job_set: &JobSet, snapshot: &Snapshot) -> Vec<Kept> {
    let with_claim = |kept| claim::with_claim(kept, Workload::JobSet(job_set), snapshot).in_order();
    kept(job_set).into_iter().map(with_claim).collect()
}

/// The same as [`of_job`], with what the data tells of the claim.
pub fn of_job_in(job: &Job, snapshot: &Snapshot) -> Option<Kept> {
    of_job(job).map(|kept| claim::with_claim(kept, Workload::Job(job), snapshot).in_order())
}

/// What the pod template in a `CronJob` tells of checkpoints, with what the data tells of the claim.
pub fn of_cron_job_in(cron_job: &CronJob, snapshot: &Snapshot) -> Option<Kept> {
    let workload = Workload::CronJob(cron_job);
    let checkpoints = cron_job.checkpoints.as_ref()?;
    Some(claim::with_claim(of(checkpoints, None, workload), workload, snapshot).in_order())
}

/// What the pods, and with them their own volumes, belong to.
#[derive(Clone, Copy)]
enum Workload<'s> {
    JobSet(&'s JobSet),
    Job(&'s Job),
    /// Its Jobs, none of which is told.
    CronJob(&'s CronJob),
}

impl<'s> Workload<'s> {
    fn namespace(self) -> &'s str {
        match self {
            Self::JobSet(job_set) => &job_set.namespace,
            Self::Job(job) => &job.namespace,
            Self::CronJob(cron_job) => &cron_job.namespace,
        }
    }

    /// What is deleted once it has finished.
    fn kind(self) -> &'static str {
        match self {
            Self::JobSet(_) => "JobSet",
            Self::Job(_) | Self::CronJob(_) => "Job",
        }
    }

    /// Its end by `ttlSecondsAfterFinished`; `what` goes with it.
    fn ttl(self, what: &str) -> Option<Deletion> {
        let (by, seconds, ended) = match self {
            Self::JobSet(job_set) => {
                let ended = job_set.condition("Failed").or_else(|| job_set.condition("Completed"));
                let at = ended.and_then(|condition| condition.at);
                (DeletedBy::JobSetTtl, job_set.ttl_seconds_after_finished?, at)
            }
            Self::Job(job) => {
                let ended = job.condition("Failed").or_else(|| job.condition("Complete"));
                let at = ended.and_then(|condition| condition.at);
                (DeletedBy::JobTtl, job.ttl_seconds_after_finished?, at)
            }
            Self::CronJob(cron_job) => (DeletedBy::JobTtl, cron_job.ttl_seconds_after_finished?, None),
        };
        let kind = self.kind();
        let why = format!("{what} with the {kind} {seconds} s after it finishes (ttlSecondsAfterFinished)");
        Some(Deletion { by, why, at: ended.map(|ended| ended.plus_seconds(i64::from(seconds))) })
    }
}

fn of(checkpoints: &Arc<Checkpoints>, replicated_job: Option<Word>, workload: Workload) -> Kept {
    let made = match workload {
        Workload::JobSet(job_set) => claim_template(checkpoints, job_set).map(|template| (template, job_set)),
        Workload::Job(_) | Workload::CronJob(_) => None,
    };
    let durable = &checkpoints.durable;
    let (claim, answer, why, deleted_by) = if let Some((template, job_set)) = made {
        let claim = claim_object(template, job_set);
        let why = if template.retained {
            format!("claim {claim} outlives pods, restarts and the JobSet (whenDeleted: Retain)")
        } else {
            format!("claim {claim}, which the JobSet makes, outlives pods and restarts")
        };
        let ways = with_made_claim(&claim, template, workload);
        (Some(claim), Answer::Yes, why, ways)
    } else {
        let claim = durable.claim.clone().filter(|_| !is_unseen(checkpoints));
        let ways = with_claim_or_pod(checkpoints, claim.as_deref(), workload);
        (claim, durable.answer, durable.why.clone(), ways)
    };
    let checkpoints = Arc::clone(checkpoints);
    let made_by_job_set = made.is_some();
    Kept { replicated_job, checkpoints, claim, made_by_job_set, durable: answer, why, deleted_by }.in_order()
}

/// Whether the claim's name is only that of a mount whose volume the template does not have.
fn is_unseen(checkpoints: &Checkpoints) -> bool {
    checkpoints.durable.kind == Kind::Claim && checkpoints.durable.answer == Answer::Unknown
}

/// The template of `spec.volumeClaimPolicies` that makes the claim: a mount has its name, or a volume names the claim.
fn claim_template<'s>(checkpoints: &Checkpoints, job_set: &'s JobSet) -> Option<&'s VolumeClaimTemplate> {
    let claim = checkpoints.durable.claim.as_deref()?;
    let by_mount = is_unseen(checkpoints);
    let names = |template: &VolumeClaimTemplate| {
        if by_mount { *template.name == *claim } else { claim_object(template, job_set) == claim }
    };
    job_set.volume_claims.iter().find(|template| names(template))
}

/// The claim's name as an object (`generatePVCName`, jobset `pkg/controllers/volume_claim_policy.go`).
fn claim_object(template: &VolumeClaimTemplate, job_set: &JobSet) -> String {
    format!("{}-{}", template.name, job_set.name)
}

/// What deletes a claim that the `JobSet` makes. With `whenDeleted: Delete` the claim is owned by the `JobSet`; with
/// `Retain` it has no owner, and a `JobSet` of the same name takes it up again.
fn with_made_claim(claim: &str, template: &VolumeClaimTemplate, workload: Workload) -> Vec<Deletion> {
    let mut ways = with_claim(claim);
    if !template.retained {
        let why = format!("claim {claim} is deleted with the JobSet (whenDeleted: Delete)");
        ways.push(Deletion { by: DeletedBy::JobSetDeletion, why, at: None });
        ways.extend(claim_ttl(claim, workload));
    }
    ways
}

fn claim_ttl(claim: &str, workload: Workload) -> Option<Deletion> {
    workload.ttl(&format!("claim {claim} goes"))
}

fn with_claim(claim: &str) -> Vec<Deletion> {
    let way = |by, why| Deletion { by, why, at: None };
    vec![
        way(DeletedBy::ClaimDeletion, format!("deletion of claim {claim}")),
        way(DeletedBy::NamespaceDeletion, "deletion of the namespace".to_owned()),
    ]
}

fn with_claim_or_pod(checkpoints: &Checkpoints, claim: Option<&str>, workload: Workload) -> Vec<Deletion> {
    let durable = &checkpoints.durable;
    let mut ways: Vec<Deletion> = claim.map(with_claim).unwrap_or_default();
    ways.extend(durable.loses.iter().map(|loss| Deletion { by: by(*loss), why: loss.to_string(), at: None }));
    // The claim of an ephemeral volume is the pod's, and an ended pod keeps it until it is deleted itself. An emptyDir
    // is removed by the kubelet as soon as the pod has ended.
    if durable.kind == Kind::EphemeralClaim {
        ways.extend(workload.ttl("the pods' ephemeral volumes go"));
    }
    ways
}

fn by(loss: Loss) -> DeletedBy {
    match loss {
        Loss::ContainerRestart => DeletedBy::ContainerRestart,
        Loss::PodDeletion => DeletedBy::PodDeletion,
        Loss::NodeLoss => DeletedBy::NodeLoss,
    }
}
