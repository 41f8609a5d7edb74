use serde::Deserialize;

use super::time::MaybeTime;
use super::{Interner, MetaView, Taken, Text, Time, or_default};

/// A `snapshot.storage.k8s.io/v1` `VolumeSnapshot` as it is read (kubernetes-csi/external-snapshotter
/// `client/apis/volumesnapshot/v1/types.go`).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct VolumeSnapshotView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    metadata: MetaView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    spec: SpecView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    status: StatusView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SpecView<'a> {
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
struct StatusView<'a> {
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

impl<'a> VolumeSnapshotView<'a> {
    /// The snapshot's metadata.
    pub fn metadata(&self) -> &MetaView<'a> {
        &self.metadata
    }

    /// The newest time the snapshot tells of.
    pub fn newest_time(&self) -> Option<Time> {
        self.metadata.creation_timestamp.0.max(self.status.creation_time.0)
    }

    /// The record to keep; `None` where it was not taken of a claim.
    pub fn into_taken(self, interner: &mut Interner) -> Option<Taken> {
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
