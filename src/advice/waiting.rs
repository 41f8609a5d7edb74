//! Pods that cannot start.

use super::case::Case;
use super::draft::Advice;
use crate::analysis::telling_line;
use crate::report::SuggestionKind;

impl Case<'_> {
    pub(super) fn pending(&self) -> Option<Advice> {
        let waiting = self.failure.waiting()?;
        let image = waiting.image.as_deref().unwrap_or("the image");
        let said =
            waiting.message.as_deref().and_then(telling_line).map(|line| format!(": {line}")).unwrap_or_default();
        let reason = &*waiting.reason;
        let (kind, why) = match reason {
            "ImagePullBackOff"
            | "ErrImagePull"
            | "InvalidImageName"
            | "ErrImageNeverPull"
            | "ImageInspectError"
            | "RegistryUnavailable"
            | "SignatureValidationFailed" => (
                SuggestionKind::FixImage,
                format!(
                    "{image} cannot be pulled ({reason}): the pod cannot start, and that is not counted as a failure"
                ),
            ),
            "Unschedulable" if said.contains("PersistentVolumeClaim") => {
                (SuggestionKind::FixConfig, format!("a volume is missing{said}"))
            }
            "Unschedulable" | "SchedulerError" => {
                (SuggestionKind::FreeCapacity, format!("no node can take the pod{said}"))
            }
            "SchedulingGated" => {
                (SuggestionKind::Wait, format!("a scheduling gate holds the pod{said}; who set it must take it off"))
            }
            "ContainerCreating" | "PodInitializing" | "Pending" => (
                SuggestionKind::Inspect,
                "the pod has been starting for long: its Events tell what it waits for (volumes, network, devices)"
                    .to_owned(),
            ),
            _ => (
                SuggestionKind::FixConfig,
                format!("{reason}{said}; the pod cannot start, and that is not counted as a failure"),
            ),
        };
        let commands = self.describe_pod();
        Some(self.advice(kind, why).run(commands))
    }
}
