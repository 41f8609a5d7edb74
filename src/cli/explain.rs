use std::io::{self, BufWriter, Write};

use clap::{Args, ValueEnum};

use super::connection::ConnectionArgs;
use super::input::{Color, ensure_one_namespace, moment, namespace_of, read};
use super::options::{UsageError, parse_subject};
use super::watched::{self, Telling};
use super::watching::{WatchArgs, cluster_of};
use super::{ExitCode, width};
use crate::advice::{Kubectl, advise_on};
use crate::analysis::{Options, analyse, explain, find};
use crate::model::Time;
use crate::render::{self, ExplanationFormat, Look};
use crate::report::Explanation;
use crate::request::{Scope, Subject, TargetKind};
use crate::source::Snapshot;

const EXAMPLES: &str = "\
Examples:
  # Why did the JobSet restart and die, attempt by attempt
  kubectl sigapps explain jobset/llama-70b -n ml-team

  # Why a rollout does not get on, and what it changed
  kubectl sigapps explain deployment/web -n shop

  # What failed on a node, and where it stood
  kubectl sigapps explain node/gpu-node-7

  # Which rule did this pod match, rule by rule
  kubectl sigapps explain pod train-0-x7k2p

  # Why no rule matched
  kubectl sigapps explain job/etl --rules

  # As it goes on: the attempts of a JobSet, one after the other
  kubectl sigapps explain jobset/llama-70b -w

  # From a dump, as notes for an incident
  kubectl sigapps explain job/etl -f dump.json -o markdown";

#[derive(Debug, Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct ExplainArgs {
    /// What to explain: a workload, pod or node, by kind and name, or by name alone
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1..=2)]
    subject: Vec<String>,

    /// Read files or folders instead of a cluster, - for standard input; may be repeated
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    files: Vec<String>,

    /// Search all namespaces; only in files, as in a cluster a name stands for one object of one namespace
    #[arg(short = 'A', long)]
    all_namespaces: bool,

    /// Say of each rule why it matched or why not
    #[arg(long)]
    rules: bool,

    /// Output format
    #[arg(short = 'o', long, value_enum, default_value_t, hide_default_value = true)]
    output: Output,

    /// How long a pod may wait for a node or be in creation before it counts as unable to start
    #[arg(long, value_name = "DURATION", value_parser = super::options::parse_duration, default_value = "30s")]
    pending_after: i64,

    #[command(flatten)]
    watch: WatchArgs,

    /// Use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,

    /// Objects read at once from a cluster; 0 for all
    #[arg(long, value_name = "NUMBER", default_value_t = 500)]
    chunk_size: u32,

    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    /// One screen
    #[default]
    Text,
    /// As JSON
    Json,
    /// As JSON in one line
    Jsonl,
    /// As YAML
    Yaml,
    /// For an incident's notes
    Markdown,
}

impl ExplainArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let subject = parse_subject(&self.subject).map_err(UsageError)?;
        // A node belongs to no namespace, and so does what runs on it.
        let is_node = subject.kind == Some(TargetKind::Node);
        let is_one = self.files.is_empty() && !is_node;
        ensure_one_namespace(self.all_namespaces, is_one, self.connection.namespace().as_deref())?;
        let kubectl = Kubectl { flags: self.connection.flags_for_kubectl() };
        let everywhere = is_node && self.connection.namespace().is_none();
        let (from, namespace) = namespace_of(self.files, self.connection, everywhere)?;
        let scope =
            Scope { namespace, subject: Some(subject.clone()), chunk_size: self.chunk_size, ..Scope::default() };
        let look = || Look { width: width(), color: self.color.is_on(), headers: true };
        let explained = |snapshot: &Snapshot, now| explained(snapshot, &subject, now, self.pending_after, &kubectl);
        if self.watch.is_on() {
            let telling = Telling {
                on_screen: self.output != Output::Jsonl,
                explain: |snapshot: &Snapshot, now| explained(snapshot, Some(now)),
                print: |explanation: &Explanation, out: &mut Vec<u8>| {
                    Ok(render::explanation(explanation, self.output.format(), self.rules, look(), out)?)
                },
            };
            return watched::explanation(self.watch, cluster_of(&from)?, &scope, &telling);
        }
        let snapshot = read(&from, &scope)?;
        let explanation = explained(&snapshot, moment(&from, &snapshot)?)?;
        let mut out = BufWriter::new(io::stdout().lock());
        render::explanation(&explanation, self.output.format(), self.rules, look(), &mut out)?;
        out.flush()?;
        Ok(ExitCode::Success)
    }
}

impl Output {
    const fn format(self) -> ExplanationFormat {
        match self {
            Self::Text => ExplanationFormat::Text,
            Self::Json => ExplanationFormat::Json,
            Self::Jsonl => ExplanationFormat::Jsonl,
            Self::Yaml => ExplanationFormat::Yaml,
            Self::Markdown => ExplanationFormat::Markdown,
        }
    }
}

fn explained(
    snapshot: &Snapshot,
    subject: &Subject,
    now: Option<Time>,
    pending_after: i64,
    kubectl: &Kubectl,
) -> anyhow::Result<Explanation> {
    let found = find(snapshot, subject.kind, &subject.name)?;
    let targets = found.judged_with(snapshot).into_iter().collect();
    let options = Options { now, pending_after, all: true, targets, ..Options::default() };
    let analysis = analyse(snapshot, &options);
    let mut explanation = explain(&analysis, found, now);
    explanation.suggestions = advise_on(&analysis, found, now, kubectl);
    Ok(explanation)
}
