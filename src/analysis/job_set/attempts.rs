//! The attempts of a `JobSet`: how each ended, by which rule, and what of it is no more known.

use std::collections::HashSet;

use super::JobSetFacts;
use super::decision::{Deciding, Decision};
use super::lives::{Life, Lives, lives};
use super::numbers::{Numbers, Restarts};
use super::recorded::{Effect, RecordedDecision, Source, count, may_be_dropped, recorded};
use crate::model::{Job, Time};
use crate::report::AttemptOutcome as Outcome;

/// The time from one start of a `JobSet`'s Jobs to the decision that ended it.
#[derive(Clone, Debug)]
pub struct Attempt<'s> {
    /// `status.restarts` at that time.
    pub number: u32,
    /// The last one, where one entry stands for several, or where it is not known which one it stands for.
    pub through: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// How many ended attempts, or restarts of single Jobs, it stands for: more than one only where they are not known one
    /// by one.
    pub count: u32,
    /// When its first pods could start or, where that is not known, when the restart before was decided.
    pub started: Option<Time>,
    /// When its end was decided.
    pub ended: Option<Time>,
    /// The decision that ended it.
    pub decision: Option<Decision<'s>>,
    /// Accelerator-seconds that it held by the spec; `None` while it goes on, where its times are not known, and where it
    /// was suspended in between.
    pub gpu_seconds: Option<f64>,
    /// What cannot be known of it, and why.
    pub missing: Vec<String>,
}

impl Attempt<'_> {
    /// Whether it ended by a restart that counts towards `maxRestarts`; `None` where it ended otherwise, and where that is
    /// not known.
    pub fn counted(&self) -> Option<bool> {
        let restarted = matches!(self.outcome, Outcome::Restarted | Outcome::JobRestarted);
        self.decision.as_ref().filter(|_| restarted)?.action.as_ref()?.counts()
    }

    /// `attempt 1`, `attempts 1 to 3`, `one of attempts 1 to 3`.
    pub(crate) fn which(&self) -> String {
        let (number, through) = (self.number, self.through);
        match (through - number, self.count) {
            (0, _) => format!("attempt {number}"),
            (more, count) if count > more => format!("attempts {number} to {through}"),
            (_, 1) => format!("one of attempts {number} to {through}"),
            (_, count) => format!("{count} of attempts {number} to {through}"),
        }
    }
}

/// All attempts, in order of time, the current one last.
pub(super) fn attempts<'s>(facts: &JobSetFacts<'s, '_>, notes: &mut Vec<String>) -> Vec<Attempt<'s>> {
    // Events may be newer than the JobSet's status: lists are not of one moment.
    let labels = facts.jobs.iter().filter_map(|job| job.restart_attempt());
    let known = labels.chain([facts.job_set.restarts]).max().unwrap_or_default();
    let decisions = recorded(facts.job_set, &facts.events, known);
    let told = count(&decisions, Effect::Restarts);
    let current = known.max(told);
    let restarts = Restarts::new(&decisions, current - told, may_be_dropped(&facts.events));
    let lives = lives(facts, &restarts);
    let untold_anew = facts.job_set.job_restarts().0.saturating_sub(count(&decisions, Effect::RestartsJob));
    let mut teller = Teller { facts, restarts, lives, untold_anew, claimed: HashSet::new() };
    let mut attempts = Vec::new();
    attempts.extend(teller.untold(current - told, current));
    // The oldest Events expire first, so that restarts of which none tells lie before the first one that does. A condition
    // stays, and may be older than they are.
    let by_event = decisions.first().is_some_and(|decision| decision.source == Source::Event);
    attempts.extend(teller.untold_job_restarts(if by_event { current - told } else { current }));
    let mut before = Before { timed: 0, last: (0, facts.job_set.created) };
    for decision in &decisions {
        let numbers = match decision.effect {
            Effect::Fails => (current, current),
            Effect::Restarts | Effect::RestartsJob => teller.restarts.numbers(decision, before.timed),
        };
        attempts.push(teller.ended(numbers, before.since(numbers), decision, notes));
        before.add(numbers, decision);
    }
    if !decisions.iter().any(|decision| decision.effect == Effect::Fails) {
        attempts.push(teller.current(current, before.since((current, current))));
    }
    attempts
}

/// The restarts before a decision.
struct Before {
    /// How many of them have a time.
    timed: u32,
    /// The attempt that the last one led to, and when it was; the first attempt began with the `JobSet`.
    last: (u32, Option<Time>),
}

impl Before {
    /// Since when an attempt may have run.
    fn since(&self, (number, through): Numbers) -> Option<Time> {
        self.last.1.filter(|_| number == through && self.last.0 == number)
    }

    fn add(&mut self, (number, through): Numbers, decision: &RecordedDecision) {
        if decision.effect != Effect::Restarts {
            return;
        }
        self.timed = self.timed.saturating_add(u32::from(decision.at.is_some()));
        self.last = (through.saturating_add(1), decision.at.filter(|_| number == through));
    }
}

/// Tells attempts, one after the other: each Job's failure leads to one decision at most.
struct Teller<'s, 'f, 'a> {
    facts: &'f JobSetFacts<'s, 'a>,
    restarts: Restarts,
    lives: Lives<'s>,
    /// Restarts of single Jobs that the counters know of and no Event.
    untold_anew: u32,
    /// Lives whose failure has led to a decision.
    claimed: HashSet<usize>,
}

impl<'s> Teller<'s, '_, '_> {
    /// The attempts that ended and of which no record tells.
    fn untold(&self, count: u32, current: u32) -> Option<Attempt<'s>> {
        let through = if self.restarts.untold_come_first() { count } else { current }.checked_sub(1)?;
        let told = if count == 1 { "how it ended" } else { "how they ended" };
        (count > 0).then(|| Attempt {
            number: 0,
            through,
            outcome: Outcome::Unknown,
            count,
            started: self.facts.job_set.created.filter(|_| self.restarts.untold_come_first()),
            ended: None,
            decision: None,
            gpu_seconds: None,
            missing: vec![format!("{told}: {}", self.facts.why_events_are_missing())],
        })
    }

    /// Restarts of single Jobs of which no record tells, in one of the attempts up to the one given.
    fn untold_job_restarts(&self, through: u32) -> Option<Attempt<'s>> {
        let untold = self.untold_anew;
        let restarts = if untold == 1 { "1 restart of a single Job" } else { "restarts of single Jobs" };
        (untold > 0).then(|| Attempt {
            number: 0,
            through,
            outcome: Outcome::Unknown,
            count: untold,
            started: self.facts.job_set.created,
            ended: None,
            decision: None,
            gpu_seconds: None,
            missing: vec![format!("{restarts}: {}", self.facts.why_events_are_missing())],
        })
    }

    fn current(&self, number: u32, since: Option<Time>) -> Attempt<'s> {
        let job_set = self.facts.job_set;
        let is = |state: &str| job_set.terminal_state.as_deref() == Some(state) || job_set.condition(state).is_some();
        let completed = job_set.condition("Completed");
        let is_previous = |job: &&'s Job| job.restart_attempt().is_some_and(|attempt| attempt < number);
        // JobSet before v0.12 has no such condition: a Job of the attempt before that is still there tells it.
        let mut restarting = job_set.conditions.iter().filter(|condition| *condition.type_ == *"RestartingJobSet");
        let is_restarting =
            restarting.next().map_or_else(|| self.facts.there.iter().any(is_previous), |condition| condition.is_true);
        let outcome = if is("Completed") {
            Outcome::Completed
        } else if job_set.suspend {
            Outcome::Suspended
        } else if is_restarting {
            Outcome::Restarting
        } else {
            Outcome::Running
        };
        Attempt {
            number,
            through: number,
            outcome,
            count: 1,
            started: self.lives.started(number).or(since),
            ended: completed.and_then(|condition| condition.at),
            decision: None,
            gpu_seconds: None,
            missing: Vec::new(),
        }
    }

    /// Whether it was suspended between two times: nothing was held then.
    fn was_suspended(&self, from: Time, to: Time) -> bool {
        let mut events = self.facts.events.iter();
        events.any(|event| {
            matches!(&*event.reason, "SuspendedJobs" | "ResumeJobs" | "Stopped")
                && event.last.is_some_and(|last| from < last)
                && event.at.is_some_and(|at| at < to)
        })
    }

    fn ended(
        &mut self,
        numbers: Numbers,
        since: Option<Time>,
        recorded: &RecordedDecision<'s>,
        notes: &mut Vec<String>,
    ) -> Attempt<'s> {
        let (number, through) = numbers;
        let mut missing = self.in_doubt(numbers, recorded);
        let life = self.life_of(numbers, recorded);
        let deciding =
            Deciding { facts: self.facts, lives: &self.lives, over: &self.claimed, untold_anew: self.untold_anew > 0 };
        let decision = deciding.decision(numbers, recorded, life, &mut missing, notes);
        let known = match recorded.effect {
            Effect::RestartsJob => life.and_then(|life| self.lives.get(life).started),
            Effect::Restarts | Effect::Fails => self.lives.started(number).filter(|_| number == through),
        };
        let known = known.filter(|started| recorded.at.is_none_or(|ended| *started <= ended));
        let started = known.or(since.filter(|since| recorded.at.is_none_or(|ended| *since <= ended)));
        // What was held is told only where it is known when the pods came, and that they stayed.
        let held = known.zip(recorded.at).filter(|(from, to)| !self.was_suspended(*from, *to));
        let seconds = held.map(|(from, to)| to.since(from));
        // Of a Job that is made anew alone, the others go on.
        let whole = recorded.effect != Effect::RestartsJob;
        let accelerators = self.facts.job_set.accelerators();
        if whole && known.is_none() && accelerators > 0.0 {
            missing.push(format!("when its first pods started: {}", self.facts.why_events_are_missing()));
        }
        Attempt {
            number,
            through,
            outcome: match recorded.effect {
                Effect::Restarts => Outcome::Restarted,
                Effect::RestartsJob => Outcome::JobRestarted,
                Effect::Fails => Outcome::Failed,
            },
            count: recorded.count,
            started,
            ended: recorded.at,
            decision: Some(decision),
            gpu_seconds: seconds.filter(|_| whole).map(|seconds| seconds * accelerators),
            missing,
        }
    }

    /// What is not known of when a decision was made, and in which attempt.
    fn in_doubt(&self, (number, through): Numbers, recorded: &RecordedDecision) -> Vec<String> {
        let mut missing = Vec::new();
        if recorded.at.is_none() {
            missing.push(recorded.why_no_time().to_owned());
        }
        if through - number >= recorded.count {
            let why = if self.restarts.untold_come_first() {
                "one Event stands for several restarts, and does not tell when each of them was"
            } else {
                "Events of other restarts expired, or were dropped as too many"
            };
            missing.push(format!("which of attempts {number} to {through} it ended: {why}"));
        }
        missing
    }

    /// The life of the Job that a decision names: the latest of its name that failed before it and led to no other.
    fn life_of(&mut self, (number, through): Numbers, recorded: &RecordedDecision) -> Option<usize> {
        let name = recorded.job?;
        let fits = |index: &usize| {
            let life: &Life = self.lives.get(*index);
            let in_attempt = life.attempt.is_none_or(|attempt| (number..=through).contains(&attempt));
            let in_time = match recorded.at {
                Some(at) => life.may_have_led_to(at),
                // Its time is not told: only a Job known to be of the attempt will do.
                None => life.attempt.is_some() && number == through,
            };
            life.failed.is_some() && in_attempt && in_time && !self.claimed.contains(index)
        };
        let of_name = self.lives.named(name).filter(fits);
        let index = of_name.max_by_key(|index| self.lives.get(*index).failed.and_then(|failed| failed.at))?;
        // The one there was a later one, whose failure no Event tells.
        let life = self.lives.get(index);
        let mut others = self.lives.named(name).map(|other| self.lives.get(other));
        if recorded.at.is_some_and(|at| others.any(|other| other.took_over(life, at))) {
            return None;
        }
        self.claimed.insert(index);
        Some(index)
    }
}
