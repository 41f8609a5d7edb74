use super::TornDownBy;
use super::cause::blamed_end;
use std::sync::Arc;

use crate::model::{
    Action, ContainerEnd, Job, Ordinal, Pod, PodCondition, PodFailurePolicy, Restart, Time, Waiting, Word,
};
use crate::report::Class;

/// One ended attempt: of a pod, of a container in place, or of a Job without a pod of its own.
#[derive(Clone, Debug)]
pub struct Failure<'s> {
    /// What kind of failure it is.
    pub class: Class,
    /// Index in [`super::Analysis::workloads`].
    pub workload: usize,
    /// The Job, where it is in the data.
    pub job: Option<&'s Job>,
    /// The pod, where it is in the data.
    pub pod: Option<&'s Pod>,
    /// The rule it matched.
    pub rule: Option<RuleHit<'s>>,
    /// The container that matched the rule, or else the one to blame.
    pub end: Option<&'s ContainerEnd>,
    /// For `collateral`: what tore it down.
    pub torn_down: Option<TornDownBy>,
    /// Whether it is in the Job's `status.failed`; `None` where that is unknown.
    pub counted: Option<bool>,
    /// 1, but for `lost`.
    pub count: u32,
    /// What Events and conditions tell, where no pod does.
    pub told: Option<Box<Told<'s>>>,
}

/// The rule a failure matched.
#[derive(Clone, Copy, Debug)]
pub struct RuleHit<'s> {
    /// The rule's action.
    pub action: &'s Action,
    /// The condition that matched, where it asked for conditions.
    pub condition: Option<&'s PodCondition>,
    /// Index in the Job's policy; small, as there may be a hundred thousand failures.
    index: u32,
    /// What matched is a sidecar, and the rule names no container.
    pub sidecar: bool,
}

impl<'s> RuleHit<'s> {
    /// A rule by its index in the Job's policy, matched by exit code and no sidecar.
    pub(super) fn new(index: usize, action: &'s Action) -> Self {
        Self { action, condition: None, index: u32::try_from(index).unwrap_or(u32::MAX), sidecar: false }
    }

    /// Index in the Job's policy.
    pub const fn index(&self) -> usize {
        self.index as usize
    }

    /// Whether the rule asked for exit codes, not for conditions.
    pub fn by_exit_code(&self) -> bool {
        self.condition.is_none()
    }
}

/// What is known of a failure whose pod is gone, or that had none.
#[derive(Clone, Debug, Default)]
pub struct Told<'s> {
    /// The namespace, where neither a Job nor a pod tells it.
    pub namespace: Option<Word>,
    /// The pod's name.
    pub pod: Option<Word>,
    /// The container and its exit code.
    pub container: Option<(Word, i32)>,
    /// The reason.
    pub reason: Option<Word>,
    /// The message.
    pub message: Option<Word>,
    /// When it ended.
    pub at: Option<Time>,
    /// In words, what is known of the pods that are gone.
    pub gone: Option<String>,
    /// The Job it was of, where that is gone, too.
    pub of: Option<GoneJob<'s>>,
}

/// A Job of a `JobSet`'s attempt that is over: deleted with its pods.
#[derive(Clone, Debug)]
pub struct GoneJob<'s> {
    /// The namespace.
    pub namespace: &'s str,
    /// The Job's name, where the decision that ended the attempt names it.
    pub job: Option<&'s str>,
    /// Its `podFailurePolicy`, which is that of its template.
    pub policy: Option<&'s Arc<PodFailurePolicy>>,
    /// Names of that policy's rules by annotation.
    pub rule_names: Option<&'s str>,
    /// The node of the pod that failed.
    pub node: Option<Word>,
    /// The attempt, where one alone is meant.
    pub attempt: Option<u32>,
    /// When that began.
    pub started: Option<Time>,
    /// Indexes of the story and of the attempt in it.
    pub place: (usize, usize),
}

impl<'s> Failure<'s> {
    /// A failure of a pod.
    pub(super) fn of_pod(class: Class, workload: usize, job: Option<&'s Job>, pod: &'s Pod) -> Self {
        Self { pod: Some(pod), end: blamed_end(pod), ..Self::new(class, workload, job) }
    }

    /// A failure without a pod.
    pub(super) fn told(class: Class, workload: usize, job: &'s Job, told: Told<'s>) -> Self {
        Self { told: Some(Box::new(told)), ..Self::new(class, workload, Some(job)) }
    }

    /// A failure of a Job that is gone.
    pub(super) fn gone(class: Class, workload: usize, told: Told<'s>) -> Self {
        Self { told: Some(Box::new(told)), ..Self::new(class, workload, None) }
    }

    fn new(class: Class, workload: usize, job: Option<&'s Job>) -> Self {
        Self {
            class,
            workload,
            job,
            pod: None,
            rule: None,
            end: None,
            torn_down: None,
            counted: Some(false),
            count: 1,
            told: None,
        }
    }

    /// For `restarting`: the container that fails in place.
    pub fn restart(&self) -> Option<&'s Restart> {
        let pod = self.pod.filter(|_| self.class == Class::Restarting)?;
        pod.restarts().iter().find(|restart| self.end.is_some_and(|end| end.container == restart.last.container))
    }

    /// For `pending`: why it has not started.
    pub fn waiting(&self) -> Option<&'s Waiting> {
        self.pod.filter(|_| self.class == Class::Pending)?.waiting()
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        let of_pod = || self.pod.map(|pod| &*pod.namespace);
        let of_gone = || Some(self.gone_job()?.namespace);
        let told = || self.told.as_ref()?.namespace.as_deref();
        self.job.map(|job| &*job.namespace).or_else(of_pod).or_else(of_gone).or_else(told).unwrap_or_default()
    }

    /// The Job it was of, where that is gone.
    pub fn gone_job(&self) -> Option<&GoneJob<'s>> {
        self.told.as_ref()?.of.as_ref()
    }

    /// The name of the Job: in the data, told of, or by the pod's owner.
    pub fn job_name(&self) -> Option<&str> {
        let of_owner = || Some(&*self.pod?.owner.as_ref().filter(|owner| owner.is("batch", "Job"))?.name);
        self.job.map(|job| &*job.name).or_else(|| self.gone_job()?.job).or_else(of_owner)
    }

    /// The node the pod is, or was, on.
    pub fn node(&self) -> Option<&Word> {
        self.pod.and_then(|pod| pod.node.as_ref()).or_else(|| self.gone_job()?.node.as_ref())
    }

    /// The policy of its Job.
    pub fn policy(&self) -> Option<&'s Arc<PodFailurePolicy>> {
        self.job.and_then(|job| job.policy.as_ref()).or_else(|| self.gone_job()?.policy)
    }

    /// The pod's name, in the data or told of.
    pub fn pod_name(&self) -> Option<&str> {
        self.pod.map(|pod| &*pod.name).or_else(|| self.told.as_ref()?.pod.as_deref())
    }

    /// When the attempt began.
    pub fn started_at(&self) -> Option<Time> {
        if self.class == Class::Restarting {
            return self.end?.started_at;
        }
        match (self.class, self.pod, self.job) {
            (Class::JobLevel, None, Some(job)) => job.started,
            (_, Some(pod), _) => pod.started.or(pod.created),
            _ => self.gone_job()?.started,
        }
    }

    /// When the attempt ended; `None` while it is going on, or where that is unknown.
    pub fn finished_at(&self) -> Option<Time> {
        match self.pod {
            Some(_) if self.class == Class::Restarting => self.end?.finished_at,
            Some(_) if matches!(self.class, Class::Pending | Class::NotReady) => None,
            Some(pod) if pod.is_terminating() => None,
            Some(pod) => pod.finished_at(),
            None => self.told.as_ref()?.at,
        }
    }

    /// When it is placed in time: its end, else since when it has been going on.
    pub fn at(&self) -> Option<Time> {
        // What is told of a pod that is there is since when it is not ready.
        let told = || self.told.as_ref().filter(|_| self.class == Class::NotReady)?.at;
        self.finished_at()
            .or_else(told)
            .or_else(|| self.waiting()?.since)
            .or_else(|| self.pod?.deletion_requested)
            .or_else(|| self.started_at())
    }

    /// Accelerator-seconds spent; `None` where start or end is unknown.
    pub fn gpu_seconds(&self) -> Option<f64> {
        let pod = self.pod?;
        if pod.accelerators == 0.0 || matches!(self.class, Class::Pending | Class::NotReady) {
            return Some(0.0);
        }
        let seconds = self.finished_at()?.since(self.started_at()?);
        Some(f64::from(pod.accelerators) * seconds.max(0.0))
    }

    /// The restart attempt of a `JobSet`, or the number of earlier failures of the same index.
    pub fn attempt(&self) -> Option<u32> {
        let Some(pod) = self.pod else { return self.gone_job()?.attempt };
        let before = || {
            let ignored = pod.index_ignored.map_or(0, Ordinal::get);
            Some(pod.index_failures?.get().saturating_add(ignored))
        };
        pod.restart_attempt.map(Ordinal::get).or_else(before)
    }
}
