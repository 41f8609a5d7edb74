use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::age::whole;
use crate::model::Time;
use crate::report::{BaselineReport, FailureReport, Source, SourceState, Summary};
use crate::source::Resource;
use crate::words::counted;

/// The first line: the answer.
pub(super) fn headline(report: &FailureReport) -> String {
    if report.summary.failures == 0 {
        let empty = if holds_nothing(report) { ": there are neither workloads nor pods" } else { "" };
        let new = if report.baseline.is_some() { "new " } else { "" };
        return format!("No {new}failures found{}{empty}", where_looked(report));
    }
    let Summary { failures, workloads, collateral, lost, gpu_seconds, .. } = report.summary;
    let of = if report.baseline.is_some() { "new failure" } else { "failure" };
    let mut words = vec![format!("{} in {}", counted(failures, of), counted(workloads, "workload"))];
    if collateral > 0 {
        words.push(format!("{collateral} of them collateral"));
    }
    if lost > 0 {
        words.push(format!("{lost} without a pod left"));
    }
    if gpu_seconds > 0.0 {
        words.push(format!("{} in failed attempts", gpu_hours(gpu_seconds)));
    }
    words.join(", ")
}

/// Whether what was looked at holds nothing that could fail, as under a misspelt namespace.
fn holds_nothing(report: &FailureReport) -> bool {
    let read = report.sources.iter().filter(|source| source.resource == "pods" || is_workload(&source.resource));
    report.scope.targets.is_empty() && read.map(|source| source.objects).sum::<u64>() == 0
}

/// Whether a resource is workloads.
fn is_workload(resource: &str) -> bool {
    Resource::named(resource).is_some_and(Resource::is_workload)
}

/// The second line: what the answer was made from.
pub(super) fn made_from(report: &FailureReport) -> String {
    let as_of = report.as_of.map(|time| format!("as of {}; ", Time::from_seconds(time.seconds()))).unwrap_or_default();
    format!("{as_of}{}", what_was_read(report))
}

/// What is known since an earlier report and left out, and how much of it goes on.
pub(super) fn baseline(report: &FailureReport) -> Option<String> {
    let BaselineReport { as_of, groups, failures, grown } = report.baseline?;
    let of = as_of.map_or_else(String::new, |at| format!(" of {}", whole(at)));
    let grown = match grown {
        0 => String::new(),
        grown => format!(", {grown} of them with more failures than then"),
    };
    Some(format!(
        "not shown, as the baseline{of} has them: {} in {}{grown}",
        counted(failures, "failure"),
        counted(groups, "group")
    ))
}

/// What was asked for, so that nothing found is not taken for nothing there.
fn where_looked(report: &FailureReport) -> String {
    let scope = &report.scope;
    let mut words = String::new();
    if !scope.classes.is_empty() {
        let classes: Vec<&str> = scope.classes.iter().map(|class| class.name()).collect();
        let _ = write!(words, " of class {}", classes.join(", "));
    }
    if !scope.targets.is_empty() || !scope.kinds.is_empty() {
        let asked: Vec<&str> = scope.kinds.iter().chain(&scope.targets).map(String::as_str).collect();
        let _ = write!(words, " of {}", asked.join(", "));
    }
    match &scope.namespaces[..] {
        [] => words.push_str(" in any namespace"),
        namespaces => {
            let _ = write!(words, " in namespace {}", namespaces.join(", "));
        }
    }
    if let Some(selector) = &scope.selector {
        let _ = write!(words, " with {selector}");
    }
    if let Some(since) = scope.since {
        let _ = write!(words, " in the last {since} s");
    }
    words
}

fn what_was_read(report: &FailureReport) -> String {
    let objects = |resource: &str| -> u64 {
        report.sources.iter().filter(|source| source.resource == resource).map(|source| source.objects).sum()
    };
    let [jobs, pods, events] = [("jobs", "job"), ("pods", "pod"), ("events", "event")]
        .map(|(resource, singular)| counted(objects(resource), singular));
    let others = report.sources.iter().filter(|source| source.resource != "jobs" && is_workload(&source.resource));
    let others = match others.map(|source| source.objects).sum::<u64>() {
        0 => String::new(),
        others => format!("{}, ", counted(others, "other workload")),
    };
    let mut words = format!("{jobs}, {others}{pods}, {events} read");
    if report.scope.contexts.len() > 1 {
        let _ = write!(words, " of {}", counted(clusters_read(report), "cluster"));
    }
    let gaps = gaps(report);
    if !gaps.is_empty() {
        let _ = write!(words, "; incomplete: {}", super::text::one_line(&gaps.join(", ")));
    }
    words
}

/// Clusters of which something was read.
fn clusters_read(report: &FailureReport) -> usize {
    let read =
        report.sources.iter().filter(|source| is_complete(source.state) && source.state != SourceState::NotAsked);
    read.filter_map(|source| source.cluster.as_deref()).collect::<BTreeSet<_>>().len()
}

const fn is_complete(state: SourceState) -> bool {
    matches!(state, SourceState::Read | SourceState::NotInstalled | SourceState::NotAsked)
}

/// What was not read to its end; of several clusters, with the cluster, and one that was not reached by itself.
fn gaps(report: &FailureReport) -> Vec<String> {
    let gaps = report.sources.iter().filter(|source| !is_complete(source.state) || source.skipped > 0);
    let named = |source: &Source| {
        let name = match source.file.as_deref() {
            Some("-") => "standard input",
            Some(file) => file,
            None => &source.resource,
        };
        match source.cluster.as_deref().filter(|_| report.scope.contexts.len() > 1) {
            Some(cluster) if source.state == SourceState::Unreachable => cluster.to_owned(),
            Some(cluster) => format!("{name} of {cluster}"),
            None => name.to_owned(),
        }
    };
    let mut gaps: Vec<String> = gaps.map(named).collect();
    gaps.dedup();
    gaps
}

/// What is left out of the table, in one line.
pub(super) fn left_out(summary: &Summary) -> Option<String> {
    (summary.completed_workloads > 0).then(|| {
        format!(
            "{} completed in spite of {}: --all shows them",
            counted(summary.completed_workloads, "workload"),
            counted(summary.completed_failures, "failure")
        )
    })
}

/// `12.4 GPU-h`; small amounts in minutes or seconds, so that they do not read as nothing.
pub(super) fn gpu_hours(seconds: f64) -> String {
    if seconds >= 360.0 {
        format!("{:.1} GPU-h", seconds / 3600.0)
    } else if seconds >= 60.0 {
        format!("{:.1} GPU-min", seconds / 60.0)
    } else {
        format!("{seconds:.0} GPU-s")
    }
}
