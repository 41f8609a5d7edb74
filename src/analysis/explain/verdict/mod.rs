//! What became of it, in the one sentence that a person would say.

mod cron_job;
mod job;
mod job_set;
mod pod;
mod words;

use super::{Facts, Subject};
use crate::report::WorkloadState;

pub(super) fn verdict(facts: &Facts, state: WorkloadState) -> String {
    let subject = facts.subject;
    let who = format!("{} {}/{}", subject.kind().kind(), subject.namespace(), subject.name());
    match subject {
        Subject::Job(job) => format!("{who} {}", job::verdict(facts, job, state)),
        Subject::JobSet(_) => match facts.story {
            Some(story) => job_set::verdict(facts, story, &who),
            None => format!("{who} is in the data, and nothing more is known of it."),
        },
        Subject::CronJob(cron_job) => format!("{who}: {}", cron_job::verdict(facts, cron_job)),
        Subject::Pod(pod) => format!("{who} {}", pod::verdict(facts, pod)),
    }
}
