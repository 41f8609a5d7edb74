use crate::support::{WORLD, is_command, run};

fn table(width: &str, more: &[&str]) -> String {
    run(&[&["failures", "-f", WORLD], more].concat()).env("COLUMNS", width).output()
}

#[test]
fn the_default_view_is_one_screen() {
    for width in ["80", "120", "160"] {
        let view = table(width, &[]);
        assert!(view.lines().count() <= 40, "{view}");
        // A command is never cut; all else keeps within the terminal.
        let columns: usize = width.parse().unwrap();
        for line in view.lines().skip(2).filter(|line| !is_command(line)) {
            assert!(line.chars().count() <= columns, "{line:?} is wider than {width}");
        }
    }
}

#[test]
fn the_first_line_is_the_answer() {
    let view = table("120", &[]);
    let mut lines = view.lines();
    assert_eq!(
        lines.next().unwrap(),
        "111 failures in 30 workloads, 13 of them collateral, 45 without a pod left, 1.1 GPU-min in failed attempts"
    );
    assert_eq!(
        lines.next().unwrap(),
        "as of 2026-11-30T09:14:31Z; 37 jobs, 24 other workloads, 107 pods, 809 events read"
    );
}

#[test]
fn the_view_names_what_a_person_must_not_miss() {
    let view = table("120", &[]);
    for part in [
        "exit 143 (proxy, sidecar)    Ignore      5         job/with-sidecar",
        "sidecar trap: app exi",
        "exit 42 (trainer)            FailJob     1 (+3)",
        "userError ← exit 42 (train…  FailJobSet  1 (+1)    jobset/llama-70b",
        "hostMaintenance ← Disrupti…  RestartJo…  1         jobset/llama-70b",
        "(default) ← BackoffLimitEx…  ReachedMa…  1 (+1)    jobset/finetune",
        "(no rule can match)          counted     2         job/gpu-probe",
        "(lost)                       -           36        leaderworkerset/vllm",
        "(restarts in place)          -           3         deployment/web",
        "2 workloads completed in spite of 3 failures: --all shows them",
        "Edit the policy        job/with-sidecar: give rule 0 containerName: app",
        "   kubectl logs -n ml-team llama-70b-slice-1-0-d2xfr -c trainer",
        "(+N) are collateral, torn down with their Job: 3 job/train-config-error,",
        "Xid79, exit 134 (trai",
    ] {
        assert!(view.contains(part), "{part:?} is missing in\n{view}");
    }
}

#[test]
fn wide_shows_every_group_and_cuts_nothing_off() {
    let view = table("40", &["-o", "wide"]);
    let table = view.lines().skip_while(|line| !line.starts_with("RULE")).skip(1);
    let rows = table.take_while(|line| !line.starts_with("(+N)")).count();
    assert_eq!(rows, 35, "all groups but the collateral shown beside its causes");
    assert!(view.contains(
        "Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 4, Available: 0"
    ));
    assert!(!view.contains("-o wide shows all"));
}

/// A screen has room for one command; what a later one loses would be read as the loss of that.
#[test]
fn what_is_lost_stands_below_the_command_that_loses_it() {
    let screen = table("160", &[]);
    assert!(screen.contains("more, and 1 command more: -o wide"), "{screen}");
    assert!(screen.contains("kubectl describe pod thumbnails-") && !screen.contains("   loses"), "{screen}");
    let alone = table("160", &["job/gpu-probe", "-n", "ml-team"]);
    assert!(alone.contains("   kubectl sigapps restart job/gpu-probe -n ml-team\n   loses its pods"), "{alone}");
    // Where there is room, all that is advised is shown.
    let one = table("160", &["job/thumbnails", "-n", "data"]);
    assert!(
        one.contains("kubectl describe pod thumbnails-") && one.contains("kubectl sigapps restart job/thumbnails"),
        "{one}"
    );
    let wide = table("160", &["-o", "wide"]);
    assert!(wide.contains("   and 1 command more; it is for jobset/finetune, "), "{wide}");
    let lost = wide.lines().zip(wide.lines().skip(1)).filter(|(_, below)| below.starts_with("   loses"));
    // Of many workloads the last line tells which it is for.
    let destroys = |above: &str| above.contains(" restart ") || above.contains("; it is for ");
    assert!(lost.clone().count() > 0 && lost.clone().all(|(above, _)| destroys(above)), "{wide}");
}

/// They have no room on one screen.
#[test]
fn wide_shows_what_suggestions_rest_on_and_what_their_commands_do() {
    let (screen, wide) = (table("160", &[]), table("160", &["-o", "wide"]));
    for part in ["   because pod/", "   and pod/", "; and 2 more: -o json\n", "   destroys: kubectl sigapps restart "] {
        assert!(wide.contains(part), "{part:?} is missing in\n{wide}");
        assert!(!screen.contains(part), "{part:?} is in\n{screen}");
    }
}

#[test]
fn heads_can_be_left_out() {
    assert!(table("120", &[]).contains("WHAT HAPPENED"));
    assert!(!table("120", &["--no-headers"]).contains("WHAT HAPPENED"));
}

#[test]
fn colours_are_used_only_where_they_are_asked_for() {
    assert!(!table("120", &[]).contains('\u{1b}'), "not into a pipe");
    assert!(!table("120", &["--color", "never"]).contains('\u{1b}'));
    let coloured = table("120", &["--color", "always"]);
    assert!(coloured.contains("\u{1b}[1m"));
    let mut plain = String::new();
    let mut rest = &*coloured;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    plain.push_str(rest);
    assert_eq!(plain, table("120", &[]), "colours change nothing but colour");
}

#[test]
fn a_namespace_narrows_the_view() {
    let view = table("120", &["-n", "queue-team"]);
    assert!(view.starts_with("5 failures in 2 workloads"), "{view}");
    assert!(!view.contains("job/race"));
}

#[test]
fn a_workload_by_name_narrows_the_view() {
    for target in ["race", "job/race", "jobs.batch/race"] {
        assert!(table("120", &[target]).starts_with("4 failures in 1 workload"), "{target}");
    }
    assert!(table("120", &["jobset/llama-70b"]).starts_with("4 failures in 1 workload"));
    assert!(table("120", &["cronjob/backup", "race"]).starts_with("7 failures in 2 workloads"));
}

#[test]
fn classes_narrow_the_view() {
    let view = table("120", &["--class", "lost,unmatchable"]);
    assert!(view.starts_with("47 failures in 8 workloads, 45 without a pod left"), "{view}");
    let collateral = table("120", &["--class", "collateral"]);
    assert!(collateral.contains("(collateral)"), "{collateral}");
}

#[test]
fn nothing_found_is_said_with_where_was_looked() {
    let view = table("120", &["deployment/api-ok", "-n", "shop"]);
    assert!(view.starts_with("No failures found of deployment/api-ok in namespace shop\nas of "), "{view}");
    assert!(view.contains("0 jobs, 3 other workloads, 7 pods"), "{view}");
    let view = table("120", &["-l", "app=none", "--since", "5m"]);
    assert!(view.starts_with("No failures found in any namespace with app in (none) in the last 300 s\n"), "{view}");
}

#[test]
fn nothing_from_a_container_reaches_the_terminal_raw() {
    let evil = r#"{"apiVersion":"v1","kind":"List","items":[
        {"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"n","uid":"j"},"spec":{},"status":{"failed":1}},
        {"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n","uid":"p","ownerReferences":[
            {"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"j","controller":true}]},
         "status":{"phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":1,
            "message":"\u001b]0;owned\u0007\u001b[2Jred\u009b31m alert\u202e\nsecond"}}}]}}]}"#;
    for format in [&[][..], &["-o", "wide"], &["-o", "json"], &["-o", "jsonl"], &["-o", "yaml"]] {
        let printed = run(&[&["failures", "-f", "-"], format].concat()).stdin(evil).output();
        let raw = |c: char| c.is_control() && c != '\n';
        assert!(!printed.chars().any(|c| raw(c) || c == '\u{202e}'), "{format:?}: {printed:?}");
    }
    let lines = run(&["failures", "-f", "-", "-o", "jsonl"]).stdin(evil).output();
    let line: serde_json::Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(line["message"], "\u{1b}]0;owned\u{7}\u{1b}[2Jred\u{9b}31m alert\u{202e}\nsecond", "kept as it was");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::io::Read;
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-sigapps"))
        .args(["failures", "-f", WORLD, "--all", "-o", "jsonl"])
        .current_dir(crate::support::project())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 10]).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}

#[test]
fn what_is_grouped_by_heads_the_table_and_each_row() {
    for (by, head, row) in [
        ("node", "NODE", "gpu-node-4 "),
        ("reason", "REASON", "OOMKilled "),
        ("workload", "WORKLOAD", "ml-team/job/race "),
        ("namespace", "NAMESPACE", "queue-team "),
        ("cause", "CAUSE", "OOMKilled (resize) "),
    ] {
        let view = table("160", &["--group-by", by, "-o", "wide"]);
        assert!(view.lines().any(|line| line.starts_with(&format!("{head} "))), "{by}: {view}");
        assert!(view.lines().any(|line| line.starts_with(row)), "{by}: {view}");
        assert!(!view.contains("(+"), "pods torn down stand in the same rows");
        let rows = view.lines().skip_while(|line| !line.starts_with(head)).skip(1).take_while(|line| !line.is_empty());
        let failures = rows.map(|row| {
            let numbers = row.split("  ").map(str::trim).filter_map(|cell| cell.parse::<u64>().ok());
            numbers.into_iter().next().unwrap()
        });
        assert_eq!(failures.sum::<u64>(), 111, "{by}");
    }
}

#[test]
fn advice_is_the_same_however_failures_are_grouped() {
    let advice = |by: &str| {
        let report: serde_json::Value = serde_json::from_str(&table("120", &["-o", "json", "--group-by", by])).unwrap();
        let suggestions = report["suggestions"].as_array().unwrap().clone();
        let mut all: Vec<String> = suggestions.iter().map(|s| format!("{}: {}", s["subject"], s["why"])).collect();
        all.sort();
        all
    };
    let by_rule = advice("rule");
    assert!(by_rule.len() > 15);
    for by in ["cause", "node", "workload", "namespace", "reason"] {
        assert_eq!(advice(by), by_rule, "{by}");
    }
}

#[test]
fn the_time_of_the_data_does_not_depend_on_what_is_asked_of_it() {
    let as_of = |more: &[&str]| table("120", more).lines().nth(1).unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(as_of(&["-n", "queue-team"]), as_of(&[]));
    assert_eq!(as_of(&["-n", "nowhere"]), as_of(&[]));
}

#[test]
fn nothing_found_repeats_what_was_asked_for() {
    let view = table("120", &["race", "--class", "pending,lost", "-n", "ml-team"]);
    assert!(view.starts_with("No failures found of class pending, lost of job/race in namespace ml-team\n"), "{view}");
}

#[test]
fn many_notes_do_not_push_the_answer_off_the_screen() {
    let jobs = (0..100).map(|n| {
        format!(r#"{{"apiVersion":"batch/v1","kind":"Job","metadata":{{"name":"j{n}","namespace":"n","uid":"j{n}"}},"spec":{{"managedBy":"example.com/m{n}"}},"status":{{"failed":1}}}}"#)
    });
    let dump = jobs.collect::<Vec<_>>().join("\n");
    let view = run(&["failures", "-f", "-"]).env("COLUMNS", "120").stdin(dump).output();
    assert!(view.lines().count() <= 40, "{view}");
    assert!(view.contains("notes more: -o wide shows all"), "{view}");
}

#[test]
fn namespaces_are_shown_where_there_are_several_and_room_for_them() {
    assert!(table("140", &[]).contains("NAMESPACES"));
    assert!(table("140", &[]).lines().any(|line| line.contains("job/with-sidecar") && line.contains("  data  ")));
    assert!(!table("120", &[]).contains("NAMESPACES"));
    assert!(!table("140", &["-n", "data"]).contains("NAMESPACES"));
}
