//! What became of something, as `explain` says it.

use std::io::{self, Write};

use anyhow::Context as _;

use super::waited::Waited;
use super::{Output, not_found, silent};
use crate::advice::{Kubectl, advise_on};
use crate::analysis::{Options, analyse, explain, find};
use crate::cli::input::clock;
use crate::cli::talk;
use crate::render::{self, ExplanationFormat, Look};
use crate::report::Explanation;
use crate::request::{Connection, Scope, Subject, Target};
use crate::source::{Snapshot, cluster};

/// Reads what bears on something that is decided, and prints what became of it.
pub(super) struct Teller<'a> {
    pub(super) connection: &'a Connection,
    pub(super) namespace: &'a str,
    pub(super) chunk_size: u32,
    pub(super) kubectl: Kubectl,
    pub(super) output: Output,
}

/// As `explain` has it.
const PENDING_AFTER: i64 = 30;

impl Teller<'_> {
    pub(super) fn print(&self, waited: &Waited) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        let target = waited.subject();
        if self.output == Output::Name {
            let group = Some(target.kind.group()).filter(|group| !group.is_empty());
            let group = group.map(|group| format!(".{group}")).unwrap_or_default();
            writeln!(out, "{}{group}/{}", target.kind.name(), target.name)?;
            return Ok(out.flush()?);
        }
        let explanation = self.explanation(waited, &target)?;
        if self.output == Output::Json {
            let look = Look { width: 0, color: false, headers: true };
            render::explanation(&explanation, ExplanationFormat::Json, false, look, &mut out)?;
        } else {
            writeln!(out, "{}", render::one_line(&explanation.verdict))?;
        }
        Ok(out.flush()?)
    }

    /// With its pods and Events, read once now that it is decided. Where it is gone by now, or these may not be read, from
    /// what was seen of the object itself.
    fn explanation(&self, waited: &Waited, target: &Target) -> anyhow::Result<Explanation> {
        if !waited.is_gone {
            let subject = Subject { kind: Some(target.kind), name: target.name.clone() };
            let scope = Scope { subject: Some(subject), ..self.scope() };
            match cluster::read(self.connection, &scope, &mut silent) {
                // Another one may have its name by now.
                Ok(snapshot) if waited.is_in(&snapshot) => return self.explained(&snapshot, target),
                Ok(_) => {}
                Err(error) => talk(&format!("{target}: only the object itself could be read: {error}")),
            }
        }
        self.explained(&waited.snapshot(), target)
    }

    fn explained(&self, snapshot: &Snapshot, target: &Target) -> anyhow::Result<Explanation> {
        let found = find(snapshot, Some(target.kind), &target.name)?;
        let now = Some(clock()?);
        let targets = found.judged_with(snapshot).into_iter().collect();
        let options = Options { now, pending_after: PENDING_AFTER, all: true, targets, ..Options::default() };
        let analysis = analyse(snapshot, &options);
        let mut explanation = explain(&analysis, found, now);
        if self.output == Output::Json {
            explanation.suggestions = advise_on(&analysis, found, now, &self.kubectl);
        }
        Ok(explanation)
    }

    fn scope(&self) -> Scope {
        Scope { namespace: Some(self.namespace.to_owned()), chunk_size: self.chunk_size, ..Scope::default() }
    }

    /// Why something that is not there is not waited for.
    pub(super) fn missing(&self, target: &Target) -> anyhow::Error {
        let scope = Scope { targets: vec![target.clone()], ..self.scope() };
        let hint = "--allow-missing waits for what is not there yet";
        match not_found(self.connection, &scope) {
            Some(error) => anyhow::anyhow!("{error}; {hint}"),
            None => anyhow::anyhow!("{target} was not there when the wait began; {hint}"),
        }
    }
}

/// What of an object's JSON a wait looks at itself.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Names {
    pub(super) metadata: Metadata,
    /// Of an Event.
    reason: String,
    count: Option<u32>,
    series: Option<Series>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Series {
    count: Option<u32>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) creation_timestamp: Option<String>,
    owner_references: Vec<Owner>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Owner {
    api_version: String,
    kind: String,
    name: String,
    controller: bool,
}

impl Names {
    pub(super) fn of(object: &[u8]) -> anyhow::Result<Self> {
        serde_json::from_slice(object).context("the server sent an object that cannot be read")
    }

    /// Source: lws `pkg/controllers/pod_controller.go`.
    pub(super) fn tells_of_a_group_made_anew(&self) -> bool {
        matches!(&*self.reason, "RecreateGroup" | "RecreateGroupOnPodRestart")
    }

    /// How often an Event was told.
    pub(super) fn times(&self) -> u32 {
        self.series.as_ref().and_then(|series| series.count).or(self.count).unwrap_or(1).max(1)
    }

    /// Whether a `CronJob` of that name controls it.
    pub(super) fn is_run_of(&self, cron_job: &str) -> bool {
        self.metadata.owner_references.iter().any(|owner| {
            owner.controller
                && owner.kind == "CronJob"
                && owner.api_version.starts_with("batch/")
                && owner.name == cron_job
        })
    }
}
