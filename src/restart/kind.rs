use crate::request::TargetKind;

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

    const fn target(self) -> TargetKind {
        match self {
            Self::Job => TargetKind::Job,
            Self::CronJob => TargetKind::CronJob,
            Self::JobSet => TargetKind::JobSet,
            Self::Deployment => TargetKind::Deployment,
            Self::StatefulSet => TargetKind::StatefulSet,
            Self::DaemonSet => TargetKind::DaemonSet,
            Self::LeaderWorkerSet => TargetKind::LeaderWorkerSet,
            Self::Sandbox => TargetKind::Sandbox,
        }
    }

    fn of(target: TargetKind) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.target() == target)
    }

    /// Reads a kind in the forms that kubectl takes, if it can be restarted.
    pub fn parse(text: &str) -> Option<Self> {
        Self::of(TargetKind::parse(text)?)
    }

    /// As it stands before a name: `job/x`.
    pub const fn name(self) -> &'static str {
        self.target().name()
    }

    /// As Kubernetes spells it: `JobSet`.
    pub const fn kind(self) -> &'static str {
        self.target().kind()
    }

    /// The plural in the API's paths.
    pub(super) const fn resource(self) -> &'static str {
        self.target().plural()
    }

    pub(super) const fn group(self) -> &'static str {
        self.target().group()
    }

    /// Group and version, where every cluster has it.
    pub(super) const fn built_in(self) -> Option<&'static str> {
        self.target().built_in()
    }

    /// The kind of an owner, if it is one of these.
    pub(super) fn of_owner(api_version: &str, kind: &str) -> Option<Self> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        Self::of(TargetKind::of(group, kind)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_restarted_is_a_kind_to_restart() {
        for (text, kind) in [
            ("jobs.batch", Some(Kind::Job)),
            ("lws", Some(Kind::LeaderWorkerSet)),
            ("pod", None),
            ("trainjob", None),
            ("jobs.apps", None),
        ] {
            assert_eq!(Kind::parse(text), kind, "{text}");
        }
        assert_eq!(Kind::of_owner("jobset.x-k8s.io/v1alpha2", "JobSet"), Some(Kind::JobSet));
        assert_eq!(Kind::of_owner("v1", "Job"), None);
    }
}
