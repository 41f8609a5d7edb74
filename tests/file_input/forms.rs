//! Every form of a dump, and every way of packing.

use std::path::Path;

use serde_json::{Value, json};
use sigapps::source::file::read;
use sigapps::source::{Filter, SourceState};

use crate::dumps::*;

#[test]
fn every_form_of_a_dump_is_read() {
    let (a, b) = (pod("a"), pod("b"));
    let both = list(&[a.clone(), b.clone()]);
    let typed =
        |items: Value| json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": "x"}, "items": items});
    let bare = |pod: &Value| {
        let mut pod = pod.clone();
        pod.as_object_mut().unwrap().retain(|key, _| key != "kind" && key != "apiVersion");
        pod
    };
    let lines = format!("{a}\n{b}\n");
    let forms: Vec<(&str, Vec<u8>)> = vec![
        ("kubectl's list", pretty(&both).into()),
        ("the same with Windows line ends", pretty(&both).replace('\n', "\r\n").into()),
        ("the same with a byte order mark", format!("\u{feff}{}", pretty(&both)).into()),
        ("the same in UTF-16", utf16(&pretty(&both))),
        ("compact list", both.to_string().into()),
        ("list of lists", list(&[list(std::slice::from_ref(&a)), b.clone()]).to_string().into()),
        ("typed list", typed(json!([a, b])).to_string().into()),
        ("raw page of the API", typed(json!([bare(&a), bare(&b)])).to_string().into()),
        ("two raw pages", format!("{}\n{}\n", typed(json!([bare(&a)])), typed(json!([bare(&b)]))).into()),
        ("bare items", json!([bare(&a), bare(&b)]).to_string().into()),
        ("lines", lines.clone().into()),
        ("concatenated", format!("{a}{b}").into()),
        ("printed one after another", (pretty(&a) + &pretty(&b)).into()),
        ("array", json!([a, b]).to_string().into()),
        ("printed array", pretty(&json!([a, b])).into()),
        ("each twice", format!("{both}\n{lines}").into()),
        ("text sequence", format!("\u{1e}{a}\n\u{1e}{b}\n").into()),
        ("yaml list", yaml_list(&["a", "b"]).into()),
        ("yaml list with indented items", yaml_list(&["a", "b"]).replace("\n- ", "\n  - ").replace("\n  ", "\n    ").replace("\n    - api", "\n  - api").replace("\n    resource", "\n  resource").into()),
        ("yaml list with Windows line ends", yaml_list(&["a", "b"]).replace('\n', "\r\n").into()),
        ("yaml with a byte order mark", format!("\u{feff}{}", yaml_list(&["a", "b"])).into()),
        ("yaml documents", format!("{YAML_POD}---\n{}...\n", YAML_POD.replace("of-a", "of-b").replace("name: a\n", "name: b\n")).into()),
        ("yaml with a directive", format!("%YAML 1.2\n--- # one\n{YAML_POD}---\n---\n{}", YAML_POD.replace("of-a", "of-b").replace("name: a\n", "name: b\n")).into()),
        ("yaml sequence", yaml_list(&["a", "b"]).lines().skip(2).take_while(|line| !line.starts_with("kind")).fold(String::new(), |text, line| text + line + "\n").into()),
        ("kyaml list", kyaml_list(&["a", "b"]).into()),
        ("kyaml documents", "---\n{kind: Pod, metadata: {name: a}, status: {phase: Failed}}\n---\n{kind: Pod, metadata: {name: 'b'}, status: {phase: Failed,},}\n".into()),
        ("yaml with JSON in it", format!("---\n{a}\n---\n{b}\n").into()),
    ];
    for (form, content) in forms {
        for (name, content) in
            [("plain", content.clone()), ("gzip", gzip(&content)), ("gzip twice", gzip(gzip(&content)))]
        {
            let outcome = read_as("anything", content).unwrap_or_else(|error| panic!("{form}, {name}: {error}"));
            assert_eq!(outcome.pods(), ["a", "b"], "{form}, {name}: {:?}", outcome.file());
            assert_eq!(outcome.warnings, Vec::<String>::new(), "{form}, {name}");
            assert_eq!(outcome.file().state, SourceState::Read, "{form}, {name}");
            assert_eq!(outcome.snapshot.ignored.len(), 0, "{form}, {name}: {:?}", outcome.snapshot.ignored);
            let tally = outcome.snapshot.sources.iter().find(|source| source.resource == "pods").unwrap().objects;
            assert_eq!(tally, 2, "{form}, {name}: each counts once");
        }
    }
}

#[test]
fn packed_streams_one_after_another_are_one() {
    let packed = [gzip(format!("{}\n", pod("a"))), gzip(format!("{}\n", pod("b")))].concat();
    assert_eq!(read_as("dump", packed).unwrap().pods(), ["a", "b"]);
}

#[test]
fn recorded_clusters_are_read_alike_packed_and_in_pieces() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let outcome = Dumps::new().read(&[fixtures.join("world.json.gz")]).unwrap();
    assert_eq!((outcome.snapshot.jobs.len(), outcome.file().objects, outcome.warnings.len()), (37, 1009, 0));
    let pieces = Dumps::new().read(&[fixtures.join("recorded")]).unwrap();
    assert_eq!(pieces.files().len(), 81);
    assert_eq!(pieces.warnings, Vec::<String>::new());
    // Beside those of the world there are recordings of single workloads.
    let read: Vec<String> = pieces.snapshot.jobs.iter().map(|job| format!("{job:?}")).collect();
    for job in &outcome.snapshot.jobs {
        assert!(read.contains(&format!("{job:?}")), "{}", job.name);
    }
}

#[test]
fn sources_tell_what_is_in_the_input_and_what_is_not() {
    let outcome = read_as("dump.json", pretty(&list(&[pod("a")]))).unwrap();
    let told: Vec<_> = outcome
        .snapshot
        .sources
        .iter()
        .map(|source| (&*source.resource, source.state, source.objects, source.message.as_deref()))
        .collect();
    let none = Some("none in the input");
    assert_eq!(
        told,
        [
            ("jobs", SourceState::NotAsked, 0, none),
            ("pods", SourceState::Read, 1, None),
            ("cronjobs", SourceState::NotAsked, 0, none),
            ("jobsets", SourceState::NotAsked, 0, none),
            ("events", SourceState::NotAsked, 0, none),
            ("nodes", SourceState::NotAsked, 0, none),
            ("persistentvolumeclaims", SourceState::NotAsked, 0, none),
            ("volumesnapshots", SourceState::NotAsked, 0, none),
            ("podcheckpoints", SourceState::NotAsked, 0, none),
            ("podsnapshots", SourceState::NotAsked, 0, none),
            ("deployments", SourceState::NotAsked, 0, none),
            ("replicasets", SourceState::NotAsked, 0, none),
            ("statefulsets", SourceState::NotAsked, 0, none),
            ("daemonsets", SourceState::NotAsked, 0, none),
            ("controllerrevisions", SourceState::NotAsked, 0, none),
            ("leaderworkersets", SourceState::NotAsked, 0, none),
            ("disaggregatedsets", SourceState::NotAsked, 0, none),
            ("sandboxes", SourceState::NotAsked, 0, none),
            ("sandboxclaims", SourceState::NotAsked, 0, none),
            ("sandboxwarmpools", SourceState::NotAsked, 0, none),
            ("trainjobs", SourceState::NotAsked, 0, none),
            ("workloads", SourceState::NotAsked, 0, none),
            ("files", SourceState::Read, 1, None),
        ]
    );
    assert!(outcome.file().file.as_deref().unwrap().ends_with("dump.json"));
}

#[test]
fn an_empty_list_is_an_answer() {
    for content in [pretty(&list(&[])), "apiVersion: v1\nitems: []\nkind: List\n".to_owned()] {
        let outcome = read_as("dump", &content).unwrap();
        assert_eq!((outcome.file().state, outcome.file().objects), (SourceState::Read, 0), "{content}");
        assert_eq!(outcome.warnings, Vec::<String>::new());
    }
}

#[test]
fn strings_of_yaml_stay_strings_and_aliases_work() {
    let yaml = "kind: Pod\napiVersion: v1\nmetadata: {name: \"007\", namespace: '1e3', uid: &u \"12\", resourceVersion: *u}\n\
                status: {phase: Failed}\n";
    let outcome = read_as("dump.yaml", yaml).unwrap();
    assert_eq!(outcome.pods(), ["007"]);
    assert_eq!(&*outcome.snapshot.pods[0].namespace, "1e3");
    assert_eq!(outcome.snapshot.pods[0].uid.as_ref().unwrap().to_string(), "12");
}

#[test]
fn text_before_the_dump_does_not_lose_it() {
    let warning_line = "Warning: v1 ComponentStatus is deprecated in v1.19+";
    for dump in [pretty(&list(&[pod("a")])), yaml_list(&["a"]), kyaml_list(&["a"])] {
        let (outcome, warning) = warning_of(format!("{warning_line}\n{dump}"));
        assert_eq!(outcome.pods(), ["a"]);
        assert_eq!(
            warning,
            "dump.json: text before the first object was passed over: \"Warning: v1 ComponentStatus is deprecate…\""
        );
        assert_eq!(outcome.file().state, SourceState::Read);
    }
}

#[test]
fn a_kind_that_merely_ends_in_list_is_no_list() {
    let allow = json!({"apiVersion": "x.dev/v1", "kind": "AllowList", "spec": {"addresses": []}});
    let outcome = read_as("dump.json", format!("{allow}\n{}", list(&[allow.clone(), pod("a")]))).unwrap();
    assert_eq!(outcome.pods(), ["a"]);
    assert_eq!(outcome.snapshot.ignored.iter().map(|(kind, n)| (&**kind, *n)).collect::<Vec<_>>(), [("AllowList", 2)]);
}

#[test]
fn dumps_made_anonymous_keep_all_their_objects() {
    let mut pods = [pod("a"), pod("b")];
    for pod in &mut pods {
        pod["metadata"]["uid"] = "REDACTED".into();
    }
    let job = json!({"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "j", "uid": "REDACTED"}});
    let outcome = read_as("dump.json", list(&[job, pods[0].clone(), pods[1].clone()]).to_string()).unwrap();
    assert_eq!((outcome.pods(), outcome.snapshot.jobs.len()), (vec!["a", "b"], 1));
}

#[test]
fn folders_are_searched_for_data_and_nothing_else() {
    let dumps = Dumps::new();
    let folder = dumps.path("gather");
    dumps.file("gather/namespaces/ns/core/pods.yaml", yaml_list(&["b"]));
    dumps.file("gather/a.json.gz", gzip(pretty(&list(&[pod("a")]))));
    dumps.file("gather/pods-errors.json", "[\"pods is forbidden\"]");
    dumps.file("gather/version.yaml", "versionNumber: 1\n");
    dumps.file("gather/pod.log", "{\"kind\":\"Pod\"");
    dumps.file("gather/README.md", "kind: Pod");
    dumps.file("gather/.hidden.json", "{\"kind\":\"Pod\"");
    dumps.file("gather/empty.json", "");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&folder, folder.join("namespaces/loop")).unwrap();
    let outcome = dumps.read(&[folder]).unwrap();
    assert_eq!(outcome.pods(), ["a", "b"]);
    assert_eq!(outcome.warnings, Vec::<String>::new());
    let names: Vec<_> = outcome.files().iter().map(|file| file.file.clone().unwrap()).collect();
    let shown: Vec<_> = names.iter().map(|name| name.rsplit_once("gather/").unwrap().1).collect();
    assert_eq!(shown, ["a.json.gz", "empty.json", "namespaces/ns/core/pods.yaml", "pods-errors.json", "version.yaml"]);
}

#[test]
fn archives_are_read_file_by_file() {
    let bare = json!([{"metadata": {"name": "a", "namespace": "ns"}, "spec": {"containers": []}, "status": {"phase": "Failed"}}]);
    let nested = gzip(pretty(&list(&[pod("b")])));
    let inner = tar(&[("pods.json", list(&[pod("c")]).to_string().as_bytes())]);
    let torn = format!("{}\n{{\"kind\":\"Pod\",\n", pod("d"));
    let files: Vec<(&str, &[u8])> = vec![
        ("bundle/cluster-resources/pods/ns.json", &[]),
        ("bundle/cluster-resources/pods/ns.json.gz", &nested),
        ("bundle/inner.tar", &inner),
        ("bundle/pod.log", b"{\"kind\":"),
        ("bundle/._pods.json", b"\0\x05\x16\x07"),
        ("bundle/torn.json", torn.as_bytes()),
        ("bundle/old.json", b"\x28\xb5\x2f\xfd"),
    ];
    let mut files = files;
    let bare = bare.to_string();
    files[0].1 = bare.as_bytes();
    let archive = tar(&files);
    for content in [archive.clone(), gzip(&archive)] {
        let (outcome, warning) = warning_of(content);
        assert_eq!(outcome.pods(), ["a", "b", "c", "d"]);
        assert_eq!(
            warning,
            "dump.json: bundle/torn.json: cut off in the middle; what is whole was read; bundle/old.json: packed with zstd; not read"
        );
        assert_eq!((outcome.file().objects, outcome.file().state), (4, SourceState::Unreadable));
    }
    let (outcome, warning) = warning_of(&archive[..3 * 512]);
    assert_eq!(outcome.pods(), ["a"]);
    assert!(warning.starts_with("dump.json: cannot be read to its end: "), "{warning}");
}

#[test]
fn a_namespace_without_objects_is_no_error() {
    let dumps = Dumps::new();
    let path = dumps.file("dump.json", pretty(&list(&[pod("a")])));
    let filter = Filter { namespace: Some("other".to_owned()), ..Filter::default() };
    let snapshot = read(&[path.to_str().unwrap().to_owned()], filter, &mut |line| panic!("{line}")).unwrap();
    assert_eq!(snapshot.pods.len(), 0);
    assert_eq!(snapshot.sources.last().unwrap().objects, 1);
}
