use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::analysis::{Part, Signature, Telling, asks_otherwise, in_order, of_one_cluster, with_counts};
use crate::model::Word;
use crate::policy::{compress_indexes, expand_indexes};
use crate::report::{Cause, Group, GroupRule};
use crate::request::GroupBy;

/// A group of one cluster.
pub(super) struct Member {
    /// Index of the cluster.
    pub(super) cluster: usize,
    pub(super) group: Group,
    pub(super) part: Part,
}

/// The suggestions that follow from a group: index of the cluster, and id in its report.
pub(super) type Linked = Vec<(usize, String)>;

/// The groups of all clusters in their order, the suggestions of each, and what is to be said of them.
pub(super) fn merge(members: Vec<Member>, names: &[Word], group_by: GroupBy) -> (Vec<Group>, Vec<Linked>, Vec<String>) {
    let mut alike: BTreeMap<String, Vec<Member>> = BTreeMap::new();
    for member in members {
        alike.entry(id(&member, names)).or_default().push(member);
    }
    let mut notes = Vec::new();
    let mut merged: Vec<(Group, Linked)> =
        alike.into_iter().filter_map(|(id, members)| build(id, members, names, group_by, &mut notes)).collect();
    merged.sort_by(|(a, _), (b, _)| in_order(a, b));
    let (groups, linked) = merged.into_iter().unzip();
    (groups, linked, notes)
}

/// Groups of one id are one; of what is an object of its cluster, there is one in each.
fn id(member: &Member, names: &[Word]) -> String {
    let Member { cluster, group, part } = member;
    if part.is_by_object { of_one_cluster(&group.id, &names[*cluster]) } else { group.id.clone() }
}

fn build(
    id: String,
    members: Vec<Member>,
    names: &[Word],
    group_by: GroupBy,
    all_notes: &mut Vec<String>,
) -> Option<(Group, Linked)> {
    let (shown, causes) = telling(&members)?;
    let shown = shown.clone();
    let cause = cause(&shown, &members, causes);
    let (rule, note) = common_rule(&members).unzip();
    let note = note.flatten();
    let is_by_text = members.iter().any(|member| member.part.is_by_text);
    let links = |member: &Member| {
        let cluster = member.cluster;
        member.group.suggestions.iter().map(move |id| (cluster, id.clone())).collect::<Linked>()
    };
    let linked = members.iter().flat_map(links).collect();
    let mut groups = members.into_iter().map(|member| of_cluster(member.group, &names[member.cluster]));
    let mut group = groups.next()?;
    groups.for_each(|other| join(&mut group, other));
    group.workloads.sort();
    group.nodes.sort_by_cached_key(|node| (Reverse(node.failures), node.name.clone(), node.cluster.clone()));
    all_notes.extend(note.clone());
    group.notes.extend(note);
    // Where it is no text, it is made of the failure that stands for all.
    let words = (rule.is_none() || group_by == GroupBy::Cause).then_some(shown.words);
    let group = Group {
        id,
        key: group.key.filter(|_| is_by_text).or(words),
        rule,
        job_set_rule: shown.line.job_set_rule.clone().filter(|_| group_by == GroupBy::Rule),
        cause: Some(cause),
        exemplar: shown.line,
        suggestions: Vec::new(),
        ..group
    };
    Some((group, linked))
}

/// A group with its cluster's name on what other clusters may have, too.
fn of_cluster(mut group: Group, name: &Word) -> Group {
    group.workloads.iter_mut().for_each(|workload| workload.cluster = Some(name.clone()));
    group.nodes.iter_mut().for_each(|node| node.cluster = Some(name.clone()));
    group
}

/// Adds what can be added up.
fn join(all: &mut Group, other: Group) {
    all.class = all.class.filter(|class| other.class == Some(*class));
    all.counted += other.counted;
    all.failures += other.failures;
    all.collateral += other.collateral;
    all.workloads.extend(other.workloads);
    all.nodes.extend(other.nodes);
    all.first_at = all.first_at.into_iter().chain(other.first_at).min();
    all.last_at = all.last_at.max(other.last_at);
    all.gpu_seconds = all.gpu_seconds.into_iter().chain(other.gpu_seconds).reduce(|sum, seconds| sum + seconds);
    all.stands_beside &= other.stands_beside;
    let indexes = [all.indexes.take(), other.indexes];
    let mut indexes = indexes.iter().flatten().flat_map(|indexes| expand_indexes(indexes)).peekable();
    all.indexes = indexes.peek().is_some().then(|| compress_indexes(indexes));
    for note in other.notes {
        if !all.notes.contains(&note) {
            all.notes.push(note);
        }
    }
}

/// The rule that all have in common, and what is to be said where it asks for different things.
fn common_rule(members: &[Member]) -> Option<(GroupRule, Option<String>)> {
    let mut rules = members.iter().map(|member| member.group.rule.as_ref());
    let mut common = rules.next()??.clone();
    let mut note = None;
    for rule in rules {
        let rule = rule?;
        if rule.label != common.label || rule.action != common.action {
            return None;
        }
        if rule.index != common.index {
            common.index = None;
        }
        common.name_source = common.name_source.min(rule.name_source);
        note = note.or_else(|| asks_otherwise(&common, &rule.requirement));
    }
    // Where it is so within one cluster, it is said already.
    Some((common, note.filter(|_| members.iter().all(|member| member.group.notes.is_empty()))))
}

/// The failure that stands for all, as if all were of one cluster, and how many causes there are; `None` of no failures.
fn telling(members: &[Member]) -> Option<(&Telling, usize)> {
    let mut frequency: BTreeMap<&Signature, usize> = BTreeMap::new();
    for (signature, (count, _)) in members.iter().flat_map(|member| &member.part.causes) {
        *frequency.entry(signature).or_default() += count;
    }
    let candidates = members.iter().flat_map(|member| &member.part.causes).map(|(signature, (_, telling))| {
        let mut rank = telling.rank;
        rank.frequency = frequency[signature];
        (rank, Reverse(&telling.line.pod), telling)
    });
    // Of equals the first by name, then that of the first cluster.
    let (_, _, telling) =
        candidates.reduce(|best, next| if (next.0, next.1) > (best.0, best.1) { next } else { best })?;
    Some((telling, frequency.len()))
}

fn cause(shown: &Telling, members: &[Member], causes: usize) -> Cause {
    let mut app_ends: BTreeMap<i32, usize> = BTreeMap::new();
    for (exit_code, count) in members.iter().flat_map(|member| &member.part.app_ends) {
        *app_ends.entry(*exit_code).or_default() += count;
    }
    Cause {
        container: shown.line.container.clone(),
        exit_code: shown.line.exit_code,
        signal: shown.signal.map(str::to_owned),
        reason: shown.line.reason.clone(),
        text: with_counts(shown.text.clone(), shown.app_end, &app_ends, causes),
    }
}
