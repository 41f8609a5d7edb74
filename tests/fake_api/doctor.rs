//! What `doctor` finds out of clusters that answer, of those that keep something to themselves, and of those that cannot be
//! reached.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::cluster::Ran;
use crate::support::proxy::Proxy;
use crate::support::tls::{Authority, base64};
use crate::support::{FakeApi, Home, Reply, Request};

const HERE: &str = "0.0.0.0";

/// A server that tells of itself.
struct Server {
    /// `VERB RESOURCE` that the user may not do.
    forbidden: &'static [&'static str],
    /// Why not.
    reason: &'static str,
    /// Groups that are installed beside those of Kubernetes, each with its version and its resources.
    groups: &'static [(&'static str, &'static str, &'static [&'static str])],
    /// Whether rules have names.
    rule_names: bool,
}

const SERVER: Server = Server {
    forbidden: &[],
    reason: "",
    groups: &[("jobset.x-k8s.io", "v1alpha2", &["jobsets"]), ("kueue.x-k8s.io", "v1beta2", &["workloads"])],
    rule_names: false,
};

impl Server {
    fn start(self) -> FakeApi {
        self.with(|_| None)
    }

    /// With answers of a test's own, where it gives one.
    fn with(self, hook: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static) -> FakeApi {
        FakeApi::start(move |request| hook(request).unwrap_or_else(|| self.answer(request)))
    }

    fn answer(&self, request: &Request) -> Reply {
        let ok = |body: Value| Reply::json(200, body.to_string());
        match request.path() {
            "/version" => ok(json!({"major": "1", "minor": "37", "gitVersion": "v1.37.2", "platform": "linux/amd64"})),
            "/apis" => {
                let of = |name: &str, version: &str| {
                    let version = json!({"groupVersion": format!("{name}/{version}"), "version": version});
                    json!({"name": name, "preferredVersion": version, "versions": [version]})
                };
                let more = self.groups.iter().map(|(name, version, _)| of(name, version));
                let all: Vec<Value> = [of("batch", "v1"), of("apps", "v1")].into_iter().chain(more).collect();
                ok(json!({"kind": "APIGroupList", "groups": all}))
            }
            "/openapi/v3/apis/batch/v1" => {
                let fields = if self.rule_names { json!({"action": {}, "name": {}}) } else { json!({"action": {}}) };
                let rule = json!({"io.k8s.api.batch.v1.PodFailurePolicyRule": {"properties": fields}});
                ok(json!({"components": {"schemas": rule}}))
            }
            "/api/v1/namespaces/gone" => Reply::status(404, "NotFound", "namespaces \"gone\" not found"),
            path if path.starts_with("/api/v1/namespaces/") => ok(json!({"kind": "Namespace", "metadata": {}})),
            path if path.ends_with("/selfsubjectreviews") => {
                let status = json!({"userInfo": {"username": "jane"}});
                Reply::json(201, json!({"kind": "SelfSubjectReview", "status": status}).to_string())
            }
            path if path.ends_with("/selfsubjectaccessreviews") => {
                let asked = &request.body["spec"]["resourceAttributes"];
                let right = format!("{} {}", asked["verb"].as_str().unwrap(), asked["resource"].as_str().unwrap());
                let allowed = !self.forbidden.contains(&right.as_str()) && !self.forbidden.contains(&"*");
                let status = json!({"allowed": allowed, "reason": if allowed { "" } else { self.reason }});
                Reply::json(201, json!({"kind": "SelfSubjectAccessReview", "status": status}).to_string())
            }
            path => {
                let of = |(group, version, _): &&(&str, &str, &[&str])| path == format!("/apis/{group}/{version}");
                match self.groups.iter().find(of) {
                    Some((_, _, resources)) => {
                        let named = resources.iter().map(|name| json!({"name": name}));
                        ok(json!({"kind": "APIResourceList", "resources": named.collect::<Vec<_>>()}))
                    }
                    None => Reply::no_such_path(),
                }
            }
        }
    }
}

fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-sigapps"));
    command.arg("doctor").args(arguments).env_clear().env("HOME", home).env("COLUMNS", "200");
    command.stdin(Stdio::null());
    command
}

fn run(home: &Path, arguments: &[&str]) -> Ran {
    Ran::of(command(home, arguments).output().unwrap())
}

/// The document, checked against the published schema, and the exit code.
#[track_caller]
fn document(ran: &Ran) -> Value {
    let value: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema/doctor.v1alpha1.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    if let Err(error) = jsonschema::validator_for(&schema).unwrap().validate(&value) {
        panic!("{error} at {}: {value:#}", error.instance_path());
    }
    value
}

#[track_caller]
fn report(home: &Home, code: i32, arguments: &[&str]) -> Value {
    let ran = run(home.path(), &[arguments, &["-o", "json"]].concat());
    assert_eq!(ran.code, Some(code), "{ran:?}");
    document(&ran)
}

/// The step that failed, with the whole of its text, as JSON and as text; what comes before it has passed.
#[track_caller]
fn fails_at(home: &Home, arguments: &[&str], step: &str, words: &[&str]) -> Value {
    let told = report(home, 1, arguments);
    assert_eq!(told["problem"]["step"], step, "{told:#}");
    assert_eq!(told["canRead"], Value::Null);
    let states: Vec<&str> =
        told["steps"].as_array().unwrap().iter().map(|step| step["state"].as_str().unwrap()).collect();
    let failed = states.iter().position(|state| *state == "failed").unwrap();
    assert_eq!(told["steps"][failed]["name"], step);
    assert!(states[..failed].iter().all(|state| *state == "passed"), "{states:?}");
    assert!(states[failed + 1..].iter().all(|state| *state == "notReached"), "{states:?}");
    let text = run(home.path(), arguments);
    assert_eq!(text.code, Some(1), "{text:?}");
    let problem = format!("{} {}", told["problem"]["message"], told["problem"]["fix"]);
    for word in words {
        assert!(problem.contains(word), "{word:?} is missing in {problem}");
    }
    assert!(text.stdout.contains(told["problem"]["fix"].as_str().unwrap()), "{}", text.stdout);
    told
}

fn right<'a>(told: &'a Value, tier: &str, verb: &str, resource: &str) -> &'a Value {
    let tiers = told["tiers"].as_array().unwrap();
    let rights = tiers.iter().find(|of| of["name"] == tier).unwrap()["rights"].as_array().unwrap();
    rights.iter().find(|right| right["verb"] == verb && right["resource"] == resource).unwrap()
}

fn commands(told: &Value) -> Vec<&str> {
    let grants = told["grants"].as_array().unwrap().iter();
    grants.flat_map(|grant| grant["commands"].as_array().unwrap()).map(|command| command.as_str().unwrap()).collect()
}

#[test]
fn where_all_is_allowed_that_is_the_answer_and_nothing_is_to_be_granted() {
    let api = SERVER.start();
    let home = Home::of(&api);
    let told = report(&home, 0, &[]);
    assert_eq!(told["summary"], "can read ns ml of fake (v1.37.2): all rights");
    assert_eq!(told["canRead"], true);
    assert_eq!(told["problem"], Value::Null);
    assert_eq!(told["grants"], json!([]));
    assert_eq!(told["namespace"], json!({"name": "ml", "state": "there"}));
    assert_eq!((&told["server"]["version"], &told["server"]["support"]), (&"v1.37.2".into(), &"tested".into()));
    assert_eq!(told["connection"]["server"], format!("127.0.0.1:{}", api.port()));
    assert_eq!(right(&told, "core", "list", "jobs.batch")["state"], "allowed");
    let text = run(home.path(), &[]);
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(text.stdout.starts_with("can read ns ml of fake (v1.37.2): all rights\n"), "{}", text.stdout);
    assert!(!text.stdout.contains("To grant"), "{}", text.stdout);
    assert_eq!(text.stderr, "");
}

#[test]
fn nothing_is_asked_but_questions_and_each_once() {
    let api = SERVER.start();
    report(&Home::of(&api), 0, &[]);
    let requests = api.requests();
    let writes: Vec<&Request> = requests.iter().filter(|request| request.method != "GET").collect();
    assert!(writes.iter().all(|request| request.method == "POST" && request.path().ends_with("reviews")));
    let asked: Vec<String> = writes.iter().map(|request| request.body.to_string()).collect();
    assert_eq!(asked.len(), asked.iter().collect::<BTreeSet<_>>().len(), "{asked:#?}");
    // Nodes belong to no namespace; a question about one would be about nothing.
    for body in writes.iter().map(|request| &request.body["spec"]["resourceAttributes"]).filter(|body| body.is_object())
    {
        let is_wide = ["nodes", "namespaces"].contains(&body["resource"].as_str().unwrap());
        assert_eq!(body["namespace"], if is_wide { Value::Null } else { "ml".into() }, "{body}");
    }
    let reads: Vec<&str> = requests.iter().filter(|request| request.method == "GET").map(Request::path).collect();
    assert_eq!(reads.len(), 6, "the version, the groups, two of them, the namespace, a schema: {reads:?}");
}

#[test]
fn of_all_namespaces_no_namespace_is_named() {
    let api = Server { forbidden: &["list events"], ..SERVER }.start();
    let told = report(&Home::of(&api), 0, &["-A"]);
    let summary = "can read all namespaces of fake (v1.37.2): all but 1 right; not all for record";
    assert_eq!(told["summary"], summary);
    assert_eq!(told["namespace"], json!({"name": null, "state": "unknown"}));
    let reviews = api.requests().into_iter().filter(|request| request.path().ends_with("accessreviews"));
    assert!(reviews.map(|request| request.body).all(|body| body["spec"]["resourceAttributes"]["namespace"].is_null()));
    let granted = commands(&told);
    assert!(granted.contains(
        &"kubectl create clusterrolebinding sigapps-context-jane --clusterrole=kubectl-sigapps-context --user=jane"
    ));
    assert!(!granted.iter().any(|command| command.contains(" rolebinding ")), "{granted:?}");
}

#[test]
fn what_is_denied_is_told_with_the_reason_what_is_lost_and_what_grants_it() {
    let api = Server { forbidden: &["list events", "get nodes"], reason: "outside of office hours", ..SERVER }.start();
    let home = Home::of(&api);
    let told = report(&home, 0, &[]);
    let summary = "can read ns ml of fake (v1.37.2): all but 2 rights; not all for record";
    assert_eq!(told["summary"], summary);
    let events = right(&told, "context", "list", "events");
    assert_eq!((&events["state"], &events["reason"]), (&"denied".into(), &"outside of office hours".into()));
    assert!(events["without"].as_str().unwrap().contains("lost instead of collateral"), "{events}");
    let granted = commands(&told);
    for command in [
        "kubectl apply -f rbac/context.yaml",
        "kubectl create rolebinding sigapps-context-jane -n ml --clusterrole=kubectl-sigapps-context --user=jane",
        "kubectl create clusterrole kubectl-sigapps-context-nodes --verb=get --resource=nodes",
        "kubectl create clusterrolebinding sigapps-context-nodes-jane --clusterrole=kubectl-sigapps-context-nodes --user=jane",
    ] {
        assert!(granted.contains(&command), "{command} is not among {granted:#?}");
    }
    assert!(!granted.iter().any(|command| command.contains("restart") || command.contains("core")), "{granted:?}");
    let text = run(home.path(), &[]).stdout;
    for line in [
        "  context    all but 2 of 4; 3 more are for what is not installed",
        "get nodes: it is not known whether a node is",
    ] {
        assert!(text.contains(line), "{line:?} is missing in {text}");
    }
}

#[test]
fn without_the_core_there_is_no_report_and_the_exit_code_says_so() {
    let api = Server { forbidden: &["list pods"], ..SERVER }.start();
    let told = report(&Home::of(&api), 1, &["-n", "other"]);
    assert_eq!(told["summary"], "cannot read ns other of fake (v1.37.2): denied: list pods");
    assert_eq!(told["canRead"], false);
    assert_eq!(commands(&told)[..1], ["kubectl apply -f rbac/core.yaml"]);
    let api = Server { forbidden: &["*"], ..SERVER }.start();
    let home = Home::of(&api);
    assert_eq!(report(&home, 1, &[])["canRead"], false);
    let text = run(home.path(), &[]).stdout;
    assert!(text.contains("core       all of it: no report"), "{text}");
    assert!(text.contains("restart    all of it: no restart"), "{text}");
}

#[test]
fn of_what_is_not_installed_no_right_is_asked_for_or_missed() {
    let api = Server {
        forbidden: &["list sandboxes", "list sandboxclaims", "list sandboxwarmpools"],
        groups: &[("extensions.agents.x-k8s.io", "v1beta1", &["sandboxclaims"])],
        ..SERVER
    }
    .start();
    let told = report(&Home::of(&api), 0, &[]);
    for (resource, state) in [
        ("sandboxes.agents.x-k8s.io", "notInstalled"),
        ("sandboxclaims.extensions.agents.x-k8s.io", "denied"),
        // The group is there, in a version without it.
        ("sandboxwarmpools.extensions.agents.x-k8s.io", "notInstalled"),
    ] {
        assert_eq!(right(&told, "workloads", "list", resource)["state"], state, "{resource}");
    }
    let asked = api.requests().into_iter().filter(|request| request.body.to_string().contains("\"sandboxes\"")).count();
    assert_eq!(asked, 0);
    let group =
        |name: &str| told["groups"].as_array().unwrap().iter().find(|group| group["name"] == name).unwrap().clone();
    assert_eq!(group("jobset.x-k8s.io")["state"], "notInstalled");
    let extensions = group("extensions.agents.x-k8s.io");
    assert_eq!((&extensions["reads"], &extensions["lacks"]), (&"v1beta1".into(), &json!(["sandboxwarmpools"])));
    assert_eq!(group("batch")["reads"], "v1");
}

#[test]
fn a_server_that_keeps_its_groups_to_itself_is_asked_for_rights_all_the_same() {
    let api = SERVER.with(|request| {
        let hidden = ["/apis", "/version", "/openapi/v3/apis/batch/v1", "/api/v1/namespaces/ml"];
        hidden.contains(&request.path()).then(|| Reply::status(403, "Forbidden", "discovery is forbidden"))
    });
    let told = report(&Home::of(&api), 0, &[]);
    assert_eq!(told["summary"], "can read ns ml of fake (version not known): all rights");
    assert!(told["groups"].as_array().unwrap().iter().all(|group| group["state"] == "unknown"));
    assert_eq!(told["groups"][0]["message"], "discovery is forbidden");
    assert_eq!(told["namespace"]["state"], "unknown");
    assert_eq!(told["features"][0]["there"], Value::Null);
    assert!(told["notes"].to_string().contains("system:discovery"));
}

#[test]
fn rights_that_may_not_be_asked_for_are_unknown_and_no_yes() {
    let api = SERVER.with(|request| {
        let is_review = request.path().ends_with("accessreviews");
        is_review.then(|| Reply::status(403, "Forbidden", "may not create reviews"))
    });
    let told = report(&Home::of(&api), 1, &[]);
    assert_eq!(told["canRead"], Value::Null);
    let summary = "cannot tell whether ns ml of fake (v1.37.2) can be read: may not create reviews";
    assert_eq!(told["summary"], summary);
    assert_eq!(right(&told, "core", "list", "pods")["state"], "unknown");
    assert_eq!(told["grants"], json!([]));
    let asked = api.requests().into_iter().filter(|request| request.path().ends_with("accessreviews")).count();
    assert!(asked <= 8, "the same answer was asked for {asked} times");
}

#[test]
fn a_server_that_is_lost_on_the_way_leaves_what_was_found_out() {
    let api = SERVER.with(|request| request.path().ends_with("accessreviews").then(Reply::dropped));
    let told = report(&Home::of(&api), 1, &[]);
    assert_eq!((&told["canRead"], &told["server"]["version"]), (&Value::Null, &"v1.37.2".into()));
    assert_eq!(told["problem"], Value::Null);
    assert!(told["summary"].as_str().unwrap().contains("the connection broke"), "{}", told["summary"]);
}

#[test]
fn a_namespace_that_is_not_there_is_told() {
    let told = report(&Home::of(&SERVER.start()), 0, &["-n", "gone"]);
    assert_eq!(told["summary"], "can read ns gone of fake (v1.37.2): all rights; there is no such namespace");
    assert_eq!(told["namespace"]["state"], "absent");
}

#[test]
fn names_of_rules_are_known_by_the_schema() {
    for (rule_names, there) in [(true, true), (false, false)] {
        let told = report(&Home::of(&Server { rule_names, ..SERVER }.start()), 0, &[]);
        assert_eq!(told["features"][0]["there"], there);
    }
}

#[test]
fn the_clocks_are_compared_by_the_servers_date() {
    let dated = |date: &'static str| {
        SERVER.with(move |request| (request.path() == "/version").then(|| SERVER.answer(request).header("date", date)))
    };
    let told = report(&Home::of(&dated("Sun, 06 Nov 1994 08:49:37 GMT")), 0, &[]);
    let most = told["server"]["clock"]["aheadAtMost"].as_f64().unwrap();
    assert!(most < -1e8, "{most}");
    assert!(told["notes"].to_string().contains("set the clock"), "{}", told["notes"]);
    let told = report(&Home::of(&SERVER.start()), 0, &[]);
    assert_eq!(told["server"]["clock"], Value::Null);
}

#[test]
fn whoever_is_impersonated_is_asked_for_and_granted() {
    let api = Server { forbidden: &["list events"], ..SERVER }.start();
    let told = report(&Home::of(&api), 0, &["--as", "system:serviceaccount:ci:runner", "--request-timeout=20s"]);
    assert_eq!(told["connection"]["impersonates"], "system:serviceaccount:ci:runner");
    let as_whom: Vec<_> = api.requests().iter().map(|it| it.header("impersonate-user").unwrap().to_owned()).collect();
    assert!(as_whom.iter().all(|user| user == "system:serviceaccount:ci:runner"));
    let bind = "kubectl create rolebinding sigapps-context-ci-runner -n ml --clusterrole=kubectl-sigapps-context \
                --serviceaccount=ci:runner";
    assert!(commands(&told).contains(&bind), "{:#?}", commands(&told));
}

#[test]
fn commands_lead_to_the_cluster_that_was_asked_but_not_as_the_user() {
    let api = Server { forbidden: &["list events"], ..SERVER }.start();
    let home = Home::of(&api);
    let told = report(&home, 0, &["--context=fake", "--user=fake-user", "--as=me"]);
    assert!(commands(&told).contains(&"kubectl apply -f rbac/context.yaml --context=fake"), "{:?}", commands(&told));
}

#[test]
fn without_any_kubeconfig_the_first_step_fails() {
    let home = Home::empty();
    let told = fails_at(&home, &[], "kubeconfig", &["no kubeconfig is there", "--kubeconfig", "-f FILE"]);
    assert_eq!(told["kubeconfig"]["files"], json!([{"path": "~/.kube/config", "state": "absent", "message": null}]));
    assert_eq!((&told["connection"], &told["server"], &told["tiers"]), (&Value::Null, &Value::Null, &json!([])));
}

#[test]
fn a_kubeconfig_that_cannot_be_read_is_named_without_what_is_in_it() {
    let home = Home::empty();
    home.write(".kube/config", "users:\n- name: me\n  user: {token: s3cret\n  s3cret: [");
    let told = fails_at(&home, &[], "kubeconfig", &["not a kubeconfig", "line", "--kubeconfig"]);
    assert_eq!(told["kubeconfig"]["files"][0]["state"], "unreadable");
    assert!(!told.to_string().contains("s3cret"), "{told:#}");
}

#[test]
fn a_context_that_is_not_there_is_told_with_those_that_are() {
    let home = Home::of(&SERVER.start());
    let told = fails_at(&home, &["--context", "prod"], "context", &["prod", "there are fake", "get-contexts"]);
    assert_eq!(told["kubeconfig"]["contexts"], 1);
    assert!(told["summary"].as_str().unwrap().starts_with("cannot find a cluster: "), "{}", told["summary"]);
}

#[test]
fn an_authority_that_is_not_there_is_a_setting() {
    let cluster = json!({"server": "https://127.0.0.1:1", "certificate-authority": "nowhere.crt"});
    fails_at(&Home::with(&cluster, &json!({})), &[], "settings", &["nowhere.crt", "kubeconfig"]);
}

#[test]
fn a_name_that_nobody_knows_is_told_from_a_server_that_is_down() {
    let home = Home::with(&json!({"server": "https://nowhere.invalid:6443"}), &json!({}));
    fails_at(&home, &[], "nameLookup", &["nowhere.invalid:6443", "VPN"]);
    let home = Home::with(&json!({"server": "https://127.0.0.1:1"}), &json!({}));
    fails_at(&home, &[], "connection", &["127.0.0.1:1 was refused", "is the cluster up"]);
}

#[test]
fn a_proxy_that_is_down_or_says_no_is_told_from_the_server() {
    let cluster = json!({"server": format!("https://{HERE}:6443"), "proxy-url": "http://me:s3cret@127.0.0.1:1"});
    let told = fails_at(&Home::with(&cluster, &json!({})), &[], "connection", &["proxy", "127.0.0.1:1", "NO_PROXY"]);
    let proxy = json!({"url": "http://127.0.0.1:1", "because": "kubeconfig", "variable": null});
    assert_eq!(told["connection"]["proxy"], proxy);
    let no = FakeApi::start(|_| Reply::status(403, "Forbidden", "not through me"));
    let cluster = json!({"server": format!("https://{HERE}:6443"), "proxy-url": no.url("127.0.0.1")});
    fails_at(
        &Home::with(&cluster, &json!({})),
        &[],
        "connection",
        &["the proxy did not let", "let this server through"],
    );
    let cluster = json!({"server": format!("https://{HERE}:6443"), "proxy-url": "http://nowhere.invalid:3128"});
    fails_at(&Home::with(&cluster, &json!({})), &[], "nameLookup", &["proxy http://nowhere.invalid:3128"]);
}

fn secure(authority: &Authority) -> FakeApi {
    FakeApi::start_tls(authority.server(&[HERE]), |request| SERVER.answer(request))
}

#[test]
fn why_a_proxy_is_used_is_told() {
    let authority = Authority::new();
    let api = secure(&authority);
    let proxy = Proxy::start(api.port());
    let cluster = json!({"server": api.url(HERE), "certificate-authority-data": authority.base64()});
    let home = Home::with(&cluster, &json!({"token": "t"}));
    let told = |name: &str, value: &str, and: (&str, &str)| {
        let mut command = command(home.path(), &["-o", "json"]);
        let ran = Ran::of(command.env(name, value).env(and.0, and.1).output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        document(&ran)["connection"]["proxy"].clone()
    };
    let url = proxy.url();
    assert_eq!(
        told("HTTPS_PROXY", &url.replace("//", "//me:s3cret@"), ("X", "")),
        json!({"url": url, "because": "variable", "variable": "HTTPS_PROXY"})
    );
    assert!(!proxy.connects().is_empty());
    let direct = |because: &str, variable: Value| json!({"url": null, "because": because, "variable": variable});
    assert_eq!(told("HTTPS_PROXY", &url, ("no_proxy", HERE)), direct("noProxy", "no_proxy".into()));
    assert_eq!(told("HTTP_PROXY", &url, ("X", "")), direct("noneSet", Value::Null));
}

#[test]
fn another_authority_and_another_name_fail_at_tls() {
    let (authority, other) = (Authority::new(), Authority::new());
    let api = secure(&authority);
    let cluster = json!({"server": api.url(HERE), "certificate-authority-data": other.base64()});
    let told = fails_at(&Home::with(&cluster, &json!({})), &[], "tls", &["certificate", "--certificate-authority"]);
    assert_eq!(told["connection"]["tls"], json!({"authority": "given", "file": null, "serverName": null}));
    let cluster = json!({
        "server": api.url(HERE), "certificate-authority-data": authority.base64(), "tls-server-name": "api.example",
    });
    let told = fails_at(&Home::with(&cluster, &json!({})), &[], "tls", &["api.example", "--tls-server-name"]);
    assert_eq!(told["connection"]["tls"]["serverName"], "api.example");
    let told = report(&Home::with(&cluster, &json!({})), 0, &["--insecure-skip-tls-verify"]);
    assert_eq!(told["connection"]["tls"]["authority"], "unchecked");
    assert!(told["notes"].to_string().contains("not checked"), "{}", told["notes"]);
}

#[test]
fn credentials_that_the_server_does_not_know_fail_at_the_sign_in() {
    let authority = Authority::new();
    let api = FakeApi::start_tls(authority.server(&[HERE]), |_| Reply::status(401, "Unauthorized", "Unauthorized"));
    let cluster = json!({"server": api.url(HERE), "certificate-authority-data": authority.base64()});
    let identity = authority.client();
    let certificate = json!({
        "client-certificate-data": base64(&identity.certificate), "client-key-data": base64(&identity.key),
    });
    for (user, words) in [
        (json!({"token": "s3cret"}), "the token has expired"),
        (certificate, "the client certificate has expired"),
        (json!({}), "no credentials"),
    ] {
        let told = fails_at(&Home::with(&cluster, &user), &[], "signIn", &["401", words]);
        assert!(told["summary"].as_str().unwrap().starts_with("cannot sign in to fake: "), "{}", told["summary"]);
    }
}

#[test]
fn who_is_taken_for_nobody_is_told_although_the_server_answers() {
    let api = SERVER.with(|request| {
        let message = "selfsubjectreviews is forbidden: User \"system:anonymous\" cannot create resource";
        request.path().ends_with("reviews").then(|| Reply::status(403, "Forbidden", message))
    });
    let told = fails_at(&Home::of(&api), &[], "signIn", &["system:anonymous", "https"]);
    assert_eq!(told["server"]["version"], "v1.37.2");
    assert_eq!(right(&told, "core", "list", "pods")["state"], "unknown");
}

#[test]
fn a_page_to_log_in_is_no_answer_and_neither_is_silence() {
    let page = FakeApi::start(|_| Reply::new(200, "text/html").then("<html><h1>Please log in</h1>"));
    fails_at(&Home::of(&page), &[], "answer", &["Please log in", "is it a Kubernetes API server?"]);
    let silent = FakeApi::start(|_| Reply::silence());
    fails_at(&Home::of(&silent), &["--request-timeout=200ms"], "answer", &["0.2 s", "--request-timeout"]);
    let broken = FakeApi::start(|_| Reply::status(500, "InternalError", "etcd is away"));
    fails_at(&Home::of(&broken), &[], "answer", &["500", "etcd is away", "/readyz"]);
}

#[test]
fn a_plugin_that_is_missing_is_told_with_how_it_is_installed() {
    let exec = |hint: Value| {
        json!({"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-plugin", "args": ["--token", "s3cret"],
            "installHint": hint, "interactiveMode": "Never",
        }})
    };
    let cluster = json!({"server": "https://127.0.0.1:1"});
    let home = Home::with(&cluster, &exec("brew install no-such-plugin".into()));
    let told = fails_at(&home, &[], "credentials", &["is not installed", "brew install no-such-plugin"]);
    assert_eq!(told["connection"]["signIn"], json!([{"by": "plugin", "name": "no-such-plugin"}]));
    assert!(!told.to_string().contains("s3cret"), "{told:#}");
    fails_at(&Home::with(&cluster, &exec(Value::Null)), &[], "credentials", &["is not installed", "PATH"]);
}

#[cfg(unix)]
#[test]
fn a_plugin_that_fails_is_told_without_what_it_printed() {
    use std::os::unix::fs::PermissionsExt as _;
    let exec = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin.sh", "interactiveMode": "Never",
    }});
    let home = Home::with(&json!({"server": "https://127.0.0.1:1"}), &exec);
    let script = home.write(".kube/plugin.sh", "#!/bin/sh\necho s3cret\nexit 3\n");
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let told = fails_at(&home, &[], "credentials", &["failed with exit code 3", "sign in again"]);
    assert!(!told.to_string().contains("s3cret"), "{told:#}");
}

#[test]
fn a_token_file_that_is_not_there_is_a_matter_of_credentials() {
    let home = Home::with(&json!({"server": "https://127.0.0.1:1"}), &json!({"tokenFile": "/nowhere/token"}));
    let told = fails_at(&home, &[], "credentials", &["/nowhere/token"]);
    assert_eq!(told["connection"]["signIn"], json!([{"by": "tokenFile", "name": "/nowhere/token"}]));
}

/// Secrets stand wherever a kubeconfig, a flag or a variable can hold one.
#[test]
fn no_secret_is_in_any_output() {
    let authority = Authority::new();
    let api = secure(&authority);
    let authority_file = json!(authority.base64());
    let server = api.url(HERE).replace("//", "//me:s3cret@");
    let users = [
        json!({"token": "s3cret"}),
        json!({"username": "me", "password": "s3cret"}),
        json!({"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": "/nowhere/plugin", "args": ["s3cret"],
            "env": [{"name": "KEY", "value": "s3cret"}], "interactiveMode": "Never",
        }}),
        json!({"auth-provider": {"name": "gcp", "config": {"access-token": "s3cret"}}}),
    ];
    for user in users {
        for server in
            [server.clone(), format!("{server}/?token=s3cret"), "https://nowhere.invalid/?s3cret#s3cret".into()]
        {
            let cluster = json!({
                "server": server, "certificate-authority-data": authority_file,
                "proxy-url": if server.contains("invalid") { json!("http://me:s3cret@127.0.0.1:1") } else { Value::Null },
            });
            let home = Home::with(&cluster, &user);
            for arguments in [&[][..], &["-o", "json"], &["-o", "yaml", "--token=s3cret"], &["--password=s3cret"]] {
                let ran = run(home.path(), arguments);
                assert!(!ran.stdout.is_empty(), "{ran:?}");
                assert!(!format!("{ran:?}").contains("s3cret"), "{server} {user} {arguments:?}: {ran:?}");
            }
        }
    }
}

#[test]
fn a_pod_signs_in_with_its_service_account() {
    let authority = Authority::new();
    let api = secure(&authority);
    // Only a library's caller can say where a service account is.
    let home = Home::empty();
    let folder = home.path().join("account");
    home.write("account/token", "s3cret");
    home.write("account/ca.crt", &authority.pem());
    home.write("account/namespace", "team");
    let environment = home.environment.clone().with_service_account(folder);
    let environment =
        environment.with("KUBERNETES_SERVICE_HOST", HERE).with("KUBERNETES_SERVICE_PORT", api.port().to_string());
    let way = sigapps::source::cluster::way(&environment, &home.connection);
    assert!(way.error.is_none(), "{way:?}");
    assert_eq!((way.name.as_deref(), way.namespace.as_deref()), (Some("in-cluster"), Some("team")));
    assert_eq!(way.sign_in, [sigapps::source::cluster::SignIn::ServiceAccount]);
    assert!(!format!("{way:?}").contains("s3cret"), "{way:?}");
}
