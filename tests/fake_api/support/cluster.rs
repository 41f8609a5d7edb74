//! A small API server that keeps what is written to it: objects by their path, deletion with preconditions, merge
//! patches, dry runs, reviews of rights.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use super::{FakeApi, Reply, Request, kubeconfig};

/// What the server keeps and how it behaves.
#[derive(Default)]
pub(crate) struct State {
    /// By path.
    pub(crate) objects: BTreeMap<String, Value>,
    /// `VERB RESOURCE` that the user may not do.
    pub(crate) forbidden: BTreeSet<String>,
    /// By group, the preferred version first.
    pub(crate) versions: BTreeMap<&'static str, Vec<&'static str>>,
    /// Whether deleted objects stay, with their deletionTimestamp, until [`State::let_go`].
    pub(crate) slow_deletion: bool,
    made: u32,
}

impl State {
    /// Ends the deletions under way.
    pub(crate) fn let_go(&mut self) {
        self.objects.retain(|_, object| object.pointer("/metadata/deletionTimestamp").is_none());
    }

    fn answer(&mut self, request: &Request) -> Reply {
        let path = request.path().to_owned();
        if path.ends_with("/selfsubjectaccessreviews") {
            let asked = &request.body["spec"]["resourceAttributes"];
            let (verb, resource) = (asked["verb"].as_str().unwrap(), asked["resource"].as_str().unwrap());
            let allowed = !self.forbidden.contains(&format!("{verb} {resource}"));
            return Reply::json(
                201,
                json!({"kind": "SelfSubjectAccessReview", "status": {"allowed": allowed}}).to_string(),
            );
        }
        if let Some(group) = path.strip_prefix("/apis/").filter(|rest| !rest.contains('/')) {
            return self.group(group);
        }
        match request.method.as_str() {
            "GET" if path.ends_with("/log") => Reply::new(200, "text/plain").then("the last words\n"),
            "GET" => self.read(&path),
            "POST" => self.create(&path, request),
            "PATCH" => self.patch(&path, request),
            "DELETE" => self.delete(&path, request),
            other => Reply::status(405, "MethodNotAllowed", other),
        }
    }

    fn group(&self, group: &str) -> Reply {
        let Some(versions) = self.versions.get(group) else { return Reply::no_such_path() };
        let of = |version: &&str| json!({"groupVersion": format!("{group}/{version}"), "version": version});
        let all: Vec<Value> = versions.iter().map(of).collect();
        Reply::json(200, json!({"kind": "APIGroup", "preferredVersion": all[0], "versions": all}).to_string())
    }

    fn read(&self, path: &str) -> Reply {
        if let Some(object) = self.objects.get(path) {
            return Reply::json(200, object.to_string());
        }
        // A list's path has the resource last: behind the namespace's name.
        if path.split('/').rev().nth(2) != Some("namespaces") {
            return not_found(path);
        }
        let items: Vec<&Value> = self
            .objects
            .iter()
            .filter(|(at, _)| at.rsplit_once('/').unwrap().0 == path)
            .map(|(_, object)| object)
            .collect();
        let kind = items.first().map_or("Nothing", |item| item["kind"].as_str().unwrap());
        let version = items.first().map_or(&Value::Null, |item| &item["apiVersion"]);
        Reply::json(
            200,
            json!({"kind": format!("{kind}List"), "apiVersion": version, "metadata": {}, "items": items}).to_string(),
        )
    }

    fn create(&mut self, path: &str, request: &Request) -> Reply {
        let mut object = request.body.clone();
        let at = format!("{path}/{}", object["metadata"]["name"].as_str().unwrap());
        if self.objects.contains_key(&at) {
            return Reply::status(409, "AlreadyExists", &format!("{at} already exists"));
        }
        self.made += 1;
        object["metadata"]["uid"] = format!("new-{}", self.made).into();
        object["metadata"]["managedFields"] =
            json!([{"manager": request.query("fieldManager"), "operation": "Update"}]);
        if request.query("dryRun").is_none() {
            self.objects.insert(at, object.clone());
        }
        Reply::json(201, object.to_string())
    }

    fn patch(&mut self, path: &str, request: &Request) -> Reply {
        let Some(object) = self.objects.get(path) else { return not_found(path) };
        let own = request.body.pointer("/metadata/uid").is_none_or(|uid| *uid == object["metadata"]["uid"]);
        if !own {
            return Reply::status(409, "Conflict", "uid");
        }
        let mut object = object.clone();
        merge(&mut object, &request.body);
        controlled(&mut object);
        if request.query("dryRun").is_none() {
            self.objects.insert(path.to_owned(), object.clone());
        }
        Reply::json(200, object.to_string())
    }

    fn delete(&mut self, path: &str, request: &Request) -> Reply {
        let Some(object) = self.objects.get_mut(path) else { return not_found(path) };
        if request.body.pointer("/preconditions/uid") != Some(&object["metadata"]["uid"]) {
            return Reply::status(409, "Conflict", "the uid in the precondition is another one");
        }
        // As the real one does: with options in the body, those in the query do not count.
        if request.body["dryRun"] == json!(["All"]) {
            return Reply::json(200, object.to_string());
        }
        let answer = object.to_string();
        if self.slow_deletion {
            object["metadata"]["deletionTimestamp"] = "2026-11-30T09:30:00Z".into();
            object["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
        } else {
            self.objects.remove(path);
        }
        Reply::json(200, answer)
    }
}

fn not_found(path: &str) -> Reply {
    Reply::status(404, "NotFound", &format!("{path} not found"))
}

/// Source: RFC 7386.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return;
    };
    for (key, value) in fields {
        if value.is_null() {
            target.as_object_mut().map(|target| target.remove(key));
        } else {
            merge(&mut target[key.as_str()], value);
        }
    }
}

/// What the `JobSet` controller says of a suspended one.
fn controlled(object: &mut Value) {
    if object["kind"] == "JobSet" {
        let status = if object["spec"]["suspend"] == true { "True" } else { "False" };
        object["status"]["conditions"] = json!([{"type": "Suspended", "status": status}]);
    }
}

/// The server, and a home folder that leads to it.
pub(crate) struct Cluster {
    pub(crate) api: FakeApi,
    state: Arc<Mutex<State>>,
    home: tempfile::TempDir,
}

/// What a run of the binary printed.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        Self::with(|_, _| None)
    }

    /// With answers of a test's own, where it gives one; it may change what the server keeps.
    pub(crate) fn with(hook: impl Fn(&Request, &mut State) -> Option<Reply> + Send + Sync + 'static) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let kept = Arc::clone(&state);
        let api = FakeApi::start(move |request| {
            let mut state = kept.lock().unwrap();
            hook(request, &mut state).unwrap_or_else(|| state.answer(request))
        });
        let home = tempfile::tempdir().unwrap();
        let config = kubeconfig(&json!({"server": api.url("127.0.0.1")}), &json!({}));
        std::fs::create_dir(home.path().join(".kube")).unwrap();
        std::fs::write(home.path().join(".kube/config"), config.to_string()).unwrap();
        Self { api, state, home }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Puts an object where it says it is.
    pub(crate) fn put(&self, plural: &str, object: &Value) -> String {
        let (version, name) = (object["apiVersion"].as_str().unwrap(), object["metadata"]["name"].as_str().unwrap());
        let root = if version.contains('/') { "apis" } else { "api" };
        let path = format!("/{root}/{version}/namespaces/ml/{plural}/{name}");
        self.state().objects.insert(path.clone(), object.clone());
        path
    }

    pub(crate) fn object(&self, path: &str) -> Option<Value> {
        self.state().objects.get(path).cloned()
    }

    /// A run of `kubectl-sigapps restart` that is not at a terminal.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-sigapps"));
        command.arg("restart").args(arguments).env_clear().env("HOME", self.home.path()).env("COLUMNS", "200");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn restart(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// The folders that runs have made for what they save.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let base = self.home.path().join(".local/state/kubectl-sigapps/restarts");
        let mut folders: Vec<PathBuf> =
            base.read_dir().into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        folders
    }

    /// The writes that were sent, reviews of rights left out: `DELETE etl`, `dry POST etl`, …
    pub(crate) fn writes(&self) -> Vec<String> {
        let requests = self.api.requests().into_iter();
        let writes = requests.filter(|request| request.method != "GET" && !request.path().ends_with("reviews"));
        writes
            .map(|request| {
                let dry = request.query("dryRun").is_some() || request.body.get("dryRun").is_some();
                let name = match request.method.as_str() {
                    "POST" => request.body["metadata"]["name"].as_str().unwrap().to_owned(),
                    _ => request.path().rsplit('/').next().unwrap().to_owned(),
                };
                format!("{}{} {name}", if dry { "dry " } else { "" }, request.method)
            })
            .collect()
    }
}

/// Checks a document against the published schema.
#[track_caller]
pub(crate) fn holds_to_schema(value: &Value) {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema/restart.v1alpha1.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    if let Err(error) = jsonschema::validator_for(&schema).unwrap().validate(value) {
        panic!("{error} at {}: {value:#}", error.instance_path());
    }
}

impl Ran {
    pub(crate) fn of(output: std::process::Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// What `-o json` printed, checked against the published schema.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        holds_to_schema(&value);
        value
    }

    /// Asserts an end with this code and these words on standard error.
    #[track_caller]
    pub(crate) fn says(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is missing in {}", self.stderr);
        }
    }
}
