//! What `explain` tells of checkpoints, from objects written down here.

use serde_json::{Value, json};

use crate::support::explanation;

const SAVES: [&str; 6] = ["--save", "/ckpt/run", "--load", "/ckpt/run", "--save-interval", "500"];

/// A pod template of Megatron-LM with a claim of the `JobSet`, or another volume, at `/ckpt`.
fn template(args: &[&str], volumes: &Value) -> Value {
    json!({"spec": {
        "restartPolicy": "Never",
        "containers": [{
            "name": "trainer", "image": "t", "command": ["python3", "pretrain_gpt.py"], "args": args,
            "env": [{"name": "HF_TOKEN", "value": "hf_s3cr3t"}, {"name": "DATABASE", "value": "postgres://u:p4ss@db"}],
            "volumeMounts": [{"name": "ckpt", "mountPath": "/ckpt"}],
            "resources": {"limits": {"nvidia.com/gpu": 8}},
        }],
        "volumes": volumes,
    }})
}

fn failed(at: &str) -> Value {
    json!([{"type": "Failed", "status": "True", "reason": "FailedJobs", "message": "m", "lastTransitionTime": at}])
}

/// A failed `JobSet` `llama`; replicated Jobs as name and template.
fn job_set(replicated: &[(&str, Value)], when_deleted: &str) -> Value {
    let jobs: Vec<Value> = replicated
        .iter()
        .map(|(name, template)| json!({"name": name, "template": {"spec": {"template": template}}}))
        .collect();
    json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": "llama", "namespace": "ns", "uid": "js", "creationTimestamp": "2026-11-30T09:00:00Z"},
        "spec": {
            "replicatedJobs": jobs, "ttlSecondsAfterFinished": 600,
            "volumeClaimPolicies": [
                {"templates": [{"metadata": {"name": "ckpt"}}], "retentionPolicy": {"whenDeleted": when_deleted}},
            ],
        },
        "status": {"terminalState": "Failed", "conditions": failed("2026-11-30T09:10:00Z")},
    })
}

fn job(name: &str, owner: Option<(&str, &str, &str)>, template: &Value, created: &str) -> Value {
    let owners: Vec<Value> = owner
        .map(|(version, kind, name)| json!({"apiVersion": version, "kind": kind, "name": name, "controller": true}))
        .into_iter()
        .collect();
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "namespace": "ns", "uid": name, "creationTimestamp": created, "ownerReferences": owners},
        "spec": {"template": template},
        "status": {"failed": 1, "conditions": failed("2026-11-30T09:05:00Z")},
    })
}

fn pod(name: &str, job: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "ns", "uid": name,
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": job, "controller": true}]},
        "status": {"phase": "Failed", "containerStatuses": [
            {"name": "trainer", "state": {"terminated": {"exitCode": 1, "finishedAt": "2026-11-30T09:04:00Z"}}}]},
    })
}

fn volume_snapshot(name: &str, claim: &str, ready: Option<bool>, at: &str) -> Value {
    json!({
        "apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot",
        "metadata": {"name": name, "namespace": "ns", "uid": name, "creationTimestamp": "2026-11-30T08:00:00Z"},
        "spec": {"source": {"persistentVolumeClaimName": claim}},
        "status": {"readyToUse": ready, "creationTime": at},
    })
}

fn explained(objects: &[Value], subject: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("objects.json");
    std::fs::write(&path, json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()).unwrap();
    explanation(&path, subject).unwrap()
}

fn checkpoints(objects: &[Value], subject: &str) -> Vec<Value> {
    explained(objects, subject)["checkpoints"].as_array().unwrap().clone()
}

fn ways(checkpoint: &Value) -> Vec<&str> {
    checkpoint["deletedBy"].as_array().unwrap().iter().map(|way| way["by"].as_str().unwrap()).collect()
}

#[test]
fn four_answers_of_a_jobset_whose_claim_goes_with_it() {
    let saving = template(&SAVES, &json!([]));
    let all = checkpoints(&[job_set(&[("workers", saving)], "Delete")], "jobset/llama");
    assert_eq!(all.len(), 1);
    let told = &all[0];
    assert_eq!((&told["object"], &told["replicatedJobs"]), (&json!("jobset/ns/llama"), &json!(["workers"])));
    assert_eq!((&told["framework"], &told["saves"]["answer"]), (&json!("Megatron-LM"), &json!("yes")));
    assert_eq!((&told["saves"]["place"], &told["saves"]["every"]), (&json!("/ckpt/run"), &json!("500 iterations")));
    assert_eq!((&told["resumes"]["answer"], &told["durable"]["answer"]), (&json!("yes"), &json!("yes")));
    assert_eq!((&told["durable"]["kind"], &told["durable"]["claim"]), (&json!("claim"), &json!("ckpt-llama")));
    assert_eq!(ways(told), ["jobSetTtl", "jobSetDeletion", "claimDeletion", "namespaceDeletion"]);
    assert_eq!(told["deletedBy"][0]["at"], "2026-11-30T09:20:00Z");
    let facts: Vec<String> = told["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fact| format!("{} {} = {}", fact["object"], fact["path"], fact["value"]).replace('"', ""))
        .collect();
    for fact in [
        "jobset/ns/llama spec.replicatedJobs[name=workers].template.spec.template.spec.containers[name=trainer].args[0] = --save /ckpt/run",
        "jobset/ns/llama spec.volumeClaimPolicies[templates=ckpt].retentionPolicy.whenDeleted = Delete",
        "jobset/ns/llama spec.ttlSecondsAfterFinished = 600",
    ] {
        assert!(facts.contains(&fact.to_owned()), "{fact} is missing in {facts:#?}");
    }
}

#[test]
fn a_retained_claim_stays() {
    let all = checkpoints(&[job_set(&[("w", template(&SAVES, &json!([])))], "Retain")], "jobset/llama");
    assert_eq!(ways(&all[0]), ["claimDeletion", "namespaceDeletion"]);
}

#[test]
fn replicated_jobs_that_tell_the_same_are_one() {
    let saving = || template(&SAVES, &json!([]));
    let other = template(&["--save", "/ckpt/other", "--load", "/ckpt/other"], &json!([]));
    let set = job_set(&[("driver", saving()), ("eval", other), ("workers", saving())], "Delete");
    let all = checkpoints(&[set], "jobset/llama");
    let names: Vec<&Value> = all.iter().map(|told| &told["replicatedJobs"]).collect();
    assert_eq!(names, [&json!(["driver", "workers"]), &json!(["eval"])]);
    assert_eq!(all[0]["evidence"].as_array().unwrap().len(), 5, "each sign once: {}", all[0]["evidence"]);
}

/// A Job and a pod of a `JobSet` are told what the `JobSet` knows of its claim, and of no other replicated Job.
#[test]
fn a_pod_is_told_its_jobs_and_a_job_its_jobsets() {
    let saving = template(&SAVES, &json!([]));
    let as_made = template(&SAVES, &json!([{"name": "ckpt", "persistentVolumeClaim": {"claimName": "ckpt-llama"}}]));
    let set = job_set(&[("driver", template(&["--load", "/ckpt/x"], &json!([]))), ("w", saving)], "Delete");
    let owner = Some(("jobset.x-k8s.io/v1alpha2", "JobSet", "llama"));
    let objects =
        [set, job("llama-w-0", owner, &as_made, "2026-11-30T09:00:00Z"), pod("llama-w-0-0-abc12", "llama-w-0")];
    for subject in ["job/llama-w-0", "pod/llama-w-0-0-abc12"] {
        let all = checkpoints(&objects, subject);
        assert_eq!(all.len(), 1, "{subject}");
        assert_eq!(all[0]["replicatedJobs"], json!(["w"]), "{subject}");
        assert_eq!(ways(&all[0])[..2], ["jobSetTtl", "jobSetDeletion"], "{subject}");
    }
    let alone = checkpoints(&objects[1..], "job/llama-w-0");
    assert_eq!(ways(&alone[0]), ["claimDeletion", "namespaceDeletion"], "without its JobSet nothing more is known");
}

#[test]
fn of_a_cronjob_its_latest_run_tells_else_its_own_template() {
    let of = |place: &str| template(&["--save", place], &json!([{"name": "ckpt", "emptyDir": {}}]));
    let cron_job = json!({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly", "namespace": "ns", "uid": "cj"},
        "spec": {"schedule": "0 1 * * *", "jobTemplate": {"spec": {"template": of("/ckpt/new")}}},
    });
    let owner = Some(("batch/v1", "CronJob", "nightly"));
    let runs = [
        job("nightly-1", owner, &of("/ckpt/1"), "2026-11-28T01:00:00Z"),
        job("nightly-2", owner, &of("/ckpt/2"), "2026-11-29T01:00:00Z"),
    ];
    let objects: Vec<Value> = runs.into_iter().chain([cron_job.clone()]).collect();
    for (objects, object, place) in
        [(&objects[..], "job/ns/nightly-2", "/ckpt/2"), (&[cron_job][..], "cronjob/ns/nightly", "/ckpt/new")]
    {
        let all = checkpoints(objects, "cronjob/nightly");
        assert_eq!((&all[0]["object"], &all[0]["saves"]["place"]), (&json!(object), &json!(place)));
        assert_eq!((&all[0]["durable"]["answer"], ways(&all[0])), (&json!("no"), vec!["podDeletion"]));
    }
}

#[test]
fn snapshots_are_those_of_the_claim_and_of_the_pods() {
    let set = job_set(&[("w", template(&SAVES, &json!([])))], "Delete");
    let pod_checkpoint = |name: &str, pod: &str, reason: &str| {
        let status = if reason == "CheckpointCompleted" { "True" } else { "False" };
        json!({
            "apiVersion": "checkpoint.k8s.io/v1alpha1", "kind": "PodCheckpoint", "metadata": {"name": name, "namespace": "ns"},
            "spec": {"sourcePodName": pod},
            "status": {"nodeName": "n1", "completionTime": "2026-11-30T09:02:00Z",
                "conditions": [{"type": "Ready", "status": status, "reason": reason, "message": "no CRIU"}]},
        })
    };
    let pod_snapshot = |name: &str, metadata: Value| {
        let mut object = json!({
            "apiVersion": "podsnapshot.gke.io/v1", "kind": "PodSnapshot", "metadata": metadata,
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        });
        object["metadata"]["name"] = name.into();
        object["metadata"]["namespace"] = "ns".into();
        object
    };
    let owner = Some(("jobset.x-k8s.io/v1alpha2", "JobSet", "llama"));
    let objects = [
        set,
        job("llama-w-1", owner, &template(&SAVES, &json!([])), "2026-11-30T09:00:00Z"),
        volume_snapshot("before", "ckpt-llama", Some(true), "2026-11-30T09:03:00Z"),
        volume_snapshot("after", "ckpt-llama", Some(false), "2026-11-30T09:04:00Z"),
        volume_snapshot("unborn", "ckpt-llama", None, ""),
        volume_snapshot("of-another", "ckpt-other", Some(true), "2026-11-30T09:05:00Z"),
        pod_checkpoint("frozen", "llama-w-0-0-abc12", "CheckpointCompleted"),
        pod_checkpoint("broken", "llama-w-0-1-abc12", "CheckpointFailed"),
        pod_checkpoint("strange", "llama-web-0-1-abc12", "CheckpointCompleted"),
        pod_snapshot("gke", json!({"annotations": {"podsnapshot.gke.io/origin-pod": "llama-w-0-0-abc12"}})),
        pod_snapshot("gke-old", json!({"labels": {"podsnapshot.gke.io/pod-name": "llama-w-0-0-abc12"}})),
        pod_snapshot("gke-strange", json!({})),
    ];
    let snapshots = |subject: &str| -> Vec<String> {
        let all = checkpoints(&objects, subject);
        let snapshots = all[0]["snapshots"].as_array().unwrap().iter();
        let told = |taken: &Value| format!("{} {} {}", taken["object"], taken["ready"], taken["error"]);
        snapshots.map(|taken| told(taken).replace('"', "")).collect()
    };
    assert_eq!(
        snapshots("jobset/llama"),
        [
            "volumesnapshot/ns/before true null",
            "podcheckpoint/ns/frozen true null",
            "podsnapshot/ns/gke true null",
            "podsnapshot/ns/gke-old true null",
            "volumesnapshot/ns/after false null",
            "podcheckpoint/ns/broken false no CRIU",
            "volumesnapshot/ns/unborn null null",
        ]
    );
    let of_volumes =
        ["before true null", "after false null", "unborn null null"].map(|it| format!("volumesnapshot/ns/{it}"));
    assert_eq!(snapshots("job/llama-w-1"), of_volumes, "the pods are another Job's");
}

#[test]
fn the_claim_itself_is_evidence() {
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "ckpt-llama", "namespace": "ns", "uid": "pvc", "ownerReferences": [
            {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "llama", "uid": "js", "controller": true}]},
        "spec": {"storageClassName": "fast", "volumeName": "pv-1"}, "status": {"phase": "Bound"},
    });
    let all = checkpoints(&[job_set(&[("w", template(&SAVES, &json!([])))], "Delete"), claim], "jobset/llama");
    let text = all[0]["evidence"].to_string();
    for part in ["status.phase", "Bound", "fast", "pv-1", "metadata.ownerReferences[kind=JobSet].name"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

/// Gradient checkpointing and pretrained weights are not saved state; where nothing failed either, nothing is said.
#[test]
fn false_friends_have_no_section_and_a_failure_of_accelerators_has_one_line() {
    let plain = |gpus: u32| {
        let mut template = template(&[], &json!([]));
        let container = &mut template["spec"]["containers"][0];
        container["command"] = json!(["python3", "train.py"]);
        container["args"] = json!(["--gradient_checkpointing", "--recompute-activations", "--model_name=x"]);
        container["volumeMounts"] = json!([]);
        container["resources"] = json!({"limits": {"nvidia.com/gpu": gpus}});
        template
    };
    let no_sign = "no sign of checkpoints in the pod template (what an image, ConfigMap or script holds is not seen)";
    let of = |set: Value| checkpoints(&[set], "jobset/llama");
    let failed = of(job_set(&[("driver", plain(0)), ("w", plain(8))], "Delete"));
    assert_eq!((failed.len(), &failed[0]["saves"]["why"]), (1, &json!(no_sign)));
    assert_eq!(failed[0]["replicatedJobs"], json!(["w"]));
    assert_eq!(of(job_set(&[("w", plain(0))], "Delete")), Vec::<Value>::new());
    let mut running = job_set(&[("w", plain(8))], "Delete");
    running["status"] = json!({});
    assert_eq!(of(running), Vec::<Value>::new());
    let beside = of(job_set(&[("driver", plain(8)), ("w", template(&SAVES, &json!([])))], "Delete"));
    assert_eq!(beside.len(), 1, "one that saves is enough");
    for (gpus, count) in [(0, 0), (8, 1)] {
        let job = job("etl", None, &plain(gpus), "2026-11-30T09:00:00Z");
        assert_eq!(checkpoints(&[job], "job/etl").len(), count, "{gpus}");
    }
}

#[test]
fn no_secret_is_told() {
    let mut saving =
        template(&["--save", "s3://key:s3cr3t@bucket/$(HF_TOKEN)/run", "--load", "$(DATABASE)"], &json!([]));
    let env = saving["spec"]["containers"][0]["env"].as_array_mut().unwrap();
    env.push(json!({"name": "CHECKPOINT_SAS", "value": "sig=s3cr3t"}));
    env.push(json!({"name": "UNRELATED", "value": "c0nfidential"}));
    let text = explained(&[job("train", None, &saving, "2026-11-30T09:00:00Z")], "job/train").to_string();
    assert!(text.contains("bucket"), "{text}");
    for secret in ["s3cr3t", "p4ss", "c0nfidential"] {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
}
