use super::super::{Kind, Loss};
use super::*;

fn at(path: &str) -> Pod<'_> {
    exec("python t.py --ckpt_dir").with(|container| container.args.push(path))
}

/// Durability, kind and claim alone.
fn lies(pod: &Pod) -> (Answer, Kind, Option<String>) {
    let durable = pod.detect().durable;
    (durable.answer, durable.kind, durable.claim)
}

#[test]
fn schemes() {
    use Answer::{No, Unknown, Yes};
    for (place, answer, kind) in [
        ("gs://b/x", Yes, Kind::ObjectStore),
        ("s3://b/x", Yes, Kind::ObjectStore),
        ("S3A://b/x", Yes, Kind::ObjectStore),
        ("hf://buckets/me/x", Yes, Kind::ObjectStore),
        ("abfss://box@account.dfs.core.windows.net/x", Yes, Kind::ObjectStore),
        ("wasbs://box@account/x", Yes, Kind::ObjectStore),
        ("hdfs://n/x", Yes, Kind::NetworkVolume),
        ("memory://x", No, Kind::Memory),
        ("what://x", Unknown, Kind::Unknown),
        ("gs://$(BUCKET)/x", Yes, Kind::ObjectStore),
        ("$(BUCKET)/x", Unknown, Kind::Unknown),
        ("x/y", No, Kind::ContainerDisk),
        ("./x", No, Kind::ContainerDisk),
        ("/x", No, Kind::ContainerDisk),
        ("/dev/shm/x", No, Kind::Memory),
        ("file:///x", No, Kind::ContainerDisk),
    ] {
        assert_eq!(lies(&at(place)), (answer, kind, None), "{place}");
    }
    assert_eq!(lies(&at("pvc://claim/x")), (Yes, Kind::Claim, Some("claim".to_owned())));
}

#[test]
fn volumes() {
    use Answer::{No, Unknown, Yes};
    let csi = |driver| VolumeSource::Csi { driver, bucket: Some("b") };
    for (source, answer, kind) in [
        (VolumeSource::PersistentVolumeClaim("c"), Yes, Kind::Claim),
        (VolumeSource::EmptyDir { memory: false }, No, Kind::EmptyDir),
        (VolumeSource::EmptyDir { memory: true }, No, Kind::Memory),
        (VolumeSource::HostPath("/mnt/disk"), Unknown, Kind::NodeBound),
        (csi("gcsfuse.csi.storage.gke.io"), Yes, Kind::ObjectStore),
        (csi("s3.csi.aws.com"), Yes, Kind::ObjectStore),
        (csi("fsx.csi.aws.com"), Yes, Kind::NetworkVolume),
        (csi("multitier-checkpoint.csi.storage.gke.io"), Unknown, Kind::NodeBound),
        (csi("phase1-checkpoint.csi.storage.gke.io"), Unknown, Kind::NodeBound),
        (csi("secrets-store.csi.k8s.io"), Unknown, Kind::Unknown),
        (VolumeSource::Ephemeral, No, Kind::EphemeralClaim),
        (VolumeSource::Nfs, Yes, Kind::NetworkVolume),
        (VolumeSource::ConfigMapOrSecret, No, Kind::Unknown),
        (VolumeSource::Other("cephfs"), Yes, Kind::NetworkVolume),
        (VolumeSource::Other("projected"), No, Kind::Unknown),
        (VolumeSource::Other("future"), Unknown, Kind::Unknown),
    ] {
        let claim = (kind == Kind::Claim).then(|| "c".to_owned());
        assert_eq!(lies(&at("/data/x").mount("/data", "v", source)), (answer, kind, claim), "{source:?}");
    }
}

#[test]
fn the_longest_mount_holds() {
    let nested = |path| {
        at(path).mount("/data", "outer", VolumeSource::EmptyDir { memory: false }).mount(
            "/data/ckpt/",
            "inner",
            VolumeSource::PersistentVolumeClaim("c"),
        )
    };
    for (path, kind) in [
        ("/data/ckpt", Kind::Claim),
        ("/data/ckpt/x", Kind::Claim),
        ("/data//./x/../ckpt/x", Kind::Claim),
        ("/data/ckpt2", Kind::EmptyDir),
        ("/data/$(X)/y", Kind::Unknown),
        ("/data/ckpt/$(X)", Kind::Claim),
        ("/data2", Kind::ContainerDisk),
        ("/data/../../x", Kind::ContainerDisk),
    ] {
        assert_eq!(lies(&nested(path)).1, kind, "{path}");
    }
    assert_eq!(lies(&nested("ckpt/x").dir("/data")).1, Kind::Claim);
    // The image's working directory may be one of them.
    assert_eq!(lies(&nested("ckpt/x")), (Answer::Unknown, Kind::Unknown, None));
    // JobSet and others add volumes by claim templates.
    let added = at("/c/x").with(|container| container.mounts.push(("checkpoints", "/c")));
    assert_eq!(lies(&added), (Answer::Unknown, Kind::Claim, Some("checkpoints".to_owned())));
}

#[test]
fn what_would_delete_it() {
    let empty = at("/d").mount("/d", "v", VolumeSource::EmptyDir { memory: false });
    assert_eq!(empty.detect().durable.loses, [Loss::PodDeletion]);
    assert_eq!(at("/d").detect().durable.loses, [Loss::ContainerRestart, Loss::PodDeletion]);
    let host = at("/d").mount("/d", "v", VolumeSource::HostPath("/x"));
    assert_eq!(host.detect().durable.loses, [Loss::NodeLoss]);
    assert!(at("gs://b").detect().durable.loses.is_empty());
    assert_eq!(Loss::PodDeletion.to_string(), "deletion of the pod");
}

/// A sidecar may upload what it finds there, which no template tells.
#[test]
fn what_another_container_has_too_may_be_copied_in_time() {
    use Answer::{No, Unknown, Yes};
    let memory = VolumeSource::EmptyDir { memory: true };
    let empty = VolumeSource::EmptyDir { memory: false };
    let on = |source| at("/d/x").mount("/d", "v", source);
    for (pod, answer, kind) in [
        (on(empty), No, Kind::EmptyDir),
        (on(empty).beside("proxy", None), No, Kind::EmptyDir),
        (on(empty).beside("logs", Some("other")), No, Kind::EmptyDir),
        (on(empty).beside("upload", Some("v")), Unknown, Kind::EmptyDir),
        (on(empty).sidecar("upload", "v"), Unknown, Kind::EmptyDir),
        (on(empty).sidecar("upload", "other"), No, Kind::EmptyDir),
        (on(memory).sidecar("upload", "v"), Unknown, Kind::Memory),
        (on(VolumeSource::Ephemeral).beside("upload", Some("v")), Unknown, Kind::EphemeralClaim),
        (on(VolumeSource::ConfigMapOrSecret).beside("upload", Some("v")), No, Kind::Unknown),
        (on(VolumeSource::PersistentVolumeClaim("c")).beside("upload", Some("v")), Yes, Kind::Claim),
        // A container's own disk is seen by no other one, unless they share their processes.
        (at("/x").beside("upload", Some("v")), No, Kind::ContainerDisk),
        (at("/x").sharing_processes(), No, Kind::ContainerDisk),
        (at("/x").beside("upload", None).sharing_processes(), Unknown, Kind::ContainerDisk),
        (at("x").sidecar("upload", "v").sharing_processes(), Unknown, Kind::ContainerDisk),
    ] {
        let durable = pod.detect().durable;
        assert_eq!((durable.answer, durable.kind), (answer, kind), "{:?}", pod.template);
        assert_eq!(durable.why.contains("container upload"), answer == Unknown, "{}", durable.why);
        let loses = on(empty).detect().durable.loses;
        assert!(kind != Kind::EmptyDir || durable.loses == loses, "it is deleted with the pod all the same");
    }
}
