//! Failures → suggestions: what is safe to do next. Deterministic and from evidence alone; each names the fields it rests
//! on and commands that run as printed. Nothing here changes a cluster.
//!
//! Advice is made for one Job and one cause at a time, so that each sentence holds for every workload it names; equal
//! sentences become one suggestion.

mod command;
mod job_set;
mod judge;
mod retry;

use std::collections::{BTreeMap, BTreeSet, HashMap};

pub use command::Kubectl;

use crate::analysis::{Analysis, Failure, Members, Options, Reported, Subject, exemplar, is_of, report};
use crate::model::{Job, Ordinal, Time};
use crate::report::{Evidence, FailureReport, ReportScope, Safety, Suggestion, SuggestionKind};
use crate::request::GroupBy;

/// Advice for a cause of one Job.
#[derive(Clone, Debug)]
struct Advice {
    kind: SuggestionKind,
    title: &'static str,
    /// Why; equal texts of one kind are one suggestion.
    why: String,
    commands: Vec<String>,
    evidence: Vec<Evidence>,
}

/// Equal advice for several Jobs.
struct Merged {
    advice: Advice,
    /// Indexes in [`Analysis::workloads`].
    workloads: Vec<usize>,
    /// Indexes in [`Analysis::failures`].
    failures: Vec<usize>,
}

/// Commands shown for one suggestion; the workloads may be many.
const MOST_COMMANDS: usize = 3;
/// Evidence shown for one suggestion.
const MOST_EVIDENCE: usize = 6;

/// The report with its suggestions: what must be mended first, what needs no hand last.
pub fn advise(analysis: &Analysis, reported: Reported, kubectl: &Kubectl) -> FailureReport {
    let Reported { mut report, members, by_rule } = reported;
    let mut merged: BTreeMap<(SuggestionKind, String), (usize, Merged)> = BTreeMap::new();
    for (position, group) in by_rule.as_ref().unwrap_or(&members).iter().enumerate() {
        for failures in by_job(analysis, group) {
            let shown: Vec<&Failure> = failures.iter().map(|index| &analysis.failures[*index]).collect();
            let failure = shown[exemplar(&shown)];
            let gone = analysis.decision_of(failure).filter(|_| failure.gone_job().is_some());
            let advice = match gone {
                Some((story, _)) => job_set::advice_for(analysis, story, failure, kubectl),
                None => judge::advice_for(failure, kubectl),
            };
            let Some(advice) = advice else { continue };
            let key = (advice.kind, advice.why.clone());
            let fresh = || Merged { advice: empty(&advice), workloads: Vec::new(), failures: Vec::new() };
            let (_, all) = merged.entry(key).or_insert_with(|| (position, fresh()));
            all.add(advice, failure.workload, failures);
        }
    }
    let mut suggestions: Vec<(usize, Merged)> = merged.into_values().collect();
    suggestions.sort_by_key(|(position, merged)| (merged.advice.kind, *position));
    // By failure, the number of its suggestion; as small as can be, there may be a hundred thousand.
    let mut of_failure: Vec<Option<Ordinal>> = vec![None; analysis.failures.len()];
    for (number, (_, merged)) in (0..).zip(&mut suggestions) {
        for failure in std::mem::take(&mut merged.failures) {
            of_failure[failure] = Some(Ordinal::new(number));
        }
    }
    for (group, members) in report.groups.iter_mut().zip(&members) {
        let numbers: BTreeSet<Ordinal> = members.failures.iter().filter_map(|failure| of_failure[*failure]).collect();
        group.suggestions = numbers.into_iter().map(|number| id(number.get())).collect();
    }
    let suggestions = (0..).zip(suggestions);
    report.suggestions = suggestions.map(|(number, (_, merged))| suggestion(analysis, id(number), merged)).collect();
    report
}

/// Advice for one subject of an analysis: of the workload that it belongs to, what its own failures call for.
pub fn advise_on(analysis: &Analysis, subject: Subject, now: Option<Time>, kubectl: &Kubectl) -> Vec<Suggestion> {
    let options = Options { now, ..Options::default() };
    let reported = report(analysis, &options, GroupBy::Rule, ReportScope::default());
    let of_subject = |members: &Members| {
        members.failures.iter().any(|failure| is_of(analysis, subject, &analysis.failures[*failure]))
    };
    let own: Vec<bool> = reported.members.iter().map(of_subject).collect();
    let FailureReport { groups, mut suggestions, .. } = advise(analysis, reported, kubectl);
    let wanted: BTreeSet<String> =
        groups.into_iter().zip(own).filter(|(_, own)| *own).flat_map(|(group, _)| group.suggestions).collect();
    // To read the explanation that is being read is no advice.
    let itself = kubectl.command(&["sigapps", "explain", &subject.target().to_string(), "-n", subject.namespace()]);
    for suggestion in &mut suggestions {
        suggestion.commands.retain(|command| Some(command) != itself.as_ref());
    }
    suggestions.retain(|suggestion| {
        wanted.contains(&suggestion.id) && (!suggestion.commands.is_empty() || suggestion.kind == SuggestionKind::Wait)
    });
    suggestions
}

fn id(number: u32) -> String {
    format!("s{}", number + 1)
}

/// A group's failures by Job, in the group's order.
fn by_job(analysis: &Analysis, group: &Members) -> Vec<Vec<usize>> {
    let mut places: HashMap<(usize, Option<*const Job>), usize> = HashMap::new();
    let mut jobs: Vec<Vec<usize>> = Vec::new();
    for &index in &group.failures {
        let failure = &analysis.failures[index];
        let place = *places.entry((failure.workload, failure.job.map(std::ptr::from_ref))).or_insert_with(|| {
            jobs.push(Vec::new());
            jobs.len() - 1
        });
        jobs[place].push(index);
    }
    jobs
}

fn empty(advice: &Advice) -> Advice {
    let Advice { kind, title, why, .. } = advice;
    Advice { kind: *kind, title, why: why.clone(), commands: Vec::new(), evidence: Vec::new() }
}

impl Merged {
    fn add(&mut self, advice: Advice, workload: usize, failures: Vec<usize>) {
        let commands = advice.commands.into_iter().filter(|command| !self.advice.commands.contains(command));
        let room = MOST_COMMANDS.saturating_sub(self.advice.commands.len());
        let commands: Vec<String> = commands.take(room).collect();
        self.advice.commands.extend(commands);
        let room = MOST_EVIDENCE.saturating_sub(self.advice.evidence.len());
        self.advice.evidence.extend(advice.evidence.into_iter().take(room));
        self.workloads.push(workload);
        self.failures.extend(failures);
    }
}

fn suggestion(analysis: &Analysis, id: String, merged: Merged) -> Suggestion {
    let Merged { advice: Advice { kind, title, why, commands, evidence }, mut workloads, .. } = merged;
    // In the order of the commands: the workload named first is the one whose logs are shown first.
    let mut seen = std::collections::HashSet::new();
    workloads.retain(|workload| seen.insert(*workload));
    let name = |index: &usize| &analysis.workloads[*index].reference;
    let subject = match &workloads[..] {
        [] => String::new(),
        [one] => name(one).to_string(),
        [one, other] => format!("{} and {}", name(one), name(other)),
        [one, others @ ..] => format!("{} and {} more", name(one), others.len()),
    };
    Suggestion { id, kind, safety: Safety::ReadOnly, title: title.to_owned(), subject, why, commands, evidence }
}
