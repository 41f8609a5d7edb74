use serde::Deserialize;

use crate::source::cluster::Question;

/// Rights that are granted together, as the project publishes them.
#[derive(Clone, Debug)]
pub struct Tier {
    /// Its name.
    pub name: &'static str,
    /// Its file, as seen from the project's folder.
    pub file: String,
    /// What it is for.
    pub purpose: &'static str,
    /// What is lost without it, in the words of docs/rbac.md.
    pub without: &'static str,
    /// The rights.
    pub rights: Vec<Right>,
}

/// A right that a published role grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Right {
    /// The `ClusterRole`.
    pub role: String,
    /// The verb.
    pub verb: String,
    /// The API group; empty for the core.
    pub group: String,
    /// The plural.
    pub resource: String,
    /// `log`; empty for the resource itself.
    pub subresource: String,
    /// Only the object of this name; empty for all.
    pub name: String,
}

/// A published role that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("rbac/{file}, as it was built in, cannot be read: {why}")]
pub struct RolesError {
    file: &'static str,
    why: String,
}

/// The tiers: name, purpose, what is lost without, and the file, which is built in so that it cannot be another one.
const TIERS: [(&str, &str, &str, &str, &str); 6] = [
    ("core", "every report", "no report", "core.yaml", include_str!("../../rbac/core.yaml")),
    (
        "workloads",
        "what Jobs belong to, and workloads that are no Jobs",
        "a JobSet's rules and attempts are not told; what is wrong with a workload as a whole is not, nor why Kueue has \
         suspended it",
        "workloads.yaml",
        include_str!("../../rbac/workloads.yaml"),
    ),
    (
        "context",
        "what Events, nodes and claims tell besides",
        "attempts of a JobSet before the last are unknown; pods that are gone have no names; it is not known whether a node \
         is ready",
        "context.yaml",
        include_str!("../../rbac/context.yaml"),
    ),
    ("watch", "wait and --watch", "no wait and no --watch", "watch.yaml", include_str!("../../rbac/watch.yaml")),
    ("record", "record", "no record", "record.yaml", include_str!("../../rbac/record.yaml")),
    ("restart", "restart", "no restart", "restart.yaml", include_str!("../../rbac/restart.yaml")),
];

/// What belongs to no namespace.
const CLUSTER_SCOPED: [&str; 2] = ["nodes", "namespaces"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Role {
    kind: String,
    metadata: Metadata,
    #[serde(default)]
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    api_groups: Vec<String>,
    resources: Vec<String>,
    verbs: Vec<String>,
    #[serde(default)]
    resource_names: Vec<String>,
}

/// The tiers that the project publishes, in the order in which they are taken.
pub fn tiers() -> Result<Vec<Tier>, RolesError> {
    let tier = |(name, purpose, without, file, text): (&'static str, _, _, &'static str, &str)| {
        let mut rights = Vec::new();
        for document in documents(text) {
            let role: Role =
                serde_saphyr::from_str(&document).map_err(|error| RolesError { file, why: error.to_string() })?;
            if role.kind == "ClusterRole" {
                role.rules.iter().for_each(|rule| rights.extend(rule.rights(&role.metadata.name)));
            }
        }
        Ok(Tier { name, file: format!("rbac/{file}"), purpose, without, rights })
    };
    TIERS.into_iter().map(tier).collect()
}

/// The documents of a YAML file, comments left out.
fn documents(text: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for line in text.lines() {
        if line.trim_end() == "---" {
            documents.push(String::new());
        } else if let Some(document) = documents.last_mut().filter(|_| !line.trim_start().starts_with('#')) {
            document.push_str(line);
            document.push('\n');
        }
    }
    documents.retain(|document| !document.trim().is_empty());
    documents
}

impl Rule {
    /// One by one, in the order in which they are written.
    fn rights(&self, role: &str) -> Vec<Right> {
        let names: Vec<&str> = match &self.resource_names[..] {
            [] => vec![""],
            names => names.iter().map(String::as_str).collect(),
        };
        let mut rights = Vec::new();
        for group in &self.api_groups {
            for (resource, name) in self.resources.iter().flat_map(|of| names.iter().map(move |name| (of, *name))) {
                let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
                rights.extend(self.verbs.iter().map(|verb| Right {
                    role: role.to_owned(),
                    verb: verb.clone(),
                    group: group.clone(),
                    resource: resource.to_owned(),
                    subresource: subresource.to_owned(),
                    name: name.to_owned(),
                }));
            }
        }
        rights
    }
}

impl Right {
    /// Whether it is about what belongs to no namespace.
    pub(super) fn is_cluster_scoped(&self) -> bool {
        self.group.is_empty() && CLUSTER_SCOPED.contains(&self.resource.as_str())
    }

    /// What the cluster is asked.
    pub(super) fn question(&self, namespace: Option<&str>) -> Question {
        Question {
            verb: self.verb.clone(),
            group: self.group.clone(),
            resource: self.resource.clone(),
            subresource: self.subresource.clone(),
            name: self.name.clone(),
            namespace: namespace.filter(|_| !self.is_cluster_scoped()).map(ToOwned::to_owned),
        }
    }

    /// Plural, subresource and group as RBAC names them.
    pub(super) fn rbac_name(&self) -> String {
        let plural = match self.subresource.as_str() {
            "" => self.resource.clone(),
            subresource => format!("{}/{subresource}", self.resource),
        };
        if self.group.is_empty() { plural } else { format!("{plural}.{}", self.group) }
    }

    /// What is lost without it, in the words of docs/rbac.md.
    pub(super) fn without(&self, tier: &str) -> &'static str {
        match (tier, self.resource.as_str(), self.verb.as_str()) {
            ("core", _, "get") => "no report on a Job or pod that is asked for by name",
            ("core", ..) => "no report",
            ("workloads", _, "get") => "failures and explain do not find it by name",
            ("workloads", "cronjobs", _) => "its labels do not count for -l; rule names annotated on it are not seen",
            ("workloads", "jobsets", _) => {
                "its labels do not count for -l; rule names annotated on it are not seen; a JobSet's rules and attempts \
                 are not told"
            }
            ("workloads", "replicasets" | "controllerrevisions", _) => "what a rollout changed is not told",
            ("workloads", "workloads", _) => "why Kueue has suspended a workload is not told",
            ("workloads", ..) => "what is wrong with a workload as a whole is not told",
            ("context", "events", _) => {
                "attempts of a JobSet before the last are unknown; pods that are gone have no names; pods deleted with \
                 their Job are lost instead of collateral; a Job that is refused its pods is not shown"
            }
            ("context", "nodes", _) => {
                "it is not known whether a node is ready, so that nothing by force is advised for pods that do not end"
            }
            ("context", "namespaces", _) => {
                "that two contexts lead to one cluster is known by their servers' address and authority alone"
            }
            ("context", "persistentvolumeclaims", _) => {
                "what becomes of a claim with checkpoints is told by the JobSet's policy alone"
            }
            ("context", ..) => "snapshots are not told",
            ("watch", "nodes", _) => "nodes are not followed",
            ("watch", "pods" | "jobs", _) => "no --watch, and no wait for it",
            ("watch", ..) => "no wait for it; --watch leaves it out",
            ("record", "pods", _) if self.subresource == "log" => "no record --logs",
            ("record", "pods" | "jobs", "list") => "no record",
            ("record", "pods" | "jobs", _) => "no record --follow",
            ("record", ..) => "it is missing in the recording, and said to be",
            ("restart", "pods", _) if self.subresource == "log" => "no restart --save-logs",
            ("restart", "pods", "delete") => {
                "no restart of a LeaderWorkerSet's group, or of a Sandbox whose pod has failed"
            }
            ("restart", "persistentvolumeclaims", _) => "no restart of what has volumes of its own",
            _ => "no restart of it",
        }
    }
}

/// What a cluster is asked, each thing once.
pub fn questions(tiers: &[Tier], namespace: Option<&str>) -> Vec<Question> {
    let mut questions: Vec<Question> = Vec::new();
    for question in tiers.iter().flat_map(|tier| &tier.rights).map(|right| right.question(namespace)) {
        if !questions.contains(&question) {
            questions.push(question);
        }
    }
    questions
}
