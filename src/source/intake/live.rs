//! An intake that follows a cluster: objects are changed and forgotten, and what is there can be looked at at any time.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Filter, Intake, NOT_KEPT, first_members, key_of, parse};
use crate::model::{ObjectView, Owner, Word};
use crate::source::kind::Kind;
use crate::source::{ListHead, ObjectSink as _, Position, Snapshot};

/// What it takes to forget objects again.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// Where each quiet pod is counted, by the hash of its uid.
    quiet: HashMap<u64, (Arc<Owner>, Word)>,
    /// Places in the lists that are free, by kind.
    pub(super) free: HashMap<u8, Vec<u32>>,
    /// Objects taken since texts that nothing holds any more were forgotten.
    taken: u32,
}

/// Objects that are taken until texts that nothing holds any more are looked for.
const SWEEP_AFTER: u32 = 10_000;

impl Intake {
    /// An intake that follows a cluster: [`Self::set`], [`Self::forget`], and [`Self::snapshot`] as often as wanted.
    pub fn live(filter: Filter) -> Self {
        Self { live: Some(Live::default()), ..Self::new(filter) }
    }

    /// Takes an object that was made or changed, as the API server wrote it.
    pub fn set(&mut self, object: &[u8]) {
        self.object(object, &ListHead::default(), Position { object: 1, byte: 0 });
        let Some(live) = &mut self.live else { return };
        live.taken += 1;
        if live.taken >= SWEEP_AFTER {
            live.taken = 0;
            self.interner.sweep();
        }
    }

    /// Forgets an object that is gone; of it, kind and names are enough.
    pub fn forget(&mut self, object: &[u8]) {
        let Some(kind) = first_members(object).and_then(|(kind, version)| Kind::of(kind, version)) else { return };
        let Ok(view) = parse::<ObjectView>(object) else { return };
        let key = key_of(kind, &view.metadata);
        let Some(seen) = self.seen.remove(&key) else { return };
        self.uncount(key);
        if let Some(tally) = self.tallies.get_mut(&kind.resource()) {
            tally.objects = tally.objects.saturating_sub(1);
        }
        if seen.kept != NOT_KEPT {
            self.clear(kind, seen.kept as usize);
            if let Some(live) = &mut self.live {
                live.free.entry(kind.list()).or_default().push(seen.kept);
            }
        }
    }

    /// Empties a place in the list of a kind.
    pub(super) fn clear(&mut self, kind: Kind, at: usize) {
        match kind {
            Kind::Pod => self.pods[at] = None,
            Kind::Job => self.jobs[at] = None,
            Kind::CronJob => self.cron_jobs[at] = None,
            Kind::JobSet => self.job_sets[at] = None,
            Kind::Event => self.events[at] = None,
            Kind::Node => self.nodes[at] = None,
            Kind::Claim => self.claims[at] = None,
            Kind::VolumeSnapshot => self.volume_snapshots[at] = None,
            Kind::PodCheckpoint => self.pod_checkpoints[at] = None,
            Kind::PodSnapshot => self.pod_snapshots[at] = None,
            Kind::Deployment => self.deployments[at] = None,
            Kind::StatefulSet => self.stateful_sets[at] = None,
            Kind::DaemonSet => self.daemon_sets[at] = None,
            Kind::ReplicaSet | Kind::ControllerRevision => self.revisions[at] = None,
            Kind::LeaderWorkerSet => self.leader_worker_sets[at] = None,
            Kind::DisaggregatedSet => self.disaggregated_sets[at] = None,
            Kind::Sandbox => self.sandboxes[at] = None,
            Kind::SandboxClaim => self.sandbox_claims[at] = None,
            Kind::SandboxWarmPool => self.sandbox_warm_pools[at] = None,
            Kind::TrainJob => self.train_jobs[at] = None,
            Kind::Queued => self.queued[at] = None,
            Kind::List | Kind::Recording | Kind::RecordingStatus | Kind::Log | Kind::Change => {}
        }
    }

    /// Takes a pod off the quiet ones.
    fn uncount(&mut self, key: u64) {
        let Some(placed) = self.live.as_mut().and_then(|live| live.quiet.remove(&key)) else { return };
        if let Some(count) = self.quiet_pods.get_mut(&placed) {
            *count -= 1;
            if *count == 0 {
                self.quiet_pods.remove(&placed);
            }
        }
    }

    /// What is there now, as [`Self::finish`] would give it.
    pub fn snapshot(&self) -> Snapshot {
        let copy = Self {
            filter: self.filter.clone(),
            jobs: self.jobs.clone(),
            pods: self.pods.clone(),
            quiet_pods: self.quiet_pods.clone(),
            cron_jobs: self.cron_jobs.clone(),
            job_sets: self.job_sets.clone(),
            events: self.events.clone(),
            nodes: self.nodes.clone(),
            claims: self.claims.clone(),
            volume_snapshots: self.volume_snapshots.clone(),
            pod_checkpoints: self.pod_checkpoints.clone(),
            pod_snapshots: self.pod_snapshots.clone(),
            deployments: self.deployments.clone(),
            stateful_sets: self.stateful_sets.clone(),
            daemon_sets: self.daemon_sets.clone(),
            revisions: self.revisions.clone(),
            leader_worker_sets: self.leader_worker_sets.clone(),
            disaggregated_sets: self.disaggregated_sets.clone(),
            sandboxes: self.sandboxes.clone(),
            sandbox_claims: self.sandbox_claims.clone(),
            sandbox_warm_pools: self.sandbox_warm_pools.clone(),
            train_jobs: self.train_jobs.clone(),
            queued: self.queued.clone(),
            newest: self.newest,
            ..Self::default()
        };
        copy.finish()
    }

    /// Counts a quiet pod of a cluster that is followed where it runs, and one that is none any more nowhere.
    pub(super) fn recount(&mut self, key: u64, placed: Option<(Arc<Owner>, Word)>) {
        self.uncount(key);
        if let (Some(live), Some(placed)) = (&mut self.live, placed) {
            *self.quiet_pods.entry(placed.clone()).or_default() += 1;
            live.quiet.insert(key, placed);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(name: &str, version: u32, node: Option<&str>, failed: bool) -> Value {
        let exit = json!({"terminated": {"exitCode": 1, "finishedAt": "2026-11-30T09:00:00Z"}});
        let state = if failed { exit } else { json!({"running": {}}) };
        json!({
            "kind": "Pod", "apiVersion": "v1",
            "metadata": {
                "name": name, "namespace": "ml", "uid": name, "resourceVersion": version.to_string(),
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j", "controller": true}],
            },
            "spec": {"nodeName": node, "containers": [{"name": "main"}]},
            "status": {
                "phase": if failed { "Failed" } else { "Running" },
                "containerStatuses": [{"name": "main", "ready": !failed, "state": state}],
            },
        })
    }

    fn job(name: &str, version: u32) -> Value {
        json!({
            "kind": "Job", "apiVersion": "batch/v1",
            "metadata": {"name": name, "namespace": "ml", "uid": name, "resourceVersion": version.to_string()},
        })
    }

    /// What is known after some changes is what a reading of what is there now would know.
    #[track_caller]
    fn is_as_read(intake: &Intake, there: &[Value]) {
        let mut read = Intake::new(Filter::default());
        for object in there {
            read.object(object.to_string().as_bytes(), &ListHead::default(), Position { object: 1, byte: 0 });
        }
        let read = read.finish();
        let now = intake.snapshot();
        assert_eq!((&now.jobs, &now.pods), (&read.jobs, &read.pods));
        assert_eq!(now.quiet_pods, read.quiet_pods);
    }

    #[test]
    fn changes_and_deletions_leave_what_a_reading_would_find() {
        let mut intake = Intake::live(Filter::default());
        let set = |intake: &mut Intake, object: &Value| intake.set(object.to_string().as_bytes());
        let forget = |intake: &mut Intake, object: &Value| intake.forget(object.to_string().as_bytes());
        set(&mut intake, &job("a", 1));
        // It waits for a node, runs, fails, and is deleted; of that, only its names may be known.
        set(&mut intake, &pod("p", 2, None, false));
        is_as_read(&intake, &[job("a", 1), pod("p", 2, None, false)]);
        set(&mut intake, &pod("p", 3, Some("n1"), false));
        set(&mut intake, &pod("q", 4, Some("n1"), false));
        is_as_read(&intake, &[job("a", 1), pod("p", 3, Some("n1"), false), pod("q", 4, Some("n1"), false)]);
        set(&mut intake, &pod("p", 5, Some("n1"), true));
        is_as_read(&intake, &[job("a", 1), pod("p", 5, Some("n1"), true), pod("q", 4, Some("n1"), false)]);
        let names =
            json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "q", "namespace": "ml", "uid": "q"}});
        forget(&mut intake, &names);
        is_as_read(&intake, &[job("a", 1), pod("p", 5, Some("n1"), true)]);
        forget(&mut intake, &pod("p", 6, Some("n1"), true));
        forget(&mut intake, &pod("p", 6, Some("n1"), true));
        is_as_read(&intake, &[job("a", 1)]);
        // Its place is taken by another one.
        set(&mut intake, &pod("r", 7, Some("n2"), true));
        is_as_read(&intake, &[job("a", 1), pod("r", 7, Some("n2"), true)]);
        assert_eq!(intake.pods.len(), 1);
    }

    #[test]
    fn a_cluster_that_was_restored_from_a_backup_is_taken_in_its_order() {
        let mut intake = Intake::live(Filter::default());
        for object in [pod("p", 800, Some("n1"), false), pod("p", 50, Some("n1"), true)] {
            intake.set(object.to_string().as_bytes());
        }
        is_as_read(&intake, &[pod("p", 50, Some("n1"), true)]);
        // Of the same version, too.
        intake.set(pod("p", 50, Some("n1"), false).to_string().as_bytes());
        is_as_read(&intake, &[pod("p", 50, Some("n1"), false)]);
    }

    #[test]
    fn what_comes_and_goes_takes_no_room_for_good() {
        let mut intake = Intake::live(Filter::default());
        for number in 0..30_000 {
            let object = job(&format!("job-{number}"), number).to_string();
            intake.set(object.as_bytes());
            intake.forget(object.as_bytes());
        }
        assert_eq!(
            (intake.jobs.len(), intake.seen.len(), intake.tally(crate::source::Resource::Jobs).objects),
            (1, 0, 0)
        );
        assert!(intake.interner.len() <= SWEEP_AFTER as usize + 10, "{}", intake.interner.len());
    }
}
