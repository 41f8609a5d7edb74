use schemars::JsonSchema;
use serde::Serialize;

use super::Moment;

/// What the tool can see of a cluster, and what not.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Doctor {
    /// `kubectl-sigapps/v1alpha1`.
    pub api_version: &'static str,
    /// `Doctor`.
    pub kind: &'static str,
    /// By this machine's clock.
    pub as_of: Moment,
    /// The answer, in one sentence.
    pub summary: String,
    /// Whether all rights are there without which there is no report; `null` where that could not be found out.
    pub can_read: Option<bool>,
    /// What is wrong, where no cluster could be asked; `null` where one could.
    pub problem: Option<DoctorProblem>,
    /// What has to go well before a cluster answers, in its order.
    pub steps: Vec<DoctorStep>,
    /// The tool itself.
    pub tool: DoctorTool,
    /// The kubeconfig.
    pub kubeconfig: DoctorKubeconfig,
    /// How the cluster is reached; `null` where none could be chosen.
    pub connection: Option<DoctorConnection>,
    /// What would be read; `null` where it is not known.
    pub namespace: Option<DoctorNamespace>,
    /// The server; `null` where none answered.
    pub server: Option<DoctorServer>,
    /// The API groups that are read; empty where no server told of them.
    pub groups: Vec<DoctorGroup>,
    /// What the server can do beyond its version.
    pub features: Vec<DoctorFeature>,
    /// The user's rights, by what is lost without them; empty where no server was asked.
    pub tiers: Vec<DoctorTier>,
    /// What gives the rights that are missing; empty where none is.
    pub grants: Vec<DoctorGrant>,
    /// What else a reader should know, and what cannot be known.
    pub notes: Vec<String>,
}

/// Why no cluster could be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorProblem {
    /// The step that failed.
    pub step: DoctorStepName,
    /// What went wrong.
    pub message: String,
    /// What to do.
    pub fix: String,
}

/// A step on the way to an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorStep {
    /// Which.
    pub name: DoctorStepName,
    /// How it went.
    pub state: DoctorStepState,
}

/// The steps, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DoctorStepName {
    /// A kubeconfig is found and read, or a pod's service account.
    Kubeconfig,
    /// The context, and the cluster and user that it names, are in it.
    Context,
    /// Addresses, certificates and flags can be used.
    Settings,
    /// Credentials are had: from a token file, or from a plugin.
    Credentials,
    /// The server's name, or the proxy's, has an address.
    NameLookup,
    /// A connection is made, through the proxy where there is one.
    Connection,
    /// The certificates are accepted.
    Tls,
    /// The server answers as an API server does.
    Answer,
    /// The server knows the user.
    SignIn,
}

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DoctorStepState {
    /// Well.
    Passed,
    /// It failed.
    Failed,
    /// It was not come to.
    NotReached,
}

/// The tool itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorTool {
    /// Its version.
    pub version: String,
    /// The commit that it was built from; `null` where the build did not say.
    pub commit: Option<String>,
    /// Operating system and processor by Go's names, as kubectl tells its own: `linux/amd64`.
    pub platform: String,
}

/// The kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorKubeconfig {
    /// What names the files.
    pub named_by: DoctorNamedBy,
    /// The files that were looked at, in their order; the first to set something wins.
    pub files: Vec<DoctorFile>,
    /// How many contexts are in them.
    pub contexts: usize,
}

/// What names the kubeconfig files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DoctorNamedBy {
    /// `--kubeconfig`.
    Flag,
    /// The variable `KUBECONFIG`.
    Variable,
    /// Nothing: it is the home folder's.
    Default,
}

/// A kubeconfig file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorFile {
    /// Its path; `~` is the home folder.
    pub path: String,
    /// What became of it.
    pub state: DoctorFileState,
    /// Why it could not be read.
    pub message: Option<String>,
}

/// What became of a kubeconfig file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DoctorFileState {
    /// It was read.
    Read,
    /// There is none; it was passed over, as kubectl does.
    Absent,
    /// It is there, and cannot be read.
    Unreadable,
}

/// How a cluster is reached. No secret, no argument of a plugin, no path or query of an address is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorConnection {
    /// The context's name, `in-cluster`, or the server's address where flags alone lead there.
    pub context: String,
    /// Host and port of the API server.
    pub server: String,
    /// Whether it is `https`. Credentials are sent to no other.
    pub secure: bool,
    /// How the user signs in, in the order in which it counts; empty for not at all.
    pub sign_in: Vec<DoctorSignIn>,
    /// The user that is impersonated (`--as`).
    pub impersonates: Option<String>,
    /// The proxy.
    pub proxy: DoctorProxy,
    /// TLS; `null` where it is not spoken.
    pub tls: Option<DoctorTls>,
}

/// One way to sign in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorSignIn {
    /// How.
    pub by: DoctorSignInBy,
    /// The plugin's program, the provider's name or the token's file.
    pub name: Option<String>,
}

/// How a user signs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DoctorSignInBy {
    /// The service account of the pod that this is.
    ServiceAccount,
    /// A credential plugin.
    Plugin,
    /// A token in the kubeconfig or in a flag.
    Token,
    /// A token in a file.
    TokenFile,
    /// A client certificate.
    Certificate,
    /// Name and password.
    Password,
    /// An authentication provider of the kubeconfig.
    Provider,
}

/// The proxy on the way to the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorProxy {
    /// Scheme, host and port; `null` for the direct way.
    pub url: Option<String>,
    /// Why it is that one, or none.
    pub because: DoctorProxyReason,
    /// The variable that says so.
    pub variable: Option<&'static str>,
}

/// Why a proxy is used, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DoctorProxyReason {
    /// `--proxy-url`.
    Flag,
    /// `proxy-url` of the kubeconfig's cluster.
    Kubeconfig,
    /// A variable names it.
    Variable,
    /// None is set.
    NoneSet,
    /// The server is this machine, and a variable's proxy is not for that.
    Loopback,
    /// A variable says that the server is reached without.
    NoProxy,
}

/// How the server's certificate is checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorTls {
    /// Against what.
    pub authority: DoctorAuthority,
    /// The authority's file.
    pub file: Option<String>,
    /// The name that is looked for in the certificate, where it is not the host's.
    pub server_name: Option<String>,
}

/// What a server's certificate is checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DoctorAuthority {
    /// The kubeconfig's `certificate-authority-data`.
    Given,
    /// A file.
    File,
    /// The authorities that this machine trusts.
    System,
    /// Nothing (`insecure-skip-tls-verify`).
    Unchecked,
}

/// What would be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorNamespace {
    /// Its name; `null` for all (`-A`).
    pub name: Option<String>,
    /// Whether it is there.
    pub state: DoctorNamespaceState,
}

/// Whether a namespace is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DoctorNamespaceState {
    /// It is.
    There,
    /// It is being deleted.
    Ending,
    /// It is not.
    Absent,
    /// It may not be read, or was not asked for.
    Unknown,
}

/// The server.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorServer {
    /// Its version; `null` where it is not told.
    pub version: Option<String>,
    /// Operating system and processor.
    pub platform: Option<String>,
    /// Whether this version is tested.
    pub support: DoctorSupport,
    /// The oldest and the newest version of Kubernetes that is tested.
    pub tested: [String; 2],
    /// Seconds that the first answer took, the connection included.
    pub first_answer_seconds: f64,
    /// Seconds that an answer took on the connection that stands; `null` where there was none.
    pub answer_seconds: Option<f64>,
    /// The server's clock beside this machine's; `null` where the server does not tell its time.
    pub clock: Option<DoctorClock>,
}

/// Whether a version of Kubernetes is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DoctorSupport {
    /// It is.
    Tested,
    /// It is older: it is read all the same.
    Older,
    /// It is newer: it is read all the same.
    Newer,
    /// The version is not known.
    Unknown,
}

/// How far the server's clock is ahead of this machine's, in seconds; negative where it is behind. A server tells whole
/// seconds, and an answer takes its time, so that only bounds are known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorClock {
    /// At least this much.
    pub ahead_at_least: f64,
    /// At most this much.
    pub ahead_at_most: f64,
}

/// An API group that is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorGroup {
    /// Its name.
    pub name: String,
    /// Whether it is there.
    pub state: DoctorGroupState,
    /// Its versions, the preferred one first.
    pub versions: Vec<String>,
    /// The version that is read; `null` where none is served.
    pub reads: Option<String>,
    /// The resources that are read of it.
    pub resources: Vec<String>,
    /// Of these, those that the version does not have.
    pub lacks: Vec<String>,
    /// Why it is not known which it has.
    pub message: Option<String>,
}

/// Whether an API group is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DoctorGroupState {
    /// It is.
    Served,
    /// It is not.
    NotInstalled,
    /// The server does not tell.
    Unknown,
}

/// Something that a server can or cannot do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorFeature {
    /// What.
    pub name: &'static str,
    /// Whether it can; `null` where that is not known.
    pub there: Option<bool>,
    /// What follows from it, or why it is not known.
    pub message: String,
}

/// Rights that are granted together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorTier {
    /// Its name: `core`, `workloads`, `context`, `watch`, `record`, `restart`.
    pub name: &'static str,
    /// What they are for.
    pub purpose: &'static str,
    /// The file that publishes them.
    pub file: String,
    /// What is lost without any of them.
    pub without: &'static str,
    /// How many of them are there.
    pub allowed: usize,
    /// How many are denied.
    pub denied: usize,
    /// How many are about what is not installed.
    pub not_installed: usize,
    /// Of how many it could not be found out.
    pub unknown: usize,
    /// Each of them.
    pub rights: Vec<DoctorRight>,
}

/// A right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorRight {
    /// The verb.
    pub verb: String,
    /// Plural, subresource and group as RBAC names them: `jobs.batch`, `pods/log`.
    pub resource: String,
    /// Only on the object of this name.
    pub name: Option<String>,
    /// The role that grants it.
    pub role: String,
    /// Whether it is there.
    pub state: DoctorRightState,
    /// Why it is denied, by the authorizer's words, or why it is not known.
    pub reason: Option<String>,
    /// What is lost without it.
    pub without: &'static str,
}

/// Whether a right is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DoctorRightState {
    /// It is.
    Allowed,
    /// It is not.
    Denied,
    /// There is nothing to have a right to.
    NotInstalled,
    /// It could not be found out.
    Unknown,
}

/// What gives rights that are missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorGrant {
    /// The tier that they belong to.
    pub tier: &'static str,
    /// What is given.
    pub text: String,
    /// The commands, for somebody who may grant rights, in a clone of the project's repository: `rbac/` is a folder of it.
    pub commands: Vec<String>,
}
