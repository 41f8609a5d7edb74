use std::io::{self, Write};

use comfy_table::{ContentArrangement, Row, Table, presets};
use owo_colors::OwoColorize;
use unicode_width::UnicodeWidthStr;

use super::Look;
use super::age::{clock, day, whole};
use super::attempts;
use super::checkpoints::sentences;
use super::suggestion::{because_first, commands};
use super::text::{cut, one_line, wrap};
use crate::model::human_duration;
use crate::policy::NameSource;
use crate::report::{Explanation, Judged, PolicyReport, PolicyRule, TimelineEntry};

/// Entries of a section that are shown; the rest is counted, and in the JSON.
const MOST_ENTRIES: usize = 8;
const MOST_FACTS: usize = 3;
const MOST_GAPS: usize = 4;
const MOST_POLICIES: usize = 3;
pub(super) const MOST_JUDGED: usize = 6;
/// Columns below which a sentence does not stand beside its head.
const NARROW: usize = 30;
const MOST_TEMPLATES: usize = 3;
/// Lines of one template's checkpoints.
const MOST_LINES: usize = 5;
const MOST_SUGGESTIONS: usize = 3;
const GAP: u16 = 2;

/// Prints an explanation on one screen.
pub(super) fn print(explanation: &Explanation, rules: bool, look: Look, out: &mut impl Write) -> io::Result<()> {
    let page = Page { look };
    // The verdict is the answer: it is wrapped, never cut.
    for line in wrap(&one_line(&explanation.verdict), look.width) {
        writeln!(out, "{}", page.bold(&line))?;
    }
    if let Some(as_of) = explanation.as_of {
        page.prose("", &format!("as of {}", whole(as_of)), out)?;
    }
    for note in &explanation.notes {
        page.prose("", &format!("note: {note}"), out)?;
    }
    page.job_set(explanation, out)?;
    if !explanation.runs.is_empty() {
        writeln!(out)?;
        page.table(&RUN_HEADS, &runs(explanation), 5, out)?;
    }
    page.section("Timeline", &timeline(explanation), MOST_ENTRIES, out)?;
    for policy in explanation.policies.iter().take(MOST_POLICIES) {
        page.policy(policy, out)?;
    }
    page.more(explanation.policies.len(), MOST_POLICIES, out)?;
    if rules || &*explanation.subject.kind == "Pod" {
        for judged in explanation.judged.iter().take(MOST_JUDGED) {
            page.judged(judged, out)?;
        }
        page.more(explanation.judged.len(), MOST_JUDGED, out)?;
    }
    page.checkpoints(explanation, out)?;
    let evidence: Vec<String> =
        explanation.evidence.iter().map(|fact| format!("{} {} = {}", fact.object, fact.path, fact.value)).collect();
    page.section("Evidence", &evidence, MOST_FACTS, out)?;
    page.section("Not known", &explanation.missing, MOST_GAPS, out)?;
    page.suggestions(explanation, out)
}

/// When, how long after the start, and what.
fn timeline(explanation: &Explanation) -> Vec<String> {
    let start = explanation.timeline.iter().find_map(|entry| entry.at);
    let mut days: Vec<String> = explanation.timeline.iter().filter_map(|entry| Some(day(entry.at?))).collect();
    days.extend(explanation.as_of.map(day));
    days.dedup();
    let one_day = days.len() <= 1;
    let lines: Vec<(String, String, &TimelineEntry)> = explanation
        .timeline
        .iter()
        .map(|entry| {
            let time = |at| if one_day { clock(at) } else { whole(at) };
            let at = entry.at.map_or_else(|| "?".to_owned(), time);
            let after = match (start, entry.at) {
                (Some(start), Some(at)) => format!("+{}", human_duration(at.seconds() - start.seconds())),
                _ => String::new(),
            };
            (at, after, entry)
        })
        .collect();
    let width = |of: fn(&(String, String, &TimelineEntry)) -> usize| lines.iter().map(of).max().unwrap_or(0);
    let (at_width, after_width) = (width(|line| line.0.len()), width(|line| line.1.len()));
    lines.iter().map(|(at, after, entry)| format!("{at:<at_width$}  {after:<after_width$}  {}", entry.text)).collect()
}

pub(super) const RUN_HEADS: [&str; 6] = ["RUN", "CREATED", "FOR", "STATE", "RULE", "WHAT HAPPENED"];

/// Rows of a `CronJob`'s runs.
pub(super) fn runs(explanation: &Explanation) -> Vec<Vec<String>> {
    let none = || "<none>".to_owned();
    explanation
        .runs
        .iter()
        .map(|run| {
            let seconds = run.created_at.zip(run.ended_at).map(|(from, to)| to.seconds() - from.seconds());
            let action = run.action.as_ref().map(|action| format!(" ({action})")).unwrap_or_default();
            vec![
                run.job.clone(),
                super::age::age(run.created_at, explanation.as_of),
                seconds.map_or_else(none, human_duration),
                run.state.name().to_owned(),
                run.rule.as_ref().map_or_else(none, |rule| format!("{rule}{action}")),
                run.cause.clone().unwrap_or_else(none),
            ]
        })
        .collect()
}

/// Rows of a policy: index, name, action, what it asks for, how often it matched; the default last.
pub(super) fn policy_rows(policy: &PolicyReport) -> Vec<Vec<String>> {
    let times = |matched: u64| match matched {
        // Where some are not known, it may have matched those.
        0 if policy.unknown > 0 || policy.partial => "0 known".to_owned(),
        0 => "never".to_owned(),
        matched => matched.to_string(),
    };
    let name = |rule: &PolicyRule| match rule.name_source {
        NameSource::Derived => "<none>".to_owned(),
        NameSource::Field | NameSource::Annotation => rule.label.clone(),
    };
    let row = |rule: &PolicyRule| {
        vec![rule.index.to_string(), name(rule), rule.action.clone(), rule.requirement.clone(), times(rule.matched)]
    };
    let mut rows: Vec<Vec<String>> = policy.rules.iter().map(row).collect();
    let (default, asked) = ("(default)".to_owned(), "no rule matched".to_owned());
    rows.push(vec!["-".to_owned(), default, policy.default_action.clone(), asked, times(policy.default_matched)]);
    rows
}

pub(super) const POLICY_HEADS: [&str; 5] = ["RULE", "NAME", "ACTION", "ASKS FOR", "MATCHED"];

/// What a policy's table is headed by.
pub(super) fn policy_title(policy: &PolicyReport) -> String {
    let of = if policy.replicated_jobs.is_empty() {
        String::new()
    } else {
        format!(", replicated Jobs {}", policy.replicated_jobs.join(", "))
    };
    let unknown = match policy.unknown {
        0 => String::new(),
        unknown => format!("; not known under which rule: {unknown}"),
    };
    let partial = if policy.partial { "; pods of attempts before the last are not all known" } else { "" };
    format!("{} of {}{of}{unknown}{partial}", policy.kind, policy.object)
}

/// What holds where no rule matched.
pub(super) fn no_rule(judged: &Judged) -> Option<String> {
    let default = if judged.policy == "podFailurePolicy" { "it counts towards backoffLimit" } else { "RestartJobSet" };
    judged.matched.is_none().then(|| format!("no rule matched: {default}"))
}

struct Page {
    look: Look,
}

impl Page {
    fn bold(&self, text: &str) -> String {
        if self.look.color { text.bold().to_string() } else { text.to_owned() }
    }

    /// Text that is wrapped and never cut: the first line behind `head`, the others below it.
    fn prose(&self, head: &str, text: &str, out: &mut impl Write) -> io::Result<()> {
        let indent = " ".repeat(head.width());
        for (number, line) in wrap(&one_line(text), self.look.width.saturating_sub(indent.len())).iter().enumerate() {
            writeln!(out, "{}{line}", if number == 0 { head } else { &indent })?;
        }
        Ok(())
    }

    fn section(&self, title: &str, lines: &[String], most: usize, out: &mut impl Write) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", self.bold(title))?;
        for line in lines.iter().take(most) {
            writeln!(out, "  {}", cut(&one_line(line), self.look.width.saturating_sub(2)))?;
        }
        self.more(lines.len(), most, out)
    }

    /// How many things there are of which only the first `most` are shown.
    fn more(&self, all: usize, most: usize, out: &mut impl Write) -> io::Result<()> {
        match all.saturating_sub(most) {
            0 => Ok(()),
            more => self.prose("  ", &format!("and {more} more: -o json has them all"), out),
        }
    }

    /// What holds it up, as far as the verdict does not tell, its attempts and what they cost.
    fn job_set(&self, explanation: &Explanation, out: &mut impl Write) -> io::Result<()> {
        let Some(job_set) = &explanation.job_set else { return Ok(()) };
        let told = explanation.verdict_tells;
        for situation in job_set.situations.iter().skip(usize::from(told.situation)) {
            self.prose("", &format!("- {}", situation.text), out)?;
        }
        writeln!(out)?;
        self.table(&attempts::HEADS, &attempts::rows(job_set), 3, out)?;
        let budget = (!told.budget).then(|| job_set.budget.clone());
        let line = budget.into_iter().chain(attempts::cost(job_set)).collect::<Vec<_>>().join("; ");
        if line.is_empty() { Ok(()) } else { self.prose("", &line, out) }
    }

    /// A table of which one column gives way where the others leave too little room.
    fn table(&self, heads: &[&str], rows: &[Vec<String>], gives_way: usize, out: &mut impl Write) -> io::Result<()> {
        let mut rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
        let widest = |column: usize| {
            let cells = rows.iter().map(|row| row[column].width());
            cells.max().unwrap_or(0).max(heads[column].len()) + usize::from(GAP)
        };
        let others: usize = (0..heads.len()).filter(|column| *column != gives_way).map(widest).sum();
        let left = self.look.width.saturating_sub(others).max(heads[gives_way].len());
        for row in &mut rows {
            row[gives_way] = cut(&row[gives_way], left);
        }
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(heads.iter().copied());
        table.add_rows(rows.into_iter().map(Row::from));
        for column in table.column_iter_mut() {
            column.set_padding((0, GAP));
        }
        for (number, line) in table.lines().enumerate() {
            let line = cut(line.trim_end(), self.look.width);
            writeln!(out, "{}", if number == 0 { self.bold(&line) } else { line })?;
        }
        Ok(())
    }

    fn policy(&self, policy: &PolicyReport, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\n{}", self.bold(&cut(&one_line(&policy_title(policy)), self.look.width)))?;
        self.table(&POLICY_HEADS, &policy_rows(policy), 3, out)
    }

    fn judged(&self, judged: &Judged, out: &mut impl Write) -> io::Result<()> {
        let title = format!("{} under {}: {}", judged.object, judged.policy, judged.cause);
        writeln!(out, "\n{}", self.bold(&cut(&one_line(&title), self.look.width)))?;
        for rule in &judged.rules {
            self.prose(if rule.matched { "  → " } else { "    " }, &rule.why, out)?;
        }
        if let Some(default) = no_rule(judged) {
            self.prose("  → ", &default, out)?;
        }
        Ok(())
    }

    /// A few lines a template: sentences are wrapped, as each is an answer, and what is beyond is in the JSON.
    fn checkpoints(&self, explanation: &Explanation, out: &mut impl Write) -> io::Result<()> {
        let all = &explanation.checkpoints;
        if all.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", self.bold("Checkpoints"))?;
        let width = self.look.width.saturating_sub(4);
        for report in all.iter().take(MOST_TEMPLATES) {
            let mut lines: Vec<String> = Vec::new();
            for sentence in sentences(report, explanation) {
                let wrapped = wrap(&one_line(&sentence), width).into_iter().enumerate();
                lines.extend(wrapped.map(|(number, line)| format!("{}{line}", if number == 0 { "" } else { "  " })));
            }
            let is_cut = lines.len() > MOST_LINES;
            for (number, line) in lines.iter().take(MOST_LINES).enumerate() {
                let more = if is_cut && number + 1 == MOST_LINES { "…" } else { "" };
                writeln!(out, "  {}", cut(&format!("{line}{more}"), width + 2))?;
            }
        }
        self.more(all.len(), MOST_TEMPLATES, out)
    }

    fn suggestions(&self, explanation: &Explanation, out: &mut impl Write) -> io::Result<()> {
        let all = &explanation.suggestions;
        if all.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", self.bold("Next"))?;
        let width = all.iter().map(|suggestion| suggestion.title.width()).max().unwrap_or(0);
        for (number, suggestion) in all.iter().take(MOST_SUGGESTIONS).enumerate() {
            self.why(&format!("{:<3}{:<width$}  ", number + 1, suggestion.title), &suggestion.why, out)?;
            if let Some(fact) = because_first(suggestion) {
                self.prose("   ", &fact, out)?;
            }
            // A command is never cut: it must run as it is printed.
            for (mark, command) in commands(suggestion) {
                writeln!(out, "   {mark}{command}")?;
            }
            if let Some(loses) = &suggestion.loses {
                self.prose("   ", &format!("loses {loses}"), out)?;
            }
        }
        self.more(all.len(), MOST_SUGGESTIONS, out)
    }

    /// The sentence of a suggestion is told whole, as a rule to add may stand in it; where it is narrow, below its head.
    fn why(&self, head: &str, why: &str, out: &mut impl Write) -> io::Result<()> {
        if self.look.width.saturating_sub(head.width()) >= NARROW {
            return self.prose(head, why, out);
        }
        writeln!(out, "{}", cut(head.trim_end(), self.look.width))?;
        self.prose("   ", why, out)
    }
}
