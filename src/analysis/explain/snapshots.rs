//! Objects that stand for something that was taken: these exist, whatever a template says.

use crate::analysis::checkpoint::Kept;
use crate::analysis::object;
use crate::model::{Pod, Taken};
use crate::report::SnapshotReport;
use crate::source::Snapshot;

/// Snapshots of the claim that checkpoints lie on, and checkpoints and snapshots of pods: of the pod asked for, else of
/// those whose names `is_own` knows. Those that can be used first, the latest of them first.
pub(super) fn snapshots(
    snapshot: &Snapshot,
    namespace: &str,
    kept: Option<&Kept>,
    pod: Option<&Pod>,
    is_own: impl Fn(&str) -> bool,
) -> Vec<SnapshotReport> {
    let claim = kept.and_then(|kept| kept.claim.as_deref());
    let of_claim = |taken: &Taken| claim.is_some_and(|claim| *taken.of == *claim);
    let of_pod = |taken: &Taken| pod.map_or_else(|| is_own(&taken.of), |pod| *taken.of == *pod.name);
    let in_namespace = |taken: &&Taken| *taken.namespace == *namespace;
    let volumes = snapshot.volume_snapshots.iter().filter(in_namespace).filter(|taken| of_claim(taken));
    let checkpoints = snapshot.pod_checkpoints.iter().filter(in_namespace).filter(|taken| of_pod(taken));
    let pods = snapshot.pod_snapshots.iter().filter(in_namespace).filter(|taken| of_pod(taken));
    let mut all: Vec<(&str, &Taken)> = volumes.map(|taken| ("VolumeSnapshot", taken)).collect();
    all.extend(checkpoints.map(|taken| ("PodCheckpoint", taken)));
    all.extend(pods.map(|taken| ("PodSnapshot", taken)));
    all.sort_by_key(|(kind, taken)| (taken.ready != Some(true), std::cmp::Reverse(taken.at), *kind, &taken.name));
    all.into_iter().map(|(kind, taken)| report(kind, taken)).collect()
}

fn report(kind: &'static str, taken: &Taken) -> SnapshotReport {
    SnapshotReport {
        kind,
        object: object(&kind.to_ascii_lowercase(), &taken.namespace, &taken.name),
        of: taken.of.to_string(),
        ready: taken.ready,
        error: taken.error.as_deref().map(str::to_owned),
        at: taken.at,
        node: taken.node.as_deref().map(str::to_owned),
    }
}
