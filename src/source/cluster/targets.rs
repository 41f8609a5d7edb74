use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::Deserialize;

use super::api::JSON;
use super::error::ClusterError;
use super::fault::Fault;
use super::list::Outcome;
use super::page::{self, Wanted};
use super::path;
use super::reading::{ABOUT_CRON_JOBS, ABOUT_JOB_SETS, ABOUT_JOBS, Outcomes, Reading, outcomes};
use crate::request::{Target, TargetKind};
use crate::source::nearest;
use crate::source::{ListHead, Position, Resource, SourceState};

/// Requests for single objects that are under way at once.
pub(super) const AT_ONCE: usize = 8;
/// Names in one label selector: with more, the URL outgrows what servers take.
const NAMES_A_SELECTOR: usize = 50;
/// Jobs, or `JobSet`s, whose Events are asked for one by one; for more, the namespace's are read.
const EVENTS_BY_NAME: usize = 4;

const JOB_NAME: &str = "batch.kubernetes.io/job-name";
const JOBSET_NAME: &str = "jobset.sigs.k8s.io/jobset-name";
const ONLY_NAMES: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// The targets' names by kind, each once.
#[derive(Default)]
struct Names {
    jobs: BTreeSet<String>,
    cron_jobs: BTreeSet<String>,
    job_sets: BTreeSet<String>,
}

/// An object that was read by its name.
pub(super) struct Read {
    pub(super) outcome: Outcome,
    /// What controls it.
    pub(super) owner: Option<Owner>,
    /// Its pods' labels, by `spec.selector`, or as `status.selector` spells them.
    pub(super) selector: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    metadata: Metadata,
    spec: Selecting,
    status: Selecting,
}

/// A part of an object that may hold a selector. One of another shape is none.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Selecting {
    selector: serde_json::Value,
}

impl Named {
    fn selector(&self) -> Option<String> {
        if let Some(spelled) = self.status.selector.as_str().filter(|spelled| !spelled.is_empty()) {
            return Some(spelled.to_owned());
        }
        let labels = self.spec.selector.get("matchLabels").and_then(serde_json::Value::as_object);
        let labels = labels.into_iter().flatten().filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)));
        let expressions = self.spec.selector.get("matchExpressions").and_then(serde_json::Value::as_array);
        let all: Vec<String> = labels.chain(expressions.into_iter().flatten().filter_map(spelled)).collect();
        (!all.is_empty()).then(|| all.join(","))
    }
}

/// One of a selector's `matchExpressions`, as a query spells it.
fn spelled(expression: &serde_json::Value) -> Option<String> {
    let key = expression.get("key")?.as_str()?;
    let values = expression.get("values").and_then(serde_json::Value::as_array);
    let values: Vec<&str> = values.into_iter().flatten().filter_map(serde_json::Value::as_str).collect();
    match expression.get("operator")?.as_str()? {
        "In" => Some(format!("{key} in ({})", values.join(","))),
        "NotIn" => Some(format!("{key} notin ({})", values.join(","))),
        "Exists" => Some(key.to_owned()),
        "DoesNotExist" => Some(format!("!{key}")),
        _ => None,
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: String,
    owner_references: Vec<Owner>,
}

/// One of an object's owners.
#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Owner {
    api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
    controller: bool,
}

impl Owner {
    pub(super) fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// As something that can be asked for.
    pub(super) fn target(&self) -> Option<Target> {
        Some(Target { kind: TargetKind::of(self.group(), &self.kind)?, name: self.name.clone() })
    }
}

impl Reading<'_> {
    /// Reads some workloads only: their Jobs, the pods and Events of these, and what owns them; of others, what bears on them.
    pub(super) async fn targets(&self, targets: &[Target]) -> Result<Outcomes, ClusterError> {
        let (of_jobs, others): (Vec<Target>, Vec<Target>) =
            targets.iter().cloned().partition(|target| is_of_jobs(target.kind));
        let mut all = outcomes([]);
        for target in others.iter().filter(|target| target.kind != TargetKind::Pod) {
            join_all(&mut all, Box::pin(self.other(target)).await?);
        }
        // A TrainJob is its JobSet, of its own name; that may be gone.
        let train_jobs: BTreeSet<String> =
            others.iter().filter(|other| other.kind == TargetKind::TrainJob).map(|other| other.name.clone()).collect();
        if !of_jobs.is_empty() || !train_jobs.is_empty() {
            join_all(&mut all, Box::pin(self.of_jobs(&of_jobs, &train_jobs)).await?);
            // Deployments are not queued by their own name.
            for (resource, outcome) in self.queues().await? {
                super::detail::add(&mut all, resource, outcome);
            }
        }
        Ok(all)
    }

    /// Reads Jobs, `CronJob`s and `JobSet`s by name, and the `JobSet`s of `TrainJob`s, which may be gone.
    async fn of_jobs(&self, targets: &[Target], train_jobs: &BTreeSet<String>) -> Result<Outcomes, ClusterError> {
        let mut names = Names::of(targets);
        let asked = names.job_sets.clone();
        names.job_sets.extend(train_jobs.iter().cloned());
        let (by_name, of_cron_jobs, of_job_sets, pods_of_job_sets, cron_jobs, job_sets) = tokio::try_join!(
            self.jobs_by_name(&names.jobs),
            self.jobs_of_cron_jobs(&names.cron_jobs),
            self.labelled(Resource::Jobs, "batch/v1", JOBSET_NAME, &names.job_sets, Wanted::Named),
            self.labelled(Resource::Pods, "v1", JOBSET_NAME, &names.job_sets, Wanted::All),
            self.wrappers(Resource::CronJobs, &names.cron_jobs, true),
            self.wrappers(Resource::JobSets, &asked, true),
        )?;
        let (by_name, owners) = by_name;
        let mut of_jobs = names.jobs.clone();
        of_jobs.extend(of_cron_jobs.jobs.iter().cloned());
        let mut all_jobs = of_jobs.clone();
        all_jobs.extend(of_job_sets.jobs.iter().cloned());
        let missing = |kind, known: &BTreeSet<String>| -> BTreeSet<String> {
            let of_kind = owners.iter().filter(|owner| owner.kind == kind && !known.contains(&owner.name));
            of_kind.map(|owner| owner.name.clone()).collect()
        };
        let (more_cron_jobs, more_job_sets) =
            (missing(TargetKind::CronJob, &names.cron_jobs), missing(TargetKind::JobSet, &asked));
        let more_job_sets: BTreeSet<String> = more_job_sets.into_iter().chain(train_jobs.iter().cloned()).collect();
        let (pods, owning_cron_jobs, owning_job_sets, events, events_of_job_sets, events_of_cron_jobs) = tokio::try_join!(
            self.labelled(Resource::Pods, "v1", JOB_NAME, &of_jobs, Wanted::All),
            self.wrappers(Resource::CronJobs, &more_cron_jobs, false),
            self.wrappers(Resource::JobSets, &more_job_sets, false),
            self.events_of_jobs(&all_jobs, !names.job_sets.is_empty() || !names.cron_jobs.is_empty()),
            self.events_of(ABOUT_JOB_SETS, &names.job_sets),
            self.events_of(ABOUT_CRON_JOBS, &names.cron_jobs),
        )?;
        Ok(outcomes([
            by_name.join(of_cron_jobs).join(of_job_sets),
            pods.join(pods_of_job_sets),
            cron_jobs.join(owning_cron_jobs),
            job_sets.join(owning_job_sets),
            events.join(events_of_job_sets).join(events_of_cron_jobs),
        ]))
    }

    async fn jobs_by_name(&self, names: &BTreeSet<String>) -> Result<(Outcome, BTreeSet<Target>), ClusterError> {
        let mut all = Outcome::new(SourceState::NotAsked);
        let mut owners = BTreeSet::new();
        let mut reads = stream::iter(names)
            .map(|name| async move {
                match self.object(Resource::Jobs, "batch/v1", name).await {
                    Ok(read) => Ok(read),
                    Err(fault) if fault.code() == Some(404) => {
                        Err(self.not_found(Resource::Jobs, "batch/v1", name).await)
                    }
                    Err(fault) => Err(self.error(Resource::Jobs, fault)),
                }
            })
            .buffered(AT_ONCE);
        while let Some(read) = reads.try_next().await? {
            all = all.join(read.outcome);
            owners.extend(read.owner.as_ref().and_then(Owner::target));
        }
        Ok((all, owners))
    }

    /// A `CronJob`'s Jobs carry no label of its own: the namespace's are read, and those it owns kept.
    async fn jobs_of_cron_jobs(&self, names: &BTreeSet<String>) -> Result<Outcome, ClusterError> {
        if names.is_empty() {
            return Ok(Outcome::new(SourceState::NotAsked));
        }
        let wanted = Wanted::OwnedBy(Arc::new(names.iter().cloned().collect()));
        self.required(Resource::Jobs, self.list(Resource::Jobs, "batch/v1", &[], wanted).await)
    }

    /// The core's objects with a label that has one of these values.
    async fn labelled(
        &self,
        resource: Resource,
        version: &str,
        label: &str,
        values: &BTreeSet<String>,
        wanted: Wanted,
    ) -> Result<Outcome, ClusterError> {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let mut all = Outcome::new(SourceState::NotAsked);
        for values in values.chunks(NAMES_A_SELECTOR) {
            let selector = format!("{label} in ({})", values.join(","));
            let read = self.list(resource, version, &[("labelSelector", &selector)], wanted.clone()).await;
            all = all.join(self.required(resource, read)?);
        }
        Ok(all)
    }

    /// `CronJob`s or `JobSet`s by name. Where they were asked for, they must be there; as owners they may be gone.
    async fn wrappers(
        &self,
        resource: Resource,
        names: &BTreeSet<String>,
        asked: bool,
    ) -> Result<Outcome, ClusterError> {
        if names.is_empty() {
            return Ok(Outcome::new(SourceState::NotAsked));
        }
        let version = if resource == Resource::JobSets {
            match self.job_set_version().await {
                Ok(Some(version)) => version,
                Ok(None) if asked => return Err(ClusterError::NotInstalled { resource: resource.name().to_owned() }),
                Ok(None) => return Ok(Outcome::new(SourceState::NotInstalled)),
                Err(fault) => return self.degraded(resource, Err(fault)),
            }
        } else {
            "batch/v1".to_owned()
        };
        let mut all = Outcome::new(SourceState::Read);
        let version = version.as_str();
        let mut reads = stream::iter(names)
            .map(|name| async move { (name, self.object(resource, version, name).await) })
            .buffered(AT_ONCE);
        while let Some((name, read)) = reads.next().await {
            all = match read {
                Err(fault) if fault.code() == Some(404) && asked => {
                    return Err(self.not_found(resource, version, name).await);
                }
                Err(fault) if fault.code() == Some(404) => all,
                read => all.join(self.degraded(resource, read.map(|read| read.outcome))?),
            };
        }
        Ok(all)
    }

    /// Events of these Jobs; of all where a `JobSet`'s or a `CronJob`'s are among them: those of attempts and runs before are
    /// gone, with their names.
    async fn events_of_jobs(&self, jobs: &BTreeSet<String>, some_are_gone: bool) -> Result<Outcome, ClusterError> {
        if some_are_gone {
            return self.degraded(Resource::Events, self.events(ABOUT_JOBS, None).await);
        }
        self.events_of(ABOUT_JOBS, jobs).await
    }

    async fn events_of(&self, about: &str, names: &BTreeSet<String>) -> Result<Outcome, ClusterError> {
        let mut all = Outcome::new(SourceState::NotAsked);
        if names.len() > EVENTS_BY_NAME {
            return self.degraded(Resource::Events, self.events(about, None).await);
        }
        for name in names {
            all = all.join(self.degraded(Resource::Events, self.events(about, Some(name)).await)?);
        }
        Ok(all)
    }

    /// Reads one object into the intake.
    pub(super) async fn object(&self, resource: Resource, version: &str, name: &str) -> Result<Read, Fault> {
        let path = format!("{}/{}", path::of(version, self.namespace, resource.name()), path::encode(name));
        let body = self.api().fetch(resource.name(), &path, JSON).await?;
        let Ok(named) = serde_json::from_slice::<Named>(&body) else {
            return Err(Fault::Answer(super::fault::first_line(&body)));
        };
        let mut outcome = Outcome::new(SourceState::Read);
        let at = Position { object: 1, byte: 0 };
        outcome.skips = page::take(&self.lister.intake, body.trim_ascii(), &ListHead::default(), at);
        if outcome.skips.count > 0 {
            outcome.state = SourceState::Unreadable;
        }
        let selector = named.selector();
        let owner = named.metadata.owner_references.into_iter().find(|owner| owner.controller);
        Ok(Read { outcome, owner, selector })
    }

    /// The error for a name that is not there, with names like it where they may be listed.
    pub(super) async fn not_found(&self, resource: Resource, version: &str, name: &str) -> ClusterError {
        let names = self.names(resource, version).await;
        self.nothing_called(name, &resource.rbac_name(), names)
    }

    pub(super) fn nothing_called(&self, name: &str, kinds: &str, names: Vec<String>) -> ClusterError {
        ClusterError::NotFound {
            resource: kinds.to_owned(),
            name: name.to_owned(),
            namespace: self.namespace.unwrap_or_default().to_owned(),
            nearest: nearest(name, names.into_iter()),
        }
    }

    /// Names of a resource's objects; none where they may not be listed.
    pub(super) async fn names(&self, resource: Resource, version: &str) -> Vec<String> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct NameList {
            items: Vec<Named>,
        }
        let path = format!("{}?limit=500", path::of(version, self.namespace, resource.name()));
        let listed = self.api().fetch(resource.name(), &path, ONLY_NAMES).await;
        let listed: NameList = listed.ok().and_then(|body| serde_json::from_slice(&body).ok()).unwrap_or_default();
        listed.items.into_iter().map(|item| item.metadata.name).collect()
    }
}

/// Whether a kind is a Job, or makes Jobs itself.
const fn is_of_jobs(kind: TargetKind) -> bool {
    matches!(kind, TargetKind::Job | TargetKind::CronJob | TargetKind::JobSet)
}

fn join_all(all: &mut Outcomes, more: Outcomes) {
    for (outcome, resource) in more.into_iter().zip(Resource::ALL) {
        super::detail::add(all, resource, outcome);
    }
}

impl Names {
    fn of(targets: &[Target]) -> Self {
        let mut names = Self::default();
        for target in targets {
            let of_kind = match target.kind {
                TargetKind::Job => &mut names.jobs,
                TargetKind::CronJob => &mut names.cron_jobs,
                TargetKind::JobSet => &mut names.job_sets,
                // A pod is read with the workload that it belongs to, others by themselves.
                _ => continue,
            };
            of_kind.insert(target.name.clone());
        }
        names
    }
}
