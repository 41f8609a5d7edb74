//! From a cluster into a file: once, or for as long as the recorder runs.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::journal::{Journal, JournalError};
use super::keep::{Kept, Policy};
use super::lines;
use super::logs::Logs;
use super::plan;
use super::since::Since;
use crate::model::{EventView, Time};
use crate::report::{Source, SourceState};
use crate::source::cluster::{Change, ChangeKind, ClusterError, Told, Watch};
use crate::source::{RecordedSource, Resource, Status};

/// How long a change may wait for others to be written with.
const TOGETHER: Duration = Duration::from_secs(1);
/// Bytes of changes that are written at once, however new.
const LARGEST_BATCH: usize = 1 << 20;

/// Why nothing, or no more, is recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The cluster cannot be read.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A snapshot cannot be written.
    #[error("cannot write the recording: {0}")]
    Write(#[from] std::io::Error),
    /// Ctrl-C or SIGTERM came.
    #[error("interrupted")]
    Interrupted,
}

/// What is recorded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order<'a> {
    /// Only this namespace.
    pub namespace: Option<&'a str>,
    /// Only what bears on this many seconds before the recording began.
    pub since: Option<i64>,
}

/// What became of a recording.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Objects, or changes of a journal, by resource.
    pub written: BTreeMap<Resource, u64>,
    /// What became of each resource.
    pub sources: Vec<Source>,
}

/// What became of each resource, as its interests are told of.
#[derive(Debug, Default)]
struct Sources {
    by_resource: BTreeMap<Resource, Source>,
    /// The resource of each interest, and whether it was told of.
    interests: Vec<(Resource, bool)>,
}

impl Sources {
    fn follow(&mut self, watch: &mut Watch, step: Vec<crate::source::cluster::Interest>, once: bool) {
        for interest in step {
            self.interests.push((interest.resource, false));
            if once {
                watch.read(interest)
            } else {
                watch.add(interest)
            };
        }
    }

    /// Notes what became of an interest; whether all of its resource have been told of.
    fn note(&mut self, interest: usize, resource: Resource, source: Source) -> bool {
        if let Some(told) = self.interests.get_mut(interest) {
            told.1 = true;
        }
        let worse = |state: SourceState| match state {
            SourceState::NotAsked => 0,
            SourceState::Read => 1,
            SourceState::NotInstalled => 2,
            SourceState::Unreadable => 3,
            SourceState::Denied => 4,
            SourceState::Truncated => 5,
            SourceState::Unreachable => 6,
        };
        match self.by_resource.get_mut(&resource) {
            Some(before) if worse(before.state) > worse(source.state) => before.skipped += source.skipped,
            _ => drop(self.by_resource.insert(resource, source)),
        }
        self.interests.iter().all(|(of, told)| *of != resource || *told)
    }

    fn are_all_told(&self) -> bool {
        self.interests.iter().all(|(_, told)| *told)
    }

    fn resource(&self, interest: usize) -> Option<Resource> {
        self.interests.get(interest).map(|(resource, _)| *resource)
    }

    fn recorded(&self, logs: Option<&Logs>) -> Vec<RecordedSource> {
        let of_logs = logs.map(Logs::source);
        self.by_resource.values().map(RecordedSource::of).chain(of_logs).collect()
    }
}

/// What is kept of an object, if anything is.
fn kept(object: &[u8], policy: &Policy) -> Option<Kept> {
    let value: Value = serde_json::from_slice(object).ok()?;
    let (kind, api_version) = (value["kind"].as_str()?, value["apiVersion"].as_str()?);
    if kind == "Event" {
        let event: EventView = serde_json::from_slice(object).ok()?;
        // Of pods all that tell where they ran: which will be asked about is not known.
        if !event.is_used(Some("")) {
            return None;
        }
    }
    policy.keep(kind, api_version, &value)
}

/// Writes one snapshot: each object as soon as it is read.
pub fn snapshot(
    watch: &mut Watch,
    order: Order,
    policy: &Policy,
    mut logs: Option<Logs>,
    clock: &dyn Fn() -> Time,
    out: &mut dyn Write,
) -> Result<Recorded, RecordError> {
    let mut sources = Sources::default();
    let mut recorded = Recorded::default();
    let mut since = Since::new(order.since.map(|seconds| clock().plus_seconds(-seconds)));
    for step in plan::steps(order.namespace) {
        sources.follow(watch, step, true);
        while !sources.are_all_told() {
            match watch.next(None)? {
                Told::Change(Change { resource, object, .. }) => {
                    let Some(kept) = kept(&object, policy).filter(|kept| since.wants(resource, &kept.fields)) else {
                        continue;
                    };
                    if let Some(logs) = logs.as_mut().filter(|_| resource == Resource::Pods) {
                        logs.note(&kept);
                    }
                    out.write_all(&lines::object(&kept))?;
                    *recorded.written.entry(resource).or_default() += 1;
                }
                Told::Synced { interest, source, .. } => {
                    let resource = sources.resource(interest);
                    resource.map(|resource| sources.note(interest, resource, source));
                }
                Told::Ended { interest, source, error } => match sources.resource(interest) {
                    Some(resource) if resource.is_core() => return Err(error.into()),
                    resource => drop(resource.map(|resource| sources.note(interest, resource, source))),
                },
                Told::Interrupted => return Err(RecordError::Interrupted),
                Told::Version { .. } | Told::Nothing => {}
            }
        }
    }
    if let Some(logs) = &mut logs {
        logs.write(out)?;
    }
    let status =
        Status { as_of: clock().to_string(), sources: sources.recorded(logs.as_ref()), not_recorded_since: None };
    out.write_all(&lines::status(&status))?;
    recorded.sources = sources.by_resource.into_values().collect();
    recorded.sources.extend(logs.as_ref().map(Logs::source).map(|source| source.of_cluster(watch.cluster())));
    Ok(recorded)
}

/// Writes a journal until it is told to end. `talk` gets a line once all is read that is there, and one for each resource
/// that is not.
pub fn follow<'a>(
    watch: &mut Watch,
    order: Order,
    policy: &'a Policy,
    journal: &'a mut Journal,
    logs: Option<Logs<'a>>,
    clock: &'a dyn Fn() -> Time,
) -> Result<(), RecordError> {
    let mut following =
        Following { policy, journal, logs, clock, sources: Sources::default(), has_begun: false, waiting_since: None };
    for step in plan::steps(order.namespace) {
        following.sources.follow(watch, step, false);
    }
    loop {
        let at_most = following.waiting_since.map(|since| TOGETHER.saturating_sub(since.elapsed()));
        match watch.next(at_most)? {
            Told::Change(change) => following.change(&change),
            Told::Synced { interest, source, .. } => following.told(watch, interest, source)?,
            Told::Ended { interest, source, error } => {
                let resource = following.sources.resource(interest);
                let is_core = resource.is_some_and(Resource::is_core);
                if following.has_begun && !is_core && source.state != SourceState::NotInstalled {
                    watch.say(&format!("{} are not recorded any more: {error}", source.resource));
                }
                following.told(watch, interest, source)?;
                if is_core {
                    following.end()?;
                    return Err(error.into());
                }
            }
            Told::Nothing | Told::Version { .. } => {}
            Told::Interrupted => return following.end(),
        }
        following.sync_if_due()?;
    }
}

struct Following<'a> {
    policy: &'a Policy,
    journal: &'a mut Journal,
    logs: Option<Logs<'a>>,
    clock: &'a dyn Fn() -> Time,
    sources: Sources,
    /// Whether all that was there was told.
    has_begun: bool,
    waiting_since: Option<Instant>,
}

impl Following<'_> {
    fn change(&mut self, change: &Change) {
        let Some(kept) = kept(&change.object, self.policy) else { return };
        let at = (self.clock)();
        match change.kind {
            ChangeKind::Listed | ChangeKind::Set => {
                if self.journal.set(at, change.resource, &kept)
                    && let Some(logs) = self.logs.as_mut().filter(|_| change.resource == Resource::Pods)
                {
                    // Beside what tells of the failure: once the pod is deleted, so is its log.
                    self.journal.add(&logs.of(&kept));
                }
            }
            ChangeKind::Deleted => drop(self.journal.delete(at, change.resource, &kept)),
            ChangeKind::Missed => self.journal.miss(at, change.resource, &kept),
        }
        if self.journal.waiting() > 0 {
            self.waiting_since.get_or_insert_with(Instant::now);
        }
    }

    /// Notes what became of an interest.
    fn told(&mut self, watch: &mut Watch, interest: usize, source: Source) -> Result<(), RecordError> {
        let Some(resource) = self.sources.resource(interest) else { return Ok(()) };
        let state = source.state;
        let changed = self.sources.by_resource.get(&resource).is_none_or(|before| before.state != state);
        let whole = self.sources.note(interest, resource, source);
        let at = (self.clock)();
        // What may not be read may be there still.
        let is_known = matches!(state, SourceState::Read | SourceState::NotInstalled);
        if whole && is_known {
            self.journal.listed(at, resource)?;
        }
        if self.has_begun && changed {
            self.journal.status(at, &self.sources.recorded(self.logs.as_ref()), None);
            // Nothing else may change that would take it to the disk.
            self.waiting_since.get_or_insert_with(Instant::now);
        }
        if !self.has_begun && self.sources.are_all_told() {
            self.has_begun = true;
            let last = self.journal.last();
            self.journal.status(at, &self.sources.recorded(self.logs.as_ref()), last);
            self.journal.sync()?;
            let told: Vec<Source> = self.sources.by_resource.values().cloned().collect();
            for line in crate::source::cluster::said(&told) {
                watch.say(&line);
            }
            watch.say(&match last {
                Some(last) => format!("recording again; the journal was last written at {last}"),
                None => "recording".to_owned(),
            });
        }
        Ok(())
    }

    fn sync_if_due(&mut self) -> Result<(), RecordError> {
        let is_due = self.waiting_since.is_some_and(|since| since.elapsed() >= TOGETHER);
        if is_due || self.journal.waiting() >= LARGEST_BATCH {
            self.journal.sync()?;
            self.waiting_since = None;
        }
        Ok(())
    }

    /// Writes what waits, and as of when the journal is.
    fn end(&mut self) -> Result<(), RecordError> {
        let at = (self.clock)();
        if self.has_begun {
            self.journal.status(at, &self.sources.recorded(self.logs.as_ref()), None);
        }
        Ok(self.journal.sync()?)
    }
}
