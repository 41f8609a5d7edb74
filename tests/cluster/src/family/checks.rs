//! Asks the tool about each scenario, on the cluster and from a dump of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::Value;
use tokio::process::Command;

use crate::api::text;
use crate::assets::{Assets, cache};
use crate::control_plane::{ControlPlane, Parts};
use crate::family::expectations::{EXPECTATIONS, Expectation};
use crate::family::player;
use crate::kubelet::Kubelet;
use crate::results::Results;
use crate::scenario::Scenario;
use crate::tool::{self, Failure, Tool};

/// The dump is to say what the cluster says.
const FROM_DUMP: &str = "family-from-dump";

/// What `kubectl get` is asked for to have it all.
const DUMPED: &str = "deployments,replicasets,statefulsets,daemonsets,controllerrevisions,cronjobs,jobs,jobsets,\
    leaderworkersets,sandboxes,sandboxclaims,sandboxtemplates,sandboxwarmpools,trainjobs,workloads.kueue.x-k8s.io,\
    pods,persistentvolumeclaims,events,nodes";

pub(crate) fn names() -> Vec<String> {
    let mut names: Vec<_> = EXPECTATIONS.iter().map(Expectation::test).collect();
    names.dedup();
    names.push(FROM_DUMP.to_owned());
    names
}

/// On a control plane of its own, with all controllers.
pub(crate) async fn run(assets: &Assets, program: &Path, results: &mut Results) -> Result<()> {
    let start = Instant::now();
    let scenarios = Arc::new(wanted(results)?);
    let plane = ControlPlane::start(assets, Parts::Family).await?;
    let tool = Tool::new(program, &plane.kubeconfig)?;
    let kubelet = Kubelet::start(&plane.api, scenarios.clone()).await?;
    let mut played = player::play(&plane.api, &kubelet, &scenarios).await;
    println!("family: {} scenarios played in {:.0} s", played.len(), start.elapsed().as_secs_f32());

    let failures = tool.failures(&["-A", "--all"]).await?;
    let dump = dump(&plane).await?;
    println!("family: what kubectl says of them is in {}", dump.display());
    let mut verdicts = BTreeMap::new();
    for scenario in scenarios.iter() {
        let outcome = match played.remove(&scenario.name) {
            Some(Ok(())) => check(&tool, &scenario.name, &failures, &mut verdicts).await,
            Some(Err(error)) => Err(error.context("not played to its end")),
            None => Err(anyhow!("not played")),
        };
        results.record(&test(&scenario.name), outcome);
    }
    if results.wants(FROM_DUMP) {
        results.record(FROM_DUMP, agrees(&tool, &dump, &verdicts).await);
    }
    drop(kubelet);
    Ok(())
}

fn test(scenario: &str) -> String {
    format!("family-{scenario}")
}

impl Expectation {
    fn test(&self) -> String {
        test(self.scenario)
    }
}

/// Only those that were asked for are played. The dump is compared for all of them.
fn wanted(results: &Results) -> Result<Vec<Scenario>> {
    let mut scenarios = Scenario::family()?;
    let alone = without_counterpart(&scenarios);
    ensure!(alone.is_empty(), "a scenario of which nothing is expected, or the reverse: {}", alone.join(", "));
    if !results.wants(FROM_DUMP) {
        scenarios.retain(|scenario| results.wants(&test(&scenario.name)));
    }
    Ok(scenarios)
}

/// The names that only a file or only an expectation has.
fn without_counterpart(scenarios: &[Scenario]) -> Vec<String> {
    let played: BTreeSet<_> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    let expected: BTreeSet<_> = EXPECTATIONS.iter().map(|expectation| expectation.scenario).collect();
    played.symmetric_difference(&expected).map(|name| (*name).to_owned()).collect()
}

type Verdicts = BTreeMap<(&'static str, &'static str), String>;

/// Everything that is expected of one scenario; all that is wrong is told at once.
async fn check(tool: &Tool, scenario: &str, failures: &[Failure], verdicts: &mut Verdicts) -> Result<()> {
    let mut wrong = Vec::new();
    for expectation in EXPECTATIONS.iter().filter(|expectation| expectation.scenario == scenario) {
        let (namespace, workload) = (expectation.namespace, expectation.workload);
        if let Err(error) = expectation.listed(failures) {
            wrong.push(format!("{workload}: {error:#}"));
        }
        match verdict(tool, expectation).await {
            Ok(verdict) => {
                wrong.extend(expectation.missing(&verdict));
                verdicts.insert((namespace, workload), verdict);
            }
            Err(error) => wrong.push(format!("{workload}: {error:#}")),
        }
    }
    ensure!(wrong.is_empty(), "\n    {}", wrong.join("\n    "));
    Ok(())
}

impl Expectation {
    /// Its lines in `failures` are of the class that is expected, or there are none where nothing failed.
    fn listed(&self, failures: &[Failure]) -> Result<()> {
        let lines = failures.iter().filter(|line| line.namespace == self.namespace && line.workload == self.workload);
        let classes: Vec<_> = lines.map(|line| line.class.as_str()).collect();
        match self.class {
            Some(class) => ensure!(classes.contains(&class), "expected {class} in `failures`, found {classes:?}"),
            None => ensure!(classes.is_empty(), "nothing failed, and yet `failures` lists {classes:?}"),
        }
        Ok(())
    }

    fn missing(&self, verdict: &str) -> Vec<String> {
        let parts = self.verdict.iter().filter(|part| !verdict.contains(**part));
        parts.map(|part| format!("{}: the verdict does not tell {part:?}: {verdict}", self.workload)).collect()
    }
}

async fn verdict(tool: &Tool, expectation: &Expectation) -> Result<String> {
    let explained = tool.explain(expectation.workload, expectation.namespace).await?;
    spoken(&explained)
}

fn spoken(explained: &Value) -> Result<String> {
    let verdict = text(explained, "/verdict");
    ensure!(!verdict.is_empty(), "`explain` has no verdict");
    Ok(verdict.to_owned())
}

/// As a person takes one with kubectl. It stays, for whoever wants to see why a test failed.
async fn dump(plane: &ControlPlane) -> Result<PathBuf> {
    let file = cache()?.join("family.json");
    let mut command = Command::new(plane.assets.binary("kubectl"));
    command.args(["get", DUMPED, "-A", "-o", "json", "--kubeconfig"]).arg(&plane.kubeconfig);
    let output = tool::run(command).await?;
    ensure!(output.code == 0, "kubectl: {}", output.stderr);
    std::fs::write(&file, output.stdout).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

/// The verdicts name ages, which grow; what they tell otherwise is the same.
async fn agrees(tool: &Tool, dump: &Path, verdicts: &Verdicts) -> Result<()> {
    let mut wrong = Vec::new();
    for ((namespace, workload), live) in verdicts {
        let told = tool.explain_in(dump, workload, namespace).await.and_then(|explained| spoken(&explained));
        match told {
            Ok(told) if without_ages(&told) == without_ages(live) => {}
            Ok(told) => wrong.push(format!("{namespace} {workload}: live {live:?}, from the dump {told:?}")),
            Err(error) => wrong.push(format!("{namespace} {workload}: {error:#}")),
        }
    }
    if verdicts.is_empty() {
        bail!("no verdict to compare with");
    }
    ensure!(wrong.is_empty(), "\n    {}", wrong.join("\n    "));
    Ok(())
}

fn without_ages(verdict: &str) -> String {
    let words = verdict.split(' ').map(|word| if is_age(word) { "a while" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Such as `3m9s`.
fn is_age(word: &str) -> bool {
    let word = word.trim_end_matches(|last: char| last.is_ascii_punctuation());
    let starts = word.starts_with(|first: char| first.is_ascii_digit());
    let ends = word.ends_with(['s', 'm', 'h', 'd']);
    starts && ends && word.chars().all(|part| part.is_ascii_digit() || "smhd".contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_is_expected_to_be_told_of() {
        let scenarios = Scenario::family().expect("the files can be read");
        assert_eq!(without_counterpart(&scenarios), Vec::<String>::new());
    }

    #[test]
    fn only_ages_differ_between_two_looks() {
        let live = "pod a waits for 3m9s, its image is app:1.5";
        assert_eq!(without_ages(live), without_ages("pod a waits for 3m, its image is app:1.5"));
        assert_ne!(without_ages(live), without_ages("pod a waits for 3m, its image is app:1.4"));
    }
}
