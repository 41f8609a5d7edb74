//! What is asked of the tool, as plain values: the arguments after `cli` has read them.

mod connection;
mod kind;
mod selector;

pub use connection::Connection;
pub(crate) use connection::without_credentials;
pub use kind::TargetKind;
pub use selector::{Selector, SelectorError};

/// A request for the failures.
#[derive(Clone, Debug)]
pub struct Request {
    /// Where to read.
    pub from: From,
    /// What to read.
    pub scope: Scope,
    /// What of it to show.
    pub view: View,
}

/// Where to read.
#[derive(Clone, Debug)]
pub enum From {
    /// Files, folders, or `-` for standard input.
    Files(Vec<String>),
    /// A cluster.
    Cluster(Box<Connection>),
}

/// What to read.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Only this namespace; `None` for all.
    pub namespace: Option<String>,
    /// Only workloads with these labels.
    pub selector: Selector,
    /// Only these workloads; all where empty.
    pub targets: Vec<Target>,
    /// Only workloads of these kinds; all where empty.
    pub kinds: Vec<TargetKind>,
    /// Instead of all these: one workload or pod, with all that bears on it.
    pub subject: Option<Subject>,
    /// Also the nodes of pods that tell of a failure, those with most of them.
    pub nodes: bool,
    /// Objects a page of a list read from a cluster; 0 for no pages.
    pub chunk_size: u32,
}

/// A workload asked for by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// Its kind.
    pub kind: TargetKind,
    /// Its name.
    pub name: String,
}

/// A workload or pod whose story is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its kind; any where it was not told.
    pub kind: Option<TargetKind>,
    /// Its name.
    pub name: String,
}

impl std::convert::From<&Target> for Subject {
    fn from(target: &Target) -> Self {
        Self { kind: Some(target.kind), name: target.name.clone() }
    }
}

/// What of the failures to show.
#[derive(Clone, Debug)]
pub struct View {
    /// What failures are grouped by.
    pub group_by: GroupBy,
    /// Only failures that ended within this many seconds.
    pub since: Option<i64>,
    /// Only these classes; all where empty.
    pub classes: Vec<crate::report::Class>,
    /// Also workloads that completed in spite of failures.
    pub all: bool,
    /// Seconds after which a pod that waits for a node or is still being created counts as unable to start.
    pub pending_after: i64,
}

impl Subject {
    /// What the names of all pods that bear on it begin with. Names of pods are made of their Job's, cut to 57 characters;
    /// of a pod, and of what may be one, the workload's name is not known: the first word is.
    pub(crate) fn pods_begin_with(&self) -> String {
        let whole = matches!(self.kind, Some(TargetKind::CronJob | TargetKind::JobSet));
        let known = if whole { self.name.as_str() } else { self.name.split('-').next().unwrap_or_default() };
        known.chars().take(40).collect()
    }
}

impl GroupBy {
    /// As the command line and the JSON spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Cause => "cause",
            Self::Node => "node",
            Self::Workload => "workload",
            Self::Namespace => "namespace",
            Self::Reason => "reason",
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}/{}", self.kind.name(), self.name)
    }
}

/// What failures are grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// Class, and what is told of it: the rule's label and action, the cause, …
    #[default]
    Rule,
    /// Container, exit code, signal and reason.
    Cause,
    /// The node.
    Node,
    /// The workload.
    Workload,
    /// The namespace.
    Namespace,
    /// The reason: of the disruption, the pod, or the container's end.
    Reason,
}
