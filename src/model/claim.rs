use serde::Deserialize;

use super::{Interner, MetaView, Owner, Text, Time, Word, or_default};

/// A `PersistentVolumeClaim` as it is read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ClaimView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    metadata: MetaView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    spec: SpecView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    status: StatusView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SpecView<'a> {
    #[serde(borrow)]
    storage_class_name: Text<'a>,
    #[serde(borrow)]
    volume_name: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StatusView<'a> {
    #[serde(borrow)]
    phase: Text<'a>,
}

/// What is kept of a `PersistentVolumeClaim`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// `metadata.namespace`.
    pub namespace: Word,
    /// `metadata.name`.
    pub name: Word,
    /// `metadata.ownerReferences`, the controlling one or not: the claim is deleted when the last of them is gone.
    pub owners: Box<[Owner]>,
    /// `metadata.deletionTimestamp`. While a pod uses the claim, a finalizer holds it.
    pub deleted_at: Option<Time>,
    /// `spec.storageClassName`.
    pub storage_class: Option<Word>,
    /// `spec.volumeName`: the volume it is bound to.
    pub volume: Option<Word>,
    /// `status.phase`: `Pending`, `Bound` or `Lost`.
    pub phase: Option<Word>,
}

impl<'a> ClaimView<'a> {
    /// The claim's metadata.
    pub fn metadata(&self) -> &MetaView<'a> {
        &self.metadata
    }

    /// The newest time the claim tells of.
    pub fn newest_time(&self) -> Option<Time> {
        self.metadata.creation_timestamp.0.max(self.metadata.deletion_requested())
    }

    /// The record to keep.
    pub fn into_claim(self, interner: &mut Interner) -> Claim {
        Claim {
            namespace: interner.intern(&self.metadata.namespace),
            name: interner.intern(&self.metadata.name),
            owners: self.metadata.owners(interner),
            deleted_at: self.metadata.deletion_timestamp.0,
            storage_class: interner.intern_some(&self.spec.storage_class_name),
            volume: interner.intern_some(&self.spec.volume_name),
            phase: interner.intern_some(&self.status.phase),
        }
    }
}
