use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{project, run};

/// What the README shows is what the tool prints.
#[test]
fn the_readmes_output_is_real() {
    let readme = std::fs::read_to_string(project().join("README.md")).unwrap();
    for command in [&["failures"][..], &["explain", "jobset/llama-70b"]] {
        let arguments = [command, &["-f", "examples/cluster.json.gz"]].concat();
        let (_, after) = readme.split_once(&format!("$ cargo run --release -- {}\n", arguments.join(" "))).unwrap();
        let (shown, _) = after.split_once("```").unwrap();
        let printed = run(&arguments).env("COLUMNS", "120").output();
        assert_eq!(shown, printed);
    }
}

/// A dump that lacks a kind says nothing of it.
#[test]
fn the_readmes_dump_holds_all_that_is_read() {
    let readme = std::fs::read_to_string(project().join("README.md")).unwrap();
    let (_, after) = readme.split_once("Make one with:").unwrap();
    let (recipe, _) = after.split_once("Or with `kubectl sigapps record`").unwrap();
    let named: BTreeSet<&str> = recipe.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let untold: Vec<&str> = sigapps::source::Resource::ALL
        .iter()
        .map(|resource| resource.name())
        .filter(|name| !named.contains(name))
        .collect();
    assert!(untold.is_empty(), "{untold:?}");
}

/// The table of exit codes is made from the code.
#[test]
fn the_readmes_exit_codes_are_the_tools() {
    let readme = std::fs::read_to_string(project().join("README.md")).unwrap();
    let help = run(&["--help"]).output();
    let (_, table) = help.split_once("Exit codes:\n").unwrap();
    // A meaning may go on in a second line.
    for line in table.trim_end().replace("\n       ", " ").lines() {
        let (number, meaning) = line.trim().split_once(' ').unwrap();
        let row = format!("| {number} | {} |", meaning.trim());
        assert!(readme.contains(&row), "{row}");
    }
}

/// The words between backticks.
fn words_of(document: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(project().join("docs").join(document)).unwrap();
    let spans = text.split('`').skip(1).step_by(2);
    let words = spans.flat_map(|span| span.split(|c: char| !c.is_ascii_alphanumeric()));
    words.map(str::to_owned).collect()
}

/// Names of properties, and values that are one of several.
fn walk(schema: &Value, properties: &mut BTreeSet<String>, values: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            properties.extend(
                fields.get("properties").and_then(Value::as_object).into_iter().flat_map(|of| of.keys().cloned()),
            );
            let of = fields.get("enum").and_then(Value::as_array).into_iter().flatten().chain(fields.get("const"));
            values.extend(of.filter_map(Value::as_str).map(str::to_owned));
            fields.values().for_each(|inner| walk(inner, properties, values));
        }
        Value::Array(all) => all.iter().for_each(|inner| walk(inner, properties, values)),
        _ => {}
    }
}

/// A field that no document names is one that nobody finds.
#[test]
fn every_field_and_value_of_the_json_is_told_in_the_documents() {
    let told = words_of("json.md");
    let elsewhere: BTreeSet<String> = ["how-it-judges.md", "advice.md"].into_iter().flat_map(words_of).collect();
    for schema in ["report", "failure", "explanation"] {
        let schema: Value = serde_json::from_str(&run(&["schema", schema]).output()).unwrap();
        let (mut properties, mut values) = (BTreeSet::new(), BTreeSet::new());
        walk(&schema, &mut properties, &mut values);
        assert!(properties.len() > 20 && values.len() > 5, "{schema:#}");
        let untold: Vec<&String> = properties.difference(&told).collect();
        assert!(untold.is_empty(), "docs/json.md tells nothing of {untold:?}");
        let untold: Vec<&String> = values.difference(&told).filter(|value| !elsewhere.contains(*value)).collect();
        assert!(untold.is_empty(), "no document tells of {untold:?}");
    }
}
