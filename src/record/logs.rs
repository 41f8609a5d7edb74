//! The ends of the logs of containers that failed.

use std::io::{self, Write};

use serde_json::Value;

use super::keep::Kept;
use super::lines::{self, Log};
use super::secrets::without_secrets;
use crate::report::SourceState;
use crate::restart::logs_of;
use crate::source::RecordedSource;
use crate::source::cluster::{Object, Session};

/// Bytes of one log that are recorded: its end.
const OF_ONE: usize = 64 << 10;
/// Bytes of all logs of one run of the recorder.
const OF_ALL: usize = 64 << 20;
/// Logs of a snapshot that are asked for.
const MOST: usize = 2000;

/// Asks for logs, within bounds.
pub struct Logs<'a> {
    session: &'a Session<'a>,
    /// Those of a snapshot, asked for when all pods are known.
    wanted: Vec<(Object, String, String, bool)>,
    bytes: usize,
    read: u64,
    left_out: u64,
    /// Why the first one that could not be had was not, and how many there are.
    failed: Option<(String, u64)>,
    is_denied: bool,
}

impl<'a> Logs<'a> {
    /// Asks the cluster of a session.
    pub fn new(session: &'a Session<'a>) -> Self {
        Self { session, wanted: Vec::new(), bytes: 0, read: 0, left_out: 0, failed: None, is_denied: false }
    }

    /// Notes the logs that a pod's state asks for.
    pub(super) fn note(&mut self, pod: &Kept) {
        let room = MOST - self.wanted.len();
        let mut wanted = wanted(pod);
        self.left_out += wanted.len().saturating_sub(room) as u64;
        wanted.truncate(room);
        self.wanted.extend(wanted);
    }

    /// Writes those that were noted.
    pub(super) fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        for wanted in std::mem::take(&mut self.wanted) {
            out.write_all(&self.line(&wanted))?;
        }
        Ok(())
    }

    /// The lines of those that a pod's state asks for.
    pub(super) fn of(&mut self, pod: &Kept) -> Vec<u8> {
        wanted(pod).iter().flat_map(|wanted| self.line(wanted)).collect()
    }

    fn line(&mut self, (at, uid, container, previous): &(Object, String, String, bool)) -> Vec<u8> {
        if self.bytes >= OF_ALL || self.is_denied {
            self.left_out += 1;
            return Vec::new();
        }
        let log = match self.session.log(at, container, *previous, OF_ONE) {
            Ok(log) => log,
            Err(error) => {
                self.is_denied |= error.code == Some(403);
                let count = self.failed.as_ref().map_or(0, |(_, count)| *count);
                let first = self.failed.take().map_or_else(|| error.to_string(), |(first, _)| first);
                self.failed = Some((first, count + 1));
                return Vec::new();
            }
        };
        self.bytes += log.len();
        self.read += 1;
        let text = without_secrets(&String::from_utf8_lossy(&log));
        let cut = log.len() >= OF_ONE;
        lines::log(&Log {
            namespace: &at.namespace,
            pod: &at.name,
            uid,
            container,
            previous: *previous,
            cut,
            text: &text,
        })
    }

    /// What became of them.
    pub(super) fn source(&self) -> RecordedSource {
        let mut notes = Vec::new();
        if let Some((first, count)) = &self.failed {
            notes.push(format!("{count} could not be had; the first: {first}"));
        }
        if self.left_out > 0 && !self.is_denied {
            notes.push(format!("{} left out: there were more than are recorded", self.left_out));
        }
        let state = match () {
            () if self.is_denied => SourceState::Denied,
            () if self.left_out > 0 => SourceState::Truncated,
            () => SourceState::Read,
        };
        RecordedSource {
            resource: "pods/log".to_owned(),
            state,
            skipped: 0,
            message: (!notes.is_empty()).then(|| notes.join("; ")),
        }
    }
}

fn wanted(pod: &Kept) -> Vec<(Object, String, String, bool)> {
    let value = Value::Object(pod.fields.clone());
    let text = |name: &str| value["metadata"][name].as_str().unwrap_or_default().to_owned();
    let at = Object {
        api_version: "v1".to_owned(),
        resource: "pods".to_owned(),
        namespace: text("namespace"),
        name: text("name"),
    };
    let logs = logs_of(&value).into_iter();
    logs.map(|(container, previous)| (at.clone(), text("uid"), container, previous)).collect()
}
