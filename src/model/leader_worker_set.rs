use serde::Deserialize;

use super::condition::ConditionView;
use super::{Head, Interner, ObjectView, Text, Time, View, Word, or_default};

/// A `leaderworkerset.x-k8s.io/v1` `LeaderWorkerSet` as it is read.
pub(crate) type LeaderWorkerSetView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SpecView<'a> {
    replicas: Option<u32>,
    #[serde(borrow, deserialize_with = "or_default")]
    leader_worker_template: TemplateView<'a>,
    #[serde(borrow)]
    startup_policy: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TemplateView<'a> {
    size: Option<u32>,
    #[serde(borrow)]
    restart_policy: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StatusView<'a> {
    #[serde(deserialize_with = "or_default")]
    replicas: u32,
    #[serde(deserialize_with = "or_default")]
    ready_replicas: u32,
    #[serde(deserialize_with = "or_default")]
    updated_replicas: u32,
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
}

/// What is kept of a `LeaderWorkerSet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderWorkerSet {
    /// What all workloads have.
    pub head: Head,
    /// `spec.replicas`: groups; 1 where it is not told.
    pub groups: u32,
    /// `spec.leaderWorkerTemplate.size`: pods of a group, its leader among them; 1 where it is not told.
    pub size: u32,
    /// `spec.leaderWorkerTemplate.restartPolicy`, or what an annotation makes of it.
    pub restart_policy: Word,
    /// Whether workers wait for their leader: `spec.startupPolicy` is `LeaderReady`.
    pub leader_first: bool,
    /// `status.readyReplicas`: groups that are ready.
    pub ready: u32,
    /// `status.updatedReplicas`.
    pub updated: u32,
    /// `status.replicas`: groups that were made.
    pub made: u32,
}

impl View for LeaderWorkerSetView<'_> {
    type Kept = LeaderWorkerSet;

    fn newest_time(&self) -> Option<Time> {
        self.metadata.newest_with(&self.status.conditions)
    }

    fn into_kept(self, interner: &mut Interner) -> Option<LeaderWorkerSet> {
        let (spec, status) = (&self.spec, &self.status);
        // What is a policy from 0.9 on was an annotation before.
        let after_start = self.metadata.annotations.recreate_after_start.some().is_some();
        let written = spec.leader_worker_template.restart_policy.some();
        let policy = if after_start { "RecreateGroupAfterStart" } else { written.unwrap_or(RECREATE_GROUP) };
        Some(LeaderWorkerSet {
            head: self.metadata.head(&status.conditions, interner),
            groups: spec.replicas.unwrap_or(1),
            size: spec.leader_worker_template.size.unwrap_or(1),
            restart_policy: interner.intern(policy),
            leader_first: &*spec.startup_policy == "LeaderReady",
            ready: status.ready_replicas,
            updated: status.updated_replicas,
            made: status.replicas,
        })
    }
}

/// What the API server sets where no policy is told.
const RECREATE_GROUP: &str = "RecreateGroupOnPodRestart";

/// Whether an Event of that reason tells that a group was made anew. Source: lws `pkg/controllers/pod_controller.go`.
pub fn is_of_group_made_anew(reason: &str) -> bool {
    matches!(reason, "RecreateGroup" | RECREATE_GROUP)
}

impl LeaderWorkerSet {
    /// Whether a container that restarts, or a pod that is deleted, makes the whole group anew.
    pub fn recreates_groups(&self) -> bool {
        matches!(&*self.restart_policy, RECREATE_GROUP | "RecreateGroupAfterStart")
    }
}
