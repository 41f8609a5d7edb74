//! Reads of a cluster that is a server in this process, with the faults that real ones have.

mod checkpoints;
mod decided;
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
mod subjects;
mod support;
mod targets;
mod tls;
mod waits;
mod watched;
mod watches;
