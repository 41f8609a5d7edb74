use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Instant;

/// What of the process's surroundings decides how a cluster is reached; passed in, so that tests set it without
/// touching the process's own.
#[derive(Clone, Default)]
pub struct Environment {
    variables: HashMap<&'static str, OsString>,
    pub(super) home: Option<PathBuf>,
    pub(super) service_account: PathBuf,
    /// Whether a person can answer a credential plugin's questions.
    pub(super) interactive: bool,
    /// When a credential plugin that has not answered is ended; `None` lets it take its time.
    pub(super) deadline: Option<Instant>,
}

/// Where a pod finds its service account.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

const VARIABLES: [&str; 10] = [
    "KUBECONFIG",
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "NO_PROXY",
    "no_proxy",
    "KUBERNETES_SERVICE_HOST",
    "KUBERNETES_SERVICE_PORT",
    "POD_NAMESPACE",
];

impl Environment {
    /// The process's own.
    pub fn of_process() -> Self {
        let set = |name| std::env::var_os(name).map(|value| (name, value));
        Self {
            variables: VARIABLES.into_iter().filter_map(set).collect(),
            home: std::env::home_dir(),
            service_account: SERVICE_ACCOUNT.into(),
            interactive: std::io::stdin().is_terminal(),
            deadline: None,
        }
    }

    /// In a hurry and unseen, for instance while somebody types: nobody is asked anything, and a credential plugin that has
    /// not answered by then is ended and what it says left out.
    #[must_use]
    pub fn hurried(mut self, deadline: Instant) -> Self {
        self.interactive = false;
        self.deadline = Some(deadline);
        self
    }

    /// With a variable set.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.insert(name, value.into());
        self
    }

    /// With a home folder.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// With the folder that holds the service account's `token`, `ca.crt` and `namespace`.
    #[must_use]
    pub fn with_service_account(mut self, folder: impl Into<PathBuf>) -> Self {
        self.service_account = folder.into();
        self
    }

    pub(super) fn os(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(name).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The first of the variables that is set and not empty.
    pub(super) fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.os(name)?.to_str())
    }
}
