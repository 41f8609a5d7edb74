//! Single requests, one after the other, for what changes a cluster.

use std::time::Duration;

use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::api::{Api, JSON, LARGEST_OBJECT, Patience};
use super::call::Call;
use super::environment::Environment;
use super::error::ClusterError;
use super::fault::{self, Asked, Fault, Status};
use super::interrupt::Interrupts;
use super::{path, reach};
use crate::request::{Connection, without_credentials};

/// Where an object is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Object {
    /// Group and version: `batch/v1`, `v1`.
    pub api_version: String,
    /// The plural in the API's paths: `jobs`.
    pub resource: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Why a request came to nothing. What is displayed is one line.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct RequestError {
    /// The HTTP status, where the server answered.
    pub code: Option<u16>,
    /// Whether it may have been carried out nevertheless: no answer, or one that says nothing.
    pub unclear: bool,
    /// Whether the same request may come through a little later: the server is away, or has too much to do.
    pub passing: bool,
    /// The error that the user sees.
    pub error: ClusterError,
}

/// A cluster that is asked one thing after the other. Writes are sent once; see [`RequestError::unclear`].
pub struct Session<'a> {
    api: Api<'a>,
    runtime: Runtime,
    server: String,
    interrupts: Interrupts,
}

/// Objects a page of a list.
const PAGE: usize = 500;
/// By how much a page is made smaller that is too large to be held.
const SMALLER: usize = 4;
/// Who changed a field, in the object's `managedFields`.
pub(crate) const FIELD_MANAGER: &str = "kubectl-sigapps";

impl Object {
    /// The same name and namespace in another resource; the namespace alone where it is to be listed.
    #[must_use]
    pub fn beside(&self, api_version: &str, resource: &str) -> Self {
        Self { api_version: api_version.to_owned(), resource: resource.to_owned(), ..self.clone() }
    }

    /// The object of this resource called `name`, in the same namespace.
    #[must_use]
    pub fn named(&self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self.clone() }
    }

    /// The API group; empty for the core.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Plural and group as RBAC names them: `jobs.batch`.
    pub fn rbac_name(&self) -> String {
        match self.group() {
            "" => self.resource.clone(),
            group => format!("{}.{group}", self.resource),
        }
    }

    fn collection(&self) -> String {
        path::of(&self.api_version, Some(&self.namespace), &self.resource)
    }

    fn path(&self) -> String {
        format!("{}/{}", self.collection(), path::encode(&self.name))
    }
}

impl<'a> Session<'a> {
    /// Finds the way to the cluster. `talk` gets a line where something is tried again.
    pub fn open(
        environment: &Environment,
        connection: &Connection,
        talk: &'a mut dyn FnMut(&str),
    ) -> Result<Self, ClusterError> {
        let reach = reach::reach(connection, environment)?;
        let server = without_credentials(&reach.config.cluster_url.to_string()).trim_end_matches('/').to_owned();
        let destination = (&reach).into();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| ClusterError::Process(error.to_string()))?;
        // The client starts tasks of its own.
        let client = {
            let _within = runtime.enter();
            kube::Client::try_from(reach.config).map_err(|error| fault::client_error(&error))?
        };
        let api = Api::new(client, destination, Patience::new(connection.request_timeout), talk);
        Ok(Self { api, runtime, server, interrupts: Interrupts::default() })
    }

    /// The server's address without credentials.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Tells the user something.
    pub fn say(&self, text: &str) {
        self.api.say(text);
    }

    /// From now on Ctrl-C and SIGTERM end what is waited for, and not the process.
    pub fn heed_interrupts(&self) -> Result<(), ClusterError> {
        let _within = self.runtime.enter();
        self.interrupts.heed().map_err(|error| ClusterError::Process(error.to_string()))
    }

    /// Whether one of them has come.
    pub fn is_interrupted(&self) -> bool {
        self.interrupts.came()
    }

    /// Waits, while connections are kept alive; whether it was interrupted.
    pub fn pause(&self, duration: Duration) -> bool {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.interrupts.next() => {}
                () = tokio::time::sleep(duration) => {}
            }
        });
        self.is_interrupted()
    }

    /// An answer to a request that changes nothing: whoever interrupts does not wait for it.
    fn ask<T>(&self, answer: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.interrupts.next() => Err(Fault::Interrupted),
                answer = answer => answer,
            }
        })
    }

    /// An answer to a write: what came of it is to be known, so that only a second interrupt gives it up.
    fn send<T>(&self, answer: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        self.runtime.block_on(async {
            let mut answer = std::pin::pin!(answer);
            loop {
                let was_interrupted = self.is_interrupted();
                tokio::select! {
                    biased;
                    answer = &mut answer => return answer,
                    () = self.interrupts.next() => {
                        if was_interrupted {
                            return Err(Fault::Interrupted);
                        }
                        self.say("interrupted: it ends as soon as the server has answered, or at once if it is interrupted again");
                    }
                }
            }
        })
    }

    /// The object as the server has it; `None` where it is not there.
    pub fn get(&self, object: &Object) -> Result<Option<Value>, RequestError> {
        let read = self.ask(self.api.fetch(&object.resource, &object.path(), JSON));
        match read {
            Err(fault) if fault.code() == Some(404) => Ok(None),
            read => read.and_then(|body| parse(&body)).map(Some).map_err(|fault| self.reading(object, fault)),
        }
    }

    /// The objects beside `like` that a query leaves, each with its `apiVersion` and `kind`, which lists leave out.
    pub fn list(&self, like: &Object, query: &[(&str, &str)]) -> Result<Vec<Value>, RequestError> {
        let mut items = Vec::new();
        let (mut token, mut limit) = (String::new(), PAGE);
        loop {
            let body = self.page(like, query, &token, limit)?;
            if body.len() >= LARGEST_OBJECT && limit > 1 {
                // A token goes on with any number of objects.
                limit = (limit / SMALLER).max(1);
                continue;
            }
            let mut list = parse(&body).map_err(|fault| self.reading(like, fault))?;
            let kind = list["kind"].as_str().unwrap_or_default().trim_end_matches("List").to_owned();
            let version = list["apiVersion"].clone();
            if let Some(Value::Array(page)) = list.get_mut("items").map(Value::take) {
                items.extend(page.into_iter().filter_map(|item| as_listed(item, &version, &kind)));
            }
            list.pointer("/metadata/continue").and_then(Value::as_str).unwrap_or_default().clone_into(&mut token);
            if token.is_empty() {
                return Ok(items);
            }
        }
    }

    /// A page of a list, at most `limit` objects of it; of one that is too large the beginning.
    fn page(&self, like: &Object, query: &[(&str, &str)], token: &str, limit: usize) -> Result<Vec<u8>, RequestError> {
        let limit = limit.to_string();
        let mut all = vec![("limit", limit.as_str())];
        all.extend(query.iter().copied());
        all.extend(Some(("continue", token)).filter(|(_, token)| !token.is_empty()));
        let path = with_query(&like.collection(), &all);
        let body = self.ask(self.api.fetch(&like.resource, &path, JSON));
        body.map_err(|fault| self.reading(like, fault))
    }

    /// The versions of a group that are served, `GROUP/VERSION`, the preferred one first; none where it is not installed.
    pub fn versions(&self, group: &str) -> Result<Vec<String>, RequestError> {
        let read = self.runtime.block_on(self.api.fetch(group, &format!("/apis/{group}"), JSON));
        let group: Value = match read {
            Err(fault) if fault.code() == Some(404) => return Ok(Vec::new()),
            read => read.and_then(|body| parse(&body)).map_err(|fault| {
                let asked = Asked { resource: group, namespace: None };
                self.error(fault, |fault, api| fault.into_error(&api.destination, asked))
            })?,
        };
        let text = |version: &Value| version["groupVersion"].as_str().map(ToOwned::to_owned);
        let mut versions: Vec<String> = text(&group["preferredVersion"]).into_iter().collect();
        versions.extend(group["versions"].as_array().into_iter().flatten().filter_map(text));
        let mut seen = std::collections::BTreeSet::new();
        versions.retain(|version| seen.insert(version.clone()));
        Ok(versions)
    }

    /// Creates an object; what the server made of it. A field that the server does not know is an error, as it would be
    /// left out without a word.
    pub fn create(&self, object: &Object, body: &Value, dry_run: bool) -> Result<Value, RequestError> {
        let path = with_query(&object.collection(), &write_query(dry_run));
        self.write(object, "creation", Method::POST, &path, JSON, body)
    }

    /// Changes the fields of an object that `body`, a JSON merge patch, names.
    pub fn patch(&self, object: &Object, body: &Value, dry_run: bool) -> Result<Value, RequestError> {
        let path = with_query(&object.path(), &write_query(dry_run));
        self.write(object, "change", Method::PATCH, &path, "application/merge-patch+json", body)
    }

    /// Deletes the object with this uid and no other, its dependents first.
    pub fn delete(&self, object: &Object, uid: &str, dry_run: bool) -> Result<(), RequestError> {
        let mut options = json!({
            "apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions",
            "propagationPolicy": "Foreground", "preconditions": {"uid": uid},
        });
        let mut query = Vec::new();
        if dry_run {
            // Options in the body take the place of those in the query, which is for whoever reads the audit log.
            options["dryRun"] = json!(["All"]);
            query.push(("dryRun", "All"));
        }
        let path = with_query(&object.path(), &query);
        self.write(object, "deletion", Method::DELETE, &path, JSON, &options).map(|_| ())
    }

    /// Whether the user may do something, as the server's authorizers say.
    pub fn may(&self, verb: &str, object: &Object) -> Result<bool, RequestError> {
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {
                "verb": verb, "group": object.group(), "resource": object.resource,
                "namespace": object.namespace, "name": object.name,
            }},
        });
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        let answer = self.write(object, "review of the rights", Method::POST, path, JSON, &review)?;
        Ok(answer.pointer("/status/allowed") == Some(&Value::Bool(true)))
    }

    /// The end of a container's log, or of the container's before its last restart; at most `most` bytes.
    pub fn log(&self, pod: &Object, container: &str, previous: bool, most: usize) -> Result<Vec<u8>, RequestError> {
        let lines = (most / 64).to_string();
        let mut query = vec![("container", container), ("tailLines", lines.as_str())];
        query.extend(previous.then_some(("previous", "true")));
        let path = with_query(&format!("{}/log", pod.path()), &query);
        let read = self.runtime.block_on(self.api.end_of_text(&path, most));
        read.map_err(|fault| self.writing(pod, "log", fault))
    }

    fn write(
        &self,
        object: &Object,
        what: &str,
        method: Method,
        path: &str,
        content_type: &'static str,
        body: &Value,
    ) -> Result<Value, RequestError> {
        let said = format!("the {what} of {} {}", object.rbac_name(), object.name);
        let call = Call { method, path, content_type, body: body.to_string().into_bytes(), what: &said };
        let answer = self.send(self.api.call(&call));
        answer.and_then(|body| parse(&body)).map_err(|fault| self.writing(object, what, fault))
    }

    fn reading(&self, object: &Object, fault: Fault) -> RequestError {
        let (resource, namespace) = (object.rbac_name(), object.namespace.clone());
        self.error(fault, |fault, api| {
            fault.into_error(&api.destination, Asked { resource: &resource, namespace: Some(&namespace) })
        })
    }

    /// In the words for requests that are no reads.
    fn writing(&self, object: &Object, what: &str, fault: Fault) -> RequestError {
        let what = format!("the {what} of {} {}", object.rbac_name(), object.name);
        self.error(fault, |fault, api| {
            let host = api.destination.host.clone();
            match fault {
                Fault::Status(Status { code, reason, message, .. }) if code != 401 => {
                    ClusterError::Server { host, code, reason, what, message }
                }
                Fault::Timeout(_) => ClusterError::Unreachable { host, why: format!("{what}: {fault}") },
                fault => fault.into_error(&api.destination, Asked { resource: &what, namespace: None }),
            }
        })
    }

    fn error(&self, fault: Fault, into: impl FnOnce(Fault, &Api) -> ClusterError) -> RequestError {
        let code = fault.code();
        let unclear = match &fault {
            Fault::Status(status) => status.code >= 500,
            Fault::Dropped(_)
            | Fault::Timeout(_)
            | Fault::Unreachable(_)
            | Fault::Lookup(_)
            | Fault::Answer(_)
            | Fault::Interrupted => true,
            Fault::Refused | Fault::Tls { .. } | Fault::Credentials(_) => false,
        };
        let passing = match &fault {
            Fault::Interrupted => false,
            Fault::Refused => true,
            Fault::Status(status) => unclear || status.code == 429,
            _ => unclear,
        };
        RequestError { code, unclear, passing, error: into(fault, &self.api) }
    }
}

fn write_query(dry_run: bool) -> Vec<(&'static str, &'static str)> {
    let mut query = vec![("fieldManager", FIELD_MANAGER), ("fieldValidation", "Strict")];
    query.extend(dry_run.then_some(("dryRun", "All")));
    query
}

fn with_query(path: &str, query: &[(&str, &str)]) -> String {
    let members: Vec<String> = query.iter().map(|(name, value)| format!("{name}={}", path::encode(value))).collect();
    if members.is_empty() { path.to_owned() } else { format!("{path}?{}", members.join("&")) }
}

/// An item of a list, which leaves out what all its items share.
fn as_listed(item: Value, version: &Value, kind: &str) -> Option<Value> {
    let Value::Object(mut fields) = item else { return None };
    fields.insert("apiVersion".to_owned(), version.clone());
    fields.insert("kind".to_owned(), kind.into());
    Some(Value::Object(fields))
}

/// All that an API server says is an object.
fn parse(body: &[u8]) -> Result<Value, Fault> {
    let parsed = serde_json::from_slice(body).ok().filter(Value::is_object);
    parsed.ok_or_else(|| Fault::Answer(fault::first_line(body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_named_as_rbac_and_the_api_name_them() {
        let object = |api_version: &str, resource: &str| Object {
            api_version: api_version.into(),
            resource: resource.into(),
            namespace: "ml".into(),
            name: "a".into(),
        };
        for (object, rbac, path) in [
            (object("v1", "pods"), "pods", "/api/v1/namespaces/ml/pods/a"),
            (object("batch/v1", "jobs"), "jobs.batch", "/apis/batch/v1/namespaces/ml/jobs/a"),
        ] {
            assert_eq!((object.rbac_name().as_str(), object.path().as_str()), (rbac, path));
        }
        assert_eq!(with_query("/a", &[("b", "c=d,e"), ("f", "")]), "/a?b=c%3Dd%2Ce&f=");
    }
}
