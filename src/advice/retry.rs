//! What the controllers do about a failure by themselves.

use crate::analysis::{Analysis, Failure, JobSetStory};
use crate::model::{Job, JobSet, JobSetAction, Phase};
use crate::policy::{
    FailedJob, Patterns, count_indexes, holds_index, job_set_rule_for, requirement, retries_of_index, retries_of_job,
};
use crate::report::WorkloadState;

/// What the controller does about a failure by itself, if it does anything: nothing where the Job is failing, has
/// succeeded, is suspended, being deleted or managed elsewhere, makes no other pods, where the rule ends the Job or the
/// index, and where no retries are left.
pub(super) fn retried(failure: &Failure) -> Option<String> {
    let job = failure.job.filter(|job| goes_on(job))?;
    if failure.rule.is_some_and(|rule| rule.action.ends_job()) {
        return None;
    }
    let index = failure.pod.and_then(|pod| pod.index);
    // Scaled down (KEP-3715): an index beyond has no other pod.
    let beyond = |index: u32| job.indexed && job.completions.is_some_and(|completions| index >= completions);
    if index.is_some_and(|index| beyond(index.get())) {
        return None;
    }
    if index.zip(job.failed_indexes.as_deref()).is_some_and(|(index, failed)| holds_index(failed, index.get())) {
        return None;
    }
    if let Some(hit) = failure.rule.filter(|rule| rule.action.name() == "Ignore") {
        let rule = job.policy.as_ref()?.rules.get(hit.index())?;
        return Some(format!("an Ignore rule ({}): not counted, the Job replaces the pod", requirement(rule)));
    }
    let of_index = failure.pod.and_then(|pod| retries_of_index(job, pod.index_failures?.get()));
    let (retries, of) = match of_index {
        Some(of_index) => (of_index, " for its index"),
        None if job.backoff_limit_per_index.is_some() => return None,
        None => (retries_of_job(job), ""),
    };
    let limit = retries.limit;
    // The controller has not seen this failure yet: it uses up one more.
    let is_unseen = of_index.is_none()
        && failure.pod.is_some_and(|pod| {
            let is_unnoted = pod.uid.as_ref().is_some_and(|uid| !job.uncounted_failed.contains(uid));
            pod.phase == Phase::Failed && pod.is_tracked && is_unnoted
        });
    let left = retries.left?.checked_sub(u32::from(is_unseen))?;
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
        && job.parallelism != Some(0)
        && !is_served(job)
        && !has_too_many_failed_indexes(job)
}

/// Whether a work queue, which has no `completions` but `parallelism`, has had a success: its pods that run are let run, and no
/// others are made. Without both the API server sets both to 1.
///
/// Source: Kubernetes `pkg/controller/job/job_controller.go`, `manageJob`; `pkg/apis/batch/v1/defaults.go`.
fn is_served(job: &Job) -> bool {
    job.completions.is_none() && job.parallelism.is_some() && job.succeeded > 0
}

/// Whether the Job is about to fail for its failed indexes: for more than it may have, or as no others are left.
///
/// Source: Kubernetes `pkg/controller/job/job_controller.go`, `syncJob`.
fn has_too_many_failed_indexes(job: &Job) -> bool {
    let failed = job.failed_indexes.as_deref().map_or(0, count_indexes);
    let is_last = job.completions.is_some_and(|completions| failed.saturating_add(job.succeeded) >= completions);
    job.max_failed_indexes.is_some_and(|most| failed > most) || (failed > 0 && is_last)
}

/// What a `JobSet` will do about its failed Jobs, taken together: the first rule that applies to any of them decides for all.
pub(super) struct Outcome {
    action: JobSetAction,
    /// The rule's name, or that it is the default.
    rule: String,
    /// Whether it is about one Job alone, and there is another that has failed.
    is_of_one: bool,
}

/// Of each story of an analysis, what is about to be done; nothing where nothing has failed, where another controller decides,
/// or where it cannot be told.
pub(super) fn outcomes(analysis: &Analysis) -> Vec<Option<Outcome>> {
    analysis.stories.iter().map(outcome).collect()
}

/// Source: JobSet `pkg/controllers/jobset_controller.go`, which looks at Jobs of the current attempt with the condition `Failed`,
/// and `failure_policy.go`. Where there is none yet, those that are failing will be the ones.
fn outcome(story: &JobSetStory) -> Option<Outcome> {
    let policy = story.job_set.failure_policy.as_ref()?;
    let current: Vec<&Job> = story.jobs.iter().copied().filter(|job| is_current(story, job)).collect();
    let failed: Vec<&Job> = current.iter().copied().filter(|job| job.condition("Failed").is_some()).collect();
    let judged = if failed.is_empty() { current } else { failed };
    let patterns = Patterns::default();
    let rule_for = |job: &Job| {
        let condition = job.failing()?;
        let replicated_job = job.replicated_job();
        let (reason, message) = (&*condition.reason, &*condition.message);
        let failed = FailedJob { replicated_job, reason, message, at: condition.at };
        Some(job_set_rule_for(policy, failed, &patterns)?.unwrap_or(usize::MAX))
    };
    let rules: Vec<usize> = judged.iter().map(|job| rule_for(job)).collect::<Option<_>>()?;
    let rule = policy.rules.get(*rules.iter().min()?);
    let action = rule.map_or(JobSetAction::RestartJobSet, |rule| rule.action.clone());
    let is_single = matches!(action, JobSetAction::RestartJob | JobSetAction::RestartJobAndIgnoreMaxRestarts);
    let rule = rule.map_or("the default".to_owned(), |rule| format!("rule {}", rule.name));
    Some(Outcome { action, rule, is_of_one: is_single && judged.len() > 1 })
}

fn is_current(story: &JobSetStory, job: &Job) -> bool {
    job.failing().is_some() && job.restart_attempt().is_none_or(|attempt| attempt >= story.job_set.restarts)
}

/// Whether the `JobSet`'s own controller here goes on with it.
pub(super) fn is_run_here(job_set: &JobSet) -> bool {
    job_set.managed_by.is_none() && job_set.deletion_requested.is_none()
}

/// What a `JobSet` does by itself about a failed Job, if it makes it anew: nothing where it has ended, is being deleted or
/// run elsewhere, no rule can be told, or no counted restart is left.
pub(super) fn restarts(story: &JobSetStory, failure: &Failure, outcome: Option<&Outcome>) -> Option<String> {
    let (job_set, job) = (story.job_set, failure.job?);
    if !is_run_here(job_set) {
        return None;
    }
    match story.state() {
        WorkloadState::Restarting => {
            return Some(format!("the JobSet makes its Jobs anew by itself: {}", story.budget()));
        }
        WorkloadState::Running | WorkloadState::Failing => {}
        _ => return None,
    }
    let (policy, _) = (job_set.failure_policy.as_ref()?, job.failing()?);
    let outcome = outcome.filter(|outcome| !outcome.is_of_one)?;
    if outcome.action.counts()? && job_set.counted_restarts() >= policy.max_restarts {
        return None;
    }
    Some(format!("{} ({}) makes it anew: {}", outcome.rule, outcome.action, story.budget()))
}
