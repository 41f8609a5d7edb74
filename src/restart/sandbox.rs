//! An Agent Sandbox has one pod. A failed one is never replaced by its controller, one that runs is ended by suspending.

use serde_json::{Value, json};

use super::Order;
use super::facts::Facts;
use super::guards::{self, Depth};
use super::object::{array, is_being_deleted, name, text, uid};
use super::plan::{Action, Plan};
use super::volumes;
use crate::report::RefusalReason;
use crate::source::cluster::Object;

/// Source: agent-sandbox `api/v1beta1`, `SandboxPodNameAnnotation`.
pub(super) const POD_NAME: &str = "agents.x-k8s.io/pod-name";

pub(super) fn plan(facts: &Facts, order: &Order) -> Plan {
    let mut plan = Plan::default();
    let pod = facts.pods.first().filter(|pod| !is_being_deleted(pod));
    let failed = pod.filter(|pod| text(pod, "/status/phase") == "Failed");
    guards::check(&mut plan, facts, order, if failed.is_some() { Depth::PodOnly } else { Depth::Toggled });
    if order.keep {
        plan.refuse(
            RefusalReason::NotPossible,
            format!("--keep is for Jobs and JobSets, not for {}", order.subject()),
            vec![order.plain_command()],
        );
    }
    match failed {
        Some(pod) => replaced(&mut plan, facts, pod),
        None => resumed(&mut plan, facts, order, pod),
    }
    volumes::go_with(&mut plan, facts, order, &facts.pods.iter().collect::<Vec<_>>(), &[]);
    state(&mut plan, facts);
    plan.next = vec![order.look()];
    plan
}

/// Source: agent-sandbox `controllers/sandbox_controller.go`: a pod that is gone is made again while the mode is Running.
fn replaced(plan: &mut Plan, facts: &Facts, pod: &Value) {
    "its failed pod is deleted, and its controller makes it again".clone_into(&mut plan.summary);
    let object = pod_at(facts, name(pod));
    let uid = uid(pod).to_owned();
    plan.step(
        format!("delete pod/{}, which has failed", object.name),
        Action::Delete { object: object.clone(), uid: uid.clone() },
    );
    plan.step(format!("wait until a new pod/{} is there", object.name), Action::AwaitReplaced { object, uid });
    plan.loses.extend(facts.pods_and_logs());
}

fn resumed(plan: &mut Plan, facts: &Facts, order: &Order, pod: Option<&Value>) {
    "it is suspended, and resumed when its pod is gone".clone_into(&mut plan.summary);
    let modes = Modes::of(&facts.object);
    if facts.object["spec"][modes.field] == modes.suspended {
        plan.refuse(
            RefusalReason::Suspended,
            format!("{} is suspended by somebody else: find out why, and resume it", order.subject()),
            vec![order.commands.merge(
                "sandbox",
                &order.name,
                &json!({"spec": {modes.field: modes.running}}).to_string(),
            )],
        );
    }
    let (object, subject, own) = (facts.at.clone(), order.subject(), uid(&facts.object));
    let set = |mode: &Value| json!({"metadata": {"uid": own}, "spec": {modes.field: mode}});
    plan.step(format!("suspend {subject}"), Action::Patch { object: object.clone(), body: set(&modes.suspended) });
    if let Some(pod) = pod {
        let gone = Action::AwaitGone { object: pod_at(facts, name(pod)), uid: uid(pod).to_owned() };
        plan.step(format!("wait until pod/{} is gone", name(pod)), gone);
    }
    plan.step(format!("resume {subject}"), Action::Patch { object, body: set(&modes.running) });
    plan.loses.extend(facts.pods_and_logs());
}

/// How a version spells what runs and what does not.
struct Modes {
    field: &'static str,
    suspended: Value,
    running: Value,
}

impl Modes {
    /// Source: agent-sandbox `api/v1beta1` and `api/v1alpha1`, `SandboxSpec`.
    fn of(sandbox: &Value) -> Self {
        if text(sandbox, "/apiVersion").ends_with("/v1alpha1") {
            Self { field: "replicas", suspended: json!(0), running: json!(1) }
        } else {
            Self { field: "operatingMode", suspended: json!("Suspended"), running: json!("Running") }
        }
    }
}

fn pod_at(facts: &Facts, name: &str) -> Object {
    facts.at.named(name).beside("v1", "pods")
}

/// Claims of volumeClaimTemplates outlive the pod; what is in its containers does not.
fn state(plan: &mut Plan, facts: &Facts) {
    let sandbox = name(&facts.object);
    let claims: Vec<String> = array(&facts.object, "/spec/volumeClaimTemplates")
        .iter()
        .map(|template| format!("pvc/{}-{sandbox}", name(template)))
        .collect();
    if claims.is_empty() {
        plan.lose("all state in it: it has no volumeClaimTemplates, and the containers' disks go with the pod");
    } else {
        plan.note(format!("state on {} is kept", claims.join(", ")));
        plan.lose("state elsewhere than on these volumes: memory, processes, the containers' own disks");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::restart::kind::Kind;
    use crate::restart::tests::{facts, order};

    fn sandbox(version: &str, phase: Option<&str>, spec: &Value) -> Plan {
        let mut facts = facts(&json!({
            "apiVersion": format!("agents.x-k8s.io/{version}"), "metadata": {"name": "box", "uid": "u1"}, "spec": spec,
        }));
        let pod = |phase| json!({"metadata": {"name": "box", "uid": "p1"}, "status": {"phase": phase}});
        facts.pods = phase.map(pod).into_iter().collect();
        plan(&facts, &order(Kind::Sandbox, "box"))
    }

    #[test]
    fn a_failed_pod_is_deleted_and_one_that_runs_is_ended_by_suspending() {
        let steps = |plan: &Plan| plan.steps.iter().map(|step| step.action.clone()).collect::<Vec<_>>();
        let failed = sandbox("v1beta1", Some("Failed"), &json!({}));
        assert!(
            matches!(&steps(&failed)[..], [Action::Delete { uid, .. }, Action::AwaitReplaced { .. }] if uid == "p1")
        );
        for (version, suspended, running) in [
            ("v1beta1", json!({"operatingMode": "Suspended"}), json!({"operatingMode": "Running"})),
            ("v1alpha1", json!({"replicas": 0}), json!({"replicas": 1})),
        ] {
            let planned = sandbox(version, Some("Running"), &json!({}));
            let [Action::Patch { body: first, .. }, Action::AwaitGone { .. }, Action::Patch { body: last, .. }] =
                &steps(&planned)[..]
            else {
                panic!("{planned:?}")
            };
            assert_eq!((&first["spec"], &last["spec"]), (&suspended, &running));
            let refused = sandbox(version, None, &suspended);
            assert_eq!(refused.refusals[0].reason, RefusalReason::Suspended);
        }
    }

    #[test]
    fn what_becomes_of_its_state_is_said() {
        let lost = sandbox("v1beta1", Some("Failed"), &json!({}));
        assert!(lost.loses.iter().any(|loss| loss.contains("all state")), "{lost:?}");
        let kept = sandbox("v1beta1", None, &json!({"volumeClaimTemplates": [{"metadata": {"name": "home"}}]}));
        assert_eq!(kept.notes, ["state on pvc/home-box is kept"]);
    }
}
