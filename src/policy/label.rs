use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{ExitCodes, Operator, Rule};

/// Where a rule's label comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NameSource {
    /// The rule's field `name` (KEP-4443).
    Field,
    /// The annotation `kubectl-sigapps/rule-names`.
    Annotation,
    /// The rule's requirement.
    Derived,
}

/// What a rule is called, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleLabel<'a> {
    /// The label shown and grouped by.
    pub label: Cow<'a, str>,
    /// Where it comes from.
    pub source: NameSource,
}

/// The label of rule `index`: its field `name`, else its entry in the annotation (names by index, separated by commas,
/// `-` for none), else its requirement.
pub fn label<'a>(rule: &'a Rule, index: usize, annotation: Option<&'a str>) -> RuleLabel<'a> {
    if let Some(name) = &rule.name {
        return RuleLabel { label: Cow::Borrowed(name), source: NameSource::Field };
    }
    let annotated = annotation.and_then(|names| names.split(',').nth(index)).map(str::trim);
    match annotated.filter(|name| !matches!(*name, "" | "-")) {
        Some(name) => RuleLabel { label: Cow::Borrowed(name), source: NameSource::Annotation },
        None => RuleLabel { label: Cow::Owned(requirement(rule)), source: NameSource::Derived },
    }
}

/// What a rule asks for, in a few words: `exit 42 (trainer)`, `exit not 0`, `DisruptionTarget`,
/// `example.com/DataReady=False`. Rules that ask for the same thing get the same words, others get other words.
pub fn requirement(rule: &Rule) -> String {
    if let Some(codes) = &rule.on_exit_codes {
        return exit_codes(codes);
    }
    let patterns: Vec<_> = rule
        .on_pod_conditions
        .iter()
        .map(|pattern| match &*pattern.status {
            "True" => pattern.type_.to_string(),
            status => format!("{}={status}", pattern.type_),
        })
        .collect();
    if patterns.is_empty() { "(no requirement)".to_owned() } else { patterns.join(" or ") }
}

fn exit_codes(codes: &ExitCodes) -> String {
    let operator = match &codes.operator {
        Operator::In => "exit ",
        Operator::NotIn => "exit not ",
        Operator::Unknown(other) => return format!("exit {other} {}", values(&codes.values)),
    };
    let container = codes.container_name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    format!("{operator}{}{container}", values(&codes.values))
}

/// Exit codes with runs of three or more shortened: `1-3,42`.
fn values(values: &[i32]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let runs = sorted.chunk_by(|a, b| a.checked_add(1) == Some(*b)).flat_map(|run| match run {
        [first, _, .., last] => vec![format!("{first}-{last}")],
        few => few.iter().map(i32::to_string).collect(),
    });
    runs.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Action, ConditionPattern, Interner};

    fn exit(operator: &str, values: &[i32], container: Option<&str>) -> Rule {
        Rule {
            name: None,
            action: Action::FailJob,
            on_exit_codes: Some(ExitCodes {
                container_name: container.map(Into::into),
                operator: Operator::parse(operator, &mut Interner::default()),
                values: values.into(),
            }),
            on_pod_conditions: Box::default(),
        }
    }

    fn conditions(patterns: &[(&str, &str)]) -> Rule {
        let pattern = |&(type_, status): &(&str, &str)| ConditionPattern { type_: type_.into(), status: status.into() };
        Rule {
            name: None,
            action: Action::Ignore,
            on_exit_codes: None,
            on_pod_conditions: patterns.iter().map(pattern).collect(),
        }
    }

    #[test]
    fn a_requirement_is_told_in_a_few_words() {
        for (rule, words) in [
            (exit("In", &[42], Some("trainer")), "exit 42 (trainer)"),
            (exit("In", &[64, 65], None), "exit 64,65"),
            (exit("In", &[1, 2, 3, 42], None), "exit 1-3,42"),
            (exit("NotIn", &[0], None), "exit not 0"),
            (exit("Near", &[7], None), "exit Near 7"),
            (conditions(&[("DisruptionTarget", "True")]), "DisruptionTarget"),
            (conditions(&[("example.com/DataReady", "False")]), "example.com/DataReady=False"),
            (conditions(&[("A", "True"), ("B", "Unknown")]), "A or B=Unknown"),
            (conditions(&[]), "(no requirement)"),
        ] {
            assert_eq!(requirement(&rule), words);
        }
    }

    #[test]
    fn the_field_outranks_the_annotation_and_that_the_derived_name() {
        let mut rule = exit("In", &[42], None);
        let names = Some("-, userError ,infra");
        assert_eq!(label(&rule, 0, names), RuleLabel { label: "exit 42".into(), source: NameSource::Derived });
        assert_eq!(label(&rule, 1, names), RuleLabel { label: "userError".into(), source: NameSource::Annotation });
        assert_eq!(label(&rule, 3, names), RuleLabel { label: "exit 42".into(), source: NameSource::Derived });
        rule.name = Some("configError".into());
        assert_eq!(label(&rule, 1, names), RuleLabel { label: "configError".into(), source: NameSource::Field });
    }
}
