//! Dumps as people have them: every form, every way of packing, and what is said of those that are damaged.

mod dumps;
mod faults;
mod forms;
mod recordings;
