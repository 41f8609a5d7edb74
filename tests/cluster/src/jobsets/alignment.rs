//! What the tool tells of a JobSet, beside what was watched of it, attempt by attempt.

use crate::api::{number, text};
use crate::jobsets::beside::beside;
use crate::jobsets::history::{Decision, History};
use crate::jobsets::told::{Entry, Told};

/// All that is wrong; empty when the tool told nothing but what was watched.
pub(crate) fn errors(told: &Told, history: &History) -> Vec<String> {
    let mut found = counters(told, history);
    let expected = history.decisions.iter().map(Some).chain(history.present().map(|_| None)).collect();
    found.extend(Alignment { told: &told.attempts, expected, history }.least_wrong());
    if told.attempts.last().is_some_and(Entry::is_unknown) {
        found.push("the last attempt is unknown, though it is in the status".to_owned());
    }
    found
}

fn counters(told: &Told, history: &History) -> Vec<String> {
    let jobset = &history.jobset;
    let policy = jobset.pointer("/spec/failurePolicy");
    let mut found = Vec::new();
    let mut same = |name: &str, told: &dyn std::fmt::Debug, known: &dyn std::fmt::Debug| {
        let (told, known) = (format!("{told:?}"), format!("{known:?}"));
        if told != known {
            found.push(format!("{name}: told {told}, but it is {known}"));
        }
    };
    same("restarts", &told.restarts, &number(jobset, "/status/restarts"));
    let counted = number(jobset, "/status/restartsCountTowardsMax");
    same("restartsCountTowardsMax", &told.restarts_count_towards_max, &counted);
    same("maxRestarts", &told.max_restarts, &policy.map(|policy| number(policy, "/maxRestarts")));
    if let Some(policy) = policy {
        let strategy = Some(text(policy, "/restartStrategy")).filter(|strategy| !strategy.is_empty());
        same("restartStrategy", &told.restart_strategy.as_deref(), &Some(strategy.unwrap_or("Recreate")));
    }
    found
}

/// An expected entry without a decision is the attempt that goes on or ended well.
type Expected<'a> = Option<&'a Decision>;

/// What is wrong, and how much that weighs.
#[derive(Clone, Default)]
struct Wrong {
    weight: usize,
    found: Vec<String>,
}

/// An entry or a decision without its counterpart: worse than any one that is told wrongly.
const ALONE: usize = 100;

impl Wrong {
    /// With what is wrong about all that follows.
    fn before(mut self, rest: &Self) -> Self {
        self.weight += rest.weight;
        self.found.extend_from_slice(&rest.found);
        self
    }

    fn alone(what: String) -> Self {
        Self { weight: ALONE, found: vec![what] }
    }

    fn of(found: Vec<String>) -> Self {
        Self { weight: found.len(), found }
    }
}

/// Lays what is told beside what happened, in the way that leaves the least wrong: unknown attempts may stand for several
/// decisions, and one that is not told must not make all that follows wrong.
struct Alignment<'a> {
    told: &'a [Entry],
    expected: Vec<Expected<'a>>,
    history: &'a History,
}

impl Alignment<'_> {
    fn least_wrong(&self) -> Vec<String> {
        // By how many entries and decisions come before; the last of both are laid out first.
        let mut wrong = vec![vec![Wrong::default(); self.expected.len() + 1]; self.told.len() + 1];
        for entry in (0..=self.told.len()).rev() {
            for next in (0..=self.expected.len()).rev() {
                let least = self.ways(entry, next, &wrong).into_iter().min_by_key(|way| way.weight);
                wrong[entry][next] = least.unwrap_or_default();
            }
        }
        wrong.swap_remove(0).swap_remove(0).found
    }

    /// What can be made of the entry and the decision, each with the best that can be made of the rest.
    fn ways(&self, entry: usize, next: usize, wrong: &[Vec<Wrong>]) -> Vec<Wrong> {
        let (told, expected) = (self.told.get(entry), self.expected.get(next).copied());
        let mut ways = Vec::new();
        if let Some(told) = told {
            let what = format!("nothing of the kind happened: {told}");
            ways.push(Wrong::alone(what).before(&wrong[entry + 1][next]));
        }
        if let Some(expected) = expected {
            let what = format!("attempt {}: nothing is told of its end", self.attempt(expected));
            let untold = if self.is_told_elsewhere(expected) { Wrong::default() } else { Wrong::alone(what) };
            ways.push(untold.before(&wrong[entry][next + 1]));
        }
        match (told, expected) {
            (Some(told), Some(_)) if told.is_unknown() => {
                let covered = self.expected[next..].iter().take_while(|expected| told.covers(self.attempt(**expected)));
                let silent = told.missing.is_empty().then(|| format!("unknown, and no word on why: {told}"));
                let silent = Wrong::of(silent.into_iter().collect());
                let fewest = usize::from(!told.is_of_single_jobs());
                ways.extend(
                    (fewest..=covered.count()).map(|count| silent.clone().before(&wrong[entry + 1][next + count])),
                );
            }
            (Some(told), Some(expected)) if self.is_about(told, expected) => {
                let found = match expected {
                    Some(decision) => beside(told, decision, self.history),
                    None => present(told),
                };
                let named = |what| format!("attempt {}: {what}; told: {told}", told.attempt);
                let found = Wrong::of(found.into_iter().map(named).collect());
                ways.push(found.before(&wrong[entry + 1][next + 1]));
            }
            _ => {}
        }
        ways
    }

    /// Whether an entry that stands for several restarts of single Jobs has room for this one.
    fn is_told_elsewhere(&self, expected: Expected) -> bool {
        let of_job = expected.filter(|decision| decision.outcome() == "jobRestarted");
        of_job.is_some_and(|decision| {
            self.told.iter().any(|entry| entry.is_of_single_jobs() && entry.covers(decision.attempt))
        })
    }

    fn attempt(&self, expected: Expected) -> i64 {
        expected.map_or(number(&self.history.jobset, "/status/restarts"), |decision| decision.attempt)
    }

    /// Whether the two can be compared at all.
    fn is_about(&self, told: &Entry, expected: Expected) -> bool {
        let outcome = expected.map_or(self.history.present(), |decision| Some(decision.outcome()));
        told.attempt == self.attempt(expected) && Some(told.outcome.as_str()) == outcome
    }
}

fn present(told: &Entry) -> Vec<String> {
    let decided = told.rule.is_some() || told.counted == Some(true);
    decided.then(|| "nothing was decided yet".to_owned()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::*;
    use crate::jobsets::decisions::Written;
    use crate::jobsets::failure_policy::{Chosen, Effect, FailedJob};

    fn failed(name: &str, second: u32) -> FailedJob {
        FailedJob {
            uid: format!("uid-of-{name}"),
            name: name.to_owned(),
            replicated_job: "a".to_owned(),
            reason: "BackoffLimitExceeded".to_owned(),
            message: "Job has reached the specified backoff limit".to_owned(),
            failed_at: format!("2026-12-01T10:00:{second:02}Z"),
            version: u64::from(second),
        }
    }

    /// By the default rule, in each attempt.
    fn history(restarts: i64) -> History {
        let decision = |attempt| Decision {
            attempt,
            written: Written { effect: Effect::Restart { counted: true }, job: "a-0".to_owned(), condition: None },
            chosen: Some(Chosen::Default),
            used: attempt,
            version: 9,
            at: Timestamp::UNIX_EPOCH,
            begun: Timestamp::UNIX_EPOCH,
            failed: vec![failed("a-0", 2)],
            began: std::collections::BTreeMap::new(),
            events: Vec::new(),
            pods: Vec::new(),
        };
        let status = json!({"restarts": restarts, "restartsCountTowardsMax": restarts});
        let jobset = json!({"spec": {"failurePolicy": {"maxRestarts": 9}}, "status": status});
        History { jobset, decisions: (0..restarts).map(decision).collect() }
    }

    fn told(restarts: i64, attempts: &Value) -> Told {
        let told = json!({
            "restarts": restarts, "restartsCountTowardsMax": restarts, "maxRestarts": 9, "restartStrategy": "Recreate",
            "attempts": attempts,
        });
        serde_json::from_value(told).expect("written here")
    }

    fn restarted(attempt: i64) -> Value {
        json!({
            "attempt": attempt, "outcome": "restarted", "counted": true, "rule": {"label": "(default)", "action": "RestartJobSet"},
            "job": "a-0", "jobUid": "uid-of-a-0", "reason": "BackoffLimitExceeded",
            "message": "Job has reached the specified backoff limit",
        })
    }

    fn found(attempts: &Value, restarts: i64) -> Vec<String> {
        errors(&told(restarts, attempts), &history(restarts))
    }

    #[test]
    fn what_was_watched_is_right() {
        let attempts = json!([restarted(0), restarted(1), {"attempt": 2, "outcome": "running"}]);
        assert_eq!(found(&attempts, 2), Vec::<String>::new());
    }

    #[test]
    fn unknown_stands_for_several_and_must_say_why() {
        let unknown = |missing: &[&str]| {
            let unknown = json!({"attempt": 0, "through": 1, "outcome": "unknown", "missing": missing});
            found(&json!([unknown, restarted(2), {"attempt": 3, "outcome": "running"}]), 3)
        };
        assert_eq!(unknown(&["Events have expired"]), Vec::<String>::new());
        assert_eq!(unknown(&[]).len(), 1);
    }

    #[test]
    fn restarts_of_single_jobs_may_lie_behind_what_is_told() {
        let mut history = history(2);
        history.jobset["status"] = json!({"restarts": 1, "restartsCountTowardsMax": 1});
        history.decisions[1].written.effect = Effect::RestartJob { counted: true };
        let found = |through: i64| {
            let missing = ["1 restart of a single Job: Events expired"];
            let unknown = json!({"attempt": 0, "through": through, "outcome": "unknown", "missing": missing});
            let attempts = json!([unknown, restarted(0), {"attempt": 1, "outcome": "running"}]);
            errors(&told(1, &attempts), &history)
        };
        assert_eq!(found(1), Vec::<String>::new());
        assert_eq!(found(0), ["attempt 1: nothing is told of its end"]);
    }

    #[test]
    fn an_attempt_left_out_is_missed() {
        let left_out = found(&json!([restarted(0), {"attempt": 2, "outcome": "running"}]), 2);
        assert_eq!(left_out, ["attempt 1: nothing is told of its end"]);
        assert_eq!(found(&json!([restarted(0), restarted(1)]), 2), ["attempt 2: nothing is told of its end"]);
    }

    #[test]
    fn a_value_left_out_is_excused_by_what_is_missing_and_a_wrong_one_is_not() {
        let with = |name: &str, value: Value, missing: &[&str]| {
            let mut attempt = restarted(0);
            attempt[name] = value;
            attempt["missing"] = missing.into();
            found(&json!([attempt, {"attempt": 1, "outcome": "running"}]), 1).len()
        };
        assert_eq!(with("jobUid", Value::Null, &["the Job's Event"]), 0);
        assert_eq!(with("jobUid", Value::Null, &[]), 1);
        assert_eq!(with("jobUid", json!("another"), &["the Job's Event"]), 1);
        assert_eq!(with("earliestJob", json!("b-0"), &[]), 1);
    }
}
