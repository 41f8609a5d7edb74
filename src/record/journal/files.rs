//! The files of a journal: the one being written, those before it, its lock and its key.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::scan::Scanned;
use super::{JournalError, cannot};
use crate::record::files::{append_to, private, sync_folder};
use crate::record::secrets::{KEY_BYTES, Marker};
use crate::source::Header;

/// Where the files of a journal are: `journal.jsonl`, `journal.000001.jsonl.gz`, `.journal.jsonl.lock`, `.journal.jsonl.key`.
pub(super) struct Names {
    pub(super) current: PathBuf,
    folder: PathBuf,
    /// The name without its ending.
    stem: String,
    /// With its dot; may be empty.
    ending: String,
}

impl Names {
    pub(super) fn of(path: &Path) -> Self {
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let text = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
        Self { current: path.to_owned(), folder: folder.to_owned(), stem: text(path.file_stem()), ending }
    }

    fn hidden(&self, ending: &str) -> PathBuf {
        self.folder.join(format!(".{}{}.{ending}", self.stem, self.ending))
    }

    /// A journal is a plain file in a folder that is there, and is packed when it is full.
    pub(super) fn ensure_possible(&self) -> Result<(), JournalError> {
        let path = self.current.display().to_string();
        if with_gz(&self.current) == self.current {
            return Err(
                self.foreign("a journal is written plain, and packed file by file: its name does not end in .gz")
            );
        }
        if !self.folder.is_dir() {
            return Err(JournalError::NoFolder { path, folder: self.folder.display().to_string() });
        }
        match fs::metadata(&self.current) {
            Ok(found) if !found.is_file() => Err(self.foreign("it is no regular file")),
            _ => Ok(()),
        }
    }

    /// Lines that another version of the tool wrote are not to be written over.
    pub(super) fn ensure_own(&self, scanned: &Scanned) -> Result<(), JournalError> {
        match &scanned.foreign {
            Some(version) => {
                Err(self.foreign(format!("it holds lines of {version}, which are another version's of this tool")))
            }
            None => Ok(()),
        }
    }

    /// Takes the lock, which its file's closing gives back, however the process ends.
    pub(super) fn lock(&self) -> Result<File, JournalError> {
        let path = self.hidden("lock");
        let file = append_to(&path).map_err(|error| cannot("write", &path, error))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(JournalError::Busy { path: self.current.display().to_string() }),
            Err(TryLockError::Error(error)) => Err(cannot("lock", &path, error)),
        }
    }

    /// The key of the marks: that of before, or a new one.
    pub(super) fn key(&self) -> Result<[u8; KEY_BYTES], JournalError> {
        let path = self.hidden("key");
        let mut key = [0; KEY_BYTES];
        match File::open(&path).and_then(|mut file| file.read_exact(&mut key)) {
            Ok(()) => return Ok(key),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof) => {}
            Err(error) => return Err(cannot("read", &path, error)),
        }
        let key = Marker::random_key().map_err(|error| cannot("make", &path, error))?;
        let written = private(&path).and_then(|mut file| {
            file.write_all(&key)?;
            file.sync_all()
        });
        written.map_err(|error| cannot("write", &path, error))?;
        Ok(key)
    }

    /// Removes what was left of a rotation that did not come to its end.
    pub(super) fn tidy(&self) -> Result<(), JournalError> {
        let half = self.hidden("tmp");
        if let Err(error) = fs::remove_file(&half)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(cannot("remove", &half, error));
        }
        for (_, path) in self.rotated()? {
            let packed = with_gz(&path);
            if packed != path && packed.exists() {
                fs::remove_file(&path).map_err(|error| cannot("remove", &path, error))?;
            }
        }
        Ok(())
    }

    /// The files before the current one, oldest first.
    pub(super) fn rotated(&self) -> Result<Vec<(u64, PathBuf)>, JournalError> {
        let entries = fs::read_dir(&self.folder).map_err(|error| cannot("read", &self.folder, error))?;
        let mut rotated = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| cannot("read", &self.folder, error))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            rotated.extend(self.number_of(&name).map(|number| (number, path)));
        }
        rotated.sort();
        Ok(rotated)
    }

    fn number_of(&self, name: &str) -> Option<u64> {
        let rest = name.strip_prefix(&*self.stem)?.strip_prefix('.')?;
        let rest = rest.strip_suffix(".gz").unwrap_or(rest);
        let digits = rest.strip_suffix(&*self.ending)?;
        (digits.len() == 6 && digits.bytes().all(|c| c.is_ascii_digit())).then(|| digits.parse().ok())?
    }

    /// Renames the current file, and packs it.
    pub(super) fn set_aside(&self, number: u64) -> Result<(), JournalError> {
        let aside = self.folder.join(format!("{}.{number:06}{}", self.stem, self.ending));
        fs::rename(&self.current, &aside).map_err(|error| cannot("rename", &self.current, error))?;
        self.sync_folder()?;
        let (half, packed) = (self.hidden("tmp"), with_gz(&aside));
        let pack = || -> io::Result<()> {
            let mut to = GzEncoder::new(private(&half)?, Compression::default());
            io::copy(&mut File::open(&aside)?, &mut to)?;
            to.finish()?.sync_all()?;
            fs::rename(&half, &packed)
        };
        pack().map_err(|error| cannot("write", &packed, error))?;
        self.sync_folder()?;
        fs::remove_file(&aside).map_err(|error| cannot("remove", &aside, error))
    }

    /// Has the folder itself on the disk: which files are in it.
    pub(super) fn sync_folder(&self) -> Result<(), JournalError> {
        sync_folder(&self.folder).map_err(|error| cannot("write", &self.folder, error))
    }

    /// A journal is of one cluster and one namespace, or of all.
    pub(super) fn ensure_same(&self, found: &Header, wanted: &Header) -> Result<(), JournalError> {
        let namespace = |header: &Header| {
            header.namespace.as_deref().map_or_else(|| "all namespaces".to_owned(), |name| format!("namespace {name}"))
        };
        let why = if found.form != wanted.form {
            format!("it is a {}", found.form)
        } else if found.cluster != wanted.cluster {
            format!("it is of cluster {}, and this is {}", found.cluster, wanted.cluster)
        } else if found.namespace != wanted.namespace {
            format!("it is of {}, and this is of {}", namespace(found), namespace(wanted))
        } else if found.redacted != wanted.redacted {
            let which = |header: &Header| if header.redacted { "with" } else { "without" };
            format!("it was written {} --redact, and this is {} it", which(found), which(wanted))
        } else {
            return Ok(());
        };
        Err(self.foreign(why))
    }

    pub(super) fn foreign(&self, why: impl Into<String>) -> JournalError {
        JournalError::Foreign { path: self.current.display().to_string(), why: why.into() }
    }
}

/// Where a path leads in the end: two ways to one journal must meet the same lock.
pub(super) fn resolved(path: &Path) -> PathBuf {
    let path = match fs::read_link(path) {
        // It may lead to where nothing is yet.
        Ok(target) => path.parent().unwrap_or(Path::new("")).join(target),
        Err(_) => path.to_owned(),
    };
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match (fs::canonicalize(&path), folder.map(fs::canonicalize)) {
        (Ok(whole), _) => whole,
        (_, Some(Ok(folder))) => folder.join(path.file_name().unwrap_or_default()),
        _ => path,
    }
}

fn with_gz(path: &Path) -> PathBuf {
    if path.extension().is_some_and(|extension| extension == "gz") {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".gz");
    name.into()
}
