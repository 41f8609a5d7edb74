//! Failures → suggestions: what is safe to do next. Deterministic and from evidence alone; each names the fields it rests
//! on and commands that run as printed. Nothing here changes a cluster.
//!
//! Advice is made for one Job and one cause at a time, for a `JobSet` as a whole, or for a node, so that each sentence holds
//! for every workload it names; equal sentences become one suggestion.

mod case;
mod change;
mod checkpoint;
mod command;
mod disruption;
mod draft;
mod job_set;
mod judge;
mod kubelet;
mod maker;
mod memory;
mod node;
mod others;
mod protect;
mod repeated;
mod retry;
mod teardown;
mod waiting;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

pub use crate::kubectl::Kubectl;

use case::Case;
use command::Command;
use draft::Advice;

use crate::analysis::{Analysis, Failure, Members, Options, Reported, Subject, is_of, report};
use crate::model::{Job, Time};
use crate::report::{Class, Evidence, FailureReport, ReportScope, Suggestion, SuggestionKind};
use crate::request::GroupBy;

/// Equal advice for several Jobs.
struct Merged {
    /// Of the first group that calls for it.
    position: usize,
    advice: Advice,
    /// Commands beyond [`MOST_COMMANDS`].
    left_out: usize,
    /// Indexes in [`Analysis::failures`].
    failures: Vec<u32>,
}

/// Advice, merged where it is equal.
#[derive(Default)]
struct Drafts(BTreeMap<(SuggestionKind, String), Merged>);

/// Commands shown for one suggestion; the workloads may be many.
pub(crate) const MOST_COMMANDS: usize = 3;
/// Evidence shown for one suggestion.
pub(crate) const MOST_EVIDENCE: usize = 6;

/// The report with its suggestions: what must be mended first, what needs no hand last.
pub fn advise(analysis: &Analysis, reported: Reported, kubectl: &Kubectl) -> FailureReport {
    let Reported { mut report, members, by_rule } = reported;
    // First, as it takes most room while it lasts.
    let bad_nodes = node::bad_nodes(analysis, kubectl);
    let outcomes = retry::outcomes(analysis);
    let mut drafts = Drafts::default();
    let by_rule = by_rule.as_ref().unwrap_or(&members);
    for (position, group) in by_rule.iter().enumerate() {
        for failures in by_job(analysis, group) {
            // What a JobSet calls for whose Jobs are gone is told of it as a whole.
            let first = &analysis.failures[failures[0] as usize];
            // Of what was deleted nothing is left to be changed, looked at or waited for.
            if first.gone_job().is_some() || analysis.is_gone(first) {
                continue;
            }
            for advice in Case::new(analysis, &failures, kubectl, &outcomes).advices() {
                drafts.add(position, advice, &failures);
            }
        }
    }
    drafts.add_of_workloads(analysis, by_rule, report.as_of, kubectl);
    for (advice, failures) in bad_nodes {
        let position = position_of(by_rule, &failures);
        drafts.add(position, advice, &failures);
    }
    for (advice, failures) in node::lost_nodes(analysis, kubectl) {
        let position = position_of(by_rule, &failures);
        drafts.add(position, advice, &failures);
    }
    let mut merged: Vec<Merged> = drafts.into_merged();
    merged.sort_by_key(|merged| (merged.advice.kind, merged.position));
    name_alternatives(&mut merged);
    link(&mut report, &members, &merged, analysis.failures.len());
    report.suggestions = (0..).zip(merged).map(|(number, merged)| suggestion(analysis, id(number), merged)).collect();
    report
}

impl Drafts {
    fn into_merged(self) -> Vec<Merged> {
        let with_why = |((_, why), mut merged): (_, Merged)| {
            merged.advice.why = why;
            merged
        };
        self.0.into_iter().map(with_why).collect()
    }

    fn add(&mut self, position: usize, advice: Advice, failures: &[u32]) {
        // The sentence is the key alone until all are there: of thousands of workloads each may have its own.
        let Advice { kind, why, commands, evidence, loses } = advice;
        let all = self.0.entry((kind, why)).or_insert_with(|| {
            let advice = Advice::new(kind, String::new()).losing(loses);
            Merged { position, advice, left_out: 0, failures: Vec::new() }
        });
        all.position = all.position.min(position);
        all.add(commands, evidence, failures);
    }

    /// What workloads call for as a whole.
    fn add_of_workloads(&mut self, analysis: &Analysis, groups: &[Members], now: Option<Time>, kubectl: &Kubectl) {
        let mut failures_of: BTreeMap<usize, (usize, Vec<u32>)> = BTreeMap::new();
        for (position, group) in groups.iter().enumerate() {
            for index in &group.failures {
                let workload = analysis.failures[*index as usize].workload;
                failures_of.entry(workload).or_insert((position, Vec::new())).1.push(*index);
            }
        }
        let ending = teardown::Ending::new(analysis);
        failures_of.retain(|workload, _| !analysis.workloads[*workload].is_gone);
        for (workload, (position, failures)) in failures_of {
            let mut advices = job_set::advices(analysis, workload, &failures, now, kubectl);
            for job in &analysis.workloads[workload].jobs {
                if analysis.workloads[workload].story.is_none() {
                    advices.extend(ending.of_job(analysis, job, now, kubectl));
                    let failed = Some(maker::Maker::of_job(analysis, workload, job)).filter(|maker| maker.has_failed());
                    let kept = failed.and_then(|maker| Some((maker, checkpoint::kept_by(maker, analysis.snapshot)?)));
                    advices.extend(
                        kept.and_then(|(maker, kept)| protect::protect(maker, &kept, analysis.snapshot, kubectl)),
                    );
                }
            }
            advices.extend(enable_checkpoint(analysis, workload, &failures, kubectl));
            advices.extend(others::advices(analysis, workload, &failures, kubectl));
            advices.extend(teardown::of_pods(analysis, workload, now, kubectl));
            // Pods torn down call for nothing, unless it is they that hold all up.
            let own = failures.iter().filter(|index| analysis.failures[**index as usize].class != Class::Collateral);
            let own: Vec<u32> = own.copied().collect();
            for advice in advices {
                self.add(position, advice, if own.is_empty() { &failures } else { &own });
            }
        }
    }
}

/// For a workload that is no `JobSet`: whether disruptions cost what checkpoints would have saved.
fn enable_checkpoint(analysis: &Analysis, workload: usize, failures: &[u32], kubectl: &Kubectl) -> Option<Advice> {
    let workload = &analysis.workloads[workload];
    let disrupted = || {
        failures.iter().map(|index| &analysis.failures[*index as usize]).filter(|failure| failure.ended_by_disruption())
    };
    let lost: f64 = disrupted().filter_map(Failure::gpu_seconds).sum();
    let example = disrupted().find(|failure| failure.job.is_some()).filter(|_| workload.story.is_none())?;
    checkpoint::enable(maker::Maker::of(analysis, example)?, analysis.snapshot, lost, example.evidence(), kubectl)
}

/// Says of a plain restart that it is not to come after one with a change: each of the two starts the workload again.
fn name_alternatives(merged: &mut [Merged]) {
    let (mut changed, mut plain) = (HashSet::new(), Vec::new());
    for (index, Merged { advice, .. }) in merged.iter().enumerate() {
        for command in &advice.commands {
            match command.text.split_once(" '--patch=") {
                Some((restart, _)) => {
                    changed.insert(restart.to_owned());
                }
                None if matches!(advice.kind, SuggestionKind::Restart | SuggestionKind::ResumeFromCheckpoint) => {
                    plain.push((index, command.text.clone()));
                }
                None => {}
            }
        }
    }
    plain.retain(|(_, restart)| changed.contains(restart));
    plain.dedup_by_key(|(index, _)| *index);
    for (index, _) in plain {
        merged[index].advice.why.push_str("; or restart it with the change that is suggested besides, not both");
    }
}

/// The first group that holds one of the failures.
fn position_of(groups: &[Members], failures: &[u32]) -> usize {
    let wanted: BTreeSet<u32> = failures.iter().copied().collect();
    groups.iter().position(|group| group.failures.iter().any(|index| wanted.contains(index))).unwrap_or(groups.len())
}

/// Tells each group which suggestions follow from it.
fn link(report: &mut FailureReport, members: &[Members], merged: &[Merged], failures: usize) {
    let mut group_of: Vec<u32> = vec![u32::MAX; failures];
    for (number, group) in (0..).zip(members) {
        for index in &group.failures {
            group_of[*index as usize] = number;
        }
    }
    let mut numbers: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); members.len()];
    for (number, merged) in (0..).zip(merged) {
        for index in &merged.failures {
            if let Some(of_group) = numbers.get_mut(group_of[*index as usize] as usize) {
                of_group.insert(number);
            }
        }
    }
    for (group, numbers) in report.groups.iter_mut().zip(numbers) {
        group.suggestions = numbers.into_iter().map(id).collect();
    }
}

/// Advice for one subject of an analysis: of the workload that it belongs to, what its own failures call for.
pub fn advise_on(analysis: &Analysis, subject: Subject, now: Option<Time>, kubectl: &Kubectl) -> Vec<Suggestion> {
    let options = Options { now, ..Options::default() };
    let reported = report(analysis, &options, GroupBy::Rule, ReportScope::default());
    let of_subject = |members: &Members| {
        members.failures.iter().any(|failure| is_of(analysis, subject, &analysis.failures[*failure as usize]))
    };
    let own: Vec<bool> = reported.members.iter().map(of_subject).collect();
    let FailureReport { groups, mut suggestions, .. } = advise(analysis, reported, kubectl);
    let wanted: BTreeSet<String> =
        groups.into_iter().zip(own).filter(|(_, own)| *own).flat_map(|(group, _)| group.suggestions).collect();
    // To read the explanation that is being read is no advice.
    let itself = kubectl.command(&["sigapps", "explain", &subject.target().to_string(), "-n", subject.namespace()]);
    for suggestion in &mut suggestions {
        leave_out(suggestion, itself.as_deref());
    }
    suggestions.retain(|suggestion| {
        wanted.contains(&suggestion.id) && (!suggestion.commands.is_empty() || suggestion.kind == SuggestionKind::Wait)
    });
    suggestions
}

/// Takes a command out of a suggestion.
fn leave_out(suggestion: &mut Suggestion, command: Option<&str>) {
    let commands =
        std::mem::take(&mut suggestion.commands).into_iter().zip(std::mem::take(&mut suggestion.command_safety));
    let others = commands.filter(|(other, _)| Some(&**other) != command);
    (suggestion.commands, suggestion.command_safety) = others.unzip();
}

fn id(number: u32) -> String {
    format!("s{}", number + 1)
}

/// A group's failures by Job, in the group's order.
fn by_job(analysis: &Analysis, group: &Members) -> Vec<Vec<u32>> {
    let mut places: HashMap<(usize, Option<*const Job>), usize> = HashMap::new();
    let mut jobs: Vec<Vec<u32>> = Vec::new();
    for &index in &group.failures {
        let failure = &analysis.failures[index as usize];
        let place = *places.entry((failure.workload, failure.job.map(std::ptr::from_ref))).or_insert_with(|| {
            jobs.push(Vec::new());
            jobs.len() - 1
        });
        jobs[place].push(index);
    }
    jobs
}

impl Merged {
    fn add(&mut self, commands: Vec<Command>, evidence: Vec<Evidence>, failures: &[u32]) {
        for command in commands {
            if self.advice.commands.contains(&command) {
                continue;
            }
            if self.advice.commands.len() < MOST_COMMANDS {
                self.advice.commands.push(command);
            } else {
                self.left_out += 1;
            }
        }
        for fact in evidence {
            if self.advice.evidence.len() < MOST_EVIDENCE && !self.advice.evidence.contains(&fact) {
                self.advice.evidence.push(fact);
            }
        }
        self.failures.extend(failures);
    }
}

fn suggestion(analysis: &Analysis, id: String, merged: Merged) -> Suggestion {
    let Merged { mut advice, failures, left_out, .. } = merged;
    // To read comes before to change.
    advice.commands.sort_by_key(|command| command.safety);
    // In the order of the commands: the workload named first is the one whose logs are shown first.
    let mut seen = HashSet::new();
    let mut workloads: Vec<usize> = failures.iter().map(|index| analysis.failures[*index as usize].workload).collect();
    workloads.retain(|workload| seen.insert(*workload));
    let name = |index: &usize| &analysis.workloads[*index].reference;
    let subject = match &workloads[..] {
        [] => String::new(),
        [one] => name(one).to_string(),
        [one, other] => format!("{} and {}", name(one), name(other)),
        [one, others @ ..] => format!("{} and {} more", name(one), others.len()),
    };
    Suggestion {
        id,
        kind: advice.kind,
        safety: advice.safety(),
        title: advice.kind.title().to_owned(),
        subject,
        workloads: workloads.iter().map(|index| name(index).clone()).collect(),
        why: advice.why,
        loses: advice.loses,
        command_safety: advice.commands.iter().map(|command| command.safety).collect(),
        commands: advice.commands.into_iter().map(|command| command.text).collect(),
        commands_left_out: left_out,
        evidence: advice.evidence.into_iter().map(Into::into).collect(),
    }
}
