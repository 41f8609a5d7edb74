//! What the claim itself says of its end, where it was read: that is a fact, while a policy only says what was wanted.

use super::{DeletedBy, Deletion, Kept, Workload, claim_ttl};
use crate::checkpoint::Answer;
use crate::model::{Claim, Owner};
use crate::source::{Resource, Snapshot, SourceState};

/// The same, with what the data tells of the claim.
pub(super) fn with_claim(mut kept: Kept, workload: Workload, snapshot: &Snapshot) -> Kept {
    let Some(name) = kept.claim.clone() else { return kept };
    let Some(claim) = claim_in(snapshot, workload.namespace(), &name) else {
        // A dump may hold a part of the claims.
        if are_all_read(snapshot) {
            kept.durable = Answer::Unknown;
            kept.why = format!("claim {name} is not there: it was deleted, or not made yet");
            kept.deleted_by.clear();
        }
        return kept;
    };
    if claim.phase.as_deref() == Some("Lost") {
        kept.durable = Answer::No;
        kept.why = format!("claim {name} is Lost: its volume is gone");
    }
    by_owners(&mut kept, claim, workload);
    if let Some(at) = claim.deleted_at {
        kept.deleted_by.retain(|deletion| deletion.by != DeletedBy::ClaimDeletion);
        let why = format!("claim {name} is being deleted, and stays only while a pod uses it");
        kept.durable = Answer::No;
        kept.why.clone_from(&why);
        kept.deleted_by.push(Deletion { by: DeletedBy::ClaimDeletion, why, at: Some(at) });
    }
    kept
}

/// The claim of that name.
pub fn claim_in<'s>(snapshot: &'s Snapshot, namespace: &str, name: &str) -> Option<&'s Claim> {
    // Each failed Job asks, and there may be as many claims as Jobs.
    let place = |claim: &Claim| (&*claim.namespace, &*claim.name).cmp(&(namespace, name));
    let first = snapshot.claims.partition_point(|claim| place(claim).is_lt());
    snapshot.claims.get(first).filter(|claim| place(claim).is_eq())
}

fn are_all_read(snapshot: &Snapshot) -> bool {
    let is_read = |source: &crate::source::Source| {
        source.resource == Resource::Claims.name() && source.state == SourceState::Read
    };
    snapshot.cluster.is_some() && snapshot.sources.iter().any(is_read)
}

/// A claim is deleted when all its owners are gone. One that was there before the `JobSet` has no owner, whatever the
/// policy says: the controller takes it as it is (`createPVCsIfNecessary`, jobset
/// `pkg/controllers/volume_claim_policy.go`).
fn by_owners(kept: &mut Kept, claim: &Claim, workload: Workload) {
    let by_policy = kept.lost_with_job_set();
    kept.deleted_by.retain(|deletion| !matches!(deletion.by, DeletedBy::JobSetDeletion | DeletedBy::JobSetTtl));
    for owner in &claim.owners {
        kept.deleted_by.extend(by_owner(claim, owner, workload));
    }
    if by_policy && claim.owners.is_empty() {
        let name = &claim.name;
        kept.why = format!("claim {name} outlives the JobSet, which does not own it (though whenDeleted is Delete)");
    }
}

fn by_owner(claim: &Claim, owner: &Owner, workload: Workload) -> Vec<Deletion> {
    let name = &claim.name;
    let others = if claim.owners.len() > 1 { ", once all its owners are gone" } else { "" };
    let is = |uid: &Option<crate::model::Uid>| owner.uid.is_none() || uid.is_none() || owner.uid == *uid;
    match workload {
        Workload::JobSet(job_set) if owner.is("jobset.x-k8s.io", "JobSet") && owner.name == job_set.name => {
            if is(&job_set.uid) {
                let why = format!("claim {name} is deleted with the JobSet, which owns it{others}");
                let deleted = Deletion { by: DeletedBy::JobSetDeletion, why, at: None };
                return std::iter::once(deleted).chain(claim_ttl(name, workload)).collect();
            }
            let why = format!("claim {name} belongs to an earlier JobSet, and is deleted by the garbage collector");
            return vec![Deletion { by: DeletedBy::OwnerDeletion, why, at: None }];
        }
        _ => {}
    }
    let why = format!("claim {name} is deleted with {} {}, which owns it{others}", owner.kind, owner.name);
    let deleted = Deletion { by: DeletedBy::OwnerDeletion, why, at: None };
    let is_own = matches!(workload, Workload::Job(job)
        if owner.is("batch", "Job") && owner.name == job.name && is(&job.uid));
    std::iter::once(deleted).chain(claim_ttl(name, workload).filter(|_| is_own)).collect()
}
