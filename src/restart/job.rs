//! Jobs are made again from their own spec, as a finished one cannot be started and a running one not be reset.

use super::checkpoints::since_the_last;
use super::facts::Facts;
use super::gather::pods_of;
use super::guards::{self, Depth};
use super::kind::Kind;
use super::object::{condition, is_set, number, set, text, uid};
use super::plan::{Action, Plan};
use super::strip::{renamed, strip};
use super::{Order, names, volumes};
use crate::policy::{Retries, backoff_limit};
use crate::report::RefusalReason;

pub(super) fn plan(facts: &Facts, order: &Order) -> Plan {
    let mut plan = Plan::default();
    let depth = if order.keep { Depth::Copied } else { Depth::Recreated };
    guards::check(&mut plan, facts, order, depth);
    if waits_for_its_resumption(facts, order) {
        suspended(&mut plan, facts, order);
    } else {
        still_running(&mut plan, facts, order);
    }
    failed_by_rule(&mut plan, facts);
    done_again(&mut plan, facts);
    let mut manifest = order.changed(&mut plan, strip(Kind::Job, &facts.object));
    if guards::queue(&facts.object).is_some() {
        set(&mut manifest, &["spec", "suspend"], true);
        plan.note(QUEUED);
    } else if is_set(&manifest, "/spec/suspend") {
        plan.note("spec.suspend is true, and stays so: the new Job waits until it is resumed");
    }
    let selector = if order.keep {
        selector_of_both(&mut plan, facts, order, &manifest);
        let name = names::with_suffix(&order.name, &manifest["spec"], order.now);
        manifest = renamed(manifest, &name);
        let selector = pods_of(&manifest);
        plan.summary = format!("a new Job {name} is made from its own spec, and the old one stays");
        plan.step(
            format!("create job/{name} from the spec of job/{}", &order.name),
            Action::Create { object: facts.at.named(&name), replaces: None, manifest },
        );
        selector
    } else {
        let selector = pods_of(&manifest);
        "the old Job is deleted, and made again from its own spec".clone_into(&mut plan.summary);
        recreate(&mut plan, facts, order, manifest);
        volumes::go_with(&mut plan, facts, order, &facts.pods.iter().collect::<Vec<_>>(), &[uid(&facts.object)]);
        losses(&mut plan, facts);
        selector
    };
    plan.next = vec![order.commands.kubectl(&["get", "pods", "-l", &selector])];
    plan
}

/// A selector that its author wrote goes into the copy as it is, and two Jobs with one selector may count and delete each
/// other's pods. Source: Kubernetes `batch/v1`, `JobSpec.manualSelector`.
fn selector_of_both(plan: &mut Plan, facts: &Facts, order: &Order, manifest: &serde_json::Value) {
    let selector = "/spec/selector";
    if is_set(manifest, "/spec/manualSelector") && manifest.pointer(selector) == facts.object.pointer(selector) {
        plan.refuse(
            RefusalReason::NotPossible,
            format!(
                "--keep would give a second Job the selector of {}, which its author wrote (manualSelector), and each may \
                 take the other's pods for its own: restart it without --keep, or give the new one a selector and labels \
                 of its own with --patch",
                order.subject()
            ),
            vec![order.plain_command()],
        );
    }
}

/// Kueue decides when it starts. Source: Kueue `pkg/controller/jobframework`, the default of `suspend`.
pub(super) const QUEUED: &str = "Kueue admits it anew: it is created suspended and starts when its queue has room; node \
                                 selectors and tolerations that Kueue put into the template are kept";

/// Deletes the object, waits for the name to be free, and creates it from `manifest`.
pub(super) fn recreate(plan: &mut Plan, facts: &Facts, order: &Order, manifest: serde_json::Value) {
    let (object, uid, subject) = (facts.at.clone(), uid(&facts.object).to_owned(), order.subject());
    plan.step(format!("delete {subject}, its pods first"), Action::Delete { object: object.clone(), uid: uid.clone() });
    plan.step(
        format!("wait until {subject} and its pods are gone"),
        Action::AwaitGone { object: object.clone(), uid: uid.clone() },
    );
    plan.step(format!("create {subject} from its own spec"), Action::Create { object, replaces: Some(uid), manifest });
}

fn losses(plan: &mut Plan, facts: &Facts) {
    plan.loses.extend(facts.pods_and_logs());
    let counted = |field| number(&facts.object, &format!("/status/{field}")).unwrap_or_default();
    let ended = condition(&facts.object, &["Failed", "Complete"]).map_or_else(String::new, |condition| {
        let reason = text(condition, "/reason");
        let because = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
        format!("; {}{because} since {}", text(condition, "/type"), text(condition, "/lastTransitionTime"))
    });
    plan.lose(format!("its status: {} failed and {} succeeded pods{ended}", counted("failed"), counted("succeeded")));
    plan.lose(since_the_last(&facts.object));
}

/// What succeeded is done all over again, which nobody may have meant.
fn done_again(plan: &mut Plan, facts: &Facts) {
    let indexes = text(&facts.object, "/status/completedIndexes");
    if let Some(complete) = condition(&facts.object, &["Complete", "SuccessCriteriaMet"]) {
        let since = text(complete, "/lastTransitionTime");
        let since = if since.is_empty() { String::new() } else { format!(" since {since}") };
        plan.note(format!("it has succeeded{since}: all that it did is done again"));
    } else if !indexes.is_empty() {
        plan.note(format!("its indexes {indexes} have succeeded, and are done again"));
    }
}

/// A rule says that trying again does not help. Source: KEP-3329, KEP-4443 for the reasons with a name behind.
fn failed_by_rule(plan: &mut Plan, facts: &Facts) {
    let failed = condition(&facts.object, &["Failed", "FailureTarget"]);
    if failed.is_some_and(|condition| text(condition, "/reason").starts_with("PodFailurePolicy")) {
        plan.note(
            "it failed by a FailJob rule of its podFailurePolicy: it will fail again unless the cause has been mended",
        );
    }
}

/// A suspended Job does not end, and made again from its spec it would be suspended again. A change may be what resumes it.
fn waits_for_its_resumption(facts: &Facts, order: &Order) -> bool {
    let has_ended = condition(&facts.object, &["Failed", "Complete", "FailureTarget", "SuccessCriteriaMet"]).is_some();
    !has_ended && is_set(&facts.object, "/spec/suspend") && order.patch.is_none()
}

fn suspended(plan: &mut Plan, facts: &Facts, order: &Order) {
    let subject = order.subject();
    if let Some(queue) = guards::queue(&facts.object) {
        let selector = format!("kueue.x-k8s.io/job-uid={}", uid(&facts.object));
        plan.refuse(
            RefusalReason::Kueue,
            format!("{subject} is suspended until Kueue admits it (queue {queue}): there is nothing to restart yet"),
            vec![order.commands.kubectl(&["get", "workloads.kueue.x-k8s.io", "-l", &selector])],
        );
    } else {
        plan.refuse(
            RefusalReason::Suspended,
            format!("{subject} is suspended: it does not end, and would be made suspended again; resume it instead"),
            vec![order.commands.merge(order.kind.name(), &order.name, r#"{"spec":{"suspend":false}}"#)],
        );
    }
}

/// A Job that is not over is left to its controller.
fn still_running(plan: &mut Plan, facts: &Facts, order: &Order) {
    let job = &facts.object;
    if condition(job, &["Failed", "Complete"]).is_some() {
        return;
    }
    let state = if condition(job, &["FailureTarget"]).is_some() {
        "has failed, and its pods are still being ended".to_owned()
    } else if condition(job, &["SuccessCriteriaMet"]).is_some() {
        "has succeeded, and its pods are still being ended".to_owned()
    } else if is_set(job, "/spec/suspend") {
        "is suspended and has not ended".to_owned()
    } else {
        format!("has not ended: {}", retries(facts))
    };
    if order.force {
        plan.note(format!("{} {state}", order.subject()));
        return;
    }
    plan.refuse(
        RefusalReason::StillRunning,
        format!("{} {state}; wait for its end, or go on with --force", order.subject()),
        vec![order.again_with("--force")],
    );
}

/// How many retries the controller still has.
fn retries(facts: &Facts) -> String {
    let job = &facts.object;
    let active = number(job, "/status/active").unwrap_or_default();
    let failed = number(job, "/status/failed").unwrap_or_default();
    if let Some(limit) = number(job, "/spec/backoffLimitPerIndex") {
        return format!("{active} active and {failed} failed pods, {limit} retries an index");
    }
    let count = |number: i64| u32::try_from(number).ok();
    let limit = backoff_limit(number(job, "/spec/backoffLimit").and_then(count), false);
    let left = Retries::after(count(failed).unwrap_or_default(), limit).left.unwrap_or_default();
    format!("{active} active and {failed} failed pods, {left} of {limit} retries left")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::restart::tests::{facts, order};

    fn job(condition: &str) -> Value {
        let conditions: Vec<Value> = Some(condition)
            .filter(|kind| !kind.is_empty())
            .map(|kind| json!({"type": kind, "status": "True", "reason": "BackoffLimitExceeded"}))
            .into_iter()
            .collect();
        json!({
            "metadata": {"name": "etl", "namespace": "ml", "uid": "u1"},
            "spec": {"backoffLimit": 3, "template": {}},
            "status": {"failed": 1, "active": 1, "conditions": conditions},
        })
    }

    #[test]
    fn a_job_that_has_not_ended_is_left_to_its_controller_unless_forced() {
        for (condition, said) in [
            ("", Some("1 active and 1 failed pods, 2 of 3 retries left")),
            ("FailureTarget", Some("its pods are still being ended")),
            ("SuccessCriteriaMet", Some("its pods are still being ended")),
            ("Failed", None),
            ("Complete", None),
        ] {
            for keep in [false, true] {
                let facts = facts(&job(condition));
                let refused = plan(&facts, &Order { keep, ..order(Kind::Job, "etl") });
                assert_eq!(refused.refusals.first().map(|r| r.message.contains(said.unwrap())), said.map(|_| true));
                let forced = plan(&facts, &Order { keep, force: true, ..order(Kind::Job, "etl") });
                assert!(forced.refusals.is_empty());
                assert_eq!(forced.notes.iter().any(|notice| notice.contains(said.unwrap_or("?"))), said.is_some());
            }
        }
    }

    #[test]
    fn a_suspended_job_is_to_be_resumed_and_not_made_suspended_again() {
        let mut suspended = job("");
        suspended["spec"]["suspend"] = true.into();
        for (keep, force) in [(false, false), (false, true), (true, true)] {
            let refused = plan(&facts(&suspended), &Order { keep, force, ..order(Kind::Job, "etl") });
            let [refusal] = &refused.refusals[..] else { panic!("{refused:?}") };
            assert_eq!(refusal.reason, RefusalReason::Suspended);
            assert_eq!(
                refusal.commands,
                [r#"kubectl patch job etl --type=merge -p '{"spec":{"suspend":false}}' -n ml"#]
            );
        }
        // With a change, what is made again may be resumed by it.
        let patch = r#"{"spec":{"suspend":false}}"#.parse().unwrap();
        let asked = Order { patch: Some(patch), ..order(Kind::Job, "etl") };
        assert_eq!(plan(&facts(&suspended), &asked).refusals[0].reason, RefusalReason::StillRunning);
        let forced = plan(&facts(&suspended), &Order { force: true, ..asked });
        assert!(forced.refusals.is_empty() && !forced.notes.iter().any(|n| n.contains("stays so")), "{forced:?}");
        suspended["metadata"]["labels"] = json!({"kueue.x-k8s.io/queue-name": "gpus"});
        let queued = plan(&facts(&suspended), &Order { force: true, ..order(Kind::Job, "etl") });
        assert_eq!(queued.refusals[0].reason, RefusalReason::Kueue);
        suspended["status"]["conditions"] = json!([{"type": "Failed", "status": "True"}]);
        assert!(plan(&facts(&suspended), &order(Kind::Job, "etl")).refusals.is_empty());
    }

    #[test]
    fn the_old_one_goes_first_or_stays_beside_a_new_one() {
        let facts = facts(&job("Failed"));
        let planned = plan(&facts, &order(Kind::Job, "etl"));
        let verbs: Vec<_> = planned.steps.iter().map(|step| step.action.verb()).collect();
        assert_eq!(verbs, [Some("delete"), None, Some("create")]);
        assert!(planned.loses.iter().any(|loss| loss.contains("Failed (BackoffLimitExceeded)")), "{planned:?}");
        let kept = plan(&facts, &Order { keep: true, ..order(Kind::Job, "etl") });
        assert!(kept.loses.is_empty());
        let [step] = &kept.steps[..] else { panic!("{kept:?}") };
        let Action::Create { object, replaces: None, manifest } = &step.action else { panic!("{kept:?}") };
        assert!(object.name.starts_with("etl-") && manifest["metadata"]["name"] == *object.name);
    }

    #[test]
    fn two_jobs_never_get_one_selector() {
        let selector = |app: &str| json!({"matchLabels": {"app": app}});
        let of_its_own =
            r#"{"spec":{"selector":{"matchLabels":{"app":"b"}},"template":{"metadata":{"labels":{"app":"b"}}}}}"#;
        for (manual, keep, patch, refused) in [
            (true, true, None, true),
            (true, true, Some(r#"{"spec":{"parallelism":2}}"#), true),
            (true, true, Some(of_its_own), false),
            (true, false, None, false),
            (false, true, None, false),
        ] {
            let mut job = job("Failed");
            job["spec"]["manualSelector"] = manual.into();
            job["spec"]["selector"] = selector("a");
            job["spec"]["template"] = json!({"metadata": {"labels": {"app": "a"}}});
            let patch = patch.map(|patch| patch.parse().unwrap());
            let planned = plan(&facts(&job), &Order { keep, patch: patch.clone(), ..order(Kind::Job, "etl") });
            let reasons: Vec<_> = planned.refusals.iter().map(|refusal| refusal.reason).collect();
            assert_eq!(reasons == [RefusalReason::NotPossible], refused, "{manual} {keep} {patch:?}: {planned:?}");
            assert!(refused || reasons.is_empty(), "{planned:?}");
        }
    }

    #[test]
    fn a_failure_that_its_rules_call_final_is_named() {
        for (reason, said) in [("PodFailurePolicy", true), ("PodFailurePolicy_oom", true), ("DeadlineExceeded", false)]
        {
            let mut job = job("Failed");
            job["status"]["conditions"][0]["reason"] = reason.into();
            let planned = plan(&facts(&job), &order(Kind::Job, "etl"));
            assert_eq!(planned.notes.iter().any(|notice| notice.contains("it will fail again")), said, "{reason}");
        }
    }

    #[test]
    fn what_has_succeeded_is_said_to_be_done_again() {
        for keep in [false, true] {
            for (condition, indexes, said) in [
                ("Complete", "", Some("it has succeeded since 2026-11-30T08:00:00Z: all that it did is done again")),
                ("Failed", "0,2-5", Some("its indexes 0,2-5 have succeeded, and are done again")),
                ("Failed", "", None),
            ] {
                let mut job = job(condition);
                job["status"]["conditions"][0]["lastTransitionTime"] = "2026-11-30T08:00:00Z".into();
                job["status"]["completedIndexes"] = indexes.into();
                let planned = plan(&facts(&job), &Order { keep, ..order(Kind::Job, "etl") });
                let found = planned.notes.iter().find(|notice| notice.contains("again"));
                assert_eq!(found.map(String::as_str), said, "{planned:?}");
            }
        }
    }

    #[test]
    fn a_queued_job_is_created_suspended() {
        let mut job = job("Failed");
        job["metadata"]["labels"] = json!({"kueue.x-k8s.io/queue-name": "gpus"});
        let planned = plan(&facts(&job), &order(Kind::Job, "etl"));
        let Some(Action::Create { manifest, .. }) = planned.steps.last().map(|step| &step.action) else { panic!() };
        assert_eq!(manifest["spec"]["suspend"], true);
        assert_eq!(planned.notes, [QUEUED]);
    }
}
