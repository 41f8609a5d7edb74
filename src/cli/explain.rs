use std::io::{self, BufWriter, Write};

use clap::Args;

use super::connection::ConnectionArgs;
use super::input::{Color, ensure_one_namespace, moment, namespace_of, read};
use super::options::{UsageError, parse_subject};
use super::output::{Chosen, Output, PrintArgs};
use super::{ExitCode, width};
use crate::advice::{Kubectl, advise_on};
use crate::analysis::{Options, analyse, explain, find};
use crate::render::{self, ExplanationFormat, Look};
use crate::request::{Scope, TargetKind};

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

    /// Output format: text, json, yaml, markdown, name, jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE, jsonpath-file=FILE,
    /// custom-columns=HEAD:PATH,…, custom-columns-file=FILE
    #[arg(short = 'o', long, value_name = "FORMAT", value_parser = parse_output)]
    output: Option<Output>,

    #[command(flatten)]
    print: PrintArgs,

    /// How long a pod may wait for a node or be in creation before it counts as unable to start
    #[arg(long, value_name = "DURATION", value_parser = super::options::parse_duration, default_value = "30s")]
    pending_after: i64,

    /// Use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,

    /// Objects read at once from a cluster; 0 for all
    #[arg(long, value_name = "NUMBER", default_value_t = 500)]
    chunk_size: u32,

    #[command(flatten)]
    connection: ConnectionArgs,
}

const FORMATS: [(&str, ExplanationFormat); 5] = [
    ("text", ExplanationFormat::Text),
    ("json", ExplanationFormat::Json),
    ("yaml", ExplanationFormat::Yaml),
    ("markdown", ExplanationFormat::Markdown),
    ("name", ExplanationFormat::Name),
];

fn parse_output(text: &str) -> Result<Output, String> {
    Output::parse(text, &FORMATS, |name| {
        let of_failures = matches!(name, "csv" | "jsonl" | "table" | "wide");
        of_failures
            .then_some("that is a format of `failures`: `failures KIND/NAME --all` has the failures of one workload")
    })
}

impl ExplainArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        self.print.ensure_no_go_template(self.output.as_ref())?;
        let chosen = match &self.output {
            None => Chosen::Format(ExplanationFormat::Text),
            Some(output) => self.print.choose(output, &FORMATS)?,
        };
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
        let snapshot = read(&from, &scope)?;
        let found = find(&snapshot, subject.kind, &subject.name)?;
        let now = moment(&from, &snapshot)?;
        let targets = found.judged_with(&snapshot).into_iter().collect();
        let options = Options { now, pending_after: self.pending_after, all: true, targets, ..Options::default() };
        let analysis = analyse(&snapshot, &options);
        let mut explanation = explain(&analysis, found, now);
        explanation.suggestions = advise_on(&analysis, found, now, &kubectl);
        let mut out = BufWriter::new(io::stdout().lock());
        let headers = self.print.headers();
        match chosen {
            Chosen::Format(format) => {
                let look = Look { width: width(), color: self.color.is_on(), headers };
                render::explanation(&explanation, format, self.rules, look, &mut out)?;
            }
            // One object is one row.
            Chosen::Fields(fields) => {
                let document = serde_json::to_value(&explanation)?;
                fields.print(&document, std::slice::from_ref(&document), headers, &mut out)?;
            }
        }
        out.flush()?;
        Ok(ExitCode::Success)
    }
}
