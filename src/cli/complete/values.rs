//! What may be an option's value.

use std::collections::BTreeSet;

use clap::{Arg, ValueHint};

use super::words::Line;
use super::{Answer, Candidate, Directive, fields, live};
use crate::cli::{explain, output, show};

/// What may follow what is typed of a value.
pub(super) fn of(line: &Line, option: &Arg, typed: &str) -> Answer {
    match (line.name(), option.get_id().as_str()) {
        (_, "namespace") => beginning(typed, live::namespaces(line)),
        (_, "context") => {
            let given: BTreeSet<&str> = line.values("context").collect();
            let contexts = live::configured(line).contexts.into_iter().filter(|name| !given.contains(&**name));
            beginning(typed, contexts)
        }
        (_, "cluster") => beginning(typed, live::configured(line).clusters),
        (_, "user") => beginning(typed, live::configured(line).users),
        ("failures", "output") => formats(line, typed, show::format_names()),
        ("explain", "output") => formats(line, typed, explain::format_names()),
        (_, "sort_by") => fields::to_sort_by(line, typed),
        _ => of_clap(option, typed),
    }
}

fn beginning(typed: &str, names: impl IntoIterator<Item = String>) -> Answer {
    Answer::of(names.into_iter().filter(|name| name.starts_with(typed)).map(Candidate::plain).collect())
}

/// What clap knows of it.
fn of_clap(option: &Arg, typed: &str) -> Answer {
    let values = option.get_possible_values();
    if values.is_empty() {
        return Answer::without(match option.get_value_hint() {
            ValueHint::AnyPath | ValueHint::FilePath => Directive::Plain,
            ValueHint::DirPath => Directive::Folders,
            _ => Directive::NoFiles,
        });
    }
    let cut = option.get_value_delimiter().and_then(|delimiter| typed.rfind(delimiter)).map_or(0, |at| at + 1);
    let (begins, part) = typed.split_at(cut);
    let given: BTreeSet<&str> = begins.split(',').collect();
    let shown = values.iter().filter(|value| !value.is_hide_set() && !given.contains(value.get_name()));
    let fitting = shown.filter(|value| value.get_name().starts_with(part));
    let help = |value: &clap::builder::PossibleValue| value.get_help().map(ToString::to_string).unwrap_or_default();
    Answer::of(fitting.map(|value| Candidate::new(format!("{begins}{}", value.get_name()), &help(value))).collect())
}

/// Formats of the command's own, and those that take a template.
fn formats(line: &Line, typed: &str, own: Vec<&'static str>) -> Answer {
    if let Some((name, template)) = typed.split_once('=') {
        return match name {
            "custom-columns" => fields::columns(line, template),
            "custom-columns-file" | "jsonpath-file" => Answer::without(Directive::Plain),
            _ => Answer::none(),
        };
    }
    let own = own.into_iter().map(Candidate::plain);
    let cut = output::template_names().map(|name| Candidate::plain(format!("{name}=")));
    let fitting: Vec<Candidate> = own.chain(cut).filter(|format| format.text.starts_with(typed)).collect();
    if fitting.iter().any(|format| format.text.ends_with('=')) { Answer::open(fitting) } else { Answer::of(fitting) }
}
