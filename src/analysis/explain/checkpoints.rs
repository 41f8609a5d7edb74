//! What the pod templates tell of checkpoints, what becomes of them, and which of them are objects that exist.

use super::snapshots::snapshots;
use super::{Facts, Subject};
use crate::analysis::checkpoint::{Kept, claim_in, kept_in, of_cron_job_in, of_job_in};
use crate::analysis::object;
use crate::checkpoint::{Answer, Kind, Sign};
use crate::model::{Job, JobSet, Pod};
use crate::report::{
    AnswerReport, CheckpointReport, DeletionReport, DurableReport, Evidence, SavesReport, SigtermReport, SnapshotReport,
};

/// What is told of a pod template that shows no sign.
const NO_SIGN: &str =
    "no sign of checkpoints in the pod template (what an image, ConfigMap or script holds is not seen)";

/// Templates that tell the same are one.
pub(super) fn checkpoints(facts: &Facts) -> Vec<CheckpointReport> {
    let mut all: Vec<Told> = Vec::new();
    for told in told(facts) {
        match all.iter_mut().find(|other| other.is_like(&told)) {
            Some(other) => other.add(told),
            None => all.push(told),
        }
    }
    all.into_iter().map(|told| told.report(facts)).collect()
}

/// A template, and what is told of it.
struct Told<'s> {
    source: Source<'s>,
    replicated_jobs: Vec<String>,
    /// `None` where the template shows no sign.
    kept: Option<Kept>,
    /// Paths within the object, and what stands there.
    signs: Vec<(String, Sign)>,
    snapshots: Vec<SnapshotReport>,
}

/// What has the template.
#[derive(Clone, Copy)]
enum Source<'s> {
    JobSet(&'s JobSet),
    Job(&'s Job),
    CronJob(&'s crate::model::CronJob),
}

fn told<'s>(facts: &Facts<'_, 's>) -> Vec<Told<'s>> {
    match facts.subject {
        Subject::JobSet(job_set) => of_job_set(facts, job_set, None, None),
        Subject::Job(job) => of_job(facts, job, None),
        Subject::Pod(pod) => facts.jobs.first().map(|job| of_job(facts, job, Some(pod))).unwrap_or_default(),
        Subject::Other(_) => facts.story.map(|story| of_job_set(facts, story.job_set, None, None)).unwrap_or_default(),
        Subject::Node(_) => Vec::new(),
        Subject::CronJob(cron_job) => {
            let of_run = facts.jobs.first().map(|job| of_job(facts, job, None)).unwrap_or_default();
            if of_run.iter().any(|told| told.kept.is_some()) {
                return of_run;
            }
            // A Job's template is as the CronJob's was when the Job was made.
            match of_cron_job_in(cron_job, facts.analysis.snapshot) {
                Some(kept) => vec![Told::new(Source::CronJob(cron_job), Vec::new(), Some(kept), Vec::new())],
                None => of_run,
            }
        }
    }
}

/// A `JobSet` knows more of the claims of its Jobs than they do.
fn of_job<'s>(facts: &Facts<'_, 's>, job: &'s Job, pod: Option<&Pod>) -> Vec<Told<'s>> {
    let job_set = facts.story.map(|story| story.job_set);
    if let Some(job_set) = job_set.filter(|job_set| job_set.replicated_job_of(&job.name).is_some()) {
        return of_job_set(facts, job_set, Some(job), pod);
    }
    let snapshot = facts.analysis.snapshot;
    let kept = of_job_in(job, snapshot);
    let snapshots = snapshots(snapshot, &job.namespace, kept.as_ref(), pod, |pod| is_pod_of(pod, &job.name));
    let is_missed = job.has_accelerators && job.condition("Failed").is_some();
    if kept.is_none() && snapshots.is_empty() && !is_missed {
        return Vec::new();
    }
    vec![Told::new(Source::Job(job), Vec::new(), kept, snapshots)]
}

/// Of a `JobSet`: each replicated Job that tells anything, or that of the Job asked for. Where none does and it has failed, what
/// is missed is said once.
fn of_job_set<'s>(facts: &Facts<'_, 's>, job_set: &'s JobSet, only: Option<&Job>, pod: Option<&Pod>) -> Vec<Told<'s>> {
    let snapshot = facts.analysis.snapshot;
    let all_kept = kept_in(job_set, snapshot);
    let failed = job_set.condition("Failed").is_some();
    let mut all = Vec::new();
    let only_name = only.and_then(|job| job_set.replicated_job_of(&job.name)).map(|replicated| &replicated.name);
    for replicated in job_set.replicated_jobs.iter().filter(|job| only_name.is_none_or(|name| job.name == *name)) {
        let kept = all_kept.iter().find(|kept| kept.replicated_job.as_ref() == Some(&replicated.name)).cloned();
        let prefix = format!("{}-{}-", job_set.name, replicated.name);
        let is_own = |pod: &str| match only {
            Some(job) => is_pod_of(pod, &job.name),
            None => is_pod_of_replicated_job(pod, &prefix),
        };
        let snapshots = snapshots(snapshot, &job_set.namespace, kept.as_ref(), pod, is_own);
        let is_missed = failed && all_kept.is_empty() && replicated.accelerators > 0.0;
        if kept.is_some() || !snapshots.is_empty() || is_missed {
            let names = vec![replicated.name.to_string()];
            all.push(Told::new(Source::JobSet(job_set), names, kept, snapshots));
        }
    }
    all
}

/// Whether a pod's name is made of the Job's: `<job>-<5 characters>` or, of an Indexed one, `<job>-<index>-<5 characters>`.
fn is_pod_of(pod: &str, job: &str) -> bool {
    let Some(rest) = pod.strip_prefix(job).and_then(|rest| rest.strip_prefix('-')) else { return false };
    let random = match rest.split_once('-') {
        Some((index, random)) if is_number(index) => random,
        Some(_) => return false,
        None => rest,
    };
    random.len() == 5 && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The same of `<jobset>-<replicatedJob>-<job index>`, of which all but the index is told.
fn is_pod_of_replicated_job(pod: &str, prefix: &str) -> bool {
    let index = pod.strip_prefix(prefix).and_then(|rest| rest.split('-').next()).filter(|index| is_number(index));
    index.is_some_and(|index| is_pod_of(pod, &format!("{prefix}{index}")))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl<'s> Told<'s> {
    fn new(
        source: Source<'s>,
        replicated_jobs: Vec<String>,
        kept: Option<Kept>,
        snapshots: Vec<SnapshotReport>,
    ) -> Self {
        let path = source.template_path(replicated_jobs.first());
        let signs = kept.iter().flat_map(|kept| &kept.checkpoints.signs);
        let signs = signs.map(|sign| (format!("{path}.{}", sign.path), sign.clone())).collect();
        Self { source, replicated_jobs, kept, signs, snapshots }
    }

    /// Whether the same is told, evidence aside.
    fn is_like(&self, other: &Self) -> bool {
        match (&self.kept, &other.kept) {
            (None, None) => true,
            (Some(this), Some(that)) => {
                let (left, right) = (&this.checkpoints, &that.checkpoints);
                (left.framework, &left.saves, &left.resumes, &left.durable, &left.sigterm)
                    == (right.framework, &right.saves, &right.resumes, &right.durable, &right.sigterm)
                    && (&this.claim, this.durable, &this.why, &this.deleted_by)
                        == (&that.claim, that.durable, &that.why, &that.deleted_by)
            }
            _ => false,
        }
    }

    fn add(&mut self, other: Self) {
        self.replicated_jobs.extend(other.replicated_jobs);
        let new = |(_, sign): &(String, Sign)| !self.signs.iter().any(|(_, known)| known == sign);
        let signs: Vec<(String, Sign)> = other.signs.into_iter().filter(new).collect();
        self.signs.extend(signs);
        let new = |taken: &SnapshotReport| !self.snapshots.contains(taken);
        let snapshots: Vec<SnapshotReport> = other.snapshots.into_iter().filter(new).collect();
        self.snapshots.extend(snapshots);
    }

    fn report(self, facts: &Facts) -> CheckpointReport {
        let evidence = self.evidence(facts);
        let object = self.source.object();
        let (replicated_jobs, snapshots) = (self.replicated_jobs, self.snapshots);
        let Some(kept) = self.kept else {
            return untold(object, replicated_jobs, snapshots, evidence);
        };
        let told = &kept.checkpoints;
        let deletion = |deletion: crate::analysis::Deletion| DeletionReport {
            by: deletion.by,
            why: deletion.why,
            at: deletion.at,
        };
        CheckpointReport {
            object,
            replicated_jobs,
            framework: told.framework,
            saves: SavesReport {
                answer: told.saves.answer,
                why: told.saves.why.clone(),
                place: told.saves.place.clone(),
                every: told.saves.every.clone(),
            },
            resumes: AnswerReport { answer: told.resumes.answer, why: told.resumes.why.clone() },
            durable: DurableReport {
                answer: kept.durable,
                kind: told.durable.kind,
                why: kept.why.clone(),
                claim: kept.claim.clone(),
            },
            deleted_by: kept.deleted_by.into_iter().map(deletion).collect(),
            sigterm: told.sigterm.as_ref().map(|sigterm| SigtermReport {
                saver: sigterm.saver.clone(),
                grace_seconds: sigterm.grace_seconds,
                grace_is_default: sigterm.grace_is_default,
                why: sigterm.why.clone(),
            }),
            snapshots,
            evidence,
        }
    }

    fn evidence(&self, facts: &Facts) -> Vec<Evidence> {
        let object = self.source.object();
        let fact = |path: String, value: String| Evidence::new(&*object, path, value);
        let elsewhere = || "(its value comes from elsewhere)".to_owned();
        let signs = self.signs.iter().map(|(path, sign)| {
            let value = sign.value.clone().unwrap_or_else(elsewhere);
            fact(path.clone(), value)
        });
        let mut all: Vec<Evidence> = signs.collect();
        let Some(kept) = &self.kept else { return all };
        let (Some(claim), namespace) = (&kept.claim, facts.subject.namespace()) else { return all };
        if let Source::JobSet(job_set) = self.source {
            let suffix = format!("-{}", job_set.name);
            let made = job_set.volume_claims.iter().filter(|_| kept.made_by_job_set);
            let policy = made.filter(|template| claim.strip_suffix(&*suffix) == Some(&*template.name));
            all.extend(policy.map(|template| {
                let when = if template.retained { "Retain" } else { "Delete" };
                let path = format!("spec.volumeClaimPolicies[templates={}]", template.name);
                fact(format!("{path}.retentionPolicy.whenDeleted"), when.to_owned())
            }));
            let ttl = job_set.ttl_seconds_after_finished;
            all.extend(ttl.map(|ttl| fact("spec.ttlSecondsAfterFinished".to_owned(), ttl.to_string())));
        }
        all.extend(of_claim(facts, namespace, claim));
        all
    }
}

/// What the claim itself tells, where it is in the data.
fn of_claim(facts: &Facts, namespace: &str, name: &str) -> Vec<Evidence> {
    let Some(claim) = claim_in(facts.analysis.snapshot, namespace, name) else { return Vec::new() };
    let object = object("persistentvolumeclaim", namespace, name);
    let owners = claim
        .owners
        .iter()
        .map(|owner| (format!("metadata.ownerReferences[kind={}].name", owner.kind), Some(owner.name.to_string())));
    let fields = [
        ("status.phase", claim.phase.as_deref().map(str::to_owned)),
        ("metadata.deletionTimestamp", claim.deleted_at.map(|at| at.to_string())),
        ("spec.storageClassName", claim.storage_class.as_deref().map(str::to_owned)),
        ("spec.volumeName", claim.volume.as_deref().map(str::to_owned)),
    ];
    let fields = fields.into_iter().map(|(path, value)| (path.to_owned(), value));
    let told = fields.chain(owners).filter_map(|(path, value)| Some((path, value?)));
    told.map(|(path, value)| Evidence::new(&*object, path, value)).collect()
}

fn untold(
    object: String,
    replicated_jobs: Vec<String>,
    snapshots: Vec<SnapshotReport>,
    evidence: Vec<Evidence>,
) -> CheckpointReport {
    let unknown = || (Answer::Unknown, NO_SIGN.to_owned());
    let ((saves, saves_why), (resumes, resumes_why), (durable, durable_why)) = (unknown(), unknown(), unknown());
    CheckpointReport {
        object,
        replicated_jobs,
        framework: None,
        saves: SavesReport { answer: saves, why: saves_why, place: None, every: None },
        resumes: AnswerReport { answer: resumes, why: resumes_why },
        durable: DurableReport { answer: durable, kind: Kind::Unknown, why: durable_why, claim: None },
        deleted_by: Vec::new(),
        sigterm: None,
        snapshots,
        evidence,
    }
}

impl Source<'_> {
    fn object(self) -> String {
        match self {
            Self::JobSet(job_set) => object("jobset", &job_set.namespace, &job_set.name),
            Self::Job(job) => object("job", &job.namespace, &job.name),
            Self::CronJob(cron_job) => object("cronjob", &cron_job.namespace, &cron_job.name),
        }
    }

    /// Where the pod template stands in the object.
    fn template_path(self, replicated_job: Option<&String>) -> String {
        match self {
            Self::JobSet(_) => {
                let name = replicated_job.map_or("", String::as_str);
                format!("spec.replicatedJobs[name={name}].template.spec.template")
            }
            Self::Job(_) => "spec.template".to_owned(),
            Self::CronJob(_) => "spec.jobTemplate.spec.template".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_are_known_by_their_names() {
        for (pod, is) in [
            ("train-abc12", true),
            ("train-0-abc12", true),
            ("train-12-abc12", true),
            ("train-eval-abc12", false),
            ("train-0-0-abc12", false),
            ("train-abc123", false),
            ("trainer-abc12", false),
            ("train", false),
        ] {
            assert_eq!(is_pod_of(pod, "train"), is, "{pod}");
        }
        for (pod, is) in [("js-w-0-abc12", true), ("js-w-0-1-abc12", true), ("js-w-x-0-1-abc12", false)] {
            assert_eq!(is_pod_of_replicated_job(pod, "js-w-"), is, "{pod}");
        }
    }
}
