//! Waits until workloads are decided.

mod line;
mod names;
mod object;
mod runs;
mod verdict;
mod waited;

use std::ffi::OsStr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, ValueEnum};

use super::connection::ConnectionArgs;
use super::options::{UsageError, parse_duration};
use super::{CONNECTION, ExitCode, OUTPUT, SELECTION, talk};
use crate::advice::Kubectl;
use crate::analysis::Awaited;
use crate::request::Selector;
use crate::source::SourceState;
use crate::source::cluster::{self, ClusterError, Environment, Told, Watch, parse_timeout};
use line::Line;
use names::Wanted;
use verdict::{Interrupted, Teller};
use waited::{Ended, News, Waited, Waits};

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
    #[arg(long = "for", value_parser = ForParser, value_name = "CONDITION")]
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

    /// Refused with a hint: kubectl wait has it
    #[arg(short = 'A', long, hide = true)]
    all_namespaces: bool,

    /// The same
    #[arg(long, hide = true)]
    all: bool,

    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Reads `--for`, and tells what stands for what kubectl takes there.
#[derive(Clone)]
struct ForParser;

impl TypedValueParser for ForParser {
    type Value = AwaitedArg;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<AwaitedArg, clap::Error> {
        let hint = value.to_str().and_then(hint_for);
        EnumValueParser::<AwaitedArg>::new().parse_ref(command, arg, value).map_err(|error| match hint {
            Some(hint) => clap::Error::raw(ErrorKind::InvalidValue, format!("{hint}\n")).with_cmd(command),
            None => error,
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = AwaitedArg::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        Some(Box::new(values))
    }
}

/// What to give instead of what kubectl takes.
fn hint_for(value: &str) -> Option<String> {
    if matches!(value, "delete" | "create") {
        return Some(format!("--for {value} is kubectl wait's: this waits for what becomes of a workload"));
    }
    let condition = value.strip_prefix("condition=")?.to_ascii_lowercase();
    let instead = match condition.split('=').next()? {
        "complete" | "completed" => "give --for complete, or nothing: then it ends when it has failed, too",
        "failed" => "give --for failed",
        "available" | "ready" => "give --for ready",
        _ => {
            "any condition is waited for by kubectl wait; here --for takes finished, complete, failed, restarted, ready"
        }
    };
    Some(format!("--for {value}: {instead}"))
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

/// A wait reads no dump.
fn without_dumps(error: ClusterError) -> anyhow::Error {
    match error {
        ClusterError::NoKubeconfig { .. } => {
            let text = error.to_string();
            anyhow::anyhow!("{}", text.split_once(", or read a dump").map_or(text.as_str(), |(text, _)| text))
        }
        error => error.into(),
    }
}

/// How often the line of progress is drawn anew.
const REDRAWN: Duration = Duration::from_secs(1);

impl WaitArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        if self.all_namespaces {
            return Err(UsageError("-A: a wait is for one namespace: give -n NAMESPACE".to_owned()).into());
        }
        if self.all {
            return Err(UsageError("--all: give names, or -l with a label that all of them have".to_owned()).into());
        }
        let wanted = Wanted::parse(&self.targets, &self.selector, self.awaited.map(Into::into)).map_err(UsageError)?;
        // The server selects; what it would refuse is wrong usage.
        self.selector.parse::<Selector>().map_err(|error| UsageError(error.to_string()))?;
        let (output, any, limit) = (self.output, self.any, self.timeout);
        let (early, allow_missing, chunk_size) = (self.early, self.allow_missing, self.chunk_size);
        let kubectl = Kubectl { flags: self.connection.flags_for_kubectl() };
        let connection = self.connection.into_connection()?;
        let began = Instant::now();
        let namespace = cluster::default_namespace(&connection).map_err(without_dumps)?;
        let line = Rc::new(Line::new());
        let said = Rc::clone(&line);
        let mut say = move |text: &str| {
            said.clear();
            talk(text);
        };
        let mut watch = Watch::open(&Environment::of_process(), &connection, chunk_size, &mut say)?;
        let mut waits = Waits::new(&wanted, &namespace, early, allow_missing, &mut watch);
        let teller = Teller { namespace: &namespace, chunk_size, kubectl, output };
        let run = Run { line: &line, teller, any, limit, began };
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

/// What is decided and not told yet: what is decided together is looked into together.
#[derive(Default)]
struct Untold {
    news: Vec<News>,
    since: Option<Instant>,
    /// Whether nothing came since the last one.
    is_quiet: bool,
}

/// Quiet that ends a burst of decisions.
const QUIET: Duration = Duration::from_millis(100);
/// The longest that a decision is kept for others to be told with, and that another object is waited for under the name of
/// one that was deleted: `kubectl replace --force` makes one at once.
const LONGEST_UNTOLD: Duration = Duration::from_secs(2);

impl Untold {
    fn add(&mut self, news: Vec<News>) {
        if !news.is_empty() {
            self.since.get_or_insert_with(Instant::now);
            self.is_quiet = false;
            self.news.extend(news);
        }
    }

    /// How long to wait for more of them.
    fn patience(&self) -> Option<Duration> {
        let left = LONGEST_UNTOLD.saturating_sub(self.since?.elapsed());
        Some(if self.is_quiet { left } else { left.min(QUIET) })
    }

    fn is_due(&self, waits: &Waits, is_over: bool) -> bool {
        let Some(since) = self.since else { return false };
        if since.elapsed() >= LONGEST_UNTOLD {
            return true;
        }
        let may_be_made_anew = |news: &News| matches!(news, News::Gone(at) if waits.may_be_made_anew(*at));
        (is_over || self.is_quiet) && !self.news.iter().any(may_be_made_anew)
    }

    fn take(&mut self) -> Vec<News> {
        self.since = None;
        std::mem::take(&mut self.news)
    }
}

impl Run<'_> {
    fn until_decided(&self, watch: &mut Watch, waits: &mut Waits) -> anyhow::Result<ExitCode> {
        let mut untold = Untold::default();
        loop {
            let is_over = waits.is_over(self.any);
            // Of any, only the first is told, once it is known which that is.
            if untold.is_due(waits, is_over) && (is_over || !self.any) {
                let news = untold.take();
                if self.tell(watch, waits, news)?.is_err() {
                    return Ok(ExitCode::Interrupted);
                }
            }
            if is_over && untold.news.is_empty() {
                return Ok(waits.code());
            }
            let left = self.limit.map(|limit| limit.saturating_sub(self.began.elapsed()));
            // What looks once has to have seen what is there.
            let looks_on = self.limit == Some(Duration::ZERO) && !waits.is_synced();
            if left == Some(Duration::ZERO) && !looks_on && !is_over {
                return self.timed_out(watch, waits, untold.take());
            }
            let tick = self.line.is_on().then_some(REDRAWN);
            let left = left.filter(|_| !looks_on && !is_over);
            let next = match watch.next(left.into_iter().chain(tick).chain(untold.patience()).min()) {
                Ok(next) => next,
                Err(error) => return self.broken(watch, waits, untold.take(), error.into()),
            };
            let news = match next {
                Told::Interrupted => return Ok(ExitCode::Interrupted),
                Told::Nothing => {
                    untold.is_quiet = true;
                    Vec::new()
                }
                Told::Version { .. } => Vec::new(),
                Told::Ended { interest, source, error } => {
                    let is_absent = source.state == SourceState::NotInstalled;
                    if !(is_absent && waits.not_installed(interest)) {
                        return self.broken(watch, waits, untold.take(), error.into());
                    }
                    Vec::new()
                }
                Told::Synced { interest, .. } => waits.synced(interest),
                Told::Change(change) => waits.changed(&change, watch),
            };
            for warning in waits.take_warnings() {
                watch.say(&warning);
            }
            if let Some(missing) = news.iter().find(|news| !matches!(news, News::Decided(_) | News::Gone(_))) {
                let Ok(error) = self.cannot_be_waited_for(watch, missing) else { return Ok(ExitCode::Interrupted) };
                return self.broken(watch, waits, untold.take(), error);
            }
            untold.add(news);
            self.line.draw(self.began.elapsed(), || waits.progress());
        }
    }

    /// Ends with an error, behind what is decided.
    fn broken(
        &self,
        watch: &mut Watch,
        waits: &Waits,
        untold: Vec<News>,
        error: anyhow::Error,
    ) -> anyhow::Result<ExitCode> {
        match self.tell(watch, waits, untold)? {
            Ok(()) => Err(error),
            Err(Interrupted) => Ok(ExitCode::Interrupted),
        }
    }

    fn cannot_be_waited_for(&self, watch: &mut Watch, news: &News) -> Result<anyhow::Error, Interrupted> {
        match news {
            News::Missing(target) => self.teller.missing(watch, target),
            News::NoneSelected(kinds, labels) => Ok(anyhow::anyhow!(
                "no {kinds} with the labels {labels} are there in namespace {:?}; --allow-missing waits for them",
                self.teller.namespace
            )),
            News::Decided(_) | News::Gone(_) => Ok(anyhow::anyhow!("it was decided")),
        }
    }

    /// Prints what became of some; of any, of the first alone.
    fn tell(&self, watch: &mut Watch, waits: &Waits, news: Vec<News>) -> anyhow::Result<Result<(), Interrupted>> {
        self.line.clear();
        let mut decided = Vec::new();
        for news in news {
            let (News::Decided(at) | News::Gone(at)) = news else { continue };
            if self.any && waits.first().is_some_and(|first| first != at) {
                continue;
            }
            let waited = waits.at(at);
            match waited.ended {
                Some(Ended::Gone) => {
                    let anew = if waited.made_anew { ", and another one was made under its name" } else { "" };
                    talk(&format!("error: {} was deleted while it was waited for{anew}", waited.name()));
                    continue;
                }
                Some(Ended::Otherwise(why)) => talk(&format!("{}: {why}", waited.name())),
                _ => {}
            }
            decided.push(waited);
        }
        if decided.is_empty() { Ok(Ok(())) } else { self.teller.print(watch, &decided) }
    }

    fn timed_out(&self, watch: &mut Watch, waits: &mut Waits, untold: Vec<News>) -> anyhow::Result<ExitCode> {
        if self.tell(watch, waits, untold)?.is_err() {
            return Ok(ExitCode::Interrupted);
        }
        let open = waits.open();
        for at in &open {
            let waited = waits.at(*at);
            let (name, awaited) = (waited.name(), waited.awaited.name());
            talk(&format!("error: timed out waiting for {name} to be {awaited}: {}", waited.progress()));
        }
        if waits.is_empty() {
            talk("error: timed out: nothing to wait for has come");
        }
        waits.time_out();
        let there: Vec<&Waited> = open.iter().map(|at| waits.at(*at)).filter(|waited| waited.is_there()).collect();
        if !there.is_empty() && self.teller.print(watch, &there)?.is_err() {
            return Ok(ExitCode::Interrupted);
        }
        Ok(waits.code())
    }
}
