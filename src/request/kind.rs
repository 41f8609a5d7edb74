/// The kinds that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TargetKind {
    /// A Job.
    Job,
    /// A `CronJob` and the Jobs it made.
    CronJob,
    /// A `JobSet` and its Jobs.
    JobSet,
    /// A `Deployment` and its `ReplicaSet`s.
    Deployment,
    /// A `StatefulSet`.
    StatefulSet,
    /// A `DaemonSet`.
    DaemonSet,
    /// A `LeaderWorkerSet` and its groups.
    LeaderWorkerSet,
    /// A `DisaggregatedSet` and its `LeaderWorkerSet`s.
    DisaggregatedSet,
    /// An Agent Sandbox.
    Sandbox,
    /// What claims a Sandbox.
    SandboxClaim,
    /// What keeps some Sandboxes ready.
    SandboxWarmPool,
    /// A `TrainJob` and its `JobSet`.
    TrainJob,
    /// Kueue's `Workload`, and what waits in it.
    Workload,
    /// A node, and what failed on it.
    Node,
    /// A pod.
    Pod,
}

/// The names of a kind: singular, plural, short name where there is one, group, as Kubernetes spells it.
type Names = (&'static str, &'static str, &'static str, &'static str, &'static str);

impl TargetKind {
    /// All kinds.
    pub const ALL: [Self; 15] = [
        Self::Job,
        Self::CronJob,
        Self::JobSet,
        Self::Deployment,
        Self::StatefulSet,
        Self::DaemonSet,
        Self::LeaderWorkerSet,
        Self::DisaggregatedSet,
        Self::Sandbox,
        Self::SandboxClaim,
        Self::SandboxWarmPool,
        Self::TrainJob,
        Self::Workload,
        Self::Node,
        Self::Pod,
    ];

    const fn names(self) -> Names {
        match self {
            Self::Job => ("job", "jobs", "", "batch", "Job"),
            Self::CronJob => ("cronjob", "cronjobs", "cj", "batch", "CronJob"),
            Self::JobSet => ("jobset", "jobsets", "", "jobset.x-k8s.io", "JobSet"),
            Self::Deployment => ("deployment", "deployments", "deploy", "apps", "Deployment"),
            Self::StatefulSet => ("statefulset", "statefulsets", "sts", "apps", "StatefulSet"),
            Self::DaemonSet => ("daemonset", "daemonsets", "ds", "apps", "DaemonSet"),
            Self::LeaderWorkerSet => {
                ("leaderworkerset", "leaderworkersets", "lws", "leaderworkerset.x-k8s.io", "LeaderWorkerSet")
            }
            Self::DisaggregatedSet => {
                ("disaggregatedset", "disaggregatedsets", "", "disaggregatedset.x-k8s.io", "DisaggregatedSet")
            }
            Self::Sandbox => ("sandbox", "sandboxes", "", "agents.x-k8s.io", "Sandbox"),
            Self::SandboxClaim => ("sandboxclaim", "sandboxclaims", "", "extensions.agents.x-k8s.io", "SandboxClaim"),
            Self::SandboxWarmPool => {
                ("sandboxwarmpool", "sandboxwarmpools", "swp", "extensions.agents.x-k8s.io", "SandboxWarmPool")
            }
            Self::TrainJob => ("trainjob", "trainjobs", "", "trainer.kubeflow.org", "TrainJob"),
            Self::Workload => ("workload", "workloads", "kwl", "kueue.x-k8s.io", "Workload"),
            Self::Node => ("node", "nodes", "no", "", "Node"),
            Self::Pod => ("pod", "pods", "po", "", "Pod"),
        }
    }

    /// Reads a kind in the forms that kubectl takes: singular, plural, short name, each with its group or without.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        Self::ALL.into_iter().find(|kind| {
            let (singular, plural, short, group, _) = kind.names();
            let bare = match text.split_once('.') {
                Some((bare, rest)) if rest == group => bare,
                Some(_) => return false,
                None => &text,
            };
            bare == singular || bare == plural || (!short.is_empty() && bare == short)
        })
    }

    /// The kind of an owner, if it is one of these.
    pub fn of(group: &str, kind: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.kind() == kind && known.group() == group)
    }

    /// As it stands before a name: `job/x`.
    pub const fn name(self) -> &'static str {
        self.names().0
    }

    /// The plural in the API's paths.
    pub const fn plural(self) -> &'static str {
        self.names().1
    }

    /// kubectl's short name; empty where there is none.
    pub const fn short(self) -> &'static str {
        self.names().2
    }

    /// The API group, empty for the core group.
    pub const fn group(self) -> &'static str {
        self.names().3
    }

    /// As Kubernetes spells it: `JobSet`.
    pub const fn kind(self) -> &'static str {
        self.names().4
    }

    /// Group and version, where every cluster has it.
    pub const fn built_in(self) -> Option<&'static str> {
        match self {
            Self::Job | Self::CronJob => Some("batch/v1"),
            Self::Deployment | Self::StatefulSet | Self::DaemonSet => Some("apps/v1"),
            Self::Node | Self::Pod => Some("v1"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_as_kubectl_reads_them() {
        for (text, kind) in [
            ("job", Some(TargetKind::Job)),
            ("jobs.batch", Some(TargetKind::Job)),
            ("cj", Some(TargetKind::CronJob)),
            ("JobSet", Some(TargetKind::JobSet)),
            ("jobsets.jobset.x-k8s.io", Some(TargetKind::JobSet)),
            ("deploy", Some(TargetKind::Deployment)),
            ("deployments.apps", Some(TargetKind::Deployment)),
            ("deploy.apps", Some(TargetKind::Deployment)),
            ("sts", Some(TargetKind::StatefulSet)),
            ("ds", Some(TargetKind::DaemonSet)),
            ("lws", Some(TargetKind::LeaderWorkerSet)),
            ("sandbox.agents.x-k8s.io", Some(TargetKind::Sandbox)),
            ("swp", Some(TargetKind::SandboxWarmPool)),
            ("kwl", Some(TargetKind::Workload)),
            ("workloads.kueue.x-k8s.io", Some(TargetKind::Workload)),
            ("no", Some(TargetKind::Node)),
            ("po", Some(TargetKind::Pod)),
            ("service", None),
            ("jobs.apps", None),
            ("", None),
        ] {
            assert_eq!(TargetKind::parse(text), kind, "{text}");
        }
        assert_eq!(TargetKind::of("jobset.x-k8s.io", "JobSet"), Some(TargetKind::JobSet));
        assert_eq!(TargetKind::of("", "Job"), None);
        assert_eq!(TargetKind::of("batch.volcano.sh", "Job"), None);
    }
}
