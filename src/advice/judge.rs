use super::retry::{goes_on, retried};
use super::{Advice, Kubectl};
use crate::analysis::{Failure, object, telling_line};
use crate::model::{Action, ContainerKind, Job, Pod};
use crate::policy::requirement;
use crate::report::{Class, Evidence, SuggestionKind};

/// What a failure that stands for others of its Job and cause calls for; `None` where nothing useful can be said.
pub(super) fn advice_for(failure: &Failure, kubectl: &Kubectl) -> Option<Advice> {
    let case = Case { failure, kubectl };
    match failure.class {
        Class::Rule => case.rule(),
        Class::NoRule | Class::NoPolicy | Class::Unknown => Some(case.own_end()),
        Class::Unmatchable => Some(case.refused()),
        Class::Pending => case.pending(),
        Class::Restarting => Some(case.restarting()),
        Class::JobLevel => Some(case.job_level()),
        Class::Lost => Some(case.lost()),
        Class::Collateral => None,
    }
}

/// A failure that stands for others.
struct Case<'a> {
    failure: &'a Failure<'a>,
    kubectl: &'a Kubectl,
}

impl Case<'_> {
    fn advice(&self, kind: SuggestionKind, title: &'static str, why: String, commands: Vec<String>) -> Advice {
        Advice { kind, title, why, commands, evidence: self.failure.evidence() }
    }

    fn inspect(&self, why: &str, commands: Vec<String>) -> Advice {
        self.advice(SuggestionKind::Inspect, "Inspect", why.to_owned(), commands)
    }

    fn rule(&self) -> Option<Advice> {
        let (hit, job) = (self.failure.rule?, self.failure.job?);
        if hit.sidecar {
            return Some(self.sidecar(job, hit.index));
        }
        if self.is_out_of_memory() {
            return Some(self.raise_memory());
        }
        let ends_it = matches!(hit.action, Action::FailJob | Action::FailIndex);
        match hit.action {
            _ if ends_it && self.failure.is_disrupted() => Some(self.inspect(
                "the rule gives up on a disruption from outside, which another try may survive: see who disrupted the pod",
                self.look(),
            )),
            _ if ends_it => {
                let asked = requirement(job.policy.as_ref()?.rules.get(hit.index)?);
                let action = hit.action;
                Some(if hit.by_exit_code() {
                    let why = format!("the policy gives {asked} no second try ({action}): mend what it stands for first");
                    self.advice(SuggestionKind::FixThenRestart, "Fix, then restart", why, self.look())
                } else {
                    let told = self.failure.matched_condition().and_then(|told| told.message.as_deref());
                    let told = told.and_then(telling_line).map(|line| format!(" ({line})")).unwrap_or_default();
                    let why = format!("{asked}{told} is given no second try ({action}): mend that first");
                    self.advice(SuggestionKind::FixThenRestart, "Fix, then restart", why, self.describe_pod_and_node())
                })
            }
            Action::Ignore => {
                let why = retried(self.failure)?;
                Some(self.advice(SuggestionKind::Wait, "Wait", why, self.pods_of(job)))
            }
            _ => Some(self.own_end()),
        }
    }

    fn sidecar(&self, job: &Job, index: usize) -> Advice {
        let hit = self.failure.sidecar_hit();
        let container = self.failure.end.map_or("", |end| &*end.container);
        let app = hit.and_then(|hit| hit.app).map_or("(the app)", |end| &*end.container);
        let hidden = hit
            .and_then(|hit| hit.instead)
            .map_or(String::new(), |(index, action)| format!(", which keeps rule {index} {action} from acting"));
        let endless = if goes_on(job) && self.failure.counted == Some(false) {
            "; until then nothing limits the retries"
        } else {
            ""
        };
        let why = format!(
            "give rule {index} containerName: {app}; now it matches the sidecar {container}{hidden}{endless} (a Job's policy is fixed: change it where the Job is made)"
        );
        let mut advice = self.advice(SuggestionKind::EditPolicy, "Edit the policy", why, Vec::new());
        advice.evidence.push(Evidence {
            object: object("job", &job.namespace, &job.name),
            path: format!("spec.podFailurePolicy.rules[{index}].onExitCodes.containerName"),
            value: "<unset>".to_owned(),
        });
        advice.commands = self.command(&["get", "job", &job.name, "-n", &job.namespace, "-o", "yaml"]);
        advice
    }

    /// A failure that the controller counts: by a Count rule, or because no rule took it.
    fn own_end(&self) -> Advice {
        if self.is_out_of_memory() {
            return self.raise_memory();
        }
        if let Some(why) = retried(self.failure) {
            return self.advice(SuggestionKind::Wait, "Wait", why, self.look());
        }
        let why = match self.failure.class {
            Class::Unknown if self.failure.job.is_none() => "its Job is not in the data: read it to learn its policy",
            Class::Unknown => "another controller manages the Job: look at it where that one records its outcome",
            Class::Rule => "a Count rule only counts it: look at what the container said",
            Class::NoPolicy => "no podFailurePolicy tells this failure from others: look at what the container said",
            _ => "no rule matched: look at what the container said",
        };
        self.inspect(why, self.look())
    }

    fn is_out_of_memory(&self) -> bool {
        self.failure.end.is_some_and(|end| end.reason.as_deref() == Some("OOMKilled"))
    }

    fn raise_memory(&self) -> Advice {
        let end = self.failure.end;
        let container = end.map_or("", |end| &*end.container);
        let memory = end.and_then(|end| end.memory.as_deref());
        let limit = memory.and_then(|memory| memory.limit.as_deref());
        let request = memory.and_then(|memory| memory.request.as_deref()).unwrap_or("none");
        let why = match limit {
            Some(limit) => {
                format!("{container} was OOM-killed at its memory limit {limit} (request {request}): give it more")
            }
            None => format!(
                "{container} was OOM-killed without a memory limit of its own (request {request}): request what it needs"
            ),
        };
        let mut advice = self.advice(SuggestionKind::RaiseMemory, "Raise memory", why, Vec::new());
        if let Some(pod) = self.failure.pod {
            let list = match end.map(|end| end.kind) {
                Some(ContainerKind::Init | ContainerKind::Sidecar) => "initContainers",
                _ => "containers",
            };
            advice.evidence.push(Evidence {
                object: object("pod", &pod.namespace, &pod.name),
                path: format!("spec.{list}[name={container}].resources.limits.memory"),
                value: limit.unwrap_or("<unset>").to_owned(),
            });
            advice.commands = self.describe(pod);
        }
        advice
    }

    /// The kubelet refused the pod: no container ever ran, so that there are no logs.
    fn refused(&self) -> Advice {
        let reason = self.failure.pod.and_then(Pod::reason).unwrap_or("no reason given");
        let why = format!(
            "the kubelet refused the pod ({reason}): no rule can match that, and it counts towards backoffLimit; see what the node has left"
        );
        let node = self.failure.pod.and_then(|pod| pod.node.as_deref());
        let commands = node.map_or_else(|| self.look(), |node| self.command(&["describe", "node", node]));
        self.advice(SuggestionKind::FreeCapacity, "Free capacity", why, commands)
    }

    fn pending(&self) -> Option<Advice> {
        let waiting = self.failure.waiting?;
        let image = waiting.image.as_deref().unwrap_or("the image");
        let said =
            waiting.message.as_deref().and_then(telling_line).map(|line| format!(": {line}")).unwrap_or_default();
        let reason = &*waiting.reason;
        let (kind, title, why) = match reason {
            "ImagePullBackOff"
            | "ErrImagePull"
            | "InvalidImageName"
            | "ErrImageNeverPull"
            | "ImageInspectError"
            | "RegistryUnavailable"
            | "SignatureValidationFailed" => (
                SuggestionKind::FixImage,
                "Fix the image",
                format!(
                    "{image} cannot be pulled ({reason}): the pod cannot start, and that is not counted as a failure"
                ),
            ),
            "Unschedulable" if said.contains("PersistentVolumeClaim") => {
                (SuggestionKind::FixConfig, "Fix the configuration", format!("a volume is missing{said}"))
            }
            "Unschedulable" | "SchedulerError" => {
                (SuggestionKind::FreeCapacity, "Free capacity", format!("no node can take the pod{said}"))
            }
            "SchedulingGated" => (
                SuggestionKind::Wait,
                "Wait",
                "a scheduling gate holds the pod: who set it must take it off".to_owned(),
            ),
            "ContainerCreating" | "PodInitializing" | "Pending" => (
                SuggestionKind::Inspect,
                "Inspect",
                "the pod has been starting for long: its Events tell what it waits for (volumes, network, devices)"
                    .to_owned(),
            ),
            _ => (
                SuggestionKind::FixConfig,
                "Fix the configuration",
                format!("{reason}{said}; the pod cannot start, and that is not counted as a failure"),
            ),
        };
        let commands = self.failure.pod.map(|pod| self.describe(pod)).unwrap_or_default();
        Some(self.advice(kind, title, why, commands))
    }

    fn restarting(&self) -> Advice {
        let commands = match (self.failure.pod, self.failure.end) {
            (Some(pod), Some(end)) => {
                self.command(&["logs", "-n", &pod.namespace, &pod.name, "-c", &end.container, "--previous"])
            }
            _ => Vec::new(),
        };
        self.inspect("containers fail in place, where no rule sees them: look at what the last one said", commands)
    }

    fn job_level(&self) -> Advice {
        let told = self.failure.told.as_deref();
        let reason = told.and_then(|told| told.reason.as_deref()).unwrap_or_default();
        let commands = self.failure.job.map(|job| self.describe_job(job)).unwrap_or_default();
        match reason {
            "FailedCreate" => {
                let said = told.and_then(|told| told.message.as_deref()).and_then(telling_line).unwrap_or_default();
                let why = format!("the Job cannot create its pods: {said}");
                self.advice(SuggestionKind::FixConfig, "Fix the configuration", why, commands)
            }
            "DeadlineExceeded" => self.inspect(
                "activeDeadlineSeconds ended the Job, no pod failed: learn what it was doing before it runs again",
                commands,
            ),
            reason => self.inspect(&format!("the Job failed ({reason}) and none of its pods shows why"), commands),
        }
    }

    fn lost(&self) -> Advice {
        let job = self.failure.job;
        let why = if job.is_some_and(|job| job.managed_by.is_some()) {
            "another controller manages the Job: its pods are elsewhere"
        } else if job.is_some_and(|job| job.restarts_in_place) {
            "restartPolicy OnFailure lets the Job delete failed pods; with Never they stay to be looked at"
        } else {
            "no pod is in the data: the Job's Events, while they last, tell what became of them"
        };
        self.inspect(why, job.map(|job| self.describe_job(job)).unwrap_or_default())
    }

    /// Logs of the container to blame, or, where none has run, the pod's description; only while the pod exists.
    fn look(&self) -> Vec<String> {
        match (self.failure.pod, self.failure.end) {
            (Some(pod), Some(end)) if !self.failure.is_disrupted() => {
                self.command(&["logs", "-n", &pod.namespace, &pod.name, "-c", &end.container])
            }
            (Some(pod), _) => self.describe(pod),
            (None, _) => self.failure.job.map(|job| self.describe_job(job)).unwrap_or_default(),
        }
    }

    fn describe(&self, pod: &Pod) -> Vec<String> {
        self.command(&["describe", "pod", &pod.name, "-n", &pod.namespace])
    }

    fn describe_pod_and_node(&self) -> Vec<String> {
        let Some(pod) = self.failure.pod else { return Vec::new() };
        let node = pod.node.as_deref().map(|node| self.command(&["describe", "node", node]));
        let mut commands = self.describe(pod);
        commands.extend(node.into_iter().flatten());
        commands
    }

    fn describe_job(&self, job: &Job) -> Vec<String> {
        self.command(&["describe", "job", &job.name, "-n", &job.namespace])
    }

    fn pods_of(&self, job: &Job) -> Vec<String> {
        let selector = format!("batch.kubernetes.io/job-name={}", job.name);
        self.command(&["get", "pods", "-n", &job.namespace, "-l", &selector])
    }

    fn command(&self, words: &[&str]) -> Vec<String> {
        self.kubectl.command(words).into_iter().collect()
    }
}
