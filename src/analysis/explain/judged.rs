//! Rule by rule, why it matched or why not.

use std::collections::HashSet;

use super::{Facts, Subject};
use crate::analysis::group::cause_words;
use crate::analysis::{Failure, object};
use crate::model::{FailurePolicy, Job, Phase, Pod};
use crate::policy::{Endings, FailedJob, Patterns, RuleWhy, job_set_rule_for, job_set_rule_why_not, label, why};
use crate::report::{Class, Judged, RuleVerdict};

/// For a pod that failed: that pod. Else one pod of each cause, and one Job of each kind of failure under a `JobSet`'s
/// policy.
pub(super) fn judged(facts: &Facts) -> Vec<Judged> {
    let mut seen = HashSet::new();
    let mut all: Vec<Judged> = Vec::new();
    for failure in facts.failures.iter().filter(|failure| is_judged(failure) || is_asked_for(facts, failure)) {
        let (Some(job), Some(pod)) = (failure.job, failure.pod) else { continue };
        if seen.insert(failure.likeness()) {
            all.extend(judge_pod(facts, job, pod, cause_words(failure)));
        }
    }
    if !matches!(facts.subject, Subject::Pod(_)) {
        all.extend(judge_jobs(facts));
    }
    all
}

/// Whether the failure is of the pod asked for, and that has ended: rules judge nothing else.
fn is_asked_for(facts: &Facts, failure: &Failure) -> bool {
    matches!(facts.subject, Subject::Pod(_)) && failure.pod.is_some_and(|pod| pod.phase == Phase::Failed)
}

fn judge_pod(facts: &Facts, job: &Job, pod: &Pod, cause: String) -> Option<Judged> {
    let policy = job.policy.as_ref()?;
    let endings = Endings { containers: &pod.ends, init_containers: pod.init_ends(), conditions: &pod.conditions };
    let whys = why(policy, endings, job.backoff_limit_per_index.is_some());
    let names = facts.analysis.rule_names_of(job);
    let rules =
        policy.rules.iter().zip(whys).enumerate().map(|(index, (rule, RuleWhy { matched, why }))| RuleVerdict {
            index,
            label: label(rule, index, names).label.into_owned(),
            action: rule.action.to_string(),
            matched,
            why,
        });
    let rules: Vec<RuleVerdict> = rules.collect();
    Some(Judged {
        object: object("pod", &pod.namespace, &pod.name),
        cause,
        policy: "podFailurePolicy",
        matched: rules.iter().find(|rule| rule.matched).map(|rule| rule.index),
        rules,
    })
}

/// The Jobs that a `JobSet`'s decisions name, each kind of failure once.
fn judge_jobs(facts: &Facts) -> Vec<Judged> {
    let Some(story) = facts.story else { return Vec::new() };
    let Some(policy) = &story.job_set.failure_policy else { return Vec::new() };
    let mut seen = HashSet::new();
    let patterns = Patterns::default();
    let mut all = Vec::new();
    for attempt in &story.attempts {
        let Some(decision) = &attempt.decision else { continue };
        let (Some(job), Some((reason, message))) = (decision.job, decision.failure) else { continue };
        let other_job = |own: &Job| decision.job_in_data.is_none_or(|job| !std::ptr::eq(job, own));
        if matches!(facts.subject, Subject::Job(own) if other_job(own)) {
            continue;
        }
        let replicated = story.job_set.replicated_job_of(job).map(|replicated| &*replicated.name);
        let failed = FailedJob { replicated_job: replicated, reason, message, at: None };
        let Some(matched) = job_set_rule_for(policy, failed, &patterns) else { continue };
        if seen.insert((matched, reason)) {
            all.push(Judged {
                object: object("job", &story.job_set.namespace, job),
                cause: format!("{}: {reason}: {message}", attempt.which()),
                policy: "failurePolicy",
                matched,
                rules: verdicts(policy, failed, matched),
            });
        }
    }
    all
}

fn verdicts(policy: &FailurePolicy, failed: FailedJob, matched: Option<usize>) -> Vec<RuleVerdict> {
    let of = |(index, rule): (usize, &crate::model::FailurePolicyRule)| {
        let why = match (job_set_rule_why_not(rule, failed), matched) {
            (_, Some(first)) if first < index => format!("rule {index} not reached: rule {first} matched before it"),
            (None, _) => format!("rule {index} matched: all that it asks for holds"),
            (Some(why), _) => format!("rule {index} not matched: {why}"),
        };
        RuleVerdict {
            index,
            label: rule.name.to_string(),
            action: rule.action.to_string(),
            matched: matched == Some(index),
            why,
        }
    };
    policy.rules.iter().enumerate().map(of).collect()
}

/// Failures that a rule, or the default, holds for.
pub(super) fn is_judged(failure: &Failure) -> bool {
    matches!(failure.class, Class::Rule | Class::NoRule | Class::Unmatchable)
}
