//! Splitting on a thread of its own: finding the objects of a large dump takes half as long as reading them.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::source::{Ending, Intake, ListHead, ObjectSink, Position, Splitter};

/// Bytes of objects handed over at once.
const BATCH: usize = 256 << 10;
/// Batches that may wait to be taken.
const WAITING: usize = 2;

/// Splits `stream` on a thread of its own, and has `intake` take what is found, in order.
pub(super) fn read_json(stream: impl Read + Send, intake: &mut Intake) -> io::Result<Ending> {
    std::thread::scope(|scope| {
        let (full, batches) = sync_channel::<Batch>(WAITING);
        let (used, empty) = sync_channel(WAITING + 2);
        let splitter = scope.spawn(move || {
            let mut batches = Batches { current: Batch::default(), full, empty };
            let ending = Splitter::new(stream).run(&mut batches);
            batches.hand_over();
            ending
        });
        let mut list = ListHead::default();
        for mut batch in batches {
            batch.replay(intake, &mut list);
            batch.clear();
            let _ = used.try_send(batch);
        }
        splitter.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// What a splitter found.
enum Found {
    /// An object of so many bytes.
    Object(usize, Position),
    Broken(Position, String),
    ListBegins(ListHead),
    ListEnds(ListHead),
}

#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    found: Vec<Found>,
}

impl Batch {
    fn replay(&mut self, intake: &mut Intake, list: &mut ListHead) {
        let mut rest = &self.bytes[..];
        for found in self.found.drain(..) {
            match found {
                Found::Object(length, at) => {
                    let (object, behind) = rest.split_at(length);
                    rest = behind;
                    intake.object(object, list, at);
                }
                Found::Broken(at, why) => intake.broken(at, &why),
                Found::ListBegins(head) => {
                    intake.list_begins(&head);
                    *list = head;
                }
                Found::ListEnds(head) => {
                    intake.list_ends(&head);
                    *list = ListHead::default();
                }
            }
        }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        // One large object must not be paid for by every batch.
        self.bytes.shrink_to(2 * BATCH);
    }
}

/// Appends JSON without its line ends and the blanks that begin its lines: more than half of what kubectl prints, which
/// the parser on the other thread would have to step over. A string holds no raw line end, so that only the space between
/// members goes.
fn push_unindented(to: &mut Vec<u8>, json: &[u8]) {
    let mut rest = json;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        to.extend_from_slice(&rest[..end]);
        let next = &rest[end + 1..];
        let blanks = next.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r')).unwrap_or(next.len());
        rest = &next[blanks..];
    }
    to.extend_from_slice(rest);
}

/// Gathers what a splitter finds.
struct Batches {
    current: Batch,
    full: SyncSender<Batch>,
    empty: Receiver<Batch>,
}

impl Batches {
    fn push(&mut self, found: Found) {
        self.current.found.push(found);
        if self.current.bytes.len() >= BATCH || self.current.found.len() >= BATCH / 64 {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let next = self.empty.try_recv().unwrap_or_default();
        // Nobody is left to take it only where the other thread panicked.
        let _ = self.full.send(std::mem::replace(&mut self.current, next));
    }
}

impl ObjectSink for Batches {
    fn object(&mut self, bytes: &[u8], head: &ListHead, at: Position) {
        // The head is that of the list that began last; of an object that stands alone it tells nothing new.
        let _ = head;
        let before = self.current.bytes.len();
        push_unindented(&mut self.current.bytes, bytes);
        self.push(Found::Object(self.current.bytes.len() - before, at));
    }

    fn broken(&mut self, at: Position, why: &str) {
        self.push(Found::Broken(at, why.to_owned()));
    }

    fn list_begins(&mut self, list: &ListHead) {
        self.push(Found::ListBegins(list.clone()));
    }

    fn list_ends(&mut self, list: &ListHead) {
        self.push(Found::ListEnds(list.clone()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::push_unindented;

    #[test]
    fn taking_out_the_indentation_changes_no_value() {
        let value: Value = serde_json::json!({
            "a": {"text": "  two  blanks \n and \t an escape \" \\ ", "empty": {}, "list": [1, [], "x", null]},
            "unicode": "grüße 火 \u{2028}",
        });
        let pretty = serde_json::to_vec_pretty(&value).unwrap();
        let windows = String::from_utf8(pretty.clone()).unwrap().replace('\n', "\r\n").into_bytes();
        for json in [pretty, windows, serde_json::to_vec(&value).unwrap()] {
            let mut squeezed = Vec::new();
            push_unindented(&mut squeezed, &json);
            assert!(!squeezed.contains(&b'\n'));
            assert_eq!(serde_json::from_slice::<Value>(&squeezed).unwrap(), value);
        }
    }
}
