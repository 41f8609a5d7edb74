//! What is shipped beside the binary: manifests, the image, and the check of a tag.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::{WORLD, project, run};

fn read(file: &str) -> String {
    fs::read_to_string(project().join(file)).unwrap()
}

/// The `args:` of a manifest.
fn arguments(manifest: &str) -> Vec<String> {
    let line = manifest.lines().find(|line| line.trim_start().starts_with("args:")).unwrap();
    line.split('"').skip(1).step_by(2).map(ToOwned::to_owned).collect()
}

/// The command is one that the tool takes, and its file is one that is written: with the recorded cluster in the place of a live one.
#[test]
fn the_report_of_the_cron_job_is_written() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("report-1.json");
    let file = file.to_str().unwrap();
    let mut arguments = arguments(&read("docs/in-cluster/report.yaml"));
    let (reads, writes) = (arguments.iter().position(|word| word == "-A"), arguments.len() - 1);
    assert_eq!(arguments[writes], "/reports/$(JOB_NAME).json");
    arguments[writes] = file.to_owned();
    arguments.splice(reads.map(|at| at..=at).unwrap(), ["-f".to_owned(), WORLD.to_owned()]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    assert_eq!(run(&arguments).output(), "");
    let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(report["kind"], "FailureReport");
}

/// Where runtimes look for what `command: ["kubectl-sigapps"]` names, and as whom the manifests run it.
#[test]
fn the_image_is_what_the_manifests_run() {
    let image = read("Containerfile");
    assert!(image.contains("\nFROM scratch\n") && image.contains(" /usr/local/bin/kubectl-sigapps\n"), "{image}");
    for file in ["docs/in-cluster/recorder.yaml", "docs/in-cluster/report.yaml"] {
        let manifest = read(file);
        assert!(manifest.contains("command: [\"kubectl-sigapps\"]"), "{file}");
        let user = manifest.lines().find_map(|line| line.trim().strip_prefix("runAsUser: ")).unwrap();
        assert!(image.contains(&format!("\nUSER {user}:{user}\n")), "{file}: {user}");
    }
}

/// Roles that a manifest is bound to are published.
#[test]
fn the_manifests_are_bound_to_published_roles() {
    let roles: String = fs::read_dir(project().join("rbac"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    for file in ["docs/in-cluster/recorder.yaml", "docs/in-cluster/report.yaml"] {
        let manifest = read(file);
        let bound: Vec<&str> =
            manifest.lines().filter_map(|line| line.strip_prefix("  name: kubectl-sigapps-")).collect();
        assert!(!bound.is_empty(), "{file}");
        for name in bound {
            assert!(roles.contains(&format!("\n  name: kubectl-sigapps-{name}\n")), "{file}: {name}");
        }
    }
}

#[test]
fn a_report_in_a_file_is_the_one_on_stdout() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("report.txt");
    fs::write(&file, "what was there before").unwrap();
    let printed = run(&["failures", "-f", WORLD]).output();
    assert_eq!(run(&["failures", "-f", WORLD, "--output-file", file.to_str().unwrap()]).output(), "");
    assert_eq!(fs::read_to_string(&file).unwrap(), printed);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something is left beside it");
}

/// The exit codes mean the same.
#[test]
fn a_report_in_a_file_has_its_exit_code() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("report.json");
    let arguments = ["failures", "-f", WORLD, "--exit-code", "-o", "json", "--output-file", file.to_str().unwrap()];
    let ran = run(&arguments).done();
    assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (3, "", ""));
    assert!(file.is_file());
}

/// What is told too late is that there is no report: what was there stays.
#[test]
fn a_report_that_cannot_be_made_leaves_the_file_as_it_was() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("report.json");
    fs::write(&file, "yesterday's").unwrap();
    let arguments = ["failures", "-f", WORLD, "-o", "jsonpath={.nowhere}", "--allow-missing-template-keys=false"];
    let to_file = ["--output-file", file.to_str().unwrap()];
    run(&[&arguments[..], &to_file].concat()).done().refused(1, &["nowhere"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "yesterday's");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something is left beside it");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("gone/report.json");
    let ran = run(&["failures", "-f", WORLD, "--output-file", file.to_str().unwrap()]).done();
    ran.refused(1, &["cannot write ", "gone/report.json"]);
}

#[test]
fn a_file_is_nothing_for_watching() {
    let ran = run(&["failures", "--watch", "--output-file", "report.json"]).done();
    assert_eq!((ran.code, &*ran.stdout), (2, ""), "{}", ran.stderr);
}

/// A checkout whose release is being checked.
struct Checkout(TempDir);

impl Checkout {
    fn new(version: &str, locked: &str, changelog: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let manifest = format!(
            "[workspace]\n\n[package]\nname = \"kubectl-sigapps\"\nversion = \"{version}\"\n\
             repository = \"https://github.com/a/b\"\n\n[lib]\nname = \"sigapps\"\n\n[dependencies]\nversion = \"9\"\n"
        );
        let lock = format!("[[package]]\nname = \"kubectl-sigapps\"\nversion = \"{locked}\"\n");
        for (name, text) in [("Cargo.toml", &*manifest), ("Cargo.lock", &lock), ("CHANGELOG.md", changelog)] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Self(folder)
    }

    fn check(&self, tag: &str, repository: &str) -> Output {
        let script: &Path = &project().join(".ci/release-check");
        let mut command = Command::new(script);
        command.arg(tag).env("RELEASE_ROOT", self.0.path()).env("GITHUB_REPOSITORY", repository);
        command.output().unwrap()
    }

    fn refused(&self, tag: &str, repository: &str, why: &str) {
        let output = self.check(tag, repository);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{said}");
        assert!(said.starts_with("error: ") && said.contains(why), "{why:?} is missing in {said}");
    }
}

const NOTES: &str =
    "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-12-01\n\n- One thing.\n\n## [1.2.2] - 2026-11-01\n\n- Old.\n";

#[test]
fn a_tag_is_released_if_all_names_are_its_own() {
    let output = Checkout::new("1.2.3", "1.2.3", NOTES).check("v1.2.3", "a/b");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "- One thing.");
}

#[test]
fn a_tag_that_differs_is_refused() {
    let checkout = Checkout::new("1.2.3", "1.2.3", NOTES);
    for tag in ["v1.2.4", "1.2.3", "v1.2", "v1.2.3-rc.1"] {
        checkout.refused(tag, "", "the tag has to be v1.2.3");
    }
    checkout.refused("v1.2.3", "someone/else", "this is someone/else");
    Checkout::new("1.2.3", "1.2.2", NOTES).refused("v1.2.3", "", "Cargo.lock has version 1.2.2");
}

#[test]
fn a_release_that_the_changelog_does_not_tell_is_refused() {
    Checkout::new("1.2.4", "1.2.4", NOTES).refused("v1.2.4", "", "no \"## [1.2.4]");
    // No dot of a version stands for another character.
    Checkout::new("1.2.3", "1.2.3", "## [1x2x3] - 2026-12-01\n").refused("v1.2.3", "", "no \"## [1.2.3]");
    let waiting = NOTES.replace("## [Unreleased]\n", "## [Unreleased]\n\n- Not yet dated.\n");
    Checkout::new("1.2.3", "1.2.3", &waiting).refused("v1.2.3", "", "under Unreleased");
}
