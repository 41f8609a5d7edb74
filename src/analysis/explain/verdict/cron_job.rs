//! Of a `CronJob`.

use super::super::Facts;
use crate::model::{CronJob, Job};

pub(super) fn verdict(facts: &Facts, cron_job: &CronJob) -> String {
    let suspended = if cron_job.suspend { "suspended; " } else { "" };
    let success = match cron_job.last_succeeded {
        Some(at) => format!("the last success was{}", facts.ago(Some(at))),
        None if cron_job.last_scheduled.is_none() && facts.jobs.is_empty() => {
            "it has not been scheduled yet".to_owned()
        }
        None => "no run has succeeded yet".to_owned(),
    };
    let blocked = facts.jobs.iter().find(|job| !job.is_finished() && &*cron_job.concurrency_policy == "Forbid");
    let over: Vec<&&Job> = facts.jobs.iter().filter(|job| job.is_finished()).collect();
    let failed = over.iter().filter(|job| job.condition("Failed").is_some()).count();
    let goes_on = match blocked {
        Some(job) => format!("; job/{} is still at it, and no other starts (concurrencyPolicy Forbid)", job.name),
        None if cron_job.suspend => String::new(),
        None => format!("; it runs again by its schedule {}", cron_job.schedule),
    };
    if facts.jobs.is_empty() {
        return format!("{suspended}no run of it is in the data; {success}.");
    }
    if failed == 0 {
        return format!("{suspended}none of the {} runs in the data failed; {success}.", facts.jobs.len());
    }
    let own = facts.own_failures();
    let causes = Facts::causes(&own).map(|causes| format!(": {causes}")).unwrap_or_default();
    let said = Facts::said_by(&own);
    let runs = if failed == over.len() {
        format!("all {failed} finished runs in the data failed")
    } else {
        format!("{failed} of {} finished runs in the data failed", over.len())
    };
    // Older ones are deleted.
    let is_full = failed >= cron_job.failed_history as usize;
    let kept = if is_full {
        format!("; it keeps {} failed, older ones are deleted", cron_job.failed_history)
    } else {
        String::new()
    };
    format!("{suspended}{runs}{causes}{said}{kept}; {success}{goes_on}.")
}
