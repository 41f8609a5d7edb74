//! Source: `pkg/controller/statefulset/stateful_set_control.go`: pods are made and updated one after the other, and the
//! first that is not running and ready holds up those behind it.

use super::rollout::between;
use super::words::{is_amiss, some_of};
use super::{Around, Other, Standing, Trouble};
use crate::analysis::object as named;
use crate::model::{Phase, Pod, StatefulSet};
use crate::report::{RolloutReport, SituationKind, WorkloadState};

/// What comes of a pod that does not end, for those of a higher ordinal (`processReplica`).
const BEHIND: &str = ", and nothing is done about the pods behind it (OrderedReady)";

pub(super) fn standing<'s>(
    it: &'s StatefulSet,
    around: &Around<'_, 's>,
    object: &str,
    rollout: Option<&RolloutReport>,
) -> Standing<'s> {
    let summary = some_of(it.ready, it.replicas, "replica", ("is ready", "are ready"));
    // One that has ended is deleted and made again at once, whatever is before it.
    let has_ended = |pod: &Pod| matches!(pod.phase, Phase::Failed | Phase::Succeeded);
    let amiss = around.pods.iter().filter(|pod| is_amiss(pod) && !has_ended(pod));
    let mut amiss: Vec<(u32, &Pod)> = amiss.filter_map(|pod| Some((ordinal(pod)?, *pod))).collect();
    amiss.sort_by_key(|(ordinal, _)| *ordinal);
    let (held, amiss): (Vec<_>, Vec<_>) = amiss.into_iter().partition(|(_, pod)| around.is_held(pod));
    let held: Vec<&Pod> = held.into_iter().map(|(_, pod)| pod).collect();
    let troubles: Vec<Trouble> = [
        around.refused(object, "status.replicas", (it.pods, it.replicas)),
        around.teardown_blocked(&held, if it.is_ordered { BEHIND } else { "" }),
        not_replaced(it, around, &amiss, object),
        rollout_stuck(it, around, &amiss, held.len(), rollout).map(|trouble| facts(it, trouble, object)),
        blocked(it, around, &amiss, object),
    ]
    .into_iter()
    .flatten()
    .collect();
    let is_short = it.ready < it.replicas;
    let state = match () {
        () if !troubles.is_empty() => WorkloadState::Stuck,
        () if is_short && !around.failures.is_empty() => WorkloadState::Degraded,
        () => WorkloadState::Running,
    };
    Standing::new(state, summary).whole(!is_short).with(troubles)
}

/// What the newest template changed, while not all pods have it, or where one was set back.
pub(super) fn rollout(it: &StatefulSet, around: &Around) -> Option<RolloutReport> {
    let (current, update) = (it.current_revision.as_deref()?, it.update_revision.as_deref()?);
    if current == update {
        return None;
    }
    let all = around.index.revisions("StatefulSet", &it.head);
    let find = |name: &str| all.iter().find(|revision| *revision.head.name == *name).copied();
    Some(RolloutReport {
        from: Some(current.to_owned()),
        to: Some(update.to_owned()),
        new_pods: Some(it.updated),
        old_pods: Some(it.pods.saturating_sub(it.updated)),
        ..between(find(current), find(update))
    })
}

/// The number at the end of a pod's name.
fn ordinal(pod: &Pod) -> Option<u32> {
    pod.name.rsplit_once('-')?.1.parse().ok()
}

/// A pod of an older template that is not ready: all stops at it before any pod is replaced, so that neither a version before
/// nor a newer one ever reaches it (kubernetes#67250).
fn not_replaced<'s>(
    it: &'s StatefulSet,
    around: &Around<'_, 's>,
    amiss: &[(u32, &'s Pod)],
    object: &str,
) -> Option<Trouble<'s>> {
    let newest = it.update_revision.as_deref()?;
    let is_old = |(ordinal, pod): &&(u32, &Pod)| {
        let revision = pod.made_from().and_then(|from| from.revision.as_deref());
        *ordinal >= it.partition && revision.is_some_and(|revision| revision != newest)
    };
    let (_, pod) = amiss.iter().find(is_old).filter(|_| it.is_ordered && it.strategy_rolls())?;
    around.failure_of(pod).filter(|_| around.lost_node(pod).is_none())?;
    let revision = pod.made_from()?.revision.as_deref()?;
    let text = format!(
        "pod {} is of revision {revision}, which is not the newest any more ({newest}), and is not replaced before it is ready \
         (OrderedReady), which it is not: {}; it must be deleted by hand",
        pod.name,
        around.ails(pod)
    );
    Some(
        Trouble::new(SituationKind::NotReplaced, since(pod), text)
            .fact(&of_pod(pod), "metadata.labels[controller-revision-hash]", revision)
            .fact(object, "status.updateRevision", newest),
    )
}

/// New pods that fail use up `maxUnavailable`, and no other one is replaced.
///
/// Source: `processUpdates`: with `Parallel` an old pod that is not available is replaced whatever the limit.
fn rollout_stuck<'s>(
    it: &'s StatefulSet,
    around: &Around<'_, 's>,
    amiss: &[(u32, &'s Pod)],
    held: usize,
    told: Option<&RolloutReport>,
) -> Option<Trouble<'s>> {
    let told = told.filter(|_| it.strategy_rolls())?;
    let update = it.update_revision.as_deref()?;
    let is_new = |pod: &Pod| Other::StatefulSet(it).is_newest(pod, around) == Some(true);
    let fails = |pod: &Pod| around.failure_of(pod).is_some();
    let using = amiss.iter().filter(|(_, pod)| fails(pod) && (it.is_ordered || is_new(pod))).count() + held;
    if u32::try_from(using).unwrap_or(u32::MAX) < it.max_unavailable.of_rounded_down(it.replicas).max(1) {
        return None;
    }
    // It goes from the last ordinal to the first.
    let (_, pod) = amiss.iter().rfind(|(_, pod)| is_new(pod) && fails(pod))?;
    let wanted = it.replicas.saturating_sub(it.partition.saturating_sub(it.first_ordinal));
    let waits = match wanted.saturating_sub(it.updated) {
        0 => String::new(),
        1 => "; 1 pod waits behind it".to_owned(),
        more => format!("; {more} pods wait behind it"),
    };
    let changed = super::rollout::in_words(told);
    let text = format!(
        "its rollout to {update} waits for pod {}, of the new template: {}{waits}{changed}",
        pod.name,
        around.ails(pod)
    );
    Some(Trouble::new(SituationKind::RolloutStuck, since(pod), text))
}

fn facts<'s>(it: &StatefulSet, trouble: Trouble<'s>, object: &str) -> Trouble<'s> {
    let update = it.update_revision.as_deref().unwrap_or_default();
    trouble.fact(object, "status.updateRevision", update).fact(object, "status.updatedReplicas", it.updated.to_string())
}

/// With `OrderedReady` no pod is made before all before it are ready.
fn blocked<'s>(
    it: &'s StatefulSet,
    around: &Around<'_, 's>,
    amiss: &[(u32, &'s Pod)],
    object: &str,
) -> Option<Trouble<'s>> {
    let missing = it.replicas.saturating_sub(it.pods);
    let (_, pod) = amiss.first().filter(|_| it.is_ordered && missing > 0)?;
    // One that is only starting holds up nothing that is worth a word.
    around.failure_of(pod)?;
    let next = it.first_ordinal + it.pods;
    let last = it.first_ordinal + it.replicas - 1;
    let name = &it.head.name;
    let others = match missing {
        1 => format!("pod {name}-{next} is"),
        _ => format!("pods {name}-{next} to {name}-{last} are"),
    };
    let text = format!(
        "pod {} is not ready, and {others} not made before it is (OrderedReady): {}",
        pod.name,
        around.ails(pod)
    );
    Some(
        Trouble::new(SituationKind::OrdinalBlocked, since(pod), text)
            .fact(&of_pod(pod), "status.conditions[type=Ready].status", "False")
            .fact(object, "status.replicas", it.pods.to_string()),
    )
}

fn since(pod: &Pod) -> Option<crate::model::Time> {
    pod.unready().and_then(|unready| unready.since).or_else(|| pod.waiting()?.since).or(pod.deletion_requested)
}

fn of_pod(pod: &Pod) -> String {
    named("pod", &pod.namespace, &pod.name)
}

impl StatefulSet {
    fn strategy_rolls(&self) -> bool {
        &*self.strategy == "RollingUpdate"
    }
}
