//! Objects as a later version of the API may write them.

use serde_json::{Map, Value, json};

/// Members whose keys are names that somebody chose, and no fields of the API.
const NAMES: [&str; 9] =
    ["labels", "annotations", "matchLabels", "nodeSelector", "limits", "requests", "capacity", "allocatable", "data"];

/// Puts fields that nobody knows into each object, at any depth.
pub(crate) fn with_unknown_fields(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(with_unknown_fields),
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut().filter(|(name, _)| !NAMES.contains(&name.as_str())) {
                if name != "managedFields" {
                    with_unknown_fields(value);
                }
            }
            let mut new = Map::new();
            // Before and behind the known ones, as the order of members tells nothing.
            new.insert("aFieldOfTomorrow".to_owned(), json!({"deep": [1, {"x": null}, "y"], "spec": {"name": 3}}));
            new.append(fields);
            new.insert("zFieldOfTomorrow".to_owned(), json!([[], {}, 1.5, true]));
            *fields = new;
        }
        _ => {}
    }
}
