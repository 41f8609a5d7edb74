//! The controllers that stand above Jobs and `JobSet`s: Kueue, and the Trainer with its `TrainJob`s.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;

use crate::controllers::{Controller, PLAIN};

/// Kueue, evicting what does not become ready within seconds, and giving up after the second time.
pub(crate) const KUEUE: Controller = Controller {
    name: "kueue",
    program: "kueue-controller",
    pods: "kueue.x-k8s.io/managed",
    settings: |place| {
        let mut settings = place.settings("config.kueue.x-k8s.io/v1beta2");
        settings["integrations"] = json!({
            "frameworks": ["batch/job", "jobset.x-k8s.io/jobset", "trainer.kubeflow.org/trainjob"],
        });
        // It would serve an API of its own, for which there is no Service here.
        settings["featureGates"] = json!({"VisibilityOnDemand": false});
        settings["waitForPodsReady"] = json!({
            "timeout": "10s", "recoveryTimeout": "10m",
            "requeuingStrategy": {"backoffLimitCount": 1, "backoffBaseSeconds": 1, "backoffMaxSeconds": 2},
        });
        Some(settings)
    },
    hooks: |name| {
        let kinds = ["job", "jobset", "trainjob", "clusterqueue", "cohort", "resourceflavor", "workload"];
        // mjob.kb.io changes Jobs, vjob.kb.io judges them.
        let kind = name.strip_prefix(['m', 'v']).and_then(|rest| rest.split('.').next());
        kind.is_some_and(|kind| kinds.contains(&kind))
    },
    prepare: |place| certificate_of_metrics(place.certificates),
    ..PLAIN
};

/// The Trainer, which looks for its certificate in the folder for temporary files.
pub(crate) const TRAINER: Controller = Controller {
    name: "trainer",
    program: "trainer-controller",
    settings: |place| {
        let mut settings = place.settings("config.trainer.kubeflow.org/v1alpha1");
        let fields = settings.as_object_mut()?;
        // Unknown fields are refused.
        fields.remove("internalCertManagement");
        fields.insert("certManagement".to_owned(), json!({"enable": false}));
        fields.get_mut("webhook")?.as_object_mut()?.remove("certDir");
        Some(settings)
    },
    prepare: |place| copy_pair(place.certificates, &place.certificates.join("k8s-webhook-server/serving-certs")),
    environment: |place| vec![("TMPDIR", place.certificates.to_owned())],
    ..PLAIN
};

/// Kueue's main reads one from a fixed folder and ends without it, even if it serves no metrics. Any will do, so one
/// that is there stays.
fn certificate_of_metrics(certificates: &Path) -> Result<()> {
    let folder = Path::new("/etc/kueue/metrics/certs");
    if folder.join("tls.key").exists() {
        return Ok(());
    }
    copy_pair(certificates, folder).with_context(|| {
        let folder = folder.display();
        format!("Kueue insists on a certificate in {folder}; make that folder once and let this user write into it")
    })
}

fn copy_pair(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for file in ["tls.crt", "tls.key"] {
        fs::copy(from.join(file), to.join(file)).with_context(|| format!("cannot write into {}", to.display()))?;
    }
    Ok(())
}
