//! The recipes of docs/runbooks.md are run as they are written, with a recorded cluster in the place of a live one.
//!
//! Those that need programs beside sh and kubectl are run where these are: `RECIPES_WITH='jq duckdb'` names them, as CI
//! does. Where what they print has changed, and rightly, `RECIPES_WRITE=1` writes the runbook anew.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{WORLD, project};

struct Recipe {
    name: String,
    needs: Option<String>,
    exits: i32,
    script: String,
    prints: String,
}

/// `<!-- recipe: NAME, needs PROGRAM, exits CODE, silent -->`, the script, and what it prints, but where it is silent.
fn recipes() -> Vec<Recipe> {
    let document = std::fs::read_to_string(project().join("docs/runbooks.md")).unwrap();
    let parts = document.split("<!-- recipe: ").skip(1);
    parts
        .map(|part| {
            let (head, rest) = part.split_once(" -->\n").unwrap();
            let mut words = head.split(", ");
            let name = words.next().unwrap().to_owned();
            let (mut needs, mut exits, mut silent) = (None, 0, false);
            for word in words {
                match word.split_once(' ') {
                    Some(("needs", program)) => needs = Some(program.to_owned()),
                    Some(("exits", code)) => exits = code.parse().unwrap(),
                    None if word == "silent" => silent = true,
                    _ => panic!("{name}: {word}"),
                }
            }
            let (_, script) = rest.split_once("```sh\n").unwrap();
            let (script, behind) = script.split_once("```\n").unwrap();
            let prints =
                behind.trim_start().strip_prefix("```text\n").map_or("", |text| text.split_once("```").unwrap().0);
            // Also of those that are not run everywhere: nobody would see that what they print is not told.
            assert!(
                is_written_anew() || prints.is_empty() == silent,
                "{name}: say what it prints, or that it is silent"
            );
            Recipe { name, needs, exits, script: script.to_owned(), prints: prints.to_owned() }
        })
        .collect()
}

fn is_written_anew() -> bool {
    std::env::var_os("RECIPES_WRITE").is_some()
}

/// A folder to work in, with a `kubectl` that reads the dump and a `curl` that prints what it would send.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        let tool = env!("CARGO_BIN_EXE_kubectl-sigapps");
        bench.program("kubectl", &format!("[ \"$1\" = sigapps ] || exit 90\nshift\nexec {tool} \"$@\" -f \"$DUMP\""));
        bench.program("curl", "for word; do case $word in @*) cat \"${word#@}\" ;; esac; done");
        bench
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.folder.path().join("bin").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn run(&self, recipe: &Recipe, dump: &Path) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sh");
        command.arg("-c").arg(&recipe.script).current_dir(self.folder.path()).env_clear();
        command.env("PATH", format!("{}:{path}", self.folder.path().join("bin").display()));
        command.env("DUMP", dump).env("HOME", self.folder.path()).env("COLUMNS", "120");
        command.env("SLACK_WEBHOOK_URL", "https://hooks.example/x").output().unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn recipes_do_what_the_runbook_says() {
    let present: BTreeSet<String> =
        std::env::var("RECIPES_WITH").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    let recipes = recipes();
    let named: BTreeSet<&str> = recipes.iter().map(|recipe| recipe.name.as_str()).collect();
    assert_eq!(named.len(), recipes.len(), "each has a name of its own");
    let needed: BTreeSet<&str> = recipes.iter().filter_map(|recipe| recipe.needs.as_deref()).collect();
    assert!(present.iter().all(|program| needed.contains(program.as_str())), "{present:?} are not what is needed");
    let can_run = |recipe: &&Recipe| recipe.needs.as_ref().is_none_or(|needs| present.contains(needs));
    let mut ran = 0;
    for recipe in recipes.iter().filter(can_run) {
        let output = Bench::new().run(recipe, &project().join(WORLD));
        assert_eq!(output.status.code(), Some(recipe.exits), "{}: {}", recipe.name, text(&output.stderr));
        assert_eq!(text(&output.stderr), "", "{}", recipe.name);
        let printed = text(&output.stdout);
        if is_written_anew() {
            let shown = |prints: &str| match prints {
                "" => format!("{}```\n", recipe.script),
                prints => format!("{}```\n\n```text\n{prints}```\n", recipe.script),
            };
            let path = project().join("docs/runbooks.md");
            let document = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, document.replace(&shown(&recipe.prints), &shown(&printed))).unwrap();
        } else {
            assert_eq!(printed, recipe.prints, "{}", recipe.name);
        }
        ran += 1;
    }
    assert!(ran >= 6, "{ran} recipes were run");
}

/// Run once, it keeps a report; run again when more has failed, it tells that; run a third time, it has nothing to tell.
#[test]
fn the_alert_tells_what_is_new_once() {
    let recipe = recipes().into_iter().find(|recipe| recipe.name == "alert").unwrap();
    let bench = Bench::new();
    let earlier = without_namespace("data", bench.folder.path());
    let world = project().join(WORLD);
    let outputs: Vec<String> = [&earlier, &world, &world]
        .into_iter()
        .map(|dump| {
            let output = bench.run(&recipe, dump);
            assert_eq!((output.status.code(), &*text(&output.stderr)), (Some(0), ""));
            text(&output.stdout)
        })
        .collect();
    assert_eq!(outputs[0], "", "there is nothing to compare with yet");
    assert!(outputs[1].starts_with("new failures:\n"), "{}", outputs[1]);
    assert!(outputs[1].contains("thumbnails") && !outputs[1].contains("llama-70b"), "{}", outputs[1]);
    assert_eq!(outputs[2], "");
}

/// The recorded cluster as it was before anything ran in a namespace.
fn without_namespace(namespace: &str, folder: &Path) -> PathBuf {
    let packed = std::fs::File::open(project().join(WORLD)).unwrap();
    let values = serde_json::Deserializer::from_reader(flate2::read::GzDecoder::new(packed)).into_iter::<Value>();
    let path = folder.join("earlier.json");
    let mut file = std::fs::File::create(&path).unwrap();
    for value in values {
        let value = value.unwrap();
        let items = value["items"].as_array().cloned().unwrap_or_else(|| vec![value]);
        for item in items.iter().filter(|item| item["metadata"]["namespace"] != namespace) {
            writeln!(file, "{item}").unwrap();
        }
    }
    path
}

/// What the runbook says of exit codes is what the tool ends with.
#[test]
fn the_runbooks_exit_codes_are_the_tools() {
    let document = std::fs::read_to_string(project().join("docs/runbooks.md")).unwrap();
    let help = crate::support::run(&["failures", "--help"]).output();
    let (_, table) = help.split_once("Exit codes:\n").unwrap();
    // A meaning may go on in a second line.
    for line in table.trim_end().replace("\n       ", " ").lines() {
        let (number, _) = line.trim().split_once(' ').unwrap();
        assert!(document.contains(&format!("| {number} |")), "{line}");
    }
}
