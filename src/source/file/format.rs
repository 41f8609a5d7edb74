//! What a stream holds, told from its first bytes; names are not asked, as a dump may be called anything.

/// Bytes of a stream that are looked at.
pub(super) const HEAD: usize = 64 << 10;

/// What a stream holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Nothing but white space.
    Empty,
    /// JSON, from this byte on; what stands before it is none.
    Json(usize),
    /// YAML, likewise.
    Yaml(usize),
    Gzip,
    Tar,
    /// Text in two-byte units, as Windows `PowerShell` redirects it.
    Utf16(ByteOrder),
    /// Packed in a way that is not read here.
    Packed(&'static Packer),
    /// None of these.
    Other,
}

/// Which byte of a two-byte unit comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

/// A way of packing that is not read here.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Packer {
    magic: &'static [u8],
    /// How a person calls it.
    pub(super) name: &'static str,
    /// The command that unpacks a file given behind it.
    pub(super) command: &'static str,
    /// The command that unpacks standard input to standard output.
    pub(super) filter: &'static str,
}

static PACKERS: [Packer; 5] = [
    Packer { magic: b"\x28\xb5\x2f\xfd", name: "zstd", command: "zstd -d", filter: "zstd -dc" },
    Packer { magic: b"PK\x03\x04", name: "zip", command: "unzip", filter: "funzip" },
    Packer { magic: b"PK\x05\x06", name: "zip", command: "unzip", filter: "funzip" },
    Packer { magic: b"\xfd7zXZ\0", name: "xz", command: "xz -dk", filter: "xz -dc" },
    Packer { magic: b"BZh", name: "bzip2", command: "bzip2 -dk", filter: "bzip2 -dc" },
];

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Where a tar header says that it is one.
const TAR_MAGIC: std::ops::Range<usize> = 257..262;

/// What a stream that begins with `head` holds.
pub(super) fn detect(head: &[u8]) -> Format {
    match head {
        [0x1f, 0x8b, ..] => return Format::Gzip,
        [0xff, 0xfe, ..] => return Format::Utf16(ByteOrder::Little),
        [0xfe, 0xff, ..] => return Format::Utf16(ByteOrder::Big),
        _ => {}
    }
    if let Some(packer) = PACKERS.iter().find(|packer| head.starts_with(packer.magic)) {
        return Format::Packed(packer);
    }
    if head.get(TAR_MAGIC).is_some_and(|magic| magic == b"ustar") {
        return Format::Tar;
    }
    let mark = if head.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let text = &head[mark..];
    if text.trim_ascii().is_empty() {
        // More white space than anyone looks at may still have something behind it.
        return if head.len() < HEAD { Format::Empty } else { Format::Json(mark) };
    }
    match first_document(text) {
        Some((at, Style::Json)) => Format::Json(mark + at),
        Some((at, Style::Yaml)) => Format::Yaml(mark + at),
        None if begins_with_member(text) => Format::Yaml(mark),
        None => Format::Other,
    }
}

#[derive(Clone, Copy)]
enum Style {
    Json,
    Yaml,
}

/// The first line that begins a document. What comes before it is passed over: a shell redirect takes kubectl's
/// warnings into the file.
fn first_document(text: &[u8]) -> Option<(usize, Style)> {
    let mut at = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let indent = line.len() - line.trim_ascii_start().len();
        if let Some(style) = style_of(line, indent, &text[at..]) {
            return Some((at, style));
        }
        at += line.len();
    }
    None
}

/// The style of a document that begins with `line`; `rest` is the line and all behind it.
fn style_of(line: &[u8], indent: usize, rest: &[u8]) -> Option<Style> {
    let begins = line.get(indent..)?;
    match begins.first()? {
        b'{' | b'[' => style_of_brackets(rest),
        0x1e => Some(Style::Json),
        _ if line.starts_with(b"---") && line.get(3).is_none_or(u8::is_ascii_whitespace) => Some(Style::Yaml),
        _ if line.starts_with(b"%YAML") => Some(Style::Yaml),
        b'-' if matches!(begins.get(1), Some(b' ')) => member_name(begins[1..].trim_ascii_start()).map(|_| Style::Yaml),
        _ => {
            const MEMBERS: [&[u8]; 6] = [b"apiVersion", b"kind", b"metadata", b"items", b"spec", b"status"];
            member_name(begins).filter(|name| MEMBERS.contains(name)).map(|_| Style::Yaml)
        }
    }
}

/// Whether what opens with a bracket is JSON or YAML in flow style, whose keys have no quotes; a log line's `[WARN]` and
/// Go's `{...}` are neither.
fn style_of_brackets(rest: &[u8]) -> Option<Style> {
    let mut rest = rest.trim_ascii_start();
    while let Some(inner) = rest.strip_prefix(b"[") {
        rest = inner.trim_ascii_start();
    }
    match rest.first() {
        None | Some(b']' | b'"' | b'-' | b'0'..=b'9') => return Some(Style::Json),
        Some(b'{') => rest = rest[1..].trim_ascii_start(),
        Some(b'#') => return Some(Style::Yaml),
        Some(_) => {
            let is_scalar = [&b"null"[..], b"true", b"false"].iter().any(|scalar| rest.starts_with(scalar));
            return is_scalar.then_some(Style::Json);
        }
    }
    match rest.first() {
        None | Some(b'"' | b'}') => Some(Style::Json),
        Some(b'#' | b'\'') => Some(Style::Yaml),
        Some(_) => member_name(rest).map(|_| Style::Yaml),
    }
}

/// The name, where `text` begins with a member of a YAML mapping: `name:`, `"name":`.
fn member_name(text: &[u8]) -> Option<&[u8]> {
    let (quote, rest) = match text.first()? {
        quote @ (b'"' | b'\'') => (Some(*quote), &text[1..]),
        _ => (None, text),
    };
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    let end = rest.iter().position(|byte| !is_name(byte))?;
    let (name, behind) = rest.split_at(end);
    let behind = match quote {
        Some(quote) => behind.strip_prefix(&[quote])?,
        None => behind,
    };
    let behind = behind.strip_prefix(b":")?;
    (!name.is_empty() && behind.first().is_none_or(u8::is_ascii_whitespace)).then_some(name)
}

/// Whether the first line that is not a comment is a member of a mapping, if of no known name.
fn begins_with_member(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"));
    // Nothing but comments is an empty document.
    first.is_none_or(|line| member_name(line).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_tells_the_format() {
        for (head, expected) in [
            (&b""[..], Format::Empty),
            (b"\xef\xbb\xbf \r\n", Format::Empty),
            (b"{\n    \"apiVersion\": \"v1\"", Format::Json(0)),
            (b"\xef\xbb\xbf{\"a\":1}", Format::Json(3)),
            (b"[{\"a\":1}]", Format::Json(0)),
            (b"[\n  {\n", Format::Json(0)),
            (b"{}", Format::Json(0)),
            (b"[\"forbidden\"]", Format::Json(0)),
            (b"[null]", Format::Json(0)),
            (b"Warning: v1 ComponentStatus is deprecated in v1.19+\n{\n    \"items\": []}", Format::Json(52)),
            (b"[WARN] {not this}\nI1130 09:12:05 {a b}\n{\"a\":1}", Format::Json(39)),
            (b"apiVersion: v1\nitems:\n", Format::Yaml(0)),
            (b"\xef\xbb\xbfapiVersion: v1\n", Format::Yaml(3)),
            (b"Warning: old\napiVersion: v1\n", Format::Yaml(13)),
            (b"# comment\n---\nkind: Pod\n", Format::Yaml(10)),
            (b"---\n{\n  apiVersion: \"v1\",\n", Format::Yaml(0)),
            (b"{\n  apiVersion: \"v1\",\n", Format::Yaml(0)),
            (b"{\n  # comment\n  apiVersion: \"v1\",\n", Format::Yaml(0)),
            (b"[{kind: Pod}]", Format::Yaml(0)),
            (b"- kind: Pod\n", Format::Yaml(0)),
            (b"\"apiVersion\": v1\n", Format::Yaml(0)),
            (b"replicas: 3\n", Format::Yaml(0)),
            (b"# nothing\n", Format::Yaml(0)),
            (b"\x1f\x8b\x08\0", Format::Gzip),
            (b"\xff\xfe{\0", Format::Utf16(ByteOrder::Little)),
            (b"NAME READY STATUS\nweb-0 1/1 Running\n", Format::Other),
            (b"\x7fELF\x02", Format::Other),
        ] {
            assert_eq!(detect(head), expected, "{:?}", String::from_utf8_lossy(head));
        }
        assert!(matches!(detect(b"\x28\xb5\x2f\xfd.."), Format::Packed(packer) if packer.name == "zstd"));
        assert!(matches!(detect(b"PK\x03\x04.."), Format::Packed(packer) if packer.name == "zip"));
        assert_eq!(detect(&vec![b' '; HEAD]), Format::Json(0));
    }
}
