use std::collections::HashMap;

use super::Analyst;
use crate::analysis::facts::JobFacts;
use crate::analysis::owner::Wrapper;
use crate::model::{Event, Job, Pod, Uid};

impl<'s> Analyst<'s, '_> {
    pub(super) fn judge_jobs(&mut self) {
        let mut events_of: HashMap<&Uid, Vec<&Event>> = HashMap::new();
        let mut events_named: HashMap<(&str, &str), Vec<&Event>> = HashMap::new();
        for event in self.snapshot.events.iter().filter(|event| &*event.kind == "Job") {
            match &event.uid {
                Some(uid) => events_of.entry(uid).or_default().push(event),
                None => events_named.entry((&event.namespace, &event.name)).or_default().push(event),
            }
        }
        let pods_of = std::mem::take(&mut self.pods_of);
        for (job, pods) in self.snapshot.jobs.iter().zip(pods_of) {
            if !self.is_wanted(job) {
                continue;
            }
            if let Some(Wrapper::JobSet(_)) = self.owners.wrapper(job) {
                self.pods_of_job_sets.insert(job, pods.clone());
            }
            let mut events = job.uid.as_ref().and_then(|uid| events_of.remove(uid)).unwrap_or_default();
            events.extend(events_named.get(&(&*job.namespace, &*job.name)).into_iter().flatten());
            self.judge_job(job, pods, events);
        }
    }

    fn judge_job(&mut self, job: &'s Job, pods: Vec<&'s Pod>, events: Vec<&'s Event>) {
        if let Some(names) = self.owners.rule_names(job) {
            self.rule_names.insert(job, names);
        }
        let reference = self.owners.workload(job);
        let workload = self.workload(reference);
        let facts = JobFacts::new(job, workload, pods, events, self.evidence);
        let mut findings = facts.judge(self.snapshot, self.options.now, self.options.pending_after);
        let shown = &mut self.workloads[workload];
        shown.jobs.push(job);
        if job.succeeding().is_some() && !self.options.all {
            let wanted = findings.failures.iter().filter(|failure| self.options.wants(failure));
            let hidden: u64 = wanted.map(|failure| u64::from(failure.count)).sum();
            if hidden > 0 {
                self.completed.0.insert(workload);
                self.completed.1 += hidden;
            }
            return;
        }
        shown.notes.append(&mut findings.notes);
        let failing_at = |job: &Job| job.failing().and_then(|condition| condition.at);
        if job.failing().is_some() && shown.acted_on.is_none_or(|(other, _)| failing_at(job) < failing_at(other)) {
            shown.acted_on = Some((job, findings.recorded.map(|recorded| recorded.index)));
        }
        self.failures.append(&mut findings.failures);
    }

    pub(super) fn is_wanted(&self, job: &'s Job) -> bool {
        let wrapper = self.owners.wrapper(job);
        let labels = [Some(&job.labels), wrapper.map(Wrapper::labels)];
        // What is asked not to be there may be on neither of the two.
        let selected = labels.into_iter().flatten().any(|labels| self.has_labels(labels))
            && !labels.into_iter().flatten().any(|labels| self.are_excluded(labels));
        selected && self.is_asked_for(&self.owners.names_of(job))
    }
}
