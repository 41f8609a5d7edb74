//! Agent Sandboxes: the sandbox itself, what claims one, and the pool that keeps some ready.

use serde::Deserialize;

use super::condition::ConditionView;
use super::time::MaybeTime;
use super::{Head, Interner, MetaView, ObjectView, Text, Time, View, Word, or_default};

/// An `agents.x-k8s.io` `Sandbox` as it is read: `v1beta1`, or `v1alpha1`, which has `replicas` for `operatingMode`.
pub(crate) type SandboxView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SpecView<'a> {
    #[serde(borrow)]
    operating_mode: Text<'a>,
    replicas: Option<u32>,
    shutdown_time: MaybeTime,
    #[serde(borrow)]
    shutdown_policy: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    volume_claim_templates: Vec<ClaimTemplateView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    pod_template: PodTemplateView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClaimTemplateView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    metadata: MetaView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PodTemplateView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    spec: PodSpecView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PodSpecView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    volumes: Vec<VolumeView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct VolumeView<'a> {
    #[serde(borrow)]
    persistent_volume_claim: Option<ClaimNameView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ClaimNameView<'a> {
    #[serde(borrow)]
    claim_name: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StatusView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
}

/// What is kept of a `Sandbox`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// What all workloads have.
    pub head: Head,
    /// The name of its pod: its own, but where it was taken from a pool.
    pub pod: Word,
    /// Whether it is asked to have no pod: `spec.operatingMode` is `Suspended`, or `spec.replicas` is 0.
    pub suspended: bool,
    /// `spec.shutdownTime`.
    pub shutdown_time: Option<Time>,
    /// Whether it is deleted at that time: `spec.shutdownPolicy` is `Delete`.
    pub deleted_on_shutdown: bool,
    /// Claims that its pod mounts: they outlive the pod. Those of its own templates go with the `Sandbox`.
    pub claims: Box<[Word]>,
}

impl View for SandboxView<'_> {
    type Kept = Sandbox;

    fn newest_time(&self) -> Option<Time> {
        // `shutdownTime` lies ahead.
        self.metadata.newest_with(&self.status.conditions)
    }

    fn into_kept(self, interner: &mut Interner) -> Option<Sandbox> {
        let (metadata, spec) = (&self.metadata, &self.spec);
        let pod = metadata.annotations.sandbox_pod.some().unwrap_or(&metadata.name);
        let own = spec.volume_claim_templates.iter().map(|claim| format!("{}-{pod}", &*claim.metadata.name));
        let volumes = spec.pod_template.spec.volumes.iter();
        let named = volumes.filter_map(|volume| Some(volume.persistent_volume_claim.as_ref()?.claim_name.to_string()));
        Some(Sandbox {
            head: metadata.head(&self.status.conditions, interner),
            pod: interner.intern(pod),
            suspended: &*spec.operating_mode == "Suspended" || spec.replicas == Some(0),
            shutdown_time: spec.shutdown_time.0,
            deleted_on_shutdown: &*spec.shutdown_policy == "Delete",
            claims: own.chain(named).map(|claim| interner.intern(&claim)).collect(),
        })
    }
}

/// An `extensions.agents.x-k8s.io` `SandboxClaim` as it is read.
pub(crate) type SandboxClaimView<'a> = ObjectView<'a, ClaimSpecView<'a>, ClaimStatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ClaimSpecView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    warm_pool_ref: NameView<'a>,
    /// Of `v1alpha1`.
    #[serde(borrow, deserialize_with = "or_default")]
    sandbox_template_ref: NameView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NameView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ClaimStatusView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    sandbox: NameView<'a>,
}

/// What is kept of a `SandboxClaim`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxClaim {
    /// What all workloads have.
    pub head: Head,
    /// `spec.warmPoolRef.name`.
    pub warm_pool: Option<Word>,
    /// `spec.sandboxTemplateRef.name`.
    pub template: Option<Word>,
    /// `status.sandbox.name`: the one that it was given.
    pub sandbox: Option<Word>,
}

impl View for SandboxClaimView<'_> {
    type Kept = SandboxClaim;

    fn newest_time(&self) -> Option<Time> {
        self.metadata.newest_with(&self.status.conditions)
    }

    fn into_kept(self, interner: &mut Interner) -> Option<SandboxClaim> {
        Some(SandboxClaim {
            head: self.metadata.head(&self.status.conditions, interner),
            warm_pool: interner.intern_some(&self.spec.warm_pool_ref.name),
            template: interner.intern_some(&self.spec.sandbox_template_ref.name),
            sandbox: interner.intern_some(&self.status.sandbox.name),
        })
    }
}

/// An `extensions.agents.x-k8s.io` `SandboxWarmPool` as it is read.
pub(crate) type SandboxWarmPoolView<'a> = ObjectView<'a, PoolSpecView<'a>, PoolStatusView>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PoolSpecView<'a> {
    #[serde(deserialize_with = "or_default")]
    replicas: u32,
    #[serde(borrow, deserialize_with = "or_default")]
    sandbox_template_ref: NameView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PoolStatusView {
    #[serde(deserialize_with = "or_default")]
    replicas: u32,
    #[serde(deserialize_with = "or_default")]
    ready_replicas: u32,
}

/// What is kept of a `SandboxWarmPool`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxWarmPool {
    /// What all workloads have.
    pub head: Head,
    /// `spec.sandboxTemplateRef.name`.
    pub template: Option<Word>,
    /// `spec.replicas`: sandboxes that should wait ready.
    pub replicas: u32,
    /// `status.replicas`: those that were made.
    pub made: u32,
    /// `status.readyReplicas`.
    pub ready: u32,
}

impl View for SandboxWarmPoolView<'_> {
    type Kept = SandboxWarmPool;

    fn newest_time(&self) -> Option<Time> {
        self.metadata.newest_with(&[])
    }

    fn into_kept(self, interner: &mut Interner) -> Option<SandboxWarmPool> {
        Some(SandboxWarmPool {
            head: self.metadata.head(&[], interner),
            template: interner.intern_some(&self.spec.sandbox_template_ref.name),
            replicas: self.spec.replicas,
            made: self.status.replicas,
            ready: self.status.ready_replicas,
        })
    }
}
