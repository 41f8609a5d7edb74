//! What a person types: the table, the exit code, the plugin, and the commands that the tool suggests.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use crate::api::{array, text};
use crate::control_plane::ControlPlane;
use crate::results::Results;
use crate::tool::{Output, Tool, run};

pub(crate) const NAMES: [&str; 5] = [
    "cli-table-fits-a-screen",
    "cli-exit-code-tells-of-failures",
    "cli-kubectl-finds-the-plugin",
    "cli-kubectl-completes-the-plugin",
    "cli-suggested-commands-run",
];

pub(crate) async fn check(tool: &Tool, plane: &ControlPlane, results: &mut Results) {
    for (position, name) in NAMES.into_iter().enumerate().filter(|(_, name)| results.wants(name)).collect::<Vec<_>>() {
        let outcome = match position {
            0 => table(tool).await,
            1 => exit_code(tool).await,
            2 => plugin(tool, plane).await,
            3 => completion(tool, plane).await,
            _ => commands(tool, plane).await,
        };
        results.record(name, outcome);
    }
}

async fn table(tool: &Tool) -> Result<()> {
    let output = tool.live(&["failures", "-A"]).await?;
    ensure!(output.code == 0, "exit code {}: {}", output.code, output.stderr);
    let lines = output.stdout.lines().count();
    ensure!(lines <= 40, "{lines} lines:\n{}", output.stdout);
    // Commands are there to be copied, so they are never cut.
    let prose = output.stdout.lines().filter(|line| !line.trim_start().starts_with("kubectl"));
    let wide = prose.max_by_key(|line| line.chars().count()).filter(|line| line.chars().count() > 120);
    ensure!(wide.is_none(), "wider than 120 columns: {}", wide.unwrap_or_default());
    let one = tool.live(&["failures", "job/with-sidecar", "-n", "data"]).await?;
    ensure!(one.stdout.contains("sidecar"), "nothing on the sidecar whose 143 is ignored:\n{}", one.stdout);
    Ok(())
}

async fn exit_code(tool: &Tool) -> Result<()> {
    let found = tool.live(&["failures", "-A", "--exit-code"]).await?;
    ensure!(found.code == 3, "exit code {} with failures: {}", found.code, found.stderr);
    let none = tool.live(&["failures", "-n", "kube-system", "--exit-code"]).await?;
    ensure!(none.code == 0, "exit code {} without failures: {}", none.code, none.stderr);
    Ok(())
}

/// A folder to put first in PATH: the plugin, and a kubectl that changes nothing.
struct Shell {
    folder: TempDir,
    path: String,
}

impl Shell {
    fn new(tool: &Tool, kubectl: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("cluster-tests-path-").tempdir()?;
        symlink(tool.program(), folder.path().join("kubectl-sigapps"))?;
        let script = folder.path().join("kubectl");
        fs::write(&script, DRY_KUBECTL.replace("KUBECTL", &kubectl.display().to_string()))?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
        let rest = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{rest}", folder.path().display());
        Ok(Self { folder, path })
    }

    fn command(&self, line: &str, kubeconfig: &Path) -> Command {
        let mut command = Command::new("sh");
        command
            .env("PATH", &self.path)
            .env("KUBECONFIG", kubeconfig)
            .current_dir(self.folder.path())
            .args(["-c", line]);
        command
    }
}

/// Suggestions may pipe one kubectl into another, so the change is made where each of them starts.
const DRY_KUBECTL: &str = r#"#!/bin/sh
case "$1" in
__complete|get|describe|logs|events|top|explain|auth|sigapps|version|api-resources|diff|wait) exec KUBECTL "$@" ;;
rollout) case "$2" in status|history) exec KUBECTL "$@" ;; *) exec KUBECTL "$@" --dry-run=server ;; esac ;;
*) exec KUBECTL "$@" --dry-run=server ;;
esac
"#;

async fn plugin(tool: &Tool, plane: &ControlPlane) -> Result<()> {
    let shell = Shell::new(tool, &plane.assets.binary("kubectl"))?;
    let arguments = ["failures", "job/train-config-error", "-n", "ml-team", "-o", "jsonl"];
    let line = format!("kubectl sigapps {}", arguments.join(" "));
    let through = run(shell.command(&line, &plane.kubeconfig)).await?;
    ensure!(through.code == 0, "exit code {}: {}", through.code, through.stderr);
    let direct = tool.live(&arguments).await?;
    ensure!(through.stdout == direct.stdout, "through kubectl: {}\ndirectly: {}", through.stdout, direct.stdout);
    ensure!(!through.stdout.is_empty(), "nothing was printed");
    Ok(())
}

/// kubectl completes the plugin, and what may follow it, with names from the cluster, once what it runs for that is there.
async fn completion(tool: &Tool, plane: &ControlPlane) -> Result<()> {
    let shell = Shell::new(tool, &plane.assets.binary("kubectl"))?;
    let install = "kubectl sigapps completion kubectl --install";
    let installed = run(shell.command(install, &plane.kubeconfig)).await?;
    ensure!(installed.code == 0, "{install}: {}", installed.stderr);
    for (typed, expected, directive) in [
        ("sigapps fail", "failures", 4),
        ("sigapps failures -n data job/with-s", "job/with-sidecar", 4),
        ("sigapps explain -n ml-team jobset/llama", "jobset/llama-70b", 4),
        ("sigapps failures -n ml-", "ml-team", 4),
        ("sigapps failures --group-by=wor", "workload", 4),
    ] {
        let line = format!("KUBECTL_SIGAPPS_COMPLETION_MS=20000 kubectl __complete {typed}");
        let told = run(shell.command(&line, &plane.kubeconfig)).await?;
        ensure!(told.code == 0, "{typed}: exit code {}: {}", told.code, told.stderr);
        let names: Vec<&str> = told.stdout.lines().filter_map(|line| line.split('\t').next()).collect();
        ensure!(names == [expected, &format!(":{directive}")], "{typed}: {}", told.stdout);
    }
    let all = run(shell.command("kubectl __complete sigapps ''", &plane.kubeconfig)).await?;
    for command in ["failures", "explain", "wait", "restart"] {
        ensure!(all.stdout.lines().any(|line| line.starts_with(command)), "no {command}: {}", all.stdout);
    }
    Ok(())
}

/// What the scenarios must call for beyond looking: each is run, as a server-side dry run.
const CHANGES: [(&str, &str); 6] = [
    ("starts a Job again", "kubectl sigapps restart job/gpu-probe -n ml-team"),
    ("adds a rule to a Job", "kubectl sigapps restart job/preempted -n ml-team '--patch=["),
    ("gives a Job more memory", "kubectl sigapps restart job/thumbnails -n data '--patch={"),
    ("gives a CronJob more memory", "kubectl patch cronjob rollup -n data '--patch={"),
    ("protects a claim", "kubectl patch pvc ckpt-gemma -n ml-team --type=json"),
    ("starts a JobSet again", "kubectl sigapps restart jobset/gemma -n ml-team"),
];

async fn commands(tool: &Tool, plane: &ControlPlane) -> Result<()> {
    let shell = Shell::new(tool, &plane.assets.binary("kubectl"))?;
    let report = tool.report(&["-A"]).await?;
    // A suggestion for many workloads has commands for some of them; an explanation has those of its own.
    let mut suggested = suggested(&report);
    for workload in array(&report, "/workloads") {
        let subject = format!("{}/{}", text(workload, "/kind").to_lowercase(), text(workload, "/name"));
        let told = tool.live(&["explain", &subject, "-n", text(workload, "/namespace"), "-o", "json"]).await?;
        ensure!(told.code == 0, "explain {subject}: {}", told.stderr);
        suggested.extend(self::suggested(&serde_json::from_str(&told.stdout)?));
    }
    suggested.sort();
    suggested.dedup();
    for (what, expected) in CHANGES {
        let found = suggested.iter().any(|command| command.starts_with(expected));
        ensure!(found, "nothing {what} ({expected} …) among:\n  {}", suggested.join("\n  "));
    }
    protect_and_resume(&shell, plane, &suggested).await?;
    let mut broken = Vec::new();
    // What was protected has no owner any more that could be taken away.
    for line in suggested.iter().filter(|line| !line.starts_with("kubectl patch pvc ckpt-gemma ")) {
        let output = run(shell.command(line, &plane.kubeconfig)).await?;
        if !passes(line, &output) {
            broken.push(format!("{line}\n    exit code {}: {}", output.code, output.stderr.trim()));
        }
    }
    ensure!(
        broken.is_empty(),
        "{} of {} commands do not run:\n  {}",
        broken.len(),
        suggested.len(),
        broken.join("\n  ")
    );
    Ok(())
}

/// A claim that would go is protected first: until then a restart is refused. The claim is changed for good, no other test
/// looks at it.
async fn protect_and_resume(shell: &Shell, plane: &ControlPlane, suggested: &[String]) -> Result<()> {
    let line = |begins: &str| suggested.iter().find(|line| line.starts_with(begins)).cloned().unwrap_or_default();
    let resume = line("kubectl sigapps restart jobset/gemma ");
    let refused = run(shell.command(&resume, &plane.kubeconfig)).await?;
    ensure!(refused.code == 1 && refused.stderr.contains("pvc/ckpt-gemma"), "not refused: {}", refused.stderr);
    let protect = line("kubectl patch pvc ckpt-gemma ");
    let kubectl = plane.assets.binary("kubectl");
    let for_good = protect.replacen("kubectl", &kubectl.display().to_string(), 1);
    let protected = run(shell.command(&for_good, &plane.kubeconfig)).await?;
    ensure!(protected.code == 0, "{protect}: {}", protected.stderr);
    Ok(())
}

/// Every command that is kubectl's, once.
fn suggested(report: &Value) -> Vec<String> {
    let suggestions = array(report, "/suggestions").iter();
    let commands = suggestions.flat_map(|suggestion| array(suggestion, "/commands")).filter_map(Value::as_str);
    let mut commands: Vec<_> = commands.filter(|command| command.starts_with("kubectl")).map(str::to_owned).collect();
    commands.sort();
    commands.dedup();
    commands
}

/// Logs need a kubelet that serves them; here it is enough that the API server tried to reach it.
fn passes(command: &str, output: &Output) -> bool {
    let no_kubelet = ["containerLogs", "no preferred addresses found", "dial tcp"];
    output.code == 0 || (command.contains(" logs ") && no_kubelet.iter().any(|sign| output.stderr.contains(sign)))
}
