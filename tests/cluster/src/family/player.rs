//! Plays the scenarios side by side, each step by step.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use futures_util::future::join_all;

use crate::api::Api;
use crate::kubelet::Kubelet;
use crate::scenario::Scenario;

/// How each has gone, by its name. One that does not come as far as it is to come leaves the others alone.
pub(crate) async fn play(api: &Api, kubelet: &Kubelet, scenarios: &[Scenario]) -> BTreeMap<String, Result<()>> {
    let played = scenarios.iter().map(|scenario| async move {
        let outcome = play_one(api, kubelet, scenario).await;
        (scenario.name.clone(), outcome)
    });
    join_all(played).await.into_iter().collect()
}

async fn play_one(api: &Api, kubelet: &Kubelet, scenario: &Scenario) -> Result<()> {
    scenario.create(api).await?;
    for (number, step) in scenario.steps.iter().enumerate() {
        let taken = step.take(api, kubelet, scenario.namespace()).await;
        taken.with_context(|| format!("step {}", number + 1))?;
    }
    Ok(())
}
