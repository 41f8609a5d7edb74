//! What is done to a scenario's objects, and what must have come of it before the next step.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::api::{Api, condition, text};
use crate::kinds;
use crate::kubelet::Kubelet;
use crate::wait::{Answer, until};

/// The slowest are a `CronJob`'s second minute, and a node that is given up.
const LONGEST: Duration = Duration::from_secs(180);

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Step {
    /// Goes on once the API shows it.
    Await(Sight),
    /// Merges the body into the object as `kubectl patch` does by default, else as a merge patch.
    Patch(Patch),
    Delete(Object),
    /// One of them, by the Eviction API, as a drain does.
    Evict(Sight),
    /// The kubelet of this node falls silent.
    Lose(String),
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Object {
    kind: String,
    name: String,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Patch {
    kind: String,
    /// Of the only one of its kind where a controller has named it.
    name: Option<String>,
    #[serde(default)]
    subresource: Option<String>,
    body: Value,
}

/// Objects of one kind in the scenario's namespace.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sight {
    kind: String,
    /// The beginning of the name.
    name: Option<String>,
    /// What stands where, by JSON pointer; null where nothing is to stand.
    #[serde(default)]
    shows: BTreeMap<String, Value>,
    condition: Option<Condition>,
    /// At least so many of them; none at all if zero.
    #[serde(default = "one")]
    number: usize,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Condition {
    r#type: String,
    status: String,
    reason: Option<String>,
}

fn one() -> usize {
    1
}

impl Step {
    pub(crate) async fn take(&self, api: &Api, kubelet: &Kubelet, namespace: &str) -> Result<()> {
        match self {
            Self::Await(sight) => sight.seen(api, namespace).await,
            Self::Patch(patch) => patch.apply(api, namespace).await,
            Self::Delete(object) => {
                let path = format!("{}/{}", kinds::collection(&object.kind, namespace)?, object.name);
                let there = api.get(&path).await?;
                api.remove(&path, text(&there, "/metadata/uid")).await
            }
            Self::Evict(sight) => {
                let pods = sight.those(api, namespace).await?;
                api.evict(pods.first().with_context(|| format!("{} is not there", sight.in_words()))?).await
            }
            Self::Lose(node) => {
                kubelet.lose(node);
                Ok(())
            }
        }
    }
}

impl Patch {
    async fn apply(&self, api: &Api, namespace: &str) -> Result<()> {
        let collection = kinds::collection(&self.kind, namespace)?;
        let name = match &self.name {
            Some(name) => name.clone(),
            None => only(&api.list(&collection).await?, &self.kind)?,
        };
        let subresource = self.subresource.as_ref().map(|part| format!("/{part}")).unwrap_or_default();
        let path = format!("{collection}/{name}{subresource}");
        if kinds::is_built_in(&self.kind)? {
            api.patch(&path, &self.body).await?;
        } else {
            api.merge(&path, &self.body).await?;
        }
        Ok(())
    }
}

fn only(objects: &[Value], kind: &str) -> Result<String> {
    ensure!(objects.len() == 1, "{} objects of kind {kind} where one was to be patched", objects.len());
    Ok(text(&objects[0], "/metadata/name").to_owned())
}

impl Sight {
    async fn seen(&self, api: &Api, namespace: &str) -> Result<()> {
        let what = format!("{} in {namespace}", self.in_words());
        until(&what, LONGEST, || async {
            let found = self.those(api, namespace).await?.len();
            let enough = if self.number == 0 { found == 0 } else { found >= self.number };
            Ok(if enough { Answer::Ready(()) } else { Answer::NotYet(self.instead(api, namespace).await?) })
        })
        .await
    }

    /// Those that are as wanted.
    async fn those(&self, api: &Api, namespace: &str) -> Result<Vec<Value>> {
        let mut objects = self.all(api, namespace).await?;
        objects.retain(|object| self.fits(object));
        Ok(objects)
    }

    async fn all(&self, api: &Api, namespace: &str) -> Result<Vec<Value>> {
        let mut objects = api.list(&kinds::collection(&self.kind, namespace)?).await?;
        let name = self.name.as_deref().unwrap_or_default();
        objects.retain(|object| text(object, "/metadata/name").starts_with(name));
        Ok(objects)
    }

    fn fits(&self, object: &Value) -> bool {
        let shows = |(pointer, wanted): (&String, &Value)| object.pointer(pointer).unwrap_or(&Value::Null) == wanted;
        self.shows.iter().all(shows) && self.condition.as_ref().is_none_or(|wanted| wanted.fits(object))
    }

    async fn instead(&self, api: &Api, namespace: &str) -> Result<String> {
        let objects = self.all(api, namespace).await?;
        let statuses = objects.iter().map(|object| format!("{} {}", text(object, "/metadata/name"), object["status"]));
        Ok(statuses.collect::<Vec<_>>().join("; "))
    }

    fn in_words(&self) -> String {
        let mut words = format!("{} × {} {}", self.number, self.kind, self.name.as_deref().unwrap_or("of any name"));
        for (pointer, wanted) in &self.shows {
            write!(words, " with {pointer} {wanted}").ok();
        }
        if let Some(wanted) = &self.condition {
            let reason = wanted.reason.as_deref().unwrap_or("for any reason");
            write!(words, " with {} {} {reason}", wanted.r#type, wanted.status).ok();
        }
        words
    }
}

impl Condition {
    fn fits(&self, object: &Value) -> bool {
        let Some(found) = condition(object, &self.r#type) else { return false };
        let reason = self.reason.as_deref();
        text(found, "/status") == self.status && reason.is_none_or(|reason| text(found, "/reason") == reason)
    }
}
