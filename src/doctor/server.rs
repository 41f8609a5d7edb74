use super::{clock, groups_read};
use crate::report::{DoctorFeature, DoctorGroup, DoctorGroupState, DoctorServer, DoctorSupport};
use crate::source::cluster::{Checkup, Exchange};

/// The minor versions of Kubernetes 1 that are tested: docs/compatibility.md.
const OLDEST: u32 = 34;
const NEWEST: u32 = 37;

pub(super) fn of(checkup: &Checkup) -> DoctorServer {
    let version = checkup.version.as_ref().ok();
    DoctorServer {
        version: version.map(|version| version.git_version.clone()),
        platform: version.and_then(|version| version.platform.clone()),
        support: version.map_or(DoctorSupport::Unknown, |version| support(&version.git_version)),
        tested: [OLDEST, NEWEST].map(|minor| format!("1.{minor}")),
        first_answer_seconds: seconds(&checkup.first),
        answer_seconds: checkup.second.as_ref().map(seconds),
        clock: clock::of([Some(&checkup.first), checkup.second.as_ref()].into_iter().flatten()),
    }
}

/// To the millisecond.
fn seconds(exchange: &Exchange) -> f64 {
    let whole = u64::try_from(exchange.took.as_millis()).unwrap_or(u64::MAX);
    std::time::Duration::from_millis(whole).as_secs_f64()
}

fn support(git_version: &str) -> DoctorSupport {
    let mut parts = git_version.trim_start_matches('v').split('.');
    let mut number = || parts.next()?.parse::<u32>().ok();
    match (number(), number()) {
        (Some(1), Some(minor)) if minor < OLDEST => DoctorSupport::Older,
        (Some(1), Some(minor)) if minor > NEWEST => DoctorSupport::Newer,
        (Some(1), Some(_)) => DoctorSupport::Tested,
        _ => DoctorSupport::Unknown,
    }
}

/// All groups that are read, also where the server tells of none.
pub(super) fn groups(checkup: &Checkup) -> Vec<DoctorGroup> {
    let of = |(name, resources): (&str, Vec<&str>)| {
        let mut group = DoctorGroup {
            name: name.to_owned(),
            state: DoctorGroupState::Unknown,
            versions: Vec::new(),
            reads: None,
            resources: resources.into_iter().map(ToOwned::to_owned).collect(),
            lacks: Vec::new(),
            message: None,
        };
        let found = match &checkup.groups {
            Ok(found) => found.iter().find(|found| found.name == name),
            Err(why) => {
                group.message = Some(why.clone());
                None
            }
        };
        let Some(found) = found else { return group };
        group.versions.clone_from(&found.versions);
        let Some(preferred) = found.versions.first() else {
            return DoctorGroup { state: DoctorGroupState::NotInstalled, ..group };
        };
        // Those of Kubernetes itself are read in the version that all servers have.
        let reads = if is_built_in(name) { "v1" } else { preferred };
        group.reads = Some(reads.to_owned()).filter(|reads| found.versions.contains(reads));
        match &found.lacks {
            Ok(lacks) => group.lacks.clone_from(lacks),
            Err(why) => group.message = Some(why.clone()),
        }
        DoctorGroup { state: DoctorGroupState::Served, ..group }
    };
    groups_read().into_iter().map(of).collect()
}

/// Whether all clusters have it, in the one version that is read.
pub(super) fn is_built_in(group: &str) -> bool {
    matches!(group, "batch" | "apps")
}

pub(super) fn features(checkup: &Checkup) -> Vec<DoctorFeature> {
    let message = match &checkup.rule_names {
        Ok(true) => {
            "batch/v1 has the field; whether its feature gate is on is not told, and where it is off the server drops it"
                .to_owned()
        }
        Ok(false) => "the server does not know the field: rules are named by the annotation \
                      kubectl-sigapps/rule-names, else by what they ask for"
            .to_owned(),
        Err(why) => format!("it is not known: {why}"),
    };
    let there = checkup.rule_names.as_ref().ok().copied();
    vec![DoctorFeature { name: "names of pod failure policy rules (KEP-4443)", there, message }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_from_those_that_are_tested() {
        for (version, expected) in [
            ("v1.37.2", DoctorSupport::Tested),
            ("v1.34.0-gke.100", DoctorSupport::Tested),
            ("v1.33.9+k3s1", DoctorSupport::Older),
            ("v1.38.0-beta.0", DoctorSupport::Newer),
            ("v2.1.0", DoctorSupport::Unknown),
            ("something", DoctorSupport::Unknown),
        ] {
            assert_eq!(support(version), expected, "{version}");
        }
    }
}
