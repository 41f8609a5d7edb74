use crate::support::{classes, story, story_with_all};

/// One pod of four exits 42 under a FailJob rule; the controller deletes its three siblings and counts all four.
#[test]
fn train_config_error_is_one_failure_and_three_collateral() {
    let story = story("job-train-config-error");
    assert_eq!(story.classes(), classes(&[("collateral", 3), ("rule", 1)]));
    assert_eq!(story.counted(), 4);
    let group = story.group("rule");
    assert_eq!(group["rule"]["label"], "exit 42 (trainer)");
    assert_eq!(group["rule"]["nameSource"], "derived");
    assert_eq!(group["rule"]["index"], 0);
    assert_eq!(group["rule"]["action"], "FailJob");
    assert_eq!(group["collateral"], 3);
    assert_eq!(group["indexes"], "2");
    assert_eq!(group["cause"]["text"], "exit 42 (trainer): FATAL config: unknown optimizer \"adamww\" (line 17)");
    let collateral = story.of_class("collateral");
    assert!(collateral.iter().all(|line| line["tornDownBy"] == "jobFailing" && line["pod"].is_string()));
    let workload = story.workload();
    assert_eq!(workload["state"], "failed");
    assert_eq!(workload["firstCause"]["pod"], "train-config-error-2-5px4r");
    assert_eq!(workload["firstCause"]["exitCode"], 42);
    assert_eq!(workload["actedOn"]["pod"], "train-config-error-2-5px4r");
    assert_eq!(workload["actedOn"]["ruleIndex"], 0);
    let fix = story.suggestion("fixThenRestart");
    assert_eq!(fix["safety"], "readOnly");
    assert_eq!(fix["commands"][0], "kubectl logs -n ml-team train-config-error-2-5px4r -c trainer");
    assert_eq!(fix["evidence"][0]["path"], "status.containerStatuses[name=trainer].state.terminated.exitCode");
    assert_eq!(fix["evidence"][0]["value"], "42");
}

/// `Ignore In [143]` without containerName matches the sidecar's 143; the app's exit 7, which should fail the Job, is
/// never looked at, and the Job restarts for ever.
#[test]
fn with_sidecar_is_the_sidecar_trap() {
    let story = story("job-with-sidecar");
    assert_eq!(story.classes(), classes(&[("rule", 5)]));
    assert_eq!(story.counted(), 0);
    let group = story.group("rule");
    assert_eq!(group["rule"]["label"], "exit 143");
    assert_eq!(group["rule"]["action"], "Ignore");
    assert_eq!(group["cause"]["container"], "proxy");
    assert_eq!(group["cause"]["text"], "sidecar trap: app exited 7, rule 1 FailJob is never reached (3 of 5)");
    let first = &story.workload()["firstCause"];
    assert_eq!(
        (&first["container"], &first["exitCode"]),
        (&"app".into(), &1.into()),
        "the app ended first, not the sidecar"
    );
    assert!(story.lines.iter().all(|line| line["sidecar"] == true));
    assert_eq!(story.workload()["state"], "running");
    let edit = story.suggestion("editPolicy");
    assert!(edit["why"].as_str().unwrap().contains("give rule 0 containerName: app"), "{edit}");
    assert!(edit["why"].as_str().unwrap().contains("nothing limits the retries"), "{edit}");
    assert!(
        edit["evidence"]
            .as_array()
            .unwrap()
            .iter()
            .any(|e| e["path"] == "spec.podFailurePolicy.rules[0].onExitCodes.containerName"
                && e["object"] == "job/data/with-sidecar"),
        "{edit}"
    );
}

/// Rule 2, `Count In [1]`, counts four failures, one more than backoffLimit.
#[test]
fn etl_nightly_is_counted_to_its_limit() {
    let story = story("job-etl-nightly");
    assert_eq!(story.classes(), classes(&[("rule", 4)]));
    assert_eq!(story.counted(), 4);
    assert_eq!(story.group("rule")["rule"]["index"], 2);
    assert_eq!(story.group("rule")["rule"]["action"], "Count");
    assert_eq!(story.workload()["actedOn"]["reason"], "BackoffLimitExceeded");
    assert_eq!(story.workload()["backoffLimit"], 3);
    let fix = story.suggestion("fixThenRestart");
    assert!(fix["why"].as_str().unwrap().starts_with("4 pods ended alike: etl exited 1 (psycopg.OperationalError"));
    assert!(fix["commands"][0].as_str().unwrap().starts_with("kubectl logs -n data etl-nightly-"));
}

/// The kubelet refuses the pods before a container runs: `FailJob NotIn [0]` cannot match them.
#[test]
fn gpu_probe_can_match_no_rule() {
    let story = story("job-gpu-probe");
    assert_eq!(story.classes(), classes(&[("unmatchable", 2)]));
    assert_eq!(story.counted(), 2, "it eats backoffLimit all the same");
    let group = story.group("unmatchable");
    assert_eq!(group["key"], "UnexpectedAdmissionError");
    assert_eq!(group["rule"], serde_json::Value::Null);
    assert_eq!(group["cause"]["exitCode"], serde_json::Value::Null);
    assert!(story.suggestion("freeCapacity")["commands"][0].as_str().unwrap().starts_with("kubectl describe node "));
}

/// A rule for a custom condition fails the Job.
#[test]
fn gpu_xid_failed_by_a_condition() {
    let story = story("job-gpu-xid");
    assert_eq!(story.classes(), classes(&[("collateral", 1), ("rule", 1)]));
    assert_eq!(story.group("rule")["rule"]["label"], "ecc.example.com/XidError");
    assert_eq!(story.group("rule")["cause"]["exitCode"], 134);
    assert_eq!(story.group("rule")["cause"]["signal"], "SIGABRT");
    assert_eq!(story.group("rule")["gpuSeconds"], 20.0, "4 GPUs for 5 s");
    assert_eq!(story.workload()["actedOn"]["ruleIndex"], 0);
    assert_eq!(story.group("rule")["cause"]["text"], "Xid79, exit 134 (trainer): GPU has fallen off the bus");
    let fix = story.suggestion("fixThenRestart");
    assert!(fix["why"].as_str().unwrap().contains("GPU has fallen off the bus"), "{fix}");
    assert_eq!(fix["evidence"][0]["path"], "status.conditions[type=ecc.example.com/XidError].status");
    assert_eq!(fix["commands"][1], "kubectl describe node gpu-node-10");
}

/// An init container is matched by its name; the app never ran.
#[test]
fn init_guard_failed_in_its_init_container() {
    let story = story("job-init-guard");
    assert_eq!(story.classes(), classes(&[("rule", 1)]));
    let group = story.group("rule");
    assert_eq!(group["rule"]["label"], "exit 3 (fetch-data)");
    assert_eq!(group["exemplar"]["container"], "fetch-data");
    assert_eq!(group["exemplar"]["sidecar"], false);
    let evidence = &story.suggestion("fixThenRestart")["evidence"][0];
    assert_eq!(evidence["path"], "status.initContainerStatuses[name=fetch-data].state.terminated.exitCode");
}

/// Two pods exit 42 and two exit 1 within a second; the controller names a 42, whichever ended first.
#[test]
fn race_matches_two_rules_and_the_controller_names_one() {
    let story = story("job-race");
    assert_eq!(story.classes(), classes(&[("rule", 4)]));
    let groups = story.report["groups"].as_array().unwrap();
    let labels: Vec<_> = groups.iter().map(|group| (&group["rule"]["label"], &group["indexes"])).collect();
    assert_eq!(
        labels,
        [(&"exit 42".into(), &"0,3".into()), (&"exit 1".into(), &"1,2".into())]
            as [(&serde_json::Value, &serde_json::Value); 2]
    );
    assert_eq!(story.workload()["actedOn"]["ruleIndex"], 1);
    assert_eq!(story.workload()["actedOn"]["pod"], "race-0-7p5pc");
}

/// FailIndex, per-index retries, and an Ignore rule whose index succeeded in the end.
#[test]
fn shard_eval_failed_three_indexes_in_two_ways() {
    let story = story("job-shard-eval");
    assert_eq!(story.classes(), classes(&[("noRule", 2), ("rule", 4)]));
    assert_eq!(story.counted(), 4, "the two ignored ones are not counted");
    let groups = story.report["groups"].as_array().unwrap();
    let of = |label: &str| groups.iter().find(|group| group["rule"]["label"] == label).unwrap();
    assert_eq!(of("exit 43")["rule"]["action"], "FailIndex");
    assert_eq!(of("exit 43")["indexes"], "2,5");
    assert_eq!(of("exit 75")["rule"]["action"], "Ignore");
    assert_eq!(of("exit 75")["counted"], 0);
    assert_eq!(story.group("noRule")["indexes"], "6");
    let attempts: Vec<_> = story.of_class("noRule").iter().map(|line| line["attempt"].clone()).collect();
    assert_eq!(attempts, [0, 1]);
    assert_eq!(story.workload()["actedOn"]["reason"], "FailedIndexes");
}

/// No policy: the cause stands in for the rule, and an OOM kill is one because its reason says so.
#[test]
fn thumbnails_ran_out_of_memory_without_a_policy() {
    let story = story("job-thumbnails");
    assert_eq!(story.classes(), classes(&[("noPolicy", 3)]));
    assert_eq!(story.group("noPolicy")["key"], "OOMKilled (resize)");
    let raise = story.suggestion("raiseMemory");
    assert!(raise["why"].as_str().unwrap().contains("memory limit 512Mi"), "{raise}");
    assert!(raise["evidence"].as_array().unwrap().iter().any(|e| e["value"] == "512Mi"));
}

/// Failures of a Job that completed are hidden, and said to be.
#[test]
fn retried_ok_is_hidden_until_all_is_asked_for() {
    let hidden = story("job-retried-ok");
    assert_eq!(hidden.lines.len(), 0);
    assert_eq!(hidden.report["summary"]["completedWorkloads"], 1);
    assert_eq!(hidden.report["summary"]["completedFailures"], 2);
    let all = story_with_all("job-retried-ok");
    assert_eq!(all.classes(), classes(&[("noRule", 1), ("rule", 1)]));
    assert_eq!(all.counted(), 1);
    assert_eq!(all.workload()["state"], "complete");
}

/// A CronJob's runs are one workload; its rule is one group across them.
#[test]
fn backup_failed_three_runs_under_one_rule() {
    let story = story("cronjob-backup");
    assert_eq!(story.classes(), classes(&[("rule", 3)]));
    let group = story.group("rule");
    assert_eq!(group["failures"], 3);
    assert_eq!(group["workloads"][0]["kind"], "CronJob");
    assert_eq!(group["workloads"][0]["name"], "backup");
    assert!(story.lines.iter().all(|line| line["workload"] == "cronjob/backup"));
    let jobs: std::collections::BTreeSet<_> = story.lines.iter().map(|line| line["job"].as_str().unwrap()).collect();
    assert_eq!(jobs.len(), 3);
}

/// The last attempt of a JobSet, shown under its name; the Job's rule is the second one.
#[test]
fn llama_failed_under_the_rule_of_its_job() {
    let story = story("jobset-llama-70b");
    assert_eq!(story.classes(), classes(&[("collateral", 1), ("lost", 2), ("rule", 1)]));
    let line = story.of_class("rule")[0];
    assert_eq!(line["workload"], "jobset/llama-70b");
    assert_eq!(line["job"], "llama-70b-slice-1");
    assert_eq!(line["attempt"], 2);
    assert_eq!(line["rule"]["index"], 1);
    assert_eq!(line["exitCode"], 42);
}
