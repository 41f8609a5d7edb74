//! What a pod template was before: `ReplicaSet`s of a `Deployment`, `ControllerRevision`s of the others.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Deserialize;
use serde_json::Value;

use crate::model::condition::ConditionView;
use crate::model::{HasMetadata, Head, Interner, MetaView, ObjectView, Time, View, Word, or_default};

/// An `apps/v1` `ReplicaSet` as it is read.
pub(crate) type ReplicaSetView<'a> = ObjectView<'a, ReplicaSetSpecView, ReplicaSetStatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ReplicaSetSpecView {
    replicas: Option<u32>,
    #[serde(deserialize_with = "or_default")]
    template: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ReplicaSetStatusView<'a> {
    #[serde(deserialize_with = "or_default")]
    replicas: u32,
    #[serde(deserialize_with = "or_default")]
    ready_replicas: u32,
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
}

/// An `apps/v1` `ControllerRevision` as it is read: it has neither spec nor status.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ControllerRevisionView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    metadata: MetaView<'a>,
    #[serde(deserialize_with = "or_default")]
    revision: u64,
    #[serde(deserialize_with = "or_default")]
    data: Value,
}

impl HasMetadata for ControllerRevisionView<'_> {
    fn metadata(&self) -> &MetaView<'_> {
        &self.metadata
    }
}

/// One version of a workload's pod template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// What all workloads have; its owner is the workload.
    pub head: Head,
    /// Whether it is a `ReplicaSet`, which makes pods itself.
    pub is_replica_set: bool,
    /// Its number: later ones are higher. `None` where the annotation of a `ReplicaSet` is missing.
    pub number: Option<u64>,
    /// What its name, and a label of its pods, ends in.
    pub hash: Option<Word>,
    /// Of a `ReplicaSet`: pods that it should have.
    pub replicas: u32,
    /// Of a `ReplicaSet`: pods that it has.
    pub pods: u32,
    /// Of a `ReplicaSet`: those that are ready.
    pub ready: u32,
    /// The template's fields, by path.
    pub template: Box<[TemplateLeaf]>,
}

/// One field of a pod template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateLeaf {
    /// Its path: `containers[app].image`.
    pub path: Word,
    /// Its value, where it can hold no secret. Values of variables, commands and arguments can.
    pub value: Option<Word>,
    /// A hash of its value, to compare it.
    pub hash: u64,
}

impl View for ReplicaSetView<'_> {
    type Kept = Revision;

    fn newest_time(&self) -> Option<Time> {
        self.metadata.newest_with(&self.status.conditions)
    }

    fn into_kept(self, interner: &mut Interner) -> Option<Revision> {
        let hash = self.metadata.label("pod-template-hash").and_then(|hash| interner.intern_some(hash));
        Some(Revision {
            head: self.metadata.head(&self.status.conditions, interner),
            is_replica_set: true,
            number: self.metadata.annotations.deployment_revision.parse().ok(),
            hash,
            replicas: self.spec.replicas.unwrap_or(1),
            pods: self.status.replicas,
            ready: self.status.ready_replicas,
            template: leaves(&self.spec.template, interner),
        })
    }
}

impl View for ControllerRevisionView<'_> {
    type Kept = Revision;

    fn newest_time(&self) -> Option<Time> {
        self.metadata.creation_timestamp.0
    }

    fn into_kept(self, interner: &mut Interner) -> Option<Revision> {
        let label = |key: &str| self.metadata.label(key);
        let hash = label("controller.kubernetes.io/hash").or_else(|| label("controller-revision-hash"));
        let hash = hash.and_then(|hash| interner.intern_some(hash));
        Some(Revision {
            head: self.metadata.head(&[], interner),
            is_replica_set: false,
            number: Some(self.revision),
            hash,
            replicas: 0,
            pods: 0,
            ready: 0,
            template: leaves(self.data.pointer("/spec/template").unwrap_or(&Value::Null), interner),
        })
    }
}

/// Labels and marks that the controllers set themselves: they tell of no change.
const SET_BY_CONTROLLERS: [&str; 3] = ["pod-template-hash", "controller-revision-hash", "$patch"];

fn leaves(template: &Value, interner: &mut Interner) -> Box<[TemplateLeaf]> {
    let mut leaves = Vec::new();
    if let Some(spec) = template.get("spec") {
        walk(spec, "", interner, &mut leaves);
    }
    if let Some(metadata) = template.get("metadata") {
        for of in ["labels", "annotations"] {
            walk(metadata.get(of).unwrap_or(&Value::Null), of, interner, &mut leaves);
        }
    }
    leaves.sort_by(|a: &TemplateLeaf, b| a.path.cmp(&b.path));
    leaves.into_boxed_slice()
}

fn walk(value: &Value, path: &str, interner: &mut Interner, leaves: &mut Vec<TemplateLeaf>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members.iter().filter(|(key, _)| !SET_BY_CONTROLLERS.contains(&key.as_str())) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                walk(value, &path, interner, leaves);
            }
        }
        // Lists of things that have names, by these: an index would make of one that is put first a change of all.
        Value::Array(items) if items.iter().any(|item| item.get("name").is_some()) => {
            for (index, item) in items.iter().enumerate() {
                let name = item.get("name").and_then(Value::as_str).map_or_else(|| index.to_string(), str::to_owned);
                walk(item, &format!("{path}[{name}]"), interner, leaves);
            }
        }
        Value::Null => {}
        whole => {
            let text = whole.as_str().map_or_else(|| whole.to_string(), str::to_owned);
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            let value = can_be_shown(path).then(|| interner.intern(&text));
            leaves.push(TemplateLeaf { path: interner.intern(path), value, hash: hasher.finish() });
        }
    }
}

/// Whether a field can hold no secret. People write passwords into variables, commands, arguments, annotations, and headers
/// of probes.
pub(crate) fn can_be_shown(path: &str) -> bool {
    let field = path.rsplit_once("].").map_or(path, |(_, field)| field);
    let is_of = |heads: &[&str]| heads.iter().any(|head| field.starts_with(head));
    is_of(&[
        "image",
        "resources.",
        "name",
        "restartPolicy",
        "terminationGracePeriodSeconds",
        "activeDeadlineSeconds",
        "serviceAccountName",
        "priorityClassName",
        "schedulerName",
        "runtimeClassName",
        "nodeSelector.",
        "hostNetwork",
        "mountPath",
        "readOnly",
        "configMap.name",
        "secret.secretName",
        "persistentVolumeClaim.claimName",
        "containerPort",
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_may_be_secret_are_kept_as_hashes_alone() {
        let template = serde_json::json!({"spec": {"containers": [{
            "name": "app", "image": "app:2", "args": ["--password", "hunter2"], "command": ["sh", "-c", "x"],
            "env": [{"name": "TOKEN", "value": "hunter2"}],
            "resources": {"limits": {"memory": "1Gi"}},
            "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": "hunter2"}]}},
        }]}, "metadata": {"annotations": {"token": "hunter2"}, "labels": {"pod-template-hash": "x"}}});
        let leaves = leaves(&template, &mut Interner::default());
        let shown: Vec<_> = leaves.iter().filter_map(|leaf| Some((&*leaf.path, leaf.value.as_deref()?))).collect();
        assert!(!format!("{leaves:?}").contains("hunter2"), "{leaves:#?}");
        assert!(shown.contains(&("containers[app].image", "app:2")), "{shown:?}");
        assert!(shown.contains(&("containers[app].resources.limits.memory", "1Gi")), "{shown:?}");
        assert!(leaves.iter().any(|leaf| &*leaf.path == "containers[app].env[TOKEN].value"));
        assert!(!leaves.iter().any(|leaf| leaf.path.contains("pod-template-hash")));
    }
}
