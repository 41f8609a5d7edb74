//! What a JobSet's controller decided, read off two revisions that follow each other: it decides once a write.

use anyhow::{Result, bail, ensure};
use serde_json::Value;

use crate::api::{array, condition, has_condition, number, text};
use crate::jobsets::failure_policy::Effect;

/// One decision as it was written.
#[derive(Debug, PartialEq)]
pub(crate) struct Written {
    pub(crate) effect: Effect,
    /// The Job that the controller calls the first failed.
    pub(crate) job: String,
    /// The condition that says so; a restart of one Job has none.
    pub(crate) condition: Option<Said>,
}

/// Reason and message, of a condition or an Event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) reason: String,
    pub(crate) message: String,
}

impl Said {
    pub(crate) fn by(object: &Value) -> Self {
        Self { reason: text(object, "/reason").to_owned(), message: text(object, "/message").to_owned() }
    }

    /// The name in `applying ACTION failure policy action (first failed job: NAME)` and in the sentences of a JobSet's
    /// end, from `pkg/constants` of JobSet.
    pub(crate) fn first_failed_job(&self) -> Option<&str> {
        self.message.split_once("(first failed job: ")?.1.strip_suffix(')')
    }
}

/// Restarts that have counted towards `maxRestarts`: of the JobSet and, behind the gate `RestartJob`, of single Jobs.
pub(crate) fn used(jobset: &Value) -> i64 {
    let singly = array(jobset, "/status/replicatedJobsStatus").iter();
    let singly = singly.flat_map(|status| array(status, "/jobRestartsCountTowardsMax")).filter_map(Value::as_i64);
    number(jobset, "/status/restartsCountTowardsMax") + singly.sum::<i64>()
}

/// How often one Job alone has been restarted.
pub(crate) fn job_restarts(jobset: &Value, replicated_job: &str, index: usize) -> i64 {
    let statuses = array(jobset, "/status/replicatedJobsStatus").iter();
    let status = statuses.filter(|status| text(status, "/name") == replicated_job);
    status.map(|status| number(status, &format!("/jobRestarts/{index}"))).sum()
}

/// The decision between the two, if there is one.
pub(crate) fn between(before: &Value, after: &Value) -> Result<Option<Written>> {
    let counted = match used(after) - used(before) {
        0 => false,
        1 => true,
        more => bail!("restartsCountTowardsMax went up by {more} in one write"),
    };
    let restarts = number(after, "/status/restarts") - number(before, "/status/restarts");
    let jobs = restarted_jobs(before, after);
    let failed = has_condition(after, "Failed") && !has_condition(before, "Failed");
    let written = match (restarts, jobs.as_slice(), failed) {
        (0, [], false) => {
            ensure!(!counted, "a restart was counted, but none was written");
            return Ok(None);
        }
        (1, [], false) => by_condition(after, "RestartingJobSet", Effect::Restart { counted })?,
        (0, [job], false) => Written { effect: Effect::RestartJob { counted }, job: job.clone(), condition: None },
        (0, [], true) => {
            let reason = condition(after, "Failed").map(|failed| text(failed, "/reason")).unwrap_or_default();
            by_condition(after, "Failed", Effect::Fail(end(reason)?))?
        }
        _ => bail!("one write restarted {restarts} times, the Jobs {jobs:?} too, and failed: {failed}"),
    };
    Ok(Some(written))
}

fn by_condition(jobset: &Value, kind: &str, effect: Effect) -> Result<Written> {
    let said = condition(jobset, kind).map(Said::by);
    let Some(job) = said.as_ref().and_then(Said::first_failed_job) else {
        bail!("{effect:?} without a condition {kind} that names the first failed Job: {said:?}");
    };
    Ok(Written { effect, job: job.to_owned(), condition: said.clone() })
}

fn end(reason: &str) -> Result<&'static str> {
    let known = ["FailedJobs", "ReachedMaxRestarts", "FailJobSetFailurePolicyAction"];
    let Some(known) = known.into_iter().find(|known| *known == reason) else {
        bail!("a JobSet failed for a reason that JobSet 0.12 does not have: {reason}");
    };
    Ok(known)
}

/// The names of Jobs whose own counter went up.
fn restarted_jobs(before: &Value, after: &Value) -> Vec<String> {
    let name = text(after, "/metadata/name");
    let mut jobs = Vec::new();
    for status in array(after, "/status/replicatedJobsStatus") {
        let replicated_job = text(status, "/name");
        for (index, restarts) in array(status, "/jobRestarts").iter().enumerate() {
            if restarts.as_i64().unwrap_or_default() > job_restarts(before, replicated_job, index) {
                jobs.push(format!("{name}-{replicated_job}-{index}"));
            }
        }
    }
    jobs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn jobset(status: &Value) -> Value {
        json!({"metadata": {"name": "llama"}, "status": status})
    }

    fn restarting(message: &str) -> Value {
        json!([{"type": "RestartingJobSet", "status": "True", "reason": "FailurePolicy_drain", "message": message}])
    }

    #[test]
    fn a_restart_is_told_by_its_condition() {
        let sentence = "applying RestartJobSet failure policy action (first failed job: llama-slice-1)";
        let after = jobset(&json!({"restarts": 1, "restartsCountTowardsMax": 1, "conditions": restarting(sentence)}));
        let written = between(&jobset(&json!({})), &after).expect("both can be read").expect("a decision");
        assert_eq!((written.effect, written.job.as_str()), (Effect::Restart { counted: true }, "llama-slice-1"));
        let said = written.condition.expect("a restart of all has a condition");
        assert_eq!((said.reason.as_str(), said.first_failed_job()), ("FailurePolicy_drain", Some("llama-slice-1")));
    }

    #[test]
    fn a_restart_of_one_job_is_told_by_its_counter() {
        let status = |restarts: &[i64]| {
            let singly = json!({"name": "slice", "jobRestarts": restarts, "jobRestartsCountTowardsMax": [0, 0]});
            jobset(&json!({"restarts": 3, "replicatedJobsStatus": [singly]}))
        };
        let written = between(&status(&[2, 0]), &status(&[2, 1])).expect("both can be read").expect("a decision");
        assert_eq!((written.effect, written.job.as_str()), (Effect::RestartJob { counted: false }, "llama-slice-1"));
    }

    #[test]
    fn a_missed_revision_is_an_error() {
        let after = jobset(&json!({"restarts": 2, "conditions": restarting("")}));
        assert!(between(&jobset(&json!({})), &after).is_err());
        assert_eq!(between(&after, &after).expect("the same"), None);
    }
}
