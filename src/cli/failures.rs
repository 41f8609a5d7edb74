use std::io::{self, BufWriter, Write};

use clap::{Args, ValueEnum};

use super::clusters::{Clusters, of_contexts};
use super::connection::ConnectionArgs;
use super::input::{Color, clock, ensure_one_namespace, ensure_targets_exist, moment, namespace_of, read};
use super::options::{UsageError, parse_duration, parse_targets};
use super::scope::{has_gap, options, report_scope, scope_of};
use super::{ExitCode, width};
use crate::advice::{Kubectl, advise};
use crate::analysis::{Analysis, analyse, failure_line, parts, report};
use crate::fleet::{ClusterReport, Frame, merge};
use crate::render::{self, Format, Look};
use crate::report::{Class, ReportScope};
use crate::request::{From, GroupBy, Request, Scope, Selector, View};

const EXAMPLES: &str = "\
Examples:
  # What failed in the current namespace
  kubectl sigapps failures

  # What failed in the whole cluster since last night
  kubectl sigapps failures -A --since 12h

  # One Job, one JobSet; all of some kinds
  kubectl sigapps failures job/etl jobset/llama-70b -n ml-team
  kubectl sigapps failures deployments,lws -A

  # Several clusters in one report, which go on without one that cannot be reached
  kubectl sigapps failures -A --context prod-eu --context prod-us
  kubectl sigapps failures -A --all-contexts --exit-code

  # Which node failures gather on
  kubectl sigapps failures -A --group-by node

  # A dump instead of a cluster
  kubectl get jobs,cronjobs,deploy,rs,sts,ds,pods,events,nodes -A -o json > dump.json
  kubectl sigapps failures -f dump.json

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

    /// Read the clusters of all contexts of the kubeconfig, for one report
    #[arg(long)]
    all_contexts: bool,

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
    pub(super) fn run(mut self) -> anyhow::Result<ExitCode> {
        let named = !self.targets.is_empty() && self.files.is_empty();
        ensure_one_namespace(self.all_namespaces, named, self.connection.namespace().as_deref())?;
        let of_files = !self.files.is_empty();
        let mut connections = of_contexts(self.connection, self.all_contexts, of_files)?;
        if connections.len() > 1 {
            self.connection = ConnectionArgs::default();
            return self.run_several(connections);
        }
        self.connection = connections.swap_remove(0);
        self.run_one()
    }

    /// One cluster, or files.
    fn run_one(self) -> anyhow::Result<ExitCode> {
        let kubectl = Kubectl { flags: self.connection.flags_for_kubectl() };
        let show = self.show();
        let (scope, view) = self.asked()?;
        let (from, namespace) = namespace_of(self.files, self.connection, self.all_namespaces)?;
        let request = Request { from, scope: Scope { namespace, ..scope }, view };
        let snapshot = read(&request.from, &request.scope)?;
        if let From::Files(_) = request.from {
            ensure_targets_exist(&snapshot, &request.scope.targets)?;
        }
        let options = options(&request.scope, &request.view, moment(&request.from, &snapshot)?);
        let analysis = analyse(&snapshot, &options);
        let mut out = BufWriter::new(io::stdout().lock());
        match show.output.format() {
            None => lines(&analysis, &mut out)?,
            Some(format) => {
                let scope = scope_of(&request, &snapshot);
                let report = advise(&analysis, report(&analysis, &options, request.view.group_by, scope), &kubectl);
                render::report(&report, format, show.look, &mut out)?;
            }
        }
        out.flush()?;
        Ok(show.code(has_gap(&snapshot.sources), !analysis.failures.is_empty()))
    }

    /// Several clusters: each is judged by itself as soon as it is its turn, and its data let go.
    fn run_several(self, connections: Vec<ConnectionArgs>) -> anyhow::Result<ExitCode> {
        let show = self.show();
        let (scope, view) = self.asked()?;
        let clusters = Clusters::new(connections, self.all_namespaces)?;
        let format = show.output.format();
        let mut out = BufWriter::new(io::stdout().lock());
        let (mut reports, mut found) = (Vec::new(), false);
        let told = clusters.read(&scope, &mut |cluster, snapshot, kubectl| {
            let options = options(&scope, &view, Some(clock().map_err(io::Error::other)?));
            let analysis = analyse(snapshot, &options);
            found |= !analysis.failures.is_empty();
            if format.is_none() {
                return lines(&analysis, &mut out);
            }
            let reported = report(&analysis, &options, view.group_by, ReportScope::default());
            let parts = parts(&analysis, &reported, view.group_by);
            let report = advise(&analysis, reported, kubectl);
            reports.push(ClusterReport { cluster: cluster.to_owned(), report, parts });
            Ok(())
        })?;
        let code = show.code(told.has_gap() || has_gap(&told.sources), found);
        if let Some(format) = format {
            let scope = report_scope(&scope, &view, clusters.names().to_vec(), told.namespaces, Vec::new());
            let frame = Frame { scope, sources: told.sources, notes: told.notes };
            render::report(&merge(reports, view.group_by, frame), format, show.look, &mut out)?;
        }
        out.flush()?;
        Ok(code)
    }

    fn show(&self) -> Show {
        let look = Look { width: width(), color: self.color.is_on(), headers: !self.no_headers };
        Show { output: self.output, look, exit_code: self.exit_code }
    }

    /// What to read, but for the namespace, and what to show of it.
    fn asked(&self) -> Result<(Scope, View), UsageError> {
        let (kinds, targets) = parse_targets(&self.targets).map_err(UsageError)?;
        let scope = Scope {
            namespace: None,
            selector: self.selector.clone(),
            targets,
            kinds,
            subject: None,
            nodes: self.group_by == GroupBy::Node,
            chunk_size: self.chunk_size,
        };
        let view = View {
            group_by: self.group_by,
            since: self.since,
            classes: self.class.clone(),
            all: self.all,
            pending_after: self.pending_after,
        };
        Ok((scope, view))
    }
}

/// How it is shown.
struct Show {
    output: Output,
    look: Look,
    exit_code: bool,
}

impl Show {
    /// With `--exit-code`, an incomplete report outranks failures found, as it may hide more of them.
    const fn code(&self, has_gap: bool, found: bool) -> ExitCode {
        match (self.exit_code, has_gap, found) {
            (true, true, _) => ExitCode::Incomplete,
            (true, false, true) => ExitCode::FailuresFound,
            _ => ExitCode::Success,
        }
    }
}

impl Output {
    /// The format of a report; `None` where it is failures, one a line, that are printed.
    const fn format(self) -> Option<Format> {
        match self {
            Self::Table => Some(Format::Table),
            Self::Wide => Some(Format::Wide),
            Self::Json => Some(Format::Json),
            Self::Yaml => Some(Format::Yaml),
            Self::Name => Some(Format::Name),
            Self::Jsonl => None,
        }
    }
}

fn lines(analysis: &Analysis, out: &mut impl Write) -> io::Result<()> {
    render::failures(analysis.failures.iter().map(|failure| failure_line(analysis, failure)), out)
}
