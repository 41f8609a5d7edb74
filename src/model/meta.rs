use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::time::MaybeTime;
use super::{Interner, Text, Time, Uid, Word, or_default};
use crate::gitops;

/// `metadata` of any object.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MetaView<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) namespace: Text<'a>,
    #[serde(borrow)]
    pub(super) uid: Text<'a>,
    #[serde(borrow)]
    pub(super) resource_version: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    pub(super) labels: LabelsView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    pub(super) annotations: AnnotationsView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    pub(super) owner_references: Vec<OwnerView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    pub(super) finalizers: Vec<Text<'a>>,
    pub(super) creation_timestamp: MaybeTime,
    pub(super) deletion_timestamp: MaybeTime,
    #[serde(deserialize_with = "or_default")]
    pub(super) deletion_grace_period_seconds: i64,
    #[serde(deserialize_with = "or_default")]
    pub(super) generation: u64,
}

/// `metadata.labels` in the order of the object. Of a pod's dozen labels one or two are asked for: sorting them into a map
/// costs more than looking through them.
#[derive(Debug, Default)]
pub(super) struct LabelsView<'a>(Vec<(Text<'a>, Text<'a>)>);

impl<'de: 'a, 'a> Deserialize<'de> for LabelsView<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LabelsVisitor;

        impl<'de> Visitor<'de> for LabelsVisitor {
            type Value = LabelsView<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("labels")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut labels = Vec::with_capacity(16);
                while let Some(label) = map.next_entry()? {
                    labels.push(label);
                }
                Ok(LabelsView(labels))
            }
        }

        deserializer.deserialize_map(LabelsVisitor)
    }
}

/// The keys of the annotations that are used.
pub(crate) const ANNOTATIONS_READ: [&str; 10] = [
    "batch.kubernetes.io/job-completion-index",
    "batch.kubernetes.io/job-index-failure-count",
    "batch.kubernetes.io/job-index-ignored-failure-count",
    "podsnapshot.gke.io/origin-pod",
    "kubectl-sigapps/rule-names",
    "deployment.kubernetes.io/revision",
    "deprecated.daemonset.template.generation",
    "agents.x-k8s.io/pod-name",
    "leaderworkerset.sigs.k8s.io/experimental-recreate-group-after-start",
    "argocd.argoproj.io/tracking-id",
];

/// The annotations that are used; others, which may hold whole manifests, are skipped unread.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AnnotationsView<'a> {
    #[serde(borrow, rename = "batch.kubernetes.io/job-completion-index")]
    pub(super) completion_index: Text<'a>,
    #[serde(borrow, rename = "batch.kubernetes.io/job-index-failure-count")]
    pub(super) index_failure_count: Text<'a>,
    #[serde(borrow, rename = "batch.kubernetes.io/job-index-ignored-failure-count")]
    pub(super) index_ignored_failure_count: Text<'a>,
    #[serde(borrow, rename = "podsnapshot.gke.io/origin-pod")]
    pub(super) origin_pod: Text<'a>,
    #[serde(borrow, rename = "kubectl-sigapps/rule-names")]
    pub(super) rule_names: Text<'a>,
    #[serde(borrow, rename = "deployment.kubernetes.io/revision")]
    pub(super) deployment_revision: Text<'a>,
    #[serde(borrow, rename = "deprecated.daemonset.template.generation")]
    pub(super) template_generation: Text<'a>,
    #[serde(borrow, rename = "agents.x-k8s.io/pod-name")]
    pub(super) sandbox_pod: Text<'a>,
    #[serde(borrow, rename = "leaderworkerset.sigs.k8s.io/experimental-recreate-group-after-start")]
    pub(super) recreate_after_start: Text<'a>,
    #[serde(borrow, rename = "argocd.argoproj.io/tracking-id")]
    argo_tracking_id: Text<'a>,
}

/// One of `metadata.ownerReferences`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerView<'a> {
    #[serde(borrow)]
    pub(super) api_version: Text<'a>,
    #[serde(borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) uid: Text<'a>,
    #[serde(deserialize_with = "or_default")]
    pub(super) controller: bool,
}

/// The controlling owner of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// API group without the version, empty for the core group.
    pub group: Word,
    /// `Job`, `CronJob`, `JobSet`, …
    pub kind: Word,
    /// The owner's name, in the same namespace.
    pub name: Word,
    /// The owner's uid, where it was told.
    pub uid: Option<Uid>,
}

impl Owner {
    /// Whether the owner is of `group` and `kind`.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        *self.group == *group && *self.kind == *kind
    }
}

impl OwnerView<'_> {
    fn to_owner(&self, interner: &mut Interner) -> Owner {
        let group = self.api_version.split_once('/').map_or("", |(group, _)| group);
        Owner {
            group: interner.intern(group),
            kind: interner.intern(&self.kind),
            name: interner.intern(&self.name),
            uid: Uid::parse(&self.uid),
        }
    }
}

impl MetaView<'_> {
    /// The object's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The object's namespace, empty for cluster-scoped objects.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The object's uid.
    pub fn uid(&self) -> Option<Uid> {
        Uid::parse(&self.uid)
    }

    /// `resourceVersion` as a number: of two readings of one object the higher is the newer one.
    pub fn version(&self) -> u64 {
        self.resource_version.parse().unwrap_or(0)
    }

    /// The object's labels.
    pub fn label(&self, key: &str) -> Option<&str> {
        // Of a key that is given twice, the last one holds, as in a map.
        self.labels.0.iter().rfind(|(name, _)| &**name == key).map(|(_, value)| &**value)
    }

    /// The `GitOps` tool's application that the object is applied from.
    pub(super) fn applied_by(&self, interner: &mut Interner) -> Option<Word> {
        let mark = gitops::mark(self.annotations.argo_tracking_id.some(), |key| self.label(key))?;
        Some(interner.intern(&format!("{} {}", mark.what, mark.name)))
    }

    /// The owner that has `controller: true`.
    pub(super) fn controller(&self, interner: &mut Interner) -> Option<Owner> {
        self.owner_references.iter().find(|owner| owner.controller).map(|owner| owner.to_owner(interner))
    }

    /// All owners, in their order.
    pub(super) fn owners(&self, interner: &mut Interner) -> Box<[Owner]> {
        self.owner_references.iter().map(|owner| owner.to_owner(interner)).collect()
    }

    pub(super) fn labels(&self, interner: &mut Interner) -> BTreeMap<Word, Word> {
        self.labels.0.iter().map(|(key, value)| (interner.intern(key), interner.intern(value))).collect()
    }

    /// When deletion was asked for: `deletionTimestamp` lies one grace period after that.
    pub(super) fn deletion_requested(&self) -> Option<Time> {
        self.deletion_timestamp.0.map(|at| at.plus_seconds(-self.deletion_grace_period_seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_annotation_that_is_used_is_among_those_that_are_named() {
        let all: BTreeMap<&str, &str> = ANNOTATIONS_READ.into_iter().map(|key| (key, key)).collect();
        let json = serde_json::to_string(&all).unwrap();
        let view: AnnotationsView = serde_json::from_str(&json).unwrap();
        assert!(!format!("{view:?}").contains("\"\""), "{view:?}");
    }
}
