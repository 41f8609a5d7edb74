use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::{Deserializer, Error};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;
use serde_json::value::RawValue;

use super::pod_view::SpecView;
use super::{MetaView, ObjectView, Text, or_default};
use crate::checkpoint::{self, Answer, Checkpoints, Container, Mount, Template, Volume, VolumeSource, detect};

/// `template` of what makes pods.
#[derive(Debug, Default)]
pub(super) struct PodTemplateView<'a> {
    pub(super) metadata: MetaView<'a>,
    pub(super) spec: SpecView<'a>,
    /// All of it, for what is rarely asked.
    json: &'a str,
}

impl<'de: 'a, 'a> Deserialize<'de> for PodTemplateView<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = <&RawValue>::deserialize(deserializer)?.get();
        let ObjectView { metadata, spec, status: _ } =
            serde_json::from_str::<ObjectView<_>>(json).map_err(Error::custom)?;
        Ok(Self { metadata, spec, json })
    }
}

impl PodTemplateView<'_> {
    /// What it tells of checkpoints, if it tells anything.
    pub(super) fn checkpoints(&self) -> Option<Arc<Checkpoints>> {
        checkpoints_of(self.json)
    }
}

/// What a pod template, as JSON, tells of checkpoints; `None` where it shows no sign of any, or cannot be read.
pub fn checkpoints_of(template: &str) -> Option<Arc<Checkpoints>> {
    let view: TemplateView = serde_json::from_str(template).ok()?;
    let mut found = detect(&view.template());
    let tells = found.framework.is_some() || !found.signs.is_empty() || found.resumes.answer != Answer::Unknown;
    // There may be as many as Jobs.
    found.shrink();
    tells.then(|| Arc::new(found))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TemplateView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    metadata: AnnotatedView<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    spec: DetailView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AnnotatedView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    annotations: BTreeMap<Text<'a>, Text<'a>>,
}

/// `spec` of a pod template, with what containers are told and where they write.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct DetailView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    containers: Vec<ContainerView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    init_containers: Vec<ContainerView<'a>>,
    #[serde(deserialize_with = "or_default")]
    share_process_namespace: bool,
    #[serde(borrow, deserialize_with = "or_default")]
    volumes: Vec<VolumeView<'a>>,
    termination_grace_period_seconds: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ContainerView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    image: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    command: Vec<Text<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    args: Vec<Text<'a>>,
    #[serde(borrow)]
    working_dir: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    env: Vec<VariableView<'a>>,
    #[serde(deserialize_with = "or_default")]
    env_from: Vec<IgnoredAny>,
    #[serde(borrow, deserialize_with = "or_default")]
    volume_mounts: Vec<MountView<'a>>,
    /// Of init containers alone.
    #[serde(borrow)]
    restart_policy: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct VariableView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    value: Text<'a>,
    #[serde(borrow)]
    value_from: Option<SourceView<'a>>,
}

/// Where a value comes from; one field is set.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SourceView<'a> {
    #[serde(borrow, rename = "fieldRef")]
    field: Option<FieldView<'a>>,
    #[serde(rename = "configMapKeyRef")]
    config_map: Option<IgnoredAny>,
    #[serde(rename = "secretKeyRef")]
    secret: Option<IgnoredAny>,
    #[serde(rename = "resourceFieldRef")]
    resource: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct FieldView<'a> {
    #[serde(borrow)]
    field_path: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct MountView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    mount_path: Text<'a>,
    read_only: Option<bool>,
    #[serde(borrow)]
    sub_path_expr: Text<'a>,
}

/// The name, and one field that says what the volume is made of.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct VolumeView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    persistent_volume_claim: Option<ClaimView<'a>>,
    #[serde(borrow)]
    empty_dir: Option<EmptyDirView<'a>>,
    #[serde(borrow)]
    host_path: Option<HostPathView<'a>>,
    #[serde(borrow)]
    csi: Option<CsiView<'a>>,
    ephemeral: Option<IgnoredAny>,
    nfs: Option<NetworkView>,
    config_map: Option<IgnoredAny>,
    secret: Option<IgnoredAny>,
    #[serde(borrow, flatten)]
    others: BTreeMap<Text<'a>, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ClaimView<'a> {
    #[serde(borrow)]
    claim_name: Text<'a>,
    read_only: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NetworkView {
    read_only: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EmptyDirView<'a> {
    #[serde(borrow)]
    medium: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HostPathView<'a> {
    #[serde(borrow)]
    path: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CsiView<'a> {
    #[serde(borrow)]
    driver: Text<'a>,
    read_only: Option<bool>,
    #[serde(borrow, deserialize_with = "or_default")]
    volume_attributes: BTreeMap<Text<'a>, Text<'a>>,
}

impl TemplateView<'_> {
    fn template(&self) -> Template<'_> {
        Template {
            containers: self.spec.containers.iter().map(ContainerView::container).collect(),
            sidecars: self.spec.sidecars().map(ContainerView::container).collect(),
            shares_processes: self.spec.share_process_namespace,
            volumes: self.spec.volumes.iter().map(VolumeView::volume).collect(),
            annotations: self.metadata.annotations.iter().map(|(key, value)| (&**key, &**value)).collect(),
            grace_seconds: self.spec.termination_grace_period_seconds,
        }
    }
}

impl<'a> DetailView<'a> {
    /// The init containers that go on beside the others (`IsRestartableInitContainer`, kubernetes
    /// `pkg/api/v1/pod/util.go`).
    fn sidecars(&self) -> impl Iterator<Item = &ContainerView<'a>> {
        self.init_containers.iter().filter(|container| &*container.restart_policy == "Always")
    }
}

impl ContainerView<'_> {
    fn container(&self) -> Container<'_> {
        Container {
            name: &self.name,
            image: &self.image,
            command: self.command.iter().map(|word| &**word).collect(),
            args: self.args.iter().map(|word| &**word).collect(),
            working_dir: self.working_dir.some(),
            env: self.env.iter().map(|it| (&*it.name, it.value())).collect(),
            env_from: !self.env_from.is_empty(),
            mounts: self.volume_mounts.iter().map(MountView::mount).collect(),
        }
    }
}

impl MountView<'_> {
    fn mount(&self) -> Mount<'_> {
        Mount {
            volume: &self.name,
            path: &self.mount_path,
            is_read_only: self.read_only == Some(true),
            sub_path: self.sub_path_expr.some(),
        }
    }
}

/// How the value of a variable begins that a recording does not tell. It is the same at each start.
pub(crate) const NOT_RECORDED: &str = "(not recorded)";

impl VariableView<'_> {
    fn value(&self) -> checkpoint::Value<'_> {
        use checkpoint::Value;
        let Some(from) = &self.value_from else {
            let is_told = !self.value.starts_with(NOT_RECORDED);
            return if is_told { Value::Told(&self.value) } else { Value::Configured };
        };
        let is_configured = [&from.config_map, &from.secret, &from.resource];
        match &from.field {
            Some(field) => Value::Field(&field.field_path),
            None if is_configured.iter().any(|source| source.is_some()) => Value::Configured,
            None => Value::Unknown,
        }
    }
}

impl VolumeView<'_> {
    fn volume(&self) -> Volume<'_> {
        Volume { name: &self.name, source: self.source(), is_read_only: self.is_read_only() }
    }

    fn is_read_only(&self) -> bool {
        let claim = self.persistent_volume_claim.as_ref().and_then(|claim| claim.read_only);
        let csi = self.csi.as_ref().and_then(|csi| csi.read_only);
        let nfs = self.nfs.as_ref().and_then(|nfs| nfs.read_only);
        let others = self.others.values().map(|other| other["readOnly"].as_bool());
        // As `mount` and the drivers that mount buckets take it.
        let options = |csi: &CsiView| csi.volume_attributes.get("mountOptions").is_some_and(|all| is_option(all, "ro"));
        [claim, csi, nfs].into_iter().chain(others).any(|is| is == Some(true)) || self.csi.as_ref().is_some_and(options)
    }

    fn source(&self) -> VolumeSource<'_> {
        if let Some(claim) = &self.persistent_volume_claim {
            return VolumeSource::PersistentVolumeClaim(&claim.claim_name);
        }
        if let Some(csi) = &self.csi {
            // As Cloud Storage FUSE, Mountpoint for S3, and Azure Blob call it.
            let names = ["bucketName", "bucket", "containerName"];
            let bucket = names.iter().find_map(|name| csi.volume_attributes.get(*name)?.some());
            return VolumeSource::Csi { driver: &csi.driver, bucket };
        }
        if let Some(host_path) = &self.host_path {
            return VolumeSource::HostPath(&host_path.path);
        }
        if self.ephemeral.is_some() {
            return VolumeSource::Ephemeral;
        }
        if self.nfs.is_some() {
            return VolumeSource::Nfs;
        }
        if self.config_map.is_some() || self.secret.is_some() {
            return VolumeSource::ConfigMapOrSecret;
        }
        match (&self.empty_dir, self.others.keys().next()) {
            (Some(empty), _) => VolumeSource::EmptyDir { memory: &*empty.medium == "Memory" },
            (None, Some(field)) => VolumeSource::Other(field),
            // A volume without a source is an emptyDir (`core/v1` defaults).
            (None, None) => VolumeSource::EmptyDir { memory: false },
        }
    }
}

fn is_option(all: &str, wanted: &str) -> bool {
    all.split(',').any(|option| option.trim() == wanted)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checkpoint::Kind;

    fn trainer(args: &[&str], volume: &serde_json::Value) -> Option<Arc<Checkpoints>> {
        let template = json!({"metadata": {"labels": null}, "spec": {
            "terminationGracePeriodSeconds": 120,
            "containers": [{
                "name": "trainer", "image": "trainer:1", "command": ["python3", "pretrain_gpt.py"], "args": args,
                "env": [{"name": "OUT", "value": "/ckpt/run"}, {"name": "NODE", "valueFrom": {"fieldRef": {}}}],
                "volumeMounts": [{"name": "ckpt", "mountPath": "/ckpt"}],
            }],
            "volumes": [volume],
        }});
        checkpoints_of(&template.to_string())
    }

    #[test]
    fn a_place_is_followed_to_what_the_volume_is_made_of() {
        for (volume, kind) in [
            (json!({"name": "ckpt", "persistentVolumeClaim": {"claimName": "run"}}), Kind::Claim),
            (json!({"name": "ckpt", "emptyDir": {}}), Kind::EmptyDir),
            (json!({"name": "ckpt", "emptyDir": {"medium": "Memory"}}), Kind::Memory),
            (json!({"name": "ckpt"}), Kind::EmptyDir),
            (json!({"name": "ckpt", "hostPath": {"path": "/mnt"}}), Kind::NodeBound),
            (json!({"name": "ckpt", "nfs": {"server": "s", "path": "/"}}), Kind::NetworkVolume),
            (json!({"name": "ckpt", "ephemeral": {"volumeClaimTemplate": {}}}), Kind::EphemeralClaim),
            (
                json!({"name": "ckpt", "csi": {"driver": "gcsfuse.csi.storage.gke.io", "volumeAttributes": {"bucketName": "b"}}}),
                Kind::ObjectStore,
            ),
            (json!({"name": "ckpt", "cephfs": {"monitors": []}}), Kind::NetworkVolume),
            (json!({"name": "ckpt", "newerThanThis": {}}), Kind::Unknown),
            (json!({"name": "other", "emptyDir": {}}), Kind::Claim),
        ] {
            let found = trainer(&["--save", "$(OUT)", "--load", "$(OUT)"], &volume).unwrap();
            assert_eq!(found.saves.answer, Answer::Yes, "{volume}");
            assert_eq!(found.saves.place.as_deref(), Some("/ckpt/run"), "{volume}");
            assert_eq!(found.durable.kind, kind, "{volume}");
        }
    }

    #[test]
    fn a_value_is_as_steady_as_where_it_comes_from() {
        let map = json!({"configMapKeyRef": {"name": "c", "key": "k"}});
        for (from, resumes) in [
            (map, Answer::Yes),
            (json!({"secretKeyRef": {"name": "s", "key": "k"}}), Answer::Yes),
            (json!({"resourceFieldRef": {"resource": "limits.cpu"}}), Answer::Yes),
            (json!({"fieldRef": {"fieldPath": "metadata.name"}}), Answer::Unknown),
            (json!({"fieldRef": {"fieldPath": "metadata.namespace"}}), Answer::Yes),
            (json!({"fileKeyRef": {"volumeName": "v", "path": "p", "key": "k"}}), Answer::Unknown),
            (json!({"newerThanThis": {}}), Answer::Unknown),
            (json!({}), Answer::Unknown),
        ] {
            let template = json!({"spec": {"containers": [{
                "name": "trainer", "command": ["python3", "pretrain_gpt.py"],
                "args": ["--save", "/c/$(RUN)", "--load", "/c/$(RUN)"], "env": [{"name": "RUN", "valueFrom": from}],
            }]}});
            let found = checkpoints_of(&template.to_string()).unwrap();
            assert_eq!(found.resumes.answer, resumes, "{from}");
        }
    }

    #[test]
    fn what_is_for_reading_alone_keeps_nothing() {
        let claim = |more: &str| format!(r#"{{"name": "ckpt", "persistentVolumeClaim": {{"claimName": "c"{more}}}}}"#);
        for (volume, answer) in [
            (claim(""), Answer::Yes),
            (claim(r#", "readOnly": null"#), Answer::Yes),
            (claim(r#", "readOnly": true"#), Answer::No),
            (r#"{"name": "ckpt", "nfs": {"server": "s", "path": "/", "readOnly": true}}"#.to_owned(), Answer::No),
            (r#"{"name": "ckpt", "cephfs": {"monitors": [], "readOnly": true}}"#.to_owned(), Answer::No),
            (r#"{"name": "ckpt", "cephfs": {"monitors": [], "readOnly": false}}"#.to_owned(), Answer::Yes),
            (r#"{"name": "ckpt", "csi": {"driver": "nfs.csi.k8s.io", "readOnly": true}}"#.to_owned(), Answer::No),
            (
                r#"{"name": "ckpt", "csi": {"driver": "gcsfuse.csi.storage.gke.io",
                    "volumeAttributes": {"bucketName": "b", "mountOptions": "implicit-dirs, ro"}}}"#
                    .to_owned(),
                Answer::No,
            ),
            (
                r#"{"name": "ckpt", "csi": {"driver": "gcsfuse.csi.storage.gke.io",
                    "volumeAttributes": {"bucketName": "b", "mountOptions": "rw,root"}}}"#
                    .to_owned(),
                Answer::Yes,
            ),
        ] {
            let found = trainer(&["--save", "/ckpt"], &serde_json::from_str(&volume).unwrap()).unwrap();
            assert_eq!(found.durable.answer, answer, "{volume}");
        }
        for (mount, resumes, durable) in [
            (json!({}), Answer::Yes, Answer::Yes),
            (json!({"readOnly": true}), Answer::No, Answer::No),
            (json!({"subPath": "x"}), Answer::Yes, Answer::Yes),
            (json!({"subPathExpr": "$(NODE)"}), Answer::Unknown, Answer::Yes),
        ] {
            let mut mounted = json!({"name": "c", "mountPath": "/c"});
            mounted.as_object_mut().unwrap().extend(mount.as_object().unwrap().clone());
            let template = json!({"spec": {
                "containers": [{
                    "name": "trainer", "command": ["python3", "pretrain_gpt.py", "--save", "/c", "--load", "/c"],
                    "env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                    "volumeMounts": [mounted],
                }],
                "volumes": [{"name": "c", "persistentVolumeClaim": {"claimName": "c"}}],
            }});
            let found = checkpoints_of(&template.to_string()).unwrap();
            assert_eq!((found.resumes.answer, found.durable.answer), (resumes, durable), "{mount}");
        }
    }

    #[test]
    fn what_runs_beside_the_trainer_is_seen() {
        let beside = |field: &str, container: serde_json::Value| {
            let mut template = json!({"spec": {
                "containers": [{"name": "trainer", "command": ["torchrun", "pretrain_gpt.py"], "args": ["--save", "/ckpt"],
                    "envFrom": [{"configMapRef": {"name": "c"}}], "volumeMounts": [{"name": "ckpt", "mountPath": "/ckpt"}]}],
                "initContainers": null, "volumes": [{"name": "ckpt", "emptyDir": {}}],
            }});
            let all = &mut template["spec"][field];
            match all.as_array_mut() {
                Some(all) => all.push(container),
                None => *all = json!([container]),
            }
            checkpoints_of(&template.to_string()).unwrap().durable.answer
        };
        let other = |policy: serde_json::Value, volume: &str| json!({"name": "other", "restartPolicy": policy, "volumeMounts": [{"name": volume, "mountPath": "/x"}]});
        for (field, container, answer) in [
            ("containers", other(json!(null), "ckpt"), Answer::Unknown),
            ("containers", other(json!(null), "data"), Answer::No),
            ("initContainers", other(json!("Always"), "ckpt"), Answer::Unknown),
            ("initContainers", other(json!("Always"), "data"), Answer::No),
            // It has ended before the first checkpoint is saved.
            ("initContainers", other(json!(null), "ckpt"), Answer::No),
            ("initContainers", other(json!("OnFailure"), "ckpt"), Answer::No),
        ] {
            assert_eq!(beside(field, container.clone()), answer, "{field}: {container}");
        }
    }

    #[test]
    fn what_shows_no_sign_is_none_and_odd_types_are_too() {
        let plain = json!({"spec": {"containers": [{"name": "a", "command": ["/bin/etl"]}]}}).to_string();
        for template in [&*plain, "{}", "null", "[]", r#"{"spec":{"containers":[{"args":"--save /x"}]}}"#, "{"] {
            assert_eq!(checkpoints_of(template), None, "{template}");
        }
    }
}
