use std::io::{self, Write};

use serde::Serialize;

use super::text::one_line;
use crate::report::{Class, FailureLine, Moment};

/// A failure in fields without depth, in the order of the columns. Names are those of `-o jsonl`, with what stands above a
/// field before it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    cluster: Option<String>,
    namespace: String,
    workload: String,
    job: Option<String>,
    pod: Option<String>,
    uid: Option<String>,
    index: Option<u32>,
    attempt: Option<u32>,
    class: Class,
    rule_index: Option<usize>,
    rule_label: Option<String>,
    rule_action: Option<String>,
    sidecar: bool,
    container: Option<String>,
    exit_code: Option<i32>,
    reason: Option<String>,
    message: Option<String>,
    node: Option<String>,
    started_at: Option<Moment>,
    finished_at: Option<Moment>,
    counted: Option<bool>,
    count: u32,
    gpu_seconds: Option<f64>,
    job_set_rule_label: Option<String>,
    job_set_rule_action: Option<String>,
    torn_down_by: Option<String>,
}

/// The heads of the columns, which stand also where there is no failure.
const HEADS: [&str; 26] = [
    "cluster",
    "namespace",
    "workload",
    "job",
    "pod",
    "uid",
    "index",
    "attempt",
    "class",
    "ruleIndex",
    "ruleLabel",
    "ruleAction",
    "sidecar",
    "container",
    "exitCode",
    "reason",
    "message",
    "node",
    "startedAt",
    "finishedAt",
    "counted",
    "count",
    "gpuSeconds",
    "jobSetRuleLabel",
    "jobSetRuleAction",
    "tornDownBy",
];

/// One failure a line.
pub(super) fn print(lines: impl Iterator<Item = FailureLine>, headers: bool, out: &mut impl Write) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(out);
    if headers {
        writer.write_record(HEADS).map_err(io_error)?;
    }
    for line in lines {
        writer.serialize(Row::from(line)).map_err(io_error)?;
    }
    writer.flush()
}

fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Text on one line, and harmless to a spreadsheet: what it would take for a formula stands behind an apostrophe. What a
/// container says may be `=HYPERLINK(…)`.
///
/// Source: OWASP, CSV Injection.
fn harmless(text: &str) -> String {
    let line = one_line(text);
    match line.chars().next() {
        Some('=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠') => format!("'{line}"),
        _ => line,
    }
}

impl From<FailureLine> for Row {
    fn from(line: FailureLine) -> Self {
        let text = |text: Option<String>| text.map(|text| harmless(&text));
        let (rule_index, rule_label, rule_action) = match line.rule {
            Some(rule) => (Some(rule.index), Some(rule.label), Some(rule.action)),
            None => (None, None, None),
        };
        let (job_set_rule_label, job_set_rule_action) = match line.job_set_rule {
            Some(rule) => (Some(rule.label), rule.action),
            None => (None, None),
        };
        Self {
            cluster: text(line.cluster),
            namespace: harmless(&line.namespace),
            workload: harmless(&line.workload),
            job: text(line.job),
            pod: text(line.pod),
            uid: text(line.uid),
            index: line.index,
            attempt: line.attempt,
            class: line.class,
            rule_index,
            rule_label: text(rule_label),
            rule_action: text(rule_action),
            sidecar: line.sidecar,
            container: text(line.container),
            exit_code: line.exit_code,
            reason: text(line.reason),
            message: text(line.message),
            node: text(line.node),
            started_at: line.started_at,
            finished_at: line.finished_at,
            counted: line.counted,
            count: line.count,
            gpu_seconds: line.gpu_seconds,
            job_set_rule_label: text(job_set_rule_label),
            job_set_rule_action: text(job_set_rule_action),
            torn_down_by: text(line.torn_down_by),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_formula() {
        for (text, cell) in [
            ("exit 42", "exit 42"),
            ("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'=1"),
            ("\r\n=1", "'=1"),
            ("\u{1b}[31m=1", "'=1"),
            ("\u{feff}=1", "'=1"),
            ("＝1", "'＝1"),
            ("a=1\nb", "a=1 b"),
        ] {
            assert_eq!(harmless(text), cell, "{text:?}");
        }
    }
}
