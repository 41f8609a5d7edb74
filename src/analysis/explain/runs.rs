//! A `CronJob`'s runs, side by side.

use super::{Facts, Subject, job_state};
use crate::analysis::group::what_happened;
use crate::analysis::standing::runs_gone;
use crate::model::{CronJob, Event, Job};
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

/// Runs whose Jobs are gone, the latest first, as far as Events tell of them.
fn gone(facts: &Facts, cron_job: &CronJob) -> Vec<Run> {
    let events = facts.events_of(cron_job);
    let at = |reason: &str, job: &str| {
        let named =
            |event: &&&Event| &*event.reason == reason && event.message.split([' ', ',']).any(|word| word == job);
        events.iter().filter(named).filter_map(|event| event.first).min()
    };
    let mut runs: Vec<Run> = runs_gone(&facts.jobs, &events)
        .into_iter()
        .map(|(job, has_failed)| Run {
            job: job.to_owned(),
            created_at: at("SuccessfulCreate", job),
            ended_at: at("SawCompletedJob", job),
            state: if has_failed { WorkloadState::Failed } else { WorkloadState::Complete },
            failures: u64::from(has_failed),
            cause: has_failed.then(|| "its Job is gone, and what failed it".to_owned()),
            rule: None,
            action: None,
        })
        .collect();
    runs.sort_by(|a, b| (b.ended_at, &b.job).cmp(&(a.ended_at, &a.job)));
    runs
}

impl<'s> Facts<'_, 's> {
    /// Events about a `CronJob`, by time.
    pub(super) fn events_of(&self, cron_job: &CronJob) -> Vec<&'s Event> {
        let about = |event: &&Event| {
            let same = event.uid.as_ref().zip(cron_job.uid.as_ref()).is_none_or(|(one, other)| one == other);
            *event.kind == *"CronJob" && event.namespace == cron_job.namespace && event.name == cron_job.name && same
        };
        self.analysis.snapshot.events.iter().filter(about).collect()
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
