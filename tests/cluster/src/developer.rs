//! For people: a control plane that stays, stopped by its process ids.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::assets::{Assets, cache};
use crate::control_plane::{ControlPlane, Parts};
use crate::kubelet::Kubelet;
use crate::scenario::Scenario;
use crate::{family, scenarios};

fn home() -> Result<PathBuf> {
    Ok(cache()?.join("run"))
}

/// The kubeconfig of the control plane that `up` started.
pub(crate) fn kubeconfig() -> Result<PathBuf> {
    let file = home()?.join("admin.kubeconfig");
    ensure!(file.exists(), "no control plane is running: start one with `up`");
    Ok(file)
}

pub(crate) async fn up(assets: &Assets, with_scenarios: bool) -> Result<()> {
    let home = home()?;
    ensure!(!home.exists(), "{} exists: stop what runs there with `down` first", home.display());
    let parts = if with_scenarios { Parts::Family } else { Parts::Everything };
    let started = ControlPlane::start_at(&home, assets, parts).await;
    if started.is_err() {
        fs::remove_dir_all(&home).ok();
    }
    let plane = started?;
    println!("export KUBECONFIG={}", plane.kubeconfig.display());
    if !with_scenarios {
        return record(&home, plane);
    }
    // The fake kubelet lives in this process, so the servers end with it.
    let stopped = Stopped(home);
    println!("the scenarios are being played; Ctrl-C stops everything");
    let kubelet = play_all(&plane).await?;
    println!("the scenarios have been played");
    std::future::pending::<()>().await;
    drop((kubelet, plane, stopped));
    Ok(())
}

/// The tests play these two on a control plane each; here one kubelet serves both.
async fn play_all(plane: &ControlPlane) -> Result<Kubelet> {
    let (all, family) = (Scenario::all()?, Scenario::family()?);
    let kubelet = Kubelet::start(&plane.api, Arc::new([all.clone(), family.clone()].concat())).await?;
    let (played, of_family) = tokio::join!(scenarios::play(plane, &all), family::play(&plane.api, &kubelet, &family));
    played?;
    for (name, outcome) in of_family {
        if let Err(error) = outcome {
            println!("{name} was not played to its end: {error:#}");
        }
    }
    Ok(kubelet)
}

/// Removes the folder after the servers, as it is declared before them.
struct Stopped(PathBuf);

impl Drop for Stopped {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

/// The process ids, one a line.
fn record(home: &Path, plane: ControlPlane) -> Result<()> {
    let pids = plane.leave_running().iter().map(u32::to_string).collect::<Vec<_>>();
    fs::write(home.join("pids"), pids.join("\n")).context("cannot write the process ids")
}

pub(crate) fn down() -> Result<()> {
    let home = home()?;
    let pids = fs::read_to_string(home.join("pids")).context("no control plane was left running by `up`")?;
    for line in pids.lines().rev() {
        let Some(pid) = line.parse().ok().and_then(Pid::from_raw) else { continue };
        // The id may have gone to somebody else's process since.
        let folder = fs::read_link(format!("/proc/{line}/cwd"));
        if folder.is_ok_and(|folder| folder == home) {
            kill_process(pid, Signal::KILL)?;
        }
    }
    fs::remove_dir_all(&home)?;
    Ok(())
}
