//! What the `JobSet` controller recorded of its decisions: by Events, and by conditions where Events are gone.

use crate::model::{Event, FailurePolicy, JobSet, JobSetAction, Time};

/// How a decision ends an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// All Jobs are made anew.
    Restarts,
    /// One Job is made anew.
    RestartsJob,
    /// The `JobSet` fails.
    Fails,
}

/// A rule as it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recorded<'s> {
    /// By its name.
    Named(&'s str),
    /// No rule applied.
    Default,
}

/// Where a decision was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Event,
    /// The condition of this type.
    Condition(&'static str),
}

/// A decision as it was recorded.
#[derive(Clone, Debug)]
pub(super) struct RecordedDecision<'s> {
    /// When; `None` where that is not known.
    pub(super) at: Option<Time>,
    /// No earlier and no later than this, as far as it is known, where `at` is not.
    pub(super) within: (Option<Time>, Option<Time>),
    /// How many equal ones it stands for, of which none has a time where they are several.
    pub(super) count: u32,
    pub(super) effect: Effect,
    /// The action, where the record names it: `ReachedMaxRestarts` does not tell which one met the limit.
    pub(super) action: Option<JobSetAction>,
    /// The Job named as the first failed one.
    pub(super) job: Option<&'s str>,
    pub(super) rule: Option<Recorded<'s>>,
    /// The rule is that of the restart before, as no other was written.
    pub(super) is_inherited: bool,
    /// Reason of the Event or condition.
    pub(super) reason: &'s str,
    pub(super) source: Source,
}

/// An Event of the action and the Event of the condition are written one after the other.
const TOGETHER: f64 = 1.0;

impl RecordedDecision<'_> {
    /// Whether it is that of `reconcileInPlaceRestart`, which names no Job.
    pub(super) fn is_in_place(&self, policy: &FailurePolicy) -> bool {
        self.job.is_none() && self.reason == "ReachedMaxRestarts" && &*policy.restart_strategy == "InPlaceRestart"
    }

    /// What is missing where no time is known.
    pub(super) fn why_no_time(&self) -> &'static str {
        match (self.source, self.count) {
            (Source::Condition(_), _) => {
                "when it ended: the condition RestartingJobSet has the time of the first restart since all Jobs were ready"
            }
            (Source::Event, 1) => "when it ended: one Event stands for several restarts",
            (Source::Event, _) => {
                "when each of them ended: one Event stands for several restarts, and has the times of the first and the last"
            }
        }
    }
}

/// All decisions, in order of time. `restarts` is how many there were, as far as the counters are up to date.
pub(super) fn recorded<'s>(job_set: &'s JobSet, events: &[&'s Event], restarts: u32) -> Vec<RecordedDecision<'s>> {
    let mut decisions: Vec<RecordedDecision> = events.iter().flat_map(|event| of_event(event)).collect();
    name_rules(&mut decisions, events);
    add_from_conditions(job_set, restarts, &mut decisions);
    decisions
}

/// How many restarts of one kind some decisions stand for.
pub(super) fn count(decisions: &[RecordedDecision], effect: Effect) -> u32 {
    let of_kind = decisions.iter().filter(|decision| decision.effect == effect);
    of_kind.fold(0, |sum, decision| sum.saturating_add(decision.count))
}

/// Whether Events about decisions may have been dropped: by the recorder that JobSet had before v0.12.
pub(super) fn may_be_dropped(events: &[&Event]) -> bool {
    events.iter().any(|event| event.of_core_recorder && effect_of(&event.reason).is_some())
}

/// The decisions an Event stands for: recorders of JobSet before v0.12 fold equal ones into one Event with a count, which
/// tells of the first and of the last when they were.
fn of_event(event: &Event) -> Vec<RecordedDecision<'_>> {
    let Some((effect, action)) = effect_of(&event.reason) else { return Vec::new() };
    let one = |at| RecordedDecision {
        at,
        within: (None, None),
        count: 1,
        effect,
        action: action.clone(),
        // An Event that stands for similar ones has the last one's text.
        job: named_job(&event.message).filter(|_| !event.message.starts_with("(combined")),
        rule: None,
        is_inherited: false,
        reason: &event.reason,
        source: Source::Event,
    };
    let mut all = vec![one(event.at)];
    if event.count > 1 && effect != Effect::Fails {
        // The field of the last one holds whole seconds.
        let last = event.last.max(event.at);
        if event.count > 2 {
            all.push(RecordedDecision { within: (event.at, last), count: event.count - 2, ..one(None) });
        }
        all.push(one(last));
    }
    all
}

fn effect_of(reason: &str) -> Option<(Effect, Option<JobSetAction>)> {
    if matches!(reason, "ReachedMaxRestarts" | "FailedJobs") {
        return Some((Effect::Fails, None));
    }
    let action = JobSetAction::parse(reason.strip_suffix("FailurePolicyAction")?);
    let effect = match action {
        JobSetAction::FailJobSet => Effect::Fails,
        JobSetAction::RestartJobSet | JobSetAction::RestartJobSetAndIgnoreMaxRestarts => Effect::Restarts,
        JobSetAction::RestartJob | JobSetAction::RestartJobAndIgnoreMaxRestarts => Effect::RestartsJob,
        JobSetAction::Unknown(_) => return None,
    };
    Some((effect, Some(action)))
}

/// The Job in `… (first failed job: X)`.
fn named_job(message: &str) -> Option<&str> {
    let (_, rest) = message.rsplit_once("(first failed job: ")?;
    rest.strip_suffix(')')
}

/// The action in `applying X failure policy action (…)`.
fn named_action(message: &str) -> Option<JobSetAction> {
    let name = message.strip_prefix("applying ")?.split_once(' ')?.0;
    Some(JobSetAction::parse(name)).filter(|action| !matches!(action, JobSetAction::Unknown(_)))
}

fn rule_of(reason: &str) -> Option<Recorded<'_>> {
    match reason {
        "DefaultFailurePolicy" => Some(Recorded::Default),
        named => named.strip_prefix("FailurePolicy_").map(Recorded::Named),
    }
}

/// An Event of the condition `RestartingJobSet` (JobSet v0.12 and later), which names the rule.
struct RuleEvent<'s> {
    event: &'s Event,
    at: Time,
    rule: Recorded<'s>,
    job: Option<&'s str>,
    action: Option<JobSetAction>,
    is_taken: bool,
}

impl<'s> RuleEvent<'s> {
    fn of(event: &'s Event) -> Option<Self> {
        Some(Self {
            event,
            at: event.at?,
            rule: rule_of(&event.reason)?,
            job: named_job(&event.message),
            action: named_action(&event.message),
            is_taken: false,
        })
    }

    /// The restart that it tells of by itself.
    fn into_decision(self) -> Option<RecordedDecision<'s>> {
        Some(RecordedDecision {
            at: Some(self.at),
            within: (None, None),
            count: 1,
            effect: Effect::Restarts,
            action: Some(self.action?),
            job: self.job,
            rule: Some(self.rule),
            is_inherited: false,
            reason: &self.event.reason,
            source: Source::Event,
        })
    }
}

/// Joins the Events that name rules to the decisions, each to the nearest one; one that is left tells of a restart of which
/// the other Event is lost.
fn name_rules<'s>(decisions: &mut Vec<RecordedDecision<'s>>, events: &[&'s Event]) {
    let mut named: Vec<RuleEvent> = events.iter().filter_map(|event| RuleEvent::of(event)).collect();
    named.sort_by_key(|event| event.at);
    for decision in decisions.iter_mut().filter(|decision| decision.effect == Effect::Restarts) {
        if let Some(place) = nearest(&named, decision) {
            named[place].is_taken = true;
            decision.rule = Some(named[place].rule);
        }
    }
    let left = named.into_iter().filter(|event| !event.is_taken);
    decisions.extend(left.filter_map(RuleEvent::into_decision));
    decisions.sort_by_key(|decision| decision.at.or(decision.within.0));
    inherit_rules(decisions, events);
}

/// A condition that stays as it was is written no second time: same rule, same Job.
fn inherit_rules(decisions: &mut [RecordedDecision], events: &[&Event]) {
    let mut before: Option<usize> = None;
    for index in 0..decisions.len() {
        let decision = &decisions[index];
        if decision.effect != Effect::Restarts {
            continue;
        }
        if let Some(before) = before.map(|before| &decisions[before])
            && decision.rule.is_none()
            && is_same(decision, before.job, before.action.as_ref())
            && !went_false_between(events, before.at, decision.at)
        {
            let rule = before.rule;
            decisions[index].rule = rule;
            decisions[index].is_inherited = true;
        }
        before = Some(index);
    }
}

/// The Event nearest to a decision that is of the same Job and action and belongs to no other.
fn nearest(named: &[RuleEvent], decision: &RecordedDecision) -> Option<usize> {
    let at = decision.at?;
    let distance = |event: &RuleEvent| event.at.since(at).abs();
    // Looked for from here to where they are too late.
    let from = named.partition_point(|event| at.since(event.at) > TOGETHER);
    let near = named[from..].iter().take_while(|event| distance(event) <= TOGETHER);
    let fits = |event: &RuleEvent| !event.is_taken && is_same(decision, event.job, event.action.as_ref());
    let near = near.enumerate().filter(|(_, event)| fits(event));
    near.min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b))).map(|(place, _)| from + place)
}

fn is_same(decision: &RecordedDecision, job: Option<&str>, action: Option<&JobSetAction>) -> bool {
    decision.job == job && decision.action.as_ref() == action
}

/// Whether the condition `RestartingJobSet` became `False` between two times.
fn went_false_between(events: &[&Event], from: Option<Time>, to: Option<Time>) -> bool {
    events.iter().any(|event| {
        let told = matches!(&*event.reason, "JobsReady" | "JobSetFailed" | "JobSetCompleted" | "JobSetSuspended");
        told && (event.at >= from || event.last >= from) && (to.is_none() || event.at <= to)
    })
}

/// The last decisions, where conditions tell them and no Event does.
fn add_from_conditions<'s>(job_set: &'s JobSet, restarts: u32, decisions: &mut Vec<RecordedDecision<'s>>) {
    // A condition that stays `True` keeps the time of when it became so, whatever restart its reason is of.
    let is_only_one = restarts.saturating_sub(count(decisions, Effect::Restarts)) <= 1;
    if let Some(condition) = job_set.condition("RestartingJobSet") {
        let last = decisions.iter_mut().rfind(|decision| decision.effect == Effect::Restarts);
        let (job, action) = (named_job(&condition.message), named_action(&condition.message));
        match last {
            // The time is that of the first restart since all Jobs were ready: an Event may be of a later one.
            Some(last) if last.at >= condition.at.map(|at| at.plus_seconds(-1)) => {
                if last.job == job && last.action == action {
                    last.rule = last.rule.filter(|_| !last.is_inherited).or(rule_of(&condition.reason)).or(last.rule);
                }
            }
            _ => {
                // Its time is cut to the second, and the Jobs that it made take longer to fail.
                let end = condition.at.map(|at| at.plus_seconds(1));
                let place = decisions.partition_point(|decision| decision.at.or(decision.within.0) < end);
                let decision = RecordedDecision {
                    at: condition.at.filter(|_| is_only_one),
                    within: (condition.at, None),
                    count: 1,
                    effect: Effect::Restarts,
                    action,
                    job,
                    rule: rule_of(&condition.reason),
                    is_inherited: false,
                    reason: &condition.reason,
                    source: Source::Condition("RestartingJobSet"),
                };
                decisions.insert(place, decision);
            }
        }
    }
    let fails = decisions.iter().any(|decision| decision.effect == Effect::Fails);
    if let Some(condition) = job_set.condition("Failed").filter(|_| !fails) {
        let action = effect_of(&condition.reason).and_then(|(_, action)| action);
        decisions.push(RecordedDecision {
            at: condition.at,
            within: (None, None),
            count: 1,
            effect: Effect::Fails,
            action,
            job: named_job(&condition.message),
            rule: None,
            is_inherited: false,
            reason: &condition.reason,
            source: Source::Condition("Failed"),
        });
    }
}
