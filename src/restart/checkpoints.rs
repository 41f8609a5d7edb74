//! What is lost of a run, and where it saves, as far as its pod templates tell. That a checkpoint exists is never said.

use std::sync::Arc;

use serde_json::Value;

use super::object::{array, text};
use crate::checkpoint::{Answer, Checkpoints, Kind, Saves, names_checkpoints};
use crate::model::checkpoints_of;

/// What was computed and is not saved, in words that claim nothing.
pub(super) fn since_the_last(object: &Value) -> String {
    let found: Vec<Arc<Checkpoints>> = templates(object).into_iter().filter_map(told).collect();
    let (gone, kept): (Vec<&Checkpoints>, Vec<&Checkpoints>) = found
        .iter()
        .map(AsRef::as_ref)
        .filter(|found| found.saves.answer == Answer::Yes)
        .partition(|found| found.durable.answer == Answer::No);
    match (gone.first(), kept.first()) {
        (Some(gone), None) => return format!("all that was computed: {}", goes_with_the_pods(gone)),
        (Some(gone), Some(kept)) => return format!("{}; {}", since_what_is_kept(kept), goes_with_the_pods(gone)),
        (None, Some(kept)) => return since_what_is_kept(kept),
        (None, None) => {}
    }
    match found.iter().find(|found| found.saves.answer == Answer::No) {
        Some(found) => format!("what was computed: it is configured to save no checkpoints ({})", found.saves.why),
        None => "what was computed since the last checkpoint; whether there is one is not known".to_owned(),
    }
}

fn since_what_is_kept(found: &Checkpoints) -> String {
    let on_a_node = match found.durable.kind {
        Kind::NodeBound => format!(" ({})", found.durable.why),
        _ => String::new(),
    };
    format!(
        "what was computed since the last checkpoint; it is configured to save{}{on_a_node}, whether one is there is not \
         known",
        where_and_when(&found.saves)
    )
}

/// A restart makes new pods: what the old ones have of their own ends with them.
fn goes_with_the_pods(found: &Checkpoints) -> String {
    let (saves, why) = (where_and_when(&found.saves), &found.durable.why);
    format!("it is configured to save{saves}, and what is saved there goes with the pods ({why})")
}

/// ` to /ckpt every 500 steps`.
fn where_and_when(saves: &Saves) -> String {
    let place = saves.place.as_deref().map_or_else(String::new, |place| format!(" to {place}"));
    let every = saves.every.as_deref().map_or_else(String::new, |every| format!(" every {every}"));
    place + &every
}

/// The sign by which a volume is for checkpoints: what saves there by its arguments, its own name, or where it is mounted.
///
/// No sign is no proof of the contrary.
pub(super) fn saved_on(object: &Value, volume: &str, claim: &str) -> Option<String> {
    let templates = templates(object);
    let on_volume = |template: &&Value| {
        let found = told(template).filter(|found| found.saves.answer == Answer::Yes)?;
        let place = found.saves.place.as_deref()?;
        let is_there = match found.durable.kind {
            Kind::EphemeralClaim => is_under(template, volume, place),
            _ => found.durable.claim.as_deref().is_some_and(|known| [volume, claim].contains(&known)),
        };
        is_there.then(|| format!("it is configured to save to {place}"))
    };
    if let Some(told) = templates.iter().find_map(on_volume) {
        return Some(told);
    }
    if let Some(named) = [volume, claim].into_iter().find(|name| names_checkpoints(name)) {
        return Some(format!("the volume is called {named}"));
    }
    let mounts = templates.iter().flat_map(|template| mounts(template));
    let mut paths = mounts.filter(|mount| text(mount, "/name") == volume).map(|mount| text(mount, "/mountPath"));
    paths.find(|path| names_checkpoints(path)).map(|path| format!("it is mounted at {path}"))
}

fn mounts(template: &Value) -> impl Iterator<Item = &Value> {
    let containers = ["/spec/containers", "/spec/initContainers"].into_iter().flat_map(|list| array(template, list));
    containers.flat_map(|container| array(container, "/volumeMounts"))
}

/// Whether of all volumes it is this one that a path lies on.
fn is_under(template: &Value, volume: &str, path: &str) -> bool {
    let holds = |at: &str| std::path::Path::new(path).starts_with(at);
    let longest = mounts(template).filter(|mount| holds(text(mount, "/mountPath")));
    longest.max_by_key(|mount| text(mount, "/mountPath").len()).is_some_and(|mount| text(mount, "/name") == volume)
}

fn told(template: &Value) -> Option<Arc<Checkpoints>> {
    checkpoints_of(&template.to_string())
}

/// The pod templates of a workload of any kind.
pub(super) fn templates(object: &Value) -> Vec<&Value> {
    let of_jobs = array(object, "/spec/replicatedJobs").iter().map(|job| &job["template"]["spec"]["template"]);
    let others = [
        "/spec/template",
        "/spec/jobTemplate/spec/template",
        "/spec/podTemplate",
        "/spec/leaderWorkerTemplate/leaderTemplate",
        "/spec/leaderWorkerTemplate/workerTemplate",
    ];
    others.into_iter().filter_map(|pointer| object.pointer(pointer)).chain(of_jobs).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job_set(args: &[&str], volume: &str, path: &str) -> Value {
        json!({"spec": {"replicatedJobs": [{"template": {"spec": {"template": {"spec": {
            "initContainers": [{"name": "i", "volumeMounts": [{"name": "other", "mountPath": "/checkpoints"}]}],
            "containers": [{"name": "c", "args": args, "volumeMounts": [{"name": volume, "mountPath": path}]}],
        }}}}}]}})
    }

    #[test]
    fn arguments_a_name_or_a_path_tell_what_a_volume_is_for() {
        let megatron = ["python", "pretrain_gpt.py", "--save", "/data/run", "--save-interval", "500"];
        for (args, volume, path, sign) in [
            (&megatron[..], "data", "/data", Some("configured to save to /data/run")),
            (&[], "checkpoints", "/data", Some("the volume is called checkpoints")),
            (&[], "data", "/mnt/CKPT", Some("mounted at /mnt/CKPT")),
            (&[], "data", "/data", None),
            // They only look like it.
            (&[], "checkpoint-logs", "/data", None),
            (&[], "data", "/mnt/ckpt/logs", None),
            (&[], "nockpt", "/data", None),
        ] {
            let told = saved_on(&job_set(args, volume, path), volume, "a-claim");
            assert_eq!(told.as_ref().map(|told| told.contains(sign.unwrap_or("?"))), sign.map(|_| true), "{told:?}");
        }
    }

    #[test]
    fn a_place_is_on_the_volume_that_is_mounted_deepest() {
        let mut object = job_set(&["python", "pretrain_gpt.py", "--save", "/data/fast/run"], "data", "/data");
        let spec = object.pointer_mut("/spec/replicatedJobs/0/template/spec/template/spec").unwrap();
        spec["containers"][0]["volumeMounts"] =
            json!([{"name": "data", "mountPath": "/data"}, {"name": "scratch", "mountPath": "/data/fast"}]);
        spec["volumes"] = json!([{"name": "scratch", "ephemeral": {}}, {"name": "data", "ephemeral": {}}]);
        assert!(saved_on(&object, "scratch", "x").unwrap().contains("save to /data/fast/run"));
        assert_eq!(saved_on(&object, "data", "x"), None);
    }

    #[test]
    fn what_is_lost_of_a_run_is_told_by_what_it_is_configured_to_save() {
        let megatron = ["python", "pretrain_gpt.py", "--save", "/data/run", "--save-interval", "500"];
        let lost = since_the_last(&job_set(&megatron, "data", "/data"));
        assert!(lost.contains("configured to save to /data/run every 500") && lost.contains("not known"), "{lost}");
        assert!(lost.starts_with("what was computed since the last checkpoint"), "{lost}");
        let lost = since_the_last(&job_set(&[], "data", "/data"));
        assert_eq!(lost, "what was computed since the last checkpoint; whether there is one is not known");
    }

    /// `volumes` of the pod, and what is mounted at /data.
    fn saving_to(volumes: &Value, volume: &str) -> Value {
        let args = ["python", "pretrain_gpt.py", "--save", "/data/run", "--save-interval", "500"];
        let mut job_set = job_set(&args, volume, "/data");
        job_set["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["volumes"] = volumes.clone();
        job_set
    }

    #[test]
    fn what_is_saved_where_it_ends_with_the_pods_is_lost_as_well() {
        for (volume, is_lost, said) in [
            (json!({"name": "v", "emptyDir": {}}), true, "emptyDir v at /data is deleted with the pod"),
            (json!({"name": "v", "emptyDir": {"medium": "Memory"}}), true, "deleted with the pod"),
            (json!({"name": "v", "ephemeral": {"volumeClaimTemplate": {}}}), true, "deleted with the pod"),
            (json!({"name": "elsewhere", "emptyDir": {}}), false, "not known"),
            (json!({"name": "v", "persistentVolumeClaim": {"claimName": "c"}}), false, "not known"),
            (json!({"name": "v", "hostPath": {"path": "/mnt"}}), false, "a pod on another node does not have"),
        ] {
            let lost = since_the_last(&saving_to(&json!([volume]), "v"));
            assert!(lost.contains(said), "{volume}: {lost}");
            assert_eq!(lost.starts_with("all that was computed: "), is_lost, "{volume}: {lost}");
        }
    }

    #[test]
    fn templates_that_save_in_different_places_are_both_told() {
        let mut both = saving_to(&json!([{"name": "v", "emptyDir": {}}]), "v");
        let other = saving_to(&json!([{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]), "v");
        let jobs = both["spec"]["replicatedJobs"].as_array_mut().unwrap();
        jobs.push(other["spec"]["replicatedJobs"][0].clone());
        let lost = since_the_last(&both);
        assert!(lost.starts_with("what was computed since the last checkpoint"), "{lost}");
        assert!(lost.contains("goes with the pods (emptyDir v"), "{lost}");
    }
}
