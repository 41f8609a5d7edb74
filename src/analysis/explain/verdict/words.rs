//! Parts of sentences.

use super::super::Facts;
use crate::analysis::Failure;
use crate::analysis::group::cause_words;
use crate::analysis::words::telling_line;
use crate::model::{Time, human_duration};
use crate::report::{Class, Situation, SituationKind};

/// Causes named one by one.
const MOST_CAUSES: usize = 2;

impl Facts<'_, '_> {
    /// What Kueue says of it, where that keeps it from running.
    pub(super) fn held_by_queue(&self) -> Option<Situation> {
        use SituationKind::{Deactivated, Evicted, Queued};
        let holds = |situation: &Situation| matches!(situation.kind, Deactivated | Evicted | Queued);
        self.situations().into_iter().find(holds)
    }

    /// ` 2m ago`, or nothing where that is not known.
    pub(super) fn ago(&self, at: Option<Time>) -> String {
        self.age(at).map(|age| format!(" {age} ago")).unwrap_or_default()
    }

    /// ` for 2m`, or nothing where that is not known.
    pub(super) fn since(&self, at: Option<Time>) -> String {
        self.age(at).map(|age| format!(" for {age}")).unwrap_or_default()
    }

    fn age(&self, at: Option<Time>) -> Option<String> {
        Some(human_duration(self.now?.seconds() - at?.seconds()))
    }

    /// ` on node-1`, and that it is not ready, where that is so.
    pub(super) fn on_node(&self, node: Option<&str>) -> String {
        let Some(name) = node else { return String::new() };
        match self.analysis.snapshot.node(name).filter(|node| node.ready == Some(false)) {
            Some(node) => format!(" on {name} (NOT READY{})", self.since(node.ready_since)),
            None => format!(" on {name}"),
        }
    }

    /// What happened to a pod: `container trainer exited 42 "ValueError: bad config" in pod x on node-1`.
    pub(super) fn happened(&self, failure: &Failure) -> String {
        let pod = failure.pod_name().map(|pod| format!("pod {pod}")).unwrap_or_default();
        let node = self.on_node(failure.node().map(|node| &**node));
        let said = said(failure);
        if failure.is_disrupted() {
            let reason = failure.reason().unwrap_or("DisruptionTarget");
            return format!("{pod}{node} was disrupted ({reason}){said}");
        }
        if let Some(told) = failure.matched_condition() {
            return format!("{pod}{node} had condition {}{said}", told.type_);
        }
        let Some(end) = failure.end else {
            return format!("{pod}{node}: {}{said}", cause_words(failure));
        };
        let how = match (end.reason.as_deref(), failure.sidecar_hit().and_then(|hit| hit.app)) {
            (Some("OOMKilled"), _) => "was OOM-killed".to_owned(),
            (Some("ContainerStatusUnknown"), _) => "ended, nobody saw how (ContainerStatusUnknown),".to_owned(),
            (_, Some(app)) => {
                format!("(a sidecar) exited {}, {} had exited {},", end.exit_code, app.container, app.exit_code)
            }
            _ => format!("exited {}", end.exit_code),
        };
        format!("container {} {how}{said} in {pod}{node}", end.container)
    }

    /// Pods on nodes that are not ready: `pod x is lost with its node: gpu-node-1 has stopped reporting for 2m`.
    pub(super) fn lost_with_nodes(&self) -> Option<String> {
        let mut lost = self.failures.iter().filter(|failure| failure.class == Class::NotReady);
        let first = lost.next()?;
        let more = match lost.count() {
            0 => String::new(),
            more => format!(" (and {more} more alike)"),
        };
        Some(format!("{}{more}", self.lost_with_node(first)))
    }

    pub(super) fn lost_with_node(&self, failure: &Failure) -> String {
        let pod = failure.pod_name().unwrap_or_default();
        let node = failure.node().map(|node| &**node).unwrap_or_default();
        let is_silent = self.analysis.snapshot.node(node).is_some_and(|node| node.is_silent);
        let ails = if is_silent { "has stopped reporting" } else { "is not ready" };
        format!("pod {pod} is lost with its node: {node} {ails}{}", self.since(failure.at()))
    }

    /// The causes of some failures, the most frequent first: `exit 1 (etl)`, `exit 43 (eval) (2), exit 1 (eval) (1)`.
    pub(super) fn causes(own: &[(Time, &Failure)]) -> Option<String> {
        let mut counts: Vec<(String, usize)> = Vec::new();
        for (_, failure) in own {
            let words = cause_words(failure);
            match counts.iter_mut().find(|(other, _)| *other == words) {
                Some((_, count)) => *count += 1,
                None => counts.push((words, 1)),
            }
        }
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let (first, _) = counts.first()?;
        if counts.len() == 1 {
            return Some(first.clone());
        }
        let told: Vec<String> =
            counts.iter().take(MOST_CAUSES).map(|(words, count)| format!("{words} ({count})")).collect();
        let more = counts.len().saturating_sub(MOST_CAUSES);
        let more = if more > 0 { format!(" and {more} other causes") } else { String::new() };
        Some(format!("{}{more}", told.join(", ")))
    }

    /// What the container of most failures said last.
    pub(super) fn said_by(own: &[(Time, &Failure)]) -> String {
        own.first().map(|(_, failure)| said(failure)).unwrap_or_default()
    }

    /// What keeps a pod from starting, if something does.
    pub(super) fn cannot_start(&self) -> Option<String> {
        let failure = self.failures.iter().find(|failure| failure.class == Class::Pending)?;
        Some(self.waits(failure))
    }

    /// Why a pod has not started: `pod x cannot start: ImagePullBackOff (app) "…"`.
    pub(super) fn waits(&self, failure: &Failure) -> String {
        let pod = failure.pod_name().map(|pod| format!("pod {pod} ")).unwrap_or_default();
        let node = self.on_node(failure.node().map(|node| &**node));
        let said = said(failure);
        let Some(waiting) = failure.waiting() else {
            let asked = self.ago(failure.pod.and_then(|pod| pod.deletion_requested));
            return format!("{pod}was asked to end{asked} and has not{node}{said}, before which no other one is made");
        };
        let since = self.since(waiting.since);
        match &*waiting.reason {
            "Unschedulable" | "SchedulerError" => format!("{pod}waits for a node{since}{said}"),
            "SchedulingGated" => format!("{pod}is held by a scheduling gate{since}"),
            "ContainerCreating" | "PodInitializing" | "Pending" => {
                format!("{pod}is still being created{node}{since}")
            }
            _ => format!("{pod}cannot start{node}: {}{said}", cause_words(failure)),
        }
    }
}

/// What the container, or who set the condition, said: ` "ValueError: bad config"`.
pub(super) fn said(failure: &Failure) -> String {
    let line = failure.message().and_then(telling_line);
    line.map(|line| format!(" \"{line}\"")).unwrap_or_default()
}
