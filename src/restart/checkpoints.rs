//! What is lost of a run, and where it saves, as far as its pod templates tell. That a checkpoint exists is never said.

use std::sync::Arc;

use serde_json::Value;

use super::object::{array, text};
use crate::checkpoint::{Answer, Checkpoints, Kind, Saves};
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
pub(super) fn saved_on(job_set: &Value, volume: &str) -> Option<String> {
    let templates = templates(job_set);
    let on_volume = |found: &Arc<Checkpoints>| {
        let is_there = found.durable.claim.as_deref() == Some(volume) && found.saves.answer == Answer::Yes;
        let place = found.saves.place.as_deref().filter(|_| is_there)?;
        Some(format!("it is configured to save to {place}"))
    };
    if let Some(told) = templates.iter().filter_map(|template| told(template)).find_map(|found| on_volume(&found)) {
        return Some(told);
    }
    if names_checkpoints(volume) {
        return Some(format!("the volume is called {volume}"));
    }
    let pods = templates.iter().map(|template| &template["spec"]);
    let containers = pods.flat_map(|pod| array(pod, "/containers").iter().chain(array(pod, "/initContainers")));
    let mounts = containers.flat_map(|container| array(container, "/volumeMounts"));
    let mut paths = mounts.filter(|mount| text(mount, "/name") == volume).map(|mount| text(mount, "/mountPath"));
    paths.find(|path| names_checkpoints(path)).map(|path| format!("it is mounted at {path}"))
}

fn told(template: &Value) -> Option<Arc<Checkpoints>> {
    checkpoints_of(&template.to_string())
}

/// The pod templates of a Job, a `JobSet` or a `LeaderWorkerSet`.
fn templates(object: &Value) -> Vec<&Value> {
    let of_jobs = array(object, "/spec/replicatedJobs").iter().map(|job| &job["template"]["spec"]["template"]);
    let others =
        ["/spec/template", "/spec/leaderWorkerTemplate/leaderTemplate", "/spec/leaderWorkerTemplate/workerTemplate"];
    others.into_iter().filter_map(|pointer| object.pointer(pointer)).chain(of_jobs).collect()
}

fn names_checkpoints(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("checkpoint") || text.contains("ckpt")
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
        ] {
            let told = saved_on(&job_set(args, volume, path), volume);
            assert_eq!(told.as_ref().map(|told| told.contains(sign.unwrap_or("?"))), sign.map(|_| true), "{told:?}");
        }
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
