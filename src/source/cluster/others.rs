//! Workloads that are no Jobs, what stands above Jobs, and nodes: all of them, or one with what bears on it.

use futures_util::future::try_join_all;

use super::error::ClusterError;
use super::list::Outcome;
use super::page::Wanted;
use super::reading::{Outcomes, Reading, outcomes};
use super::targets::Read;
use crate::request::{Target, TargetKind};
use crate::source::{Resource, SourceState};

/// What is read of a namespace or cluster beside the core, each in one list, or one request where its group is absent.
pub(super) const ALL: [Resource; 12] = [
    Resource::Deployments,
    Resource::ReplicaSets,
    Resource::StatefulSets,
    Resource::DaemonSets,
    Resource::ControllerRevisions,
    Resource::LeaderWorkerSets,
    Resource::DisaggregatedSets,
    Resource::Sandboxes,
    Resource::SandboxClaims,
    Resource::SandboxWarmPools,
    Resource::TrainJobs,
    Resource::Workloads,
];

const LWS_NAME: &str = "leaderworkerset.sigs.k8s.io/name";

/// What became of some resources.
pub(super) type Found = Vec<(Resource, Outcome)>;

impl Reading<'_> {
    /// All of them.
    pub(super) async fn others(&self) -> Result<Found, ClusterError> {
        self.whole(&ALL, &[]).await
    }

    /// Kueue's `Workload`s of the namespace, for what is asked for by name may stand in a queue.
    pub(super) async fn queues(&self) -> Result<Found, ClusterError> {
        self.whole(&[Resource::Workloads], &[]).await
    }

    /// Resources whole, or as far as a selector takes.
    async fn whole(&self, resources: &[Resource], query: &[(&str, &str)]) -> Result<Found, ClusterError> {
        // A group is asked for once, whatever is read of it.
        let of_groups = resources.chunk_by(|one, other| one.group() == other.group());
        let found: Vec<Found> = try_join_all(of_groups.map(|resources| self.of_group(resources, query))).await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Resources of one group.
    async fn of_group(&self, resources: &[Resource], query: &[(&str, &str)]) -> Result<Found, ClusterError> {
        let Some(first) = resources.first() else { return Ok(Vec::new()) };
        let version = match self.version_of(*first).await? {
            Ok(version) => version,
            Err(absent) => {
                let outcome = || absent.notes.iter().fold(Outcome::new(absent.state), |all, note| all.noted(note));
                return Ok(resources.iter().map(|resource| (*resource, outcome())).collect());
            }
        };
        let version = version.as_str();
        try_join_all(resources.iter().map(|resource| async move {
            let read = self.list(*resource, version, query, Wanted::All).await;
            Ok((*resource, self.degraded(*resource, read)?))
        }))
        .await
    }

    /// Group and version of a resource, or what became of asking for them.
    async fn version_of(&self, resource: Resource) -> Result<Result<String, Outcome>, ClusterError> {
        if resource.group() == "apps" {
            return Ok(Ok("apps/v1".to_owned()));
        }
        Ok(match self.group_version(resource, resource.group()).await {
            Ok(Some(version)) => Ok(version),
            Ok(None) => Err(Outcome::new(SourceState::NotInstalled)),
            Err(fault) => Err(self.degraded(resource, Err(fault))?),
        })
    }

    /// One workload by its name, with its pods, the versions of its template, and the Events about it.
    pub(super) async fn other(&self, target: &Target) -> Result<Outcomes, ClusterError> {
        if target.kind == TargetKind::Node {
            return self.node(&target.name).await;
        }
        let resource = Resource::of(target.kind);
        let read = self.by_name(resource, &target.name).await?;
        let mut all = outcomes([]);
        let selector = read.selector.clone();
        super::detail::add(&mut all, resource, read.outcome);
        let around = Box::pin(self.around(target, selector)).await?;
        let about = format!("involvedObject.kind={}", target.kind.kind());
        let events = self.degraded(Resource::Events, self.events(&about, Some(&target.name)).await)?;
        for (resource, outcome) in around.into_iter().chain([(Resource::Events, events)]) {
            super::detail::add(&mut all, resource, outcome);
        }
        Ok(all)
    }

    /// An object of a kind whose group may not be there.
    async fn by_name(&self, resource: Resource, name: &str) -> Result<Read, ClusterError> {
        let version = self.group_of(resource).await.map_err(|fault| self.error(resource, fault))?;
        let Some(version) = version else {
            return Err(ClusterError::NotInstalled { resource: resource.name().to_owned() });
        };
        match self.object(resource, &version, name).await {
            Ok(read) => Ok(read),
            Err(fault) if fault.code() == Some(404) => Err(self.not_found(resource, &version, name).await),
            Err(fault) => Err(self.error(resource, fault)),
        }
    }

    /// Group and version of a resource, if its group is there.
    pub(super) async fn group_of(&self, resource: Resource) -> Result<Option<String>, super::fault::Fault> {
        match resource.group() {
            "apps" => Ok(Some("apps/v1".to_owned())),
            "batch" => Ok(Some("batch/v1".to_owned())),
            group => self.group_version(resource, group).await,
        }
    }

    /// What bears on a workload beside itself.
    async fn around(&self, target: &Target, selector: Option<String>) -> Result<Found, ClusterError> {
        let by_label = |label: &str| Some(format!("{label}={}", target.name));
        let (selector, others): (Option<String>, &[Resource]) = match target.kind {
            TargetKind::Deployment => (selector, &[Resource::ReplicaSets]),
            TargetKind::StatefulSet | TargetKind::DaemonSet => (selector, &[Resource::ControllerRevisions]),
            TargetKind::LeaderWorkerSet => (by_label(LWS_NAME), &[Resource::StatefulSets]),
            TargetKind::Sandbox => (selector, &[]),
            // Their pods carry no label of theirs.
            TargetKind::DisaggregatedSet => (None, &[Resource::LeaderWorkerSets, Resource::StatefulSets]),
            TargetKind::SandboxClaim | TargetKind::SandboxWarmPool => (None, &[Resource::Sandboxes]),
            _ => return Ok(Vec::new()),
        };
        let query: Vec<(&str, &str)> = selector.iter().map(|selector| ("labelSelector", selector.as_str())).collect();
        // What others are made of carries the labels of the pods.
        let of_pods = matches!(target.kind, TargetKind::Deployment | TargetKind::LeaderWorkerSet);
        let (pods, mut found) = tokio::try_join!(
            async { self.required(Resource::Pods, self.list(Resource::Pods, "v1", &query, Wanted::All).await) },
            self.whole(others, if of_pods { &query } else { &[] }),
        )?;
        found.push((Resource::Pods, pods));
        Ok(found)
    }

    /// A node, and all that runs or ran on it: whose pods these are is not told by the node.
    async fn node(&self, name: &str) -> Result<Outcomes, ClusterError> {
        let cluster_wide = Reading { lister: self.lister.clone(), namespace: None };
        let read = match cluster_wide.object(Resource::Nodes, "v1", name).await {
            Ok(read) => read,
            Err(fault) if fault.code() == Some(404) => {
                return Err(cluster_wide.not_found(Resource::Nodes, "v1", name).await);
            }
            Err(fault) => return Err(cluster_wide.error(Resource::Nodes, fault)),
        };
        let mut all = Box::pin(self.all()).await?;
        super::detail::add(&mut all, Resource::Nodes, read.outcome);
        let events = cluster_wide.events("involvedObject.kind=Node", Some(name)).await;
        super::detail::add(&mut all, Resource::Events, self.degraded(Resource::Events, events)?);
        Ok(all)
    }
}
