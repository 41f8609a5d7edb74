//! What the JobSet controller needs besides its program: its kinds, its configuration and its webhooks.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use base64::Engine;
use serde_json::{Value, json};

use crate::api::{Api, has_condition, text};
use crate::wait::{Answer, until};
use crate::yaml;

pub(crate) async fn install_kinds(api: &Api, manifests: &Path) -> Result<()> {
    let folder = manifests.join("crds");
    let kinds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for entry in fs::read_dir(&folder).with_context(|| format!("no CRDs in {}", folder.display()))? {
        for definition in yaml::documents(&entry?.path())? {
            api.ensure(kinds, &definition).await?;
            let path = format!("{kinds}/{}", text(&definition, "/metadata/name"));
            until(&format!("{path} to be established"), Duration::from_secs(30), || async {
                let seen = api.get(&path).await?;
                Ok(if has_condition(&seen, "Established") {
                    Answer::Ready(())
                } else {
                    Answer::NotYet(seen["status"].to_string())
                })
            })
            .await?;
        }
    }
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "jobset-system"}});
    api.ensure("/api/v1/namespaces", &namespace).await
}

pub(crate) const PROGRAM: &str = "jobset-controller";

/// At this level, in JSON, the log tells the rule of every decision; the API does so only of some.
pub(crate) fn arguments(configuration: &Path) -> Vec<String> {
    vec![
        format!("--config={}", configuration.display()),
        "--zap-log-level=2".to_owned(),
        "--zap-encoder=json".to_owned(),
        "--zap-stacktrace-level=panic".to_owned(),
    ]
}

pub(crate) fn configuration(hook_port: u16, health_port: u16, certificates: &Path, restart_job: bool) -> Value {
    json!({
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1", "kind": "Configuration",
        "leaderElection": {"leaderElect": false},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": format!("127.0.0.1:{health_port}")},
        "webhook": {"port": hook_port, "host": "127.0.0.1", "certDir": certificates},
        "internalCertManagement": {"enable": false},
        "featureGates": {"RestartJob": restart_job},
    })
}

/// The shipped webhooks, called by address as there is no network of Services here.
pub(crate) async fn install_webhooks(api: &Api, manifests: &Path, port: u16, authority: &str) -> Result<()> {
    let bundle = base64::engine::general_purpose::STANDARD.encode(authority);
    for mut configuration in yaml::documents(&manifests.join("webhooks.yaml"))? {
        for hook in configuration["webhooks"].as_array_mut().into_iter().flatten() {
            let path = text(hook, "/clientConfig/service/path").to_owned();
            hook["clientConfig"] = json!({"url": format!("https://127.0.0.1:{port}{path}"), "caBundle": bundle});
            if text(hook, "/name").contains("pod.") {
                let own = json!({"key": "jobset.sigs.k8s.io/jobset-name", "operator": "Exists"});
                hook["objectSelector"] = json!({"matchExpressions": [own]});
            }
        }
        let plural = match text(&configuration, "/kind") {
            "MutatingWebhookConfiguration" => "mutatingwebhookconfigurations",
            _ => "validatingwebhookconfigurations",
        };
        let name = format!("jobset-{}", text(&configuration, "/metadata/name"));
        configuration["metadata"] = json!({"name": name});
        api.ensure(&format!("/apis/admissionregistration.k8s.io/v1/{plural}"), &configuration).await?;
    }
    Ok(())
}
