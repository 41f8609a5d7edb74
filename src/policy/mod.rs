//! The rules of the Job controller, as pure functions: which rule of a `podFailurePolicy` matches an ended pod, what a
//! rule is called, and what a Job's recorded reason and message tell.
//!
//! Source: Kubernetes `pkg/controller/job/pod_failure_policy.go` and `job_controller.go` (v1.25 to v1.37), KEP-3329
//! (pod failure policy), KEP-3850 (per-index limits) and KEP-4443 (rule names). The failure policy of a `JobSet` is in `job_set`.

mod evaluate;
mod go_pattern;
mod indexes;
mod job_set;
mod label;
mod patterns;
mod recorded;
mod retries;
mod why;

pub use evaluate::{Endings, Match, MatchedBy, evaluate};
pub use go_pattern::{GoPattern, PatternError};
pub use indexes::{compress_indexes, count_indexes, expand_indexes, holds_index};
pub use job_set::{
    FailedJob, applies as job_set_rule_applies, asks_for as job_set_rule_asks_for, choose as job_set_choose,
    rule_for as job_set_rule_for, why_not as job_set_rule_why_not,
};
pub use label::{NameSource, RuleLabel, label, requirement};
pub use patterns::Patterns;
pub use recorded::{Decision, RecordedRule, parse_message, recorded_rule};
pub use retries::{Retries, backoff_limit, retries_of_index, retries_of_job};
pub use why::{RuleWhy, why};
