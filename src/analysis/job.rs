use super::facts::JobFacts;
use super::failure::RuleHit;
use super::idle::{ended_after, held_with_node, not_ready_with_node, pending};
use super::teardown::torn_down_by;
use super::{Failure, TornDownBy};
use crate::model::{ContainerEnd, ContainerKind, Phase, Pod, PodCondition, TEARDOWN_PATIENCE_SECONDS, Time};
use crate::policy::{Endings, MatchedBy, RecordedRule, evaluate};
use crate::report::Class;
use crate::source::Snapshot;

/// What a Job's failures are, and what is to be said of it.
pub(super) struct JobFindings<'s> {
    pub(super) failures: Vec<Failure<'s>>,
    pub(super) notes: Vec<String>,
    pub(super) recorded: Option<RecordedRule>,
}

impl<'s> JobFacts<'s> {
    /// The Job's failures: its pods', then those without a pod.
    pub(super) fn judge(self, snapshot: &'s Snapshot, now: Option<Time>, pending_after: i64) -> JobFindings<'s> {
        let mut notes = Vec::new();
        let mut failures = Vec::new();
        notes.extend(self.recorded.as_ref().and_then(|recorded| {
            let conflict = recorded.conflict.as_ref()?;
            Some(format!("job/{}: {conflict}", self.job.name))
        }));
        for &pod in &self.pods {
            self.judge_pod(pod, snapshot, now, pending_after, &mut failures);
            if failures.last().is_none_or(|last| !last.pod.is_some_and(|other| std::ptr::eq(other, pod))) {
                failures.extend(not_ready_with_node(self.workload, Some(self.job), pod, snapshot));
            }
        }
        notes.extend(self.disagreement(&failures));
        self.failures_without_pod(&mut failures);
        JobFindings { failures, notes, recorded: self.recorded }
    }

    fn judge_pod(
        &self,
        pod: &'s Pod,
        snapshot: &'s Snapshot,
        now: Option<Time>,
        pending_after: i64,
        failures: &mut Vec<Failure<'s>>,
    ) {
        let ended = pod.phase == Phase::Failed;
        if ended || pod.is_terminating() {
            let held = || self.held_with_node(pod, snapshot).or_else(|| self.hangs(pod, ended, now));
            failures.extend(self.judge_ended(pod, ended).or_else(held));
            return;
        }
        failures.extend(pending(self.workload, Some(self.job), pod, now, pending_after));
        failures.extend(pod.restarts().iter().map(|restart| Failure {
            end: Some(&restart.last),
            // Under OnFailure the controller compares the sum of restart counts with backoffLimit
            // (`pastBackoffLimitOnFailure`); restarts by container rules (KEP-5307) it does not see.
            counted: Some(self.job.restarts_in_place),
            ..Failure::of_pod(Class::Restarting, self.workload, Some(self.job), pod)
        }));
    }

    /// A pod that has failed or, being deleted, is as good as failed for the controller (`isPodFailed`).
    fn judge_ended(&self, pod: &'s Pod, ended: bool) -> Option<Failure<'s>> {
        let job = self.job;
        let is_ours = job.managed_by.is_none();
        let rule = if ended && is_ours { self.rule_hit(pod) } else { None };
        let torn_down = torn_down_by(self, pod);
        let (class, counted) = match torn_down {
            _ if !is_ours => (Class::Unknown, None),
            // It goes on without that pod, which is no failure until it has ended as one.
            Some(TornDownBy::ScaledDown) if !ended => return None,
            Some(by) => (Class::Collateral, Some(self.collateral_counted(pod, by))),
            // Deleted, not ended, and nothing decided about the Job: judged when it has ended.
            None if !ended && self.job.waits_for_the_end() && job.failing().is_none() => return None,
            // When a Job fails, every pod that has not ended is counted, whoever deleted it.
            None if !ended && self.job.waits_for_the_end() => {
                (Class::Collateral, Some(self.collateral_counted(pod, TornDownBy::JobFailing)))
            }
            None if job.policy.is_none() => (Class::NoPolicy, Some(true)),
            None if rule.is_some() => (Class::Rule, rule.map(|rule| rule.0.action.counts())),
            None if is_unmatchable(pod) => (Class::Unmatchable, Some(true)),
            None => (Class::NoRule, Some(true)),
        };
        let counted = counted.map(|counted| match job.failing().and_then(|condition| condition.at) {
            // It was being deleted, and ended only after the decision, when it had been counted already.
            Some(decided) if class == Class::Rule && ended_after(pod, decided) => {
                self.collateral_counted(pod, TornDownBy::JobFailing)
            }
            _ => counted && self.is_looked_at(pod) && self.is_accounted_for(pod),
        });
        let torn_down = torn_down.or((class == Class::Collateral).then_some(TornDownBy::JobFailing));
        let mut failure = Failure::of_pod(class, self.workload, Some(job), pod);
        if let Some((hit, end)) = rule {
            failure.rule = Some(hit);
            failure.end = end.or(failure.end);
        }
        Some(Failure { torn_down, counted, ..failure })
    }

    /// A pod that should have ended long ago, and in whose place the controller makes no other one before it has: on a node
    /// that is gone it never does.
    fn hangs(&self, pod: &'s Pod, ended: bool, now: Option<Time>) -> Option<Failure<'s>> {
        let held = !ended && self.job.waits_for_the_end() && self.job.managed_by.is_none() && !self.job.is_finished();
        let until = pod.deletion_requested?.plus_seconds(pod.grace_seconds() + TEARDOWN_PATIENCE_SECONDS);
        let hangs = held && torn_down_by(self, pod).is_none() && now? > until;
        hangs.then(|| Failure { end: None, ..Failure::of_pod(Class::Pending, self.workload, Some(self.job), pod) })
    }

    /// A pod that was asked to end on a silent node, where the Job waits for its end.
    fn held_with_node(&self, pod: &'s Pod, snapshot: &'s Snapshot) -> Option<Failure<'s>> {
        let holds = self.job.waits_for_the_end() && self.job.managed_by.is_none() && !self.job.is_finished();
        let held = holds && pod.phase != Phase::Failed && torn_down_by(self, pod).is_none();
        held_with_node(self.workload, Some(self.job), pod, snapshot).filter(|_| held)
    }

    /// Pods of an Indexed Job without an index, or beyond the number of completions to which it was scaled down
    /// (KEP-3715), are not looked at.
    fn is_looked_at(&self, pod: &Pod) -> bool {
        let beyond = |index: u32| self.job.completions.is_some_and(|completions| index >= completions);
        !self.job.indexed || pod.index.is_some_and(|index| !beyond(index.get()))
    }

    /// A pod is added to `status.failed` when its finalizer is taken off; with `backoffLimitPerIndex` that waits for the
    /// pod's replacement.
    fn is_accounted_for(&self, pod: &Pod) -> bool {
        let noted = pod.uid.as_ref().is_some_and(|uid| self.job.uncounted_failed.contains(uid));
        !pod.is_tracked || noted || self.job.is_finished()
    }

    /// Whether a pod torn down is in `status.failed` (`trackJobStatusAndRemoveFinalizers`): when a Job fails, every pod
    /// that has not ended is counted, unless its status at that moment matched an Ignore rule.
    fn collateral_counted(&self, pod: &Pod, by: TornDownBy) -> bool {
        match by {
            TornDownBy::JobFailing => {
                let decided = self.job.failing().and_then(|condition| condition.at);
                let before = |ends: &[ContainerEnd]| -> Vec<ContainerEnd> {
                    let ended = ends.iter().filter(|end| end.finished_at.is_some() && end.finished_at < decided);
                    ended.cloned().collect()
                };
                let (containers, init_containers) = (before(&pod.ends), before(pod.init_ends()));
                let set_later = |condition: &PodCondition| {
                    let told = pod.told_conditions().iter().find(|told| told.type_ == condition.type_);
                    told.is_some_and(|told| told.at > decided)
                };
                let conditions: Vec<PodCondition> =
                    pod.conditions.iter().filter(|condition| !set_later(condition)).cloned().collect();
                let then =
                    Endings { containers: &containers, init_containers: &init_containers, conditions: &conditions };
                let found = self
                    .job
                    .policy
                    .as_ref()
                    .and_then(|policy| evaluate(policy, then, self.job.backoff_limit_per_index.is_some()));
                found.is_none_or(|found| found.action.counts())
            }
            TornDownBy::JobDeleted | TornDownBy::JobSetRestarting | TornDownBy::JobSetFinished => {
                !self.job.waits_for_the_end()
            }
            // Suspending and scaling down take the finalizer off first (`deleteJobPods`), and of a Job that succeeds
            // only what has failed is counted.
            TornDownBy::JobSucceeded | TornDownBy::JobSuspended | TornDownBy::ScaledDown | TornDownBy::Deletion => {
                false
            }
        }
    }

    /// The rule the pod matches, with the container that matched.
    fn rule_hit(&self, pod: &'s Pod) -> Option<(RuleHit<'s>, Option<&'s ContainerEnd>)> {
        let policy = self.job.policy.as_ref()?;
        let per_index = self.job.backoff_limit_per_index.is_some();
        let all = Endings { containers: &pod.ends, init_containers: pod.init_ends(), conditions: &pod.conditions };
        let found = evaluate(policy, all, per_index)?;
        let (end, condition) = match found.by {
            MatchedBy::Container(end) => (Some(end), None),
            MatchedBy::Condition(condition) => (None, Some(condition)),
        };
        let asks_for_any = policy.rules[found.index].on_exit_codes.as_ref().is_some_and(|c| c.container_name.is_none());
        let sidecar = asks_for_any && end.is_some_and(|end| end.kind == ContainerKind::Sidecar);
        let mut hit = RuleHit::new(found.index, found.action);
        (hit.condition, hit.sidecar) = (condition, sidecar);
        Some((hit, end))
    }

    /// Said where the rule that the controller recorded is not the one computed for the pod it names. The record holds.
    fn disagreement(&self, failures: &[Failure]) -> Option<String> {
        let (recorded, named) = (self.recorded.as_ref()?, self.named_pod()?);
        let failure = failures.iter().find(|failure| failure.pod.is_some_and(|pod| *pod.name == *named))?;
        let computed = failure.rule.map(|rule| rule.index());
        (computed != Some(recorded.index) && failure.class != Class::Unknown).then(|| {
            let computed = computed.map_or("no rule".to_owned(), |index| format!("rule {index}"));
            format!(
                "job/{}: the controller recorded rule {} for pod {named}, its status in the data matches {computed}",
                self.job.name, recorded.index
            )
        })
    }
}

/// Whether no rule could ever match: the kubelet refused the pod and left nothing but a reason (jobset#1091).
fn is_unmatchable(pod: &Pod) -> bool {
    !pod.has_container_statuses && pod.told_conditions().is_empty()
}
