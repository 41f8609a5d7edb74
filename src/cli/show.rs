//! How failures are shown: in which format and order, and what of them is new.

use std::io::{self, Write};

use serde::Serialize;

use super::ExitCode;
use super::baseline::Kept;
use super::options::UsageError;
use super::output::{Chosen, Output, PrintArgs};
use crate::analysis::{Analysis, LeftOut, failure_line};
use crate::jsonpath::{OrderError, Template, order_by, whole_path};
use crate::render::{self, Format, Look};
use crate::report::{FailureLine, FailureReport};
use crate::request::GroupBy;

/// What is printed of the failures: of the report, or of each failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printed {
    Report(Format),
    Jsonl,
    Csv,
}

const FORMATS: [(&str, Printed); 8] = [
    ("table", Printed::Report(Format::Table)),
    ("wide", Printed::Report(Format::Wide)),
    ("json", Printed::Report(Format::Json)),
    ("yaml", Printed::Report(Format::Yaml)),
    ("jsonl", Printed::Jsonl),
    ("csv", Printed::Csv),
    ("name", Printed::Report(Format::Name)),
    ("markdown", Printed::Report(Format::Markdown)),
];

/// Their names.
pub(super) fn format_names() -> Vec<&'static str> {
    FORMATS.iter().map(|(name, _)| *name).collect()
}

pub(super) fn parse_output(text: &str) -> Result<Output, String> {
    Output::parse(text, &FORMATS, |_| None)
}

/// How failures are shown.
pub(super) struct Show {
    chosen: Chosen<Printed>,
    sort_by: Option<String>,
    baseline: Option<Kept>,
    look: Look,
    exit_code: bool,
}

impl Show {
    /// Mistakes are told before anything is read.
    pub(super) fn new(
        output: Option<&Output>,
        print: &PrintArgs,
        sort_by: Option<String>,
        look: Look,
        exit_code: bool,
    ) -> anyhow::Result<Self> {
        print.ensure_no_go_template(output)?;
        if let Some(path) = &sort_by {
            let template = whole_path(path).map_err(OrderError::from).and_then(|path| Ok(Template::parse(&path)?));
            template.map_err(|error| UsageError(format!("--sort-by {path}: {error}")))?;
        }
        let chosen = match output {
            None => Chosen::Format(Printed::Report(Format::Table)),
            Some(output) => print.choose(output, &FORMATS)?,
        };
        Ok(Self { chosen, sort_by, baseline: None, look, exit_code })
    }

    /// The same of only what is new since a report that was kept.
    pub(super) fn since(self, file: Option<String>, group_by: GroupBy) -> anyhow::Result<Self> {
        let baseline = file.map(Kept::read).transpose()?;
        if let Some(baseline) = &baseline {
            baseline.ensure_grouped_by(group_by.name())?;
        }
        Ok(Self { baseline, ..self })
    }

    /// Whether failures are printed, one a line, and no report of them.
    pub(super) const fn is_of_failures(&self) -> bool {
        matches!(self.chosen, Chosen::Format(Printed::Jsonl | Printed::Csv))
    }

    /// Whether each failure is JSON in a line of its own, which needs nothing of the others.
    pub(super) const fn is_of_single_failures(&self) -> bool {
        matches!(self.chosen, Chosen::Format(Printed::Jsonl)) && self.sort_by.is_none()
    }

    /// What stands between two reports that are printed one behind the other.
    pub(super) const fn between(&self) -> &'static str {
        match self.chosen {
            Chosen::Format(Printed::Report(Format::Json) | Printed::Jsonl) => "",
            Chosen::Format(Printed::Report(Format::Yaml)) => "---\n",
            _ => "\n",
        }
    }

    /// Takes out what is known already.
    pub(super) fn leave_out_known(&self, analysis: &mut Analysis, group_by: GroupBy) -> LeftOut {
        self.baseline.as_ref().map(|kept| kept.baseline.leave_out_known(analysis, group_by)).unwrap_or_default()
    }

    /// Prints failures, of one cluster or of several.
    pub(super) fn failures(&self, lines: impl Iterator<Item = FailureLine>, out: &mut dyn Write) -> anyhow::Result<()> {
        match &self.sort_by {
            Some(path) => self.in_order(in_order_of(path, lines.collect())?.into_iter(), out)?,
            None => self.in_order(lines, out)?,
        }
        Ok(())
    }

    fn in_order(&self, lines: impl Iterator<Item = FailureLine>, mut out: &mut dyn Write) -> io::Result<()> {
        if matches!(self.chosen, Chosen::Format(Printed::Csv)) {
            return render::failures_csv(lines, self.look.headers, &mut out);
        }
        render::failures(lines, &mut out)
    }

    /// Prints a report of what is left without what is known.
    pub(super) fn report(
        &self,
        mut report: FailureReport,
        left_out: &LeftOut,
        mut out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        if let Some(kept) = &self.baseline {
            kept.baseline.mark(left_out, &mut report);
            kept.compare_scope(&report);
        }
        match (&self.sort_by, &self.chosen) {
            (Some(path), Chosen::Format(Printed::Report(Format::Name))) => {
                report.workloads = in_order_of(path, report.workloads)?;
            }
            (Some(path), _) => report.groups = in_order_of(path, report.groups)?,
            (None, _) => {}
        }
        match &self.chosen {
            Chosen::Format(Printed::Report(format)) => render::report(&report, *format, self.look, &mut out)?,
            Chosen::Fields(fields) => {
                let rows = documents(&report.groups)?;
                fields.print(&serde_json::to_value(&report)?, &rows, self.look.headers, &mut out)?;
            }
            Chosen::Format(Printed::Jsonl | Printed::Csv) => {}
        }
        Ok(())
    }

    /// With `--exit-code`, an incomplete report outranks failures found, as it may hide more of them.
    pub(super) const fn code(&self, has_gap: bool, found: bool) -> ExitCode {
        match (self.exit_code, has_gap, found) {
            (true, true, _) => ExitCode::Incomplete,
            (true, false, true) => ExitCode::FailuresFound,
            _ => ExitCode::Success,
        }
    }

    /// Whether it is for what goes on: neither an exit code nor what is new beside a report ends there.
    pub(super) fn ensure_for_watching(&self) -> Result<(), UsageError> {
        let refused = match (self.exit_code, &self.baseline) {
            (true, _) => "--exit-code is for a report that ends: leave out --watch",
            (_, Some(_)) => {
                "--baseline is for a report that ends: leave out --watch, or give --watch-only for what is new"
            }
            _ => return Ok(()),
        };
        Err(UsageError(refused.to_owned()))
    }
}

/// The failures of an analysis, as lines.
pub(super) fn lines<'a>(analysis: &'a Analysis) -> impl Iterator<Item = FailureLine> + use<'a> {
    analysis.failures.iter().map(|failure| failure_line(analysis, failure))
}

fn in_order_of<T: Serialize>(path: &str, items: Vec<T>) -> anyhow::Result<Vec<T>> {
    let order = order_by(path, &documents(&items)?)?;
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    Ok(order.into_iter().filter_map(|position| items[position].take()).collect())
}

fn documents<T: Serialize>(items: &[T]) -> serde_json::Result<Vec<serde_json::Value>> {
    items.iter().map(serde_json::to_value).collect()
}
