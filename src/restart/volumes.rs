//! Volume claims: what a restart takes with it, and how a new `JobSet` uses again what stays.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Order;
use super::checkpoints::{saved_on, templates};
use super::facts::{Claim, Facts, Fate, NAMED};
use super::object::{array, array_mut, name, set, text, uid};
use super::plan::Plan;
use crate::kubectl::without_owner;
use crate::report::RefusalReason;
use crate::words::list_names;

/// What a deletion takes with it, by volume claim. It is never assumed that one holds nothing.
pub(super) fn at_risk(plan: &mut Plan, facts: &Facts, order: &Order) {
    for claim in &facts.claims {
        let holds = match saved_on(&facts.object, &claim.template, &claim.name) {
            Some(sign) => format!("is for checkpoints ({sign})"),
            None => "may hold checkpoints; whether it does is not known".to_owned(),
        };
        match &claim.fate {
            Fate::Stays(_) | Fate::Missing => {}
            Fate::StaysUnread(why) => unread(plan, claim, order, why),
            Fate::Deleted if order.allow_checkpoint_loss => {
                let (claim, with) = (&claim.name, "it is deleted with the JobSet");
                plan.lose(format!("pvc/{claim} and all that is on it: {with}, and {holds}"));
            }
            Fate::Unknown(why) if order.allow_checkpoint_loss => {
                plan.lose(format!("perhaps pvc/{}: it could not be read ({why})", claim.name));
            }
            Fate::Deleted => deleted(plan, facts, claim, order, &holds),
            Fate::Unknown(why) => unknown(plan, claim, order, &holds, why),
        }
    }
}

/// A claim that goes, or several that are alike.
pub(super) struct Going {
    claims: Vec<String>,
    /// The volume's name in the pods.
    volume: String,
    because: String,
    /// What takes the owners that go away from it, as JSON patch; nothing where it would not stay by that.
    without_owners: Option<Value>,
}

/// What goes with pods and owners that are deleted: ephemeral volumes, which are their pod's, and claims that name one of
/// them as their owner. What is for checkpoints is not deleted unasked.
pub(super) fn go_with(plan: &mut Plan, facts: &Facts, order: &Order, pods: &[&Value], owners: &[&str]) {
    for going in &going(facts, pods, owners) {
        goes(plan, facts, order, going);
    }
}

/// The same where it is only said: nothing of it is deleted yet.
pub(super) fn named_of(facts: &Facts, pods: &[&Value], owners: &[&str]) -> Vec<String> {
    going(facts, pods, owners).into_iter().flat_map(|going| going.claims).collect()
}

fn going(facts: &Facts, pods: &[&Value], owners: &[&str]) -> Vec<Going> {
    let ephemeral = ephemeral(pods);
    let known: Vec<&str> = ephemeral.iter().flat_map(|going| &going.claims).map(String::as_str).collect();
    let doomed: Vec<&str> = owners.iter().copied().chain(pods.iter().map(|pod| uid(pod))).collect();
    let of_policies = |claim: &&Value| facts.claims.iter().any(|of| of.name == name(claim));
    let owned = facts.owned.iter().filter(|claim| !known.contains(&name(claim)) && !of_policies(claim));
    let owned: Vec<Going> = owned.filter_map(|claim| owned_by(facts, claim, &doomed)).collect();
    ephemeral.into_iter().chain(owned).collect()
}

/// Source: Kubernetes `component-helpers/storage/ephemeral`, `VolumeClaimName`.
fn ephemeral(pods: &[&Value]) -> Vec<Going> {
    let mut by_volume: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for pod in pods {
        for volume in array(pod, "/spec/volumes").iter().filter(|volume| volume["ephemeral"].is_object()) {
            by_volume.entry(text(volume, "/name")).or_default().push(format!(
                "{}-{}",
                name(pod),
                text(volume, "/name")
            ));
        }
    }
    let going = by_volume.into_iter().map(|(volume, claims)| Going {
        claims,
        volume: volume.to_owned(),
        because: format!("ephemeral volume {volume} goes with its pod"),
        without_owners: None,
    });
    going.collect()
}

fn owned_by(facts: &Facts, claim: &Value, doomed: &[&str]) -> Option<Going> {
    let owners = || array(claim, "/metadata/ownerReferences").iter().enumerate();
    let doomed = || owners().filter(|(_, owner)| doomed.contains(&text(owner, "/uid")));
    let (_, owner) = doomed().next()?;
    let kind = text(owner, "/kind");
    Some(Going {
        claims: vec![name(claim).to_owned()],
        volume: volume_of(facts, name(claim)).to_owned(),
        because: format!("{}/{} owns it", kind.to_ascii_lowercase(), text(owner, "/name")),
        // A StatefulSet takes it for its own again. Source: Kubernetes `pkg/controller/statefulset`,
        // `updateClaimOwnerRefForSetAndPod`.
        without_owners: (kind != "StatefulSet")
            .then(|| without(doomed().map(|(place, owner)| (place, text(owner, "/uid"))))),
    })
}

/// What a claim is called in the pods; else its own name.
fn volume_of<'a>(facts: &'a Facts, claim: &'a str) -> &'a str {
    let specs = facts.pods.iter().chain(templates(&facts.object));
    let mut volumes = specs.flat_map(|pod| array(pod, "/spec/volumes"));
    let found = volumes.find(|volume| text(volume, "/persistentVolumeClaim/claimName") == claim);
    found.map_or(claim, |volume| text(volume, "/name"))
}

/// The claims of a group's workers, by the rule that a `StatefulSet` names them by, where they could not be read.
/// Source: LeaderWorkerSet `pkg/controllers/pod_controller.go`; Kubernetes `pkg/controller/statefulset`,
/// `getPersistentVolumeClaimName`.
pub(super) fn of_workers_unread(plan: &mut Plan, facts: &Facts, order: &Order, workers: &[&Value]) {
    let template = &facts.object["spec"]["leaderWorkerTemplate"];
    let deletes = text(template, "/persistentVolumeClaimRetentionPolicy/whenDeleted") == "Delete";
    for of in array(template, "/volumeClaimTemplates").iter().filter(|_| facts.owned_unread && deletes) {
        let claims: Vec<String> = workers.iter().map(|pod| format!("{}-{}", name(of), name(pod))).collect();
        if !claims.is_empty() {
            let because = "persistentVolumeClaimRetentionPolicy.whenDeleted is Delete".to_owned();
            let volume = name(of).to_owned();
            goes(plan, facts, order, &Going { claims, volume, because, without_owners: None });
        }
    }
}

fn goes(plan: &mut Plan, facts: &Facts, order: &Order, going: &Going) {
    let first = going.claims.first().map_or("", String::as_str);
    let claims = list_names(&going.claims.iter().map(|claim| format!("pvc/{claim}")).collect::<Vec<_>>(), NAMED);
    let because = &going.because;
    let sign = saved_on(&facts.object, &going.volume, first);
    let holds = sign.as_ref().map_or_else(String::new, |sign| format!(", and is for checkpoints ({sign})"));
    if sign.is_none() || order.allow_checkpoint_loss {
        plan.lose(format!("{claims} and all that is on it: {because}{holds}"));
        return;
    }
    let (way_out, command) = match &going.without_owners {
        Some(patch) => ("take the owner away first", patched(order, first, patch)),
        None => ("copy what is on it first", order.again_with("--allow-checkpoint-loss")),
    };
    let subject = order.subject();
    plan.refuse(
        RefusalReason::CheckpointLoss,
        format!(
            "{claims} would be deleted by a restart of {subject}, as {because}{holds}; {way_out}, or go on with \
             --allow-checkpoint-loss"
        ),
        vec![command],
    );
}

/// Takes the owner references at these places away, of the owners with these uids: from the last on, so that the places of
/// those before it stay.
fn without<'a>(owners: impl DoubleEndedIterator<Item = (usize, &'a str)>) -> Value {
    owners.rev().flat_map(|(place, uid)| without_owner(place, "uid", uid)).collect()
}

fn patched(order: &Order, claim: &str, patch: &Value) -> String {
    order.commands.kubectl(&["patch", "pvc", claim, "--type=json", "-p", &patch.to_string()])
}

/// The `JobSet` is the only owner of a claim that it makes (`createPVCsIfNecessary`, jobset
/// `pkg/controllers/volume_claim_policy.go`).
fn deleted(plan: &mut Plan, facts: &Facts, claim: &Claim, order: &Order, holds: &str) {
    let patch = without(std::iter::once((0, uid(&facts.object))));
    plan.refuse(
        RefusalReason::CheckpointLoss,
        format!(
            "pvc/{} would be deleted with {}, which owns it (volumeClaimPolicies), and {holds}; take the owner away first, \
             and the restart uses it again, or go on with --allow-checkpoint-loss",
            claim.name,
            order.subject()
        ),
        vec![patched(order, &claim.name, &patch)],
    );
}

fn unknown(plan: &mut Plan, claim: &Claim, order: &Order, holds: &str, why: &str) {
    plan.refuse(
        RefusalReason::CheckpointLoss,
        format!(
            "pvc/{} may be deleted with {}, and {holds}: it could not be read ({why}); ask for the right to get it, or \
             go on with --allow-checkpoint-loss",
            claim.name,
            order.subject()
        ),
        vec![order.again_with("--allow-checkpoint-loss")],
    );
}

/// A claim that stays decides whether the new `JobSet` is let in.
fn unread(plan: &mut Plan, claim: &Claim, order: &Order, why: &str) {
    plan.refuse(
        RefusalReason::Forbidden,
        format!(
            "pvc/{} could not be read ({why}), and JobSet takes {} in again only with the claim's own spec in its \
             volumeClaimPolicies: ask for the right to get it",
            claim.name,
            order.subject()
        ),
        vec![order.commands.kubectl(&["auth", "can-i", "get", "pvc", &claim.name])],
    );
}

/// A claim that is there is used again only by a `JobSet` whose template has the same spec, down to the volume's name, and
/// that keeps it when it is deleted: its webhook refuses any other.
/// Source: JobSet `pkg/webhooks/jobset_webhook.go`, `validateVolumeClaimPolicies`.
pub(super) fn use_again(plan: &mut Plan, facts: &Facts, manifest: &mut Value) {
    for policy in array_mut(manifest, "/spec/volumeClaimPolicies") {
        let mut used = Vec::new();
        for template in array_mut(policy, "/templates") {
            let claim = facts.claims.iter().find(|claim| claim.template == name(template));
            if let Some(Claim { name, fate: Fate::Stays(spec), .. }) = claim {
                set(template, &["spec"], spec.clone());
                used.push(format!("pvc/{name}"));
            }
        }
        if used.is_empty() {
            continue;
        }
        let mut said =
            format!("{} is used again, and its spec taken into the new volumeClaimPolicies", used.join(", "));
        said += "; whether JobSet takes it so cannot be checked before, as it looks for claims by the JobSet's name";
        if text(policy, "/retentionPolicy/whenDeleted") != "Retain" {
            set(policy, &["retentionPolicy", "whenDeleted"], "Retain");
            said += "; their whenDeleted becomes Retain, without which JobSet would refuse it";
        }
        plan.note(said);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::restart::kind::Kind;
    use crate::restart::tests::{facts, order};

    fn with_claim(fate: Fate) -> Facts {
        let mut facts = facts(&json!({
            "metadata": {"name": "llama", "uid": "u1"},
            "spec": {"volumeClaimPolicies": [
                {"templates": [{"metadata": {"name": "state"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]}]},
        }));
        facts.claims = vec![Claim { name: "state-llama".into(), template: "state".into(), fate }];
        facts
    }

    #[test]
    fn claims_that_go_with_it_are_protected_first_or_lost_knowingly() {
        for (fate, reason, lost) in [
            (Fate::Missing, None, false),
            (Fate::Stays(json!({})), None, false),
            (Fate::Deleted, Some(RefusalReason::CheckpointLoss), true),
            (Fate::Unknown("403".into()), Some(RefusalReason::CheckpointLoss), true),
            (Fate::StaysUnread("403".into()), Some(RefusalReason::Forbidden), false),
        ] {
            let facts = with_claim(fate);
            let mut refused = Plan::default();
            at_risk(&mut refused, &facts, &order(Kind::JobSet, "llama"));
            assert_eq!(refused.refusals.first().map(|refusal| refusal.reason), reason);
            let mut allowed = Plan::default();
            at_risk(&mut allowed, &facts, &Order { allow_checkpoint_loss: true, ..order(Kind::JobSet, "llama") });
            assert_eq!(!allowed.loses.is_empty(), lost, "{allowed:?}");
        }
        let mut refused = Plan::default();
        at_risk(&mut refused, &with_claim(Fate::Deleted), &order(Kind::JobSet, "llama"));
        assert_eq!(
            refused.refusals[0].commands,
            [
                r#"kubectl patch pvc state-llama --type=json -p '[{"op":"test","path":"/metadata/ownerReferences/0/uid","value":"u1"},{"op":"remove","path":"/metadata/ownerReferences/0"}]' -n ml"#
            ]
        );
    }

    /// A container that saves to `/data`, which is this volume.
    fn saving(volume: &Value) -> Value {
        json!({
            "containers": [{"name": "c", "command": ["python", "pretrain_gpt.py", "--save", "/data/run"],
                            "volumeMounts": [{"name": "v", "mountPath": "/data"}]}],
            "volumes": [volume],
        })
    }

    /// A workload of each kind with a pod of it, whose pods are made of `pod`.
    fn of_each_kind(pod: &Value) -> Vec<(Kind, Value)> {
        let template = json!({"spec": pod});
        let ended = json!({"conditions": [{"type": "Failed", "status": "True"}], "terminalState": "Failed"});
        let job_set = json!({"replicatedJobs": [{"name": "w", "template": {"spec": {"template": template}}}]});
        let group = json!({"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template}});
        [
            (Kind::Job, json!({"template": template}), ended.clone()),
            (Kind::JobSet, job_set.clone(), ended),
            (Kind::JobSet, job_set, json!({})),
            (Kind::Deployment, json!({"template": template}), json!({})),
            (Kind::StatefulSet, json!({"template": template}), json!({})),
            (Kind::DaemonSet, json!({"template": template}), json!({})),
            (Kind::LeaderWorkerSet, group, json!({})),
            (Kind::Sandbox, json!({"podTemplate": template}), json!({})),
        ]
        .map(|(kind, spec, status)| {
            (kind, json!({"metadata": {"name": "x", "uid": "u1"}, "spec": spec, "status": status}))
        })
        .to_vec()
    }

    fn planned(kind: Kind, facts: &Facts, allow_checkpoint_loss: bool) -> Plan {
        use crate::restart::{job, job_set, leader_worker_set, rollout, sandbox};
        let order = Order { allow_checkpoint_loss, force: true, ..order(kind, "x") };
        match kind {
            Kind::Job => job::plan(facts, &order),
            Kind::JobSet => job_set::plan(facts, &order),
            Kind::LeaderWorkerSet => leader_worker_set::plan(facts, &order),
            Kind::Sandbox => sandbox::plan(facts, &order),
            _ => rollout::plan(facts, &order),
        }
    }

    /// A leader, which is as good as any other pod for the other kinds.
    fn a_pod(spec: &Value) -> Value {
        let labels =
            json!({"leaderworkerset.sigs.k8s.io/group-index": "0", "leaderworkerset.sigs.k8s.io/worker-index": "0"});
        json!({"metadata": {"name": "x-0", "uid": "p1", "labels": labels}, "spec": spec, "status": {"phase": "Running"}})
    }

    #[test]
    fn ephemeral_volumes_go_with_their_pods_whatever_the_kind() {
        let saving = saving(&json!({"name": "v", "ephemeral": {}}));
        let plain = json!({"containers": [{"name": "c"}], "volumes": [{"name": "v", "ephemeral": {}}]});
        for (pod, saves) in [(&saving, true), (&plain, false)] {
            for (kind, object) in of_each_kind(pod) {
                let mut facts = facts(&object);
                facts.pods = vec![a_pod(pod)];
                for allowed in [false, true] {
                    let plan = planned(kind, &facts, allowed);
                    let lost = plan.loses.iter().any(|loss| loss.contains("pvc/x-0-v and all that is on it"));
                    assert_eq!(lost, !saves || allowed, "{kind:?} {plan:?}");
                    let reasons: Vec<_> = plan.refusals.iter().map(|refusal| refusal.reason).collect();
                    assert_eq!(reasons == [RefusalReason::CheckpointLoss], saves && !allowed, "{kind:?} {plan:?}");
                }
            }
        }
    }

    #[test]
    fn claims_go_with_the_owners_that_are_deleted_and_with_no_other() {
        let saving = saving(&json!({"name": "v", "persistentVolumeClaim": {"claimName": "mine"}}));
        for (kind, object) in of_each_kind(&saving) {
            for (owner, goes) in [("u1", matches!(kind, Kind::Job | Kind::JobSet)), ("p1", false), ("another", false)] {
                let runs_on = kind == Kind::JobSet && object["status"] == json!({});
                let mut facts = facts(&object);
                facts.pods = vec![a_pod(&saving)];
                let owner = json!({"kind": "Owner", "name": "o", "uid": owner});
                let other = json!({"kind": "Backup", "name": "b", "uid": "b1"});
                facts.owned = vec![json!({"metadata": {"name": "mine", "ownerReferences": [other, owner]}})];
                // A pod's own goes whatever it is restarted by.
                let goes = (goes && !runs_on) || owner["uid"] == "p1";
                let plan = planned(kind, &facts, false);
                let refused = plan.refusals.iter().any(|refusal| {
                    refusal.message.contains("pvc/mine would be deleted")
                        && refusal.message.contains("as owner/o owns it")
                });
                assert_eq!(refused, goes, "{kind:?} {owner} {plan:?}");
                // The other owner keeps its own.
                let patch =
                    r#"kubectl patch pvc mine --type=json -p '[{"op":"test","path":"/metadata/ownerReferences/1/uid","#;
                assert!(!goes || plan.refusals[0].commands[0].starts_with(patch), "{plan:?}");
            }
        }
    }

    #[test]
    fn the_claims_of_a_groups_workers_go_with_its_leader() {
        let template = json!({"spec": saving(&json!({"name": "other", "emptyDir": {}}))});
        let worker = json!({
            "metadata": {"name": "x-0-1", "uid": "p2",
                "labels": {"leaderworkerset.sigs.k8s.io/group-index": "0", "leaderworkerset.sigs.k8s.io/worker-index": "1"},
                "ownerReferences": [{"kind": "StatefulSet", "name": "x-0", "uid": "sts", "controller": true}]},
            "spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "v-x-0-1"}}]},
            "status": {"phase": "Running"},
        });
        for (deletes, unread, goes) in
            [("Delete", false, true), ("Retain", false, false), ("Delete", true, true), ("Retain", true, false)]
        {
            let mut facts = facts(&json!({
                "metadata": {"name": "x", "uid": "u1"},
                "spec": {"replicas": 1, "leaderWorkerTemplate": {
                    "size": 2, "workerTemplate": template, "volumeClaimTemplates": [{"metadata": {"name": "v"}}],
                    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": deletes}}},
            }));
            facts.pods = vec![a_pod(&json!({})), worker.clone()];
            facts.owned_unread = unread;
            if deletes == "Delete" && !unread {
                let owner = json!({"kind": "StatefulSet", "name": "x-0", "uid": "sts"});
                facts.owned = vec![json!({"metadata": {"name": "v-x-0-1", "ownerReferences": [owner]}})];
            }
            let plan = planned(Kind::LeaderWorkerSet, &facts, false);
            let refused = plan.refusals.iter().any(|refusal| refusal.message.contains("pvc/v-x-0-1 would be deleted"));
            assert_eq!(refused, goes, "{deletes} {unread} {plan:?}");
            // The StatefulSet would take a claim without an owner for its own again.
            assert!(!goes || plan.refusals[0].commands[0].contains("--allow-checkpoint-loss"), "{plan:?}");
        }
    }

    #[test]
    fn a_claim_that_stays_is_used_again_as_it_is() {
        let spec = json!({"accessModes": ["ReadWriteOnce"], "volumeName": "pv-1"});
        let facts = with_claim(Fate::Stays(spec.clone()));
        let (mut plan, mut manifest) = (Plan::default(), facts.object.clone());
        use_again(&mut plan, &facts, &mut manifest);
        let expected = json!([{
            "templates": [{"metadata": {"name": "state"}, "spec": spec}], "retentionPolicy": {"whenDeleted": "Retain"},
        }]);
        assert_eq!(manifest["spec"]["volumeClaimPolicies"], expected);
        for said in ["pvc/state-llama is used again", "cannot be checked before"] {
            assert!(plan.notes[0].contains(said), "{plan:?}");
        }
        let facts = with_claim(Fate::Missing);
        let mut untouched = facts.object.clone();
        use_again(&mut plan, &facts, &mut untouched);
        assert_eq!(untouched, facts.object);
    }
}
