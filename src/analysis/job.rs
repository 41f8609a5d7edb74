use std::collections::{BTreeMap, HashSet};

use super::failure::RuleHit;
use super::teardown::torn_down_by;
use super::words::list_names;
use super::{Failure, Told, TornDownBy};
use crate::model::{ContainerKind, Event, Job, Pod, PodCondition, Time};
use crate::policy::{Decision, Endings, MatchedBy, RecordedRule, evaluate, parse_message, recorded_rule};
use crate::report::Class;

/// A Job with all that is known around it.
pub(super) struct JobFacts<'s> {
    pub(super) job: &'s Job,
    /// Index of its workload.
    workload: usize,
    pods: Vec<&'s Pod>,
    events: Vec<&'s Event>,
    /// Pods the controller deleted, by the Job's `SuccessfulDelete` Events.
    deleted: BTreeMap<&'s str, Time>,
    decision: Option<Decision<'s>>,
    recorded: Option<RecordedRule>,
}

/// What a Job's failures are, and what is to be said of it.
pub(super) struct JobFindings<'s> {
    pub(super) failures: Vec<Failure<'s>>,
    pub(super) notes: Vec<String>,
    pub(super) recorded: Option<RecordedRule>,
}

/// Conditions that every pod has; a rule about one of them says nothing about how the pod ended.
const ORDINARY_CONDITIONS: [&str; 5] =
    ["PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"];

impl<'s> JobFacts<'s> {
    pub(super) fn new(job: &'s Job, workload: usize, pods: Vec<&'s Pod>, events: Vec<&'s Event>) -> Self {
        let deletions = events.iter().filter(|event| &*event.reason == "SuccessfulDelete");
        let deleted = deletions
            .filter_map(|event| Some((pod_in(&event.message, "Deleted pod: ")?, event.last.or(event.first)?)))
            .collect();
        let failing = job.failing();
        let decision = failing.and_then(|condition| parse_message(&condition.message));
        let recorded = failing
            .zip(job.policy.as_deref())
            .and_then(|(condition, policy)| recorded_rule(policy, &condition.reason, &condition.message));
        Self { job, workload, pods, events, deleted, decision, recorded }
    }

    /// The pod the controller's message names.
    pub(super) fn named_pod(&self) -> Option<&'s str> {
        self.decision.as_ref().map(|decision| decision.pod)
    }

    /// When the controller deleted a pod, by its Events.
    pub(super) fn deleted_at(&self, pod: &str) -> Option<Time> {
        self.deleted.get(pod).copied()
    }

    /// The Job's failures: its pods', then those without a pod.
    pub(super) fn judge(self, now: Option<Time>, pending_after: i64) -> JobFindings<'s> {
        let mut notes = Vec::new();
        let mut failures = Vec::new();
        if let Some(manager) = &self.job.managed_by {
            notes.push(format!(
                "job/{} is managed by {manager}: its status is shown as read, its policy is not recomputed",
                self.job.name
            ));
        }
        notes.extend(
            self.recorded
                .as_ref()
                .and_then(|recorded| Some(format!("job/{}: {}", self.job.name, recorded.conflict.as_ref()?))),
        );
        for &pod in &self.pods {
            self.judge_pod(pod, now, pending_after, &mut failures);
        }
        notes.extend(self.disagreement(&failures));
        self.failures_without_pod(&mut failures);
        JobFindings { failures, notes, recorded: self.recorded }
    }

    fn judge_pod(&self, pod: &'s Pod, now: Option<Time>, pending_after: i64, failures: &mut Vec<Failure<'s>>) {
        let ended = pod.phase == crate::model::Phase::Failed;
        if ended || pod.is_terminating() {
            failures.extend(self.judge_ended(pod, ended));
            return;
        }
        failures.extend(pending(self.workload, Some(self.job), pod, now, pending_after));
        failures.extend(pod.restarts().iter().map(|restart| Failure {
            end: Some(&restart.last),
            restart: Some(restart),
            // Under OnFailure the controller compares the sum of restart counts with backoffLimit (`pastBackoffLimitOnFailure`);
            // restarts by container rules (KEP-5307) it does not see.
            counted: Some(self.job.restarts_in_place),
            ..Failure::of_pod(Class::Restarting, self.workload, Some(self.job), pod)
        }));
    }

    /// A pod that has failed or, being deleted, is as good as failed for the controller (`isPodFailed`).
    fn judge_ended(&self, pod: &'s Pod, ended: bool) -> Option<Failure<'s>> {
        let job = self.job;
        let rule = job.policy.as_ref().filter(|_| ended).and_then(|_| self.rule_hit(pod));
        let torn_down = torn_down_by(self, pod);
        let waits_for_the_end = job.replaces_only_failed || job.policy.is_some();
        let (class, counted) = match torn_down {
            _ if job.managed_by.is_some() => (Class::Unknown, None),
            Some(by) => (Class::Collateral, Some(self.collateral_counted(pod, by, waits_for_the_end))),
            // Deleted, not ended, and nothing decided about the Job: judged when it has ended.
            None if !ended && waits_for_the_end => return None,
            // Deleted by the controller of a Job that goes on: it was scaled down, and the pod is not counted.
            None if !ended && self.deleted_at(&pod.name).is_some() => return None,
            None if job.policy.is_none() => (Class::NoPolicy, Some(true)),
            None if rule.is_some() => (Class::Rule, rule.map(|rule| rule.0.action.counts())),
            None if is_unmatchable(pod) => (Class::Unmatchable, Some(true)),
            None => (Class::NoRule, Some(true)),
        };
        let counted = counted.map(|counted| counted && !self.is_beyond_completions(pod));
        let mut failure = Failure::of_pod(class, self.workload, Some(job), pod);
        if let Some((hit, end)) = rule {
            failure.rule = Some(hit);
            failure.end = end.or(failure.end);
        }
        Some(Failure { torn_down, counted, ..failure })
    }

    /// Pods of an Indexed Job that was scaled down below their index are not looked at (KEP-3715).
    fn is_beyond_completions(&self, pod: &Pod) -> bool {
        self.job.indexed && pod.index.zip(self.job.completions).is_some_and(|(index, completions)| index >= completions)
    }

    /// Whether a pod torn down is in `status.failed` (`trackJobStatusAndRemoveFinalizers`): when a Job fails, every pod
    /// that has not ended is counted, unless its status then matched an Ignore rule; no container had ended then, so
    /// that only conditions could match.
    fn collateral_counted(&self, pod: &Pod, by: TornDownBy, waits_for_the_end: bool) -> bool {
        match by {
            TornDownBy::JobFailing => {
                let before_the_end = Endings { containers: &[], init_containers: &[], conditions: &pod.conditions };
                let found =
                    self.job.policy.as_ref().and_then(|policy| {
                        evaluate(policy, before_the_end, self.job.backoff_limit_per_index.is_some())
                    });
                found.is_none_or(|found| found.action.counts())
            }
            TornDownBy::JobDeleted => !waits_for_the_end,
            // `deleteJobPods` takes the finalizer off first, so that the pods are not counted.
            TornDownBy::JobSucceeded | TornDownBy::JobSuspended => false,
        }
    }

    /// The rule the pod matches, with the container that matched.
    fn rule_hit(&self, pod: &'s Pod) -> Option<(RuleHit<'s>, Option<&'s crate::model::ContainerEnd>)> {
        let policy = self.job.policy.as_ref()?;
        let per_index = self.job.backoff_limit_per_index.is_some();
        let all = Endings { containers: &pod.ends, init_containers: pod.init_ends(), conditions: &pod.conditions };
        let found = evaluate(policy, all, per_index)?;
        let end = match found.by {
            MatchedBy::Container(end) => Some(end),
            MatchedBy::Condition(_) => None,
        };
        let asks_for_any = policy.rules[found.index].on_exit_codes.as_ref().is_some_and(|c| c.container_name.is_none());
        let sidecar = asks_for_any && end.is_some_and(|end| end.kind == ContainerKind::Sidecar);
        Some((RuleHit { index: found.index, action: found.action, by_exit_code: end.is_some(), sidecar }, end))
    }

    /// Said where the rule that the controller recorded is not the one computed for the pod it names. The record holds.
    fn disagreement(&self, failures: &[Failure]) -> Option<String> {
        let (recorded, named) = (self.recorded.as_ref()?, self.named_pod()?);
        let failure = failures.iter().find(|failure| failure.pod.is_some_and(|pod| *pod.name == *named))?;
        let computed = failure.rule.map(|rule| rule.index);
        (computed != Some(recorded.index) && failure.class != Class::Unknown).then(|| {
            let computed = computed.map_or("no rule".to_owned(), |index| format!("rule {index}"));
            format!(
                "job/{}: the controller recorded rule {} for pod {named}, its status in the data matches {computed}",
                self.job.name, recorded.index
            )
        })
    }

    /// What the Job's status counts and no pod in the data shows, and failures of the Job itself.
    fn failures_without_pod(&self, failures: &mut Vec<Failure<'s>>) {
        let job = self.job;
        let total = job.failed as usize + job.uncounted_failed.len();
        let visible = failures.iter().filter(|failure| {
            failure.class != Class::Restarting && (failure.counted == Some(true) || failure.class == Class::Unknown)
        });
        let mut missing = total.saturating_sub(visible.count());
        for (pod, at) in self.deleted_with_the_job() {
            if missing == 0 {
                break;
            }
            missing -= 1;
            let told = Told {
                pod: Some(pod.into()),
                message: Some(format!("Deleted pod: {pod}").into()),
                reason: Some("SuccessfulDelete".into()),
                at: Some(at),
                ..Told::default()
            };
            failures.push(Failure {
                counted: Some(true),
                torn_down: Some(TornDownBy::JobFailing),
                ..Failure::told(Class::Collateral, self.workload, job, told)
            });
        }
        if missing > 0 {
            failures.push(self.lost(missing));
        }
        failures.extend(self.job_level(failures.is_empty()));
    }

    /// Pods that Events show to have been deleted because the Job failed and that are not in the data. Where containers
    /// restart in place, the pods deleted at the limit are the failures themselves.
    fn deleted_with_the_job(&self) -> impl Iterator<Item = (&'s str, Time)> {
        let condition = self.job.failing();
        let failing_at = condition.and_then(|condition| condition.at);
        let by_restarts = self.job.restarts_in_place && condition.is_some_and(|c| &*c.reason == "BackoffLimitExceeded");
        let present: HashSet<&str> = self.pods.iter().map(|pod| &*pod.name).collect();
        self.deleted.iter().filter_map(move |(pod, at)| {
            let with_the_job = !by_restarts && failing_at.is_some_and(|failing_at| *at >= failing_at);
            (with_the_job && !present.contains(pod)).then_some((*pod, *at))
        })
    }

    fn lost(&self, missing: usize) -> Failure<'s> {
        let job = self.job;
        let condition = job.failing();
        let present: HashSet<&str> = self.pods.iter().map(|pod| &*pod.name).collect();
        let created = self.events.iter().filter(|event| &*event.reason == "SuccessfulCreate");
        let mut gone: Vec<&str> = created
            .filter_map(|event| pod_in(&event.message, "Created pod: "))
            .filter(|pod| !present.contains(pod))
            .collect();
        gone.sort_unstable();
        gone.dedup();
        // Of the pods that Events name, those that the controller did not delete are the ones that failed, unless all
        // were deleted, as at the limit of restarts in place.
        if gone.len() > missing {
            let mut failed = gone.clone();
            failed.retain(|pod| !self.deleted.contains_key(pod));
            gone = failed;
        }
        let named = self.decision.as_ref().filter(|decision| !present.contains(decision.pod));
        let words = if job.managed_by.is_some() {
            "its pods are not in this cluster's data".to_owned()
        } else if job.restarts_in_place {
            "restartPolicy OnFailure: the Job deleted its pods, exit codes are gone".to_owned()
        } else if gone.len() == missing {
            format!("pods are gone: {}", list_names(&gone, 3))
        } else {
            "pods are gone, and no Event names them".to_owned()
        };
        let told = Told {
            pod: named.map(|decision| decision.pod.into()),
            container: named.and_then(|decision| decision.container).map(|(container, code)| (container.into(), code)),
            reason: condition.map(|condition| condition.reason.clone()),
            message: condition.map(|condition| condition.message.clone()),
            at: condition.and_then(|condition| condition.at).or(job.deletion_requested),
            gone: Some(words),
        };
        let rule = self.recorded.as_ref().filter(|_| named.is_some()).and_then(|recorded| {
            let action = &job.policy.as_deref()?.rules.get(recorded.index)?.action;
            let by_exit_code = self.decision.as_ref().is_some_and(|decision| decision.container.is_some());
            Some(RuleHit { index: recorded.index, action, by_exit_code, sidecar: false })
        });
        Failure {
            rule,
            counted: Some(true),
            count: u32::try_from(missing).unwrap_or(u32::MAX),
            ..Failure::told(Class::Lost, self.workload, job, told)
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

/// A pod that cannot start: at once for errors of image, configuration or creation, after `pending_after` seconds where
/// it may still come.
pub(super) fn pending<'s>(
    workload: usize,
    job: Option<&'s Job>,
    pod: &'s Pod,
    now: Option<Time>,
    pending_after: i64,
) -> Option<Failure<'s>> {
    let waiting = pod.waiting()?;
    let may_still_come = matches!(
        &*waiting.reason,
        "ContainerCreating" | "PodInitializing" | "Pending" | "Unschedulable" | "SchedulingGated" | "SchedulerError"
    );
    if may_still_come {
        #[allow(clippy::cast_precision_loss)] // seconds of a wait
        let long_enough = now?.since(waiting.since?) >= pending_after as f64;
        if !long_enough {
            return None;
        }
    }
    Some(Failure { end: None, waiting: Some(waiting), ..Failure::of_pod(Class::Pending, workload, job, pod) })
}

/// Whether no rule could ever match: the kubelet refused the pod and left nothing but a reason (jobset#1091).
fn is_unmatchable(pod: &Pod) -> bool {
    let ordinary = |condition: &PodCondition| ORDINARY_CONDITIONS.contains(&&*condition.type_);
    !pod.has_container_statuses && pod.conditions.iter().all(ordinary)
}

/// The pod's name in an Event's message. Aggregated Events begin with `(combined from similar events): `.
fn pod_in<'a>(message: &'a str, before: &str) -> Option<&'a str> {
    let rest = &message[message.find(before)? + before.len()..];
    rest.split_whitespace().next()
}
