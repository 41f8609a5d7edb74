//! Source: `pkg/controller/daemon/update.go`, `rollingUpdate`: no available pod is replaced while `maxUnavailable` nodes have
//! no available one. An old pod that is not available is replaced at once, whatever the limit, so that only new pods and those
//! that do not end hold a rollout up.

use super::rollout::between;
use super::words::{NAMED, is_amiss, some_of};
use super::{Around, Other, Standing, Trouble};
use crate::model::{DaemonSet, Pod};
use crate::report::{RolloutReport, SituationKind, WorkloadState};
use crate::words::{counted, list_names};

/// The longest pause before a failed pod is deleted (`failedPodsBackoff`, `cmd/kube-controller-manager/app/apps.go`): later
/// it is over.
const LONGEST_PAUSE_SECONDS: i64 = 15 * 60;

pub(super) fn standing<'s>(
    it: &'s DaemonSet,
    around: &Around<'_, 's>,
    object: &str,
    rollout: Option<&RolloutReport>,
) -> Standing<'s> {
    let amiss: Vec<&Pod> = around.pods.iter().copied().filter(|pod| is_amiss(pod)).collect();
    let ready = it.ready.min(it.desired);
    // A node that is tainted as lost is not counted any more, though a pod of it is still there.
    let lost = amiss.iter().filter(|pod| around.lost_node(pod).is_some()).count();
    let beyond = u32::try_from(lost).unwrap_or(u32::MAX).saturating_sub(it.desired - ready);
    let nodes = it.desired.saturating_add(beyond);
    let summary = some_of(ready, nodes, "node", ("has a ready pod", "have a ready pod"));
    let refused = around.refused(object, "status.currentNumberScheduled", (it.scheduled, it.desired));
    let troubles = [
        rollout_stuck(it, around, &amiss, object, rollout),
        unavailable(it, around, &amiss, beyond, object).filter(|_| refused.is_none()),
    ];
    let troubles: Vec<Trouble> =
        troubles.into_iter().flatten().take(1).chain(refused).chain(kills_failed(around, object)).collect();
    let state = match () {
        () if troubles.iter().any(|trouble| trouble.situation.kind == SituationKind::RolloutStuck) => {
            WorkloadState::Stuck
        }
        () if !around.failures.is_empty() => WorkloadState::Degraded,
        () if troubles.iter().any(|trouble| lacks_pods(trouble.situation.kind)) => WorkloadState::Degraded,
        () => WorkloadState::Running,
    };
    Standing::new(state, summary).whole(ready >= nodes).with(troubles)
}

/// What the newest template changed, while not all nodes have it.
pub(super) fn rollout(it: &DaemonSet, around: &Around) -> Option<RolloutReport> {
    if it.updated >= it.desired {
        return None;
    }
    let all = around.index.revisions("DaemonSet", &it.head);
    let (newest, older) = all.split_first()?;
    let before = older.first().copied()?;
    Some(RolloutReport {
        new_pods: Some(it.updated),
        old_pods: Some(it.scheduled.saturating_sub(it.updated)),
        ..between(Some(before), Some(newest))
    })
}

const fn lacks_pods(kind: SituationKind) -> bool {
    matches!(kind, SituationKind::Unavailable | SituationKind::CreationRefused)
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
    told: Option<&RolloutReport>,
) -> Option<Trouble<'s>> {
    // While nothing is updated the controller leaves the number out.
    let behind = it.desired.saturating_sub(it.updated);
    let has_rollout = it.head.generation > 1 && behind > 0 && &*it.strategy == "RollingUpdate";
    let most = it.max_unavailable.of(it.desired).max(1);
    // A rollout that goes on has as many that are just being replaced: only those count that have failed, or take too long.
    let holds = |pod: &&&Pod| {
        let is_new = || Other::DaemonSet(it).is_newest(pod, around) == Some(true);
        around.failure_of(pod).is_some() && (pod.is_terminating() || is_new())
    };
    let holding: Vec<&Pod> = amiss.iter().filter(holds).copied().collect();
    let used = u32::try_from(holding.len()).unwrap_or(u32::MAX);
    if !has_rollout || it.surges || used < most {
        return None;
    }
    let changed = told.map(super::rollout::in_words).unwrap_or_default();
    let text = format!(
        "its rollout waits: maxUnavailable {} is used up by {}; {} still {} the old template{changed}",
        it.max_unavailable,
        nodes(around, &holding),
        counted(behind, "node"),
        if behind == 1 { "has" } else { "have" }
    );
    let since = holding.iter().filter_map(|pod| pod.deletion_requested.or_else(|| pod.unready()?.since)).min();
    Some(
        Trouble::new(SituationKind::RolloutStuck, since, text)
            .fact(object, "status.numberUnavailable", it.unavailable.to_string())
            .fact(object, "status.updatedNumberScheduled", it.updated.to_string())
            .fact(object, "spec.updateStrategy.rollingUpdate.maxUnavailable", it.max_unavailable.to_string())
            .failing("RolloutStuck", ""),
    )
}

fn unavailable<'s>(
    it: &'s DaemonSet,
    around: &Around<'_, 's>,
    amiss: &[&'s Pod],
    beyond: u32,
    object: &str,
) -> Option<Trouble<'s>> {
    let failing: Vec<&Pod> = amiss.iter().copied().filter(|pod| around.failure_of(pod).is_some()).collect();
    let unmade = it.desired.saturating_sub(it.scheduled);
    if failing.is_empty() && unmade == 0 {
        return None;
    }
    let by = if failing.is_empty() {
        format!("{} should have a pod and none is made", counted(unmade, "node"))
    } else {
        let uncounted = match beyond {
            0 => "",
            1 => ", a node that its status does not count any more, tainted as it is",
            _ => ", nodes that its status does not count any more, tainted as they are",
        };
        format!("no ready pod on {}{uncounted}", nodes(around, &failing))
    };
    let since = |pod: &&Pod| pod.unready().and_then(|unready| unready.since).or(pod.finished_at());
    let since = failing.iter().filter_map(since).min();
    Some(
        Trouble::new(SituationKind::Unavailable, since, by)
            .fact(object, "status.desiredNumberScheduled", it.desired.to_string())
            .fact(object, "status.numberReady", it.ready.to_string()),
    )
}

/// A pod that the kubelet refuses, or evicts, is deleted and made again, with a growing pause (`podsShouldBeOnNode`).
fn kills_failed<'s>(around: &Around<'_, 's>, object: &str) -> Option<Trouble<'s>> {
    let killed: Vec<_> = around.events.iter().filter(|event| &*event.reason == "FailedDaemonPod").collect();
    let count: u32 = killed.iter().map(|event| event.count).sum();
    let last = killed.iter().max_by_key(|event| event.last)?;
    if around.now.zip(last.last).is_some_and(|(now, at)| now.seconds() - at.seconds() > LONGEST_PAUSE_SECONDS) {
        return None;
    }
    let node = |message: &'s str| message.split_once(" on node ").and_then(|(_, rest)| rest.split([',', ' ']).next());
    let mut on: Vec<&str> = killed.iter().filter_map(|event| node(&event.message)).collect();
    on.sort_unstable();
    on.dedup();
    let on = if on.is_empty() { String::new() } else { format!(" on {}", list_names(&on, NAMED)) };
    let (were, pauses) = if count == 1 { ("was", "") } else { ("were", ", with pauses that grow") };
    let ago = around.ago(last.last);
    let ago = if ago.is_empty() { ago } else { format!(", the last{ago}") };
    let text = format!("{}{on} {were} deleted and made again{pauses}{ago}", counted(count, "failed pod"));
    Some(Trouble::new(SituationKind::Restarting, killed.iter().filter_map(|event| event.first).min(), text).fact(
        object,
        "Event.reason",
        &*last.reason,
    ))
}
