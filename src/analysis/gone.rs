//! What a Job's status counts and no pod in the data shows, and failures of the Job itself.

use std::collections::{BTreeSet, HashSet};

use super::facts::{JobFacts, pod_in};
use super::failure::RuleHit;
use super::{Failure, Told, TornDownBy};
use crate::model::Time;
use crate::report::Class;
use crate::words::list_names;

impl<'s> JobFacts<'s> {
    /// Adds the failures that no pod in the data shows.
    pub(super) fn failures_without_pod(&self, failures: &mut Vec<Failure<'s>>) {
        let job = self.job;
        let total = job.failed as usize + job.uncounted_failed.len();
        let visible = failures.iter().filter(|failure| {
            failure.class != Class::Restarting && (failure.counted == Some(true) || failure.class == Class::Unknown)
        });
        let mut missing = total.saturating_sub(visible.count());
        // Pods of indexes that a Job was scaled down from may have been counted before: where the number says so, they
        // were.
        let scaled_from = failures.iter_mut().filter(|failure| {
            let index = failure.pod.and_then(|pod| pod.index);
            let beyond = index.zip(job.completions).is_some_and(|(index, completions)| index.get() >= completions);
            job.indexed && beyond && failure.counted == Some(false) && failure.class != Class::Restarting
        });
        for failure in scaled_from.take(missing) {
            failure.counted = Some(true);
            missing -= 1;
        }
        for (pod, at, by) in self.torn_down_and_gone().into_iter().take(missing) {
            missing -= 1;
            let told = Told { pod: Some(pod.into()), reason: Some(by.name().into()), at, ..Told::default() };
            failures.push(Failure {
                counted: Some(true),
                torn_down: Some(by),
                ..Failure::told(Class::Collateral, self.workload, job, told)
            });
        }
        if missing > 0 {
            failures.push(self.lost(missing));
        }
        failures.extend(self.job_level(failures.is_empty()));
    }

    /// Names of pods that Events tell of and that are not in the data.
    fn created_and_gone(&self) -> BTreeSet<&'s str> {
        let present: HashSet<&str> = self.pods.iter().map(|pod| &*pod.name).collect();
        let created = self.events.iter().filter(|event| &*event.reason == "SuccessfulCreate");
        let names = created.filter_map(|event| pod_in(&event.message, "Created pod: "));
        names.chain(self.deleted.keys().copied()).filter(|pod| !present.contains(pod)).collect()
    }

    /// Pods that are gone because the Job failed, by its `SuccessfulDelete` Events, or because the Job was being deleted
    /// before it began to fail (the pods of a `JobSet` that restarts): they did not fail by themselves. Where containers
    /// restart in place, the pods deleted at the limit are the failures themselves.
    fn torn_down_and_gone(&self) -> Vec<(&'s str, Option<Time>, TornDownBy)> {
        let condition = self.job.failing();
        let failing_at = condition.and_then(|condition| condition.at);
        let gone = self.created_and_gone();
        if let Some(deleted) = self.job.deletion_requested.filter(|at| failing_at.is_none_or(|failing| failing >= *at))
        {
            return gone.into_iter().map(|pod| (pod, Some(deleted), TornDownBy::JobDeleted)).collect();
        }
        let by_restarts = self.job.restarts_in_place && condition.is_some_and(|c| &*c.reason == "BackoffLimitExceeded");
        let with_the_job = |pod: &&str| {
            let deleted = self.deleted_at(pod);
            !by_restarts && failing_at.is_some_and(|failing| deleted.is_some_and(|deleted| deleted >= failing))
        };
        let names = gone.into_iter().filter(with_the_job);
        names.map(|pod| (pod, self.deleted_at(pod), TornDownBy::JobFailing)).collect()
    }

    fn lost(&self, missing: usize) -> Failure<'s> {
        let job = self.job;
        let condition = job.failing();
        let present = |name: &str| self.pods.iter().any(|pod| *pod.name == *name);
        let named = self.decision.as_ref().filter(|decision| !present(decision.pod));
        // One pod's rule and exit code are not those of others.
        let alone = named.filter(|_| missing == 1);
        let rule = self.recorded.as_ref().filter(|_| alone.is_some()).and_then(|recorded| {
            let action = &job.policy.as_deref()?.rules.get(recorded.index)?.action;
            Some(RuleHit::new(recorded.index, action))
        });
        let told = Told {
            namespace: None,
            pod: alone.map(|decision| decision.pod.into()),
            container: alone.and_then(|decision| decision.container).map(|(container, code)| (container.into(), code)),
            reason: condition.map(|condition| condition.reason.clone()),
            message: condition.map(|condition| condition.message.clone()),
            at: condition.and_then(|condition| condition.at).or(job.deletion_requested),
            gone: Some(self.what_is_known_of_the_gone(missing, named.map(|decision| decision.pod))),
            of: None,
        };
        Failure {
            rule,
            counted: Some(true),
            count: u32::try_from(missing).unwrap_or(u32::MAX),
            ..Failure::told(Class::Lost, self.workload, job, told)
        }
    }

    fn what_is_known_of_the_gone(&self, missing: usize, named: Option<&str>) -> String {
        let job = self.job;
        if job.managed_by.is_some() {
            return "its pods are not in this cluster's data".to_owned();
        }
        if job.restarts_in_place && (self.evidence.pods || self.deleted.len() >= missing) {
            let gone: Vec<&str> = self.created_and_gone().into_iter().collect();
            let names = if gone.is_empty() { String::new() } else { format!(" ({})", list_names(&gone, 3)) };
            return format!("restartPolicy OnFailure: the Job deleted its pods{names}, exit codes are gone");
        }
        if !self.evidence.pods {
            return "pods are not in the data: gone, or not read".to_owned();
        }
        let mut gone: Vec<&str> = self.created_and_gone().into_iter().collect();
        // Of the pods that Events name, those that the controller did not delete are the ones that failed.
        if gone.len() > missing {
            gone.retain(|pod| !self.deleted.contains_key(pod));
        }
        match named {
            _ if gone.len() == missing => format!("pods are gone: {}", list_names(&gone, 3)),
            Some(pod) if missing > 1 => format!("pods are gone; one of them is {pod}, which the Job's message names"),
            Some(pod) => format!("the pod is gone: {pod}"),
            None if !self.evidence.events => "pods are gone, and Events were not read".to_owned(),
            None => "pods are gone, and no Event names them".to_owned(),
        }
    }

    /// The Job failed by its deadline, cannot create its pods, or failed in a way that none of its pods shows.
    fn job_level(&self, nothing_else: bool) -> Option<Failure<'s>> {
        let job = self.job;
        if let Some(condition) = job.failing() {
            let by_itself = &*condition.reason == "DeadlineExceeded" || nothing_else;
            return by_itself.then(|| {
                let told = Told {
                    reason: Some(condition.reason.clone()),
                    message: Some(condition.message.clone()),
                    at: condition.at,
                    ..Told::default()
                };
                Failure::told(Class::JobLevel, self.workload, job, told)
            });
        }
        if job.is_finished() || job.suspend {
            return None;
        }
        let last = |reason: &str| {
            let events = self.events.iter().filter(|event| &*event.reason == reason);
            events.max_by_key(|event| event.last)
        };
        let refused = last("FailedCreate")?;
        let created = last("SuccessfulCreate").and_then(|event| event.last);
        let wanted = job.parallelism.unwrap_or(1);
        (created < refused.last && job.active < wanted).then(|| {
            let told = Told {
                reason: Some(refused.reason.clone()),
                message: Some(refused.message.clone()),
                at: refused.last,
                ..Told::default()
            };
            Failure::told(Class::JobLevel, self.workload, job, told)
        })
    }
}
