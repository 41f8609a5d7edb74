use super::case::Case;
use super::checkpoint;
use super::draft::Advice;
use crate::analysis::{object, telling_line};
use crate::model::{Action, Job, Pod};
use crate::policy::requirement;
use crate::report::{Class, SuggestionKind};

impl Case<'_> {
    /// What failures of one Job and one cause call for; nothing where nothing useful can be said.
    pub(super) fn advices(&self) -> Vec<Advice> {
        match self.failure.class {
            Class::Rule | Class::NoRule | Class::NoPolicy | Class::NoJob | Class::Unknown => self.own_end(),
            Class::Unmatchable => self.refused_by_kubelet(),
            Class::Pending => self.pending().into_iter().collect(),
            Class::Restarting => vec![self.restarting()],
            Class::JobLevel => self.job_level(),
            // What a workload that is no Job has lost is told with it.
            Class::Lost if self.failure.job.is_none() => Vec::new(),
            Class::Lost => vec![self.lost()],
            Class::NotReady => self.not_ready(),
            // What is wrong with a workload as a whole is told with it.
            Class::WorkloadLevel | Class::Collateral => Vec::new(),
        }
    }

    /// A pod that ended. What says most of why comes first.
    fn own_end(&self) -> Vec<Advice> {
        if let Some((hit, job)) = self.failure.rule.zip(self.failure.job).filter(|(hit, _)| hit.sidecar) {
            return vec![self.sidecar(job, hit.index())];
        }
        if let Some(end) = self.out_of_memory() {
            return vec![self.raise_memory(end)];
        }
        if let Some(advice) = self.told_by_kubelet() {
            // To ignore the eviction of what used more than it asked for would let it come again without end.
            let apart = self.tell_disruptions_apart().filter(|_| !self.used_too_much());
            return std::iter::once(advice).chain(apart).collect();
        }
        if self.failure.is_disrupted() && self.failure.class == Class::NoJob {
            return vec![self.disrupted_without_job()];
        }
        if self.failure.ended_by_disruption() && self.failure.class != Class::Unknown {
            return self.disrupted();
        }
        let apart = self.tell_disruptions_apart();
        let own = self.ended_by_itself();
        std::iter::once(own).chain(apart).collect()
    }

    fn ended_by_itself(&self) -> Advice {
        if let Some(advice) = self.given_up_by_rule().or_else(|| self.repeated()) {
            return advice;
        }
        if let Some(why) = self.retried() {
            let ignored = self.failure.rule.is_some_and(|hit| *hit.action == Action::Ignore);
            let pods = self.failure.job.filter(|_| ignored).map(|job| self.pods_of(job));
            return self.advice(SuggestionKind::Wait, why).run(pods.unwrap_or_else(|| self.look()));
        }
        let why = match self.failure.class {
            Class::Unknown if self.failure.job.is_none() => "its Job is not in the data: read it to learn its policy",
            Class::NoJob => match self.replaced_by() {
                Some(controller) if self.was_refused() => {
                    let reason = self.failure.pod.and_then(Pod::reason).unwrap_or("no reason given");
                    let why = format!(
                        "the kubelet refused the pod ({reason}) before a container ran, and a {controller} makes another in its place, \
                         which may end alike: see what the node has left, and what of it is unhealthy"
                    );
                    return self.inspect(&why, self.describe_pod_and_node());
                }
                Some(controller) => {
                    return self.inspect(
                        &format!("a {controller} makes another pod in its place, which may end alike: look at what the container said"),
                        self.look(),
                    );
                }
                None => match self.unknown_owner() {
                    // Whether that one makes another pod, and when it gives up, is not known here.
                    Some(owner) => {
                        let why = format!(
                            "its owner, a {owner}, may make another in its place: look at what the container said"
                        );
                        return self.inspect(&why, self.look());
                    }
                    None => "it belongs to no Job, and is not made again by itself: look at what the container said",
                },
            },
            Class::Unknown => "another controller manages the Job: look at it where that one records its outcome",
            Class::Rule if self.failure.rule.is_some_and(|hit| *hit.action == Action::Ignore) => {
                "an Ignore rule does not count it, and its Job makes no pods any more: look at what the container said"
            }
            Class::Rule => "a Count rule only counts it: look at what the container said",
            Class::NoPolicy => "no podFailurePolicy tells this failure from others: look at what the container said",
            _ => "no rule matched: look at what the container said",
        };
        self.inspect(why, self.look())
    }

    /// The kind of a pod's owner that is neither a Job, nor a node, nor a Sandbox, which makes no pod again.
    fn unknown_owner(&self) -> Option<&str> {
        let owner = self.failure.pod?.owner.as_ref()?;
        let is_known = owner.is("", "Node") || owner.is("agents.x-k8s.io", "Sandbox");
        (!is_known).then_some(&*self.analysis.workloads[self.failure.workload].reference.kind)
    }

    /// Whether no container of the pod ever ran.
    fn was_refused(&self) -> bool {
        self.failure.pod.is_some_and(|pod| !pod.has_container_statuses)
    }

    /// A rule that ends the Job or the index: somebody said that another try does not help.
    fn given_up_by_rule(&self) -> Option<Advice> {
        let hit = self.failure.rule.filter(|hit| hit.action.ends_job())?;
        let asked = requirement(self.failure.job?.policy.as_ref()?.rules.get(hit.index())?);
        let action = hit.action;
        Some(if hit.by_exit_code() {
            let said = self.failure.end.and_then(|end| end.message.as_deref()).and_then(telling_line);
            let why = match said {
                Some(line) => format!("{line}: the policy gives {asked} no second try ({action}), so mend that first"),
                None => format!("the policy gives {asked} no second try ({action}): mend what it stands for first"),
            };
            self.advice(SuggestionKind::FixThenRestart, why).run(self.look())
        } else {
            let told = self.failure.matched_condition().and_then(|told| told.message.as_deref());
            let told = told.and_then(telling_line).map(|line| format!(" ({line})")).unwrap_or_default();
            let why = format!("{asked}{told} is given no second try ({action}): mend that first");
            self.advice(SuggestionKind::FixThenRestart, why).run(self.describe_pod_and_node())
        })
    }

    fn sidecar(&self, job: &Job, index: usize) -> Advice {
        let hit = self.failure.sidecar_hit();
        let container = self.failure.end.map_or("", |end| &*end.container);
        let app = hit.and_then(|hit| hit.app).map_or("(the app)", |end| &*end.container);
        let hidden = hit
            .and_then(|hit| hit.instead)
            .map_or(String::new(), |(index, action)| format!(", which keeps rule {index} {action} from acting"));
        let endless = if super::retry::goes_on(job) && self.failure.counted == Some(false) {
            "; until then nothing limits the retries"
        } else {
            ""
        };
        let why = format!(
            "give rule {index} containerName: {app}; now it matches the sidecar {container}{hidden}{endless} (a Job's policy is fixed: change it where the Job is made)"
        );
        let path = format!("spec.podFailurePolicy.rules[{index}].onExitCodes.containerName");
        self.advice(SuggestionKind::EditPolicy, why)
            .fact(object("job", &job.namespace, &job.name), path, "<unset>")
            .run(self.kubectl.read(&["get", "job", &job.name, "-n", &job.namespace, "-o", "yaml"]))
    }

    fn refused_by_kubelet(&self) -> Vec<Advice> {
        if let Some(advice) = self.told_by_kubelet() {
            return vec![advice];
        }
        let again = self.maker().filter(|maker| maker.has_failed()).map(|maker| {
            let why =
                "the kubelet refused its pods before a container ran, which another node, or a later try, may not";
            checkpoint::start_again(maker, self.analysis.snapshot, self.failure.evidence(), why, self.kubectl)
        });
        std::iter::once(self.refused()).chain(again.into_iter().flatten()).collect()
    }

    fn restarting(&self) -> Advice {
        let commands = match (self.failure.pod, self.failure.end) {
            (Some(pod), Some(end)) => {
                self.kubectl.read(&["logs", "-n", &pod.namespace, &pod.name, "-c", &end.container, "--previous"])
            }
            _ => Vec::new(),
        };
        match self.out_of_memory() {
            Some(end) => {
                let advice = self.raise_memory(end);
                Advice { commands: commands.into_iter().chain(advice.commands).collect(), ..advice }
            }
            None if self.belongs_to_job() => self
                .inspect("containers fail in place, where no rule sees them: look at what the last one said", commands),
            None => self.inspect("containers fail and are started again: look at what the last one said", commands),
        }
    }

    /// What of a node is amiss is told once for all that runs there.
    fn not_ready(&self) -> Vec<Advice> {
        if self.failure.reason() == Some("NodeNotReady") {
            return Vec::new();
        }
        vec![self.inspect("it runs and is not ready: its readiness probe and its log say why", self.describe_pod())]
    }

    fn job_level(&self) -> Vec<Advice> {
        let told = self.failure.told.as_deref();
        let reason = told.and_then(|told| told.reason.as_deref()).unwrap_or_default();
        let commands = self.failure.job.map(|job| self.describe_job(job)).unwrap_or_default();
        vec![match reason {
            "FailedCreate" => {
                let said = told.and_then(|told| told.message.as_deref()).and_then(telling_line).unwrap_or_default();
                let why = format!("the Job cannot create its pods: {said}");
                self.advice(SuggestionKind::FixConfig, why).run(commands)
            }
            "DeadlineExceeded" => self.inspect(
                "activeDeadlineSeconds ended the Job, no pod failed: learn what it was doing before it runs again",
                commands,
            ),
            reason => self.inspect(&format!("the Job failed ({reason}) and none of its pods shows why"), commands),
        }]
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
}
