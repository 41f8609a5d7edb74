//! What is new since an earlier report.
//!
//! A failure is known where the earlier report has its group and, in that group, its workload: a rule that the nightly
//! run breaks every night is known, the same rule broken by another workload is not. How many failures there are is no
//! sign of something new: counts grow while a pod restarts, and shrink as Kubernetes deletes pods.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::group::group_id;
use super::{Analysis, Failure};
use crate::report::{BaselineReport, FailureReport, Moment, Novelty};
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
    /// Kind, namespace and name of its workloads. Not the uid: what is made again under the same name is the same to who
    /// is called at night.
    pub workloads: HashSet<[String; 3]>,
}

impl Baseline {
    /// Takes the failures out of an analysis that the earlier report has already.
    pub fn leave_out_known(&self, analysis: &mut Analysis, group_by: GroupBy) -> BaselineReport {
        let mut left_out: BTreeMap<String, u64> = BTreeMap::new();
        let mut is_new = Vec::with_capacity(analysis.failures.len());
        for failure in &analysis.failures {
            let id = group_id(analysis, failure, group_by);
            let known = self.groups.get(&id).is_some_and(|group| group.has(analysis, failure));
            is_new.push(!known);
            if known {
                *left_out.entry(id).or_default() += u64::from(failure.count);
            }
        }
        let mut is_new = is_new.into_iter();
        analysis.failures.retain(|_| is_new.next().unwrap_or(true));
        let has_grown = |(id, now): &(&String, &u64)| self.groups.get(*id).is_some_and(|then| **now > then.failures);
        BaselineReport {
            as_of: self.as_of,
            groups: left_out.len(),
            failures: left_out.values().sum(),
            grown: left_out.iter().filter(has_grown).count(),
        }
    }

    /// Says in a report of what is left how each group is new.
    pub fn mark(&self, left_out: BaselineReport, report: &mut FailureReport) {
        report.baseline = Some(left_out);
        for group in &mut report.groups {
            let is_known = self.groups.contains_key(&group.id);
            group.novelty = Some(if is_known { Novelty::Workloads } else { Novelty::Group });
        }
    }
}

impl KnownGroup {
    fn has(&self, analysis: &Analysis, failure: &Failure) -> bool {
        let workload = &analysis.workloads[failure.workload].reference;
        let named = [&workload.kind, &workload.namespace, &workload.name].map(ToString::to_string);
        self.workloads.contains(&named)
    }
}
