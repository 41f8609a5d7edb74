use std::collections::{BTreeMap, HashMap};

use crate::model::{CronJob, Job, JobSet, Owner, Pod, Uid, Word};
use crate::report::WorkloadRef;
use crate::source::Snapshot;

/// A workload that makes Jobs: it stands for them, and its labels and annotations hold for them.
#[derive(Clone, Copy)]
pub(super) enum Wrapper<'s> {
    CronJob(&'s CronJob),
    JobSet(&'s JobSet),
}

impl<'s> Wrapper<'s> {
    fn uid(self) -> Option<&'s Uid> {
        match self {
            Self::CronJob(cron_job) => cron_job.uid.as_ref(),
            Self::JobSet(job_set) => job_set.uid.as_ref(),
        }
    }

    pub(super) fn labels(self) -> &'s BTreeMap<Word, Word> {
        match self {
            Self::CronJob(cron_job) => &cron_job.labels,
            Self::JobSet(job_set) => &job_set.labels,
        }
    }

    fn rule_names(self) -> Option<&'s str> {
        match self {
            Self::CronJob(cron_job) => cron_job.rule_names.as_deref(),
            Self::JobSet(job_set) => job_set.rule_names.as_deref(),
        }
    }
}

/// Finds the workload that a Job or a pod belongs to.
pub(super) struct Owners<'s> {
    /// By kind, namespace and name; several of one name where one was deleted and made again.
    wrappers: HashMap<(&'static str, &'s str, &'s str), Vec<Wrapper<'s>>>,
}

impl<'s> Owners<'s> {
    pub(super) fn new(snapshot: &'s Snapshot) -> Self {
        let mut wrappers: HashMap<_, Vec<Wrapper>> = HashMap::new();
        for cron_job in &snapshot.cron_jobs {
            let key = ("CronJob", &*cron_job.namespace, &*cron_job.name);
            wrappers.entry(key).or_default().push(Wrapper::CronJob(cron_job));
        }
        for job_set in &snapshot.job_sets {
            let key = ("JobSet", &*job_set.namespace, &*job_set.name);
            wrappers.entry(key).or_default().push(Wrapper::JobSet(job_set));
        }
        Self { wrappers }
    }

    /// The `CronJob` or `JobSet` that a Job belongs to, if it is in the data: by uid, and by name where one of the two has
    /// none.
    pub(super) fn wrapper(&self, job: &'s Job) -> Option<Wrapper<'s>> {
        let owner = job.owner.as_ref()?;
        let named = self.wrappers.get(&(wrapper_kind(owner)?, &*job.namespace, &*owner.name))?;
        let same = |wrapper: &&Wrapper| match (wrapper.uid(), &owner.uid) {
            (Some(uid), Some(owner)) => uid == owner,
            _ => true,
        };
        named.iter().rfind(same).copied()
    }

    /// The workload a Job is shown under: its `CronJob` or `JobSet`, else itself.
    pub(super) fn workload(&self, job: &'s Job) -> WorkloadRef {
        match job.owner.as_ref().and_then(|owner| Some((owner, wrapper_kind(owner)?))) {
            Some((owner, kind)) => {
                let uid = owner.uid.as_ref().or_else(|| self.wrapper(job)?.uid());
                reference(&kind.into(), &job.namespace, &owner.name, uid)
            }
            None => job_reference(job),
        }
    }

    /// Names of a Job's rules by the annotation of the Job, its template, or its `CronJob` or `JobSet`.
    pub(super) fn rule_names(&self, job: &'s Job) -> Option<&'s str> {
        job.rule_names.as_deref().or_else(|| self.wrapper(job)?.rule_names())
    }
}

/// A `JobSet` as the workload that it is.
pub(super) fn job_set_reference(job_set: &JobSet) -> WorkloadRef {
    reference(&"JobSet".into(), &job_set.namespace, &job_set.name, job_set.uid.as_ref())
}

/// A `CronJob` as the workload that it is.
pub(super) fn cron_job_reference(cron_job: &CronJob) -> WorkloadRef {
    reference(&"CronJob".into(), &cron_job.namespace, &cron_job.name, cron_job.uid.as_ref())
}

/// A Job as the workload that it is.
pub(super) fn job_reference(job: &Job) -> WorkloadRef {
    reference(&"Job".into(), &job.namespace, &job.name, job.uid.as_ref())
}

/// A pod, where it is itself what is told of.
pub(super) fn pod_reference(pod: &Pod) -> WorkloadRef {
    reference(&"Pod".into(), &pod.namespace, &(&*pod.name).into(), pod.uid.as_ref())
}

/// The workload of a pod whose Job is not in the data: the Job by the name its owner reference tells.
pub(super) fn missing_job(pod: &Pod, owner: &Owner) -> WorkloadRef {
    reference(&owner.kind, &pod.namespace, &owner.name, owner.uid.as_ref())
}

fn wrapper_kind(owner: &Owner) -> Option<&'static str> {
    [("batch", "CronJob"), ("jobset.x-k8s.io", "JobSet")]
        .into_iter()
        .find_map(|(group, kind)| owner.is(group, kind).then_some(kind))
}

fn reference(kind: &Word, namespace: &Word, name: &Word, uid: Option<&Uid>) -> WorkloadRef {
    WorkloadRef {
        kind: kind.clone(),
        namespace: namespace.clone(),
        name: name.clone(),
        uid: uid.map(|uid| uid.to_string().into()),
    }
}
