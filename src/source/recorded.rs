//! The lines that a recording has beside its objects, as [`crate::record`] writes them and [`super::Intake`] reads them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::model::Time;
use crate::report::{Source, SourceState};

/// Version of the form of these lines. Inside of it, only additions.
pub const RECORDING: &str = "kubectl-sigapps/v1alpha1";

/// The first line of each file: `kind: Recording`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Header {
    /// `snapshot` or `journal`.
    pub form: String,
    /// The version of the tool that wrote it.
    pub tool: String,
    /// The kubeconfig context.
    pub cluster: String,
    /// The namespace; none for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// When the recording began; of a journal, its first file.
    pub started_at: String,
    /// Which file of the journal it is, from 1.
    pub file: u64,
    /// Only what bears on this many seconds before the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// Whether commands, arguments and last words were left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

/// What was read and when: `kind: RecordingStatus`, the last line of a snapshot; in a journal one whenever that changed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// As of when.
    pub as_of: String,
    /// What became of each resource.
    pub sources: Vec<RecordedSource>,
    /// The time before which nothing was written, where the recorder did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_recorded_since: Option<String>,
}

/// What became of a resource.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedSource {
    /// Its plural name.
    pub resource: String,
    /// What became of it.
    pub state: SourceState,
    /// Objects that could not be read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: u64,
    /// What is to be said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's way to ask
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A change of one object: `kind: Change`.
#[derive(Debug, Deserialize)]
pub(super) struct ChangeView<'a> {
    #[serde(borrow, default)]
    pub(super) at: &'a str,
    /// `added`, `modified`, `deleted`, or `missed` where only the names are known.
    #[serde(borrow, rename = "type")]
    pub(super) what: &'a str,
    #[serde(borrow)]
    pub(super) object: &'a RawValue,
}

impl RecordedSource {
    /// Of a source as the reading of a cluster tells it.
    pub fn of(source: &Source) -> Self {
        Self {
            resource: source.resource.clone(),
            state: source.state,
            skipped: source.skipped,
            message: source.message.clone(),
        }
    }

    /// The same, as the reading of a cluster would tell it.
    pub fn of_cluster(self, cluster: &str) -> Source {
        let Self { resource, state, skipped, message } = self;
        Source { cluster: Some(cluster.to_owned()), resource, file: None, state, objects: 0, skipped, message }
    }
}

/// What the recordings among the input tell of themselves.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    headers: u64,
    clusters: BTreeSet<String>,
    /// The first file of a journal that was read, and when the journal began.
    first_file: Option<(u64, String)>,
    snapshots: u64,
    ends: u64,
    sources: BTreeMap<String, RecordedSource>,
    gaps: Vec<(Time, Time)>,
}

impl Recorded {
    pub(super) fn header(&mut self, header: Header) {
        self.headers += 1;
        if header.form == "journal" {
            let this = (header.file, header.started_at);
            self.first_file = Some(self.first_file.take().map_or(this.clone(), |first| first.min(this)));
        } else {
            self.snapshots += 1;
        }
        self.clusters.insert(header.cluster);
    }

    /// Takes a status; gives back as of when it is.
    pub(super) fn status(&mut self, status: Status) -> Option<Time> {
        let as_of = Time::parse(&status.as_of);
        self.ends += 1;
        for source in status.sources {
            self.sources.insert(source.resource.clone(), source);
        }
        let from = status.not_recorded_since.as_deref().and_then(Time::parse);
        self.gaps.extend(from.zip(as_of));
        as_of
    }

    /// The cluster, where there is one alone.
    pub(super) fn cluster(&self) -> Option<String> {
        let mut clusters = self.clusters.iter();
        clusters.next().filter(|_| clusters.next().is_none()).cloned()
    }

    /// What became of a resource when it was recorded.
    pub(super) fn source(&self, resource: &str) -> Option<&RecordedSource> {
        self.sources.get(resource)
    }

    /// What the recordings do not hold.
    pub(super) fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        if self.snapshots > self.ends.min(self.headers) && self.first_file.is_none() {
            gaps.push("the recording has no end: it was cut off, and what it could not read is not known".to_owned());
        }
        if let Some((file, started)) = self.first_file.as_ref().filter(|(file, _)| *file > 1) {
            gaps.push(format!(
                "the journal began at {started} and its first {} {} not among the input: evidence from before may be missing",
                file - 1,
                if *file == 2 { "file is" } else { "files are" }
            ));
        }
        let mut times = self.gaps.clone();
        times.sort_unstable();
        times.dedup();
        if let [(from, to), rest @ ..] = &times[..] {
            let more = if rest.is_empty() { String::new() } else { format!(", and {} more times", rest.len()) };
            gaps.push(format!(
                "nothing was recorded from {from} to {to}{more}: what was made and deleted in between is not in it"
            ));
        }
        gaps
    }
}
