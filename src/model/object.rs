use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Interner, MetaView, Time, or_default};

/// An object as it is read: each of its parts may be absent or `null`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "Spec: Deserialize<'de> + Default, Status: Deserialize<'de> + Default"))]
pub(crate) struct ObjectView<'a, Spec = IgnoredAny, Status = IgnoredAny> {
    /// `metadata`.
    #[serde(borrow, deserialize_with = "or_default")]
    pub(crate) metadata: MetaView<'a>,
    #[serde(deserialize_with = "or_default")]
    pub(super) spec: Spec,
    #[serde(deserialize_with = "or_default")]
    pub(super) status: Status,
}

/// An object of a kind of which something is kept.
pub(crate) trait View: HasMetadata {
    /// What is kept.
    type Kept;

    /// The newest time the object tells of, to learn as of when a dump was taken.
    fn newest_time(&self) -> Option<Time>;

    /// The record to keep, if there is anything to.
    fn into_kept(self, interner: &mut Interner) -> Option<Self::Kept>;
}

/// What every object has.
pub(crate) trait HasMetadata {
    /// `metadata`.
    fn metadata(&self) -> &MetaView<'_>;
}

impl<Spec, Status> HasMetadata for ObjectView<'_, Spec, Status> {
    fn metadata(&self) -> &MetaView<'_> {
        &self.metadata
    }
}
