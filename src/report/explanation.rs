use schemars::JsonSchema;
use serde::Serialize;

use super::{
    CheckpointReport, Evidence, JobSetReport, Moment, RolloutReport, Situation, Source, Suggestion, WorkloadRef,
    WorkloadState,
};
use crate::policy::NameSource;

/// The whole story of one workload or pod.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// `kubectl-sigapps/v1alpha1`.
    pub api_version: &'static str,
    /// `Explanation`.
    pub kind: &'static str,
    /// Kubeconfig context; `null` for files.
    pub cluster: Option<String>,
    /// Time of the data: now for a cluster, the newest time in it for files.
    pub as_of: Option<Moment>,
    /// What is explained.
    pub subject: WorkloadRef,
    /// Where it stands.
    pub state: WorkloadState,
    /// `true` where it was deleted since, as a journal tells: what is told of it is how it was before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<bool>,
    /// What became of it, in one sentence.
    pub verdict: String,
    /// What happened, in order of time. Of a `JobSet`: its last attempt; the others are in `jobSet`.
    pub timeline: Vec<TimelineEntry>,
    /// Attempts of a `JobSet`, and what holds it up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_set: Option<JobSetReport>,
    /// What holds it up, or is wrong with it as a whole, the most pressing first; of a `JobSet` they are in `jobSet`.
    pub situations: Vec<Situation>,
    /// Of a workload that is rolled out: what changed, where that is not done or did not go well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<RolloutReport>,
    /// Runs of a `CronJob`, the latest first.
    pub runs: Vec<Run>,
    /// The policies that hold, and how often each rule matched.
    pub policies: Vec<PolicyReport>,
    /// Rule by rule, why it matched or why not: for the pod explained, else for one pod of each cause.
    pub judged: Vec<Judged>,
    /// What the pod templates tell of checkpoints, and what becomes of them; empty where they tell nothing.
    pub checkpoints: Vec<CheckpointReport>,
    /// Where each fact comes from.
    pub evidence: Vec<Evidence>,
    /// What cannot be known, and why.
    pub missing: Vec<String>,
    /// What to do next.
    pub suggestions: Vec<Suggestion>,
    /// What was read and what was not.
    pub sources: Vec<Source>,
    /// Contradictions between what was recorded and what was computed.
    pub notes: Vec<String>,
    /// What of `jobSet` the verdict has told already.
    #[serde(skip)]
    pub verdict_tells: VerdictTells,
}

/// What of a `JobSet` stands in its verdict, so that a person is not told it twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictTells {
    /// Its first situation.
    pub situation: bool,
    /// What is left of its restarts.
    pub budget: bool,
}

/// What an entry of a timeline tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TimelineKind {
    /// The object was created.
    Created,
    /// Its first pods could start.
    Started,
    /// The failure that came first.
    FirstFailure,
    /// More failures.
    Failure,
    /// What the controller acted on.
    ActedOn,
    /// Pods torn down with it.
    Collateral,
    /// Failures whose pods are gone.
    Lost,
    /// Something that still goes on: pods that wait, containers that restart in place.
    Ongoing,
    /// An attempt of a `JobSet` ended.
    Restart,
    /// It was suspended.
    Suspended,
    /// It failed.
    Failed,
    /// It completed.
    Completed,
    /// Its deletion was asked for.
    Deleting,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineEntry {
    /// When; `null` where that is not known.
    pub at: Option<Moment>,
    /// What it is.
    pub kind: TimelineKind,
    /// In words.
    pub text: String,
    /// The object it happened to: `pod/ns/x`.
    pub object: Option<String>,
    /// The node.
    pub node: Option<String>,
    /// How many things this entry stands for.
    pub count: u64,
}

/// A policy and how often each of its rules matched.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyReport {
    /// `podFailurePolicy` or `failurePolicy`.
    pub kind: &'static str,
    /// Where it is written: `job/ns/x`, `jobset/ns/x`.
    pub object: String,
    /// The replicated Jobs of a `JobSet` that have it.
    pub replicated_jobs: Vec<String>,
    /// The rules, in their order.
    pub rules: Vec<PolicyRule>,
    /// What happens where no rule matches.
    pub default_action: String,
    /// How often no rule matched.
    pub default_matched: u64,
    /// How often it is not known whether and which rule matched.
    pub unknown: u64,
    /// Whether pods that are gone with earlier attempts may have matched as well.
    pub partial: bool,
}

/// One rule of a policy.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyRule {
    /// Index, from 0.
    pub index: usize,
    /// What the rule is called.
    pub label: String,
    /// Where the label comes from.
    pub name_source: NameSource,
    /// What it does.
    pub action: String,
    /// What it asks for.
    pub requirement: String,
    /// How often it matched.
    pub matched: u64,
}

/// How a policy judges one failure, rule by rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Judged {
    /// What is judged: `pod/ns/x`, or `job/ns/x` under a `JobSet`'s policy.
    pub object: String,
    /// How it ended, in words.
    pub cause: String,
    /// The policy: `podFailurePolicy` or `failurePolicy`.
    pub policy: &'static str,
    /// The index of the rule that matched; `null` for the default.
    pub matched: Option<usize>,
    /// One for each rule.
    pub rules: Vec<RuleVerdict>,
}

/// Why a rule matched, or why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleVerdict {
    /// Index, from 0.
    pub index: usize,
    /// What the rule is called.
    pub label: String,
    /// What it does.
    pub action: String,
    /// Whether it is the one that matched.
    pub matched: bool,
    /// Why, or why not: `rule 0 not matched: exit code 1 is not in [42]`.
    pub why: String,
}

/// One run of a `CronJob`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The Job.
    pub job: String,
    /// When it was created.
    pub created_at: Option<Moment>,
    /// When it failed or completed.
    pub ended_at: Option<Moment>,
    /// Where it stands.
    pub state: WorkloadState,
    /// Failures, collateral not counted.
    pub failures: u64,
    /// What failed it, in words.
    pub cause: Option<String>,
    /// The rule that it failed under.
    pub rule: Option<String>,
    /// What that rule does.
    pub action: Option<String>,
}
