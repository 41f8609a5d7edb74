use serde_json::{Value, json};

use crate::support::{project, run};

/// A failed `JobSet` whose claim goes with it, two snapshots of that claim, and the claim.
fn objects() -> Vec<Value> {
    let saving = json!({"spec": {"containers": [{
        "name": "trainer", "command": ["python3", "pretrain_gpt.py"],
        "args": ["--save", "/ckpt/run", "--load", "/ckpt/run", "--save-interval", "500"],
        "volumeMounts": [{"name": "ckpt", "mountPath": "/ckpt"}],
    }]}});
    let snapshot = |name: &str, ready: bool, at: &str| {
        json!({
            "apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot",
            "metadata": {"name": name, "namespace": "ns", "uid": name},
            "spec": {"source": {"persistentVolumeClaimName": "ckpt-llama"}},
            "status": {"readyToUse": ready, "creationTime": at},
        })
    };
    vec![
        json!({
            "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
            "metadata": {"name": "llama", "namespace": "ns", "uid": "js", "creationTimestamp": "2026-11-30T09:00:00Z"},
            "spec": {
                "replicatedJobs": [
                    {"name": "driver", "template": {"spec": {"template": saving}}},
                    {"name": "workers", "template": {"spec": {"template": saving}}},
                ],
                "ttlSecondsAfterFinished": 3600,
                "volumeClaimPolicies": [{"templates": [{"metadata": {"name": "ckpt"}}]}],
            },
            "status": {"terminalState": "Failed", "conditions": [
                {"type": "Failed", "status": "True", "reason": "FailedJobs", "lastTransitionTime": "2026-11-30T09:10:00Z"}]},
        }),
        snapshot("daily", true, "2026-11-30T09:03:00Z"),
        snapshot("hourly", false, "2026-11-30T09:04:00Z"),
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": "ckpt-llama", "namespace": "ns", "uid": "pvc", "ownerReferences": [
                {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "llama", "uid": "js"}]},
            "status": {"phase": "Bound"},
        }),
    ]
}

fn explained(objects: &[Value], format: &str, columns: usize) -> String {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    let arguments = ["explain", "jobset/llama", "-f", "-", "-o", format];
    run(&arguments).env("COLUMNS", &columns.to_string()).stdin(list).output()
}

/// The lines of the section.
fn section(columns: usize) -> Vec<String> {
    let text = explained(&objects(), "text", columns);
    let lines = text.lines().skip_while(|line| *line != "Checkpoints").skip(1);
    lines.take_while(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn the_most_useful_stands_first_and_fits() {
    assert_eq!(
        section(120),
        [
            "  Megatron-LM is configured to save to /ckpt/run every 500 iterations and to resume",
            "  claim ckpt-llama is deleted with the JobSet, which owns it, at 10:10:00Z by ttlSecondsAfterFinished",
            "  VolumeSnapshot daily of claim ckpt-llama, ready, taken 09:03:00Z",
            "  VolumeSnapshot hourly of claim ckpt-llama, not ready, asked for 09:04:00Z",
        ]
    );
    assert_eq!(
        section(80),
        [
            "  Megatron-LM is configured to save to /ckpt/run every 500 iterations and to",
            "    resume",
            "  claim ckpt-llama is deleted with the JobSet, which owns it, at 10:10:00Z by",
            "    ttlSecondsAfterFinished",
            "  VolumeSnapshot daily of claim ckpt-llama, ready, taken 09:03:00Z…",
        ]
    );
    let narrow = section(40);
    assert!(narrow.len() <= 5 && narrow.iter().all(|line| line.chars().count() <= 40), "{narrow:#?}");
}

#[test]
fn json_and_yaml_are_one_and_by_the_schema() {
    let schema = std::fs::read_to_string(project().join("docs/schema/explanation.v1alpha1.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let json: Value = serde_json::from_str(&explained(&objects(), "json", 120)).unwrap();
    let errors: Vec<_> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
    assert_eq!(json["checkpoints"][0]["replicatedJobs"], json!(["driver", "workers"]));
    let yaml: Value = serde_saphyr::from_str(&explained(&objects(), "yaml", 120)).unwrap();
    assert!(yaml == json, "YAML and JSON differ");
}

#[test]
fn markdown_has_them_as_a_list() {
    let text = explained(&objects(), "markdown", 120);
    assert!(
        text.contains("## Checkpoints\n\n- Megatron-LM is configured to save to /ckpt/run every 500 iterations"),
        "{text}"
    );
}

#[test]
fn the_order_of_the_input_makes_no_difference() {
    let mut objects = objects();
    let told: Vec<String> = ["text", "json", "markdown"].map(|format| explained(&objects, format, 120)).into();
    for _ in 0..objects.len() {
        objects.rotate_left(1);
        let again: Vec<String> = ["text", "json", "markdown"].map(|format| explained(&objects, format, 120)).into();
        assert!(told == again);
    }
}
