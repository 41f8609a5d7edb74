//! The binary as a person or a script meets it: arguments, standard input, output, messages, exit codes.

mod arguments;
mod bad_input;
mod checkpoints;
mod documents;
mod explain;
mod formats;
mod record;
mod restart;
mod support;
mod table;
