//! Pods that are many and large, or cannot be seen at all.

use serde_json::{Value, json};

use super::job_set;
use crate::support::cluster::{Cluster, State};
use crate::support::{Reply, Request};

/// Pods that make a page too large where there are more of them in it.
const FIT: usize = 10;
/// More than is held of one answer.
const LARGE: usize = 17 << 20;

/// A page as the server makes it: at most `limit` objects from where `continue` says.
fn page(request: &Request, state: &State) -> Reply {
    let of_pods = |(path, _): &(&String, &Value)| path.starts_with(request.path());
    let pods: Vec<&Value> = state.objects.iter().filter(of_pods).map(|(_, pod)| pod).collect();
    let number = |name: &str| request.query(name).and_then(|text| text.parse::<usize>().ok());
    let (begin, limit) = (number("continue").unwrap_or(0), number("limit").unwrap());
    let end = pods.len().min(begin + limit);
    if end - begin > FIT {
        return Reply::json(200, format!(r#"{{"kind": "PodList", "items": ["{}"]}}"#, "x".repeat(LARGE)));
    }
    let rest = if end < pods.len() { end.to_string() } else { String::new() };
    let list =
        json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": rest}, "items": &pods[begin..end]});
    Reply::json(200, list.to_string())
}

fn is_list_of_pods(request: &Request) -> bool {
    request.method == "GET" && request.path().ends_with("/pods")
}

#[test]
fn a_page_that_is_too_large_is_asked_for_in_smaller_ones() {
    const PODS: usize = 40;
    let cluster = Cluster::with(|request, state| is_list_of_pods(request).then(|| page(request, state)));
    let path = job_set(&cluster, &json!({}), &json!({}), &json!({}));
    for number in 0..PODS {
        cluster.put(
            "pods",
            &json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("llama-w-0-{number:02}")},
                "status": {"phase": "Succeeded"},
            }),
        );
    }
    let ran = cluster.restart(&["jobset/llama", "--yes"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(cluster.object(&path).unwrap()["spec"]["suspend"], false);
    let saved = std::fs::read(cluster.folders()[0].join("pods.json")).unwrap();
    let saved: Value = serde_json::from_slice(&saved).unwrap();
    let names: Vec<&str> =
        saved["items"].as_array().unwrap().iter().map(|pod| pod["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!((names.len(), names[0], names[PODS - 1]), (PODS, "llama-w-0-00", "llama-w-0-39"));
}

#[test]
fn a_jobset_whose_pods_cannot_be_seen_is_not_suspended() {
    let cluster = Cluster::with(|request, _| {
        is_list_of_pods(request).then(|| Reply::status(403, "Forbidden", "no pods for you"))
    });
    let path = job_set(&cluster, &json!({}), &json!({}), &json!({}));
    cluster.restart(&["jobset/llama", "--yes"]).says(1, &["no pods for you"]);
    assert!(cluster.writes().is_empty(), "{:?}", cluster.writes());
    // For one that has ended they are only saved.
    job_set(&cluster, &json!({}), &json!({}), &json!({"terminalState": "Failed"}));
    let ran = cluster.restart(&["jobset/llama", "--yes"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("its pods are not known and not saved"), "{ran:?}");
    assert_ne!(cluster.object(&path).unwrap()["metadata"]["uid"], "set");
}

#[test]
fn what_is_looked_at_on_the_way_must_be_allowed_before_the_first_write() {
    let cluster = Cluster::start();
    cluster.state().forbidden = ["list pods".to_owned(), "get jobsets".to_owned()].into();
    job_set(&cluster, &json!({}), &json!({}), &json!({}));
    let missing = "get jobsets.jobset.x-k8s.io, list pods";
    cluster.restart(&["jobset/llama", "--yes"]).says(1, &["rights are missing in namespace ml", missing]);
    assert!(cluster.writes().is_empty(), "{:?}", cluster.writes());
}

/// Proxies answer in the place of servers.
#[test]
fn an_answer_that_is_no_object_ends_it_with_an_error() {
    for answer in ["[]", "\"x\"", "3", "null"] {
        for list in [true, false] {
            let cluster = Cluster::with(move |request, _| {
                let asked = if list { is_list_of_pods(request) } else { request.path().ends_with("/jobsets/llama") };
                (asked && request.method == "GET").then(|| Reply::json(200, answer))
            });
            job_set(&cluster, &json!({}), &json!({}), &json!({}));
            let ran = cluster.restart(&["jobset/llama", "--yes"]);
            assert_eq!(ran.code, Some(1), "{answer} {ran:?}");
            assert!(cluster.writes().is_empty(), "{:?}", cluster.writes());
        }
    }
}
