//! Starts etcd, the API server, the Job controller and, where a test wants them, the scheduler and the JobSet
//! controller, on free ports of 127.0.0.1. Whatever happens, they are stopped when the value is dropped.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base64::Engine;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

use crate::api::Api;
use crate::assets::Assets;
use crate::certificates::{Authority, Identity};
use crate::controllers::{AGENT_SANDBOX, AGENT_SANDBOX_EXTENDED, Controller, LEADER_WORKER_SET, Place};
use crate::jobset;
use crate::queueing::{KUEUE, TRAINER};
use crate::wait::{Answer, until};

const START: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parts {
    /// etcd, API server and controller manager; nothing schedules pods.
    JobsOnly,
    /// These and the JobSet controller with its feature gate `RestartJob`; nothing schedules pods.
    JobSets,
    /// The scheduler and the JobSet controller as well, which is as it is installed by default.
    Everything,
    /// Everything, and the LeaderWorkerSet and Agent Sandbox controllers.
    Serving,
    /// These with all they have, and Kueue and the Trainer.
    Family,
}

impl Parts {
    const fn schedules(self) -> bool {
        matches!(self, Self::Everything | Self::Serving | Self::Family)
    }

    const fn controllers(self) -> &'static [Controller] {
        match self {
            Self::JobsOnly => &[],
            Self::JobSets => &[jobset::WITH_RESTART_JOB],
            Self::Everything => &[jobset::DEFAULT],
            Self::Serving => &[jobset::DEFAULT, LEADER_WORKER_SET, AGENT_SANDBOX],
            Self::Family => &[jobset::DEFAULT, LEADER_WORKER_SET, AGENT_SANDBOX_EXTENDED, TRAINER, KUEUE],
        }
    }

    /// A silent node is given up after 50 s by default. The nodes here give a sign of life every 8 s.
    const fn patience(self) -> Option<&'static str> {
        match self {
            Self::Family => Some("--node-monitor-grace-period=25s"),
            _ => None,
        }
    }
}

pub(crate) struct ControlPlane {
    pub(crate) api: Api,
    pub(crate) kubeconfig: PathBuf,
    pub(crate) assets: Assets,
    processes: Vec<Process>,
    home: Home,
}

/// Where the run keeps its data and logs: dropped with the run, or a folder that stays.
enum Home {
    Temporary(TempDir),
    Kept(PathBuf),
}

impl Home {
    fn path(&self) -> &Path {
        match self {
            Self::Temporary(folder) => folder.path(),
            Self::Kept(folder) => folder,
        }
    }
}

pub(crate) struct Process {
    name: &'static str,
    log: PathBuf,
    child: Child,
}

impl Process {
    fn start(home: &Path, name: &'static str, program: &Path, arguments: &[String]) -> Result<Self> {
        Self::start_with(home, name, program, arguments, Vec::new())
    }

    fn start_with(
        home: &Path,
        name: &'static str,
        program: &Path,
        arguments: &[String],
        environment: Vec<(&'static str, PathBuf)>,
    ) -> Result<Self> {
        let log = home.join(format!("{name}.log"));
        let output = File::create(&log)?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .env("KUBECONFIG", home.join("admin.kubeconfig"))
            .envs(environment)
            .current_dir(home)
            // Ctrl-C in the terminal reaches the tests alone, which then stop their servers in order.
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Self { name, log, child })
    }

    /// An error with the log's end once the process has stopped by itself.
    pub(crate) fn ensure_running(&mut self) -> Result<()> {
        let Some(status) = self.child.try_wait()? else { return Ok(()) };
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        bail!("{} ended with {status}:\n{}", self.name, lines[lines.len().saturating_sub(8)..].join("\n"))
    }

    fn stop(&mut self) {
        // Nothing of a run is kept, so nobody needs a graceful end.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().rev() {
            process.stop();
        }
    }
}

impl ControlPlane {
    /// In a temporary folder that goes with the value.
    pub(crate) async fn start(assets: &Assets, parts: Parts) -> Result<Self> {
        let home = tempfile::Builder::new().prefix("cluster-tests-").tempdir()?;
        Self::start_in(Home::Temporary(home), assets, parts).await
    }

    /// In a folder that stays, for `up`.
    pub(crate) async fn start_at(home: &Path, assets: &Assets, parts: Parts) -> Result<Self> {
        fs::create_dir_all(home)?;
        Self::start_in(Home::Kept(home.to_owned()), assets, parts).await
    }

    async fn start_in(home: Home, assets: &Assets, parts: Parts) -> Result<Self> {
        assets.ensure_present()?;
        let folder = home.path().to_owned();
        let [etcd_port, peer_port, port] = free_ports()?;
        let authority = Authority::create(&folder.join("pki"))?;
        let address = format!("https://127.0.0.1:{port}");
        let admin = authority.client("admin", Some("system:masters"))?;
        write_kubeconfig(&folder, "admin", &address, authority.pem(), &admin)?;
        for component in ["kube-controller-manager", "kube-scheduler"] {
            let identity = authority.client(&format!("system:{component}"), None)?;
            write_kubeconfig(&folder, component, &address, authority.pem(), &identity)?;
        }
        let kubeconfig = folder.join("admin.kubeconfig");
        let mut processes = Vec::new();
        let started = async {
            processes.push(Process::start(&folder, "etcd", &assets.binary("etcd"), &etcd(etcd_port, peer_port))?);
            processes.push(Process::start(
                &folder,
                "kube-apiserver",
                &assets.binary("kube-apiserver"),
                &api_server(&authority, port, etcd_port),
            )?);
            let api = Api::connect(&kubeconfig).await?;
            await_ready(&api, &mut processes).await?;
            processes.push(Process::start(
                &folder,
                "kube-controller-manager",
                &assets.binary("kube-controller-manager"),
                &controller_manager(&authority, parts),
            )?);
            if parts.schedules() {
                processes.push(Process::start(
                    &folder,
                    "kube-scheduler",
                    &assets.binary("kube-scheduler"),
                    &scheduler(),
                )?);
            }
            for controller in parts.controllers() {
                processes.push(start_controller(&api, assets, &authority, &folder, controller).await?);
            }
            Ok::<_, anyhow::Error>(api)
        };
        match started.await {
            Ok(api) => Ok(Self { api, kubeconfig, assets: assets.clone(), processes, home }),
            Err(error) => {
                processes.iter_mut().rev().for_each(Process::stop);
                Err(error)
            }
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.home.path()
    }

    /// What the program has printed so far.
    pub(crate) fn log(&self, name: &str) -> Result<String> {
        let file = self.folder().join(format!("{name}.log"));
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
    }

    /// Holds the program where it is while the result lives. What happens meanwhile it then sees all at once.
    pub(crate) fn pause(&self, name: &str) -> Result<Paused> {
        let process = self.processes.iter().find(|process| process.name == name);
        let process = process.with_context(|| format!("{name} does not run here"))?;
        let id = Pid::from_raw(i32::try_from(process.child.id())?).context("a process has an id above 0")?;
        kill_process(id, Signal::STOP).with_context(|| format!("cannot pause {name}"))?;
        Ok(Paused(id))
    }

    /// Lets the servers run on and returns their process ids, newest last.
    pub(crate) fn leave_running(mut self) -> Vec<u32> {
        self.processes.drain(..).map(|process| process.child.id()).collect()
    }
}

pub(crate) struct Paused(Pid);

impl Drop for Paused {
    fn drop(&mut self) {
        kill_process(self.0, Signal::CONT).ok();
    }
}

async fn await_ready(api: &Api, processes: &mut [Process]) -> Result<()> {
    let processes = std::sync::Mutex::new(processes);
    until("the API server's /readyz", START, || async {
        for process in processes.lock().expect("nothing panics while holding it").iter_mut() {
            process.ensure_running()?;
        }
        Ok(if api.is_ready().await { Answer::Ready(()) } else { Answer::NotYet("not ready".to_owned()) })
    })
    .await
}

async fn start_controller(
    api: &Api,
    assets: &Assets,
    authority: &Authority,
    folder: &Path,
    controller: &Controller,
) -> Result<Process> {
    let [hook_port, health_port, _] = free_ports()?;
    let manifests = assets.manifests(controller.name);
    controller.install_kinds(api, &manifests, hook_port, authority.pem()).await?;
    let place = Place { certificates: &authority.path(""), hook_port, health_port };
    let configuration = folder.join(format!("{}.json", controller.name));
    if let Some(settings) = (controller.settings)(&place) {
        fs::write(&configuration, settings.to_string())?;
    }
    (controller.prepare)(&place)?;
    let arguments = (controller.arguments)(&place, &configuration);
    let program = assets.binary(controller.program);
    let environment = (controller.environment)(&place);
    let mut process = Process::start_with(folder, controller.program, &program, &arguments, environment)?;
    let address = format!("127.0.0.1:{hook_port}");
    let running = std::sync::Mutex::new(&mut process);
    until(&format!("the webhook of {} to listen", controller.program), START, || async {
        running.lock().expect("nothing panics while holding it").ensure_running()?;
        Ok(match tokio::net::TcpStream::connect(&address).await {
            Ok(_) => Answer::Ready(()),
            Err(error) => Answer::NotYet(error.to_string()),
        })
    })
    .await?;
    controller.install_webhooks(api, &manifests, hook_port, authority.pem()).await?;
    controller.install_objects(api, &manifests).await?;
    Ok(process)
}

fn etcd(port: u16, peer_port: u16) -> Vec<String> {
    vec![
        "--data-dir=etcd".to_owned(),
        "--unsafe-no-fsync".to_owned(),
        format!("--listen-client-urls=http://127.0.0.1:{port}"),
        format!("--advertise-client-urls=http://127.0.0.1:{port}"),
        format!("--listen-peer-urls=http://127.0.0.1:{peer_port}"),
    ]
}

fn api_server(authority: &Authority, port: u16, etcd_port: u16) -> Vec<String> {
    let file = |name: &str| authority.path(name).display().to_string();
    vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd_port}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={port}"),
        "--advertise-address=127.0.0.1".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        format!("--tls-cert-file={}", file("apiserver.crt")),
        format!("--tls-private-key-file={}", file("apiserver.key")),
        format!("--client-ca-file={}", file("ca.crt")),
        "--service-account-issuer=https://kubernetes.default".to_owned(),
        format!("--service-account-key-file={}", file("sa.pub")),
        format!("--service-account-signing-key-file={}", file("sa.key")),
        "--authorization-mode=RBAC".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        // Pods need no ServiceAccount here, and would wait for its token.
        "--disable-admission-plugins=ServiceAccount".to_owned(),
    ]
}

fn controller_manager(authority: &Authority, parts: Parts) -> Vec<String> {
    let arguments = [
        "--kubeconfig=kube-controller-manager.kubeconfig".to_owned(),
        "--leader-elect=false".to_owned(),
        format!("--service-account-private-key-file={}", authority.path("sa.key").display()),
        format!("--root-ca-file={}", authority.path("ca.crt").display()),
        "--use-service-account-credentials=true".to_owned(),
        "--controllers=*,-node-ipam-controller".to_owned(),
        "--secure-port=0".to_owned(),
        // Failed pods are the evidence; the default threshold would remove them above 12,500.
        "--terminated-pod-gc-threshold=0".to_owned(),
        // Jobs by the hundred; the defaults would take minutes.
        "--kube-api-qps=1000".to_owned(),
        "--kube-api-burst=2000".to_owned(),
        "--concurrent-job-syncs=20".to_owned(),
    ];
    arguments.into_iter().chain(parts.patience().map(str::to_owned)).collect()
}

fn scheduler() -> Vec<String> {
    ["--kubeconfig=kube-scheduler.kubeconfig", "--leader-elect=false", "--secure-port=0"].map(str::to_owned).to_vec()
}

/// JSON is YAML, so no YAML writer is needed.
fn write_kubeconfig(folder: &Path, name: &str, server: &str, authority: &str, identity: &Identity) -> Result<()> {
    let encode = |pem: &str| base64::engine::general_purpose::STANDARD.encode(pem);
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "cluster-tests",
        "clusters": [{"name": "cluster-tests", "cluster": {"server": server, "certificate-authority-data": encode(authority)}}],
        "users": [{"name": name, "user": {
            "client-certificate-data": encode(&identity.certificate), "client-key-data": encode(&identity.key),
        }}],
        "contexts": [{"name": "cluster-tests", "context": {"cluster": "cluster-tests", "user": name, "namespace": "default"}}],
    });
    fs::write(folder.join(format!("{name}.kubeconfig")), config.to_string())?;
    Ok(())
}

/// Asked for together, so that they differ.
fn free_ports() -> Result<[u16; 3]> {
    let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0"));
    let mut ports = [0; 3];
    for (port, listener) in ports.iter_mut().zip(listeners) {
        *port = listener.context("no free port on 127.0.0.1")?.local_addr()?.port();
    }
    Ok(ports)
}
