//! From a cluster into a file: once, or for as long as the recorder runs.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::Value;

use super::journal::JournalError;
use super::keep::{Kept, Policy};
use super::lines;
use super::logs::Logs;
use super::plan;
use super::since::Since;
use super::sources::{Sources, why_unreadable};
use crate::model::{EventView, Time};
use crate::report::Source;
use crate::source::cluster::{Change, ClusterError, Told, Watch};
use crate::source::{Resource, Status};

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
    Write(std::io::Error),
    /// Ctrl-C or SIGTERM came.
    #[error("interrupted")]
    Interrupted,
}

/// Its text tells the system's reason: a source would be told twice.
impl From<std::io::Error> for RecordError {
    fn from(error: std::io::Error) -> Self {
        Self::Write(error)
    }
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
    /// Logs of containers; `None` where they are not recorded.
    pub logs: Option<u64>,
    /// What became of each resource, logs included.
    pub sources: Vec<Source>,
}

/// What is kept of an object, if anything is; an error where a reading of the cluster could not read it either.
pub(super) fn kept(object: &[u8], policy: &Policy) -> Result<Option<Kept>, String> {
    if let Some(why) = why_unreadable(object) {
        return Err(why);
    }
    let value: Value = serde_json::from_slice(object).map_err(|error| error.to_string())?;
    let (Some(kind), Some(api_version)) = (value["kind"].as_str(), value["apiVersion"].as_str()) else {
        return Ok(None);
    };
    if kind == "Event" {
        let event: EventView = serde_json::from_slice(object).map_err(|error| error.to_string())?;
        // Of pods all that tell where they ran: which will be asked about is not known.
        if !event.is_used(Some("")) {
            return Ok(None);
        }
    }
    Ok(policy.keep(kind, api_version, &value))
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
                    let kept = match kept(&object, policy) {
                        Ok(kept) => kept.filter(|kept| since.wants(resource, &kept.fields)),
                        Err(why) => {
                            sources.unreadable(resource, &object, &why);
                            continue;
                        }
                    };
                    let Some(kept) = kept else { continue };
                    if let Some(logs) = logs.as_mut().filter(|_| resource == Resource::Pods) {
                        logs.ask(&kept);
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
        recorded.logs = Some(logs.count());
    }
    let status = Status { as_of: clock().to_string(), sources: sources.recorded(logs.as_ref()), ..Status::default() };
    out.write_all(&lines::status(&status))?;
    recorded.sources = sources.all(logs.as_ref());
    Ok(recorded)
}
