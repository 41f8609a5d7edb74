//! Deployments, `StatefulSet`s and `DaemonSet`s replace their pods when the pods' template changes.

use serde_json::json;

use super::Order;
use super::facts::Facts;
use super::guards::{self, Depth};
use super::kind::Kind;
use super::object::{is_set, number, text, uid};
use super::plan::{Action, Plan};
use super::volumes;
use crate::report::RefusalReason;

/// Source: kubectl `pkg/polymorphichelpers/objectrestarter.go`.
const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";
/// The strategy by which no pod goes by itself.
const ON_DELETE: (&str, &str) = ("/spec/updateStrategy/type", "OnDelete");

pub(super) fn plan(facts: &Facts, order: &Order) -> Plan {
    let mut plan = Plan::default();
    let subject = order.subject();
    "its pods are replaced as its update strategy says".clone_into(&mut plan.summary);
    guards::check(&mut plan, facts, order, Depth::Changed);
    if order.keep {
        plan.refuse(
            RefusalReason::NotPossible,
            format!("--keep is for Jobs and JobSets, not for {subject}"),
            vec![order.commands.restart(order.kind.name(), &order.name, &[])],
        );
    }
    if order.kind == Kind::Deployment && is_set(&facts.object, "/spec/paused") {
        plan.refuse(
            RefusalReason::Paused,
            format!("{subject} is paused, so that nothing would be rolled out: resume it first"),
            vec![order.commands.kubectl(&["rollout", "resume", &subject])],
        );
    }
    strategy(&mut plan, facts, order);
    let body = json!({
        "metadata": {"uid": uid(&facts.object)},
        "spec": {"template": {"metadata": {"annotations": {RESTARTED_AT: order.now.to_string()}}}},
    });
    plan.step(
        format!("set the annotation {RESTARTED_AT} in the pod template of {subject}"),
        Action::Patch { object: facts.at.clone(), body },
    );
    if text(&facts.object, ON_DELETE.0) != ON_DELETE.1 {
        volumes::go_with(&mut plan, facts, order, &facts.pods.iter().collect::<Vec<_>>(), &[]);
    }
    plan.loses.extend(facts.pods_and_logs());
    plan.next = vec![order.commands.kubectl(&["rollout", "status", &subject])];
    plan
}

/// Where the strategy keeps pods as they are, the restart does, too.
fn strategy(plan: &mut Plan, facts: &Facts, order: &Order) {
    if text(&facts.object, ON_DELETE.0) == ON_DELETE.1 {
        plan.note("its updateStrategy is OnDelete: no pod is replaced before somebody deletes it");
    }
    let partition = number(&facts.object, "/spec/updateStrategy/rollingUpdate/partition").unwrap_or_default();
    if partition > 0 {
        plan.note(format!("its updateStrategy has partition {partition}: pods of lower ordinals are not replaced"));
    }
    if order.kind != Kind::DaemonSet && number(&facts.object, "/spec/replicas") == Some(0) {
        plan.note("it has 0 replicas: there is nothing to replace");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::restart::tests::{facts, order};

    fn planned(kind: Kind, spec: &Value) -> Plan {
        plan(&facts(&json!({"metadata": {"name": "web", "uid": "u1"}, "spec": spec})), &order(kind, "web"))
    }

    #[test]
    fn the_annotation_is_that_of_kubectl() {
        for kind in [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet] {
            let planned = planned(kind, &json!({}));
            let [step] = &planned.steps[..] else { panic!("{planned:?}") };
            let Action::Patch { body, .. } = &step.action else { panic!("{planned:?}") };
            let expected = json!({"kubectl.kubernetes.io/restartedAt": "2026-11-30T09:00:00Z"});
            assert_eq!(body.pointer("/spec/template/metadata/annotations"), Some(&expected));
            assert_eq!(body["metadata"]["uid"], "u1");
        }
    }

    #[test]
    fn what_holds_a_rollout_back_is_said() {
        let paused = planned(Kind::Deployment, &json!({"paused": true}));
        assert_eq!(paused.refusals[0].commands, ["kubectl rollout resume deployment/web -n ml"]);
        for (kind, spec, said) in [
            (Kind::DaemonSet, json!({"updateStrategy": {"type": "OnDelete"}}), "OnDelete"),
            (Kind::StatefulSet, json!({"updateStrategy": {"rollingUpdate": {"partition": 2}}}), "partition 2"),
            (Kind::Deployment, json!({"replicas": 0}), "0 replicas"),
        ] {
            let planned = planned(kind, &spec);
            assert!(planned.refusals.is_empty() && planned.notes[0].contains(said), "{planned:?}");
        }
    }
}
