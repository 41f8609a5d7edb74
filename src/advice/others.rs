//! What workloads that are no Jobs call for as a whole, `CronJob`s whose runs do not start, and what Kueue holds.

use serde_json::json;

use super::Kubectl;
use super::command::Command;
use super::draft::Advice;
use crate::analysis::{Analysis, Failure, Other, Workload};
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
            SituationKind::Restarting => self.inspect("its groups were made anew: what remains of that are Events"),
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

    /// Its pods with failures of their own, on nodes that are there.
    fn failing_pods(&self) -> impl Iterator<Item = &Pod> {
        let own = self.failures.iter().filter(|failure| !matches!(failure.class, Class::NotReady | Class::Collateral));
        own.filter_map(|failure| failure.pod).filter(|pod| !pod.is_terminating())
    }

    /// A rollout whose new pods fail is taken back; one that waits for a node goes on with the node.
    fn rolled_out(&self) -> Option<Advice> {
        let rollout = self.workload.standing.as_ref()?.1.rollout.as_ref();
        let from = rollout.and_then(|rollout| rollout.from.as_ref());
        let refused = self.workload.situations.iter().any(|other| other.kind == SituationKind::CreationRefused);
        if from.is_none() || refused || self.failing_pods().next().is_none() {
            return None;
        }
        let changes = rollout.map(|rollout| &rollout.changes[..]).unwrap_or_default();
        let told: Vec<String> = changes.iter().map(ToString::to_string).collect();
        let what = if told.is_empty() { "what it changed".to_owned() } else { list_names(&told, MOST_CHANGES) };
        let by_hand = match self.workload.standing.as_ref()?.0 {
            // kubernetes#67250.
            Other::StatefulSet(it) if it.is_ordered => {
                "; the pod that fails is not replaced by that: delete it by hand afterwards"
            }
            _ => "",
        };
        let applied = self.head().and_then(|head| head.applied_by.as_ref());
        let (note, write) = match applied {
            Some(application) => {
                (format!("; {application} applies it, and would roll it out again: undo it there"), false)
            }
            None => (String::new(), true),
        };
        let why = format!("the new pods fail: go back to the version before, or mend {what}{by_hand}{note}");
        let (namespace, name) = self.place();
        let target = format!("{}/{name}", self.kind());
        let advice =
            of(SuggestionKind::RollBack, &why, self.kubectl.read(&["rollout", "history", &target, "-n", namespace]));
        let undo = self.kubectl.write(Safety::Mutating, &["rollout", "undo", &target, "-n", namespace], None);
        Some(if write { advice.run(undo) } else { advice })
    }

    fn not_replaced(&self, situation: &Situation) -> Option<Advice> {
        let pod = self.failures.iter().find_map(|failure| {
            let pod = failure.pod?;
            let named = format!("pod {} ", pod.name);
            situation.text.starts_with(&named).then_some(pod)
        })?;
        let why = format!(
            "its template was taken back, and pod {} of the version before that is never replaced by itself: delete it",
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
            return of(SuggestionKind::FreeCapacity, &situation.text, quotas);
        }
        of(SuggestionKind::FixConfig, &situation.text, self.describe())
    }

    /// Only `None` lets a pod that fails stay to be looked at.
    fn endless(&self, situation: &Situation) -> Option<Advice> {
        let (namespace, name) = self.place();
        let Other::LeaderWorkerSet(it) = self.workload.standing.as_ref()?.0 else { return None };
        let fails = self.failing_pods().find_map(|pod| Some((pod, pod.restarts().first()?)));
        let look = match fails {
            Some((pod, restart)) => {
                let container = &restart.last.container;
                self.kubectl.read(&["logs", "-n", namespace, &pod.name, "-c", container, "--previous"])
            }
            None => self.describe(),
        };
        let why = format!(
            "{}; mend what fails, or let failed pods stay to be looked at (restartPolicy None)",
            situation.text.split("; nothing limits it").next().unwrap_or_default()
        );
        let advice = of(SuggestionKind::FixThenRestart, &why, look);
        let patch = json!({"spec": {"leaderWorkerTemplate": {"restartPolicy": "None"}}});
        let kept = self.kubectl.write(
            Safety::Mutating,
            &["patch", "leaderworkerset", name, "-n", namespace, "--type=merge"],
            Some(&patch),
        );
        Some(if it.head.applied_by.is_none() { advice.run(kept) } else { advice })
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
        let groups = ["sandboxwarmpools", "sandboxtemplates"];
        let all = groups.iter().flat_map(|plural| {
            let resource = format!("{plural}.extensions.agents.x-k8s.io");
            self.kubectl.read(&["get", &resource, "-n", namespace])
        });
        of(SuggestionKind::FixConfig, &situation.text, all.collect())
    }

    /// What Kueue took out for good.
    fn deactivated(&self, situation: &Situation) -> Option<Advice> {
        let queued = self.workload.queued?;
        let (namespace, name) = (&*queued.head.namespace, &*queued.head.name);
        let resource = "workloads.kueue.x-k8s.io";
        let patch = json!({"spec": {"active": true}});
        let advice = of(
            SuggestionKind::FixThenRestart,
            &situation.text,
            self.kubectl.read(&["describe", resource, name, "-n", namespace]),
        );
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
        of(SuggestionKind::Inspect, &situation.text, self.describe()).run(suspend)
    }
}

fn of(kind: SuggestionKind, why: &str, commands: Vec<Command>) -> Advice {
    Advice::new(kind, why).run(commands)
}
