use std::collections::BTreeSet;
use std::sync::PoisonError;

use futures_util::stream::{self, StreamExt as _};

use super::error::ClusterError;
use super::fault::Fault;
use super::list::Outcome;
use super::others::Found;
use super::page::Wanted;
use super::reading::{Outcomes, Reading};
use super::targets::{AT_ONCE, Owner};
use crate::model::Time;
use crate::request::{Subject, Target, TargetKind};
use crate::source::{Resource, SourceState};

/// Nodes that are read: those of the pods that failed or do not end. More would not be read by a person either.
pub(super) const MOST_NODES: usize = 20;

/// Owners that stand one above the other. More is a circle.
const HIGHEST: usize = 6;
/// Kinds that a name without a kind may be of, beside a pod and a Job.
const NAMED: [TargetKind; 10] = [
    TargetKind::CronJob,
    TargetKind::JobSet,
    TargetKind::TrainJob,
    TargetKind::Deployment,
    TargetKind::StatefulSet,
    TargetKind::DaemonSet,
    TargetKind::LeaderWorkerSet,
    TargetKind::DisaggregatedSet,
    TargetKind::Sandbox,
    TargetKind::SandboxClaim,
];

impl Reading<'_> {
    /// Reads all that bears on one workload or pod: what owns it, all Jobs and pods of that, Events of all of them, and the
    /// nodes of pods that tell of a failure; what checkpoints lie on, and what was taken of it or of pods.
    pub(super) async fn detail(&self, subject: &Subject) -> Result<Outcomes, ClusterError> {
        let (targets, read) = Box::pin(self.resolve(subject)).await?;
        let mut outcomes = Box::pin(self.targets(&targets)).await?;
        let (pod_events, nodes, storage) = tokio::join!(self.pod_events(), self.nodes(), self.storage());
        for (resource, outcome) in read {
            add(&mut outcomes, resource, outcome);
        }
        add(&mut outcomes, Resource::Events, pod_events?);
        add(&mut outcomes, Resource::Nodes, nodes?);
        for (resource, outcome) in storage? {
            add(&mut outcomes, resource, outcome);
        }
        Ok(outcomes)
    }

    /// The workloads to read for a subject: a pod's Job, a Job's `JobSet`, a pod's `Deployment`. A name without a kind may be
    /// several. With them, what became of what was read on the way.
    async fn resolve(&self, subject: &Subject) -> Result<(Vec<Target>, Found), ClusterError> {
        let mut pods = Outcome::new(SourceState::NotAsked);
        let mut above = Found::new();
        let mut targets = BTreeSet::new();
        let wants = |kind| subject.kind.is_none_or(|wanted| wanted == kind);
        if wants(TargetKind::Pod) {
            match self.object(Resource::Pods, "v1", &subject.name).await {
                Ok(read) => {
                    pods = read.outcome;
                    targets.extend(self.top_of(read.owner, &mut above).await?);
                }
                Err(fault) => self.must_be_there(subject, Resource::Pods, "v1", fault).await?,
            }
        }
        if wants(TargetKind::Job) {
            match self.object(Resource::Jobs, "batch/v1", &subject.name).await {
                Ok(read) => {
                    let own = || Target { kind: TargetKind::Job, name: subject.name.clone() };
                    let owner = read.owner.as_ref().and_then(Owner::target);
                    targets.insert(owner.filter(|owner| owner.kind == TargetKind::JobSet).unwrap_or_else(own));
                }
                Err(fault) => self.must_be_there(subject, Resource::Jobs, "batch/v1", fault).await?,
            }
        }
        let is_last = targets.is_empty() && pods.state == SourceState::NotAsked;
        targets.extend(Box::pin(self.called(subject, is_last)).await?);
        if targets.is_empty() && pods.state == SourceState::NotAsked {
            return Err(self.nothing_of_any_kind(&subject.name).await);
        }
        above.push((Resource::Pods, pods));
        Ok((targets.into_iter().collect(), above))
    }

    /// What has the name and is neither pod nor Job. With its kind told, reading it as a target says whether it is there.
    /// What may not be read may be there: that is an error where nothing else, of what was looked for before, has the name.
    async fn called(&self, subject: &Subject, is_last: bool) -> Result<Vec<Target>, ClusterError> {
        let target = |kind| Target { kind, name: subject.name.clone() };
        match subject.kind {
            Some(TargetKind::Pod | TargetKind::Job) => return Ok(Vec::new()),
            // What a Workload stands for tells more than it does.
            Some(TargetKind::Workload) => return self.queued(&subject.name).await,
            Some(kind) => return Ok(vec![target(kind)]),
            None => {}
        }
        let mut targets = Vec::new();
        let mut refused = None;
        let asked = NAMED.map(|kind| async move { (kind, self.is_there(Resource::of(kind), &subject.name).await) });
        let mut found = stream::iter(asked).buffered(AT_ONCE);
        while let Some((kind, is_there)) = found.next().await {
            match is_there {
                Ok(true) => targets.push(target(kind)),
                Ok(false) => {}
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        match refused.filter(|_| is_last && targets.is_empty()) {
            Some(error) => Err(error),
            None => Ok(targets),
        }
    }

    /// Kueue's `Workload` of that name, and what it stands for.
    async fn queued(&self, name: &str) -> Result<Vec<Target>, ClusterError> {
        let own = Target { kind: TargetKind::Workload, name: name.to_owned() };
        let version =
            self.group_of(Resource::Workloads).await.map_err(|fault| self.error(Resource::Workloads, fault))?;
        let Some(version) = version else { return Ok(vec![own]) };
        let read = self.object(Resource::Workloads, &version, name).await;
        let owner = read.ok().and_then(|read| read.owner).and_then(|owner| owner.target());
        Ok(std::iter::once(own).chain(owner).collect())
    }

    /// The workload that a pod's owner belongs to: above a `ReplicaSet` its `Deployment`, above a leader its
    /// `LeaderWorkerSet`. What owns it may be gone; what may not be read goes to `unread`, as the way ends there.
    async fn top_of(&self, owner: Option<Owner>, unread: &mut Found) -> Result<Option<Target>, ClusterError> {
        let Some(mut owner) = owner else { return Ok(None) };
        for _ in 0..HIGHEST {
            let (resource, version) = match (owner.group(), &*owner.kind) {
                ("batch", "Job") => return self.owner_of_job(&owner.name).await.map(Some),
                ("apps", "ReplicaSet") => (Resource::ReplicaSets, "apps/v1"),
                ("apps", "StatefulSet") => (Resource::StatefulSets, "apps/v1"),
                ("", "Pod") => (Resource::Pods, "v1"),
                _ => return Ok(owner.target()),
            };
            match self.object(resource, version, &owner.name).await.map(|read| read.owner) {
                // What owns it is not known here: it is the workload itself.
                Ok(Some(above)) if above.target().is_none() && above.kind != "ReplicaSet" => break,
                Ok(Some(above)) => owner = above,
                Ok(None) => break,
                Err(fault) if fault.code() == Some(404) => break,
                Err(fault) if fault.code() == Some(403) => {
                    unread.push((resource, self.degraded(resource, Err(fault))?));
                    break;
                }
                Err(fault) => return Err(self.error(resource, fault)),
            }
        }
        Ok(owner.target())
    }

    /// The error for a name that nothing has, with names like it.
    async fn nothing_of_any_kind(&self, name: &str) -> ClusterError {
        let mut names = self.names(Resource::Jobs, "batch/v1").await;
        for kind in NAMED {
            let resource = Resource::of(kind);
            if let Ok(Some(version)) = self.group_of(resource).await {
                names.extend(self.names(resource, &version).await);
            }
        }
        self.nothing_called(name, "workload or pod", names)
    }

    /// Whether an object is there. What may not be read may be: that is an error, and not "no".
    async fn is_there(&self, resource: Resource, name: &str) -> Result<bool, ClusterError> {
        let version = match self.group_of(resource).await {
            Ok(Some(version)) => version,
            Ok(None) => return Ok(false),
            Err(fault) => return Err(self.error(resource, fault)),
        };
        match self.object(resource, &version, name).await {
            Ok(_) => Ok(true),
            Err(fault) if fault.code() == Some(404) => Ok(false),
            Err(fault) => Err(self.error(resource, fault)),
        }
    }

    /// A name of the kind asked for that is not there is an error; one without a kind may be another kind's.
    async fn must_be_there(
        &self,
        subject: &Subject,
        resource: Resource,
        version: &str,
        fault: Fault,
    ) -> Result<(), ClusterError> {
        match (fault.code(), subject.kind) {
            (Some(404), None) => Ok(()),
            (Some(404), Some(_)) => Err(self.not_found(resource, version, &subject.name).await),
            _ => Err(self.error(resource, fault)),
        }
    }

    /// The Job, or the `JobSet` that owns it; the Job may be gone.
    async fn owner_of_job(&self, job: &str) -> Result<Target, ClusterError> {
        let own = Target { kind: TargetKind::Job, name: job.to_owned() };
        match self.object(Resource::Jobs, "batch/v1", job).await {
            Ok(read) => {
                let owner = read.owner.as_ref().and_then(Owner::target);
                Ok(owner.filter(|owner| owner.kind == TargetKind::JobSet).unwrap_or(own))
            }
            Err(fault) if fault.code() == Some(404) => Ok(own),
            Err(fault) => Err(self.error(Resource::Jobs, fault)),
        }
    }

    /// Events of the namespace's pods that tell where they ran: one list, none a pod.
    async fn pod_events(&self) -> Result<Outcome, ClusterError> {
        let selector = "involvedObject.kind=Pod,reason=Scheduled";
        let read = self.list(Resource::Events, "v1", &[("fieldSelector", selector)], Wanted::All).await;
        self.degraded(Resource::Events, read)
    }

    /// The nodes of pods that tell of a failure.
    pub(super) async fn nodes(&self) -> Result<Outcome, ClusterError> {
        let names = self.lister.intake.lock().unwrap_or_else(PoisonError::into_inner).nodes_of_pods();
        self.nodes_called(&names).await
    }

    /// The nodes of pods that should have ended before `now` and have not: whether force may be spoken of hangs on them.
    pub(super) async fn nodes_of_late_pods(&self, now: Time) -> Result<Outcome, ClusterError> {
        let names = self.lister.intake.lock().unwrap_or_else(PoisonError::into_inner).nodes_of_late_pods(now);
        self.nodes_called(&names).await
    }

    /// Nodes by name; a node that is gone is none.
    async fn nodes_called(&self, names: &[String]) -> Result<Outcome, ClusterError> {
        let mut all = Outcome::new(SourceState::NotAsked);
        if names.len() > MOST_NODES {
            let note = format!("only {MOST_NODES} of {} nodes are read, those with hanging pods first", names.len());
            all = Outcome::with_note(SourceState::Truncated, note);
        }
        let cluster_wide = Reading { lister: self.lister.clone(), namespace: None };
        let mut reads = stream::iter(names.iter().take(MOST_NODES))
            .map(|name| cluster_wide.object(Resource::Nodes, "v1", name))
            .buffered(AT_ONCE);
        while let Some(read) = reads.next().await {
            all = match read {
                Err(fault) if fault.code() == Some(404) => all,
                read => all.join(self.degraded(Resource::Nodes, read.map(|read| read.outcome))?),
            };
        }
        Ok(all)
    }
}

/// Adds what became of one more read of a resource.
pub(super) fn add(outcomes: &mut Outcomes, resource: Resource, outcome: Outcome) {
    let place = Resource::ALL.iter().position(|other| *other == resource).unwrap_or_default();
    let before = std::mem::replace(&mut outcomes[place], Outcome::new(SourceState::NotAsked));
    outcomes[place] = before.join(outcome);
}
