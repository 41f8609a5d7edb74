use std::io::{self, BufWriter, Write};

use clap::{Args, ValueEnum};

use super::connection::ConnectionArgs;
use super::input::{Color, ensure_one_namespace, ensure_targets_exist, moment, namespace_of, read};
use super::options::{UsageError, parse_duration, parse_targets};
use super::watched;
use super::watching::WatchArgs;
use super::{ExitCode, width};
use crate::advice::{Kubectl, advise};
use crate::analysis::{Analysis, Options, analyse, failure_line, report};
use crate::model::Time;
use crate::render::{self, Format, Look};
use crate::report::{Class, ReportScope, Source, SourceState};
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

  # As it happens: on a terminal anew with each change, else each new failure as a line
  kubectl sigapps failures -w
  kubectl sigapps failures -A --watch-only -o jsonl

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

    /// Output format
    #[arg(short = 'o', long, value_enum, default_value_t, hide_default_value = true)]
    output: Output,

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

    /// Leave the table's heads out
    #[arg(long)]
    no_headers: bool,

    /// Use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,

    /// Exit with 3 if failures were found, with 4 if the report is incomplete
    #[arg(long)]
    exit_code: bool,

    #[command(flatten)]
    watch: WatchArgs,

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
    Table,
    /// All groups, all columns
    Wide,
    /// The report as JSON
    Json,
    /// The report as YAML
    Yaml,
    /// One failure a line, as JSON
    Jsonl,
    /// The names of the workloads
    Name,
}

impl FailuresArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (output, exit_code, color, headers) = (self.output, self.exit_code, self.color, !self.no_headers);
        let kubectl = Kubectl { flags: self.connection.flags_for_kubectl() };
        let watch = self.watch;
        if watch.is_on() && exit_code {
            return Err(UsageError("--exit-code is for a report that ends: leave out --watch".to_owned()).into());
        }
        let request = self.into_request()?;
        let show = || Show { kubectl: &kubectl, output, look: Look { width: width(), color: color.is_on(), headers } };
        if watch.is_on() {
            let print = |analysis: &Analysis, options: &Options, out: &mut Vec<u8>| {
                print(&show(), &request, analysis, options, out)
            };
            return watched::failures(watch, &request, output == Output::Jsonl, |now| options(&request, now), print);
        }
        let snapshot = read(&request.from, &request.scope)?;
        if let From::Files(_) = request.from {
            ensure_targets_exist(&snapshot, &request.scope.targets)?;
        }
        let now = moment(&request.from, &snapshot)?;
        let options = options(&request, now);
        let analysis = analyse(&snapshot, &options);
        let mut out = BufWriter::new(io::stdout().lock());
        let found = !analysis.failures.is_empty();
        let ended = if exit_code { ended(&snapshot.sources, found) } else { ExitCode::Success };
        print(&show(), &request, &analysis, &options, &mut out)?;
        out.flush()?;
        Ok(ended)
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

/// How a report is shown.
struct Show<'a> {
    kubectl: &'a Kubectl,
    output: Output,
    look: Look,
}

fn print(
    show: &Show,
    request: &Request,
    analysis: &Analysis,
    options: &Options,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let format = match show.output {
        Output::Jsonl => {
            return Ok(render::failures(analysis.failures.iter().map(|failure| failure_line(analysis, failure)), out)?);
        }
        Output::Table => Format::Table,
        Output::Wide => Format::Wide,
        Output::Json => Format::Json,
        Output::Yaml => Format::Yaml,
        Output::Name => Format::Name,
    };
    let reported = report(analysis, options, request.view.group_by, scope(request, analysis.snapshot));
    let report = advise(analysis, reported, show.kubectl);
    Ok(render::report(&report, format, show.look, out)?)
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
