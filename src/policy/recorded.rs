use crate::model::PodFailurePolicy;

/// What a Job's message says about the failure that made it fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<'a> {
    /// Name of the pod.
    pub pod: &'a str,
    /// The container and its exit code, where the rule asked for exit codes.
    pub container: Option<(&'a str, i32)>,
    /// The condition's type, where the rule asked for conditions.
    pub condition: Option<&'a str>,
    /// Index of the rule.
    pub index: usize,
}

/// Reads the message the Job controller writes for a `FailJob` rule, unchanged since Kubernetes 1.25:
/// `Container C for pod NS/P failed with exit code N matching FailJob rule at index I` or
/// `Pod NS/P has condition T matching FailJob rule at index I`.
pub fn parse_message(message: &str) -> Option<Decision<'_>> {
    let (head, index) = message.rsplit_once(" rule at index ")?;
    let index = index.trim_end().parse().ok()?;
    let (head, _action) = head.rsplit_once(" matching ")?;
    if let Some(rest) = head.strip_prefix("Container ") {
        let (container, rest) = rest.split_once(" for pod ")?;
        let (pod, code) = rest.split_once(" failed with exit code ")?;
        let pod = pod.split_once('/')?.1;
        return Some(Decision { pod, container: Some((container, code.parse().ok()?)), condition: None, index });
    }
    let (pod, condition) = head.strip_prefix("Pod ")?.split_once(" has condition ")?;
    let pod = pod.split_once('/')?.1;
    Some(Decision { pod, container: None, condition: Some(condition), index })
}

/// The rule that a Job's recorded reason and message name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRule {
    /// Index of the rule.
    pub index: usize,
    /// Said where reason and message name different rules; the message's index is the one that holds.
    pub conflict: Option<String>,
}

/// The rule that failed a Job, from its condition's `reason`, in the forms of today (`PodFailurePolicy`) and of
/// KEP-4443 (`PodFailurePolicy_<name>`, `PodFailurePolicy_<index>`), and its `message`. `None` where the Job did not
/// fail under its policy, or neither tells the rule.
pub fn recorded_rule(policy: &PodFailurePolicy, reason: &str, message: &str) -> Option<RecordedRule> {
    let suffix = match reason.strip_prefix("PodFailurePolicy")? {
        "" => None,
        rest => Some(rest.strip_prefix('_')?),
    };
    let told = parse_message(message).map(|decision| decision.index);
    let named = suffix.and_then(|suffix| rule_called(policy, suffix));
    let conflict = match (suffix, named, told) {
        (Some(_), Some(named), Some(told)) if named != told => Some(format!(
            "the Job's reason {reason} names rule {named}, its message rule {told}; the message's index is taken"
        )),
        (Some(suffix), None, Some(told)) => Some(format!(
            "the Job's reason {reason} names no rule of its policy ({suffix:?}); the message's index {told} is taken"
        )),
        _ => None,
    };
    Some(RecordedRule { index: told.or(named)?, conflict })
}

/// The rule a reason's suffix means: the one of that name, else the unnamed one at that index.
fn rule_called(policy: &PodFailurePolicy, suffix: &str) -> Option<usize> {
    let named = policy.rules.iter().position(|rule| rule.name.as_deref() == Some(suffix));
    named.or_else(|| {
        let index: usize = suffix.parse().ok()?;
        policy.rules.get(index).filter(|rule| rule.name.is_none()).map(|_| index)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Action, Rule};

    fn policy(names: &[Option<&str>]) -> PodFailurePolicy {
        let rule = |name: Option<&str>| Rule {
            name: name.map(Into::into),
            action: Action::FailJob,
            on_exit_codes: None,
            on_pod_conditions: Box::default(),
        };
        PodFailurePolicy { rules: names.iter().copied().map(rule).collect() }
    }

    const EXIT: &str = "Container main for pod ns/job-8ckj8 failed with exit code 42 matching FailJob rule at index 1";

    #[test]
    fn both_messages_are_read() {
        assert_eq!(
            parse_message(EXIT),
            Some(Decision { pod: "job-8ckj8", container: Some(("main", 42)), condition: None, index: 1 })
        );
        assert_eq!(
            parse_message("Pod ns/p has condition example.com/ConfigIssue matching FailJob rule at index 12"),
            Some(Decision { pod: "p", container: None, condition: Some("example.com/ConfigIssue"), index: 12 })
        );
        assert_eq!(
            parse_message("Container c for pod ns/p failed with exit code -5 matching FailJob rule at index 0")
                .and_then(|decision| decision.container),
            Some(("c", -5))
        );
        for other in ["", "Job has reached the specified backoff limit", "Pod x matching FailJob rule at index 1"] {
            assert_eq!(parse_message(other), None, "{other}");
        }
    }

    #[test]
    fn all_three_forms_of_the_reason_name_the_rule() {
        let unnamed = policy(&[None, None]);
        let named = policy(&[Some("Infra"), Some("ConfigError")]);
        for (policy, reason) in [
            (&unnamed, "PodFailurePolicy"),
            (&unnamed, "PodFailurePolicy_1"),
            (&named, "PodFailurePolicy_ConfigError"),
            (&named, "PodFailurePolicy"),
        ] {
            assert_eq!(
                recorded_rule(policy, reason, EXIT),
                Some(RecordedRule { index: 1, conflict: None }),
                "{reason}"
            );
        }
    }

    #[test]
    fn without_a_readable_message_the_reason_alone_tells() {
        let named = policy(&[Some("Infra"), Some("ConfigError"), None]);
        let index = |reason| recorded_rule(&named, reason, "").map(|rule| rule.index);
        assert_eq!(index("PodFailurePolicy_ConfigError"), Some(1));
        assert_eq!(index("PodFailurePolicy_2"), Some(2));
        assert_eq!(index("PodFailurePolicy_1"), None, "index 1 has a name");
        assert_eq!(index("PodFailurePolicy"), None);
        assert_eq!(index("BackoffLimitExceeded"), None);
    }

    #[test]
    fn where_they_disagree_the_message_wins_and_it_is_said() {
        let named = policy(&[Some("Infra"), Some("ConfigError")]);
        for reason in ["PodFailurePolicy_Infra", "PodFailurePolicy_Gone"] {
            let rule = recorded_rule(&named, reason, EXIT).unwrap();
            assert_eq!(rule.index, 1);
            assert!(rule.conflict.unwrap().contains(reason));
        }
    }
}
