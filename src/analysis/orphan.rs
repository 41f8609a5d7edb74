//! Pods without a Job: it is not in the data, or there is none.

use super::idle::{ended_after, held_with_node, not_ready, not_ready_with_node, pending};
use super::{Failure, TornDownBy};
use crate::model::{Phase, Pod, Restart, TEARDOWN_PATIENCE_SECONDS, Time};
use crate::report::Class;
use crate::source::Snapshot;

/// How long after a container ended it is no news any more that it did, while it runs: the kubelet forgets its back-off after
/// as long (`MaxContainerBackOff` twice, `pkg/kubelet/kuberuntime`).
const NEWS_SECONDS: i64 = 600;

/// Failures of a pod without a Job in the data; their workload is for the caller to fill in. Nothing is said about rules: the
/// policy is not known, or there is none.
pub(super) fn judge_orphan<'s>(
    pod: &'s Pod,
    snapshot: &'s Snapshot,
    now: Option<Time>,
    pending_after: i64,
) -> Vec<Failure<'s>> {
    let of_job = pod.owner.as_ref().is_some_and(|owner| owner.is("batch", "Job"));
    let class = if of_job { Class::Unknown } else { Class::NoJob };
    let counted = if of_job { None } else { Some(false) };
    if pod.phase == Phase::Failed {
        let failure = Failure { counted, ..Failure::of_pod(class, 0, None, pod) };
        // A pod that somebody deleted ends by a signal, which is no failure; who did is not told.
        let deleted =
            !of_job && pod.disruption().is_none() && pod.deletion_requested.is_some_and(|at| ended_after(pod, at));
        return vec![if deleted {
            Failure { class: Class::Collateral, torn_down: Some(TornDownBy::Deletion), ..failure }
        } else {
            failure
        }];
    }
    if pod.is_terminating() {
        let lost = held_with_node(0, None, pod, snapshot).filter(|_| holds_its_place(pod));
        return lost.or_else(|| hangs(pod, now)).filter(|_| !of_job).into_iter().collect();
    }
    let waits = pending(0, None, pod, now, pending_after).filter(|_| !is_queued(pod));
    let is_news = |restart: &&Restart| {
        let at = restart.last.finished_at;
        of_job || restart.backing_off || at.zip(now).is_none_or(|(at, now)| at >= now.plus_seconds(-NEWS_SECONDS))
    };
    let restarts = pod.restarts().iter().filter(is_news).map(|restart| Failure {
        end: Some(&restart.last),
        counted,
        ..Failure::of_pod(Class::Restarting, 0, None, pod)
    });
    let mut found: Vec<Failure> = waits.into_iter().chain(restarts).collect();
    if found.is_empty() {
        let lost = not_ready_with_node(0, None, pod, snapshot);
        found.extend(lost.or_else(|| not_ready(pod, now, pending_after).filter(|_| !of_job)));
    }
    found
}

/// Whether Kueue holds a pod until it has quota: it waits, and has not failed.
///
/// Source: kueue `pkg/controller/jobs/pod/constants`, `SchedulingGateName`.
pub(super) fn is_queued(pod: &Pod) -> bool {
    let gated = pod.waiting().filter(|waiting| &*waiting.reason == "SchedulingGated");
    gated.and_then(|waiting| waiting.message.as_ref()).is_some_and(|gates| gates.contains("kueue.x-k8s.io/admission"))
}

/// A pod that should have ended long ago: on a node that is gone it never does, and a `StatefulSet`, a `DaemonSet` or a
/// `LeaderWorkerSet` makes no other one before it has.
fn hangs(pod: &Pod, now: Option<Time>) -> Option<Failure<'_>> {
    let until = pod.deletion_requested?.plus_seconds(pod.grace_seconds() + TEARDOWN_PATIENCE_SECONDS);
    (now? > until).then(|| Failure { end: None, ..Failure::of_pod(Class::Pending, 0, None, pod) })
}

/// Whether no other pod is made in a pod's place before it is gone: of its name, or on its node, there can be one only. What
/// a `ReplicaSet` makes comes up elsewhere.
fn holds_its_place(pod: &Pod) -> bool {
    let kinds = ["StatefulSet", "DaemonSet"];
    pod.owner.as_ref().is_some_and(|owner| kinds.iter().any(|kind| owner.is("apps", kind)))
}
