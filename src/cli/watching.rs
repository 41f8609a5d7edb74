//! Shows a report anew with each change in the cluster.

use std::io::Write;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::Args;

use super::input::clock;
use super::options::UsageError;
use super::screen::Screen;
use super::stdout::{is_gone, stdout};
use super::{ExitCode, talk};
use crate::model::{Time, human_duration};
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

/// Follows a cluster until it is interrupted; `make` makes the report, and is given what to print it for and as of when:
/// while the server is away, that is when it was last heard of. `between` stands between two reports that are printed one
/// behind the other.
///
/// Changes are taken in bursts: a thousand pods that change at once make one report.
pub(super) fn follow(
    connection: &Connection,
    scope: &Scope,
    screen: Screen,
    between: &str,
    mut make: impl FnMut(&Snapshot, Occasion, Time) -> anyhow::Result<Shown>,
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
    let (mut was_away, mut is_first_printed) = (false, true);
    loop {
        let turn = live.next(PAUSE.max(took * REST), screen.is_on().then_some(PAUSE))?;
        let silent = live.silent_for();
        let is_news = std::mem::replace(&mut was_away, silent.is_some()) != silent.is_some();
        let occasion = match turn {
            Turn::Interrupted => {
                screen.leave()?;
                return Ok(ExitCode::Interrupted);
            }
            Turn::Changed if snapshot.is_none() => Occasion::First,
            Turn::Changed => Occasion::Changed,
            Turn::Idle if made.elapsed() >= AGED || screen.is_resized() || is_news => Occasion::Time,
            Turn::Idle => continue,
        };
        if occasion != Occasion::Time {
            snapshot = Some(live.snapshot());
        }
        let Some(snapshot) = &snapshot else { continue };
        made = Instant::now();
        let silent = silent.map_or(0, |silent| i64::try_from(silent.as_secs()).unwrap_or(i64::MAX));
        let Shown { text, note } = make(snapshot, occasion, clock()?.plus_seconds(-silent))?;
        took = made.elapsed();
        if let Some(note) = note {
            live.say(&note);
        }
        if screen.is_on() {
            screen.show(if was_away { with_outage(&text, silent) } else { text })?;
        } else if !text.is_empty() {
            let mut out = stdout();
            if !std::mem::take(&mut is_first_printed) {
                out.write_all(between.as_bytes())?;
            }
            out.write_all(&text)?;
            out.flush()?;
            if is_gone() {
                // Whoever read it has read enough.
                return Ok(ExitCode::Success);
            }
        }
    }
}

/// A report with the outage at its head: what it shows may not be so any more.
fn with_outage(report: &[u8], seconds: i64) -> Vec<u8> {
    if report.is_empty() {
        return Vec::new();
    }
    let head =
        format!("The server is away, nothing was heard of it for {}: this is as of then.\n", human_duration(seconds));
    [head.as_bytes(), report].concat()
}
