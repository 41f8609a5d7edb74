//! What the API server reported of JobSets and all that is theirs, kept as it came: a restart deletes most of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use jiff::Timestamp;
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::api::{Api, Change, has_condition, text};

pub(crate) const JOBSETS: &str = "/apis/jobset.x-k8s.io/v1alpha2/jobsets";
const JOBS: &str = "/apis/batch/v1/jobs";
const PODS: &str = "/api/v1/pods";
const EVENTS: &str = "/api/v1/events";

/// Everything by uid.
#[derive(Default)]
pub(crate) struct Record {
    /// Every revision of each JobSet, oldest first.
    pub(crate) jobsets: HashMap<String, Vec<Revision>>,
    pub(crate) jobs: HashMap<String, WatchedJob>,
    /// As each was seen last.
    pub(crate) pods: HashMap<String, Value>,
    pub(crate) events: HashMap<String, Value>,
}

pub(crate) struct Revision {
    /// Versions of all kinds are numbers of one store, so they tell what came first.
    pub(crate) version: u64,
    /// When it was reported to us.
    pub(crate) at: Timestamp,
    pub(crate) object: Value,
}

pub(crate) struct WatchedJob {
    /// As it was seen last.
    pub(crate) object: Value,
    /// The version at which it was first seen with the condition Failed.
    pub(crate) failed: Option<u64>,
}

/// Records until it is dropped.
pub(crate) struct Watch {
    record: Arc<Mutex<Record>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Watch {
    pub(crate) fn start(api: &Api) -> Self {
        let record = Arc::new(Mutex::new(Record::default()));
        let follow = |path: &str, keep: fn(&mut Record, Value)| {
            let (mut changes, record) = (api.watch(path), record.clone());
            tokio::spawn(async move {
                while let Some(change) = changes.recv().await {
                    let (Change::Present(mut object) | Change::Gone(mut object)) = change;
                    if let Some(metadata) = object["metadata"].as_object_mut() {
                        metadata.remove("managedFields");
                    }
                    keep(&mut record.lock().expect("nothing panics while holding it"), object);
                }
            })
        };
        let tasks = vec![
            follow(JOBSETS, Record::keep_jobset),
            follow(JOBS, Record::keep_job),
            follow(PODS, |record, pod| drop(record.pods.insert(uid(&pod), pod))),
            follow(EVENTS, |record, event| drop(record.events.insert(uid(&event), event))),
        ];
        Self { record, tasks }
    }

    pub(crate) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().expect("nothing panics while holding it")
    }
}

impl Record {
    fn keep_jobset(&mut self, object: Value) {
        let revisions = self.jobsets.entry(uid(&object)).or_default();
        let version = version(&object);
        // A watch that had to begin anew reports again what it reported before.
        if revisions.last().is_none_or(|last| last.version < version) {
            revisions.push(Revision { version, at: Timestamp::now(), object });
        }
    }

    fn keep_job(&mut self, object: Value) {
        let earlier = self.jobs.get(&uid(&object)).and_then(|job| job.failed);
        let failed = earlier.or_else(|| has_condition(&object, "Failed").then(|| version(&object)));
        self.jobs.insert(uid(&object), WatchedJob { object, failed });
    }

    /// Events by the version of the JobSet that they are about: its controller has just written that one.
    pub(crate) fn events_by_version(&self) -> HashMap<u64, Vec<&Value>> {
        let mut events: HashMap<u64, Vec<&Value>> = HashMap::new();
        for event in self.events.values().filter(|event| text(event, "/involvedObject/kind") == "JobSet") {
            let version = text(event, "/involvedObject/resourceVersion").parse().unwrap_or_default();
            events.entry(version).or_default().push(event);
        }
        events
    }
}

fn uid(object: &Value) -> String {
    text(object, "/metadata/uid").to_owned()
}

pub(crate) fn version(object: &Value) -> u64 {
    text(object, "/metadata/resourceVersion").parse().unwrap_or_default()
}
