use super::{Advice, Kubectl};
use crate::analysis::{Analysis, Failure, Members};
use crate::model::{Action, Job, Pod};
use crate::report::{Class, Evidence, Group, SuggestionKind};

/// What a group calls for, by its exemplar; `None` where nothing useful can be said.
pub(super) fn advice_for(analysis: &Analysis, group: &Group, members: &Members, kubectl: &Kubectl) -> Option<Advice> {
    let failure = &analysis.failures[members.exemplar];
    let case = Case { group, members, failure, kubectl };
    match failure.class {
        Class::Rule => case.rule(),
        Class::NoRule | Class::NoPolicy | Class::Unknown => Some(case.own_end()),
        Class::Unmatchable => Some(case.refused()),
        Class::Pending => Some(case.pending()),
        Class::Restarting => Some(case.restarting()),
        Class::JobLevel => Some(case.job_level()),
        Class::Lost => Some(case.lost()),
        Class::Collateral => None,
    }
}

/// A group and the failure that stands for it.
struct Case<'a> {
    group: &'a Group,
    members: &'a Members,
    failure: &'a Failure<'a>,
    kubectl: &'a Kubectl,
}

impl Case<'_> {
    fn advice(&self, kind: SuggestionKind, title: &'static str, why: String) -> Advice {
        Advice {
            kind,
            title,
            why,
            commands: Vec::new(),
            evidence: self.evidence(),
            workloads: self.members.workloads.clone(),
        }
    }

    fn rule(&self) -> Option<Advice> {
        let (hit, job) = (self.failure.rule?, self.failure.job?);
        if let Some(sidecar) = self.failure.sidecar_hit() {
            let instead = sidecar.instead.map(|(index, action)| (index, action.name()));
            return Some(self.sidecar(job, hit.index, instead));
        }
        if self.is_out_of_memory() {
            return Some(self.raise_memory());
        }
        Some(match hit.action {
            Action::FailJob | Action::FailIndex if !self.failure.is_disrupted() => {
                let asked = &self.group.rule.as_ref().map_or(String::new(), |rule| rule.requirement.clone());
                let why = format!("{asked} is a {} rule: the same input fails again, mend it first", hit.action);
                let mut advice = self.advice(SuggestionKind::FixThenRestart, "Fix, then restart", why);
                advice.commands = self.look();
                advice
            }
            Action::Ignore if !job.is_finished() => {
                let why = "an Ignore rule: not counted, the Job replaces the pod by itself".to_owned();
                let mut advice = self.advice(SuggestionKind::Wait, "Wait", why);
                advice.commands = vec![self.pods_of(job)];
                advice
            }
            Action::Ignore => return None,
            _ => self.own_end(),
        })
    }

    fn sidecar(&self, job: &Job, index: usize, instead: Option<(usize, &str)>) -> Advice {
        let container = self.failure.end.map_or("", |end| &*end.container);
        let app = self.failure.sidecar_hit().and_then(|hit| hit.app).map_or("app", |end| &*end.container);
        let hidden =
            instead.map_or(String::new(), |(index, action)| format!(", which keeps rule {index} {action} from acting"));
        let why = format!(
            "give rule {index} containerName: {app}; now it matches the sidecar {container}{hidden} (a Job's policy is fixed: change it where the Job is made)"
        );
        let mut advice = self.advice(SuggestionKind::EditPolicy, "Edit the policy", why);
        advice.evidence.push(Evidence {
            object: object("job", &job.namespace, &job.name),
            path: format!("spec.podFailurePolicy.rules[{index}].onExitCodes.containerName"),
            value: "<unset>".to_owned(),
        });
        advice.commands = vec![self.kubectl.command(&["get", "job", &job.name, "-n", &job.namespace, "-o", "yaml"])];
        advice
    }

    /// A failure that the controller counts: by a Count rule, or because no rule took it.
    fn own_end(&self) -> Advice {
        if self.is_out_of_memory() {
            return self.raise_memory();
        }
        if let Some(job) = self.failure.job.filter(|job| job.failing().is_none() && job.succeeding().is_none())
            && job.managed_by.is_none()
            && !job.suspend
        {
            let left = match (job.backoff_limit_per_index, job.backoff_limit) {
                (Some(limit), _) => Some(format!("each index has {limit} retries of its own")),
                (None, Some(limit)) if job.failed <= limit => {
                    Some(format!("retries left: {} of {limit}", limit - job.failed))
                }
                _ => None,
            };
            if let Some(left) = left {
                let why = format!("the Job replaces the pod by itself, {left}");
                let mut advice = self.advice(SuggestionKind::Wait, "Wait", why);
                advice.commands = self.look();
                return advice;
            }
        }
        self.inspect()
    }

    fn inspect(&self) -> Advice {
        let why = match self.failure.class {
            Class::Unknown if self.failure.job.is_none() => "its Job is not in the data: read it to learn its policy",
            Class::Rule if self.failure.is_disrupted() => {
                "the rule fails the Job for a disruption from outside: look at who disrupted the pod"
            }
            Class::Rule => "a Count rule only counts it: look at what the container said",
            Class::NoPolicy => "no podFailurePolicy tells this failure from others: look at what the container said",
            _ => "no rule matched: look at what the container said",
        };
        let mut advice = self.advice(SuggestionKind::Inspect, "Inspect", why.to_owned());
        advice.commands = self.look();
        advice
    }

    fn is_out_of_memory(&self) -> bool {
        self.failure.end.is_some_and(|end| end.reason.as_deref() == Some("OOMKilled"))
    }

    fn raise_memory(&self) -> Advice {
        let container = self.failure.end.map_or("", |end| &*end.container);
        let memory = self.failure.end.and_then(|end| end.memory.as_deref());
        let setting = |value: Option<&str>| value.unwrap_or("none").to_owned();
        let limit = setting(memory.and_then(|memory| memory.limit.as_deref()));
        let request = setting(memory.and_then(|memory| memory.request.as_deref()));
        let why = format!(
            "{container} was OOM-killed (memory limit {limit}, request {request}); with the same limit it is killed again"
        );
        let mut advice = self.advice(SuggestionKind::RaiseMemory, "Raise memory", why);
        if let Some(pod) = self.failure.pod {
            advice.evidence.push(Evidence {
                object: object("pod", &pod.namespace, &pod.name),
                path: format!("spec.containers[name={container}].resources.limits.memory"),
                value: limit,
            });
            advice.commands = vec![self.describe(pod)];
        }
        advice
    }

    /// The kubelet refused the pod: no container ever ran, so that there are no logs.
    fn refused(&self) -> Advice {
        let reason = self.failure.pod.and_then(|pod| pod.reason()).unwrap_or("no reason given");
        let why = format!(
            "the kubelet refused the pods ({reason}): no rule can match them and each one counts towards backoffLimit; see what the node has left"
        );
        let mut advice = self.advice(SuggestionKind::FreeCapacity, "Free capacity", why);
        advice.commands = match self.failure.pod.and_then(|pod| pod.node.as_deref()) {
            Some(node) => vec![self.kubectl.command(&["describe", "node", node])],
            None => self.look(),
        };
        advice
    }

    fn pending(&self) -> Advice {
        let Some(waiting) = self.failure.waiting else { return self.inspect() };
        let image = waiting.image.as_deref().unwrap_or("the image");
        let (kind, title, why) = match &*waiting.reason {
            "ImagePullBackOff"
            | "ErrImagePull"
            | "InvalidImageName"
            | "ErrImageNeverPull"
            | "ImageInspectError"
            | "RegistryUnavailable"
            | "SignatureValidationFailed" => (
                SuggestionKind::FixImage,
                "Fix the image",
                format!("{image} cannot be had: the pod waits for ever and never counts as failed"),
            ),
            "Unschedulable" | "SchedulerError" => (
                SuggestionKind::FreeCapacity,
                "Free capacity",
                "no node can take the pod: it waits until one can, and never counts as failed".to_owned(),
            ),
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
            reason => (
                SuggestionKind::FixConfig,
                "Fix the configuration",
                format!("{reason}: the pod waits for ever and never counts as failed"),
            ),
        };
        let mut advice = self.advice(kind, title, why);
        advice.commands = self.failure.pod.map(|pod| self.describe(pod)).into_iter().collect();
        advice
    }

    fn restarting(&self) -> Advice {
        let why = "containers fail in place, where no rule sees them: look at the last end".to_owned();
        let mut advice = self.advice(SuggestionKind::Inspect, "Inspect", why);
        if let (Some(pod), Some(end)) = (self.failure.pod, self.failure.end) {
            let words = ["logs", "-n", &pod.namespace, &pod.name, "-c", &end.container, "--previous"];
            advice.commands = vec![self.kubectl.command(&words)];
        }
        advice
    }

    fn job_level(&self) -> Advice {
        let told = self.failure.told.as_deref();
        let reason = told.and_then(|told| told.reason.as_deref()).unwrap_or_default();
        let (kind, title, why) = match reason {
            "FailedCreate" => (
                SuggestionKind::FixConfig,
                "Fix the configuration",
                "the Job cannot create its pods: quota, admission or the template refuses them".to_owned(),
            ),
            "DeadlineExceeded" => (
                SuggestionKind::Inspect,
                "Inspect",
                "activeDeadlineSeconds ended the Job, no pod failed: learn what it was doing before it runs again"
                    .to_owned(),
            ),
            reason => (
                SuggestionKind::Inspect,
                "Inspect",
                format!("the Job failed ({reason}) and none of its pods shows why"),
            ),
        };
        let mut advice = self.advice(kind, title, why);
        advice.commands = self.failure.job.map(|job| self.describe_job(job)).into_iter().collect();
        advice
    }

    fn lost(&self) -> Advice {
        let in_place = self.failure.job.is_some_and(|job| job.restarts_in_place);
        let why = if in_place {
            "restartPolicy OnFailure lets the Job delete failed pods; with Never they stay to be looked at"
        } else {
            "the pods are gone: the Job's Events, while they last, are all that is left"
        };
        let mut advice = self.advice(SuggestionKind::Inspect, "Inspect", why.to_owned());
        advice.commands = self.failure.job.map(|job| self.describe_job(job)).into_iter().collect();
        advice
    }

    /// Logs of the container to blame, or, where none has run, the pod's description; only while the pod exists.
    fn look(&self) -> Vec<String> {
        let Some(pod) = self.failure.pod else {
            return self.failure.job.map(|job| self.describe_job(job)).into_iter().collect();
        };
        vec![match self.failure.end {
            Some(end) if !self.failure.is_disrupted() => {
                self.kubectl.command(&["logs", "-n", &pod.namespace, &pod.name, "-c", &end.container])
            }
            _ => self.describe(pod),
        }]
    }

    fn describe(&self, pod: &Pod) -> String {
        self.kubectl.command(&["describe", "pod", &pod.name, "-n", &pod.namespace])
    }

    fn describe_job(&self, job: &Job) -> String {
        self.kubectl.command(&["describe", "job", &job.name, "-n", &job.namespace])
    }

    fn pods_of(&self, job: &Job) -> String {
        let selector = format!("batch.kubernetes.io/job-name={}", job.name);
        self.kubectl.command(&["get", "pods", "-n", &job.namespace, "-l", &selector])
    }

    /// The fields that the group's exemplar was judged by.
    fn evidence(&self) -> Vec<Evidence> {
        let mut evidence = Vec::new();
        if let Some(pod) = self.failure.pod {
            let object = object("pod", &pod.namespace, &pod.name);
            let mut add = |path: String, value: &str| {
                evidence.push(Evidence { object: object.clone(), path, value: value.to_owned() });
            };
            if let Some(waiting) = self.failure.waiting {
                match &waiting.container {
                    Some(container) => {
                        add(
                            format!("status.containerStatuses[name={container}].state.waiting.reason"),
                            &waiting.reason,
                        );
                    }
                    None => add("status.conditions[type=PodScheduled].reason".to_owned(), &waiting.reason),
                }
            } else if self.failure.is_disrupted() {
                let reason = pod.disruption().and_then(|disruption| disruption.reason.as_deref());
                add("status.conditions[type=DisruptionTarget].reason".to_owned(), reason.unwrap_or_default());
            } else if let Some(end) = self.failure.end {
                let list = if end.kind == crate::model::ContainerKind::App {
                    "containerStatuses"
                } else {
                    "initContainerStatuses"
                };
                let state = if self.failure.restart.is_some() { "lastState" } else { "state" };
                let path = format!("status.{list}[name={}].{state}.terminated", end.container);
                add(format!("{path}.exitCode"), &end.exit_code.to_string());
                if let Some(reason) = &end.reason {
                    add(format!("{path}.reason"), reason);
                }
            } else if let Some(reason) = pod.reason() {
                add("status.reason".to_owned(), reason);
            }
        } else if let Some(job) = self.failure.job {
            if let Some(condition) = job.failing() {
                evidence.push(Evidence {
                    object: object("job", &job.namespace, &job.name),
                    path: format!("status.conditions[type={}].reason", condition.type_),
                    value: condition.reason.to_string(),
                });
            } else if let Some(reason) = self.failure.told.as_ref().and_then(|told| told.reason.as_deref()) {
                evidence.push(Evidence {
                    object: object("job", &job.namespace, &job.name),
                    path: "Event.reason".to_owned(),
                    value: reason.to_owned(),
                });
            }
        }
        evidence
    }
}

fn object(kind: &str, namespace: &str, name: &str) -> String {
    format!("{kind}/{namespace}/{name}")
}
