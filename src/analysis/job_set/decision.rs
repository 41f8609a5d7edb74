//! What ended an attempt: the rule, the Job, and the failure behind it, as far as they are known.

use std::collections::HashSet;
use std::sync::Arc;

use super::JobSetFacts;
use super::lives::{Life, Lives};
use super::numbers::Numbers;
use super::recorded::{RecordedDecision, Source};
use super::rule::judge_rule;
use crate::analysis::Failure;
use crate::model::{Job, JobSetAction, Pod, PodFailurePolicy, Time, Uid};
use crate::policy::{parse_message, recorded_rule};
use crate::report::RuleSource;

/// What ended an attempt, and what led to it.
#[derive(Clone, Debug)]
pub struct Decision<'s> {
    /// Index of the rule; `None` for the default, and without a failure policy.
    pub rule: Option<usize>,
    /// Where the rule comes from; `None` where it is not known.
    pub source: Option<RuleSource>,
    /// The rule's name where the failure policy in the data has no such rule.
    pub unknown_rule: Option<&'s str>,
    /// The action; `None` without a failure policy, and where it is not known.
    pub action: Option<JobSetAction>,
    /// Containers were restarted in place more often than `maxRestarts` allows: no Job failed, and no rule was asked
    /// (`reconcileInPlaceRestart`).
    pub in_place: bool,
    /// The reason recorded: of the Event or of the condition.
    pub recorded_reason: &'s str,
    /// What recorded it: `Event` or `condition Failed`.
    pub recorded_in: &'static str,
    /// The Job named as the first failed one.
    pub job: Option<&'s str>,
    /// Its uid at that time.
    pub uid: Option<&'s Uid>,
    /// That Job, where it is in the data.
    pub job_in_data: Option<&'s Job>,
    /// Reason and message of that Job's failure.
    pub failure: Option<(&'s str, &'s str)>,
    /// Index of the rule of its `podFailurePolicy` that failed it.
    pub pod_rule: Option<usize>,
    /// That policy.
    pub pod_policy: Option<&'s Arc<PodFailurePolicy>>,
    /// The pod whose failure failed it.
    pub pod: Option<&'s str>,
    /// The Job's message names the pod.
    pub is_named: bool,
    /// The pod is told by elimination: of the pods that the Job made, the only one it did not delete.
    pub by_elimination: bool,
    /// The container that failed, and its exit code.
    pub container: Option<(&'s str, i32)>,
    /// The pod condition that its rule matched.
    pub condition: Option<&'s str>,
    /// The container's or the pod's reason, where the pod is in the data.
    pub reason: Option<String>,
    /// What the container said last, where the pod is in the data.
    pub said: Option<String>,
    /// The node of that pod.
    pub node: Option<&'s str>,
    /// Another Job of the attempt that had failed before the one named.
    pub earlier: Option<&'s str>,
}

impl Decision<'_> {
    /// Whether the failure is a disruption from outside, as far as it is known.
    pub fn is_disruption(&self) -> bool {
        self.condition == Some("DisruptionTarget")
    }
}

/// How long after a Job's condition, which holds whole seconds, its Event may be written, in seconds: what is told by Events
/// alone is in order only where it is further apart.
const EVENT_LAG: f64 = 2.0;

/// Tells what led to a decision.
pub(super) struct Deciding<'s, 'f, 'a> {
    pub(super) facts: &'f JobSetFacts<'s, 'a>,
    pub(super) lives: &'f Lives<'s>,
    /// Lives that ended by this decision or an earlier one.
    pub(super) over: &'f HashSet<usize>,
    /// Jobs were made anew alone, and no record tells which and when.
    pub(super) untold_anew: bool,
}

impl<'s> Deciding<'s, '_, '_> {
    /// The decision that was recorded, for the Job of the life given. What cannot be known goes to `missing`, contradictions
    /// to `notes`.
    pub(super) fn decision(
        &self,
        numbers: Numbers,
        recorded: &RecordedDecision<'s>,
        life: Option<usize>,
        missing: &mut Vec<String>,
        notes: &mut Vec<String>,
    ) -> Decision<'s> {
        let life = life.map(|index| self.lives.get(index));
        let failure = life.and_then(|life| life.failed);
        let mut decision = Decision {
            rule: None,
            source: None,
            unknown_rule: None,
            action: recorded.action.clone(),
            in_place: false,
            recorded_reason: recorded.reason,
            recorded_in: match recorded.source {
                Source::Event => "Event",
                Source::Condition(type_) => type_,
            },
            job: recorded.job,
            uid: life.and_then(|life| life.uid),
            job_in_data: life.and_then(|life| life.job),
            failure: failure.map(|failure| (failure.reason, failure.message)),
            pod_rule: None,
            pod_policy: None,
            pod: None,
            is_named: false,
            by_elimination: false,
            container: None,
            condition: None,
            reason: None,
            said: None,
            node: None,
            earlier: None,
        };
        judge_rule(self.facts, recorded, failure, &mut decision, missing, notes);
        if decision.failure.is_none() && recorded.job.is_some() {
            missing.push(format!("why the Job failed: {}", self.facts.why_events_are_missing()));
        }
        if let Some(life) = life {
            self.tell_pod(life, &mut decision, missing);
        }
        decision.earlier = self.earlier(numbers, life);
        decision
    }

    /// The pod whose failure failed the Job: named by the Job's message, in the data, or left by elimination.
    fn tell_pod(&self, life: &Life<'s>, decision: &mut Decision<'s>, missing: &mut Vec<String>) {
        let Some((reason, message)) = decision.failure else { return };
        let replicated = self.facts.job_set.replicated_job_of(life.name);
        let policy = life.job.map_or_else(|| replicated.and_then(|r| r.policy.as_ref()), |job| job.policy.as_ref());
        decision.pod_policy = policy;
        decision.pod_rule = policy.and_then(|policy| recorded_rule(policy, reason, message)).map(|rule| rule.index);
        if let Some(named) = parse_message(message) {
            decision.pod = Some(named.pod);
            decision.is_named = true;
            decision.container = named.container;
            decision.condition = named.condition;
            // Where no policy is in the data, the message alone names the rule.
            decision.pod_rule = decision.pod_rule.or(Some(named.index));
        }
        if let Some(failure) = self.failure_in_data(life, reason, decision.pod) {
            decision.pod = decision.pod.or(failure.pod.map(|pod| &*pod.name));
            let end = failure.end.filter(|_| !failure.is_disrupted());
            decision.container = decision.container.or(end.map(|end| (&*end.container, end.exit_code)));
            decision.reason = failure.reason().map(str::to_owned);
            decision.said = failure.message().map(str::to_owned);
            if decision.condition.is_none() && failure.is_disrupted() {
                decision.condition = Some("DisruptionTarget");
            }
        } else if decision.pod.is_none() {
            self.eliminate(life, reason, decision, missing);
        }
        decision.node = decision.pod.and_then(|pod| self.node_of(life, pod));
    }

    /// The failure of the pod named or, where none is, the first one of the Job's pods that counted. A deadline is no
    /// pod's doing.
    fn failure_in_data(&self, life: &Life<'s>, reason: &str, pod: Option<&str>) -> Option<&Failure<'s>> {
        let of_job = self.facts.failures_of.get(&std::ptr::from_ref(life.job?))?;
        let failures = of_job.iter().map(|index| &self.facts.failures[*index]);
        let Some(pod) = pod else {
            let counted = failures.filter(|failure| failure.counted != Some(false) && reason != "DeadlineExceeded");
            return counted.filter_map(|f| Some((f.first_end()?, f))).min_by_key(|(at, _)| *at).map(|(_, f)| f);
        };
        failures.filter(|failure| failure.pod_name() == Some(pod)).min_by_key(|failure| failure.first_end())
    }

    fn eliminate(&self, life: &Life<'s>, reason: &str, decision: &mut Decision<'s>, missing: &mut Vec<String>) {
        let replicated = self.facts.job_set.replicated_job_of(life.name);
        let left = replicated.filter(|_| reason == "BackoffLimitExceeded").and_then(|r| life.pod_left(r));
        if let Some(pod) = left {
            decision.pod = Some(pod);
            decision.by_elimination = true;
            missing.push("the exit code: the pod is gone, and the Job's reason does not name it".to_owned());
        } else if reason != "DeadlineExceeded" {
            missing.push("which pod failed and how: it is gone, and the Job's reason does not name it".to_owned());
        }
    }

    fn node_of(&self, life: &Life<'s>, pod: &str) -> Option<&'s str> {
        let namespace = &*self.facts.job_set.namespace;
        let pods = life.job.and_then(|job| self.facts.pods.get(&std::ptr::from_ref(job)));
        let in_data =
            pods.into_iter().flatten().find(|other| *other.name == *pod).and_then(|pod: &&Pod| pod.node.as_deref());
        in_data.or_else(|| {
            let event = self.facts.scheduled.get(&(namespace, pod))?;
            event.message.rsplit_once(" to ").map(|(_, node)| node.trim())
        })
    }

    /// A Job of the same attempt that had failed in an earlier second than the one named and was still there. Two Jobs in
    /// the data are compared by when they began to fail; of one that is gone only the Event at the end of that is known.
    fn earlier(&self, (number, through): Numbers, named: Option<&Life<'s>>) -> Option<&'s str> {
        let named = named.filter(|_| number == through)?;
        let is_earlier = |life: &Life| {
            if let Some((one, other)) = life.failing().zip(named.failing()) {
                return (one.seconds() < other.seconds()).then_some(one);
            }
            let (one, other) = (life.failed?.at?, named.failed?.at?);
            (other.since(one) >= EVENT_LAG).then_some(one)
        };
        // One that was made anew before is not there any more, whether its restart is recorded or not. Where that is not known,
        // only the data tell that it was there.
        let ended = named.failed.and_then(|failed| failed.at);
        let is_anew = |life: &Life| {
            if self.untold_anew && life.job.is_none() {
                return true;
            }
            let of_name = self.lives.named(life.name).map(|index| self.lives.get(index));
            let mut of_attempt = of_name.filter(|other| other.attempt == life.attempt);
            of_attempt.any(|other| other.began > life.began && other.began <= ended)
        };
        let mut first: Option<(Time, &str)> = None;
        for index in self.lives.failed_in(number) {
            let life = self.lives.get(*index);
            let Some(at) = is_earlier(life) else { continue };
            // The dearest question comes last.
            if life.name != named.name
                && first.is_none_or(|first| (at, life.name) < first)
                && !self.over.contains(index)
                && !is_anew(life)
            {
                first = Some((at, life.name));
            }
        }
        first.map(|(_, name)| name)
    }
}
