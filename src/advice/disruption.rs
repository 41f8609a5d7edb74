//! Pods that were disrupted from outside: whether the policy tells that from a failure of their own, and what to write where
//! it does not.

use serde_json::{Value, json};

use super::case::Case;
use super::checkpoint;
use super::draft::Advice;
use super::maker::{Change, Maker};
use crate::analysis::Failure;
use crate::model::{Action, FailurePolicyRule, Job, JobSet, PodFailurePolicy, Rule};
use crate::policy::requirement;
use crate::report::SuggestionKind;

const DISRUPTION: &str = "DisruptionTarget";

/// What is wrong with a policy that let a disruption count.
enum Fault {
    /// There is no policy at all.
    NoPolicy,
    /// No rule asks for the condition.
    NoRule,
    /// Another rule takes the pod first.
    Broader {
        /// That rule.
        before: usize,
        /// The rule that asks for the condition, if there is one.
        after: Option<usize>,
    },
}

impl Case<'_> {
    /// What a disruption calls for: nothing but patience where it is not counted, else a rule, and another start where it
    /// ended the workload.
    pub(super) fn disrupted(&self) -> Vec<Advice> {
        let over = self.maker().filter(|maker| maker.has_failed());
        let mut all = match (self.retried(), over) {
            (Some(why), _) => {
                let pods = self.failure.job.map(|job| self.pods_of(job)).unwrap_or_default();
                vec![self.advice(SuggestionKind::Wait, why).run(pods)]
            }
            // A JobSet is started again as a whole, and that is told of it as a whole.
            (None, Some(Maker::JobSet(..))) => Vec::new(),
            (None, Some(maker)) => {
                let why = "a disruption from outside ended it, which another try may survive";
                checkpoint::start_again(maker, self.analysis.snapshot, self.failure.evidence(), why, self.kubectl)
            }
            (None, None) => {
                let why = "a disruption from outside, which another try may survive: see who disrupted the pod";
                vec![self.inspect(why, self.look())]
            }
        };
        all.extend(self.tell_disruptions_apart());
        all
    }

    /// The rule to add, where a disruption counted as if the workload had failed by itself.
    pub(super) fn tell_disruptions_apart(&self) -> Option<Advice> {
        let job = self.failure.job.filter(|job| job.managed_by.is_none())?;
        self.failure.pod?.disruption()?;
        if self.failure.counted != Some(true) {
            return None;
        }
        let fault = fault(self.failure, job.policy.as_deref())?;
        let maker = self.maker()?;
        let (job_set_rule, of_object) = match maker {
            Maker::JobSet(story, _) => with_job_set(story.job_set),
            _ => (None, Vec::new()),
        };
        let action = if job_set_rule.is_some() { "FailJob" } else { "Ignore" };
        let rule = json!({"action": action, "onPodConditions": [{"type": DISRUPTION}]});
        let (why, operations) = words(&fault, &rule, job);
        let then = job_set_rule.map(|rule| format!("; and, in spec.failurePolicy.rules, {rule}")).unwrap_or_default();
        let way = maker.change(&Change::Operations(operations, of_object), self.kubectl);
        let policy = maker.path("podFailurePolicy.rules");
        let mut advice = self
            .advice(SuggestionKind::EditPolicy, format!("{why}{then}; {}", way.note))
            .run(way.commands)
            .losing(way.loses);
        let asked =
            job.policy.as_ref().map(|policy| policy.rules.iter().map(requirement).collect::<Vec<_>>().join(", "));
        advice = advice.fact(maker.object(), policy, asked.unwrap_or_else(|| "<unset>".to_owned()));
        Some(advice)
    }
}

/// Whether a policy asks for the condition.
pub(super) fn asks_for_disruptions(policy: &PodFailurePolicy) -> bool {
    policy.rules.iter().any(asks)
}

fn asks(rule: &Rule) -> bool {
    let patterns = &rule.on_pod_conditions;
    rule.on_exit_codes.is_none() && patterns.iter().any(|p| &*p.type_ == DISRUPTION && &*p.status == "True")
}

/// Why the disruption was not taken for one, if the policy can be mended.
fn fault(failure: &Failure, policy: Option<&PodFailurePolicy>) -> Option<Fault> {
    let Some(policy) = policy else { return Some(Fault::NoPolicy) };
    let after = policy.rules.iter().position(asks);
    match failure.rule {
        // A rule meant for it counts it: somebody wants it so.
        Some(hit) if after == Some(hit.index) => None,
        Some(hit) if hit.action == &Action::Ignore => None,
        Some(hit) => Some(Fault::Broader { before: hit.index, after: after.filter(|after| *after > hit.index) }),
        None if after.is_some() => None,
        None => Some(Fault::NoRule),
    }
}

/// What is to be done about it in words, and as JSON patch operations on the Job's spec.
fn words(fault: &Fault, rule: &Value, job: &Job) -> (String, Vec<Value>) {
    let counted = "the disruption counted as if the pod had failed by itself";
    let add = |at: usize| json!({"op": "add", "path": format!("/podFailurePolicy/rules/{at}"), "value": rule});
    match fault {
        Fault::NoPolicy => {
            // With a policy the API server takes no other replacement policy, and sets one where there is none.
            let mut operations = vec![
                json!({"op": "add", "path": "/podFailurePolicy", "value": {"rules": [rule]}}),
                json!({"op": "add", "path": "/podReplacementPolicy", "value": "Failed"}),
            ];
            let never = if job.restarts_in_place {
                operations.push(json!({"op": "add", "path": "/template/spec/restartPolicy", "value": "Never"}));
                ", and restartPolicy: Never, which a policy needs"
            } else {
                ""
            };
            let why = format!("{counted}, as there is no podFailurePolicy: add one with the rule {rule}{never}");
            (why, operations)
        }
        Fault::NoRule => {
            let why = format!("{counted}, as no rule asks for {DISRUPTION}: add as rule 0 {rule}");
            (why, vec![add(0)])
        }
        Fault::Broader { before, after: Some(after) } => {
            let why = format!(
                "{counted}, as rule {before}, which asks for less, takes the pod before rule {after} for {DISRUPTION}: move rule \
                 {after} before rule {before}"
            );
            let from = format!("/podFailurePolicy/rules/{after}");
            (why, vec![json!({"op": "move", "from": from, "path": format!("/podFailurePolicy/rules/{before}")})])
        }
        Fault::Broader { before, after: None } => {
            let why = format!(
                "{counted}, as rule {before} takes the pod by its exit code and no rule before it asks for {DISRUPTION}: add as \
                 rule {before} {rule}"
            );
            (why, vec![add(*before)])
        }
    }
}

/// For a `JobSet` that restarts as a whole, the Job is to fail at once, and the `JobSet` to restart without counting: its
/// rule in words, and the operation that adds it. Where it already has such a rule, nothing is to be added.
///
/// Source: JobSet's example `failure-policy/host-maintenance-event-model.yaml`.
pub(super) fn with_job_set(job_set: &JobSet) -> (Option<String>, Vec<Value>) {
    let Some(policy) = &job_set.failure_policy else { return (None, Vec::new()) };
    let is_it = |rule: &FailurePolicyRule| {
        rule.action.counts() == Some(false) && rule.reasons.iter().any(|reason| &**reason == "PodFailurePolicy")
    };
    if policy.rules.iter().any(is_it) {
        return (Some("the rule stays that restarts on PodFailurePolicy".to_owned()), Vec::new());
    }
    let taken = |name: &str| policy.rules.iter().any(|rule| &*rule.name == name);
    let name = (0..).map(|n| if n == 0 { "disruption".to_owned() } else { format!("disruption{n}") });
    let Some(name) = name.into_iter().find(|name| !taken(name)) else { return (None, Vec::new()) };
    let rule = json!({
        "name": name, "action": "RestartJobSetAndIgnoreMaxRestarts", "onJobFailureReasons": ["PodFailurePolicy"],
        "onJobFailureMessagePatterns": [DISRUPTION],
    });
    let operation = if policy.rules.is_empty() {
        json!({"op": "add", "path": "/spec/failurePolicy/rules", "value": [rule]})
    } else {
        json!({"op": "add", "path": "/spec/failurePolicy/rules/0", "value": rule})
    };
    (Some(format!("as rule 0 {rule}")), vec![operation])
}
