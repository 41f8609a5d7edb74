use std::io::{self, Write};

use crate::report::FailureReport;

pub(super) fn print(report: &FailureReport, out: &mut impl Write) -> io::Result<()> {
    let text = serde_saphyr::to_string(report).map_err(io::Error::other)?;
    out.write_all(text.as_bytes())?;
    if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") }
}
