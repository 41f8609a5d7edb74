//! Windows `PowerShell` writes `kubectl … > dump.json` in UTF-16.

use std::io::{self, Read};

use super::format::ByteOrder;

/// Turns UTF-16 into UTF-8, byte order mark included. Lone surrogates become U+FFFD.
pub(super) struct Utf16<R> {
    reader: R,
    order: ByteOrder,
    /// Bytes read that are not a whole unit yet.
    rest: Vec<u8>,
    /// The first half of a pair whose second half is yet to come.
    high: Option<u16>,
    out: String,
    at: usize,
    ended: bool,
}

const CHUNK: usize = 64 << 10;

impl<R: Read> Utf16<R> {
    pub(super) fn new(reader: R, order: ByteOrder) -> Self {
        Self { reader, order, rest: Vec::new(), high: None, out: String::new(), at: 0, ended: false }
    }

    fn refill(&mut self) -> io::Result<()> {
        let begins = self.rest.len();
        self.rest.resize(begins + CHUNK, 0);
        let read = self.reader.read(&mut self.rest[begins..]);
        self.rest.truncate(begins + read.as_ref().unwrap_or(&0));
        self.ended = read? == 0;
        self.out.clear();
        self.at = 0;
        let units = self.rest.chunks_exact(2).map(|unit| match self.order {
            ByteOrder::Little => u16::from_le_bytes([unit[0], unit[1]]),
            ByteOrder::Big => u16::from_be_bytes([unit[0], unit[1]]),
        });
        let mut units: Vec<u16> = self.high.take().into_iter().chain(units).collect();
        if !self.ended {
            self.high = units.pop_if(|last| (0xd800..0xdc00).contains(last));
        }
        self.out.extend(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
        let whole = self.rest.len() / 2 * 2;
        self.rest.drain(..whole);
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.out.len() {
            if self.ended {
                return Ok(0);
            }
            self.refill()?;
        }
        let rest = &self.out.as_bytes()[self.at..];
        let taken = rest.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&rest[..taken]);
        self.at += taken;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out one byte at a time.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(&mut buffer[..1])
        }
    }

    #[test]
    fn any_text_is_read_whatever_the_chunks() {
        let text = "\u{feff}{\"name\": \"Zürich 😀 日本\"}\r\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (bytes, order) in [(little, ByteOrder::Little), (big, ByteOrder::Big)] {
            let mut read = String::new();
            Utf16::new(Drip(&bytes), order).read_to_string(&mut read).unwrap();
            assert_eq!(read, text);
            read.clear();
            Utf16::new(&bytes[..], order).read_to_string(&mut read).unwrap();
            assert_eq!(read, text);
        }
    }
}
