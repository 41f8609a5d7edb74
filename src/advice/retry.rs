//! What the controllers do about a failure by themselves.

use crate::analysis::{Failure, JobSetStory};
use crate::model::Job;
use crate::policy::{FailedJob, holds_index, job_set_choose, requirement, retries_of_index, retries_of_job};
use crate::report::WorkloadState;

/// What the controller does about a failure by itself, if it does anything: nothing where the Job is failing, has
/// succeeded, is suspended, being deleted or managed elsewhere, where the rule ends the Job or the index, and where no
/// retries are left.
pub(super) fn retried(failure: &Failure) -> Option<String> {
    let job = failure.job.filter(|job| goes_on(job))?;
    if failure.rule.is_some_and(|rule| rule.action.ends_job()) {
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
    let of_index = failure.pod.and_then(|pod| retries_of_index(job, pod.index_failures?.get()));
    let (retries, of) = match of_index {
        Some(of_index) => (of_index, " for its index"),
        None if job.backoff_limit_per_index.is_some() => return None,
        None => (retries_of_job(job), ""),
    };
    let (left, limit) = (retries.left?, retries.limit);
    Some(if job.restarts_in_place && of_index.is_none() {
        format!(
            "the Job replaces the pod, retries left: at most {left} of {limit}, as restarts of containers use them up, too"
        )
    } else {
        format!("the Job replaces the pod, retries left{of}: {left} of {limit}")
    })
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

/// What a `JobSet` does by itself about a failed Job, if it makes it anew: nothing where it has ended, no rule can be told, or
/// no counted restart is left.
pub(super) fn restarts(story: &JobSetStory, failure: &Failure) -> Option<String> {
    let (job_set, job) = (story.job_set, failure.job?);
    match story.state() {
        WorkloadState::Restarting => {
            return Some(format!("the JobSet makes its Jobs anew by itself: {}", story.budget()));
        }
        WorkloadState::Running | WorkloadState::Failing => {}
        _ => return None,
    }
    let (policy, condition) = (job_set.failure_policy.as_ref()?, job.failing()?);
    let replicated_job = job.replicated_job();
    let failed = FailedJob { replicated_job, reason: &condition.reason, message: &condition.message, at: condition.at };
    let choice = job_set_choose(policy, &[failed])?;
    let counts = choice.action.counts()?;
    if counts && job_set.counted_restarts() >= policy.max_restarts {
        return None;
    }
    let rule = choice.rule.map_or("the default".to_owned(), |rule| format!("rule {}", policy.rules[rule].name));
    Some(format!("{rule} ({}) makes it anew: {}", choice.action, story.budget()))
}
