//! What to do next about pods that were asked to end and have not.

use serde_json::{Value, json};

use crate::advice_on_jobs::{commands, disrupt, end, kinds, pod, story, why};
use crate::made_up::job;
use crate::support::Story;

/// A Job that is failing, one of whose pods should have ended long ago, with what is read of that pod's node.
fn held_up(node: Option<Value>) -> Story {
    held_up_for(30, node)
}

/// The same with another grace period, in seconds.
fn held_up_for(grace: u32, node: Option<Value>) -> Story {
    let failing = json!([{"type": "FailureTarget", "status": "True", "reason": "BackoffLimitExceeded", "message": "m", "lastTransitionTime": "2026-11-30T09:01:30Z"}]);
    let ending = |pod: &mut Value| {
        let until = 120 + grace - 30;
        pod["metadata"]["deletionTimestamp"] =
            format!("2026-11-30T{:02}:{:02}:{:02}Z", 9 + until / 3600, until / 60 % 60, until % 60).into();
        pod["metadata"]["deletionGracePeriodSeconds"] = grace.into();
        pod["status"] = json!({"phase": "Running", "startTime": "2026-11-30T09:00:00Z"});
    };
    let job = job("train", json!({}), json!({"failed": 1, "conditions": failing}));
    let later = |pod: &mut Value| end(pod)["finishedAt"] = "2026-11-30T09:10:00Z".into();
    let objects = [job, pod("own", 1, |_| ()), pod("stuck", 0, ending), pod("later", 1, later)];
    story(objects.into_iter().chain(node))
}

fn node_1(conditions: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1", "uid": "n"}, "status": {"conditions": conditions}})
}

fn ready(status: &str) -> Value {
    json!([{"type": "Ready", "status": status, "lastTransitionTime": "2026-11-30T09:10:00Z"}])
}

#[test]
fn pods_that_cannot_end_on_a_dead_node_need_a_hand() {
    let dead = held_up(Some(node_1(&ready("Unknown"))));
    let unblock = dead.suggestion("unblockTeardown");
    assert_eq!(unblock["safety"], "destructive");
    assert!(why(&dead, "unblockTeardown").contains("Only if the machine is surely off"));
    assert_eq!(
        commands(&dead, "unblockTeardown"),
        [
            "kubectl describe node node-1",
            "kubectl taint nodes node-1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
            "kubectl delete pod stuck -n ns --grace-period=0 --force"
        ]
    );
    assert!(unblock["loses"].as_str().unwrap().contains("every pod on the node"));
    let ready = held_up(Some(node_1(&ready("True"))));
    assert!(!kinds(&ready).contains(&"unblockTeardown"));
    assert!(ready.report["suggestions"].to_string().contains("see what holds its pods, a finalizer or a volume"));
}

/// It posts that it is not ready, and ends pods all the same, in their grace period.
#[test]
fn pods_on_a_node_whose_kubelet_reports_are_not_ended_by_force() {
    for (seconds, is_late) in [(30, true), (3600, false)] {
        let story = held_up_for(seconds, Some(node_1(&ready("False"))));
        let suggestions = story.report["suggestions"].as_array().unwrap();
        assert!(suggestions.iter().all(|suggestion| suggestion["safety"] == "readOnly"), "{suggestions:#?}");
        let told = |suggestion: &&Value| suggestion["why"].as_str().unwrap().contains("though its kubelet reports");
        assert_eq!(suggestions.iter().any(|suggestion| told(&suggestion)), is_late, "{seconds}: {suggestions:#?}");
    }
}

/// The node may be well, and a finalizer hold the pod: nothing is to be forced before the node is known to be down.
#[test]
fn pods_on_a_node_of_which_nothing_was_read_are_looked_at_first() {
    let another = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-2", "uid": "m"}, "status": {"conditions": ready("False")}});
    let unknown = [
        None,
        Some(another),
        Some(node_1(&json!([]))),
        Some(node_1(&json!([{"type": "DiskPressure", "status": "False"}]))),
    ];
    for node in unknown {
        let story = held_up(node);
        let suggestions = story.report["suggestions"].as_array().unwrap();
        assert!(suggestions.iter().all(|suggestion| suggestion["safety"] == "readOnly"), "{suggestions:#?}");
        let told = |suggestion: &&Value| suggestion["why"].as_str().unwrap().contains("no state of the node was read");
        let inspect = suggestions.iter().find(told).unwrap();
        assert_eq!(inspect["commands"], json!(["kubectl describe node node-1", "kubectl describe pod stuck -n ns"]));
        assert_eq!(inspect["evidence"][0]["path"], "metadata.deletionTimestamp");
    }
}

/// With `podReplacementPolicy: Failed` no other pod is made before one has ended; on a dead node it never does, and nothing has
/// failed.
#[test]
fn a_pod_that_never_ends_holds_its_job_up_though_nothing_has_failed() {
    let story = |more: Value, at: &str, node: &str| {
        let ending = |pod: &mut Value| {
            pod["metadata"]["deletionTimestamp"] = at.into();
            pod["metadata"]["deletionGracePeriodSeconds"] = 30.into();
            pod["status"] = json!({"phase": "Running", "startTime": "2026-11-30T08:00:00Z"});
            disrupt(pod);
        };
        let now = json!([{"type": "Ready", "status": node, "lastTransitionTime": "2026-11-30T09:10:00Z"}]);
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1", "uid": "n"}, "status": {"conditions": now}});
        story([job("train", more, json!({"active": 0, "terminating": 1})), pod("stuck", 0, ending), node])
    };
    let ignores = json!({"podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}});
    for held in [ignores.clone(), json!({"podReplacementPolicy": "Failed"})] {
        let story = story(held, "2026-11-30T09:00:30Z", "Unknown");
        let group = &story.report["groups"][0];
        assert_eq!((&group["class"], &group["key"]), (&json!("notReady"), &json!("NodeNotReady, node-1")));
        assert!(why(&story, "unblockTeardown").contains("the Job does not make other pods before they are gone"));
    }
    // As long as it has time left, it is lost with its node.
    let soon = story(ignores.clone(), "2026-11-30T09:09:50Z", "Unknown");
    let told = (&soon.report["groups"][0]["class"], kinds(&soon));
    assert_eq!(told, (&json!("notReady"), vec!["unblockTeardown", "replaceNode"]));
    // Another pod is made at once.
    let replaced = story(json!({"podReplacementPolicy": "TerminatingOrFailed"}), "2026-11-30T09:00:30Z", "Unknown");
    assert_eq!(replaced.report["groups"][0]["class"], "noPolicy");
    // A node that is well is not to blame.
    assert!(!kinds(&story(ignores, "2026-11-30T09:00:30Z", "True")).contains(&"unblockTeardown"));
}
