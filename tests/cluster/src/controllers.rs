//! What the controllers of kinds beside Kubernetes' own need besides their programs: kinds, configuration, webhooks.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use base64::Engine;
use serde_json::{Value, json};

use crate::api::{Api, has_condition, text};
use crate::wait::{Answer, until};
use crate::{kinds, yaml};

/// One of them.
pub(crate) struct Controller {
    /// As its folder under `components/` is called.
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
    /// The label of its pods: its webhooks see no others.
    pub(crate) pods: &'static str,
    /// Its configuration file, where it takes one.
    pub(crate) settings: fn(&Place) -> Option<Value>,
    /// Its arguments; the path is that of the configuration file.
    pub(crate) arguments: fn(&Place, &Path) -> Vec<String>,
    /// Which of its webhooks are installed. Those of kinds that are not here would be called for nothing.
    pub(crate) hooks: fn(&str) -> bool,
    /// Puts files where its program looks for them, whatever it is told.
    pub(crate) prepare: fn(&Place) -> Result<()>,
    /// What its environment has beside the kubeconfig.
    pub(crate) environment: fn(&Place) -> Vec<(&'static str, PathBuf)>,
}

/// Where one listens, and where its certificate is.
pub(crate) struct Place<'a> {
    pub(crate) certificates: &'a Path,
    pub(crate) hook_port: u16,
    pub(crate) health_port: u16,
}

impl Place<'_> {
    /// The settings that all built with controller-runtime's configuration have.
    pub(crate) fn settings(&self, api_version: &str) -> Value {
        json!({
            "apiVersion": api_version, "kind": "Configuration",
            "leaderElection": {"leaderElect": false},
            "metrics": {"bindAddress": "0"},
            "health": {"healthProbeBindAddress": format!("127.0.0.1:{}", self.health_port)},
            "webhook": {"port": self.hook_port, "host": "127.0.0.1", "certDir": self.certificates},
            "internalCertManagement": {"enable": false},
        })
    }
}

/// One that reads its configuration from a file and has no peculiarities.
pub(crate) const PLAIN: Controller = Controller {
    name: "",
    program: "",
    pods: "",
    settings: |_| None,
    arguments: |_, configuration| vec![format!("--config={}", configuration.display())],
    hooks: |_| true,
    prepare: |_| Ok(()),
    environment: |_| Vec::new(),
};

/// The LeaderWorkerSet controller.
pub(crate) const LEADER_WORKER_SET: Controller = Controller {
    name: "lws",
    program: "lws-controller",
    pods: "leaderworkerset.sigs.k8s.io/name",
    settings: |place| Some(place.settings("config.lws.x-k8s.io/v1alpha1")),
    ..PLAIN
};

/// The Agent Sandbox controller, which has flags in the place of a configuration.
pub(crate) const AGENT_SANDBOX: Controller = Controller {
    name: "agent-sandbox",
    program: "agent-sandbox-controller",
    pods: "agents.x-k8s.io/sandbox-name-hash",
    arguments: |place, _| sandbox_arguments(place),
    ..PLAIN
};

/// With claims, templates and warm pools. A pool waits five minutes for its sandboxes by default.
pub(crate) const AGENT_SANDBOX_EXTENDED: Controller = Controller {
    arguments: |place, _| {
        let more = ["--extensions", "--sandbox-warm-pool-readiness-grace-period=8s"].map(str::to_owned);
        sandbox_arguments(place).into_iter().chain(more).collect()
    },
    ..AGENT_SANDBOX
};

fn sandbox_arguments(place: &Place) -> Vec<String> {
    vec![
        "--leader-elect=false".to_owned(),
        "--metrics-bind-address=0".to_owned(),
        format!("--health-probe-bind-address=127.0.0.1:{}", place.health_port),
        format!("--webhook-port={}", place.hook_port),
        format!("--webhook-cert-dir={}", place.certificates.display()),
        "--manage-webhook-certs=false".to_owned(),
    ]
}

impl Controller {
    /// Its kinds and its namespace. Versions are converted by a webhook of the controller's own, called by address as
    /// there is no network of Services here.
    pub(crate) async fn install_kinds(&self, api: &Api, manifests: &Path, port: u16, authority: &str) -> Result<()> {
        let folder = manifests.join("crds");
        let kinds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        for entry in fs::read_dir(&folder).with_context(|| format!("no CRDs in {}", folder.display()))? {
            for mut definition in yaml::documents(&entry?.path())? {
                if let Some(client) = definition.pointer_mut("/spec/conversion/webhook/clientConfig") {
                    *client = at_address(client, port, authority);
                }
                api.ensure(kinds, &definition).await?;
                established(api, &format!("{kinds}/{}", text(&definition, "/metadata/name"))).await?;
            }
        }
        let name = format!("{}-system", self.name);
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        api.ensure("/api/v1/namespaces", &namespace).await
    }

    /// The shipped webhooks, where there are any.
    pub(crate) async fn install_webhooks(&self, api: &Api, manifests: &Path, port: u16, authority: &str) -> Result<()> {
        let file = manifests.join("webhooks.yaml");
        if !file.exists() {
            return Ok(());
        }
        for mut configuration in yaml::documents(&file)? {
            let Some(hooks) = configuration["webhooks"].as_array_mut() else { continue };
            hooks.retain(|hook| (self.hooks)(text(hook, "/name")));
            for hook in hooks {
                hook["clientConfig"] = at_address(&hook["clientConfig"], port, authority);
                if text(hook, "/name").contains("pod.") {
                    let own = json!({"key": self.pods, "operator": "Exists"});
                    hook["objectSelector"] = json!({"matchExpressions": [own]});
                }
            }
            let plural = match text(&configuration, "/kind") {
                "MutatingWebhookConfiguration" => "mutatingwebhookconfigurations",
                _ => "validatingwebhookconfigurations",
            };
            let name = format!("{}-{}", self.name, text(&configuration, "/metadata/name"));
            configuration["metadata"] = json!({"name": name});
            api.ensure(&format!("/apis/admissionregistration.k8s.io/v1/{plural}"), &configuration).await?;
        }
        Ok(())
    }

    /// Objects that are installed with it. Its webhook may not have come to know its own kinds yet.
    pub(crate) async fn install_objects(&self, api: &Api, manifests: &Path) -> Result<()> {
        let folder = manifests.join("objects");
        if !folder.exists() {
            return Ok(());
        }
        for entry in fs::read_dir(&folder)? {
            for object in yaml::documents(&entry?.path())? {
                let path = kinds::collection_of(&object)?;
                until(&format!("{path} to take what is installed"), Duration::from_secs(30), || async {
                    Ok(match api.ensure(&path, &object).await {
                        Ok(()) => Answer::Ready(()),
                        Err(error) => Answer::NotYet(format!("{error:#}")),
                    })
                })
                .await?;
            }
        }
        Ok(())
    }
}

/// A webhook's client configuration with an address in the place of a Service.
fn at_address(client: &Value, port: u16, authority: &str) -> Value {
    let path = text(client, "/service/path");
    let bundle = base64::engine::general_purpose::STANDARD.encode(authority);
    json!({"url": format!("https://127.0.0.1:{port}{path}"), "caBundle": bundle})
}

async fn established(api: &Api, path: &str) -> Result<()> {
    until(&format!("{path} to be established"), Duration::from_secs(30), || async {
        let seen = api.get(path).await?;
        let is_there = has_condition(&seen, "Established");
        Ok(if is_there { Answer::Ready(()) } else { Answer::NotYet(seen["status"].to_string()) })
    })
    .await
}
