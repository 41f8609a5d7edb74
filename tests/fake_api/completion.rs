//! What only the cluster and the kubeconfig know, offered to whoever types: in time or not at all, and never an error.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{FakeApi, Home, Reply, Request, kubeconfig};

/// What the API server answers to whoever asks for a table.
fn table(names: &[&str]) -> Reply {
    let rows: Vec<Value> = names.iter().map(|name| json!({"cells": [name, "1/1"], "object": null})).collect();
    Reply::json(200, json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "rows": rows}).to_string())
}

/// A cluster with some names in it.
pub(crate) fn names(request: &Request) -> Reply {
    match request.path() {
        "/api/v1/namespaces" => table(&["data", "ml-team", "ml"]),
        "/apis/batch/v1/namespaces/ml/jobs" => table(&["train-1", "etl", "train-0"]),
        "/apis/batch/v1/namespaces/other/jobs" => table(&["elsewhere"]),
        "/apis/jobset.x-k8s.io" => {
            Reply::json(200, r#"{"preferredVersion":{"groupVersion":"jobset.x-k8s.io/v1alpha2"}}"#)
        }
        "/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets" => table(&["llama-70b"]),
        "/api/v1/nodes" => table(&["gpu-node-1.example.com"]),
        path => Reply::status(404, "NotFound", &format!("{path} not found")),
    }
}

/// The program, which has all the time that it needs: nothing here is about how fast the machine is.
pub(crate) fn program(home: &Home) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-sigapps"));
    command
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("KUBECTL_SIGAPPS_COMPLETION_MS", "20000")
        .current_dir(home.path())
        .stdin(Stdio::null());
    command
}

/// What it prints, which must be all that it says.
fn printed(command: &mut Command, words: &[&str]) -> String {
    let output = command.arg("__complete").args(words).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{words:?}");
    assert_eq!(output.status.code(), Some(0), "{words:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn complete(home: &Home, words: &[&str]) -> String {
    printed(&mut program(home), words)
}

#[test]
fn names_come_from_the_cluster_in_every_form_of_a_subject() {
    let api = FakeApi::start(names);
    let home = Home::of(&api);
    for (words, expected) in [
        (&["failures", "job/tr"][..], "job/train-0\njob/train-1\n:4\n"),
        (&["failures", "job", "tr"], "train-0\ntrain-1\n:4\n"),
        (&["failures", "job", "train-0", "tr"], "train-1\n:4\n"),
        (&["failures", "job/train-0", "job/tr"], "job/train-1\n:4\n"),
        (&["failures", "et"], "etl\n:4\n"),
        (&["explain", "jobset/"], "jobset/llama-70b\n:4\n"),
        (&["explain", "ll"], "llama-70b\n:4\n"),
        (&["why", "no", ""], "gpu-node-1.example.com\n:4\n"),
        (&["restart", "jobs/e"], "jobs/etl\n:4\n"),
        (&["wait", "deploy/"], ":4\n"),
        (&["failures", "-n", "ml"], "ml\nml-team\n:4\n"),
        (&["failures", "--namespace=d"], "data\n:4\n"),
        (&["failures", "-nd"], "-ndata\n:4\n"),
    ] {
        assert_eq!(complete(&home, words), expected, "{words:?}");
    }
}

#[test]
fn what_was_typed_before_leads_to_the_cluster() {
    let api = FakeApi::start(names);
    let home = Home::empty();
    let there = home.write("there", &kubeconfig(&json!({"server": api.url("127.0.0.1")}), &json!({})).to_string());
    let there = there.to_str().unwrap();
    for words in [
        &["failures", "--kubeconfig", there, "-n", "other", "job/"][..],
        &["failures", "--kubeconfig", there, "--context=fake", "-Another", "job/"],
        &["failures", "-n=other", "-s", &api.url("127.0.0.1"), "job/"],
    ] {
        assert_eq!(complete(&home, words), "job/elsewhere\n:4\n", "{words:?}");
    }
    // What is wrong so far leads nowhere, and says nothing.
    for words in [
        &["failures", "--kubeconfig", "/nowhere", "job/"][..],
        &["failures", "--kubeconfig", there, "--context", "none", "job/"],
        &["failures", "--kubeconfig", there, "--request-timeout=soon", "job/"],
        &["failures", "job/"],
        &["failures", "-f", "dump.json", "--kubeconfig", there, "job/"],
    ] {
        assert_eq!(complete(&home, words), ":4\n", "{words:?}");
    }
}

#[test]
fn little_is_asked_and_once() {
    let api = FakeApi::start(|_| Reply::status(503, "ServiceUnavailable", "not now"));
    assert_eq!(complete(&Home::of(&api), &["failures", "job/"]), ":4\n");
    assert_eq!(api.asked(), ["/apis/batch/v1/namespaces/ml/jobs?limit=500&includeObject=None"]);
    let accepted = api.requests()[0].header("accept").unwrap().to_owned();
    assert!(accepted.contains("as=Table"), "{accepted}");
}

#[test]
fn what_is_refused_or_no_name_is_left_out() {
    let api = FakeApi::start(|request| match request.path() {
        "/api/v1/namespaces" => Reply::status(403, "Forbidden", "namespaces is forbidden"),
        "/apis/jobset.x-k8s.io" => Reply::no_such_path(),
        "/apis/batch/v1/namespaces/ml/cronjobs" => Reply::new(200, "text/html").then("<html>log in</html>"),
        "/apis/apps/v1/namespaces/ml/deployments" => Reply::json(200, "{\"rows\": [{\"cells\"").then_cut(),
        // A server that knows no tables, and one that puts more than names into them.
        "/apis/apps/v1/namespaces/ml/statefulsets" => {
            Reply::json(200, r#"{"items":[{"metadata":{"name":"db"}},{"metadata":{"name":"cache"}}]}"#)
        }
        _ => table(&["$(reboot)", "a b", "etl\n", "--all", "etl"]),
    });
    let home = Home::of(&api);
    // The kubeconfig names one at least.
    assert_eq!(complete(&home, &["failures", "-n", ""]), "ml\n:4\n");
    assert_eq!(complete(&home, &["failures", "jobset/"]), ":4\n");
    assert_eq!(complete(&home, &["failures", "cj/"]), ":4\n");
    assert_eq!(complete(&home, &["failures", "deploy/"]), ":4\n");
    assert_eq!(complete(&home, &["failures", "sts/"]), "sts/cache\nsts/db\n:4\n");
    assert_eq!(complete(&home, &["failures", "job/"]), "job/etl\n:4\n");
}

#[test]
fn the_kubeconfig_is_enough_for_what_it_names() {
    let home = Home::empty();
    let mut config = kubeconfig(&json!({"server": "https://192.0.2.1:6443"}), &json!({}));
    let contexts = config["contexts"].as_array_mut().unwrap();
    contexts.push(json!({"name": "arn:aws:eks:x", "context": {"cluster": "fake-cluster", "user": "fake-user"}}));
    contexts.push(json!({"name": "odd\nname", "context": {"cluster": "fake-cluster", "user": "fake-user"}}));
    home.write(".kube/config", &config.to_string());
    assert_eq!(complete(&home, &["failures", "--context", ""]), "fake\narn:aws:eks:x\n:4\n");
    assert_eq!(complete(&home, &["failures", "--context", "fake", "--context", ""]), "arn:aws:eks:x\n:4\n");
    assert_eq!(complete(&home, &["explain", "--cluster="]), "fake-cluster\n:4\n");
    assert_eq!(complete(&home, &["explain", "--user", "f"]), "fake-user\n:4\n");
    home.write(".kube/config", "no kubeconfig: [");
    assert_eq!(complete(&home, &["failures", "--context", ""]), ":4\n");
}

/// The server holds the answer back for twenty seconds; whoever waited for it would be there as long.
#[test]
fn a_server_that_hangs_is_given_up() {
    for silent in ["/apis/jobset.x-k8s.io", "/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets"] {
        let api = FakeApi::start(move |request| match request.path() {
            path if path == silent => Reply::silence(),
            _ => names(request),
        });
        let home = Home::of(&api);
        let mut command = program(&home);
        command.env_remove("KUBECTL_SIGAPPS_COMPLETION_MS");
        let began = Instant::now();
        assert_eq!(printed(&mut command, &["explain", "jobset/"]), ":4\n");
        assert!(began.elapsed() < Duration::from_secs(15), "it waited for {silent}");
    }
}

#[test]
fn of_several_lists_those_that_came_in_time_are_offered() {
    let api = FakeApi::start(|request| match request.path() {
        "/apis/jobset.x-k8s.io" => Reply::silence(),
        _ => names(request),
    });
    let home = Home::of(&api);
    let mut command = program(&home);
    command.env("KUBECTL_SIGAPPS_COMPLETION_MS", "5000");
    assert_eq!(printed(&mut command, &["explain", "e"]), "etl\n:4\n");
}

mod plugins {
    use super::*;

    /// A kubeconfig whose user has a credential plugin, and a server that is never reached.
    fn home(script: &str, mode: Option<&str>) -> (Home, PathBuf) {
        let home = Home::empty();
        let plugin = home.write("plugin.sh", &format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(&plugin, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut exec = json!({
            "apiVersion": "client.authentication.k8s.io/v1", "command": plugin,
            "env": [{"name": "FOLDER", "value": home.path()}],
        });
        if let Some(mode) = mode {
            exec["interactiveMode"] = mode.into();
        }
        let config = kubeconfig(&json!({"server": "https://127.0.0.1:1"}), &json!({"exec": exec}));
        home.write(".kube/config", &config.to_string());
        let ran = home.path().join("ran");
        (home, ran)
    }

    #[test]
    fn one_that_must_ask_is_not_run() {
        let (home, ran) = home("touch \"$FOLDER/ran\"", Some("Always"));
        assert_eq!(complete(&home, &["failures", "job/"]), ":4\n");
        assert!(!ran.exists());
    }

    #[test]
    fn what_one_says_is_not_shown_and_it_is_asked_nothing() {
        let (home, ran) =
            home("echo 'Your password?' >&2; cat; echo \"$KUBERNETES_EXEC_INFO\" > \"$FOLDER/ran\"; exit 1", None);
        assert_eq!(complete(&home, &["failures", "job/"]), ":4\n");
        let info: Value = serde_json::from_str(&std::fs::read_to_string(ran).unwrap()).unwrap();
        assert_eq!(info["spec"]["interactive"], false);
    }

    #[test]
    fn one_that_hangs_is_ended_with_what_it_has_started() {
        let (home, ran) = home("sleep 1000 & echo $! > \"$FOLDER/ran\"; wait", None);
        let mut command = program(&home);
        command.env("KUBECTL_SIGAPPS_COMPLETION_MS", "3000");
        assert_eq!(printed(&mut command, &["failures", "job/"]), ":4\n");
        let child = std::fs::read_to_string(ran).unwrap();
        assert!(is_over(&Path::new("/proc").join(child.trim())), "process {child} is left");
    }

    /// Whether a process has ended, or ends soon; a zombie has.
    fn is_over(process: &Path) -> bool {
        let ended = |stat: std::io::Result<String>| stat.is_err() || stat.is_ok_and(|stat| stat.contains(") Z "));
        let began = Instant::now();
        while !ended(std::fs::read_to_string(process.join("stat"))) {
            if began.elapsed() > Duration::from_secs(10) {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }
}
