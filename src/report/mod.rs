//! The types that are the JSON: `apiVersion: kubectl-sigapps/v1alpha1`. The published schema is made from them.
//!
//! Inside a version there are only additions. Times are RFC 3339, durations seconds, unknown is `null`.

mod checkpoint;
mod class;
mod doctor;
mod explanation;
mod failure;
mod job_set;
mod restart;
mod rollout;
mod schema;
mod version;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use checkpoint::{
    AnswerReport, CheckpointReport, DeletedBy, DeletionReport, DurableReport, SavesReport, SigtermReport,
    SnapshotReport,
};
pub use class::Class;
pub use doctor::{
    Doctor, DoctorAuthority, DoctorClock, DoctorConnection, DoctorFeature, DoctorFile, DoctorFileState, DoctorGrant,
    DoctorGroup, DoctorGroupState, DoctorKubeconfig, DoctorNamedBy, DoctorNamespace, DoctorNamespaceState,
    DoctorProblem, DoctorProxy, DoctorProxyReason, DoctorRight, DoctorRightState, DoctorServer, DoctorSignIn,
    DoctorSignInBy, DoctorStep, DoctorStepName, DoctorStepState, DoctorSupport, DoctorTier, DoctorTls, DoctorTool,
};
pub use explanation::{
    Explanation, Judged, PolicyReport, PolicyRule, RuleVerdict, Run, TimelineEntry, TimelineKind, VerdictTells,
};
pub use failure::{FailureLine, FailureRule};
pub use job_set::{
    AttemptOutcome, AttemptReport, Blocker, JobSetReport, JobSetRule, RESTARTS_IN_PLACE, RuleSource, Situation,
    SituationKind,
};
pub use restart::{DryRun, RefusalReason, Restart, RestartOutcome, RestartRefusal, RestartStep, StepState};
pub use rollout::{RolloutReport, TemplateChange};
pub use schema::{doctor_schema, explanation_schema, failure_schema, report_schema, restart_schema, version_schema};
pub use version::Version;

use crate::model::{Time, Word};
use crate::policy::NameSource;

/// `apiVersion` of all that is printed for machines.
pub const API_VERSION: &str = "kubectl-sigapps/v1alpha1";

/// A time in the JSON: RFC 3339 in UTC.
pub type Moment = Time;

/// All failures of a cluster or a dump, in groups.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureReport {
    /// `kubectl-sigapps/v1alpha1`.
    pub api_version: &'static str,
    /// `FailureReport`.
    pub kind: &'static str,
    /// Time of the data: now for a cluster, the newest time in it for files. `null` where files hold no time.
    pub as_of: Option<Moment>,
    /// What was asked for.
    pub scope: ReportScope,
    /// What was read and what was not.
    pub sources: Vec<Source>,
    /// Objects of other kinds in the input, by kind: counted and passed over.
    pub ignored: BTreeMap<String, u64>,
    /// Totals over all groups.
    pub summary: Summary,
    /// Only with `--baseline`: what an earlier report has already, and is left out of all the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineReport>,
    /// The groups, most costly and most recent first.
    pub groups: Vec<Group>,
    /// The workloads that the groups name, by kind, namespace and name.
    pub workloads: Vec<WorkloadReport>,
    /// What to do next.
    pub suggestions: Vec<Suggestion>,
    /// What a reader must know beyond single groups: contradictions between what was recorded and what was computed.
    pub notes: Vec<String>,
}

/// What was asked for.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportScope {
    /// Kubeconfig contexts; empty for files. More than one make a report of several clusters.
    pub contexts: Vec<String>,
    /// Namespaces; empty for all. Of several clusters, those of all of them.
    pub namespaces: Vec<String>,
    /// Label selector.
    pub selector: Option<String>,
    /// Only failures that ended within this many seconds before `asOf`.
    pub since: Option<i64>,
    /// Files read.
    pub files: Vec<String>,
    /// Workloads asked for by name, as `job/x`; empty for all.
    pub targets: Vec<String>,
    /// Kinds asked for, as `cronjobs`; empty for all.
    pub kinds: Vec<String>,
    /// Classes asked for; empty for all.
    pub classes: Vec<Class>,
    /// Whether workloads that completed in spite of failures are among them.
    pub all: bool,
    /// What the groups are made by.
    pub group_by: &'static str,
}

/// What became of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SourceState {
    /// Read to its end.
    Read,
    /// The API server refused it.
    Denied,
    /// The API group is not installed.
    NotInstalled,
    /// Only a part of a list was read from the API server.
    Truncated,
    /// It was cut off, or objects of it could not be read.
    Unreadable,
    /// It was not asked for, or the input holds none.
    NotAsked,
    /// Of one of several clusters: the cluster was not reached, or let nobody in. Of one cluster alone that is no report.
    Unreachable,
    /// A recording that was read to its end, and in which some of the time asked for is missing: no recorder ran.
    Gap,
}

impl SourceState {
    /// Of several readings of one resource, the one with the most weight is told: what was worse.
    pub(crate) const fn weight(self) -> u8 {
        match self {
            Self::NotAsked => 0,
            Self::Read => 1,
            Self::NotInstalled | Self::Gap => 2,
            Self::Unreadable => 3,
            Self::Denied => 4,
            Self::Truncated => 5,
            Self::Unreachable => 6,
        }
    }
}

/// One source and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// Kubeconfig context; `null` for files.
    pub cluster: Option<String>,
    /// A resource's plural name, or `files`.
    pub resource: String,
    /// The file, where the source is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What became of it.
    pub state: SourceState,
    /// Objects read.
    pub objects: u64,
    /// Objects passed over because they could not be read.
    pub skipped: u64,
    /// Why, for a person.
    pub message: Option<String>,
}

impl Source {
    /// A resource of a cluster, nothing read of it yet.
    pub fn of_cluster(cluster: &str, resource: &str, state: SourceState) -> Self {
        Self {
            cluster: Some(cluster.to_owned()),
            resource: resource.to_owned(),
            file: None,
            state,
            objects: 0,
            skipped: 0,
            message: None,
        }
    }
}

/// Totals over all groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Workloads with failures.
    pub workloads: usize,
    /// Failures, all classes together: the sum of the groups' `failures`.
    pub failures: u64,
    /// Groups.
    pub groups: usize,
    /// Failures of class `collateral`.
    pub collateral: u64,
    /// Failures of class `lost`.
    pub lost: u64,
    /// Accelerator-seconds spent in failed attempts, as far as they are known.
    pub gpu_seconds: f64,
    /// Workloads left out because they completed in spite of failures; shown with `--all`.
    pub completed_workloads: usize,
    /// Failures of those workloads.
    pub completed_failures: u64,
}

/// What an earlier report has already: failures of a group that it knows in a workload that it knows in that group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BaselineReport {
    /// Time of the data of the earlier report.
    pub as_of: Option<Moment>,
    /// Groups with failures that are left out.
    pub groups: usize,
    /// Failures that are left out.
    pub failures: u64,
    /// Of these groups, those with more failures in the workloads known then than they had altogether.
    pub grown: usize,
}

/// How a group is new, beside an earlier report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Novelty {
    /// The earlier report has no such group.
    Group,
    /// It has the group, without the workloads that are shown.
    Workloads,
}

/// A workload by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadRef {
    /// `Job`, `CronJob`, `JobSet`, or the kind of a pod's owner.
    pub kind: Word,
    /// Namespace.
    pub namespace: Word,
    /// Name.
    pub name: Word,
    /// Kubeconfig context; only in a report of several clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Word>,
    /// Uid, where it is known.
    pub uid: Option<Word>,
}

impl std::fmt::Display for WorkloadRef {
    /// As kubectl names it: `job/x`.
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}/{}", self.kind.to_ascii_lowercase(), self.name)
    }
}

/// The rule of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupRule {
    /// What the rule is called.
    pub label: String,
    /// Where the label comes from.
    pub name_source: NameSource,
    /// The rule's name, where it has one.
    pub name: Option<String>,
    /// Index in its policy, from 0; `null` where it differs between the group's Jobs.
    pub index: Option<usize>,
    /// `FailJob`, `FailIndex`, `Ignore` or `Count`.
    pub action: String,
    /// What the rule asks for.
    pub requirement: String,
}

/// What happened, of the group's failure that stands for the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// The container.
    pub container: Option<String>,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// The signal an exit code above 128 stands for by convention.
    pub signal: Option<String>,
    /// Reason: of the disruption, the pod, or the container's end.
    pub reason: Option<String>,
    /// In one line, for a person.
    pub text: String,
}

/// Failures of one group on one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupNode {
    /// The node's name.
    pub name: Word,
    /// Kubeconfig context of its cluster; only in a report of several clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Word>,
    /// Failures on it.
    pub failures: u32,
    /// Whether it is ready; `null` where that is unknown or nodes were not read.
    pub ready: Option<bool>,
}

/// A node beside what failed on it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeShare {
    /// Since when it is, or is not, ready; `null` where the node was not read.
    pub ready_since: Option<Moment>,
    /// Whether its kubelet has stopped reporting (`Ready` is `Unknown`); `null` where the node was not read.
    pub silent: Option<bool>,
    /// Whether it is cordoned; `null` where the node was not read.
    pub unschedulable: Option<bool>,
    /// Its taints, as kubectl writes them.
    pub taints: Vec<String>,
    /// Its conditions that are true, `Ready` aside: pressures, its lifecycle, what a problem detector found.
    pub conditions: Vec<String>,
    /// Pods in the data that are, or were, on it; those that may run nowhere else are left out, but for what failed.
    pub pods: u64,
    /// The share of all failures that is on it, from 0 to 1.
    pub failure_share: f64,
    /// The share of all pods that is on it, from 0 to 1.
    pub pod_share: f64,
}

/// Failures that belong together.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// The same in every run on the same data: a hash of what the failures are grouped by.
    pub id: String,
    /// The failures' class; `null` where grouping by something else put several classes together.
    pub class: Option<Class>,
    /// The matched rule, where all failures of the group have it in common.
    pub rule: Option<GroupRule>,
    /// For a `JobSet`: the rule of its failure policy under which the controller acted on these failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_set_rule: Option<JobSetRule>,
    /// What the failures have in common beside the class: a reason, a signature, a node, …
    pub key: Option<String>,
    /// What happened.
    pub cause: Option<Cause>,
    /// How many of them counted towards `backoffLimit`.
    pub counted: u64,
    /// How many there are.
    pub failures: u64,
    /// The workloads they are of.
    pub workloads: Vec<WorkloadRef>,
    /// Completion indexes, as Kubernetes writes them: `0-7,12`.
    pub indexes: Option<String>,
    /// The nodes they were on, most failures first.
    pub nodes: Vec<GroupNode>,
    /// Where failures are grouped by node: what is known of it, and how its share of the failures is beside that of the pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeShare>,
    /// When the first of them ended.
    pub first_at: Option<Moment>,
    /// When the last of them ended.
    pub last_at: Option<Moment>,
    /// Accelerator-seconds spent in them; `null` where none of them is known.
    pub gpu_seconds: Option<f64>,
    /// Pods torn down by these failures.
    pub collateral: u64,
    /// One failure that stands for all.
    pub exemplar: FailureLine,
    /// Ids of the suggestions that follow from the group.
    pub suggestions: Vec<String>,
    /// What a reader must know of this group.
    pub notes: Vec<String>,
    /// Only with `--baseline`: how it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub novelty: Option<Novelty>,
    /// All its failures are collateral that stands beside what caused it (in `collateral` of other groups).
    #[serde(skip)]
    pub stands_beside: bool,
}

/// Where a workload stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WorkloadState {
    /// Still at it.
    Running,
    /// Suspended.
    Suspended,
    /// It goes on with less than was asked for: pods, groups or nodes without a ready pod.
    Degraded,
    /// It does not get on by itself: a rollout past its deadline, a pod that holds up those behind it.
    Stuck,
    /// A `JobSet` whose Jobs are made anew, or are not all ready yet after that.
    Restarting,
    /// Bound to fail, pods are still ending (`FailureTarget` without `Failed`).
    Failing,
    /// Failed.
    Failed,
    /// Completed, in spite of failures.
    Complete,
    /// Deleted before it came to an end, as a journal tells.
    Deleted,
    /// Unknown: the workload itself is not in the data.
    Unknown,
}

impl WorkloadState {
    /// In a word, as the JSON spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Suspended => "suspended",
            Self::Degraded => "degraded",
            Self::Stuck => "stuck",
            Self::Restarting => "restarting",
            Self::Failing => "failing",
            Self::Failed => "failed",
            Self::Complete => "complete",
            Self::Deleted => "deleted",
            Self::Unknown => "unknown",
        }
    }
}

/// The failure that came first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FirstCause {
    /// The Job.
    pub job: Option<String>,
    /// The pod.
    pub pod: Option<String>,
    /// The node.
    pub node: Option<String>,
    /// The container.
    pub container: Option<String>,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// Reason: of the disruption, the pod, or the container's end.
    pub reason: Option<String>,
    /// Index of the rule it matched.
    pub rule_index: Option<usize>,
    /// When.
    pub at: Option<Moment>,
}

/// What the controller recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActedOn {
    /// The Job.
    pub job: String,
    /// The condition: `FailureTarget` or `Failed`.
    pub condition: String,
    /// The condition's reason.
    pub reason: String,
    /// The condition's message.
    pub message: String,
    /// The pod named in the message.
    pub pod: Option<String>,
    /// The rule named in the message, or by the reason.
    pub rule_index: Option<usize>,
    /// When.
    pub at: Option<Moment>,
}

/// A workload with failures.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadReport {
    /// Which.
    #[serde(flatten)]
    pub workload: WorkloadRef,
    /// Where it stands.
    pub state: WorkloadState,
    /// `true` where it was deleted since, as a journal tells: what is told of it is how it was before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<bool>,
    /// Failures.
    pub failures: u64,
    /// Of these, counted towards `backoffLimit`.
    pub counted: u64,
    /// Of these, collateral.
    pub collateral: u64,
    /// Of these, without a pod left.
    pub lost: u64,
    /// Accelerator-seconds spent in failed attempts; `null` where none of them is known.
    pub gpu_seconds: Option<f64>,
    /// `spec.backoffLimit`, for a single Job that retries as a whole.
    pub backoff_limit: Option<u32>,
    /// The failure that came first.
    pub first_cause: Option<FirstCause>,
    /// What the controller acted on.
    pub acted_on: Option<ActedOn>,
    /// What a `JobSet` alone has: its attempts and what holds it up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_set: Option<JobSetReport>,
    /// What holds it up, or is wrong with it as a whole, the most pressing first; of a `JobSet` they are in `jobSet`.
    pub situations: Vec<Situation>,
    /// What a reader must know of this workload.
    pub notes: Vec<String>,
}

/// What a suggestion advises. In the order in which they are told: what must be mended first, what needs no hand last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SuggestionKind {
    /// Let go of pods that cannot end by themselves.
    UnblockTeardown,
    /// Delete a pod that keeps a rollout from going on.
    UnblockRollout,
    /// Keep a volume with checkpoints from being deleted.
    ProtectCheckpoint,
    /// Go back to the version before.
    RollBack,
    /// Keep new pods off a bad node.
    ReplaceNode,
    /// Mend what fails every time, then start again.
    FixThenRestart,
    /// Change the policy.
    EditPolicy,
    /// Raise a memory limit or request.
    RaiseMemory,
    /// Mend an image.
    FixImage,
    /// Mend a configuration.
    FixConfig,
    /// Make room for pods.
    FreeCapacity,
    /// Start again; it is configured to go on from a checkpoint.
    ResumeFromCheckpoint,
    /// Start again from the beginning.
    Restart,
    /// Allow more restarts.
    RaiseRestarts,
    /// Save checkpoints.
    EnableCheckpoint,
    /// Look closer.
    Inspect,
    /// Nothing: the controller is at it.
    Wait,
}

impl SuggestionKind {
    /// The advice in a few words.
    pub const fn title(self) -> &'static str {
        match self {
            Self::UnblockTeardown => "Unblock the teardown",
            Self::UnblockRollout => "Unblock the rollout",
            Self::RollBack => "Roll back",
            Self::ProtectCheckpoint => "Protect the checkpoint",
            Self::ReplaceNode => "Replace the node",
            Self::FixThenRestart => "Fix, then restart",
            Self::EditPolicy => "Edit the policy",
            Self::RaiseMemory => "Raise memory",
            Self::FixImage => "Fix the image",
            Self::FixConfig => "Fix the configuration",
            Self::FreeCapacity => "Free capacity",
            Self::ResumeFromCheckpoint => "Resume from checkpoint",
            Self::Restart => "Restart",
            Self::RaiseRestarts => "Raise the restarts",
            Self::EnableCheckpoint => "Enable checkpoints",
            Self::Inspect => "Inspect",
            Self::Wait => "Wait",
        }
    }
}

/// What running a suggestion's commands does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Safety {
    /// They only read.
    ReadOnly,
    /// They change the cluster.
    Mutating,
    /// They delete pods, volumes or evidence.
    Destructive,
}

/// Where a fact comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The object: `pod/data/etl-x2f4b`.
    pub object: Box<str>,
    /// The field's path in it.
    pub path: Box<str>,
    /// The value there.
    pub value: Box<str>,
}

impl Evidence {
    /// The value of a field of an object.
    pub fn new(object: impl Into<Box<str>>, path: impl Into<Box<str>>, value: impl Into<Box<str>>) -> Self {
        Self { object: object.into(), path: path.into(), value: value.into() }
    }
}

/// A fact that a suggestion rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuggestionFact {
    /// Where it comes from.
    #[serde(flatten)]
    pub fact: Evidence,
    /// Kubeconfig context of the cluster that the object is in; only in a report of several clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Word>,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// Unique within the report.
    pub id: String,
    /// What it advises.
    pub kind: SuggestionKind,
    /// What running its commands does.
    pub safety: Safety,
    /// The advice in a few words.
    pub title: String,
    /// The workloads it is for, in words.
    pub subject: String,
    /// All of them.
    pub workloads: Vec<WorkloadRef>,
    /// Why, in one sentence.
    pub why: String,
    /// What is lost by running the commands, where they destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loses: Option<String>,
    /// Commands that run as printed, those that only read first.
    pub commands: Vec<String>,
    /// Commands for others of the workloads that are left out.
    pub commands_left_out: usize,
    /// What running each of the commands does, in their order.
    pub command_safety: Vec<Safety>,
    /// The facts it rests on.
    pub evidence: Vec<SuggestionFact>,
}

impl From<Evidence> for SuggestionFact {
    fn from(fact: Evidence) -> Self {
        Self { fact, cluster: None }
    }
}
