use std::collections::BTreeMap;

use crate::model::{Event, Job, Pod, Time};
use crate::policy::{Decision, RecordedRule, parse_message, recorded_rule};

/// What was read, as far as a judgement depends on it: what was not read is not gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    /// All pods were read.
    pub(super) pods: bool,
    /// All Events were read.
    pub(super) events: bool,
}

/// A Job with all that is known around it.
pub(super) struct JobFacts<'s> {
    pub(super) job: &'s Job,
    /// Index of its workload.
    pub(super) workload: usize,
    pub(super) pods: Vec<&'s Pod>,
    pub(super) events: Vec<&'s Event>,
    pub(super) evidence: Evidence,
    /// Pods the controller deleted, by the Job's `SuccessfulDelete` Events.
    pub(super) deleted: BTreeMap<&'s str, Time>,
    /// What the message of its condition says.
    pub(super) decision: Option<Decision<'s>>,
    /// The rule that reason and message name.
    pub(super) recorded: Option<RecordedRule>,
}

impl<'s> JobFacts<'s> {
    pub(super) fn new(
        job: &'s Job,
        workload: usize,
        pods: Vec<&'s Pod>,
        events: Vec<&'s Event>,
        evidence: Evidence,
    ) -> Self {
        let deletions = events.iter().filter(|event| &*event.reason == "SuccessfulDelete");
        let deleted = deletions
            .filter_map(|event| Some((pod_in(&event.message, "Deleted pod: ")?, event.last.or(event.first)?)))
            .collect();
        let failing = job.failing();
        let decision = failing.and_then(|condition| parse_message(&condition.message));
        let recorded = failing
            .zip(job.policy.as_deref())
            .and_then(|(condition, policy)| recorded_rule(policy, &condition.reason, &condition.message));
        Self { job, workload, pods, events, evidence, deleted, decision, recorded }
    }

    /// The pod the controller's message names.
    pub(super) fn named_pod(&self) -> Option<&'s str> {
        self.decision.as_ref().map(|decision| decision.pod)
    }

    /// When the controller deleted a pod, by its Events.
    pub(super) fn deleted_at(&self, pod: &str) -> Option<Time> {
        self.deleted.get(pod).copied()
    }
}

/// The pod's name in an Event's message. Aggregated Events begin with `(combined from similar events): `.
pub(super) fn pod_in<'a>(message: &'a str, before: &str) -> Option<&'a str> {
    let rest = &message[message.find(before)? + before.len()..];
    rest.split_whitespace().next()
}
