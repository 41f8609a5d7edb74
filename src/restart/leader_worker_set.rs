//! A group of a `LeaderWorkerSet` is made anew when its leader pod is gone.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Order;
use super::facts::Facts;
use super::guards::{self, Depth};
use super::object::{controller, is_being_deleted, is_ready, label, name, number, text, uid};
use super::plan::{Action, Plan};
use super::volumes;
use crate::report::RefusalReason;
use crate::words::counted;

/// Source: LeaderWorkerSet `api/leaderworkerset/v1`.
pub(super) const NAME: &str = "leaderworkerset.sigs.k8s.io/name";
const GROUP: &str = "leaderworkerset.sigs.k8s.io/group-index";
const WORKER: &str = "leaderworkerset.sigs.k8s.io/worker-index";

/// One group: its leader, if it is there, and all its pods.
struct Group<'a> {
    index: u32,
    leader: Option<&'a Value>,
    pods: Vec<&'a Value>,
    size: i64,
}

impl Group<'_> {
    fn is_ready(&self) -> bool {
        i64::try_from(self.pods.len()).is_ok_and(|pods| pods >= self.size) && self.pods.iter().all(|pod| is_ready(pod))
    }

    fn state(&self) -> String {
        let ready = self.pods.iter().filter(|pod| is_ready(pod)).count();
        format!("{} ({ready} of {} pods ready)", self.index, self.size)
    }
}

pub(super) fn plan(facts: &Facts, order: &Order) -> Plan {
    let mut plan = Plan::default();
    "the leader pod of one group is deleted, and its controller makes the group anew".clone_into(&mut plan.summary);
    guards::check(&mut plan, facts, order, Depth::PodOnly);
    if order.keep {
        plan.refuse(
            RefusalReason::NotPossible,
            format!("--keep is for Jobs and JobSets, not for {}", order.subject()),
            vec![order.plain_command()],
        );
    }
    let groups = groups(facts);
    match choose(&groups, order.group) {
        Some(group) => restart(&mut plan, facts, order, group),
        None => which(&mut plan, &groups, order),
    }
    plan
}

fn groups(facts: &Facts) -> Vec<Group<'_>> {
    let replicas = number(&facts.object, "/spec/replicas").unwrap_or(1).max(0);
    let size = number(&facts.object, "/spec/leaderWorkerTemplate/size").unwrap_or(1);
    let all = (0..u32::try_from(replicas).unwrap_or_default()).map(|index| {
        let of_group = |pod: &&Value| label(pod, GROUP) == Some(index.to_string().as_str());
        let pods: Vec<&Value> = facts.pods.iter().filter(of_group).collect();
        let leader = pods.iter().copied().find(|pod| label(pod, WORKER) == Some("0"));
        Group { index, leader, pods, size }
    });
    all.collect()
}

/// The group asked for, else the only one, else the only one that is not ready.
fn choose<'a>(groups: &'a [Group<'a>], asked: Option<u32>) -> Option<&'a Group<'a>> {
    if asked.is_some() {
        return groups.iter().find(|group| Some(group.index) == asked);
    }
    if let [only] = groups {
        return Some(only);
    }
    let mut not_ready = groups.iter().filter(|group| !group.is_ready());
    not_ready.next().filter(|_| not_ready.next().is_none())
}

fn which(plan: &mut Plan, groups: &[Group], order: &Order) {
    let subject = order.subject();
    let listed: Vec<String> = groups.iter().map(Group::state).collect();
    let there = match listed[..] {
        [] => "it has none (replicas 0)".to_owned(),
        _ => format!("its groups are {}", listed.join(", ")),
    };
    let message = match order.group {
        Some(asked) => format!("{subject} has no group {asked}: {there}"),
        None => format!("say with --group which group of {subject} to restart: {there}"),
    };
    let example = groups.iter().find(|group| !group.is_ready()).or(groups.first());
    let command = example.map(|group| {
        let group = group.index.to_string();
        order.command_with(&["--group", &group])
    });
    plan.refuse(RefusalReason::WhichGroup, message, command.into_iter().collect());
}

fn restart(plan: &mut Plan, facts: &Facts, order: &Order, group: &Group) {
    let index = group.index;
    let selector = format!("{NAME}={},{GROUP}={index}", &order.name);
    plan.next = vec![order.commands.kubectl(&["get", "pods", "-l", &selector])];
    let Some(leader) = group.leader.filter(|leader| !is_being_deleted(leader)) else {
        plan.refuse(
            RefusalReason::StillRunning,
            format!("group {index} of {} is being made anew already: it has no leader pod now", order.subject()),
            plan.next.clone(),
        );
        return;
    };
    plan.summary = format!("group {index} is made anew by its controller, after its leader pod is deleted");
    let object = facts.at.named(name(leader)).beside("v1", "pods");
    let uid = uid(leader).to_owned();
    plan.step(
        format!("delete pod/{}, the leader of group {index}, its workers first", object.name),
        Action::Delete { object: object.clone(), uid: uid.clone() },
    );
    plan.step(format!("wait until a new pod/{} is there", object.name), Action::AwaitReplaced { object, uid });
    group_volumes(plan, facts, order, group);
    let pods: Vec<Value> = group.pods.iter().copied().cloned().collect();
    plan.loses.extend(Facts { pods, ..Facts::default() }.pods_and_logs());
    plan.lose(super::checkpoints::since_the_last(&facts.object));
    if group.is_ready() {
        plan.note(format!("group {index} runs well: all its {} are ready", counted(group.pods.len(), "pod")));
    }
}

/// The workers' `StatefulSet` belongs to the leader pod and goes with it, and with it the claims that it owns; the leader's
/// own claims stay. Source: LeaderWorkerSet `pkg/controllers/pod_controller.go`, `setControllerReferenceWithStatefulSet`.
fn group_volumes(plan: &mut Plan, facts: &Facts, order: &Order, group: &Group) {
    let workers: Vec<&Value> = group.pods.iter().copied().filter(|pod| label(pod, WORKER) != Some("0")).collect();
    let owners: BTreeSet<&str> =
        workers.iter().filter_map(|pod| controller(pod)).map(|owner| text(owner, "/uid")).collect();
    let owners: Vec<&str> = owners.into_iter().collect();
    volumes::go_with(plan, facts, order, &group.pods, &owners);
    volumes::of_workers_unread(plan, facts, order, &workers);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::restart::kind::Kind;
    use crate::restart::tests::{facts, order};

    /// Groups of two pods; `ready` says of each group whether its pods are.
    fn served(ready: &[bool]) -> Facts {
        let mut facts = facts(&json!({
            "metadata": {"name": "vllm", "uid": "u1"},
            "spec": {"replicas": ready.len(), "leaderWorkerTemplate": {"size": 2}},
        }));
        for (group, ready) in ready.iter().enumerate() {
            for worker in 0..2 {
                let suffix = if worker == 0 { String::new() } else { format!("-{worker}") };
                let status = if *ready { "True" } else { "False" };
                facts.pods.push(json!({
                    "metadata": {"name": format!("vllm-{group}{suffix}"), "uid": format!("p{group}{worker}"), "labels": {
                        NAME: "vllm", GROUP: group.to_string(), WORKER: worker.to_string()}},
                    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": status}]},
                }));
            }
        }
        facts
    }

    #[test]
    fn the_group_is_the_one_asked_for_the_only_one_or_the_only_one_not_ready() {
        for (ready, asked, leader) in [
            (&[true][..], None, Some("vllm-0")),
            (&[true, false, true], None, Some("vllm-1")),
            (&[true, true], Some(1), Some("vllm-1")),
            (&[true, true], None, None),
            (&[false, false], None, None),
            (&[true, true], Some(2), None),
            (&[], None, None),
        ] {
            let planned = plan(&served(ready), &Order { group: asked, ..order(Kind::LeaderWorkerSet, "vllm") });
            let deleted = planned.steps.first().map(|step| step.action.object().name.as_str());
            assert_eq!(deleted, leader, "{ready:?} {asked:?}");
            assert_eq!(planned.refusals.is_empty(), leader.is_some(), "{planned:?}");
        }
        let refused = plan(&served(&[true, true]), &order(Kind::LeaderWorkerSet, "vllm"));
        assert!(refused.refusals[0].message.contains("0 (2 of 2 pods ready), 1 (2 of 2 pods ready)"), "{refused:?}");
        assert_eq!(refused.refusals[0].commands, ["kubectl sigapps restart leaderworkerset/vllm --group 0 -n ml"]);
    }
}
