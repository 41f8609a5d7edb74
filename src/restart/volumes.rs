//! The volume claims of a `JobSet`: what a deletion takes with it, and how a new `JobSet` uses again what stays.

use serde_json::Value;

use super::checkpoints::saved_on;
use super::facts::{Claim, Facts, Fate, Wish};
use super::object::{array_mut, name, set, text};
use super::plan::Plan;
use crate::report::RefusalReason;

/// What a deletion takes with it, by volume claim. It is never assumed that one holds nothing.
pub(super) fn at_risk(plan: &mut Plan, facts: &Facts, wish: &Wish) {
    for claim in &facts.claims {
        let holds = match saved_on(&facts.object, &claim.template) {
            Some(sign) => format!("is for checkpoints ({sign})"),
            None => "may hold checkpoints; whether it does is not known".to_owned(),
        };
        match &claim.fate {
            Fate::Stays(_) | Fate::Missing => {}
            Fate::StaysUnread(why) => unread(plan, claim, wish, why),
            Fate::Deleted if wish.allow_checkpoint_loss => {
                let (claim, with) = (&claim.name, "it is deleted with the JobSet");
                plan.lose(format!("pvc/{claim} and all that is on it: {with}, and {holds}"));
            }
            Fate::Unknown(why) if wish.allow_checkpoint_loss => {
                plan.lose(format!("perhaps pvc/{}: it could not be read ({why})", claim.name));
            }
            Fate::Deleted => deleted(plan, claim, wish, &holds),
            Fate::Unknown(why) => unknown(plan, claim, wish, &holds, why),
        }
    }
}

fn deleted(plan: &mut Plan, claim: &Claim, wish: &Wish, holds: &str) {
    let patch = r#"[{"op":"remove","path":"/metadata/ownerReferences"}]"#;
    plan.refuse(
        RefusalReason::CheckpointLoss,
        format!(
            "pvc/{} would be deleted with {}, which owns it (volumeClaimPolicies), and {holds}; take the owner away first, \
             and the restart uses it again, or go on with --allow-checkpoint-loss",
            claim.name,
            wish.subject()
        ),
        vec![wish.commands.kubectl(&["patch", "pvc", &claim.name, "--type=json", "-p", patch])],
    );
}

fn unknown(plan: &mut Plan, claim: &Claim, wish: &Wish, holds: &str, why: &str) {
    plan.refuse(
        RefusalReason::CheckpointLoss,
        format!(
            "pvc/{} may be deleted with {}, and {holds}: it could not be read ({why}); ask for the right to get it, or \
             go on with --allow-checkpoint-loss",
            claim.name,
            wish.subject()
        ),
        vec![wish.again_with("--allow-checkpoint-loss")],
    );
}

/// A claim that stays decides whether the new `JobSet` is let in.
fn unread(plan: &mut Plan, claim: &Claim, wish: &Wish, why: &str) {
    plan.refuse(
        RefusalReason::Forbidden,
        format!(
            "pvc/{} could not be read ({why}), and JobSet takes {} in again only with the claim's own spec in its \
             volumeClaimPolicies: ask for the right to get it",
            claim.name,
            wish.subject()
        ),
        vec![wish.commands.kubectl(&["auth", "can-i", "get", "pvc", &claim.name])],
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
    use crate::restart::tests::{facts, wish};

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
            at_risk(&mut refused, &facts, &wish(Kind::JobSet, "llama"));
            assert_eq!(refused.refusals.first().map(|refusal| refusal.reason), reason);
            let mut allowed = Plan::default();
            at_risk(&mut allowed, &facts, &Wish { allow_checkpoint_loss: true, ..wish(Kind::JobSet, "llama") });
            assert_eq!(!allowed.loses.is_empty(), lost, "{allowed:?}");
        }
        let mut refused = Plan::default();
        at_risk(&mut refused, &with_claim(Fate::Deleted), &wish(Kind::JobSet, "llama"));
        assert_eq!(
            refused.refusals[0].commands,
            [
                r#"kubectl patch pvc state-llama --type=json -p '[{"op":"remove","path":"/metadata/ownerReferences"}]' -n ml"#
            ]
        );
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
        assert!(plan.notes[0].contains("pvc/state-llama is used again"), "{plan:?}");
        let facts = with_claim(Fate::Missing);
        let mut untouched = facts.object.clone();
        use_again(&mut plan, &facts, &mut untouched);
        assert_eq!(untouched, facts.object);
    }
}
