//! Documents in flow style, `{kind: List, items: [{…}, {…}]}`, cut at the brackets of their items.

use super::{Out, Piece};
use crate::source::{ListHead, Position};

const CUT_OFF: &str = "cut off in the middle";

/// A document in flow style, as far as it was read.
pub(super) struct Flow {
    /// What of the document stands outside of its items.
    around: Piece,
    /// The item being read.
    item: Option<Piece>,
    list: ListHead,
    /// Brackets open at the current byte.
    depth: u32,
    /// Brackets open around the items, while in them.
    items_depth: Option<u32>,
    /// The quote that the current string began with.
    quote: Option<u8>,
    is_escaped: bool,
    previous: u8,
}

impl Flow {
    pub(super) fn new(at: u64) -> Self {
        Self {
            around: Piece::begin(at),
            item: None,
            list: ListHead::default(),
            depth: 0,
            items_depth: None,
            quote: None,
            is_escaped: false,
            previous: b'\n',
        }
    }

    /// Takes one line, or a part of one.
    pub(super) fn feed(&mut self, line: &[u8], at: u64, out: &mut Out) {
        // What of the line is not yet in a piece.
        let mut begins = 0;
        for (position, &byte) in line.iter().enumerate() {
            let previous = std::mem::replace(&mut self.previous, byte);
            if let Some(quote) = self.quote {
                self.in_string(quote, byte);
                continue;
            }
            let is_word_start =
                previous.is_ascii_whitespace() || matches!(previous, b'{' | b'[' | b',' | b':' | b'}' | b']');
            match byte {
                b'#' if previous.is_ascii_whitespace() => break,
                b'"' | b'\'' if is_word_start => self.quote = Some(byte),
                b'{' | b'[' => {
                    if self.begins_item(byte) {
                        self.push(&line[begins..position]);
                        begins = position;
                        self.item = Some(Piece::begin(at + position as u64));
                    }
                    self.depth += 1;
                    if byte == b'[' && self.item.is_none() {
                        self.push(&line[begins..=position]);
                        begins = position + 1;
                        self.may_begin_items(out);
                    }
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.item.is_some() && Some(self.depth) == self.items_depth {
                        self.push(&line[begins..=position]);
                        begins = position + 1;
                        if let Some(item) = self.item.take() {
                            out.item(&item, &self.list);
                        }
                    } else if self.items_depth.is_some_and(|depth| self.depth < depth) {
                        self.items_depth = None;
                        begins = position;
                    }
                }
                _ => {}
            }
        }
        // A comment is pushed with its line: the parser knows them, too.
        self.push(&line[begins.min(line.len())..]);
        self.previous = *line.last().unwrap_or(&b'\n');
    }

    fn in_string(&mut self, quote: u8, byte: u8) {
        if self.is_escaped {
            self.is_escaped = false;
        } else if byte == b'\\' && quote == b'"' {
            self.is_escaped = true;
        } else if byte == quote {
            // A doubled single quote closes the string and opens it again.
            self.quote = None;
            self.previous = if quote == b'\'' { b',' } else { byte };
        }
    }

    fn begins_item(&self, byte: u8) -> bool {
        byte == b'{' && self.item.is_none() && self.items_depth == Some(self.depth)
    }

    /// Whether the bracket just read opens the items: a member of that name, or a document that is a list itself.
    fn may_begin_items(&mut self, out: &mut Out) {
        let head = &self.around.text[..self.around.text.len().saturating_sub(1)];
        let is_items = match self.depth {
            1 => head.trim_ascii().is_empty(),
            2 => ends_with_items_key(head),
            _ => false,
        };
        if !is_items || self.around.is_oversize || self.items_depth.is_some() {
            return;
        }
        self.items_depth = Some(self.depth);
        self.around.is_list = true;
        if self.depth == 2 {
            self.list = out.head(&[head, b" null}"].concat());
        }
        out.sink.list_begins(&self.list);
    }

    /// Within the items but outside of one, there is nothing to keep.
    fn push(&mut self, bytes: &[u8]) {
        match &mut self.item {
            Some(item) => item.push(bytes),
            None if self.items_depth.is_none() => self.around.push(bytes),
            None => {}
        }
    }

    /// The document is over; true where it is cut off, which at the end of the stream is told of the stream.
    pub(super) fn end(self, out: &mut Out, is_last: bool) -> bool {
        let is_open = self.depth > 0 || self.quote.is_some();
        if is_open && is_last {
            return true;
        }
        if is_open {
            out.objects += 1;
            let at = self.item.as_ref().map_or(self.around.at, |item| item.at);
            out.sink.broken(Position { object: out.objects, byte: at }, CUT_OFF);
        } else {
            out.document(&self.around);
        }
        false
    }
}

fn ends_with_items_key(head: &[u8]) -> bool {
    let Some(key) = head.trim_ascii_end().strip_suffix(b":") else { return false };
    let key = key.trim_ascii_end();
    let Some(before) = key.strip_suffix(b"items").or_else(|| key.strip_suffix(b"\"items\"")) else { return false };
    before.last().is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'{' | b','))
}
