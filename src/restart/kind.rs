/// The kinds that can be restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A Job: made again from its own spec.
    Job,
    /// A `CronJob`: one more Job of it.
    CronJob,
    /// A `JobSet`: suspended and resumed, or made again.
    JobSet,
    /// A Deployment: rolled out again.
    Deployment,
    /// A `StatefulSet`: rolled out again.
    StatefulSet,
    /// A `DaemonSet`: rolled out again.
    DaemonSet,
    /// A `LeaderWorkerSet`: one of its groups.
    LeaderWorkerSet,
    /// An Agent Sandbox: its pod.
    Sandbox,
}

/// Singular, plural, short name where there is one, group, kind.
type Names = (&'static str, &'static str, &'static str, &'static str, &'static str);

impl Kind {
    const ALL: [Self; 8] = [
        Self::Job,
        Self::CronJob,
        Self::JobSet,
        Self::Deployment,
        Self::StatefulSet,
        Self::DaemonSet,
        Self::LeaderWorkerSet,
        Self::Sandbox,
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
            Self::Sandbox => ("sandbox", "sandboxes", "", "agents.x-k8s.io", "Sandbox"),
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
                None => return text == singular || text == plural || (!short.is_empty() && text == short),
            };
            bare == singular || bare == plural
        })
    }

    /// As it stands before a name: `job/x`.
    pub const fn name(self) -> &'static str {
        self.names().0
    }

    /// As Kubernetes spells it: `JobSet`.
    pub const fn kind(self) -> &'static str {
        self.names().4
    }

    /// The plural in the API's paths.
    pub(super) const fn resource(self) -> &'static str {
        self.names().1
    }

    pub(super) const fn group(self) -> &'static str {
        self.names().3
    }

    /// Group and version, where every cluster has it.
    pub(super) const fn built_in(self) -> Option<&'static str> {
        match self {
            Self::Job | Self::CronJob => Some("batch/v1"),
            Self::Deployment | Self::StatefulSet | Self::DaemonSet => Some("apps/v1"),
            Self::JobSet | Self::LeaderWorkerSet | Self::Sandbox => None,
        }
    }

    /// The kind of an owner, if it is one of these.
    pub(super) fn of_owner(api_version: &str, kind: &str) -> Option<Self> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        Self::ALL.into_iter().find(|known| known.kind() == kind && known.group() == group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_as_kubectl_reads_them() {
        for (text, kind) in [
            ("job", Some(Kind::Job)),
            ("jobs.batch", Some(Kind::Job)),
            ("cj", Some(Kind::CronJob)),
            ("JobSet", Some(Kind::JobSet)),
            ("jobsets.jobset.x-k8s.io", Some(Kind::JobSet)),
            ("deploy", Some(Kind::Deployment)),
            ("deployments.apps", Some(Kind::Deployment)),
            ("sts", Some(Kind::StatefulSet)),
            ("ds", Some(Kind::DaemonSet)),
            ("lws", Some(Kind::LeaderWorkerSet)),
            ("sandbox.agents.x-k8s.io", Some(Kind::Sandbox)),
            ("pod", None),
            ("jobs.apps", None),
            ("", None),
        ] {
            assert_eq!(Kind::parse(text), kind, "{text}");
        }
        assert_eq!(Kind::of_owner("jobset.x-k8s.io/v1alpha2", "JobSet"), Some(Kind::JobSet));
        assert_eq!(Kind::of_owner("v1", "Job"), None);
    }
}
