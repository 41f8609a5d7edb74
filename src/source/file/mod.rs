//! Dumps in files: kubectl's JSON and YAML in all its forms, packed or not, alone, in folders and in archives.
//!
//! There is one path for all: bytes → their [`format`], told from the content → the splitter, through YAML's pieces
//! where it is YAML → [`Intake`]. Nothing holds more than one object, however large the dump.

mod account;
mod ahead;
mod format;
mod gunzip;
mod stream;
mod utf16;
mod walk;
mod yaml;

use std::io;

use account::{Account, Refusal};
use format::Packer;

use super::{Filter, Intake, Resource, Snapshot, Source, SourceState};
use crate::shell::quote;

/// Why nothing at all can be reported. Its text is what the user sees behind "error: ".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A path that was named does not exist.
    #[error("{path}: no such file or folder; -f takes files, folders and - for standard input")]
    Missing {
        /// The path.
        path: String,
    },
    /// A path that was named cannot be opened or read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The path.
        path: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The only input holds nothing.
    #[error("{name} is empty; {DUMP}")]
    Empty {
        /// The input.
        name: String,
    },
    /// The only input is neither JSON nor YAML nor an archive.
    #[error("{name} is neither JSON nor YAML nor an archive of them (it begins with {begins:?}); {DUMP}")]
    NotData {
        /// The input.
        name: String,
        /// Its first characters.
        begins: String,
    },
    /// The only input is packed in a way that is not read.
    #[error("{name} is packed with {packer}, which is not read here; unpack it first: {command}")]
    Packed {
        /// The input.
        name: String,
        /// How it is packed.
        packer: &'static str,
        /// The command that unpacks it.
        command: String,
    },
    /// The only input is a folder without data files.
    #[error(
        "{path} holds no file whose name ends in .json, .jsonl, .yaml, .yml, .kyaml, .tar or .tgz (or these with .gz)"
    )]
    NoData {
        /// The folder.
        path: String,
    },
    /// Recordings of several clusters: names in one are other things than in the other.
    #[error(
        "the recordings are of several clusters ({}), whose objects are not to be taken for each other's: give -f those of one, and read the others by themselves",
        clusters.join(", ")
    )]
    SeveralClusters {
        /// The clusters.
        clusters: Vec<String>,
    },
    /// There is no object in any input.
    #[error("no Kubernetes object found in {inputs}{}; {DUMP}", why.as_ref().map(|why| format!(": {why}")).unwrap_or_default())]
    NoObjects {
        /// The inputs, by name or by number.
        inputs: String,
        /// What else is known.
        why: Option<String>,
    },
}

/// What to do where there is nothing to read.
const DUMP: &str = "make a dump with: kubectl get jobs,pods,events -A -o json > dump.json";

impl FileError {
    fn cannot_open(path: &str, source: io::Error) -> Self {
        let path = path.to_owned();
        if source.kind() == io::ErrorKind::NotFound {
            Self::Missing { path }
        } else {
            Self::Unreadable { path, source }
        }
    }

    fn refused(account: &Account, refusal: &Refusal) -> Self {
        let name = account.name();
        match refusal {
            Refusal::Empty => Self::Empty { name },
            Refusal::NotData { begins } => Self::NotData { name, begins: begins.clone() },
            Refusal::Packed(packer) => {
                Self::Packed { name, packer: packer.name, command: unpacking(packer, &account.path) }
            }
        }
    }
}

/// The command that unpacks `path`.
fn unpacking(packer: &Packer, path: &str) -> String {
    if path == walk::STDIN {
        return format!("… | {} | kubectl sigapps failures -f -", packer.filter);
    }
    format!("{} {}", packer.command, quote(path))
}

/// Reads all objects that `filter` wants from `paths`: files, folders, and `-` for standard input.
///
/// `talk` gets one line, for stderr, for each input that could not be read whole.
///
/// # Errors
/// Only where nothing at all can be reported; whatever else is wrong is told in [`Snapshot::sources`].
pub fn read(paths: &[String], filter: Filter, talk: &mut dyn FnMut(&str)) -> Result<Snapshot, FileError> {
    let mut intake = Intake::new(filter);
    let mut accounts: Vec<Account> = Vec::new();
    for input in walk::inputs(paths)? {
        accounts.push(stream::read_input(input, &mut intake)?);
    }
    if intake.recognised() == 0 && intake.lists() == 0 {
        return Err(nothing_found(paths, &accounts));
    }
    let clusters = intake.recorded().clusters();
    if clusters.len() > 1 {
        return Err(FileError::SeveralClusters { clusters: clusters.iter().cloned().collect() });
    }
    let gaps = intake.recorded().gaps();
    if let Some(first) = accounts.first_mut() {
        for cut in intake.recorded().cuts() {
            first.cut(cut.to_owned(), None);
        }
        for gap in &gaps {
            first.note(gap.text.clone(), None);
        }
    }
    for account in &accounts {
        if let Some(line) = account.warning() {
            talk(&line);
        }
    }
    let cluster = intake.recorded().cluster();
    let sources: Vec<Source> = resources(&intake).chain(accounts.into_iter().map(Account::into_source)).collect();
    // What was denied when it was recorded is told as then.
    let recorded: Vec<Source> = sources.iter().filter(|source| source.file.is_none()).cloned().collect();
    for line in super::cluster::said(&recorded) {
        talk(&line);
    }
    Ok(Snapshot { cluster, gaps, sources, ..intake.finish() })
}

fn nothing_found(paths: &[String], accounts: &[Account]) -> FileError {
    match accounts {
        [account] => match &account.refusal {
            Some(refusal) => FileError::refused(account, refusal),
            None => FileError::NoObjects { inputs: account.name(), why: account.message() },
        },
        _ => FileError::NoObjects {
            inputs: match paths {
                [folder] => format!("the {} files in {folder}", accounts.len()),
                _ => format!("any of the {} inputs", accounts.len()),
            },
            why: accounts.iter().find_map(Account::warning),
        },
    }
}

/// One source for each resource, though files are not asked for them one by one: what is not in the input is told.
fn resources(intake: &Intake) -> impl Iterator<Item = Source> {
    Resource::ALL.into_iter().map(|resource| {
        let objects = intake.tally(resource).objects;
        let found = objects > 0;
        if let Some(recorded) = intake.recorded().source(resource.name()) {
            // What was not read when it was recorded, is told as then.
            return Source {
                cluster: intake.recorded().cluster(),
                resource: resource.name().to_owned(),
                file: None,
                state: recorded.state,
                objects,
                skipped: recorded.skipped,
                message: recorded.message.clone(),
            };
        }
        Source {
            cluster: None,
            resource: resource.name().to_owned(),
            file: None,
            state: if found { SourceState::Read } else { SourceState::NotAsked },
            objects,
            skipped: 0,
            message: (!found).then(|| "none in the input".to_owned()),
        }
    })
}
