//! What a suggestion rests on and what its commands do, for the formats that have room for it.

use std::fmt::Write as _;

use super::text::one_line;
use crate::report::{Safety, Suggestion, SuggestionFact};

/// `because pod/ns/x status.reason = Evicted`: at most so many facts, and how many more there are.
pub(super) fn because(suggestion: &Suggestion, most: usize) -> Vec<String> {
    let line = |(number, fact): (usize, &SuggestionFact)| reason(if number == 0 { "because" } else { "and" }, fact);
    let mut lines: Vec<String> = suggestion.evidence.iter().take(most).enumerate().map(line).collect();
    if let (Some(last), more @ 1..) = (lines.last_mut(), suggestion.evidence.len().saturating_sub(most)) {
        let _ = write!(last, "; and {more} more: -o json");
    }
    lines
}

/// The first fact alone, where what is known stands on the same page.
pub(super) fn because_first(suggestion: &Suggestion) -> Option<String> {
    Some(reason("because", suggestion.evidence.first()?))
}

fn reason(word: &str, SuggestionFact { fact, cluster }: &SuggestionFact) -> String {
    let place = cluster.as_ref().map(|cluster| format!(" in {cluster}")).unwrap_or_default();
    one_line(&format!("{word} {}{place} {} = {}", fact.object, fact.path, fact.value))
}

/// The commands as they run; before one that does more than to read stands what it does.
pub(super) fn commands(suggestion: &Suggestion) -> impl Iterator<Item = (&'static str, String)> {
    let all = suggestion.commands.iter().zip(&suggestion.command_safety);
    all.map(|(command, safety)| (mark(*safety), one_line(command)))
}

const fn mark(safety: Safety) -> &'static str {
    match safety {
        Safety::ReadOnly => "",
        Safety::Mutating => "changes: ",
        Safety::Destructive => "destroys: ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Evidence, SuggestionKind};

    #[test]
    fn what_is_not_shown_is_counted_and_what_changes_is_marked() {
        let fact = |value: &str| Evidence::new("pod/n/p", "status.reason", value).into();
        let safety = vec![Safety::ReadOnly, Safety::Mutating, Safety::Destructive];
        let suggestion = Suggestion {
            id: "s1".into(),
            kind: SuggestionKind::Inspect,
            safety: Safety::Destructive,
            title: "Inspect".into(),
            subject: "job/x".into(),
            workloads: Vec::new(),
            why: "so".into(),
            loses: None,
            commands: vec!["read".into(), "cordon".into(), "delete\u{1b}[1m".into()],
            commands_left_out: 0,
            command_safety: safety,
            evidence: vec![fact("a\nb"), fact("c"), fact("d")],
        };
        let because_of = |most| because(&suggestion, most).join("|");
        assert_eq!(because_of(1), "because pod/n/p status.reason = a b; and 2 more: -o json");
        assert_eq!(
            because_of(2),
            "because pod/n/p status.reason = a b|and pod/n/p status.reason = c; and 1 more: -o json"
        );
        assert!(
            !because_of(3).contains("more")
                && because(&Suggestion { evidence: Vec::new(), ..suggestion.clone() }, 2).is_empty()
        );
        let marked: Vec<String> = commands(&suggestion).map(|(mark, command)| format!("{mark}{command}")).collect();
        assert_eq!(marked, ["read", "changes: cordon", "destroys: delete"]);
    }
}
