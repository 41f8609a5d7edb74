//! Random JobSets, restarted and failed by the real controllers, against what the tool tells of them afterwards.
//!
//! Everything is watched while it happens. After a while no more pods are ended, so that the controllers come to rest;
//! then the tool gets what is left, with all Events, with some, and with none, and is held to what was watched.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::api::Api;
use crate::assets::{Assets, cache};
use crate::control_plane::{ControlPlane, Parts};
use crate::jobset;
use crate::jobsets::agreement::contradictions;
use crate::jobsets::alignment::errors;
use crate::jobsets::controller_log::choices;
use crate::jobsets::failure_policy::{Chosen, Effect};
use crate::jobsets::history::History;
use crate::jobsets::player::Player;
use crate::jobsets::random::{RandomJobSet, matches};
use crate::jobsets::remains::{Events, Remains};
use crate::jobsets::told::{Entry, jobsets};
use crate::jobsets::watched::Watch;
use crate::kubelet::Nodes;
use crate::results::Results;
use crate::tool::Tool;

/// Whether the controller does what is documented, and then the tool: live and with less and less to read.
pub(crate) const NAMES: [&str; 6] = [
    "differential-jobsets-controller",
    "differential-jobsets-live",
    "differential-jobsets-dump",
    "differential-jobsets-older-events-expired",
    "differential-jobsets-without-their-events",
    "differential-jobsets-without-events",
];
/// So many are created at once, the others one after the other with a pause, as the controllers would be busy with Jobs
/// and pods for minutes before anything fails.
const AT_ONCE: usize = 40;
const PAUSE: Duration = Duration::from_millis(400);
/// How long pods go on to fail after that; an attempt takes two to ten seconds.
const PLAY: Duration = Duration::from_secs(45);

/// Without a program only the controllers are judged, and what was watched is printed.
pub(crate) async fn run(
    assets: &Assets,
    program: Option<&Path>,
    number: usize,
    seed: u64,
    results: &mut Results,
) -> Result<()> {
    println!("differential-jobsets: {number} JobSets of seed {seed}");
    let start = Instant::now();
    let plane = ControlPlane::start(assets, Parts::JobSets).await?;
    let tool = program.map(|program| Tool::new(program, &plane.kubeconfig)).transpose()?;
    let _nodes = Nodes::start(&plane.api).await?;
    let watch = Watch::start(&plane.api);
    let random = Arc::new((0..number).map(|number| RandomJobSet::new(seed, number)).collect::<Vec<_>>());
    let player = Player::start(&plane.api, &random);
    let play = async {
        create(&plane.api, &random).await?;
        println!("  {:.1} s: created", start.elapsed().as_secs_f32());
        tokio::time::sleep(PLAY).await;
        Ok::<_, anyhow::Error>(())
    };
    tokio::select! {
        ended = play => ended?,
        stopped = stutter(&plane, seed) => stopped?,
    }
    player.freeze();
    let remains = Remains::at_rest(&plane.api, &watch).await?;
    let histories = History::all(&watch.record(), &choices(&plane.log(jobset::PROGRAM)?))?;
    println!("  {:.1} s: at rest with {}", start.elapsed().as_secs_f32(), summary(&histories));

    let judgement = Judgement { seed, histories: &histories, remains: &remains, folder: plane.folder() };
    results.record(NAMES[0], judgement.controller());
    let Some(tool) = tool else {
        for history in &histories {
            println!("{history}");
        }
        return Ok(());
    };
    let live = match tool.report(&["-A", "--all"]).await {
        Ok(report) => judgement.tool(NAMES[1], Events::All, &report),
        Err(error) => Err(error),
    };
    results.record(NAMES[1], live);
    let kept = [Events::All, Events::Newer(judgement.middle()), Events::NotOfJobSets, Events::None];
    for (name, events) in NAMES[2..].iter().zip(kept) {
        results.record(name, judgement.dump(&tool, name, events).await);
    }
    println!("  {:.1} s: compared", start.elapsed().as_secs_f32());
    Ok(())
}

async fn create(api: &Api, random: &[RandomJobSet]) -> Result<()> {
    for jobset in random.iter().take(5) {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": jobset.namespace}});
        api.ensure("/api/v1/namespaces", &namespace).await?;
    }
    for (number, jobset) in random.iter().enumerate() {
        if number >= AT_ONCE {
            tokio::time::sleep(PAUSE).await;
        }
        let path = format!("/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets", jobset.namespace);
        api.create(&path, &jobset.manifest).await.with_context(|| format!("refused: {}", jobset.manifest))?;
    }
    Ok(())
}

/// Holds the controller up now and then, so that it finds several Jobs failed at once. Does so until it is dropped.
async fn stutter(plane: &ControlPlane, seed: u64) -> Result<()> {
    let mut rng = fastrand::Rng::with_seed(seed);
    loop {
        tokio::time::sleep(Duration::from_millis(rng.u64(1000..4000))).await;
        let paused = plane.pause(jobset::PROGRAM)?;
        tokio::time::sleep(Duration::from_millis(rng.u64(500..3000))).await;
        drop(paused);
    }
}

fn summary(histories: &[History]) -> String {
    let (mut effects, mut met, mut ruled) = (BTreeMap::new(), 0, 0);
    for decision in histories.iter().flat_map(|history| &history.decisions) {
        let effect = if let Effect::Fail(reason) = decision.written.effect { reason } else { decision.outcome() };
        *effects.entry(effect).or_insert(0) += 1;
        met += usize::from(decision.failed.len() > 1);
        ruled += usize::from(matches!(decision.chosen, Some(Chosen::Rule(_))));
    }
    let all: usize = effects.values().sum();
    let list: Vec<_> = effects.iter().map(|(effect, count)| format!("{count} {effect}")).collect();
    format!("{all} decisions ({}), {ruled} of them by a rule, {met} over several failed Jobs", list.join(", "))
}

struct Judgement<'a> {
    seed: u64,
    histories: &'a [History],
    remains: &'a Remains,
    folder: &'a Path,
}

/// What is wrong about a JobSet.
type Wrong<'a> = (&'a History, Vec<String>);

impl Judgement<'_> {
    /// Half of the decisions came before it.
    fn middle(&self) -> jiff::Timestamp {
        let decisions = self.histories.iter().flat_map(|history| &history.decisions);
        let mut times: Vec<_> = decisions.map(|decision| decision.at).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }

    fn controller(&self) -> Result<()> {
        let wrong = self.histories.iter().map(|history| (history, contradictions(history, matches)));
        self.nothing(NAMES[0], Events::All, &wrong.filter(|(_, wrong)| !wrong.is_empty()).collect::<Vec<_>>())
    }

    async fn dump(&self, tool: &Tool, name: &str, events: Events) -> Result<()> {
        let file = self.folder.join(format!("{name}.json"));
        self.remains.write(&file, events)?;
        self.tool(name, events, &tool.report_in(&file).await?)
    }

    fn tool(&self, name: &str, events: Events, report: &Value) -> Result<()> {
        let told = jobsets(report)?;
        let (mut wrong, mut full, mut all) = (Vec::new(), 0, 0);
        for history in self.histories {
            let decisions = history.decisions.len();
            let found = match told.get(history.uid()) {
                Some(told) => {
                    full += told.attempts.iter().take(decisions).filter(|attempt| attempt.is_full()).count();
                    let mut found = errors(told, history);
                    if !found.is_empty() {
                        found.extend(told.attempts.iter().map(Entry::to_string));
                    }
                    found
                }
                None if decisions == 0 => Vec::new(),
                None => vec!["the tool tells nothing of it".to_owned()],
            };
            all += decisions;
            if !found.is_empty() {
                wrong.push((history, found));
            }
        }
        println!("  {name}: {full} of {all} decisions told in full");
        self.nothing(name, events, &wrong)?;
        // Without Events there may be nothing left to know them by.
        let enough = !matches!(events, Events::All) || full * 100 >= all * 95;
        ensure!(enough, "only {full} of {all} decisions of seed {} are told in full, with all Events there", self.seed);
        Ok(())
    }

    /// Fails with the first few in full, and keeps what the tool was given.
    fn nothing(&self, name: &str, events: Events, wrong: &[Wrong]) -> Result<()> {
        if wrong.is_empty() {
            return Ok(());
        }
        std::fs::create_dir_all(cache()?)?;
        let kept = cache()?.join(format!("disagreement-{}-{name}.json", self.seed));
        self.remains.write(&kept, events)?;
        for (history, found) in wrong.iter().take(5) {
            println!("disagreement on {history}");
            for what in found {
                println!("  * {what}");
            }
        }
        let number = wrong.len();
        anyhow::bail!("{number} JobSets of seed {} differ; what was left of them is in {}", self.seed, kept.display())
    }
}
