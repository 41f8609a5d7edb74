//! `kubectl-sigapps`: parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(sigapps::cli::run(std::env::args_os()).number())
}
