use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// An answer that may not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    /// The template or the framework's default says so.
    Yes,
    /// The template or the framework's default says that it is not.
    No,
    /// The template does not tell.
    Unknown,
}

/// What a pod template tells of checkpoints. It tells how the workload is configured, never that a checkpoint exists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Checkpoints {
    /// The framework recognised, by its own name.
    pub framework: Option<&'static str>,
    /// Whether it is configured to save checkpoints.
    pub saves: Saves,
    /// Whether it would take up a saved checkpoint when it is started again.
    pub resumes: Resumes,
    /// Whether what is saved outlives the pod.
    pub durable: Durable,
    /// What saves on SIGTERM, if anything does.
    pub sigterm: Option<Sigterm>,
    /// The evidence.
    pub signs: Vec<Sign>,
}

impl Checkpoints {
    /// Gives back the room that texts and lists were made with and do not need.
    pub(crate) fn shrink(&mut self) {
        let Self { saves, resumes, durable, sigterm, signs, framework: _ } = self;
        let mut optional = vec![&mut saves.place, &mut saves.every, &mut durable.claim];
        signs.shrink_to_fit();
        durable.loses.shrink_to_fit();
        let mut texts = vec![&mut saves.why, &mut resumes.why, &mut durable.why];
        texts.extend(sigterm.iter_mut().flat_map(|sigterm| [&mut sigterm.saver, &mut sigterm.why]));
        for sign in signs.iter_mut() {
            texts.push(&mut sign.path);
            optional.extend([&mut sign.container, &mut sign.value]);
        }
        texts.extend(optional.into_iter().flatten());
        texts.into_iter().for_each(String::shrink_to_fit);
    }
}

/// Whether checkpoints are configured to be saved, where, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Saves {
    /// The answer.
    pub answer: Answer,
    /// Why.
    pub why: String,
    /// The place as written, with variables replaced where their values are told, credentials cut.
    pub place: Option<String>,
    /// How often, as written: `500 steps`.
    pub every: Option<String>,
}

/// Whether a start could take up a saved checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Resumes {
    /// The answer.
    pub answer: Answer,
    /// Why.
    pub why: String,
}

/// Whether what is saved outlives the pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Durable {
    /// The answer.
    pub answer: Answer,
    /// What the place is made of.
    pub kind: Kind,
    /// Why.
    pub why: String,
    /// What would delete it.
    pub loses: Vec<Loss>,
    /// The claim it lies on, whose fate the caller judges. Where the template has a mount but no such volume, the
    /// mount's volume name, which is then that of a claim template.
    pub claim: Option<String>,
}

/// What a place is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// A bucket: `gs://`, `s3://`, or mounted.
    ObjectStore,
    /// A claim.
    Claim,
    /// A claim made for the pod.
    EphemeralClaim,
    /// NFS or another network volume.
    NetworkVolume,
    /// `emptyDir`.
    EmptyDir,
    /// The container's own file system.
    ContainerDisk,
    /// A disk or memory of the node.
    NodeBound,
    /// Memory of the pod.
    Memory,
    /// Not told.
    Unknown,
}

/// What would delete a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loss {
    /// A restart of the container.
    ContainerRestart,
    /// The end of the pod: any restart that makes a new one.
    PodDeletion,
    /// The loss of the node; on another node a new pod does not find it.
    NodeLoss,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ContainerRestart => "a restart of the container",
            Self::PodDeletion => "deletion of the pod",
            Self::NodeLoss => "loss of the node, or a start on another",
        })
    }
}

/// A saver on SIGTERM and the time it has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sigterm {
    /// What makes it save: `--enable_jit_checkpoint`.
    pub saver: String,
    /// Seconds between SIGTERM and SIGKILL.
    pub grace_seconds: i64,
    /// Whether these are Kubernetes' default.
    pub grace_is_default: bool,
    /// What is to be said of it.
    pub why: String,
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sign {
    /// The container; `None` for what belongs to the pod.
    pub container: Option<String>,
    /// Where it stands: `spec.containers[name=trainer].args[3]`.
    pub path: String,
    /// As written, variables replaced, credentials cut; `None` where the value comes from elsewhere.
    pub value: Option<String>,
}
