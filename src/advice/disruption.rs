//! Pods that were disrupted from outside: whether the policy tells that from a failure of their own, and what to write where
//! it does not.

use serde_json::{Value, json};

use super::case::Case;
use super::change::Change;
use super::checkpoint;
use super::draft::Advice;
use super::maker::Maker;
use crate::analysis::{Failure, object};
use crate::model::{Action, Job, JobSet, PodFailurePolicy, Rule};
use crate::policy::{FailedJob, job_set_choose, requirement};
use crate::report::SuggestionKind;

const DISRUPTION: &str = "DisruptionTarget";
/// So many rules a policy may have (Kubernetes `pkg/apis/batch/validation`, `maxPodFailurePolicyRules`).
const MOST_RULES: usize = 20;

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
        /// Whether it asks for exit codes, not for another condition.
        by_exit_code: bool,
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

    /// A disruption of a pod that belongs to no Job.
    pub(super) fn disrupted_without_job(&self) -> Advice {
        let reason = self.failure.reason().unwrap_or(DISRUPTION);
        let look = self.describe_pod();
        if let Some(controller) = self.replaced_by() {
            let why = format!("a disruption ended it ({reason}): a {controller} makes another pod in its place");
            return self.advice(SuggestionKind::Wait, why).run(look);
        }
        let why =
            format!("a disruption ended it ({reason}): it belongs to no Job, and what made it may not make it again");
        self.inspect(&why, look)
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
            // Where a rule asks for the condition already, it is only to be moved; what it does was decided.
            Maker::JobSet(story, _) if !fault.moves_other_than(&Action::FailJob, job) => {
                let replicated = story.job_set.replicated_job_of(&job.name).map_or("", |replicated| &*replicated.name);
                with_job_set(story.job_set, replicated, fault.place())
            }
            _ => (None, Vec::new()),
        };
        let action = if job_set_rule.is_some() { "FailJob" } else { "Ignore" };
        let rule = json!({"action": action, "onPodConditions": [{"type": DISRUPTION}]});
        let Mending { because, remedy, operations } = fault.mending(&rule, job);
        let why = format!("the disruption counted as if the pod had failed by itself, {because}");
        let (why, way) = if operations.is_empty() {
            let way = maker.by_hand(self.kubectl);
            (format!("{why}: {remedy}"), way)
        } else {
            let then =
                job_set_rule.map(|rule| format!("; and, in spec.failurePolicy.rules, {rule}")).unwrap_or_default();
            let way = maker.change(&Change::Policy(operations, of_object), self.analysis.snapshot, self.kubectl);
            (if way.is_stale { why } else { format!("{why}: {remedy}{then}") }, way)
        };
        let advice = self.advice(SuggestionKind::EditPolicy, format!("{why}; {}", way.note));
        let asked =
            job.policy.as_ref().map(|policy| policy.rules.iter().map(requirement).collect::<Vec<_>>().join(", "));
        let object = object("job", &job.namespace, &job.name);
        let asked = asked.unwrap_or_else(|| "<unset>".to_owned());
        Some(advice.run(way.commands).losing(way.loses).fact(object, "spec.podFailurePolicy.rules", asked))
    }
}

/// The rule of a policy that fails the Job on a disruption, if there is one.
pub(super) fn fails_on_disruptions(policy: &PodFailurePolicy) -> Option<usize> {
    let place = policy.rules.iter().position(asks)?;
    (policy.rules[place].action == Action::FailJob).then_some(place)
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
        Some(hit) if after == Some(hit.index()) => None,
        Some(hit) if hit.action == &Action::Ignore => None,
        Some(hit) => Some(Fault::Broader {
            before: hit.index(),
            by_exit_code: hit.by_exit_code(),
            after: after.filter(|after| *after > hit.index()),
        }),
        None if after.is_some() => None,
        None => Some(Fault::NoRule),
    }
}

/// How a fault is mended.
struct Mending {
    /// Why the disruption counted.
    because: String,
    /// What is to be done, in words.
    remedy: String,
    /// The same as JSON patch operations on the Job's spec; none where a person must decide.
    operations: Vec<Value>,
}

impl Fault {
    /// Where the rule stands once it is mended.
    fn place(&self) -> usize {
        match self {
            Self::NoPolicy | Self::NoRule => 0,
            Self::Broader { before, .. } => *before,
        }
    }

    /// Whether a rule with another action than this is to be moved.
    fn moves_other_than(&self, action: &Action, job: &Job) -> bool {
        let Self::Broader { after: Some(after), .. } = self else { return false };
        let rule = job.policy.as_ref().and_then(|policy| policy.rules.get(*after));
        rule.is_some_and(|rule| rule.action != *action)
    }

    fn mending(&self, rule: &Value, job: &Job) -> Mending {
        let place = self.place();
        let rules = job.policy.as_ref().map_or(0, |policy| policy.rules.len());
        let add = json!({"op": "add", "path": format!("/podFailurePolicy/rules/{place}"), "value": rule});
        let (because, remedy, operations) = match self {
            Self::NoPolicy => return no_policy(rule, job),
            Self::NoRule => (format!("as no rule asks for {DISRUPTION}"), format!("add as rule 0 {rule}"), vec![add]),
            Self::Broader { before, after: Some(after), .. } => (
                format!("as rule {before}, which asks for less, takes the pod before rule {after} for {DISRUPTION}"),
                format!("move rule {after} before rule {before}"),
                vec![json!({
                    "op": "move", "from": format!("/podFailurePolicy/rules/{after}"),
                    "path": format!("/podFailurePolicy/rules/{before}"),
                })],
            ),
            Self::Broader { before, by_exit_code, after: None } => {
                let by = if *by_exit_code { "its exit code" } else { "another condition" };
                (
                    format!("as rule {before} takes the pod by {by} and no rule before it asks for {DISRUPTION}"),
                    format!("add as rule {before} {rule}"),
                    vec![add],
                )
            }
        };
        if rules >= MOST_RULES && !matches!(self, Self::Broader { after: Some(_), .. }) {
            let remedy = format!(
                "rule {place} should be {rule}, but there are {rules} rules already, and the API server takes no more: join \
                 two of them first"
            );
            return Mending { because, remedy, operations: Vec::new() };
        }
        Mending { because, remedy, operations }
    }
}

fn no_policy(rule: &Value, job: &Job) -> Mending {
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
    Mending {
        because: "as there is no podFailurePolicy".to_owned(),
        remedy: format!("add one with the rule {rule}{never}"),
        operations,
    }
}

/// For a `JobSet` that restarts as a whole, the Job is to fail at once, and the `JobSet` to restart without counting: its
/// rule in words, and the operation that adds it. Where a rule already does so for the failure that the Job's rule at index
/// `place` will cause, nothing is to be added; any other rule would take it, so the new one goes first.
///
/// Source: JobSet's example `failure-policy/host-maintenance-event-model.yaml`; the message is that of `matchPodFailurePolicy`
/// (Kubernetes `pkg/controller/job/pod_failure_policy.go`).
pub(super) fn with_job_set(job_set: &JobSet, replicated_job: &str, place: usize) -> (Option<String>, Vec<Value>) {
    let Some(policy) = &job_set.failure_policy else { return (None, Vec::new()) };
    let (namespace, name) = (&job_set.namespace, &job_set.name);
    let message = format!(
        "Pod {namespace}/{name}-{replicated_job}-0-0-x has condition {DISRUPTION} matching FailJob rule at index {place}"
    );
    let failed =
        FailedJob { replicated_job: Some(replicated_job), reason: "PodFailurePolicy", message: &message, at: None };
    let chosen = job_set_choose(policy, &[failed]);
    let stays = chosen.filter(|choice| choice.action.counts() == Some(false)).and_then(|choice| choice.rule);
    if let Some(rule) = stays.and_then(|rule| policy.rules.get(rule)) {
        return (Some(format!("rule {} stays, which restarts without counting", rule.name)), Vec::new());
    }
    let taken = |name: &str| policy.rules.iter().any(|rule| &*rule.name == name);
    let mut names = (0..).map(|n| if n == 0 { "disruption".to_owned() } else { format!("disruption{n}") });
    let Some(name) = names.find(|name| !taken(name)) else { return (None, Vec::new()) };
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
