//! Values as Go prints them.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::{Number, Value};

use super::Item;

/// Whether what comes from the document may do what it likes to a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Printing {
    /// Byte for byte as kubectl prints it: for files and pipes.
    #[default]
    Raw,
    /// With control characters of the document, line ends and tabs aside, escaped: for a terminal.
    Escaped,
}

impl Printing {
    /// What one part of a template found, with a blank between values.
    pub fn text(self, items: &[Item], out: &mut impl Write) -> io::Result<()> {
        for (number, item) in items.iter().enumerate() {
            if number > 0 {
                out.write_all(b" ")?;
            }
            match item {
                Item::Json(value @ (Value::Object(_) | Value::Array(_))) => {
                    out.write_all(self.shown(&json(value, None)).as_bytes())?;
                }
                Item::Json(Value::Null) => out.write_all(b"null")?,
                Item::Json(Value::String(text)) => out.write_all(self.shown(text).as_bytes())?,
                // What is written in the template is meant.
                Item::Text(text) => out.write_all(text)?,
                Item::Nothing => out.write_all(b"<no value>")?,
                other => out.write_all(go_value(*other).as_bytes())?,
            }
        }
        Ok(())
    }

    /// The same as a JSON array on lines of its own.
    pub fn json(self, items: &[Item], out: &mut impl Write) -> io::Result<()> {
        let all = Value::Array(items.iter().map(|item| to_json(*item)).collect());
        out.write_all(self.shown(&json(&all, Some(0))).as_bytes())?;
        out.write_all(b"\n")
    }

    /// Text of the document. An escape is that of JSON, so that JSON stays what it is.
    fn shown(self, text: &str) -> String {
        if self == Self::Raw {
            return text.to_owned();
        }
        let mut shown = String::with_capacity(text.len());
        for c in text.chars() {
            if crate::words::is_hidden(c) && !matches!(c, '\n' | '\t') {
                let _ = write!(shown, "\\u{:04x}", u32::from(c));
            } else {
                shown.push(c);
            }
        }
        shown
    }
}

fn to_json(item: Item<'_>) -> Value {
    match item {
        Item::Json(value) => value.clone(),
        Item::Text(text) => String::from_utf8_lossy(text).into(),
        Item::Int(number) => number.into(),
        Item::Float(number) => number.into(),
        Item::Bool(value) => value.into(),
        Item::Byte(byte) => byte.into(),
        Item::Nothing => Value::Null,
    }
}

/// JSON as Go's `encoding/json` writes it: `<`, `>` and `&` escaped. Indented by four from a level on, or in one line.
fn json(value: &Value, indent: Option<usize>) -> String {
    let mut text = String::new();
    write_json(value, indent, &mut text);
    text
}

fn write_json(value: &Value, indent: Option<usize>, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => text.push_str(&match whole(number) {
            Some(number) => number.to_string(),
            None => json_float(number.as_f64().unwrap_or(f64::NAN)),
        }),
        Value::String(string) => write_string(string, text),
        Value::Array(elements) => {
            let each = elements.iter().map(|element| (None, element));
            write_all(each, ['[', ']'], indent, text);
        }
        Value::Object(fields) => {
            let each = fields.iter().map(|(name, value)| (Some(name), value));
            write_all(each, ['{', '}'], indent, text);
        }
    }
}

fn write_all<'v>(
    each: impl ExactSizeIterator<Item = (Option<&'v String>, &'v Value)>,
    [open, close]: [char; 2],
    indent: Option<usize>,
    text: &mut String,
) {
    let line = |level: usize, text: &mut String| {
        if indent.is_some() {
            text.push('\n');
            text.push_str(&" ".repeat(4 * level));
        }
    };
    let is_empty = each.len() == 0;
    text.push(open);
    for (number, (name, value)) in each.enumerate() {
        if number > 0 {
            text.push(',');
        }
        line(indent.unwrap_or(0) + 1, text);
        if let Some(name) = name {
            write_string(name, text);
            text.push_str(if indent.is_some() { ": " } else { ":" });
        }
        write_json(value, indent.map(|level| level + 1), text);
    }
    if !is_empty {
        line(indent.unwrap_or(0), text);
    }
    text.push(close);
}

fn write_string(string: &str, text: &mut String) {
    // Quotes, backslashes and control characters are escaped alike by both.
    for c in Value::from(string).to_string().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            c => text.push(c),
        }
    }
}

/// Whole numbers stay whole as far as 64 bits hold them.
fn whole(number: &Number) -> Option<i64> {
    number.as_i64()
}

/// A value as `fmt.Print` prints it: `map[a:1 b:[x y]]`.
pub fn go_value(item: Item) -> String {
    match item {
        Item::Json(value) => go_json(value),
        Item::Text(text) => String::from_utf8_lossy(text).into_owned(),
        Item::Int(number) => number.to_string(),
        Item::Float(number) => go_float(number),
        Item::Bool(value) => value.to_string(),
        Item::Byte(byte) => byte.to_string(),
        Item::Nothing => "<invalid reflect.Value>".to_owned(),
    }
}

fn go_json(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => match whole(number) {
            Some(number) => number.to_string(),
            None => go_float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => text.clone(),
        Value::Array(elements) => format!("[{}]", elements.iter().map(go_json).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let each = fields.iter().map(|(name, value)| format!("{name}:{}", go_json(value)));
            format!("map[{}]", each.collect::<Vec<_>>().join(" "))
        }
    }
}

/// The type of a value, as Go names it.
pub(super) fn go_type(item: Item) -> &'static str {
    match item {
        Item::Json(Value::Object(_)) => "map[string]interface {}",
        Item::Json(Value::Array(_)) => "[]interface {}",
        Item::Json(Value::String(_)) | Item::Text(_) => "string",
        Item::Json(Value::Number(number)) if whole(number).is_some() => "int64",
        Item::Json(Value::Number(_)) | Item::Float(_) => "float64",
        Item::Json(Value::Bool(_)) | Item::Bool(_) => "bool",
        Item::Json(Value::Null) => "nil",
        Item::Int(_) => "int",
        Item::Byte(_) => "uint8",
        Item::Nothing => "nothing",
    }
}

/// A number that is not whole, or too large, as `%v` prints it: with an exponent below 1e-4 and from 1e6 on.
pub(super) fn go_float(number: f64) -> String {
    let (digits, exponent) = scientific(number);
    if number == 0.0 || (-4..6).contains(&exponent) { number.to_string() } else { with_exponent(&digits, exponent, 2) }
}

fn json_float(number: f64) -> String {
    let (digits, exponent) = scientific(number);
    if number == 0.0 || (1e-6..1e21).contains(&number.abs()) {
        number.to_string()
    } else {
        with_exponent(&digits, exponent, 1)
    }
}

/// The shortest digits that stand for a number, as `1.5`, and its exponent.
fn scientific(number: f64) -> (String, i32) {
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

fn with_exponent(digits: &str, exponent: i32, width: usize) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:0width$}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_go_prints_them() {
        for (number, plain, in_json) in [
            (1_000_000.0, "1e+06", "1000000"),
            (123_456_789.0, "1.23456789e+08", "123456789"),
            (123_456.789, "123456.789", "123456.789"),
            (144.0, "144", "144"),
            (0.0001, "0.0001", "0.0001"),
            (0.00001, "1e-05", "0.00001"),
            (1e21, "1e+21", "1e+21"),
            (2.5e-7, "2.5e-07", "2.5e-7"),
            (-1e-9, "-1e-09", "-1e-9"),
            (1e300, "1e+300", "1e+300"),
            (0.0, "0", "0"),
        ] {
            assert_eq!((&*go_float(number), &*json_float(number)), (plain, in_json));
        }
    }

    #[test]
    fn json_is_escaped_as_go_escapes_it() {
        let value = Value::from("a<b>&\u{8}\u{c}\u{1}\u{7f}\u{2028}\"\\");
        assert_eq!(json(&value, None), "\"a\\u003cb\\u003e\\u0026\\b\\f\\u0001\u{7f}\\u2028\\\"\\\\\"");
        let value = serde_json::json!({"b": [1, {}], "a": []});
        assert_eq!(json(&value, None), r#"{"a":[],"b":[1,{}]}"#);
        assert_eq!(json(&value, Some(0)), "{\n    \"a\": [],\n    \"b\": [\n        1,\n        {}\n    ]\n}");
    }

    #[test]
    fn a_terminal_is_told_nothing_by_the_document_and_all_by_the_template() {
        let value = Value::from("\u{1b}[31mred\u{9b}2J\u{202e}\n\t.");
        let items = [Item::Json(&value), Item::Text(b"\x1b[1m")];
        let printed = |printing: Printing| {
            let mut out = Vec::new();
            printing.text(&items, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(printed(Printing::Raw), "\u{1b}[31mred\u{9b}2J\u{202e}\n\t. \u{1b}[1m");
        assert_eq!(printed(Printing::Escaped), "\\u001b[31mred\\u009b2J\\u202e\n\t. \u{1b}[1m");
        let mut out = Vec::new();
        Printing::Escaped.json(&[Item::Json(&value)], &mut out).unwrap();
        let read: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(read[0], value, "what is escaped is still the same JSON");
    }
}
