//! Waits until workloads are decided.

mod line;
mod names;
mod runs;
mod verdict;
mod waited;

use std::io::{self, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use super::connection::ConnectionArgs;
use super::options::{UsageError, parse_duration};
use super::{CONNECTION, ExitCode, OUTPUT, SELECTION, talk};
use crate::advice::Kubectl;
use crate::analysis::Awaited;
use crate::request::{Connection, Selector};
use crate::source::cluster::{self, ClusterError, Environment, Told, Watch, parse_timeout};
use line::Line;
use names::Wanted;
use verdict::Teller;
use waited::{Ended, News, Waits};

const EXAMPLES: &str = "\
Examples:
  # Until the Job has completed or failed, in a script
  kubectl sigapps wait job/etl --timeout 1h && ./load.sh

  # As soon as the controller has decided, while pods still end
  kubectl sigapps wait job/train --early

  # Whichever of them is decided first
  kubectl sigapps wait job/a jobset/b --any

  # All Jobs of a pipeline that are there now
  kubectl sigapps wait jobs -l pipeline=nightly

  # A Job that is yet to be made
  kubectl sigapps wait job/etl --allow-missing --timeout 10m

  # The next restart of a JobSet, or its end
  kubectl sigapps wait jobset/llama-70b --for restarted

  # A rollout, until all of it is up or its deadline has passed
  kubectl sigapps wait deployment/web";

#[derive(Debug, Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct WaitArgs {
    /// What to wait for: KIND/NAME, several of them, a kind and names (jobset NAME), or kinds (jobs,jobsets) with -l
    #[arg(value_name = "KIND|KIND/NAME", required = true)]
    targets: Vec<String>,

    /// All with these labels that are there when the wait begins; with --allow-missing also those that come later
    #[arg(short = 'l', long, default_value = "", hide_default_value = true, help_heading = SELECTION)]
    selector: String,

    /// What to wait for [default: finished for what ends, ready for what serves]
    #[arg(long = "for", value_enum, value_name = "CONDITION")]
    awaited: Option<AwaitedArg>,

    /// How long to wait (90s, 30m, 2h; 0 looks once) [default: for ever]
    #[arg(long, value_name = "DURATION", value_parser = timeout)]
    timeout: Option<Duration>,

    /// Take a Job for decided as soon as its controller has decided, while its pods still end
    #[arg(long)]
    early: bool,

    /// End with the first one that is decided, and not with the last
    #[arg(long)]
    any: bool,

    /// Wait also for what is not there yet
    #[arg(long, help_heading = SELECTION)]
    allow_missing: bool,

    /// Output format
    #[arg(short = 'o', long, value_enum, default_value_t, hide_default_value = true, help_heading = OUTPUT)]
    output: Output,

    /// Objects read at once from a cluster; 0 for all
    #[arg(long, value_name = "NUMBER", default_value_t = 500, help_heading = CONNECTION)]
    chunk_size: u32,

    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AwaitedArg {
    /// It has completed or failed
    Finished,
    /// It has completed; that it failed ends the wait as well
    Complete,
    /// It has failed; that it completed ends the wait as well
    Failed,
    /// It was restarted since the wait began: a JobSet or one of its Jobs, a group of a LeaderWorkerSet
    Restarted,
    /// All of it is up and of the newest template
    Ready,
}

/// What is printed of each that is decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    /// What became of it, in one line
    #[default]
    Verdict,
    /// The whole explanation as JSON, as explain prints it
    Json,
    /// Its name
    Name,
}

impl From<AwaitedArg> for Awaited {
    fn from(arg: AwaitedArg) -> Self {
        match arg {
            AwaitedArg::Finished => Self::Finished,
            AwaitedArg::Complete => Self::Complete,
            AwaitedArg::Failed => Self::Failed,
            AwaitedArg::Restarted => Self::Restarted,
            AwaitedArg::Ready => Self::Ready,
        }
    }
}

/// A Go duration or whole seconds, as kubectl takes it, or one with days.
fn timeout(text: &str) -> Result<Duration, String> {
    let with_days = || parse_duration(text).map(|seconds| Duration::from_secs(seconds.unsigned_abs()));
    parse_timeout(text).or_else(|_| with_days())
}

/// How often the line of progress is drawn anew.
const REDRAWN: Duration = Duration::from_secs(1);

impl WaitArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let wanted = Wanted::parse(&self.targets, &self.selector, self.awaited.map(Into::into)).map_err(UsageError)?;
        // The server selects; what it would refuse is wrong usage.
        self.selector.parse::<Selector>().map_err(|error| UsageError(error.to_string()))?;
        let (output, any, limit) = (self.output, self.any, self.timeout);
        let (early, allow_missing, chunk_size) = (self.early, self.allow_missing, self.chunk_size);
        let kubectl = Kubectl { flags: self.connection.flags_for_kubectl() };
        let connection = self.connection.into_connection()?;
        let namespace = cluster::default_namespace(&connection)?;
        let line = Rc::new(Line::new());
        let said = Rc::clone(&line);
        let mut say = move |text: &str| {
            said.clear();
            talk(text);
        };
        let mut watch = Watch::open(&Environment::of_process(), &connection, chunk_size, &mut say)?;
        let mut waits = Waits::new(&wanted, &namespace, early, allow_missing, &mut watch);
        let teller = Teller { connection: &connection, namespace: &namespace, chunk_size, kubectl, output };
        let run = Run { line: &line, teller, any, limit, began: Instant::now() };
        let ended = run.until_decided(&mut watch, &mut waits);
        line.clear();
        ended
    }
}

struct Run<'a> {
    line: &'a Line,
    teller: Teller<'a>,
    any: bool,
    limit: Option<Duration>,
    began: Instant,
}

impl Run<'_> {
    fn until_decided(&self, watch: &mut Watch, waits: &mut Waits) -> anyhow::Result<ExitCode> {
        loop {
            if waits.is_over(self.any) {
                return Ok(waits.code());
            }
            let left = self.limit.map(|limit| limit.saturating_sub(self.began.elapsed()));
            // What looks once has to have seen what is there.
            let looks_on = self.limit == Some(Duration::ZERO) && !waits.is_synced();
            if left == Some(Duration::ZERO) && !looks_on {
                return self.timed_out(waits);
            }
            let tick = self.line.is_on().then_some(REDRAWN);
            let next = watch.next(left.filter(|_| !looks_on).into_iter().chain(tick).min())?;
            let news = match next {
                Told::Interrupted => return Ok(ExitCode::Interrupted),
                Told::Nothing | Told::Version { .. } => Vec::new(),
                Told::Ended { error, .. } => return Err(error.into()),
                Told::Synced { interest, .. } => waits.synced(interest, watch),
                Told::Change(change) => waits.changed(&change, watch),
            };
            for news in news {
                self.tell(waits, news)?;
                if self.any && waits.is_over(true) {
                    break;
                }
            }
            self.line.draw(self.began.elapsed(), || waits.progress());
        }
    }

    /// Prints what became of one.
    fn tell(&self, waits: &Waits, news: News) -> anyhow::Result<()> {
        self.line.clear();
        match news {
            News::Decided(at) => {
                let waited = waits.at(at);
                if let Some(Ended::Otherwise(why)) = waited.ended {
                    talk(&format!("{}: {why}", waited.name()));
                }
                self.teller.print(waited)
            }
            News::Gone(at) => {
                let waited = waits.at(at);
                let anew = if waited.made_anew { ", and another one was made under its name" } else { "" };
                talk(&format!("error: {} was deleted while it was waited for{anew}", waited.name()));
                Ok(())
            }
            News::Missing(target) => Err(self.teller.missing(&target)),
            News::NoneSelected(what) => Err(anyhow::anyhow!(
                "no {what} with these labels are there in namespace {:?}; --allow-missing waits for them",
                self.teller.namespace
            )),
        }
    }

    fn timed_out(&self, waits: &mut Waits) -> anyhow::Result<ExitCode> {
        self.line.clear();
        for at in waits.open() {
            let waited = waits.at(at);
            let (name, awaited) = (waited.name(), waited.awaited.name());
            talk(&format!("error: timed out waiting for {name} to be {awaited}: {}", waited.progress()));
            if waited.is_there() {
                self.teller.print(waited)?;
            }
        }
        if waits.is_empty() {
            talk("error: timed out: nothing to wait for has come");
        }
        waits.time_out();
        io::stdout().flush()?;
        Ok(waits.code())
    }
}

/// Says no more than that: what is asked of the cluster at the end is not what was waited for.
fn silent(_: &str) {}

/// The error for a name that is not there, with names like it.
fn not_found(connection: &Connection, scope: &crate::request::Scope) -> Option<ClusterError> {
    cluster::read(connection, scope, &mut silent).err()
}
