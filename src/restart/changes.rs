//! What `--patch` changes, field by field, so that a mistyped name is seen before anything is done.

use serde_json::{Value, json};

use super::hide::hide_values;
use super::patch::BY_NAME;
use super::plan::Plan;

/// More lines would not be read by a person either.
const MOST: usize = 20;
/// The longest value that is shown whole.
const LONGEST: usize = 80;
/// In the place of an environment variable's value.
const NOT_SHOWN: &str = "(not shown: it may be a secret)";

/// Says each difference between what would be made without the change and with it.
pub(super) fn notice(plan: &mut Plan, before: &Value, after: &Value) {
    let mut lines = Vec::new();
    compare("", Some(before), Some(after), &mut lines);
    if lines.is_empty() {
        plan.note("the new one is changed by --patch: the order of a list");
    }
    let more = lines.len().saturating_sub(MOST);
    for line in lines.into_iter().take(MOST) {
        plan.note(format!("the new one is changed by --patch: {line}"));
    }
    if more > 0 {
        plan.note(format!("the new one is changed by --patch: {more} more fields; manifest.json has them all"));
    }
}

fn compare(path: &str, before: Option<&Value>, after: Option<&Value>, lines: &mut Vec<String>) {
    match (before, after) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let added = new.keys().filter(|key| !old.contains_key(*key));
            for key in old.keys().chain(added) {
                compare(&member(path, key), old.get(key), new.get(key), lines);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) if is_by_name(path) => by_name(path, old, new, lines),
        (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() => {
            for (position, (old, new)) in old.iter().zip(new).enumerate() {
                compare(&format!("{path}[{position}]"), Some(old), Some(new), lines);
            }
        }
        (before, after) if before == after => {}
        (Some(before), Some(after)) => lines.push(format!("{path}: {} -> {}", shown(path, before), shown(path, after))),
        (Some(before), None) => lines.push(format!("{path} is removed, it was {}", shown(path, before))),
        (None, Some(after)) => lines.push(format!("{path} is added: {}", shown(path, after))),
        (None, None) => {}
    }
}

/// An item with a name that none had is added, which a mistyped name does as well: the names that were there are said.
fn by_name(path: &str, old: &[Value], new: &[Value], lines: &mut Vec<String>) {
    let there: Vec<&str> = old.iter().filter_map(item_name).collect();
    let mut names = there.clone();
    for name in new.iter().filter_map(item_name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let named = |items: &'_ [Value]| items.iter().find(|item| item_name(item) == Some(name)).cloned();
        let (before, after) = (named(old), named(new));
        compare(&format!("{path}[name={name}]"), before.as_ref(), after.as_ref(), lines);
        if let Some(line) = lines.last_mut().filter(|_| before.is_none() && !there.is_empty()) {
            line.push_str("; no item had this name, those that were there are ");
            line.push_str(&there.join(", "));
        }
    }
}

fn item_name(item: &Value) -> Option<&str> {
    item.get("name")?.as_str()
}

fn is_by_name(path: &str) -> bool {
    BY_NAME.contains(&path.rsplit('.').next().unwrap_or_default())
}

fn member(path: &str, key: &str) -> String {
    match path {
        "" => key.to_owned(),
        // Keys of labels and annotations have dots and slashes of their own.
        _ if key.contains(['.', '/', '[']) => format!("{path}[{key}]"),
        _ => format!("{path}.{key}"),
    }
}

/// A value as JSON, cut where it is long, without the values of environment variables.
fn shown(path: &str, value: &Value) -> String {
    let text = match path.rsplit('.').next().unwrap_or_default() {
        "value" if path.contains(".env[name=") => return NOT_SHOWN.to_owned(),
        // What is hidden is told by the field that holds it.
        "annotations" => without_values(&json!({"annotations": value}))["annotations"].to_string(),
        _ if path.contains("annotations[") || path.contains("annotations.") => {
            without_values(&json!({"annotations": {"a": value}}))["annotations"]["a"].to_string()
        }
        "env" => without_values(&json!({"env": value}))["env"].to_string(),
        last if last.starts_with("env[name=") => without_values(&json!({"env": [value]}))["env"][0].to_string(),
        _ => without_values(value).to_string(),
    };
    if text.chars().count() <= LONGEST {
        return text;
    }
    format!("{}…", text.chars().take(LONGEST).collect::<String>())
}

fn without_values(value: &Value) -> Value {
    let mut value = value.clone();
    hide_values(&mut value);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(before: &Value, after: &Value) -> Vec<String> {
        let mut plan = Plan::default();
        notice(&mut plan, before, after);
        let lead = "the new one is changed by --patch: ";
        plan.notes.iter().map(|line| line.strip_prefix(lead).unwrap_or("?").to_owned()).collect()
    }

    fn container(name: &str, image: &str, env: &Value) -> Value {
        json!({"name": name, "image": image, "env": env})
    }

    #[test]
    fn every_field_is_told_by_its_path_with_the_old_value_and_the_new_one() {
        let before =
            json!({"spec": {"backoffLimit": 2, "suspend": true, "containers": [container("main", "i:1", &json!([]))]}});
        let mut after = before.clone();
        after["spec"]["containers"][0]["image"] = "i:2".into();
        after["spec"]["containers"][0]["args"] = json!(["a"]);
        after["spec"]["backoffLimit"] = 5.into();
        after["spec"].as_object_mut().unwrap().remove("suspend");
        after["metadata"] = json!({"labels": {"a.b/c": "d"}});
        let mut lines = told(&before, &after);
        lines.sort();
        let expected = [
            "metadata is added: {\"labels\":{\"a.b/c\":\"d\"}}",
            "spec.backoffLimit: 2 -> 5",
            "spec.containers[name=main].args is added: [\"a\"]",
            "spec.containers[name=main].image: \"i:1\" -> \"i:2\"",
            "spec.suspend is removed, it was true",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn an_item_that_is_added_by_a_mistyped_name_stands_out() {
        let before = json!({"containers": [container("main", "i:1", &json!([]))]});
        let mut after = before.clone();
        after["containers"].as_array_mut().unwrap().push(json!({"name": "mian", "image": "i:2"}));
        let lines = told(&before, &after);
        assert!(lines.len() == 1 && lines[0].starts_with("containers[name=mian] is added: {"), "{lines:?}");
        assert!(lines[0].ends_with("; no item had this name, those that were there are main"), "{lines:?}");
    }

    #[test]
    fn values_of_variables_are_not_told() {
        let variable = |value: &str| json!([{"name": "TOKEN", "value": value}]);
        let made = |env: &Value| json!({"spec": {"containers": [container("main", "i", env)]}});
        let held = made(&variable("s3cret")).to_string();
        let bare = json!({"spec": {"containers": [{"name": "main", "image": "i"}]}});
        for (before, after) in [
            (made(&variable("s3cret-1")), made(&variable("s3cret-2"))),
            (made(&json!([])), made(&variable("s3cret"))),
            (bare.clone(), made(&variable("s3cret"))),
            (json!({"spec": {}}), made(&variable("s3cret"))),
            (made(&variable("s3cret")), bare),
            (json!({"metadata": {"annotations": {"a": "b"}}}), json!({"metadata": {"annotations": {"a": held}}})),
            (json!({"metadata": {}}), json!({"metadata": {"annotations": {"a": held}}})),
        ] {
            let lines = told(&before, &after);
            assert!(!lines.is_empty() && lines.iter().all(|line| !line.contains("s3cret")), "{lines:?}");
        }
    }

    #[test]
    fn long_values_and_lists_are_cut() {
        let many = |value: i32| (0..30).map(|key| (format!("k{key}"), json!(value))).collect::<Value>();
        let lines = told(&many(1), &many(2));
        assert!(lines.len() == MOST + 1 && lines[MOST].starts_with("10 more"), "{lines:?}");
        let lines = told(&json!({"a": ""}), &json!({"a": "x".repeat(500)}));
        assert!(lines[0].len() < 200 && lines[0].ends_with('…'), "{lines:?}");
    }
}
