//! A `JobSet` that runs is suspended and resumed; one that has ended can only be made again.

use serde_json::{Value, json};

use super::checkpoints::since_the_last;
use super::facts::Facts;
use super::guards::{self, Depth};
use super::job::{QUEUED, recreate};
use super::kind::Kind;
use super::object::{array, condition, is_being_deleted, is_set, name, number, set, text, uid};
use super::plan::{Action, Plan};
use super::strip::{renamed, strip};
use super::{Order, names, volumes};
use crate::report::RefusalReason;
use crate::words::counted;

pub(super) fn plan(facts: &Facts, order: &Order) -> Plan {
    match (has_ended(&facts.object), order.keep) {
        (true, true) => copied(facts, order),
        (true, false) => recreated(facts, order),
        (false, _) => resumed(facts, order),
    }
}

/// One that has not is suspended, and resumed when its pods have ended.
pub(super) fn has_ended(job_set: &Value) -> bool {
    !text(job_set, "/status/terminalState").is_empty() || condition(job_set, &["Failed", "Completed"]).is_some()
}

/// Source: JobSet `pkg/controllers/volume_claim_policy.go`, `GeneratePVCName`.
fn copied(facts: &Facts, order: &Order) -> Plan {
    let mut plan = Plan::default();
    guards::check(&mut plan, facts, order, Depth::Copied);
    let manifest = manifest(&mut plan, facts, order);
    let new = names::with_suffix(&order.name, &manifest["spec"], order.now);
    plan.summary = format!("a new JobSet {new} is made from its own spec, and the old one stays");
    if !array(&facts.object, "/spec/volumeClaimPolicies").is_empty() {
        plan.note(format!(
            "the volumes of its volumeClaimPolicies are named after the JobSet: {new} begins with new and empty ones"
        ));
    }
    done_again(&mut plan, facts);
    plan.step(
        format!("create jobset/{new} from the spec of {}", order.subject()),
        Action::Create { object: facts.at.named(&new), replaces: None, manifest: renamed(manifest, &new) },
    );
    plan.next = vec![order.commands.kubectl(&["sigapps", "explain", &format!("jobset/{new}")])];
    plan
}

fn has_completed(facts: &Facts) -> bool {
    text(&facts.object, "/status/terminalState") == "Completed" || condition(&facts.object, &["Completed"]).is_some()
}

fn completed_jobs(facts: &Facts) -> Vec<&str> {
    facts.jobs.iter().filter(|job| condition(job, &["Complete"]).is_some()).map(name).collect()
}

/// What succeeded is done all over again, which nobody may have meant.
fn done_again(plan: &mut Plan, facts: &Facts) {
    let done = completed_jobs(facts);
    if has_completed(facts) {
        plan.note("it has succeeded: all that it did is done again");
    } else if !done.is_empty() {
        plan.note(format!("Jobs that have completed are run again: {}", done.join(", ")));
    }
}

fn recreated(facts: &Facts, order: &Order) -> Plan {
    let mut plan = Plan::default();
    let ended = if has_completed(facts) { "completed" } else { "failed" };
    plan.summary = format!("it has {ended}: it is deleted, and made again from its own spec");
    guards::check(&mut plan, facts, order, Depth::Recreated);
    volumes::at_risk(&mut plan, facts, order);
    done_again(&mut plan, facts);
    let owners: Vec<&str> = std::iter::once(&facts.object).chain(&facts.jobs).map(uid).collect();
    volumes::go_with(&mut plan, facts, order, &facts.pods.iter().collect::<Vec<_>>(), &owners);
    let mut manifest = manifest(&mut plan, facts, order);
    volumes::use_again(&mut plan, facts, &mut manifest);
    recreate(&mut plan, facts, order, manifest);
    plan.loses.extend(facts.pods_and_logs());
    if !facts.jobs.is_empty() {
        let names: Vec<&str> = facts.jobs.iter().map(name).collect();
        let their = if names.len() == 1 { "its" } else { "their" };
        plan.lose(format!("{} with {their} conditions: {}", counted(names.len(), "Job"), names.join(", ")));
    }
    let restarts = number(&facts.object, "/status/restarts").unwrap_or_default();
    let restarts = counted(usize::try_from(restarts).unwrap_or_default(), "restart");
    plan.lose(format!("its status: conditions and restart counters ({restarts}), which begin at 0 again"));
    plan.lose(since_the_last(&facts.object));
    plan.next = vec![order.commands.kubectl(&["sigapps", "explain", &order.subject()])];
    plan
}

fn manifest(plan: &mut Plan, facts: &Facts, order: &Order) -> Value {
    let mut manifest = order.changed(plan, strip(Kind::JobSet, &facts.object));
    if guards::queue(&facts.object).is_some() {
        set(&mut manifest, &["spec", "suspend"], true);
        plan.note(QUEUED);
    }
    manifest
}

fn resumed(facts: &Facts, order: &Order) -> Plan {
    let mut plan = Plan::default();
    "it is suspended, and resumed when its pods have ended".clone_into(&mut plan.summary);
    guards::check(&mut plan, facts, order, Depth::Toggled);
    if order.keep {
        plan.refuse(
            RefusalReason::NotPossible,
            format!("--keep is for what has ended, and {} has not", order.subject()),
            vec![order.plain_command()],
        );
    }
    if order.patch.is_some() {
        plan.refuse(
            RefusalReason::NotPossible,
            format!("--patch is for what is made again, and {} has not ended: its spec is fixed", order.subject()),
            Vec::new(),
        );
    }
    suspended_by_others(&mut plan, facts, order);
    still_running(&mut plan, facts, order);
    let (object, uid) = (facts.at.clone(), uid(&facts.object));
    let suspend = |value: bool| json!({"metadata": {"uid": uid}, "spec": {"suspend": value}});
    let subject = order.subject();
    plan.step(format!("suspend {subject}"), Action::Patch { object: object.clone(), body: suspend(true) });
    plan.step(
        format!("wait until {subject} is suspended and its pods have ended"),
        Action::AwaitSuspended { object: object.clone(), uid: uid.to_owned() },
    );
    plan.step(format!("resume {subject}"), Action::Patch { object, body: suspend(false) });
    volumes::go_with(&mut plan, facts, order, &facts.running().collect::<Vec<_>>(), &[]);
    resumed_losses(&mut plan, facts);
    plan.next = vec![order.commands.kubectl(&["sigapps", "explain", &subject])];
    plan
}

/// Finished Jobs are not run again. Source: JobSet `pkg/controllers/jobset_controller.go`, `suspendJobs`.
fn resumed_losses(plan: &mut Plan, facts: &Facts) {
    let running = Facts { pods: facts.running().cloned().collect(), ..Facts::default() };
    let lost = running.pods_and_logs();
    if lost.is_some() {
        plan.lose(since_the_last(&facts.object));
    }
    plan.loses.splice(0..0, lost);
    let done = completed_jobs(facts);
    if !done.is_empty() {
        plan.note(format!("Jobs that have completed are not run again: {}", done.join(", ")));
    }
    plan.note("its restart counters stay as they are: this is not counted as a restart");
}

fn suspended_by_others(plan: &mut Plan, facts: &Facts, order: &Order) {
    if let Some(queue) = guards::queue(&facts.object) {
        let selector = format!("kueue.x-k8s.io/job-uid={}", uid(&facts.object));
        plan.refuse(
            RefusalReason::Kueue,
            format!(
                "Kueue decides when {} is suspended (queue {queue}): set spec.active of its Workload to false and then to \
                 true again instead",
                order.subject()
            ),
            vec![order.commands.kubectl(&["get", "workloads.kueue.x-k8s.io", "-l", &selector])],
        );
    } else if is_set(&facts.object, "/spec/suspend") {
        plan.refuse(
            RefusalReason::Suspended,
            format!("{} is suspended by somebody else: find out why, and resume it", order.subject()),
            vec![order.commands.merge("jobset", &order.name, r#"{"spec":{"suspend":false}}"#)],
        );
    }
}

/// A `JobSet` that runs, or that deals with a failure, is left to its controller. One whose pods all wait, for nodes or
/// images, has nothing to lose.
fn still_running(plan: &mut Plan, facts: &Facts, order: &Order) {
    let failing =
        facts.jobs.iter().find(|job| !is_being_deleted(job) && condition(job, &["Failed", "FailureTarget"]).is_some());
    let why = match (condition(&facts.object, &["RestartingJobSet"]), failing, running(facts)) {
        (Some(condition), ..) => format!("is being restarted by its controller ({})", text(condition, "/reason")),
        (None, Some(job), _) => format!("is about to be judged by its controller: job/{} fails", name(job)),
        (None, None, Some(running)) => format!("has not ended: {running}"),
        (None, None, None) => {
            plan.note(format!("no pod of {} runs: {}", order.subject(), restarts_left(&facts.object)));
            return;
        }
    };
    let state = format!("{} {why}; {}", order.subject(), restarts_left(&facts.object));
    if order.force {
        plan.note(state);
    } else {
        plan.refuse(
            RefusalReason::StillRunning,
            format!("{state}; wait for its end, or go on with --force"),
            vec![order.again_with("--force")],
        );
    }
}

/// What of it runs, if anything does.
fn running(facts: &Facts) -> Option<String> {
    let count = facts.pods.iter().filter(|pod| text(pod, "/status/phase") == "Running").count();
    let of_jobs = array(&facts.object, "/status/replicatedJobsStatus").iter();
    let ready = of_jobs.filter_map(|jobs| number(jobs, "/ready")).sum::<i64>();
    match count {
        0 if ready > 0 => Some(format!("{ready} of its Jobs are ready")),
        0 => None,
        count => Some(format!("{} of its {} run", count, counted(facts.running().count(), "pod"))),
    }
}

/// Source: JobSet `pkg/controllers/failure_policy.go`, `failurePolicyRecreateAll`.
fn restarts_left(job_set: &Value) -> String {
    let most = number(job_set, "/spec/failurePolicy/maxRestarts").unwrap_or_default();
    if most == 0 {
        return "its controller would not restart it (maxRestarts 0)".to_owned();
    }
    let counted = number(job_set, "/status/restartsCountTowardsMax").unwrap_or_default();
    format!("{} of {most} restarts left", (most - counted).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::restart::tests::{facts, order};

    fn job_set(status: &Value) -> Value {
        json!({
            "metadata": {"name": "llama", "namespace": "ml", "uid": "u1"},
            "spec": {
                "failurePolicy": {"maxRestarts": 4},
                "volumeClaimPolicies": [{"templates": [{"metadata": {"name": "checkpoints"}}]}],
                "replicatedJobs": [{"name": "w", "template": {"spec": {"template": {"spec": {"containers": [
                    {"name": "trainer", "volumeMounts": [{"name": "checkpoints", "mountPath": "/data"}]}]}}}}}],
            },
            "status": status,
        })
    }

    fn verbs(plan: &Plan) -> Vec<&'static str> {
        plan.steps.iter().map(|step| step.action.verb().unwrap_or("wait")).collect()
    }

    #[test]
    fn what_runs_is_suspended_and_resumed_and_what_has_ended_is_made_again() {
        let running = facts(&job_set(&json!({"restartsCountTowardsMax": 1})));
        let planned = plan(&running, &order(Kind::JobSet, "llama"));
        assert_eq!(verbs(&planned), ["patch", "wait", "patch"]);
        let said = "no pod of jobset/llama runs: 3 of 4 restarts left";
        assert!(planned.notes.iter().any(|note| note == said), "{planned:?}");
        for status in
            [json!({"terminalState": "Failed"}), json!({"conditions": [{"type": "Completed", "status": "True"}]})]
        {
            let ended = facts(&job_set(&status));
            assert_eq!(verbs(&plan(&ended, &order(Kind::JobSet, "llama"))), ["delete", "wait", "create"]);
            let kept = plan(&ended, &Order { keep: true, ..order(Kind::JobSet, "llama") });
            assert_eq!(verbs(&kept), ["create"]);
            assert!(kept.notes.iter().any(|notice| notice.contains("new and empty")), "{kept:?}");
        }
        let kept = plan(&running, &Order { keep: true, ..order(Kind::JobSet, "llama") });
        assert_eq!(kept.refusals[0].reason, RefusalReason::NotPossible);
    }

    #[test]
    fn somebody_elses_suspend_and_a_restart_under_way_are_left_alone() {
        let refusal = |job_set: &Value, force| {
            let planned = plan(&facts(job_set), &Order { force, ..order(Kind::JobSet, "llama") });
            planned.refusals.first().map(|refusal| refusal.reason)
        };
        let mut queued = job_set(&json!({}));
        queued["metadata"]["labels"] = json!({"kueue.x-k8s.io/queue-name": "gpus"});
        assert_eq!(refusal(&queued, true), Some(RefusalReason::Kueue));
        queued["status"] = json!({"terminalState": "Failed"});
        assert_eq!(refusal(&queued, false), None);
        let mut suspended = job_set(&json!({}));
        suspended["spec"]["suspend"] = true.into();
        assert_eq!(refusal(&suspended, true), Some(RefusalReason::Suspended));
        let restarting = job_set(&json!({"conditions": [{"type": "RestartingJobSet", "status": "True"}]}));
        assert_eq!(refusal(&restarting, false), Some(RefusalReason::StillRunning));
        assert_eq!(refusal(&restarting, true), None);
    }

    #[test]
    fn a_failing_job_waits_for_the_controllers_judgement() {
        let mut failing = facts(&job_set(&json!({})));
        failing.jobs = vec![json!({
            "metadata": {"name": "llama-w-0"}, "status": {"conditions": [{"type": "FailureTarget", "status": "True"}]},
        })];
        let refused = plan(&failing, &order(Kind::JobSet, "llama"));
        assert!(refused.refusals[0].message.contains("job/llama-w-0 fails; 4 of 4 restarts left"), "{refused:?}");
    }

    #[test]
    fn one_that_runs_is_restarted_by_force_alone() {
        let pods = |phases: &[&str]| phases.iter().map(|phase| json!({"status": {"phase": phase}})).collect::<Vec<_>>();
        let ready = json!({"replicatedJobsStatus": [{"name": "w", "ready": 2}]});
        let status = json!({});
        for (status, phases, said) in [
            (&status, &["Running", "Pending", "Succeeded"][..], Some("1 of its 2 pods run; 4 of 4 restarts")),
            (&status, &["Pending", "Pending"], None),
            (&status, &[], None),
            (&ready, &[], Some("2 of its Jobs are ready")),
        ] {
            let mut known = facts(&job_set(status));
            known.pods = pods(phases);
            let refused = plan(&known, &order(Kind::JobSet, "llama"));
            let reason = refused.refusals.first().map(|refusal| refusal.reason);
            assert_eq!(reason, said.map(|_| RefusalReason::StillRunning), "{refused:?}");
            assert!(
                refused.refusals.iter().all(|refusal| refusal.message.contains(said.unwrap_or("?"))),
                "{refused:?}"
            );
            let forced = plan(&known, &Order { force: true, ..order(Kind::JobSet, "llama") });
            assert!(forced.refusals.is_empty(), "{forced:?}");
            assert_eq!(forced.notes.iter().any(|notice| notice.contains(said.unwrap_or("?"))), said.is_some());
        }
        let mut without = job_set(&json!({}));
        without["spec"]["failurePolicy"] = json!({});
        let planned = plan(&facts(&without), &order(Kind::JobSet, "llama"));
        assert!(planned.notes.iter().any(|notice| notice.ends_with("(maxRestarts 0)")), "{planned:?}");
    }

    #[test]
    fn what_has_succeeded_is_said_to_be_done_again() {
        let completed = job_set(&json!({"terminalState": "Completed", "restarts": 1}));
        for keep in [false, true] {
            let planned = plan(&facts(&completed), &Order { keep, ..order(Kind::JobSet, "llama") });
            assert!(
                planned.notes.iter().any(|n| n == "it has succeeded: all that it did is done again"),
                "{planned:?}"
            );
        }
        let planned = plan(&facts(&completed), &order(Kind::JobSet, "llama"));
        assert!(planned.summary.starts_with("it has completed: "), "{planned:?}");
        assert!(planned.loses.iter().any(|loss| loss.contains("(1 restart), which begin at 0")), "{planned:?}");
        let mut failed = facts(&job_set(&json!({"terminalState": "Failed"})));
        failed.jobs = ["Complete", "Failed"]
            .map(|kind| json!({"metadata": {"name": kind}, "status": {"conditions": [{"type": kind, "status": "True"}]}}))
            .into();
        let planned = plan(&failed, &order(Kind::JobSet, "llama"));
        assert!(planned.notes.iter().any(|n| n == "Jobs that have completed are run again: Complete"), "{planned:?}");
    }
}
