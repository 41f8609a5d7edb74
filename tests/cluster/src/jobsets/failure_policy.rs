//! The failure policy of a JobSet, evaluated anew from its documentation and from what `pkg/controllers/failure_policy.go`
//! of JobSet does. It shares no code with the tool, so that the two can be wrong in different ways only.

use serde_json::Value;

use crate::api::{array, number, text};

/// A child Job of the present attempt with the condition Failed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FailedJob {
    pub(crate) uid: String,
    pub(crate) name: String,
    pub(crate) replicated_job: String,
    /// Those of its condition.
    pub(crate) reason: String,
    pub(crate) message: String,
    /// When the condition came, in whole seconds; RFC 3339 in UTC sorts as it reads.
    pub(crate) failed_at: String,
    /// The revision at which the condition was first seen.
    pub(crate) version: u64,
}

/// What of the policy spoke.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Chosen {
    NoPolicy,
    Default,
    Rule(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effect {
    /// All Jobs are recreated.
    Restart { counted: bool },
    /// One Job is recreated, behind the gate `RestartJob`.
    RestartJob { counted: bool },
    /// The JobSet fails, for this reason.
    Fail(&'static str),
}

#[derive(Debug)]
pub(crate) struct Verdict<'a> {
    pub(crate) chosen: Chosen,
    pub(crate) effect: Effect,
    /// Whom the controller may call the first failed Job: all that failed in the first second, as it lists Jobs in no
    /// certain order.
    pub(crate) jobs: Vec<&'a FailedJob>,
}

/// Whether a pattern is found in a message, as Go's regexp finds it.
pub(crate) type Matches = fn(&str, &str) -> bool;

/// What follows from the failures seen together. `used` is how many restarts have counted so far, of the JobSet and of
/// single Jobs; there must be a failure.
pub(crate) fn decide<'a>(
    policy: Option<&Value>,
    used: i64,
    failed: &[&'a FailedJob],
    matches: Matches,
) -> Option<Verdict<'a>> {
    let Some(policy) = policy else {
        return Some(Verdict { chosen: Chosen::NoPolicy, effect: Effect::Fail("FailedJobs"), jobs: oldest(failed)? });
    };
    // The order of rules goes before that of failures.
    for (index, rule) in array(policy, "/rules").iter().enumerate() {
        let under: Vec<_> = failed.iter().filter(|job| applies(rule, job, matches)).copied().collect();
        if let Some(jobs) = oldest(&under) {
            let effect = effect(text(rule, "/action"), used, number(policy, "/maxRestarts"))?;
            return Some(Verdict { chosen: Chosen::Rule(index), effect, jobs });
        }
    }
    let effect = effect(DEFAULT_ACTION, used, number(policy, "/maxRestarts"))?;
    Some(Verdict { chosen: Chosen::Default, effect, jobs: oldest(failed)? })
}

/// That of failures without a rule, where there is a policy.
pub(crate) const DEFAULT_ACTION: &str = "RestartJobSet";

fn effect(action: &str, used: i64, max: i64) -> Option<Effect> {
    let left = used < max;
    Some(match action {
        "FailJobSet" => Effect::Fail("FailJobSetFailurePolicyAction"),
        "RestartJobSet" if left => Effect::Restart { counted: true },
        "RestartJob" if left => Effect::RestartJob { counted: true },
        "RestartJobSet" | "RestartJob" => Effect::Fail("ReachedMaxRestarts"),
        "RestartJobSetAndIgnoreMaxRestarts" => Effect::Restart { counted: false },
        "RestartJobAndIgnoreMaxRestarts" => Effect::RestartJob { counted: false },
        _ => return None,
    })
}

/// All that a rule names must hold; what it does not name holds.
fn applies(rule: &Value, job: &FailedJob, matches: Matches) -> bool {
    let among = |list: &str, value: &str| {
        let list = array(rule, list);
        list.is_empty() || list.iter().any(|item| item == value)
    };
    let patterns = array(rule, "/onJobFailureMessagePatterns");
    let said =
        patterns.is_empty() || patterns.iter().filter_map(Value::as_str).any(|pattern| matches(pattern, &job.message));
    among("/onJobFailureReasons", &job.reason)
        && said
        && !job.replicated_job.is_empty()
        && among("/targetReplicatedJobs", &job.replicated_job)
}

fn oldest<'a>(failed: &[&'a FailedJob]) -> Option<Vec<&'a FailedJob>> {
    let first = failed.iter().map(|job| &job.failed_at).min()?;
    Some(failed.iter().filter(|job| job.failed_at == *first).copied().collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(name: &str, reason: &str, message: &str, second: u32) -> FailedJob {
        FailedJob {
            uid: format!("uid-of-{name}"),
            name: name.to_owned(),
            replicated_job: name.split('-').next().unwrap_or_default().to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            failed_at: format!("2026-12-01T10:00:{second:02}Z"),
            version: u64::from(second),
        }
    }

    fn found_in(pattern: &str, message: &str) -> bool {
        message.contains(pattern)
    }

    /// The choice, the effect and the Jobs' names.
    fn decided(policy: &Value, used: i64, failed: &[FailedJob]) -> (Chosen, Effect, Vec<String>) {
        let failed: Vec<_> = failed.iter().collect();
        let policy = Some(policy).filter(|policy| !policy.is_null());
        let verdict = decide(policy, used, &failed, found_in).expect("a failure was given");
        (verdict.chosen, verdict.effect, verdict.jobs.iter().map(|job| job.name.clone()).collect())
    }

    #[test]
    fn without_a_policy_the_first_failure_is_the_end() {
        let failed = [job("b-0", "BackoffLimitExceeded", "", 2), job("a-0", "BackoffLimitExceeded", "", 1)];
        let expected = (Chosen::NoPolicy, Effect::Fail("FailedJobs"), vec!["a-0".to_owned()]);
        assert_eq!(decided(&Value::Null, 0, &failed), expected);
    }

    #[test]
    fn an_earlier_rule_goes_before_an_earlier_failure() {
        let policy = json!({"maxRestarts": 1, "rules": [
            {"action": "RestartJobSetAndIgnoreMaxRestarts", "targetReplicatedJobs": ["b"]},
            {"action": "FailJobSet"},
        ]});
        let failed = [job("a-0", "BackoffLimitExceeded", "", 1), job("b-0", "BackoffLimitExceeded", "", 9)];
        let expected = (Chosen::Rule(0), Effect::Restart { counted: false }, vec!["b-0".to_owned()]);
        assert_eq!(decided(&policy, 1, &failed), expected);
    }

    #[test]
    fn all_that_a_rule_names_must_hold() {
        let rule = json!({
            "action": "FailJobSet", "onJobFailureReasons": ["PodFailurePolicy"],
            "onJobFailureMessagePatterns": ["exit code 1", "exit code 42"], "targetReplicatedJobs": ["a"],
        });
        let applies = |job: &FailedJob| applies(&rule, job, found_in);
        assert!(applies(&job("a-0", "PodFailurePolicy", "with exit code 42 matching", 1)));
        assert!(!applies(&job("a-0", "BackoffLimitExceeded", "with exit code 42 matching", 1)));
        assert!(!applies(&job("a-0", "PodFailurePolicy", "has condition DisruptionTarget", 1)));
        assert!(!applies(&job("b-0", "PodFailurePolicy", "with exit code 42 matching", 1)));
    }

    #[test]
    fn what_counts_ends_at_the_maximum_and_what_does_not_goes_on() {
        let failed = [job("a-0", "BackoffLimitExceeded", "", 1)];
        let after =
            |action: &str, used| decided(&json!({"maxRestarts": 1, "rules": [{"action": action}]}), used, &failed).1;
        assert_eq!(after("RestartJobSet", 0), Effect::Restart { counted: true });
        assert_eq!(after("RestartJobSet", 1), Effect::Fail("ReachedMaxRestarts"));
        assert_eq!(after("RestartJob", 1), Effect::Fail("ReachedMaxRestarts"));
        assert_eq!(after("RestartJobAndIgnoreMaxRestarts", 1), Effect::RestartJob { counted: false });
        assert_eq!(decided(&json!({}), 0, &failed).1, Effect::Fail("ReachedMaxRestarts"));
    }

    #[test]
    fn failures_of_one_second_have_no_order() {
        let failed = [job("a-0", "X", "", 3), job("b-0", "X", "", 3), job("c-0", "X", "", 4)];
        let (chosen, _, jobs) = decided(&json!({"maxRestarts": 1}), 0, &failed);
        assert_eq!((chosen, jobs), (Chosen::Default, vec!["a-0".to_owned(), "b-0".to_owned()]));
    }
}
