//! Of a Job.

use super::super::Facts;
use crate::analysis::job_set::rule_words;
use crate::analysis::{Failure, group::cause_words};
use crate::model::{Event, Job, Pod, Time};
use crate::policy::{Retries, backoff_limit, label, parse_message, recorded_rule, retries_of_job};
use crate::report::{Class, SituationKind, WorkloadState};
use crate::words::list_names;

pub(super) fn verdict(facts: &Facts, job: &Job, state: WorkloadState) -> String {
    let end = format!("{}{}.", torn_down(facts), led_to(facts, job));
    let at = |type_: &str| facts.ago(job.condition(type_).and_then(|condition| condition.at));
    match state {
        WorkloadState::Failed => format!("failed{}: {}{end}", at("Failed"), why_it_fails(facts, job)),
        _ if job.deletion_requested.is_some() => deleting(facts, job),
        WorkloadState::Failing => {
            let began = facts.ago(job.failing().and_then(|condition| condition.at));
            let waits = waits_for(facts);
            format!("began to fail{began} and waits for {waits} to end: {}{end}", why_it_fails(facts, job))
        }
        WorkloadState::Complete => format!("completed{}{}.", at("Complete"), in_spite_of(facts)),
        WorkloadState::Suspended => {
            format!("was suspended{}{}{}.", at("Suspended"), by_whom(facts, job), in_spite_of(facts))
        }
        _ => running(facts, job),
    }
}

/// The pods that were torn down with it; those that still end are told by what it waits for.
fn torn_down(facts: &Facts) -> String {
    let ended =
        |failure: &&&Failure| failure.class == Class::Collateral && !failure.pod.is_some_and(Pod::is_terminating);
    match facts.failures.iter().filter(ended).map(|failure| u64::from(failure.count)).sum() {
        0_u64 => String::new(),
        1 => "; 1 pod was torn down with it".to_owned(),
        more => format!("; {more} pods were torn down with it"),
    }
}

fn led_to(facts: &Facts, job: &Job) -> String {
    let decided = facts.decision_for(job).and_then(|(story, attempt)| Some((story, attempt.decision.as_ref()?)));
    let led_to = decided.map(|(story, decision)| {
        format!("; jobset/{} then applied {}", story.job_set.name, rule_words(story.job_set, decision))
    });
    led_to.unwrap_or_default()
}

/// The pods that were asked to end and have not.
fn waits_for(facts: &Facts) -> String {
    let ending = facts.failures.iter().filter(|failure| failure.pod.is_some_and(Pod::is_terminating));
    let waits: Vec<String> = ending
        .filter_map(|failure| {
            let node = facts.on_node(failure.node().map(|node| &**node));
            Some(format!("pod {}{node}", failure.pod_name()?))
        })
        .collect();
    let waits: Vec<&str> = waits.iter().map(String::as_str).collect();
    if waits.is_empty() { "its pods".to_owned() } else { list_names(&waits, 2) }
}

fn deleting(facts: &Facts, job: &Job) -> String {
    let by = facts.story.filter(|story| story.torn_down_by(job).is_some());
    let by = by.map(|story| format!(", as jobset/{} restarts or has ended", story.job_set.name)).unwrap_or_default();
    let since = facts.since(job.deletion_requested);
    format!("is being deleted{since}{by}, and waits for {} to end.", waits_for(facts))
}

/// Kueue writes `Stopped` on what it evicts, with its reason.
fn by_whom(facts: &Facts, job: &Job) -> String {
    if let Some(queued) = facts.held_by_queue() {
        // What is out for good, or waits for ever, is a failure of its own.
        let is_failure = facts.failures.iter().any(|failure| failure.class == Class::WorkloadLevel);
        let harmless =
            if queued.kind == SituationKind::Deactivated || is_failure { "" } else { ", which is no failure" };
        return format!("{harmless}: {}", queued.text);
    }
    let about = |event: &&Event| {
        *event.kind == *"Job"
            && event.namespace == job.namespace
            && event.name == job.name
            && *event.reason == *"Stopped"
    };
    let stopped = facts.analysis.snapshot.events.iter().filter(about).max_by_key(|event| event.last);
    let of_set = facts.story.and_then(|story| story.situations.iter().find(|s| s.kind == SituationKind::Suspended));
    match (stopped, of_set, facts.story) {
        (Some(event), _, _) => format!(" by Kueue, which is no failure: {}", event.message.trim_end_matches('.')),
        (None, Some(situation), Some(story)) => format!(" with jobset/{}: {}", story.job_set.name, situation.text),
        _ => String::new(),
    }
}

fn in_spite_of(facts: &Facts) -> String {
    let own = facts.own_failures();
    let causes = Facts::causes(&own).map(|causes| format!(": {causes}")).unwrap_or_default();
    match own.len() as u64 + facts.count(Class::Lost) {
        0 => String::new(),
        1 => format!(", in spite of 1 failure{causes}"),
        more => format!(", in spite of {more} failures{causes}"),
    }
}

fn running(facts: &Facts, job: &Job) -> String {
    let own = facts.own_failures();
    let after = match own.len() {
        0 => String::new(),
        1 => ", after 1 failure".to_owned(),
        more => format!(", after {more} failures"),
    };
    if let Some(waits) = facts.cannot_start() {
        return format!("is running, and {waits}{after}.");
    }
    if let Some(failure) = facts.failures.iter().find(|failure| failure.class == Class::JobLevel) {
        return format!("cannot get pods: {}{}{after}.", cause_words(failure), super::words::said(failure));
    }
    if let Some(failure) = facts.failures.iter().find(|failure| failure.class == Class::Restarting) {
        let node = facts.on_node(failure.node().map(|node| &**node));
        let pod = failure.pod_name().unwrap_or_default();
        let retries = in_place(facts, job).map(|retries| format!("; {retries}")).unwrap_or_default();
        return format!(
            "is running, and containers fail in place, where no rule sees them: {} in pod {pod}{node}{retries}.",
            cause_words(failure)
        );
    }
    if let Some(lost) = facts.lost_with_nodes() {
        return format!("is running, {} of {} pods ready{after}; {lost}.", job.ready, job.active);
    }
    let Some((_, last)) = own.last() else {
        let failed = match job.failed {
            0 => "nothing of it has failed".to_owned(),
            1 => "1 pod of it failed, of which nothing more is known".to_owned(),
            more => format!("{more} pods of it failed, of which nothing more is known"),
        };
        return format!("is running, {} of {} pods ready; {failed}.", job.ready, job.active);
    };
    if let Some(trap) = sidecar_trap(&own) {
        return format!("is retried{after}: {trap}.");
    }
    let ignored = own.iter().filter(|(_, failure)| failure.rule.is_some_and(|rule| !rule.action.counts())).count();
    let ignored = match ignored {
        0 => String::new(),
        all if all == own.len() => ", all ignored".to_owned(),
        some => format!(", {some} of them ignored"),
    };
    let Retries { left, limit } = retries_of_job(job);
    let of_job = format!("retries left: {} of {limit}", left.unwrap_or_default());
    let counted = job.backoff_limit_per_index.map_or(of_job, |limit| format!("retries of each index: {limit}"));
    format!("is running{after}{ignored}; the last: {}; {counted}.", facts.happened(last))
}

/// What `OnFailure` compares with `backoffLimit`: the restarts of all containers of the pods that have not ended.
fn in_place(facts: &Facts, job: &Job) -> Option<String> {
    let restarts = facts.failures.iter().filter(|failure| failure.class == Class::Restarting);
    let restarts = restarts.filter_map(|failure| Some(failure.restart()?.count)).fold(0, u32::saturating_add);
    let limit = backoff_limit(job.backoff_limit, job.backoff_limit_per_index.is_some());
    let left = Retries::after_restarts(restarts, limit).left.filter(|_| job.restarts_in_place)?;
    Some(format!("restarts that backoffLimit {limit} still allows: {left}"))
}

/// A rule that judges the sidecar in the app's place, which may go on for ever.
fn sidecar_trap(own: &[(Time, &Failure)]) -> Option<String> {
    let hits: Vec<_> = own.iter().filter_map(|(_, failure)| Some((failure.sidecar_hit()?, *failure))).collect();
    let (hit, failure) = hits.iter().rev().max_by_key(|(hit, _)| hit.instead.is_some())?;
    let rule = failure.rule?;
    let sidecar = failure.end?;
    let mut codes: Vec<i32> = hits.iter().filter_map(|(hit, _)| Some(hit.app?.exit_code)).collect();
    codes.sort_unstable();
    codes.dedup();
    let codes: Vec<String> = codes.iter().map(ToString::to_string).collect();
    let app = hit.app.map_or("the app", |app| &*app.container);
    let hidden = hit.instead.map(|(index, action)| format!(", so that rule {index} ({action}) is never reached"));
    Some(format!(
        "rule {} ({}) matches the sidecar {}'s exit code {}, whatever {app} ends with ({}){}",
        rule.index(),
        rule.action,
        sidecar.container,
        sidecar.exit_code,
        codes.join(", "),
        hidden.unwrap_or_default()
    ))
}

/// Why the controller fails a Job: its reason, with the pod or the failures behind it.
fn why_it_fails(facts: &Facts, job: &Job) -> String {
    let Some(condition) = job.failing() else { return "for no reason that is told".to_owned() };
    let own: Vec<_> = facts
        .own_failures()
        .into_iter()
        .filter(|(_, failure)| failure.job.is_some_and(|other| std::ptr::eq(other, job)))
        .collect();
    let recorded = job
        .policy
        .as_ref()
        .and_then(|policy| Some((policy, recorded_rule(policy, &condition.reason, &condition.message)?)));
    if let Some((policy, recorded)) = recorded {
        let rule = policy.rules.get(recorded.index);
        let called = rule.map(|rule| {
            let called = label(rule, recorded.index, facts.analysis.rule_names_of(job)).label;
            format!("{} rule {} ({called})", rule.action, recorded.index)
        });
        let called = called.unwrap_or_else(|| format!("rule {}", recorded.index));
        return format!("{called}, as {}", after(facts, &condition.message));
    }
    let counted: Vec<_> = own.iter().copied().filter(|(_, failure)| failure.counted != Some(false)).collect();
    let blamed = if counted.is_empty() { &own } else { &counted };
    let causes = Facts::causes(blamed).unwrap_or_default();
    let said = Facts::said_by(blamed);
    let first = own.first().map(|(_, failure)| {
        let node = facts.on_node(failure.node().map(|node| &**node));
        format!(", first in pod {}{node}", failure.pod_name().unwrap_or_default())
    });
    let limit = backoff_limit(job.backoff_limit, job.backoff_limit_per_index.is_some());
    match &*condition.reason {
        "BackoffLimitExceeded" if own.is_empty() => {
            let lost = match facts.count(Class::Lost) {
                0 => String::new(),
                1 => ": 1 failure is counted".to_owned(),
                more => format!(": {more} failures are counted"),
            };
            format!("backoffLimit {limit} is used up, and no pod is left that shows why{lost}")
        }
        "BackoffLimitExceeded" => {
            format!("backoffLimit {limit} is used up by {causes}{said}{}", first.unwrap_or_default())
        }
        "DeadlineExceeded" if own.is_empty() => "activeDeadlineSeconds ended it, no pod failed by itself".to_owned(),
        "DeadlineExceeded" => format!("activeDeadlineSeconds ended it, after {causes}{said}"),
        reason @ ("FailedIndexes" | "MaxFailedIndexesExceeded") => {
            let indexes = job.failed_indexes.as_deref().unwrap_or("?");
            format!("{reason}, indexes {indexes}: {causes}{said}{}", first.unwrap_or_default())
        }
        reason => format!("{reason}: {}", condition.message),
    }
}

/// The failure that the controller's message names, as the data knows it.
fn after(facts: &Facts, message: &str) -> String {
    let Some(named) = parse_message(message) else { return message.to_owned() };
    let failure = facts.analysis.failures.iter().find(|failure| failure.pod_name() == Some(named.pod));
    if let Some(failure) = failure.filter(|failure| failure.pod.is_some()) {
        return facts.happened(failure);
    }
    match (named.container, named.condition) {
        (Some((container, code)), _) => {
            format!("container {container} exited {code} in pod {}, which is gone", named.pod)
        }
        (None, Some(condition)) => format!("pod {}, which is gone, had condition {condition}", named.pod),
        (None, None) => format!("pod {}, which is gone, failed", named.pod),
    }
}
