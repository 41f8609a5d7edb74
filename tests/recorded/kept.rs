//! What `record` keeps of an object: all that is told comes from it, and nothing that may be secret is in it.

use serde_json::{Value, json};
use sigapps::record::{Marker, Policy};

use crate::order_and_secrets::{all_told, recordings};
use crate::support::items_of;

const SECRET: &str = "hunter2";

fn policy(redact: bool) -> Policy {
    Policy { redact, marker: Marker::new(&[7; 32]) }
}

/// The objects as they are recorded; those of kinds that are not are left out.
fn kept(items: &[Value], policy: &Policy) -> Vec<Value> {
    let keep = |item: &Value| policy.keep(item["kind"].as_str()?, item["apiVersion"].as_str()?, item);
    items.iter().filter_map(keep).map(|kept| serde_json::to_value(kept).unwrap()).collect()
}

/// The proof that no field is missing.
#[test]
fn all_that_is_told_of_an_object_is_told_of_what_is_kept_of_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in recordings() {
        let mut items = items_of(&name);
        // Namespaces and the like are counted as ignored, and not recorded.
        items.retain(|item| !kept(std::slice::from_ref(item), &policy(false)).is_empty());
        let mut recorded = kept(&items, &policy(false));
        // Heartbeats tell as of when a dump was taken, and are not kept: a recording tells that itself. Here an Event does, which
        // is about nothing that is told.
        let clock = json!({
            "kind": "Event", "apiVersion": "v1", "metadata": {"name": "clock", "namespace": "clock", "uid": "clock"},
            "involvedObject": {"kind": "Clock", "name": "clock", "namespace": "clock"}, "lastTimestamp": newest(&items),
        });
        items.push(clock.clone());
        recorded.push(clock);
        for (of_recorded, of_whole) in all_told(&recorded, folder.path()).iter().zip(all_told(&items, folder.path())) {
            assert_eq!(of_recorded.to_string(), of_whole.to_string(), "{name}");
        }
    }
}

/// The newest time that the tool finds in some objects.
fn newest(items: &[Value]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("objects.json");
    std::fs::write(&path, json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()).unwrap();
    let paths = [path.to_str().unwrap().to_owned()];
    let snapshot = sigapps::source::file::read(&paths, sigapps::source::Filter::default(), &mut |_| {}).unwrap();
    snapshot.newest.unwrap().to_string()
}

/// A secret in each place where people write them, and in every field that nobody has heard of.
#[test]
fn no_secret_is_kept_wherever_it_is() {
    for name in recordings() {
        for redact in [false, true] {
            let mut items = items_of(&name);
            for item in &mut items {
                plant(item, redact);
            }
            for item in kept(&items, &policy(redact)) {
                let text = item.to_string();
                let at = text.find(SECRET).map(|at| &text[at.saturating_sub(200)..text.len().min(at + 50)]);
                assert_eq!(at, None, "{name}, redact {redact}");
            }
        }
    }
}

fn plant(value: &mut Value, redact: bool) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| plant(value, redact)),
        Value::Object(fields) => {
            for list in ["containers", "initContainers"] {
                for container in fields.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                    plant_in_container(container, redact);
                }
            }
            if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
                let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
                annotations["kubectl.kubernetes.io/last-applied-configuration"] =
                    json!({"x": SECRET}).to_string().into();
                annotations["example.com/token"] = SECRET.into();
                metadata.insert("managedFields".into(), json!([{"manager": SECRET}]));
            }
            for terminated in fields.get_mut("terminated").into_iter().filter(|it| it.is_object()) {
                let words = if redact { SECRET.to_owned() } else { format!("GET https://me:{SECRET}@host/") };
                terminated["message"] = words.into();
            }
            if let Some(Value::Array(volumes)) = fields.get_mut("volumes") {
                volumes.push(json!({"name": "v", "csi": {"driver": "d", "volumeAttributes": {"secret": SECRET, "mountOptions": SECRET}}}));
                volumes.push(json!({"name": "w", "secret": {"secretName": "s", "items": [{"key": SECRET}]}}));
                volumes.push(json!({"name": "x", "cephfs": {"user": SECRET, "readOnly": true}}));
            }
            fields.values_mut().for_each(|value| plant(value, redact));
            fields.insert("unheardOf".into(), json!({"deep": [SECRET]}));
        }
        _ => {}
    }
}

fn plant_in_container(container: &mut Value, redact: bool) {
    let command = format!("export DB_PASSWORD={SECRET} && curl -H 'Authorization: Bearer {SECRET}0123456789' x");
    let mut args = vec![format!("--token={SECRET}"), "--api-key".to_owned(), SECRET.to_owned()];
    args.push(format!("s3://user:{SECRET}@bucket/run"));
    if redact {
        args.push(format!("run {SECRET}"));
    }
    container["env"] = json!([
        {"name": "DB_PASSWORD", "value": SECRET},
        {"name": "ANYTHING", "value": SECRET},
        {"name": "FROM", "valueFrom": {"secretKeyRef": {"name": SECRET, "key": SECRET}}},
    ]);
    container["command"] = json!(["sh", "-c", command]);
    container["args"] = json!(args);
    container["envFrom"] = json!([{"secretRef": {"name": SECRET}}]);
    container["livenessProbe"] = json!({"httpGet": {"httpHeaders": [{"name": "Authorization", "value": SECRET}]}});
    container["lifecycle"] = json!({"preStop": {"exec": {"command": [SECRET]}}});
}
