//! Arguments → a plain [`crate::request::Request`] → a report on stdout. The only room that knows clap.

mod baseline;
mod clusters;
mod complete;
mod completion;
mod connection;
mod doctor;
mod exit;
mod explain;
mod failures;
mod input;
mod man;
mod options;
mod output;
mod record;
mod restart;
mod schema;
mod scope;
mod screen;
mod show;
mod sink;
mod stdout;
mod version;
mod wait;
mod watched;
mod watching;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

pub use exit::ExitCode;

/// Headings of the help that several commands have.
const SELECTION: &str = "Selection";
const OUTPUT: &str = "Output";
const CONNECTION: &str = "Connection";

const EXAMPLES: &str = "\
Examples:
  # What failed in the whole cluster since last night, and what to do next
  kubectl sigapps failures -A --since 12h

  # Why did the JobSet restart and die, attempt by attempt
  kubectl sigapps explain jobset/llama-70b -n ml-team

  # What would be done and lost, and whether the server would take it
  kubectl sigapps restart job/etl --dry-run=server

  # Until the Job has completed or failed, in a script
  kubectl sigapps wait job/etl --timeout 1h

  # kubectl completes all this
  kubectl sigapps completion kubectl --install";

/// What failed in a cluster's batch workloads, under which pod-failure-policy rule, and what is safe to do next
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-sigapps",
    bin_name = "kubectl sigapps",
    version,
    max_term_width = 100,
    before_help = EXAMPLES,
    after_help = AFTER_HELP.as_str()
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

static AFTER_HELP: std::sync::LazyLock<String> = std::sync::LazyLock::new(exit::table);
static REPORT_HELP: std::sync::LazyLock<String> = std::sync::LazyLock::new(exit::report_table);
static WAIT_HELP: std::sync::LazyLock<String> = std::sync::LazyLock::new(exit::wait_table);
static PLAIN_HELP: std::sync::LazyLock<String> = std::sync::LazyLock::new(exit::plain_table);
static PRINT_HELP: std::sync::LazyLock<String> = std::sync::LazyLock::new(exit::print_table);
static RECORD_HELP: std::sync::LazyLock<String> = std::sync::LazyLock::new(exit::record_table);
static DOCTOR_HELP: std::sync::LazyLock<String> = std::sync::LazyLock::new(exit::doctor_table);
static RESTART_HELP: std::sync::LazyLock<String> = std::sync::LazyLock::new(exit::restart_table);

#[derive(Debug, Subcommand)]
enum Command {
    /// Show what failed, grouped by pod-failure-policy rule
    #[command(visible_alias = "failure", after_help = REPORT_HELP.as_str())]
    Failures(Box<failures::FailuresArgs>),
    /// Tell the whole story of one workload, pod or node
    #[command(visible_alias = "why", after_help = PLAIN_HELP.as_str())]
    Explain(Box<explain::ExplainArgs>),
    /// Wait until workloads have ended, either way, or are up
    #[command(after_help = WAIT_HELP.as_str())]
    Wait(Box<wait::WaitArgs>),
    /// Restart one workload, after saying what is lost and what speaks against it
    #[command(after_help = RESTART_HELP.as_str())]
    Restart(Box<restart::RestartArgs>),
    /// Keep evidence that Kubernetes forgets: a snapshot, or with --follow a journal of changes
    #[command(after_help = RECORD_HELP.as_str())]
    Record(Box<record::RecordArgs>),
    /// Tell what can be seen of a cluster and what not: the first thing to put into a bug report
    #[command(after_help = DOCTOR_HELP.as_str())]
    Doctor(Box<doctor::DoctorArgs>),
    /// Print the JSON Schema of what -o json and -o jsonl print
    #[command(after_help = PRINT_HELP.as_str())]
    Schema(schema::SchemaArgs),
    /// Print what completes commands in kubectl or in a shell
    #[command(after_help = PRINT_HELP.as_str())]
    Completion(completion::CompletionArgs),
    /// Print the program's version
    #[command(after_help = PRINT_HELP.as_str())]
    Version(version::VersionArgs),
    /// Write the manual pages into a folder
    #[command(hide = true, after_help = PRINT_HELP.as_str())]
    Man(man::ManArgs),
}

/// Runs the tool and tells its exit code. An error is printed here, once.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some(words) = complete::asked(&arguments) {
        complete::answer(&words);
        return ExitCode::Success;
    }
    let matches = match Arguments::command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return refused(&error),
    };
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => return refused(&error),
    };
    let result = match arguments.command {
        Command::Failures(arguments) => arguments.run(),
        Command::Explain(arguments) => arguments.run(),
        Command::Wait(arguments) => arguments.run(),
        Command::Restart(arguments) => arguments.run(),
        Command::Record(arguments) => arguments.run(),
        Command::Doctor(arguments) => arguments.run(),
        Command::Schema(arguments) => arguments.run(),
        Command::Completion(arguments) => arguments.run(),
        Command::Version(arguments) => arguments.run(),
        Command::Man(arguments) => arguments.run(),
    };
    match result {
        Ok(code) => code,
        // Nobody is left to read why; what was to be written is not.
        Err(error) if is_broken_pipe(&error) => ExitCode::Error,
        Err(error) => {
            let usage = error.downcast_ref::<options::UsageError>().is_some();
            let _ = writeln!(io::stderr(), "error: {}", crate::render::one_line(&format!("{error:#}")));
            if usage { ExitCode::Usage } else { ExitCode::Error }
        }
    }
}

/// Help and version go to stdout and are a success; anything else is wrong usage.
fn refused(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if error.use_stderr() { ExitCode::Usage } else { ExitCode::Success }
}

/// Whether the reader of our output has gone where that is not looked over: a recording that is cut off is none.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Prints one line for a person, on stderr.
fn talk(line: &str) {
    let _ = writeln!(io::stderr(), "{}", crate::render::one_line(line));
}

/// Columns of what is printed: `COLUMNS`, else the terminal's, else enough for long lines in a file.
fn width() -> usize {
    let from_terminal =
        || terminal_size::terminal_size().filter(|_| io::stdout().is_terminal()).map(|(width, _)| usize::from(width.0));
    width_or(from_terminal)
}

/// The same of what goes to a file, whatever stdout is.
fn width_in_file() -> usize {
    width_or(|| None)
}

fn width_or(from_terminal: impl FnOnce() -> Option<usize>) -> usize {
    let from_env = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    from_env.or_else(from_terminal).filter(|width| *width >= 20).unwrap_or(160)
}
