//! Snapshot → failures → groups → report. Pure: no I/O, no clock (the time of the data is passed in).

mod analyst;
mod cause;
mod checkpoint;
mod evidence;
mod explain;
mod facts;
mod failure;
mod gone;
mod group;
mod idle;
mod job;
mod job_set;
mod line;
mod node_share;
mod orphan;
mod owner;
mod report;
mod sidecar;
mod standing;
mod teardown;
mod words;
mod workload;

pub use cause::is_sent;
pub use checkpoint::{DeletedBy, Deletion, Kept, claim_in, kept, kept_in, of_cron_job_in, of_job, of_job_in};
pub use evidence::object;
pub use explain::{FindError, Subject, explain, find, is_of};
pub use failure::{Failure, GoneJob, RuleHit, Told};
pub use group::{Members, exemplar};
pub use job_set::{Attempt, Decision, JobSetStory};
pub use line::failure_line;
pub use report::{Reported, report};
pub use sidecar::SidecarHit;
pub use standing::{Other, Standing, TTL, names_of_kind};
pub use teardown::{TornDownBy, blocker};
pub use words::telling_line;
pub use workload::{Analysis, Options, Workload, analyse};
