//! YAML in pieces of one object each: a parser of whole documents would hold all of a dump, and lose all of it to one
//! fault.
//!
//! Lines are enough to find the pieces in block style: a `---` in the first column always parts documents, and a `-` at
//! the column of a sequence always begins one of its entries. Flow style, KYAML among it, is cut at its brackets.

mod flow;
mod json;

use std::io::{self, BufRead, BufReader, Read};

use serde::Deserialize;

use crate::source::splitter::LARGEST_OBJECT;
use crate::source::{Ending, ListHead, ObjectSink, Position, Splitter};

use flow::Flow;
use json::to_json;

const TOO_LARGE: &str = "larger than 16 MiB";

/// Hands all objects in a stream of YAML to `sink`, as JSON.
pub(super) fn read(reader: &mut dyn Read, sink: &mut dyn ObjectSink) -> io::Result<Ending> {
    let mut lines = Lines { reader: BufReader::with_capacity(256 << 10, reader), line: Vec::new(), at: 0, next: 0 };
    let mut documents =
        Documents { out: Out { sink, json: Vec::new(), objects: 0 }, style: Style::Unknown, any: false };
    loop {
        match lines.read() {
            Ok(true) => documents.line(&lines.line, lines.at),
            Ok(false) => break,
            Err(error) => {
                // What the error leaves of an object must not pass for a whole one.
                return Err(error);
            }
        }
    }
    let is_cut = documents.end(true);
    Ok(match (is_cut, documents.any) {
        (true, _) => Ending::Truncated,
        (false, true) => Ending::Whole,
        (false, false) => Ending::Empty,
    })
}

/// The lines of a stream, or, of a line that is longer than any object, its parts.
struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// Where the line begins in the stream.
    at: u64,
    next: u64,
}

impl<R: Read> Lines<R> {
    fn read(&mut self) -> io::Result<bool> {
        self.line.clear();
        self.at = self.next;
        let read = (&mut self.reader).take(LARGEST_OBJECT as u64).read_until(b'\n', &mut self.line)?;
        self.next += read as u64;
        Ok(read > 0)
    }
}

/// Takes finished pieces.
struct Out<'a> {
    sink: &'a mut dyn ObjectSink,
    json: Vec<u8>,
    objects: u64,
}

impl Out<'_> {
    /// An element of a list.
    fn item(&mut self, piece: &Piece, list: &ListHead) {
        self.objects += 1;
        let at = Position { object: self.objects, byte: piece.at };
        if piece.is_oversize {
            return self.sink.broken(at, TOO_LARGE);
        }
        match to_json(&piece.text, &mut self.json) {
            Ok(()) if self.json.starts_with(b"{") => self.sink.object(&self.json, list, at),
            // An empty entry, a string: no object, and no fault.
            Ok(()) => {}
            Err(why) => self.sink.broken(at, &why),
        }
    }

    /// What of a document was not cut into items: all of an object, the rest of a list, a list in a form that is not cut.
    fn document(&mut self, piece: &Piece) {
        if piece.is_list {
            let list = self.head(&piece.text);
            return self.sink.list_ends(&list);
        }
        let at = Position { object: self.objects + 1, byte: piece.at };
        if piece.is_blank() {
            return;
        }
        self.objects += 1;
        if piece.is_oversize {
            return self.sink.broken(at, TOO_LARGE);
        }
        match to_json(&piece.text, &mut self.json) {
            Ok(()) if matches!(self.json.first(), Some(b'{' | b'[')) => {
                let mut relay = Relay { sink: self.sink, at };
                // A slice is read without I/O, and what was just written is whole.
                let _ = Splitter::new(&self.json[..]).run(&mut relay);
            }
            Ok(()) => self.objects -= 1,
            Err(why) => self.sink.broken(at, &why),
        }
    }

    /// What stands before a list's items.
    fn head(&mut self, text: &[u8]) -> ListHead {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Head {
            kind: Option<String>,
            api_version: Option<String>,
        }
        let head = to_json(text, &mut self.json).ok().and_then(|()| serde_json::from_slice::<Head>(&self.json).ok());
        let Head { kind, api_version } = head.unwrap_or_default();
        ListHead { kind, api_version, metadata: None }
    }
}

/// Tells positions in the YAML rather than in the JSON made of it.
struct Relay<'a> {
    sink: &'a mut dyn ObjectSink,
    at: Position,
}

impl ObjectSink for Relay<'_> {
    fn object(&mut self, bytes: &[u8], list: &ListHead, _: Position) {
        self.sink.object(bytes, list, self.at);
    }

    fn broken(&mut self, _: Position, why: &str) {
        self.sink.broken(self.at, why);
    }

    fn list_begins(&mut self, list: &ListHead) {
        self.sink.list_begins(list);
    }

    fn list_ends(&mut self, list: &ListHead) {
        self.sink.list_ends(list);
    }
}

/// A part of the stream that is parsed at once.
#[derive(Default)]
struct Piece {
    text: Vec<u8>,
    at: u64,
    is_oversize: bool,
    /// It is what stands around the items of a list, which were handed out.
    is_list: bool,
}

impl Piece {
    fn begin(at: u64) -> Self {
        Self { at, ..Self::default() }
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.text.len() + bytes.len() > LARGEST_OBJECT {
            self.is_oversize = true;
            self.text = Vec::new();
        }
        if !self.is_oversize {
            self.text.extend_from_slice(bytes);
        }
    }

    fn is_blank(&self) -> bool {
        !self.is_oversize && self.text.split(|byte| *byte == b'\n').all(is_blank)
    }
}

/// The documents of a stream, line by line.
struct Documents<'a> {
    out: Out<'a>,
    style: Style,
    /// Whether there was anything but comments.
    any: bool,
}

/// How the current document is written.
enum Style {
    /// Nothing but comments so far.
    Unknown,
    Flow(Flow),
    /// A mapping, or anything else that is parsed whole.
    Block(Piece),
    /// Behind a line `items:`, with its own number of bytes.
    BeforeItems(Piece, usize),
    Items(Items),
}

/// Within a block sequence of objects.
struct Items {
    /// What of the document stands outside of it.
    around: Piece,
    list: ListHead,
    /// Column of the dashes.
    column: usize,
    item: Piece,
}

impl Documents<'_> {
    fn line(&mut self, line: &[u8], at: u64) {
        if is_marker(line) {
            self.end(false);
            self.style = Style::Unknown;
            // `--- {a: b}` has its document on the same line.
            if line.starts_with(b"---") && !is_blank(&line[3..]) {
                self.content(&[b"   ", &line[3..]].concat(), at);
            }
            return;
        }
        self.content(line, at);
    }

    fn content(&mut self, line: &[u8], at: u64) {
        self.style = match std::mem::replace(&mut self.style, Style::Unknown) {
            Style::Unknown => self.first(line, at),
            Style::Flow(mut flow) => {
                flow.feed(line, at, &mut self.out);
                Style::Flow(flow)
            }
            Style::Block(around) => Self::block(around, line),
            Style::BeforeItems(around, head) => self.before_items(around, head, line, at),
            Style::Items(items) => self.items(items, line, at),
        };
    }

    /// A document's first line.
    fn first(&mut self, line: &[u8], at: u64) -> Style {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if is_blank(line) || line.starts_with(b"%") {
            return Style::Unknown;
        }
        self.any = true;
        if matches!(line.trim_ascii_start().first(), Some(b'{' | b'[')) {
            let mut flow = Flow::new(at);
            flow.feed(line, at, &mut self.out);
            return Style::Flow(flow);
        }
        if dash_column(line).is_some() {
            return self.before_items(Piece::begin(at), 0, line, at);
        }
        Self::block(Piece::begin(at), line)
    }

    /// A line outside of `items`.
    fn block(mut around: Piece, line: &[u8]) -> Style {
        let head = around.text.len();
        around.push(line);
        let is_items = line.strip_prefix(b"items:").or_else(|| line.strip_prefix(b"\"items\":")).is_some_and(is_blank);
        if is_items && !around.is_list && !around.is_oversize {
            Style::BeforeItems(around, head)
        } else {
            Style::Block(around)
        }
    }

    /// The first entry of a sequence, if one follows. `head` bytes of the document stand before its key.
    fn before_items(&mut self, mut around: Piece, head: usize, line: &[u8], at: u64) -> Style {
        if is_blank(line) {
            return Style::BeforeItems(around, head);
        }
        let Some(column) = dash_column(line) else { return Self::block(around, line) };
        around.text.truncate(head);
        let list = self.out.head(&around.text);
        self.out.sink.list_begins(&list);
        around.is_list = true;
        let items = Items { around, list, column, item: Piece::default() };
        self.begin_item(items, line, at, false)
    }

    fn items(&mut self, mut items: Items, line: &[u8], at: u64) -> Style {
        let indent = indent(line);
        if is_blank(line) || indent > items.column {
            items.item.push(line);
            return Style::Items(items);
        }
        if dash_column(line) == Some(items.column) {
            return self.begin_item(items, line, at, true);
        }
        self.out.item(&items.item, &items.list);
        Self::block(items.around, line)
    }

    fn begin_item(&mut self, mut items: Items, line: &[u8], at: u64, ends_another: bool) -> Style {
        if ends_another {
            self.out.item(&items.item, &items.list);
        }
        let text = std::mem::take(&mut items.item.text);
        items.item = Piece { text, ..Piece::begin(at) };
        items.item.text.clear();
        // The entry without its dash, every column as it was.
        items.item.push(&line[..items.column]);
        items.item.push(b" ");
        items.item.push(&line[items.column + 1..]);
        Style::Items(items)
    }

    /// The document is over; true where it is visibly cut off. `is_last` where the stream is over, too.
    fn end(&mut self, is_last: bool) -> bool {
        match std::mem::replace(&mut self.style, Style::Unknown) {
            Style::Unknown => {}
            Style::Flow(flow) => return flow.end(&mut self.out, is_last),
            Style::Block(around) | Style::BeforeItems(around, _) => self.out.document(&around),
            Style::Items(items) => {
                self.out.item(&items.item, &items.list);
                self.out.document(&items.around);
            }
        }
        false
    }
}

/// Whether the line parts documents.
fn is_marker(line: &[u8]) -> bool {
    (line.starts_with(b"---") || line.starts_with(b"...")) && line.get(3).is_none_or(u8::is_ascii_whitespace)
}

/// Whether there is nothing on the line but white space and a comment.
fn is_blank(line: &[u8]) -> bool {
    let content = line.trim_ascii_start();
    content.is_empty() || content.starts_with(b"#")
}

fn indent(line: &[u8]) -> usize {
    line.iter().take_while(|byte| **byte == b' ').count()
}

/// The column of the dash, where the line begins an entry of a sequence.
fn dash_column(line: &[u8]) -> Option<usize> {
    let column = indent(line);
    let rest = line[column..].strip_prefix(b"-")?;
    rest.first().is_none_or(u8::is_ascii_whitespace).then_some(column)
}
