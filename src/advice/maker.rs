//! Where a Job's spec is written, and how it can be changed there: most of it is fixed once the object is made.

use serde_json::{Value, json};

use super::Kubectl;
use super::command::Command;
use crate::analysis::{Analysis, Failure, JobSetStory};
use crate::model::{Job, Owner, ReplicatedJob};
use crate::report::{Safety, WorkloadState};

/// What makes the pods of a failure, and so holds their template.
#[derive(Clone, Copy)]
pub(super) enum Maker<'a> {
    /// The Job itself.
    Job(&'a Job),
    /// The `CronJob` of a Job.
    CronJob(&'a Job, &'a Owner),
    /// A `JobSet`, and which of its replicated Jobs.
    JobSet(&'a JobSetStory<'a>, Option<usize>),
    /// Something else, which would fight a change of the Job.
    Other(&'a Job, &'a Owner),
}

/// A change of a Job's spec.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// Resources of a container, as a strategic merge of the pod's spec: the one change that a suspended Job takes.
    Resources(Value),
    /// JSON patch operations, with paths from the Job's spec on, and others with paths from the whole object on.
    Operations(Vec<Value>, Vec<Value>),
}

/// How a change is made.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    pub(super) commands: Vec<Command>,
    /// What is to be known of it.
    pub(super) note: String,
    /// What is lost by it.
    pub(super) loses: Option<String>,
}

impl<'a> Maker<'a> {
    /// The maker of a failure's pods, as far as it is in the data.
    pub(super) fn of(analysis: &'a Analysis<'a>, failure: &'a Failure<'a>) -> Option<Self> {
        let story = analysis.workloads[failure.workload].story.and_then(|story| analysis.stories.get(story));
        let Some(job) = failure.job else {
            let story = story?;
            return Some(Self::JobSet(story, failure.job_name().and_then(|job| place(story, job))));
        };
        Some(match (&job.owner, story) {
            (None, _) => Self::Job(job),
            (Some(_), Some(story)) => Self::JobSet(story, place(story, &job.name)),
            (Some(owner), None) if owner.is("batch", "CronJob") => Self::CronJob(job, owner),
            (Some(owner), None) => Self::Other(job, owner),
        })
    }

    /// The replicated Job of a `JobSet`.
    pub(super) fn replicated_job(self) -> Option<&'a ReplicatedJob> {
        match self {
            Self::JobSet(story, index) => story.job_set.replicated_jobs.get(index?),
            _ => None,
        }
    }

    /// Namespace and name of the object that holds the template.
    fn place(self) -> (&'a str, &'a str, String) {
        match self {
            Self::Job(job) => (&job.namespace, &job.name, "job".to_owned()),
            Self::CronJob(job, owner) | Self::Other(job, owner) => {
                (&job.namespace, &owner.name, owner.kind.to_ascii_lowercase())
            }
            Self::JobSet(story, _) => (&story.job_set.namespace, &story.job_set.name, "jobset".to_owned()),
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
            Self::Job(job) | Self::CronJob(job, _) | Self::Other(job, _) => job.condition("Failed").is_some(),
            Self::JobSet(story, _) => story.state() == WorkloadState::Failed,
        }
    }

    /// The command that shows the object.
    pub(super) fn show(self, kubectl: &Kubectl) -> Vec<Command> {
        let (namespace, name, kind) = self.place();
        kubectl.read(&["get", &kind, name, "-n", namespace, "-o", "yaml"])
    }

    /// How it is started again, and what is lost by that. Nothing where something else would fight it.
    pub(super) fn restart(self, kubectl: &Kubectl) -> Way {
        let (namespace, _, _) = self.place();
        let target = self.target();
        let words = ["sigapps", "restart", &target, "-n", namespace];
        match self {
            Self::Other(_, owner) => Way {
                commands: self.show(kubectl),
                note: format!("start it again through {}/{}, which owns it", owner.kind, owner.name),
                loses: None,
            },
            Self::CronJob(..) | Self::Job(_) | Self::JobSet(..) => Way {
                commands: kubectl.write(Safety::Destructive, &words, None),
                note: String::new(),
                loses: Some(self.lost_by_restart()),
            },
        }
    }

    fn lost_by_restart(self) -> String {
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

    /// How its Job's spec is changed.
    pub(super) fn change(self, change: &Change, kubectl: &Kubectl) -> Way {
        let (namespace, name, _) = self.place();
        let patch = self.patch(change);
        let by_operations = matches!(change, Change::Operations(..));
        let direct = |kind: &str| {
            let mut words = vec!["patch", kind, name, "-n", namespace];
            words.extend(by_operations.then_some("--type=json"));
            kubectl.write(Safety::Mutating, &words, Some(&patch))
        };
        match self {
            Self::CronJob(..) => {
                Way { commands: direct("cronjob"), note: "this holds for the runs to come".to_owned(), loses: None }
            }
            Self::Job(job) if job.suspend && !by_operations && job.condition("Failed").is_none() => Way {
                commands: direct("job"),
                note: "a suspended Job takes this change (Kubernetes 1.36 or newer)".to_owned(),
                loses: None,
            },
            Self::Job(_) | Self::JobSet(..) if self.has_failed() => {
                let target = self.target();
                let words = ["sigapps", "restart", &target, "-n", namespace];
                Way {
                    commands: kubectl.write(Safety::Destructive, &words, Some(&patch)),
                    note: format!("{}: make it again with the change", self.what_is_fixed()),
                    loses: Some(self.lost_by_restart()),
                }
            }
            Self::Job(_) | Self::JobSet(..) => Way {
                commands: self.show(kubectl),
                note: format!("{}: change it where it is made", self.what_is_fixed()),
                loses: None,
            },
            Self::Other(_, owner) => Way {
                commands: self.show(kubectl),
                note: format!("change it in {}/{}, which makes the Job", owner.kind, owner.name),
                loses: None,
            },
        }
    }

    fn what_is_fixed(self) -> &'static str {
        match self {
            Self::JobSet(..) => "what a JobSet says of its Jobs and of failures is fixed once it is made",
            _ => "a Job's policy and template are fixed once it is made",
        }
    }

    fn patch(self, change: &Change) -> Value {
        match change {
            Change::Resources(pod_spec) => {
                let job_spec = json!({"template": {"spec": pod_spec}});
                match self {
                    Self::Job(_) | Self::Other(..) => json!({"spec": job_spec}),
                    Self::CronJob(..) => json!({"spec": {"jobTemplate": {"spec": job_spec}}}),
                    Self::JobSet(..) => {
                        let name = self.replicated_job().map_or("", |job| &*job.name);
                        json!({"spec": {"replicatedJobs": [{"name": name, "template": {"spec": job_spec}}]}})
                    }
                }
            }
            Change::Operations(of_job_spec, of_object) => {
                let prefix = match self {
                    Self::Job(_) | Self::Other(..) => "/spec".to_owned(),
                    Self::CronJob(..) => "/spec/jobTemplate/spec".to_owned(),
                    Self::JobSet(_, index) => format!("/spec/replicatedJobs/{}/template/spec", index.unwrap_or(0)),
                };
                let moved = of_job_spec.iter().map(|operation| below(operation, &prefix));
                Value::Array(moved.chain(of_object.iter().cloned()).collect())
            }
        }
    }
}

/// A JSON patch operation with its paths below a prefix.
fn below(operation: &Value, prefix: &str) -> Value {
    let mut operation = operation.clone();
    for field in ["path", "from"] {
        if let Some(path) = operation.get(field).and_then(Value::as_str) {
            operation[field] = format!("{prefix}{path}").into();
        }
    }
    operation
}

/// Which replicated Job a Job of a `JobSet` is made of.
fn place(story: &JobSetStory, job: &str) -> Option<usize> {
    let replicated = story.job_set.replicated_job_of(job)?;
    story.job_set.replicated_jobs.iter().position(|other| other.name == replicated.name)
}
