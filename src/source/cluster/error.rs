use crate::words::list_names;
use std::path::PathBuf;

/// Why a cluster could not be read. What is displayed is the one line that the user sees behind `error: `.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// There is no kubeconfig, and this is no pod either.
    #[error(
        "no kubeconfig found{} and this is not a pod in a cluster; name a cluster with --kubeconfig, KUBECONFIG or --context, or read a dump with -f FILE, for instance the bundled -f examples/cluster.json.gz",
        looked_in(.looked)
    )]
    NoKubeconfig {
        /// Where it was looked for.
        looked: Vec<PathBuf>,
    },
    /// A kubeconfig is there, or was named, and cannot be read.
    #[error("cannot read the kubeconfig {}: {why}", .path.display())]
    UnreadableKubeconfig {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The context asked for is not in the kubeconfig.
    #[error("there is no context {name:?} in the kubeconfig; {}", there_are("context", .contexts))]
    NoSuchContext {
        /// What was asked for.
        name: String,
        /// What there is.
        contexts: Vec<String>,
    },
    /// The kubeconfig has no current context, and none was asked for.
    #[error("the kubeconfig sets no current context; choose one with --context: {}", there_are("context", .contexts))]
    NoCurrentContext {
        /// What there is.
        contexts: Vec<String>,
    },
    /// The cluster or the user asked for is not in the kubeconfig.
    #[error("there is no {kind} {name:?} in the kubeconfig; {}", there_are(.kind, .there))]
    NoSuchEntry {
        /// `cluster` or `user`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        there: Vec<String>,
    },
    /// A setting of the kubeconfig, or a flag, cannot be used.
    #[error("cannot use {setting}: {why}")]
    Setting {
        /// The setting, by its name in the kubeconfig.
        setting: String,
        /// Why, without any secret.
        why: String,
    },
    /// The credential plugin of the kubeconfig's user gave no credentials.
    #[error("the credential plugin {command:?} {why}{}", behind(.hint.as_deref()))]
    Plugin {
        /// The command.
        command: String,
        /// What it did, without what it printed.
        why: String,
        /// How to install it, as the kubeconfig says.
        hint: Option<String>,
    },
    /// Nothing listens at the address.
    #[error("the connection to the {} {host} was refused - did you specify the right host or port?", peer(*.proxy))]
    Refused {
        /// Host and port.
        host: String,
        /// Whether it is the proxy's address.
        proxy: bool,
    },
    /// The server cannot be reached.
    #[error("unable to connect to the server {host}: {why}")]
    Unreachable {
        /// Host and port.
        host: String,
        /// Why.
        why: String,
    },
    /// The server's certificate, or ours, was not accepted.
    #[error("unable to connect to the server {host}: {why}{}", behind(.hint.as_deref()))]
    Tls {
        /// Host and port.
        host: String,
        /// Why.
        why: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The server did not answer in time.
    #[error(
        "the server {host} did not answer within {seconds} s while {what} were read; --request-timeout sets how long to wait"
    )]
    Timeout {
        /// Host and port.
        host: String,
        /// How long it had.
        seconds: f64,
        /// What was asked for.
        what: String,
    },
    /// The server does not know us (401).
    #[error("You must be logged in to the server ({message})")]
    Unauthorized {
        /// The server's words.
        message: String,
    },
    /// The server does not let us read (403).
    #[error("{resource} cannot be read {}: {message}; {}", place(.namespace.as_deref()), remedy(resource, verbs, .namespace.as_deref()))]
    Denied {
        /// Resource and group, as RBAC names them: `jobs.batch`.
        resource: String,
        /// The verbs needed.
        verbs: &'static str,
        /// Where; `None` for all namespaces.
        namespace: Option<String>,
        /// The server's words.
        message: String,
    },
    /// What was asked for by name is not there.
    #[error("{resource} {name:?} not found in namespace {namespace:?}{}", did_you_mean(.nearest))]
    NotFound {
        /// Resource and group: `jobs.batch`.
        resource: String,
        /// The name asked for.
        name: String,
        /// Where it was looked for.
        namespace: String,
        /// Names like it that are there.
        nearest: Vec<String>,
    },
    /// The namespace is not there. What is read of it is empty, as of one in which nothing runs.
    #[error("namespace {0:?} not found")]
    NoNamespace(String),
    /// The resource asked for is not installed.
    #[error("the server doesn't have a resource type {resource:?}")]
    NotInstalled {
        /// The resource.
        resource: String,
    },
    /// The server answered with another error.
    #[error("the server {host} answered {code}{} to a request for {what}: {message}", parenthesised(.reason))]
    Server {
        /// Host and port.
        host: String,
        /// The HTTP status.
        code: u16,
        /// The reason, where the server gave one.
        reason: String,
        /// What was asked for.
        what: String,
        /// The server's words.
        message: String,
    },
    /// The answer is not what the API says.
    #[error("the server {host} answered a request for {what} with something else: {found}")]
    Answer {
        /// Host and port.
        host: String,
        /// What was asked for.
        what: String,
        /// What came.
        found: String,
    },
    /// The user interrupted it.
    #[error("interrupted while {what} was asked for")]
    Interrupted {
        /// What was asked for.
        what: String,
    },
    /// The process itself failed.
    #[error("cannot read a cluster: {0}")]
    Process(String),
}

/// Names that are listed before the rest is counted.
const NAMED: usize = 10;

fn looked_in(looked: &[PathBuf]) -> String {
    let paths: Vec<String> = looked.iter().map(|path| path.display().to_string()).collect();
    if paths.is_empty() { String::new() } else { format!(" (looked for {})", list_names(&paths, NAMED)) }
}

fn there_are(kind: &str, there: &[String]) -> String {
    if there.is_empty() { format!("it has no {kind}") } else { format!("there are {}", list_names(there, NAMED)) }
}

fn behind(hint: Option<&str>) -> String {
    hint.map_or_else(String::new, |hint| format!("; {hint}"))
}

fn peer(proxy: bool) -> &'static str {
    if proxy { "proxy" } else { "server" }
}

fn place(namespace: Option<&str>) -> String {
    namespace.map_or_else(|| "in all namespaces (-A)".to_owned(), |namespace| format!("in namespace {namespace:?}"))
}

fn remedy(resource: &str, verbs: &str, namespace: Option<&str>) -> String {
    match namespace {
        None => format!(
            "name one namespace with -n NAMESPACE, or ask for a ClusterRole with the verbs {verbs} on {resource}"
        ),
        Some(_) => format!("ask for a Role with the verbs {verbs} on {resource} there, or name another with -n"),
    }
}

fn did_you_mean(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; did you mean {}?", list_names(names, NAMED)),
    }
}

fn parenthesised(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(" ({reason})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_one_line_that_says_what_to_do() {
        let texts = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<String>>();
        for (error, expected) in [
            (
                ClusterError::NoKubeconfig { looked: vec!["/home/me/.kube/config".into()] },
                "no kubeconfig found (looked for /home/me/.kube/config) and this is not a pod in a cluster; name a \
                 cluster with --kubeconfig, KUBECONFIG or --context, or read a dump with -f FILE, for instance the \
                 bundled -f examples/cluster.json.gz",
            ),
            (
                ClusterError::NoSuchContext { name: "prod".into(), contexts: texts(&["dev", "stage"]) },
                "there is no context \"prod\" in the kubeconfig; there are dev, stage",
            ),
            (
                ClusterError::NoSuchContext { name: "prod".into(), contexts: vec![] },
                "there is no context \"prod\" in the kubeconfig; it has no context",
            ),
            (
                ClusterError::Plugin {
                    command: "aws".into(),
                    why: "is not installed".into(),
                    hint: Some("brew install awscli".into()),
                },
                "the credential plugin \"aws\" is not installed; brew install awscli",
            ),
            (
                ClusterError::Refused { host: "127.0.0.1:6443".into(), proxy: false },
                "the connection to the server 127.0.0.1:6443 was refused - did you specify the right host or port?",
            ),
            (
                ClusterError::Denied {
                    resource: "pods".into(),
                    verbs: "get, list",
                    namespace: None,
                    message: "pods is forbidden".into(),
                },
                "pods cannot be read in all namespaces (-A): pods is forbidden; name one namespace with -n NAMESPACE, \
                 or ask for a ClusterRole with the verbs get, list on pods",
            ),
            (
                ClusterError::NotFound {
                    resource: "jobs.batch".into(),
                    name: "trian".into(),
                    namespace: "ml".into(),
                    nearest: texts(&["train"]),
                },
                "jobs.batch \"trian\" not found in namespace \"ml\"; did you mean train?",
            ),
        ] {
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn long_lists_are_cut() {
        let contexts: Vec<String> = (0..12).map(|number| format!("c{number}")).collect();
        let text = ClusterError::NoCurrentContext { contexts }.to_string();
        assert!(text.ends_with("c9 and 2 more"), "{text}");
    }
}
