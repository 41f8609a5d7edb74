use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::report::{RefusalReason, RestartRefusal, RestartStep, StepState};
use crate::source::cluster::Object;

/// What would be done, what is lost by it, and what speaks against it.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// In one sentence, behind the workload's name: `is made again from its own spec`.
    pub(super) summary: String,
    pub(super) refusals: Vec<RestartRefusal>,
    pub(super) notes: Vec<String>,
    pub(super) loses: Vec<String>,
    pub(super) steps: Vec<Step>,
    /// Commands to look at it with afterwards.
    pub(super) next: Vec<String>,
}

/// A step, in words and for the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Step {
    pub(super) text: String,
    pub(super) action: Action,
}

/// What a step does. Each can be done again without harm: a deletion and a wait name a uid, a creation looks first
/// whether the object is there, a change sets what it sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "do")]
pub(super) enum Action {
    /// Deletes the object with this uid, its dependents first.
    Delete { object: Object, uid: String },
    /// Waits until the object with this uid is gone.
    AwaitGone { object: Object, uid: String },
    /// Creates an object, in the place of the one with the uid `replaces` if there was one.
    Create {
        object: Object,
        replaces: Option<String>,
        /// Kept in a file of its own, and not in the record.
        #[serde(skip)]
        manifest: Value,
    },
    /// Sends a JSON merge patch.
    Patch { object: Object, body: Value },
    /// Waits until the `JobSet` with this uid is suspended and its pods have ended.
    AwaitSuspended { object: Object, uid: String },
    /// Waits until an object of this name with another uid is there.
    AwaitReplaced { object: Object, uid: String },
}

impl Action {
    pub(super) fn object(&self) -> &Object {
        match self {
            Self::Delete { object, .. }
            | Self::AwaitGone { object, .. }
            | Self::Create { object, .. }
            | Self::Patch { object, .. }
            | Self::AwaitSuspended { object, .. }
            | Self::AwaitReplaced { object, .. } => object,
        }
    }

    /// As RBAC names what is written; `None` for what only looks.
    pub(super) const fn verb(&self) -> Option<&'static str> {
        match self {
            Self::Delete { .. } => Some("delete"),
            Self::Create { .. } => Some("create"),
            Self::Patch { .. } => Some("patch"),
            Self::AwaitGone { .. } | Self::AwaitSuspended { .. } | Self::AwaitReplaced { .. } => None,
        }
    }

    /// What must be allowed for it, each as RBAC names it: what is written, and what is looked at on the way.
    pub(super) fn rights(&self) -> Vec<(&'static str, Object)> {
        let object = self.object();
        match self {
            Self::Delete { .. } => vec![("delete", object.clone())],
            Self::Patch { .. } => vec![("patch", object.clone())],
            // A creation has no name yet that a rule could grant.
            Self::Create { .. } => vec![("create", object.named("")), ("get", object.clone())],
            Self::AwaitGone { .. } | Self::AwaitReplaced { .. } => vec![("get", object.clone())],
            Self::AwaitSuspended { .. } => {
                let pods = Object { api_version: "v1".to_owned(), resource: "pods".to_owned(), ..object.named("") };
                vec![("get", object.clone()), ("list", pods)]
            }
        }
    }
}

impl Step {
    pub(super) fn new(text: impl Into<String>, action: Action) -> Self {
        Self { text: text.into(), action }
    }

    /// As it is reported before anything was done.
    pub(super) fn report(&self) -> RestartStep {
        let object = self.action.object();
        RestartStep {
            text: self.text.clone(),
            verb: self.action.verb(),
            resource: object.rbac_name(),
            name: object.name.clone(),
            state: StepState::Planned,
            message: None,
        }
    }
}

impl Plan {
    /// Something that speaks against it.
    pub(super) fn refuse(&mut self, reason: RefusalReason, message: impl Into<String>, commands: Vec<String>) {
        self.refusals.push(RestartRefusal { reason, message: message.into(), commands });
    }

    /// Where something speaks against it that no flag passes, flags that pass the rest would not help.
    pub(super) fn leave_out_what_would_not_help(&mut self) {
        let is_final = |reason| {
            use RefusalReason::{BeingDeleted, Kueue, ManagedBy, Owned, Suspended};
            matches!(reason, Owned | Kueue | ManagedBy | BeingDeleted | Suspended)
        };
        if let Some(first) = self.refusals.iter().find(|refusal| is_final(refusal.reason)).cloned() {
            self.refusals = vec![first];
        }
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    pub(super) fn lose(&mut self, text: impl Into<String>) {
        self.loses.push(text.into());
    }

    pub(super) fn step(&mut self, text: impl Into<String>, action: Action) {
        self.steps.push(Step::new(text, action));
    }
}
