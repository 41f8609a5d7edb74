use serde::Deserialize;

use super::time::MaybeTime;
use super::{Interner, MetaView, Text, Time, Uid, Word, or_default};

/// An Event as it is read, in the shape of the core group or of `events.k8s.io`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EventView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    metadata: MetaView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    involved_object: ObjectView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    regarding: ObjectView<'a>,
    #[serde(borrow)]
    reason: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    note: Text<'a>,
    first_timestamp: MaybeTime,
    last_timestamp: MaybeTime,
    deprecated_first_timestamp: MaybeTime,
    deprecated_last_timestamp: MaybeTime,
    event_time: MaybeTime,
    #[serde(deserialize_with = "or_default")]
    count: u32,
    #[serde(deserialize_with = "or_default")]
    deprecated_count: u32,
    series: Option<SeriesView>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ObjectView<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    namespace: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    uid: Text<'a>,
}

/// Whether an Event of that reason tells where a node stands.
fn tells_of_node(reason: &str) -> bool {
    matches!(
        reason,
        "NodeReady"
            | "NodeNotReady"
            | "NodeNotSchedulable"
            | "NodeSchedulable"
            | "NodeHasInsufficientMemory"
            | "NodeHasDiskPressure"
            | "NodeHasInsufficientPID"
            | "Rebooted"
            | "RegisteredNode"
            | "RemovingNode"
            | "SystemOOM"
            | "Shutdown"
    )
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SeriesView {
    #[serde(deserialize_with = "or_default")]
    count: u32,
    last_observed_time: MaybeTime,
}

/// An Event about a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Kind of the object it is about.
    pub kind: Word,
    /// Namespace of that object.
    pub namespace: Word,
    /// Name of that object.
    pub name: Word,
    /// Uid of that object: a restarted `JobSet`'s Jobs have the same names and other uids.
    pub uid: Option<Uid>,
    /// `SuccessfulDelete`, `FailedCreate`, `BackoffLimitExceeded`, …
    pub reason: Word,
    /// The text.
    pub message: Word,
    /// When it happened first, to the microsecond where the fields or its own name tell it: client-go's recorders name an Event
    /// `<object>.<nanoseconds since 1970, in hexadecimal>`, while the field of the core group holds whole seconds.
    pub at: Option<Time>,
    /// When it happened first, by its fields.
    pub first: Option<Time>,
    /// When it happened last.
    pub last: Option<Time>,
    /// How often.
    pub count: u32,
    /// Whether client-go's recorder for the core group wrote it: it folds equal Events into one with a count, and drops
    /// those about one object beyond 25 at once and one in five minutes.
    pub of_core_recorder: bool,
}

/// Whether a pod's name ends in an index and what the API server adds, as those of a `JobSet`'s Jobs do:
/// `<jobset>-<replicatedJob>-<job index>[-<completion index>]-x7k2p`.
fn is_of_job_index(pod: &str) -> bool {
    let index = pod.rsplit_once('-').and_then(|(rest, _)| rest.rsplit_once('-'));
    index.is_some_and(|(_, index)| !index.is_empty() && index.bytes().all(|c| c.is_ascii_digit()))
}

impl<'a> EventView<'a> {
    /// The Event's metadata.
    pub fn metadata(&self) -> &MetaView<'a> {
        &self.metadata
    }

    fn object(&self) -> &ObjectView<'a> {
        if self.involved_object.kind.is_empty() { &self.regarding } else { &self.involved_object }
    }

    fn first(&self) -> Option<Time> {
        self.first_timestamp.0.or(self.deprecated_first_timestamp.0).or(self.event_time.0).or(self.last())
    }

    fn last(&self) -> Option<Time> {
        let series = self.series.as_ref().and_then(|series| series.last_observed_time.0);
        series.or(self.last_timestamp.0).or(self.deprecated_last_timestamp.0).or(self.event_time.0)
    }

    /// Why it was written.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// How often it happened.
    pub fn count(&self) -> u32 {
        let of_series = self.series.as_ref().map_or(0, |series| series.count);
        of_series.max(self.count).max(self.deprecated_count).max(1)
    }

    /// The newest time the Event tells of.
    pub fn newest_time(&self) -> Option<Time> {
        self.last().max(self.metadata.creation_timestamp.0)
    }

    /// Whether it is about a kind whose Events are used. Those about pods are many: only those that tell where one ran whose
    /// name begins with `pods` or, where nothing is given, is like one of a `JobSet`'s.
    pub fn is_used(&self, pods: Option<&str>) -> bool {
        let object = self.object();
        let is_wanted = || pods.map_or_else(|| is_of_job_index(&object.name), |prefix| object.name.starts_with(prefix));
        match &*object.kind {
            // A ReplicaSet's say nothing that the condition of its Deployment does not.
            "Job" | "JobSet" | "CronJob" | "StatefulSet" | "DaemonSet" | "LeaderWorkerSet" | "Sandbox"
            | "SandboxClaim" | "SandboxWarmPool" | "TrainJob" | "Workload" => true,
            // Where a node stood before; its other Events, of images and of proxies, are many.
            "Node" => tells_of_node(&self.reason),
            "Pod" => &*self.reason == "Scheduled" && is_wanted(),
            _ => false,
        }
    }

    /// When it happened first, as finely as anything tells it.
    fn precisely(&self) -> Option<Time> {
        let fine = |at: &Time| at.has_fraction();
        let told = self.event_time.0.filter(fine).or_else(|| self.first().filter(fine));
        told.or_else(|| self.time_in_name()).or(self.first())
    }

    /// The time in the Event's name, where it agrees with its fields.
    fn time_in_name(&self) -> Option<Time> {
        let nanoseconds = self.metadata.name.rsplit_once('.')?.1;
        let at = Time::from_nanoseconds(i64::from_str_radix(nanoseconds, 16).ok()?);
        (at.seconds() == self.first()?.seconds()).then_some(at)
    }

    /// The record to keep.
    pub fn into_event(self, interner: &mut Interner) -> Event {
        let object = self.object();
        Event {
            kind: interner.intern(&object.kind),
            namespace: interner.intern(&object.namespace),
            name: interner.intern(&object.name),
            uid: Uid::parse(&object.uid),
            reason: interner.intern(&self.reason),
            message: interner.intern(self.message.some().unwrap_or(&self.note)),
            at: self.precisely(),
            first: self.first(),
            last: self.last(),
            count: self.count(),
            of_core_recorder: self.event_time.0.is_none(),
        }
    }
}
