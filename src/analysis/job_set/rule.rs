//! The rule of a decision: as it was recorded, else as it is evaluated; where both are known and differ, that is said.

use super::JobSetFacts;
use super::decision::Decision;
use super::lives::JobFailure;
use super::recorded::{Recorded, RecordedDecision};
use crate::model::{FailurePolicy, Job, JobSetAction};
use crate::policy::{FailedJob, job_set_rule_for};
use crate::report::RuleSource;

/// What the failure policy makes of a failure: `None` for the default.
type Rule = Option<usize>;

/// What is made of a failure.
#[derive(Clone, Copy)]
enum Evaluated {
    /// None is known.
    NoFailure,
    /// A pattern is too large to judge.
    Unjudged,
    Rule(Rule),
}

impl Evaluated {
    fn rule(self) -> Option<Rule> {
        if let Self::Rule(rule) = self { Some(rule) } else { None }
    }
}

/// Tells the rule of a decision, for the failure of the Job that it names. What cannot be known goes to `missing`,
/// contradictions to `notes`.
pub(super) fn judge_rule<'s>(
    facts: &JobSetFacts<'s, '_>,
    recorded: &RecordedDecision<'s>,
    failure: Option<JobFailure<'s>>,
    decision: &mut Decision<'s>,
    missing: &mut Vec<String>,
    notes: &mut Vec<String>,
) {
    let Some(policy) = &facts.job_set.failure_policy else { return };
    if recorded.is_in_place(policy) {
        decision.in_place = true;
        return;
    }
    let judging = Judging { policy, recorded, evaluated: evaluate(facts, policy, recorded, failure, decision) };
    match judging.recorded_rule() {
        Some(Recorded::Default) => decision.source = Some(RuleSource::Recorded),
        Some(Recorded::Named(name)) => {
            decision.source = Some(RuleSource::Recorded);
            decision.rule = judging.index_of(name);
            decision.unknown_rule = decision.rule.is_none().then_some(name);
        }
        None => {
            if let Some(rule) = judging.evaluated_rule() {
                decision.source = Some(RuleSource::Evaluated);
                decision.rule = rule;
            }
        }
    }
    if decision.source.is_none() {
        missing.push(format!("the rule: not recorded, and {}", judging.why_not_evaluated()));
    } else if decision.unknown_rule.is_none() {
        decision.action = decision.action.take().or_else(|| Some(judging.action_of(decision.rule)));
    }
    notes.extend(judging.contradiction(decision).map(|what| format!("jobset/{}: {what}", facts.job_set.name)));
}

fn evaluate(
    facts: &JobSetFacts,
    policy: &FailurePolicy,
    recorded: &RecordedDecision,
    failure: Option<JobFailure>,
    decision: &Decision,
) -> Evaluated {
    let Some((failure, job)) = failure.zip(recorded.job) else { return Evaluated::NoFailure };
    let replicated_job = decision
        .job_in_data
        .and_then(Job::replicated_job)
        .or_else(|| facts.job_set.replicated_job_of(job).map(|replicated| &*replicated.name));
    let failed = FailedJob { replicated_job, reason: failure.reason, message: failure.message, at: failure.at };
    job_set_rule_for(policy, failed, &facts.patterns).map_or(Evaluated::Unjudged, Evaluated::Rule)
}

struct Judging<'s, 'f> {
    policy: &'f FailurePolicy,
    recorded: &'f RecordedDecision<'s>,
    evaluated: Evaluated,
}

impl<'s> Judging<'s, '_> {
    /// The rule recorded. One that is only taken over from the restart before yields to what the failure itself tells.
    fn recorded_rule(&self) -> Option<Recorded<'s>> {
        let rule_of = |recorded: Recorded| match recorded {
            Recorded::Default => Some(None),
            Recorded::Named(name) => self.index_of(name).map(Some),
        };
        let yields = |recorded: Recorded| {
            let other = self.evaluated_rule().is_some_and(|rule| rule_of(recorded) != Some(rule));
            self.recorded.is_inherited && other
        };
        self.recorded.rule.filter(|rule| !yields(*rule))
    }

    /// The rule evaluated. The action is recorded even where the rule is not: an evaluation that does not agree with it is
    /// wrong.
    fn evaluated_rule(&self) -> Option<Rule> {
        let agrees = |rule: &Rule| match &self.recorded.action {
            Some(action) => *action == self.action_of(*rule),
            // Only these are bounded by `maxRestarts`.
            None => matches!(self.action_of(*rule), JobSetAction::RestartJobSet | JobSetAction::RestartJob),
        };
        self.evaluated.rule().filter(agrees)
    }

    fn why_not_evaluated(&self) -> &'static str {
        match self.evaluated {
            Evaluated::NoFailure => "not to be evaluated, as the Job's reason is not known",
            Evaluated::Unjudged => "not to be evaluated, as a pattern of a rule is too large to judge",
            Evaluated::Rule(_) => "the one that the Job's reason and message match cannot have led to this",
        }
    }

    /// What was recorded, where that is not what the Job's reason and message match.
    fn contradiction(&self, decision: &Decision) -> Option<String> {
        let evaluated = self.evaluated.rule()?;
        let job = self.recorded.job.unwrap_or_default();
        if decision.source == Some(RuleSource::Recorded) && evaluated != decision.rule {
            return Some(format!(
                "the controller recorded {} for job {job}, its reason and message match {}",
                decision.unknown_rule.map_or_else(|| self.told(decision.rule), |name| format!("rule {name}")),
                self.told(evaluated)
            ));
        }
        let action = self.recorded.action.as_ref().filter(|action| **action != self.action_of(evaluated))?;
        Some(format!(
            "the controller recorded {action} for job {job}, its reason and message match {} ({})",
            self.told(evaluated),
            self.action_of(evaluated)
        ))
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        self.policy.rules.iter().position(|rule| *rule.name == *name)
    }

    fn action_of(&self, rule: Rule) -> JobSetAction {
        rule.map_or(JobSetAction::RestartJobSet, |rule| self.policy.rules[rule].action.clone())
    }

    fn told(&self, rule: Rule) -> String {
        rule.map_or("the default".to_owned(), |rule| format!("rule {}", self.policy.rules[rule].name))
    }
}
