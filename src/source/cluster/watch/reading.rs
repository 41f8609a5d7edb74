//! The lines of one watch request.

use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body_util::BodyExt as _;
use kube::client::Body;
use tokio::time::Instant;

use super::hub::jittered;
use super::line::Line;
use super::stream::{End, Stream};
use super::{ChangeKind, Told};
use crate::source::cluster::api::{JSON, Patience};
use crate::source::cluster::fault::{Fault, Status};

/// The longest line that is held. Objects are at most a few MiB: etcd takes no larger ones.
const LONGEST_LINE: usize = 32 << 20;

impl Stream {
    /// Watches from the last version on, until that ends.
    pub(super) async fn watch(&mut self) -> Result<(), End> {
        let access = self.hub.access();
        let pace = self.hub.pace.get();
        let (open, longest) = match self.hub.patience {
            Patience::Whole(whole) => (whole.max(Duration::from_secs(1)), Some(whole)),
            Patience::Silence(_) => (jittered(pace.open), None),
            Patience::Endless => (jittered(pace.open), Some(Duration::MAX)),
        };
        let seconds = open.as_secs().max(1).to_string();
        let query = [
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("resourceVersion", self.version.as_str()),
            ("timeoutSeconds", seconds.as_str()),
        ];
        let path = self.asking(&query);
        let began = Instant::now();
        let response = {
            let mut nothing = |_: &str| {};
            self.hub.api(&access, &mut nothing).try_get(&path, JSON).await
        };
        let response = match response {
            Ok(response) => response,
            Err(Fault::Status(Status { code: 410, .. })) => return Err(End::Expired),
            Err(fault) => return Err(End::Fault(fault)),
        };
        self.accepted = Some(Instant::now());
        self.heard = Instant::now();
        self.has_watched = true;
        self.hub.proven(access.generation);
        // Where the last one brought an error only, a good line tells that this one does not.
        if !self.brings_errors {
            self.hub.answered(self.number);
        }
        // With `--request-timeout`, it is the whole answer that has that long, and ends in order then.
        let ends = longest.map_or(began.checked_add(open + pace.grace), |longest| began.checked_add(longest));
        self.follow(response, ends).await
    }

    /// Reads the lines of a watch. What of the last one is missing where it was cut comes once more: the next watch begins
    /// behind the last line that was whole.
    async fn follow(&mut self, response: Response<Body>, ends: Option<Instant>) -> Result<(), End> {
        let longest_silence = self.hub.pace.get().silence;
        let is_whole = matches!(self.hub.patience, Patience::Whole(_));
        let mut body = response.into_body();
        let mut line: Vec<u8> = Vec::new();
        let mut has_bookmarks = false;
        loop {
            let silence = (has_bookmarks && !is_whole).then(|| Instant::now().checked_add(longest_silence)).flatten();
            let deadline = ends.into_iter().chain(silence).min();
            let frame = match deadline {
                Some(deadline) => match tokio::time::timeout_at(deadline, body.frame()).await {
                    Ok(frame) => frame,
                    Err(_) if is_whole => return Err(End::Orderly),
                    Err(_) => return Err(End::Fault(Fault::Timeout(longest_silence))),
                },
                None => body.frame().await,
            };
            let chunk = match frame {
                None => {
                    // Some servers end the last line with the answer; half of one is told anew by the next watch.
                    if serde_json::from_slice::<serde::de::IgnoredAny>(&line).is_ok() {
                        self.take(&line).await?;
                    }
                    return Err(End::Orderly);
                }
                Some(Err(error)) => return Err(End::Fault(Fault::of(&error))),
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            };
            self.heard = Instant::now();
            let mut rest = &chunk[..];
            while let Some(end) = memchr::memchr(b'\n', rest) {
                line.extend_from_slice(&rest[..end]);
                rest = &rest[end + 1..];
                if !line.trim_ascii().is_empty() {
                    has_bookmarks |= self.take(&line).await?;
                }
                line.clear();
                // One large object must not keep its room for ever.
                line.shrink_to(1 << 20);
            }
            line.extend_from_slice(rest);
            if line.len() > LONGEST_LINE {
                return Err(End::Fault(Fault::Answer(format!("a line of more than {LONGEST_LINE} bytes"))));
            }
        }
    }

    /// Tells what a line says; whether it was a bookmark.
    async fn take(&mut self, line: &[u8]) -> Result<bool, End> {
        let line = Line::read(line);
        if !matches!(line, Line::Expired | Line::Error(_)) && std::mem::take(&mut self.brings_errors) {
            self.hub.answered(self.number);
        }
        let (kind, object, meta) = match line {
            Line::Set(object, meta) => (ChangeKind::Set, object, meta),
            Line::Deleted(object, meta) => (ChangeKind::Deleted, object, meta),
            Line::Bookmark(version) => {
                self.advance(&version);
                self.tell(Told::Version { interest: self.number, version }).await?;
                return Ok(true);
            }
            Line::Expired => return Err(End::Expired),
            Line::Error(fault) => return Err(End::Fault(fault)),
        };
        let is_new = match kind {
            ChangeKind::Deleted => {
                self.known.forget(&meta);
                true
            }
            _ => self.known.note(&meta),
        };
        let version = meta.resource_version.into_owned();
        if is_new {
            let object = Bytes::copy_from_slice(object.get().as_bytes());
            self.tell_change(kind, version.clone(), object).await?;
        }
        self.advance(&version);
        Ok(false)
    }

    fn advance(&mut self, version: &str) {
        if !version.is_empty() {
            version.clone_into(&mut self.version);
        }
    }
}
