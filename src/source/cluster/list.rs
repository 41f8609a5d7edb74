use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::Response;
use kube::client::Body;
use tokio::sync::{mpsc, oneshot};

use super::api::Api;
use super::body;
use super::fault::{Fault, first_line};
use super::page::{self, Head, Page, Skips, Wanted};
use crate::source::{Intake, Resource, SourceState};

/// A list to read.
#[derive(Clone, Debug)]
pub(super) struct List {
    /// What it is a list of.
    pub(super) resource: Resource,
    /// Its path and query, without the members that page through it.
    pub(super) path: String,
    /// What of it is wanted.
    pub(super) wanted: Wanted,
    /// Where its objects go as they are, instead of into the intake.
    pub(super) raw: Option<mpsc::Sender<Bytes>>,
}

/// What became of one or more reads of a resource.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) state: SourceState,
    pub(super) skips: Skips,
    pub(super) notes: Vec<String>,
    /// The Jobs read, where they were asked for.
    pub(super) jobs: Vec<String>,
    /// The version that the list is of: that of its first page, the oldest where it was continued after it expired.
    pub(super) version: String,
}

impl Outcome {
    pub(super) fn new(state: SourceState) -> Self {
        Self { state, skips: Skips::default(), notes: Vec::new(), jobs: Vec::new(), version: String::new() }
    }

    pub(super) fn with_note(state: SourceState, note: impl Into<String>) -> Self {
        Self { notes: vec![note.into()], ..Self::new(state) }
    }

    /// The same, with a note more.
    pub(super) fn noted(mut self, note: &str) -> Self {
        self.notes.push(note.to_owned());
        self
    }

    /// Both reads as one: what is worse counts.
    pub(super) fn join(mut self, other: Self) -> Self {
        if other.state.weight() > self.state.weight() {
            self.state = other.state;
        }
        self.skips.add(other.skips);
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.jobs.extend(other.jobs);
        self
    }

    /// What is to be said of it.
    pub(super) fn message(&self) -> Option<String> {
        let mut message = self.notes.join("; ");
        if self.skips.count > 0 {
            let separator = if message.is_empty() { "" } else { "; " };
            let plural = if self.skips.count == 1 { "object" } else { "objects" };
            let _ = write!(message, "{separator}{} {plural} passed over as unreadable: ", self.skips.count);
            message += &self.skips.named.join(", ");
            if self.skips.count > self.skips.named.len() as u64 {
                message += ", …";
            }
        }
        Some(message).filter(|message| !message.is_empty())
    }
}

/// Reads lists to their end.
#[derive(Clone)]
pub(super) struct Lister<'a> {
    pub(super) api: &'a Api<'a>,
    pub(super) intake: Arc<Mutex<Intake>>,
    /// Objects a page; 0 for no pages.
    pub(super) chunk_size: u32,
}

/// Where a list is, page after page.
struct Progress {
    outcome: Outcome,
    /// The token of the page to read; empty for the first.
    token: String,
    /// All tokens so far: one that comes again would be followed for ever.
    tokens: HashSet<String>,
    /// Tries of this page.
    attempt: u32,
    objects: u64,
    restarted: bool,
    /// The list expired and no page has come since.
    expired: bool,
}

/// The end of a list that is not its own.
enum Stop {
    /// Nothing was read: the fault is all there is.
    Failed(Fault),
    /// What was read stays.
    Truncated(String),
}

const INCONSISTENT: &str = "not one snapshot: the list expired on the way and was continued";

impl Lister<'_> {
    /// Reads all pages of a list. A fault is given back where nothing could be read; what comes after the first objects
    /// leaves them, and says so.
    pub(super) async fn read(&self, list: &List) -> Result<Outcome, Fault> {
        let mut progress = Progress {
            outcome: Outcome::new(SourceState::Read),
            token: String::new(),
            tokens: HashSet::new(),
            attempt: 1,
            objects: 0,
            restarted: false,
            expired: false,
        };
        match self.read_pages(list, &mut progress).await {
            Ok(()) => {}
            Err(Stop::Failed(fault)) => return Err(fault),
            Err(Stop::Truncated(why)) => {
                progress.outcome.state = SourceState::Truncated;
                progress.outcome.notes.push(why);
            }
        }
        let mut outcome = progress.outcome;
        if outcome.state == SourceState::Read && outcome.skips.count > 0 {
            outcome.state = SourceState::Unreadable;
        }
        Ok(outcome)
    }

    async fn read_pages(&self, list: &List, progress: &mut Progress) -> Result<(), Stop> {
        let mut answer = self.ask(list, &progress.token).await;
        loop {
            let response = match answer {
                Ok(response) => response,
                Err(fault) => {
                    self.after_fault(list, progress, fault)?;
                    answer = self.ask(list, &progress.token).await;
                    continue;
                }
            };
            let mut read = self.read_page(list, response).await;
            let fault = read.fault();
            progress.objects += read.page.objects;
            match fault {
                None => {
                    progress.attempt = 1;
                    progress.expired = false;
                    progress.outcome.skips.add(read.page.skips);
                    progress.outcome.jobs.extend(read.page.jobs);
                    if progress.outcome.version.is_empty() {
                        progress.outcome.version = read.version;
                    }
                    match read.next {
                        Some((token, _)) if !progress.tokens.insert(token.clone()) => {
                            let why = "the server continues the list with a page it has given before";
                            return Err(progress.stop(Fault::Answer(why.to_owned())));
                        }
                        Some((token, next)) => {
                            progress.token = token;
                            answer = next;
                        }
                        None => return Ok(()),
                    }
                }
                // What was read of the page will come once more and is known then; but for its bad objects.
                Some(fault) => {
                    let what = list.resource.name();
                    if let Err(fault) = self.api.before_another(what, progress.attempt, fault).await {
                        progress.outcome.skips.add(read.page.skips);
                        progress.outcome.jobs.extend(read.page.jobs);
                        return Err(progress.stop(fault));
                    }
                    progress.attempt += 1;
                    answer = self.ask(list, &progress.token).await;
                }
            }
        }
    }

    /// Decides how to go on after a page was refused.
    fn after_fault(&self, list: &List, progress: &mut Progress, fault: Fault) -> Result<(), Stop> {
        let token = match fault {
            Fault::Status(status) if status.code == 410 && !progress.token.is_empty() => status.continue_token,
            fault => return Err(progress.stop(fault)),
        };
        let what = list.resource.name();
        match token {
            // The same objects may come twice; each counts once.
            Some(token) if !progress.expired => {
                progress.token = token;
                progress.expired = true;
                if !progress.outcome.notes.iter().any(|note| note == INCONSISTENT) {
                    progress.outcome.notes.push(INCONSISTENT.to_owned());
                    self.api.say(&format!("{what}: {INCONSISTENT}"));
                }
                Ok(())
            }
            None if !progress.restarted => {
                progress.restarted = true;
                progress.token = String::new();
                progress.tokens.clear();
                progress.outcome.skips = Skips::default();
                progress.outcome.version.clear();
                self.api.say(&format!("{what}: the list expired on the way; reading it once more from its beginning"));
                Ok(())
            }
            _ => Err(Stop::Truncated("the list expired again and again before its end".to_owned())),
        }
    }

    async fn ask(&self, list: &List, token: &str) -> Result<Response<Body>, Fault> {
        let mut path = list.path.clone();
        let mut separator = if path.contains('?') { '&' } else { '?' };
        let mut add = |name: &str, value: &str| {
            let _ = write!(path, "{separator}{name}={}", super::path::encode(value));
            separator = '&';
        };
        if self.chunk_size > 0 {
            add("limit", &self.chunk_size.to_string());
        }
        if !token.is_empty() {
            add("continue", token);
        }
        self.api.get(list.resource.name(), &path).await
    }

    /// Reads one page on a thread of its own, while the next is asked for as soon as this one's head tells how.
    async fn read_page(&self, list: &List, response: Response<Body>) -> ReadPage {
        let (chunks, reader) = body::channel();
        let (tell_head, head) = oneshot::channel::<Head>();
        let (intake, whole) = (Arc::clone(&self.intake), list.clone());
        let reading = tokio::task::spawn_blocking(move || page::read(reader, &intake, &whole, tell_head));
        let ahead = async {
            let Ok(Head { r#continue: token, resource_version }) = head.await else { return (String::new(), None) };
            if token.is_empty() {
                return (resource_version, None);
            }
            let answer = self.ask(list, &token).await;
            (resource_version, Some((token, answer)))
        };
        let (pumped, page, (version, next)) = tokio::join!(self.api.pump(response, chunks), reading, ahead);
        let page = page.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is on its way down, and this future with it.
            Err(_) => Page::default(),
        });
        ReadPage { page, pumped, version, next }
    }
}

/// A page as it was read.
struct ReadPage {
    page: Page,
    pumped: Result<(), Fault>,
    version: String,
    next: Option<(String, Result<Response<Body>, Fault>)>,
}

impl ReadPage {
    /// Why the page is not whole.
    fn fault(&mut self) -> Option<Fault> {
        if let Err(fault) = std::mem::replace(&mut self.pumped, Ok(())) {
            return Some(fault);
        }
        if let Some(found) = self.page.instead.take() {
            let found = first_line(&found);
            return Some(Fault::Answer(if found.is_empty() { "no JSON".to_owned() } else { found }));
        }
        (!self.page.whole).then(|| Fault::Dropped("the answer was cut off".to_owned()))
    }
}

impl Progress {
    fn stop(&self, fault: Fault) -> Stop {
        if self.objects == 0 && self.token.is_empty() {
            return Stop::Failed(fault);
        }
        Stop::Truncated(format!("read only in part: {fault}"))
    }
}
