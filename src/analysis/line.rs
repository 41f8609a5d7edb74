use super::{Analysis, Failure};
use crate::model::Ordinal;
use crate::report::{API_VERSION, FailureLine, FailureRule};

/// One failure as `-o jsonl` prints it.
pub fn failure_line(analysis: &Analysis, failure: &Failure) -> FailureLine {
    let text = |text: Option<&str>| text.map(str::to_owned);
    let rule = failure.rule.and_then(|hit| {
        let label = analysis.label_of(failure, hit.index())?.label.into_owned();
        Some(FailureRule { index: hit.index(), label, action: hit.action.to_string() })
    });
    FailureLine {
        api_version: API_VERSION,
        kind: "Failure",
        cluster: analysis.snapshot.cluster.clone(),
        namespace: failure.namespace().to_owned(),
        workload: analysis.workloads[failure.workload].reference.to_string(),
        job: text(failure.job_name()),
        pod: text(failure.pod_name()),
        uid: failure.pod.and_then(|pod| pod.uid.as_ref()).map(ToString::to_string),
        index: failure.pod.and_then(|pod| pod.index).map(Ordinal::get),
        attempt: failure.attempt(),
        class: failure.class,
        rule,
        container: text(failure.container()),
        exit_code: failure.exit_code(),
        reason: text(failure.reason()),
        message: text(failure.message()),
        node: text(failure.node().map(|node| &**node)),
        started_at: failure.started_at(),
        finished_at: failure.finished_at(),
        counted: failure.counted,
        count: failure.count,
        gpu_seconds: failure.gpu_seconds(),
        sidecar: failure.rule.is_some_and(|rule| rule.sidecar),
        job_set_rule: analysis
            .decision_of(failure)
            .map(|(story, attempt)| super::job_set::job_set_rule(story, attempt)),
        torn_down_by: text(failure.torn_down.map(super::TornDownBy::name)),
    }
}
