//! Waits for each kind and each end, begun before the workloads are made; and failures seen as they come.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

use crate::access;
use crate::api::{Api, has_condition, is_gone, text};
use crate::assets::Assets;
use crate::control_plane::{ControlPlane, Parts};
use crate::kubelet::Kubelet;
use crate::results::Results;
use crate::scenario::Scenario;
use crate::tool::Tool;
use crate::wait::{Answer, until};

const LONGEST: Duration = Duration::from_secs(90);
const PODS: &str = "/api/v1/namespaces/waits/pods";

/// A wait, with what it must end with.
struct Case {
    name: &'static str,
    arguments: &'static [&'static str],
    code: i32,
    /// In what it prints.
    says: &'static str,
}

const fn case(name: &'static str, arguments: &'static [&'static str], code: i32, says: &'static str) -> Case {
    Case { name, arguments, code, says }
}

const CASES: &[Case] = &[
    case("wait-job-completes", &["job/completes"], 0, "Job waits/completes completed"),
    case("wait-job-fails", &["job/fails"], 3, "Job waits/fails failed"),
    case("wait-job-fails-early", &["job/fails", "--early"], 3, "Job waits/fails"),
    case("wait-job-for-failed", &["job/fails", "--for=failed"], 0, "Job waits/fails failed"),
    case("wait-job-for-failed-that-completes", &["job/completes", "--for=failed"], 3, "completed"),
    case("wait-job-that-vanishes", &["job/vanishes"], 3, "Job waits/vanishes failed"),
    case("wait-job-is-ready", &["job/goes-on", "--for=ready"], 0, "Job waits/goes-on"),
    case("wait-job-times-out", &["job/goes-on", "--timeout=5s"], 5, ""),
    case("wait-cronjob-run", &["cronjob/minutely"], 3, "Job waits/minutely-"),
    case("wait-cronjob-run-completes", &["cronjob/completes-minutely"], 0, "Job waits/completes-minutely-"),
    case("wait-jobset-is-ready", &["jobset/goes-on", "--for=ready"], 0, "JobSet waits/goes-on"),
    case("wait-jobset-completes", &["jobset/completes"], 0, "JobSet waits/completes completed"),
    case("wait-jobset-fails", &["jobset/restarts"], 3, "JobSet waits/restarts failed"),
    case("wait-jobset-restarted", &["jobset/restarts", "--for=restarted"], 0, "JobSet waits/restarts"),
    case("wait-trainjob-completes", &["trainjob/tuned"], 0, "TrainJob waits/tuned"),
    case("wait-trainjob-fails", &["trainjob/broken"], 3, "TrainJob waits/broken"),
    case("wait-deployment", &["deployment/web"], 0, "Deployment waits/web"),
    case("wait-deployment-past-its-deadline", &["deployment/late"], 3, "Deployment waits/late"),
    case("wait-deployment-for-failed", &["deployment/late", "--for=failed"], 0, "Deployment waits/late"),
    case("wait-statefulset", &["sts/db"], 0, "StatefulSet waits/db"),
    case("wait-daemonset", &["ds/agent"], 0, "DaemonSet waits/agent"),
    case("wait-leaderworkerset", &["lws/vllm"], 0, "LeaderWorkerSet waits/vllm"),
    case("wait-sandbox", &["sandbox/box"], 0, "Sandbox waits/box"),
    case("wait-sandbox-fails", &["sandbox/crate", "--for=finished"], 3, "Sandbox waits/crate"),
    case("wait-several", &["job/completes", "job/fails", "deployment/web"], 3, "Deployment waits/web"),
    case("wait-any", &["job/goes-on", "job/completes", "--any"], 0, "Job waits/completes completed"),
];

const WATCHES: &str = "wait-watched-failures";
const RESTARTED: &str = "wait-leaderworkerset-restarted";
const LABELLED: &str = "wait-labelled";
const GRANTED: &str = "wait-published-role-suffices";

pub(crate) fn names() -> Vec<&'static str> {
    CASES.iter().map(|case| case.name).chain([WATCHES, RESTARTED, LABELLED, GRANTED]).collect()
}

/// On a control plane of its own.
pub(crate) async fn run_all(assets: &Assets, program: &Path, results: &mut Results) -> Result<()> {
    let plane = ControlPlane::start(assets, Parts::Family).await?;
    let scenarios = Arc::new(Scenario::waited()?);
    let _kubelet = Kubelet::start(&plane.api, scenarios.clone()).await?;
    let bench = Bench { api: &plane.api, tool: Tool::new(program, &plane.kubeconfig)? };
    let wanted: Vec<&Case> = CASES.iter().filter(|case| results.wants(case.name)).collect();
    // Polled first, the waits begin before anything is made.
    let waits = join_all(wanted.iter().map(|case| bench.wait(case)));
    let made = async {
        for scenario in scenarios.iter() {
            scenario.create(&plane.api).await?;
        }
        Ok::<(), anyhow::Error>(())
    };
    let (outcomes, made) = tokio::join!(biased; waits, made);
    made?;
    for (case, outcome) in wanted.into_iter().zip(outcomes) {
        results.record(case.name, outcome);
    }
    if results.wants(LABELLED) {
        results.record(LABELLED, bench.labelled().await);
    }
    if results.wants(GRANTED) {
        results.record(GRANTED, bench.granted().await);
    }
    if results.wants(RESTARTED) {
        results.record(RESTARTED, bench.group_made_anew().await);
    }
    if results.wants(WATCHES) {
        results.record(WATCHES, bench.watch().await);
    }
    Ok(())
}

struct Bench<'a> {
    api: &'a Api,
    tool: Tool,
}

impl Bench<'_> {
    async fn wait(&self, case: &Case) -> Result<()> {
        let arguments = [&["wait"], case.arguments, &["-n", "waits", "--allow-missing"]].concat();
        let ran = self.tool.live(&arguments).await?;
        let told = format!("exit code {}: {}{}", ran.code, ran.stdout, ran.stderr);
        ensure!(ran.code == case.code, "{told}");
        ensure!(ran.stdout.contains(case.says), "it does not say {:?}: {told}", case.says);
        Ok(())
    }

    /// All of them have ended by now.
    async fn labelled(&self) -> Result<()> {
        let ran = self.tool.live(&["wait", "jobs", "-l", "pipeline=nightly", "-n", "waits", "-o", "name"]).await?;
        let mut names: Vec<&str> = ran.stdout.lines().collect();
        names.sort_unstable();
        ensure!(ran.code == 3 && names == ["job.batch/completes", "job.batch/fails"], "{}: {names:?}", ran.code);
        Ok(())
    }

    /// Without the role the verb that is missing is named; with it nothing is missing.
    async fn granted(&self) -> Result<()> {
        for file in ["core.yaml", "workloads.yaml", "context.yaml"] {
            access::grant(self.api, file, "watcher").await?;
        }
        let arguments = ["wait", "job/goes-on", "-n", "waits", "--timeout=10s", "--as=watcher"];
        let denied = self.tool.live(&arguments).await?;
        ensure!(denied.code == 1 && denied.stderr.contains("get, list, watch"), "{}: {}", denied.code, denied.stderr);
        access::grant(self.api, "watch.yaml", "watcher").await?;
        let (mut child, mut lines) = self.follow(&["failures", "-n", "waits", "-w", "-o", "jsonl", "--as=watcher"])?;
        line_of(&mut lines, "job/fails").await?;
        child.kill().await?;
        let granted = self.tool.live(&["wait", "job/fails", "-n", "waits", "--as=watcher"]).await?;
        ensure!(granted.code == 3 && granted.stderr.is_empty(), "{}: {}", granted.code, granted.stderr);
        Ok(())
    }

    /// A worker is deleted until that has been seen: the wait may have begun only after the first time.
    async fn group_made_anew(&self) -> Result<()> {
        let arguments = ["wait", "lws/vllm", "--for=restarted", "-n", "waits", "--timeout=100s"];
        let waited = self.tool.live(&arguments);
        let deleted = async {
            let mut last = String::new();
            loop {
                let path = format!("{PODS}/vllm-0-1");
                let worker = until("a worker of the group", LONGEST, || async {
                    match self.api.get(&path).await {
                        Ok(pod) if text(&pod, "/metadata/uid") != last && has_condition(&pod, "Ready") => {
                            Ok(Answer::Ready(pod))
                        }
                        Ok(pod) => Ok(Answer::NotYet(pod["status"].to_string())),
                        Err(error) if is_gone(&error) => Ok(Answer::NotYet("nothing".to_owned())),
                        Err(error) => Err(error),
                    }
                })
                .await?;
                text(&worker, "/metadata/uid").clone_into(&mut last);
                self.api.remove(&path, &last).await?;
            }
        };
        let ran = tokio::select! {
            ran = waited => ran?,
            ended = deleted => return ended,
        };
        ensure!(ran.code == 0, "exit code {}: {}{}", ran.code, ran.stdout, ran.stderr);
        Ok(())
    }

    /// A failure that comes while it watches is told.
    async fn watch(&self) -> Result<()> {
        let (mut child, mut lines) = self.follow(&["failures", "-n", "waits", "-w", "-o", "jsonl"])?;
        line_of(&mut lines, "job/fails").await?;
        // From the first line on, what is there has been read. Its name begins as that of one whose pods fail, so that its own
        // do, too.
        let job = json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "fails-anew", "namespace": "waits"},
            "spec": {"backoffLimit": 0, "template": {"spec": {
                "restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.example/etl:1.4"}],
            }}},
        });
        self.api.create("/apis/batch/v1/namespaces/waits/jobs", &job).await?;
        let line = line_of(&mut lines, "job/fails-anew").await?;
        ensure!(line["class"] == "noPolicy", "{line}");
        child.kill().await?;
        Ok(())
    }

    fn follow(&self, arguments: &[&str]) -> Result<(Child, Lines<BufReader<ChildStdout>>)> {
        let mut command = self.tool.command();
        command.args(arguments).arg("--kubeconfig").arg(self.tool.kubeconfig());
        let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).kill_on_drop(true).spawn()?;
        let stdout = child.stdout.take().context("there is no standard output")?;
        Ok((child, BufReader::new(stdout).lines()))
    }
}

/// The next line about a workload.
async fn line_of(lines: &mut Lines<BufReader<ChildStdout>>, workload: &str) -> Result<Value> {
    let found = async {
        while let Some(line) = lines.next_line().await? {
            let line: Value = serde_json::from_str(&line)?;
            if line["workload"] == workload && line["exitCode"] == 1 {
                return Ok(line);
            }
        }
        anyhow::bail!("it ended without a line about {workload}")
    };
    tokio::time::timeout(LONGEST, found).await.with_context(|| format!("no line about {workload}"))?
}
