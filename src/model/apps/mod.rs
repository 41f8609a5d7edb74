//! Workloads of the group `apps`, and the revisions of their pod templates.

mod daemon_set;
mod deployment;
mod revision;
mod stateful_set;

pub use daemon_set::DaemonSet;
pub(crate) use daemon_set::DaemonSetView;
pub use deployment::Deployment;
pub(crate) use deployment::DeploymentView;
pub(crate) use revision::{ControllerRevisionView, ReplicaSetView, can_be_shown as may_be_shown};
pub use revision::{Revision, TemplateLeaf};
pub use stateful_set::StatefulSet;
pub(crate) use stateful_set::StatefulSetView;
