use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Interner, MetaView, Time, Uid, Word, or_default};

/// A workload that makes Jobs, as it is read: its name stands for them, its labels and annotations hold for them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WrapperView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    metadata: MetaView<'a>,
    #[serde(deserialize_with = "or_default")]
    status: StatusView,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StatusView {
    /// Of a `JobSet`. Lenient, as other kinds' status is not looked at.
    #[serde(deserialize_with = "or_default")]
    restarts: u32,
}

/// The kinds that make Jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WrapperKind {
    /// `batch/v1` `CronJob`.
    CronJob,
    /// `jobset.x-k8s.io` `JobSet`.
    JobSet,
}

impl WrapperKind {
    /// The kind's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CronJob => "CronJob",
            Self::JobSet => "JobSet",
        }
    }

    /// The kind's API group.
    pub const fn group(self) -> &'static str {
        match self {
            Self::CronJob => "batch",
            Self::JobSet => "jobset.x-k8s.io",
        }
    }
}

/// What is kept of a `CronJob` or `JobSet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapper {
    /// `CronJob` or `JobSet`.
    pub kind: WrapperKind,
    /// `metadata.uid`.
    pub uid: Option<Uid>,
    /// `metadata.namespace`.
    pub namespace: Word,
    /// `metadata.name`.
    pub name: Word,
    /// `metadata.labels`.
    pub labels: BTreeMap<Word, Word>,
    /// The annotation `kubectl-sigapps/rule-names`.
    pub rule_names: Option<Word>,
    /// A `JobSet`'s `status.restarts`: each one deleted the Jobs and pods of the attempt before.
    pub restarts: u32,
}

impl<'a> WrapperView<'a> {
    /// The object's metadata.
    pub fn metadata(&self) -> &MetaView<'a> {
        &self.metadata
    }

    /// The newest time the object tells of.
    pub fn newest_time(&self) -> Option<Time> {
        self.metadata.creation_timestamp.0
    }

    /// The record to keep.
    pub fn into_wrapper(self, kind: WrapperKind, interner: &mut Interner) -> Wrapper {
        Wrapper {
            kind,
            uid: self.metadata.uid(),
            namespace: interner.intern(&self.metadata.namespace),
            name: interner.intern(&self.metadata.name),
            labels: self.metadata.labels(interner),
            rule_names: interner.intern_some(&self.metadata.annotations.rule_names),
            restarts: self.status.restarts,
        }
    }
}
