use std::io::Write;

use clap::{Args, ValueEnum};

use super::ExitCode;
use super::stdout::stdout;
use crate::report::{doctor_schema, explanation_schema, failure_schema, report_schema, restart_schema, version_schema};

const EXAMPLES: &str = "\
Examples:
  # The schema of a whole report
  kubectl sigapps schema > failure-report.json

  # Of one line of -o jsonl
  kubectl sigapps schema failure";

#[derive(Debug, Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct SchemaArgs {
    /// Which schema to print
    #[arg(value_enum, default_value_t)]
    of: SchemaOf,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum SchemaOf {
    /// What failures -o json and -o yaml print
    #[default]
    Report,
    /// A line of what failures -o jsonl prints
    Failure,
    /// What explain -o json and -o yaml print
    Explanation,
    /// What restart -o json and -o yaml print
    Restart,
    /// What version -o json and -o yaml print
    Version,
    /// What doctor -o json and -o yaml print
    Doctor,
}

impl SchemaArgs {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let schema = match self.of {
            SchemaOf::Report => report_schema(),
            SchemaOf::Failure => failure_schema(),
            SchemaOf::Explanation => explanation_schema(),
            SchemaOf::Restart => restart_schema(),
            SchemaOf::Version => version_schema(),
            SchemaOf::Doctor => doctor_schema(),
        };
        writeln!(stdout(), "{}", serde_json::to_string_pretty(&schema)?)?;
        Ok(ExitCode::Success)
    }
}
