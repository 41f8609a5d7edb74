//! The binary as a person or a script meets it: arguments, standard input, output, messages, exit codes.

mod arguments;
mod bad_input;
mod baseline;
mod checkpoints;
#[cfg(unix)]
mod completion;
mod documents;
mod explain;
mod formats;
mod help;
#[cfg(unix)]
mod packaging;
mod printing;
mod record;
mod restart;
#[cfg(unix)]
mod runbooks;
mod support;
mod table;
