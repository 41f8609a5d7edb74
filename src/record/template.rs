//! What is kept of pod templates: enough to tell where checkpoints are written, and whether two revisions differ.

use serde_json::{Map, Value, json};

use super::keep::Policy;
use super::secrets::{HIDDEN, is_reference, names_secret, without_secrets};
use crate::checkpoint::{is_sign_name, names_annotation};
use crate::model::{ANNOTATIONS_READ, NOT_RECORDED, may_be_shown};

/// The annotations that are read; others may hold whole manifests.
pub(super) fn annotations(value: &Value, _: &Policy) -> Option<Value> {
    let read = |key: &str| ANNOTATIONS_READ.contains(&key) || names_annotation(key);
    let annotations = value.as_object()?.iter().filter(|(key, value)| read(key) && value.is_string());
    let kept: Map<String, Value> = annotations
        .map(|(key, value)| (key.clone(), without_secrets(value.as_str().unwrap_or_default()).into()))
        .collect();
    (!kept.is_empty()).then_some(Value::Object(kept))
}

/// `command` or `args`.
pub(super) fn words(value: &Value, policy: &Policy) -> Option<Value> {
    let words = value.as_array()?;
    let mut hides_next = false;
    let mut kept = Vec::with_capacity(words.len());
    for word in words {
        let word = word.as_str().unwrap_or_default();
        let is_flag = word.starts_with('-') && !word.contains(char::is_whitespace);
        kept.push(Value::String(if hides_next && !is_flag && !is_reference(word) {
            HIDDEN.to_owned()
        } else if policy.redact {
            redacted(word, is_flag)
        } else {
            without_secrets(word)
        }));
        hides_next = is_flag && !word.contains('=') && names_secret(word);
    }
    Some(Value::Array(kept))
}

/// In the place of a word that is left out. To whoever looks for checkpoints it is a variable that is not told, and not a
/// folder of that name.
const REDACTED: &str = "$(HIDDEN)";

/// A word of which no more than the name of a flag is kept.
fn redacted(word: &str, is_flag: bool) -> String {
    match word.split_once('=') {
        Some((name, _)) if is_flag => format!("{name}={REDACTED}"),
        None if is_flag => word.to_owned(),
        _ => REDACTED.to_owned(),
    }
}

/// A path in a container.
pub(super) fn path(value: &Value, _: &Policy) -> Option<Value> {
    value.as_str().map(|path| without_secrets(path).into())
}

/// That there is something, and nothing of what.
pub(super) fn nothing(value: &Value, _: &Policy) -> Option<Value> {
    value.is_object().then(|| json!({}))
}

/// A variable: its name, where its value comes from, and the value of one that tells of checkpoints.
pub(super) fn variable(value: &Value, policy: &Policy) -> Option<Value> {
    let name = value.get("name")?.as_str()?;
    let mut kept = Map::new();
    kept.insert("name".to_owned(), name.into());
    if let Some(from) = value.get("valueFrom").and_then(Value::as_object) {
        kept.insert("valueFrom".to_owned(), Value::Object(from.iter().map(source).collect()));
    } else if let Some(text) = value.get("value").and_then(Value::as_str) {
        let is_listed = is_sign_name(name) && !names_secret(name) && !policy.redact;
        let text = if is_listed || text.is_empty() { without_secrets(text) } else { NOT_RECORDED.to_owned() };
        kept.insert("value".to_owned(), text.into());
    }
    Some(Value::Object(kept))
}

/// Where a value comes from: of the pod's own fields which, of anything else only that it does.
fn source((from, value): (&String, &Value)) -> (String, Value) {
    let path = value.get("fieldPath").filter(|path| from == "fieldRef" && path.is_string());
    (from.clone(), path.map_or_else(|| json!({}), |path| json!({"fieldPath": path})))
}

/// A volume: what it is made of, as far as it tells whether what is written there stays.
pub(super) fn volume(value: &Value, _: &Policy) -> Option<Value> {
    let mut kept = Map::new();
    for (member, value) in value.as_object()? {
        let text = |name: &str| value.get(name).filter(|value| value.is_string()).cloned();
        let is_read_only = value.get("readOnly").filter(|value| value.is_boolean()).cloned();
        let mut of = Map::new();
        of.extend(is_read_only.map(|value| ("readOnly".to_owned(), value)));
        let names: &[&str] = match &**member {
            "name" => {
                kept.insert(member.clone(), value.as_str()?.into());
                continue;
            }
            "persistentVolumeClaim" => &["claimName"],
            "emptyDir" => &["medium"],
            "hostPath" => &["path"],
            "csi" => {
                of.extend(attributes(value).map(|kept| ("volumeAttributes".to_owned(), kept)));
                &["driver"]
            }
            _ => &[],
        };
        of.extend(names.iter().filter_map(|name| Some(((*name).to_owned(), text(name)?))));
        kept.insert(member.clone(), Value::Object(of));
    }
    Some(Value::Object(kept))
}

/// The bucket that a driver mounts, and whether it is mounted to be read alone.
fn attributes(csi: &Value) -> Option<Value> {
    let attributes = csi.get("volumeAttributes")?.as_object()?;
    let mut kept = Map::new();
    for name in ["bucketName", "bucket", "containerName"] {
        kept.extend(
            attributes.get(name).filter(|value| value.is_string()).map(|value| (name.to_owned(), value.clone())),
        );
    }
    let options = attributes.get("mountOptions").and_then(Value::as_str).unwrap_or_default();
    if options.split(',').any(|option| option.trim() == "ro") {
        kept.insert("mountOptions".to_owned(), "ro".into());
    }
    (!kept.is_empty()).then_some(Value::Object(kept))
}

/// A revision's template, to be compared with another: what may be shown stays, and of all else a mark that tells whether it
/// is the same.
pub(super) fn revision(template: &Value, policy: &Policy) -> Option<Value> {
    let mut kept = Map::new();
    let template = template.as_object()?;
    if let Some(spec) = template.get("spec") {
        kept.insert("spec".to_owned(), marked(spec, "", policy));
    }
    if let Some(metadata) = template.get("metadata") {
        let of = ["labels", "annotations"].into_iter();
        let marked = of.filter_map(|of| Some((of.to_owned(), marked(metadata.get(of)?, of, policy))));
        kept.insert("metadata".to_owned(), Value::Object(marked.collect()));
    }
    Some(Value::Object(kept))
}

/// The leaves are those of [`crate::model::Revision`], and so are their paths.
fn marked(value: &Value, path: &str, policy: &Policy) -> Value {
    match value {
        Value::Object(members) => {
            let marked = members.iter().map(|(key, value)| {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                (key.clone(), marked(value, &path, policy))
            });
            Value::Object(marked.collect())
        }
        Value::Array(items) if items.iter().any(|item| item.get("name").is_some()) => {
            let marked = items.iter().map(|item| match item {
                Value::Object(_) => marked(item, &format!("{path}[]"), policy),
                other => policy.marker.mark(&other.to_string()).into(),
            });
            Value::Array(marked.collect())
        }
        Value::Null => Value::Null,
        whole if may_be_shown(path) && !whole.is_array() => whole.clone(),
        whole => policy.marker.mark(&whole.to_string()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::secrets::Marker;
    use super::*;

    fn policy(redact: bool) -> Policy {
        Policy { redact, marker: Marker::new(&[7; 32]) }
    }

    #[test]
    fn a_flag_hides_the_word_behind_it() {
        let line = json!(["--token", "abc", "--save", "/ckpt", "--key", "$(KEY)", "--secret", "--x=1"]);
        let kept = words(&line, &policy(false)).unwrap();
        assert_eq!(kept, json!(["--token", HIDDEN, "--save", "/ckpt", "--key", "$(KEY)", "--secret", "--x=1"]));
    }

    #[test]
    fn redacted_lines_keep_the_names_of_flags() {
        let line = json!(["python", "train.py", "--save=/ckpt", "--lr", "3", "a=b"]);
        let kept = words(&line, &policy(true)).unwrap();
        assert_eq!(kept, json!([REDACTED, REDACTED, format!("--save={REDACTED}"), "--lr", REDACTED, REDACTED]));
    }

    #[test]
    fn values_of_variables_are_kept_by_name_alone() {
        let kept = |name: &str, redact: bool| variable(&json!({"name": name, "value": "/x"}), &policy(redact)).unwrap();
        assert_eq!(kept("CHECKPOINT_DIR", false), json!({"name": "CHECKPOINT_DIR", "value": "/x"}));
        assert_eq!(kept("CHECKPOINT_DIR", true)["value"], NOT_RECORDED);
        assert_eq!(kept("ANYTHING", false)["value"], NOT_RECORDED);
        let from = json!({"name": "N", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}});
        assert_eq!(variable(&from, &policy(false)).unwrap(), json!({"name": "N", "valueFrom": {"secretKeyRef": {}}}));
        let from = json!({"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}});
        assert_eq!(variable(&from, &policy(false)).unwrap(), from);
    }

    #[test]
    fn revisions_differ_where_their_templates_do_and_show_no_secret() {
        let template = |value: &str| {
            json!({"spec": {"containers": [{"name": "c", "image": "i:1", "args": [value],
            "env": [{"name": "TOKEN", "value": value}]}]}, "metadata": {"annotations": {"a": value}}})
        };
        let kept = |value: &str| revision(&template(value), &policy(false)).unwrap();
        assert_eq!(kept("hunter2"), kept("hunter2"));
        assert_ne!(kept("hunter2"), kept("hunter3"));
        assert!(!kept("hunter2").to_string().contains("hunter"));
        assert_eq!(kept("hunter2")["spec"]["containers"][0]["image"], "i:1");
    }
}
