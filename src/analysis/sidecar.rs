use super::Failure;
use super::cause::app_end;
use crate::model::{Action, ContainerEnd, ContainerKind};
use crate::policy::{Endings, evaluate};

/// A rule without `containerName` that matched a sidecar, whose exit code says nothing about the app.
#[derive(Clone, Copy, Debug)]
pub struct SidecarHit<'s> {
    /// How the app container ended.
    pub app: Option<&'s ContainerEnd>,
    /// The rule that would have matched without the sidecar.
    pub instead: Option<(usize, &'s Action)>,
}

impl<'s> Failure<'s> {
    /// What the sidecar's match has hidden, if the failure is such a match.
    pub fn sidecar_hit(&self) -> Option<SidecarHit<'s>> {
        let (job, pod) = (self.job?, self.pod?);
        let policy = job.policy.as_ref().filter(|_| self.rule.is_some_and(|rule| rule.sidecar))?;
        let without: Vec<_> =
            pod.init_ends().iter().filter(|end| end.kind != ContainerKind::Sidecar).cloned().collect();
        let endings = Endings { containers: &pod.ends, init_containers: &without, conditions: &pod.conditions };
        let instead = evaluate(policy, endings, job.backoff_limit_per_index.is_some());
        let instead = instead.map(|found| (found.index, &policy.rules[found.index].action));
        Some(SidecarHit { app: app_end(pod), instead })
    }
}
