//! What is said of damaged input, and what is read in spite of it.

use serde_json::{Value, json};
use sigapps::source::file::{FileError, read};
use sigapps::source::{Filter, SourceState};

use crate::dumps::*;

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
    assert_eq!(states, [SourceState::Read, SourceState::Unreadable, SourceState::Unreadable, SourceState::Unreadable]);
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
        assert_eq!(outcome.file().state, SourceState::Unreadable);
    }
    let array = json!([pod("a"), pod("b")]).to_string();
    let (outcome, _) = warning_of(&array[..array.len() - 1]);
    assert_eq!((outcome.pods().len(), outcome.file().state), (2, SourceState::Unreadable));
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
    assert_eq!(outcome.file().state, SourceState::Unreadable);
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
            "invalid type: integer `1`, expected a string",
        ),
        (broken(r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name" "x"}}"#), "expected `:`"),
        (
            broken("Error from server (Forbidden): pods is forbidden"),
            "not JSON: \"Error from server (Forbidden): pods is f\"",
        ),
        (broken("\0\0\0"), "not JSON: \"\\0\\0\\0\""),
    ] {
        let (outcome, warning) = warning_of(&content);
        assert_eq!(outcome.pods(), ["a", "b"], "{content}");
        assert_eq!(warning, format!("{one} (byte {at}): {why}"));
        assert_eq!((outcome.file().state, outcome.file().skipped), (SourceState::Unreadable, 1));
    }
    let mut latin = broken(r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"Zxrich"}}"#).into_bytes();
    let x = latin.windows(2).position(|pair| pair == b"Zx").unwrap() + 1;
    latin[x] = 0xfc;
    let (outcome, warning) = warning_of(&latin);
    assert_eq!(outcome.pods(), ["a", "b"]);
    assert_eq!(warning, format!("{one} (byte {at}): invalid UTF-8"));
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

/// YAML has no closing brace: a List cut between two lines reads as whole, but for the kind that kubectl writes last.
#[test]
fn a_yaml_list_cut_at_the_end_of_a_line_is_noticed() {
    let whole = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: p\n  status:\n    phase: Failed\nkind: List\n";
    let (outcome, warning) = warning_of(&whole[..whole.find("  status:").unwrap()]);
    assert_eq!(outcome.file().state, SourceState::Unreadable);
    assert!(warning.contains("cut off at the end of a line"), "{warning}");
}
