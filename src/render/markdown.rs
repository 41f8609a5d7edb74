use std::io::{self, Write};

use super::attempts;
use super::checkpoints::sentences;
use super::explanation::{MOST_JUDGED, POLICY_HEADS, RUN_HEADS, no_rule, policy_rows, policy_title, runs};
use super::suggestion::{because, commands};
use super::text::one_line;
use crate::report::{Evidence, Explanation, Suggestion, TimelineEntry};

/// Facts that notes have room for; the rest is counted.
const MOST_FACTS: usize = 12;

/// For an incident's notes: headings, tables and code.
pub(super) fn print(explanation: &Explanation, rules: bool, out: &mut impl Write) -> io::Result<()> {
    let subject = &explanation.subject;
    let place = if subject.namespace.is_empty() { String::new() } else { format!("{}/", subject.namespace) };
    let title = format!("{} {place}{}", subject.kind, subject.name);
    writeln!(out, "# {}\n", escaped(&title))?;
    writeln!(out, "**{}**\n", escaped(&explanation.verdict))?;
    if let Some(as_of) = explanation.as_of {
        writeln!(out, "As of {as_of}.\n")?;
    }
    list(None, &explanation.notes, out)?;
    attempts(explanation, out)?;
    if !explanation.runs.is_empty() {
        writeln!(out, "## Runs\n")?;
        table(&RUN_HEADS, &runs(explanation), out)?;
    }
    timeline(explanation, out)?;
    for policy in &explanation.policies {
        writeln!(out, "## {}\n", escaped(&policy_title(policy)))?;
        table(&POLICY_HEADS, &policy_rows(policy), out)?;
    }
    if rules || &*subject.kind == "Pod" {
        judged(explanation, out)?;
    }
    let lines = explanation.checkpoints.iter().flat_map(|report| sentences(report, explanation));
    let lines: Vec<String> = lines.collect();
    list(Some("Checkpoints"), &lines, out)?;
    evidence(explanation, out)?;
    list(Some("Not known"), &explanation.missing, out)?;
    suggestions(&explanation.suggestions, usize::MAX, out)
}

fn attempts(explanation: &Explanation, out: &mut impl Write) -> io::Result<()> {
    let Some(job_set) = &explanation.job_set else { return Ok(()) };
    let untold = job_set.situations.iter().skip(usize::from(explanation.verdict_tells.situation));
    let situations: Vec<String> = untold.map(|situation| situation.text.clone()).collect();
    list(None, &situations, out)?;
    writeln!(out, "## Attempts\n")?;
    table(&attempts::HEADS, &attempts::rows(job_set), out)?;
    for line in std::iter::once(job_set.budget.clone()).chain(attempts::cost(job_set)) {
        writeln!(out, "{}\n", escaped(&line))?;
    }
    Ok(())
}

fn timeline(explanation: &Explanation, out: &mut impl Write) -> io::Result<()> {
    if explanation.timeline.is_empty() {
        return Ok(());
    }
    writeln!(out, "## Timeline\n")?;
    let at = |entry: &TimelineEntry| entry.at.map_or_else(|| "?".to_owned(), |at| at.to_string());
    let rows: Vec<Vec<String>> = explanation.timeline.iter().map(|entry| vec![at(entry), entry.text.clone()]).collect();
    table(&["Time", "What happened"], &rows, out)
}

fn judged(explanation: &Explanation, out: &mut impl Write) -> io::Result<()> {
    for judged in explanation.judged.iter().take(MOST_JUDGED) {
        let title = format!("{} under {}: {}", judged.object, judged.policy, judged.cause);
        let whys = judged.rules.iter().map(|rule| rule.why.clone());
        let whys: Vec<String> = whys.chain(no_rule(judged)).collect();
        list(Some(&title), &whys, out)?;
    }
    more(explanation.judged.len(), MOST_JUDGED, out)
}

fn evidence(explanation: &Explanation, out: &mut impl Write) -> io::Result<()> {
    if explanation.evidence.is_empty() {
        return Ok(());
    }
    let row = |fact: &Evidence| [&fact.object, &fact.path, &fact.value].map(ToString::to_string).to_vec();
    let facts: Vec<Vec<String>> = explanation.evidence.iter().take(MOST_FACTS).map(row).collect();
    writeln!(out, "## Evidence\n")?;
    table(&["Object", "Field", "Value"], &facts, out)?;
    more(explanation.evidence.len(), MOST_FACTS, out)
}

/// What to do next, at most so much of it.
pub(super) fn suggestions(all: &[Suggestion], most: usize, out: &mut impl Write) -> io::Result<()> {
    if !all.is_empty() {
        writeln!(out, "## Next\n")?;
    }
    for (number, suggestion) in all.iter().take(most).enumerate() {
        writeln!(out, "{}. **{}**: {}\n", number + 1, escaped(&suggestion.title), escaped(&suggestion.why))?;
        let facts = because(suggestion, 2);
        if !facts.is_empty() {
            writeln!(out, "   {}\n", escaped(&facts.join(" ")))?;
        }
        for (mark, command) in commands(suggestion) {
            let mark = if mark.is_empty() { String::new() } else { format!("   {}\n\n", mark.trim_end()) };
            writeln!(out, "{mark}   ```sh\n   {command}\n   ```\n")?;
        }
        if let Some(loses) = &suggestion.loses {
            writeln!(out, "   Loses {}\n", escaped(loses))?;
        }
    }
    more(all.len(), most, out)
}

/// How many things there are of which only the first `most` are shown.
pub(super) fn more(all: usize, most: usize, out: &mut impl Write) -> io::Result<()> {
    match all.saturating_sub(most) {
        0 => Ok(()),
        more => writeln!(out, "and {more} more: -o json has them all\n"),
    }
}

pub(super) fn list(title: Option<&str>, lines: &[String], out: &mut impl Write) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    if let Some(title) = title {
        writeln!(out, "## {}\n", escaped(title))?;
    }
    for line in lines {
        writeln!(out, "- {}", escaped(line))?;
    }
    writeln!(out)
}

pub(super) fn table(heads: &[&str], rows: &[Vec<String>], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "| {} |", heads.join(" | "))?;
    writeln!(out, "|{}", " --- |".repeat(heads.len()))?;
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    writeln!(out)
}

/// One line in which nothing is markup: what containers say may hold anything.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&' | '!') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_a_container_says_is_no_markup() {
        for (text, expected) in [
            ("exit 42 (trainer)", "exit 42 (trainer)"),
            ("a|b `rm` <script>", "a\\|b \\`rm\\` \\<script\\>"),
            ("[x](http://y)\n# z", "\\[x\\](http://y) \\# z"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }
}
