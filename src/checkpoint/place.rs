//! Where a path lies, and whether what is saved there outlives the pod.

use super::change::Change;
use super::finding::unless_it_changes;
use super::words::{At, Variables, Word};
use super::{Answer, Container, Durable, Kind, Loss, Mount, Template, VolumeSource, shown::shown};

/// Schemes of object stores: fsspec's and Hadoop's names (fsspec `registry.py`; Orbax, Ray and `NeMo` take `gs://` and
/// `s3://`).
const OBJECT_STORES: [&str; 20] = [
    "gs", "gcs", "s3", "s3a", "s3n", "hf", "abfs", "abfss", "az", "azure", "adl", "wasb", "wasbs", "oss", "cos", "obs",
    "oci", "r2", "b2", "swift",
];
/// Schemes of file systems on the network.
const NETWORK: [&str; 5] = ["hdfs", "viewfs", "nfs", "smb", "lustre"];

/// CSI drivers that mount buckets: GKE's Cloud Storage FUSE, AWS' Mountpoint, Azure Blob, Alibaba OSS
/// (kubernetes-csi.github.io `docs/drivers`).
const BUCKET_DRIVERS: [&str; 5] =
    ["gcsfuse.", "s3.csi.aws.com", "blob.csi.azure.com", "ossplugin.csi.alibabacloud.com", "csi-s3"];
/// CSI drivers of file systems on the network (same list).
const NETWORK_DRIVERS: [&str; 12] = [
    "filestore.csi.storage.gke.io",
    "lustre.csi.storage.gke.io",
    "parallelstore.csi.storage.gke.io",
    "efs.csi.aws.com",
    "fsx.csi.aws.com",
    "file.csi.azure.com",
    "nfs.csi.k8s.io",
    "smb.csi.k8s.io",
    "cephfs.csi.ceph.com",
    "csi.weka.io",
    "csi.juicefs.com",
    "nasplugin.csi.alibabacloud.com",
];

/// GKE multi-tier checkpointing's CSI drivers (`GoogleCloudPlatform` High Scale Checkpointing; xpk `storage`).
pub(super) fn is_multi_tier(driver: &str) -> bool {
    matches!(driver, "multitier-checkpoint.csi.storage.gke.io" | "phase1-checkpoint.csi.storage.gke.io")
}

/// What a place is made of.
pub(super) fn durable(place: &Word, directory: Option<&Word>, container: &Container, template: &Template) -> Durable {
    if let Some((scheme, rest)) = place.known().split_once("://").filter(|(scheme, _)| *scheme != "file") {
        return by_scheme(scheme, rest);
    }
    if place.open == Some(0) {
        return unknown(format!("where {} points to is not told", shown(&place.text)));
    }
    let Some(path) = absolute(place, directory) else {
        return relative(place, directory, container, template);
    };
    match mount(&path, container) {
        Mounted::Under(mount) if is_read_only(mount, template) => {
            let why = format!("{} is mounted read-only, so that nothing can be saved there", mount.path);
            made(Answer::No, Kind::Unknown, why, &[])
        }
        Mounted::Under(mount) => by_mount(mount, container, template),
        Mounted::Nowhere if path.text.starts_with("/dev/shm") => {
            // Of the sandbox, which stays while containers are started again (containerd `internal/cri/server`,
            // `getSandboxDevShm`).
            let why = "/dev/shm is memory of the pod".to_owned();
            made(Answer::No, Kind::Memory, why, &[Loss::PodDeletion])
        }
        Mounted::Nowhere => on_disk(format!("{} is under no volume", shown(&path.text)), container, template),
        Mounted::Either => unknown(format!("whether {} is under a volume is not told", shown(&path.text))),
    }
}

/// Why a start does not surely find what another saved in the place: what is mounted there is for reading alone, or
/// another folder for each pod (kubernetes `pkg/kubelet/container/helpers.go`, `ExpandContainerVolumeMounts`).
pub(super) fn may_be_lost(
    place: &Word,
    directory: Option<&Word>,
    container: &Container,
    template: &Template,
) -> Option<(Answer, String)> {
    let path = absolute(place, directory).filter(|_| !place.known().contains("://"))?;
    let Mounted::Under(mount) = mount(&path, container) else { return None };
    if is_read_only(mount, template) {
        let why = format!("{} is mounted read-only, so that it finds nothing that it saved itself", mount.path);
        return Some((Answer::No, why));
    }
    unless_it_changes(folder(mount, container))
}

/// Whether a volume, or this mount of it, cannot be written. A claim's or driver's `readOnly` makes its mounts so
/// (`core/v1` `PersistentVolumeClaimVolumeSource`, `CSIVolumeSource`).
pub(super) fn is_read_only(mount: &Mount, template: &Template) -> bool {
    mount.is_read_only || template.volumes.iter().any(|volume| volume.name == mount.volume && volume.is_read_only)
}

/// Whether the folder of the volume that is mounted may be another for each pod.
fn folder(mount: &Mount, container: &Container) -> Change {
    mount.sub_path.map_or(Change::Never, |path| Variables::of(container).expand(path, At::Args(0)).change)
}

/// Of a path below a directory that is not told: the image's working directory, a home, or one that a script went to.
/// Any of them may lie under a volume, if there is one that outlives the pod.
fn relative(place: &Word, directory: Option<&Word>, container: &Container, template: &Template) -> Durable {
    let below = match directory {
        _ if place.text.starts_with('~') => "a home directory",
        Some(_) => "a directory that the script goes to",
        None => "the image's working directory",
    };
    let may_keep = |mount: &Mount| {
        !is_read_only(mount, template) && by_volume(mount.volume, mount.path, container, template).answer != Answer::No
    };
    if container.mounts.iter().any(may_keep) {
        return unknown(format!("it is relative to {below}; whether that is under a volume is not told"));
    }
    on_disk(format!("it is relative to {below}, under no volume as far as is told"), container, template)
}

/// Nothing can be said.
pub(super) fn unknown(why: String) -> Durable {
    made(Answer::Unknown, Kind::Unknown, why, &[])
}

fn made(answer: Answer, kind: Kind, why: String, loses: &[Loss]) -> Durable {
    Durable { answer, kind, why, loses: loses.to_vec(), claim: None }
}

fn on_disk(why: String, container: &Container, template: &Template) -> Durable {
    let disk = made(Answer::No, Kind::ContainerDisk, why, &[Loss::ContainerRestart, Loss::PodDeletion]);
    let other = others(container, template).next().filter(|_| template.shares_processes);
    unless_copied(disk, other, "reaches it by the shared process namespace")
}

/// The containers that run beside one.
fn others<'t>(own: &Container, template: &'t Template) -> impl Iterator<Item = &'t Container<'t>> {
    template.containers.iter().chain(&template.sidecars).filter(move |other| other.name != own.name)
}

/// What does not outlive the pod may be copied elsewhere in time by another container, which no template tells.
fn unless_copied(lost: Durable, other: Option<&Container>, reach: &str) -> Durable {
    let Some(other) = other else { return lost };
    let why = format!("{}; container {} {reach}, and may copy it to where it stays", lost.why, other.name);
    Durable { answer: Answer::Unknown, why, ..lost }
}

/// The claim lives on its own; what becomes of it is for the caller to judge.
fn claim(name: &str, answer: Answer, why: String) -> Durable {
    Durable { claim: Some(name.to_owned()), ..made(answer, Kind::Claim, why, &[]) }
}

fn by_scheme(scheme: &str, rest: &str) -> Durable {
    let scheme = scheme.to_ascii_lowercase();
    if OBJECT_STORES.contains(&&*scheme) {
        return made(Answer::Yes, Kind::ObjectStore, format!("{scheme}:// is an object store"), &[]);
    }
    if NETWORK.contains(&&*scheme) {
        return made(Answer::Yes, Kind::NetworkVolume, format!("{scheme}:// is on the network"), &[]);
    }
    match &*scheme {
        "pvc" => {
            let name = rest.split('/').next().unwrap_or_default();
            claim(name, Answer::Yes, format!("claim {name} outlives the pod"))
        }
        "memory" => made(Answer::No, Kind::Memory, "memory:// is memory".to_owned(), &[Loss::ContainerRestart]),
        _ => unknown(format!("what {scheme}:// is made of is not known")),
    }
}

fn by_mount(mount: &Mount, container: &Container, template: &Template) -> Durable {
    let mut found = by_volume(mount.volume, mount.path, container, template);
    if found.answer == Answer::Yes && folder(mount, container) != Change::Never {
        found.why.push_str("; each pod may have a folder of its own there (subPathExpr)");
    }
    found
}

fn by_volume(volume: &str, at: &str, container: &Container, template: &Template) -> Durable {
    let Some(found) = template.volumes.iter().find(|found| found.name == volume) else {
        let why = format!("volume {volume} is not in the template; a claim template of the workload may add it");
        return claim(volume, Answer::Unknown, why);
    };
    let has_it = |other: &&Container| other.mounts.iter().any(|mount| mount.volume == volume);
    let unless_copied = |lost| unless_copied(lost, others(container, template).find(has_it), "has it, too");
    match found.source {
        VolumeSource::PersistentVolumeClaim(name) => {
            claim(name, Answer::Yes, format!("claim {name} at {at} outlives the pod"))
        }
        VolumeSource::EmptyDir { memory } => {
            let kind = if memory { Kind::Memory } else { Kind::EmptyDir };
            let why = format!("emptyDir {volume} at {at} is deleted with the pod");
            unless_copied(made(Answer::No, kind, why, &[Loss::PodDeletion]))
        }
        VolumeSource::HostPath(path) => {
            let why =
                format!("{at} is {path} of the node, which a pod on another node does not have unless it is shared");
            made(Answer::Unknown, Kind::NodeBound, why, &[Loss::NodeLoss])
        }
        VolumeSource::Csi { driver, bucket } => by_driver(driver, bucket, at),
        VolumeSource::Ephemeral => {
            let why = format!("ephemeral volume {volume} at {at} is deleted with the pod");
            unless_copied(made(Answer::No, Kind::EphemeralClaim, why, &[Loss::PodDeletion]))
        }
        VolumeSource::Nfs => made(Answer::Yes, Kind::NetworkVolume, format!("{at} is on NFS"), &[]),
        VolumeSource::ConfigMapOrSecret => {
            made(Answer::No, Kind::Unknown, format!("{at} is a ConfigMap or Secret, which cannot be written"), &[])
        }
        VolumeSource::Other(field) => by_field(field, at),
    }
}

fn by_driver(driver: &str, bucket: Option<&str>, at: &str) -> Durable {
    if is_multi_tier(driver) {
        let why = format!(
            "{at} is memory of the nodes by GKE multi-tier checkpointing; it is copied between nodes, and to a bucket \
             if its CheckpointConfiguration names one"
        );
        return made(Answer::Unknown, Kind::NodeBound, why, &[Loss::NodeLoss]);
    }
    if BUCKET_DRIVERS.iter().any(|known| driver.contains(known)) {
        let bucket = bucket.map_or("a bucket".to_owned(), |bucket| format!("bucket {}", shown(bucket)));
        return made(Answer::Yes, Kind::ObjectStore, format!("{at} is {bucket} by {driver}"), &[]);
    }
    if NETWORK_DRIVERS.contains(&driver) {
        return made(Answer::Yes, Kind::NetworkVolume, format!("{at} is on the network by {driver}"), &[]);
    }
    unknown(format!("what {driver} at {at} keeps is not known"))
}

fn by_field(field: &str, at: &str) -> Durable {
    let network = [
        "cephfs",
        "glusterfs",
        "azureFile",
        "rbd",
        "iscsi",
        "fc",
        "awsElasticBlockStore",
        "gcePersistentDisk",
        "azureDisk",
        "vsphereVolume",
        "portworxVolume",
        "quobyte",
    ];
    if network.contains(&field) {
        return made(Answer::Yes, Kind::NetworkVolume, format!("{at} is {field}, which outlives the pod"), &[]);
    }
    if matches!(field, "projected" | "downwardAPI" | "image" | "gitRepo") {
        return made(Answer::No, Kind::Unknown, format!("{at} is {field}, which does not keep what is written"), &[]);
    }
    unknown(format!("what {field} at {at} keeps is not known"))
}

/// The path from the root, without `.`, `..` and double slashes; `None` where it is relative to what is not told.
fn absolute(place: &Word, directory: Option<&Word>) -> Option<Word> {
    let place = match place.known().strip_prefix("file:") {
        Some(rest) => place.from(place.known().len() - rest.len()),
        None => place.clone(),
    };
    if place.text.starts_with('/') {
        return Some(place);
    }
    if place.text.starts_with('~') {
        return None;
    }
    directory.filter(|directory| directory.text.starts_with('/')).map(|directory| place.below(directory))
}

fn parts(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts
}

enum Mounted<'t> {
    /// This mount.
    Under(&'t Mount<'t>),
    Nowhere,
    /// It depends on what is not told.
    Either,
}

/// The mount with the longest path that holds `path` (as the kernel has it; `volumeMounts` may be nested).
fn mount<'t>(path: &Word, container: &'t Container<'t>) -> Mounted<'t> {
    let known = match path.open {
        Some(_) => path.known().rsplit_once('/').map_or("", |(known, _)| known),
        None => &path.text,
    };
    let known = parts(known);
    let mounts = || container.mounts.iter().map(|mount| (mount, parts(mount.path)));
    let longest = mounts().filter(|(_, at)| known.starts_with(at)).max_by_key(|(_, at)| at.len());
    let deeper = path.open.is_some() && mounts().any(|(_, at)| at.len() > known.len() && at.starts_with(&known));
    match longest {
        _ if deeper => Mounted::Either,
        Some((mount, _)) => Mounted::Under(mount),
        None => Mounted::Nowhere,
    }
}
