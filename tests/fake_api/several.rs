//! Several clusters in one report.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sigapps::request::Scope;
use sigapps::source::cluster::read_each_in;

use crate::support::fleet::{Fleet, SMALL, Small, at, context, report_of};
use crate::support::objects::whole;
use crate::support::tls::Authority;
use crate::support::{FakeApi, Reply};

/// Members of the objects of a list, in its order.
fn all<'a>(list: &'a Value, pointer: &str) -> Vec<&'a str> {
    let of = |it: &'a Value| it.pointer(pointer).and_then(Value::as_str).unwrap_or("");
    list.as_array().unwrap().iter().map(of).collect()
}

/// A server that is not there.
fn nobody() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[test]
fn equal_rules_of_two_clusters_are_one_group_and_namesakes_are_two() {
    let (eu, us) = (SMALL.start(), SMALL.start());
    let fleet = Fleet::of(vec![context("eu", &eu), context("us", &us)]);
    let report = fleet.report(&[]);
    assert_eq!(report["scope"]["contexts"], json!(["eu", "us"]));
    assert_eq!(report["scope"]["namespaces"], json!(["ml"]));
    let [group] = &report["groups"].as_array().unwrap()[..] else { panic!("{report:#}") };
    assert_eq!((&group["rule"]["label"], &group["rule"]["action"]), (&json!("exit 1"), &json!("FailJob")));
    assert_eq!((&group["failures"], &report["summary"]["workloads"]), (&json!(2), &json!(2)));
    assert_eq!(all(&group["workloads"], "/cluster"), ["eu", "us"]);
    assert_eq!(all(&group["workloads"], "/name"), ["train", "train"]);
    assert_eq!(all(&report["workloads"], "/cluster"), ["eu", "us"]);
    assert_eq!(all(&group["nodes"], "/name"), ["node-1", "node-1"]);
    assert_eq!(all(&group["nodes"], "/cluster"), ["eu", "us"]);
    assert_eq!(group["exemplar"]["cluster"], "eu");
    for cluster in ["eu", "us"] {
        let sources = report["sources"].as_array().unwrap().iter();
        let of = sources.filter(|source| source["cluster"] == cluster && source["state"] == "read").count();
        assert!(of > 3, "{report:#}");
    }
}

#[test]
fn a_suggestion_names_the_cluster_in_each_of_its_commands() {
    let (eu, us) = (SMALL.start(), SMALL.start());
    let fleet = Fleet::of(vec![context("eu", &eu), context("it's us", &us)]);
    let report = fleet.report(&[]);
    let suggestions = report["suggestions"].as_array().unwrap();
    assert_eq!(suggestions.len(), 1, "equal advice is one suggestion: {report:#}");
    let commands: Vec<&str> =
        suggestions[0]["commands"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    let (of_eu, of_us): (Vec<&str>, Vec<&str>) = commands.iter().partition(|it| it.ends_with(" --context=eu"));
    assert!(!of_eu.is_empty() && of_us.iter().all(|it| it.ends_with(r" '--context=it'\''s us'")), "{commands:?}");
    assert!(!of_us.is_empty() && commands.iter().all(|it| it.matches("--context").count() == 1), "{commands:?}");
    assert_eq!(suggestions[0]["subject"], "job/train in eu and job/train in it's us");
    let of: BTreeSet<&str> = all(&suggestions[0]["evidence"], "/cluster").into_iter().collect();
    assert_eq!(of, ["eu", "it's us"].into());
    assert_eq!(report["groups"][0]["suggestions"], json!(["s1"]));
    let wide = fleet.failures(&["-o", "wide"]).stdout;
    assert!(wide.contains("because pod/ml/train-0 in eu "), "{wide}");
}

#[test]
fn the_table_has_a_column_for_the_cluster_where_there_are_several() {
    let (eu, us) = (SMALL.start(), Small { job: "etl", ..SMALL }.start());
    let long = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
    let fleet = Fleet::of(vec![context(long, &eu), context("us", &us)]);
    let ran = fleet.failures(&[]);
    let of = |start: &str| ran.stdout.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{ran:?}"));
    assert!(of("RULE").contains("  WORKLOADS      CLUSTER  "), "{ran:?}");
    assert!(of("exit 1").contains("  job/etl and 1  …9012:cluster/prod and 1  "), "{ran:?}");
    assert!(of("as of").contains("2 jobs, 2 pods, 0 events read of 2 clusters"), "{ran:?}");
    let by_workload = fleet.failures(&["--group-by", "workload", "--no-headers"]).stdout;
    assert!(by_workload.contains("  job/train  …3456789012:cluster/prod  "), "{by_workload}");
    let one = fleet.run(&["failures", "--context", "us"]).stdout;
    assert!(one.contains("RULE") && !one.contains("CLUSTER"), "{one}");
}

#[test]
fn lines_and_names_are_of_all_clusters_in_the_order_of_the_contexts() {
    let (eu, us) = (SMALL.start(), SMALL.start());
    let fleet = Fleet::of(vec![context("us", &us), context("eu", &eu)]);
    let lines = fleet.failures(&["-o", "jsonl"]).stdout;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(all(&Value::from(lines), "/cluster"), ["us", "eu"]);
    assert_eq!(fleet.failures(&["-o", "name"]).stdout, "job.batch/train\njob.batch/train\n");
}

#[test]
fn what_is_an_object_of_its_cluster_is_a_group_of_its_own() {
    let (eu, us) = (SMALL.start(), SMALL.start());
    let fleet = Fleet::of(vec![context("eu", &eu), context("us", &us)]);
    for by in ["node", "workload", "namespace"] {
        let report = fleet.report(&["--group-by", by]);
        let clusters: BTreeSet<&str> = all(&report["groups"], "/workloads/0/cluster").into_iter().collect();
        assert_eq!(clusters, ["eu", "us"].into(), "{by}: {report:#}");
        let ids: BTreeSet<&str> = all(&report["groups"], "/id").into_iter().collect();
        assert_eq!((ids.len(), &report["summary"]["groups"]), (2, &json!(2)), "{by}");
        assert_eq!(report["suggestions"].as_array().unwrap().len(), 1, "{by}");
    }
    for by in ["cause", "reason"] {
        assert_eq!(fleet.report(&["--group-by", by])["groups"].as_array().unwrap().len(), 1, "{by}");
    }
}

#[test]
fn clusters_are_read_side_by_side() {
    // Each answers only when the other has been asked as well.
    let asked = Arc::new((Mutex::new(BTreeSet::new()), Condvar::new()));
    let waiting = |name: &'static str| {
        let asked = Arc::clone(&asked);
        SMALL.with(move |request| {
            if request.path().ends_with("/jobs") {
                let mut all = asked.0.lock().unwrap();
                all.insert(name);
                asked.1.notify_all();
                let waited = asked.1.wait_timeout_while(all, Duration::from_secs(20), |all| all.len() < 3).unwrap();
                return waited.1.timed_out().then(|| Reply::status(500, "InternalError", "the others were not asked"));
            }
            None
        })
    };
    let apis = [waiting("a"), waiting("b"), waiting("c")];
    let fleet = Fleet::of(vec![context("a", &apis[0]), context("b", &apis[1]), context("c", &apis[2])]);
    assert_eq!(fleet.report(&[])["summary"]["failures"], 3);
}

#[test]
fn many_clusters_are_all_told_in_the_order_of_the_contexts() {
    let apis: Vec<FakeApi> = (0..20).map(|_| SMALL.start()).collect();
    let named = |(number, api): (usize, &FakeApi)| context(&format!("c{}", (number * 7) % 20), api);
    let fleet = Fleet::of(apis.iter().enumerate().map(named).collect());
    let lines = fleet.failures(&["-o", "jsonl"]).stdout;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected: Vec<String> = (0..20).map(|number| format!("c{}", (number * 7) % 20)).collect();
    assert_eq!(all(&Value::from(lines), "/cluster"), expected);
    assert_eq!(fleet.report(&[])["groups"][0]["failures"], 20);
}

/// What a report of these contexts says beside an earlier one of others: failures that are new, and that are known.
fn beside(fleet: &Fleet, then: &[&str], now: &[&str], more: &[&str]) -> (u64, u64) {
    let flags = |contexts: &[&str]| contexts.iter().map(|it| format!("--context={it}")).collect::<Vec<_>>();
    let (then, now) = (flags(then), flags(now));
    let run = |flags: &[String], more: &[&str]| {
        let flags = flags.iter().map(String::as_str);
        fleet.run(&["failures", "-o", "json"].into_iter().chain(flags).chain(more.iter().copied()).collect::<Vec<_>>())
    };
    let file = fleet.home().join("then.json");
    std::fs::write(&file, run(&then, more).stdout).unwrap();
    let baseline = format!("--baseline={}", file.display());
    let report: Value = serde_json::from_str(&run(&now, &[more, &[&*baseline]].concat()).stdout).unwrap();
    let number = |member: &str| report[member]["failures"].as_u64().unwrap();
    (number("summary"), number("baseline"))
}

#[test]
fn what_one_cluster_had_already_is_new_in_another() {
    let apis: Vec<FakeApi> = (0..3).map(|_| SMALL.start()).collect();
    let fleet = Fleet::of(["eu", "us", "asia"].iter().zip(&apis).map(|(name, api)| context(name, api)).collect());
    for more in [&[][..], &["--group-by=node"], &["--group-by=workload"], &["--group-by=cause"]] {
        for (then, now, expected) in [
            (&["eu", "us"][..], &["eu", "us"][..], (0, 2)),
            (&["eu", "us"], &["us", "asia"], (1, 1)),
            (&["eu"], &["eu", "us"], (1, 1)),
            (&["eu", "us"], &["us"], (0, 1)),
            (&["eu", "us"], &["asia"], (1, 0)),
            (&["eu"], &["us"], (1, 0)),
        ] {
            assert_eq!(beside(&fleet, then, now, more), expected, "{now:?} beside {then:?} with {more:?}");
        }
    }
}

#[test]
fn failures_of_all_clusters_are_one_list_with_one_head_and_one_order() {
    let apis = [5, 1, 3].map(|code| Small { code, ..SMALL }.start());
    let fleet = Fleet::of(["a", "b", "c"].iter().zip(&apis).map(|(name, api)| context(name, api)).collect());
    let csv = fleet.failures(&["-o", "csv", "--sort-by=.exitCode"]).stdout;
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("cluster,") && lines.len() == 4, "{csv}");
    let order: Vec<&str> = lines[1..].iter().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(order, ["b", "c", "a"]);
    let lines = fleet.failures(&["-o", "jsonl", "--sort-by=.exitCode"]).stdout;
    let codes: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["exitCode"].clone()).collect();
    assert_eq!(codes, [1, 3, 5]);
}

#[test]
fn a_variable_that_is_not_set_hides_no_cluster() {
    let api = SMALL.start();
    let fleet = Fleet::of(vec![context("eu", &api), context("us", &api)]);
    fleet.run(&["failures", "--context=eu", "--context="]).says(2, &["error: one of the --context given is empty"]);
    assert!(api.requests().is_empty());
}

#[test]
fn several_clusters_are_not_watched() {
    let api = SMALL.start();
    let fleet = Fleet::of(vec![context("eu", &api), context("us", &api)]);
    let ran = fleet.run(&["failures", "--all-contexts", "--watch"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(2), "error: --watch follows one cluster: give one --context\n"));
    assert!(api.requests().is_empty(), "it is told before anything is read");
}

#[test]
fn where_nobody_takes_what_was_read_the_rest_is_given_up() {
    let apis: Vec<FakeApi> = (0..20).map(|_| SMALL.start()).collect();
    let fleet = Fleet::of(apis.iter().enumerate().map(|(number, api)| context(&format!("c{number}"), api)).collect());
    let (environment, places) = fleet.places();
    let scope = Scope { chunk_size: 500, ..Scope::default() };
    let mut taken = 0;
    let read = read_each_in(&environment, &places, &scope, &|_, _| {}, &mut |_, _| {
        taken += 1;
        Err("nobody reads it")
    });
    assert_eq!((read, taken), (Err("nobody reads it"), 1));
    let asked = apis.iter().filter(|api| !api.requests().is_empty()).count();
    assert!(asked < 20, "clusters were read that nobody waits for");
}

/// Asserts what becomes of a report of two clusters, one of which cannot be read.
#[track_caller]
fn degrades(down: crate::support::fleet::Context, said: &str, state: &str, arguments: &[&str]) {
    let up = SMALL.start();
    let fleet = Fleet::of(vec![down, context("up", &up)]);
    let ran = fleet.failures(&[arguments, &["-o", "json"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines: Vec<&str> = ran.stderr.lines().filter(|line| !line.contains("trying again")).collect();
    assert!(
        lines.len() == 1 && lines[0].starts_with("warning: down is left out: ") && lines[0].contains(said),
        "{ran:?}"
    );
    let report = report_of(&ran);
    assert_eq!(report["scope"]["contexts"], json!(["down", "up"]));
    assert_eq!(
        (&report["summary"]["failures"], &report["groups"][0]["exemplar"]["cluster"]),
        (&json!(1), &json!("up"))
    );
    let sources = report["sources"].as_array().unwrap();
    let of_down: Vec<&Value> = sources.iter().filter(|source| source["cluster"] == "down").collect();
    let gap = of_down.iter().find(|source| source["resource"] == "jobs").unwrap();
    assert_eq!((&gap["state"], gap["message"].as_str().unwrap().contains(said)), (&json!(state), true), "{gap}");
    assert!(of_down.iter().all(|source| source["objects"] == 0 && source["state"] != "read"), "{of_down:?}");
    assert_eq!(fleet.failures(&[arguments, &["--exit-code"]].concat()).code, Some(4));
    let table = fleet.failures(arguments).stdout;
    let gap = if state == "denied" { "jobs of down" } else { "down" };
    assert!(table.contains(&format!("read of 1 cluster; incomplete: {gap}\n")), "{table}");
}

#[test]
fn a_server_that_is_not_there_does_not_spoil_the_rest() {
    degrades(at("down", &nobody()), "was refused", "unreachable", &[]);
}

#[test]
fn a_name_that_does_not_resolve_does_not_spoil_the_rest() {
    degrades(at("down", "http://no-such-host.invalid:6443"), "no-such-host.invalid", "unreachable", &[]);
}

#[test]
fn credentials_that_are_not_taken_do_not_spoil_the_rest() {
    let down = FakeApi::start(|_| Reply::status(401, "Unauthorized", "Unauthorized"));
    degrades(context("down", &down), "You must be logged in", "unreachable", &[]);
}

#[test]
fn a_server_that_is_silent_does_not_spoil_the_rest() {
    let down = FakeApi::start(|_| Reply::silence());
    degrades(context("down", &down), "did not answer within 1 s", "unreachable", &["--request-timeout=1"]);
}

#[test]
fn a_plugin_that_is_not_installed_does_not_spoil_the_rest() {
    let exec = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-plugin", "interactiveMode": "Never",
        "installHint": "brew install it",
    }});
    let down = at("down", "https://127.0.0.1:1").user(exec);
    degrades(down, "\"no-such-plugin\" is not installed; brew install it", "unreachable", &[]);
}

#[test]
fn an_expired_certificate_does_not_spoil_the_rest() {
    let authority = Authority::new();
    let api = FakeApi::start_tls(authority.expired_server(&["127.0.0.1"]), |request| SMALL.answer(request));
    let cluster = json!({"server": api.url("127.0.0.1"), "certificate-authority-data": authority.base64()});
    degrades(context("down", &api).cluster(cluster), "expired", "unreachable", &[]);
}

#[test]
fn a_cluster_that_lets_nobody_list_does_not_spoil_the_rest() {
    let down = SMALL.with(|request| {
        request.path().ends_with("/jobs").then(|| Reply::status(403, "Forbidden", "jobs.batch is forbidden"))
    });
    degrades(context("down", &down), "jobs.batch cannot be read", "denied", &[]);
}

#[test]
fn a_server_that_fails_half_way_does_not_spoil_the_rest() {
    let down =
        SMALL.with(|request| request.path().ends_with("/pods").then(|| Reply::status(500, "InternalError", "oh")));
    degrades(context("down", &down), "answered 500", "unreachable", &[]);
}

#[test]
fn a_context_that_is_broken_does_not_spoil_the_others_of_all() {
    let up = SMALL.start();
    let broken = json!({"name": "broken", "context": {"cluster": "gone", "user": "gone"}});
    let fleet = Fleet::with(vec![context("up", &up)], &[broken]);
    let ran = fleet.run(&["failures", "--all-contexts", "-o", "json", "--exit-code"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stderr.contains("broken is left out: there is no cluster \"gone\" in the kubeconfig"), "{ran:?}");
    let report = report_of(&ran);
    assert_eq!(report["scope"]["contexts"], json!(["up", "broken"]));
    assert_eq!(report["summary"]["failures"], 1);
}

#[test]
fn where_none_can_be_read_there_is_no_report() {
    let denied = FakeApi::start(|_| Reply::status(401, "Unauthorized", "Unauthorized"));
    let fleet = Fleet::of(vec![at("gone", &nobody()), context("denied", &denied)]);
    for format in ["table", "json", "jsonl"] {
        let ran = fleet.failures(&["-o", format]);
        ran.says(1, &["gone is left out: ", "denied is left out: ", "error: none of the 2 clusters could be read"]);
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn what_one_cluster_lacks_is_told_with_its_name() {
    let whole = SMALL.start();
    let part = SMALL.with(|request| {
        request.path().ends_with("/events").then(|| Reply::status(403, "Forbidden", "events is forbidden"))
    });
    let fleet = Fleet::of(vec![context("whole", &whole), context("part", &part)]);
    let ran = fleet.failures(&["--exit-code"]);
    assert_eq!(ran.code, Some(3), "Events are not what a report cannot do without: {ran:?}");
    assert!(ran.stderr.contains("part: events are left out, reading them was refused"), "{ran:?}");
    assert!(ran.stdout.contains("read of 2 clusters; incomplete: events of part\n"), "{ran:?}");
}

#[test]
fn what_is_refused_of_a_workload_asked_for_by_name_leaves_its_cluster_out() {
    let whole = SMALL.with(|request| {
        let deployment = json!({"metadata": {"name": "web", "namespace": "ml"}, "spec": {"replicas": 1}});
        request.path().ends_with("/deployments/web").then(|| whole("apps/v1", "Deployment", deployment))
    });
    let part = SMALL.with(|request| {
        request.path().contains("/deployments/").then(|| Reply::status(403, "Forbidden", "deployments is forbidden"))
    });
    let fleet = Fleet::of(vec![context("whole", &whole), context("part", &part)]);
    let ran = fleet.failures(&["deployment/web", "-o", "json", "--exit-code"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stderr.contains("part is left out: deployments.apps cannot be read"), "{ran:?}");
    let report = report_of(&ran);
    let of_part = report["sources"].as_array().unwrap().iter().filter(|source| source["cluster"] == "part");
    let gaps: Vec<_> = of_part.filter(|source| source["state"] != "notAsked").map(|it| &it["resource"]).collect();
    assert_eq!(gaps, ["deployments"]);
}

#[test]
fn rules_of_one_name_that_ask_for_different_things_in_two_clusters_are_one_group_that_says_so() {
    let named = |code| Small { rule: "userError", code, ..SMALL }.start();
    let (eu, us) = (named(1), named(42));
    let report = Fleet::of(vec![context("eu", &eu), context("us", &us)]).report(&[]);
    let [group] = &report["groups"].as_array().unwrap()[..] else { panic!("{report:#}") };
    assert_eq!((&group["rule"]["label"], &group["rule"]["nameSource"]), (&json!("userError"), &json!("annotation")));
    assert_eq!(group["cause"]["text"], "exit 1 (main); 1 other cause");
    let said = "rules called userError ask for different things: exit 1 and exit 42";
    assert_eq!(group["notes"], json!([said]));
    assert_eq!(report["notes"], json!([said]));
}

#[test]
fn notes_name_the_cluster_that_they_are_about() {
    let managed = |request: &crate::support::Request| {
        let mut job = crate::support::objects::job("ml", "far");
        job["spec"]["managedBy"] = json!("kueue.x-k8s.io/multikueue");
        request.path().ends_with("/jobs").then(|| crate::support::objects::list("Job", "batch/v1", "", &[job]))
    };
    let (eu, us) = (SMALL.start(), SMALL.with(managed));
    let report = Fleet::of(vec![context("eu", &eu), context("us", &us)]).report(&[]);
    let notes: Vec<&str> = report["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect();
    assert!(notes.iter().any(|note| note.starts_with("us: managed by kueue.x-k8s.io/multikueue")), "{notes:?}");
}

#[test]
fn one_cluster_under_two_names_is_read_once() {
    let api = SMALL.start();
    let fleet = Fleet::of(vec![context("one", &api), context("again", &api)]);
    let ran = fleet.failures(&["-o", "json", "--exit-code"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(api.asked().iter().filter(|asked| asked.contains("/pods")).count(), 1);
    let report = report_of(&ran);
    assert_eq!((&report["summary"]["failures"], &report["summary"]["workloads"]), (&json!(1), &json!(1)));
    let said = "context again leads to where one does: it is read once, as one";
    assert!(ran.stderr.contains(said) && report["notes"][0] == said, "{ran:?}");
    assert_eq!(report["groups"][0]["exemplar"]["cluster"], "one");
}

#[test]
fn one_cluster_at_two_addresses_is_counted_once_where_it_can_be_known() {
    let api = Small { uid: "c1", ..SMALL }.start();
    let here = |name: &str, host: &str| at(name, &api.url(host));
    let fleet = Fleet::of(vec![here("by-number", "127.0.0.1"), here("by-name", "localhost")]);
    let report = fleet.report(&[]);
    assert_eq!(report["summary"]["failures"], 1, "{report:#}");
    assert_eq!(report["notes"][0], "context by-name leads to where by-number does: it is read once, as by-number");
    // Two uids are two clusters.
    let (a, b) = (Small { uid: "a", ..SMALL }.start(), Small { uid: "b", ..SMALL }.start());
    assert_eq!(Fleet::of(vec![context("a", &a), context("b", &b)]).report(&[])["summary"]["failures"], 2);
}

/// The same may then be counted twice, which whoever reads the report must know.
#[test]
fn where_nobody_may_tell_which_cluster_it_is_that_is_said() {
    let api = SMALL.with(|request| {
        let is_asked = request.path().ends_with("/kube-system");
        is_asked.then(|| Reply::status(403, "Forbidden", "namespaces is forbidden"))
    });
    let here = |name: &str, host: &str| at(name, &api.url(host));
    let ran = Fleet::of(vec![here("by-number", "127.0.0.1"), here("by-name", "localhost")]).failures(&[]);
    for context in ["by-number", "by-name"] {
        let said = format!(
            "{context}: whether another context leads to the same cluster is told by its server's address alone"
        );
        assert!(ran.stderr.contains(&said), "{ran:?}");
    }
    let known = Small { uid: "c1", ..SMALL }.start();
    let ran = Fleet::of(vec![context("one", &known), at("two", &known.url("localhost"))]).failures(&[]);
    assert!(!ran.stderr.contains("address alone"), "{ran:?}");
}

#[test]
fn where_one_user_is_refused_another_of_the_same_cluster_may_read_it() {
    let api = SMALL.with(|request| {
        let is_refused = request.header("impersonate-user") == Some("nobody") && request.path().ends_with("/jobs");
        is_refused.then(|| Reply::status(403, "Forbidden", "jobs.batch is forbidden"))
    });
    let nobody = context("nobody", &api).user(json!({"as": "nobody"}));
    let fleet = Fleet::of(vec![nobody, context("me", &api).user(json!({"as": "me"}))]);
    let ran = fleet.failures(&["-o", "json", "--exit-code"]);
    assert_eq!(ran.code, Some(3), "the report is whole: {ran:?}");
    assert!(ran.stderr.contains("context nobody cannot be used, me leads to the same cluster: jobs.batch"), "{ran:?}");
    assert_eq!(report_of(&ran)["summary"]["failures"], 1);
}

#[test]
fn each_context_has_its_own_namespace_unless_one_is_given() {
    let own = || Small { namespaces: &["ml", "data", "default"], ..SMALL }.start();
    let (a, b, c) = (own(), own(), own());
    let fleet =
        Fleet::of(vec![context("a", &a), context("b", &b).namespace(Some("data")), context("c", &c).namespace(None)]);
    let namespaces = |arguments: &[&str]| {
        let report = fleet.report(arguments);
        let of = all(&report["workloads"], "/namespace").into_iter().map(str::to_owned).collect::<Vec<_>>();
        (report["scope"]["namespaces"].clone(), of)
    };
    assert_eq!(namespaces(&[]).0, json!(["ml", "data", "default"]));
    assert_eq!(namespaces(&[]).1, ["data", "default", "ml"]);
    assert_eq!(namespaces(&["-n", "data"]), (json!(["data"]), vec!["data".to_owned(); 3]));
    let (scope, of) = namespaces(&["-A"]);
    assert_eq!((scope, of.len()), (json!([]), 9));
}

#[test]
fn two_namespaces_of_one_cluster_are_both_read_and_that_is_said() {
    let api = Small { namespaces: &["ml", "data"], ..SMALL }.start();
    let fleet = Fleet::of(vec![context("ml", &api), context("data", &api).namespace(Some("data"))]);
    let report = fleet.report(&[]);
    assert_eq!(report["summary"]["failures"], 2);
    let note = report["notes"][0].as_str().unwrap();
    assert!(note.starts_with("contexts ml and data lead to the same cluster, each to another namespace"), "{note}");
    assert_eq!(fleet.report(&["-A"])["summary"]["failures"], 2, "read once");
}

#[test]
fn a_workload_asked_for_by_name_need_not_be_in_every_cluster() {
    let (eu, us) = (SMALL.start(), Small { job: "etl", ..SMALL }.start());
    let fleet = Fleet::of(vec![context("eu", &eu), context("us", &us)]);
    let ran = fleet.failures(&["job/train", "-o", "json", "--exit-code"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(3), ""), "{ran:?}");
    assert_eq!(all(&report_of(&ran)["workloads"], "/cluster"), ["eu"]);
    let report = fleet.report(&["job/train", "job/etl"]);
    assert_eq!(all(&report["workloads"], "/name"), ["etl", "train"]);
    fleet
        .failures(&["job/train", "job/gone"])
        .says(1, &["error: job/gone is in none of the 2 clusters that were read"]);
    let fleet = Fleet::of(vec![context("eu", &eu), at("down", &nobody())]);
    fleet.failures(&["job/gone"]).says(1, &["job/gone is not in the one cluster that was read; not read: down"]);
}

#[test]
fn a_misspelt_context_is_an_error_before_anything_is_read() {
    let api = SMALL.start();
    let fleet = Fleet::of(vec![context("eu", &api)]);
    let ran = fleet.run(&["failures", "--context", "eu", "--context", "su"]);
    ran.says(1, &["there is no context \"su\" in the kubeconfig; there are eu"]);
    assert_eq!(api.requests().len(), 0);
}

#[test]
fn what_cannot_be_asked_of_several_is_wrong_usage() {
    let api = SMALL.start();
    let fleet = Fleet::of(vec![context("a", &api), context("b", &api)]);
    for (arguments, said) in [
        (&["failures", "--all-contexts", "--context", "a"][..], "exclude each other"),
        (&["failures", "--all-contexts", "-f", "x.json"], "--all-contexts reads clusters, -f files"),
        (&["failures", "--context=a", "--context=b", "-f", "x.json"], "give one --context"),
        (&["failures", "--context=a", "--context=b", "--server=https://x"], "--server is for one server or user"),
        (&["failures", "--context=a", "--context=b", "--token=secret"], "--token is for one server or user"),
        (&["failures", "--all-contexts", "--user=me"], "--user is for one server or user"),
        (&["failures", "--all-contexts", "-A", "-n", "ml"], "-A and -n exclude each other"),
        (&["explain", "job/train", "--context=a", "--context=b"], "give one --context"),
        (&["explain", "job/train", "-f", "x.json", "--context=a", "--context=b"], "give one --context"),
        (&["restart", "job/train", "--context=a", "--context=b"], "give one --context"),
    ] {
        fleet.run(arguments).says(2, &[said]);
    }
    assert_eq!(api.requests().len(), 0);
}

#[test]
fn one_context_is_one_cluster_however_it_is_asked_for() {
    let api = SMALL.start();
    let fleet = Fleet::of(vec![context("only", &api)]);
    let plain = fleet.run(&["failures", "-o", "yaml"]);
    assert_eq!(plain.code, Some(0), "{plain:?}");
    let without_commands = |ran: &str| {
        let of = |line: &str| !line.contains("asOf") && !line.contains("kubectl ");
        ran.lines().filter(|line| of(line)).map(str::to_owned).collect::<Vec<_>>()
    };
    for arguments in [&["--context=only"][..], &["--context=only", "--context=only"], &["--all-contexts"]] {
        let ran = fleet.run(&[&["failures", "-o", "yaml"], arguments].concat());
        assert_eq!(without_commands(&ran.stdout), without_commands(&plain.stdout), "{arguments:?}");
        assert!(ran.stdout.contains("--context=only") && !plain.stdout.contains("--context"), "{ran:?}");
    }
    let gone = Fleet::of(vec![at("gone", &nobody())]);
    gone.run(&["failures", "--all-contexts"]).says(1, &["error: the connection to the server"]);
    assert!(!api.asked().iter().any(|asked| asked.contains("kube-system")), "nobody asks who one cluster is");
}
