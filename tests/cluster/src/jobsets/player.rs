//! Plays the pods of random JobSets: no kubelet runs here, so it is for us to start, end and remove them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};

use crate::api::{Api, Change, annotation, is_gone, label, now, pod_path, text};
use crate::container::{containers_of, ended, pod_status, running, waiting};
use crate::jobsets::random::{Fate, RandomJobSet};
use crate::scenario::Ending;

/// Writes under way at once.
const CONCURRENCY: usize = 32;

/// Plays until it is dropped.
pub(crate) struct Player {
    frozen: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Drop for Player {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Player {
    pub(crate) fn start(api: &Api, jobsets: &Arc<Vec<RandomJobSet>>) -> Self {
        let frozen = Arc::new(AtomicBool::new(false));
        let stage = Stage { api: api.clone(), frozen: frozen.clone(), permits: Semaphore::new(CONCURRENCY) };
        let task = tokio::spawn(follow(Arc::new(stage), jobsets.clone()));
        Self { frozen, task }
    }

    /// From now on pods start and are removed, but none ends by itself.
    pub(crate) fn freeze(&self) {
        self.frozen.store(true, Ordering::SeqCst);
    }
}

struct Stage {
    api: Api,
    frozen: Arc<AtomicBool>,
    permits: Semaphore,
}

async fn follow(stage: Arc<Stage>, jobsets: Arc<Vec<RandomJobSet>>) {
    let mut changes = stage.api.watch("/api/v1/pods");
    let (mut started, mut stopped) = (HashSet::new(), HashSet::new());
    let mut earlier: HashMap<[String; 2], u64> = HashMap::new();
    // Dropped with this task, and every pod's task with it.
    let mut tasks = JoinSet::new();
    while let Some(change) = changes.recv().await {
        while tasks.try_join_next().is_some() {}
        let Change::Present(pod) = change else { continue };
        let Some(jobset) = jobset_of(&pod, &jobsets) else { continue };
        let uid = text(&pod, "/metadata/uid").to_owned();
        if pod.pointer("/metadata/deletionTimestamp").is_some() {
            if stopped.insert(uid) {
                let over = matches!(text(&pod, "/status/phase"), "Failed" | "Succeeded");
                let grace = if over { 0.0 } else { jobset.grace(&pod) };
                let stage = stage.clone();
                tasks.spawn(async move { report(&pod, stage.remove(&pod, grace).await) });
            }
        } else if started.insert(uid) {
            let slot = [
                label(&pod, "batch.kubernetes.io/controller-uid"),
                annotation(&pod, "batch.kubernetes.io/job-completion-index"),
            ];
            let count = earlier.entry(slot.map(|part| part.unwrap_or_default().to_owned())).or_default();
            let frozen = stage.frozen.load(Ordering::SeqCst);
            let fate = if frozen { Fate::Runs } else { jobset.fate(&pod, *count) };
            *count += 1;
            let stage = stage.clone();
            tasks.spawn(async move { report(&pod, stage.play(&pod, fate).await) });
        }
    }
}

fn jobset_of<'a>(pod: &Value, jobsets: &'a [RandomJobSet]) -> Option<&'a RandomJobSet> {
    let name = label(pod, "jobset.sigs.k8s.io/jobset-name")?;
    jobsets.get(name.strip_prefix("set-")?.parse::<usize>().ok()?)
}

fn report(pod: &Value, outcome: Result<()>) {
    if let Err(error) = outcome {
        eprintln!("{} was not played to its end: {error:#}", text(pod, "/metadata/name"));
    }
}

impl Stage {
    async fn play(&self, pod: &Value, fate: Fate) -> Result<()> {
        let started = now();
        let write = |phase: &str, apps: &[Value], more: &[Value]| {
            let status = pod_status(pod, phase, &started, apps, &[], more);
            async move { self.write(pod, &status).await }
        };
        let exited =
            |code| containers_of(pod, "containers").map(|name| ended(name, code, &started)).collect::<Vec<_>>();
        match fate {
            Fate::Waits => return write("Pending", &waiting(pod, "ContainerCreating", ""), &[]).await,
            Fate::Refused => {
                let status = json!({"phase": "Failed", "reason": "UnexpectedAdmissionError", "message": "Pod was rejected", "startTime": started});
                return self.write(pod, &json!({"status": status})).await;
            }
            _ => write("Running", &running(pod, &started, &Ending::default(), 0), &[]).await?,
        }
        let Some(after) = fate.after() else { return Ok(()) };
        tokio::time::sleep(Duration::from_secs_f64(after)).await;
        if self.frozen.load(Ordering::SeqCst) {
            return Ok(());
        }
        match fate {
            Fate::Succeeds { .. } => write("Succeeded", &exited(0), &[]).await,
            Fate::Fails { code, .. } => write("Failed", &exited(code), &[]).await,
            Fate::Disrupted { .. } => write("Failed", &exited(137), &[disruption()]).await,
            Fate::Evicted { .. } => self.evict(pod).await,
            Fate::Waits | Fate::Runs | Fate::Refused => Ok(()),
        }
    }

    /// Its containers end by SIGTERM, and then the pod is gone.
    async fn remove(&self, pod: &Value, grace: f64) -> Result<()> {
        tokio::time::sleep(Duration::from_secs_f64(grace)).await;
        if text(pod, "/status/phase") == "Running" {
            let started = text(pod, "/status/startTime");
            let apps: Vec<_> = containers_of(pod, "containers").map(|name| ended(name, 143, started)).collect();
            self.write(pod, &pod_status(pod, "Failed", started, &apps, &[], &[])).await?;
        }
        let _permit = self.permits.acquire().await?;
        self.api.remove(&pod_path(pod), text(pod, "/metadata/uid")).await
    }

    async fn evict(&self, pod: &Value) -> Result<()> {
        let _permit = self.permits.acquire().await?;
        match self.api.evict(pod).await {
            Err(error) if !is_gone(&error) => Err(error),
            _ => Ok(()),
        }
    }

    async fn write(&self, pod: &Value, status: &Value) -> Result<()> {
        let _permit = self.permits.acquire().await?;
        self.api.patch_if_there(&format!("{}/status", pod_path(pod)), status).await.map(|_| ())
    }
}

impl Fate {
    /// Seconds until it ends by itself.
    fn after(self) -> Option<f64> {
        match self {
            Self::Succeeds { after }
            | Self::Fails { after, .. }
            | Self::Disrupted { after }
            | Self::Evicted { after } => Some(after),
            Self::Waits | Self::Runs | Self::Refused => None,
        }
    }
}

fn disruption() -> Value {
    json!({"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet", "lastTransitionTime": now()})
}
