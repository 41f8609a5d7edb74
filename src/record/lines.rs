//! The lines of a recording.

use serde::Serialize;
use serde_json::{Map, json};

use super::keep::Kept;
use crate::model::Time;
use crate::source::{Header, RECORDING, Status};

/// What a change was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChangeType {
    /// Seen for the first time.
    Added,
    Modified,
    Deleted,
    /// Gone, and how it ended was not seen: only its names are told.
    Missed,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a, T> {
    kind: &'a str,
    api_version: &'a str,
    #[serde(flatten)]
    rest: T,
}

#[derive(Serialize)]
struct Change<'a, T> {
    kind: &'a str,
    #[serde(rename = "apiVersion")]
    api_version: &'a str,
    at: Time,
    #[serde(rename = "type")]
    what: ChangeType,
    object: &'a T,
}

fn line(value: &impl Serialize) -> Vec<u8> {
    // Nothing that is written here can fail to be.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}

/// The first line of a file.
pub fn header(header: &Header) -> Vec<u8> {
    line(&Line { kind: "Recording", api_version: RECORDING, rest: header })
}

/// What was read, and as of when.
pub(super) fn status(status: &Status) -> Vec<u8> {
    line(&Line { kind: "RecordingStatus", api_version: RECORDING, rest: status })
}

/// An object of a snapshot.
pub(super) fn object(kept: &Kept) -> Vec<u8> {
    line(kept)
}

/// The end of a container's log.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Log<'a> {
    pub(super) namespace: &'a str,
    pub(super) pod: &'a str,
    pub(super) uid: &'a str,
    pub(super) container: &'a str,
    /// Of the run before the last restart.
    pub(super) previous: bool,
    /// How often the container had been restarted when it was asked for.
    pub(super) restart_count: u64,
    /// Whether there was more before it.
    pub(super) cut: bool,
    pub(super) text: &'a str,
}

pub(super) fn log(log: &Log) -> Vec<u8> {
    line(&Line { kind: "Log", api_version: RECORDING, rest: log })
}

/// Appends a change.
pub(super) fn change(to: &mut Vec<u8>, at: Time, what: ChangeType, object: &Kept) {
    to.extend(line(&Change { kind: "Change", api_version: RECORDING, at, what, object }));
}

/// Appends that an object is gone of which no more than this was seen.
pub(super) fn change_of_names(to: &mut Vec<u8>, at: Time, kind: &str, names: &Names) {
    let mut metadata = json!({"name": names.name, "uid": names.uid});
    if !names.namespace.is_empty() {
        metadata["namespace"] = names.namespace.into();
    }
    let fields = Map::from_iter([("metadata".to_owned(), metadata)]);
    let kept = Kept { kind: kind.to_owned(), api_version: names.api_version.to_owned(), fields };
    change(to, at, ChangeType::Missed, &kept);
}

/// By what an object is named that is gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    pub(super) api_version: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) uid: &'a str,
}
