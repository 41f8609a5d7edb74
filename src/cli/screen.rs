//! A terminal's screen that is drawn anew in place.

use std::cell::{Cell, RefCell};
use std::io::{self, IsTerminal, Write};

use terminal_size::{Height, Width, terminal_size};

/// Standard output as a screen, where it is a terminal. What was on the terminal comes back at the end.
#[derive(Debug)]
pub(super) struct Screen {
    is_on: bool,
    is_entered: Cell<bool>,
    size: Cell<Option<(u16, u16)>>,
    /// What is shown.
    text: RefCell<Vec<u8>>,
    /// What was told last, for the line at the bottom.
    note: RefCell<String>,
}

/// To another screen and back, with the cursor hidden meanwhile, and without going on in the next line where one is too
/// long: lines are counted to know what there is room for.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE: &[u8] = b"\x1b[?7h\x1b[?25h\x1b[?1049l";

impl Screen {
    /// One that is used where standard output is a terminal that can do this.
    pub(super) fn of_stdout() -> Self {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
        Self::new(io::stdout().is_terminal() && !is_dumb)
    }

    /// None: what is shown is printed behind what was shown before.
    pub(super) fn off() -> Self {
        Self::new(false)
    }

    fn new(is_on: bool) -> Self {
        Self {
            is_on,
            is_entered: Cell::new(false),
            size: Cell::new(None),
            text: RefCell::new(Vec::new()),
            note: RefCell::new(String::new()),
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether the terminal has another size than when it was drawn.
    pub(super) fn is_resized(&self) -> bool {
        self.is_entered.get() && size() != self.size.get()
    }

    /// Takes a line to be shown at the bottom; whether the screen is there to show it.
    pub(super) fn note(&self, line: &str) -> bool {
        if self.is_entered.get() {
            *self.note.borrow_mut() = crate::render::one_line(line);
        }
        self.is_entered.get()
    }

    /// Draws what is to be seen instead of what was there; nothing, where that stays.
    pub(super) fn show(&self, text: Vec<u8>) -> io::Result<()> {
        let text = if text.is_empty() { self.text.take() } else { text };
        let mut out = io::stdout().lock();
        if !self.is_entered.replace(true) {
            out.write_all(ENTER)?;
        }
        let size = size();
        self.size.set(size);
        let (columns, rows) = size.map_or((80, 24), |(columns, rows)| (usize::from(columns), usize::from(rows)));
        out.write_all(&frame(&text, &self.note.borrow(), columns, rows))?;
        *self.text.borrow_mut() = text;
        out.flush()
    }

    /// Gives the terminal back, and leaves on it what was shown last.
    pub(super) fn leave(&self) -> io::Result<()> {
        if !self.is_entered.replace(false) {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        out.write_all(LEAVE)?;
        out.write_all(&self.text.borrow())?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.is_entered.replace(false) {
            let mut out = io::stdout().lock();
            let _ = out.write_all(LEAVE).and_then(|()| out.flush());
        }
    }
}

fn size() -> Option<(u16, u16)> {
    terminal_size().map(|(Width(columns), Height(rows))| (columns, rows))
}

/// One drawing: each line over what stood there, so that nothing flickers, and what is left of before taken away.
fn frame(text: &[u8], note: &str, columns: usize, rows: usize) -> Vec<u8> {
    let mut frame = b"\x1b[H".to_vec();
    let lines: Vec<&[u8]> = text.strip_suffix(b"\n").unwrap_or(text).split(|byte| *byte == b'\n').collect();
    let room = rows.saturating_sub(2).max(1);
    let hidden = lines.len().saturating_sub(room);
    for line in &lines[..lines.len() - hidden] {
        frame.extend_from_slice(line);
        frame.extend_from_slice(b"\x1b[0m\x1b[K\r\n");
    }
    frame.extend_from_slice(b"\x1b[J");
    let more = if hidden > 0 { format!("{hidden} more lines; ") } else { String::new() };
    let note = if note.is_empty() { String::new() } else { format!("; {note}") };
    let bottom = crate::render::cut(&format!("{more}watching, Ctrl-C ends{note}"), columns.saturating_sub(1));
    frame.extend_from_slice(format!("\x1b[{rows};1H{bottom}\x1b[K").as_bytes());
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str, note: &str, columns: usize, rows: usize) -> String {
        String::from_utf8(frame(text.as_bytes(), note, columns, rows)).unwrap()
    }

    #[test]
    fn each_line_is_drawn_over_the_one_before_and_the_rest_is_cleared() {
        let expected = "\x1b[Ha\x1b[0m\x1b[K\r\nb\x1b[0m\x1b[K\r\n\x1b[J\x1b[10;1Hwatching, Ctrl-C ends\x1b[K";
        assert_eq!(drawn("a\nb\n", "", 80, 10), expected);
        assert!(!expected.contains("\x1b[2J"), "the screen is never empty in between");
    }

    #[test]
    fn what_does_not_fit_is_counted_and_notes_are_cut() {
        let text = drawn("1\n2\n3\n4\n5\n", "the watch was cut", 40, 5);
        assert!(text.contains("3\x1b[0m") && !text.contains("4\x1b[0m"), "{text:?}");
        assert!(text.contains("2 more lines; watching, Ctrl-C ends; t…\x1b[K"), "{text:?}");
        // What is wide takes two columns of a terminal.
        assert!(drawn("", "監視", 27, 5).contains("ends; 監…\x1b[K"), "{:?}", drawn("", "監視", 27, 5));
        assert!(drawn("", "", 1, 1).contains("\x1b[1;1H"));
    }
}
