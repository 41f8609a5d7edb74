use schemars::JsonSchema;
use serde::Serialize;

use super::API_VERSION;

/// Which program this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// `kubectl-sigapps/v1alpha1`.
    pub api_version: &'static str,
    /// `Version`.
    pub kind: &'static str,
    /// The program's version, by the rules of Semantic Versioning: `0.1.0`.
    pub version: &'static str,
    /// The Git commit it was built from; null where the build did not say.
    pub commit: Option<&'static str>,
    /// Operating system and architecture by Go's names, as kubectl tells its own: `linux/amd64`.
    pub platform: String,
}

impl Version {
    /// This program's. A build names its commit in the environment variable `KUBECTL_SIGAPPS_COMMIT`.
    pub fn of_this_program() -> Self {
        let system = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let architecture = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            other => other,
        };
        Self {
            api_version: API_VERSION,
            kind: "Version",
            version: env!("CARGO_PKG_VERSION"),
            commit: option_env!("KUBECTL_SIGAPPS_COMMIT").filter(|commit| !commit.is_empty()),
            platform: format!("{system}/{architecture}"),
        }
    }
}
