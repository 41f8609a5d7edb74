use serde::Deserialize;

use crate::model::amount::{Amount, AmountView};
use crate::model::condition::ConditionView;
use crate::model::{Head, Interner, MetaView, ObjectView, Text, Time, View, Word, or_default};

/// An `apps/v1` `StatefulSet` as it is read.
pub(crate) type StatefulSetView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SpecView<'a> {
    replicas: Option<u32>,
    #[serde(borrow)]
    pod_management_policy: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    update_strategy: StrategyView<'a>,
    #[serde(deserialize_with = "or_default")]
    ordinals: OrdinalsView,
    #[serde(borrow, deserialize_with = "or_default")]
    volume_claim_templates: Vec<ClaimTemplateView<'a>>,
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
    #[serde(deserialize_with = "or_default")]
    partition: u32,
    #[serde(borrow)]
    max_unavailable: Option<AmountView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OrdinalsView {
    #[serde(deserialize_with = "or_default")]
    start: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClaimTemplateView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    metadata: MetaView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StatusView<'a> {
    #[serde(deserialize_with = "or_default")]
    observed_generation: u64,
    #[serde(deserialize_with = "or_default")]
    replicas: u32,
    #[serde(deserialize_with = "or_default")]
    ready_replicas: u32,
    #[serde(deserialize_with = "or_default")]
    updated_replicas: u32,
    #[serde(borrow)]
    current_revision: Text<'a>,
    #[serde(borrow)]
    update_revision: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
}

/// What is kept of a `StatefulSet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatefulSet {
    /// What all workloads have.
    pub head: Head,
    /// `spec.replicas`; 1 where it is not told.
    pub replicas: u32,
    /// `spec.ordinals.start`.
    pub first_ordinal: u32,
    /// Whether one pod follows the other: `spec.podManagementPolicy` is not `Parallel`.
    pub is_ordered: bool,
    /// `spec.updateStrategy.type`: `RollingUpdate` or `OnDelete`.
    pub strategy: Word,
    /// `spec.updateStrategy.rollingUpdate.partition`: pods below it keep the old template.
    pub partition: u32,
    /// `spec.updateStrategy.rollingUpdate.maxUnavailable`; 1 where it is not told.
    pub max_unavailable: Amount,
    /// Names of `spec.volumeClaimTemplates`; a claim is called `<template>-<pod>`.
    pub claims: Box<[Word]>,
    /// `status.observedGeneration`.
    pub observed_generation: u64,
    /// `status.replicas`: pods that were made.
    pub pods: u32,
    /// `status.readyReplicas`.
    pub ready: u32,
    /// `status.updatedReplicas`: pods of the newest template.
    pub updated: u32,
    /// `status.currentRevision`.
    pub current_revision: Option<Word>,
    /// `status.updateRevision`: the newest template's.
    pub update_revision: Option<Word>,
}

impl View for StatefulSetView<'_> {
    type Kept = StatefulSet;

    fn newest_time(&self) -> Option<Time> {
        self.metadata.newest_with(&self.status.conditions)
    }

    fn into_kept(self, interner: &mut Interner) -> Option<StatefulSet> {
        let (spec, status) = (&self.spec, &self.status);
        let update = &spec.update_strategy;
        let max_unavailable = update.rolling_update.max_unavailable.as_ref().and_then(AmountView::amount);
        Some(StatefulSet {
            head: self.metadata.head(&status.conditions, interner),
            replicas: spec.replicas.unwrap_or(1),
            first_ordinal: spec.ordinals.start,
            is_ordered: &*spec.pod_management_policy != "Parallel",
            strategy: interner.intern(update.type_.some().unwrap_or("RollingUpdate")),
            partition: update.rolling_update.partition,
            max_unavailable: max_unavailable.unwrap_or(Amount::Number(1)),
            claims: spec.volume_claim_templates.iter().map(|claim| interner.intern(&claim.metadata.name)).collect(),
            observed_generation: status.observed_generation,
            pods: status.replicas,
            ready: status.ready_replicas,
            updated: status.updated_replicas,
            current_revision: interner.intern_some(&status.current_revision),
            update_revision: interner.intern_some(&status.update_revision),
        })
    }
}
