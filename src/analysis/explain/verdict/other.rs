//! Of a workload that is no Job, and of a node.

use std::collections::BTreeSet;

use super::super::Facts;
use super::job_set;
use super::words::said;
use crate::analysis::Failure;
use crate::analysis::group::cause_words;
use crate::analysis::standing::Other;
use crate::model::{Node, Word};
use crate::report::{Class, Situation, SituationKind, VerdictTells, WorkloadState};
use crate::words::{counted, list_names};

/// Causes of pods told one by one in a sentence.
const MOST_CAUSES: usize = 2;
/// Situations that a sentence has room for; all of them are below it.
const MOST_SITUATIONS: usize = 2;

pub(super) fn verdict(facts: &Facts, other: Other, who: &str, state: WorkloadState) -> (String, VerdictTells) {
    let situations = facts.situations();
    // A TrainJob is what became of its JobSet; what is only its own comes first.
    if let (Other::TrainJob(_), Some(story)) = (other, facts.story) {
        let (text, tells) = job_set::verdict(facts, story, who);
        // That it is suspended the JobSet's own tells.
        let own: Vec<Situation> =
            situations.into_iter().filter(|situation| situation.kind != SituationKind::Suspended).collect();
        return (with(&text, &own), tells);
    }
    let workload = facts.workload();
    let standing = workload.and_then(|workload| Some(&workload.standing.as_ref()?.1));
    let summary = standing.map(|standing| &*standing.summary).unwrap_or_default();
    let is_whole = standing.is_none_or(|standing| standing.is_whole);
    let pods = facts.pods_ail();
    let how = match state {
        WorkloadState::Running | WorkloadState::Unknown if situations.is_empty() && pods.is_none() => {
            if is_whole {
                "is well"
            } else {
                "is not whole yet"
            }
        }
        WorkloadState::Running | WorkloadState::Unknown | WorkloadState::Deleted => "goes on",
        WorkloadState::Degraded => "is degraded",
        WorkloadState::Stuck => "is stuck",
        WorkloadState::Restarting => "restarts again and again",
        WorkloadState::Failing | WorkloadState::Failed => "has failed",
        WorkloadState::Suspended => "is suspended",
        WorkloadState::Complete => "is over",
    };
    let mut parts = vec![summary.to_owned()];
    parts.extend(situations.iter().take(MOST_SITUATIONS).map(|situation| situation.text.clone()));
    // What a situation has told of the pods is not told again.
    let told = parts.join("; ");
    parts.extend(pods.filter(|_| !facts.are_told(&told)));
    parts.retain(|part| !part.is_empty());
    (format!("{who} {how}: {}.", parts.join("; ")), VerdictTells::default())
}

/// A verdict with what is only its own behind it.
fn with(text: &str, situations: &[Situation]) -> String {
    let own: Vec<&str> = situations.iter().take(MOST_SITUATIONS).map(|situation| &*situation.text).collect();
    if own.is_empty() { text.to_owned() } else { format!("{text} Beside that, {}.", own.join("; ")) }
}

impl Facts<'_, '_> {
    /// Whether all causes of its pods' failures stand in a sentence already, each with a pod or a node.
    fn are_told(&self, told: &str) -> bool {
        let of_pods =
            self.failures.iter().filter(|failure| failure.pod.is_some() && failure.class != Class::Collateral);
        let is_told = |failure: &&Failure| {
            let named = failure.pod_name().is_some_and(|pod| names(told, pod))
                || failure.node().is_some_and(|node| names(told, node));
            named && (failure.class == Class::NotReady || told.contains(strip_count(&cause_words(failure))))
        };
        of_pods.copied().all(|failure| is_told(&failure))
    }

    /// What its pods ail: `exit 1 (app), restarts: 3, in 3 pods (pod web-x on node-1: "…")`.
    fn pods_ail(&self) -> Option<String> {
        let mut causes: Vec<(String, &Failure, u64)> = Vec::new();
        let of_pods =
            self.failures.iter().filter(|failure| failure.pod.is_some() && failure.class != Class::Collateral);
        for failure in of_pods {
            let words = strip_count(&cause_words(failure)).to_owned();
            match causes.iter_mut().find(|(other, ..)| *other == words) {
                Some((.., count)) => *count += u64::from(failure.count),
                None => causes.push((words, failure, u64::from(failure.count))),
            }
        }
        causes.sort_by_key(|(.., count)| std::cmp::Reverse(*count));
        let told: Vec<String> =
            causes.iter().take(MOST_CAUSES).map(|(_, first, count)| self.ail(first, *count)).collect();
        let more = causes.len().saturating_sub(MOST_CAUSES);
        let more = if more > 0 { format!("; and {more} other causes") } else { String::new() };
        (!told.is_empty()).then(|| format!("{}{more}", told.join("; ")))
    }

    fn ail(&self, first: &Failure, count: u64) -> String {
        let happened = match first.class {
            Class::Pending => self.waits(first),
            Class::Restarting => {
                let pod = first.pod_name().unwrap_or_default();
                let node = self.on_node(first.node().map(|node| &**node));
                let said = said(first);
                format!("pod {pod}{node}: {}{said}", cause_words(first))
            }
            Class::NotReady if first.reason() == Some("NodeNotReady") => self.lost_with_node(first),
            Class::NotReady => {
                let pod = first.pod_name().unwrap_or_default();
                let node = self.on_node(first.node().map(|node| &**node));
                format!("pod {pod}{node} is not ready{}", self.since(first.at()))
            }
            _ => self.happened(first),
        };
        match count {
            1 => happened,
            more => format!("{happened} (and {} more alike)", more - 1),
        }
    }
}

/// Whether a sentence names something: `web-1` is not named where `web-10` is.
fn names(text: &str, name: &str) -> bool {
    let of_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    text.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(of_name) && !behind.starts_with(of_name)
    })
}

/// A cause without how often it came: `exit 1 (app), restarts: 3` and `exit 1 (app), restarts: 4` are one.
fn strip_count(words: &str) -> &str {
    words.split_once(", restarts: ").map_or(words, |(cause, _)| cause)
}

pub(super) fn of_node(facts: &Facts, node: &Node) -> String {
    let since = facts.since(node.ready_since);
    let ready = match node.ready {
        Some(true) => format!("is ready{since}"),
        Some(false) if node.is_silent => format!("has stopped reporting{since} (Ready is Unknown)"),
        Some(false) => {
            let why = node.not_ready().map(|(reason, message)| format!(": {reason}: {message}")).unwrap_or_default();
            format!("is NOT READY{since}{why}")
        }
        None => "does not tell whether it is ready".to_owned(),
    };
    let mut parts = vec![ready];
    if node.unschedulable {
        parts.push("it is cordoned".to_owned());
    }
    // What its own state puts on it is told by that state.
    let drives_out = |taint: &&Word| taint.ends_with(":NoExecute") && !taint.starts_with("node.kubernetes.io/");
    let taints: Vec<&str> = node.taints().iter().filter(drives_out).map(|taint| &**taint).collect();
    if !taints.is_empty() {
        parts.push(format!("it is tainted {}", list_names(&taints, 3)));
    }
    let problems: Vec<String> =
        node.problems().iter().map(|problem| format!("{}{}", problem.type_, facts.since(problem.at))).collect();
    if !problems.is_empty() {
        parts.push(list_names(&problems, 3));
    }
    let own = facts.failures.iter().filter(|failure| failure.class != Class::Collateral);
    let failures: u64 = own.clone().map(|failure| u64::from(failure.count)).sum();
    let workloads: BTreeSet<String> =
        own.map(|failure| facts.analysis.workloads[failure.workload].reference.to_string()).collect();
    parts.push(match failures {
        0 => "nothing in the data failed on it".to_owned(),
        more => {
            let names: Vec<&String> = workloads.iter().collect();
            format!("{} of {} on it", counted(more, "failure"), list_names(&names, 3))
        }
    });
    format!("{}.", parts.join("; "))
}
