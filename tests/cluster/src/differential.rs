//! Random Jobs, failed by the real controller, against what the tool says of them.
//!
//! Pods are ended by writing their status, as nothing here runs them. After a while no more pods are ended, so that the
//! controller comes to rest; then each Job is compared that did not change while the tool was reading.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::api::{Api, Change, annotation, has_condition, label, pod_path, text};
use crate::assets::{Assets, cache};
use crate::compare::{disagreements, is_settled};
use crate::control_plane::{ControlPlane, Parts};
use crate::random_job::{Ending, RandomJob};
use crate::results::Results;
use crate::tool::{Failure, Tool};
use crate::wait::{Answer, until};

pub(crate) const NAMES: [&str; 2] = ["differential-dump", "differential-live"];
/// Requests under way at once; the API server refuses above 400.
const CONCURRENCY: usize = 32;
/// How long replacement pods go on to fail. The first comes 10 s after a failure, the second 20 s.
const PLAY: Duration = Duration::from_secs(25);
/// How long the controller may take to come to rest; an index waits up to 20 s for its replacement.
const REST: Duration = Duration::from_secs(300);

pub(crate) async fn run(assets: &Assets, program: &Path, jobs: usize, seed: u64, results: &mut Results) -> Result<()> {
    println!("differential: {jobs} Jobs of seed {seed}");
    let start = Instant::now();
    let plane = ControlPlane::start(assets, Parts::JobsOnly).await?;
    let tool = Tool::new(program, &plane.kubeconfig);
    let random: Vec<_> = (0..jobs).map(|number| RandomJob::new(seed, number)).collect();
    let random = Arc::new(random);
    let player = Player::start(&plane.api, &random);
    create(&plane.api, &random).await?;
    println!("  {:.1} s: created", start.elapsed().as_secs_f32());
    player.first_wave(jobs).await?;
    println!("  {:.1} s: first pods ended", start.elapsed().as_secs_f32());
    tokio::time::sleep(PLAY).await;
    player.frozen.store(true, Ordering::SeqCst);
    let world = rest(&plane.api, &player.gone, jobs).await?;
    println!("  {:.1} s: {}", start.elapsed().as_secs_f32(), world.summary());

    let tool = tool?;
    let dump = plane.folder().join("dump.json");
    world.write(&dump)?;
    let from_dump = async {
        let failures = tool.failures_in(&dump).await?;
        Ok::<_, anyhow::Error>(world.compare(&failures, |job| world.steady.contains(text(job, "/metadata/uid"))))
    };
    let outcome = from_dump.await.and_then(|found| judge(seed, &world, &found, &dump));
    results.record(NAMES[0], outcome);
    let outcome = live(&plane.api, &tool, &player.gone, world).await.and_then(|(world, found)| {
        let dump = plane.folder().join("live.json");
        world.write(&dump)?;
        judge(seed, &world, &found, &dump)
    });
    results.record(NAMES[1], outcome);
    println!("  {:.1} s: compared", start.elapsed().as_secs_f32());
    Ok(())
}

async fn create(api: &Api, random: &[RandomJob]) -> Result<()> {
    for number in 0..random.len().min(10) {
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": format!("random-{number}")}});
        api.ensure("/api/v1/namespaces", &namespace).await?;
    }
    stream::iter(random)
        .map(|job| async move {
            let path = format!("/apis/batch/v1/namespaces/{}/jobs", job.namespace);
            api.create(&path, &job.manifest).await.map(|_| ())
        })
        .buffer_unordered(CONCURRENCY)
        .try_collect()
        .await
}

/// Pods that were deleted, by the uid of their Job. Here only the controller deletes pods, and only those still running.
type Gone = Arc<Mutex<HashMap<String, i64>>>;

/// Ends pods as their Job says, as soon as they appear.
struct Player {
    frozen: Arc<AtomicBool>,
    gone: Gone,
    /// Jobs that have had a pod, and pods whose end is still being written.
    progress: Arc<(AtomicUsize, AtomicUsize)>,
    task: JoinHandle<()>,
}

impl Drop for Player {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Player {
    fn start(api: &Api, random: &Arc<Vec<RandomJob>>) -> Self {
        let frozen = Arc::new(AtomicBool::new(false));
        let mut pods = api.watch("/api/v1/pods");
        let gone = Gone::default();
        let progress = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let counts = progress.clone();
        let (api, random, flag, deleted) = (api.clone(), random.clone(), frozen.clone(), gone.clone());
        let task = tokio::spawn(async move {
            let permits = Arc::new(Semaphore::new(CONCURRENCY));
            let (mut seen, mut jobs) = (HashSet::new(), HashSet::new());
            let mut earlier: HashMap<(String, i64), u64> = HashMap::new();
            while let Some(change) = pods.recv().await {
                let pod = match change {
                    Change::Present(pod) => pod,
                    Change::Gone(pod) => {
                        let owner = text(&pod, "/metadata/ownerReferences/0/uid").to_owned();
                        *deleted.lock().expect("nothing panics while holding it").entry(owner).or_default() += 1;
                        continue;
                    }
                };
                let known = !seen.insert(text(&pod, "/metadata/uid").to_owned());
                if known || flag.load(Ordering::SeqCst) {
                    continue;
                }
                let Some((job, slot)) = slot(&pod) else { continue };
                if jobs.insert(job.clone()) {
                    counts.0.fetch_add(1, Ordering::SeqCst);
                }
                let count = earlier.entry((job.clone(), slot)).or_default();
                let number = job.trim_start_matches("random-").parse::<usize>().unwrap_or_default();
                let ending = random[number].ending(slot, *count);
                *count += 1;
                let Ending::Status(status) = ending else { continue };
                let (api, permits, counts) = (api.clone(), permits.clone(), counts.clone());
                counts.1.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(async move {
                    let _permit = permits.acquire().await;
                    if let Err(error) = api.patch_if_there(&format!("{}/status", pod_path(&pod)), &status).await {
                        eprintln!("a pod could not be ended: {error:#}");
                    }
                    counts.1.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { frozen, gone, progress, task }
    }
}

impl Player {
    /// Until the first pods have ended, which takes the controller longer than us to create the Jobs.
    async fn first_wave(&self, jobs: usize) -> Result<()> {
        until("the first pods of every Job to end", REST, || async {
            let (started, ending) = (self.progress.0.load(Ordering::SeqCst), self.progress.1.load(Ordering::SeqCst));
            let done = started == jobs && ending == 0;
            Ok(if done {
                Answer::Ready(())
            } else {
                Answer::NotYet(format!("{started} of {jobs} Jobs, {ending} pods ending"))
            })
        })
        .await
    }
}

/// The pod's Job and completion index, or -1.
fn slot(pod: &Value) -> Option<(String, i64)> {
    let job = label(pod, "batch.kubernetes.io/job-name")?.to_owned();
    let index = annotation(pod, "batch.kubernetes.io/job-completion-index").and_then(|index| index.parse().ok());
    Some((job, index.unwrap_or(-1)))
}

/// What the API said at one time.
struct World {
    jobs: Vec<Value>,
    pods: Vec<Value>,
    events: Vec<Value>,
    /// Positions in `pods` by the uid of their Job.
    pods_of: HashMap<String, Vec<usize>>,
    gone: HashMap<String, i64>,
    /// Jobs, by uid, that were the same before and after their pods were read: two lists are never of one moment.
    steady: HashSet<String>,
}

impl World {
    async fn read(api: &Api, gone: &Gone) -> Result<Self> {
        let jobs = api.list("/apis/batch/v1/jobs").await?;
        let pods = api.list("/api/v1/pods").await?;
        let version =
            |job: &Value| ["/metadata/uid", "/metadata/resourceVersion"].map(|field| text(job, field).to_owned());
        let before: HashSet<_> = jobs.iter().map(version).collect();
        let after = api.list("/apis/batch/v1/jobs").await?;
        let steady = after.iter().map(version).filter(|version| before.contains(version)).map(|[uid, _]| uid).collect();
        let mut pods_of: HashMap<String, Vec<usize>> = HashMap::new();
        for (position, pod) in pods.iter().enumerate() {
            let owner = text(pod, "/metadata/ownerReferences/0/uid").to_owned();
            pods_of.entry(owner).or_default().push(position);
        }
        let gone = gone.lock().expect("nothing panics while holding it").clone();
        Ok(Self { jobs, pods, events: Vec::new(), pods_of, gone, steady })
    }

    fn pods_of(&self, job: &Value) -> Vec<&Value> {
        let positions = self.pods_of.get(text(job, "/metadata/uid"));
        positions.into_iter().flatten().map(|position| &self.pods[*position]).collect()
    }

    /// Changes with every write to the Job or a pod of it.
    fn version(&self, job: &Value) -> Vec<String> {
        let objects = std::iter::once(job).chain(self.pods_of(job));
        let mut versions: Vec<_> = objects.map(|object| text(object, "/metadata/resourceVersion").to_owned()).collect();
        versions.sort_unstable();
        versions
    }

    fn unsettled(&self) -> Vec<&Value> {
        let moving = |job: &&Value| {
            let pods = self.pods_of(job);
            // One whose deadline passed while its pods ran has none left.
            let started = !pods.is_empty() || has_condition(job, "Failed");
            // No pod is ended any more, so one that still runs will do so for good.
            !started || !is_settled(job, &pods, |_| false)
        };
        self.jobs.iter().filter(moving).collect()
    }

    /// A Job and its pods as JSON, a line each.
    fn in_full(&self, job: &Value) -> String {
        let pods = self.pods_of(job);
        let lines =
            std::iter::once(job).chain(pods).map(|object| format!("  {} {}", text(object, "/kind"), brief(object)));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn summary(&self) -> String {
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        for job in &self.jobs {
            let over = ["Failed", "Complete"].iter().find_map(|kind| {
                let condition = crate::api::condition(job, kind)?;
                Some(format!("{kind}/{}", text(condition, "/reason")))
            });
            *reasons.entry(over.unwrap_or_else(|| "running".to_owned())).or_default() += 1;
        }
        let failed = self.pods.iter().filter(|pod| text(pod, "/status/phase") == "Failed").count();
        let list: Vec<_> = reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        format!("at rest with {failed} failed pods; Jobs: {}", list.join(", "))
    }

    fn write(&self, file: &Path) -> Result<()> {
        let items: Vec<_> = [&self.jobs, &self.pods, &self.events].into_iter().flatten().collect();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        std::fs::write(file, list.to_string()).with_context(|| format!("cannot write {}", file.display()))
    }

    /// What differs, by the Job's position; only for Jobs that `pick` wants.
    fn compare(&self, failures: &[Failure], pick: impl Fn(&Value) -> bool) -> Vec<(usize, Vec<String>)> {
        let mut lines: HashMap<(&str, &str), Vec<&Failure>> = HashMap::new();
        for failure in failures {
            let job = failure.job.as_deref().unwrap_or_default();
            lines.entry((&failure.namespace, job)).or_default().push(failure);
        }
        let differing = self.jobs.iter().enumerate().filter(|(_, job)| pick(job)).filter_map(|(position, job)| {
            let key = (text(job, "/metadata/namespace"), text(job, "/metadata/name"));
            let lines = lines.get(&key).map(Vec::as_slice).unwrap_or_default();
            let gone = self.gone.get(text(job, "/metadata/uid")).copied().unwrap_or_default();
            let found = disagreements(job, &self.pods_of(job), gone, lines);
            (!found.is_empty()).then_some((position, found))
        });
        differing.collect()
    }
}

/// Reads until the controller has nothing more to write about any failure.
async fn rest(api: &Api, gone: &Gone, jobs: usize) -> Result<World> {
    let start = Instant::now();
    loop {
        let mut world = World::read(api, gone).await?;
        ensure!(world.jobs.len() == jobs, "{} of {jobs} Jobs are there", world.jobs.len());
        let unsettled = world.unsettled();
        if unsettled.is_empty() {
            world.events = api.list("/api/v1/events").await?;
            return Ok(world);
        }
        ensure!(
            start.elapsed() < REST,
            "waited {} s for the controller to settle\n{}",
            REST.as_secs(),
            world.in_full(unsettled[0])
        );
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Replacement pods appear at any time, so a Job counts only if it was the same before and after the tool read it.
async fn live(api: &Api, tool: &Tool, gone: &Gone, mut before: World) -> Result<(World, Vec<(usize, Vec<String>)>)> {
    let mut compared = HashSet::new();
    let start = Instant::now();
    loop {
        let failures = tool.failures(&["-A", "--all"]).await?;
        let after = World::read(api, gone).await?;
        let versions: HashMap<_, _> =
            after.jobs.iter().map(|job| (text(job, "/metadata/uid"), after.version(job))).collect();
        let same = |job: &Value| versions.get(text(job, "/metadata/uid")) == Some(&before.version(job));
        let found = before.compare(&failures, |job| same(job) && !compared.contains(text(job, "/metadata/uid")));
        if !found.is_empty() {
            return Ok((before, found));
        }
        compared.extend(before.jobs.iter().filter(|job| same(job)).map(|job| text(job, "/metadata/uid").to_owned()));
        if compared.len() == before.jobs.len() {
            return Ok((before, found));
        }
        let left = before.jobs.len() - compared.len();
        ensure!(
            start.elapsed() < REST,
            "waited {} s for {left} Jobs to hold still while the tool reads",
            REST.as_secs()
        );
        before = after;
    }
}

/// Disagreements in full: the seed, the Job, its pods, and a dump to run the tool on.
fn judge(seed: u64, world: &World, found: &[(usize, Vec<String>)], dump: &Path) -> Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    let kept = cache()?.join(format!("disagreement-{seed}.json"));
    std::fs::create_dir_all(cache()?)?;
    std::fs::copy(dump, &kept)?;
    for (position, reasons) in found.iter().take(5) {
        let job = &world.jobs[*position];
        println!("disagreement on {}/{}", text(job, "/metadata/namespace"), text(job, "/metadata/name"));
        for reason in reasons {
            println!("  {reason}");
        }
        println!("{}", world.in_full(job));
    }
    let jobs = found.len();
    Err(anyhow::anyhow!("{jobs} Jobs of seed {seed} differ; everything the API said is in {}", kept.display()))
}

fn brief(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    object
}
