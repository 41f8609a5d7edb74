use std::io::{self, Read};

use bytes::Bytes;
use tokio::sync::mpsc;

/// Chunks on their way at once; with the reader's own buffer, all that is held of an answer.
const CHUNKS: usize = 16;

/// A way for the chunks of an answer from the runtime's thread to one that reads.
pub(super) fn channel() -> (mpsc::Sender<Bytes>, BodyReader) {
    let (sender, receiver) = mpsc::channel(CHUNKS);
    (sender, BodyReader { receiver, chunk: Bytes::new() })
}

/// Reads what is sent, and waits for it: not for use on the runtime's own thread. It ends with the sender.
pub(super) struct BodyReader {
    receiver: mpsc::Receiver<Bytes>,
    chunk: Bytes,
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            match self.receiver.blocking_recv() {
                Some(chunk) => self.chunk = chunk,
                None => return Ok(0),
            }
        }
        let taken = self.chunk.split_to(self.chunk.len().min(buffer.len()));
        buffer[..taken.len()].copy_from_slice(&taken);
        Ok(taken.len())
    }
}
