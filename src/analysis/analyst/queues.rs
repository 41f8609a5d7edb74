//! What Kueue holds in a queue, or has taken out of one.

use std::collections::HashSet;

use super::Analyst;
use crate::analysis::orphan::is_queued;
use crate::analysis::standing::{Queues, of_gated_pods, of_queue};
use crate::analysis::workload::Workload;
use crate::model::{Pod, Uid};
use crate::report::{Situation, SituationKind};
use crate::request::TargetKind;

impl Analyst<'_, '_> {
    /// What Kueue keeps from running: said of the workload, and a failure only where it never runs again by itself.
    pub(super) fn tell_queues(&mut self) {
        let queues = Queues::of(self.snapshot);
        self.tell_gated_pods(&queues);
        if self.snapshot.queued.is_empty() {
            self.note_queues(&HashSet::new());
            return;
        }
        let jobs = self.snapshot.jobs.iter().filter(|job| self.is_wanted(job));
        let of_jobs = jobs.filter_map(|job| {
            let queued = queues.find(TargetKind::Job, &job.namespace, &job.name, job.uid.as_ref())?;
            Some((self.owners.workload(job), queued))
        });
        let mut found: Vec<_> = of_jobs.collect();
        for workload in &self.workloads {
            let reference = &workload.reference;
            let story = workload.story.map(|story| self.stories[story].job_set);
            let kind = TargetKind::ALL.into_iter().find(|kind| *kind.kind() == *reference.kind);
            let uid = reference.uid.as_deref().and_then(Uid::parse);
            let own = kind.and_then(|kind| queues.find(kind, &reference.namespace, &reference.name, uid.as_ref()));
            let of_set =
                story.and_then(|set| queues.find(TargetKind::JobSet, &set.namespace, &set.name, set.uid.as_ref()));
            found.extend(own.or(of_set).map(|queued| (reference.clone(), queued)));
        }
        let (mut told, mut stuck) = (HashSet::new(), HashSet::new());
        for (reference, queued) in found {
            if !told.insert(std::ptr::from_ref(queued)) {
                continue;
            }
            let troubles = of_queue(queued, self.snapshot, self.options.now);
            if troubles.is_empty() {
                continue;
            }
            let workload = self.workload(reference);
            self.add_failures(workload, &troubles, false);
            let has_failed = troubles.iter().any(|trouble| trouble.failure.is_some());
            stuck.extend(has_failed.then_some(workload));
            self.workloads[workload].queued = Some(queued);
            self.workloads[workload].situations.extend(troubles.into_iter().map(|trouble| trouble.situation));
        }
        self.note_queues(&stuck);
    }

    /// What waits in Kueue's queues has not failed, and stands in no group.
    fn note_queues(&mut self, stuck: &HashSet<usize>) {
        // What somebody has taken out by hand is no failure either.
        let kinds = [SituationKind::Evicted, SituationKind::Queued, SituationKind::Deactivated];
        let waits = |situation: &&Situation| kinds.contains(&situation.kind);
        // Of a Workload itself, what it stands for is told.
        let is_other = |workload: &Workload| *workload.reference.kind != *TargetKind::Workload.kind();
        let others = self.workloads.iter().enumerate();
        let others = others.filter(|(index, workload)| !stuck.contains(index) && is_other(workload));
        let waiting = others.filter_map(|(_, workload)| {
            let situation = workload.situations.iter().find(waits)?;
            Some(format!("{}: {}", workload.reference, situation.text))
        });
        let mut waiting: Vec<String> = waiting.collect();
        waiting.sort();
        if let Some(first) = waiting.first() {
            let (are, more) = match waiting.len() {
                1 => ("1 workload waits".to_owned(), String::new()),
                several => (format!("{several} workloads wait"), format!(" (and {} more)", several - 1)),
            };
            self.notes.push(format!("{are} in Kueue, which is no failure: {first}{more}"));
        }
    }

    /// Pods that are queued one by one, or in groups, of a workload that knows nothing of that.
    fn tell_gated_pods(&mut self, queues: &Queues) {
        for (workload, pods) in &self.pods_of_others {
            let gated: Vec<&Pod> = pods.iter().copied().filter(|pod| is_queued(pod)).collect();
            let told = of_gated_pods(&gated, queues, self.snapshot, self.options.now);
            self.workloads[*workload].situations.extend(told.map(|trouble| trouble.situation));
        }
    }
}
