use std::io::{self, BufRead as _, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum, ValueHint};

use super::connection::ConnectionArgs;
use super::input::{Color, clock};
use super::options::{UsageError, ensure_is_name, split_subject};
use super::stdout::stdout;
use super::{ExitCode, OUTPUT, talk, width};
use crate::kubectl::Kubectl;
use crate::render::{self, Look};
use crate::report::{DryRun, Restart, RestartOutcome, RestartStep};
use crate::request::Connection;
use crate::restart::{self, Commands, Console, Kind, Order};
use crate::source::cluster::{self, Environment, Session, parse_timeout};

const EXAMPLES: &str = "\
Examples:
  # What would be done, what is lost, and whether the server would take it
  kubectl sigapps restart job/etl --dry-run=server

  # The Job is deleted and made again from its own spec, its logs saved first
  kubectl sigapps restart job/etl --save-logs

  # The failed Job stays as it is, and a new one is made beside it
  kubectl sigapps restart job/etl --keep

  # With a longer deadline this time
  kubectl sigapps restart job/etl -p '{\"spec\":{\"activeDeadlineSeconds\":7200}}'

  # In a script: no question is asked
  kubectl sigapps restart jobset/llama-70b -n ml-team --yes -o json

  # One group of a LeaderWorkerSet
  kubectl sigapps restart lws/vllm --group 2";

#[derive(Debug, Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct RestartArgs {
    /// What to restart: a job, cronjob, jobset, deployment, statefulset, daemonset, leaderworkerset or sandbox
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1..=2)]
    subject: Vec<String>,

    /// Leave the old Job or JobSet as it is, and give the new one a new name
    #[arg(long)]
    keep: bool,

    /// Change the Job or JobSet that is made again: an object to merge (containers by their name), or a list of JSON patch
    /// operations
    #[arg(short = 'p', long, value_name = "JSON")]
    patch: Option<restart::Patch>,

    /// Whether writes are sent [default: server where nobody can be asked and --yes is not given, else none]
    #[arg(long, value_enum, value_name = "HOW")]
    dry_run: Option<DryRunArg>,

    /// Do not ask
    #[arg(short = 'y', long)]
    yes: bool,

    /// Go on although it runs or retries, or is applied from a repository
    #[arg(long)]
    force: bool,

    /// Go on although volumes that may hold checkpoints are deleted with it
    #[arg(long)]
    allow_checkpoint_loss: bool,

    /// Save the logs of failed pods, too; at most the last 10 MiB of each container
    #[arg(long)]
    save_logs: bool,

    /// Where to make the folder for what is saved [default: $XDG_STATE_HOME/kubectl-sigapps/restarts, else in
    /// ~/.local/state]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    save_to: Option<PathBuf>,

    /// The group of a LeaderWorkerSet to restart
    #[arg(long, value_name = "NUMBER")]
    group: Option<u32>,

    /// How long one step waits for the cluster
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = wait)]
    timeout: Duration,

    /// Output format
    #[arg(short = 'o', long, value_enum, default_value_t, hide_default_value = true, help_heading = OUTPUT)]
    output: Output,

    /// Use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", help_heading = OUTPUT)]
    color: Color,

    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DryRunArg {
    /// Writes are sent
    None,
    /// No write is sent: print what would be done
    Client,
    /// The server checks each write, and leaves everything as it is
    Server,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For a person
    #[default]
    Text,
    /// As JSON
    Json,
    /// As YAML
    Yaml,
}

fn wait(text: &str) -> Result<Duration, String> {
    parse_timeout(text).map_err(|error| error.to_string())
}

impl RestartArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (kind, name) = parse_subject(&self.subject).map_err(UsageError)?;
        let interactive = io::stdin().is_terminal() && io::stdout().is_terminal();
        let dry_run = self.dry_run(interactive).map_err(UsageError)?;
        if self.group.is_some() && kind != Kind::LeaderWorkerSet {
            return Err(UsageError("--group is for a leaderworkerset".to_owned()).into());
        }
        if self.patch.is_some() && !matches!(kind, Kind::Job | Kind::JobSet) {
            return Err(
                UsageError("--patch is for a job or jobset: others are patched with kubectl patch".to_owned()).into()
            );
        }
        let connection = self.connection.clone().into_connection()?;
        let order = self.order(kind, name, dry_run, &connection)?;
        let look = Look { width: width(), color: self.color.is_on(), headers: true };
        let mut console = Terminal { text: self.output == Output::Text, yes: self.yes, look };
        let mut tell = |line: &str| talk(line);
        let session = Session::open(&Environment::of_process(), &connection, &mut tell)?;
        let restart = restart::run(&session, &order, &mut console)?;
        let mut out = stdout();
        match self.output {
            Output::Text => render::restart_end(&restart, look, &mut out)?,
            Output::Json => render::restart_json(&restart, &mut out)?,
            Output::Yaml => render::restart_yaml(&restart, &mut out)?,
        }
        for line in render::restart_errors(&restart) {
            talk(&format!("error: {line}"));
        }
        Ok(match restart.outcome {
            RestartOutcome::Done | RestartOutcome::DryRun | RestartOutcome::AlreadyDone => ExitCode::Success,
            RestartOutcome::Failed if session.is_interrupted() => ExitCode::Interrupted,
            RestartOutcome::Failed | RestartOutcome::Refused | RestartOutcome::Declined => ExitCode::Error,
        })
    }

    fn dry_run(&self, interactive: bool) -> Result<DryRun, String> {
        match self.dry_run {
            Some(DryRunArg::Client) => Ok(DryRun::Client),
            Some(DryRunArg::Server) => Ok(DryRun::Server),
            Some(DryRunArg::None) if !self.yes && !interactive => {
                Err("--dry-run=none needs --yes where nobody can be asked: this is no terminal".to_owned())
            }
            None if !self.yes && !interactive => Ok(DryRun::Server),
            Some(DryRunArg::None) | None => Ok(DryRun::None),
        }
    }

    fn order(&self, kind: Kind, name: String, dry_run: DryRun, connection: &Connection) -> anyhow::Result<Order> {
        let namespace = match self.connection.namespace() {
            Some(namespace) => namespace,
            None => cluster::default_namespace(connection)?,
        };
        let kubectl = Kubectl { flags: self.connection.flags_for_kubectl() };
        let usual = state_folder();
        let save_to = self.save_to.clone().map(std::path::absolute).transpose()?.or_else(|| usual.clone());
        Ok(Order {
            kind,
            name,
            commands: Commands::new(kubectl, &namespace),
            namespace,
            keep: self.keep,
            patch: self.patch.clone(),
            dry_run,
            force: self.force,
            allow_checkpoint_loss: self.allow_checkpoint_loss,
            save_logs: self.save_logs,
            group: self.group,
            timeout: self.timeout,
            look_in: usual.into_iter().filter(|usual| Some(usual) != save_to.as_ref()).collect(),
            save_to: save_to.context("there is no home folder to save anything in: name a folder with --save-to")?,
            now: clock()?,
            flags: self.flags(),
        })
    }

    /// The flags that say what is to be done, as they were given.
    fn flags(&self) -> Vec<String> {
        let given = [
            ("--keep", self.keep),
            ("--force", self.force),
            ("--allow-checkpoint-loss", self.allow_checkpoint_loss),
            ("--save-logs", self.save_logs),
            ("--yes", self.yes),
        ];
        let mut flags: Vec<String> =
            given.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag.to_owned()).collect();
        // What is printed is run from anywhere.
        let folder = self.save_to.as_ref().map(|folder| std::path::absolute(folder).unwrap_or_else(|_| folder.clone()));
        flags.extend(folder.map(|folder| format!("--save-to={}", folder.display())));
        flags.extend(self.patch.as_ref().map(restart::Patch::flag));
        flags.extend(self.group.map(|group| format!("--group={group}")));
        flags
    }
}

/// Where programs keep what must outlive them. Source: XDG Base Directory Specification, which takes no relative paths.
fn state_folder() -> Option<PathBuf> {
    let given = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let state = given.or_else(|| std::env::home_dir().map(|home| home.join(".local/state")))?;
    Some(state.join("kubectl-sigapps/restarts"))
}

/// `KIND/NAME` or `KIND NAME`.
fn parse_subject(arguments: &[String]) -> Result<(Kind, String), String> {
    const KINDS: &str = "job, cronjob, jobset, deployment, statefulset, daemonset, leaderworkerset or sandbox";
    let (kind, name) = split_subject(arguments, |text| Kind::parse(text).is_some())
        .ok_or("give one thing to restart: KIND/NAME or KIND NAME")?
        .map_err(|kind| format!("give the name as well: {kind}/NAME"))?;
    let kind = kind.ok_or_else(|| format!("say what {name:?} is, as in job/{name}: it takes {KINDS}"))?;
    let known = Kind::parse(kind).ok_or_else(|| format!("kind {kind:?} cannot be restarted: it takes {KINDS}"))?;
    ensure_is_name(name)?;
    if name.starts_with(['-', '.']) {
        return Err(format!("{name:?} is not a name of a Kubernetes object"));
    }
    Ok((known, name.to_owned()))
}

/// What a person sees on the way. Machines get one document at the end.
struct Terminal {
    text: bool,
    yes: bool,
    look: Look,
}

impl Terminal {
    /// Somebody who no longer reads must not stop what has been begun.
    fn print(&self, print: impl FnOnce(&mut io::StdoutLock) -> io::Result<()>) {
        if self.text {
            let mut out = io::stdout().lock();
            let _ = print(&mut out).and_then(|()| out.flush());
        }
    }
}

impl Console for Terminal {
    fn planned(&mut self, restart: &Restart) {
        if restart.outcome != RestartOutcome::Refused {
            self.print(|out| render::restart_plan(restart, self.look, out));
        }
    }

    fn confirms(&mut self, restart: &Restart) -> bool {
        if self.yes {
            return true;
        }
        let (subject, namespace) = (&restart.subject, &restart.subject.namespace);
        let mut asked = io::stderr();
        if !self.text {
            // Nobody agrees to what was not shown.
            let _ = render::restart_plan(restart, self.look, &mut asked);
        }
        let _ = write!(asked, "Restart {subject} in namespace {namespace}? [y/N] ").and_then(|()| asked.flush());
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
    }

    fn saved(&mut self, folder: &str) {
        self.print(|out| writeln!(out, "saved first, in {folder}"));
    }

    fn begins(&mut self, step: &RestartStep) {
        if self.text && step.verb.is_none() && io::stderr().is_terminal() {
            talk(&format!("now: {}", step.text));
        }
    }

    fn ended(&mut self, step: &RestartStep) {
        self.print(|out| render::restart_step(step, self.look, out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_restart_is_told_in_one_argument_or_two() {
        let parse = |arguments: &[&str]| parse_subject(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(parse(&["job/etl"]), Ok((Kind::Job, "etl".into())));
        assert_eq!(parse(&["sts", "db"]), Ok((Kind::StatefulSet, "db".into())));
        for (arguments, said) in [
            (&["etl"][..], "say what \"etl\" is"),
            (&["job"], "give the name as well: job/NAME"),
            (&["pod/x"], "cannot be restarted"),
            (&["job/a", "b"], "one thing to restart"),
            (&["job/--all"], "is not a name"),
        ] {
            let error = parse(arguments).unwrap_err();
            assert!(error.contains(said), "{arguments:?}: {error}");
        }
    }
}
