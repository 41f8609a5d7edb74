use super::Failure;
use super::job::pending;
use crate::model::{Phase, Pod, Time};
use crate::report::Class;

/// Failures of a pod whose Job is not in the data. Its policy is not known, so that nothing is said about rules.
pub(super) fn judge_orphan(
    pod: &Pod,
    workload: usize,
    now: Option<Time>,
    pending_after: i64,
) -> impl Iterator<Item = Failure<'_>> {
    let ended = (pod.phase == Phase::Failed)
        .then(|| Failure { counted: None, ..Failure::of_pod(Class::Unknown, workload, None, pod) });
    let alive = pod.phase != Phase::Failed && !pod.is_terminating();
    let waits = if alive { pending(workload, None, pod, now, pending_after) } else { None };
    let restarts = pod.restarts().iter().filter(move |_| alive).map(move |restart| Failure {
        end: Some(&restart.last),
        counted: None,
        ..Failure::of_pod(Class::Restarting, workload, None, pod)
    });
    ended.into_iter().chain(waits).chain(restarts)
}
