//! What becomes of checkpoints: the four answers of a pod template, with the fate of the claim that they lie on. It is
//! told by a workload's spec and status alone; that a checkpoint exists is never said.

use std::sync::Arc;

use crate::checkpoint::{Answer, Checkpoints, Kind, Loss};
use crate::model::{Job, JobSet, Time, VolumeClaimTemplate, Word};

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
    /// What would delete them, what is sure to come first. Empty where nothing of the cluster does, as with a bucket,
    /// or where it is not known.
    pub deleted_by: Vec<Deletion>,
}

/// One way in which checkpoints would be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// What does it.
    pub by: DeletedBy,
    /// In words, with the field that says so.
    pub why: String,
    /// When it is due, where that can be named.
    pub at: Option<Time>,
}

/// What would delete checkpoints, in the order in which it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeletedBy {
    /// `ttlSecondsAfterFinished` of the `JobSet` passes: nobody has to do anything.
    JobSetTtl,
    /// `ttlSecondsAfterFinished` of the Job passes, and its pods are deleted with it.
    JobTtl,
    /// A restart of the container.
    ContainerRestart,
    /// The end of the pod: every restart that makes a new one.
    PodDeletion,
    /// The loss of the node, or a start on another.
    NodeLoss,
    /// The `JobSet` is deleted, as it must be to be made anew once it has finished.
    JobSetDeletion,
    /// The claim is deleted.
    ClaimDeletion,
    /// The namespace is deleted.
    NamespaceDeletion,
}

impl Kept {
    /// Whether a restart of the workload, which makes new pods, would lose them: `None` where that is not known.
    pub fn lost_with_pods(&self) -> Option<bool> {
        match self.durable {
            Answer::Yes => Some(false),
            Answer::No => Some(true),
            Answer::Unknown => None,
        }
    }

    /// Whether they go when the `JobSet` is deleted, though they outlive its pods.
    pub fn lost_with_job_set(&self) -> bool {
        self.deletion(DeletedBy::JobSetDeletion).is_some()
    }

    /// One way in which they would be deleted.
    pub fn deletion(&self, by: DeletedBy) -> Option<&Deletion> {
        self.deleted_by.iter().find(|deletion| deletion.by == by)
    }
}

/// What a `JobSet`'s pod templates tell of checkpoints: one for each replicated Job that tells anything, in their order.
pub fn kept(job_set: &JobSet) -> Vec<Kept> {
    let told = job_set.replicated_jobs.iter().filter_map(|job| Some((job, job.checkpoints.as_ref()?)));
    told.map(|(job, checkpoints)| of(checkpoints, Some(job.name.clone()), Owner::JobSet(job_set))).collect()
}

/// What a Job's pod template tells of checkpoints, if it tells anything. Of a Job that belongs to a `JobSet`, ask
/// [`kept`] of that: the Job does not tell what becomes of the `JobSet`'s claims.
pub fn of_job(job: &Job) -> Option<Kept> {
    job.checkpoints.as_ref().map(|checkpoints| of(checkpoints, None, Owner::Job(job)))
}

/// What the pods, and with them their own volumes, belong to.
#[derive(Clone, Copy)]
enum Owner<'s> {
    JobSet(&'s JobSet),
    Job(&'s Job),
}

fn of(checkpoints: &Arc<Checkpoints>, replicated_job: Option<Word>, owner: Owner) -> Kept {
    let made = match owner {
        Owner::JobSet(job_set) => claim_template(checkpoints, job_set).map(|template| (template, job_set)),
        Owner::Job(_) => None,
    };
    let durable = &checkpoints.durable;
    let (claim, answer, why, mut deleted_by) = if let Some((template, job_set)) = made {
        let claim = claim_object(template, job_set);
        let ways = with_job_set(&claim, template, job_set);
        let why = if template.retained {
            format!("claim {claim} outlives pods, restarts and the JobSet (whenDeleted: Retain)")
        } else {
            format!("claim {claim}, which the JobSet makes, outlives pods and restarts")
        };
        (Some(claim), Answer::Yes, why, ways)
    } else {
        let claim = durable.claim.clone().filter(|_| !is_unseen(checkpoints));
        let ways = with_claim_or_pod(checkpoints, claim.as_deref(), owner);
        (claim, durable.answer, durable.why.clone(), ways)
    };
    deleted_by.sort_by_key(|deletion| deletion.by);
    Kept {
        replicated_job,
        checkpoints: Arc::clone(checkpoints),
        claim,
        made_by_job_set: made.is_some(),
        durable: answer,
        why,
        deleted_by,
    }
}

/// Whether the claim's name is only that of a mount whose volume the template does not have.
fn is_unseen(checkpoints: &Checkpoints) -> bool {
    checkpoints.durable.kind == Kind::Claim && checkpoints.durable.answer == Answer::Unknown
}

/// The template of `spec.volumeClaimPolicies` that makes the claim: a mount has its name, or a volume names the claim.
/// The webhook lets no two templates have one name (jobset `pkg/webhooks/jobset_webhook.go`).
fn claim_template<'s>(checkpoints: &Checkpoints, job_set: &'s JobSet) -> Option<&'s VolumeClaimTemplate> {
    let claim = checkpoints.durable.claim.as_deref()?;
    let by_mount = is_unseen(checkpoints);
    let names = |template: &VolumeClaimTemplate| {
        if by_mount { *template.name == *claim } else { claim_object(template, job_set) == claim }
    };
    job_set.volume_claims.iter().find(|template| names(template))
}

/// The claim's name as an object (jobset `pkg/controllers/jobset_controller.go`).
fn claim_object(template: &VolumeClaimTemplate, job_set: &JobSet) -> String {
    format!("{}-{}", template.name, job_set.name)
}

/// What deletes a claim that the `JobSet` makes. With `whenDeleted: Delete` the claim is owned by the `JobSet`; with
/// `Retain` it has no owner, and a `JobSet` of the same name takes it up again.
fn with_job_set(claim: &str, template: &VolumeClaimTemplate, job_set: &JobSet) -> Vec<Deletion> {
    let mut ways = with_claim(claim);
    if !template.retained {
        let why = format!("claim {claim} is deleted with the JobSet (whenDeleted: Delete)");
        ways.push(Deletion { by: DeletedBy::JobSetDeletion, why, at: None });
        ways.extend(job_set_ttl(job_set, &format!("the JobSet is deleted, and claim {claim} with it")));
    }
    ways
}

fn with_claim(claim: &str) -> Vec<Deletion> {
    let way = |by, why| Deletion { by, why, at: None };
    vec![
        way(DeletedBy::ClaimDeletion, format!("deletion of claim {claim}")),
        way(DeletedBy::NamespaceDeletion, "deletion of the namespace".to_owned()),
    ]
}

fn with_claim_or_pod(checkpoints: &Checkpoints, claim: Option<&str>, owner: Owner) -> Vec<Deletion> {
    let durable = &checkpoints.durable;
    let mut ways: Vec<Deletion> = claim.map(with_claim).unwrap_or_default();
    ways.extend(durable.loses.iter().map(|loss| Deletion { by: (*loss).into(), why: loss.to_string(), at: None }));
    // The claim of an ephemeral volume is the pod's, and an ended pod keeps it until it is deleted itself. An emptyDir
    // is removed by the kubelet as soon as the pod has ended.
    if durable.kind == Kind::EphemeralClaim {
        let what = "is deleted, and its pods with their ephemeral volumes";
        ways.extend(match owner {
            Owner::JobSet(job_set) => job_set_ttl(job_set, &format!("the JobSet {what}")),
            Owner::Job(job) => job_ttl(job, &format!("the Job {what}")),
        });
    }
    ways
}

fn job_set_ttl(job_set: &JobSet, what: &str) -> Option<Deletion> {
    let ended = job_set.condition("Failed").or_else(|| job_set.condition("Completed"));
    let seconds = job_set.ttl_seconds_after_finished?;
    Some(ttl(DeletedBy::JobSetTtl, seconds, ended.and_then(|condition| condition.at), what))
}

fn job_ttl(job: &Job, what: &str) -> Option<Deletion> {
    let ended = job.condition("Failed").or_else(|| job.condition("Complete"));
    let seconds = job.ttl_seconds_after_finished?;
    Some(ttl(DeletedBy::JobTtl, seconds, ended.and_then(|condition| condition.at), what))
}

fn ttl(by: DeletedBy, seconds: u32, ended: Option<Time>, what: &str) -> Deletion {
    let why = format!("{what}, {seconds} s after it finishes (ttlSecondsAfterFinished)");
    Deletion { by, why, at: ended.map(|ended| ended.plus_seconds(i64::from(seconds))) }
}

impl From<Loss> for DeletedBy {
    fn from(loss: Loss) -> Self {
        match loss {
            Loss::ContainerRestart => Self::ContainerRestart,
            Loss::PodDeletion => Self::PodDeletion,
            Loss::NodeLoss => Self::NodeLoss,
        }
    }
}
