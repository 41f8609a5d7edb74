use serde::Deserialize;

use super::condition::ConditionView;
use super::{Head, Interner, ObjectView, Text, Time, View, Word, or_default};

/// A `disaggregatedset.x-k8s.io/v1` `DisaggregatedSet` as it is read.
pub(crate) type DisaggregatedSetView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SpecView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    roles: Vec<RoleView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RoleView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StatusView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    role_statuses: Vec<RoleStatusView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RoleStatusView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(deserialize_with = "or_default")]
    replicas: u32,
    #[serde(deserialize_with = "or_default")]
    ready_replicas: u32,
}

/// What is kept of a `DisaggregatedSet`: `LeaderWorkerSet`s that serve together, one for each role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisaggregatedSet {
    /// What all workloads have.
    pub head: Head,
    /// `status.roleStatuses`; a role without a status has no pods yet.
    pub roles: Box<[Role]>,
}

/// One of its roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Its name: `prefill`, `decode`, …
    pub name: Word,
    /// Groups that it has.
    pub groups: u32,
    /// Of these, the ready ones.
    pub ready: u32,
}

impl View for DisaggregatedSetView<'_> {
    type Kept = DisaggregatedSet;

    fn newest_time(&self) -> Option<Time> {
        self.metadata.newest_with(&self.status.conditions)
    }

    fn into_kept(self, interner: &mut Interner) -> Option<DisaggregatedSet> {
        let statuses = &self.status.role_statuses;
        let roles = self.spec.roles.iter().map(|role| {
            let status = statuses.iter().find(|status| *status.name == *role.name);
            Role {
                name: interner.intern(&role.name),
                groups: status.map_or(0, |status| status.replicas),
                ready: status.map_or(0, |status| status.ready_replicas),
            }
        });
        let roles = roles.collect();
        Some(DisaggregatedSet { head: self.metadata.head(&self.status.conditions, interner), roles })
    }
}
