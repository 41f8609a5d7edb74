use std::collections::{HashMap, HashSet};

use super::Analyst;
use crate::analysis::TornDownBy;
use crate::analysis::job_set::{Material, stories};
use crate::analysis::owner::{Wrapper, job_set_workload};
use crate::model::{Job, JobSet};
use crate::report::WorkloadState;
use crate::request::TargetKind;

impl<'s> Analyst<'s, '_> {
    /// `JobSet`s of which a Job has a label that is asked not to be there.
    fn excluded_job_sets(&self) -> HashSet<*const JobSet> {
        let excluded = self.snapshot.jobs.iter().filter(|job| self.are_excluded(&job.labels));
        let of_job = |job: &'s Job| match self.owners.wrapper(job)? {
            Wrapper::JobSet(job_set) => Some(std::ptr::from_ref(job_set)),
            Wrapper::CronJob(_) => None,
        };
        excluded.filter_map(of_job).collect()
    }

    fn is_wanted_job_set(&self, job_set: &JobSet) -> bool {
        let mut names = vec![(TargetKind::JobSet, &*job_set.name)];
        let owner = job_set.owner.as_ref();
        names.extend(owner.and_then(|owner| Some((TargetKind::of(&owner.group, &owner.kind)?, &*owner.name))));
        self.has_labels(&job_set.labels) && self.is_asked_for(&names)
    }

    /// What became of the `JobSet`s: which rule of their failure policy each failure led to, and the attempts whose Jobs
    /// are gone.
    pub(super) fn tell_job_sets(&mut self) {
        let material = Material {
            snapshot: self.snapshot,
            owners: &self.owners,
            pods: &self.pods_of_job_sets,
            failures: &self.failures,
            evidence: self.evidence,
            now: self.options.now,
        };
        let excluded = self.excluded_job_sets();
        let wanted =
            |job_set: &'s JobSet| self.is_wanted_job_set(job_set) && !excluded.contains(&std::ptr::from_ref(job_set));
        let stories = stories(&material, wanted);
        let mut torn_down: HashMap<*const Job, TornDownBy> = HashMap::new();
        for (index, story) in stories.iter().enumerate() {
            let workload = self.workload(job_set_workload(story.job_set));
            let state = story.state();
            let shown = &mut self.workloads[workload];
            shown.story = Some(index);
            shown.own_state = Some(state);
            let mut lost = story.lost(index, workload);
            if state == WorkloadState::Complete && !self.options.all {
                lost.retain(|failure| self.options.wants(failure));
                let hidden: u64 = lost.iter().map(|failure| u64::from(failure.count)).sum();
                if hidden > 0 {
                    self.completed.0.insert(workload);
                    self.completed.1 += hidden;
                }
            } else {
                shown.notes.extend(story.notes.iter().cloned());
                self.failures.extend(lost);
            }
            for (number, attempt) in story.attempts.iter().enumerate() {
                let job = attempt.decision.as_ref().and_then(|decision| decision.job_in_data);
                self.decided.extend(job.map(|job| (std::ptr::from_ref(job), (index, number))));
            }
            torn_down
                .extend(story.jobs.iter().filter_map(|job| Some((std::ptr::from_ref(*job), story.torn_down_by(job)?))));
        }
        let by_deletion = self.failures.iter_mut().filter(|failure| failure.torn_down == Some(TornDownBy::JobDeleted));
        for failure in by_deletion {
            failure.torn_down =
                failure.job.and_then(|job| torn_down.get(&std::ptr::from_ref(job)).copied()).or(failure.torn_down);
        }
        self.stories = stories;
    }
}
