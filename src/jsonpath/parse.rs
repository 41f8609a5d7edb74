//! A template → its parts.

use std::sync::LazyLock;

use regex::Regex;
use thiserror::Error;

use super::quote::unquote;
use super::{End, Filter, Node, Part, Slice, Test};

/// Why a text is no template, in kubectl's words.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ParseError {
    /// A brace without its other half.
    #[error("unclosed action")]
    UnclosedAction,
    /// A character that begins nothing.
    #[error("unrecognized character in action: {}", shown(*.0))]
    Unrecognized(char),
    /// `....`.
    #[error("invalid multiple recursive descent")]
    TwiceRecursive,
    /// A number that is none.
    #[error("cannot parse number {0}")]
    NoNumber(String),
    /// `[` without `]`.
    #[error("unterminated array")]
    UnterminatedArray,
    /// Something between `[` and `]` that is neither index, slice, name, union nor filter.
    #[error("invalid array index {0}")]
    InvalidIndex(String),
    /// An index too large for a number, or a sign alone.
    #[error("array index {0} is not a number")]
    IndexIsNoNumber(String),
    /// `[?(` without `)`.
    #[error("unterminated filter")]
    UnterminatedFilter,
    /// `)` of a filter without `]` behind it.
    #[error("unclosed array expect ]")]
    UnclosedFilter,
    /// A quote without its other half.
    #[error("unterminated quoted string")]
    UnterminatedQuote,
    /// An escape that means nothing.
    #[error("unquote string {0} error invalid syntax")]
    Unquotable(String),
}

/// A character as Go names it: with itself where it can be printed.
fn shown(c: char) -> String {
    static PRINTABLE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$").ok());
    let itself = PRINTABLE.as_ref().is_some_and(|printable| printable.is_match(c.encode_utf8(&mut [0; 4])));
    let itself = if itself { format!(" '{c}'") } else { String::new() };
    format!("U+{:04X}{itself}", u32::from(c))
}

/// Go's `unicode.IsLetter`, which leaves out what Rust counts as alphabetic besides.
fn is_letter(c: char) -> bool {
    static LETTER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{L}$").ok());
    let is_other = || LETTER.as_ref().is_some_and(|letter| letter.is_match(c.encode_utf8(&mut [0; 4])));
    c.is_ascii_alphabetic() || (!c.is_ascii() && is_other())
}

/// Go's `unicode.IsDigit`.
fn is_digit(c: char) -> bool {
    static DIGIT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{Nd}$").ok());
    let is_other = || DIGIT.as_ref().is_some_and(|digit| digit.is_match(c.encode_utf8(&mut [0; 4])));
    c.is_ascii_digit() || (!c.is_ascii() && is_other())
}

fn begins_word(c: char) -> bool {
    c == '_' || is_letter(c) || is_digit(c)
}

fn ends_word(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

/// The parts of a template.
pub(super) fn parts(text: &str) -> Result<Vec<Part>, ParseError> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(brace) = rest.find('{') {
        if brace > 0 {
            parts.push(Part::Text(rest[..brace].into()));
        }
        let mut action = Action { rest: &rest[brace + 1..], nodes: Vec::new() };
        action.read()?;
        rest = action.rest;
        parts.push(Part::Action(action.nodes));
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.into()));
    }
    Ok(parts)
}

/// What stands within brackets is read as an action of its own. What it holds behind a brace is read, too, and has no
/// effect.
fn inner(text: &str) -> Result<Vec<Node>, ParseError> {
    let mut parts = parts(&format!("{{{text}}}"))?;
    match parts.swap_remove(0) {
        Part::Action(nodes) => Ok(nodes),
        Part::Text(_) => Ok(Vec::new()),
    }
}

/// An action, behind its brace.
struct Action<'t> {
    rest: &'t str,
    nodes: Vec<Node>,
}

impl<'t> Action<'t> {
    /// To its end, and behind it.
    fn read(&mut self) -> Result<(), ParseError> {
        loop {
            if let Some(behind) = self.rest.strip_prefix('}') {
                self.rest = behind;
                return Ok(());
            }
            if let Some(filter) = self.rest.strip_prefix("[?(") {
                self.rest = filter;
                self.filter()?;
                continue;
            }
            if let Some(behind) = self.rest.strip_prefix("..") {
                self.rest = behind;
                self.recursive()?;
                continue;
            }
            let Some(c) = self.rest.chars().next() else { return Err(ParseError::UnclosedAction) };
            let behind = &self.rest[c.len_utf8()..];
            match c {
                '\r' | '\n' => return Err(ParseError::UnclosedAction),
                // `@` and `$` are the current object, which every path begins at.
                ' ' | '@' | '$' => self.rest = behind,
                '[' => {
                    self.rest = behind;
                    self.array()?;
                }
                '"' | '\'' => {
                    self.rest = behind;
                    self.quoted(c)?;
                }
                '.' => {
                    self.rest = behind;
                    self.field();
                }
                c if matches!(c, '+' | '-') || is_digit(c) => self.number()?,
                c if begins_word(c) => self.identifier(),
                c => return Err(ParseError::Unrecognized(c)),
            }
        }
    }

    /// Takes the text before `end`, a position in what is left.
    fn take(&mut self, end: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn recursive(&mut self) -> Result<(), ParseError> {
        if self.nodes.last() == Some(&Node::Recursive) {
            return Err(ParseError::TwiceRecursive);
        }
        self.nodes.push(Node::Recursive);
        if self.rest.starts_with(begins_word) {
            self.field();
        }
        Ok(())
    }

    /// A name: a backslash keeps the character behind it from ending it.
    fn field(&mut self) {
        let mut end = self.rest.len();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            if c == '\\' {
                chars.next();
            } else if ends_word(c) {
                end = at;
                break;
            }
        }
        let name = self.take(end);
        self.nodes.push(if name == "*" { Node::Wildcard } else { Node::Field(name.replace('\\', "")) });
    }

    fn identifier(&mut self) {
        let word = self.take(self.rest.find(ends_word).unwrap_or(self.rest.len()));
        self.nodes.push(match word {
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            word => Node::Identifier(word.to_owned()),
        });
    }

    fn number(&mut self) -> Result<(), ParseError> {
        let sign = usize::from(self.rest.starts_with(['+', '-']));
        let digits = self.rest[sign..].find(|c| c != '.' && !is_digit(c));
        let text = self.take(digits.map_or(self.rest.len(), |end| sign + end));
        let float = || text.parse::<f64>().ok().filter(|number| number.is_finite());
        let node = text.parse().map(Node::Int).ok().or_else(|| float().map(Node::Float));
        self.nodes.push(node.ok_or_else(|| ParseError::NoNumber(text.to_owned()))?);
        Ok(())
    }

    fn quoted(&mut self, quote: char) -> Result<(), ParseError> {
        let mut before = quote;
        for (at, c) in self.rest.char_indices() {
            if c == '\n' {
                break;
            }
            // A backslash that is itself escaped keeps the quote from ending the text as well.
            if c == quote && before != '\\' {
                let inner = self.take(at);
                self.rest = &self.rest[1..];
                self.nodes.push(Node::Text(unquote(inner, quote)?));
                return Ok(());
            }
            before = c;
        }
        Err(ParseError::UnterminatedQuote)
    }

    /// Behind `[`: the first `]` ends it, also one within quotes.
    fn array(&mut self) -> Result<(), ParseError> {
        let end = self.rest.find([']', '\n']).filter(|end| self.rest[*end..].starts_with(']'));
        let text = self.take(end.ok_or(ParseError::UnterminatedArray)?);
        self.rest = &self.rest[1..];
        if text.contains(',') {
            let one = |part: &str| inner(&format!("[{}]", part.trim_matches(' ')));
            self.nodes.push(Node::Union(text.split(',').map(one).collect::<Result<_, _>>()?));
            return Ok(());
        }
        let name = text.strip_prefix('\'').and_then(|name| name.strip_suffix('\'')).filter(|name| !name.contains('\''));
        match name {
            // Dots in it part names here as well, unless they are escaped.
            Some(name) => self.nodes.extend(inner(&format!(".{name}"))?),
            None => self.nodes.push(Node::Slice(slice(text)?)),
        }
        Ok(())
    }

    /// Behind `[?(`: the first `)` ends it that is not between the first quotes in it.
    fn filter(&mut self) -> Result<(), ParseError> {
        let (mut quote, mut is_open, mut before) = (None, false, '(');
        let mut end = None;
        for (at, c) in self.rest.char_indices() {
            match (c, quote) {
                ('\n', _) => break,
                (')', _) if !is_open => {
                    end = Some(at);
                    break;
                }
                ('"' | '\'', None) => (quote, is_open) = (Some(c), true),
                (c, Some(opened)) if c == opened && before != '\\' => is_open = false,
                _ => {}
            }
            before = c;
        }
        let text = self.take(end.ok_or(ParseError::UnterminatedFilter)?);
        self.rest = self.rest.strip_prefix(")]").ok_or(ParseError::UnclosedFilter)?;
        let is_operator = |c| matches!(c, '!' | '<' | '>' | '=');
        let begin = text.find(is_operator).filter(|begin| *begin > 0);
        let parted = begin.map(|begin| {
            let behind = &text[begin..];
            (begin, begin + behind.find(|c| !is_operator(c)).unwrap_or(behind.len()))
        });
        let filter = match parted {
            Some((begin, end)) if end < text.len() => {
                let left = inner(&text[..begin])?;
                Filter { left, test: Test::Compare(text[begin..end].to_owned(), inner(&text[end..])?) }
            }
            // `(.+?)` of kubectl's own pattern takes the last sign of an operator with nothing behind it.
            Some((begin, end)) if end - begin > 1 => {
                let left = inner(&text[..begin])?;
                Filter { left, test: Test::Compare(text[begin..end - 1].to_owned(), inner(&text[end - 1..])?) }
            }
            _ => Filter { left: inner(text)?, test: Test::Exists },
        };
        self.nodes.push(Node::Filter(Box::new(filter)));
        Ok(())
    }
}

/// `start:end:step`, each of which may be left out, `*` for all, or one index.
fn slice(text: &str) -> Result<Slice, ParseError> {
    if text == "*" {
        return Ok(Slice::default());
    }
    let parts: Vec<&str> = text.split(':').collect();
    let is_number = |part: &&str| part.strip_prefix('-').unwrap_or(part).chars().all(|c| c.is_ascii_digit());
    if parts.len() > 3 || !parts.iter().all(is_number) {
        return Err(ParseError::InvalidIndex(text.to_owned()));
    }
    let number = |part: &str| match part {
        "" => Ok(None),
        part => part.parse::<i64>().map(Some).map_err(|_| ParseError::IndexIsNoNumber(part.to_owned())),
    };
    let start = number(parts[0])?;
    let end = match parts.get(1) {
        // `[]` is the first element.
        None => End::BehindStart(start.unwrap_or(0).wrapping_add(1)),
        Some(part) => number(part)?.map_or(End::OfList, End::Before),
    };
    let step = parts.get(2).map(|part| number(part)).transpose()?.flatten();
    Ok(Slice { start, end, step })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_template_is_refused_in_kubectls_words() {
        for (template, words) in [
            ("{.a", "unclosed action"),
            ("{", "unclosed action"),
            ("{.a\n}", "unclosed action"),
            ("{.a#}", ""),
            ("{.a ~}", "unrecognized character in action: U+007E '~'"),
            ("{\t.a}", "unrecognized character in action: U+0009"),
            ("{..*}", "unrecognized character in action: U+002A '*'"),
            ("{....a}", "invalid multiple recursive descent"),
            ("{-}", "cannot parse number -"),
            ("{1.2.3}", "cannot parse number 1.2.3"),
            ("{99999999999999999999}", ""),
            ("{.a[0}", "unterminated array"),
            ("{.a[x]}", "invalid array index x"),
            ("{.a[\"b\"]}", "invalid array index \"b\""),
            ("{.a[1:2:3:4]}", "invalid array index 1:2:3:4"),
            ("{.a[-]}", "array index - is not a number"),
            ("{.a[99999999999999999999]}", "array index 99999999999999999999 is not a number"),
            ("{.a[?(@.b==1}", "unterminated filter"),
            ("{.a[?(@.b==1)}", "unclosed array expect ]"),
            ("{.a[?(@.b==1 && @.c==2)]}", "unrecognized character in action: U+0026 '&'"),
            ("{\"a}", "unterminated quoted string"),
            ("{\"\\q\"}", "unquote string \"\\q\" error invalid syntax"),
            ("{'it\\'s'}", ""),
            ("no action at all", ""),
            ("}", ""),
        ] {
            let refused = parts(template).err().map(|error| error.to_string());
            assert_eq!(refused.unwrap_or_default(), words, "{template}");
        }
    }

    #[test]
    fn names_indexes_and_filters_are_read_as_kubectl_reads_them() {
        let field = |name: &str| Node::Field(name.to_owned());
        let one = |index| Node::Slice(Slice { start: Some(index), end: End::BehindStart(index + 1), step: None });
        for (template, nodes) in [
            ("{.a.b}", vec![field("a"), field("b")]),
            ("{$.a}", vec![field("a")]),
            ("{.a\\.b/c}", vec![field("a.b/c")]),
            ("{['a.b']}", vec![field("a"), field("b")]),
            ("{['a\\.b']}", vec![field("a.b")]),
            ("{.}", vec![field("")]),
            ("{}", vec![]),
            ("{..a}", vec![Node::Recursive, field("a")]),
            ("{.*}", vec![Node::Wildcard]),
            ("{.a[0]}", vec![field("a"), one(0)]),
            ("{.a[-1]}", vec![field("a"), one(-1)]),
            ("{.a[]}", vec![field("a"), Node::Slice(Slice { start: None, end: End::BehindStart(1), step: None })]),
            ("{.a[*]}", vec![field("a"), Node::Slice(Slice::default())]),
            ("{[1:-2:3]}", vec![Node::Slice(Slice { start: Some(1), end: End::Before(-2), step: Some(3) })]),
            ("{['a', 'b']}", vec![Node::Union(vec![vec![field("a")], vec![field("b")]])]),
            ("{range}", vec![Node::Identifier("range".to_owned())]),
            ("{true 1 2.5}", vec![Node::Bool(true), Node::Int(1), Node::Float(2.5)]),
            ("{\"x\"}", vec![Node::Text(b"x".to_vec())]),
        ] {
            assert_eq!(parts(template), Ok(vec![Part::Action(nodes)]), "{template}");
        }
        for (template, left, operator) in [
            ("{[?(@.a==1)]}", field("a"), Some("==")),
            ("{[?(@.a)]}", field("a"), None),
            ("{[?(@.a==\")\")]}", field("a"), Some("==")),
            ("{[?(@.a=)]}", field("a="), None),
            ("{[?(@.a=~1)]}", field("a"), Some("")),
        ] {
            let read = parts(template);
            let Ok([Part::Action(nodes)]) = read.as_deref() else {
                assert_eq!(operator, Some(""), "{template}: {read:?}");
                continue;
            };
            let [Node::Filter(filter)] = &nodes[..] else { panic!("{template}: {nodes:?}") };
            let of = match &filter.test {
                Test::Exists => None,
                Test::Compare(operator, _) => Some(operator.as_str()),
            };
            assert_eq!((&filter.left[..], of), (&[left][..], operator), "{template}");
        }
    }
}
