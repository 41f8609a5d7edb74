use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// A new file that nobody else may read: names, images and messages of a whole cluster are in it.
pub fn private(path: &Path) -> io::Result<File> {
    options().truncate(true).open(path)
}

/// The same, with what is in it left as it is.
pub(super) fn append_to(path: &Path) -> io::Result<File> {
    options().truncate(false).open(path)
}

/// Has a folder itself on the disk: which files are in it.
///
/// # Errors
/// Where it cannot be read.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened, and need not be.
    if cfg!(unix) { File::open(folder).and_then(|folder| folder.sync_all()) } else { Ok(()) }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}
