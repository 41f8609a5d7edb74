//! What became of it, in the one sentence that a person would say.

use std::fmt::Write as _;

use super::{Facts, Subject};
use crate::analysis::group::cause_words;
use crate::analysis::job_set::{Attempt, Decision, JobSetStory, rule_words};
use crate::analysis::words::{list_names, telling_line};
use crate::analysis::{Failure, TornDownBy};
use crate::model::{CronJob, Job, Phase, Pod, Time, human_duration};
use crate::policy::{label, recorded_rule};
use crate::report::{AttemptOutcome, Class, WorkloadState};

pub(super) fn verdict(facts: &Facts, state: WorkloadState) -> String {
    let subject = facts.subject;
    let who = format!("{} {}/{}", subject.kind().kind(), subject.namespace(), subject.name());
    match subject {
        Subject::Job(job) => format!("{who} {}", of_job(facts, job, state)),
        Subject::JobSet(_) => match facts.story {
            Some(story) => format!("{who} {}", of_job_set(facts, story)),
            None => format!("{who} is in the data, and nothing more is known of it."),
        },
        Subject::CronJob(cron_job) => format!("{who}: {}", of_cron_job(facts, cron_job)),
        Subject::Pod(pod) => format!("{who} {}", of_pod(facts, pod)),
    }
}

fn ago(facts: &Facts, at: Option<Time>) -> String {
    match (facts.now, at) {
        (Some(now), Some(at)) => format!(" {} ago", human_duration(now.seconds() - at.seconds())),
        _ => String::new(),
    }
}

fn of_job(facts: &Facts, job: &Job, state: WorkloadState) -> String {
    let collateral = facts.count(Class::Collateral);
    let torn_down = match collateral {
        0 => String::new(),
        1 => "; 1 pod was torn down with it".to_owned(),
        more => format!("; {more} pods were torn down with it"),
    };
    let led_to = facts.decision_for(job).map(|(story, attempt)| match &attempt.decision {
        Some(decision) => {
            format!("; jobset/{} then applied {}", story.job_set.name, rule_words(story.job_set, decision))
        }
        None => String::new(),
    });
    let led_to = led_to.unwrap_or_default();
    match state {
        WorkloadState::Failed => {
            let at = job.condition("Failed").and_then(|condition| condition.at);
            format!("failed{}: {}{torn_down}{led_to}.", ago(facts, at), why_job_fails(facts, job))
        }
        WorkloadState::Failing => {
            let at = job.failing().and_then(|condition| condition.at);
            let waits: Vec<&str> = facts
                .failures
                .iter()
                .filter(|failure| failure.pod.is_some_and(Pod::is_terminating))
                .filter_map(|failure| failure.pod_name())
                .collect();
            let waits = if waits.is_empty() { "its pods".to_owned() } else { list_names(&waits, 2) };
            format!(
                "began to fail{} and waits for {waits} to end: {}{torn_down}.",
                ago(facts, at),
                why_job_fails(facts, job)
            )
        }
        WorkloadState::Complete => {
            let at = job.condition("Complete").and_then(|condition| condition.at);
            format!("completed{}{}.", ago(facts, at), in_spite_of(facts))
        }
        WorkloadState::Suspended => {
            let at = job.condition("Suspended").and_then(|condition| condition.at);
            format!("was suspended{}{}.", ago(facts, at), in_spite_of(facts))
        }
        _ => running(facts, job),
    }
}

fn in_spite_of(facts: &Facts) -> String {
    let own = facts.own_failures();
    let lost = facts.count(Class::Lost);
    match own.len() as u64 + lost {
        0 => String::new(),
        1 => format!(
            " in spite of 1 failure{}",
            own.first().map(|(_, f)| format!(" ({})", cause_words(f))).unwrap_or_default()
        ),
        more => format!(
            " in spite of {more} failures{}",
            most_frequent(&own).map(|words| format!(", mostly {words}")).unwrap_or_default()
        ),
    }
}

fn running(facts: &Facts, job: &Job) -> String {
    let ongoing = facts.failures.iter().find(|failure| matches!(failure.class, Class::Pending | Class::JobLevel));
    if let Some(failure) = ongoing {
        let pod = failure.pod_name().map(|pod| format!(" in pod {pod}")).unwrap_or_default();
        let said = failure.message().and_then(telling_line).map(|line| format!(": {line}")).unwrap_or_default();
        return format!("cannot get on: {}{pod}{said}{}.", cause_words(failure), in_spite_of(facts));
    }
    if let Some(failure) = facts.failures.iter().find(|failure| failure.class == Class::Restarting) {
        return format!("is running, containers fail in place where no rule sees them: {}.", cause_words(failure));
    }
    let own = facts.own_failures();
    let Some((_, last)) = own.last() else {
        return format!("is running, {} of {} pods ready; nothing of it has failed.", job.ready, job.active);
    };
    let ignored = own.iter().filter(|(_, failure)| failure.rule.is_some_and(|rule| !rule.action.counts())).count();
    let counted = match (job.backoff_limit_per_index, job.backoff_limit) {
        (Some(limit), _) => format!("each index may fail {limit} times"),
        (None, limit) => format!("{} of {} counted failures used", job.failed, limit.unwrap_or(6)),
    };
    let failures = if own.len() == 1 { "1 failure".to_owned() } else { format!("{} failures", own.len()) };
    let ignored = match ignored {
        0 => String::new(),
        all if all == own.len() => ", ignored".to_owned(),
        some => format!(", {some} of them ignored"),
    };
    format!("is running after {failures}{ignored}: {}; {counted}.", cause_words(last))
}

/// Why the controller fails a Job: its reason, with the pod or the failures behind it.
fn why_job_fails(facts: &Facts, job: &Job) -> String {
    let Some(condition) = job.failing() else { return "for no reason that is told".to_owned() };
    let own: Vec<_> = facts
        .own_failures()
        .into_iter()
        .filter(|(_, failure)| failure.job.is_some_and(|other| std::ptr::eq(other, job)))
        .collect();
    let lost = facts.count(Class::Lost);
    let recorded = job
        .policy
        .as_ref()
        .and_then(|policy| Some((policy, recorded_rule(policy, &condition.reason, &condition.message)?)));
    if let Some((policy, recorded)) = recorded {
        let rule = policy.rules.get(recorded.index);
        let called = rule.map(|rule| {
            let called = label(rule, recorded.index, facts.analysis.rule_names_of(job)).label;
            format!("rule {called} ({})", rule.action)
        });
        let called = called.unwrap_or_else(|| format!("rule {}", recorded.index));
        return format!("{called} after {}", after(facts, &condition.message));
    }
    let counted: Vec<_> = own.iter().copied().filter(|(_, failure)| failure.counted != Some(false)).collect();
    let mostly = most_frequent(if counted.is_empty() { &own } else { &counted });
    let first = own
        .first()
        .map(|(_, failure)| format!(", first pod {}{}", failure.pod_name().unwrap_or_default(), on_node(failure)));
    match &*condition.reason {
        "BackoffLimitExceeded" if own.is_empty() => {
            format!(
                "backoffLimit {} is used up, and no pod is left that shows why ({lost} lost)",
                job.backoff_limit.unwrap_or(6)
            )
        }
        "BackoffLimitExceeded" => format!(
            "backoffLimit {} is used up, by {}{}",
            job.backoff_limit.unwrap_or(6),
            mostly.unwrap_or_default(),
            first.unwrap_or_default()
        ),
        "DeadlineExceeded" => "activeDeadlineSeconds ended it, no pod failed by itself".to_owned(),
        reason @ ("FailedIndexes" | "MaxFailedIndexesExceeded") => {
            let indexes = job.failed_indexes.as_deref().unwrap_or("?");
            format!(
                "{reason}, indexes {indexes}, mostly {}",
                mostly.unwrap_or_else(|| "for reasons that are gone".to_owned())
            )
        }
        reason => format!("{reason}: {}", condition.message),
    }
}

/// The failure that the controller's message names, as the data knows it.
fn after(facts: &Facts, message: &str) -> String {
    let Some(named) = crate::policy::parse_message(message) else { return message.to_owned() };
    let pod = facts.analysis.failures.iter().find(|failure| failure.pod_name() == Some(named.pod));
    let node = pod.map(on_node).unwrap_or_default();
    match (named.container, named.condition) {
        (Some((container, code)), _) => format!("{container} exited {code} in pod {}{node}", named.pod),
        (None, Some("DisruptionTarget")) => {
            let reason =
                pod.and_then(|failure| failure.reason()).map(|reason| format!(" ({reason})")).unwrap_or_default();
            format!("pod {}{node} was disrupted{reason}", named.pod)
        }
        (None, Some(condition)) => format!("pod {}{node} had condition {condition}", named.pod),
        (None, None) => format!("pod {}{node} failed", named.pod),
    }
}

fn on_node(failure: &Failure) -> String {
    failure.node().map(|node| format!(" on {node}")).unwrap_or_default()
}

/// The most frequent cause: `exit 1 (etl)`, with how many of how many.
fn most_frequent(own: &[(Time, &Failure)]) -> Option<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for (_, failure) in own {
        let words = cause_words(failure);
        match counts.iter_mut().find(|(other, _)| *other == words) {
            Some((_, count)) => *count += 1,
            None => counts.push((words, 1)),
        }
    }
    let (words, count) = counts.iter().rev().max_by_key(|(_, count)| *count)?;
    Some(if *count == own.len() { words.clone() } else { format!("{words} ({count} of {})", own.len()) })
}

fn of_job_set(facts: &Facts, story: &JobSetStory) -> String {
    let job_set = story.job_set;
    let Some(last) = story.attempts.last() else { return "has no attempt.".to_owned() };
    let restarts = job_set.restarts.saturating_add(job_set.job_restarts().0);
    let before = match restarts {
        0 => String::new(),
        1 => format!(" 1 restart before, {}.", story.budget()),
        more => format!(" {more} restarts before, {}.", story.budget()),
    };
    let pressing = story.situations.first();
    match last.outcome {
        AttemptOutcome::Failed => {
            format!("failed{}: {}.{before}", ago(facts, last.ended), why_it_fails(story, last))
        }
        AttemptOutcome::Completed => {
            let after = if restarts > 0 { format!(" after {restarts} restarts") } else { String::new() };
            format!("completed{}{after}.", ago(facts, last.ended))
        }
        _ if pressing.is_some() => {
            let situation = pressing.map(|situation| &*situation.text).unwrap_or_default();
            let since = pressing.and_then(|situation| situation.since);
            let since = since
                .zip(facts.now)
                .map(|(since, now)| format!(" for {}", human_duration(now.seconds() - since.seconds())));
            let doing = match last.outcome {
                AttemptOutcome::Suspended => "has been suspended",
                AttemptOutcome::Restarting => "has been restarting",
                _ => "is held up",
            };
            let since = if doing == "is held up" { String::new() } else { since.unwrap_or_default() };
            format!("{doing}{since}: {situation}.{before}")
        }
        _ => {
            let ready =
                job_set.replicated_jobs_status.iter().map(|status| status.ready + status.succeeded).sum::<u32>();
            let wanted: u32 = job_set.replicated_jobs.iter().map(|job| job.replicas).sum();
            let cannot =
                facts.failures.iter().find(|failure| matches!(failure.class, Class::Pending | Class::JobLevel));
            let cannot = cannot.map(|failure| format!("; cannot get on: {}", cause_words(failure))).unwrap_or_default();
            format!("is running, attempt {}, {ready} of {wanted} Jobs ready or succeeded{cannot}.{before}", last.number)
        }
    }
}

/// `rule userError (FailJobSet) after trainer exited 42 in Job slice-1`.
fn why_it_fails(story: &JobSetStory, attempt: &Attempt) -> String {
    let Some(decision) = &attempt.decision else { return "nothing tells why".to_owned() };
    let rule = rule_words(story.job_set, decision);
    let limit = match decision.recorded_reason {
        "ReachedMaxRestarts" => {
            let max = story.job_set.max_restarts().unwrap_or_default();
            format!("maxRestarts {max} is reached ({rule})")
        }
        "FailedJobs" => "it has no failure policy, so that the first Job that fails, fails it".to_owned(),
        _ => rule,
    };
    format!("{limit} after {}", what_failed(story, decision))
}

/// What failed first, as far as it is known.
pub(super) fn what_failed(story: &JobSetStory, decision: &Decision) -> String {
    let job = decision.job.map(|job| job.strip_prefix(&format!("{}-", story.job_set.name)).unwrap_or(job));
    let in_job = job.map(|job| format!(" in Job {job}")).unwrap_or_default();
    let mut words = match (decision.container, decision.condition, decision.failure) {
        (Some((container, code)), _, _) => format!("{container} exited {code}{in_job}"),
        (None, Some("DisruptionTarget"), _) => format!("a pod was disrupted{in_job}"),
        (None, Some(condition), _) => format!("a pod had condition {condition}{in_job}"),
        (None, None, Some((reason, _))) => format!("{reason}{in_job}"),
        (None, None, None) => format!("a failure whose reason is not known{in_job}"),
    };
    if let Some(node) = decision.node {
        let _ = write!(words, " on {node}");
    }
    words
}

fn of_cron_job(facts: &Facts, cron_job: &CronJob) -> String {
    let suspended = if cron_job.suspend { "suspended; " } else { "" };
    let success = match cron_job.last_succeeded {
        Some(at) => format!("the last success was{}", ago(facts, Some(at))),
        None => "no run has ever succeeded".to_owned(),
    };
    let over: Vec<&&Job> = facts.jobs.iter().filter(|job| job.is_finished()).collect();
    let failed = over.iter().filter(|job| job.condition("Failed").is_some()).count();
    if failed == 0 {
        return format!("{suspended}none of the {} runs in the data failed; {success}.", facts.jobs.len());
    }
    let own = facts.own_failures();
    let mostly = most_frequent(&own).map(|words| format!(", {words}")).unwrap_or_default();
    format!("{suspended}{failed} of the last {} runs failed{mostly}; {success}.", over.len())
}

fn of_pod(facts: &Facts, pod: &Pod) -> String {
    let node = pod.node.as_deref().map(|node| format!(" on node {node}")).unwrap_or_default();
    let job = facts.jobs.first().map(|job| format!("job/{}", job.name));
    let Some(failure) = facts.failures.first() else {
        return match pod.phase {
            Phase::Succeeded => format!("succeeded{node}."),
            Phase::Failed => format!("failed{node}; it belongs to no Job, so that no pod failure policy judges it."),
            _ if pod.is_terminating() => {
                format!("is being deleted{} and has not ended yet{node}.", ago(facts, pod.deletion_requested))
            }
            _ => format!("has not failed (phase {:?}){node}; no rule judges it.", pod.phase),
        };
    };
    let cause = cause_words(failure);
    let at = ago(facts, failure.finished_at());
    let job = job.unwrap_or_else(|| "its Job".to_owned());
    match failure.class {
        Class::Rule => {
            let hit = failure.rule.map(|hit| {
                let label = facts.analysis.label_of(failure, hit.index).map(|called| called.label.into_owned());
                format!("rule {} {} ({})", hit.index, label.unwrap_or_default(), hit.action)
            });
            format!("failed{at}{node}: {cause}; {} of {job} matched it.", hit.unwrap_or_default())
        }
        Class::NoRule => {
            format!("failed{at}{node}: {cause}; no rule of {job} matched it, it counts towards backoffLimit.")
        }
        Class::NoPolicy => {
            format!("failed{at}{node}: {cause}; {job} has no podFailurePolicy, it counts towards backoffLimit.")
        }
        Class::Unmatchable => {
            format!("was refused{at}{node}: {cause}; no rule can match that, it counts towards backoffLimit.")
        }
        Class::Collateral => {
            let by = failure.torn_down.unwrap_or(TornDownBy::JobFailing);
            format!("was torn down{at}{node}: {by}; it is not to blame.")
        }
        Class::Pending => format!("cannot start{node}: {cause}."),
        Class::Restarting => {
            format!("is running{node}, its containers fail in place, where no rule sees them: {cause}.")
        }
        Class::Unknown => format!("failed{at}{node}: {cause}; the policy of {job} is not known."),
        Class::JobLevel | Class::Lost => format!("failed{at}{node}: {cause}."),
    }
}
