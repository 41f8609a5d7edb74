use std::collections::{BTreeMap, HashMap, HashSet};

use super::facts::{Evidence, JobFacts};
use super::job_set::{Attempt, JobSetStory, Material, stories};
use super::orphan::judge_orphan;
use super::owner::{Owners, Wrapper, job_set_reference, missing_job};
use super::{Failure, TornDownBy};
use crate::model::{Event, Job, JobSet, Phase, Pod, Time, Uid, Word};
use crate::policy::{RuleLabel, label};
use crate::report::{Class, WorkloadRef, WorkloadState};
use crate::request::{Selector, Target, TargetKind};
use crate::source::{Resource, Snapshot, SourceState};
use crate::words::list_names;

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
    /// Of a `JobSet` in the data: index in [`Analysis::stories`].
    pub story: Option<usize>,
    /// Where it stands, if not its Jobs tell it.
    pub own_state: Option<WorkloadState>,
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
    /// What became of the `JobSet`s.
    pub stories: Vec<JobSetStory<'s>>,
    /// Workloads left out because they completed in spite of failures, and their failures.
    pub completed: (usize, u64),
    /// What is to be said beyond single workloads.
    pub notes: Vec<String>,
    pub(super) rule_names: HashMap<*const Job, &'s str>,
    /// By the Job that it names: indexes of the story and the attempt whose end was decided for it.
    pub(super) decided: HashMap<*const Job, (usize, usize)>,
}

/// Judges every Job and every pod of a snapshot.
pub fn analyse<'s>(snapshot: &'s Snapshot, options: &Options) -> Analysis<'s> {
    let mut analyst = Analyst::new(snapshot, options);
    analyst.judge_jobs();
    analyst.judge_orphans();
    analyst.tell_job_sets();
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
    decided: HashMap<*const Job, (usize, usize)>,
    stories: Vec<JobSetStory<'s>>,
    /// Pods of the Jobs that a `JobSet` owns.
    pods_of_job_sets: HashMap<*const Job, Vec<&'s Pod>>,
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
            if let Some(Wrapper::JobSet(_)) = self.owners.wrapper(job) {
                self.pods_of_job_sets.insert(job, pods.clone());
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
                story: None,
                own_state: None,
                acted_on: None,
            });
        }
        index
    }

    fn is_wanted(&self, job: &'s Job) -> bool {
        let wrapper = self.owners.wrapper(job);
        let labels = [Some(&job.labels), wrapper.map(Wrapper::labels)];
        // What is asked not to be there may be on neither of the two.
        let selected = labels.into_iter().flatten().any(|labels| self.has_labels(labels))
            && !labels.into_iter().flatten().any(|labels| self.are_excluded(labels));
        let named = |target: &Target| match target.kind {
            TargetKind::Job => *target.name == *job.name,
            TargetKind::Pod => false,
            kind @ (TargetKind::CronJob | TargetKind::JobSet) => {
                let owner = job.owner.as_ref();
                owner.is_some_and(|owner| *owner.kind == *kind.kind() && *owner.name == *target.name)
            }
        };
        selected && (self.options.targets.is_empty() || self.options.targets.iter().any(named))
    }

    fn has_labels(&self, labels: &BTreeMap<Word, Word>) -> bool {
        self.options.selector.matches(|key| labels.get(key).map(|value| &**value))
    }

    fn are_excluded(&self, labels: &BTreeMap<Word, Word>) -> bool {
        self.options.selector.excludes(|key| labels.get(key).map(|value| &**value))
    }

    /// `JobSet`s of which a Job has a label that is asked not to be there.
    fn excluded_job_sets(&self) -> HashSet<*const JobSet> {
        let excluded = self.snapshot.jobs.iter().filter(|job| self.are_excluded(&job.labels));
        let of_job = |job: &'s Job| match self.owners.wrapper(job)? {
            Wrapper::JobSet(job_set) => Some(std::ptr::from_ref(job_set)),
            Wrapper::CronJob(_) => None,
        };
        excluded.filter_map(of_job).collect()
    }

    fn is_wanted_job_set(&self, job_set: &JobSet) -> bool {
        let named = |target: &Target| target.kind == TargetKind::JobSet && *target.name == *job_set.name;
        self.has_labels(&job_set.labels) && (self.options.targets.is_empty() || self.options.targets.iter().any(named))
    }

    /// What became of the `JobSet`s: which rule of their failure policy each failure led to, and the attempts whose Jobs
    /// are gone.
    fn tell_job_sets(&mut self) {
        let material = Material {
            snapshot: self.snapshot,
            owners: &self.owners,
            pods: &self.pods_of_job_sets,
            failures: &self.failures,
            evidence: self.evidence,
            now: self.options.now,
        };
        let excluded = self.excluded_job_sets();
        let wanted =
            |job_set: &'s JobSet| self.is_wanted_job_set(job_set) && !excluded.contains(&std::ptr::from_ref(job_set));
        let stories = stories(&material, wanted);
        let mut torn_down: HashMap<*const Job, TornDownBy> = HashMap::new();
        for (index, story) in stories.iter().enumerate() {
            let workload = self.workload(job_set_reference(story.job_set));
            let state = story.state();
            let shown = &mut self.workloads[workload];
            shown.story = Some(index);
            shown.own_state = Some(state);
            let mut lost = story.lost(index, workload);
            if state == WorkloadState::Complete && !self.options.all {
                lost.retain(|failure| self.options.wants(failure));
                let hidden: u64 = lost.iter().map(|failure| u64::from(failure.count)).sum();
                if hidden > 0 {
                    self.completed.0.insert(workload);
                    self.completed.1 += hidden;
                }
            } else {
                shown.notes.extend(story.notes.iter().cloned());
                self.failures.extend(lost);
            }
            for (number, attempt) in story.attempts.iter().enumerate() {
                let job = attempt.decision.as_ref().and_then(|decision| decision.job_in_data);
                self.decided.extend(job.map(|job| (std::ptr::from_ref(job), (index, number))));
            }
            torn_down
                .extend(story.jobs.iter().filter_map(|job| Some((std::ptr::from_ref(*job), story.torn_down_by(job)?))));
        }
        let by_deletion = self.failures.iter_mut().filter(|failure| failure.torn_down == Some(TornDownBy::JobDeleted));
        for failure in by_deletion {
            failure.torn_down =
                failure.job.and_then(|job| torn_down.get(&std::ptr::from_ref(job)).copied()).or(failure.torn_down);
        }
        self.stories = stories;
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

    /// What a rule of a failure's Job is called.
    pub fn label_of(&self, failure: &Failure<'s>, index: usize) -> Option<RuleLabel<'s>> {
        let rule = failure.policy()?.rules.get(index)?;
        let of_job = failure.job.and_then(|job| self.rule_names_of(job));
        Some(label(rule, index, of_job.or_else(|| failure.gone_job()?.rule_names)))
    }

    /// The decision of a `JobSet`'s controller that a failure led to. What was torn down, waits or restarts in place led to
    /// none.
    pub fn decision_of(&self, failure: &Failure<'s>) -> Option<(&JobSetStory<'s>, &Attempt<'s>)> {
        if matches!(failure.class, Class::Collateral | Class::Pending | Class::Restarting) {
            return None;
        }
        let of_job = || self.decided.get(&std::ptr::from_ref(failure.job?)).copied();
        let (story, attempt) = failure.gone_job().map(|gone| gone.place).or_else(of_job)?;
        let story = self.stories.get(story)?;
        let attempt = story.attempts.get(attempt)?;
        let decision = attempt.decision.as_ref();
        let is_it = match decision.filter(|decision| decision.is_named) {
            Some(decision) => decision.pod == failure.pod_name(),
            // An ignored failure leads to nothing.
            None => failure.gone_job().is_some() || failure.counted != Some(false) || failure.class == Class::JobLevel,
        };
        is_it.then_some((story, attempt))
    }
}

impl Workload<'_> {
    /// Where the workload stands, over all its Jobs.
    pub fn state(&self) -> WorkloadState {
        if let Some(state) = self.own_state {
            return state;
        }
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
