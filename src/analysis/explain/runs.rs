//! A `CronJob`'s runs, side by side.

use super::{Facts, Subject, job_state};
use crate::analysis::group::what_happened;
use crate::model::Job;
use crate::report::{Class, Run};

/// The runs in the data, the latest first.
pub(super) fn runs(facts: &Facts) -> Vec<Run> {
    match facts.subject {
        Subject::CronJob(_) => facts.jobs.iter().map(|job| run(facts, job)).collect(),
        _ => Vec::new(),
    }
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
