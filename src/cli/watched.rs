//! What of failures and explanations is shown anew when the cluster changes.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::input::{clock, ensure_targets_exist};
use super::screen::Screen;
use super::watching::{Occasion, Shown, WatchArgs, cluster_of, follow};
use super::{ExitCode, talk};
use crate::analysis::{Analysis, Options, analyse, failure_line};
use crate::model::Time;
use crate::render;
use crate::report::Explanation;
use crate::request::{Connection, Request, Scope};
use crate::source::Snapshot;

/// The failures that were there the last time, each by a hash of its line.
#[derive(Debug, Default)]
struct Lines(HashSet<u64>);

/// On a terminal on which nothing is shown yet.
const NO_CHANGE: &str = "no change yet\n";

/// Follows failures: on a terminal the report anew, else, with each change of a failure, the report behind the one before,
/// or the lines that are new.
pub(super) fn failures(
    watch: WatchArgs,
    request: &Request,
    as_lines: bool,
    between: &str,
    options: impl Fn(Option<Time>) -> Options,
    print: impl Fn(&Analysis, &Options, &mut Vec<u8>) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    let screen = if as_lines { Screen::off() } else { Screen::of_stdout() };
    let is_on = screen.is_on();
    let mut lines = Lines::default();
    let cluster = cluster_of(&request.from)?;
    if !is_on && !as_lines {
        talk("each change prints the whole report anew; -o jsonl prints what has changed alone");
    }
    follow(cluster, &request.scope, screen, between, |snapshot, occasion, now| {
        let is_first = occasion == Occasion::First;
        if is_first {
            ensure_targets_exist(snapshot, &request.scope.targets)?;
        }
        let options = options(Some(now));
        let analysis = analyse(snapshot, &options);
        // On a screen all is shown each time: what is new is not asked.
        let (news, has_changed) = if is_on { Default::default() } else { lines.take(&analysis)? };
        let mut shown = Shown::default();
        if is_first && watch.is_only() {
            shown.text.extend_from_slice(if is_on { NO_CHANGE.as_bytes() } else { b"" });
        } else if as_lines {
            shown.text = news;
        } else if is_on || is_first || has_changed {
            print(&analysis, &options, &mut shown.text)?;
        }
        Ok(shown)
    })
}

impl Lines {
    /// The lines that were not there the last time, and whether anything differs from then.
    fn take(&mut self, analysis: &Analysis) -> anyhow::Result<(Vec<u8>, bool)> {
        let mut now = HashSet::new();
        let mut news = Vec::new();
        for failure in &analysis.failures {
            let begins = news.len();
            render::failures(std::iter::once(failure_line(analysis, failure)), &mut news)?;
            let hash = hash_of(&news[begins..]);
            now.insert(hash);
            if self.0.contains(&hash) {
                news.truncate(begins);
            }
        }
        let has_changed = now != self.0;
        self.0 = now;
        Ok((news, has_changed))
    }
}

/// How an explanation is made and printed.
pub(super) struct Telling<Explain, Print> {
    /// Whether on a screen, where there is one.
    pub(super) on_screen: bool,
    /// Of a snapshot, at a time.
    pub(super) explain: Explain,
    /// As it was asked for.
    pub(super) print: Print,
    /// What stands between two of them.
    pub(super) between: &'static str,
}

/// Follows one explanation: on a terminal it is shown anew, else printed once more when it has changed by more than the
/// time.
pub(super) fn explanation<Explain, Print>(
    watch: WatchArgs,
    connection: &Connection,
    scope: &Scope,
    telling: &Telling<Explain, Print>,
) -> anyhow::Result<ExitCode>
where
    Explain: Fn(&Snapshot, Time) -> anyhow::Result<Explanation>,
    Print: Fn(&Explanation, &mut Vec<u8>) -> anyhow::Result<()>,
{
    let screen = if telling.on_screen { Screen::of_stdout() } else { Screen::off() };
    let is_on = screen.is_on();
    let begun = clock()?;
    let mut last = None;
    let mut is_gone = false;
    follow(connection, scope, screen, telling.between, |snapshot, occasion, now| {
        let is_first = occasion == Occasion::First;
        let explanation = match (telling.explain)(snapshot, now) {
            Ok(explanation) => explanation,
            Err(error) if is_first => return Err(error),
            // It was deleted, and may come back: what was shown last stays.
            Err(error) => {
                let note = (!std::mem::replace(&mut is_gone, true)).then(|| format!("it is gone: {error:#}"));
                return Ok(Shown { note, ..Shown::default() });
            }
        };
        is_gone = false;
        // At one and the same time, nothing differs but what changed.
        let signature = if is_on { None } else { Some(signature(&(telling.explain)(snapshot, begun)?)?) };
        let has_changed = signature != last;
        last = signature;
        let mut shown = Shown::default();
        if is_first && watch.is_only() {
            shown.text.extend_from_slice(if is_on { NO_CHANGE.as_bytes() } else { b"" });
        } else if is_on || has_changed {
            (telling.print)(&explanation, &mut shown.text)?;
        }
        Ok(shown)
    })
}

fn signature(explanation: &Explanation) -> anyhow::Result<u64> {
    // How many objects were read to know it is no part of what is known.
    let known = Explanation { sources: Vec::new(), ..explanation.clone() };
    Ok(hash_of(&serde_json::to_vec(&known)?))
}

fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
