use super::age::{clock, day, whole};
use crate::checkpoint::Answer;
use crate::model::Time;
use crate::report::{CheckpointReport, DeletedBy, DeletionReport, Explanation, SnapshotReport};

/// Snapshots of one template that are told; the rest is counted.
const MOST_SNAPSHOTS: usize = 2;

/// What is told of one template, the most useful first, a sentence each.
pub(super) fn sentences(report: &CheckpointReport, explanation: &Explanation) -> Vec<String> {
    let as_of = explanation.as_of;
    let mut all = vec![saving(report)];
    if report.saves.answer != Answer::No && tells(report) {
        all.push(fate(report, as_of));
    }
    all.extend(snapshots(&report.snapshots, as_of));
    if report.resumes.answer == Answer::Unknown && report.saves.answer == Answer::Yes {
        all.push(format!("whether it would resume is not known: {}", report.resumes.why));
    }
    all.extend(report.sigterm.as_ref().map(|sigterm| sigterm.why.clone()));
    let of = &report.replicated_jobs;
    if let (false, true) = (of.is_empty(), explanation.checkpoints.len() > 1) {
        all[0] = format!("{}: {}", of.join(", "), all[0]);
    }
    all
}

/// Whether the template shows any sign.
fn tells(report: &CheckpointReport) -> bool {
    report.framework.is_some() || !report.evidence.is_empty()
}

/// Whether it saves and resumes. It is configured to: nothing says that it ever did.
fn saving(report: &CheckpointReport) -> String {
    let (saves, resumes) = (&report.saves, &report.resumes);
    if !tells(report) {
        return saves.why.clone();
    }
    let place = saves.place.as_ref().map(|place| format!(" to {place}")).unwrap_or_default();
    let every = saves.every.as_ref().map(|every| format!(" every {every}")).unwrap_or_default();
    // Many reasons begin with the name.
    let named = report.framework.filter(|framework| saves.answer == Answer::Yes || !saves.why.starts_with(framework));
    let configured = named.map_or("configured".to_owned(), |framework| format!("{framework} is configured"));
    let does_not_save = named.map_or("does not save".to_owned(), |framework| format!("{framework} does not save"));
    let it = named.unwrap_or("it");
    let saving = match saves.answer {
        Answer::Yes => format!("{configured} to save{place}{every}"),
        Answer::No => format!("{does_not_save}: {}", saves.why),
        Answer::Unknown => format!("whether {it} saves{place} is not known: {}", saves.why),
    };
    match (saves.answer, resumes.answer) {
        (Answer::Yes, Answer::Yes) => format!("{saving} and to resume"),
        (Answer::Yes, Answer::No) => format!("{saving}, not to resume: {}", resumes.why),
        (_, Answer::Yes) => format!("{saving}; would resume: {}", resumes.why),
        (Answer::Unknown, Answer::No) => format!("{saving}; would not resume: {}", resumes.why),
        _ => saving,
    }
}

/// What becomes of what was saved.
fn fate(report: &CheckpointReport, as_of: Option<Time>) -> String {
    let durable = &report.durable;
    // That claims and namespaces can be deleted is known; it is told in the JSON.
    let is_told = |deletion: &&DeletionReport| match deletion.by {
        DeletedBy::ClaimDeletion => deletion.at.is_some(),
        DeletedBy::JobSetTtl | DeletedBy::JobTtl | DeletedBy::JobSetDeletion | DeletedBy::OwnerDeletion => true,
        DeletedBy::ContainerRestart | DeletedBy::PodDeletion | DeletedBy::NodeLoss | DeletedBy::NamespaceDeletion => {
            false
        }
    };
    let told: Vec<&DeletionReport> = report.deleted_by.iter().filter(is_told).collect();
    let of = |by: DeletedBy| told.iter().find(|deletion| deletion.by == by).copied();
    match (durable.answer, of(DeletedBy::JobSetDeletion), of(DeletedBy::JobSetTtl)) {
        (Answer::No, ..) => durable.why.clone(),
        (_, Some(deletion), Some(ttl)) => format!("{}, {}", deletion.why, by_itself(ttl, as_of)),
        _ if !told.is_empty() => told.into_iter().map(|it| due(it, as_of)).collect::<Vec<_>>().join("; "),
        (Answer::Yes, ..) if durable.claim.is_none() => format!("outlives the pods: {}", durable.why),
        (Answer::Yes, ..) => durable.why.clone(),
        (Answer::Unknown, ..) => format!("whether it outlives the pods is not known: {}", durable.why),
    }
}

/// When the `JobSet`, and what goes with it, is deleted without anybody's doing.
fn by_itself(ttl: &DeletionReport, as_of: Option<Time>) -> String {
    match ttl.at {
        Some(at) => format!("{} by ttlSecondsAfterFinished", when(at, as_of)),
        None => "and by ttlSecondsAfterFinished once it finishes".to_owned(),
    }
}

fn due(deletion: &DeletionReport, as_of: Option<Time>) -> String {
    match deletion.at {
        Some(at) => format!("{}: {}", deletion.why, when(at, as_of)),
        None => deletion.why.clone(),
    }
}

fn when(at: Time, as_of: Option<Time>) -> String {
    let is_past = as_of.is_some_and(|as_of| as_of >= at);
    format!("{} {}", if is_past { "due since" } else { "at" }, time(at, as_of))
}

fn snapshots(all: &[SnapshotReport], as_of: Option<Time>) -> Vec<String> {
    let mut lines: Vec<String> = all.iter().take(MOST_SNAPSHOTS).map(|taken| snapshot(taken, as_of)).collect();
    let more = all.len().saturating_sub(MOST_SNAPSHOTS);
    if more > 0 {
        lines.push(format!("and {more} more of them"));
    }
    lines
}

/// `VolumeSnapshot x of claim y, ready, taken 12:03:00Z`.
fn snapshot(taken: &SnapshotReport, as_of: Option<Time>) -> String {
    let name = taken.object.rsplit('/').next().unwrap_or_default();
    let of = if taken.kind == "VolumeSnapshot" { "claim" } else { "pod" };
    let ready = match (taken.ready, &taken.error) {
        (Some(true), _) => "ready".to_owned(),
        (_, Some(error)) => format!("failed: {error}"),
        (Some(false), None) => "not ready".to_owned(),
        (None, None) => "not known to be ready".to_owned(),
    };
    let verb = if taken.ready == Some(true) { "taken" } else { "asked for" };
    let at = taken.at.map(|at| format!(", {verb} {}", time(at, as_of))).unwrap_or_default();
    let node = taken.node.as_ref().map(|node| format!(", on node {node} alone")).unwrap_or_default();
    format!("{} {name} of {of} {}, {ready}{at}{node}", taken.kind, taken.of)
}

/// The time of day where it is of the day that the data is of.
fn time(at: Time, as_of: Option<Time>) -> String {
    if as_of.map(day) == Some(day(at)) { clock(at) } else { whole(at) }
}
