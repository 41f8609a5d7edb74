use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Class {
    /// The pod matched a rule of its Job's `podFailurePolicy`.
    Rule,
    /// A policy exists and no rule matched: counted by default.
    NoRule,
    /// The Job has no `podFailurePolicy`.
    NoPolicy,
    /// Failed with neither container statuses nor a condition of its own: no rule could ever match.
    Unmatchable,
    /// Torn down because its Job was already failing, finished, suspended or being deleted.
    Collateral,
    /// Cannot start.
    Pending,
    /// Containers fail in place; the policy never sees them.
    Restarting,
    /// Runs and is not ready: its node has gone silent, or its containers do not become ready.
    NotReady,
    /// The Job failed without a failure of a pod.
    JobLevel,
    /// A workload other than a Job is stuck or failed as a whole, and no pod shows why.
    WorkloadLevel,
    /// `status.failed` counts it, no pod is left.
    Lost,
    /// The pod belongs to no Job: no `podFailurePolicy` holds for it.
    NoJob,
    /// Failed, but its Job is not in the data or is managed by another controller: its policy cannot be applied.
    Unknown,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 13] = [
        Self::Rule,
        Self::NoRule,
        Self::NoPolicy,
        Self::Unmatchable,
        Self::Collateral,
        Self::Pending,
        Self::Restarting,
        Self::NotReady,
        Self::JobLevel,
        Self::WorkloadLevel,
        Self::Lost,
        Self::NoJob,
        Self::Unknown,
    ];

    /// The class as the JSON spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::NoRule => "noRule",
            Self::NoPolicy => "noPolicy",
            Self::Unmatchable => "unmatchable",
            Self::Collateral => "collateral",
            Self::Pending => "pending",
            Self::Restarting => "restarting",
            Self::NotReady => "notReady",
            Self::JobLevel => "jobLevel",
            Self::WorkloadLevel => "workloadLevel",
            Self::Lost => "lost",
            Self::NoJob => "noJob",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}
