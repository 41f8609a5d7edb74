//! Random Jobs with random policies, and random endings for their pods that favour what the policies name.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::api::now;

const CONDITIONS: &[&str] = &["DisruptionTarget", "ConfigIssue", "ecc.example.com/XidError"];
const STATUSES: &[&str] = &["True", "False", "Unknown"];
const CODES: &[i32] = &[1, 2, 42, 75, 127, 134, 137, 139, 143, 255];

pub(crate) struct RandomJob {
    pub(crate) namespace: String,
    pub(crate) manifest: Value,
    seed: u64,
    apps: Vec<String>,
    inits: Vec<String>,
    sidecars: Vec<String>,
    /// Exit codes that rules name, so that most rules are reached.
    codes: Vec<i32>,
    /// Pods of one index (or of the Job, when it counts no indexes) that may fail; those after them do not.
    failing: u64,
    afterwards: Afterwards,
}

#[derive(Clone, Copy)]
enum Afterwards {
    Succeed,
    Run,
}

/// What becomes of one pod.
pub(crate) enum Ending {
    /// It is never touched: it runs until the Job is torn down.
    Runs,
    /// The status to set.
    Status(Value),
}

impl RandomJob {
    /// The same number of the same seed always gives the same Job.
    pub(crate) fn new(seed: u64, number: usize) -> Self {
        let mut rng = rng(seed, &[number as u64]);
        let names = |prefix: &str, count: usize| (0..count).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>();
        let apps = names("app", rng.usize(1..=3));
        let inits = if rng.u8(..100) < 40 { names("init", rng.usize(1..=2)) } else { Vec::new() };
        let sidecars = if rng.u8(..100) < 40 { names("sidecar", rng.usize(1..=2)) } else { Vec::new() };
        let parallelism = rng.u64(1..=6);
        let indexed = rng.bool();
        let per_index = indexed && rng.bool();
        let mut job = Self {
            namespace: format!("random-{}", number % 10),
            manifest: Value::Null,
            seed: rng.u64(..),
            apps,
            inits,
            sidecars,
            codes: CODES.to_vec(),
            failing: if indexed { rng.u64(1..=2) } else { parallelism * rng.u64(1..=2) },
            afterwards: if rng.bool() { Afterwards::Succeed } else { Afterwards::Run },
        };
        let completions = parallelism + rng.u64(0..=2);
        let mut spec = json!({"parallelism": parallelism, "completions": completions, "template": job.template()});
        if indexed {
            spec["completionMode"] = "Indexed".into();
        }
        if per_index {
            spec["backoffLimitPerIndex"] = rng.u64(0..=2).into();
            if rng.u8(..100) < 40 {
                spec["maxFailedIndexes"] = rng.u64(0..=completions.min(2)).into();
            }
        }
        if !per_index || rng.u8(..100) < 30 {
            spec["backoffLimit"] = [0, 0, 1, 2, 3, 6, 20][rng.usize(..7)].into();
        }
        if rng.u8(..100) < 5 {
            spec["activeDeadlineSeconds"] = 5.into();
        }
        if rng.u8(..100) < 85 {
            spec["podFailurePolicy"] = job.policy(&mut rng, per_index);
        }
        let name = format!("random-{number}");
        job.manifest = json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": job.namespace}, "spec": spec,
        });
        job
    }

    fn template(&self) -> Value {
        let image = "registry.example/app:1.4";
        let plain =
            |names: &[String]| names.iter().map(|name| json!({"name": name, "image": image})).collect::<Vec<_>>();
        let mut first = plain(&self.inits);
        first.extend(self.sidecars.iter().map(|name| json!({"name": name, "image": image, "restartPolicy": "Always"})));
        json!({"spec": {"restartPolicy": "Never", "containers": plain(&self.apps), "initContainers": first}})
    }

    /// Any policy that validation allows.
    fn policy(&mut self, rng: &mut Rng, per_index: bool) -> Value {
        let count = match rng.u8(..10) {
            0 => 0,
            1 => 20,
            2..=4 => rng.usize(4..20),
            _ => rng.usize(1..4),
        };
        let rules: Vec<_> = (0..count).map(|_| self.rule(rng, per_index)).collect();
        json!({"rules": rules})
    }

    fn rule(&mut self, rng: &mut Rng, per_index: bool) -> Value {
        let actions: &[&str] =
            if per_index { &["FailJob", "Ignore", "Count", "FailIndex"] } else { &["FailJob", "Ignore", "Count"] };
        let action = actions[rng.usize(..actions.len())];
        if rng.u8(..100) < 30 {
            let patterns = (0..rng.usize(1..=3)).map(|_| {
                let mut pattern = json!({"type": pick(rng, CONDITIONS)});
                // Without a status the API server writes True.
                if rng.u8(..100) < 60 {
                    pattern["status"] = pick(rng, STATUSES).into();
                }
                pattern
            });
            return json!({"action": action, "onPodConditions": patterns.collect::<Vec<_>>()});
        }
        let operator = if rng.u8(..100) < 75 { "In" } else { "NotIn" };
        let values = self.values(rng, operator);
        let mut codes = json!({"operator": operator, "values": values});
        let names: Vec<_> = [&self.apps, &self.inits, &self.sidecars].into_iter().flatten().collect();
        if rng.bool() {
            codes["containerName"] = names[rng.usize(..names.len())].clone().into();
        }
        json!({"action": action, "onExitCodes": codes})
    }

    fn values(&mut self, rng: &mut Rng, operator: &str) -> Vec<i32> {
        let count = match rng.u8(..10) {
            0 => rng.usize(20..=255),
            1..=3 => rng.usize(3..8),
            _ => rng.usize(1..3),
        };
        let mut values: Vec<i32> =
            (0..count).map(|_| if rng.bool() { pick(rng, CODES) } else { rng.i32(1..=255) }).collect();
        if operator == "NotIn" && rng.bool() {
            values.push(0);
        }
        values.sort_unstable();
        values.dedup();
        values.truncate(255);
        self.codes.extend(values.iter().filter(|value| **value != 0).take(8));
        values
    }

    /// How the `earlier`-th pod of a slot ends. A slot is an index, or -1 where the Job has none.
    pub(crate) fn ending(&self, slot: i64, earlier: u64) -> Ending {
        let mut rng = rng(self.seed, &[slot.unsigned_abs(), earlier]);
        if earlier >= self.failing {
            return match self.afterwards {
                Afterwards::Run => Ending::Runs,
                Afterwards::Succeed => Ending::Status(self.success(&mut rng)),
            };
        }
        let mut status = match rng.u8(..100) {
            0..=7 => return Ending::Runs,
            8..=19 => self.success(&mut rng),
            20..=26 => rejection(&mut rng),
            27..=36 if !self.inits.is_empty() => self.init_failure(&mut rng),
            37..=41 => self.eviction(&mut rng),
            _ => self.failure(&mut rng),
        };
        status["startTime"] = now().into();
        Ending::Status(json!({"status": status}))
    }

    fn code(&self, rng: &mut Rng) -> i32 {
        if rng.u8(..100) < 80 { pick(rng, &self.codes) } else { rng.i32(1..=255) }
    }

    fn success(&self, rng: &mut Rng) -> Value {
        let apps: Vec<_> = self.apps.iter().map(|name| terminated(rng, name, 0)).collect();
        json!({
            "phase": "Succeeded", "containerStatuses": apps, "initContainerStatuses": self.before(rng), "conditions": conditions(rng),
        })
    }

    fn failure(&self, rng: &mut Rng) -> Value {
        let culprit = rng.usize(..self.apps.len());
        let mut apps = Vec::new();
        for (position, name) in self.apps.iter().enumerate() {
            let code = self.code(rng);
            apps.push(match rng.u8(..10) {
                _ if position == culprit => terminated(rng, name, code),
                0..=2 => terminated(rng, name, 0),
                3 => json!({"name": name, "image": "x", "imageID": "", "ready": false, "restartCount": 0, "state": {}}),
                _ => terminated(rng, name, code),
            });
        }
        let before = self.before(rng);
        json!({"phase": "Failed", "containerStatuses": apps, "initContainerStatuses": before, "conditions": conditions(rng)})
    }

    /// Init containers that did their part, and sidecars that were stopped at the end.
    fn before(&self, rng: &mut Rng) -> Vec<Value> {
        let mut statuses: Vec<_> = self.inits.iter().map(|name| terminated(rng, name, 0)).collect();
        for name in &self.sidecars {
            let code = [143, 137, 0, self.code(rng)][rng.usize(..4)];
            statuses.push(terminated(rng, name, code));
        }
        statuses
    }

    fn init_failure(&self, rng: &mut Rng) -> Value {
        let failing = rng.usize(..self.inits.len());
        let mut before: Vec<_> = self.inits[..failing].iter().map(|name| terminated(rng, name, 0)).collect();
        let code = self.code(rng);
        before.push(terminated(rng, &self.inits[failing], code));
        let waiting = self.apps.iter().map(|name| {
            let state = json!({"waiting": {"reason": "PodInitializing"}});
            json!({"name": name, "image": "x", "imageID": "", "ready": false, "restartCount": 0, "state": state})
        });
        let waiting: Vec<_> = waiting.collect();
        json!({"phase": "Failed", "containerStatuses": waiting, "initContainerStatuses": before, "conditions": conditions(rng)})
    }

    /// By the kubelet: the reason is on the pod, and a container may well have ended with 0.
    fn eviction(&self, rng: &mut Rng) -> Value {
        let code = if rng.bool() { 137 } else { 0 };
        let apps: Vec<_> = self.apps.iter().map(|name| terminated(rng, name, code)).collect();
        let mut conditions = conditions(rng);
        if rng.bool() {
            conditions.retain(|condition| condition["type"] != "DisruptionTarget");
            conditions.push(json!({"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}));
        }
        json!({
            "phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory. ",
            "containerStatuses": apps, "initContainerStatuses": self.before(rng), "conditions": conditions,
        })
    }
}

/// By the kubelet before anything ran: a reason and nothing a policy could match.
fn rejection(rng: &mut Rng) -> Value {
    let reason = ["UnexpectedAdmissionError", "OutOfcpu", "NodeAffinity", "OutOfnvidia.com/gpu"][rng.usize(..4)];
    json!({"phase": "Failed", "reason": reason, "message": "Pod was rejected: the node has no room"})
}

fn terminated(rng: &mut Rng, name: &str, code: i32) -> Value {
    let reason = match code {
        0 => "Completed",
        137 if rng.bool() => "OOMKilled",
        _ => "Error",
    };
    let state = json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": now(), "finishedAt": now()}});
    let mut status =
        json!({"name": name, "image": "x", "imageID": "", "ready": false, "restartCount": 0, "state": state});
    // An earlier end of the container never counts, whatever its code.
    if rng.u8(..100) < 5 {
        status["restartCount"] = 1.into();
        status["lastState"] =
            json!({"terminated": {"exitCode": pick(rng, CODES), "startedAt": now(), "finishedAt": now()}});
    }
    status
}

fn conditions(rng: &mut Rng) -> Vec<Value> {
    let chosen: Vec<_> = CONDITIONS.iter().filter(|_| rng.u8(..100) < 20).collect();
    chosen.into_iter().map(|kind| json!({"type": kind, "status": pick(rng, STATUSES)})).collect()
}

pub(crate) fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.usize(..from.len())]
}

/// A generator that depends on the whole path, so that one pod's ending never hangs on another's.
pub(crate) fn rng(seed: u64, path: &[u64]) -> Rng {
    let mixed = path.iter().fold(seed, |state, step| Rng::with_seed(state.rotate_left(17) ^ (step + 1)).u64(..));
    Rng::with_seed(mixed)
}
