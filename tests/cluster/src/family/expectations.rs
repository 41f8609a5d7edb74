//! What a person must learn about each scenario.

pub(crate) struct Expectation {
    /// The file under `scenarios/family`.
    pub(crate) scenario: &'static str,
    pub(crate) namespace: &'static str,
    /// As the tool names it.
    pub(crate) workload: &'static str,
    /// The class of its failures, or none where nothing failed.
    pub(crate) class: Option<&'static str>,
    /// Each is part of what `explain` says first.
    pub(crate) verdict: &'static [&'static str],
}

const fn failed(
    scenario: &'static str,
    (namespace, workload): (&'static str, &'static str),
    class: &'static str,
    verdict: &'static [&'static str],
) -> Expectation {
    Expectation { scenario, namespace, workload, class: Some(class), verdict }
}

/// Nothing failed: somebody or something keeps it from running.
const fn kept(
    scenario: &'static str,
    (namespace, workload): (&'static str, &'static str),
    verdict: &'static [&'static str],
) -> Expectation {
    Expectation { scenario, namespace, workload, class: None, verdict }
}

pub(crate) const EXPECTATIONS: &[Expectation] = &[
    failed("rollout-image", ("shop", "deployment/storefront"), "pending", &["ImagePullBackOff", "1.9.0"]),
    failed("rollout-crash", ("payments", "deployment/checkout"), "restarting", &["exit code 1", "no such host"]),
    kept("refused-pods", ("hardened", "deployment/legacy-api"), &["violates PodSecurity"]),
    failed("statefulset-rollout", ("storage", "statefulset/ledger"), "restarting", &["ledger-2", "exit code 2"]),
    failed("statefulset-reverted", ("storage-reverted", "statefulset/ledger"), "restarting", &["ledger-2", "delete"]),
    kept("statefulset-quota", ("team-a", "statefulset/cache"), &["cache-2", "exceeded quota"]),
    failed("daemonset-rollout", ("observability", "daemonset/log-shipper"), "restarting", &["exit code 78"]),
    failed(
        "daemonset-admission",
        ("gpu-system", "daemonset/device-checker"),
        "unmatchable",
        &["UnexpectedAdmissionError", "gpu-node-3"],
    ),
    kept("cronjob-forbid", ("reports", "cronjob/nightly-rollup"), &["Forbid"]),
    failed("cronjob-history", ("warehouse", "cronjob/hourly-load"), "lost", &["failedJobsHistoryLimit"]),
    kept("cronjob-missed", ("billing", "cronjob/invoice-export"), &["missed"]),
    kept("cronjob-suspended", ("archive", "cronjob/weekly-archive"), &["suspended"]),
    failed(
        "leaderworkerset-none",
        ("serving", "leaderworkerset/mixtral"),
        "restarting",
        &["mixtral-1-2", "exit code 139"],
    ),
    failed("leaderworkerset-unready", ("inference", "leaderworkerset/deepseek"), "pending", &["deepseek-0", "gpu"]),
    kept("sandbox-expired", ("agents-expired", "sandbox/notebook"), &["expired"]),
    kept("sandbox-suspended", ("agents-suspended", "sandbox/research"), &["suspended"]),
    failed("sandbox-oom", ("agents-oom", "sandbox/data-analyst"), "noPolicy", &["OOMKilled"]),
    kept("sandboxclaim-no-template", ("agents-template", "sandboxclaim/session-81"), &["python-3-14"]),
    kept("sandboxclaim-no-pool", ("agents-no-pool", "sandboxclaim/session-82"), &["python-pool"]),
    kept("sandboxwarmpool-stuck", ("agents-pool", "sandboxclaim/session-83"), &["gpu"]),
    kept("trainjob-deadline", ("train-deadline", "trainjob/bert-short"), &["deadline"]),
    failed("trainjob-failed", ("train-failed", "trainjob/llama-lora"), "noPolicy", &["exit code 1", "restart"]),
    failed("trainjob-again", ("train-again", "trainjob/llama-again"), "noPolicy", &["exit code 1"]),
    kept("trainjob-suspended", ("train-suspended", "trainjob/vit-base"), &["suspended"]),
    kept("kueue-not-ready", ("queue-ready", "job/llm-eval"), &["Kueue", "ready"]),
    kept("kueue-deactivated", ("queue-active", "jobset/detector"), &["Kueue", "deactivated"]),
    kept("kueue-too-long", ("queue-time", "job/tokenize"), &["Kueue", "execution time"]),
    kept("kueue-stopped", ("queue-held", "job/held-sweep"), &["Kueue", "stopped"]),
    kept("kueue-never", ("queue-quota", "job/too-wide"), &["Kueue", "nvidia.com/gpu"]),
    kept("node-lost", ("platform", "deployment/gateway"), &["gpu-node-12"]),
    kept("node-lost", ("platform", "statefulset/store"), &["gpu-node-12"]),
    kept("node-lost", ("platform", "daemonset/exporter"), &["gpu-node-12"]),
    kept("node-lost", ("platform", "job/reindex"), &["gpu-node-12"]),
    kept("node-lost", ("platform", "statefulset/broker"), &["gpu-node-12"]),
    kept("node-lost", ("platform", "job/backfill"), &["gpu-node-12"]),
    failed("node-drained", ("render", "deployment/renderer"), "noPolicy", &["Evicted", "gpu-node-15"]),
    failed("node-drained", ("render", "job/scan"), "pending", &["gpu-node-14"]),
];
