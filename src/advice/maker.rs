//! Where a Job's spec is written, and who decides about the object that holds it.

use super::Kubectl;
use super::change::Way;
use crate::analysis::{Analysis, Failure, JobSetStory};
use crate::model::{CronJob, Job, Owner, ReplicatedJob, TemplateMemory, Time, Word};
use crate::report::{Safety, WorkloadState};
use crate::source::Snapshot;

/// What makes the pods of a failure, and so holds their template.
#[derive(Clone, Copy)]
pub(super) enum Maker<'a> {
    /// The Job itself.
    Job(&'a Job),
    /// The `CronJob` of a Job.
    CronJob(Run<'a>),
    /// A `JobSet`, and which of its replicated Jobs.
    JobSet(&'a JobSetStory<'a>, Option<usize>),
    /// Something else, which would fight a change of the Job.
    Other(&'a Job, &'a Owner),
}

/// A Job of a `CronJob`.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) job: &'a Job,
    pub(super) owner: &'a Owner,
    /// The `CronJob` as it is now, where it is in the data.
    pub(super) cron_job: Option<&'a CronJob>,
    /// All of its Jobs in the data.
    all: &'a [&'a Job],
}

/// Who, but for us, decides about an object: a change or another start of it here is refused, or undone.
#[derive(Clone, Copy)]
pub(super) enum Hold<'a> {
    /// It is being deleted.
    Deleted(Time),
    /// A controller that owns it.
    Owner(&'a Owner),
    /// A controller in another place, by `spec.managedBy`.
    Manager(&'a str),
    /// A `GitOps` tool's application.
    Application(&'a str),
}

impl<'a> Maker<'a> {
    /// The maker of a failure's pods, as far as it is in the data.
    pub(super) fn of(analysis: &'a Analysis<'a>, failure: &'a Failure<'a>) -> Option<Self> {
        if let Some(job) = failure.job {
            return Some(Self::of_job(analysis, failure.workload, job));
        }
        let story = analysis.workloads[failure.workload].story.and_then(|story| analysis.stories.get(story))?;
        Some(Self::JobSet(story, failure.job_name().and_then(|job| place(story, job))))
    }

    /// The maker of the pods of a workload's Job.
    pub(super) fn of_job(analysis: &'a Analysis<'a>, workload: usize, job: &'a Job) -> Self {
        let story = analysis.workloads[workload].story.and_then(|story| analysis.stories.get(story));
        match (&job.owner, story) {
            (None, _) => Self::Job(job),
            (Some(_), Some(story)) => Self::JobSet(story, place(story, &job.name)),
            (Some(owner), None) if owner.is("batch", "CronJob") => {
                let cron_job = cron_job(analysis.snapshot, job, owner);
                Self::CronJob(Run { job, owner, cron_job, all: &analysis.workloads[workload].jobs })
            }
            (Some(owner), None) => Self::Other(job, owner),
        }
    }

    /// The replicated Job of a `JobSet`.
    pub(super) fn replicated_job(self) -> Option<&'a ReplicatedJob> {
        match self {
            Self::JobSet(story, index) => story.job_set.replicated_jobs.get(index?),
            _ => None,
        }
    }

    /// What the template that the pods were made from says of memory.
    pub(super) fn memory(self) -> Option<&'a TemplateMemory> {
        match self {
            Self::Job(job) | Self::CronJob(Run { job, .. }) | Self::Other(job, _) => Some(&*job.memory),
            Self::JobSet(..) => self.replicated_job().map(|job| &*job.memory),
        }
    }

    /// Namespace and name of the object that holds the template.
    pub(super) fn place(self) -> (&'a str, &'a str, String) {
        match self {
            Self::Job(job) => (&job.namespace, &job.name, "job".to_owned()),
            Self::CronJob(Run { job, owner, .. }) | Self::Other(job, owner) => {
                (&job.namespace, &owner.name, owner.kind.to_ascii_lowercase())
            }
            Self::JobSet(story, _) => (&story.job_set.namespace, &story.job_set.name, "jobset".to_owned()),
        }
    }

    /// What is made again where it is started again, or changed: `Job`, `JobSet`.
    pub(super) const fn kind(self) -> &'static str {
        match self {
            Self::JobSet(..) => "JobSet",
            Self::CronJob(..) => "CronJob",
            Self::Job(_) | Self::Other(..) => "Job",
        }
    }

    /// As kubectl names it: `jobset/x`.
    pub(super) fn target(self) -> String {
        let (_, name, kind) = self.place();
        format!("{kind}/{name}")
    }

    /// As evidence names it: `jobset/ns/x`.
    pub(super) fn object(self) -> String {
        let (namespace, name, kind) = self.place();
        format!("{kind}/{namespace}/{name}")
    }

    /// The path of a field of the Job's spec in that object.
    pub(super) fn path(self, field: &str) -> String {
        match self {
            Self::Job(_) | Self::Other(..) => format!("spec.{field}"),
            Self::CronJob(..) => format!("spec.jobTemplate.spec.{field}"),
            Self::JobSet(..) => {
                let name = self.replicated_job().map_or("", |job| &*job.name);
                format!("spec.replicatedJobs[name={name}].template.spec.{field}")
            }
        }
    }

    /// Whether it has failed for good.
    pub(super) fn has_failed(self) -> bool {
        match self {
            Self::Job(job) | Self::CronJob(Run { job, .. }) | Self::Other(job, _) => job.condition("Failed").is_some(),
            Self::JobSet(story, _) => story.state() == WorkloadState::Failed,
        }
    }

    /// Who else decides about it.
    pub(super) fn hold(self) -> Option<Hold<'a>> {
        let (deleted, owner, manager, application) = match self {
            Self::Job(job) => (job.deletion_requested, None, job.managed_by.as_ref(), job.applied_by.as_ref()),
            Self::CronJob(run) => {
                let it = run.cron_job?;
                (it.deletion_requested, it.owner.as_ref(), None, it.applied_by.as_ref())
            }
            Self::JobSet(story, _) => {
                let it = story.job_set;
                (it.deletion_requested, it.owner.as_ref(), it.managed_by.as_ref(), it.applied_by.as_ref())
            }
            Self::Other(_, owner) => (None, Some(owner), None, None),
        };
        deleted
            .map(Hold::Deleted)
            .or(owner.map(Hold::Owner))
            .or(manager.map(|manager| Hold::Manager(manager)))
            .or(application.map(|application| Hold::Application(application)))
    }

    /// The command that shows the object that decides.
    pub(super) fn show(self, kubectl: &Kubectl) -> Vec<super::command::Command> {
        let (namespace, name, kind) = self.place();
        match self.hold() {
            Some(Hold::Owner(owner)) => {
                let kind = owner.kind.to_ascii_lowercase();
                kubectl.read(&["get", &kind, &owner.name, "-n", namespace, "-o", "yaml"])
            }
            _ => kubectl.read(&["get", &kind, name, "-n", namespace, "-o", "yaml"]),
        }
    }

    /// How it is started again, and what is lost by that. Nothing but a look where somebody else would refuse or fight it.
    pub(super) fn restart(self, kubectl: &Kubectl) -> Way {
        let (namespace, _, _) = self.place();
        let target = self.target();
        let words = ["sigapps", "restart", &target, "-n", namespace];
        // A new run of a CronJob is made beside what is there, whoever decides about it.
        let is_run = matches!(self, Self::CronJob(..));
        let hold = self.hold().filter(|hold| !is_run || matches!(hold, Hold::Deleted(_)));
        let note = match hold {
            Some(Hold::Deleted(at)) => format!("it is being deleted since {at}"),
            Some(Hold::Owner(owner)) => format!("start it again through {}/{}, which owns it", owner.kind, owner.name),
            Some(Hold::Manager(manager)) => {
                format!("start it again where it comes from: {manager} runs it (spec.managedBy)")
            }
            Some(Hold::Application(application)) => {
                format!(
                    "{application} applies it: pause its sync first, and kubectl sigapps restart goes on with --force"
                )
            }
            None => {
                return Way {
                    commands: kubectl.write(Safety::Destructive, &words, None),
                    loses: Some(self.lost_by_restart()),
                    ..Way::default()
                };
            }
        };
        Way { commands: self.show(kubectl), note, ..Way::default() }
    }

    pub(super) fn lost_by_restart(self) -> String {
        match self {
            Self::JobSet(..) => {
                "its Jobs, pods and their logs, status and restart counters, after they were saved to files".to_owned()
            }
            // The controller counts a Job made by hand, too (`cronjob_controllerv2.go`, `cleanupFinishedJobs`).
            Self::CronJob(..) => "when the new Job ends, its oldest finished Jobs beyond failedJobsHistoryLimit and \
                                  successfulJobsHistoryLimit, with their pods and logs, after they were saved to files"
                .to_owned(),
            _ => "its pods and their logs, and its status, after they were saved to files".to_owned(),
        }
    }

    /// Of a `CronJob`: why its failed run needs no other, as another one does, or has done, the work. Two at once are what
    /// `concurrencyPolicy` may forbid, and that does not hold for a run by hand.
    pub(super) fn later_run(self) -> Option<String> {
        let Self::CronJob(run) = self else { return None };
        let failed = run.job;
        let others = || run.all.iter().filter(|job| job.name != failed.name);
        if let Some(run) = others().find(|job| !job.is_finished() && job.deletion_requested.is_none()) {
            return Some(format!("run {} is active", run.name));
        }
        let is_unseen = |name: &&Word| !run.all.iter().any(|job| job.name == **name);
        if let Some(run) = run.cron_job.into_iter().flat_map(|cron_job| &cron_job.active).find(is_unseen) {
            return Some(format!("run {run} is active"));
        }
        if let Some(run) = others().find(|job| job.created > failed.created && job.condition("Complete").is_some()) {
            return Some(format!("the later run {} has completed", run.name));
        }
        let ended = failed.condition("Failed").and_then(|condition| condition.at);
        let succeeded = run.cron_job.and_then(|cron_job| cron_job.last_succeeded);
        succeeded.filter(|succeeded| Some(*succeeded) > ended).map(|at| format!("another run has completed at {at}"))
    }
}

/// The `CronJob` that made a Job, not one that was made anew under its name.
fn cron_job<'a>(snapshot: &'a Snapshot, job: &Job, owner: &Owner) -> Option<&'a CronJob> {
    let place = |it: &CronJob| (&*it.namespace, &*it.name).cmp(&(&*job.namespace, &*owner.name));
    let first = snapshot.cron_jobs.partition_point(|it| place(it).is_lt());
    let of_name = snapshot.cron_jobs[first..].iter().take_while(|it| place(it).is_eq());
    let same = |it: &&CronJob| it.uid.is_none() || owner.uid.is_none() || it.uid == owner.uid;
    of_name.filter(same).last()
}

/// Which replicated Job a Job of a `JobSet` is made of.
fn place(story: &JobSetStory, job: &str) -> Option<usize> {
    let replicated = story.job_set.replicated_job_of(job)?;
    story.job_set.replicated_jobs.iter().position(|other| other.name == replicated.name)
}
