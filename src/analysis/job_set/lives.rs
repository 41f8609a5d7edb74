//! The Jobs that a `JobSet` had: those in the data, and those that only their Events tell of.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::JobSetFacts;
use super::numbers::Restarts;
use crate::analysis::facts::pod_in;
use crate::model::{Event, Job, ReplicatedJob, Time, Uid};

/// A Job's Event may be written a moment after the decision that its status led to, and by another machine's clock.
const SLACK_SECONDS: i64 = 2;
/// The Job controller replaces a failed pod no sooner (`DefaultJobPodFailureBackOff`).
const BACKOFF_SECONDS: i64 = 10;
/// A failed Job is acted upon at once. Where it is not known of which attempt a Job was, one that failed longer before a
/// decision may be of another.
const AT_ONCE_SECONDS: i64 = 5;

/// One Job from its creation to its deletion. The next attempt's has the same name and another uid.
#[derive(Debug, Default)]
pub(super) struct Life<'s> {
    pub(super) name: &'s str,
    pub(super) uid: Option<&'s Uid>,
    /// The Job, where it is in the data.
    pub(super) job: Option<&'s Job>,
    /// When it was made, where that is told: by the Job, or by its first pod's creation.
    pub(super) began: Option<Time>,
    /// When the first pod was made that an Event tells of.
    first_pod: Option<Time>,
    /// When its pods could start: a Job may wait in a queue for long.
    pub(super) started: Option<Time>,
    /// Its own failure.
    pub(super) failed: Option<JobFailure<'s>>,
    /// The attempt it belongs to; `None` where that is not certain.
    pub(super) attempt: Option<u32>,
    /// Pods it made.
    created: Vec<&'s str>,
    /// Pods it deleted itself.
    deleted: Vec<&'s str>,
    /// Events that tell of several pods and name one: `created` and `deleted` are not whole.
    is_combined: bool,
}

/// How a Job failed: its condition `Failed`, or the Event that the Job controller writes with the same reason and message.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobFailure<'s> {
    pub(super) reason: &'s str,
    pub(super) message: &'s str,
    pub(super) at: Option<Time>,
}

impl<'s> Life<'s> {
    /// When it began to fail, where it is in the data.
    pub(super) fn failing(&self) -> Option<Time> {
        self.job?.failing()?.at
    }

    /// The pod that failed it, by elimination: of the pods it made, the only one that it did not delete, as a Job that
    /// fails deletes what still runs. `None` where that does not follow: Events are not whole, pods were replaced, or
    /// restart in place and are deleted at the limit.
    pub(super) fn pod_left(&self, replicated: &ReplicatedJob) -> Option<&'s str> {
        let whole = !self.is_combined && self.created.len() as u64 == u64::from(replicated.pods);
        let mut left = self.created.iter().filter(|pod| !self.deleted.contains(pod));
        let one = left.next().filter(|_| whole && replicated.never_restarts)?;
        left.next().is_none().then_some(one)
    }

    /// Whether its failure may have led to a decision at that time, as far as times tell.
    pub(super) fn may_have_led_to(&self, at: Time) -> bool {
        let Some(failed) = self.failed else { return false };
        if failed.at > Some(at.plus_seconds(SLACK_SECONDS)) || !self.had_begun(at) {
            return false;
        }
        if self.attempt.is_some() {
            return true;
        }
        // The next attempt's may fail within the slack, too. A condition's time is cut to the second.
        let until =
            if self.began.is_some() { SLACK_SECONDS } else { i64::from(at == Time::from_seconds(at.seconds())) };
        failed.at.is_some_and(|failed| failed >= at.plus_seconds(-AT_ONCE_SECONDS) && failed <= at.plus_seconds(until))
    }

    /// Whether it had certainly taken the place of another Job of its name by then.
    pub(super) fn took_over(&self, other: &Self, at: Time) -> bool {
        let began = self.began.filter(|began| began.plus_seconds(SLACK_SECONDS) <= at);
        began.zip(other.began).is_some_and(|(began, before)| began > before)
    }

    /// Whether it may have been there at that time. A Job that is in the data tells its creation in whole seconds: one made in
    /// the second of a decision was made because of it, unless its first pod was there before.
    fn had_begun(&self, at: Time) -> bool {
        let Some(created) = self.job.and_then(|job| job.created) else {
            return self.began.is_none_or(|began| began <= at);
        };
        match self.first_pod.filter(|pod| pod.seconds() <= created.seconds() + 1) {
            Some(pod) => pod <= at,
            None => created.seconds() < at.seconds(),
        }
    }

    fn add(&mut self, event: &'s Event) {
        match &*event.reason {
            "SuccessfulCreate" => {
                self.first_pod = [self.first_pod, event.at].into_iter().flatten().min();
                self.began = [self.began, event.at].into_iter().flatten().min();
                if self.job.is_none() {
                    self.started = self.began;
                }
                self.created.extend(pod_in(&event.message, "Created pod: "));
                self.is_combined |= event.count > 1 || event.message.starts_with("(combined");
            }
            "SuccessfulDelete" => {
                self.deleted.extend(pod_in(&event.message, "Deleted pod: "));
                self.is_combined |= event.count > 1 || event.message.starts_with("(combined");
            }
            reason if is_failure(reason) && self.failed.is_none() => {
                self.failed = Some(JobFailure { reason, message: &event.message, at: event.at });
            }
            _ => {}
        }
    }
}

/// Whether an Event's reason is that of a Job's condition `Failed` (`recordJobFinished`).
fn is_failure(reason: &str) -> bool {
    matches!(
        reason,
        "BackoffLimitExceeded" | "DeadlineExceeded" | "FailedIndexes" | "MaxFailedIndexesExceeded" | "PodFailurePolicy"
    ) || reason.starts_with("PodFailurePolicy_")
}

/// All lives of a `JobSet`'s Jobs, and where to look for them: a `JobSet` may have thousands of Jobs, and restart as often.
#[derive(Debug, Default)]
pub(super) struct Lives<'s> {
    /// By name and beginning.
    all: Vec<Life<'s>>,
    /// Those that failed, by the attempt that they are known to belong to.
    failed_in: HashMap<u32, Vec<usize>>,
    /// When the first pods of an attempt could start.
    started: HashMap<u32, Time>,
}

impl<'s> Lives<'s> {
    fn new(mut all: Vec<Life<'s>>) -> Self {
        all.sort_by(|a, b| (a.name, a.began, a.uid).cmp(&(b.name, b.began, b.uid)));
        let mut failed_in: HashMap<u32, Vec<usize>> = HashMap::new();
        let mut started: HashMap<u32, Time> = HashMap::new();
        for (index, life) in all.iter().enumerate() {
            let Some(attempt) = life.attempt else { continue };
            if life.failing().is_some() || life.failed.is_some() {
                failed_in.entry(attempt).or_default().push(index);
            }
            // A Job made anew alone began later than its attempt.
            if let Some(at) = life.started.filter(|_| !life.job.is_some_and(is_made_anew_alone)) {
                started.entry(attempt).and_modify(|first| *first = at.min(*first)).or_insert(at);
            }
        }
        Self { all, failed_in, started }
    }

    pub(super) fn get(&self, index: usize) -> &Life<'s> {
        &self.all[index]
    }

    /// Indexes of the lives of one name, by their beginning.
    pub(super) fn named(&self, name: &str) -> Range<usize> {
        let from = self.all.partition_point(|life| life.name < name);
        let lives = self.all[from..].partition_point(|life| life.name == name);
        from..from + lives
    }

    /// Indexes of the lives of an attempt that failed, or began to.
    pub(super) fn failed_in(&self, attempt: u32) -> &[usize] {
        self.failed_in.get(&attempt).map(Vec::as_slice).unwrap_or_default()
    }

    /// When the first pods of an attempt could start.
    pub(super) fn started(&self, attempt: u32) -> Option<Time> {
        self.started.get(&attempt).copied()
    }
}

/// Whether a Job's own restart attempt is not its first (feature gate `RestartJob`).
fn is_made_anew_alone(job: &Job) -> bool {
    job.own_restart_attempt().is_some_and(|own| own > 0)
}

/// All lives. Attempts are told by the restarts only where these leave no doubt.
pub(super) fn lives<'s>(facts: &JobSetFacts<'s, '_>, restarts: &Restarts) -> Lives<'s> {
    let job_set = facts.job_set;
    let mut by_uid: BTreeMap<(&str, Option<&Uid>), Life> = BTreeMap::new();
    for job in &facts.jobs {
        let failed = job.condition("Failed").map(|condition| JobFailure {
            reason: &condition.reason,
            message: &condition.message,
            at: condition.at,
        });
        let life = Life {
            name: &job.name,
            uid: job.uid.as_ref(),
            job: Some(job),
            began: job.created,
            started: job.started,
            failed,
            attempt: job.restart_attempt(),
            ..Life::default()
        };
        by_uid.insert((&job.name, job.uid.as_ref()), life);
    }
    // Before the JobSet was made, another one may have had its name.
    let ours = |event: &&&Event| event.last.or(event.at) >= job_set.created;
    let prefix = format!("{}-", job_set.name);
    let by_name: &BTreeMap<(&str, &str), Vec<&'s Event>> = facts.job_events;
    let named = by_name.range((&*job_set.namespace, &*prefix)..);
    let mut oldest = facts.events.iter().filter_map(|event| event.last.or(event.at)).min();
    let named =
        named.take_while(|((namespace, name), _)| **namespace == *job_set.namespace && name.starts_with(&prefix));
    for (_, events) in named.filter(|((_, name), _)| job_set.replicated_job_of(name).is_some()) {
        for event in events.iter().filter(ours) {
            let (name, Some(uid)) = (&*event.name, &event.uid) else { continue };
            let new = || Life { name, uid: Some(uid), ..Life::default() };
            oldest = [oldest, event.last.or(event.at)].into_iter().flatten().min();
            by_uid.entry((name, Some(uid))).or_insert_with(new).add(event);
        }
    }
    let mut lives: Vec<Life> = by_uid.into_values().collect();
    for life in &mut lives {
        life.started = life.started.filter(|started| life.job.is_some() || starts(facts, restarts, oldest, *started));
        life.attempt = life.attempt.or_else(|| restarts.attempt_at(life.began?));
    }
    Lives::new(lives)
}

/// Whether the first pod that an Event tells of is the Job's first one, and no replacement: the Events since its attempt
/// began are all there, or it came too soon for a replacement.
fn starts(facts: &JobSetFacts, restarts: &Restarts, oldest: Option<Time>, first_pod: Time) -> bool {
    let Some(began) = restarts.last_before(first_pod).or(facts.job_set.created) else { return false };
    let resumed = facts.events.iter().filter(|event| *event.reason == *"ResumeJobs").filter_map(|event| event.at);
    let mut beginnings = resumed.filter(|at| *at <= first_pod).chain([began]);
    oldest <= Some(began) || beginnings.any(|at| first_pod <= at.plus_seconds(BACKOFF_SECONDS))
}
