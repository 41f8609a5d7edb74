//! Nodes that are lost, drained or short of memory, and what ran on them.

use serde_json::{Value, json};

use crate::support::{View, explained, items_of, outline, story, story_of_objects, tells};

/// One node is one finding, whatever ran there, and nothing destructive is advised: it may come back.
#[test]
fn a_lost_node_is_one_group_over_all_that_ran_there() {
    let story = story("node-lost");
    let mut failures = story.failures();
    failures.sort_unstable();
    assert_eq!(
        failures,
        [
            ("notReady", "daemonset/node-exporter", "NodeNotReady", 1),
            ("notReady", "deployment/gateway", "NodeNotReady", 1),
            ("notReady", "deployment/gateway", "NodeNotReady", 1),
            ("notReady", "job/reindex", "NodeNotReady", 1),
            ("notReady", "statefulset/store", "NodeNotReady", 1),
        ]
    );
    assert_eq!(story.group("notReady")["key"], "NodeNotReady, gpu-node-6");
    assert_eq!(story.suggestion("replaceNode")["commands"], json!(["kubectl describe node gpu-node-6"]));
    assert_eq!(story.writes(), []);
}

#[test]
fn what_ran_on_a_lost_node_names_it() {
    tells(
        "node-lost",
        "deployment/gateway",
        ("degraded", &[], &["replaceNode"]),
        "Deployment platform/gateway is degraded: 2 of 4 replicas are available; pod gateway-75464fcd44-xwwr8 is lost with its node: \
         gpu-node-6 has stopped reporting for 0s (and 1 more alike).",
    );
    tells(
        "node-lost",
        "job/reindex",
        ("running", &[], &["replaceNode"]),
        "Job platform/reindex is running, 1 of 2 pods ready; pod reindex-0-tw9tr is lost with its node: gpu-node-6 has stopped \
         reporting for 0s.",
    );
    tells(
        "node-lost",
        "node/gpu-node-6",
        ("failed", &[], &["replaceNode"]),
        "Node gpu-node-6 has stopped reporting for 0s (Ready is Unknown); 5 failures of daemonset/node-exporter, \
         deployment/gateway, job/reindex and 1 more on it.",
    );
}

/// By its status all is well: the node is not counted any more.
#[test]
fn a_daemonset_counts_a_lost_node_that_its_status_does_not() {
    tells(
        "node-lost",
        "daemonset/node-exporter",
        ("degraded", &["unavailable"], &["replaceNode"]),
        "DaemonSet platform/node-exporter is degraded: 1 of 2 nodes has a ready pod; no ready pod on gpu-node-6 (has stopped \
         reporting for 0s), a node that its status does not count any more, tainted as it is.",
    );
}

/// Five minutes later: the Deployment is whole elsewhere, the `StatefulSet` waits for ever, and only force helps.
#[test]
fn a_statefulset_waits_for_its_pod_on_a_lost_node() {
    let story = story("node-lost-evicted");
    let mut failures = story.failures();
    failures.sort_unstable();
    let lost = |workload| ("notReady", workload, "NodeNotReady", 1);
    // The Job waits for the end of its pod (it has a policy), and so does whoever waits for the Job.
    assert_eq!(failures, [lost("daemonset/node-exporter"), lost("job/reindex"), lost("statefulset/store")]);
    tells(
        "node-lost-evicted",
        "deployment/gateway",
        ("running", &[], &[]),
        "Deployment platform/gateway is well: 4 of 4 replicas are available.",
    );
    tells(
        "node-lost-evicted",
        "statefulset/store",
        ("stuck", &["teardownBlocked"], &["unblockTeardown", "replaceNode"]),
        "StatefulSet platform/store is stuck: 1 of 2 replicas is ready; pod store-0 was asked to end 0s ago and has not, as node \
         gpu-node-6 has stopped reporting for 5m; no other one of its name is made before it is gone, and nothing is done about the \
         pods behind it (OrderedReady).",
    );
    let told = explained("node-lost-evicted", "statefulset/store");
    let blocker = &told["situations"][0]["blockers"][0];
    assert_eq!(
        (&blocker["pod"], &blocker["node"], &blocker["nodeReady"]),
        (&json!("store-0"), &json!("gpu-node-6"), &json!(false))
    );
    // Of the Job that waits for its pod's end, and of the StatefulSet.
    let all = story.report["suggestions"].as_array().unwrap();
    let unblock: Vec<_> = all.iter().filter(|told| told["kind"] == "unblockTeardown").collect();
    assert_eq!(unblock.iter().map(|told| &told["subject"]).collect::<Vec<_>>(), ["job/reindex", "statefulset/store"]);
    for told in unblock {
        assert!(told["why"].as_str().unwrap().contains("Only if the machine is surely off"), "{told}");
    }
    assert!(story.writes().iter().all(|(_, loses)| loses.contains("every pod on the node")), "{:?}", story.writes());
    assert_eq!(story.writes().len(), 4);
}

/// Whether the kubelet is silent is told by the node alone: without it nothing of the kind is claimed.
#[test]
fn without_nodes_nothing_is_said_of_them() {
    for name in ["node-lost", "node-lost-evicted"] {
        let items: Vec<Value> = items_of(name).into_iter().filter(|item| item["kind"] != "Node").collect();
        let story = story_of_objects(&json!(items), &View::default());
        assert_eq!(
            story.of_class("notReady").iter().filter(|line| line["reason"] == "NodeNotReady").count(),
            0,
            "{name}"
        );
        assert_eq!(story.writes(), [], "{name}");
    }
}

/// The Deployment is whole; the evicted pod stays, and is told.
#[test]
fn an_evicted_pod_of_a_deployment_that_is_whole_is_a_failure_of_the_past() {
    let story = story("node-drain");
    assert_eq!(story.failures(), [("noJob", "deployment/renderer", "Evicted", 1)]);
    assert_eq!(story.workload()["state"], "running");
    assert_eq!(story.writes(), []);
    let told = explained("node-drain", "deployment/renderer");
    assert!(
        told["verdict"]
            .as_str()
            .unwrap()
            .starts_with("Deployment render/renderer goes on: 3 of 3 replicas are available; pod")
    );
}

#[test]
fn a_node_tells_its_drain_and_its_pressure() {
    tells(
        "node-drain",
        "node/gpu-node-7",
        ("degraded", &[], &[]),
        "Node gpu-node-7 is ready for 24s; it is cordoned; MaintenancePlanned for 11s, DrainInProgress for 11s; nothing in the data \
         failed on it.",
    );
    tells(
        "node-drain",
        "node/gpu-node-8",
        ("degraded", &[], &["raiseMemory"]),
        "Node gpu-node-8 is ready for 24s; MemoryPressure for 11s; 1 failure of deployment/renderer on it.",
    );
}

/// The drained pod is gone without a trace; what is left is a replacement that finds no node.
#[test]
fn a_job_pinned_to_a_drained_node_waits_for_it() {
    let told = explained("node-drain-job", "job/scan");
    assert_eq!(outline(&told), ("running".into(), vec![], vec!["freeCapacity".into()]));
    let verdict = told["verdict"].as_str().unwrap();
    assert!(
        verdict.starts_with("Job render/scan is running, and pod scan-k5h8x waits for a node for 65s"),
        "{verdict}"
    );
    assert!(verdict.contains("1 node(s) were unschedulable"), "{verdict}");
    assert_eq!(story("node-drain-job").writes(), []);
}
