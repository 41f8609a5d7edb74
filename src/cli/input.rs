//! What all commands that read a cluster or files have in common.

use std::io::{self, IsTerminal};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use clap::ValueEnum;

use super::connection::ConnectionArgs;
use super::options::UsageError;
use super::talk;
use crate::analysis::names_of_kind;
use crate::model::Time;
use crate::request::{From, Scope, Target, TargetKind};
use crate::source::{Snapshot, cluster, file, nearest};

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// As kubectl decides it: a terminal that is not dumb, and no `NO_COLOR`, whatever its value.
    pub(super) fn is_on(self) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
                io::stdout().is_terminal() && !dumb && std::env::var_os("NO_COLOR").is_none()
            }
        }
    }

    /// The same of what goes to a file, which is no terminal.
    pub(super) const fn is_on_in_file(self) -> bool {
        matches!(self, Self::Always)
    }
}

/// Where to read, and the namespace to read in: that of the flags, else the context's; of files, all.
pub(super) fn namespace_of(
    files: Vec<String>,
    connection: ConnectionArgs,
    all_namespaces: bool,
) -> anyhow::Result<(From, Option<String>)> {
    let namespace = connection.namespace();
    if !files.is_empty() {
        connection.ensure_one_context()?;
        return Ok((From::Files(files), namespace));
    }
    let connection = connection.into_connection()?;
    let namespace = match (namespace, all_namespaces) {
        (_, true) => None,
        (Some(namespace), false) => Some(namespace),
        (None, false) => Some(cluster::default_namespace(&connection)?),
    };
    Ok((From::Cluster(Box::new(connection)), namespace))
}

/// `-A` and `-n` exclude each other, and a cluster's object is named within one namespace.
pub(super) fn ensure_one_namespace(all: bool, of_cluster: bool, namespace: Option<&str>) -> Result<(), UsageError> {
    let refusal = match namespace {
        _ if !all => return Ok(()),
        Some(_) => "-A and -n exclude each other: give one of them",
        None if of_cluster => "a workload is named within one namespace: give -n NAMESPACE instead of -A",
        None => return Ok(()),
    };
    Err(UsageError(refusal.to_owned()))
}

/// The time that ages count from: now for a cluster, the newest time in them for files.
pub(super) fn moment(from: &From, snapshot: &Snapshot) -> anyhow::Result<Option<Time>> {
    Ok(match from {
        From::Files(_) => {
            tell_future(snapshot.newest, clock()?);
            snapshot.newest
        }
        From::Cluster(_) => Some(clock()?),
    })
}

/// Reads what is asked for.
pub(super) fn read(from: &From, scope: &Scope) -> anyhow::Result<Snapshot> {
    Ok(match from {
        From::Files(files) => file::read(files, scope.into(), &mut talk)?,
        From::Cluster(connection) => cluster::read(connection, scope, &mut talk)?,
    })
}

/// A dump without the workload asked for must not read as "no failures". Of a cluster the server says so.
pub(super) fn ensure_targets_exist(snapshot: &Snapshot, targets: &[Target]) -> anyhow::Result<()> {
    for target in targets {
        let named = names_of(snapshot, target.kind);
        if named.contains(&target.name) {
            continue;
        }
        // What has that name and is of another kind is meant rather than what has a name like it.
        let of_name = TargetKind::ALL
            .into_iter()
            .filter(|kind| *kind != target.kind && names_of(snapshot, *kind).contains(&target.name));
        let mut near: Vec<String> =
            of_name.map(|kind| Target { kind, name: target.name.clone() }.to_string()).collect();
        if near.is_empty() {
            near = nearest(&target.name, named.into_iter());
            near.dedup();
        }
        let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
        anyhow::bail!("{target} is not in the data{hint}");
    }
    Ok(())
}

/// The names of a kind in the data: of objects, and of owners of what is there.
fn names_of(snapshot: &Snapshot, kind: TargetKind) -> Vec<String> {
    match kind {
        TargetKind::Job => {
            let jobs = snapshot.jobs.iter().map(|job| job.name.to_string());
            let owners = snapshot.pods.iter().filter_map(|pod| pod.owner.as_ref());
            jobs.chain(owners.filter(|owner| owner.is("batch", "Job")).map(|owner| owner.name.to_string())).collect()
        }
        // Pods are no target of what asks for them by name.
        TargetKind::Pod => Vec::new(),
        TargetKind::CronJob | TargetKind::JobSet => {
            let own: Vec<String> = if kind == TargetKind::JobSet {
                snapshot.job_sets.iter().map(|job_set| job_set.name.to_string()).collect()
            } else {
                snapshot.cron_jobs.iter().map(|cron_job| cron_job.name.to_string()).collect()
            };
            let owners = snapshot.jobs.iter().filter_map(|job| job.owner.as_ref());
            let owners = owners.filter(|owner| *owner.kind == *kind.kind()).map(|owner| owner.name.to_string());
            own.into_iter().chain(owners).collect()
        }
        TargetKind::Node => snapshot.nodes.iter().map(|node| node.name.to_string()).collect(),
        other => names_of_kind(snapshot, other),
    }
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

pub(super) fn clock() -> anyhow::Result<Time> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).context("the machine's clock stands before 1970")?;
    Ok(Time::from_seconds(i64::try_from(since.as_secs()).context("the machine's clock is out of range")?))
}
