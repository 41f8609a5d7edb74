//! What of a pod's spec binds it to nodes by their names.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Text, or_default};

/// `spec.affinity` of a pod, as far as it can name nodes.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct AffinityView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    node_affinity: NodeAffinityView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeAffinityView<'a> {
    #[serde(borrow, rename = "requiredDuringSchedulingIgnoredDuringExecution", deserialize_with = "or_default")]
    required: TermsView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TermsView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    node_selector_terms: Vec<TermView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TermView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    match_expressions: Vec<RequirementView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    match_fields: Vec<RequirementView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RequirementView<'a> {
    #[serde(borrow)]
    key: Text<'a>,
    #[serde(borrow)]
    operator: Text<'a>,
}

/// The label that the kubelet sets to the node's own name (`core/v1`, `LabelHostname`).
const HOSTNAME: &str = "kubernetes.io/hostname";

/// Whether a pod's spec names the nodes that it may run on: by the label of their names, or, as the `DaemonSet` controller
/// does, by the field. Of the terms of an affinity one alone must hold, within a term all (`core/v1`, `NodeSelector`).
pub(super) fn names_nodes(node_selector: &BTreeMap<Text, Text>, affinity: &AffinityView) -> bool {
    let terms = &affinity.node_affinity.required.node_selector_terms;
    node_selector.contains_key(HOSTNAME) || (!terms.is_empty() && terms.iter().all(TermView::names_nodes))
}

impl TermView<'_> {
    fn names_nodes(&self) -> bool {
        let names = |list: &[RequirementView], key: &str| {
            list.iter().any(|requirement| &*requirement.key == key && &*requirement.operator == "In")
        };
        names(&self.match_expressions, HOSTNAME) || names(&self.match_fields, "metadata.name")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::{Interner, PodView};

    #[test]
    fn a_pod_is_bound_to_nodes_by_the_label_or_the_field_of_their_names() {
        let required = |terms: Value| json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}});
        let asks = |list: &str, key: &str, operator: &str| json!({list: [{"key": key, "operator": operator, "values": ["n1"]}]});
        for (spec, expected) in [
            (json!({}), false),
            (json!({"nodeSelector": null, "affinity": null}), false),
            (json!({"nodeSelector": {"pool": "gpu"}}), false),
            (json!({"nodeSelector": {"kubernetes.io/hostname": "n1"}}), true),
            (required(json!([asks("matchExpressions", HOSTNAME, "In")])), true),
            (required(json!([asks("matchFields", "metadata.name", "In")])), true),
            (required(json!([asks("matchExpressions", HOSTNAME, "NotIn")])), false),
            (
                required(json!([asks("matchExpressions", HOSTNAME, "In"), asks("matchExpressions", "pool", "In")])),
                false,
            ),
            (required(json!([])), false),
        ] {
            let text = json!({"spec": spec}).to_string();
            let pod: PodView = serde_json::from_str(&text).unwrap();
            let pod = pod.to_pod(&mut Interner::default(), true, true).unwrap();
            assert_eq!(pod.is_pinned, expected, "{spec}");
        }
    }
}
