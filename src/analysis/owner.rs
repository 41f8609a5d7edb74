use std::collections::HashMap;

use crate::model::{Job, Owner, Pod, Uid, Word, Wrapper, WrapperKind};
use crate::report::WorkloadRef;

/// Finds the workload that a Job or a pod belongs to.
pub(super) struct Owners<'s> {
    wrappers: HashMap<(WrapperKind, &'s str, &'s str), &'s Wrapper>,
}

impl<'s> Owners<'s> {
    pub(super) fn new(wrappers: &'s [Wrapper]) -> Self {
        let key = |wrapper: &'s Wrapper| (wrapper.kind, &*wrapper.namespace, &*wrapper.name);
        Self { wrappers: wrappers.iter().map(|wrapper| (key(wrapper), wrapper)).collect() }
    }

    /// The `CronJob` or `JobSet` that a Job belongs to, if it is in the data.
    pub(super) fn wrapper(&self, job: &'s Job) -> Option<&'s Wrapper> {
        let owner = job.owner.as_ref()?;
        self.wrappers.get(&(wrapper_kind(owner)?, &*job.namespace, &*owner.name)).copied()
    }

    /// The workload a Job is shown under: its `CronJob` or `JobSet`, else itself.
    pub(super) fn workload(&self, job: &'s Job) -> WorkloadRef {
        match job.owner.as_ref().and_then(|owner| Some((owner, wrapper_kind(owner)?))) {
            Some((owner, kind)) => {
                let uid = owner.uid.clone().or_else(|| self.wrapper(job)?.uid.clone());
                reference(&kind.name().into(), &job.namespace, &owner.name, uid.as_ref())
            }
            None => reference(&"Job".into(), &job.namespace, &job.name, job.uid.as_ref()),
        }
    }

    /// Names of a Job's rules by the annotation of the Job, its template, or its `CronJob` or `JobSet`.
    pub(super) fn rule_names(&self, job: &'s Job) -> Option<&'s str> {
        let own = job.rule_names.as_ref();
        own.or_else(|| self.wrapper(job)?.rule_names.as_ref()).map(|names: &'s Word| &**names)
    }
}

/// The workload of a pod whose Job is not in the data: the Job by the name its owner reference tells.
pub(super) fn missing_job(pod: &Pod, owner: &Owner) -> WorkloadRef {
    reference(&owner.kind, &pod.namespace, &owner.name, owner.uid.as_ref())
}

fn wrapper_kind(owner: &Owner) -> Option<WrapperKind> {
    [WrapperKind::CronJob, WrapperKind::JobSet].into_iter().find(|kind| owner.is(kind.group(), kind.name()))
}

fn reference(kind: &Word, namespace: &Word, name: &Word, uid: Option<&Uid>) -> WorkloadRef {
    WorkloadRef {
        kind: kind.clone(),
        namespace: namespace.clone(),
        name: name.clone(),
        uid: uid.map(|uid| uid.to_string().into()),
    }
}
