use std::io::{self, Write};

use serde::Serialize;

use super::json;
use super::text::is_hidden;

/// In YAML's block style. Where a text holds marks that turn the reading direction, which that style leaves as they are,
/// the flow style with its escapes, that is JSON, takes its place: it is the same to a YAML reader, and harmless to a
/// terminal.
pub(super) fn print(report: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    let text = serde_saphyr::to_string(report).map_err(io::Error::other)?;
    if text.chars().any(|c| is_hidden(c) && c != '\n') {
        return json::print(report, out);
    }
    out.write_all(text.as_bytes())?;
    if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") }
}
