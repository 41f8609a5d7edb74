use serde::Deserialize;

use super::{Interner, ObjectView, Owner, Text, Time, View, Word};

/// A `PersistentVolumeClaim` as it is read.
pub(crate) type ClaimView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SpecView<'a> {
    #[serde(borrow)]
    storage_class_name: Text<'a>,
    #[serde(borrow)]
    volume_name: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StatusView<'a> {
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

impl View for ClaimView<'_> {
    type Kept = Claim;

    fn newest_time(&self) -> Option<Time> {
        self.metadata.creation_timestamp.0.max(self.metadata.deletion_requested())
    }

    fn into_kept(self, interner: &mut Interner) -> Option<Claim> {
        Some(Claim {
            namespace: interner.intern(&self.metadata.namespace),
            name: interner.intern(&self.metadata.name),
            owners: self.metadata.owners(interner),
            deleted_at: self.metadata.deletion_timestamp.0,
            storage_class: interner.intern_some(&self.spec.storage_class_name),
            volume: interner.intern_some(&self.spec.volume_name),
            phase: interner.intern_some(&self.status.phase),
        })
    }
}
