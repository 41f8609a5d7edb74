//! Runs the program under test and reads what it prints.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::Deserialize;
use serde_json::Value;
use tokio::process::Command;

const LIMIT: Duration = Duration::from_secs(120);

#[derive(Clone)]
pub(crate) struct Tool {
    program: PathBuf,
    kubeconfig: PathBuf,
}

pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// One line of `-o jsonl`, as far as the tests look at it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Failure {
    pub(crate) namespace: String,
    #[serde(default)]
    pub(crate) workload: String,
    #[serde(default)]
    pub(crate) job: Option<String>,
    #[serde(default)]
    pub(crate) pod: Option<String>,
    #[serde(default)]
    pub(crate) uid: Option<String>,
    #[serde(default)]
    pub(crate) index: Option<i64>,
    pub(crate) class: String,
    #[serde(default)]
    pub(crate) rule: Option<Rule>,
    #[serde(default)]
    pub(crate) container: Option<String>,
    #[serde(default)]
    pub(crate) exit_code: Option<i64>,
    #[serde(default)]
    pub(crate) reason: Option<String>,
    #[serde(default)]
    pub(crate) counted: Option<bool>,
    #[serde(default = "one")]
    pub(crate) count: i64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Rule {
    pub(crate) index: i64,
    pub(crate) action: String,
}

impl fmt::Display for Failure {
    /// On one line, for whoever reads why a test failed.
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "{} ×{} {}", self.class, self.count, self.pod.as_deref().unwrap_or("(no pod)"))?;
        if let Some(rule) = &self.rule {
            write!(to, ", {} rule {}", rule.action, rule.index)?;
        }
        if let Some(container) = &self.container {
            write!(to, ", {container}")?;
        }
        if let Some(code) = self.exit_code {
            write!(to, " exit {code}")?;
        }
        let counted = self.counted.map_or("unknown", |counted| if counted { "yes" } else { "no" });
        write!(to, ", {}, counted: {counted}", self.reason.as_deref().unwrap_or("no reason"))
    }
}

/// One a line.
pub(crate) fn listed(failures: &[&Failure]) -> String {
    if failures.is_empty() {
        return " nothing".to_owned();
    }
    failures.iter().map(|failure| format!("\n    {failure}")).collect::<Vec<_>>().concat()
}

fn one() -> i64 {
    1
}

impl Tool {
    pub(crate) fn new(program: &Path, kubeconfig: &Path) -> Result<Self> {
        let program =
            program.canonicalize().with_context(|| format!("the tool under test is not at {}", program.display()))?;
        Ok(Self { program, kubeconfig: kubeconfig.to_owned() })
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// It sees no kubeconfig but one that is named.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env("KUBECONFIG", "/dev/null").env("HOME", "/nonexistent");
        command
    }

    /// Against the cluster.
    pub(crate) async fn live(&self, arguments: &[&str]) -> Result<Output> {
        let mut command = self.command();
        command.args(arguments).arg("--kubeconfig").arg(&self.kubeconfig);
        run(command).await
    }

    /// Every failure the cluster shows, hidden ones too.
    pub(crate) async fn failures(&self, more: &[&str]) -> Result<Vec<Failure>> {
        let arguments = [&["failures", "-o", "jsonl"], more].concat();
        lines(&self.live(&arguments).await?)
    }

    /// Every failure in a file, without a cluster.
    pub(crate) async fn failures_in(&self, dump: &Path) -> Result<Vec<Failure>> {
        let mut command = self.command();
        command.args(["failures", "-A", "--all", "-o", "jsonl", "-f"]).arg(dump);
        lines(&run(command).await?)
    }

    pub(crate) async fn report(&self, more: &[&str]) -> Result<Value> {
        json(&self.live(&[&["failures", "-o", "json"], more].concat()).await?)
    }

    pub(crate) async fn explain(&self, workload: &str, namespace: &str) -> Result<Value> {
        json(&self.live(&["explain", workload, "-n", namespace, "-o", "json"]).await?)
    }

    /// On a file, without a cluster.
    pub(crate) async fn explain_in(&self, dump: &Path, workload: &str, namespace: &str) -> Result<Value> {
        let mut command = self.command();
        command.args(["explain", workload, "-n", namespace, "-o", "json", "-f"]).arg(dump);
        json(&run(command).await?)
    }

    /// On a file, without a cluster.
    pub(crate) async fn report_in(&self, dump: &Path) -> Result<Value> {
        let mut command = self.command();
        command.args(["failures", "-A", "--all", "-o", "json", "-f"]).arg(dump);
        json(&run(command).await?)
    }
}

/// No colour and no terminal, but a known width.
pub(crate) async fn run(mut command: Command) -> Result<Output> {
    command.env("COLUMNS", "120").env("NO_COLOR", "1").kill_on_drop(true);
    command.stdin(std::process::Stdio::null());
    let named = format!("{:?}", command.as_std());
    let output = tokio::time::timeout(LIMIT, command.output())
        .await
        .map_err(|_| anyhow!("{named} took more than {} s", LIMIT.as_secs()))?
        .with_context(|| format!("cannot run {named}"))?;
    let Some(code) = output.status.code() else { bail!("{named} ended with {}", output.status) };
    let stdout =
        String::from_utf8(output.stdout).with_context(|| format!("{named} printed bytes that are not UTF-8"))?;
    Ok(Output { code, stdout, stderr: String::from_utf8_lossy(&output.stderr).into_owned() })
}

fn json(output: &Output) -> Result<Value> {
    ensure!(output.code == 0, "exit code {}: {}", output.code, output.stderr.trim_end());
    serde_json::from_str(&output.stdout).context("-o json printed something else")
}

fn lines(output: &Output) -> Result<Vec<Failure>> {
    ensure!(output.code == 0, "exit code {}: {}", output.code, output.stderr.trim_end());
    let parse = |line| serde_json::from_str(line).with_context(|| format!("not a failure: {line}"));
    output.stdout.lines().map(parse).collect()
}
