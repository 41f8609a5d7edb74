//! What became of a `JobSet`, attempt by attempt.
//!
//! A restart deletes the Jobs, pods and conditions that knew why. What remains are the `JobSet`'s counters and
//! conditions, its Events, which name a decision's action, rule and Job, and the Events of the Jobs that are gone, by
//! their old uids: a Job's own failure with the index of its rule. Source: JobSet's `pkg/controllers/failure_policy.go`
//! and `jobset_controller.go`, Kubernetes' `recordJobFinished`.

mod attempts;
mod decision;
mod lives;
mod numbers;
mod recorded;
mod report;
mod rule;
mod situations;
mod tell;

pub use attempts::Attempt;
pub use decision::Decision;
pub(super) use report::job_set_rule;
pub(super) use tell::{Material, stories};

use std::collections::{BTreeMap, HashMap};

use super::Failure;
use super::facts::Evidence;
use crate::model::{Event, Job, JobSet, Pod, Time};
use crate::policy::Patterns;
use crate::report::{RESTARTS_IN_PLACE, Situation};
use crate::source::Snapshot;

/// A `JobSet` and all that the data tells of it.
#[derive(Debug)]
pub struct JobSetStory<'s> {
    /// The `JobSet`.
    pub job_set: &'s JobSet,
    /// Its Jobs in the data, by name.
    pub jobs: Vec<&'s Job>,
    /// Its attempts, in order of time; the current one last.
    pub attempts: Vec<Attempt<'s>>,
    /// What a person asks about: it restarts, is held up, suspended, …; the most pressing first.
    pub situations: Vec<Situation>,
    /// Contradictions between what was recorded and what was evaluated.
    pub notes: Vec<String>,
}

/// What is known around a `JobSet`.
pub(super) struct JobSetFacts<'s, 'a> {
    pub(super) job_set: &'s JobSet,
    /// Its Jobs in the data, by name.
    pub(super) jobs: Vec<&'s Job>,
    /// Those of them that are still there: of dumps of several moments an older one may hold a Job whose successor, of the
    /// same name, is in a later one.
    pub(super) there: Vec<&'s Job>,
    /// Their pods.
    pub(super) pods: &'a HashMap<*const Job, Vec<&'s Pod>>,
    /// Their failures: indexes in `failures`.
    pub(super) failures_of: &'a HashMap<*const Job, Vec<usize>>,
    pub(super) failures: &'a [Failure<'s>],
    /// Events about the `JobSet` itself, by time.
    pub(super) events: Vec<&'s Event>,
    /// Events about Jobs of its namespace, by the Job's name and time.
    pub(super) job_events: &'a BTreeMap<(&'s str, &'s str), Vec<&'s Event>>,
    /// `Scheduled` Events of pods, by namespace and name.
    pub(super) scheduled: &'a HashMap<(&'s str, &'s str), &'s Event>,
    pub(super) snapshot: &'s Snapshot,
    /// Those of its failure policy.
    pub(super) patterns: Patterns,
    pub(super) evidence: Evidence,
    pub(super) now: Option<Time>,
}

impl<'s> JobSetFacts<'s, '_> {
    /// The story told of these facts.
    pub(super) fn story(self) -> JobSetStory<'s> {
        let mut notes = Vec::new();
        let attempts = attempts::attempts(&self, &mut notes);
        notes.extend(self.other_first(&attempts));
        let situations = situations::situations(&self, &attempts);
        JobSetStory { job_set: self.job_set, jobs: self.jobs, attempts, situations, notes }
    }

    /// Said where the Job that the controller calls the first failed one is not: of the last attempt of which that is known.
    fn other_first(&self, attempts: &[Attempt]) -> Option<String> {
        let name = &self.job_set.name;
        attempts.iter().rev().find_map(|attempt| {
            let decision = attempt.decision.as_ref()?;
            let (earlier, named) = (decision.earlier?, decision.job?);
            let which = attempt.which();
            Some(format!(
                "jobset/{name}: in {which} the controller names job {named} as the first failed one, {earlier} had failed before"
            ))
        })
    }

    /// Why what Events would tell is not known.
    fn why_events_are_missing(&self) -> &'static str {
        if self.evidence.events {
            "Events expired, or were never written"
        } else {
            "Events are not in the data, or not whole"
        }
    }
}

/// The Jobs, given by name, that no other one has taken the name of.
pub(super) fn still_there<'s>(jobs: &[&'s Job]) -> Vec<&'s Job> {
    let age = |job: &Job| (job.restart_attempt(), job.own_restart_attempt(), job.created);
    let of_name = jobs.chunk_by(|one, other| one.name == other.name);
    of_name.filter_map(|same| same.iter().copied().max_by_key(|job| age(job))).collect()
}

/// Whether a Job is of an attempt before the current one or, made anew alone, of its own attempt before: it is being deleted
/// (`getChildJobs`).
pub(super) fn is_previous(job_set: &JobSet, job: &Job, current: u32) -> bool {
    let own_restarts = || {
        let (replicated, index) = (job.replicated_job()?, job.job_index()? as usize);
        let status = job_set.replicated_jobs_status.iter().find(|status| *status.name == *replicated)?;
        status.job_restarts.get(index).copied()
    };
    let own = job.own_restart_attempt().zip(own_restarts());
    job.restart_attempt().is_some_and(|attempt| attempt < current) || own.is_some_and(|(own, restarts)| own < restarts)
}

/// A decision's rule and action in words: `rule userError (FailJobSet)`, `the default action
/// RestartJobSet`.
pub(super) fn rule_words(job_set: &JobSet, decision: &Decision) -> String {
    let action = decision.action.as_ref();
    let in_brackets = || action.map(|action| format!(" ({action})")).unwrap_or_default();
    match (rule_name(job_set, decision), decision.source) {
        _ if decision.in_place => "restarts in place, no Job failed and no rule was asked".to_owned(),
        (Some(name), _) => format!("rule {name}{}", in_brackets()),
        (None, Some(_)) => {
            action.map_or("the default action".to_owned(), |action| format!("the default action {action}"))
        }
        (None, None) if job_set.failure_policy.is_none() => "no failurePolicy".to_owned(),
        (None, None) => format!("a rule that is not known{}", in_brackets()),
    }
}

/// What a decision's rule is called where it is grouped by and shown.
pub(super) fn rule_label<'a>(job_set: &'a JobSet, decision: &Decision<'a>) -> &'a str {
    match (rule_name(job_set, decision), decision.source) {
        _ if decision.in_place => RESTARTS_IN_PLACE,
        (Some(name), _) => name,
        (None, Some(_)) => "(default)",
        (None, None) if job_set.failure_policy.is_none() => "(no failure policy)",
        (None, None) => "(unknown)",
    }
}

/// The name of a decision's rule.
pub(super) fn rule_name<'a>(job_set: &'a JobSet, decision: &Decision<'a>) -> Option<&'a str> {
    let rule = decision.rule.and_then(|rule| job_set.failure_policy.as_ref()?.rules.get(rule));
    decision.unknown_rule.or_else(|| rule.map(|rule| &*rule.name))
}
