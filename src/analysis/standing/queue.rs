//! Kueue: what holds a workload's quota, or has taken it away. What is evicted is suspended, and has not failed.
//!
//! Source: kueue `apis/kueue/v1beta2/workload_types.go`, `pkg/workload/workload.go`.

use std::collections::HashMap;

use super::{Around, Standing, Trouble};
use crate::model::{Condition, Pod, Queued, Time, Uid};
use crate::report::{SituationKind, WorkloadState};
use crate::request::TargetKind;
use crate::source::Snapshot;
use crate::words::counted;

/// Kueue's `Workload`s by what they stand for.
pub(crate) struct Queues<'s> {
    uids: HashMap<&'s Uid, &'s Queued>,
    names: HashMap<(&'s str, &'s str, &'s str), &'s Queued>,
    /// Of a group of pods by each of them.
    pods: HashMap<(&'s str, &'s str), &'s Queued>,
}

impl<'s> Queues<'s> {
    pub(crate) fn of(snapshot: &'s Snapshot) -> Self {
        let (mut uids, mut names, mut pods) = (HashMap::new(), HashMap::new(), HashMap::new());
        // Of an elastic Job there are several, of which all but the newest are `Finished`: what is put in last, stands.
        let mut all: Vec<&Queued> = snapshot.queued.iter().collect();
        all.sort_by_key(|queued| (queued.head.is("Finished").is_none(), queued.head.created));
        for queued in all {
            pods.extend(queued.pods.iter().map(|pod| ((&*queued.head.namespace, &**pod), queued)));
            let Some(owner) = &queued.head.owner else { continue };
            if let Some(uid) = &owner.uid {
                uids.insert(uid, queued);
            }
            names.insert((&*owner.kind, &*queued.head.namespace, &*owner.name), queued);
        }
        Self { uids, names, pods }
    }

    /// How a workload stands in its queue, if it is in one.
    pub(crate) fn find(&self, kind: TargetKind, namespace: &str, name: &str, uid: Option<&Uid>) -> Option<&'s Queued> {
        let named = || {
            self.names.get(&(kind.kind(), namespace, name)).filter(|queued| {
                let owner = queued.head.owner.as_ref().and_then(|owner| owner.uid.as_ref());
                owner.zip(uid).is_none_or(|(owner, uid)| owner == uid)
            })
        };
        uid.and_then(|uid| self.uids.get(uid)).or_else(named).copied()
    }
}

/// Pods that Kueue keeps from being scheduled, each by its own `Workload` or that of its group.
pub(crate) fn of_gated_pods<'s>(
    pods: &[&'s Pod],
    queues: &Queues<'s>,
    snapshot: &Snapshot,
    now: Option<Time>,
) -> Option<Trouble<'s>> {
    let first = pods.first()?;
    let queued = queues.pods.get(&(&*first.namespace, &*first.name)).copied();
    let told = queued.and_then(|queued| standing(queued, snapshot, now).into_iter().next());
    let why = told.as_ref().map_or_else(
        || ": scheduling gate kueue.x-k8s.io/admission".to_owned(),
        |told| format!(": {}", told.situation.text),
    );
    let held = match pods.len() {
        1 => format!("Kueue holds pod {}", first.name),
        several => format!("Kueue holds {several} of its pods, {} first", first.name),
    };
    let since = told.as_ref().and_then(|told| told.situation.since).or_else(|| first.waiting()?.since);
    let pod = crate::analysis::object("pod", &first.namespace, &first.name);
    let mut trouble = Trouble::new(SituationKind::Queued, since, format!("{held}{why}")).fact(
        &pod,
        "spec.schedulingGates[].name",
        "kueue.x-k8s.io/admission",
    );
    trouble.situation.evidence.extend(told.into_iter().flat_map(|told| told.situation.evidence));
    Some(trouble)
}

/// What keeps a workload from running, by its `Workload`.
pub(crate) fn standing<'s>(it: &'s Queued, snapshot: &Snapshot, now: Option<Time>) -> Vec<Trouble<'s>> {
    let object = crate::analysis::object("workload", &it.head.namespace, &it.head.name);
    if it.head.is("Finished").is_some() {
        return Vec::new();
    }
    let evicted = it.head.is("Evicted");
    let reserved = it.head.is("QuotaReserved").is_some();
    if !it.active {
        return vec![deactivated(it, evicted, &object)];
    }
    match evicted {
        // Until it holds quota again, the last eviction is why it does not run.
        Some(condition) if !reserved || it.head.is("Admitted").is_some() => {
            vec![out(it, condition, &object, snapshot, now)]
        }
        _ if !reserved => waiting(it, &object).into_iter().collect(),
        _ if it.head.is("Admitted").is_none() => unchecked(it, &object).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// It holds quota, and is admitted when all of its checks are `Ready`.
///
/// Source: kueue `apis/kueue/v1beta2/admissioncheck_types.go`.
fn unchecked<'s>(it: &'s Queued, object: &str) -> Option<Trouble<'s>> {
    let reserved = it.head.is("QuotaReserved")?;
    let check = it.checks.iter().find(|check| &*check.state != "Ready")?;
    let said = check.message.trim_end_matches('.');
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    let text = format!("it holds quota and waits for admission check {}, which is {}{said}", check.name, check.state);
    Some(
        Trouble::new(SituationKind::Queued, check.at.or(reserved.at), text)
            .fact(object, format!("status.admissionChecks[name={}].state", check.name), &*check.state)
            .fact(object, format!("status.admissionChecks[name={}].message", check.name), &*check.message),
    )
}

/// Of the `Workload` itself, where that is asked about.
pub(super) fn of_itself<'s>(it: &'s Queued, around: &Around<'_, 's>, _: &str) -> Standing<'s> {
    let troubles = standing(it, around.snapshot, around.now);
    let stands_for = it.head.owner.as_ref().map(|owner| format!("{} {}", owner.kind, owner.name));
    let summary = match (&it.cluster_queue, &stands_for) {
        (Some(queue), Some(of)) => format!("{of} holds quota in ClusterQueue {queue}"),
        (None, Some(of)) => format!("{of} holds no quota"),
        (_, None) => "it stands for nothing that is told".to_owned(),
    };
    let state = match () {
        () if it.head.is("Finished").is_some() => WorkloadState::Complete,
        // Out for good, or in for ever: what somebody has stopped is not stuck.
        () if troubles.iter().any(|trouble| trouble.failure.is_some()) => WorkloadState::Stuck,
        () if troubles.is_empty() => WorkloadState::Running,
        () => WorkloadState::Suspended,
    };
    // What is a failure is one of the workload that it stands for.
    let troubles = troubles.into_iter().map(|trouble| Trouble { failure: None, ..trouble });
    Standing::new(state, summary).with(troubles)
}

fn deactivated<'s>(it: &'s Queued, evicted: Option<&'s Condition>, object: &str) -> Trouble<'s> {
    let reason = evicted.map(|condition| &*condition.reason).unwrap_or_default();
    let cause = reason.strip_prefix("DeactivatedDueTo").filter(|cause| !cause.is_empty());
    let said = evicted.map(|condition| condition.message.trim_end_matches('.')).unwrap_or_default();
    let why = match cause {
        Some("RequeuingLimitExceeded") => {
            let timeouts = evictions(it, "PodsReadyTimeout");
            let times = if timeouts > 0 {
                format!(", {} for want of ready pods before", counted(timeouts, "eviction"))
            } else {
                String::new()
            };
            format!("its pods did not become ready in time, once too often (RequeuingLimitExceeded{times})")
        }
        Some("MaximumExecutionTimeExceeded") => {
            let limit = it.maximum_execution_seconds.map(|seconds| format!(" of {seconds}s")).unwrap_or_default();
            format!("it ran longer than its maximum execution time{limit}")
        }
        Some(cause) => format!("{cause}: {said}"),
        None => String::new(),
    };
    let by = if why.is_empty() {
        "it was deactivated in Kueue".to_owned()
    } else {
        format!("Kueue has deactivated it: {why}")
    };
    let text = format!("{by}; it does not run again before spec.active of workload/{} is made true", it.head.name);
    let trouble = Trouble::new(SituationKind::Deactivated, evicted.and_then(|condition| condition.at), text).fact(
        object,
        "spec.active",
        "false",
    );
    let trouble = match evicted {
        Some(condition) => trouble.condition(object, condition),
        None => trouble,
    };
    match cause {
        // What a person did is no failure.
        Some(_) => trouble.failing(reason, said).always(),
        None => trouble,
    }
}

fn evictions(it: &Queued, reason: &str) -> u32 {
    it.evictions.iter().filter(|(known, _)| **known == *reason).map(|(_, count)| *count).sum()
}

/// Evicted, and put back into its queue.
fn out<'s>(
    it: &'s Queued,
    condition: &'s Condition,
    object: &str,
    snapshot: &Snapshot,
    now: Option<Time>,
) -> Trouble<'s> {
    let times = evictions(it, &condition.reason);
    let times = if times > 1 { format!(", the {} time", ordinal(times)) } else { String::new() };
    let said = condition.message.trim_end_matches('.');
    let what = match &*condition.reason {
        "Preempted" => {
            let how = it.head.is("Preempted").map(|preempted| format!(" {}", in_words(&preempted.reason)));
            let own = it.priority_class.as_ref().map(|class| format!("; its own class is {class}"));
            let by = preemptor(said, snapshot).map_or_else(|| format!(": {said}"), |by| format!(": {by}"));
            format!("Kueue preempted it{}{times}{by}{}", how.unwrap_or_default(), own.unwrap_or_default())
        }
        "PodsReadyTimeout" => format!("Kueue evicted it{times}: not all of its pods were ready in time"),
        "ClusterQueueStopped" | "LocalQueueStopped" => format!("Kueue evicted it{times}: its queue is stopped"),
        "NodeFailures" => format!("Kueue evicted it{times} as nodes of it failed: {said}"),
        reason => format!("Kueue evicted it{times} ({reason}): {said}"),
    };
    let next = match (it.requeue_at.filter(|at| now.is_none_or(|now| *at > now)), waits_for(it)) {
        (Some(at), _) => format!("; it is looked at again at {at}"),
        (None, Some(waits)) => format!("; it waits: {waits}"),
        (None, None) => "; it is put back into its queue, and starts by itself".to_owned(),
    };
    Trouble::new(SituationKind::Evicted, condition.at, format!("{what}{next}")).condition(object, condition)
}

/// What took its place, where that is in the data: `job/urgent, of priority class batch-high`.
///
/// Source: kueue `pkg/scheduler/preemption/preemption.go`: `(UID: <of the Workload>, JobUID: <of what it stands for>)`.
fn preemptor(message: &str, snapshot: &Snapshot) -> Option<String> {
    let (_, rest) = message.split_once("(UID: ")?;
    let uid = Uid::parse(rest.split([',', ')']).next()?)?;
    let by = snapshot.queued.iter().find(|queued| queued.head.uid.as_ref() == Some(&uid))?;
    let owner = by.head.owner.as_ref()?;
    let class = by.priority_class.as_ref().map(|class| format!(", of priority class {class}"));
    Some(format!("{}/{}{}", owner.kind.to_ascii_lowercase(), owner.name, class.unwrap_or_default()))
}

/// Why it holds no quota.
fn waits_for(it: &Queued) -> Option<&str> {
    let condition = it.head.is_not("QuotaReserved")?;
    Some(condition.message.trim_end_matches('.')).filter(|message| !message.is_empty())
}

fn waiting<'s>(it: &'s Queued, object: &str) -> Option<Trouble<'s>> {
    let condition = it.head.is_not("QuotaReserved")?;
    // What the queue could never hold, however long one waits.
    let never = is_beyond(&condition.message);
    let never = if never { "; it asks for more than the queue can ever give" } else { "" };
    let text = format!("it waits in queue {} for quota: {}{never}", it.queue, condition.message.trim_end_matches('.'));
    let trouble = Trouble::new(SituationKind::Queued, condition.at, text).condition(object, condition);
    Some(if never.is_empty() { trouble } else { trouble.failing("NeverAdmitted", &condition.message).always() })
}

/// Whether it asks for more than each flavor that it may have can ever give, borrowed quota included: of a flavor that has
/// only no room now, the message says `insufficient unused quota` (kueue `pkg/scheduler/flavorassigner`, `fitsResourceQuota`).
fn is_beyond(message: &str) -> bool {
    message.contains("> maximum capacity") && !message.contains("insufficient unused quota")
}

/// Who was to have its place.
fn in_words(reason: &str) -> &str {
    match reason {
        "InClusterQueue" => "for one of higher priority in its ClusterQueue",
        "InCohortReclamation" => "as another ClusterQueue of the cohort took its own quota back",
        "InCohortFairSharing" => "by fair sharing in the cohort",
        "InCohortReclaimWhileBorrowing" => "as another ClusterQueue took its own quota back while it borrowed",
        other => other,
    }
}

fn ordinal(number: u32) -> String {
    let end = match (number % 10, number % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}
