//! Whether a pod template is configured to save checkpoints, and could resume from one. Only command lines, variables,
//! volumes and annotations are looked at: what stands in an image, a `ConfigMap` or a script is not seen, and is
//! `Unknown`. Nothing here says that a checkpoint exists.

mod change;
mod expansions;
mod finding;
mod frameworks;
mod generic;
mod kubeflow;
mod line;
mod place;
mod report;
mod rule;
mod scope;
mod shell;
mod shown;
mod template;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use generic::is_sign_name;
pub use report::{Answer, Checkpoints, Durable, Kind, Loss, Resumes, Saves, Sign, Sigterm};
pub(crate) use shown::is_secret_name;
pub use template::{Container, Mount, Template, Value, Volume, VolumeSource};

use finding::Finding;
use shown::shown;
use words::{At, Word};

/// `terminationGracePeriodSeconds` if not set (`core/v1` `PodSpec`).
const DEFAULT_GRACE_SECONDS: i64 = 30;

/// GKE restores a pod with this annotation from the Pod snapshot that it names (cloud.google.com
/// `kubernetes-engine/docs/how-to/pod-snapshots`). Snapshots lie in Cloud Storage (`docs/reference/crds/podsnapshot`).
const POD_SNAPSHOT: &str = "podsnapshot.gke.io/ps-name";
/// Annotations that stand beside volumes of GKE; they alone say nothing of checkpoints.
const BESIDE: [&str; 2] = ["gke-gcsfuse/volumes", "highscalecheckpointing.gke.io/"];

/// What a pod template tells of checkpoints: of its command lines, the one that tells most.
pub fn detect(template: &Template) -> Checkpoints {
    let mut best: Option<(&Container, Finding)> = None;
    for container in &template.containers {
        for finding in findings(container, template) {
            if best.as_ref().is_none_or(|(_, best)| finding.weight() > best.weight()) {
                best = Some((container, finding));
            }
        }
    }
    let (container, mut finding) =
        best.map_or((None, Finding::none()), |(container, finding)| (Some(container), finding));
    if let (Answer::Yes, Some(to), Some(container)) = (finding.resumes, &finding.place, container)
        && let Some(lost) = place::may_be_lost(to, finding.directory.as_ref(), container, template)
    {
        (finding.resumes, finding.resumes_why) = lost;
    }
    let durable = match (&finding.place, container) {
        _ if finding.saves == Answer::No => place::unknown("nothing is saved".to_owned()),
        (Some(to), Some(container)) => place::durable(to, finding.directory.as_ref(), container, template),
        _ => place::unknown("where it saves is not told".to_owned()),
    };
    let checkpoints = Checkpoints {
        framework: finding.framework,
        saves: Saves {
            answer: finding.saves,
            why: finding.saves_why,
            place: finding.place.map(|place| shown(&place.text)),
            every: finding.every,
        },
        resumes: Resumes { answer: finding.resumes, why: finding.resumes_why },
        durable,
        sigterm: finding.saver.map(|saver| sigterm(saver, template.grace_seconds)),
        signs: finding.signs,
    };
    with_annotations(checkpoints, template)
}

fn findings(container: &Container, template: &Template) -> Vec<Finding> {
    if let Some(finding) = kubeflow::finding(container) {
        return vec![finding];
    }
    let of_line = |line: &line::Line| {
        let is_script = |framework: &rule::Framework| matches!(framework.saving, rule::Saving::Script);
        let framework = frameworks::FRAMEWORKS.iter().find(|framework| framework.is_run_by(line));
        let names = || generic::generic(line, container);
        let finding = |framework| finding::finding(framework, line, container.name);
        match framework {
            Some(framework) if !is_script(framework) => finding(framework),
            _ if generic::is_not_training(line, container) => names(),
            Some(framework) => by_names(finding(framework), names(), container, template),
            None => with_mount(names(), container, template),
        }
    };
    line::lines(container).iter().map(of_line).collect()
}

/// Where a framework leaves saving to the script, names that many scripts share may tell.
fn by_names(of: Finding, names: Finding, container: &Container, template: &Template) -> Finding {
    let mut found = of;
    if found.resumes == Answer::Unknown && names.resumes != Answer::Unknown {
        found.resumes = names.resumes;
        found.resumes_why.clone_from(&names.resumes_why);
    }
    if found.saves == Answer::Unknown {
        let names = with_mount(names, container, template);
        let more = names.signs.into_iter().filter(|sign| !found.signs.contains(sign));
        found.signs = found.signs.iter().cloned().chain(more).collect();
        found.every = found.every.or(names.every);
        if names.place.is_some() {
            (found.saves, found.saves_why, found.place) = (names.saves, names.saves_why, names.place);
        }
    }
    found
}

/// Where no argument names a place, a mount may do so by its name: `/checkpoints`, volume `ckpt`.
fn with_mount(finding: Finding, container: &Container, template: &Template) -> Finding {
    if finding.place.is_some() {
        return finding;
    }
    let source = |volume: &str| template.volumes.iter().find(|found| found.name == volume).map(|found| found.source);
    let is_driver =
        |volume: &str| matches!(source(volume), Some(VolumeSource::Csi { driver, .. }) if place::is_multi_tier(driver));
    let is_named = |mount: &&Mount| {
        let Mount { volume, path, .. } = **mount;
        if place::is_read_only(mount, template) {
            return false;
        }
        let claim = match source(volume) {
            Some(VolumeSource::PersistentVolumeClaim(claim)) => claim,
            Some(VolumeSource::ConfigMapOrSecret) => return false,
            _ => "",
        };
        [path, volume, claim].iter().any(|name| names_checkpoints(name)) || is_driver(volume)
    };
    let Some(&Mount { volume, path, .. }) = container.mounts.iter().find(is_named) else { return finding };
    let (saves, saves_why) = if is_driver(volume) {
        (Answer::Yes, format!("{path} is for checkpoints only, by GKE multi-tier checkpointing"))
    } else {
        (Answer::Unknown, format!("volume {volume} at {path} is named for checkpoints; no argument says that it saves"))
    };
    let path_of_sign = format!("spec.containers[name={}].volumeMounts[mountPath={path}]", container.name);
    let sign = Sign { container: Some(container.name.to_owned()), path: path_of_sign, value: Some(shown(volume)) };
    let signs = finding.signs.iter().cloned().chain([sign]).collect();
    Finding { saves, saves_why, place: Some(Word::of(path, At::Args(0))), signs, ..finding }
}

/// Whether a part of the name is `checkpoint` or `ckpt`, and none says that it holds logs.
/// Whether an annotation of a template tells of checkpoints.
pub(crate) fn names_annotation(key: &str) -> bool {
    key == POD_SNAPSHOT || BESIDE.iter().any(|beside| key.starts_with(beside))
}

pub(crate) fn names_checkpoints(name: &str) -> bool {
    let is = |part: &str| matches!(part, "checkpoint" | "checkpoints" | "checkpointing" | "ckpt" | "ckpts");
    let name = name.to_ascii_lowercase();
    let parts = || name.split(|c: char| !c.is_ascii_alphanumeric());
    parts().any(is) && !parts().any(|part| matches!(part, "log" | "logs"))
}

fn sigterm(saver: String, grace: Option<i64>) -> Sigterm {
    let grace_seconds = grace.unwrap_or(DEFAULT_GRACE_SECONDS);
    let default = if grace.is_none() { ", Kubernetes' default" } else { "" };
    let why = format!(
        "{saver} saves on SIGTERM; step and save must end within {grace_seconds} s \
         (terminationGracePeriodSeconds{default})"
    );
    Sigterm { saver, grace_seconds, grace_is_default: grace.is_none(), why }
}

fn with_annotations(mut checkpoints: Checkpoints, template: &Template) -> Checkpoints {
    let sign = |(key, value): &(&str, &str)| Sign {
        container: None,
        path: format!("metadata.annotations[{key}]"),
        value: Some(shown(value)),
    };
    if let Some(snapshot) = template.annotations.iter().find(|(key, _)| *key == POD_SNAPSHOT) {
        let named = shown(snapshot.1);
        checkpoints.signs.push(sign(snapshot));
        checkpoints.resumes =
            Resumes { answer: Answer::Yes, why: format!("GKE is asked to restore the pod from Pod snapshot {named}") };
        if checkpoints.saves.place.is_none() && checkpoints.saves.answer == Answer::Unknown {
            let why = "whether Pod snapshots are taken stands in a PodSnapshotPolicy".to_owned();
            checkpoints.saves = Saves { why, ..checkpoints.saves };
            let why = "Pod snapshots lie in Cloud Storage".to_owned();
            checkpoints.durable =
                Durable { answer: Answer::Yes, kind: Kind::ObjectStore, why, loses: Vec::new(), claim: None };
        }
    }
    let beside = template.annotations.iter().filter(|(key, _)| BESIDE.iter().any(|beside| key.starts_with(beside)));
    if matches!(checkpoints.durable.kind, Kind::ObjectStore | Kind::NodeBound) {
        checkpoints.signs.extend(beside.map(sign));
    }
    checkpoints
}
