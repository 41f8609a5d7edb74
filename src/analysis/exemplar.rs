use std::collections::BTreeMap;

use super::Failure;
use super::cause::Signature;
use crate::model::Time;
use crate::report::Class;

/// How well a failure stands for others, the best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    is_own: bool,
    hides: bool,
    /// How many failures are of the same signature.
    pub frequency: usize,
    has_pod: bool,
    at: Option<Time>,
}

impl Rank {
    pub(super) fn of(failure: &Failure, frequency: usize) -> Self {
        // A sidecar that hid a rule tells more than one that hid nothing.
        let hides = failure.sidecar_hit().is_some_and(|sidecar| sidecar.instead.is_some());
        let is_own = failure.class != Class::Collateral;
        Self { is_own, hides, frequency, has_pod: failure.pod.is_some(), at: failure.at() }
    }
}

/// Index of the failure that stands for all: of the most frequent signature, with a pod to look at, the latest.
pub fn exemplar(failures: &[&Failure]) -> usize {
    let mut frequency: BTreeMap<Signature, usize> = BTreeMap::new();
    for failure in failures {
        *frequency.entry(failure.signature()).or_default() += 1;
    }
    let rank = |failure: &Failure| Rank::of(failure, frequency[&failure.signature()]);
    let best = failures.iter().enumerate().max_by(|(i, a), (j, b)| {
        // Of equals the first by name.
        rank(a).cmp(&rank(b)).then_with(|| b.pod_name().cmp(&a.pod_name())).then(j.cmp(i))
    });
    best.map_or(0, |(index, _)| index)
}
