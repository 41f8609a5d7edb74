//! `record`: what a journal tells of the scenarios, and what a snapshot does.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr};

use crate::access::grant;
use crate::api::Api;
use crate::jobsets::agreed_in_file;
use crate::jobsets::history::History;
use crate::tool::{Failure, Tool};
use crate::wait::{Answer, until};

pub(crate) const JOURNAL: &str = "record-follow-tells-all-attempts-of-jobsets-after-a-kill";
pub(crate) const SNAPSHOT: &str = "record-snapshot-tells-what-the-cluster-does";
pub(crate) const NAMES: [&str; 2] = [JOURNAL, SNAPSHOT];

/// Has the role of `rbac/record.yaml` and no other.
const USER: &str = "recorder";
/// What is seen may be written a second later, and the machine may be busy.
const WRITTEN: Duration = Duration::from_secs(60);

/// A recorder of the whole cluster, and the folder that it writes to.
pub(crate) struct Recorder {
    tool: Tool,
    folder: tempfile::TempDir,
    child: Child,
    said: Lines<BufReader<ChildStderr>>,
}

impl Recorder {
    /// Starts one that may do what the published role allows, and awaits that it follows.
    pub(crate) async fn start(tool: &Tool, api: &Api) -> Result<Self> {
        grant(api, "record.yaml", USER).await?;
        let folder = tempfile::tempdir()?;
        let (child, said) = spawn(tool, folder.path())?;
        let mut recorder = Self { tool: tool.clone(), folder, child, said };
        recorder.await_line("recording").await?;
        Ok(recorder)
    }

    /// Kills it as a node's failure does, and starts it again.
    pub(crate) async fn kill_and_go_on(&mut self) -> Result<()> {
        self.child.kill().await?;
        (self.child, self.said) = spawn(&self.tool, self.folder.path())?;
        self.await_line("recording again").await
    }

    async fn await_line(&mut self, begins: &str) -> Result<()> {
        let awaited = async {
            while let Some(line) = self.said.next_line().await? {
                ensure!(!line.contains("left out"), "the published role does not suffice: {line}");
                if line.starts_with(begins) {
                    return Ok(());
                }
            }
            bail!("the recorder ended: {:?}", self.child.wait().await)
        };
        tokio::time::timeout(WRITTEN, awaited).await.with_context(|| format!("it never said {begins:?}"))?
    }

    /// Asks it to end, as the kubelet does; it must end well.
    async fn stop(&mut self) -> Result<()> {
        let id = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())).context("the recorder is gone")?;
        kill_process(id, Signal::TERM)?;
        let status = tokio::time::timeout(WRITTEN, self.child.wait()).await.context("SIGTERM did not end it")??;
        ensure!(status.code() == Some(0), "after SIGTERM it ended with {status}");
        Ok(())
    }

    /// Every decision that was watched is told by the journal alone.
    pub(crate) async fn check(&mut self, histories: &[History]) -> Result<()> {
        for history in histories {
            let (namespace, name) = history.name();
            until(&format!("the journal to tell of {namespace}/{name}"), WRITTEN, || async {
                Ok(match agreed_in_file(&self.tool, self.folder.path(), history).await {
                    Ok(()) => Answer::Ready(()),
                    Err(error) => Answer::NotYet(format!("{error:#}\nwatched of {history}")),
                })
            })
            .await?;
        }
        self.stop().await?;
        let journal = std::fs::read_to_string(self.folder.path().join("journal.jsonl"))?;
        let mut seen = std::collections::HashSet::new();
        for line in journal.lines() {
            let value: Value = serde_json::from_str(line).with_context(|| format!("a torn line: {line}"))?;
            let metadata = &value["object"]["metadata"];
            let version = (metadata["uid"].clone().to_string(), metadata["resourceVersion"].clone().to_string());
            let is_state = value["kind"] == "Change" && metadata["resourceVersion"].is_string();
            ensure!(!is_state || seen.insert(version), "written twice: {line}");
        }
        Ok(())
    }
}

fn spawn(tool: &Tool, folder: &Path) -> Result<(Child, Lines<BufReader<ChildStderr>>)> {
    let mut command = tool.command();
    command.args(["record", "-A", "--follow", "--as", USER, "--kubeconfig"]).arg(tool.kubeconfig());
    command.arg("-o").arg(folder.join("journal.jsonl"));
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true).spawn()?;
    let stderr = child.stderr.take().context("no stderr")?;
    Ok((child, BufReader::new(stderr).lines()))
}

/// Makes a snapshot; the failures that it tells.
pub(crate) async fn snapshot(tool: &Tool, folder: &Path) -> Result<(PathBuf, Vec<Failure>)> {
    let path = folder.join("snapshot.jsonl.gz");
    let name = path.to_str().context("a folder that is no text")?;
    let output = tool.live(&["record", "-A", "--as", USER, "-o", name]).await?;
    ensure!(output.code == 0, "exit code {}: {}", output.code, output.stderr.trim_end());
    ensure!(output.stdout.trim_end() == name, "it printed {:?}", output.stdout);
    let failures = tool.failures_in(&path).await?;
    Ok((path, failures))
}
