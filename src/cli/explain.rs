use std::io::{BufWriter, Write};

use clap::{Args, ValueHint};

use super::connection::ConnectionArgs;
use super::input::{Color, ensure_one_namespace, kubectl_for, moment, namespace_of, read};
use super::options::{UsageError, parse_subject};
use super::output::{Chosen, Output, PrintArgs};
use super::stdout::stdout;
use super::watched::{self, Telling};
use super::watching::{WatchArgs, cluster_of};
use super::{CONNECTION, ExitCode, OUTPUT, SELECTION, width};
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
    #[arg(short = 'f', long = "filename", value_name = "FILE", value_hint = ValueHint::AnyPath, help_heading = SELECTION)]
    files: Vec<String>,

    /// Search all namespaces; only in files, as in a cluster a name stands for one object of one namespace
    #[arg(short = 'A', long, help_heading = SELECTION)]
    all_namespaces: bool,

    /// Say of each rule why it matched or why not
    #[arg(long, help_heading = OUTPUT)]
    rules: bool,

    /// Output format: text, json, jsonl (in one line), yaml, markdown, name, jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE, jsonpath-file=FILE,
    /// custom-columns=HEAD:PATH,…, custom-columns-file=FILE
    #[arg(short = 'o', long, value_name = "FORMAT", value_parser = parse_output, help_heading = OUTPUT)]
    output: Option<Output>,

    #[command(flatten)]
    print: PrintArgs,

    /// How long a pod may wait for a node or be in creation before it counts as unable to start
    #[arg(long, value_name = "DURATION", value_parser = super::options::parse_duration, default_value = "30s", help_heading = SELECTION)]
    pending_after: i64,

    #[command(flatten)]
    watch: WatchArgs,

    /// Use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", help_heading = OUTPUT)]
    color: Color,

    /// Objects read at once from a cluster; 0 for all
    #[arg(long, value_name = "NUMBER", default_value_t = 500, help_heading = CONNECTION)]
    chunk_size: u32,

    #[command(flatten)]
    connection: ConnectionArgs,
}

const FORMATS: [(&str, ExplanationFormat); 6] = [
    ("text", ExplanationFormat::Text),
    ("json", ExplanationFormat::Json),
    ("jsonl", ExplanationFormat::Jsonl),
    ("yaml", ExplanationFormat::Yaml),
    ("markdown", ExplanationFormat::Markdown),
    ("name", ExplanationFormat::Name),
];

/// Their names.
pub(super) fn format_names() -> Vec<&'static str> {
    FORMATS.iter().map(|(name, _)| *name).collect()
}

fn parse_output(text: &str) -> Result<Output, String> {
    Output::parse(text, &FORMATS, |name| {
        let of_failures = matches!(name, "csv" | "table" | "wide");
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
        let explained = |snapshot: &Snapshot, now| {
            let kubectl = kubectl_for(kubectl.clone(), &from, snapshot);
            explained(snapshot, &subject, now, self.pending_after, &kubectl)
        };
        let show = Show { chosen, rules: self.rules, color: self.color, headers: self.print.headers() };
        if self.watch.is_on() {
            let telling = Telling {
                on_screen: !matches!(show.chosen, Chosen::Format(ExplanationFormat::Jsonl)),
                explain: |snapshot: &Snapshot, now| explained(snapshot, Some(now)),
                print: |explanation: &Explanation, out: &mut Vec<u8>| show.print(explanation, out),
                between: match show.chosen {
                    Chosen::Format(ExplanationFormat::Json | ExplanationFormat::Jsonl) => "",
                    Chosen::Format(ExplanationFormat::Yaml) => "---\n",
                    _ => "\n",
                },
            };
            return watched::explanation(self.watch, cluster_of(&from)?, &scope, &telling);
        }
        let snapshot = read(&from, &scope)?;
        let explanation = explained(&snapshot, moment(&from, &snapshot)?)?;
        let mut out = BufWriter::new(stdout());
        show.print(&explanation, &mut out)?;
        out.flush()?;
        Ok(ExitCode::Success)
    }
}

/// How it is shown.
struct Show {
    chosen: Chosen<ExplanationFormat>,
    rules: bool,
    color: Color,
    headers: bool,
}

impl Show {
    fn print(&self, explanation: &Explanation, out: &mut impl Write) -> anyhow::Result<()> {
        match &self.chosen {
            Chosen::Format(format) => {
                let look = Look { width: width(), color: self.color.is_on(), headers: self.headers };
                render::explanation(explanation, *format, self.rules, look, out)?;
            }
            // One object is one row.
            Chosen::Fields(fields) => {
                let document = serde_json::to_value(explanation)?;
                fields.print(&document, std::slice::from_ref(&document), self.headers, out)?;
            }
        }
        Ok(())
    }
}

/// What became of something, with what to do next.
pub(super) fn explained(
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
