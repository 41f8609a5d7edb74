//! Plays the kubelets of a few nodes against the real API server: pods run and end as their scenario says.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use tokio::sync::{Barrier, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::api::{Api, Change, label, now, pod_path, text};
use crate::container::{containers_of, ended, pod_status, restarting, running, sidecars_of, stopped, waiting};
use crate::scenario::{Ending, Reason, Scenario};

/// Long enough for any run of the tests.
const FOR_EVER: f64 = 86_400.0;
const NODES: usize = 16;

/// Stops with the value.
pub(crate) struct Kubelet {
    task: JoinHandle<()>,
    nodes: Nodes,
}

/// The nodes that have gone silent.
#[derive(Clone, Default)]
struct Silent(Arc<Mutex<BTreeSet<String>>>);

impl Silent {
    fn has(&self, node: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(node)
    }

    fn add(&self, node: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(node.to_owned());
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Kubelet {
    pub(crate) async fn start(api: &Api, scenarios: Arc<Vec<Scenario>>) -> Result<Self> {
        let nodes = Nodes::start(api).await?;
        let task = tokio::spawn(follow(api.clone(), scenarios, nodes.silent.clone()));
        Ok(Self { task, nodes })
    }

    /// The node falls silent as one without power does: no sign of life, and nothing becomes of its pods.
    pub(crate) fn lose(&self, node: &str) {
        self.nodes.silent.add(node);
    }
}

/// Nodes that are alive as long as the value; what becomes of their pods is somebody else's.
pub(crate) struct Nodes {
    task: JoinHandle<()>,
    silent: Silent,
}

impl Drop for Nodes {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Nodes {
    pub(crate) async fn start(api: &Api) -> Result<Self> {
        for number in 0..NODES {
            create_node(api, number).await?;
        }
        let silent = Silent::default();
        Ok(Self { task: tokio::spawn(beat(api.clone(), silent.clone())), silent })
    }

    /// The name of one of them.
    pub(crate) fn name(number: usize) -> String {
        format!("gpu-node-{}", number % NODES)
    }
}

/// Eight GPUs each, in three zones. Two pools are for pods that ask for them, so that a test may harm these nodes without
/// touching anybody else's pods.
async fn create_node(api: &Api, number: usize) -> Result<()> {
    let name = Nodes::name(number);
    let pool = match number {
        0..8 => "shared",
        8..12 => "reserved",
        _ => "edge",
    };
    let zone = ["a", "b", "c"][number % 3];
    let labels = json!({"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, "cloud.google.com/gke-nodepool": pool});
    let taint = json!({"key": pool, "effect": "NoSchedule"});
    let taints = if pool == "shared" { Vec::new() } else { vec![taint] };
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {"taints": taints}});
    api.ensure("/api/v1/nodes", &node).await?;
    let room = json!({"cpu": "64", "memory": "512Gi", "pods": "250", "nvidia.com/gpu": "8"});
    let ready = json!({"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now(), "lastTransitionTime": now()});
    let status = json!({"status": {"capacity": room, "allocatable": room, "conditions": [ready]}});
    api.patch(&format!("/api/v1/nodes/{name}/status"), &status).await?;
    renew(api, &name).await
}

/// The node's sign of life.
async fn renew(api: &Api, node: &str) -> Result<()> {
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string();
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": node, "namespace": "kube-node-lease"},
        "spec": {"holderIdentity": node, "leaseDurationSeconds": 40, "renewTime": time},
    });
    if !api.patch_if_there(&format!("{leases}/{node}"), &lease).await? {
        api.ensure(leases, &lease).await?;
    }
    Ok(())
}

async fn beat(api: Api, silent: Silent) {
    loop {
        for number in (0..NODES).filter(|number| !silent.has(&Nodes::name(*number))) {
            if let Err(error) = renew(&api, &Nodes::name(number)).await {
                eprintln!("a node's lease was not renewed: {error:#}");
            }
        }
        tokio::time::sleep(Duration::from_secs(8)).await;
    }
}

/// Starts a task for every pod that is bound to a node, and tells it when the pod is being deleted.
async fn follow(api: Api, scenarios: Arc<Vec<Scenario>>, silent: Silent) {
    let mut changes = api.watch("/api/v1/pods");
    let mut stops: HashMap<String, watch::Sender<bool>> = HashMap::new();
    let mut earlier: HashMap<[String; 2], u64> = HashMap::new();
    let mut meetings: HashMap<String, Arc<Barrier>> = HashMap::new();
    // Dropped with this task, and every pod's task with it.
    let mut tasks = JoinSet::new();
    while let Some(change) = changes.recv().await {
        while tasks.try_join_next().is_some() {}
        let pod = match change {
            Change::Present(pod) => pod,
            Change::Gone(pod) => {
                stops.remove(text(&pod, "/metadata/uid"));
                continue;
            }
        };
        let node = text(&pod, "/spec/nodeName");
        if node.is_empty() || silent.has(node) {
            continue;
        }
        let deleting = pod.pointer("/metadata/deletionTimestamp").is_some();
        let over = matches!(text(&pod, "/status/phase"), "Failed" | "Succeeded");
        if over && deleting {
            let api = api.clone();
            tasks.spawn(async move { remove(&api, &pod).await });
            continue;
        }
        let stop = stops.entry(text(&pod, "/metadata/uid").to_owned()).or_insert_with(|| {
            let (sender, receiver) = watch::channel(false);
            if !over {
                let slot = ["batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-completion-index"];
                let count = earlier.entry(slot.map(|key| label(&pod, key).unwrap_or_default().to_owned())).or_default();
                let ending =
                    scenarios.iter().find_map(|scenario| scenario.ending(&pod, *count)).cloned().unwrap_or_default();
                *count += 1;
                let meeting = ending.together.map(|number| {
                    let job = label(&pod, "batch.kubernetes.io/controller-uid").unwrap_or_default().to_owned();
                    meetings.entry(job).or_insert_with(|| Arc::new(Barrier::new(number))).clone()
                });
                tasks.spawn(play(api.clone(), pod.clone(), ending, meeting, receiver));
            }
            sender
        });
        if deleting {
            stop.send_replace(true);
        }
    }
}

async fn play(api: Api, pod: Value, ending: Ending, meeting: Option<Arc<Barrier>>, stop: watch::Receiver<bool>) {
    let run = Run { api: &api, pod: &pod, ending: &ending, meeting, started: now(), stop };
    if let Err(error) = run.live().await {
        eprintln!("{} was not played to its end: {error:#}", text(&pod, "/metadata/name"));
    }
}

struct Run<'a> {
    api: &'a Api,
    pod: &'a Value,
    ending: &'a Ending,
    /// Where pods that end together wait for each other.
    meeting: Option<Arc<Barrier>>,
    started: String,
    stop: watch::Receiver<bool>,
}

impl Run<'_> {
    /// From the binding to the end.
    async fn live(mut self) -> Result<()> {
        if let Some(refusal) = &self.ending.admission {
            let status = json!({"phase": "Failed", "reason": refusal.reason, "message": refusal.message, "startTime": self.started});
            self.write(&json!({"status": status})).await?;
            return self.event(refusal, &refusal.reason).await;
        }
        if let Some(reason) = &self.ending.waiting {
            self.status("Pending", waiting(self.pod, &reason.reason, &reason.message), Vec::new()).await?;
            self.event(reason, "Failed").await?;
            self.stopped_within(FOR_EVER).await;
            return self.api.remove(&pod_path(self.pod), text(self.pod, "/metadata/uid")).await;
        }
        if !self.ending.init.is_empty() {
            let inits = containers_of(self.pod, "initContainers");
            let inits =
                inits.map(|name| ended(name, self.ending.init.get(name).copied().unwrap_or_default(), &self.started));
            let apps = waiting(self.pod, "PodInitializing", "");
            return self.status("Failed", apps, inits.collect()).await;
        }
        let restarts = self.restart().await?;
        if !*self.stop.borrow() {
            if !self.ending.crashloop {
                let apps = running(self.pod, &self.started, self.ending, restarts);
                self.status("Running", apps, sidecars_of(self.pod, None, &self.started)).await?;
            }
            let seconds = if self.ending.crashloop { FOR_EVER } else { self.ending.run };
            self.stopped_within(seconds).await;
            if let Some(meeting) = self.meeting.take() {
                tokio::select! {
                    _ = meeting.wait() => {}
                    _ = self.stop.wait_for(|stop| *stop) => {}
                }
            }
        }
        if *self.stop.borrow() { self.terminated().await } else { self.finished(restarts).await }
    }

    /// The ends after which the container starts again; how many there were.
    async fn restart(&mut self) -> Result<usize> {
        for (count, restart) in self.ending.restarts.iter().enumerate() {
            let sidecars = sidecars_of(self.pod, None, &self.started);
            self.status("Running", running(self.pod, &now(), self.ending, count), sidecars.clone()).await?;
            if self.stopped_within(restart.after).await {
                return Ok(count);
            }
            self.status("Running", restarting(self.pod, self.ending, count + 1), sidecars).await?;
            if self.stopped_within(1.0).await {
                return Ok(count + 1);
            }
        }
        Ok(self.ending.restarts.len())
    }

    /// By itself.
    async fn finished(&self, restarts: usize) -> Result<()> {
        let (failed, apps) = stopped(self.pod, self.ending, &self.started, restarts);
        let phase = if failed { "Failed" } else { "Succeeded" };
        let sidecars = sidecars_of(self.pod, Some(self.ending.sidecar.unwrap_or(143)), &self.started);
        let mut status = pod_status(self.pod, phase, &self.started, &apps, &sidecars, self.conditions(phase));
        if let Some(told) = &self.ending.status {
            status["status"]["reason"] = told.reason.as_str().into();
            status["status"]["message"] = told.message.as_str().into();
            self.event(told, &told.reason).await?;
        }
        self.write(&status).await
    }

    /// By SIGTERM, as the pod is being deleted.
    async fn terminated(&self) -> Result<()> {
        tokio::time::sleep(Duration::from_secs_f64(self.ending.grace)).await;
        let code = self.ending.sigterm;
        let apps = containers_of(self.pod, "containers").map(|name| ended(name, code, &self.started)).collect();
        let phase = if code == 0 { "Succeeded" } else { "Failed" };
        let sidecars = sidecars_of(self.pod, Some(self.ending.sidecar.unwrap_or(137)), &self.started);
        // The watch sees the phase and removes the pod.
        self.status(phase, apps, sidecars).await
    }

    async fn stopped_within(&mut self, seconds: f64) -> bool {
        tokio::time::timeout(Duration::from_secs_f64(seconds), self.stop.wait_for(|stop| *stop))
            .await
            .is_ok_and(|stop| stop.is_ok())
    }

    async fn status(&self, phase: &str, apps: Vec<Value>, inits: Vec<Value>) -> Result<()> {
        self.write(&pod_status(self.pod, phase, &self.started, &apps, &inits, self.conditions(phase))).await
    }

    fn conditions(&self, phase: &str) -> &[Value] {
        if phase == "Failed" { &self.ending.conditions } else { &[] }
    }

    async fn write(&self, status: &Value) -> Result<()> {
        self.api.patch_if_there(&format!("{}/status", pod_path(self.pod)), status).await.map(|_| ())
    }

    async fn event(&self, what: &Reason, reason: &str) -> Result<()> {
        let (namespace, name) = (text(self.pod, "/metadata/namespace"), text(self.pod, "/metadata/name"));
        let about = json!({"apiVersion": "v1", "kind": "Pod", "namespace": namespace, "name": name, "uid": self.pod["metadata"]["uid"]});
        let event = json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"generateName": format!("{name}."), "namespace": namespace},
            "involvedObject": about, "reason": reason, "message": what.message, "type": "Warning", "count": 1,
            "firstTimestamp": now(), "lastTimestamp": now(), "source": {"component": "kubelet", "host": self.pod["spec"]["nodeName"]},
        });
        self.api.create(&format!("/api/v1/namespaces/{namespace}/events"), &event).await.map(|_| ())
    }
}

async fn remove(api: &Api, pod: &Value) {
    if let Err(error) = api.remove(&pod_path(pod), text(pod, "/metadata/uid")).await {
        eprintln!("a terminated pod was not removed: {error:#}");
    }
}
