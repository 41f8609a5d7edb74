//! What a group brings to the same group of another cluster, beyond what is printed of it: owned, so that the snapshot it
//! was made from need not be kept.

use std::collections::BTreeMap;

use super::exemplar::{Rank, exemplar};
use super::group::{app_end, app_ends, cause_words, is_by_object, is_by_text, what_happened};
use super::line::failure_line;
use super::{Analysis, Failure, Reported, cause};
use crate::report::FailureLine;
use crate::request::GroupBy;

/// What a group is put together with others by.
#[derive(Clone, Debug)]
pub struct Part {
    /// It is grouped by an object of its cluster: another's of the same name is another.
    pub is_by_object: bool,
    /// Its key is a text that all of it have in common, and not made of the failure that stands for them.
    pub is_by_text: bool,
    /// By signature, how many failures there are, and the one that stands for them.
    pub causes: BTreeMap<Signature, (usize, Telling)>,
    /// How many apps beside a sidecar that a rule matched ended with which exit code.
    pub app_ends: BTreeMap<i32, usize>,
}

/// What failures died of: container, exit code and reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature(Option<String>, Option<i32>, Option<String>);

/// A failure that stands for others of its signature.
#[derive(Clone, Debug)]
pub struct Telling {
    /// How well, the best last.
    pub rank: Rank,
    /// It.
    pub line: FailureLine,
    /// What happened.
    pub text: String,
    /// The same without its message.
    pub words: String,
    /// The signal its exit code stands for.
    pub signal: Option<&'static str>,
    /// The exit code of the app beside a sidecar that a rule matched.
    pub app_end: Option<i32>,
}

/// One part for each group of a report, in their order.
pub fn parts(analysis: &Analysis, reported: &Reported, group_by: GroupBy) -> Vec<Part> {
    let of_group = |members: &super::Members| {
        let failures = members.failures.iter().map(|index| &analysis.failures[*index as usize]);
        part(analysis, &failures.collect::<Vec<_>>(), group_by)
    };
    reported.members.iter().map(of_group).collect()
}

fn part(analysis: &Analysis, failures: &[&Failure], group_by: GroupBy) -> Part {
    let mut alike: BTreeMap<cause::Signature, Vec<&Failure>> = BTreeMap::new();
    for failure in failures {
        alike.entry(failure.signature()).or_default().push(failure);
    }
    let text = |text: Option<&str>| text.map(str::to_owned);
    let causes = alike.into_iter().map(|(cause::Signature { container, exit_code, reason }, alike)| {
        let told = alike[exemplar(&alike)];
        (Signature(text(container), exit_code, text(reason)), (alike.len(), telling(analysis, told, alike.len())))
    });
    Part {
        is_by_object: failures.iter().any(|failure| is_by_object(failure, group_by)),
        is_by_text: failures.iter().any(|failure| is_by_text(analysis, failure, group_by)),
        causes: causes.collect(),
        app_ends: app_ends(failures.iter().copied()),
    }
}

fn telling(analysis: &Analysis, failure: &Failure, frequency: usize) -> Telling {
    Telling {
        rank: Rank::of(failure, frequency),
        line: failure_line(analysis, failure),
        text: what_happened(failure),
        words: cause_words(failure),
        signal: failure.exit_code().and_then(cause::signal_name),
        app_end: app_end(failure),
    }
}
