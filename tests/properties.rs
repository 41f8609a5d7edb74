//! What must hold for any input: the splitter reads as `serde_json` reads, and nothing panics or hangs on anything.

use std::io::{self, Read, Write as _};

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sigapps::jsonpath::{Missing, Printing, Template, order_by};
use sigapps::render::Columns;
use sigapps::source::file::{self, FileError};
use sigapps::source::{Ending, Filter, Intake, ListHead, ObjectSink, Position, Snapshot, Splitter};

/// Hands out a few bytes at a time.
struct Drip<'a> {
    bytes: &'a [u8],
    chunk: usize,
}

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.chunk.min(buffer.len());
        self.bytes.read(&mut buffer[..size])
    }
}

#[derive(Default)]
struct Collected {
    objects: Vec<Vec<u8>>,
    broken: Vec<(Position, String)>,
}

impl ObjectSink for Collected {
    fn object(&mut self, bytes: &[u8], _: &ListHead, _: Position) {
        self.objects.push(bytes.to_vec());
    }

    fn broken(&mut self, at: Position, why: &str) {
        self.broken.push((at, why.to_owned()));
    }
}

fn split(bytes: &[u8], chunk: usize) -> (Collected, Ending) {
    let mut collected = Collected::default();
    let ending = Splitter::new(Drip { bytes, chunk }).run(&mut collected).unwrap();
    (collected, ending)
}

/// Strings with all that could lead a reader of bytes astray.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,8}",
        r#"[{}\[\]":,\\ \n\r\té😀a-c#'-]{0,12}"#,
        any::<String>().prop_map(|s| s.chars().take(20).collect())
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // serde_json reads most others one bit off.
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![vec(inner.clone(), 0..6).prop_map(Value::from), members(inner).prop_map(Value::Object)]
    })
}

fn members(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    // A document with `items` is a list; that one is laid out by the forms below.
    btree_map(text().prop_filter("no list", |key| key != "items"), inner, 0..6)
        .prop_map(|map| map.into_iter().collect())
}

fn object() -> impl Strategy<Value = Value> {
    members(value()).prop_map(Value::Object)
}

/// The ways in which objects are laid out in a dump.
#[derive(Clone, Copy, Debug)]
enum Form {
    PrettyList(usize),
    CompactList,
    ListOfLines,
    HeadFirst,
    Lines,
    WindowsLines,
    Concatenated,
    PrettyDocuments,
    Array,
    PrettyArray(usize),
}

fn form() -> impl Strategy<Value = Form> {
    prop_oneof![
        (0_usize..9).prop_map(Form::PrettyList),
        Just(Form::CompactList),
        Just(Form::ListOfLines),
        Just(Form::HeadFirst),
        Just(Form::Lines),
        Just(Form::WindowsLines),
        Just(Form::Concatenated),
        Just(Form::PrettyDocuments),
        Just(Form::Array),
        (1_usize..9).prop_map(Form::PrettyArray),
    ]
}

fn pretty(value: &Value, indent: usize) -> String {
    let indent = " ".repeat(indent);
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    serde::Serialize::serialize(value, &mut serde_json::Serializer::with_formatter(&mut out, formatter)).unwrap();
    String::from_utf8(out).unwrap()
}

fn lay_out(objects: &[Value], form: Form) -> String {
    let lines = |end: &str| objects.iter().fold(String::new(), |text, object| text + &object.to_string() + end);
    let joined = |between: &str| objects.iter().map(Value::to_string).collect::<Vec<_>>().join(between);
    match form {
        Form::PrettyList(indent) => pretty(
            &json!({"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {"resourceVersion": ""}}),
            indent,
        ),
        Form::CompactList => json!({"apiVersion": "v1", "items": objects, "kind": "List"}).to_string(),
        Form::ListOfLines => format!("{{\"kind\":\"List\",\"items\":[\n{}\n]}}\n", joined(",\n")),
        Form::HeadFirst => {
            format!("{{\"kind\":\"XList\",\"metadata\":{{\"continue\":\"a}}b\"}},\"items\":[{}]}}\n", joined(","))
        }
        Form::Lines => lines("\n"),
        Form::WindowsLines => lines("\r\n"),
        Form::Concatenated => joined(""),
        Form::PrettyDocuments => objects.iter().map(|object| pretty(object, 4) + "\n").collect(),
        Form::Array => format!("[{}]", joined(",")),
        Form::PrettyArray(indent) => pretty(&Value::from(objects.to_vec()), indent),
    }
}

/// A dump of a few pods and jobs, valid, in any form.
fn dump() -> impl Strategy<Value = String> {
    (vec(workload(), 1..5), form()).prop_map(|(objects, form)| lay_out(&objects, form))
}

/// Pods and Jobs whose names, uids and versions often collide.
fn workload() -> impl Strategy<Value = Value> {
    let uid = prop_oneof![Just(Value::Null), (0..4).prop_map(|n: i32| Value::from(format!("uid-{n}")))];
    let version = prop_oneof![Just(Value::Null), (0..3).prop_map(|n: i32| Value::from(n.to_string()))];
    let phase = prop_oneof![Just("Pending"), Just("Running"), Just("Failed"), Just("Succeeded")];
    (0..4_u8, uid, version, phase, 0..3_u8).prop_map(|(kind, uid, version, phase, code)| {
        let metadata = |name: &str| json!({"name": name, "namespace": "ns", "uid": uid, "resourceVersion": version});
        match kind {
            0 => json!({"kind": "Job", "apiVersion": "batch/v1", "metadata": metadata("job"),
                        "spec": {"completions": code}, "status": {"failed": code}}),
            1 => json!({"apiVersion": "v1", "kind": "Event", "metadata": metadata("event"), "count": code,
                        "involvedObject": {"kind": "Job", "name": "job"}, "reason": phase}),
            2 => json!({"apiVersion": "v1", "kind": "Node", "metadata": metadata("node"),
                        "status": {"conditions": [{"type": "Ready", "status": phase}, {"type": "Ready", "status": "True"}]}}),
            _ => json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata("pod"), "spec": {"containers": []},
                        "status": {"phase": phase, "containerStatuses": [
                            {"name": "main", "restartCount": 1, "state": {"terminated": {"exitCode": code}}}]}}),
        }
    })
}

fn read(text: &[u8]) -> (Intake, u64) {
    let mut intake = Intake::new(Filter::default());
    let _ = intake.read_json(text);
    let (_, skipped) = intake.take_skipped();
    (intake, skipped)
}

/// Reads bytes as a file of whatever format they are in.
fn read_file(bytes: &[u8]) -> Result<Snapshot, FileError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    file::read(&[path], Filter::default(), &mut |_| {})
}

/// Bytes that lead into each of the formats.
fn opening() -> impl Strategy<Value = &'static [u8]> {
    let openings: [&[u8]; 12] = [
        b"",
        b"---\n",
        b"{a: [",
        b"items:\n- ",
        b"- a: ",
        b"kind: Pod\n",
        b"{\"items\": [",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
        b"\xef\xbb\xbf",
        b"{items: [{kind: Pod}, ",
    ];
    prop::sample::select(openings.to_vec())
}

/// Templates, and what looks like one.
fn template() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("{".to_owned()),
        Just("}".to_owned()),
        "[ a-c.$@*'\"\\\\]{0,3}",
        r"\.[a-c]",
        r"\[[-0-3:,*'a]{0,4}\]",
        r"\[\?\(@\.[a-c](==|!=|<|>=|)[1'a\.@]{0,2}\)\]",
        r"\{(range |end|)[a-c.\[*\]]{0,6}\}",
        r#"["'](\\[nx0uU'"\\]?[0-9a-f]{0,4}|[a-c})\n]){0,3}["']"#,
        any::<String>(),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_template_panics_however_broken_on_any_document(template in template(), document in object()) {
        if let Ok(template) = Template::parse(&template) {
            for missing in [Missing::Allowed, Missing::Refused] {
                for items in template.find(&document, missing).into_iter().flatten() {
                    let mut out = Vec::new();
                    Printing::Raw.text(&items, &mut out).unwrap();
                    Printing::Escaped.json(&items, &mut out).unwrap();
                }
            }
        }
        let _ = order_by(&template, &[document.clone(), document]);
        let _ = Columns::parse(&template);
        let _ = Columns::parse_file(&template);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_splitter_reads_any_json_as_serde_json_does(
        objects in vec(object(), 0..6),
        form in form(),
        chunk in prop_oneof![1_usize..8, Just(64), Just(1 << 20)],
    ) {
        let laid_out = lay_out(&objects, form);
        let (collected, ending) = split(laid_out.as_bytes(), chunk);
        let read: Vec<Value> = collected.objects.iter().map(|bytes| serde_json::from_slice(bytes).unwrap()).collect();
        prop_assert_eq!(read, objects, "{:?}", laid_out);
        prop_assert_eq!(collected.broken, vec![]);
        prop_assert!(ending == Ending::Whole || laid_out.is_empty());
    }

    #[test]
    fn what_is_cut_off_is_told_and_what_is_whole_is_read(
        objects in vec(object(), 1..5),
        form in form(),
        cut in any::<prop::sample::Index>(),
    ) {
        let laid_out = lay_out(&objects, form);
        let bytes = &laid_out.as_bytes()[..cut.index(laid_out.len())];
        let (collected, _) = split(bytes, 64);
        prop_assert!(collected.objects.len() <= objects.len());
        for (read, object) in collected.objects.iter().zip(&objects) {
            let read: Value = serde_json::from_slice(read).unwrap();
            prop_assert_eq!(&read, object);
        }
    }

    #[test]
    fn the_splitter_ends_on_any_bytes(
        dump in dump(),
        junk in vec(prop_oneof![any::<u8>(), prop::sample::select(br#"{}[]":,\"#.to_vec()), Just(b'\n')], 0..40),
        at in any::<prop::sample::Index>(),
        chunk in 1_usize..50,
    ) {
        let (alone, _) = split(&junk, chunk);
        prop_assert!(alone.objects.len() <= junk.len());
        let mut spliced = dump.into_bytes();
        let at = at.index(spliced.len());
        spliced.splice(at..at, junk);
        let (slow, ending) = split(&spliced, chunk);
        let (quick, quick_ending) = split(&spliced, 1 << 20);
        prop_assert_eq!(slow.objects, quick.objects, "the chunks must not matter");
        prop_assert_eq!(slow.broken, quick.broken);
        prop_assert_eq!(ending, quick_ending);
        let _ = read(&spliced);
    }

    #[test]
    fn one_torn_line_costs_only_itself(
        objects in vec(workload(), 3..6),
        torn in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let torn = torn.index(objects.len() - 1);
        let mut lines: Vec<String> = objects.iter().map(Value::to_string).collect();
        let keep = 1 + cut.index(lines[torn].len() - 1);
        lines[torn].truncate(keep);
        let (collected, _) = split((lines.join("\n") + "\n").as_bytes(), 64);
        let whole: Vec<&String> = lines.iter().enumerate().filter(|(n, _)| *n != torn).map(|(_, line)| line).collect();
        let read: Vec<String> = collected.objects.into_iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect();
        // A cut behind a colon or a bracket, before the first line told that each is an object, may cost the next one, too.
        let is_unclear = torn == 0 && matches!(lines[0].as_bytes().last(), Some(b':' | b'[' | b','));
        if is_unclear {
            prop_assert!(read.len() + 2 >= whole.len());
        } else {
            prop_assert_eq!(read.iter().collect::<Vec<_>>(), whole);
        }
        prop_assert!(!collected.broken.is_empty());
    }

    #[test]
    fn one_torn_item_of_a_printed_list_costs_only_itself(
        objects in vec(workload(), 3..6),
        torn in any::<prop::sample::Index>(),
        lost in any::<prop::sample::Index>(),
    ) {
        let torn = torn.index(objects.len());
        let mut items: Vec<String> =
            objects.iter().map(|object| pretty(object, 4).replace('\n', "\n        ")).collect();
        let braces: Vec<usize> = items[torn].match_indices('}').map(|(at, _)| at).collect();
        items[torn].remove(braces[lost.index(braces.len())]);
        let list = format!(
            "{{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        {}\n    ],\n    \"kind\": \"List\"\n}}\n",
            items.join(",\n        ")
        );
        let (collected, _) = split(list.as_bytes(), 64);
        prop_assert_eq!(collected.objects.len(), objects.len() - 1, "{}", list);
        prop_assert_eq!(collected.broken.len(), 1, "{}", list);
    }

    #[test]
    fn reading_ends_on_any_bytes_in_any_format(
        opening in opening(),
        junk in vec(prop_oneof![any::<u8>(), prop::sample::select(b"{}[]\":,\\'#-&*|> \n\t!%".to_vec())], 0..60),
        objects in vec(workload(), 0..3),
        at in any::<prop::sample::Index>(),
    ) {
        let _ = read_file(&[opening, &junk].concat());
        let mut spliced = serde_saphyr::to_string(&json!({"items": objects, "kind": "List"})).unwrap().into_bytes();
        let at = at.index(spliced.len());
        spliced.splice(at..at, junk);
        let _ = read_file(&spliced);
    }

    #[test]
    fn yaml_reads_as_json_does(objects in vec(workload(), 1..6)) {
        let list = json!({"apiVersion": "v1", "items": objects, "kind": "List"});
        let yaml = serde_saphyr::to_string(&list).unwrap();
        let documents = objects.iter().fold(String::new(), |text, object| {
            text + "---\n" + &serde_saphyr::to_string(object).unwrap()
        });
        let expected = read(list.to_string().as_bytes()).0.finish();
        for text in [yaml, documents] {
            let read = read_file(text.as_bytes()).unwrap();
            prop_assert_eq!(format!("{:?}", read.pods), format!("{:?}", expected.pods), "{}", text);
            prop_assert_eq!(format!("{:?}", read.jobs), format!("{:?}", expected.jobs));
            prop_assert_eq!(format!("{:?}", read.events), format!("{:?}", expected.events));
            prop_assert_eq!(format!("{:?}", read.nodes), format!("{:?}", expected.nodes));
            prop_assert_eq!(read.ignored.len(), 0);
        }
    }

    #[test]
    fn the_snapshot_does_not_depend_on_the_order(
        (objects, shuffled) in vec(workload(), 0..12)
            .prop_flat_map(|objects| (Just(objects.clone()), Just(objects).prop_shuffle())),
    ) {
        let (ordered, _) = read(lay_out(&objects, Form::Lines).as_bytes());
        let (other, _) = read(lay_out(&shuffled, Form::CompactList).as_bytes());
        let (ordered, other) = (ordered.finish(), other.finish());
        prop_assert_eq!(format!("{:?}", ordered), format!("{:?}", other));
    }
}
