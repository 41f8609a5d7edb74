//! What all streams of a watch share: the client and its credentials, and what is told.

use std::cell::{Cell, RefCell};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::time::Duration;

use tokio::sync::mpsc;

use super::Told;
use crate::request::Connection;
use crate::source::cluster::api::{Api, Patience};
use crate::source::cluster::environment::Environment;
use crate::source::cluster::error::ClusterError;
use crate::source::cluster::fault::{Destination, Fault, client_error};
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
    /// Whether the server was away when it was last asked, and that was told.
    is_out: Cell<bool>,
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
            is_out: Cell::new(false),
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

    /// The server answered with success.
    pub(super) fn answered(&self, generation: u32) {
        let mut access = self.access.borrow_mut();
        access.proven |= access.generation == generation;
        if self.is_out.take() {
            self.say(format!("the server {} answers again; watching on", access.destination.host));
        }
    }

    /// The server is away, or says that it is. Told once, whatever number of streams meets it.
    pub(super) fn is_away(&self, fault: &Fault) {
        if !self.is_out.replace(true) {
            let access = self.access.borrow();
            let host = &access.destination.host;
            self.say(format!("the watch of {host} was cut: {fault}; trying again until it answers"));
        }
    }

    /// Has credentials anew after the server did not take those of this generation: a plugin's token has expired. Once,
    /// whatever number of streams meets it, and not again before the server has taken the new ones.
    pub(super) fn renew(&self, generation: u32) -> Result<Renewal, ClusterError> {
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
        let reach = reach::reach(&self.connection, &self.environment)?;
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

const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// As long as client-go waits at most. Source: client-go `tools/cache/reflector.go`.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

impl Backoff {
    pub(super) fn reset(&mut self) {
        self.tries = 0;
    }

    /// Tries since it went well.
    pub(super) fn tries(&self) -> u32 {
        self.tries
    }

    /// Waits; at least as long as the server asks.
    pub(super) async fn pause(&mut self, fault: Option<&Fault>) {
        let own = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(self.tries)).min(LONGEST_PAUSE);
        self.tries += 1;
        let asked = fault.and_then(|fault| fault.pause(Duration::ZERO)).unwrap_or_default();
        tokio::time::sleep(jittered(own).max(asked)).await;
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
