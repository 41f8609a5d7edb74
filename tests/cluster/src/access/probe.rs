//! A command that needs a right, run with and without it.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

use super::roles::Right;
use super::world::NAMESPACE;
use crate::api::{array, text};
use crate::tool::{Output, Tool, run};

/// A refusal of what could be read before is believed after some seconds.
const LONGEST: Duration = Duration::from_secs(90);

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// A command that ends.
    Run(Vec<String>),
    /// One that goes on until it is told to end, or cannot go on.
    Follow(Vec<String>),
    /// A snapshot into a file.
    Record(&'static [&'static str]),
    /// A journal into a file, until it is told to end.
    Journal,
}

/// What must come of a right that is missing, beside that it is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    /// Exit code 1.
    Fails,
    /// The rest of the report, a line on standard error, and the source among those denied.
    LeavesOut,
    /// It is said.
    Says,
    /// The recording says it, so that whoever reads it is told.
    Records,
}

pub(super) struct Probe {
    pub(super) ask: Ask,
    pub(super) promise: Promise,
}

/// What came of it.
pub(super) struct Outcome {
    output: Output,
    /// What was recorded.
    recording: String,
}

impl Ask {
    /// Runs to its end; what goes on by itself until something is refused.
    pub(super) async fn run(&self, tool: &Tool, user: &str) -> Result<Outcome> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("recording.jsonl");
        let output = match self {
            Self::Run(_) | Self::Record(_) => run(self.command(tool, user, &file)).await?,
            Self::Follow(_) | Self::Journal => refused(self.command(tool, user, &file)).await?,
        };
        Ok(Outcome { output, recording: recorded(&file) })
    }

    /// Whether it can succeed here, where no kubelet has logs to give.
    pub(super) fn can_succeed(&self) -> bool {
        !matches!(self, Self::Run(arguments) if arguments.iter().any(|argument| argument == "--save-logs"))
    }

    pub(super) fn goes_on(&self) -> bool {
        matches!(self, Self::Follow(_) | Self::Journal)
    }

    /// Begins what goes on by itself.
    pub(super) fn begin(&self, tool: &Tool, user: &str) -> Result<Running> {
        let folder = tempfile::tempdir()?;
        let child = spawn(self.command(tool, user, &folder.path().join("recording.jsonl")))?;
        Ok(Running { child, folder })
    }

    fn command(&self, tool: &Tool, user: &str, file: &Path) -> Command {
        let mut command = tool.command();
        let state = file.parent().unwrap_or(file);
        command.env("XDG_STATE_HOME", state).env("COLUMNS", "120").env("NO_COLOR", "1");
        match self {
            Self::Run(arguments) | Self::Follow(arguments) => {
                command.args(arguments);
                if !arguments.iter().any(|argument| argument == "-A") {
                    command.args(["-n", NAMESPACE]);
                }
            }
            Self::Record(more) => drop(command.args(["record", "-A"]).args(*more).arg("-o").arg(file)),
            Self::Journal => drop(command.args(["record", "-A", "--follow", "-o"]).arg(file)),
        }
        command.args(["--as", user, "--kubeconfig"]).arg(tool.kubeconfig());
        command
    }
}

/// The lines of a recording, or of a journal's only file.
fn recorded(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// What goes on, and has not been refused anything yet.
pub(super) struct Running {
    child: Child,
    folder: tempfile::TempDir,
}

impl Running {
    /// Ends it, and says what it has told.
    pub(super) async fn end(self) -> Result<Outcome> {
        let output = ended(self.child, Vec::new()).await?;
        Ok(Outcome { output, recording: recorded(&self.folder.path().join("recording.jsonl")) })
    }
}

fn spawn(mut command: Command) -> Result<Child> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command.spawn().context("cannot run the tool")
}

/// Lets it run until it says that something is refused, or ends by itself.
async fn refused(command: Command) -> Result<Output> {
    let mut child = spawn(command)?;
    let mut stderr = child.stderr.take().context("there is no standard error")?;
    let mut said = Vec::new();
    let told = async {
        let mut chunk = [0; 4096];
        loop {
            let read = stderr.read(&mut chunk).await?;
            said.extend_from_slice(&chunk[..read]);
            if read == 0 || String::from_utf8_lossy(&said).contains(" cannot ") {
                return Ok::<_, std::io::Error>(());
            }
        }
    };
    let told = tokio::time::timeout(LONGEST, told).await;
    if told.is_err() {
        let said = String::from_utf8_lossy(&said);
        bail!("nothing was refused within {} s; it said: {said}", LONGEST.as_secs());
    }
    // What it says while it ends is of no matter, but it must have somewhere to say it.
    tokio::spawn(async move { tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await });
    ended(child, said).await
}

/// Tells it to end, unless it has, and waits for that.
async fn ended(mut child: Child, said: Vec<u8>) -> Result<Output> {
    // What is refused for good ends it by itself, a moment after it has said so.
    let stdout = child.stdout.take().context("there is no standard output")?;
    tokio::spawn(async move { tokio::io::copy(&mut { stdout }, &mut tokio::io::sink()).await });
    let grace = tokio::time::timeout(Duration::from_secs(1), child.wait()).await;
    if grace.is_err() {
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        kill_process(id.context("it has ended")?, Signal::TERM)?;
    }
    let output = tokio::time::timeout(LONGEST, child.wait_with_output()).await.context("it does not end")??;
    let code = output.status.code().context("it was ended by a signal")?;
    let stderr = [said, output.stderr].concat();
    Ok(Output { code, stdout: String::new(), stderr: String::from_utf8_lossy(&stderr).into_owned() })
}

impl Outcome {
    /// Whether it says, anywhere, that this right is missing.
    pub(super) fn names(&self, right: &Right) -> bool {
        let Output { stdout, stderr, .. } = &self.output;
        // In JSON the quotes of the server's words are escaped.
        let (refusal, escaped) = (right.refusal(), right.refusal().replace('"', "\\\""));
        let missing = format!("rights are missing in namespace {NAMESPACE}: ");
        let rights = stderr.lines().find_map(|line| Some(line.split_once(&missing)?.1));
        let named = right.to_string();
        let among = rights.is_some_and(|rights| rights.split([';', ',']).any(|one| one.trim() == named));
        among || stderr.contains(&refusal) || stdout.contains(&escaped) || self.recording.contains(&escaped)
    }

    /// Whether what was promised of a right that is missing has come.
    pub(super) fn keeps(&self, promise: Promise, right: &Right) -> Result<()> {
        let Output { code, stderr, .. } = &self.output;
        ensure!(self.names(right), "nothing says so: exit code {code}, {stderr}");
        match promise {
            Promise::Fails => ensure!(*code == 1, "exit code {code}: {stderr}"),
            Promise::Says => {}
            Promise::Records => {
                let escaped = right.refusal().replace('"', "\\\"");
                ensure!(self.recording.contains(&escaped), "it is not in the recording: exit code {code}, {stderr}");
                ensure!(stderr.contains(&right.refusal()), "it is not said on standard error: {stderr}");
            }
            Promise::LeavesOut => {
                ensure!(*code == 0, "exit code {code}: {stderr}");
                ensure!(stderr.contains(&right.refusal()), "it is not said on standard error: {stderr}");
                let report: Value = serde_json::from_str(&self.output.stdout).context("it printed no JSON")?;
                let denied = array(&report, "/sources")
                    .iter()
                    .any(|source| text(source, "/resource") == right.resource && text(source, "/state") == "denied");
                ensure!(denied, "it is not among the sources that are denied: {}", report["sources"]);
            }
        }
        Ok(())
    }

    /// Whether the command did what it is for; a wait may have timed out, and what goes on was told to end.
    pub(super) fn ensure_success(&self) -> Result<()> {
        ensure!([0, 5, 130].contains(&self.output.code), "{}", self.said());
        Ok(())
    }

    pub(super) fn said(&self) -> String {
        format!("exit code {}: {}", self.output.code, self.output.stderr)
    }
}
