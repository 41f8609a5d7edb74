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

impl Patch {
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
