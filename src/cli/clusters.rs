//! Several clusters: which, and what is said of each.

use super::connection::ConnectionArgs;
use super::options::UsageError;
use super::talk;
use crate::advice::Kubectl;
use crate::report::{Source, SourceState};
use crate::request::{Scope, Target};
use crate::source::cluster::{Came, ClusterError, Found, Place, contexts, read_each};
use crate::source::{Resource, Snapshot};

/// The clusters to read, side by side.
pub(super) struct Clusters {
    /// By the kubeconfig's context.
    names: Vec<String>,
    places: Vec<Place>,
    /// Makes commands for each.
    kubectls: Vec<Kubectl>,
}

/// What is to be told of all of them, when all are read.
#[derive(Default)]
pub(super) struct Told {
    /// What was read of each, and what was not.
    pub(super) sources: Vec<Source>,
    /// The namespaces that were read.
    pub(super) namespaces: Vec<String>,
    /// What is to be said of the clusters as such.
    pub(super) notes: Vec<String>,
    /// Clusters that answered.
    answered: usize,
    /// Those that did not.
    failed: Vec<String>,
    /// Of the workloads asked for by name, how many clusters lack each.
    lacking: Vec<(Target, usize)>,
}

/// The flags for each context that is asked for: one set where it is one, or none.
pub(super) fn of_contexts(
    connection: ConnectionArgs,
    all_contexts: bool,
    of_files: bool,
) -> anyhow::Result<Vec<ConnectionArgs>> {
    connection.ensure_contexts_named()?;
    let mut names = connection.contexts();
    if all_contexts {
        let refusal = match (names.is_empty(), of_files) {
            (false, _) => Some("--context and --all-contexts exclude each other: give one of them"),
            (_, true) => Some("--all-contexts reads clusters, -f files: give one of them"),
            _ => None,
        };
        if let Some(refusal) = refusal {
            return Err(UsageError(refusal.to_owned()).into());
        }
        connection.ensure_for_several()?;
        names = contexts(&connection.clone().into_connection()?)?;
        anyhow::ensure!(!names.is_empty(), "the kubeconfig has no context");
    }
    if names.len() < 2 {
        let one = names.first().map(|name| connection.of_context(name));
        return Ok(vec![one.unwrap_or(connection)]);
    }
    if of_files {
        connection.ensure_one_context()?;
    }
    connection.ensure_for_several()?;
    Ok(names.iter().map(|name| connection.of_context(name)).collect())
}

impl Clusters {
    /// Clusters by the flags that lead to each. All contexts must be in the kubeconfig: a slip of the keyboard is no outage.
    pub(super) fn new(connections: Vec<ConnectionArgs>, all_namespaces: bool) -> anyhow::Result<Self> {
        let mut clusters = Self { names: Vec::new(), places: Vec::new(), kubectls: Vec::new() };
        let mut known: Option<Vec<String>> = None;
        for connection in connections {
            clusters.kubectls.push(Kubectl { flags: connection.flags_for_kubectl() });
            let connection = connection.into_connection()?;
            let known = match &known {
                Some(known) => known,
                None => known.insert(contexts(&connection)?),
            };
            let name = connection.context.clone().unwrap_or_default();
            if !known.contains(&name) {
                return Err(ClusterError::NoSuchContext { name, contexts: known.clone() }.into());
            }
            clusters.names.push(name);
            clusters.places.push(Place { connection, all_namespaces });
        }
        Ok(clusters)
    }

    /// The contexts.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Reads them and hands each over in turn, with what makes commands for it. An error where none could be read, or where
    /// none has a workload that was asked for.
    pub(super) fn read(
        &self,
        scope: &Scope,
        take: &mut dyn FnMut(&str, &Snapshot, &Kubectl) -> anyhow::Result<()>,
    ) -> anyhow::Result<Told> {
        let mut told = Told::default();
        let say = |place: usize, line: &str| talk(&format!("{}: {line}", self.names[place]));
        read_each(&self.places, scope, &say, &mut |place, came| match came {
            Came::Read(found) => {
                self.tell_found(place, &found, scope, &mut told);
                let Found { snapshot, .. } = *found;
                take(&self.names[place], &snapshot, &self.kubectls[place])
            }
            other => {
                self.tell(place, &other, scope, &mut told);
                Ok(())
            }
        })?;
        if told.answered == 0 {
            anyhow::bail!("none of the {} clusters could be read", self.names.len());
        }
        told.ensure_found()?;
        Ok(told)
    }

    fn tell_found(&self, place: usize, found: &Found, scope: &Scope, told: &mut Told) {
        let name = &self.names[place];
        told.answered += 1;
        told.sources.extend(found.snapshot.sources.iter().cloned());
        if let Some(namespace) = found.namespace.as_ref().filter(|namespace| !told.namespaces.contains(namespace)) {
            told.namespaces.push(namespace.clone());
        }
        told.lack(&scope.targets, &found.missing);
        if let Some(other) = found.beside.first() {
            told.note(format!(
                "contexts {} and {name} lead to the same cluster, each to another namespace: a node is told under both",
                self.names[*other]
            ));
        }
    }

    fn tell(&self, place: usize, came: &Came, scope: &Scope, told: &mut Told) {
        let name = &self.names[place];
        match came {
            Came::Read(_) => {}
            Came::SameAs(other) => {
                let other = &self.names[*other];
                told.note(format!("context {name} leads to where {other} does: it is read once, as {other}"));
            }
            Came::Instead(other, error) => {
                let other = &self.names[*other];
                told.note(format!("context {name} cannot be used, {other} leads to the same cluster: {error}"));
            }
            Came::Nothing => {
                told.answered += 1;
                told.lack(&scope.targets, &scope.targets);
                let mut of: Vec<Resource> = scope.targets.iter().map(|target| Resource::of(target.kind)).collect();
                of.sort_unstable();
                of.dedup();
                told.sources.extend(of.into_iter().map(|resource| source(name, resource, SourceState::Read, None)));
            }
            Came::Failed(error) => {
                talk(&format!("warning: {name} is left out: {error}"));
                told.failed.push(name.clone());
                told.sources.extend(not_read(name, error));
            }
        }
    }
}

impl Told {
    /// Whether some cluster is left out.
    pub(super) fn has_gap(&self) -> bool {
        !self.failed.is_empty()
    }

    fn note(&mut self, note: String) {
        talk(&note);
        self.notes.push(note);
    }

    fn lack(&mut self, asked: &[Target], missing: &[Target]) {
        if self.lacking.is_empty() {
            self.lacking = asked.iter().map(|target| (target.clone(), 0)).collect();
        }
        for (target, clusters) in &mut self.lacking {
            *clusters += usize::from(missing.contains(target));
        }
    }

    /// What no cluster has that was read must not read as "no failures".
    fn ensure_found(&self) -> anyhow::Result<()> {
        let Some((target, _)) = self.lacking.iter().find(|(_, clusters)| *clusters == self.answered) else {
            return Ok(());
        };
        let left_out =
            if self.failed.is_empty() { String::new() } else { format!("; not read: {}", self.failed.join(", ")) };
        match self.answered {
            1 => anyhow::bail!("{target} is not in the one cluster that was read{left_out}"),
            answered => anyhow::bail!("{target} is in none of the {answered} clusters that were read{left_out}"),
        }
    }
}

/// What becomes of the sources of a cluster that could not be read: what was refused is, else what no report can do without
/// was not reached.
fn not_read<'a>(cluster: &'a str, error: &'a ClusterError) -> impl Iterator<Item = Source> + use<'a> {
    Resource::ALL.into_iter().map(move |resource| {
        let state = match error {
            ClusterError::Denied { resource: denied, .. } if *denied == resource.rbac_name() => SourceState::Denied,
            ClusterError::Denied { .. } => SourceState::NotAsked,
            _ if resource.is_core() => SourceState::Unreachable,
            _ => SourceState::NotAsked,
        };
        let message = (state != SourceState::NotAsked).then(|| error.to_string());
        source(cluster, resource, state, message)
    })
}

fn source(cluster: &str, resource: Resource, state: SourceState, message: Option<String>) -> Source {
    Source { message, ..Source::of_cluster(cluster, resource.name(), state) }
}
