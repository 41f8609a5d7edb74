//! How a Job's spec can be changed where it is written: most of it is fixed once the object is made.

use serde_json::{Value, json};

use super::Kubectl;
use super::checkpoint::{self, Stake};
use super::command::Command;
use super::maker::{Hold, Maker, Run};
use crate::model::{CronJob, Job, Word};
use crate::report::Safety;
use crate::source::Snapshot;

/// A change of a Job's spec.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// Resources of a container, as a strategic merge of the pod's spec: the one change that a suspended Job takes.
    Resources(Word, Value),
    /// The policy, as JSON patch operations with paths from the Job's spec on, and others with paths from the whole object on.
    Policy(Vec<Value>, Vec<Value>),
}

/// How a change is made.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    pub(super) commands: Vec<Command>,
    /// What is to be known of it.
    pub(super) note: String,
    /// What is lost by it.
    pub(super) loses: Option<String>,
    /// Whether what would be changed is no longer what the failed pods were made from.
    pub(super) is_stale: bool,
}

impl Maker<'_> {
    /// How its Job's spec is changed.
    pub(super) fn change(self, change: &Change, snapshot: &Snapshot, kubectl: &Kubectl) -> Way {
        if self.hold().is_some() {
            return self.by_hand(kubectl);
        }
        match self {
            Self::CronJob(Run { job, cron_job: Some(cron_job), .. }) if change.is_stale(job, cron_job) => Way {
                commands: self.show(kubectl),
                note: format!(
                    "{} was changed since this run was made: see whether that suffices",
                    change.what(job, cron_job)
                ),
                is_stale: true,
                ..Way::default()
            },
            Self::CronJob(Run { cron_job: Some(_), .. }) => Way {
                commands: self.patched("cronjob", change, kubectl),
                note: "this holds for the runs to come".to_owned(),
                ..Way::default()
            },
            Self::Job(job) if matches!(change, Change::Resources(..)) && takes_resources(job) => Way {
                commands: self.patched("job", change, kubectl),
                note: "a suspended Job takes this change (Kubernetes 1.36 or newer)".to_owned(),
                ..Way::default()
            },
            Self::Job(job) if matches!(change, Change::Resources(..)) && job.suspend && !job.is_finished() => {
                let note = "it is suspended, and takes this change once its pods have ended and its condition Suspended is True \
                            (Kubernetes 1.36 or newer)";
                Way { commands: self.show(kubectl), note: note.to_owned(), ..Way::default() }
            }
            Self::Job(_) | Self::JobSet(..) if self.has_failed() => self.made_again(change, snapshot, kubectl),
            _ => self.by_hand(kubectl),
        }
    }

    fn made_again(self, change: &Change, snapshot: &Snapshot, kubectl: &Kubectl) -> Way {
        let fixed = self.what_is_fixed();
        let first = match checkpoint::stake(self, snapshot) {
            Stake::None => "",
            Stake::Owned => "protect its claim first, and ",
            Stake::Going => {
                let note =
                    format!("{fixed}: make it again with the change, but not before what is on its claim is saved");
                return Way { commands: self.show(kubectl), note, ..Way::default() };
            }
        };
        let (namespace, _, _) = self.place();
        let target = self.target();
        let words = ["sigapps", "restart", &target, "-n", namespace];
        Way {
            commands: kubectl.write(Safety::Destructive, &words, Some(&self.patch(change))),
            note: format!("{fixed}: {first}make it again with the change"),
            loses: Some(self.lost_by_restart()),
            is_stale: false,
        }
    }

    /// Where a person must make the change.
    pub(super) fn by_hand(self, kubectl: &Kubectl) -> Way {
        let note = match self.hold() {
            Some(Hold::Deleted(at)) => format!("it is being deleted since {at}: change it where it is made"),
            Some(Hold::Owner(owner)) => {
                format!("change it in {}/{}, which makes the {}", owner.kind, owner.name, self.kind())
            }
            Some(Hold::Manager(manager)) => {
                format!("change it where it comes from: {manager} runs it (spec.managedBy)")
            }
            Some(Hold::Application(application)) => format!("change it in what {application} applies"),
            None => match self {
                Self::CronJob(Run { owner, cron_job: None, .. }) => {
                    format!("CronJob/{} is not in the data: see what it says now, and change it there", owner.name)
                }
                Self::CronJob(..) => "the CronJob's next runs take the change".to_owned(),
                _ => format!("{}: change it where it is made", self.what_is_fixed()),
            },
        };
        Way { commands: self.show(kubectl), note, ..Way::default() }
    }

    fn patched(self, kind: &str, change: &Change, kubectl: &Kubectl) -> Vec<Command> {
        let (namespace, name, _) = self.place();
        let mut words = vec!["patch", kind, name, "-n", namespace];
        words.extend(matches!(change, Change::Policy(..)).then_some("--type=json"));
        kubectl.write(Safety::Mutating, &words, Some(&self.patch(change)))
    }

    fn what_is_fixed(self) -> &'static str {
        match self {
            Self::JobSet(..) => "what a JobSet says of its Jobs and of failures is fixed once it is made",
            _ => "a Job's policy and template are fixed once it is made",
        }
    }

    fn patch(self, change: &Change) -> Value {
        match change {
            Change::Resources(_, pod_spec) => {
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
            Change::Policy(of_job_spec, of_object) => {
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

impl Change {
    /// Whether a `CronJob` no longer says there what a Job was made from: a change worked out from the Job would undo what was
    /// done since.
    fn is_stale(&self, job: &Job, cron_job: &CronJob) -> bool {
        match self {
            Self::Resources(container, _) => job.memory.of(container) != cron_job.memory.of(container),
            Self::Policy(..) => job.policy != cron_job.policy || job.restarts_in_place != cron_job.restarts_in_place,
        }
    }

    fn what(&self, job: &Job, cron_job: &CronJob) -> String {
        match self {
            Self::Resources(container, _) => format!("the memory of {container} in the CronJob"),
            Self::Policy(..) if job.policy == cron_job.policy => "the restartPolicy of the CronJob".to_owned(),
            Self::Policy(..) => "the podFailurePolicy of the CronJob".to_owned(),
        }
    }
}

/// Whether the API server lets the resources of the Job's containers be changed.
///
/// Source: KEP-5440, Kubernetes `pkg/registry/batch/job/strategy.go`, `shouldAllowMutablePodTemplate`.
fn takes_resources(job: &Job) -> bool {
    let is_at_rest = job.started.is_none() || job.condition("Suspended").is_some();
    job.suspend && is_at_rest && job.active == 0 && !job.is_finished()
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
