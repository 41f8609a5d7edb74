//! Whether the controller did what its documentation says, and said everywhere that it did so. What is then compared
//! with the tool rests on this.

use crate::jobsets::decisions::Said;
use crate::jobsets::failure_policy::{Chosen, Effect, FailedJob, Matches, Verdict, decide};
use crate::jobsets::history::{Decision, History, action, rule_label};

/// What does not fit together; empty when all does.
pub(crate) fn contradictions(history: &History, matches: Matches) -> Vec<String> {
    let found = history.decisions.iter().flat_map(|decision| {
        let mut found = Vec::new();
        found.extend(not_documented(history, decision, matches));
        found.extend(not_announced(history, decision));
        let about = |what| format!("attempt {}, {:?}: {what}", decision.attempt, decision.written.effect);
        found.into_iter().map(about).collect::<Vec<_>>()
    });
    found.collect()
}

/// The evaluation of what was watched, against the log, the counters and the Job that the controller names.
fn not_documented(history: &History, decision: &Decision, matches: Matches) -> Option<String> {
    let policy = history.jobset.pointer("/spec/failurePolicy");
    let Some(chosen) = decision.chosen else { return Some("the log has no such decision".to_owned()) };
    let fits = |verdict: &Verdict| {
        verdict.chosen == chosen
            && verdict.effect == decision.written.effect
            && verdict.jobs.iter().any(|job| job.name == decision.written.job)
    };
    let failed: Vec<&FailedJob> = decision.failed.iter().collect();
    // The controller may not have seen the last of them yet.
    let seen = (1..=failed.len()).rev().map(|count| &failed[..count]);
    let mut verdicts = seen.filter_map(|failed| decide(policy, decision.used, failed, matches));
    if verdicts.any(|verdict| fits(&verdict)) {
        return None;
    }
    let expected = decide(policy, decision.used, &failed, matches);
    Some(format!("the log says {chosen:?}, first failed {}; expected {expected:?}", decision.written.job))
}

/// Events and condition, against the decision.
fn not_announced(history: &History, decision: &Decision) -> Vec<String> {
    let Decision { written, events, .. } = decision;
    let reason = if let Effect::Fail(reason) = written.effect {
        reason.to_owned()
    } else {
        let action = decision.chosen.and_then(|chosen| action(&history.jobset, chosen)).unwrap_or_default();
        format!("{action}FailurePolicyAction")
    };
    let mut found = Vec::new();
    match events.iter().find(|event| event.reason == reason) {
        Some(event) => found.extend(misnamed(event, &written.job)),
        None => found.push(format!("no Event {reason} about version {}, but {events:?}", decision.version)),
    }
    if let Some(condition) = &written.condition {
        found.extend(misnamed(condition, &written.job));
        let cause = match (written.effect, decision.chosen) {
            (Effect::Restart { .. }, Some(chosen @ Chosen::Rule(_))) => {
                format!("FailurePolicy_{}", rule_label(&history.jobset, chosen))
            }
            (Effect::Restart { .. }, _) => "DefaultFailurePolicy".to_owned(),
            _ => reason,
        };
        if condition.reason != cause {
            found.push(format!("the condition's reason is {}, not {cause}", condition.reason));
        }
    }
    found
}

fn misnamed(said: &Said, job: &str) -> Option<String> {
    (said.first_failed_job() != Some(job)).then(|| format!("the first failed Job is not {job} in: {}", said.message))
}
