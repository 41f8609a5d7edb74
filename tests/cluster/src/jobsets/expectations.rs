//! What each JobSet of the scenarios is played for. What the tool must tell of it is not here: it is what was watched.

use crate::jobsets::decisions::Written;
use crate::jobsets::history::{Decision, History};

pub(crate) struct Expectation {
    pub(crate) namespace: &'static str,
    pub(crate) name: &'static str,
    /// What the controller gives as the cause of each decision, first to last.
    causes: &'static [&'static str],
    /// The attempt after them, unless the last decision was the end.
    present: Option<&'static str>,
}

/// On the control plane as it is installed by default.
pub(crate) const DEFAULT: &[Expectation] = &[
    of("finetune", &["DefaultFailurePolicy"], Some("running")),
    of("eval-suite", &["FailurePolicy_retriableExit"], Some("completed")),
    of("rl-loop", &["FailurePolicy_crash", "ReachedMaxRestarts"], None),
    of("ablation", &["FailedJobs"], None),
    of("stuck-restart", &["DefaultFailurePolicy"], Some("restarting")),
    of("llama-70b", &["DefaultFailurePolicy", "FailurePolicy_hostMaintenance", "FailJobSetFailurePolicyAction"], None),
    of("gemma", &["DefaultFailurePolicy", "ReachedMaxRestarts"], None),
    of("rule-order", &["FailurePolicy_workerLost"], Some("running")),
];

/// With the feature gate `RestartJob`.
pub(crate) const RESTART_JOB: &[Expectation] = &[of(
    "data-loader",
    &["RestartJobFailurePolicyAction", "RestartJobAndIgnoreMaxRestartsFailurePolicyAction", "ReachedMaxRestarts"],
    None,
)];

const fn of(name: &'static str, causes: &'static [&'static str], present: Option<&'static str>) -> Expectation {
    Expectation { namespace: "ml-team", name, causes, present }
}

impl Expectation {
    /// What there is instead, as long as it has not been played.
    pub(crate) fn outstanding(&self, history: &History) -> Option<String> {
        let causes: Vec<_> = history.decisions.iter().map(cause).collect();
        let present = history.present();
        (causes != self.causes || present != self.present).then(|| format!("{causes:?}, then {present:?}"))
    }
}

/// The condition's reason; the restart of a single Job has only an Event.
fn cause(decision: &Decision) -> &str {
    let Decision { written: Written { condition, .. }, events, .. } = decision;
    condition.as_ref().or(events.first()).map_or("nothing", |said| said.reason.as_str())
}
