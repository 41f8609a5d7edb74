use serde::Deserialize;

use crate::model::amount::{Amount, AmountView};
use crate::model::condition::ConditionView;
use crate::model::{Head, Interner, ObjectView, Text, Time, View, Word, or_default};

/// An `apps/v1` `DaemonSet` as it is read.
pub(crate) type DaemonSetView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SpecView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    update_strategy: StrategyView<'a>,
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
    #[serde(borrow)]
    max_surge: Option<AmountView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StatusView<'a> {
    #[serde(deserialize_with = "or_default")]
    observed_generation: u64,
    #[serde(deserialize_with = "or_default")]
    desired_number_scheduled: u32,
    #[serde(deserialize_with = "or_default")]
    current_number_scheduled: u32,
    #[serde(deserialize_with = "or_default")]
    number_ready: u32,
    #[serde(deserialize_with = "or_default")]
    number_unavailable: u32,
    #[serde(deserialize_with = "or_default")]
    updated_number_scheduled: u32,
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
}

/// What is kept of a `DaemonSet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonSet {
    /// What all workloads have.
    pub head: Head,
    /// `spec.updateStrategy.type`: `RollingUpdate` or `OnDelete`.
    pub strategy: Word,
    /// `spec.updateStrategy.rollingUpdate.maxUnavailable`; 1 where it is not told.
    pub max_unavailable: Amount,
    /// Whether new pods are made beside the old ones: `maxSurge` is not 0.
    pub surges: bool,
    /// The annotation `deprecated.daemonset.template.generation`, which the controller still keeps: pods of the newest
    /// template have the same in the label `pod-template-generation`.
    pub template_generation: Option<u64>,
    /// `status.observedGeneration`.
    pub observed_generation: u64,
    /// `status.desiredNumberScheduled`: nodes that should have a pod.
    pub desired: u32,
    /// `status.currentNumberScheduled`: of these, how many have one.
    pub scheduled: u32,
    /// `status.numberReady`.
    pub ready: u32,
    /// `status.numberUnavailable`.
    pub unavailable: u32,
    /// `status.updatedNumberScheduled`: nodes with a pod of the newest template.
    pub updated: u32,
}

impl View for DaemonSetView<'_> {
    type Kept = DaemonSet;

    fn newest_time(&self) -> Option<Time> {
        self.metadata.newest_with(&self.status.conditions)
    }

    fn into_kept(self, interner: &mut Interner) -> Option<DaemonSet> {
        let (spec, status) = (&self.spec, &self.status);
        let rolling = &spec.update_strategy.rolling_update;
        let amount = |view: &Option<AmountView>| view.as_ref().and_then(AmountView::amount);
        let surge = amount(&rolling.max_surge);
        Some(DaemonSet {
            head: self.metadata.head(&status.conditions, interner),
            strategy: interner.intern(spec.update_strategy.type_.some().unwrap_or("RollingUpdate")),
            max_unavailable: amount(&rolling.max_unavailable).unwrap_or(Amount::Number(1)),
            surges: surge.is_some_and(|surge| !matches!(surge, Amount::Number(0) | Amount::Percent(0))),
            template_generation: self.metadata.annotations.template_generation.parse().ok(),
            observed_generation: status.observed_generation,
            desired: status.desired_number_scheduled,
            scheduled: status.current_number_scheduled,
            ready: status.number_ready,
            unavailable: status.number_unavailable,
            updated: status.updated_number_scheduled,
        })
    }
}
