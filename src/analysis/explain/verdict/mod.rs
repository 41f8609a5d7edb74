//! What became of it, in the one sentence that a person would say.

mod cron_job;
mod job;
mod job_set;
mod other;
mod pod;
mod words;

use super::{Facts, Subject};
use crate::report::{VerdictTells, WorkloadState};

/// The sentence of what was deleted since: first that, then how it was when it was last seen.
pub(super) fn of_deleted(subject: Subject, verdict: &str) -> String {
    let who = format!("{} {}/{}", subject.kind().kind(), subject.namespace(), subject.name());
    let rest = verdict.strip_prefix(&*who).unwrap_or(verdict).trim_start_matches([':', ' ']);
    format!("{who} has been deleted. As last seen, it {rest}")
}

/// The sentence, and what of a `JobSet` it has told.
pub(super) fn verdict(facts: &Facts, state: WorkloadState) -> (String, VerdictTells) {
    let subject = facts.subject;
    let who = format!("{} {}/{}", subject.kind().kind(), subject.namespace(), subject.name());
    let text = match subject {
        Subject::Job(job) => format!("{who} {}", job::verdict(facts, job, state)),
        Subject::JobSet(_) => match facts.story {
            Some(story) => return job_set::verdict(facts, story, &who),
            None => format!("{who} is in the data, and nothing more is known of it."),
        },
        Subject::CronJob(cron_job) => format!("{who}: {}", cron_job::verdict(facts, cron_job)),
        Subject::Pod(pod) => format!("{who} {}", pod::verdict(facts, pod)),
        Subject::Other(other) => return other::verdict(facts, other, &who, state),
        Subject::Node(node) => format!("Node {} {}", node.name, other::of_node(facts, node)),
    };
    (text, VerdictTells::default())
}
