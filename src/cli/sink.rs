//! Where results go: stdout, or a file that is there whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::stdout::{Stdout, stdout};
use crate::record;

/// What is written becomes the file, or goes to stdout for good, with [`Sink::finish`]. Dropped before that, it leaves a file that
/// was there as it was.
#[derive(Debug)]
pub(super) enum Sink {
    Stdout(BufWriter<Stdout>),
    File(Half),
}

/// A file in the making.
#[derive(Debug)]
pub(super) struct Half {
    file: BufWriter<File>,
    finished: bool,
    /// Beside the file, so that it can take its place at once.
    path: PathBuf,
    becomes: PathBuf,
}

impl Sink {
    /// A file, or without one stdout.
    pub(super) fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        Ok(match path {
            Some(path) => Self::File(Half::open(path).with_context(|| format!("cannot write {}", path.display()))?),
            None => Self::Stdout(BufWriter::new(stdout())),
        })
    }

    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Self::Stdout(mut out) => out.flush(),
            Self::File(half) => half.finish(),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File(half) => half.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(half) => half.flush(),
        }
    }
}

impl Half {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // Through a link, so that what it leads to is written and the link stays.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let half = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let file = BufWriter::new(record::private(&half)?);
        Ok(Self { file, finished: false, path: half, becomes: path })
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        fs::rename(&self.path, &self.becomes)?;
        self.finished = true;
        // The file's name is on the disk only with its folder.
        let folder = self.becomes.parent().filter(|folder| !folder.as_os_str().is_empty());
        record::sync_folder(folder.unwrap_or(Path::new(".")))
    }
}

impl Write for Half {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.path);
        }
    }
}
