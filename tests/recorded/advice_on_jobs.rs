//! What to do next about Jobs and `CronJob`s: for each cause its own advice, never another start where that would not help.

use serde_json::{Value, json};

use crate::made_up::{failed_pod, job};
use crate::support::{Story, View, story_of_objects};

const FAILED: &str = "2026-11-30T09:02:00Z";

/// A Job that has failed for good.
fn dead_job(spec: Value) -> Value {
    let conditions = json!([
        {"type": "FailureTarget", "status": "True", "reason": "BackoffLimitExceeded", "message": "m", "lastTransitionTime": FAILED},
        {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "m", "lastTransitionTime": FAILED},
    ]);
    job("train", spec, json!({"failed": 1, "conditions": conditions}))
}

fn live_job(spec: Value) -> Value {
    job("train", spec, json!({"active": 1, "failed": 1}))
}

/// A pod of that Job, changed.
fn pod(name: &str, exit_code: i32, change: impl FnOnce(&mut Value)) -> Value {
    let mut pod = failed_pod(name, "train", exit_code);
    change(&mut pod);
    pod
}

fn disrupt(pod: &mut Value) {
    let condition = json!({"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"});
    pod["status"]["conditions"] = json!([condition]);
}

fn end(pod: &mut Value) -> &mut Value {
    &mut pod["status"]["containerStatuses"][0]["state"]["terminated"]
}

fn evict(pod: &mut Value, message: &str) {
    pod["status"]["reason"] = "Evicted".into();
    pod["status"]["message"] = message.into();
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

#[test]
fn a_disruption_that_is_ignored_needs_no_hand() {
    let rules = json!([{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]);
    let spec = json!({"podFailurePolicy": {"rules": rules}});
    let story = story([job("train", spec, json!({"active": 1})), pod("p", 143, disrupt)]);
    assert_eq!(kinds(&story), ["wait"]);
}

/// The policy of a Job, and what is to be done about a disruption that counted: in words, and as JSON patch.
#[test]
fn a_disruption_that_counted_gets_the_exact_rule_and_its_place() {
    let rule = json!({"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]});
    let broad = json!({"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [42]}});
    let other = json!({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}});
    for (policy, words, operations) in [
        (
            Value::Null,
            "there is no podFailurePolicy: add one with the rule",
            json!([
                {"op": "add", "path": "/spec/podFailurePolicy", "value": {"rules": [&rule]}},
                {"op": "add", "path": "/spec/podReplacementPolicy", "value": "Failed"},
            ]),
        ),
        (
            json!({"rules": [other]}),
            "no rule asks for DisruptionTarget: add as rule 0",
            json!([{"op": "add", "path": "/spec/podFailurePolicy/rules/0", "value": &rule}]),
        ),
        (
            json!({"rules": [other, broad, rule]}),
            "move rule 2 before rule 1",
            json!([{"op": "move", "from": "/spec/podFailurePolicy/rules/2", "path": "/spec/podFailurePolicy/rules/1"}]),
        ),
        (
            json!({"rules": [other, broad]}),
            "add as rule 1",
            json!([{"op": "add", "path": "/spec/podFailurePolicy/rules/1", "value": &rule}]),
        ),
    ] {
        let spec = json!({"podFailurePolicy": policy, "backoffLimit": 0});
        let story = story([dead_job(spec.clone()), pod("p", 143, disrupt)]);
        assert!(why(&story, "editPolicy").contains(words), "{policy}: {}", why(&story, "editPolicy"));
        let expected = format!("kubectl sigapps restart job/train -n ns '--patch={operations}'");
        assert_eq!(commands(&story, "editPolicy"), [expected]);
        assert_eq!(story.suggestion("editPolicy")["safety"], "destructive");
        assert!(story.suggestion("editPolicy")["loses"].as_str().unwrap().contains("logs"));
        // As long as it runs nothing can be changed, and nothing is to be started.
        let story = self::story([live_job(json!({"podFailurePolicy": policy})), pod("p", 143, disrupt)]);
        assert!(!kinds(&story).contains(&"restart"), "{policy}: {:?}", kinds(&story));
        assert_eq!(story.suggestion("editPolicy")["safety"], "readOnly", "{policy}");
    }
}

#[test]
fn a_rule_that_counts_disruptions_on_purpose_is_left_alone() {
    let rules = json!([{"action": "Count", "onPodConditions": [{"type": "DisruptionTarget"}]}]);
    let story = story([live_job(json!({"podFailurePolicy": {"rules": rules}})), pod("p", 143, disrupt)]);
    assert_eq!(kinds(&story), ["wait"]);
}

#[test]
fn a_disruption_that_ended_the_job_is_worth_another_start() {
    let story = story([dead_job(json!({"backoffLimit": 0})), pod("p", 143, disrupt)]);
    assert_eq!(kinds(&story), ["editPolicy", "restart"]);
    assert_eq!(commands(&story, "restart"), ["kubectl sigapps restart job/train -n ns"]);
    assert!(why(&story, "restart").contains("begins anew"));
}

/// Templates, and what is said of starting again.
#[test]
fn where_it_saves_decides_what_another_start_begins_with() {
    let megatron = |volume: Value, load: &[&str]| {
        let args: Vec<&str> = ["pretrain_gpt.py", "--save", "/ckpt/run"].iter().chain(load).copied().collect();
        json!({"backoffLimit": 0, "template": {"spec": {
            "containers": [{"name": "main", "command": ["python3"], "args": args, "volumeMounts": [{"name": "v", "mountPath": "/ckpt"}]}],
            "volumes": [volume],
        }}})
    };
    let claim = json!({"name": "v", "persistentVolumeClaim": {"claimName": "run"}});
    let empty = json!({"name": "v", "emptyDir": {}});
    for (spec, kind, words) in [
        (
            megatron(claim.clone(), &["--load", "/ckpt/run"]),
            "resumeFromCheckpoint",
            "configured to save to /ckpt/run, and to resume",
        ),
        (megatron(claim, &[]), "resumeFromCheckpoint", "and not to resume"),
        (megatron(empty, &["--load", "/ckpt/run"]), "restart", "does not outlive its pods"),
    ] {
        let story = story([dead_job(spec.clone()), pod("p", 143, disrupt)]);
        assert!(why(&story, kind).contains(words), "{spec}: {}", why(&story, kind));
        assert!(!story.report["suggestions"].to_string().contains("checkpoint exists"));
    }
}

#[test]
fn what_ends_alike_again_and_again_is_never_started_again() {
    let said = |name: &str, index: u32, exit_code: i32, message: &str| {
        pod(name, exit_code, |pod| {
            pod["metadata"]["annotations"] = json!({"batch.kubernetes.io/job-completion-index": index.to_string()});
            end(pod)["message"] = message.into();
        })
    };
    let indexed = || json!({"completionMode": "Indexed", "parallelism": 4, "completions": 4, "backoffLimit": 3});
    let alike = story([dead_job(indexed()), said("a", 1, 1, "no such file"), said("b", 1, 1, "no such file")]);
    assert_eq!(kinds(&alike), ["fixThenRestart"]);
    assert!(why(&alike, "fixThenRestart").contains("2 pods of index 1 ended alike: main exited 1 (no such file)"));
    // With retries left, too: they will end so as well.
    let live = story([live_job(indexed()), said("a", 1, 1, "no such file"), said("b", 1, 1, "no such file")]);
    assert!(why(&live, "fixThenRestart").contains("retries left"), "{}", why(&live, "fixThenRestart"));
    for (name, pods) in [
        ("other indexes", vec![said("a", 1, 1, "x"), said("b", 2, 1, "x")]),
        ("other messages", vec![said("a", 1, 1, "x"), said("b", 1, 1, "y")]),
        ("other exit codes", vec![said("a", 1, 1, "x"), said("b", 1, 2, "x")]),
        ("killed from outside", vec![said("a", 1, 137, "x"), said("b", 1, 137, "x")]),
        ("twice without a word", vec![said("a", 1, 1, ""), said("b", 1, 1, "")]),
    ] {
        let story = story(std::iter::once(dead_job(indexed())).chain(pods));
        assert!(!kinds(&story).contains(&"fixThenRestart"), "{name}: {:?}", kinds(&story));
    }
    let silent = story([dead_job(indexed()), said("a", 1, 1, ""), said("b", 1, 1, ""), said("c", 1, 1, "")]);
    assert_eq!(kinds(&silent), ["fixThenRestart"]);
}

type Change = Box<dyn Fn(&mut Value)>;

/// How a pod ended, and the kind of advice with words of it.
#[test]
fn each_way_to_end_has_its_own_advice() {
    let pressure = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 51Mi. Container main was using \
                    2100Mi, request is 1Gi, has larger consumption of memory. ";
    let own_limit = "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ";
    let reason = |reason: &'static str| -> Change { Box::new(move |pod| end(pod)["reason"] = reason.into()) };
    let evicted = |message: &'static str| -> Change { Box::new(move |pod| evict(pod, message)) };
    for (exit_code, change, kind, words) in [
        (137, reason("OOMKilled"), "raiseMemory", "without a memory limit of its own"),
        (137, reason("ContainerStatusUnknown"), "inspect", "an end that nobody saw"),
        (137, reason("Error"), "inspect", "no podFailurePolicy tells"),
        (128, reason("StartError"), "fixConfig", "main could not be run (StartError)"),
        (127, reason("Error"), "fixConfig", "a command is not found"),
        (135, reason("Error"), "fixConfig", "/dev/shm"),
        (137, evicted(pressure), "raiseMemory", "main was using 2100Mi, request is 1Gi"),
        (137, evicted(own_limit), "fixConfig", "exceeds the total limit of containers 1Gi"),
        (137, evicted("The node was low on resource: ephemeral-storage. "), "fixConfig", "ephemeral-storage"),
        (137, evicted("The node had condition: [PIDPressure]. "), "freeCapacity", "PIDPressure"),
    ] {
        let story = story([dead_job(json!({"backoffLimit": 0})), pod("p", exit_code, &change)]);
        assert!(why(&story, kind).contains(words), "{exit_code}: {}", why(&story, kind));
        assert!(!kinds(&story).contains(&"restart"), "{exit_code} {words}: {:?}", kinds(&story));
    }
}

#[test]
fn more_memory_is_given_where_it_can_be() {
    let killed = |pod: &mut Value| {
        end(pod)["reason"] = "OOMKilled".into();
        pod["spec"]["containers"][0]["resources"] = json!({"limits": {"memory": "2Gi"}, "requests": {"memory": "1Gi"}});
    };
    let patch = |outer: &str| {
        let container = r#"[{"name":"main","resources":{"limits":{"memory":"4Gi"}}}]"#;
        outer.replace('@', &format!(r#"{{"spec":{{"template":{{"spec":{{"containers":{container}}}}}}}}}"#))
    };
    let dead = story([dead_job(json!({})), pod("p", 137, killed)]);
    assert_eq!(commands(&dead, "raiseMemory")[1], patch("kubectl sigapps restart job/train -n ns '--patch=@'"),);
    assert!(why(&dead, "raiseMemory").contains("at its memory limit 2Gi (request 1Gi)"));
    let suspended = story([live_job(json!({"suspend": true})), pod("p", 137, killed)]);
    assert_eq!(commands(&suspended, "raiseMemory")[1], patch("kubectl patch job train -n ns '--patch=@'"));
    let mut run = dead_job(json!({}));
    run["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "controller": true}]);
    let of_cron_job = story([run, pod("p", 137, killed)]);
    let expected = patch("kubectl patch cronjob nightly -n ns '--patch={\"spec\":{\"jobTemplate\":@}}'");
    assert_eq!(commands(&of_cron_job, "raiseMemory")[1], expected);
    let live = story([live_job(json!({})), pod("p", 137, killed)]);
    assert!(why(&live, "raiseMemory").contains("retries left"), "{}", why(&live, "raiseMemory"));
    assert_eq!(live.suggestion("raiseMemory")["safety"], "readOnly");
}

/// A Job made by hand counts in the CronJob's history.
#[test]
fn another_run_of_a_cronjob_may_push_out_the_one_that_is_looked_into() {
    let mut run = dead_job(json!({"backoffLimit": 0}));
    run["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "controller": true}]);
    let story = story([run, pod("p", 143, disrupt)]);
    assert_eq!(commands(&story, "restart"), ["kubectl sigapps restart cronjob/nightly -n ns"]);
    let suggestion = story.suggestion("restart");
    assert_eq!(suggestion["safety"], "destructive");
    assert!(suggestion["loses"].as_str().unwrap().contains("beyond failedJobsHistoryLimit"), "{suggestion}");
}

#[test]
fn what_another_controller_owns_is_changed_there() {
    let mut owned = dead_job(json!({"backoffLimit": 0}));
    let owner = json!([{"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "name": "wf", "controller": true}]);
    owned["metadata"]["ownerReferences"] = owner;
    let story = story([owned, pod("p", 143, disrupt)]);
    assert!(why(&story, "editPolicy").contains("change it in Workflow/wf, which makes the Job"));
    assert!(why(&story, "restart").contains("start it again through Workflow/wf"));
    assert_eq!(story.suggestion("restart")["safety"], "readOnly");
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

#[test]
fn checkpoints_are_missed_only_where_disruptions_cost_much() {
    let held = |gpus: u32| {
        move |pod: &mut Value| {
            disrupt(pod);
            pod["spec"]["containers"][0]["resources"] = json!({"limits": {"nvidia.com/gpu": gpus}});
            pod["status"]["startTime"] = "2026-11-30T09:00:00Z".into();
            end(pod)["finishedAt"] = "2026-11-30T10:00:00Z".into();
        }
    };
    let story_of = |gpus| story([dead_job(json!({"backoffLimit": 0})), pod("p", 143, held(gpus))]);
    let story = story_of(8);
    assert!(
        why(&story, "enableCheckpoint")
            .starts_with("8.0 GPU-h were lost to disruptions, and its template shows no sign")
    );
    assert!(!kinds(&story_of(0)).contains(&"enableCheckpoint"));
}

#[test]
fn pods_that_cannot_end_on_a_dead_node_need_a_hand() {
    let failing = json!([{"type": "FailureTarget", "status": "True", "reason": "BackoffLimitExceeded", "message": "m", "lastTransitionTime": "2026-11-30T09:01:30Z"}]);
    let ending = |pod: &mut Value| {
        pod["metadata"]["deletionTimestamp"] = "2026-11-30T09:02:00Z".into();
        pod["metadata"]["deletionGracePeriodSeconds"] = 30.into();
        pod["status"] = json!({"phase": "Running", "startTime": "2026-11-30T09:00:00Z"});
    };
    let node = |ready: &str| {
        let at = "2026-11-30T09:10:00Z";
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1", "uid": "n"}, "status": {"conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": at}]}})
    };
    let stuck = |ready: &str| {
        let job = job("train", json!({}), json!({"failed": 1, "conditions": failing.clone()}));
        story([job, pod("own", 1, |_| ()), pod("stuck", 0, ending), node(ready)])
    };
    let dead = stuck("Unknown");
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
    let ready = stuck("True");
    assert!(!kinds(&ready).contains(&"unblockTeardown"));
    assert!(ready.report["suggestions"].to_string().contains("see what holds them, a finalizer or a volume"));
}
