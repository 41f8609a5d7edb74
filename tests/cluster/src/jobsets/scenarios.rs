//! The JobSets among the scenarios: what the tool tells of each attempt is what was watched.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;

use crate::api::{array, condition, text};
use crate::assets::Assets;
use crate::control_plane::{ControlPlane, Parts};
use crate::jobset;
use crate::jobsets::agreement::contradictions;
use crate::jobsets::alignment::errors;
use crate::jobsets::controller_log::choices;
use crate::jobsets::expectations::{DEFAULT, Expectation, RESTART_JOB};
use crate::jobsets::history::History;
use crate::jobsets::random::matches;
use crate::jobsets::told::{jobsets, of_workload};
use crate::jobsets::watched::Watch;
use crate::kubelet::Kubelet;
use crate::results::Results;
use crate::scenario::Scenario;
use crate::tool::Tool;
use crate::wait::{Answer, until};

const PLAYED: Duration = Duration::from_secs(150);

pub(crate) fn names() -> Vec<String> {
    DEFAULT.iter().map(Expectation::test).collect()
}

pub(crate) fn names_with_restart_job() -> Vec<String> {
    RESTART_JOB.iter().map(Expectation::test).collect()
}

impl Expectation {
    fn test(&self) -> String {
        format!("scenario-{}", self.name)
    }
}

/// The scenarios that need the feature gate `RestartJob`, on a control plane of their own.
pub(crate) async fn run_with_restart_job(assets: &Assets, program: &Path, results: &mut Results) -> Result<()> {
    let start = Instant::now();
    let plane = ControlPlane::start(assets, Parts::JobSets).await?;
    let tool = Tool::new(program, &plane.kubeconfig)?;
    let watch = Watch::start(&plane.api);
    let scenarios = Arc::new(Scenario::with_restart_job()?);
    let _kubelet = Kubelet::start(&plane.api, scenarios.clone()).await?;
    for scenario in scenarios.iter() {
        scenario.create(&plane.api).await?;
    }
    let histories = played(&plane, &watch, RESTART_JOB).await?;
    println!("scenarios with RestartJob: played in {:.0} s", start.elapsed().as_secs_f32());
    check_all(&tool, RESTART_JOB, &histories, results).await;
    Ok(())
}

/// Those of the control plane as it is installed by default.
pub(crate) async fn check(tool: &Tool, histories: &[History], results: &mut Results) {
    check_all(tool, DEFAULT, histories, results).await;
}

pub(crate) async fn await_default(plane: &ControlPlane, watch: &Watch) -> Result<Vec<History>> {
    played(plane, watch, DEFAULT).await
}

/// Once each has gone as far as it is to go, in the order of the expectations.
async fn played(plane: &ControlPlane, watch: &Watch, expectations: &[Expectation]) -> Result<Vec<History>> {
    let mut played = Vec::new();
    for expectation in expectations {
        let what = format!("{} to be played", expectation.name);
        let history = until(&what, PLAYED, || async {
            let histories = History::all(&watch.record(), &choices(&plane.log(jobset::PROGRAM)?))?;
            let name = (expectation.namespace, expectation.name);
            let Some(history) = histories.into_iter().find(|history| history.name() == name) else {
                return Ok(Answer::NotYet("it is not there".to_owned()));
            };
            let outstanding = expectation.outstanding(&history);
            Ok(outstanding.map_or_else(|| Answer::Ready(history), Answer::NotYet))
        });
        played.push(history.await?);
    }
    Ok(played)
}

async fn check_all(tool: &Tool, expectations: &[Expectation], histories: &[History], results: &mut Results) {
    for (expectation, history) in expectations.iter().zip(histories) {
        let name = expectation.test();
        if results.wants(&name) {
            let outcome = check_one(tool, history).await;
            results.record(&name, outcome.map_err(|error| anyhow!("{error:#}\nwatched of {history}")));
        }
    }
}

async fn check_one(tool: &Tool, history: &History) -> Result<()> {
    let wrong = contradictions(history, matches);
    ensure!(wrong.is_empty(), "the controller does not do as documented:\n  {}", wrong.join("\n  "));
    let (namespace, name) = history.name();
    let listed = jobsets(&tool.report(&["-A", "--all"]).await?)?;
    let listed = listed.get(history.uid()).context("the tool lists no such JobSet")?;
    let wrong = errors(listed, history);
    ensure!(wrong.is_empty(), "in `failures`:\n  {}", wrong.join("\n  "));
    // The last pods of an attempt are gone with it, but all Events are there.
    let decided = listed.attempts.iter().take(history.decisions.len());
    let open: Vec<_> = decided.filter(|entry| !entry.is_full()).map(ToString::to_string).collect();
    ensure!(open.is_empty(), "all Events are there, and yet not told in full:\n  {}", open.join("\n  "));
    let explained = tool.explain(&format!("jobset/{name}"), namespace).await?;
    let wrong = errors(&of_workload(&explained)?, history);
    ensure!(wrong.is_empty(), "in `explain`:\n  {}", wrong.join("\n  "));
    verdict(&explained, history)
}

/// What a recording tells of a `JobSet` is what was watched of it.
pub(crate) async fn agreed_in_file(tool: &Tool, recording: &Path, history: &History) -> Result<()> {
    let (namespace, name) = history.name();
    let explained = tool.explain_in(recording, &format!("jobset/{name}"), namespace).await?;
    let wrong = errors(&of_workload(&explained)?, history);
    ensure!(wrong.is_empty(), "in `explain`:\n  {}", wrong.join("\n  "));
    verdict(&explained, history)
}

/// The sentence names what a person looks for first.
fn verdict(explained: &Value, history: &History) -> Result<()> {
    let verdict = text(explained, "/verdict");
    ensure!(!verdict.is_empty(), "`explain` has no verdict");
    ensure!(!array(explained, "/timeline").is_empty(), "`explain` has no timeline");
    if let Some(failed) = condition(&history.jobset, "Failed") {
        let last = history.decisions.last().context("a JobSet that failed without a decision")?;
        // It may leave out what all Jobs of the JobSet are called.
        let job = last.written.job.trim_start_matches(&format!("{}-", history.name().1));
        ensure!(verdict.contains(job), "{failed} is about {job}, the verdict is not: {verdict}");
    }
    Ok(())
}
