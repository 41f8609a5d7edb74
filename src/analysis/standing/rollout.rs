//! The versions of a workload's pod template, and what differs between two of them.

use std::cmp::Ordering;

use crate::model::{Revision, TemplateLeaf};
use crate::report::{RolloutReport, TemplateChange};

/// Changes told in a sentence.
const TOLD: usize = 3;

/// What a rollout from one version to another changed.
pub(super) fn between(from: Option<&Revision>, to: Option<&Revision>) -> RolloutReport {
    let name = |revision: Option<&Revision>| revision.map(|revision| revision.head.name.to_string());
    let changes = match (from, to) {
        (Some(from), Some(to)) => changes(&from.template, &to.template),
        _ => Vec::new(),
    };
    RolloutReport {
        from: name(from),
        to: name(to),
        new_pods: None,
        new_ready: None,
        old_pods: None,
        old_ready: None,
        changes,
    }
}

/// Both are in order of their paths.
fn changes(before: &[TemplateLeaf], now: &[TemplateLeaf]) -> Vec<TemplateChange> {
    let (mut before, mut now) = (before.iter().peekable(), now.iter().peekable());
    let mut changes = Vec::new();
    loop {
        let order = match (before.peek(), now.peek()) {
            (Some(one), Some(other)) => one.path.cmp(&other.path),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return changes,
        };
        let old = before.next_if(|_| order != Ordering::Greater);
        let new = now.next_if(|_| order != Ordering::Less);
        if old.map(|leaf| leaf.hash) == new.map(|leaf| leaf.hash) {
            continue;
        }
        let value = |leaf: Option<&TemplateLeaf>| leaf.and_then(|leaf| leaf.value.as_ref()).map(ToString::to_string);
        changes.push(TemplateChange {
            path: old.or(new).map(|leaf| leaf.path.to_string()).unwrap_or_default(),
            from: value(old),
            to: value(new),
            was_there: old.is_some(),
            is_there: new.is_some(),
        });
    }
}

/// `; it changed containers[app].image: app:1 → app:2`, or nothing where that is not known.
pub(super) fn in_words(rollout: &RolloutReport) -> String {
    let told: Vec<String> = rollout.changes.iter().take(TOLD).map(ToString::to_string).collect();
    match rollout.changes.len().saturating_sub(TOLD) {
        _ if told.is_empty() => String::new(),
        0 => format!("; it changed {}", told.join(", ")),
        more => format!("; it changed {} and {more} more", told.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Word;

    fn leaf(path: &str, value: Option<&str>, hash: u64) -> TemplateLeaf {
        TemplateLeaf { path: path.into(), value: value.map(Word::from), hash }
    }

    #[test]
    fn what_changed_is_told_with_values_where_they_can_be_shown() {
        let before = [leaf("args", None, 1), leaf("image", Some("app:1"), 2), leaf("old", Some("x"), 3)];
        let now = [leaf("args", None, 9), leaf("image", Some("app:2"), 8), leaf("new", None, 7)];
        let told: Vec<String> = changes(&before, &now).iter().map(ToString::to_string).collect();
        assert_eq!(told, ["args", "image: app:1 → app:2", "new (new)", "old: x (gone)"]);
        assert_eq!(changes(&before, &before), []);
    }
}
