use super::error::ClusterError;
use super::list::Outcome;
use super::page::Wanted;
use super::reading::Reading;
use crate::source::{Resource, SourceState};

impl Reading<'_> {
    /// Reads the namespace's objects that checkpoints lie on, or that stand for something that was taken: claims and
    /// their snapshots where a template read so far names a claim, checkpoints and snapshots of pods where the cluster
    /// has them.
    pub(super) async fn storage(&self) -> Result<[(Resource, Outcome); 4], ClusterError> {
        let names_claims = self.names_claims();
        let (claims, volume_snapshots, pod_checkpoints, pod_snapshots) = tokio::try_join!(
            self.claims(names_claims),
            self.where_installed(Resource::VolumeSnapshots, "snapshot.storage.k8s.io", names_claims),
            self.where_installed(Resource::PodCheckpoints, "checkpoint.k8s.io", true),
            self.where_installed(Resource::PodSnapshots, "podsnapshot.gke.io", true),
        )?;
        Ok([
            (Resource::Claims, claims),
            (Resource::VolumeSnapshots, volume_snapshots),
            (Resource::PodCheckpoints, pod_checkpoints),
            (Resource::PodSnapshots, pod_snapshots),
        ])
    }

    fn names_claims(&self) -> bool {
        self.lister.intake.lock().unwrap_or_else(std::sync::PoisonError::into_inner).names_claims()
    }

    async fn claims(&self, are_named: bool) -> Result<Outcome, ClusterError> {
        if !are_named {
            return Ok(Outcome::new(SourceState::NotAsked));
        }
        self.degraded(Resource::Claims, self.list(Resource::Claims, "v1", &[], Wanted::All).await)
    }

    /// A resource of a group that many clusters do not have: that costs one request.
    async fn where_installed(&self, resource: Resource, group: &str, is_wanted: bool) -> Result<Outcome, ClusterError> {
        if !is_wanted {
            return Ok(Outcome::new(SourceState::NotAsked));
        }
        match self.group_version(resource, group).await {
            Ok(Some(version)) => {
                let read = self.list(resource, &version, &[], Wanted::All).await;
                self.degraded(resource, read)
            }
            Ok(None) => Ok(Outcome::new(SourceState::NotInstalled)),
            Err(fault) => self.degraded(resource, Err(fault)),
        }
    }
}
