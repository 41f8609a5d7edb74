//! Source: `pkg/controller/cronjob/cronjob_controllerv2.go`, whose Events alone tell why nothing starts.

use std::collections::BTreeMap;

use super::{OwnFailure, Trouble};
use crate::analysis::failure::Told;
use crate::model::{CronJob, Event, Job, Time, human_duration};
use crate::report::{Class, SituationKind};
use crate::words::{counted, list_names};

/// What keeps its runs from starting. `events` are those about it, by time; `runs` its Jobs in the data.
pub(crate) fn standing<'s>(
    it: &'s CronJob,
    runs: &[&'s Job],
    events: &[&'s Event],
    now: Option<Time>,
) -> Vec<Trouble<'s>> {
    let object = crate::analysis::object("cronjob", &it.namespace, &it.name);
    if it.suspend {
        let text = "it is suspended: no run starts until it is resumed";
        let suspended = Trouble::new(SituationKind::Suspended, None, text).fact(&object, "spec.suspend", "true");
        return gone(it, runs, events, &object).into_iter().chain([suspended]).collect();
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
    let gone = gone(it, runs, events, &object);
    [bad, refused, blocked, missed, too_many, gone].into_iter().flatten().collect()
}

/// Runs whose Jobs are gone from the history, by how they ended, as far as Events tell: each by its name, as the controller may
/// say so of one run twice.
pub(crate) fn runs_gone<'s>(runs: &[&Job], events: &[&'s Event]) -> BTreeMap<&'s str, bool> {
    let mut ended = BTreeMap::new();
    for event in events.iter().filter(|event| &*event.reason == "SawCompletedJob") {
        // `Saw completed job: backup-29934454, condition: Failed`.
        let told = event.message.strip_prefix("Saw completed job: ").and_then(|rest| rest.split_once(", condition: "));
        if let Some((job, condition)) = told
            && !runs.iter().any(|run| *run.name == *job)
        {
            ended.insert(job, condition == "Failed");
        }
    }
    ended
}

/// Failed runs of which no Job and no pod is left.
fn gone<'s>(it: &'s CronJob, runs: &[&'s Job], events: &[&'s Event], object: &str) -> Option<Trouble<'s>> {
    let names: Vec<&str> =
        runs_gone(runs, events).into_iter().filter_map(|(job, has_failed)| has_failed.then_some(job)).collect();
    let count = u32::try_from(names.len()).ok().filter(|count| *count > 0)?;
    let last = events.iter().filter(|event| &*event.reason == "SawCompletedJob").filter_map(|event| event.last).max();
    let text = format!(
        "{} gone from the history (failedJobsHistoryLimit {}): {}",
        if count == 1 { "1 failed run is".to_owned() } else { format!("{count} failed runs are") },
        it.failed_history,
        list_names(&names, 3)
    );
    let told = Told { reason: Some("RunFailed".into()), at: last, gone: Some(text.clone()), ..Told::default() };
    let mut trouble = Trouble::new(SituationKind::RunsGone, last, text)
        .fact(object, "Event.reason", "SawCompletedJob")
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
    let active = runs.iter().find(|job| !job.is_finished())?;
    let age = now.zip(active.created).map(|(now, at)| human_duration((now.seconds() - at.seconds()).max(0)));
    let age = age.map(|age| format!(" for {age}")).unwrap_or_default();
    let text = format!(
        "{} skipped behind run {}, which has not ended{age} (concurrencyPolicy Forbid)",
        if event.count == 1 { "1 run was".to_owned() } else { format!("{} were", counted(event.count, "run")) },
        active.name
    );
    Some(
        told(SituationKind::RunBlocks, event, text, object)
            .fact(object, "spec.concurrencyPolicy", &*it.concurrency_policy)
            .failing(&event.reason, &event.message)
            .always(),
    )
}
