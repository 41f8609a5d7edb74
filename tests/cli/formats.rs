use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{WORLD, project, run};

fn world(format: &[&str]) -> String {
    run(&[&["failures", "-f", WORLD], format].concat()).output()
}

fn schema(file: &str) -> Value {
    serde_json::from_slice(&std::fs::read(project().join("docs/schema").join(file)).unwrap()).unwrap()
}

#[test]
fn json_is_valid_against_the_published_schema() {
    let validator = jsonschema::validator_for(&schema("failure-report.v1alpha1.json")).unwrap();
    for more in [&[][..], &["--all"], &["--group-by", "node"], &["-n", "nowhere"], &["--since", "1m"]] {
        let report: Value = serde_json::from_str(&world(&[&["-o", "json"], more].concat())).unwrap();
        let errors: Vec<_> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{more:?}");
        assert_eq!(report["apiVersion"], "kubectl-sigapps/v1alpha1");
        assert_eq!(report["kind"], "FailureReport");
    }
}

#[test]
fn each_line_of_jsonl_is_valid_against_the_published_schema() {
    let validator = jsonschema::validator_for(&schema("failure.v1alpha1.json")).unwrap();
    let lines = world(&["-o", "jsonl", "--all"]);
    assert_eq!(
        lines.lines().count(),
        78,
        "every failed pod, every attempt of a JobSet whose pods are gone, and what of other workloads fails"
    );
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let errors: Vec<_> = validator.iter_errors(&line).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{line}");
    }
}

#[test]
fn the_published_schemas_are_those_of_the_code() {
    for (of, file) in [
        ("report", "failure-report.v1alpha1.json"),
        ("failure", "failure.v1alpha1.json"),
        ("explanation", "explanation.v1alpha1.json"),
    ] {
        let printed = run(&["schema", of]).output();
        let published = std::fs::read_to_string(project().join("docs/schema").join(file)).unwrap();
        assert!(printed == published, "docs/schema/{file} is stale: `just schema` makes it anew");
    }
}

#[test]
fn the_report_has_the_fields_of_the_contract() {
    let report: Value = serde_json::from_str(&world(&["-o", "json"])).unwrap();
    let has = |value: &Value, fields: &[&str]| {
        let object = value.as_object().unwrap_or_else(|| panic!("{value} is no object"));
        for field in fields {
            assert!(object.contains_key(*field), "{field} is missing in {value}");
        }
    };
    has(&report, &["apiVersion", "kind", "asOf", "scope", "sources", "summary", "groups", "suggestions"]);
    has(&report["scope"], &["contexts", "namespaces", "selector", "since", "files"]);
    has(&report["sources"][0], &["cluster", "resource", "state", "objects", "skipped", "message"]);
    has(&report["summary"], &["workloads", "failures", "groups", "collateral", "lost", "gpuSeconds"]);
    for group in report["groups"].as_array().unwrap() {
        has(group, &["id", "class", "rule", "cause", "counted", "failures", "workloads", "indexes", "nodes"]);
        has(group, &["firstAt", "lastAt", "gpuSeconds", "exemplar", "suggestions"]);
        has(&group["cause"], &["container", "exitCode", "signal", "reason", "text"]);
        has(&group["workloads"][0], &["kind", "namespace", "name", "uid"]);
    }
    has(&report["groups"][0]["rule"], &["label", "nameSource", "name", "index", "action", "requirement"]);
    has(&report["groups"][0]["nodes"][0], &["name", "failures", "ready"]);
    has(&report["suggestions"][0], &["id", "kind", "safety", "title", "why", "commands", "evidence"]);
    has(&report["suggestions"][0]["evidence"][0], &["object", "path", "value"]);
    let line: Value = serde_json::from_str(world(&["-o", "jsonl"]).lines().next().unwrap()).unwrap();
    has(&line, &["apiVersion", "kind", "cluster", "namespace", "workload", "job", "pod", "uid", "index", "attempt"]);
    has(&line, &["class", "rule", "container", "exitCode", "reason", "message", "node", "startedAt", "finishedAt"]);
    has(&line, &["counted", "count", "gpuSeconds"]);
}

#[test]
fn yaml_is_the_same_report() {
    let from_yaml: Value = serde_saphyr::from_str(&world(&["-o", "yaml", "-n", "queue-team"])).unwrap();
    let from_json: Value = serde_json::from_str(&world(&["-o", "json", "-n", "queue-team"])).unwrap();
    assert_eq!(from_yaml, from_json);
}

#[test]
fn names_are_those_kubectl_takes() {
    let names: BTreeSet<String> = world(&["-o", "name"]).lines().map(str::to_owned).collect();
    assert_eq!(names.len(), 30);
    for name in [
        "job.batch/race",
        "cronjob.batch/backup",
        "jobset.jobset.x-k8s.io/llama-70b",
        "trainjob.trainer.kubeflow.org/bert-patient",
        "deployment.apps/web",
        "leaderworkerset.leaderworkerset.x-k8s.io/vllm",
    ] {
        assert!(names.contains(name), "{name}");
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for format in ["table", "wide", "json", "jsonl", "yaml", "name"] {
        assert_eq!(world(&["-o", format]), world(&["-o", format]), "{format}");
    }
}
