//! What is read of each kind: small, lenient structs that keep only the fields used.
//!
//! They are read alike from files and from the API server. Unknown fields are skipped and `null` is as good as
//! absent, so that a newer cluster never breaks a read. The borrowed `…View` structs live no longer than the bytes
//! of one object; the owned structs beside them are what a [`crate::source::Snapshot`] keeps.

mod amount;
mod apps;
mod claim;
mod condition;
mod cron_job;
mod disaggregated_set;
mod duration;
mod ends;
mod event;
mod head;
mod intern;
mod job;
mod job_set;
mod job_set_view;
mod leader_worker_set;
mod meta;
mod node;
mod object;
mod ordinal;
mod placement;
mod pod;
mod pod_checkpoint;
mod pod_failure_policy;
mod pod_snapshot;
mod pod_template;
mod pod_view;
mod quantity;
mod queued;
mod sandbox;
mod taken;
mod text;
mod time;
mod train_job;
mod uid;
mod volume_snapshot;
mod word;

pub use amount::Amount;
pub(crate) use apps::{
    ControllerRevisionView, DaemonSetView, DeploymentView, ReplicaSetView, StatefulSetView, may_be_shown,
};
pub use apps::{DaemonSet, Deployment, Revision, StatefulSet, TemplateLeaf};
pub use claim::Claim;
pub(crate) use claim::ClaimView;
pub use condition::Condition;
pub use cron_job::CronJob;
pub(crate) use cron_job::CronJobView;
pub(crate) use disaggregated_set::DisaggregatedSetView;
pub use disaggregated_set::{DisaggregatedSet, Role};
pub use duration::human_duration;
pub use ends::Ends;
pub use event::{Event, EventView};
pub use head::Head;
pub use intern::Interner;
pub(crate) use job::JobView;
pub use job::{Job, JobCondition};
pub use job_set::{
    FailurePolicy, FailurePolicyRule, JobSet, JobSetAction, ReplicatedJob, ReplicatedJobStatus, VolumeClaimTemplate,
};
pub(crate) use job_set_view::JobSetView;
pub(crate) use leader_worker_set::LeaderWorkerSetView;
pub use leader_worker_set::{LeaderWorkerSet, is_of_group_made_anew};
pub(crate) use meta::ANNOTATIONS_READ;
pub use meta::{MetaView, Owner, OwnerView};
pub(crate) use node::NodeView;
pub use node::{Node, NodeRare};
pub(crate) use object::{HasMetadata, ObjectView, View};
pub use ordinal::Ordinal;
pub use pod::{
    Beside, ContainerEnd, ContainerKind, ContainerOutcome, MadeFrom, Memory, Phase, Pod, PodCondition, Rare, Restart,
    TEARDOWN_PATIENCE_SECONDS, TemplateMemory, ToldCondition, Unready, Waiting,
};
pub(crate) use pod_checkpoint::PodCheckpointView;
pub use pod_failure_policy::{Action, ConditionPattern, ExitCodes, Operator, PodFailurePolicy, Rule};
pub(crate) use pod_snapshot::PodSnapshotView;
pub(crate) use pod_template::NOT_RECORDED;
pub use pod_template::checkpoints_of;
pub(crate) use pod_view::PodView;
pub use quantity::Quantity;
pub(crate) use quantity::SUFFIXES;
pub(crate) use queued::QueuedView;
pub use queued::{AdmissionCheck, Queued};
pub use sandbox::{Sandbox, SandboxClaim, SandboxWarmPool};
pub(crate) use sandbox::{SandboxClaimView, SandboxView, SandboxWarmPoolView};
pub use taken::Taken;
pub use text::{Text, or_default};
pub use time::Time;
pub use train_job::TrainJob;
pub(crate) use train_job::TrainJobView;
pub use uid::Uid;
pub(crate) use volume_snapshot::VolumeSnapshotView;
pub use word::Word;
