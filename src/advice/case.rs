use super::command::Command;
use super::draft::Advice;
use super::maker::Maker;
use super::retry::Outcome;
use super::{Kubectl, retry};
use crate::analysis::{Analysis, Failure, exemplar};
use crate::model::{ContainerEnd, ContainerKind, Job, Pod};
use crate::report::SuggestionKind;

/// Failures of one Job and one cause, for which advice is sought.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) analysis: &'a Analysis<'a>,
    /// The one that stands for the others.
    pub(super) failure: &'a Failure<'a>,
    /// All of them: indexes in [`Analysis::failures`].
    pub(super) alike: &'a [u32],
    pub(super) kubectl: &'a Kubectl,
    /// What `JobSet`s are about to do, by story.
    pub(super) outcomes: &'a [Option<Outcome>],
}

impl<'a> Case<'a> {
    pub(super) fn new(
        analysis: &'a Analysis<'a>,
        alike: &'a [u32],
        kubectl: &'a Kubectl,
        outcomes: &'a [Option<Outcome>],
    ) -> Self {
        let shown: Vec<&Failure> = alike.iter().map(|index| &analysis.failures[*index as usize]).collect();
        Self { analysis, failure: shown[exemplar(&shown)], alike, kubectl, outcomes }
    }

    pub(super) fn advice(&self, kind: SuggestionKind, why: impl Into<String>) -> Advice {
        Advice::on(kind, why, self.failure)
    }

    pub(super) fn inspect(&self, why: &str, commands: Vec<Command>) -> Advice {
        self.advice(SuggestionKind::Inspect, why).run(commands)
    }

    /// The failures that are alike.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Failure<'a>> {
        let analysis = self.analysis;
        self.alike.iter().map(move |index| &analysis.failures[*index as usize])
    }

    /// What makes the pods.
    pub(super) fn maker(&self) -> Option<Maker<'a>> {
        Maker::of(self.analysis, self.failure)
    }

    /// What the controllers do about it by themselves, if they do anything.
    pub(super) fn retried(&self) -> Option<String> {
        if let Some(Maker::JobSet(story, _)) = self.maker()
            && let Some(restarts) = retry::restarts(story, self.failure, self.outcome())
        {
            return Some(restarts);
        }
        retry::retried(self.failure)
    }

    /// What its `JobSet` is about to do.
    fn outcome(&self) -> Option<&'a Outcome> {
        let story = self.analysis.workloads[self.failure.workload].story?;
        self.outcomes.get(story)?.as_ref()
    }

    /// Whether the pod is a Job's, in the data or not.
    pub(super) fn belongs_to_job(&self) -> bool {
        let owner = self.failure.pod.and_then(|pod| pod.owner.as_ref());
        self.failure.job.is_some() || owner.is_some_and(|owner| owner.is("batch", "Job"))
    }

    /// The kind of the pod's controller, if that is one that makes another pod in the place of one that failed.
    ///
    /// Source: `FilterActivePods` (`pkg/controller/controller_utils.go`) of `ReplicaSet`s, `processReplica`
    /// (`pkg/controller/statefulset/stateful_set_control.go`), `podsShouldBeOnNode` (`pkg/controller/daemon/daemon_controller.go`).
    pub(super) fn replaced_by(&self) -> Option<&'a str> {
        let owner = self.failure.pod?.owner.as_ref()?;
        let kinds = ["ReplicaSet", "StatefulSet", "DaemonSet"];
        kinds.iter().any(|kind| owner.is("apps", kind)).then(|| &*owner.kind)
    }

    /// Logs of the container to blame, or, where none has run, the pod's description; only while the pod exists.
    pub(super) fn look(&self) -> Vec<Command> {
        match (self.pod_there(), self.failure.end) {
            (Some(pod), Some(end)) if !self.failure.ended_by_disruption() => {
                self.kubectl.read(&["logs", "-n", &pod.namespace, &pod.name, "-c", &end.container])
            }
            (Some(_), _) => self.describe_pod(),
            (None, _) => self.failure.job.map(|job| self.describe_job(job)).unwrap_or_default(),
        }
    }

    pub(super) fn describe_pod(&self) -> Vec<Command> {
        let describe = |pod: &Pod| self.kubectl.read(&["describe", "pod", &pod.name, "-n", &pod.namespace]);
        self.pod_there().map(describe).unwrap_or_default()
    }

    /// The pod, unless a journal tells that it was deleted.
    fn pod_there(&self) -> Option<&'a Pod> {
        let is_there = |pod: &&Pod| pod.uid.as_ref().is_none_or(|uid| !self.analysis.snapshot.gone.contains(uid));
        self.failure.pod.filter(is_there)
    }

    pub(super) fn describe_node(&self) -> Vec<Command> {
        self.failure.node().map(|node| self.kubectl.read(&["describe", "node", node])).unwrap_or_default()
    }

    pub(super) fn describe_pod_and_node(&self) -> Vec<Command> {
        let mut commands = self.describe_pod();
        commands.extend(self.describe_node());
        commands
    }

    pub(super) fn describe_job(&self, job: &Job) -> Vec<Command> {
        self.kubectl.read(&["describe", "job", &job.name, "-n", &job.namespace])
    }

    pub(super) fn pods_of(&self, job: &Job) -> Vec<Command> {
        let selector = format!("batch.kubernetes.io/job-name={}", job.name);
        self.kubectl.read(&["get", "pods", "-n", &job.namespace, "-l", &selector])
    }
}

/// The list of a pod's spec that a container stands in.
pub(super) fn list_of(end: &ContainerEnd) -> &'static str {
    match end.kind {
        ContainerKind::App => "containers",
        ContainerKind::Init | ContainerKind::Sidecar => "initContainers",
    }
}
