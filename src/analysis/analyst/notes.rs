use std::collections::BTreeMap;

use super::Analyst;
use crate::report::Class;
use crate::source::Resource;
use crate::words::list_names;

impl Analyst<'_, '_> {
    /// What a reader of the failures must know that no failure tells.
    pub(super) fn note_what_is_beyond(&mut self) {
        self.note_what_was_not_read();
        self.note_other_managers();
    }

    fn note_what_was_not_read(&mut self) {
        for (resource, lost) in [
            (Resource::Pods, "failures whose pods may still be there count as lost"),
            (Resource::Events, "pods torn down with their Job cannot be told from lost ones"),
        ] {
            let gap = if resource == Resource::Pods { !self.evidence.pods } else { !self.evidence.events };
            if gap && self.failures.iter().any(|failure| failure.class == Class::Lost) {
                self.notes.push(format!("{} are not in the data, or not whole: {lost}", resource.name()));
            }
        }
    }

    fn note_other_managers(&mut self) {
        let managed = self.snapshot.jobs.iter().filter(|job| job.managed_by.is_some());
        let mut by_manager: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for job in managed {
            by_manager.entry(job.managed_by.as_deref().unwrap_or_default()).or_default().push(&job.name);
        }
        for (manager, jobs) in by_manager {
            let jobs = list_names(&jobs, 2);
            self.notes.push(format!(
                "managed by {manager}: job/{jobs}; their status is shown as read, their policy is not recomputed"
            ));
        }
    }
}
