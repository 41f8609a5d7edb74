//! What docs/in-cluster publishes: the API server takes it, its pods are restricted, and the report is made by the
//! `ServiceAccount` that it tells of, without a kubeconfig.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::access::publish;
use crate::api::{Api, array, text};
use crate::control_plane::ControlPlane;
use crate::results::Results;
use crate::tool::{Tool, run};
use crate::yaml;

pub(crate) const NAMES: [&str; 2] =
    ["in-cluster-manifests-are-taken-and-restricted", "in-cluster-report-needs-no-kubeconfig"];

const NAMESPACE: &str = "/api/v1/namespaces/sigapps";

pub(crate) async fn check(tool: &Tool, plane: &ControlPlane, results: &mut Results) {
    if results.wants(NAMES[0]) {
        results.record(NAMES[0], manifests(&plane.api).await);
    }
    if results.wants(NAMES[1]) {
        results.record(NAMES[1], report(tool, plane).await);
    }
}

fn published(file: &str) -> Result<Vec<Value>> {
    yaml::documents(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/in-cluster").join(file))
}

/// Where objects of this one's kind are made.
fn collection(object: &Value) -> Result<String> {
    Ok(match text(object, "/kind") {
        "Namespace" => "/api/v1/namespaces".to_owned(),
        "ClusterRoleBinding" => "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings".to_owned(),
        "ServiceAccount" => format!("{NAMESPACE}/serviceaccounts"),
        "PersistentVolumeClaim" => format!("{NAMESPACE}/persistentvolumeclaims"),
        "Deployment" => "/apis/apps/v1/namespaces/sigapps/deployments".to_owned(),
        "CronJob" => "/apis/batch/v1/namespaces/sigapps/cronjobs".to_owned(),
        kind => anyhow::bail!("where is a {kind} made?"),
    })
}

/// The namespace is made, all else is a dry run, in which an unknown field is an error. The pods are tried by themselves: only
/// of a pod does the Pod Security Standard that the namespace enforces refuse anything.
async fn manifests(api: &Api) -> Result<()> {
    for file in ["recorder.yaml", "report.yaml"] {
        let mut pods = 0;
        for object in published(file)? {
            if text(&object, "/kind") == "Namespace" {
                let enforced = text(&object, "/metadata/labels/pod-security.kubernetes.io~1enforce");
                ensure!(enforced == "restricted", "{file}: the namespace enforces {enforced:?}");
                api.ensure(&collection(&object)?, &object).await?;
                continue;
            }
            dry(api, &collection(&object)?, &object).await.context(file)?;
            for template in ["/spec/template", "/spec/jobTemplate/spec/template"] {
                let Some(template) = object.pointer(template) else { continue };
                dry(api, &format!("{NAMESPACE}/pods"), &pod_of(template)).await.context(file)?;
                pods += 1;
                let mut lax = pod_of(template);
                lax["spec"]["securityContext"]["runAsNonRoot"] = false.into();
                let refused = dry(api, &format!("{NAMESPACE}/pods"), &lax).await;
                ensure!(refused.is_err(), "{file}: a pod that may be root is taken as well: nothing is enforced");
            }
        }
        ensure!(pods == 1, "{file} has {pods} pod templates");
    }
    Ok(())
}

async fn dry(api: &Api, path: &str, object: &Value) -> Result<Value> {
    api.create(&format!("{path}?dryRun=All&fieldValidation=Strict"), object).await
}

fn pod_of(template: &Value) -> Value {
    let mut pod = template.clone();
    (pod["apiVersion"], pod["kind"]) = ("v1".into(), "Pod".into());
    (pod["metadata"]["name"], pod["metadata"]["namespace"]) = ("tried".into(), "sigapps".into());
    pod
}

/// The command of the `CronJob`, with the token of its `ServiceAccount` where a kubelet puts it.
async fn report(tool: &Tool, plane: &ControlPlane) -> Result<()> {
    for file in ["core.yaml", "workloads.yaml", "context.yaml"] {
        publish(&plane.api, file).await?;
    }
    let objects = published("report.yaml")?;
    for object in &objects {
        if ["Namespace", "ServiceAccount", "ClusterRoleBinding"].contains(&text(object, "/kind")) {
            plane.api.ensure(&collection(object)?, object).await?;
        }
    }
    let cron_job = objects.iter().find(|object| text(object, "/kind") == "CronJob").context("no CronJob")?;
    let spec = &cron_job["spec"]["jobTemplate"]["spec"]["template"]["spec"];
    let account = text(spec, "/serviceAccountName");
    let folder = tempfile::tempdir()?;
    let files = service_account(&plane.api, account, &plane.kubeconfig, folder.path()).await?;
    let reports = folder.path().join("reports");
    fs::create_dir(&reports)?;
    let expanded = |argument: &str| {
        argument.replace("$(JOB_NAME)", "report-1").replace("/reports", reports.to_str().unwrap_or_default())
    };
    let arguments = array(spec, "/containers/0/args").iter().filter_map(Value::as_str).map(expanded);
    let command = in_pod(tool.program(), &plane.kubeconfig, &files)?.args_of(arguments);
    let ran = run(command).await?;
    ensure!(ran.code == 0 && ran.stderr.is_empty(), "exit code {}: {}", ran.code, ran.stderr);
    ensure!(ran.stdout.is_empty(), "it printed {}", ran.stdout);
    let report: Value = serde_json::from_slice(&fs::read(reports.join("report-1.json"))?)?;
    ensure!(text(&report, "/scope/contexts/0") == "in-cluster", "it read {}", report["scope"]);
    let lacking: Vec<_> =
        array(&report, "/sources").iter().filter(|source| text(source, "/state") == "denied").collect();
    ensure!(lacking.is_empty(), "the roles that it is bound to leave out {lacking:?}");
    let failures = |report: &Value| report["summary"]["failures"].as_u64().unwrap_or_default();
    let administrators = tool.report(&["-A", "--since", "25h"]).await?;
    let (seen, there) = (failures(&report), failures(&administrators));
    ensure!(seen == there && seen > 0, "it saw {seen} failures, the administrator {there}");
    Ok(())
}

/// A folder as a kubelet mounts it: token, authority and namespace.
async fn service_account(api: &Api, name: &str, kubeconfig: &Path, folder: &Path) -> Result<PathBuf> {
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let token = api.create(&format!("{NAMESPACE}/serviceaccounts/{name}/token"), &request).await?;
    let config: Value = serde_json::from_slice(&fs::read(kubeconfig)?)?;
    let authority = text(&config, "/clusters/0/cluster/certificate-authority-data");
    let authority = base64::engine::general_purpose::STANDARD.decode(authority)?;
    let folder = folder.join("serviceaccount");
    fs::create_dir(&folder)?;
    fs::write(folder.join("token"), text(&token, "/status/token"))?;
    fs::write(folder.join("ca.crt"), authority)?;
    fs::write(folder.join("namespace"), "sigapps")?;
    Ok(folder)
}

/// A command whose arguments are still to come.
struct InPod(Command);

impl InPod {
    fn args_of(mut self, arguments: impl IntoIterator<Item = String>) -> Command {
        self.0.args(arguments);
        self.0
    }
}

/// The program with the environment of a pod and no more, in a mount namespace of its own in which the files are where pods
/// have them.
fn in_pod(program: &Path, kubeconfig: &Path, files: &Path) -> Result<InPod> {
    let config: Value = serde_json::from_slice(&fs::read(kubeconfig)?)?;
    let server = text(&config, "/clusters/0/cluster/server").trim_start_matches("https://").to_owned();
    let (host, port) = server.rsplit_once(':').context("a server without a port")?;
    let mount = "mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io && \
                 cp -r \"$0\" /run/secrets/kubernetes.io/serviceaccount && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", mount]).arg(files).arg(program);
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.env("KUBERNETES_SERVICE_HOST", host).env("KUBERNETES_SERVICE_PORT", port);
    Ok(InPod(command))
}
