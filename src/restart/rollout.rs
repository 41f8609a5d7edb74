//! Deployments, `StatefulSet`s and `DaemonSet`s replace their pods when the pods' template changes.

use serde_json::{Value, json};

use super::Order;
use super::facts::Facts;
use super::gather::selector;
use super::guards::{self, Depth};
use super::kind::Kind;
use super::object::{is_set, name, number, text, uid};
use super::plan::{Action, Plan};
use super::volumes;
use crate::report::RefusalReason;
use crate::words::counted;

/// Source: kubectl `pkg/polymorphichelpers/objectrestarter.go`.
const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

pub(super) fn plan(facts: &Facts, order: &Order) -> Plan {
    let mut plan = Plan::default();
    let subject = order.subject();
    "its pods are replaced as its update strategy says".clone_into(&mut plan.summary);
    guards::check(&mut plan, facts, order, Depth::Changed);
    if order.keep {
        plan.refuse(
            RefusalReason::NotPossible,
            format!("--keep is for Jobs and JobSets, not for {subject}"),
            vec![order.plain_command()],
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
    let replaced = replaced(facts);
    volumes::go_with(&mut plan, facts, order, &replaced.pods.iter().collect::<Vec<_>>(), &[]);
    plan.loses.extend(replaced.pods_and_logs());
    plan.next = vec![order.commands.kubectl(&["rollout", "status", &subject])];
    plan
}

/// Where the strategy keeps pods as they are, the restart does, too. One that would replace none is none.
fn strategy(plan: &mut Plan, facts: &Facts, order: &Order) {
    let (subject, first) = (order.subject(), first_replaced(facts));
    if order.kind != Kind::DaemonSet && replicas(facts) == 0 {
        "it has 0 replicas: no pod is replaced".clone_into(&mut plan.summary);
    } else if is_on_delete(facts) {
        let selector = selector(&facts.object["spec"]["selector"]);
        let mut commands = vec![order.commands.kubectl(&["get", "pods", "-l", &selector])];
        commands.extend(facts.pods.first().map(|pod| order.commands.kubectl(&["delete", "pod", name(pod)])));
        plan.refuse(
            RefusalReason::NotPossible,
            format!(
                "no pod of {subject} would be replaced, as its updateStrategy is OnDelete: delete its pods yourself"
            ),
            commands,
        );
    } else if first.is_some_and(|first| first >= start(facts) + replicas(facts)) {
        let patch = r#"{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}"#;
        plan.refuse(
            RefusalReason::NotPossible,
            format!(
                "no pod of {subject} would be replaced, as its updateStrategy has partition {} and it has {}: lower the \
                 partition first",
                partition(facts),
                counted(usize::try_from(replicas(facts)).unwrap_or_default(), "replica")
            ),
            vec![order.commands.merge(order.kind.name(), &order.name, patch)],
        );
    } else if let Some(first) = first {
        plan.summary = format!("its pods from ordinal {first} on are replaced (partition {})", partition(facts));
        plan.note(format!(
            "its updateStrategy has partition {}: pods of lower ordinals than {first} are not replaced",
            partition(facts)
        ));
    }
}

/// The pods that are replaced.
fn replaced(facts: &Facts) -> Facts {
    let first = first_replaced(facts);
    let is_replaced = |pod: &&Value| !is_on_delete(facts) && first.is_none_or(|first| ordinal(pod) >= Some(first));
    Facts { pods: facts.pods.iter().filter(is_replaced).cloned().collect(), ..Facts::default() }
}

fn is_on_delete(facts: &Facts) -> bool {
    text(&facts.object, "/spec/updateStrategy/type") == "OnDelete"
}

/// The lowest ordinal that a partition lets be replaced.
/// Source: Kubernetes `pkg/controller/statefulset/stateful_set_control.go`, `newVersionedStatefulSetPod`.
fn first_replaced(facts: &Facts) -> Option<i64> {
    Some(partition(facts)).filter(|partition| *partition > 0).map(|partition| start(facts) + partition)
}

/// Only a `StatefulSet` has one.
fn partition(facts: &Facts) -> i64 {
    number(&facts.object, "/spec/updateStrategy/rollingUpdate/partition").unwrap_or_default()
}

fn start(facts: &Facts) -> i64 {
    number(&facts.object, "/spec/ordinals/start").unwrap_or_default()
}

fn replicas(facts: &Facts) -> i64 {
    number(&facts.object, "/spec/replicas").unwrap_or(1)
}

fn ordinal(pod: &Value) -> Option<i64> {
    name(pod).rsplit('-').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
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
        let empty = planned(Kind::Deployment, &json!({"replicas": 0}));
        assert!(empty.refusals.is_empty() && empty.summary.contains("0 replicas: no pod is replaced"), "{empty:?}");
    }

    fn with_pods(kind: Kind, spec: &Value, pods: &[&str]) -> Plan {
        let mut facts = facts(&json!({"metadata": {"name": "db", "uid": "u1"}, "spec": spec}));
        facts.pods = pods.iter().map(|name| json!({"metadata": {"name": name}})).collect();
        plan(&facts, &order(kind, "db"))
    }

    #[test]
    fn a_restart_that_would_replace_no_pod_is_refused() {
        let on_delete = json!({"updateStrategy": {"type": "OnDelete"}, "selector": {"matchLabels": {"app": "db"}}});
        for kind in [Kind::StatefulSet, Kind::DaemonSet] {
            let refused = with_pods(kind, &on_delete, &["db-0", "db-1"]);
            assert!(refused.refusals[0].message.contains("updateStrategy is OnDelete"), "{refused:?}");
            assert_eq!(
                refused.refusals[0].commands,
                ["kubectl get pods -l app=db -n ml", "kubectl delete pod db-0 -n ml"]
            );
            assert!(refused.loses.is_empty(), "{refused:?}");
        }
        for (replicas, partition, start) in [(3, 3, 0), (3, 4, 5), (1, 1, 0)] {
            let spec = json!({
                "replicas": replicas, "ordinals": {"start": start},
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}},
            });
            let refused = with_pods(Kind::StatefulSet, &spec, &["db-0", "db-1", "db-2"]);
            assert!(refused.refusals[0].message.contains(&format!("partition {partition} and it has {replicas}")));
            assert!(refused.refusals[0].commands[0].starts_with("kubectl patch statefulset db "), "{refused:?}");
        }
    }

    #[test]
    fn a_partition_keeps_the_pods_below_it() {
        for (start, pods, lost) in [(0, ["db-0", "db-1", "db-2"], "db-2"), (5, ["db-5", "db-6", "db-7"], "db-7")] {
            let spec = json!({
                "replicas": 3, "ordinals": {"start": start}, "updateStrategy": {"rollingUpdate": {"partition": 2}},
            });
            let planned = with_pods(Kind::StatefulSet, &spec, &pods);
            assert!(planned.refusals.is_empty() && planned.summary.contains("partition 2"), "{planned:?}");
            assert!(planned.loses[0].starts_with("1 pod ") && planned.loses[0].ends_with(lost), "{planned:?}");
        }
        let all = with_pods(Kind::StatefulSet, &json!({"replicas": 2}), &["db-0", "db-1"]);
        assert!(all.loses[0].starts_with("2 pods ") && all.summary.contains("as its update strategy says"), "{all:?}");
    }
}
