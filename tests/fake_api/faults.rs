//! What goes wrong on the way, and what is made of it.

use std::time::Duration;

use sigapps::source::cluster::ClusterError;
use sigapps::source::{Resource, SourceState};

use crate::support::objects::{head, items, pod, pods, world};
use crate::support::{FakeApi, Home, Reply, Request, source};

/// A server that answers one path in another way.
fn but(path: &'static str, reply: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> FakeApi {
    FakeApi::start(move |request| if request.path() == path { reply(request) } else { world(request) })
}

#[test]
fn an_unknown_user_must_log_in() {
    let api = FakeApi::start(|_| Reply::status(401, "Unauthorized", "Unauthorized"));
    let read = Home::of(&api).read();
    assert_eq!(read.error(), "You must be logged in to the server (Unauthorized)");
    assert_eq!(read.said, Vec::<String>::new());
}

#[test]
fn without_pods_or_jobs_there_is_no_report() {
    for (path, resource, namespace) in [
        ("/api/v1/pods", "pods", None),
        ("/apis/batch/v1/jobs", "jobs.batch", None),
        ("/api/v1/namespaces/ml/pods", "pods", Some("ml")),
    ] {
        let api = but(path, move |_| Reply::status(403, "Forbidden", &format!("{resource} is forbidden: User \"u\"")));
        let mut home = Home::of(&api);
        home.scope.namespace = namespace.map(ToOwned::to_owned);
        let read = home.read();
        let error = read.error();
        assert!(matches!(read.result, Err(ClusterError::Denied { .. })), "{error}");
        let place = if namespace.is_some() { "in namespace \"ml\"" } else { "in all namespaces (-A)" };
        assert!(error.starts_with(&format!("{resource} cannot be read {place}: {resource} is forbidden")), "{error}");
        assert!(error.contains("the verbs get, list"), "{error}");
        assert_eq!(error.contains("-n NAMESPACE"), namespace.is_none(), "{error}");
        assert!(
            api.asked()
                .iter()
                .all(|target| target.contains("/namespaces/") == namespace.is_some() || !target.contains("/v1/"))
        );
    }
}

#[test]
fn without_what_is_not_core_the_rest_is_read_and_that_is_said() {
    for (path, resource) in [
        ("/api/v1/events", Resource::Events),
        ("/apis/batch/v1/cronjobs", Resource::CronJobs),
        ("/apis/jobset.x-k8s.io", Resource::JobSets),
    ] {
        let api = but(path, |_| Reply::status(403, "Forbidden", "it is forbidden"));
        let read = Home::of(&api).read();
        let denied = source(read.snapshot(), resource);
        assert_eq!((denied.state, denied.message.as_deref()), (SourceState::Denied, Some("it is forbidden")));
        assert_eq!(read.said.len(), 1, "{:?}", read.said);
        read.assert_said(&format!("{} are left out, reading them was refused: it is forbidden", resource.name()));
        assert_eq!(read.snapshot().pods.len(), 1);
    }
}

#[test]
fn too_many_requests_are_tried_again_when_the_server_says() {
    let api = but("/api/v1/pods", |request| match request.nth {
        1 => Reply::status(429, "TooManyRequests", "slow down").header("retry-after", "0"),
        _ => pods("", &["a"]),
    });
    let read = Home::of(&api).read();
    assert_eq!(read.snapshot().pods.len(), 1);
    assert_eq!(read.said, ["pods: the server answered 429: slow down; trying again in 0 s (2 of 3)"]);
}

#[test]
fn what_may_pass_is_tried_three_times_in_all() {
    for code in [429, 503, 504] {
        let api = but("/api/v1/pods", move |_| Reply::status(code, "Busy", "busy").header("retry-after", "0"));
        let read = Home::of(&api).read();
        let error = read.error();
        assert!(error.contains(&format!("answered {code} (Busy) to a request for pods: busy")), "{error}");
        assert_eq!(api.asked().iter().filter(|target| target.starts_with("/api/v1/pods")).count(), 3);
        assert_eq!(read.said.len(), 2, "{:?}", read.said);
    }
}

#[test]
fn an_internal_error_is_told_at_once() {
    let api = but("/api/v1/pods", |_| Reply::status(500, "InternalError", "etcd is gone"));
    let error = Home::of(&api).read().error();
    assert!(error.ends_with("answered 500 (InternalError) to a request for pods: etcd is gone"), "{error}");
    assert_eq!(api.asked().iter().filter(|target| target.starts_with("/api/v1/pods")).count(), 1);
    let api = but("/api/v1/events", |_| Reply::status(500, "InternalError", "etcd is gone"));
    let read = Home::of(&api).read();
    assert_eq!(source(read.snapshot(), Resource::Events).state, SourceState::Unreadable);
    read.assert_said("events: the server answered 500: etcd is gone");
}

#[test]
fn an_error_on_a_later_page_leaves_what_was_read() {
    for code in [403, 500] {
        let api = but("/api/v1/pods", move |request| match request.query("continue") {
            None => pods("2", &["a", "b"]),
            _ => Reply::status(code, "Some", "no more"),
        });
        let read = Home::of(&api).read();
        let pods = source(read.snapshot(), Resource::Pods);
        assert_eq!((pods.state, pods.objects), (SourceState::Truncated, 2));
        read.assert_said("pods: read only in part: ");
    }
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let api = FakeApi::start(|_| Reply::silence());
    let mut home = Home::of(&api);
    home.connection.request_timeout = Some(Duration::from_millis(300));
    let read = home.read();
    let error = read.error();
    assert!(matches!(read.result, Err(ClusterError::Timeout { .. })), "{error}");
    assert!(error.contains("did not answer within 0.3 s") && error.contains("--request-timeout"), "{error}");
}

#[test]
fn an_answer_that_stops_coming_is_given_up() {
    let api = but("/api/v1/pods", |_| Reply::json(200, head("Pod", "v1", "")).then_silence());
    let mut home = Home::of(&api);
    home.connection.request_timeout = Some(Duration::from_millis(300));
    let error = home.read().error();
    assert!(error.contains("did not answer within 0.3 s"), "{error}");
}

#[test]
fn an_answer_cut_off_is_asked_for_again_and_each_object_counts_once() {
    let api = but("/api/v1/pods", |request| {
        let body = head("Pod", "v1", "") + &items(&[pod("ml", "a", "train"), pod("ml", "b", "train")]);
        if request.nth == 1 { Reply::json(200, body).then_cut() } else { Reply::json(200, body).then("]}") }
    });
    let read = Home::of(&api).read();
    let pods = source(read.snapshot(), Resource::Pods);
    assert_eq!((pods.state, pods.objects), (SourceState::Read, 2));
    read.assert_said("pods: the answer was cut off; trying again");
    assert_eq!(read.snapshot().pods.len(), 2);
}

#[test]
fn an_answer_cut_off_each_time_is_truncated() {
    // Once by the connection, once by an end that comes too soon.
    for cut in [true, false] {
        let api = but("/api/v1/pods", move |_| {
            let reply = Reply::json(200, head("Pod", "v1", "") + &items(&[pod("ml", "a", "train")]) + r#",{"metada"#);
            if cut { reply.then_cut() } else { reply }
        });
        let read = Home::of(&api).read();
        let pods = source(read.snapshot(), Resource::Pods);
        assert_eq!((pods.state, pods.objects), (SourceState::Truncated, 1), "{pods:?}");
        read.assert_said("pods: read only in part: the answer was cut off");
        assert_eq!(api.asked().iter().filter(|target| target.starts_with("/api/v1/pods")).count(), 3);
    }
}

#[test]
fn a_dropped_connection_is_tried_again() {
    let api = but("/api/v1/pods", |request| if request.nth == 1 { Reply::dropped() } else { pods("", &["a"]) });
    let read = Home::of(&api).read();
    assert_eq!(read.snapshot().pods.len(), 1);
}

#[test]
fn a_load_balancers_page_is_cut_to_what_it_says() {
    let page = "<html><head><title>502 Bad Gateway</title></head>\r\n<body><center><h1>502 Bad Gateway</h1></center>";
    let api = FakeApi::start(move |_| Reply::new(502, "text/html").then(page));
    let error = Home::of(&api).read().error();
    assert!(error.ends_with(": 502 Bad Gateway"), "{error}");
    let long = "x".repeat(5000);
    let api = FakeApi::start(move |_| Reply::new(502, "text/html").then(long.clone()));
    assert!(Home::of(&api).read().error().len() < 400);
}

#[test]
fn a_page_where_a_list_should_be_is_told() {
    for (content_type, body) in [
        ("text/html", "<html><body>Please log in to the wifi</body></html>"),
        ("application/json", r#"{"kind":"Greeting","text":"Please log in to the wifi"}"#),
    ] {
        let api = but("/api/v1/pods", move |_| Reply::new(200, content_type).then(body));
        let error = Home::of(&api).read().error();
        assert!(error.contains("with something else: "), "{error}");
        assert!(error.contains("Please log in to the wifi"), "{error}");
    }
}

#[test]
fn nothing_that_listens_is_told_as_kubectl_does() {
    let gone = FakeApi::start(world).url("127.0.0.1");
    let home = Home::with(&serde_json::json!({"server": gone}), &serde_json::json!({}));
    // The port of a server that ended: wait until it is closed.
    while std::net::TcpStream::connect(gone.trim_start_matches("http://")).is_ok() {}
    let error = home.read().error();
    let host = gone.trim_start_matches("http://");
    assert_eq!(
        error,
        format!("the connection to the server {host} was refused - did you specify the right host or port?")
    );
}
