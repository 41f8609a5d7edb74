//! What to do next about `CronJob`s: a change is worked out from the `CronJob` as it is now, not from a run that was made of
//! it earlier.

use serde_json::{Value, json};

use crate::made_up::{failed_pod, job};
use crate::support::{Story, View, story_of_objects};

const OWNER: &str = "uid-nightly";

/// A run of the `CronJob` `nightly`.
fn run(name: &str, spec: Value, created: &str, condition: Option<&str>) -> Value {
    let conditions = condition.map(|type_| {
        json!([{"type": type_, "status": "True", "reason": "r", "message": "m", "lastTransitionTime": "2026-11-30T09:02:00Z"}])
    });
    let mut run = job(name, spec, json!({"failed": 1, "startTime": created, "conditions": conditions}));
    run["metadata"]["creationTimestamp"] = created.into();
    run["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": OWNER, "controller": true}]);
    run
}

fn failed_run(spec: Value) -> Value {
    run("nightly-1", spec, "2026-11-30T09:00:00Z", Some("Failed"))
}

#[allow(clippy::needless_pass_by_value)] // so that `json!` can be written in place
/// The `CronJob` as it is now.
fn cron_job(spec: Value) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": "ns", "uid": OWNER, "creationTimestamp": "2026-11-29T09:00:00Z"},
        "spec": {"schedule": "0 9 * * *", "concurrencyPolicy": "Forbid", "jobTemplate": {"spec": spec}},
    })
}

fn disrupted() -> Value {
    let mut pod = failed_pod("p", "nightly-1", 143);
    pod["status"]["conditions"] =
        json!([{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}]);
    pod
}

fn out_of_memory() -> Value {
    let mut pod = failed_pod("p", "nightly-1", 137);
    pod["status"]["containerStatuses"][0]["state"]["terminated"]["reason"] = "OOMKilled".into();
    pod["spec"]["containers"][0]["resources"] = json!({"limits": {"memory": "512Mi"}});
    pod
}

fn story(objects: impl IntoIterator<Item = Value>) -> Story {
    story_of_objects(&Value::Array(objects.into_iter().collect()), &View { all: true, ..View::default() })
}

fn rules(rules: &[&Value]) -> Value {
    json!({"backoffLimit": 0, "podFailurePolicy": {"rules": rules}, "template": {"spec": {"restartPolicy": "Never"}}})
}

fn limited(limit: &str) -> Value {
    let container = json!({"name": "main", "resources": {"limits": {"memory": limit}}});
    json!({"backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}})
}

/// What the run was made from, what the `CronJob` says now, how its pod ended; and the patch, or why there is none.
#[test]
fn a_change_is_worked_out_from_the_cron_job_as_it_is_now() {
    let ignore = json!({"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]});
    let fail = json!({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}});
    let broad = json!({"action": "Count", "onExitCodes": {"operator": "NotIn", "values": [42]}});
    let bare = || json!({"backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never"}}});
    let policy = "the podFailurePolicy of the CronJob was changed since";
    let by_policy =
        |then: Value, now: Option<Value>, expected: &'static str| (then, now, disrupted(), "editPolicy", expected);
    let by_memory = |then: &str, now: &str, expected: &'static str| {
        (limited(then), Some(limited(now)), out_of_memory(), "raiseMemory", expected)
    };
    let in_place = json!({"backoffLimit": 0, "template": {"spec": {"restartPolicy": "OnFailure"}}});
    for (then, now, pod, kind, expected) in [
        by_policy(bare(), Some(bare()), "kubectl patch cronjob nightly"),
        by_policy(rules(&[&fail]), Some(rules(&[&fail])), "/spec/jobTemplate/spec/podFailurePolicy/rules/0"),
        by_policy(bare(), Some(rules(&[&fail, &ignore])), policy),
        by_policy(rules(&[&broad, &ignore]), Some(rules(&[&ignore, &broad])), policy),
        by_policy(rules(&[&fail]), Some(bare()), policy),
        by_policy(in_place, Some(bare()), "the restartPolicy of the CronJob was changed since"),
        by_policy(bare(), None, "CronJob/nightly is not in the data"),
        by_memory("512Mi", "512Mi", r#""limits":{"memory":"1Gi"}"#),
        by_memory("512Mi", "4Gi", "the memory of main in the CronJob was changed since"),
    ] {
        let story = story([failed_run(then), pod].into_iter().chain(now.clone().map(cron_job)));
        let told = story.suggestion(kind);
        // The limit of the pod is written as it is there.
        let expected = expected.replace("1Gi", "1024Mi");
        assert!(told.to_string().replace("\\\"", "\"").contains(&expected), "{now:?}: {told}");
        let safety =
            if expected.contains("nightly is") || expected.contains("since") { "readOnly" } else { "mutating" };
        assert_eq!(told["safety"], safety, "{told}");
    }
}

#[test]
fn who_decides_about_the_cron_job_is_to_change_it() {
    let bare = || json!({"backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never"}}});
    let owner =
        json!([{"apiVersion": "example.com/v1", "kind": "Backup", "name": "b", "uid": "b", "controller": true}]);
    for (field, value, words) in [
        ("deletionTimestamp", json!("2026-11-30T09:01:00Z"), "it is being deleted since 2026-11-30T09:01:00Z"),
        ("ownerReferences", owner, "change it in Backup/b, which makes the CronJob"),
        (
            "labels",
            json!({"kustomize.toolkit.fluxcd.io/name": "apps"}),
            "change it in what Flux Kustomization apps applies",
        ),
    ] {
        let mut now = cron_job(bare());
        now["metadata"][field] = value;
        let story = story([failed_run(bare()), disrupted(), now]);
        let told = story.suggestion("editPolicy");
        assert!(told["why"].as_str().unwrap().contains(words), "{told}");
        assert_eq!(told["safety"], "readOnly");
    }
}

/// Other runs of the same `CronJob`, and why none is to be started by hand.
#[test]
fn no_other_run_is_started_where_one_does_the_work() {
    let bare = || json!({"backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never"}}});
    let other = |at: &str, condition| run("nightly-2", bare(), at, condition);
    let later = "2026-11-30T10:00:00Z";
    let with_status = |status: Value| {
        let mut now = cron_job(bare());
        now["status"] = status;
        now
    };
    let none = || with_status(json!({}));
    let active = json!({"active": [{"apiVersion": "batch/v1", "kind": "Job", "name": "nightly-3", "namespace": "ns"}]});
    let still_listed = json!({"active": [{"kind": "Job", "name": "nightly-1"}]});
    for (others, words) in [
        (vec![none(), other(later, Some("Complete"))], Some("the later run nightly-2 has completed")),
        (vec![none(), other(later, None)], Some("run nightly-2 is active")),
        (vec![none(), other("2026-11-30T08:00:00Z", None)], Some("run nightly-2 is active")),
        (vec![with_status(active)], Some("run nightly-3 is active")),
        (vec![with_status(json!({"lastSuccessfulTime": later}))], Some("another run has completed at")),
        (vec![with_status(json!({"lastSuccessfulTime": "2026-11-30T08:30:00Z"}))], None),
        (vec![with_status(still_listed)], None),
        (vec![none(), other("2026-11-30T08:00:00Z", Some("Complete"))], None),
        (vec![none(), other(later, Some("Failed"))], None),
        (vec![none()], None),
    ] {
        let story = story([failed_run(bare()), disrupted()].into_iter().chain(others.clone()));
        let advice = story.advice();
        assert_eq!(advice.contains(&"restart"), words.is_none(), "{others:?}: {advice:?}");
        if let Some(words) = words {
            let why = story.suggestion("wait")["why"].as_str().unwrap();
            assert!(why.starts_with(words), "{why}");
        }
    }
}
