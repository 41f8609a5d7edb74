use super::Failure;
use crate::model::ContainerKind;
use crate::report::{Class, Evidence};

impl Failure<'_> {
    /// The fields that the failure was judged by.
    pub fn evidence(&self) -> Vec<Evidence> {
        let of = |kind: &str, namespace: &str, name: &str, path: String, value: &str| {
            Evidence::new(object(kind, namespace, name), path, value)
        };
        let Some(pod) = self.pod else {
            let Some(job) = self.job else { return Vec::new() };
            let told = self.told.as_ref().and_then(|told| told.reason.as_deref());
            return match (job.failing(), told) {
                (Some(condition), _) => {
                    let path = format!("status.conditions[type={}].reason", condition.type_);
                    vec![of("job", &job.namespace, &job.name, path, &condition.reason)]
                }
                (None, Some(reason)) => vec![of("job", &job.namespace, &job.name, "Event.reason".to_owned(), reason)],
                (None, None) => Vec::new(),
            };
        };
        let of_pod = |path: String, value: &str| of("pod", &pod.namespace, &pod.name, path, value);
        let mut evidence = Vec::new();
        if let Some(waiting) = self.waiting() {
            return vec![of_pod(waiting.path.to_string(), &waiting.reason)];
        }
        if let Some(asked) = pod.deletion_requested.filter(|_| self.class == Class::Pending) {
            let until = asked.plus_seconds(pod.grace_seconds());
            evidence.push(of_pod("metadata.deletionTimestamp".to_owned(), &until.to_string()));
        }
        if let Some(condition) = self.rule.and_then(|rule| rule.condition) {
            evidence.push(of_pod(format!("status.conditions[type={}].status", condition.type_), &condition.status));
        }
        let told = self.matched_condition().or_else(|| pod.disruption().filter(|_| self.is_disrupted()));
        if let Some(told) = told {
            let path = format!("status.conditions[type={}].reason", told.type_);
            evidence.push(of_pod(path, told.reason.as_deref().unwrap_or_default()));
        }
        if let Some(end) = self.end {
            let list = if end.kind == ContainerKind::App { "containerStatuses" } else { "initContainerStatuses" };
            let state = if self.restart().is_some() { "lastState" } else { "state" };
            let path = format!("status.{list}[name={}].{state}.terminated", end.container);
            evidence.push(of_pod(format!("{path}.exitCode"), &end.exit_code.to_string()));
            evidence.extend(end.reason.as_ref().map(|reason| of_pod(format!("{path}.reason"), reason)));
            if let Some(app) = self.sidecar_hit().and_then(|hit| hit.app) {
                let path = format!("status.containerStatuses[name={}].state.terminated.exitCode", app.container);
                evidence.push(of_pod(path, &app.exit_code.to_string()));
            }
        } else if let Some(reason) = pod.reason() {
            evidence.push(of_pod("status.reason".to_owned(), reason));
        }
        evidence
    }
}

/// An object as evidence names it: `pod/ns/x`.
pub fn object(kind: &str, namespace: &str, name: &str) -> String {
    format!("{kind}/{namespace}/{name}")
}
