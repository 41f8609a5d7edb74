//! `record` as far as it needs no cluster; the rest is in `tests/fake_api/record.rs`.

use crate::support::{project, run};

#[test]
fn what_cannot_go_together_is_wrong_usage() {
    for (arguments, words) in [
        (&["--logs", "--redact"][..], "cannot be used with"),
        (&["--follow", "--since", "1h"], "cannot be used with"),
        (&["--follow", "--force"], "cannot be used with"),
        (&["--keep", "3"], "--follow"),
        (&["--rotate-size", "64Mi"], "--follow"),
        (&["--follow", "--rotate-size", "64M"], "512Ki"),
        (&["--follow", "-o", "-"], "give -o FILE"),
        (&["-A", "-n", "ml"], "-A and -n"),
        (&["--since", "yesterday"], "1h30m"),
        (&["-o", ""], "the name of a file"),
        (&["-o", "a.json"], ".jsonl"),
        (&["-o", "a.yaml"], ".jsonl"),
        (&["--follow", "-o", "j.jsonl.gz"], "ends in .jsonl"),
        (&["--follow", "--rotate-size", "1"], "64Ki"),
    ] {
        let ran = run(&[&["record"], arguments].concat()).done();
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(words), "{words:?} is missing in {}", ran.stderr);
    }
}

/// Whatever is read has to be granted, and nothing else is.
#[test]
fn the_published_role_grants_what_is_read_and_no_more() {
    let role = std::fs::read_to_string(project().join("rbac/record.yaml")).unwrap();
    let (role, logs) = role.split_once("---\n").unwrap();
    let mut granted: Vec<String> = Vec::new();
    let mut group = String::new();
    for line in role.lines() {
        let listed =
            |line: &str| -> Vec<String> { line.split('"').skip(1).step_by(2).map(ToOwned::to_owned).collect() };
        if line.contains("apiGroups:") {
            group = listed(line).remove(0);
        } else if line.contains("resources:") {
            let of_group = |name: String| if group.is_empty() { name } else { format!("{name}.{group}") };
            granted.extend(listed(line).into_iter().map(of_group));
        } else if line.contains("verbs:") {
            assert_eq!(listed(line), ["list", "watch"], "{line}");
        }
    }
    granted.sort();
    let mut read: Vec<String> = sigapps::source::Resource::ALL.iter().map(|resource| resource.rbac_name()).collect();
    read.sort();
    assert_eq!(granted, read);
    assert!(logs.contains("pods/log") && logs.matches("resources:").count() == 1);
}

/// The manifest's command line is one that the tool takes, and its role is the published one.
#[test]
fn the_recorders_manifest_is_right() {
    let manifest = std::fs::read_to_string(project().join("docs/in-cluster/recorder.yaml")).unwrap();
    let arguments = manifest.lines().find(|line| line.trim_start().starts_with("args:")).unwrap();
    let arguments: Vec<&str> = arguments.split('"').skip(1).step_by(2).collect();
    assert_eq!(arguments[..3], ["record", "-A", "--follow"]);
    // Without a cluster it gets no further than that.
    let ran = run(&arguments).done();
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(manifest.contains("name: kubectl-sigapps-record\n"));
    for document in manifest.split("\n---\n") {
        assert!(document.contains("kind: ") && document.contains("apiVersion: "), "{document}");
    }
}

/// What was deleted is told as it was, and that it was deleted.
#[test]
fn a_job_that_a_journal_tells_the_deletion_of_is_explained_and_said_to_be_gone() {
    let line =
        |kind: &str, rest: &str| format!(r#"{{"kind":"{kind}","apiVersion":"kubectl-sigapps/v1alpha1",{rest}}}"#);
    let job = r#"{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"etl","namespace":"ml","uid":"u","resourceVersion":"VERSION"},
        "spec":{"backoffLimit":0},"status":{"failed":1,"conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded",
        "message":"Job has reached the specified backoff limit","lastTransitionTime":"2026-11-30T09:00:00Z"}]}}"#
        .replace('\n', "");
    let change = |what: &str, at: &str, version: &str| {
        let object = job.replace("VERSION", version);
        line("Change", &format!(r#""at":"{at}","type":"{what}","object":{object}"#))
    };
    let header = line("Recording", r#""form":"journal","cluster":"prod","startedAt":"2026-11-30T08:00:00Z","file":1"#);
    let status =
        line("RecordingStatus", r#""asOf":"2026-11-30T09:00:01Z","sources":[{"resource":"jobs","state":"read"}]"#);
    let there = [header, status, change("added", "2026-11-30T09:00:01Z", "1")];
    let gone = [&there[..], &[change("deleted", "2026-11-30T10:00:00Z", "2")]].concat();
    let told = |lines: &[String]| run(&["explain", "job/etl", "-f", "-"]).stdin(lines.join("\n") + "\n").output();
    let (there, gone) = (told(&there), told(&gone));
    assert!(!there.contains("deleted"), "{there}");
    assert!(gone.starts_with("Job ml/etl has been deleted. As last seen, it failed 60m ago"), "{gone}");
}

fn journal(lines: &[String]) -> String {
    let line =
        |kind: &str, rest: &str| format!(r#"{{"kind":"{kind}","apiVersion":"kubectl-sigapps/v1alpha1",{rest}}}"#);
    let header = line("Recording", r#""form":"journal","cluster":"prod","startedAt":"2026-11-30T08:00:00Z","file":1"#);
    let status =
        line("RecordingStatus", r#""asOf":"2026-11-30T10:00:00Z","sources":[{"resource":"pods","state":"read"}]"#);
    [&[header, status][..], lines].concat().join("\n") + "\n"
}

/// What is gone needs no help, and nothing of it can be looked at.
#[test]
fn what_a_journal_tells_the_deletion_of_is_shown_deleted_and_without_advice() {
    let pod = |name: &str, job: &str| {
        format!(
            r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"ml","uid":"u-{name}","resourceVersion":"3",
            "ownerReferences":[{{"apiVersion":"batch/v1","kind":"Job","name":"{job}","uid":"u-{job}","controller":true}}]}},
            "spec":{{"containers":[{{"name":"main","image":"x"}}]}},"status":{{"phase":"Failed","containerStatuses":[{{"name":"main",
            "state":{{"terminated":{{"exitCode":1,"finishedAt":"2026-11-30T09:00:00Z"}}}}}}]}}}}"#
        )
        .replace('\n', "")
    };
    let job = |name: &str| {
        format!(
            r#"{{"kind":"Job","apiVersion":"batch/v1","metadata":{{"name":"{name}","namespace":"ml","uid":"u-{name}","resourceVersion":"2"}},
            "spec":{{"backoffLimit":6}},"status":{{"failed":1,"active":1}}}}"#
        )
        .replace('\n', "")
    };
    let change = |what: &str, object: &str| {
        format!(
            r#"{{"kind":"Change","apiVersion":"kubectl-sigapps/v1alpha1","at":"2026-11-30T09:59:00Z","type":"{what}","object":{object}}}"#
        )
    };
    let there = [change("added", &job("etl")), change("added", &pod("etl-x", "etl"))];
    let told = |lines: &[String], arguments: &[&str]| run(arguments).stdin(journal(lines)).output();
    let report = |lines: &[String]| -> serde_json::Value {
        serde_json::from_str(&told(lines, &["failures", "-f", "-", "-o", "json"])).unwrap()
    };
    let before = report(&there);
    assert_eq!(before["workloads"][0]["state"], "running");
    assert_eq!(before["workloads"][0]["deleted"], serde_json::Value::Null);
    let commands = before["suggestions"].to_string();
    assert!(commands.contains("--context=prod"), "commands go to the cluster that it is of: {commands}");
    // The pod alone is gone: its Job goes on, and the pod's log is not to be had.
    let pod_gone = [&there[..], &[change("deleted", &pod("etl-x", "etl"))]].concat();
    let report_of_pod = report(&pod_gone);
    assert_eq!(report_of_pod["workloads"][0]["state"], "running");
    let text = report_of_pod["suggestions"].to_string();
    assert!(!text.contains("logs") && !text.contains("describe pod"), "{text}");
    // All is gone.
    let gone = [&pod_gone[..], &[change("deleted", &job("etl"))]].concat();
    let report = report(&gone);
    let workload = &report["workloads"][0];
    assert_eq!((&workload["state"], &workload["deleted"]), (&"deleted".into(), &true.into()));
    assert_eq!(report["suggestions"], serde_json::json!([]));
    assert!(told(&gone, &["failures", "-f", "-"]).contains("deleted"));
    let explained = told(&gone, &["explain", "job/etl", "-f", "-"]);
    assert!(explained.starts_with("Job ml/etl has been deleted. As last seen, it is running"), "{explained}");
    let explained: serde_json::Value =
        serde_json::from_str(&told(&gone, &["explain", "job/etl", "-f", "-", "-o", "json"])).unwrap();
    assert_eq!((&explained["state"], &explained["deleted"]), (&"deleted".into(), &true.into()));
    assert_eq!(explained["suggestions"], serde_json::json!([]));
}

#[test]
fn recordings_of_several_clusters_are_not_joined() {
    let other = journal(&[]).replace("\"prod\"", "\"dev\"");
    let ran = run(&["failures", "-f", "-"]).stdin(journal(&[]) + &other).done();
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("several clusters (dev, prod)"), "{ran:?}");
}
