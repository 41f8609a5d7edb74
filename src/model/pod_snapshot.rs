use serde::Deserialize;

use super::condition::ConditionView;
use super::taken::{ready, ready_condition};
use super::{Interner, MetaView, Taken, Time, or_default};

/// A `podsnapshot.gke.io/v1` `PodSnapshot` as it is read. Which pod it was taken of stands in an annotation, in earlier
/// versions in a label (kubernetes-sigs/agent-sandbox `k8s_agent_sandbox/gke_extensions/snapshots`).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PodSnapshotView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    metadata: MetaView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    status: StatusView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StatusView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
}

impl<'a> PodSnapshotView<'a> {
    /// The snapshot's metadata.
    pub fn metadata(&self) -> &MetaView<'a> {
        &self.metadata
    }

    /// The newest time the snapshot tells of.
    pub fn newest_time(&self) -> Option<Time> {
        let conditions = self.status.conditions.iter().filter_map(|condition| condition.last_transition_time.0);
        conditions.chain(self.metadata.creation_timestamp.0).max()
    }

    /// The record to keep; `None` where it names no pod.
    pub fn into_taken(self, interner: &mut Interner) -> Option<Taken> {
        let annotated = self.metadata.annotations.origin_pod.some();
        let pod = annotated.or_else(|| self.metadata.label("podsnapshot.gke.io/pod-name"))?;
        Some(Taken {
            namespace: interner.intern(&self.metadata.namespace),
            name: interner.intern(&self.metadata.name),
            of: interner.intern_some(pod)?,
            ready: ready(ready_condition(&self.status.conditions)),
            error: None,
            at: self.metadata.creation_timestamp.0,
            node: None,
        })
    }
}
