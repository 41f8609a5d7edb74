//! Source: lws `pkg/controllers/pod_controller.go`, `handleRestartPolicy`: a container that restarted, or a pod that is
//! deleted, ends its whole group. No status counts that, and nothing limits it; only Events tell.

use std::collections::BTreeMap;

use super::words::{is_amiss, names, refused_by, some_of};
use super::{Around, OwnFailure, Standing, Trouble};
use crate::analysis::failure::Told;
use crate::model::{Event, LeaderWorkerSet, Ordinal, Pod, Restart, Time, human_duration, is_of_group_made_anew};
use crate::report::{Class, SituationKind, WorkloadState};
use crate::words::counted;

/// So many recreations of one group are no accident.
const LOOP: u32 = 3;
/// How long after the last recreation a group is not yet said to be over it.
const GOES_ON_SECONDS: i64 = 600;

/// Recreations of one group, by Events.
struct Recreated<'s> {
    group: &'s str,
    count: u32,
    first: Option<Time>,
    last: Option<Time>,
    /// The pod that the last Event names. It may have been deleted, and need not have failed.
    pod: &'s str,
}

pub(super) fn standing<'s>(it: &'s LeaderWorkerSet, around: &Around<'_, 's>, object: &str) -> Standing<'s> {
    let summary = some_of(it.ready, it.groups, "group", ("is ready", "are ready"));
    let recreated = recreated(around.events);
    let loops = recreated.iter().map(|group| group_restarts(it, around, group, object));
    let held: Vec<&Pod> = around.pods.iter().copied().filter(|pod| around.is_held(pod)).collect();
    let held = around.teardown_blocked(&held, "");
    let troubles: Vec<Trouble> =
        loops.chain(held).chain(refused(it, around)).chain(unready(it, around, object)).collect();
    let any = |kind| troubles.iter().any(|trouble| trouble.situation.kind == kind);
    let state = match () {
        () if any(SituationKind::EndlessRestarts) => WorkloadState::Restarting,
        () if it.ready == 0 && any(SituationKind::CreationRefused) => WorkloadState::Stuck,
        () if it.ready < it.groups && !(troubles.is_empty() && around.failures.is_empty()) => WorkloadState::Degraded,
        () => WorkloadState::Running,
    };
    Standing::new(state, summary).whole(it.ready >= it.groups).with(troubles)
}

/// Its pods are made by its `StatefulSet`s, which have the Events.
fn refused<'s>(it: &'s LeaderWorkerSet, around: &Around<'_, 's>) -> Option<Trouble<'s>> {
    around.index.of_groups(&it.head).iter().find_map(|set| {
        let head = &set.head;
        let events = around.index.about("StatefulSet", &head.namespace, &head.name, head.uid.as_ref());
        let object = crate::analysis::object("statefulset", &head.namespace, &head.name);
        refused_by(&events, &object, "status.replicas", (set.pods, set.replicas))
    })
}

fn recreated<'s>(events: &[&'s Event]) -> Vec<Recreated<'s>> {
    let mut groups: BTreeMap<&str, Recreated> = BTreeMap::new();
    let told = events.iter().filter(|event| is_of_group_made_anew(&event.reason));
    for event in told {
        // `Worker pod vllm-1-2 failed, deleted leader pod vllm-1 to recreate group 1`.
        let Some((_, group)) = event.message.rsplit_once("recreate group ") else { continue };
        let pod = event.message.strip_prefix("Worker pod ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        let (first, last) = (event.at.or(event.first), event.last.or(event.first));
        let known = groups.entry(group).or_insert(Recreated { group, count: 0, first, last, pod });
        known.count += event.count;
        known.first = known.first.min(first).or(known.first).or(first);
        if known.last <= last {
            (known.last, known.pod) = (last, pod);
        }
    }
    groups.into_values().collect()
}

/// The groups that were made anew, and whether that goes on.
fn group_restarts<'s>(
    it: &'s LeaderWorkerSet,
    around: &Around<'_, 's>,
    group: &Recreated<'s>,
    object: &str,
) -> Trouble<'s> {
    let within = group.first.zip(group.last).map(|(first, last)| last.seconds() - first.seconds());
    let span = within.filter(|seconds| *seconds > 0).map(|seconds| format!(" in {}", human_duration(seconds)));
    let trigger = trigger(around, group.group);
    let by = match trigger {
        Some((pod, restart)) => {
            let end = &restart.last;
            let reason = end.reason.as_deref().filter(|reason| *reason != "Error").map(|reason| format!(" {reason}"));
            let reason = reason.unwrap_or_default();
            format!("container {} of pod {} exited {}{reason}", end.container, pod.name, end.exit_code)
        }
        None => format!("last named: pod {}, its exit code is gone", group.pod),
    };
    let times =
        if group.count == 1 { "once".to_owned() } else { format!("{} times{}", group.count, span.unwrap_or_default()) };
    let recent = around.now.zip(group.last).is_none_or(|(now, last)| now.seconds() - last.seconds() < GOES_ON_SECONDS);
    let goes_on = recent && group.count >= LOOP;
    let limit = if goes_on { format!("; nothing limits it ({})", it.restart_policy) } else { String::new() };
    let text = format!("group {} was made anew {times}{}: {by}{limit}", group.group, around.last(group.last));
    let kind = if goes_on { SituationKind::EndlessRestarts } else { SituationKind::Restarting };
    // The one that is still there is a failure of its own.
    let gone = group.count - u32::from(trigger.is_some_and(|(pod, _)| around.failure_of(pod).is_some()));
    let told = Told {
        pod: Some(group.pod.into()),
        reason: Some("RecreateGroup".into()),
        at: group.last,
        gone: Some(format!("group {} made anew {times}, pods and exit codes are gone", group.group)),
        container: trigger.map(|(_, restart)| (restart.last.container.clone(), restart.last.exit_code)),
        ..Told::default()
    };
    let mut trouble = Trouble::new(kind, group.first, text).fact(object, "Event.reason", "RecreateGroup").fact(
        object,
        "spec.leaderWorkerTemplate.restartPolicy",
        &*it.restart_policy,
    );
    trouble.failure = (gone > 0).then_some(OwnFailure { class: Class::Lost, told, count: gone, always: true });
    trouble
}

/// The container whose restart ended the group, where its pod is still there.
fn trigger<'s>(around: &Around<'_, 's>, group: &str) -> Option<(&'s Pod, &'s Restart)> {
    let of_group = |pod: &&&Pod| group_of(pod).is_some_and(|of| of.get().to_string() == group);
    let pods = around.pods.iter().filter(of_group);
    pods.filter_map(|pod| Some((*pod, pod.restarts().first()?))).min_by_key(|(_, restart)| restart.last.finished_at)
}

fn group_of(pod: &Pod) -> Option<Ordinal> {
    pod.made_from()?.group
}

/// Groups that are not ready, with the pods that are not.
fn unready<'s>(it: &'s LeaderWorkerSet, around: &Around<'_, 's>, object: &str) -> Option<Trouble<'s>> {
    let missing = it.groups.saturating_sub(it.ready);
    let amiss: Vec<&Pod> = around.pods.iter().copied().filter(|pod| is_amiss(pod) && !around.is_held(pod)).collect();
    let failing: Vec<&Pod> = amiss.into_iter().filter(|pod| around.failure_of(pod).is_some()).collect();
    let first = failing.first().filter(|_| missing > 0)?;
    let mut groups: Vec<u32> = failing.iter().filter_map(|pod| Some(group_of(pod)?.get())).collect();
    groups.sort_unstable();
    groups.dedup();
    let others = missing.saturating_sub(u32::try_from(groups.len().max(1)).unwrap_or(u32::MAX));
    let groups: Vec<String> = groups.iter().map(u32::to_string).collect();
    let which = match &groups[..] {
        [] => counted(missing, "group"),
        [one] => format!("group {one}"),
        more => format!("groups {}", names(more.iter().map(String::as_str))),
    };
    let holds = if it.recreates_groups() { "" } else { " (no group is made anew: restartPolicy None)" };
    let verb = if groups.len() > 1 { "are" } else { "is" };
    let more = match others {
        0 => String::new(),
        1 => "; 1 more group is not ready yet".to_owned(),
        more => format!("; {more} more groups are not ready yet"),
    };
    let text = format!("{which} {verb} not ready: pod {}: {}{holds}{more}", first.name, around.ails(first));
    let since = first.unready().and_then(|unready| unready.since).or_else(|| first.waiting()?.since);
    Some(
        Trouble::new(SituationKind::Unavailable, since, text)
            .fact(object, "status.readyReplicas", it.ready.to_string())
            .fact(object, "spec.replicas", it.groups.to_string()),
    )
}

impl Around<'_, '_> {
    /// `, the last time 5s ago`.
    fn last(&self, at: Option<Time>) -> String {
        let ago = self.ago(at);
        if ago.is_empty() { ago } else { format!(", last{ago}") }
    }
}
