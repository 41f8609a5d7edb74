//! A journal: JSON Lines of changes, one file after the other. What was written whole is never lost and never written twice,
//! whenever the recorder is killed.
//!
//! Each batch is written behind the last one and flushed to the disk before the next begins. Whatever follows the last whole
//! line when a journal is opened was being written when the recorder died: it is cut off, and what it told is read from the
//! cluster once more.

mod files;
mod index;
mod scan;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::files::append_to;
use super::keep::Kept;
use super::lines::{self, ChangeType};
use super::secrets::{KEY_BYTES, Marker};
use crate::model::Time;
use crate::source::{Header, Resource, Status};
use files::Names;
use index::{Entry, Index, Key};

/// Why a journal cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Something with a file went wrong.
    #[error("cannot {what} {path}: {reason}{}", if is_full(reason) { "; what was written before is whole: make room and start the recorder again, it goes on from there" } else { "" })]
    File {
        /// What was tried.
        what: &'static str,
        /// Which file.
        path: String,
        /// The system's reason.
        reason: io::Error,
    },
    /// Its folder is not there.
    #[error("cannot write {path}: there is no folder {folder}")]
    NoFolder {
        /// The journal.
        path: String,
        /// Where it was to be.
        folder: String,
    },
    /// Another recorder writes it.
    #[error("{path} is being written by another recorder; one journal takes one writer")]
    Busy {
        /// The journal.
        path: String,
    },
    /// What is there is something else.
    #[error("{path} is there and is not a journal that can be gone on with: {why}; give another -o")]
    Foreign {
        /// The journal.
        path: String,
        /// Why.
        why: String,
    },
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// How a journal is kept.
#[derive(Clone, Copy, Debug)]
pub struct Keeping {
    /// Bytes after which a new file is begun.
    pub rotate_size: u64,
    /// Files before the current one that are kept; 0 for all.
    pub keep: usize,
}

/// A journal that is being written.
pub struct Journal {
    names: Names,
    file: File,
    header: Header,
    keeping: Keeping,
    index: Index,
    /// Bytes of the current file that are whole.
    length: u64,
    /// Bytes of it that were carried over from files that were removed.
    opening: u64,
    /// Lines to be written together.
    batch: Vec<u8>,
    /// What the batch changes in the index.
    changes: HashMap<Key, Option<Entry>>,
    key: [u8; KEY_BYTES],
    /// The time of the newest line that was there when it was opened.
    last: Option<Time>,
    /// The time of the newest line.
    newest: Option<Time>,
    /// The newest status that tells what became of each resource: each file has one.
    told: Option<Status>,
    /// The logs that it holds.
    logs: HashSet<u64>,
    /// Files that could not be read whole, and why.
    damaged: Vec<String>,
    /// Held while the journal is open.
    _lock: File,
}

impl Journal {
    /// Opens a journal, or begins one. One that is there is repaired, and must be of the same cluster and namespace.
    pub fn open(path: &Path, mut header: Header, keeping: Keeping) -> Result<Self, JournalError> {
        let path = &files::resolved(path);
        let names = Names::of(path);
        names.ensure_possible()?;
        let lock = names.lock()?;
        let key = names.key()?;
        names.tidy()?;
        let mut index = Index::default();
        let mut last = None;
        let mut found: Option<Header> = None;
        let mut newest_file = 0;
        let (mut told, mut logs, mut damaged) = (None, HashSet::new(), Vec::new());
        for (number, path) in names.rotated()? {
            let scanned = scan::scan(&path, number, &mut index).map_err(|error| cannot("read", &path, error))?;
            names.ensure_own(&scanned)?;
            last = last.max(scanned.last);
            newest_file = newest_file.max(number).max(scanned.header.as_ref().map_or(0, |header| header.file));
            found = scanned.header.or(found);
            told = scanned.status.or(told);
            logs.extend(scanned.logs);
            damaged.extend(scanned.damage.map(|why| format!("{} is damaged: {why}", path.display())));
        }
        let begun = newest_file + 1;
        let (mut length, mut opening) = (0, 0);
        let mut needs_header = true;
        if path.exists() {
            let scanned = scan::scan(path, begun, &mut index).map_err(|error| cannot("read", path, error))?;
            names.ensure_own(&scanned)?;
            if scanned.whole == 0 && scanned.has_other {
                return Err(names.foreign("its first line is none of a recording"));
            }
            if scanned.whole > 0 && scanned.header.is_none() {
                return Err(names.foreign("its first line is missing, which tells of which cluster it is"));
            }
            (length, opening) = (scanned.whole, scanned.opening);
            told = scanned.status.or(told);
            logs.extend(scanned.logs);
            last = last.max(scanned.last);
            needs_header = scanned.header.is_none();
            found = scanned.header.or(found);
        }
        if let Some(found) = &found {
            names.ensure_same(found, &header)?;
            header.started_at.clone_from(&found.started_at);
            header.file = if needs_header { begun } else { found.file };
        } else {
            header.file = 1;
        }
        let file = append_to(path).map_err(|error| cannot("write", path, error))?;
        file.set_len(length).map_err(|error| cannot("write", path, error))?;
        let mut journal = Self {
            names,
            file,
            header,
            keeping,
            index,
            length,
            opening,
            batch: Vec::new(),
            changes: HashMap::new(),
            key,
            last,
            newest: last,
            told,
            logs,
            damaged,
            _lock: lock,
        };
        journal.seek()?;
        if needs_header {
            journal.batch = lines::header(&journal.header);
        }
        journal.sync()?;
        // Which files there are is on the disk only with their folder.
        journal.names.sync_folder()?;
        Ok(journal)
    }

    /// The logs that it held when it was opened, by [`super::logs::key_of`].
    pub(super) fn take_logs(&mut self) -> HashSet<u64> {
        std::mem::take(&mut self.logs)
    }

    /// Which of its files could not be read whole, and why.
    pub fn damaged(&self) -> &[String] {
        &self.damaged
    }

    /// The number of the file that is written.
    pub(super) fn file_number(&self) -> u64 {
        self.header.file
    }

    /// Where it is written.
    pub fn path(&self) -> &Path {
        &self.names.current
    }

    /// The key of the marks in it, which stands in a file beside it.
    pub fn marker(&self) -> Marker {
        Marker::new(&self.key)
    }

    /// The time of the newest line that was there when it was opened.
    pub fn last(&self) -> Option<Time> {
        self.last
    }

    /// Takes an object as it is now; whether there was anything new to write.
    pub fn set(&mut self, at: Time, resource: Resource, kept: &Kept) -> bool {
        let key = Key::of(resource, &kept.fields);
        let digest = index::digest(resource, &kept.fields);
        let before = self.entry(key);
        if let Some(before) = before.filter(|before| before.digest == digest) {
            self.note(key, Some(before.seen()));
            return false;
        }
        let what = if before.is_some() { ChangeType::Modified } else { ChangeType::Added };
        lines::change(&mut self.batch, at, what, kept);
        self.newest = self.newest.max(Some(at));
        self.index.name(key, resource, &kept.api_version, &kept.fields);
        self.note(key, Some(Entry::new(resource, digest, self.header.file)));
        true
    }

    /// Takes an object that was deleted, in its last state; Events expire, and what they told stays.
    pub fn delete(&mut self, at: Time, resource: Resource, kept: &Kept) -> bool {
        let key = Key::of(resource, &kept.fields);
        let is_known = self.entry(key).is_some();
        if resource != Resource::Events && is_known {
            lines::change(&mut self.batch, at, ChangeType::Deleted, kept);
        }
        self.note(key, None);
        is_known
    }

    /// Takes an object that is gone, of which only the names are known.
    pub fn miss(&mut self, at: Time, resource: Resource, kept: &Kept) {
        let key = Key::of(resource, &kept.fields);
        if self.entry(key).is_some() && resource != Resource::Events {
            lines::change(&mut self.batch, at, ChangeType::Missed, kept);
        }
        self.note(key, None);
    }

    /// All objects of a resource that are there have been told: what was there when the journal was last written and is not
    /// now, was deleted meanwhile.
    pub fn listed(&mut self, at: Time, resource: Resource) -> Result<(), JournalError> {
        self.sync()?;
        for (key, names) in self.index.unseen(resource) {
            if resource != Resource::Events {
                lines::change_of_names(&mut self.batch, at, resource.kind(), &index::names_in(&names));
            }
            self.changes.insert(key, None);
        }
        self.sync()
    }

    /// Writes what became of the reading, and as of when.
    pub fn status(&mut self, status: Status) {
        self.newest = self.newest.max(Time::parse(&status.as_of));
        self.batch.extend(lines::status(&status));
        self.told =
            Some(Status { not_recorded_since: None, not_recorded_of: Vec::new(), carried_over: false, ..status });
    }

    /// Writes that all is known up to a time, though nothing changed: what comes after may be missing.
    pub fn beat(&mut self, as_of: Time) {
        self.newest = self.newest.max(Some(as_of));
        self.batch.extend(lines::status(&Status { as_of: as_of.to_string(), ..Status::default() }));
    }

    /// Takes whole lines to be written with the others.
    pub fn add(&mut self, lines: &[u8]) {
        self.batch.extend_from_slice(lines);
    }

    /// Bytes that wait to be written.
    pub fn waiting(&self) -> usize {
        self.batch.len()
    }

    /// Writes what waits, and has it on the disk when this returns.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.flush()?;
        if self.length - self.opening >= self.keeping.rotate_size.max(1) {
            self.rotate()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), JournalError> {
        if !self.batch.is_empty() {
            let written = self.file.write_all(&self.batch).and_then(|()| self.file.sync_data());
            if let Err(error) = written {
                // What came of the batch is torn; the next opening would cut it off, too.
                let _ = self.file.set_len(self.length);
                let _ = self.seek();
                return Err(cannot("write", &self.names.current, error));
            }
            self.length += self.batch.len() as u64;
            self.batch.clear();
            self.batch.shrink_to(1 << 20);
        }
        for (key, entry) in self.changes.drain() {
            self.index.put(key, entry);
        }
        Ok(())
    }

    /// What is known of an object, with what waits to be written.
    fn entry(&self, key: Key) -> Option<Entry> {
        self.changes.get(&key).map_or_else(|| self.index.get(key), |entry| *entry)
    }

    /// Notes what is known of an object once what waits is written; at once where nothing does.
    fn note(&mut self, key: Key, entry: Option<Entry>) {
        if self.batch.is_empty() {
            self.index.put(key, entry);
        } else {
            self.changes.insert(key, entry);
        }
    }

    fn seek(&mut self) -> Result<(), JournalError> {
        self.file.seek(SeekFrom::Start(self.length)).map_err(|error| cannot("write", &self.names.current, error))?;
        Ok(())
    }

    /// Begins a new file, and removes the oldest ones that are too many.
    fn rotate(&mut self) -> Result<(), JournalError> {
        self.names.set_aside(self.header.file)?;
        self.header.file += 1;
        let path = &self.names.current;
        self.file = append_to(path).map_err(|error| cannot("write", path, error))?;
        self.length = 0;
        self.opening = 0;
        self.batch = lines::header(&self.header);
        self.flush()?;
        self.names.sync_folder()?;
        let rotated = self.names.rotated()?;
        let too_many = if self.keeping.keep == 0 { 0 } else { rotated.len().saturating_sub(self.keeping.keep) };
        for (number, path) in rotated.into_iter().take(too_many) {
            self.carry_over(number, &path)?;
            fs::remove_file(&path).map_err(|error| cannot("remove", &path, error))?;
        }
        // So that it is known of the file alone what was read when, and where what is its own begins.
        let as_of = self.newest.map_or_else(|| self.header.started_at.clone(), |at| at.to_string());
        let told = self.told.clone().unwrap_or_default();
        self.batch.extend(lines::status(&Status { as_of, carried_over: true, ..told }));
        self.flush()?;
        self.opening = self.length;
        Ok(())
    }

    /// Copies what a file alone tells of objects that are still there, so that removing it takes no more than what is past.
    fn carry_over(&mut self, number: u64, path: &Path) -> Result<(), JournalError> {
        /// Bytes that are written together.
        const BATCH: usize = 1 << 20;
        let mut failed = None;
        let read = scan::each_line(path, |line| {
            let Some((key, object)) = scan::object_of(line) else { return };
            let own = self.index.get(key).filter(|entry| {
                entry.file == number && index::digest_of(entry.resource, &object) == Some(entry.digest)
            });
            if let (Some(entry), None) = (own, &failed) {
                self.batch.extend_from_slice(line);
                self.batch.push(b'\n');
                self.changes.insert(key, Some(entry.in_file(self.header.file)));
                if self.batch.len() >= BATCH {
                    failed = self.flush().err();
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        read.map_err(|error| cannot("read", path, error))?;
        self.flush()
    }
}

pub(super) fn cannot(what: &'static str, path: &Path, reason: io::Error) -> JournalError {
    JournalError::File { what, path: path.display().to_string(), reason }
}
