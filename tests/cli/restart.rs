use crate::support::run;

#[test]
fn wrong_usage_exits_with_2_before_anything_is_asked() {
    for (arguments, words) in [
        (&["restart"][..], &["KIND/NAME"][..]),
        (&["restart", "etl"], &["say what \"etl\" is, as in job/etl", "statefulset"]),
        (&["restart", "jobs"], &["give the name as well: jobs/NAME"]),
        (&["restart", "pod/x"], &["kind \"pod\" cannot be restarted", "leaderworkerset"]),
        (&["restart", "job/A_B"], &["is not a name"]),
        (&["restart", "job/a", "job/b"], &["one thing to restart"]),
        (&["restart", "job/a", "--dry-run=perhaps"], &["perhaps", "server"]),
        (&["restart", "job/a", "--dry-run=none"], &["needs --yes where nobody can be asked"]),
        (&["restart", "job/a", "--group", "1"], &["--group is for a leaderworkerset"]),
        (&["restart", "job/a", "--timeout", "soon"], &["soon", "1h30m"]),
        (&["restart", "job/a", "-o", "table"], &["table", "yaml"]),
    ] {
        let ran = run(arguments).done();
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}: {ran:?}");
        for word in words {
            assert!(ran.stderr.contains(word), "{word:?} is missing in {}", ran.stderr);
        }
    }
}

#[test]
fn without_a_cluster_the_error_is_the_one_of_every_command() {
    run(&["restart", "job/a", "--yes"]).done().refused(1, &["no kubeconfig found"]);
}

#[test]
fn the_help_tells_the_kinds_the_flags_and_the_exit_codes() {
    let help = run(&["restart", "--help"]).output();
    for words in
        ["leaderworkerset", "--dry-run", "--keep", "--allow-checkpoint-loss", "--save-logs", "--save-to", "130  "]
    {
        assert!(help.contains(words), "{words}: {help}");
    }
}

#[test]
fn the_published_schema_is_the_one_that_is_printed() {
    let published =
        std::fs::read_to_string(crate::support::project().join("docs/schema/restart.v1alpha1.json")).unwrap();
    assert_eq!(run(&["schema", "restart"]).output(), published);
}
