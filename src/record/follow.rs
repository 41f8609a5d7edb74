//! From a cluster into a journal, for as long as the recorder runs.

use std::path::Path;
use std::time::{Duration, Instant};

use super::journal::Journal;
use super::keep::Policy;
use super::logs::Logs;
use super::plan;
use super::run::{Order, RecordError, kept};
use super::sources::Sources;
use crate::model::Time;
use crate::report::{Source, SourceState};
use crate::source::cluster::{Change, ChangeKind, Told, Watch, said};
use crate::source::{Resource, Status};

/// How long a change may wait for others to be written with.
const TOGETHER: Duration = Duration::from_secs(1);
/// Bytes of changes that are written at once, however new.
const LARGEST_BATCH: usize = 1 << 20;
/// Seconds after which it is written that all is known up to now, though nothing changed. API servers send a bookmark once a
/// minute; so much of a time in which nothing happened is not known to have been watched where the recorder is killed.
const BEAT: i64 = 60;
/// How often logs that were asked for are looked for.
const LOOK: Duration = Duration::from_millis(200);

/// Writes a journal until it is told to end. `watch` says a line once all is read that is there, one for each resource that
/// is not, and one at the end.
///
/// # Errors
/// Where the cluster cannot be read any more, or the journal cannot be written: what was known by then is written, if it can be.
pub fn follow(
    watch: &mut Watch,
    order: Order,
    policy: &Policy,
    journal: &mut Journal,
    mut logs: Option<Logs>,
    clock: &dyn Fn() -> Time,
) -> Result<(), RecordError> {
    if let Some(logs) = &mut logs {
        logs.know(journal.take_logs());
    }
    let place = journal.path().display().to_string();
    let what = order.namespace.map_or_else(|| "all namespaces".to_owned(), |name| format!("namespace {name}"));
    let place = format!("{what} of {} into {place}", watch.cluster());
    let mut following = Following {
        policy,
        journal,
        logs,
        clock,
        place,
        sources: Sources::default(),
        has_begun: false,
        waiting_since: None,
        beaten: None,
        changes: 0,
    };
    for step in plan::steps(order.namespace) {
        following.sources.follow(watch, step, false);
    }
    loop {
        let told = match watch.next(following.at_most()) {
            Ok(told) => told,
            Err(error) => {
                // What waits was seen, and is not to be had again.
                following.end(watch)?;
                return Err(error.into());
            }
        };
        match told {
            Told::Change(change) => following.change(watch, &change),
            Told::Synced { interest, source, anew } => following.told(watch, interest, source, anew)?,
            Told::Ended { interest, source, error } => {
                let is_core = following.sources.resource(interest).is_some_and(Resource::is_core);
                if following.has_begun && !is_core && source.state != SourceState::NotInstalled {
                    watch.say(&format!("{} are not recorded any more: {error}", source.resource));
                }
                following.told(watch, interest, source, false)?;
                following.sources.ended(interest);
                if is_core {
                    following.end(watch)?;
                    return Err(error.into());
                }
            }
            Told::Version { interest, .. } => drop(following.sources.is_current(interest, clock())),
            Told::Nothing => {}
            Told::Interrupted => return following.end(watch),
        }
        following.take_logs();
        following.beat();
        following.sync_if_due()?;
    }
}

struct Following<'a> {
    policy: &'a Policy,
    journal: &'a mut Journal,
    logs: Option<Logs>,
    clock: &'a dyn Fn() -> Time,
    /// What is recorded, and where.
    place: String,
    sources: Sources,
    /// Whether all that was there was told.
    has_begun: bool,
    waiting_since: Option<Instant>,
    /// Up to when the journal tells that all is known.
    beaten: Option<Time>,
    /// Changes since it was begun.
    changes: u64,
}

impl Following<'_> {
    /// How long the watch may be waited for.
    fn at_most(&self) -> Option<Duration> {
        let due = self.waiting_since.map(|since| TOGETHER.saturating_sub(since.elapsed()));
        let look = self.logs.as_ref().filter(|logs| logs.are_awaited()).map(|_| LOOK);
        due.into_iter().chain(look).min()
    }

    fn change(&mut self, watch: &mut Watch, change: &Change) {
        let at = (self.clock)();
        self.sources.is_current(change.interest, at);
        let resource = change.resource;
        // Of what is gone only its names may be known.
        let is_there = matches!(change.kind, ChangeKind::Listed | ChangeKind::Set);
        let kept = match kept(&change.object, self.policy) {
            Ok(kept) => kept,
            Err(why) if is_there => {
                if let Some(line) = self.sources.unreadable(resource, &change.object, &why) {
                    watch.say(&line);
                    self.status(None, &[]);
                }
                return;
            }
            Err(_) => None,
        };
        self.sources.readable(resource, &change.object);
        let Some(kept) = kept else { return };
        match change.kind {
            ChangeKind::Listed | ChangeKind::Set => {
                self.changes += u64::from(self.journal.set(at, resource, &kept) && self.has_begun);
                if let Some(logs) = self.logs.as_mut().filter(|_| resource == Resource::Pods) {
                    logs.ask(&kept);
                }
            }
            ChangeKind::Deleted => self.changes += u64::from(self.journal.delete(at, resource, &kept)),
            ChangeKind::Missed => {
                self.journal.miss(at, resource, &kept);
                self.changes += 1;
            }
        }
        self.waits();
    }

    fn waits(&mut self) {
        if self.journal.waiting() > 0 {
            self.waiting_since.get_or_insert_with(Instant::now);
        }
    }

    /// Notes what became of an interest. Of one that was listed `anew`, what was made and deleted since it was last current is
    /// not known.
    fn told(&mut self, watch: &mut Watch, interest: usize, source: Source, anew: bool) -> Result<(), RecordError> {
        let Some(resource) = self.sources.resource(interest) else { return Ok(()) };
        let state = source.state;
        let changed = self.sources.by_resource.get(&resource).is_none_or(|before| before.state != state);
        let whole = self.sources.note(interest, resource, source);
        let at = (self.clock)();
        let before = self.sources.is_current(interest, at);
        // What may not be read may be there still.
        let is_known = matches!(state, SourceState::Read | SourceState::NotInstalled);
        if whole && is_known {
            self.journal.listed(at, resource)?;
        }
        if self.has_begun && (changed || anew) {
            let since = before.filter(|_| anew);
            let of = since.map(|_| resource.name().to_owned());
            self.status(since, of.as_slice());
            self.waits();
        }
        if !self.has_begun && self.sources.are_all_told() {
            self.begin(watch)?;
        }
        Ok(())
    }

    /// All that is there was told.
    fn begin(&mut self, watch: &mut Watch) -> Result<(), RecordError> {
        self.has_begun = true;
        let last = self.journal.last();
        self.status(last, &[]);
        self.journal.sync()?;
        for line in said(&self.sources.all(None)) {
            watch.say(&line);
        }
        let place = &self.place;
        watch.say(&match last {
            Some(last) => {
                format!("recording again: {place}, which was last written at {last}; Ctrl-C or SIGTERM ends it")
            }
            None => format!("recording {place}; Ctrl-C or SIGTERM ends it"),
        });
        Ok(())
    }

    fn as_of(&self) -> Time {
        self.sources.as_of().unwrap_or_else(|| (self.clock)())
    }

    fn status(&mut self, not_recorded_since: Option<Time>, of: &[String]) {
        let as_of = self.as_of();
        self.beaten = Some(as_of);
        self.journal.status(Status {
            as_of: as_of.to_string(),
            sources: self.sources.recorded(self.logs.as_ref()),
            not_recorded_since: not_recorded_since.map(|at| at.to_string()),
            not_recorded_of: of.to_vec(),
            carried_over: false,
        });
    }

    fn take_logs(&mut self) {
        let Some(logs) = &mut self.logs else { return };
        let before = logs.source().state;
        self.journal.add(&logs.take(self.journal.file_number()));
        let source = logs.source();
        if self.has_begun && source.state != before {
            self.status(None, &[]);
        }
        self.waits();
    }

    fn beat(&mut self) {
        if let Some(as_of) = self.sources.as_of().filter(|as_of| self.has_begun && is_due(self.beaten, *as_of)) {
            self.beaten = Some(as_of);
            self.journal.beat(as_of);
            self.waits();
        }
    }

    fn sync_if_due(&mut self) -> Result<(), RecordError> {
        let is_due = self.waiting_since.is_some_and(|since| since.elapsed() >= TOGETHER);
        if is_due || self.journal.waiting() >= LARGEST_BATCH {
            self.journal.sync()?;
            self.waiting_since = None;
        }
        Ok(())
    }

    /// Writes what waits, and as of when the journal is: as of the server's last word, which may be long ago.
    fn end(&mut self, watch: &mut Watch) -> Result<(), RecordError> {
        self.take_logs();
        if self.has_begun {
            self.status(None, &[]);
        }
        self.journal.sync()?;
        if self.has_begun {
            let logs = self.logs.as_ref().map(|logs| format!(" and {} logs", logs.count())).unwrap_or_default();
            let changes = if self.changes == 1 { "1 change" } else { &format!("{} changes", self.changes) };
            let file = self.journal.path().to_owned();
            watch.say(&ended(changes, &logs, &file, self.as_of()));
        }
        Ok(())
    }
}

fn ended(changes: &str, logs: &str, file: &Path, as_of: Time) -> String {
    format!("ended: {changes}{logs} written to {}; it tells all up to {as_of}", file.display())
}

/// Whether it is to be written anew that all is known.
fn is_due(beaten: Option<Time>, as_of: Time) -> bool {
    beaten.is_none_or(|beaten| as_of >= beaten.plus_seconds(BEAT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beat_is_due_a_minute_after_the_last() {
        let at = Time::from_seconds;
        assert!(is_due(None, at(0)) && is_due(Some(at(0)), at(60)));
        assert!(!is_due(Some(at(0)), at(59)) && !is_due(Some(at(60)), at(0)));
    }
}
