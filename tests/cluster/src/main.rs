//! Tests of `kubectl-sigapps` against a real control plane. See the README beside this crate.

mod access;
mod api;
mod assets;
mod certificates;
mod cli;
mod compare;
mod container;
mod control_plane;
mod controllers;
mod developer;
mod differential;
mod expectations;
mod family;
mod fill;
mod in_cluster;
mod jobset;
mod jobsets;
mod kinds;
mod kubelet;
mod printing;
mod queueing;
mod random_job;
mod recorder;
mod restarts;
mod results;
mod scenario;
mod scenarios;
mod tool;
mod wait;
mod waits;
mod yaml;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand, ValueEnum};
use tokio::signal::unix::{SignalKind, signal};

use crate::assets::{Assets, NEWEST, OLDEST, Release};
use crate::results::Results;

#[derive(Parser)]
#[command(about = "Tests kubectl-sigapps against a real Kubernetes control plane")]
struct Arguments {
    /// The release of Kubernetes: what the tool is developed against, or the oldest that it supports
    #[arg(long, global = true, value_enum, value_name = "WHICH", default_value_t)]
    kubernetes: Kubernetes,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Kubernetes {
    #[default]
    Newest,
    Oldest,
}

impl Kubernetes {
    const fn release(self) -> &'static Release {
        match self {
            Self::Newest => &NEWEST,
            Self::Oldest => &OLDEST,
        }
    }
}

#[derive(Subcommand)]
enum Command {
    /// Build the control plane's programs from Go modules
    Build,
    /// Start a control plane and leave it running
    Up {
        /// Play the scenarios as well, and stay until Ctrl-C
        #[arg(long)]
        scenarios: bool,
    },
    /// Stop what `up` left running
    Down,
    /// Fill a running control plane with failed pods
    Fill {
        #[arg(long, value_name = "N", default_value_t = 20_000)]
        pods: usize,
        /// [default: that of `up`]
        #[arg(long, value_name = "FILE")]
        kubeconfig: Option<PathBuf>,
    },
    /// Run the tests: one line a test, the total last
    Run {
        /// Only tests whose name contains this
        #[arg(long, value_name = "NAME")]
        only: Option<String>,
        #[command(flatten)]
        random: Random,
    },
    /// Run the tests of restarts alone
    Restarts {
        /// Only tests whose name contains this
        #[arg(long, value_name = "NAME")]
        only: Option<String>,
        /// The program under test [default: target/release/kubectl-sigapps]
        #[arg(long, value_name = "PATH")]
        tool: Option<PathBuf>,
    },
    /// Run the comparisons with the Job and the JobSet controller alone, with more of each
    Differential {
        #[command(flatten)]
        random: Random,
        /// Judge the JobSet controller alone, and print what was watched
        #[arg(long)]
        watch_only: bool,
    },
}

#[derive(Args)]
struct Random {
    /// Random Jobs to compare
    #[arg(long, value_name = "N", default_value_t = 500)]
    jobs: usize,
    /// Random JobSets to compare
    #[arg(long, value_name = "N", default_value_t = 40)]
    jobsets: usize,
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
        tool_or_built(self.tool.clone())
    }
}

fn tool_or_built(tool: Option<PathBuf>) -> PathBuf {
    let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    tool.unwrap_or_else(|| PathBuf::from(workspace).join("target/release/kubectl-sigapps"))
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Dropping the future stops the servers.
    let outcome = tokio::select! {
        outcome = perform(arguments) => outcome,
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
async fn perform(arguments: Arguments) -> Result<bool> {
    let assets = Assets::from_environment(arguments.kubernetes.release())?;
    match arguments.command {
        Command::Build => assets.build().map(|()| true),
        Command::Up { scenarios } => developer::up(&assets, scenarios).await.map(|()| true),
        Command::Down => developer::down().map(|()| true),
        Command::Fill { pods, kubeconfig } => fill::run(kubeconfig.as_deref(), pods).await.map(|()| true),
        Command::Run { only, random } => Ok(run(&assets, only, &random).await),
        Command::Restarts { only, tool } => {
            let mut results = Results::new(only);
            restarts::run_all(&assets, &tool_or_built(tool), &mut results).await?;
            Ok(results.finish())
        }
        Command::Differential { random, watch_only } => {
            let mut results = Results::new(None);
            random.compare(&assets, watch_only, &mut results).await?;
            Ok(results.finish())
        }
    }
}

impl Random {
    /// None of a kind is asked for with 0.
    async fn compare(&self, assets: &Assets, watch_only: bool, results: &mut Results) -> Result<()> {
        let (tool, seed) = (self.tool(), self.seed());
        if self.jobs > 0 && !watch_only {
            differential::run(assets, &tool, self.jobs, seed, results).await?;
        }
        if self.jobsets > 0 {
            let program = Some(tool.as_path()).filter(|_| !watch_only);
            jobsets::differential::run(assets, program, self.jobsets, seed, results).await?;
        }
        Ok(())
    }
}

/// Each group of tests on a control plane of its own, one after the other.
async fn run(assets: &Assets, only: Option<String>, random: &Random) -> bool {
    let mut results = Results::new(only);
    let (tool, seed) = (random.tool(), random.seed());
    if differential::NAMES.iter().any(|name| results.wants(name)) {
        let ran = differential::run(assets, &tool, random.jobs, seed, &mut results).await;
        results.record_error("differential", ran);
    }
    if jobsets::differential::NAMES.iter().any(|name| results.wants(name)) {
        let ran = jobsets::differential::run(assets, Some(&tool), random.jobsets, seed, &mut results).await;
        results.record_error("differential-jobsets", ran);
    }
    if scenarios::names().iter().any(|name| results.wants(name)) {
        let ran = scenarios::run(assets, &tool, &mut results).await;
        results.record_error("scenarios", ran);
    }
    if jobsets::scenarios::names_with_restart_job().iter().any(|name| results.wants(name)) {
        let ran = jobsets::scenarios::run_with_restart_job(assets, &tool, &mut results).await;
        results.record_error("scenarios-with-restart-job", ran);
    }
    if family::names().iter().any(|name| results.wants(name)) {
        let ran = family::run(assets, &tool, &mut results).await;
        results.record_error("family", ran);
    }
    if printing::NAMES.iter().any(|name| results.wants(name)) {
        let ran = printing::run_all(assets, &tool, seed, &mut results).await;
        results.record_error("print", ran);
    }
    if restarts::NAMES.iter().any(|name| results.wants(name)) {
        let ran = restarts::run_all(assets, &tool, &mut results).await;
        results.record_error("restarts", ran);
    }
    if access::minimal_names().iter().any(|name| results.wants(name)) {
        let ran = access::prove_minimal(assets, &tool, &mut results).await;
        results.record_error("access-minimal", ran);
    }
    if waits::names().iter().any(|name| results.wants(name)) {
        let ran = waits::run_all(assets, &tool, &mut results).await;
        results.record_error("waits", ran);
    }
    results.finish()
}
