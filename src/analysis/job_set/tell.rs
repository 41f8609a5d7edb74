//! Snapshot → stories, and the failures of attempts whose Jobs are gone.

use std::collections::{BTreeMap, HashMap};

use super::attempts::Attempt;
use super::{JobSetFacts, JobSetStory, still_there};
use crate::analysis::facts::Evidence;
use crate::analysis::failure::{GoneJob, RuleHit, Told};
use crate::analysis::owner::{Owners, Wrapper};
use crate::analysis::{Failure, TornDownBy};
use crate::model::{Event, Job, JobSet, Pod, Time};
use crate::policy::Patterns;
use crate::report::{AttemptOutcome as Outcome, Class, WorkloadState};
use crate::source::Snapshot;

/// What stories are told from.
pub(crate) struct Material<'s, 'a> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) owners: &'a Owners<'s>,
    /// Pods of the Jobs that a `JobSet` owns.
    pub(crate) pods: &'a HashMap<*const Job, Vec<&'s Pod>>,
    pub(crate) failures: &'a [Failure<'s>],
    pub(crate) evidence: Evidence,
    pub(crate) now: Option<Time>,
}

/// Events by namespace and name of what they are about.
#[derive(Default)]
struct Events<'s> {
    of_job_sets: HashMap<(&'s str, &'s str), Vec<&'s Event>>,
    of_jobs: BTreeMap<(&'s str, &'s str), Vec<&'s Event>>,
    /// The last one that tells where a pod was put.
    scheduled: HashMap<(&'s str, &'s str), &'s Event>,
}

impl<'s> Events<'s> {
    fn of(snapshot: &'s Snapshot) -> Self {
        let mut events = Self::default();
        for event in &snapshot.events {
            let key = (&*event.namespace, &*event.name);
            match &*event.kind {
                "JobSet" => events.of_job_sets.entry(key).or_default().push(event),
                "Job" => events.of_jobs.entry(key).or_default().push(event),
                "Pod" if &*event.reason == "Scheduled" => {
                    events.scheduled.insert(key, event);
                }
                _ => {}
            }
        }
        events
    }
}

/// The stories of the `JobSet`s wanted, in the snapshot's order.
pub(crate) fn stories<'s>(material: &Material<'s, '_>, wanted: impl Fn(&'s JobSet) -> bool) -> Vec<JobSetStory<'s>> {
    let snapshot = material.snapshot;
    let mut jobs: HashMap<*const JobSet, Vec<&Job>> = HashMap::new();
    for job in &snapshot.jobs {
        if let Some(Wrapper::JobSet(job_set)) = material.owners.wrapper(job) {
            jobs.entry(job_set).or_default().push(job);
        }
    }
    let mut failures_of: HashMap<*const Job, Vec<usize>> = HashMap::new();
    for (index, failure) in material.failures.iter().enumerate() {
        if let Some(job) = failure.job.filter(|job| material.pods.contains_key(&std::ptr::from_ref(*job))) {
            failures_of.entry(job).or_default().push(index);
        }
    }
    let events = Events::of(snapshot);
    let story = |job_set: &'s JobSet| {
        let own = events.of_job_sets.get(&(&*job_set.namespace, &*job_set.name)).into_iter().flatten().copied();
        // Before it was made, another one may have had its name.
        let same = |event: &&Event| match (&event.uid, &job_set.uid) {
            (Some(uid), Some(own)) => uid == own,
            _ => event.last.or(event.at) >= job_set.created,
        };
        let jobs = jobs.get(&std::ptr::from_ref(job_set)).cloned().unwrap_or_default();
        let facts = JobSetFacts {
            job_set,
            there: still_there(&jobs),
            jobs,
            pods: material.pods,
            failures_of: &failures_of,
            failures: material.failures,
            events: own.filter(same).collect(),
            job_events: &events.of_jobs,
            scheduled: &events.scheduled,
            snapshot,
            patterns: Patterns::default(),
            evidence: material.evidence,
            now: material.now,
        };
        facts.story()
    };
    snapshot.job_sets.iter().filter(|job_set| wanted(job_set)).map(story).collect()
}

impl<'s> JobSetStory<'s> {
    /// Where the `JobSet` stands.
    pub fn state(&self) -> WorkloadState {
        match self.attempts.last().map(|attempt| attempt.outcome) {
            Some(Outcome::Failed) => WorkloadState::Failed,
            Some(Outcome::Completed) => WorkloadState::Complete,
            Some(Outcome::Suspended) => WorkloadState::Suspended,
            Some(Outcome::Restarting) => WorkloadState::Restarting,
            // Without a failure policy the first failed Job fails it; with one, that is for its rules to say.
            Some(Outcome::Running)
                if self.job_set.failure_policy.is_none() && self.jobs.iter().any(|job| job.failing().is_some()) =>
            {
                WorkloadState::Failing
            }
            Some(Outcome::Running) => WorkloadState::Running,
            Some(Outcome::Restarted | Outcome::JobRestarted | Outcome::Unknown) | None => WorkloadState::Unknown,
        }
    }

    /// The Jobs of the last attempt that are in the data.
    pub(crate) fn jobs_of_last_attempt(&self) -> impl Iterator<Item = &'s Job> {
        let current = self.attempts.last().map_or(0, |attempt| attempt.through);
        let job_set = self.job_set;
        self.jobs.iter().copied().filter(move |job| !super::is_previous(job_set, job, current))
    }

    /// One failure for each attempt that ended and whose Job is not in the data; those of the others are its pods'.
    pub(crate) fn lost(&self, story: usize, workload: usize) -> Vec<Failure<'s>> {
        let ended = self.attempts.iter().enumerate().filter(|(_, attempt)| match &attempt.decision {
            // Restarts in place leave Jobs and pods where they are.
            Some(decision) if decision.in_place => self.jobs.is_empty(),
            Some(decision) => decision.job_in_data.is_none(),
            None => attempt.outcome == Outcome::Unknown,
        });
        ended.map(|(index, attempt)| self.lost_attempt(attempt, (story, index), workload)).collect()
    }

    fn lost_attempt(&self, attempt: &Attempt<'s>, place: (usize, usize), workload: usize) -> Failure<'s> {
        let decision = attempt.decision.as_ref();
        let rule = decision.and_then(|decision| {
            let (index, policy) = (decision.pod_rule?, decision.pod_policy?);
            let action = &policy.rules.get(index)?.action;
            Some(RuleHit::new(index, action))
        });
        let failure = decision.and_then(|decision| decision.failure);
        let in_place = decision.filter(|decision| decision.in_place).map(|decision| decision.recorded_reason);
        let reason =
            decision.and_then(|decision| decision.condition).or(failure.map(|(reason, _)| reason)).or(in_place);
        let replicated = decision.and_then(|decision| self.job_set.replicated_job_of(decision.job?));
        let told = Told {
            namespace: None,
            pod: decision.and_then(|decision| decision.pod).map(Into::into),
            container: decision.and_then(|decision| decision.container).map(|(name, code)| (name.into(), code)),
            reason: Some(reason.unwrap_or("(unknown)").into()),
            message: failure.map(|(_, message)| message.into()),
            at: attempt.ended,
            gone: Some(Self::gone(attempt)),
            of: Some(GoneJob {
                namespace: &self.job_set.namespace,
                job: decision.and_then(|decision| decision.job),
                policy: decision.and_then(|decision| decision.pod_policy),
                rule_names: replicated
                    .and_then(|replicated| replicated.rule_names.as_deref())
                    .or(self.job_set.rule_names.as_deref()),
                node: decision.and_then(|decision| decision.node).map(Into::into),
                attempt: decision.map(|_| attempt.number).filter(|number| *number == attempt.through),
                started: attempt.started.filter(|_| decision.is_some()),
                place,
            }),
        };
        Failure { rule, counted: None, count: attempt.count, ..Failure::gone(Class::Lost, workload, told) }
    }

    fn gone(attempt: &Attempt) -> String {
        let Some(decision) = &attempt.decision else {
            return format!("{}: {}", attempt.which(), attempt.missing.join("; "));
        };
        let pod = match (decision.pod, decision.node) {
            (Some(pod), Some(node)) => format!("pod {pod} on {node}"),
            (Some(pod), None) => format!("pod {pod}"),
            (None, _) => "its pods".to_owned(),
        };
        let gone = if decision.pod.is_some() { "is gone" } else { "are gone" };
        format!("{}: {pod} {gone}", attempt.which())
    }

    /// What tore down the pods of a Job that was deleted.
    pub(crate) fn torn_down_by(&self, job: &Job) -> Option<TornDownBy> {
        let current = self.attempts.last()?.through;
        if super::is_previous(self.job_set, job, current) {
            return Some(TornDownBy::JobSetRestarting);
        }
        matches!(self.state(), WorkloadState::Failed | WorkloadState::Complete).then_some(TornDownBy::JobSetFinished)
    }
}
