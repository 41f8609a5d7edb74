//! `completion`: the scripts by which shells and kubectl ask [`super::complete`].

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum, ValueHint};

use super::complete::PLUGIN;
use super::options::UsageError;
use super::{ExitCode, talk};

const EXAMPLES: &str = "\
Examples:
  # kubectl completes `kubectl sigapps`, in every shell that it completes in
  kubectl sigapps completion kubectl --install

  # The same, into another folder of the PATH
  kubectl sigapps completion kubectl --install=\"$HOME/bin\"

  # bash: in this shell, or in each new one
  source <(kubectl-sigapps completion bash)
  kubectl-sigapps completion bash > \\
    ~/.local/share/bash-completion/completions/kubectl-sigapps

  # zsh: into a folder of fpath, before compinit
  kubectl-sigapps completion zsh > \"${fpath[1]}/_kubectl-sigapps\"

  # fish
  kubectl-sigapps completion fish > \\
    ~/.config/fish/completions/kubectl-sigapps.fish

  # PowerShell: in each new one
  kubectl-sigapps completion powershell >> $PROFILE";

#[derive(Debug, Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct CompletionArgs {
    /// Whose completion: kubectl's, of `kubectl sigapps`, or a shell's, of `kubectl-sigapps`
    #[arg(value_enum, value_name = "FOR")]
    of: CompletionOf,

    /// With `kubectl`: write what it runs as kubectl_complete-sigapps beside kubectl-sigapps on the PATH, or into this folder
    #[arg(
        long,
        value_name = "DIR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        value_hint = ValueHint::DirPath
    )]
    install: Option<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompletionOf {
    /// What kubectl 1.26 and newer runs: kubectl_complete-sigapps
    Kubectl,
    /// bash 3.2 and newer
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
    #[value(alias = "pwsh", help = "PowerShell 5.1 and newer")]
    Powershell,
}

/// kubectl runs what Windows can: a program or a batch file.
const KUBECTL: &str =
    if cfg!(windows) { include_str!("kubectl_complete-sigapps.cmd") } else { include_str!("kubectl_complete-sigapps") };

impl CompletionOf {
    const fn script(self) -> &'static str {
        match self {
            Self::Kubectl => KUBECTL,
            Self::Bash => include_str!("kubectl-sigapps.bash"),
            Self::Zsh => include_str!("_kubectl-sigapps"),
            Self::Fish => include_str!("kubectl-sigapps.fish"),
            Self::Powershell => include_str!("kubectl-sigapps.ps1"),
        }
    }
}

impl CompletionArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let Some(folder) = self.install else {
            super::stdout::stdout().write_all(self.of.script().as_bytes())?;
            return Ok(ExitCode::Success);
        };
        if self.of != CompletionOf::Kubectl {
            let refusal = "--install is for kubectl's completion: print a shell's, and put it where the shell looks";
            return Err(UsageError(refusal.to_owned()).into());
        }
        let folder = if folder.is_empty() {
            of_the_plugin()
                .context("kubectl-sigapps is in no folder of the PATH: name a folder that is, with --install=DIR")?
        } else {
            PathBuf::from(folder)
        };
        let file = folder.join(if cfg!(windows) { format!("{PLUGIN}.cmd") } else { PLUGIN.to_owned() });
        install(&file)?;
        if !path().any(|known| known == folder) {
            talk(&format!("warning: {} is not on the PATH, where kubectl looks for it", folder.display()));
        }
        writeln!(super::stdout::stdout(), "{}", file.display())?;
        Ok(ExitCode::Success)
    }
}

fn path() -> impl Iterator<Item = PathBuf> {
    let list = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&list).filter(|folder| folder.is_absolute()).collect::<Vec<_>>().into_iter()
}

/// Where kubectl finds the plugin: the first folder of the PATH that has it. It is not where the program itself is: krew
/// links to that, and has another folder for each version.
fn of_the_plugin() -> Option<PathBuf> {
    let name = format!("kubectl-sigapps{}", std::env::consts::EXE_SUFFIX);
    path().find(|folder| folder.join(&name).is_file())
}

/// Writes the script, over an older one of ours and nothing else.
fn install(file: &Path) -> anyhow::Result<()> {
    let shown = file.display();
    match fs::read(file) {
        Ok(there) if there == KUBECTL.as_bytes() => {}
        Ok(there) if !String::from_utf8_lossy(&there).contains("kubectl-sigapps __complete") => {
            bail!(
                "{shown} is there already and is something else: remove it, or name another folder with --install=DIR"
            )
        }
        Ok(_) => fs::remove_file(file).with_context(|| format!("cannot replace {shown}"))?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("cannot read {shown}")),
    }
    if !file.exists() {
        write(file).with_context(|| format!("cannot write {shown}"))?;
    }
    Ok(())
}

/// What is written is new: nothing is written through a link.
fn write(file: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o755);
    options.open(file)?.write_all(KUBECTL.as_bytes())
}
