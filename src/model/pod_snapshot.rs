use serde::{Deserialize, de::IgnoredAny};

use super::condition::ConditionView;
use super::taken::{ready, ready_condition};
use super::{Interner, ObjectView, Taken, Time, View, or_default};

/// A `podsnapshot.gke.io/v1` `PodSnapshot` as it is read. Which pod it was taken of stands in an annotation, in earlier
/// versions in a label (kubernetes-sigs/agent-sandbox `k8s_agent_sandbox/gke_extensions/snapshots`).
pub(crate) type PodSnapshotView<'a> = ObjectView<'a, IgnoredAny, StatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StatusView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
}

impl View for PodSnapshotView<'_> {
    type Kept = Taken;

    fn newest_time(&self) -> Option<Time> {
        let conditions = self.status.conditions.iter().filter_map(|condition| condition.last_transition_time.0);
        conditions.chain(self.metadata.creation_timestamp.0).max()
    }

    /// `None` where it names no pod.
    fn into_kept(self, interner: &mut Interner) -> Option<Taken> {
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
