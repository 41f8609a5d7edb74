//! The roles that the project publishes, and the single rights that they are made of.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::api::{Api, array, text};
use crate::wait::{Answer, until};
use crate::yaml;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const REVIEWS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/// One verb on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Right {
    pub(super) group: String,
    pub(super) resource: String,
    /// The only names that it is granted for; all where there are none.
    names: Vec<String>,
    pub(super) verb: String,
}

impl Right {
    /// As RBAC names the resource: `jobs.batch`.
    pub(super) fn rbac_name(&self) -> String {
        if self.group.is_empty() { self.resource.clone() } else { format!("{}.{}", self.resource, self.group) }
    }

    /// What the API server says of whoever lacks it.
    pub(super) fn refusal(&self) -> String {
        format!("cannot {} resource \"{}\"", self.verb, self.resource)
    }

    fn rule(&self) -> Value {
        let mut rule = json!({"apiGroups": [self.group], "resources": [self.resource], "verbs": [self.verb]});
        if !self.names.is_empty() {
            rule["resourceNames"] = json!(self.names);
        }
        rule
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.rbac_name())
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rbac")
}

/// The `ClusterRole`s of one file that the project publishes.
pub(super) fn published(file: &str) -> Result<Vec<Value>> {
    let path = folder().join(file);
    let mut roles = yaml::documents(&path)?;
    roles.retain(|role| role["kind"] == "ClusterRole");
    ensure!(!roles.is_empty(), "no ClusterRole in {}", path.display());
    Ok(roles)
}

/// All of them, by their names.
pub(super) fn all() -> Result<Vec<Value>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    let mut roles = Vec::new();
    for file in files {
        roles.extend(yaml::documents(&file)?.into_iter().filter(|role| role["kind"] == "ClusterRole"));
    }
    Ok(roles)
}

/// Each verb of each resource of each rule.
pub(super) fn rights(role: &Value) -> Vec<Right> {
    let words = |rule: &Value, field: &str| -> Vec<String> {
        let words = rule[field].as_array().into_iter().flatten();
        words.filter_map(Value::as_str).map(ToOwned::to_owned).collect()
    };
    let mut all = Vec::new();
    for rule in array(role, "/rules") {
        for group in words(rule, "apiGroups") {
            for resource in words(rule, "resources") {
                for verb in words(rule, "verbs") {
                    let (group, resource) = (group.clone(), resource.clone());
                    all.push(Right { group, resource, names: words(rule, "resourceNames"), verb });
                }
            }
        }
    }
    all
}

/// A `ClusterRole` of these rights.
fn of_rights(name: &str, rights: &[Right]) -> Value {
    let rules: Vec<Value> = rights.iter().map(Right::rule).collect();
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules,
    })
}

/// Makes the roles of one published file, and gives them to nobody.
pub(crate) async fn publish(api: &Api, file: &str) -> Result<()> {
    for role in published(file)? {
        api.ensure(&format!("{RBAC}/clusterroles"), &role).await?;
    }
    Ok(())
}

/// Gives a user the roles of one published file.
pub(crate) async fn grant(api: &Api, file: &str, user: &str) -> Result<()> {
    for role in published(file)? {
        bind(api, &role, user).await?;
    }
    Ok(())
}

/// Gives a user these rights in all namespaces.
pub(super) async fn give(api: &Api, user: &str, rights: &[Right]) -> Result<()> {
    bind(api, &of_rights(user, rights), user).await
}

pub(super) async fn bind(api: &Api, role: &Value, user: &str) -> Result<()> {
    api.ensure(&format!("{RBAC}/clusterroles"), role).await?;
    let binding = binding("ClusterRoleBinding", role, user);
    api.ensure(&format!("{RBAC}/clusterrolebindings"), &binding).await
}

/// Gives a user the roles of one published file in one namespace.
pub(super) async fn grant_in(api: &Api, file: &str, user: &str, namespace: &str) -> Result<()> {
    for role in published(file)? {
        api.ensure(&format!("{RBAC}/clusterroles"), &role).await?;
        let path = format!("{RBAC}/namespaces/{namespace}/rolebindings");
        api.ensure(&path, &binding("RoleBinding", &role, user)).await?;
    }
    Ok(())
}

fn binding(kind: &str, role: &Value, user: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": format!("{user}-{}", text(role, "/metadata/name"))},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role["metadata"]["name"]},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    })
}

/// Waits until the API server's authorizer knows what a user may do: it sees roles and bindings by watches of its own.
pub(super) async fn known(api: &Api, user: &str, right: &Right, namespace: &str) -> Result<()> {
    until(&format!("{user} to be allowed to {right}"), Duration::from_secs(30), || async {
        let allowed = may(api, user, right, namespace).await?;
        Ok(if allowed { Answer::Ready(()) } else { Answer::NotYet("denied".to_owned()) })
    })
    .await
}

/// Whether a user may do something in a namespace.
pub(super) async fn may(api: &Api, user: &str, right: &Right, namespace: &str) -> Result<bool> {
    let (resource, subresource) = right.resource.split_once('/').unwrap_or((&right.resource, ""));
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {"user": user, "groups": ["system:authenticated"], "resourceAttributes": {
            "verb": right.verb, "group": right.group, "resource": resource, "subresource": subresource,
            "namespace": namespace, "name": right.names.first(),
        }},
    });
    let answer = api.create(REVIEWS, &review).await.context("whether a user may do something")?;
    Ok(answer.pointer("/status/allowed") == Some(&Value::Bool(true)))
}
