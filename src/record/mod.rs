//! Keeps evidence that Kubernetes forgets: what of each object is written down, and how.

mod files;
mod follow;
mod journal;
mod keep;
mod lines;
mod logs;
mod plan;
mod run;
mod secrets;
mod shapes;
mod since;
mod sources;
mod template;

pub use files::{private, sync_folder};
pub use follow::follow;
pub use journal::{Journal, JournalError, Keeping};
pub use keep::{Kept, Policy};
pub use lines::header as header_line;
pub use logs::Logs;
pub use run::{Order, RecordError, Recorded, snapshot};
pub use secrets::{KEY_BYTES, Marker};
