use serde_json::json;

use crate::made_up::{failed_pod, job};
use crate::support::{Story, View, fixture, story_of, story_of_objects};

fn named() -> Story {
    story_of(&fixture("kep-4443-named.json"), &View::default())
}

/// Rules with names, and the reason `PodFailurePolicy_ConfigError`.
#[test]
fn a_rules_name_is_its_label() {
    let story = named();
    let group = story.group("rule");
    assert_eq!(group["rule"]["label"], "ConfigError");
    assert_eq!(group["rule"]["name"], "ConfigError");
    assert_eq!(group["rule"]["nameSource"], "field");
    assert_eq!(group["rule"]["requirement"], "exit 42 (trainer)");
    assert_eq!(story.workload()["actedOn"]["reason"], "PodFailurePolicy_ConfigError");
    assert_eq!(story.workload()["actedOn"]["ruleIndex"], group["rule"]["index"]);
    assert_eq!(story.report["notes"], serde_json::json!([]));
}

/// Without names, and the reason `PodFailurePolicy_1`.
#[test]
fn an_unnamed_rules_reason_is_its_index() {
    let story = story_of(&fixture("kep-4443-unnamed.json"), &View::default());
    assert_eq!(story.workload()["actedOn"]["reason"], "PodFailurePolicy_1");
    assert_eq!(story.workload()["actedOn"]["ruleIndex"], 1);
    assert!(story.of_class("rule").iter().all(|line| !line["rule"]["label"].as_str().unwrap().is_empty()));
    assert_eq!(story.report["notes"], serde_json::json!([]));
}

/// Reason and message that name different rules: the message's index holds, and it is said.
#[test]
fn a_contradiction_is_said_and_the_message_wins() {
    let mut dump: serde_json::Value =
        serde_json::from_slice(&std::fs::read(fixture("kep-4443-named.json")).unwrap()).unwrap();
    for item in dump["items"].as_array_mut().unwrap().iter_mut().filter(|item| item["kind"] == "Job") {
        for condition in item["status"]["conditions"].as_array_mut().unwrap() {
            condition["reason"] = "PodFailurePolicy_SomethingElse".into();
        }
    }
    let story = story_of_objects(&dump["items"], &View::default());
    assert_eq!(story.workload()["actedOn"]["ruleIndex"], 0);
    let note = story.report["notes"][0].as_str().unwrap();
    assert!(note.contains("PodFailurePolicy_SomethingElse") && note.contains("index 0"), "{note}");
}

/// On clusters without the field, an annotation gives names; `-` leaves a rule without one.
#[test]
fn an_annotation_names_rules_on_todays_clusters() {
    let mut dump: serde_json::Value =
        serde_json::from_slice(&std::fs::read(fixture("recorded/job-race.json")).unwrap()).unwrap();
    for item in dump["items"].as_array_mut().unwrap().iter_mut().filter(|item| item["kind"] == "Job") {
        item["metadata"]["annotations"]["kubectl-sigapps/rule-names"] = "-,userError,-".into();
    }
    let story = story_of_objects(&dump["items"], &View::default());
    let groups = story.report["groups"].as_array().unwrap();
    let labels: Vec<_> = groups
        .iter()
        .map(|group| (group["rule"]["label"].as_str().unwrap(), group["rule"]["nameSource"].as_str().unwrap()))
        .collect();
    assert!(labels.contains(&("userError", "annotation")) && labels.contains(&("exit 1", "derived")), "{labels:?}");
}

/// One cluster, one rule: named by the field in one Job, by the annotation in another, it is one group.
#[test]
fn equal_labels_are_one_group_wherever_they_come_from() {
    let rules =
        json!([{"name": "ConfigError", "action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]);
    let by_field = job("by-field", json!({"podFailurePolicy": {"rules": rules}}), json!({"failed": 1}));
    let rules = json!([{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [43]}}]);
    let mut by_annotation = job("by-annotation", json!({"podFailurePolicy": {"rules": rules}}), json!({"failed": 1}));
    by_annotation["metadata"]["annotations"] = json!({"kubectl-sigapps/rule-names": "ConfigError"});
    let objects =
        json!([by_field, by_annotation, failed_pod("a", "by-field", 42), failed_pod("b", "by-annotation", 43)]);
    let story = story_of_objects(&objects, &View::default());
    let group = story.group("rule");
    assert_eq!(group["failures"], 2);
    assert_eq!(group["workloads"].as_array().unwrap().len(), 2);
    assert_eq!(group["rule"]["label"], "ConfigError");
    let note = group["notes"][0].as_str().unwrap();
    assert!(note.contains("exit 42") && note.contains("exit 43"), "what the rules ask for differs: {note}");
}
