use std::io::{self, Write};

use comfy_table::{ContentArrangement, Row, Table, presets};
use owo_colors::OwoColorize;
use unicode_width::UnicodeWidthStr;

use super::Look;
use super::age::age;
use super::notes::{baseline, gpu_hours, headline, left_out, made_from};
use super::suggestion::{because, commands};
use super::text::{cut, cut_front, one_line, wrap};
use crate::report::{Class, FailureReport, Group, Suggestion, WorkloadState};
use crate::words::counted;

/// Lines of the default view: one screen, however much failed.
const SCREEN: usize = 40;
/// Suggestions of the default view.
const MOST_SUGGESTIONS: usize = 6;
/// Notes of the default view.
const MOST_NOTES: usize = 2;
const GAP: usize = 2;
/// Below this width some columns give way to what happened.
const NARROW: usize = 112;
/// From this width on namespaces are shown where there are several.
const ROOMY: usize = 140;
/// Widest the columns may be on a narrow terminal.
const NARROW_MOST: usize = 20;
const WORKLOADS_MOST: usize = 27;
/// Suggestions that a screen has room for with all their commands.
const FEW_SUGGESTIONS: usize = 2;
/// Workloads named where a suggestion has no command for each.
const MOST_NAMES: usize = 20;

/// Prints the groups and what to do next.
pub(super) fn print(report: &FailureReport, look: Look, wide: bool, out: &mut impl Write) -> io::Result<()> {
    prose(&headline(report), look, wide, out)?;
    prose(&made_from(report), look, wide, out)?;
    let beside = baseline(report);
    if let Some(beside) = &beside {
        prose(beside, look, wide, out)?;
    }
    let most = if wide { usize::MAX } else { MOST_NOTES };
    for note in report.notes.iter().take(most) {
        let note = one_line(note);
        writeln!(out, "note: {}", if wide { note } else { cut(&note, look.width.saturating_sub(6)) })?;
    }
    let notes = report.notes.len().min(most);
    let more_notes = report.notes.len().saturating_sub(most);
    let notes = notes + usize::from(more_notes > 0);
    if more_notes > 0 {
        prose(&format!("note: {} more: -o wide shows all", counted(more_notes, "note")), look, wide, out)?;
    }
    let foot = left_out(&report.summary);
    if report.summary.failures > 0 {
        writeln!(out)?;
        let groups = shown_groups(report);
        let all: Vec<&Suggestion> = report.suggestions.iter().collect();
        let most = if wide { usize::MAX } else { MOST_SUGGESTIONS };
        let suggestions = some_of_each(&all, |suggestion| suggestion.kind, most);
        // Head, blank lines, column heads, the lines that tell what is not shown, two lines a suggestion and one more where
        // something is lost by it.
        let whole = wide || suggestions.len() <= FEW_SUGGESTIONS;
        let losing = suggestions.iter().filter(|suggestion| loses(suggestion, whole).is_some()).count();
        let commands: usize = suggestions.iter().map(|suggestion| shown_commands(suggestion, whole)).sum();
        let head = wrap(&headline(report), look.width).len() + wrap(&made_from(report), look.width).len();
        let beside = beside.map_or(0, |beside| wrap(&beside, look.width).len());
        let other_lines =
            8 + head + beside + notes + 2 * usize::from(foot.is_some()) + suggestions.len() + commands + losing;
        let rows = if wide { groups.len() } else { SCREEN.saturating_sub(other_lines).max(5) };
        let shown = some_of_each(&groups, |group| (sort_of(group.class), group.job_set_rule.is_some()), rows);
        print_groups(&shown, report, look, wide, out)?;
        if shown.len() < groups.len() {
            let all: u64 = groups.iter().map(|group| group.failures).sum();
            let left = all - shown.iter().map(|group| group.failures).sum::<u64>();
            let groups = counted(groups.len() - shown.len(), "group");
            let more = format!("and {groups} more, {}: -o wide shows all", counted(left, "failure"));
            prose(&more, look, wide, out)?;
        }
        print_collateral(report, look, wide, out)?;
        print_suggestions(&suggestions, report, look, wide, out)?;
    }
    if let Some(foot) = foot {
        writeln!(out)?;
        prose(&foot, look, wide, out)?;
    }
    Ok(())
}

/// A sentence, within the terminal's width where not all is asked for.
fn prose(text: &str, look: Look, wide: bool, out: &mut impl Write) -> io::Result<()> {
    let lines = if wide { vec![text.to_owned()] } else { wrap(text, look.width) };
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// All groups, but collateral that is shown beside what caused it.
pub(super) fn shown_groups(report: &FailureReport) -> Vec<&Group> {
    let asked_for = report.scope.classes.contains(&Class::Collateral);
    report.groups.iter().filter(|group| asked_for || !group.stands_beside).collect()
}

/// The class that stands for a group where there is not room for all: what is told of workloads that are no Jobs is one sort,
/// so that it does not push the rules of Jobs off the screen.
fn sort_of(class: Option<Class>) -> Option<Class> {
    class.map(|class| match class {
        Class::NotReady | Class::WorkloadLevel => Class::NoJob,
        other => other,
    })
}

/// At most so many of some items, in their order: the first of each kind, then the others, so that much of one kind does
/// not hide the others.
fn some_of_each<'a, T, K: PartialEq>(items: &[&'a T], kind: impl Fn(&T) -> K, most: usize) -> Vec<&'a T> {
    let is_first = |(position, item): &(usize, &&T)| items[..*position].iter().all(|other| kind(other) != kind(item));
    let (firsts, others): (Vec<_>, Vec<_>) = items.iter().enumerate().partition(is_first);
    let mut shown: Vec<(usize, &&'a T)> = firsts.into_iter().chain(others).take(most).collect();
    shown.sort_by_key(|(position, _)| *position);
    shown.into_iter().map(|(_, item)| *item).collect()
}

/// What the numbers in brackets are, and whose.
fn print_collateral(report: &FailureReport, look: Look, wide: bool, out: &mut impl Write) -> io::Result<()> {
    if report.groups.iter().all(|group| group.collateral == 0) {
        return Ok(());
    }
    let mut workloads: Vec<_> = report.workloads.iter().filter(|workload| workload.collateral > 0).collect();
    workloads.sort_by_key(|workload| std::cmp::Reverse(workload.collateral));
    let names: Vec<String> =
        workloads.iter().map(|workload| format!("{} {}", workload.collateral, workload.workload)).collect();
    let line = one_line(&format!("(+N) are collateral, torn down with their Job: {}", names.join(", ")));
    writeln!(out, "{}", if wide { line } else { cut(&line, look.width) })
}

struct Column {
    head: &'static str,
    /// Widest the column may be in the default view.
    most: usize,
    /// The same on a terminal that is not roomy.
    tight: usize,
    /// Left out on a narrow terminal.
    optional: bool,
    /// The text; it may take this many columns.
    cell: fn(&Group, &FailureReport, usize) -> String,
}

static DEFAULT: [Column; 6] = [
    Column { head: "RULE", most: 36, tight: 27, optional: false, cell: |group, report, _| key_words(group, report) },
    Column { head: "ACTION", most: 14, tight: 10, optional: false, cell: |group, _, _| action(group) },
    Column { head: "FAILURES", most: 11, tight: 11, optional: false, cell: |group, _, _| failures(group) },
    Column {
        head: "WORKLOADS",
        most: WORKLOADS_MOST,
        tight: WORKLOADS_MOST,
        optional: false,
        cell: |group, _, most| workloads(group, most),
    },
    Column { head: "STATE", most: 10, tight: 10, optional: true, cell: |group, report, _| state(group, report) },
    Column {
        head: "LAST",
        most: 9,
        tight: 9,
        optional: true,
        cell: |group, report, _| age(group.last_at, report.as_of),
    },
];

/// Behind the workloads, where the report is of several clusters.
static CLUSTER: Column =
    Column { head: "CLUSTER", most: 24, tight: 16, optional: false, cell: |group, _, most| clusters(group, most) };

static WIDE: [Column; 6] = [
    Column { head: "NAMESPACES", most: 16, tight: 16, optional: false, cell: |group, _, _| namespaces(group) },
    Column {
        head: "INDEXES",
        most: 0,
        tight: 0,
        optional: false,
        cell: |group, _, _| group.indexes.clone().unwrap_or_else(none),
    },
    Column { head: "NODES", most: 0, tight: 0, optional: false, cell: |group, _, _| nodes(group) },
    Column { head: "COUNTED", most: 0, tight: 0, optional: false, cell: |group, _, _| counted_of(group) },
    Column {
        head: "COST",
        most: 0,
        tight: 0,
        optional: false,
        cell: |group, _, _| group.gpu_seconds.filter(|s| *s > 0.0).map_or_else(none, gpu_hours),
    },
    Column {
        head: "EXEMPLAR",
        most: 0,
        tight: 0,
        optional: false,
        cell: |group, _, _| group.exemplar.pod.clone().unwrap_or_else(none),
    },
];

static LAST: Column = Column {
    head: "WHAT HAPPENED",
    most: usize::MAX,
    tight: usize::MAX,
    optional: false,
    cell: |group, _, _| what_happened(group),
};

fn none() -> String {
    "<none>".to_owned()
}

fn print_groups(
    groups: &[&Group],
    report: &FailureReport,
    look: Look,
    wide: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let columns = columns(report, look, wide);
    let mut rows: Vec<Vec<String>> = groups
        .iter()
        .map(|group| {
            let cell = |column: &&Column| {
                let most = column.most(look, wide);
                let text = one_line(&(column.cell)(group, report, most));
                if wide { text } else { cut(&text, most) }
            };
            columns.iter().map(cell).collect()
        })
        .collect();
    if !wide {
        fit_last_column(&mut rows, &columns, look.width);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    if look.headers {
        let heads = columns.iter().map(|column| column.head);
        let by = report.scope.group_by.to_ascii_uppercase();
        table.set_header(heads.map(|head| if head == "RULE" { by.clone() } else { head.to_owned() }));
    }
    table.add_rows(rows.into_iter().map(Row::from));
    for column in table.column_iter_mut() {
        column.set_padding((0, u16::try_from(GAP).unwrap_or(2)));
    }
    for (number, line) in table.lines().enumerate() {
        let line = line.trim_end();
        if number == 0 && look.headers && look.color {
            writeln!(out, "{}", line.bold())?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// The columns that there is room for: with the namespaces, where there may be several, or with all the rest.
fn columns(report: &FailureReport, look: Look, wide: bool) -> Vec<&'static Column> {
    let roomy = look.width >= ROOMY && report.scope.namespaces.len() != 1;
    let extra: &[Column] = match wide {
        true => &WIDE,
        false if roomy => &WIDE[..1],
        false => &[],
    };
    let is_narrow = !wide && look.width < NARROW;
    let default = DEFAULT.iter().filter(|column| !(is_narrow && column.optional));
    let mut columns: Vec<&Column> = default.chain(extra).chain(std::iter::once(&LAST)).collect();
    if report.scope.contexts.len() > 1 {
        let behind = columns.iter().position(|column| column.head == "WORKLOADS").map_or(0, |place| place + 1);
        columns.insert(behind, &CLUSTER);
    }
    columns
}

impl Column {
    /// Widest that it may be.
    fn most(&self, look: Look, wide: bool) -> usize {
        match self.most {
            most if wide => most.max(WORKLOADS_MOST),
            usize::MAX => usize::MAX,
            _ if look.width < NARROW => self.tight.min(NARROW_MOST),
            most if look.width >= ROOMY => most,
            _ => self.tight,
        }
    }
}

/// Cuts the last column to what the others leave of the terminal.
fn fit_last_column(rows: &mut [Vec<String>], columns: &[&Column], width: usize) {
    let last = columns.len() - 1;
    let taken: usize = (0..last)
        .map(|column| {
            rows.iter().map(|row| row[column].width()).max().unwrap_or(0).max(columns[column].head.len()) + GAP
        })
        .sum();
    let left = width.saturating_sub(taken).max(columns[last].head.len());
    for row in rows {
        row[last] = cut(&row[last], left);
    }
}

/// Where the group's workloads stand: one state, or the gravest and how many others.
pub(super) fn state(group: &Group, report: &FailureReport) -> String {
    let mut states: Vec<WorkloadState> = group
        .workloads
        .iter()
        // The report's workloads are in order, and there may be thousands.
        .filter_map(|workload| report.workloads.binary_search_by(|other| other.workload.cmp(workload)).ok())
        .map(|found| {
            let workload = &report.workloads[found];
            if workload.deleted == Some(true) { WorkloadState::Deleted } else { workload.state }
        })
        .collect();
    states.sort_unstable();
    states.dedup();
    match &states[..] {
        [] | [WorkloadState::Unknown] => "?".to_owned(),
        [one] => one.name().to_owned(),
        _ => "mixed".to_owned(),
    }
}

fn counted_of(group: &Group) -> String {
    if group.class == Some(Class::Unknown) { "?".to_owned() } else { group.counted.to_string() }
}

/// What the group has in common, in a few words.
pub(super) fn key_words(group: &Group, report: &FailureReport) -> String {
    let by_rule = report.scope.group_by == "rule";
    let Some(class) = group.class.filter(|_| by_rule) else { return key(group) };
    let Some(led_to) = &group.job_set_rule else { return pod_rule(group, class) };
    // A JobSet's rule and, behind the arrow, what led to it: the Job's rule, else the Job's reason.
    let below = match (&group.rule, &led_to.job_reason) {
        (Some(rule), _) => &rule.label,
        (None, Some(reason)) => reason,
        (None, None) => return led_to.label.clone(),
    };
    format!("{} ← {below}", led_to.label)
}

/// What a group has in common that is not a rule; of a node also what is amiss with it.
fn key(group: &Group) -> String {
    let key = group.key.clone().unwrap_or_else(none);
    let Some(node) = &group.node else { return key };
    let ready = match (group.nodes.first().and_then(|node| node.ready), node.silent) {
        (Some(false), Some(true)) => Some("silent"),
        (Some(false), _) => Some("not ready"),
        _ => None,
    };
    let cordoned = (node.unschedulable == Some(true)).then_some("cordoned");
    let amiss: Vec<&str> =
        ready.into_iter().chain(cordoned).chain(node.conditions.iter().map(String::as_str)).collect();
    if amiss.is_empty() { key } else { format!("{key} ({})", amiss.join(", ")) }
}

fn pod_rule(group: &Group, class: Class) -> String {
    match (&group.rule, class) {
        (Some(rule), Class::Rule) => {
            let of_sidecar = group.exemplar.container.as_deref().filter(|_| group.exemplar.sidecar);
            let sidecar = of_sidecar.map(|container| format!(" ({container}, sidecar)"));
            format!("{}{}", rule.label, sidecar.unwrap_or_default())
        }
        (_, Class::Rule) => group.key.clone().unwrap_or_else(none),
        (_, Class::NoRule) => "(no rule matched)".to_owned(),
        (_, Class::NoPolicy) => "(no policy)".to_owned(),
        (_, Class::Unmatchable) => "(no rule can match)".to_owned(),
        (_, Class::Collateral) => "(collateral)".to_owned(),
        (_, Class::Pending) if group.key.as_deref() == Some("Terminating") => "(cannot end)".to_owned(),
        (_, Class::Pending) => "(cannot start)".to_owned(),
        (_, Class::Restarting) => "(restarts in place)".to_owned(),
        (_, Class::NotReady) => "(not ready)".to_owned(),
        (_, Class::JobLevel) => "(the Job itself)".to_owned(),
        (_, Class::WorkloadLevel) => "(the workload itself)".to_owned(),
        (_, Class::Lost) => "(lost)".to_owned(),
        (_, Class::NoJob) => "(no Job)".to_owned(),
        (_, Class::Unknown) => "(policy unknown)".to_owned(),
    }
}

pub(super) fn action(group: &Group) -> String {
    if let Some(led_to) = &group.job_set_rule {
        let failed = led_to.failed_reason.clone().filter(|reason| reason != "FailJobSetFailurePolicyAction");
        return failed.or_else(|| led_to.action.clone()).unwrap_or_else(|| "?".to_owned());
    }
    match (&group.rule, group.class) {
        (Some(rule), Some(Class::Rule)) => rule.action.clone(),
        (_, Some(Class::Unknown)) => "?".to_owned(),
        _ if group.counted > 0 => "counted".to_owned(),
        _ => "-".to_owned(),
    }
}

pub(super) fn failures(group: &Group) -> String {
    match group.collateral {
        0 => group.failures.to_string(),
        collateral => format!("{} (+{collateral})", group.failures),
    }
}

pub(super) fn workloads(group: &Group, most: usize) -> String {
    match &group.workloads[..] {
        [] => none(),
        [one] => one.to_string(),
        [one, others @ ..] => {
            // The count must not be cut off.
            let more = format!(" and {}", others.len());
            format!("{}{more}", cut(&one.to_string(), most.saturating_sub(more.len())))
        }
    }
}

/// The clusters, of which the end of a name tells most: `arn:aws:eks:…:cluster/prod`, `gke_project_zone_prod`.
fn clusters(group: &Group, most: usize) -> String {
    let mut clusters: Vec<&str> = group.workloads.iter().filter_map(|workload| workload.cluster.as_deref()).collect();
    clusters.sort_unstable();
    clusters.dedup();
    match &clusters[..] {
        [] => none(),
        [one] => cut_front(one, most),
        [one, others @ ..] => {
            let more = format!(" and {}", others.len());
            format!("{}{more}", cut_front(one, most.saturating_sub(more.len())))
        }
    }
}

/// The cause, without what the rule's label has already said.
pub(super) fn what_happened(group: &Group) -> String {
    let text = group.cause.as_ref().map_or("", |cause| &*cause.text);
    let said = group.rule.as_ref().and_then(|rule| text.strip_prefix(&*rule.label)?.strip_prefix(": "));
    let text = said.unwrap_or(text);
    match &group.node {
        Some(node) => {
            let percent = |share: f64| format!("{:.0} %", share * 100.0);
            format!("{} of failures, {} of pods; {text}", percent(node.failure_share), percent(node.pod_share))
        }
        None => text.to_owned(),
    }
}

fn namespaces(group: &Group) -> String {
    let mut namespaces: Vec<&str> = group.workloads.iter().map(|workload| &*workload.namespace).collect();
    namespaces.dedup();
    match namespaces.len() {
        0..=3 => namespaces.join(","),
        more => format!("{} and {}", namespaces[..2].join(","), more - 2),
    }
}

fn nodes(group: &Group) -> String {
    match group.nodes.len() {
        0 if matches!(group.class, Some(Class::Lost | Class::Collateral)) => "?".to_owned(),
        0 => "-".to_owned(),
        count => count.to_string(),
    }
}

const fn shown_commands(suggestion: &Suggestion, whole: bool) -> usize {
    let all = suggestion.commands.len();
    if whole || all == 0 { all } else { 1 }
}

/// What is lost by a suggestion, where what destroys it is shown: to read comes first.
fn loses(suggestion: &Suggestion, whole: bool) -> Option<&str> {
    suggestion.loses.as_deref().filter(|_| whole || suggestion.commands.len() == 1)
}

fn print_suggestions(
    suggestions: &[&Suggestion],
    report: &FailureReport,
    look: Look,
    wide: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    if suggestions.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", if look.color { "Next".bold().to_string() } else { "Next".to_owned() })?;
    let title_width = suggestions.iter().map(|suggestion| suggestion.title.width()).max().unwrap_or(0);
    let whole = wide || suggestions.len() <= FEW_SUGGESTIONS;
    for suggestion in suggestions {
        let title = format!("{:<title_width$}", suggestion.title);
        let rest = one_line(&format!("{}: {}", suggestion.subject, suggestion.why));
        let before = 3 + title_width + GAP;
        let rest = if wide { rest } else { cut(&rest, look.width.saturating_sub(before)) };
        let title = if look.color { title.green().to_string() } else { title };
        writeln!(out, "{:<3}{title}{:GAP$}{rest}", suggestion.id.trim_start_matches('s'), "")?;
        // A command is never cut: it must run as it is printed.
        if wide {
            for fact in because(suggestion, 2) {
                writeln!(out, "   {fact}")?;
            }
        }
        for (mark, command) in commands(suggestion).take(shown_commands(suggestion, whole)) {
            writeln!(out, "   {}{command}", if wide { mark } else { "" })?;
        }
        if wide && suggestion.commands_left_out > 0 {
            let left_out = counted(suggestion.commands_left_out, "command");
            let names: Vec<String> = suggestion.workloads.iter().take(MOST_NAMES).map(ToString::to_string).collect();
            let more = suggestion.workloads.len() - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            writeln!(out, "   and {left_out} more; it is for {}{more}", names.join(", "))?;
        }
        if let Some(loses) = loses(suggestion, whole) {
            let loses = one_line(&format!("loses {loses}"));
            writeln!(out, "   {}", if wide { loses } else { cut(&loses, look.width.saturating_sub(3)) })?;
        }
    }
    let more = report.suggestions.len() - suggestions.len();
    let hidden: usize = suggestions.iter().filter(|_| !whole).map(|all| all.commands.len().saturating_sub(1)).sum();
    let commands = if hidden > 0 { format!("and {} more", counted(hidden, "command")) } else { String::new() };
    match (more, hidden) {
        (0, 0) => Ok(()),
        (0, _) => writeln!(out, "   {commands}: -o wide shows all"),
        (_, 0) => writeln!(out, "   and {more} more: -o wide shows all"),
        _ => writeln!(out, "   and {more} more, {commands}: -o wide shows all"),
    }
}
