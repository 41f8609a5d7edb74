use std::io::{self, Read};

use memchr::{memchr, memchr3};

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

    /// A list is over.
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
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

const CUT_OFF: &str = "cut off in the middle";
const NOT_JSON: &str = "not JSON";
const TOO_LARGE: &str = "larger than 16 MiB";

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
        loop {
            self.keep = self.at;
            let Some(byte) = self.peek()? else { return Ok(ending) };
            match byte {
                b'{' => {
                    in_garbage = false;
                    ending = self.document(sink)?;
                }
                // Between documents: white space, record separators, a byte order mark, and the brackets and commas of
                // an array of documents.
                b' ' | b'\t' | b'\r' | b'\n' | b',' | b'[' | b']' | 0x1e | 0xef | 0xbb | 0xbf => self.at += 1,
                _ => {
                    if !in_garbage {
                        let at = self.next_position(self.at);
                        sink.broken(at, NOT_JSON);
                    }
                    in_garbage = true;
                    ending = Ending::Whole;
                    self.at += 1;
                }
            }
        }
    }

    /// One document, from its opening brace.
    fn document(&mut self, sink: &mut (impl ObjectSink + ?Sized)) -> io::Result<Ending> {
        self.oversize = false;
        self.item_column = 0;
        let begins = self.offset + self.at as u64;
        let mut list = ListHead::default();
        let mut is_list = false;
        match self.members(sink, &mut list, &mut is_list) {
            Ok(()) if is_list => {
                sink.list_ends(&list);
                self.line_by_line = false;
                Ok(Ending::Whole)
            }
            Ok(()) => {
                self.objects += 1;
                let at = Position { object: self.objects, byte: begins };
                if self.oversize {
                    sink.broken(at, TOO_LARGE);
                } else {
                    let bytes = &self.buffer[self.keep..self.at];
                    self.line_by_line = memchr(b'\n', bytes).is_none();
                    sink.object(bytes, &list, at);
                }
                Ok(Ending::Whole)
            }
            Err(Stop::Io(error)) => Err(error),
            Err(Stop::End) => Ok(Ending::Truncated),
            Err(Stop::Torn(why)) => {
                self.objects += 1;
                sink.broken(Position { object: self.objects, byte: begins }, why);
                self.skip_to_object(0)?;
                Ok(Ending::Whole)
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
                b'{' if self.begins_line() == Some(0) => return Err(Stop::Torn(CUT_OFF)),
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
            b'{' if key == b"\"metadata\"" => {
                let begins = self.at - self.keep;
                self.braces(0)?;
                if !self.oversize {
                    list.metadata = Some(self.buffer[self.keep + begins..self.at].to_vec());
                }
            }
            b'{' => self.braces(0)?,
            b'[' => self.brackets()?,
            _ => self.scalar()?,
        }
        Ok(())
    }

    /// The elements of `items`, from the opening bracket; ends behind the closing one.
    fn items(&mut self, sink: &mut (impl ObjectSink + ?Sized), list: &ListHead) -> Result<(), Stop> {
        self.at += 1;
        self.item_column = 0;
        let mut in_garbage = false;
        loop {
            self.keep = self.at;
            self.oversize = false;
            match self.significant()? {
                b']' => {
                    self.at += 1;
                    return Ok(());
                }
                b',' => self.at += 1,
                b'{' => {
                    in_garbage = false;
                    // What precedes the object is let go, but for the white space that tells its column.
                    let column = self.begins_line();
                    self.keep = self.at;
                    self.item_column = column.unwrap_or(0);
                    let at = self.next_position(self.at);
                    match self.braces(self.item_column) {
                        Ok(()) if self.oversize => sink.broken(at, TOO_LARGE),
                        Ok(()) => sink.object(&self.buffer[self.keep..self.at], list, at),
                        Err(Stop::Torn(why)) => {
                            sink.broken(at, why);
                            self.skip_to_object(self.item_column)?;
                        }
                        Err(other) => return Err(other),
                    }
                }
                _ => {
                    if !in_garbage {
                        let at = self.next_position(self.at);
                        sink.broken(at, NOT_JSON);
                    }
                    in_garbage = true;
                    self.at += 1;
                }
            }
        }
    }

    /// From an opening brace to behind the closing one. `column` is where an object beside this one would open a line.
    fn braces(&mut self, column: usize) -> Result<(), Stop> {
        let mut depth = 0_u32;
        loop {
            let rest = &self.buffer[self.at..self.filled];
            let Some(found) = memchr3(b'"', b'{', b'}', rest) else {
                self.at = self.filled;
                self.more()?;
                continue;
            };
            self.at += found;
            match self.buffer[self.at] {
                b'"' => {
                    self.skip_string()?;
                    continue;
                }
                b'{' if depth > 0 && self.opens_another(column) => return Err(Stop::Torn(CUT_OFF)),
                b'{' => depth += 1,
                _ => depth -= 1,
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// From an opening bracket to behind the closing one.
    fn brackets(&mut self) -> Result<(), Stop> {
        let mut depth = 0_u32;
        loop {
            let rest = &self.buffer[self.at..self.filled];
            let Some(found) = memchr3(b'"', b'[', b']', rest) else {
                self.at = self.filled;
                self.more()?;
                continue;
            };
            self.at += found;
            match self.buffer[self.at] {
                b'"' => {
                    self.skip_string()?;
                    continue;
                }
                b'[' => depth += 1,
                _ => depth -= 1,
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// A number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Result<(), Stop> {
        let begins = self.offset + self.at as u64;
        while matches!(self.buffer[self.at], b'a'..=b'z' | b'0'..=b'9' | b'.' | b'+' | b'-' | b'E') {
            self.at += 1;
            if self.at == self.filled {
                self.more()?;
            }
        }
        if self.offset + self.at as u64 == begins { Err(Stop::Torn(NOT_JSON)) } else { Ok(()) }
    }

    /// A short string with its quotes, as it is written.
    fn string(&mut self) -> Result<Vec<u8>, Stop> {
        let begins = self.at - self.keep;
        self.skip_string()?;
        Ok(if self.oversize { Vec::new() } else { self.buffer[self.keep + begins..self.at].to_vec() })
    }

    /// From an opening quote to behind the closing one. JSON strings hold no raw line ends: one here means that the
    /// object was cut off in the string.
    fn skip_string(&mut self) -> Result<(), Stop> {
        self.at += 1;
        loop {
            let rest = &self.buffer[self.at..self.filled];
            let Some(found) = memchr3(b'"', b'\\', b'\n', rest) else {
                self.at = self.filled;
                self.more()?;
                continue;
            };
            self.at += found;
            match self.buffer[self.at] {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\n' => return Err(Stop::Torn(CUT_OFF)),
                _ => {
                    // The escaped byte may be behind the buffer's end.
                    self.at += 1;
                    if self.at == self.filled {
                        self.more()?;
                    }
                    self.at += 1;
                }
            }
        }
    }

    /// Whether the brace at the current byte, found inside an object, can only belong to the next one.
    fn opens_another(&self, column: usize) -> bool {
        match self.begins_line() {
            Some(0) if self.line_by_line => true,
            Some(found) if found == column && column > 0 => true,
            // Zero indentation says nothing by itself; a value that nothing asked for does.
            Some(0) => !matches!(self.before_line(), Some(b':' | b'[' | b',')),
            _ => false,
        }
    }

    /// The column of the current byte, if only white space precedes it on its line.
    fn begins_line(&self) -> Option<usize> {
        let before = &self.buffer[self.keep.min(self.at)..self.at];
        let blank = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        match before.len().checked_sub(blank + 1) {
            Some(last) => (before[last] == b'\n').then_some(blank),
            None => None,
        }
    }

    /// The last byte before the current line that is not white space.
    fn before_line(&self) -> Option<u8> {
        self.buffer[self.keep..self.at].iter().rev().copied().find(|byte| !byte.is_ascii_whitespace())
    }

    /// Behind a torn object: to the end of the line before a brace that opens a line at `column`, or to the stream's end.
    fn skip_to_object(&mut self, column: usize) -> io::Result<()> {
        if self.at < self.filled && self.buffer[self.at] == b'{' && self.begins_line() == Some(column) {
            self.at -= column + 1;
            return Ok(());
        }
        loop {
            match memchr(b'\n', &self.buffer[self.at..self.filled]) {
                Some(found) => self.at += found,
                None => {
                    self.at = self.filled;
                    self.keep = self.at;
                    if !self.refill()? {
                        return Ok(());
                    }
                    continue;
                }
            }
            self.keep = self.at;
            self.at += 1;
            while matches!(self.peek()?, Some(b' ' | b'\t')) {
                self.at += 1;
            }
            if self.peek()? == Some(b'{') && self.begins_line() == Some(column) {
                self.at = self.keep;
                return Ok(());
            }
        }
    }

    /// The next byte that is not white space, left in place.
    fn significant(&mut self) -> Result<u8, Stop> {
        loop {
            let rest = &self.buffer[self.at..self.filled];
            if let Some(found) = rest.iter().position(|byte| !byte.is_ascii_whitespace()) {
                self.at += found;
                return Ok(self.buffer[self.at]);
            }
            self.at = self.filled;
            self.more()?;
        }
    }

    fn next_position(&mut self, at: usize) -> Position {
        self.objects += 1;
        Position { object: self.objects, byte: self.offset + at as u64 }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.at == self.filled && !self.refill()? {
            return Ok(None);
        }
        Ok(Some(self.buffer[self.at]))
    }

    /// More bytes behind the current one, or [`Stop::End`].
    fn more(&mut self) -> Result<(), Stop> {
        if self.refill()? { Ok(()) } else { Err(Stop::End) }
    }

    /// Reads on, letting go of what lies before `keep`; false at the end of the stream.
    fn refill(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.filled - self.keep > LARGEST_OBJECT {
            self.oversize = true;
            self.keep = self.at;
        }
        if self.keep > 0 && self.filled + CHUNK > self.buffer.len() {
            self.buffer.copy_within(self.keep..self.filled, 0);
            self.offset += self.keep as u64;
            self.at -= self.keep;
            self.filled -= self.keep;
            self.keep = 0;
        }
        if self.filled + CHUNK > self.buffer.len() {
            let wanted = (self.filled + CHUNK).max(self.buffer.len() * 3 / 2);
            self.buffer.resize(wanted, 0);
        }
        loop {
            match self.reader.read(&mut self.buffer[self.filled..]) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(false);
                }
                Ok(read) => {
                    self.filled += read;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
