//! `-o` and the flags around it, as kubectl has them.

use std::fs;
use std::io::{self, IsTerminal};

use anyhow::Context;
use clap::Args;

use super::OUTPUT;
use super::options::UsageError;
use crate::jsonpath::{Missing, Printing, Template};
use crate::render::{Columns, Fields};

#[derive(Debug, Args)]
#[command(next_help_heading = OUTPUT)]
pub(super) struct PrintArgs {
    /// Leave the heads of tables, of custom columns and of CSV out
    #[arg(long)]
    no_headers: bool,

    /// The template of -o jsonpath, jsonpath-as-json, jsonpath-file, custom-columns and custom-columns-file
    #[arg(long, value_name = "TEMPLATE")]
    template: Option<String>,

    /// Whether a template's field that is nowhere is nothing, or with =false an error
    #[arg(
        long,
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_value_t = true,
        default_missing_value = "true",
        hide_default_value = true,
        action = clap::ArgAction::Set
    )]
    allow_missing_template_keys: bool,

    /// Taken as kubectl's, without an effect: kinds are always shown
    #[arg(long)]
    show_kind: bool,
}

/// What `-o` says: the name of a format, or of what cuts fields out by a template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    /// Without its template; empty for the default.
    name: String,
    template: Option<String>,
}

/// Formats that are cut out by a template, as they are told.
const CUT: [(&str, &str); 5] = [
    ("jsonpath", "jsonpath=TEMPLATE"),
    ("jsonpath-as-json", "jsonpath-as-json=TEMPLATE"),
    ("jsonpath-file", "jsonpath-file=FILE"),
    ("custom-columns", "custom-columns=HEAD:PATH,…"),
    ("custom-columns-file", "custom-columns-file=FILE"),
];

/// The names of formats that are cut out by a template.
pub(super) fn template_names() -> impl Iterator<Item = &'static str> {
    CUT.into_iter().map(|(name, _)| name)
}

/// What `-o` stands for, of a command with formats `F` of its own.
#[derive(Debug)]
pub(super) enum Chosen<F> {
    /// A format of the command's.
    Format(F),
    /// Fields cut out of its JSON.
    Fields(Fields),
}

impl Output {
    /// Reads the value of `-o` for a command with formats of its own. Where one is refused, `elsewhere` may say what to do
    /// instead.
    pub(super) fn parse<F>(
        text: &str,
        own: &[(&str, F)],
        elsewhere: fn(&str) -> Option<&'static str>,
    ) -> Result<Self, String> {
        let (name, template) = match text.split_once('=') {
            Some((name, template)) => (name, Some(template.to_owned())),
            None => (text, None),
        };
        let is_cut = CUT.iter().any(|(known, _)| *known == name);
        if is_cut || (template.is_none() && own.iter().any(|(known, _)| *known == name)) {
            return Ok(Self { name: name.to_owned(), template });
        }
        if matches!(name, "go-template" | "go-template-file" | "template" | "templatefile") {
            return Err(NO_GO_TEMPLATE.to_owned());
        }
        if let Some(instead) = elsewhere(name) {
            return Err(instead.to_owned());
        }
        let known = own.iter().map(|(known, _)| *known).chain(CUT.iter().map(|(_, told)| *told));
        Err(format!("there are {}", known.collect::<Vec<_>>().join(", ")))
    }
}

const NO_GO_TEMPLATE: &str = "Go templates are not understood: use -o jsonpath=TEMPLATE, or -o json and jq";

impl PrintArgs {
    pub(super) const fn headers(&self) -> bool {
        !self.no_headers
    }

    /// What is to be printed. Files of templates are read here, so that a mistake in one is told before anything else.
    pub(super) fn choose<F: Copy>(&self, output: &Output, own: &[(&str, F)]) -> anyhow::Result<Chosen<F>> {
        let format = own.iter().find(|(known, _)| *known == output.name);
        if let Some((_, format)) = format {
            if self.template.is_some() {
                let told: Vec<&str> = CUT.iter().map(|(name, _)| *name).collect();
                return Err(UsageError(format!("--template goes with -o {}", told.join(", "))).into());
            }
            return Ok(Chosen::Format(*format));
        }
        let template = match (&output.template, &self.template) {
            (Some(_), Some(_)) => {
                return Err(UsageError("give the template once: in -o or in --template".into()).into());
            }
            (Some(template), None) | (None, Some(template)) => template.as_str(),
            (None, None) => "",
        };
        if template.is_empty() {
            return Err(UsageError(format!("-o {} needs a template, behind an = or in --template", output.name)).into());
        }
        Ok(Chosen::Fields(self.fields(&output.name, template)?))
    }

    fn fields(&self, name: &str, template: &str) -> anyhow::Result<Fields> {
        let read = |file: &str| fs::read_to_string(file).with_context(|| format!("cannot read the template {file}"));
        let missing = if self.allow_missing_template_keys { Missing::Allowed } else { Missing::Refused };
        let printing = if io::stdout().is_terminal() { Printing::Escaped } else { Printing::Raw };
        Ok(match name {
            "custom-columns" => {
                Fields::Columns(Columns::parse(template).map_err(|error| UsageError(error.to_string()))?)
            }
            "custom-columns-file" => {
                let text = read(template)?;
                let columns = Columns::parse_file(&text);
                Fields::Columns(columns.map_err(|error| UsageError(format!("{template}: {error}")))?)
            }
            _ => {
                let text = if name == "jsonpath-file" { read(template)? } else { template.to_owned() };
                let parsed = Template::parse(&text);
                let template = parsed.map_err(|error| UsageError(format!("error parsing jsonpath {text}, {error}")))?;
                Fields::Template { template, text, as_json: name == "jsonpath-as-json", missing, printing }
            }
        })
    }

    /// `--template` alone is one of Go's, as for kubectl.
    pub(super) fn ensure_no_go_template(&self, output: Option<&Output>) -> Result<(), UsageError> {
        match output {
            None if self.template.is_some() => Err(UsageError(NO_GO_TEMPLATE.to_owned())),
            _ => Ok(()),
        }
    }
}
