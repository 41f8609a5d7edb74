//! Ctrl-C and SIGTERM, for what must not end in the middle of a step.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::task::Poll;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC, ctrl_c};

#[cfg(windows)]
type Signal = CtrlC;

/// The signals that ask the process to end. Until they are heeded, each ends it at once.
#[derive(Debug, Default)]
pub(super) struct Interrupts {
    signals: RefCell<Vec<Signal>>,
    came: Cell<bool>,
}

impl Interrupts {
    /// From now on they are only noted. To be called within a runtime.
    pub(super) fn heed(&self) -> io::Result<()> {
        if self.signals.borrow().is_empty() {
            *self.signals.borrow_mut() = listen()?;
        }
        Ok(())
    }

    /// Whether one has come.
    pub(super) fn came(&self) -> bool {
        self.came.get()
    }

    /// Waits for the next one: for ever, where they are not heeded.
    pub(super) async fn next(&self) {
        poll_fn(|context| {
            let mut signals = self.signals.borrow_mut();
            let came = signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if came { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        self.came.set(true);
    }
}

#[cfg(unix)]
fn listen() -> io::Result<Vec<Signal>> {
    [SignalKind::interrupt(), SignalKind::terminate()].into_iter().map(signal).collect()
}

#[cfg(windows)]
fn listen() -> io::Result<Vec<Signal>> {
    Ok(vec![ctrl_c()?])
}
