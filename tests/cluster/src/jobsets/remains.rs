//! What is left in the API once the controllers have come to rest: all that the tool has to go by.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::api::{Api, array, has_condition, number, text};
use crate::jobsets::decisions::between;
use crate::jobsets::watched::{JOBSETS, Record, Watch, version};
use crate::wait::{Answer, until};

/// How long the controllers may take; a pod that failed once is replaced after 10 s, and a deadline is 5 s.
const REST: Duration = Duration::from_secs(240);
/// They are at rest when nothing has changed for so long.
const STILL: Duration = Duration::from_secs(4);

#[derive(PartialEq)]
pub(crate) struct Remains {
    jobsets: Vec<Value>,
    jobs: Vec<Value>,
    pods: Vec<Value>,
    nodes: Vec<Value>,
    events: Vec<Value>,
}

/// Those that a dump holds; the API server forgets them after an hour.
#[derive(Clone, Copy)]
pub(crate) enum Events {
    All,
    /// Those written since.
    Newer(Timestamp),
    NotOfJobSets,
    None,
}

impl Remains {
    /// Once nothing moves any more, and all of it was watched.
    pub(crate) async fn at_rest(api: &Api, watch: &Watch) -> Result<Self> {
        let seen = Mutex::new((HashMap::new(), Instant::now()));
        until("the controllers to come to rest", REST, || async {
            let remains = Self::read(api).await?;
            let versions = remains.versions();
            let mut seen = seen.lock().expect("nothing panics while holding it");
            if seen.0 != versions {
                *seen = (versions, Instant::now());
            }
            let moving = remains.moving().or_else(|| unwatched(&remains, &watch.record()));
            Ok(match moving {
                Some(moving) => Answer::NotYet(moving),
                None if seen.1.elapsed() < STILL => Answer::NotYet("something changed a moment ago".to_owned()),
                None => Answer::Ready(remains),
            })
        })
        .await
    }

    async fn read(api: &Api) -> Result<Self> {
        Ok(Self {
            jobsets: api.list(JOBSETS).await?,
            jobs: api.list("/apis/batch/v1/jobs").await?,
            pods: api.list("/api/v1/pods").await?,
            nodes: api.list("/api/v1/nodes").await?,
            events: api.list("/api/v1/events").await?,
        })
    }

    /// Nodes renew their sign of life for ever.
    fn versions(&self) -> HashMap<String, u64> {
        let objects = [&self.jobsets, &self.jobs, &self.pods, &self.events].into_iter().flatten();
        objects.map(|object| (text(object, "/metadata/uid").to_owned(), version(object))).collect()
    }

    /// The first thing that will go on by itself.
    fn moving(&self) -> Option<String> {
        let named = |object: &Value, what: &str| format!("{} {what}", text(object, "/metadata/name"));
        let deleted = |object: &&Value| object.pointer("/metadata/deletionTimestamp").is_some();
        if let Some(object) = self.pods.iter().chain(&self.jobs).find(deleted) {
            return Some(named(object, "is being deleted"));
        }
        if let Some(job) = self.jobs.iter().find(|job| is_moving(job)) {
            return Some(named(job, &format!("goes on: {}", job["status"])));
        }
        let jobset = self.jobsets.iter().find(|jobset| self.has_to_act(jobset))?;
        Some(named(jobset, &format!("goes on: {}", jobset["status"])))
    }

    /// A JobSet that goes on without all of its Jobs, or with one that failed.
    fn has_to_act(&self, jobset: &Value) -> bool {
        let owned = |job: &&Value| text(job, "/metadata/ownerReferences/0/uid") == text(jobset, "/metadata/uid");
        let jobs: Vec<_> = self.jobs.iter().filter(owned).collect();
        if is_over(jobset, "Completed") {
            return jobs.iter().any(|job| !is_over(job, "Complete"));
        }
        let wanted: i64 = array(jobset, "/spec/replicatedJobs").iter().map(|job| number(job, "/replicas")).sum();
        i64::try_from(jobs.len()) != Ok(wanted) || jobs.iter().any(|job| has_condition(job, "Failed"))
    }

    pub(crate) fn write(&self, file: &Path, events: Events) -> Result<()> {
        let keep = |event: &&Value| match events {
            Events::All => true,
            Events::Newer(time) => written(event).is_some_and(|written| written >= time),
            Events::NotOfJobSets => text(event, "/involvedObject/kind") != "JobSet",
            Events::None => false,
        };
        let events = self.events.iter().filter(keep);
        let objects = [&self.jobsets, &self.jobs, &self.pods, &self.nodes].into_iter().flatten();
        let items: Vec<_> = objects.chain(events).collect();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        std::fs::write(file, list.to_string()).with_context(|| format!("cannot write {}", file.display()))
    }
}

fn is_over(object: &Value, success: &str) -> bool {
    has_condition(object, success) || has_condition(object, "Failed")
}

/// A Job that will finish, or get another pod.
fn is_moving(job: &Value) -> bool {
    if is_over(job, "Complete") {
        return false;
    }
    let finishing = has_condition(job, "FailureTarget") || has_condition(job, "SuccessCriteriaMet");
    let deadline = job.pointer("/spec/activeDeadlineSeconds").is_some();
    let pods = number(job, "/status/active") + number(job, "/status/succeeded");
    // An index that may fail but once gets no other pod.
    let waiting = job.pointer("/spec/backoffLimitPerIndex").is_none() && pods < number(job, "/spec/completions");
    finishing || deadline || waiting
}

/// The watch is behind what was read, or an Event of a decision is still to come.
fn unwatched(remains: &Remains, record: &Record) -> Option<String> {
    let events = record.events_by_version();
    for jobset in &remains.jobsets {
        let name = text(jobset, "/metadata/name");
        let revisions = record.jobsets.get(text(jobset, "/metadata/uid")).map(Vec::as_slice).unwrap_or_default();
        if revisions.last().is_none_or(|last| last.version < version(jobset)) {
            return Some(format!("{name} was not watched to its end"));
        }
        for pair in revisions.windows(2) {
            let decided = matches!(between(&pair[0].object, &pair[1].object), Ok(Some(_)));
            if decided && !events.contains_key(&pair[1].version) {
                return Some(format!("no Event tells yet of version {} of {name}", pair[1].version));
            }
        }
    }
    None
}

fn written(event: &Value) -> Option<Timestamp> {
    let times = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"];
    times.iter().find_map(|time| text(event, time).parse().ok())
}
