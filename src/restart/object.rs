//! Fields of objects that are kept whole, as what is not known of them must survive.

use serde_json::Value;

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

/// Whether `true` stands at a JSON pointer.
pub(super) fn is_set(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer) == Some(&Value::Bool(true))
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

/// Whether a pod's containers have all ended for good.
pub(super) fn is_over(pod: &Value) -> bool {
    matches!(text(pod, "/status/phase"), "Succeeded" | "Failed")
}

/// Whether a pod is ready.
pub(super) fn is_ready(pod: &Value) -> bool {
    !is_being_deleted(pod) && condition(pod, &["Ready"]).is_some()
}
