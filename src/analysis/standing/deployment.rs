//! Source: `pkg/controller/deployment/{sync,progress,rolling}.go`, `pkg/controller/deployment/util/deployment_util.go`.

use super::rollout::{between, in_words};
use super::words::some_of;
use super::{Around, Standing, Trouble};
use crate::model::{Deployment, Revision};
use crate::report::{RolloutReport, SituationKind, WorkloadState};
use crate::words::counted;

/// What the controller's condition says that gave up waiting.
const PAST_DEADLINE: &str = "ProgressDeadlineExceeded";

pub(super) fn standing<'s>(
    it: &'s Deployment,
    around: &Around<'_, 's>,
    object: &str,
    rollout: Option<&RolloutReport>,
) -> Standing<'s> {
    let summary = some_of(it.available, it.replicas, "replica", ("is available", "are available"));
    let stuck = it.head.is_not("Progressing").filter(|condition| &*condition.reason == PAST_DEADLINE);
    let troubles = [refused(it, object), rollout_stuck(it, rollout, object), paused(it, object)];
    let troubles: Vec<Trouble> = troubles.into_iter().flatten().collect();
    let is_short = it.available < it.replicas;
    let state = match () {
        () if stuck.is_some() => WorkloadState::Stuck,
        () if is_short && !(troubles.is_empty() && around.failures.is_empty()) => WorkloadState::Degraded,
        () => WorkloadState::Running,
    };
    Standing::new(state, summary).whole(!is_short).with(troubles)
}

/// What of a template that is not rolled out yet, or did not come up, differs from the one before.
pub(super) fn rollout(it: &Deployment, around: &Around) -> Option<RolloutReport> {
    // It stays over though pods fail later, or are lost with a node.
    let has_been = it.head.is("Progressing").is_some_and(|told| &*told.reason == "NewReplicaSetAvailable");
    let is_over = it.updated >= it.replicas && it.pods <= it.replicas && (it.available >= it.replicas || has_been);
    if is_over {
        return None;
    }
    let all = around.index.revisions("Deployment", &it.head);
    let (newest, older) = all.split_first()?;
    // What still has pods is what was before; where nothing has, the version before.
    let before = older.iter().find(|revision| revision.pods > 0).or(older.first()).copied();
    let sum = |of: fn(&Revision) -> u32| older.iter().map(|revision| of(revision)).sum();
    Some(RolloutReport {
        new_pods: Some(newest.pods),
        new_ready: Some(newest.ready),
        old_pods: Some(sum(|revision| revision.pods)),
        old_ready: Some(sum(|revision| revision.ready)),
        ..between(before, Some(newest))
    })
}

fn rollout_stuck<'s>(it: &'s Deployment, told: Option<&RolloutReport>, object: &str) -> Option<Trouble<'s>> {
    let condition = it.head.is_not("Progressing").filter(|condition| &*condition.reason == PAST_DEADLINE)?;
    let deadline = it.progress_deadline.map(|seconds| format!(" ({seconds}s)")).unwrap_or_default();
    let to = told.and_then(|told| told.to.as_ref()).map(|to| format!(" to ReplicaSet {to}")).unwrap_or_default();
    let (ready, all) = match told {
        Some(RolloutReport { new_ready: Some(ready), new_pods: Some(pods), .. }) => (*ready, *pods),
        _ => (it.ready.min(it.updated), it.updated),
    };
    let old = match told.and_then(|told| told.old_ready) {
        Some(0) if it.available == 0 => "; nothing serves".to_owned(),
        Some(0) | None => String::new(),
        Some(old) => format!("; {} of the version before still serve", counted(old, "ready pod")),
    };
    let changed = told.map(in_words).unwrap_or_default();
    let new = if all == 0 {
        "no new pod is made".to_owned()
    } else {
        format!("{ready} of {} ready", counted(all, "new pod"))
    };
    let text = format!(
        "its rollout{to} has not got on for longer than progressDeadlineSeconds{deadline}: {new}{old}{changed}"
    );
    let trouble = Trouble::new(SituationKind::RolloutStuck, condition.at, text).condition(object, condition);
    // Where its pods are refused, that is the failure.
    let is_refused = it.head.is("ReplicaFailure").is_some();
    Some(if is_refused { trouble } else { trouble.failing(PAST_DEADLINE, &condition.message) })
}

/// The API server refuses its pods: quota, admission, a webhook.
fn refused<'s>(it: &'s Deployment, object: &str) -> Option<Trouble<'s>> {
    let condition = it.head.is("ReplicaFailure")?;
    let text = format!("its pods are refused: {}", condition.message);
    Some(
        Trouble::new(SituationKind::CreationRefused, condition.at, text)
            .condition(object, condition)
            .failing(&condition.reason, &condition.message)
            .always(),
    )
}

fn paused<'s>(it: &'s Deployment, object: &str) -> Option<Trouble<'s>> {
    let waits = it.paused && it.updated < it.replicas;
    let text =
        format!("its rollout is paused: {} of {} have the new template", it.updated, counted(it.replicas, "pod"));
    let since = it.head.condition("Progressing").and_then(|condition| condition.at);
    waits.then(|| Trouble::new(SituationKind::Paused, since, text).fact(object, "spec.paused", "true"))
}
