//! Of a `CronJob`.

use super::super::Facts;
use crate::analysis::standing::{Index, runs_gone};
use crate::model::{CronJob, Job};
use crate::report::SituationKind;

/// Of runs in the data and of those that are gone: `7 of the last 9 runs failed`.
fn of_history(facts: &Facts, (failed, all): (usize, usize), gone: usize, before: &str, success: &str) -> String {
    let own = facts.own_failures();
    let causes = Facts::causes(&own).map(|causes| format!(": {causes}")).unwrap_or_default();
    let said = Facts::said_by(&own);
    let runs = match (failed, all) {
        (0, 1) => "the last run has not failed".to_owned(),
        (1, 1) => "the last run failed".to_owned(),
        (0, all) => format!("none of the last {all} runs failed"),
        (failed, all) if failed == all => format!("all of the last {all} runs failed"),
        (failed, all) => format!("{failed} of the last {all} runs failed"),
    };
    // What is gone may have failed in other ways.
    let left = match all - gone {
        0 => "no Job of them is left".to_owned(),
        1 => format!("1 of them is left to be looked at{causes}{said}"),
        left => format!("{left} of them are left to be looked at{causes}{said}"),
    };
    format!("{before}{runs}; {left}; {success}.")
}

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
    // What keeps runs from starting; runs that are gone are counted below.
    let situations = facts.situations();
    let mut held =
        situations.iter().filter(|told| told.kind != SituationKind::RunsGone && !cron_job.suspend).peekable();
    let is_held = held.peek().is_some();
    let suspended = held.fold(suspended.to_owned(), |all, situation| all + &situation.text + "; ");
    let goes_on = match blocked {
        _ if is_held => String::new(),
        Some(job) => format!("; job/{} is still at it, and no other starts (concurrencyPolicy Forbid)", job.name),
        None if cron_job.suspend => String::new(),
        None => format!("; it runs again by its schedule {}", cron_job.schedule),
    };
    let gone = runs_gone(cron_job, &facts.jobs, &Index::of(facts.analysis.snapshot));
    let gone_failed = gone.iter().filter(|run| run.has_failed).count();
    if !gone.is_empty() {
        return of_history(facts, (failed + gone_failed, over.len() + gone.len()), gone.len(), &suspended, &success);
    }
    if facts.jobs.is_empty() {
        return format!("{suspended}no run of it is in the data; {success}.");
    }
    if failed == 0 {
        let runs = match facts.jobs.len() {
            1 => "the 1 run in the data has not failed".to_owned(),
            runs => format!("none of the {runs} runs in the data failed"),
        };
        return format!("{suspended}{runs}; {success}.");
    }
    let own = facts.own_failures();
    let causes = Facts::causes(&own).map(|causes| format!(": {causes}")).unwrap_or_default();
    let said = Facts::said_by(&own);
    let runs = if over.len() == 1 {
        "the 1 finished run in the data failed".to_owned()
    } else if failed == over.len() {
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
