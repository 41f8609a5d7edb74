use serde::Deserialize;

use super::time::MaybeTime;
use super::{Interner, ObjectView, Taken, Text, Time, View, or_default};

/// A `snapshot.storage.k8s.io/v1` `VolumeSnapshot` as it is read (kubernetes-csi/external-snapshotter
/// `client/apis/volumesnapshot/v1/types.go`).
pub(crate) type VolumeSnapshotView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SpecView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    source: SourceView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SourceView<'a> {
    #[serde(borrow)]
    persistent_volume_claim_name: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StatusView<'a> {
    ready_to_use: Option<bool>,
    creation_time: MaybeTime,
    #[serde(borrow, deserialize_with = "or_default")]
    error: ErrorView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ErrorView<'a> {
    #[serde(borrow)]
    message: Text<'a>,
}

impl View for VolumeSnapshotView<'_> {
    type Kept = Taken;

    fn newest_time(&self) -> Option<Time> {
        self.metadata.creation_timestamp.0.max(self.status.creation_time.0)
    }

    /// `None` where it was not taken of a claim.
    fn into_kept(self, interner: &mut Interner) -> Option<Taken> {
        let status = &self.status;
        Some(Taken {
            namespace: interner.intern(&self.metadata.namespace),
            name: interner.intern(&self.metadata.name),
            of: interner.intern_some(&self.spec.source.persistent_volume_claim_name)?,
            ready: status.ready_to_use,
            error: interner.intern_some(&status.error.message),
            at: status.creation_time.0.or(self.metadata.creation_timestamp.0),
            node: None,
        })
    }
}
