use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use crate::support::{project, run};

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubectl-sigapps");

/// What is released is what the tool prints.
#[test]
fn the_published_scripts_are_those_that_the_tool_prints() {
    for (of, file) in [
        ("bash", "kubectl-sigapps.bash"),
        ("zsh", "_kubectl-sigapps"),
        ("fish", "kubectl-sigapps.fish"),
        ("powershell", "kubectl-sigapps.ps1"),
        ("kubectl", "kubectl_complete-sigapps"),
    ] {
        let published = fs::read_to_string(project().join("completions").join(file)).unwrap();
        assert_eq!(run(&["completion", of]).output(), published, "{file}: run `just completions`");
    }
}

/// What kubectl runs, as it runs it.
fn answer(program: &Path, path: &str) -> String {
    let output = Command::new(program).args(["fail"]).env_clear().env("PATH", path).output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    String::from_utf8(output.stdout).unwrap()
}

const FAILURES: &str = "failures\tShow what failed\n:4\n";

#[test]
fn kubectls_half_is_put_beside_the_plugin_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    symlink(PROGRAM, folder.path().join("kubectl-sigapps")).unwrap();
    let path = format!("/nowhere:{}:/usr/bin:/bin", folder.path().display());
    let install = |more: &str| run(&["completion", "kubectl", more]).env("PATH", &path);
    let file = folder.path().join("kubectl_complete-sigapps");
    for _ in 0..2 {
        assert_eq!(install("--install").output(), format!("{}\n", file.display()));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o111, 0o111);
        assert_eq!(answer(&file, &path), FAILURES);
    }
    // An older one of ours is replaced, a link among them, whatever it leads to.
    fs::write(&file, "#!/bin/sh\nexec kubectl sigapps kubectl-sigapps __complete \"$@\"\n").unwrap();
    install("--install").output();
    assert_eq!(answer(&file, &path), FAILURES);
    fs::write(&file, "#!/bin/sh\necho mine\n").unwrap();
    install("--install").done().refused(1, &["is there already and is something else", "--install=DIR"]);
    assert!(fs::read_to_string(&file).unwrap().contains("mine"));
}

#[test]
fn where_the_plugin_is_not_on_the_path_a_folder_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let install = |more: &str| run(&["completion", "kubectl", more]).env("PATH", "/nowhere");
    install("--install").done().refused(1, &["kubectl-sigapps is in no folder of the PATH", "--install=DIR"]);
    let told = install(&format!("--install={}", folder.path().display())).done();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("is not on the PATH"), "{told:?}");
    assert!(folder.path().join("kubectl_complete-sigapps").exists());
    run(&["completion", "bash", "--install"]).done().refused(2, &["--install is for kubectl's completion"]);
}

#[test]
fn a_link_of_kubectls_name_completes_too() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("kubectl_complete-sigapps");
    symlink(PROGRAM, &link).unwrap();
    assert_eq!(answer(&link, "/nowhere"), FAILURES);
}

#[test]
fn nothing_that_is_typed_is_an_error() {
    let words = [
        "",
        "-",
        "--",
        "---",
        "=",
        "--=",
        "-=",
        "--no-such",
        "-f",
        "\u{1b}[2J",
        "job/",
        "/",
        ",",
        "é",
        "help",
        "failures",
    ];
    for first in words {
        for second in words {
            let ran = run(&["__complete", "failures", first, second]).done();
            assert_eq!((ran.code, &*ran.stderr), (0, ""), "{first:?} {second:?}");
            let last = ran.stdout.lines().last().unwrap();
            assert!([":0", ":4", ":6"].contains(&last), "{first:?} {second:?}: {}", ran.stdout);
        }
    }
}
