use super::roles::{Tier, questions};
use crate::report::{DoctorRight, DoctorRightState, DoctorTier};
use crate::source::cluster::Answer;

/// The tiers with what became of each right. `answers` are those to [`questions`].
pub(super) fn tiers(tiers: &[Tier], namespace: Option<&str>, answers: &[Answer]) -> Vec<DoctorTier> {
    let asked = questions(tiers, namespace);
    let of = |tier: &Tier| {
        let rights = tier.rights.iter().map(|right| {
            let place = asked.iter().position(|question| *question == right.question(namespace));
            let (state, reason) = match place.and_then(|place| answers.get(place)) {
                Some(Answer::Allowed) => (DoctorRightState::Allowed, None),
                Some(Answer::Denied(reason)) => (DoctorRightState::Denied, reason.clone()),
                Some(Answer::NotInstalled) => (DoctorRightState::NotInstalled, None),
                Some(Answer::Unknown(why)) => (DoctorRightState::Unknown, Some(why.clone())),
                None => (DoctorRightState::Unknown, Some("it was not asked".to_owned())),
            };
            DoctorRight {
                verb: right.verb.clone(),
                resource: right.rbac_name(),
                name: Some(right.name.clone()).filter(|name| !name.is_empty()),
                role: right.role.clone(),
                state,
                reason,
                without: right.without(tier.name),
            }
        });
        let rights: Vec<DoctorRight> = rights.collect();
        let count = |state| rights.iter().filter(|right| right.state == state).count();
        DoctorTier {
            name: tier.name,
            purpose: tier.purpose,
            file: tier.file.clone(),
            without: tier.without,
            allowed: count(DoctorRightState::Allowed),
            denied: count(DoctorRightState::Denied),
            not_installed: count(DoctorRightState::NotInstalled),
            unknown: count(DoctorRightState::Unknown),
            rights,
        }
    };
    tiers.iter().map(of).collect()
}

/// Whether there can be a report: all of the core must be there.
pub(super) fn can_read(tiers: &[DoctorTier]) -> Option<bool> {
    let core = tiers.iter().find(|tier| tier.name == "core")?;
    match core {
        core if core.denied + core.not_installed > 0 => Some(false),
        core if core.unknown > 0 => None,
        _ => Some(true),
    }
}
