//! Claims that hold checkpoints and would go with what is to be made again.

use serde_json::Value;

use super::Kubectl;
use super::draft::Advice;
use super::maker::{Maker, Run};
use crate::analysis::{DeletedBy, Kept, claim_in};
use crate::kubectl::without_owner;
use crate::model::{Claim, Owner};
use crate::report::{Safety, SuggestionKind};
use crate::source::Snapshot;

/// What keeps a claim that would go with its workload, whether that is deleted by hand, by a restart or by its time to live;
/// where the claim is being deleted itself, what can still be done.
pub(super) fn protect(maker: Maker, kept: &Kept, snapshot: &Snapshot, kubectl: &Kubectl) -> Option<Advice> {
    let name = kept.claim.as_deref()?;
    let (namespace, _, _) = maker.place();
    let claim = claim_in(snapshot, namespace, name);
    if let Some(claim) = claim.filter(|claim| claim.deleted_at.is_some()) {
        return Some(is_going(claim, kubectl));
    }
    let (operations, others) = match claim {
        Some(claim) => without_owners(claim, maker)?,
        // Nobody but the JobSet owns a claim that it makes.
        None => (as_made(maker, kept)?, String::new()),
    };
    let due = kept.deletion(DeletedBy::JobSetTtl).or_else(|| kept.deletion(DeletedBy::JobTtl));
    let due = due.map(|deletion| match deletion.at {
        Some(at) => format!(", which ttlSecondsAfterFinished does at {at}"),
        None => ", which ttlSecondsAfterFinished does once it has finished".to_owned(),
    });
    let kind = if matches!(maker, Maker::JobSet(..)) { "JobSet" } else { "Job" };
    let why = format!(
        "claim {name}, where checkpoints are configured to go, is deleted with the {kind}{}: take its owner reference away{others}; \
         kubectl sigapps restart then lets the new {kind} use it again",
        due.unwrap_or_default()
    );
    let words = ["patch", "pvc", name, "-n", namespace, "--type=json"];
    let advice = Advice::new(SuggestionKind::ProtectCheckpoint, why).run(kubectl.write(
        Safety::Mutating,
        &words,
        Some(&Value::Array(operations)),
    ));
    Some(with_facts(advice, maker, kept, claim))
}

/// Whether the claim goes with the workload.
pub(super) fn is_owned(maker: Maker, kept: &Kept, snapshot: &Snapshot) -> bool {
    let (namespace, _, _) = maker.place();
    let claim = kept.claim.as_deref().and_then(|name| claim_in(snapshot, namespace, name));
    match claim {
        Some(claim) => claim.owners.iter().any(|owner| takes_along(maker, owner)),
        None => as_made(maker, kept).is_some(),
    }
}

/// A deletion cannot be taken back; the finalizer `kubernetes.io/pvc-protection` holds the claim while a pod, ended or not,
/// names it. Source: Kubernetes `pkg/controller/volume/pvcprotection`, `podUsesPVCForDeletion`.
fn is_going(claim: &Claim, kubectl: &Kubectl) -> Advice {
    let (name, at) = (&claim.name, claim.deleted_at.map(|at| at.to_string()).unwrap_or_default());
    let why = format!(
        "claim {name}, where checkpoints are configured to go, is being deleted since {at}, which cannot be undone: it goes with \
         the last pod that names it. Copy what is wanted of it before those pods are deleted, and make a new claim before \
         anything is started again"
    );
    Advice::new(SuggestionKind::ProtectCheckpoint, why)
        .run(kubectl.read(&["describe", "pvc", name, "-n", &claim.namespace]))
        .fact(format!("pvc/{}/{name}", claim.namespace), "metadata.deletionTimestamp", at)
}

/// The operations that take the workload's own references away and leave those of others, and what is to be said of these.
fn without_owners(claim: &Claim, maker: Maker) -> Option<(Vec<Value>, String)> {
    let (own, others): (Vec<_>, Vec<_>) = (0..).zip(&claim.owners).partition(|(_, owner)| takes_along(maker, owner));
    if own.is_empty() {
        return None;
    }
    // From the last on, so that the places of those before it stay.
    let operations = own.into_iter().rev().flat_map(|(place, owner)| without(place, owner)).collect();
    let others = match &others[..] {
        [] => String::new(),
        [(_, other), ..] => format!(" ({}/{} keeps its own, and still takes the claim along)", other.kind, other.name),
    };
    Some((operations, others))
}

/// Whether a claim's owner goes, and takes the claim along, when the workload is made again.
fn takes_along(maker: Maker, owner: &Owner) -> bool {
    let is_job = |name: &str| owner.is("batch", "Job") && *owner.name == *name;
    match maker {
        Maker::Job(job) | Maker::CronJob(Run { job, .. }) => is_job(&job.name),
        Maker::Other(job, above) => is_job(&job.name) || owner == above,
        Maker::JobSet(story, _) => {
            let above = story.job_set.owner.as_ref() == Some(owner);
            above || (owner.is("jobset.x-k8s.io", "JobSet") && owner.name == story.job_set.name)
        }
    }
}

fn without(place: usize, owner: &Owner) -> [Value; 2] {
    match &owner.uid {
        Some(uid) => without_owner(place, "uid", &uid.to_string()),
        None => without_owner(place, "name", &owner.name),
    }
}

/// The same for a claim that was not read and that the `JobSet` makes with itself as the only owner.
///
/// Source: JobSet `pkg/controllers/volume_claim_policy.go`, `createPVCsIfNecessary`.
fn as_made(maker: Maker, kept: &Kept) -> Option<Vec<Value>> {
    let Maker::JobSet(story, _) = maker else { return None };
    let job_set = story.job_set;
    let owner = Owner {
        group: "jobset.x-k8s.io".into(),
        kind: "JobSet".into(),
        name: job_set.name.clone(),
        uid: job_set.uid.clone(),
    };
    kept.lost_with_job_set().then(|| without(0, &owner).into())
}

fn with_facts(mut advice: Advice, maker: Maker, kept: &Kept, claim: Option<&Claim>) -> Advice {
    if let Some(claim) = claim {
        let object = format!("pvc/{}/{}", claim.namespace, claim.name);
        for owner in claim.owners.iter().filter(|owner| takes_along(maker, owner)) {
            let value = format!("{}/{}", owner.kind, owner.name);
            advice = advice.fact(&*object, "metadata.ownerReferences[]", value);
        }
    } else {
        advice = advice.fact(maker.object(), "spec.volumeClaimPolicies[].retentionPolicy.whenDeleted", "Delete");
    }
    let ttl = match maker {
        Maker::JobSet(story, _) => story.job_set.ttl_seconds_after_finished,
        Maker::Job(job) => job.ttl_seconds_after_finished,
        Maker::CronJob(..) | Maker::Other(..) => None,
    };
    let is_due = kept.deletion(DeletedBy::JobSetTtl).is_some() || kept.deletion(DeletedBy::JobTtl).is_some();
    match ttl.filter(|_| is_due) {
        Some(ttl) => advice.fact(maker.object(), "spec.ttlSecondsAfterFinished", ttl.to_string()),
        None => advice,
    }
}
