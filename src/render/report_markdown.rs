use std::io::{self, Write};

use super::markdown::{escaped, list, suggestions, table};
use super::notes::{baseline, gpu_hours, headline, left_out, made_from};
use super::table::{action, failures, key_words, shown_groups, state, what_happened, workloads};
use crate::report::{FailureReport, Group, WorkloadReport};

/// Suggestions that notes have room for; the rest is counted.
const MOST_SUGGESTIONS: usize = 10;
/// Workloads of which it is told what failed first.
const MOST_WORKLOADS: usize = 20;

/// For an incident's notes: the answer, the groups, what failed first in each workload, what to do next.
pub(super) fn print(report: &FailureReport, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "# What failed\n\n**{}**\n", escaped(&headline(report)))?;
    writeln!(out, "{}.\n", escaped(&capitalised(&made_from(report))))?;
    for line in baseline(report).into_iter().chain(left_out(&report.summary)) {
        writeln!(out, "{}.\n", escaped(&capitalised(&line)))?;
    }
    list(None, &report.notes, out)?;
    groups(report, out)?;
    first_causes(report, out)?;
    suggestions(&report.suggestions, MOST_SUGGESTIONS, out)
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn groups(report: &FailureReport, out: &mut impl Write) -> io::Result<()> {
    let shown = shown_groups(report);
    if shown.is_empty() {
        return Ok(());
    }
    let rows: Vec<Vec<String>> = shown.into_iter().map(|group| row(group, report)).collect();
    let by = capitalised(report.scope.group_by);
    writeln!(out, "## Groups\n")?;
    table(&[&by, "Action", "Failures", "Workloads", "State", "Last", "Cost", "What happened"], &rows, out)
}

fn row(group: &Group, report: &FailureReport) -> Vec<String> {
    let last = group.last_at.map_or_else(String::new, super::age::whole);
    let cost = group.gpu_seconds.filter(|seconds| *seconds > 0.0).map_or_else(String::new, gpu_hours);
    vec![
        key_words(group, report),
        action(group),
        failures(group),
        workloads(group, usize::MAX),
        state(group, report),
        last,
        cost,
        what_happened(group),
    ]
}

fn first_causes(report: &FailureReport, out: &mut impl Write) -> io::Result<()> {
    let told = |workload: &WorkloadReport| {
        let first = workload.first_cause.as_ref()?;
        let at = first.at.map_or_else(String::new, super::age::whole);
        let exit = first.exit_code.map(|code| format!("exit {code}"));
        let what: Vec<String> = exit.into_iter().chain(first.reason.clone()).collect();
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        Some(vec![
            at,
            format!("{} in {}", workload.workload, workload.workload.namespace),
            text(&first.pod),
            text(&first.node),
            text(&first.container),
            what.join(", "),
        ])
    };
    let mut rows: Vec<Vec<String>> = report.workloads.iter().filter_map(told).collect();
    if rows.is_empty() {
        return Ok(());
    }
    rows.sort();
    let all = rows.len();
    rows.truncate(MOST_WORKLOADS);
    writeln!(out, "## What failed first\n")?;
    table(&["Time", "Workload", "Pod", "Node", "Container", "How it ended"], &rows, out)?;
    super::markdown::more(all, MOST_WORKLOADS, out)
}
