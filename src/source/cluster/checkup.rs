//! What a cluster says of itself and of what its user may do. Nothing is changed by it: reviews of rights are created as
//! requests alone, and kept by nobody.

use std::cell::RefCell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::StreamExt as _;
use futures_util::stream;
use http::{Method, header};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::api::{Api, JSON, LARGEST_OBJECT, Patience, gather};
use super::call::Call;
use super::environment::Environment;
use super::error::ClusterError;
use super::fault::{self, Asked, Fault, Status, first_line};
use super::{path, reach};
use crate::request::Connection;

/// What a cluster is asked.
#[derive(Debug)]
pub struct Questions<'a> {
    /// API groups, each with the resources of it that matter; of the groups without any it is only asked whether they are
    /// served.
    pub groups: &'a [(&'static str, Vec<&'static str>)],
    /// Rights of the user.
    pub rights: &'a [Question],
    /// The namespace that is to be read; `None` for all.
    pub namespace: Option<&'a str>,
}

/// Whether the user may do something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Question {
    /// The verb.
    pub verb: String,
    /// The API group; empty for the core.
    pub group: String,
    /// The plural.
    pub resource: String,
    /// `log`; empty for the resource itself.
    pub subresource: String,
    /// Only the object of this name; empty for all.
    pub name: String,
    /// Only in this namespace; `None` in all, and for what belongs to none.
    pub namespace: Option<String>,
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// They may.
    Allowed,
    /// They may not; the authorizer's reason, where it gave one.
    Denied(Option<String>),
    /// There is nothing to have a right to.
    NotInstalled,
    /// It cannot be told, for this reason.
    Unknown(String),
}

/// What was found out.
#[derive(Debug)]
pub struct Checkup {
    /// The server's version, or why it is not known.
    pub version: Result<ServerVersion, String>,
    /// The first request, with which the connection was made.
    pub first: Exchange,
    /// A request on the connection that stands.
    pub second: Option<Exchange>,
    /// What of the groups is there, in the order in which they were asked for; or why that is not known.
    pub groups: Result<Vec<GroupFound>, String>,
    /// Who the server takes the user for.
    pub who: Who,
    /// Whether the namespace is there.
    pub namespace: NamespaceFound,
    /// Whether `batch/v1` has names of pod failure policy rules (KEP-4443), or why that is not known.
    pub rule_names: Result<bool, String>,
    /// The answers, in the order of the questions.
    pub rights: Vec<Answer>,
}

/// A server's version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerVersion {
    /// `v1.37.2`.
    pub git_version: String,
    /// `linux/amd64`.
    pub platform: Option<String>,
}

/// A request and its answer, as this machine's clock saw them. Milliseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// When it was sent.
    pub sent: i64,
    /// How long the answer took.
    pub took: Duration,
    /// The answer's `Date`, by the clock of whoever gave it.
    pub date: Option<String>,
}

/// An API group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFound {
    /// Its name.
    pub name: String,
    /// Its versions as the server lists them, the preferred one first; empty where it is not installed.
    pub versions: Vec<String>,
    /// Of the resources that matter, those that the preferred version lacks; or why that is not known.
    pub lacks: Result<Vec<String>, String>,
}

/// Who the server takes the user for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// This user.
    Named(String),
    /// Nobody: no credentials were taken. With the server's words.
    Anonymous(String),
    /// It does not tell.
    Unknown,
}

/// Whether a namespace is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamespaceFound {
    /// It is.
    There,
    /// It is being deleted.
    Ending,
    /// It is not.
    Absent,
    /// It may not be read, or was not asked for.
    Unknown,
}

/// Reviews of rights under way at once.
const AT_ONCE: usize = 8;
const ANONYMOUS: &str = "system:anonymous";

/// Asks a cluster. An error means that it could not be reached, or that nobody signed in; all else that could not be found
/// out is told in its place. `talk` gets a line where something is tried again.
pub fn check(
    environment: &Environment,
    connection: &Connection,
    questions: &Questions,
    talk: &mut dyn FnMut(&str),
) -> Result<Checkup, ClusterError> {
    let reach = reach::reach(connection, environment)?;
    let destination = (&reach).into();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| ClusterError::Process(error.to_string()))?;
    let checkup = runtime.block_on(async {
        let client = kube::Client::try_from(reach.config).map_err(|error| fault::client_error(&error))?;
        let api = Api::new(client, destination, Patience::new(connection.request_timeout), talk);
        Examiner { api: &api, gave_up: RefCell::new(None) }.examine(questions).await
    });
    // A look-up of a name that hangs must not hold up the report.
    runtime.shutdown_background();
    checkup
}

struct Examiner<'a> {
    api: &'a Api<'a>,
    /// Why nothing more is asked: the server was lost on the way.
    gave_up: RefCell<Option<String>>,
}

/// What a request for `/version` or `/apis` came to.
type Got = (Exchange, Result<Vec<u8>, Fault>);

impl Examiner<'_> {
    async fn examine(&self, questions: &Questions<'_>) -> Result<Checkup, ClusterError> {
        let (first, version) = self.timed("the server's version", "/version").await;
        let version = match version {
            Ok(body) => server_version(&body).ok_or_else(|| first_line(&body)),
            // The server is there, and keeps this to itself.
            Err(Fault::Status(Status { code: 403 | 404, message, .. })) => Err(message),
            Err(fault) => {
                let asked = Asked { resource: "its version", namespace: None };
                return Err(fault.into_error(&self.api.destination, asked));
            }
        };
        let who = self.who().await;
        let (second, listed) = self.timed("API groups", "/apis").await;
        let second = listed.is_ok().then_some(second);
        let listed = self.noted(listed).and_then(|body| groups_listed(&body).ok_or_else(|| first_line(&body)));
        let (groups, namespace, rule_names) =
            tokio::join!(self.groups(questions.groups, listed), self.namespace(questions.namespace), self.rule_names());
        let rights = stream::iter(questions.rights).map(|question| self.right(question, &groups));
        let rights = rights.buffered(AT_ONCE).collect().await;
        Ok(Checkup { version, first, second, groups, who, namespace, rule_names, rights })
    }

    /// One request, and how long its answer took; where it has to be sent again, the last time.
    async fn timed(&self, what: &str, path: &str) -> Got {
        let mut attempt = 1;
        let (mut exchange, response) = loop {
            let sent = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let began = Instant::now();
            let response = self.api.try_get(path, JSON).await;
            let sent = i64::try_from(sent.as_millis()).unwrap_or_default();
            let exchange = Exchange { sent, took: began.elapsed(), date: None };
            match response {
                Ok(response) => break (exchange, response),
                Err(fault) => {
                    if let Err(fault) = self.api.before_another(what, attempt, fault).await {
                        return (exchange, Err(fault));
                    }
                }
            }
            attempt += 1;
        };
        let date = response.headers().get(header::DATE).and_then(|date| date.to_str().ok());
        exchange.date = date.map(ToOwned::to_owned);
        let (body, read) = gather(&self.api.patience.begin(), response, LARGEST_OBJECT).await;
        (exchange, read.map(|()| body))
    }

    /// A fault in words. One that the next request would meet, too, is the last that is waited for.
    fn noted<T>(&self, answer: Result<T, Fault>) -> Result<T, String> {
        answer.map_err(|fault| match fault {
            Fault::Status(Status { code, message, .. }) if code < 500 && code != 429 => message,
            fault => {
                let text = fault.to_string();
                self.gave_up.borrow_mut().get_or_insert_with(|| text.clone());
                text
            }
        })
    }

    async fn fetch(&self, what: &str, path: &str) -> Result<Vec<u8>, Result<u16, String>> {
        if let Some(why) = self.gave_up.borrow().clone() {
            return Err(Err(why));
        }
        match self.api.fetch(what, path, JSON).await {
            Err(Fault::Status(Status { code: 404, .. })) => Err(Ok(404)),
            answer => self.noted(answer).map_err(Err),
        }
    }

    /// Asks for something to be created that nobody keeps.
    async fn review(&self, path: &str, what: &str, body: &Value) -> Result<Value, Fault> {
        let body = body.to_string().into_bytes();
        let call = Call { method: Method::POST, path, content_type: JSON, body, what };
        let answer = self.api.call(&call).await?;
        serde_json::from_slice(&answer).map_err(|_| Fault::Answer(first_line(&answer)))
    }

    /// Source: KEP-3325, served without a feature gate since Kubernetes 1.28, for every signed-in user.
    async fn who(&self) -> Who {
        let body = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
        match self.review(path, "who is signed in", &body).await {
            Ok(answer) => match answer.pointer("/status/userInfo/username").and_then(Value::as_str) {
                Some(ANONYMOUS) => Who::Anonymous("the server takes the user for system:anonymous".to_owned()),
                Some(name) if !name.is_empty() => Who::Named(name.to_owned()),
                _ => Who::Unknown,
            },
            Err(Fault::Status(Status { code: 401, message, .. })) => Who::Anonymous(message),
            Err(Fault::Status(Status { code: 403, message, .. })) if message.contains(ANONYMOUS) => {
                Who::Anonymous(message)
            }
            // What else is wrong, the requests behind this one meet, too.
            Err(_) => Who::Unknown,
        }
    }

    async fn groups(
        &self,
        asked: &[(&'static str, Vec<&'static str>)],
        listed: Result<Vec<(String, Vec<String>)>, String>,
    ) -> Result<Vec<GroupFound>, String> {
        let listed = listed?;
        let found = stream::iter(asked).map(|(name, resources)| {
            let versions = listed.iter().find(|(listed, _)| listed == name).map(|(_, versions)| versions.clone());
            async move {
                let versions = versions.unwrap_or_default();
                let lacks = match versions.first() {
                    Some(preferred) if !resources.is_empty() => self.lacking(name, preferred, resources).await,
                    _ => Ok(Vec::new()),
                };
                GroupFound { name: (*name).to_owned(), versions, lacks }
            }
        });
        Ok(found.buffered(AT_ONCE).collect().await)
    }

    /// Of some resources, those that a version of a group does not serve.
    async fn lacking(&self, group: &str, version: &str, resources: &[&str]) -> Result<Vec<String>, String> {
        let body = match self.fetch(group, &format!("/apis/{group}/{version}")).await {
            Ok(body) => body,
            // It is listed, and not served.
            Err(Ok(_)) => return Ok(resources.iter().map(ToString::to_string).collect()),
            Err(Err(why)) => return Err(why),
        };
        let list: Value = serde_json::from_slice(&body).map_err(|_| first_line(&body))?;
        let Some(served) = list["resources"].as_array() else { return Err(first_line(&body)) };
        let is_served = |resource: &str| served.iter().any(|served| served["name"].as_str() == Some(resource));
        Ok(resources.iter().filter(|resource| !is_served(resource)).map(ToString::to_string).collect())
    }

    async fn namespace(&self, namespace: Option<&str>) -> NamespaceFound {
        let Some(namespace) = namespace else { return NamespaceFound::Unknown };
        match self.fetch("namespaces", &format!("/api/v1/namespaces/{}", path::encode(namespace))).await {
            Ok(body) => {
                let object: Value = serde_json::from_slice(&body).unwrap_or_default();
                match object["metadata"].get("deletionTimestamp") {
                    _ if object["metadata"].is_null() => NamespaceFound::Unknown,
                    Some(_) => NamespaceFound::Ending,
                    None => NamespaceFound::There,
                }
            }
            Err(Ok(_)) => NamespaceFound::Absent,
            Err(Err(_)) => NamespaceFound::Unknown,
        }
    }

    /// The schema has the field as soon as the server knows it, whatever the feature gate says.
    async fn rule_names(&self) -> Result<bool, String> {
        let body = match self.fetch("the schema of batch/v1", "/openapi/v3/apis/batch/v1").await {
            Ok(body) => body,
            Err(Ok(_)) => return Err("the server has no OpenAPI v3 of batch/v1".to_owned()),
            Err(Err(why)) => return Err(why),
        };
        let schema: Value = serde_json::from_slice(&body).map_err(|_| first_line(&body))?;
        let rule = schema.pointer("/components/schemas/io.k8s.api.batch.v1.PodFailurePolicyRule/properties");
        let rule = rule.ok_or("the schema of batch/v1 tells nothing of rules")?;
        Ok(rule.get("name").is_some())
    }

    async fn right(&self, asked: &Question, groups: &Result<Vec<GroupFound>, String>) -> Answer {
        let group = groups.iter().flatten().find(|group| group.name == asked.group);
        if let Some(group) = group {
            let lacks = group.lacks.as_ref().is_ok_and(|lacks| lacks.contains(&asked.resource));
            if group.versions.is_empty() || lacks {
                return Answer::NotInstalled;
            }
        }
        if let Some(why) = self.gave_up.borrow().clone() {
            return Answer::Unknown(why);
        }
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {
                "verb": asked.verb, "group": asked.group, "resource": asked.resource,
                "subresource": asked.subresource, "name": asked.name, "namespace": asked.namespace,
            }},
        });
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        let answer = self.review(path, "a review of the rights", &review).await;
        match self.noted(answer) {
            Ok(answer) => reviewed(&answer),
            // Whatever it is, it is not for this right alone.
            Err(why) => {
                self.gave_up.borrow_mut().get_or_insert_with(|| why.clone());
                Answer::Unknown(why)
            }
        }
    }
}

/// What the authorizer says, with its reason, else with what went wrong as it looked.
fn reviewed(answer: &Value) -> Answer {
    let text = |field: &str| answer["status"][field].as_str().filter(|text| !text.is_empty()).map(ToOwned::to_owned);
    match answer["status"]["allowed"].as_bool() {
        Some(true) => Answer::Allowed,
        Some(false) => Answer::Denied(text("reason").or_else(|| text("evaluationError"))),
        None => Answer::Unknown("the review of the rights has no answer in it".to_owned()),
    }
}

fn server_version(body: &[u8]) -> Option<ServerVersion> {
    let version: Value = serde_json::from_slice(body).ok()?;
    let text = |field: &str| version[field].as_str().filter(|text| !text.is_empty()).map(ToOwned::to_owned);
    Some(ServerVersion { git_version: text("gitVersion")?, platform: text("platform") })
}

/// All groups of a server and their versions, the preferred one first.
fn groups_listed(body: &[u8]) -> Option<Vec<(String, Vec<String>)>> {
    let list: Value = serde_json::from_slice(body).ok()?;
    let of = |group: &Value| {
        let version = |version: &Value| version["version"].as_str().map(ToOwned::to_owned);
        let mut versions: Vec<String> = version(&group["preferredVersion"]).into_iter().collect();
        for next in group["versions"].as_array().into_iter().flatten().filter_map(version) {
            if !versions.contains(&next) {
                versions.push(next);
            }
        }
        Some((group["name"].as_str()?.to_owned(), versions))
    };
    Some(list["groups"].as_array()?.iter().filter_map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_comes_with_what_the_authorizer_says() {
        for (status, expected) in [
            (json!({"allowed": true}), Answer::Allowed),
            (json!({"allowed": false}), Answer::Denied(None)),
            (json!({"allowed": false, "reason": "no", "evaluationError": "x"}), Answer::Denied(Some("no".into()))),
            (json!({"allowed": false, "reason": "", "evaluationError": "x"}), Answer::Denied(Some("x".into()))),
            (json!({}), Answer::Unknown("the review of the rights has no answer in it".into())),
        ] {
            assert_eq!(reviewed(&json!({"status": status})), expected, "{status}");
        }
    }

    #[test]
    fn of_a_groups_versions_the_preferred_one_is_first() {
        let version = |name: &str| json!({"groupVersion": format!("x.io/{name}"), "version": name});
        let group =
            json!({"name": "x.io", "preferredVersion": version("v1"), "versions": [version("v2"), version("v1")]});
        let listed = groups_listed(json!({"groups": [group]}).to_string().as_bytes());
        assert_eq!(listed, Some(vec![("x.io".to_owned(), vec!["v1".to_owned(), "v2".to_owned()])]));
        assert_eq!(groups_listed(b"<html>"), None);
    }
}
