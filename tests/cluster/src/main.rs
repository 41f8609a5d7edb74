//! Tests of `kubectl-sigapps` against a real control plane. See the README beside this crate.

mod api;
mod assets;
mod certificates;
mod compare;
mod control_plane;
mod differential;
mod jobset;
mod random_job;
mod results;
mod tool;
mod wait;
mod yaml;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use tokio::signal::unix::{SignalKind, signal};

use crate::assets::Assets;
use crate::results::Results;

#[derive(Parser)]
#[command(about = "Tests kubectl-sigapps against a real Kubernetes control plane")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the control plane's programs from Go modules
    Build,
    /// Run the tests: one line a test, the total last
    Run {
        /// Only tests whose name contains this
        #[arg(long, value_name = "NAME")]
        only: Option<String>,
        #[command(flatten)]
        random: Random,
    },
    /// Run the comparison with the Job controller alone, with more Jobs
    Differential {
        #[command(flatten)]
        random: Random,
    },
}

#[derive(Args)]
struct Random {
    /// Random Jobs to compare
    #[arg(long, value_name = "N", default_value_t = 500)]
    jobs: usize,
    /// The seed of an earlier run, to see it again
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// The program under test [default: target/release/kubectl-sigapps]
    #[arg(long, value_name = "PATH")]
    tool: Option<PathBuf>,
}

impl Random {
    fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(|| fastrand::u64(..1_000_000_000))
    }

    fn tool(&self) -> PathBuf {
        let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        self.tool.clone().unwrap_or_else(|| PathBuf::from(workspace).join("target/release/kubectl-sigapps"))
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Dropping the future stops the servers.
    let outcome = tokio::select! {
        outcome = perform(arguments.command) => outcome,
        () = interrupted() => Err(anyhow::anyhow!("interrupted")),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn interrupted() {
    let mut terminate = signal(SignalKind::terminate()).expect("SIGTERM can be handled");
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

/// True when everything went well.
async fn perform(command: Command) -> Result<bool> {
    let assets = Assets::from_environment()?;
    match command {
        Command::Build => assets.build().map(|()| true),
        Command::Run { only, random } => {
            let mut results = Results::new(only);
            if results.wants("differential") {
                let ran = differential::run(&assets, &random.tool(), random.jobs, random.seed(), &mut results).await;
                if ran.is_err() {
                    results.record("differential", ran);
                }
            }
            Ok(results.finish())
        }
        Command::Differential { random } => {
            let mut results = Results::new(None);
            differential::run(&assets, &random.tool(), random.jobs, random.seed(), &mut results).await?;
            Ok(results.finish())
        }
    }
}
