//! `kubectl sigapps`: what failed in a cluster's batch workloads, under which pod-failure-policy rule, and what is
//! safe to do next.
//!
//! The rooms, in the order data walks through them; none reaches back:
//! arguments ([`cli`]) → [`request`] → [`source`] (a [`source::Snapshot`]) → [`analysis`] → [`advice`] → [`report`] →
//! [`render`]. [`fleet`] puts reports of several clusters together. [`model`] holds what is read of each kind, [`policy`]
//! the rules of the Job controller, [`checkpoint`] what pod templates tell of checkpoints, `gitops` the marks of who
//! applies an object; `kubectl` and `shell` make the commands that are printed, `words` names and numbers in sentences;
//! [`jsonpath`] cuts fields out of what is printed. [`restart`] starts a workload again; no other room asks for writes.
//! [`record`] keeps what was read, for a later reading. [`doctor`] tells what of a cluster can be seen, and what not.

pub mod advice;
pub mod analysis;
pub mod checkpoint;
pub mod cli;
pub mod doctor;
pub mod fleet;
mod gitops;
pub mod jsonpath;
mod kubectl;
pub mod model;
pub mod policy;
pub mod record;
pub mod render;
pub mod report;
pub mod request;
pub mod restart;
mod shell;
pub mod source;
mod words;
