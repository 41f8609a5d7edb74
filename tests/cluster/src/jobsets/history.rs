//! The life of a JobSet: each decision with all that was watched around it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::Value;

use crate::api::{array, condition, has_condition, label, number, text};
use crate::jobsets::decisions::{Said, Written, between, job_restarts, used};
use crate::jobsets::failure_policy::{Chosen, DEFAULT_ACTION, Effect, FailedJob};
use crate::jobsets::watched::{Record, Revision, WatchedJob, version};
use crate::jobsets::{JOB_INDEX, JOB_RESTART_ATTEMPT, REPLICATED_JOB, RESTART_ATTEMPT};

pub(crate) struct History {
    /// As it was seen last.
    pub(crate) jobset: Value,
    pub(crate) decisions: Vec<Decision>,
}

pub(crate) struct Decision {
    /// `status.restarts` until then.
    pub(crate) attempt: i64,
    pub(crate) written: Written,
    /// What of the policy spoke, by the controller's log.
    pub(crate) chosen: Option<Chosen>,
    /// Restarts counted until then.
    pub(crate) used: i64,
    /// The write's version.
    pub(crate) version: u64,
    pub(crate) at: Timestamp,
    /// When the attempt could begin at the earliest: the decision before it, or the JobSet's creation.
    pub(crate) begun: Timestamp,
    /// The attempt's Jobs that had failed until then, in the order in which that was written.
    pub(crate) failed: Vec<FailedJob>,
    /// When each Job of the attempt began to fail, by name: its condition Failed comes only after its pods have ended.
    pub(crate) began: BTreeMap<String, String>,
    /// The Events that the controller wrote with it.
    pub(crate) events: Vec<Said>,
    /// Pods of the Job that it names.
    pub(crate) pods: Vec<EndedPod>,
}

/// A pod that failed or was deleted.
#[derive(Debug, PartialEq)]
pub(crate) struct EndedPod {
    pub(crate) name: String,
    pub(crate) node: String,
    /// Exit codes other than 0, by container.
    pub(crate) exits: BTreeMap<String, i64>,
}

impl Decision {
    /// As the tool is to call it.
    pub(crate) fn outcome(&self) -> &'static str {
        match self.written.effect {
            Effect::Restart { .. } => "restarted",
            Effect::RestartJob { .. } => "jobRestarted",
            Effect::Fail(_) => "failed",
        }
    }

    /// The Job that the controller names, as it was then.
    pub(crate) fn job(&self) -> Option<&FailedJob> {
        self.failed.iter().find(|job| job.name == self.written.job)
    }
}

/// What of a policy spoke, as the tool is to call it.
pub(crate) fn rule_label(jobset: &Value, chosen: Chosen) -> &str {
    match chosen {
        Chosen::NoPolicy => "(no failure policy)",
        Chosen::Default => "(default)",
        Chosen::Rule(index) => text(jobset, &format!("/spec/failurePolicy/rules/{index}/name")),
    }
}

/// Its action; without a policy there is none to name.
pub(crate) fn action(jobset: &Value, chosen: Chosen) -> Option<&str> {
    match chosen {
        Chosen::NoPolicy => None,
        Chosen::Default => Some(DEFAULT_ACTION),
        Chosen::Rule(index) => Some(text(jobset, &format!("/spec/failurePolicy/rules/{index}/action"))),
    }
}

impl History {
    pub(crate) fn name(&self) -> (&str, &str) {
        (text(&self.jobset, "/metadata/namespace"), text(&self.jobset, "/metadata/name"))
    }

    pub(crate) fn uid(&self) -> &str {
        text(&self.jobset, "/metadata/uid")
    }

    /// What the attempt that is not over is doing, or how the last one ended if not by a failure.
    pub(crate) fn present(&self) -> Option<&'static str> {
        if has_condition(&self.jobset, "Failed") {
            return None;
        }
        Some(match &self.jobset {
            jobset if has_condition(jobset, "Completed") => "completed",
            jobset if has_condition(jobset, "Suspended") => "suspended",
            jobset if has_condition(jobset, "RestartingJobSet") => "restarting",
            _ => "running",
        })
    }

    /// Of all JobSets in the record, by namespace and name; `choices` are those of their controller's log.
    pub(crate) fn all(record: &Record, choices: &HashMap<String, Vec<Chosen>>) -> Result<Vec<Self>> {
        let index = Index::of(record);
        let read = record.jobsets.iter().map(|(uid, revisions)| {
            let choices = choices.get(uid).map(Vec::as_slice).unwrap_or_default();
            index.history(revisions, choices).with_context(|| format!("the JobSet {uid} was not watched in full"))
        });
        let mut histories = read.collect::<Result<Vec<_>>>()?;
        histories.sort_by(|one, other| one.name().cmp(&other.name()));
        Ok(histories)
    }
}

/// What was watched, by what it belongs to.
struct Index<'a> {
    /// By the uid of the JobSet.
    jobs: HashMap<&'a str, Vec<&'a WatchedJob>>,
    /// By the uid of the Job.
    pods: HashMap<&'a str, Vec<&'a Value>>,
    /// By the version of the JobSet that they are about.
    events: HashMap<u64, Vec<&'a Value>>,
}

impl<'a> Index<'a> {
    fn of(record: &'a Record) -> Self {
        let mut jobs: HashMap<_, Vec<_>> = HashMap::new();
        for job in record.jobs.values() {
            jobs.entry(owner(&job.object)).or_default().push(job);
        }
        let mut pods: HashMap<_, Vec<_>> = HashMap::new();
        for pod in record.pods.values() {
            pods.entry(owner(pod)).or_default().push(pod);
        }
        Self { jobs, pods, events: record.events_by_version() }
    }

    fn history(&self, revisions: &[Revision], choices: &[Chosen]) -> Result<History> {
        let last = &revisions.last().context("a JobSet without a revision")?.object;
        let policy = last.pointer("/spec/failurePolicy").is_some();
        let mut choices = choices.iter().copied();
        let (mut decisions, mut begun) = (Vec::new(), created(last));
        for pair in revisions.windows(2) {
            let [before, after] = pair else { continue };
            let Some(written) = between(&before.object, &after.object)? else { continue };
            let chosen = if policy { choices.next() } else { Some(Chosen::NoPolicy) };
            let failed = self.failed_jobs(&before.object, after.version);
            let job = failed.iter().find(|job| job.name == written.job);
            let events = self.events.get(&after.version).into_iter().flatten();
            let decision = Decision {
                attempt: number(&before.object, "/status/restarts"),
                chosen,
                used: used(&before.object),
                version: after.version,
                at: after.at,
                begun,
                events: events.map(|event| Said::by(event)).collect(),
                pods: job.map(|job| self.ended_pods(&job.uid)).unwrap_or_default(),
                began: self.began_to_fail(&before.object),
                failed,
                written,
            };
            if matches!(decision.written.effect, Effect::Restart { .. }) {
                begun = decision.at;
            }
            decisions.push(decision);
        }
        Ok(History { jobset: last.clone(), decisions })
    }

    /// The Jobs that the controller takes for current, from `getChildJobs`, and that had failed before the version.
    fn failed_jobs(&self, jobset: &Value, until: u64) -> Vec<FailedJob> {
        let owned = self.jobs.get(text(jobset, "/metadata/uid")).into_iter().flatten();
        let failed = owned.filter_map(|job| Some((&job.object, job.failed.filter(|version| *version < until)?)));
        let failed = failed.filter(|(job, _)| is_current(job, jobset));
        let mut jobs: Vec<_> = failed.filter_map(|(job, version)| FailedJob::read(job, version)).collect();
        jobs.sort_by_key(|job| job.version);
        jobs
    }

    fn began_to_fail(&self, jobset: &Value) -> BTreeMap<String, String> {
        let owned = self.jobs.get(text(jobset, "/metadata/uid")).into_iter().flatten().map(|job| &job.object);
        let began = owned.filter(|job| is_current(job, jobset)).filter_map(|job| {
            let sign = condition(job, "FailureTarget").or_else(|| condition(job, "Failed"))?;
            Some((text(job, "/metadata/name").to_owned(), text(sign, "/lastTransitionTime").to_owned()))
        });
        began.collect()
    }

    fn ended_pods(&self, job: &str) -> Vec<EndedPod> {
        self.pods.get(job).into_iter().flatten().filter_map(|pod| EndedPod::read(pod)).collect()
    }
}

fn is_current(job: &Value, jobset: &Value) -> bool {
    let labelled = |key: &str| label(job, key).and_then(|value| value.parse::<i64>().ok());
    let replicated_job = label(job, REPLICATED_JOB).unwrap_or_default();
    let index = labelled(JOB_INDEX).and_then(|index| usize::try_from(index).ok()).unwrap_or_default();
    let restarts = job_restarts(jobset, replicated_job, index);
    labelled(RESTART_ATTEMPT) == Some(number(jobset, "/status/restarts"))
        // The label is there only behind the gate.
        && labelled(JOB_RESTART_ATTEMPT).is_none_or(|attempt| attempt == restarts)
}

fn owner(object: &Value) -> &str {
    text(object, "/metadata/ownerReferences/0/uid")
}

impl FailedJob {
    fn read(job: &Value, version: u64) -> Option<Self> {
        let failed = condition(job, "Failed")?;
        let owned = |value: &str| value.to_owned();
        Some(Self {
            uid: owned(text(job, "/metadata/uid")),
            name: owned(text(job, "/metadata/name")),
            replicated_job: owned(label(job, REPLICATED_JOB).unwrap_or_default()),
            reason: owned(text(failed, "/reason")),
            message: owned(text(failed, "/message")),
            failed_at: owned(text(failed, "/lastTransitionTime")),
            version,
        })
    }
}

impl EndedPod {
    fn read(pod: &Value) -> Option<Self> {
        let deleted = pod.pointer("/metadata/deletionTimestamp").is_some();
        if text(pod, "/status/phase") != "Failed" && !deleted {
            return None;
        }
        let lists = ["/status/initContainerStatuses", "/status/containerStatuses"];
        let statuses = lists.iter().flat_map(|list| array(pod, list));
        let exits = statuses.filter_map(|status| {
            let code = number(status, "/state/terminated/exitCode");
            (code != 0).then(|| (text(status, "/name").to_owned(), code))
        });
        Some(Self {
            name: text(pod, "/metadata/name").to_owned(),
            node: text(pod, "/spec/nodeName").to_owned(),
            exits: exits.collect(),
        })
    }
}

fn created(object: &Value) -> Timestamp {
    text(object, "/metadata/creationTimestamp").parse().unwrap_or(Timestamp::UNIX_EPOCH)
}

impl fmt::Display for History {
    /// A line for the JobSet and one for each decision, for whoever wants to know what was watched.
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let (namespace, name) = self.name();
        let spec = self.jobset.pointer("/spec/failurePolicy").unwrap_or(&Value::Null);
        write!(to, "{namespace}/{name} version {}, failurePolicy {spec}", version(&self.jobset))?;
        for decision in &self.decisions {
            let rule = decision.chosen.map_or("(not in the log)", |chosen| rule_label(&self.jobset, chosen));
            let Written { effect, job, .. } = &decision.written;
            write!(to, "\n  attempt {}: {effect:?} by {rule}, first failed {job}", decision.attempt)?;
            for job in &decision.failed {
                let FailedJob { name, uid, failed_at, reason, message, .. } = job;
                write!(to, "\n    {name} {uid} failed {failed_at} {reason}: {message}")?;
            }
        }
        if let Some(present) = self.present() {
            write!(to, "\n  attempt {}: {present}", number(&self.jobset, "/status/restarts"))?;
        }
        Ok(())
    }
}
