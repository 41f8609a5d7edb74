//! What is new since an earlier report.
//!
//! A failure is known where the earlier report has its group and, in that group, its workload: a rule that the nightly
//! run breaks every night is known, the same rule broken by another workload is not. How many failures there are is no
//! sign of something new: counts grow while a pod restarts, and shrink as Kubernetes deletes pods.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Analysis;
use super::group::{group_id, of_one_cluster};
use crate::report::{BaselineReport, FailureReport, Moment, Novelty, WorkloadRef};
use crate::request::GroupBy;

/// An earlier report, as far as it is compared with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baseline {
    /// Time of its data.
    pub as_of: Option<Moment>,
    /// Its groups, by their ids.
    pub groups: HashMap<String, KnownGroup>,
}

/// A group of an earlier report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownGroup {
    /// Its failures.
    pub failures: u64,
    /// Its workloads by kind, namespace and name, each with the clusters in which it was; `None` of a cluster that is not
    /// known, as of a file. Not by uid: what is made again under the same name is the same to who is called at night.
    pub workloads: HashMap<[String; 3], BTreeSet<Option<String>>>,
}

/// The failures of one cluster or of several that are left out of a report, by the id of their group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut(BTreeMap<String, u64>);

impl LeftOut {
    /// Adds what was left out of another cluster.
    pub fn add(&mut self, other: Self) {
        for (id, failures) in other.0 {
            *self.0.entry(id).or_default() += failures;
        }
    }
}

impl Baseline {
    /// Takes the failures out of an analysis that the earlier report has already.
    pub fn leave_out_known(&self, analysis: &mut Analysis, group_by: GroupBy) -> LeftOut {
        let cluster = analysis.snapshot.cluster.as_deref();
        let mut left_out = LeftOut::default();
        let mut is_new = Vec::with_capacity(analysis.failures.len());
        for failure in &analysis.failures {
            let id = group_id(analysis, failure, group_by);
            // Of several clusters, what is grouped by an object of one has an id of its own.
            let ids = [cluster.map(|cluster| of_one_cluster(&id, cluster)), Some(id)];
            let known = ids.into_iter().flatten().find(|id| {
                self.groups
                    .get(id)
                    .is_some_and(|group| group.has(&analysis.workloads[failure.workload].reference, cluster))
            });
            is_new.push(known.is_none());
            if let Some(id) = known {
                *left_out.0.entry(id).or_default() += u64::from(failure.count);
            }
        }
        let mut is_new = is_new.into_iter();
        analysis.failures.retain(|_| is_new.next().unwrap_or(true));
        left_out
    }

    /// Says in a report of what is left how each group is new.
    pub fn mark(&self, LeftOut(left_out): &LeftOut, report: &mut FailureReport) {
        let has_grown = |(id, now): &(&String, &u64)| self.groups.get(*id).is_some_and(|then| **now > then.failures);
        report.baseline = Some(BaselineReport {
            as_of: self.as_of,
            groups: left_out.len(),
            failures: left_out.values().sum(),
            grown: left_out.iter().filter(has_grown).count(),
        });
        for group in &mut report.groups {
            let is_known = self.groups.contains_key(&group.id);
            group.novelty = Some(if is_known { Novelty::Workloads } else { Novelty::Group });
        }
    }
}

impl KnownGroup {
    fn has(&self, workload: &WorkloadRef, cluster: Option<&str>) -> bool {
        let named = [&workload.kind, &workload.namespace, &workload.name].map(ToString::to_string);
        let is_same = |then: &Option<String>| match (then, cluster) {
            (Some(then), Some(now)) => then == now,
            _ => true,
        };
        self.workloads.get(&named).is_some_and(|clusters| clusters.iter().any(is_same))
    }
}
