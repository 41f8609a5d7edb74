//! Several clusters, side by side.

use std::collections::HashMap;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};

use super::environment::Environment;
use super::error::ClusterError;
use super::reach::{self, ServerKey};
use super::{ReadCluster, kubeconfig, read_cluster};
use crate::request::{Connection, Scope, Target};
use crate::source::{Resource, Snapshot};

/// A cluster among several: the way to it, by one context of the kubeconfig.
#[derive(Clone, Debug)]
pub struct Place {
    /// Leads there by its context.
    pub connection: Connection,
    /// Whether all of its namespaces are read; else that of the flags, or the context's own.
    pub all_namespaces: bool,
}

/// What came of one of several.
#[derive(Debug)]
pub enum Came {
    /// It was read.
    Read(Box<Found>),
    /// Another place, by its index, is the same namespace, or all of them, of the same cluster: it is read there.
    SameAs(usize),
    /// It could not be read, but another place, by its index, is the same, and was.
    Instead(usize, ClusterError),
    /// None of the workloads that were asked for by name is there.
    Nothing,
    /// It could not be read.
    Failed(ClusterError),
}

/// What was read of one of several.
#[derive(Debug)]
pub struct Found {
    /// The data.
    pub snapshot: Snapshot,
    /// The namespace that was read; `None` for all.
    pub namespace: Option<String>,
    /// The workloads asked for by name that are not there.
    pub missing: Vec<Target>,
    /// Places before, by their indexes, that lead to the same cluster, and of which another namespace is read.
    pub beside: Vec<usize>,
}

/// Gets the lines that the user should see, with the place that they are about, from several threads.
pub type Talk<'a> = dyn Fn(usize, &str) + Sync + 'a;

/// Gets what came of each place, by its index. An error of its own ends all.
pub type Take<'a, E> = dyn FnMut(usize, Came) -> Result<(), E> + 'a;

/// Clusters read at once, each by several requests of its own. So many snapshots are held at most.
const AT_ONCE: usize = 8;

/// The names of the kubeconfig's contexts, in its order.
pub fn contexts(connection: &Connection) -> Result<Vec<String>, ClusterError> {
    contexts_in(&Environment::of_process(), connection)
}

/// The same, in surroundings that are passed in.
pub fn contexts_in(environment: &Environment, connection: &Connection) -> Result<Vec<String>, ClusterError> {
    let kubeconfig =
        kubeconfig::find(connection, environment)?.map_err(|looked| ClusterError::NoKubeconfig { looked })?;
    let mut names: Vec<String> = Vec::new();
    for context in kubeconfig.contexts {
        if !names.contains(&context.name) {
            names.push(context.name);
        }
    }
    Ok(names)
}

/// Reads several clusters side by side and hands over each in turn, in the order of `places`. What a cluster cannot give
/// is its own affair: the others are read all the same.
///
/// Two places that are provably the same are read, or at least handed over, once: by the same server and authority, or by
/// the uid of the namespace `kube-system`, which lives as long as its cluster.
pub fn read_each<E>(places: &[Place], scope: &Scope, talk: &Talk, take: &mut Take<E>) -> Result<(), E> {
    read_each_in(&Environment::of_process(), places, scope, talk, take)
}

/// The same, in surroundings that are passed in.
pub fn read_each_in<E>(
    environment: &Environment,
    places: &[Place],
    scope: &Scope,
    talk: &Talk,
    take: &mut Take<E>,
) -> Result<(), E> {
    let tasks = tasks(environment, places);
    let (senders, receivers): (Vec<_>, Vec<_>) = tasks.iter().map(|_| sync_channel(0)).unzip();
    let queue = Mutex::new(tasks.iter().zip(senders));
    std::thread::scope(|threads| {
        for _ in 0..AT_ONCE.min(tasks.len()) {
            threads.spawn(|| {
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((task, sender)) = next else { break };
                    let read = task.read(environment, places, scope, talk);
                    // A worker goes on when its snapshot has been taken, so that few are held. Nobody takes it where what is
                    // printed has lost its reader.
                    if sender.send(read).is_err() {
                        break;
                    }
                }
            });
        }
        let mut seen = Seen::default();
        let mut came: Vec<Option<Came>> = places.iter().map(|_| None).collect();
        let mut taken = 0;
        // Tasks are begun in their order, so that the one that is waited for here is always under way.
        for (task, receiver) in tasks.iter().zip(receivers) {
            let Ok(read) = receiver.recv() else { break };
            for (place, outcome) in seen.settle(task, read) {
                came[place] = Some(outcome);
            }
            while let Some(outcome) = came.get_mut(taken).and_then(Option::take) {
                take(taken, outcome)?;
                taken += 1;
            }
        }
        Ok(())
    })
}

/// Places that are one: the same server, and the same namespace of it.
struct Task {
    server: Option<ServerKey>,
    /// Indexes, in order: where one cannot be read, another user may be let in.
    places: Vec<usize>,
}

/// What was read by a task: of each place that was tried, in order, what came of it. The last may be good.
type Tried = Vec<(usize, Result<Answer, ClusterError>)>;

struct Answer {
    read: Option<ReadCluster>,
    namespace: Option<String>,
    missing: Vec<Target>,
}

fn tasks(environment: &Environment, places: &[Place]) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut known: HashMap<(ServerKey, Option<String>), usize> = HashMap::new();
    for (number, place) in places.iter().enumerate() {
        // What is wrong with a context is told when it is read.
        let server = reach::server_key(&place.connection, environment).ok();
        let key = server.clone().zip(place.namespace(environment).ok());
        if let Some(task) = key.as_ref().and_then(|key| known.get(key)) {
            tasks[*task].places.push(number);
        } else {
            known.extend(key.map(|key| (key, tasks.len())));
            tasks.push(Task { server, places: vec![number] });
        }
    }
    tasks
}

impl Place {
    fn namespace(&self, environment: &Environment) -> Result<Option<String>, ClusterError> {
        if self.all_namespaces { Ok(None) } else { reach::namespace(&self.connection, environment).map(Some) }
    }

    fn read(
        &self,
        environment: &Environment,
        scope: &Scope,
        talk: &mut dyn FnMut(&str),
    ) -> Result<Answer, ClusterError> {
        let namespace = self.namespace(environment)?;
        let mut scope = Scope { namespace: namespace.clone(), ..scope.clone() };
        let mut missing = Vec::new();
        loop {
            let error = match read_cluster(environment, &self.connection, &scope, true, talk) {
                Ok(read) => return Ok(Answer { read: Some(read), namespace, missing }),
                Err(error) => error,
            };
            // What one cluster lacks another may have: the rest is asked for again.
            let (not_there, there): (Vec<Target>, Vec<Target>) =
                std::mem::take(&mut scope.targets).into_iter().partition(|target| is_missing(target, &error));
            if not_there.is_empty() {
                return Err(error);
            }
            missing.extend(not_there);
            if there.is_empty() {
                return Ok(Answer { read: None, namespace, missing });
            }
            scope.targets = there;
        }
    }
}

/// Whether an error says that a workload asked for by name is not there.
fn is_missing(target: &Target, error: &ClusterError) -> bool {
    let of = Resource::of(target.kind);
    match error {
        ClusterError::NotFound { resource, name, .. } => *name == target.name && *resource == of.rbac_name(),
        ClusterError::NotInstalled { resource } => *resource == of.name(),
        _ => false,
    }
}

impl Task {
    fn read(&self, environment: &Environment, places: &[Place], scope: &Scope, talk: &Talk) -> Tried {
        let mut tried = Tried::new();
        for &number in &self.places {
            let read = places[number].read(environment, scope, &mut |line| talk(number, line));
            let is_good = read.is_ok();
            tried.push((number, read));
            if is_good {
                break;
            }
        }
        tried
    }
}

/// The clusters that were read.
#[derive(Default)]
struct Seen {
    by_server: HashMap<ServerKey, Vec<(usize, Option<String>)>>,
    by_uid: HashMap<String, Vec<(usize, Option<String>)>>,
}

impl Seen {
    fn settle(&mut self, task: &Task, tried: Tried) -> Vec<(usize, Came)> {
        let untried = &task.places[tried.len()..];
        let good = tried.iter().find(|(_, read)| read.is_ok()).map(|(number, _)| *number);
        let mut settled = Vec::new();
        for (number, read) in tried {
            let came = match (read, good) {
                (Ok(answer), _) => self.answered(number, task, answer),
                (Err(error), Some(good)) => Came::Instead(good, error),
                (Err(error), None) => Came::Failed(error),
            };
            settled.push((number, came));
        }
        settled.extend(untried.iter().filter_map(|number| Some((*number, Came::SameAs(good?)))));
        settled
    }

    fn answered(&mut self, number: usize, task: &Task, answer: Answer) -> Came {
        let Answer { read, namespace, missing } = answer;
        let uid = read.as_ref().and_then(|read| read.uid.clone());
        let of_server = task.server.clone().map(|server| self.by_server.entry(server).or_default());
        let of_uid = uid.map(|uid| self.by_uid.entry(uid).or_default());
        let mut known: Vec<(usize, Option<String>)> = Vec::new();
        for of_cluster in of_server.into_iter().chain(of_uid) {
            known.extend(of_cluster.iter().cloned());
            of_cluster.push((number, namespace.clone()));
        }
        if let Some((other, _)) = known.iter().find(|(_, of)| *of == namespace) {
            return Came::SameAs(*other);
        }
        let Some(read) = read else { return Came::Nothing };
        let mut beside: Vec<usize> = known.into_iter().map(|(other, _)| other).collect();
        beside.sort_unstable();
        beside.dedup();
        Came::Read(Box::new(Found { snapshot: read.snapshot, namespace, missing, beside }))
    }
}
