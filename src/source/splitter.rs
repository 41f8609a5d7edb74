mod scan;

use std::io::{self, Read};

use memchr::memchr;

/// An object larger than this is passed over and counted: etcd takes 1.5 MiB, kubectl's indentation makes 5 MiB of it.
pub(super) const LARGEST_OBJECT: usize = 16 << 20;
/// Read at once; also what the buffer holds at least.
const CHUNK: usize = 256 << 10;

/// What is known of the list around an object, or of the object itself where it stands alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListHead {
    /// `kind`, as far as it was read: kubectl writes it behind the items, the API server before them.
    pub kind: Option<String>,
    /// `apiVersion`, likewise.
    pub api_version: Option<String>,
    /// The bytes of `metadata`, likewise.
    pub metadata: Option<Vec<u8>>,
}

/// Where something stands in its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Ordinal of the object, from 1.
    pub object: u64,
    /// Offset of its first byte, from 0.
    pub byte: u64,
}

/// Takes what a splitter finds.
pub trait ObjectSink {
    /// The bytes of one object, an element of a list or a document of its own.
    fn object(&mut self, bytes: &[u8], list: &ListHead, at: Position);

    /// An object that cannot be read, and why. What follows it is read on.
    fn broken(&mut self, at: Position, why: &str);

    /// A list's `items` begin; `list` holds what stood before them.
    fn list_begins(&mut self, list: &ListHead) {
        let _ = list;
    }

    /// A list is over, be it by being torn.
    fn list_ends(&mut self, list: &ListHead) {
        let _ = list;
    }
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// After a whole document.
    Whole,
    /// In the middle of one: what came before was handed out.
    Truncated,
    /// There was nothing but white space.
    Empty,
}

/// Finds the objects in a stream of JSON without holding more than one of them: a List's items, documents one after
/// another, JSON Lines, arrays. Only braces and strings are looked at; whether an object's inside is JSON is for its
/// parser to say.
///
/// A torn object must not take its successors with it. It is given up where a line opens an object in a place, or at
/// the indentation, at which only a new one can begin, and where a string runs over the end of its line.
pub struct Splitter<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Valid bytes of the buffer.
    filled: usize,
    /// Next byte to look at.
    at: usize,
    /// First byte that must stay in the buffer.
    keep: usize,
    /// Offset in the stream of the buffer's first byte.
    offset: u64,
    ended: bool,
    /// The object being read has outgrown [`LARGEST_OBJECT`]; its bytes are let go.
    oversize: bool,
    objects: u64,
    /// The last document stood on one line: JSON Lines, where a line's end ends the object.
    line_by_line: bool,
    /// Column at which the items of the current list open, where they open lines.
    item_column: usize,
}

/// Why reading stopped within an object.
enum Stop {
    Io(io::Error),
    /// The stream is over.
    End,
    /// At the current byte, where reading can go on.
    Torn(&'static str),
    /// Likewise, and it was told already.
    Lost,
}

/// Where reading goes on behind a torn object.
enum Resumed {
    /// At an object beside it, or at the end of their list.
    Beside,
    /// At a document of its own.
    Document,
    End,
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

const CUT_OFF: &str = "cut off in the middle";
const NOT_JSON: &str = "not JSON";
const TOO_LARGE: &str = "larger than 16 MiB";
const ENDS_EARLY: &str = "a closing brace too many";
/// Further back than this nobody looks to tell whether an object is torn.
const LOOK_BACK: usize = 64 << 10;
/// Characters of what is not JSON that are shown.
const SHOWN: usize = 40;

impl<R: Read> Splitter<R> {
    /// A splitter of `reader`'s bytes.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            filled: 0,
            at: 0,
            keep: 0,
            offset: 0,
            ended: false,
            oversize: false,
            objects: 0,
            line_by_line: false,
            item_column: 0,
        }
    }

    /// Hands every object to `sink`, to the end of the stream.
    pub fn run(mut self, sink: &mut (impl ObjectSink + ?Sized)) -> io::Result<Ending> {
        let mut ending = Ending::Empty;
        let mut in_garbage = false;
        let mut open_arrays = 0_u32;
        // Of the current byte, while only white space precedes it on its line.
        let mut column = Some(0);
        loop {
            self.keep = self.at;
            let Some(byte) = self.peek()? else {
                return Ok(if open_arrays > 0 { Ending::Truncated } else { ending });
            };
            match byte {
                b'{' => {
                    in_garbage = false;
                    ending = self.document(sink, column)?;
                    column = None;
                    continue;
                }
                b'\n' => column = Some(0),
                b' ' | b'\t' => column = column.map(|column| column + 1),
                // Record separators and a byte order mark.
                b'\r' | 0x1e | 0xef | 0xbb | 0xbf => {}
                _ if in_garbage => column = None,
                _ => {
                    column = None;
                    ending = Ending::Whole;
                    match byte {
                        b',' => {}
                        // An array of documents.
                        b'[' => open_arrays += 1,
                        b']' => open_arrays = open_arrays.saturating_sub(1),
                        _ if self.passes_scalar()? => continue,
                        _ => {
                            in_garbage = true;
                            let at = self.next_position(self.at);
                            let why = self.not_json()?;
                            sink.broken(at, &why);
                        }
                    }
                }
            }
            self.at += 1;
        }
    }

    /// Passes over a value between documents that is no object, as in an array of messages; false where it is none.
    fn passes_scalar(&mut self) -> io::Result<bool> {
        self.oversize = false;
        let begins = self.at - self.keep;
        let passed = if self.buffer[self.at] == b'"' { self.skip_string() } else { self.scalar() };
        if self.oversize {
            return Ok(true);
        }
        let value = &self.buffer[self.keep + begins..self.at];
        let is_scalar = match passed {
            Err(Stop::Io(error)) => return Err(error),
            Err(Stop::End) | Ok(()) => serde_json::from_slice::<serde::de::IgnoredAny>(value).is_ok(),
            Err(Stop::Torn(_) | Stop::Lost) => false,
        };
        if !is_scalar {
            self.at = self.keep + begins;
        }
        Ok(is_scalar)
    }

    /// Says that there is no JSON at the current byte, and shows what there is.
    fn not_json(&mut self) -> io::Result<String> {
        while self.filled - self.at < SHOWN && self.refill()? {}
        let rest = &self.buffer[self.at..self.filled.min(self.at + SHOWN)];
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        Ok(format!("{NOT_JSON}: {:?}", String::from_utf8_lossy(line.trim_ascii())))
    }

    /// One document, from its opening brace at `column`.
    fn document(&mut self, sink: &mut (impl ObjectSink + ?Sized), column: Option<usize>) -> io::Result<Ending> {
        self.oversize = false;
        self.item_column = column.unwrap_or(0);
        let begins = self.offset + self.at as u64;
        let mut list = ListHead::default();
        let mut is_list = false;
        let read = self.members(sink, &mut list, &mut is_list);
        if is_list {
            sink.list_ends(&list);
            self.line_by_line = false;
        }
        match read {
            Ok(()) if is_list => return Ok(Ending::Whole),
            Ok(()) => {
                self.objects += 1;
                let at = Position { object: self.objects, byte: begins };
                let is_line = !self.oversize && memchr(b'\n', &self.buffer[self.keep..self.at]).is_none();
                self.finished(sink, &list, at)?;
                self.line_by_line = is_line;
                return Ok(Ending::Whole);
            }
            Err(Stop::Io(error)) => return Err(error),
            Err(Stop::End) => return Ok(Ending::Truncated),
            Err(Stop::Torn(why)) => {
                self.objects += 1;
                sink.broken(Position { object: self.objects, byte: begins }, why);
            }
            Err(Stop::Lost) => {}
        }
        self.skip_to_object(column.unwrap_or(0))?;
        Ok(Ending::Whole)
    }

    /// Hands out the object that lies between `keep` and the current byte, unless what follows shows that it is not
    /// whole: behind a comma stands another object, not a member.
    fn finished(&mut self, sink: &mut (impl ObjectSink + ?Sized), list: &ListHead, at: Position) -> io::Result<()> {
        let length = self.at - self.keep;
        let ends_early = match self.follows_member() {
            Ok(follows) => follows,
            Err(Stop::Io(error)) => return Err(error),
            Err(_) => false,
        };
        // Looking on may have outgrown the buffer, too.
        if self.oversize {
            sink.broken(at, TOO_LARGE);
        } else if ends_early {
            sink.broken(at, ENDS_EARLY);
            // To the brace that was meant to end it.
            self.keep = self.at;
            match self.rest_of_object() {
                Err(Stop::Io(error)) => return Err(error),
                Err(Stop::Torn(_) | Stop::Lost | Stop::End) | Ok(()) => {}
            }
        } else {
            // White space in between tells the column of what comes next.
            self.at = self.keep + length;
            sink.object(&self.buffer[self.keep..self.at], list, at);
        }
        Ok(())
    }

    /// Whether a comma and a string come next; the comma is passed.
    fn follows_member(&mut self) -> Result<bool, Stop> {
        if self.significant()? != b',' {
            return Ok(false);
        }
        self.at += 1;
        Ok(self.significant()? == b'"')
    }

    /// Members of an object that was taken for ended, to behind its closing brace.
    fn rest_of_object(&mut self) -> Result<(), Stop> {
        loop {
            match self.significant()? {
                b'}' => {
                    self.at += 1;
                    return Ok(());
                }
                b',' | b':' => self.at += 1,
                b'"' => self.skip_string()?,
                b'{' => self.braces(self.item_column)?,
                b'[' => self.brackets()?,
                _ => self.scalar()?,
            }
        }
    }

    /// The members of a document, with `items` handed out one by one; ends behind the closing brace.
    fn members(
        &mut self,
        sink: &mut (impl ObjectSink + ?Sized),
        list: &mut ListHead,
        is_list: &mut bool,
    ) -> Result<(), Stop> {
        self.at += 1;
        loop {
            if *is_list {
                self.keep = self.at;
            }
            match self.significant()? {
                b'}' => {
                    self.at += 1;
                    return Ok(());
                }
                b',' => self.at += 1,
                b'"' => {
                    let key = self.string()?;
                    if self.significant()? != b':' {
                        return Err(Stop::Torn(NOT_JSON));
                    }
                    self.at += 1;
                    if self.significant()? == b'[' && key == b"\"items\"" {
                        *is_list = true;
                        sink.list_begins(list);
                        self.items(sink, list)?;
                    } else {
                        self.member(&key, list)?;
                    }
                }
                b'{' if self.begins_line() == Some(self.item_column) => return Err(Stop::Torn(CUT_OFF)),
                _ => return Err(Stop::Torn(NOT_JSON)),
            }
        }
    }

    /// One member that is not `items`; what names the list is kept.
    fn member(&mut self, key: &[u8], list: &mut ListHead) -> Result<(), Stop> {
        match self.significant()? {
            b'"' => {
                let value = self.string()?;
                match key {
                    b"\"kind\"" => list.kind = serde_json::from_slice(&value).ok(),
                    b"\"apiVersion\"" => list.api_version = serde_json::from_slice(&value).ok(),
                    _ => {}
                }
            }
            b'{' if self.line_by_line && self.begins_line() == Some(0) => return Err(Stop::Torn(CUT_OFF)),
            b'{' if key == b"\"metadata\"" => {
                let begins = self.at - self.keep;
                self.braces(self.item_column)?;
                if !self.oversize {
                    list.metadata = Some(self.buffer[self.keep + begins..self.at].to_vec());
                }
            }
            b'{' => self.braces(self.item_column)?,
            b'[' => self.brackets()?,
            _ => self.scalar()?,
        }
        Ok(())
    }

    /// The elements of `items`, from the opening bracket; ends behind the closing one.
    fn items(&mut self, sink: &mut (impl ObjectSink + ?Sized), list: &ListHead) -> Result<(), Stop> {
        self.at += 1;
        let document_column = std::mem::take(&mut self.item_column);
        let mut in_garbage = false;
        loop {
            self.keep = self.at;
            self.oversize = false;
            match self.significant()? {
                b']' => {
                    self.at += 1;
                    self.item_column = document_column;
                    return Ok(());
                }
                b',' => self.at += 1,
                b'{' => {
                    in_garbage = false;
                    self.item(sink, list)?;
                }
                _ if in_garbage => self.at += 1,
                _ if self.passes_scalar()? => {}
                _ => {
                    in_garbage = true;
                    let at = self.next_position(self.at);
                    let why = self.not_json()?;
                    sink.broken(at, &why);
                    self.at += 1;
                }
            }
        }
    }

    /// One element of `items`, from its opening brace.
    fn item(&mut self, sink: &mut (impl ObjectSink + ?Sized), list: &ListHead) -> Result<(), Stop> {
        // What precedes the object is let go, but for the white space that tells its column.
        let column = self.begins_line();
        self.keep = self.at;
        self.item_column = column.unwrap_or(0);
        let at = self.next_position(self.at);
        match self.braces(self.item_column) {
            // Closed by a brace that stands further left, which was the list's.
            Ok(()) if column.is_some_and(|column| self.column_at(self.at - 1).is_some_and(|end| end < column)) => {
                sink.broken(at, CUT_OFF);
                return Err(Stop::Lost);
            }
            Ok(()) => self.finished(sink, list, at)?,
            Err(Stop::Torn(why)) => {
                sink.broken(at, why);
                // Where items do not open lines, what opens one is no item of this list.
                let Some(column) = column else { return Err(Stop::Lost) };
                if matches!(self.skip_to_object(column)?, Resumed::Document) {
                    return Err(Stop::Lost);
                }
            }
            Err(other) => return Err(other),
        }
        Ok(())
    }
}
