//! What a recording holds beside objects: its header, the changes of a journal, and what these tell the deletion of.

use std::collections::BTreeSet;

use super::{Intake, NOT_KEPT, first_members, key_of, parse};
use crate::model::{ObjectView, Phase, Time, Uid};
use crate::source::kind::Kind;
use crate::source::recorded::ChangeView;
use crate::source::{ListHead, ObjectSink as _, Position};

impl Intake {
    /// Takes a line of a recording that is no object.
    pub(super) fn take_line(&mut self, kind: Kind, bytes: &[u8], at: Position) -> Result<(), serde_json::Error> {
        match kind {
            Kind::Recording => {
                // An empty cluster was recorded, too.
                self.lists += 1;
                self.recorded.header(parse(bytes)?);
            }
            Kind::RecordingStatus => self.newest = self.newest.max(self.recorded.status(parse(bytes)?)),
            Kind::Change => {
                self.recorded.line();
                let change: ChangeView = parse(bytes)?;
                self.newest = self.newest.max(Time::parse(change.at));
                let object = change.object.get().as_bytes();
                if change.what != "missed" {
                    self.object(object, &ListHead::default(), at);
                }
                if matches!(change.what, "deleted" | "missed") {
                    self.note_gone(object);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Notes that an object was deleted. Its earlier states may be read only later.
    fn note_gone(&mut self, object: &[u8]) {
        let Some(kind) = first_members(object).and_then(|(kind, api_version)| Kind::of(kind, api_version)) else {
            return;
        };
        if let Ok(view) = parse::<ObjectView>(object) {
            self.gone.insert(key_of(kind, &view.metadata), kind);
        }
    }

    /// What was deleted is evidence of what it was: how pods ended, Jobs and `JobSet`s with the attempts before the last one,
    /// Events. Of anything else, and of pods that had not failed, nothing is amiss any more.
    pub(super) fn let_go(&mut self) -> BTreeSet<Uid> {
        let mut uids = BTreeSet::new();
        for (key, kind) in std::mem::take(&mut self.gone) {
            let Some(index) = self.seen.get(&key).map(|seen| seen.kept).filter(|kept| *kept != NOT_KEPT) else {
                continue;
            };
            let index = index as usize;
            match kind {
                Kind::Job => uids.extend(self.jobs[index].as_ref().and_then(|job| job.uid.clone())),
                Kind::JobSet => uids.extend(self.job_sets[index].as_ref().and_then(|job_set| job_set.uid.clone())),
                Kind::Pod => {
                    let pod = &mut self.pods[index];
                    *pod = pod.take().filter(|pod| pod.phase == Phase::Failed);
                    uids.extend(pod.as_ref().and_then(|pod| pod.uid.clone()));
                }
                Kind::Event => {}
                other => self.clear(other, index),
            }
        }
        uids
    }
}
