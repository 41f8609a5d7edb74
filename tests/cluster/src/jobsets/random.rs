//! Random JobSets with random policies, and random fates for their pods that favour what the policies name.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::api::{annotation, label};
use crate::jobsets::{JOB_RESTART_ATTEMPT, RESTART_ATTEMPT};
use crate::kubelet::Nodes;
use crate::random_job::{pick, rng};

const CODES: &[i32] = &[1, 42, 75, 127, 137, 139];
/// More than the webhook lets through would be refused.
const REASONS: &[&str] =
    &["BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy"];
const ACTIONS: &[&str] = &[
    "FailJobSet",
    "RestartJobSet",
    "RestartJobSetAndIgnoreMaxRestarts",
    "RestartJobSetAndIgnoreMaxRestarts",
    "RestartJob",
    "RestartJobAndIgnoreMaxRestarts",
];
/// All that may stand in a rule's name.
const RULE_NAMES: &[&str] = &["hostMaintenance", "user_error", "a:b,c", "r", "DefaultFailurePolicy", "X_1,2:3_"];
const REPLICATED_JOBS: &[&str] = &["driver", "workers", "w-eval"];

/// A pattern, and what Go's regexp finds with it, said in another way. Some of them other engines read differently.
struct Pattern {
    text: &'static str,
    found: fn(&str) -> bool,
}

const PATTERNS: &[Pattern] = &[
    Pattern { text: "exit code 42", found: |message| message.contains("exit code 42") },
    Pattern { text: "exit code (42|75) ", found: |message| any(message, &["exit code 42 ", "exit code 75 "]) },
    Pattern { text: "condition DisruptionTarget", found: |message| message.contains("condition DisruptionTarget") },
    Pattern { text: ".*DisruptionTarget.*", found: |message| message.contains("DisruptionTarget") },
    Pattern { text: "^Job ", found: |message| message.starts_with("Job ") },
    Pattern { text: r"index 0\z", found: |message| message.ends_with("index 0") },
    Pattern {
        text: "(?i)EXIT CODE 1(3[79]|27) ",
        found: |message| any(message, &["code 137 ", "code 139 ", "code 127 "]),
    },
    Pattern { text: "backoff|deadline", found: |message| any(message, &["backoff", "deadline"]) },
    Pattern { text: r"\Qexit code 75\E", found: |message| message.contains("exit code 75") },
    Pattern { text: "(?P<code>42|75) matching", found: |message| any(message, &["42 matching", "75 matching"]) },
    Pattern { text: r"(?U)\pL+ed with .* \x{63}ode", found: |message| message.contains("failed with exit code") },
    Pattern { text: "", found: |_| true },
    // Go knows no lower bound left out, and takes this for the letters.
    Pattern { text: "x{,2}index", found: |_| false },
    // Nor a difference of classes: this is a letter, an ampersand, a bracket or a caret, then a bracket.
    Pattern { text: "[a-z&&[^x]]", found: |_| false },
    // Here an escaped `<` is a `<`.
    Pattern { text: r"\<index\>", found: |_| false },
    // Not valid; the controller logs it and goes on.
    Pattern { text: "exit code (42", found: |_| false },
    Pattern { text: "(?=exit code)", found: |_| false },
    Pattern { text: "(?x) exit [ ] code", found: |_| false },
    Pattern { text: r"\d{0,1001}", found: |_| false },
];

fn any(message: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| message.contains(part))
}

/// Whether the controller finds one of the patterns above in the message.
pub(crate) fn matches(pattern: &str, message: &str) -> bool {
    PATTERNS.iter().any(|known| known.text == pattern && (known.found)(message))
}

pub(crate) struct RandomJobSet {
    pub(crate) namespace: String,
    pub(crate) manifest: Value,
    seed: u64,
    /// Pods recreated more often than that do not fail any more, so that every JobSet comes to rest.
    rounds: u64,
    succeeds: bool,
}

/// What becomes of one pod; times in seconds from its start.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    /// It never becomes ready.
    Waits,
    /// It runs until it is deleted.
    Runs,
    Succeeds {
        after: f64,
    },
    Fails {
        after: f64,
        code: i32,
    },
    /// The kubelet ends it for its node's sake.
    Disrupted {
        after: f64,
    },
    /// By the Eviction API, as a drain does.
    Evicted {
        after: f64,
    },
    /// The kubelet never starts it.
    Refused,
}

impl RandomJobSet {
    /// The same number of the same seed always gives the same JobSet.
    pub(crate) fn new(seed: u64, number: usize) -> Self {
        let mut rng = rng(seed, &[0x4a53, number as u64]);
        let namespace = format!("jobsets-{}", number % 5);
        let jobs = rng.usize(1..=3);
        let mut spec = json!({"network": {"enableDNSHostnames": false}});
        // One without an end must not go on failing by its deadline after all else has come to rest.
        let mut ends = true;
        if rng.u8(..100) < 88 {
            let policy = failure_policy(&mut rng, &REPLICATED_JOBS[..jobs]);
            ends = !policy.to_string().contains("IgnoreMaxRestarts");
            spec["failurePolicy"] = policy;
        }
        let replicated = REPLICATED_JOBS[..jobs].iter().map(|name| replicated_job(&mut rng, name, ends));
        spec["replicatedJobs"] = replicated.collect();
        let metadata = json!({"name": format!("set-{number}"), "namespace": namespace});
        let manifest =
            json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": spec});
        Self { namespace, manifest, seed: rng.u64(..), rounds: rng.u64(1..=6), succeeds: rng.bool() }
    }

    /// Of the pod that has had so many before it in its place.
    pub(crate) fn fate(&self, pod: &Value, earlier: u64) -> Fate {
        let parsed = |value: Option<&str>| value.and_then(|value| value.parse::<u64>().ok()).unwrap_or_default();
        let (restart, alone) = (parsed(label(pod, RESTART_ATTEMPT)), parsed(label(pod, JOB_RESTART_ATTEMPT)));
        let job = parsed(label(pod, "jobset.sigs.k8s.io/job-global-index"));
        let index = parsed(annotation(pod, "batch.kubernetes.io/job-completion-index"));
        let mut rng_of_pod = rng(self.seed, &[restart, alone, job, index, earlier]);
        let rng_of_pod = &mut rng_of_pod;
        if restart + alone + earlier >= self.rounds {
            return if self.succeeds { Fate::Succeeds { after: 1.0 } } else { Fate::Runs };
        }
        // In some attempts all that end do so at one moment, so that failures meet.
        let together = rng(self.seed, &[restart]).u8(..100) < 40;
        let after = if together { 1.0 } else { rng_of_pod.f64() * 4.0 };
        match rng_of_pod.u8(..100) {
            0..=3 => Fate::Waits,
            4..=28 => Fate::Runs,
            29..=38 => Fate::Succeeds { after },
            39..=46 => Fate::Disrupted { after },
            47..=54 => Fate::Evicted { after },
            55..=58 => Fate::Refused,
            _ => Fate::Fails { after, code: pick(rng_of_pod, CODES) },
        }
    }

    /// How long a pod takes to end after SIGTERM, in seconds.
    pub(crate) fn grace(&self, pod: &Value) -> f64 {
        let restart = label(pod, RESTART_ATTEMPT).and_then(|value| value.parse().ok()).unwrap_or_default();
        let mut rng = rng(self.seed, &[restart, 7]);
        if rng.u8(..100) < 60 { 0.2 } else { rng.f64() * 4.0 }
    }
}

fn failure_policy(rng: &mut Rng, replicated_jobs: &[&str]) -> Value {
    let mut policy = json!({});
    if rng.u8(..100) < 90 {
        policy["maxRestarts"] = rng.u8(0..=3).into();
    }
    match rng.u8(..100) {
        0..=39 => policy["restartStrategy"] = "BlockingRecreate".into(),
        40..=59 => policy["restartStrategy"] = "Recreate".into(),
        _ => {}
    }
    let count = [0, 1, 2, 2, 3, 3, 4, 6][rng.usize(..8)];
    let mut names = RULE_NAMES.to_vec();
    rng.shuffle(&mut names);
    let rules = names.iter().take(count).map(|name| rule(rng, name, replicated_jobs));
    policy["rules"] = rules.collect();
    policy
}

fn rule(rng: &mut Rng, name: &str, replicated_jobs: &[&str]) -> Value {
    let mut rule = json!({"action": pick(rng, ACTIONS)});
    // Without a name the webhook gives one.
    if rng.u8(..100) < 75 {
        rule["name"] = name.into();
    }
    if rng.u8(..100) < 35 {
        rule["onJobFailureReasons"] = some(rng, REASONS, 2).into();
    }
    if rng.u8(..100) < 50 {
        let patterns: Vec<_> = PATTERNS.iter().map(|pattern| pattern.text).collect();
        rule["onJobFailureMessagePatterns"] = some(rng, &patterns, 2).into();
    }
    if rng.u8(..100) < 30 {
        rule["targetReplicatedJobs"] = some(rng, replicated_jobs, 2).into();
    }
    rule
}

/// One or more, at most so many, none twice.
fn some(rng: &mut Rng, from: &[&str], most: usize) -> Vec<String> {
    let mut from = from.to_vec();
    rng.shuffle(&mut from);
    from.iter().take(rng.usize(1..=most)).map(|item| (*item).to_owned()).collect()
}

fn replicated_job(rng: &mut Rng, name: &str, may_have_a_deadline: bool) -> Value {
    let pods = rng.u8(1..=2);
    let mut spec = json!({"parallelism": pods, "completions": pods});
    let per_index = rng.u8(..100) < 20;
    if per_index {
        spec["backoffLimitPerIndex"] = 0.into();
        if rng.bool() {
            spec["maxFailedIndexes"] = rng.u8(0..=1).into();
        }
    } else {
        spec["backoffLimit"] = u8::from(rng.u8(..100) < 15).into();
    }
    if rng.u8(..100) < 65 {
        spec["podFailurePolicy"] = pod_failure_policy(rng, per_index);
    }
    if may_have_a_deadline && rng.u8(..100) < 15 {
        spec["activeDeadlineSeconds"] = 5.into();
    }
    let container = json!({"name": "main", "image": "registry.example/main:1.4"});
    // Bound from the beginning, as nothing schedules here.
    let node = Nodes::name(rng.usize(..8));
    spec["template"] = json!({"spec": {"restartPolicy": "Never", "nodeName": node, "containers": [container]}});
    json!({"name": name, "replicas": rng.u8(1..=3), "template": {"spec": spec}})
}

fn pod_failure_policy(rng: &mut Rng, per_index: bool) -> Value {
    let count = rng.usize(1..=3);
    let rules = (0..count).map(|_| {
        let action = match rng.u8(..100) {
            0..=4 => "Ignore",
            5..=9 => "Count",
            10..=19 if per_index => "FailIndex",
            _ => "FailJob",
        };
        if rng.u8(..100) < 40 {
            return json!({"action": action, "onPodConditions": [{"type": "DisruptionTarget"}]});
        }
        let mut values = CODES.to_vec();
        rng.shuffle(&mut values);
        values.truncate(rng.usize(1..=3));
        values.sort_unstable();
        json!({"action": action, "onExitCodes": {"operator": "In", "values": values}})
    });
    json!({"rules": rules.collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_jobset_again() {
        assert_eq!(RandomJobSet::new(7, 3).manifest, RandomJobSet::new(7, 3).manifest);
        assert_ne!(RandomJobSet::new(7, 3).manifest["spec"], RandomJobSet::new(8, 3).manifest["spec"]);
    }

    #[test]
    fn an_unknown_pattern_finds_nothing() {
        assert!(matches("exit code 42", "failed with exit code 42 matching"));
        assert!(!matches("exit code", "failed with exit code 42 matching"));
    }
}
