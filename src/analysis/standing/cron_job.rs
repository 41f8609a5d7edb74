//! Source: `pkg/controller/cronjob/cronjob_controllerv2.go`, whose Events alone tell why nothing starts.

use super::Trouble;
use crate::model::{CronJob, Event, Job, Time, human_duration};
use crate::report::SituationKind;
use crate::words::counted;

/// So many skipped runs are told: one may be a run that took a little longer.
const SKIPPED: u32 = 2;

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
        return vec![Trouble::new(SituationKind::Suspended, None, text).fact(&object, "spec.suspend", "true")];
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
    [bad, refused, blocked, missed, too_many].into_iter().flatten().collect()
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
    let event = skipped.filter(|event| event.count >= SKIPPED && &*it.concurrency_policy == "Forbid")?;
    let active = runs.iter().find(|job| !job.is_finished())?;
    let age = now.zip(active.created).map(|(now, at)| human_duration((now.seconds() - at.seconds()).max(0)));
    let age = age.map(|age| format!(" for {age}")).unwrap_or_default();
    let text = format!(
        "{} were skipped behind run {}, which has not ended{age} (concurrencyPolicy Forbid)",
        counted(event.count, "run"),
        active.name
    );
    Some(
        told(SituationKind::RunBlocks, event, text, object)
            .fact(object, "spec.concurrencyPolicy", &*it.concurrency_policy)
            .failing(&event.reason, &event.message)
            .always(),
    )
}
