//! `version`: the program's own. No cluster is asked.

use std::io::Write;

use clap::{Args, ValueEnum};

use super::{ExitCode, OUTPUT};
use crate::render;
use crate::report::Version;

const EXAMPLES: &str = "\
Examples:
  # For a person
  kubectl sigapps version

  # For a script
  kubectl sigapps version -o json | jq -r .version";

#[derive(Debug, Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct VersionArgs {
    /// Output format
    #[arg(short = 'o', long, value_enum, default_value_t, hide_default_value = true, help_heading = OUTPUT)]
    output: Output,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    /// In one line
    #[default]
    Text,
    /// As JSON
    Json,
    /// As YAML
    Yaml,
}

impl VersionArgs {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let version = Version::of_this_program();
        let mut out = super::stdout::stdout();
        match self.output {
            Output::Text => {
                let Version { version, commit, platform, .. } = version;
                let commit = commit.map(|commit| format!(", commit {commit}")).unwrap_or_default();
                writeln!(out, "kubectl-sigapps {version} ({platform}{commit})")?;
            }
            Output::Json => render::version_json(&version, &mut out)?,
            Output::Yaml => render::version_yaml(&version, &mut out)?,
        }
        Ok(ExitCode::Success)
    }
}
