use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use http::{HeaderValue, Uri};
use kube::config::{AuthInfo, Cluster};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use secrecy::{ExposeSecret, SecretString};

use super::environment::Environment;
use super::error::ClusterError;
use super::{kubeconfig, plugin, proxy};
use crate::request::{Connection, without_credentials};

/// How to reach one cluster, all flags, files and variables weighed.
pub(super) struct Reach {
    /// What kube needs to know.
    pub(super) config: kube::Config,
    /// The context's name, `in-cluster`, or the server's address.
    pub(super) name: String,
    /// Host and port, for messages.
    pub(super) host: String,
    /// The proxy on the way, without its credentials.
    pub(super) proxy: Option<String>,
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const USER_AGENT: &str = concat!("kubectl-sigapps/", env!("CARGO_PKG_VERSION"));

/// What the flags and files choose, before the server is dialled.
struct Settled {
    name: Option<String>,
    cluster: Cluster,
    user: AuthInfo,
    namespace: Option<String>,
}

/// The namespace that kubectl would use.
pub(super) fn namespace(connection: &Connection, environment: &Environment) -> Result<String, ClusterError> {
    if let Some(namespace) = connection.namespace.as_ref().filter(|name| !name.is_empty()) {
        return Ok(namespace.clone());
    }
    let settled = settle(connection, environment)?;
    Ok(settled.namespace.unwrap_or_else(|| "default".to_owned()))
}

/// What makes a server this one and no other, as far as a kubeconfig tells: whoever dials the same address through the same
/// proxy, and finds a certificate of the same authority there, has found the same server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ServerKey {
    server: String,
    proxy: Option<String>,
    tls_server_name: Option<String>,
    authority: Option<Vec<Vec<u8>>>,
}

/// The server that a connection leads to; nothing is dialled, and no plugin run.
pub(super) fn server_key(connection: &Connection, environment: &Environment) -> Result<ServerKey, ClusterError> {
    let Settled { cluster, user, .. } = settle(connection, environment)?;
    let server = server_url(&cluster, &user)?;
    let authority = root_certificates(&cluster)?;
    let server = server.to_string().trim_end_matches('/').to_owned();
    Ok(ServerKey { server, proxy: cluster.proxy_url, tls_server_name: cluster.tls_server_name, authority })
}

/// Weighs flags, files and variables; runs the credential plugin.
pub(super) fn reach(connection: &Connection, environment: &Environment) -> Result<Reach, ClusterError> {
    let Settled { name, cluster, mut user, .. } = settle(connection, environment)?;
    let server = server_url(&cluster, &user)?;
    // A name and password may stand in the address; they are for the server alone.
    let shown = without_credentials(&server.to_string());
    let host = shown.split_once("://").map_or(&*shown, |(_, rest)| rest).trim_end_matches('/').to_owned();
    if server.scheme_str() == Some("https") {
        check_auth_provider(&user)?;
        plugin::run(&mut user, &cluster, environment)?;
        settle_token(&mut user)?;
    } else {
        // Credentials never go over an open connection. Source: client-go, `IsConfigTransportTLS`.
        user = AuthInfo {
            impersonate: user.impersonate,
            impersonate_uid: user.impersonate_uid,
            impersonate_groups: user.impersonate_groups,
            impersonate_user_extra: user.impersonate_user_extra,
            ..AuthInfo::default()
        };
    }
    let proxy = match &cluster.proxy_url {
        Some(proxy) => Some(proxy::with_scheme(proxy)),
        None => proxy::from_environment(&server, environment),
    };
    let mut config = kube::Config::new(server.clone());
    config.proxy_url = proxy.as_deref().map(proxy_url).transpose()?;
    config.root_cert = root_certificates(&cluster)?;
    config.accept_invalid_certs = cluster.insecure_skip_tls_verify.unwrap_or(false);
    config.tls_server_name = cluster.tls_server_name;
    config.disable_compression = cluster.disable_compression.unwrap_or(false);
    config.auth_info = user;
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    // Silence is bounded where the answers are read, retries are made there and told.
    config.read_timeout = None;
    config.default_retry = false;
    config.headers = vec![(http::header::USER_AGENT, HeaderValue::from_static(USER_AGENT))];
    let name = name.unwrap_or_else(|| shown.trim_end_matches('/').to_owned());
    Ok(Reach { config, name, host, proxy: proxy.as_deref().map(without_credentials) })
}

/// The kubeconfig's cluster and user, else a pod's own, else what the flags alone say; then the flags over them.
fn settle(connection: &Connection, environment: &Environment) -> Result<Settled, ClusterError> {
    let mut settled = match kubeconfig::find(connection, environment)? {
        Ok(found) if !is_empty(&found) || connection.context.is_some() => {
            let chosen = kubeconfig::choose(found, connection)?;
            let kubeconfig::Chosen { context, cluster, user, namespace } = chosen;
            Settled { name: context, cluster, user, namespace }
        }
        // What is named must be there: nothing stands in for it.
        Err(looked) if connection.context.is_some() || connection.cluster.is_some() || connection.user.is_some() => {
            return Err(ClusterError::NoKubeconfig { looked });
        }
        found => match (in_cluster(environment), &connection.server) {
            (Some(settled), _) => settled,
            (None, Some(_)) => {
                Settled { name: None, cluster: Cluster::default(), user: AuthInfo::default(), namespace: None }
            }
            (None, None) => return Err(ClusterError::NoKubeconfig { looked: found.err().unwrap_or_default() }),
        },
    };
    override_cluster(&mut settled.cluster, connection)?;
    override_user(&mut settled.user, connection)?;
    Ok(settled)
}

fn is_empty(kubeconfig: &kube::config::Kubeconfig) -> bool {
    kubeconfig.contexts.is_empty() && kubeconfig.clusters.is_empty()
}

/// The API server as a pod with a service account reaches it.
/// Source: client-go `rest/config.go`, `InClusterConfig`; `tools/clientcmd/client_config.go`, `Possible`, `Namespace`.
fn in_cluster(environment: &Environment) -> Option<Settled> {
    let host = environment.first(&["KUBERNETES_SERVICE_HOST"])?;
    let port = environment.first(&["KUBERNETES_SERVICE_PORT"])?;
    let file = |name| environment.service_account.join(name);
    if !file("token").is_file() {
        return None;
    }
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let namespace = environment.first(&["POD_NAMESPACE"]).map(ToOwned::to_owned).or_else(|| {
        let text = std::fs::read_to_string(file("namespace")).ok()?;
        Some(text.trim().to_owned()).filter(|namespace| !namespace.is_empty())
    });
    let path = |name| file(name).to_string_lossy().into_owned();
    Some(Settled {
        name: Some("in-cluster".to_owned()),
        cluster: Cluster {
            server: Some(format!("https://{host}:{port}")),
            certificate_authority: Some(path("ca.crt")),
            ..Cluster::default()
        },
        user: AuthInfo { token_file: Some(path("token")), ..AuthInfo::default() },
        namespace,
    })
}

/// Source: client-go `tools/clientcmd/client_config.go`, `getCluster`.
fn override_cluster(cluster: &mut Cluster, connection: &Connection) -> Result<(), ClusterError> {
    let authority = &connection.certificate_authority;
    if connection.insecure_skip_tls_verify || authority.is_some() {
        cluster.insecure_skip_tls_verify = Some(connection.insecure_skip_tls_verify);
        cluster.certificate_authority.clone_from(authority);
        cluster.certificate_authority_data = None;
    }
    // The name in the kubeconfig is for the kubeconfig's server.
    if connection.tls_server_name.is_some() || connection.server.is_some() {
        cluster.tls_server_name.clone_from(&connection.tls_server_name);
    }
    for (field, flag) in [(&mut cluster.server, &connection.server), (&mut cluster.proxy_url, &connection.proxy_url)] {
        if flag.is_some() {
            field.clone_from(flag);
        }
    }
    if connection.disable_compression {
        cluster.disable_compression = Some(true);
    }
    let has_authority = cluster.certificate_authority.is_some() || cluster.certificate_authority_data.is_some();
    if cluster.insecure_skip_tls_verify == Some(true) && has_authority {
        return Err(setting(
            "insecure-skip-tls-verify",
            "a certificate-authority is set, too; only one of them can be",
        ));
    }
    Ok(())
}

/// Source: client-go `tools/clientcmd/client_config.go`, `getAuthInfo`.
fn override_user(user: &mut AuthInfo, connection: &Connection) -> Result<(), ClusterError> {
    if let Some(certificate) = &connection.client_certificate {
        user.client_certificate = Some(certificate.clone());
        user.client_certificate_data = None;
    }
    if let Some(key) = &connection.client_key {
        user.client_key = Some(key.clone());
        user.client_key_data = None;
    }
    // A token stands for itself: no plugin is asked, no password sent. A client certificate stays, as kubectl keeps it.
    if let Some(token) = connection.token.as_ref().filter(|token| !token.is_empty()) {
        user.token = Some(SecretString::from(token.as_str()));
        user.token_file = None;
        user.exec = None;
        user.auth_provider = None;
        user.username = None;
        user.password = None;
    }
    if let Some(name) = &connection.username {
        user.username = Some(name.clone());
    }
    if let Some(password) = &connection.password {
        user.password = Some(SecretString::from(password.as_str()));
    }
    override_impersonation(user, connection)
}

fn override_impersonation(user: &mut AuthInfo, connection: &Connection) -> Result<(), ClusterError> {
    if let Some(name) = &connection.as_user {
        user.impersonate = Some(name.clone());
    }
    if let Some(uid) = &connection.as_uid {
        user.impersonate_uid = Some(uid.clone());
    }
    if !connection.as_group.is_empty() {
        user.impersonate_groups = Some(connection.as_group.clone());
    }
    if !connection.as_user_extra.is_empty() {
        let mut extra: HashMap<String, Vec<String>> = HashMap::new();
        for (key, value) in &connection.as_user_extra {
            extra.entry(key.clone()).or_default().push(value.clone());
        }
        user.impersonate_user_extra = Some(extra);
    }
    let more = user.impersonate_uid.is_some()
        || user.impersonate_groups.as_ref().is_some_and(|groups| !groups.is_empty())
        || user.impersonate_user_extra.as_ref().is_some_and(|extra| !extra.is_empty());
    if user.impersonate.is_none() && more {
        return Err(setting("as-uid, as-group or as-user-extra", "they need the user to impersonate, --as"));
    }
    Ok(())
}

/// Of the old authentication providers only `oidc` is left, for kubectl, too: kube still runs a command for
/// `gcp`, and panics where its output ends with a line's end.
/// Source: client-go `plugin/pkg/client/auth/{gcp,azure}`, which only tell what to use instead.
fn check_auth_provider(user: &AuthInfo) -> Result<(), ClusterError> {
    let Some(provider) = &user.auth_provider else { return Ok(()) };
    let instead = match provider.name.as_str() {
        "oidc" => return Ok(()),
        "gcp" => "it was removed from Kubernetes; use the credential plugin gke-gcloud-auth-plugin",
        "azure" => "it was removed from Kubernetes; use the credential plugin kubelogin",
        _ => "there is no such provider",
    };
    Err(setting(format!("the kubeconfig user's auth-provider {:?}", provider.name), instead))
}

/// Puts a token file's content in its place, as kube refuses the line end that such files have, and checks that the
/// token can be sent at all.
fn settle_token(user: &mut AuthInfo) -> Result<(), ClusterError> {
    if let Some(path) = user.token_file.take() {
        // Of a token and a token file, the file wins as long as it can be read.
        match std::fs::read_to_string(&path) {
            Ok(token) => user.token = Some(SecretString::from(token)),
            Err(_) if user.token.is_some() => {}
            Err(error) => return Err(setting(format!("the token file {path}"), error.to_string())),
        }
    }
    if let Some(token) = user.token.take() {
        let token = token.expose_secret().trim();
        if token.is_empty() || HeaderValue::from_str(token).is_err() {
            return Err(setting("the token", "it is empty or holds characters that cannot be sent"));
        }
        user.token = Some(SecretString::from(token));
    }
    Ok(())
}

/// The server's address; without a scheme it is `https` as soon as TLS is spoken of.
/// Source: client-go `rest/url_utils.go`, `DefaultServerURL`.
fn server_url(cluster: &Cluster, user: &AuthInfo) -> Result<Uri, ClusterError> {
    let Some(server) = &cluster.server else {
        return Err(setting("the kubeconfig's cluster", "it has no server address"));
    };
    let tls = cluster.certificate_authority.is_some()
        || cluster.certificate_authority_data.is_some()
        || cluster.insecure_skip_tls_verify == Some(true)
        || user.client_certificate.is_some()
        || user.client_certificate_data.is_some();
    let scheme = if tls { "https" } else { "http" };
    let full = if server.contains("://") { server.clone() } else { format!("{scheme}://{server}") };
    let parsed: Result<Uri, _> = full.parse();
    match parsed {
        Ok(uri) if matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|h| !h.is_empty()) => {
            Ok(uri)
        }
        _ => Err(setting(
            format!("the server address {:?}", without_credentials(server)),
            "it must be like https://HOST:PORT",
        )),
    }
}

fn proxy_url(proxy: &str) -> Result<Uri, ClusterError> {
    let shown = without_credentials(proxy);
    // kube calls it socks5; the proxy looks the name up either way.
    let proxy = proxy.strip_prefix("socks5h://").map_or_else(|| proxy.to_owned(), |rest| format!("socks5://{rest}"));
    let cannot = |why: &str| setting(format!("the proxy {shown}"), why);
    let uri: Uri = proxy.parse().map_err(|_| cannot("it must be like http://HOST:PORT"))?;
    match uri.scheme_str() {
        Some("socks5") if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) => {
            Err(cannot("user and password are not supported for socks5 proxies"))
        }
        Some("http" | "https" | "socks5") => Ok(uri),
        _ => Err(cannot("only http, https and socks5 proxies are supported")),
    }
}

fn root_certificates(cluster: &Cluster) -> Result<Option<Vec<Vec<u8>>>, ClusterError> {
    use base64::Engine as _;
    let (setting_name, pem) = match (&cluster.certificate_authority_data, &cluster.certificate_authority) {
        (Some(data), _) => {
            let decoded = base64::engine::general_purpose::STANDARD.decode(data);
            let name = "the certificate-authority-data".to_owned();
            (name, decoded.map_err(|_| setting("the certificate-authority-data", "it is not base64"))?)
        }
        (None, Some(path)) => {
            let name = format!("the certificate-authority {path}");
            let read = std::fs::read(Path::new(path));
            (name.clone(), read.map_err(|error| setting(name, error.to_string()))?)
        }
        (None, None) => return Ok(None),
    };
    let certificates: Vec<Vec<u8>> =
        CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok).map(|certificate| certificate.to_vec()).collect();
    if certificates.is_empty() {
        return Err(setting(setting_name, "it holds no PEM certificate"));
    }
    Ok(Some(certificates))
}

pub(super) fn setting(setting: impl Into<String>, why: impl Into<String>) -> ClusterError {
    ClusterError::Setting { setting: setting.into(), why: why.into() }
}
