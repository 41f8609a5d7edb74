//! Several clusters in one kubeconfig, read by the binary.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use sigapps::request::Connection;
use sigapps::source::cluster::{Environment, Place};

use super::cluster::Ran;
use super::objects::{job, list, pod};
use super::{FakeApi, Reply, Request};

/// A cluster with one failed Job in some namespaces, under a policy that fails it for one exit code.
pub(crate) struct Small {
    /// The uid of its `kube-system`; where it is empty, the address that is asked.
    pub(crate) uid: &'static str,
    pub(crate) namespaces: &'static [&'static str],
    /// What the Job is called.
    pub(crate) job: &'static str,
    /// What its rule is called, by annotation; `-` for nothing.
    pub(crate) rule: &'static str,
    /// The exit code that the rule asks for.
    pub(crate) code: i32,
}

pub(crate) const SMALL: Small = Small { uid: "", namespaces: &["ml"], job: "train", rule: "-", code: 1 };

impl Small {
    pub(crate) fn start(self) -> FakeApi {
        self.with(|_| None)
    }

    /// With answers of a test's own, where it gives one.
    pub(crate) fn with(self, hook: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static) -> FakeApi {
        FakeApi::start(move |request| hook(request).unwrap_or_else(|| self.answer(request)))
    }

    pub(crate) fn answer(&self, request: &Request) -> Reply {
        let path = request.path();
        let asked =
            |namespace: &str| !path.contains("/namespaces/") || path.contains(&format!("/namespaces/{namespace}/"));
        let namespaces = || self.namespaces.iter().filter(|namespace| asked(namespace));
        let name = path.rsplit('/').next().unwrap();
        match name {
            "kube-system" => {
                let uid = if self.uid.is_empty() { request.header("host").unwrap_or_default() } else { self.uid };
                Reply::json(200, json!({"kind": "Namespace", "metadata": {"uid": uid}}).to_string())
            }
            "jobs" => list("Job", "batch/v1", "", &namespaces().map(|it| self.job(it)).collect::<Vec<_>>()),
            "pods" => list("Pod", "v1", "", &namespaces().map(|it| self.pod(it)).collect::<Vec<_>>()),
            _ if name == self.job && namespaces().next().is_some() => {
                super::objects::whole("batch/v1", "Job", self.job(namespaces().next().unwrap()))
            }
            "cronjobs" => list("CronJob", "batch/v1", "", &[]),
            "events" => list("Event", "v1", "", &[]),
            "nodes" => list("Node", "v1", "", &[]),
            "deployments" | "replicasets" | "statefulsets" | "daemonsets" | "controllerrevisions" => {
                list("Thing", "apps/v1", "", &[])
            }
            _ => Reply::status(404, "NotFound", &format!("{path} not found")),
        }
    }

    fn job(&self, namespace: &str) -> Value {
        let mut job = job(namespace, self.job);
        job["metadata"]["uid"] = json!(format!("{namespace}-{}", self.job));
        job["metadata"]["annotations"] = json!({"kubectl-sigapps/rule-names": self.rule});
        job["spec"]["podFailurePolicy"] = json!({"rules": [
            {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [self.code]}},
        ]});
        job["spec"]["template"] = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "main"}]}});
        job["status"]["conditions"] = json!([
            {"type": "Failed", "status": "True", "reason": "PodFailurePolicy", "lastTransitionTime": "2026-11-30T09:00:01Z",
             "message": format!("Container main for pod {namespace}/{}-0 failed with exit code {} matching FailJob rule at index 0", self.job, self.code)},
        ]);
        job
    }

    fn pod(&self, namespace: &str) -> Value {
        let mut pod = pod(namespace, &format!("{}-0", self.job), self.job);
        pod["metadata"]["uid"] = json!(format!("{namespace}-{}-0", self.job));
        pod["metadata"]["ownerReferences"][0]["uid"] = json!(format!("{namespace}-{}", self.job));
        pod["spec"]["nodeName"] = json!("node-1");
        pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] = json!(self.code);
        pod
    }
}

/// A context: its name, cluster, user, and namespace.
pub(crate) struct Context {
    name: String,
    cluster: Value,
    user: Value,
    namespace: Option<&'static str>,
}

pub(crate) fn context(name: &str, api: &FakeApi) -> Context {
    at(name, &api.url("127.0.0.1"))
}

pub(crate) fn at(name: &str, server: &str) -> Context {
    Context { name: name.to_owned(), cluster: json!({"server": server}), user: json!({}), namespace: Some("ml") }
}

impl Context {
    pub(crate) fn user(self, user: Value) -> Self {
        Self { user, ..self }
    }

    pub(crate) fn cluster(self, cluster: Value) -> Self {
        Self { cluster, ..self }
    }

    pub(crate) fn namespace(self, namespace: Option<&'static str>) -> Self {
        Self { namespace, ..self }
    }
}

/// A home folder with a kubeconfig.
pub(crate) struct Fleet {
    home: tempfile::TempDir,
    names: Vec<String>,
}

impl Fleet {
    pub(crate) fn of(contexts: Vec<Context>) -> Self {
        Self::with(contexts, &[])
    }

    /// With contexts besides, as they stand in the file.
    pub(crate) fn with(contexts: Vec<Context>, more: &[Value]) -> Self {
        let named = |member: &str, of: fn(&Context) -> &Value| -> Vec<Value> {
            contexts.iter().map(|it| json!({"name": format!("the {member} of {}", it.name), member: of(it)})).collect()
        };
        let context = |it: &Context| {
            json!({"name": it.name, "context": {
                "cluster": format!("the cluster of {}", it.name), "user": format!("the user of {}", it.name),
                "namespace": it.namespace,
            }})
        };
        let all: Vec<Value> = contexts.iter().map(context).chain(more.iter().cloned()).collect();
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": all[0]["name"], "contexts": all,
            "clusters": named("cluster", |it| &it.cluster), "users": named("user", |it| &it.user),
        });
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".kube")).unwrap();
        std::fs::write(home.path().join(".kube/config"), config.to_string()).unwrap();
        Self { home, names: contexts.into_iter().map(|it| it.name).collect() }
    }

    pub(crate) fn home(&self) -> &std::path::Path {
        self.home.path()
    }

    /// What the library needs to know to read them all: each context's connection, in these surroundings.
    pub(crate) fn places(&self) -> (Environment, Vec<Place>) {
        let connection = |name: &String| Connection { context: Some(name.clone()), ..Connection::default() };
        let place = |name| Place { connection: connection(name), all_namespaces: true };
        (Environment::default().with_home(self.home.path()), self.names.iter().map(place).collect())
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-sigapps"));
        command.args(arguments).env_clear().env("HOME", self.home.path()).env("COLUMNS", "160");
        Ran::of(command.stdin(Stdio::null()).output().unwrap())
    }

    /// `failures` of all the contexts, each named.
    pub(crate) fn failures(&self, arguments: &[&str]) -> Ran {
        let contexts: Vec<String> = self.names.iter().map(|name| format!("--context={name}")).collect();
        let all: Vec<&str> = ["failures"]
            .into_iter()
            .chain(contexts.iter().map(String::as_str))
            .chain(arguments.iter().copied())
            .collect();
        self.run(&all)
    }

    /// The report, checked against the published schema.
    #[track_caller]
    pub(crate) fn report(&self, arguments: &[&str]) -> Value {
        let ran = self.failures(&[arguments, &["-o", "json"]].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        report_of(&ran)
    }
}

/// What `-o json` printed, checked against the published schema.
#[track_caller]
pub(crate) fn report_of(ran: &Ran) -> Value {
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let schema = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema/failure-report.v1alpha1.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    if let Err(error) = jsonschema::validator_for(&schema).unwrap().validate(&report) {
        panic!("{error} at {}: {report:#}", error.instance_path());
    }
    report
}
