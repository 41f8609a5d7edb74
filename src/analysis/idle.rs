//! Pods that have not failed, and do not do what they are there for: they wait, are not ready, or do not end.

use super::{Failure, Told};
use crate::model::{Job, Node, Pod, Time};
use crate::report::Class;
use crate::source::Snapshot;

/// How long a pod may be not ready before it is told, in seconds: probes fail now and then.
const UNREADY_SECONDS: i64 = 60;

/// A pod that cannot start: at once for errors of image, configuration or creation, after `pending_after` seconds where
/// it may still come.
pub(super) fn pending<'s>(
    workload: usize,
    job: Option<&'s Job>,
    pod: &'s Pod,
    now: Option<Time>,
    pending_after: i64,
) -> Option<Failure<'s>> {
    let waiting = pod.waiting()?;
    let may_still_come = matches!(
        &*waiting.reason,
        "ContainerCreating" | "PodInitializing" | "Pending" | "Unschedulable" | "SchedulingGated" | "SchedulerError"
    );
    if may_still_come {
        #[allow(clippy::cast_precision_loss)] // seconds of a wait
        let long_enough = now?.since(waiting.since?) >= pending_after as f64;
        if !long_enough {
            return None;
        }
    }
    Some(Failure { end: None, ..Failure::of_pod(Class::Pending, workload, job, pod) })
}

/// A pod that was asked to end on a node whose kubelet has gone silent: it does not before the kubelet is back, the node is
/// deleted, or the pod is by force (`pkg/controller/podgc`).
pub(super) fn held_with_node<'s>(
    workload: usize,
    job: Option<&'s Job>,
    pod: &'s Pod,
    snapshot: &'s Snapshot,
) -> Option<Failure<'s>> {
    let node = snapshot.node(pod.node.as_deref()?).filter(|node| node.is_silent && pod.is_terminating())?;
    Some(with_node(workload, job, pod, node, node.ready_since.or(pod.deletion_requested)))
}

/// A pod that runs on a node whose kubelet has gone silent, or reports that it is not ready: the node's controller has taken
/// `Ready` from it (`pkg/controller/nodelifecycle`, `MarkPodsNotReady`).
pub(super) fn not_ready_with_node<'s>(
    workload: usize,
    job: Option<&'s Job>,
    pod: &'s Pod,
    snapshot: &'s Snapshot,
) -> Option<Failure<'s>> {
    let unready = pod.unready()?;
    let node = snapshot.node(pod.node.as_deref()?).filter(|node| node.ready == Some(false))?;
    Some(with_node(workload, job, pod, node, node.ready_since.or(unready.since)))
}

fn with_node<'s>(workload: usize, job: Option<&'s Job>, pod: &'s Pod, node: &Node, since: Option<Time>) -> Failure<'s> {
    let how = if node.is_silent { "its kubelet has stopped reporting" } else { "it is not ready" };
    let told = Told {
        reason: Some("NodeNotReady".into()),
        message: Some(format!("node {}: {how}", node.name).into()),
        at: since,
        ..Told::default()
    };
    let failure = Failure { end: None, ..Failure::of_pod(Class::NotReady, workload, job, pod) };
    Failure { told: Some(Box::new(told)), ..failure }
}

/// A pod that runs and has not been ready for a while; one that is still starting is given as long as one that waits.
pub(super) fn not_ready(pod: &Pod, now: Option<Time>, pending_after: i64) -> Option<Failure<'_>> {
    let unready = pod.unready()?;
    let patience = if unready.is_starting { pending_after.max(UNREADY_SECONDS) } else { UNREADY_SECONDS };
    if now?.seconds() - unready.since?.seconds() < patience {
        return None;
    }
    let told = Told {
        reason: Some(unready.reason.clone().unwrap_or_else(|| "NotReady".into())),
        message: unready.message.clone(),
        at: unready.since,
        ..Told::default()
    };
    let failure = Failure { end: None, ..Failure::of_pod(Class::NotReady, 0, None, pod) };
    Some(Failure { told: Some(Box::new(told)), ..failure })
}

/// Whether a pod was being deleted and ended after a moment.
pub(super) fn ended_after(pod: &Pod, moment: Time) -> bool {
    pod.deletion_requested.is_some() && pod.finished_at().is_some_and(|ended| ended > moment)
}
