use crate::analysis::Failure;
use crate::model::Job;
use crate::policy::holds_index;
use crate::policy::requirement;

/// What the controller does about a failure by itself, if it does anything: nothing where the Job is failing, has
/// succeeded, is suspended, being deleted or managed elsewhere, where the rule ends the Job or the index, and where no
/// retries are left.
pub(super) fn retried(failure: &Failure) -> Option<String> {
    let job = failure.job.filter(|job| goes_on(job))?;
    if failure.rule.is_some_and(|rule| matches!(rule.action.name(), "FailJob" | "FailIndex")) {
        return None;
    }
    let index = failure.pod.and_then(|pod| pod.index);
    if index.zip(job.failed_indexes.as_deref()).is_some_and(|(index, failed)| holds_index(failed, index.get())) {
        return None;
    }
    if let Some(hit) = failure.rule.filter(|rule| rule.action.name() == "Ignore") {
        let rule = job.policy.as_ref()?.rules.get(hit.index)?;
        return Some(format!("an Ignore rule ({}): not counted, the Job replaces the pod", requirement(rule)));
    }
    match (job.backoff_limit_per_index, job.backoff_limit) {
        (Some(limit), _) => {
            let used = failure.pod.and_then(|pod| pod.index_failures)?.get() + 1;
            let left = (limit + 1).checked_sub(used).filter(|left| *left > 0)?;
            Some(format!("the Job replaces the pod, retries left for its index: {left} of {limit}"))
        }
        (None, limit) => {
            let limit = limit.unwrap_or(6);
            let left = limit.checked_sub(job.failed)?;
            Some(format!("the Job replaces the pod, retries left: {left} of {limit}"))
        }
    }
}

/// Whether the Job still makes pods.
pub(super) fn goes_on(job: &Job) -> bool {
    job.failing().is_none()
        && job.succeeding().is_none()
        && job.condition("Suspended").is_none()
        && !job.suspend
        && job.deletion_requested.is_none()
        && job.managed_by.is_none()
}
