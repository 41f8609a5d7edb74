//! The statuses a kubelet writes.

use serde_json::{Value, json};

use crate::api::{array, now, text};
use crate::scenario::Ending;

pub(crate) fn containers_of<'a>(pod: &'a Value, list: &str) -> impl Iterator<Item = &'a str> {
    array(pod, &format!("/spec/{list}")).iter().map(|container| text(container, "/name"))
}

fn status(name: &str, state: &Value, restarts: usize) -> Value {
    let ready = state.get("running").is_some();
    json!({
        "name": name, "imageID": "sha256:000000000000",
        "ready": ready, "started": ready, "restartCount": restarts, "state": state,
    })
}

fn terminated(code: i32, reason: Option<&str>, message: Option<&str>, started: &str) -> Value {
    let reason = reason.unwrap_or(if code == 0 { "Completed" } else { "Error" });
    json!({"terminated": {"exitCode": code, "reason": reason, "message": message, "startedAt": started, "finishedAt": now()}})
}

pub(crate) fn ended(name: &str, code: i32, started: &str) -> Value {
    status(name, &terminated(code, None, None, started), 0)
}

pub(crate) fn waiting(pod: &Value, reason: &str, message: &str) -> Vec<Value> {
    let state = json!({"waiting": {"reason": reason, "message": message}});
    containers_of(pod, "containers").map(|name| status(name, &state, 0)).collect()
}

pub(crate) fn running(pod: &Value, since: &str, ending: &Ending, restarts: usize) -> Vec<Value> {
    let state = json!({"running": {"startedAt": since}});
    let statuses = containers_of(pod, "containers").map(|name| {
        let mut status = after_restarts(status(name, &state, restarts), ending, restarts);
        status["ready"] = ending.ready.into();
        status
    });
    statuses.collect()
}

/// In the pause between an end and the next start.
pub(crate) fn restarting(pod: &Value, ending: &Ending, restarts: usize) -> Vec<Value> {
    let names = containers_of(pod, "containers");
    let statuses = names.map(|name| {
        let message = format!("back-off 10s restarting failed container={name}");
        let state = json!({"waiting": {"reason": "CrashLoopBackOff", "message": message}});
        after_restarts(status(name, &state, restarts), ending, restarts)
    });
    statuses.collect()
}

fn after_restarts(mut status: Value, ending: &Ending, restarts: usize) -> Value {
    if let Some(last) = restarts.checked_sub(1).and_then(|last| ending.restarts.get(last)) {
        status["lastState"] = terminated(last.code, last.reason.as_deref(), last.message.as_deref(), &now());
    }
    status
}

/// Whether a container failed, and how all of them ended.
pub(crate) fn stopped(pod: &Value, ending: &Ending, started: &str, restarts: usize) -> (bool, Vec<Value>) {
    let mut failed = false;
    let statuses = containers_of(pod, "containers").map(|name| {
        let exit = ending.exit.get(name);
        let code = exit.map_or(ending.code, |exit| exit.code);
        failed |= code != 0;
        let reason = exit.and_then(|exit| exit.reason.as_deref());
        let message = exit.and_then(|exit| exit.message.as_deref());
        after_restarts(status(name, &terminated(code, reason, message, started), restarts), ending, restarts)
    });
    let statuses = statuses.collect();
    (failed, statuses)
}

/// Init containers that are done, and sidecars that still run or have ended with `code`.
pub(crate) fn sidecars_of(pod: &Value, code: Option<i32>, started: &str) -> Vec<Value> {
    let statuses = array(pod, "/spec/initContainers").iter().map(|container| {
        let name = text(container, "/name");
        match code {
            _ if text(container, "/restartPolicy") != "Always" => ended(name, 0, started),
            Some(code) => ended(name, code, started),
            None => status(name, &json!({"running": {"startedAt": started}}), 0),
        }
    });
    statuses.collect()
}

/// Some controllers wait for one. Nobody calls it, so it need not be the only one of its kind.
fn address_of(pod: &Value) -> String {
    let sum = text(pod, "/metadata/uid").bytes().fold(1_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte));
    format!("10.2.0.{sum}")
}

/// With the images of the specification.
fn pictured(statuses: &[Value], containers: &[Value]) -> Vec<Value> {
    let mut statuses = statuses.to_vec();
    for status in &mut statuses {
        let container = containers.iter().find(|container| container["name"] == status["name"]);
        status["image"] = container.map(|container| container["image"].clone()).unwrap_or_default();
    }
    statuses
}

/// Conditions are merged with those of others: the scheduler's, and what disrupts pods.
pub(crate) fn pod_status(
    pod: &Value,
    phase: &str,
    started: &str,
    apps: &[Value],
    inits: &[Value],
    more: &[Value],
) -> Value {
    let ready = phase == "Running" && apps.iter().all(|app| app["ready"] == true);
    let reason = match phase {
        "Failed" => Some("PodFailed"),
        "Succeeded" => Some("PodCompleted"),
        _ if ready => None,
        _ => Some("ContainersNotReady"),
    };
    let condition = |kind: &str, status: bool, reason: Option<&str>| {
        let status = if status { "True" } else { "False" };
        json!({"type": kind, "status": status, "reason": reason, "lastTransitionTime": now()})
    };
    let mut conditions = vec![
        condition("PodReadyToStartContainers", phase == "Running", None),
        condition("Initialized", phase != "Pending", None),
        condition("Ready", ready, reason),
        condition("ContainersReady", ready, reason),
    ];
    conditions.extend(more.iter().cloned());
    let address = address_of(pod);
    let mut status = json!({
        "phase": phase, "startTime": started, "hostIP": "10.1.0.1", "podIP": address, "podIPs": [{"ip": address}],
        "conditions": conditions,
        "containerStatuses": pictured(apps, array(pod, "/spec/containers")),
    });
    if pod.pointer("/spec/initContainers").is_some() {
        status["initContainerStatuses"] = pictured(inits, array(pod, "/spec/initContainers")).into();
    }
    json!({"status": status})
}
