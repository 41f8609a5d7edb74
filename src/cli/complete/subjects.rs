//! `KIND/NAME`, `KIND NAME` and `NAME`.

use std::collections::BTreeSet;

use super::words::Line;
use super::{Answer, Candidate, live};
use crate::analysis::Awaited;
use crate::request::TargetKind;
use crate::restart;

/// What a command takes as its subjects.
pub(super) struct Subjects {
    kinds: Vec<TargetKind>,
    /// Whether it takes several, and all of a kind.
    several: bool,
    /// What a name alone may stand for.
    bare: &'static [TargetKind],
}

/// The subjects of a command that has any.
pub(super) fn of(command: &str) -> Option<Subjects> {
    let kinds = |takes: fn(TargetKind) -> bool| TargetKind::ALL.into_iter().filter(|kind| takes(*kind)).collect();
    Some(match command {
        "failures" => {
            Subjects { kinds: kinds(|kind| kind != TargetKind::Pod), several: true, bare: &[TargetKind::Job] }
        }
        "wait" => Subjects {
            kinds: kinds(|kind| !Awaited::possible(kind).is_empty()),
            several: true,
            bare: &[TargetKind::Job],
        },
        "explain" => Subjects {
            kinds: TargetKind::ALL.to_vec(),
            several: false,
            bare: &[TargetKind::Job, TargetKind::JobSet, TargetKind::CronJob],
        },
        "restart" => {
            Subjects { kinds: kinds(|kind| restart::Kind::parse(kind.name()).is_some()), several: false, bare: &[] }
        }
        _ => return None,
    })
}

impl Subjects {
    pub(super) fn answer(&self, line: &Line, typed: &str) -> Answer {
        if let Some(kind) = line.positionals.first().and_then(|first| self.kind(first)) {
            let more = self.several || line.positionals.len() == 1;
            return Answer::of(if more { names(line, &[kind], "", typed) } else { Vec::new() });
        }
        if !line.positionals.is_empty() && !self.several {
            return Answer::none();
        }
        if let Some((kind, _)) = typed.split_once('/') {
            let Some(kind) = self.kind(kind) else { return Answer::none() };
            let begins = &typed[..=typed.find('/').unwrap_or_default()];
            return Answer::of(names(line, &[kind], begins, typed));
        }
        if typed.contains(',') {
            return Answer::of(if self.several { self.lists(typed) } else { Vec::new() });
        }
        let mut candidates = self.kinds(line, typed);
        // Nobody who has typed nothing yet is shown a hundred names.
        if !typed.is_empty() && !self.bare.is_empty() {
            candidates.extend(names(line, self.bare, "", typed));
        }
        if candidates.iter().any(|candidate| candidate.text.ends_with('/')) {
            return Answer::open(candidates);
        }
        Answer::of(candidates)
    }

    fn kind(&self, text: &str) -> Option<TargetKind> {
        TargetKind::parse(text).filter(|kind| self.kinds.contains(kind))
    }

    /// `job/` for what is named next; a short name or a plural where no longer form is meant.
    fn kinds(&self, line: &Line, typed: &str) -> Vec<Candidate> {
        let first = line.positionals.is_empty();
        let of_kind = |kind: &TargetKind| {
            let (name, short, plural) = (kind.name(), kind.short(), kind.plural());
            let help = if short.is_empty() { kind.kind().to_owned() } else { format!("{} ({short})", kind.kind()) };
            if name.starts_with(typed) {
                return Some(Candidate::new(format!("{name}/"), &help));
            }
            if !short.is_empty() && short.starts_with(typed) {
                return Some(Candidate::new(format!("{short}/"), kind.kind()));
            }
            let all = self.several && first && plural.starts_with(typed);
            all.then(|| Candidate::new(plural, &format!("all of kind {}", kind.kind())))
        };
        self.kinds.iter().filter_map(of_kind).collect()
    }

    /// `cronjobs,lws`: kinds without names.
    fn lists(&self, typed: &str) -> Vec<Candidate> {
        let (begins, part) = typed.split_at(typed.rfind(',').map_or(0, |at| at + 1));
        let given: Vec<TargetKind> = begins.split(',').filter_map(TargetKind::parse).collect();
        let free = self.kinds.iter().filter(|kind| !given.contains(kind));
        let of_kind = |kind: &TargetKind| {
            let names = [kind.plural(), kind.short()].into_iter().filter(|name| !name.is_empty());
            let fitting = names.into_iter().find(|name| name.starts_with(part))?;
            Some(Candidate::new(format!("{begins}{fitting}"), kind.kind()))
        };
        free.filter_map(of_kind).collect()
    }
}

/// The names of objects, but those that were given before.
fn names(line: &Line, kinds: &[TargetKind], begins: &str, typed: &str) -> Vec<Candidate> {
    // A dump is not read for its names: it may be large, and come from a pipe.
    if line.values("files").next().is_some() {
        return Vec::new();
    }
    let given: BTreeSet<&str> = line.positionals.iter().map(String::as_str).collect();
    let all = live::names(line, kinds).into_iter().map(|name| format!("{begins}{name}"));
    all.filter(|name| name.starts_with(typed) && !given.contains(&**name)).map(Candidate::plain).collect()
}
