//! The one line that is redrawn while a person waits.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use crate::model::human_duration;

/// On standard error, where that is a terminal; else nothing.
pub(super) struct Line {
    is_terminal: bool,
    is_drawn: Cell<bool>,
}

/// What is decided sooner needs no progress.
const AFTER: Duration = Duration::from_secs(1);

impl Line {
    pub(super) fn new() -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { is_terminal: io::stderr().is_terminal() && !is_dumb, is_drawn: Cell::new(false) }
    }

    /// Whether there is one.
    pub(super) fn is_on(&self) -> bool {
        self.is_terminal
    }

    /// Draws it: what is waited for, and how long by now.
    pub(super) fn draw(&self, elapsed: Duration, text: impl FnOnce() -> String) {
        if !self.is_terminal || elapsed < AFTER {
            return;
        }
        let columns = terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| usize::from(width.0));
        let elapsed = human_duration(i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX));
        let text = format!("{elapsed}  {}", text());
        // The last column is left free, as some terminals begin a new line behind it.
        let text = crate::render::cut(&crate::render::one_line(&text), columns.saturating_sub(1));
        let _ = write!(io::stderr(), "\r\x1b[K{text}");
        self.is_drawn.set(true);
    }

    /// Takes it away, so that something else can be written.
    pub(super) fn clear(&self) {
        if self.is_drawn.take() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
