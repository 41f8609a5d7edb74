use std::io::{self, BufWriter, IsTerminal, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::connection::ConnectionArgs;
use super::options::{UsageError, parse_duration, parse_target};
use super::{ExitCode, talk, width};
use crate::advice::{Kubectl, advise};
use crate::analysis::{Options, analyse, failure_line, report};
use crate::model::Time;
use crate::render::{self, Format, Look};
use crate::report::{Class, ReportScope, Source, SourceState};
use crate::request::{From, GroupBy, Request, Scope, Selector, Target, TargetKind, View};
use crate::source::{Filter, Resource, Snapshot, cluster, file, nearest};

const EXAMPLES: &str = "\
Examples:
  # What failed in the current namespace
  kubectl sigapps failures

  # What failed in the whole cluster since last night
  kubectl sigapps failures -A --since 12h

  # One Job, one JobSet
  kubectl sigapps failures job/etl jobset/llama-70b -n ml-team

  # A dump instead of a cluster
  kubectl get jobs,cronjobs,pods,events,nodes -A -o json > dump.json
  kubectl sigapps failures -f dump.json

  # For scripts: 3 if anything failed, 4 if something could not be read
  kubectl sigapps failures -A --exit-code -o json";

#[derive(Debug, Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct FailuresArgs {
    /// Only these workloads: NAME or job/NAME, cronjob/NAME, jobset/NAME
    #[arg(value_name = "[KIND/]NAME", value_parser = parse_target)]
    targets: Vec<Target>,

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

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl FailuresArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (output, exit_code, color, headers) = (self.output, self.exit_code, self.color, !self.no_headers);
        let kubectl = Kubectl { flags: self.connection.flags_for_kubectl() };
        let request = self.into_request()?;
        let snapshot = read(&request)?;
        if let From::Files(_) = request.from {
            ensure_targets_exist(&snapshot, &request.scope.targets)?;
        }
        let now = match request.from {
            From::Files(_) => {
                tell_future(snapshot.newest, clock()?);
                snapshot.newest
            }
            From::Cluster(_) => Some(clock()?),
        };
        let options = options(&request, now);
        let analysis = analyse(&snapshot, &options);
        let mut out = BufWriter::new(io::stdout().lock());
        let found = !analysis.failures.is_empty();
        let ended = if exit_code { ended(&snapshot.sources, found) } else { ExitCode::Success };
        let format = match output {
            Output::Jsonl => {
                render::failures(analysis.failures.iter().map(|failure| failure_line(&analysis, failure)), &mut out)?;
                out.flush()?;
                return Ok(ended);
            }
            Output::Table => Format::Table,
            Output::Wide => Format::Wide,
            Output::Json => Format::Json,
            Output::Yaml => Format::Yaml,
            Output::Name => Format::Name,
        };
        let reported = report(&analysis, &options, request.view.group_by, scope(&request, &snapshot));
        let report = advise(&analysis, reported, &kubectl);
        let look = Look { width: width(), color: color.is_on(), headers };
        render::report(&report, format, look, &mut out)?;
        out.flush()?;
        Ok(ended)
    }

    fn into_request(self) -> anyhow::Result<Request> {
        let namespace = self.connection.namespace();
        if self.all_namespaces && namespace.is_some() {
            return Err(UsageError("-A and -n exclude each other: give one of them".to_owned()).into());
        }
        if self.all_namespaces && !self.targets.is_empty() && self.files.is_empty() {
            return Err(UsageError(
                "a workload is named within one namespace: give -n NAMESPACE instead of -A".to_owned(),
            )
            .into());
        }
        let (from, namespace) = if self.files.is_empty() {
            let connection = self.connection.into_connection()?;
            let namespace = match (namespace, self.all_namespaces) {
                (_, true) => None,
                (Some(namespace), false) => Some(namespace),
                (None, false) => Some(cluster::default_namespace(&connection)?),
            };
            (From::Cluster(Box::new(connection)), namespace)
        } else {
            (From::Files(self.files), namespace)
        };
        Ok(Request {
            from,
            scope: Scope { namespace, selector: self.selector, targets: self.targets, chunk_size: self.chunk_size },
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

impl Color {
    /// As kubectl decides it: a terminal that is not dumb, and no `NO_COLOR`, whatever its value.
    fn is_on(self) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
                io::stdout().is_terminal() && !dumb && std::env::var_os("NO_COLOR").is_none()
            }
        }
    }
}

fn read(request: &Request) -> anyhow::Result<Snapshot> {
    Ok(match &request.from {
        From::Files(files) => {
            let filter =
                Filter { namespace: request.scope.namespace.clone(), selector: request.scope.selector.clone() };
            file::read(files, filter, &mut talk)?
        }
        From::Cluster(connection) => cluster::read(connection, &request.scope, &mut talk)?,
    })
}

/// A dump without the workload asked for must not read as "no failures". Of a cluster the server says so.
fn ensure_targets_exist(snapshot: &Snapshot, targets: &[Target]) -> anyhow::Result<()> {
    for target in targets {
        let named: Vec<String> = match target.kind {
            TargetKind::Job => {
                let jobs = snapshot.jobs.iter().map(|job| job.name.to_string());
                let owners = snapshot.pods.iter().filter_map(|pod| pod.owner.as_ref());
                jobs.chain(owners.filter(|owner| owner.is("batch", "Job")).map(|owner| owner.name.to_string()))
                    .collect()
            }
            TargetKind::CronJob | TargetKind::JobSet => {
                let kind = target.kind.kind();
                let own = snapshot.wrappers.iter().filter(|wrapper| wrapper.kind.name() == kind);
                let owners = snapshot.jobs.iter().filter_map(|job| job.owner.as_ref());
                let owners = owners.filter(|owner| *owner.kind == *kind).map(|owner| owner.name.to_string());
                own.map(|wrapper| wrapper.name.to_string()).chain(owners).collect()
            }
        };
        if !named.contains(&target.name) {
            let mut near = nearest(&target.name, named.into_iter());
            near.dedup();
            let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
            anyhow::bail!("{target} is not in the data{hint}");
        }
    }
    Ok(())
}

/// One odd time in the future makes all else old, and `--since` hides it.
fn tell_future(newest: Option<Time>, clock: Time) {
    const TOLERATED: i64 = 24 * 3600;
    if let Some(newest) = newest.filter(|newest| *newest > clock.plus_seconds(TOLERATED)) {
        talk(&format!(
            "warning: the newest time in the data, {newest}, is in the future of this machine's clock; ages and --since count from it"
        ));
    }
}

fn clock() -> anyhow::Result<Time> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).context("the machine's clock stands before 1970")?;
    Ok(Time::from_seconds(i64::try_from(since.as_secs()).context("the machine's clock is out of range")?))
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
