//! Random templates, most of them valid: the same seed gives the same.

use fastrand::Rng;

const FIELDS: [&str; 22] = [
    "metadata",
    "name",
    "text",
    "whole",
    "half",
    "list",
    "numbers",
    "nested",
    "mixed",
    "objects",
    "size",
    "share",
    "tags",
    "on",
    "node",
    "ok",
    "deep",
    "only",
    "nothing",
    "emptyList",
    "flag",
    "missing",
];
const SLICES: [&str; 16] =
    ["*", "0", "1", "-1", "-2", ":", "1:", ":1", "0:2", "-2:", ":-1", "::2", "0,1", "-1,0", "2:1", ""];
const OPERATORS: [&str; 7] = ["==", "!=", "<", "<=", ">", ">=", "="];
const VALUES: [&str; 9] = ["1", "20", "-1", "0.5", "'one'", "\"two\"", "true", "@.size", "@.missing"];
const TEXTS: [&str; 6] = ["{\"\\n\"}", ", ", "{'|'}", " ", "{1}", "{\"\\t\"}"];

pub(super) fn templates(seed: u64, count: usize) -> Vec<String> {
    let mut random = Rng::with_seed(seed);
    (0..count).map(|_| template(&mut random)).collect()
}

fn template(random: &mut Rng) -> String {
    let mut template = String::new();
    for _ in 0..random.usize(1..4) {
        let part = match random.usize(..6) {
            0 => TEXTS[random.usize(..TEXTS.len())].to_owned(),
            1 | 2 => range(random, 0),
            _ => format!("{{{}}}", path(random, ".items[*]")),
        };
        template.push_str(&part);
    }
    // One in twenty has a character too few.
    if random.usize(..20) == 0 {
        let at = random.usize(..template.chars().count().max(1));
        template = template.chars().enumerate().filter(|(number, _)| *number != at).map(|(_, c)| c).collect();
    }
    template
}

fn range(random: &mut Rng, depth: usize) -> String {
    let over = path(random, if depth == 0 { ".items[*]" } else { "" });
    let mut within = String::new();
    for _ in 0..random.usize(1..3) {
        let part = match random.usize(..4) {
            0 if depth < 2 => range(random, depth + 1),
            1 => TEXTS[random.usize(..TEXTS.len())].to_owned(),
            _ => format!("{{{}}}", path(random, "")),
        };
        within.push_str(&part);
    }
    let end = if random.usize(..15) == 0 { "" } else { "{end}" };
    format!("{{range {over}}}{within}{end}")
}

/// A path of some steps. It never indexes the current object itself: kubectl crashes where that is nothing.
fn path(random: &mut Rng, root: &str) -> String {
    let mut path = if root.is_empty() || random.usize(..4) == 0 { String::new() } else { root.to_owned() };
    for step in 0..random.usize(1..4) {
        let field = FIELDS[random.usize(..FIELDS.len())];
        // Without `..`: kubectl leaves the order to chance, and with it which mistake is met first.
        let step = match random.usize(..12) {
            0 | 1 => format!("['{field}']"),
            2 => format!("['{field}','{}']", FIELDS[random.usize(..FIELDS.len())]),
            3 if step > 0 => filter(random),
            4 | 5 => format!(".{field}[{}]", SLICES[random.usize(..SLICES.len())]),
            _ => format!(".{field}"),
        };
        path.push_str(&step);
    }
    path
}

fn filter(random: &mut Rng) -> String {
    let field = FIELDS[random.usize(..FIELDS.len())];
    if random.usize(..4) == 0 {
        return format!("[?(@.{field})]");
    }
    let operator = OPERATORS[random.usize(..OPERATORS.len())];
    format!("[?(@.{field}{operator}{})]", VALUES[random.usize(..VALUES.len())])
}
