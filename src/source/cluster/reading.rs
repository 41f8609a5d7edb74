use std::fmt::Write as _;

use serde::Deserialize;

use super::api::{Api, Group, JSON};
use super::error::ClusterError;
use super::fault::{Asked, Fault, Status};
use super::list::{List, Lister, Outcome};
use super::page::Wanted;
use super::path;
use crate::source::{Resource, SourceState};

/// One reading of a cluster: the lists it takes, and what their faults mean.
pub(super) struct Reading<'a> {
    pub(super) lister: Lister<'a>,
    /// `None` for all namespaces.
    pub(super) namespace: Option<&'a str>,
}

/// What became of each resource, in the order of [`Resource::ALL`].
pub(super) type Outcomes = [Outcome; Resource::ALL.len()];

/// The outcomes of the first resources; the others were not asked for.
pub(super) fn outcomes<const N: usize>(first: [Outcome; N]) -> Outcomes {
    let mut first = first.into_iter();
    std::array::from_fn(|_| first.next().unwrap_or_else(|| Outcome::new(SourceState::NotAsked)))
}

pub(super) const JOBSET_GROUP: &str = "jobset.x-k8s.io";
/// Events about workloads: those about pods are many, and tell what the pods tell. One list, as the API server looks through
/// all Events for each.
pub(crate) const OF_WORKLOADS: &str =
    "involvedObject.kind!=Pod,involvedObject.kind!=ReplicaSet,involvedObject.kind!=Node";
/// Events about Jobs alone.
pub(super) const ABOUT_JOBS: &str = "involvedObject.kind=Job";
pub(super) const ABOUT_JOB_SETS: &str = "involvedObject.kind=JobSet";
pub(super) const ABOUT_CRON_JOBS: &str = "involvedObject.kind=CronJob";

impl<'a> Reading<'a> {
    pub(super) fn api(&self) -> &'a Api<'a> {
        self.lister.api
    }

    /// Reads everything in the namespace or the cluster, side by side.
    pub(super) async fn all(&self) -> Result<Outcomes, ClusterError> {
        let all = |resource, version| self.list(resource, version, &[], Wanted::All);
        let (jobs, pods, cron_jobs, job_sets, events, others) = tokio::try_join!(
            async { self.required(Resource::Jobs, all(Resource::Jobs, "batch/v1").await) },
            async { self.required(Resource::Pods, all(Resource::Pods, "v1").await) },
            async { self.degraded(Resource::CronJobs, all(Resource::CronJobs, "batch/v1").await) },
            self.job_sets(),
            async { self.degraded(Resource::Events, self.events(OF_WORKLOADS, None).await) },
            self.others(),
        )?;
        let mut read = outcomes([jobs, pods, cron_jobs, job_sets, events]);
        for (resource, outcome) in others {
            super::detail::add(&mut read, resource, outcome);
        }
        Ok(read)
    }

    /// The uid of the namespace `kube-system`, which stands for the cluster: it cannot be deleted. `None` where it may not be
    /// read, which is said; what else is wrong the lists meet as well. Source: Kubernetes `plugin/pkg/admission/namespace/lifecycle`.
    pub(super) async fn cluster_uid(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Namespace {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        struct Metadata {
            uid: String,
        }
        let body = match self.api().fetch("namespaces", "/api/v1/namespaces/kube-system", JSON).await {
            Ok(body) => body,
            Err(Fault::Status(Status { code: 403, message, .. })) => {
                self.api().say(&format!(
                    "whether another context leads to the same cluster is told by its server's address alone, reading its \
                     identity was refused: {message}"
                ));
                return None;
            }
            Err(_) => return None,
        };
        serde_json::from_slice::<Namespace>(&body).ok().map(|namespace| namespace.metadata.uid)
    }

    /// An error where the server says that the namespace is not there: a slip of the keyboard must not read as "nothing
    /// failed". Who may not read it is not told, and nothing is said.
    pub(super) async fn ensure_namespace(&self) -> Result<(), ClusterError> {
        let Some(name) = self.namespace else { return Ok(()) };
        match self.api().fetch("namespaces", &format!("/api/v1/namespaces/{name}"), JSON).await {
            // In these words, and not that the path is unknown.
            Err(Fault::Status(status))
                if status.code == 404 && status.message == format!("namespaces {name:?} not found") =>
            {
                Err(ClusterError::NoNamespace(name.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Reads a list; `query` names what the server filters by.
    pub(super) async fn list(
        &self,
        resource: Resource,
        group_version: &str,
        query: &[(&str, &str)],
        wanted: Wanted,
    ) -> Result<Outcome, Fault> {
        let mut path = path::of(group_version, self.namespace, resource.name());
        for (position, (name, value)) in query.iter().enumerate() {
            let separator = if position == 0 { '?' } else { '&' };
            let _ = write!(path, "{separator}{name}={}", path::encode(value));
        }
        self.lister.read(&List { resource, path, wanted, raw: None }).await
    }

    /// Reads the Events about Jobs or `JobSet`s, or about one of them.
    pub(super) async fn events(&self, about: &str, name: Option<&str>) -> Result<Outcome, Fault> {
        let selector = match name {
            Some(name) => format!("{about},involvedObject.name={name}"),
            None => about.to_owned(),
        };
        self.list(Resource::Events, "v1", &[("fieldSelector", &selector)], Wanted::All).await
    }

    /// The `JobSet`s, where they are installed.
    async fn job_sets(&self) -> Result<Outcome, ClusterError> {
        match self.job_set_version().await {
            Ok(Some(version)) => {
                self.degraded(Resource::JobSets, self.list(Resource::JobSets, &version, &[], Wanted::All).await)
            }
            Ok(None) => Ok(Outcome::new(SourceState::NotInstalled)),
            Err(fault) => self.degraded(Resource::JobSets, Err(fault)),
        }
    }

    /// Group and version to read `JobSet`s with, if they are installed.
    pub(super) async fn job_set_version(&self) -> Result<Option<String>, Fault> {
        self.group_version(Resource::JobSets, JOBSET_GROUP).await
    }

    /// Group and version to read a resource with, if the group is installed. The group is asked for, as a list of what is
    /// not installed may be answered 403: authorisation comes before routing.
    pub(super) async fn group_version(&self, resource: Resource, group: &str) -> Result<Option<String>, Fault> {
        match self.api().fetch(resource.name(), &format!("/apis/{group}"), JSON).await {
            Ok(body) => match serde_json::from_slice::<Group>(&body) {
                Ok(group) => Ok(Some(group.preferred())),
                Err(_) => Err(Fault::Answer(super::fault::first_line(&body))),
            },
            Err(fault) if fault.code() == Some(404) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// A resource without which there is no report.
    pub(super) fn required(&self, resource: Resource, read: Result<Outcome, Fault>) -> Result<Outcome, ClusterError> {
        read.map_err(|fault| self.error(resource, fault))
    }

    /// A resource without which the report is poorer: what became of it is told, and the rest is read. Only what the
    /// core must meet, too, is an error at once.
    pub(super) fn degraded(&self, resource: Resource, read: Result<Outcome, Fault>) -> Result<Outcome, ClusterError> {
        let fault = match read {
            Ok(outcome) => return Ok(outcome),
            Err(fault) => fault,
        };
        match fault {
            Fault::Status(Status { code: 401, .. })
            | Fault::Refused
            | Fault::Tls { .. }
            | Fault::Unreachable(_)
            | Fault::Lookup(_)
            | Fault::Credentials(_) => Err(self.error(resource, fault)),
            Fault::Status(Status { code: 403, message, .. }) => Ok(Outcome::with_note(SourceState::Denied, message)),
            Fault::Status(Status { code: 404, .. }) => Ok(Outcome::new(SourceState::NotInstalled)),
            fault => Ok(Outcome::with_note(SourceState::Unreadable, fault.to_string())),
        }
    }

    pub(super) fn error(&self, resource: Resource, fault: Fault) -> ClusterError {
        let asked = Asked { resource: &resource.rbac_name(), namespace: self.namespace };
        fault.into_error(&self.api().destination, asked)
    }
}
