//! Pods that should have ended long ago, on nodes that will never say that they have.

use std::collections::HashMap;

use super::Kubectl;
use super::draft::Advice;
use crate::analysis::{Analysis, JobSetStory, blocker, object};
use crate::model::{Job, Pod, TEARDOWN_PATIENCE_SECONDS, Time};
use crate::report::{Blocker, Safety, SuggestionKind};
use crate::words::list_names;

/// Pods named in one suggestion.
const NAMED: usize = 3;

/// Advice for pods that hold a `JobSet`'s restart, or its failure, up.
pub(super) fn of_job_set(
    analysis: &Analysis,
    story: &JobSetStory,
    now: Option<Time>,
    kubectl: &Kubectl,
) -> Vec<Advice> {
    let blockers: Vec<&Blocker> = story.situations.iter().flat_map(|situation| &situation.blockers).collect();
    let so = "the JobSet cannot get on before they are gone";
    HeldUp { analysis, namespace: &story.job_set.namespace, so, kubectl }.unblock(&blockers, now)
}

/// Advice for pods that hold a workload up that is no Job: no other one of their name is made before they are gone.
pub(super) fn of_pods(analysis: &Analysis, workload: usize, now: Option<Time>, kubectl: &Kubectl) -> Vec<Advice> {
    let workload = &analysis.workloads[workload];
    if workload.standing.is_none() {
        return Vec::new();
    }
    let blockers: Vec<&Blocker> = workload.situations.iter().flat_map(|situation| &situation.blockers).collect();
    let so = format!("the {} makes none in their place before they are gone", workload.reference.kind);
    HeldUp { analysis, namespace: &workload.reference.namespace, so: &so, kubectl }.unblock(&blockers, now)
}

/// Until when the pods that hold a `JobSet`'s restart up may take to end.
pub(super) fn until(story: &JobSetStory) -> Option<Time> {
    let blockers = story.situations.iter().flat_map(|situation| &situation.blockers);
    blockers.filter_map(|blocker| Some(blocker.since?.plus_seconds(blocker.grace_seconds))).max()
}

/// Pods that were asked to end and have not, by the name of their Job.
pub(super) struct Ending<'a>(HashMap<(&'a str, &'a str), Vec<&'a Pod>>);

impl<'a> Ending<'a> {
    pub(super) fn new(analysis: &'a Analysis) -> Self {
        let mut pods: HashMap<(&str, &str), Vec<&Pod>> = HashMap::new();
        for pod in analysis.snapshot.pods.iter().filter(|pod| pod.is_terminating()) {
            if let Some(owner) = pod.owner.as_ref().filter(|owner| owner.is("batch", "Job")) {
                pods.entry((&pod.namespace, &owner.name)).or_default().push(pod);
            }
        }
        Self(pods)
    }

    /// Advice for pods that keep a failing Job from becoming `Failed`, or a Job from making others.
    pub(super) fn of_job(&self, analysis: &Analysis, job: &Job, now: Option<Time>, kubectl: &Kubectl) -> Vec<Advice> {
        let pods = self.0.get(&(&*job.namespace, &*job.name));
        let of_job = |pod: &&&Pod| pod.owner.as_ref().is_some_and(|owner| owner.uid == job.uid);
        let is_failing = job.failing().is_some();
        let so = if is_failing { "become Failed" } else { "make other pods" };
        let waits = !job.is_finished() && (is_failing || job.waits_for_the_end());
        let pods = pods.filter(|_| waits).into_iter().flatten().filter(of_job);
        let blockers: Vec<Blocker> = pods.map(|pod| blocker(analysis.snapshot, pod)).collect();
        let blockers: Vec<&Blocker> = blockers.iter().collect();
        let so = format!("the Job does not {so} before they are gone");
        HeldUp { analysis, namespace: &job.namespace, so: &so, kubectl }.unblock(&blockers, now)
    }
}

/// A Job or `JobSet` that pods hold up.
struct HeldUp<'a> {
    analysis: &'a Analysis<'a>,
    namespace: &'a str,
    /// What comes of it.
    so: &'a str,
    kubectl: &'a Kubectl,
}

/// What a node's kubelet does about pods that are to end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kubelet {
    /// It reports, and ends them.
    Ready,
    /// It reports that it is not ready, and ends pods all the same.
    NotReady,
    /// Nothing: the node lifecycle controller has set `Ready` to `Unknown`, as it has stopped reporting. Whether the machine
    /// runs is not known.
    Silent,
    /// No state of the node was read.
    Unread,
}

impl HeldUp<'_> {
    /// By node: a silent node's pods need a hand; those on a node that reports will end, or are held by a finalizer.
    fn unblock(&self, blockers: &[&Blocker], now: Option<Time>) -> Vec<Advice> {
        // Where nobody is there to end the pod no grace period is kept.
        let is_late = |blocker: &&&Blocker| {
            let is_silent = self.kubelet(blocker.node.as_deref()) == Kubelet::Silent;
            let grace = if is_silent { 0 } else { blocker.grace_seconds };
            // The longer it has been silent, the less there is to wait for.
            let node = blocker.node.as_deref().and_then(|name| self.analysis.snapshot.node(name));
            let silent_since = node.filter(|_| is_silent).and_then(|node| node.ready_since);
            let since = blocker.since.map(|asked| silent_since.map_or(asked, |silent| silent.min(asked)));
            let until = since.map(|since| since.plus_seconds(grace + TEARDOWN_PATIENCE_SECONDS));
            until.zip(now).is_some_and(|(until, now)| now > until)
        };
        let mut late: Vec<&Blocker> = blockers.iter().copied().filter(|blocker| is_late(&blocker)).collect();
        late.sort_by(|a, b| (&a.node, &a.pod).cmp(&(&b.node, &b.pod)));
        late.dedup_by(|a, b| a.pod == b.pod);
        late.chunk_by(|a, b| a.node == b.node).filter_map(|of_node| self.on_node(of_node)).collect()
    }

    fn kubelet(&self, node: Option<&str>) -> Kubelet {
        match node.and_then(|node| self.analysis.snapshot.node(node)) {
            Some(node) if node.is_silent => Kubelet::Silent,
            Some(node) => match node.ready {
                Some(true) => Kubelet::Ready,
                Some(false) => Kubelet::NotReady,
                None => Kubelet::Unread,
            },
            None => Kubelet::Unread,
        }
    }

    fn on_node(&self, pods: &[&Blocker]) -> Option<Advice> {
        let (namespace, so, kubectl) = (self.namespace, self.so, self.kubectl);
        let (first, node) = (pods.first()?, pods.first()?.node.as_deref()?);
        let all: Vec<&str> = pods.iter().map(|blocker| &*blocker.pod).collect();
        let (was, has) = if all.len() == 1 { ("was", "has") } else { ("were", "have") };
        let which = format!("{} on {node} {was} asked to end and {has} not", list_names(&all, NAMED));
        let describe_node = kubectl.read(&["describe", "node", node]);
        let describe_pod = kubectl.read(&["describe", "pod", &first.pod, "-n", namespace]);
        let kubelet = self.kubelet(Some(node));
        let advice = match kubelet {
            Kubelet::Ready => {
                let why =
                    format!("{which}, and the node is ready: {so}; see what holds its pods, a finalizer or a volume");
                Advice::new(SuggestionKind::Inspect, why).run(describe_pod)
            }
            Kubelet::NotReady => {
                let why = format!(
                    "{which}, and the node is not ready, though its kubelet reports, which still ends pods: {so}; see what ails the node, \
                 and what holds its pods"
                );
                Advice::new(SuggestionKind::Inspect, why).run(describe_node).run(describe_pod)
            }
            // Force does harm on a machine that is up: nothing of the kind before it is known to be down.
            Kubelet::Unread => {
                let why = format!(
                    "{which}, and no state of the node was read: {so}; see first whether the node is there and ready, and what holds its pods"
                );
                Advice::new(SuggestionKind::Inspect, why).run(describe_node).run(describe_pod)
            }
            Kubelet::Silent => {
                let named = &all[..all.len().min(NAMED)];
                by_force(namespace, node, &format!("{which}, whose kubelet is silent: {so}"), named, kubectl)
            }
        };
        Some(with_facts(advice, namespace, (node, kubelet), pods))
    }
}

/// What frees the pods of a dead node.
fn by_force(namespace: &str, node: &str, that: &str, pods: &[&str], kubectl: &Kubectl) -> Advice {
    let why = format!(
        "{that}. Only if the machine is surely off, taint it as out of service, which also frees its volumes, or delete its pods by \
         force: on a machine that still runs, their processes go on and may write to the same volumes as their successors"
    );
    let taint = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute";
    let by_force = ["-n", namespace, "--grace-period=0", "--force"];
    let delete: Vec<&str> = ["delete", "pod"].iter().chain(pods).chain(&by_force).copied().collect();
    let loses = "the pods with their logs and exit codes; with the taint, every pod on the node";
    Advice::new(SuggestionKind::UnblockTeardown, why)
        .run(kubectl.read(&["describe", "node", node]))
        .run(kubectl.write(Safety::Destructive, &["taint", "nodes", node, taint], None))
        .run(kubectl.write(Safety::Destructive, &delete, None))
        .losing(Some(loses.to_owned()))
}

fn with_facts(mut advice: Advice, namespace: &str, (node, kubelet): (&str, Kubelet), pods: &[&Blocker]) -> Advice {
    for blocker in pods.iter().take(2) {
        let pod = object("pod", namespace, &blocker.pod);
        let until = blocker.since.map(|since| since.plus_seconds(blocker.grace_seconds));
        advice = advice.fact(pod, "metadata.deletionTimestamp", until.map_or(String::new(), |until| until.to_string()));
    }
    let status = match kubelet {
        Kubelet::Ready => "True",
        Kubelet::NotReady => "False",
        Kubelet::Silent => "Unknown",
        Kubelet::Unread => return advice,
    };
    advice.fact(format!("node/{node}"), "status.conditions[type=Ready].status", status)
}
