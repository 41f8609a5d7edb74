use std::collections::{BTreeMap, BTreeSet};

use super::groups::Linked;
use crate::advice::{MOST_COMMANDS, MOST_EVIDENCE};
use crate::model::Word;
use crate::report::{Group, Safety, Suggestion, SuggestionFact, SuggestionKind, WorkloadRef};

/// A suggestion of one cluster.
struct Member {
    /// Index of the cluster.
    cluster: usize,
    suggestion: Suggestion,
}

/// The suggestions of all clusters, equal ones as one, in the order in which they are told; each of the groups is told
/// which follow from it.
pub(super) fn merge(
    of_clusters: Vec<Vec<Suggestion>>,
    names: &[Word],
    linked: &[Linked],
    groups: &mut [Group],
) -> Vec<Suggestion> {
    let mut first_group: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for (position, (cluster, id)) in
        linked.iter().enumerate().flat_map(|(position, linked)| linked.iter().map(move |link| (position, link)))
    {
        first_group.entry((*cluster, id)).or_insert(position);
    }
    let mut alike: Vec<Vec<Member>> = Vec::new();
    let mut places: BTreeMap<_, usize> = BTreeMap::new();
    for (cluster, suggestions) in of_clusters.into_iter().enumerate() {
        for suggestion in suggestions {
            // A node is one of its cluster, and what is advised is done to it.
            let own = (suggestion.kind == SuggestionKind::ReplaceNode).then_some(cluster);
            let place = *places.entry((suggestion.kind, suggestion.why.clone(), own)).or_insert(alike.len());
            if place == alike.len() {
                alike.push(Vec::new());
            }
            alike[place].push(Member { cluster, suggestion });
        }
    }
    // What must be mended first; of one kind, what is of the first groups. Else the order in which the clusters tell it.
    alike.sort_by_key(|members| {
        let of_group = |member: &Member| first_group.get(&(member.cluster, &*member.suggestion.id)).copied();
        (members[0].suggestion.kind, members.iter().map(|member| of_group(member).unwrap_or(usize::MAX)).min())
    });
    let mut numbers: BTreeMap<(usize, String), usize> = BTreeMap::new();
    for (number, members) in alike.iter().enumerate() {
        numbers.extend(members.iter().map(|member| ((member.cluster, member.suggestion.id.clone()), number)));
    }
    for (group, linked) in groups.iter_mut().zip(linked) {
        let of_group: BTreeSet<usize> = linked.iter().filter_map(|link| numbers.get(link).copied()).collect();
        group.suggestions = of_group.into_iter().map(id).collect();
    }
    alike.into_iter().enumerate().map(|(number, members)| build(id(number), members, names)).collect()
}

fn id(number: usize) -> String {
    format!("s{}", number + 1)
}

fn build(id: String, mut members: Vec<Member>, names: &[Word]) -> Suggestion {
    let all: usize = members.iter().map(|member| member.suggestion.commands.len()).sum();
    let commands = in_turn(members.iter().map(|member| {
        let Suggestion { commands, command_safety, .. } = &member.suggestion;
        commands.iter().cloned().zip(command_safety.iter().copied()).collect()
    }));
    let mut commands: Vec<(String, Safety)> = commands.into_iter().take(MOST_COMMANDS).collect();
    commands.sort_by_key(|(_, safety)| *safety);
    let evidence = in_turn(members.iter_mut().map(|member| {
        let cluster = &names[member.cluster];
        let facts = std::mem::take(&mut member.suggestion.evidence).into_iter();
        facts.map(|fact| SuggestionFact { cluster: Some(cluster.clone()), ..fact }).collect()
    }));
    let workloads: Vec<WorkloadRef> = members
        .iter_mut()
        .flat_map(|member| {
            let cluster = &names[member.cluster];
            let workloads = std::mem::take(&mut member.suggestion.workloads).into_iter();
            workloads.map(|workload| WorkloadRef { cluster: Some(cluster.clone()), ..workload })
        })
        .collect();
    let left_out: usize = members.iter().map(|member| member.suggestion.commands_left_out).sum();
    let loses = members.iter_mut().find_map(|member| member.suggestion.loses.take());
    let first = members.swap_remove(0).suggestion;
    Suggestion {
        id,
        safety: commands.iter().map(|(_, safety)| *safety).max().unwrap_or(Safety::ReadOnly),
        subject: subject(&workloads),
        workloads,
        loses,
        commands_left_out: left_out + all - commands.len(),
        command_safety: commands.iter().map(|(_, safety)| *safety).collect(),
        commands: commands.into_iter().map(|(command, _)| command).collect(),
        evidence: evidence.into_iter().take(MOST_EVIDENCE).collect(),
        ..first
    }
}

/// The first of each, then the second of each, and so on: what one cluster has much of does not hide the others.
fn in_turn<T>(lists: impl Iterator<Item = Vec<T>>) -> Vec<T> {
    let mut all: Vec<(usize, T)> = lists.flat_map(|list| list.into_iter().enumerate()).collect();
    all.sort_by_key(|(turn, _)| *turn);
    all.into_iter().map(|(_, item)| item).collect()
}

/// What a suggestion is for, in words.
fn subject(workloads: &[WorkloadRef]) -> String {
    let place = |workload: &WorkloadRef| workload.cluster.as_ref().map(|it| format!(" in {it}")).unwrap_or_default();
    match workloads {
        [] => String::new(),
        [one] => format!("{one}{}", place(one)),
        [one, other] if one.cluster == other.cluster => format!("{one} and {other}{}", place(other)),
        [one, other] => format!("{one}{} and {other}{}", place(one), place(other)),
        [one, others @ ..] => format!("{one}{} and {} more", place(one), others.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cluster_has_its_turn() {
        assert_eq!(in_turn([vec![1, 2, 3], vec![4], vec![], vec![5, 6]].into_iter()), [1, 4, 5, 2, 6, 3]);
    }
}
