use super::{Advice, Kubectl};
use crate::analysis::{Analysis, Failure, JobSetStory};
use crate::report::{Class, Evidence, SituationKind, SuggestionKind, WorkloadState};

/// What an attempt calls for whose Jobs are gone: to wait where the controller is at it and can get on, else to look at
/// what remains.
pub(super) fn advice_for(
    analysis: &Analysis,
    story: &JobSetStory,
    failure: &Failure,
    kubectl: &Kubectl,
) -> Option<Advice> {
    let job_set = story.job_set;
    let goes_on = matches!(story.state(), WorkloadState::Running | WorkloadState::Restarting | WorkloadState::Failing);
    // What cannot start does not come right by waiting.
    let is_stuck = |other: &Failure| other.workload == failure.workload && other.class == Class::Pending;
    let is_endless = story.situations.iter().any(|situation| situation.kind == SituationKind::EndlessRestarts);
    if goes_on && (is_endless || analysis.failures.iter().any(is_stuck)) {
        return None;
    }
    let (kind, title, why) = if goes_on {
        let why = format!("the JobSet makes its Jobs anew by itself: {}", story.budget());
        (SuggestionKind::Wait, "Wait", why)
    } else {
        let why = "a restart deleted the Jobs and pods of the attempts before: see what is still known of each";
        (SuggestionKind::Inspect, "Inspect", why.to_owned())
    };
    let target = format!("jobset/{}", job_set.name);
    let command = kubectl.command(&["sigapps", "explain", &target, "-n", &job_set.namespace]);
    let object = format!("jobset/{}/{}", job_set.namespace, job_set.name);
    let mut evidence = vec![Evidence {
        object: object.clone(),
        path: "status.restarts".to_owned(),
        value: job_set.restarts.to_string(),
    }];
    let decision = failure.gone_job().and_then(|gone| story.attempts.get(gone.place.1)?.decision.as_ref());
    evidence.extend(decision.map(|decision| Evidence {
        object,
        path: if decision.recorded_in == "Event" {
            "Event.reason".to_owned()
        } else {
            format!("status.conditions[type={}].reason", decision.recorded_in)
        },
        value: decision.recorded_reason.to_owned(),
    }));
    Some(Advice { kind, title, why, commands: command.into_iter().collect(), evidence })
}
