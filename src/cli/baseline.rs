//! `--baseline`: an earlier report that was kept.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};

use anyhow::{Context, bail};
use serde::Deserialize;

use super::options::UsageError;
use super::talk;
use crate::analysis::{Baseline, KnownGroup};
use crate::model::Time;
use crate::report::{API_VERSION, FailureReport, ReportScope};

/// What a report must say of itself before the rest is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HeadView {
    api_version: Option<String>,
    kind: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReportView {
    as_of: Option<String>,
    scope: ScopeView,
    #[serde(default)]
    baseline: Option<serde::de::IgnoredAny>,
    groups: Vec<GroupView>,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ScopeView {
    contexts: Vec<String>,
    namespaces: Vec<String>,
    selector: Option<String>,
    since: Option<i64>,
    targets: Vec<String>,
    kinds: Vec<String>,
    classes: Vec<String>,
    all: bool,
    group_by: String,
}

#[derive(Deserialize)]
struct GroupView {
    id: String,
    failures: u64,
    workloads: Vec<WorkloadView>,
}

#[derive(Deserialize)]
struct WorkloadView {
    #[serde(default)]
    cluster: Option<String>,
    kind: String,
    namespace: String,
    name: String,
}

/// A report as it was kept, and where.
#[derive(Debug)]
pub(super) struct Kept {
    file: String,
    scope: ScopeView,
    pub(super) baseline: Baseline,
}

impl Kept {
    /// Reads a report that `failures -o json` printed.
    pub(super) fn read(file: String) -> anyhow::Result<Self> {
        let text = match &*file {
            "-" => {
                let mut text = Vec::new();
                io::stdin().read_to_end(&mut text).map(|_| text)
            }
            path => fs::read(path),
        };
        let text = text.with_context(|| format!("cannot read the baseline {file}"))?;
        // As editors of Windows put it before text.
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        let broken = || format!("the baseline {file} is not JSON as `failures -o json` prints it");
        let head: HeadView = serde_json::from_slice(text).with_context(broken)?;
        match (head.kind.as_deref(), head.api_version.as_deref()) {
            (Some("FailureReport"), Some(API_VERSION)) => {}
            (Some("FailureReport"), version) => bail!(
                "the baseline {file} is a report of version {}, and this program compares with {API_VERSION}: make a new one",
                version.unwrap_or("(none)")
            ),
            (kind, _) => bail!(
                "the baseline {file} is no FailureReport but {}: make one with `failures -o json`",
                kind.unwrap_or("of no kind")
            ),
        }
        let report: ReportView = serde_json::from_slice(text).with_context(broken)?;
        if report.baseline.is_some() {
            bail!(
                "the baseline {file} was itself made with --baseline, so that what was known then is not in it: keep a report without"
            );
        }
        let cluster = match &report.scope.contexts[..] {
            [one] => Some(one),
            _ => None,
        };
        let mut groups: HashMap<String, KnownGroup> = HashMap::new();
        for group in report.groups {
            let known = groups.entry(group.id).or_default();
            known.failures += group.failures;
            for WorkloadView { cluster: own, kind, namespace, name } in group.workloads {
                known.workloads.entry([kind, namespace, name]).or_default().insert(own.or_else(|| cluster.cloned()));
            }
        }
        let as_of = report.as_of.as_deref().and_then(Time::parse);
        let baseline = Baseline { as_of, groups };
        Ok(Self { file, scope: report.scope, baseline })
    }

    /// Groups by something else have other ids: nothing would be known.
    pub(super) fn ensure_grouped_by(&self, group_by: &str) -> Result<(), UsageError> {
        if self.scope.group_by == group_by {
            return Ok(());
        }
        Err(UsageError(format!(
            "the baseline {} is grouped by {}: give --group-by {} or another baseline",
            self.file, self.scope.group_by, self.scope.group_by
        )))
    }

    /// What was not looked at then is new now, whatever its age. That is said, and not refused: somebody may want it.
    pub(super) fn compare_scope(&self, report: &FailureReport) {
        let (then, now) = (&self.scope, ScopeView::from(&report.scope));
        // Nothing asked for is all; files name no context.
        let narrower = |then: &[String], now: &[String]| {
            !then.is_empty() && (now.is_empty() || now.iter().any(|one| !then.contains(one)))
        };
        let differs = [
            ("contexts", !now.contexts.is_empty() && narrower(&then.contexts, &now.contexts)),
            ("namespaces", narrower(&then.namespaces, &now.namespaces)),
            ("selector", then.selector.is_some() && then.selector != now.selector),
            ("since", then.since.is_some_and(|then| now.since.is_none_or(|now| now > then))),
            ("targets", narrower(&then.targets, &now.targets)),
            ("kinds", narrower(&then.kinds, &now.kinds)),
            ("classes", narrower(&then.classes, &now.classes)),
            ("all", now.all && !then.all),
        ];
        let fields: Vec<&str> = differs.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect();
        if !fields.is_empty() {
            talk(&format!(
                "warning: the baseline {} is of a narrower scope ({}): what it did not look at counts as new",
                self.file,
                fields.join(", ")
            ));
        }
        if self.baseline.as_of > report.as_of {
            talk(&format!("warning: the baseline {} is of a later time than the data", self.file));
        }
    }
}

impl From<&ReportScope> for ScopeView {
    fn from(scope: &ReportScope) -> Self {
        Self {
            contexts: scope.contexts.clone(),
            namespaces: scope.namespaces.clone(),
            selector: scope.selector.clone(),
            since: scope.since,
            targets: scope.targets.clone(),
            kinds: scope.kinds.clone(),
            classes: scope.classes.iter().map(|class| class.name().to_owned()).collect(),
            all: scope.all,
            group_by: scope.group_by.to_owned(),
        }
    }
}
