//! What of an earlier run's files is believed: those that nobody else can have written, about their own workload.

use std::fs::Metadata;
use std::path::Path;

use serde_json::Value;

use super::RestartError;
use super::object::{name, text};
use super::plan::{Action, Step};
use crate::source::cluster::Object;

/// Groups and others may write.
#[cfg(unix)]
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// A folder that many may write to holds what any of them puts there: a record of theirs would be carried out with our
/// rights.
#[cfg(unix)]
pub(super) fn ensure_is_ours(path: &Path, metadata: &Metadata) -> Result<(), RestartError> {
    use std::os::unix::fs::MetadataExt as _;
    let why = why_not_ours(metadata.uid(), metadata.mode(), rustix::process::geteuid().as_raw());
    why.map_or(Ok(()), |why| Err(RestartError::Folder { path: path.to_owned(), why }))
}

/// Owners are not told there as Unix tells them.
#[cfg(not(unix))]
pub(super) fn ensure_is_ours(_: &Path, _: &Metadata) -> Result<(), RestartError> {
    Ok(())
}

#[cfg(unix)]
fn why_not_ours(owner: u32, mode: u32, me: u32) -> Option<String> {
    if owner != me {
        return Some(format!("it belongs to another user (uid {owner})"));
    }
    (mode & WRITABLE_BY_OTHERS != 0).then(|| format!("others may write to it (mode {:o})", mode & 0o777))
}

/// Steps touch the workload with this uid and what a restart of its kind touches besides, all in its namespace.
pub(super) fn ensure_are_about(subject: &Object, uid: &str, steps: &[Step]) -> Result<(), String> {
    let stray = steps.iter().map(|step| &step.action).find(|action| !is_about(subject, uid, action));
    stray.map(Action::object).map_or(Ok(()), |object| {
        Err(format!(
            "a step is about {} {} in namespace {}, which a restart of {} {} does not touch",
            object.rbac_name(),
            object.name,
            object.namespace,
            subject.rbac_name(),
            subject.name
        ))
    })
}

fn is_about(subject: &Object, own: &str, action: &Action) -> bool {
    let object = action.object();
    match action {
        Action::Delete { uid, .. } | Action::AwaitGone { uid, .. } | Action::AwaitReplaced { uid, .. } => {
            (object == subject && uid == own) || is_pod_of(subject, object)
        }
        Action::Patch { body, .. } => object == subject && text(body, "/metadata/uid") == own,
        Action::AwaitSuspended { .. } => object == subject,
        Action::Create { manifest, .. } => is_made_of(subject, object) && is_named(manifest, object),
    }
}

/// Sandboxes and groups are restarted by their pods.
fn is_pod_of(subject: &Object, object: &Object) -> bool {
    matches!(subject.resource.as_str(), "leaderworkersets" | "sandboxes")
        && object.namespace == subject.namespace
        && (object.api_version.as_str(), object.resource.as_str()) == ("v1", "pods")
}

/// The workload itself, one beside it under a new name, or a Job of a `CronJob`.
fn is_made_of(subject: &Object, object: &Object) -> bool {
    let is_job = subject.resource == "cronjobs" && object.resource == "jobs";
    let resource = if is_job { &subject.resource } else { &object.resource };
    Object { resource: resource.clone(), ..object.named(&subject.name) } == *subject
}

fn is_named(manifest: &Value, object: &Object) -> bool {
    let namespace = text(manifest, "/metadata/namespace");
    name(manifest) == object.name && (namespace.is_empty() || namespace == object.namespace)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(api_version: &str, resource: &str, name: &str) -> Object {
        let [api_version, resource, name] = [api_version, resource, name].map(str::to_owned);
        Object { api_version, resource, namespace: "ml".to_owned(), name }
    }

    fn create(object: &Object, manifest: &Value) -> Action {
        Action::Create { object: object.clone(), replaces: None, manifest: manifest.clone() }
    }

    #[cfg(unix)]
    #[test]
    fn what_others_own_or_may_write_is_not_ours() {
        for (owner, mode, said) in [
            (1000, 0o040_700, None),
            (1000, 0o100_644, None),
            (0, 0o040_700, Some("belongs to another user (uid 0)")),
            (1000, 0o041_777, Some("mode 777")),
            (1000, 0o100_660, Some("mode 660")),
        ] {
            let why = why_not_ours(owner, mode, 1000);
            assert_eq!(why.as_ref().map(|why| why.contains(said.unwrap_or("?"))), said.map(|_| true), "{why:?}");
        }
    }

    #[test]
    fn steps_are_about_their_workload_and_nothing_else() {
        let (job, cron) = (object("batch/v1", "jobs", "etl"), object("batch/v1", "cronjobs", "etl"));
        let (set, pod) =
            (object("leaderworkerset.x-k8s.io/v1", "leaderworkersets", "etl"), object("v1", "pods", "etl-0"));
        let elsewhere = Object { namespace: "prod".to_owned(), ..job.clone() };
        let delete = |object: &Object, uid: &str| Action::Delete { object: object.clone(), uid: uid.to_owned() };
        let patch = |uid: &str| Action::Patch { object: job.clone(), body: json!({"metadata": {"uid": uid}}) };
        let named = |name: &str, namespace: &str| json!({"metadata": {"name": name, "namespace": namespace}});
        let sibling = object("batch/v1", "jobs", "etl-x");
        for (subject, action, expected) in [
            (&job, delete(&job, "u"), true),
            (&job, delete(&job, "other"), false),
            (&job, delete(&elsewhere, "u"), false),
            (&job, delete(&object("v1", "secrets", "etl"), "u"), false),
            (&job, delete(&object("batch/v1", "jobs", "other"), "u"), false),
            (&job, delete(&pod, "p"), false),
            (&set, delete(&pod, "p"), true),
            (&set, delete(&Object { namespace: "prod".to_owned(), ..pod.clone() }, "p"), false),
            (&job, patch("u"), true),
            (&job, patch("other"), false),
            (&set, patch("u"), false),
            (&job, create(&job, &named("etl", "ml")), true),
            (&job, create(&job, &json!({"metadata": {"name": "etl"}})), true),
            (&job, create(&job, &named("etl", "prod")), false),
            (&job, create(&job, &named("other", "ml")), false),
            (&job, create(&sibling, &named("etl-x", "ml")), true),
            (&cron, create(&sibling, &named("etl-x", "ml")), true),
            (&cron, create(&object("v1", "secrets", "etl-x"), &named("etl-x", "ml")), false),
            (&job, create(&elsewhere, &named("etl", "prod")), false),
        ] {
            let step = Step::new("t", action);
            let about = ensure_are_about(subject, "u", std::slice::from_ref(&step));
            assert_eq!(about.is_ok(), expected, "{subject:?} {step:?} {about:?}");
        }
    }
}
