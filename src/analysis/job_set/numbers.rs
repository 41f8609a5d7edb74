//! Which attempt a decision ended, and which one a Job belongs to, by the restarts before it.

use super::recorded::{Effect, RecordedDecision};
use crate::model::Time;

/// Restarts by time.
#[derive(Debug, Default)]
struct Tally {
    times: Vec<Time>,
    /// How many there are up to each of the times.
    sums: Vec<u32>,
}

impl Tally {
    fn new(mut restarts: Vec<(Time, u32)>) -> Self {
        restarts.sort_unstable();
        let mut sum = 0_u32;
        let sums = restarts.iter().map(|(_, count)| {
            sum = sum.saturating_add(*count);
            sum
        });
        Self { sums: sums.collect(), times: restarts.into_iter().map(|(at, _)| at).collect() }
    }

    fn before(&self, at: Time) -> u32 {
        self.first(self.times.partition_point(|time| *time < at))
    }

    fn until(&self, at: Time) -> u32 {
        self.first(self.times.partition_point(|time| *time <= at))
    }

    fn first(&self, times: usize) -> u32 {
        times.checked_sub(1).map_or(0, |last| self.sums[last])
    }
}

/// The restarts of all Jobs that are recorded.
#[derive(Debug)]
pub(super) struct Restarts {
    /// Those of which the time is known.
    timed: Tally,
    /// The others, by the time that none of them was before.
    from: Tally,
    /// The others, by the time that none of them was after.
    to: Tally,
    /// How many restarts before the first one recorded no record tells of: at least, and at most.
    untold: (u32, u32),
}

/// Attempts that one may have been: the first and the last.
pub(super) type Numbers = (u32, u32);

impl Restarts {
    /// `untold` restarts are not recorded. They came before all others where Events are only lost by their age; where
    /// Events may have been dropped as well, they may have come at any time.
    pub(super) fn new(decisions: &[RecordedDecision], untold: u32, may_be_dropped: bool) -> Self {
        let restarts = || decisions.iter().filter(|decision| decision.effect == Effect::Restarts);
        let others = || restarts().filter(|decision| decision.at.is_none());
        let (beginning, end) = (Time::from_seconds(i64::MIN), Time::from_seconds(i64::MAX));
        Self {
            timed: Tally::new(restarts().filter_map(|decision| Some((decision.at?, 1))).collect()),
            from: Tally::new(others().map(|other| (other.within.0.unwrap_or(beginning), other.count)).collect()),
            to: Tally::new(others().map(|other| (other.within.1.unwrap_or(end), other.count)).collect()),
            untold: if may_be_dropped { (0, untold) } else { (untold, untold) },
        }
    }

    /// Whether all restarts that are not recorded came before those that are.
    pub(super) fn untold_come_first(&self) -> bool {
        self.untold.0 == self.untold.1
    }

    /// Which attempts a decision may have ended, where `before` restarts with a time stand before it.
    pub(super) fn numbers(&self, decision: &RecordedDecision, before: u32) -> Numbers {
        let (least, most) = match (decision.at, decision.within) {
            (Some(at), _) => (before.saturating_add(self.to.until(at)), before.saturating_add(self.from.before(at))),
            // Behind the first one that the same Event stands for, and before the last one.
            (None, (Some(from), Some(to))) => (
                self.timed.before(from).saturating_add(1).saturating_add(self.to.before(from)),
                self.timed.until(to).saturating_add(self.from.until(to)).saturating_sub(2),
            ),
            (None, (from, to)) => (
                from.map_or(0, |from| self.timed.until(from).saturating_add(self.to.until(from))),
                to.map_or_else(|| self.all(), |to| self.timed.until(to).saturating_add(self.from.until(to)))
                    .saturating_sub(1),
            ),
        };
        let least = self.untold.0.saturating_add(least);
        (least, self.untold.1.saturating_add(most).max(least))
    }

    /// The last restart before a time.
    pub(super) fn last_before(&self, at: Time) -> Option<Time> {
        self.timed.times[..self.timed.times.partition_point(|time| *time < at)].last().copied()
    }

    fn all(&self) -> u32 {
        self.timed.first(self.timed.times.len()).saturating_add(self.from.first(self.from.times.len()))
    }

    /// The attempt in which a Job began: a restart's Event is written before its first Job is made. Before the first restart
    /// that is recorded there may have been others.
    pub(super) fn attempt_at(&self, began: Time) -> Option<u32> {
        let timed = self.timed.before(began);
        let before = timed.saturating_add(self.to.before(began));
        let is_certain = self.untold_come_first() && before == timed.saturating_add(self.from.before(began));
        (is_certain && (before > 0 || self.untold.0 == 0)).then(|| self.untold.0.saturating_add(before))
    }
}
