//! Reads what a restart must know, and what it saves.

use std::collections::BTreeSet;

use serde_json::Value;

use super::RestartError;
use super::cron_job::pushed_out;
use super::facts::{Claim, Facts, Fate};
use super::job_set::has_ended;
use super::kind::Kind;
use super::leader_worker_set::NAME as GROUPS_OF;
use super::object::{annotation, array, is_controlled_by, is_set, name, text, uid};
use super::sandbox::POD_NAME;
use crate::source::cluster::{ClusterError, Object, RequestError, Session};
use crate::source::nearest;

/// Where the workload is, whether or not it is there; the version is the one that the server prefers of those known.
pub(super) fn locate(session: &Session, kind: Kind, namespace: &str, called: &str) -> Result<Object, RestartError> {
    let api_version = match kind.built_in() {
        Some(version) => version.to_owned(),
        None => served(session, kind)?,
    };
    let (namespace, name) = (namespace.to_owned(), called.to_owned());
    Ok(Object { api_version, resource: kind.resource().to_owned(), namespace, name })
}

fn served(session: &Session, kind: Kind) -> Result<String, RestartError> {
    let versions = session.versions(kind.group())?;
    // What a version calls its fields is known of these.
    let known = |version: &&String| {
        kind != Kind::Sandbox || ["v1beta1", "v1alpha1"].iter().any(|known| version.ends_with(&format!("/{known}")))
    };
    let newest = versions.iter().find(|version| kind == Kind::Sandbox && version.ends_with("/v1beta1"));
    let resource = format!("{}.{}", kind.resource(), kind.group());
    let chosen = newest.or_else(|| versions.iter().find(known)).cloned();
    chosen.ok_or_else(|| ClusterError::NotInstalled { resource }.into())
}

/// The error for a workload that is not there, with names like it.
pub(super) fn not_found(session: &Session, at: &Object) -> RestartError {
    let names = session.list(at, &[]).unwrap_or_default();
    let nearest = nearest(&at.name, names.iter().map(|object| name(object).to_owned()));
    let (resource, namespace) = (at.rbac_name(), at.namespace.clone());
    ClusterError::NotFound { resource, name: at.name.clone(), namespace, nearest }.into()
}

/// All that is known of a workload that is there.
pub(super) fn gather(session: &Session, kind: Kind, at: &Object, object: Value) -> Result<Facts, RestartError> {
    let mut facts = Facts { at: at.clone(), object, ..Facts::default() };
    facts.jobs = jobs(session, kind, &facts)?;
    match pods(session, kind, &facts) {
        Ok(pods) => facts.pods = pods,
        Err(error) if is_decided_by_pods(kind, &facts.object) => return Err(error.into()),
        Err(error) => {
            facts.unread.push(format!("its pods are not known and not saved: {error}"));
            facts.pods_unread = Some(error.to_string());
        }
    }
    if kind == Kind::JobSet {
        facts.claims = claims(session, &facts);
    }
    if matches!(kind, Kind::Job | Kind::CronJob | Kind::JobSet | Kind::LeaderWorkerSet) {
        match owned(session, &facts) {
            Ok(owned) => facts.owned = owned,
            Err(error) => {
                facts.owned_unread = true;
                facts
                    .unread
                    .push(format!("whether a volume claim belongs to it and is deleted with it is not known: {error}"));
            }
        }
    }
    match events(session, kind, &facts) {
        Ok(events) => facts.events = events,
        Err(error) => facts.unread.push(format!("its Events are not saved: {error}")),
    }
    Ok(facts)
}

/// Whether its pods decide what is done, or how long it is waited: a `JobSet` whose pods cannot be seen would stay suspended.
fn is_decided_by_pods(kind: Kind, object: &Value) -> bool {
    match kind {
        Kind::LeaderWorkerSet | Kind::Sandbox => true,
        Kind::JobSet => !has_ended(object),
        _ => false,
    }
}

fn jobs(session: &Session, kind: Kind, facts: &Facts) -> Result<Vec<Value>, RequestError> {
    let like = facts.at.beside("batch/v1", "jobs");
    let selector = format!("jobset.sigs.k8s.io/jobset-name={}", facts.at.name);
    let mut jobs = match kind {
        Kind::JobSet => session.list(&like, &[("labelSelector", &selector)])?,
        // They carry no label of their CronJob.
        Kind::CronJob => session.list(&like, &[])?,
        _ => return Ok(Vec::new()),
    };
    jobs.retain(|job| is_controlled_by(job, uid(&facts.object)));
    Ok(jobs)
}

fn pods(session: &Session, kind: Kind, facts: &Facts) -> Result<Vec<Value>, RequestError> {
    let at = &facts.at;
    let like = at.beside("v1", "pods");
    let selector = match kind {
        // Of Jobs that stay, nothing happens to their pods.
        Kind::CronJob => {
            let pushed_out = pushed_out(&facts.object, &facts.jobs);
            if pushed_out.is_empty() {
                return Ok(Vec::new());
            }
            let names: Vec<&str> = pushed_out.iter().map(|(job, _)| name(job)).collect();
            format!("batch.kubernetes.io/job-name in ({})", names.join(","))
        }
        Kind::Sandbox => {
            let named = annotation(&facts.object, POD_NAME).filter(|name| !name.is_empty());
            let pod = session.get(&like.named(named.unwrap_or(&at.name)))?;
            return Ok(pod.filter(|pod| is_controlled_by(pod, uid(&facts.object))).into_iter().collect());
        }
        Kind::Job => pods_of(&facts.object),
        Kind::JobSet => format!("jobset.sigs.k8s.io/jobset-name={}", at.name),
        Kind::LeaderWorkerSet => format!("{GROUPS_OF}={}", at.name),
        Kind::Deployment | Kind::StatefulSet | Kind::DaemonSet => selector(&facts.object["spec"]["selector"]),
    };
    let mut pods = session.list(&like, &[("labelSelector", &selector)])?;
    // Those of an earlier Job of the same name may still be there, and a selector may fit others' pods, too.
    pods.retain(|pod| match kind {
        Kind::Job => is_controlled_by(pod, uid(&facts.object)),
        Kind::CronJob => facts.jobs.iter().any(|job| is_controlled_by(pod, uid(job))),
        _ => true,
    });
    Ok(pods)
}

/// The query for a Job's pods, by the Job's own selector: with `manualSelector` they have no label with its name.
/// Source: Kubernetes `pkg/registry/batch/job/strategy.go`, `generateSelectorIfNeeded`.
pub(super) fn pods_of(job: &Value) -> String {
    match selector(&job["spec"]["selector"]) {
        own if !own.is_empty() && is_set(job, "/spec/manualSelector") => own,
        _ => format!("batch.kubernetes.io/job-name={}", name(job)),
    }
}

/// A label selector as a query holds it. Source: apimachinery `pkg/apis/meta/v1/helpers.go`, `LabelSelectorAsSelector`.
pub(super) fn selector(selector: &Value) -> String {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let mut all: Vec<String> =
        labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
    for expression in array(selector, "/matchExpressions") {
        let key = text(expression, "/key");
        let values: Vec<&str> = array(expression, "/values").iter().filter_map(Value::as_str).collect();
        let values = values.join(",");
        all.push(match text(expression, "/operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        });
    }
    all.join(",")
}

/// Claims go with their owners, whoever made them.
fn owned(session: &Session, facts: &Facts) -> Result<Vec<Value>, RequestError> {
    let like = facts.at.beside("v1", "persistentvolumeclaims");
    let mut claims = session.list(&like, &[])?;
    claims.retain(|claim| !array(claim, "/metadata/ownerReferences").is_empty());
    Ok(claims)
}

/// The claims of an ended `JobSet`'s templates. One is the `JobSet`'s as long as it names its uid.
/// Source: JobSet `pkg/controllers/volume_claim_policy.go`.
fn claims(session: &Session, facts: &Facts) -> Vec<Claim> {
    if !has_ended(&facts.object) {
        return Vec::new();
    }
    let policies = array(&facts.object, "/spec/volumeClaimPolicies").iter();
    let templates = policies.flat_map(|policy| {
        let keeps = text(policy, "/retentionPolicy/whenDeleted") == "Retain";
        array(policy, "/templates").iter().map(move |template| (keeps, template))
    });
    let like = facts.at.beside("v1", "persistentvolumeclaims");
    let claims = templates.map(|(keeps, template)| {
        let template = name(template).to_owned();
        let name = format!("{template}-{}", facts.at.name);
        let fate = match session.get(&like.named(&name)) {
            Ok(Some(claim)) if is_owned_by(&claim, uid(&facts.object)) => Fate::Deleted,
            Ok(Some(claim)) => Fate::Stays(claim["spec"].clone()),
            Ok(None) => Fate::Missing,
            Err(error) if keeps => Fate::StaysUnread(error.to_string()),
            Err(error) => Fate::Unknown(error.to_string()),
        };
        Claim { name, template, fate }
    });
    claims.collect()
}

fn is_owned_by(object: &Value, owner: &str) -> bool {
    array(object, "/metadata/ownerReferences").iter().any(|reference| text(reference, "/uid") == owner)
}

/// Events about the workload, its Jobs (of earlier attempts, too: they have the same names) and its pods.
fn events(session: &Session, kind: Kind, facts: &Facts) -> Result<Vec<Value>, RequestError> {
    let like = facts.at.beside("v1", "events");
    let about = format!("involvedObject.kind={},involvedObject.name={}", kind.kind(), facts.at.name);
    let mut events = session.list(&like, &[("fieldSelector", &about)])?;
    for (kind, objects) in [("Job", &facts.jobs), ("Pod", &facts.pods)] {
        if objects.is_empty() {
            continue;
        }
        let names: BTreeSet<&str> = objects.iter().map(name).collect();
        let mut of_kind = session.list(&like, &[("fieldSelector", &format!("involvedObject.kind={kind}"))])?;
        of_kind.retain(|event| names.contains(text(event, "/involvedObject/name")));
        events.extend(of_kind);
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_are_written_as_a_query_holds_them() {
        let all = json!({
            "matchLabels": {"app": "web"},
            "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["a", "b"]}, {"key": "x", "operator": "Exists"},
                {"key": "y", "operator": "DoesNotExist"}, {"key": "z", "operator": "NotIn", "values": ["c"]}],
        });
        assert_eq!(selector(&all), "app=web,tier in (a,b),x,!y,z notin (c)");
    }

    #[test]
    fn a_jobs_pods_are_those_of_its_selector_where_its_author_wrote_it() {
        let job = |manual, selector: &Value| json!({"metadata": {"name": "etl"}, "spec": {"manualSelector": manual, "selector": selector}});
        let own = json!({"matchLabels": {"app": "etl"}, "matchExpressions": [{"key": "x", "operator": "Exists"}]});
        assert_eq!(pods_of(&job(true, &own)), "app=etl,x");
        for (manual, selector) in [(false, &own), (true, &json!({})), (true, &Value::Null)] {
            assert_eq!(pods_of(&job(manual, selector)), "batch.kubernetes.io/job-name=etl");
        }
    }
}
