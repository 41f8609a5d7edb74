//! The way to a cluster, as far as it can be told without going it: for whoever asks why it leads nowhere. No secret is in
//! it, and nothing that a plugin would have to be run for.

use std::path::{Path, PathBuf};

use http::Uri;
use kube::config::{AuthInfo, Cluster};

use super::environment::Environment;
use super::error::ClusterError;
use super::proxy::{self, Choice, Direct};
use super::{kubeconfig, reach};
use crate::request::{Connection, without_credentials};

/// What flags, files and variables say of the way.
#[derive(Debug, Default)]
pub struct Way {
    /// The kubeconfig files that are looked at, in their order.
    pub files: Vec<LookedAt>,
    /// What names these files.
    pub named_by: NamedBy,
    /// The contexts in them.
    pub contexts: usize,
    /// The context's name, `in-cluster`, or the server's address where flags alone lead there.
    pub name: Option<String>,
    /// The namespace that is read unless another is asked for.
    pub namespace: Option<String>,
    /// Host and port of the API server.
    pub server: Option<String>,
    /// Whether it is `https`.
    pub secure: bool,
    /// How the user signs in, in the order in which it counts; empty for not at all.
    pub sign_in: Vec<SignIn>,
    /// The user that is impersonated.
    pub impersonates: Option<String>,
    /// The proxy on the way, or why there is none.
    pub proxy: Option<ProxyUsed>,
    /// What the server's certificate is checked against.
    pub authority: Option<Authority>,
    /// The name that is looked for in the certificate, where it is not the host's.
    pub tls_server_name: Option<String>,
    /// Why there is no way.
    pub error: Option<ClusterError>,
}

/// A kubeconfig file.
#[derive(Debug)]
pub struct LookedAt {
    /// Its path; `~` stands for the home folder.
    pub path: String,
    /// Whether it is there.
    pub there: bool,
    /// Why it cannot be read.
    pub error: Option<String>,
}

/// What names the kubeconfig files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NamedBy {
    /// `--kubeconfig`.
    Flag,
    /// The variable `KUBECONFIG`.
    Variable,
    /// Nothing: it is the home folder's.
    #[default]
    Default,
}

/// How a user signs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignIn {
    /// The service account of the pod that this is.
    ServiceAccount,
    /// A credential plugin, by its program's name.
    Plugin(String),
    /// A token in the kubeconfig or in a flag.
    Token,
    /// A token in this file.
    TokenFile(String),
    /// A client certificate.
    Certificate,
    /// Name and password.
    Password,
    /// An authentication provider, by name.
    Provider(String),
}

/// The proxy on the way to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyUsed {
    /// Scheme, host and port; `None` for the direct way.
    pub url: Option<String>,
    /// Why it is that one, or none.
    pub because: ProxyReason,
}

/// Why a proxy is used, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyReason {
    /// `--proxy-url`.
    Flag,
    /// `proxy-url` of the kubeconfig's cluster.
    Kubeconfig,
    /// This variable names it.
    Variable(&'static str),
    /// None is set.
    Unset,
    /// The server is this machine, and a variable's proxy is not for that.
    Loopback,
    /// This variable says that the server is reached without.
    Excepted(&'static str),
}

/// What a server's certificate is checked against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authority {
    /// Authorities in the kubeconfig itself.
    Given,
    /// Authorities in this file.
    File(String),
    /// Those that this machine trusts.
    System,
    /// Nothing: it is not checked.
    Unchecked,
}

/// What can be told of the way to a cluster. Nothing is dialled, and no plugin run.
pub fn way(environment: &Environment, connection: &Connection) -> Way {
    let (paths, named_by) = kubeconfig::paths(connection, environment);
    let read: Vec<_> = paths.iter().map(|path| kubeconfig::read(path)).collect();
    let contexts = read.iter().filter_map(|read| read.as_ref().ok()?.as_ref()).map(|file| file.contexts.len()).sum();
    let files =
        paths.iter().zip(read).map(|(path, read)| looked_at(path, read.map(|file| file.is_some()), environment));
    let way = Way { files: files.collect(), named_by, contexts, ..Way::default() };
    let asked = connection.namespace.clone().filter(|name| !name.is_empty());
    let settled = match reach::settle(connection, environment) {
        Ok(settled) => settled,
        Err(error) => {
            return Way { namespace: asked, name: connection.context.clone(), error: Some(error), ..way };
        }
    };
    let namespace = asked.or(settled.namespace).unwrap_or_else(|| "default".to_owned());
    let way = Way { namespace: Some(namespace), name: settled.name.clone(), ..way };
    let (cluster, user) = (settled.cluster, settled.user);
    let server = match reach::server_url(&cluster, &user) {
        Ok(server) => server,
        Err(error) => return Way { error: Some(error), ..way },
    };
    let host = host(&server);
    Way {
        name: settled.name.or_else(|| Some(host.clone())),
        server: Some(host),
        secure: server.scheme_str() == Some("https"),
        sign_in: sign_in(&user, settled.in_cluster, environment),
        impersonates: user.impersonate.clone(),
        proxy: Some(proxy_used(&server, &cluster, connection, environment)),
        authority: Some(authority(&cluster, environment)),
        tls_server_name: cluster.tls_server_name,
        ..way
    }
}

fn looked_at(path: &Path, read: Result<bool, ClusterError>, environment: &Environment) -> LookedAt {
    let path = shown(path, environment);
    match read {
        Ok(there) => LookedAt { path, there, error: None },
        Err(ClusterError::UnreadableKubeconfig { why, .. }) => LookedAt { path, there: true, error: Some(why) },
        Err(error) => LookedAt { path, there: true, error: Some(error.to_string()) },
    }
}

/// A path in which `~` stands for the home folder: reports are shown to strangers.
fn shown(path: &Path, environment: &Environment) -> String {
    let below = environment.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
    let path = below.map_or_else(|| path.to_owned(), |below| PathBuf::from("~").join(below));
    path.display().to_string()
}

/// Host and port alone: a path may name an account, a query may hold a token.
pub(super) fn host(url: &Uri) -> String {
    let host = url.host().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// In the order in which it counts: kubectl asks no plugin where there is a token, and presents a certificate beside it.
fn sign_in(user: &AuthInfo, in_cluster: bool, environment: &Environment) -> Vec<SignIn> {
    let file = |path: &String| SignIn::TokenFile(shown(Path::new(path), environment));
    let token = match (&user.token_file, &user.token) {
        (Some(_), None) if in_cluster => Some(SignIn::ServiceAccount),
        (Some(path), _) => Some(file(path)),
        (None, Some(_)) => Some(SignIn::Token),
        (None, None) => None,
    };
    let plugin = user.exec.as_ref().map(|exec| {
        let command = exec.command.clone().unwrap_or_default();
        let name = Path::new(&command).file_name().map(|name| name.to_string_lossy().into_owned());
        SignIn::Plugin(name.unwrap_or(command))
    });
    let has_certificate = user.client_certificate.is_some() || user.client_certificate_data.is_some();
    [
        plugin,
        token,
        user.auth_provider.as_ref().map(|provider| SignIn::Provider(provider.name.clone())),
        user.username.as_ref().map(|_| SignIn::Password),
        has_certificate.then_some(SignIn::Certificate),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn proxy_used(server: &Uri, cluster: &Cluster, connection: &Connection, environment: &Environment) -> ProxyUsed {
    let by = |url: &str, because| ProxyUsed { url: Some(bare(&proxy::with_scheme(url))), because };
    match &cluster.proxy_url {
        Some(url) if connection.proxy_url.is_some() => by(url, ProxyReason::Flag),
        Some(url) => by(url, ProxyReason::Kubeconfig),
        None => match proxy::choose(server, environment) {
            Choice::Through { proxy, variable } => by(&proxy, ProxyReason::Variable(variable)),
            Choice::Direct(why) => ProxyUsed {
                url: None,
                because: match why {
                    Direct::Unset => ProxyReason::Unset,
                    Direct::Loopback => ProxyReason::Loopback,
                    Direct::Excepted(variable) => ProxyReason::Excepted(variable),
                },
            },
        },
    }
}

/// A proxy's scheme, host and port.
fn bare(url: &str) -> String {
    match url.parse::<Uri>() {
        Ok(uri) if uri.host().is_some() => format!("{}://{}", uri.scheme_str().unwrap_or("http"), host(&uri)),
        _ => without_credentials(url),
    }
}

fn authority(cluster: &Cluster, environment: &Environment) -> Authority {
    match (&cluster.certificate_authority_data, &cluster.certificate_authority) {
        _ if cluster.insecure_skip_tls_verify == Some(true) => Authority::Unchecked,
        (Some(_), _) => Authority::Given,
        (None, Some(path)) => Authority::File(shown(Path::new(path), environment)),
        (None, None) => Authority::System,
    }
}
