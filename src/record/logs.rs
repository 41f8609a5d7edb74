//! The ends of the logs of containers that failed.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use serde_json::Value;

use super::keep::Kept;
use super::lines::{self, Log};
use super::secrets::without_secrets;
use crate::report::SourceState;
use crate::request::Connection;
use crate::restart::logs_of;
use crate::source::RecordedSource;
use crate::source::cluster::{ClusterError, Environment, Object, Session};

/// Bytes of one log that are recorded: its end.
const OF_ONE: usize = 64 << 10;
/// Bytes of all logs of a snapshot, or of one file of a journal.
const OF_ALL: usize = 64 << 20;
/// Logs that are asked for and not had yet; of a snapshot, all.
const MOST: usize = 2000;

/// A log that is asked for.
#[derive(Clone, Debug)]
struct Wanted {
    pod: Object,
    uid: String,
    container: String,
    /// Of the run before the last restart.
    previous: bool,
    /// How often the container had been restarted: which run the log is of.
    restarts: u64,
}

/// What came of it; an error with its code, where the server gave one.
type Came = Result<Vec<u8>, (Option<u16>, String)>;

/// Asks for logs, within bounds, beside whatever else goes on: a node that does not answer holds up nothing.
pub struct Logs {
    asked: Sender<Wanted>,
    came: Receiver<(Wanted, Came)>,
    /// Asked for and not had yet.
    waiting: VecDeque<u64>,
    /// Those that were had, or cannot be, by [`Wanted::key`].
    done: HashSet<u64>,
    bytes: usize,
    /// The file of the journal that the bytes are in.
    file: u64,
    read: u64,
    left_out: u64,
    denied: u64,
    /// Why the first one that could not be had was not, and how many there are.
    failed: Option<(String, u64)>,
}

impl Wanted {
    fn key(&self) -> u64 {
        key_of(&self.uid, &self.container, self.previous, self.restarts)
    }
}

/// By what a log is known again: the run of a container that it is of.
pub(super) fn key_of(uid: &str, container: &str, previous: bool, restarts: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    // The log of the run before the second start is that of the first.
    let run = if previous { restarts.saturating_sub(1) } else { restarts };
    (uid, container, run).hash(&mut hasher);
    hasher.finish()
}

impl Logs {
    /// Asks the cluster that the connection leads to, in a thread of its own, which ends with this.
    ///
    /// # Errors
    /// Where the cluster cannot be found.
    pub fn open(environment: &Environment, connection: &Connection) -> Result<Self, ClusterError> {
        let (environment, connection) = (environment.clone(), connection.clone());
        let (asked, asks) = channel::<Wanted>();
        let (gives, came) = channel();
        let (tells, is_open) = channel();
        thread::spawn(move || {
            let mut nothing = |_: &str| {};
            let session = match Session::open(&environment, &connection, &mut nothing) {
                Ok(session) => session,
                Err(error) => return drop(tells.send(Err(error))),
            };
            // Whoever does not listen any more needs no answer.
            let _ = tells.send(Ok(()));
            for wanted in asks {
                let log = session.log(&wanted.pod, &wanted.container, wanted.previous, OF_ONE);
                let log = log.map_err(|error| (error.code, error.to_string()));
                if gives.send((wanted, log)).is_err() {
                    return;
                }
            }
        });
        is_open.recv().unwrap_or_else(|_| Err(ClusterError::Process("logs cannot be asked for".to_owned())))?;
        Ok(Self {
            asked,
            came,
            waiting: VecDeque::new(),
            done: HashSet::new(),
            bytes: 0,
            file: 0,
            read: 0,
            left_out: 0,
            denied: 0,
            failed: None,
        })
    }

    /// Takes logs that a journal holds already.
    pub(super) fn know(&mut self, done: HashSet<u64>) {
        self.done = done;
    }

    /// Asks for the logs that a pod's state calls for, each run of a container once.
    pub(super) fn ask(&mut self, pod: &Kept) {
        for wanted in wanted(pod) {
            let key = wanted.key();
            if self.done.contains(&key) || self.waiting.contains(&key) {
                continue;
            }
            if self.waiting.len() >= MOST || self.bytes >= OF_ALL {
                self.left_out += 1;
                continue;
            }
            if self.asked.send(wanted).is_ok() {
                self.waiting.push_back(key);
            }
        }
    }

    /// Whether some are asked for and not had yet.
    pub(super) fn are_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The lines of those that came meanwhile. Each file of a journal has room of its own.
    pub(super) fn take(&mut self, file: u64) -> Vec<u8> {
        if self.file != file {
            (self.file, self.bytes) = (file, 0);
        }
        let mut lines = Vec::new();
        while let Ok((wanted, came)) = self.came.try_recv() {
            lines.extend(self.line(&wanted, came));
        }
        lines
    }

    /// Writes all that were asked for.
    pub(super) fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        while self.are_awaited() {
            let Ok((wanted, came)) = self.came.recv() else { break };
            out.write_all(&self.line(&wanted, came))?;
        }
        Ok(())
    }

    fn line(&mut self, wanted: &Wanted, came: Came) -> Vec<u8> {
        let key = wanted.key();
        self.waiting.retain(|other| *other != key);
        let log = match came {
            _ if self.bytes >= OF_ALL => {
                self.left_out += 1;
                return Vec::new();
            }
            Ok(log) => log,
            Err((code, error)) => {
                // What was refused, or is gone, is not asked for again; what broke is with the pod's next change.
                if matches!(code, Some(400..=499)) {
                    self.done.insert(key);
                }
                self.denied += u64::from(code == Some(403));
                let (first, count) = self.failed.take().unwrap_or((error, 0));
                self.failed = Some((first, count + 1));
                return Vec::new();
            }
        };
        self.done.insert(key);
        self.bytes += log.len();
        self.read += 1;
        let text = without_secrets(&String::from_utf8_lossy(&log));
        lines::log(&Log {
            namespace: &wanted.pod.namespace,
            pod: &wanted.pod.name,
            uid: &wanted.uid,
            container: &wanted.container,
            previous: wanted.previous,
            restart_count: wanted.restarts,
            cut: log.len() >= OF_ONE,
            text: &text,
        })
    }

    /// How many were had.
    pub(super) fn count(&self) -> u64 {
        self.read
    }

    /// What became of them.
    pub(super) fn source(&self) -> RecordedSource {
        let mut notes = Vec::new();
        if let Some((first, count)) = &self.failed {
            notes.push(format!("{count} could not be had; the first: {first}"));
        }
        if self.left_out > 0 {
            notes.push(format!("{} left out: there were more than are recorded", self.left_out));
        }
        let state = match () {
            () if self.denied > 0 => SourceState::Denied,
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

fn wanted(pod: &Kept) -> Vec<Wanted> {
    let value = Value::Object(pod.fields.clone());
    let text = |name: &str| value["metadata"][name].as_str().unwrap_or_default().to_owned();
    let at = Object {
        api_version: "v1".to_owned(),
        resource: "pods".to_owned(),
        namespace: text("namespace"),
        name: text("name"),
    };
    let restarts = |container: &str| {
        let lists = ["initContainerStatuses", "containerStatuses"].into_iter();
        let mut all = lists.flat_map(|list| value["status"][list].as_array().into_iter().flatten());
        all.find(|status| status["name"] == container).and_then(|status| status["restartCount"].as_u64()).unwrap_or(0)
    };
    let of = |(container, previous): (String, bool)| Wanted {
        pod: at.clone(),
        uid: text("uid"),
        restarts: restarts(&container),
        container,
        previous,
    };
    logs_of(&value).into_iter().map(of).collect()
}
