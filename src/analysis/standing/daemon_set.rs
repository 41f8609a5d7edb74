//! Source: `pkg/controller/daemon/update.go`: no more pods are replaced while `maxUnavailable` nodes have no available one,
//! whether of the old template or the new.

use super::rollout::{between, revisions};
use super::words::{NAMED, is_amiss};
use super::{Around, Standing, Trouble};
use crate::model::{DaemonSet, Pod};
use crate::report::{RolloutReport, SituationKind, WorkloadState};
use crate::words::{counted, list_names};

pub(super) fn standing<'s>(it: &'s DaemonSet, around: &Around<'_, 's>, object: &str) -> Standing<'s> {
    let ready = it.ready.min(it.desired);
    let summary = format!("{ready} of {} have a ready pod", counted(it.desired, "node"));
    let amiss: Vec<&Pod> = around.pods.iter().copied().filter(|pod| is_amiss(pod)).collect();
    let troubles = [rollout_stuck(it, around, &amiss, object), unavailable(it, around, &amiss, object)];
    let troubles: Vec<Trouble> = troubles.into_iter().flatten().take(1).chain(kills_failed(around)).collect();
    let state = match () {
        () if troubles.iter().any(|trouble| trouble.situation.kind == SituationKind::RolloutStuck) => {
            WorkloadState::Stuck
        }
        () if !(troubles.is_empty() && around.failures.is_empty()) => WorkloadState::Degraded,
        () => WorkloadState::Running,
    };
    Standing::new(state, summary).with(troubles)
}

/// What the newest template changed, while not all nodes have it.
pub(super) fn rollout(it: &DaemonSet, around: &Around) -> Option<RolloutReport> {
    let all = revisions(around.snapshot, &it.head);
    let (newest, older) = all.split_first().filter(|_| it.updated < it.desired)?;
    let before = older.first().copied()?;
    Some(RolloutReport {
        new_pods: Some(it.updated),
        old_pods: Some(it.scheduled.saturating_sub(it.updated)),
        ..between(Some(before), Some(newest))
    })
}

/// Nodes, each with what ails it: `gpu-node-0 (has stopped reporting for 2m)`.
fn nodes(around: &Around, pods: &[&Pod]) -> String {
    let told: Vec<String> = pods
        .iter()
        .map(|pod| match pod.node.as_deref() {
            Some(node) => {
                let ails = around.ails(pod);
                let ails = ails.strip_prefix(&format!("node {node} ")).unwrap_or(&ails);
                format!("{node} ({ails})")
            }
            None => format!("pod {} ({})", pod.name, around.ails(pod)),
        })
        .collect();
    list_names(&told, NAMED)
}

fn rollout_stuck<'s>(
    it: &'s DaemonSet,
    around: &Around<'_, 's>,
    amiss: &[&'s Pod],
    object: &str,
) -> Option<Trouble<'s>> {
    // While nothing is updated the controller leaves the number out.
    let behind = it.desired.saturating_sub(it.updated);
    let has_rollout = it.head.generation > 1 && behind > 0 && &*it.strategy == "RollingUpdate";
    let most = it.max_unavailable.of(it.desired).max(1);
    let used = it.unavailable.max(u32::try_from(amiss.len()).unwrap_or(u32::MAX));
    let failing: Vec<&Pod> = amiss.iter().copied().filter(|pod| around.failure_of(pod).is_some()).collect();
    if !has_rollout || it.surges || used < most || (failing.is_empty() && it.unavailable < most) {
        return None;
    }
    let told = rollout(it, around);
    let changed = told.as_ref().map(super::rollout::in_words).unwrap_or_default();
    let by = if amiss.is_empty() { format!("{used} of them") } else { nodes(around, amiss) };
    let text = format!(
        "its rollout waits: maxUnavailable {} is used up by {by}; {} still {} the old template{changed}",
        it.max_unavailable,
        counted(behind, "node"),
        if behind == 1 { "has" } else { "have" }
    );
    let since = amiss.iter().filter_map(|pod| pod.deletion_requested.or_else(|| pod.unready()?.since)).min();
    Some(
        Trouble::new(SituationKind::RolloutStuck, since, text)
            .fact(object, "status.numberUnavailable", it.unavailable.to_string())
            .fact(object, "status.updatedNumberScheduled", it.updated.to_string())
            .fact(object, "spec.updateStrategy.rollingUpdate.maxUnavailable", it.max_unavailable.to_string())
            .failing("RolloutStuck", ""),
    )
}

fn unavailable<'s>(it: &'s DaemonSet, around: &Around<'_, 's>, amiss: &[&'s Pod], object: &str) -> Option<Trouble<'s>> {
    let failing: Vec<&Pod> = amiss.iter().copied().filter(|pod| around.failure_of(pod).is_some()).collect();
    let unmade = it.desired.saturating_sub(it.scheduled);
    if failing.is_empty() && unmade == 0 {
        return None;
    }
    let by = if failing.is_empty() {
        format!("{} should have a pod and none is made", counted(unmade, "node"))
    } else {
        format!("no ready pod on {}", nodes(around, &failing))
    };
    let since = failing.iter().filter_map(|pod| pod.unready()?.since).min();
    Some(
        Trouble::new(SituationKind::Unavailable, since, by)
            .fact(object, "status.desiredNumberScheduled", it.desired.to_string())
            .fact(object, "status.numberReady", it.ready.to_string()),
    )
}

/// A pod that the kubelet refuses is deleted and made again, with a growing pause.
fn kills_failed<'s>(around: &Around<'_, 's>) -> Option<Trouble<'s>> {
    let killed: Vec<_> = around.events.iter().filter(|event| &*event.reason == "FailedDaemonPod").collect();
    let count: u32 = killed.iter().map(|event| event.count).sum();
    let last = killed.iter().max_by_key(|event| event.last)?;
    let node = last.message.split_once(" on node ").and_then(|(_, rest)| rest.split([',', ' ']).next());
    let node = node.map(|node| format!(", last on node {node}")).unwrap_or_default();
    let text = format!("{} were deleted and made again{node}", counted(count, "failed pod"));
    Some(Trouble::new(SituationKind::InPlaceRestarts, killed.iter().filter_map(|event| event.first).min(), text))
}
