//! What a `JobSet` calls for as a whole: its attempts are over and its Jobs, for the most part, gone.

use super::change::{Change, Way};
use super::command::Command;
use super::draft::Advice;
use super::maker::{Hold, Maker};
use super::{Kubectl, checkpoint, disruption, protect, retry, teardown};
use crate::analysis::{Analysis, Attempt, Decision, Failure, JobSetStory, is_sent};
use crate::model::{JobSetAction, Time};
use crate::report::{AttemptOutcome, Class, Evidence, Safety, SituationKind, SuggestionKind, WorkloadState};

/// So many attempts that end alike are no accident.
const ALIKE: usize = 2;

/// A `JobSet` with failures.
struct Over<'a> {
    analysis: &'a Analysis<'a>,
    /// Its failures: indexes in [`Analysis::failures`].
    failures: &'a [u32],
    story: &'a JobSetStory<'a>,
    kubectl: &'a Kubectl,
}

/// All that it calls for.
pub(super) fn advices<'a>(
    analysis: &'a Analysis<'a>,
    workload: usize,
    failures: &'a [u32],
    now: Option<Time>,
    kubectl: &'a Kubectl,
) -> Vec<Advice> {
    let Some(story) = analysis.workloads[workload].story.and_then(|story| analysis.stories.get(story)) else {
        return Vec::new();
    };
    let over = Over { analysis, failures, story, kubectl };
    let mut all = teardown::of_job_set(analysis, story, now, kubectl);
    all.extend(over.endless());
    if story.state() == WorkloadState::Failed {
        all.extend(over.failed());
    }
    all.extend(over.enable_checkpoint());
    if !all
        .iter()
        .any(|advice| !matches!(advice.kind, SuggestionKind::ProtectCheckpoint | SuggestionKind::EnableCheckpoint))
    {
        all.extend(over.wait_or_look());
    }
    all
}

impl<'a> Over<'a> {
    fn maker(&self) -> Maker<'a> {
        let last = self.last_decided().and_then(|attempt| attempt.decision.as_ref()?.job);
        let replicated = last.and_then(|job| self.story.job_set.replicated_job_of(job));
        let all = &self.story.job_set.replicated_jobs;
        Maker::JobSet(self.story, replicated.and_then(|found| all.iter().position(|other| other.name == found.name)))
    }

    fn own_failures(&self) -> impl Iterator<Item = &'a Failure<'a>> {
        self.failures.iter().map(|index| &self.analysis.failures[*index as usize])
    }

    fn object(&self) -> String {
        let job_set = self.story.job_set;
        format!("jobset/{}/{}", job_set.namespace, job_set.name)
    }

    fn explain(&self) -> Vec<Command> {
        let job_set = self.story.job_set;
        self.kubectl.read(&["sigapps", "explain", &format!("jobset/{}", job_set.name), "-n", &job_set.namespace])
    }

    fn decided(&self) -> impl Iterator<Item = &'a Attempt<'a>> {
        self.story.attempts.iter().filter(|attempt| attempt.decision.is_some())
    }

    fn last_decided(&self) -> Option<&'a Attempt<'a>> {
        self.decided().last()
    }

    /// What was recorded of the last decision.
    fn recorded(&self) -> Vec<Evidence> {
        let fact = |path: String, value: String| Evidence::new(self.object(), path, value);
        let mut facts = vec![fact("status.restarts".to_owned(), self.story.job_set.restarts.to_string())];
        if let Some(decision) = self.last_decided().and_then(|attempt| attempt.decision.as_ref()) {
            let path = match decision.recorded_in {
                "Event" => "Event.reason".to_owned(),
                condition => format!("status.conditions[type={condition}].reason"),
            };
            facts.push(fact(path, decision.recorded_reason.to_owned()));
        }
        facts
    }

    /// Whether an attempt ended by a disruption: the rule asked for that, or the pod in the data says so.
    fn is_disrupted(&self, attempt: &Attempt) -> bool {
        let is_of = |failure: &&'a Failure<'a>| {
            let led_to = self.analysis.decision_of(failure);
            led_to.is_some_and(|(_, other)| std::ptr::eq(other, attempt))
        };
        attempt.decision.as_ref().is_some_and(Decision::is_disruption)
            || self.own_failures().filter(is_of).any(Failure::ended_by_disruption)
    }

    /// Restarts without end cost as long as nobody stops them.
    fn endless(&self) -> Option<Advice> {
        let situation =
            self.story.situations.iter().find(|situation| situation.kind == SituationKind::EndlessRestarts)?;
        let job_set = self.story.job_set;
        if let Some(stop) = self.stopped_elsewhere() {
            let why = format!("{}: {}, and mend what fails", situation.text, stop.note);
            let advice = Advice::new(SuggestionKind::FixThenRestart, why).run(self.explain()).run(stop.commands);
            return Some(Advice { evidence: self.recorded(), ..advice });
        }
        let patch = serde_json::json!({"spec": {"suspend": true}});
        let words = ["patch", "jobset", &job_set.name, "-n", &job_set.namespace, "--type=merge"];
        let why = format!("{}: suspend it, and mend what fails", situation.text);
        let advice = Advice::new(SuggestionKind::FixThenRestart, why).run(self.explain());
        let advice = advice.run(self.kubectl.write(Safety::Destructive, &words, Some(&patch)));
        let loses =
            "the pods of the attempt that runs, with their logs, and what was computed since the last checkpoint";
        Some(Advice { evidence: self.recorded(), ..advice }.losing(Some(loses.to_owned())))
    }

    /// How it is stopped where somebody else would resume it, as Kueue does with what it has admitted.
    ///
    /// Source: Kueue `pkg/controller/jobframework/reconciler.go`, `ReconcileGenericJob`, and `pkg/controller/constants`.
    fn stopped_elsewhere(&self) -> Option<Way> {
        let (job_set, maker) = (self.story.job_set, self.maker());
        let note = match maker.hold() {
            Some(Hold::Deleted(at)) => format!("it is being deleted since {at}: see that nothing makes it again"),
            Some(Hold::Owner(owner)) => {
                format!("suspend it through {}/{}, which owns it and may resume it", owner.kind, owner.name)
            }
            Some(Hold::Manager(manager)) => {
                format!("suspend it where it comes from: {manager} runs it (spec.managedBy)")
            }
            Some(Hold::Application(application)) => format!("suspend it in what {application} applies"),
            None => {
                let queue = job_set.labels.get("kueue.x-k8s.io/queue-name").filter(|queue| !queue.is_empty())?;
                let selector = format!("kueue.x-k8s.io/job-uid={}", job_set.uid.as_ref()?);
                let namespace = &job_set.namespace;
                let workload = ["get", "workloads.kueue.x-k8s.io", "-n", namespace, "-l", &selector];
                let note = format!(
                    "Kueue (queue {queue}) would resume it if it were suspended: set spec.active of its Workload to false"
                );
                return Some(Way { commands: self.kubectl.read(&workload), note, ..Way::default() });
            }
        };
        Some(Way { commands: maker.show(self.kubectl), note, ..Way::default() })
    }

    fn failed(&self) -> Vec<Advice> {
        let mut all = Vec::new();
        if let Some(repeated) = self.repeated() {
            all.push(repeated);
        } else if self.last_decided().is_some_and(|last| self.is_disrupted(last)) {
            let why = "a disruption from outside ended its last attempt, which another try may survive";
            all.extend(checkpoint::start_again(
                self.maker(),
                self.analysis.snapshot,
                self.recorded(),
                why,
                self.kubectl,
            ));
        }
        all.extend(self.raise_restarts());
        // What is due is due whatever the cause.
        let is_protected = |advice: &Advice| advice.kind == SuggestionKind::ProtectCheckpoint;
        if !all.iter().any(is_protected)
            && let Some(kept) = checkpoint::kept_by(self.maker(), self.analysis.snapshot)
        {
            all.extend(protect::protect(self.maker(), &kept, self.analysis.snapshot, self.kubectl));
        }
        all
    }

    /// Attempts that ended by the same container with the same exit code, no signal from outside.
    fn repeated(&self) -> Option<Advice> {
        let signature = |attempt: &Attempt<'a>| {
            let decision = attempt.decision.as_ref()?;
            let replicated = self.story.job_set.replicated_job_of(decision.job?)?;
            let (container, exit_code) = decision.container?;
            (!decision.is_disruption() && !is_sent(exit_code)).then_some((&replicated.name, container, exit_code))
        };
        let last = self.last_decided().filter(|last| !self.is_disrupted(last)).and_then(signature)?;
        let alike = self.decided().filter(|attempt| signature(attempt) == Some(last)).count();
        if alike < ALIKE {
            return None;
        }
        let (replicated, container, exit_code) = last;
        let why = format!(
            "{alike} of its attempts ended alike, {container} of {replicated} with exit code {exit_code}: another try of the same \
             will end so, too"
        );
        let advice = Advice::new(SuggestionKind::FixThenRestart, why).run(self.explain());
        Some(Advice { evidence: self.recorded(), ..advice })
    }

    /// Where disruptions used up what was meant for failures of its own.
    fn raise_restarts(&self) -> Option<Advice> {
        let job_set = self.story.job_set;
        let is_spent = |attempt: &&Attempt| {
            let decision = attempt.decision.as_ref();
            let ran_out = attempt.outcome == AttemptOutcome::Failed
                && decision.is_some_and(|decision| decision.action == Some(JobSetAction::RestartJobSet));
            (attempt.counted() == Some(true) || ran_out) && self.is_disrupted(attempt)
        };
        let spent = self.decided().filter(is_spent).count();
        let max = job_set.max_restarts();
        if spent == 0 && !(max.is_none() && self.is_disrupted(self.last_decided()?)) {
            return None;
        }
        let why = match max {
            None => {
                "it has no failurePolicy, so that one disruption failed it: give it one with maxRestarts".to_owned()
            }
            Some(max) => {
                format!("disruptions ended {spent} of its attempts and counted (maxRestarts {max}): give it more")
            }
        };
        let maker = self.maker();
        // Without a Job that fails at once there is nothing for the rule to see; that advice is given with the Job's rule.
        let job = maker.replicated_job();
        let fails_at = job.and_then(|job| disruption::fails_on_disruptions(job.policy.as_ref()?));
        let (rule, operations) = match job.zip(fails_at) {
            Some((job, rule)) => disruption::with_job_set(job_set, &job.name, rule),
            None => (None, Vec::new()),
        };
        let max = max.map_or("<unset>".to_owned(), |max| max.to_string());
        let advice = |why: String| {
            let advice = Advice::new(SuggestionKind::RaiseRestarts, why);
            Advice { evidence: self.recorded(), ..advice }.fact(self.object(), "spec.failurePolicy.maxRestarts", &*max)
        };
        if operations.is_empty() {
            let why = format!("{why}; it is fixed once it is made: write it where the JobSet is made");
            return Some(advice(why).run(maker.show(self.kubectl)));
        }
        let way = maker.change(&Change::Policy(Vec::new(), operations), self.analysis.snapshot, self.kubectl);
        let why = format!("{why}, or, as they need not count, in spec.failurePolicy.rules {}; {}", rule?, way.note);
        Some(advice(why).run(way.commands).losing(way.loses))
    }

    fn enable_checkpoint(&self) -> Option<Advice> {
        let gone = self.decided().filter(|attempt| {
            let decision = attempt.decision.as_ref();
            decision.is_some_and(|d| d.is_disruption() && d.job_in_data.is_none())
        });
        let of_pods = self.own_failures().filter(|failure| failure.ended_by_disruption());
        let lost = gone.filter_map(|attempt| attempt.gpu_seconds).chain(of_pods.filter_map(Failure::gpu_seconds)).sum();
        checkpoint::enable(self.maker(), self.analysis.snapshot, lost, self.recorded(), self.kubectl)
    }

    /// What the controller does by itself, until when it may take, and what is left.
    fn goes_on(&self, state: WorkloadState) -> String {
        let job_set = self.story.job_set;
        let last = if job_set.max_restarts().is_some_and(|max| job_set.counted_restarts() >= max) {
            ", so that the next counted failure is final"
        } else {
            ""
        };
        let budget = self.story.budget();
        if state == WorkloadState::Running {
            return format!("the JobSet made its Jobs anew by itself and runs: {budget}{last}");
        }
        let until = teardown::until(self.story).map(|until| Time::from_seconds(until.seconds()));
        let once = until.map(|until| format!(" once its pods have ended, which may take until {until}"));
        format!("the JobSet makes its Jobs anew by itself{}: {budget}{last}", once.unwrap_or_default())
    }

    fn pods(&self) -> Vec<Command> {
        let job_set = self.story.job_set;
        let selector = format!("jobset.sigs.k8s.io/jobset-name={}", job_set.name);
        self.kubectl.read(&["get", "pods", "-n", &job_set.namespace, "-l", &selector])
    }

    /// To wait where the controller is at it and can get on, else to look at what remains.
    fn wait_or_look(&self) -> Option<Advice> {
        let state = self.story.state();
        let gone = self.own_failures().any(|failure| failure.gone_job().is_some());
        if !gone {
            return None;
        }
        let goes_on = matches!(state, WorkloadState::Running | WorkloadState::Restarting | WorkloadState::Failing);
        if goes_on && retry::is_run_here(self.story.job_set) {
            // What cannot start does not come right by waiting.
            let is_stuck = self.own_failures().any(|failure| failure.class == Class::Pending);
            let advice = Advice::new(SuggestionKind::Wait, self.goes_on(state)).run(self.explain()).run(self.pods());
            return (!is_stuck).then(|| Advice { evidence: self.recorded(), ..advice });
        }
        let why = "a restart deleted the Jobs and pods of the attempts before: see what is still known of each";
        let advice = Advice::new(SuggestionKind::Inspect, why).run(self.explain());
        Some(Advice { evidence: self.recorded(), ..advice })
    }
}
