use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::clusters::{Clusters, of_contexts};
use super::connection::ConnectionArgs;
use super::input::{Color, clock, ensure_one_namespace, ensure_targets_exist, kubectl_for, moment, namespace_of, read};
use super::options::{UsageError, parse_duration, parse_targets};
use super::output::{Output, PrintArgs};
use super::scope::{has_gap, options, report_scope, scope_of};
use super::show::{self, Show, lines};
use super::sink::Sink;
use super::watched;
use super::watching::WatchArgs;
use super::{CONNECTION, ExitCode, OUTPUT, SELECTION, width, width_in_file};
use crate::advice::{Kubectl, advise};
use crate::analysis::{Analysis, LeftOut, Options, analyse, parts, report};
use crate::fleet::{ClusterReport, Frame, merge};
use crate::render::Look;
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

  # Several clusters in one report; one that cannot be reached is left out
  kubectl sigapps failures -A --context prod-eu --context prod-us
  kubectl sigapps failures -A --all-contexts --exit-code

  # Which node failures gather on
  kubectl sigapps failures -A --group-by node

  # A dump instead of a cluster
  kubectl get jobs,cronjobs,deploy,rs,sts,ds,pods,events,nodes -A \\
    -o json > dump.json
  kubectl sigapps failures -f dump.json

  # As it happens: anew on a terminal, or each new failure as a line
  kubectl sigapps failures -w
  kubectl sigapps failures -A --watch-only -o jsonl

  # Any field, as kubectl cuts them out; each failure for a spreadsheet
  kubectl sigapps failures -A --sort-by=.failures \\
    -o custom-columns=RULE:.rule.label,FAILURES:.failures
  kubectl sigapps failures -A \\
    -o jsonpath='{range .groups[*]}{.id}{\"\\t\"}{.cause.text}{\"\\n\"}{end}'
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
    #[arg(short = 'f', long = "filename", value_name = "FILE", value_hint = ValueHint::AnyPath, help_heading = SELECTION)]
    files: Vec<String>,

    /// Read all namespaces
    #[arg(short = 'A', long, help_heading = SELECTION)]
    all_namespaces: bool,

    /// Read the clusters of all contexts of the kubeconfig, for one report
    #[arg(long, help_heading = SELECTION)]
    all_contexts: bool,

    /// Only workloads with these labels
    #[arg(short = 'l', long, default_value = "", hide_default_value = true, help_heading = SELECTION)]
    selector: Selector,

    /// Output format: table, wide (all groups, all columns), json, yaml, jsonl (one failure a line), csv (the same), name,
    /// markdown, jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE, jsonpath-file=FILE, custom-columns=HEAD:PATH,… (one group a
    /// line), custom-columns-file=FILE
    #[arg(short = 'o', long, value_name = "FORMAT", value_parser = show::parse_output, help_heading = OUTPUT)]
    output: Option<Output>,

    /// Write what -o says to this file instead of stdout, whole or not at all; a file that is there is replaced
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["watch", "watch_only"], help_heading = OUTPUT)]
    output_file: Option<PathBuf>,

    /// Sort groups by this field of theirs, given as a JSONPath (.failures, {.rule.label}); with -o jsonl and csv
    /// failures, with -o name workloads
    #[arg(long, value_name = "PATH", help_heading = OUTPUT)]
    sort_by: Option<String>,

    /// Only what is new beside a report that `failures -o json` printed, - for standard input: other groups, and other
    /// workloads of the same groups
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = SELECTION)]
    baseline: Option<String>,

    #[command(flatten)]
    print: PrintArgs,

    /// What failures are grouped by
    #[arg(long, value_enum, default_value_t, help_heading = OUTPUT)]
    group_by: GroupBy,

    /// Only failures that ended within this time (30m, 12h, 2d), or are still going on
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = SELECTION)]
    since: Option<i64>,

    /// Only these classes of failures, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', help_heading = SELECTION)]
    class: Vec<Class>,

    /// Also workloads that completed in spite of failures
    #[arg(long, help_heading = SELECTION)]
    all: bool,

    /// How long a pod may wait for a node or be in creation before it counts as unable to start
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "5m", help_heading = SELECTION)]
    pending_after: i64,

    /// Use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", help_heading = OUTPUT)]
    color: Color,

    /// Exit with 3 if failures were found, with 4 if the report is incomplete
    #[arg(long, help_heading = OUTPUT)]
    exit_code: bool,

    #[command(flatten)]
    watch: WatchArgs,

    /// Objects read at once from a cluster; 0 for all
    #[arg(long, value_name = "NUMBER", default_value_t = 500, help_heading = CONNECTION)]
    chunk_size: u32,

    #[command(flatten)]
    connection: ConnectionArgs,
}

impl FailuresArgs {
    pub(super) fn run(mut self) -> anyhow::Result<ExitCode> {
        let show = self.show()?;
        let named = !self.targets.is_empty() && self.files.is_empty();
        ensure_one_namespace(self.all_namespaces, named, self.connection.namespace().as_deref())?;
        let of_files = !self.files.is_empty();
        let mut connections = of_contexts(self.connection, self.all_contexts, of_files)?;
        if connections.len() > 1 {
            self.connection = ConnectionArgs::default();
            return self.run_several(connections, &show);
        }
        self.connection = connections.swap_remove(0);
        self.run_one(&show)
    }

    /// One cluster, or files.
    fn run_one(self, show: &Show) -> anyhow::Result<ExitCode> {
        let kubectl = Kubectl { flags: self.connection.flags_for_kubectl() };
        let (scope, view) = self.asked()?;
        let watch = self.watch;
        let (from, namespace) = namespace_of(self.files, self.connection, self.all_namespaces)?;
        let request = Request { from, scope: Scope { namespace, ..scope }, view };
        let options = |now| options(&request.scope, &request.view, now);
        let print =
            |analysis: &Analysis, options: &Options, left_out: &LeftOut, kubectl: &Kubectl, out: &mut dyn Write| {
                if show.is_of_failures() {
                    return show.failures(lines(analysis), out);
                }
                let scope = scope_of(&request, analysis.snapshot);
                let reported = report(analysis, options, request.view.group_by, scope);
                show.report(advise(analysis, reported, kubectl), left_out, out)
            };
        if watch.is_on() {
            let print = |analysis: &Analysis, options: &Options, out: &mut Vec<u8>| {
                print(analysis, options, &LeftOut::default(), &kubectl, out)
            };
            let (as_lines, between) = (show.is_of_single_failures(), show.between());
            return watched::failures(watch, &request, as_lines, between, options, print);
        }
        let mut snapshot = read(&request.from, &request.scope)?;
        if let From::Files(_) = request.from {
            ensure_targets_exist(&snapshot, &request.scope.targets)?;
        }
        let now = moment(&request.from, &snapshot)?;
        if let Some((now, since)) = now.zip(request.view.since) {
            snapshot.mark_gaps(now.plus_seconds(-since));
        }
        let kubectl = kubectl_for(kubectl.clone(), &request.from, &snapshot);
        let options = options(now);
        let mut analysis = analyse(&snapshot, &options);
        let left_out = show.leave_out_known(&mut analysis, request.view.group_by);
        let mut out = Sink::open(self.output_file.as_deref())?;
        print(&analysis, &options, &left_out, &kubectl, &mut out)?;
        out.finish()?;
        Ok(show.code(has_gap(&snapshot.sources), !analysis.failures.is_empty()))
    }

    /// Several clusters: each is judged by itself as soon as it is its turn, and its data let go.
    fn run_several(self, connections: Vec<ConnectionArgs>, show: &Show) -> anyhow::Result<ExitCode> {
        if self.watch.is_on() {
            return Err(UsageError("--watch follows one cluster: give one --context".to_owned()).into());
        }
        let (scope, view) = self.asked()?;
        let clusters = Clusters::new(connections, self.all_namespaces)?;
        let mut out = Sink::open(self.output_file.as_deref())?;
        let (mut failures, mut reports, mut left_out, mut found) = (Vec::new(), Vec::new(), LeftOut::default(), false);
        let told = clusters.read(&scope, &mut |cluster, snapshot, kubectl| {
            let options = options(&scope, &view, Some(clock()?));
            let mut analysis = analyse(snapshot, &options);
            left_out.add(show.leave_out_known(&mut analysis, view.group_by));
            found |= !analysis.failures.is_empty();
            if show.is_of_single_failures() {
                return show.failures(lines(&analysis), &mut out);
            }
            if show.is_of_failures() {
                failures.extend(lines(&analysis));
                return Ok(());
            }
            let reported = report(&analysis, &options, view.group_by, ReportScope::default());
            let parts = parts(&analysis, &reported, view.group_by);
            let report = advise(&analysis, reported, kubectl);
            reports.push(ClusterReport { cluster: cluster.to_owned(), report, parts });
            Ok(())
        })?;
        let code = show.code(told.has_gap() || has_gap(&told.sources), found);
        if !show.is_of_failures() {
            let scope = report_scope(&scope, &view, clusters.names().to_vec(), told.namespaces, Vec::new());
            let frame = Frame { scope, sources: told.sources, notes: told.notes };
            show.report(merge(reports, view.group_by, frame), &left_out, &mut out)?;
        } else if !show.is_of_single_failures() {
            show.failures(failures.into_iter(), &mut out)?;
        }
        out.finish()?;
        Ok(code)
    }

    /// How it is shown; mistakes in that are told before anything is read.
    fn show(&mut self) -> anyhow::Result<Show> {
        let headers = self.print.headers();
        let look = match self.output_file {
            None => Look { width: width(), color: self.color.is_on(), headers },
            Some(_) => Look { width: width_in_file(), color: self.color.is_on_in_file(), headers },
        };
        let show = Show::new(self.output.as_ref(), &self.print, self.sort_by.take(), look, self.exit_code)?
            .since(self.baseline.take(), self.group_by)?;
        if self.watch.is_on() {
            show.ensure_for_watching()?;
        }
        Ok(show)
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
