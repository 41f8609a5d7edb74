//! Starting again, and from what: a checkpoint is only ever "configured to" be there.

use super::Kubectl;
use super::draft::Advice;
use super::maker::{Hold, Maker, Run};
use super::protect;
use crate::analysis::{Kept, kept_in, of_cron_job_in, of_job_in};
use crate::checkpoint::Answer;
use crate::report::{Evidence, SuggestionKind};
use crate::source::Snapshot;

/// Where a workload keeps checkpoints, of several templates the one that saves.
pub(super) fn kept_by(maker: Maker, snapshot: &Snapshot) -> Option<Kept> {
    let all = match maker {
        Maker::JobSet(story, _) => kept_in(story.job_set, snapshot),
        // Another run is made from the template of now.
        Maker::CronJob(Run { cron_job: Some(cron_job), .. }) => {
            of_cron_job_in(cron_job, snapshot).into_iter().collect()
        }
        Maker::Job(job) | Maker::CronJob(Run { job, .. }) | Maker::Other(job, _) => {
            of_job_in(job, snapshot).into_iter().collect()
        }
    };
    let rank = |kept: &Kept| match kept.checkpoints.saves.answer {
        Answer::Yes => 0,
        Answer::Unknown => 1,
        Answer::No => 2,
    };
    all.into_iter().min_by_key(rank)
}

/// What becomes of the claim that checkpoints are configured to go to when a workload is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stake {
    /// Nothing, as far as is known.
    None,
    /// It goes with the workload, which owns it.
    Owned,
    /// It is being deleted, and goes with the pods.
    Going,
}

/// What is at stake when the workload is deleted.
pub(super) fn stake(maker: Maker, snapshot: &Snapshot) -> Stake {
    match kept_by(maker, snapshot) {
        Some(kept) if kept.is_being_deleted() => Stake::Going,
        Some(kept) if protect::is_owned(maker, &kept, snapshot) => Stake::Owned,
        _ => Stake::None,
    }
}

/// What it takes to start a failed workload again, and what `why` it may help.
pub(super) fn start_again(
    maker: Maker,
    snapshot: &Snapshot,
    evidence: Vec<Evidence>,
    why: &str,
    kubectl: &Kubectl,
) -> Vec<Advice> {
    if let Some(Hold::Deleted(at)) = maker.hold() {
        let why = format!("{why}, but it is being deleted since {at}: save what is still wanted of it");
        return vec![Advice { evidence, ..Advice::new(SuggestionKind::Inspect, why).run(maker.show(kubectl)) }];
    }
    if let Some(run) = maker.later_run() {
        let why = format!("{run}: to start another one now would do its work twice");
        return vec![Advice { evidence, ..Advice::new(SuggestionKind::Wait, why).run(maker.show(kubectl)) }];
    }
    let way = maker.restart(kubectl);
    let with_note = |why: String| if way.note.is_empty() { why } else { format!("{why}; {}", way.note) };
    let from_nothing = |why: String| {
        let advice = Advice::new(SuggestionKind::Restart, with_note(why)).run(way.commands.clone());
        Advice { evidence: evidence.clone(), ..advice }.losing(way.loses.clone())
    };
    let Some(kept) = kept_by(maker, snapshot).filter(|kept| kept.checkpoints.saves.answer == Answer::Yes) else {
        let begins = "it begins anew, as its template shows no place where it saves checkpoints (what an image or a ConfigMap holds \
                      is not seen)";
        return vec![from_nothing(format!("{why}; {begins}"))];
    };
    let place = kept.checkpoints.saves.place.as_deref().unwrap_or("a place that is not told");
    if kept.is_being_deleted() {
        return protect::protect(maker, &kept, snapshot, kubectl).into_iter().collect();
    }
    if kept.durable == Answer::No {
        return vec![from_nothing(format!(
            "{why}; it begins anew: {place}, where it saves, does not outlive its pods ({})",
            kept.why
        ))];
    }
    let mut all: Vec<Advice> = protect::protect(maker, &kept, snapshot, kubectl).into_iter().collect();
    let resumes = match kept.checkpoints.resumes.answer {
        Answer::Yes => "to resume from there".to_owned(),
        Answer::No => format!("not to resume: {}; give it what makes it load first", kept.checkpoints.resumes.why),
        Answer::Unknown => format!("whether it resumes is not told ({})", kept.checkpoints.resumes.why),
    };
    let first = if all.is_empty() { "" } else { "protect the claim first; " };
    let outlives = if kept.durable == Answer::Yes { "" } else { ", which may not outlive its pods" };
    let why = format!("{why}; {first}it is configured to save to {place}{outlives}, and {resumes}");
    let advice = Advice::new(SuggestionKind::ResumeFromCheckpoint, with_note(why)).run(way.commands.clone());
    all.push(with_signs(Advice { evidence, ..advice }, &kept, maker).losing(way.loses.clone()));
    all
}

/// GPU-seconds lost to disruptions from which on it is worth saying that checkpoints would have saved them.
pub(super) const WORTH_SAYING: f64 = 3600.0;

/// Where disruptions cost much and nothing is configured that would let the next attempt go on.
pub(super) fn enable(
    maker: Maker,
    snapshot: &Snapshot,
    gpu_seconds: f64,
    evidence: Vec<Evidence>,
    kubectl: &Kubectl,
) -> Option<Advice> {
    if gpu_seconds < WORTH_SAYING {
        return None;
    }
    let kept = kept_by(maker, snapshot);
    let lacking = match &kept {
        None => "its template shows no sign of checkpoints (what an image or a ConfigMap holds is not seen)".to_owned(),
        Some(kept) if kept.checkpoints.saves.answer == Answer::No => {
            format!("it is configured to save none ({})", kept.checkpoints.saves.why)
        }
        Some(kept) if kept.durable == Answer::No => {
            format!("what it saves does not outlive its pods ({})", kept.why)
        }
        Some(_) => return None,
    };
    let why = format!(
        "{:.1} GPU-h were lost to disruptions, and {lacking}: let it save to a volume or bucket that outlives the pods",
        gpu_seconds / 3600.0
    );
    let advice = Advice::new(SuggestionKind::EnableCheckpoint, why).run(maker.show(kubectl));
    let advice = Advice { evidence, ..advice };
    Some(match &kept {
        Some(kept) => with_signs(advice, kept, maker),
        None => advice,
    })
}

fn with_signs(advice: Advice, kept: &Kept, maker: Maker) -> Advice {
    let signs = kept.checkpoints.signs.iter().take(2);
    signs.fold(advice, |advice, sign| {
        let path = maker.path(&format!("template.{}", sign.path));
        advice.fact(maker.object(), path, sign.value.clone().unwrap_or_else(|| "<from elsewhere>".to_owned()))
    })
}
