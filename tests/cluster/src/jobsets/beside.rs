//! One entry of what the tool tells, beside the decision that it is about.

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};

use crate::compare::verdict;
use crate::jobsets::failure_policy::{Chosen, Effect};
use crate::jobsets::history::{Decision, History, action, rule_label};
use crate::jobsets::told::Entry;

/// Times of conditions are whole seconds, a watch takes a moment, and the controller may be held up for up to 3 s between
/// its write and the Event.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(5);

/// What is told wrongly, or left out without a word on why.
pub(crate) fn beside(told: &Entry, decision: &Decision, history: &History) -> Vec<String> {
    Beside { told, history, decision, found: Vec::new() }.all()
}

struct Beside<'a> {
    told: &'a Entry,
    history: &'a History,
    decision: &'a Decision,
    found: Vec<String>,
}

impl Beside<'_> {
    fn all(mut self) -> Vec<String> {
        let (told, decision) = (self.told, self.decision);
        match decision.written.effect {
            Effect::Restart { counted } | Effect::RestartJob { counted } => {
                self.same("counted", told.counted, Some(counted));
            }
            // What ended the JobSet moved no counter.
            Effect::Fail(_) if told.counted == Some(true) => {
                self.found.push("no counter moved, told as counted".to_owned());
            }
            Effect::Fail(_) => {}
        }
        self.rule();
        self.job();
        self.pod();
        self.earliest();
        if let Err(error) = self.times() {
            self.found.push(format!("{error:#}"));
        }
        self.found
    }

    /// A wrong value is wrong; one that is left out is so too, unless something is said to be missing.
    fn same<T: PartialEq + Copy + std::fmt::Debug>(&mut self, name: &str, told: Option<T>, watched: Option<T>) {
        let excused = told.is_none() && !self.told.missing.is_empty();
        if told != watched && !excused {
            self.found.push(format!("{name}: told {told:?}, watched {watched:?}"));
        }
    }

    fn rule(&mut self) {
        let Some(chosen) = self.decision.chosen else { return };
        let jobset = &self.history.jobset;
        let told = self.told.known_rule();
        self.same("rule", told.map(|rule| rule.label.as_str()), Some(rule_label(jobset, chosen)));
        let Some(rule) = told else { return };
        let name = match chosen {
            Chosen::Rule(index) => {
                self.same("rule's index", rule.index, i64::try_from(index).ok());
                Some(rule_label(jobset, chosen))
            }
            Chosen::Default | Chosen::NoPolicy => {
                self.same("rule's index", rule.index, None);
                None
            }
        };
        self.same("rule's name", rule.name.as_deref(), name);
        if chosen != Chosen::NoPolicy {
            self.same("rule's action", rule.action.as_deref(), action(jobset, chosen));
        }
    }

    fn job(&mut self) {
        let told = self.told;
        self.same("job", told.job.as_deref(), Some(self.decision.written.job.as_str()));
        let Some(job) = self.decision.job() else { return };
        self.same("jobUid", told.job_uid.as_deref(), Some(job.uid.as_str()));
        self.same("reason", told.reason.as_deref(), Some(job.reason.as_str()));
        self.same("message", told.message.as_deref(), Some(job.message.as_str()));
        let rule = verdict(&job.message).map(|verdict| (verdict.rule, "FailJob"));
        self.same("podRule", told.pod_rule.as_ref().map(|rule| (rule.index, rule.action.as_str())), rule);
    }

    /// The controller names the pod only where a pod failure policy spoke; else any that failed may be told.
    fn pod(&mut self) {
        let told = self.told;
        let Some(job) = self.decision.job() else { return };
        if let Some(verdict) = verdict(&job.message) {
            self.same("pod", told.pod.as_deref(), Some(verdict.pod.as_str()));
            if let Some((container, code)) = &verdict.container {
                self.same("container", told.container.as_deref(), Some(container.as_str()));
                self.same("exitCode", told.exit_code, Some(*code));
            }
        }
        let Some(name) = &told.pod else {
            if told.container.is_some() || told.exit_code.is_some() || told.node.is_some() {
                self.found.push("a container, code or node of no pod".to_owned());
            }
            return;
        };
        let Some(pod) = self.decision.pods.iter().find(|pod| pod.name == *name) else {
            self.found.push(format!("{name} is no pod of {} that failed", job.name));
            return;
        };
        let exit = told.container.as_ref().map(|container| pod.exits.get(container).copied());
        let wrong_exit =
            exit.is_some_and(|code| code.is_none() || (told.exit_code.is_some() && told.exit_code != code));
        let wrong_node = told.node.as_ref().is_some_and(|node| *node != pod.node);
        if wrong_exit || wrong_node {
            self.found.push(format!("of the pod was watched: {pod:?}"));
        }
    }

    /// Another Job that was there and had begun to fail in an earlier second than the one named, or was Failed earlier:
    /// its Event tells the one, its conditions both. An Event is written a moment after the condition: what happened within
    /// two seconds of it may go untold.
    fn earliest(&mut self) {
        let Some(named) = self.decision.job() else { return };
        let failed = self.decision.failed.iter().filter(|job| job.failed_at < named.failed_at);
        let failed: Vec<_> = failed.map(|job| job.name.as_str()).collect();
        let began = &self.decision.began;
        let began: Vec<_> = began.iter().filter(|(_, time)| Some(*time) < began.get(&named.name)).collect();
        let began = |name: &str| began.iter().any(|(other, _)| *other == name);
        match self.told.earliest_job.as_deref() {
            Some(told) if failed.contains(&told) || began(told) => {}
            told => {
                let surely = |name: &&str| {
                    began(name)
                        && self
                            .decision
                            .failed
                            .iter()
                            .any(|job| job.name == **name && is_well_before(&job.failed_at, &named.failed_at))
                };
                let surely = failed.into_iter().find(surely);
                if told.is_some() || surely.is_some() {
                    self.same("earliestJob", told, surely);
                }
            }
        }
    }

    fn times(&mut self) -> Result<()> {
        let (begun, at) = (self.decision.begun, self.decision.at);
        let parse = |time: &Option<String>| time.as_ref().map(|time| time.parse::<Timestamp>()).transpose();
        if let Some(started) = parse(&self.told.started_at)?
            && (started < begun - TOLERANCE || started > at + TOLERANCE)
        {
            self.found.push(format!("startedAt: the attempt was between {begun} and {at}"));
        }
        let ended = parse(&self.told.ended_at)?;
        if ended.is_some_and(|ended| ended < at - TOLERANCE || ended > at + TOLERANCE) {
            self.found.push(format!("endedAt: it was decided at {at}"));
        }
        Ok(())
    }
}

/// Whether a time of whole seconds is more than two of them before another.
fn is_well_before(one: &str, other: &str) -> bool {
    let second = |text: &str| text.parse::<Timestamp>().map(Timestamp::as_second).ok();
    second(one).zip(second(other)).is_some_and(|(one, other)| one + 2 < other)
}
