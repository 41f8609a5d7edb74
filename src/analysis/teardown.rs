use std::fmt;

use super::facts::JobFacts;
use crate::model::{Pod, Time};
use crate::report::Blocker;
use crate::source::Snapshot;

/// What tore a pod down that did not fail by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TornDownBy {
    /// Its Job was failing: the controller deletes all active pods.
    JobFailing,
    /// Its Job had met its success criteria: the pods left over are deleted.
    JobSucceeded,
    /// Its Job was suspended.
    JobSuspended,
    /// Its Job was being deleted.
    JobDeleted,
    /// Its `JobSet` was restarting, and deleted the Job.
    JobSetRestarting,
    /// Its `JobSet` had failed or completed, and deleted the Job.
    JobSetFinished,
    /// Its Job goes on with fewer pods.
    ScaledDown,
    /// Of a pod without a Job: it was being deleted.
    Deletion,
}

impl TornDownBy {
    /// As the JSON spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::JobFailing => "jobFailing",
            Self::JobSucceeded => "jobSucceeded",
            Self::JobSuspended => "jobSuspended",
            Self::JobDeleted => "jobDeleted",
            Self::JobSetRestarting => "jobSetRestarting",
            Self::JobSetFinished => "jobSetFinished",
            Self::ScaledDown => "scaledDown",
            Self::Deletion => "deletion",
        }
    }
}

impl fmt::Display for TornDownBy {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::JobFailing => "the Job was already failing",
            Self::JobSucceeded => "the Job had succeeded",
            Self::JobSuspended => "the Job was suspended",
            Self::JobDeleted => "the Job was being deleted",
            Self::JobSetRestarting => "the JobSet was restarting",
            Self::JobSetFinished => "the JobSet had ended",
            Self::ScaledDown => "the Job was scaled down",
            Self::Deletion => "the pod was being deleted",
        })
    }
}

/// How long before its condition a suspended Job's pods may have been deleted: the controller deletes them first, as
/// quickly as its rate limit lets it, and sets the condition then.
const SUSPENDING_TAKES: i64 = 120;

/// What tore the pod down, if it did not fail by itself.
///
/// The controller deletes the active pods once it has decided. A pod is collateral when its deletion was asked for (by
/// `deletionTimestamp` or a `SuccessfulDelete` Event) no earlier than the decision. A failed pod that was not deleted
/// had ended before the decision, as the controller deletes all others; only where the dump may have lost the deletion
/// (the pod was there, and was killed in a later second than the decision) is it collateral, too: a later second alone may
/// be a node's clock. A disruption that came before the decision is a cause of its own, and so is the pod that the
/// controller names. A pod that the controller deletes while nothing is decided was one too many.
pub(super) fn torn_down_by(facts: &JobFacts, pod: &Pod) -> Option<TornDownBy> {
    if facts.named_pod().is_some_and(|named| *named == *pod.name) {
        return None;
    }
    let ended = pod.finished_at();
    let by_controller = facts.deleted_at(&pod.name);
    // A pod that had ended before it was deleted, as by a clean-up, failed by itself.
    let deleted =
        pod.deletion_requested.or(by_controller).filter(|deleted| ended.is_none_or(|ended| ended >= *deleted));
    let disrupted = pod.disruption().and_then(|disruption| disruption.at);
    let Some((by, decided)) = decisions(facts).min_by_key(|(_, decided)| *decided) else {
        return by_controller.and(deleted).map(|_| TornDownBy::ScaledDown);
    };
    let hit = if let Some(deleted) = deleted {
        deleted >= decided && disrupted.is_none_or(|disrupted| disrupted >= decided)
    } else {
        let was_there = pod.created.is_none_or(|created| created <= decided);
        pod.disruption().is_none() && was_there && was_killed(pod) && ended.is_some_and(|ended| ended > decided)
    };
    if hit { Some(by) } else { by_controller.and(deleted).map(|_| TornDownBy::ScaledDown) }
}

/// A pod that was asked to end and has not, as what others wait for.
pub fn blocker(snapshot: &Snapshot, pod: &Pod) -> Blocker {
    let node = pod.node.as_deref();
    Blocker {
        pod: pod.name.to_string(),
        node: node.map(str::to_owned),
        node_ready: node.and_then(|name| snapshot.node(name)?.ready),
        since: pod.deletion_requested,
        grace_seconds: pod.grace_seconds(),
    }
}

/// Whether all failed containers ended by SIGTERM or SIGKILL, and not for want of memory.
fn was_killed(pod: &Pod) -> bool {
    let mut failed = pod.all_ends().filter(|end| end.exit_code != 0).peekable();
    failed.peek().is_some()
        && failed.all(|end| matches!(end.exit_code, 137 | 143) && end.reason.as_deref() != Some("OOMKilled"))
}

/// The moments at which the Job's pods became superfluous.
fn decisions(facts: &JobFacts) -> impl Iterator<Item = (TornDownBy, Time)> {
    let job = facts.job;
    let suspended = job.condition("Suspended").and_then(|condition| condition.at);
    [
        (TornDownBy::JobFailing, job.failing().and_then(|condition| condition.at)),
        (TornDownBy::JobSucceeded, job.succeeding().and_then(|condition| condition.at)),
        (TornDownBy::JobSuspended, suspended.map(|at| at.plus_seconds(-SUSPENDING_TAKES))),
        (TornDownBy::JobDeleted, job.deletion_requested),
    ]
    .into_iter()
    .filter_map(|(by, at)| Some((by, at?)))
}
