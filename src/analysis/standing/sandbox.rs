//! Source: agent-sandbox `controllers/sandbox_controller.go`: a pod that failed is left as it is, and no other one is made; a
//! pod that is gone is made again. `extensions/controllers/` for claims and pools.

use super::{Around, Standing, Trouble};
use crate::model::{Phase, Pod, Sandbox, SandboxClaim, SandboxWarmPool};
use crate::report::{SituationKind, WorkloadState};
use crate::words::counted;

pub(super) fn standing<'s>(it: &'s Sandbox, around: &Around<'_, 's>, object: &str) -> Standing<'s> {
    let ready = it.head.condition("Ready");
    let reason = ready.map(|ready| &*ready.reason).unwrap_or_default();
    // Of v0.1, a pod that failed is told by the message alone.
    let says_failed = ready.is_some_and(|ready| ready.message.contains("phase: Failed"));
    let failed = it.head.is("Finished").filter(|finished| &*finished.reason == "PodFailed");
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
    if let Some(expired) = ready.filter(|_| reason == "SandboxExpired") {
        let at = it.shutdown_time.map(|at| format!(" at {at}")).unwrap_or_default();
        let text = format!("its time was over{at} (spec.shutdownTime): its pod is gone; {}", state_kept(it));
        let trouble = Trouble::new(SituationKind::Expired, expired.at, text).condition(object, expired);
        return Standing::new(WorkloadState::Complete, "").with([trouble]);
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
        Some(ready) => unready(ready, around, object),
        None => Standing::new(WorkloadState::Running, "its controller has not said yet where it stands"),
    }
}

fn unready<'s>(ready: &'s crate::model::Condition, around: &Around<'_, 's>, object: &str) -> Standing<'s> {
    let pod = around.pods.iter().copied().find(|pod: &&Pod| around.failure_of(pod).is_some());
    let by_itself = matches!(&*ready.reason, "MultiplePods" | "ReconcilerError");
    let why = match pod {
        Some(pod) => format!("pod {}: {}", pod.name, around.ails(pod)),
        None => ready.message.to_string(),
    };
    let trouble = (pod.is_some() || by_itself).then(|| {
        let trouble = Trouble::new(SituationKind::Unavailable, ready.at, format!("it is not ready: {why}"));
        let trouble = trouble.condition(object, ready).failing(&ready.reason, &ready.message);
        if by_itself { trouble.always() } else { trouble }
    });
    let state = if trouble.is_some() { WorkloadState::Degraded } else { WorkloadState::Running };
    Standing::new(state, if trouble.is_some() { "" } else { "it is not ready" }).with(trouble)
}

/// What of its state outlives its pod.
pub(super) fn state_kept(it: &Sandbox) -> String {
    match &it.claims[..] {
        [] => "it has no volume that outlives its pod: what it held is lost".to_owned(),
        claims => {
            let names: Vec<&str> = claims.iter().map(|claim| &**claim).collect();
            let claims = crate::words::list_names(&names, 2);
            format!("what it wrote to the claims is kept: {claims}")
        }
    }
}

/// A claim: what it waits for, or that of the Sandbox which it was given.
pub(super) fn of_claim<'s>(it: &'s SandboxClaim, around: &Around<'_, 's>, object: &str) -> Standing<'s> {
    let given = it.sandbox.as_ref().map(|sandbox| format!("it has sandbox/{sandbox}"));
    let Some(ready) = it.head.condition("Ready") else {
        return Standing::new(WorkloadState::Running, given.unwrap_or_else(|| "it has no Sandbox yet".to_owned()));
    };
    let summary = given.unwrap_or_else(|| "it has no Sandbox".to_owned());
    if ready.is_true {
        return Standing::new(WorkloadState::Running, summary);
    }
    let wants = match (&it.warm_pool, &it.template) {
        (Some(pool), _) => format!(" (warm pool {pool})"),
        (None, Some(template)) => format!(" (template {template})"),
        (None, None) => String::new(),
    };
    let trouble = |kind, text: String| Trouble::new(kind, ready.at, text).condition(object, ready);
    let fails = |trouble: Trouble<'s>| trouble.failing(&ready.reason, &ready.message).always();
    match &*ready.reason {
        "TemplateNotFound" | "WarmPoolNotFound" => {
            let text = format!("it waits for what is not there: {}{wants}", ready.message);
            let trouble = fails(trouble(SituationKind::ReferenceMissing, text));
            Standing::new(WorkloadState::Stuck, summary).with([trouble])
        }
        "ClaimExpired" | "SandboxExpired" => {
            let trouble = trouble(SituationKind::Expired, format!("its time is over: {}", ready.message));
            Standing::new(WorkloadState::Complete, summary).with([trouble])
        }
        "PodSucceeded" => Standing::new(WorkloadState::Complete, summary),
        "AdoptionConflict"
        | "InvalidMetadata"
        | "EnvVarsInjectionRejected"
        | "VolumeClaimTemplatesError"
        | "ReconcilerError"
        | "SandboxMissing" => {
            let text = format!("it gets no Sandbox: {}: {}", ready.reason, ready.message);
            Standing::new(WorkloadState::Stuck, summary).with([fails(trouble(SituationKind::Unavailable, text))])
        }
        // The Sandbox's own reason: its pod tells of it.
        _ => {
            let sandbox = it.sandbox.as_deref();
            let amiss = around.snapshot.sandboxes.iter().find(|sandbox_| Some(&*sandbox_.head.name) == sandbox);
            let has_failed = amiss.is_some_and(|sandbox| sandbox.head.is("Finished").is_some());
            let state = if has_failed { WorkloadState::Failed } else { WorkloadState::Running };
            let of = it.sandbox.as_ref().map(|sandbox| format!("sandbox/{sandbox}: ")).unwrap_or_default();
            let trouble = trouble(SituationKind::Unavailable, format!("it is not ready: {of}{}", ready.message));
            Standing::new(state, summary).with([trouble])
        }
    }
}

/// A pool: no condition tells that it does not get on, only an Event, and the template that is not there.
pub(super) fn of_pool<'s>(it: &'s SandboxWarmPool, around: &Around<'_, 's>, object: &str) -> Standing<'s> {
    let summary =
        format!("{} of {} are ready", it.ready, counted(it.replicas, "Sandbox").replace("Sandboxs", "Sandboxes"));
    let last =
        |reason: &str| around.events.iter().filter(|event| &*event.reason == reason).max_by_key(|event| event.last);
    let got_on = last("WarmPoolProgressing").and_then(|event| event.last);
    let stuck = last("WarmPoolNotProgressing").filter(|event| event.last > got_on);
    let trouble = stuck.filter(|_| it.ready < it.replicas).map(|event| {
        let text = format!("it does not get on: {}", event.message);
        Trouble::new(SituationKind::Unavailable, event.first, text)
            .fact(object, "Event.reason", &*event.reason)
            .fact(object, "status.readyReplicas", it.ready.to_string())
            .failing(&event.reason, &event.message)
    });
    let unmade = (it.made == 0 && it.replicas > 0 && trouble.is_none()).then(|| {
        let template = it.template.as_deref().unwrap_or_default();
        let text = format!("none of its Sandboxes is made: is its template {template} there?");
        Trouble::new(SituationKind::Unavailable, it.head.created, text).fact(
            object,
            "spec.sandboxTemplateRef.name",
            template,
        )
    });
    let state = if trouble.is_some() { WorkloadState::Stuck } else { WorkloadState::Running };
    Standing::new(state, summary).with(trouble.into_iter().chain(unmade))
}
