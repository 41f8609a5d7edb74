use std::sync::Arc;

use serde::Deserialize;

use super::condition::ConditionView;
use super::job::JobTemplateView;
use super::{
    FailurePolicy, FailurePolicyRule, Interner, JobSet, JobSetAction, MetaView, ObjectView, ReplicatedJob,
    ReplicatedJobStatus, Text, Time, View, VolumeClaimTemplate, or_default,
};

/// A `jobset.x-k8s.io/v1alpha2` `JobSet` as it is read.
pub(crate) type JobSetView<'a> = ObjectView<'a, SpecView<'a>, StatusView<'a>>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SpecView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    replicated_jobs: Vec<ReplicatedJobView<'a>>,
    #[serde(borrow)]
    failure_policy: Option<FailurePolicyView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    startup_policy: StartupPolicyView<'a>,
    #[serde(borrow)]
    managed_by: Text<'a>,
    #[serde(deserialize_with = "or_default")]
    suspend: bool,
    ttl_seconds_after_finished: Option<u32>,
    #[serde(borrow, deserialize_with = "or_default")]
    volume_claim_policies: Vec<VolumeClaimPolicyView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct VolumeClaimPolicyView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    templates: Vec<ClaimTemplateView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    retention_policy: RetentionPolicyView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClaimTemplateView<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    metadata: MetaView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RetentionPolicyView<'a> {
    #[serde(borrow)]
    when_deleted: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StartupPolicyView<'a> {
    #[serde(borrow)]
    startup_policy_order: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ReplicatedJobView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    replicas: Option<u32>,
    #[serde(borrow, deserialize_with = "or_default")]
    depends_on: Vec<DependencyView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    template: JobTemplateView<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DependencyView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    status: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct FailurePolicyView<'a> {
    #[serde(deserialize_with = "or_default")]
    max_restarts: u32,
    #[serde(borrow)]
    restart_strategy: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    rules: Vec<FailurePolicyRuleView<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct FailurePolicyRuleView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    action: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    on_job_failure_reasons: Vec<Text<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    on_job_failure_message_patterns: Vec<Text<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    target_replicated_jobs: Vec<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StatusView<'a> {
    #[serde(deserialize_with = "or_default")]
    restarts: u32,
    #[serde(deserialize_with = "or_default")]
    restarts_count_towards_max: u32,
    #[serde(borrow)]
    terminal_state: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    conditions: Vec<ConditionView<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    replicated_jobs_status: Vec<ReplicatedJobStatusView<'a>>,
    current_in_place_restart_attempt: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ReplicatedJobStatusView<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(deserialize_with = "or_default")]
    ready: u32,
    #[serde(deserialize_with = "or_default")]
    succeeded: u32,
    #[serde(deserialize_with = "or_default")]
    failed: u32,
    #[serde(deserialize_with = "or_default")]
    job_restarts: Vec<u32>,
    #[serde(deserialize_with = "or_default")]
    job_restarts_count_towards_max: Vec<u32>,
}

impl View for JobSetView<'_> {
    type Kept = JobSet;

    fn newest_time(&self) -> Option<Time> {
        let conditions = self.status.conditions.iter().filter_map(|condition| condition.last_transition_time.0);
        let own = [self.metadata.creation_timestamp.0, self.metadata.deletion_requested()];
        conditions.chain(own.into_iter().flatten()).max()
    }

    fn into_kept(self, interner: &mut Interner) -> Option<JobSet> {
        let (spec, status) = (&self.spec, &self.status);
        let conditions = status.conditions.iter().map(|condition| condition.to_condition(interner));
        let conditions = conditions.collect();
        Some(JobSet {
            uid: self.metadata.uid(),
            namespace: interner.intern(&self.metadata.namespace),
            name: interner.intern(&self.metadata.name),
            labels: self.metadata.labels(interner),
            rule_names: interner.intern_some(&self.metadata.annotations.rule_names),
            owner: self.metadata.controller(interner),
            applied_by: self.metadata.applied_by(interner),
            created: self.metadata.creation_timestamp.0,
            deletion_requested: self.metadata.deletion_requested(),
            suspend: spec.suspend,
            managed_by: interner
                .intern_some(&spec.managed_by)
                .filter(|manager| &**manager != "jobset.sigs.k8s.io/jobset-controller"),
            starts_in_order: &*spec.startup_policy.startup_policy_order == "InOrder",
            failure_policy: spec.failure_policy.as_ref().map(|policy| policy.to_policy(interner)),
            replicated_jobs: spec.replicated_jobs.iter().map(|job| job.to_replicated_job(interner)).collect(),
            volume_claims: spec.volume_claim_policies.iter().flat_map(|policy| policy.to_claims(interner)).collect(),
            ttl_seconds_after_finished: spec.ttl_seconds_after_finished,
            restarts: status.restarts,
            restarts_counted: status.restarts_count_towards_max,
            terminal_state: interner.intern_some(&status.terminal_state),
            conditions,
            replicated_jobs_status: status.replicated_jobs_status.iter().map(|s| s.to_status(interner)).collect(),
            in_place_attempt: status.current_in_place_restart_attempt,
        })
    }
}

impl VolumeClaimPolicyView<'_> {
    fn to_claims(&self, interner: &mut Interner) -> Vec<VolumeClaimTemplate> {
        // The webhook sets `Delete` where there is none.
        let retained = &*self.retention_policy.when_deleted == "Retain";
        let names = self.templates.iter().map(|template| &template.metadata.name);
        names.map(|name| VolumeClaimTemplate { name: interner.intern(name), retained }).collect()
    }
}

impl FailurePolicyView<'_> {
    fn to_policy(&self, interner: &mut Interner) -> FailurePolicy {
        FailurePolicy {
            max_restarts: self.max_restarts,
            restart_strategy: interner.intern(self.restart_strategy.some().unwrap_or("Recreate")),
            rules: self.rules.iter().enumerate().map(|(index, rule)| rule.to_rule(index, interner)).collect(),
        }
    }
}

impl FailurePolicyRuleView<'_> {
    fn to_rule(&self, index: usize, interner: &mut Interner) -> FailurePolicyRule {
        let name = self.name.some().map_or_else(|| format!("failurePolicyRule{index}"), str::to_owned);
        let mut words = |texts: &[Text]| texts.iter().map(|text| interner.intern(text)).collect();
        FailurePolicyRule {
            action: JobSetAction::parse(&self.action),
            reasons: words(&self.on_job_failure_reasons),
            patterns: words(&self.on_job_failure_message_patterns),
            targets: words(&self.target_replicated_jobs),
            name: interner.intern(&name),
        }
    }
}

impl ReplicatedJobView<'_> {
    fn to_replicated_job(&self, interner: &mut Interner) -> ReplicatedJob {
        let job = &self.template.spec;
        let names = [&self.template.metadata, &job.template.metadata].map(|meta| &meta.annotations.rule_names);
        let parallelism = job.parallelism.unwrap_or(1);
        let dependency =
            |on: &DependencyView, interner: &mut Interner| (interner.intern(&on.name), interner.intern(&on.status));
        ReplicatedJob {
            name: interner.intern(&self.name),
            replicas: self.replicas.unwrap_or(1),
            depends_on: self.depends_on.iter().map(|on| dependency(on, interner)).collect(),
            policy: job.pod_failure_policy.as_ref().map(|policy| Arc::new(policy.to_policy(interner))),
            per_index: job.backoff_limit_per_index.is_some(),
            rule_names: names.into_iter().find_map(|names| interner.intern_some(names)),
            pods: job.completions.map_or(parallelism, |completions| completions.min(parallelism)),
            never_restarts: &*job.template.spec.restart_policy == "Never",
            accelerators: job.template.spec.accelerators(),
            memory: job.template.spec.template_memory(interner),
            checkpoints: job.template.checkpoints(),
        }
    }
}

impl ReplicatedJobStatusView<'_> {
    fn to_status(&self, interner: &mut Interner) -> ReplicatedJobStatus {
        ReplicatedJobStatus {
            name: interner.intern(&self.name),
            ready: self.ready,
            succeeded: self.succeeded,
            failed: self.failed,
            job_restarts: self.job_restarts.clone().into(),
            job_restarts_counted: self.job_restarts_count_towards_max.clone().into(),
        }
    }
}
