//! Follows resources: each is listed once, through the pager, and then watched from the version of the list on.
//!
//! kube's `runtime::watcher` is not used. It deserializes whole objects into types of its own, or into `DynamicObject`,
//! where the house reads bytes into small lenient structs, and a recorder needs the bytes; it lists anew after 410 without
//! telling what was deleted meanwhile; it knows nothing of credentials that are to be had anew, of the time that silence
//! may take, or of how a fault is told. What is left is small: lines of JSON on a connection of kube's client, and what to
//! do when they end.
//!
//! Whatever breaks, nothing is missed: after a connection that dropped, a server that went away or a stream that its
//! server ended, the watch goes on from the last version seen; where that has expired (410), the list is read anew and the
//! difference is told, what was deleted meanwhile included.
//!
//! Source: Kubernetes "Efficient detection of changes"; client-go `tools/cache/reflector.go`.

mod hub;
mod known;
mod line;
mod reading;
mod stream;

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, LocalSet};
use tokio::time::Instant;

use hub::Hub;
use stream::Stream;

use super::environment::Environment;
use super::error::ClusterError;
use super::interrupt::Interrupts;
use crate::request::{Connection, Scope};
use crate::source::{Resource, Snapshot, Source};

/// How long a watch waits for what. Tests have less time than people.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How long a server is asked to keep a watch open; then the watch goes on with another request. API servers choose 30
    /// to 60 minutes where they are not asked; the less, the less is lost where a proxy keeps a dead connection.
    pub open: Duration,
    /// What a server may take longer than asked until it ends a watch.
    pub grace: Duration,
    /// Silence after which a connection counts as dead on which there were bookmarks, which come once a minute.
    /// Source: Kubernetes `apiserver/pkg/storage/cacher`, `defaultBookmarkFrequency`.
    pub silence: Duration,
    /// The first pause before another try; each is twice the one before.
    pub pause: Duration,
    /// The longest of these: as long as client-go waits at most. Source: client-go `tools/cache/reflector.go`.
    pub longest_pause: Duration,
    /// How long a watch must have lasted to count as one that went well, though nothing was told on it.
    pub a_while: Duration,
    /// The first pause before what was refused or is not installed is asked for once more; each pause is twice the one
    /// before.
    pub again: Duration,
    /// The longest of these.
    pub longest_again: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            open: Duration::from_secs(300),
            grace: Duration::from_secs(30),
            silence: Duration::from_secs(90),
            pause: Duration::from_millis(200),
            longest_pause: Duration::from_secs(30),
            a_while: Duration::from_secs(1),
            again: Duration::from_secs(5),
            longest_again: Duration::from_secs(60),
        }
    }
}

/// What came of a look at the cluster beside what is followed.
#[derive(Debug)]
pub enum Look {
    /// What is there now.
    Read(Box<Snapshot>),
    /// It could not be read.
    Failed(ClusterError),
    /// The time for it has passed.
    TimedOut,
    /// Ctrl-C or SIGTERM came.
    Interrupted,
}

/// What to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interest {
    /// The resource.
    pub resource: Resource,
    /// Only in this namespace; `None` for all.
    pub namespace: Option<String>,
    /// Only with these labels, as the API takes them; empty for all.
    pub labels: String,
    /// Only with these fields: `metadata.name=x`; empty for all. One object followed by its name needs rights on that name
    /// alone.
    pub fields: String,
}

/// A change of one object.
#[derive(Clone, Debug)]
pub struct Change {
    /// Which of the interests it belongs to: what [`Watch::add`] gave.
    pub interest: usize,
    /// The resource.
    pub resource: Resource,
    /// What happened.
    pub kind: ChangeKind,
    /// The object's `resourceVersion`. Of one that was deleted, the version of its deletion; empty where it went unseen.
    pub version: String,
    /// The object as the server wrote it, with `kind` and `apiVersion`: of one deleted its last state, and of one that went
    /// unseen ([`ChangeKind::Missed`]) only its names.
    pub object: Bytes,
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was there when the watch began.
    Listed,
    /// It was made or changed.
    Set,
    /// It was deleted, or does not meet the interest's selectors any more.
    Deleted,
    /// It was there before the watch was cut and is not now; what became of it in between was not seen.
    Missed,
}

/// What a watch tells.
#[derive(Debug)]
pub enum Told {
    /// A change.
    Change(Change),
    /// All that is there of an interest has been told; from here on, changes follow. `anew` where it was listed before and
    /// the version had expired.
    Synced {
        /// Which.
        interest: usize,
        /// What became of the list.
        source: Source,
        /// Whether it is not the first time.
        anew: bool,
    },
    /// All changes up to this version were told: from a bookmark.
    Version {
        /// Of which interest.
        interest: usize,
        /// Up to where.
        version: String,
    },
    /// An interest is not followed, or not any more: denied, not installed, or not to be read. It is asked for again, ever
    /// more rarely; once it answers, it is told as [`Told::Synced`].
    Ended {
        /// Which.
        interest: usize,
        /// What became of it.
        source: Source,
        /// Why, as the user would see it.
        error: ClusterError,
    },
    /// The time to wait has passed.
    Nothing,
    /// Ctrl-C or SIGTERM came.
    Interrupted,
}

/// Interests that are followed. No object is kept, only uid, version and names of each, so that what is deleted while the
/// watch is cut can be told. A few changes wait to be taken; then the connections are not read on.
pub struct Watch<'a> {
    // Before the runtime, so that its tasks end first.
    local: LocalSet,
    runtime: Option<Runtime>,
    hub: Rc<Hub>,
    told: mpsc::Receiver<Result<Told, ClusterError>>,
    said: mpsc::UnboundedReceiver<String>,
    talk: &'a mut dyn FnMut(&str),
    interrupts: Interrupts,
    /// One for each interest.
    streams: Vec<JoinHandle<()>>,
}

/// Changes that wait to be taken.
const WAITING: usize = 64;

impl<'a> Watch<'a> {
    /// Finds the way to the cluster; nothing is asked yet. `talk` gets a line where something is to be told: that the
    /// connection is lost and comes back, each once. From now on Ctrl-C and SIGTERM are told, and do not end the process.
    pub fn open(
        environment: &Environment,
        connection: &Connection,
        chunk_size: u32,
        talk: &'a mut dyn FnMut(&str),
    ) -> Result<Self, ClusterError> {
        let process = |error: std::io::Error| ClusterError::Process(error.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(process)?;
        let (tell, told) = mpsc::channel(WAITING);
        let (say, said) = mpsc::unbounded_channel();
        let interrupts = Interrupts::default();
        let hub = {
            // The client starts tasks of its own.
            let _within = runtime.enter();
            // A credential plugin may take its time, and until then Ctrl-C ends the process.
            let hub = Rc::new(Hub::open(environment, connection, chunk_size, tell, say)?);
            interrupts.heed().map_err(process)?;
            hub
        };
        let local = LocalSet::new();
        Ok(Self { local, runtime: Some(runtime), hub, told, said, talk, interrupts, streams: Vec::new() })
    }

    /// The cluster's name: the kubeconfig's context.
    pub fn cluster(&self) -> &str {
        &self.hub.cluster
    }

    /// Follows something more; its number, by which it is told of.
    pub fn add(&mut self, interest: Interest) -> usize {
        self.begin(interest, false)
    }

    /// Reads something once: it is listed, and not watched behind that.
    pub fn read(&mut self, interest: Interest) -> usize {
        self.begin(interest, true)
    }

    fn begin(&mut self, interest: Interest, once: bool) -> usize {
        let number = self.streams.len();
        let stream = Stream::new(number, interest, once, Rc::clone(&self.hub)).run();
        self.streams.push(self.local.spawn_local(stream));
        number
    }

    /// Follows an interest no more. What was told of it and not taken yet still comes.
    pub fn stop(&mut self, interest: usize) {
        if let Some(stream) = self.streams.get(interest) {
            stream.abort();
        }
        self.hub.forget(interest);
    }

    /// From now on waits as long as that.
    pub fn set_pace(&mut self, pace: Pace) {
        self.hub.pace.set(pace);
    }

    /// How long ago the server was last heard of, while it is away: nothing that has been told is newer than that.
    pub fn silent_for(&self) -> Option<Duration> {
        self.hub.last_heard().map(|heard| Instant::now().saturating_duration_since(heard))
    }

    /// Reads what `scope` asks for once, beside what is followed and with the same credentials.
    pub fn look(&mut self, scope: &Scope, at_most: Duration) -> Look {
        let Self { local, runtime, hub, interrupts, .. } = self;
        let Some(runtime) = runtime else { return Look::TimedOut };
        let access = hub.access();
        let mut silent = |_: &str| {};
        let api = hub.api(&access, &mut silent);
        local.block_on(runtime, async {
            tokio::select! {
                biased;
                () = interrupts.next() => Look::Interrupted,
                read = Box::pin(super::look(&api, &hub.cluster, scope)) => match read {
                    Ok(snapshot) => Look::Read(Box::new(snapshot)),
                    Err(error) => Look::Failed(error),
                },
                () = tokio::time::sleep(at_most) => Look::TimedOut,
            }
        })
    }

    /// What comes next, waited for at most so long; for ever where it is not told how long.
    ///
    /// An error means that the cluster cannot be reached at the beginning, or that it does not know the user any more. What
    /// becomes of a single interest is [`Told::Ended`].
    pub fn next(&mut self, at_most: Option<Duration>) -> Result<Told, ClusterError> {
        let Self { local, runtime, told, said, talk, interrupts, .. } = self;
        let Some(runtime) = runtime else { return Ok(Told::Nothing) };
        let waited = async {
            match at_most {
                Some(at_most) => tokio::time::sleep(at_most).await,
                None => std::future::pending().await,
            }
        };
        local.block_on(runtime, async {
            let mut waited = std::pin::pin!(waited);
            loop {
                tokio::select! {
                    biased;
                    () = interrupts.next() => return Ok(Told::Interrupted),
                    Some(line) = said.recv() => talk(&line),
                    Some(told) = told.recv() => return told,
                    () = &mut waited => return Ok(Told::Nothing),
                }
            }
        })
    }

    /// Says something to the user, behind what is to be said before.
    pub fn say(&mut self, line: &str) {
        while let Ok(line) = self.said.try_recv() {
            (self.talk)(&line);
        }
        (self.talk)(line);
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.told.close();
        self.hub.waiter.leave();
        // A look-up of a name that hangs must not hold up the end.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Interest {
    /// One object by its name.
    pub fn named(resource: Resource, namespace: Option<&str>, name: &str) -> Self {
        Self { fields: format!("metadata.name={name}"), ..Self::all(resource, namespace) }
    }

    /// All of a resource.
    pub fn all(resource: Resource, namespace: Option<&str>) -> Self {
        let namespace = namespace.map(ToOwned::to_owned);
        Self { resource, namespace, labels: String::new(), fields: String::new() }
    }
}
