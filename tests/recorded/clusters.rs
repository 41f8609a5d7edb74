//! Several clusters in one report: the recorded one, taken apart by namespaces, is put together again as what it was, and
//! whatever clusters are put together, nothing is lost and nothing counted twice.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use proptest::prelude::*;
use serde_json::{Value, json};
use sigapps::advice::{Kubectl, advise};
use sigapps::analysis::{Options, analyse, parts, report};
use sigapps::fleet::{ClusterReport, Frame, merge};
use sigapps::report::{FailureReport, ReportScope};
use sigapps::request::GroupBy;
use sigapps::source::{Filter, Snapshot, file};

use crate::support::fixture;

const BY: [GroupBy; 6] =
    [GroupBy::Rule, GroupBy::Cause, GroupBy::Node, GroupBy::Workload, GroupBy::Namespace, GroupBy::Reason];

/// The recorded cluster's objects.
static WORLD: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(fixture("world.json.gz")).unwrap()).read_to_string(&mut text).unwrap();
    let mut dump: Value = serde_json::from_str(&text).unwrap();
    serde_json::from_value(dump["items"].take()).unwrap()
});

/// The same, cluster by cluster: its namespaces, each with all that belongs to none.
static NAMESPACES: LazyLock<Vec<Snapshot>> = LazyLock::new(|| {
    let namespace = |object: &Value| object["metadata"]["namespace"].as_str().map(str::to_owned);
    let names: BTreeSet<String> = WORLD.iter().filter_map(namespace).collect();
    let of = |name: &String| {
        let own = WORLD.iter().filter(|object| namespace(object).is_none_or(|its| its == *name));
        snapshot(&own.cloned().collect::<Vec<_>>(), name)
    };
    names.iter().map(of).collect()
});

fn snapshot(objects: &[Value], cluster: &str) -> Snapshot {
    // Of a kind that a part has none of it is known all the same that there is none: as if a cluster had been read.
    let nothing =
        |kind: &str| json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "x", "namespace": "nowhere"}});
    let all: Vec<Value> = objects.iter().cloned().chain(["Pod", "Event"].map(nothing)).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("objects.json");
    std::fs::write(&path, json!({"apiVersion": "v1", "kind": "List", "items": all}).to_string()).unwrap();
    let read = file::read(&[path.to_str().unwrap().to_owned()], Filter::default(), &mut |_| {}).unwrap();
    Snapshot { cluster: Some(cluster.to_owned()), ..read }
}

/// What one cluster's report is made of.
fn alone(snapshot: &Snapshot, name: &str, group_by: GroupBy) -> ClusterReport {
    let now = NAMESPACES.iter().filter_map(|snapshot| snapshot.newest).max();
    let options = Options { now, pending_after: 300, ..Options::default() };
    let analysis = analyse(snapshot, &options);
    let scope = ReportScope { group_by: group_by.name(), ..ReportScope::default() };
    let reported = report(&analysis, &options, group_by, scope);
    let parts = parts(&analysis, &reported, group_by);
    let kubectl = Kubectl { flags: vec![format!("--context={name}")] };
    ClusterReport { cluster: name.to_owned(), report: advise(&analysis, reported, &kubectl), parts }
}

fn together(clusters: Vec<ClusterReport>, group_by: GroupBy) -> FailureReport {
    let contexts = clusters.iter().map(|cluster| cluster.cluster.clone()).collect();
    let scope = ReportScope { contexts, group_by: group_by.name(), ..ReportScope::default() };
    merge(clusters, group_by, Frame { scope, ..Frame::default() })
}

/// A report as JSON, without what tells of clusters.
fn bare(report: &impl serde::Serialize) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.remove("cluster");
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(report).unwrap();
    strip(&mut value);
    value
}

#[test]
fn the_namespaces_of_a_cluster_as_clusters_are_told_as_that_cluster() {
    let whole = snapshot(&WORLD, "whole");
    for group_by in [GroupBy::Rule, GroupBy::Cause, GroupBy::Reason] {
        let whole = alone(&whole, "whole", group_by).report;
        let clusters =
            NAMESPACES.iter().map(|snapshot| alone(snapshot, snapshot.cluster.as_deref().unwrap(), group_by)).collect();
        let merged = together(clusters, group_by);
        assert!(NAMESPACES.len() > 3 && whole.groups.len() > 10);
        // A node that is gone is one in each of the clusters.
        let is_of_all = |group: &&Value| !group["key"].as_str().is_some_and(|key| key.starts_with("NodeNotReady"));
        let groups = |report: &FailureReport| {
            let mut groups = bare(&report.groups);
            for group in groups.as_array_mut().unwrap() {
                // Suggestions weigh all of a cluster; a sum of floats depends on its order.
                group["suggestions"].take();
                // A node that all the clusters have is one of each of them.
                let mut on_nodes: BTreeMap<String, (u64, Value)> = BTreeMap::new();
                for node in group["nodes"].as_array().unwrap() {
                    let of_name = on_nodes.entry(node["name"].as_str().unwrap().to_owned()).or_default();
                    *of_name = (of_name.0 + node["failures"].as_u64().unwrap(), node["ready"].clone());
                }
                group["nodes"] = serde_json::to_value(on_nodes).unwrap();
                group["gpuSeconds"] = group["gpuSeconds"].as_f64().map(|seconds| format!("{seconds:.3}")).into();
            }
            groups.as_array().unwrap().iter().filter(is_of_all).cloned().collect::<Vec<Value>>()
        };
        let (expected, found) = (groups(&whole), groups(&merged));
        for (one, other) in expected.iter().zip(&found) {
            assert_eq!(one, other, "by {}", group_by.name());
        }
        assert_eq!(expected.len(), found.len());
        assert_eq!(bare(&whole.workloads), bare(&merged.workloads));
    }
}

#[test]
fn one_cluster_put_together_with_none_is_what_it_was() {
    for group_by in BY {
        for snapshot in NAMESPACES.iter() {
            let name = snapshot.cluster.as_deref().unwrap();
            let (alone, other) = (alone(snapshot, name, group_by).report, alone(snapshot, name, group_by));
            let merged = together(vec![other], group_by);
            let comparable = |report: &FailureReport| {
                let mut report = bare(report);
                for member in ["scope", "sources", "notes"] {
                    report[member].take();
                }
                for group in report["groups"].as_array_mut().unwrap() {
                    if matches!(group_by, GroupBy::Node | GroupBy::Workload | GroupBy::Namespace) {
                        group["id"].take();
                    }
                }
                // In words, with the cluster.
                for suggestion in report["suggestions"].as_array_mut().unwrap() {
                    suggestion["subject"].take();
                }
                report
            };
            let (mut expected, mut found) = (comparable(&alone), comparable(&merged));
            // Groups that tie are in the order of their ids.
            for report in [&mut expected, &mut found] {
                report["groups"].as_array_mut().unwrap().sort_by_key(Value::to_string);
                if group_by != GroupBy::Rule {
                    report["suggestions"].as_array_mut().unwrap().sort_by_key(|it| it["why"].to_string());
                    strip_ids(report);
                }
                let is_lost_node = |group: &&mut Value| group["class"] == "notReady";
                report["groups"].as_array_mut().unwrap().iter_mut().filter(is_lost_node).for_each(|it| {
                    it["id"].take();
                });
            }
            assert_eq!(expected, found, "{name} by {}", group_by.name());
        }
    }
}

/// Suggestions are numbered by the groups that they follow from.
fn strip_ids(report: &mut Value) {
    for suggestion in report["suggestions"].as_array_mut().unwrap() {
        suggestion["id"].take();
    }
    for group in report["groups"].as_array_mut().unwrap() {
        group["suggestions"] = group["suggestions"].as_array().unwrap().len().into();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn nothing_is_lost_and_nothing_counted_twice(
        chosen in proptest::collection::vec(any::<proptest::sample::Index>(), 1..6),
        by in 0..BY.len(),
    ) {
        let group_by = BY[by];
        // Twice the same data are two clusters that are alike in everything.
        let of = |(number, index): (usize, &proptest::sample::Index)| {
            let snapshot = index.get(&NAMESPACES);
            (format!("c{number}"), snapshot)
        };
        let chosen: Vec<(String, &Snapshot)> = chosen.iter().enumerate().map(of).collect();
        let clusters = || chosen.iter().map(|(name, snapshot)| alone(snapshot, name, group_by)).collect::<Vec<_>>();
        let merged = together(clusters(), group_by);
        let singles: Vec<FailureReport> = clusters().into_iter().map(|cluster| cluster.report).collect();
        let sum = |of: fn(&FailureReport) -> u64| singles.iter().map(of).sum::<u64>();
        prop_assert_eq!(merged.summary.failures, sum(|report| report.summary.failures));
        prop_assert_eq!(merged.summary.collateral, sum(|report| report.summary.collateral));
        prop_assert_eq!(merged.summary.lost, sum(|report| report.summary.lost));
        prop_assert_eq!(merged.summary.workloads as u64, sum(|report| report.summary.workloads as u64));
        prop_assert_eq!(merged.summary.completed_failures, sum(|report| report.summary.completed_failures));
        prop_assert_eq!(merged.workloads.len(), merged.summary.workloads);
        prop_assert_eq!(merged.groups.len(), merged.summary.groups);
        let grouped: u64 = merged.groups.iter().map(|group| group.failures).sum();
        prop_assert_eq!(grouped, merged.summary.failures);
        let mut counted: BTreeMap<&str, (u64, u64, usize)> = BTreeMap::new();
        for group in singles.iter().flat_map(|report| &report.groups) {
            let sums = counted.entry(&group.id).or_default();
            *sums = (sums.0 + group.failures, sums.1 + group.counted, sums.2 + group.workloads.len());
        }
        let objects = matches!(group_by, GroupBy::Node | GroupBy::Workload | GroupBy::Namespace);
        let by_object: usize = singles.iter().map(|report| report.groups.len()).sum();
        prop_assert!(!objects || merged.groups.len() == by_object);
        for group in &merged.groups {
            let own = (group.failures, group.counted, group.workloads.len());
            let is_of_node = group.key.as_deref().is_some_and(|key| key.starts_with("NodeNotReady"));
            prop_assert!(objects || is_of_node || counted[&*group.id] == own, "{:?}", group);
            let named: BTreeSet<_> = group.workloads.iter().collect();
            prop_assert_eq!(named.len(), group.workloads.len(), "each workload once");
            for id in &group.suggestions {
                prop_assert!(merged.suggestions.iter().any(|suggestion| suggestion.id == *id));
            }
        }
        let ids: BTreeSet<&str> = merged.groups.iter().map(|group| &*group.id).collect();
        prop_assert_eq!(ids.len(), merged.groups.len(), "ids are unique");
        for suggestion in &merged.suggestions {
            let of: BTreeSet<&str> = suggestion.workloads.iter().filter_map(|it| it.cluster.as_deref()).collect();
            for command in suggestion.commands.iter().filter(|command| command.starts_with("kubectl")) {
                let contexts: Vec<&str> = command.split(" --context=").skip(1).collect();
                prop_assert!(contexts.len() == 1 && of.contains(contexts[0]), "{} of {:?}", command, of);
            }
            prop_assert!(suggestion.evidence.iter().all(|fact| of.contains(&**fact.cluster.as_ref().unwrap())));
        }
        let left_out = |report: &FailureReport| {
            report.suggestions.iter().map(|it| (it.commands.len() + it.commands_left_out) as u64).sum::<u64>()
        };
        prop_assert_eq!(left_out(&merged), sum(left_out));
    }
}
