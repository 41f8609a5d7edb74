//! What is to be waited for, as the arguments say it.

use crate::analysis::Awaited;
use crate::cli::options::parse_targets;
use crate::request::{Target, TargetKind};

/// Something to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// One object.
    Named(Target),
    /// All of a kind with these labels, as the API takes them.
    Labelled(TargetKind, String),
}

/// All of it, each with what is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted(pub(super) Vec<(Want, Awaited)>);

impl Wanted {
    /// An error is wrong usage.
    pub(super) fn parse(arguments: &[String], selector: &str, awaited: Option<Awaited>) -> Result<Self, String> {
        arguments.iter().enumerate().try_for_each(|(at, argument)| ensure_kinds(argument, at == 0))?;
        let (kinds, targets) = parse_targets(arguments)?;
        let wants: Vec<Want> = match (kinds.is_empty(), selector.is_empty()) {
            (true, true) => targets.into_iter().map(Want::Named).collect(),
            (false, false) => kinds.into_iter().map(|kind| Want::Labelled(kind, selector.to_owned())).collect(),
            (true, false) => return Err("give a kind with -l, without names: jobs -l app=x".to_owned()),
            (false, true) => {
                return Err("give names behind a kind, KIND/NAME, or with -l a label that all of them have".to_owned());
            }
        };
        let mut all: Vec<(Want, Awaited)> = Vec::new();
        for want in wants {
            let kind = want.kind();
            let awaited = awaited.unwrap_or(Awaited::of(kind));
            ensure_possible(kind, awaited)?;
            if !all.contains(&(want.clone(), awaited)) {
                all.push((want, awaited));
            }
        }
        Ok(Self(all))
    }
}

impl Want {
    pub(super) const fn kind(&self) -> TargetKind {
        match self {
            Self::Named(target) => target.kind,
            Self::Labelled(kind, _) => *kind,
        }
    }
}

/// Refuses kinds that nothing is waited for of, before anything else is said of them.
fn ensure_kinds(argument: &str, is_first: bool) -> Result<(), String> {
    let kinds = match argument.split_once('/') {
        Some((kind, _)) => kind,
        None if is_first => argument,
        None => return Ok(()),
    };
    let is_kind = argument.contains('/') || kinds.contains(',');
    for kind in kinds.split(',') {
        match TargetKind::parse(kind) {
            Some(kind) => ensure_possible(kind, Awaited::of(kind))?,
            None if is_kind => {
                return Err(format!("kind {kind:?} is not known: a wait is for a {}", kinds_waited_for()));
            }
            None => {}
        }
    }
    Ok(())
}

/// `job, cronjob, … or sandbox`.
fn kinds_waited_for() -> String {
    let kinds = TargetKind::ALL.into_iter().filter(|kind| !Awaited::possible(*kind).is_empty());
    let names: Vec<&str> = kinds.map(TargetKind::name).collect();
    match names.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

fn ensure_possible(kind: TargetKind, awaited: Awaited) -> Result<(), String> {
    let possible = Awaited::possible(kind);
    if possible.contains(&awaited) {
        return Ok(());
    }
    let name = kind.name();
    if possible.is_empty() {
        return Err(format!("a {name} decides nothing that can be waited for: wait for a {}", kinds_waited_for()));
    }
    let forms: Vec<&str> = possible.iter().map(|awaited| awaited.name()).collect();
    Err(format!("a {name} is never {}: --for takes {} for it", awaited.name(), forms.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str], selector: &str, awaited: Option<Awaited>) -> Result<Wanted, String> {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        Wanted::parse(&arguments, selector, awaited)
    }

    #[test]
    fn what_is_waited_for_hangs_on_the_kind() {
        let named = |kind, name: &str| Want::Named(Target { kind, name: name.to_owned() });
        let wanted = parse(&["job/a", "deploy/b", "job/a"], "", None).unwrap();
        let expected =
            [(named(TargetKind::Job, "a"), Awaited::Finished), (named(TargetKind::Deployment, "b"), Awaited::Ready)];
        assert_eq!(wanted.0, expected);
        let wanted = parse(&["jobs,jobsets"], "a=b", Some(Awaited::Failed)).unwrap();
        assert_eq!(wanted.0.len(), 2);
    }

    #[test]
    fn what_cannot_come_is_wrong_usage() {
        for (arguments, selector, awaited, part) in [
            (&["deploy/b"][..], "", Some(Awaited::Complete), "--for takes ready, failed"),
            (&["job/a", "sts/b"], "", Some(Awaited::Finished), "a statefulset is never finished"),
            (&["job/a"], "", Some(Awaited::Restarted), "a job is never restarted"),
            (&["node/a"], "", None, "decides nothing"),
            (&["jobs"], "", None, "give names"),
            (&["job/a"], "a=b", None, "give a kind with -l"),
            (&["service/a"], "", None, "is not known: a wait is for a job, cronjob, jobset,"),
            (&["pod/a"], "", None, "a pod decides nothing that can be waited for: wait for a job,"),
            (&["pods"], "a=b", None, "a pod decides nothing"),
        ] {
            let error = parse(arguments, selector, awaited).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
