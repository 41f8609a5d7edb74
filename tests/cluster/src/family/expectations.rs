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
    failed(
        "rollout-crash",
        ("payments", "deployment/checkout"),
        "restarting",
        &["exit 1", "no such host", "512Mi → 384Mi", "env[PAYMENT_DB_HOST]"],
    ),
    failed("refused-pods", ("hardened", "deployment/legacy-api"), "workloadLevel", &["violates PodSecurity"]),
    failed("statefulset-rollout", ("storage", "statefulset/ledger"), "restarting", &["ledger-2", "exit 2"]),
    failed(
        "statefulset-reverted",
        ("storage-reverted", "statefulset/ledger"),
        "restarting",
        &["ledger-2", "deleted by hand"],
    ),
    failed("statefulset-quota", ("team-a", "statefulset/cache"), "workloadLevel", &["cache-2", "exceeded quota"]),
    failed(
        "daemonset-rollout",
        ("observability", "daemonset/log-shipper"),
        "restarting",
        &["exit 78", "maxUnavailable 1"],
    ),
    failed(
        "daemonset-admission",
        ("gpu-system", "daemonset/device-checker"),
        "noJob",
        &["UnexpectedAdmissionError", "gpu-node-3"],
    ),
    failed("cronjob-forbid", ("reports", "cronjob/nightly-rollup"), "workloadLevel", &["Forbid", "skipped"]),
    failed("cronjob-history", ("warehouse", "cronjob/hourly-load"), "lost", &["failed", "left"]),
    failed("cronjob-missed", ("billing", "cronjob/invoice-export"), "workloadLevel", &["missed"]),
    kept("cronjob-suspended", ("archive", "cronjob/weekly-archive"), &["suspended"]),
    failed("leaderworkerset-none", ("serving", "leaderworkerset/mixtral"), "restarting", &["mixtral-1-2", "exit 139"]),
    // It has not waited for long enough to be a failure.
    kept("leaderworkerset-unready", ("inference", "leaderworkerset/deepseek"), &["deepseek-0", "gpu"]),
    kept("sandbox-expired", ("agents-expired", "sandbox/notebook"), &["expired"]),
    kept("sandbox-suspended", ("agents-suspended", "sandbox/research"), &["suspended"]),
    failed("sandbox-oom", ("agents-oom", "sandbox/data-analyst"), "noJob", &["OOMKilled", "is kept (workspace"]),
    failed(
        "sandboxclaim-no-template",
        ("agents-template", "sandboxclaim/session-81"),
        "workloadLevel",
        &["python-3-14"],
    ),
    failed("sandboxclaim-no-pool", ("agents-no-pool", "sandboxclaim/session-82"), "workloadLevel", &["python-pool"]),
    kept("sandboxwarmpool-stuck", ("agents-pool", "sandboxclaim/session-83"), &["session-83"]),
    failed("trainjob-deadline", ("train-deadline", "trainjob/bert-short"), "workloadLevel", &["activeDeadlineSeconds"]),
    failed("trainjob-failed", ("train-failed", "trainjob/llama-lora"), "noPolicy", &["exited 1", "restart"]),
    failed("trainjob-again", ("train-again", "trainjob/llama-again"), "noPolicy", &["made anew"]),
    kept("trainjob-suspended", ("train-suspended", "trainjob/vit-base"), &["suspended"]),
    failed("kueue-not-ready", ("queue-ready", "job/llm-eval"), "workloadLevel", &["Kueue", "ready"]),
    kept("kueue-deactivated", ("queue-active", "jobset/detector"), &["Kueue", "deactivated"]),
    failed("kueue-too-long", ("queue-time", "job/tokenize"), "workloadLevel", &["Kueue", "execution time"]),
    kept("kueue-stopped", ("queue-held", "job/held-sweep"), &["Kueue", "stopped"]),
    failed("kueue-never", ("queue-quota", "job/too-wide"), "workloadLevel", &["nvidia.com/gpu", "can ever give"]),
    failed("node-lost", ("platform", "deployment/gateway"), "notReady", &["gpu-node-12"]),
    failed("node-lost", ("platform", "statefulset/store"), "notReady", &["gpu-node-12"]),
    failed("node-lost", ("platform", "daemonset/exporter"), "notReady", &["gpu-node-12"]),
    failed("node-lost", ("platform", "job/reindex"), "notReady", &["gpu-node-12"]),
    failed("node-lost", ("platform", "statefulset/broker"), "notReady", &["gpu-node-12"]),
    failed("node-lost", ("platform", "job/backfill"), "notReady", &["gpu-node-12"]),
    failed("node-drained", ("render", "deployment/renderer"), "noJob", &["Evicted", "gpu-node-15"]),
    kept("node-drained", ("render", "job/scan"), &["1 node(s) were unschedulable"]),
];
