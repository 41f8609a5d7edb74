//! `--baseline`: what is new since a report that was kept.

use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Ran, WORLD, project, run};

/// A folder for reports.
struct Reports(TempDir);

impl Reports {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn keep(&self, report: &str) -> String {
        let path: PathBuf = self.0.path().join(format!("{}.json", report.len()));
        std::fs::write(&path, report).unwrap();
        path.display().to_string()
    }
}

fn report(arguments: &[&str]) -> String {
    run(&[&["failures", "-f", WORLD, "-o", "json"], arguments].concat()).output()
}

fn beside(baseline: &str, arguments: &[&str]) -> Ran {
    run(&[&["failures", "-f", WORLD, "--baseline", baseline], arguments].concat()).done()
}

/// The report without a group, or with another one.
fn changed(change: impl Fn(&mut Vec<Value>)) -> String {
    let mut report: Value = serde_json::from_str(&report(&[])).unwrap();
    change(report["groups"].as_array_mut().unwrap());
    report.to_string()
}

fn world() -> Value {
    serde_json::from_str(&report(&[])).unwrap()
}

#[test]
fn nothing_is_new_beside_the_same_data() {
    let reports = Reports::new();
    let same = reports.keep(&report(&[]));
    let ran = beside(&same, &["--exit-code"]);
    assert_eq!((ran.code, &*ran.stderr), (0, ""));
    assert!(ran.stdout.starts_with("No new failures found in any namespace\n"), "{}", ran.stdout);
    let (failures, groups) = (&world()["summary"]["failures"], &world()["summary"]["groups"]);
    let told = format!(
        "not shown, as the baseline of 2026-11-30T09:14:31Z has them: {failures} failures in {groups} groups\n"
    );
    assert!(ran.stdout.contains(&told), "{}", ran.stdout);
    for output in ["jsonl", "name"] {
        assert_eq!(beside(&same, &["-o", output]).stdout, "", "{output}");
    }
    let narrower = beside(&same, &["-n", "data"]);
    assert_eq!(narrower.stderr, "", "what looks at less has nothing to be warned of");
}

#[test]
fn a_group_that_was_not_there_is_new_and_counts_for_the_exit_code() {
    let reports = Reports::new();
    let is_oom = |group: &Value| group["workloads"][0]["name"] == "thumbnails";
    let then = reports.keep(&changed(|groups| groups.retain(|group| !is_oom(group))));
    let ran = beside(&then, &["--exit-code"]);
    assert_eq!((ran.code, &*ran.stderr), (3, ""));
    assert!(ran.stdout.starts_with("3 new failures in 1 workload"), "{}", ran.stdout);
    assert!(ran.stdout.contains("OOMKilled (resize)") && !ran.stdout.contains("llama"), "{}", ran.stdout);
    let new: Value = serde_json::from_str(&beside(&then, &["-o", "json"]).stdout).unwrap();
    assert_eq!(new["groups"].as_array().unwrap().len(), 1);
    assert_eq!(new["groups"][0]["novelty"], "group");
    assert_eq!(new["summary"]["failures"], 3);
    let number = |field: &str, less: u64| world()["summary"][field].as_u64().unwrap() - less;
    let known =
        json!({"asOf": new["asOf"], "groups": number("groups", 1), "failures": number("failures", 3), "grown": 0});
    assert_eq!(new["baseline"], known);
    assert_eq!(beside(&then, &["-o", "jsonl"]).stdout.lines().count(), 3);
    assert_eq!(beside(&then, &["-o", "name"]).stdout, "job.batch/thumbnails\n");
    assert!(beside(&then, &["-o", "markdown"]).stdout.contains("Not shown, as the baseline of "));
    let schema = std::fs::read(project().join("docs/schema/failure-report.v1alpha1.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
    assert!(validator.is_valid(&new));
}

#[test]
fn a_workload_that_a_known_group_did_not_have_is_new_and_more_of_the_same_is_told() {
    let reports = Reports::new();
    let workloads_of = |group: &Value| group["workloads"].as_array().unwrap().len();
    let world = world();
    let groups = world["groups"].as_array().unwrap();
    let spread = (0..groups.len()).max_by_key(|at| workloads_of(&groups[*at])).unwrap();
    let latest = groups[spread]["workloads"].as_array().unwrap().last().unwrap();
    let grown =
        groups.iter().position(|group| group["failures"].as_u64() > Some(1) && workloads_of(group) == 1).unwrap();
    let then = reports.keep(&changed(|groups| {
        groups[spread]["workloads"].as_array_mut().unwrap().pop();
        groups[grown]["failures"] = 1.into();
        groups[grown]["workloads"][0]["uid"] = "made again".into();
    }));
    let new: Value = serde_json::from_str(&beside(&then, &["-o", "json"]).stdout).unwrap();
    let shown = new["groups"].as_array().unwrap();
    assert_eq!((shown.len(), &shown[0]["novelty"], &shown[0]["workloads"]), (1, &json!("workloads"), &json!([latest])));
    let failures = |report: &Value, of: &str| report[of]["failures"].as_u64().unwrap();
    let (now, known) = (failures(&new, "summary"), failures(&new, "baseline"));
    assert!(now > 0 && now + known == failures(&world, "summary"), "{now} and {known}");
    assert_eq!(new["baseline"]["grown"], 1);
    let ran = beside(&then, &["--exit-code"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stdout.starts_with(&format!("{now} new failure")), "{}", ran.stdout);
    let told = format!("has them: {known} failures in {} groups, 1 of them with more failures than then", groups.len());
    assert!(ran.stdout.contains(&told), "{}", ran.stdout);
}

#[test]
fn other_groupings_are_compared_with_their_own() {
    let reports = Reports::new();
    let by_node = reports.keep(&report(&["--group-by", "node"]));
    assert_eq!(beside(&by_node, &["--group-by", "node", "--exit-code"]).code, 0);
    beside(&by_node, &[]).refused(2, &["is grouped by node", "--group-by node"]);
}

#[test]
fn a_baseline_of_a_narrower_scope_is_warned_of() {
    let reports = Reports::new();
    let narrow = reports.keep(&report(&["-n", "data", "--class", "rule"]));
    let ran = beside(&narrow, &["--exit-code"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.starts_with("warning: the baseline "), "{}", ran.stderr);
    assert!(ran.stderr.contains("narrower scope (namespaces, classes)"), "{}", ran.stderr);
    let future =
        reports.keep(&report(&[]).replace("\"asOf\": \"2026-11-30T09:14:31", "\"asOf\": \"2026-12-30T09:14:31"));
    assert!(beside(&future, &[]).stderr.contains("is of a later time than the data"));
}

#[test]
fn a_baseline_is_read_from_standard_input_and_as_windows_writes_it() {
    let known = report(&[]);
    for kept in [known.clone(), format!("\u{feff}{known}")] {
        let ran = run(&["failures", "-f", WORLD, "--baseline", "-", "-o", "name"]).stdin(kept).done();
        assert_eq!((ran.code, &*ran.stdout), (0, ""));
    }
}

#[test]
fn what_is_no_baseline_is_an_error_that_says_so() {
    let reports = Reports::new();
    beside("no/such/report", &[]).refused(1, &["cannot read the baseline no/such/report"]);
    let explanation = run(&["explain", "job/race", "-f", WORLD, "-o", "json"]).output();
    let of_baseline = |text: &str| beside(&reports.keep(text), &[]);
    of_baseline("").refused(1, &["is not JSON"]);
    of_baseline("RULE  ACTION\n").refused(1, &["is not JSON"]);
    of_baseline("[1]").refused(1, &["is not JSON"]);
    of_baseline(&explanation).refused(1, &["is no FailureReport but Explanation", "failures -o json"]);
    of_baseline("{\"kind\": \"\\u001b[2JList\", \"apiVersion\": \"v1\"}").refused(1, &["is no FailureReport but List"]);
    of_baseline("{}").refused(1, &["is no FailureReport"]);
    let later = report(&[]).replace(
        "\"kubectl-sigapps/v1alpha1\",\n    \"kind\": \"FailureReport\"",
        "\"kubectl-sigapps/v2\",\n    \"kind\": \"FailureReport\"",
    );
    of_baseline(&later).refused(1, &["version kubectl-sigapps/v2", "v1alpha1"]);
    of_baseline("{\"kind\": \"FailureReport\"}").refused(1, &["version (none)"]);
    of_baseline("{\"kind\": \"FailureReport\", \"apiVersion\": \"kubectl-sigapps/v1alpha1\"}")
        .refused(1, &["is not JSON as"]);
    let whole = report(&[]);
    of_baseline(&whole[..whole.len() / 2]).refused(1, &["is not JSON"]);
    let first = reports.keep(&whole);
    let second = beside(&first, &["-o", "json"]).stdout;
    of_baseline(&second).refused(1, &["was itself made with --baseline"]);
}
