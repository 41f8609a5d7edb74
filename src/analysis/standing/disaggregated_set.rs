use super::{Around, Standing, Trouble};
use crate::model::DisaggregatedSet;
use crate::report::{SituationKind, WorkloadState};
use crate::words::counted;

/// What its roles tell; each is a `LeaderWorkerSet` of its own, which tells of its pods.
pub(super) fn standing<'s>(it: &'s DisaggregatedSet, around: &Around<'_, 's>, object: &str) -> Standing<'s> {
    let short: Vec<String> = it
        .roles
        .iter()
        .filter(|role| role.ready < role.groups)
        .map(|role| format!("role {} has {} of {} ready", role.name, role.ready, counted(role.groups, "group")))
        .collect();
    let ready = it.roles.iter().filter(|role| role.ready >= role.groups).count();
    let summary = format!("{ready} of {} are ready", counted(it.roles.len() as u64, "role"));
    // It says so itself, or what it owns fails; else it is only coming up.
    let degraded = it.head.is("Degraded");
    let down = it.head.is_not("Available").filter(|_| !around.failures.is_empty());
    let trouble = degraded.or(down).map(|condition| {
        let roles = if short.is_empty() { condition.message.to_string() } else { short.join("; ") };
        Trouble::new(SituationKind::Unavailable, condition.at, roles)
            .condition(object, condition)
            .failing(&condition.reason, &condition.message)
    });
    let state = if trouble.is_some() { WorkloadState::Degraded } else { WorkloadState::Running };
    Standing::new(state, summary).with(trouble)
}
