//! What workloads are asked about again and again, found once: Events, versions of templates, what a `TrainJob` made.

use std::collections::HashMap;

use crate::model::{Event, Head, JobSet, Owner, Revision, StatefulSet, Uid};
use crate::source::Snapshot;

/// Kind, namespace and name of what something is about, or belongs to.
type Key<'s> = (&'s str, &'s str, &'s str);

/// Objects by what they are about.
pub(in super::super) struct Index<'s> {
    /// By time; of pods none.
    events: HashMap<Key<'s>, Vec<&'s Event>>,
    /// The newest first.
    revisions: HashMap<Key<'s>, Vec<&'s Revision>>,
    /// By their owner, in order of their names and uids.
    job_sets: HashMap<Key<'s>, Vec<&'s JobSet>>,
    /// By the `LeaderWorkerSet` that their label names, by namespace.
    of_groups: HashMap<(&'s str, &'s str), Vec<&'s StatefulSet>>,
}

impl<'s> Index<'s> {
    pub(in super::super) fn of(snapshot: &'s Snapshot) -> Self {
        let mut index = Self {
            events: HashMap::new(),
            revisions: HashMap::new(),
            job_sets: HashMap::new(),
            of_groups: HashMap::new(),
        };
        for event in snapshot.events.iter().filter(|event| &*event.kind != "Pod") {
            index.events.entry((&*event.kind, &*event.namespace, &*event.name)).or_default().push(event);
        }
        for revision in &snapshot.revisions {
            let Some(owner) = &revision.head.owner else { continue };
            let key = (&*owner.kind, &*revision.head.namespace, &*owner.name);
            index.revisions.entry(key).or_default().push(revision);
        }
        for all in index.revisions.values_mut() {
            all.sort_by(|a, b| (b.number, &b.head.name).cmp(&(a.number, &a.head.name)));
        }
        for job_set in &snapshot.job_sets {
            let Some(owner) = &job_set.owner else { continue };
            index.job_sets.entry((&*owner.kind, &*job_set.namespace, &*owner.name)).or_default().push(job_set);
        }
        for set in &snapshot.stateful_sets {
            let label = set.head.labels.iter().find(|(key, _)| &***key == "leaderworkerset.sigs.k8s.io/name");
            if let Some((_, name)) = label {
                index.of_groups.entry((&*set.head.namespace, &**name)).or_default().push(set);
            }
        }
        index
    }

    /// Events about all objects of that name.
    pub(super) fn named<'a>(&'a self, kind: &'a str, namespace: &'a str, name: &'a str) -> &'a [&'s Event] {
        self.events.get(&(kind, namespace, name)).map_or(&[], Vec::as_slice)
    }

    /// Events about the object of that uid, not about one of its name that was there before it.
    pub(in super::super) fn about(&self, kind: &str, namespace: &str, name: &str, uid: Option<&Uid>) -> Vec<&'s Event> {
        let same = |event: &&&Event| event.uid.as_ref().zip(uid).is_none_or(|(one, other)| one == other);
        self.named(kind, namespace, name).iter().filter(same).copied().collect()
    }

    /// The versions of a workload's template, the newest first.
    pub(super) fn revisions(&self, kind: &str, of: &Head) -> Vec<&'s Revision> {
        let all = self.revisions.get(&(kind, &*of.namespace, &*of.name)).map_or(&[][..], Vec::as_slice);
        all.iter().copied().filter(|revision| is_same(revision.head.owner.as_ref(), of)).collect()
    }

    /// The `JobSet` of a `TrainJob`; of several, the last one made.
    pub(super) fn job_set(&self, of: &Head) -> Option<&'s JobSet> {
        let all = self.job_sets.get(&("TrainJob", &*of.namespace, &*of.name)).map_or(&[][..], Vec::as_slice);
        all.iter().copied().filter(|job_set| is_same(job_set.owner.as_ref(), of)).max_by_key(|job_set| job_set.created)
    }

    /// The `StatefulSet`s of a `LeaderWorkerSet`: that of its leaders, and one for each group's workers.
    pub(super) fn of_groups<'a>(&'a self, of: &'a Head) -> &'a [&'s StatefulSet] {
        self.of_groups.get(&(&*of.namespace, &*of.name)).map_or(&[], Vec::as_slice)
    }
}

/// Whether an owner is the very object, as far as uids tell.
fn is_same(owner: Option<&Owner>, head: &Head) -> bool {
    owner.is_some_and(|owner| owner.uid.as_ref().zip(head.uid.as_ref()).is_none_or(|(one, other)| one == other))
}
