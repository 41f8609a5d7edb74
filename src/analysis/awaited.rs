//! Whether what is waited for has come, can still come, or has become impossible: decided by what controllers have
//! written, never by what they will probably write.

use super::{Other, Subject};
use crate::model::{DaemonSet, Deployment, Job, JobSet, LeaderWorkerSet, Sandbox, StatefulSet};
use crate::request::TargetKind;

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Awaited {
    /// Its end, either way.
    Finished,
    /// Its end with success.
    Complete,
    /// Its failure.
    Failed,
    /// That it, or a part of it, is begun anew.
    Restarted,
    /// That all of it is up.
    Ready,
}

/// Whether it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Nothing is decided.
    Open,
    /// It has come; of an end, that it is a good one.
    Came,
    /// It ended in failure; that may be what was waited for.
    Failed,
    /// It ended, or got somewhere, from where it does not come to what was waited for; why.
    Otherwise(&'static str),
}

/// What is taken for decided.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What is waited for.
    pub awaited: Awaited,
    /// Whether a Job is decided as soon as its controller has decided, while pods still end.
    pub early: bool,
    /// What was begun anew before the wait.
    pub restarts: Restarts,
}

/// How often something was begun anew, by what is counted. None of the numbers ever falls while the object lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restarts {
    /// As a whole.
    pub whole: u32,
    /// A part of it.
    pub parts: u32,
    /// Without new pods.
    pub in_place: u32,
}

/// How far it has got, for a person who watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What is counted: `pods`, `jobs`, `groups`.
    pub of: &'static str,
    /// Those that are ready.
    pub ready: u32,
    /// Those that there should be; `None` where it is not told.
    pub wanted: Option<u32>,
    /// Those that ended well.
    pub succeeded: u32,
    /// Those that failed.
    pub failed: u32,
    /// How often it was begun anew.
    pub restarts: u32,
    /// Whether it is suspended or paused: nothing goes on.
    pub stands_still: bool,
}

impl Awaited {
    /// As the command line spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Restarted => "restarted",
            Self::Ready => "ready",
        }
    }

    /// What is waited for where nothing is told: the end of what ends, and that all is up of what serves.
    pub const fn of(kind: TargetKind) -> Self {
        match kind {
            TargetKind::Job | TargetKind::CronJob | TargetKind::JobSet | TargetKind::TrainJob => Self::Finished,
            _ => Self::Ready,
        }
    }

    /// What of a kind can be waited for; nothing of kinds that do not decide anything.
    pub const fn possible(kind: TargetKind) -> &'static [Self] {
        use Awaited::{Complete, Failed, Finished, Ready, Restarted};
        match kind {
            TargetKind::Job | TargetKind::CronJob => &[Finished, Complete, Failed, Ready],
            TargetKind::JobSet => &[Finished, Complete, Failed, Restarted, Ready],
            // Its pods are its JobSet's, which counts the restarts.
            TargetKind::TrainJob => &[Finished, Complete, Failed],
            TargetKind::Sandbox => &[Ready, Finished, Complete, Failed],
            // It fails when it exceeds its deadline, and by nothing else.
            TargetKind::Deployment => &[Ready, Failed],
            TargetKind::LeaderWorkerSet => &[Ready, Restarted],
            // No field says that they have failed: they try for ever.
            TargetKind::StatefulSet | TargetKind::DaemonSet => &[Ready],
            _ => &[],
        }
    }
}

impl Restarts {
    /// All of them.
    pub const fn sum(self) -> u32 {
        self.whole.saturating_add(self.parts).saturating_add(self.in_place)
    }

    const fn have_grown_to(self, now: Self) -> bool {
        now.whole > self.whole || now.parts > self.parts || now.in_place > self.in_place
    }
}

/// How often a `JobSet` was begun anew. What a `LeaderWorkerSet`'s Events tell is added by who reads them.
pub fn restarts(subject: Subject) -> Restarts {
    let Subject::JobSet(it) = subject else { return Restarts::default() };
    Restarts {
        whole: it.restarts,
        parts: it.replicated_jobs_status.iter().flat_map(|status| &status.job_restarts).sum(),
        in_place: it.in_place_attempt.unwrap_or_default(),
    }
}

/// Whether what is waited for has come. `restarts` is how often it was begun anew by now.
pub fn judge(subject: Subject, settings: &Settings, restarts: Restarts) -> Judgement {
    if settings.awaited == Awaited::Restarted && settings.restarts.have_grown_to(restarts) {
        return Judgement::Came;
    }
    match (ended(subject, settings.early), settings.awaited) {
        (Some(End::Failed), Awaited::Restarted) => Judgement::Otherwise("it failed, and was not restarted"),
        (Some(End::Failed), _) => Judgement::Failed,
        (Some(End::Complete), Awaited::Finished | Awaited::Complete) => Judgement::Came,
        (Some(End::Complete), Awaited::Failed) => Judgement::Otherwise("it completed, and did not fail"),
        (Some(End::Complete), Awaited::Restarted) => Judgement::Otherwise("it completed, and was not restarted"),
        (Some(End::Complete), Awaited::Ready) => Judgement::Otherwise("it completed: it is not ready any more"),
        (Some(End::Expired), _) => Judgement::Otherwise("its time was over"),
        (None, Awaited::Ready) if is_ready(subject) => Judgement::Came,
        (None, _) => Judgement::Open,
    }
}

enum End {
    Complete,
    Failed,
    /// It has no pod any more, and neither failed nor completed.
    Expired,
}

fn ended(subject: Subject, early: bool) -> Option<End> {
    match subject {
        Subject::Job(it) => job_ended(it, early),
        Subject::JobSet(it) => job_set_ended(it),
        Subject::Other(Other::TrainJob(it)) => match () {
            () if it.head.is("Failed").is_some() => Some(End::Failed),
            () => it.head.is("Complete").map(|_| End::Complete),
        },
        Subject::Other(Other::Sandbox(it)) => sandbox_ended(it),
        Subject::Other(Other::Deployment(it)) => is_past_deadline(it).then_some(End::Failed),
        _ => None,
    }
}

/// Source: KEP-3998 and KEP-3329: `FailureTarget` and `SuccessCriteriaMet` are the controller's decision; `Failed` and
/// `Complete` follow when all pods have ended.
fn job_ended(it: &Job, early: bool) -> Option<End> {
    let is = |type_| it.condition(type_).is_some();
    if is("Failed") || (early && is("FailureTarget")) {
        Some(End::Failed)
    } else if is("Complete") || (early && is("SuccessCriteriaMet")) {
        Some(End::Complete)
    } else {
        None
    }
}

/// Source: jobset `api/jobset/v1alpha2/jobset_types.go`, `terminalState` and the conditions `Completed` and `Failed`.
fn job_set_ended(it: &JobSet) -> Option<End> {
    let is = |type_: &str| it.conditions.iter().any(|condition| *condition.type_ == *type_ && condition.is_true);
    match it.terminal_state.as_deref() {
        Some("Failed") => Some(End::Failed),
        Some("Completed") => Some(End::Complete),
        _ if is("Failed") => Some(End::Failed),
        _ if is("Completed") => Some(End::Complete),
        _ => None,
    }
}

/// Source: agent-sandbox `controllers/sandbox_controller.go`; before v0.5, the reason and message of `Ready` alone.
fn sandbox_ended(it: &Sandbox) -> Option<End> {
    let unready = it.head.is_not("Ready");
    let reason = unready.map(|ready| &*ready.reason).unwrap_or_default();
    let says_failed = unready.is_some_and(|ready| ready.message.contains("phase: Failed"));
    if reason == "PodFailed" || says_failed || it.head.is("Finished").is_some_and(|told| &*told.reason == "PodFailed") {
        Some(End::Failed)
    } else if reason == "SandboxExpired" {
        Some(End::Expired)
    } else {
        it.head.is("Finished").map(|_| End::Complete)
    }
}

/// Source: kubectl `pkg/polymorphichelpers/rollout_status.go`, here and in what follows.
fn is_past_deadline(it: &Deployment) -> bool {
    it.observed_generation >= it.head.generation
        && it.head.condition("Progressing").is_some_and(|told| &*told.reason == "ProgressDeadlineExceeded")
}

fn is_ready(subject: Subject) -> bool {
    match subject {
        Subject::Job(it) => job_is_ready(it),
        Subject::JobSet(it) => job_set_is_ready(it),
        Subject::Other(Other::Deployment(it)) => deployment_is_ready(it),
        Subject::Other(Other::StatefulSet(it)) => stateful_set_is_ready(it),
        Subject::Other(Other::DaemonSet(it)) => daemon_set_is_ready(it),
        Subject::Other(Other::LeaderWorkerSet(it)) => leader_worker_set_is_ready(it),
        Subject::Other(Other::Sandbox(it)) => !it.suspended && it.head.is("Ready").is_some(),
        _ => false,
    }
}

/// Pods that a Job has at once now: `parallelism`, and no more than are left to do.
fn pods_wanted(it: &Job) -> u32 {
    let parallelism = it.parallelism.unwrap_or(1);
    it.completions.map_or(parallelism, |completions| parallelism.min(completions.saturating_sub(it.succeeded)))
}

fn job_is_ready(it: &Job) -> bool {
    !it.suspend && it.ready > 0 && it.ready >= pods_wanted(it)
}

/// `ready` counts Jobs of which all pods are ready or have succeeded; those that ended are not among them.
fn job_set_is_ready(it: &JobSet) -> bool {
    let is_up = |replicas: u32, name: &str| {
        let status = it.replicated_jobs_status.iter().find(|status| *status.name == *name);
        status.is_some_and(|status| status.ready.saturating_add(status.succeeded) >= replicas)
    };
    let any = it.replicated_jobs_status.iter().any(|status| status.ready > 0);
    !it.suspend && any && it.replicated_jobs.iter().all(|job| is_up(job.replicas, &job.name))
}

fn deployment_is_ready(it: &Deployment) -> bool {
    it.observed_generation >= it.head.generation
        && it.updated >= it.replicas
        && it.pods <= it.updated
        && it.available >= it.updated
}

fn stateful_set_is_ready(it: &StatefulSet) -> bool {
    if it.observed_generation == 0 || it.observed_generation < it.head.generation || it.ready < it.replicas {
        return false;
    }
    // Where nothing is updated by itself, kubectl refuses to tell; that all pods are up is what can be asked.
    if &*it.strategy != "RollingUpdate" {
        return true;
    }
    if it.partition > 0 {
        return it.updated >= it.replicas.saturating_sub(it.partition);
    }
    it.update_revision == it.current_revision
}

fn daemon_set_is_ready(it: &DaemonSet) -> bool {
    let updated = &*it.strategy != "RollingUpdate" || it.updated >= it.desired;
    it.observed_generation >= it.head.generation
        && it.observed_generation > 0
        && updated
        && it.unavailable == 0
        && it.ready >= it.desired
}

/// Source: lws `pkg/controllers/leaderworkerset_controller.go`: `Available` once all groups are ready and of the newest
/// template. It has no observed generation; the groups are counted besides, as the condition may be of the template before.
fn leader_worker_set_is_ready(it: &LeaderWorkerSet) -> bool {
    let updating = it.head.is("UpdateInProgress").is_some();
    it.head.is("Available").is_some() && !updating && it.ready >= it.groups && it.updated >= it.groups
}

/// How far it has got.
pub fn progress(subject: Subject, restarts: Restarts) -> Progress {
    let counted = |of, ready, wanted| Progress { of, ready, wanted: Some(wanted), ..Progress::default() };
    let known = match subject {
        Subject::Job(it) => Progress {
            succeeded: it.succeeded,
            failed: it.failed,
            stands_still: it.suspend,
            ..counted("pods", it.ready, pods_wanted(it))
        },
        Subject::JobSet(it) => {
            let sum =
                |of: fn(&crate::model::ReplicatedJobStatus) -> u32| it.replicated_jobs_status.iter().map(of).sum();
            let wanted = it.replicated_jobs.iter().map(|job| job.replicas).sum();
            Progress {
                succeeded: sum(|status| status.succeeded),
                failed: sum(|status| status.failed),
                stands_still: it.suspend,
                ..counted("jobs", sum(|status| status.ready), wanted)
            }
        }
        Subject::Other(Other::Deployment(it)) => {
            Progress { stands_still: it.paused, ..counted("pods", it.available.min(it.updated), it.replicas) }
        }
        Subject::Other(Other::StatefulSet(it)) => counted("pods", it.ready, it.replicas),
        Subject::Other(Other::DaemonSet(it)) => counted("pods", it.ready, it.desired),
        Subject::Other(Other::LeaderWorkerSet(it)) => counted("groups", it.ready, it.groups),
        Subject::Other(Other::Sandbox(it)) => {
            Progress { stands_still: it.suspended, ..counted("pods", u32::from(it.head.is("Ready").is_some()), 1) }
        }
        Subject::Other(Other::TrainJob(it)) => Progress { stands_still: it.suspend, ..Progress::default() },
        _ => Progress::default(),
    };
    Progress { restarts: restarts.sum(), ..known }
}

impl std::fmt::Display for Progress {
    /// `2 of 4 pods ready, 1 succeeded, 3 failed, 2 restarts, suspended`, as far as there is something to say.
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let mut parts = Vec::new();
        if let Some(wanted) = self.wanted {
            parts.push(format!("{} of {wanted} {} ready", self.ready, self.of));
        }
        for (number, what) in [(self.succeeded, "succeeded"), (self.failed, "failed")] {
            if number > 0 {
                parts.push(format!("{number} {what}"));
            }
        }
        if self.restarts > 0 {
            parts.push(crate::words::counted(self.restarts, "restart"));
        }
        if self.stands_still {
            parts.push("suspended or paused".to_owned());
        }
        f.write_str(&if parts.is_empty() { "not decided yet".to_owned() } else { parts.join(", ") })
    }
}

#[cfg(test)]
mod tests;
