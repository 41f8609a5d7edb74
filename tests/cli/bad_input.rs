use crate::support::{WORLD, run};

#[test]
fn what_cannot_be_read_at_all_is_one_line() {
    run(&["failures", "-f", "no/such/file"]).done().refused(1, &["no/such/file"]);
    run(&["failures", "-f", "-"]).done().refused(1, &["empty"]);
    run(&["failures", "-f", "-"]).stdin("neither fish nor fowl").done().refused(1, &["neither"]);
    run(&["failures", "-f", "-"]).stdin(vec![0xff, 0x00, 0xfe, 0x01]).done().refused(1, &[]);
    run(&["failures", "-f", "-"]).stdin(r#"{"some": "json"}"#).done().refused(1, &[]);
}

#[test]
fn a_broken_object_is_skipped_named_and_nothing_else_is_lost() {
    let lines = r#"{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"n","uid":"j"},"status":{"failed":1}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":5}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n","uid":"p","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"j","controller":true}]},"status":{"phase":"Failed"}}
"#;
    let ran = run(&["failures", "-f", "-"]).stdin(lines).done();
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.starts_with("1 failure in 1 workload"), "{}", ran.stdout);
    assert!(ran.stdout.contains("incomplete"), "the first screen says so, too: {}", ran.stdout);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("object 2"), "{}", ran.stderr);
}

#[test]
fn a_truncated_dump_gives_what_was_whole() {
    let bytes = std::fs::read(crate::support::project().join(WORLD)).unwrap();
    let mut whole = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut whole).unwrap();
    let ran = run(&["failures", "-f", "-", "-o", "json"]).stdin(&whole[..whole.len() / 2]).done();
    assert_eq!(ran.code, 0);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let sources = report["sources"].as_array().unwrap();
    let file = sources.iter().find(|source| source["resource"] == "files").unwrap();
    assert_eq!(file["state"], "unreadable");
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    let objects: u64 =
        sources.iter().filter(|s| s["resource"] != "files").map(|s| s["objects"].as_u64().unwrap()).sum();
    assert!(objects > 100, "{objects}");
}

#[test]
fn a_dump_without_jobs_says_that_policies_are_unknown() {
    let pod = r#"{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"p","namespace":"n","uid":"p","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"j","controller":true}]},"status":{"phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":3}}}]}}]}"#;
    let ran = run(&["failures", "-f", "-"]).stdin(pod).done();
    assert!(ran.stdout.contains("(policy unknown)"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("(no policy)"), "{}", ran.stdout);
}

#[test]
fn several_files_are_one_cluster_and_objects_in_both_count_once() {
    let twice = run(&["failures", "-f", WORLD, "-f", WORLD, "-o", "jsonl"]).output();
    assert_eq!(twice, run(&["failures", "-f", WORLD, "-o", "jsonl"]).output());
}

#[test]
fn other_kinds_are_ignored_without_a_word() {
    let mixed = r#"{"apiVersion":"example.com/v1","kind":"Widget","spec":{"x":[1,{"y":null}]}}
{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"n","uid":"j"}}"#;
    let ran = run(&["failures", "-f", "-"]).stdin(mixed).done();
    assert_eq!((ran.code, &*ran.stderr), (0, ""));
    assert!(ran.stdout.starts_with("No failures found"), "{}", ran.stdout);
    let report = run(&["failures", "-f", "-", "-o", "json"]).stdin(mixed).output();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["ignored"], serde_json::json!({"Widget": 1}), "counted");
}

#[test]
fn a_time_in_the_future_is_warned_of() {
    let job = r#"{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"n","uid":"j","creationTimestamp":"2999-01-01T00:00:00Z"}}"#;
    let ran = run(&["failures", "-f", "-"]).stdin(job).done();
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.starts_with("warning: the newest time in the data, 2999-01-01T00:00:00Z"), "{}", ran.stderr);
}

#[test]
fn what_has_the_name_and_is_of_another_kind_is_offered() {
    let objects = r#"{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"js1","namespace":"n","uid":"s"}}
        {"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"js1-a-0","namespace":"n","uid":"j"}}"#;
    for (asked, said) in [
        ("js1", "error: job/js1 is not in the data; did you mean jobset/js1?"),
        ("jobset/js1-a-0", "error: jobset/js1-a-0 is not in the data; did you mean job/js1-a-0?"),
    ] {
        run(&["failures", asked, "-f", "-"]).stdin(objects).done().refused(1, &[said]);
    }
}
