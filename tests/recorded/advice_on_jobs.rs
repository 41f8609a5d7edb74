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
pub(crate) fn pod(name: &str, exit_code: i32, change: impl FnOnce(&mut Value)) -> Value {
    let mut pod = failed_pod(name, "train", exit_code);
    change(&mut pod);
    pod
}

pub(crate) fn disrupt(pod: &mut Value) {
    let condition = json!({"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"});
    pod["status"]["conditions"] = json!([condition]);
}

pub(crate) fn end(pod: &mut Value) -> &mut Value {
    &mut pod["status"]["containerStatuses"][0]["state"]["terminated"]
}

fn evict(pod: &mut Value, message: &str) {
    pod["status"]["reason"] = "Evicted".into();
    pod["status"]["message"] = message.into();
}

pub(crate) fn story(objects: impl IntoIterator<Item = Value>) -> Story {
    story_of_objects(&Value::Array(objects.into_iter().collect()), &View::default())
}

pub(crate) fn kinds(story: &Story) -> Vec<&str> {
    story.advice()
}

pub(crate) fn why<'a>(story: &'a Story, kind: &str) -> &'a str {
    story.suggestion(kind)["why"].as_str().unwrap()
}

pub(crate) fn commands<'a>(story: &'a Story, kind: &str) -> Vec<&'a str> {
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

/// A rule for exit codes that takes a disrupted pod, how its container ended, and whether the disruption is the cause.
#[test]
fn what_a_disruption_left_is_not_taken_for_an_end_of_its_own() {
    let not_in = |values: &[i32]| json!({"operator": "NotIn", "values": values});
    let in_ = |values: &[i32]| json!({"operator": "In", "values": values});
    let (before, after) = ("2026-11-30T09:00:30Z", "2026-11-30T09:01:30Z");
    for (action, codes, exit_code, disrupted_at, is_cause) in [
        ("FailJob", not_in(&[0]), 143, before, true),
        ("FailIndex", not_in(&[0]), 143, before, true),
        ("Count", not_in(&[0]), 143, before, true),
        ("FailJob", not_in(&[42]), 1, before, true),
        ("FailJob", in_(&[137, 143]), 137, before, true),
        ("FailJob", in_(&[42]), 42, before, false),
        ("FailJob", not_in(&[0]), 1, after, false),
        ("FailJob", not_in(&[0]), 143, after, false),
    ] {
        let rules = json!([{"action": action, "onExitCodes": codes}]);
        let mut spec = json!({"podFailurePolicy": {"rules": rules}, "backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never"}}});
        if action == "FailIndex" {
            spec["completionMode"] = "Indexed".into();
            spec["completions"] = 1.into();
            spec["backoffLimitPerIndex"] = 1.into();
        }
        let ended = |pod: &mut Value| {
            disrupt(pod);
            pod["status"]["conditions"][0]["lastTransitionTime"] = disrupted_at.into();
            pod["metadata"]["annotations"] = json!({"batch.kubernetes.io/job-completion-index": "0"});
        };
        let story = story([dead_job(spec), pod("p", exit_code, ended)]);
        let advice = kinds(&story);
        assert_eq!(advice.contains(&"restart"), is_cause, "{action} {codes} {exit_code}: {advice:?}");
        assert!(!(is_cause && advice.contains(&"fixThenRestart")), "{action} {codes} {exit_code}: {advice:?}");
        assert!(advice.contains(&"editPolicy"), "{action} {codes} {exit_code}: {advice:?}");
    }
}

#[test]
fn a_policy_that_is_full_takes_no_other_rule() {
    let other = |n: usize| json!({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [n + 200]}});
    let custom = json!({"action": "Count", "onPodConditions": [{"type": "ConfigIssue"}]});
    let disruption = json!({"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]});
    let full: Vec<Value> = (0..20).map(other).collect();
    let behind = |last: &[Value]| -> Vec<Value> {
        full[..20 - last.len() - 1].iter().chain([&custom]).chain(last).cloned().collect()
    };
    for (rules, words, changes) in [
        (full.clone(), "there are 20 rules already", false),
        (full[1..].to_vec(), "add as rule 0", true),
        // A rule that is there already is only moved.
        (behind(&[disruption]), "move rule 19 before rule 18", true),
        (behind(&[]), "as rule 19 takes the pod by another condition", false),
    ] {
        let spec = json!({"podFailurePolicy": {"rules": rules}, "backoffLimit": 0});
        let with_condition = |pod: &mut Value| {
            disrupt(pod);
            let conditions = pod["status"]["conditions"].as_array_mut().unwrap();
            conditions.push(json!({"type": "ConfigIssue", "status": "True"}));
        };
        let story = story([dead_job(spec), pod("p", 143, with_condition)]);
        assert!(why(&story, "editPolicy").contains(words), "{}", why(&story, "editPolicy"));
        assert!(!why(&story, "editPolicy").contains("by its exit code"), "{}", why(&story, "editPolicy"));
        let found = commands(&story, "editPolicy").concat();
        assert_eq!(found.contains("--patch"), changes, "{words}: {found}");
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
    // Each of the two starts it again: the second one would find it running.
    assert!(why(&story, "restart").ends_with("not both"), "{}", why(&story, "restart"));
}

/// It asked for less than it used: to ignore that would let it come again without end.
#[test]
fn what_was_evicted_for_its_own_use_asks_for_more_and_not_for_a_rule() {
    let evicted = |message: &str| {
        let message = message.to_owned();
        story([
            dead_job(json!({"backoffLimit": 0})),
            pod("p", 137, move |pod| {
                disrupt(pod);
                pod["status"]["reason"] = "Evicted".into();
                pod["status"]["message"] = message.clone().into();
            }),
        ])
    };
    let low = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 51Mi. ";
    let own = evicted(&format!("{low}Container main was using 30Gi, request is 0, has larger consumption of memory. "));
    assert_eq!(kinds(&own), ["raiseMemory"]);
    assert_eq!(
        kinds(&evicted("Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ")),
        ["fixConfig"]
    );
    assert!(kinds(&evicted("The node had condition: [PIDPressure]. ")).contains(&"editPolicy"));
}

/// What is left out is said, and every workload is named.
#[test]
fn advice_for_many_workloads_names_them_all_and_says_how_many_commands_are_left_out() {
    let of = |number: usize| {
        let name = format!("train-{number}");
        let mut job = dead_job(json!({"backoffLimit": 0}));
        job["metadata"]["name"] = name.clone().into();
        job["metadata"]["uid"] = name.clone().into();
        let mut pod = pod(&format!("{name}-p"), 1, |_| ());
        pod["metadata"]["ownerReferences"][0]["name"] = name.clone().into();
        pod["metadata"]["ownerReferences"][0]["uid"] = name.into();
        [job, pod]
    };
    let story = story((0..5).flat_map(of));
    let inspect = story.suggestion("inspect");
    assert_eq!(inspect["workloads"].as_array().unwrap().len(), 5);
    assert_eq!(inspect["commands"].as_array().unwrap().len(), 3);
    assert_eq!(inspect["commandsLeftOut"], 2);
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
    assert!(why(&alike, "fixThenRestart").contains("unless that came from outside"));
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

/// A template with one container, `main`, and its memory.
fn template(resources: &Value) -> Value {
    json!({"spec": {"containers": [{"name": "main", "resources": resources}]}})
}

fn killed(resources: Value) -> impl Fn(&mut Value) {
    move |pod: &mut Value| {
        end(pod)["reason"] = "OOMKilled".into();
        pod["spec"]["containers"][0]["resources"] = resources.clone();
    }
}

#[test]
fn more_memory_is_given_where_it_can_be() {
    let memory = || json!({"limits": {"memory": "2Gi"}, "requests": {"memory": "1Gi"}});
    let spec = |suspend: bool| json!({"suspend": suspend, "template": template(&memory())});
    let patch = |outer: &str| {
        let container = r#"[{"name":"main","resources":{"limits":{"memory":"4Gi"}}}]"#;
        outer.replace('@', &format!(r#"{{"spec":{{"template":{{"spec":{{"containers":{container}}}}}}}}}"#))
    };
    let dead = story([dead_job(spec(false)), pod("p", 137, killed(memory()))]);
    assert_eq!(commands(&dead, "raiseMemory")[1], patch("kubectl sigapps restart job/train -n ns '--patch=@'"),);
    assert!(why(&dead, "raiseMemory").contains("at its memory limit 2Gi (request 1Gi)"));
    let live = story([live_job(spec(false)), pod("p", 137, killed(memory()))]);
    assert!(why(&live, "raiseMemory").contains("retries left"), "{}", why(&live, "raiseMemory"));
    assert_eq!(live.suggestion("raiseMemory")["safety"], "readOnly");
    let suspended = json!([{"type": "Suspended", "status": "True", "reason": "JobSuspended"}]);
    let started = "2026-11-30T09:00:00Z";
    for (status, takes_it) in [
        (json!({"failed": 1, "conditions": suspended}), true),
        (json!({"failed": 1}), true),
        (json!({"failed": 1, "startTime": started, "conditions": suspended}), true),
        (json!({"failed": 1, "startTime": started}), false),
        (json!({"failed": 1, "active": 1, "conditions": suspended}), false),
        (json!({"failed": 1, "active": 1}), false),
    ] {
        let story = story([job("train", spec(true), status.clone()), pod("p", 137, killed(memory()))]);
        let expected = patch("kubectl patch job train -n ns '--patch=@'");
        assert_eq!(commands(&story, "raiseMemory").contains(&&*expected), takes_it, "{status}");
        assert!(takes_it || why(&story, "raiseMemory").contains("once its pods have ended"), "{status}");
    }
}

/// Memory of a pod's container, of the pod, and of the template; the resources of the patch, and words.
#[test]
fn no_more_memory_is_asked_for_than_the_api_server_grants() {
    let both = |limit: &str, request: &str| json!({"limits": {"memory": limit}, "requests": {"memory": request}});
    let of_pod = json!({"limits": {"memory": "1536Mi"}});
    let none = || json!({});
    for (container, pod_level, template, patch, words) in [
        (
            both("751619276800m", "512Mi"),
            none(),
            both("0.7Gi", "512Mi"),
            Some(r#"{"limits":{"memory":"1503238554"}}"#),
            "doubles",
        ),
        (
            both("1Gi", "1024Mi"),
            none(),
            both("1Gi", "1024Mi"),
            Some(r#"{"limits":{"memory":"2Gi"},"requests":{"memory":"2048Mi"}}"#),
            "",
        ),
        (both("many", "1Gi"), none(), both("many", "1Gi"), None, "change it where it is made"),
        // What a webhook made of the pod may not be what the template would be taken with.
        (both("1Gi", "512Mi"), none(), both("16Gi", "8Gi"), None, "change it where it is made"),
        (none(), of_pod.clone(), none(), None, "at the memory limit 1536Mi of the pod (spec.resources)"),
        (both("1Gi", "1Gi"), of_pod, both("1Gi", "1Gi"), None, "or at that of the pod, 1536Mi"),
    ] {
        let spec = json!({"template": self::template(&template)});
        let with_pod_level = |pod: &mut Value| {
            killed(container.clone())(pod);
            pod["spec"]["resources"] = pod_level.clone();
        };
        let story = story([dead_job(spec), pod("p", 137, with_pod_level)]);
        let found = commands(&story, "raiseMemory").concat();
        assert_eq!(found.contains("--patch"), patch.is_some(), "{container}: {found}");
        assert!(patch.is_none_or(|patch| found.contains(patch)), "{container}: {found}");
        assert!(why(&story, "raiseMemory").contains(words), "{container}: {}", why(&story, "raiseMemory"));
        assert!(!why(&story, "raiseMemory").contains("the node had none left"), "{container}");
    }
}

#[test]
fn a_container_that_a_webhook_added_is_not_added_to_the_template() {
    let added = |pod: &mut Value| {
        killed(json!({"limits": {"memory": "128Mi"}}))(pod);
        pod["spec"]["containers"][0]["name"] = "istio-proxy".into();
        pod["status"]["containerStatuses"][0]["name"] = "istio-proxy".into();
    };
    let story = story([dead_job(json!({"template": template(&json!({}))})), pod("p", 137, added)]);
    assert_eq!(commands(&story, "raiseMemory"), ["kubectl describe pod p -n ns"]);
    assert!(why(&story, "raiseMemory").contains("its template has no such container"));
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

/// A Job, an index and `OnFailure` reckon alike: the retry that is about to begin is not among those left.
#[test]
fn retries_left_are_reckoned_alike_for_a_job_and_an_index() {
    let of_index = |before: &str| {
        let annotations = json!({"batch.kubernetes.io/job-completion-index": "0", "batch.kubernetes.io/job-index-failure-count": before});
        move |pod: &mut Value| pod["metadata"]["annotations"] = annotations
    };
    let wait = |spec: Value, failed: u32, pod: Value| {
        let job = job("train", spec, json!({"active": 1, "failed": failed}));
        let story = story([job, pod]);
        let wait = story.report["suggestions"].as_array().unwrap().iter().find(|s| s["kind"] == "wait").cloned();
        wait.map(|wait| wait["why"].as_str().unwrap().rsplit_once("retries left").unwrap().1.to_owned())
    };
    let indexed = |spec: Value| {
        let mut all = json!({"completionMode": "Indexed", "completions": 2, "parallelism": 2});
        all.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        all
    };
    let plain = || pod("p", 1, |_| ());
    for (spec, failed, pod, left) in [
        (json!({"backoffLimit": 1}), 1, plain(), Some(": 0 of 1")),
        (json!({"backoffLimit": 3}), 1, plain(), Some(": 2 of 3")),
        (json!({}), 1, plain(), Some(": 5 of 6")),
        (json!({"backoffLimit": 1}), 2, plain(), None),
        (indexed(json!({"backoffLimitPerIndex": 1})), 1, pod("p", 1, of_index("0")), Some(" for its index: 0 of 1")),
        (indexed(json!({"backoffLimitPerIndex": 3})), 1, pod("p", 1, of_index("0")), Some(" for its index: 2 of 3")),
        (indexed(json!({"backoffLimitPerIndex": 1})), 2, pod("p", 1, of_index("1")), None),
        // The Job as a whole has none left.
        (indexed(json!({"backoffLimitPerIndex": 3, "backoffLimit": 1})), 2, pod("p", 1, of_index("0")), None),
        (
            json!({"backoffLimit": 3, "template": {"spec": {"restartPolicy": "OnFailure"}}}),
            1,
            plain(),
            Some(": at most 2 of 3, as restarts of containers use them up, too"),
        ),
    ] {
        assert_eq!(wait(spec.clone(), failed, pod).as_deref(), left, "{spec}, failed {failed}");
    }
}
