//! Text within quotes, with Go's escapes (`strconv.UnquoteChar`).

use super::ParseError;

/// The text between the quotes, in which only the quote that ends it may be escaped.
pub(super) fn unquote(inner: &str, quote: char) -> Result<Vec<u8>, ParseError> {
    let refuse = || ParseError::Unquotable(format!("{quote}{inner}{quote}"));
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => escape(&mut rest, quote, &mut bytes).ok_or_else(refuse)?,
            c if c == quote => return Err(refuse()),
            c => push(c, &mut bytes),
        }
    }
    Ok(bytes)
}

fn push(c: char, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

/// What stands behind a backslash; `None` where it means nothing.
fn escape(rest: &mut std::str::Chars, quote: char, bytes: &mut Vec<u8>) -> Option<()> {
    let simple = match rest.next()? {
        'a' => 0x07,
        'b' => 0x08,
        'f' => 0x0c,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 0x0b,
        '\\' => b'\\',
        '\'' if quote == '\'' => b'\'',
        '"' if quote == '"' => b'"',
        // A byte by its number, and not a character.
        'x' => u8::try_from(digits(rest, 2, 16)?).ok()?,
        first @ '0'..='7' => u8::try_from(first.to_digit(8)? * 64 + digits(rest, 2, 8)?).ok()?,
        long @ ('u' | 'U') => {
            let digits = digits(rest, if long == 'u' { 4 } else { 8 }, 16)?;
            push(char::from_u32(digits)?, bytes);
            return Some(());
        }
        _ => return None,
    };
    bytes.push(simple);
    Some(())
}

fn digits(rest: &mut std::str::Chars, count: usize, radix: u32) -> Option<u32> {
    let mut number: u32 = 0;
    for _ in 0..count {
        number = number.checked_mul(radix)? + rest.next()?.to_digit(radix)?;
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_go() {
        for (inner, quote, text) in [
            (r"\n\t\r", '"', Some(&b"\n\t\r"[..])),
            (r"\a\b\f\v\\", '"', Some(b"\x07\x08\x0c\x0b\\")),
            (r#"\""#, '"', Some(b"\"")),
            (r"\'", '\'', Some(b"'")),
            (r"\'", '"', None),
            (r#"say "hi""#, '\'', Some(b"say \"hi\"")),
            (r"\u00e9\U0001F525", '"', Some("é🔥".as_bytes())),
            (r"\xff\101", '"', Some(b"\xffA")),
            (r"\400", '"', None),
            (r"\ud800", '"', None),
            (r"\U00110000", '"', None),
            (r"\UFFFFFFFFF", '"', None),
            (r"\q", '"', None),
            (r"\x1", '"', None),
            (r"\", '"', None),
            ("é", '"', Some("é".as_bytes())),
        ] {
            assert_eq!(unquote(inner, quote).ok().as_deref(), text, "{inner}");
        }
    }
}
