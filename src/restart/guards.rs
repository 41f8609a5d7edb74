//! What speaks against a restart whatever the kind: somebody else who decides about the object.

use serde_json::Value;

use super::Order;
use super::facts::Facts;
use super::kind::Kind;
use super::object::{annotation, array, controller, is_being_deleted, label, text};
use super::plan::Plan;
use crate::gitops;
use crate::kubectl::is_name;
use crate::report::RefusalReason;

/// How deep a restart goes into the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// It is deleted and made again.
    Recreated,
    /// Fields of its spec change for good.
    Changed,
    /// Fields of its spec change and change back.
    Toggled,
    /// Only something new is made of it.
    Copied,
    /// Only a pod of it is deleted.
    PodOnly,
}

const QUEUE: &str = "kueue.x-k8s.io/queue-name";

/// The Kueue queue that the workload stands in.
pub(super) fn queue(object: &Value) -> Option<&str> {
    label(object, QUEUE).filter(|queue| !queue.is_empty())
}

/// All that is the same for every kind.
pub(super) fn check(plan: &mut Plan, facts: &Facts, order: &Order, depth: Depth) {
    being_deleted(plan, facts, order);
    owned(plan, facts, order, depth);
    managed_elsewhere(plan, facts, order, depth);
    applied_from_a_repository(plan, facts, order, depth);
}

fn being_deleted(plan: &mut Plan, facts: &Facts, order: &Order) {
    if is_being_deleted(&facts.object) {
        let since = text(&facts.object, "/metadata/deletionTimestamp");
        plan.refuse(
            RefusalReason::BeingDeleted,
            format!("{} is being deleted by somebody else since {since}: wait until it is gone", order.subject()),
            vec![order.look()],
        );
    }
}

fn owned(plan: &mut Plan, facts: &Facts, order: &Order, depth: Depth) {
    let Some(owner) = controller(&facts.object) else { return };
    let (kind, name) = (text(owner, "/kind"), text(owner, "/name"));
    let named = format!("{}/{name}", kind.to_ascii_lowercase());
    match depth {
        // A pod is replaced by the workload itself, and what is new does not touch what is there.
        Depth::PodOnly => plan.note(format!("{named} controls {}, and goes on doing so", order.subject())),
        Depth::Copied if order.kind == Kind::CronJob => {}
        _ => {
            let command = match Kind::of_owner(text(owner, "/apiVersion"), kind) {
                Some(kind) => order.commands.restart(kind.name(), name, &[]),
                None => order.commands.kubectl(&["get", &kind.to_ascii_lowercase(), name, "-o", "yaml"]),
            };
            // The server does not check how an owner is called.
            let commands = Some(command).filter(|_| is_name(kind) && is_name(name));
            plan.refuse(
                RefusalReason::Owned,
                format!("{named} controls {} and would fight the restart: restart {named} instead", order.subject()),
                commands.into_iter().collect(),
            );
        }
    }
}

/// The value of `spec.managedBy` that stands for the built-in controller; only Jobs and `JobSet`s have the field.
/// Source: Kubernetes `batch/v1`, `JobControllerName`; JobSet `api/jobset/v1alpha2`, `JobSetControllerName`.
const fn built_in_controller(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Job => Some("kubernetes.io/job-controller"),
        Kind::JobSet => Some("jobset.sigs.k8s.io/jobset-controller"),
        _ => None,
    }
}

fn managed_elsewhere(plan: &mut Plan, facts: &Facts, order: &Order, depth: Depth) {
    let manager = text(&facts.object, "/spec/managedBy");
    let Some(built_in) = built_in_controller(order.kind) else { return };
    if depth != Depth::Copied && !manager.is_empty() && manager != built_in {
        plan.refuse(
            RefusalReason::ManagedBy,
            format!("{} is run by {manager} (spec.managedBy), not by this cluster: restart it there", order.subject()),
            vec![order.look()],
        );
    }
}

/// The application that the object is applied from, if a GitOps tool says so, by its mark or as who has written the fields.
/// Argo CD's usual mark is a label that Helm's charts have, too: alone it says nothing.
/// Source: Argo CD `common/common.go`, `ArgoCDSSAManager`; Flux kustomize-controller's and helm-controller's names as field
/// managers.
fn application(object: &Value) -> Option<String> {
    let mark = gitops::mark(annotation(object, "argocd.argoproj.io/tracking-id"), |key| label(object, key));
    let marked = mark.map(|mark| {
        let namespace = mark.namespace_label.and_then(|key| label(object, key)).map(|n| format!("{n}/"));
        format!("{} {}{}", mark.what, namespace.unwrap_or_default(), mark.name)
    });
    marked.or_else(|| by_manager(object))
}

/// Who has written fields of it, the status left out.
fn by_manager(object: &Value) -> Option<String> {
    let entries = array(object, "/metadata/managedFields").iter();
    let mut managers =
        entries.filter(|entry| text(entry, "/subresource").is_empty()).map(|entry| text(entry, "/manager"));
    managers.find_map(|manager| match manager {
        "kustomize-controller" | "helm-controller" => Some(format!("Flux ({manager})")),
        _ if manager.starts_with("flux") => Some(format!("Flux ({manager})")),
        _ if manager.starts_with("argocd") => Some(match label(object, "app.kubernetes.io/instance") {
            Some(name) => format!("Argo CD application {name}"),
            None => format!("Argo CD ({manager})"),
        }),
        _ => None,
    })
}

fn applied_from_a_repository(plan: &mut Plan, facts: &Facts, order: &Order, depth: Depth) {
    let Some(application) = application(&facts.object) else { return };
    match depth {
        Depth::Recreated if order.force => plan.note(format!(
            "{application} applies it: it may make the object itself between the deletion and the creation"
        )),
        Depth::Recreated => plan.refuse(
            RefusalReason::GitOps,
            format!(
                "{application} applies {} and may make it again itself: pause its sync first, or go on with --force",
                order.subject()
            ),
            vec![order.again_with("--force")],
        ),
        Depth::Changed | Depth::Toggled => {
            plan.note(format!("{application} applies it, and may take the change back where it heals itself"));
        }
        Depth::Copied => plan.note(format!("{application} applies the original, and does not know of the new one")),
        Depth::PodOnly => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::restart::tests::{facts, order};

    fn checked(metadata: &Value, spec: &Value, kind: Kind, force: bool, depth: Depth) -> Plan {
        let mut plan = Plan::default();
        let facts = facts(&json!({"metadata": metadata, "spec": spec}));
        check(&mut plan, &facts, &crate::restart::Order { force, ..order(kind, "etl") }, depth);
        plan
    }

    #[test]
    fn the_owner_is_named_with_the_command_to_run_instead() {
        for (api_version, kind, command) in [
            ("jobset.x-k8s.io/v1alpha2", "JobSet", "kubectl sigapps restart jobset/o -n ml"),
            ("batch/v1", "CronJob", "kubectl sigapps restart cronjob/o -n ml"),
            ("trainer.kubeflow.org/v1alpha1", "TrainJob", "kubectl get trainjob o -o yaml -n ml"),
            ("argoproj.io/v1alpha1", "Workflow", "kubectl get workflow o -o yaml -n ml"),
            ("ray.io/v1", "RayJob", "kubectl get rayjob o -o yaml -n ml"),
        ] {
            let owner = json!({"apiVersion": api_version, "kind": kind, "name": "o", "controller": true});
            let metadata = json!({"ownerReferences": [owner]});
            for depth in [Depth::Recreated, Depth::Toggled, Depth::Changed, Depth::Copied] {
                let plan = checked(&metadata, &json!({}), Kind::Job, true, depth);
                assert_eq!(plan.refusals.len(), 1, "{kind} {depth:?}");
                assert_eq!(plan.refusals[0].reason, RefusalReason::Owned);
                assert_eq!(plan.refusals[0].commands, [command]);
            }
            let plan = checked(&metadata, &json!({}), Kind::Sandbox, false, Depth::PodOnly);
            assert!(plan.refusals.is_empty() && plan.notes.len() == 1);
        }
        let plain = json!({"ownerReferences": [{"kind": "ConfigMap", "name": "o"}]});
        assert!(checked(&plain, &json!({}), Kind::Job, false, Depth::Recreated).refusals.is_empty());
    }

    #[test]
    fn what_a_repository_applies_is_not_deleted_without_force() {
        for (metadata, application) in [
            (json!({"labels": {"argocd.argoproj.io/instance": "etl-app"}}), "Argo CD application etl-app"),
            (
                json!({"annotations": {"argocd.argoproj.io/tracking-id": "etl-app:batch/Job:ml/etl"}}),
                "Argo CD application etl-app",
            ),
            (
                json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux"}}),
                "Flux Kustomization flux/apps",
            ),
            (json!({"labels": {"helm.toolkit.fluxcd.io/name": "rel"}}), "Flux HelmRelease rel"),
            (
                json!({"labels": {"app.kubernetes.io/instance": "etl-app"}, "managedFields": [
                    {"manager": "kube-controller-manager", "subresource": "status"}, {"manager": "argocd-controller"}]}),
                "Argo CD application etl-app",
            ),
            (json!({"managedFields": [{"manager": "argocd-application-controller"}]}), "Argo CD (argocd-application"),
            (json!({"managedFields": [{"manager": "kustomize-controller"}]}), "Flux (kustomize-controller)"),
            (json!({"managedFields": [{"manager": "helm-controller"}]}), "Flux (helm-controller)"),
            (json!({"managedFields": [{"manager": "fluxd"}]}), "Flux (fluxd)"),
        ] {
            let refused = checked(&metadata, &json!({}), Kind::Job, false, Depth::Recreated);
            assert!(refused.refusals[0].message.contains(application), "{refused:?}");
            assert_eq!(refused.refusals[0].commands, ["kubectl sigapps restart job/etl --force -n ml"]);
            for (force, depth) in [(true, Depth::Recreated), (false, Depth::Changed), (false, Depth::Copied)] {
                let noted = checked(&metadata, &json!({}), Kind::Job, force, depth);
                assert!(noted.refusals.is_empty() && noted.notes[0].contains(application), "{noted:?}");
            }
        }
    }

    #[test]
    fn no_command_is_printed_for_an_owner_whose_name_is_none() {
        let owner =
            json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "name": "--all", "controller": true});
        let plan = checked(&json!({"ownerReferences": [owner]}), &json!({}), Kind::Job, false, Depth::Recreated);
        assert_eq!((plan.refusals[0].reason, plan.refusals[0].commands.len()), (RefusalReason::Owned, 0));
    }

    #[test]
    fn a_label_of_helms_charts_is_no_sign_of_a_repository() {
        let labels = json!({"app.kubernetes.io/instance": "etl", "app.kubernetes.io/managed-by": "Helm"});
        for managers in [json!([]), json!([{"manager": "helm"}, {"manager": "argocd-x", "subresource": "status"}])] {
            let metadata = json!({"labels": labels, "managedFields": managers});
            let plan = checked(&metadata, &json!({}), Kind::Job, false, Depth::Recreated);
            assert!(plan.refusals.is_empty() && plan.notes.is_empty(), "{plan:?}");
        }
    }

    #[test]
    fn another_controllers_and_what_is_being_deleted_is_left_alone() {
        for (kind, manager, refused) in [
            (Kind::Job, "kueue.x-k8s.io/multikueue", true),
            (Kind::Job, "kubernetes.io/job-controller", false),
            (Kind::JobSet, "kueue.x-k8s.io/multikueue", true),
            (Kind::JobSet, "jobset.sigs.k8s.io/jobset-controller", false),
            (Kind::Deployment, "anything", false),
        ] {
            let plan = checked(&json!({}), &json!({"managedBy": manager}), kind, true, Depth::Recreated);
            assert_eq!(plan.refusals.iter().any(|r| r.reason == RefusalReason::ManagedBy), refused, "{manager}");
        }
        let deleted = json!({"deletionTimestamp": "2026-11-30T09:00:00Z"});
        let plan = checked(&deleted, &json!({}), Kind::Job, true, Depth::Copied);
        assert_eq!(plan.refusals[0].reason, RefusalReason::BeingDeleted);
    }
}
