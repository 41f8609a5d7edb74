use crate::model::{Action, ContainerEnd, ExitCodes, Operator, PodCondition, PodFailurePolicy, Rule};

/// What of a pod's status a policy looks at.
#[derive(Clone, Copy, Debug)]
pub struct Endings<'a> {
    /// `containerStatuses` with `state.terminated`, in their order.
    pub containers: &'a [ContainerEnd],
    /// `initContainerStatuses` with `state.terminated`, in their order: init containers and sidecars.
    pub init_containers: &'a [ContainerEnd],
    /// `conditions`, in their order.
    pub conditions: &'a [PodCondition],
}

/// The rule that matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match<'a> {
    /// Index of the rule, from 0.
    pub index: usize,
    /// The rule's action, never [`Action::Unknown`].
    pub action: &'a Action,
    /// What satisfied it.
    pub by: MatchedBy<'a>,
}

/// What satisfied a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchedBy<'a> {
    /// A container's exit code.
    Container(&'a ContainerEnd),
    /// A pod condition.
    Condition(&'a PodCondition),
}

/// The first rule that matches an ended pod, exactly as `matchPodFailurePolicy` finds it.
///
/// `per_index` is whether the Job has `backoffLimitPerIndex`: without it a `FailIndex` rule is passed over. `None` is
/// the default handling, the failure counts towards `backoffLimit`.
pub fn evaluate<'a>(policy: &'a PodFailurePolicy, pod: Endings<'a>, per_index: bool) -> Option<Match<'a>> {
    policy.rules.iter().enumerate().find_map(|(index, rule)| {
        let acts = match rule.action {
            Action::FailJob | Action::Ignore | Action::Count => true,
            Action::FailIndex => per_index,
            Action::Unknown(_) => false,
        };
        let by = if acts { matched_by(rule, pod)? } else { return None };
        Some(Match { index, action: &rule.action, by })
    })
}

/// What of the pod satisfies a rule by itself, whatever the rules before it say. A rule with both requirements, which the
/// API server refuses, is judged by its exit codes alone, as the controller does.
pub(super) fn matched_by<'a>(rule: &Rule, pod: Endings<'a>) -> Option<MatchedBy<'a>> {
    if let Some(codes) = &rule.on_exit_codes {
        // Init containers and sidecars are looked at only where no app container matched.
        let mut ends = pod.containers.iter().chain(pod.init_containers);
        return ends.find(|end| exit_code_matches(codes, end)).map(MatchedBy::Container);
    }
    let wanted = |condition: &&PodCondition| {
        rule.on_pod_conditions
            .iter()
            .any(|pattern| pattern.type_ == condition.type_ && pattern.status == condition.status)
    };
    pod.conditions.iter().find(wanted).map(MatchedBy::Condition)
}

/// Whether a container's end satisfies the requirement. Exit code 0 never does, not even under `NotIn`.
pub(super) fn exit_code_matches(codes: &ExitCodes, end: &ContainerEnd) -> bool {
    let named = codes.container_name.as_ref().is_none_or(|name| *name == end.container);
    named
        && end.exit_code != 0
        && match codes.operator {
            Operator::In => codes.values.contains(&end.exit_code),
            Operator::NotIn => !codes.values.contains(&end.exit_code),
            Operator::Unknown(_) => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ConditionPattern, ContainerKind, ContainerOutcome, Interner};

    fn end(container: &str, exit_code: i32) -> ContainerEnd {
        let kind = match container {
            "proxy" => ContainerKind::Sidecar,
            "fetch" => ContainerKind::Init,
            _ => ContainerKind::App,
        };
        let outcome = ContainerOutcome {
            container: container.into(),
            kind,
            exit_code,
            reason: None,
            message: None,
            memory: None,
        };
        ContainerEnd { outcome: outcome.into(), started_at: None, finished_at: None }
    }

    fn exit(action: &str, operator: &str, values: &[i32], container: Option<&str>) -> Rule {
        let mut interner = Interner::default();
        Rule {
            name: None,
            action: Action::parse(action, &mut interner),
            on_exit_codes: Some(ExitCodes {
                container_name: container.map(Into::into),
                operator: Operator::parse(operator, &mut interner),
                values: values.into(),
            }),
            on_pod_conditions: Box::default(),
        }
    }

    fn condition(action: &str, patterns: &[(&str, &str)]) -> Rule {
        let pattern = |&(type_, status): &(&str, &str)| ConditionPattern { type_: type_.into(), status: status.into() };
        Rule {
            name: None,
            action: Action::parse(action, &mut Interner::default()),
            on_exit_codes: None,
            on_pod_conditions: patterns.iter().map(pattern).collect(),
        }
    }

    /// A pod's app ends, init ends and conditions.
    #[derive(Default)]
    struct Case {
        app: Vec<ContainerEnd>,
        init: Vec<ContainerEnd>,
        conditions: Vec<PodCondition>,
    }

    impl Case {
        fn app(container: &str, code: i32) -> Self {
            Self::default().and_app(container, code)
        }

        fn and_app(mut self, container: &str, code: i32) -> Self {
            self.app.push(end(container, code));
            self
        }

        fn and_init(mut self, container: &str, code: i32) -> Self {
            self.init.push(end(container, code));
            self
        }

        fn and_condition(mut self, type_: &str, status: &str) -> Self {
            self.conditions.push(PodCondition { type_: type_.into(), status: status.into() });
            self
        }

        /// Index, action and what matched; `per_index` as given.
        fn judge(&self, rules: Vec<Rule>, per_index: bool) -> Option<(usize, String, String)> {
            let policy = PodFailurePolicy { rules };
            let pod = Endings { containers: &self.app, init_containers: &self.init, conditions: &self.conditions };
            evaluate(&policy, pod, per_index).map(|found| {
                let by = match found.by {
                    MatchedBy::Container(end) => format!("{} {}", end.container, end.exit_code),
                    MatchedBy::Condition(condition) => format!("{}={}", condition.type_, condition.status),
                };
                (found.index, found.action.to_string(), by)
            })
        }
    }

    #[allow(clippy::unnecessary_wraps)] // it is compared with what `judge` gives
    fn found(index: usize, action: &str, by: &str) -> Option<(usize, String, String)> {
        Some((index, action.into(), by.into()))
    }

    #[test]
    fn the_first_rule_that_matches_wins() {
        let rules = || {
            vec![
                exit("Count", "In", &[1], None),
                exit("FailJob", "In", &[42], None),
                exit("Ignore", "NotIn", &[0], None),
            ]
        };
        assert_eq!(Case::app("main", 42).judge(rules(), false), found(1, "FailJob", "main 42"));
        assert_eq!(Case::app("main", 1).judge(rules(), false), found(0, "Count", "main 1"));
        assert_eq!(Case::app("main", 7).judge(rules(), false), found(2, "Ignore", "main 7"));
        assert_eq!(Case::app("main", 7).judge(vec![], false), None);
    }

    #[test]
    fn a_broader_rule_before_a_narrower_one_hides_it() {
        let rules = || vec![exit("Count", "In", &[143], None), condition("Ignore", &[("DisruptionTarget", "True")])];
        let preempted = Case::app("main", 143).and_condition("DisruptionTarget", "True");
        assert_eq!(preempted.judge(rules(), false), found(0, "Count", "main 143"));
    }

    #[test]
    fn success_never_matches_not_even_under_not_in() {
        let rules = || vec![exit("FailJob", "NotIn", &[5], None)];
        assert_eq!(Case::app("main", 0).judge(rules(), false), None);
        assert_eq!(Case::app("main", 0).and_app("side", 3).judge(rules(), false), found(0, "FailJob", "side 3"));
        assert_eq!(Case::app("main", 5).judge(rules(), false), None);
    }

    #[test]
    fn not_in_zero_is_any_failure_and_negative_codes_are_codes() {
        assert_eq!(
            Case::app("main", 9).judge(vec![exit("FailJob", "NotIn", &[0], None)], false),
            found(0, "FailJob", "main 9")
        );
        let windows = -1_073_741_510;
        assert_eq!(
            Case::app("main", windows).judge(vec![exit("Ignore", "In", &[windows], None)], false),
            found(0, "Ignore", "main -1073741510")
        );
    }

    #[test]
    fn app_containers_are_looked_at_before_init_containers_and_sidecars() {
        let rules = || vec![exit("FailJob", "In", &[3, 143], None)];
        let both = Case::app("main", 3).and_init("proxy", 143);
        assert_eq!(both.judge(rules(), false), found(0, "FailJob", "main 3"));
        let sidecar = Case::app("main", 7).and_init("proxy", 143);
        assert_eq!(sidecar.judge(rules(), false), found(0, "FailJob", "proxy 143"));
        let init = Case::default().and_init("fetch", 3);
        assert_eq!(init.judge(vec![exit("FailJob", "In", &[3], Some("fetch"))], false), found(0, "FailJob", "fetch 3"));
        assert_eq!(init.judge(vec![exit("FailJob", "In", &[3], Some("main"))], false), None);
    }

    #[test]
    fn a_condition_matches_by_type_and_status() {
        let asks = |status| vec![condition("FailJob", &[("ConfigIssue", status)])];
        let pod = |status| Case::app("main", 1).and_condition("ConfigIssue", status);
        assert_eq!(pod("True").judge(asks("True"), false), found(0, "FailJob", "ConfigIssue=True"));
        assert_eq!(pod("False").judge(asks("False"), false), found(0, "FailJob", "ConfigIssue=False"));
        assert_eq!(pod("Unknown").judge(asks("Unknown"), false), found(0, "FailJob", "ConfigIssue=Unknown"));
        assert_eq!(pod("False").judge(asks("True"), false), None);
        assert_eq!(Case::app("main", 1).judge(asks("False"), false), None, "a missing condition has no status");
    }

    #[test]
    fn of_many_conditions_the_pods_first_is_named() {
        let rules = vec![condition("Ignore", &[("B", "True"), ("A", "True")])];
        let pod = Case::default().and_condition("A", "True").and_condition("B", "True");
        assert_eq!(pod.judge(rules, false), found(0, "Ignore", "A=True"));
    }

    #[test]
    fn fail_index_acts_only_with_a_per_index_limit() {
        let rules = || vec![exit("FailIndex", "In", &[43], None), exit("Count", "In", &[43], None)];
        assert_eq!(Case::app("main", 43).judge(rules(), true), found(0, "FailIndex", "main 43"));
        assert_eq!(Case::app("main", 43).judge(rules(), false), found(1, "Count", "main 43"));
    }

    #[test]
    fn unknown_actions_and_operators_are_passed_over() {
        let unknown_action = vec![exit("Teleport", "In", &[1], None), exit("Count", "In", &[1], None)];
        assert_eq!(Case::app("main", 1).judge(unknown_action, true), found(1, "Count", "main 1"));
        let unknown_operator = vec![exit("FailJob", "Near", &[1], None)];
        assert_eq!(Case::app("main", 1).judge(unknown_operator, true), None);
        let unknown_on_condition = vec![condition("Teleport", &[("A", "True")]), condition("Count", &[("A", "True")])];
        assert_eq!(
            Case::default().and_condition("A", "True").judge(unknown_on_condition, true),
            found(1, "Count", "A=True")
        );
    }

    #[test]
    fn exit_codes_decide_alone_where_a_rule_has_both() {
        let mut both = exit("FailJob", "In", &[42], None);
        both.on_pod_conditions = condition("FailJob", &[("A", "True")]).on_pod_conditions;
        assert_eq!(Case::app("main", 1).and_condition("A", "True").judge(vec![both], false), None);
    }
}
