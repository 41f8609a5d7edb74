//! What the journal holds of each object that is still there: enough to tell whether it changed.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value};

use crate::record::lines::Names;
use crate::source::Resource;

/// An object, by a hash of its resource and uid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key(u64);

/// The newest state that was written of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) resource: Resource,
    /// Of what was written.
    pub(super) digest: u64,
    /// The file it stands in.
    pub(super) file: u64,
    /// Whether the cluster told of it since the journal was opened.
    is_seen: bool,
}

impl Entry {
    pub(super) fn new(resource: Resource, digest: u64, file: u64) -> Self {
        Self { resource, digest, file, is_seen: true }
    }

    pub(super) fn unseen(self) -> Self {
        Self { is_seen: false, ..self }
    }

    /// The same in another file.
    pub(super) fn in_file(self, file: u64) -> Self {
        Self { file, ..self }
    }

    pub(super) fn seen(self) -> Self {
        Self { is_seen: true, ..self }
    }
}

impl Key {
    pub(super) fn of(resource: Resource, fields: &Map<String, Value>) -> Self {
        let metadata = fields.get("metadata");
        let text = |name: &str| metadata.and_then(|it| it.get(name)).and_then(Value::as_str).unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        resource.name().hash(&mut hasher);
        match text("uid") {
            "" => (text("namespace"), text("name")).hash(&mut hasher),
            uid => uid.hash(&mut hasher),
        }
        Self(hasher.finish())
    }
}

/// Objects that are there, as the journal tells.
#[derive(Debug, Default)]
pub(super) struct Index {
    entries: HashMap<Key, Entry>,
    /// `apiVersion`, namespace, name and uid of each, so that one that went away unseen can be named without reading all
    /// files again. Of Events, which expire, nothing is told.
    names: HashMap<Key, Box<str>>,
}

/// Stands between two names; no name holds one.
const BETWEEN: char = '\n';

impl Index {
    pub(super) fn get(&self, key: Key) -> Option<Entry> {
        self.entries.get(&key).copied()
    }

    /// Notes the newest state of an object; none, where it is gone.
    pub(super) fn put(&mut self, key: Key, entry: Option<Entry>) {
        if let Some(entry) = entry {
            self.entries.insert(key, entry);
        } else {
            self.entries.remove(&key);
            self.names.remove(&key);
        }
    }

    /// Notes what an object is named.
    pub(super) fn name(&mut self, key: Key, resource: Resource, api_version: &str, fields: &Map<String, Value>) {
        if resource == Resource::Events {
            return;
        }
        self.names.entry(key).or_insert_with(|| {
            let metadata = fields.get("metadata");
            let text = |name: &str| metadata.and_then(|it| it.get(name)).and_then(Value::as_str).unwrap_or_default();
            let names = [api_version, text("namespace"), text("name"), text("uid")];
            names.map(|name| name.replace(BETWEEN, "")).join(&BETWEEN.to_string()).into()
        });
    }

    /// The objects of a resource that the cluster has not told of, by their names.
    pub(super) fn unseen(&self, resource: Resource) -> Vec<(Key, String)> {
        let unseen = self.entries.iter().filter(|(_, entry)| entry.resource == resource && !entry.is_seen);
        let named = |key: &Key| self.names.get(key).map(ToString::to_string).unwrap_or_default();
        let mut unseen: Vec<(Key, String)> = unseen.map(|(key, _)| (*key, named(key))).collect();
        unseen.sort_unstable_by(|a, b| a.1.cmp(&b.1));
        unseen
    }
}

/// Reads what [`Index::unseen`] gives.
pub(super) fn names_in(text: &str) -> Names<'_> {
    let mut parts = text.split(BETWEEN);
    let mut next = || parts.next().unwrap_or_default();
    Names { api_version: next(), namespace: next(), name: next(), uid: next() }
}

/// Conditions of a pod that say nothing of how it fares.
const PASSING: [&str; 3] = ["PodReadyToStartContainers", "Initialized", "ContainersReady"];

/// Equal for two states of an object of which the second tells nothing new.
pub(super) fn digest(resource: Resource, fields: &Map<String, Value>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (name, value) in fields.iter().filter(|(name, _)| !matches!(name.as_str(), "kind" | "apiVersion")) {
        name.hash(&mut hasher);
        hash_value(value, &mut hasher, &|path: &[&str], value: &Value| {
            let is_version = matches!(path, ["resourceVersion"]) && name == "metadata";
            let is_of_pod = resource == Resource::Pods && name == "status";
            let passes = is_of_pod
                && match path {
                    ["containerStatuses" | "initContainerStatuses", "ready"] => true,
                    ["conditions"] => {
                        value.get("type").and_then(Value::as_str).is_some_and(|type_| PASSING.contains(&type_))
                    }
                    _ => false,
                };
            is_version || passes
        });
    }
    hasher.finish()
}

/// The same of an object with its kind and version.
pub(super) fn digest_of(resource: Resource, object: &Value) -> Option<u64> {
    object.as_object().map(|fields| digest(resource, fields))
}

fn hash_value(value: &Value, hasher: &mut DefaultHasher, skips: &dyn Fn(&[&str], &Value) -> bool) {
    hash_at(value, &mut Vec::new(), hasher, skips);
}

fn hash_at<'v>(
    value: &'v Value,
    path: &mut Vec<&'v str>,
    hasher: &mut DefaultHasher,
    skips: &dyn Fn(&[&str], &Value) -> bool,
) {
    match value {
        Value::Object(members) => {
            "{".hash(hasher);
            for (name, value) in members {
                path.push(name);
                if !skips(path, value) {
                    name.hash(hasher);
                    hash_at(value, path, hasher, skips);
                }
                path.pop();
            }
            "}".hash(hasher);
        }
        Value::Array(items) => {
            "[".hash(hasher);
            for item in items {
                if !skips(path, item) {
                    hash_at(item, path, hasher, skips);
                }
            }
            "]".hash(hasher);
        }
        Value::String(text) => text.hash(hasher),
        other => other.to_string().hash(hasher),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(resource: Resource, value: &Value) -> u64 {
        digest_of(resource, value).unwrap()
    }

    #[test]
    fn what_tells_nothing_new_is_equal() {
        let pod = |version: &str, ready: bool, initialized: &str, restarts: u32| {
            json!({"kind": "Pod", "metadata": {"uid": "u", "resourceVersion": version}, "status": {
                "conditions": [{"type": "Initialized", "status": initialized}, {"type": "Ready", "status": "True"}],
                "containerStatuses": [{"name": "c", "ready": ready, "restartCount": restarts}]}})
        };
        let first = of(Resource::Pods, &pod("1", false, "False", 0));
        assert_eq!(first, of(Resource::Pods, &pod("2", true, "True", 0)));
        assert_ne!(first, of(Resource::Pods, &pod("2", true, "True", 1)));
        let node = |status: &str| json!({"metadata": {"uid": "u"}, "status": {"conditions": [{"type": "Ready", "status": status}]}});
        assert_ne!(of(Resource::Nodes, &node("True")), of(Resource::Nodes, &node("Unknown")));
    }

    #[test]
    fn objects_are_told_apart_by_their_uids() {
        let key = |uid: &str, name: &str| {
            let object = json!({"metadata": {"uid": uid, "name": name, "namespace": "ml"}});
            Key::of(Resource::Jobs, object.as_object().unwrap())
        };
        assert_eq!(key("1", "a"), key("1", "b"));
        assert_ne!(key("1", "a"), key("2", "a"));
        assert_ne!(key("", "a"), key("", "b"));
    }
}
