use std::fmt;

use anyhow::{Context as _, bail};
use clap::{Args, ValueHint};

use super::CONNECTION;
use super::options::UsageError;
use crate::request::{Connection, without_credentials};
use crate::source::cluster::parse_timeout;

/// kubectl's connection flags, by kubectl's names.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = CONNECTION)]
pub(super) struct ConnectionArgs {
    /// Path to the kubeconfig file to use
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    kubeconfig: Option<String>,
    /// The kubeconfig context to use; `failures` takes several, for one report of several clusters
    #[arg(long, value_name = "NAME")]
    context: Vec<String>,
    /// The kubeconfig cluster to use
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,
    /// The kubeconfig user to use
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// The namespace to read
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,
    /// The address and port of the Kubernetes API server
    #[arg(short, long, value_name = "URL")]
    server: Option<String>,
    /// Bearer token for authentication to the API server
    #[arg(long)]
    token: Option<Secret>,
    /// Username for basic authentication to the API server
    #[arg(long, value_name = "NAME", hide = true)]
    username: Option<String>,
    /// Password for basic authentication to the API server
    #[arg(long, hide = true)]
    password: Option<Secret>,
    /// Username to impersonate for the operation
    #[arg(long = "as", value_name = "USER")]
    as_user: Option<String>,
    /// Group to impersonate for the operation; can be repeated
    #[arg(long, value_name = "GROUP")]
    as_group: Vec<String>,
    /// UID to impersonate for the operation
    #[arg(long, value_name = "UID")]
    as_uid: Option<String>,
    /// User extra to impersonate for the operation; can be repeated, also for one key
    #[arg(long, value_name = "KEY=VALUE")]
    as_user_extra: Vec<String>,
    /// Path to a certificate file of the authority that signed the server's certificate
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    certificate_authority: Option<String>,
    /// Path to a client certificate file for TLS
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    client_certificate: Option<String>,
    /// Path to a client key file for TLS
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    client_key: Option<String>,
    /// Do not check the server's certificate: the connection is insecure
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false", hide_possible_values = true)]
    insecure_skip_tls_verify: Option<bool>,
    /// Name to look for in the server's certificate, if it is not the host's
    #[arg(long, value_name = "NAME")]
    tls_server_name: Option<String>,
    /// How long to wait for a single answer: 30, 1s, 2m, 1h30m, or 0 for as long as it takes; without it, an answer may
    /// take any time but not be silent for 60s
    #[arg(long, value_name = "DURATION")]
    request_timeout: Option<String>,
    /// Proxy to reach the server through, instead of the kubeconfig's or the environment's
    #[arg(long, value_name = "URL")]
    proxy_url: Option<Secret>,
    /// Do not ask the server for compressed answers
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false", hide_possible_values = true)]
    disable_compression: Option<bool>,
    /// Taken for kubectl's sake: nothing is cached
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, hide = true)]
    cache_dir: Option<String>,
}

/// A flag's value that must not be printed.
#[derive(Clone, Default)]
struct Secret(String);

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

impl ConnectionArgs {
    /// The namespace asked for.
    pub(super) fn namespace(&self) -> Option<String> {
        self.namespace.clone().filter(|namespace| !namespace.is_empty())
    }

    /// The contexts asked for, each once, in their order.
    pub(super) fn contexts(&self) -> Vec<String> {
        let mut contexts: Vec<String> = Vec::new();
        // As in Go, a flag set to nothing counts as not set.
        for context in self.context.iter().filter(|context| !context.is_empty()) {
            if !contexts.contains(context) {
                contexts.push(context.clone());
            }
        }
        contexts
    }

    /// A variable that is not set must not hide one of several clusters.
    pub(super) fn ensure_contexts_named(&self) -> Result<(), UsageError> {
        if self.context.len() > 1 && self.context.iter().any(String::is_empty) {
            return Err(UsageError("one of the --context given is empty: name it, or leave it out".to_owned()));
        }
        Ok(())
    }

    /// The same flags with one context.
    pub(super) fn of_context(&self, context: &str) -> Self {
        Self { context: vec![context.to_owned()], ..self.clone() }
    }

    /// What reads one cluster takes one context.
    pub(super) fn ensure_one_context(&self) -> Result<(), UsageError> {
        match self.contexts().len() {
            0 | 1 => Ok(()),
            _ => Err(UsageError(
                "give one --context: failures alone reads several clusters, and only without -f".to_owned(),
            )),
        }
    }

    /// Flags that hold for one server or one user cannot be given with several contexts: each of them would lead to the same
    /// server, or be shown a credential that is not for it.
    pub(super) fn ensure_for_several(&self) -> Result<(), UsageError> {
        let given = [
            ("--server", self.server.is_some()),
            ("--cluster", self.cluster.is_some()),
            ("--tls-server-name", self.tls_server_name.is_some()),
            ("--user", self.user.is_some()),
            ("--token", self.token.is_some()),
            ("--username", self.username.is_some()),
            ("--password", self.password.is_some()),
            ("--client-certificate", self.client_certificate.is_some()),
            ("--client-key", self.client_key.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(UsageError(format!(
                "{flag} is for one server or user: with several contexts each is reached as the kubeconfig says"
            ))),
            None => Ok(()),
        }
    }

    /// The flags with which kubectl reaches the same cluster as the same user. Secrets are left out: what is printed is
    /// copied about.
    pub(super) fn flags_for_kubectl(&self) -> Vec<String> {
        let contexts = self.contexts();
        let server = self.server.as_deref().map(without_credentials);
        let one = [
            ("--kubeconfig", self.kubeconfig.as_deref()),
            ("--context", contexts.first().map(String::as_str)),
            ("--cluster", self.cluster.as_deref()),
            ("--user", self.user.as_deref()),
            ("--server", server.as_deref()),
            ("--tls-server-name", self.tls_server_name.as_deref()),
            ("--certificate-authority", self.certificate_authority.as_deref()),
            ("--client-certificate", self.client_certificate.as_deref()),
            ("--client-key", self.client_key.as_deref()),
            ("--as", self.as_user.as_deref()),
            ("--as-uid", self.as_uid.as_deref()),
        ];
        let groups = self.as_group.iter().map(|group| ("--as-group", Some(group.as_str())));
        let extras = self.as_user_extra.iter().map(|extra| ("--as-user-extra", Some(extra.as_str())));
        let given = one.into_iter().chain(groups).chain(extras).filter_map(|(flag, value)| Some((flag, value?)));
        let mut flags: Vec<String> =
            given.filter(|(_, value)| !value.is_empty()).map(|(flag, value)| format!("{flag}={value}")).collect();
        if self.insecure_skip_tls_verify == Some(true) {
            flags.push("--insecure-skip-tls-verify".to_owned());
        }
        flags
    }

    /// The plain values, checked as far as they can be without the kubeconfig.
    pub(super) fn into_connection(self) -> anyhow::Result<Connection> {
        self.ensure_one_context()?;
        let context = self.contexts().pop();
        // As in Go, a flag set to nothing counts as not set.
        let some = |text: Option<String>| text.filter(|text| !text.is_empty());
        let secret = |text: Option<Secret>| text.map(|Secret(text)| text).filter(|text| !text.is_empty());
        let insecure_skip_tls_verify = self.insecure_skip_tls_verify.unwrap_or(false);
        if insecure_skip_tls_verify && self.certificate_authority.is_some() {
            bail!("--certificate-authority and --insecure-skip-tls-verify cannot both be set");
        }
        let as_user_extra = self.as_user_extra.iter().map(|text| extra(text)).collect::<anyhow::Result<_>>()?;
        let timeout = some(self.request_timeout).map(|text| parse_timeout(&text)).transpose();
        Ok(Connection {
            kubeconfig: some(self.kubeconfig),
            context,
            cluster: some(self.cluster),
            user: some(self.user),
            namespace: some(self.namespace),
            server: some(self.server),
            token: secret(self.token),
            username: some(self.username),
            password: secret(self.password),
            as_user: some(self.as_user),
            as_group: self.as_group,
            as_uid: some(self.as_uid),
            as_user_extra,
            certificate_authority: some(self.certificate_authority),
            client_certificate: some(self.client_certificate),
            client_key: some(self.client_key),
            insecure_skip_tls_verify,
            tls_server_name: some(self.tls_server_name),
            request_timeout: timeout.context("--request-timeout")?,
            proxy_url: secret(self.proxy_url),
            disable_compression: self.disable_compression.unwrap_or(false),
        })
    }
}

fn extra(text: &str) -> anyhow::Result<(String, String)> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => bail!("--as-user-extra takes KEY=VALUE, not {text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    use super::*;

    #[derive(Parser, Debug)]
    struct Cli {
        #[command(flatten)]
        connection: ConnectionArgs,
    }

    fn parse(arguments: &[&str]) -> anyhow::Result<Connection> {
        Cli::try_parse_from([&["x"], arguments].concat())?.connection.into_connection()
    }

    #[test]
    fn the_flags_are_kubectls() {
        let connection = parse(&[
            "--context=dev",
            "-n",
            "ml",
            "-s",
            "https://there:6443",
            "--token=t0ken",
            "--as",
            "me",
            "--as-group=a",
            "--as-group=b",
            "--as-user-extra=k=v=w",
            "--insecure-skip-tls-verify",
            "--request-timeout=2m",
            "--disable-compression=false",
        ])
        .unwrap();
        let expected = Connection {
            context: Some("dev".into()),
            namespace: Some("ml".into()),
            server: Some("https://there:6443".into()),
            token: Some("t0ken".into()),
            as_user: Some("me".into()),
            as_group: vec!["a".into(), "b".into()],
            as_user_extra: vec![("k".into(), "v=w".into())],
            insecure_skip_tls_verify: true,
            request_timeout: Some(Duration::from_secs(120)),
            ..Connection::default()
        };
        assert_eq!(connection, expected);
        assert_eq!(parse(&["--context=", "--token", ""]).unwrap(), Connection::default());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for arguments in [
            &["--request-timeout=soon"][..],
            &["--as-user-extra=k"],
            &["--insecure-skip-tls-verify", "--certificate-authority=ca.crt"],
            &["--insecure-skip-tls-verify=perhaps"],
        ] {
            assert!(parse(arguments).is_err(), "{arguments:?}");
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        let cli = Cli::try_parse_from(["x", "--token=s3cret", "--password=s3cret", "--proxy-url=http://a:s3cret@p"]);
        assert!(!format!("{cli:?}").contains("s3cret"));
    }
}
