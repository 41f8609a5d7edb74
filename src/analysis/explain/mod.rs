//! The whole story of one workload or pod: what became of it, in order of time, under which rules, how each fact is known
//! and what is not.

mod checkpoints;
mod judged;
mod others;
mod policies;
mod runs;
mod snapshots;
mod subject;
mod timeline;
mod verdict;

pub use subject::{FindError, Subject, find};

use std::collections::HashSet;

use super::job_set::{Attempt, JobSetStory};
use super::owner::{
    self, cron_job_reference, job_reference, job_set_reference, job_set_workload, other_reference, pod_reference,
};
use super::standing::Other;
use super::{Analysis, Failure, Workload, object};
use crate::model::{Job, Owner, Phase, Pod, Time};
use crate::policy::parse_message;
use crate::report::{API_VERSION, Class, Evidence, Explanation, Situation, SourceState, WorkloadRef, WorkloadState};
use crate::source::{Resource, Snapshot};

/// All that is told of a subject.
struct Facts<'a, 's> {
    analysis: &'a Analysis<'s>,
    subject: Subject<'s>,
    /// Its Jobs in the data: of a `JobSet`, those of its last attempt.
    jobs: Vec<&'s Job>,
    /// Its failures, by time: of a `JobSet`, those of its last attempt.
    failures: Vec<&'a Failure<'s>>,
    story: Option<&'a JobSetStory<'s>>,
    now: Option<Time>,
}

/// Explains a subject by an analysis of the workload it belongs to. Suggestions are for the caller to add.
pub fn explain(analysis: &Analysis, subject: Subject, now: Option<Time>) -> Explanation {
    let facts = Facts::new(analysis, subject, now);
    let state = facts.state();
    let (verdict, verdict_tells) = verdict::verdict(&facts, state);
    let mut sources = analysis.snapshot.sources.clone();
    sources.retain(|source| source.state != SourceState::NotAsked);
    Explanation {
        api_version: API_VERSION,
        kind: "Explanation",
        cluster: analysis.snapshot.cluster.clone(),
        as_of: now,
        subject: reference(subject),
        state,
        verdict,
        timeline: timeline::timeline(&facts),
        job_set: facts.own_story().map(JobSetStory::report),
        situations: facts.situations(),
        rollout: facts.workload().and_then(|workload| workload.standing.as_ref()?.1.rollout.clone()),
        runs: runs::runs(&facts),
        policies: policies::policies(&facts),
        judged: judged::judged(&facts),
        checkpoints: checkpoints::checkpoints(&facts),
        evidence: facts.evidence(),
        missing: facts.missing(),
        suggestions: Vec::new(),
        sources,
        notes: facts.notes().into_iter().chain(deleted_since(analysis.snapshot, subject)).collect(),
        verdict_tells,
    }
}

/// Said of what a journal tells the deletion of: the rest is how it was before.
fn deleted_since(snapshot: &Snapshot, subject: Subject) -> Option<String> {
    let uid = match subject {
        Subject::Job(job) => job.uid.as_ref()?,
        Subject::JobSet(job_set) => job_set.uid.as_ref()?,
        Subject::Pod(pod) => pod.uid.as_ref()?,
        _ => return None,
    };
    snapshot.gone.contains(uid).then(|| "it has been deleted since: this is what the journal tells of it".to_owned())
}

/// Whether a failure is one of the subject's: advice for others does not belong to its story.
pub fn is_of(analysis: &Analysis, subject: Subject, failure: &Failure) -> bool {
    match subject {
        Subject::Pod(pod) => failure.pod.is_some_and(|other| std::ptr::eq(other, pod)),
        // What Kueue keeps from running for good is a failure of the Job that no pod of it has.
        Subject::Job(job) if failure.class == Class::WorkloadLevel => {
            is_same(&analysis.workloads[failure.workload].reference, &job_reference(job))
        }
        Subject::Job(job) => failure.job.is_some_and(|other| std::ptr::eq(other, job)),
        Subject::Other(Other::Queued(queued)) if failure.class == Class::WorkloadLevel => {
            analysis.workloads[failure.workload].queued.is_some_and(|other| std::ptr::eq(other, queued))
        }
        Subject::Node(node) => failure.node().is_some_and(|on| *on == node.name),
        Subject::JobSet(job_set) => {
            is_same(&analysis.workloads[failure.workload].reference, &job_set_workload(job_set))
        }
        // What its pods do is counted under what it is a part of.
        Subject::Other(other) if other.is_part() && failure.pod.is_some_and(|pod| other.controls(pod)) => true,
        Subject::CronJob(_) | Subject::Other(_) => {
            is_same(&analysis.workloads[failure.workload].reference, &workload_of(subject))
        }
    }
}

impl<'a, 's> Facts<'a, 's> {
    fn new(analysis: &'a Analysis<'s>, subject: Subject<'s>, now: Option<Time>) -> Self {
        let story = story_of(analysis, subject);
        let snapshot = analysis.snapshot;
        let jobs: Vec<&Job> = match subject {
            Subject::Job(job) => vec![job],
            Subject::Pod(pod) => snapshot.jobs.iter().filter(|job| is_of_job(pod, job)).collect(),
            Subject::JobSet(_) | Subject::Other(Other::TrainJob(_)) => {
                story.map(|story| story.jobs_of_last_attempt().collect()).unwrap_or_default()
            }
            Subject::Other(_) | Subject::Node(_) => Vec::new(),
            Subject::CronJob(cron_job) => {
                let of_cron_job = |job: &&Job| {
                    let owner = job.owner.as_ref().filter(|owner| owner.is("batch", "CronJob"));
                    let same = |owner: &Owner| {
                        let same_uid = owner.uid == cron_job.uid || owner.uid.is_none() || cron_job.uid.is_none();
                        owner.name == cron_job.name && same_uid
                    };
                    owner.is_some_and(same) && job.namespace == cron_job.namespace
                };
                let mut jobs: Vec<&Job> = snapshot.jobs.iter().filter(of_cron_job).collect();
                jobs.sort_by_key(|job| (std::cmp::Reverse(job.created), &job.name));
                jobs
            }
        };
        let is_its = |failure: &&Failure| match subject {
            Subject::Pod(pod) => failure.pod.is_some_and(|other| std::ptr::eq(other, pod)),
            Subject::Node(_) => is_of(analysis, subject, failure),
            Subject::Other(_) if jobs.is_empty() => is_of(analysis, subject, failure),
            Subject::Job(_) | Subject::JobSet(_) if failure.class == Class::WorkloadLevel => {
                is_of(analysis, subject, failure)
            }
            // Of a CronJob: what its schedule did is no run's.
            Subject::CronJob(_) if failure.job.is_none() && failure.pod.is_none() => is_of(analysis, subject, failure),
            _ => failure.job.is_some_and(|job| jobs.iter().any(|other| std::ptr::eq(*other, job))),
        };
        let failures = analysis.failures.iter().filter(is_its).collect();
        Self { analysis, subject, jobs, failures, story, now }
    }

    /// The story of the subject itself.
    fn own_story(&self) -> Option<&'a JobSetStory<'s>> {
        self.story.filter(|_| matches!(self.subject, Subject::JobSet(_) | Subject::Other(Other::TrainJob(_))))
    }

    /// The decision of a `JobSet` that a Job's failure led to.
    fn decision_for(&self, job: &Job) -> Option<(&'a JobSetStory<'s>, &'a Attempt<'s>)> {
        let story = self.story?;
        let of_job = |attempt: &&Attempt| {
            let named = attempt.decision.as_ref().and_then(|decision| decision.job_in_data);
            named.is_some_and(|named| std::ptr::eq(named, job))
        };
        story.attempts.iter().find(of_job).map(|attempt| (story, attempt))
    }

    fn state(&self) -> WorkloadState {
        match (self.subject, self.story) {
            (Subject::JobSet(_), Some(story)) => story.state(),
            (Subject::Other(_), _) => self
                .workload()
                .and_then(|workload| Some(workload.standing.as_ref()?.1.state))
                .unwrap_or(WorkloadState::Unknown),
            (Subject::Node(node), _) => match node.ready {
                Some(true) if node.problems().is_empty() => WorkloadState::Running,
                Some(true) => WorkloadState::Degraded,
                Some(false) => WorkloadState::Failed,
                None => WorkloadState::Unknown,
            },
            (Subject::Job(job), _) => job_state(job),
            (Subject::CronJob(cron_job), _) if cron_job.suspend => WorkloadState::Suspended,
            (Subject::CronJob(_), _) => self.jobs.first().map_or(WorkloadState::Unknown, |job| job_state(job)),
            (Subject::Pod(pod), _) => pod_state(pod.phase),
            (Subject::JobSet(_), None) => WorkloadState::Unknown,
        }
    }

    /// Own failures, by the end of their containers: the first is the first cause.
    fn own_failures(&self) -> Vec<(Time, &'a Failure<'s>)> {
        let mut own: Vec<_> =
            self.failures.iter().filter_map(|failure| Some((failure.first_end()?, *failure))).collect();
        own.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.pod_name().cmp(&b.1.pod_name())));
        own
    }

    /// The subject among the workloads that were judged.
    fn workload(&self) -> Option<&'a Workload<'s>> {
        let reference = workload_of(self.subject);
        self.analysis.workloads.iter().find(|workload| is_same(&workload.reference, &reference))
    }

    /// What is wrong with it as a whole; of a `JobSet` its story tells most of it.
    fn situations(&self) -> Vec<Situation> {
        let own = self.workload();
        // A Job's place in a queue may be its JobSet's or TrainJob's.
        let of_jobs = || {
            let job = self.jobs.first().filter(|_| matches!(self.subject, Subject::Job(_)))?;
            let holds = |workload: &&Workload| workload.jobs.iter().any(|other| std::ptr::eq(*other, *job));
            self.analysis.workloads.iter().find(holds).filter(|workload| workload.queued.is_some())
        };
        own.or_else(of_jobs).map(|workload| workload.situations.clone()).unwrap_or_default()
    }

    /// The end of the pod asked for, where it belongs to no Job: nothing judges it, and it is told how it ended all the same.
    fn unjudged(&self) -> Option<Failure<'s>> {
        match self.subject {
            Subject::Pod(pod) if pod.phase == Phase::Failed && self.failures.is_empty() => {
                Some(Failure::of_pod(Class::Unknown, 0, None, pod))
            }
            _ => None,
        }
    }

    fn count(&self, class: Class) -> u64 {
        self.failures.iter().filter(|failure| failure.class == class).map(|failure| u64::from(failure.count)).sum()
    }

    /// The fields that the verdict and the timeline rest on: all Jobs that fail and, of failures that are alike, the first
    /// one and those that the controller names.
    fn evidence(&self) -> Vec<Evidence> {
        let mut evidence: Vec<Evidence> = self.situations().into_iter().flat_map(|told| told.evidence).collect();
        evidence.extend(self.node_facts());
        evidence.extend(self.own_story().map(of_job_set).unwrap_or_default());
        evidence.extend(self.jobs.iter().flat_map(|job| of_failing_job(job)));
        let named: HashSet<&str> = self.jobs.iter().filter_map(|job| named_pod(job)).collect();
        let mut told = HashSet::new();
        let own = self.own_failures();
        let shown = own.iter().map(|(_, failure)| *failure);
        for failure in shown.chain(self.failures.iter().copied().filter(|failure| failure.pod.is_some())) {
            let is_named = failure.pod_name().is_some_and(|pod| named.contains(pod));
            if !told.insert(failure.likeness()) && !is_named {
                continue;
            }
            evidence.extend(failure.evidence());
            if let (Some(pod), Some(node)) = (failure.pod, failure.node()) {
                let object = object("pod", &pod.namespace, &pod.name);
                evidence.push(Evidence::new(object, "spec.nodeName", &**node));
            }
        }
        evidence.extend(self.unjudged().iter().flat_map(Failure::evidence));
        let mut seen = HashSet::new();
        evidence.retain(|fact| seen.insert((fact.object.clone(), fact.path.clone())));
        evidence
    }

    /// What cannot be known, and why.
    fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        if let Some(story) = self.own_story() {
            let of_attempts = story.attempts.iter().flat_map(|attempt| {
                let which = attempt.which();
                attempt.missing.iter().map(move |what| format!("{which}: {what}"))
            });
            missing.extend(of_attempts);
        }
        for failure in self.failures.iter().filter(|failure| failure.class == Class::Lost) {
            if let Some(gone) = failure.told.as_ref().and_then(|told| told.gone.as_ref()) {
                let workload = &self.analysis.workloads[failure.workload].reference;
                let of = failure.job_name().map_or_else(|| workload.to_string(), |job| format!("job/{job}"));
                missing.push(format!("{of}: {} without a pod left: {gone}", failure.count));
            }
        }
        for source in &self.analysis.snapshot.sources {
            let state = match source.state {
                SourceState::Denied => "reading them was refused",
                SourceState::Truncated => "only a part was read",
                SourceState::Unreadable => "not all could be read",
                SourceState::Unreachable => "its cluster was not reached",
                SourceState::NotAsked if source.cluster.is_none() && source.resource == Resource::Events.name() => {
                    "none in the data"
                }
                SourceState::Read | SourceState::NotInstalled | SourceState::NotAsked => continue,
            };
            let told = source.file.as_deref().unwrap_or(&source.resource);
            missing.push(format!("{told}: {state}"));
        }
        missing
    }

    fn notes(&self) -> Vec<String> {
        let reference = workload_of(self.subject);
        let own = self.analysis.workloads.iter().filter(|workload| {
            is_same(&workload.reference, &reference)
                || self.jobs.iter().any(|job| workload.jobs.iter().any(|other| std::ptr::eq(*other, *job)))
        });
        let mut notes: Vec<String> = own.flat_map(|workload| workload.notes.iter().cloned()).collect();
        notes.sort();
        notes.dedup();
        notes
    }
}

/// What says that a Job fails, and how often it has.
fn of_failing_job(job: &Job) -> Vec<Evidence> {
    let Some(condition) = job.failing() else { return Vec::new() };
    let of = |path: String, value: &str| Evidence::new(object("job", &job.namespace, &job.name), path, value);
    let path = |field| format!("status.conditions[type={}].{field}", condition.type_);
    vec![
        of(path("reason"), &condition.reason),
        of(path("message"), &condition.message),
        of("status.failed".to_owned(), &job.failed.to_string()),
    ]
}

/// The pod that the controller names in a Job's condition.
fn named_pod(job: &Job) -> Option<&str> {
    parse_message(&job.failing()?.message).map(|decision| decision.pod)
}

fn of_job_set(story: &JobSetStory) -> Vec<Evidence> {
    let job_set = story.job_set;
    let name = object("jobset", &job_set.namespace, &job_set.name);
    let fact = |path: String, value: String| Evidence::new(&*name, path, value);
    let mut facts = vec![
        fact("status.restarts".to_owned(), job_set.restarts.to_string()),
        fact("status.restartsCountTowardsMax".to_owned(), job_set.restarts_counted.to_string()),
    ];
    for type_ in ["Failed", "Completed", "RestartingJobSet", "Suspended"] {
        if let Some(condition) = job_set.condition(type_) {
            let path = |field: &str| format!("status.conditions[type={type_}].{field}");
            facts.push(fact(path("reason"), condition.reason.to_string()));
            facts.push(fact(path("message"), condition.message.to_string()));
        }
    }
    for blocker in story.situations.iter().flat_map(|situation| &situation.blockers) {
        let pod = object("pod", &job_set.namespace, &blocker.pod);
        let of_pod = |path: &str, value: String| Evidence::new(&*pod, path, value);
        facts.extend(blocker.since.map(|since| {
            let until = since.plus_seconds(blocker.grace_seconds);
            of_pod("metadata.deletionTimestamp", until.to_string())
        }));
        facts.push(of_pod("metadata.deletionGracePeriodSeconds", blocker.grace_seconds.to_string()));
        if let (Some(node), Some(ready)) = (&blocker.node, blocker.node_ready) {
            let object = format!("node/{node}");
            let value = if ready { "True" } else { "not True" };
            facts.push(Evidence::new(object, "status.conditions[type=Ready].status", value));
        }
    }
    for attempt in story.attempts.iter().rev() {
        let Some(decision) = attempt.decision.as_ref().filter(|decision| decision.recorded_in == "Event") else {
            continue;
        };
        facts.push(fact(format!("Event.reason ({})", attempt.which()), decision.recorded_reason.to_owned()));
        if let (Some(job), Some((reason, message)), None) = (decision.job, decision.failure, decision.job_in_data) {
            let object = object("job", &job_set.namespace, job);
            let uid = decision.uid.map(|uid| format!(" (involvedObject.uid {uid})")).unwrap_or_default();
            facts.push(Evidence::new(object, format!("Event.message{uid}"), format!("{reason}: {message}")));
        }
    }
    facts
}

/// The story of the subject's own `JobSet`. Of one that was deleted and made again the data may hold both, of one name.
fn story_of<'a, 's>(analysis: &'a Analysis<'s>, subject: Subject<'s>) -> Option<&'a JobSetStory<'s>> {
    let of_job = |job: &Job| {
        let owner = job.owner.as_ref().filter(|owner| owner.is("jobset.x-k8s.io", "JobSet"))?;
        analysis.stories.iter().rfind(|story| {
            let job_set = story.job_set;
            let same_uid = owner.uid == job_set.uid || owner.uid.is_none() || job_set.uid.is_none();
            job_set.name == owner.name && job_set.namespace == job.namespace && same_uid
        })
    };
    match subject {
        Subject::JobSet(job_set) => analysis.stories.iter().find(|story| std::ptr::eq(story.job_set, job_set)),
        Subject::Job(job) => of_job(job),
        Subject::Pod(pod) => analysis.snapshot.jobs.iter().find(|job| is_of_job(pod, job)).and_then(of_job),
        Subject::Other(Other::TrainJob(train_job)) => analysis.stories.iter().rfind(|story| {
            let owner = story.job_set.owner.as_ref().filter(|owner| owner.is("trainer.kubeflow.org", "TrainJob"));
            let same = |owner: &Owner| {
                let uids = owner.uid.as_ref().zip(train_job.head.uid.as_ref());
                owner.name == train_job.head.name && uids.is_none_or(|(one, other)| one == other)
            };
            story.job_set.namespace == train_job.head.namespace && owner.is_some_and(same)
        }),
        Subject::CronJob(_) | Subject::Other(_) | Subject::Node(_) => None,
    }
}

/// Whether a pod is a Job's: those of a restarted `JobSet` have the same names and other uids.
fn is_of_job(pod: &Pod, job: &Job) -> bool {
    let owner = pod.owner.as_ref().filter(|owner| owner.is("batch", "Job"));
    owner.is_some_and(|owner| {
        owner.name == job.name && job.namespace == pod.namespace && (owner.uid == job.uid || owner.uid.is_none())
    })
}

/// Whether two references are to one object, as far as both tell the uid.
fn is_same(one: &WorkloadRef, other: &WorkloadRef) -> bool {
    let same_uid = one.uid == other.uid || one.uid.is_none() || other.uid.is_none();
    one.kind == other.kind && one.namespace == other.namespace && one.name == other.name && same_uid
}

fn reference(subject: Subject) -> WorkloadRef {
    match subject {
        Subject::Job(job) => job_reference(job),
        Subject::CronJob(cron_job) => cron_job_reference(cron_job),
        Subject::JobSet(job_set) => job_set_reference(job_set),
        Subject::Pod(pod) => pod_reference(pod),
        Subject::Other(other) => other_reference(other),
        Subject::Node(node) => owner::reference(&"Node".into(), &"".into(), &node.name, None),
    }
}

/// The workload that a subject's failures are shown under: a `JobSet`'s may be those of its `TrainJob`.
fn workload_of(subject: Subject) -> WorkloadRef {
    match subject {
        Subject::JobSet(job_set) => job_set_workload(job_set),
        other => reference(other),
    }
}

fn job_state(job: &Job) -> WorkloadState {
    if job.condition("Failed").is_some() {
        WorkloadState::Failed
    } else if job.failing().is_some() {
        WorkloadState::Failing
    } else if job.condition("Complete").is_some() {
        WorkloadState::Complete
    } else if job.suspend {
        WorkloadState::Suspended
    } else {
        WorkloadState::Running
    }
}

fn pod_state(phase: crate::model::Phase) -> WorkloadState {
    use crate::model::Phase;
    match phase {
        Phase::Pending | Phase::Running => WorkloadState::Running,
        Phase::Succeeded => WorkloadState::Complete,
        Phase::Failed => WorkloadState::Failed,
        Phase::Unknown => WorkloadState::Unknown,
    }
}
