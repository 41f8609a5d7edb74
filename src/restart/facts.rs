use serde_json::Value;

use super::plan::Plan;
use super::{Order, object};
use crate::report::RefusalReason;
use crate::source::cluster::Object;

/// What is known of the workload before anything is done.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// Where it is.
    pub(super) at: Object,
    /// The workload itself.
    pub(super) object: Value,
    /// The Jobs that it controls.
    pub(super) jobs: Vec<Value>,
    /// Its pods.
    pub(super) pods: Vec<Value>,
    /// The volume claims that it made, as far as they matter.
    pub(super) claims: Vec<Claim>,
    /// The namespace's volume claims that something owns.
    pub(super) owned: Vec<Value>,
    /// Whether these could not be read.
    pub(super) owned_unread: bool,
    /// Events about all of these.
    pub(super) events: Vec<Value>,
    /// What could not be read, each a sentence.
    pub(super) unread: Vec<String>,
}

/// A volume claim of a `JobSet`'s template.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Claim {
    pub(super) name: String,
    /// The template's name, which is the volume's in the pods.
    pub(super) template: String,
    pub(super) fate: Fate,
}

/// What becomes of a volume claim when its `JobSet` is deleted.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fate {
    /// It is deleted with it.
    Deleted,
    /// It stays, with this spec.
    Stays(Value),
    /// It is not there.
    Missing,
    /// It could not be read, though its policy keeps it.
    StaysUnread(String),
    /// It could not be read, and its policy deletes it.
    Unknown(String),
}

impl Order {
    /// The same command with one flag more.
    pub(super) fn again_with(&self, flag: &str) -> String {
        self.commands.again(self.kind.name(), &self.name, &self.flags, flag)
    }

    /// What is made again, with the change that is asked for.
    pub(super) fn changed(&self, plan: &mut Plan, manifest: Value) -> Value {
        let Some(patch) = &self.patch else { return manifest };
        match patch.apply(&manifest) {
            Ok(changed) => {
                plan.note("the new one is changed by --patch");
                changed
            }
            Err(why) => {
                plan.refuse(RefusalReason::NotPossible, format!("{}: {why}", self.subject()), Vec::new());
                manifest
            }
        }
    }

    /// `job/etl`.
    pub(super) fn subject(&self) -> String {
        format!("{}/{}", self.kind.name(), self.name)
    }
}

impl Facts {
    /// Pods whose containers still run or are about to.
    pub(super) fn running(&self) -> impl Iterator<Item = &Value> {
        self.pods.iter().filter(|pod| !object::is_over(pod))
    }

    /// `3 pods (2 failed, 1 running) and their logs: etl-a, etl-b, etl-c`.
    pub(super) fn pods_and_logs(&self) -> Option<String> {
        if self.pods.is_empty() {
            return None;
        }
        let count = |phase: &str| self.pods.iter().filter(|pod| object::text(pod, "/status/phase") == phase).count();
        let phases = ["Failed", "Succeeded", "Running", "Pending"];
        let counts: Vec<String> = phases
            .into_iter()
            .map(|phase| (count(phase), phase))
            .filter(|(count, _)| *count > 0)
            .map(|(count, phase)| format!("{count} {}", phase.to_ascii_lowercase()))
            .collect();
        let names: Vec<&str> = self.pods.iter().map(object::name).collect();
        let (number, their) = (counted(self.pods.len(), "pod"), if self.pods.len() == 1 { "its" } else { "their" });
        Some(format!("{number} ({}) and {their} logs: {}", counts.join(", "), listed(&names)))
    }
}

/// `a, b, c and 4 more`.
pub(super) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    const NAMED: usize = 3;
    let named: Vec<&str> = names.iter().take(NAMED).map(AsRef::as_ref).collect();
    let more = match names.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}

/// `1 pod`, `3 pods`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
