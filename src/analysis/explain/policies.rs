//! The policies that hold, and how often each rule matched.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::judged::is_judged;
use super::{Facts, Subject};
use crate::analysis::Failure;
use crate::analysis::job_set::JobSetStory;
use crate::analysis::object;
use crate::model::{Job, PodFailurePolicy};
use crate::policy::{NameSource, job_set_rule_asks_for, label, requirement};
use crate::report::{Class, PolicyReport, PolicyRule};

/// A `JobSet`'s own policy first, then the `podFailurePolicy` of its Jobs, each once.
pub(super) fn policies(facts: &Facts) -> Vec<PolicyReport> {
    let mut all: Vec<PolicyReport> = facts.story.and_then(failure_policy).into_iter().collect();
    match (facts.subject, facts.story) {
        (Subject::JobSet(job_set), Some(story)) => all.extend(of_replicated_jobs(facts, story, &job_set.namespace)),
        _ => all.extend(of_jobs(facts)),
    }
    all
}

fn failure_policy(story: &JobSetStory) -> Option<PolicyReport> {
    let policy = story.job_set.failure_policy.as_ref()?;
    let decisions =
        || story.attempts.iter().filter_map(|attempt| Some((attempt.decision.as_ref()?, u64::from(attempt.count))));
    let count = |test: &dyn Fn(&super::super::Decision) -> bool| -> u64 {
        decisions().filter(|(decision, _)| test(decision)).map(|(_, count)| count).sum()
    };
    let rule = |(index, rule): (usize, &crate::model::FailurePolicyRule)| PolicyRule {
        index,
        label: rule.name.to_string(),
        name_source: NameSource::Field,
        action: rule.action.to_string(),
        requirement: job_set_rule_asks_for(rule),
        matched: count(&|decision| decision.rule == Some(index)),
    };
    let untold: u32 = story
        .attempts
        .iter()
        .filter(|attempt| attempt.decision.is_none() && attempt.outcome == crate::report::AttemptOutcome::Unknown)
        .map(|attempt| attempt.count)
        .sum();
    Some(PolicyReport {
        kind: "failurePolicy",
        object: object("jobset", &story.job_set.namespace, &story.job_set.name),
        replicated_jobs: Vec::new(),
        rules: policy.rules.iter().enumerate().map(rule).collect(),
        default_action: "RestartJobSet".to_owned(),
        default_matched: count(&|decision| decision.rule.is_none() && decision.source.is_some()),
        unknown: u64::from(untold) + count(&|decision| decision.source.is_none() && !decision.in_place),
        partial: false,
    })
}

/// The policies of a `JobSet`'s templates, with the attempts whose Jobs are gone counted as well.
fn of_replicated_jobs(facts: &Facts, story: &JobSetStory, namespace: &str) -> Vec<PolicyReport> {
    let mut by_policy: Vec<(&Arc<PodFailurePolicy>, Vec<String>)> = Vec::new();
    for replicated in &story.job_set.replicated_jobs {
        let Some(policy) = &replicated.policy else { continue };
        match by_policy.iter_mut().find(|(other, _)| *other == policy) {
            Some((_, names)) => names.push(replicated.name.to_string()),
            None => by_policy.push((policy, vec![replicated.name.to_string()])),
        }
    }
    let name = object("jobset", namespace, &story.job_set.name);
    by_policy
        .into_iter()
        .map(|(policy, replicated_jobs)| {
            let mut counts = Counts::default();
            let same = |failure: &&&Failure| failure.policy().is_some_and(|other| other == policy);
            facts.failures.iter().filter(same).for_each(|failure| counts.add(failure));
            let gone = story.attempts.iter().filter_map(|attempt| attempt.decision.as_ref());
            for decision in gone.filter(|decision| decision.job_in_data.is_none()) {
                match (decision.pod_policy.is_some_and(|other| other == policy), decision.pod_rule) {
                    (true, Some(rule)) => *counts.rules.entry(rule).or_default() += 1,
                    (true, None) => counts.unknown += 1,
                    (false, _) => {}
                }
            }
            let names = story.job_set.replicated_jobs.iter().find(|r| r.policy.as_ref() == Some(policy));
            let names = names.and_then(|r| r.rule_names.as_deref()).or(story.job_set.rule_names.as_deref());
            let gone = story.attempts.len() > 1;
            PolicyReport { partial: gone, ..counts.report(policy, names, name.clone(), replicated_jobs) }
        })
        .collect()
}

fn of_jobs(facts: &Facts) -> Vec<PolicyReport> {
    let mut by_policy: Vec<(&Job, &Arc<PodFailurePolicy>, Counts)> = Vec::new();
    let mut place_of: HashMap<*const Job, usize> = HashMap::new();
    for job in &facts.jobs {
        let Some(policy) = &job.policy else { continue };
        let place = by_policy.iter().position(|(_, other, _)| *other == policy).unwrap_or_else(|| {
            by_policy.push((job, policy, Counts::default()));
            by_policy.len() - 1
        });
        place_of.insert(*job, place);
    }
    // A pod is one of its Job's: how often each rule matched is told of them all.
    for failure in &facts.analysis.failures {
        if let Some(place) = failure.job.and_then(|job| place_of.get(&std::ptr::from_ref(job))) {
            by_policy[*place].2.add(failure);
        }
    }
    if let (Subject::CronJob(cron_job), []) = (facts.subject, &facts.jobs[..])
        && let Some(policy) = &cron_job.policy
    {
        // Without a run in the data, what the next one will be judged by.
        let object = object("cronjob", &cron_job.namespace, &cron_job.name);
        return vec![Counts::default().report(policy, cron_job.rule_names.as_deref(), object, Vec::new())];
    }
    let report = |(job, policy, counts): (&Job, &Arc<PodFailurePolicy>, Counts)| {
        let object = match facts.subject {
            Subject::CronJob(cron_job) => object("cronjob", &cron_job.namespace, &cron_job.name),
            _ => object("job", &job.namespace, &job.name),
        };
        counts.report(policy, facts.analysis.rule_names_of(job), object, Vec::new())
    };
    by_policy.into_iter().map(report).collect()
}

#[derive(Default)]
struct Counts {
    rules: BTreeMap<usize, u64>,
    default: u64,
    unknown: u64,
}

impl Counts {
    fn add(&mut self, failure: &Failure) {
        let count = u64::from(failure.count);
        match failure.rule {
            // A pod torn down is not blamed by the rule it matched.
            Some(rule) if failure.class != Class::Collateral => *self.rules.entry(rule.index()).or_default() += count,
            None if is_judged(failure) => self.default += count,
            None if failure.class == Class::Lost => self.unknown += count,
            _ => {}
        }
    }

    fn report(
        mut self,
        policy: &PodFailurePolicy,
        names: Option<&str>,
        object: String,
        replicated_jobs: Vec<String>,
    ) -> PolicyReport {
        let rules = policy.rules.iter().enumerate().map(|(index, rule)| {
            let called = label(rule, index, names);
            PolicyRule {
                index,
                label: called.label.into_owned(),
                name_source: called.source,
                action: rule.action.to_string(),
                requirement: requirement(rule),
                matched: self.rules.remove(&index).unwrap_or(0),
            }
        });
        PolicyReport {
            kind: "podFailurePolicy",
            object,
            replicated_jobs,
            rules: rules.collect(),
            default_action: "Count".to_owned(),
            default_matched: self.default,
            unknown: self.unknown,
            partial: false,
        }
    }
}
