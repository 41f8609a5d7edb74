//! `Deployment`s, `StatefulSet`s and `DaemonSet`s.

use serde_json::{Value, json};

use crate::support::{View, explained, explained_of_objects, items_of, outline, story, story_of_objects, tells};

const IMAGE: &str = "registry.example/storefront:1.8.2 → registry.example/storefront:1.9.0";

/// A new image that cannot be pulled: the old pods serve, what changed is told, and the way back.
#[test]
fn a_rollout_to_an_image_that_is_not_there_is_taken_back() {
    let story = story("deployment-rollout-image");
    assert_eq!(story.failures(), [("pending", "deployment/storefront", "ImagePullBackOff", 1)]);
    assert_eq!(story.advice(), ["rollBack", "fixImage"]);
    assert_eq!(story.writes(), [("kubectl rollout undo deployment/storefront -n shop", "")]);
    let told = explained("deployment-rollout-image", "deployment/storefront");
    assert_eq!(outline(&told).1, ["rolloutStuck"]);
    let verdict = told["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("Deployment shop/storefront is stuck: 3 of 3 replicas are available; its rollout to"));
    assert!(verdict.contains("0 of 1 new pod ready; 3 ready pods of the version before still serve"), "{verdict}");
    assert!(verdict.contains(IMAGE), "{verdict}");
    let rollout = &told["rollout"];
    assert_eq!((&rollout["newPods"], &rollout["oldPods"]), (&json!(1), &json!(3)));
    assert_eq!(rollout["changes"].as_array().unwrap().len(), 1);
}

/// Arguments and variables are named and never shown; what is safe to show is.
#[test]
fn what_a_rollout_changed_is_named_without_what_may_be_secret() {
    let told = explained("deployment-rollout-crash", "deployment/checkout");
    let verdict = told["verdict"].as_str().unwrap();
    let changed = "it changed containers[checkout].args, containers[checkout].env[PAYMENT_DB_HOST].value, \
                   containers[checkout].resources.limits.memory: 512Mi → 384Mi";
    assert!(verdict.contains(changed), "{verdict}");
    assert!(verdict.contains("exit 1 (checkout), restarts: 3, CrashLoopBackOff"), "{verdict}");
    assert_eq!(story("deployment-rollout-crash").advice(), ["rollBack", "inspect"]);
}

/// Nothing was there before: there is nothing to go back to.
#[test]
fn a_first_rollout_that_crashes_is_not_taken_back() {
    tells(
        "deployment-web",
        "deployment/web",
        ("stuck", &["rolloutStuck"], &["inspect"]),
        "Deployment shop/web is stuck: 0 of 3 replicas are available; its rollout to ReplicaSet web-78857d5f6d has not got on for \
         longer than progressDeadlineSeconds (10s): 0 of 3 new pods ready; nothing serves; pod web-78857d5f6d-d628l on gpu-node-8: \
         exit 1 (app), restarts: 2, CrashLoopBackOff (and 2 more alike).",
    );
    assert_eq!(story("deployment-web").failures().len(), 3);
}

/// What the API server refuses is one failure, though the rollout ran into its deadline by that as well.
#[test]
fn a_deployment_that_is_refused_its_pods_is_one_failure() {
    let psa = story("deployment-psa");
    assert_eq!(psa.failures(), [("workloadLevel", "deployment/legacy-api", "FailedCreate", 1)]);
    let fix = psa.suggestion("fixConfig");
    assert_eq!(fix["commands"], json!(["kubectl describe replicaset legacy-api-6df6467f69 -n hardened"]));
    assert!(fix["why"].as_str().unwrap().contains("Pod Security level"), "{fix}");
    let told = explained("deployment-psa", "deployment/legacy-api");
    assert_eq!(
        outline(&told),
        ("stuck".into(), vec!["creationRefused".into(), "rolloutStuck".into()], vec!["fixConfig".into()])
    );

    let quota = story("deployment-quota");
    assert_eq!(quota.of_class("workloadLevel")[0]["reason"], "FailedCreate");
    let free = quota.suggestion("freeCapacity");
    assert!(free["why"].as_str().unwrap().contains("exceeded quota: q, requested: requests.cpu=2"), "{free}");
    assert_eq!(free["commands"], json!(["kubectl describe resourcequota -n quota-ns"]));
}

#[test]
fn what_is_well_is_said_to_be_well() {
    tells(
        "deployment-api-ok",
        "deployment/api-ok",
        ("running", &[], &[]),
        "Deployment shop/api-ok is well: 2 of 2 replicas are available.",
    );
}

/// The ordinal that the rollout stands at, how many wait, and that going back leaves the pod as it is.
#[test]
fn a_statefulset_waits_at_the_first_pod_of_its_rollout() {
    let story = story("statefulset-broken-rollout");
    assert_eq!(story.failures(), [("restarting", "statefulset/ledger", "Error", 1)]);
    assert!(story.suggestion("rollBack")["why"].as_str().unwrap().ends_with("delete it by hand afterwards"));
    tells(
        "statefulset-broken-rollout",
        "statefulset/ledger",
        ("stuck", &["rolloutStuck"], &["rollBack", "inspect"]),
        "StatefulSet storage/ledger is stuck: 2 of 3 replicas are ready; its rollout to ledger-5dc6fc5fc4 waits for pod ledger-2, of \
         the new template: exit 2 (ledger), restarts: 3, CrashLoopBackOff \"panic: schema version 41 is newer than this binary \
         understands (40)\"; 2 pods wait behind it; it changed containers[ledger].image: registry.example/ledger:3.9.2 → \
         registry.example/ledger:4.0.0.",
    );
}

/// The status looks finished, and the pod of the version that was taken back stays for ever.
#[test]
fn a_pod_of_a_version_that_was_taken_back_must_be_deleted() {
    let story = story("statefulset-reverted");
    assert_eq!(story.advice(), ["unblockRollout", "inspect"]);
    let lost = "the pod, its logs, and what it keeps in volumes that end with it";
    assert_eq!(story.writes(), [("kubectl delete pod ledger-2 -n storage", lost)]);
    let told = explained("statefulset-reverted", "statefulset/ledger");
    assert_eq!((&*outline(&told).0, &outline(&told).1[..]), ("stuck", &["notReplaced".to_owned()][..]));
    let verdict = told["verdict"].as_str().unwrap();
    assert!(verdict.contains("pod ledger-2 is of revision ledger-5dc6fc5fc4, which is not the newest any more"));
    assert!(verdict.ends_with("it must be deleted by hand."), "{verdict}");
}

/// The other way round: pods fail, the mended template never reaches them. Going back would bring the broken one back.
#[test]
fn a_mended_template_does_not_reach_a_pod_that_fails() {
    let mut items = items_of("statefulset-broken-rollout");
    for item in items.iter_mut().filter(|item| item["kind"] == "Pod") {
        let label = &mut item["metadata"]["labels"]["controller-revision-hash"];
        if *label == "ledger-5dc6fc5fc4" {
            *label = json!("ledger-7558757d");
        }
    }
    let told = explained_of_objects(&json!(items), "statefulset/ledger");
    assert_eq!(outline(&told).1, ["notReplaced"], "{told:#}");
    let story = story_of_objects(&json!(items), &View::default());
    assert_eq!(story.advice(), ["unblockRollout", "inspect"]);
}

/// Nothing in the status tells that a pod is refused.
#[test]
fn a_statefulset_over_quota_is_told_by_its_event() {
    let story = story("statefulset-quota");
    assert_eq!(story.failures(), [("workloadLevel", "statefulset/cache", "FailedCreate", 1)]);
    assert_eq!(story.advice(), ["freeCapacity"]);
    let told = explained("statefulset-quota", "statefulset/cache");
    assert_eq!(outline(&told).1, ["creationRefused"]);
    assert!(told["verdict"].as_str().unwrap().contains("2 of 3 pods are made, the next is refused"));
}

/// Without its Events nothing is claimed, and it is not said to be well.
#[test]
fn without_events_a_statefulset_that_is_short_of_pods_is_not_well() {
    let items = items_of("statefulset-quota");
    let items: Vec<Value> = items.into_iter().filter(|item| item["kind"] != "Event").collect();
    let told = explained_of_objects(&json!(items), "statefulset/cache");
    assert_eq!(told["verdict"], "StatefulSet team-a/cache is not whole yet: 2 of 3 replicas are ready.");
    assert_eq!(story_of_objects(&json!(items), &View::default()).lines.len(), 0);
}

/// With `OrderedReady` one pod follows the other: one that is only starting is no trouble, one that does not become ready is.
#[test]
fn a_statefulset_waits_for_each_pod_before_it_makes_the_next() {
    let early = explained("statefulset-db", "statefulset/db");
    assert_eq!(
        early["verdict"],
        "StatefulSet shop/db is not whole yet: 1 of 3 replicas is ready; pod db-1 is not ready for 0s."
    );
    let mut items = items_of("statefulset-db");
    items.push(clock("2026-11-30T09:20:00Z"));
    let late = explained_of_objects(&json!(items), "statefulset/db");
    assert_eq!((&*outline(&late).0, &outline(&late).1[..]), ("stuck", &["ordinalBlocked".to_owned()][..]), "{late:#}");
    let verdict = late["verdict"].as_str().unwrap();
    assert!(
        verdict.contains("pod db-1 is not ready, and pod db-2 is not made before it is (OrderedReady)"),
        "{verdict}"
    );
    assert_eq!(
        story_of_objects(&json!(items), &View::default()).failures(),
        [("notReady", "statefulset/db", "ContainersNotReady", 1)]
    );
}

/// An Event that tells nothing but the time.
fn clock(at: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "clock", "namespace": "clock"}, "reason": "Tick",
        "involvedObject": {"kind": "Job", "namespace": "clock", "name": "clock"}, "lastTimestamp": at, "count": 1})
}

/// The node that uses up `maxUnavailable`, and how many wait.
#[test]
fn a_daemonset_waits_for_the_node_whose_new_pod_fails() {
    let story = story("daemonset-crash");
    assert_eq!(story.failures(), [("restarting", "daemonset/log-shipper", "Error", 1)]);
    assert_eq!(story.writes(), [("kubectl rollout undo daemonset/log-shipper -n observability", "")]);
    tells(
        "daemonset-crash",
        "daemonset/log-shipper",
        ("stuck", &["rolloutStuck"], &["rollBack", "inspect"]),
        "DaemonSet observability/log-shipper is stuck: 4 of 5 nodes have a ready pod; its rollout waits: maxUnavailable 1 is used up \
         by gpu-node-2 (exit 78 (log-shipper), restarts: 3, CrashLoopBackOff \"error: output \"loki-eu\": unknown field `tenant_id` \
         at line 14\"); 4 nodes still have the old template; it changed containers[log-shipper].image: \
         registry.example/log-shipper:4.7.3 → registry.example/log-shipper:5.0.0.",
    );
}

/// A lost node stops the rollout to all others; the template is not to blame.
#[test]
fn a_daemonset_that_waits_for_a_lost_node_is_not_rolled_back() {
    let story = story("daemonset-node-agent");
    assert_eq!(story.failures(), [("notReady", "daemonset/node-agent", "NodeNotReady", 1)]);
    assert_eq!(story.advice(), ["replaceNode"]);
    let told = explained("daemonset-node-agent", "daemonset/node-agent");
    let verdict = told["verdict"].as_str().unwrap();
    assert!(
        verdict
            .contains("maxUnavailable 1 is used up by gpu-node-0 (has stopped reporting for 11s); 12 nodes still have")
    );
}

/// Its status looks as if a pod were starting: in truth the kubelet refuses one after the other.
#[test]
fn pods_that_a_kubelet_refuses_are_told_with_how_often() {
    let story = story("daemonset-admission");
    assert_eq!(story.failures(), [("noJob", "daemonset/device-checker", "UnexpectedAdmissionError", 1)]);
    let inspect = story.suggestion("inspect");
    assert!(inspect["why"].as_str().unwrap().starts_with("the kubelet refused the pod (UnexpectedAdmissionError)"));
    assert_eq!(inspect["commands"][1], "kubectl describe node gpu-node-3");
    let told = explained("daemonset-admission", "daemonset/device-checker");
    assert_eq!(outline(&told).1, ["unavailable", "restarting"]);
    let verdict = told["verdict"].as_str().unwrap();
    assert!(verdict.contains("4 of 5 nodes have a ready pod; no ready pod on gpu-node-3"), "{verdict}");
    assert!(verdict.contains("4 failed pods on gpu-node-3 were deleted and made again"), "{verdict}");
}
