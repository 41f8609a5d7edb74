//! Reads the files of a journal that is opened to be gone on with.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde_json::Value;

use super::index::{Entry, Index, Key, digest_of};
use crate::model::Time;
use crate::source::{Header, RECORDING, Resource};

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
}

/// Reads a file, and notes in the index what is there at its end.
pub(super) fn scan(path: &Path, number: u64, index: &mut Index) -> io::Result<Scanned> {
    let mut scanned = Scanned::default();
    let mut reader = open(path)?;
    let mut line = Vec::new();
    let mut at = 0;
    while reader.read_until(b'\n', &mut line)? > 0 {
        at += line.len() as u64;
        let is_whole = line.last() == Some(&b'\n');
        let parsed =
            serde_json::from_slice::<Value>(&line).ok().filter(|value| is_whole && value["apiVersion"] == RECORDING);
        match parsed {
            Some(value) => {
                scanned.whole = at;
                let file = scanned.header.as_ref().map_or(number, |header| header.file);
                take(value, file, index, &mut scanned);
            }
            // The header itself may be torn.
            None => scanned.has_other |= is_whole || !is_of_header(&line),
        }
        line.clear();
    }
    Ok(scanned)
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
        Some("RecordingStatus") => scanned.last = scanned.last.max(time("asOf")),
        Some("Change") => {
            scanned.last = scanned.last.max(time("at"));
            let Some((resource, key)) = named(&value["object"]) else { return };
            let is_there = !matches!(value["type"].as_str(), Some("deleted" | "missed"));
            let digest = digest_of(resource, &value["object"]).filter(|_| is_there);
            index.put(key, digest.map(|digest| Entry::new(resource, digest, file).unseen()));
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

/// Hands out the whole lines of a file, without their ends.
pub(super) fn each_line(path: &Path, mut with: impl FnMut(&[u8])) -> io::Result<()> {
    let mut reader = open(path)?;
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
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
