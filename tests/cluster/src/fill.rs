//! Fills a control plane with failed pods of real Jobs, for measuring the tool on a large cluster.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::api::{Api, Change, now, number, pod_path, text};
use crate::developer;

const PODS_PER_JOB: usize = 50;
const CONCURRENCY: usize = 32;
/// For the whole; 20,000 pods take a few minutes.
const LIMIT: Duration = Duration::from_secs(1800);

/// Every index of every Job fails once, so nothing is retried and each pod stays.
pub(crate) async fn run(kubeconfig: Option<&Path>, pods: usize) -> Result<()> {
    let kubeconfig = kubeconfig.map_or_else(developer::kubeconfig, |file| Ok(file.to_owned()))?;
    let api = Api::connect(&kubeconfig).await?;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "filled"}});
    api.ensure("/api/v1/namespaces", &namespace).await?;
    let changes = api.watch("/api/v1/namespaces/filled/pods");
    let jobs = pods.div_ceil(PODS_PER_JOB);
    let creating = async {
        stream::iter(0..jobs)
            .map(|number| create(&api, number, PODS_PER_JOB.min(pods - number * PODS_PER_JOB)))
            .buffer_unordered(8)
            .try_collect::<()>()
            .await
    };
    let ending = end_all(&api, changes, pods);
    tokio::try_join!(creating, ending)?;
    println!("{pods} failed pods in {jobs} Jobs of the namespace filled");
    Ok(())
}

async fn create(api: &Api, number: usize, pods: usize) -> Result<()> {
    let name = format!("train-{number:05}");
    let environment: Vec<_> =
        ["NCCL_DEBUG", "NCCL_IB_DISABLE", "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "CHECKPOINT_DIR"]
            .map(|variable| json!({"name": variable, "value": format!("value-of-{variable}-in-{name}")}))
            .into();
    let container = json!({
        "name": "main", "image": "registry.example/team/megatron:24.11-cu126", "command": ["python3", "/app/train.py"],
        "args": ["--config=/etc/train/config.yaml", "--resume=auto"], "env": environment,
        "resources": {"limits": {"cpu": "96", "memory": "900Gi", "nvidia.com/gpu": "8"}},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
    });
    let template = json!({
        "metadata": {"labels": {"team": format!("team-{}", number % 40), "queue": "lq-train"}},
        "spec": {
            // Nobody's: the scheduler would try each of them.
            "schedulerName": "none", "restartPolicy": "Never", "containers": [container],
            "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}],
        },
    });
    let rules = json!([
        {"action": "FailIndex", "onExitCodes": {"containerName": "main", "operator": "In", "values": [42]}},
        {"action": "Count", "onPodConditions": [{"type": "DisruptionTarget"}]},
    ]);
    let job = json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
        "spec": {
            "completionMode": "Indexed", "completions": pods, "parallelism": pods, "backoffLimitPerIndex": 0,
            "podFailurePolicy": {"rules": rules}, "template": template,
        },
    });
    api.create("/apis/batch/v1/namespaces/filled/jobs", &job).await.map(|_| ())
}

/// Fails each pod as it appears, until all are and the controller has counted them.
async fn end_all(api: &Api, mut changes: tokio::sync::mpsc::UnboundedReceiver<Change>, pods: usize) -> Result<()> {
    let permits = Arc::new(Semaphore::new(CONCURRENCY));
    let (mut seen, mut counted) = (HashSet::new(), HashSet::new());
    let start = Instant::now();
    while counted.len() < pods {
        let left = LIMIT.saturating_sub(start.elapsed());
        let change = tokio::time::timeout(left, changes.recv()).await;
        ensure!(
            change.is_ok(),
            "waited {} s; {} of {pods} pods are failed and counted",
            LIMIT.as_secs(),
            counted.len()
        );
        let Ok(Some(Change::Present(pod))) = change else { continue };
        let uid = text(&pod, "/metadata/uid").to_owned();
        if text(&pod, "/status/phase") == "Failed" && pod.pointer("/metadata/finalizers").is_none() {
            if counted.insert(uid) && counted.len().is_multiple_of(2000) {
                println!("  {:.0} s: {} pods", start.elapsed().as_secs_f32(), counted.len());
            }
        } else if seen.insert(uid) {
            let (api, permits, nth) = (api.clone(), permits.clone(), seen.len());
            tokio::spawn(async move {
                let _permit = permits.acquire().await;
                if let Err(error) = api.patch_if_there(&format!("{}/status", pod_path(&pod)), &failed(nth)).await {
                    eprintln!("a pod could not be failed: {error:#}");
                }
            });
        }
    }
    finished(api).await
}

async fn finished(api: &Api) -> Result<()> {
    crate::wait::until("every Job to be Failed", LIMIT, || async {
        let jobs = api.list("/apis/batch/v1/namespaces/filled/jobs").await?;
        let left = jobs.iter().filter(|job| !crate::api::has_condition(job, "Failed")).count();
        let failed: i64 = jobs.iter().map(|job| number(job, "/status/failed")).sum();
        Ok(if left == 0 {
            crate::wait::Answer::Ready(())
        } else {
            crate::wait::Answer::NotYet(format!("{left} left, {failed} pods"))
        })
    })
    .await
}

/// A few causes in turn.
fn failed(nth: usize) -> Value {
    let (code, reason, message) = match nth % 5 {
        0 => (42, "Error", "ValueError: bad config"),
        1 => (137, "OOMKilled", ""),
        2 => (1, "Error", "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:2120, unhandled system error"),
        3 => (143, "Error", ""),
        _ => (139, "Error", ""),
    };
    let state = json!({"terminated": {"exitCode": code, "reason": reason, "message": message, "startedAt": now(), "finishedAt": now()}});
    let status = json!({"name": "main", "image": "registry.example/team/megatron:24.11-cu126", "imageID": "", "ready": false, "restartCount": 0, "state": state});
    let disrupted = json!({"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"});
    let conditions = if code == 143 { vec![disrupted] } else { Vec::new() };
    json!({"status": {"phase": "Failed", "startTime": now(), "conditions": conditions, "containerStatuses": [status]}})
}
