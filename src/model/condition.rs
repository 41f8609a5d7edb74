use serde::Deserialize;

use super::time::MaybeTime;
use super::{Interner, Text, Time, Word};

/// One of `status.conditions` of a pod, a Job or a node.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ConditionView<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) type_: Text<'a>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    #[serde(borrow)]
    pub(super) reason: Text<'a>,
    #[serde(borrow)]
    pub(super) message: Text<'a>,
    /// Of nodes only.
    pub(super) last_heartbeat_time: MaybeTime,
    pub(super) last_transition_time: MaybeTime,
}

/// One of an object's `status.conditions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// `Failed`, `Completed`, `Suspended`, `Ready`, `Progressing`, …
    pub type_: Word,
    /// Whether its status is `True`.
    pub is_true: bool,
    /// Whether it is `Unknown`, as that of a paused rollout.
    pub is_unknown: bool,
    /// Why.
    pub reason: Word,
    /// The controller's message.
    pub message: Word,
    /// When its status changed last.
    pub at: Option<Time>,
}

impl ConditionView<'_> {
    /// The record to keep.
    pub(super) fn to_condition(&self, interner: &mut Interner) -> Condition {
        Condition {
            type_: interner.intern(&self.type_),
            is_true: &*self.status == "True",
            is_unknown: &*self.status == "Unknown",
            reason: interner.intern(&self.reason),
            message: interner.intern(&self.message),
            at: self.last_transition_time.0,
        }
    }
}
