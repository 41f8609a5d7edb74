//! A folder on this machine that holds what was saved before the first write, and how far the restart is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use super::RestartError;
use super::trust::ensure_is_ours;

/// A folder that only its owner can read.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
}

/// Where a number is put behind the name of what is there already, the highest of them.
const MOST_OF_A_NAME: u32 = 100;

impl Folder {
    /// Makes a new folder in `base`, which is made as well where it is missing.
    pub(super) fn create(base: &Path, name: &str) -> Result<Self, RestartError> {
        make_all(base).map_err(|error| cannot(base, &error))?;
        for number in 1..=MOST_OF_A_NAME {
            let name = if number == 1 { name.to_owned() } else { format!("{name}-{number}") };
            let path = base.join(name);
            match make(&path) {
                Ok(()) => {
                    sync_folder(base).map_err(|error| cannot(base, &error))?;
                    return Ok(Self { path });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot(&path, &error)),
            }
        }
        Err(cannot(&base.join(name), &io::Error::from(io::ErrorKind::AlreadyExists)))
    }

    /// One that is there.
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file whole or not at all, and onto the disk before it returns.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), RestartError> {
        let (path, under_way) = (self.path.join(name), self.path.join(format!(".{name}.new")));
        let written = (|| {
            let mut file = private_file(&under_way)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&under_way, &path)?;
            sync_folder(&self.path)
        })();
        written.map_err(|error| cannot(&path, &error))
    }

    /// Reads a file that nobody else can have written, nor put there.
    pub(super) fn read_own(&self, name: &str) -> Result<Vec<u8>, RestartError> {
        let there = fs::symlink_metadata(&self.path).map_err(|error| cannot(&self.path, &error))?;
        ensure_is_ours(&self.path, &there)?;
        let path = self.path.join(name);
        let mut file = File::open(&path).map_err(|error| cannot(&path, &error))?;
        // Of the file that is open: the name may lead to another one by now.
        ensure_is_ours(&path, &file.metadata().map_err(|error| cannot(&path, &error))?)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| cannot(&path, &error))?;
        Ok(bytes)
    }
}

fn cannot(path: &Path, error: &io::Error) -> RestartError {
    RestartError::Folder { path: path.to_owned(), why: error.to_string() }
}

#[cfg(unix)]
fn make(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(unix)]
fn make_all(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(unix)]
fn private_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// A name in a folder is on the disk only when the folder is.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

#[cfg(not(unix))]
fn make(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

#[cfg(not(unix))]
fn make_all(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

#[cfg(not(unix))]
fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).open(path)
}

/// Folders cannot be opened there; the file system writes names by itself.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
