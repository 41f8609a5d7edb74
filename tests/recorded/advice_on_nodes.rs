//! What failures tell of nodes: those that gather on one, and devices that are reported as unhealthy.

use serde_json::{Value, json};

use crate::made_up::{failed_pod, job};
use crate::support::{Story, View, story_of_objects};

fn live_job(spec: Value) -> Value {
    job("train", spec, json!({"active": 1, "failed": 1}))
}

/// A pod of that Job, changed.
fn pod(name: &str, exit_code: i32, change: impl FnOnce(&mut Value)) -> Value {
    let mut pod = failed_pod(name, "train", exit_code);
    change(&mut pod);
    pod
}

fn story(objects: impl IntoIterator<Item = Value>) -> Story {
    story_of_objects(&Value::Array(objects.into_iter().collect()), &View::default())
}

fn kinds(story: &Story) -> Vec<&str> {
    story.advice()
}

fn why<'a>(story: &'a Story, kind: &str) -> &'a str {
    story.suggestion(kind)["why"].as_str().unwrap()
}

fn commands<'a>(story: &'a Story, kind: &str) -> Vec<&'a str> {
    let commands = story.suggestion(kind)["commands"].as_array().unwrap();
    commands.iter().map(|command| command.as_str().unwrap()).collect()
}

/// Pods of a Job on two nodes: failed ones by node, and those that are fine.
fn on_nodes(failed: &[(&str, u32)], fine: &[(&str, u32)]) -> Vec<Value> {
    let mut objects = vec![live_job(json!({"parallelism": 8, "completions": 8}))];
    for (phase, list) in [("Failed", failed), ("Running", fine)] {
        for (node, count) in list {
            for number in 0..*count {
                objects.push(pod(&format!("{phase}-{node}-{number}").to_lowercase(), 1, |pod| {
                    pod["spec"]["nodeName"] = (*node).into();
                    pod["status"]["phase"] = phase.into();
                    if phase == "Running" {
                        pod["status"]["containerStatuses"] = json!([{"name": "main", "state": {"running": {}}}]);
                    }
                }));
            }
        }
    }
    objects
}

#[test]
fn failures_that_gather_on_one_node_speak_of_the_node() {
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "bad", "uid": "n"},
        "spec": {"taints": [{"key": "nvidia.com/gpu-unhealthy", "value": "xid79", "effect": "NoExecute"}]},
        "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "GpuProblem", "status": "True"}]},
    });
    let story = story(on_nodes(&[("bad", 4)], &[("good", 4)]).into_iter().chain([node]));
    let replace = story.suggestion("replaceNode");
    assert!(why(&story, "replaceNode").starts_with("4 of 4 failures, but 4 of 8 pods, are on node bad; GpuProblem"));
    assert_eq!(commands(&story, "replaceNode"), ["kubectl describe node bad", "kubectl cordon bad"]);
    assert_eq!(replace["safety"], "mutating");
    assert!(replace["evidence"].to_string().contains("nvidia.com/gpu-unhealthy=xid79:NoExecute"));
    assert_eq!(story.report["suggestions"][0], *replace, "it comes before what the pods said");
}

#[test]
fn a_share_that_may_be_chance_does_not_speak_of_the_node() {
    for (failed, fine) in [
        (&[("a", 2)][..], &[("b", 6)][..]),
        (&[("a", 4), ("b", 4)], &[]),
        (&[("a", 8)], &[]),
        (&[("a", 3)], &[("b", 3)]),
    ] {
        let story = story(on_nodes(failed, fine));
        assert!(!kinds(&story).contains(&"replaceNode"), "{failed:?} {fine:?}: {:?}", kinds(&story));
    }
}

#[test]
fn one_unhealthy_device_is_enough() {
    let mut objects = on_nodes(&[("a", 1)], &[("b", 1)]);
    objects[1]["status"]["containerStatuses"][0]["allocatedResourcesStatus"] = json!([{"name": "nvidia.com/gpu", "resources": [{"resourceID": "GPU-5f1c", "health": "Unhealthy"}, {"resourceID": "GPU-77", "health": "Healthy"}]}]);
    let story = story(objects);
    assert!(why(&story, "replaceNode").contains("a device there is unhealthy: nvidia.com/gpu GPU-5f1c"));
    assert!(!story.report["suggestions"].to_string().contains("GPU-77"));
}

/// How pods on one node were disrupted, and whether that may be the node's fault.
#[test]
fn who_takes_a_node_or_empties_it_does_not_speak_of_it() {
    for (reason, status_reason, message, speaks) in [
        ("PreemptionByScheduler", "", "", false),
        ("EvictionByEvictionAPI", "", "", false),
        ("SomebodyElses", "", "", false),
        ("TerminationByKubelet", "Preempting", "Preempted in order to admit critical pod", false),
        (
            "TerminationByKubelet",
            "Evicted",
            "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ",
            false,
        ),
        ("TerminationByKubelet", "Evicted", "The node was low on resource: memory. ", true),
        ("DeletionByTaintManager", "", "", true),
        ("DeletionByPodGC", "", "", true),
        ("DeletionByDeviceTaintManager", "", "", true),
    ] {
        let mut objects = on_nodes(&[("bad", 4)], &[("good", 4)]);
        for pod in objects.iter_mut().filter(|object| object["status"]["phase"] == "Failed") {
            pod["status"]["conditions"] = json!([{"type": "DisruptionTarget", "status": "True", "reason": reason}]);
            pod["status"]["reason"] = status_reason.into();
            pod["status"]["message"] = message.into();
        }
        let story = story(objects);
        assert_eq!(kinds(&story).contains(&"replaceNode"), speaks, "{reason} {message}: {:?}", kinds(&story));
    }
}

#[test]
fn pods_that_may_run_on_one_node_alone_say_nothing_of_it() {
    let terms = json!([{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["bad"]}]}]);
    let required = json!({"nodeSelectorTerms": terms});
    for (field, value, speaks) in [
        ("nodeSelector", json!({"kubernetes.io/hostname": "bad"}), false),
        ("affinity", json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}), false),
        ("nodeSelector", json!({"pool": "gpu"}), true),
    ] {
        let mut objects = on_nodes(&[("bad", 4)], &[("good", 4)]);
        for pod in objects.iter_mut().filter(|object| object["spec"]["nodeName"] == "bad") {
            pod["spec"][field] = value.clone();
        }
        let story = story(objects);
        assert_eq!(kinds(&story).contains(&"replaceNode"), speaks, "{value}: {:?}", kinds(&story));
    }
}

#[test]
fn pods_are_counted_where_their_failures_are() {
    // Without their Job, and with another one beside it that has more pods.
    let mut objects = on_nodes(&[("bad", 4)], &[("good", 4)]);
    objects.remove(0);
    let story = story(objects);
    assert!(
        why(&story, "replaceNode").starts_with("4 of 4 failures, but 4 of 8 pods"),
        "{}",
        why(&story, "replaceNode")
    );
    // A pod of which two containers fail in place is one pod.
    let mut objects = on_nodes(&[], &[("bad", 2), ("good", 4)]);
    for pod in objects.iter_mut().filter(|object| object["spec"]["nodeName"] == "bad") {
        let failing = |name: &str| {
            let last = json!({"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-11-30T09:01:00Z"}});
            json!({"name": name, "restartCount": 3, "state": {"running": {}}, "lastState": last})
        };
        pod["status"]["containerStatuses"] = json!([failing("main"), failing("other")]);
    }
    let story = self::story(objects);
    assert_eq!(story.of_class("restarting").len(), 4);
    assert!(!kinds(&story).contains(&"replaceNode"), "{:?}", kinds(&story));
}

#[test]
fn an_unhealthy_device_is_told_without_counts_where_none_are_the_nodes() {
    let rules = json!([{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]);
    let with_device = |pod: &mut Value| {
        pod["status"]["containerStatuses"][0]["allocatedResourcesStatus"] =
            json!([{"name": "nvidia.com/gpu", "resources": [{"resourceID": "GPU-1", "health": "Unhealthy"}]}]);
    };
    let story = story([live_job(json!({"podFailurePolicy": {"rules": rules}})), pod("p", 42, with_device)]);
    assert!(why(&story, "replaceNode").starts_with("a device of node node-1 is unhealthy: nvidia.com/gpu GPU-1"));
    assert_eq!(story.suggestion("replaceNode")["subject"], "job/train");
}
