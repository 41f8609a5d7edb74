use serde_json::{Value, json};

use super::*;
use crate::model::{Claim, ClaimView, Interner, JobSetView, JobView, View as _};
use crate::source::{Resource, Source, SourceState};

/// A pod template that saves to `/ckpt/run` and mounts `ckpt` there.
fn template(volumes: &Value) -> Value {
    let args = ["--save", "/ckpt/run", "--load", "/ckpt/run"];
    json!({"spec": {
        "containers": [{
            "name": "trainer", "command": ["python3", "pretrain_gpt.py"], "args": args,
            "volumeMounts": [{"name": "ckpt", "mountPath": "/ckpt"}],
        }],
        "volumes": volumes,
    }})
}

fn job_set(volumes: &Value, when_deleted: Option<&str>, ttl: Option<u32>, ended: bool) -> JobSet {
    let policy = match when_deleted {
        Some("") => json!([{"templates": [{"metadata": {"name": "ckpt"}}]}]),
        Some(when) => {
            json!([{"templates": [{"metadata": {"name": "ckpt"}}], "retentionPolicy": {"whenDeleted": when}}])
        }
        None => Value::Null,
    };
    let failed = json!([{"type": "Failed", "status": "True", "lastTransitionTime": "2026-11-30T09:00:00Z"}]);
    let object = json!({
        "metadata": {"name": "llama", "namespace": "ns", "uid": "js"},
        "spec": {
            "replicatedJobs": [{"name": "w", "template": {"spec": {"template": template(volumes)}}}],
            "volumeClaimPolicies": policy, "ttlSecondsAfterFinished": ttl,
        },
        "status": {"conditions": if ended { failed } else { Value::Null }},
    });
    let text = object.to_string();
    serde_json::from_str::<JobSetView>(&text).unwrap().into_kept(&mut Interner::default()).unwrap()
}

/// Durability and ways, as `jobSetTtl@09:10:00Z`.
fn told(kept: &Kept) -> (Answer, String) {
    let way = |deletion: &Deletion| {
        let at = deletion.at.map(|at| format!("@{}", &at.to_string()[11..])).unwrap_or_default();
        format!("{:?}{at}", deletion.by)
    };
    (kept.durable, kept.deleted_by.iter().map(way).collect::<Vec<_>>().join(" "))
}

#[test]
fn a_claim_of_the_jobset_outlives_restarts_and_goes_as_its_policy_says() {
    use Answer::{No, Unknown, Yes};
    let by_name = |claim: &str| json!([{"name": "ckpt", "persistentVolumeClaim": {"claimName": claim}}]);
    let empty = json!([{"name": "ckpt", "emptyDir": {}}]);
    let ephemeral = json!([{"name": "ckpt", "ephemeral": {"volumeClaimTemplate": {}}}]);
    let (none, claim, namespace) = (json!([]), "ClaimDeletion", "NamespaceDeletion");
    for (volumes, when, ttl, ended, answer, ways) in [
        (&none, Some("Delete"), None, false, Yes, format!("JobSetDeletion {claim} {namespace}")),
        (&none, Some(""), None, false, Yes, format!("JobSetDeletion {claim} {namespace}")),
        (&none, Some("Delete"), Some(600), false, Yes, format!("JobSetTtl JobSetDeletion {claim} {namespace}")),
        (
            &none,
            Some("Delete"),
            Some(600),
            true,
            Yes,
            format!("JobSetTtl@09:10:00Z JobSetDeletion {claim} {namespace}"),
        ),
        (&none, Some("Retain"), Some(600), true, Yes, format!("{claim} {namespace}")),
        (&by_name("ckpt-llama"), Some("Delete"), None, false, Yes, format!("JobSetDeletion {claim} {namespace}")),
        // Named as the template is, and yet another claim.
        (&by_name("ckpt"), Some("Delete"), Some(600), true, Yes, format!("{claim} {namespace}")),
        (&by_name("other"), None, Some(600), true, Yes, format!("{claim} {namespace}")),
        (&none, None, None, false, Unknown, String::new()),
        (&empty, None, Some(600), true, No, "PodDeletion".to_owned()),
        (&ephemeral, None, Some(600), true, No, "JobSetTtl@09:10:00Z PodDeletion".to_owned()),
        (&ephemeral, None, None, true, No, "PodDeletion".to_owned()),
    ] {
        let job_set = job_set(volumes, when, ttl, ended);
        let kept = kept(&job_set);
        assert_eq!(kept.len(), 1);
        assert_eq!(told(&kept[0]), (answer, ways), "{volumes} {when:?} {ttl:?} {ended}");
    }
}

#[test]
fn the_claim_is_called_as_the_object_is_and_the_words_say_why() {
    let kept = kept(&job_set(&json!([]), Some("Delete"), Some(600), true)).remove(0);
    assert_eq!(kept.claim.as_deref(), Some("ckpt-llama"));
    assert_eq!(kept.replicated_job.as_deref(), Some("w"));
    assert!(kept.made_by_job_set && kept.lost_with_job_set());
    assert_eq!(kept.durable, Answer::Yes);
    let whys: Vec<&str> = kept.deleted_by.iter().map(|deletion| &*deletion.why).collect();
    assert_eq!(
        whys,
        [
            "claim ckpt-llama goes with the JobSet 600 s after it finishes (ttlSecondsAfterFinished)",
            "claim ckpt-llama is deleted with the JobSet (whenDeleted: Delete)",
            "deletion of claim ckpt-llama",
            "deletion of the namespace",
        ]
    );
    let unseen = super::kept(&job_set(&json!([]), None, None, false)).remove(0);
    assert_eq!((unseen.claim, unseen.made_by_job_set), (None, false), "a mount's name is no claim");
}

#[test]
fn a_jobs_own_claims_go_with_its_pods() {
    let volumes = json!([{"name": "ckpt", "ephemeral": {"volumeClaimTemplate": {}}}]);
    let object = json!({
        "metadata": {"name": "train", "namespace": "ns"},
        "spec": {"template": template(&volumes), "ttlSecondsAfterFinished": 3600},
        "status": {"conditions": [{"type": "Failed", "status": "True", "lastTransitionTime": "2026-11-30T09:00:00Z"}]},
    });
    let text = object.to_string();
    let job = serde_json::from_str::<JobView>(&text).unwrap().into_kept(&mut Interner::default()).unwrap();
    assert_eq!(told(&of_job(&job).unwrap()), (Answer::No, "JobTtl@10:00:00Z PodDeletion".to_owned()));
}

fn claim(name: &str, owners: &Value, more: &Value) -> Claim {
    let mut object = json!({
        "metadata": {"name": name, "namespace": "ns", "ownerReferences": owners},
        "status": {"phase": more["phase"]},
    });
    object["metadata"]["deletionTimestamp"] = more["deletionTimestamp"].clone();
    let text = object.to_string();
    serde_json::from_str::<ClaimView>(&text).unwrap().into_kept(&mut Interner::default()).unwrap()
}

fn owner(kind: &str, name: &str, uid: &str) -> Value {
    let version = if kind == "JobSet" { "jobset.x-k8s.io/v1alpha2" } else { "apps/v1" };
    json!({"apiVersion": version, "kind": kind, "name": name, "uid": uid})
}

fn snapshot(claims: Vec<Claim>, cluster: bool) -> Snapshot {
    let source = Source {
        cluster: None,
        resource: Resource::Claims.name().to_owned(),
        file: None,
        state: SourceState::Read,
        objects: claims.len() as u64,
        skipped: 0,
        message: None,
    };
    Snapshot { cluster: cluster.then(|| "c".to_owned()), claims, sources: vec![source], ..Snapshot::default() }
}

#[test]
fn what_the_claim_says_stands_above_what_the_policy_wants() {
    let own = || json!([owner("JobSet", "llama", "js")]);
    let nothing = json!({});
    let (claim_and_namespace, delete) = ("ClaimDeletion NamespaceDeletion", Some("Delete"));
    for (when, found, ways, why) in [
        (delete, claim("ckpt-llama", &own(), &nothing), "JobSetDeletion ", "which the JobSet makes"),
        (Some("Retain"), claim("ckpt-llama", &own(), &nothing), "JobSetDeletion ", "whenDeleted: Retain"),
        (delete, claim("ckpt-llama", &json!([]), &nothing), "", "which does not own it (though whenDeleted is Delete)"),
        (
            delete,
            claim("ckpt-llama", &json!([owner("JobSet", "llama", "earlier")]), &nothing),
            "OwnerDeletion ",
            "which the JobSet makes",
        ),
        (
            delete,
            claim("ckpt-llama", &json!([owner("StatefulSet", "s", "s")]), &nothing),
            "OwnerDeletion ",
            "which the JobSet makes",
        ),
        (delete, claim("of-another", &own(), &nothing), "JobSetDeletion ", "which the JobSet makes"),
        (delete, claim("ckpt-llama", &own(), &json!({"phase": "Lost"})), "JobSetDeletion ", "its volume is gone"),
    ] {
        let job_set = job_set(&json!([]), when, None, false);
        let kept = kept_in(&job_set, &snapshot(vec![found], false)).remove(0);
        assert_eq!(told(&kept).1, format!("{ways}{claim_and_namespace}"), "{when:?} {}", kept.why);
        assert!(kept.why.contains(why), "{} / {why}", kept.why);
    }
}

#[test]
fn a_claim_that_is_being_deleted_is_told_first() {
    let deleted = json!({"deletionTimestamp": "2026-11-30T08:00:00Z"});
    let found = claim("ckpt-llama", &json!([owner("JobSet", "llama", "js")]), &deleted);
    let job_set = job_set(&json!([]), Some("Delete"), None, false);
    let kept = kept_in(&job_set, &snapshot(vec![found], true)).remove(0);
    assert_eq!(told(&kept).1, "ClaimDeletion@08:00:00Z JobSetDeletion NamespaceDeletion");
    assert_eq!(kept.deleted_by[1].why, "claim ckpt-llama is deleted with the JobSet, which owns it");
    assert_eq!(kept.deleted_by[0].why, "claim ckpt-llama is being deleted, and stays only while a pod uses it");
}

#[test]
fn a_claim_is_missing_only_where_all_were_read() {
    let job_set = job_set(&json!([]), Some("Delete"), None, false);
    let in_dump = kept_in(&job_set, &snapshot(Vec::new(), false)).remove(0);
    assert_eq!(told(&in_dump).1, "JobSetDeletion ClaimDeletion NamespaceDeletion");
    let mut denied = snapshot(Vec::new(), true);
    denied.sources[0].state = SourceState::Denied;
    assert_eq!(kept_in(&job_set, &denied), [in_dump], "the policy tells");
    let in_cluster = kept_in(&job_set, &snapshot(Vec::new(), true)).remove(0);
    assert_eq!(told(&in_cluster), (Answer::Unknown, String::new()));
    assert_eq!(in_cluster.why, "claim ckpt-llama is not there: it was deleted, or not made yet");
}
