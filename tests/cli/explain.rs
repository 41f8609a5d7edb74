use serde_json::Value;

use crate::support::{WORLD, is_command, project, run};

/// Workloads and pods of the recorded cluster, of every kind and state.
const SUBJECTS: [&str; 22] = [
    "jobset/llama-70b",
    "jobset/finetune",
    "jobset/no-policy",
    "jobset/restarting",
    "jobset/stuck-restart",
    "jobset/low-train",
    "jobset/rl-loop",
    "job/train-config-error",
    "job/shard-eval",
    "job/race",
    "job/with-sidecar",
    "job/thumbnails",
    "job/flaky-onfailure",
    "job/report",
    "job/bad-image",
    "job/all-good",
    "job/queued",
    "job/sweep",
    "cronjob/backup",
    "pod/with-sidecar-c8282",
    "pod/thumbnails-fgnxs",
    "pod/llama-70b-slice-1-0-d2xfr",
];

fn explained(subject: &str, more: &[&str]) -> String {
    run(&[&["explain", subject, "-f", WORLD], more].concat()).env("COLUMNS", "120").output()
}

#[test]
fn an_explanation_is_one_screen_and_its_first_line_the_answer() {
    for subject in SUBJECTS {
        let text = explained(subject, &[]);
        assert!(text.lines().count() <= 50, "{subject}: {} lines\n{text}", text.lines().count());
        for line in text.lines().filter(|line| !is_command(line)) {
            assert!(line.chars().count() <= 120, "{line:?} is too wide");
        }
        let name = subject.split_once('/').unwrap().1;
        assert!(text.lines().next().unwrap().contains(name), "{text}");
    }
}

#[test]
fn sections_stand_in_the_order_in_which_they_are_asked_for() {
    let text = explained("jobset/llama-70b", &[]);
    let places: Vec<usize> = ["ATTEMPT", "Timeline", "failurePolicy of", "Evidence", "Not known", "Next"]
        .iter()
        .map(|section| text.find(section).unwrap_or_else(|| panic!("no {section} in\n{text}")))
        .collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn rules_says_why_each_rule_matched_or_not() {
    let text = explained("job/shard-eval", &["--rules"]);
    for why in [
        "rule 0 not matched: exit code 1 is not in [43]",
        "rule 1 not matched: exit code 1 is not in [75]",
        "→ no rule matched: it counts towards backoffLimit",
        "→ rule 1 matched: container eval ended with exit code 75",
    ] {
        assert!(text.contains(why), "{why:?} is missing in\n{text}");
    }
    assert!(!explained("job/shard-eval", &[]).contains("not matched"));
    assert!(explained("pod/with-sidecar-c8282", &[]).contains("rule 0 matched"), "a pod is always told rule by rule");
}

#[test]
fn json_and_yaml_are_valid_against_the_published_schema() {
    let schema = std::fs::read(project().join("docs/schema/explanation.v1alpha1.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
    for subject in SUBJECTS {
        let json: Value = serde_json::from_str(&explained(subject, &["-o", "json"])).unwrap();
        let errors: Vec<_> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{subject}");
        assert_eq!((&json["apiVersion"], &json["kind"]), (&"kubectl-sigapps/v1alpha1".into(), &"Explanation".into()));
        let yaml: Value = serde_saphyr::from_str(&explained(subject, &["-o", "yaml"])).unwrap();
        assert!(yaml == json, "{subject}: YAML and JSON differ");
    }
}

#[test]
fn markdown_has_headings_tables_and_code() {
    let text = explained("jobset/llama-70b", &["-o", "markdown"]);
    for part in [
        "# JobSet ml-team/llama-70b\n",
        "**JobSet ml-team/llama-70b failed ",
        "## Attempts\n\n| ATTEMPT | STARTED |",
        "| 1 | 09:12:13Z | 10s | DisruptionTarget, pod llama-70b-slice-1-1-n5dmp on gpu-node-5 | hostMaintenance | restart, not counted |",
        "## Timeline\n",
        "   ```sh\n   kubectl logs -n ml-team llama-70b-slice-1-0-d2xfr -c trainer\n   ```",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

#[test]
fn the_same_input_gives_the_same_explanation() {
    for format in ["text", "json", "yaml", "markdown"] {
        let once = explained("jobset/llama-70b", &["-o", format]);
        assert_eq!(once, explained("jobset/llama-70b", &["-o", format]), "{format}");
    }
}

#[test]
fn a_subject_is_named_in_one_argument_or_two() {
    let one = explained("jobset/llama-70b", &[]);
    let two = run(&["explain", "jobset", "llama-70b", "-f", WORLD]).env("COLUMNS", "120").output();
    let bare = run(&["explain", "llama-70b", "-f", WORLD]).env("COLUMNS", "120").output();
    assert!(one == two && one == bare);
}

#[test]
fn what_cannot_be_explained_is_an_error() {
    for (arguments, code, said) in [
        (
            &["explain", "jobset/lama-70b"][..],
            1,
            "error: jobset/lama-70b is not in the data; did you mean jobset/llama-70b?",
        ),
        (
            &["explain", "service/x"],
            2,
            "error: kind \"service\" is not known: it takes job, cronjob, jobset, deployment, ",
        ),
        (&["explain", "jobset"], 2, "error: give the name as well: jobset/NAME"),
    ] {
        let ran = run(&[arguments, &["-f", WORLD]].concat()).done();
        ran.refused(code, &[said]);
    }
}

#[test]
fn nothing_from_a_container_reaches_the_terminal_or_the_notes_raw() {
    let evil = r#"{"apiVersion":"v1","kind":"List","items":[
        {"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"n","uid":"j"},"spec":{},"status":{"failed":1}},
        {"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n","uid":"p","ownerReferences":[
            {"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"j","controller":true}]},
         "status":{"phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":1,
            "finishedAt":"2026-11-30T09:00:00Z","message":"\u001b]0;owned\u0007\u001b[2Jred\u009b31m <img src=x> | `x` \u202e\nsecond"}}}]}}]}"#;
    for format in ["text", "json", "yaml", "markdown"] {
        let printed = run(&["explain", "job/j", "-f", "-", "-o", format]).stdin(evil).output();
        let raw = |c: char| c.is_control() && c != '\n';
        assert!(!printed.chars().any(|c| raw(c) || c == '\u{202e}'), "{format}: {printed:?}");
    }
    let markdown = run(&["explain", "job/j", "-f", "-", "-o", "markdown"]).stdin(evil).output();
    assert!(!markdown.contains(" <img"), "{markdown}");
}

/// Words that cannot be broken: commands, paths, names.
fn is_one_word(line: &str) -> bool {
    !line.trim_start_matches(['→', '-', ' ']).trim().contains(' ')
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [20_usize, 40, 80] {
        for subject in ["jobset/llama-70b", "jobset/stuck-restart", "job/shard-eval", "cronjob/backup"] {
            let ran = run(&["explain", subject, "-f", WORLD, "--rules"]).env("COLUMNS", &width.to_string()).output();
            for line in ran.lines().filter(|line| !is_command(line) && !is_one_word(line)) {
                assert!(line.chars().count() <= width, "{subject} at {width}: {line:?}");
            }
        }
    }
}

/// The restarts that are left and what was held stand in one line, where the verdict does not tell of them.
#[test]
fn the_budget_is_wrapped() {
    let job_set = r#"{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"js","namespace":"ns","uid":"u","creationTimestamp":"2026-11-30T09:00:00Z"},
        "spec":{"replicatedJobs":[{"name":"a","replicas":1,"template":{"spec":{"template":{"spec":{"containers":[{"name":"main","resources":{"limits":{"nvidia.com/gpu":8}}}]}}}}}]},
        "status":{"terminalState":"Failed","conditions":[{"type":"Failed","status":"True","reason":"FailedJobs","message":"jobset failed due to one or more job failures (first failed job: js-a-0)","lastTransitionTime":"2026-11-30T09:04:02Z"}]}}
        {"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"js-a-0","namespace":"ns","uid":"j","creationTimestamp":"2026-11-30T09:00:01Z","labels":{"jobset.sigs.k8s.io/restart-attempt":"0"},
            "ownerReferences":[{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","name":"js","uid":"u","controller":true}]},"spec":{},
        "status":{"startTime":"2026-11-30T09:00:01Z","conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded","message":"m","lastTransitionTime":"2026-11-30T09:04:01Z"}]}}"#;
    let text = run(&["explain", "jobset/js", "-f", "-"]).stdin(job_set).env("COLUMNS", "80").output();
    assert!(text.contains("0.5 GPU-h held by"), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line:?}");
    }
}

/// A Job whose pods ended, or wait, in so many ways that there are more suggestions, judgements and facts than a screen has
/// room for.
fn troubled() -> String {
    let owner = r#"[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"j","controller":true}]"#;
    let pod = |name: &str, status: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"n","uid":"{name}","ownerReferences":{owner}}},"status":{status}}}"#
        )
    };
    let ended = |end: &str| {
        format!(
            r#"{{"phase":"Failed","containerStatuses":[{{"name":"c","state":{{"terminated":{{{end},"finishedAt":"2026-11-30T09:00:00Z"}}}}}}]}}"#
        )
    };
    let mut objects = vec![
        r#"{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"n","uid":"j"},"spec":{"backoffLimit":50,"podFailurePolicy":{"rules":[
            {"action":"FailJob","onExitCodes":{"operator":"In","values":[99]}}]}},"status":{"failed":12}}"#
            .to_owned(),
        pod("oom", &ended(r#""exitCode":137,"reason":"OOMKilled""#)),
        pod("no-such-file", &ended(r#""exitCode":127"#)),
        pod("evicted", r#"{"phase":"Failed","reason":"Evicted","message":"The node was low on resource: ephemeral-storage.","startTime":"2026-11-30T09:00:00Z"}"#),
        pod("image", r#"{"phase":"Pending","startTime":"2026-11-30T09:00:00Z","containerStatuses":[{"name":"c","image":"i","state":{"waiting":{"reason":"ImagePullBackOff"}}}]}"#),
    ];
    objects.extend((1..=8).map(|code| pod(&format!("p{code}"), &ended(&format!(r#""exitCode":{code}"#)))));
    objects.join("\n")
}

/// `and 2 more: -o json has them all`, below a section.
fn more_in(section: &str) -> Option<usize> {
    let mut counts = section
        .lines()
        .filter_map(|line| line.trim().strip_prefix("and ")?.strip_suffix(" more: -o json has them all")?.parse().ok());
    counts.next_back()
}

#[test]
fn what_is_not_shown_is_counted() {
    let explain = |more: &[&str]| {
        run(&[&["explain", "job/j", "-f", "-"], more].concat()).stdin(troubled()).env("COLUMNS", "120").output()
    };
    let json: Value = serde_json::from_str(&explain(&["-o", "json"])).unwrap();
    let of = |field: &str| json[field].as_array().unwrap().len();
    let text = explain(&["--rules"]);
    let (judged, rest) = text.split_once("\nEvidence\n").unwrap();
    let (evidence, next) = rest.split_once("\nNext\n").unwrap();
    assert!(of("suggestions") > 3 && of("judged") > 6 && of("evidence") > 12, "{json:#}");
    assert_eq!(more_in(judged), Some(of("judged") - 6), "{text}");
    assert_eq!(more_in(evidence), Some(of("evidence") - 3), "{text}");
    assert_eq!(more_in(next), Some(of("suggestions") - 3), "{text}");
    let notes = explain(&["-o", "markdown", "--rules"]);
    let (judged, evidence) = notes.split_once("## Evidence\n").unwrap();
    assert_eq!(more_in(judged), Some(of("judged") - 6), "{notes}");
    assert_eq!(more_in(evidence.split_once("\n## ").unwrap().0), Some(of("evidence") - 12), "{notes}");
}

#[test]
fn policies_that_are_not_shown_are_counted() {
    let replicated = |number: usize| {
        format!(
            r#"{{"name":"r{number}","template":{{"spec":{{"podFailurePolicy":{{"rules":[{{"action":"FailJob","onExitCodes":{{"operator":"In","values":[{number}]}}}}]}}}}}}}}"#
        )
    };
    let all: Vec<String> = (1..=5).map(replicated).collect();
    let job_set = format!(
        r#"{{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{{"name":"js","namespace":"ns","uid":"u"}},"spec":{{"replicatedJobs":[{}]}}}}"#,
        all.join(",")
    );
    let explain = |format| run(&["explain", "jobset/js", "-f", "-", "-o", format]).stdin(job_set.clone()).output();
    let json: Value = serde_json::from_str(&explain("json")).unwrap();
    let policies = json["policies"].as_array().unwrap().len();
    assert!(policies > 3, "{json:#}");
    assert_eq!(more_in(&explain("text")), Some(policies - 3));
}

/// A person must see what a suggestion rests on, and which of its commands do more than to read.
#[test]
fn a_suggestion_shows_its_evidence_and_what_its_commands_do() {
    let text = explained("job/thumbnails", &[]);
    let path = "status.containerStatuses[name=resize].state.terminated.exitCode = 137";
    for part in [
        &*format!("   because pod/data/thumbnails-rvlb9 {path}\n"),
        "\n   kubectl describe pod thumbnails-rvlb9 -n data\n",
        "\n   destroys: kubectl sigapps restart job/thumbnails -n data ",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
    let notes = explained("job/thumbnails", &["-o", "markdown"]);
    for part in [
        "   because pod/data/thumbnails-rvlb9 status.containerStatuses\\[name=resize\\].state.terminated.exitCode = 137 and pod/",
        "; and 2 more: -o json\n",
        "   destroys:\n\n   ```sh\n   kubectl sigapps restart job/thumbnails",
    ] {
        assert!(notes.contains(part), "{part:?} is missing in\n{notes}");
    }
    let json: Value = serde_json::from_str(&explained("job/thumbnails", &["-o", "json"])).unwrap();
    assert_eq!(json["suggestions"][0]["commandSafety"], serde_json::json!(["readOnly", "destructive"]));
}
