use schemars::JsonSchema;
use serde::Serialize;

use super::{FailureRule, Moment};

/// The rule of a `JobSet`'s failure policy under which its controller acted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobSetRule {
    /// The rule's name; `(default)` where none applied, `(no failure policy)`, `(restarts in place)` where no rule was asked,
    /// `(unknown)`.
    pub label: String,
    /// The rule's name, where a rule applied.
    pub name: Option<String>,
    /// Index in `spec.failurePolicy.rules`, from 0.
    pub index: Option<usize>,
    /// `FailJobSet`, `RestartJobSet`, …; `null` without a failure policy and where it is not known.
    pub action: Option<String>,
    /// Whether the controller recorded the rule or it was evaluated; `null` where it is not known.
    pub source: Option<RuleSource>,
    /// Reason of the `JobSet`'s own condition `Failed`, where the decision failed it: `FailJobSetFailurePolicyAction`,
    /// `ReachedMaxRestarts`, `FailedJobs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_reason: Option<String>,
    /// The Job's reason that it was applied to.
    pub job_reason: Option<String>,
}

/// Stands for the rule where containers were restarted in place too often, and no rule was asked.
pub const RESTARTS_IN_PLACE: &str = "(restarts in place)";

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RuleSource {
    /// The controller recorded it.
    Recorded,
    /// It was evaluated from the Job's reason and message.
    Evaluated,
}

/// What a `JobSet` alone has.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobSetReport {
    /// `status.restarts`.
    pub restarts: u32,
    /// `status.restartsCountTowardsMax`.
    pub restarts_count_towards_max: u32,
    /// Restarts of single Jobs (feature gate `RestartJob`).
    pub job_restarts: u32,
    /// Of these, counted towards `maxRestarts`.
    pub job_restarts_count_towards_max: u32,
    /// `spec.failurePolicy.maxRestarts`; `null` without a failure policy.
    pub max_restarts: Option<u32>,
    /// `spec.failurePolicy.restartStrategy`.
    pub restart_strategy: Option<String>,
    /// What is left of the restarts, in words.
    pub budget: String,
    /// Accelerator-seconds that the attempts that ended held, by the spec.
    pub gpu_seconds: f64,
    /// Whether those of some attempts are not known, so that it was more.
    pub gpu_seconds_partial: bool,
    /// The attempts, in order of time, the current one last.
    pub attempts: Vec<AttemptReport>,
    /// What holds it up, the most pressing first.
    pub situations: Vec<Situation>,
}

/// How an attempt ended, or where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AttemptOutcome {
    /// All Jobs were made anew.
    Restarted,
    /// One Job was made anew; the attempt went on.
    JobRestarted,
    /// The `JobSet` failed.
    Failed,
    /// The `JobSet` completed.
    Completed,
    /// It runs.
    Running,
    /// Its Jobs are being made, or are not ready yet, after a restart.
    Restarting,
    /// It is suspended.
    Suspended,
    /// It ended, and nothing tells how.
    Unknown,
}

/// One attempt of a `JobSet`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptReport {
    /// `status.restarts` at that time.
    pub attempt: u32,
    /// The last attempt, where one entry stands for several, or where it is not known which one it stands for; `count` says
    /// for how many it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through: Option<u32>,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// How many ended attempts, or restarts of single Jobs, the entry stands for: 1, but where they are not known one by one.
    pub count: u32,
    /// When its first Job was made or, where that is not known, when the restart before was decided.
    pub started_at: Option<Moment>,
    /// When its end was decided.
    pub ended_at: Option<Moment>,
    /// The rule that ended it.
    pub rule: Option<JobSetRule>,
    /// Whether the restart counts towards `maxRestarts`.
    pub counted: Option<bool>,
    /// How many counted restarts were used then, this one included.
    pub counted_so_far: Option<u32>,
    /// The Job that the controller names as the first failed one.
    pub job: Option<String>,
    /// Its uid.
    pub job_uid: Option<String>,
    /// Reason of that Job's failure.
    pub reason: Option<String>,
    /// Message of that Job's failure.
    pub message: Option<String>,
    /// The rule of its `podFailurePolicy` that failed it.
    pub pod_rule: Option<FailureRule>,
    /// The pod whose failure failed it.
    pub pod: Option<String>,
    /// The pod is told by elimination: of the pods that the Job made, the only one that it did not delete.
    pub pod_by_elimination: bool,
    /// The container that failed.
    pub container: Option<String>,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// The pod condition that the rule matched.
    pub condition: Option<String>,
    /// What the container said last, where its pod is in the data.
    pub said: Option<String>,
    /// The pod's node.
    pub node: Option<String>,
    /// Another Job of the attempt that had begun to fail before the one named.
    pub earliest_job: Option<String>,
    /// Accelerator-seconds that the attempt held by the spec; `null` while it goes on or where its times are not known.
    pub gpu_seconds: Option<f64>,
    /// What cannot be known, and why.
    pub missing: Vec<String>,
}

/// What holds a workload up, or is wrong with it as a whole.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Situation {
    /// Which.
    pub kind: SituationKind,
    /// In a sentence.
    pub text: String,
    /// Since when.
    pub since: Option<Moment>,
    /// Pods that hold it up.
    pub blockers: Vec<Blocker>,
    /// The fields that tell of it, where they do not stand in the explanation's own.
    pub evidence: Vec<super::Evidence>,
}

/// What a situation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SituationKind {
    /// It restarts again and again, and no limit ends that.
    EndlessRestarts,
    /// Pods that are still ending hold its restart up.
    TeardownBlocked,
    /// A Job is bound to fail, and the policy waits until its pods have ended.
    WaitingForFailed,
    /// A Job could not be made.
    CreationRefused,
    /// What it refers to, or was to be made from, is not there.
    ReferenceMissing,
    /// Its schedule cannot be read, so that nothing runs.
    BadSchedule,
    /// Its rollout does not get on.
    RolloutStuck,
    /// A pod that is not ready holds up those behind it.
    OrdinalBlocked,
    /// A pod of an older template is never replaced by itself.
    NotReplaced,
    /// Its pod failed, and no other one is made.
    NotRecreated,
    /// It ended at its deadline.
    DeadlineExceeded,
    /// Kueue does not admit it again until somebody makes it active.
    Deactivated,
    /// Some of its pods, groups or roles are not available.
    Unavailable,
    /// A run that does not end keeps others from starting.
    RunBlocks,
    /// Runs were due and did not start.
    SchedulesMissed,
    /// Runs that failed are gone from the history.
    RunsGone,
    /// It began anew, and counts its restarts from 0.
    BegunAnew,
    /// It is restarting.
    Restarting,
    /// Replicated Jobs wait for others.
    StartupOrder,
    /// Its rollout is paused.
    Paused,
    /// Kueue has taken it out to make room, or for want of ready pods; it comes again by itself.
    Evicted,
    /// It waits in a queue for quota.
    Queued,
    /// Its time is over, as it was asked for.
    Expired,
    /// It is suspended.
    Suspended,
    /// `JobSet` itself deleted pods that were placed wrongly.
    ExclusivePlacement,
    /// Its containers are restarted in place.
    InPlaceRestarts,
    /// Another controller manages it.
    ManagedElsewhere,
    /// It is being deleted.
    Deleting,
}

/// A pod that holds a `JobSet` up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Blocker {
    /// Its name.
    pub pod: String,
    /// Its node.
    pub node: Option<String>,
    /// Whether the node is ready; `null` where that is not known.
    pub node_ready: Option<bool>,
    /// When its deletion was asked for.
    pub since: Option<Moment>,
    /// How long it may take to end, in seconds.
    pub grace_seconds: i64,
}
