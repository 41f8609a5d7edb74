//! What volumes are for, as far as their mounts tell.

use serde_json::Value;

use super::object::{array, text};

/// The sign by which a volume of the pods is for checkpoints: its own name, or where it is mounted.
///
/// No sign is no proof of the contrary.
pub(super) fn mounted_for_checkpoints(job_set: &Value, volume: &str) -> Option<String> {
    if names_checkpoints(volume) {
        return Some(volume.to_owned());
    }
    let pods = array(job_set, "/spec/replicatedJobs").iter().map(|job| &job["template"]["spec"]["template"]["spec"]);
    let containers = pods.flat_map(|pod| array(pod, "/containers").iter().chain(array(pod, "/initContainers")));
    let mounts = containers.flat_map(|container| array(container, "/volumeMounts"));
    let mut paths = mounts.filter(|mount| text(mount, "/name") == volume).map(|mount| text(mount, "/mountPath"));
    paths.find(|path| names_checkpoints(path)).map(ToOwned::to_owned)
}

fn names_checkpoints(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("checkpoint") || text.contains("ckpt")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_or_a_path_tells_what_a_volume_is_for() {
        for (volume, path, sign) in [
            ("checkpoints", "/data", Some("checkpoints")),
            ("data", "/mnt/CKPT", Some("/mnt/CKPT")),
            ("data", "/data", None),
        ] {
            let job_set = json!({"spec": {"replicatedJobs": [{"template": {"spec": {"template": {"spec": {
                "initContainers": [{"volumeMounts": [{"name": "other", "mountPath": "/checkpoints"}]}],
                "containers": [{"volumeMounts": [{"name": volume, "mountPath": path}]}],
            }}}}}]}});
            assert_eq!(mounted_for_checkpoints(&job_set, volume).as_deref(), sign, "{volume} {path}");
        }
    }
}
