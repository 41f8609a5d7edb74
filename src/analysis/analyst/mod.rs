//! Judges a snapshot: Jobs with their pods, pods of other workloads, and what each workload tells of itself.

mod job_sets;
mod jobs;
mod notes;
mod others;
mod queues;

use std::collections::{BTreeMap, HashMap, HashSet};

use super::facts::Evidence;
use super::job_set::JobSetStory;
use super::owner::Owners;
use super::workload::Workload;
use super::{Analysis, Failure, Options};
use crate::model::{Job, Pod, Time, Uid, Word};
use crate::report::WorkloadRef;
use crate::request::TargetKind;
use crate::source::{Resource, Snapshot, SourceState};

/// Judges a snapshot, one kind of workload after the other.
pub(super) struct Analyst<'s, 'o> {
    snapshot: &'s Snapshot,
    options: &'o Options,
    owners: Owners<'s>,
    workloads: Vec<Workload<'s>>,
    index: BTreeMap<WorkloadRef, usize>,
    failures: Vec<Failure<'s>>,
    completed: (HashSet<usize>, u64),
    rule_names: HashMap<*const Job, &'s str>,
    decided: HashMap<*const Job, (usize, usize)>,
    stories: Vec<JobSetStory<'s>>,
    /// Pods of the Jobs that a `JobSet` owns.
    pods_of_job_sets: HashMap<*const Job, Vec<&'s Pod>>,
    /// Pods without a Job in the data.
    orphans: Vec<&'s Pod>,
    /// Of these, those of one workload, by its index.
    pods_of_others: BTreeMap<usize, Vec<&'s Pod>>,
    pods_of: Vec<Vec<&'s Pod>>,
    evidence: Evidence,
    notes: Vec<String>,
}

impl<'s, 'o> Analyst<'s, 'o> {
    pub(super) fn new(snapshot: &'s Snapshot, options: &'o Options) -> Self {
        let by_uid: HashMap<&Uid, usize> =
            snapshot.jobs.iter().enumerate().filter_map(|(index, job)| Some((job.uid.as_ref()?, index))).collect();
        let by_name: HashMap<(&str, &str), usize> =
            snapshot.jobs.iter().enumerate().map(|(index, job)| ((&*job.namespace, &*job.name), index)).collect();
        let mut pods_of = vec![Vec::new(); snapshot.jobs.len()];
        let mut orphans = Vec::new();
        for pod in &snapshot.pods {
            let Some(owner) = pod.owner.as_ref().filter(|owner| owner.is("batch", "Job")) else {
                orphans.push(pod);
                continue;
            };
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
            owners: Owners::new(snapshot),
            workloads: Vec::new(),
            index: BTreeMap::new(),
            failures: Vec::new(),
            completed: (HashSet::new(), 0),
            rule_names: HashMap::new(),
            decided: HashMap::new(),
            stories: Vec::new(),
            pods_of_job_sets: HashMap::new(),
            orphans,
            pods_of_others: BTreeMap::new(),
            pods_of,
            evidence: Evidence {
                pods: was_read(snapshot, Resource::Pods),
                events: was_read(snapshot, Resource::Events),
            },
            notes: Vec::new(),
        }
    }

    /// All of it.
    pub(super) fn analyse(mut self) -> Analysis<'s> {
        self.judge_jobs();
        self.judge_pods();
        self.tell_job_sets();
        self.tell_others();
        self.note_what_is_beyond();
        self.finish()
    }

    fn workload(&mut self, reference: WorkloadRef) -> usize {
        let next = self.workloads.len();
        let index = *self.index.entry(reference.clone()).or_insert(next);
        if index == next {
            self.workloads.push(Workload {
                reference,
                jobs: Vec::new(),
                is_gone: false,
                notes: Vec::new(),
                first: None,
                story: None,
                own_state: None,
                situations: Vec::new(),
                queued: None,
                standing: None,
                acted_on: None,
            });
        }
        index
    }

    /// Whether something is asked for by one of its names: all is where nothing is asked for by name or kind.
    fn is_asked_for(&self, names: &[(TargetKind, &str)]) -> bool {
        let Options { targets, kinds, .. } = self.options;
        let called = targets.iter().any(|target| names.contains(&(target.kind, &*target.name)));
        let of_kind = kinds.iter().any(|wanted| names.iter().any(|(kind, _)| kind == wanted));
        // What happened on a node is known when all is judged (`Options::wants`).
        let on_nodes = targets.iter().any(|target| target.kind == TargetKind::Node);
        (targets.is_empty() && kinds.is_empty()) || called || of_kind || on_nodes
    }

    fn has_labels(&self, labels: &BTreeMap<Word, Word>) -> bool {
        self.options.selector.matches(|key| labels.get(key).map(|value| &**value))
    }

    fn are_excluded(&self, labels: &BTreeMap<Word, Word>) -> bool {
        self.options.selector.excludes(|key| labels.get(key).map(|value| &**value))
    }

    /// Notes which workloads a journal tells the deletion of.
    fn note_gone(&mut self) {
        let gone = &self.snapshot.gone;
        if gone.is_empty() {
            return;
        }
        for workload in &mut self.workloads {
            let uid = workload.reference.uid.as_deref().and_then(Uid::parse);
            let jobs = &workload.jobs;
            let all_jobs =
                || !jobs.is_empty() && jobs.iter().all(|job| job.uid.as_ref().is_some_and(|uid| gone.contains(uid)));
            let has_own = workload.own_state.is_some();
            workload.is_gone = uid.is_some_and(|uid| gone.contains(&uid)) || (!has_own && all_jobs());
        }
    }

    fn finish(mut self) -> Analysis<'s> {
        self.note_gone();
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
            if let Some(at) = failure.first_end()
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
            stories: self.stories,
            notes: self.notes,
            rule_names: self.rule_names,
            decided: self.decided,
        }
    }
}

/// Whether a resource was read whole, so that what is not in the data is not there.
fn was_read(snapshot: &Snapshot, resource: Resource) -> bool {
    let source = snapshot.sources.iter().find(|source| source.resource == resource.name());
    source.is_some_and(|source| source.state == SourceState::Read && source.skipped == 0)
}
