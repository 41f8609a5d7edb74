//! Of a pod.

use super::super::Facts;
use crate::analysis::group::cause_words;
use crate::analysis::owner::kind_name;
use crate::analysis::{Failure, TornDownBy};
use crate::model::{Phase, Pod};
use crate::report::Class;

pub(super) fn verdict(facts: &Facts, pod: &Pod) -> String {
    let Some(failure) = facts.failures.first() else { return not_failed(facts, pod) };
    let node = facts.on_node(pod.node.as_deref());
    let at = facts.ago(failure.finished_at());
    let job = facts.jobs.first().map_or_else(|| "its Job".to_owned(), |job| format!("job/{}", job.name));
    let happened = facts.happened(failure);
    let cause = cause_words(failure);
    match failure.class {
        Class::Rule => {
            let hit = failure.rule.map(|hit| {
                let label = facts.analysis.label_of(failure, hit.index()).map(|called| called.label.into_owned());
                format!("{} rule {} ({}) of {job} matched it", hit.action, hit.index(), label.unwrap_or_default())
            });
            format!("failed{at}: {happened}; {}.", hit.unwrap_or_default())
        }
        Class::NoRule => {
            format!("failed{at}: {happened}; no rule of {job} matched it, so that it counts towards backoffLimit.")
        }
        Class::NoPolicy => {
            format!("failed{at}: {happened}; {job} has no podFailurePolicy, so that it counts towards backoffLimit.")
        }
        Class::Unmatchable => {
            let said = super::words::said(failure);
            format!("was refused{at}{node}: {cause}{said}; no rule can match that, and it counts towards backoffLimit.")
        }
        Class::Collateral => collateral(facts, pod, failure),
        Class::Pending => format!("{}.", facts.waits(failure).trim_start_matches(&format!("pod {} ", pod.name))),
        Class::Restarting => {
            let of_job = pod.owner.as_ref().is_some_and(|owner| owner.is("batch", "Job"));
            let unseen = if of_job { ", where no rule sees them" } else { "" };
            format!("is running{node}, and its containers fail in place{unseen}: {cause}.")
        }
        Class::NoJob => format!("failed{at}: {happened}; {}.", owner(pod)),
        Class::Unknown => format!("failed{at}: {happened}; the policy of {job} is not known."),
        Class::NotReady if pod.is_terminating() => {
            let said = failure.message().unwrap_or(&cause).to_owned();
            format!(
                "was asked to end{} and has not: {said}{}.",
                facts.ago(pod.deletion_requested),
                facts.since(failure.at())
            )
        }
        Class::NotReady => {
            format!(
                "is running{node}, and is not ready{}: {cause}{}.",
                facts.since(failure.at()),
                super::words::said(failure)
            )
        }
        Class::JobLevel | Class::WorkloadLevel | Class::Lost => format!("failed{at}{node}: {cause}."),
    }
}

/// A pod that was torn down, or is about to end.
fn collateral(facts: &Facts, pod: &Pod, failure: &Failure) -> String {
    let by = failure.torn_down.unwrap_or(TornDownBy::JobFailing);
    let node = facts.on_node(pod.node.as_deref());
    if !pod.is_terminating() {
        return format!("was torn down{}{node}: {by}; it is not to blame.", facts.ago(failure.finished_at()));
    }
    let until = pod.deletion_requested.map(|at| at.plus_seconds(pod.grace_seconds()));
    let until = until.map(|until| format!(", with time until {until}")).unwrap_or_default();
    format!(
        "is being deleted{} and has not ended yet{node}{until}: {by}; it is not to blame.",
        facts.since(pod.deletion_requested)
    )
}

/// What a pod without a Job belongs to.
fn owner(pod: &Pod) -> String {
    match pod.workload() {
        Some(owner) => format!("it belongs to {} {}", kind_name(owner), owner.name),
        None => "it belongs to no Job, so that no podFailurePolicy judges it".to_owned(),
    }
}

fn not_failed(facts: &Facts, pod: &Pod) -> String {
    let node = facts.on_node(pod.node.as_deref());
    let of_job = pod.owner.as_ref().is_some_and(|owner| owner.is("batch", "Job"));
    let rules = if of_job { "; rules judge only pods that failed" } else { "" };
    match pod.phase {
        Phase::Succeeded => format!("succeeded{node}{rules}."),
        Phase::Failed => {
            // Not among the failures asked for: it is told how it ended all the same.
            let failure = facts.unjudged().unwrap_or_else(|| Failure::of_pod(Class::Unknown, 0, None, pod));
            let at = facts.ago(pod.finished_at());
            format!("failed{at}: {}; {}.", facts.happened(&failure), owner(pod))
        }
        _ if pod.is_terminating() => {
            format!("is being deleted{} and has not ended yet{node}.", facts.since(pod.deletion_requested))
        }
        Phase::Running => format!("is running{node}{rules}."),
        Phase::Pending | Phase::Unknown => {
            format!("has not failed (phase {:?}){node}{rules}.", pod.phase)
        }
    }
}
