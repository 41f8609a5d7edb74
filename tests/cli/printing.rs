//! kubectl's print formats. The dialect itself is tested in `src/jsonpath` and, beside kubectl, in `tests/cluster`.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{WORLD, project, run};

fn world(arguments: &[&str]) -> String {
    run(&[&["failures", "-f", WORLD], arguments].concat()).output()
}

fn report() -> Value {
    serde_json::from_str(&world(&["-o", "json"])).unwrap()
}

/// A failed Job whose container says what it likes.
fn saying(message: &str) -> String {
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "n", "uid": "j"}});
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p", "namespace": "n", "uid": "p", "ownerReferences": [
            {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j", "controller": true}]},
        "status": {"phase": "Failed", "containerStatuses": [{"name": "c", "state": {"terminated": {
            "exitCode": 3, "reason": "Error", "message": message, "finishedAt": "2026-11-30T09:00:00Z"}}}]},
    });
    format!("{job}\n{pod}\n")
}

#[test]
fn jsonpath_cuts_fields_out_of_the_report() {
    let report = report();
    let ids: Vec<&str> =
        report["groups"].as_array().unwrap().iter().map(|group| group["id"].as_str().unwrap()).collect();
    assert_eq!(world(&["-o", "jsonpath={.groups[*].id}"]), ids.join(" "));
    assert_eq!(world(&["-o", "jsonpath", "--template={range .groups[*]}{.id}{\"\\n\"}{end}"]), ids.join("\n") + "\n");
    let array: Value = serde_json::from_str(&world(&["-o", "jsonpath-as-json={.groups[*].id}"])).unwrap();
    assert_eq!(array, json!(ids));
    let failures = &report["summary"]["failures"];
    assert_eq!(world(&["-o", "jsonpath={.missing}|{.summary.failures}"]), format!("|{failures}"));
}

#[test]
fn templates_are_read_from_files_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let template = file("template", "{.kind} of {.summary.groups} groups\n");
    let groups = &report()["summary"]["groups"];
    assert_eq!(world(&["-o", &format!("jsonpath-file={template}")]), format!("FailureReport of {groups} groups\n"));
    let columns = file("columns", "NUMBER     WORKLOAD\n.failures  .workloads[0].name\n");
    let printed = world(&["-o", &format!("custom-columns-file={columns}"), "-n", "queue-team"]);
    assert!(printed.starts_with("NUMBER   WORKLOAD\n") && printed.contains("        bert-p"), "{printed}");
    let headless = world(&["-o", &format!("custom-columns-file={columns}"), "-n", "queue-team", "--no-headers"]);
    assert_eq!(headless.lines().count() + 1, printed.lines().count());
    run(&["failures", "-f", WORLD, "-o", "jsonpath-file=no/such"]).done().refused(1, &["no/such"]);
}

#[test]
fn custom_columns_have_a_group_a_line_and_of_an_explanation_one() {
    let printed = world(&["-o", "custom-columns=CLASS:.class,N:.failures,RULE:{.rule.label}", "--sort-by=.failures"]);
    let report = report();
    let groups = report["groups"].as_array().unwrap();
    assert_eq!(printed.lines().count(), 1 + groups.len());
    let heads: Vec<&str> = printed.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(heads, ["CLASS", "N", "RULE"]);
    let most = groups.iter().max_by_key(|group| group["failures"].as_u64()).unwrap();
    let last: Vec<&str> = printed.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(last[..2], [most["class"].as_str().unwrap(), &most["failures"].to_string()]);
    let one =
        run(&["explain", "job/race", "-f", WORLD, "-o", "custom-columns=NAME:.subject.name,STATE:state"]).output();
    assert_eq!(one, "NAME   STATE\nrace   failed\n");
    let none = world(&["-o", "custom-columns=ID:.id", "-n", "nowhere"]);
    assert_eq!(none, "ID\n");
}

#[test]
fn explanations_have_the_same_formats() {
    let explained = |output: &str| run(&["explain", "job/race", "-f", WORLD, "-o", output]).output();
    assert_eq!(explained("name"), "job.batch/race\n");
    assert_eq!(explained("jsonpath={.state} {.policies[0].rules[*].index}"), "failed 0 1 2");
    assert_eq!(explained("jsonpath-as-json={.state}"), "[\n    \"failed\"\n]\n");
}

#[test]
fn what_is_sorted_is_what_a_line_stands_for() {
    let numbers =
        |printed: &str| printed.split_whitespace().map(|number| number.parse().unwrap()).collect::<Vec<u64>>();
    let of_groups = numbers(&world(&["-o", "jsonpath={.groups[*].failures}", "--sort-by={.failures}"]));
    assert!(of_groups.len() > 20 && of_groups.is_sorted(), "{of_groups:?}");
    let lines = world(&["-o", "jsonl", "--sort-by", ".node"]);
    let nodes: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["node"].clone()).collect();
    let named: Vec<&str> = nodes.iter().filter_map(Value::as_str).collect();
    assert!(named.len() > 20 && named.is_sorted(), "{named:?}");
    assert!(nodes[0].is_null(), "null stands first, as for kubectl");
    let names = world(&["-o", "name", "--sort-by", ".failures"]);
    let report = report();
    let workloads = report["workloads"].as_array().unwrap();
    let most = workloads.iter().max_by_key(|workload| workload["failures"].as_u64()).unwrap();
    assert!(names.lines().last().unwrap().ends_with(&format!("/{}", most["name"].as_str().unwrap())), "{names}");
    let csv = world(&["-o", "csv", "--sort-by", "exitCode", "--no-headers"]);
    assert_eq!(csv.lines().count(), world(&["-o", "jsonl"]).lines().count());
    let table = world(&["-o", "wide", "--sort-by", ".lastAt"]);
    let first = table.lines().skip_while(|line| !line.starts_with("RULE")).nth(1).unwrap();
    assert!(first.contains("job/") || first.contains("deployment/"), "{first}");
    assert_eq!(world(&["--sort-by", ".failures", "-n", "nowhere", "-o", "name"]), "", "nothing has every order");
}

#[test]
fn csv_has_a_failure_a_line_with_the_values_of_jsonl() {
    let csv = world(&["-o", "csv", "--all"]);
    let mut lines = csv.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(heads.len(), 26);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let jsonl = world(&["-o", "jsonl", "--all"]);
    assert_eq!((lines.count(), rows.len()), (jsonl.lines().count(), jsonl.lines().count()));
    for (row, line) in rows.iter().zip(jsonl.lines()) {
        let line: Value = serde_json::from_str(line).unwrap();
        for (head, cell) in heads.iter().zip(row) {
            let at = match *head {
                "ruleIndex" => &line["rule"]["index"],
                "ruleLabel" => &line["rule"]["label"],
                "ruleAction" => &line["rule"]["action"],
                "jobSetRuleLabel" => &line["jobSetRule"]["label"],
                "jobSetRuleAction" => &line["jobSetRule"]["action"],
                // Made one line of.
                "message" => continue,
                head => &line[head],
            };
            let text = match at {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            assert_eq!(cell, text, "{head} of {line}");
        }
    }
    assert_eq!(world(&["-o", "csv", "-n", "nowhere"]).lines().count(), 1, "the heads alone");
    assert_eq!(world(&["-o", "csv", "-n", "nowhere", "--no-headers"]), "");
}

#[test]
fn markdown_tells_all_groups_and_what_to_do() {
    let notes = world(&["-o", "markdown"]);
    let failures = &report()["summary"]["failures"];
    assert!(notes.starts_with(&format!("# What failed\n\n**{failures} failures in ")), "{notes}");
    for part in ["## Groups", "| Rule | Action |", "## What failed first", "## Next", "```sh\n   kubectl logs"] {
        assert!(notes.contains(part), "{part}");
    }
    let none = world(&["-o", "markdown", "-n", "nowhere"]);
    assert!(none.contains("**No failures found in namespace nowhere"), "{none}");
    assert!(!none.contains("##"), "{none}");
}

#[test]
fn what_a_container_says_reaches_no_terminal_and_no_spreadsheet() {
    let hostile = "=cmd()|<b>\u{1b}[31mred\u{7}\u{202e}\nnext\u{9b}2J, \"quoted\"";
    let printed = |output: &str| run(&["failures", "-f", "-", "-o", output]).stdin(saying(hostile)).output();
    for format in ["csv", "markdown", "custom-columns=M:.exemplar.message"] {
        let text = printed(format);
        let acts = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.chars().any(acts), "{format}: {text:?}");
    }
    let csv = printed("csv");
    assert_eq!(csv.lines().count(), 2, "{csv}");
    assert!(csv.contains("\"'=cmd()|<b>red next, \"\"quoted\"\"\""), "{csv}");
    assert!(!printed("markdown").contains("<b>"), "no markup");
    assert_eq!(
        printed("jsonpath={.groups[0].exemplar.message}"),
        hostile,
        "into a pipe goes what was written, as of kubectl"
    );
}

#[test]
fn formats_that_are_none_are_refused_before_anything_is_read() {
    let refused = |arguments: &[&str], words: &[&str]| {
        let ran = run(&[&["failures", "-f", "no/such/file"], arguments].concat()).done();
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{arguments:?}: {}", ran.stderr);
        for word in words {
            assert!(ran.stderr.contains(word), "{word:?} is missing in {}", ran.stderr);
        }
    };
    refused(&["-o", "xml"], &["table", "csv", "markdown", "jsonpath=TEMPLATE", "custom-columns-file=FILE"]);
    refused(&["-o", "json=x"], &["json=x"]);
    refused(&["-o", "go-template={{.kind}}"], &["-o jsonpath=TEMPLATE", "jq"]);
    refused(&["-o", "go-template-file=x"], &["jq"]);
    refused(&["--template={{.kind}}"], &["jq"]);
    refused(&["-o", "json", "--template={.kind}"], &["--template goes with", "jsonpath"]);
    refused(&["-o", "jsonpath"], &["needs a template"]);
    refused(&["-o", "jsonpath="], &["needs a template"]);
    refused(&["-o", "jsonpath={.a}", "--template={.b}"], &["once"]);
    refused(&["-o", "jsonpath={.kind"], &["error parsing jsonpath {.kind, unclosed action"]);
    refused(&["-o", "custom-columns=NAME"], &["expected <header>:<json-path-expr>"]);
    refused(&["--sort-by", "{.a}{.b}"], &["--sort-by", "unexpected path string"]);
    let explain = run(&["explain", "job/race", "-f", "no/such/file", "-o", "csv"]).done();
    assert_eq!(explain.code, 2);
    assert!(explain.stderr.contains("failures KIND/NAME"), "{}", explain.stderr);
}

#[test]
fn what_does_not_apply_is_one_line() {
    let failed = |arguments: &[&str], words: &str| {
        run(&[&["failures", "-f", WORLD], arguments].concat()).done().refused(1, &[words]);
    };
    failed(&["-o", "jsonpath={.kind[0]}"], "error executing jsonpath \"{.kind[0]}\": string is not array or slice");
    failed(&["-o", "jsonpath={.nowhere}", "--allow-missing-template-keys=false"], "nowhere is not found");
    failed(&["-o", "custom-columns=X:.class[0]"], "string is not array or slice");
    failed(&["--sort-by", ".nowhere"], "couldn't find any field with path \"{.nowhere}\" in the list of objects");
    failed(&["--sort-by", ".workloads"], "field {.workloads} cannot be sorted by: it holds a list");
}

/// `| head` is no error.
#[test]
fn a_reader_that_goes_away_ends_it_in_silence() {
    for output in ["jsonpath={..}", "jsonpath-as-json={..}", "custom-columns=ALL:..", "csv", "markdown"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-sigapps"))
            .args(["failures", "-f", WORLD, "--all", "-o", output])
            .current_dir(project())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert_eq!((ended.status.code(), &*String::from_utf8_lossy(&ended.stderr)), (Some(0), ""), "{output}");
    }
}

/// A script that was written for kubectl may say it.
#[test]
fn kinds_are_shown_without_being_asked_for() {
    assert_eq!(world(&["--show-kind"]), world(&[]));
}
