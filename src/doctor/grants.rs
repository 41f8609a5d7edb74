use std::collections::{BTreeMap, BTreeSet};

use crate::kubectl::Kubectl;
use crate::report::{DoctorGrant, DoctorRight, DoctorRightState, DoctorTier};

const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// What gives the rights that are missing: the published roles, and for what belongs to no namespace a role of its own, as
/// binding a published one in the whole cluster would give far more. Each command runs as it is printed, in a clone of the
/// project's repository, by somebody who may.
pub(super) fn of(
    tiers: &[DoctorTier],
    namespace: Option<&str>,
    user: Option<&str>,
    kubectl: &Kubectl,
) -> Vec<DoctorGrant> {
    let subject = Subject::of(user);
    let mut grants = Vec::new();
    for tier in tiers {
        let denied = tier.rights.iter().filter(|right| right.state == DoctorRightState::Denied);
        let (alone, bound): (Vec<&DoctorRight>, Vec<&DoctorRight>) =
            denied.partition(|right| namespace.is_some() && is_cluster_scoped(right));
        let roles: BTreeSet<&str> = bound.iter().map(|right| right.role.as_str()).collect();
        if !roles.is_empty() {
            grants.push(published(tier, &roles, namespace, &subject, kubectl));
        }
        let mut wide: BTreeMap<(&str, Option<&str>), Vec<&str>> = BTreeMap::new();
        for right in alone {
            wide.entry((&right.resource, right.name.as_deref())).or_default().push(&right.verb);
        }
        for ((resource, name), verbs) in wide {
            grants.push(of_no_namespace(tier.name, resource, name, &verbs.join(","), &subject, kubectl));
        }
    }
    grants
}

/// A role for one resource that belongs to no namespace, and no more of it than is missing.
fn of_no_namespace(
    tier: &'static str,
    resource: &str,
    name: Option<&str>,
    verbs: &str,
    subject: &Subject,
    kubectl: &Kubectl,
) -> DoctorGrant {
    let role = format!("kubectl-sigapps-{tier}-{}", name.unwrap_or(resource));
    let (verb, of) = (format!("--verb={verbs}"), format!("--resource={resource}"));
    let only = name.map(|name| format!("--resource-name={name}"));
    let words = ["create", "clusterrole", &role, &verb, &of];
    let text = match name {
        Some(name) => format!("{verbs} {resource}/{name}, which belongs to no namespace"),
        None => format!("{verbs} {resource}, which belong to no namespace"),
    };
    let commands = vec![kubectl.line(words.into_iter().chain(only.as_deref())), subject.bind(&role, None, kubectl)];
    DoctorGrant { tier, text, commands }
}

fn is_cluster_scoped(right: &DoctorRight) -> bool {
    matches!(right.resource.as_str(), "nodes" | "namespaces")
}

fn published(
    tier: &DoctorTier,
    roles: &BTreeSet<&str>,
    namespace: Option<&str>,
    subject: &Subject,
    kubectl: &Kubectl,
) -> DoctorGrant {
    let apply = kubectl.line(["apply", "-f", &tier.file]);
    let bind = roles.iter().map(|role| subject.bind(role, namespace, kubectl));
    let place = namespace.map_or_else(|| "in all namespaces".to_owned(), |namespace| format!("in ns {namespace}"));
    DoctorGrant {
        tier: tier.name,
        text: format!("for {} {place}", tier.purpose),
        commands: std::iter::once(apply).chain(bind).collect(),
    }
}

/// Who gets the rights.
struct Subject {
    flag: String,
    /// What tells its bindings from those of others.
    suffix: String,
}

impl Subject {
    fn of(user: Option<&str>) -> Self {
        let Some(user) = user else { return Self { flag: "--user=USER".to_owned(), suffix: "user".to_owned() } };
        let (flag, name) = match user.strip_prefix(SERVICE_ACCOUNT) {
            Some(account) => (format!("--serviceaccount={account}"), account),
            None => (format!("--user={user}"), user),
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let suffix: String = name.chars().map(plain).take(60).collect();
        Self { flag, suffix: suffix.trim_matches('-').to_owned() }
    }

    fn bind(&self, role: &str, namespace: Option<&str>, kubectl: &Kubectl) -> String {
        let name = format!("{}-{}", role.trim_start_matches("kubectl-"), self.suffix);
        let role = format!("--clusterrole={role}");
        match namespace {
            Some(namespace) => kubectl.line(["create", "rolebinding", &name, "-n", namespace, &role, &self.flag]),
            None => kubectl.line(["create", "clusterrolebinding", &name, &role, &self.flag]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_are_named_for_whom_they_are_and_quoted() {
        let bind = |user, namespace| Subject::of(user).bind("kubectl-sigapps-core", namespace, &Kubectl::default());
        for (user, expected) in [
            (Some("jane"), "sigapps-core-jane -n ml --clusterrole=kubectl-sigapps-core --user=jane"),
            (
                Some("corp#Jane O'Hara"),
                "sigapps-core-corp-jane-o-hara -n ml --clusterrole=kubectl-sigapps-core '--user=corp#Jane O'\\''Hara'",
            ),
            (
                Some("system:serviceaccount:ci:runner"),
                "sigapps-core-ci-runner -n ml --clusterrole=kubectl-sigapps-core --serviceaccount=ci:runner",
            ),
            (None, "sigapps-core-user -n ml --clusterrole=kubectl-sigapps-core --user=USER"),
        ] {
            assert_eq!(bind(user, Some("ml")), format!("kubectl create rolebinding {expected}"));
        }
        assert_eq!(
            bind(Some("jane"), None),
            "kubectl create clusterrolebinding sigapps-core-jane --clusterrole=kubectl-sigapps-core --user=jane"
        );
    }
}
