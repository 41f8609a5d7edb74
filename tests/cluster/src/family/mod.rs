//! The kinds beside Jobs and `JobSet`s, and what stands above these: brought into trouble by their real controllers,
//! and what the tool says then.

mod checks;
mod expectations;
mod player;
pub(crate) mod step;

pub(crate) use checks::{names, run};
pub(crate) use player::play;
