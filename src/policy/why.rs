//! Why a rule of a `podFailurePolicy` matched an ended pod, or why not.

use super::evaluate::{exit_code_matches, matched_by};
use super::{Endings, MatchedBy, evaluate};
use crate::model::{Action, ContainerEnd, ExitCodes, Operator, PodFailurePolicy, Rule};

/// What is to be said of one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleWhy {
    /// Whether it is the rule that holds.
    pub matched: bool,
    /// Why, or why not.
    pub why: String,
}

/// For each rule, in their order, why it matched an ended pod or why not. `per_index` is as for [`evaluate`].
pub fn why(policy: &PodFailurePolicy, pod: Endings, per_index: bool) -> Vec<RuleWhy> {
    let holds = evaluate(policy, pod, per_index).map(|found| found.index);
    let of = |(index, rule): (usize, &Rule)| RuleWhy {
        matched: holds == Some(index),
        why: of_rule(rule, index, pod, per_index, holds),
    };
    policy.rules.iter().enumerate().map(of).collect()
}

fn of_rule(rule: &Rule, index: usize, pod: Endings, per_index: bool, holds: Option<usize>) -> String {
    if let Action::Unknown(action) = &rule.action {
        return format!("rule {index} not matched: {action} is an action newer than this tool, which passes it over");
    }
    if rule.action == Action::FailIndex && !per_index {
        return format!("rule {index} not matched: FailIndex is passed over, as the Job has no backoffLimitPerIndex");
    }
    let by = matched_by(rule, pod);
    match (by, holds) {
        (Some(_), Some(first)) if first < index => {
            format!("rule {index} not reached: rule {first} matched before it; it asks for what holds, too")
        }
        (None, Some(first)) if first < index => format!("rule {index} not reached: rule {first} matched before it"),
        (Some(by), _) => format!("rule {index} matched: {}", because(by)),
        (None, _) => format!("rule {index} not matched: {}", miss(rule, pod)),
    }
}

fn because(by: MatchedBy) -> String {
    match by {
        MatchedBy::Container(end) => format!("container {} ended with exit code {}", end.container, end.exit_code),
        MatchedBy::Condition(condition) => format!("the pod has condition {}={}", condition.type_, condition.status),
    }
}

fn miss(rule: &Rule, pod: Endings) -> String {
    if let Some(codes) = &rule.on_exit_codes {
        return exit_code_miss(codes, pod);
    }
    let asked: Vec<String> =
        rule.on_pod_conditions.iter().map(|pattern| format!("{}={}", pattern.type_, pattern.status)).collect();
    if asked.is_empty() {
        return "it asks for nothing".to_owned();
    }
    // The same type with another status tells more than that nothing fits.
    let other = pod.conditions.iter().find(|c| rule.on_pod_conditions.iter().any(|p| p.type_ == c.type_));
    let has = other.map(|c| format!(", it has {}={}", c.type_, c.status)).unwrap_or_default();
    format!("the pod has no condition {}{has}", asked.join(" or "))
}

fn exit_code_miss(codes: &ExitCodes, pod: Endings) -> String {
    let ended: Vec<&ContainerEnd> = pod.containers.iter().chain(pod.init_containers).collect();
    let named = |end: &&&ContainerEnd| codes.container_name.as_ref().is_none_or(|name| *name == end.container);
    let asked: Vec<&ContainerEnd> = ended.iter().filter(named).copied().collect();
    let values: Vec<String> = codes.values.iter().map(ToString::to_string).collect();
    let values = values.join(", ");
    let is_in = match &codes.operator {
        Operator::In => "is not in",
        Operator::NotIn => "is in",
        Operator::Unknown(operator) => return format!("operator {operator} is newer than this tool"),
    };
    let failed: Vec<&&ContainerEnd> =
        asked.iter().filter(|end| end.exit_code != 0 && !exit_code_matches(codes, end)).collect();
    match (&failed[..], &asked[..], &codes.container_name) {
        ([end], _, Some(_)) => format!("exit code {} of container {} {is_in} [{values}]", end.exit_code, end.container),
        ([end], _, None) if ended.len() == 1 => format!("exit code {} {is_in} [{values}]", end.exit_code),
        ([_, ..], _, _) => {
            let codes: Vec<String> =
                failed.iter().map(|end| format!("{} ({})", end.exit_code, end.container)).collect();
            format!("exit code {} {is_in} [{values}]", codes.join(", "))
        }
        ([], [_, ..], _) => "exit code 0 never matches".to_owned(),
        ([], [], Some(name)) if ended.is_empty() => format!("container {name} has not ended, nor has any other"),
        ([], [], Some(name)) => {
            let others: Vec<&str> = ended.iter().map(|end| &*end.container).collect();
            format!("container {name} has not ended; ended: {}", others.join(", "))
        }
        ([], [], None) => "no container has ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ConditionPattern, ContainerKind, ContainerOutcome, Interner, PodCondition};

    fn end(container: &str, exit_code: i32) -> ContainerEnd {
        let outcome = ContainerOutcome {
            container: container.into(),
            kind: ContainerKind::App,
            exit_code,
            reason: None,
            message: None,
            memory: None,
        };
        ContainerEnd { outcome: outcome.into(), started_at: None, finished_at: None }
    }

    fn rule(action: &str, on_exit_codes: Option<ExitCodes>, conditions: &[(&str, &str)]) -> Rule {
        let pattern = |&(type_, status): &(&str, &str)| ConditionPattern { type_: type_.into(), status: status.into() };
        Rule {
            name: None,
            action: Action::parse(action, &mut Interner::default()),
            on_exit_codes,
            on_pod_conditions: conditions.iter().map(pattern).collect(),
        }
    }

    fn exit(action: &str, operator: &str, values: &[i32], container: Option<&str>) -> Rule {
        let operator = Operator::parse(operator, &mut Interner::default());
        let codes = ExitCodes { container_name: container.map(Into::into), operator, values: values.into() };
        rule(action, Some(codes), &[])
    }

    fn whys(rules: Vec<Rule>, ends: &[ContainerEnd], conditions: &[(&str, &str)]) -> Vec<String> {
        let condition = |&(type_, status): &(&str, &str)| PodCondition { type_: type_.into(), status: status.into() };
        let conditions: Vec<PodCondition> = conditions.iter().map(condition).collect();
        let pod = Endings { containers: ends, init_containers: &[], conditions: &conditions };
        why(&PodFailurePolicy { rules }, pod, false).into_iter().map(|why| why.why).collect()
    }

    #[test]
    fn each_rule_says_why_it_did_not_match() {
        for (rule, ends, conditions, said) in [
            (exit("FailJob", "In", &[42], None), vec![end("main", 1)], &[][..], "exit code 1 is not in [42]"),
            (exit("FailJob", "NotIn", &[1, 2], None), vec![end("main", 1)], &[], "exit code 1 is in [1, 2]"),
            (
                exit("FailJob", "In", &[42], Some("main")),
                vec![end("main", 1), end("proxy", 42)],
                &[],
                "exit code 1 of container main is not in [42]",
            ),
            (
                exit("FailJob", "In", &[42], None),
                vec![end("main", 1), end("proxy", 143)],
                &[],
                "exit code 1 (main), 143 (proxy) is not in [42]",
            ),
            (exit("FailJob", "NotIn", &[0], None), vec![end("main", 0)], &[], "exit code 0 never matches"),
            (
                exit("FailJob", "In", &[42], Some("trainer")),
                vec![end("main", 42)],
                &[],
                "container trainer has not ended; ended: main",
            ),
            (exit("FailJob", "In", &[42], None), vec![], &[], "no container has ended"),
            (exit("FailJob", "Near", &[42], None), vec![end("main", 42)], &[], "operator Near is newer than this tool"),
            (
                rule("Ignore", None, &[("DisruptionTarget", "True")]),
                vec![end("main", 1)],
                &[],
                "the pod has no condition DisruptionTarget=True",
            ),
            (
                rule("Ignore", None, &[("A", "True"), ("B", "False")]),
                vec![],
                &[("B", "True")],
                "the pod has no condition A=True or B=False, it has B=True",
            ),
            (
                exit("FailIndex", "In", &[42], None),
                vec![end("main", 42)],
                &[],
                "FailIndex is passed over, as the Job has no backoffLimitPerIndex",
            ),
            (
                exit("Explode", "In", &[42], None),
                vec![end("main", 42)],
                &[],
                "Explode is an action newer than this tool, which passes it over",
            ),
        ] {
            assert_eq!(whys(vec![rule], &ends, conditions), [format!("rule 0 not matched: {said}")]);
        }
    }

    #[test]
    fn rules_behind_the_one_that_holds_are_not_reached() {
        let rules = vec![
            exit("Ignore", "In", &[143], None),
            exit("FailJob", "NotIn", &[0], None),
            exit("FailJob", "In", &[7], None),
            exit("FailJob", "In", &[8], None),
        ];
        assert_eq!(
            whys(rules, &[end("app", 7)], &[]),
            [
                "rule 0 not matched: exit code 7 is not in [143]",
                "rule 1 matched: container app ended with exit code 7",
                "rule 2 not reached: rule 1 matched before it; it asks for what holds, too",
                "rule 3 not reached: rule 1 matched before it",
            ]
        );
        let disrupted = vec![rule("Ignore", None, &[("DisruptionTarget", "True")])];
        assert_eq!(
            whys(disrupted, &[], &[("DisruptionTarget", "True")]),
            ["rule 0 matched: the pod has condition DisruptionTarget=True"]
        );
    }
}
