use std::fmt;
use std::time::Duration;

/// How to reach a cluster: kubectl's connection flags, each of which overrides what the kubeconfig says.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Connection {
    /// `--kubeconfig`: the only kubeconfig file to read.
    pub kubeconfig: Option<String>,
    /// `--context`.
    pub context: Option<String>,
    /// `--cluster`, instead of the context's.
    pub cluster: Option<String>,
    /// `--user`, instead of the context's.
    pub user: Option<String>,
    /// `--namespace`, instead of the context's.
    pub namespace: Option<String>,
    /// `--server`: the API server's address.
    pub server: Option<String>,
    /// `--token`: a bearer token.
    pub token: Option<String>,
    /// `--username`, for basic authentication.
    pub username: Option<String>,
    /// `--password`, for basic authentication.
    pub password: Option<String>,
    /// `--as`: the user to impersonate.
    pub as_user: Option<String>,
    /// `--as-group`: the groups to impersonate.
    pub as_group: Vec<String>,
    /// `--as-uid`: the uid to impersonate.
    pub as_uid: Option<String>,
    /// `--as-user-extra`: keys and values, a key as often as it has values.
    pub as_user_extra: Vec<(String, String)>,
    /// `--certificate-authority`: a PEM file.
    pub certificate_authority: Option<String>,
    /// `--client-certificate`: a PEM file.
    pub client_certificate: Option<String>,
    /// `--client-key`: a PEM file.
    pub client_key: Option<String>,
    /// `--insecure-skip-tls-verify`.
    pub insecure_skip_tls_verify: bool,
    /// `--tls-server-name`: the name to look for in the server's certificate.
    pub tls_server_name: Option<String>,
    /// `--request-timeout`: the longest a request may take, zero for no bound; `None` bounds only silence.
    pub request_timeout: Option<Duration>,
    /// `--proxy-url`.
    pub proxy_url: Option<String>,
    /// `--disable-compression`.
    pub disable_compression: bool,
}

/// Leaves out what is secret: the token, the password, and a proxy's credentials.
impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let hidden = |secret: &Option<String>| secret.as_ref().map(|_| "(hidden)");
        f.debug_struct("Connection")
            .field("kubeconfig", &self.kubeconfig)
            .field("context", &self.context)
            .field("cluster", &self.cluster)
            .field("user", &self.user)
            .field("namespace", &self.namespace)
            .field("server", &self.server)
            .field("token", &hidden(&self.token))
            .field("username", &self.username)
            .field("password", &hidden(&self.password))
            .field("as_user", &self.as_user)
            .field("as_group", &self.as_group)
            .field("as_uid", &self.as_uid)
            .field("as_user_extra", &self.as_user_extra)
            .field("certificate_authority", &self.certificate_authority)
            .field("client_certificate", &self.client_certificate)
            .field("client_key", &self.client_key)
            .field("insecure_skip_tls_verify", &self.insecure_skip_tls_verify)
            .field("tls_server_name", &self.tls_server_name)
            .field("request_timeout", &self.request_timeout)
            .field("proxy_url", &self.proxy_url.as_deref().map(without_credentials))
            .field("disable_compression", &self.disable_compression)
            .finish()
    }
}

/// A URL without the `user:password@`, the query and the fragment it may hold. Of one that is none, in which it cannot be told
/// where a password ends, nothing is left.
pub(crate) fn without_credentials(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let end = rest.find('/').unwrap_or(rest.len());
    let host = match rest[..end].rfind('@') {
        Some(at) if rest[..at].contains(['?', '#']) => "(hidden)",
        Some(at) => &rest[at + 1..],
        // A password with a slash in it: what looks like a port is none.
        None if rest[end..].contains('@') && !has_port(&rest[..end]) => "(hidden)",
        None => rest,
    };
    let host = host.split(['?', '#']).next().unwrap_or_default();
    if scheme.is_empty() { host.to_owned() } else { format!("{scheme}://{host}") }
}

/// Whether what stands behind a host's colon is a port, or there is none.
fn has_port(host: &str) -> bool {
    let behind = host.rsplit(']').next().unwrap_or_default();
    behind.split_once(':').is_none_or(|(_, port)| port.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_printed() {
        let connection = Connection {
            token: Some("s3cret-token".into()),
            password: Some("s3cret-password".into()),
            proxy_url: Some("http://me:s3cret-proxy@proxy:3128".into()),
            ..Connection::default()
        };
        let printed = format!("{connection:?} {connection:#?}");
        assert!(!printed.contains("s3cret"), "{printed}");
        assert!(printed.contains("http://proxy:3128"), "{printed}");
    }

    #[test]
    fn credentials_are_cut_from_urls() {
        for (url, expected) in [
            ("http://proxy:3128", "http://proxy:3128"),
            ("http://me:pa@ss@proxy:3128/x@y", "http://proxy:3128/x@y"),
            ("me:pass@proxy", "proxy"),
            ("https://api:6443/k8s?token=s3cret#s3cret", "https://api:6443/k8s"),
            ("https://api?token=s3cret@x", "https://(hidden)"),
            ("https://me:s3c/ret@api:6443", "https://(hidden)"),
            ("https://[::1]:6443/a@b", "https://[::1]:6443/a@b"),
            ("", ""),
        ] {
            assert_eq!(without_credentials(url), expected, "{url}");
        }
    }
}
