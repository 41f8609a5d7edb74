//! Failures that gather on one node.

use std::collections::{BTreeMap, HashSet};

use super::Kubectl;
use super::draft::Advice;
use super::kubelet::is_evicted_for_own;
use crate::analysis::{Analysis, Failure, object};
use crate::model::{Node, Owner, Pod};
use crate::report::{Class, Safety, SuggestionKind};

/// So few failures may gather by chance.
const FEWEST: u64 = 3;
/// How seldom chance alone may put so many of the failures on any one node.
const CHANCE: f64 = 0.05;

/// Failures and pods on one node.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    failures: u64,
    pods: u64,
}

/// What is counted over all nodes, and of those of them that may be bad. There may be as many nodes as pods.
struct Tallies<'a> {
    all: Tally,
    /// Nodes with pods.
    nodes: usize,
    suspects: BTreeMap<&'a str, Tally>,
}

/// Advice for each bad node, with the failures on it: indexes in [`Analysis::failures`].
pub(super) fn bad_nodes(analysis: &Analysis, kubectl: &Kubectl) -> Vec<(Advice, Vec<u32>)> {
    let unhealthy = unhealthy_devices(analysis);
    let Tallies { all, nodes, suspects } = tallies(analysis, unhealthy.keys().copied());
    let mut found = Vec::new();
    for (name, tally) in suspects {
        let devices = unhealthy.get(name).map_or(&[][..], Vec::as_slice);
        if devices.is_empty() && !gathers(tally, all, nodes) {
            continue;
        }
        let of_node = (0..).zip(&analysis.failures).filter(|(_, failure)| {
            let on_node = failure.pod.filter(|pod| pod.node.as_deref() == Some(name));
            on_node.is_some_and(|pod| may_blame_node(failure) || !pod.unhealthy_devices().is_empty())
        });
        let of_node: Vec<u32> = of_node.map(|(index, _)| index).collect();
        found.push((advice(analysis, name, tally, all, devices, kubectl), of_node));
    }
    found
}

/// Advice for nodes that are not ready: what of it ails the workloads on it is told once, for all of them.
pub(super) fn lost_nodes(analysis: &Analysis, kubectl: &Kubectl) -> Vec<(Advice, Vec<u32>)> {
    let mut lost: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (index, failure) in (0..).zip(&analysis.failures) {
        let by_node = failure.class == Class::NotReady && failure.reason() == Some("NodeNotReady");
        if let Some(node) = failure.node().filter(|_| by_node) {
            lost.entry(node).or_default().push(index);
        }
    }
    lost.into_iter()
        .filter_map(|(name, failures)| Some((lost_node(analysis.snapshot.node(name)?, kubectl), failures)))
        .collect()
}

/// Source: `pkg/controller/tainteviction`, and `tolerationSeconds` that the admission plugin `DefaultTolerationSeconds` sets.
fn lost_node(node: &Node, kubectl: &Kubectl) -> Advice {
    let how = if node.is_silent { "has stopped reporting" } else { "is not ready" };
    let why = format!(
        "node {} {how}: bring it back, or replace it; as long as it is so its pods are asked to end after their tolerationSeconds (5 minutes by \
         default), and pods of a Deployment come up elsewhere, while a StatefulSet makes none of the same name before the old one is \
         gone",
        node.name
    );
    let advice = Advice::new(SuggestionKind::ReplaceNode, why).run(kubectl.read(&["describe", "node", &node.name]));
    let status = if node.is_silent { "Unknown" } else { "False" };
    advice.fact(format!("node/{}", node.name), "status.conditions[type=Ready].status", status)
}

fn tallies<'a>(analysis: &'a Analysis, unhealthy: impl Iterator<Item = &'a str>) -> Tallies<'a> {
    let mut failed_on: Vec<&str> = blamed_pods(analysis).filter_map(|pod| pod.node.as_deref()).collect();
    failed_on.sort_unstable();
    let failures = failed_on.len() as u64;
    let runs = failed_on.chunk_by(|a, b| a == b).map(|run| (run[0], Tally { failures: run.len() as u64, pods: 0 }));
    let mut suspects: BTreeMap<&str, Tally> = runs.filter(|(_, tally)| tally.failures >= FEWEST).collect();
    for node in unhealthy {
        let failures =
            || failed_on.partition_point(|other| *other <= node) - failed_on.partition_point(|other| *other < node);
        suspects.entry(node).or_insert_with(|| Tally { failures: failures() as u64, pods: 0 });
    }
    drop(failed_on);
    let mut nodes: Vec<&str> = Vec::new();
    let mut pods = 0;
    for (node, count) in pods_on(analysis) {
        pods += count;
        nodes.push(node);
        if let Some(tally) = suspects.get_mut(node) {
            tally.pods += count;
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    Tallies { all: Tally { failures, pods }, nodes: nodes.len(), suspects }
}

/// Pods of which a failure may be the node's, each once: a pod of which several containers fail is one draw.
fn blamed_pods<'a>(analysis: &'a Analysis) -> impl Iterator<Item = &'a Pod> {
    let mut last: Option<&Pod> = None;
    let pods = analysis.failures.iter().filter(|failure| may_blame_node(failure)).filter_map(|failure| failure.pod);
    pods.filter(move |pod| !last.replace(pod).is_some_and(|last| std::ptr::eq(last, *pod)))
}

/// Whether a failure may be the node's: not one that the workload brings about wherever it runs, nor one that somebody
/// brought about who wanted the node's room, or it empty. A pod that may run nowhere else says nothing of the node.
fn may_blame_node(failure: &Failure) -> bool {
    let own = failure.rule.is_some_and(|rule| rule.sidecar || (rule.by_exit_code() && rule.action.ends_job()))
        || failure.end.is_some_and(|end| {
            end.memory.as_ref().is_some_and(|memory| memory.limit.is_some() || memory.pod_limit.is_some())
        });
    let judged = matches!(
        failure.class,
        Class::Rule | Class::NoRule | Class::NoPolicy | Class::Unmatchable | Class::Restarting | Class::Unknown
    );
    judged
        && (!own || failure.ended_by_disruption())
        && failure.pod.is_some_and(|pod| !pod.is_pinned && may_be_nodes(pod))
}

/// Whether the pod ended by itself, or was disrupted because of the node: by a taint that evicts, by the loss of the node, by a
/// device's taint, or by the kubelet for want of what the pod did not use up alone, or to shut down.
///
/// Source: the reasons of `DisruptionTarget` (`core/v1`, `PodReasonTerminationByKubelet`, and KEP-3329), and the kubelet's
/// `preemption.go`: it makes room for static pods.
fn may_be_nodes(pod: &Pod) -> bool {
    let Some(disruption) = pod.disruption() else { return !is_evicted_for_own(pod) };
    match disruption.reason.as_deref() {
        Some("DeletionByTaintManager" | "DeletionByPodGC" | "DeletionByDeviceTaintManager") => true,
        Some("TerminationByKubelet") => pod.reason() != Some("Preempting") && !is_evicted_for_own(pod),
        // Preemption by the scheduler, eviction by the API, as a drain asks for it, or whatever else somebody wanted.
        _ => false,
    }
}

/// How many pods are on which node, of the Jobs with failures that may be a node's: those that are fine among them.
fn pods_on<'a>(analysis: &'a Analysis) -> impl Iterator<Item = (&'a str, u64)> {
    let snapshot = analysis.snapshot;
    let of_jobs: HashSet<&Owner> = blamed_pods(analysis).filter_map(|pod| pod.owner.as_deref()).collect();
    let is_free = |pod: &&Pod| !pod.is_pinned;
    let told = snapshot.pods.iter().filter(is_free);
    let told = told.filter_map(|pod| Some((pod.owner.as_deref()?, pod.node.as_deref()?, 1)));
    let quiet = snapshot.quiet_pods.iter().map(|((owner, node), count)| (&**owner, &**node, u64::from(*count)));
    told.chain(quiet).filter(move |(owner, ..)| of_jobs.contains(owner)).map(|(_, node, count)| (node, count))
}

/// Whether far more of the failures are on the node than its share of the pods: by the hypergeometric distribution, with as many
/// chances as there are nodes.
fn gathers(node: Tally, all: Tally, nodes: usize) -> bool {
    let (failures, pods) = (node.failures, node.pods.max(node.failures));
    if failures < FEWEST || nodes < 2 || all.failures > all.pods {
        return false;
    }
    // Sums of logarithms, as the numbers themselves are beyond any float.
    let most = pods.min(all.failures);
    let choose = |n: u64, k: u64| ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
    let whole = choose(all.pods, all.failures);
    let at_least = (failures..=most)
        .filter(|k| all.failures - k <= all.pods - pods)
        .map(|k| (choose(pods, k) + choose(all.pods - pods, all.failures - k) - whole).exp())
        .sum::<f64>();
    #[allow(clippy::cast_precision_loss)] // nodes are not that many
    let chances = nodes as f64;
    at_least * chances < CHANCE
}

/// `ln(n!)`: exact for small numbers, by Stirling's series for others.
fn ln_factorial(n: u64) -> f64 {
    #[allow(clippy::cast_precision_loss)] // pods are not that many
    let x = n as f64;
    if n < 32 {
        return (2..=n).map(|k| f64::from(u32::try_from(k).unwrap_or(u32::MAX)).ln()).sum();
    }
    x * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI * x).ln() + 1.0 / (12.0 * x) - 1.0 / (360.0 * x * x * x)
}

/// Devices that pods report as unhealthy, by node, with the pod that does. In one pass: there may be as many nodes as pods.
fn unhealthy_devices<'a>(analysis: &'a Analysis) -> BTreeMap<&'a str, Vec<(String, &'a str)>> {
    let mut by_node: BTreeMap<&str, Vec<(String, &str)>> = BTreeMap::new();
    for pod in analysis.failures.iter().filter_map(|failure| failure.pod) {
        let Some(node) = pod.node.as_deref() else { continue };
        for device in pod.unhealthy_devices() {
            let devices = by_node.entry(node).or_default();
            if !devices.iter().any(|(_, known)| *known == &**device) {
                devices.push((object("pod", &pod.namespace, &pod.name), device));
            }
        }
    }
    by_node
}

fn advice(
    analysis: &Analysis,
    name: &str,
    tally: Tally,
    all: Tally,
    devices: &[(String, &str)],
    kubectl: &Kubectl,
) -> Advice {
    let node = analysis.snapshot.node(name);
    let counted = format!(
        "{} of {} failures, but {} of {} pods, are on node {name}",
        tally.failures, all.failures, tally.pods, all.pods
    );
    let mut why = match devices.first() {
        None => counted,
        Some((_, device)) if tally.failures > 0 => format!("{counted}, and a device there is unhealthy: {device}"),
        Some((_, device)) => format!("a device of node {name} is unhealthy: {device}"),
    };
    let state = match node {
        None => "; nothing is known of the node itself".to_owned(),
        Some(node) => words(node),
    };
    why.push_str(&state);
    let mut advice = Advice::new(SuggestionKind::ReplaceNode, why).run(kubectl.read(&["describe", "node", name]));
    if node.is_none_or(|node| !node.unschedulable) {
        advice = advice.run(kubectl.write(Safety::Mutating, &["cordon", name], None));
    }
    for (pod, device) in devices.iter().take(2) {
        let path = "status.containerStatuses[].allocatedResourcesStatus[].resources[].health";
        advice = advice.fact(&**pod, path, format!("Unhealthy ({device})"));
    }
    let Some(node) = node else { return advice };
    let object = format!("node/{name}");
    if let Some(ready) = node.ready.filter(|ready| !ready) {
        let status = if node.is_silent { "Unknown".to_owned() } else { ready.to_string() };
        advice = advice.fact(&*object, "status.conditions[type=Ready].status", status);
    }
    for problem in node.problems() {
        advice = advice.fact(&*object, format!("status.conditions[type={}].status", problem.type_), "True");
    }
    for taint in node.taints() {
        advice = advice.fact(&*object, "spec.taints[]", &**taint);
    }
    advice
}

/// What the node says of itself.
fn words(node: &Node) -> String {
    let mut told = Vec::new();
    match (node.ready, node.is_silent) {
        (Some(false), true) => told.push("its kubelet is silent".to_owned()),
        (Some(false), false) => told.push("it is not ready".to_owned()),
        _ => {}
    }
    told.extend(node.problems().iter().map(|problem| problem.type_.to_string()));
    told.push(if node.unschedulable { "it is cordoned already" } else { "keep new pods off it" }.to_owned());
    format!("; {}", told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(failures: u64, pods: u64) -> Tally {
        Tally { failures, pods }
    }

    #[test]
    fn failures_gather_where_chance_would_hardly_put_them() {
        for (node, all, nodes, expected) in [
            // All of the failures, half of the pods.
            (tally(4, 4), tally(4, 8), 2, true),
            (tally(6, 6), tally(6, 12), 2, true),
            (tally(3, 3), tally(3, 12), 4, true),
            // It might be chance.
            (tally(3, 3), tally(3, 6), 2, false),
            (tally(2, 2), tally(2, 100), 50, false),
            // Everything fails everywhere.
            (tally(4, 4), tally(8, 8), 2, false),
            (tally(33, 33), tally(90_000, 100_000), 3_000, false),
            (tally(40, 40), tally(1_000, 100_000), 2_500, true),
            // The only node.
            (tally(9, 9), tally(9, 9), 1, false),
            // A share as large as that of the pods.
            (tally(5, 50), tally(10, 100), 2, false),
        ] {
            assert_eq!(gathers(node, all, nodes), expected, "{node:?} of {all:?} on {nodes}");
        }
    }

    #[test]
    fn the_logarithm_of_a_factorial_has_no_step() {
        let exact: f64 = (2..=40_u32).map(|k| f64::from(k).ln()).sum();
        assert!((ln_factorial(40) - exact).abs() < 1e-9);
        assert!((ln_factorial(5) - 120_f64.ln()).abs() < 1e-12);
    }
}
