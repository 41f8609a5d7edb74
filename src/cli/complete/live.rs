//! What the kubeconfig and the cluster tell, soon or not at all.

use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};

use super::words::Line;
use crate::cli::connection::ConnectionArgs;
use crate::request::{Connection, TargetKind};
use crate::source::cluster::{self, Configured, Environment, Named};

/// What somebody who types does not notice.
const LIMIT: Duration = Duration::from_millis(300);
/// For whoever would rather wait: a number of milliseconds, at most [`LONGEST`].
const LIMIT_VARIABLE: &str = "KUBECTL_SIGAPPS_COMPLETION_MS";
const LONGEST: Duration = Duration::from_secs(30);

/// The namespaces: the cluster's, or where these are not to be had, those that contexts name.
pub(super) fn namespaces(line: &Line) -> Vec<String> {
    let Some(connection) = connection(line) else { return Vec::new() };
    let (names, configured) = within(limit(), move |deadline, take| {
        tell_configured(&connection, &take);
        tell_names(&connection, &[Named::Namespaces], deadline, &take);
    });
    if names.is_empty() { configured.namespaces } else { sorted(names) }
}

/// What the kubeconfig names.
pub(super) fn configured(line: &Line) -> Configured {
    match connection(line) {
        Some(connection) => within(limit(), move |_, take| tell_configured(&connection, &take)).1,
        None => Configured::default(),
    }
}

/// The names of all objects of some kinds, in order.
pub(super) fn names(line: &Line, kinds: &[TargetKind]) -> Vec<String> {
    let Some(connection) = connection(line) else { return Vec::new() };
    let wanted: Vec<Named> = kinds.iter().copied().map(Named::Kind).collect();
    sorted(within(limit(), move |deadline, take| tell_names(&connection, &wanted, deadline, &take)).0)
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort_unstable();
    names
}

/// What comes from a thread: names, and a kubeconfig's.
enum Told {
    Names(Vec<String>),
    Configured(Configured),
}

fn tell_names(connection: &Connection, wanted: &[Named], deadline: Instant, take: &Sender<Told>) {
    let mut tell = |names| drop(take.send(Told::Names(names)));
    // Why there are none is nothing for a prompt.
    let _ = cluster::names(&Environment::of_process(), connection, wanted, deadline, &mut tell);
}

fn tell_configured(connection: &Connection, take: &Sender<Told>) {
    if let Ok(configured) = cluster::configured(&Environment::of_process(), connection) {
        let _ = take.send(Told::Configured(configured));
    }
}

/// Does some work in a thread of its own, and takes what has come of it by the end of the time, whatever it is held up by: a
/// file in a folder of a server that does not answer, a plugin, a proxy. The work itself has a little less, to end what it
/// has started.
fn within(limit: Duration, work: impl FnOnce(Instant, Sender<Told>) + Send + 'static) -> (Vec<String>, Configured) {
    let began = Instant::now();
    let (sender, receiver) = channel();
    let (mut names, mut configured) = (Vec::new(), Configured::default());
    if thread::Builder::new().spawn(move || work(began + limit * 4 / 5, sender)).is_err() {
        return (names, configured);
    }
    while let Ok(told) = receiver.recv_timeout((began + limit).saturating_duration_since(Instant::now())) {
        match told {
            Told::Names(more) => names.extend(more),
            Told::Configured(told) => configured = told,
        }
    }
    (names, configured)
}

fn limit() -> Duration {
    let given = std::env::var(LIMIT_VARIABLE).ok().and_then(|text| text.parse().ok()).map(Duration::from_millis);
    given.map_or(LIMIT, |given| given.min(LONGEST))
}

/// The way to the cluster by what was typed so far. Where that is wrong, there is none.
fn connection(line: &Line) -> Option<Connection> {
    let command = ConnectionArgs::augment_args(Command::new("connection").no_binary_name(true));
    let is_known = |id: &clap::Id| command.get_arguments().any(|known| known.get_id() == id);
    let given = line.options.iter().filter(|(option, _)| is_known(option.get_id()));
    // Of several contexts the last counts: it is the one that is thought of.
    let last = line.values("context").last();
    let given = given.filter(|(option, value)| option.get_id() != "context" || last == Some(value.as_str()));
    let words: Vec<String> = given
        .filter_map(|(option, value)| {
            let long = option.get_long()?;
            Some(if value.is_empty() { format!("--{long}") } else { format!("--{long}={value}") })
        })
        .collect();
    let matches: ArgMatches = command.try_get_matches_from(words).ok()?;
    ConnectionArgs::from_arg_matches(&matches).ok()?.into_connection().ok()
}
