//! What holds for every recording: the order of the input does not matter, and nothing is shown that may be secret.

use std::path::Path;

use serde_json::{Value, json};
use sigapps::request::TargetKind;

use crate::support::{View, explanation, fixture, items_of, story_of};

/// What is planted: in no output may it be seen.
const SECRET: &str = "hunter2";

pub(crate) fn recordings() -> Vec<String> {
    let folder = std::fs::read_dir(fixture("recorded")).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".json")?.to_owned())).collect();
    names.sort();
    names
}

/// All that is told of some objects: the report, the lines, and the explanation of each workload, pod and node.
pub(crate) fn all_told(items: &[Value], folder: &Path) -> Vec<Value> {
    let path = folder.join("objects.json");
    std::fs::write(&path, json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()).unwrap();
    let story = story_of(&path, &View { all: true, ..View::default() });
    let mut subjects: Vec<String> = items
        .iter()
        .filter_map(|item| {
            let kind = TargetKind::ALL.into_iter().find(|kind| item["kind"] == kind.kind())?;
            Some(format!("{}/{}", kind.name(), item["metadata"]["name"].as_str()?))
        })
        .collect();
    subjects.sort();
    subjects.dedup();
    let explained = subjects.iter().filter_map(|subject| explanation(&path, subject).ok());
    let mut told = vec![story.report, json!(story.lines)];
    told.extend(explained);
    told
}

#[test]
fn the_order_of_the_objects_does_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    for name in recordings() {
        let mut items = items_of(&name);
        let told = all_told(&items, folder.path());
        items.reverse();
        assert_eq!(all_told(&items, folder.path()), told, "{name} backwards");
        let middle = items.len() / 2;
        items.rotate_left(middle);
        assert_eq!(all_told(&items, folder.path()), told, "{name} from the middle");
    }
}

/// Without Events, the versions of templates, or nodes less is told, and nothing breaks.
#[test]
fn what_is_not_in_the_data_breaks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for name in recordings() {
        for absent in [&["Event"][..], &["ReplicaSet", "ControllerRevision"], &["Node"], &["Pod"]] {
            let mut items = items_of(&name);
            items.retain(|item| !absent.iter().any(|kind| item["kind"] == *kind));
            all_told(&items, folder.path());
        }
    }
}

/// Variables, commands, arguments and annotations are where people write secrets.
#[test]
fn no_value_of_a_variable_an_argument_or_an_annotation_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    for name in recordings() {
        let mut items = items_of(&name);
        let mut planted = 0;
        for item in &mut items {
            plant(item, &mut planted);
        }
        for told in all_told(&items, folder.path()) {
            let told = told.to_string();
            let at = told.find(SECRET).map(|at| &told[at.saturating_sub(200)..told.len().min(at + 50)]);
            assert_eq!(at, None, "{name}");
        }
    }
}

/// Plants secrets in all containers and metadata, each another one, so that any two templates differ.
fn plant(value: &mut Value, planted: &mut u32) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| plant(value, planted)),
        Value::Object(fields) => {
            for list in ["containers", "initContainers"] {
                for container in fields.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                    *planted += 1;
                    push(container, "env", json!({"name": "DB_PASSWORD", "value": format!("{SECRET}-{planted}")}));
                    push(container, "args", json!(format!("--token={SECRET}-{planted}")));
                    push(container, "command", json!(format!("{SECRET}-{planted}")));
                }
            }
            if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
                *planted += 1;
                let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
                if let Value::Object(annotations) = annotations {
                    annotations.insert("example.com/token".into(), json!(format!("{SECRET}-{planted}")));
                }
            }
            fields.values_mut().for_each(|value| plant(value, planted));
        }
        _ => {}
    }
}

fn push(container: &mut Value, field: &str, value: Value) {
    let Value::Object(container) = container else { return };
    if let Value::Array(values) = container.entry(field).or_insert_with(|| json!([])) {
        values.push(value);
    }
}
