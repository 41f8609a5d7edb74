//! Reports of several clusters → one. Pure.
//!
//! Each cluster is judged by itself, so that nothing of one is ever joined with a namesake in another: owners, Events, nodes.
//! What is put together here are findings: groups by what they have in common, suggestions by what they say. Objects stay
//! apart: a workload, a node, a namespace of one name in two clusters are two.

mod groups;
mod suggestions;

use std::collections::BTreeMap;

use crate::analysis::Part;
use crate::model::Word;
use crate::report::{API_VERSION, FailureReport, ReportScope, Source, Summary};
use crate::request::GroupBy;

/// The report of one cluster among several.
#[derive(Debug)]
pub struct ClusterReport {
    /// What it is called: the kubeconfig's context.
    pub cluster: String,
    /// Its report, suggestions and all.
    pub report: FailureReport,
    /// One for each of the report's groups, in their order.
    pub parts: Vec<Part>,
}

/// What a report of several clusters says beyond those of the clusters that were read.
#[derive(Debug, Default)]
pub struct Frame {
    /// What was asked for.
    pub scope: ReportScope,
    /// What was read of all the clusters, and what was not.
    pub sources: Vec<Source>,
    /// What is to be said of the clusters as such.
    pub notes: Vec<String>,
}

/// One report of all of them, which keeps their order.
pub fn merge(clusters: Vec<ClusterReport>, group_by: GroupBy, frame: Frame) -> FailureReport {
    let Frame { scope, sources, mut notes } = frame;
    let mut merged = FailureReport {
        api_version: API_VERSION,
        kind: "FailureReport",
        as_of: clusters.iter().filter_map(|cluster| cluster.report.as_of).max(),
        scope,
        sources,
        ignored: BTreeMap::new(),
        summary: Summary::default(),
        baseline: None,
        groups: Vec::new(),
        workloads: Vec::new(),
        suggestions: Vec::new(),
        notes: Vec::new(),
    };
    let names: Vec<Word> = clusters.iter().map(|cluster| cluster.cluster.as_str().into()).collect();
    let mut parts = Vec::new();
    let mut advice = Vec::new();
    for (number, ClusterReport { cluster, report, parts: of_groups }) in clusters.into_iter().enumerate() {
        add(&mut merged.summary, report.summary);
        for (kind, count) in report.ignored {
            *merged.ignored.entry(kind).or_default() += count;
        }
        notes.extend(report.notes.into_iter().map(|note| format!("{cluster}: {note}")));
        let name = &names[number];
        merged.workloads.extend(report.workloads.into_iter().map(|mut workload| {
            workload.workload.cluster = Some(name.clone());
            workload
        }));
        let groups = report.groups.into_iter().zip(of_groups);
        parts.extend(groups.map(|(group, part)| groups::Member { cluster: number, group, part }));
        advice.push(report.suggestions);
    }
    merged.workloads.sort_by(|a, b| a.workload.cmp(&b.workload));
    let (groups, linked, more_notes) = groups::merge(parts, &names, group_by);
    notes.extend(more_notes);
    merged.summary.groups = groups.len();
    merged.groups = groups;
    merged.suggestions = suggestions::merge(advice, &names, &linked, &mut merged.groups);
    merged.notes = notes;
    merged
}

fn add(sum: &mut Summary, of_cluster: Summary) {
    sum.workloads += of_cluster.workloads;
    sum.failures += of_cluster.failures;
    sum.collateral += of_cluster.collateral;
    sum.lost += of_cluster.lost;
    sum.gpu_seconds += of_cluster.gpu_seconds;
    sum.completed_workloads += of_cluster.completed_workloads;
    sum.completed_failures += of_cluster.completed_failures;
}
