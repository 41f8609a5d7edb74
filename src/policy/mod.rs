//! The rules of the Job controller, as pure functions: which rule of a `podFailurePolicy` matches an ended pod, what a
//! rule is called, and what a Job's recorded reason and message tell.
//!
//! Source: Kubernetes `pkg/controller/job/pod_failure_policy.go` and `job_controller.go` (v1.25 to v1.37), KEP-3329
//! (pod failure policy), KEP-3850 (per-index limits) and KEP-4443 (rule names).

mod evaluate;
mod indexes;
mod label;
mod recorded;

pub use evaluate::{Endings, Match, MatchedBy, evaluate};
pub use indexes::{compress_indexes, holds_index};
pub use label::{NameSource, RuleLabel, label, requirement};
pub use recorded::{Decision, RecordedRule, parse_message, recorded_rule};
