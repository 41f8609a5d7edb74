//! The kinds beside Jobs.

use serde_json::{Value, json};

use super::{failed_job, job, job_set};
use crate::support::Reply;
use crate::support::cluster::Cluster;

#[test]
fn kept_jobs_get_a_sibling_with_a_new_name() {
    let cluster = Cluster::start();
    let path = failed_job(&cluster);
    let mut job = cluster.object(&path).unwrap();
    job["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": "{}", "note": "x"});
    cluster.put("jobs", &job);
    let dry = cluster.restart(&["job/etl", "--keep"]);
    assert!(dry.stdout.contains("is that of this dry run: each run makes a new one"), "{dry:?}");
    let before = cluster.writes().len();
    let ran = cluster.restart(&["job/etl", "--keep", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.stdout.contains("of this dry run"), "{ran:?}");
    assert_eq!(cluster.object(&path), Some(job));
    let writes = cluster.writes().split_off(before);
    let [dry, real] = &writes[..] else { panic!("{writes:?}") };
    assert_eq!(dry, &format!("dry {real}"));
    let name = real.strip_prefix("POST ").unwrap();
    assert!(name.starts_with("etl-"), "{name}");
    let made = cluster.object(&path.replace("/etl", &format!("/{name}"))).unwrap();
    assert_eq!(made["metadata"]["annotations"], json!({"note": "x"}));
}

#[test]
fn what_is_made_again_takes_a_change_by_the_containers_name() {
    let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "i:2"}]}}}});
    for keep in [false, true] {
        let cluster = Cluster::start();
        failed_job(&cluster);
        let argument = format!("--patch={patch}");
        let mut arguments = vec!["job/etl", "--yes", &argument];
        arguments.extend(keep.then_some("--keep"));
        let ran = cluster.restart(&arguments);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(
            ran.stdout.contains("the new one is changed by --patch: spec.template.spec.containers[name=main].image")
        );
        let requests = cluster.api.requests();
        let created: Vec<&Value> = requests
            .iter()
            .filter(|request| request.method == "POST" && request.body["kind"] == "Job")
            .map(|request| &request.body)
            .collect();
        assert!(created.len() == 2, "a dry run first");
        for body in created {
            let containers = &body["spec"]["template"]["spec"]["containers"];
            let expected = json!([{"name": "main", "image": "i:2", "env": [{"name": "TOKEN", "value": "s3cret"}]}]);
            assert_eq!(*containers, expected);
            assert_eq!(body["spec"]["fieldOfTomorrow"], json!({"kept": true}));
        }
    }
}

/// What is printed may be kept in the logs of a pipeline.
#[test]
fn values_of_variables_in_a_patch_are_not_printed_again() {
    let variable = json!({"name": "TOKEN", "value": "n3w-s3cret"});
    let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "env": [variable]}]}}}});
    let argument = format!("--patch={patch}");
    let running = json!({"conditions": [{"type": "FailureTarget", "status": "True"}]});
    for (arguments, is_running) in [(&[][..], false), (&["-o", "json"], false), (&["--yes"], false), (&["--yes"], true)]
    {
        let cluster = Cluster::start();
        let path = failed_job(&cluster);
        if is_running {
            cluster.state().objects.get_mut(&path).unwrap()["status"] = running.clone();
        }
        let ran = cluster.restart(&[&["job/etl", &argument], arguments].concat());
        assert!(!ran.stdout.contains("s3cret") && !ran.stderr.contains("s3cret"), "{ran:?}");
        let said = if is_running { &ran.stderr } else { &ran.stdout };
        assert_eq!(
            said.contains("the same JSON as before: not printed"),
            arguments != ["--yes"] || is_running,
            "{ran:?}"
        );
    }
}

#[test]
fn a_cronjob_is_run_once_more() {
    let cluster = Cluster::start();
    cluster.put(
        "cronjobs",
        &json!({
            "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "backup", "namespace": "ml", "uid": "cron"},
            "spec": {"concurrencyPolicy": "Forbid", "jobTemplate": {"spec": {"template": {}}}},
            "status": {"active": [{"name": "backup-29"}]},
        }),
    );
    let ran = cluster.restart(&["cj/backup", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("concurrencyPolicy Forbid does not hold"), "{ran:?}");
    assert!(ran.stdout.contains("active now: backup-29"), "{ran:?}");
    let made = cluster.state().objects.values().find(|object| object["kind"] == "Job").cloned().unwrap();
    assert_eq!(made["metadata"]["annotations"]["cronjob.kubernetes.io/instantiate"], "manual");
    assert_eq!(made["metadata"]["ownerReferences"][0]["uid"], "cron");
}

/// The failed run that is looked into is deleted as soon as another one has failed.
#[test]
fn a_cronjobs_run_that_the_new_one_pushes_out_is_named_and_saved() {
    let cluster = Cluster::start();
    cluster.put(
        "cronjobs",
        &json!({
            "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "backup", "namespace": "ml", "uid": "cron"},
            "spec": {"failedJobsHistoryLimit": 1, "successfulJobsHistoryLimit": 3, "jobTemplate": {"spec": {"template": {}}}},
        }),
    );
    failed_job(&cluster);
    let mut failed = job("Failed");
    failed["metadata"]["ownerReferences"] =
        json!([{"kind": "CronJob", "name": "backup", "uid": "cron", "controller": true}]);
    cluster.put("jobs", &failed);
    let ran = cluster.restart(&["cj/backup", "--yes", "--save-logs"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let said = "job/etl with 1 pod (1 failed) and its logs: etl-x, when the new one fails: failedJobsHistoryLimit is 1";
    assert!(ran.stdout.contains(said) && !ran.stdout.contains("earlier Jobs"), "{}", ran.stdout);
    let saved = saved(&cluster);
    for file in ["jobs.json", "pods.json", "etl-x.main.log", "etl-x.main.previous.log"] {
        assert!(saved.contains(&file.to_owned()), "{file} is missing in {saved:?}");
    }
}

/// The files of the only restart.
fn saved(cluster: &Cluster) -> Vec<String> {
    let [folder] = &cluster.folders()[..] else { panic!("{:?}", cluster.folders()) };
    let mut names: Vec<String> =
        folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

const SAVED_WITH_PODS: [&str; 4] = ["manifest.json", "object.json", "pods.json", "record.json"];

#[test]
fn a_running_jobset_is_suspended_and_resumed_when_its_pods_have_ended() {
    let cluster = Cluster::with(|request, state| {
        // The pods end when they are looked for a second time.
        if request.method == "GET" && request.path().ends_with("/pods") && request.nth == 4 {
            state.objects.retain(|path, _| !path.contains("/pods/"));
        }
        None
    });
    let path = job_set(&cluster, &json!({}), &json!({"failurePolicy": {"maxRestarts": 2}}), &json!({}));
    cluster.put(
        "pods",
        &json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "llama-w-0-0-x"}, "status": {"phase": "Running"}}),
    );
    let said = "has not ended: 1 of its 1 pod run; 2 of 2 restarts left";
    let command = "kubectl sigapps restart jobset/llama --yes --force -n ml";
    cluster.restart(&["jobset/llama", "--yes"]).says(1, &[said, command]);
    let ran = cluster.restart(&["jobset/llama", "--yes", "--force"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains(said), "{ran:?}");
    let writes = ["dry PATCH llama", "dry PATCH llama", "PATCH llama", "PATCH llama"];
    assert_eq!(cluster.writes(), writes);
    let patches: Vec<Value> = cluster
        .api
        .requests()
        .into_iter()
        .filter(|request| request.method == "PATCH" && request.query("dryRun").is_none())
        .map(|request| request.body)
        .collect();
    assert_eq!(patches[0], json!({"metadata": {"uid": "set"}, "spec": {"suspend": true}}));
    assert_eq!(patches[1], json!({"metadata": {"uid": "set"}, "spec": {"suspend": false}}));
    assert_eq!(cluster.object(&path).unwrap()["spec"]["suspend"], false);
}

#[test]
fn an_ended_jobset_in_a_queue_is_made_again_suspended() {
    let cluster = Cluster::start();
    let labels = json!({"labels": {"kueue.x-k8s.io/queue-name": "gpus"}});
    let path = job_set(&cluster, &labels, &json!({"suspend": false}), &json!({"terminalState": "Failed"}));
    let ran = cluster.restart(&["jobset/llama", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let made = cluster.object(&path).unwrap();
    assert_eq!((&made["spec"]["suspend"], &made["status"]), (&json!(true), &Value::Null));
}

#[test]
fn rollouts_are_restarted_by_kubectls_annotation() {
    for (argument, plural, kind) in [
        ("deploy/web", "deployments", "Deployment"),
        ("sts/web", "statefulsets", "StatefulSet"),
        ("ds/web", "daemonsets", "DaemonSet"),
    ] {
        let cluster = Cluster::start();
        let path = cluster.put(
            plural,
            &json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web", "uid": "u"},
                    "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}}}}),
        );
        cluster.put(
            "pods",
            &json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-0", "labels": {"app": "web"}},
                    "status": {"phase": "Running"}}),
        );
        let ran = cluster.restart(&[argument, "--yes"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(saved(&cluster), SAVED_WITH_PODS);
        let template = cluster.object(&path).unwrap()["spec"]["template"]["metadata"].clone();
        assert!(template["annotations"]["kubectl.kubernetes.io/restartedAt"].as_str().unwrap().ends_with('Z'));
        assert_eq!(template["labels"], json!({"app": "web"}));
        assert!(cluster.api.asked().iter().any(|asked| asked.contains("/pods?limit=500&labelSelector=app=web")));
    }
}

fn leader(uid: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "vllm-0", "namespace": "ml", "uid": uid, "labels": {
            "leaderworkerset.sigs.k8s.io/group-index": "0", "leaderworkerset.sigs.k8s.io/worker-index": "0"}},
        "status": {"phase": "Running"},
    })
}

#[test]
fn a_group_is_restarted_by_its_leader_pod() {
    let cluster = Cluster::with(|request, state| {
        // The controller makes the leader again.
        let looks = request.method == "GET" && request.path().ends_with("/pods/vllm-0");
        if looks && !state.objects.contains_key(request.path()) && request.nth > 1 {
            state.objects.insert(request.path().to_owned(), leader("new"));
        }
        None
    });
    cluster.state().versions.insert("leaderworkerset.x-k8s.io", vec!["v1"]);
    cluster.put(
        "leaderworkersets",
        &json!({"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
                "metadata": {"name": "vllm", "uid": "lws"}, "spec": {"replicas": 1}}),
    );
    cluster.put("pods", &leader("old"));
    let ran = cluster.restart(&["lws/vllm", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(cluster.writes(), ["dry DELETE vllm-0", "DELETE vllm-0"]);
    assert_eq!(saved(&cluster), SAVED_WITH_PODS);
    let deletion = cluster.api.requests().into_iter().rfind(|request| request.method == "DELETE").unwrap();
    assert_eq!(deletion.body["preconditions"]["uid"], "old");
    cluster.restart(&["lws/vllm", "--group", "3"]).says(1, &["has no group 3", "--group 0"]);
}

#[test]
fn a_failed_sandboxs_pod_is_saved_before_it_is_replaced() {
    let pod = |uid: &str, phase: &str| {
        json!({"apiVersion": "v1", "kind": "Pod",
               "metadata": {"name": "box", "uid": uid, "ownerReferences": [{"uid": "box", "controller": true}]},
               "status": {"phase": phase, "containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 1}}}]}})
    };
    let again = pod("new", "Running");
    let cluster = Cluster::with(move |request, state| {
        let looks = request.method == "GET" && request.path().ends_with("/pods/box");
        if looks && !state.objects.contains_key(request.path()) {
            state.objects.insert(request.path().to_owned(), again.clone());
        }
        None
    });
    cluster.state().versions.insert("agents.x-k8s.io", vec!["v1beta1"]);
    cluster.put(
        "sandboxes",
        &json!({"apiVersion": "agents.x-k8s.io/v1beta1", "kind": "Sandbox", "metadata": {"name": "box", "uid": "box"},
                "spec": {}}),
    );
    cluster.put("pods", &pod("old", "Failed"));
    let ran = cluster.restart(&["sandbox/box", "--yes", "--save-logs"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(cluster.writes(), ["dry DELETE box", "DELETE box"]);
    assert_eq!(saved(&cluster), ["box.main.log", "manifest.json", "object.json", "pods.json", "record.json"]);
}

#[test]
fn a_sandbox_is_restarted_in_the_words_of_its_version() {
    for (versions, mode) in [
        (vec!["v1beta1", "v1alpha1"], json!({"operatingMode": "Running"})),
        (vec!["v1alpha1", "v1beta1"], json!({"operatingMode": "Running"})),
        (vec!["v1alpha1"], json!({"replicas": 1})),
    ] {
        let cluster = Cluster::start();
        let version = if versions.contains(&"v1beta1") { "v1beta1" } else { "v1alpha1" };
        cluster.state().versions.insert("agents.x-k8s.io", versions);
        let path = cluster.put(
            "sandboxes",
            &json!({"apiVersion": format!("agents.x-k8s.io/{version}"), "kind": "Sandbox",
                    "metadata": {"name": "box", "uid": "box"}, "spec": {}}),
        );
        let ran = cluster.restart(&["sandbox/box", "--yes"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(cluster.object(&path).unwrap()["spec"], mode);
        assert_eq!(cluster.writes(), ["dry PATCH box", "dry PATCH box", "PATCH box", "PATCH box"]);
        assert_eq!(saved(&cluster), ["manifest.json", "object.json", "record.json"]);
    }
}

/// Its author's selector finds the pods of such a Job: they have no label with its name.
#[test]
fn a_job_with_a_selector_of_its_own_has_pods_too() {
    let cluster = Cluster::with(|request, _| {
        let pods = request.method == "GET" && request.path().ends_with("/pods");
        let by_name = request.query("labelSelector").is_some_and(|selector| selector.contains("job-name"));
        (pods && by_name).then(|| Reply::json(200, json!({"kind": "PodList", "items": []}).to_string()))
    });
    let path = failed_job(&cluster);
    let mut job = cluster.object(&path).unwrap();
    job["spec"]["manualSelector"] = true.into();
    job["spec"]["selector"] = json!({"matchLabels": {"app": "etl"}});
    cluster.put("jobs", &job);
    let pod = |name: &str, owner: &str| {
        let owner = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "etl", "uid": owner, "controller": true}]);
        json!({"apiVersion": "v1", "kind": "Pod", "status": {"phase": "Running"},
               "metadata": {"name": name, "labels": {"app": "etl"}, "ownerReferences": owner}})
    };
    cluster.put("pods", &pod("etl-other", "other"));
    let ran = cluster.restart(&["job/etl", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("1 pod (1 failed) and its logs: etl-x"), "{}", ran.stdout);
    assert!(ran.stdout.contains("kubectl get pods -l app=etl -n ml"), "{}", ran.stdout);
    let saved = std::fs::read(cluster.folders()[0].join("pods.json")).unwrap();
    let saved: Value = serde_json::from_slice(&saved).unwrap();
    assert_eq!(saved["items"].as_array().unwrap().len(), 1, "{saved:#}");
}

/// The hosts of its pods are called after it, and their names must fit, too.
#[test]
fn an_indexed_job_with_a_long_name_is_kept_beside_one_whose_hosts_have_names() {
    let cluster = Cluster::with(|request, _| {
        let name = request.body["metadata"]["name"].as_str().filter(|_| request.path().ends_with("/jobs"))?;
        (name.len() + "-9".len() > 63).then(|| Reply::status(422, "Invalid", "will not able to create pod"))
    });
    failed_job(&cluster);
    let mut job = super::job("Failed");
    let name = "a".repeat(60);
    job["metadata"]["name"] = name.as_str().into();
    job["spec"]["completionMode"] = "Indexed".into();
    job["spec"]["completions"] = 10.into();
    cluster.put("jobs", &job);
    let ran = cluster.restart(&[&format!("job/{name}"), "--keep", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
