//! How many retries a Job has left.
//!
//! A Job fails once more pods have failed than `backoffLimit` (`syncJob`, `exceedsBackoffLimit`), an index once it has
//! failed more often than `backoffLimitPerIndex` (`isIndexFailed`), and under `restartPolicy: OnFailure` once the restarts
//! of its pods' containers reach `backoffLimit` (`pastBackoffLimitOnFailure`). So each failure but the last has one retry
//! that follows on it. Source: Kubernetes `pkg/controller/job/job_controller.go` and `indexed_job_utils.go`, the defaults
//! `pkg/apis/batch/v1/defaults.go`.

use crate::model::Job;

/// What a limit still allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Those left when the one that follows on the last failure has begun; `None` where none follows any more.
    pub left: Option<u32>,
    /// The limit.
    pub limit: u32,
}

impl Retries {
    /// After so many failures that count.
    pub const fn after(failures: u32, limit: u32) -> Self {
        Self { left: limit.checked_sub(failures), limit }
    }

    /// After so many restarts of containers under `restartPolicy: OnFailure`. The one that reaches the limit is not waited
    /// for: with the limits 0 and 1 the first restart fails the Job.
    pub const fn after_restarts(restarts: u32, limit: u32) -> Self {
        let most = if limit == 0 { 1 } else { limit };
        let left = if restarts < most { Some(most - 1 - restarts) } else { None };
        Self { left, limit }
    }
}

/// `spec.backoffLimit`, or the API server's default.
pub const fn backoff_limit(limit: Option<u32>, is_per_index: bool) -> u32 {
    match limit {
        Some(limit) => limit,
        None if is_per_index => i32::MAX as u32,
        None => 6,
    }
}

/// Those of a Job as a whole.
pub fn retries_of_job(job: &Job) -> Retries {
    let noted = u32::try_from(job.uncounted_failed.len()).unwrap_or(u32::MAX);
    let limit = backoff_limit(job.backoff_limit, job.backoff_limit_per_index.is_some());
    Retries::after(job.failed.saturating_add(noted), limit)
}

/// Those of an index that had failed so often before its last failure, as far as the Job as a whole has any left; `None`
/// without `backoffLimitPerIndex`.
pub fn retries_of_index(job: &Job, failed_before: u32) -> Option<Retries> {
    let of_index = Retries::after(failed_before.saturating_add(1), job.backoff_limit_per_index?);
    Some(Retries { left: of_index.left.filter(|_| retries_of_job(job).left.is_some()), ..of_index })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_but_the_last_has_a_retry_that_follows_on_it() {
        for (failures, limit, left) in [
            (0, 6, Some(6)),
            (1, 6, Some(5)),
            (6, 6, Some(0)),
            (7, 6, None),
            (1, 1, Some(0)),
            (2, 1, None),
            (1, 0, None),
        ] {
            assert_eq!(Retries::after(failures, limit).left, left, "{failures} of {limit}");
        }
    }

    #[test]
    fn the_restart_that_reaches_the_limit_fails_the_job() {
        for (restarts, limit, left) in [
            (0, 6, Some(5)),
            (5, 6, Some(0)),
            (6, 6, None),
            (0, 1, Some(0)),
            (1, 1, None),
            (0, 0, Some(0)),
            (1, 0, None),
        ] {
            assert_eq!(Retries::after_restarts(restarts, limit).left, left, "{restarts} of {limit}");
        }
    }

    #[test]
    fn the_default_is_the_api_servers() {
        assert_eq!(backoff_limit(None, false), 6);
        assert_eq!(backoff_limit(None, true), 2_147_483_647);
        assert_eq!(backoff_limit(Some(0), true), 0);
    }
}
