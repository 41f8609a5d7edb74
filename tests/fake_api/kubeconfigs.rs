//! Which kubeconfig, which context, and what flags make of it.

use std::fmt::Write as _;

use serde_json::json;
use sigapps::source::cluster::{ClusterError, default_namespace_in};

use crate::support::objects::world;
use crate::support::tls::Authority;
use crate::support::{FakeApi, Home};

fn list(paths: &[std::path::PathBuf]) -> std::ffi::OsString {
    std::env::join_paths(paths).unwrap()
}

#[test]
fn of_the_kubeconfig_list_missing_files_are_passed_over_and_the_first_wins() {
    let api = FakeApi::start(world);
    let mut home = Home::empty();
    let first = home.write(
        "a",
        &json!({"current-context": "", "contexts": [
            {"name": "here", "context": {"cluster": "c", "namespace": "first"}},
        ]})
        .to_string(),
    );
    let second = home.write(
        "b",
        &json!({
            "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "c", "namespace": "second"}}],
            "clusters": [{"name": "c", "cluster": {"server": api.url("127.0.0.1")}}],
        })
        .to_string(),
    );
    home.environment = home.environment.clone().with("KUBECONFIG", list(&[home.path().join("missing"), first, second]));
    assert_eq!(home.read().snapshot().cluster.as_deref(), Some("here"));
    assert_eq!(default_namespace_in(&home.environment, &home.connection).unwrap(), "first");
}

#[test]
fn without_any_kubeconfig_both_ways_on_are_named() {
    let mut home = Home::empty();
    for missing in [None, Some("missing")] {
        if let Some(missing) = missing {
            home.environment = home.environment.clone().with("KUBECONFIG", home.path().join(missing));
        }
        let read = home.read();
        let error = read.error();
        assert!(matches!(read.result, Err(ClusterError::NoKubeconfig { .. })), "{error}");
        for part in ["--kubeconfig", "KUBECONFIG", "--context", "-f FILE", "-f examples/cluster.json.gz"] {
            assert!(error.contains(part), "{error}");
        }
    }
}

#[test]
fn a_kubeconfig_named_by_flag_must_be_there() {
    let mut home = Home::empty();
    home.connection.kubeconfig = Some(home.path().join("nowhere").to_str().unwrap().to_owned());
    let error = home.read().error();
    assert!(error.contains("nowhere: no such file"), "{error}");
}

#[test]
fn a_kubeconfig_that_is_no_yaml_is_told_without_its_content() {
    let home = Home::empty();
    home.write(".kube/config", "users:\n- name: me\n  user: {token: s3cret\n  s3cret: [");
    let read = home.read();
    let error = read.error();
    assert!(error.contains("not a kubeconfig") && error.contains("line"), "{error}");
    assert!(!format!("{error} {:?}", read.result).contains("s3cret"), "{error}");
    home.write(".kube/config", "users:\n- name: me\n  user: s3cret");
    let read = home.read();
    assert!(!format!("{} {:?}", read.error(), read.result).contains("s3cret"), "{}", read.error());
}

#[test]
fn a_context_that_is_not_there_is_told_with_those_that_are() {
    let api = FakeApi::start(world);
    let mut home = Home::of(&api);
    home.connection.context = Some("prod".into());
    assert_eq!(home.read().error(), "there is no context \"prod\" in the kubeconfig; there are fake");
    home.connection.context = None;
    home.connection.cluster = Some("other".into());
    assert_eq!(home.read().error(), "there is no cluster \"other\" in the kubeconfig; there are fake-cluster");
    home.connection.cluster = None;
    home.connection.user = Some("other".into());
    assert_eq!(home.read().error(), "there is no user \"other\" in the kubeconfig; there are fake-user");
}

#[test]
fn cluster_user_and_server_can_be_chosen_apart_from_the_context() {
    let api = FakeApi::start(world);
    let mut home = Home::empty();
    home.write(
        ".kube/config",
        &json!({
            "current-context": "a",
            "contexts": [{"name": "a", "context": {"cluster": "gone", "user": "gone"}}],
            "clusters": [
                {"name": "gone", "cluster": {"server": "http://127.0.0.1:1"}},
                {"name": "here", "cluster": {"server": api.url("127.0.0.1")}},
            ],
            "users": [{"name": "other", "user": {"as": "someone"}}],
        })
        .to_string(),
    );
    home.connection.cluster = Some("here".into());
    home.connection.user = Some("other".into());
    home.read().snapshot();
    assert!(api.requests().iter().all(|request| request.header("impersonate-user") == Some("someone")));
    home.connection.cluster = None;
    home.connection.server = Some(api.url("127.0.0.1"));
    home.read().snapshot();
}

#[test]
fn a_server_alone_needs_no_kubeconfig() {
    let api = FakeApi::start(world);
    let mut home = Home::empty();
    home.connection.server = Some(api.url("127.0.0.1"));
    let read = home.read();
    assert_eq!(read.snapshot().cluster, Some(api.url("127.0.0.1")));
    // Without a scheme and without a word of TLS it is plain HTTP, as for kubectl.
    home.connection.server = Some(format!("127.0.0.1:{}", api.port()));
    home.read().snapshot();
    home.connection.server = Some("nonsense://x".into());
    assert!(home.read().error().contains("https://HOST:PORT"));
}

#[test]
fn impersonation_is_sent_from_flags_and_kubeconfig() {
    let api = FakeApi::start(world);
    let mut home = Home::with(&json!({"server": api.url("127.0.0.1")}), &json!({"as": "of-the-file"}));
    home.read().snapshot();
    assert_eq!(api.requests().last().unwrap().header("impersonate-user"), Some("of-the-file"));
    home.connection.as_user = Some("me".into());
    home.connection.as_uid = Some("17".into());
    home.connection.as_group = vec!["a".into(), "b".into()];
    home.connection.as_user_extra =
        vec![("example.com/Scope".into(), "x".into()), ("example.com/Scope".into(), "y".into())];
    home.read().snapshot();
    let request = api.requests().pop().unwrap();
    for (name, values) in [
        ("impersonate-user", &["me"][..]),
        ("impersonate-uid", &["17"]),
        ("impersonate-group", &["a", "b"]),
        ("impersonate-extra-example.com%2fscope", &["x", "y"]),
    ] {
        assert_eq!(request.headers.get(name).map(Vec::as_slice).unwrap_or_default(), values, "{name}");
    }
}

#[test]
fn groups_without_a_user_to_impersonate_are_refused() {
    let api = FakeApi::start(world);
    let mut home = Home::of(&api);
    home.connection.as_group = vec!["a".into()];
    let error = home.read().error();
    assert!(error.contains("--as"), "{error}");
}

#[test]
fn a_pod_reads_its_own_cluster_with_its_service_account() {
    let authority = Authority::new();
    let api = FakeApi::start_tls(authority.server(&["127.0.0.1"]), world);
    let mut home = Home::empty();
    home.write("sa/token", "of-the-pod\n");
    home.write("sa/ca.crt", &authority.pem());
    home.write("sa/namespace", "batch-team\n");
    home.environment = home
        .environment
        .clone()
        .with("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        .with("KUBERNETES_SERVICE_PORT", api.port().to_string())
        .with_service_account(home.path().join("sa"));
    assert_eq!(home.read().snapshot().cluster.as_deref(), Some("in-cluster"));
    assert!(api.requests().iter().all(|request| request.header("authorization") == Some("Bearer of-the-pod")));
    assert_eq!(default_namespace_in(&home.environment, &home.connection).unwrap(), "batch-team");
    home.connection.as_user = Some("me".into());
    home.read().snapshot();
    assert_eq!(api.requests().last().unwrap().header("impersonate-user"), Some("me"));
    // A kubeconfig comes first.
    let other = FakeApi::start(world);
    let kubeconfig = crate::support::kubeconfig(&json!({"server": other.url("127.0.0.1")}), &json!({}));
    home.write(".kube/config", &kubeconfig.to_string());
    assert_eq!(home.read().snapshot().cluster.as_deref(), Some("fake"));
}

#[test]
fn the_namespace_is_the_one_kubectl_would_use() {
    let api = FakeApi::start(world);
    let mut home = Home::of(&api);
    assert_eq!(default_namespace_in(&home.environment, &home.connection).unwrap(), "ml");
    home.connection.namespace = Some("asked".into());
    assert_eq!(default_namespace_in(&home.environment, &home.connection).unwrap(), "asked");
    let mut bare = Home::empty();
    bare.connection.server = Some(api.url("127.0.0.1"));
    assert_eq!(default_namespace_in(&bare.environment, &bare.connection).unwrap(), "default");
}

#[test]
fn without_a_current_context_those_that_are_there_are_named() {
    let home = Home::empty();
    home.write(
        ".kube/config",
        &json!({
            "contexts": [{"name": "a", "context": {"cluster": "c"}}, {"name": "b", "context": {"cluster": "c"}}],
            "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        })
        .to_string(),
    );
    let error = home.read().error();
    assert_eq!(error, "the kubeconfig sets no current context; choose one with --context: there are a, b");
}

#[test]
fn empty_settings_count_as_not_set() {
    let api = FakeApi::start(world);
    let empty = json!({
        "server": api.url("127.0.0.1"), "certificate-authority": "", "certificate-authority-data": "", "proxy-url": "",
        "tls-server-name": "",
    });
    let user = json!({"token": "", "tokenFile": "", "client-certificate": "", "client-key-data": "", "as": ""});
    Home::with(&empty, &user).read().snapshot();
}

#[test]
fn a_kubeconfig_of_a_thousand_clusters_is_read() {
    let api = FakeApi::start(world);
    let home = Home::empty();
    let authority = "QUJD".repeat(500);
    let mut text = format!(
        "current-context: c-999\nclusters:\n- {{name: k-999, cluster: {{server: '{}'}}}}\ncontexts:\n",
        api.url("127.0.0.1")
    );
    for number in 0..1000 {
        let _ = write!(text, "- name: c-{number}\n  context:\n    cluster: k-{number}\n    user: u-{number}\n");
    }
    text += "users:\n";
    for number in 0..1000 {
        let _ = write!(text, "- name: u-{number}\n  user:\n    client-key-data: {authority}\n");
    }
    home.write(".kube/config", &text);
    assert_eq!(home.read().snapshot().cluster.as_deref(), Some("c-999"));
}
