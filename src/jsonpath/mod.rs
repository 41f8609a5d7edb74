//! JSONPath as kubectl speaks it: a template of text and `{…}`, applied to a JSON document.
//!
//! The dialect is that of `k8s.io/client-go/util/jsonpath` and of what `kubectl get` builds on it; no other
//! implementation of JSONPath has `{range}`, quoted text or its rules for what is missing. What kubectl accepts, refuses
//! and prints is followed case by case, oddities included, and compared with the real kubectl in `tests/cluster`. Where
//! kubectl's answer is left to chance (the fields of an object under `.*` and `..`, equal keys of a sort) or a crash, the
//! answer here is a fixed one.

mod compare;
mod evaluate;
mod order;
mod parse;
mod print;
mod quote;

use serde_json::Value;
use thiserror::Error;

pub use evaluate::EvaluateError;
pub use order::{OrderError, order_by};
pub use parse::ParseError;
pub use print::{Printing, go_value};

/// A template that has been read.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    parts: Vec<Part>,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    /// What stands outside of braces, printed as it is.
    Text(Vec<u8>),
    /// What stands within one pair of braces.
    Action(Vec<Node>),
}

/// One step of an action. Each takes the values before it and makes those after it.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    /// Quoted text. Bytes, as `\xff` may stand in it.
    Text(Vec<u8>),
    /// `.name`.
    Field(String),
    /// `range`, `end`, or a word that stands for nothing.
    Identifier(String),
    /// `[start:end:step]`, and `[index]`.
    Slice(Slice),
    /// `[?(left operator right)]`.
    Filter(Box<Filter>),
    Int(i64),
    Float(f64),
    Bool(bool),
    /// `.*`.
    Wildcard,
    /// `..`.
    Recursive,
    /// `[a,b]`.
    Union(Vec<Vec<Node>>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Slice {
    start: Option<i64>,
    end: End,
    step: Option<i64>,
}

/// Where a slice ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    /// With the list.
    #[default]
    OfList,
    /// Before this index.
    Before(i64),
    /// Behind the one element that was asked for. Of `[-1]` that is 0, and stands for the list's end.
    BehindStart(i64),
}

#[derive(Clone, Debug, PartialEq)]
struct Filter {
    left: Vec<Node>,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    /// Whether there is something on the left.
    Exists,
    /// An operator, known or not, and what it compares with.
    Compare(String, Vec<Node>),
}

/// What a step finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item<'a> {
    /// A value of the document.
    Json(&'a Value),
    /// Text of the template.
    Text(&'a [u8]),
    /// A whole number of the template.
    Int(i64),
    /// Another number of the template.
    Float(f64),
    /// `true` or `false` in the template.
    Bool(bool),
    /// A byte of a string, which is what `.*` makes of it.
    Byte(u8),
    /// What stands for the current object in a range over nothing, or over `null`: neither a value nor `null`.
    Nothing,
}

/// Whether what is missing is an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// It is nothing, as for `kubectl get`.
    #[default]
    Allowed,
    /// It is an error, as with `--allow-missing-template-keys=false`.
    Refused,
}

/// A path that is none.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{{name1.name2}}' or '{{.name1.name2}}'"
)]
pub struct NoPath;

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    ///
    /// In kubectl's words, where it is none.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Ok(Self { parts: parse::parts(text)? })
    }

    /// What each part of the template finds in a document, in the order in which it is printed.
    ///
    /// # Errors
    ///
    /// In kubectl's words, where a step does not apply to what it is given.
    pub fn find<'a>(&'a self, document: &'a Value, missing: Missing) -> Result<Vec<Vec<Item<'a>>>, EvaluateError> {
        evaluate::find(&self.parts, document, missing)
    }
}

/// A single path as `custom-columns` and `--sort-by` take it, with or without braces and a leading dot, in its whole form:
/// `metadata.name` is `{.metadata.name}`. Nothing stays nothing.
///
/// # Errors
///
/// Where there are other braces than one pair around it all.
pub fn whole_path(path: &str) -> Result<String, NoPath> {
    if path.is_empty() {
        return Ok(String::new());
    }
    let inner = path.strip_prefix('{').and_then(|path| path.strip_suffix('}')).unwrap_or(path);
    let bare = inner.strip_prefix('.').filter(|bare| !bare.is_empty()).unwrap_or(inner);
    if bare.is_empty() || bare.contains(['{', '}']) {
        return Err(NoPath);
    }
    Ok(format!("{{.{bare}}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_in_all_its_forms() {
        for (path, whole) in [
            ("metadata.name", Ok("{.metadata.name}")),
            (".metadata.name", Ok("{.metadata.name}")),
            ("{metadata.name}", Ok("{.metadata.name}")),
            ("{.metadata.name}", Ok("{.metadata.name}")),
            ("..name", Ok("{..name}")),
            ("", Ok("")),
            (".", Ok("{..}")),
            ("{}", Err(NoPath)),
            ("{.a}{.b}", Err(NoPath)),
            ("{.a", Err(NoPath)),
            ("a}", Err(NoPath)),
        ] {
            assert_eq!(whole_path(path), whole.map(str::to_owned), "{path}");
        }
    }
}
