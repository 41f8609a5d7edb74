//! Parts of sentences that several kinds need.

use super::{Around, Trouble};
use crate::analysis::group::cause_words;
use crate::analysis::orphan::judge_orphan;
use crate::analysis::words::telling_line;
use crate::analysis::{Failure, blocker, object};
use crate::model::{Event, Node, Pod, Time, human_duration};
use crate::report::{Class, SituationKind};
use crate::words::{counted, list_names};

/// Pods and nodes named one by one.
pub(super) const NAMED: usize = 3;

impl<'s> Around<'_, 's> {
    /// ` for 2m`, or nothing where that is not known.
    pub(super) fn lasting(&self, since: Option<Time>) -> String {
        self.age(since).map(|age| format!(" for {age}")).unwrap_or_default()
    }

    /// ` 2m ago`, or nothing where that is not known.
    pub(super) fn ago(&self, at: Option<Time>) -> String {
        self.age(at).map(|age| format!(" {age} ago")).unwrap_or_default()
    }

    /// Whether a pod was asked to end and will not: nobody is there to end it, or something holds it.
    pub(super) fn is_held(&self, pod: &Pod) -> bool {
        pod.is_terminating() && self.failure_of(pod).is_some()
    }

    /// Pods that do not end, in whose places no others are made meanwhile: of a name there can be one pod only. `behind` is
    /// what else comes of it.
    pub(super) fn teardown_blocked(&self, held: &[&'s Pod], behind: &str) -> Option<Trouble<'s>> {
        let first = held.first()?;
        let asked = self.ago(first.deletion_requested);
        let why = self.lost_node(first).map(|_| format!(", as {}", self.ails(first))).unwrap_or_default();
        let more = match held.len() - 1 {
            0 => String::new(),
            1 => "; 1 more pod is held like it".to_owned(),
            more => format!("; {more} more pods are held like it"),
        };
        let text = format!(
            "pod {} was asked to end{asked} and has not{why}; no other one of its name is made before it is gone{behind}{more}",
            first.name
        );
        let until = first.deletion_requested.map(|at| at.plus_seconds(first.grace_seconds()).to_string());
        let mut trouble = Trouble::new(SituationKind::TeardownBlocked, first.deletion_requested, text).fact(
            &object("pod", &first.namespace, &first.name),
            "metadata.deletionTimestamp",
            until.unwrap_or_default(),
        );
        trouble.situation.blockers = held.iter().map(|pod| blocker(self.snapshot, pod)).collect();
        Some(trouble)
    }

    /// The API server refuses pods, which no condition tells: only the Event. `pods` are those made, and those wanted.
    ///
    /// Source: `pkg/controller/controller_utils.go`, `RealPodControl.createPods`; `stateful_pod_control.go`.
    pub(super) fn refused(&self, object: &str, path: &str, pods: (u32, u32)) -> Option<Trouble<'s>> {
        refused_by(self.events, object, path, pods)
    }

    /// What keeps a pod from being ready yet, where it is too early to call that a failure: `; pod x is not up yet:
    /// Unschedulable "…"`.
    pub(super) fn waits(&self) -> String {
        let told = self.pods.iter().find_map(|pod| {
            let Some(waiting) = pod.waiting() else {
                let unready = pod.unready()?;
                return Some(format!("; pod {} is not ready{}", pod.name, self.lasting(unready.since)));
            };
            let said = waiting.message.as_deref().and_then(telling_line);
            let said = said.map(|line| format!(" \"{line}\"")).unwrap_or_default();
            Some(format!("; pod {} is not up yet: {}{said}", pod.name, waiting.reason))
        });
        told.unwrap_or_default()
    }

    fn age(&self, at: Option<Time>) -> Option<String> {
        Some(human_duration((self.now?.seconds() - at?.seconds()).max(0)))
    }

    /// The failure of a pod that is going on, if it has one.
    pub(super) fn failure_of(&self, pod: &Pod) -> Option<&Failure<'s>> {
        let of_pod = |failure: &&Failure| failure.pod.is_some_and(|other| std::ptr::eq(other, pod));
        self.failures.iter().filter(of_pod).find(|failure| failure.class != Class::Collateral)
    }

    /// The failure of a pod of another workload, which is told under that one's name.
    pub(super) fn failure_elsewhere(&self, pod: &'s Pod) -> Option<Failure<'s>> {
        let found = judge_orphan(pod, self.snapshot, self.now, self.pending_after);
        found.into_iter().find(|failure| failure.class != Class::Collateral)
    }

    /// The node that a pod is on, where that is not ready.
    pub(super) fn lost_node(&self, pod: &Pod) -> Option<&'s Node> {
        self.snapshot.node(pod.node.as_deref()?).filter(|node| node.ready == Some(false))
    }

    /// What ails a pod: `exit 1 (app), restarts: 3`, `not ready`, `node gpu-node-1 has stopped reporting for 2m`.
    pub(super) fn ails(&self, pod: &Pod) -> String {
        self.ails_by(pod, self.failure_of(pod))
    }

    /// The same of a pod whose failure is known.
    pub(super) fn ails_by(&self, pod: &Pod, failure: Option<&Failure>) -> String {
        if let Some(node) = self.lost_node(pod) {
            let how = if node.is_silent { "has stopped reporting" } else { "is not ready" };
            return format!("node {} {how}{}", node.name, self.lasting(node.ready_since));
        }
        if let Some(failure) = failure.filter(|failure| failure.class != Class::NotReady) {
            let said = failure.message().and_then(telling_line).map(|line| format!(" \"{line}\"")).unwrap_or_default();
            return format!("{}{said}", cause_words(failure));
        }
        match pod.unready() {
            Some(unready) => format!("not ready{}", self.lasting(unready.since)),
            None if pod.is_terminating() => format!("asked to end{}", self.ago(pod.deletion_requested)),
            None => format!("phase {:?}", pod.phase),
        }
    }
}

/// The same by the Events about what makes the pods.
pub(super) fn refused_by<'s>(
    events: &[&'s Event],
    object: &str,
    path: &str,
    (made, wanted): (u32, u32),
) -> Option<Trouble<'s>> {
    let last = |reason: &str| events.iter().filter(|event| &*event.reason == reason).max_by_key(|event| event.last);
    let event = last("FailedCreate").filter(|_| made < wanted)?;
    if last("SuccessfulCreate").is_some_and(|made| made.last > event.last) {
        return None;
    }
    let message = telling_line(&event.message).unwrap_or_default();
    let text = format!("{}, the next is refused: {message}", some_of(made, wanted, "pod", ("is made", "are made")));
    Some(
        Trouble::new(SituationKind::CreationRefused, event.first, text)
            .fact(object, path, made.to_string())
            .fact(object, "Event.reason", &*event.reason)
            .failing(&event.reason, &event.message)
            .always(),
    )
}

/// Whether a pod of a workload that goes on is not what it should be: ready.
pub(super) fn is_amiss(pod: &Pod) -> bool {
    pod.unready().is_some() || pod.waiting().is_some() || pod.is_terminating() || !is_running(pod)
}

/// `1 of 3 groups is ready`, `0 of 1 group is ready`.
pub(super) fn some_of(part: u32, all: u32, noun: &str, is: (&str, &str)) -> String {
    let verb = if part == 1 || all == 1 { is.0 } else { is.1 };
    format!("{part} of {} {verb}", counted(all, noun))
}

fn is_running(pod: &Pod) -> bool {
    pod.phase == crate::model::Phase::Running
}

/// Names, of which only the first are told.
pub(super) fn names<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = all.collect();
    list_names(&all, NAMED)
}
