//! What each published role is for: the commands that need a right, and what they must say where it is missing.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use super::probe::{Ask, Probe, Promise};
use super::roles::Right;

/// One `ClusterRole` and the promises of docs/rbac.md about it.
pub(super) struct Tier {
    /// Of the role, without `kubectl-sigapps-`.
    pub(super) name: &'static str,
    /// The roles that it is to be added to.
    pub(super) stands_on: &'static [&'static str],
    /// The commands that need one of its rights.
    probes: fn(&Right, &Names) -> Vec<Probe>,
}

pub(super) const TIERS: &[Tier] = &[
    Tier { name: "core", stands_on: &[], probes: core },
    Tier { name: "workloads", stands_on: &["core"], probes: workloads },
    Tier { name: "context", stands_on: &["core"], probes: context },
    Tier { name: "watch", stands_on: &["core", "workloads", "context"], probes: watch },
    Tier { name: "restart", stands_on: &["core", "context"], probes: restart },
    Tier { name: "record", stands_on: &[], probes: record },
    Tier { name: "record-logs", stands_on: &["record"], probes: record_logs },
];

/// Names that controllers have chosen.
pub(super) type Names = BTreeMap<&'static str, String>;

impl Tier {
    /// An error where nothing is known to need the right: then it is not needed, or nobody has said what for.
    pub(super) fn probes(&self, right: &Right, names: &Names) -> Result<Vec<Probe>> {
        let probes = (self.probes)(right, names);
        if probes.is_empty() {
            bail!(
                "no command is known to need it: take it out of the role, or say in tests/cluster/src/access/tiers.rs"
            );
        }
        Ok(probes)
    }
}

fn run(arguments: &[&str], promise: Promise) -> Probe {
    Probe { ask: Ask::Run(arguments.iter().map(|argument| (*argument).to_owned()).collect()), promise }
}

/// Its one object, as it is asked for.
fn one(right: &Right) -> String {
    format!("{}/one", right.rbac_name())
}

/// `list` for a report, `get` for what is asked for by its name; without either, no report.
fn core(right: &Right, _: &Names) -> Vec<Probe> {
    match right.verb.as_str() {
        "list" => vec![run(&["failures", "-A", "-o", "json"], Promise::Fails)],
        "get" => vec![run(&["explain", &one(right), "-o", "json"], Promise::Fails)],
        _ => Vec::new(),
    }
}

fn workloads(right: &Right, names: &Names) -> Vec<Probe> {
    match (right.verb.as_str(), right.resource.as_str()) {
        ("list", _) => vec![run(&["failures", "-A", "-o", "json"], Promise::LeavesOut)],
        // Nobody asks for one, but they stand between a pod and its Deployment.
        ("get", "replicasets") => {
            vec![run(&["explain", &format!("pod/{}", names["deployment"]), "-o", "json"], Promise::LeavesOut)]
        }
        ("get", _) => vec![run(&["explain", &one(right), "-o", "json"], Promise::Says)],
        _ => Vec::new(),
    }
}

fn context(right: &Right, _: &Names) -> Vec<Probe> {
    let explained = run(&["explain", "job/one", "-o", "json"], Promise::LeavesOut);
    match (right.verb.as_str(), right.resource.as_str()) {
        ("list", "events") | ("get", "nodes") => {
            vec![run(&["failures", "-A", "-o", "json"], Promise::LeavesOut), explained]
        }
        ("list", _) => vec![explained],
        ("get", "namespaces") => vec![run(&["failures", "-A", "--all-contexts", "-o", "json"], Promise::Says)],
        _ => Vec::new(),
    }
}

/// Kinds that `wait` takes. Of a CronJob, its Jobs are waited for as well.
const WAITED: [&str; 9] = [
    "jobs",
    "cronjobs",
    "jobsets",
    "trainjobs",
    "deployments",
    "statefulsets",
    "daemonsets",
    "leaderworkersets",
    "sandboxes",
];

fn watch(right: &Right, _: &Names) -> Vec<Probe> {
    let follow = |arguments: &[&str], promise| {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Probe { ask: Ask::Follow(arguments), promise }
    };
    let resource = right.resource.as_str();
    let is_core = ["jobs", "pods"].contains(&resource);
    let mut probes = match right.verb.as_str() {
        "watch" if is_core => {
            vec![follow(&["failures", "-w"], Promise::Fails), follow(&["explain", "job/one", "-w"], Promise::Fails)]
        }
        "watch" => vec![follow(&["explain", "job/one", "-w"], Promise::Says)],
        // Nodes alone are not listed but for this.
        "list" => vec![follow(&["failures", "-w"], Promise::Says)],
        _ => Vec::new(),
    };
    if right.verb == "watch" && WAITED.contains(&resource) {
        let name = if resource == "jobs" { "job/endless".to_owned() } else { one(right) };
        probes.push(run(&["wait", &name, "--timeout=30s"], Promise::Fails));
    }
    if right.verb == "watch" && resource == "events" {
        let arguments = ["wait", "leaderworkerset/one", "--for=restarted", "--timeout=30s"];
        probes.push(run(&arguments, Promise::Fails));
    }
    probes
}

/// Dry runs take the same rights as what they stand for. That logs are to be saved is asked for with `--yes`, which then
/// is not begun.
fn restart(right: &Right, _: &Names) -> Vec<Probe> {
    let arguments: &[&str] = match (right.verb.as_str(), right.resource.as_str()) {
        ("get", "persistentvolumeclaims") | ("create" | "delete", "jobsets") => &["jobset/ended"],
        ("patch" | "get", "jobsets") => &["jobset/one", "--force"],
        (_, "jobs") => &["job/one"],
        ("get", "pods/log") => &["job/one", "--save-logs", "--yes"],
        ("get", "cronjobs") => &["cronjob/one"],
        ("get" | "patch", "deployments") => &["deployment/one"],
        ("get" | "patch", "statefulsets") => &["statefulset/one"],
        ("get" | "patch", "daemonsets") => &["daemonset/one"],
        ("get", "leaderworkersets") | ("delete", "pods") => &["leaderworkerset/one"],
        ("get" | "patch", "sandboxes") => &["sandbox/one"],
        _ => return Vec::new(),
    };
    vec![run(&[&["restart"], arguments].concat(), Promise::Fails)]
}

/// A snapshot lists, a journal lists and watches.
fn record(right: &Right, _: &Names) -> Vec<Probe> {
    let is_core = ["jobs", "pods"].contains(&right.resource.as_str());
    let promise = if is_core { Promise::Fails } else { Promise::Records };
    match right.verb.as_str() {
        "list" => vec![Probe { ask: Ask::Record(&[]), promise }],
        "watch" => vec![Probe { ask: Ask::Journal, promise }],
        _ => Vec::new(),
    }
}

fn record_logs(right: &Right, _: &Names) -> Vec<Probe> {
    match (right.verb.as_str(), right.resource.as_str()) {
        ("get", "pods/log") => vec![Probe { ask: Ask::Record(&["--logs"]), promise: Promise::Records }],
        _ => Vec::new(),
    }
}
