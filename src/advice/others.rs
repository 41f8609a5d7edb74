//! What workloads that are no Jobs call for as a whole, `CronJob`s whose runs do not start, and what Kueue holds.

use serde_json::json;

use super::Kubectl;
use super::command::Command;
use super::draft::Advice;
use crate::analysis::{Analysis, Failure, Other, TTL, Workload, object};
use crate::model::{Head, Pod};
use crate::report::{Class, Safety, Situation, SituationKind, SuggestionKind};
use crate::words::list_names;

/// Changes of a template that a sentence has room for.
const MOST_CHANGES: usize = 2;

/// Advice that follows from what is wrong with a workload as a whole.
pub(super) fn advices(analysis: &Analysis, workload: usize, failures: &[u32], kubectl: &Kubectl) -> Vec<Advice> {
    let workload = &analysis.workloads[workload];
    if workload.situations.is_empty() {
        return Vec::new();
    }
    let failures: Vec<&Failure> = failures.iter().map(|index| &analysis.failures[*index as usize]).collect();
    let subject = Subject { workload, failures, kubectl };
    workload.situations.iter().filter_map(|situation| subject.advice(situation)).collect()
}

struct Subject<'a> {
    workload: &'a Workload<'a>,
    failures: Vec<&'a Failure<'a>>,
    kubectl: &'a Kubectl,
}

impl Subject<'_> {
    fn advice(&self, situation: &Situation) -> Option<Advice> {
        let advice = match situation.kind {
            SituationKind::RolloutStuck => self.rolled_out()?,
            SituationKind::NotReplaced => self.not_replaced(situation)?,
            SituationKind::CreationRefused => self.refused(situation),
            SituationKind::EndlessRestarts => self.endless(situation)?,
            SituationKind::Restarting => self.groups_made_anew()?,
            SituationKind::NotRecreated => self.not_recreated()?,
            SituationKind::ReferenceMissing => self.reference_missing(situation),
            SituationKind::Deactivated => self.deactivated(situation)?,
            SituationKind::Queued => self.never_admitted(situation)?,
            SituationKind::BadSchedule | SituationKind::SchedulesMissed => {
                of(SuggestionKind::FixConfig, &situation.text, self.describe())
            }
            SituationKind::RunBlocks => self.run_blocks(situation),
            SituationKind::DeadlineExceeded => self.inspect(
                "activeDeadlineSeconds ended it, and what it did is gone: learn how long it takes before it runs again",
            ),
            SituationKind::BegunAnew => self.begun_anew(situation),
            SituationKind::Unavailable if self.failures.iter().all(|failure| failure.pod.is_none()) => {
                self.inspect(&situation.text)
            }
            _ => return None,
        };
        Some(Advice { evidence: situation.evidence.clone(), ..advice })
    }

    fn groups_made_anew(&self) -> Option<Advice> {
        let Other::LeaderWorkerSet(_) = self.workload.standing.as_ref()?.0 else { return None };
        Some(self.inspect("its groups were made anew: what remains of that are Events"))
    }

    fn inspect(&self, why: &str) -> Advice {
        of(SuggestionKind::Inspect, why, self.describe())
    }

    /// Its kind as kubectl takes it: a kind that others have, too, with its group.
    fn kind(&self) -> String {
        match &*self.workload.reference.kind {
            "Workload" => "workloads.kueue.x-k8s.io".to_owned(),
            kind => kind.to_ascii_lowercase(),
        }
    }

    fn place(&self) -> (&str, &str) {
        (&self.workload.reference.namespace, &self.workload.reference.name)
    }

    fn describe(&self) -> Vec<Command> {
        let (namespace, name) = self.place();
        self.kubectl.read(&["describe", &self.kind(), name, "-n", namespace])
    }

    fn head(&self) -> Option<&Head> {
        Some(self.workload.standing.as_ref()?.0.head())
    }

    /// What applies or owns it, with a note that it is to be changed there: what is changed by hand is changed back.
    fn kept_by(&self) -> Option<String> {
        let head = self.head()?;
        let owner = head.owner.as_ref().map(|owner| format!("{} {} owns it", owner.kind, owner.name));
        head.applied_by.as_ref().map(|application| format!("{application} applies it")).or(owner)
    }

    /// Its pods with failures of their own, on nodes that are there.
    fn failing_pods(&self) -> impl Iterator<Item = &Pod> {
        let own = self.failures.iter().filter(|failure| !matches!(failure.class, Class::NotReady | Class::Collateral));
        own.filter_map(|failure| failure.pod).filter(|pod| !pod.is_terminating())
    }

    /// A rollout whose new pods fail is taken back; one that waits for a node goes on with the node.
    fn rolled_out(&self) -> Option<Advice> {
        let standing = &self.workload.standing.as_ref()?.1;
        let rollout = standing.rollout.as_ref();
        let from = rollout.and_then(|rollout| rollout.from.as_ref());
        let refused = self.workload.situations.iter().any(|other| other.kind == SituationKind::CreationRefused);
        if from.is_none() || refused || !standing.new_fail {
            return None;
        }
        let changes = rollout.map(|rollout| &rollout.changes[..]).unwrap_or_default();
        let told: Vec<String> = changes.iter().map(ToString::to_string).collect();
        let what = if told.is_empty() { "what it changed".to_owned() } else { list_names(&told, MOST_CHANGES) };
        let by_hand = match self.workload.standing.as_ref()?.0 {
            // kubernetes#67250.
            Other::StatefulSet(it) if it.is_ordered => {
                "; neither replaces the pod that fails: delete it by hand afterwards"
            }
            _ => "",
        };
        let kept_by = self.kept_by();
        let note = kept_by
            .as_ref()
            .map(|by| format!("; {by}, and would roll it out again: undo it there"))
            .unwrap_or_default();
        let why = format!("the new pods fail: go back to the version before, or mend {what}{by_hand}{note}");
        let (namespace, name) = self.place();
        let target = format!("{}/{name}", self.kind());
        let advice =
            of(SuggestionKind::RollBack, &why, self.kubectl.read(&["rollout", "history", &target, "-n", namespace]));
        let undo = self.kubectl.write(Safety::Mutating, &["rollout", "undo", &target, "-n", namespace], None);
        Some(if kept_by.is_none() { advice.run(undo) } else { advice })
    }

    fn not_replaced(&self, situation: &Situation) -> Option<Advice> {
        let told = situation.evidence.first()?;
        let mut pods = self.failures.iter().filter_map(|failure| failure.pod);
        let pod = pods.find(|pod| *object("pod", &pod.namespace, &pod.name) == *told.object)?;
        let why = format!(
            "no version of the template reaches pod {} before it is ready, which it does not become: delete it, and it is made from \
             the newest",
            pod.name
        );
        let delete = self.kubectl.write(Safety::Destructive, &["delete", "pod", &pod.name, "-n", &pod.namespace], None);
        let advice = of(
            SuggestionKind::UnblockRollout,
            &why,
            self.kubectl.read(&["describe", "pod", &pod.name, "-n", &pod.namespace]),
        );
        Some(
            advice
                .run(delete)
                .losing(Some("the pod, its logs, and what it keeps in volumes that end with it".to_owned())),
        )
    }

    fn refused(&self, situation: &Situation) -> Advice {
        let (namespace, _) = self.place();
        if situation.text.contains("exceeded quota") {
            let quotas = self.kubectl.read(&["describe", "resourcequota", "-n", namespace]);
            let why = format!("{}: ask for less, free some of it, or raise the quota", quota(&situation.text));
            return of(SuggestionKind::FreeCapacity, &why, quotas);
        }
        let why = if situation.text.contains("violates PodSecurity") {
            "the namespace's Pod Security level forbids what its pod template asks for: change the template, or the level"
                .to_owned()
        } else {
            "the API server refuses its pods: change the template, or what refuses it".to_owned()
        };
        // A Deployment's pods are made by its ReplicaSet, which has the Events.
        let newest = self.workload.standing.as_ref().and_then(|(_, standing)| standing.rollout.as_ref()?.to.clone());
        let replica_set = newest.filter(|_| &*self.workload.reference.kind == "Deployment");
        let look = match replica_set {
            Some(name) => self.kubectl.read(&["describe", "replicaset", &name, "-n", namespace]),
            None => self.describe(),
        };
        of(SuggestionKind::FixConfig, &why, look)
    }

    /// Only `None` lets a pod that fails stay to be looked at.
    fn endless(&self, situation: &Situation) -> Option<Advice> {
        let (namespace, name) = self.place();
        let Other::LeaderWorkerSet(_) = self.workload.standing.as_ref()?.0 else { return None };
        let fails = self.failing_pods().find_map(|pod| Some((pod, pod.restarts().first()?)));
        let look = match fails {
            Some((pod, restart)) => {
                let container = &restart.last.container;
                self.kubectl.read(&["logs", "-n", namespace, &pod.name, "-c", container, "--previous"])
            }
            None => self.describe(),
        };
        let kept_by = self.kept_by();
        let note = kept_by.as_ref().map(|by| format!("; {by}: change it there")).unwrap_or_default();
        let why = format!(
            "{}: mend what fails, or let failed pods stay to be looked at (restartPolicy None){note}",
            situation.text
        );
        let advice = of(SuggestionKind::FixThenRestart, &why, look);
        let patch = json!({"spec": {"leaderWorkerTemplate": {"restartPolicy": "None"}}});
        let kept = self.kubectl.write(
            Safety::Mutating,
            &["patch", "leaderworkerset", name, "-n", namespace, "--type=merge"],
            Some(&patch),
        );
        Some(if kept_by.is_none() { advice.run(kept) } else { advice })
    }

    fn not_recreated(&self) -> Option<Advice> {
        let (namespace, name) = self.place();
        let Other::Sandbox(it) = self.workload.standing.as_ref()?.0 else { return None };
        let state = if it.claims.is_empty() {
            "; what it held is lost already, as it has no volume that outlives its pod"
        } else {
            "; what it wrote to its claims is there again"
        };
        let why = format!("no other pod is made for it before the failed one is deleted{state}");
        let target = format!("sandbox/{name}");
        let advice = of(SuggestionKind::Restart, &why, self.describe());
        let restart = self.kubectl.write(Safety::Destructive, &["sigapps", "restart", &target, "-n", namespace], None);
        Some(
            advice
                .run(restart)
                .losing(Some("its failed pod and that pod's logs, after they were saved to files".to_owned())),
        )
    }

    fn reference_missing(&self, situation: &Situation) -> Advice {
        let (namespace, _) = self.place();
        let is_pool = situation.text.contains("SandboxWarmPool \"");
        let plural = if is_pool { "sandboxwarmpools" } else { "sandboxtemplates" };
        let resource = format!("{plural}.extensions.agents.x-k8s.io");
        let all = self.kubectl.read(&["get", &resource, "-n", namespace]);
        of(SuggestionKind::FixConfig, &situation.text, all)
    }

    /// What Kueue took out for good.
    fn deactivated(&self, situation: &Situation) -> Option<Advice> {
        let queued = self.workload.queued?;
        let (namespace, name) = (&*queued.head.namespace, &*queued.head.name);
        let resource = "workloads.kueue.x-k8s.io";
        let patch = json!({"spec": {"active": true}});
        // What a person has stopped is for that person to start.
        let reason = queued.head.is("Evicted")?.reason.strip_prefix("DeactivatedDueTo")?;
        let mend = match reason {
            "RequeuingLimitExceeded" => "see why its pods did not become ready, and mend that",
            "MaximumExecutionTimeExceeded" => {
                "make it shorter, or give it more time (label kueue.x-k8s.io/max-exec-time-seconds)"
            }
            _ => "mend why",
        };
        let why = format!("{}: first {mend}", situation.text);
        let advice =
            of(SuggestionKind::FixThenRestart, &why, self.kubectl.read(&["describe", resource, name, "-n", namespace]));
        Some(advice.run(self.kubectl.write(
            Safety::Mutating,
            &["patch", resource, name, "-n", namespace, "--type=merge"],
            Some(&patch),
        )))
    }

    /// What waits is not advised to be started; only what waits for ever.
    fn never_admitted(&self, situation: &Situation) -> Option<Advice> {
        let queued = self.workload.queued?;
        self.failures.iter().find(|failure| failure.class == Class::WorkloadLevel)?;
        let queue =
            self.kubectl.read(&["describe", "localqueues.kueue.x-k8s.io", &queued.queue, "-n", &queued.head.namespace]);
        Some(of(SuggestionKind::FreeCapacity, &situation.text, queue))
    }

    fn run_blocks(&self, situation: &Situation) -> Advice {
        let (namespace, _) = self.place();
        let active = self.workload.jobs.iter().find(|job| !job.is_finished());
        let look = active.map(|job| self.kubectl.read(&["describe", "job", &job.name, "-n", namespace]));
        of(SuggestionKind::Inspect, &situation.text, look.unwrap_or_else(|| self.describe()))
    }

    fn begun_anew(&self, situation: &Situation) -> Advice {
        let (namespace, name) = self.place();
        let patch = json!({"spec": {"suspend": true}});
        let words = ["patch", "trainjobs.trainer.kubeflow.org", name, "-n", namespace, "--type=merge"];
        let suspend = self.kubectl.write(Safety::Mutating, &words, Some(&patch));
        let look = of(SuggestionKind::Inspect, &situation.text, self.describe());
        // Who deleted the JobSet by hand wanted it to run again; and Kueue decides itself what is suspended.
        let goes_on = situation.evidence.iter().any(|fact| *fact.path == *TTL);
        if goes_on && self.kept_by().is_none() && self.workload.queued.is_none() { look.run(suspend) } else { look }
    }
}

/// What of a refusal tells of the quota: `exceeded quota: compute, requested: …`.
fn quota(text: &str) -> &str {
    text.find("exceeded quota").map_or(text, |at| text[at..].trim_end_matches('.'))
}

fn of(kind: SuggestionKind, why: &str, commands: Vec<Command>) -> Advice {
    Advice::new(kind, why).run(commands)
}
