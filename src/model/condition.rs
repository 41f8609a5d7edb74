use serde::Deserialize;

use super::Text;
use super::time::MaybeTime;

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
