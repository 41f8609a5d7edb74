//! What the tool tells of a JobSet, beside what was watched of it, attempt by attempt.

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};

use crate::api::{number, text};
use crate::compare::verdict;
use crate::jobsets::failure_policy::{Chosen, Effect, FailedJob};
use crate::jobsets::history::{Decision, History, action, rule_label};
use crate::jobsets::told::{Entry, Told};

/// Times of conditions are whole seconds, and a watch takes a moment.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(3);

/// All that is wrong; empty when the tool told nothing but what was watched.
pub(crate) fn errors(told: &Told, history: &History) -> Vec<String> {
    let mut found = counters(told, history);
    let expected: Vec<_> = history.decisions.iter().map(Some).chain(history.present().map(|_| None)).collect();
    found.extend(align(&told.attempts, &expected, history));
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

/// The way of laying one beside the other that leaves the least wrong: unknown attempts may stand for several.
fn align(told: &[Entry], expected: &[Expected], history: &History) -> Vec<String> {
    let attempt = |expected: &Expected| expected.map_or(present_attempt(history), |decision| decision.attempt);
    match (told, expected) {
        ([], expected) => expected
            .iter()
            .map(|expected| format!("attempt {}: nothing is told of its end", attempt(expected)))
            .collect(),
        ([first, ..], []) => vec![format!("nothing of the kind happened: {first}")],
        ([first, rest @ ..], _) if first.is_unknown() => {
            let covered = expected.iter().take_while(|expected| first.covers(attempt(expected))).count();
            let ways = (1..=covered).rev().map(|count| align(rest, &expected[count..], history));
            let mut found = ways.min_by_key(Vec::len).unwrap_or_else(|| vec![format!("no such attempt: {first}")]);
            if first.missing.is_empty() {
                found.push(format!("unknown, and no word on why: {first}"));
            }
            found
        }
        ([first, rest @ ..], [next, expected @ ..]) => {
            let wrong = match next {
                Some(decision) => Beside { told: first, history, decision, found: Vec::new() }.all(),
                None => present(first, history),
            };
            let mut found: Vec<_> =
                wrong.into_iter().map(|what| format!("attempt {}: {what}; told: {first}", attempt(next))).collect();
            found.extend(align(rest, expected, history));
            found
        }
    }
}

fn present_attempt(history: &History) -> i64 {
    number(&history.jobset, "/status/restarts")
}

fn present(told: &Entry, history: &History) -> Vec<String> {
    let mut found = Vec::new();
    if told.attempt != present_attempt(history) || Some(told.outcome.as_str()) != history.present() {
        found.push(format!("it is {:?}", history.present()));
    }
    if told.rule.is_some() || told.counted == Some(true) {
        found.push("nothing was decided yet".to_owned());
    }
    found
}

/// One told attempt beside the decision that ended it.
struct Beside<'a> {
    told: &'a Entry,
    history: &'a History,
    decision: &'a Decision,
    found: Vec<String>,
}

impl Beside<'_> {
    fn all(mut self) -> Vec<String> {
        let (told, decision) = (self.told, self.decision);
        let (outcome, counted) = match decision.written.effect {
            Effect::Restart { counted } => ("restarted", Some(counted)),
            Effect::RestartJob { counted } => ("jobRestarted", Some(counted)),
            Effect::Fail(_) => ("failed", None),
        };
        if (told.attempt, told.outcome.as_str()) != (decision.attempt, outcome) {
            // All the rest would be another decision's.
            return vec![format!("it was {outcome}")];
        }
        match counted {
            Some(counted) => self.same("counted", told.counted, Some(counted)),
            // What ended the JobSet moved no counter.
            None if told.counted == Some(true) => self.found.push("no counter moved, told as counted".to_owned()),
            None => {}
        }
        self.rule();
        self.job();
        self.pod();
        self.earliest();
        if let Err(error) = self.times() {
            self.found.push(format!("{error:#}"));
        }
        self.found
    }

    /// A wrong value is wrong; one that is left out is so too, unless something is said to be missing.
    fn same<T: PartialEq + Copy + std::fmt::Debug>(&mut self, name: &str, told: Option<T>, watched: Option<T>) {
        let excused = told.is_none() && !self.told.missing.is_empty();
        if told != watched && !excused {
            self.found.push(format!("{name}: told {told:?}, watched {watched:?}"));
        }
    }

    fn rule(&mut self) {
        let Some(chosen) = self.decision.chosen else { return };
        let jobset = &self.history.jobset;
        let told = self.told.rule.as_ref();
        self.same("rule", told.map(|rule| rule.label.as_str()), Some(rule_label(jobset, chosen)));
        let Some(rule) = told else { return };
        let name = match chosen {
            Chosen::Rule(index) => {
                self.same("rule's index", rule.index, i64::try_from(index).ok());
                Some(rule_label(jobset, chosen))
            }
            Chosen::Default | Chosen::NoPolicy => {
                self.same("rule's index", rule.index, None);
                None
            }
        };
        self.same("rule's name", rule.name.as_deref(), name);
        if chosen != Chosen::NoPolicy {
            self.same("rule's action", rule.action.as_deref(), action(jobset, chosen));
        }
    }

    fn job(&mut self) {
        let told = self.told;
        self.same("job", told.job.as_deref(), Some(self.decision.written.job.as_str()));
        let Some(job) = self.decision.job() else { return };
        self.same("jobUid", told.job_uid.as_deref(), Some(job.uid.as_str()));
        self.same("reason", told.reason.as_deref(), Some(job.reason.as_str()));
        self.same("message", told.message.as_deref(), Some(job.message.as_str()));
        let rule = verdict(&job.message).map(|verdict| (verdict.rule, "FailJob"));
        self.same("podRule", told.pod_rule.as_ref().map(|rule| (rule.index, rule.action.as_str())), rule);
    }

    /// The controller names the pod only where a pod failure policy spoke; else any that failed may be told.
    fn pod(&mut self) {
        let told = self.told;
        let Some(job) = self.decision.job() else { return };
        if let Some(verdict) = verdict(&job.message) {
            self.same("pod", told.pod.as_deref(), Some(verdict.pod.as_str()));
            if let Some((container, code)) = &verdict.container {
                self.same("container", told.container.as_deref(), Some(container.as_str()));
                self.same("exitCode", told.exit_code, Some(*code));
            }
        }
        let Some(name) = &told.pod else {
            if told.container.is_some() || told.exit_code.is_some() || told.node.is_some() {
                self.found.push("a container, code or node of no pod".to_owned());
            }
            return;
        };
        let Some(pod) = self.decision.pods.iter().find(|pod| pod.name == *name) else {
            self.found.push(format!("{name} is no pod of {} that failed", job.name));
            return;
        };
        let exit = told.container.as_ref().map(|container| pod.exits.get(container).copied());
        let wrong_exit =
            exit.is_some_and(|code| code.is_none() || (told.exit_code.is_some() && told.exit_code != code));
        let wrong_node = told.node.as_ref().is_some_and(|node| *node != pod.node);
        if wrong_exit || wrong_node {
            self.found.push(format!("of the pod was watched: {pod:?}"));
        }
    }

    /// Another Job of the attempt that had failed in an earlier second than the one named.
    fn earliest(&mut self) {
        let Some(named) = self.decision.job() else { return };
        let first = self.decision.failed.iter().map(|job| &job.failed_at).min();
        let oldest = |job: &&FailedJob| Some(&job.failed_at) == first && job.failed_at < named.failed_at;
        let oldest: Vec<_> = self.decision.failed.iter().filter(oldest).map(|job| job.name.as_str()).collect();
        let told = self.told.earliest_job.as_deref();
        if told.is_none_or(|told| !oldest.contains(&told)) {
            self.same("earliestJob", told, oldest.first().copied());
        }
    }

    fn times(&mut self) -> Result<()> {
        let (begun, at) = (self.decision.begun, self.decision.at);
        let parse = |time: &Option<String>| time.as_ref().map(|time| time.parse::<Timestamp>()).transpose();
        if let Some(started) = parse(&self.told.started_at)?
            && (started < begun - TOLERANCE || started > at + TOLERANCE)
        {
            self.found.push(format!("startedAt: the attempt was between {begun} and {at}"));
        }
        let ended = parse(&self.told.ended_at)?;
        if ended.is_some_and(|ended| ended < at - TOLERANCE || ended > at + TOLERANCE) {
            self.found.push(format!("endedAt: it was decided at {at}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::jobsets::decisions::Written;

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
    fn an_attempt_left_out_is_missed() {
        let left_out = found(&json!([restarted(0), {"attempt": 2, "outcome": "running"}]), 2);
        assert_eq!(
            left_out,
            ["attempt 1: it was restarted; told: attempt 2 running", "attempt 2: nothing is told of its end"]
        );
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
