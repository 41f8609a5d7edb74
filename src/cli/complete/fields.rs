//! Fields for `--sort-by` and `custom-columns`, as the published schema has them.

use serde_json::Value;

use super::words::Line;
use super::{Answer, Candidate};
use crate::report::{explanation_schema, failure_schema, report_schema};

/// How deep fields are looked for: `.rule.requirement.operator`.
const DEPTH: usize = 3;

/// A field by its path.
struct Field {
    path: String,
    help: String,
}

/// What the rows of a command's output can be sorted by.
pub(super) fn to_sort_by(line: &Line, typed: &str) -> Answer {
    next_of(fields(line, false), typed, str::to_owned)
}

/// `HEAD:PATH`, members of a list; the last is being typed.
pub(super) fn columns(line: &Line, typed: &str) -> Answer {
    let (begins, part) = typed.split_at(typed.rfind(',').map_or(0, |at| at + 1));
    let all = fields(line, true);
    // A comma and another column may follow.
    let answer = match part.split_once(':') {
        Some((head, path)) => next_of(all, path, |path| format!("custom-columns={begins}{head}:{path}")).candidates,
        None => all
            .into_iter()
            .map(|field| (head_of(&field.path), field))
            // Those further down are shown to whoever begins to type one.
            .filter(|(head, _)| head.starts_with(part) && (!part.is_empty() || !head.contains('-')))
            .map(|(head, Field { path, help })| Candidate::new(format!("custom-columns={begins}{head}:{path}"), &help))
            .collect(),
    };
    Answer::open(answer)
}

/// The fields that begin so, each to its next dot, as folders are offered.
fn next_of(fields: Vec<Field>, typed: &str, whole: impl Fn(&str) -> String) -> Answer {
    let mut candidates = Vec::new();
    for Field { path, help } in fields.into_iter().filter(|field| field.path.starts_with(typed)) {
        // The first one begins every path.
        let from = typed.len().max(1);
        candidates.push(match path[from..].find('.') {
            Some(at) => Candidate::plain(whole(&path[..=from + at])),
            None => Candidate::new(whole(&path), &help),
        });
    }
    if candidates.iter().any(|candidate| candidate.text.ends_with('.')) {
        return Answer::open(candidates);
    }
    Answer::of(candidates)
}

/// `.rule.label` → `RULE-LABEL`.
fn head_of(path: &str) -> String {
    path.trim_start_matches('.').replace("[*]", "").replace('.', "-").to_ascii_uppercase()
}

/// The fields of a row: of a group, a failure or a workload, or of an explanation.
fn fields(line: &Line, with_lists: bool) -> Vec<Field> {
    let format = line.values("output").last().unwrap_or_default();
    let (schema, row) = match (line.name(), format) {
        ("explain", _) => (explanation_schema().to_value(), None),
        (_, "jsonl" | "csv") => (failure_schema().to_value(), None),
        (_, "name") => (report_schema().to_value(), Some("workloads")),
        _ => (report_schema().to_value(), Some("groups")),
    };
    let mut fields = Vec::new();
    let mut walk = Walk { schema: &schema, with_lists, fields: &mut fields };
    match row {
        Some(list) => walk.below(&schema["properties"][list]["items"], "", DEPTH),
        None => walk.below(&schema, "", DEPTH),
    }
    fields
}

struct Walk<'a> {
    schema: &'a Value,
    with_lists: bool,
    fields: &'a mut Vec<Field>,
}

impl Walk<'_> {
    fn below(&mut self, node: &Value, path: &str, depth: usize) {
        let Some(properties) = self.resolve(node)["properties"].as_object().filter(|_| depth > 0) else { return };
        let properties = properties.clone();
        for (name, property) in properties {
            let help = property["description"].as_str().and_then(|text| text.lines().next()).unwrap_or_default();
            self.property(&property, format!("{path}.{name}"), help, depth);
        }
    }

    fn property(&mut self, property: &Value, path: String, help: &str, depth: usize) {
        let whole = self.resolve(property).clone();
        if whole["properties"].is_object() {
            self.below(&whole, &path, depth - 1);
        } else if whole["items"].is_object() {
            if self.with_lists {
                let item = self.resolve(&whole["items"]).clone();
                self.property(&item, format!("{path}[*]"), help, depth);
            }
        } else {
            self.fields.push(Field { path, help: help.to_owned() });
        }
    }

    /// What a reference leads to; of one that may be null, the other.
    fn resolve<'n>(&'n self, node: &'n Value) -> &'n Value {
        if let Some(name) = node["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
            return self.resolve(&self.schema["$defs"][name]);
        }
        let choices = node["anyOf"].as_array().into_iter().flatten();
        let other = choices.filter(|choice| choice["type"] != "null").find(|choice| choice["$ref"].is_string());
        other.map_or(node, |choice| self.resolve(choice))
    }
}
