//! One interest: listed, then watched for as long as anybody listens.

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::hub::{Backoff, Hub, Renewal, jittered};
use super::known::Known;
use super::line::meta;
use super::{Change, ChangeKind, Interest, Told};
use crate::report::{Source, SourceState};
use crate::source::Intake;
use crate::source::cluster::error::ClusterError;
use crate::source::cluster::fault::{Asked, Fault, Status};
use crate::source::cluster::list::{List, Lister, Outcome};
use crate::source::cluster::page::Wanted;
use crate::source::cluster::path;
use crate::source::cluster::reading::Reading;

/// Answers of 403 or 404 in a row, to what could be read before, until they are believed: within ten seconds or so. A server
/// that starts answers like that before it knows all rights and resources. Only answers count, not the time that it is away.
const REFUSALS: u32 = 7;
/// The same where the list was read and the watch is denied from the beginning: the verb is missing. One more than a server
/// behind a load balancer may give that has just started.
const REFUSALS_OF_FIRST_WATCH: u32 = 2;
/// Times a version is asked for that brings nothing but an error before the list is read anew.
const TRIES_OF_VERSION: u32 = 5;
/// Times that the first list is read in part before that is believed.
const TRIES_OF_LIST: u32 = 5;
/// Times in a row that credentials are asked for anew where none can be had, or are not taken.
const TRIES_OF_CREDENTIALS: u32 = 5;

pub(super) struct Stream {
    pub(super) number: usize,
    pub(super) interest: Interest,
    pub(super) hub: Rc<Hub>,
    pub(super) known: Known,
    /// Path of the collection, once its group is known.
    path: String,
    group_version: String,
    /// Up to where all was told.
    pub(super) version: String,
    /// Whether the list is all that is wanted.
    once: bool,
    /// Whether a list was told whole.
    listed: bool,
    /// Lists that expired on their way, so that the next is read in one page: it cannot.
    in_one_page: bool,
    /// When the server accepted the watch that is under way.
    pub(super) accepted: Option<Instant>,
    /// When something came from the server last.
    pub(super) heard: Instant,
    /// Whether a watch was ever accepted.
    pub(super) has_watched: bool,
    /// Whether the last watch was accepted and then brought nothing but an error.
    pub(super) brings_errors: bool,
    trouble: Trouble,
    /// What it was given up for, while it is asked for again only now and then.
    given_up: Option<SourceState>,
}

/// What goes wrong, counted.
#[derive(Debug, Default)]
struct Trouble {
    backoff: Backoff,
    /// Refusals in a row.
    refusals: u32,
    /// Failures in a row to have credentials that the server takes.
    credentials: u32,
    /// Whether the server was away since a watch was accepted last.
    was_away: bool,
    /// Times that what was given up was asked for again.
    again: u32,
}

/// Why a watch ended, or a list.
pub(super) enum End {
    /// The server ended it, as it was asked to.
    Orderly,
    /// The version is not kept any more.
    Expired,
    /// Something went wrong.
    Fault(Fault),
    /// Nobody listens.
    Over,
}

/// Whether to go on.
enum Next {
    Watch,
    List,
    /// List, but not soon.
    Later,
    Stop,
}

impl Stream {
    pub(super) fn new(number: usize, interest: Interest, once: bool, hub: Rc<Hub>) -> Self {
        Self {
            number,
            interest,
            hub,
            known: Known::default(),
            path: String::new(),
            group_version: String::new(),
            version: String::new(),
            once,
            listed: false,
            in_one_page: false,
            accepted: None,
            heard: Instant::now(),
            has_watched: false,
            brings_errors: false,
            trouble: Trouble::default(),
            given_up: None,
        }
    }

    /// Follows the interest until nobody listens, or the cluster cannot be followed.
    pub(super) async fn run(mut self) {
        let mut next = Next::List;
        while !self.hub.is_over() {
            if matches!(next, Next::Later) {
                self.pause_for_long().await;
                next = Next::List;
            }
            let generation = self.hub.access().generation;
            let before = self.version.clone();
            let pace = self.hub.pace.get();
            self.accepted = None;
            let is_list = matches!(next, Next::List);
            let end = if is_list { self.list().await } else { self.watch().await };
            self.count(&end, is_list, self.version != before);
            next = match end {
                Ok(()) if is_list && !self.once => Next::Watch,
                Ok(()) | Err(End::Over) => Next::Stop,
                Err(End::Orderly) => {
                    // A server that ends each watch at once is not to be asked in a circle.
                    self.trouble.backoff.pause(pace, None).await;
                    Next::Watch
                }
                Err(End::Expired) => {
                    self.trouble.backoff.pause(pace, None).await;
                    Next::List
                }
                Err(End::Fault(fault)) if self.given_up.is_some() => self.after_another_look(&fault, generation).await,
                Err(End::Fault(fault)) => self.after(fault, generation, is_list).await,
            };
            if matches!(next, Next::Stop) {
                break;
            }
        }
        self.hub.forget(self.number);
    }

    /// Counts what went wrong, and forgets it where something went well. That an answer took its time is not going well.
    fn count(&mut self, end: &Result<(), End>, is_list: bool, has_advanced: bool) {
        let has_lasted = self.accepted.is_some_and(|accepted| accepted.elapsed() >= self.hub.pace.get().a_while);
        let trouble = &mut self.trouble;
        let is_error = matches!(end, Err(End::Fault(Fault::Status(_) | Fault::Answer(_))));
        if !is_list && (has_advanced || (has_lasted && !is_error)) {
            trouble.backoff.reset();
        }
        if !is_list && self.accepted.is_some() {
            self.brings_errors = is_error && !has_advanced;
        }
        match end {
            Err(End::Fault(fault)) if matches!(fault.code(), Some(403..=405)) => {
                trouble.refusals += 1;
                trouble.credentials = 0;
                // It has come back: from here on it has its time to be ready.
                if trouble.refusals == 1 {
                    trouble.backoff.reset();
                }
            }
            Err(End::Fault(fault)) if fault.code() == Some(401) => {}
            Err(End::Fault(_)) => {
                (trouble.refusals, trouble.credentials) = (0, 0);
                trouble.was_away = true;
            }
            _ => {
                (trouble.refusals, trouble.credentials) = (0, 0);
                trouble.was_away &= is_list;
            }
        }
    }

    /// Decides how to go on after a fault.
    async fn after(&mut self, fault: Fault, generation: u32, is_list: bool) -> Next {
        let again = if is_list { Next::List } else { Next::Watch };
        let pace = self.hub.pace.get();
        match fault.code() {
            Some(401) => return self.renew(fault, generation, again).await,
            Some(403 | 404) if self.listed && self.trouble.refusals < self.refusals_to_believe(&fault) => {
                self.trouble.backoff.pause(pace, Some(&fault)).await;
                return again;
            }
            Some(403..=405) => return self.end(fault).await,
            _ if !self.listed && (self.trouble.backoff.tries() >= TRIES_OF_LIST || !is_partial(&fault)) => {
                return self.end(fault).await;
            }
            _ => {}
        }
        self.hub.is_away(self.number, self.heard, &fault);
        let hub = Rc::clone(&self.hub);
        // Where it has come back to another stream, there is nothing to wait for.
        tokio::select! {
            () = self.trouble.backoff.pause(pace, Some(&fault)) => {}
            () = hub.back() => {}
        }
        // A server that answers is there, and what it says of a version again and again will not change.
        let is_answer = matches!(fault, Fault::Status(_) | Fault::Answer(_));
        if is_answer && self.trouble.backoff.tries() >= TRIES_OF_VERSION { Next::List } else { again }
    }

    /// Refusals in a row after which this one is believed.
    fn refusals_to_believe(&self, fault: &Fault) -> u32 {
        let is_first_watch = !self.has_watched && !self.trouble.was_away && self.hub.last_heard().is_none();
        if is_first_watch && fault.code() == Some(403) { REFUSALS_OF_FIRST_WATCH } else { REFUSALS }
    }

    /// Has the credentials made anew.
    async fn renew(&mut self, fault: Fault, generation: u32, again: Next) -> Next {
        let renewal = self.hub.renew(generation).await;
        if matches!(renewal, Ok(Renewal::Renewed)) {
            return again;
        }
        let pace = self.hub.pace.get();
        let is_first = self.trouble.credentials == 0;
        self.trouble.credentials += 1;
        let is_last = self.trouble.credentials > TRIES_OF_CREDENTIALS;
        match renewal {
            // A plugin may need what is away, too; and a server that starts may know nobody at first.
            Err(_) if !is_last => {
                let why = Fault::Credentials("credentials could not be had anew".to_owned());
                self.hub.is_away(self.number, self.heard, &why);
            }
            Ok(_) if self.listed && !is_last => {}
            Err(error) => return self.stop(error).await,
            Ok(_) => {
                let error = self.error(fault);
                return self.stop(error).await;
            }
        }
        if is_first {
            self.trouble.backoff.reset();
        }
        self.trouble.backoff.pause(pace, None).await;
        again
    }

    /// Waits before what was given up is asked for once more.
    async fn pause_for_long(&mut self) {
        let pace = self.hub.pace.get();
        let pause = pace.again.saturating_mul(2_u32.saturating_pow(self.trouble.again)).min(pace.longest_again);
        self.trouble.again += 1;
        tokio::time::sleep(jittered(pause)).await;
        // Its group may be served under another version by then.
        self.path.clear();
    }

    /// What was given up was asked for once more, in vain.
    async fn after_another_look(&mut self, fault: &Fault, generation: u32) -> Next {
        match fault.code() {
            // Others that meet it tell of it where it does not help.
            Some(401) => drop(self.hub.renew(generation).await),
            // With the resource, all of its objects are gone.
            Some(404) if self.given_up == Some(SourceState::NotInstalled) => {
                self.known.list_begins();
                if self.tell_missed().await.is_err() {
                    return Next::Stop;
                }
            }
            _ => {}
        }
        Next::Later
    }

    async fn stop(&self, error: ClusterError) -> Next {
        self.hub.tell(Err(error)).await;
        Next::Stop
    }

    /// Gives the interest up for now: what became of it is told as a reading tells it. Only what every interest must meet,
    /// too, is an error of the whole. That a resource is not served says nothing of its objects before a second look.
    async fn end(&mut self, fault: Fault) -> Next {
        let state = match &fault {
            Fault::Refused | Fault::Tls { .. } | Fault::Unreachable(_) | Fault::Lookup(_) | Fault::Credentials(_) => {
                let error = self.error(fault);
                return self.stop(error).await;
            }
            Fault::Status(Status { code: 403, .. }) => SourceState::Denied,
            Fault::Status(Status { code: 404, .. }) => SourceState::NotInstalled,
            _ => SourceState::Unreadable,
        };
        let message = match &fault {
            Fault::Status(status) if state == SourceState::Denied => status.message.clone(),
            fault => fault.to_string(),
        };
        let message = Some(message).filter(|_| state != SourceState::NotInstalled);
        let source = Source { state, message, ..self.source() };
        let error = if state == SourceState::NotInstalled {
            ClusterError::NotInstalled { resource: self.interest.resource.name().to_owned() }
        } else {
            self.error(fault)
        };
        self.hub.forget(self.number);
        self.given_up = Some(state);
        let is_heard = self.hub.tell(Ok(Told::Ended { interest: self.number, source, error })).await;
        if is_heard && !self.once { Next::Later } else { Next::Stop }
    }

    fn error(&self, fault: Fault) -> ClusterError {
        let resource = self.interest.resource.rbac_name();
        let asked = Asked { resource: &resource, namespace: self.interest.namespace.as_deref() };
        match fault.into_error(&self.hub.access().destination, asked) {
            ClusterError::Denied { resource, namespace, message, .. } => {
                ClusterError::Denied { resource, namespace, message, verbs: "get, list, watch" }
            }
            error => error,
        }
    }

    fn source(&self) -> Source {
        Source::of_cluster(&self.hub.cluster, self.interest.resource.name(), SourceState::Read)
    }

    /// Reads the list and tells what is new in it.
    async fn list(&mut self) -> Result<(), End> {
        let hub = Rc::clone(&self.hub);
        let access = hub.access();
        // Once it was listed, what is tried again is told for all streams at once.
        let (loud, said) = (!self.listed && self.given_up.is_none(), Rc::clone(&hub));
        let mut talk = move |line: &str| {
            if loud {
                said.say(line);
            }
        };
        let api = hub.api(&access, &mut talk);
        let chunk_size = if self.in_one_page { 0 } else { hub.chunk_size };
        // Nothing is put into the intake: the objects go on as they are.
        let lister = Lister { api: &api, intake: Arc::new(Mutex::new(Intake::default())), chunk_size };
        let namespace = self.interest.namespace.clone();
        if self.path.is_empty() {
            let reading = Reading { lister: lister.clone(), namespace: namespace.as_deref() };
            self.find(&reading).await?;
        }
        let (raw, objects) = mpsc::channel(super::WAITING);
        let list =
            List { resource: self.interest.resource, path: self.asking(&[]), wanted: Wanted::All, raw: Some(raw) };
        self.known.list_begins();
        let reading = async move { lister.read(&list).await };
        let (read, taken) = tokio::join!(reading, self.take_listed(objects));
        let skipped = taken?;
        let outcome = read.map_err(End::Fault)?;
        self.heard = Instant::now();
        hub.proven(access.generation);
        // Where the watch brings errors only, that the list can be read is no end of it.
        if !self.brings_errors {
            hub.answered(self.number);
        }
        self.listed_whole(outcome, skipped).await
    }

    /// Notes that a list was read; one read in part is read once more.
    async fn listed_whole(&mut self, outcome: Outcome, skipped: u64) -> Result<(), End> {
        if outcome.state == SourceState::Truncated {
            return Err(End::Fault(Fault::Dropped(outcome.notes.join("; "))));
        }
        // Of a list that expired on the way the first pages are older than can be watched from.
        if !outcome.notes.is_empty() && !self.in_one_page {
            self.in_one_page = true;
            return Err(End::Expired);
        }
        self.in_one_page = false;
        self.tell_missed().await?;
        self.version.clone_from(&outcome.version);
        let message = outcome.message();
        let state = if skipped + outcome.skips.count > 0 { SourceState::Unreadable } else { SourceState::Read };
        let source = Source { state, skipped: skipped + outcome.skips.count, message, ..self.source() };
        self.given_up = None;
        self.trouble.again = 0;
        let anew = std::mem::replace(&mut self.listed, true);
        self.tell(Told::Synced { interest: self.number, source, anew }).await
    }

    /// Finds out where the resource is served.
    async fn find(&mut self, reading: &Reading<'_>) -> Result<(), End> {
        let resource = self.interest.resource;
        let version = match resource.group() {
            "" => "v1".to_owned(),
            _ => match reading.group_of(resource).await.map_err(End::Fault)? {
                Some(version) => version,
                None => return Err(End::Fault(Fault::Status(Status { code: 404, ..Status::default() }))),
            },
        };
        self.path = path::of(&version, self.interest.namespace.as_deref(), resource.name());
        self.group_version = version;
        Ok(())
    }

    /// Path and query, with what selects.
    pub(super) fn asking(&self, more: &[(&str, &str)]) -> String {
        let Interest { labels, fields, .. } = &self.interest;
        let selectors = [("labelSelector", labels.as_str()), ("fieldSelector", fields.as_str())];
        let all = selectors.iter().filter(|(_, value)| !value.is_empty()).chain(more);
        let members: Vec<String> = all.map(|(name, value)| format!("{name}={}", path::encode(value))).collect();
        if members.is_empty() { self.path.clone() } else { format!("{}?{}", self.path, members.join("&")) }
    }

    /// Tells of listed objects those that are new; how many could not be read.
    async fn take_listed(&mut self, mut objects: mpsc::Receiver<Bytes>) -> Result<u64, End> {
        let mut unreadable = 0;
        let kind = if self.listed { ChangeKind::Set } else { ChangeKind::Listed };
        while let Some(object) = objects.recv().await {
            let Some(meta) = meta(&object) else {
                unreadable += 1;
                continue;
            };
            if self.known.note(&meta) {
                let version = meta.resource_version.clone().into_owned();
                self.tell_change(kind, version, object.clone()).await?;
            }
        }
        Ok(unreadable)
    }

    async fn tell_missed(&mut self) -> Result<(), End> {
        for object in self.known.take_missed(self.interest.resource.kind(), &self.group_version) {
            self.tell_change(ChangeKind::Missed, String::new(), object).await?;
        }
        Ok(())
    }

    pub(super) async fn tell_change(&self, kind: ChangeKind, version: String, object: Bytes) -> Result<(), End> {
        let change = Change { interest: self.number, resource: self.interest.resource, kind, version, object };
        self.tell(Told::Change(change)).await
    }

    pub(super) async fn tell(&self, told: Told) -> Result<(), End> {
        if self.hub.tell(Ok(told)).await { Ok(()) } else { Err(End::Over) }
    }
}

/// Whether a list was read in part: that may go well the next time, unlike what was refused.
fn is_partial(fault: &Fault) -> bool {
    matches!(fault, Fault::Dropped(_))
}
