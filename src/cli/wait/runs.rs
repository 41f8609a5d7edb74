//! Which run of a `CronJob` is waited for: the latest one that runs when the wait begins, else the next one.

use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;

use super::object::Names;
use crate::analysis::{Awaited, Judgement, Restarts, Settings, Subject, judge};
use crate::source::{Filter, Intake};

/// The runs of one `CronJob`.
#[derive(Debug, Default)]
pub(super) struct Runs {
    chosen: Option<Run>,
    /// Whether what was there in the beginning has been told.
    begun: bool,
    /// Those that run, until then, by when they were made.
    running: BTreeMap<(Option<String>, String), Bytes>,
    /// Uids of those that had ended by then: of the past, whatever becomes of them.
    past: HashSet<String>,
}

#[derive(Debug)]
struct Run {
    uid: String,
    name: String,
}

impl Runs {
    pub(super) fn is_chosen(&self) -> bool {
        self.chosen.is_some()
    }

    pub(super) fn is_it(&self, uid: &str) -> bool {
        self.uid() == Some(uid)
    }

    pub(super) fn uid(&self) -> Option<&str> {
        self.chosen.as_ref().map(|run| run.uid.as_str())
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.chosen.as_ref().map(|run| run.name.as_str())
    }

    /// Takes a run as it is; whether it is the one to wait for.
    pub(super) fn take(&mut self, object: &Bytes, names: &Names) -> bool {
        let uid = &names.metadata.uid;
        if self.begun {
            let is_next = !self.past.contains(uid);
            if is_next {
                self.choose(names);
            }
            return is_next;
        }
        let key = (names.metadata.creation_timestamp.clone(), uid.clone());
        // One that was under way in a list that was cut off, and has ended when it is read once more, was under way.
        if has_ended(object) && !self.running.contains_key(&key) {
            self.past.insert(uid.clone());
        } else {
            self.running.insert(key, object.clone());
        }
        false
    }

    /// Forgets one that is gone, or is no run of it.
    pub(super) fn forget(&mut self, uid: &str) {
        self.past.remove(uid);
        self.running.retain(|(_, of), _| of != uid);
    }

    /// All that was there has been told: chooses the latest that runs, if there is one.
    pub(super) fn begin(&mut self) -> Option<Bytes> {
        if std::mem::replace(&mut self.begun, true) {
            return None;
        }
        let ((_, latest), object) = std::mem::take(&mut self.running).pop_last()?;
        let names = Names::of(&object).ok().filter(|names| names.metadata.uid == latest)?;
        self.choose(&names);
        Some(object)
    }

    fn choose(&mut self, names: &Names) {
        let metadata = &names.metadata;
        self.chosen = Some(Run { uid: metadata.uid.clone(), name: metadata.name.clone() });
    }
}

fn has_ended(job: &[u8]) -> bool {
    let mut intake = Intake::new(Filter::default());
    intake.set(job);
    let settings = Settings { awaited: Awaited::Finished, early: false, restarts: Restarts::default() };
    let is_open = |subject| judge(subject, &settings, Restarts::default()) == Judgement::Open;
    intake.finish().jobs.iter().any(|job| !is_open(Subject::Job(job)))
}
