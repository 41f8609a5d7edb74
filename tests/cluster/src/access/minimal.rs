//! Each published role is minimal: with it, nothing that it is for is refused; with any one verb of any one resource taken
//! out of it, what docs/rbac.md promises is missing, and is said to be.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use futures_util::future::{join_all, try_join_all};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::probe::{Ask, Outcome, Probe, Running};
use super::roles::{self, Right};
use super::tiers::{Names, TIERS, Tier};
use super::world::{NAMESPACE, World};
use crate::api::{Api, text};
use crate::assets::Assets;
use crate::results::Results;
use crate::tool::Tool;

/// Runs of the tool that are under way at once. Those that follow mostly wait.
const AT_ONCE: usize = 12;
const FOLLOWING_AT_ONCE: usize = 64;

const EVERY_ROLE: &str = "access-every-published-role-is-proven";
const ONE_NAMESPACE: &str = "access-role-bindings-suffice-in-one-namespace";

pub(crate) fn names() -> Vec<String> {
    let of_tiers = TIERS.iter().map(|tier| format!("access-{}-is-minimal", tier.name));
    of_tiers.chain([EVERY_ROLE, ONE_NAMESPACE].map(str::to_owned)).collect()
}

/// On a control plane of its own.
pub(crate) async fn run_all(assets: &Assets, program: &Path, results: &mut Results) -> Result<()> {
    let world = World::start(assets).await?;
    let kubeconfig = world.plane.folder().join("two-contexts.kubeconfig");
    std::fs::write(&kubeconfig, super::with_second_context(&world.plane.kubeconfig)?)?;
    let bench = Bench {
        api: &world.plane.api,
        tool: Tool::new(program, &kubeconfig)?,
        names: [("deployment", world.pod_of_deployment().await?)].into(),
        roles: roles::all()?,
        limits: [Arc::new(Semaphore::new(AT_ONCE)), Arc::new(Semaphore::new(FOLLOWING_AT_ONCE))],
    };
    if results.wants(EVERY_ROLE) {
        results.record(EVERY_ROLE, bench.all_are_tiers());
    }
    if results.wants(ONE_NAMESPACE) {
        results.record(ONE_NAMESPACE, bench.one_namespace().await);
    }
    let wanted: Vec<&Tier> =
        TIERS.iter().filter(|tier| results.wants(&format!("access-{}-is-minimal", tier.name))).collect();
    let outcomes = join_all(wanted.iter().map(|tier| bench.prove(tier))).await;
    for (tier, outcome) in wanted.into_iter().zip(outcomes) {
        results.record(&format!("access-{}-is-minimal", tier.name), outcome);
    }
    Ok(())
}

struct Bench<'a> {
    api: &'a Api,
    tool: Tool,
    names: Names,
    roles: Vec<Value>,
    /// Of commands that end, and of those that go on.
    limits: [Arc<Semaphore>; 2],
}

/// A right, and the commands that need it.
struct Case {
    right: Right,
    user: String,
    probes: Vec<Probe>,
}

impl Bench<'_> {
    fn rights_of(&self, tier: &str) -> Result<Vec<Right>> {
        let name = format!("kubectl-sigapps-{tier}");
        let role = self.roles.iter().find(|role| text(role, "/metadata/name") == name);
        Ok(roles::rights(role.with_context(|| format!("there is no role {name}"))?))
    }

    /// A role that no tier speaks of would be proven by nobody.
    fn all_are_tiers(&self) -> Result<()> {
        for role in &self.roles {
            let name = text(role, "/metadata/name");
            let is_known = TIERS.iter().any(|tier| name == format!("kubectl-sigapps-{}", tier.name));
            ensure!(is_known, "nothing is known of what {name} is for: add it to tests/cluster/src/access/tiers.rs");
        }
        Ok(())
    }

    async fn prove(&self, tier: &Tier) -> Result<()> {
        let own = self.rights_of(tier.name)?;
        let mut base = Vec::new();
        for below in tier.stands_on {
            base.extend(self.rights_of(below)?);
        }
        let (mut cases, mut wrong) = (Vec::new(), Vec::new());
        for (number, right) in own.iter().enumerate() {
            match tier.probes(right, &self.names) {
                Ok(probes) => {
                    let user = format!("{}-without-{number}", tier.name);
                    cases.push(Case { right: right.clone(), user, probes });
                }
                Err(error) => wrong.push(format!("{right}: {error:#}")),
            }
        }
        let whole = format!("{}-whole", tier.name);
        self.prepare(&whole, &cases, &own, &base).await?;
        // First those that go on with all rights, so that they have had as long as those that are refused something.
        let following = self.follow_with_all(&whole, &cases)?;
        let without = async { join_all(cases.iter().map(|case| self.without(case))).await };
        let with =
            async { join_all(commands(&cases, false).into_iter().map(|ask| self.with_all(&whole, ask, &cases))).await };
        let (without, with) = tokio::join!(without, with);
        wrong.extend(without.into_iter().chain(with).filter_map(Result::err).map(|error| format!("{error:#}")));
        for (ask, running) in following {
            let worked = works(ask, &running.end().await?, &cases);
            wrong.extend(worked.err().map(|error| format!("{error:#}")));
        }
        println!(
            "access: {} has {} rights, {} commands were run",
            tier.name,
            own.len(),
            cases.iter().map(|case| case.probes.len()).sum::<usize>()
        );
        if !wrong.is_empty() {
            bail!("{}", wrong.join("\n  "));
        }
        Ok(())
    }

    /// Grants all but one right to each case's user, all to one more, and waits until that is known.
    async fn prepare(&self, whole: &str, cases: &[Case], own: &[Right], base: &[Right]) -> Result<()> {
        let all = [base, own].concat();
        roles::give(self.api, whole, &all).await?;
        let given = cases.iter().map(|case| async move {
            let left = own.iter().filter(|right| **right != case.right);
            let rights: Vec<Right> = base.iter().chain(left).cloned().collect();
            let still = rights.contains(&case.right) || base.iter().any(|right| right == &case.right);
            ensure!(!still, "{} is granted by a role that it stands on as well: take it out", case.right);
            roles::give(self.api, &case.user, &rights).await?;
            match rights.first() {
                Some(right) => roles::known(self.api, &case.user, right, NAMESPACE).await,
                None => Ok(()),
            }
        });
        try_join_all(given).await?;
        roles::known(self.api, whole, all.first().context("a role without rights")?, NAMESPACE).await
    }

    /// Each command says what is missing, as it was promised.
    async fn without(&self, case: &Case) -> Result<()> {
        let runs = case.probes.iter().map(|probe| async move {
            let limit = &self.limits[usize::from(probe.ask.goes_on())];
            let _turn = limit.acquire().await?;
            let outcome = probe.ask.run(&self.tool, &case.user).await?;
            outcome.keeps(probe.promise, &case.right).with_context(|| format!("{:?}", probe.ask))
        });
        let told: Vec<String> =
            join_all(runs).await.into_iter().filter_map(Result::err).map(|error| format!("{error:#}")).collect();
        ensure!(told.is_empty(), "without {}: {}", case.right, told.join("; "));
        Ok(())
    }

    /// With all rights, nothing that the command needs is refused.
    async fn with_all(&self, whole: &str, ask: &Ask, cases: &[Case]) -> Result<()> {
        let _turn = self.limits[0].acquire().await?;
        works(ask, &ask.run(&self.tool, whole).await?, cases)
    }

    fn follow_with_all<'a>(&self, whole: &str, cases: &'a [Case]) -> Result<Vec<(&'a Ask, Running)>> {
        commands(cases, true).into_iter().map(|ask| Ok((ask, ask.begin(&self.tool, whole)?))).collect()
    }

    /// All that reads, bound in one namespace: nothing is missing there but nodes, which are in none.
    async fn one_namespace(&self) -> Result<()> {
        for file in ["core.yaml", "workloads.yaml", "context.yaml"] {
            roles::grant_in(self.api, file, "guest", NAMESPACE).await?;
        }
        let rights = self.rights_of("context")?;
        roles::known(self.api, "guest", rights.first().context("a role without rights")?, NAMESPACE).await?;
        for arguments in [&["failures"][..], &["explain", "job/one"]] {
            let arguments = [arguments, &["-n", NAMESPACE, "-o", "json", "--as", "guest"]].concat();
            let told = self.tool.live(&arguments).await?;
            ensure!(told.code == 0, "{arguments:?}: exit code {}: {}", told.code, told.stderr);
            let report: Value = serde_json::from_str(&told.stdout)?;
            let denied: Vec<&str> = super::denied(&report).collect();
            ensure!(denied == ["nodes"], "{arguments:?}: denied: {denied:?}");
        }
        let everywhere = self.tool.live(&["failures", "-A", "--as", "guest"]).await?;
        let clear = ["pods", "-n", "forbidden"].iter().any(|word| everywhere.stderr.contains(word));
        ensure!(everywhere.code == 1 && clear, "exit code {}: {}", everywhere.code, everywhere.stderr);
        Ok(())
    }
}

/// Each once: those that go on, or those that end.
fn commands(cases: &[Case], going_on: bool) -> Vec<&Ask> {
    let mut all: Vec<&Ask> = Vec::new();
    for probe in cases.iter().flat_map(|case| &case.probes).filter(|probe| probe.ask.goes_on() == going_on) {
        if !all.contains(&&probe.ask) {
            all.push(&probe.ask);
        }
    }
    all
}

/// With all rights a command succeeds, and nothing that it needs is refused.
fn works(ask: &Ask, outcome: &Outcome, cases: &[Case]) -> Result<()> {
    if let Some(right) = needed_by(ask, cases).find(|right| outcome.names(right)) {
        bail!("{right} is granted, but {ask:?} says: {}", outcome.said());
    }
    if ask.can_succeed() {
        outcome.ensure_success().with_context(|| format!("with all rights, {ask:?}"))?;
    }
    Ok(())
}

/// The rights that a command is run for.
fn needed_by<'a>(ask: &'a Ask, cases: &'a [Case]) -> impl Iterator<Item = &'a Right> {
    let needs = move |case: &&Case| case.probes.iter().any(|probe| probe.ask == *ask);
    cases.iter().filter(needs).map(|case| &case.right)
}
