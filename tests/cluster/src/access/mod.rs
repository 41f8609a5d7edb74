//! What the published roles allow is enough, and what is missing is said.

mod minimal;
mod probe;
mod roles;
mod tiers;
mod world;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

pub(crate) use minimal::{names as minimal_names, run_all as prove_minimal};
pub(crate) use roles::{grant, publish};

use crate::api::{Api, array, text};
use crate::control_plane::ControlPlane;
use crate::results::Results;
use crate::tool::{Failure, Tool, run};
use roles::bind;

pub(crate) const NAMES: [&str; 5] = [
    "access-core-role-suffices",
    "access-all-roles-show-everything",
    "access-without-pods-is-an-error",
    "access-without-events-degrades",
    "access-all-roles-tell-one-cluster-under-two-contexts",
];

pub(crate) async fn check(tool: &Tool, plane: &ControlPlane, results: &mut Results) {
    for (position, name) in NAMES.into_iter().enumerate().filter(|(_, name)| results.wants(name)).collect::<Vec<_>>() {
        let outcome = match position {
            0 => core_suffices(tool, &plane.api).await,
            1 => all_suffice(tool, &plane.api).await,
            2 => no_pods(tool, &plane.api).await,
            3 => no_events(tool, &plane.api).await,
            _ => one_cluster(tool, &plane.api).await,
        };
        results.record(name, outcome);
    }
}

/// A `ClusterRole` to get and list these.
fn allowing(name: &str, resources: &[(&str, &str)]) -> Value {
    let rules = resources
        .iter()
        .map(|(group, resource)| json!({"apiGroups": [group], "resources": [resource], "verbs": ["get", "list"]}));
    let rules: Vec<_> = rules.collect();
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules,
    })
}

/// A Job that is over, so that two runs see the same.
const JOB: [&str; 7] = ["failures", "job/train-config-error", "-n", "ml-team", "--all", "-o", "jsonl"];

/// With the core role alone the failures and their rules are all there; only what surrounds them is missing.
async fn core_suffices(tool: &Tool, api: &Api) -> Result<()> {
    grant(api, "core.yaml", "core-reader").await?;
    let rules = |failures: Vec<Failure>| {
        let mut rules: Vec<_> =
            failures.into_iter().filter(|line| line.class == "rule").map(|line| line.to_string()).collect();
        rules.sort_unstable();
        rules
    };
    let of_job = ["job/train-config-error", "job/race", "-n", "ml-team", "--all"];
    let admin = rules(tool.failures(&of_job).await?);
    let reader = rules(tool.failures(&[&of_job[..], &["--as", "core-reader"]].concat()).await?);
    ensure!(reader == admin, "the reader sees {reader:?}, the administrator {admin:?}");
    let report = tool.report(&["-A", "--as", "core-reader"]).await?;
    let denied: Vec<_> = denied(&report).collect();
    ensure!(!denied.iter().any(|resource| ["jobs", "pods"].contains(resource)), "denied: {denied:?}");
    ensure!(denied.contains(&"events"), "events may not be read, but only these are said to be denied: {denied:?}");
    Ok(())
}

/// All published roles together give what the administrator sees.
async fn all_suffice(tool: &Tool, api: &Api) -> Result<()> {
    for file in ["core.yaml", "workloads.yaml", "context.yaml"] {
        grant(api, file, "reader").await?;
    }
    let admin = tool.live(&JOB).await?;
    let reader = tool.live(&[&JOB[..], &["--as", "reader"]].concat()).await?;
    ensure!(reader.code == 0, "exit code {}: {}", reader.code, reader.stderr);
    ensure!(reader.stdout == admin.stdout, "the reader sees\n{}\nthe administrator\n{}", reader.stdout, admin.stdout);
    let report = tool.report(&["-A", "--as", "reader"]).await?;
    let denied: Vec<_> = denied(&report).collect();
    ensure!(denied.is_empty(), "the roles leave out what the tool asks for: {denied:?}");
    explained(tool, &["jobset/gemma", "-n", "ml-team"]).await?;
    explained(tool, &["cronjob/rollup", "-n", "data"]).await
}

/// One server under two contexts, the second of which names its certificate: only the uid of `kube-system` tells that both
/// are one. Nothing is counted twice.
async fn one_cluster(tool: &Tool, api: &Api) -> Result<()> {
    for file in ["core.yaml", "workloads.yaml", "context.yaml"] {
        grant(api, file, "reader").await?;
    }
    let file = tempfile::NamedTempFile::new()?;
    fs::write(file.path(), with_second_context(tool.kubeconfig())?)?;
    let mut command = tool.command();
    command.args(JOB).args(["--all-contexts", "--as", "reader", "--kubeconfig"]).arg(file.path());
    let both = run(command).await?;
    ensure!(both.code == 0, "exit code {}: {}", both.code, both.stderr);
    ensure!(both.stderr.contains("again leads to where cluster-tests does"), "not told: {}", both.stderr);
    let one = tool.live(&JOB).await?;
    ensure!(both.stdout == one.stdout, "under two contexts\n{}\nunder one\n{}", both.stdout, one.stdout);
    Ok(())
}

/// The kubeconfig with its cluster once more, under another context and another name of its certificate.
fn with_second_context(kubeconfig: &Path) -> Result<String> {
    let mut config: Value = serde_json::from_slice(&fs::read(kubeconfig)?)?;
    let (mut cluster, mut context) = (config["clusters"][0].clone(), config["contexts"][0].clone());
    (cluster["name"], cluster["cluster"]["tls-server-name"]) = ("again".into(), "localhost".into());
    (context["name"], context["context"]["cluster"]) = ("again".into(), "again".into());
    for (list, entry) in [("clusters", cluster), ("contexts", context)] {
        config[list].as_array_mut().context("a list")?.push(entry);
    }
    Ok(config.to_string())
}

/// An explanation reads more than the failures: nodes, claims, and what was taken of them.
async fn explained(tool: &Tool, subject: &[&str]) -> Result<()> {
    let told = tool.live(&[&["explain"], subject, &["-o", "json", "--as", "reader"]].concat()).await?;
    ensure!(told.code == 0 && told.stderr.is_empty(), "exit code {}: {}", told.code, told.stderr);
    let told: Value = serde_json::from_str(&told.stdout)?;
    let states: Vec<_> =
        array(&told, "/sources").iter().map(|source| (text(source, "/resource"), text(source, "/state"))).collect();
    let bad = states.iter().find(|(_, state)| !["read", "notInstalled"].contains(state));
    ensure!(bad.is_none(), "{subject:?}: the roles leave out what the tool asks for: {states:?}");
    Ok(())
}

fn denied(report: &Value) -> impl Iterator<Item = &str> {
    let sources = array(report, "/sources").iter().filter(|source| text(source, "/state") == "denied");
    sources.map(|source| text(source, "/resource"))
}

async fn no_pods(tool: &Tool, api: &Api) -> Result<()> {
    let resources = [("", "events"), ("batch", "jobs"), ("batch", "cronjobs"), ("jobset.x-k8s.io", "jobsets")];
    bind(api, &allowing("without-pods", &resources), "without-pods").await?;
    let output = tool.live(&["failures", "-n", "ml-team", "--as", "without-pods"]).await?;
    ensure!(output.code == 1, "exit code {}: {}{}", output.code, output.stdout, output.stderr);
    ensure!(output.stdout.is_empty(), "printed something all the same: {}", output.stdout);
    let clear = ["pods", "ml-team", "forbidden"].iter().all(|word| output.stderr.contains(word));
    let lines = output.stderr.lines().filter(|line| !line.is_empty()).count();
    ensure!(clear && lines == 1, "not clear what is missing where: {}", output.stderr);
    Ok(())
}

async fn no_events(tool: &Tool, api: &Api) -> Result<()> {
    let resources = [("", "pods"), ("batch", "jobs"), ("batch", "cronjobs"), ("jobset.x-k8s.io", "jobsets")];
    let role = allowing("without-events", &resources);
    bind(api, &role, "without-events").await?;
    let output = tool.live(&["failures", "-n", "ml-team", "-o", "json", "--as", "without-events"]).await?;
    ensure!(output.code == 0, "exit code {}: {}", output.code, output.stderr);
    ensure!(output.stderr.contains("events"), "stderr does not say that events are missing: {:?}", output.stderr);
    let report: Value = serde_json::from_str(&output.stdout)?;
    let sources = array(&report, "/sources");
    let denied =
        sources.iter().any(|source| text(source, "/resource") == "events" && text(source, "/state") == "denied");
    ensure!(denied, "events are not among the denied sources: {sources:?}");
    Ok(())
}
