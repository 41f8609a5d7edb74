use std::io::{self, Write};

use serde::Serialize;

use super::text::is_hidden;

/// Indented by four, as kubectl does.
pub(super) fn print(report: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    report.serialize(&mut serde_json::Serializer::with_formatter(Escaping(&mut *out), formatter))?;
    out.write_all(b"\n")
}

pub(super) fn print_line(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(Escaping(&mut *out), value)?;
    out.write_all(b"\n")
}

/// JSON may hold control characters above U+001F and marks that turn the reading direction as they are. They are escaped
/// on the way out, so that the text stays what it was and a terminal does not act on it.
struct Escaping<W>(W);

impl<W: Write> Write for Escaping<W> {
    /// The serializer writes whole characters.
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        // DEL, or the lead byte of what may be one of the others.
        let suspicious = |byte: &u8| matches!(byte, 0x7f | 0xc2 | 0xe2 | 0xef);
        let Some(Ok(text)) = json.iter().any(suspicious).then(|| std::str::from_utf8(json)) else {
            self.0.write_all(json)?;
            return Ok(json.len());
        };
        let mut rest = text;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_hidden(*c) && *c != '\n') {
            self.0.write_all(&rest.as_bytes()[..at])?;
            write!(self.0, "\\u{:04x}", u32::from(c))?;
            rest = &rest[at + c.len_utf8()..];
        }
        self.0.write_all(rest.as_bytes())?;
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_reads_back_as_it_was_and_reaches_the_terminal_escaped() {
        let text = "a\u{1b}[31m\u{7f}\u{9b}2J\u{202e}é火\u{feff}\n\"\\";
        let mut printed = Vec::new();
        print_line(&text, &mut printed).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        assert!(printed.trim_end().chars().all(|c| !is_hidden(c)), "{printed:?}");
        assert_eq!(serde_json::from_str::<String>(&printed).unwrap(), text);
    }
}
