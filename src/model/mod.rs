//! What is read of each kind: small, lenient structs that keep only the fields used.
//!
//! They are read alike from files and from the API server. Unknown fields are skipped and `null` is as good as
//! absent, so that a newer cluster never breaks a read. The borrowed `…View` structs live no longer than the bytes
//! of one object; the owned structs beside them are what a [`crate::source::Snapshot`] keeps.

mod claim;
mod condition;
mod cron_job;
mod duration;
mod event;
mod intern;
mod job;
mod job_set;
mod job_set_view;
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
mod taken;
mod text;
mod time;
mod uid;
mod volume_snapshot;
mod word;

pub use claim::Claim;
pub(crate) use claim::ClaimView;
pub use cron_job::CronJob;
pub(crate) use cron_job::CronJobView;
pub use duration::human_duration;
pub use event::{Event, EventView};
pub use intern::Interner;
pub(crate) use job::JobView;
pub use job::{Job, JobCondition};
pub use job_set::{
    FailurePolicy, FailurePolicyRule, JobSet, JobSetAction, JobSetCondition, ReplicatedJob, ReplicatedJobStatus,
    VolumeClaimTemplate,
};
pub(crate) use job_set_view::JobSetView;
pub use meta::{MetaView, Owner, OwnerView};
pub use node::Node;
pub(crate) use node::NodeView;
pub(crate) use object::{ObjectView, View};
pub use ordinal::Ordinal;
pub use pod::{
    ContainerEnd, ContainerKind, ContainerOutcome, Memory, Phase, Pod, PodCondition, Rare, Restart,
    TEARDOWN_PATIENCE_SECONDS, TemplateMemory, ToldCondition, Waiting,
};
pub(crate) use pod_checkpoint::PodCheckpointView;
pub use pod_failure_policy::{Action, ConditionPattern, ExitCodes, Operator, PodFailurePolicy, Rule};
pub(crate) use pod_snapshot::PodSnapshotView;
pub use pod_template::checkpoints_of;
pub(crate) use pod_view::PodView;
pub use quantity::Quantity;
pub(crate) use quantity::SUFFIXES;
pub use taken::Taken;
pub use text::{Text, or_default};
pub use time::Time;
pub use uid::Uid;
pub(crate) use volume_snapshot::VolumeSnapshotView;
pub use word::Word;
