use std::fmt;

use serde::Deserialize;

use super::{Interner, Text, Word, or_default};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PolicyView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    rules: Vec<RuleView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RuleView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    action: Text<'a>,
    #[serde(borrow)]
    on_exit_codes: Option<ExitCodesView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    on_pod_conditions: Vec<PatternView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ExitCodesView<'a> {
    #[serde(borrow)]
    container_name: Text<'a>,
    #[serde(borrow)]
    operator: Text<'a>,
    #[serde(deserialize_with = "or_default")]
    values: Vec<i32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PatternView<'a> {
    #[serde(borrow, rename = "type")]
    type_: Text<'a>,
    #[serde(borrow)]
    status: Text<'a>,
}

/// A Job's `spec.podFailurePolicy`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodFailurePolicy {
    /// The rules, evaluated in this order.
    pub rules: Vec<Rule>,
}

/// One rule. It asks for exit codes or for pod conditions; a rule with both, which the API server refuses, is judged by
/// its exit codes alone, as the controller does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// `name` of KEP-4443; absent on clusters without it.
    pub name: Option<Word>,
    /// What the controller does.
    pub action: Action,
    /// `onExitCodes`.
    pub on_exit_codes: Option<ExitCodes>,
    /// `onPodConditions`.
    pub on_pod_conditions: Box<[ConditionPattern]>,
}

/// A rule's action.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// The Job fails at once.
    FailJob,
    /// The pod's index fails at once; only with `backoffLimitPerIndex`.
    FailIndex,
    /// The failure is not counted, the pod is replaced.
    Ignore,
    /// The failure counts towards `backoffLimit`, as it would without a rule.
    Count,
    /// An action newer than this tool: the rule is skipped, as the API asks of clients.
    Unknown(Word),
}

impl Action {
    /// Reads an action as the API spells it.
    pub fn parse(text: &str, interner: &mut Interner) -> Self {
        match text {
            "FailJob" => Self::FailJob,
            "FailIndex" => Self::FailIndex,
            "Ignore" => Self::Ignore,
            "Count" => Self::Count,
            other => Self::Unknown(interner.intern(other)),
        }
    }

    /// Whether it ends the Job or the index: another try is not wanted.
    pub fn ends_job(&self) -> bool {
        matches!(self, Self::FailJob | Self::FailIndex)
    }

    /// The action as the API spells it.
    pub fn name(&self) -> &str {
        match self {
            Self::FailJob => "FailJob",
            Self::FailIndex => "FailIndex",
            Self::Ignore => "Ignore",
            Self::Count => "Count",
            Self::Unknown(text) => text,
        }
    }

    /// Whether a failure under this action is added to `status.failed`.
    pub fn counts(&self) -> bool {
        !matches!(self, Self::Ignore)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `onExitCodes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitCodes {
    /// The container asked for; `None` for any, init containers and sidecars included.
    pub container_name: Option<Word>,
    /// How the values are compared.
    pub operator: Operator,
    /// The exit codes.
    pub values: Box<[i32]>,
}

/// `onExitCodes.operator`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operator {
    /// The exit code is one of the values.
    In,
    /// The exit code is none of the values.
    NotIn,
    /// An operator newer than this tool: never satisfied.
    Unknown(Word),
}

impl Operator {
    /// Reads an operator as the API spells it.
    pub fn parse(text: &str, interner: &mut Interner) -> Self {
        match text {
            "In" => Self::In,
            "NotIn" => Self::NotIn,
            other => Self::Unknown(interner.intern(other)),
        }
    }
}

/// One of `onPodConditions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionPattern {
    /// The condition's type.
    pub type_: Word,
    /// The status asked for; `True` unless the rule says otherwise.
    pub status: Word,
}

impl PolicyView<'_> {
    pub(super) fn to_policy(&self, interner: &mut Interner) -> PodFailurePolicy {
        PodFailurePolicy { rules: self.rules.iter().map(|rule| rule.to_rule(interner)).collect() }
    }
}

impl RuleView<'_> {
    fn to_rule(&self, interner: &mut Interner) -> Rule {
        Rule {
            name: interner.intern_some(&self.name),
            action: Action::parse(&self.action, interner),
            on_exit_codes: self.on_exit_codes.as_ref().map(|codes| ExitCodes {
                container_name: interner.intern_some(&codes.container_name),
                operator: Operator::parse(&codes.operator, interner),
                values: codes.values.clone().into(),
            }),
            on_pod_conditions: self
                .on_pod_conditions
                .iter()
                .map(|pattern| ConditionPattern {
                    type_: interner.intern(&pattern.type_),
                    // The API server's default; a file may hold what a person wrote.
                    status: interner.intern(pattern.status.some().unwrap_or("True")),
                })
                .collect(),
        }
    }
}
