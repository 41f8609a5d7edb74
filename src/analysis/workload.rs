use std::collections::HashMap;

use super::Failure;
use super::analyst::Analyst;
use super::job_set::{Attempt, JobSetStory};
use super::standing::{Other, Standing};
use crate::model::{Job, Queued, Time};
use crate::policy::{RuleLabel, label};
use crate::report::{Class, Situation, WorkloadRef, WorkloadState};
use crate::request::{Selector, Target, TargetKind};
use crate::source::Snapshot;

/// What of the failures is wanted.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Time of the data; ages and waits count from it.
    pub now: Option<Time>,
    /// Seconds after which a pod that waits for a node or is still being created counts as unable to start.
    pub pending_after: i64,
    /// Only failures that ended within this many seconds.
    pub since: Option<i64>,
    /// Only these classes; all where empty.
    pub classes: Vec<Class>,
    /// Also workloads that completed in spite of failures.
    pub all: bool,
    /// Only workloads with these labels.
    pub selector: Selector,
    /// Only these workloads; all where empty.
    pub targets: Vec<Target>,
    /// Only workloads of these kinds; all where empty.
    pub kinds: Vec<TargetKind>,
}

/// A workload with failures.
#[derive(Clone, Debug)]
pub struct Workload<'s> {
    /// Which.
    pub reference: WorkloadRef,
    /// Its Jobs in the data.
    pub jobs: Vec<&'s Job>,
    /// Whether a journal tells that it was deleted, or all of its Jobs where it is not in the data itself.
    pub is_gone: bool,
    /// What is to be said of it.
    pub notes: Vec<String>,
    /// The failure that came first.
    pub first: Option<Failure<'s>>,
    /// Of a `JobSet` in the data: index in [`Analysis::stories`].
    pub story: Option<usize>,
    /// Where it stands, if not its Jobs tell it.
    pub own_state: Option<WorkloadState>,
    /// What is wrong with it as a whole, the most pressing first; of a `JobSet` its story tells it.
    pub situations: Vec<Situation>,
    /// How it stands in Kueue's queue, if it is in one.
    pub queued: Option<&'s Queued>,
    /// Where it stands by its own object, if that is in the data and no Job, `CronJob` or `JobSet`.
    pub standing: Option<(Other<'s>, Standing<'s>)>,
    /// Index of the Job whose failure was recorded first, and the rule recorded for it.
    pub acted_on: Option<(&'s Job, Option<usize>)>,
}

/// All failures of a snapshot.
#[derive(Debug)]
pub struct Analysis<'s> {
    /// The data.
    pub snapshot: &'s Snapshot,
    /// The workloads that failures point to.
    pub workloads: Vec<Workload<'s>>,
    /// The failures wanted, by workload, Job, pod.
    pub failures: Vec<Failure<'s>>,
    /// What became of the `JobSet`s.
    pub stories: Vec<JobSetStory<'s>>,
    /// Workloads left out because they completed in spite of failures, and their failures.
    pub completed: (usize, u64),
    /// What is to be said beyond single workloads.
    pub notes: Vec<String>,
    pub(super) rule_names: HashMap<*const Job, &'s str>,
    /// By the Job that it names: indexes of the story and the attempt whose end was decided for it.
    pub(super) decided: HashMap<*const Job, (usize, usize)>,
}

/// Judges every Job, every pod and every other workload of a snapshot.
pub fn analyse<'s>(snapshot: &'s Snapshot, options: &Options) -> Analysis<'s> {
    Analyst::new(snapshot, options).analyse()
}

impl Options {
    pub(super) fn wants(&self, failure: &Failure) -> bool {
        let is_node = |target: &&Target| target.kind == TargetKind::Node;
        let mut nodes = self.targets.iter().filter(is_node).peekable();
        // Of those asked for by name, too, only what was on the nodes that are named.
        let on_them = nodes.peek().is_none() || nodes.any(|node| failure.node().is_some_and(|on| **on == *node.name));
        on_them
            && (self.classes.is_empty() || self.classes.contains(&failure.class))
            && is_within(failure, self.now, self.since)
    }
}

/// Whether a failure lies within the last `since` seconds. What is going on lies within, and so does what has no time:
/// leaving it out would hide it.
fn is_within(failure: &Failure, now: Option<Time>, since: Option<i64>) -> bool {
    match (now, since, failure.finished_at()) {
        (Some(now), Some(since), Some(at)) => at >= now.plus_seconds(-since),
        _ => true,
    }
}

impl<'s> Analysis<'s> {
    /// Whether what failed was deleted since, as a journal tells: nothing can be done about it any more.
    pub fn is_gone(&self, failure: &Failure) -> bool {
        let of_job = failure.job.and_then(|job| job.uid.as_ref());
        self.workloads[failure.workload].is_gone || of_job.is_some_and(|uid| self.snapshot.gone.contains(uid))
    }

    /// Names of a Job's rules by annotation.
    pub fn rule_names_of(&self, job: &Job) -> Option<&'s str> {
        self.rule_names.get(&std::ptr::from_ref(job)).copied()
    }

    /// What a rule of a failure's Job is called.
    pub fn label_of(&self, failure: &Failure<'s>, index: usize) -> Option<RuleLabel<'s>> {
        let rule = failure.policy()?.rules.get(index)?;
        let of_job = failure.job.and_then(|job| self.rule_names_of(job));
        Some(label(rule, index, of_job.or_else(|| failure.gone_job()?.rule_names)))
    }

    /// The decision of a `JobSet`'s controller that a failure led to. What was torn down, waits or restarts in place led to
    /// none.
    pub fn decision_of(&self, failure: &Failure<'s>) -> Option<(&JobSetStory<'s>, &Attempt<'s>)> {
        if matches!(failure.class, Class::Collateral | Class::Pending | Class::Restarting) {
            return None;
        }
        let of_job = || self.decided.get(&std::ptr::from_ref(failure.job?)).copied();
        let (story, attempt) = failure.gone_job().map(|gone| gone.place).or_else(of_job)?;
        let story = self.stories.get(story)?;
        let attempt = story.attempts.get(attempt)?;
        let decision = attempt.decision.as_ref();
        let is_it = match decision.filter(|decision| decision.is_named) {
            Some(decision) => decision.pod == failure.pod_name(),
            // An ignored failure leads to nothing.
            None => failure.gone_job().is_some() || failure.counted != Some(false) || failure.class == Class::JobLevel,
        };
        is_it.then_some((story, attempt))
    }
}

/// Whether a workload that stands so does nothing more, so that its deletion cut nothing off.
pub(super) const fn is_end(state: WorkloadState) -> bool {
    matches!(state, WorkloadState::Failed | WorkloadState::Complete)
}

impl Workload<'_> {
    /// Where the workload stands, over all its Jobs.
    pub fn state(&self) -> WorkloadState {
        let last = self.last_state();
        if self.is_gone && !is_end(last) { WorkloadState::Deleted } else { last }
    }

    /// Where it stood when it was last seen.
    fn last_state(&self) -> WorkloadState {
        if let Some(state) = self.own_state {
            return state;
        }
        let any = |test: fn(&Job) -> bool| self.jobs.iter().any(|job| test(job));
        if self.jobs.is_empty() {
            WorkloadState::Unknown
        } else if any(|job| job.failing().is_some() && !job.is_finished()) {
            WorkloadState::Failing
        } else if any(|job| job.condition("Failed").is_some()) {
            WorkloadState::Failed
        } else if any(|job| !job.is_finished() && !job.suspend) {
            WorkloadState::Running
        } else if any(|job| !job.is_finished()) {
            WorkloadState::Suspended
        } else {
            WorkloadState::Complete
        }
    }
}
