//! What has become of a restart that an earlier run began: the cluster went on without it.

use serde_json::Value;

use super::object::{array, is_being_deleted, text, uid};
use super::plan::Action;
use super::record::Record;
use crate::source::cluster::FIELD_MANAGER;

/// How a restart stands that was begun and not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// None of its writes has had an effect.
    NoEffect,
    /// Something is left to do.
    Open,
    /// It was done, and only its record is behind.
    Complete(String),
    /// Somebody else has changed what it was about: what is left of it must not be done any more.
    Overtaken(String),
}

/// How a recorded restart stands, by its workload and by the object of its next step as they are now.
///
/// What was written last may or may not have arrived. So that a record which was left behind never passes for a restart
/// of today, it is gone on with only while something is left to do, on the object that it was about.
pub(super) fn standing(record: &Record, workload: Option<&Value>, of_step: Option<&Value>) -> Standing {
    let left = record.left();
    let Some(next) = left.first().map(|step| &step.action).filter(|_| record.done > 0 || record.under_way) else {
        return Standing::NoEffect;
    };
    let creation = left.iter().find_map(|step| match &step.action {
        Action::Create { object, replaces, .. } => Some((object, replaces)),
        _ => None,
    });
    match (creation, workload) {
        (Some((_, Some(old))), there) => of_replacement(record, next, old, there),
        // Its name is of this restart alone.
        (Some((object, None)), _) => of_step.map_or(Standing::NoEffect, |made| {
            Standing::Complete(format!("{} {} was created, with uid {}", object.rbac_name(), object.name, uid(made)))
        }),
        (None, None) => Standing::Overtaken("it was deleted since by somebody else".to_owned()),
        (None, Some(there)) if uid(there) != record.uid => another(there),
        (None, Some(there)) => of_change(record, next, there, of_step),
    }
}

fn another(there: &Value) -> Standing {
    Standing::Overtaken(format!("somebody else has made it again since, with uid {}", uid(there)))
}

fn of_replacement(record: &Record, next: &Action, old: &str, there: Option<&Value>) -> Standing {
    let Some(there) = there else { return Standing::Open };
    if uid(there) == old {
        let has_begun = record.done > 0 || is_being_deleted(there);
        return if has_begun { Standing::Open } else { Standing::NoEffect };
    }
    if record.under_way && matches!(next, Action::Create { .. }) && is_made_here(there) {
        return Standing::Complete(format!("it was created, with uid {}", uid(there)));
    }
    another(there)
}

fn of_change(record: &Record, next: &Action, workload: &Value, of_step: Option<&Value>) -> Standing {
    let last = record.left().last().map(|step| &step.action);
    match (next, last) {
        (Action::Patch { body, .. }, Some(last)) => match (contains(workload, body), next == last) {
            (false, _) if record.done == 0 => Standing::NoEffect,
            (false, _) | (true, false) => Standing::Open,
            (true, true) if record.under_way => Standing::Complete("its last change has arrived".to_owned()),
            (true, true) => resumed(),
        },
        (Action::AwaitSuspended { .. } | Action::AwaitGone { .. }, Some(Action::Patch { body, .. }))
            if contains(workload, body) =>
        {
            resumed()
        }
        (Action::Delete { uid: old, .. }, _) => match of_step {
            Some(there) if uid(there) != old => new_pod(there),
            Some(there) if !is_being_deleted(there) && record.done == 0 => Standing::NoEffect,
            _ => Standing::Open,
        },
        (Action::AwaitReplaced { uid: old, .. }, _) => match of_step {
            Some(there) if uid(there) != old && !is_being_deleted(there) => new_pod(there),
            _ => Standing::Open,
        },
        _ => Standing::Open,
    }
}

fn new_pod(pod: &Value) -> Standing {
    Standing::Complete(format!("a new pod/{} is there", super::object::name(pod)))
}

fn resumed() -> Standing {
    Standing::Overtaken("somebody else has resumed it since".to_owned())
}

/// Whether this tool created the object, as far as the server has written down who did.
pub(super) fn is_made_here(object: &Value) -> bool {
    array(object, "/metadata/managedFields").iter().any(|entry| text(entry, "/manager") == FIELD_MANAGER)
}

/// Whether all that a merge patch sets is set. A flag that is not there is not set.
fn contains(object: &Value, patch: &Value) -> bool {
    match patch {
        Value::Object(fields) => fields.iter().all(|(key, value)| contains(&object[key.as_str()], value)),
        Value::Bool(false) => matches!(object, Value::Bool(false) | Value::Null),
        value => object == value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::plan::Step;
    use super::*;
    use crate::model::Time;
    use crate::source::cluster::Object;

    fn object(resource: &str, name: &str) -> Object {
        Object { api_version: "v1".into(), resource: resource.into(), namespace: "ml".into(), name: name.into() }
    }

    fn record(actions: Vec<Action>, done: usize, under_way: bool) -> Record {
        let mut record = Record::new("https://a", &object("jobs", "etl"), "old", Time::from_seconds(0), "s");
        record.steps = actions.into_iter().map(|action| Step::new("t", action)).collect();
        (record.done, record.under_way) = (done, under_way);
        record
    }

    fn there(uid: &str, more: &Value) -> Value {
        let mut object = json!({"metadata": {"name": "etl", "uid": uid}});
        for (key, value) in more["metadata"].as_object().into_iter().flatten() {
            object["metadata"][key] = value.clone();
        }
        object["spec"] = more["spec"].clone();
        object
    }

    /// The first word of a standing.
    fn word(standing: &Standing) -> String {
        format!("{standing:?}").split('(').next().unwrap_or_default().to_owned()
    }

    #[test]
    fn what_was_to_be_made_again_is_made_while_nobody_else_has() {
        let (job, old) = (object("jobs", "etl"), "old".to_owned());
        let actions = || {
            vec![
                Action::Delete { object: job.clone(), uid: old.clone() },
                Action::AwaitGone { object: job.clone(), uid: old.clone() },
                Action::Create { object: job.clone(), replaces: Some(old.clone()), manifest: json!({}) },
            ]
        };
        let ours = json!({"metadata": {"managedFields": [{"manager": "kubectl-sigapps"}]}});
        let going = json!({"metadata": {"deletionTimestamp": "2026-11-30T09:00:00Z"}});
        for (done, under_way, there, expected) in [
            (0, false, Some(there("old", &json!({}))), "NoEffect"),
            (0, true, Some(there("old", &json!({}))), "NoEffect"),
            (0, true, Some(there("old", &going)), "Open"),
            (0, true, None, "Open"),
            (0, true, Some(there("other", &json!({}))), "Overtaken"),
            (1, true, Some(there("old", &going)), "Open"),
            (1, true, None, "Open"),
            (1, true, Some(there("other", &ours)), "Overtaken"),
            (2, false, None, "Open"),
            (2, true, None, "Open"),
            (2, false, Some(there("other", &ours)), "Overtaken"),
            (2, true, Some(there("other", &json!({}))), "Overtaken"),
            (2, true, Some(there("other", &ours)), "Complete"),
        ] {
            let standing = standing(&record(actions(), done, under_way), there.as_ref(), there.as_ref());
            assert_eq!(word(&standing), expected, "{done} {under_way} {there:?}");
        }
    }

    #[test]
    fn what_is_made_beside_the_old_one_is_there_or_not() {
        let create = Action::Create { object: object("jobs", "etl-x"), replaces: None, manifest: json!({}) };
        let record = record(vec![create], 0, true);
        let old = there("old", &json!({}));
        assert_eq!(standing(&record, Some(&old), None), Standing::NoEffect);
        assert_eq!(word(&standing(&record, Some(&old), Some(&there("new", &json!({}))))), "Complete");
    }

    #[test]
    fn what_was_suspended_is_resumed_unless_somebody_else_did() {
        let set = object("jobsets", "etl");
        let body = |value: bool| json!({"metadata": {"uid": "old"}, "spec": {"suspend": value}});
        let actions = || {
            vec![
                Action::Patch { object: set.clone(), body: body(true) },
                Action::AwaitSuspended { object: set.clone(), uid: "old".into() },
                Action::Patch { object: set.clone(), body: body(false) },
            ]
        };
        let (suspended, running) = (json!({"spec": {"suspend": true}}), json!({"spec": {"suspend": false}}));
        for (done, under_way, there, expected) in [
            (0, true, Some(there("old", &running)), "NoEffect"),
            (0, true, Some(there("old", &suspended)), "Open"),
            (1, true, Some(there("old", &suspended)), "Open"),
            (1, true, Some(there("old", &running)), "Overtaken"),
            (1, true, Some(there("old", &json!({"spec": {}}))), "Overtaken"),
            (1, true, Some(there("other", &suspended)), "Overtaken"),
            (1, true, None, "Overtaken"),
            (2, false, Some(there("old", &suspended)), "Open"),
            (2, false, Some(there("old", &running)), "Overtaken"),
            (2, true, Some(there("old", &running)), "Complete"),
        ] {
            let standing = standing(&record(actions(), done, under_way), there.as_ref(), there.as_ref());
            assert_eq!(word(&standing), expected, "{done} {under_way} {there:?}");
        }
    }

    #[test]
    fn a_pod_that_is_a_new_one_leaves_nothing_to_do() {
        let pod = object("pods", "etl-0");
        let actions = || {
            vec![
                Action::Delete { object: pod.clone(), uid: "p".into() },
                Action::AwaitReplaced { object: pod.clone(), uid: "p".into() },
            ]
        };
        let going = json!({"metadata": {"deletionTimestamp": "2026-11-30T09:00:00Z"}});
        let owner = there("old", &json!({}));
        for (done, of_step, expected) in [
            (0, Some(there("p", &json!({}))), "NoEffect"),
            (0, Some(there("p", &going)), "Open"),
            (0, None, "Open"),
            (0, Some(there("q", &json!({}))), "Complete"),
            (1, Some(there("p", &going)), "Open"),
            (1, None, "Open"),
            (1, Some(there("q", &json!({}))), "Complete"),
        ] {
            let record = record(actions(), done, true);
            assert_eq!(word(&standing(&record, Some(&owner), of_step.as_ref())), expected, "{done} {of_step:?}");
            assert_eq!(word(&standing(&record, None, of_step.as_ref())), "Overtaken");
        }
    }

    #[test]
    fn a_change_has_arrived_when_all_that_it_sets_is_set() {
        let object = json!({"metadata": {"uid": "u"}, "spec": {"suspend": true, "more": 1}});
        for (patch, expected) in [
            (json!({"spec": {"suspend": true}}), true),
            (json!({"metadata": {"uid": "u"}, "spec": {"suspend": true}}), true),
            (json!({"spec": {"suspend": false}}), false),
            (json!({"spec": {"other": false}}), true),
            (json!({"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}}), false),
        ] {
            assert_eq!(contains(&object, &patch), expected, "{patch}");
        }
    }
}
