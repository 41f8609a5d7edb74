//! A template's parts, applied to a document.

use serde_json::Value;
use thiserror::Error;

use super::compare::holds;
use super::print::{go_type, go_value};
use super::{End, Filter, Item, Missing, Node, Part, Slice, Test};

/// Ranges within ranges, beyond which a template is taken for a mistake.
const DEEPEST: usize = 64;

/// Why a template does not apply to a document, in kubectl's words.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EvaluateError {
    /// A field that is nowhere, where that is refused.
    #[error("{0} is not found")]
    NotFound(String),
    /// An index of what is no list.
    #[error("{0} is not array or slice")]
    NoList(String),
    /// A filter of what is no list.
    #[error("{0} is not array or slice and cannot be filtered")]
    NotFiltered(String),
    /// An index beyond the list.
    #[error("array index out of bounds: index {index}, length {length}")]
    OutOfBounds {
        /// The index.
        index: i64,
        /// Elements of the list.
        length: i64,
    },
    /// A slice that ends before it starts.
    #[error("starting index {start} is greater than ending index {end}")]
    EndsBeforeStart {
        /// Where it starts.
        start: i64,
        /// Before which element it ends.
        end: i64,
    },
    /// A step of zero or back.
    #[error("step must be > 0")]
    Step,
    /// A filter that finds several values in one element.
    #[error("can only compare one element at a time")]
    SeveralCompared,
    /// An operator that is none.
    #[error("unrecognized filter operator {0}")]
    UnknownOperator(String),
    /// A value without an order, or that nothing is equal to.
    #[error("invalid type for comparison")]
    NotComparable,
    /// Values of different kinds.
    #[error("incompatible types for comparison")]
    Incompatible,
    /// A word that means nothing.
    #[error("unrecognized identifier {0}")]
    UnknownIdentifier(String),
    /// `end` without `range`.
    #[error("not in range, nothing to end")]
    NothingToEnd,
    /// Too many ranges within each other; kubectl knows no such limit.
    #[error("more than {DEEPEST} ranges within each other")]
    TooDeep,
}

type Items<'a> = Vec<Item<'a>>;

/// An error, and what the step had before it: a filter for existence takes that for something found, as kubectl's does.
struct Failed<'a>(Items<'a>, EvaluateError);

type Found<'a> = Result<Items<'a>, Failed<'a>>;

/// What each part finds, in the order in which it is printed.
pub(super) fn find<'a>(
    parts: &'a [Part],
    document: &'a Value,
    missing: Missing,
) -> Result<Vec<Items<'a>>, EvaluateError> {
    let mut walk = Walk { parts, missing, begun: 0, inside: 0, ended: 0, last_end: None };
    let mut found = Vec::new();
    walk.parts(Item::Json(document), 0, &mut found)?;
    Ok(found)
}

/// Where the walk through the parts stands. `range` and `end` are words among others in an action: they count here, and
/// take effect behind the action that they stand in.
struct Walk<'a> {
    parts: &'a [Part],
    missing: Missing,
    begun: usize,
    inside: usize,
    ended: usize,
    last_end: Option<usize>,
}

impl<'a> Walk<'a> {
    /// The parts from `from` on, up to the end of a range or of the template.
    fn parts(&mut self, current: Item<'a>, from: usize, found: &mut Vec<Items<'a>>) -> Result<(), EvaluateError> {
        let mut at = from;
        while let Some(part) = self.parts.get(at) {
            let items = match part {
                Part::Text(text) => vec![Item::Text(text)],
                Part::Action(nodes) => self.nodes(vec![current], nodes).map_err(|Failed(_, error)| error)?,
            };
            if self.ended > 0 && self.ended <= self.inside {
                self.ended -= 1;
                self.last_end = Some(at);
                return Ok(());
            }
            if self.begun == 0 {
                found.push(items);
            } else {
                self.begun -= 1;
                self.range(items, at + 1, found)?;
                // What follows is behind the end that was met last; where there was none, the rest is not in the range alone.
                at = self.last_end.filter(|end| *end > at).unwrap_or(at);
            }
            at += 1;
        }
        Ok(())
    }

    fn range(&mut self, items: Items<'a>, from: usize, found: &mut Vec<Items<'a>>) -> Result<(), EvaluateError> {
        if self.inside >= DEEPEST {
            return Err(EvaluateError::TooDeep);
        }
        self.inside += 1;
        if items.is_empty() {
            // For its end alone, and for its mistakes.
            self.parts(Item::Nothing, from, &mut Vec::new())?;
        }
        for item in items {
            let current = if item == Item::Json(&Value::Null) { Item::Nothing } else { item };
            self.parts(current, from, found)?;
        }
        self.inside -= 1;
        Ok(())
    }

    fn nodes(&mut self, mut items: Items<'a>, nodes: &'a [Node]) -> Found<'a> {
        for node in nodes {
            items = self.node(items, node)?;
        }
        Ok(items)
    }

    fn node(&mut self, items: Items<'a>, node: &'a Node) -> Found<'a> {
        let for_each = |item: Item<'a>| Ok(vec![item; items.len()]);
        match node {
            Node::Text(text) => Ok(vec![Item::Text(text)]),
            Node::Int(number) => for_each(Item::Int(*number)),
            Node::Float(number) => for_each(Item::Float(*number)),
            Node::Bool(value) => for_each(Item::Bool(*value)),
            Node::Field(name) => self.field(&items, name),
            Node::Identifier(word) => self.identifier(items, word),
            Node::Slice(slice) => sliced(items, *slice),
            Node::Filter(filter) => self.filter(items, filter),
            Node::Wildcard => Ok(items.into_iter().flat_map(children).collect()),
            Node::Recursive => {
                let mut all = Vec::new();
                descend(&items, &mut all);
                Ok(all)
            }
            Node::Union(lists) => self.union(items, lists),
        }
    }

    fn field(&self, items: &[Item<'a>], name: &str) -> Found<'a> {
        let values = items.iter().filter_map(|item| match item {
            Item::Json(Value::Object(fields)) => fields.get(name).map(Item::Json),
            _ => None,
        });
        let values: Items = values.collect();
        if values.is_empty() && !items.is_empty() && self.missing == Missing::Refused {
            return Err(Failed(values, EvaluateError::NotFound(name.to_owned())));
        }
        Ok(values)
    }

    fn identifier(&mut self, items: Items<'a>, word: &str) -> Found<'a> {
        match word {
            "range" => {
                self.begun += 1;
                Ok(items)
            }
            "end" if self.inside > 0 => {
                self.ended += 1;
                Ok(Vec::new())
            }
            "end" => Err(Failed(Vec::new(), EvaluateError::NothingToEnd)),
            word => Err(Failed(items, EvaluateError::UnknownIdentifier(word.to_owned()))),
        }
    }

    fn union(&mut self, items: Items<'a>, lists: &'a [Vec<Node>]) -> Found<'a> {
        let mut all = Vec::new();
        for nodes in lists {
            match self.nodes(items.clone(), nodes) {
                Ok(found) => all.extend(found),
                Err(Failed(_, error)) => return Err(Failed(items, error)),
            }
        }
        Ok(all)
    }

    fn filter(&mut self, items: Items<'a>, filter: &'a Filter) -> Found<'a> {
        let mut passed = Vec::new();
        for item in &items {
            let Item::Json(Value::Array(elements)) = item else {
                return Err(Failed(items.clone(), EvaluateError::NotFiltered(go_value(*item))));
            };
            for element in elements {
                match self.passes(Item::Json(element), filter) {
                    Ok(true) => passed.push(Item::Json(element)),
                    Ok(false) => {}
                    // What had passed before stays found where the comparison itself is refused.
                    Err((true, error)) => return Err(Failed(passed, error)),
                    Err((false, error)) => return Err(Failed(items, error)),
                }
            }
        }
        Ok(passed)
    }

    /// Whether an element passes; an error says whether it is one of the comparison itself.
    fn passes(&mut self, element: Item<'a>, filter: &'a Filter) -> Result<bool, (bool, EvaluateError)> {
        let left = self.nodes(vec![element], &filter.left);
        let (operator, right) = match &filter.test {
            Test::Exists => {
                let (Ok(found) | Err(Failed(found, _))) = left;
                return Ok(!found.is_empty());
            }
            Test::Compare(operator, right) => (operator, right),
        };
        let Some(left) = one(left)? else { return Ok(false) };
        let Some(right) = one(self.nodes(vec![element], right))? else { return Ok(false) };
        holds(left, operator, right).map_err(|error| (true, error))
    }
}

/// The one value of a side of a comparison, if there is one.
fn one(found: Found<'_>) -> Result<Option<Item<'_>>, (bool, EvaluateError)> {
    match &found.map_err(|Failed(_, error)| (false, error))?[..] {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        _ => Err((false, EvaluateError::SeveralCompared)),
    }
}

fn sliced(items: Items<'_>, slice: Slice) -> Found<'_> {
    let mut all = Vec::new();
    for item in &items {
        let elements = match item {
            Item::Json(Value::Null) => continue,
            Item::Json(Value::Array(elements)) => elements,
            other => return Err(Failed(items.clone(), EvaluateError::NoList(go_type(*other).to_owned()))),
        };
        match bounds(slice, elements.len()) {
            // An empty slice ends it, whatever other lists there are.
            Ok(None) => return Ok(all),
            Ok(Some((start, end, step))) => all.extend(elements[start..end].iter().step_by(step).map(Item::Json)),
            Err(error) => return Err(Failed(items, error)),
        }
    }
    Ok(all)
}

/// Start, end and step within a list; `None` for none of its elements.
fn bounds(slice: Slice, length: usize) -> Result<Option<(usize, usize, usize)>, EvaluateError> {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let from_end = |index: i64| if index < 0 { index.wrapping_add(length) } else { index };
    let start = from_end(slice.start.unwrap_or(0));
    let end = match slice.end {
        End::OfList | End::BehindStart(0) => length,
        End::Before(index) | End::BehindStart(index) => from_end(index),
    };
    if start == end {
        return Ok(None);
    }
    if start >= length || start < 0 {
        return Err(EvaluateError::OutOfBounds { index: start, length });
    }
    if end > length || end < 0 {
        return Err(EvaluateError::OutOfBounds { index: end.wrapping_sub(1), length });
    }
    if start > end {
        return Err(EvaluateError::EndsBeforeStart { start, end });
    }
    let step = slice.step.unwrap_or(1);
    if step <= 0 {
        return Err(EvaluateError::Step);
    }
    let index = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
    Ok(Some((index(start), index(end), index(step))))
}

/// What `.*` makes of a value. kubectl takes the fields of an object in any order, here it is that of their names.
fn children(item: Item<'_>) -> Items<'_> {
    match item {
        Item::Json(Value::Object(fields)) => fields.values().map(Item::Json).collect(),
        Item::Json(Value::Array(elements)) => elements.iter().map(Item::Json).collect(),
        Item::Json(Value::String(text)) => text.bytes().map(Item::Byte).collect(),
        Item::Text(text) => text.iter().copied().map(Item::Byte).collect(),
        _ => Vec::new(),
    }
}

/// Every value that has something in it, each before what is in it.
fn descend<'a>(items: &[Item<'a>], all: &mut Items<'a>) {
    for item in items {
        let within = children(*item);
        if !within.is_empty() {
            all.push(*item);
            descend(&within, all);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::jsonpath::{Printing, Template};

    fn document() -> Value {
        json!({
            "kind": "List",
            "flag": true,
            "nothing": null,
            "items": [
                {"name": "a", "size": 1, "share": 0.5, "tags": ["x", "y", "z"], "on": {"node": "n1"}},
                {"name": "b", "size": 20, "share": 1.5, "tags": [], "on": null},
                {"name": "c", "size": 3, "tags": ["x"]},
            ],
            "with.dot": {"a/b": "dotted"},
        })
    }

    fn printed(template: &str, missing: Missing) -> String {
        let document = document();
        let template = match Template::parse(template) {
            Ok(template) => template,
            Err(error) => return format!("error: {error}"),
        };
        let mut out = Vec::new();
        match template.find(&document, missing) {
            Ok(found) => found.iter().for_each(|items| Printing::Raw.text(items, &mut out).unwrap()),
            Err(error) => return format!("error: {error}"),
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn templates_find_what_kubectls_find() {
        for (template, text) in [
            ("text {.kind}, {.flag} {.nothing}", "text List, true null"),
            (".kind", ".kind"),
            ("{.kind", "error: unclosed action"),
            ("{.missing}|{.missing.more[0]}", "|"),
            ("{.}", ""),
            ("{$.kind} {@.kind}", "List List"),
            ("{.items[*].name}", "a b c"),
            ("{.items[0].name}{.items[-1].name}", "ac"),
            ("{.items[0:2].name} {.items[-2:].name} {.items[:-1].name} {.items[::2].name}", "a b b c a b a c"),
            ("{.items[1:1].name}|{.items[3:3].name}", "|"),
            ("{.items[3].name}", "error: array index out of bounds: index 3, length 3"),
            ("{.items[-4].name}", "error: array index out of bounds: index -1, length 3"),
            ("{.items[0:4]}", "error: array index out of bounds: index 3, length 3"),
            ("{.items[2:1]}", "error: starting index 2 is greater than ending index 1"),
            ("{.items[0:2:0]}", "error: step must be > 0"),
            ("{.kind[0]}", "error: string is not array or slice"),
            ("{.items[0].on[0]}", "error: map[string]interface {} is not array or slice"),
            ("{.items[0]['name','size']}", "a 1"),
            ("{.items[*]['name','size']}", "a b c 1 20 3"),
            ("{.items[0,2].name}", "a c"),
            ("{.with\\.dot.a/b} {['with\\.dot']['a/b']}", "dotted dotted"),
            ("{..name}", "a b c"),
            ("{.items[?(@.name==\"b\")].size}", "20"),
            ("{.items[?(@.size>1)].name} {.items[?(@.size>=3)].name} {.items[?(@.size<3)].name}", "b c b c a"),
            ("{.items[?(@.size<=3)].name} {.items[?(@.name!='a')].name}", "a c b c"),
            ("{.items[?(@.share)].name} {.items[?(@.on)].name}", "a b a b"),
            ("{.items[?(@.share==0.5)].name}", "a"),
            ("{.items[?(@.size==1.0)].name}", "error: incompatible types for comparison"),
            ("{.items[?(@.name==1)].name}", "error: incompatible types for comparison"),
            ("{.items[?(@.on==1)].name}", "error: invalid type for comparison"),
            ("{.items[?(@.size=1)].name}", "error: unrecognized filter operator ="),
            ("{.items[?(@.tags[*]=='x')].name}", "error: can only compare one element at a time"),
            ("{.items[?(@.tags[0]=='x')].name}", "error: array index out of bounds: index 0, length 0"),
            ("{.items[?(@.tags[0])].name}", "a b c"),
            ("{.kind[?(@.a==1)]}", "error: List is not array or slice and cannot be filtered"),
            ("{.items[2].tags}{.items[0].on}", "[\"x\"]{\"node\":\"n1\"}"),
            ("{.kind.*}", "76 105 115 116"),
            ("{range .items[*]}{.name}={.size}{\"\\n\"}{end}.", "a=1\nb=20\nc=3\n."),
            ("{range .items[*]}{.name}:{range .tags[*]}{@},{end};{end}", "a:x,y,z,;b:;c:x,;"),
            ("{range .items[*]}[{range .missing[*]}{.x}{end}]{end}!", "[][][]!"),
            ("{range .items[*].on}{@}|{end}", "{\"node\":\"n1\"}|<no value>|"),
            ("{range .items[*]}{.name}", "abc"),
            ("{end}", "error: not in range, nothing to end"),
            ("{kind}", "error: unrecognized identifier kind"),
            ("{.items[*].name 7}", "7 7 7"),
            ("{.share}{1.0}{2.50}", "12.5"),
        ] {
            assert_eq!(printed(template, Missing::Allowed), text, "{template}");
        }
    }

    #[test]
    fn what_is_missing_may_be_refused() {
        assert_eq!(printed("{.missing}", Missing::Refused), "error: missing is not found");
        assert_eq!(printed("{.items[*].share}", Missing::Refused), "0.5 1.5");
        assert_eq!(printed("{.items[?(@.share)].name}", Missing::Refused), "a b");
    }

    #[test]
    fn ranges_without_end_within_each_other_are_bounded() {
        let template = "{range .items[0]}".repeat(1000);
        assert_eq!(printed(&template, Missing::Allowed), "error: more than 64 ranges within each other");
    }
}
