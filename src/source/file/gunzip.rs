//! Unpacking on a thread of its own: it takes as long as reading what comes out, so that both together take half.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use flate2::bufread::MultiGzDecoder;

/// Unpacked bytes handed over at once.
const CHUNK: usize = 256 << 10;
/// Chunks that may wait to be read: memory stays bounded, and neither thread waits for long.
const WAITING: usize = 4;

/// Unpacks `packed` on a thread of its own, and has `take` read what comes out of it.
pub(super) fn on_thread<T>(packed: impl Read + Send, take: impl FnOnce(Chunks) -> T) -> T {
    std::thread::scope(|scope| {
        let (to_reader, full) = sync_channel(WAITING);
        let (used, empty) = sync_channel(WAITING + 2);
        scope.spawn(move || unpack(packed, &to_reader, &empty));
        // Dropped at the end, so that the other thread, if it has more, finds nobody to hand it to and stops.
        take(Chunks { full, used, current: Vec::new(), at: 0 })
    })
}

/// Unpacks `packed`, which may be several packed streams one after another.
pub(super) fn in_place(packed: impl Read) -> impl Read {
    MultiGzDecoder::new(io::BufReader::with_capacity(64 << 10, packed))
}

fn unpack(packed: impl Read, full: &SyncSender<io::Result<Vec<u8>>>, empty: &Receiver<Vec<u8>>) {
    let mut unpacked = in_place(packed);
    loop {
        let mut chunk: Vec<u8> = empty.try_recv().unwrap_or_default();
        chunk.resize(CHUNK, 0);
        let mut filled = 0;
        let failed = loop {
            match unpacked.read(&mut chunk[filled..]) {
                Ok(0) => break None,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Some(error),
            }
        };
        let is_last = filled < CHUNK;
        chunk.truncate(filled);
        // What came out before an error counts.
        if full.send(Ok(chunk)).is_err() {
            return;
        }
        if let Some(error) = failed {
            let _ = full.send(Err(error));
            return;
        }
        if is_last {
            return;
        }
    }
}

/// What was unpacked.
pub(super) struct Chunks {
    full: Receiver<io::Result<Vec<u8>>>,
    used: SyncSender<Vec<u8>>,
    current: Vec<u8>,
    at: usize,
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.current.len() {
            let Ok(next) = self.full.recv() else { return Ok(0) };
            let used = std::mem::replace(&mut self.current, next?);
            self.at = 0;
            let _ = self.used.try_send(used);
        }
        let rest = &self.current[self.at..];
        let taken = rest.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&rest[..taken]);
        self.at += taken;
        Ok(taken)
    }
}
