mod journal;
mod live;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde::Deserialize;

use super::Ending;
use super::kind::{Kind, Shape};
use super::recorded::Recorded;
use super::snapshot::{Resource, Snapshot};
use super::splitter::{ListHead, ObjectSink, Position, Splitter};
use crate::model::{
    Claim, ClaimView, ControllerRevisionView, CronJob, CronJobView, DaemonSet, DaemonSetView, Deployment,
    DeploymentView, DisaggregatedSet, DisaggregatedSetView, Event, EventView, Interner, Job, JobSet, JobSetView,
    JobView, LeaderWorkerSet, LeaderWorkerSetView, MetaView, Node, NodeView, Owner, Pod, PodCheckpointView,
    PodSnapshotView, PodView, Queued, QueuedView, ReplicaSetView, Revision, Sandbox, SandboxClaim, SandboxClaimView,
    SandboxView, SandboxWarmPool, SandboxWarmPoolView, StatefulSet, StatefulSetView, TEARDOWN_PATIENCE_SECONDS, Taken,
    Time, TrainJob, TrainJobView, View, VolumeSnapshotView, Word,
};
use crate::request::{Scope, Selector, Subject};
use live::Live;

/// What of the objects read is wanted.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only this namespace.
    pub namespace: Option<String>,
    /// Only objects with these labels.
    pub selector: Selector,
    /// Also Events that tell where pods ran whose names begin with this; those of `JobSet`s where it is not given.
    pub pods_of: Option<String>,
    /// A pod to keep even if nothing about it speaks of a failure.
    pub pod: Option<String>,
}

impl From<&Scope> for Filter {
    fn from(scope: &Scope) -> Self {
        Self {
            namespace: scope.namespace.clone(),
            selector: scope.selector.clone(),
            pods_of: scope.subject.as_ref().map(Subject::pods_begin_with),
            pod: scope.subject.as_ref().map(|subject| subject.name.clone()),
        }
    }
}

/// Counts of one resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Objects read, each once.
    pub objects: u64,
    /// Objects that could not be read.
    pub skipped: u64,
}

/// An object that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Where it stands.
    pub at: Position,
    /// Why.
    pub why: String,
}

/// Takes objects as bytes, keeps what may tell of a failure, and forgets the rest at once.
#[derive(Debug, Default)]
pub struct Intake {
    filter: Filter,
    interner: Interner,
    /// Newest `resourceVersion` seen of each object, by a hash of its uid: an object seen twice counts once.
    seen: HashMap<u64, Seen>,
    jobs: Vec<Option<Job>>,
    pods: Vec<Option<Pod>>,
    /// Pods that are fine and were not kept, by their owner and node.
    quiet_pods: HashMap<(Arc<Owner>, Word), u32>,
    cron_jobs: Vec<Option<CronJob>>,
    job_sets: Vec<Option<JobSet>>,
    events: Vec<Option<Event>>,
    nodes: Vec<Option<Node>>,
    claims: Vec<Option<Claim>>,
    volume_snapshots: Vec<Option<Taken>>,
    pod_checkpoints: Vec<Option<Taken>>,
    pod_snapshots: Vec<Option<Taken>>,
    deployments: Vec<Option<Deployment>>,
    stateful_sets: Vec<Option<StatefulSet>>,
    daemon_sets: Vec<Option<DaemonSet>>,
    revisions: Vec<Option<Revision>>,
    leader_worker_sets: Vec<Option<LeaderWorkerSet>>,
    disaggregated_sets: Vec<Option<DisaggregatedSet>>,
    sandboxes: Vec<Option<Sandbox>>,
    sandbox_claims: Vec<Option<SandboxClaim>>,
    sandbox_warm_pools: Vec<Option<SandboxWarmPool>>,
    train_jobs: Vec<Option<TrainJob>>,
    queued: Vec<Option<Queued>>,
    tallies: BTreeMap<Resource, Tally>,
    ignored: BTreeMap<String, u64>,
    newest: Option<Time>,
    skipped: Vec<Skipped>,
    skipped_count: u64,
    recognised: u64,
    lists: u64,
    /// Lists that never told their kind.
    untitled_lists: u64,
    /// Lists around the one being read.
    depth: u32,
    /// What recordings among the input tell of themselves.
    recorded: Recorded,
    /// What a journal tells the deletion of, by the keys of `seen`.
    gone: HashMap<u64, Kind>,
    /// Of an intake that follows a cluster.
    live: Option<Live>,
}

/// Lists within lists that are looked into. Nobody makes more than one; each takes stack and a buffer.
const DEEPEST_LIST: u32 = 3;
/// Skipped objects that are named one by one; the rest is only counted.
const NAMED_SKIPS: usize = 5;
/// Kinds that are counted by name.
const NAMED_KINDS: usize = 1000;
/// Stands for the kind of what tells none.
const NO_KIND: &str = "(no kind)";
const NOT_KEPT: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Seen {
    version: u64,
    /// How far the object's life had come; decides where versions are missing.
    stage: u8,
    /// Index in its list, or [`NOT_KEPT`].
    kept: u32,
}

impl Intake {
    /// An intake that keeps what `filter` asks for.
    pub fn new(filter: Filter) -> Self {
        Self { filter, ..Self::default() }
    }

    /// Takes all objects of a stream of JSON.
    pub fn read_json(&mut self, reader: impl std::io::Read) -> std::io::Result<Ending> {
        Splitter::new(reader).run(self)
    }

    /// Counts of a resource so far.
    pub fn tally(&self, resource: Resource) -> Tally {
        self.tallies.get(&resource).copied().unwrap_or_default()
    }

    /// Objects of any kind so far, each reading of one counted, and whether wanted or not.
    pub fn recognised(&self) -> u64 {
        self.recognised
    }

    /// Lists so far. An empty one is an answer, too: there was nothing to dump.
    pub fn lists(&self) -> u64 {
        self.lists
    }

    /// Lists that told their version and never their kind: kubectl writes it behind the items, so that one in YAML, which has no closing
    /// brace, was cut off.
    pub fn untitled_lists(&self) -> u64 {
        self.untitled_lists
    }

    /// The nodes of the pods kept so far, each once: those first on which a pod hangs that was asked to end, then those with
    /// most of them.
    pub fn nodes_of_pods(&self) -> Vec<String> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for node in self.pods.iter().flatten().filter_map(|pod| pod.node.as_deref()) {
            *counts.entry(node).or_default() += 1;
        }
        let mut pods: Vec<&Pod> = self.pods.iter().flatten().filter(|pod| pod.node.is_some()).collect();
        let count = |pod: &Pod| pod.node.as_deref().and_then(|node| counts.get(node).copied());
        pods.sort_by(|a, b| {
            let hangs = b.is_terminating().cmp(&a.is_terminating());
            hangs.then_with(|| count(b).cmp(&count(a))).then_with(|| a.node.cmp(&b.node))
        });
        nodes_of(pods)
    }

    /// The nodes of pods that were asked to end so long before `now` that they are late, were their node dead, and of those that
    /// are not ready, each once. On a dead node no grace period is kept; whether it is dead is what reading it tells.
    pub fn nodes_of_late_pods(&self, now: Time) -> Vec<String> {
        let by = now.plus_seconds(-TEARDOWN_PATIENCE_SECONDS);
        let is_late = |pod: &&Pod| {
            pod.unready().is_some() || (pod.is_terminating() && pod.deletion_requested.is_some_and(|asked| asked < by))
        };
        let mut pods: Vec<&Pod> = self.pods.iter().flatten().filter(is_late).collect();
        pods.sort_by_key(|pod| (pod.deletion_requested.is_none(), pod.deletion_requested));
        nodes_of(pods)
    }

    /// Whether a template kept so far names a claim that checkpoints are saved to.
    pub fn names_claims(&self) -> bool {
        let of_jobs = self.jobs.iter().flatten().map(|job| &job.checkpoints);
        let of_cron_jobs = self.cron_jobs.iter().flatten().map(|cron_job| &cron_job.checkpoints);
        let replicated_jobs = self.job_sets.iter().flatten().flat_map(|job_set| &job_set.replicated_jobs);
        let mut all = of_jobs.chain(of_cron_jobs).chain(replicated_jobs.map(|job| &job.checkpoints)).flatten();
        all.any(|checkpoints| checkpoints.durable.claim.is_some())
    }

    /// Takes what could not be read since the last call: the first few by position, and how many in all.
    pub fn take_skipped(&mut self) -> (Vec<Skipped>, u64) {
        (std::mem::take(&mut self.skipped), std::mem::take(&mut self.skipped_count))
    }

    /// What the recordings among the input tell of themselves.
    pub(super) fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    /// All that was kept, in a fixed order. The sources are for the caller to fill in.
    pub fn finish(mut self) -> Snapshot {
        let gone = self.let_go();
        let mut snapshot = Snapshot {
            gone,
            jobs: kept(self.jobs),
            pods: kept(self.pods),
            quiet_pods: self.quiet_pods,
            cron_jobs: kept(self.cron_jobs),
            job_sets: kept(self.job_sets),
            events: kept(self.events),
            nodes: kept(self.nodes),
            claims: kept(self.claims),
            volume_snapshots: kept(self.volume_snapshots),
            pod_checkpoints: kept(self.pod_checkpoints),
            pod_snapshots: kept(self.pod_snapshots),
            deployments: kept(self.deployments),
            stateful_sets: kept(self.stateful_sets),
            daemon_sets: kept(self.daemon_sets),
            revisions: kept(self.revisions),
            leader_worker_sets: kept(self.leader_worker_sets),
            disaggregated_sets: kept(self.disaggregated_sets),
            sandboxes: kept(self.sandboxes),
            sandbox_claims: kept(self.sandbox_claims),
            sandbox_warm_pools: kept(self.sandbox_warm_pools),
            train_jobs: kept(self.train_jobs),
            queued: kept(self.queued),
            newest: self.newest,
            ignored: self.ignored,
            ..Snapshot::default()
        };
        if snapshot.job_sets.is_empty() && self.filter.pods_of.is_none() {
            // Where pods ran that are gone is told of JobSets' alone.
            snapshot.events.retain(|event| *event.kind != *"Pod");
        }
        snapshot.sort();
        snapshot
    }

    fn skip(&mut self, at: Position, why: impl Into<String>) {
        self.skipped_count += 1;
        if self.skipped.len() < NAMED_SKIPS {
            self.skipped.push(Skipped { at, why: why.into() });
        }
    }

    /// The object's kind, if it is one that is used; others are counted by name.
    fn kind_of(&mut self, bytes: &[u8], list: &ListHead) -> Result<Option<Kind>, serde_json::Error> {
        // What an object says of itself comes first: behind a list that is torn may stand another one. The items of a
        // typed list need not say anything.
        let of_list = list.kind.as_deref().and_then(|kind| kind.strip_suffix("List")).filter(|item| !item.is_empty());
        let (kind, api_version) = match (first_members(bytes), of_list) {
            (Some((kind, api_version)), _) => (Cow::Borrowed(kind), Cow::Borrowed(api_version)),
            (None, Some(item)) => (Cow::Borrowed(item), Cow::Borrowed(list.api_version.as_deref().unwrap_or_default())),
            (None, None) => {
                let shape: Shape = parse(bytes)?;
                let by_shape = shape.kind();
                match shape.kind {
                    None if by_shape.is_some() => {
                        self.recognised += 1;
                        return Ok(by_shape);
                    }
                    kind => (kind.unwrap_or(Cow::Borrowed(NO_KIND)), shape.api_version.unwrap_or_default()),
                }
            }
        };
        self.recognised += u64::from(kind != NO_KIND);
        let found = Kind::of(&kind, &api_version);
        if found.is_none() {
            self.ignore(&kind);
        }
        Ok(found)
    }

    fn ignore(&mut self, kind: &str) {
        let full = self.ignored.len() >= NAMED_KINDS && !self.ignored.contains_key(kind);
        let name = if full { "(other kinds)" } else { kind };
        *self.ignored.entry(name.to_owned()).or_default() += 1;
    }

    fn take(&mut self, kind: Kind, bytes: &[u8], at: Position) -> Result<(), serde_json::Error> {
        match kind {
            Kind::Pod => self.take_pod(&parse(bytes)?),
            Kind::Job => self.take_one(kind, parse::<JobView>(bytes)?, |it| &mut it.jobs),
            Kind::CronJob => self.take_one(kind, parse::<CronJobView>(bytes)?, |it| &mut it.cron_jobs),
            Kind::JobSet => self.take_one(kind, parse::<JobSetView>(bytes)?, |it| &mut it.job_sets),
            Kind::Event => self.take_event(parse(bytes)?),
            Kind::Node => self.take_one(kind, parse::<NodeView>(bytes)?, |it| &mut it.nodes),
            Kind::Claim => self.take_one(kind, parse::<ClaimView>(bytes)?, |it| &mut it.claims),
            Kind::VolumeSnapshot => {
                self.take_one(kind, parse::<VolumeSnapshotView>(bytes)?, |it| &mut it.volume_snapshots);
            }
            Kind::PodCheckpoint => {
                self.take_one(kind, parse::<PodCheckpointView>(bytes)?, |it| &mut it.pod_checkpoints);
            }
            Kind::PodSnapshot => self.take_one(kind, parse::<PodSnapshotView>(bytes)?, |it| &mut it.pod_snapshots),
            Kind::Deployment => self.take_one(kind, parse::<DeploymentView>(bytes)?, |it| &mut it.deployments),
            Kind::ReplicaSet => self.take_one(kind, parse::<ReplicaSetView>(bytes)?, |it| &mut it.revisions),
            Kind::StatefulSet => self.take_one(kind, parse::<StatefulSetView>(bytes)?, |it| &mut it.stateful_sets),
            Kind::DaemonSet => self.take_one(kind, parse::<DaemonSetView>(bytes)?, |it| &mut it.daemon_sets),
            Kind::ControllerRevision => {
                self.take_one(kind, parse::<ControllerRevisionView>(bytes)?, |it| &mut it.revisions);
            }
            Kind::LeaderWorkerSet => {
                self.take_one(kind, parse::<LeaderWorkerSetView>(bytes)?, |it| &mut it.leader_worker_sets);
            }
            Kind::DisaggregatedSet => {
                self.take_one(kind, parse::<DisaggregatedSetView>(bytes)?, |it| &mut it.disaggregated_sets);
            }
            Kind::Sandbox => self.take_one(kind, parse::<SandboxView>(bytes)?, |it| &mut it.sandboxes),
            Kind::SandboxClaim => self.take_one(kind, parse::<SandboxClaimView>(bytes)?, |it| &mut it.sandbox_claims),
            Kind::SandboxWarmPool => {
                self.take_one(kind, parse::<SandboxWarmPoolView>(bytes)?, |it| &mut it.sandbox_warm_pools);
            }
            Kind::TrainJob => self.take_one(kind, parse::<TrainJobView>(bytes)?, |it| &mut it.train_jobs),
            Kind::Queued => self.take_one(kind, parse::<QueuedView>(bytes)?, |it| &mut it.queued),
            Kind::List => self.take_list(bytes, at),
            Kind::Recording | Kind::RecordingStatus | Kind::Log | Kind::Change => {
                self.recognised -= 1;
                self.take_line(kind, bytes, at)?;
            }
        }
        Ok(())
    }

    /// Takes an object of which all that is kept stands in itself.
    fn take_one<V, K>(&mut self, kind: Kind, view: V, list: fn(&mut Self) -> &mut Vec<Option<K>>)
    where
        V: View<Kept = K>,
        K: Debug + PartialEq,
    {
        if let Some(slot) = self.admit(view.metadata(), kind, 0, view.newest_time()) {
            let kept = view.into_kept(&mut self.interner);
            self.place(list, &slot, kept);
        }
    }

    fn take_event(&mut self, view: EventView) {
        if let Some(slot) = self.admit(view.metadata(), Kind::Event, 0, view.newest_time()) {
            let used = view.is_used(self.filter.pods_of.as_deref());
            let event = used.then(|| view.into_event(&mut self.interner));
            self.place(|it| &mut it.events, &slot, event);
        }
    }

    /// Takes the items of a list that is itself an item, or the kind for what it is where it only ends in `List`.
    fn take_list(&mut self, bytes: &[u8], at: Position) {
        if self.depth == DEEPEST_LIST {
            self.skip(at, "lists within lists too deep");
            return;
        }
        self.recognised -= 1;
        self.depth += 1;
        // A slice is read without I/O.
        let ending = Splitter::new(bytes).run(&mut Nested { intake: self, at, is_list: false });
        self.depth -= 1;
        if !matches!(ending, Ok(Ending::Whole)) {
            self.skip(at, "a list within the list that is cut off");
        }
    }

    fn take_pod(&mut self, view: &PodView) {
        let stage = view.stage();
        let newest = view.newest_time();
        if let Some(slot) = self.admit(&view.metadata, Kind::Pod, stage, newest) {
            let selected = self.filter.selector.matches(|key| view.metadata.label(key));
            let asked_for = self.filter.pod.as_deref() == Some(view.metadata.name());
            let pod = view.to_pod(&mut self.interner, selected, asked_for);
            let was_quiet = !slot.is_new && slot.index.is_none();
            if self.live.is_some() {
                let placed = view.placed(&mut self.interner).filter(|_| pod.is_none());
                self.recount(slot.key, placed);
            } else if pod.is_some() == was_quiet
                && let Some(placed) = view.placed(&mut self.interner)
            {
                let count = self.quiet_pods.entry(placed).or_default();
                *count = if was_quiet { count.saturating_sub(1) } else { *count + 1 };
            }
            self.place(|it| &mut it.pods, &slot, pod);
        }
    }

    fn place<T: Debug + PartialEq>(
        &mut self,
        list: impl Fn(&mut Self) -> &mut Vec<Option<T>>,
        slot: &Slot,
        object: Option<T>,
    ) {
        match (slot.index, object) {
            (Some(index), object) => {
                let kept = &mut list(self)[index];
                if !slot.is_tie || is_preferred(object.as_ref(), kept.as_ref()) {
                    *kept = object;
                }
            }
            (None, Some(object)) => {
                let free = self.live.as_mut().and_then(|live| live.free.get_mut(&slot.kind)?.pop());
                if let Some(index) = free {
                    if let Some(seen) = self.seen.get_mut(&slot.key) {
                        seen.kept = index;
                    }
                    list(self)[index as usize] = Some(object);
                    return;
                }
                let index = u32::try_from(list(self).len());
                if let (Some(seen), Ok(index)) = (self.seen.get_mut(&slot.key), index) {
                    seen.kept = index;
                }
                list(self).push(Some(object));
            }
            (None, None) => {}
        }
    }

    /// Whether an object is wanted: in the namespace asked for, and newer than what was seen of it before.
    fn admit(&mut self, metadata: &MetaView, kind: Kind, stage: u8, newest: Option<Time>) -> Option<Slot> {
        let namespaced = kind != Kind::Node;
        // As of when the data is does not depend on what of it is asked for.
        self.newest = self.newest.max(newest);
        let wanted = self.filter.namespace.as_deref();
        if namespaced && wanted.is_some_and(|namespace| namespace != metadata.namespace()) {
            return None;
        }
        let key = key_of(kind, metadata);
        let this = Seen { version: metadata.version(), stage, kept: NOT_KEPT };
        match self.seen.get_mut(&key) {
            None => {
                self.tallies.entry(kind.resource()).or_default().objects += 1;
                self.seen.insert(key, this);
                Some(Slot { key, kind: kind.list(), index: None, is_tie: false, is_new: true })
            }
            // A cluster that is followed tells in its order: after a restore from a backup its versions are lower than before.
            Some(before) if self.live.is_none() && (this.version, this.stage) < (before.version, before.stage) => None,
            Some(before) => {
                let index = (before.kept != NOT_KEPT).then_some(before.kept as usize);
                let is_tie = self.live.is_none() && (this.version, this.stage) == (before.version, before.stage);
                *before = Seen { kept: before.kept, ..this };
                Some(Slot { key, kind: kind.list(), index, is_tie, is_new: false })
            }
        }
    }
}

/// By what an object is known again. The uid would do, were it not for dumps made anonymous, in which all have the same.
fn key_of(kind: Kind, metadata: &MetaView) -> u64 {
    let mut hasher = DefaultHasher::new();
    (kind as u8, metadata.namespace(), metadata.name(), metadata.uid()).hash(&mut hasher);
    hasher.finish()
}

/// The nodes of some pods in their order, each once.
fn nodes_of(pods: Vec<&Pod>) -> Vec<String> {
    let mut seen = HashSet::new();
    let nodes = pods.into_iter().filter_map(|pod| pod.node.as_deref());
    nodes.filter(|node| seen.insert(*node)).map(ToOwned::to_owned).collect()
}

/// What is left of a list. Unlike `flatten`, this stays in the list's own memory, which may be most of what is held.
#[allow(clippy::filter_map_identity)]
fn kept<T>(list: Vec<Option<T>>) -> Vec<T> {
    list.into_iter().filter_map(|object| object).collect()
}

/// Where an admitted object goes.
struct Slot {
    key: u64,
    /// The list that objects of its kind are in.
    kind: u8,
    /// The place of its other reading.
    index: Option<usize>,
    /// Nothing tells which of the two readings is the newer one.
    is_tie: bool,
    /// Nothing was seen of it before.
    is_new: bool,
}

/// Of two readings of which neither is the newer one, one has to be taken, and the same whichever was read first: one
/// that tells of a failure, else by their text.
fn is_preferred<T: Debug + PartialEq>(this: Option<&T>, before: Option<&T>) -> bool {
    match (this, before) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(this), Some(before)) => this != before && format!("{this:?}") > format!("{before:?}"),
    }
}

impl ObjectSink for Intake {
    fn object(&mut self, bytes: &[u8], list: &ListHead, at: Position) {
        let taken = self.kind_of(bytes, list).and_then(|kind| match kind {
            Some(kind) => self.take(kind, bytes, at),
            None => Ok(()),
        });
        if let Err(error) = taken {
            // Line and column count from the object's own start, and after what its indentation was: they say nothing.
            let why = error.to_string();
            self.skip(at, why.rsplit_once(" at line ").map_or(&*why, |(why, _)| why));
        }
    }

    fn broken(&mut self, at: Position, why: &str) {
        self.skip(at, why);
    }

    fn list_ends(&mut self, list: &ListHead) {
        self.untitled_lists += u64::from(list.kind.is_none() && list.api_version.is_some());
        self.lists += u64::from(list.kind.as_deref().is_some_and(|kind| kind.ends_with("List")));
    }
}

/// Takes the items of a list within a list; what is told of them, is told at the inner list's position in the stream.
struct Nested<'a> {
    intake: &'a mut Intake,
    at: Position,
    is_list: bool,
}

impl ObjectSink for Nested<'_> {
    fn object(&mut self, bytes: &[u8], list: &ListHead, _: Position) {
        if self.is_list {
            self.intake.object(bytes, list, self.at);
        } else {
            // Not a list after all: asking for its kind again would never end.
            self.intake.recognised += 1;
            self.intake.ignore(first_members(bytes).map_or("(other kinds)", |(kind, _)| kind));
        }
    }

    fn broken(&mut self, _: Position, why: &str) {
        self.intake.skip(self.at, why);
    }

    fn list_begins(&mut self, _: &ListHead) {
        self.is_list = true;
    }
}

/// Parses one object. UTF-8 is checked once for the whole of it, which is quicker than string by string.
fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, serde_json::Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| serde::de::Error::custom("invalid UTF-8"))?;
    serde_json::from_str(text)
}

/// `kind` and `apiVersion` where they are an object's first two members, as in all that the API server and kubectl
/// write; asking the parser costs as much as reading the object.
fn first_members(bytes: &[u8]) -> Option<(&str, &str)> {
    let mut rest = bytes.strip_prefix(b"{")?;
    let mut kind = None;
    let mut api_version = None;
    for _ in 0..2 {
        let (key, after) = plain_string(rest)?;
        let (value, after) = plain_string(after.trim_ascii_start().strip_prefix(b":")?)?;
        match key {
            "kind" => kind = Some(value),
            "apiVersion" => api_version = Some(value),
            _ => return None,
        }
        rest = after.trim_ascii_start();
        rest = rest.strip_prefix(b",").unwrap_or(rest);
    }
    Some((kind?, api_version?))
}

/// A string without escapes at the head of `bytes`, and what follows it.
fn plain_string(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.trim_ascii_start().strip_prefix(b"\"")?;
    let end = memchr::memchr2(b'"', b'\\', rest)?;
    if rest[end] != b'"' {
        return None;
    }
    Some((std::str::from_utf8(&rest[..end]).ok()?, &rest[end + 1..]))
}
