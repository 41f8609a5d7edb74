//! Parts of sentences that several kinds need.

use super::Around;
use crate::analysis::Failure;
use crate::analysis::group::cause_words;
use crate::analysis::words::telling_line;
use crate::model::{Pod, Time, human_duration};
use crate::report::Class;
use crate::words::list_names;

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

    fn age(&self, at: Option<Time>) -> Option<String> {
        Some(human_duration((self.now?.seconds() - at?.seconds()).max(0)))
    }

    /// The failure of a pod that is going on, if it has one.
    pub(super) fn failure_of(&self, pod: &Pod) -> Option<&Failure<'s>> {
        let of_pod = |failure: &&Failure| failure.pod.is_some_and(|other| std::ptr::eq(other, pod));
        self.failures.iter().filter(of_pod).find(|failure| failure.class != Class::Collateral)
    }

    /// What ails a pod: `exit 1 (app), restarts: 3`, `not ready`, `on gpu-node-1, which is not ready`.
    pub(super) fn ails(&self, pod: &Pod) -> String {
        let node = pod.node.as_deref();
        let lost = node.and_then(|name| self.snapshot.node(name)).filter(|node| node.ready == Some(false));
        if let Some(node) = lost {
            let how = if node.is_silent { "has stopped reporting" } else { "is not ready" };
            return format!("node {} {how}{}", node.name, self.lasting(node.ready_since));
        }
        if let Some(failure) = self.failure_of(pod).filter(|failure| failure.class != Class::NotReady) {
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

/// Whether a pod of a workload that goes on is not what it should be: ready.
pub(super) fn is_amiss(pod: &Pod) -> bool {
    pod.unready().is_some() || pod.waiting().is_some() || pod.is_terminating() || !is_running(pod)
}

fn is_running(pod: &Pod) -> bool {
    pod.phase == crate::model::Phase::Running
}

/// Names, of which only the first are told.
pub(super) fn names<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = all.collect();
    list_names(&all, NAMED)
}
