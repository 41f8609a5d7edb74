use crate::support::{project, run};

/// What the README shows is what the tool prints.
#[test]
fn the_readmes_output_is_real() {
    let readme = std::fs::read_to_string(project().join("README.md")).unwrap();
    for command in [&["failures"][..], &["explain", "jobset/llama-70b"]] {
        let arguments = [command, &["-f", "examples/cluster.json.gz"]].concat();
        let (_, after) = readme.split_once(&format!("$ cargo run --release -- {}\n", arguments.join(" "))).unwrap();
        let (shown, _) = after.split_once("```").unwrap();
        let printed = run(&arguments).env("COLUMNS", "120").output();
        assert_eq!(shown, printed);
    }
}

/// The table of exit codes is made from the code.
#[test]
fn the_readmes_exit_codes_are_the_tools() {
    let readme = std::fs::read_to_string(project().join("README.md")).unwrap();
    let help = run(&["--help"]).output();
    let (_, table) = help.split_once("Exit codes:\n").unwrap();
    for line in table.lines() {
        let (number, meaning) = line.trim().split_once(' ').unwrap();
        let row = format!("| {number} | {} |", meaning.trim());
        assert!(readme.contains(&row), "{row}");
    }
}
