//! What the tool tells of a JobSet, as far as the tests look at it.

use std::collections::HashMap;
use std::fmt;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::api::{array, text};

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Told {
    pub(crate) restarts: i64,
    pub(crate) restarts_count_towards_max: i64,
    pub(crate) max_restarts: Option<i64>,
    pub(crate) restart_strategy: Option<String>,
    pub(crate) attempts: Vec<Entry>,
}

/// One decision, or the attempt that goes on or ended without one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Entry {
    pub(crate) attempt: i64,
    /// The last of several whose decisions are not known.
    pub(crate) through: Option<i64>,
    pub(crate) outcome: String,
    pub(crate) started_at: Option<String>,
    pub(crate) ended_at: Option<String>,
    pub(crate) rule: Option<Rule>,
    pub(crate) counted: Option<bool>,
    pub(crate) job: Option<String>,
    pub(crate) job_uid: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) pod_rule: Option<PodRule>,
    pub(crate) pod: Option<String>,
    pub(crate) container: Option<String>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) node: Option<String>,
    pub(crate) earliest_job: Option<String>,
    pub(crate) missing: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Rule {
    pub(crate) label: String,
    pub(crate) name: Option<String>,
    pub(crate) index: Option<i64>,
    pub(crate) action: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PodRule {
    pub(crate) index: i64,
    pub(crate) action: String,
}

impl Entry {
    pub(crate) fn is_unknown(&self) -> bool {
        self.outcome == "unknown"
    }

    /// Restarts of single Jobs that are not told one by one: some may have come after entries that stand behind it.
    pub(crate) fn is_of_single_jobs(&self) -> bool {
        self.is_unknown()
            && self
                .missing
                .iter()
                .any(|missing| missing.contains("of a single Job") || missing.contains("of single Jobs"))
    }

    pub(crate) fn covers(&self, attempt: i64) -> bool {
        (self.attempt..=self.through.unwrap_or(self.attempt)).contains(&attempt)
    }

    /// Nothing of the decision is left open.
    pub(crate) fn is_full(&self) -> bool {
        let named = [&self.job, &self.job_uid, &self.reason, &self.message].into_iter().all(Option::is_some);
        !self.is_unknown() && self.known_rule().is_some() && named
    }

    pub(crate) fn known_rule(&self) -> Option<&Rule> {
        self.rule.as_ref().filter(|rule| rule.label != "(unknown)")
    }
}

/// The JobSets of `failures -o json`, by uid.
pub(crate) fn jobsets(report: &Value) -> Result<HashMap<String, Told>> {
    let workloads = array(report, "/workloads").iter().filter(|workload| text(workload, "/kind") == "JobSet");
    let told = workloads.map(|workload| {
        let told = of_workload(workload)?;
        Ok((text(workload, "/uid").to_owned(), told))
    });
    told.collect()
}

/// The `jobSet` of a workload in `failures -o json`, or of `explain -o json` as a whole.
pub(crate) fn of_workload(workload: &Value) -> Result<Told> {
    let told = workload.get("jobSet").context("the report has no `jobSet`")?;
    serde_json::from_value(told.clone()).with_context(|| format!("not what is told of a JobSet: {told}"))
}

impl fmt::Display for Entry {
    /// On one line, for whoever reads why a test failed.
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let through = self.through.map(|through| format!("-{through}")).unwrap_or_default();
        write!(to, "attempt {}{through} {}", self.attempt, self.outcome)?;
        if let Some(rule) = &self.rule {
            write!(to, " by {} {}", rule.label, rule.action.as_deref().unwrap_or("(no action)"))?;
        }
        let parts = [
            ("counted", self.counted.map(|counted| counted.to_string())),
            ("job", self.job.clone()),
            ("uid", self.job_uid.clone()),
            ("reason", self.reason.clone()),
            ("message", self.message.clone()),
            ("pod", self.pod.clone()),
            ("container", self.container.clone()),
            ("exit", self.exit_code.map(|code| code.to_string())),
            ("node", self.node.clone()),
            ("earliest", self.earliest_job.clone()),
            ("from", self.started_at.clone()),
            ("to", self.ended_at.clone()),
        ];
        for (name, value) in parts.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            write!(to, ", {name} {value}")?;
        }
        if !self.missing.is_empty() {
            write!(to, ", missing {:?}", self.missing)?;
        }
        Ok(())
    }
}
