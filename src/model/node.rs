use serde::Deserialize;

use super::condition::ConditionView;
use super::{Condition, Interner, ObjectView, Text, Time, View, Word, or_default};

/// A node as it is read.
pub(crate) type NodeView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SpecView<'a> {
    #[serde(deserialize_with = "or_default")]
    unschedulable: bool,
    #[serde(borrow, deserialize_with = "or_default")]
    taints: Vec<TaintView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TaintView<'a> {
    #[serde(borrow)]
    key: Text<'a>,
    #[serde(borrow)]
    value: Text<'a>,
    #[serde(borrow)]
    effect: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StatusView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
}

/// What is kept of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// `metadata.name`.
    pub name: Word,
    /// Whether the condition `Ready` is `True`; `None` where the node has no such condition.
    pub ready: Option<bool>,
    /// Whether that condition is `Unknown`: the kubelet has stopped reporting, so that pods on it never end.
    pub is_silent: bool,
    /// Since when it is, or is not.
    pub ready_since: Option<Time>,
    /// `spec.unschedulable`: it is cordoned.
    pub unschedulable: bool,
    /// What most nodes do not have: there may be as many nodes as pods.
    pub rare: Option<Box<NodeRare>>,
}

/// What is told of few nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeRare {
    /// `spec.taints`, as kubectl writes them: `key=value:NoExecute`.
    pub taints: Box<[Word]>,
    /// Conditions that are `True`, `Ready` aside: pressures, what a node problem detector found, and the node's lifecycle
    /// (`DrainInProgress`, `MaintenancePlanned`, …, KEP-5683).
    pub problems: Box<[Condition]>,
    /// Reason and message of `Ready`, where it is not `True`.
    pub not_ready: Option<(Word, Word)>,
}

impl Node {
    /// `spec.taints`, as kubectl writes them.
    pub fn taints(&self) -> &[Word] {
        self.rare.as_ref().map_or(&[], |rare| &rare.taints)
    }

    /// Conditions that are `True`, `Ready` aside.
    pub fn problems(&self) -> &[Condition] {
        self.rare.as_ref().map_or(&[], |rare| &rare.problems)
    }

    /// Reason and message of `Ready`, where it is not `True`.
    pub fn not_ready(&self) -> Option<(&str, &str)> {
        self.rare.as_ref()?.not_ready.as_ref().map(|(reason, message)| (&**reason, &**message))
    }
}

impl View for NodeView<'_> {
    type Kept = Node;

    fn newest_time(&self) -> Option<Time> {
        let conditions = self.status.conditions.iter();
        conditions.flat_map(|c| [c.last_heartbeat_time.0, c.last_transition_time.0]).flatten().max()
    }

    fn into_kept(self, interner: &mut Interner) -> Option<Node> {
        let ready = self.status.conditions.iter().find(|condition| &*condition.type_ == "Ready");
        let is_problem = |c: &&ConditionView| &*c.status == "True" && &*c.type_ != "Ready";
        let problems = self.status.conditions.iter().filter(is_problem);
        let rare = NodeRare {
            taints: self.spec.taints.iter().map(|taint| interner.intern(&taint.to_string())).collect(),
            problems: problems.map(|condition| condition.to_condition(interner)).collect(),
            not_ready: ready
                .filter(|condition| &*condition.status != "True")
                .map(|condition| (interner.intern(&condition.reason), interner.intern(&condition.message))),
        };
        Some(Node {
            name: interner.intern(&self.metadata.name),
            // `Unknown` is a node whose kubelet has gone silent.
            ready: ready.map(|condition| &*condition.status == "True"),
            is_silent: ready.is_some_and(|condition| &*condition.status == "Unknown"),
            ready_since: ready.and_then(|condition| condition.last_transition_time.0),
            unschedulable: self.spec.unschedulable,
            rare: (rare != NodeRare::default()).then(|| Box::new(rare)),
        })
    }
}

impl std::fmt::Display for TaintView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Self { key, value, effect } = self;
        let equals = if value.is_empty() { "" } else { "=" };
        write!(f, "{}{equals}{}:{}", &**key, &**value, &**effect)
    }
}
