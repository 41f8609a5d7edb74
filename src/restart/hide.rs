//! Values of environment variables are taken out of what is saved, wherever they are.

use serde_json::{Map, Value};

/// In the place of an environment variable's value.
pub(super) const NOT_SAVED: &str = "(not saved: it may be a secret)";

/// How base64 begins of what is packed: gzip, as Rancher keeps what it applied; zip, as Banzai Cloud's operators do; zstd;
/// zlib; and of JSON and YAML that is not packed.
const ENCODED: [&str; 6] = ["H4sI", "UEsD", "KLUv/", "eJ", "eyJ", "YXBpVmVyc2lvbj"];

/// Wherever containers are: in pods, in templates, in templates of templates, in manifests that annotations hold.
pub(super) fn hide_values(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for variable in fields.get_mut("env").and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(variable) = variable.as_object_mut() {
                    hide_value(variable);
                }
            }
            if fields.get("path").and_then(Value::as_str).is_some_and(|path| path.split('/').any(|key| key == "env")) {
                hide_value(fields);
            }
            let annotations = fields.get_mut("annotations").and_then(Value::as_object_mut);
            annotations.into_iter().flat_map(Map::values_mut).for_each(hide_in_annotation);
            fields.values_mut().for_each(hide_values);
        }
        Value::Array(items) => items.iter_mut().for_each(hide_values),
        _ => {}
    }
}

/// Of a variable, or of a JSON patch operation that sets one.
fn hide_value(fields: &mut Map<String, Value>) {
    if let Some(value) = fields.get_mut("value") {
        *value = NOT_SAVED.into();
    }
}

/// Not kubectl alone keeps the whole manifest there: kapp, Rancher and many operators do, each under a key of its own.
fn hide_in_annotation(annotation: &mut Value) {
    let Value::String(text) = annotation else { return };
    match serde_json::from_str::<Value>(text) {
        Ok(held) if held.is_object() || held.is_array() => {
            let mut hidden = held.clone();
            hide_values(&mut hidden);
            if hidden != held {
                *text = hidden.to_string();
            }
        }
        _ if may_hold_variables(text) => NOT_SAVED.clone_into(text),
        _ => {}
    }
}

/// Whether a text that is no JSON may be a manifest: YAML that mentions variables, or something encoded.
fn may_hold_variables(text: &str) -> bool {
    let is_structured = text.contains('\n') || text.starts_with(['{', '[']);
    (is_structured && text.contains("env")) || ENCODED.iter().any(|beginning| text.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(annotation: &str) -> String {
        let mut object = json!({"metadata": {"annotations": {"example.com/original": annotation}}});
        hide_values(&mut object);
        object["metadata"]["annotations"]["example.com/original"].as_str().unwrap().to_owned()
    }

    #[test]
    fn manifests_in_annotations_lose_the_values_and_nothing_else() {
        let manifest = |value: &str| {
            json!({"kind": "Job", "spec": {"template": {"spec": {"containers": [
                {"image": "i", "env": [{"name": "TOKEN", "value": value}]}]}}}})
        };
        let (held, hidden) = (manifest("s3cret"), manifest(NOT_SAVED));
        assert_eq!(shown(&held.to_string()), hidden.to_string());
        assert_eq!(shown(&json!([held]).to_string()), json!([hidden]).to_string());
        // One tool keeps what another has kept.
        let twice = |manifest: &Value| json!({"metadata": {"annotations": {"a": manifest.to_string()}}}).to_string();
        assert_eq!(shown(&twice(&held)), twice(&hidden));
        let operation = |value: &str| json!([{"op": "add", "path": "/spec/env/0/value", "value": value}]).to_string();
        assert_eq!(shown(&operation("s3cret")), operation(NOT_SAVED));
    }

    #[test]
    fn what_cannot_be_looked_into_is_not_saved() {
        use base64::Engine as _;
        let encoded = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
        for text in [
            "spec:\n  env:\n  - name: TOKEN\n    value: s3cret\n",
            "{spec: {env: [{name: TOKEN, value: s3cret}]}}",
            "- op: add\n  path: /spec/env/0/value\n  value: s3cret",
            &encoded(&[0x1f, 0x8b, 8, 0, 0]),
            &encoded(b"PK\x03\x04"),
            &encoded(&[0x28, 0xb5, 0x2f, 0xfd]),
            &encoded(&[0x78, 0x9c, 1]),
            &encoded(b"{\"spec\":1}"),
            &encoded(b"apiVersion: v1"),
        ] {
            assert_eq!(shown(text), NOT_SAVED, "{text}");
        }
    }

    #[test]
    fn other_annotations_stay_as_they_are() {
        for text in [
            "kept",
            "env: prod",
            "line\nline",
            "3",
            "{\"name\": \"eth0\",  \"default\": true}",
            "{\"env\": \"prod\"}",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "",
        ] {
            assert_eq!(shown(text), text);
        }
    }
}
