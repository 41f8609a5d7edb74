//! A `CronJob` is run once more, as `kubectl create job --from` does it.

use serde_json::{Map, Value, json};

use super::facts::{Facts, Wish};
use super::guards::{self, Depth};
use super::names;
use super::object::{array, is_set, text, uid};
use super::plan::{Action, Plan};
use crate::report::RefusalReason;

pub(super) fn plan(facts: &Facts, wish: &Wish) -> Plan {
    let mut plan = Plan::default();
    guards::check(&mut plan, facts, wish, Depth::Copied);
    if wish.keep {
        plan.refuse(
            RefusalReason::NotPossible,
            format!("--keep says nothing for {}: its earlier Jobs stay in any case", wish.subject()),
            vec![wish.commands.restart(wish.kind.name(), wish.name, &[])],
        );
    }
    let name = names::with_suffix(wish.name, &facts.object["spec"]["jobTemplate"]["spec"], wish.now);
    plan.summary = format!("a Job {name} is made of its template now; earlier Jobs and the schedule stay as they are");
    active(&mut plan, facts);
    if is_set(&facts.object, "/spec/suspend") {
        plan.note("its schedule is suspended, and stays so: this is one run by hand");
    }
    let jobs = crate::source::cluster::Object { resource: "jobs".to_owned(), ..facts.at.named(&name) };
    plan.step(
        format!("create job/{name} from the template of {}", wish.subject()),
        Action::Create { object: jobs, replaces: None, manifest: job(&facts.object, &name) },
    );
    let selector = format!("batch.kubernetes.io/job-name={name}");
    plan.next = vec![wish.commands.kubectl(&["get", "pods", "-l", &selector])];
    plan
}

/// The policy is the schedule's: a Job made by hand is not held back by it, and does not hold back others' deletion.
/// Source: Kubernetes `pkg/controller/cronjob`, which weighs it only when a scheduled time has come.
fn active(plan: &mut Plan, facts: &Facts) {
    let policy = match text(&facts.object, "/spec/concurrencyPolicy") {
        "" => "Allow",
        policy => policy,
    };
    let running: Vec<&str> = array(&facts.object, "/status/active").iter().map(|job| text(job, "/name")).collect();
    let now = match running[..] {
        [] => "no run is active now".to_owned(),
        _ => format!("active now: {}", running.join(", ")),
    };
    plan.note(format!("concurrencyPolicy {policy} does not hold for a run by hand; {now}"));
}

/// Source: kubectl `pkg/cmd/create/create_job.go`, `createJobFromCronJob`.
fn job(cron_job: &Value, name: &str) -> Value {
    let template = &cron_job["spec"]["jobTemplate"];
    let mut annotations = Map::from_iter([("cronjob.kubernetes.io/instantiate".to_owned(), json!("manual"))]);
    let given = template.pointer("/metadata/annotations").and_then(Value::as_object);
    annotations.extend(given.into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())));
    let mut metadata = json!({
        "name": name, "namespace": cron_job["metadata"]["namespace"], "annotations": annotations,
        // Without blockOwnerDeletion, which takes the right to set finalizers on the CronJob.
        "ownerReferences": [{
            "apiVersion": "batch/v1", "kind": "CronJob", "name": cron_job["metadata"]["name"], "uid": uid(cron_job),
            "controller": true,
        }],
    });
    if let Some(labels) = template.pointer("/metadata/labels") {
        metadata["labels"] = labels.clone();
    }
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template["spec"]})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::restart::kind::Kind;
    use crate::restart::tests::{facts, wish};

    #[test]
    fn the_job_is_the_one_that_kubectl_would_make() {
        let cron_job = json!({
            "metadata": {"name": "backup", "namespace": "ml", "uid": "u9"},
            "spec": {"concurrencyPolicy": "Forbid", "suspend": true, "jobTemplate": {
                "metadata": {"labels": {"app": "backup"}, "annotations": {"note": "x"}},
                "spec": {"unknown": 1, "template": {"spec": {}}}}},
            "status": {"active": [{"name": "backup-1"}]},
        });
        let planned = plan(&facts(&cron_job), &wish(Kind::CronJob, "backup"));
        assert!(planned.refusals.is_empty() && planned.loses.is_empty());
        assert!(planned.notes[0].contains("Forbid") && planned.notes[0].contains("backup-1"), "{planned:?}");
        let [step] = &planned.steps[..] else { panic!("{planned:?}") };
        let Action::Create { object, manifest, .. } = &step.action else { panic!("{planned:?}") };
        assert_eq!(object.resource, "jobs");
        assert_eq!(
            *manifest,
            json!({
                "apiVersion": "batch/v1", "kind": "Job",
                "metadata": {
                    "name": object.name, "namespace": "ml", "labels": {"app": "backup"},
                    "annotations": {"cronjob.kubernetes.io/instantiate": "manual", "note": "x"},
                    "ownerReferences": [{"apiVersion": "batch/v1", "kind": "CronJob", "name": "backup", "uid": "u9", "controller": true}],
                },
                "spec": {"unknown": 1, "template": {"spec": {}}},
            })
        );
    }
}
