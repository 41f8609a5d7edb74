//! Pods that the kubelet refused, evicted or lost sight of, and containers that could not be run at all.

use super::case::Case;
use super::draft::Advice;
use crate::analysis::{object, telling_line};
use crate::model::Pod;
use crate::report::SuggestionKind;

impl Case<'_> {
    /// What the kubelet, or the container's runtime, says of the end, where that calls for advice of its own.
    ///
    /// Source: messages of the kubelet's eviction manager (`pkg/kubelet/eviction/helpers.go`), of its status for containers
    /// it cannot find (`pkg/kubelet/kubelet_pods.go`), and reasons of containerd (`internal/cri/server`).
    pub(super) fn told_by_kubelet(&self) -> Option<Advice> {
        if let Some(message) = self.failure.pod.and_then(eviction) {
            return Some(self.evicted(message));
        }
        let end = self.failure.end?;
        let said = end.message.as_deref().and_then(telling_line).map(|line| format!(": {line}")).unwrap_or_default();
        let container = &end.container;
        match (end.reason.as_deref(), end.exit_code) {
            (Some(reason @ ("StartError" | "ContainerCannotRun")), _) => {
                let why =
                    format!("{container} could not be run ({reason}){said}; it will fail the same way every time");
                let pod = self.describe_pod();
                Some(self.advice(SuggestionKind::FixConfig, why).run(pod))
            }
            (Some("ContainerStatusUnknown"), _) => {
                let why = "the kubelet could not find the container any more: 137 stands in for an end that nobody saw, neither \
                           OOM nor a signal is known; see what became of the node";
                Some(self.inspect(why, self.describe_pod_and_node()))
            }
            (_, 135) => {
                let why = format!(
                    "{container} died of SIGBUS, most often because /dev/shm is full, which is 64 MiB where the template does \
                     not mount an emptyDir with medium Memory there: give it one"
                );
                Some(self.advice(SuggestionKind::FixConfig, why).run(self.look()))
            }
            (_, 126 | 127) => {
                let found = if end.exit_code == 127 { "is not found" } else { "cannot be executed" };
                let why = format!(
                    "{container} exited {}, by which a shell says that a command {found}{said}: mend command, args or image",
                    end.exit_code
                );
                Some(self.advice(SuggestionKind::FixConfig, why).run(self.look()))
            }
            _ => None,
        }
    }

    /// Whether the pod was evicted for what it used itself, beyond its limit or its request.
    pub(super) fn used_too_much(&self) -> bool {
        let message = self.failure.pod.and_then(eviction);
        message.is_some_and(|message| is_over_own_limit(message) || !usage(message).is_empty())
    }

    fn evicted(&self, message: &str) -> Advice {
        let line = telling_line(message).unwrap_or_default();
        let (kind, why) = if is_over_own_limit(message) {
            (SuggestionKind::FixConfig, format!("{line}: it will happen again; raise that limit, or write less"))
        } else {
            of_the_node(message, line)
        };
        // A limit of its own says nothing of the node.
        let commands = if is_over_own_limit(message) { self.describe_pod() } else { self.describe_pod_and_node() };
        let mut advice = self.advice(kind, why).run(commands);
        if let Some(pod) = self.failure.pod {
            let pod = object("pod", &pod.namespace, &pod.name);
            advice = advice.fact(pod, "status.message", line);
        }
        advice
    }

    /// The kubelet refused the pod: no container ever ran, so that there are no logs.
    pub(super) fn refused(&self) -> Advice {
        let reason = self.failure.pod.and_then(Pod::reason).unwrap_or("no reason given");
        let why = format!(
            "the kubelet refused the pod ({reason}): no rule can match that, and it counts towards backoffLimit; see what the node has left"
        );
        let node = self.describe_node();
        let commands = if node.is_empty() { self.look() } else { node };
        self.advice(SuggestionKind::FreeCapacity, why).run(commands)
    }
}

/// What the kubelet says of a pod that it evicted.
fn eviction(pod: &Pod) -> Option<&str> {
    pod.message().filter(|_| pod.reason() == Some("Evicted"))
}

/// What an eviction for want of something on the node calls for.
fn of_the_node(message: &str, line: &str) -> (SuggestionKind, String) {
    let usage = usage(message);
    match short_of(message) {
        Some("memory") => {
            let why = format!(
                "the node ran out of memory{usage}: request what the pod uses, so that it is placed where there is room"
            );
            (SuggestionKind::RaiseMemory, why)
        }
        Some("ephemeral-storage") => {
            let why = format!(
                "the node ran out of ephemeral-storage{usage}: request what the pod writes, so that it is placed where there is room"
            );
            (SuggestionKind::FixConfig, why)
        }
        _ => {
            let why = format!("the kubelet evicted the pod ({line}): see what the node is short of");
            (SuggestionKind::FreeCapacity, why)
        }
    }
}

/// Whether the kubelet evicted the pod for what it used itself.
pub(super) fn is_evicted_for_own(pod: &Pod) -> bool {
    eviction(pod).is_some_and(is_over_own_limit)
}

/// Whether a pod was evicted for what it used itself, not for what the node lacked.
fn is_over_own_limit(message: &str) -> bool {
    message.contains("exceeds the total limit of containers")
        || message.contains("exceeded its local ephemeral storage limit")
        || message.contains("exceeds the limit")
}

/// The resource that a node was low on.
fn short_of(message: &str) -> Option<&str> {
    let rest = message.split_once("low on resource: ")?.1;
    rest.split(['.', ' ', ',']).next()
}

/// What the kubelet says that the containers used: `Container main was using 2Gi, request is 1Gi`.
fn usage(message: &str) -> String {
    let of = |rest: &str| rest.split(", has larger").next().unwrap_or(rest).trim_end_matches(['.', ' ']).to_owned();
    message.split_once("Container ").map(|(_, rest)| format!(" (container {})", of(rest))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eviction_tells_what_was_short() {
        let pressure = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 51Mi. Container trainer was \
                        using 2100Mi, request is 1Gi, has larger consumption of memory. ";
        assert_eq!(short_of(pressure), Some("memory"));
        assert_eq!(usage(pressure), " (container trainer was using 2100Mi, request is 1Gi)");
        assert!(!is_over_own_limit(pressure));
        assert_eq!(short_of("The node was low on resource: ephemeral-storage. "), Some("ephemeral-storage"));
        assert_eq!(short_of("The node had condition: [PIDPressure]. "), None);
        for own in [
            "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ",
            "Container main exceeded its local ephemeral storage limit \"1Gi\". ",
            "Usage of EmptyDir volume \"cache\" exceeds the limit \"1Gi\". ",
        ] {
            assert!(is_over_own_limit(own), "{own}");
        }
    }
}
