use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use serde::Deserialize;
use tokio::sync::{mpsc, oneshot};

use super::body::BodyReader;
use super::path;
use crate::model::ObjectView;
use crate::source::{Ending, Intake, ListHead, ObjectSink, Position, Splitter};

/// What a list's `metadata` says of the rest of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Head {
    /// A token to ask for the next page with; empty at the end.
    pub(super) r#continue: String,
    /// The version that the list is of, from which it can be watched.
    pub(super) resource_version: String,
}

/// Objects that could not be read: the first few by name, and how many in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Skips {
    pub(super) named: Vec<String>,
    pub(super) count: u64,
}

/// Skipped objects that are named.
const NAMED: usize = 3;

impl Skips {
    pub(super) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.named.extend(other.named);
        self.named.truncate(NAMED);
    }
}

/// A page that was read, whole or not.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// Whether it is a list's end that was read, and not an answer cut off.
    pub(super) whole: bool,
    /// The beginning of what came instead of a list.
    pub(super) instead: Option<Vec<u8>>,
    /// What could not be read of it.
    pub(super) skips: Skips,
    /// Objects in it.
    pub(super) objects: u64,
    /// The Jobs in it, where they were asked for.
    pub(super) jobs: Vec<String>,
}

/// Which objects of a list are wanted.
#[derive(Clone, Debug, Default)]
pub(super) enum Wanted {
    /// All of them.
    #[default]
    All,
    /// All of them, with their names noted.
    Named,
    /// Only what these `CronJob`s own, with the names noted.
    OwnedBy(Arc<Vec<String>>),
}

/// Name and owners of an object.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Owned {
    metadata: OwnedMetadata,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct OwnedMetadata {
    name: String,
    owner_references: Vec<OwnerReference>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct OwnerReference {
    api_version: String,
    kind: String,
    name: String,
    controller: bool,
}

impl Owned {
    fn is_of(&self, cron_jobs: &[String]) -> bool {
        self.metadata.owner_references.iter().any(|owner| {
            let is_cron_job = owner.kind == "CronJob" && owner.api_version.starts_with("batch/");
            owner.controller && is_cron_job && cron_jobs.contains(&owner.name)
        })
    }
}

/// Reads one page into the intake, on a thread of its own; `head` is told as soon as the page's metadata is known, which
/// is before its items: the API server writes it there.
pub(super) fn read(
    reader: BodyReader,
    intake: &Mutex<Intake>,
    list: &super::list::List,
    head: oneshot::Sender<Head>,
) -> Page {
    let mut sink = PageSink {
        intake,
        asked: list,
        wanted: &list.wanted,
        raw: list.raw.as_ref(),
        head: Some(head),
        listed: false,
        answered: false,
        page: Page::default(),
    };
    let ending = Splitter::new(reader).run(&mut sink);
    if !sink.listed && !sink.answered {
        // JSON, but no list: an answer of something else than an API server.
        sink.page.instead.get_or_insert_with(|| b"no list".to_vec());
    }
    let mut page = sink.page;
    page.whole = matches!(ending, Ok(Ending::Whole));
    page
}

/// Hands objects to the intake one by one, so that pages of several resources are read side by side.
struct PageSink<'a> {
    intake: &'a Mutex<Intake>,
    /// What was asked for.
    asked: &'a super::list::List,
    wanted: &'a Wanted,
    /// Where the objects go as they are, instead of into the intake.
    raw: Option<&'a mpsc::Sender<Bytes>>,
    head: Option<oneshot::Sender<Head>>,
    listed: bool,
    /// There was a list, if one without items.
    answered: bool,
    page: Page,
}

impl PageSink<'_> {
    fn tell_head(&mut self, list: &ListHead) {
        let Some(metadata) = &list.metadata else { return };
        if let Some(head) = self.head.take() {
            // Nobody waits for it any more where the request was given up.
            let _ = head.send(serde_json::from_slice(metadata).unwrap_or_default());
        }
    }

    /// What a list says of itself; where it has not said it yet, what was asked for. The API server writes the kind before
    /// the items, but what stands between may sort a list's members by their names.
    fn named<'l>(&self, list: &'l ListHead) -> Cow<'l, ListHead> {
        if list.kind.is_some() {
            return Cow::Borrowed(list);
        }
        let kind = Some(format!("{}List", self.asked.resource.kind()));
        let api_version = Some(path::group_version(&self.asked.path).to_owned());
        Cow::Owned(ListHead { kind, api_version, ..list.clone() })
    }

    /// Whether an object is wanted; takes its name where that is asked for.
    fn wants(&mut self, bytes: &[u8]) -> bool {
        let cron_jobs = match self.wanted {
            Wanted::All => return true,
            Wanted::Named => None,
            Wanted::OwnedBy(cron_jobs) => Some(cron_jobs),
        };
        // What cannot be read is for the intake to count.
        let Ok(owned) = serde_json::from_slice::<Owned>(bytes) else { return true };
        let is_wanted = cron_jobs.is_none_or(|cron_jobs| owned.is_of(cron_jobs));
        if is_wanted {
            self.page.jobs.push(owned.metadata.name);
        }
        is_wanted
    }
}

impl ObjectSink for PageSink<'_> {
    fn object(&mut self, bytes: &[u8], list: &ListHead, at: Position) {
        if !self.listed {
            // A document of its own: a list without items, or no list at all.
            if list.kind.as_deref().is_some_and(|kind| kind.ends_with("List")) {
                self.answered = true;
                self.tell_head(list);
            } else {
                self.page.instead = Some(bytes[..bytes.len().min(1024)].to_vec());
            }
            return;
        }
        if !self.wants(bytes) {
            return;
        }
        self.page.objects += 1;
        let list = &*self.named(list);
        if let Some(raw) = self.raw {
            // Nobody takes it where the watch was given up; the page ends with its connection then.
            let _ = raw.blocking_send(titled(bytes, list));
            return;
        }
        let skips = take(self.intake, bytes, list, at);
        self.page.skips.add(skips);
    }

    fn broken(&mut self, at: Position, why: &str) {
        if self.listed {
            self.page.skips.add(Skips { named: vec![format!("object {}: {why}", at.object)], count: 1 });
        } else {
            self.page.instead.get_or_insert_default();
        }
    }

    fn list_begins(&mut self, list: &ListHead) {
        self.listed = true;
        self.tell_head(list);
    }

    fn list_ends(&mut self, list: &ListHead) {
        self.tell_head(list);
    }
}

/// Puts one object into the intake; says whether it could not be read.
pub(super) fn take(intake: &Mutex<Intake>, bytes: &[u8], list: &ListHead, at: Position) -> Skips {
    let mut intake = intake.lock().unwrap_or_else(PoisonError::into_inner);
    intake.object(bytes, list, at);
    let (skipped, count) = intake.take_skipped();
    drop(intake);
    if count == 0 {
        return Skips::default();
    }
    // Mostly one member is bad, and the name is not it.
    let name = serde_json::from_slice::<ObjectView>(bytes).ok().map(|view| {
        let metadata = view.metadata;
        format!("{}/{}", metadata.namespace(), metadata.name())
    });
    let name = name.unwrap_or_else(|| format!("object {}", at.object));
    let named = skipped.into_iter().map(|skipped| format!("{name}: {}", skipped.why)).collect();
    Skips { named, count }
}

/// An item of a list with the `kind` and `apiVersion` that typed lists leave out of their items.
fn titled(item: &[u8], list: &ListHead) -> Bytes {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Title {
        kind: Option<serde::de::IgnoredAny>,
    }
    let kind = list.kind.as_deref().and_then(|kind| kind.strip_suffix("List")).filter(|kind| !kind.is_empty());
    let has_own = || serde_json::from_slice::<Title>(item).is_ok_and(|title| title.kind.is_some());
    let (Some(kind), Some(rest)) = (kind, item.strip_prefix(b"{").filter(|_| !has_own())) else {
        return Bytes::copy_from_slice(item);
    };
    let title = serde_json::json!({ "kind": kind, "apiVersion": list.api_version.as_deref().unwrap_or_default() });
    let title = title.to_string();
    let separator: &[u8] = if rest.trim_ascii_start().starts_with(b"}") { b"" } else { b"," };
    [title.trim_end_matches('}').as_bytes(), separator, rest].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_typed_lists_get_the_title_that_they_lack() {
        let list = ListHead { kind: Some("PodList".into()), api_version: Some("v1".into()), ..ListHead::default() };
        for (item, expected) in [
            (r#"{"metadata":{}}"#, r#"{"apiVersion":"v1","kind":"Pod","metadata":{}}"#),
            ("{ }", r#"{"apiVersion":"v1","kind":"Pod" }"#),
            (r#"{"kind":"X","metadata":{}}"#, r#"{"kind":"X","metadata":{}}"#),
        ] {
            assert_eq!(titled(item.as_bytes(), &list), expected, "{item}");
        }
        assert_eq!(titled(b"{}", &ListHead::default()), "{}");
    }
}
