use std::io::{self, BufWriter, Write};

use clap::Args;
use serde::Serialize;

use super::baseline::Kept;
use super::connection::ConnectionArgs;
use super::input::{Color, ensure_one_namespace, ensure_targets_exist, moment, namespace_of, read};
use super::options::{UsageError, parse_duration, parse_targets};
use super::output::{Chosen, Output, PrintArgs};
use super::{ExitCode, width};
use crate::advice::{Kubectl, advise};
use crate::analysis::{Analysis, Options, analyse, failure_line, report};
use crate::jsonpath::{OrderError, Template, order_by, whole_path};
use crate::model::Time;
use crate::render::{self, Format, Look};
use crate::report::{Class, FailureLine, FailureReport, ReportScope, Source, SourceState};
use crate::request::{From, GroupBy, Request, Scope, Selector, View};
use crate::source::{Resource, Snapshot};

const EXAMPLES: &str = "\
Examples:
  # What failed in the current namespace
  kubectl sigapps failures

  # What failed in the whole cluster since last night
  kubectl sigapps failures -A --since 12h

  # One Job, one JobSet; all of some kinds
  kubectl sigapps failures job/etl jobset/llama-70b -n ml-team
  kubectl sigapps failures deployments,lws -A

  # Which node failures gather on
  kubectl sigapps failures -A --group-by node

  # A dump instead of a cluster
  kubectl get jobs,cronjobs,deploy,rs,sts,ds,pods,events,nodes -A -o json > dump.json
  kubectl sigapps failures -f dump.json

  # Any field, as kubectl cuts them out; each failure for a spreadsheet
  kubectl sigapps failures -A -o custom-columns=RULE:.rule.label,FAILURES:.failures --sort-by=.failures
  kubectl sigapps failures -A -o jsonpath='{range .groups[*]}{.id}{\"\\t\"}{.cause.text}{\"\\n\"}{end}'
  kubectl sigapps failures -A -o csv > failures.csv

  # Only what is new since a report that was kept
  kubectl sigapps failures -A -o json > last-night.json
  kubectl sigapps failures -A --baseline last-night.json --exit-code

  # For scripts: 3 if anything failed, 4 if something could not be read
  kubectl sigapps failures -A --exit-code -o json";

#[derive(Debug, Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct FailuresArgs {
    /// Only these workloads: KIND/NAME, NAME (a job), a kind and names (jobset NAME), or all of some kinds (cronjobs,lws)
    #[arg(value_name = "KIND|[KIND/]NAME")]
    targets: Vec<String>,

    /// Read files or folders instead of a cluster, - for standard input; may be repeated
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    files: Vec<String>,

    /// Read all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,

    /// Only workloads with these labels
    #[arg(short = 'l', long, default_value = "", hide_default_value = true)]
    selector: Selector,

    /// Output format: table, wide (all groups, all columns), json, yaml, jsonl (one failure a line), csv (the same), name,
    /// markdown, jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE, jsonpath-file=FILE, custom-columns=HEAD:PATH,… (one group a
    /// line), custom-columns-file=FILE
    #[arg(short = 'o', long, value_name = "FORMAT", value_parser = parse_output)]
    output: Option<Output>,

    /// Sort groups by this field of theirs, given as a JSONPath (.failures, {.rule.label}); with -o jsonl and csv
    /// failures, with -o name workloads
    #[arg(long, value_name = "PATH")]
    sort_by: Option<String>,

    /// Only what is new beside a report that `failures -o json` printed: other groups, and other workloads of the same groups
    #[arg(long, value_name = "FILE")]
    baseline: Option<String>,

    #[command(flatten)]
    print: PrintArgs,

    /// What failures are grouped by
    #[arg(long, value_enum, default_value_t)]
    group_by: GroupBy,

    /// Only failures that ended within this time (30m, 12h, 2d), or are still going on
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    since: Option<i64>,

    /// Only these classes of failures, separated by commas
    #[arg(long, value_enum, value_delimiter = ',')]
    class: Vec<Class>,

    /// Also workloads that completed in spite of failures
    #[arg(long)]
    all: bool,

    /// How long a pod may wait for a node or be in creation before it counts as unable to start
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "5m")]
    pending_after: i64,

    /// Use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,

    /// Exit with 3 if failures were found, with 4 if the report is incomplete
    #[arg(long)]
    exit_code: bool,

    /// Objects read at once from a cluster; 0 for all
    #[arg(long, value_name = "NUMBER", default_value_t = 500)]
    chunk_size: u32,

    #[command(flatten)]
    connection: ConnectionArgs,
}

/// What is printed of the failures: of the report, or of each failure.
#[derive(Clone, Copy, Debug)]
enum Printed {
    Report(Format),
    Jsonl,
    Csv,
}

const FORMATS: [(&str, Printed); 8] = [
    ("table", Printed::Report(Format::Table)),
    ("wide", Printed::Report(Format::Wide)),
    ("json", Printed::Report(Format::Json)),
    ("yaml", Printed::Report(Format::Yaml)),
    ("jsonl", Printed::Jsonl),
    ("csv", Printed::Csv),
    ("name", Printed::Report(Format::Name)),
    ("markdown", Printed::Report(Format::Markdown)),
];

fn parse_output(text: &str) -> Result<Output, String> {
    Output::parse(text, &FORMATS, |_| None)
}

impl FailuresArgs {
    pub(super) fn run(mut self) -> anyhow::Result<ExitCode> {
        let chosen = self.choose()?;
        let baseline = self.baseline.take().map(Kept::read).transpose()?;
        if let Some(baseline) = &baseline {
            baseline.ensure_grouped_by(self.group_by.name())?;
        }
        let (exit_code, color, headers) = (self.exit_code, self.color, self.print.headers());
        let sort_by = self.sort_by.take();
        let kubectl = Kubectl { flags: self.connection.flags_for_kubectl() };
        let request = self.into_request()?;
        let snapshot = read(&request.from, &request.scope)?;
        if let From::Files(_) = request.from {
            ensure_targets_exist(&snapshot, &request.scope.targets)?;
        }
        let now = moment(&request.from, &snapshot)?;
        let options = options(&request, now);
        let mut analysis = analyse(&snapshot, &options);
        let group_by = request.view.group_by;
        let known = baseline.as_ref().map(|kept| kept.baseline.leave_out_known(&mut analysis, group_by));
        let mut out = BufWriter::new(io::stdout().lock());
        let found = !analysis.failures.is_empty();
        let ended = if exit_code { ended(&snapshot.sources, found) } else { ExitCode::Success };
        if let Chosen::Format(Printed::Jsonl | Printed::Csv) = chosen {
            print_failures(&analysis, &chosen, sort_by.as_deref(), headers, &mut out)?;
            out.flush()?;
            return Ok(ended);
        }
        let reported = report(&analysis, &options, group_by, scope(&request, &snapshot));
        let mut report = advise(&analysis, reported, &kubectl);
        if let (Some(kept), Some(known)) = (&baseline, known) {
            kept.baseline.mark(known, &mut report);
            kept.compare_scope(&report);
        }
        if let Some(path) = sort_by {
            sort(&mut report, &path, matches!(chosen, Chosen::Format(Printed::Report(Format::Name))))?;
        }
        match &chosen {
            Chosen::Format(Printed::Report(format)) => {
                let look = Look { width: width(), color: color.is_on(), headers };
                render::report(&report, *format, look, &mut out)?;
            }
            Chosen::Fields(fields) => {
                fields.print(&serde_json::to_value(&report)?, &documents(&report.groups)?, headers, &mut out)?;
            }
            Chosen::Format(Printed::Jsonl | Printed::Csv) => {}
        }
        out.flush()?;
        Ok(ended)
    }

    /// What is to be printed; mistakes in it are told before anything is read.
    fn choose(&self) -> anyhow::Result<Chosen<Printed>> {
        self.print.ensure_no_go_template(self.output.as_ref())?;
        if let Some(path) = &self.sort_by {
            let template = whole_path(path).map_err(OrderError::from).and_then(|path| Ok(Template::parse(&path)?));
            template.map_err(|error| UsageError(format!("--sort-by {path}: {error}")))?;
        }
        match &self.output {
            None => Ok(Chosen::Format(Printed::Report(Format::Table))),
            Some(output) => self.print.choose(output, &FORMATS),
        }
    }

    fn into_request(self) -> anyhow::Result<Request> {
        let named = !self.targets.is_empty() && self.files.is_empty();
        ensure_one_namespace(self.all_namespaces, named, self.connection.namespace().as_deref())?;
        let (kinds, targets) = parse_targets(&self.targets).map_err(UsageError)?;
        let (from, namespace) = namespace_of(self.files, self.connection, self.all_namespaces)?;
        Ok(Request {
            from,
            scope: Scope {
                namespace,
                selector: self.selector,
                targets,
                kinds,
                subject: None,
                nodes: self.group_by == GroupBy::Node,
                chunk_size: self.chunk_size,
            },
            view: View {
                group_by: self.group_by,
                since: self.since,
                classes: self.class,
                all: self.all,
                pending_after: self.pending_after,
            },
        })
    }
}

/// One failure a line. They are gathered only where they are to be sorted.
fn print_failures(
    analysis: &Analysis,
    chosen: &Chosen<Printed>,
    sort_by: Option<&str>,
    headers: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let mut lines = analysis.failures.iter().map(|failure| failure_line(analysis, failure));
    let sorted: Vec<FailureLine>;
    let mut sorted_lines;
    let lines: &mut dyn Iterator<Item = FailureLine> = if let Some(path) = sort_by {
        sorted = in_order_of(path, lines.collect())?;
        sorted_lines = sorted.into_iter();
        &mut sorted_lines
    } else {
        &mut lines
    };
    match chosen {
        Chosen::Format(Printed::Csv) => render::failures_csv(lines, headers, out)?,
        _ => render::failures(lines, out)?,
    }
    Ok(())
}

/// Sorts what is one line of the output: the workloads where their names are printed, the groups elsewhere.
fn sort(report: &mut FailureReport, path: &str, names: bool) -> anyhow::Result<()> {
    if names {
        report.workloads = in_order_of(path, std::mem::take(&mut report.workloads))?;
    } else {
        report.groups = in_order_of(path, std::mem::take(&mut report.groups))?;
    }
    Ok(())
}

fn in_order_of<T: Serialize>(path: &str, items: Vec<T>) -> anyhow::Result<Vec<T>> {
    let order = order_by(path, &documents(&items)?)?;
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    Ok(order.into_iter().filter_map(|position| items[position].take()).collect())
}

fn documents<T: Serialize>(items: &[T]) -> serde_json::Result<Vec<serde_json::Value>> {
    items.iter().map(serde_json::to_value).collect()
}

fn options(request: &Request, now: Option<Time>) -> Options {
    let view = &request.view;
    Options {
        now,
        pending_after: view.pending_after,
        since: view.since,
        classes: view.classes.clone(),
        all: view.all,
        selector: request.scope.selector.clone(),
        targets: request.scope.targets.clone(),
        kinds: request.scope.kinds.clone(),
    }
}

fn scope(request: &Request, snapshot: &Snapshot) -> ReportScope {
    let selector = &request.scope.selector;
    ReportScope {
        contexts: snapshot.cluster.iter().cloned().collect(),
        namespaces: request.scope.namespace.iter().cloned().collect(),
        selector: (!selector.is_empty()).then(|| selector.to_string()),
        since: request.view.since,
        files: match &request.from {
            From::Files(files) => files.clone(),
            From::Cluster(_) => Vec::new(),
        },
        targets: request.scope.targets.iter().map(ToString::to_string).collect(),
        kinds: request.scope.kinds.iter().map(|kind| kind.plural().to_owned()).collect(),
        classes: request.view.classes.clone(),
        all: request.view.all,
        group_by: request.view.group_by.name(),
    }
}

/// The exit code with `--exit-code`: an incomplete report outranks failures found, as it may hide more of them.
fn ended(sources: &[Source], found: bool) -> ExitCode {
    let is_core = |resource: &str| {
        resource == "files" || Resource::ALL.iter().any(|core| core.is_core() && core.name() == resource)
    };
    let has_gap = |state: SourceState| {
        matches!(
            state,
            SourceState::Denied | SourceState::Truncated | SourceState::Unreadable | SourceState::NotInstalled
        )
    };
    if sources.iter().any(|s| is_core(&s.resource) && (has_gap(s.state) || s.skipped > 0)) {
        ExitCode::Incomplete
    } else if found {
        ExitCode::FailuresFound
    } else {
        ExitCode::Success
    }
}
