//! A `CronJob` is run once more, as `kubectl create job --from` does it.

use serde_json::{Map, Value, json};

use super::facts::{Facts, NAMED};
use super::guards::{self, Depth};
use super::object::{self, array, condition, is_controlled_by, is_set, name, number, text, uid};
use super::plan::{Action, Plan};
use super::{Order, names, volumes};
use crate::report::RefusalReason;
use crate::words::list_names;

pub(super) fn plan(facts: &Facts, order: &Order) -> Plan {
    let mut plan = Plan::default();
    guards::check(&mut plan, facts, order, Depth::Copied);
    if order.keep {
        plan.refuse(
            RefusalReason::NotPossible,
            format!("--keep says nothing for {}: a run by hand replaces no other", order.subject()),
            vec![order.plain_command()],
        );
    }
    let name = names::with_suffix(&order.name, &facts.object["spec"]["jobTemplate"]["spec"], order.now);
    plan.summary = format!("a Job {name} is made of its template now; the schedule stays as it is");
    history(&mut plan, facts, &name);
    active(&mut plan, facts);
    if is_set(&facts.object, "/spec/suspend") {
        plan.note("its schedule is suspended, and stays so: this is one run by hand");
    }
    let jobs = crate::source::cluster::Object { resource: "jobs".to_owned(), ..facts.at.named(&name) };
    plan.step(
        format!("create job/{name} from the template of {}", order.subject()),
        Action::Create { object: jobs, replaces: None, manifest: job(&facts.object, &name) },
    );
    let selector = format!("batch.kubernetes.io/job-name={name}");
    plan.next = vec![order.commands.kubectl(&["get", "pods", "-l", &selector])];
    plan
}

/// How a Job ends, in the words of a sentence, with its condition and the CronJob's limit of such Jobs.
const ENDS: [(&str, &str, &str); 2] =
    [("fails", "Failed", "failedJobsHistoryLimit"), ("succeeds", "Complete", "successfulJobsHistoryLimit")];

/// The finished Jobs that one more of them pushes out of the `CronJob`'s history, each with how that one must end: a Job
/// made by hand is counted, too, as the `CronJob` controls it.
/// Source: Kubernetes `pkg/controller/cronjob/cronjob_controllerv2.go`, `cleanupFinishedJobs`, and `byJobStartTime`.
pub(super) fn pushed_out<'a>(cron_job: &Value, jobs: &'a [Value]) -> Vec<(&'a Value, &'static str)> {
    let mut all = Vec::new();
    for (end, ended, limit) in ENDS {
        // Without a limit all of them stay.
        let Some(limit) = number(cron_job, &format!("/spec/{limit}")) else { continue };
        let mut finished: Vec<&Value> = jobs.iter().filter(|job| condition(job, &[ended]).is_some()).collect();
        finished.sort_by_key(|job| {
            let started = text(job, "/status/startTime");
            (started.is_empty(), started, object::name(job))
        });
        let too_many = (finished.len() + 1).saturating_sub(usize::try_from(limit).unwrap_or_default());
        all.extend(finished.into_iter().take(too_many).map(|job| (job, end)));
    }
    all
}

fn history(plan: &mut Plan, facts: &Facts, new: &str) {
    for (job, end) in pushed_out(&facts.object, &facts.jobs) {
        let of_job = |pod: &&Value| is_controlled_by(pod, uid(job));
        let pods: Vec<Value> = facts.pods.iter().filter(of_job).cloned().collect();
        let claims = volumes::named_of(facts, &pods.iter().collect::<Vec<_>>(), &[uid(job)]);
        let with = Facts { pods, ..Facts::default() }.pods_and_logs().map(|pods| format!(" with {pods}"));
        let volumes = if claims.is_empty() {
            String::new()
        } else {
            format!(", and volume claims: {}", list_names(&claims, NAMED))
        };
        let (name, with) = (object::name(job), with.unwrap_or_default());
        plan.lose(format!("job/{name}{with}{volumes}, when the new one {end}: {}", limit(facts, end)));
    }
    for (end, _, field) in ENDS {
        if number(&facts.object, &format!("/spec/{field}")) == Some(0) {
            plan.note(format!("job/{new} itself is deleted as soon as it {end}, with its pods: {}", limit(facts, end)));
        }
    }
}

/// `failedJobsHistoryLimit is 1`.
fn limit(facts: &Facts, end: &str) -> String {
    let field = ENDS.iter().find(|(known, ..)| *known == end).map_or("", |(_, _, field)| field);
    let limit = number(&facts.object, &format!("/spec/{field}")).unwrap_or_default();
    format!("{field} is {limit}")
}

/// The policy is the schedule's: a Job made by hand is not held back by it, and does not hold back others' deletion.
/// Source: Kubernetes `pkg/controller/cronjob`, which weighs it only when a scheduled time has come.
fn active(plan: &mut Plan, facts: &Facts) {
    let policy = match text(&facts.object, "/spec/concurrencyPolicy") {
        "" => "Allow",
        policy => policy,
    };
    let running = running(facts);
    let now = match running[..] {
        [] => "no run is active now".to_owned(),
        _ => format!("active now: {}", running.join(", ")),
    };
    plan.note(format!("concurrencyPolicy {policy} does not hold for a run by hand; {now}"));
}

/// The runs that have not ended. The status lists only those of the schedule; the Jobs tell of those made by hand as well.
fn running(facts: &Facts) -> Vec<&str> {
    let mut running: Vec<&str> = array(&facts.object, "/status/active").iter().map(|job| text(job, "/name")).collect();
    for job in facts.jobs.iter().filter(|job| condition(job, &["Complete", "Failed"]).is_none()).map(name) {
        if !running.contains(&job) {
            running.push(job);
        }
    }
    running
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
    use crate::restart::tests::{facts, order};

    /// A finished Job.
    fn finished(name: &str, ended: &str, started: &str) -> Value {
        let mut job = json!({
            "metadata": {"name": name, "uid": format!("uid-{name}")},
            "status": {"conditions": [{"type": ended, "status": "True"}]},
        });
        if !started.is_empty() {
            job["status"]["startTime"] = format!("2026-11-30T0{started}:00:00Z").into();
        }
        job
    }

    #[test]
    fn the_oldest_finished_jobs_make_room_for_the_new_one() {
        let jobs = [
            finished("f2", "Failed", "2"),
            finished("f1", "Failed", "1"),
            finished("unstarted", "Failed", ""),
            finished("c1", "Complete", "1"),
            json!({"metadata": {"name": "active", "uid": "a"}, "status": {"startTime": "2026-11-30T00:00:00Z"}}),
        ];
        for (failed, successful, expected) in [
            (Some(1), Some(3), vec![("f1", "fails"), ("f2", "fails"), ("unstarted", "fails")]),
            (Some(3), Some(1), vec![("f1", "fails"), ("c1", "succeeds")]),
            (Some(4), Some(2), vec![]),
            (Some(0), None, vec![("f1", "fails"), ("f2", "fails"), ("unstarted", "fails")]),
            (None, None, vec![]),
        ] {
            let cron_job =
                json!({"spec": {"failedJobsHistoryLimit": failed, "successfulJobsHistoryLimit": successful}});
            let pushed_out: Vec<_> =
                pushed_out(&cron_job, &jobs).into_iter().map(|(job, end)| (object::name(job), end)).collect();
            assert_eq!(pushed_out, expected, "{cron_job}");
        }
    }

    #[test]
    fn the_job_that_is_looked_into_is_lost_when_the_new_one_fails_too() {
        let mut facts = facts(&json!({
            "metadata": {"name": "backup", "uid": "u9"},
            "spec": {"failedJobsHistoryLimit": 1, "successfulJobsHistoryLimit": 0, "jobTemplate": {"spec": {}}},
        }));
        facts.jobs = vec![finished("backup-1", "Failed", "1")];
        facts.pods = vec![json!({
            "metadata": {"name": "backup-1-x", "ownerReferences": [{"uid": "uid-backup-1", "controller": true}]},
            "spec": {"volumes": [{"name": "dump", "ephemeral": {}}]}, "status": {"phase": "Failed"},
        })];
        let planned = plan(&facts, &order(Kind::CronJob, "backup"));
        assert_eq!(
            planned.loses,
            [
                "job/backup-1 with 1 pod (1 failed) and its logs: backup-1-x, and volume claims: backup-1-x-dump, when the new \
              one fails: failedJobsHistoryLimit is 1"
            ]
        );
        assert!(
            planned.notes.iter().any(|note| note.contains("itself is deleted as soon as it succeeds")),
            "{planned:?}"
        );
    }

    #[test]
    fn the_job_is_the_one_that_kubectl_would_make() {
        let cron_job = json!({
            "metadata": {"name": "backup", "namespace": "ml", "uid": "u9"},
            "spec": {"concurrencyPolicy": "Forbid", "suspend": true, "jobTemplate": {
                "metadata": {"labels": {"app": "backup"}, "annotations": {"note": "x"}},
                "spec": {"unknown": 1, "template": {"spec": {}}}}},
            "status": {"active": [{"name": "backup-1"}]},
        });
        let planned = plan(&facts(&cron_job), &order(Kind::CronJob, "backup"));
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

    #[test]
    fn runs_made_by_hand_are_active_as_well() {
        let cron_job = json!({"metadata": {"name": "backup"}, "status": {"active": [{"name": "backup-1"}]}});
        let mut known = facts(&cron_job);
        let job = |name: &str, status: &Value| json!({"metadata": {"name": name}, "status": status});
        known.jobs = vec![
            job("backup-1", &json!({"active": 1})),
            job("by-hand", &json!({"active": 1})),
            job("done", &json!({"conditions": [{"type": "Complete", "status": "True"}]})),
            job("failed", &json!({"conditions": [{"type": "Failed", "status": "True"}]})),
        ];
        let planned = plan(&known, &order(Kind::CronJob, "backup"));
        assert!(planned.notes[0].ends_with("active now: backup-1, by-hand"), "{planned:?}");
        known.jobs.drain(..2);
        known.object["status"] = json!({});
        let planned = plan(&known, &order(Kind::CronJob, "backup"));
        assert!(planned.notes[0].ends_with("no run is active now"), "{planned:?}");
    }
}
