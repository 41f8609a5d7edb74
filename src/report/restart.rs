use schemars::JsonSchema;
use serde::Serialize;

use super::WorkloadRef;

/// What `restart` did, or would do.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Restart {
    /// `kubectl-sigapps/v1alpha1`.
    pub api_version: &'static str,
    /// `Restart`.
    pub kind: &'static str,
    /// What is restarted.
    pub subject: WorkloadRef,
    /// What is done with it, in one sentence.
    pub summary: String,
    /// Whether writes were sent, and how.
    pub dry_run: DryRun,
    /// How it ended.
    pub outcome: RestartOutcome,
    /// Why it was not restarted; empty unless the outcome is `refused`.
    pub refusals: Vec<RestartRefusal>,
    /// What a person should know besides.
    pub notes: Vec<String>,
    /// What is lost by it.
    pub loses: Vec<String>,
    /// The steps, in their order.
    pub steps: Vec<RestartStep>,
    /// The folder that holds what was saved before the first write; `null` where nothing was saved.
    pub saved_to: Option<String>,
    /// Commands to go on with.
    pub next: Vec<String>,
}

/// Whether writes are sent, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DryRun {
    /// They are sent.
    None,
    /// None is sent.
    Client,
    /// Each is sent for the server to check, which then leaves everything as it is.
    Server,
}

/// How a restart ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RestartOutcome {
    /// All steps were done.
    Done,
    /// Nothing was changed: it was a dry run, and nothing spoke against it.
    DryRun,
    /// Nothing was changed: something speaks against it.
    Refused,
    /// A step failed, or it was interrupted; the steps before were done.
    Failed,
    /// Nothing was changed: the question was not answered with yes.
    Declined,
    /// Nothing was changed: the restart that an earlier run began turned out to be complete.
    AlreadyDone,
}

/// Something that speaks against a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestartRefusal {
    /// What it is.
    pub reason: RefusalReason,
    /// What speaks against it, and what to do.
    pub message: String,
    /// Commands to run instead, or before.
    pub commands: Vec<String>,
}

/// What speaks against a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RefusalReason {
    /// Volumes that may hold checkpoints would be deleted with it (`--allow-checkpoint-loss`).
    CheckpointLoss,
    /// A controller owns it.
    Owned,
    /// Kueue decides when it is suspended.
    Kueue,
    /// Its `spec.managedBy` names another controller.
    ManagedBy,
    /// It is applied from a repository (`--force`).
    GitOps,
    /// It still runs or retries (`--force`).
    StillRunning,
    /// Somebody is deleting it.
    BeingDeleted,
    /// Somebody suspended it.
    Suspended,
    /// It is a paused Deployment.
    Paused,
    /// It must be said which group is meant.
    WhichGroup,
    /// Rights are missing.
    Forbidden,
    /// The server would not take one of the writes.
    DryRunFailed,
    /// Logs were to be saved before, and could not be.
    LogsNotSaved,
    /// An earlier restart, with other flags, is not completed.
    UnderWay,
    /// Asked for is something that cannot be done with it.
    NotPossible,
}

/// A step of a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestartStep {
    /// What is done.
    pub text: String,
    /// `create`, `delete` or `patch` as RBAC names them; `null` where nothing is written, and the cluster is only watched.
    pub verb: Option<&'static str>,
    /// Plural and group as RBAC names them.
    pub resource: String,
    /// The object's name.
    pub name: String,
    /// How far it is.
    pub state: StepState,
    /// What came of it, where there is more to tell.
    pub message: Option<String>,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StepState {
    /// It was done.
    Done,
    /// The server would do it.
    DryRun,
    /// Nothing was sent.
    Planned,
    /// It failed.
    Failed,
}
