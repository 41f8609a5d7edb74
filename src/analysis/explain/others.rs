//! What is told of workloads that are no Jobs, and of nodes.

use super::{Facts, Subject};
use crate::analysis::object;
use crate::analysis::standing::Other;
use crate::model::{Condition, Event, Node};
use crate::report::{Evidence, TimelineEntry, TimelineKind};

/// Events of a node that are told, the last ones.
const MOST_EVENTS: usize = 6;

impl Facts<'_, '_> {
    /// The timeline of a workload that is no Job: what its conditions say, since when.
    pub(super) fn of_other(&self, other: Other) -> Vec<TimelineEntry> {
        let head = other.head();
        let name = object(other.kind().name(), &head.namespace, &head.name);
        let created = entry(TimelineKind::Created, head.created, "created".to_owned(), &name);
        let mut entries = vec![created];
        // What a JobSet's own story tells is copied from there.
        let is_copied = |condition: &&Condition| {
            let copied = matches!(&*condition.type_, "Failed" | "Complete" | "Suspended");
            matches!(other, Other::TrainJob(_)) && self.story.is_some() && copied
        };
        let own = head.conditions.iter().filter(|condition| tells(condition) && !is_copied(condition));
        entries.extend(own.map(|condition| {
            let status = match condition {
                Condition { is_true: true, .. } => "True",
                Condition { is_unknown: true, .. } => "Unknown",
                _ => "False",
            };
            // A LeaderWorkerSet leaves the reason of the status before in a condition that is no longer True.
            let stale = matches!(other, Other::LeaderWorkerSet(_)) && !condition.is_true;
            let reason = if stale { String::new() } else { format!(": {}", condition.reason) };
            let text = format!("{} is {status}{reason}", condition.type_);
            entry(kind_of(condition), condition.at, text, &name)
        }));
        entries.extend(
            self.situations()
                .iter()
                .filter(|situation| situation.evidence.iter().all(|fact| !fact.path.starts_with("status.conditions")))
                .map(|situation| entry(TimelineKind::Ongoing, situation.since, situation.text.clone(), &name)),
        );
        entries
    }

    /// Where a node stood, as far as its conditions and Events tell.
    pub(super) fn of_node(&self, node: &Node) -> Vec<TimelineEntry> {
        let name = format!("node/{}", node.name);
        let mut entries = Vec::new();
        let ready = match node.ready {
            Some(true) => Some("Ready is True"),
            Some(false) if node.is_silent => Some("Ready is Unknown: its kubelet has stopped reporting"),
            Some(false) => Some("Ready is False"),
            None => None,
        };
        entries.extend(ready.map(|text| entry(TimelineKind::Ongoing, node.ready_since, text.to_owned(), &name)));
        entries.extend(node.problems().iter().map(|problem| {
            let text = format!("{} is True: {}", problem.type_, problem.reason);
            entry(TimelineKind::Ongoing, problem.at, text, &name)
        }));
        let about = |event: &&Event| &*event.kind == "Node" && event.name == node.name;
        let events: Vec<&Event> = self.analysis.snapshot.events.iter().filter(about).collect();
        let last = events.iter().skip(events.len().saturating_sub(MOST_EVENTS));
        entries.extend(last.map(|event| {
            let text = format!("Event {}: {}", event.reason, event.message);
            entry(TimelineKind::ActedOn, event.last.or(event.first), text, &name)
        }));
        entries
    }

    /// The fields of the node asked about.
    pub(super) fn node_facts(&self) -> Vec<Evidence> {
        let Subject::Node(node) = self.subject else { return Vec::new() };
        let fact = |path: String, value: &str| Evidence::new(format!("node/{}", node.name), path, value);
        let status = match node.ready {
            Some(true) => "True",
            Some(false) if node.is_silent => "Unknown",
            Some(false) => "False",
            None => "(no such condition)",
        };
        let mut facts = vec![fact("status.conditions[type=Ready].status".to_owned(), status)];
        if let Some((reason, message)) = node.not_ready() {
            facts.push(fact("status.conditions[type=Ready].reason".to_owned(), reason));
            facts.push(fact("status.conditions[type=Ready].message".to_owned(), message));
        }
        let problems = node.problems().iter();
        facts.extend(
            problems.map(|problem| fact(format!("status.conditions[type={}].reason", problem.type_), &problem.reason)),
        );
        if node.unschedulable {
            facts.push(fact("spec.unschedulable".to_owned(), "true"));
        }
        facts.extend(node.taints().iter().map(|taint| fact("spec.taints[]".to_owned(), taint)));
        facts
    }
}

/// A condition that says more than that all is as it should be, or that this is not asked for.
fn tells(condition: &Condition) -> bool {
    !matches!((&*condition.type_, condition.is_true), ("Suspended", false) | ("PodScheduled", true))
}

fn kind_of(condition: &Condition) -> TimelineKind {
    match (&*condition.type_, condition.is_true) {
        ("Failed", true) => TimelineKind::Failed,
        ("Complete" | "Completed", true) => TimelineKind::Completed,
        ("Suspended", true) => TimelineKind::Suspended,
        _ => TimelineKind::ActedOn,
    }
}

fn entry(kind: TimelineKind, at: Option<crate::model::Time>, text: String, object: &str) -> TimelineEntry {
    TimelineEntry { at, kind, text, object: Some(object.to_owned()), node: None, count: 1 }
}
