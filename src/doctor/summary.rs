use std::collections::BTreeSet;

use crate::report::{
    Doctor, DoctorAuthority, DoctorGroupState, DoctorNamespaceState, DoctorRightState, DoctorStepName, DoctorSupport,
    DoctorTier,
};
use crate::words::{counted, list_names};

/// The tiers that tell something; the others do something.
const READING: [&str; 3] = ["core", "workloads", "context"];
/// A difference between clocks that nobody sees, in seconds.
const UNSEEN: f64 = 2.0;

/// The answer, in one sentence.
pub(super) fn of(doctor: &Doctor) -> String {
    let cluster = doctor.connection.as_ref().map_or("the cluster", |connection| connection.context.as_str());
    if let Some(problem) = &doctor.problem {
        let what = match problem.step {
            DoctorStepName::Kubeconfig | DoctorStepName::Context => "cannot find a cluster".to_owned(),
            DoctorStepName::SignIn => format!("cannot sign in to {cluster}"),
            _ => format!("cannot reach {cluster}"),
        };
        return format!("{what}: {}", problem.message);
    }
    let place = match doctor.namespace.as_ref().map(|namespace| namespace.name.as_deref()) {
        Some(Some(namespace)) => format!("ns {namespace}"),
        _ => "all namespaces".to_owned(),
    };
    let version = doctor.server.as_ref().and_then(|server| server.version.as_deref());
    let place = format!("{place} of {cluster} ({})", version.unwrap_or("version not known"));
    let absent = doctor.namespace.as_ref().is_some_and(|namespace| namespace.state == DoctorNamespaceState::Absent);
    let absent = if absent { "; there is no such namespace" } else { "" };
    match doctor.can_read {
        Some(true) => format!("can read {place}: {}{absent}", how_much(&doctor.tiers)),
        Some(false) => format!("cannot read {place}: {}{absent}", missing_in_core(&doctor.tiers)),
        None => format!("cannot tell whether {place} can be read: {}{absent}", unknown_in_core(&doctor.tiers)),
    }
}

/// `all but 2 rights; not all for watch, restart`.
fn how_much(tiers: &[DoctorTier]) -> String {
    let reading = |state| {
        let tiers = tiers.iter().filter(|tier| READING.contains(&tier.name));
        let rights = tiers.flat_map(|tier| &tier.rights).filter(|right| right.state == state);
        rights.map(|right| (&right.verb, &right.resource, &right.name)).collect::<BTreeSet<_>>().len()
    };
    let mut parts = vec![match reading(DoctorRightState::Denied) {
        0 => "all rights".to_owned(),
        denied => format!("all but {}", counted(u64::try_from(denied).unwrap_or_default(), "right")),
    }];
    parts.extend(
        Some(reading(DoctorRightState::Unknown)).filter(|unknown| *unknown > 0).map(|n| format!("{n} not known")),
    );
    let text = parts.join(", ");
    let others = tiers.iter().filter(|tier| !READING.contains(&tier.name) && tier.denied > 0);
    let others: Vec<&str> = others.map(|tier| tier.name).collect();
    if others.is_empty() { text } else { format!("{text}; not all for {}", others.join(", ")) }
}

fn core_with(tiers: &[DoctorTier], state: DoctorRightState) -> impl Iterator<Item = &crate::report::DoctorRight> {
    let core = tiers.iter().filter(|tier| tier.name == "core");
    core.flat_map(|tier| &tier.rights).filter(move |right| right.state == state)
}

fn missing_in_core(tiers: &[DoctorTier]) -> String {
    let named =
        |state| core_with(tiers, state).map(|right| format!("{} {}", right.verb, right.resource)).collect::<Vec<_>>();
    match named(DoctorRightState::Denied) {
        denied if denied.is_empty() => {
            format!("not installed: {}", list_names(&named(DoctorRightState::NotInstalled), 4))
        }
        denied => format!("denied: {}", list_names(&denied, 4)),
    }
}

fn unknown_in_core(tiers: &[DoctorTier]) -> String {
    let why = core_with(tiers, DoctorRightState::Unknown).find_map(|right| right.reason.clone());
    why.unwrap_or_else(|| "the rights were not asked for".to_owned())
}

/// What else a reader should know.
pub(super) fn notes(doctor: &Doctor) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(connection) = &doctor.connection {
        if !connection.secure && !connection.sign_in.is_empty() {
            notes.push("the server is not https: no credentials are sent to it".to_owned());
        }
        if connection.tls.as_ref().is_some_and(|tls| tls.authority == DoctorAuthority::Unchecked) {
            notes
                .push("the server's certificate is not checked: anybody in between can read and change all".to_owned());
        }
    }
    if let Some(namespace) = &doctor.namespace {
        let name = namespace.name.as_deref().unwrap_or_default();
        match namespace.state {
            DoctorNamespaceState::Absent => {
                notes.push(format!("there is no namespace {name}: reports on it are empty"));
            }
            DoctorNamespaceState::Ending => notes.push(format!("namespace {name} is being deleted")),
            DoctorNamespaceState::There | DoctorNamespaceState::Unknown => {}
        }
    }
    let Some(server) = &doctor.server else { return notes };
    let tested = format!("{} to {}", server.tested[0], server.tested[1]);
    match server.support {
        DoctorSupport::Older => {
            notes.push(format!("the server is older than what is tested, {tested}: it is read all the same"));
        }
        DoctorSupport::Newer => {
            notes.push(format!(
                "the server is newer than what is tested, {tested}: a newer release may know more of it"
            ));
        }
        DoctorSupport::Tested | DoctorSupport::Unknown => {}
    }
    if server.clock.is_some_and(|clock| clock.ahead_at_least > UNSEEN || clock.ahead_at_most < -UNSEEN) {
        notes.push(
            "ages and --since are counted by this machine's clock, times are the cluster's: set the clock".to_owned(),
        );
    }
    if doctor.groups.iter().any(|group| group.state == DoctorGroupState::Unknown) {
        notes.push(
            "the server does not tell which API groups it has: what is read of them is reported as denied; the role \
             system:discovery allows to ask"
                .to_owned(),
        );
    }
    notes.push(
        "how long Events are kept cannot be asked: one hour, unless the API server's --event-ttl says otherwise"
            .to_owned(),
    );
    notes
}
