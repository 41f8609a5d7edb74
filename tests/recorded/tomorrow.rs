//! What the API may say tomorrow, or said yesterday: fields, kinds, actions, reasons and values that this tool does not know
//! take nothing away from what it does.

use serde_json::{Value, json};

use crate::made_up::{failed_pod, job};
use crate::support::{View, classes, fixture, items_of_file, story_of, story_of_objects};
use crate::unknown::with_unknown_fields;

/// Of every recording there is.
#[test]
fn fields_that_nobody_knows_change_nothing() {
    let mut read = 0;
    for entry in fixture("recorded").read_dir().unwrap() {
        let path = entry.unwrap().path();
        let mut items = items_of_file(&path);
        items.iter_mut().for_each(with_unknown_fields);
        let view = View { all: true, ..View::default() };
        let (known, unknown) = (story_of(&path, &view), story_of_objects(&json!(items), &view));
        let told = |report: &Value| {
            let mut report = report.clone();
            // Where it was read from.
            report["scope"]["files"] = Value::Null;
            for source in report["sources"].as_array_mut().unwrap() {
                source["file"] = Value::Null;
            }
            report
        };
        assert_eq!(unknown.lines, known.lines, "{}", path.display());
        assert_eq!(told(&unknown.report), told(&known.report), "{}", path.display());
        read += 1;
    }
    assert!(read > 50, "only {read} recordings");
}

/// They are counted by their kind, and are no reason to stop.
#[test]
fn kinds_and_versions_that_nobody_knows_are_counted_and_passed_over() {
    let mut later = job("later", json!({"backoffLimit": 0}), json!({"failed": 1}));
    later["apiVersion"] = "batch/v9".into();
    let thing = json!({"apiVersion": "jobset.x-k8s.io/v9", "kind": "JobSetGroup", "metadata": {"name": "x", "namespace": "ns"}});
    let others =
        json!({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "y", "namespace": "ns"}});
    let story = story_of_objects(&json!([later, failed_pod("p", "later", 1), thing, others]), &View::default());
    assert_eq!(story.classes(), classes(&[("noPolicy", 1)]), "a version of tomorrow is read as those of today");
    assert_eq!(story.report["ignored"], json!({"Job": 1, "JobSetGroup": 1}));
}

/// The built-in controller passes over an action that it does not know, and so does this tool; the rule is shown as it is.
#[test]
fn a_rule_with_an_unknown_action_acts_as_if_it_were_not_there() {
    let rules = json!([
        {"action": "Quarantine", "onExitCodes": {"operator": "In", "values": [42]}},
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}},
        {"action": "FailJob", "onTea": {"milk": true}},
        {"action": "FailJob", "onExitCodes": {"operator": "Near", "values": [1]}},
    ]);
    let job = job("etl", json!({"podFailurePolicy": {"rules": rules}}), json!({"failed": 2}));
    let story =
        story_of_objects(&json!([job, failed_pod("a", "etl", 42), failed_pod("b", "etl", 1)]), &View::default());
    assert_eq!(story.classes(), classes(&[("noRule", 1), ("rule", 1)]));
    assert_eq!(
        (&story.group("rule")["rule"]["index"], &story.group("rule")["rule"]["action"]),
        (&json!(1), &json!("FailJob"))
    );
}

/// Reasons, phases and condition types are words: what is not known is told by its own.
#[test]
fn unknown_reasons_phases_and_conditions_are_told_in_their_own_words() {
    let conditions = json!([
        {"type": "Pondering", "status": "True", "reason": "NotSure", "message": "m", "lastTransitionTime": "2026-11-30T09:02:00Z"},
        {"type": "Failed", "status": "True", "reason": "TooMuchOfIt", "message": "it was too much", "lastTransitionTime": "2026-11-30T09:02:00Z"},
    ]);
    let spec = json!({"backoffLimit": 0, "completionMode": "Spiral", "podReplacementPolicy": "Sometimes"});
    let job = job("etl", spec, json!({"failed": 1, "conditions": conditions}));
    let mut pod = failed_pod("a", "etl", 7);
    pod["status"]["containerStatuses"][0]["state"]["terminated"]["reason"] = "Vanished".into();
    pod["status"]["conditions"] = json!([{"type": "Adrift", "status": "Perhaps", "reason": "Tide"}]);
    let mut hovering = failed_pod("b", "etl", 0);
    hovering["status"] =
        json!({"phase": "Hovering", "containerStatuses": [{"name": "main", "state": {"floating": {}}}]});
    let story = story_of_objects(&json!([job, pod, hovering]), &View::default());
    assert_eq!(story.classes(), classes(&[("noPolicy", 1)]));
    assert_eq!(story.workload()["actedOn"]["reason"], "TooMuchOfIt");
    assert_eq!((&story.lines[0]["reason"], &story.lines[0]["exitCode"]), (&json!("Vanished"), &json!(7)));
}

/// `spec.managedBy`, `successPolicy`, restart rules of containers, pod-level resources: fields that not every supported
/// version has, or has by default.
#[test]
fn fields_of_newer_versions_are_read_where_they_are_and_not_missed_where_they_are_not() {
    let old = job("old", json!({"backoffLimit": 0}), json!({"failed": 1}));
    let spec = json!({
        "backoffLimit": 0, "managedBy": "kubernetes.io/job-controller", "podReplacementPolicy": "Failed",
        "successPolicy": {"rules": [{"succeededIndexes": "0"}]}, "scheduling": {"schedulingPolicy": {"basic": {}}},
        "template": {"spec": {"resources": {"limits": {"memory": "1Gi"}}, "containers": [{
            "name": "main", "restartPolicy": "Never",
            "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}],
        }]}},
    });
    let new = job("new", spec, json!({"failed": 1, "ready": 0, "terminating": 0, "uncountedTerminatedPods": {}}));
    let objects = json!([old, new, failed_pod("a", "old", 3), failed_pod("b", "new", 3)]);
    let story = story_of_objects(&objects, &View::default());
    let [group] = &story.report["groups"].as_array().unwrap()[..] else { panic!("{:#}", story.report) };
    assert_eq!((&group["class"], &group["failures"], &group["counted"]), (&json!("noPolicy"), &json!(2), &json!(2)));
    assert_eq!(story.report["notes"], json!([]));
}
