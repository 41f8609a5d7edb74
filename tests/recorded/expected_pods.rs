use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::{View, fixture, story_of};

/// Class, rule and action of every failed pod of a whole cluster, as an independent evaluator gave them.
#[test]
fn every_failed_pod_of_the_world_is_judged_as_expected() {
    let world = story_of(&fixture("world.json.gz"), &View { all: true, ..View::default() });
    let expected = std::fs::read_to_string(fixture("expected-pods.tsv")).unwrap();
    let mut lines: BTreeMap<(String, String), Vec<&Value>> = BTreeMap::new();
    for line in world.lines.iter().filter(|line| line["pod"].is_string()) {
        let text = |field: &str| line[field].as_str().unwrap().to_owned();
        lines.entry((text("namespace"), text("pod"))).or_default().push(line);
    }
    let mut pods = 0;
    for row in expected.lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        let [namespace, job, pod, class, rule, action] = fields[..] else { panic!("{row}") };
        let found = &lines[&(namespace.to_owned(), pod.to_owned())];
        assert_eq!(found.len(), 1, "{pod} is in exactly one line");
        let line = found[0];
        let text = |value: &Value| value.as_u64().map_or("-".to_owned(), |number| number.to_string());
        assert_eq!(line["class"], class, "{pod}");
        assert_eq!(line["job"], job, "{pod}");
        assert_eq!(text(&line["rule"]["index"]), rule, "{pod}");
        assert_eq!(line["rule"]["action"].as_str().unwrap_or("-"), action, "{pod}");
        pods += 1;
    }
    assert_eq!(pods, 43);
}

/// `counted` adds up to what the controller counted, for every Job.
#[test]
fn counted_failures_of_the_world_are_the_jobs_status_failed() {
    let world = story_of(&fixture("world.json.gz"), &View { all: true, ..View::default() });
    let mut counted: BTreeMap<(String, String), u64> = BTreeMap::new();
    for line in world.lines.iter().filter(|line| line["counted"] == true) {
        let text = |field: &str| line[field].as_str().unwrap().to_owned();
        *counted.entry((text("namespace"), text("job"))).or_default() += line["count"].as_u64().unwrap();
    }
    let bytes = std::fs::read(fixture("world.json.gz")).unwrap();
    let dump: Value = serde_json::from_reader(flate2::read::GzDecoder::new(&bytes[..])).unwrap();
    let jobs: Vec<&Value> = dump["items"].as_array().unwrap().iter().filter(|item| item["kind"] == "Job").collect();
    assert_eq!(jobs.len(), 37);
    for job in jobs {
        let name = |field: &str| job["metadata"][field].as_str().unwrap().to_owned();
        let ours = counted.remove(&(name("namespace"), name("name"))).unwrap_or(0);
        assert_eq!(ours, job["status"]["failed"].as_u64().unwrap_or(0), "{}", job["metadata"]["name"]);
    }
    assert_eq!(counted, BTreeMap::new(), "failures of Jobs that are not there");
}

/// The same input gives the same bytes, whatever order it comes in.
#[test]
fn the_report_does_not_depend_on_the_order_of_objects() {
    let bytes = std::fs::read(fixture("world.json.gz")).unwrap();
    let mut dump: Value = serde_json::from_reader(flate2::read::GzDecoder::new(&bytes[..])).unwrap();
    let view = View { all: true, ..View::default() };
    let mut straight = crate::support::story_of_objects(&dump["items"], &view);
    dump["items"].as_array_mut().unwrap().reverse();
    let mut reversed = crate::support::story_of_objects(&dump["items"], &view);
    // The files' names differ.
    straight.report["sources"].take();
    reversed.report["sources"].take();
    assert!(straight.report == reversed.report);
    assert!(straight.lines == reversed.lines);
}

/// Group ids are told apart and are the same in every run; a script may store them.
#[test]
fn group_ids_are_stable() {
    let ids = || -> BTreeSet<String> {
        let world = story_of(&fixture("world.json.gz"), &View::default());
        world.report["groups"].as_array().unwrap().iter().map(|g| g["id"].as_str().unwrap().to_owned()).collect()
    };
    let first = ids();
    assert_eq!(first, ids());
    assert_eq!(first.len(), 36);
    assert!(first.contains("5e578e7805335210"), "{first:?}");
}
