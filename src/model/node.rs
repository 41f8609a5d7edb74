use serde::Deserialize;

use super::condition::ConditionView;
use super::{Interner, ObjectView, Text, Time, View, Word, or_default};

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
    /// `spec.taints`, as kubectl writes them: `key=value:NoExecute`.
    pub taints: Box<[Word]>,
    /// Types of the conditions that are `True`, `Ready` aside: pressures, and what a node problem detector found.
    pub problems: Box<[Word]>,
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
        Some(Node {
            name: interner.intern(&self.metadata.name),
            // `Unknown` is a node whose kubelet has gone silent.
            ready: ready.map(|condition| &*condition.status == "True"),
            is_silent: ready.is_some_and(|condition| &*condition.status == "Unknown"),
            ready_since: ready.and_then(|condition| condition.last_transition_time.0),
            unschedulable: self.spec.unschedulable,
            taints: self.spec.taints.iter().map(|taint| interner.intern(&taint.to_string())).collect(),
            problems: problems.map(|condition| interner.intern(&condition.type_)).collect(),
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
