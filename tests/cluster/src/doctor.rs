//! What `doctor` says of rights is what the server does: without roles, with each published one, and after the commands that
//! it prints were run.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::access;
use crate::api::{Api, array, text};
use crate::assets::Assets;
use crate::control_plane::{ControlPlane, Parts};
use crate::results::Results;
use crate::tool::{Tool, run};

pub(crate) const NAMES: [&str; 4] = [
    "access-doctor-without-roles-says-what-is-lost",
    "access-doctor-with-each-role-finds-all-that-it-promises",
    "access-doctor-prints-commands-that-grant-what-is-missing",
    "access-doctor-tells-who-did-not-sign-in",
];

const NAMESPACE: &str = "doctored";
/// The published tiers.
const TIERS: [&str; 6] = ["core", "workloads", "context", "watch", "record", "restart"];

/// On a control plane of its own, with the `JobSet` controller and no other.
pub(crate) async fn run_all(assets: &Assets, program: &Path, results: &mut Results) -> Result<()> {
    let plane = ControlPlane::start(assets, Parts::JobSets).await?;
    let tool = Tool::new(program, &plane.kubeconfig)?;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    plane.api.ensure("/api/v1/namespaces", &namespace).await?;
    for (position, name) in NAMES.into_iter().enumerate().filter(|(_, name)| results.wants(name)).collect::<Vec<_>>() {
        let outcome = match position {
            0 => without_roles(&tool).await,
            1 => each_role(&tool, &plane.api).await,
            2 => commands(&tool, &plane).await,
            _ => nobody(&tool).await,
        };
        results.record(name, outcome);
    }
    Ok(())
}

/// The document and the exit code.
async fn doctor(tool: &Tool, arguments: &[&str]) -> Result<(i32, Value)> {
    let output = tool.live(&[&["doctor", "-o", "json"], arguments].concat()).await?;
    ensure!(output.stderr.is_empty(), "stderr: {}", output.stderr);
    Ok((output.code, serde_json::from_str(&output.stdout).with_context(|| output.stdout.clone())?))
}

fn tier<'a>(report: &'a Value, name: &str) -> Result<&'a Value> {
    let found = array(report, "/tiers").iter().find(|tier| text(tier, "/name") == name);
    found.with_context(|| format!("there is no tier {name}"))
}

fn count(tier: &Value, of: &str) -> i64 {
    tier[of].as_i64().unwrap_or(-1)
}

async fn without_roles(tool: &Tool) -> Result<()> {
    let (code, report) = doctor(tool, &["-n", NAMESPACE, "--as", "nobody-knows"]).await?;
    ensure!(code == 1 && report["canRead"] == false, "exit code {code}: {report}");
    for name in TIERS {
        let tier = tier(&report, name)?;
        ensure!(count(tier, "allowed") == 0 && count(tier, "unknown") == 0 && count(tier, "denied") > 0, "{tier}");
    }
    let state = |group: &str| {
        let groups = array(&report, "/groups").iter();
        groups.filter(|found| text(found, "/name") == group).map(|found| text(found, "/state")).collect::<String>()
    };
    ensure!(state("jobset.x-k8s.io") == "served" && state("kueue.x-k8s.io") == "notInstalled", "{}", report["groups"]);
    ensure!(report["server"]["support"] == "tested", "{}", report["server"]);
    // One machine has one clock.
    let (least, most) = (&report["server"]["clock"]["aheadAtLeast"], &report["server"]["clock"]["aheadAtMost"]);
    let agree = least.as_f64().is_some_and(|least| least <= 0.0) && most.as_f64().is_some_and(|most| most >= 0.0);
    ensure!(agree, "the clocks of one machine differ: {}", report["server"]);
    ensure!(report["features"][0]["there"].is_boolean(), "names of rules: {}", report["features"]);
    let output = tool.live(&["doctor", "-n", NAMESPACE, "--as", "nobody-knows"]).await?;
    let first = output.stdout.lines().next().unwrap_or_default();
    ensure!(first.starts_with("cannot read ns doctored of ") && first.contains("denied: "), "{first}");
    ensure!(output.stdout.contains("all of it: no report"), "{}", output.stdout);
    Ok(())
}

/// Whether the answer to a right of the core was yes.
fn may(report: &Value, verb: &str, resource: &str) -> Result<bool> {
    let mut rights = array(tier(report, "core")?, "/rights").iter();
    let right = rights.find(|right| right["verb"] == verb && right["resource"] == resource);
    Ok(right.with_context(|| format!("{verb} {resource} is not in the core"))?["state"] == "allowed")
}

/// With each role all that its tier promises is there, and what is said of rights is what the server does.
async fn each_role(tool: &Tool, api: &Api) -> Result<()> {
    for name in TIERS {
        let user = format!("doctor-{name}");
        access::grant(api, &format!("{name}.yaml"), &user).await?;
        let (code, report) = doctor(tool, &["-A", "--as", &user]).await?;
        let of_core = tier(&report, "core")?;
        ensure!(code == i32::from(count(of_core, "denied") > 0), "{name}: exit code {code}: {}", report["summary"]);
        ensure!((name == "core") <= (code == 0), "the role core does not suffice: {}", report["summary"]);
        let granted = tier(&report, name)?;
        ensure!(
            count(granted, "denied") == 0 && count(granted, "unknown") == 0 && count(granted, "allowed") > 0,
            "the role {name} does not give what it promises: {granted}"
        );
        let read = tool.live(&["failures", "-A", "--as", &user]).await?;
        let listed = may(&report, "list", "pods")? && may(&report, "list", "jobs.batch")?;
        ensure!((read.code == 0) == listed, "{name}: failures exits with {}: {}", read.code, read.stderr);
    }
    let (_, report) = doctor(tool, &["-A", "--as", "doctor-core"]).await?;
    for other in TIERS.into_iter().filter(|name| *name != "core") {
        ensure!(count(tier(&report, other)?, "denied") > 0, "the role core gives all of {other}");
    }
    for name in TIERS {
        access::grant(api, &format!("{name}.yaml"), "doctor-all").await?;
    }
    let (code, report) = doctor(tool, &["-A", "--as", "doctor-all"]).await?;
    let summary = text(&report, "/summary");
    ensure!(code == 0 && summary.ends_with(": all rights"), "exit code {code}: {summary}");
    ensure!(array(&report, "/grants").is_empty(), "{}", report["grants"]);
    Ok(())
}

/// All commands are run as they are printed, by an administrator, in the project's folder.
async fn commands(tool: &Tool, plane: &ControlPlane) -> Result<()> {
    const USER: &str = "system:serviceaccount:doctored:the-runner";
    let arguments = ["-n", NAMESPACE, "--as", USER];
    let (_, before) = doctor(tool, &arguments).await?;
    let commands: Vec<&str> = array(&before, "/grants")
        .iter()
        .flat_map(|grant| array(grant, "/commands"))
        .filter_map(Value::as_str)
        .collect();
    ensure!(commands.len() > 10, "too few commands: {commands:?}");
    let kubectl = plane.assets.binary("kubectl");
    let folder = kubectl.parent().context("kubectl is in a folder")?;
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    for command in &commands {
        let mut shell = tokio::process::Command::new("sh");
        shell.args(["-c", command]).env("PATH", &path).env("HOME", "/nonexistent");
        shell.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let ran = run(shell).await?;
        ensure!(ran.code == 0, "{command} exits with {}: {}", ran.code, ran.stderr);
    }
    let (code, after) = doctor(tool, &arguments).await?;
    let summary = text(&after, "/summary");
    ensure!(code == 0 && summary.ends_with(": all rights"), "after the commands: exit code {code}: {summary}");
    ensure!(array(&after, "/grants").is_empty(), "{}", after["grants"]);
    let (code, elsewhere) = doctor(tool, &["-n", "default", "--as", USER]).await?;
    ensure!(code == 1 && elsewhere["canRead"] == false, "they give more than was asked for: {}", elsewhere["summary"]);
    let there = tier(&elsewhere, "core")?;
    ensure!(count(there, "allowed") == 0, "in another namespace: {there}");
    Ok(())
}

/// A kubeconfig without credentials: the server answers, and takes nobody's word.
async fn nobody(tool: &Tool) -> Result<()> {
    let mut config: Value = serde_json::from_slice(&fs::read(tool.kubeconfig())?)?;
    config["users"][0]["user"] = json!({});
    let file = tempfile::NamedTempFile::new()?;
    fs::write(file.path(), config.to_string())?;
    let mut command = tool.command();
    command.args(["doctor", "-n", NAMESPACE, "-o", "json", "--kubeconfig"]).arg(file.path());
    let output = run(command).await?;
    let report: Value = serde_json::from_str(&output.stdout).with_context(|| output.stdout.clone())?;
    ensure!(output.code == 1 && report["problem"]["step"] == "signIn", "exit code {}: {report}", output.code);
    ensure!(text(&report, "/problem/fix").contains("no credentials"), "{}", report["problem"]);
    Ok(())
}
