//! JobSets: what their controller decided while it could be watched, against what the tool tells of it afterwards.

mod agreement;
mod alignment;
mod beside;
mod controller_log;
mod decisions;
pub(crate) mod differential;
mod expectations;
mod failure_policy;
pub(crate) mod history;
mod player;
mod random;
mod remains;
pub(crate) mod scenarios;
mod told;
pub(crate) mod watched;

pub(crate) use scenarios::agreed_in_file;

/// `jobset.sigs.k8s.io/` and the name of a label on child Jobs and pods.
const RESTART_ATTEMPT: &str = "jobset.sigs.k8s.io/restart-attempt";
const JOB_RESTART_ATTEMPT: &str = "jobset.sigs.k8s.io/job-restart-attempt";
const REPLICATED_JOB: &str = "jobset.sigs.k8s.io/replicatedjob-name";
const JOB_INDEX: &str = "jobset.sigs.k8s.io/job-index";
