//! One line of a watch's answer.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::source::cluster::fault::{Fault, Status, first_line};

/// What a line says.
#[derive(Debug)]
pub(super) enum Line<'a> {
    /// An object was made or changed.
    Set(&'a RawValue, Meta<'a>),
    /// An object was deleted.
    Deleted(&'a RawValue, Meta<'a>),
    /// All up to this version was told.
    Bookmark(String),
    /// The version to go on from is not kept any more.
    Expired,
    /// Something else went wrong on the server.
    Error(Fault),
}

/// What of an object names it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Meta<'a> {
    #[serde(borrow)]
    pub(super) uid: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) namespace: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) resource_version: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
}

/// An object's names and version.
pub(super) fn meta(object: &[u8]) -> Option<Meta<'_>> {
    Some(serde_json::from_slice::<Object>(object).ok()?.metadata)
}

impl<'a> Line<'a> {
    /// Reads a whole line.
    /// Source: apimachinery `pkg/watch/watch.go` and `apis/meta/v1/watch.go`.
    pub(super) fn read(line: &'a [u8]) -> Self {
        let strange = || Self::Error(Fault::Answer(first_line(line)));
        let Ok(Event { kind, object }) = serde_json::from_slice::<Event>(line) else { return strange() };
        if kind == "ERROR" {
            return Self::error(object);
        }
        let Some(meta) = meta(object.get().as_bytes()) else { return strange() };
        match &*kind {
            "ADDED" | "MODIFIED" => Self::Set(object, meta),
            "DELETED" => Self::Deleted(object, meta),
            "BOOKMARK" => Self::Bookmark(meta.resource_version.into_owned()),
            _ => strange(),
        }
    }

    /// The object of an error is a `Status`; of some servers it lacks the code, and the reason tells.
    fn error(object: &RawValue) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Code {
            code: u16,
            reason: String,
        }
        let Code { code, reason } = serde_json::from_str(object.get()).unwrap_or_default();
        if code == 410 || matches!(&*reason, "Expired" | "Gone") {
            return Self::Expired;
        }
        let code = if code == 0 { 500 } else { code };
        Self::Error(Fault::Status(Status::read(code, None, object.get().as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_happened() {
        let object = r#"{"kind":"Pod","metadata":{"uid":"u","name":"a","namespace":"ml","resourceVersion":"7"}}"#;
        for (kind, expected) in
            [("ADDED", "Set"), ("MODIFIED", "Set"), ("DELETED", "Deleted"), ("BOOKMARK", "Bookmark")]
        {
            let line = format!(r#"{{"type":"{kind}","object":{object}}}"#);
            let read = format!("{:?}", Line::read(line.as_bytes()));
            assert!(read.starts_with(expected) && read.contains("\"7\""), "{read}");
        }
    }

    #[test]
    fn what_is_gone_is_known_by_code_or_reason_and_other_errors_are_told() {
        for (object, expected) in [
            (r#"{"kind":"Status","code":410}"#, "Expired"),
            (r#"{"kind":"Status","reason":"Expired"}"#, "Expired"),
            (r#"{"kind":"Status","reason":"Gone"}"#, "Expired"),
            (r#"{"kind":"Status","code":500,"message":"etcd"}"#, "Error(Status(Status { code: 500"),
            ("{}", "Error(Status(Status { code: 500"),
        ] {
            let line = format!(r#"{{"type":"ERROR","object":{object}}}"#);
            let read = format!("{:?}", Line::read(line.as_bytes()));
            assert!(read.starts_with(expected), "{object}: {read}");
        }
    }

    #[test]
    fn what_is_no_event_is_an_error() {
        for line in ["", "{", "[]", r#"{"type":"ADDED"}"#, r#"{"type":"NEW","object":{"metadata":{}}}"#, "<html>"] {
            assert!(matches!(Line::read(line.as_bytes()), Line::Error(_)), "{line}");
        }
    }
}
