//! Reads of a cluster that is a server in this process, with the faults that real ones have.

mod checkpoints;
#[cfg(target_os = "linux")]
mod completion;
mod decided;
mod doctor;
mod faults;
mod kubeconfigs;
mod late_pods;
mod lists;
mod live;
mod others;
mod outages;
mod record;
mod restarts;
mod several;
#[cfg(target_os = "linux")]
mod shells;
mod subjects;
mod support;
mod targets;
mod tls;
mod tolerance;
#[path = "../shared/tomorrow.rs"]
mod unknown;
mod waits;
mod watched;
mod watches;
