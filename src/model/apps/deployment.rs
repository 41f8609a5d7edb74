use serde::Deserialize;

use crate::model::amount::AmountView;
use crate::model::condition::ConditionView;
use crate::model::{Head, Interner, ObjectView, Text, Time, View, Word, or_default};

/// An `apps/v1` `Deployment` as it is read.
pub(crate) type DeploymentView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SpecView<'a> {
    replicas: Option<u32>,
    #[serde(deserialize_with = "or_default")]
    paused: bool,
    progress_deadline_seconds: Option<u32>,
    #[serde(borrow, deserialize_with = "or_default")]
    strategy: StrategyView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StrategyView<'a> {
    #[serde(borrow, rename = "type")]
    type_: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    rolling_update: RollingUpdateView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RollingUpdateView<'a> {
    #[serde(borrow)]
    max_unavailable: Option<AmountView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StatusView<'a> {
    #[serde(deserialize_with = "or_default")]
    observed_generation: u64,
    #[serde(deserialize_with = "or_default")]
    replicas: u32,
    #[serde(deserialize_with = "or_default")]
    updated_replicas: u32,
    #[serde(deserialize_with = "or_default")]
    ready_replicas: u32,
    #[serde(deserialize_with = "or_default")]
    available_replicas: u32,
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
}

/// What is kept of a `Deployment`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployment {
    /// What all workloads have.
    pub head: Head,
    /// `spec.replicas`; 1 where it is not told.
    pub replicas: u32,
    /// `spec.paused`: no rollout goes on.
    pub paused: bool,
    /// `spec.progressDeadlineSeconds`.
    pub progress_deadline: Option<u32>,
    /// `spec.strategy.type`: `RollingUpdate` or `Recreate`.
    pub strategy: Word,
    /// `spec.strategy.rollingUpdate.maxUnavailable`, as it is written.
    pub max_unavailable: Option<Word>,
    /// `status.observedGeneration`.
    pub observed_generation: u64,
    /// `status.replicas`: pods of all `ReplicaSet`s.
    pub pods: u32,
    /// `status.updatedReplicas`: pods of the newest template.
    pub updated: u32,
    /// `status.readyReplicas`.
    pub ready: u32,
    /// `status.availableReplicas`.
    pub available: u32,
}

impl View for DeploymentView<'_> {
    type Kept = Deployment;

    fn newest_time(&self) -> Option<Time> {
        self.metadata.newest_with(&self.status.conditions)
    }

    fn into_kept(self, interner: &mut Interner) -> Option<Deployment> {
        let (spec, status) = (&self.spec, &self.status);
        let max_unavailable = spec.strategy.rolling_update.max_unavailable.as_ref().and_then(AmountView::amount);
        Some(Deployment {
            head: self.metadata.head(&status.conditions, interner),
            replicas: spec.replicas.unwrap_or(1),
            paused: spec.paused,
            progress_deadline: spec.progress_deadline_seconds,
            strategy: interner.intern(spec.strategy.type_.some().unwrap_or("RollingUpdate")),
            max_unavailable: max_unavailable.map(|amount| interner.intern(&amount.to_string())),
            observed_generation: status.observed_generation,
            pods: status.replicas,
            updated: status.updated_replicas,
            ready: status.ready_replicas,
            available: status.available_replicas,
        })
    }
}
