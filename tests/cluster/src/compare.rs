//! The Job controller is the judge: what it wrote on a Job and its pods, against what the tool says of them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::api::{annotation, array, condition, has_condition, number, text};
use crate::tool::Failure;

/// Everything on which the two differ; empty when they agree. `gone` is how many running pods the controller deleted.
pub(crate) fn disagreements(job: &Value, pods: &[&Value], gone: i64, lines: &[&Failure]) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(rule_of_message(job, lines));
    found.extend(fail_job_without_message(job, lines));
    found.extend(failed_counter(job, lines));
    found.extend(failed_pods_counted(job, pods, gone, lines));
    found.extend(one_line_per_pod(pods, lines));
    if job.pointer("/spec/backoffLimitPerIndex").is_some() {
        found.extend(failed_indexes(job, pods, lines));
        found.extend(index_annotations(pods, lines));
    }
    found
}

/// What the controller says of the pod that failed the Job.
pub(crate) struct Verdict {
    pub(crate) pod: String,
    /// Name and exit code; absent when a condition matched.
    pub(crate) container: Option<(String, i64)>,
    pub(crate) rule: i64,
}

/// The controller's two sentences, from `pkg/controller/job/pod_failure_policy.go`.
pub(crate) fn verdict(message: &str) -> Option<Verdict> {
    let (what, rule) = message.split_once(" matching FailJob rule at index ")?;
    let rule = rule.parse().ok()?;
    if let Some(rest) = what.strip_prefix("Container ") {
        let (container, rest) = rest.split_once(" for pod ")?;
        let (pod, code) = rest.split_once(" failed with exit code ")?;
        let pod = pod.split_once('/')?.1.to_owned();
        return Some(Verdict { pod, container: Some((container.to_owned(), code.parse().ok()?)), rule });
    }
    let (pod, _) = what.strip_prefix("Pod ")?.split_once(" has condition ")?;
    Some(Verdict { pod: pod.split_once('/')?.1.to_owned(), container: None, rule })
}

fn failure_condition(job: &Value) -> Option<&Value> {
    condition(job, "Failed").or_else(|| condition(job, "FailureTarget"))
}

fn rule_of_message(job: &Value, lines: &[&Failure]) -> Option<String> {
    let condition = failure_condition(job)?;
    if !text(condition, "/reason").starts_with("PodFailurePolicy") {
        return None;
    }
    let message = text(condition, "/message");
    let Some(verdict) = verdict(message) else {
        return Some(format!("cannot read the controller's message: {message}"));
    };
    let line = lines.iter().find(|line| line.pod.as_deref() == Some(&verdict.pod));
    let Some(line) = line else { return Some(format!("no line for the pod of: {message}")) };
    let same_rule = line.rule.as_ref().is_some_and(|rule| rule.index == verdict.rule && rule.action == "FailJob");
    let same_container = verdict
        .container
        .as_ref()
        .is_none_or(|(container, code)| line.container.as_ref() == Some(container) && line.exit_code == Some(*code));
    (line.class != "rule" || !same_rule || !same_container).then(|| format!("controller: {message}; tool: {line}"))
}

/// A Job that goes on has no pod that a FailJob rule matches.
fn fail_job_without_message(job: &Value, lines: &[&Failure]) -> Option<String> {
    let over =
        ["Failed", "FailureTarget", "Complete", "SuccessCriteriaMet"].iter().any(|kind| has_condition(job, kind));
    let claimed = lines.iter().find(|line| line.rule.as_ref().is_some_and(|rule| rule.action == "FailJob"));
    claimed.filter(|_| !over).map(|line| format!("the controller did not fail the Job, but the tool says {line}"))
}

fn failed_counter(job: &Value, lines: &[&Failure]) -> Option<String> {
    let counted: i64 = lines.iter().filter(|line| line.counted == Some(true)).map(|line| line.count).sum();
    let failed = number(job, "/status/failed");
    (counted != failed)
        .then(|| format!("status.failed is {failed}, but the tool's counted failures add up to {counted}"))
}

/// A failure taken for ignored would come out as lost, and the sum would still be right; so the pods that are there are
/// counted by themselves.
fn failed_pods_counted(job: &Value, pods: &[&Value], gone: i64, lines: &[&Failure]) -> Option<String> {
    let failed = pods.iter().filter(|pod| text(pod, "/status/phase") == "Failed");
    let counted = failed.filter_map(|pod| line_of(pod, lines)).filter(|line| line.counted == Some(true)).count();
    let expected = number(job, "/status/failed") - gone;
    (i64::try_from(counted) != Ok(expected)).then(|| {
        format!("without the {gone} pods deleted, status.failed has {expected}, but the tool counts {counted} of the failed pods")
    })
}

fn one_line_per_pod(pods: &[&Value], lines: &[&Failure]) -> Vec<String> {
    let failed = pods.iter().filter(|pod| text(pod, "/status/phase") == "Failed");
    let wrong = failed.filter_map(|pod| {
        let uid = text(pod, "/metadata/uid");
        let ours: Vec<_> = lines.iter().filter(|line| line.uid.as_deref() == Some(uid)).collect();
        let index = annotation(pod, INDEX).and_then(|index| index.parse().ok());
        let name = text(pod, "/metadata/name");
        match ours.as_slice() {
            [line] if line.index == index => None,
            [line] => Some(format!("failed pod {name} has index {index:?}, the tool says {:?}", line.index)),
            _ => Some(format!("failed pod {name} is in {} lines", ours.len())),
        }
    });
    wrong.collect()
}

const INDEX: &str = "batch.kubernetes.io/job-completion-index";
const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";
const IGNORED: &str = "batch.kubernetes.io/job-index-ignored-failure-count";

fn is_action(line: &Failure, action: &str) -> bool {
    line.rule.as_ref().is_some_and(|rule| rule.action == action)
}

fn count_in(pod: &Value, key: &str) -> i64 {
    annotation(pod, key).and_then(|count| count.parse().ok()).unwrap_or_default()
}

/// An index fails with FailIndex, or when it is counted with its limit already used up.
fn failed_indexes(job: &Value, pods: &[&Value], lines: &[&Failure]) -> Option<String> {
    let limit = number(job, "/spec/backoffLimitPerIndex");
    let mut expected = BTreeSet::new();
    for pod in pods.iter().filter(|pod| text(pod, "/status/phase") == "Failed") {
        let Some(line) = line_of(pod, lines) else { continue };
        let used_up = !is_action(line, "Ignore") && count_in(pod, FAILURES) >= limit;
        if is_action(line, "FailIndex") || used_up {
            expected.extend(annotation(pod, INDEX).and_then(|index| index.parse::<i64>().ok()));
        }
    }
    let written = text(job, "/status/failedIndexes");
    (ranges(written) != expected)
        .then(|| format!("status.failedIndexes is {written:?}, but from the tool's rules follows {expected:?}"))
}

/// `1,3-5` as numbers.
fn ranges(list: &str) -> BTreeSet<i64> {
    let parts = list.split(',').filter(|part| !part.is_empty());
    let pairs = parts.map(|part| part.split_once('-').unwrap_or((part, part)));
    pairs.filter_map(|(first, last)| Some(first.parse::<i64>().ok()?..=last.parse().ok()?)).flatten().collect()
}

fn line_of<'a>(pod: &Value, lines: &[&'a Failure]) -> Option<&'a Failure> {
    let uid = text(pod, "/metadata/uid");
    lines.iter().find(|line| line.uid.as_deref() == Some(uid)).copied()
}

/// Every pod carries how often its index had failed before it.
fn index_annotations(pods: &[&Value], lines: &[&Failure]) -> Vec<String> {
    let mut by_index: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for pod in pods {
        by_index.entry(annotation(pod, INDEX).unwrap_or_default()).or_default().push(pod);
    }
    let mut found = Vec::new();
    for attempts in by_index.values_mut() {
        attempts.sort_by_key(|pod| text(pod, "/metadata/creationTimestamp"));
        let (mut failures, mut ignored) = (0, 0);
        for pod in attempts {
            let written = (count_in(pod, FAILURES), count_in(pod, IGNORED));
            if written != (failures, ignored) {
                let name = text(pod, "/metadata/name");
                found.push(format!(
                    "{name} says (failures, ignored) {written:?}, but from the tool's rules follows {:?}",
                    (failures, ignored)
                ));
            }
            match line_of(pod, lines) {
                Some(line) if text(pod, "/status/phase") == "Failed" && is_action(line, "Ignore") => ignored += 1,
                _ if text(pod, "/status/phase") == "Failed" => failures += 1,
                _ => {}
            }
        }
    }
    found
}

/// Whether the controller has nothing left to write about the failures so far.
pub(crate) fn is_settled(job: &Value, pods: &[&Value], still_to_end: impl Fn(&Value) -> bool) -> bool {
    let uncounted = ["failed", "succeeded"]
        .iter()
        .any(|list| !array(job, &format!("/status/uncountedTerminatedPods/{list}")).is_empty());
    let over = has_condition(job, "Complete") || has_condition(job, "Failed");
    let failing = has_condition(job, "FailureTarget") || has_condition(job, "SuccessCriteriaMet");
    if uncounted || (failing && !over) || number(job, "/status/terminating") > 0 {
        return false;
    }
    pods.iter().all(|pod| {
        if matches!(text(pod, "/status/phase"), "Failed" | "Succeeded") {
            !array(pod, "/metadata/finalizers").iter().any(|name| name == "batch.kubernetes.io/job-tracking")
        } else {
            over || !still_to_end(pod)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_sentences_of_the_controller() {
        let by_code =
            verdict("Container main for pod ns/x-1 failed with exit code -42 matching FailJob rule at index 3");
        let by_code = by_code.expect("a sentence of the controller");
        assert_eq!((by_code.pod.as_str(), by_code.container, by_code.rule), ("x-1", Some(("main".to_owned(), -42)), 3));
        let by_condition = verdict("Pod ns/x-1 has condition a.example/B matching FailJob rule at index 0");
        let by_condition = by_condition.expect("a sentence of the controller");
        assert_eq!((by_condition.pod.as_str(), by_condition.container, by_condition.rule), ("x-1", None, 0));
    }

    #[test]
    fn reads_index_ranges() {
        assert_eq!(ranges("1,3-5"), BTreeSet::from([1, 3, 4, 5]));
        assert_eq!(ranges(""), BTreeSet::new());
    }
}
