//! A thin client: every object is a `serde_json::Value`, so that tests see what the API server says and nothing else.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use futures_util::TryStreamExt;
use http::{Method, Request, StatusCode};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::WatchEvent;
use kube::{Client, Config};
use serde_json::{Value, json};
use tokio::sync::mpsc;

#[derive(Clone)]
pub(crate) struct Api {
    client: Client,
}

/// What a watch reports; bookmarks and errors are dealt with here.
pub(crate) enum Change {
    Present(Value),
    Gone(Value),
}

impl Api {
    pub(crate) async fn connect(kubeconfig: &Path) -> Result<Self> {
        let file = Kubeconfig::read_from(kubeconfig)?;
        let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
        config.read_timeout = Some(Duration::from_secs(60));
        config.proxy_url = None;
        Ok(Self { client: Client::try_from(config)? })
    }

    async fn send(&self, method: Method, path: &str, content: &str, body: Vec<u8>) -> Result<Value, kube::Error> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(http::header::CONTENT_TYPE, content)
            .body(body)
            .map_err(kube::Error::HttpError)?;
        self.client.request::<Value>(request).await
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value> {
        self.send(Method::GET, path, "application/json", Vec::new()).await.with_context(|| format!("GET {path}"))
    }

    /// Whether the API server and everything it waits for is up.
    pub(crate) async fn is_ready(&self) -> bool {
        let request = Request::get("/readyz").body(Vec::new()).expect("a constant request is valid");
        self.client.request_text(request).await.is_ok()
    }

    /// The items of a list with their `apiVersion` and `kind`, which the API leaves out inside lists.
    pub(crate) async fn list(&self, path: &str) -> Result<Vec<Value>> {
        Ok(self.list_at(path).await?.0)
    }

    /// The items and the resource version they were read at.
    pub(crate) async fn list_at(&self, path: &str) -> Result<(Vec<Value>, String)> {
        let mut list = self.get(path).await?;
        let kind = text(&list, "/kind").trim_end_matches("List").to_owned();
        let api_version = text(&list, "/apiVersion").to_owned();
        let version = text(&list, "/metadata/resourceVersion").to_owned();
        let items = match list["items"].take() {
            Value::Array(items) => items,
            _ => Vec::new(),
        };
        let named = items.into_iter().map(|mut item| {
            item["apiVersion"] = api_version.clone().into();
            item["kind"] = kind.clone().into();
            item
        });
        Ok((named.collect(), version))
    }

    pub(crate) async fn create(&self, path: &str, body: &Value) -> Result<Value> {
        self.send(Method::POST, path, "application/json", body.to_string().into_bytes())
            .await
            .with_context(|| format!("POST {path} {}", text(body, "/metadata/name")))
    }

    /// Creates the object unless it is there already.
    pub(crate) async fn ensure(&self, path: &str, body: &Value) -> Result<()> {
        match self.send(Method::POST, path, "application/json", body.to_string().into_bytes()).await {
            Err(error) if code(&error) != Some(StatusCode::CONFLICT.as_u16()) => {
                Err(error).with_context(|| format!("POST {path} {}", text(body, "/metadata/name")))
            }
            _ => Ok(()),
        }
    }

    /// A strategic merge: conditions are merged by type, so those that others have set stay.
    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Result<Value> {
        self.patch_as("application/strategic-merge-patch+json", path, body).await
    }

    pub(crate) async fn merge(&self, path: &str, body: &Value) -> Result<Value> {
        self.patch_as("application/merge-patch+json", path, body).await
    }

    async fn patch_as(&self, content: &str, path: &str, body: &Value) -> Result<Value> {
        self.send(Method::PATCH, path, content, body.to_string().into_bytes())
            .await
            .with_context(|| format!("PATCH {path}"))
    }

    /// Patches unless the object has gone meanwhile; says whether it was there.
    pub(crate) async fn patch_if_there(&self, path: &str, body: &Value) -> Result<bool> {
        match self.patch(path, body).await {
            Err(error) if is_gone(&error) => Ok(false),
            other => other.map(|_| true),
        }
    }

    /// Removes a pod at once, as a kubelet does after its containers have ended.
    pub(crate) async fn remove(&self, path: &str, uid: &str) -> Result<()> {
        let body = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": uid}});
        match self.send(Method::DELETE, path, "application/json", body.to_string().into_bytes()).await {
            Err(error) if !matches!(code(&error), Some(404 | 409)) => {
                Err(error).with_context(|| format!("DELETE {path}"))
            }
            _ => Ok(()),
        }
    }

    /// By the Eviction API, as a drain does.
    pub(crate) async fn evict(&self, pod: &Value) -> Result<()> {
        let metadata = json!({"namespace": text(pod, "/metadata/namespace"), "name": text(pod, "/metadata/name")});
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata});
        self.create(&format!("{}/eviction", pod_path(pod)), &eviction).await.map(|_| ())
    }

    /// Everything at `path` now and every change after, until the receiver is dropped or the server goes away.
    pub(crate) fn watch(&self, path: &str) -> mpsc::UnboundedReceiver<Change> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let (api, path) = (self.clone(), path.to_owned());
        tokio::spawn(async move {
            while !sender.is_closed() {
                if let Err(error) = api.follow(&path, &sender).await {
                    if sender.is_closed() {
                        return;
                    }
                    eprintln!("watching {path} again: {error:#}");
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
            }
        });
        receiver
    }

    async fn follow(&self, path: &str, sender: &mpsc::UnboundedSender<Change>) -> Result<()> {
        let (items, mut version) = self.list_at(path).await?;
        for item in items {
            sender.send(Change::Present(item)).ok();
        }
        loop {
            let uri = format!("{path}?watch=1&allowWatchBookmarks=true&timeoutSeconds=50&resourceVersion={version}");
            let request = Request::get(uri).body(Vec::new())?;
            let events = self.client.request_events::<Value>(request).await?;
            futures_util::pin_mut!(events);
            while let Some(event) = events.try_next().await? {
                let change = match event {
                    WatchEvent::Added(object) | WatchEvent::Modified(object) => Change::Present(object),
                    WatchEvent::Deleted(object) => Change::Gone(object),
                    WatchEvent::Bookmark(bookmark) => {
                        version = bookmark.metadata.resource_version;
                        continue;
                    }
                    WatchEvent::Error(status) => return Err(anyhow!("{}", status.message)),
                };
                let (Change::Present(object) | Change::Gone(object)) = &change;
                text(object, "/metadata/resourceVersion").clone_into(&mut version);
                if sender.send(change).is_err() {
                    return Ok(());
                }
            }
        }
    }
}

fn code(error: &kube::Error) -> Option<u16> {
    match error {
        kube::Error::Api(status) => Some(status.code),
        _ => None,
    }
}

/// Whether the object was deleted, or replaced by one of the same name.
pub(crate) fn is_gone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<kube::Error>().and_then(code).is_some_and(|code| matches!(code, 404 | 409))
}

/// The string at a JSON pointer, or an empty one.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The number at a JSON pointer, or zero, as absent counters mean in Kubernetes.
pub(crate) fn number(value: &Value, pointer: &str) -> i64 {
    value.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

/// The list at a JSON pointer, or an empty one.
pub(crate) fn array<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The annotation's value; its key may hold slashes, which a pointer would need escaped.
pub(crate) fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get("metadata")?.get("annotations")?.get(key)?.as_str()
}

pub(crate) fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get("metadata")?.get("labels")?.get(key)?.as_str()
}

pub(crate) fn pod_path(pod: &Value) -> String {
    format!("/api/v1/namespaces/{}/pods/{}", text(pod, "/metadata/namespace"), text(pod, "/metadata/name"))
}

/// Whether a condition of this type is True.
pub(crate) fn has_condition(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|condition| text(condition, "/status") == "True")
}

pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    array(object, "/status/conditions").iter().find(|condition| text(condition, "/type") == kind)
}

/// The present time as the API writes it.
pub(crate) fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
