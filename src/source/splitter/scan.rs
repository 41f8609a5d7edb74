//! Looking at bytes: strings, brackets, columns, and the buffer they stand in.

use std::io::{self, Read};

use memchr::{memchr, memchr3};

use super::{CHUNK, CUT_OFF, LARGEST_OBJECT, LOOK_BACK, NOT_JSON, Position, Resumed, Splitter, Stop};

impl<R: Read> Splitter<R> {
    /// From an opening brace to behind the closing one. `column` is where an object beside this one would open a line.
    pub(super) fn braces(&mut self, column: usize) -> Result<(), Stop> {
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

    /// From an opening bracket to behind the closing one. Arrays beside `items` are few: no need to be quick.
    pub(super) fn brackets(&mut self) -> Result<(), Stop> {
        let mut depth = 0_u32;
        loop {
            let rest = &self.buffer[self.at..self.filled];
            let Some(found) = rest.iter().position(|byte| matches!(byte, b'"' | b'[' | b']' | b'{' | b'}')) else {
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
                b'{' if self.opens_another(self.item_column) => return Err(Stop::Torn(CUT_OFF)),
                b'[' | b'{' => depth += 1,
                _ => depth -= 1,
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// A number, `true`, `false` or `null`.
    pub(super) fn scalar(&mut self) -> Result<(), Stop> {
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
    pub(super) fn string(&mut self) -> Result<Vec<u8>, Stop> {
        let begins = self.at - self.keep;
        self.skip_string()?;
        Ok(if self.oversize { Vec::new() } else { self.buffer[self.keep + begins..self.at].to_vec() })
    }

    /// From an opening quote to behind the closing one. JSON strings hold no raw line ends: one here means that the
    /// object was cut off in the string.
    pub(super) fn skip_string(&mut self) -> Result<(), Stop> {
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
    pub(super) fn opens_another(&self, column: usize) -> bool {
        match self.begins_line() {
            Some(0) if self.line_by_line => true,
            Some(found) if found == column && column > 0 => true,
            // Zero indentation says nothing by itself; a value that nothing asked for does.
            Some(0) => match self.before_line() {
                Some(b':' | b'[') => false,
                Some(b',') => self.is_in_object(),
                _ => true,
            },
            _ => false,
        }
    }

    /// Whether the innermost bracket that is open at the current byte is a brace, behind which only members can stand.
    pub(super) fn is_in_object(&self) -> bool {
        let before = &self.buffer[self.keep..self.at];
        if before.len() > LOOK_BACK {
            return false;
        }
        let mut open = Vec::new();
        let mut in_string = false;
        let mut bytes = before.iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\\' if in_string => _ = bytes.next(),
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => open.push(*byte),
                b'}' | b']' if !in_string => _ = open.pop(),
                _ => {}
            }
        }
        open.last() == Some(&b'{')
    }

    /// The column of the current byte, if only white space precedes it on its line.
    pub(super) fn begins_line(&self) -> Option<usize> {
        self.column_at(self.at)
    }

    /// The column of a byte, likewise.
    pub(super) fn column_at(&self, at: usize) -> Option<usize> {
        let before = &self.buffer[self.keep.min(at)..at];
        let blank = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let last = before.len().checked_sub(blank + 1)?;
        (before[last] == b'\n').then_some(blank)
    }

    /// The last byte before the current line that is not white space.
    pub(super) fn before_line(&self) -> Option<u8> {
        self.buffer[self.keep..self.at].iter().rev().copied().find(|byte| !byte.is_ascii_whitespace())
    }

    /// Behind a torn object: to the end of the line before one that opens an object at `column`, or closes the list that
    /// the objects at that column stand in, or opens a document; else to the stream's end.
    pub(super) fn skip_to_object(&mut self, column: usize) -> io::Result<Resumed> {
        if self.at < self.filled && self.buffer[self.at] == b'{' && self.begins_line() == Some(column) {
            self.at -= column + 1;
            return Ok(Resumed::Beside);
        }
        loop {
            let Some(found) = memchr(b'\n', &self.buffer[self.at..self.filled]) else {
                self.at = self.filled;
                self.keep = self.at;
                if !self.refill()? {
                    return Ok(Resumed::End);
                }
                continue;
            };
            self.at += found;
            self.keep = self.at;
            self.at += 1;
            while matches!(self.peek()?, Some(b' ' | b'\t')) {
                self.at += 1;
            }
            let found = self.begins_line();
            let resumed = match self.peek()? {
                Some(b'{') if found == Some(column) => Resumed::Beside,
                Some(b'{') if found == Some(0) => Resumed::Document,
                Some(b']') if found < Some(column) => Resumed::Beside,
                _ => continue,
            };
            self.at = self.keep;
            return Ok(resumed);
        }
    }

    /// The next byte that is not white space, left in place.
    pub(super) fn significant(&mut self) -> Result<u8, Stop> {
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

    pub(super) fn next_position(&mut self, at: usize) -> Position {
        self.objects += 1;
        Position { object: self.objects, byte: self.offset + at as u64 }
    }

    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.at == self.filled && !self.refill()? {
            return Ok(None);
        }
        Ok(Some(self.buffer[self.at]))
    }

    /// More bytes behind the current one, or [`Stop::End`].
    pub(super) fn more(&mut self) -> Result<(), Stop> {
        if self.refill()? { Ok(()) } else { Err(Stop::End) }
    }

    /// Reads on, letting go of what lies before `keep`; false at the end of the stream.
    pub(super) fn refill(&mut self) -> io::Result<bool> {
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
