//! Text in which anything may stand: scripts, messages, logs.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::forms::without_forms;
use super::names::names_secret;
use super::{HIDDEN, Pattern, is_reference, programs};

/// A name and what gives it a value: `NAME=`, `--name=`, `"name": `, `\"name\":`.
pub(super) static ASSIGNS: Pattern =
    LazyLock::new(|| Regex::new(r#"(?P<name>[A-Za-z][A-Za-z0-9_.-]*)(?:\\?["'])?[ \t]*(?P<sign>:=|[=:])[ \t]*"#).ok());

/// `--name` and the white space before the next word, which may be on the next line of a script.
pub(super) static FLAG: Pattern =
    LazyLock::new(|| Regex::new(r"(?P<name>--?[A-Za-z][A-Za-z0-9_.-]*)(?:\s|\\\r?\n)+").ok());

/// `password hunter2`: in prose, a value is told from a word only by its looks.
pub(super) static NAMED_IN_PROSE: Pattern =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:password|passwd|passphrase|token|api[ -]?key)\s+").ok());

/// Headers' values are words: `Cookie: a=b; c=d`.
const HEADERS: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "set-cookie"];

/// The text without the values of what is named like a secret, and without what has the form of one.
pub(in crate::record) fn without_secrets(text: &str) -> String {
    let text = without_forms(text);
    let text = without(&text, &ASSIGNS, assigned);
    let text = without(&text, &FLAG, |text, range| {
        let name = text[range.clone()].trim_end_matches(|c: char| c.is_whitespace() || c == '\\');
        // What stands before it makes it a flag: in `a-key b` there is none.
        let before = text[..range.start].chars().next_back();
        let is_flag = before.is_none_or(|c| c.is_whitespace() || "'\"`([{=;|&".contains(c));
        (is_flag && names_secret(name)).then(|| range.end..word_end(text, range.end))
    });
    let text = without(&text, &NAMED_IN_PROSE, |text, range| {
        let value = range.end..word_end(text, range.end);
        looks_secret(&text[value.clone()]).then_some(value)
    });
    programs::without_their_secrets(&text)
}

/// Whether a name is one of HTTP's headers.
fn is_header(name: &str) -> bool {
    let is_loud = name.contains('-') && !name.contains(|c: char| c.is_ascii_lowercase());
    let begins = name.get(..2).is_some_and(|begins| begins.eq_ignore_ascii_case("x-"));
    is_loud || begins || HEADERS.iter().any(|header| name.eq_ignore_ascii_case(header))
}

/// Replaces what `find` tells to be a secret for each match of a pattern, given by its range.
pub(super) fn without(
    text: &str,
    pattern: &Pattern,
    find: impl Fn(&str, Range<usize>) -> Option<Range<usize>>,
) -> String {
    // A pattern that does not hold is no reason to let anything through.
    let Some(pattern) = pattern.as_ref() else { return HIDDEN.to_owned() };
    let mut result = String::new();
    let (mut copied, mut from) = (0, 0);
    while let Some(found) = pattern.find_at(text, from) {
        from = found.end().max(from + 1);
        let secret = find(text, found.range()).filter(|secret| {
            let value = &text[secret.clone()];
            !value.is_empty() && !value.starts_with(HIDDEN) && !is_reference(value)
        });
        if let Some(secret) = secret {
            result.push_str(&text[copied..secret.start]);
            result.push_str(HIDDEN);
            copied = secret.end;
            from = from.max(copied);
        }
        if from > text.len() {
            break;
        }
        while !text.is_char_boundary(from) {
            from += 1;
        }
    }
    result.push_str(&text[copied..]);
    result
}

/// The value of an assignment, where its name is a secret's.
fn assigned(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let found = ASSIGNS.as_ref()?.captures(&text[range.clone()])?;
    let (name, sign) = (&found["name"], &found["sign"]);
    // `https:` and `C:` are no names.
    if !names_secret(name) || text[range.end..].starts_with("//") {
        return None;
    }
    let start = range.end;
    let before = &text[..range.start];
    // An image and its tag: `ghcr.io/oauth-token:1.2`.
    if sign == ":" && before.ends_with('/') {
        return None;
    }
    let line_end = text[start..].find(['\n', '\r']).map_or(text.len(), |at| start + at);
    if sign == "=" || text[start..].starts_with(['"', '\'', '\\']) {
        return Some(start..word_end(text, start));
    }
    // `volume "token-vol" : not found`, `auth: denied`: what is named like that is told of, not given a value.
    let is_named = text[..start].trim_end().trim_end_matches([':', ' ', '\t']).ends_with(['"', '\'']);
    if (is_named && !text[start..].starts_with(|c: char| c.is_ascii_digit())) || name.eq_ignore_ascii_case("auth") {
        return None;
    }
    let is_header = is_header(name);
    let begins_line = !name.contains('-')
        && before.rsplit('\n').next().unwrap_or_default().trim_start_matches([' ', '\t', '-']).is_empty();
    // In quotes, what is quoted; else all of the line of a header, or of YAML.
    let quote = before.chars().next_back().filter(|c| "'\"".contains(*c)).or_else(|| {
        // `--header='PRIVATE-TOKEN: x'`, `-H "X-Key: x"`: the quote may stand before the flag.
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.chars().rev().find(|c| "'\"".contains(*c)).filter(|quote| line.matches(*quote).count() % 2 == 1)
    });
    let end = match quote.and_then(|quote| text[start..line_end].find(quote)) {
        Some(at) if is_header || begins_line => start + at,
        _ if is_header || begins_line => line_end,
        _ => word_end(text, start),
    };
    Some(start..end)
}

/// Where a shell's word ends that begins at `start`: at white space outside of quotes and of what is run in its place. A
/// punctuation mark before that white space is not taken for a part of it.
pub(super) fn word_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let ends_behind = |at: usize| {
        let rest = text[at..].trim_start_matches([',', ';', ')', '}', ']', '"', '\'', '`', '|', '&', '.']);
        rest.is_empty() || rest.starts_with(char::is_whitespace)
    };
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            c if c.is_ascii_whitespace() => break,
            b'(' if bytes[at..].starts_with(HIDDEN.as_bytes()) => at += HIDDEN.len(),
            // A quote within a string of JSON or of a shell.
            b'\\' if matches!(bytes.get(at + 1), Some(b'"' | b'\'')) && at == start => {
                let close = &text[at..at + 2];
                return text[at + 2..].find(close).map_or(text.len(), |end| at + 4 + end);
            }
            b'\\' => at += 2,
            quote @ (b'"' | b'\'') => {
                // The one that closes what the whole text stands in.
                if at > start && ends_behind(at) {
                    break;
                }
                at = quoted_end(bytes, at, quote);
                if at < bytes.len() && ends_behind(at) && !matches!(bytes[at], b'"' | b'\'') {
                    break;
                }
            }
            b'$' if bytes.get(at + 1) == Some(&b'(') => at = balanced_end(bytes, at + 1),
            b'`' => at = bytes[at + 1..].iter().position(|c| *c == b'`').map_or(bytes.len(), |end| at + end + 2),
            b',' | b';' | b')' | b'}' | b']' | b'|' | b'&' if ends_behind(at) => break,
            _ => at += 1,
        }
    }
    let mut end = at.min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    end
}

/// Behind the quote that closes the one at `at`; the end where none does.
fn quoted_end(bytes: &[u8], at: usize, quote: u8) -> usize {
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'\\' if quote == b'"' => end += 2,
            c if c == quote => return end + 1,
            _ => end += 1,
        }
    }
    bytes.len()
}

/// Behind the bracket that closes the one at `at`.
fn balanced_end(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    for (index, byte) in bytes.iter().enumerate().skip(at) {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return index + 1;
        }
    }
    bytes.len()
}

/// Whether a word of prose looks like a password rather than like a word: with a digit, or capitals in it.
fn looks_secret(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_long = word.chars().count() >= 6;
    let has_digit = word.contains(|c: char| c.is_ascii_digit());
    is_long && (has_digit || word.chars().skip(1).filter(|c| c.is_uppercase()).count() >= 2)
}
