//! What became of something, as `explain` says it.

use std::io::Write;
use std::time::{Duration, Instant};

use super::Output;
use super::waited::Waited;
use crate::advice::Kubectl;
use crate::cli::explain::explained;
use crate::cli::input::clock;
use crate::cli::stdout::stdout;
use crate::render::{self, ExplanationFormat, Look};
use crate::report::Explanation;
use crate::request::{Scope, Target};
use crate::source::Snapshot;
use crate::source::cluster::{ClusterError, Look as Looked, Watch};

/// Reads what bears on what is decided, and prints what became of it.
pub(super) struct Teller<'a> {
    pub(super) namespace: &'a str,
    pub(super) chunk_size: u32,
    pub(super) kubectl: Kubectl,
    pub(super) output: Output,
}

/// Ctrl-C or SIGTERM came, and nobody waits for more.
#[derive(Debug)]
pub(super) struct Interrupted;

/// As `explain` has it.
const PENDING_AFTER: i64 = 30;
/// How long pods and Events of what is decided may be read: what is decided is not to be held up for long.
const LONGEST_LOOK: Duration = Duration::from_secs(10);
/// So many are looked into one by one; for more the namespace is read once.
const FEW: usize = 3;

impl Teller<'_> {
    /// Prints what became of some that were decided together.
    pub(super) fn print(&self, watch: &mut Watch, all: &[&Waited]) -> anyhow::Result<Result<(), Interrupted>> {
        if self.output == Output::Name {
            let mut out = stdout();
            all.iter().try_for_each(|waited| render::target_name(&waited.subject(), &mut out))?;
            return Ok(Ok(out.flush()?));
        }
        let seen = match self.look_at(watch, all) {
            Ok(seen) => seen,
            Err(interrupted) => return Ok(Err(interrupted)),
        };
        for (at, waited) in all.iter().enumerate() {
            let snapshot = seen.get(at).or(seen.first()).and_then(Option::as_ref);
            self.print_one(waited, snapshot)?;
        }
        Ok(Ok(()))
    }

    fn print_one(&self, waited: &Waited, looked: Option<&Snapshot>) -> anyhow::Result<()> {
        let target = waited.subject();
        // By now it may be another one of its name, or have got elsewhere: then what was seen when it was decided counts.
        let explanation = match looked.filter(|snapshot| waited.is_borne_out_by(snapshot)) {
            Some(snapshot) => self.explained(snapshot, &target)?,
            None => self.explained(&waited.snapshot(), &target)?,
        };
        let mut out = stdout();
        if self.output == Output::Json {
            let look = Look { width: 0, color: false, headers: true };
            render::explanation(&explanation, ExplanationFormat::Json, false, look, &mut out)?;
        } else {
            writeln!(out, "{}", render::one_line(&explanation.verdict))?;
        }
        Ok(out.flush()?)
    }

    /// Reads pods and Events: of each, or in one for all where they are many. What is gone is not asked for.
    fn look_at(&self, watch: &mut Watch, all: &[&Waited]) -> Result<Vec<Option<Snapshot>>, Interrupted> {
        let until = Instant::now() + LONGEST_LOOK;
        if all.len() > FEW && self.output == Output::Verdict {
            let names = format!("{} workloads", all.len());
            return Ok(vec![look(watch, &self.scope(), until, &names)?]);
        }
        let of_one = |waited: &&Waited| {
            if waited.is_gone {
                return Ok(None);
            }
            let target = waited.subject();
            look(watch, &Scope { subject: Some((&target).into()), ..self.scope() }, until, &target.to_string())
        };
        all.iter().map(of_one).collect()
    }

    fn explained(&self, snapshot: &Snapshot, target: &Target) -> anyhow::Result<Explanation> {
        explained(snapshot, &target.into(), Some(clock()?), PENDING_AFTER, &self.kubectl)
    }

    fn scope(&self) -> Scope {
        Scope { namespace: Some(self.namespace.to_owned()), chunk_size: self.chunk_size, ..Scope::default() }
    }

    /// Why something that is not there is not waited for, with names like it.
    pub(super) fn missing(&self, watch: &mut Watch, target: &Target) -> Result<anyhow::Error, Interrupted> {
        let scope = Scope { targets: vec![target.clone()], ..self.scope() };
        let hint = "--allow-missing waits for what is not there yet";
        Ok(match watch.look(&scope, LONGEST_LOOK) {
            Looked::Interrupted => return Err(Interrupted),
            Looked::Failed(error) => anyhow::anyhow!("{error}; {hint}"),
            Looked::Read(_) | Looked::TimedOut => {
                anyhow::anyhow!("{target} was not there when the wait began; {hint}")
            }
        })
    }
}

/// Reads what bears on something; nothing, where that cannot be read in time, and says so.
fn look(watch: &mut Watch, scope: &Scope, until: Instant, what: &str) -> Result<Option<Snapshot>, Interrupted> {
    let why = match watch.look(scope, until.saturating_duration_since(Instant::now())) {
        Looked::Read(snapshot) => return Ok(Some(*snapshot)),
        Looked::Interrupted => return Err(Interrupted),
        Looked::Failed(ClusterError::NotFound { .. }) => return Ok(None),
        Looked::Failed(error) => error.to_string(),
        Looked::TimedOut => format!("no answer within {} s", LONGEST_LOOK.as_secs()),
    };
    watch.say(&format!("{what}: only what was waited for itself could be read: {why}"));
    Ok(None)
}
