//! A change of the spec on the way from the old object to the new one: most of a Job or a `JobSet` is fixed once it is made.

use serde_json::{Map, Value};

/// Lists whose items are told apart by their name, as a strategic merge patch does.
/// Source: `patchStrategy` and `patchMergeKey` in Kubernetes `core/v1`; `listMapKey` in JobSet's types.
pub(super) const BY_NAME: [&str; 5] = ["containers", "initContainers", "env", "volumes", "replicatedJobs"];

/// A patch, as `--patch` takes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Patch {
    /// JSON patch operations (RFC 6902).
    Operations(json_patch::Patch),
    /// A merge patch (RFC 7396), but for lists of containers, variables, volumes and replicated Jobs: these are merged by name.
    Merge(Map<String, Value>),
}

impl std::str::FromStr for Patch {
    type Err = String;

    /// Reads a list as JSON patch operations, an object as a merge patch.
    fn from_str(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        match value {
            Value::Object(merge) => Ok(Self::Merge(merge)),
            operations @ Value::Array(_) => serde_json::from_value(operations)
                .map(Self::Operations)
                .map_err(|error| format!("it is no list of JSON patch operations: {error}")),
            _ => Err("it must be an object to merge, or a list of JSON patch operations".to_owned()),
        }
    }
}

impl std::fmt::Display for Patch {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Operations(operations) => operations.fmt(f),
            Self::Merge(patch) => Value::Object(patch.clone()).fmt(f),
        }
    }
}

/// In the place of a patch that is not printed. Whoever runs it as it stands is told that it is no JSON.
const LEFT_OUT: &str = "(the same JSON as before: not printed, as it has values of environment variables)";

impl Patch {
    /// The flag for commands that are printed, where others may read them: without the patch where it has values of
    /// environment variables, which may be secret.
    pub fn flag(&self) -> String {
        let has_values = match self {
            Self::Merge(patch) => has_values(&Value::Object(patch.clone())),
            Self::Operations(operations) => operations.iter().any(|operation| {
                let (path, value) = (operation.path().to_string(), serde_json::to_value(operation).unwrap_or_default());
                let value = value.get("value");
                value.is_some_and(|value| has_values(value) || path.split('/').any(|part| part == "env"))
            }),
        };
        if has_values { format!("--patch={LEFT_OUT}") } else { format!("--patch={self}") }
    }

    /// The object, changed. Its identity stays: a patch of name, namespace or kind is refused.
    pub(super) fn apply(&self, object: &Value) -> Result<Value, String> {
        let mut changed = object.clone();
        match self {
            Self::Operations(operations) => {
                json_patch::patch(&mut changed, operations)
                    .map_err(|error| format!("--patch does not fit: {error}"))?;
            }
            Self::Merge(patch) => merge(&mut changed, &Value::Object(patch.clone())),
        }
        for pointer in ["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace"] {
            if changed.pointer(pointer) != object.pointer(pointer) {
                return Err(format!("--patch must not change {}", pointer.trim_start_matches('/').replace('/', ".")));
            }
        }
        if changed == *object {
            return Err("--patch changes nothing".to_owned());
        }
        Ok(changed)
    }
}

/// Whether a variable with a value is anywhere in it.
fn has_values(value: &Value) -> bool {
    match value {
        Value::Object(fields) => {
            let variables = fields.get("env").and_then(Value::as_array).into_iter().flatten();
            variables.into_iter().any(|variable| variable.get("value").is_some()) || fields.values().any(has_values)
        }
        Value::Array(items) => items.iter().any(has_values),
        _ => false,
    }
}

fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *value = patch.clone();
        return;
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let Value::Object(fields) = value else { return };
    for (key, change) in patch {
        match (change, fields.get_mut(key)) {
            (Value::Null, _) => {
                fields.remove(key);
            }
            (Value::Array(changes), Some(Value::Array(items))) if BY_NAME.contains(&&**key) => {
                merge_by_name(items, changes);
            }
            (change, Some(field)) => merge(field, change),
            (change, None) => {
                let mut made = Value::Null;
                merge(&mut made, change);
                fields.insert(key.clone(), made);
            }
        }
    }
}

fn merge_by_name(items: &mut Vec<Value>, changes: &[Value]) {
    for change in changes {
        let name = change.get("name");
        match items.iter_mut().find(|item| name.is_some() && item.get("name") == name) {
            Some(item) => merge(item, change),
            None => items.push(change.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job() -> Value {
        json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "etl", "namespace": "ml"},
            "spec": {
                "podFailurePolicy": {"rules": [{"action": "Count"}]},
                "template": {"spec": {"containers": [
                    {"name": "side", "resources": {"limits": {"memory": "1Gi"}}},
                    {"name": "main", "image": "i", "resources": {"limits": {"memory": "1Gi", "cpu": "1"}}},
                ]}},
            },
        })
    }

    #[test]
    fn containers_are_merged_by_their_name_and_rules_replaced() {
        let patch: Patch = json!({"spec": {
            "podFailurePolicy": {"rules": [{"action": "Ignore"}]}, "backoffLimit": 2,
            "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": null, "resources": {"limits": {"memory": "2Gi"}}}]}},
        }})
        .to_string()
        .parse()
        .unwrap();
        let changed = patch.apply(&job()).unwrap();
        let containers = &changed["spec"]["template"]["spec"]["containers"];
        assert_eq!(containers[0], job()["spec"]["template"]["spec"]["containers"][0]);
        assert_eq!(containers[1], json!({"name": "main", "resources": {"limits": {"memory": "2Gi", "cpu": "1"}}}));
        assert_eq!(changed["spec"]["podFailurePolicy"]["rules"], json!([{"action": "Ignore"}]));
        assert_eq!(changed["spec"]["backoffLimit"], 2);
    }

    #[test]
    fn operations_are_those_of_json_patch() {
        let operations = json!([
            {"op": "add", "path": "/spec/podFailurePolicy/rules/0", "value": {"action": "Ignore"}},
            {"op": "add", "path": "/spec/template/spec/restartPolicy", "value": "Never"},
        ]);
        let changed = operations.to_string().parse::<Patch>().unwrap().apply(&job()).unwrap();
        assert_eq!(changed["spec"]["podFailurePolicy"]["rules"], json!([{"action": "Ignore"}, {"action": "Count"}]));
        assert_eq!(changed["spec"]["template"]["spec"]["restartPolicy"], "Never");
    }

    #[test]
    fn a_patch_is_repeated_only_without_values_of_variables() {
        let variables = r#"[{"name":"TOKEN","value":"s3cret"}]"#;
        for (patch, is_left_out) in [
            (r#"{"spec":{"backoffLimit":5}}"#.to_owned(), false),
            (r#"{"env":[{"name":"TOKEN","valueFrom":{"secretKeyRef":{"name":"s"}}}]}"#.to_owned(), false),
            (format!(r#"{{"spec":{{"containers":[{{"name":"main","env":{variables}}}]}}}}"#), true),
            (r#"[{"op":"replace","path":"/spec/containers/0/env/0/value","value":"s3cret"}]"#.to_owned(), true),
            (format!(r#"[{{"op":"add","path":"/spec/containers/0/env","value":{variables}}}]"#), true),
            (format!(r#"[{{"op":"add","path":"/spec/containers/0","value":{{"env":{variables}}}}}]"#), true),
            (r#"[{"op":"remove","path":"/spec/containers/0/env/0"}]"#.to_owned(), false),
        ] {
            let flag = patch.parse::<Patch>().unwrap().flag();
            assert!(flag.starts_with("--patch=") && !flag.contains("s3cret"), "{flag}");
            assert_eq!(flag.contains("not printed"), is_left_out, "{flag}");
            let again = flag["--patch=".len()..].parse::<Patch>();
            assert_eq!(again.is_err(), is_left_out, "{flag}");
        }
    }

    #[test]
    fn what_does_not_fit_is_said() {
        for (patch, said) in [
            ("{", "it is not JSON"),
            ("3", "must be an object"),
            (r#"[{"op": "turn", "path": "/spec"}]"#, "no list of JSON patch operations"),
        ] {
            assert!(patch.parse::<Patch>().unwrap_err().contains(said), "{patch}");
        }
        for (patch, said) in [
            (r#"[{"op": "move", "from": "/spec/nothing", "path": "/spec/x"}]"#, "does not fit"),
            (r#"{"metadata": {"name": "other"}}"#, "must not change metadata.name"),
            (r#"[{"op": "remove", "path": "/kind"}]"#, "must not change kind"),
            ("{}", "changes nothing"),
        ] {
            assert!(patch.parse::<Patch>().unwrap().apply(&job()).unwrap_err().contains(said), "{patch}");
        }
    }
}
