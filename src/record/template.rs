//! What is kept of pod templates: enough to tell where checkpoints are written, and whether two revisions differ.

use serde_json::{Map, Value, json};

use super::keep::Policy;
use super::secrets::{CommandLine, HIDDEN, names_secret, redacted, without_queries, without_secrets};
use super::shapes;
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

/// A container of a template. Its `command` and `args` are one line: a flag may end the first and its value begin the other.
pub(super) fn container(value: &Value, policy: &Policy) -> Option<Value> {
    let Value::Object(mut kept) = shapes::TEMPLATE_CONTAINER.reduce(value, policy)? else { return None };
    let mut line = CommandLine::new();
    for part in ["command", "args"] {
        let Some(words) = value.get(part).and_then(Value::as_array) else { continue };
        let words: Vec<String> = words.iter().map(|word| word.as_str().unwrap_or_default().to_owned()).collect();
        if part == "command" {
            line.begins(&words);
        }
        // What a word hides in the next one, it hides whatever is kept of either.
        let hidden = words.iter().map(|word| {
            let shown = line.word(word);
            Value::String(if policy.redact && shown != HIDDEN { redacted(word) } else { shown })
        });
        kept.insert(part.to_owned(), Value::Array(hidden.collect()));
    }
    Some(Value::Object(kept))
}

/// Labels, as selectors may ask for any; of those that are named like a secret, and are not Kubernetes' own, that they are there.
pub(super) fn labels(value: &Value, _: &Policy) -> Option<Value> {
    let labels = value.as_object()?.iter().filter_map(|(key, value)| {
        let text = value.as_str()?;
        let (domain, name) = key.rsplit_once('/').unwrap_or(("", key));
        let is_own = domain.ends_with("k8s.io") || domain.ends_with("kubernetes.io");
        let hides = !is_own && names_secret(name) && !text.is_empty();
        Some((key.clone(), Value::String(if hides { HIDDEN.to_owned() } else { without_secrets(text) })))
    });
    Some(Value::Object(labels.collect()))
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
        let shown = || without_queries(&without_secrets(text));
        let text = if is_listed || text.is_empty() { shown() } else { NOT_RECORDED.to_owned() };
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

    fn line(command: &Value, args: &Value, redact: bool) -> (Value, Value) {
        let container = json!({"name": "c", "command": command, "args": args});
        let mut kept = container_of(&container, redact);
        (kept["command"].take(), kept["args"].take())
    }

    fn container_of(container: &Value, redact: bool) -> Value {
        super::container(container, &policy(redact)).unwrap()
    }

    #[test]
    fn a_flag_hides_the_whole_word_behind_it() {
        let args = json!(["--token", "abc", "--save", "/ckpt", "--key", "$(KEY)", "--secret", "-x=1", "--lr=3"]);
        let kept = line(&json!(null), &args, false).1;
        let expected = json!(["--token", HIDDEN, "--save", "/ckpt", "--key", "$(KEY)", "--secret", HIDDEN, "--lr=3"]);
        assert_eq!(kept, expected);
        let (command, args) = line(&json!(["run", "--token"]), &json!(["abc", "def"]), false);
        assert_eq!((command, args), (json!(["run", "--token"]), json!([HIDDEN, "def"])));
    }

    #[test]
    fn redacted_lines_keep_the_names_of_long_flags_alone() {
        let args = json!([
            "python",
            "train.py",
            "--save=/ckpt",
            "--lr",
            "3",
            "a=b",
            "-pS3cret",
            "--S3cret",
            "-x",
            "--token",
            "--abc"
        ]);
        let kept = line(&json!(null), &args, true).1;
        let hidden = "$(HIDDEN)";
        let save = format!("--save={hidden}");
        assert_eq!(
            kept,
            json!([hidden, hidden, save, "--lr", hidden, hidden, hidden, hidden, hidden, "--token", HIDDEN])
        );
    }

    #[test]
    fn labels_named_like_a_secret_lose_their_values_and_kubernetes_own_do_not() {
        let kept = labels(&json!({"token": "abc", "app": "x", "jobset.sigs.k8s.io/job-key": "1a"}), &policy(false));
        assert_eq!(kept.unwrap(), json!({"token": HIDDEN, "app": "x", "jobset.sigs.k8s.io/job-key": "1a"}));
    }

    #[test]
    fn values_of_variables_are_kept_by_name_alone() {
        let kept = |name: &str, redact: bool| variable(&json!({"name": name, "value": "/x"}), &policy(redact)).unwrap();
        assert_eq!(kept("CHECKPOINT_DIR", false), json!({"name": "CHECKPOINT_DIR", "value": "/x"}));
        assert_eq!(kept("CHECKPOINT_DIR", true)["value"], NOT_RECORDED);
        assert_eq!(kept("ANYTHING", false)["value"], NOT_RECORDED);
        let signed = json!({"name": "CHECKPOINT_DIR", "value": "https://h/c?x=hunter2&X-Amz-Signature=hunter2"});
        assert_eq!(variable(&signed, &policy(false)).unwrap()["value"], "https://h/c?(hidden)");
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
