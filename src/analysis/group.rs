use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use super::cause::{Signature, signal_name};
use super::exemplar::exemplar;
use super::job_set::{Attempt, JobSetStory, job_set_rule, rule_label};
use super::line::failure_line;
use super::words::{telling_line, total};
use super::{Analysis, Failure};
use crate::model::{Job, JobSetAction, Time, Word};
use crate::policy::{NameSource, compress_indexes, requirement};
use crate::report::{AttemptOutcome, Cause, Class, Group, GroupNode, GroupRule, NodeShare};
use crate::request::GroupBy;

/// The failures that a group is made of.
#[derive(Clone, Debug)]
pub struct Members {
    /// Indexes in [`Analysis::failures`].
    pub failures: Vec<u32>,
}

pub(super) type Grouped = (Group, Members);

/// What failures are grouped by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key<'a> {
    class: Option<Class>,
    /// Of a `JobSet`: rule and action of its failure policy, and the Job's reason.
    led_to: Option<(&'a str, &'a str, &'a str)>,
    rule: Option<(Cow<'a, str>, &'a str)>,
    signature: Signature<'a>,
    text: Option<Cow<'a, str>>,
}

impl Key<'_> {
    /// The key in one text, from which the group's id is made. Its form must not change: ids are kept by scripts.
    fn spelled(&self, group_by: GroupBy) -> String {
        let by = group_by.name();
        let (label, action) = self.rule.as_ref().map_or(("", ""), |(label, action)| (label, action));
        let exit_code = self.signature.exit_code.map_or_else(String::new, |code| code.to_string());
        let class = self.class.map_or("", Class::name);
        let Signature { container, reason, .. } = self.signature;
        let text = self.text.as_deref();
        let parts =
            [by, class, label, action, container.unwrap_or(""), &exit_code, reason.unwrap_or(""), text.unwrap_or("")];
        let mut spelled = parts.join("\u{1f}");
        if let Some((label, action, reason)) = self.led_to {
            let _ = write!(spelled, "\u{1f}{label}\u{1f}{action}\u{1f}{reason}");
        }
        spelled
    }

    fn id(&self, group_by: GroupBy) -> String {
        format!("{:016x}", stable_hash(&self.spelled(group_by)))
    }
}

/// The id of the group that a failure is in.
pub(super) fn group_id(analysis: &Analysis, failure: &Failure, group_by: GroupBy) -> String {
    key(analysis, failure, group_by).id(group_by)
}

/// The id of a group that is of an object in one of several clusters: others may have a namesake.
pub fn of_one_cluster(id: &str, cluster: &str) -> String {
    format!("{:016x}", stable_hash(&format!("{id}\u{1f}{cluster}")))
}

/// Puts the failures into groups, most costly and most recent first.
pub(super) fn group(analysis: &Analysis, group_by: GroupBy) -> Vec<Grouped> {
    let mut members: HashMap<Key, Vec<u32>> = HashMap::new();
    for (index, failure) in (0..).zip(&analysis.failures) {
        members.entry(key(analysis, failure, group_by)).or_default().push(index);
    }
    let mut groups: Vec<Grouped> =
        members.into_iter().map(|(key, members)| build(analysis, &key, members, group_by)).collect();
    if group_by == GroupBy::Node {
        super::node_share::add(analysis, &mut groups);
    }
    groups.sort_by(|(a, _), (b, _)| in_order(a, b));
    // Elsewhere the pods torn down stand in the same group as what tore them down.
    if group_by == GroupBy::Rule {
        attribute_collateral(analysis, &mut groups);
    }
    groups
}

/// The order of groups: most costly and most recent first.
pub fn in_order(a: &Group, b: &Group) -> Ordering {
    let order = |group: &Group| {
        let spent = group.gpu_seconds.unwrap_or(0.0).max(0.0);
        // Accelerator-seconds below one are noise of the clock; whole numbers order alike everywhere.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // not negative
        let spent = spent as u64;
        (Reverse(spent), Reverse(group.last_at), Reverse(group.failures))
    };
    // Nodes by how far what failed on them is beyond their share of the pods.
    let beyond = |group: &Group| group.node.as_ref().map_or(0.0, NodeShare::beyond);
    let nodes = beyond(b).total_cmp(&beyond(a));
    nodes.then_with(|| order(a).cmp(&order(b))).then_with(|| a.id.cmp(&b.id))
}

fn key<'a>(analysis: &'a Analysis, failure: &'a Failure, group_by: GroupBy) -> Key<'a> {
    let none = Key { class: None, led_to: None, rule: None, signature: Signature::default(), text: None };
    let workload = &analysis.workloads[failure.workload].reference;
    match group_by {
        GroupBy::Rule => key_by_rule(analysis, failure),
        GroupBy::Cause => Key { signature: failure.signature(), ..none },
        GroupBy::Reason => Key { text: Some(failure.reason().unwrap_or("(no reason)").into()), ..none },
        GroupBy::Namespace => Key { text: Some(failure.namespace().into()), ..none },
        GroupBy::Workload => Key { text: Some(format!("{}/{workload}", workload.namespace).into()), ..none },
        GroupBy::Node => {
            let node = failure.node();
            Key { text: Some(node.map_or("(no node)", |node| &**node).into()), ..none }
        }
    }
}

fn key_by_rule<'a>(analysis: &'a Analysis, failure: &'a Failure) -> Key<'a> {
    let led_to = analysis.decision_of(failure).map(|(story, attempt)| led_to(story, attempt));
    let mut key = Key { class: Some(failure.class), led_to, rule: None, signature: Signature::default(), text: None };
    match failure.class {
        Class::Rule => key.rule = rule_key(analysis, failure),
        Class::NoRule | Class::NoPolicy | Class::NoJob | Class::Unknown | Class::Restarting => {
            key.signature = failure.signature();
        }
        Class::NotReady => {
            let reason = failure.reason().unwrap_or("(no reason)");
            // A node that is gone is one finding, whatever ran there.
            key.text =
                Some(lost_node(failure).map_or_else(|| reason.into(), |node| format!("{reason}, {node}").into()));
        }
        Class::Unmatchable | Class::Pending | Class::JobLevel | Class::WorkloadLevel => {
            key.text = Some(failure.reason().unwrap_or("(no reason)").into());
        }
        Class::Collateral => key.text = failure.torn_down.map(|by| by.name().into()),
        Class::Lost => {
            key.rule = rule_key(analysis, failure);
            let reason = failure.reason().unwrap_or("(no reason)");
            let in_place = failure.job.is_some_and(|job| job.restarts_in_place);
            key.text = Some(if in_place { format!("{reason}, OnFailure").into() } else { reason.into() });
        }
    }
    key
}

/// The node that a failure is told of, where that is gone.
fn lost_node<'a>(failure: &'a Failure) -> Option<&'a Word> {
    failure.node().filter(|_| failure.class == Class::NotReady && failure.reason() == Some("NodeNotReady"))
}

/// Whether what a failure is grouped by is an object of its cluster, which another cluster may only have a namesake of.
pub(super) fn is_by_object(failure: &Failure, group_by: GroupBy) -> bool {
    match group_by {
        GroupBy::Node | GroupBy::Workload | GroupBy::Namespace => true,
        GroupBy::Rule => lost_node(failure).is_some(),
        GroupBy::Cause | GroupBy::Reason => false,
    }
}

/// Whether what a failure is grouped by is told by one text, and not by how it failed.
pub(super) fn is_by_text(analysis: &Analysis, failure: &Failure, group_by: GroupBy) -> bool {
    key(analysis, failure, group_by).text.is_some()
}

/// The rule of a `JobSet`'s failure policy that a failure led to, its action, and the Job's reason.
fn led_to<'a>(story: &'a JobSetStory, attempt: &'a Attempt) -> (&'a str, &'a str, &'a str) {
    let Some(decision) = &attempt.decision else { return ("(unknown)", "", "") };
    let failed = Some(decision.recorded_reason).filter(|_| attempt.outcome == AttemptOutcome::Failed);
    let action = failed.or(decision.action.as_ref().map(JobSetAction::name)).unwrap_or_default();
    (rule_label(story.job_set, decision), action, decision.failure.map_or("", |(reason, _)| reason))
}

fn rule_key<'a>(analysis: &'a Analysis, failure: &'a Failure) -> Option<(Cow<'a, str>, &'a str)> {
    let hit = failure.rule?;
    Some((analysis.label_of(failure, hit.index())?.label, hit.action.name()))
}

fn build(analysis: &Analysis, key: &Key, members: Vec<u32>, group_by: GroupBy) -> Grouped {
    let failures: Vec<&Failure> = members.iter().map(|index| &analysis.failures[*index as usize]).collect();
    let shown = failures[exemplar(&failures)];
    let mut notes = Vec::new();
    let rule = common_rule(analysis, &failures, &mut notes);
    let same_class = failures.iter().all(|failure| failure.class == shown.class);
    let count: u64 = failures.iter().map(|failure| u64::from(failure.count)).sum();
    let counted = failures.iter().filter(|failure| failure.counted == Some(true));
    let spent: Vec<f64> = failures.iter().filter_map(|failure| failure.gpu_seconds()).collect();
    let indexes: HashSet<u32> = failures.iter().filter_map(|failure| Some(failure.pod?.index?.get())).collect();
    let times: Vec<Time> = failures.iter().filter_map(|failure| failure.at()).collect();
    let mut workloads: Vec<usize> = failures.iter().map(|failure| failure.workload).collect();
    workloads.sort_unstable();
    workloads.dedup();
    workloads.sort_by_key(|index| &analysis.workloads[*index].reference);
    if shown.class == Class::Unknown && shown.job.is_none() {
        notes.push("their Jobs are not in the data: which rules hold for them is not known".to_owned());
    }
    let decision = analysis.decision_of(shown).filter(|_| group_by == GroupBy::Rule);
    let key_text = key.text.as_deref().map(str::to_owned);
    let group = Group {
        id: key.id(group_by),
        class: same_class.then_some(shown.class),
        key: key_text.or_else(|| (rule.is_none() || group_by == GroupBy::Cause).then(|| cause_words(shown))),
        rule,
        job_set_rule: decision.map(|(story, attempt)| job_set_rule(story, attempt)),
        cause: Some(cause(&failures, shown)),
        counted: counted.map(|failure| u64::from(failure.count)).sum(),
        failures: count,
        workloads: workloads.iter().map(|index| analysis.workloads[*index].reference.clone()).collect(),
        indexes: (!indexes.is_empty()).then(|| compress_indexes(indexes)),
        nodes: nodes(analysis, &failures),
        node: None,
        first_at: times.iter().min().copied(),
        last_at: times.iter().max().copied(),
        gpu_seconds: (!spent.is_empty()).then(|| total(spent.iter().copied())),
        collateral: 0,
        exemplar: failure_line(analysis, shown),
        suggestions: Vec::new(),
        notes,
        novelty: None,
        stands_beside: false,
    };
    (group, Members { failures: members })
}

fn common_rule(analysis: &Analysis, failures: &[&Failure], notes: &mut Vec<String>) -> Option<GroupRule> {
    let mut common: Option<GroupRule> = None;
    let mut policies: HashSet<(*const crate::model::PodFailurePolicy, usize)> = HashSet::new();
    for failure in failures {
        let hit = failure.rule?;
        let policy = failure.policy()?;
        if !policies.insert((std::sync::Arc::as_ptr(policy), hit.index())) {
            continue;
        }
        let rule = policy.rules.get(hit.index())?;
        let called = analysis.label_of(failure, hit.index())?;
        let asked = requirement(rule);
        match &mut common {
            None => {
                common = Some(GroupRule {
                    name: (called.source != NameSource::Derived).then(|| called.label.to_string()),
                    label: called.label.into_owned(),
                    name_source: called.source,
                    index: Some(hit.index()),
                    action: hit.action.to_string(),
                    requirement: asked,
                });
            }
            Some(known) if *known.label != *called.label || known.action != hit.action.name() => return None,
            Some(known) => {
                if known.index != Some(hit.index()) {
                    known.index = None;
                }
                known.name_source = known.name_source.min(called.source);
                let note = asks_otherwise(known, &asked);
                notes.extend(note.filter(|_| notes.is_empty()));
            }
        }
    }
    common
}

/// Said of a rule where another of the same name asks for something else.
pub fn asks_otherwise(rule: &GroupRule, asked: &str) -> Option<String> {
    (rule.requirement != asked)
        .then(|| format!("rules called {} ask for different things: {} and {asked}", rule.label, rule.requirement))
}

fn nodes(analysis: &Analysis, failures: &[&Failure]) -> Vec<GroupNode> {
    // Sorted and not counted in a map: there may be as many nodes as failures.
    let mut names: Vec<&Word> = failures.iter().filter_map(|failure| failure.node()).collect();
    names.sort_unstable();
    let on_one = names.chunk_by(|a, b| a == b);
    let mut nodes: Vec<GroupNode> = on_one
        .map(|on_it| GroupNode {
            name: on_it[0].clone(),
            cluster: None,
            failures: u32::try_from(on_it.len()).unwrap_or(u32::MAX),
            ready: analysis.snapshot.node(on_it[0]).and_then(|node| node.ready),
        })
        .collect();
    nodes.sort_unstable_by(|a, b| b.failures.cmp(&a.failures).then_with(|| a.name.cmp(&b.name)));
    nodes
}

fn cause(failures: &[&Failure], shown: &Failure) -> Cause {
    let causes: HashSet<Signature> = failures.iter().map(|failure| failure.signature()).collect();
    let app_ends = app_ends(failures.iter().copied());
    let text = with_counts(what_happened(shown), app_end(shown), &app_ends, causes.len());
    Cause {
        container: shown.container().map(str::to_owned),
        exit_code: shown.exit_code(),
        signal: shown.exit_code().and_then(signal_name).map(str::to_owned),
        reason: shown.reason().map(str::to_owned),
        text,
    }
}

/// The exit code of the app beside a sidecar that a rule matched.
pub(super) fn app_end(failure: &Failure) -> Option<i32> {
    Some(failure.sidecar_hit()?.app?.exit_code)
}

/// How many of these apps there are by their exit code.
pub(super) fn app_ends<'a>(failures: impl Iterator<Item = &'a Failure<'a>>) -> BTreeMap<i32, usize> {
    let mut ends = BTreeMap::new();
    for exit_code in failures.filter_map(app_end) {
        *ends.entry(exit_code).or_default() += 1;
    }
    ends
}

/// What happened in one failure, with how many others it stands for and how many causes there are.
pub fn with_counts(mut text: String, app_end: Option<i32>, app_ends: &BTreeMap<i32, usize>, causes: usize) -> String {
    let all: usize = app_ends.values().sum();
    let same = app_end.and_then(|exit_code| app_ends.get(&exit_code).copied());
    if let Some(same) = same.filter(|same| *same < all) {
        let _ = write!(text, " ({same} of {all})");
    }
    match causes.saturating_sub(1) {
        0 => {}
        1 => text.push_str("; 1 other cause"),
        more => {
            let _ = write!(text, "; {more} other causes");
        }
    }
    text
}

/// What happened, in one line: the cause and the line of the message that tells most.
pub(super) fn what_happened(failure: &Failure) -> String {
    if let Some(sidecar) = failure.sidecar_hit() {
        let app = sidecar
            .app
            .map_or("the app has not ended".to_owned(), |app| format!("{} exited {}", app.container, app.exit_code));
        let then = match sidecar.instead {
            Some((index, action)) => format!("rule {index} {action} is never reached"),
            None => "no rule is meant for that".to_owned(),
        };
        return format!("sidecar trap: {app}, {then}");
    }
    let words = cause_words(failure);
    match failure.told.as_ref().and_then(|told| told.gone.as_deref()) {
        Some(gone) => return format!("{words}: {gone}"),
        None if failure.class == Class::Collateral => return words,
        None => {}
    }
    match failure.message().and_then(telling_line) {
        Some(line) => format!("{words}: {}", line.strip_prefix("Pod was rejected: ").unwrap_or(line)),
        None => words,
    }
}

/// The cause without its message: `OOMKilled (resize)`, `exit 1 (eval)`, `exit 137 SIGKILL, sender unknown (app)`,
/// `EvictionByEvictionAPI`, `ImagePullBackOff (app)`.
pub(super) fn cause_words(failure: &Failure) -> String {
    if failure.class == Class::Collateral {
        return failure.torn_down.map_or_else(String::new, |by| format!("torn down: {by}"));
    }
    let container = failure.container().map(|container| format!(" ({container})")).unwrap_or_default();
    let reason = failure.reason();
    let by_itself = reason.filter(|reason| !matches!(*reason, "Error" | "Completed"));
    let told_only = failure.pod.is_none() && failure.exit_code().is_none();
    // The kubelet's stand-in for an end it did not see is no exit code of the container's own.
    let says_it_all = matches!(by_itself, Some("OOMKilled" | "ContainerStatusUnknown"));
    let words = match (by_itself, failure.exit_code().filter(|_| !says_it_all)) {
        (Some(reason), _) if failure.is_disrupted() || told_only => reason.to_owned(),
        (Some(reason), None) => format!("{reason}{container}"),
        (Some(reason), Some(code)) => format!("{reason}, exit {code}{container}"),
        (None, Some(code)) => match signal_name(code) {
            Some("SIGKILL") => format!("exit {code} SIGKILL, sender unknown{container}"),
            Some(signal) => format!("exit {code} {signal}{container}"),
            None => format!("exit {code}{container}"),
        },
        (None, None) => "no reason given".to_owned(),
    };
    match failure.restart() {
        Some(restart) => {
            let held = if restart.backing_off { ", CrashLoopBackOff" } else { "" };
            format!("{words}, restarts: {}{held}", restart.count)
        }
        None => words,
    }
}

/// Adds the pods torn down with a Job to the group of the failure that failed it: the one the controller names, else the
/// Job's own, else its first.
fn attribute_collateral(analysis: &Analysis, groups: &mut [Grouped]) {
    let mut culprit: HashMap<*const Job, ((u8, Option<Time>), usize)> = HashMap::new();
    for (group, (_, members)) in groups.iter().enumerate() {
        for failure in members.failures.iter().map(|index| &analysis.failures[*index as usize]) {
            let Some(job) = failure.job.filter(|_| failure.class != Class::Collateral) else { continue };
            let named = job.failing().and_then(|condition| crate::policy::parse_message(&condition.message));
            let is_named = named.is_some_and(|decision| Some(decision.pod) == failure.pod_name());
            let rank = match failure.class {
                _ if is_named => 0,
                Class::JobLevel => 1,
                Class::Rule | Class::NoRule | Class::NoPolicy | Class::Unmatchable => 2,
                _ => 3,
            };
            let candidate = ((rank, failure.at()), group);
            let best = culprit.entry(job).or_insert(candidate);
            *best = (*best).min(candidate);
        }
    }
    for place in 0..groups.len() {
        if groups[place].0.class != Some(Class::Collateral) {
            continue;
        }
        let mut stands_beside = true;
        for index in groups[place].1.failures.clone() {
            let failure = &analysis.failures[index as usize];
            match failure.job.and_then(|job| culprit.get(&std::ptr::from_ref(job))) {
                Some((_, group)) => groups[*group].0.collateral += u64::from(failure.count),
                None => stands_beside = false,
            }
        }
        groups[place].0.stands_beside = stands_beside;
    }
}

/// FNV-1a: short, and the same on every machine and in every version.
fn stable_hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
