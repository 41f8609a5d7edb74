//! The JobSet controller.

use serde_json::json;

use crate::controllers::{Controller, PLAIN};

pub(crate) const PROGRAM: &str = "jobset-controller";

/// As it is installed by default.
pub(crate) const DEFAULT: Controller = Controller {
    name: "jobset",
    program: PROGRAM,
    pods: "jobset.sigs.k8s.io/jobset-name",
    settings: |place| Some(place.settings("config.jobset.x-k8s.io/v1alpha1")),
    // At this level, in JSON, the log tells the rule of every decision; the API does so only of some.
    arguments: |_, configuration| {
        vec![
            format!("--config={}", configuration.display()),
            "--zap-log-level=2".to_owned(),
            "--zap-encoder=json".to_owned(),
            "--zap-stacktrace-level=panic".to_owned(),
        ]
    },
    ..PLAIN
};

/// With the feature gate `RestartJob`.
pub(crate) const WITH_RESTART_JOB: Controller = Controller {
    settings: |place| {
        let mut settings = place.settings("config.jobset.x-k8s.io/v1alpha1");
        settings["featureGates"] = json!({"RestartJob": true});
        Some(settings)
    },
    ..DEFAULT
};
