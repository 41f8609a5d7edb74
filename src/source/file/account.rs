//! What reading one input came to, and how that is told.

use std::fmt::Write as _;

use super::format::Packer;
use super::walk::{Input, STDIN};
use crate::source::{Skipped, Source, SourceState};

/// Why an input, or a file in it, is not read at all.
#[derive(Debug)]
pub(super) enum Refusal {
    Empty,
    NotData { begins: String },
    Packed(&'static Packer),
}

/// What reading one input came to.
#[derive(Debug)]
pub(super) struct Account {
    /// The path as it was named, or `-`.
    pub(super) path: String,
    /// Whether it was found in a folder rather than named.
    pub(super) found: bool,
    /// Objects read, of whatever kind.
    pub(super) objects: u64,
    /// Why it was not read at all.
    pub(super) refusal: Option<Refusal>,
    /// Something is missing behind a point.
    cut: bool,
    skipped: u64,
    /// The first objects that were skipped.
    named: Vec<String>,
    /// What else is to be told.
    notes: Vec<String>,
    /// Further notes, not told one by one.
    more_notes: u64,
}

/// Objects and notes that are told one by one for an input.
const NAMED: usize = 5;

impl Account {
    pub(super) fn of(input: Input) -> Self {
        Self {
            path: input.path,
            found: input.found,
            objects: 0,
            refusal: None,
            cut: false,
            skipped: 0,
            named: Vec::new(),
            notes: Vec::new(),
            more_notes: 0,
        }
    }

    /// The input as a person calls it.
    pub(super) fn name(&self) -> String {
        if self.path == STDIN { "standard input".to_owned() } else { self.path.clone() }
    }

    /// Counts objects that could not be read. `entry` is the file in the archive, `base` the bytes passed over before.
    pub(super) fn skip(&mut self, (skipped, count): (Vec<Skipped>, u64), entry: Option<&str>, base: u64) {
        self.skipped += count;
        for Skipped { at, why } in skipped {
            if self.named.len() == NAMED {
                break;
            }
            let place = entry.map(|entry| format!("{entry}: ")).unwrap_or_default();
            self.named.push(format!("{place}object {} (byte {}): {why}", at.object, at.byte + base));
        }
    }

    /// Tells that something is missing behind a point.
    pub(super) fn cut(&mut self, note: String, entry: Option<&str>) {
        self.cut = true;
        self.note(note, entry);
    }

    /// Tells something.
    pub(super) fn note(&mut self, note: String, entry: Option<&str>) {
        if self.notes.len() == NAMED {
            self.more_notes += 1;
            return;
        }
        self.notes.push(match entry {
            Some(entry) => format!("{entry}: {note}"),
            None => note,
        });
    }

    fn state(&self) -> SourceState {
        if self.cut || self.skipped > 0 || (self.refusal.is_some() && !self.is_passed_over()) {
            SourceState::Unreadable
        } else {
            SourceState::Read
        }
    }

    /// Files that are not for us are met in any folder; only those named deserve a word.
    fn is_passed_over(&self) -> bool {
        self.found && !matches!(self.refusal, Some(Refusal::Packed(_)))
    }

    /// All there is to tell, in one line.
    pub(super) fn message(&self) -> Option<String> {
        let mut parts = self.notes.clone();
        if self.more_notes > 0 {
            parts.push(format!("and {} more such", self.more_notes));
        }
        match &self.refusal {
            None => {}
            Some(Refusal::Empty) => parts.push("empty".to_owned()),
            Some(Refusal::NotData { begins }) => {
                parts.push(format!("neither JSON nor YAML nor an archive (it begins with {begins:?}); not read"));
            }
            Some(Refusal::Packed(packer)) => parts.push(format!(
                "packed with {}, which is not read here; unpack it first: {}",
                packer.name,
                super::unpacking(packer, &self.path)
            )),
        }
        if self.skipped > 0 {
            parts.push(self.skips());
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn skips(&self) -> String {
        let objects = if self.skipped == 1 { "1 object" } else { &format!("{} objects", self.skipped) };
        let mut text = format!("{objects} could not be read and left out: {}", self.named.join(", "));
        let more = self.skipped - self.named.len() as u64;
        if more > 0 {
            let _ = write!(text, ", and {more} more");
        }
        text
    }

    /// The line for stderr, where there is something to tell.
    pub(super) fn warning(&self) -> Option<String> {
        if self.is_passed_over() && self.refusal.is_some() {
            return None;
        }
        self.message().map(|message| format!("{}: {message}", self.name()))
    }

    pub(super) fn into_source(self) -> Source {
        Source {
            cluster: None,
            resource: "files".to_owned(),
            state: self.state(),
            objects: self.objects,
            skipped: self.skipped,
            message: self.message(),
            file: Some(self.path),
        }
    }
}
