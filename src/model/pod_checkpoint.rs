use serde::Deserialize;

use super::condition::ConditionView;
use super::taken::{ready, ready_condition};
use super::time::MaybeTime;
use super::{Interner, ObjectView, Taken, Text, Time, View, or_default};

/// A `checkpoint.k8s.io/v1alpha1` `PodCheckpoint` as it is read (KEP-5823).
pub(crate) type PodCheckpointView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SpecView<'a> {
    #[serde(borrow)]
    source_pod_name: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StatusView<'a> {
    #[serde(borrow)]
    node_name: Text<'a>,
    completion_time: MaybeTime,
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
}

impl View for PodCheckpointView<'_> {
    type Kept = Taken;

    fn newest_time(&self) -> Option<Time> {
        self.metadata.creation_timestamp.0.max(self.status.completion_time.0)
    }

    /// `None` where it names no pod.
    fn into_kept(self, interner: &mut Interner) -> Option<Taken> {
        let status = &self.status;
        let condition = ready_condition(&status.conditions);
        // `Ready` is `False` as well while it is being taken: only this reason says that it never will be.
        let failed = condition.filter(|condition| &*condition.reason == "CheckpointFailed");
        Some(Taken {
            namespace: interner.intern(&self.metadata.namespace),
            name: interner.intern(&self.metadata.name),
            of: interner.intern_some(&self.spec.source_pod_name)?,
            ready: ready(condition),
            error: failed.map(|it| interner.intern(it.message.some().unwrap_or("CheckpointFailed"))),
            at: status.completion_time.0.or(self.metadata.creation_timestamp.0),
            node: interner.intern_some(&status.node_name),
        })
    }
}
