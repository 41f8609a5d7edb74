//! A [`Snapshot`] that is kept up to date: what a reading lists, listed once and then watched.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::detail::MOST_NODES;
use super::environment::Environment;
use super::error::ClusterError;
use super::others::ALL as OTHERS;
use super::reading::OF_WORKLOADS;
use super::watch::{Change, ChangeKind, Interest, Pace, Told, Watch};
use super::{now, tell_of};
use crate::report::{Source, SourceState};
use crate::request::{Connection, Scope, TargetKind};
use crate::source::{Intake, Resource, Snapshot};

/// Followed whole, as far as the namespace takes, beside what a reading reads of other workloads.
const CORE: [Resource; 4] = [Resource::Jobs, Resource::Pods, Resource::CronJobs, Resource::JobSets];

/// What an explanation asks for besides.
const FOR_ONE: [Resource; 4] =
    [Resource::Claims, Resource::VolumeSnapshots, Resource::PodCheckpoints, Resource::PodSnapshots];

/// What a reading knows, from now on. Compact records are kept of what may tell of a failure, as a reading keeps them, and
/// nothing of what is gone.
pub struct Live<'a> {
    watch: Watch<'a>,
    intake: Intake,
    interests: Vec<Followed>,
    /// The nodes that are followed, each with its interest.
    nodes: BTreeMap<String, usize>,
    /// Nodes that pods of interest are on, where they are more than are followed.
    nodes_in_all: Option<usize>,
    /// Objects that cannot be read as they are now, by resource and uid: their names.
    unreadable: BTreeMap<Resource, BTreeMap<String, String>>,
    /// Whether nodes are read for whatever pods are on them.
    all_nodes: bool,
    begun: bool,
}

/// One interest, and what became of it.
struct Followed {
    resource: Resource,
    /// What became of it last; nothing is told yet where there is none.
    source: Option<Source>,
    /// Of a node: the object as its names tell it, so that it can be forgotten.
    names: Option<Vec<u8>>,
    /// Whether it is still followed.
    is_on: bool,
}

/// What of an object names it.
#[derive(Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Named {
    api_version: String,
    kind: String,
    metadata: Names,
}

#[derive(Default, serde::Deserialize, serde::Serialize)]
#[serde(default)]
struct Names {
    namespace: String,
    name: String,
    uid: String,
}

/// Unreadable objects that are named.
const NAMED: usize = 3;

/// Why [`Live::next`] came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Something changed; the first time, all that was there has been read.
    Changed,
    /// Nothing did, for as long as was asked.
    Idle,
    /// Ctrl-C or SIGTERM came.
    Interrupted,
}

/// Quiet that ends a burst of changes.
const QUIET: Duration = Duration::from_millis(200);

impl<'a> Live<'a> {
    /// Begins to follow what `scope` asks for. Targets and a subject are followed with their whole namespace: what bears on
    /// them is not known beforehand.
    pub fn open(
        environment: &Environment,
        connection: &Connection,
        scope: &Scope,
        talk: &'a mut dyn FnMut(&str),
    ) -> Result<Self, ClusterError> {
        let watch = Watch::open(environment, connection, scope.chunk_size, talk)?;
        let mut live = Self {
            watch,
            intake: Intake::live(scope.into()),
            interests: Vec::new(),
            nodes: BTreeMap::new(),
            nodes_in_all: None,
            unreadable: BTreeMap::new(),
            all_nodes: scope.nodes || scope.subject.is_some(),
            begun: false,
        };
        for interest in interests(scope) {
            live.follow(interest);
        }
        Ok(live)
    }

    fn follow(&mut self, interest: Interest) -> usize {
        let resource = interest.resource;
        self.interests.push(Followed { resource, source: None, names: None, is_on: true });
        self.watch.add(interest)
    }

    /// From now on waits as long as that.
    pub fn set_pace(&mut self, pace: Pace) {
        self.watch.set_pace(pace);
    }

    /// How long ago the server was last heard of, while it is away: what is known is as of then.
    pub fn silent_for(&self) -> Option<Duration> {
        self.watch.silent_for()
    }

    /// Waits for changes and takes all of a burst, at most for `longest`. Where nothing comes, it waits for `idle`; for ever
    /// where that is not told. The first time it waits until all that is there was read.
    ///
    /// An error means that Jobs or pods cannot be read, or what [`Watch::next`] says.
    pub fn next(&mut self, longest: Duration, idle: Option<Duration>) -> Result<Turn, ClusterError> {
        let mut first_change = None;
        loop {
            let at_most = match first_change {
                _ if !self.begun => None,
                None => idle,
                Some(began) => Some(QUIET.min(longest.saturating_sub(Instant::elapsed(&began)))),
            };
            match self.watch.next(at_most)? {
                Told::Interrupted => return Ok(Turn::Interrupted),
                Told::Nothing if first_change.is_some() => break,
                Told::Nothing => return Ok(Turn::Idle),
                Told::Version { .. } => continue,
                Told::Change(change) => self.take(&change),
                Told::Synced { interest, source, .. } => self.synced(interest, source),
                Told::Ended { interest, source, error } => self.ended(interest, source, error)?,
            }
            if !self.begun {
                self.begin();
                if self.begun {
                    return Ok(Turn::Changed);
                }
                continue;
            }
            let began = *first_change.get_or_insert_with(Instant::now);
            if began.elapsed() >= longest {
                break;
            }
        }
        self.follow_nodes();
        Ok(Turn::Changed)
    }

    /// Once all is listed, nodes that matter are, too; then it has begun.
    fn begin(&mut self) {
        if !self.is_synced() {
            return;
        }
        self.follow_nodes();
        self.begun = self.is_synced();
        if self.begun {
            let sources = self.sources();
            tell_of(&sources, &mut |line| self.watch.say(line));
        }
    }

    fn is_synced(&self) -> bool {
        self.interests.iter().all(|followed| !followed.is_on || followed.source.is_some())
    }

    fn take(&mut self, change: &Change) {
        let followed = &mut self.interests[change.interest];
        if !followed.is_on {
            return;
        }
        if change.resource == Resource::Nodes && followed.names.is_none() {
            followed.names = Some(change.object.to_vec());
        }
        match change.kind {
            ChangeKind::Listed | ChangeKind::Set => self.set(change),
            ChangeKind::Deleted | ChangeKind::Missed => {
                self.note_unreadable(change, None);
                self.intake.forget(&change.object);
            }
        }
    }

    /// Takes an object as it is now. Of one that cannot be read nothing is known any more: what it was before is not what
    /// it is.
    fn set(&mut self, change: &Change) {
        self.intake.set(&change.object);
        let why = self.intake.take_skipped().0.into_iter().next().map(|skipped| skipped.why);
        if why.is_some() {
            self.intake.forget(&change.object);
        }
        self.note_unreadable(change, why);
    }

    /// Notes whether an object can be read, and says so the first time that it cannot.
    fn note_unreadable(&mut self, change: &Change, why: Option<String>) {
        let of_resource = self.unreadable.entry(change.resource).or_default();
        if why.is_none() && of_resource.is_empty() {
            return;
        }
        let Named { metadata: Names { namespace, name, uid }, .. } =
            serde_json::from_slice(&change.object).unwrap_or_default();
        let Some(why) = why else {
            of_resource.remove(&uid);
            return;
        };
        let name = if namespace.is_empty() { name } else { format!("{namespace}/{name}") };
        let is_new = of_resource.insert(uid, name.clone()).is_none();
        if is_new && self.begun {
            self.watch.say(&format!("{}: {name} passed over as unreadable: {why}", change.resource.name()));
        }
    }

    fn synced(&mut self, interest: usize, source: Source) {
        let followed = &mut self.interests[interest];
        let was_given_up = followed.source.as_ref().is_some_and(|source| is_given_up(source.state));
        followed.source = Some(source);
        if was_given_up && self.begun && followed.is_on {
            let name = followed.resource.name();
            self.watch.say(&format!("{name} can be watched now"));
        }
    }

    fn ended(&mut self, interest: usize, source: Source, error: ClusterError) -> Result<(), ClusterError> {
        let resource = self.interests[interest].resource;
        if resource.is_core() {
            return Err(error);
        }
        let was_read = self.interests[interest].source.as_ref().is_some_and(|source| !is_given_up(source.state));
        let is_on = self.interests[interest].is_on;
        if self.begun && is_on && (was_read || source.state != SourceState::NotInstalled) {
            self.watch.say(&format!("{} are not watched any more: {error}", resource.name()));
        }
        self.interests[interest].source = Some(source);
        Ok(())
    }

    /// Follows the nodes that pods of interest are on, by name, and no other; no more than a reading reads.
    fn follow_nodes(&mut self) {
        let names = if self.all_nodes { self.intake.nodes_of_pods() } else { self.intake.nodes_of_late_pods(now()) };
        self.nodes_in_all = Some(names.len()).filter(|all| *all > MOST_NODES);
        let wanted: BTreeSet<&str> = names.iter().take(MOST_NODES).map(String::as_str).collect();
        let mut unwanted = Vec::new();
        self.nodes.retain(|name, interest| {
            let stays = wanted.contains(name.as_str());
            if !stays {
                unwanted.push(*interest);
            }
            stays
        });
        for interest in unwanted {
            let followed = &mut self.interests[interest];
            followed.is_on = false;
            if let Some(names) = followed.names.take() {
                self.intake.forget(&names);
            }
            self.watch.stop(interest);
        }
        for name in names.iter().take(MOST_NODES) {
            if !self.nodes.contains_key(name) {
                let interest = self.follow(Interest::named(Resource::Nodes, None, name));
                self.nodes.insert(name.clone(), interest);
            }
        }
    }

    fn sources(&self) -> Vec<Source> {
        Resource::ALL.into_iter().map(|resource| self.source(resource)).collect()
    }

    /// What became of a resource: of several interests the one that is worst off counts, as it is now.
    fn source(&self, resource: Resource) -> Source {
        let of_resource = self.interests.iter().filter(|followed| followed.is_on && followed.resource == resource);
        let told: Vec<&Source> = of_resource.filter_map(|followed| followed.source.as_ref()).collect();
        let skipped: u64 = told.iter().map(|source| source.skipped).sum();
        let worst = told.into_iter().max_by_key(|source| source.state.weight()).cloned();
        let cluster = self.watch.cluster();
        let mut source = worst.unwrap_or_else(|| Source::of_cluster(cluster, resource.name(), SourceState::NotAsked));
        source.objects = self.intake.tally(resource).objects;
        source.skipped = skipped;
        let mut notes: Vec<String> = source.message.take().into_iter().collect();
        if let Some(unreadable) = self.unreadable.get(&resource).filter(|unreadable| !unreadable.is_empty()) {
            source.skipped += unreadable.len() as u64;
            if source.state == SourceState::Read {
                source.state = SourceState::Unreadable;
            }
            let named: Vec<&str> = unreadable.values().take(NAMED).map(String::as_str).collect();
            let more = if unreadable.len() > NAMED { ", …" } else { "" };
            let objects = crate::words::counted(unreadable.len(), "object");
            notes.push(format!("{objects} passed over as unreadable: {}{more}", named.join(", ")));
        }
        if let (Resource::Nodes, Some(all)) = (resource, self.nodes_in_all) {
            source.state = SourceState::Truncated;
            notes.push(format!("only {MOST_NODES} of {all} nodes are read, those with hanging pods first"));
        }
        source.message = Some(notes.join("; ")).filter(|message| !message.is_empty());
        source
    }

    /// What there is now.
    pub fn snapshot(&self) -> Snapshot {
        let cluster = Some(self.watch.cluster().to_owned());
        Snapshot { cluster, sources: self.sources(), ..self.intake.snapshot() }
    }

    /// Says something to the user.
    pub fn say(&mut self, line: &str) {
        self.watch.say(line);
    }
}

/// Whether an interest is only asked for again now and then.
const fn is_given_up(state: SourceState) -> bool {
    !matches!(state, SourceState::Read | SourceState::Unreadable)
}

/// What a reading of the same scope lists.
fn interests(scope: &Scope) -> Vec<Interest> {
    let namespace = scope.namespace.as_deref();
    let mut all: Vec<Interest> =
        CORE.into_iter().chain(OTHERS).map(|resource| Interest::all(resource, namespace)).collect();
    let events = |namespace, fields: String| Interest { fields, ..Interest::all(Resource::Events, namespace) };
    all.push(events(namespace, OF_WORKLOADS.to_owned()));
    let Some(subject) = &scope.subject else { return all };
    all.push(events(namespace, "involvedObject.kind=Pod,reason=Scheduled".to_owned()));
    all.extend(FOR_ONE.into_iter().map(|resource| Interest::all(resource, namespace)));
    if subject.kind == Some(TargetKind::Node) {
        all.push(Interest::named(Resource::Nodes, None, &subject.name));
        all.push(events(None, format!("involvedObject.kind=Node,involvedObject.name={}", subject.name)));
    }
    all
}
