use super::condition::ConditionView;
use super::{Time, Word};

/// What one of the objects tells that stand for something that was taken: a `VolumeSnapshot`, a `PodCheckpoint`, a
/// `PodSnapshot`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// `metadata.namespace`.
    pub namespace: Word,
    /// `metadata.name`.
    pub name: Word,
    /// Name of the claim or pod it was taken of, in the same namespace.
    pub of: Word,
    /// Whether it can be used; `None` where that is not told yet.
    pub ready: Option<bool>,
    /// Why it cannot be used, in its controller's words.
    pub error: Option<Word>,
    /// When it was taken, or else was asked for.
    pub at: Option<Time>,
    /// The node that holds it, of a `PodCheckpoint`: on others it is of no use.
    pub node: Option<Word>,
}

/// What the condition `Ready` says; `None` where there is none, or it is `Unknown`.
pub(super) fn ready(condition: Option<&ConditionView>) -> Option<bool> {
    match &*condition?.status {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

/// The condition `Ready`.
pub(super) fn ready_condition<'c, 'a>(conditions: &'c [ConditionView<'a>]) -> Option<&'c ConditionView<'a>> {
    conditions.iter().find(|condition| &*condition.type_ == "Ready")
}
