//! What a restart takes away is saved first: objects, Events and, where asked for, logs. Secrets are never read.

use serde_json::{Map, Value, json};

use super::RestartError;
use super::facts::Facts;
use super::folder::Folder;
use super::hide::hide_values;
use super::kind::Kind;
use super::object::{array, name, number, text};
use super::plan::{Action, Plan};
use super::record::MANIFEST;
use super::strip::strip;
use crate::source::cluster::{RequestError, Session};

/// Of a container's log, its end.
const LARGEST_LOG: usize = 10 << 20;

/// What could not be had, a sentence each.
#[derive(Debug, Default)]
pub(super) struct NotSaved {
    /// Logs that the server says are not there: nothing is lost with them.
    pub(super) not_there: Vec<String>,
    /// Logs that are there or may be: what is done next would take them away.
    pub(super) lost: Vec<String>,
}

/// Writes all files; gives back what could not be had.
pub(super) fn save(
    folder: &Folder,
    session: &Session,
    kind: Kind,
    facts: &Facts,
    plan: &Plan,
    logs: bool,
) -> Result<NotSaved, RestartError> {
    let created = plan.steps.iter().find_map(|step| match &step.action {
        Action::Create { manifest, .. } => Some(manifest.clone()),
        _ => None,
    });
    write(folder, MANIFEST, &created.unwrap_or_else(|| strip(kind, &facts.object)))?;
    write(folder, "object.json", &shown(&facts.object))?;
    for (file, objects) in [("jobs.json", &facts.jobs), ("pods.json", &facts.pods), ("events.json", &facts.events)] {
        if !objects.is_empty() {
            let items: Vec<Value> = objects.iter().map(shown).collect();
            write(folder, file, &json!({"apiVersion": "v1", "kind": "List", "items": items}))?;
        }
    }
    if logs { save_logs(folder, session, facts) } else { Ok(NotSaved::default()) }
}

fn write(folder: &Folder, name: &str, value: &Value) -> Result<(), RestartError> {
    let json = serde_json::to_vec_pretty(value).map_err(|error| RestartError::Internal(error.to_string()))?;
    folder.write(name, &json)
}

/// The object without what only the server needs, and without what may be secret.
fn shown(object: &Value) -> Value {
    let mut shown = object.clone();
    if let Some(metadata) = shown.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
        // It repeats the whole spec, with the values of environment variables.
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        }
    }
    hide_values(&mut shown);
    shown
}

/// The logs of pods that failed or whose containers restarted. Each that cannot be had is named.
fn save_logs(folder: &Folder, session: &Session, facts: &Facts) -> Result<NotSaved, RestartError> {
    let mut not_saved = NotSaved::default();
    if let Some(why) = &facts.pods_unread {
        not_saved.lost.push(format!("the logs of all pods, as these are not known: {why}"));
    }
    for pod in &facts.pods {
        for (container, previous) in logs_of(pod) {
            let at = facts.at.named(name(pod)).beside("v1", "pods");
            let which = if previous { ".previous" } else { "" };
            match session.log(&at, &container, previous, LARGEST_LOG) {
                Ok(log) => folder.write(&format!("{}.{container}{which}.log", name(pod)), &log)?,
                Err(error) => {
                    let of = if is_not_there(&error) { &mut not_saved.not_there } else { &mut not_saved.lost };
                    let which = if previous { "previous log" } else { "log" };
                    of.push(format!("the {which} of {container} in pod/{}: {error}", name(pod)));
                }
            }
        }
    }
    Ok(not_saved)
}

/// Whether the server says that there is no such log. A 404 is about the pod or its node; a kubelet that is asked answers
/// 400, with words that are all there is to tell by.
/// Source: Kubernetes `pkg/registry/core/pod/strategy.go`, `LogLocation`; `pkg/kubelet/kubelet_pods.go`,
/// `validateContainerLogStatus`.
fn is_not_there(error: &RequestError) -> bool {
    let words = error.to_string();
    let never_ran = words.contains("is waiting to start") || words.contains("does not have a host assigned");
    let no_previous = words.contains("previous terminated container") && words.contains("not found");
    match error.code {
        Some(404) => true,
        Some(400) => never_ran || no_previous,
        _ => false,
    }
}

/// Container and whether it is its log from before the last restart.
pub(crate) fn logs_of(pod: &Value) -> Vec<(String, bool)> {
    let failed = text(pod, "/status/phase") == "Failed";
    let statuses = ["initContainerStatuses", "containerStatuses"];
    let statuses = statuses.into_iter().flat_map(|list| array(pod, &format!("/status/{list}")));
    let mut logs = Vec::new();
    for status in statuses {
        let state = status.get("state").and_then(Value::as_object);
        let has_run = state.is_some_and(|state: &Map<String, Value>| !state.contains_key("waiting"));
        let restarted = number(status, "/restartCount").is_some_and(|count| count > 0);
        if has_run && (failed || restarted) {
            logs.push((text(status, "/name").to_owned(), false));
        }
        if restarted {
            logs.push((text(status, "/name").to_owned(), true));
        }
    }
    logs
}

#[cfg(test)]
mod tests {
    use super::super::hide::NOT_SAVED;
    use super::*;

    #[test]
    fn values_of_variables_are_not_saved_wherever_they_are() {
        let container = json!({"name": "c", "env": [
            {"name": "TOKEN", "value": "s3cret"}, {"name": "FROM", "valueFrom": {"secretKeyRef": {"name": "db"}}}]});
        let object = json!({
            "metadata": {"name": "x", "managedFields": [1], "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": "s3cret", "note": "kept"}},
            "spec": {"containers": [container], "template": {"spec": {"initContainers": [container]}}},
        });
        let shown = shown(&object);
        assert!(!shown.to_string().contains("s3cret") && !shown.to_string().contains("managedFields"), "{shown}");
        assert_eq!(shown.pointer("/spec/containers/0/env/0/value"), Some(&json!(NOT_SAVED)));
        assert_eq!(shown.pointer("/spec/containers/0/env/1"), object.pointer("/spec/containers/0/env/1"));
        assert_eq!(shown.pointer("/metadata/annotations/note"), Some(&json!("kept")));
    }

    #[test]
    fn logs_are_those_of_containers_that_failed_or_restarted() {
        let status = |name: &str, state: &str, restarts: i64| json!({"name": name, "state": {state: {}}, "restartCount": restarts});
        for (phase, status, expected) in [
            ("Failed", status("c", "terminated", 0), vec![("c".to_owned(), false)]),
            ("Running", status("c", "running", 0), vec![]),
            ("Running", status("c", "running", 2), vec![("c".to_owned(), false), ("c".to_owned(), true)]),
            ("Pending", status("c", "waiting", 1), vec![("c".to_owned(), true)]),
            ("Failed", status("c", "waiting", 0), vec![]),
        ] {
            let pod = json!({"status": {"phase": phase, "containerStatuses": [status]}});
            assert_eq!(logs_of(&pod), expected, "{pod}");
        }
    }
}
