use std::collections::{HashMap, HashSet};

use super::Analyst;
use crate::analysis::orphan::judge_orphan;
use crate::analysis::owner::{cron_job_reference, other_reference};
use crate::analysis::standing::{Around, EventIndex, Other, Queues, Standing, Trouble, of_cron_job, of_queue, others};
use crate::analysis::{Failure, Told};
use crate::model::{Job, Uid};
use crate::report::{Situation, SituationKind, WorkloadState};
use crate::request::TargetKind;

impl<'s> Analyst<'s, '_> {
    /// Pods without a Job in the data, under the workload that they belong to.
    pub(super) fn judge_pods(&mut self) {
        for pod in std::mem::take(&mut self.orphans) {
            let (reference, names) = self.owners.of_pod(pod);
            if !pod.selected || !self.is_asked_for(&names) {
                continue;
            }
            let found = judge_orphan(pod, self.snapshot, self.options.now, self.options.pending_after);
            let workload = self.workload(reference);
            // Of a Job that is not in the data nothing asks for its pods, and there may be many.
            if !pod.owner.as_ref().is_some_and(|owner| owner.is("batch", "Job")) {
                self.pods_of_others.entry(workload).or_default().push(pod);
            }
            self.failures.extend(found.into_iter().map(|failure| Failure { workload, ..failure }));
        }
    }

    /// Where the workloads stand that are no Jobs, and what Kueue and a `CronJob`'s schedule keep from running.
    pub(super) fn tell_others(&mut self) {
        let events = EventIndex::of(self.snapshot);
        let failures = self.failures_of_others();
        for other in others(self.snapshot).filter(|other| !other.is_part()) {
            self.tell_other(other, &events, &failures);
        }
        self.tell_cron_jobs(&events);
        self.tell_queues();
    }

    /// The failures of pods without a Job, by their workload.
    fn failures_of_others(&self) -> HashMap<usize, Vec<Failure<'s>>> {
        let mut by_workload: HashMap<usize, Vec<Failure>> = HashMap::new();
        for failure in self.failures.iter().filter(|failure| self.pods_of_others.contains_key(&failure.workload)) {
            by_workload.entry(failure.workload).or_default().push(failure.clone());
        }
        by_workload
    }

    fn tell_other(&mut self, other: Other<'s>, events: &EventIndex<'s>, failures: &HashMap<usize, Vec<Failure<'s>>>) {
        let head = other.head();
        let mut names = vec![(other.kind(), &*head.name)];
        let above =
            head.owner.as_ref().and_then(|owner| Some((TargetKind::of(&owner.group, &owner.kind)?, &*owner.name)));
        names.extend(above);
        if !self.has_labels(&head.labels) || !self.is_asked_for(&names) {
            return;
        }
        let reference = other_reference(other);
        let known = self.index.get(&reference).copied();
        let none = Vec::new();
        let around = Around {
            snapshot: self.snapshot,
            pods: known.and_then(|known| self.pods_of_others.get(&known)).map_or(&[], Vec::as_slice),
            failures: known.and_then(|known| failures.get(&known)).unwrap_or(&none),
            // Of one that was deleted and made again, only what is of this one.
            events: &events.about(other.kind().kind(), &head.namespace, &head.name, head.uid.as_ref()),
            index: events,
            now: self.options.now,
            pending_after: self.options.pending_after,
        };
        let standing = other.standing(&around);
        let shows = !around.failures.is_empty();
        let is_over = standing.state == WorkloadState::Complete && !self.options.all;
        let workload = self.workload(reference);
        if !is_over {
            self.add_failures(workload, &standing.troubles, shows);
        }
        let shown = &mut self.workloads[workload];
        if shown.story.is_none() {
            shown.own_state = Some(standing.state);
        }
        shown.situations = standing.troubles.iter().map(|trouble| trouble.situation.clone()).collect();
        shown.standing = Some((other, Standing { troubles: Vec::new(), ..standing }));
    }

    /// What troubles are failures of their own.
    fn add_failures(&mut self, workload: usize, troubles: &[Trouble<'s>], shown_by_pods: bool) {
        for own in troubles.iter().filter_map(|trouble| trouble.failure.as_ref()) {
            if own.always || !shown_by_pods {
                let namespace = Some(self.workloads[workload].reference.namespace.clone());
                let failure = Failure::gone(own.class, workload, Told { namespace, ..own.told.clone() });
                self.failures.push(Failure { count: own.count, ..failure });
            }
        }
    }

    fn tell_cron_jobs(&mut self, events: &EventIndex<'s>) {
        let mut runs: HashMap<(&str, &str), Vec<&Job>> = HashMap::new();
        for job in &self.snapshot.jobs {
            if let Some(owner) = job.owner.as_ref().filter(|owner| owner.is("batch", "CronJob")) {
                runs.entry((&job.namespace, &owner.name)).or_default().push(job);
            }
        }
        for cron_job in &self.snapshot.cron_jobs {
            if !self.has_labels(&cron_job.labels) || !self.is_asked_for(&[(TargetKind::CronJob, &*cron_job.name)]) {
                continue;
            }
            let own = runs.get(&(&*cron_job.namespace, &*cron_job.name)).map_or(&[][..], Vec::as_slice);
            let troubles = of_cron_job(cron_job, own, events, self.options.now);
            let workload = self.workload(cron_job_reference(cron_job));
            self.add_failures(workload, &troubles, false);
            if cron_job.suspend {
                self.workloads[workload].own_state = Some(WorkloadState::Suspended);
            }
            self.workloads[workload].situations.extend(troubles.into_iter().map(|trouble| trouble.situation));
        }
    }

    /// What Kueue keeps from running: said of the workload, and a failure only where it never runs again by itself.
    fn tell_queues(&mut self) {
        let queues = Queues::of(self.snapshot);
        if self.snapshot.queued.is_empty() {
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
        let waits = |situation: &&Situation| matches!(situation.kind, SituationKind::Evicted | SituationKind::Queued);
        let others = self.workloads.iter().enumerate();
        let others = others.filter(|(index, workload)| workload.queued.is_some() && !stuck.contains(index));
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
}
