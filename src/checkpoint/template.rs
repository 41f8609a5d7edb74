/// A pod template, as far as checkpoints are told by it.
#[derive(Clone, Debug, Default)]
pub struct Template<'a> {
    /// `spec.containers`, in their order.
    pub containers: Vec<Container<'a>>,
    /// Those of `spec.initContainers` that run beside the others (`restartPolicy: Always`); what ends before they start has
    /// no part in what becomes of a checkpoint.
    pub sidecars: Vec<Container<'a>>,
    /// `spec.shareProcessNamespace`: each container reaches the others' disks by `/proc/<pid>/root`.
    pub shares_processes: bool,
    /// `spec.volumes`.
    pub volumes: Vec<Volume<'a>>,
    /// `metadata.annotations`.
    pub annotations: Vec<(&'a str, &'a str)>,
    /// `spec.terminationGracePeriodSeconds`; Kubernetes' default is 30.
    pub grace_seconds: Option<i64>,
}

/// A container of the template.
#[derive(Clone, Debug, Default)]
pub struct Container<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its image.
    pub image: &'a str,
    /// `command`, in place of the image's entrypoint.
    pub command: Vec<&'a str>,
    /// `args`, behind the command or the image's entrypoint.
    pub args: Vec<&'a str>,
    /// `workingDir`; `None` where the image's holds.
    pub working_dir: Option<&'a str>,
    /// `env`, in its order; the value is `None` where it comes from a Secret, a `ConfigMap` or a field.
    pub env: Vec<(&'a str, Option<&'a str>)>,
    /// Whether more variables come from a `ConfigMap` or a Secret (`envFrom`): neither names nor values are told.
    pub env_from: bool,
    /// `volumeMounts`: the volume's name and the path.
    pub mounts: Vec<(&'a str, &'a str)>,
}

/// A volume of the template.
#[derive(Clone, Debug)]
pub struct Volume<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is made of.
    pub source: VolumeSource<'a>,
}

/// What a volume is made of (`core/v1` `VolumeSource`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeSource<'a> {
    /// `persistentVolumeClaim`, with the claim's name.
    PersistentVolumeClaim(&'a str),
    /// `emptyDir`.
    EmptyDir {
        /// `medium: Memory`.
        memory: bool,
    },
    /// `hostPath`, with the path.
    HostPath(&'a str),
    /// `csi`, an inline volume.
    Csi {
        /// `driver`.
        driver: &'a str,
        /// `volumeAttributes.bucketName` or what the driver calls it.
        bucket: Option<&'a str>,
    },
    /// `ephemeral`: a claim made for the pod and deleted with it.
    Ephemeral,
    /// `nfs`.
    Nfs,
    /// `configMap` or `secret`.
    ConfigMapOrSecret,
    /// Any other, with the name of its field: `cephfs`, `projected`, …
    Other(&'a str),
}
