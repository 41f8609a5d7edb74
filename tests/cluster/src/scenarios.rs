//! Plays the scenarios on a whole control plane, then asks the tool what it makes of them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use serde_json::{Value, json};

use crate::api::{Api, array, has_condition, label, number, text};
use crate::assets::Assets;
use crate::control_plane::{ControlPlane, Parts};
use crate::expectations::{EXPECTATIONS, Expectation, Group, Number, Until};
use crate::jobset;
use crate::jobsets::{self, watched::Watch};
use crate::kubelet::Kubelet;
use crate::results::Results;
use crate::scenario::Scenario;
use crate::tool::{Failure, Tool, listed};
use crate::wait::{Answer, until};
use crate::{access, cli, in_cluster, recorder};

/// The slowest: the CronJob's next minute, and three failures with 10 and 20 s between them.
const PLAYED: Duration = Duration::from_secs(150);

const MORE: [&str; 4] = [
    "scenario-settled-jobs-are-hidden",
    "scenario-ignored-evictions-do-not-fail-a-job",
    "scenario-cronjob-is-the-workload",
    "scenario-jobset-is-the-workload",
];

/// Every test that needs the scenarios.
pub(crate) fn names() -> Vec<String> {
    let scenarios = EXPECTATIONS.iter().map(|expectation| format!("scenario-{}", expectation.name));
    let others = [&MORE[..], &cli::NAMES, &access::NAMES, &recorder::NAMES, &in_cluster::NAMES].concat();
    let others = others.into_iter().map(ToOwned::to_owned);
    scenarios.chain(jobsets::scenarios::names()).chain(others).collect()
}

pub(crate) async fn run(assets: &Assets, program: &Path, results: &mut Results) -> Result<()> {
    let began = Instant::now();
    let plane = ControlPlane::start(assets, Parts::Everything).await?;
    let tool = Tool::new(program, &plane.kubeconfig)?;
    let watch = Watch::start(&plane.api);
    let mut recorder = recorder::Recorder::start(&tool, &plane.api).await?;
    let kubelet = start(&plane).await?;
    // In the second of the three attempts of llama-70b.
    recorder.kill_and_go_on().await?;
    await_all(&plane.api).await?;
    let histories = jobsets::scenarios::await_default(&plane, &watch).await?;
    println!("scenarios: played in {:.0} s", began.elapsed().as_secs_f32());

    let all = tool.failures(&["-A", "--all"]).await?;
    let shown = tool.failures(&["-A"]).await?;
    for expectation in EXPECTATIONS {
        let name = format!("scenario-{}", expectation.name);
        if results.wants(&name) {
            let outcome = check(&plane.api, expectation, &all).await;
            results.record(&name, outcome);
        }
    }
    jobsets::scenarios::check(&tool, &histories, results).await;
    let more = [
        hidden(&shown, &["retried-ok", "leader-wins", "all-good", "queued"]),
        harmless(&all, "pretrain"),
        owned(&all, "data", "cronjob/backup", (0, "FailJob")),
        owned(&all, "ml-team", "jobset/llama-70b", (1, "FailJob")),
    ];
    for (name, outcome) in MORE.into_iter().zip(more) {
        if results.wants(name) {
            results.record(name, outcome);
        }
    }
    if results.wants(recorder::JOURNAL) {
        results.record(recorder::JOURNAL, recorder.check(&histories).await);
    }
    if results.wants(recorder::SNAPSHOT) {
        results.record(recorder::SNAPSHOT, same_in_snapshot(&plane.api, &tool).await);
    }
    cli::check(&tool, &plane, results).await;
    access::check(&tool, &plane, results).await;
    in_cluster::check(&tool, &plane, results).await;
    drop(kubelet);
    Ok(())
}

/// What is expected of the cluster is told by a snapshot of it.
async fn same_in_snapshot(api: &Api, tool: &Tool) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (_, failures) = recorder::snapshot(tool, folder.path()).await?;
    for expectation in EXPECTATIONS {
        check(api, expectation, &failures).await?;
    }
    owned(&failures, "data", "cronjob/backup", (0, "FailJob"))?;
    owned(&failures, "ml-team", "jobset/llama-70b", (1, "FailJob"))
}

/// Pods go on to end while the result lives.
async fn start(plane: &ControlPlane) -> Result<Kubelet> {
    let scenarios = Arc::new(Scenario::all()?);
    let kubelet = Kubelet::start(&plane.api, scenarios.clone()).await?;
    play(plane, &scenarios).await?;
    Ok(kubelet)
}

/// Creates everything and disrupts what is to be disrupted.
pub(crate) async fn play(plane: &ControlPlane, scenarios: &[Scenario]) -> Result<()> {
    let api = &plane.api;
    for scenario in scenarios {
        scenario.create(api).await?;
    }
    fail_two_jobs_unseen(plane).await?;
    disrupt_pretrain(api).await?;
    evict_second_attempt_of_llama(api).await
}

async fn running_pods(api: &Api, selector: &str) -> Result<Vec<Value>> {
    let mut pods = api.list(&format!("/api/v1/namespaces/ml-team/pods?labelSelector={selector}")).await?;
    pods.retain(|pod| text(pod, "/status/phase") == "Running" && pod.pointer("/metadata/deletionTimestamp").is_none());
    Ok(pods)
}

/// Keeps the JobSet controller from looking at rule-order until two of its Jobs have failed, in different seconds.
async fn fail_two_jobs_unseen(plane: &ControlPlane) -> Result<()> {
    let (api, jobs) = (&plane.api, "/apis/batch/v1/namespaces/ml-team/jobs");
    until("three running pods of rule-order", PLAYED, || async {
        let pods = running_pods(api, "jobset.sigs.k8s.io/jobset-name=rule-order").await?;
        Ok(if pods.len() == 3 { Answer::Ready(()) } else { Answer::NotYet(format!("{} pods", pods.len())) })
    })
    .await?;
    let _paused = plane.pause(jobset::PROGRAM)?;
    until("two Jobs of rule-order to fail", PLAYED, || async {
        let jobs = api.list(&format!("{jobs}?labelSelector=jobset.sigs.k8s.io/jobset-name=rule-order")).await?;
        let failed = jobs.iter().filter(|job| has_condition(job, "Failed")).count();
        Ok(if failed == 2 { Answer::Ready(()) } else { Answer::NotYet(format!("{failed} have")) })
    })
    .await
}

/// One pod by the Eviction API, one by a taint on its node, as a sick GPU's node gets it.
async fn disrupt_pretrain(api: &Api) -> Result<()> {
    let pods = until("four running pods of pretrain", PLAYED, || async {
        let pods = running_pods(api, "batch.kubernetes.io/job-name=pretrain").await?;
        Ok(if pods.len() == 4 { Answer::Ready(pods) } else { Answer::NotYet(format!("{} pods", pods.len())) })
    });
    let pods = pods.await?;
    api.evict(&pods[0]).await?;
    let node = text(&pods[1], "/spec/nodeName");
    let taint = json!({"key": "gpu.example.com/unhealthy", "value": "xid79", "effect": "NoExecute"});
    api.merge(&format!("/api/v1/nodes/{node}"), &json!({"spec": {"taints": [taint]}})).await?;
    Ok(())
}

/// As a drain does. The first attempt fails by itself.
async fn evict_second_attempt_of_llama(api: &Api) -> Result<()> {
    let pods = until("six running pods in attempt 1 of llama-70b", PLAYED, || async {
        let mut pods = running_pods(api, "jobset.sigs.k8s.io/jobset-name=llama-70b").await?;
        pods.retain(|pod| label(pod, "jobset.sigs.k8s.io/restart-attempt") == Some("1"));
        Ok(if pods.len() == 6 { Answer::Ready(pods) } else { Answer::NotYet(format!("{} pods", pods.len())) })
    });
    api.evict(&pods.await?[3]).await
}

async fn await_all(api: &Api) -> Result<()> {
    for expectation in EXPECTATIONS {
        until(&format!("{} to be played", expectation.name), PLAYED, || is_played(api, expectation)).await?;
    }
    for cron_job in ["backup", "rollup"] {
        until(&format!("a Job of the CronJob {cron_job} to fail"), PLAYED, || async {
            let jobs = api.list("/apis/batch/v1/namespaces/data/jobs").await?;
            let runs = jobs.iter().filter(|job| text(job, "/metadata/ownerReferences/0/name") == cron_job);
            let failed = runs.filter(|job| has_condition(job, "Failed")).count();
            Ok(if failed > 0 { Answer::Ready(()) } else { Answer::NotYet("none has".to_owned()) })
        })
        .await?;
    }
    Ok(())
}

fn job_path(expectation: &Expectation) -> String {
    format!("/apis/batch/v1/namespaces/{}/jobs/{}", expectation.namespace, expectation.name)
}

async fn is_played(api: &Api, expectation: &Expectation) -> Result<Answer<()>> {
    let job = api.get(&job_path(expectation)).await?;
    let selector = format!("labelSelector=batch.kubernetes.io/job-name={}", expectation.name);
    let pods = api.list(&format!("/api/v1/namespaces/{}/pods?{selector}", expectation.namespace)).await?;
    let statuses = || pods.iter().flat_map(|pod| array(pod, "/status/containerStatuses"));
    let played = match expectation.until {
        Until::Condition(kind) => has_condition(&job, kind),
        Until::FailedPods(count) => pods.iter().filter(|pod| text(pod, "/status/phase") == "Failed").count() >= count,
        Until::Waiting(reason) => statuses().any(|status| text(status, "/state/waiting/reason") == reason),
        Until::Restarts(count) => statuses().any(|status| number(status, "/restartCount") >= count),
        Until::Terminating(count) => {
            has_condition(&job, "FailureTarget") && number(&job, "/status/terminating") == count
        }
    };
    Ok(if played { Answer::Ready(()) } else { Answer::NotYet(job["status"].to_string()) })
}

/// The groups of failures, their whole number, and the Job's own counter.
async fn check(api: &Api, expectation: &Expectation, all: &[Failure]) -> Result<()> {
    let workload = format!("job/{}", expectation.name);
    let lines = lines_of(all, expectation.namespace, &workload);
    let mut open = false;
    for group in expectation.failures {
        let alike = lines.iter().filter(|line| group.holds(line)).map(|line| line.count).sum::<i64>();
        let enough = match group.number {
            Number::Exactly(number) => alike == number,
            Number::AtLeast(number) => alike >= number,
        };
        open |= matches!(group.number, Number::AtLeast(_));
        ensure!(enough, "expected {}, found {alike} among{}", group.in_words(), listed(&lines));
    }
    let expected: i64 = expectation.failures.iter().map(Group::least).sum();
    let found: i64 = lines.iter().map(|line| line.count).sum();
    ensure!(open || found == expected, "expected {expected} failures, found{}", listed(&lines));
    let failed = number(&api.get(&job_path(expectation)).await?, "/status/failed");
    let counted: i64 = lines.iter().filter(|line| line.counted == Some(true)).map(|line| line.count).sum();
    // Those of an unfinished Job may have become more since the tool looked.
    ensure!(
        open || counted == failed,
        "status.failed is {failed}, the counted failures add up to {counted}:{}",
        listed(&lines)
    );
    Ok(())
}

impl Group {
    fn holds(&self, line: &Failure) -> bool {
        let rule = line.rule.as_ref().map(|rule| (rule.index, rule.action.as_str()));
        line.class == self.class
            && rule == self.rule
            && self.exit_code.is_none_or(|code| line.exit_code == Some(code))
            && self.reason.is_none_or(|reason| line.reason.as_deref() == Some(reason))
    }

    fn least(&self) -> i64 {
        let (Number::Exactly(number) | Number::AtLeast(number)) = self.number;
        number
    }

    fn in_words(&self) -> String {
        let number = match self.number {
            Number::Exactly(number) => number.to_string(),
            Number::AtLeast(number) => format!("{number} or more"),
        };
        let rule = self.rule.map(|(index, action)| format!(" {action} rule {index}")).unwrap_or_default();
        let code = self.exit_code.map(|code| format!(" exit {code}")).unwrap_or_default();
        let reason = self.reason.map(|reason| format!(" {reason}")).unwrap_or_default();
        format!("{number} × {}{rule}{code}{reason}", self.class)
    }
}

fn lines_of<'a>(failures: &'a [Failure], namespace: &str, workload: &str) -> Vec<&'a Failure> {
    failures.iter().filter(|line| line.namespace == namespace && line.workload == workload).collect()
}

fn hidden(shown: &[Failure], jobs: &[&str]) -> Result<()> {
    let found = shown.iter().find(|line| line.job.as_deref().is_some_and(|job| jobs.contains(&job)));
    match found {
        Some(line) => bail!("nobody needs to act on this of {}: {line}", line.workload),
        None => Ok(()),
    }
}

/// Disruptions that the policy ignores are no failures of the Job.
fn harmless(all: &[Failure], job: &str) -> Result<()> {
    let counted = all.iter().find(|line| line.job.as_deref() == Some(job) && line.counted == Some(true));
    match counted {
        Some(line) => bail!("the Job ignores this: {line}"),
        None => Ok(()),
    }
}

fn owned(all: &[Failure], namespace: &str, workload: &str, (index, action): (i64, &str)) -> Result<()> {
    let lines = lines_of(all, namespace, workload);
    let by_rule =
        lines.iter().any(|line| line.rule.as_ref().is_some_and(|rule| rule.index == index && rule.action == action));
    let workloads: BTreeSet<_> = all.iter().map(|line| line.workload.as_str()).collect();
    ensure!(
        by_rule,
        "no failure of {workload} under {action} rule {index}; its lines {lines:#?}; all workloads {workloads:?}"
    );
    Ok(())
}
