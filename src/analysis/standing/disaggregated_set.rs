//! Source: lws v0.9.0 `pkg/controllers/disaggregatedset`: it writes no status at all, so that what is known is told by its
//! `LeaderWorkerSet`s, one for each role and revision. A status that a later version writes holds where it is there.

use super::words::some_of;
use super::{Around, Standing, Trouble};
use crate::model::{DisaggregatedSet, Head, LeaderWorkerSet, Pod};
use crate::report::{SituationKind, WorkloadState};
use crate::words::counted;

/// The label that tells of which role a `LeaderWorkerSet` is.
const ROLE: &str = "disaggregatedset.x-k8s.io/role";

/// One of its roles, as far as it is known.
struct Role<'s> {
    name: &'s str,
    groups: u32,
    ready: u32,
    sets: Vec<&'s LeaderWorkerSet>,
}

/// What its roles tell; each is a `LeaderWorkerSet` of its own, which tells of its pods.
pub(super) fn standing<'s>(it: &'s DisaggregatedSet, around: &Around<'_, 's>, object: &str) -> Standing<'s> {
    let roles = roles(it, around);
    // What has no group, and no LeaderWorkerSet in the data, is not known to be ready.
    let is_ready = |role: &&Role| role.groups > 0 && role.ready >= role.groups;
    let ready = roles.iter().filter(is_ready).count();
    let (ready, all) = (u32::try_from(ready).unwrap_or(u32::MAX), u32::try_from(roles.len()).unwrap_or(u32::MAX));
    let summary = some_of(ready, all, "role", ("is ready", "are ready"));
    let short: Vec<String> =
        roles.iter().filter(|role| role.ready < role.groups).map(|role| in_words(role, around)).collect();
    // It says so itself, or a pod of a role fails; else it is only coming up.
    let degraded = it.head.is("Degraded");
    let fails = roles.iter().any(|role| role.ready < role.groups && failing_pod(role, around).is_some());
    let trouble = (degraded.is_some() || fails).then(|| {
        let said = degraded.map(|condition| condition.message.to_string()).unwrap_or_default();
        let text = if short.is_empty() { said } else { short.join("; ") };
        let trouble = Trouble::new(SituationKind::Unavailable, degraded.and_then(|condition| condition.at), text);
        let short = roles.iter().filter(|role| role.ready < role.groups).flat_map(|role| &role.sets);
        let trouble = short.filter(|set| set.ready < set.groups).fold(trouble, |trouble, set| {
            let set_object = crate::analysis::object("leaderworkerset", &set.head.namespace, &set.head.name);
            trouble.fact(&set_object, "status.readyReplicas", set.ready.to_string())
        });
        match degraded {
            // Where a LeaderWorkerSet's pods show it, that is the failure.
            Some(condition) if !fails => {
                trouble.condition(object, condition).failing(&condition.reason, &condition.message)
            }
            Some(condition) => trouble.condition(object, condition),
            None => trouble,
        }
    });
    let state = if trouble.is_some() { WorkloadState::Degraded } else { WorkloadState::Running };
    Standing::new(state, summary).whole(ready == all).with(trouble)
}

fn roles<'s>(it: &'s DisaggregatedSet, around: &Around<'_, 's>) -> Vec<Role<'s>> {
    let of_it = |set: &&LeaderWorkerSet| is_of(&set.head, &it.head);
    let sets: Vec<&LeaderWorkerSet> = around.snapshot.leader_worker_sets.iter().filter(of_it).collect();
    let role = |role: &'s crate::model::Role| {
        let of_role = |set: &&&LeaderWorkerSet| set.head.labels.get(ROLE).is_some_and(|name| *name == role.name);
        let sets: Vec<&LeaderWorkerSet> = sets.iter().filter(of_role).copied().collect();
        let sum = |of: fn(&LeaderWorkerSet) -> u32| sets.iter().map(|set| of(set)).sum::<u32>();
        let (groups, ready) = match role.groups {
            0 => (sum(|set| set.groups), sum(|set| set.ready)),
            told => (told, role.ready),
        };
        Role { name: &role.name, groups, ready, sets }
    };
    it.roles.iter().map(role).collect()
}

fn is_of(head: &Head, above: &Head) -> bool {
    let owner = head.owner.as_ref().filter(|owner| owner.is("disaggregatedset.x-k8s.io", "DisaggregatedSet"));
    head.namespace == above.namespace && owner.is_some_and(|owner| owner.name == above.name)
}

fn in_words(role: &Role, around: &Around) -> String {
    let has = format!("role {} has {} of {} ready", role.name, role.ready, counted(role.groups, "group"));
    match failing_pod(role, around) {
        Some((set, pod, ails)) => format!("{has} (leaderworkerset/{}: pod {}: {ails})", set.head.name, pod.name),
        None => has,
    }
}

fn failing_pod<'s>(role: &Role<'s>, around: &Around<'_, 's>) -> Option<(&'s LeaderWorkerSet, &'s Pod, String)> {
    role.sets.iter().find_map(|set| {
        let of_set = |pod: &&Pod| {
            let above = pod.workload().filter(|_| pod.namespace == set.head.namespace);
            above.is_some_and(|above| {
                above.is("leaderworkerset.x-k8s.io", "LeaderWorkerSet") && above.name == set.head.name
            })
        };
        let pods = around.snapshot.pods.iter().filter(of_set);
        let mut failing = pods.filter_map(|pod| Some((pod, around.failure_elsewhere(pod)?)));
        let (pod, failure) = failing.next()?;
        Some((*set, pod, around.ails_by(pod, Some(&failure))))
    })
}
