//! Report → text, one file a format. Only this room knows tables and colours.

mod age;
mod attempts;
mod checkpoints;
mod csv;
mod doctor;
mod explanation;
mod fields;
mod json;
mod markdown;
mod name;
mod notes;
mod report_markdown;
mod restart;
mod suggestion;
mod table;
mod text;
mod yaml;

use std::io::{self, Write};

pub use fields::{Columns, ColumnsError, Fields, FieldsError};

use crate::report::{Doctor, Explanation, FailureLine, FailureReport, Restart, RestartStep, Version};
use crate::request::Target;

/// The formats a report is printed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One screen for a person.
    #[default]
    Table,
    /// The table with all rows, all columns and nothing cut off.
    Wide,
    /// The report as JSON.
    Json,
    /// The report as YAML.
    Yaml,
    /// The failing workloads' names.
    Name,
    /// For an incident's notes.
    Markdown,
}

/// How text for a person looks.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether to use colours.
    pub color: bool,
    /// Whether to print the heads of tables.
    pub headers: bool,
}

/// Prints a report.
pub fn report(report: &FailureReport, format: Format, look: Look, out: &mut impl Write) -> io::Result<()> {
    match format {
        Format::Table => table::print(report, look, false, out),
        Format::Wide => table::print(report, look, true, out),
        Format::Json => json::print(report, out),
        Format::Yaml => yaml::print(report, out),
        Format::Name => name::print(report, out),
        Format::Markdown => report_markdown::print(report, out),
    }
}

/// The formats an explanation is printed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExplanationFormat {
    /// One screen for a person.
    #[default]
    Text,
    /// As JSON.
    Json,
    /// As JSON, in one line.
    Jsonl,
    /// As YAML.
    Yaml,
    /// For an incident's notes.
    Markdown,
    /// The name of what is explained.
    Name,
}

/// Prints the name of an object as kubectl's `-o name` does: `job.batch/x`.
pub fn target_name(target: &Target, out: &mut impl Write) -> io::Result<()> {
    name::print_known(target.kind, &target.name, out)
}

/// Prints an explanation; `rules` asks for why each rule matched or not.
pub fn explanation(
    explanation: &Explanation,
    format: ExplanationFormat,
    rules: bool,
    look: Look,
    out: &mut impl Write,
) -> io::Result<()> {
    match format {
        ExplanationFormat::Text => explanation::print(explanation, rules, look, out),
        ExplanationFormat::Json => json::print(explanation, out),
        ExplanationFormat::Jsonl => json::print_line(explanation, out),
        ExplanationFormat::Yaml => yaml::print(explanation, out),
        ExplanationFormat::Markdown => markdown::print(explanation, rules, out),
        ExplanationFormat::Name => name::print_one(&explanation.subject, out),
    }
}

/// The formats in which it is told what can be seen of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DoctorFormat {
    /// For a person.
    #[default]
    Text,
    /// As JSON.
    Json,
    /// As YAML.
    Yaml,
}

/// Prints what can be seen of a cluster.
pub fn doctor(report: &Doctor, format: DoctorFormat, look: Look, out: &mut impl Write) -> io::Result<()> {
    match format {
        DoctorFormat::Text => doctor::print(report, look, out),
        DoctorFormat::Json => json::print(report, out),
        DoctorFormat::Yaml => yaml::print(report, out),
    }
}

/// Prints what a restart would do and what is lost by it, before it is done.
pub fn restart_plan(restart: &Restart, look: Look, out: &mut impl Write) -> io::Result<()> {
    restart::plan(restart, look, out)
}

/// Prints what became of one step.
pub fn restart_step(step: &RestartStep, look: Look, out: &mut impl Write) -> io::Result<()> {
    restart::step(step, look, out)
}

/// Prints how a restart ended, where it did not end with an error.
pub fn restart_end(restart: &Restart, look: Look, out: &mut impl Write) -> io::Result<()> {
    restart::end(restart, look, out)
}

/// The lines that say why a restart was not done, or not to its end; none where it was.
pub fn restart_errors(restart: &Restart) -> Vec<String> {
    restart::errors(restart)
}

/// Prints what became of a restart, as JSON.
pub fn restart_json(restart: &Restart, out: &mut impl Write) -> io::Result<()> {
    json::print(restart, out)
}

/// Prints what became of a restart, as YAML.
pub fn restart_yaml(restart: &Restart, out: &mut impl Write) -> io::Result<()> {
    yaml::print(restart, out)
}

/// Prints which program this is, as JSON.
pub fn version_json(version: &Version, out: &mut impl Write) -> io::Result<()> {
    json::print(version, out)
}

/// Prints which program this is, as YAML.
pub fn version_yaml(version: &Version, out: &mut impl Write) -> io::Result<()> {
    yaml::print(version, out)
}

/// Prints failures, one JSON object a line.
pub fn failures(lines: impl Iterator<Item = FailureLine>, out: &mut impl Write) -> io::Result<()> {
    for line in lines {
        json::print_line(&line, out)?;
    }
    Ok(())
}

/// Prints failures as CSV, one a line.
pub fn failures_csv(lines: impl Iterator<Item = FailureLine>, headers: bool, out: &mut impl Write) -> io::Result<()> {
    csv::print(lines, headers, out)
}

/// A text cut to a width on a terminal, with a sign that it is.
pub(crate) fn cut(text: &str, width: usize) -> String {
    text::cut(text, width)
}

/// One line for a person from text of the cluster: line ends and control sequences are taken out.
pub fn one_line(text: &str) -> String {
    text::one_line(text)
}
