//! Dumps as people have them: every form, every way of packing, and what is said of those that are damaged.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sigapps::source::file::{FileError, read};
use sigapps::source::{Filter, Snapshot, Source, SourceState};
use tempfile::TempDir;

/// What reading came to: the snapshot, the warnings, and the files' sources.
struct Outcome {
    snapshot: Snapshot,
    warnings: Vec<String>,
}

impl Outcome {
    fn files(&self) -> Vec<&Source> {
        self.snapshot.sources.iter().filter(|source| source.resource == "files").collect()
    }

    fn file(&self) -> &Source {
        match self.files()[..] {
            [file] => file,
            ref files => panic!("{files:?}"),
        }
    }

    /// Names of the pods that were kept.
    fn pods(&self) -> Vec<&str> {
        self.snapshot.pods.iter().map(|pod| &*pod.name).collect()
    }
}

struct Dumps(TempDir);

impl Dumps {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Reads files, with the folder cut out of all messages.
    fn read(&self, paths: &[PathBuf]) -> Result<Outcome, String> {
        let paths: Vec<String> = paths.iter().map(|path| path.to_str().unwrap().to_owned()).collect();
        let folder = format!("{}/", self.0.path().display());
        let mut warnings = Vec::new();
        let snapshot = read(&paths, Filter::default(), &mut |line| warnings.push(line.replace(&folder, "")));
        match snapshot {
            Ok(snapshot) => Ok(Outcome { snapshot, warnings }),
            Err(error) => Err(error.to_string().replace(&folder, "")),
        }
    }
}

/// Reads `content` as the one file `name`.
fn read_as(name: &str, content: impl AsRef<[u8]>) -> Result<Outcome, String> {
    let dumps = Dumps::new();
    let path = dumps.file(name, content);
    dumps.read(&[path])
}

/// Reads `content` and gives the one warning there has to be.
fn warning_of(content: impl AsRef<[u8]>) -> (Outcome, String) {
    let outcome = read_as("dump.json", content).unwrap();
    let [warning] = &outcome.warnings[..] else { panic!("{:?}", outcome.warnings) };
    let warning = warning.clone();
    (outcome, warning)
}

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "ns", "uid": format!("uid-of-{name}"), "resourceVersion": "7"},
        "spec": {"containers": [{"name": "main"}]},
        "status": {"phase": "Failed", "message": "say \"{[\\", "containerStatuses": [
            {"name": "main", "state": {"terminated": {"exitCode": 42, "finishedAt": "2026-11-30T09:12:05Z"}}}
        ]}
    })
}

fn list(items: &[Value]) -> Value {
    json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}})
}

fn pretty(value: &Value) -> String {
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    serde::Serialize::serialize(value, &mut serde_json::Serializer::with_formatter(&mut out, formatter)).unwrap();
    String::from_utf8(out).unwrap() + "\n"
}

fn gzip(content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content.as_ref()).unwrap();
    encoder.finish().unwrap()
}

fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, *content).unwrap();
    }
    archive.into_inner().unwrap()
}

fn utf16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

const YAML_POD: &str = "apiVersion: v1
kind: Pod
metadata:
  name: a
  namespace: ns
  uid: uid-of-a
spec:
  containers:
  - name: main
status:
  phase: Failed
  message: |
    --- not a marker
    items:
    - no item
  containerStatuses:
  - name: main
    state:
      terminated:
        exitCode: 42
        finishedAt: \"2026-11-30T09:12:05Z\"
";

/// A list as `kubectl get -o yaml` prints it.
fn yaml_list(names: &[&str]) -> String {
    let mut yaml = String::from("apiVersion: v1\nitems:\n");
    for name in names {
        let pod = YAML_POD.replace("name: a\n", &format!("name: {name}\n")).replace("of-a", &format!("of-{name}"));
        for (number, line) in pod.lines().enumerate() {
            let _ = writeln!(yaml, "{} {line}", if number == 0 { "-" } else { " " });
        }
    }
    yaml + "kind: List\nmetadata:\n  resourceVersion: \"\"\n"
}

/// A list as `kubectl get -o kyaml` prints it.
fn kyaml_list(names: &[&str]) -> String {
    let item = |name: &&str| {
        format!(
            "{{\n    # the pod {{\n    apiVersion: \"v1\",\n    kind: \"Pod\",\n    metadata: {{\n      name: \"{name}\",\n      \
             namespace: \"ns\",\n    }},\n    spec: {{\n      containers: [{{\n        name: \"main\",\n      }}],\n    }},\n    \
             status: {{\n      phase: \"Failed\",\n      message: \"a \\\"}}]\\n\\\n         b\",\n    }},\n  }}"
        )
    };
    let items: Vec<String> = names.iter().map(item).collect();
    format!(
        "---\n{{\n  apiVersion: \"v1\",\n  items: [{}],\n  kind: \"List\",\n  metadata: {{\n    resourceVersion: \"\",\n  }},\n}}\n",
        items.join(", ")
    )
}

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
        ("list of lists", list(&[list(&[a.clone()]), b.clone()]).to_string().into()),
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
        ("kyaml documents", format!("---\n{{kind: Pod, metadata: {{name: a}}, status: {{phase: Failed}}}}\n---\n{{kind: Pod, metadata: {{name: 'b'}}, status: {{phase: Failed,}},}}\n").into()),
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
    assert_eq!(pieces.files().len(), 43);
    assert_eq!(pieces.warnings, Vec::<String>::new());
    assert_eq!(format!("{:?}", pieces.snapshot.jobs), format!("{:?}", outcome.snapshot.jobs));
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
fn where_nothing_can_be_reported_one_line_says_why() {
    const DUMP: &str = "make a dump with: kubectl get jobs,pods,events -A -o json > dump.json";
    for (content, expected) in [
        (&b""[..], format!("dump is empty; {DUMP}")),
        (b" \n\n", format!("dump is empty; {DUMP}")),
        (b"\xef\xbb\xbf", format!("dump is empty; {DUMP}")),
        (
            b"NAME   READY\nweb-0  1/1\n",
            format!("dump is neither JSON nor YAML nor an archive of them (it begins with \"NAME   READY\"); {DUMP}"),
        ),
        (
            b"\x28\xb5\x2f\xfd...",
            "dump is packed with zstd, which is not read here; unpack it first: zstd -d dump".to_owned(),
        ),
        (b"PK\x03\x04...", "dump is packed with zip, which is not read here; unpack it first: unzip dump".to_owned()),
        (b"[]", format!("no Kubernetes object found in dump; {DUMP}")),
        (b"{\"a\": 1}", format!("no Kubernetes object found in dump; {DUMP}")),
        (b"a: 1\n", format!("no Kubernetes object found in dump; {DUMP}")),
        (
            b"{\"kind\": \"Pod\", \"metadata\": ",
            format!("no Kubernetes object found in dump: cut off in the middle; what is whole was read; {DUMP}"),
        ),
        (
            b"kind: Pod\nmetadata: [\n",
            format!(
                "no Kubernetes object found in dump: 1 object could not be read and left out: object 1 (byte 0): WHY; {DUMP}"
            ),
        ),
    ] {
        let error = read_as("dump", content).err().unwrap();
        match expected.split_once("WHY") {
            Some((before, after)) => assert!(error.starts_with(before) && error.ends_with(after), "{error}"),
            None => assert_eq!(error, expected),
        }
    }
    let dumps = Dumps::new();
    assert_eq!(
        dumps.read(&[dumps.path("none.json")]).err().unwrap(),
        "none.json: no such file or folder; -f takes files, folders and - for standard input"
    );
    let empty = dumps.file("empty/notes.txt", "x").parent().unwrap().to_owned();
    assert_eq!(
        dumps.read(&[empty]).err().unwrap(),
        "empty holds no file whose name ends in .json, .jsonl, .yaml, .yml, .kyaml, .tar or .tgz (or these with .gz)"
    );
    let both = [dumps.file("a b.json", ""), dumps.file("c.json", "{}")];
    assert_eq!(
        dumps.read(&both).err().unwrap(),
        format!("no Kubernetes object found in any of the 2 inputs: a b.json: empty; {DUMP}")
    );
    assert!(matches!(read(&["/".to_owned() + "none"], Filter::default(), &mut |_| {}), Err(FileError::Missing { .. })));
}

#[test]
fn one_input_that_fails_does_not_lose_the_others() {
    let dumps = Dumps::new();
    let paths = [
        dumps.file("good.json", pretty(&list(&[pod("a")]))),
        dumps.file("empty.json", ""),
        dumps.file("table.txt", "NAME READY\n"),
        dumps.file("my dump.json.zst", b"\x28\xb5\x2f\xfd..."),
    ];
    let outcome = dumps.read(&paths).unwrap();
    assert_eq!(outcome.pods(), ["a"]);
    let folder = dumps.0.path().display().to_string();
    assert_eq!(
        outcome.warnings.iter().map(|line| line.replace(&folder, "")).collect::<Vec<_>>(),
        [
            "empty.json: empty",
            "table.txt: neither JSON nor YAML nor an archive (it begins with \"NAME READY\"); not read",
            "my dump.json.zst: packed with zstd, which is not read here; unpack it first: zstd -d 'my dump.json.zst'",
        ]
    );
    let states: Vec<_> = outcome.files().iter().map(|source| source.state).collect();
    use SourceState::{Read, Unreadable};
    assert_eq!(states, [Read, Unreadable, Unreadable, Unreadable]);
}

#[test]
fn a_dump_that_is_cut_off_gives_what_is_whole() {
    let whole = pretty(&list(&[pod("a"), pod("b"), pod("c")]));
    let cut_in_c = whole.rfind("\"phase\"").unwrap();
    let cut_between = whole.rfind("{\n            \"apiVersion\"").unwrap();
    for cut in [cut_in_c, cut_in_c + 12, cut_between] {
        let (outcome, warning) = warning_of(&whole[..cut]);
        assert_eq!(outcome.pods(), ["a", "b"]);
        assert_eq!(warning, "dump.json: cut off in the middle; what is whole was read");
        assert_eq!(outcome.file().state, SourceState::Truncated);
    }
    let array = json!([pod("a"), pod("b")]).to_string();
    let (outcome, _) = warning_of(&array[..array.len() - 1]);
    assert_eq!((outcome.pods().len(), outcome.file().state), (2, SourceState::Truncated));
    let kyaml = kyaml_list(&["a", "b"]);
    let (outcome, warning) = warning_of(&kyaml[..kyaml.rfind("phase").unwrap()]);
    assert_eq!(outcome.pods(), ["a"]);
    assert_eq!(warning, "dump.json: cut off in the middle; what is whole was read");
}

#[test]
fn a_packed_dump_that_is_cut_off_gives_what_came_out() {
    let pods: Vec<Value> = (0..400).map(|n| pod(&format!("pod-{n}"))).collect();
    let mut packed = gzip(pretty(&list(&pods)));
    packed.truncate(packed.len() * 3 / 4);
    let (outcome, warning) = warning_of(&packed);
    assert!(outcome.pods().len() > 100, "{}", outcome.pods().len());
    assert_eq!(warning, "dump.json: cannot be read to its end: the packed data is cut off; what came before was read");
    assert_eq!(outcome.file().state, SourceState::Truncated);
}

#[test]
fn an_object_that_is_broken_is_skipped_and_named() {
    let (a, b) = (pod("a"), pod("b"));
    let broken = |text: &str| format!("{a}\n{text}\n{b}\n");
    let at = a.to_string().len() + 1;
    let one = "dump.json: 1 object could not be read and left out: object 2";
    for (content, why) in [
        (broken(r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x}"#), "cut off in the middle"),
        (broken(r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x""#), "cut off in the middle"),
        (broken(r#"{"kind":"Pod","apiVersion":"v1","metadata":{}},"status":{"a":1}}"#), "a closing brace too many"),
        (
            broken(r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":1}}"#),
            "invalid type: integer `1`, expected a string at line 1 column 52",
        ),
        (broken(r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name" "x"}}"#), "expected `:` at line 1 column 52"),
        (
            broken("Error from server (Forbidden): pods is forbidden"),
            "not JSON: \"Error from server (Forbidden): pods is fo\"",
        ),
        (broken("\0\0\0"), "not JSON: \"\\0\\0\\0\""),
    ] {
        let (outcome, warning) = warning_of(&content);
        assert_eq!(outcome.pods(), ["a", "b"], "{content}");
        assert_eq!(warning, format!("{one} (byte {at}): {why}"));
        assert_eq!((outcome.file().state, outcome.file().skipped), (SourceState::Unreadable, 1));
    }
    let mut latin = broken(r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"Zxrich"}}"#).into_bytes();
    let x = latin.iter().position(|byte| *byte == b'Z').unwrap() + 1;
    latin[x] = 0xfc;
    let (outcome, warning) = warning_of(&latin);
    assert_eq!(outcome.pods(), ["a", "b"]);
    assert_eq!(warning, format!("{one} (byte {at}): invalid unicode code point at line 1 column 60"));
}

#[test]
fn many_broken_objects_are_counted_and_the_first_are_named() {
    let mut content = format!("{}\n", pod("a"));
    for _ in 0..7 {
        content.push_str("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":1}\n");
    }
    let (outcome, warning) = warning_of(&content);
    assert_eq!(outcome.file().skipped, 7);
    assert!(warning.starts_with("dump.json: 7 objects could not be read and left out: object 2 (byte "), "{warning}");
    assert!(warning.ends_with(", and 2 more"), "{warning}");
    assert_eq!(warning.matches("(byte ").count(), 5);
}

#[test]
fn an_item_of_a_printed_list_with_a_brace_missing_or_too_many_costs_only_itself() {
    let good = pretty(&list(&[pod("a"), pod("b"), pod("c")]));
    let at = good.find("\"uid-of-b\"").unwrap();
    let close = at + good[at..].find('}').unwrap();
    let missing = format!("{}{}", &good[..close], &good[close + 1..]);
    let (outcome, warning) = warning_of(&missing);
    assert_eq!(outcome.pods(), ["a", "c"]);
    assert!(warning.ends_with("): cut off in the middle"), "{warning}");
    let extra = format!("{}}}{}", &good[..=close], &good[close + 1..]);
    let (outcome, warning) = warning_of(&extra);
    assert_eq!(outcome.pods(), ["a", "c"]);
    assert!(warning.ends_with("): a closing brace too many"), "{warning}");
}

#[test]
fn a_broken_yaml_document_is_skipped_and_named() {
    let (a, b) = (YAML_POD, YAML_POD.replace("of-a", "of-b").replace("name: a\n", "name: b\n"));
    for (bad, why) in [
        ("kind: Pod\nmetadata:\n\tname: x\n", "tab"),
        ("kind: \"Pod\n", ""),
        ("kind: *nobody\n", ""),
        ("{kind: Pod\n", "cut off in the middle"),
    ] {
        let (outcome, warning) = warning_of(format!("{a}---\n{bad}---\n{b}"));
        assert_eq!(outcome.pods(), ["a", "b"], "{bad}");
        let expected = format!("dump.json: 1 object could not be read and left out: object 2 (byte {}): ", a.len() + 4);
        assert!(warning.starts_with(&expected) && warning.contains(why) && !warning.contains('\n'), "{warning}");
    }
    let listed = yaml_list(&["a", "b", "c"]).replacen(
        "  kind: Pod\n  metadata:\n    name: b",
        "  kind: Pod\n  metadata: }\n    name: b",
        1,
    );
    let (outcome, warning) = warning_of(&listed);
    assert_eq!(outcome.pods(), ["a", "c"]);
    assert!(warning.contains("object 2 (byte "), "{warning}");
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
fn depth_and_size_are_bounded() {
    let a = pod("a");
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    for (content, skipped) in [
        (format!("{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{{\"containers\":{}}}}}", deep("[", "]")), 1),
        (format!("{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"x\":{}}}", deep("{\"a\":", "}")), 0),
        (deep("{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[", "]}"), 1),
        (deep("[", "]"), 0),
        (deep("{a: ", "}"), 1),
    ] {
        let outcome = read_as("dump", format!("{a}\n{content}\n{}", pod("b"))).unwrap();
        assert_eq!(outcome.pods(), ["a", "b"], "{}", &content[..60]);
        assert_eq!(outcome.file().skipped, skipped, "{}: {:?}", &content[..60], outcome.warnings);
    }
    let endless = format!("kind: Pod\nmetadata: {}", deep("[", "]"));
    let outcome = read_as("dump", format!("{YAML_POD}---\n{endless}\n")).unwrap();
    assert_eq!((outcome.pods().len(), outcome.file().skipped), (1, 1));
}

#[test]
fn an_object_too_large_is_passed_over() {
    let filler = "x".repeat(17 << 20);
    let large = json!({"kind": "ConfigMap", "apiVersion": "v1", "data": {"x": filler}});
    for content in [
        format!("{}\n{large}\n{}\n", pod("a"), pod("b")),
        list(&[pod("a"), large.clone(), pod("b")]).to_string(),
        format!(
            "{YAML_POD}---\nkind: ConfigMap\ndata:\n  x: {filler}\n---\n{}",
            YAML_POD.replace("of-a", "of-b").replace("name: a\n", "name: b\n")
        ),
    ] {
        let (outcome, warning) = warning_of(&content);
        assert_eq!(outcome.pods(), ["a", "b"]);
        assert!(warning.contains("object 2 (byte ") && warning.ends_with("): larger than 16 MiB"), "{warning}");
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
        assert_eq!((outcome.file().objects, outcome.file().state), (4, SourceState::Truncated));
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
