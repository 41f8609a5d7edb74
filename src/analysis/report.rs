use super::cause::first_failed_end;
use super::group::{Members, group};
use super::words::total;
use super::{Analysis, Failure, Options, Workload};
use crate::policy::parse_message;
use crate::report::{API_VERSION, ActedOn, Class, FailureReport, FirstCause, ReportScope, Summary, WorkloadReport};
use crate::request::GroupBy;

/// A report without its suggestions, and what its groups are made of, from which they follow.
#[derive(Debug)]
pub struct Reported {
    /// The report.
    pub report: FailureReport,
    /// The failures of its groups, in the groups' order.
    pub members: Vec<Members>,
    /// The failures as they are grouped by rule, where the report is grouped by something else: advice follows from causes.
    pub by_rule: Option<Vec<Members>>,
}

/// The report of an analysis; suggestions are still to be added.
pub fn report(analysis: &Analysis, options: &Options, group_by: GroupBy, scope: ReportScope) -> Reported {
    let (groups, members): (Vec<_>, Vec<_>) = group(analysis, group_by).into_iter().unzip();
    let by_rule = (group_by != GroupBy::Rule)
        .then(|| group(analysis, GroupBy::Rule).into_iter().map(|(_, members)| members).collect());
    let mut workloads: Vec<WorkloadReport> = workloads(analysis);
    workloads.sort_by(|a, b| a.workload.cmp(&b.workload));
    let of_groups = groups.iter().flat_map(|group| group.notes.iter().cloned());
    let of_workloads = workloads.iter().flat_map(|workload| workload.notes.iter().cloned());
    // What is said of single workloads stands first: the default view shows few.
    let mut notes: Vec<String> = of_workloads.chain(of_groups).collect();
    notes.sort();
    notes.dedup();
    notes.extend(analysis.notes.iter().cloned());
    let of_class = |class: Class| {
        let failures = analysis.failures.iter().filter(move |failure| failure.class == class);
        failures.map(|failure| u64::from(failure.count)).sum()
    };
    let report = FailureReport {
        api_version: API_VERSION,
        kind: "FailureReport",
        as_of: options.now,
        scope,
        sources: analysis.snapshot.sources.clone(),
        ignored: analysis.snapshot.ignored.clone(),
        summary: Summary {
            workloads: workloads.len(),
            failures: analysis.failures.iter().map(|failure| u64::from(failure.count)).sum(),
            groups: groups.len(),
            collateral: of_class(Class::Collateral),
            lost: of_class(Class::Lost),
            gpu_seconds: total(analysis.failures.iter().filter_map(Failure::gpu_seconds)),
            completed_workloads: analysis.completed.0,
            completed_failures: analysis.completed.1,
        },
        baseline: None,
        groups,
        workloads,
        suggestions: Vec::new(),
        notes,
    };
    Reported { report, members, by_rule }
}

fn workloads(analysis: &Analysis) -> Vec<WorkloadReport> {
    let mut failures: Vec<Vec<&Failure>> = vec![Vec::new(); analysis.workloads.len()];
    for failure in &analysis.failures {
        failures[failure.workload].push(failure);
    }
    let with_failures = analysis.workloads.iter().zip(failures).filter(|(_, failures)| !failures.is_empty());
    with_failures.map(|(workload, failures)| workload_report(analysis, workload, &failures)).collect()
}

fn workload_report(analysis: &Analysis, workload: &Workload, failures: &[&Failure]) -> WorkloadReport {
    let sum = |test: &dyn Fn(&Failure) -> bool| {
        failures.iter().filter(|failure| test(failure)).map(|failure| u64::from(failure.count)).sum()
    };
    let spent: Vec<f64> = failures.iter().filter_map(|failure| failure.gpu_seconds()).collect();
    let backoff_limit = match workload.jobs[..] {
        [job] if job.backoff_limit_per_index.is_none() => job.backoff_limit,
        _ => None,
    };
    let first_cause = workload.first.as_ref().map(first_cause);
    let acted_on = workload.acted_on.and_then(|(job, rule)| acted_on(job, rule));
    let mut notes = workload.notes.clone();
    notes.extend(first_cause.as_ref().zip(acted_on.as_ref()).and_then(|(first, acted)| other_first(first, acted)));
    WorkloadReport {
        workload: workload.reference.clone(),
        state: workload.state(),
        deleted: workload.is_gone.then_some(true),
        failures: sum(&|_| true),
        counted: sum(&|failure| failure.counted == Some(true)),
        collateral: sum(&|failure| failure.class == Class::Collateral),
        lost: sum(&|failure| failure.class == Class::Lost),
        gpu_seconds: (!spent.is_empty()).then(|| total(spent.iter().copied())),
        backoff_limit,
        first_cause,
        acted_on,
        job_set: workload.story.map(|story| analysis.stories[story].report()),
        situations: workload.situations.clone(),
        notes,
    }
}

/// Said where the controller acted on another pod than the one that failed first: it walks its pods in no order of time.
fn other_first(first: &FirstCause, acted: &ActedOn) -> Option<String> {
    let (failed, named) = (first.pod.as_ref()?, acted.pod.as_ref()?);
    let exit = first.exit_code.map(|code| format!(", exit {code}")).unwrap_or_default();
    let container = first.container.as_ref().map(|container| format!(" ({container})")).unwrap_or_default();
    (failed != named).then(|| {
        format!("job/{}: the controller acted on pod {named}, but {failed} failed first{exit}{container}", acted.job)
    })
}

fn first_cause(failure: &Failure) -> FirstCause {
    let text = |text: Option<&str>| text.map(str::to_owned);
    let end = failure.pod.and_then(first_failed_end).or(failure.end);
    FirstCause {
        job: text(failure.job_name()),
        pod: text(failure.pod_name()),
        node: text(failure.node().map(|node| &**node)),
        container: text(end.map(|end| &*end.container).or_else(|| failure.container())),
        exit_code: end.map(|end| end.exit_code).or_else(|| failure.exit_code()),
        reason: text(failure.reason()),
        rule_index: failure.rule.map(|rule| rule.index()),
        at: end.and_then(|end| end.finished_at).or_else(|| failure.at()),
    }
}

fn acted_on(job: &crate::model::Job, rule_index: Option<usize>) -> Option<ActedOn> {
    let condition = job.failing()?;
    Some(ActedOn {
        job: job.name.to_string(),
        condition: condition.type_.to_string(),
        reason: condition.reason.to_string(),
        message: condition.message.to_string(),
        pod: parse_message(&condition.message).map(|decision| decision.pod.to_owned()),
        rule_index,
        at: condition.at,
    })
}
