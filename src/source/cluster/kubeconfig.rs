use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use kube::config::{AuthInfo, Cluster, Context, Kubeconfig, KubeconfigError};
use secrecy::{ExposeSecret, SecretString};

use super::environment::Environment;
use super::error::ClusterError;
use super::way::NamedBy;
use crate::request::Connection;

/// What a kubeconfig says of the cluster to read, before any flag overrides it.
#[derive(Default)]
pub(super) struct Chosen {
    /// The context's name.
    pub(super) context: Option<String>,
    /// The cluster.
    pub(super) cluster: Cluster,
    /// The user.
    pub(super) user: AuthInfo,
    /// The context's namespace.
    pub(super) namespace: Option<String>,
}

/// The merged kubeconfig, or where it was looked for in vain.
///
/// `--kubeconfig`, else the files of `KUBECONFIG`, else `~/.kube/config`. Of a list, files that are not there are passed
/// over and the first to set something wins. Source: client-go `tools/clientcmd/loader.go`.
pub(super) fn find(
    connection: &Connection,
    environment: &Environment,
) -> Result<Result<Kubeconfig, Vec<PathBuf>>, ClusterError> {
    if let Some(path) = connection.kubeconfig.as_deref().filter(|path| !path.is_empty()) {
        return match read(Path::new(path))? {
            Some(kubeconfig) => Ok(Ok(kubeconfig)),
            None => Err(unreadable(Path::new(path), "no such file")),
        };
    }
    let (paths, _) = paths(connection, environment);
    let mut merged: Option<Kubeconfig> = None;
    for path in &paths {
        let Some(next) = read(path)? else { continue };
        merged = Some(match merged {
            None => next,
            Some(merged) => merged.merge(next).map_err(|error| unreadable(path, error.to_string()))?,
        });
    }
    Ok(merged.ok_or(paths))
}

/// The files that are looked at, in their order, and what names them.
pub(super) fn paths(connection: &Connection, environment: &Environment) -> (Vec<PathBuf>, NamedBy) {
    if let Some(path) = connection.kubeconfig.as_deref().filter(|path| !path.is_empty()) {
        return (vec![path.into()], NamedBy::Flag);
    }
    if let Some(list) = environment.os("KUBECONFIG") {
        let paths = std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty());
        return (paths.collect(), NamedBy::Variable);
    }
    (environment.home.iter().map(|home| home.join(".kube").join("config")).collect(), NamedBy::Default)
}

/// One file, or `None` where there is none.
pub(super) fn read(path: &Path) -> Result<Option<Kubeconfig>, ClusterError> {
    match Kubeconfig::read_from(path) {
        Ok(mut kubeconfig) => {
            let current = kubeconfig.current_context.take();
            kubeconfig.current_context = current.filter(|name| !name.is_empty());
            Ok(Some(kubeconfig))
        }
        Err(KubeconfigError::ReadConfig(error, _)) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(KubeconfigError::ReadConfig(error, _)) => Err(unreadable(path, error.to_string())),
        // The parser's own words may quote the file, and with it a secret.
        Err(KubeconfigError::Parse(error)) => Err(unreadable(
            path,
            match error.location() {
                Some(at) => format!("not a kubeconfig in YAML or JSON, at line {}, column {}", at.line(), at.column()),
                None => "not a kubeconfig in YAML or JSON".to_owned(),
            },
        )),
        Err(error) => Err(unreadable(path, error.to_string())),
    }
}

fn unreadable(path: &Path, why: impl Into<String>) -> ClusterError {
    ClusterError::UnreadableKubeconfig { path: path.to_owned(), why: why.into() }
}

/// The context, cluster and user that a kubeconfig and the flags choose.
/// Source: client-go `tools/clientcmd/client_config.go`, `getContext`, `getCluster`, `getAuthInfo`.
pub(super) fn choose(kubeconfig: Kubeconfig, connection: &Connection) -> Result<Chosen, ClusterError> {
    let asked = connection.context.clone().filter(|name| !name.is_empty());
    let name = asked.or(kubeconfig.current_context);
    let context = match &name {
        Some(name) => {
            let found = kubeconfig.contexts.iter().find(|context| context.name == *name);
            let Some(found) = found else {
                let contexts = kubeconfig.contexts.into_iter().map(|context| context.name).collect();
                return Err(ClusterError::NoSuchContext { name: name.clone(), contexts });
            };
            found.context.clone().unwrap_or_default()
        }
        None if connection.cluster.is_some() || connection.server.is_some() => Context::default(),
        None => {
            let contexts = kubeconfig.contexts.into_iter().map(|context| context.name).collect();
            return Err(ClusterError::NoCurrentContext { contexts });
        }
    };
    let clusters = kubeconfig.clusters.into_iter().map(|named| (named.name, named.cluster)).collect();
    let users = kubeconfig.auth_infos.into_iter().map(|named| (named.name, named.auth_info)).collect();
    // Flags alone may say what a context leaves open.
    let cluster_is_needed = connection.cluster.is_some() || connection.server.is_none();
    let cluster_name = connection.cluster.clone().unwrap_or(context.cluster);
    let user_name = connection.user.clone().or(context.user).unwrap_or_default();
    let mut cluster = pick("cluster", &cluster_name, clusters, cluster_is_needed)?;
    // As in client-go, a context may name a user that is not there.
    let mut user = pick("user", &user_name, users, connection.user.is_some())?;
    tidy_cluster(&mut cluster);
    tidy_user(&mut user);
    Ok(Chosen { context: name, cluster, user, namespace: context.namespace.filter(|name| !name.is_empty()) })
}

fn pick<T: Default>(
    kind: &'static str,
    name: &str,
    entries: Vec<(String, Option<T>)>,
    needed: bool,
) -> Result<T, ClusterError> {
    let there: Vec<String> = entries.iter().map(|(name, _)| name.clone()).collect();
    match entries.into_iter().find(|(its_name, _)| its_name == name) {
        Some((_, entry)) => Ok(entry.unwrap_or_default()),
        None if needed => Err(ClusterError::NoSuchEntry { kind, name: name.to_owned(), there }),
        None => Ok(T::default()),
    }
}

/// What is empty counts as not set, as in Go.
fn drop_empty(value: &mut Option<String>) {
    *value = value.take().filter(|value| !value.is_empty());
}

/// The same for a path: an empty one was joined with the kubeconfig's folder when it was read.
fn drop_empty_path(value: &mut Option<String>) {
    *value = value.take().filter(|value| !value.is_empty() && !value.ends_with(std::path::is_separator));
}

/// Base64 may be wrapped.
fn tidy_base64(value: &mut Option<String>) {
    *value = value.take().map(|text| text.split_ascii_whitespace().collect()).filter(|text: &String| !text.is_empty());
}

fn drop_empty_secret(secret: &mut Option<SecretString>) {
    *secret = secret.take().filter(|secret| !secret.expose_secret().is_empty());
}

fn tidy_cluster(cluster: &mut Cluster) {
    drop_empty_path(&mut cluster.certificate_authority);
    tidy_base64(&mut cluster.certificate_authority_data);
    drop_empty(&mut cluster.server);
    drop_empty(&mut cluster.proxy_url);
    drop_empty(&mut cluster.tls_server_name);
}

fn tidy_user(user: &mut AuthInfo) {
    drop_empty_path(&mut user.token_file);
    drop_empty_path(&mut user.client_certificate);
    drop_empty_path(&mut user.client_key);
    tidy_base64(&mut user.client_certificate_data);
    drop_empty(&mut user.username);
    drop_empty(&mut user.impersonate);
    drop_empty(&mut user.impersonate_uid);
    drop_empty_secret(&mut user.token);
    drop_empty_secret(&mut user.password);
    drop_empty_secret(&mut user.client_key_data);
}
