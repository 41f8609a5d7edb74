//! What the tool can see of a cluster, and what not: what was found out → [`Doctor`]. It asks nothing, and knows no clock.

mod clock;
mod connection;
mod grants;
mod problem;
mod rights;
mod roles;
mod server;
mod summary;

pub use roles::{Right, RolesError, Tier, questions, tiers};

use crate::kubectl::Kubectl;
use crate::model::Time;
use crate::report::{
    API_VERSION, Doctor, DoctorNamespace, DoctorNamespaceState, DoctorProblem, DoctorStepName, DoctorTool,
};
use crate::source::Resource;
use crate::source::cluster::{Checkup, ClusterError, NamespaceFound, Way, Who};

/// What is judged besides what was found out.
#[derive(Debug)]
pub struct About<'a> {
    /// The tool itself.
    pub tool: DoctorTool,
    /// Whether all namespaces are to be read.
    pub all_namespaces: bool,
    /// This machine's clock.
    pub now: Time,
    /// The rights that matter.
    pub tiers: &'a [Tier],
    /// Makes commands for whoever grants rights.
    pub kubectl: &'a Kubectl,
}

/// The API groups that are read, each with the resources of it that a cluster may lack.
pub fn groups() -> Vec<(&'static str, Vec<&'static str>)> {
    let may_lack = |(group, resources)| (group, if server::is_built_in(group) { Vec::new() } else { resources });
    groups_read().into_iter().map(may_lack).collect()
}

/// The API groups, each with all that is read of it: those of workloads first.
fn groups_read() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut groups: Vec<(&'static str, Vec<&'static str>)> = Vec::new();
    let workloads = Resource::ALL.into_iter().filter(|resource| resource.is_workload());
    let others = Resource::ALL.into_iter().filter(|resource| !resource.is_workload());
    for resource in workloads.chain(others).filter(|resource| !resource.group().is_empty()) {
        match groups.iter_mut().find(|(group, _)| *group == resource.group()) {
            Some((_, resources)) => resources.push(resource.name()),
            None => groups.push((resource.group(), vec![resource.name()])),
        }
    }
    groups
}

/// Puts together what was found out. Without a checkup nothing was asked, for the way leads nowhere.
pub fn judge(way: Way, checkup: Option<Result<Checkup, ClusterError>>, about: &About) -> Doctor {
    let (checkup, error) = match checkup {
        Some(Ok(checkup)) => (Some(checkup), None),
        Some(Err(error)) => (None, Some(error)),
        None => (None, None),
    };
    let namespace = way.namespace.clone().filter(|_| !about.all_namespaces);
    let answers = checkup.as_ref().map_or(&[][..], |checkup| &checkup.rights);
    let tiers = if checkup.is_some() { rights::tiers(about.tiers, namespace.as_deref(), answers) } else { Vec::new() };
    let can_read = rights::can_read(&tiers);
    let unknown_user = match checkup.as_ref().map(|checkup| &checkup.who) {
        Some(Who::Anonymous(words)) if can_read != Some(true) => Some(words.as_str()),
        _ => None,
    };
    let problem = match (way.error.as_ref().or(error.as_ref()), unknown_user) {
        (Some(error), _) => Some(problem::of(error, &way)),
        (None, Some(words)) => Some(DoctorProblem {
            step: DoctorStepName::SignIn,
            message: format!("the server takes nobody's word for who is asking: {words}"),
            fix: problem::sign_in(&way),
        }),
        (None, None) => None,
    };
    let who = match checkup.as_ref().map(|checkup| &checkup.who) {
        Some(Who::Named(name)) => Some(name.as_str()),
        _ => None,
    };
    let grants = grants::of(&tiers, namespace.as_deref(), way.impersonates.as_deref().or(who), about.kubectl);
    let server = checkup.as_ref().map(server::of);
    let mut doctor = Doctor {
        api_version: API_VERSION,
        kind: "Doctor",
        as_of: about.now,
        summary: String::new(),
        can_read,
        steps: problem::steps(problem.as_ref()),
        problem,
        tool: about.tool.clone(),
        kubeconfig: connection::kubeconfig(&way),
        namespace: namespace_of(&way, about.all_namespaces, checkup.as_ref()),
        groups: checkup.as_ref().map(server::groups).unwrap_or_default(),
        features: checkup.as_ref().map(server::features).unwrap_or_default(),
        notes: Vec::new(),
        connection: connection::of(way),
        server,
        tiers,
        grants,
    };
    doctor.notes = summary::notes(&doctor);
    doctor.summary = summary::of(&doctor);
    doctor
}

fn namespace_of(way: &Way, all: bool, checkup: Option<&Checkup>) -> Option<DoctorNamespace> {
    if all {
        return Some(DoctorNamespace { name: None, state: DoctorNamespaceState::Unknown });
    }
    let state = match checkup.map(|checkup| checkup.namespace) {
        Some(NamespaceFound::There) => DoctorNamespaceState::There,
        Some(NamespaceFound::Ending) => DoctorNamespaceState::Ending,
        Some(NamespaceFound::Absent) => DoctorNamespaceState::Absent,
        Some(NamespaceFound::Unknown) | None => DoctorNamespaceState::Unknown,
    };
    way.namespace.clone().map(|name| DoctorNamespace { name: Some(name), state })
}

#[cfg(test)]
mod tests;
