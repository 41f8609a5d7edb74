//! A `CronJob`'s runs, side by side.

use super::{Facts, Subject, job_state};
use crate::analysis::group::what_happened;
use crate::analysis::standing::{Index, RunGone, runs_gone};
use crate::model::{CronJob, Job};
use crate::policy::{label, recorded_rule};
use crate::report::{Class, Run, WorkloadState};

/// The runs in the data, the latest first.
pub(super) fn runs(facts: &Facts) -> Vec<Run> {
    match facts.subject {
        Subject::CronJob(cron_job) => {
            let mut runs: Vec<Run> = facts.jobs.iter().map(|job| run(facts, job)).collect();
            runs.extend(gone(facts, cron_job));
            runs
        }
        _ => Vec::new(),
    }
}

/// Runs whose Jobs are gone, the latest first, as far as Events tell of them: with the rule where the Job's own Event names it.
fn gone(facts: &Facts, cron_job: &CronJob) -> Vec<Run> {
    let run = |gone: RunGone| {
        let rule = gone.failure.and_then(|(reason, message)| {
            let policy = cron_job.policy.as_deref()?;
            let recorded = recorded_rule(policy, reason, message)?;
            let rule = policy.rules.get(recorded.index)?;
            Some((
                label(rule, recorded.index, cron_job.rule_names.as_deref()).label.into_owned(),
                rule.action.to_string(),
            ))
        });
        let told = gone.failure.map(|(reason, message)| format!("{reason}: {message}; its Job is gone"));
        Run {
            job: gone.job.to_owned(),
            created_at: gone.created,
            ended_at: gone.ended,
            state: if gone.has_failed { WorkloadState::Failed } else { WorkloadState::Complete },
            failures: u64::from(gone.has_failed),
            cause: gone.has_failed.then(|| told.unwrap_or_else(|| "its Job is gone, and what failed it".to_owned())),
            rule: rule.as_ref().map(|(label, _)| label.clone()),
            action: rule.map(|(_, action)| action),
        }
    };
    let index = Index::of(facts.analysis.snapshot);
    runs_gone(cron_job, &facts.jobs, &index).into_iter().map(run).collect()
}

fn run(facts: &Facts, job: &Job) -> Run {
    let of_job: Vec<_> = facts
        .failures
        .iter()
        .filter(|failure| {
            failure.job.is_some_and(|other| std::ptr::eq(other, job)) && failure.class != Class::Collateral
        })
        .collect();
    let first = of_job.iter().min_by_key(|failure| (failure.at().is_none(), failure.at()));
    let rule = first.and_then(|failure| {
        let hit = failure.rule?;
        Some((facts.analysis.label_of(failure, hit.index())?.label.into_owned(), hit.action.to_string()))
    });
    let ended = job.condition("Failed").or_else(|| job.condition("Complete")).and_then(|condition| condition.at);
    Run {
        job: job.name.to_string(),
        created_at: job.created,
        ended_at: ended.or(job.completed),
        state: job_state(job),
        failures: of_job.iter().map(|failure| u64::from(failure.count)).sum(),
        cause: first.map(|failure| what_happened(failure)),
        rule: rule.as_ref().map(|(label, _)| label.clone()),
        action: rule.map(|(_, action)| action),
    }
}
