use std::collections::HashMap;

use super::Analyst;
use crate::analysis::orphan::judge_orphan;
use crate::analysis::owner::{cron_job_reference, other_reference};
use crate::analysis::standing::{Around, Index, Other, Standing, Trouble, of_cron_job, others};
use crate::analysis::{Failure, Told};
use crate::model::{Job, Pod, Time};
use crate::report::WorkloadState;
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
        let events = Index::of(self.snapshot);
        let failures = self.failures_of_others();
        // Of one that was deleted and made again, a dump may hold both: what is told is of the one that is there.
        let mut newest: HashMap<_, Option<Time>> = HashMap::new();
        let key = |other: Other<'s>| (other.kind(), &other.head().namespace, &other.head().name);
        for other in others(self.snapshot) {
            let known = newest.entry(key(other)).or_default();
            *known = (*known).max(other.head().created);
        }
        let is_there = |other: &Other<'s>| newest.get(&key(*other)).is_none_or(|at| *at <= other.head().created);
        let targets = &self.options.targets;
        let is_named =
            |other: Other| targets.iter().any(|it| it.kind == other.kind() && *it.name == *other.head().name);
        // What is a part of another is told with that, but where it is asked for by name.
        let is_told = |other: &Other<'s>| is_there(other) && (!other.is_part() || is_named(*other));
        for other in others(self.snapshot).filter(is_told) {
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

    fn tell_other(&mut self, other: Other<'s>, events: &Index<'s>, failures: &HashMap<usize, Vec<Failure<'s>>>) {
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
        let pods_of = |known| self.pods_of_others.get(&known).map_or(&[][..], Vec::as_slice);
        let failures_of = |known| failures.get(&known).map_or(&[][..], Vec::as_slice);
        let (pods, failed);
        let (pods, failures) = if other.is_part() {
            // They are counted under what it is a part of.
            let is_own = |pod: &&Pod| other.controls(pod);
            pods = self.snapshot.pods.iter().filter(is_own).collect::<Vec<_>>();
            let is_of_own = |failure: &&Failure| failure.pod.as_ref().is_some_and(is_own);
            failed = failures.values().flatten().filter(is_of_own).cloned().collect::<Vec<_>>();
            (&pods[..], &failed[..])
        } else {
            (known.map_or(&[][..], pods_of), known.map_or(&[][..], failures_of))
        };
        let around = Around {
            snapshot: self.snapshot,
            pods,
            failures,
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
    pub(super) fn add_failures(&mut self, workload: usize, troubles: &[Trouble<'s>], shown_by_pods: bool) {
        for own in troubles.iter().filter_map(|trouble| trouble.failure.as_ref()) {
            if own.always || !shown_by_pods {
                let namespace = Some(self.workloads[workload].reference.namespace.clone());
                let failure = Failure::gone(own.class, workload, Told { namespace, ..own.told.clone() });
                self.failures.push(Failure { count: own.count, ..failure });
            }
        }
    }

    fn tell_cron_jobs(&mut self, events: &Index<'s>) {
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
}
