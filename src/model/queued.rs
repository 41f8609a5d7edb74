use serde::Deserialize;

use super::condition::ConditionView;
use super::time::MaybeTime;
use super::{Head, Interner, ObjectView, Text, Time, View, Word, or_default};

/// A `kueue.x-k8s.io` `Workload` as it is read: `v1beta2`, or `v1beta1`, which has `priorityClassName`.
pub(crate) type QueuedView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SpecView<'a> {
    active: Option<bool>,
    #[serde(borrow)]
    queue_name: Text<'a>,
    #[serde(borrow)]
    priority_class_name: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    priority_class_ref: NameView<'a>,
    priority: Option<i64>,
    maximum_execution_time_seconds: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NameView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StatusView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
    #[serde(deserialize_with = "or_default")]
    requeue_state: RequeueView,
    #[serde(borrow, deserialize_with = "or_default")]
    scheduling_stats: StatsView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    admission: AdmissionView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    admission_checks: Vec<CheckView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CheckView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    state: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    last_transition_time: MaybeTime,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RequeueView {
    #[serde(deserialize_with = "or_default")]
    count: u32,
    requeue_at: MaybeTime,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StatsView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    evictions: Vec<EvictionsView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct EvictionsView<'a> {
    #[serde(borrow)]
    reason: Text<'a>,
    #[serde(deserialize_with = "or_default")]
    count: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AdmissionView<'a> {
    #[serde(borrow)]
    cluster_queue: Text<'a>,
}

/// What is kept of Kueue's `Workload`: how a workload of another kind stands in its queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// What all workloads have; its owner is the workload that waits or runs.
    pub head: Head,
    /// `spec.active`: one that is not, is not admitted until somebody makes it so.
    pub active: bool,
    /// `spec.queueName`.
    pub queue: Word,
    /// `status.admission.clusterQueue`, while it holds quota.
    pub cluster_queue: Option<Word>,
    /// Its priority class.
    pub priority_class: Option<Word>,
    /// `spec.priority`.
    pub priority: Option<i64>,
    /// `spec.maximumExecutionTimeSeconds`.
    pub maximum_execution_seconds: Option<u32>,
    /// `status.requeueState.count`: how often it was put back for want of ready pods.
    pub requeues: u32,
    /// `status.requeueState.requeueAt`: when it is looked at again.
    pub requeue_at: Option<Time>,
    /// `status.schedulingStats.evictions`: how often it was evicted, by reason.
    pub evictions: Box<[(Word, u32)]>,
    /// Names of the pods that it stands for, where it is pods that are queued.
    pub pods: Box<[Word]>,
    /// `status.admissionChecks`.
    pub checks: Box<[AdmissionCheck]>,
}

/// What must be `Ready` beside quota before a `Workload` is admitted: that nodes were provisioned for it, and the like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmissionCheck {
    /// Its name.
    pub name: Word,
    /// `Pending`, `Ready`, `Retry` or `Rejected`.
    pub state: Word,
    /// What its controller says.
    pub message: Word,
    /// Since when.
    pub at: Option<Time>,
}

impl View for QueuedView<'_> {
    type Kept = Queued;

    fn newest_time(&self) -> Option<Time> {
        self.metadata.newest_with(&self.status.conditions)
    }

    fn into_kept(self, interner: &mut Interner) -> Option<Queued> {
        let (spec, status) = (&self.spec, &self.status);
        let class = spec.priority_class_ref.name.some().or(spec.priority_class_name.some());
        // One reason stands once for each underlying cause.
        let mut evictions: Vec<(Word, u32)> = Vec::new();
        for eviction in &status.scheduling_stats.evictions {
            match evictions.iter_mut().find(|(reason, _)| **reason == *eviction.reason) {
                Some((_, count)) => *count += eviction.count,
                None => evictions.push((interner.intern(&eviction.reason), eviction.count)),
            }
        }
        let checks = status.admission_checks.iter().map(|check| AdmissionCheck {
            name: interner.intern(&check.name),
            state: interner.intern(&check.state),
            message: interner.intern(&check.message),
            at: check.last_transition_time.0,
        });
        let checks = checks.collect();
        Some(Queued {
            checks,
            pods: self
                .metadata
                .owners(interner)
                .iter()
                .filter(|owner| owner.is("", "Pod"))
                .map(|pod| pod.name.clone())
                .collect(),
            head: self.metadata.head(&status.conditions, interner),
            active: spec.active.unwrap_or(true),
            queue: interner.intern(&spec.queue_name),
            cluster_queue: interner.intern_some(&status.admission.cluster_queue),
            priority_class: class.map(|class| interner.intern(class)),
            priority: spec.priority,
            maximum_execution_seconds: spec.maximum_execution_time_seconds,
            requeues: status.requeue_state.count,
            requeue_at: status.requeue_state.requeue_at.0,
            evictions: evictions.into_boxed_slice(),
        })
    }
}
