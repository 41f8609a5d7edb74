//! The failure policy of a `JobSet`, as its controller evaluates it.
//!
//! Source: `pkg/controllers/failure_policy.go` of JobSet v0.12 (KEP-262). Releases before it lack message patterns (v0.10) and
//! the actions on single Jobs (v0.12), and judge the rest alike.

use super::Patterns;
use super::go_pattern::PatternError;
use crate::model::{FailurePolicy, FailurePolicyRule, JobSetAction, Time, Word};

/// A child Job that has failed, as far as a failure policy looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedJob<'a> {
    /// Label `jobset.sigs.k8s.io/replicatedjob-name`. Without it no rule applies.
    pub replicated_job: Option<&'a str>,
    /// Reason of the condition `Failed`.
    pub reason: &'a str,
    /// Message of the condition `Failed`.
    pub message: &'a str,
    /// When the condition `Failed` became true.
    pub at: Option<Time>,
}

/// What a failure policy makes of the failed Jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Index of the rule; `None` for the default, `RestartJobSet`.
    pub rule: Option<usize>,
    /// The action.
    pub action: JobSetAction,
    /// Indexes of the Jobs that the controller may call the first failed one: the oldest, and those of the same second, of
    /// which it takes the one that its cache lists first.
    pub jobs: Vec<usize>,
}

/// Which rule the controller applies, as `findFirstFailedPolicyRuleAndJob` finds it: the first rule, in their order, that
/// applies to any failed Job, whichever failed first; of the Jobs it applies to, the oldest. `None` where no Job failed,
/// and where a rule before it cannot be judged.
pub fn choose(policy: &FailurePolicy, failed: &[FailedJob]) -> Option<Choice> {
    if failed.is_empty() {
        return None;
    }
    for (index, rule) in policy.rules.iter().enumerate() {
        let applicable: Vec<bool> = failed.iter().map(|job| applies(rule, *job)).collect::<Option<_>>()?;
        let jobs: Vec<usize> = (0..failed.len()).filter(|job| applicable[*job]).collect();
        if !jobs.is_empty() {
            return Some(Choice { rule: Some(index), action: rule.action.clone(), jobs: oldest(failed, &jobs) });
        }
    }
    let all: Vec<usize> = (0..failed.len()).collect();
    Some(Choice { rule: None, action: JobSetAction::RestartJobSet, jobs: oldest(failed, &all) })
}

/// The rule under which the controller acted on a Job that it names: the first one that applies to it, `Some(None)` for
/// the default. A rule before it that applied to another Job would have named that one. `None` where a rule cannot be
/// judged.
pub fn rule_for(policy: &FailurePolicy, named: FailedJob, patterns: &Patterns) -> Option<Option<usize>> {
    for (index, rule) in policy.rules.iter().enumerate() {
        if judge(rule, named, patterns).applies()? {
            return Some(Some(index));
        }
    }
    Some(None)
}

/// Whether a rule applies to a failed Job (`ruleIsApplicable`); `None` where that cannot be judged.
pub fn applies(rule: &FailurePolicyRule, job: FailedJob) -> Option<bool> {
    judge(rule, job, &Patterns::default()).applies()
}

/// Why a rule does not apply to a failed Job; `None` where it does. Said after `rule 0 not matched: `.
pub fn why_not(rule: &FailurePolicyRule, job: FailedJob) -> Option<String> {
    match judge(rule, job, &Patterns::default()) {
        Verdict::Applies => None,
        Verdict::DoesNot(why) | Verdict::Unknown(why) => Some(why),
    }
}

enum Verdict {
    Applies,
    DoesNot(String),
    Unknown(String),
}

impl Verdict {
    fn applies(&self) -> Option<bool> {
        match self {
            Self::Applies => Some(true),
            Self::DoesNot(_) => Some(false),
            Self::Unknown(_) => None,
        }
    }
}

fn judge(rule: &FailurePolicyRule, job: FailedJob, patterns: &Patterns) -> Verdict {
    let list = |words: &[Word]| words.iter().map(|word| &**word).collect::<Vec<_>>().join(", ");
    if !rule.reasons.is_empty() && !rule.reasons.iter().any(|reason| **reason == *job.reason) {
        return Verdict::DoesNot(format!("the Job's reason {} is not in [{}]", job.reason, list(&rule.reasons)));
    }
    let Some(replicated_job) = job.replicated_job.filter(|name| !name.is_empty()) else {
        return Verdict::DoesNot("the Job has no label jobset.sigs.k8s.io/replicatedjob-name".to_owned());
    };
    if !rule.targets.is_empty() && !rule.targets.iter().any(|target| **target == *replicated_job) {
        return Verdict::DoesNot(format!("replicated Job {replicated_job} is not in [{}]", list(&rule.targets)));
    }
    if rule.patterns.is_empty() {
        return Verdict::Applies;
    }
    let (mut invalid, mut too_large) = (0, None);
    for pattern in &rule.patterns {
        match patterns.is_match(pattern, job.message) {
            Ok(true) => return Verdict::Applies,
            Ok(false) => {}
            Err(PatternError::Refused(_)) => invalid += 1,
            Err(PatternError::TooLarge(how)) => too_large = Some(how),
        }
    }
    if let Some(how) = too_large {
        return Verdict::Unknown(format!("a pattern is too large to judge: {how}"));
    }
    // A pattern that is none is logged by the controller and passed over.
    let invalid = if invalid > 0 { format!("; invalid patterns, passed over: {invalid}") } else { String::new() };
    Verdict::DoesNot(format!("the Job's message matches none of [{}]{invalid}", list(&rule.patterns)))
}

/// What a rule asks for, in a few words: `PodFailurePolicy, /exit code 42/, workers`; `any failure`.
pub fn asks_for(rule: &FailurePolicyRule) -> String {
    let or = |words: Vec<String>| words.join(" or ");
    let mut parts = Vec::new();
    if !rule.reasons.is_empty() {
        parts.push(or(rule.reasons.iter().map(ToString::to_string).collect()));
    }
    if !rule.patterns.is_empty() {
        parts.push(or(rule.patterns.iter().map(|pattern| format!("/{pattern}/")).collect()));
    }
    if !rule.targets.is_empty() {
        parts.push(format!("in {}", or(rule.targets.iter().map(ToString::to_string).collect())));
    }
    if parts.is_empty() { "any failure".to_owned() } else { parts.join(", ") }
}

/// The oldest of some Jobs by whole seconds, which is all that conditions tell; one without a time is not older than
/// another.
fn oldest(failed: &[FailedJob], jobs: &[usize]) -> Vec<usize> {
    let second = |job: &usize| failed[*job].at.map_or(i64::MAX, Time::seconds);
    let first = jobs.iter().map(second).min();
    jobs.iter().copied().filter(|job| Some(second(job)) == first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXIT_42: &str = "Container trainer for pod ns/a-0 failed with exit code 42 matching FailJob rule at index 1";
    const BACKOFF: &str = "Job has reached the specified backoff limit";

    fn rule(action: &str, reasons: &[&str], patterns: &[&str], targets: &[&str]) -> FailurePolicyRule {
        let words = |texts: &[&str]| texts.iter().map(|text| Word::from(*text)).collect();
        FailurePolicyRule {
            name: "r".into(),
            action: JobSetAction::parse(action),
            reasons: words(reasons),
            patterns: words(patterns),
            targets: words(targets),
        }
    }

    fn failed<'a>(replicated_job: &'a str, reason: &'a str, message: &'a str, second: i64) -> FailedJob<'a> {
        FailedJob { replicated_job: Some(replicated_job), reason, message, at: Some(Time::from_seconds(second)) }
    }

    fn policy(rules: Vec<FailurePolicyRule>) -> FailurePolicy {
        FailurePolicy { max_restarts: 1, restart_strategy: "Recreate".into(), rules: rules.into() }
    }

    fn chosen(rules: Vec<FailurePolicyRule>, jobs: &[FailedJob]) -> (Option<usize>, String, Vec<usize>) {
        let choice = choose(&policy(rules), jobs).unwrap();
        (choice.rule, choice.action.to_string(), choice.jobs)
    }

    #[test]
    fn rule_order_beats_time() {
        let rules = vec![
            rule("FailJobSet", &["PodFailurePolicy"], &[], &[]),
            rule("RestartJobSet", &["BackoffLimitExceeded"], &[], &[]),
        ];
        let jobs = [failed("a", "BackoffLimitExceeded", BACKOFF, 1), failed("b", "PodFailurePolicy", EXIT_42, 9)];
        assert_eq!(chosen(rules, &jobs), (Some(0), "FailJobSet".into(), vec![1]));
    }

    #[test]
    fn of_the_jobs_a_rule_applies_to_the_oldest_is_named_and_ties_within_a_second_are_told() {
        let rules = || vec![rule("FailJobSet", &["PodFailurePolicy"], &[], &[])];
        let later = |second| failed("a", "PodFailurePolicy", EXIT_42, second);
        assert_eq!(chosen(rules(), &[later(7), later(5), later(6)]), (Some(0), "FailJobSet".into(), vec![1]));
        assert_eq!(chosen(rules(), &[later(7), later(5), later(5)]).2, [1, 2]);
    }

    #[test]
    fn without_a_rule_that_applies_all_jobs_are_made_anew_for_the_oldest() {
        let jobs = [failed("a", "DeadlineExceeded", "", 4), failed("a", "BackoffLimitExceeded", BACKOFF, 3)];
        let restart = || (None, "RestartJobSet".to_owned(), vec![1]);
        assert_eq!(chosen(vec![], &jobs), restart());
        assert_eq!(chosen(vec![rule("FailJobSet", &["PodFailurePolicy"], &[], &[])], &jobs), restart());
        assert_eq!(choose(&policy(vec![]), &[]), None);
    }

    #[test]
    fn a_rule_applies_only_where_all_that_it_asks_for_holds() {
        let job = failed("workers", "PodFailurePolicy", EXIT_42, 1);
        for (rule, why) in [
            (rule("FailJobSet", &[], &[], &[]), None),
            (rule("FailJobSet", &["PodFailurePolicy", "FailedIndexes"], &["exit code 42"], &["workers"]), None),
            (rule("FailJobSet", &[], &["(", "exit code \\d+ matching"], &[]), None),
            (
                rule("FailJobSet", &["FailedIndexes", "MaxFailedIndexesExceeded"], &[], &[]),
                Some("the Job's reason PodFailurePolicy is not in [FailedIndexes, MaxFailedIndexesExceeded]"),
            ),
            (
                rule("FailJobSet", &["podfailurepolicy"], &[], &[]),
                Some("the Job's reason PodFailurePolicy is not in [podfailurepolicy]"),
            ),
            (rule("FailJobSet", &[], &["^exit code"], &[]), Some("the Job's message matches none of [^exit code]")),
            (
                rule("FailJobSet", &[], &["("], &[]),
                Some("the Job's message matches none of [(]; invalid patterns, passed over: 1"),
            ),
            (rule("FailJobSet", &[], &[], &["driver"]), Some("replicated Job workers is not in [driver]")),
        ] {
            assert_eq!(why_not(&rule, job).as_deref(), why, "{}", asks_for(&rule));
        }
        let unlabelled = FailedJob { replicated_job: None, ..job };
        assert!(why_not(&rule("FailJobSet", &[], &[], &[]), unlabelled).is_some(), "not even an empty rule applies");
    }

    #[test]
    fn kep_4443_reasons_do_not_match_the_reason_of_today() {
        let today = rule("FailJobSet", &["PodFailurePolicy"], &[], &[]);
        assert_eq!(applies(&today, failed("a", "PodFailurePolicy_userError", EXIT_42, 1)), Some(false));
        let by_message = rule("FailJobSet", &[], &["exit code 42"], &[]);
        assert_eq!(applies(&by_message, failed("a", "PodFailurePolicy_x", EXIT_42, 1)), Some(true));
    }

    #[test]
    fn the_rule_of_a_named_job_is_the_first_that_applies_to_it() {
        let rules = policy(vec![
            rule("FailJobSet", &[], &[], &["driver"]),
            rule("RestartJob", &["BackoffLimitExceeded"], &[], &[]),
            rule("RestartJobSet", &[], &[], &[]),
        ]);
        assert_eq!(
            rule_for(&rules, failed("workers", "BackoffLimitExceeded", BACKOFF, 1), &Patterns::default()),
            Some(Some(1))
        );
        assert_eq!(
            rule_for(&rules, failed("driver", "BackoffLimitExceeded", BACKOFF, 1), &Patterns::default()),
            Some(Some(0))
        );
        assert_eq!(rule_for(&policy(vec![]), failed("driver", "x", "", 1), &Patterns::default()), Some(None));
    }

    #[test]
    fn behind_a_rule_that_cannot_be_judged_nothing_is_told() {
        let long = "a".repeat(20_000);
        let rules = policy(vec![rule("FailJobSet", &[], &[&long], &[]), rule("RestartJobSet", &[], &[], &[])]);
        let job = failed("workers", "BackoffLimitExceeded", BACKOFF, 1);
        assert_eq!((rule_for(&rules, job, &Patterns::default()), choose(&rules, &[job])), (None, None));
        assert!(why_not(&rules.rules[0], job).unwrap().contains("too large to judge"));
    }

    #[test]
    fn what_a_rule_asks_for_is_told_in_a_few_words() {
        for (rule, words) in [
            (rule("FailJobSet", &[], &[], &[]), "any failure"),
            (
                rule("FailJobSet", &["PodFailurePolicy", "FailedIndexes"], &["exit code 42"], &["a", "b"]),
                "PodFailurePolicy or FailedIndexes, /exit code 42/, in a or b",
            ),
        ] {
            assert_eq!(asks_for(&rule), words);
        }
    }
}
