use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sigapps::request::Connection;
use sigapps::request::Scope;
use sigapps::source::Snapshot;
use sigapps::source::cluster::{ClusterError, Environment, read_in};

use super::FakeApi;

/// A home folder with a kubeconfig, and an environment that knows of nothing else.
pub(crate) struct Home {
    folder: tempfile::TempDir,
    pub(crate) environment: Environment,
    pub(crate) connection: Connection,
    pub(crate) scope: Scope,
}

/// What came of a read.
pub(crate) struct Outcome {
    pub(crate) result: Result<Snapshot, ClusterError>,
    /// The lines told on the way.
    pub(crate) said: Vec<String>,
}

impl Outcome {
    #[track_caller]
    pub(crate) fn snapshot(&self) -> &Snapshot {
        self.result.as_ref().unwrap_or_else(|error| panic!("{error}; said {:?}", self.said))
    }

    /// The error as the user sees it.
    #[track_caller]
    pub(crate) fn error(&self) -> String {
        let Err(error) = &self.result else { panic!("there was no error") };
        let text = error.to_string();
        assert!(!text.contains('\n'), "{text}");
        text
    }

    #[track_caller]
    pub(crate) fn assert_said(&self, part: &str) {
        assert!(self.said.iter().any(|line| line.contains(part)), "{part:?} was not said, but {:?}", self.said);
    }
}

impl Home {
    /// With nothing in it.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::default().with_home(folder.path());
        let scope = Scope { chunk_size: 500, ..Scope::default() };
        Self { folder, environment, connection: Connection::default(), scope }
    }

    /// With a kubeconfig for a server, read without a user.
    pub(crate) fn of(api: &FakeApi) -> Self {
        Self::with(&json!({"server": api.url("127.0.0.1")}), &json!({}))
    }

    /// With a kubeconfig of one context, `fake`.
    pub(crate) fn with(cluster: &Value, user: &Value) -> Self {
        let home = Self::empty();
        home.write(".kube/config", &kubeconfig(cluster, user).to_string());
        home
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self) -> Outcome {
        let mut said = Vec::new();
        let result =
            read_in(&self.environment, &self.connection, &self.scope, &mut |line: &str| said.push(line.to_owned()));
        Outcome { result, said }
    }
}

pub(crate) fn kubeconfig(cluster: &Value, user: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "fake",
        "clusters": [{"name": "fake-cluster", "cluster": cluster}],
        "users": [{"name": "fake-user", "user": user}],
        "contexts": [{"name": "fake", "context": {"cluster": "fake-cluster", "user": "fake-user", "namespace": "ml"}}],
    })
}
