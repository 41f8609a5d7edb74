use std::collections::BTreeMap;

use super::condition::ConditionView;
use super::{Condition, Interner, MetaView, Owner, Time, Uid, Word};

/// What is kept of any workload but a Job, a `CronJob` or a `JobSet`, beside what only its kind has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// `metadata.uid`.
    pub uid: Option<Uid>,
    /// `metadata.namespace`.
    pub namespace: Word,
    /// `metadata.name`.
    pub name: Word,
    /// `metadata.labels`.
    pub labels: BTreeMap<Word, Word>,
    /// What controls it.
    pub owner: Option<Owner>,
    /// The `GitOps` application that it is applied from: `Flux Kustomization apps`.
    pub applied_by: Option<Word>,
    /// `metadata.creationTimestamp`.
    pub created: Option<Time>,
    /// When its deletion was asked for.
    pub deletion_requested: Option<Time>,
    /// `metadata.generation`: how often its spec was changed.
    pub generation: u64,
    /// `status.conditions`, those that are `False` as well.
    pub conditions: Box<[Condition]>,
}

impl Head {
    /// Its condition of that type, whatever its status.
    pub fn condition(&self, type_: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| *condition.type_ == *type_)
    }

    /// Its condition of that type, if it is `True`.
    pub fn is(&self, type_: &str) -> Option<&Condition> {
        self.condition(type_).filter(|condition| condition.is_true)
    }

    /// Its condition of that type, if it is there and not `True`.
    pub fn is_not(&self, type_: &str) -> Option<&Condition> {
        self.condition(type_).filter(|condition| !condition.is_true)
    }
}

impl MetaView<'_> {
    pub(super) fn head(&self, conditions: &[ConditionView], interner: &mut Interner) -> Head {
        Head {
            uid: self.uid(),
            namespace: interner.intern(&self.namespace),
            name: interner.intern(&self.name),
            labels: self.labels(interner),
            owner: self.controller(interner),
            applied_by: self.applied_by(interner),
            created: self.creation_timestamp.0,
            deletion_requested: self.deletion_requested(),
            generation: self.generation,
            conditions: conditions.iter().map(|condition| condition.to_condition(interner)).collect(),
        }
    }

    /// The newest time that the object and its conditions tell of.
    pub(super) fn newest_with(&self, conditions: &[ConditionView]) -> Option<Time> {
        let of_conditions = conditions.iter().filter_map(|condition| condition.last_transition_time.0);
        of_conditions.chain(self.creation_timestamp.0).chain(self.deletion_requested()).max()
    }
}
