//! The whole story of one workload or pod.

use serde_json::{Value, json};
use sigapps::analysis::FindError;

use crate::support::{explanation, fixture};

fn world(subject: &str) -> Value {
    explanation(&fixture("world.json.gz"), subject).unwrap()
}

#[test]
fn the_verdict_is_the_sentence_a_person_would_say() {
    for (subject, verdict) in [
        (
            "jobset/llama-70b",
            "JobSet ml-team/llama-70b failed 117s ago: rule userError (FailJobSet) after trainer exited 42 in Job slice-1 on gpu-node-4. 2 restarts before, 1 of 2 counted restarts used, 1 more uncounted.",
        ),
        (
            "jobset/finetune",
            "JobSet ml-team/finetune failed 2m7s ago: maxRestarts 2 is reached (the default (RestartJobSet)) after workers exited 139 in Job workers-1 on gpu-node-5. 2 restarts before, 2 of 2 counted restarts used.",
        ),
        (
            "jobset/no-policy",
            "JobSet ml-team/no-policy failed 2m26s ago: it has no failure policy, so that the first Job that fails, fails it after a exited 2 in Job a-1 on gpu-node-5.",
        ),
        (
            "job/train-config-error",
            "Job ml-team/train-config-error failed 2m26s ago: rule exit 42 (trainer) (FailJob) after trainer exited 42 in pod train-config-error-2-5px4r on gpu-node-0; 3 pods were torn down with it.",
        ),
        (
            "job/with-sidecar",
            "Job data/with-sidecar is running after 5 failures, ignored: exit 143 SIGTERM (proxy); 0 of 2 counted failures used.",
        ),
        (
            "cronjob/backup",
            "CronJob data/backup: 3 of the last 3 runs failed, exit 28 (pg-dump); no run has ever succeeded.",
        ),
        (
            "job/report",
            "Job data/report failed 2m25s ago: activeDeadlineSeconds ended it, no pod failed by itself; 1 pod was torn down with it.",
        ),
        (
            "job/slow-teardown",
            "Job ml-team/slow-teardown began to fail 2m28s ago and waits for slow-teardown-0-hr2jc, slow-teardown-2-qpkhz to end: rule exit not 0 (FailJob) after trainer exited 9 in pod slow-teardown-1-j7wj2 on gpu-node-1; 2 pods were torn down with it.",
        ),
        (
            "job/thumbnails",
            "Job data/thumbnails failed 2m21s ago: backoffLimit 2 is used up, by OOMKilled (resize), first pod thumbnails-fgnxs on gpu-node-1.",
        ),
        (
            "job/flaky-onfailure",
            "Job data/flaky-onfailure failed 2m24s ago: backoffLimit 3 is used up, and no pod is left that shows why (2 lost).",
        ),
        ("job/leader-wins", "Job ml-team/leader-wins completed 2m24s ago in spite of 1 failure (exit 1 (w))."),
        (
            "job/bad-image",
            "Job data/bad-image cannot get on: ImagePullBackOff (app) in pod bad-image-9j2g2: Back-off pulling image \"registry.example/app:1.4\": ErrImagePull: not found.",
        ),
        (
            "pod/with-sidecar-c8282",
            "Pod data/with-sidecar-c8282 failed 2m36s ago on node gpu-node-2: exit 143 SIGTERM (proxy); rule 0 exit 143 (Ignore) of job/with-sidecar matched it.",
        ),
        (
            "pod/thumbnails-fgnxs",
            "Pod data/thumbnails-fgnxs failed 2m37s ago on node gpu-node-1: OOMKilled (resize); job/thumbnails has no podFailurePolicy, it counts towards backoffLimit.",
        ),
        ("job/all-good", "Job data/all-good completed 2m23s ago."),
    ] {
        assert_eq!(world(subject)["verdict"], verdict);
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
        let times: Vec<&str> = entries.iter().filter_map(|entry| entry["at"].as_str()).collect();
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
        "job/ml-team/llama-70b-slice-1 Event (uid d6352d75-49fc-4102-91f0-d013cc5e2ee6) PodFailurePolicy: Pod ml-team/llama-70b-slice-1-1-n5dmp has condition DisruptionTarget matching FailJob rule at index 0",
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
