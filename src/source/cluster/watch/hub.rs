//! What all streams of a watch share: the client and its credentials, and what is told.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::time::Duration;

use tokio::sync::{Mutex, Notify, mpsc};
use tokio::time::Instant;

use super::{Pace, Told};
use crate::request::Connection;
use crate::source::cluster::api::{Api, Patience};
use crate::source::cluster::environment::Environment;
use crate::source::cluster::error::ClusterError;
use crate::source::cluster::fault::{Destination, Fault, client_error};
use crate::source::cluster::plugin::Waiter;
use crate::source::cluster::reach;

pub(super) struct Hub {
    /// The kubeconfig's context.
    pub(super) cluster: String,
    pub(super) patience: Patience,
    pub(super) chunk_size: u32,
    environment: Environment,
    connection: Connection,
    access: RefCell<Access>,
    told: mpsc::Sender<Result<Told, ClusterError>>,
    said: mpsc::UnboundedSender<String>,
    pub(super) pace: Cell<Pace>,
    /// The streams to which the server is away, and when each last heard of it. That it is away has been told.
    away: RefCell<BTreeMap<usize, Instant>>,
    /// Wakes those that pause when the server has come back to one of them.
    is_back: Notify,
    /// Held while credentials are had anew.
    renewing: Mutex<()>,
    /// Who waits for a plugin that is run for that.
    pub(super) waiter: Waiter,
}

/// A client with the credentials it was made with.
#[derive(Clone)]
pub(super) struct Access {
    pub(super) client: kube::Client,
    pub(super) destination: Destination,
    /// How often credentials were had anew.
    pub(super) generation: u32,
    /// Whether the server has taken them.
    proven: bool,
}

/// What to do after a 401.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Renewal {
    /// Ask again.
    Renewed,
    /// The credentials are new, and not taken either.
    Refused,
}

impl Hub {
    pub(super) fn open(
        environment: &Environment,
        connection: &Connection,
        chunk_size: u32,
        told: mpsc::Sender<Result<Told, ClusterError>>,
        said: mpsc::UnboundedSender<String>,
    ) -> Result<Self, ClusterError> {
        let reach = reach::reach(connection, environment)?;
        let cluster = reach.name.clone();
        let access = Access::of(reach, 0)?;
        Ok(Self {
            cluster,
            patience: Patience::new(connection.request_timeout),
            chunk_size,
            environment: environment.clone(),
            connection: connection.clone(),
            access: RefCell::new(access),
            told,
            said,
            pace: Cell::new(Pace::default()),
            away: RefCell::default(),
            is_back: Notify::new(),
            renewing: Mutex::new(()),
            waiter: Waiter::new(),
        })
    }

    /// The client to ask with.
    pub(super) fn access(&self) -> Access {
        self.access.borrow().clone()
    }

    /// A way to ask that says what it tries again.
    pub(super) fn api<'a>(&self, access: &Access, talk: &'a mut dyn FnMut(&str)) -> Api<'a> {
        Api::new(access.client.clone(), access.destination.clone(), self.patience, talk)
    }

    /// Tells something; whether anybody listens still.
    pub(super) async fn tell(&self, told: Result<Told, ClusterError>) -> bool {
        self.told.send(told).await.is_ok()
    }

    pub(super) fn is_over(&self) -> bool {
        self.told.is_closed()
    }

    pub(super) fn say(&self, line: impl Into<String>) {
        // Nobody listens where the watch is over.
        let _ = self.said.send(line.into());
    }

    /// The server took the credentials of this generation.
    pub(super) fn proven(&self, generation: u32) {
        let mut access = self.access.borrow_mut();
        access.proven |= access.generation == generation;
    }

    /// The server answered a stream with success.
    pub(super) fn answered(&self, stream: usize) {
        if self.away.borrow_mut().remove(&stream).is_none() {
            return;
        }
        if self.away.borrow().is_empty() {
            let host = self.access.borrow().destination.host.clone();
            self.say(format!("the server {host} answers again; watching on"));
        }
        self.is_back.notify_waiters();
    }

    /// The server is away for a stream that heard of it last at that time, or says that it is. Told once, whatever number of
    /// streams meets it.
    pub(super) fn is_away(&self, stream: usize, heard: Instant, fault: &Fault) {
        let mut away = self.away.borrow_mut();
        if away.is_empty() {
            let access = self.access.borrow();
            let host = &access.destination.host;
            self.say(format!("the watch of {host} was cut: {fault}; trying again until it answers"));
        }
        away.entry(stream).or_insert(heard);
    }

    /// A stream asks no more.
    pub(super) fn forget(&self, stream: usize) {
        self.away.borrow_mut().remove(&stream);
    }

    /// When the server was last heard of by the stream that has not heard of it for longest, while it is away.
    pub(super) fn last_heard(&self) -> Option<Instant> {
        self.away.borrow().values().min().copied()
    }

    /// Waits until the server has come back to another stream.
    pub(super) async fn back(&self) {
        self.is_back.notified().await;
    }

    /// Has credentials anew after the server did not take those of this generation: a plugin's token has expired. Once,
    /// whatever number of streams meets it, and not again before the server has taken the new ones. A plugin runs beside the
    /// watch: one that hangs holds up neither a deadline nor an interrupt.
    pub(super) async fn renew(&self, generation: u32) -> Result<Renewal, ClusterError> {
        let _one_at_a_time = self.renewing.lock().await;
        let (current, proven) = {
            let access = self.access.borrow();
            (access.generation, access.proven)
        };
        if generation != current {
            return Ok(Renewal::Renewed);
        }
        if !proven {
            return Ok(Renewal::Refused);
        }
        let (connection, environment) = (self.connection.clone(), self.environment.clone());
        let waiter = self.waiter;
        let had = move || waiter.run(|| reach::reach(&connection, &environment));
        let had = tokio::task::spawn_blocking(had).await;
        let reach = had.map_err(|error| ClusterError::Process(error.to_string()))??;
        *self.access.borrow_mut() = Access::of(reach, current + 1)?;
        Ok(Renewal::Renewed)
    }
}

impl Access {
    fn of(reach: reach::Reach, generation: u32) -> Result<Self, ClusterError> {
        let destination = (&reach).into();
        let client = kube::Client::try_from(reach.config).map_err(|error| client_error(&error))?;
        Ok(Self { client, destination, generation, proven: false })
    }
}

/// Between half of `duration` and the whole of it, so that clients cut off at once do not come back at once.
pub(super) fn jittered(duration: Duration) -> Duration {
    let half = duration / 2;
    let most = u64::try_from(half.as_millis()).unwrap_or(u64::MAX).max(1);
    half + Duration::from_millis(RandomState::new().hash_one(most) % most)
}

/// Pauses between tries, each twice the one before.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    tries: u32,
}

impl Backoff {
    pub(super) fn reset(&mut self) {
        self.tries = 0;
    }

    /// Tries since it went well.
    pub(super) fn tries(&self) -> u32 {
        self.tries
    }

    /// How long to wait now; at least as long as the server asks.
    fn next(&mut self, pace: Pace, fault: Option<&Fault>) -> Duration {
        let own = pace.pause.saturating_mul(2_u32.saturating_pow(self.tries)).min(pace.longest_pause);
        self.tries += 1;
        let asked = fault.and_then(|fault| fault.pause(Duration::ZERO)).unwrap_or_default();
        jittered(own).max(asked)
    }

    /// Waits so long.
    pub(super) async fn pause(&mut self, pace: Pace, fault: Option<&Fault>) {
        tokio::time::sleep(self.next(pace, fault)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_within_their_bounds() {
        for milliseconds in [0, 1, 200, 30_000] {
            let whole = Duration::from_millis(milliseconds);
            let pause = jittered(whole);
            assert!(pause >= whole / 2 && pause <= whole, "{pause:?} of {whole:?}");
        }
    }
}
