//! Fields of objects that are kept whole, as what is not known of them must survive.

use serde_json::{Map, Value};

/// The text at a JSON pointer, or an empty one.
pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The number at a JSON pointer, where there is one.
pub(super) fn number(value: &Value, pointer: &str) -> Option<i64> {
    value.pointer(pointer).and_then(Value::as_i64)
}

/// The list at a JSON pointer, or an empty one.
pub(super) fn array<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The items of the list at a JSON pointer, to be changed.
pub(super) fn array_mut<'a>(value: &'a mut Value, pointer: &str) -> impl Iterator<Item = &'a mut Value> {
    value.pointer_mut(pointer).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Whether `true` stands at a JSON pointer.
pub(super) fn is_set(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer) == Some(&Value::Bool(true))
}

/// Sets a field below the objects that `path` leads through, which are made where they are missing.
///
/// A patch can leave something else in their place. That stays as it is, for the server to say what is wrong with it.
pub(super) fn set(value: &mut Value, path: &[&str], to: impl Into<Value>) {
    let mut at = value;
    for key in path {
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
        let Value::Object(fields) = at else { return };
        at = fields.entry(*key).or_insert(Value::Null);
    }
    *at = to.into();
}

pub(super) fn uid(object: &Value) -> &str {
    text(object, "/metadata/uid")
}

pub(super) fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

pub(super) fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get("metadata")?.get("labels")?.get(key)?.as_str()
}

pub(super) fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get("metadata")?.get("annotations")?.get(key)?.as_str()
}

/// The first of these conditions that is True.
pub(super) fn condition<'a>(object: &'a Value, kinds: &[&str]) -> Option<&'a Value> {
    let mut all = array(object, "/status/conditions").iter();
    all.find(|condition| kinds.contains(&text(condition, "/type")) && text(condition, "/status") == "True")
}

pub(super) fn is_being_deleted(object: &Value) -> bool {
    !text(object, "/metadata/deletionTimestamp").is_empty()
}

/// The owner that controls the object.
pub(super) fn controller(object: &Value) -> Option<&Value> {
    array(object, "/metadata/ownerReferences").iter().find(|owner| is_set(owner, "/controller"))
}

/// Whether the object with this uid controls it.
pub(super) fn is_controlled_by(object: &Value, owner: &str) -> bool {
    controller(object).is_some_and(|controller| text(controller, "/uid") == owner)
}

/// Whether a pod's containers have all ended for good.
pub(super) fn is_over(pod: &Value) -> bool {
    matches!(text(pod, "/status/phase"), "Succeeded" | "Failed")
}

/// Whether a pod is ready.
pub(super) fn is_ready(pod: &Value) -> bool {
    !is_being_deleted(pod) && condition(pod, &["Ready"]).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_is_set_where_objects_lead_to_it() {
        for (before, after) in [
            (json!({}), json!({"spec": {"suspend": true}})),
            (json!({"spec": null}), json!({"spec": {"suspend": true}})),
            (json!({"spec": {"a": 1, "suspend": "x"}}), json!({"spec": {"a": 1, "suspend": true}})),
            (json!({"spec": "x"}), json!({"spec": "x"})),
            (json!({"spec": [1]}), json!({"spec": [1]})),
            (json!("x"), json!("x")),
        ] {
            let mut value = before.clone();
            set(&mut value, &["spec", "suspend"], true);
            assert_eq!(value, after, "{before}");
        }
    }
}
