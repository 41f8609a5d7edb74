//! What is asked about, found by kind and name.

use std::cmp::Reverse;
use std::fmt;

use crate::analysis::owner::Owners;
use crate::analysis::standing::{Other, others};
use crate::model::{CronJob, Job, JobSet, Node, Owner, Pod, Time, Uid};
use crate::request::{Target, TargetKind};
use crate::source::{Snapshot, nearest};

/// A workload or pod in the data.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'s> {
    /// A Job.
    Job(&'s Job),
    /// A `CronJob`.
    CronJob(&'s CronJob),
    /// A `JobSet`.
    JobSet(&'s JobSet),
    /// A pod.
    Pod(&'s Pod),
    /// Any other workload.
    Other(Other<'s>),
    /// A node.
    Node(&'s Node),
}

/// Why there is nothing to explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindError {
    /// Nothing of that name.
    Missing {
        /// What was asked for.
        asked: String,
        /// The nearest names, as `job/x`.
        near: Vec<String>,
        /// Jobs of it that are in the data, though it is not itself.
        jobs: Vec<String>,
    },
    /// Several of that name.
    Ambiguous {
        /// What was asked for.
        asked: String,
        /// All of them, as `job/x -n ns`.
        found: Vec<String>,
    },
}

impl std::error::Error for FindError {}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Missing { asked, jobs, .. } if !jobs.is_empty() => {
                write!(f, "{asked} is not in the data, but Jobs of it are: explain one of them: {}", jobs.join(", "))
            }
            Self::Missing { asked, near, .. } if near.is_empty() => write!(f, "{asked} is not in the data"),
            Self::Missing { asked, near, .. } => {
                write!(f, "{asked} is not in the data; did you mean {}?", near.join(", "))
            }
            Self::Ambiguous { asked, found } => {
                write!(f, "{asked} is not one thing but {}: {}", found.len(), found.join(", "))
            }
        }
    }
}

impl<'s> Subject<'s> {
    /// Its uid, where it is told; a node's is not kept.
    pub fn uid(self) -> Option<&'s Uid> {
        match self {
            Self::Job(job) => job.uid.as_ref(),
            Self::CronJob(cron_job) => cron_job.uid.as_ref(),
            Self::JobSet(job_set) => job_set.uid.as_ref(),
            Self::Pod(pod) => pod.uid.as_ref(),
            Self::Other(other) => other.head().uid.as_ref(),
            Self::Node(_) => None,
        }
    }

    /// The kind.
    pub fn kind(self) -> TargetKind {
        match self {
            Self::Job(_) => TargetKind::Job,
            Self::CronJob(_) => TargetKind::CronJob,
            Self::JobSet(_) => TargetKind::JobSet,
            Self::Pod(_) => TargetKind::Pod,
            Self::Other(other) => other.kind(),
            Self::Node(_) => TargetKind::Node,
        }
    }

    /// The namespace.
    pub fn namespace(self) -> &'s str {
        match self {
            Self::Job(job) => &job.namespace,
            Self::CronJob(cron_job) => &cron_job.namespace,
            Self::JobSet(job_set) => &job_set.namespace,
            Self::Pod(pod) => &pod.namespace,
            Self::Other(other) => &other.head().namespace,
            Self::Node(_) => "",
        }
    }

    /// The name.
    pub fn name(self) -> &'s str {
        match self {
            Self::Job(job) => &job.name,
            Self::CronJob(cron_job) => &cron_job.name,
            Self::JobSet(job_set) => &job_set.name,
            Self::Pod(pod) => &pod.name,
            Self::Other(other) => &other.head().name,
            Self::Node(node) => &node.name,
        }
    }

    fn owner(self) -> Option<&'s Owner> {
        match self {
            Self::Job(job) => job.owner.as_ref(),
            Self::CronJob(cron_job) => cron_job.owner.as_ref(),
            Self::JobSet(job_set) => job_set.owner.as_ref(),
            Self::Pod(pod) => pod.owner.as_deref(),
            Self::Other(other) => other.head().owner.as_ref(),
            Self::Node(_) => None,
        }
    }

    /// Whether another one owns it.
    fn is_of(self, other: Self) -> bool {
        let is_owner =
            |owner: &Owner| owner.is(other.kind().group(), other.kind().kind()) && *owner.name == *other.name();
        self.namespace() == other.namespace() && self.owner().is_some_and(is_owner)
    }

    fn created(self) -> Option<Time> {
        match self {
            Self::Job(job) => job.created,
            Self::CronJob(cron_job) => cron_job.created,
            Self::JobSet(job_set) => job_set.created,
            Self::Pod(pod) => pod.created,
            Self::Other(other) => other.head().created,
            Self::Node(_) => None,
        }
    }

    /// As kubectl names it: `job/x`.
    pub fn target(self) -> Target {
        Target { kind: self.kind(), name: self.name().to_owned() }
    }

    /// The workload to judge, so that all that bears on the subject is judged with it: a pod's Job, a Job's `JobSet`.
    pub fn judged_with(self, snapshot: &'s Snapshot) -> Option<Target> {
        let job_set_of = |job: &Job| {
            let owner = job.owner.as_ref().filter(|owner| owner.is("jobset.x-k8s.io", "JobSet"))?;
            let there = snapshot.job_sets.iter().any(|set| set.namespace == job.namespace && set.name == owner.name);
            there.then(|| Target { kind: TargetKind::JobSet, name: owner.name.to_string() })
        };
        match self {
            Self::Job(job) => Some(job_set_of(job).unwrap_or_else(|| self.target())),
            Self::Pod(pod) => {
                let Some(owner) = pod.owner.as_ref().filter(|owner| owner.is("batch", "Job")) else {
                    return Some(above(pod, snapshot));
                };
                let job = snapshot.jobs.iter().find(|job| job.namespace == pod.namespace && job.name == owner.name);
                let of_set = job.and_then(job_set_of);
                Some(of_set.unwrap_or_else(|| Target { kind: TargetKind::Job, name: owner.name.to_string() }))
            }
            // What a Workload stands for is judged with it.
            Self::Other(Other::Queued(queued)) => {
                let owner = queued.head.owner.as_ref()?;
                let kind = TargetKind::of(&owner.group, &owner.kind)?;
                Some(Target { kind, name: owner.name.to_string() })
            }
            Self::CronJob(_) | Self::JobSet(_) | Self::Other(_) | Self::Node(_) => Some(self.target()),
        }
    }
}

/// The workload of a pod that belongs to no Job.
fn above(pod: &Pod, snapshot: &Snapshot) -> Target {
    let (workload, names) = Owners::new(snapshot).of_pod(pod);
    let named = names.into_iter().find(|(kind, name)| *kind.kind() == *workload.kind && *name == &*workload.name);
    let (kind, name) = named.unwrap_or((TargetKind::Pod, &pod.name));
    Target { kind, name: name.to_owned() }
}

/// Finds the one thing that has the name, of the kind asked for or of any.
pub fn find<'s>(snapshot: &'s Snapshot, kind: Option<TargetKind>, name: &str) -> Result<Subject<'s>, FindError> {
    let asked = kind.map_or_else(|| name.to_owned(), |kind| format!("{}/{name}", kind.name()));
    let of_kind = |subject: &Subject| kind.is_none_or(|kind| subject.kind() == kind);
    let all = || all(snapshot).filter(of_kind);
    let mut found: Vec<Subject> = all().filter(|subject| subject.name() == name).collect();
    // Of one that was deleted and made again, the data may hold both: the later one is meant.
    found.sort_by_key(|subject| (subject.kind(), subject.namespace(), Reverse(subject.created())));
    found.dedup_by_key(|subject| (subject.kind(), subject.namespace()));
    // Of one that owns another of its name, as a TrainJob its JobSet, the upper one is meant.
    if kind.is_none() {
        let all = found.clone();
        found.retain(|subject| !all.iter().any(|other| subject.is_of(*other)));
    }
    match &found[..] {
        [one] => Ok(*one),
        [] => {
            let mut near = nearest(name, all().map(|subject| subject.name().to_owned()));
            near.dedup();
            let with_kind = |name: &String| {
                all().find(|subject| subject.name() == name).map(|subject| subject.target().to_string())
            };
            let near = near.iter().filter_map(with_kind).collect();
            let of_it = snapshot.jobs.iter().filter(|job| {
                let owner = job.owner.as_ref();
                owner.is_some_and(|owner| *owner.name == *name && kind.is_some_and(|kind| *owner.kind == *kind.kind()))
            });
            Err(FindError::Missing {
                asked,
                near,
                jobs: of_it.take(3).map(|job| format!("job/{}", job.name)).collect(),
            })
        }
        several => {
            let several = several.iter().map(|subject| match subject.namespace() {
                "" => subject.target().to_string(),
                namespace => format!("{} -n {namespace}", subject.target()),
            });
            Err(FindError::Ambiguous { asked, found: several.collect() })
        }
    }
}

fn all(snapshot: &Snapshot) -> impl Iterator<Item = Subject<'_>> {
    let jobs = snapshot.jobs.iter().map(Subject::Job);
    let cron_jobs = snapshot.cron_jobs.iter().map(Subject::CronJob);
    let job_sets = snapshot.job_sets.iter().map(Subject::JobSet);
    let pods = snapshot.pods.iter().map(Subject::Pod);
    let others = others(snapshot).map(Subject::Other);
    let nodes = snapshot.nodes.iter().map(Subject::Node);
    jobs.chain(cron_jobs).chain(job_sets).chain(others).chain(pods).chain(nodes)
}
