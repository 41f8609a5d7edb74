//! Source: `pkg/controller/cronjob/cronjob_controllerv2.go`, whose Events alone tell why nothing starts.

use std::collections::BTreeMap;

use super::{Index, OwnFailure, Trouble};
use crate::analysis::failure::Told;
use crate::model::{CronJob, Event, Job, Time, human_duration};
use crate::report::{Class, SituationKind};
use crate::words::{counted, list_names};

/// What keeps its runs from starting, and which have gone. `runs` are its Jobs in the data.
pub(crate) fn standing<'s>(
    it: &'s CronJob,
    runs: &[&'s Job],
    index: &Index<'s>,
    now: Option<Time>,
) -> Vec<Trouble<'s>> {
    let object = crate::analysis::object("cronjob", &it.namespace, &it.name);
    let events = about(it, index);
    if it.suspend {
        let text = "it is suspended: no run starts until it is resumed";
        let suspended = Trouble::new(SituationKind::Suspended, None, text).fact(&object, "spec.suspend", "true");
        return gone(it, runs, index, &object).into_iter().chain([suspended]).collect();
    }
    let last =
        |reason: &str| events.iter().copied().filter(|event| &*event.reason == reason).max_by_key(|event| event.last);
    let started = last("SuccessfulCreate").and_then(|event| event.last).max(it.last_scheduled);
    // What was said before a run started is over.
    let since_then = |reason| last(reason).filter(|event| event.last > started);
    let bad = ["UnparseableSchedule", "UnParseableCronJobSchedule", "InvalidSchedule", "UnknownTimeZone"];
    let bad = bad.into_iter().find_map(since_then).map(|event| {
        let text = format!("no run starts: {}", event.message);
        told(SituationKind::BadSchedule, event, text, &object).failing(&event.reason, &event.message).always()
    });
    let refused = since_then("FailedCreate").map(|event| {
        let text = format!("its run is refused: {}", event.message);
        told(SituationKind::CreationRefused, event, text, &object).failing(&event.reason, &event.message).always()
    });
    let missed = last("MissSchedule").map(|event| {
        let text = format!("a run was missed, as startingDeadlineSeconds had passed: {}", event.message);
        told(SituationKind::SchedulesMissed, event, text, &object).failing(&event.reason, &event.message).always()
    });
    let too_many = last("TooManyMissedTimes").map(|event| {
        // The controller says so once, and starts the latest run all the same.
        let text = "more than 100 runs were missed (TooManyMissedTimes); only the latest one of them is started";
        told(SituationKind::SchedulesMissed, event, text.to_owned(), &object)
            .failing(&event.reason, &event.message)
            .always()
    });
    let blocked = blocked(it, runs, last("JobAlreadyActive"), now, &object);
    let gone = gone(it, runs, index, &object);
    [bad, refused, blocked, missed, too_many, gone].into_iter().flatten().collect()
}

/// A run whose Job is gone from the history.
pub(crate) struct RunGone<'s> {
    pub(crate) job: &'s str,
    pub(crate) has_failed: bool,
    pub(crate) created: Option<Time>,
    pub(crate) ended: Option<Time>,
    /// Reason and message of the Job's own failure, by its Event.
    pub(crate) failure: Option<(&'s str, &'s str)>,
}

/// Runs whose Jobs are gone from the history, the latest first, as far as Events tell how they ended: the `CronJob`'s
/// `SawCompletedJob`, which may come twice for one run, or the Job's own, where a limit of 0 removes it before that.
///
/// Source: `pkg/controller/job/job_controller.go`, `recordJobFinished`: the reason of the Job's condition, or `Completed`.
pub(crate) fn runs_gone<'s>(it: &CronJob, runs: &[&Job], index: &Index<'s>) -> Vec<RunGone<'s>> {
    let of_it = about(it, index);
    let made = |event: &&'s Event| {
        let job = event.message.strip_prefix("Created job ")?;
        Some((job, event.first))
    };
    let mut gone: BTreeMap<&str, RunGone> = BTreeMap::new();
    let blank = |job| RunGone { job, has_failed: false, created: None, ended: None, failure: None };
    let is_there = |job: &str| runs.iter().any(|run| *run.name == *job);
    let created: BTreeMap<&str, Option<Time>> = of_it.iter().filter_map(made).collect();
    for event in of_it.iter().filter(|event| &*event.reason == "SawCompletedJob") {
        // `Saw completed job: backup-29934454, condition: Failed`.
        let told = event.message.strip_prefix("Saw completed job: ").and_then(|rest| rest.split_once(", condition: "));
        let Some((job, condition)) = told.filter(|(job, _)| !is_there(job)) else { continue };
        let run = gone.entry(job).or_insert_with(|| blank(job));
        (run.has_failed, run.ended) = (condition == "Failed", run.ended.or(event.first));
    }
    let own = created.keys().filter(|job| !is_there(job)).flat_map(|job| index.named("Job", &it.namespace, job));
    for event in own {
        let failed = FAILURES.contains(&&*event.reason) || event.reason.starts_with("PodFailurePolicy");
        if !failed && &*event.reason != "Completed" {
            continue;
        }
        let run = gone.entry(&event.name).or_insert_with(|| blank(&event.name));
        run.has_failed |= failed;
        run.ended = run.ended.or(event.first);
        run.failure = failed.then_some((&*event.reason, &*event.message)).or(run.failure);
    }
    let mut gone: Vec<RunGone> = gone.into_values().collect();
    for run in &mut gone {
        run.created = created.get(run.job).copied().flatten();
    }
    gone.sort_by(|a, b| (b.ended, b.job).cmp(&(a.ended, a.job)));
    gone
}

/// Reasons with which a Job fails, beside those of its policy.
const FAILURES: [&str; 4] = ["BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded"];

fn about<'s>(it: &CronJob, index: &Index<'s>) -> Vec<&'s Event> {
    index.about("CronJob", &it.namespace, &it.name, it.uid.as_ref())
}

/// Failed runs of which no Job and no pod is left.
fn gone<'s>(it: &'s CronJob, runs: &[&'s Job], index: &Index<'s>, object: &str) -> Option<Trouble<'s>> {
    let failed: Vec<RunGone> = runs_gone(it, runs, index).into_iter().filter(|run| run.has_failed).collect();
    let names: Vec<&str> = failed.iter().map(|run| run.job).collect();
    let count = u32::try_from(names.len()).ok().filter(|count| *count > 0)?;
    let last = failed.iter().filter_map(|run| run.ended).max();
    let text = format!(
        "{} gone from the history (failedJobsHistoryLimit {}): {}",
        if count == 1 { "1 failed run is".to_owned() } else { format!("{count} failed runs are") },
        it.failed_history,
        list_names(&names, 3)
    );
    let told = Told { reason: Some("RunFailed".into()), at: last, gone: Some(text.clone()), ..Told::default() };
    let mut trouble = Trouble::new(SituationKind::RunsGone, last, text)
        .fact(object, "Event.message", names.first().copied().unwrap_or_default())
        .fact(object, "spec.failedJobsHistoryLimit", it.failed_history.to_string());
    trouble.failure = Some(OwnFailure { class: Class::Lost, told, count, always: true });
    Some(trouble)
}

fn told<'s>(kind: SituationKind, event: &'s Event, text: String, object: &str) -> Trouble<'s> {
    Trouble::new(kind, event.last.or(event.first), text).fact(object, "Event.reason", &*event.reason)
}

/// A run that does not end, behind which others are skipped (`concurrencyPolicy: Forbid`).
fn blocked<'s>(
    it: &'s CronJob,
    runs: &[&'s Job],
    skipped: Option<&'s Event>,
    now: Option<Time>,
    object: &str,
) -> Option<Trouble<'s>> {
    let event = skipped.filter(|_| &*it.concurrency_policy == "Forbid")?;
    // What was skipped behind a run that has ended since is over.
    let began_before = |at: Option<Time>| at.is_none() || event.last.or(event.first) >= at;
    let active = runs.iter().find(|job| !job.is_finished() && began_before(job.created))?;
    // The Event counts those behind earlier runs as well.
    let all_behind_it = event.first.zip(active.created).is_none_or(|(first, created)| first >= created);
    let age = now.zip(active.created).map(|(now, at)| human_duration((now.seconds() - at.seconds()).max(0)));
    let age = age.map(|age| format!(" for {age}")).unwrap_or_default();
    let text = format!(
        "{} skipped behind run {}, which has not ended{age} (concurrencyPolicy Forbid)",
        match event.count {
            1 => "1 run was".to_owned(),
            _ if !all_behind_it => "runs were".to_owned(),
            count => format!("{} were", counted(count, "run")),
        },
        active.name
    );
    Some(
        told(SituationKind::RunBlocks, event, text, object)
            .fact(object, "spec.concurrencyPolicy", &*it.concurrency_policy)
            .failing(&event.reason, &event.message)
            .always(),
    )
}
