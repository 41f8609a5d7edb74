use std::collections::{BTreeMap, HashMap, HashSet};

use super::Failure;
use super::cause::first_failed_end;
use super::facts::{Evidence, JobFacts};
use super::orphan::judge_orphan;
use super::owner::{Owners, missing_job};
use super::words::list_names;
use crate::model::{Event, Job, Phase, Pod, Time, Uid, Word};
use crate::report::{Class, WorkloadRef, WorkloadState};
use crate::request::{Selector, Target, TargetKind};
use crate::source::{Resource, Snapshot, SourceState};

/// What of the failures is wanted.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Time of the data; ages and waits count from it.
    pub now: Option<Time>,
    /// Seconds after which a pod that waits for a node or is still being created counts as unable to start.
    pub pending_after: i64,
    /// Only failures that ended within this many seconds.
    pub since: Option<i64>,
    /// Only these classes; all where empty.
    pub classes: Vec<Class>,
    /// Also workloads that completed in spite of failures.
    pub all: bool,
    /// Only workloads with these labels.
    pub selector: Selector,
    /// Only these workloads; all where empty.
    pub targets: Vec<Target>,
}

/// A workload with failures.
#[derive(Clone, Debug)]
pub struct Workload<'s> {
    /// Which.
    pub reference: WorkloadRef,
    /// Its Jobs in the data.
    pub jobs: Vec<&'s Job>,
    /// What is to be said of it.
    pub notes: Vec<String>,
    /// The failure that came first.
    pub first: Option<Failure<'s>>,
    /// Index of the Job whose failure was recorded first, and the rule recorded for it.
    pub acted_on: Option<(&'s Job, Option<usize>)>,
}

/// All failures of a snapshot.
#[derive(Debug)]
pub struct Analysis<'s> {
    /// The data.
    pub snapshot: &'s Snapshot,
    /// The workloads that failures point to.
    pub workloads: Vec<Workload<'s>>,
    /// The failures wanted, by workload, Job, pod.
    pub failures: Vec<Failure<'s>>,
    /// Workloads left out because they completed in spite of failures, and their failures.
    pub completed: (usize, u64),
    /// What is to be said beyond single workloads.
    pub notes: Vec<String>,
    pub(super) rule_names: HashMap<*const Job, &'s str>,
}

/// Judges every Job and every pod of a snapshot.
pub fn analyse<'s>(snapshot: &'s Snapshot, options: &Options) -> Analysis<'s> {
    let mut analyst = Analyst::new(snapshot, options);
    analyst.judge_jobs();
    analyst.judge_orphans();
    analyst.note_what_is_beyond();
    analyst.finish()
}

struct Analyst<'s, 'o> {
    snapshot: &'s Snapshot,
    options: &'o Options,
    owners: Owners<'s>,
    workloads: Vec<Workload<'s>>,
    index: BTreeMap<WorkloadRef, usize>,
    failures: Vec<Failure<'s>>,
    completed: (HashSet<usize>, u64),
    rule_names: HashMap<*const Job, &'s str>,
    orphans: Vec<&'s Pod>,
    pods_of: Vec<Vec<&'s Pod>>,
    evidence: Evidence,
    notes: Vec<String>,
}

impl<'s, 'o> Analyst<'s, 'o> {
    fn new(snapshot: &'s Snapshot, options: &'o Options) -> Self {
        let by_uid: HashMap<&Uid, usize> =
            snapshot.jobs.iter().enumerate().filter_map(|(index, job)| Some((job.uid.as_ref()?, index))).collect();
        let by_name: HashMap<(&str, &str), usize> =
            snapshot.jobs.iter().enumerate().map(|(index, job)| ((&*job.namespace, &*job.name), index)).collect();
        let mut pods_of = vec![Vec::new(); snapshot.jobs.len()];
        let mut orphans = Vec::new();
        for pod in &snapshot.pods {
            let Some(owner) = pod.owner.as_ref().filter(|owner| owner.is("batch", "Job")) else { continue };
            // Joined by uid: the Jobs of a restarted JobSet have the same names and other uids. Hand-written files may
            // have none.
            let named = || by_name.get(&(&*pod.namespace, &*owner.name));
            let job = match &owner.uid {
                Some(uid) => by_uid.get(uid).or_else(|| named().filter(|job| snapshot.jobs[**job].uid.is_none())),
                None => named(),
            };
            match job {
                Some(job) => pods_of[*job].push(pod),
                None => orphans.push(pod),
            }
        }
        Self {
            snapshot,
            options,
            owners: Owners::new(&snapshot.wrappers),
            workloads: Vec::new(),
            index: BTreeMap::new(),
            failures: Vec::new(),
            completed: (HashSet::new(), 0),
            rule_names: HashMap::new(),
            orphans,
            pods_of,
            evidence: Evidence {
                pods: was_read(snapshot, Resource::Pods),
                events: was_read(snapshot, Resource::Events),
            },
            notes: Vec::new(),
        }
    }

    fn judge_jobs(&mut self) {
        let mut events_of: HashMap<&Uid, Vec<&Event>> = HashMap::new();
        let mut events_named: HashMap<(&str, &str), Vec<&Event>> = HashMap::new();
        for event in self.snapshot.events.iter().filter(|event| &*event.kind == "Job") {
            match &event.uid {
                Some(uid) => events_of.entry(uid).or_default().push(event),
                None => events_named.entry((&event.namespace, &event.name)).or_default().push(event),
            }
        }
        let pods_of = std::mem::take(&mut self.pods_of);
        for (job, pods) in self.snapshot.jobs.iter().zip(pods_of) {
            if !self.is_wanted(job) {
                continue;
            }
            let mut events = job.uid.as_ref().and_then(|uid| events_of.remove(uid)).unwrap_or_default();
            events.extend(events_named.get(&(&*job.namespace, &*job.name)).into_iter().flatten());
            self.judge_job(job, pods, events);
        }
    }

    fn judge_job(&mut self, job: &'s Job, pods: Vec<&'s Pod>, events: Vec<&'s Event>) {
        if let Some(names) = self.owners.rule_names(job) {
            self.rule_names.insert(job, names);
        }
        let reference = self.owners.workload(job);
        let workload = self.workload(reference);
        let facts = JobFacts::new(job, workload, pods, events, self.evidence);
        let mut findings = facts.judge(self.options.now, self.options.pending_after);
        let shown = &mut self.workloads[workload];
        shown.jobs.push(job);
        if job.succeeding().is_some() && !self.options.all {
            let wanted = findings.failures.iter().filter(|failure| self.options.wants(failure));
            let hidden: u64 = wanted.map(|failure| u64::from(failure.count)).sum();
            if hidden > 0 {
                self.completed.0.insert(workload);
                self.completed.1 += hidden;
            }
            return;
        }
        shown.notes.append(&mut findings.notes);
        let failing_at = |job: &Job| job.failing().and_then(|condition| condition.at);
        if job.failing().is_some() && shown.acted_on.is_none_or(|(other, _)| failing_at(job) < failing_at(other)) {
            shown.acted_on = Some((job, findings.recorded.map(|recorded| recorded.index)));
        }
        self.failures.append(&mut findings.failures);
    }

    fn judge_orphans(&mut self) {
        for pod in std::mem::take(&mut self.orphans) {
            let Some(owner) = &pod.owner else { continue };
            let named = |target: &Target| target.kind == TargetKind::Job && *target.name == *owner.name;
            if !pod.selected || !(self.options.targets.is_empty() || self.options.targets.iter().any(named)) {
                continue;
            }
            let workload = self.workload(missing_job(pod, owner));
            let found = judge_orphan(pod, workload, self.options.now, self.options.pending_after);
            self.failures.extend(found);
        }
    }

    /// What a reader of the failures must know that no failure tells.
    fn note_what_is_beyond(&mut self) {
        self.note_what_was_not_read();
        self.note_other_managers();
        self.note_restarts();
        self.note_other_pods();
    }

    fn note_what_was_not_read(&mut self) {
        for (resource, lost) in [
            (Resource::Pods, "failures whose pods may still be there count as lost"),
            (Resource::Events, "pods torn down with their Job cannot be told from lost ones"),
        ] {
            let gap = if resource == Resource::Pods { !self.evidence.pods } else { !self.evidence.events };
            if gap && self.failures.iter().any(|failure| failure.class == Class::Lost) {
                self.notes.push(format!("{} are not in the data, or not whole: {lost}", resource.name()));
            }
        }
    }

    fn note_other_managers(&mut self) {
        let managed = self.snapshot.jobs.iter().filter(|job| job.managed_by.is_some());
        let mut by_manager: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for job in managed {
            by_manager.entry(job.managed_by.as_deref().unwrap_or_default()).or_default().push(&job.name);
        }
        for (manager, jobs) in by_manager {
            let jobs = list_names(&jobs, 2);
            self.notes.push(format!(
                "managed by {manager}: job/{jobs}; their status is shown as read, their policy is not recomputed"
            ));
        }
    }

    fn note_restarts(&mut self) {
        let restarted = self.snapshot.wrappers.iter().filter(|wrapper| {
            let named = |target: &Target| target.kind == TargetKind::JobSet && *target.name == *wrapper.name;
            wrapper.restarts > 0 && (self.options.targets.is_empty() || self.options.targets.iter().any(named))
        });
        let restarted: Vec<String> = restarted.map(|set| format!("jobset/{} ({})", set.name, set.restarts)).collect();
        if !restarted.is_empty() {
            let sets: Vec<&str> = restarted.iter().map(String::as_str).collect();
            self.notes
                .push(format!("restarts: {}; the Jobs and pods of the attempts before are gone", list_names(&sets, 3)));
        }
    }

    fn note_other_pods(&mut self) {
        let others = self.snapshot.pods.iter().filter(|pod| {
            let of_job = pod.owner.as_ref().is_some_and(|owner| owner.is("batch", "Job"));
            pod.phase == Phase::Failed && pod.selected && !of_job
        });
        let others = others.count();
        if others > 0 && self.options.targets.is_empty() {
            let (pods, belong) = if others == 1 { ("pod", "belongs") } else { ("pods", "belong") };
            self.notes.push(format!(
                "{others} failed {pods} {belong} to no Job and {} not judged",
                if others == 1 { "is" } else { "are" }
            ));
        }
    }

    fn workload(&mut self, reference: WorkloadRef) -> usize {
        let next = self.workloads.len();
        let index = *self.index.entry(reference.clone()).or_insert(next);
        if index == next {
            self.workloads.push(Workload {
                reference,
                jobs: Vec::new(),
                notes: Vec::new(),
                first: None,
                acted_on: None,
            });
        }
        index
    }

    fn is_wanted(&self, job: &'s Job) -> bool {
        let wrapper = self.owners.wrapper(job);
        let labels = |labels: &'s BTreeMap<_, _>| {
            self.options.selector.matches(|key| labels.get(key).map(|value: &Word| &**value))
        };
        let selected = labels(&job.labels) || wrapper.is_some_and(|wrapper| labels(&wrapper.labels));
        let named = |target: &Target| match target.kind {
            TargetKind::Job => *target.name == *job.name,
            kind @ (TargetKind::CronJob | TargetKind::JobSet) => {
                let owner = job.owner.as_ref();
                owner.is_some_and(|owner| *owner.kind == *kind.kind() && *owner.name == *target.name)
            }
        };
        selected && (self.options.targets.is_empty() || self.options.targets.iter().any(named))
    }

    fn finish(mut self) -> Analysis<'s> {
        // Unstable, as a stable sort takes half as much memory again; the key tells all failures apart.
        self.failures.sort_unstable_by(|a, b| {
            let key = |failure: &Failure<'s>| (&self.workloads[failure.workload].reference, failure.at());
            let told = |failure: &Failure<'s>| {
                let uid = failure.pod.and_then(|pod| pod.uid.as_ref());
                (uid, failure.class, failure.container().map(str::to_owned))
            };
            key(a).cmp(&key(b)).then_with(|| a.pod_name().cmp(&b.pod_name())).then_with(|| told(a).cmp(&told(b)))
        });
        // First causes are sought among all failures, so that a narrow view does not name a later one.
        let mut firsts: Vec<Option<(Time, Failure)>> = vec![None; self.workloads.len()];
        for failure in &self.failures {
            let first = &mut firsts[failure.workload];
            if let Some(at) = first_end(failure)
                && first.as_ref().is_none_or(|(before, _)| at < *before)
            {
                *first = Some((at, failure.clone()));
            }
        }
        self.failures.retain(|failure| self.options.wants(failure));
        for (workload, first) in self.workloads.iter_mut().zip(firsts) {
            workload.first = first.map(|(_, failure)| failure);
        }
        Analysis {
            snapshot: self.snapshot,
            workloads: self.workloads,
            failures: self.failures,
            completed: (self.completed.0.len(), self.completed.1),
            notes: self.notes,
            rule_names: self.rule_names,
        }
    }
}

impl Options {
    fn wants(&self, failure: &Failure) -> bool {
        (self.classes.is_empty() || self.classes.contains(&failure.class)) && is_within(failure, self.now, self.since)
    }
}

/// Whether a resource was read whole, so that what is not in the data is not there.
fn was_read(snapshot: &Snapshot, resource: Resource) -> bool {
    let source = snapshot.sources.iter().find(|source| source.resource == resource.name());
    source.is_some_and(|source| source.state == SourceState::Read && source.skipped == 0)
}

/// When a failure that happened by itself happened: the end of its container, else of the attempt.
fn first_end(failure: &Failure) -> Option<Time> {
    match failure.class {
        Class::Rule | Class::NoRule | Class::NoPolicy | Class::Unmatchable | Class::Unknown => {
            let end = failure.pod.and_then(first_failed_end).or(failure.end);
            end.and_then(|end| end.finished_at).or_else(|| failure.at())
        }
        Class::Collateral | Class::Pending | Class::Restarting | Class::JobLevel | Class::Lost => None,
    }
}

/// Whether a failure lies within the last `since` seconds. What is going on lies within, and so does what has no time:
/// leaving it out would hide it.
fn is_within(failure: &Failure, now: Option<Time>, since: Option<i64>) -> bool {
    match (now, since, failure.finished_at()) {
        (Some(now), Some(since), Some(at)) => at >= now.plus_seconds(-since),
        _ => true,
    }
}

impl<'s> Analysis<'s> {
    /// Names of a Job's rules by annotation.
    pub fn rule_names_of(&self, job: &Job) -> Option<&'s str> {
        self.rule_names.get(&std::ptr::from_ref(job)).copied()
    }
}

impl Workload<'_> {
    /// Where the workload stands, over all its Jobs.
    pub fn state(&self) -> WorkloadState {
        let any = |test: fn(&Job) -> bool| self.jobs.iter().any(|job| test(job));
        if self.jobs.is_empty() {
            WorkloadState::Unknown
        } else if any(|job| job.failing().is_some() && !job.is_finished()) {
            WorkloadState::Failing
        } else if any(|job| job.condition("Failed").is_some()) {
            WorkloadState::Failed
        } else if any(|job| !job.is_finished() && !job.suspend) {
            WorkloadState::Running
        } else if any(|job| !job.is_finished()) {
            WorkloadState::Suspended
        } else {
            WorkloadState::Complete
        }
    }
}
