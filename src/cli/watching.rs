//! Shows a report anew with each change in the cluster.

use std::io::{self, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::Args;

use super::options::UsageError;
use super::screen::Screen;
use super::{ExitCode, talk};
use crate::request::{Connection, From, Scope};
use crate::source::Snapshot;
use crate::source::cluster::{Environment, Live, Turn};

#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Watching")]
pub(super) struct WatchArgs {
    /// Go on, and show what changes: anew on a terminal, else behind what was printed before
    #[arg(short = 'w', long)]
    watch: bool,

    /// The same, without what is there in the beginning
    #[arg(long)]
    watch_only: bool,
}

/// Why a report is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// All that is there has been read.
    First,
    /// Something changed.
    Changed,
    /// Some time has passed: ages are others.
    Time,
}

/// What is shown of a report.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// What to print; nothing where nothing is to be seen.
    pub(super) text: Vec<u8>,
    /// What to tell besides.
    pub(super) note: Option<String>,
}

/// The least time between two reports.
const PAUSE: Duration = Duration::from_secs(1);
/// So many times as long as a report took to make, the next one is not made.
const REST: u32 = 4;
/// How old ages on a terminal may be.
const AGED: Duration = Duration::from_secs(5);

impl WatchArgs {
    /// Whether to watch at all.
    pub(super) fn is_on(self) -> bool {
        self.watch || self.watch_only
    }

    /// Whether what is there in the beginning is left out.
    pub(super) fn is_only(self) -> bool {
        self.watch_only
    }
}

/// The cluster to watch; files do not change.
pub(super) fn cluster_of(from: &From) -> Result<&Connection, UsageError> {
    match from {
        From::Cluster(connection) => Ok(connection),
        From::Files(_) => Err(UsageError("--watch is for a cluster: what -f reads does not change".to_owned())),
    }
}

/// Follows a cluster until it is interrupted; `make` makes the report, and is given what to print it for.
///
/// Changes are taken in bursts: a thousand pods that change at once make one report.
pub(super) fn follow(
    connection: &Connection,
    scope: &Scope,
    screen: Screen,
    mut make: impl FnMut(&Snapshot, Occasion) -> anyhow::Result<Shown>,
) -> anyhow::Result<ExitCode> {
    let screen = Rc::new(screen);
    let noted = Rc::clone(&screen);
    let mut say = move |line: &str| {
        if !noted.note(line) {
            talk(line);
        }
    };
    let mut live = Live::open(&Environment::of_process(), connection, scope, &mut say)?;
    let mut snapshot = None;
    let (mut took, mut made) = (Duration::ZERO, Instant::now());
    loop {
        let turn = live.next(PAUSE.max(took * REST), screen.is_on().then_some(PAUSE))?;
        let occasion = match turn {
            Turn::Interrupted => {
                screen.leave()?;
                return Ok(ExitCode::Interrupted);
            }
            Turn::Changed if snapshot.is_none() => Occasion::First,
            Turn::Changed => Occasion::Changed,
            Turn::Idle if made.elapsed() >= AGED || screen.is_resized() => Occasion::Time,
            Turn::Idle => continue,
        };
        if occasion != Occasion::Time {
            snapshot = Some(live.snapshot());
        }
        let Some(snapshot) = &snapshot else { continue };
        made = Instant::now();
        let Shown { text, note } = make(snapshot, occasion)?;
        took = made.elapsed();
        if let Some(note) = note {
            live.say(&note);
        }
        if screen.is_on() {
            screen.show(text)?;
        } else if !text.is_empty() {
            let mut out = io::stdout().lock();
            out.write_all(&text)?;
            out.flush()?;
        }
    }
}
