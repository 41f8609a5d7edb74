//! What became of each resource, as the watch tells of it, and up to when all of it is known.

use std::collections::BTreeMap;

use super::logs::Logs;
use crate::model::{ObjectView, Time};
use crate::report::{Source, SourceState};
use crate::source::cluster::{Interest, Watch};
use crate::source::{Filter, Intake, ListHead, ObjectSink as _, Position, RecordedSource, Resource};

/// What became of each resource, as its interests are told of.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) by_resource: BTreeMap<Resource, Source>,
    interests: Vec<Followed>,
    /// Objects that cannot be read, and why, by their uids.
    unreadable: BTreeMap<(Resource, String), String>,
}

#[derive(Debug)]
struct Followed {
    resource: Resource,
    /// Whether it was told of.
    is_told: bool,
    /// What became of it the last time.
    source: Option<Source>,
    /// Whether it is followed: not where it is denied, or not installed.
    is_watched: bool,
    /// Up to when all of it is known: when the server last said anything of it.
    current: Option<Time>,
}

impl Sources {
    pub(super) fn follow(&mut self, watch: &mut Watch, step: Vec<Interest>, once: bool) {
        for interest in step {
            let resource = interest.resource;
            self.interests.push(Followed { resource, is_told: false, source: None, is_watched: true, current: None });
            if once {
                watch.read(interest)
            } else {
                watch.add(interest)
            };
        }
    }

    /// Notes what became of an interest; whether all of its resource have been told of.
    pub(super) fn note(&mut self, interest: usize, resource: Resource, source: Source) -> bool {
        if let Some(told) = self.interests.get_mut(interest) {
            told.is_told = true;
            told.source = Some(source);
        }
        // Of several lists of one resource, what is worse counts, for as long as it is so.
        let of_resource = self.interests.iter().filter(|told| told.resource == resource);
        let worse = of_resource.filter_map(|told| told.source.as_ref()).fold(None, |worse: Option<Source>, source| {
            let skipped = source.skipped + worse.as_ref().map_or(0, |worse| worse.skipped);
            let worse = worse.filter(|worse| worse.state.weight() > source.state.weight());
            Some(Source { skipped, ..worse.unwrap_or_else(|| source.clone()) })
        });
        self.by_resource.extend(worse.map(|source| (resource, source)));
        self.interests.iter().all(|told| told.resource != resource || told.is_told)
    }

    /// Notes that the server said something of an interest; up to when all of it was known before.
    pub(super) fn is_current(&mut self, interest: usize, at: Time) -> Option<Time> {
        let told = self.interests.get_mut(interest)?;
        told.is_watched = true;
        told.current.replace(at)
    }

    /// Notes that an interest is not followed any more.
    pub(super) fn ended(&mut self, interest: usize) {
        if let Some(told) = self.interests.get_mut(interest) {
            told.is_watched = false;
        }
    }

    /// Up to when all is known of all that is followed; `None` where the server has said nothing yet.
    pub(super) fn as_of(&self) -> Option<Time> {
        let followed = self.interests.iter().filter(|told| told.is_watched);
        followed.filter_map(|told| told.current).min()
    }

    pub(super) fn are_all_told(&self) -> bool {
        self.interests.iter().all(|told| told.is_told)
    }

    pub(super) fn resource(&self, interest: usize) -> Option<Resource> {
        self.interests.get(interest).map(|told| told.resource)
    }

    /// Notes an object that cannot be read; its name, where that is new.
    pub(super) fn unreadable(&mut self, resource: Resource, object: &[u8], why: &str) -> Option<String> {
        let (uid, name) = names_of(object);
        let is_new = self.unreadable.insert((resource, uid), format!("{name}: {why}")).is_none();
        is_new.then(|| format!("{} {name} cannot be read and is left out: {why}", resource.name()))
    }

    /// Notes that an object can be read, or is gone.
    pub(super) fn readable(&mut self, resource: Resource, object: &[u8]) {
        if !self.unreadable.is_empty() {
            self.unreadable.remove(&(resource, names_of(object).0));
        }
    }

    fn told(&self) -> impl Iterator<Item = Source> {
        self.by_resource.iter().map(|(resource, source)| {
            let mut source = source.clone();
            let mut own = self.unreadable.iter().filter(|((of, _), _)| of == resource);
            let count = own.clone().count() as u64;
            if let Some((_, first)) = own.next() {
                source.skipped += count;
                if source.state == SourceState::Read {
                    source.state = SourceState::Unreadable;
                }
                let what = if count == 1 { "1 object" } else { &format!("{count} objects") };
                source.message.get_or_insert_with(|| format!("{what} could not be read and left out: {first}"));
            }
            source
        })
    }

    /// As a recording tells them.
    pub(super) fn recorded(&self, logs: Option<&Logs>) -> Vec<RecordedSource> {
        self.told().map(|source| RecordedSource::of(&source)).chain(logs.map(Logs::source)).collect()
    }

    /// As a report tells them.
    pub(super) fn all(&self, logs: Option<&Logs>) -> Vec<Source> {
        let cluster = self.by_resource.values().find_map(|source| source.cluster.clone());
        let of_logs = logs.map(Logs::source).map(|of| Source {
            cluster,
            resource: of.resource,
            file: None,
            state: of.state,
            objects: 0,
            skipped: of.skipped,
            message: of.message,
        });
        self.told().chain(of_logs).collect()
    }
}

/// Why a reading could not read an object, as it would say.
pub(super) fn why_unreadable(object: &[u8]) -> Option<String> {
    let mut intake = Intake::new(Filter::default());
    intake.object(object, &ListHead::default(), Position { object: 1, byte: 0 });
    intake.take_skipped().0.into_iter().next().map(|skipped| skipped.why)
}

/// An object's uid and how it is called.
fn names_of(object: &[u8]) -> (String, String) {
    let Ok(view) = serde_json::from_slice::<ObjectView>(object) else { return (String::new(), "(no name)".to_owned()) };
    let metadata = &view.metadata;
    let name = match metadata.namespace() {
        "" => metadata.name().to_owned(),
        namespace => format!("{namespace}/{}", metadata.name()),
    };
    (metadata.uid().map_or_else(|| name.clone(), |uid| uid.to_string()), name)
}
