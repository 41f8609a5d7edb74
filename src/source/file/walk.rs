//! From the paths a person named to the files to read.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::FileError;

/// Standard input, as it is named on the command line.
pub(super) const STDIN: &str = "-";

/// A file to read.
#[derive(Debug)]
pub(super) struct Input {
    /// The path as a person would write it, or `-`.
    pub(super) path: String,
    /// Whether it was found in a folder rather than named: what it holds that is not for us is passed over in silence.
    pub(super) found: bool,
}

/// Endings of names that may hold objects; folders and archives hold much else (logs, manifests of the tool itself).
const ENDINGS: [&str; 9] = [".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".kyaml", ".tar", ".tgz", ".tar.gz"];

/// Whether a file of this name, met in a folder or an archive, is read.
pub(super) fn is_data(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let name = name.to_ascii_lowercase();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    !name.starts_with('.') && ENDINGS.iter().any(|ending| name.ends_with(ending) || plain.ends_with(ending))
}

/// The files to read for the paths a person named, in order; folders are searched in the order of their names.
pub(super) fn inputs(paths: &[String]) -> Result<Vec<Input>, FileError> {
    let mut inputs: Vec<Input> = Vec::new();
    for path in paths {
        // Standard input can be read once only.
        if path == STDIN && inputs.iter().any(|input| input.path == STDIN) {
            continue;
        }
        let is_folder =
            path != STDIN && fs::metadata(path).map_err(|error| FileError::cannot_open(path, error))?.is_dir();
        if !is_folder {
            inputs.push(Input { path: path.clone(), found: false });
            continue;
        }
        let before = inputs.len();
        let mut visited = HashSet::new();
        search(Path::new(path), &mut visited, &mut inputs).map_err(|error| FileError::cannot_open(path, error))?;
        if inputs.len() == before && paths.len() == 1 {
            return Err(FileError::NoData { path: path.clone() });
        }
    }
    Ok(inputs)
}

/// All data files below `folder`. A folder reached twice, by a link to its parent, say, is searched once.
fn search(folder: &Path, visited: &mut HashSet<PathBuf>, inputs: &mut Vec<Input>) -> io::Result<()> {
    if !visited.insert(fs::canonicalize(folder)?) {
        return Ok(());
    }
    let mut entries =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    entries.sort();
    for path in entries {
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        // A link to nowhere is not data.
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if hidden {
            continue;
        }
        if metadata.is_dir() {
            // A folder below that may not be entered must not hide its neighbours; it is told as an input that failed.
            if search(&path, visited, inputs).is_err() {
                inputs.push(Input { path: path.to_string_lossy().into_owned(), found: true });
            }
        } else if metadata.is_file() && is_data(&path) {
            inputs.push(Input { path: path.to_string_lossy().into_owned(), found: true });
        }
    }
    Ok(())
}
