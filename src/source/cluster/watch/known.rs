//! What is there, by uid and version: enough to tell the difference to a list that is read anew.

use std::collections::HashMap;

use bytes::Bytes;

use super::line::Meta;
use crate::model::Uid;

/// The objects of one interest that were told and not deleted since.
#[derive(Debug, Default)]
pub(super) struct Known {
    objects: HashMap<Uid, Object>,
    /// Counts the lists: what the newest one does not hold was deleted.
    list: u32,
}

#[derive(Debug)]
struct Object {
    version: Box<str>,
    namespace: Box<str>,
    name: Box<str>,
    list: u32,
}

impl Known {
    /// From now on objects are those of a new list.
    pub(super) fn list_begins(&mut self) {
        self.list += 1;
    }

    /// Notes an object; whether it, or its version, is new.
    pub(super) fn note(&mut self, meta: &Meta) -> bool {
        let uid = uid_of(meta);
        let list = self.list;
        if let Some(object) = self.objects.get_mut(&uid) {
            object.list = list;
            // Versions are told apart by being equal: their order is the server's own affair. Without one nothing is known.
            if *object.version == *meta.resource_version && !object.version.is_empty() {
                return false;
            }
            object.version = meta.resource_version.as_ref().into();
            return true;
        }
        let text = |text: &str| text.into();
        let (namespace, name) = (text(&meta.namespace), text(&meta.name));
        self.objects.insert(uid, Object { version: text(&meta.resource_version), namespace, name, list });
        true
    }

    /// Forgets an object.
    pub(super) fn forget(&mut self, meta: &Meta) {
        self.objects.remove(&uid_of(meta));
    }

    /// Forgets what the newest list does not hold, by name; each as an object of which only its names are known.
    pub(super) fn take_missed(&mut self, kind: &str, api_version: &str) -> Vec<Bytes> {
        let newest = self.list;
        let mut gone: Vec<(Uid, Object)> = self.objects.extract_if(|_, object| object.list != newest).collect();
        gone.sort_by(|(_, a), (_, b)| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        let names = |(uid, object): (Uid, Object)| {
            let Object { namespace, name, .. } = object;
            let mut metadata = serde_json::json!({ "name": name, "uid": uid.to_string() });
            if !namespace.is_empty() {
                metadata["namespace"] = String::from(namespace).into();
            }
            serde_json::json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata }).to_string().into()
        };
        gone.into_iter().map(names).collect()
    }
}

/// Without a uid, which no API server leaves out, the name stands for it.
fn uid_of(meta: &Meta) -> Uid {
    Uid::parse(&meta.uid).unwrap_or_else(|| Uid::Other(format!("{}/{}", meta.namespace, meta.name).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta<'a>(uid: &'a str, name: &'a str, version: &'a str) -> Meta<'a> {
        Meta { uid: uid.into(), namespace: "ml".into(), name: name.into(), resource_version: version.into() }
    }

    #[test]
    fn a_list_read_anew_tells_what_changed_and_what_is_gone() {
        let mut known = Known::default();
        known.list_begins();
        for (uid, name) in [("1", "a"), ("2", "b"), ("3", "c")] {
            assert!(known.note(&meta(uid, name, "7")));
        }
        known.forget(&meta("3", "c", "8"));
        known.list_begins();
        assert!(!known.note(&meta("1", "a", "7")));
        // b was deleted, and made again under its name.
        assert!(known.note(&meta("4", "b", "9")));
        let missed = known.take_missed("Pod", "v1");
        let expected = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b","namespace":"ml","uid":"2"}}"#;
        assert_eq!(missed, [expected]);
        assert!(known.take_missed("Pod", "v1").is_empty());
    }
}
