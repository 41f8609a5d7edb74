//! What happened, in order of time; what is alike is folded.

use std::collections::HashMap;

use super::{Facts, Subject};
use crate::analysis::group::what_happened;
use crate::analysis::job_set::{JobSetStory, rule_words};
use crate::analysis::{Failure, object};
use crate::model::{Job, Time, human_duration};
use crate::policy::{parse_message, recorded_rule};
use crate::report::{AttemptOutcome, Class, TimelineEntry, TimelineKind};
use crate::words::list_names;

/// Kinds of failures told one by one; the rest is counted.
const MOST_FAILURES: usize = 6;
/// Restarts told one by one.
const MOST_RESTARTS: usize = 2;

/// The entries, by time; what has no time stands last.
pub(super) fn timeline(facts: &Facts) -> Vec<TimelineEntry> {
    let mut entries = match facts.subject {
        Subject::CronJob(cron_job) => {
            let created =
                entry(TimelineKind::Created, cron_job.created, format!("created, schedule {}", cron_job.schedule));
            let scheduled =
                cron_job.last_scheduled.map(|at| entry(TimelineKind::Started, Some(at), "last scheduled".to_owned()));
            let succeeded =
                cron_job.last_succeeded.map(|at| entry(TimelineKind::Completed, Some(at), "last success".to_owned()));
            std::iter::once(created).chain(scheduled).chain(succeeded).collect()
        }
        Subject::Pod(pod) => {
            let node = pod.node.as_deref().map(|node| format!(" on node {node}")).unwrap_or_default();
            let created = entry(TimelineKind::Created, pod.created, "created".to_owned());
            let started =
                pod.started.map(|at| entry(TimelineKind::Started, Some(at), format!("accepted by the kubelet{node}")));
            std::iter::once(created).chain(started).collect()
        }
        Subject::Job(job) => of_job(job, true),
        Subject::JobSet(_) => of_job_set(facts),
        Subject::Other(other) => {
            let own = facts.of_other(other);
            own.into_iter().chain(of_job_set(facts)).collect()
        }
        Subject::Node(node) => facts.of_node(node),
    };
    if !matches!(facts.subject, Subject::CronJob(_)) {
        let own = facts.own_failures();
        entries.extend(failures(facts, &own));
        let unjudged = facts.unjudged();
        entries.extend(unjudged.map(|failure| {
            let text = what_happened(&failure);
            entry(TimelineKind::FirstFailure, failure.finished_at(), text)
        }));
        entries.extend(facts.jobs.iter().filter_map(|job| acted_on(job, &own)));
    }
    entries.sort_by_key(|entry| (entry.at.is_none(), entry.at, entry.kind));
    entries
}

fn entry(kind: TimelineKind, at: Option<Time>, text: String) -> TimelineEntry {
    TimelineEntry { at, kind, text, object: None, node: None, count: 1 }
}

fn of_job(job: &Job, created: bool) -> Vec<TimelineEntry> {
    let name = object("job", &job.namespace, &job.name);
    let of = |kind, at, text: &str| TimelineEntry { object: Some(name.clone()), ..entry(kind, at, text.to_owned()) };
    let mut entries = Vec::new();
    if created {
        entries.extend(job.created.map(|at| of(TimelineKind::Created, Some(at), "created")));
        let late = job.started.filter(|started| job.created.is_none_or(|created| started.since(created) > 1.0));
        entries.extend(late.map(|at| of(TimelineKind::Started, Some(at), "started")));
    }
    for (type_, kind, text) in [
        ("Failed", TimelineKind::Failed, "failed: all its pods have ended"),
        ("Complete", TimelineKind::Completed, "completed"),
        ("Suspended", TimelineKind::Suspended, "suspended"),
    ] {
        entries.extend(job.condition(type_).map(|condition| of(kind, condition.at, text)));
    }
    entries.extend(job.deletion_requested.map(|at| of(TimelineKind::Deleting, Some(at), "its deletion was asked for")));
    entries
}

/// The last restarts, a line each; all attempts stand in a table of their own.
fn restarts(story: &JobSetStory) -> Vec<TimelineEntry> {
    let restarted = story.attempts.iter().filter(|attempt| {
        matches!(attempt.outcome, AttemptOutcome::Restarted | AttemptOutcome::JobRestarted) && attempt.ended.is_some()
    });
    let all: Vec<_> = restarted.collect();
    let last = all.iter().skip(all.len().saturating_sub(MOST_RESTARTS));
    last.map(|attempt| {
        let decision = attempt.decision.as_ref();
        let rule = decision.map(|decision| rule_words(story.job_set, decision)).unwrap_or_default();
        let job = decision.and_then(|decision| decision.job).map(|job| format!(", for job/{job}")).unwrap_or_default();
        let text = format!("{} is ended by {rule}{job}", attempt.which());
        entry(TimelineKind::Restart, attempt.ended, text)
    })
    .collect()
}

/// The last restarts, and the start and the end of the last attempt.
fn of_job_set(facts: &Facts) -> Vec<TimelineEntry> {
    let Some(story) = facts.story else { return Vec::new() };
    let Some(last) = story.attempts.last() else { return Vec::new() };
    let text = match facts.jobs.len() {
        0 => format!("attempt {}: none of its Jobs is there yet", last.number),
        1 => format!("attempt {} starts (1 of its Jobs is in the data)", last.number),
        jobs => format!("attempt {} starts ({jobs} of its Jobs are in the data)", last.number),
    };
    let mut entries = restarts(story);
    entries.push(entry(TimelineKind::Created, last.started, text));
    entries.extend(story.situations.iter().flat_map(|situation| &situation.blockers).map(|blocker| {
        let node = blocker.node.as_ref().map(|node| format!(" on {node}")).unwrap_or_default();
        let text = format!("pod {}{node} is asked to end, and has not", blocker.pod);
        TimelineEntry { node: blocker.node.clone(), ..entry(TimelineKind::Ongoing, blocker.since, text) }
    }));
    let end = |kind, text: String| entry(kind, last.ended, text);
    match last.outcome {
        AttemptOutcome::Failed => {
            let decision = last.decision.as_ref();
            let rule = decision.map(|decision| rule_words(story.job_set, decision));
            let reason = decision.map(|decision| decision.recorded_reason).unwrap_or_default();
            entries
                .push(end(TimelineKind::Failed, format!("the JobSet fails: {}, {reason}", rule.unwrap_or_default())));
        }
        AttemptOutcome::Completed => entries.push(end(TimelineKind::Completed, "the JobSet completes".to_owned())),
        _ => {}
    }
    entries.extend(
        story
            .job_set
            .condition("Suspended")
            .map(|condition| entry(TimelineKind::Suspended, condition.at, "suspended".to_owned())),
    );
    entries
}

/// Failures of which the same is to be said.
struct Alike<'a, 's> {
    words: String,
    first: &'a Failure<'s>,
    from: Time,
    to: Time,
    count: u64,
}

impl Alike<'_, '_> {
    /// One more, which came later.
    fn add(&mut self, at: Time) {
        self.to = at;
        self.count += 1;
    }

    fn entry(&self, facts: &Facts) -> TimelineEntry {
        if self.count == 1 {
            return one(TimelineKind::Failure, facts, self.first, self.from);
        }
        let seconds = self.to.seconds() - self.from.seconds();
        let span = if seconds > 0 { format!(" within {}", human_duration(seconds)) } else { String::new() };
        let text = format!("{} pods fail{span}: {}", self.count, self.words);
        TimelineEntry { count: self.count, ..entry(TimelineKind::Failure, Some(self.from), text) }
    }
}

/// The failures: the first by itself, those alike folded, collateral and what goes on each in one entry.
fn failures(facts: &Facts, own: &[(Time, &Failure)]) -> Vec<TimelineEntry> {
    let mut entries = Vec::new();
    let mut rest = own;
    if let Some(((at, first), others)) = own.split_first() {
        entries.push(one(TimelineKind::FirstFailure, facts, first, *at));
        rest = others;
    }
    let mut kinds: Vec<Alike> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut others = 0_u64;
    for (at, failure) in rest {
        let words = words(facts, failure);
        match places.get(&words) {
            Some(place) => kinds[*place].add(*at),
            None if kinds.len() < MOST_FAILURES => {
                places.insert(words.clone(), kinds.len());
                kinds.push(Alike { words, first: failure, from: *at, to: *at, count: 1 });
            }
            None => others += 1,
        }
    }
    entries.extend(kinds.iter().map(|kind| kind.entry(facts)));
    if others > 0 {
        let text = format!("{others} more failures of other kinds");
        entries.push(TimelineEntry { count: others, ..entry(TimelineKind::Failure, None, text) });
    }
    entries.extend(folded(facts, TimelineKind::Collateral, &[Class::Collateral]));
    entries.extend(folded(facts, TimelineKind::Lost, &[Class::Lost]));
    entries.extend(folded(facts, TimelineKind::Ongoing, &[Class::Pending, Class::Restarting]));
    entries.extend(folded(facts, TimelineKind::Ongoing, &[Class::NotReady]));
    entries.extend(folded(facts, TimelineKind::Failure, &[Class::JobLevel]));
    entries
}

fn one(kind: TimelineKind, facts: &Facts, failure: &Failure, at: Time) -> TimelineEntry {
    let pod = failure.pod_name().unwrap_or_default();
    let node = failure.node();
    let place = node.map(|node| format!(" on {node}")).unwrap_or_default();
    TimelineEntry {
        object: failure.pod.map(|pod| object("pod", &pod.namespace, &pod.name)),
        node: node.map(ToString::to_string),
        ..entry(kind, Some(at), format!("pod {pod}{place}: {}", words(facts, failure)))
    }
}

/// What happened and, where a rule holds for it, which.
fn words(facts: &Facts, failure: &Failure) -> String {
    let happened = what_happened(failure);
    let rule = failure.rule.and_then(|hit| {
        let called = facts.analysis.label_of(failure, hit.index())?;
        Some(format!(" → rule {} {} ({})", hit.index(), called.label, hit.action))
    });
    let none = (failure.class == Class::NoRule).then(|| " → no rule matched, counted".to_owned());
    format!("{happened}{}", rule.or(none).unwrap_or_default())
}

fn folded(facts: &Facts, kind: TimelineKind, classes: &[Class]) -> Option<TimelineEntry> {
    let alike: Vec<_> = facts.failures.iter().filter(|failure| classes.contains(&failure.class)).collect();
    let first = alike.iter().min_by_key(|failure| (failure.at().is_none(), failure.at()))?;
    let count: u64 = alike.iter().map(|failure| u64::from(failure.count)).sum();
    let names: Vec<&str> = alike.iter().filter_map(|failure| failure.pod_name()).collect();
    let pods = if names.is_empty() { String::new() } else { format!(": {}", list_names(&names, 3)) };
    let happened = what_happened(first);
    let text = match kind {
        TimelineKind::Collateral => {
            let by = first.torn_down.map(|by| by.to_string()).unwrap_or_default();
            let (pods_are, are) = if count == 1 { ("pod is", "") } else { ("pods are", "") };
            format!("{count} {pods_are}{are} torn down ({by}){pods}")
        }
        TimelineKind::Lost => format!("{count} failed without a pod left: {happened}"),
        TimelineKind::Ongoing => format!("{happened}{pods}"),
        _ => happened,
    };
    Some(TimelineEntry { count, ..entry(kind, first.at(), text) })
}

/// What the Job controller acted on, and whether that was what failed first.
fn acted_on(job: &Job, own: &[(Time, &Failure)]) -> Option<TimelineEntry> {
    let condition = job.failing()?;
    let named = parse_message(&condition.message).map(|decision| decision.pod);
    let first = own.iter().find(|(_, failure)| failure.job.is_some_and(|other| std::ptr::eq(other, job)));
    let other = first.and_then(|(_, first)| Some((first.pod_name()?, named?))).filter(|(first, named)| first != named);
    let note = other.map(|(first, _)| format!("; pod {first} had failed before")).unwrap_or_default();
    let rule = job.policy.as_ref().and_then(|policy| recorded_rule(policy, &condition.reason, &condition.message));
    let what = match (rule, named) {
        (Some(rule), Some(pod)) => format!("rule {}, pod {pod}", rule.index),
        _ => condition.message.to_string(),
    };
    let text = format!("the controller fails job/{}: {}: {what}{note}", job.name, condition.reason);
    Some(TimelineEntry {
        object: Some(object("job", &job.namespace, &job.name)),
        ..entry(TimelineKind::ActedOn, condition.at, text)
    })
}
