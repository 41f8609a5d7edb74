//! What failed on a node beside its share of the pods.

use std::collections::HashMap;

use super::Analysis;
use super::group::Grouped;
use crate::model::{Node, Word};
use crate::report::NodeShare;

/// So few failures may gather by chance: they are not ranked before others.
const FEWEST: f64 = 3.0;

/// Adds to each node's group what is known of the node.
pub(super) fn add(analysis: &Analysis, groups: &mut [Grouped]) {
    let snapshot = analysis.snapshot;
    let mut pods: HashMap<&str, u64> = HashMap::new();
    for node in snapshot.pods.iter().filter_map(|pod| pod.node.as_deref()) {
        *pods.entry(node).or_default() += 1;
    }
    for ((_, node), count) in &snapshot.quiet_pods {
        *pods.entry(node).or_default() += u64::from(*count);
    }
    // Pods that are gone ran there as well.
    let failed_on: Vec<(Word, u64)> =
        groups.iter().filter_map(|(group, _)| Some((group.nodes.first()?.name.clone(), group.failures))).collect();
    for (node, failures) in &failed_on {
        let on_it = pods.entry(node).or_default();
        *on_it = (*on_it).max(*failures);
    }
    let all_pods: u64 = pods.values().sum();
    let on_nodes = groups.iter().filter(|(group, _)| !group.nodes.is_empty());
    let all_failures: u64 = on_nodes.map(|(group, _)| group.failures).sum();
    for (group, _) in groups.iter_mut() {
        let Some(name) = group.nodes.first().map(|node| node.name.clone()) else { continue };
        let node = snapshot.node(&name);
        let on_it = pods.get(&*name).copied().unwrap_or_default();
        group.node = Some(NodeShare {
            ready_since: node.and_then(|node| node.ready_since),
            silent: node.map(|node| node.is_silent),
            unschedulable: node.map(|node| node.unschedulable),
            taints: node.into_iter().flat_map(Node::taints).map(ToString::to_string).collect(),
            conditions: node.into_iter().flat_map(Node::problems).map(|it| it.type_.to_string()).collect(),
            pods: on_it,
            failure_share: share(group.failures, all_failures),
            pod_share: share(on_it, all_pods),
        });
    }
}

#[allow(clippy::cast_precision_loss)] // pods are not that many
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl NodeShare {
    /// How far its failures are beyond what its share of the pods would bring: twice as many are 2. Few failures are weighed as
    /// if some had been as expected, so that one failure of one pod does not come first.
    pub(super) fn beyond(&self) -> f64 {
        let failures = self.failure_share * 100.0;
        let expected = self.pod_share * 100.0;
        (failures + FEWEST) / (expected + FEWEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_with_more_failures_than_its_share_of_the_pods_comes_first() {
        let node = |failure_share, pod_share| NodeShare {
            ready_since: None,
            silent: None,
            unschedulable: None,
            taints: Vec::new(),
            conditions: Vec::new(),
            pods: 0,
            failure_share,
            pod_share,
        };
        let (bad, large, lone) = (node(0.5, 0.1), node(0.45, 0.6), node(0.01, 0.001));
        assert!(bad.beyond() > lone.beyond() && lone.beyond() > large.beyond());
    }
}
