//! The whole story of one workload or pod.

use serde_json::{Value, json};
use sigapps::analysis::FindError;

use crate::support::{explanation, fixture};

fn world(subject: &str) -> Value {
    explanation(&fixture("world.json.gz"), subject).unwrap()
}

const VERDICTS: &[(&str, &str)] = &[
    (
        "jobset/llama-70b",
        "JobSet ml-team/llama-70b failed 117s ago: rule userError (FailJobSet): container trainer exited 42 \"ValueError: bad config\" in pod llama-70b-slice-1-0-d2xfr on gpu-node-4. 2 restarts before; 1 of 2 counted restarts used, 1 more uncounted.",
    ),
    (
        "jobset/finetune",
        "JobSet ml-team/finetune failed 2m7s ago: maxRestarts 2 is reached, by the default action RestartJobSet: container workers exited 139 in pod finetune-workers-1-1-bzq9r on gpu-node-5. 2 restarts before; 2 of 2 counted restarts used.",
    ),
    (
        "jobset/no-policy",
        "JobSet ml-team/no-policy failed 2m26s ago: it has no failure policy, so that its first failed Job fails it: container a exited 2 in pod no-policy-a-1-0-gb8w7 on gpu-node-5.",
    ),
    (
        "jobset/stuck-restart",
        "JobSet ml-team/stuck-restart has been restarting for 2m22s: the restart waits for pod stuck-restart-w-1-1-9jxbs to end on node gpu-node-1 (ready), asked 2m22s ago, grace period 7200 s until 2026-11-30T11:12:09Z; no Job is made anew before all of them have ended (BlockingRecreate). 1 restart before; 1 of 5 counted restarts used.",
    ),
    (
        "jobset/restarting",
        "JobSet ml-team/restarting has been restarting for 2m22s, and pod restarting-w-0-0-k4dq4 cannot start on gpu-node-2: ImagePullBackOff (w) \"Back-off pulling image \"registry.example/w:1.4\"\"; attempt 1 is starting, by rule nodeDrain (RestartJobSetAndIgnoreMaxRestarts) after job/restarting-w-0; 1 of 2 Jobs ready, not ready: restarting-w-0 (pod restarting-w-0-0-k4dq4: ImagePullBackOff). 1 restart before; 0 of 3 counted restarts used, 1 more uncounted.",
    ),
    (
        "jobset/low-train",
        "JobSet queue-team/low-train has been suspended for 44s: Kueue preempted it for one of higher priority in its ClusterQueue: job/urgent, of priority class batch-high; its own class is batch-low; it waits: couldn't assign flavors to pod set w: insufficient unused quota for nvidia.com/gpu in flavor any, 8 more needed; this is no failure.",
    ),
    (
        "jobset/bert-patient",
        "JobSet queue-team/bert-patient of TrainJob bert-patient failed 2m12s ago: rule userError (FailJobSet): container node exited 42 in pod bert-patient-node-0-0-jdb78 on gpu-node-9. 1 restart before; 1 of 2 counted restarts used.",
    ),
    (
        "job/train-config-error",
        "Job ml-team/train-config-error failed 2m26s ago: FailJob rule 0 (exit 42 (trainer)), as container trainer exited 42 \"FATAL config: unknown optimizer \"adamww\" (line 17)\" in pod train-config-error-2-5px4r on gpu-node-0 (NOT READY for 81s); 3 pods were torn down with it.",
    ),
    (
        "job/with-sidecar",
        "Job data/with-sidecar is retried, after 5 failures: rule 0 (Ignore) matches the sidecar proxy's exit code 143, whatever app ends with (1, 7), so that rule 1 (FailJob) is never reached.",
    ),
    (
        "job/report",
        "Job data/report failed 2m25s ago: activeDeadlineSeconds ended it, no pod failed by itself; 1 pod was torn down with it.",
    ),
    (
        "job/slow-teardown",
        "Job ml-team/slow-teardown began to fail 2m28s ago and waits for pod slow-teardown-0-hr2jc on gpu-node-4, pod slow-teardown-2-qpkhz on gpu-node-9 to end: FailJob rule 0 (exit not 0), as container trainer exited 9 in pod slow-teardown-1-j7wj2 on gpu-node-1.",
    ),
    (
        "job/thumbnails",
        "Job data/thumbnails failed 2m21s ago: backoffLimit 2 is used up by OOMKilled (resize), first in pod thumbnails-fgnxs on gpu-node-1.",
    ),
    (
        "job/flaky-onfailure",
        "Job data/flaky-onfailure failed 2m24s ago: backoffLimit 3 is used up, and no pod is left that shows why: 2 failures are counted.",
    ),
    ("job/leader-wins", "Job ml-team/leader-wins completed 2m24s ago, in spite of 1 failure: exit 1 (w)."),
    (
        "job/bad-image",
        "Job data/bad-image is running, and pod bad-image-9j2g2 cannot start on gpu-node-3: ImagePullBackOff (app) \"Back-off pulling image \"registry.example/app:1.4\": ErrImagePull: not found\".",
    ),
    (
        "job/too-big",
        "Job ml-team/too-big is running, and pod too-big-w9ghn waits for a node for 2m37s \"0/12 nodes are available: 10 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint(s). preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling.\".",
    ),
    (
        "job/inplace",
        "Job ml-team/inplace is running, and containers fail in place, where no rule sees them: exit 88 (trainer), restarts: 2 in pod inplace-pfbgq on gpu-node-0 (NOT READY for 81s).",
    ),
    (
        "job/stuck-restart-w-1",
        "Job ml-team/stuck-restart-w-1 is being deleted for 2m22s, as jobset/stuck-restart restarts or has ended, and waits for pod stuck-restart-w-1-1-9jxbs on gpu-node-1 to end.",
    ),
    (
        "job/sweep",
        "Job ml-team/sweep failed 2m31s ago: MaxFailedIndexesExceeded, indexes 0-3: exit 3 (trial), first in pod sweep-0-f8t9l on gpu-node-1.",
    ),
    (
        "job/shard-eval",
        "Job ml-team/shard-eval failed 2m2s ago: FailedIndexes, indexes 2,5,6: exit 43 (eval) (2), exit 1 (eval) (2), first in pod shard-eval-2-2cwd9 on gpu-node-0 (NOT READY for 81s).",
    ),
    (
        "job/low-sweep",
        "Job queue-team/low-sweep was suspended 43s ago, which is no failure: Kueue preempted it for one of higher priority in its ClusterQueue: job/urgent, of priority class batch-high; its own class is batch-low; it waits: couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor any, 8 more needed.",
    ),
    (
        "job/gpu-probe",
        "Job ml-team/gpu-probe failed 2m21s ago: backoffLimit 1 is used up by UnexpectedAdmissionError \"Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 4, Available: 0, which is unexpected\", first in pod gpu-probe-wqksh on gpu-node-3.",
    ),
    (
        "job/gpu-xid",
        "Job ml-team/gpu-xid failed 2m24s ago: FailJob rule 0 (ecc.example.com/XidError), as pod gpu-xid-28n25 on gpu-node-10 had condition ecc.example.com/XidError \"GPU has fallen off the bus\"; 1 pod was torn down with it.",
    ),
    ("job/all-good", "Job data/all-good completed 2m23s ago."),
    (
        "cronjob/backup",
        "CronJob data/backup: all 3 finished runs in the data failed: exit 28 (pg-dump) \"pg_dump: No space left on device\"; it keeps 3 failed, older ones are deleted; no run has succeeded yet; it runs again by its schedule * * * * *.",
    ),
    (
        "pod/with-sidecar-c8282",
        "Pod data/with-sidecar-c8282 failed 2m36s ago: container proxy (a sidecar) exited 143, app had exited 1, in pod with-sidecar-c8282 on gpu-node-2; Ignore rule 0 (exit 143) of job/with-sidecar matched it.",
    ),
    (
        "pod/thumbnails-fgnxs",
        "Pod data/thumbnails-fgnxs failed 2m37s ago: container resize was OOM-killed in pod thumbnails-fgnxs on gpu-node-1; job/thumbnails has no podFailurePolicy, so that it counts towards backoffLimit.",
    ),
    (
        "pod/slow-teardown-0-hr2jc",
        "Pod ml-team/slow-teardown-0-hr2jc is being deleted for 2m28s and has not ended yet on gpu-node-4, with time until 2026-11-30T10:12:03Z: the Job was already failing; it is not to blame.",
    ),
    (
        "pod/shard-eval-3-txsnn",
        "Pod ml-team/shard-eval-3-txsnn succeeded on gpu-node-3; rules judge only pods that failed.",
    ),
    (
        "pod/evicted-box",
        "Pod agents/evicted-box failed 2m33s ago: pod evicted-box on gpu-node-8 was disrupted (Evicted) \"The node was low on resource: memory. Threshold quantity: 100Mi, available: 52Mi.\"; it belongs to Sandbox evicted-box.",
    ),
];

#[test]
fn the_verdict_is_the_sentence_a_person_would_say() {
    for (subject, verdict) in VERDICTS {
        assert_eq!(world(subject)["verdict"], *verdict);
    }
}

#[test]
fn a_job_of_a_jobset_tells_what_it_led_to() {
    let job = world("job/llama-70b-slice-1");
    let verdict = job["verdict"].as_str().unwrap();
    assert!(verdict.ends_with("; jobset/llama-70b then applied rule userError (FailJobSet)."), "{verdict}");
    assert_eq!(job["jobSet"], Value::Null, "the attempts are the JobSet's story");
}

#[test]
fn the_policies_say_how_often_each_rule_matched_and_which_never_did() {
    let matched = |subject: &str| -> Vec<String> {
        let explanation = world(subject);
        let policies = explanation["policies"].as_array().unwrap().clone();
        let of = |policy: &Value| {
            let rules = policy["rules"].as_array().unwrap().iter();
            let rules: Vec<String> = rules.map(|rule| format!("{} {}", rule["label"], rule["matched"])).collect();
            format!(
                "{}: {}, default {}, unknown {}",
                policy["kind"],
                rules.join(", "),
                policy["defaultMatched"],
                policy["unknown"]
            )
        };
        policies.iter().map(|policy| of(policy).replace('"', "")).collect()
    };
    assert_eq!(matched("job/shard-eval"), ["podFailurePolicy: exit 43 2, exit 75 2, default 2, unknown 0"]);
    assert_eq!(matched("job/with-sidecar"), ["podFailurePolicy: exit 143 5, exit 7 0, default 0, unknown 0"]);
    assert_eq!(
        matched("jobset/llama-70b"),
        [
            "failurePolicy: userError 1, hostMaintenance 1, default 1, unknown 0",
            "podFailurePolicy: DisruptionTarget 1, exit 42 (trainer) 1, default 0, unknown 1",
        ]
    );
}

#[test]
fn a_pod_is_judged_rule_by_rule() {
    let pod = world("pod/with-sidecar-c8282");
    let whys: Vec<&str> =
        pod["judged"][0]["rules"].as_array().unwrap().iter().map(|rule| rule["why"].as_str().unwrap()).collect();
    assert_eq!(
        whys,
        ["rule 0 matched: container proxy ended with exit code 143", "rule 1 not reached: rule 0 matched before it"]
    );
}

#[test]
fn a_jobsets_decisions_are_judged_rule_by_rule() {
    let explanation = world("jobset/llama-70b");
    let judged = explanation["judged"].as_array().unwrap();
    let decisions: Vec<&Value> = judged.iter().filter(|judged| judged["policy"] == "failurePolicy").collect();
    let matched: Vec<&Value> = decisions.iter().map(|judged| &judged["matched"]).collect();
    assert_eq!(matched, [&Value::Null, &json!(1), &json!(0)]);
    assert_eq!(
        decisions[0]["rules"][0]["why"],
        "rule 0 not matched: the Job's reason BackoffLimitExceeded is not in [PodFailurePolicy]"
    );
    assert_eq!(decisions[1]["rules"][0]["why"], "rule 0 not matched: the Job's message matches none of [exit code 42]");
}

#[test]
fn runs_of_a_cronjob_stand_side_by_side() {
    let cron_job = world("cronjob/backup");
    let runs = cron_job["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    for run in runs {
        assert_eq!(
            (&run["state"], &run["rule"], &run["action"]),
            (&json!("failed"), &json!("exit 28"), &json!("FailJob"))
        );
        assert!(run["cause"].as_str().unwrap().contains("No space left on device"), "{run}");
    }
    assert!(runs[0]["createdAt"].as_str() > runs[1]["createdAt"].as_str(), "the latest first");
}

#[test]
fn the_timeline_is_in_order_and_names_first_what_failed_first() {
    for subject in ["jobset/llama-70b", "job/train-config-error", "job/shard-eval", "job/race", "job/etl-nightly"] {
        let explanation = world(subject);
        let entries = explanation["timeline"].as_array().unwrap();
        let seconds = |entry: &Value| entry["at"].as_str().map(|at| at[..19].to_owned());
        let times: Vec<String> = entries.iter().filter_map(seconds).collect();
        assert!(times.is_sorted(), "{subject}: {times:?}");
        let first = entries.iter().find(|entry| entry["kind"] == "firstFailure" || entry["kind"] == "failure").unwrap();
        assert_eq!(first["kind"], "firstFailure", "{subject}");
        assert!(first["text"].as_str().unwrap().contains(" on gpu-node-"), "{first}");
    }
    let train = world("job/train-config-error");
    let collateral: Vec<&Value> =
        train["timeline"].as_array().unwrap().iter().filter(|entry| entry["kind"] == "collateral").collect();
    assert_eq!((collateral.len(), &collateral[0]["count"]), (1, &json!(3)), "folded");
}

#[test]
fn every_fact_names_its_object_and_field() {
    let explanation = world("jobset/llama-70b");
    let facts: Vec<String> = explanation["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fact| format!("{} {} {}", fact["object"], fact["path"], fact["value"]).replace('"', ""))
        .collect();
    for fact in [
        "jobset/ml-team/llama-70b status.restarts 2",
        "jobset/ml-team/llama-70b status.conditions[type=Failed].reason FailJobSetFailurePolicyAction",
        "job/ml-team/llama-70b-slice-1 Event.message (involvedObject.uid d6352d75-49fc-4102-91f0-d013cc5e2ee6) PodFailurePolicy: Pod ml-team/llama-70b-slice-1-1-n5dmp has condition DisruptionTarget matching FailJob rule at index 0",
    ] {
        assert!(facts.contains(&fact.to_owned()), "{fact} is missing in {facts:#?}");
    }
}

#[test]
fn advice_is_for_the_subject_alone_and_does_not_lead_back_to_it() {
    let explanation = world("jobset/llama-70b");
    let commands = explanation["suggestions"].to_string();
    assert!(commands.contains("kubectl logs -n ml-team llama-70b-slice-1-0-d2xfr -c trainer"), "{commands}");
    assert!(!commands.contains("sigapps explain"), "{commands}");
    assert!(!commands.contains("finetune"));
}

#[test]
fn what_is_not_there_is_an_error_with_the_nearest_names() {
    let error = |subject: &str| explanation(&fixture("world.json.gz"), subject).unwrap_err().to_string();
    assert_eq!(error("jobset/lama-70b"), "jobset/lama-70b is not in the data; did you mean jobset/llama-70b?");
    assert_eq!(
        error("job/backup"),
        "job/backup is not in the data; did you mean job/backup-29933832, job/backup-29933833, job/backup-29933834?"
    );
    assert_eq!(error("nothing-like-it-at-all"), "nothing-like-it-at-all is not in the data");
}

#[test]
fn a_name_of_several_things_lists_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.json");
    let object = |kind: &str, namespace: &str| {
        let version = if kind == "CronJob" || kind == "Job" { "batch/v1" } else { "v1" };
        json!({"apiVersion": version, "kind": kind, "metadata": {"name": "etl", "namespace": namespace, "uid": format!("{kind}-{namespace}")}})
    };
    let items = json!([object("Job", "a"), object("Job", "b"), object("CronJob", "a")]);
    std::fs::write(&path, json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()).unwrap();
    let FindError::Ambiguous { found, .. } = explanation(&path, "etl").unwrap_err() else { panic!("one of several") };
    assert_eq!(found, ["job/etl -n a", "job/etl -n b", "cronjob/etl -n a"]);
    assert!(explanation(&path, "cronjob/etl").is_ok());
}

/// What `explain` makes of objects written down in a test.
fn explained(objects: &Value, subject: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("objects.json");
    std::fs::write(&path, json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()).unwrap();
    explanation(&path, subject).unwrap()
}

/// One that was deleted and made again: the later one is meant, with all that is told of it.
#[test]
fn of_two_of_one_name_the_story_is_that_of_the_one_meant() {
    let job_set = |uid: &str, created: &str, restarts: u32| {
        json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
            "metadata": {"name": "js", "namespace": "ns", "uid": uid, "creationTimestamp": created},
            "status": {"restarts": restarts}})
    };
    let job = |uid: &str, of: &str, created: &str| {
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": format!("js-a-{of}"), "namespace": "ns", "uid": uid,
            "creationTimestamp": created,
            "ownerReferences": [{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "js", "uid": of, "controller": true}]}})
    };
    // By uid the old one comes last.
    let objects = json!([
        job_set("z9", "2026-11-30T08:00:00Z", 4),
        job_set("a1", "2026-11-30T10:00:00Z", 1),
        job("old", "z9", "2026-11-30T08:00:00Z"),
        job("new", "a1", "2026-11-30T10:00:00Z"),
    ]);
    let told = explained(&objects, "jobset/js");
    assert_eq!((&told["subject"]["uid"], &told["jobSet"]["restarts"]), (&json!("a1"), &json!(1)));
    assert!(told["verdict"].as_str().unwrap().contains("1 restart before"), "{}", told["verdict"]);
}

/// No rule judges them, and a person asks all the same.
#[test]
fn a_failed_pod_of_no_job_is_told_with_its_end() {
    let pod = |name: &str, owner: Value| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ns", "uid": name, "ownerReferences": owner},
            "spec": {"nodeName": "node-1"}, "status": {"phase": "Failed", "containerStatuses": [{"name": "main",
                "state": {"terminated": {"exitCode": 7, "reason": "Error", "finishedAt": "2026-11-30T09:05:00Z"}}}]}})
    };
    let set = json!([{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "s", "controller": true}]);
    let objects = json!([pod("bare", json!([])), pod("web-0", set)]);
    for (name, belongs) in [("pod/bare", "it belongs to no Job"), ("pod/web-0", "it belongs to StatefulSet web")] {
        let told = explained(&objects, name);
        let verdict = told["verdict"].as_str().unwrap();
        assert!(verdict.contains("container main exited 7") && verdict.contains(belongs), "{verdict}");
        let end = told["timeline"].as_array().unwrap().iter().find(|entry| entry["kind"] == "firstFailure").unwrap();
        let text = format!("{name} on node-1: exit 7 (main)").replace('/', " ");
        assert_eq!((&end["at"], &end["text"]), (&json!("2026-11-30T09:05:00Z"), &json!(text)));
        let exit = "status.containerStatuses[name=main].state.terminated.exitCode";
        let evidence = told["evidence"].as_array().unwrap();
        assert!(evidence.iter().any(|fact| fact["path"] == exit && fact["value"] == "7"), "{evidence:?}");
    }
}

#[test]
fn a_cronjob_without_runs_shows_the_policy_of_its_template() {
    let objects = json!([{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "cj", "namespace": "ns", "uid": "c"},
        "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"podFailurePolicy": {"rules": [
            {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]}}}}, "status": {}}]);
    let told = explained(&objects, "cronjob/cj");
    assert_eq!(told["policies"][0]["rules"][0]["label"], "exit 42");
    let verdict = told["verdict"].as_str().unwrap();
    assert!(verdict.ends_with("no run of it is in the data; it has not been scheduled yet."), "{verdict}");
}

/// A Job with a policy, and its pods, each with an exit code and a message.
fn with_pods(job: &str, job_set: Option<&str>, pods: &[(i32, String)]) -> Vec<Value> {
    let owners = |kind: &str, version: &str, name: &str| json!([{"apiVersion": version, "kind": kind, "name": name, "uid": name, "controller": true}]);
    let at = "2026-11-30T09:05:30Z";
    let condition = json!({"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "m", "lastTransitionTime": at});
    let mut objects = vec![json!({"apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": job, "namespace": "ns", "uid": job, "creationTimestamp": "2026-11-30T09:00:00Z",
            "labels": {"jobset.sigs.k8s.io/restart-attempt": "0"},
            "ownerReferences": job_set.map(|name| owners("JobSet", "jobset.x-k8s.io/v1alpha2", name))},
        "spec": {"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [99]}}]}},
        "status": {"failed": pods.len(), "conditions": [condition]}})];
    objects.extend(pods.iter().enumerate().map(|(number, (code, message))| {
        let name = format!("{job}-{number:02}");
        json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "ns", "uid": name, "ownerReferences": owners("Job", "batch/v1", job)},
            "status": {"phase": "Failed", "containerStatuses": [{"name": "main", "state": {"terminated":
                {"exitCode": code, "finishedAt": format!("2026-11-30T09:05:{number:02}Z"), "message": message}}}]}})
    }));
    objects
}

/// Exit codes among the evidence, by pod.
fn exit_codes(told: &Value) -> Vec<(String, String)> {
    let is_code = |fact: &&Value| fact["path"].as_str().unwrap().ends_with(".terminated.exitCode");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let facts = told["evidence"].as_array().unwrap().iter().filter(is_code);
    facts.map(|fact| (text(&fact["object"]), text(&fact["value"]))).collect()
}

#[test]
fn no_cause_is_left_out_of_the_evidence_and_of_what_is_judged() {
    let pods: Vec<(i32, String)> = (1..=20).map(|code| (code, "m".to_owned())).collect();
    let told = explained(&json!(with_pods("train", None, &pods)), "job/train");
    assert_eq!(exit_codes(&told).len(), 20);
    assert_eq!(told["judged"].as_array().unwrap().len(), 20);
}

/// There may be a hundred thousand: what differs only by what was said, or by the pod, stands there once.
#[test]
fn failures_that_are_alike_are_told_by_the_first_of_them() {
    let pods: Vec<(i32, String)> = (0..20).map(|step| (7, format!("failed at step {step}"))).collect();
    let told = explained(&json!(with_pods("train", None, &pods)), "job/train");
    assert_eq!(exit_codes(&told), [("pod/ns/train-00".to_owned(), "7".to_owned())]);
    assert_eq!(told["judged"].as_array().unwrap().len(), 1);
}

#[test]
fn the_exit_code_of_a_jobsets_pod_is_evidence_however_many_jobs_fail() {
    let mut objects = vec![json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": "js", "namespace": "ns", "uid": "js", "creationTimestamp": "2026-11-30T08:59:59Z"},
        "spec": {"replicatedJobs": [{"name": "w", "replicas": 9, "template": {"spec": {}}}]},
        "status": {"terminalState": "Failed", "conditions": [{"type": "Failed", "status": "True", "reason": "FailedJobs",
            "message": "jobset failed due to one or more job failures (first failed job: js-w-0)", "lastTransitionTime": "2026-11-30T09:06:00Z"}]}})];
    for number in 0..9 {
        objects.extend(with_pods(&format!("js-w-{number}"), Some("js"), &[(40 + number, "m".to_owned())]));
    }
    let told = explained(&json!(objects), "jobset/js");
    assert_eq!(exit_codes(&told).len(), 9, "{:#}", told["evidence"]);
    let of_jobs = told["evidence"].as_array().unwrap().iter().filter(|fact| fact["path"] == "status.failed");
    assert_eq!(of_jobs.count(), 9);
}

#[test]
fn under_on_failure_the_restarts_that_are_left_are_told() {
    let told = |restarts: u32, limit: u32| {
        let objects = json!([
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "ns", "uid": "j"},
                "spec": {"backoffLimit": limit, "template": {"spec": {"restartPolicy": "OnFailure"}}}, "status": {"active": 1}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "uid": "p",
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j", "controller": true}]},
                "status": {"phase": "Running", "containerStatuses": [{"name": "c", "restartCount": restarts,
                    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                    "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2026-11-30T09:00:00Z"}}}]}}
        ]);
        explained(&objects, "job/j")["verdict"].as_str().unwrap().to_owned()
    };
    assert!(told(2, 6).ends_with("; restarts that backoffLimit 6 still allows: 3."), "{}", told(2, 6));
    assert!(!told(6, 6).contains("still allows"), "{}", told(6, 6));
}
