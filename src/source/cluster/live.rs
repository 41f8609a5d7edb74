//! A [`Snapshot`] that is kept up to date: what a reading lists, listed once and then watched.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::detail::MOST_NODES;
use super::environment::Environment;
use super::error::ClusterError;
use super::reading::OF_WORKLOADS;
use super::watch::{Change, ChangeKind, Interest, Told, Watch};
use super::{now, tell_of};
use crate::report::{Source, SourceState};
use crate::request::{Connection, Scope, TargetKind};
use crate::source::{Intake, Resource, Snapshot};

/// Resources followed whole, as far as the namespace takes.
const FOLLOWED: [Resource; 16] = [
    Resource::Jobs,
    Resource::Pods,
    Resource::CronJobs,
    Resource::JobSets,
    Resource::Deployments,
    Resource::ReplicaSets,
    Resource::StatefulSets,
    Resource::DaemonSets,
    Resource::ControllerRevisions,
    Resource::LeaderWorkerSets,
    Resource::DisaggregatedSets,
    Resource::Sandboxes,
    Resource::SandboxClaims,
    Resource::SandboxWarmPools,
    Resource::TrainJobs,
    Resource::Workloads,
];

/// What an explanation asks for besides.
const FOR_ONE: [Resource; 4] =
    [Resource::Claims, Resource::VolumeSnapshots, Resource::PodCheckpoints, Resource::PodSnapshots];

/// What a reading knows, from now on. Compact records are kept of what may tell of a failure, as a reading keeps them, and
/// nothing of what is gone.
pub struct Live<'a> {
    watch: Watch<'a>,
    intake: Intake,
    interests: Vec<Interest>,
    synced: Vec<bool>,
    sources: BTreeMap<Resource, Source>,
    nodes: BTreeSet<String>,
    /// Whether nodes are read for whatever pods are on them.
    all_nodes: bool,
    begun: bool,
}

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
            synced: Vec::new(),
            sources: BTreeMap::new(),
            nodes: BTreeSet::new(),
            all_nodes: scope.nodes || scope.subject.is_some(),
            begun: false,
        };
        for interest in interests(scope) {
            live.follow(interest);
        }
        Ok(live)
    }

    fn follow(&mut self, interest: Interest) {
        self.watch.add(interest.clone());
        self.interests.push(interest);
        self.synced.push(false);
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
        if !self.synced.iter().all(|synced| *synced) {
            return;
        }
        self.follow_nodes();
        self.begun = self.synced.iter().all(|synced| *synced);
        if self.begun {
            let sources = self.sources();
            tell_of(&sources, &mut |line| self.watch.say(line));
        }
    }

    fn take(&mut self, change: &Change) {
        match change.kind {
            ChangeKind::Listed | ChangeKind::Set => self.intake.set(&change.object),
            ChangeKind::Deleted | ChangeKind::Missed => self.intake.forget(&change.object),
        }
    }

    fn synced(&mut self, interest: usize, source: Source) {
        self.synced[interest] = true;
        self.note(self.interests[interest].resource, source);
    }

    fn ended(&mut self, interest: usize, source: Source, error: ClusterError) -> Result<(), ClusterError> {
        let resource = self.interests[interest].resource;
        if resource.is_core() {
            return Err(error);
        }
        self.synced[interest] = true;
        if self.begun && source.state != SourceState::NotInstalled {
            self.watch.say(&format!("{} are not watched any more: {error}", resource.name()));
        }
        self.note(resource, source);
        Ok(())
    }

    /// Of several lists of one resource, what is worse counts.
    fn note(&mut self, resource: Resource, source: Source) {
        let is_good = |source: &Source| source.state == SourceState::Read;
        let known = self.sources.entry(resource).or_insert_with(|| source.clone());
        if is_good(known) {
            *known = source;
        }
    }

    /// Follows the nodes that pods of interest are on, by name; no more than a reading reads.
    fn follow_nodes(&mut self) {
        let names = if self.all_nodes { self.intake.nodes_of_pods() } else { self.intake.nodes_of_late_pods(now()) };
        for name in names {
            if self.nodes.len() >= MOST_NODES {
                return;
            }
            if self.nodes.insert(name.clone()) {
                self.follow(Interest::named(Resource::Nodes, None, &name));
            }
        }
    }

    fn sources(&self) -> Vec<Source> {
        let not_asked = |resource: Resource| Source {
            cluster: Some(self.watch.cluster().to_owned()),
            resource: resource.name().to_owned(),
            file: None,
            state: SourceState::NotAsked,
            objects: 0,
            skipped: 0,
            message: None,
        };
        let source = |resource: Resource| {
            let source = self.sources.get(&resource).cloned().unwrap_or_else(|| not_asked(resource));
            Source { objects: self.intake.tally(resource).objects, ..source }
        };
        Resource::ALL.into_iter().map(source).collect()
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

/// What a reading of the same scope lists.
fn interests(scope: &Scope) -> Vec<Interest> {
    let namespace = scope.namespace.as_deref();
    let mut all: Vec<Interest> = FOLLOWED.into_iter().map(|resource| Interest::all(resource, namespace)).collect();
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
