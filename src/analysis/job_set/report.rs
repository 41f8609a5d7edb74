//! Stories → the types that are the JSON.

use super::{Attempt, Decision, JobSetStory, rule_label, rule_name};
use crate::analysis::telling_line;
use crate::analysis::words::total;
use crate::policy::label;
use crate::report::{AttemptOutcome, AttemptReport, FailureRule, JobSetReport, JobSetRule};

/// The rule of a decision, for the JSON.
pub(crate) fn job_set_rule(story: &JobSetStory, attempt: &Attempt) -> JobSetRule {
    let Some(decision) = &attempt.decision else {
        let label = "(unknown)".to_owned();
        return JobSetRule {
            label,
            name: None,
            index: None,
            action: None,
            source: None,
            failed_reason: None,
            job_reason: None,
        };
    };
    JobSetRule {
        label: rule_label(story.job_set, decision).to_owned(),
        name: rule_name(story.job_set, decision).map(str::to_owned),
        index: decision.rule,
        action: decision.action.as_ref().map(ToString::to_string),
        source: decision.source,
        failed_reason: (attempt.outcome == AttemptOutcome::Failed).then(|| decision.recorded_reason.to_owned()),
        job_reason: decision.failure.map(|(reason, _)| reason.to_owned()),
    }
}

impl JobSetStory<'_> {
    /// The story as the JSON tells it.
    pub fn report(&self) -> JobSetReport {
        let job_set = self.job_set;
        let (job_restarts, job_restarts_counted) = job_set.job_restarts();
        JobSetReport {
            restarts: job_set.restarts,
            restarts_count_towards_max: job_set.restarts_counted,
            job_restarts,
            job_restarts_count_towards_max: job_restarts_counted,
            max_restarts: job_set.max_restarts(),
            restart_strategy: job_set.failure_policy.as_ref().map(|policy| policy.restart_strategy.to_string()),
            budget: self.budget(),
            gpu_seconds: self.spent().0,
            gpu_seconds_partial: self.spent().1,
            attempts: self
                .attempts
                .iter()
                .zip(self.counted_so_far())
                .map(|(attempt, counted)| AttemptReport { counted_so_far: counted, ..self.attempt_report(attempt) })
                .collect(),
            situations: self.situations.clone(),
        }
    }

    /// What is left of the restarts: `1 of 2 counted restarts used, 1 more uncounted`.
    pub fn budget(&self) -> String {
        let job_set = self.job_set;
        let Some(max) = job_set.max_restarts() else {
            return "no failurePolicy: the first Job that fails, fails the JobSet".to_owned();
        };
        let counted = job_set.counted_restarts();
        let all = job_set.restarts.saturating_add(job_set.job_restarts().0);
        match all.saturating_sub(counted) {
            0 => format!("{counted} of {max} counted restarts used"),
            more => format!("{counted} of {max} counted restarts used, {more} more uncounted"),
        }
    }

    /// What the attempts that ended held, and whether that is not all, as it is not known of some.
    fn spent(&self) -> (f64, bool) {
        let goes_on = |outcome| {
            matches!(
                outcome,
                AttemptOutcome::Running
                    | AttemptOutcome::Restarting
                    | AttemptOutcome::Suspended
                    | AttemptOutcome::JobRestarted
            )
        };
        let ended = || self.attempts.iter().filter(|attempt| !goes_on(attempt.outcome));
        (total(ended().filter_map(|attempt| attempt.gpu_seconds)), ended().any(|attempt| attempt.gpu_seconds.is_none()))
    }

    /// How many counted restarts were used after each attempt, reckoned back from the counters; `None` where Events are
    /// newer than these, and where it is not known which attempt it was.
    fn counted_so_far(&self) -> Vec<Option<u32>> {
        let counts = |attempt: &Attempt| if attempt.counted() == Some(true) { attempt.count } else { 0 };
        let told: u64 = self.attempts.iter().map(|attempt| u64::from(counts(attempt))).sum();
        let counted = self.job_set.counted_restarts();
        let mut left = Some(counted).filter(|counted| u64::from(*counted) >= told);
        let mut used: Vec<Option<u32>> = Vec::new();
        for attempt in self.attempts.iter().rev() {
            let is_certain = attempt.counted().is_some() && attempt.through == attempt.number;
            used.push(left.filter(|_| is_certain));
            left = left.and_then(|left| left.checked_sub(counts(attempt)));
        }
        used.reverse();
        used
    }

    fn attempt_report(&self, attempt: &Attempt) -> AttemptReport {
        let decision = attempt.decision.as_ref();
        let text = |text: Option<&str>| text.map(str::to_owned);
        AttemptReport {
            attempt: attempt.number,
            through: (attempt.through != attempt.number).then_some(attempt.through),
            outcome: attempt.outcome,
            count: attempt.count,
            started_at: attempt.started,
            ended_at: attempt.ended,
            rule: decision.map(|_| job_set_rule(self, attempt)),
            counted: attempt.counted(),
            counted_so_far: None,
            job: text(decision.and_then(|decision| decision.job)),
            job_uid: decision.and_then(|decision| decision.uid).map(ToString::to_string),
            reason: text(decision.and_then(|decision| decision.failure).map(|(reason, _)| reason)),
            message: text(decision.and_then(|decision| decision.failure).map(|(_, message)| message)),
            pod_rule: decision.and_then(|decision| self.pod_rule(decision)),
            pod: text(decision.and_then(|decision| decision.pod)),
            pod_by_elimination: decision.is_some_and(|decision| decision.by_elimination),
            container: text(decision.and_then(|decision| decision.container).map(|(container, _)| container)),
            exit_code: decision.and_then(|decision| decision.container).map(|(_, code)| code),
            condition: text(decision.and_then(|decision| decision.condition)),
            said: decision.and_then(|decision| telling_line(decision.said.as_deref()?)).map(str::to_owned),
            node: text(decision.and_then(|decision| decision.node)),
            earliest_job: text(decision.and_then(|decision| decision.earlier)),
            gpu_seconds: attempt.gpu_seconds,
            missing: attempt.missing.clone(),
        }
    }

    /// The rule of the Job's `podFailurePolicy` that led to a decision.
    pub(crate) fn pod_rule(&self, decision: &Decision) -> Option<FailureRule> {
        let (index, policy) = (decision.pod_rule?, decision.pod_policy?);
        let rule = policy.rules.get(index)?;
        let replicated = decision.job.and_then(|job| self.job_set.replicated_job_of(job));
        let names = replicated.and_then(|replicated| replicated.rule_names.as_deref());
        let label = label(rule, index, names.or(self.job_set.rule_names.as_deref())).label.into_owned();
        Some(FailureRule { index, label, action: rule.action.to_string() })
    }
}
