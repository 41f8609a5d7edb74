use serde::Deserialize;

use super::condition::ConditionView;
use super::{Head, Interner, ObjectView, Text, Time, View, Word, or_default};

/// A `trainer.kubeflow.org` `TrainJob` as it is read.
pub(crate) type TrainJobView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SpecView<'a> {
    #[serde(deserialize_with = "or_default")]
    suspend: bool,
    #[serde(borrow, deserialize_with = "or_default")]
    runtime_ref: RuntimeView<'a>,
    active_deadline_seconds: Option<u32>,
    #[serde(borrow)]
    managed_by: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RuntimeView<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StatusView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
}

/// What is kept of a `TrainJob`: its pods, Jobs and `JobSet` have its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainJob {
    /// What all workloads have.
    pub head: Head,
    /// `spec.suspend`.
    pub suspend: bool,
    /// Kind and name of `spec.runtimeRef`: it holds the policies, which the `TrainJob` cannot change.
    pub runtime: (Word, Word),
    /// `spec.activeDeadlineSeconds`.
    pub active_deadline: Option<u32>,
    /// `spec.managedBy`, where it is not Trainer's own controller.
    pub managed_by: Option<Word>,
}

impl View for TrainJobView<'_> {
    type Kept = TrainJob;

    fn newest_time(&self) -> Option<Time> {
        self.metadata.newest_with(&self.status.conditions)
    }

    fn into_kept(self, interner: &mut Interner) -> Option<TrainJob> {
        let spec = &self.spec;
        let managed_by =
            spec.managed_by.some().filter(|manager| *manager != "trainer.kubeflow.org/trainjob-controller");
        Some(TrainJob {
            head: self.metadata.head(&self.status.conditions, interner),
            suspend: spec.suspend,
            runtime: (
                // What the API server sets where no kind is told.
                interner.intern(spec.runtime_ref.kind.some().unwrap_or("ClusterTrainingRuntime")),
                interner.intern(&spec.runtime_ref.name),
            ),
            active_deadline: spec.active_deadline_seconds,
            managed_by: managed_by.map(|manager| interner.intern(manager)),
        })
    }
}
