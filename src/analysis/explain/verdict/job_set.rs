//! Of a `JobSet`.

use super::super::{Facts, Subject, is_of_job};
use crate::analysis::job_set::{Attempt, Decision, JobSetStory, rule_words};
use crate::report::{AttemptOutcome, SituationKind, VerdictTells};

pub(super) fn verdict(facts: &Facts, story: &JobSetStory, who: &str) -> (String, VerdictTells) {
    let job_set = story.job_set;
    // Of its TrainJob it is told under that one's name.
    let own = matches!(facts.subject, Subject::JobSet(_));
    let owner = job_set.owner.as_ref().filter(|_| own);
    let owner = owner.map(|owner| format!(" of {} {}", owner.kind, owner.name)).unwrap_or_default();
    let who = format!("{who}{owner}");
    let Some(last) = story.attempts.last() else {
        return (format!("{who} has no attempt."), VerdictTells::default());
    };
    let restarts = job_set.restarts.saturating_add(job_set.job_restarts().0);
    let before = match restarts {
        0 => String::new(),
        1 => format!(" 1 restart before; {}.", story.budget()),
        more => format!(" {more} restarts before; {}.", story.budget()),
    };
    let budget = restarts > 0;
    match last.outcome {
        AttemptOutcome::Failed => {
            let why = why_it_fails(facts, story, last);
            let text = format!("{who} failed{}: {why}.{before}", facts.ago(last.ended));
            (text, VerdictTells { situation: false, budget })
        }
        AttemptOutcome::Completed => {
            let after = match restarts {
                0 => String::new(),
                1 => " after 1 restart".to_owned(),
                more => format!(" after {more} restarts"),
            };
            (format!("{who} completed{}{after}.", facts.ago(last.ended)), VerdictTells::default())
        }
        _ => {
            let text = format!("{who} {}.{before}", goes_on(facts, story, last));
            (text, VerdictTells { situation: !story.situations.is_empty(), budget })
        }
    }
}

/// What holds it up, or that nothing does.
fn goes_on(facts: &Facts, story: &JobSetStory, last: &Attempt) -> String {
    let cannot = facts.cannot_start();
    // Kueue knows better than its Events why it does not run.
    let queued = facts.held_by_queue().filter(|_| last.outcome == AttemptOutcome::Suspended);
    if let Some(queued) = queued {
        let harmless = if queued.kind == SituationKind::Deactivated { "" } else { "; this is no failure" };
        return format!("has been suspended{}: {}{harmless}", facts.since(queued.since), queued.text);
    }
    if let Some(situation) = story.situations.first() {
        let doing = match last.outcome {
            AttemptOutcome::Suspended => format!("has been suspended{}", facts.since(situation.since)),
            AttemptOutcome::Restarting => format!("has been restarting{}", facts.since(situation.since)),
            _ => "is held up".to_owned(),
        };
        // What keeps the new attempt from running is the answer; how it came to it stands below.
        return match cannot.filter(|_| last.outcome == AttemptOutcome::Restarting && situation.blockers.is_empty()) {
            Some(cannot) => format!("{doing}, and {cannot}; {}", situation.text),
            None => format!("{doing}: {}", situation.text),
        };
    }
    let status = &story.job_set.replicated_jobs_status;
    let ready: u32 = status.iter().map(|status| status.ready.saturating_add(status.succeeded)).sum();
    let wanted: u32 = story.job_set.replicated_jobs.iter().map(|job| job.replicas).sum();
    let cannot = cannot.map(|cannot| format!("; {cannot}")).unwrap_or_default();
    format!("is running, attempt {}, {ready} of {wanted} Jobs ready or succeeded{cannot}", last.number)
}

/// `rule userError (FailJobSet), as container trainer exited 42 "…" in pod x on node-1`.
fn why_it_fails(facts: &Facts, story: &JobSetStory, attempt: &Attempt) -> String {
    let Some(decision) = &attempt.decision else { return "nothing tells why".to_owned() };
    let rule = rule_words(story.job_set, decision);
    if decision.in_place {
        let max = story.job_set.max_restarts().unwrap_or_default();
        return format!(
            "containers were restarted in place more often than maxRestarts {max} allows: {}",
            facts.most_restarted()
        );
    }
    let limit = match decision.recorded_reason {
        "ReachedMaxRestarts" => {
            let max = story.job_set.max_restarts().unwrap_or_default();
            format!("maxRestarts {max} is reached, by {rule}")
        }
        "FailedJobs" => "it has no failure policy, so that its first failed Job fails it".to_owned(),
        _ => rule,
    };
    format!("{limit}: {}", what_failed(facts, decision))
}

impl Facts<'_, '_> {
    /// The container that was restarted in place most often, of those in the data.
    fn most_restarted(&self) -> String {
        let pods = self.analysis.snapshot.pods.iter().filter(|pod| self.jobs.iter().any(|job| is_of_job(pod, job)));
        let restarts = pods.flat_map(|pod| pod.restarts().iter().map(move |restart| (pod, restart)));
        let most = restarts.max_by_key(|(pod, restart)| (restart.count, std::cmp::Reverse(&pod.name)));
        let told = most.map(|(pod, most)| {
            format!(
                "{} of pod {} was, {} times; no Job failed, and no rule was asked",
                most.last.container, pod.name, most.count
            )
        });
        told.unwrap_or_else(|| "no Job failed, and no rule was asked".to_owned())
    }
}

/// What failed, as far as it is known.
fn what_failed(facts: &Facts, decision: &Decision) -> String {
    let node = facts.on_node(decision.node);
    let place = match (decision.pod, decision.job) {
        (Some(pod), _) => format!("in pod {pod}{node}"),
        (None, Some(job)) => format!("in Job {job}"),
        (None, None) => String::new(),
    };
    let said = decision.said.as_deref().and_then(crate::analysis::telling_line);
    let said = said.map(|line| format!(" \"{line}\"")).unwrap_or_default();
    match (decision.container, decision.condition, decision.failure) {
        (Some((container, code)), _, _) => format!("container {container} exited {code}{said} {place}"),
        (None, Some(condition), _) => {
            let reason = decision.reason.as_deref().filter(|reason| *reason != condition);
            let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
            format!("condition {condition}{reason}{said} {place}")
        }
        (None, None, Some((reason, _))) => format!("{reason}{said} {place}"),
        (None, None, None) => format!("a failure whose reason is not known {place}"),
    }
}
