//! Where objects come from: files or a cluster, read alike through one path into a [`Snapshot`].
//!
//! Any stream of bytes → [`Splitter`] (one object's bytes at a time) → [`Intake`] (small borrowed structs, then compact
//! records; what is fine is forgotten at once).

pub mod cluster;
pub mod file;
mod intake;
mod kind;
mod nearest;
mod recorded;
mod snapshot;
mod splitter;

pub use crate::report::{Source, SourceState};
pub use intake::{Filter, Intake, Skipped, Tally};
pub use nearest::nearest;
pub use recorded::{Header, RECORDING, RecordedSource, Status};
pub use snapshot::{Gap, Resource, Snapshot};
pub use splitter::{Ending, ListHead, ObjectSink, Position, Splitter};
