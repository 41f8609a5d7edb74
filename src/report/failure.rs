use schemars::JsonSchema;
use serde::Serialize;

use super::{Class, Moment};

/// The rule a failure matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureRule {
    /// Index in the policy, from 0.
    pub index: usize,
    /// What the rule is called.
    pub label: String,
    /// `FailJob`, `FailIndex`, `Ignore` or `Count`.
    pub action: String,
}

/// One failure, as `-o jsonl` prints it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureLine {
    /// `kubectl-sigapps/v1alpha1`.
    pub api_version: &'static str,
    /// `Failure`.
    pub kind: &'static str,
    /// Kubeconfig context; `null` for files.
    pub cluster: Option<String>,
    /// Namespace.
    pub namespace: String,
    /// The workload, as `job/x`, `cronjob/x`, `jobset/x`.
    pub workload: String,
    /// The Job; `null` where the pod has none.
    pub job: Option<String>,
    /// The pod; `null` where it is not known.
    pub pod: Option<String>,
    /// The pod's uid.
    pub uid: Option<String>,
    /// Completion index of an Indexed Job.
    pub index: Option<u32>,
    /// The `JobSet`'s restart attempt or, with `backoffLimitPerIndex`, the number of earlier failures of the index.
    pub attempt: Option<u32>,
    /// The class.
    pub class: Class,
    /// The rule it matched. A collateral failure keeps the rule it matched without being blamed by it.
    pub rule: Option<FailureRule>,
    /// The container that failed, or matched the rule.
    pub container: Option<String>,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// Reason: of the disruption, the pod, or the container's end.
    pub reason: Option<String>,
    /// The message that goes with it, as it was written.
    pub message: Option<String>,
    /// The node.
    pub node: Option<String>,
    /// When the attempt started.
    pub started_at: Option<Moment>,
    /// When it ended; `null` while it is going on or where that is unknown.
    pub finished_at: Option<Moment>,
    /// Whether it counted towards `backoffLimit`: it is in the Job's `status.failed` or, for `restarting` under
    /// `OnFailure`, among the restarts compared with the limit. `null` where that is unknown.
    pub counted: Option<bool>,
    /// 1, but for `lost`, which is one line a Job.
    pub count: u32,
    /// Accelerator-seconds spent in it; `null` where that is unknown.
    pub gpu_seconds: Option<f64>,
    /// The rule matched a sidecar (a restartable init container), not the app.
    pub sidecar: bool,
    /// For a `JobSet`: the rule of its failure policy under which the controller acted on this failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_set_rule: Option<super::JobSetRule>,
    /// For `collateral`: what tore the pod down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torn_down_by: Option<String>,
}
