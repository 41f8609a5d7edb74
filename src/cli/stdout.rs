//! Standard output whose reader may go: what was found out is told by the exit code all the same.

use std::io::{self, ErrorKind, StdoutLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the reader has gone, as `head` does once it has read enough.
static IS_GONE: AtomicBool = AtomicBool::new(false);

/// Standard output; once its reader has gone, what is written goes nowhere, and that is no error.
#[derive(Debug)]
pub(super) struct Stdout(StdoutLock<'static>);

pub(super) fn stdout() -> Stdout {
    Stdout(io::stdout().lock())
}

/// Whether nobody reads any more, as far as that was met.
pub(super) fn is_gone() -> bool {
    IS_GONE.load(Ordering::Relaxed)
}

/// What stands for a write whose reader has gone.
fn unless_gone<T>(written: io::Result<T>, instead: T) -> io::Result<T> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            IS_GONE.store(true, Ordering::Relaxed);
            Ok(instead)
        }
        written => written,
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if is_gone() { Ok(bytes.len()) } else { unless_gone(self.0.write(bytes), bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if is_gone() { Ok(()) } else { unless_gone(self.0.flush(), ()) }
    }
}
