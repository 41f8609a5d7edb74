//! Source: agent-sandbox `controllers/sandbox_controller.go`: a pod that failed is left as it is, and no other one is made; a
//! pod that is gone is made again. `extensions/controllers/` for claims and pools.

use super::{Around, Standing, Trouble};
use crate::model::{Condition, Phase, Pod, Sandbox, SandboxClaim, SandboxWarmPool};
use crate::report::{SituationKind, WorkloadState};

pub(super) fn standing<'s>(it: &'s Sandbox, around: &Around<'_, 's>, object: &str) -> Standing<'s> {
    let ready = it.head.condition("Ready");
    let reason = ready.map(|ready| &*ready.reason).unwrap_or_default();
    // Of v0.1, a pod that failed is told by the message alone.
    let says_failed = ready.is_some_and(|ready| ready.message.contains("phase: Failed"));
    let failed = it.head.is("Finished").filter(|finished| &*finished.reason == "PodFailed");
    // That its pod had ended is kept beyond its time, when the pod itself is gone.
    if let Some(expired) = ready.filter(|_| reason == "SandboxExpired") {
        return has_expired(it, expired, failed, object);
    }
    if let Some(condition) = failed.or(ready.filter(|ready| !ready.is_true && (reason == "PodFailed" || says_failed))) {
        let kept = state_kept(it);
        let pod = around.pods.iter().find(|pod| *pod.name == *it.pod && pod.phase == Phase::Failed);
        let how = pod.map(|pod| format!(" ({})", around.ails(pod))).unwrap_or_default();
        let text = format!("its pod {} failed{how} and is never made again by itself; {kept}", it.pod);
        let trouble = Trouble::new(SituationKind::NotRecreated, condition.at, text)
            .condition(object, condition)
            .failing(&condition.reason, &condition.message);
        return Standing::new(WorkloadState::Failed, "").with([trouble]);
    }
    if it.head.is("Finished").is_some() {
        return Standing::new(WorkloadState::Complete, "its pod has ended with success");
    }
    // The condition Suspended may lag behind, or linger: what is asked for is in the spec.
    if it.suspended {
        let since = it.head.is("Suspended").and_then(|condition| condition.at);
        let text = format!("it has no pod until it is resumed; {}", state_kept(it));
        let trouble =
            Trouble::new(SituationKind::Suspended, since, text).fact(object, "spec.operatingMode", "Suspended");
        return Standing::new(WorkloadState::Suspended, "").with([trouble]);
    }
    match ready {
        Some(ready) if ready.is_true => Standing::new(WorkloadState::Running, "it is ready"),
        Some(ready) => unready(it, ready, around, object),
        None => Standing::new(WorkloadState::Running, "its controller has not said yet where it stands").whole(false),
    }
}

/// Source: `sandbox_controller.go`, `updateStatus`: `Finished` stays as it was.
fn has_expired<'s>(
    it: &'s Sandbox,
    expired: &'s Condition,
    failed: Option<&'s Condition>,
    object: &str,
) -> Standing<'s> {
    let at = it.shutdown_time.map(|at| format!(" at {at}")).unwrap_or_default();
    let before = if failed.is_some() { ", after it had failed" } else { "" };
    let text = format!("its time was over{at} (spec.shutdownTime): its pod is gone{before}; {}", state_kept(it));
    let trouble = Trouble::new(SituationKind::Expired, expired.at, text).condition(object, expired);
    match failed {
        Some(failed) => Standing::new(WorkloadState::Failed, "")
            .with([trouble.condition(object, failed).failing(&failed.reason, &failed.message)]),
        None => Standing::new(WorkloadState::Complete, "").with([trouble]),
    }
}

fn unready<'s>(it: &'s Sandbox, ready: &'s Condition, around: &Around<'_, 's>, object: &str) -> Standing<'s> {
    let pod = around.pods.iter().copied().find(|pod: &&Pod| around.failure_of(pod).is_some());
    let by_itself = matches!(&*ready.reason, "MultiplePods" | "ReconcilerError");
    let why = match pod {
        Some(pod) => format!("pod {}: {}", pod.name, around.ails(pod)),
        None => not_yet(it, ready),
    };
    if pod.is_none() && !by_itself {
        let why = if why.is_empty() { why } else { format!(": {why}") };
        return Standing::new(WorkloadState::Running, format!("it is not ready{why}")).whole(false);
    }
    let trouble = Trouble::new(SituationKind::Unavailable, ready.at, format!("it is not ready: {why}"));
    let trouble = trouble.condition(object, ready).failing(&ready.reason, &ready.message);
    let trouble = if by_itself { trouble.always() } else { trouble };
    Standing::new(WorkloadState::Degraded, "").whole(false).with([trouble])
}

/// Why it is not ready yet: what the scheduler says of its pod, which the Sandbox repeats, tells more than `Ready` does.
fn not_yet(it: &Sandbox, ready: &Condition) -> String {
    let unscheduled = it.head.is_not("PodScheduled").filter(|told| &*told.reason == "Unschedulable");
    let told = unscheduled.map_or(&*ready.message, |told| &*told.message);
    told.trim_end_matches('.').to_owned()
}

/// What of its state outlives its pod.
pub(super) fn state_kept(it: &Sandbox) -> String {
    match &it.claims[..] {
        [] => "it has no volume that outlives its pod: what it held is lost".to_owned(),
        claims => {
            let names: Vec<&str> = claims.iter().map(|claim| &**claim).collect();
            let claims = crate::words::list_names(&names, 2);
            format!("what it wrote to claims is kept ({claims})")
        }
    }
}

/// A claim: what it waits for, or that of the Sandbox which it was given.
pub(super) fn of_claim<'s>(it: &'s SandboxClaim, around: &Around<'_, 's>, object: &str) -> Standing<'s> {
    let given = it.sandbox.as_ref().map(|sandbox| format!("it has sandbox/{sandbox}"));
    let Some(ready) = it.head.condition("Ready") else {
        let summary = given.unwrap_or_else(|| "it has no Sandbox yet".to_owned());
        return Standing::new(WorkloadState::Running, summary).whole(false);
    };
    let summary = given.unwrap_or_else(|| "it has no Sandbox".to_owned());
    if ready.is_true {
        return Standing::new(WorkloadState::Running, summary);
    }
    let trouble = |kind, text: String| Trouble::new(kind, ready.at, text).condition(object, ready);
    let fails = |trouble: Trouble<'s>| trouble.failing(&ready.reason, &ready.message).always();
    match &*ready.reason {
        "TemplateNotFound" | "WarmPoolNotFound" => {
            let text = format!("it waits for what is not there: {}{}", ready.message, wanted_by(it, &ready.message));
            let trouble = fails(trouble(SituationKind::ReferenceMissing, text));
            Standing::new(WorkloadState::Stuck, summary).with([trouble])
        }
        "ClaimExpired" | "SandboxExpired" => {
            let trouble = trouble(SituationKind::Expired, format!("its time is over: {}", ready.message));
            Standing::new(WorkloadState::Complete, summary).with([trouble])
        }
        "PodSucceeded" => Standing::new(WorkloadState::Complete, summary),
        "SandboxSuspended" => {
            let trouble = trouble(SituationKind::Suspended, "its Sandbox is suspended: it has no pod".to_owned());
            Standing::new(WorkloadState::Suspended, summary).with([trouble])
        }
        "AdoptionConflict"
        | "InvalidMetadata"
        | "EnvVarsInjectionRejected"
        | "VolumeClaimTemplatesError"
        | "ReconcilerError"
        | "SandboxMissing" => {
            let text = format!("it gets no Sandbox: {}: {}", ready.reason, ready.message);
            Standing::new(WorkloadState::Stuck, summary).with([fails(trouble(SituationKind::Unavailable, text))])
        }
        _ => as_its_sandbox(it, ready, around, object),
    }
}

/// ` (warm pool x)`, where the message does not name it.
fn wanted_by(it: &SandboxClaim, message: &str) -> String {
    let (what, name) = match (&it.warm_pool, &it.template) {
        (Some(pool), _) => ("warm pool", pool),
        (None, Some(template)) => ("template", template),
        (None, None) => return String::new(),
    };
    if message.contains(&**name) { String::new() } else { format!(" ({what} {name})") }
}

/// Where its Sandbox is not ready the claim repeats the reason of that one, and its pod tells why.
fn as_its_sandbox<'s>(
    it: &'s SandboxClaim,
    ready: &'s Condition,
    around: &Around<'_, 's>,
    object: &str,
) -> Standing<'s> {
    let name = it.sandbox.as_deref();
    let of_it = |sandbox: &&Sandbox| Some(&*sandbox.head.name) == name && sandbox.head.namespace == it.head.namespace;
    let sandbox = around.snapshot.sandboxes.iter().find(of_it);
    let has = name.map_or_else(|| "it has no Sandbox".to_owned(), |name| format!("it has sandbox/{name}"));
    let ails = sandbox.and_then(|sandbox| pod_of(sandbox, around));
    let finished = sandbox.is_some_and(|sandbox| sandbox.head.is("Finished").is_some());
    let Some(ails) = ails.or_else(|| finished.then(|| ready.message.to_string())) else {
        let why = sandbox.map_or_else(|| ready.message.to_string(), |sandbox| not_yet(sandbox, ready));
        return Standing::new(WorkloadState::Running, format!("{has}, which is not ready: {why}")).whole(false);
    };
    let state = if finished { WorkloadState::Failed } else { WorkloadState::Degraded };
    let trouble = Trouble::new(SituationKind::Unavailable, ready.at, format!("{has}, which is not ready: {ails}"));
    Standing::new(state, "").with([trouble.condition(object, ready)])
}

/// What ails the pod of a Sandbox: `pod x: exit 1 (app), restarts: 3`.
fn pod_of(sandbox: &Sandbox, around: &Around) -> Option<String> {
    let of_it = |pod: &&Pod| *pod.name == *sandbox.pod && pod.namespace == sandbox.head.namespace;
    let pod = around.snapshot.pods.iter().find(of_it)?;
    let failure = around.failure_elsewhere(pod)?;
    Some(format!("pod {}: {}", pod.name, around.ails_by(pod, Some(&failure))))
}

/// How long a pool may have made none of its Sandboxes before that is told, in seconds.
const UNMADE_SECONDS: i64 = 60;

/// A pool: no condition tells that it does not get on, only an Event, its Sandboxes' pods, and claims that were told that its
/// template is not there.
pub(super) fn of_pool<'s>(it: &'s SandboxWarmPool, around: &Around<'_, 's>, object: &str) -> Standing<'s> {
    let is = if it.ready == 1 || it.replicas == 1 { "is" } else { "are" };
    let noun = if it.replicas == 1 { "Sandbox" } else { "Sandboxes" };
    let summary = format!("{} of {} {noun} {is} ready", it.ready, it.replicas);
    let is_short = it.ready < it.replicas;
    let trouble = no_template(it, around, object)
        .or_else(|| not_progressing(it, around, object))
        .or_else(|| failing_in_pool(it, around, object))
        .or_else(|| unmade(it, around, object))
        .filter(|_| is_short);
    let state = match trouble.as_ref().map(|trouble| trouble.situation.kind) {
        None => WorkloadState::Running,
        Some(_) if it.ready > 0 => WorkloadState::Degraded,
        Some(_) => WorkloadState::Stuck,
    };
    Standing::new(state, summary).whole(!is_short).with(trouble)
}

/// The pool itself says nothing (`extensions/controllers/sandboxwarmpool_controller.go`); a claim on it does.
fn no_template<'s>(it: &'s SandboxWarmPool, around: &Around<'_, 's>, object: &str) -> Option<Trouble<'s>> {
    let template = it.template.as_deref()?;
    let claims = around.snapshot.sandbox_claims.iter();
    let of_pool = |claim: &&SandboxClaim| {
        claim.head.namespace == it.head.namespace && claim.warm_pool.as_deref() == Some(&*it.head.name)
    };
    let told = claims.filter(of_pool).find_map(|claim| {
        let ready = claim.head.is_not("Ready")?;
        (&*ready.reason == "TemplateNotFound" && ready.message.contains(template)).then_some((claim, ready))
    });
    let (claim, ready) = told.filter(|_| it.made == 0)?;
    let text = format!(
        "none of its Sandboxes is made: its template {template} is not there, as sandboxclaim/{} was told",
        claim.head.name
    );
    let of_claim = crate::analysis::object("sandboxclaim", &claim.head.namespace, &claim.head.name);
    // The failure is that of the claims, which somebody waits for.
    Some(
        Trouble::new(SituationKind::ReferenceMissing, it.head.created, text)
            .fact(object, "spec.sandboxTemplateRef.name", template)
            .condition(&of_claim, ready),
    )
}

fn not_progressing<'s>(it: &'s SandboxWarmPool, around: &Around<'_, 's>, object: &str) -> Option<Trouble<'s>> {
    let last =
        |reason: &str| around.events.iter().filter(|event| &*event.reason == reason).max_by_key(|event| event.last);
    let got_on = last("WarmPoolProgressing").and_then(|event| event.last);
    let event = last("WarmPoolNotProgressing").filter(|event| event.last > got_on)?;
    let of_pool = |sandbox: &&Sandbox| is_of_pool(sandbox, it);
    let unscheduled = around.snapshot.sandboxes.iter().filter(of_pool).find_map(|sandbox| {
        let told = sandbox.head.is_not("PodScheduled").filter(|told| &*told.reason == "Unschedulable")?;
        Some(format!(" (sandbox/{}: {})", sandbox.head.name, told.message.trim_end_matches('.')))
    });
    let text =
        format!("it does not get on: {}{}", event.message.trim_end_matches('.'), unscheduled.unwrap_or_default());
    Some(
        Trouble::new(SituationKind::Unavailable, event.first, text)
            .fact(object, "Event.reason", &*event.reason)
            .fact(object, "status.readyReplicas", it.ready.to_string())
            .failing(&event.reason, &event.message),
    )
}

fn is_of_pool(sandbox: &Sandbox, pool: &SandboxWarmPool) -> bool {
    let owner = sandbox.head.owner.as_ref().filter(|owner| &*owner.kind == "SandboxWarmPool");
    sandbox.head.namespace == pool.head.namespace && owner.is_some_and(|owner| owner.name == pool.head.name)
}

/// Its Sandboxes fail: each is told under its own name.
fn failing_in_pool<'s>(it: &'s SandboxWarmPool, around: &Around<'_, 's>, object: &str) -> Option<Trouble<'s>> {
    let sandboxes = around.snapshot.sandboxes.iter().filter(|sandbox| is_of_pool(sandbox, it));
    let (sandbox, ails) = sandboxes.into_iter().find_map(|sandbox| Some((sandbox, pod_of(sandbox, around)?)))?;
    let text = format!("its sandbox/{} is not ready: {ails}", sandbox.head.name);
    let since = sandbox.head.is_not("Ready").and_then(|ready| ready.at);
    Some(Trouble::new(SituationKind::Unavailable, since, text).fact(
        object,
        "status.readyReplicas",
        it.ready.to_string(),
    ))
}

fn unmade<'s>(it: &'s SandboxWarmPool, around: &Around<'_, 's>, object: &str) -> Option<Trouble<'s>> {
    let age = around.now.zip(it.head.created).map(|(now, created)| now.seconds() - created.seconds());
    if it.made > 0 || age.is_none_or(|age| age < UNMADE_SECONDS) {
        return None;
    }
    let template = it.template.as_deref().unwrap_or_default();
    let text = format!("none of its Sandboxes is made, and nothing tells why; it makes them from template {template}");
    Some(Trouble::new(SituationKind::Unavailable, it.head.created, text).fact(
        object,
        "spec.sandboxTemplateRef.name",
        template,
    ))
}
