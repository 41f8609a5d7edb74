//! What is asked for as the analysis takes it and as the report tells it, and whether all of it was read.

use crate::analysis::Options;
use crate::model::Time;
use crate::report::{ReportScope, Source, SourceState};
use crate::request::{From, Request, Scope, View};
use crate::source::{Resource, Snapshot};

/// What of the failures is wanted, at this time.
pub(super) fn options(scope: &Scope, view: &View, now: Option<Time>) -> Options {
    Options {
        now,
        pending_after: view.pending_after,
        since: view.since,
        classes: view.classes.clone(),
        all: view.all,
        selector: scope.selector.clone(),
        targets: scope.targets.clone(),
        kinds: scope.kinds.clone(),
    }
}

/// What was asked for of one cluster, or of files.
pub(super) fn scope_of(request: &Request, snapshot: &Snapshot) -> ReportScope {
    let files = match &request.from {
        From::Files(files) => files.clone(),
        From::Cluster(_) => Vec::new(),
    };
    let contexts = snapshot.cluster.iter().cloned().collect();
    let namespaces = request.scope.namespace.iter().cloned().collect();
    report_scope(&request.scope, &request.view, contexts, namespaces, files)
}

/// What was asked for.
pub(super) fn report_scope(
    scope: &Scope,
    view: &View,
    contexts: Vec<String>,
    namespaces: Vec<String>,
    files: Vec<String>,
) -> ReportScope {
    let selector = &scope.selector;
    ReportScope {
        contexts,
        namespaces,
        selector: (!selector.is_empty()).then(|| selector.to_string()),
        since: view.since,
        files,
        targets: scope.targets.iter().map(ToString::to_string).collect(),
        kinds: scope.kinds.iter().map(|kind| kind.plural().to_owned()).collect(),
        classes: view.classes.clone(),
        all: view.all,
        group_by: view.group_by.name(),
    }
}

/// Whether something is missing that no report can do without.
pub(super) fn has_gap(sources: &[Source]) -> bool {
    let is_core = |resource: &str| {
        resource == "files" || Resource::ALL.iter().any(|core| core.is_core() && core.name() == resource)
    };
    let is_gap = |state: SourceState| {
        matches!(
            state,
            SourceState::Denied
                | SourceState::Truncated
                | SourceState::Unreadable
                | SourceState::NotInstalled
                | SourceState::Unreachable
                | SourceState::Gap
        )
    };
    sources.iter().any(|source| is_core(&source.resource) && (is_gap(source.state) || source.skipped > 0))
}
