//! The attempts of a `JobSet`, a row each; those that ended alike are folded.

use super::age::clock;
use super::notes::gpu_hours;
use crate::model::{Time, human_duration};
use crate::report::{AttemptOutcome, AttemptReport, JobSetReport, RESTARTS_IN_PLACE};

pub(super) const HEADS: [&str; 6] = ["ATTEMPT", "STARTED", "FOR", "FIRST FAILURE", "JOBSET RULE", "EFFECT"];

/// Attempts shown one by one; of more, those that ended alike are folded.
const MOST: usize = 8;

/// The rows: attempt, start, duration, what failed first, the rule, its effect.
pub(super) fn rows(job_set: &JobSetReport) -> Vec<Vec<String>> {
    let folds = job_set.attempts.len() > MOST;
    let mut runs: Vec<Vec<&AttemptReport>> = Vec::new();
    for attempt in &job_set.attempts {
        match runs.last_mut() {
            Some(run) if folds && is_alike(run[0], attempt) => run.push(attempt),
            _ => runs.push(vec![attempt]),
        }
    }
    let left_out = runs.len().saturating_sub(MOST);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        // The first and the last tell most.
        match (left_out, number) {
            (0, _) | (_, 0) => rows.push(row(job_set, run)),
            (left_out, 1) => {
                let more = format!("{left_out} more entries: -o json has them all");
                rows.push(vec!["…".to_owned(), String::new(), String::new(), more, String::new(), String::new()]);
            }
            (left_out, number) if number > left_out => rows.push(row(job_set, run)),
            _ => {}
        }
    }
    rows
}

/// The time of day, with the day where the attempts are not all of one.
fn started(job_set: &JobSetReport, at: Time) -> String {
    const DAY: i64 = 86_400;
    let starts = job_set.attempts.iter().filter_map(|attempt| attempt.started_at);
    let mut days = starts.map(|at| at.seconds().div_euclid(DAY));
    let first = days.next();
    if days.all(|day| Some(day) == first) { clock(at) } else { Time::from_seconds(at.seconds()).to_string() }
}

fn is_alike(a: &AttemptReport, b: &AttemptReport) -> bool {
    let of = |attempt: &AttemptReport| {
        let AttemptReport { outcome, rule, job, reason, exit_code, condition, counted, .. } = attempt.clone();
        (outcome, rule.map(|rule| rule.label), job, reason, exit_code, condition, counted)
    };
    a.rule.is_some() && of(a) == of(b)
}

/// One row for attempts that ended alike.
fn row(job_set: &JobSetReport, run: &[&AttemptReport]) -> Vec<String> {
    let (first, last) = (run[0], run[run.len() - 1]);
    let is_one = run.len() == 1 && first.count == 1;
    let which = match (first.attempt, last.through.unwrap_or(last.attempt)) {
        (from, to) if from == to && is_one => from.to_string(),
        (from, to) if run.len() == 1 && first.count <= to - from => format!("{} of {from}-{to}", first.count),
        (from, to) if from == to => format!("{from} ({} times)", run.len()),
        (from, to) => format!("{from}-{to}"),
    };
    let seconds = |attempt: &AttemptReport| Some(attempt.ended_at?.seconds() - attempt.started_at?.seconds());
    let lasted: Vec<i64> = run.iter().filter_map(|attempt| seconds(attempt)).collect();
    let lasted = match (lasted.iter().min(), lasted.iter().max()) {
        (Some(least), Some(most)) if least == most => human_duration(*least),
        (Some(least), Some(most)) => format!("{}-{}", human_duration(*least), human_duration(*most)),
        _ => "-".to_owned(),
    };
    let effect = effect(job_set, first, first.counted_so_far.filter(|_| run.len() == 1));
    vec![
        which,
        first.started_at.map_or_else(|| "?".to_owned(), |at| started(job_set, at)),
        lasted,
        first_failure(run),
        first.rule.as_ref().map_or_else(|| "-".to_owned(), |rule| rule.label.clone()),
        if is_one || first.rule.is_none() { effect } else { format!("{effect}, each") },
    ]
}

/// `trainer exit 42 "ValueError…", pod llama-slice-1-0-x7k2p on gpu-node-1`: the cause first, as it must not be cut off.
fn first_failure(run: &[&AttemptReport]) -> String {
    let attempt = run[0];
    if attempt.rule.is_none() {
        return match attempt.outcome {
            AttemptOutcome::Unknown => format!("unknown: {}", attempt.missing.join("; ")),
            _ => "-".to_owned(),
        };
    }
    let happened = match (&attempt.container, attempt.exit_code, &attempt.condition, &attempt.reason) {
        (_, _, Some(condition), _) => condition.clone(),
        (Some(container), Some(code), _, _) => format!("{container} exit {code}"),
        (_, _, _, Some(reason)) => format!("{reason}, exit unknown"),
        _ if attempt.rule.as_ref().is_some_and(|rule| rule.label == RESTARTS_IN_PLACE) => {
            return "no Job failed".to_owned();
        }
        _ => "unknown".to_owned(),
    };
    let said = attempt.said.as_ref().map(|said| format!(" \"{said}\"")).unwrap_or_default();
    // Of attempts folded into one row the pods differ, and often the nodes.
    let pod = attempt.pod.as_ref().filter(|_| run.len() == 1).map(|pod| format!("pod {pod}"));
    let place =
        pod.or_else(|| Some(format!("job {}", attempt.job.as_ref()?))).unwrap_or_else(|| "Job unknown".to_owned());
    let node = attempt.node.as_ref().filter(|node| run.iter().all(|other| other.node.as_ref() == Some(*node)));
    let node = node.map(|node| format!(" on {node}")).unwrap_or_default();
    format!("{happened}{said}, {place}{node}")
}

/// `restart, counted 1/2`, `restart, not counted`, `failed (ReachedMaxRestarts)`.
fn effect(job_set: &JobSetReport, attempt: &AttemptReport, used: Option<u32>) -> String {
    let counted = match (attempt.counted, used, job_set.max_restarts) {
        (Some(true), Some(used), Some(max)) => format!(", counted ({used}/{max})"),
        (Some(true), _, _) => ", counted".to_owned(),
        (Some(false), _, _) => ", not counted".to_owned(),
        (None, _, _) => String::new(),
    };
    match attempt.outcome {
        AttemptOutcome::Restarted => format!("restart{counted}"),
        AttemptOutcome::JobRestarted => format!("restart of the Job{counted}"),
        AttemptOutcome::Failed => {
            let reason = attempt.rule.as_ref().and_then(|rule| rule.failed_reason.as_deref());
            match reason.filter(|reason| *reason != "FailJobSetFailurePolicyAction") {
                Some(reason) => format!("failed ({reason})"),
                None => "failed".to_owned(),
            }
        }
        AttemptOutcome::Completed => "completed".to_owned(),
        AttemptOutcome::Running => "running".to_owned(),
        AttemptOutcome::Restarting => "restarting".to_owned(),
        AttemptOutcome::Suspended => "suspended".to_owned(),
        AttemptOutcome::Unknown if attempt.count == 1 => "restart".to_owned(),
        AttemptOutcome::Unknown => format!("{} restarts", attempt.count),
    }
}

/// What the attempts that ended have cost; at least that, where some are not known.
pub(super) fn cost(job_set: &JobSetReport) -> Option<String> {
    let least = if job_set.gpu_seconds_partial { "at least " } else { "" };
    let spent = gpu_hours(job_set.gpu_seconds);
    (job_set.gpu_seconds > 0.0).then(|| format!("{least}{spent} held by all pods of the ended attempts, by the spec"))
}
