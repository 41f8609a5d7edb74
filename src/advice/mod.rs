//! Groups → suggestions: what is safe to do next. Deterministic and from evidence alone; each names the fields it rests
//! on and commands that run as printed. Nothing here changes a cluster.
//!
//! One function a group decides what it calls for; equal advice for several groups becomes one suggestion.

mod command;
mod judge;

use std::collections::BTreeMap;

pub use command::Kubectl;

use crate::analysis::{Analysis, Reported};
use crate::report::{Evidence, FailureReport, Safety, Suggestion, SuggestionKind, WorkloadRef};

/// Advice for one group, before equal ones are put together.
#[derive(Clone, Debug)]
struct Advice {
    kind: SuggestionKind,
    title: &'static str,
    /// Why; equal texts of one kind are one suggestion.
    why: String,
    commands: Vec<String>,
    evidence: Vec<Evidence>,
    /// Indexes in [`Analysis::workloads`].
    workloads: Vec<usize>,
}

/// Commands shown for one suggestion; the workloads may be many.
const MOST_COMMANDS: usize = 3;
/// Evidence shown for one suggestion.
const MOST_EVIDENCE: usize = 6;

/// The report with its suggestions: what must be mended first, what needs no hand last.
pub fn advise(analysis: &Analysis, reported: Reported, kubectl: &Kubectl) -> FailureReport {
    let Reported { mut report, members } = reported;
    let mut order: Vec<(SuggestionKind, usize, String)> = Vec::new();
    let mut merged: BTreeMap<(SuggestionKind, String), (Advice, Vec<usize>)> = BTreeMap::new();
    for (position, (group, members)) in report.groups.iter().zip(&members).enumerate() {
        let Some(advice) = judge::advice_for(analysis, group, members, kubectl) else { continue };
        let key = (advice.kind, advice.why.clone());
        match merged.get_mut(&key) {
            None => {
                order.push((advice.kind, position, advice.why.clone()));
                merged.insert(key, (advice, vec![position]));
            }
            Some((known, positions)) => {
                known.commands.extend(advice.commands);
                known.evidence.extend(advice.evidence);
                known.workloads.extend(advice.workloads);
                positions.push(position);
            }
        }
    }
    order.sort();
    for (number, (kind, _, why)) in order.into_iter().enumerate() {
        let Some((advice, positions)) = merged.remove(&(kind, why)) else { continue };
        let id = format!("s{}", number + 1);
        for position in positions {
            report.groups[position].suggestions.push(id.clone());
        }
        report.suggestions.push(suggestion(analysis, id, advice));
    }
    report
}

fn suggestion(analysis: &Analysis, id: String, advice: Advice) -> Suggestion {
    let Advice { kind, title, why, mut commands, mut evidence, mut workloads } = advice;
    let mut seen = std::collections::HashSet::new();
    commands.retain(|command| seen.insert(command.clone()));
    commands.truncate(MOST_COMMANDS);
    evidence.dedup();
    evidence.truncate(MOST_EVIDENCE);
    let reference = |index: &usize| &analysis.workloads[*index].reference;
    workloads.sort_by_key(reference);
    workloads.dedup();
    let name = |index: &usize| {
        let WorkloadRef { kind, name, .. } = reference(index);
        format!("{}/{name}", kind.to_ascii_lowercase())
    };
    let subject = match &workloads[..] {
        [] => String::new(),
        [one] => name(one),
        [one, other] => format!("{} and {}", name(one), name(other)),
        [one, others @ ..] => format!("{} and {} more", name(one), others.len()),
    };
    Suggestion { id, kind, safety: Safety::ReadOnly, title: title.to_owned(), subject, why, commands, evidence }
}
