//! Restarts really done, of each kind, and the workload seen to run again.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::pty;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::access;
use crate::api::{Api, annotation, array, has_condition, is_gone, label, number, text};
use crate::assets::Assets;
use crate::control_plane::{ControlPlane, Parts};
use crate::kubelet::Kubelet;
use crate::results::Results;
use crate::scenario::Scenario;
use crate::tool::{Output, Tool, run};
use crate::wait::{Answer, until};

const LONGEST: Duration = Duration::from_secs(90);
const JOBS: &str = "/apis/batch/v1/namespaces/restarts/jobs";
const JOB_SETS: &str = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/restarts/jobsets";
const PODS: &str = "/api/v1/namespaces/restarts/pods";
const CLAIMS: &str = "/api/v1/namespaces/restarts/persistentvolumeclaims";
const CLAIM: &str = "/api/v1/namespaces/restarts/persistentvolumeclaims/checkpoints-saving";

pub(crate) const NAMES: [&str; 16] = [
    "restart-job",
    "restart-job-kept",
    "restart-job-asks-at-a-terminal",
    "restart-job-killed-between-deletion-and-creation",
    "restart-published-role-suffices",
    "restart-cronjob",
    "restart-jobset-that-runs",
    "restart-jobset-that-has-ended",
    "restart-jobset-with-checkpoints",
    "restart-jobset-without-its-checkpoints",
    "restart-deployment",
    "restart-statefulset",
    "restart-daemonset",
    "restart-leaderworkerset",
    "restart-sandbox-that-runs",
    "restart-sandbox-that-failed",
];

type Outcome<'a> = Pin<Box<dyn Future<Output = Result<()>> + 'a>>;

/// On a control plane of its own; the tests touch different workloads and run side by side.
pub(crate) async fn run_all(assets: &Assets, program: &Path, results: &mut Results) -> Result<()> {
    let plane = ControlPlane::start(assets, Parts::Serving).await?;
    let scenarios = Arc::new(Scenario::restarted()?);
    let _kubelet = Kubelet::start(&plane.api, scenarios.clone()).await?;
    for scenario in scenarios.iter() {
        scenario.create(&plane.api).await?;
    }
    let state = tempfile::Builder::new().prefix("cluster-tests-state-").tempdir()?;
    let bench = Bench { api: &plane.api, tool: Tool::new(program, &plane.kubeconfig)?, plane: &plane, state };
    let tests: [Outcome; NAMES.len()] = [
        Box::pin(bench.job()),
        Box::pin(bench.kept()),
        Box::pin(bench.asked()),
        Box::pin(bench.killed()),
        Box::pin(bench.granted()),
        Box::pin(bench.cron_job()),
        Box::pin(bench.running_job_set()),
        Box::pin(bench.ended_job_set()),
        Box::pin(bench.checkpoints()),
        Box::pin(bench.checkpoints_lost()),
        Box::pin(bench.rollout("deployment/web", "deployments/web", "web")),
        Box::pin(bench.rollout("sts/db", "statefulsets/db", "db")),
        Box::pin(bench.rollout("ds/agent", "daemonsets/agent", "agent")),
        Box::pin(bench.group()),
        Box::pin(bench.sandbox("box")),
        Box::pin(bench.sandbox("broken")),
    ];
    let wanted = NAMES.into_iter().zip(tests).filter(|(name, _)| results.wants(name));
    let (names, tests): (Vec<&str>, Vec<Outcome>) = wanted.unzip();
    for (name, outcome) in names.into_iter().zip(futures_util::future::join_all(tests).await) {
        results.record(name, outcome);
    }
    Ok(())
}

struct Bench<'a> {
    api: &'a Api,
    tool: Tool,
    plane: &'a ControlPlane,
    /// Where the tool keeps what it saves.
    state: TempDir,
}

impl Bench<'_> {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.tool.command();
        command.env("XDG_STATE_HOME", self.state.path()).arg("restart").args(arguments);
        command.args(["-n", "restarts", "--kubeconfig"]).arg(self.tool.kubeconfig());
        command
    }

    async fn restart(&self, arguments: &[&str]) -> Result<Output> {
        run(self.command(arguments)).await
    }

    async fn restarted(&self, arguments: &[&str]) -> Result<Output> {
        let output = self.restart(&[arguments, &["--yes"]].concat()).await?;
        ensure!(output.code == 0, "exit code {}: {}{}", output.code, output.stdout, output.stderr);
        Ok(output)
    }

    /// The object as soon as it is as a test needs it.
    async fn once(&self, path: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Result<Value> {
        until(&format!("{path} {what}"), LONGEST, || async {
            match self.api.get(path).await {
                Ok(seen) if holds(&seen) => Ok(Answer::Ready(seen)),
                Ok(seen) => Ok(Answer::NotYet(format!("{} {}", seen["spec"]["suspend"], seen["status"]))),
                Err(error) if is_gone(&error) => Ok(Answer::NotYet("nothing".to_owned())),
                Err(error) => Err(error),
            }
        })
        .await
    }

    async fn failed(&self, path: &str) -> Result<Value> {
        self.once(path, "to fail", |object| has_condition(object, "Failed")).await
    }

    /// The Job of this name with another uid, once a pod of it has run.
    async fn runs_anew(&self, path: &str, old: &Value) -> Result<Value> {
        self.once(path, "to run again", |job| {
            let pods = number(job, "/status/active") + number(job, "/status/failed") + number(job, "/status/succeeded");
            job["metadata"]["uid"] != old["metadata"]["uid"] && pods > 0
        })
        .await
    }

    async fn job(&self) -> Result<()> {
        let path = format!("{JOBS}/etl");
        let old = self.failed(&path).await?;
        let dry = self.restart(&["job/etl"]).await?;
        ensure!(dry.code == 0 && dry.stdout.contains("would take all 2 writes"), "{}{}", dry.stdout, dry.stderr);
        ensure!(self.api.get(&path).await?["metadata"]["uid"] == old["metadata"]["uid"], "a dry run changed something");
        for (patch, unknown) in [
            (r#"{"spec":{"nosuchField":1}}"#, "spec.nosuchField"),
            (r#"{"spec":{"template":{"spec":{"resurces":{}}}}}"#, "spec.template.spec.resurces"),
        ] {
            let typo = self.restart(&["job/etl", "--yes", "--patch", patch]).await?;
            let said = typo.stderr.contains(&format!("unknown field \"{unknown}\""));
            ensure!(typo.code == 1 && said, "{}{}", typo.stdout, typo.stderr);
        }
        ensure!(self.api.get(&path).await?["metadata"]["uid"] == old["metadata"]["uid"], "a mistyped change was made");
        // The played kubelet has no logs to give: without them it is not begun.
        let lost = self.restart(&["job/etl", "--yes", "--save-logs"]).await?;
        ensure!(lost.code == 1 && lost.stderr.contains("not all logs could be saved"), "{}", lost.stderr);
        ensure!(self.api.get(&path).await?["metadata"]["uid"] == old["metadata"]["uid"], "it was begun without logs");
        self.restarted(&["job/etl"]).await?;
        let new = self.runs_anew(&path, &old).await?;
        ensure!(label(&new, "team") == Some("data"), "{new}");
        ensure!(new["spec"]["template"]["spec"] == old["spec"]["template"]["spec"], "{new}");
        let folder = self.folder("job-etl")?;
        let pods = std::fs::read_to_string(folder.join("pods.json")).context("no pods were saved")?;
        ensure!(pods.contains("\"exitCode\": 1") && !pods.contains("s3cret"), "{pods}");
        ensure!(folder.join("events.json").is_file(), "no Events were saved");
        Ok(())
    }

    /// The folder that was made for a workload.
    fn folder(&self, of: &str) -> Result<PathBuf> {
        let base = self.state.path().join("kubectl-sigapps/restarts");
        let entries = base.read_dir()?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
        let named = |path: &PathBuf| path.to_string_lossy().ends_with(&format!("-restarts-{of}"));
        entries.into_iter().find(named).with_context(|| format!("nothing was saved of {of}"))
    }

    async fn kept(&self) -> Result<()> {
        let old = self.failed(&format!("{JOBS}/kept")).await?;
        self.restarted(&["job/kept", "--keep"]).await?;
        let still = self.api.get(&format!("{JOBS}/kept")).await?;
        ensure!(still["metadata"]["uid"] == old["metadata"]["uid"], "the old one was not kept");
        let jobs = self.api.list(JOBS).await?;
        let new = jobs.iter().map(|job| text(job, "/metadata/name")).find(|name| name.starts_with("kept-"));
        self.runs_anew(&format!("{JOBS}/{}", new.context("there is no new one")?), &old).await.map(|_| ())
    }

    /// It asks once; what is not yes changes nothing.
    async fn asked(&self) -> Result<()> {
        let path = format!("{JOBS}/asked");
        let old = self.failed(&path).await?;
        for (answer, code) in [("n\n", 1), ("\n", 1), ("y\n", 0)] {
            let (ended, said) = self.at_terminal(&["job/asked"], answer).await?;
            ensure!(ended == code, "exit code {ended} after {answer:?}: {said}");
            ensure!(said.matches("Restart job/asked in namespace restarts? [y/N]").count() == 1, "{said}");
            let now = self.once(&path, "to be there", |_| true).await?;
            let is_old = now["metadata"]["uid"] == old["metadata"]["uid"];
            ensure!(is_old == (code == 1), "after {answer:?}: {said}");
        }
        self.runs_anew(&path, &old).await.map(|_| ())
    }

    /// Exit code and standard error of a run that has a terminal, with what is typed there.
    async fn at_terminal(&self, arguments: &[&str], typed: &str) -> Result<(i32, String)> {
        let terminal = pty::openpt(pty::OpenptFlags::RDWR | pty::OpenptFlags::NOCTTY)?;
        pty::grantpt(&terminal)?;
        pty::unlockpt(&terminal)?;
        let name = pty::ptsname(&terminal, Vec::new())?;
        let end = File::options().read(true).write(true).open(name.to_str()?)?;
        let mut terminal = File::from(terminal);
        terminal.write_all(typed.as_bytes())?;
        // Nobody looks at what is shown, but it must go somewhere.
        std::thread::spawn(move || std::io::copy(&mut terminal, &mut std::io::sink()));
        let mut command = self.command(arguments);
        command.stdin(end.try_clone()?).stdout(end).stderr(Stdio::piped()).kill_on_drop(true);
        let output = tokio::time::timeout(LONGEST, command.spawn()?.wait_with_output()).await??;
        let code = output.status.code().context("it was ended by a signal")?;
        Ok((code, String::from_utf8_lossy(&output.stderr).into_owned()))
    }

    /// The tool is killed while the pod still ends; the next run completes what it began.
    async fn killed(&self) -> Result<()> {
        let path = format!("{JOBS}/interrupted");
        let old = self.once(&path, "to run", |job| number(job, "/status/ready") == 1).await?;
        let refused = self.restart(&["job/interrupted", "--yes"]).await?;
        ensure!(refused.code == 1 && refused.stderr.contains("has not ended"), "{}", refused.stderr);
        let mut command = self.command(&["job/interrupted", "--yes", "--force"]);
        let mut child: Child = command.stdout(Stdio::null()).kill_on_drop(true).spawn()?;
        self.once(&path, "to be deleted", |job| !text(job, "/metadata/deletionTimestamp").is_empty()).await?;
        child.kill().await?;
        self.restarted(&["job/interrupted", "--force"]).await?;
        let new = self.runs_anew(&path, &old).await?;
        ensure!(new["spec"]["template"]["spec"] == old["spec"]["template"]["spec"], "{new}");
        let folder = self.folder("job-interrupted")?;
        let record = std::fs::read_to_string(folder.join("record.json"))?;
        ensure!(record.contains("\"finished\": true"), "{record}");
        Ok(())
    }

    /// With the published roles, and no other.
    async fn granted(&self) -> Result<()> {
        let path = format!("{JOBS}/granted");
        let old = self.failed(&path).await?;
        let without = self.restart(&["job/granted", "--as", "reader"]).await?;
        ensure!(without.code == 1, "a stranger may do it: {}", without.stdout);
        for file in ["core.yaml", "context.yaml"] {
            access::grant(self.api, file, "reader").await?;
            access::grant(self.api, file, "restarter").await?;
        }
        access::grant(self.api, "restart.yaml", "restarter").await?;
        let refused = self.restart(&["job/granted", "--as", "reader", "--yes"]).await?;
        let missing = "delete jobs.batch, create jobs.batch";
        ensure!(refused.code == 1 && refused.stderr.contains(missing), "{}", refused.stderr);
        let done = self.restarted(&["job/granted", "--as", "restarter"]).await?;
        ensure!(done.stderr.is_empty() && !done.stdout.contains("not known and not saved"), "{}", done.stdout);
        self.runs_anew(&path, &old).await.map(|_| ())
    }

    async fn cron_job(&self) -> Result<()> {
        let output = self.restarted(&["cj/nightly"]).await?;
        ensure!(output.stdout.contains("concurrencyPolicy Forbid does not hold"), "{}", output.stdout);
        let jobs = self.api.list(JOBS).await?;
        let job = jobs.iter().find(|job| text(job, "/metadata/name").starts_with("nightly-")).context("no Job")?;
        ensure!(annotation(job, "cronjob.kubernetes.io/instantiate") == Some("manual"), "{job}");
        ensure!(text(job, "/metadata/ownerReferences/0/kind") == "CronJob", "{job}");
        let path = format!("{JOBS}/{}", text(job, "/metadata/name"));
        self.once(&path, "to complete", |job| has_condition(job, "Complete")).await.map(|_| ())
    }

    async fn running_job_set(&self) -> Result<()> {
        let before = self.running_pods("jobset.sigs.k8s.io/jobset-name=training", 2, &[]).await?;
        let uid = self.api.get(&format!("{JOB_SETS}/training")).await?["metadata"]["uid"].clone();
        let refused = self.restart(&["jobset/training", "--yes"]).await?;
        ensure!(refused.code == 1 && refused.stderr.contains("2 of its 2 pods run"), "{}", refused.stderr);
        self.restarted(&["jobset/training", "--force"]).await?;
        self.running_pods("jobset.sigs.k8s.io/jobset-name=training", 2, &before).await?;
        let after = self.api.get(&format!("{JOB_SETS}/training")).await?;
        ensure!(after["metadata"]["uid"] == uid && number(&after, "/status/restarts") == 0, "{after}");
        Ok(())
    }

    /// The uids of so many pods that run, none of them among `not`.
    async fn running_pods(&self, selector: &str, count: usize, not: &[String]) -> Result<Vec<String>> {
        until(&format!("{count} running pods {selector}"), LONGEST, || async {
            let mut pods = self.api.list(&format!("{PODS}?labelSelector={selector}")).await?;
            pods.retain(|pod| {
                text(pod, "/status/phase") == "Running" && pod["metadata"]["deletionTimestamp"].is_null()
            });
            let uids: Vec<String> = pods.iter().map(|pod| text(pod, "/metadata/uid").to_owned()).collect();
            let all_new = uids.iter().all(|uid| !not.contains(uid));
            Ok(if all_new && uids.len() == count { Answer::Ready(uids) } else { Answer::NotYet(format!("{uids:?}")) })
        })
        .await
    }

    async fn ended_job_set(&self) -> Result<()> {
        let path = format!("{JOB_SETS}/ended");
        let old = self.failed(&path).await?;
        let old_job = self.api.get(&format!("{JOBS}/ended-w-0")).await?;
        self.restarted(&["jobset/ended"]).await?;
        self.runs_anew(&format!("{JOBS}/ended-w-0"), &old_job).await?;
        let new = self.api.get(&path).await?;
        ensure!(new["metadata"]["uid"] != old["metadata"]["uid"] && label(&new, "team") == Some("data"), "{new}");
        ensure!(new["spec"] == old["spec"], "{} is not {}", new["spec"], old["spec"]);
        Ok(())
    }

    /// Refused while the volume would go; the command that is printed protects it, and the new JobSet uses it again.
    async fn checkpoints(&self) -> Result<()> {
        let path = format!("{JOB_SETS}/saving");
        let old = self.failed(&path).await?;
        let claim = self.api.get(CLAIM).await?;
        let refused = self.restart(&["jobset/saving", "--yes", "-o", "json"]).await?;
        ensure!(refused.code == 1 && self.api.get(CLAIM).await?["metadata"]["uid"] == claim["metadata"]["uid"]);
        let refused: Value = serde_json::from_str(&refused.stdout)?;
        let [refusal] = array(&refused, "/refusals") else { bail!("{refused}") };
        ensure!(text(refusal, "/reason") == "checkpointLoss", "{refusal}");
        let command = text(refusal, "/commands/0").strip_prefix("kubectl ").context("no command of kubectl's")?;
        self.kubectl(command).await?;
        let done = self.restarted(&["jobset/saving"]).await?;
        ensure!(done.stdout.contains("pvc/checkpoints-saving is used again"), "{}", done.stdout);
        self.once(&path, "to be there again", |new| new["metadata"]["uid"] != old["metadata"]["uid"]).await?;
        self.failed(&path).await?;
        let kept = self.api.get(CLAIM).await?;
        ensure!(kept["metadata"]["uid"] == claim["metadata"]["uid"], "the volume claim is another one");
        ensure!(kept["metadata"]["deletionTimestamp"].is_null(), "the volume claim is being deleted");
        Ok(())
    }

    /// Where it is asked for, the volume goes with the old JobSet, and the new one begins with another.
    async fn checkpoints_lost(&self) -> Result<()> {
        let (path, claim) = (format!("{JOB_SETS}/losing"), format!("{CLAIMS}/checkpoints-losing"));
        let old = self.failed(&path).await?;
        let old_claim = self.api.get(&claim).await?;
        let done = self.restarted(&["jobset/losing", "--allow-checkpoint-loss"]).await?;
        ensure!(done.stdout.contains("pvc/checkpoints-losing and all that is on it"), "{}", done.stdout);
        let new = self.api.get(&path).await?;
        ensure!(new["metadata"]["uid"] != old["metadata"]["uid"], "the JobSet is the old one");
        ensure!(new["spec"] == old["spec"], "{} is not {}", new["spec"], old["spec"]);
        self.once(&claim, "to be a new one", |new| new["metadata"]["uid"] != old_claim["metadata"]["uid"]).await?;
        Ok(())
    }

    async fn kubectl(&self, arguments: &str) -> Result<()> {
        let mut command = Command::new("sh");
        let kubectl = self.plane.assets.binary("kubectl");
        command.args(["-c", &format!("{} {arguments}", kubectl.display())]);
        let output = run(command).await?;
        ensure!(output.code == 0, "kubectl {arguments}: {}", output.stderr);
        Ok(())
    }

    async fn rollout(&self, subject: &str, path: &str, app: &str) -> Result<()> {
        let path = format!("/apis/apps/v1/namespaces/restarts/{path}");
        let wanted = |object: &Value| {
            let replicas = number(object, "/spec/replicas").max(number(object, "/status/desiredNumberScheduled"));
            let ready = number(object, "/status/readyReplicas").max(number(object, "/status/numberReady"));
            replicas > 0 && replicas == ready
        };
        let object = self.once(&path, "to be ready", wanted).await?;
        let count = number(&object, "/status/readyReplicas").max(number(&object, "/status/numberReady"));
        let (selector, count) = (format!("app={app}"), usize::try_from(count)?);
        let before = self.running_pods(&selector, count, &[]).await?;
        self.restarted(&[subject]).await?;
        self.running_pods(&selector, count, &before).await.map(|_| ())
    }

    /// Of two groups, one is made anew whole, and the other goes on.
    async fn group(&self) -> Result<()> {
        let of = |group: u32| {
            format!("leaderworkerset.sigs.k8s.io/name=vllm,leaderworkerset.sigs.k8s.io/group-index={group}")
        };
        let other = self.running_pods(&of(0), 2, &[]).await?;
        let before = self.running_pods(&of(1), 2, &[]).await?;
        let refused = self.restart(&["lws/vllm", "--yes"]).await?;
        ensure!(refused.code == 1 && refused.stderr.contains("say with --group"), "{}", refused.stderr);
        self.restarted(&["lws/vllm", "--group", "1"]).await?;
        self.running_pods(&of(1), 2, &before).await?;
        ensure!(self.running_pods(&of(0), 2, &[]).await? == other, "the other group was restarted, too");
        Ok(())
    }

    /// One that runs is suspended and resumed; the controller never replaces a failed pod by itself.
    async fn sandbox(&self, name: &str) -> Result<()> {
        let phase = if name == "broken" { "Failed" } else { "Running" };
        let path = format!("{PODS}/{name}");
        let old = self.once(&path, "to be as played", |pod| text(pod, "/status/phase") == phase).await?;
        let done = self.restarted(&[&format!("sandbox/{name}")]).await?;
        ensure!(done.stdout.contains("all state in it"), "{}", done.stdout);
        self.once(&path, "to be a new one that has run", |pod| {
            pod["metadata"]["uid"] != old["metadata"]["uid"] && text(pod, "/status/phase") == phase
        })
        .await
        .map(|_| ())
    }
}
