//! Source: trainer `pkg/controller/trainjob_controller.go`: `Complete` and `Failed` are those of its `JobSet`, word for word;
//! its own is `DeadlineExceeded`, which deletes the `JobSet`.

use super::{Around, OwnFailure, Standing, Trouble};
use crate::analysis::Told;
use crate::model::{Event, JobSet, Time, TrainJob};
use crate::report::{Class, SituationKind, WorkloadState};

/// How much later than its `TrainJob` a `JobSet` may be made without having been made anew, in seconds.
const AT_ONCE: f64 = 5.0;

pub(super) fn standing<'s>(it: &'s TrainJob, around: &Around<'_, 's>, object: &str) -> Standing<'s> {
    let job_set = around.index.job_set(&it.head);
    let anew = job_set.and_then(|job_set| begun_anew(it, job_set, around, object));
    if let Some(failed) = it.head.is("Failed") {
        let own = match &*failed.reason {
            "DeadlineExceeded" => {
                let seconds = it.active_deadline.map(|seconds| format!(" ({seconds}s)")).unwrap_or_default();
                let text = format!(
                    "it ran into activeDeadlineSeconds{seconds}: its JobSet was deleted, with its pods and all that they told"
                );
                Some(Trouble::new(SituationKind::DeadlineExceeded, failed.at, text))
            }
            // What its JobSet tells better, if it is there.
            _ if job_set.is_none() => {
                let text = format!("it failed ({}): {}; its JobSet is gone", failed.reason, failed.message);
                Some(Trouble::new(SituationKind::Unavailable, failed.at, text))
            }
            _ => None,
        };
        let own =
            own.map(|trouble| trouble.condition(object, failed).failing(&failed.reason, &failed.message).always());
        return Standing::new(WorkloadState::Failed, if own.is_some() { "" } else { "its JobSet failed" })
            .with(own.into_iter().chain(anew));
    }
    if it.head.is("Complete").is_some() {
        return Standing::new(WorkloadState::Complete, "it completed").with(anew);
    }
    if it.suspend || it.head.is("Suspended").is_some() {
        let since = it.head.is("Suspended").and_then(|condition| condition.at);
        let text = "its JobSet and Jobs are suspended with it";
        let trouble = Trouble::new(SituationKind::Suspended, since, text).fact(object, "spec.suspend", "true");
        let trouble = match it.head.is("Suspended") {
            Some(condition) => trouble.condition(object, condition),
            None => trouble,
        };
        return Standing::new(WorkloadState::Suspended, "").with([trouble]);
    }
    let refused = around.events.iter().filter(|event| &*event.reason == "TrainJobResourcesCreationFailed");
    let refused = refused.max_by_key(|event| event.last).filter(|_| job_set.is_none()).map(|event| {
        Trouble::new(
            SituationKind::CreationRefused,
            event.first,
            format!("what it needs is refused: {}", event.message),
        )
        .fact(object, "Event.reason", &*event.reason)
        .failing(&event.reason, &event.message)
        .always()
    });
    let state = if refused.is_some() { WorkloadState::Stuck } else { WorkloadState::Running };
    let summary = if job_set.is_some() { "it runs" } else { "its JobSet is not there" };
    Standing::new(state, summary).whole(job_set.is_some()).with(refused.into_iter().chain(anew))
}

/// Said where its `JobSet` is not the first one: it was deleted, by its `ttlSecondsAfterFinished` or by hand, and made anew
/// with all its restarts (trainer#3737, #3779).
fn begun_anew<'s>(it: &'s TrainJob, job_set: &'s JobSet, around: &Around<'_, 's>, object: &str) -> Option<Trouble<'s>> {
    let of_name = around.index.named("JobSet", &job_set.namespace, &job_set.name).iter();
    // What was before the TrainJob itself was of another one of its name.
    let is_other = |event: &&&Event| {
        let uids = event.uid.as_ref().zip(job_set.uid.as_ref());
        uids.is_some_and(|(one, other)| one != other) && event.last.or(event.first) >= it.head.created
    };
    let earlier: Vec<&Event> = of_name.filter(is_other).copied().collect();
    let later = it.head.created.zip(job_set.created).is_some_and(|(first, then)| then.since(first) > AT_ONCE);
    // A JobSet is also made late where it had to wait; Events of another one are what tells.
    let ended = earlier.iter().rev().find(|event| ENDS.contains(&&*event.reason));
    let last_end: Option<Time> = ended.and_then(|event| event.last);
    if earlier.is_empty() || !later {
        return None;
    }
    let before = match ended {
        Some(event) => {
            format!(" after the one before had ended{} ({}: {})", around.ago(last_end), event.reason, event.message)
        }
        None => String::new(),
    };
    // A TrainJob makes a JobSet whenever it has none, and forgets that one failed.
    let again = match job_set.ttl_seconds_after_finished {
        Some(ttl) => format!(
            "and so it goes on without end, as its JobSet is deleted {ttl}s after each end (ttlSecondsAfterFinished)"
        ),
        None => "as each time that its JobSet is deleted".to_owned(),
    };
    let text = format!(
        "its JobSet was deleted and made anew{}{before}: restarts count from 0 again, {again}",
        around.ago(job_set.created)
    );
    let trouble = Trouble::new(SituationKind::BegunAnew, job_set.created, text);
    // What failed before is gone with the JobSet, and the TrainJob itself says no more that it did.
    let trouble = match ended {
        Some(event) => lost_before(trouble, event),
        None => trouble,
    };
    let trouble = match job_set.ttl_seconds_after_finished {
        Some(ttl) => {
            let made = crate::analysis::object("jobset", &job_set.namespace, &job_set.name);
            trouble.fact(&made, TTL, ttl.to_string())
        }
        None => trouble,
    };
    Some(
        trouble
            .fact(object, "metadata.creationTimestamp", it.head.created.map(|at| at.to_string()).unwrap_or_default())
            .fact(
                &crate::analysis::object("jobset", &job_set.namespace, &job_set.name),
                "metadata.creationTimestamp",
                job_set.created.map(|at| at.to_string()).unwrap_or_default(),
            ),
    )
}

fn lost_before<'s>(trouble: Trouble<'s>, event: &'s Event) -> Trouble<'s> {
    let told = Told {
        reason: Some(event.reason.clone()),
        message: Some(event.message.clone()),
        at: event.last,
        gone: Some("the JobSet before failed, and is gone with its pods".to_owned()),
        ..Told::default()
    };
    Trouble { failure: Some(OwnFailure { class: Class::Lost, told, count: 1, always: true }), ..trouble }
}

/// With it a `TrainJob` whose `JobSet` has ended begins anew without end.
pub const TTL: &str = "spec.ttlSecondsAfterFinished";

/// Reasons of Events that tell that a `JobSet` failed for good.
const ENDS: [&str; 3] = ["ReachedMaxRestarts", "FailJobSetFailurePolicyAction", "FailedJobs"];
