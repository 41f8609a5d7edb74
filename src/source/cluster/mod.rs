//! Reads a cluster: kubeconfig and flags → client → lists, page by page → [`Intake`] → [`Snapshot`].
//!
//! The kubeconfig is found, merged and overridden by client-go's rules, so that the tool reads the cluster that kubectl
//! would. Lists are read side by side and each in one stream, from the connection through the splitter into small
//! structs; at no time is a page held whole.

mod api;
mod body;
mod call;
mod checkup;
mod detail;
mod environment;
mod error;
mod fault;
mod interrupt;
mod kubeconfig;
mod list;
mod live;
mod names;
mod others;
mod page;
mod path;
mod plugin;
mod proxy;
mod reach;
mod reading;
mod session;
mod several;
mod storage;
mod targets;
mod timeout;
mod watch;
mod way;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use api::{Api, Patience};
use list::{Lister, Outcome};
use reach::Reach;
use reading::{Outcomes, Reading};

pub use checkup::{
    Answer, Checkup, Exchange, GroupFound, NamespaceFound, Question, Questions, ServerVersion, Who, check,
};
pub use environment::Environment;
pub use error::ClusterError;
pub use live::{Live, Turn};
pub use names::{Configured, Named, configured, names};
pub(crate) use reading::OF_WORKLOADS;
pub(crate) use session::FIELD_MANAGER;
pub use session::{Object, RequestError, Session};
pub use several::{Came, Found, Place, Take, Talk, contexts, contexts_in, read_each, read_each_in};
pub use timeout::{TimeoutError, parse_timeout};
pub use watch::{Change, ChangeKind, Interest, Look, Pace, Told, Watch};
pub use way::{Authority, LookedAt, NamedBy, ProxyReason, ProxyUsed, SignIn, Way, way};

use super::{Intake, Resource, Snapshot, Source, SourceState};
use crate::model::Time;
use crate::request::{Connection, Scope};

/// The namespace that kubectl would use: the one asked for, the context's, a pod's own, or `default`.
pub fn default_namespace(connection: &Connection) -> Result<String, ClusterError> {
    default_namespace_in(&Environment::of_process(), connection)
}

/// The same, in surroundings that are passed in.
pub fn default_namespace_in(environment: &Environment, connection: &Connection) -> Result<String, ClusterError> {
    reach::namespace(connection, environment)
}

/// Reads what `scope` asks for. `talk` gets one line at a time that the user should see: another try, a source that
/// could not be read.
///
/// An error means that Jobs or pods could not be read at all; what became of the other sources is in
/// [`Snapshot::sources`]. Targets need a namespace. The selector is applied to what was read, not sent: a Job's labels
/// are not its pods'.
pub fn read(connection: &Connection, scope: &Scope, talk: &mut dyn FnMut(&str)) -> Result<Snapshot, ClusterError> {
    read_in(&Environment::of_process(), connection, scope, talk)
}

/// The same, in surroundings that are passed in.
pub fn read_in(
    environment: &Environment,
    connection: &Connection,
    scope: &Scope,
    talk: &mut dyn FnMut(&str),
) -> Result<Snapshot, ClusterError> {
    read_cluster(environment, connection, scope, false, talk).map(|read| read.snapshot)
}

/// A cluster that was read.
pub(super) struct ReadCluster {
    snapshot: Snapshot,
    /// The uid of its namespace `kube-system`; `None` where it was not asked for, or may not be read.
    uid: Option<String>,
}

/// The same; `identify` asks which cluster it is.
fn read_cluster(
    environment: &Environment,
    connection: &Connection,
    scope: &Scope,
    identify: bool,
    talk: &mut dyn FnMut(&str),
) -> Result<ReadCluster, ClusterError> {
    let reach = reach::reach(connection, environment)?;
    let name = reach.name.clone();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| ClusterError::Process(error.to_string()))?;
    let intake = Arc::new(Mutex::new(Intake::new(scope.into())));
    let patience = Patience::new(connection.request_timeout);
    let read = runtime.block_on(run(reach, patience, scope, identify, &intake, talk));
    // A look-up of a name that hangs must not hold up the error.
    runtime.shutdown_background();
    let (outcomes, uid) = read?;
    let snapshot = snapshot_of(&name, outcomes, &intake);
    tell_of(&snapshot.sources, talk);
    Ok(ReadCluster { snapshot, uid })
}

/// Reads what `scope` asks for with a client that is there already; nothing is said.
async fn look<'a>(api: &'a Api<'a>, cluster: &str, scope: &'a Scope) -> Result<Snapshot, ClusterError> {
    let intake = Arc::new(Mutex::new(Intake::new(scope.into())));
    let lister = Lister { api, intake: Arc::clone(&intake), chunk_size: scope.chunk_size };
    let outcomes = all_of(&Reading { lister, namespace: scope.namespace.as_deref() }, scope).await?;
    Ok(snapshot_of(cluster, outcomes, &intake))
}

fn snapshot_of(cluster: &str, outcomes: Outcomes, intake: &Mutex<Intake>) -> Snapshot {
    let intake = std::mem::take(&mut *intake.lock().unwrap_or_else(PoisonError::into_inner));
    let sources: Vec<Source> = Resource::ALL
        .into_iter()
        .zip(outcomes)
        .map(|(resource, outcome)| source(cluster, resource, &outcome, intake.tally(resource).objects))
        .collect();
    Snapshot { cluster: Some(cluster.to_owned()), sources, ..intake.finish() }
}

/// Tells of what was not read.
fn tell_of(sources: &[Source], talk: &mut dyn FnMut(&str)) {
    for line in said(sources) {
        talk(&line);
    }
}

async fn run(
    reach: Reach,
    patience: Patience,
    scope: &Scope,
    identify: bool,
    intake: &Arc<Mutex<Intake>>,
    talk: &mut dyn FnMut(&str),
) -> Result<(Outcomes, Option<String>), ClusterError> {
    let destination = (&reach).into();
    let client = kube::Client::try_from(reach.config).map_err(|error| fault::client_error(&error))?;
    let api = Api::new(client, destination, patience, talk);
    let lister = Lister { api: &api, intake: Arc::clone(intake), chunk_size: scope.chunk_size };
    let reading = Reading { lister, namespace: scope.namespace.as_deref() };
    let uid = async { Ok(if identify { reading.cluster_uid().await } else { None }) };
    let read = tokio::try_join!(all_of(&reading, scope), uid)?;
    let is_empty = intake.lock().unwrap_or_else(PoisonError::into_inner).recognised() == 0;
    // One of several clusters may well be without a namespace that others have.
    if is_empty && !identify {
        reading.ensure_namespace().await?;
    }
    Ok(read)
}

/// Everything that `scope` asks for.
async fn all_of(reading: &Reading<'_>, scope: &Scope) -> Result<Outcomes, ClusterError> {
    if let Some(subject) = &scope.subject {
        return Box::pin(reading.detail(subject)).await;
    }
    let mut outcomes = match scope.targets.as_slice() {
        [] => Box::pin(reading.all()).await?,
        targets => Box::pin(reading.targets(targets)).await?,
    };
    let nodes = if scope.nodes {
        Box::pin(reading.nodes()).await?
    } else {
        Box::pin(reading.nodes_of_late_pods(now())).await?
    };
    detail::add(&mut outcomes, Resource::Nodes, nodes);
    Ok(outcomes)
}

/// The machine's clock; at its beginning where it stands before 1970, when no pod is late.
fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_seconds(i64::try_from(since.as_secs()).unwrap_or_default())
}

fn source(cluster: &str, resource: Resource, outcome: &Outcome, objects: u64) -> Source {
    let (skipped, message) = (outcome.skips.count, outcome.message());
    Source { objects, skipped, message, ..Source::of_cluster(cluster, resource.name(), outcome.state) }
}

/// The lines that tell of sources that were not read to their end. What is denied of one API group is told in one.
pub(crate) fn said(sources: &[Source]) -> Vec<String> {
    let denied: Vec<&Source> = sources.iter().filter(|source| source.state == SourceState::Denied).collect();
    sources.iter().filter_map(|source| line(source, &denied)).collect()
}

/// Of what is denied of one API group, the first source has the line.
fn line(source: &Source, denied: &[&Source]) -> Option<String> {
    let Source { resource, message, .. } = source;
    let message = message.as_deref().unwrap_or_default();
    match source.state {
        // Said by whoever reads several clusters.
        SourceState::Read
        | SourceState::NotInstalled
        | SourceState::NotAsked
        | SourceState::Unreachable
        | SourceState::Gap => None,
        SourceState::Denied => {
            let group = |source: &Source| Resource::named(&source.resource).map(Resource::group).unwrap_or_default();
            let of = group(source);
            let same = |other: &&&Source| !of.is_empty() && group(other) == of;
            let alike: Vec<&str> = denied.iter().filter(same).map(|other| other.resource.as_str()).collect();
            match alike.split_first() {
                Some((first, _)) if *first != resource => None,
                Some((_, [_, ..])) => {
                    Some(format!("{} are left out, reading them was refused: {message}", alike.join(", ")))
                }
                _ => Some(format!("{resource} are left out, reading them was refused: {message}")),
            }
        }
        SourceState::Truncated | SourceState::Unreadable => Some(format!("{resource}: {message}")),
    }
}
