use crate::support::{WORLD, run};

#[test]
fn exit_codes_tell_the_outcome_only_where_asked_for() {
    let code = |arguments: &[&str]| run(&[&["failures", "-f", WORLD], arguments].concat()).done().code;
    assert_eq!(code(&[]), 0);
    assert_eq!(code(&["--exit-code"]), 3);
    assert_eq!(code(&["--exit-code", "-n", "kube-agents"]), 3);
    assert_eq!(code(&["--exit-code", "deployment/api-ok"]), 0);
    assert_eq!(code(&["--exit-code", "-o", "jsonl"]), 3);
}

#[test]
fn a_report_with_gaps_outranks_failures_found() {
    let cut_off = r#"{"apiVersion":"v1","kind":"List","items":[
        {"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"n","uid":"j"}},{"apiVersion":"v1","#;
    let ran = run(&["failures", "-f", "-", "--exit-code"]).stdin(cut_off).done();
    assert_eq!(ran.code, 4, "{ran:?}");
    assert_eq!(run(&["failures", "-f", "-"]).stdin(cut_off).done().code, 0);
}

#[test]
fn wrong_usage_exits_with_2_and_names_what_is_right() {
    for (arguments, words) in [
        (&["failures", "-f", WORLD, "-o", "xml"][..], &["xml", "jsonl", "wide"][..]),
        (&["failures", "-f", WORLD, "--class", "odd"], &["odd", "noPolicy"]),
        (&["failures", "-f", WORLD, "--group-by", "colour"], &["colour", "workload"]),
        (&["failures", "-f", WORLD, "--since", "yesterday"], &["yesterday", "1h30m"]),
        (&["failures", "-f", WORLD, "--since", "5"], &["1h30m"]),
        (&["failures", "-f", WORLD, "-l", "a b"], &["key=value"]),
        (&["failures", "-f", WORLD, "pod/x"], &["explain pod/NAME"]),
        (&["failures", "-f", WORLD, "service/x"], &["service", "deployment", "node"]),
        (&["failures", "--no-such-flag"], &["--no-such-flag", "--help"]),
        (&["failures", "-f", WORLD, "-A", "-n", "x"], &["-A and -n"]),
        (&["fail"], &["fail", "failures"]),
    ] {
        let ran = run(arguments).done();
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert_eq!(ran.stdout, "", "{arguments:?}");
        for word in words {
            assert!(ran.stderr.contains(word), "{word:?} is missing in {}", ran.stderr);
        }
    }
}

#[test]
fn help_has_examples_first_and_the_exit_codes() {
    let help = run(&["failures", "--help"]).output();
    assert!(help.starts_with("Examples:"), "{help}");
    assert!(help.contains("kubectl sigapps failures -A --since 12h"));
    assert!(help.contains("Exit codes:\n  0    the report was made"));
    assert!(help.contains("Connection:"));
    for flag in [
        "--kubeconfig",
        "--context",
        "--cluster",
        "--user",
        "--namespace",
        "--server",
        "--token",
        "--as",
        "--as-group",
        "--as-uid",
        "--certificate-authority",
        "--client-certificate",
        "--client-key",
        "--insecure-skip-tls-verify",
        "--tls-server-name",
        "--request-timeout",
        "--proxy-url",
        "--all-namespaces",
        "--selector",
        "--output",
        "--filename",
        "--chunk-size",
        "--no-headers",
    ] {
        assert!(help.contains(flag), "{flag}");
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for arguments in [&["--help"][..], &["help"], &["failures", "-h"], &["--version"]] {
        let ran = run(arguments).done();
        assert_eq!((ran.code, &*ran.stderr), (0, ""), "{arguments:?}");
        assert!(!ran.stdout.is_empty());
    }
}

#[test]
fn without_cluster_and_file_both_ways_on_are_told() {
    let ran = run(&["failures"]).done();
    ran.refused(1, &["--kubeconfig", "-f ", "examples/cluster.json.gz"]);
}

#[test]
fn a_password_in_an_address_is_printed_nowhere() {
    let live = run(&["failures", "-n", "x", "--server", "https://u:s3cret@127.0.0.1:1"]).done();
    assert_eq!(live.code, 1);
    assert!(live.stderr.contains("127.0.0.1:1") && !live.stderr.contains("s3cret"), "{}", live.stderr);
    let flags = ["--server", "https://u:s3cret@there:6443", "--token", "s3cret", "--password", "s3cret"];
    let printed = run(&[&["failures", "-f", WORLD, "-o", "wide"], &flags[..]].concat()).output();
    assert!(!printed.contains("s3cret"));
    assert!(printed.contains("--server=https://there:6443"), "{printed}");
}

#[test]
fn suggested_commands_reach_the_same_cluster_as_the_same_user() {
    let flags = ["--context=dev cluster", "--as=jane", "--as-group=ml", "--insecure-skip-tls-verify"];
    let printed = run(&[&["failures", "-f", WORLD, "-o", "wide"], &flags[..]].concat()).output();
    let command =
        "kubectl describe node gpu-node-11 '--context=dev cluster' --as=jane --as-group=ml --insecure-skip-tls-verify";
    assert!(printed.contains(command), "{printed}");
}

#[test]
fn a_workload_that_is_not_in_the_dump_is_an_error_with_the_nearest_names() {
    run(&["failures", "-f", WORLD, "rac"]).done().refused(1, &["job/rac is not in the data", "race"]);
    run(&["failures", "-f", WORLD, "jobset/llama"]).done().refused(1, &["llama-70b"]);
    run(&["failures", "-f", WORLD, "race", "-n", "data"]).done().refused(1, &["job/race"]);
}

#[test]
fn the_token_is_nowhere_in_a_message() {
    let arguments = ["failures", "-n", "x", "--server", "http://127.0.0.1:1", "--token", "s3cr3t-t0ken"];
    let ran = run(&arguments).done();
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("127.0.0.1:1"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("s3cr3t"), "{}", ran.stderr);
}
