//! The attempts of a `JobSet`: how each ended, by which rule, and what of it is no more known.

use std::sync::Arc;

use super::lives::{JobFailure, Life, lives};
use super::recorded::{Effect, Recorded, RecordedDecision, Source, recorded};
use super::{JobSetFacts, attempt_label};
use crate::analysis::Failure;
use crate::analysis::workload::first_end;
use crate::model::{Job, JobSet, JobSetAction, Pod, PodFailurePolicy, Time, Uid};
use crate::policy::{FailedJob, job_set_rule_for, parse_message, recorded_rule};
use crate::report::{AttemptOutcome as Outcome, RuleSource};

/// The time from one start of a `JobSet`'s Jobs to the decision that ended it.
#[derive(Clone, Debug)]
pub struct Attempt<'s> {
    /// `status.restarts` at that time.
    pub number: u32,
    /// The last one, where one entry stands for several of which nothing is known.
    pub through: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// When its first Job was made or, where that is not known, when the restart before was decided.
    pub started: Option<Time>,
    /// When its end was decided.
    pub ended: Option<Time>,
    /// The decision that ended it.
    pub decision: Option<Decision<'s>>,
    /// Accelerator-seconds that it held by the spec; `None` while it goes on or where its times are not known.
    pub gpu_seconds: Option<f64>,
    /// What cannot be known of it, and why.
    pub missing: Vec<String>,
}

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
    /// Whether restarts by it count towards `maxRestarts`.
    pub fn counted(&self) -> Option<bool> {
        self.action.as_ref().and_then(JobSetAction::counts)
    }

    /// Whether the failure is a disruption from outside, as far as it is known.
    pub fn is_disruption(&self) -> bool {
        self.condition == Some("DisruptionTarget")
    }
}

/// A Job's Event may be written a moment after the decision that its status led to, and by another machine's clock.
const SLACK_SECONDS: i64 = 2;

/// All attempts, in order of time, the current one last.
pub(super) fn attempts<'s>(facts: &JobSetFacts<'s, '_>, notes: &mut Vec<String>) -> Vec<Attempt<'s>> {
    let decisions = recorded(facts.job_set, &facts.events);
    let restarts: Vec<Option<Time>> =
        decisions.iter().filter(|decision| decision.effect == Effect::Restarts).map(|decision| decision.at).collect();
    let told = u32::try_from(restarts.len()).unwrap_or(u32::MAX);
    // Events may be newer than the JobSet's status: lists are not of one moment.
    let labels = facts.jobs.iter().filter_map(|job| attempt_label(job));
    let current = labels.chain([told, facts.job_set.restarts]).max().unwrap_or_default();
    let first = current - told;
    let mut teller = Teller { facts, lives: lives(facts, &restarts, first), claimed: Vec::new() };
    let mut attempts = Vec::new();
    attempts.extend(teller.untold(first));
    let mut number = first;
    let mut since = if first == 0 { facts.job_set.created } else { None };
    for decision in &decisions {
        let attempt = teller.ended(number, since, decision, notes);
        if decision.effect == Effect::Restarts {
            number += 1;
            since = decision.at;
        }
        attempts.push(attempt);
    }
    if !decisions.iter().any(|decision| decision.effect == Effect::Fails) {
        attempts.push(teller.current(number, since));
    }
    attempts
}

/// Tells attempts, one after the other: each Job's failure leads to one decision at most.
struct Teller<'s, 'f, 'a> {
    facts: &'f JobSetFacts<'s, 'a>,
    lives: Vec<Life<'s>>,
    /// Lives whose failure has led to a decision.
    claimed: Vec<usize>,
}

impl<'s> Teller<'s, '_, '_> {
    /// The attempts before the first decision that is recorded.
    fn untold(&self, first: u32) -> Option<Attempt<'s>> {
        let through = first.checked_sub(1)?;
        let told = if first == 1 { "how it ended" } else { "how they ended" };
        Some(Attempt {
            number: 0,
            through,
            outcome: Outcome::Unknown,
            started: self.facts.job_set.created,
            ended: None,
            decision: None,
            gpu_seconds: None,
            missing: vec![format!("{told}: {}", self.facts.why_events_are_missing())],
        })
    }

    fn current(&self, number: u32, since: Option<Time>) -> Attempt<'s> {
        let job_set = self.facts.job_set;
        let is = |state: &str| job_set.terminal_state.as_deref() == Some(state) || job_set.condition(state).is_some();
        let completed = job_set.condition("Completed");
        let is_previous = |job: &&'s Job| attempt_label(job).is_some_and(|attempt| attempt < number);
        let outcome = if is("Completed") {
            Outcome::Completed
        } else if job_set.suspend {
            Outcome::Suspended
        } else if job_set.condition("RestartingJobSet").is_some() || self.facts.jobs.iter().any(is_previous) {
            Outcome::Restarting
        } else {
            Outcome::Running
        };
        Attempt {
            number,
            through: number,
            outcome,
            started: self.began(number).or(since),
            ended: completed.and_then(|condition| condition.at),
            decision: None,
            gpu_seconds: None,
            missing: Vec::new(),
        }
    }

    /// When the first Job of an attempt was made.
    fn began(&self, number: u32) -> Option<Time> {
        self.lives.iter().filter(|life| life.attempt == Some(number)).filter_map(|life| life.began).min()
    }

    fn ended(
        &mut self,
        number: u32,
        since: Option<Time>,
        recorded: &RecordedDecision<'s>,
        notes: &mut Vec<String>,
    ) -> Attempt<'s> {
        let mut missing = Vec::new();
        if recorded.at.is_none() {
            missing.push("when it ended: one Event stands for several restarts".to_owned());
        }
        let life = self.life_of(number, recorded);
        let decision = self.decision(number, recorded, life, &mut missing, notes);
        let began = match recorded.effect {
            Effect::RestartsJob => life.and_then(|life| self.lives[life].began),
            Effect::Restarts | Effect::Fails => self.began(number),
        };
        let started = began.or(since).filter(|started| recorded.at.is_none_or(|ended| *started <= ended));
        let seconds = started.zip(recorded.at).map(|(started, ended)| ended.since(started));
        // Of a Job that is made anew alone, the others go on.
        let whole = recorded.effect != Effect::RestartsJob;
        Attempt {
            number,
            through: number,
            outcome: match recorded.effect {
                Effect::Restarts => Outcome::Restarted,
                Effect::RestartsJob => Outcome::JobRestarted,
                Effect::Fails => Outcome::Failed,
            },
            started,
            ended: recorded.at,
            decision: Some(decision),
            gpu_seconds: seconds.filter(|_| whole).map(|seconds| seconds * self.facts.job_set.accelerators()),
            missing,
        }
    }

    /// The life of the Job that a decision names: the latest of its name that failed before it and led to no other.
    fn life_of(&mut self, number: u32, recorded: &RecordedDecision) -> Option<usize> {
        let name = recorded.job?;
        let fits = |(index, life): &(usize, &Life)| {
            let Some(failed) = &life.failed else { return false };
            let in_attempt = life.attempt.is_none_or(|attempt| attempt == number);
            let in_time = match recorded.at {
                Some(at) => {
                    failed.at <= Some(at.plus_seconds(SLACK_SECONDS)) && life.began.is_none_or(|began| began <= at)
                }
                // Its time is not told: only a Job known to be of the attempt will do.
                None => life.attempt.is_some(),
            };
            life.name == name && in_attempt && in_time && !self.claimed.contains(index)
        };
        let found = self.lives.iter().enumerate().filter(fits).max_by_key(|(_, life)| life.failed.and_then(|f| f.at));
        let index = found.map(|(index, _)| index)?;
        self.claimed.push(index);
        Some(index)
    }

    fn decision(
        &self,
        number: u32,
        recorded: &RecordedDecision<'s>,
        life: Option<usize>,
        missing: &mut Vec<String>,
        notes: &mut Vec<String>,
    ) -> Decision<'s> {
        let job_set = self.facts.job_set;
        let life = life.map(|index| &self.lives[index]);
        let failure = life.and_then(|life| life.failed);
        let mut decision = Decision {
            rule: None,
            source: None,
            unknown_rule: None,
            action: recorded.action.clone(),
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
            by_elimination: false,
            container: None,
            condition: None,
            reason: None,
            said: None,
            node: None,
            earlier: None,
        };
        judge_rule(job_set, recorded, failure, &mut decision, missing, notes);
        if decision.failure.is_none() && recorded.job.is_some() {
            missing.push(format!("why the Job failed: {}", self.facts.why_events_are_missing()));
        }
        if let Some(life) = life {
            self.tell_pod(life, &mut decision, missing);
        }
        decision.earlier = self.earlier(number, life, failure);
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
            decision.container = named.container;
            decision.condition = named.condition;
            // Where no policy is in the data, the message alone names the rule.
            decision.pod_rule = decision.pod_rule.or(Some(named.index));
        }
        if let Some(failure) = self.failure_in_data(life, decision.pod) {
            decision.pod = decision.pod.or(failure.pod.map(|pod| &*pod.name));
            let end = failure.end.filter(|_| !failure.is_disrupted());
            decision.container = decision.container.or(end.map(|end| (&*end.container, end.exit_code)));
            decision.reason = failure.reason().map(str::to_owned);
            decision.said = failure.message().map(str::to_owned);
            if decision.condition.is_none() && failure.is_disrupted() {
                decision.condition = Some("DisruptionTarget");
            }
        } else if decision.pod.is_none() {
            Self::eliminate(life, decision, missing);
        }
        decision.node = decision.pod.and_then(|pod| self.node_of(life, pod));
    }

    /// The first failure of the Job's pods in the data, or that of the pod named.
    fn failure_in_data(&self, life: &Life<'s>, pod: Option<&str>) -> Option<&Failure<'s>> {
        let of_job = self.facts.failures_of.get(&std::ptr::from_ref(life.job?))?;
        let failures = of_job.iter().map(|index| &self.facts.failures[*index]);
        match pod {
            Some(pod) => failures.filter(|failure| failure.pod_name() == Some(pod)).min_by_key(|f| first_end(f)),
            None => failures.filter_map(|f| Some((first_end(f)?, f))).min_by_key(|(at, _)| *at).map(|(_, f)| f),
        }
    }

    fn eliminate(life: &Life<'s>, decision: &mut Decision<'s>, missing: &mut Vec<String>) {
        match life.pods_left().as_deref() {
            Some([pod]) => {
                decision.pod = Some(pod);
                decision.by_elimination = true;
                missing.push("the exit code: the pod is gone, and the Job's reason does not name it".to_owned());
            }
            Some(pods) => {
                missing.push(format!("which of {} pods failed and how: they are gone", pods.len()));
            }
            None => missing.push("which pod failed and how: it is gone".to_owned()),
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

    /// A Job of the same attempt that had failed in an earlier second than the one named.
    fn earlier(&self, number: u32, named: Option<&Life<'s>>, failure: Option<JobFailure>) -> Option<&'s str> {
        let began_to_fail = |life: &Life| {
            let target = life.job.and_then(|job| job.failing()).and_then(|condition| condition.at);
            target.or_else(|| life.failed?.at).map(Time::seconds)
        };
        let named = named?;
        let limit = began_to_fail(named).or_else(|| failure?.at.map(Time::seconds))?;
        let others = self.lives.iter().filter(|life| life.attempt == Some(number) && life.name != named.name);
        others
            .filter_map(|life| Some((began_to_fail(life)?, life.name)))
            .filter(|(second, _)| *second < limit)
            .min()
            .map(|(_, name)| name)
    }
}

/// The rule of a decision: as recorded, else evaluated; where both are known and differ, that is said.
fn judge_rule<'s>(
    job_set: &'s JobSet,
    recorded: &RecordedDecision<'s>,
    failure: Option<JobFailure<'s>>,
    decision: &mut Decision<'s>,
    missing: &mut Vec<String>,
    notes: &mut Vec<String>,
) {
    let Some(policy) = &job_set.failure_policy else { return };
    let evaluated = failure.zip(recorded.job).and_then(|(failure, job)| {
        let replicated_job = decision
            .job_in_data
            .and_then(|job| job.labels.get("jobset.sigs.k8s.io/replicatedjob-name").map(|name| &**name))
            .or_else(|| job_set.replicated_job_of(job).map(|replicated| &*replicated.name));
        let failed = FailedJob { replicated_job, reason: failure.reason, message: failure.message, at: failure.at };
        job_set_rule_for(policy, failed)
    });
    let action_of =
        |rule: Option<usize>| rule.map_or(JobSetAction::RestartJobSet, |rule| policy.rules[rule].action.clone());
    match recorded.rule {
        Some(Recorded::Default) => decision.source = Some(RuleSource::Recorded),
        Some(Recorded::Named(name)) => {
            decision.source = Some(RuleSource::Recorded);
            decision.rule = policy.rules.iter().position(|rule| *rule.name == *name);
            decision.unknown_rule = decision.rule.is_none().then_some(name);
        }
        None => {
            // The action is recorded even where the rule is not: an evaluation that does not agree with it is wrong.
            let agrees =
                |rule: &Option<usize>| recorded.action.as_ref().is_none_or(|action| *action == action_of(*rule));
            if let Some(rule) = evaluated.filter(agrees) {
                decision.source = Some(RuleSource::Evaluated);
                decision.rule = rule;
            }
        }
    }
    if decision.source.is_none() {
        missing.push("the rule: neither recorded nor to be evaluated, as the Job's reason is not known".to_owned());
    } else if decision.unknown_rule.is_none() {
        decision.action = decision.action.take().or_else(|| Some(action_of(decision.rule)));
    }
    let told =
        |rule: Option<usize>| rule.map_or("the default".to_owned(), |rule| format!("rule {}", policy.rules[rule].name));
    if let Some(evaluated) = evaluated {
        let recorded_other = recorded.rule.is_some() && evaluated != decision.rule;
        let other_action = recorded.action.as_ref().filter(|action| **action != action_of(evaluated));
        let job = recorded.job.unwrap_or_default();
        if recorded_other {
            notes.push(format!(
                "jobset/{}: the controller recorded {} for job {job}, its reason and message match {}",
                job_set.name,
                decision.unknown_rule.map_or_else(|| told(decision.rule), |name| format!("rule {name}")),
                told(evaluated)
            ));
        } else if let Some(action) = other_action {
            notes.push(format!(
                "jobset/{}: the controller recorded {action} for job {job}, its reason and message match {} ({})",
                job_set.name,
                told(evaluated),
                action_of(evaluated)
            ));
        }
    }
}
