//! `--since`: what was over before a time is left out whole, and what goes on is kept whole.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::model::Time;
use crate::source::Resource;

/// Finds out what was over. A Job's pods are not judged by themselves: of one that failed an hour ago the first attempts may
/// have ended long before.
#[derive(Debug, Default)]
pub(super) struct Since {
    from: Option<Time>,
    /// Uids of Jobs and `JobSet`s that were over.
    over: HashSet<String>,
}

impl Since {
    pub(super) fn new(from: Option<Time>) -> Self {
        Self { from, over: HashSet::new() }
    }

    /// Whether an object bears on the time since. `JobSet`s are to be asked about first, then Jobs.
    pub(super) fn wants(&mut self, resource: Resource, object: &Map<String, Value>) -> bool {
        let Some(from) = self.from else { return true };
        let metadata = object.get("metadata").unwrap_or(&Value::Null);
        let owner =
            metadata["ownerReferences"].as_array().into_iter().flatten().find(|owner| owner["controller"] == true);
        let owner_is = |kind: &str| owner.is_some_and(|owner| owner["kind"] == kind);
        let of_over = owner.and_then(|owner| owner["uid"].as_str()).is_some_and(|uid| self.over.contains(uid));
        let is_over = match resource {
            Resource::JobSets => ended(object).is_some_and(|at| at < from),
            // Of a JobSet that goes on, Jobs that ended are attempts.
            Resource::Jobs => of_over || (!owner_is("JobSet") && ended(object).is_some_and(|at| at < from)),
            Resource::Pods => of_over || (!owner_is("Job") && pod_ended(object).is_some_and(|at| at < from)),
            Resource::Events => last_seen(object).is_some_and(|at| at < from),
            _ => false,
        };
        if is_over && matches!(resource, Resource::JobSets | Resource::Jobs) {
            self.over.extend(metadata["uid"].as_str().map(ToOwned::to_owned));
        }
        !is_over
    }
}

fn time(value: &Value) -> Option<Time> {
    value.as_str().and_then(Time::parse)
}

/// When a Job or `JobSet` ended, by its condition.
fn ended(object: &Map<String, Value>) -> Option<Time> {
    let conditions = object.get("status")?["conditions"].as_array()?;
    let is_end = |condition: &&Value| {
        condition["status"] == "True" && matches!(condition["type"].as_str(), Some("Failed" | "Complete" | "Completed"))
    };
    conditions.iter().find(is_end).and_then(|condition| time(&condition["lastTransitionTime"]))
}

fn pod_ended(object: &Map<String, Value>) -> Option<Time> {
    let status = object.get("status")?;
    if !matches!(status["phase"].as_str(), Some("Succeeded" | "Failed")) {
        return None;
    }
    let lists = ["containerStatuses", "initContainerStatuses"].into_iter();
    let statuses = lists.flat_map(|list| status[list].as_array().into_iter().flatten());
    let ends = statuses.filter_map(|status| time(&status["state"]["terminated"]["finishedAt"]));
    ends.max().or_else(|| {
        let conditions = status["conditions"].as_array().into_iter().flatten();
        conditions.filter_map(|condition| time(&condition["lastTransitionTime"])).max()
    })
}

fn last_seen(event: &Map<String, Value>) -> Option<Time> {
    let series = event.get("series").map(|series| &series["lastObservedTime"]);
    let times = ["lastTimestamp", "deprecatedLastTimestamp", "eventTime", "firstTimestamp"];
    let told = times.iter().map(|name| event.get(*name)).chain([series]).flatten().filter_map(time);
    told.max().or_else(|| time(&event.get("metadata")?["creationTimestamp"]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_over_is_left_out_whole_and_what_goes_on_is_kept_whole() {
        let mut since = Since::new(Time::parse("2026-11-30T09:00:00Z"));
        let (old, new) = ("2026-11-30T08:00:00Z", "2026-11-30T09:30:00Z");
        let owned = |uid: &str, kind: &str, owner: &str| json!({"uid": uid, "ownerReferences": [{"kind": kind, "uid": owner, "controller": true}]});
        let done = |metadata: Value, at: &str| json!({"metadata": metadata, "status": {"conditions": [{"type": "Failed", "status": "True", "lastTransitionTime": at}]}});
        let pod = |owner: &str| {
            let ended = json!([{"state": {"terminated": {"finishedAt": old}}}]);
            json!({"metadata": owned("p", "Job", owner), "status": {"phase": "Failed", "containerStatuses": ended}})
        };
        let mut wants = |resource, object: Value| since.wants(resource, object.as_object().unwrap());
        assert!(!wants(Resource::JobSets, done(json!({"uid": "s1"}), old)));
        assert!(wants(Resource::JobSets, json!({"metadata": {"uid": "s2"}})));
        assert!(!wants(Resource::Jobs, done(owned("j1", "JobSet", "s1"), old)));
        assert!(wants(Resource::Jobs, done(owned("j2", "JobSet", "s2"), old)));
        assert!(wants(Resource::Jobs, done(json!({"uid": "j3"}), new)));
        assert!(!wants(Resource::Jobs, done(json!({"uid": "j4"}), old)));
        for (owner, wanted) in [("j1", false), ("j2", true), ("j3", true), ("j4", false)] {
            assert_eq!(wants(Resource::Pods, pod(owner)), wanted, "{owner}");
        }
        assert!(!wants(Resource::Events, json!({"lastTimestamp": old})));
        assert!(wants(Resource::Events, json!({"firstTimestamp": old, "series": {"lastObservedTime": new}})));
        assert!(wants(Resource::Nodes, json!({})));
    }
}
