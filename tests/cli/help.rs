//! What `--help`, `version` and the manual pages tell, of each command alike.

use std::fs;

use serde_json::Value;

use crate::support::run;

/// All commands that are shown.
fn commands() -> Vec<String> {
    let told = run(&["__complete", ""]).output();
    let names = told.lines().filter_map(|line| Some(line.split_once('\t')?.0.to_owned()));
    let names: Vec<String> = names.filter(|name| name != "help").collect();
    assert!(names.len() >= 8, "{names:?}");
    names
}

fn help(command: Option<&str>, columns: &str) -> String {
    let arguments: Vec<&str> = command.into_iter().chain(["--help"]).collect();
    run(&arguments).env("COLUMNS", columns).output()
}

fn section<'a>(help: &'a str, heading: &str) -> &'a str {
    let from = help.find(&format!("\n{heading}:\n")).unwrap_or_else(|| panic!("no {heading} in {help}"));
    let rest = &help[from + heading.len() + 3..];
    // The next heading stands at the beginning of a line.
    let end = rest.match_indices("\n\n").find(|(at, _)| !rest[at + 2..].starts_with([' ', '\n'])).map(|(at, _)| at);
    &rest[..end.unwrap_or(rest.len())]
}

#[test]
fn each_help_has_examples_first_and_exit_codes_last() {
    for command in commands().iter().map(String::as_str).map(Some).chain([None]) {
        let help = help(command, "80");
        assert!(help.starts_with("Examples:\n  # "), "{command:?}: {help}");
        let (_, last) = help.rsplit_once("\n\n").unwrap();
        assert!(last.starts_with("Exit codes:\n  0    "), "{command:?}: {last}");
    }
}

#[test]
fn no_line_of_help_is_wider_than_80_columns_and_no_example_broken() {
    for command in commands().iter().map(String::as_str).map(Some).chain([None]) {
        let narrow = help(command, "80");
        let wide = narrow.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{command:?}");
        let examples = |help: &str| help.split_once("\n\n").map(|_| help.split("Usage:").next().unwrap().to_owned());
        let lines = |help: &str| {
            let examples = examples(help).unwrap();
            examples.lines().take_while(|line| line.is_empty() || line.starts_with([' ', 'E'])).count()
        };
        assert_eq!(lines(&narrow), lines(&help(command, "100")), "{command:?}");
        assert_eq!(section(&narrow, "Exit codes"), section(&help(command, "100"), "Exit codes"), "{command:?}");
    }
}

#[test]
fn kubectls_flags_have_a_heading_of_their_own() {
    for command in ["failures", "explain", "wait", "restart", "record"] {
        let help = help(Some(command), "80");
        let (options, connection) = (section(&help, "Options"), section(&help, "Connection"));
        for flag in ["--kubeconfig", "--context", "--namespace", "--as-group", "--token", "--request-timeout"] {
            assert!(connection.contains(flag), "{command} {flag}: {connection}");
            assert!(!options.contains(flag), "{command} {flag}: {options}");
        }
        assert!(section(&help, "Output").contains("--output"), "{command}");
    }
    let failures = help(Some("failures"), "80");
    assert!(section(&failures, "Selection").contains("--selector"));
    assert!(section(&failures, "Watching").contains("--watch-only"));
}

#[test]
fn the_version_is_told_without_a_cluster() {
    let version = env!("CARGO_PKG_VERSION");
    let told = run(&["version"]).env("KUBECONFIG", "/nowhere").output();
    assert!(told.starts_with(&format!("kubectl-sigapps {version} (")), "{told}");
    let json: Value = serde_json::from_str(&run(&["version", "-o", "json"]).output()).unwrap();
    assert_eq!(json["apiVersion"], "kubectl-sigapps/v1alpha1");
    assert_eq!((&json["kind"], &json["version"]), (&"Version".into(), &version.into()));
    assert!(json["platform"].as_str().unwrap().contains('/'));
    assert!(json["commit"].is_null() || json["commit"].is_string());
    let yaml = run(&["version", "-o", "yaml"]).output();
    assert!(yaml.contains(&format!("\nversion: \"{version}\"\n")), "{yaml}");
    let schema: Value = serde_json::from_str(&run(&["schema", "version"]).output()).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&json));
}

#[test]
fn each_command_has_a_manual_page() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for folder in [&first, &second] {
        run(&["man", folder.path().join("man1").to_str().unwrap()]).output();
    }
    let mut expected: Vec<String> = commands().iter().map(|command| format!("kubectl-sigapps-{command}.1")).collect();
    expected.push("kubectl-sigapps.1".to_owned());
    let folder = first.path().join("man1");
    let mut there: Vec<String> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    expected.sort();
    there.sort();
    assert_eq!(there, expected);
    for name in there {
        let page = fs::read_to_string(folder.join(&name)).unwrap();
        assert_eq!(page, fs::read_to_string(second.path().join("man1").join(&name)).unwrap(), "{name}");
        assert!(page.is_ascii(), "{name}");
        let heads = ["NAME", "SYNOPSIS", "EXAMPLES", "OPTIONS", "EXIT STATUS", "SEE ALSO"];
        let places: Vec<usize> = heads
            .iter()
            .map(|head| {
                let forms = [format!(".SH {head}\n"), format!(".SH \"{head}\"\n")];
                forms.iter().find_map(|form| page.find(form.as_str())).unwrap_or_else(|| panic!("no {head} in {name}"))
            })
            .collect();
        assert!(places.is_sorted(), "{name}: {places:?}");
    }
    let page = fs::read_to_string(folder.join("kubectl-sigapps-failures.1")).unwrap();
    for part in [".SH CONNECTION\n", "kubectl sigapps failures \\-A \\-\\-since 12h\n", "\\fBkubectl\\-sigapps\\fR(1)"]
    {
        assert!(page.contains(part), "{part}");
    }
}
