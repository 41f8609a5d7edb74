use std::io::{self, Write};

use super::attempts;
use super::checkpoints::sentences;
use super::explanation::{POLICY_HEADS, no_rule, policy_rows, policy_title};
use super::text::one_line;
use crate::report::Explanation;

/// For an incident's notes: headings, tables and code.
pub(super) fn print(explanation: &Explanation, rules: bool, out: &mut impl Write) -> io::Result<()> {
    let subject = &explanation.subject;
    let title = format!("{} {}/{}", subject.kind, subject.namespace, subject.name);
    writeln!(out, "# {}\n", escaped(&title))?;
    writeln!(out, "**{}**\n", escaped(&explanation.verdict))?;
    if let Some(as_of) = explanation.as_of {
        writeln!(out, "As of {as_of}.\n")?;
    }
    list(None, &explanation.notes, out)?;
    if let Some(job_set) = &explanation.job_set {
        let untold = job_set.situations.iter().filter(|situation| !explanation.verdict.contains(&situation.text));
        let situations: Vec<String> = untold.map(|situation| situation.text.clone()).collect();
        list(None, &situations, out)?;
        writeln!(out, "## Attempts\n")?;
        table(&attempts::HEADS, &attempts::rows(job_set), out)?;
        for line in std::iter::once(job_set.budget.clone()).chain(attempts::cost(job_set)) {
            writeln!(out, "{}\n", escaped(&line))?;
        }
    }
    if !explanation.runs.is_empty() {
        writeln!(out, "## Runs\n")?;
        table(&super::explanation::RUN_HEADS, &super::explanation::runs(explanation), out)?;
    }
    if !explanation.timeline.is_empty() {
        writeln!(out, "## Timeline\n")?;
        let rows: Vec<Vec<String>> = explanation
            .timeline
            .iter()
            .map(|entry| vec![entry.at.map_or_else(|| "?".to_owned(), |at| at.to_string()), entry.text.clone()])
            .collect();
        table(&["Time", "What happened"], &rows, out)?;
    }
    for policy in &explanation.policies {
        writeln!(out, "## {}\n", escaped(&policy_title(policy)))?;
        table(&POLICY_HEADS, &policy_rows(policy), out)?;
    }
    if rules || &*subject.kind == "Pod" {
        for judged in &explanation.judged {
            let title = format!("{} under {}: {}", judged.object, judged.policy, judged.cause);
            let whys = judged.rules.iter().map(|rule| rule.why.clone());
            let whys: Vec<String> = whys.chain(no_rule(judged)).collect();
            list(Some(&title), &whys, out)?;
        }
    }
    let lines = explanation.checkpoints.iter().flat_map(|report| sentences(report, explanation));
    let lines: Vec<String> = lines.collect();
    list(Some("Checkpoints"), &lines, out)?;
    let facts: Vec<Vec<String>> = explanation
        .evidence
        .iter()
        .map(|fact| vec![fact.object.clone(), fact.path.clone(), fact.value.clone()])
        .collect();
    if !facts.is_empty() {
        writeln!(out, "## Evidence\n")?;
        table(&["Object", "Field", "Value"], &facts, out)?;
    }
    list(Some("Not known"), &explanation.missing, out)?;
    if !explanation.suggestions.is_empty() {
        writeln!(out, "## Next\n")?;
    }
    for (number, suggestion) in explanation.suggestions.iter().enumerate() {
        writeln!(out, "{}. **{}**: {}\n", number + 1, escaped(&suggestion.title), escaped(&suggestion.why))?;
        for command in &suggestion.commands {
            writeln!(out, "   ```sh\n   {}\n   ```\n", one_line(command))?;
        }
        if let Some(loses) = &suggestion.loses {
            writeln!(out, "   Loses {}\n", escaped(loses))?;
        }
    }
    Ok(())
}

fn list(title: Option<&str>, lines: &[String], out: &mut impl Write) -> io::Result<()> {
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

fn table(heads: &[&str], rows: &[Vec<String>], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "| {} |", heads.join(" | "))?;
    writeln!(out, "|{}", " --- |".repeat(heads.len()))?;
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    writeln!(out)
}

/// One line in which nothing is markup: what containers say may hold anything.
fn escaped(text: &str) -> String {
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
