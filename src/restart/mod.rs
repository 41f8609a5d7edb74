//! Restarts one workload: what is known of it → a plan, with what speaks against it and what is lost → what the server
//! says to each write → evidence on disk → the writes, each recorded.
//!
//! The only room that asks for writes. Plans are made by pure functions of plain values, one file a kind; objects are
//! kept whole, as JSON, so that fields this tool does not know survive. The writes themselves are sent by
//! [`crate::source::cluster::Session`].

mod carry_out;
mod changes;
mod checkpoints;
mod command;
mod cron_job;
mod earlier;
mod evidence;
mod facts;
mod folder;
mod gather;
mod guards;
mod held;
mod hide;
mod job;
mod job_set;
mod kind;
mod leader_worker_set;
mod names;
mod object;
mod patch;
mod plan;
mod prepare;
mod record;
mod rollout;
mod run;
mod sandbox;
mod strip;
mod trust;
mod volumes;

use std::path::PathBuf;
use std::time::Duration;

pub use command::Commands;
pub(crate) use evidence::logs_of;
pub use kind::Kind;
pub use patch::Patch;
pub use run::run;

use crate::model::Time;
use crate::report::{DryRun, Restart, RestartStep};
use crate::source::cluster::{ClusterError, RequestError};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Order {
    /// The workload's kind.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Leave the old one as it is, and give the new one a new name.
    pub keep: bool,
    /// A change of what is made again.
    pub patch: Option<Patch>,
    /// Whether writes are sent.
    pub dry_run: DryRun,
    /// Go on although it runs, retries, or is applied from a repository.
    pub force: bool,
    /// Go on although volumes that may hold checkpoints are deleted.
    pub allow_checkpoint_loss: bool,
    /// Save the logs of failed pods.
    pub save_logs: bool,
    /// The group of a `LeaderWorkerSet`.
    pub group: Option<u32>,
    /// The longest that one step waits for the cluster.
    pub timeout: Duration,
    /// The folder in which a new one is made for what is saved.
    pub save_to: PathBuf,
    /// Other folders in which earlier restarts may have left their record.
    pub look_in: Vec<PathBuf>,
    /// Now.
    pub now: Time,
    /// Makes the commands that are printed.
    pub commands: Commands,
    /// The flags of this run that a run that goes on with it needs, too.
    pub flags: Vec<String>,
}

/// The person at the other end.
pub trait Console {
    /// The plan is made, and, unless it is a client's dry run, the server has checked it.
    fn planned(&mut self, restart: &Restart);
    /// Whether to go on.
    fn confirms(&mut self, restart: &Restart) -> bool;
    /// What is saved is in this folder.
    fn saved(&mut self, folder: &str);
    /// A step begins.
    fn begins(&mut self, step: &RestartStep);
    /// A step ended, one way or the other.
    fn ended(&mut self, step: &RestartStep);
}

/// Why a restart could not even be planned, or not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RestartError {
    /// The cluster could not be read.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// A request came to nothing.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The folder for what is saved cannot be used.
    #[error("cannot use {}: {why}; --save-to names another folder for what is saved", .path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A mistake of ours.
    #[error("cannot write down the restart: {0}")]
    Internal(String),
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::facts::Facts;
    use super::*;
    use crate::kubectl::Kubectl;
    use crate::source::cluster::Object;

    /// Asks for nothing special.
    pub(super) fn order(kind: Kind, name: &str) -> Order {
        Order {
            kind,
            name: name.to_owned(),
            namespace: "ml".to_owned(),
            keep: false,
            patch: None,
            dry_run: DryRun::None,
            force: false,
            allow_checkpoint_loss: false,
            save_logs: false,
            group: None,
            timeout: Duration::ZERO,
            save_to: PathBuf::new(),
            look_in: Vec::new(),
            now: Time::parse("2026-11-30T09:00:00Z").unwrap(),
            commands: Commands::new(Kubectl::default(), "ml"),
            flags: Vec::new(),
        }
    }

    /// An object about which nothing else is known.
    pub(super) fn facts(object: &Value) -> Facts {
        let at = Object { namespace: "ml".into(), name: object::name(object).to_owned(), ..Object::default() };
        Facts { at, object: object.clone(), ..Facts::default() }
    }

    /// Each value of an object replaced, one after the other: all that a patch can leave of it.
    fn broken(object: &Value) -> Vec<Patch> {
        fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
            let below: Vec<(String, &Value)> = match value {
                Value::Object(fields) => fields.iter().map(|(key, value)| (key.replace('/', "~1"), value)).collect(),
                Value::Array(items) => {
                    items.iter().enumerate().map(|(position, value)| (position.to_string(), value)).collect()
                }
                _ => Vec::new(),
            };
            for (key, value) in below {
                let at = format!("{at}/{key}");
                pointers(value, &at, found);
                found.push(at);
            }
        }
        let mut found = Vec::new();
        pointers(object, "", &mut found);
        let values = [json!("x"), json!(3), json!(null), json!({}), json!([]), json!(["x"]), json!([3, {}])];
        let replace = |at: &String, value: &Value| json!([{"op": "replace", "path": at, "value": value}]).to_string();
        let texts = found.iter().flat_map(|at| values.iter().map(move |value| replace(at, value)));
        texts.map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn a_change_may_leave_anything_of_the_object() {
        let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "main"}]}});
        let job_spec = json!({"completionMode": "Indexed", "completions": 3, "template": template});
        let mut facts = facts(&json!({
            "apiVersion": "v1", "kind": "K",
            "metadata": {"name": "llama", "uid": "u1", "labels": {"kueue.x-k8s.io/queue-name": "gpus"},
                         "annotations": {"a": "b"}},
            "spec": {
                "completionMode": "Indexed", "completions": 3, "template": template,
                "replicatedJobs": [{"name": "w", "replicas": 2, "template": {"spec": job_spec}}],
                "volumeClaimPolicies": [{
                    "templates": [{"metadata": {"name": "state"}, "spec": {}}], "retentionPolicy": {"whenDeleted": "x"}}],
            },
            "status": {"terminalState": "Failed"},
        }));
        let fate = super::facts::Fate::Stays(json!({}));
        facts.claims = vec![super::facts::Claim { name: "state-llama".into(), template: "state".into(), fate }];
        for patch in broken(&facts.object) {
            for keep in [false, true] {
                let order = |kind| Order { keep, force: true, patch: Some(patch.clone()), ..order(kind, "llama") };
                let created =
                    |plan: &super::plan::Plan| plan.steps.iter().any(|step| step.action.verb() == Some("create"));
                assert!(created(&job::plan(&facts, &order(Kind::Job))), "{patch}");
                assert!(created(&job_set::plan(&facts, &order(Kind::JobSet))), "{patch}");
            }
        }
    }
}
