//! Reads the files of a journal that is opened to be gone on with.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde_json::Value;

use super::index::{Entry, Index, Key, digest_of};
use crate::model::Time;
use crate::record::logs::key_of;
use crate::source::{Header, RECORDING, Resource, Status};

/// What one file holds.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) header: Option<Header>,
    /// Bytes to behind the last whole line.
    pub(super) whole: u64,
    /// Whether there is anything that is no line of a journal.
    pub(super) has_other: bool,
    /// The newest time that a line tells.
    pub(super) last: Option<Time>,
    /// Bytes to behind what was carried over from files that were removed.
    pub(super) opening: u64,
    /// The newest status that tells what became of each resource.
    pub(super) status: Option<Status>,
    /// The version of lines that another version of the tool wrote.
    pub(super) foreign: Option<String>,
    /// Why the rest of it cannot be read.
    pub(super) damage: Option<String>,
    /// The logs that it holds.
    pub(super) logs: HashSet<u64>,
}

/// Reads a file, and notes in the index what is there at its end.
pub(super) fn scan(path: &Path, number: u64, index: &mut Index) -> io::Result<Scanned> {
    let mut scanned = Scanned::default();
    let mut reader = open(path)?;
    let mut line = Vec::new();
    let mut at = 0;
    loop {
        match reader.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            // What is in it is in it, and all else is read from the cluster.
            Err(error) if is_damage(&error) => {
                scanned.damage = Some(error.to_string());
                break;
            }
            Err(error) => return Err(error),
        }
        at += line.len() as u64;
        let is_whole = line.last() == Some(&b'\n');
        match serde_json::from_slice::<Value>(&line).ok().filter(|_| is_whole) {
            Some(value) if value["apiVersion"] == RECORDING => {
                scanned.whole = at;
                let file = scanned.header.as_ref().map_or(number, |header| header.file);
                take(value, file, index, &mut scanned);
            }
            // Evidence, though it cannot be read here: it is not to be cut off.
            Some(value) if is_of_tool(&value) => {
                scanned.foreign = value["apiVersion"].as_str().map(ToOwned::to_owned);
            }
            _ if !is_whole && is_of_header(&line) => {}
            // The header itself may be torn.
            _ => scanned.has_other = true,
        }
        line.clear();
    }
    Ok(scanned)
}

/// Whether an error tells that what is in the file is damaged, and not that it cannot be reached.
pub(super) fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

fn is_of_tool(value: &Value) -> bool {
    value["apiVersion"].as_str().is_some_and(|version| version.starts_with("kubectl-sigapps/"))
}

/// Whether a line may be the beginning of a header.
fn is_of_header(line: &[u8]) -> bool {
    const BEGINS: &[u8] = br#"{"kind":"Recording","apiVersion":"kubectl-sigapps/"#;
    let length = line.len().min(BEGINS.len());
    line[..length] == BEGINS[..length]
}

fn take(value: Value, file: u64, index: &mut Index, scanned: &mut Scanned) {
    let time = |name: &str| value[name].as_str().and_then(Time::parse);
    match value["kind"].as_str() {
        Some("Recording") => scanned.header = serde_json::from_value(value).ok(),
        Some("RecordingStatus") => {
            scanned.last = scanned.last.max(time("asOf"));
            let Ok(status) = serde_json::from_value::<Status>(value) else { return };
            if status.carried_over {
                scanned.opening = scanned.whole;
            }
            if !status.sources.is_empty() {
                scanned.status = Some(status);
            }
        }
        Some("Log") => {
            let text = |name: &str| value[name].as_str().unwrap_or_default();
            if let Some(restarts) = value["restartCount"].as_u64() {
                let previous = value["previous"].as_bool().unwrap_or_default();
                scanned.logs.insert(key_of(text("uid"), text("container"), previous, restarts));
            }
        }
        Some("Change") => {
            scanned.last = scanned.last.max(time("at"));
            let Some((resource, key)) = named(&value["object"]) else { return };
            let is_there = !matches!(value["type"].as_str(), Some("deleted" | "missed"));
            let digest = digest_of(resource, &value["object"]).filter(|_| is_there);
            index.put(key, digest.map(|digest| Entry::new(resource, digest, file).unseen()));
            if let Some(fields) = value["object"].as_object().filter(|_| is_there) {
                let api_version = value["object"]["apiVersion"].as_str().unwrap_or_default();
                index.name(key, resource, api_version, fields);
            }
        }
        _ => {}
    }
}

fn named(object: &Value) -> Option<(Resource, Key)> {
    let kind = object["kind"].as_str()?;
    let resource = Resource::ALL.into_iter().find(|resource| resource.kind() == kind)?;
    Some((resource, Key::of(resource, object.as_object()?)))
}

/// The object of a line that tells how one is, and its key.
pub(super) fn object_of(line: &[u8]) -> Option<(Key, Value)> {
    let mut value: Value = serde_json::from_slice(line).ok()?;
    let is_change = value["kind"] == "Change" && !matches!(value["type"].as_str(), Some("deleted" | "missed"));
    let object = value["object"].take();
    let (_, key) = named(&object).filter(|_| is_change)?;
    Some((key, object))
}

/// Hands out the whole lines of a file, without their ends; of one that is damaged, those before that.
pub(super) fn each_line(path: &Path, mut with: impl FnMut(&[u8])) -> io::Result<()> {
    let mut reader = open(path)?;
    let mut line = Vec::new();
    loop {
        match reader.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if is_damage(&error) => break,
            Err(error) => return Err(error),
        }
        if let Some(whole) = line.strip_suffix(b"\n") {
            with(whole);
        }
        line.clear();
    }
    Ok(())
}

fn open(path: &Path) -> io::Result<BufReader<Box<dyn Read>>> {
    let file = File::open(path)?;
    let is_packed = path.extension().is_some_and(|extension| extension == "gz");
    let reader: Box<dyn Read> = if is_packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    Ok(BufReader::with_capacity(256 << 10, reader))
}
