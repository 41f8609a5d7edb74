//! What a person asks about a `JobSet` that does not simply run: what holds it up, and who.

use std::fmt::Write as _;

use super::attempts::Attempt;
use super::{JobSetFacts, is_previous};
use crate::analysis::teardown::blocker;
use crate::analysis::words::telling_line;
use crate::model::{Event, Job, JobSet, Pod, ReplicatedJob, Time, human_duration};
use crate::policy::{FailedJob, job_set_choose};
use crate::report::{AttemptOutcome as Outcome, Blocker, Situation, SituationKind};
use crate::words::list_names;

/// So many attempts that end alike are no accident.
const LOOP: usize = 3;
/// Pods named one by one.
const NAMED: usize = 3;

/// All of them, the most pressing first.
pub(super) fn situations(facts: &JobSetFacts, attempts: &[Attempt]) -> Vec<Situation> {
    let finished = facts.job_set.terminal_state.is_some()
        || ["Failed", "Completed"].iter().any(|type_| facts.job_set.condition(type_).is_some());
    let mut all: Vec<Situation> =
        [managed_elsewhere(facts), deleting(facts), exclusive_placement(facts)].into_iter().flatten().collect();
    if !finished {
        let current = attempts.last().map_or(0, |attempt| attempt.through);
        all.extend(
            [
                endless(facts, attempts),
                teardown(facts, current),
                waiting_for_failed(facts, current),
                creation_refused(facts, current),
                restarting(facts, attempts, current),
                startup_order(facts),
                suspended(facts),
                in_place(facts),
            ]
            .into_iter()
            .flatten(),
        );
    }
    all.sort_by_key(|situation| situation.kind);
    all
}

fn situation(kind: SituationKind, text: String, since: Option<Time>) -> Situation {
    Situation { kind, text, since, blockers: Vec::new(), evidence: Vec::new() }
}

/// Attempts that end alike under an action that no `maxRestarts` bounds. What is not known is not alike.
fn endless(facts: &JobSetFacts, attempts: &[Attempt]) -> Option<Situation> {
    let signature = |attempt: &Attempt| {
        let decision = attempt.decision.as_ref().filter(|decision| !decision.is_disruption())?;
        let replicated = facts.job_set.replicated_job_of(decision.job?)?;
        let (reason, _) = decision.failure?;
        let container = decision.container.map(|(container, code)| (container.to_owned(), code));
        Some((decision.rule, reason.to_owned(), decision.pod_rule, container, replicated.name.clone()))
    };
    let mut decided = attempts.iter().rev().filter(|attempt| attempt.decision.is_some());
    let last = decided.next().filter(|attempt| attempt.counted() == Some(false))?;
    let same = signature(last)?;
    let is_alike = |attempt: &&Attempt| attempt.counted() == Some(false) && signature(attempt).as_ref() == Some(&same);
    let times: Vec<&Attempt> = std::iter::once(last).chain(decided.take_while(is_alike)).collect();
    if times.len() < LOOP {
        return None;
    }
    let decision = last.decision.as_ref()?;
    let action = decision.action.as_ref()?;
    let cause = match (decision.container, decision.failure) {
        (Some((container, code)), _) => format!("{container} exits {code}"),
        (None, Some((reason, _))) => format!("{reason}, exit codes unknown"),
        (None, None) => return None,
    };
    let first = times.last().and_then(|attempt| attempt.started);
    let within = first.zip(last.ended).map(|(first, last)| format!(" within {}", seconds(last.since(first))));
    let text = format!(
        "the last {} attempts ended alike{}: {cause}; {action} has no limit, so that it goes on until somebody ends it",
        times.len(),
        within.unwrap_or_default()
    );
    Some(situation(SituationKind::EndlessRestarts, text, first))
}

/// Jobs of the attempt before are deleted in the foreground: they stay until their pods have ended.
fn teardown(facts: &JobSetFacts, current: u32) -> Option<Situation> {
    let previous: Vec<&Job> =
        facts.there.iter().copied().filter(|job| is_previous(facts.job_set, job, current)).collect();
    let pods: Vec<&Pod> = previous.iter().flat_map(|job| terminating(facts, job)).collect();
    let since = previous.iter().filter_map(|job| job.deletion_requested).min();
    if pods.is_empty() {
        return None;
    }
    let blocking = facts.job_set.failure_policy.as_ref().is_some_and(|p| &*p.restart_strategy == "BlockingRecreate");
    let holds = if blocking {
        "no Job is made anew before all of them have ended (BlockingRecreate)".to_owned()
    } else {
        let names: Vec<&str> = previous.iter().map(|job| &*job.name).collect();
        format!("not made anew before that: {}", list_names(&names, NAMED))
    };
    let blockers = blockers(facts, &pods);
    let text = format!("the restart waits for {}; {holds}", ending(facts, &blockers));
    Some(Situation { blockers, ..situation(SituationKind::TeardownBlocked, text, since) })
}

/// `FailureTarget` without `Failed`: the failure policy looks only at Jobs that have failed.
fn waiting_for_failed(facts: &JobSetFacts, current: u32) -> Option<Situation> {
    let of_now = facts.there.iter().copied().filter(|job| !is_previous(facts.job_set, job, current));
    let waiting: Vec<&Job> = of_now.filter(|job| job.failing().is_some() && !job.is_finished()).collect();
    let first = waiting.iter().min_by_key(|job| job.failing().and_then(|condition| condition.at))?;
    let condition = first.failing()?;
    let pods: Vec<&Pod> = waiting.iter().flat_map(|job| terminating(facts, job)).collect();
    let blockers = blockers(facts, &pods);
    let mut text = format!(
        "job/{} is bound to fail ({}), and waits for {}",
        first.name,
        condition.reason,
        ending(facts, &blockers)
    );
    // Of several, the one whose pods end first decides, and that is not known.
    if let [job] = waiting[..]
        && let Some(then) = what_follows(facts, job)
    {
        let _ = write!(text, "; then {then}");
    }
    Some(Situation { blockers, ..situation(SituationKind::WaitingForFailed, text, condition.at) })
}

/// What the controller does once a Job has failed.
fn what_follows(facts: &JobSetFacts, job: &Job) -> Option<String> {
    let Some(policy) = &facts.job_set.failure_policy else {
        return Some("the JobSet fails, as it has no failure policy".to_owned());
    };
    let condition = job.failing()?;
    let replicated_job = job.replicated_job();
    let failed = FailedJob { replicated_job, reason: &condition.reason, message: &condition.message, at: condition.at };
    let choice = job_set_choose(policy, &[failed])?;
    let rule = choice.rule.map_or("the default", |rule| &*policy.rules[rule].name);
    let is_used_up = choice.action.counts() == Some(true) && facts.job_set.counted_restarts() >= policy.max_restarts;
    Some(if is_used_up {
        format!("the JobSet fails, as maxRestarts {} is reached ({rule}, {})", policy.max_restarts, choice.action)
    } else {
        format!("{rule} ({}) applies", choice.action)
    })
}

/// What `JobSet` could not make, and has not made since.
fn creation_refused(facts: &JobSetFacts, current: u32) -> Option<Situation> {
    let what = |reason: &str| match reason {
        "JobCreationFailed" => Some("a Job"),
        "HeadlessServiceCreationFailed" => Some("its Service"),
        "PVCCreationFailed" => Some("a PersistentVolumeClaim"),
        _ => None,
    };
    // That a Job is there already: one that is still being deleted; it heals by itself.
    let refused = facts.events.iter().filter(|event| !event.message.contains("already exists"));
    let refused = refused.filter_map(|event| Some((event, what(&event.reason)?)));
    let (last, what) = refused.max_by_key(|(event, _)| event.last)?;
    let wanted: u32 = facts.job_set.replicated_jobs.iter().map(|job| job.replicas).sum();
    let of_now = || facts.there.iter().filter(|job| !is_previous(facts.job_set, job, current));
    let there = of_now().count();
    let newest = of_now().filter_map(|job| job.created).max();
    let restarted = facts.events.iter().filter(|event| event.reason.ends_with("FailurePolicyAction"));
    let since_then = newest.max(restarted.filter_map(|event| event.last).max());
    let is_open = u64::from(wanted) > there as u64 && last.last >= since_then;
    let said = telling_line(&last.message).unwrap_or_default();
    let text = format!("{there} of {wanted} Jobs are there; making {what} was refused: {said}");
    is_open.then(|| situation(SituationKind::CreationRefused, text, last.at))
}

fn restarting(facts: &JobSetFacts, attempts: &[Attempt], current: u32) -> Option<Situation> {
    attempts.last().filter(|attempt| attempt.outcome == Outcome::Restarting)?;
    let before = attempts.iter().rev().find(|attempt| attempt.outcome == Outcome::Restarted);
    let decision = before.and_then(|attempt| attempt.decision.as_ref());
    let since = before.and_then(|attempt| attempt.ended);
    let why = decision.map(|decision| {
        let rule = super::rule_words(facts.job_set, decision);
        decision.job.map_or(rule.clone(), |job| format!("{rule} after job/{job}"))
    });
    let wanted: u32 = facts.job_set.replicated_jobs.iter().map(|job| job.replicas).sum();
    let of_now: Vec<&&Job> = facts.there.iter().filter(|job| !is_previous(facts.job_set, job, current)).collect();
    let ready = of_now.iter().filter(|job| is_ready(job)).count();
    let begun = if of_now.is_empty() { "has no Job yet" } else { "is starting" };
    let mut text = format!("attempt {current} {begun}");
    if let Some(why) = why {
        let _ = write!(text, ", by {why}");
    }
    let _ = write!(text, "; {ready} of {wanted} Jobs ready");
    let late: Vec<&str> = of_now.iter().filter(|job| !is_ready(job)).map(|job| &*job.name).collect();
    if !late.is_empty() {
        let _ = write!(text, ", not ready: {}", list_names(&late, NAMED));
    }
    if let Some(why) = of_now.iter().find_map(|job| why_not_ready(facts, job)) {
        let _ = write!(text, " ({why})");
    }
    Some(situation(SituationKind::Restarting, text, since))
}

/// Why a Job is not ready: the first of its pods that cannot start.
fn why_not_ready(facts: &JobSetFacts, job: &Job) -> Option<String> {
    let failures = facts.failures_of.get(&std::ptr::from_ref(job))?;
    failures.iter().find_map(|index| {
        let failure = &facts.failures[*index];
        let waiting = failure.waiting()?;
        Some(format!("pod {}: {}", failure.pod_name()?, waiting.reason))
    })
}

/// As the controller reckons it (`calculateReplicatedJobStatuses`).
fn is_ready(job: &Job) -> bool {
    let parallelism = job.parallelism.unwrap_or(1);
    let pods = job.completions.map_or(parallelism, |completions| completions.min(parallelism));
    job.condition("Complete").is_some() || job.succeeded.saturating_add(job.ready) >= pods
}

fn startup_order(facts: &JobSetFacts) -> Option<Situation> {
    let job_set = facts.job_set;
    if job_set.suspend {
        return None;
    }
    if let Some(condition) = job_set.condition("StartupPolicyInProgress") {
        let waits = job_set.replicated_jobs.iter().find(|job| !has_started(job_set, job))?;
        let text = format!("startupPolicy InOrder: replicated Job {} is not ready, those behind it wait", waits.name);
        return Some(situation(SituationKind::StartupOrder, text, condition.at));
    }
    let has_jobs = |job: &ReplicatedJob| {
        let of = |other: &&Job| job_set.replicated_job_of(&other.name).is_some_and(|of| of.name == job.name);
        facts.there.iter().copied().any(|other| of(&other))
    };
    let waiting = job_set.replicated_jobs.iter().filter(|job| !has_jobs(job));
    let (waits, on, status) = waiting.into_iter().find_map(|job| {
        let unmet = job.depends_on.iter().find(|(on, status)| !has_reached(job_set, on, status))?;
        Some((job, &unmet.0, &unmet.1))
    })?;
    let text = format!("replicated Job {} is not started: it depends on {on} being {status}", waits.name);
    Some(situation(SituationKind::StartupOrder, text, None))
}

fn has_started(job_set: &JobSet, job: &ReplicatedJob) -> bool {
    has_reached(job_set, &job.name, "Ready")
}

/// As the controller reckons it (`dependencyReachedStatus`).
fn has_reached(job_set: &JobSet, name: &str, status: &str) -> bool {
    let replicas = job_set.replicated_jobs.iter().find(|job| *job.name == *name).map_or(0, |job| job.replicas);
    let Some(seen) = job_set.replicated_jobs_status.iter().find(|seen| *seen.name == *name) else { return false };
    match status {
        "Complete" => seen.succeeded == replicas,
        _ => seen.ready + seen.failed + seen.succeeded == replicas,
    }
}

fn suspended(facts: &JobSetFacts) -> Option<Situation> {
    let job_set = facts.job_set;
    if !job_set.suspend {
        return None;
    }
    let since = job_set.condition("Suspended").and_then(|condition| condition.at);
    let queue = job_set.labels.get("kueue.x-k8s.io/queue-name");
    // Kueue writes `Stopped` on what it evicts, with its reason, and suspends it then.
    let of_now = |event: &&&Event| *event.reason == *"Stopped" && event.last >= since.map(|at| at.plus_seconds(-5));
    let stopped = facts.events.iter().filter(of_now).max_by_key(|event| event.last);
    let text = match (queue, stopped) {
        (_, Some(event)) => {
            let told = telling_line(&event.message).unwrap_or_default();
            let deactivated = event.message.to_ascii_lowercase().contains("deactivated");
            let then = if deactivated {
                "it stays so until somebody activates its Workload"
            } else {
                "this is no failure, Kueue resumes it when there is room"
            };
            format!("Kueue has suspended it: {}; {then}", told.trim_end_matches('.'))
        }
        (Some(queue), None) => format!("it is suspended and in queue {queue}: Kueue resumes it when there is room"),
        (None, None) => "it is suspended (spec.suspend)".to_owned(),
    };
    Some(situation(SituationKind::Suspended, text, since))
}

fn exclusive_placement(facts: &JobSetFacts) -> Option<Situation> {
    let violated = |pod: &&&Pod| {
        pod.disruption().is_some_and(|told| told.reason.as_deref() == Some("ExclusivePlacementViolation"))
    };
    let pods: Vec<&str> = facts.pods.values().flatten().filter(violated).map(|pod| &*pod.name).collect();
    let mut pods = pods;
    pods.sort_unstable();
    if pods.is_empty() {
        return None;
    }
    let text = format!(
        "JobSet deleted pods that were not placed with their leader (exclusive placement), which counts as a disruption: {}",
        list_names(&pods, NAMED)
    );
    Some(situation(SituationKind::ExclusivePlacement, text, None))
}

fn in_place(facts: &JobSetFacts) -> Option<Situation> {
    let policy =
        facts.job_set.failure_policy.as_ref().filter(|policy| &*policy.restart_strategy == "InPlaceRestart")?;
    let restarts = facts.pods.values().flatten().flat_map(|pod| pod.restarts());
    let most = restarts.map(|restart| restart.count).max().unwrap_or(0);
    let attempt = facts.job_set.in_place_attempt.unwrap_or(0);
    if attempt == 0 && most == 0 {
        return None;
    }
    let text = format!(
        "containers are restarted in place, attempt {attempt}; the most of any container is {most}, above maxRestarts {} the JobSet fails",
        policy.max_restarts
    );
    Some(situation(SituationKind::InPlaceRestarts, text, None))
}

fn managed_elsewhere(facts: &JobSetFacts) -> Option<Situation> {
    let manager = facts.job_set.managed_by.as_ref()?;
    let text = format!(
        "{manager} manages it: its status is shown as read, its policy is not the built-in controller's to apply"
    );
    Some(situation(SituationKind::ManagedElsewhere, text, None))
}

fn deleting(facts: &JobSetFacts) -> Option<Situation> {
    let since = facts.job_set.deletion_requested?;
    Some(situation(SituationKind::Deleting, "it is being deleted".to_owned(), Some(since)))
}

/// The Job's pods that were asked to end and have not.
fn terminating<'f, 's>(facts: &'f JobSetFacts<'s, '_>, job: &Job) -> impl Iterator<Item = &'s Pod> + use<'f, 's> {
    let pods = facts.pods.get(&std::ptr::from_ref(job)).map(Vec::as_slice).unwrap_or_default();
    pods.iter().copied().filter(|pod| pod.is_terminating())
}

fn blockers(facts: &JobSetFacts, pods: &[&Pod]) -> Vec<Blocker> {
    let mut blockers: Vec<Blocker> = pods.iter().map(|pod| blocker(facts.snapshot, pod)).collect();
    blockers.sort_by(|a, b| (a.since, &a.pod).cmp(&(b.since, &b.pod)));
    blockers
}

/// The pods in words: the first with all that is known of it, the others counted.
fn ending(facts: &JobSetFacts, blockers: &[Blocker]) -> String {
    let Some(first) = blockers.first() else { return "its pods to end".to_owned() };
    let mut text = format!("pod {} to end", first.pod);
    if let Some(name) = &first.node {
        let node = facts.snapshot.node(name);
        let state = match node.map(|node| (node.ready, node.is_silent)) {
            Some((Some(true), _)) => "ready",
            Some((_, true)) => "NOT READY, its kubelet is silent, so that the pod never ends by itself",
            Some((Some(false), _)) => "NOT READY",
            Some((None, _)) | None => "ready or not: unknown",
        };
        let _ = write!(text, " on node {name} ({state})");
    }
    if let Some((now, since)) = facts.now.zip(first.since) {
        let _ = write!(text, ", asked {} ago", seconds(now.since(since)));
    }
    let _ = write!(text, ", grace period {} s", first.grace_seconds);
    if let Some(since) = first.since {
        let until = since.plus_seconds(first.grace_seconds);
        let _ = write!(text, " until {}", Time::from_seconds(until.seconds()));
    }
    if blockers.len() > 1 {
        let _ = write!(text, ", and {} more", blockers.len() - 1);
    }
    text
}

#[allow(clippy::cast_possible_truncation)] // times of this age
fn seconds(seconds: f64) -> String {
    human_duration(seconds as i64)
}
