//! `LeaderWorkerSet`s, `DisaggregatedSet`s and Agent Sandboxes.

use serde_json::{Value, json};

use crate::support::{View, explained, explained_of_objects, items_of, outline, story, story_of_objects, tells};

/// Every restart deletes the pods: Events alone tell how often, and nothing limits it.
#[test]
fn a_group_that_is_made_anew_without_end_is_told_by_events() {
    let story = story("leaderworkerset-vllm");
    assert_eq!(story.failures(), [("lost", "leaderworkerset/vllm", "RecreateGroup", 36)]);
    assert_eq!(story.advice(), ["fixThenRestart"]);
    tells(
        "leaderworkerset-vllm",
        "leaderworkerset/vllm",
        ("restarting", &["endlessRestarts"], &["fixThenRestart"]),
        "LeaderWorkerSet serving/vllm restarts again and again: 1 of 2 groups is ready; group 1 was made anew 36 times in 2m33s, \
         last 0s ago: container worker of pod vllm-1-2 exited 139; nothing limits it (RecreateGroupOnPodRestart).",
    );
}

/// The same an hour later is over, and is not said to go on.
#[test]
fn a_group_that_was_made_anew_long_ago_is_over() {
    let mut items = items_of("leaderworkerset-vllm");
    items.push(json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "clock", "namespace": "clock"},
        "reason": "Tick", "involvedObject": {"kind": "Job", "namespace": "clock", "name": "clock"}, "count": 1,
        "lastTimestamp": "2026-11-30T11:00:00Z"}));
    let told = explained_of_objects(&json!(items), "leaderworkerset/vllm");
    assert!(!outline(&told).1.contains(&"endlessRestarts".to_owned()), "{told:#}");
    assert!(!told["verdict"].as_str().unwrap().contains("nothing limits it"), "{told:#}");
}

/// Without `RecreateGroup…` the leader stays ready beside a worker that fails.
#[test]
fn a_worker_that_fails_is_told_where_no_group_is_made_anew() {
    assert_eq!(story("leaderworkerset-none").failures(), [("restarting", "leaderworkerset/mixtral", "Error", 1)]);
    tells(
        "leaderworkerset-none",
        "leaderworkerset/mixtral",
        ("degraded", &["unavailable"], &["inspect"]),
        "LeaderWorkerSet serving/mixtral is degraded: 1 of 2 groups is ready; group 1 is not ready: pod mixtral-1-2: exit 139 SIGSEGV \
         (worker), restarts: 3, CrashLoopBackOff \"NCCL WARN Call to ibv_modify_qp failed\" (no group is made anew: restartPolicy \
         None).",
    );
}

/// The `StatefulSet`s of a `LeaderWorkerSet` are told with it, and stand for themselves where they are asked for.
#[test]
fn a_stateful_set_that_is_a_part_tells_where_it_stands_itself() {
    for (recording, part, tells) in [
        ("leaderworkerset-unready", "statefulset/deepseek", "is not whole yet: 1 of 2 replicas is ready"),
        ("leaderworkerset-unready", "statefulset/deepseek-0", "is well: 1 of 1 replica is ready"),
        ("leaderworkerset-vllm", "statefulset/vllm", "is well: 2 of 2 replicas are ready"),
        ("leaderworkerset-vllm", "statefulset/vllm-1", "goes on: 1 of 2 replicas is ready; it is being deleted"),
        (
            "leaderworkerset-none",
            "statefulset/mixtral-1",
            "is degraded: 1 of 2 replicas is ready; pod mixtral-1-2 on gpu-node-2: exit 139 SIGSEGV (worker), restarts: 3",
        ),
    ] {
        let told = explained(recording, part);
        let verdict = told["verdict"].as_str().unwrap();
        assert!(verdict.contains(tells), "{part}: {verdict}");
    }
    let story = story_of_objects(&json!(items_of("leaderworkerset-none")), &View::default());
    assert!(story.failures().iter().all(|(_, workload, ..)| *workload == "leaderworkerset/mixtral"));
}

/// The leader has no node, its workers are ready: that is no failure before it has lasted.
#[test]
fn a_group_without_a_leader_is_not_whole() {
    let told = explained("leaderworkerset-unready", "leaderworkerset/deepseek");
    assert_eq!(outline(&told), ("running".into(), vec![], vec![]));
    let verdict = told["verdict"].as_str().unwrap();
    assert!(verdict.starts_with(
        "LeaderWorkerSet inference/deepseek is not whole yet: 1 of 2 groups is ready; pod deepseek-1 is not up yet: Unschedulable"
    ));
    let patient = View { pending_after: Some(5), ..View::default() };
    let story = story_of_objects(&json!(items_of("leaderworkerset-unready")), &patient);
    assert_eq!(story.failures(), [("pending", "leaderworkerset/deepseek", "Unschedulable", 1)]);
}

/// Its controller (v0.9.0) writes no status: what is known is what its `LeaderWorkerSet`s tell.
#[test]
fn a_disaggregated_set_is_told_by_its_roles() {
    let objects = disaggregated("leaderworkerset-none");
    let told = explained_of_objects(&objects, "disaggregatedset/moe");
    assert_eq!(outline(&told).0, "degraded", "{told:#}");
    assert_eq!(
        told["verdict"],
        "DisaggregatedSet serving/moe is degraded: 0 of 2 roles are ready; role decode has 1 of 2 groups ready \
         (leaderworkerset/mixtral: pod mixtral-1-2: exit 139 SIGSEGV (worker), restarts: 3, CrashLoopBackOff \"NCCL WARN Call to \
         ibv_modify_qp failed\")."
    );
    // The failure is that of the LeaderWorkerSet, once.
    let story = story_of_objects(&objects, &View::default());
    assert_eq!(story.failures(), [("restarting", "leaderworkerset/mixtral", "Error", 1)]);
}

/// A status that is there holds, and `Degraded` without a pod that shows why is a failure of its own.
#[test]
fn a_disaggregated_set_that_says_it_is_degraded_is_believed() {
    let set = json!([{"apiVersion": "disaggregatedset.x-k8s.io/v1", "kind": "DisaggregatedSet",
        "metadata": {"name": "moe", "namespace": "serving", "uid": "d1", "creationTimestamp": "2026-11-30T19:00:00Z"},
        "spec": {"roles": [{"name": "prefill", "spec": {"replicas": 2}}, {"name": "decode", "spec": {"replicas": 3}}]},
        "status": {
            "roleStatuses": [
                {"name": "prefill", "replicas": 2, "readyReplicas": 2},
                {"name": "decode", "replicas": 3, "readyReplicas": 1}],
            "conditions": [{"type": "Degraded", "status": "True", "reason": "RoleNotReady", "message": "decode is short",
                "lastTransitionTime": "2026-11-30T19:10:00Z"}]}}]);
    let story = story_of_objects(&set, &View::default());
    assert_eq!(story.failures(), [("workloadLevel", "disaggregatedset/moe", "RoleNotReady", 1)]);
    let told = explained_of_objects(&set, "disaggregatedset/moe");
    assert_eq!(
        told["verdict"],
        "DisaggregatedSet serving/moe is degraded: 1 of 2 roles is ready; role decode has 1 of 3 groups ready."
    );
}

/// A recording's `LeaderWorkerSet` as the role `decode` of a `DisaggregatedSet` whose other role is not in the data.
fn disaggregated(recording: &str) -> Value {
    let mut items = items_of(recording);
    for item in &mut items {
        if item["kind"] == "LeaderWorkerSet" {
            item["metadata"]["labels"] =
                json!({"disaggregatedset.x-k8s.io/name": "moe", "disaggregatedset.x-k8s.io/role": "decode"});
            item["metadata"]["ownerReferences"] = json!([{"apiVersion": "disaggregatedset.x-k8s.io/v1",
                "kind": "DisaggregatedSet", "name": "moe", "uid": "d1", "controller": true}]);
        }
    }
    items.push(json!({"apiVersion": "disaggregatedset.x-k8s.io/v1", "kind": "DisaggregatedSet",
        "metadata": {"name": "moe", "namespace": "serving", "uid": "d1", "creationTimestamp": "2026-11-30T19:33:28Z"},
        "spec": {"roles": [{"name": "prefill", "spec": {"replicas": 2}}, {"name": "decode", "spec": {"replicas": 2}}]}}));
    json!(items)
}

/// A pod that failed is never made again, and what its Sandbox wrote to a claim is kept.
#[test]
fn a_sandbox_whose_pod_failed_is_started_by_hand_and_keeps_its_claims() {
    let story = story("sandbox-pvc-oom");
    assert_eq!(story.failures(), [("noJob", "sandbox/data-analyst", "OOMKilled", 1)]);
    assert_eq!(story.advice(), ["raiseMemory", "restart"]);
    let lost = "its failed pod and that pod's logs, after they were saved to files";
    assert_eq!(story.writes(), [("kubectl sigapps restart sandbox/data-analyst -n agents-c", lost)]);
    tells(
        "sandbox-pvc-oom",
        "sandbox/data-analyst",
        ("failed", &["notRecreated"], &["raiseMemory", "restart"]),
        "Sandbox agents-c/data-analyst has failed: its pod data-analyst failed (OOMKilled (sandbox)) and is never made again by \
         itself; what it wrote to claims is kept (workspace-data-analyst).",
    );
}

#[test]
fn a_sandbox_without_a_volume_has_lost_what_it_held() {
    tells(
        "sandbox-code-runner",
        "sandbox/code-runner",
        ("failed", &["notRecreated"], &["raiseMemory", "restart"]),
        "Sandbox agents/code-runner has failed: its pod code-runner failed (OOMKilled (sandbox)) and is never made again by itself; \
         it has no volume that outlives its pod: what it held is lost.",
    );
    let evicted = story("sandbox-evicted-box");
    assert_eq!(evicted.failures(), [("noJob", "sandbox/evicted-box", "Evicted", 1)]);
}

/// What is over or suspended as it was asked for is no failure, and is not advised to be started.
#[test]
fn a_sandbox_that_was_stopped_is_no_failure() {
    for name in ["sandbox-expired", "sandbox-suspended", "sandbox-fine-box"] {
        assert_eq!(story(name).lines.len(), 0, "{name}");
        assert_eq!(story(name).advice(), Vec::<&str>::new(), "{name}");
    }
    tells(
        "sandbox-expired",
        "sandbox/notebook",
        ("complete", &["expired"], &[]),
        "Sandbox agents-a/notebook is over: its time was over at 2026-11-30T19:33:40Z (spec.shutdownTime): its pod is gone; it has no \
         volume that outlives its pod: what it held is lost.",
    );
    tells(
        "sandbox-suspended",
        "sandbox/research",
        ("suspended", &["suspended"], &[]),
        "Sandbox agents-b/research is suspended: it has no pod until it is resumed; it has no volume that outlives its pod: what it \
         held is lost.",
    );
}

/// A claim repeats its Sandbox's reason, which does not tell why; the Sandbox's pod does.
#[test]
fn a_claim_and_a_pool_tell_why_their_sandboxes_are_not_ready() {
    let said = "exit 1 (sandbox), restarts: 3, CrashLoopBackOff \"PermissionError: [Errno 13] Permission denied: \"/workspace\"\"";
    tells(
        "sandboxclaim-failed",
        "sandboxclaim/session-84",
        ("degraded", &["unavailable"], &[]),
        &format!(
            "SandboxClaim agents-g/session-84 is degraded: it has sandbox/py-c6gw7, which is not ready: pod py-c6gw7: {said}."
        ),
    );
    tells(
        "sandboxclaim-failed",
        "sandboxwarmpool/py",
        ("stuck", &["unavailable"], &[]),
        &format!(
            "SandboxWarmPool agents-g/py is stuck: 0 of 1 Sandbox is ready; its sandbox/py-ddlv2 is not ready: pod py-ddlv2: {said}."
        ),
    );
    // Each pod is told once, under its Sandbox.
    let story = story("sandboxclaim-failed");
    let failures = [("restarting", "sandbox/py-c6gw7", "Error", 1), ("restarting", "sandbox/py-ddlv2", "Error", 1)];
    assert_eq!(story.failures(), failures);
}

/// A template that is not there: the pool says nothing, a claim on it does.
#[test]
fn what_a_claim_refers_to_and_is_not_there_is_named() {
    let no_template = story("sandboxclaim-no-template");
    assert_eq!(no_template.failures(), [("workloadLevel", "sandboxclaim/session-81", "TemplateNotFound", 1)]);
    let commands = &no_template.suggestion("fixConfig")["commands"];
    assert_eq!(commands, &json!(["kubectl get sandboxtemplates.extensions.agents.x-k8s.io -n agents-d"]));
    tells(
        "sandboxclaim-no-template",
        "sandboxwarmpool/python-pool",
        ("stuck", &["referenceMissing"], &[]),
        "SandboxWarmPool agents-d/python-pool is stuck: 0 of 2 Sandboxes are ready; none of its Sandboxes is made: its template \
         python-3-14 is not there, as sandboxclaim/session-81 was told.",
    );
    tells(
        "sandboxclaim-no-warmpool",
        "sandboxclaim/session-82",
        ("stuck", &["referenceMissing"], &["fixConfig"]),
        "SandboxClaim agents-e/session-82 is stuck: it has no Sandbox; it waits for what is not there: SandboxWarmPool \
         \"python-pool\" not found.",
    );
}

/// Without the claim nothing tells that the template is missing, and nothing of the kind is said.
#[test]
fn a_pool_that_has_made_nothing_yet_is_not_said_to_lack_its_template() {
    let items = items_of("sandboxclaim-no-template");
    let items: Vec<Value> = items.into_iter().filter(|item| item["kind"] != "SandboxClaim").collect();
    let told = explained_of_objects(&json!(items), "sandboxwarmpool/python-pool");
    assert_eq!(told["verdict"], "SandboxWarmPool agents-d/python-pool is not whole yet: 0 of 2 Sandboxes are ready.");
}

/// The pool's Event tells that it does not get on, the condition of a Sandbox why.
#[test]
fn a_pool_that_does_not_get_on_tells_why() {
    let story = story("sandboxwarmpool-stuck");
    assert_eq!(story.failures(), [("workloadLevel", "sandboxwarmpool/gpu-pool", "WarmPoolNotProgressing", 1)]);
    let told = explained("sandboxwarmpool-stuck", "sandboxwarmpool/gpu-pool");
    assert_eq!(outline(&told), ("stuck".into(), vec!["unavailable".into()], vec!["inspect".into()]));
    assert!(
        told["verdict"].as_str().unwrap().contains("(sandbox/gpu-pool-4zjcj: 0/11 nodes are available"),
        "{told:#}"
    );
    let claim = explained("sandboxwarmpool-stuck", "sandboxclaim/session-83");
    assert!(
        claim["verdict"]
            .as_str()
            .unwrap()
            .contains("is not whole yet: it has sandbox/session-83, which is not ready: 0/11")
    );
}
