use std::collections::{BTreeMap, HashMap};

use super::standing::{Other, others};
use crate::model::{CronJob, Head, Job, JobSet, Owner, Pod, Revision, Uid, Word};
use crate::report::WorkloadRef;
use crate::request::TargetKind;
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

    fn owner(self) -> Option<&'s Owner> {
        match self {
            Self::CronJob(cron_job) => cron_job.owner.as_ref(),
            Self::JobSet(job_set) => job_set.owner.as_ref(),
        }
    }

    fn rule_names(self) -> Option<&'s str> {
        match self {
            Self::CronJob(cron_job) => cron_job.rule_names.as_deref(),
            Self::JobSet(job_set) => job_set.rule_names.as_deref(),
        }
    }
}

/// By kind, namespace and name; several of one name where one was deleted and made again.
type ByName<'s, T> = HashMap<(&'static str, &'s str, &'s str), Vec<T>>;

/// Finds the workload that a Job or a pod belongs to.
pub(super) struct Owners<'s> {
    wrappers: ByName<'s, Wrapper<'s>>,
    /// What stands between pods and their workload, or is one.
    heads: ByName<'s, &'s Head>,
    snapshot: &'s Snapshot,
}

/// Owners that stand one above the other: a pod's `ReplicaSet`, its `Deployment`. More is a circle.
const HIGHEST: usize = 8;

impl<'s> Owners<'s> {
    pub(super) fn new(snapshot: &'s Snapshot) -> Self {
        let mut wrappers: ByName<Wrapper> = HashMap::new();
        for cron_job in &snapshot.cron_jobs {
            let key = ("CronJob", &*cron_job.namespace, &*cron_job.name);
            wrappers.entry(key).or_default().push(Wrapper::CronJob(cron_job));
        }
        for job_set in &snapshot.job_sets {
            let key = ("JobSet", &*job_set.namespace, &*job_set.name);
            wrappers.entry(key).or_default().push(Wrapper::JobSet(job_set));
        }
        let mut heads: ByName<&Head> = HashMap::new();
        let replica_sets = snapshot.revisions.iter().filter(|revision| revision.is_replica_set);
        let replica_sets = replica_sets.map(|revision: &Revision| ("ReplicaSet", &revision.head));
        for (kind, head) in others(snapshot).map(|other| (other.kind().kind(), other.head())).chain(replica_sets) {
            heads.entry((kind, &*head.namespace, &*head.name)).or_default().push(head);
        }
        Self { wrappers, heads, snapshot }
    }

    /// The `CronJob` or `JobSet` that a Job belongs to, if it is in the data: by uid, and by name where one of the two has
    /// none.
    pub(super) fn wrapper(&self, job: &'s Job) -> Option<Wrapper<'s>> {
        let owner = job.owner.as_ref()?;
        let named = self.wrappers.get(&(wrapper_kind(owner)?, &*job.namespace, &*owner.name))?;
        named.iter().rfind(|wrapper| is_same_uid(wrapper.uid(), owner.uid.as_ref())).copied()
    }

    /// The workload a Job is shown under: its `TrainJob`, its `CronJob` or `JobSet`, else itself.
    pub(super) fn workload(&self, job: &'s Job) -> WorkloadRef {
        let Some((owner, kind)) = job.owner.as_ref().and_then(|owner| Some((owner, wrapper_kind(owner)?))) else {
            return job_reference(job);
        };
        let wrapper = self.wrapper(job);
        if let Some(train_job) = wrapper.and_then(Wrapper::owner).filter(|owner| is_train_job(owner)) {
            return reference(&train_job.kind, &job.namespace, &train_job.name, train_job.uid.as_ref());
        }
        let uid = owner.uid.as_ref().or_else(|| wrapper?.uid());
        reference(&kind.into(), &job.namespace, &owner.name, uid)
    }

    /// What a Job is asked for by: itself, and what stands above it.
    pub(super) fn names_of(&self, job: &'s Job) -> Vec<(TargetKind, &'s str)> {
        let mut names = vec![(TargetKind::Job, &*job.name)];
        let above = self.wrapper(job).and_then(Wrapper::owner);
        names.extend(job.owner.as_ref().into_iter().chain(above).filter_map(name_of));
        names
    }

    /// Names of a Job's rules by the annotation of the Job, its template, or its `CronJob` or `JobSet`.
    pub(super) fn rule_names(&self, job: &'s Job) -> Option<&'s str> {
        job.rule_names.as_deref().or_else(|| self.wrapper(job)?.rule_names())
    }

    /// The owners of a pod, the controlling one first, as far as they are in the data: the last is what it is shown under.
    fn chain(&self, pod: &'s Pod) -> Vec<&'s Owner> {
        let mut chain: Vec<&Owner> = Vec::new();
        // What labels tell stands in for a ReplicaSet or StatefulSet that is not in the data.
        let mut next = pod.owner.as_deref();
        let above = pod.workload().filter(|above| pod.owner.as_deref() != Some(above));
        while let Some(owner) = next.filter(|_| chain.len() < HIGHEST) {
            chain.push(owner);
            next = self.above(&pod.namespace, owner);
        }
        // A worker's StatefulSet belongs to a leader pod that is fine, and was not kept.
        let is_told = |above: &&Owner| !chain.iter().any(|known| known.kind == above.kind);
        chain.extend(above.filter(is_told));
        chain
    }

    /// What a pod's owner belongs to itself, where that is the workload that a person knows.
    fn above(&self, namespace: &str, owner: &Owner) -> Option<&'s Owner> {
        if owner.is("", "Pod") {
            // A leader, a Spark driver.
            return self.pod(namespace, &owner.name)?.owner.as_deref();
        }
        let kind = [("apps", "ReplicaSet"), ("apps", "StatefulSet")].into_iter().find(|(g, kind)| owner.is(g, kind))?.1;
        let heads = self.heads.get(&(kind, namespace, &*owner.name))?;
        let head = heads.iter().rfind(|head| is_same_uid(head.uid.as_ref(), owner.uid.as_ref()))?;
        head.owner.as_ref().filter(|above| is_known_above(above))
    }

    /// A pod in the data, which are in order of namespace and name.
    fn pod(&self, namespace: &str, name: &str) -> Option<&'s Pod> {
        let pods = &self.snapshot.pods;
        let first = pods.partition_point(|pod| (&*pod.namespace, &*pod.name) < (namespace, name));
        pods.get(first).filter(|pod| *pod.namespace == *namespace && *pod.name == *name)
    }

    /// The workload that a pod without a Job in the data is shown under, and all names by which it can be asked for. A static
    /// pod is its own, as its owner is the node that it was written down on.
    pub(super) fn of_pod(&self, pod: &'s Pod) -> (WorkloadRef, Vec<(TargetKind, &'s str)>) {
        let chain = self.chain(pod);
        let mut names: Vec<_> = chain.iter().copied().filter_map(name_of).collect();
        names.push((TargetKind::Pod, &*pod.name));
        let workload = match chain.last().filter(|owner| !owner.is("", "Node")) {
            Some(owner) => {
                let kind = kind_name(owner);
                let uid = owner.uid.as_ref().or_else(|| self.uid_of(&pod.namespace, owner));
                reference(&kind, &pod.namespace, &owner.name, uid)
            }
            None => pod_reference(pod),
        };
        (workload, names)
    }

    /// The uid of an owner that only a label tells.
    fn uid_of(&self, namespace: &str, owner: &Owner) -> Option<&'s Uid> {
        let kind = TargetKind::of(&owner.group, &owner.kind)?.kind();
        self.heads.get(&(kind, namespace, &*owner.name))?.last()?.uid.as_ref()
    }
}

fn is_same_uid(one: Option<&Uid>, other: Option<&Uid>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}

/// Kinds that own `ReplicaSet`s, `StatefulSet`s or leader pods and are known here. What others own stays a `StatefulSet`.
fn is_known_above(owner: &Owner) -> bool {
    owner.is("", "Pod") || TargetKind::of(&owner.group, &owner.kind).is_some()
}

fn is_train_job(owner: &Owner) -> bool {
    owner.is("trainer.kubeflow.org", "TrainJob")
}

fn name_of(owner: &Owner) -> Option<(TargetKind, &str)> {
    Some((TargetKind::of(&owner.group, &owner.kind)?, &*owner.name))
}

/// The kind of an owner; one that has the name of a kind we know and another group (`Job` of `batch.volcano.sh`) with
/// that, as kubectl takes it.
pub(super) fn kind_name(owner: &Owner) -> Word {
    let named = TargetKind::ALL.iter().find(|kind| *owner.kind == *kind.kind());
    match named {
        Some(kind) if *owner.group != *kind.group() => format!("{}.{}", owner.kind, owner.group).into(),
        _ => owner.kind.clone(),
    }
}

/// A `JobSet` as the workload that it is, or that of its `TrainJob`.
pub(super) fn job_set_workload(job_set: &JobSet) -> WorkloadRef {
    match job_set.owner.as_ref().filter(|owner| is_train_job(owner)) {
        Some(owner) => reference(&owner.kind, &job_set.namespace, &owner.name, owner.uid.as_ref()),
        None => job_set_reference(job_set),
    }
}

/// A `JobSet` by its own name.
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

/// Any other workload.
pub(super) fn other_reference(other: Other) -> WorkloadRef {
    let head = other.head();
    reference(&other.kind().kind().into(), &head.namespace, &head.name, head.uid.as_ref())
}

fn wrapper_kind(owner: &Owner) -> Option<&'static str> {
    [("batch", "CronJob"), ("jobset.x-k8s.io", "JobSet")]
        .into_iter()
        .find_map(|(group, kind)| owner.is(group, kind).then_some(kind))
}

pub(super) fn reference(kind: &Word, namespace: &Word, name: &Word, uid: Option<&Uid>) -> WorkloadRef {
    WorkloadRef {
        kind: kind.clone(),
        namespace: namespace.clone(),
        name: name.clone(),
        uid: uid.map(|uid| uid.to_string().into()),
        cluster: None,
    }
}
