//! What is not restarted: each refusal says what, why, and what to run instead, and nothing is written.

use serde_json::{Value, json};

use super::{failed_job, job, job_set};
use crate::support::cluster::Cluster;
use crate::support::{Reply, Request};

/// Runs with `--yes`, and expects a refusal for this reason, with these words on one line, and no write but dry runs.
#[track_caller]
fn refused(cluster: &Cluster, arguments: &[&str], reason: &str, words: &[&str]) {
    let before = cluster.state().objects.clone();
    let ran = cluster.restart(&[arguments, &["--yes", "-o", "json"]].concat());
    ran.says(1, words);
    let restart = ran.json();
    assert_eq!(restart["outcome"], "refused");
    assert_eq!(restart["refusals"][0]["reason"], reason, "{restart:#}");
    let lines = restart["refusals"].as_array().unwrap().len();
    assert_eq!(ran.stderr.lines().filter(|line| line.starts_with("error: not restarted: ")).count(), lines);
    assert!(cluster.writes().iter().all(|write| write.starts_with("dry ")), "{:?}", cluster.writes());
    assert_eq!(cluster.state().objects, before);
    assert!(cluster.folders().is_empty());
}

#[test]
fn a_job_is_left_to_whom_it_belongs() {
    let owner = |api_version: &str, kind: &str| json!({"ownerReferences": [{"apiVersion": api_version, "kind": kind, "name": "o", "uid": "o", "controller": true}]});
    for (metadata, reason, words) in [
        (owner("jobset.x-k8s.io/v1alpha2", "JobSet"), "owned", "kubectl sigapps restart jobset/o -n ml"),
        (owner("batch/v1", "CronJob"), "owned", "kubectl sigapps restart cronjob/o -n ml"),
        (owner("argoproj.io/v1alpha1", "Workflow"), "owned", "restart workflow/o instead"),
        (json!({"labels": {"argocd.argoproj.io/instance": "app"}}), "gitOps", "Argo CD application app"),
        (json!({"deletionTimestamp": "2026-11-30T09:00:00Z"}), "beingDeleted", "is being deleted by somebody else"),
    ] {
        let cluster = Cluster::start();
        failed_job(&cluster);
        let mut job = job("Failed");
        for (key, value) in metadata.as_object().unwrap() {
            job["metadata"][key] = value.clone();
        }
        cluster.put("jobs", &job);
        refused(&cluster, &["job/etl"], reason, &[words]);
    }
}

#[test]
fn a_job_that_has_not_ended_is_restarted_by_force_alone() {
    let cluster = Cluster::start();
    failed_job(&cluster);
    cluster.put("jobs", &job("FailureTarget"));
    refused(&cluster, &["job/etl"], "stillRunning", &["kubectl sigapps restart job/etl --yes --force -n ml"]);
    assert_eq!(cluster.restart(&["job/etl", "--yes", "--force"]).code, Some(0));
}

#[test]
fn a_change_that_cannot_be_made_is_refused() {
    let cluster = Cluster::start();
    failed_job(&cluster);
    for (patch, words) in [
        (r#"[{"op":"remove","path":"/spec/nothing"}]"#, "--patch does not fit"),
        (r#"{"metadata":{"name":"other"}}"#, "--patch must not change metadata.name"),
        ("{}", "--patch changes nothing"),
    ] {
        refused(&cluster, &["job/etl", "--patch", patch], "notPossible", &[words]);
    }
    job_set(&cluster, &json!({}), &json!({}), &json!({}));
    refused(&cluster, &["jobset/llama", "--patch", r#"{"spec":{"x":1}}"#], "notPossible", &["its spec is fixed"]);
    cluster.restart(&["cronjob/nightly", "--patch", "{}"]).says(2, &["--patch is for a job or jobset"]);
    cluster.restart(&["job/etl", "--patch", "{"]).says(2, &["it is not JSON"]);
}

/// As a real server does, which leaves out what it does not know unless it is told not to.
fn strict(request: &Request, field: &str) -> Option<Reply> {
    let has = request.method == "POST" && request.body.pointer(&field.replace('.', "/")).is_some();
    let message = format!("strict decoding error: unknown field \"{}\"", &field[1..]);
    (has && request.query("fieldValidation") == Some("Strict")).then(|| Reply::status(400, "BadRequest", &message))
}

#[test]
fn a_field_that_the_server_does_not_know_is_refused_before_anything_is_done() {
    for keep in [false, true] {
        let cluster = Cluster::with(|request, _| strict(request, ".spec.nosuchField"));
        failed_job(&cluster);
        let mut arguments = vec!["job/etl", "-p", r#"{"spec":{"nosuchField":1}}"#];
        arguments.extend(keep.then_some("--keep"));
        let words = ["unknown field \"spec.nosuchField\"", "; mend --patch, or else what it says, and run it again"];
        refused(&cluster, &arguments, "dryRunFailed", &words);
    }
}

#[test]
fn every_creation_and_change_is_sent_to_be_taken_strictly() {
    let cluster = Cluster::start();
    failed_job(&cluster);
    job_set(&cluster, &json!({}), &json!({}), &json!({}));
    for arguments in [["job/etl", "--yes"], ["jobset/llama", "--yes"]] {
        assert_eq!(cluster.restart(&arguments).code, Some(0));
    }
    let requests = cluster.api.requests().into_iter();
    let changes = requests.filter(|request| !request.path().ends_with("reviews"));
    let changes: Vec<_> = changes.filter(|request| ["POST", "PATCH"].contains(&request.method.as_str())).collect();
    assert_eq!(changes.len(), 6);
    assert!(changes.iter().all(|request| request.query("fieldValidation") == Some("Strict")));
}

/// While the old one is there, another name is tried: that of nothing that the user knows.
#[test]
fn an_error_about_the_new_one_names_it_as_the_user_does() {
    let cluster = Cluster::with(|request, _| {
        let create = request.method == "POST" && !request.path().ends_with("reviews");
        let name = request.body["metadata"]["name"].as_str().unwrap_or_default();
        create.then(|| Reply::status(422, "Invalid", &format!("Job.batch \"{name}\" is invalid: spec.x: wrong")))
    });
    failed_job(&cluster);
    let words = ["the creation of jobs.batch etl", "Job.batch \"etl\" is invalid: spec.x: wrong"];
    refused(&cluster, &["job/etl"], "dryRunFailed", &words);
}

#[test]
fn a_job_of_another_controller_is_refused() {
    let cluster = Cluster::start();
    let mut job = job("Failed");
    job["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue".into();
    cluster.put("jobs", &job);
    refused(&cluster, &["job/etl"], "managedBy", &["is run by kueue.x-k8s.io/multikueue"]);
}

/// What no flag passes is said alone: an offer of --force beside it would lead nowhere.
#[test]
fn force_is_offered_only_where_it_helps() {
    let owner = json!([{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "o", "uid": "o", "controller": true}]);
    for (field, value, reason) in [
        ("/spec/managedBy", json!("kueue.x-k8s.io/multikueue"), "managedBy"),
        ("/spec/suspend", json!(true), "suspended"),
        ("/metadata/ownerReferences", owner, "owned"),
        ("/metadata/deletionTimestamp", json!("2026-11-30T09:00:00Z"), "beingDeleted"),
    ] {
        let cluster = Cluster::start();
        let mut running = job("");
        let (parent, key) = field.rsplit_once('/').unwrap();
        running.pointer_mut(parent).unwrap()[key] = value;
        running["metadata"]["labels"]["argocd.argoproj.io/instance"] = "app".into();
        cluster.put("jobs", &running);
        for arguments in [&["job/etl"][..], &["job/etl", "--force"]] {
            refused(&cluster, arguments, reason, &["error: not restarted: "]);
            let ran = cluster.restart(&[arguments, &["--yes"]].concat());
            assert!(ran.stderr.lines().count() == 1 && !ran.stderr.contains("go on with --force"), "{ran:?}");
        }
    }
}

#[test]
fn all_rights_that_are_missing_are_named_at_once_before_any_write() {
    let cluster = Cluster::start();
    failed_job(&cluster);
    cluster.state().forbidden = ["delete jobs".to_owned(), "create jobs".to_owned()].into();
    refused(&cluster, &["job/etl"], "forbidden", &["in namespace ml: delete jobs.batch, create jobs.batch"]);
    assert!(cluster.writes().is_empty());
}

#[test]
fn rights_that_cannot_be_asked_are_a_notice() {
    let cluster = Cluster::with(|request, _| {
        let review = request.path().ends_with("reviews");
        review.then(|| Reply::status(403, "Forbidden", "no reviews here"))
    });
    failed_job(&cluster);
    let ran = cluster.restart(&["job/etl"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("whether you may delete jobs.batch is not known"), "{}", ran.stdout);
}

#[test]
fn a_webhook_that_refuses_the_dry_run_leaves_everything_as_it_is() {
    let cluster = Cluster::with(|request, _| {
        let create = request.method == "POST" && !request.path().ends_with("reviews");
        create.then(|| Reply::status(400, "BadRequest", "admission webhook \"policy.example\" denied the request: no"))
    });
    failed_job(&cluster);
    refused(&cluster, &["job/etl"], "dryRunFailed", &["policy.example", "create job/etl from its own spec"]);
}

/// A quota counts the old one, which is still there when the server is asked.
#[test]
fn a_full_quota_is_a_refusal_that_force_passes() {
    let cluster = Cluster::with(|request, _| {
        let dry = request.method == "POST" && request.query("dryRun").is_some();
        dry.then(|| Reply::status(403, "Forbidden", "exceeded quota: jobs, requested: count/jobs.batch=1"))
    });
    let path = failed_job(&cluster);
    refused(&cluster, &["job/etl"], "dryRunFailed", &["exceeded quota", "go on with --force"]);
    assert_eq!(cluster.restart(&["job/etl", "--yes", "--force"]).code, Some(0));
    assert_ne!(cluster.object(&path).unwrap()["metadata"]["uid"], "old");
}

fn claim(owner: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "state-llama", "ownerReferences": [{"kind": "JobSet", "uid": owner}]},
    })
}

fn with_claim_policy(retention: &Value) -> Value {
    json!({"volumeClaimPolicies": [{"templates": [{"metadata": {"name": "state"}}], "retentionPolicy": retention}]})
}

#[test]
fn volumes_that_may_hold_checkpoints_are_protected_first() {
    let ended = json!({"terminalState": "Failed"});
    for (retention, owner, is_refused) in [
        (json!({"whenDeleted": "Delete"}), "set", true),
        (json!({}), "set", true),
        // Whom it names decides, not the policy.
        (json!({"whenDeleted": "Retain"}), "set", true),
        (json!({"whenDeleted": "Delete"}), "another", false),
    ] {
        let cluster = Cluster::start();
        let path = job_set(&cluster, &json!({}), &with_claim_policy(&retention), &ended);
        cluster.put("persistentvolumeclaims", &claim(owner));
        if is_refused {
            refused(
                &cluster,
                &["jobset/llama"],
                "checkpointLoss",
                &[&without_owner("state-llama", "set"), "whether it does is not known"],
            );
            let ran = cluster.restart(&["jobset/llama", "--yes", "--allow-checkpoint-loss"]);
            assert!(ran.stdout.contains("pvc/state-llama and all that is on it"), "{}", ran.stdout);
        } else {
            assert_eq!(cluster.restart(&["jobset/llama", "--yes"]).code, Some(0), "{retention} {owner}");
        }
        assert_ne!(cluster.object(&path).unwrap()["metadata"]["uid"], "set");
    }
}

/// What takes the only owner away from a claim.
fn without_owner(claim: &str, owner: &str) -> String {
    let path = "/metadata/ownerReferences/0";
    let patch = json!([{"op": "test", "path": format!("{path}/uid"), "value": owner}, {"op": "remove", "path": path}]);
    format!("kubectl patch pvc {claim} --type=json -p '{patch}' -n ml")
}

/// A claim that an object of this kind owns.
fn owned_claim(cluster: &Cluster, name: &str, kind: &str, owner: &str) -> String {
    let owners = json!([{"apiVersion": "v1", "kind": kind, "name": "o", "uid": owner}]);
    let metadata = json!({"name": name, "ownerReferences": owners});
    cluster.put(
        "persistentvolumeclaims",
        &json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}),
    )
}

#[test]
fn volumes_that_belong_to_a_job_are_named_and_those_for_checkpoints_protected() {
    let cluster = Cluster::start();
    failed_job(&cluster);
    owned_claim(&cluster, "checkpoints", "Job", "old");
    owned_claim(&cluster, "scratch", "Job", "old");
    owned_claim(&cluster, "ckpt-of-another", "Job", "another");
    let command = without_owner("checkpoints", "old");
    let said = "pvc/checkpoints would be deleted by a restart of job/etl, as job/o owns it";
    refused(&cluster, &["job/etl"], "checkpointLoss", &[said, &command]);
    let ran = cluster.restart(&["job/etl", "--yes", "--allow-checkpoint-loss", "-o", "json"]);
    let loses = ran.json()["loses"].to_string();
    assert!(loses.contains("pvc/checkpoints and all") && loses.contains("pvc/scratch and all"), "{loses}");
    assert!(!loses.contains("another"), "{loses}");
}

#[test]
fn volumes_that_cannot_be_listed_are_said_to_be_unknown() {
    let cluster = Cluster::with(|request, _| {
        let claims = request.path().contains("persistentvolumeclaims");
        claims.then(|| Reply::status(403, "Forbidden", "no claims for you"))
    });
    failed_job(&cluster);
    let ran = cluster.restart(&["job/etl", "--yes", "-o", "json"]);
    let notes = ran.json()["notes"].to_string();
    assert!(ran.code == Some(0) && notes.contains("whether a volume claim belongs to it"), "{notes}");
}

#[test]
fn volumes_that_cannot_be_read_are_taken_to_hold_checkpoints() {
    let cluster = Cluster::with(|request, _| {
        let claims = request.path().contains("persistentvolumeclaims");
        claims.then(|| Reply::status(403, "Forbidden", "no claims for you"))
    });
    job_set(&cluster, &json!({}), &with_claim_policy(&json!({})), &json!({"terminalState": "Failed"}));
    refused(&cluster, &["jobset/llama"], "checkpointLoss", &["it could not be read", "--allow-checkpoint-loss"]);
}

#[test]
fn a_suspend_that_is_somebody_elses_is_not_fought_over() {
    let cluster = Cluster::start();
    job_set(&cluster, &json!({"labels": {"kueue.x-k8s.io/queue-name": "gpus"}}), &json!({}), &json!({}));
    refused(&cluster, &["jobset/llama"], "kueue", &["workloads.kueue.x-k8s.io -l kueue.x-k8s.io/job-uid=set"]);
    job_set(&cluster, &json!({}), &json!({"suspend": true}), &json!({}));
    let command = r#"kubectl patch jobset llama --type=merge -p '{"spec":{"suspend":false}}' -n ml"#;
    refused(&cluster, &["jobset/llama"], "suspended", &[command]);
}

#[test]
fn a_jobset_that_its_controller_restarts_is_left_to_it() {
    let cluster = Cluster::start();
    let restarting =
        json!({"conditions": [{"type": "RestartingJobSet", "status": "True", "reason": "DefaultFailurePolicy"}]});
    job_set(&cluster, &json!({}), &json!({"failurePolicy": {"maxRestarts": 3}}), &restarting);
    refused(
        &cluster,
        &["jobset/llama"],
        "stillRunning",
        &["is being restarted by its controller", "3 of 3 restarts left"],
    );
}

#[test]
fn what_is_not_there_is_said_with_names_like_it() {
    let cluster = Cluster::start();
    failed_job(&cluster);
    let ran = cluster.restart(&["job/etll", "--yes"]);
    ran.says(1, &["jobs.batch \"etll\" not found in namespace \"ml\"; did you mean etl?"]);
    cluster.restart(&["jobset/x"]).says(1, &["the server doesn't have a resource type \"jobsets.jobset.x-k8s.io\""]);
}

/// What a patch leaves of the object may be of any shape: the server says what is wrong with it.
#[test]
fn a_change_that_breaks_the_object_is_for_the_server_to_refuse() {
    let cluster = Cluster::with(|request, _| {
        let create = request.method == "POST" && !request.path().ends_with("reviews");
        create.then(|| Reply::status(400, "BadRequest", "cannot unmarshal string into Go struct field"))
    });
    failed_job(&cluster);
    let mut job = job("Failed");
    job["metadata"]["labels"] = json!({"kueue.x-k8s.io/queue-name": "gpus"});
    cluster.put("jobs", &job);
    let retained = json!({"whenDeleted": "Retain"});
    job_set(&cluster, &json!({}), &with_claim_policy(&retained), &json!({"terminalState": "Failed"}));
    cluster.put("persistentvolumeclaims", &claim("another"));
    for (subject, patch) in [
        ("job/etl", json!({"spec": "x"})),
        ("jobset/llama", json!({"spec": ["x"]})),
        ("jobset/llama", json!({"spec": {"volumeClaimPolicies": ["x"]}})),
        ("jobset/llama", json!({"spec": {"volumeClaimPolicies": [{"templates": [3]}]}})),
        (
            "jobset/llama",
            json!({"spec": {"volumeClaimPolicies": [
                {"templates": [{"metadata": {"name": "state"}}], "retentionPolicy": "x"}]}}),
        ),
    ] {
        refused(&cluster, &[subject, &format!("--patch={patch}")], "dryRunFailed", &["cannot unmarshal string"]);
    }
}
