//! Certificates, tokens and proxies. The server's address is 0.0.0.0: it is this machine, and not a loopback address,
//! which no proxy is used for.

use serde_json::{Value, json};
use sigapps::source::cluster::ClusterError;

use crate::support::objects::world;
use crate::support::proxy::Proxy;
use crate::support::tls::{Authority, base64};
use crate::support::{FakeApi, Home};

const HERE: &str = "0.0.0.0";

fn secure(authority: &Authority, names: &[&str]) -> FakeApi {
    FakeApi::start_tls(authority.server(names), world)
}

fn home(api: &FakeApi, authority: &Authority, user: &Value) -> Home {
    Home::with(&json!({"server": api.url(HERE), "certificate-authority-data": authority.base64()}), user)
}

#[test]
fn a_client_certificate_is_presented() {
    let authority = Authority::new();
    let api = secure(&authority, &[HERE]);
    let identity = authority.client();
    let data = json!({
        "client-certificate-data": base64(&identity.certificate), "client-key-data": base64(&identity.key),
    });
    home(&api, &authority, &data).read().snapshot();
    let files = home(&api, &authority, &json!({"client-certificate": "me.crt", "client-key": "me.key"}));
    files.write(".kube/me.crt", &identity.certificate);
    files.write(".kube/me.key", &identity.key);
    files.read().snapshot();
    let mut flags = home(&api, &authority, &json!({"client-certificate-data": "nonsense"}));
    let path = |name, text| Some(flags.write(name, text).to_str().unwrap().to_owned());
    let (certificate, key) = (path("x.crt", &identity.certificate), path("x.key", &identity.key));
    (flags.connection.client_certificate, flags.connection.client_key) = (certificate, key);
    flags.read().snapshot();
    assert!(api.requests().iter().all(|request| request.has_certificate));
    assert_eq!(api.asked().iter().filter(|asked| asked.contains("/v1/jobs")).count(), 3, "each of the three has read");
}

#[test]
fn a_server_of_another_authority_is_refused_with_a_hint() {
    let api = secure(&Authority::new(), &[HERE]);
    let read = home(&api, &Authority::new(), &json!({})).read();
    let error = read.error();
    assert!(matches!(read.result, Err(ClusterError::Tls { .. })), "{error}");
    assert!(error.contains("invalid peer certificate") && error.contains("--certificate-authority"), "{error}");
    assert_eq!(api.requests().len(), 0);
}

#[test]
fn a_certificate_of_another_name_is_refused_until_the_name_is_told() {
    let authority = Authority::new();
    let api = secure(&authority, &["api.corp.example"]);
    let mut home = home(&api, &authority, &json!({}));
    let error = home.read().error();
    assert!(error.contains("--tls-server-name"), "{error}");
    home.connection.tls_server_name = Some("api.corp.example".into());
    home.read().snapshot();
    let named = Home::with(
        &json!({
            "server": api.url(HERE), "certificate-authority-data": authority.base64(),
            "tls-server-name": "api.corp.example",
        }),
        &json!({}),
    );
    named.read().snapshot();
    // The kubeconfig's name is for the kubeconfig's server.
    let mut other = named;
    other.connection.server = Some(api.url(HERE));
    assert!(other.read().error().contains("--tls-server-name"));
}

#[test]
fn checking_can_be_turned_off_and_that_clears_the_authority() {
    let api = secure(&Authority::new(), &["api.corp.example"]);
    let mut home = home(&api, &Authority::new(), &json!({}));
    home.connection.insecure_skip_tls_verify = true;
    home.read().snapshot();
    let both = json!({
        "server": api.url(HERE), "certificate-authority-data": Authority::new().base64(),
        "insecure-skip-tls-verify": true,
    });
    let error = Home::with(&both, &json!({})).read().error();
    assert!(error.contains("insecure-skip-tls-verify"), "{error}");
}

#[test]
fn an_authority_given_by_flag_replaces_the_kubeconfigs() {
    let authority = Authority::new();
    let api = secure(&authority, &[HERE]);
    let mut home = home(&api, &Authority::new(), &json!({}));
    home.connection.certificate_authority = Some(home.write("ca.crt", &authority.pem()).to_str().unwrap().to_owned());
    home.read().snapshot();
    home.connection.certificate_authority = Some(home.write("ca.crt", "nothing").to_str().unwrap().to_owned());
    let error = home.read().error();
    assert!(error.contains("holds no PEM certificate"), "{error}");
}

#[test]
fn tls_spoken_to_a_plain_server_is_told() {
    let api = FakeApi::start(world);
    let server = json!({"server": api.url("127.0.0.1").replace("http:", "https:"), "insecure-skip-tls-verify": true});
    let error = Home::with(&server, &json!({})).read().error();
    assert!(error.starts_with("unable to connect to the server 127.0.0.1:"), "{error}");
}

#[test]
fn a_token_is_sent_from_where_it_is_found() {
    let authority = Authority::new();
    let api = secure(&authority, &[HERE]);
    let sent = || api.requests().last().unwrap().header("authorization").map(ToOwned::to_owned);
    home(&api, &authority, &json!({"token": "in-the-file"})).read().snapshot();
    assert_eq!(sent().as_deref(), Some("Bearer in-the-file"));
    let file = home(&api, &authority, &json!({"token": "old", "tokenFile": "token"}));
    file.write(".kube/token", "of-the-token-file\n");
    file.read().snapshot();
    assert_eq!(sent().as_deref(), Some("Bearer of-the-token-file"));
    let mut flag = home(&api, &authority, &json!({"token": "old", "exec": {"command": "/nowhere/plugin"}}));
    flag.connection.token = Some("of-the-flag".into());
    flag.read().snapshot();
    assert_eq!(sent().as_deref(), Some("Bearer of-the-flag"));
    home(&api, &authority, &json!({"username": "me", "password": "pass"})).read().snapshot();
    assert_eq!(sent().as_deref(), Some(format!("Basic {}", base64("me:pass")).as_str()));
}

#[test]
fn a_token_that_cannot_be_sent_is_told_without_it() {
    let authority = Authority::new();
    let api = secure(&authority, &[HERE]);
    let error = home(&api, &authority, &json!({"token": "s3cret\nsecond line"})).read().error();
    assert!(error.contains("the token") && !error.contains("s3cret"), "{error}");
}

#[test]
fn providers_that_kubernetes_removed_are_told_with_what_to_use_instead() {
    let authority = Authority::new();
    let api = secure(&authority, &[HERE]);
    let provider = json!({"auth-provider": {"name": "gcp", "config": {"cmd-path": "echo", "cmd-args": "s3cret"}}});
    let error = home(&api, &authority, &provider).read().error();
    assert!(error.contains("gke-gcloud-auth-plugin") && !error.contains("s3cret"), "{error}");
    let provider = json!({"auth-provider": {"name": "oidc", "config": {"id-token": "s3cret"}}});
    let read = home(&api, &authority, &provider).read();
    assert!(!format!("{} {:?}", read.error(), read.result).contains("s3cret"), "{}", read.error());
}

#[test]
fn no_token_goes_over_an_open_connection() {
    let api = FakeApi::start(world);
    let mut home = Home::with(&json!({"server": api.url("127.0.0.1")}), &json!({"token": "s3cret"}));
    home.connection.token = Some("s3cret".into());
    home.read().snapshot();
    assert!(api.requests().iter().all(|request| request.header("authorization").is_none()));
}

#[cfg(unix)]
mod plugins {
    use super::*;

    fn script(home: &Home, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = home.write(".kube/plugin.sh", &format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn exec(more: &Value) -> Value {
        let mut exec = json!({
            "apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin.sh", "args": ["a b"],
            "env": [{"name": "WHO", "value": "me"}], "interactiveMode": "Never",
        });
        exec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"exec": exec})
    }

    #[test]
    fn a_plugin_is_run_once_and_gives_the_token() {
        let authority = Authority::new();
        let api = secure(&authority, &[HERE]);
        let home = home(&api, &authority, &exec(&json!({"provideClusterInfo": true})));
        script(
            &home,
            r#"echo run >> "$(dirname "$0")/runs"; echo "$KUBERNETES_EXEC_INFO" > "$(dirname "$0")/info"
            echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'"$WHO-$1"'"}}'"#,
        );
        home.read().snapshot();
        assert!(api.requests().iter().all(|request| request.header("authorization") == Some("Bearer me-a b")));
        assert_eq!(std::fs::read_to_string(home.path().join(".kube/runs")).unwrap(), "run\n");
        let info: Value =
            serde_json::from_str(&std::fs::read_to_string(home.path().join(".kube/info")).unwrap()).unwrap();
        assert_eq!(info["spec"]["interactive"], false);
        assert_eq!(info["spec"]["cluster"]["server"], api.url(HERE));
    }

    #[test]
    fn a_plugin_may_give_a_client_certificate_in_yaml() {
        let authority = Authority::new();
        let api = secure(&authority, &[HERE]);
        let home = home(&api, &authority, &exec(&json!({})));
        let identity = authority.client();
        let indented = |pem: &str| format!("    {}\n", pem.trim_end().replace('\n', "\n    "));
        let printed = format!(
            "kind: ExecCredential\nstatus:\n  clientCertificateData: |\n{}  clientKeyData: |\n{}",
            indented(&identity.certificate),
            indented(&identity.key)
        );
        script(&home, &format!("cat <<'X'\n{printed}X"));
        home.read().snapshot();
        assert!(api.requests().iter().all(|request| request.has_certificate));
    }

    #[test]
    fn a_plugin_that_is_not_there_is_told_with_its_install_hint() {
        let authority = Authority::new();
        let api = secure(&authority, &[HERE]);
        let hint = json!({"command": "no-such-plugin-anywhere", "installHint": "Get it:\n  brew install it\n"});
        let read = home(&api, &authority, &exec(&hint)).read();
        assert!(matches!(read.result, Err(ClusterError::Plugin { .. })));
        assert_eq!(
            read.error(),
            "the credential plugin \"no-such-plugin-anywhere\" is not installed; Get it: brew install it"
        );
    }

    #[test]
    fn a_plugin_that_fails_is_told_without_what_it_printed() {
        let authority = Authority::new();
        let api = secure(&authority, &[HERE]);
        for (text, expected) in [
            ("echo s3cret; exit 3", "failed with exit code 3"),
            ("echo s3cret", "not an ExecCredential"),
            ("echo '{\"kind\":\"ExecCredential\",\"status\":\"s3cret\"}'", "not an ExecCredential"),
            ("echo '{\"kind\":\"ExecCredential\"}'", "without a status"),
            ("echo '{\"kind\":\"ExecCredential\",\"status\":{}}'", "neither a token nor a client certificate"),
        ] {
            let home = home(&api, &authority, &exec(&json!({})));
            script(&home, text);
            let read = home.read();
            let error = read.error();
            assert!(error.contains(expected) && !error.contains("s3cret"), "{error}");
            assert!(!format!("{:?}", read.result).contains("s3cret"));
        }
    }

    #[test]
    fn a_plugin_with_questions_needs_a_terminal() {
        let authority = Authority::new();
        let api = secure(&authority, &[HERE]);
        let error = home(&api, &authority, &exec(&json!({"interactiveMode": "Always"}))).read().error();
        assert!(error.contains("not a terminal"), "{error}");
    }
}

#[test]
fn the_environments_proxy_is_used_but_for_what_no_proxy_names() {
    let authority = Authority::new();
    let api = secure(&authority, &[HERE]);
    let proxy = Proxy::start(api.port());
    let mut home = home(&api, &authority, &json!({}));
    home.environment = home.environment.clone().with("HTTPS_PROXY", proxy.url()).with("NO_PROXY", "corp.example, ");
    home.read().snapshot();
    let through = proxy.connects();
    assert!(!through.is_empty());
    assert!(through.iter().all(|to| *to == format!("{HERE}:{}", api.port())), "{through:?}");
    home.environment = home.environment.clone().with("NO_PROXY", "corp.example,0.0.0.0,");
    home.read().snapshot();
    assert_eq!(proxy.connects().len(), through.len());
}

#[test]
fn the_kubeconfigs_proxy_is_used_whatever_no_proxy_says() {
    let authority = Authority::new();
    let api = secure(&authority, &["api.corp.example"]);
    let proxy = Proxy::start(api.port());
    let cluster = json!({
        // Known to the proxy only.
        "server": "https://api.corp.example:6443", "certificate-authority-data": authority.base64(),
        "proxy-url": proxy.url().replace("http://", "http://me:pa%40ss@"),
    });
    let mut home = Home::with(&cluster, &json!({}));
    home.environment = home.environment.clone().with("NO_PROXY", "*");
    home.read().snapshot();
    let expected = format!("api.corp.example:6443 {}", base64("me:pa@ss"));
    assert!(proxy.connects().iter().all(|to| *to == expected), "{:?}", proxy.connects());
}

#[test]
fn a_proxy_that_cannot_be_used_is_told_without_its_password() {
    let authority = Authority::new();
    let api = secure(&authority, &[HERE]);
    for (url, expected) in [
        ("ftp://me:s3cret@proxy:21", "the proxy ftp://proxy:21: only http, https and socks5"),
        ("socks5://me:s3cret@proxy:1080", "the proxy socks5://proxy:1080: user and password"),
        ("http://me:s3cret@127.0.0.1:1", "the connection to the proxy http://127.0.0.1:1 was refused"),
    ] {
        let mut home = home(&api, &authority, &json!({}));
        home.connection.proxy_url = Some(url.into());
        let read = home.read();
        let error = read.error();
        assert!(error.contains(expected), "{error}");
        assert!(!format!("{error} {:?}", read.result).contains("s3cret"));
    }
}
