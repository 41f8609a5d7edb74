//! Workloads read by their names.

use sigapps::request::{Target, TargetKind};
use sigapps::source::cluster::ClusterError;
use sigapps::source::{Resource, SourceState};

use crate::support::objects::{job, list, named, owned_job, pods, whole, world};
use crate::support::{FakeApi, Home, Reply, Request, source};

const JOBS: &str = "/apis/batch/v1/namespaces/ml/jobs";
const JOBSETS: &str = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets";

/// A namespace with a Job, a `CronJob`'s Job and a `JobSet`'s Job.
fn namespace(request: &Request) -> Reply {
    let nightly = || owned_job("ml", "nightly-1", "batch/v1", "CronJob", "nightly");
    let llama = || owned_job("ml", "llama-w-0", "jobset.x-k8s.io/v1alpha2", "JobSet", "llama");
    match request.path() {
        "/apis/jobset.x-k8s.io" => Reply::json(
            200,
            r#"{"kind":"APIGroup","preferredVersion":{"groupVersion":"jobset.x-k8s.io/v1alpha2","version":"v1alpha2"}}"#,
        ),
        "/apis/batch/v1/namespaces/ml/jobs/train" => whole("batch/v1", "Job", job("ml", "train")),
        "/apis/batch/v1/namespaces/ml/jobs/nightly-1" => whole("batch/v1", "Job", nightly()),
        "/apis/batch/v1/namespaces/ml/jobs/llama-w-0" => whole("batch/v1", "Job", llama()),
        "/apis/batch/v1/namespaces/ml/cronjobs/nightly" => whole("batch/v1", "CronJob", named("ml", "nightly")),
        "/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets/llama" => {
            whole("jobset.x-k8s.io/v1alpha2", "JobSet", named("ml", "llama"))
        }
        JOBS if request.query("labelSelector").is_some() => list("Job", "batch/v1", "", &[llama()]),
        JOBS => list("Job", "batch/v1", "", &[job("ml", "train"), nightly(), llama()]),
        JOBSETS => list("JobSet", "jobset.x-k8s.io/v1alpha2", "", &[named("ml", "llama")]),
        path if path.contains("/jobs/") || path.contains("/cronjobs/") || path.contains("/jobsets/") => {
            Reply::status(404, "NotFound", "not found")
        }
        "/api/v1/namespaces/ml/pods" => pods("", &["p"]),
        _ => world(request),
    }
}

fn home(api: &FakeApi, targets: &[(TargetKind, &str)]) -> Home {
    let mut home = Home::of(api);
    home.scope.namespace = Some("ml".into());
    home.scope.targets = targets.iter().map(|(kind, name)| Target { kind: *kind, name: (*name).into() }).collect();
    home
}

fn asked(api: &FakeApi) -> Vec<String> {
    let mut asked = api.asked();
    asked.sort();
    asked
}

#[test]
fn a_job_is_read_by_name_and_its_pods_by_label() {
    let api = FakeApi::start(namespace);
    let read = home(&api, &[(TargetKind::Job, "train")]).read();
    assert_eq!(
        asked(&api),
        [
            "/api/v1/namespaces/ml/events?fieldSelector=involvedObject.kind=Job,involvedObject.name=train&limit=500",
            "/api/v1/namespaces/ml/pods?labelSelector=batch.kubernetes.io/job-name in (train)&limit=500",
            "/apis/batch/v1/namespaces/ml/jobs/train",
            "/apis/kueue.x-k8s.io",
        ]
    );
    let snapshot = read.snapshot();
    assert_eq!((snapshot.jobs.len(), snapshot.pods.len()), (1, 1));
    let states: Vec<_> = snapshot.sources.iter().map(|source| source.state).collect();
    let not_asked = SourceState::NotAsked;
    assert_eq!(states[..5], [SourceState::Read, SourceState::Read, not_asked, not_asked, SourceState::Read]);
    let (queues, others) = states[5..].split_last().unwrap();
    assert_eq!(*queues, SourceState::NotInstalled);
    assert!(others.iter().all(|state| *state == not_asked));
}

#[test]
fn what_owns_a_job_is_read_for_its_labels_and_rule_names() {
    let api = FakeApi::start(namespace);
    let read = home(&api, &[(TargetKind::Job, "nightly-1"), (TargetKind::Job, "llama-w-0")]).read();
    let cron_jobs: Vec<_> = read.snapshot().cron_jobs.iter().map(|cron_job| &*cron_job.name).collect();
    let job_sets: Vec<_> = read.snapshot().job_sets.iter().map(|job_set| &*job_set.name).collect();
    assert_eq!((cron_jobs, job_sets), (vec!["nightly"], vec!["llama"]));
    assert!(!asked(&api).contains(&format!("{JOBS}?limit=500")));
}

#[test]
fn an_owner_that_is_gone_or_denied_is_no_error() {
    for (code, state) in [(404, SourceState::Read), (403, SourceState::Denied)] {
        let api = FakeApi::start(move |request| match request.path() {
            path if path.contains("/cronjobs/") => Reply::status(code, "Any", "no"),
            _ => namespace(request),
        });
        let read = home(&api, &[(TargetKind::Job, "nightly-1")]).read();
        assert_eq!(source(read.snapshot(), Resource::CronJobs).state, state);
        assert_eq!(read.snapshot().jobs.len(), 1);
    }
}

#[test]
fn a_jobset_is_read_with_its_jobs_and_pods_by_label() {
    let api = FakeApi::start(namespace);
    let read = home(&api, &[(TargetKind::JobSet, "llama")]).read();
    assert_eq!(
        asked(&api),
        [
            "/api/v1/namespaces/ml/events?fieldSelector=involvedObject.kind=Job&limit=500",
            "/api/v1/namespaces/ml/events?fieldSelector=involvedObject.kind=JobSet,involvedObject.name=llama&limit=500",
            "/api/v1/namespaces/ml/pods?labelSelector=jobset.sigs.k8s.io/jobset-name in (llama)&limit=500",
            "/apis/batch/v1/namespaces/ml/jobs?labelSelector=jobset.sigs.k8s.io/jobset-name in (llama)&limit=500",
            "/apis/jobset.x-k8s.io",
            "/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets/llama",
            "/apis/kueue.x-k8s.io",
        ]
    );
    assert_eq!(&*read.snapshot().jobs[0].name, "llama-w-0");
}

#[test]
fn of_a_cronjobs_namespace_only_the_jobs_it_owns_are_kept() {
    let api = FakeApi::start(namespace);
    let read = home(&api, &[(TargetKind::CronJob, "nightly")]).read();
    let jobs: Vec<_> = read.snapshot().jobs.iter().map(|job| &*job.name).collect();
    assert_eq!(jobs, ["nightly-1"]);
    assert_eq!(source(read.snapshot(), Resource::Jobs).objects, 1);
    let by_label = "/api/v1/namespaces/ml/pods?labelSelector=batch.kubernetes.io/job-name in (nightly-1)&limit=500";
    assert!(asked(&api).contains(&by_label.to_owned()), "{:?}", asked(&api));
    // How runs ended whose Jobs are gone is told by Events of names that nothing tells.
    let of_jobs = "/api/v1/namespaces/ml/events?fieldSelector=involvedObject.kind=Job&limit=500";
    assert!(asked(&api).contains(&of_jobs.to_owned()), "{:?}", asked(&api));
}

#[test]
fn long_lists_of_names_are_sent_in_parts() {
    let api = FakeApi::start(|request| match request.path().strip_prefix("/apis/batch/v1/namespaces/ml/jobs/") {
        Some(name) => whole("batch/v1", "Job", job("ml", name)),
        None => namespace(request),
    });
    let names: Vec<String> = (0..120).map(|number| format!("job-{number}")).collect();
    let targets: Vec<_> = names.iter().map(|name| (TargetKind::Job, name.as_str())).collect();
    let read = home(&api, &targets).read();
    assert_eq!(read.snapshot().jobs.len(), 120);
    let selectors = asked(&api).into_iter().filter(|target| target.contains("labelSelector"));
    let sizes: Vec<_> = selectors.map(|target| target.matches("job-").count() - 1).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 120);
    assert!(sizes.iter().all(|size| *size <= 50), "{sizes:?}");
    let events: Vec<_> = asked(&api).into_iter().filter(|target| target.contains("/events")).collect();
    assert_eq!(events.len(), 1, "the namespace's: {events:?}");
}

#[test]
fn a_name_that_is_not_there_is_told_with_those_like_it() {
    for (kind, name, expected) in [
        (TargetKind::Job, "trian", "jobs.batch \"trian\" not found in namespace \"ml\"; did you mean train?"),
        (TargetKind::Job, "else", "jobs.batch \"else\" not found in namespace \"ml\""),
        (
            TargetKind::JobSet,
            "lama",
            "jobsets.jobset.x-k8s.io \"lama\" not found in namespace \"ml\"; did you mean llama?",
        ),
    ] {
        let api = FakeApi::start(namespace);
        let read = home(&api, &[(kind, name)]).read();
        assert!(matches!(read.result, Err(ClusterError::NotFound { .. })));
        assert_eq!(read.error(), expected);
    }
}

#[test]
fn a_name_that_is_not_there_is_told_where_names_may_not_be_listed() {
    let api = FakeApi::start(|request| match request.path() {
        JOBS => Reply::status(403, "Forbidden", "no"),
        _ => namespace(request),
    });
    let read = home(&api, &[(TargetKind::Job, "trian")]).read();
    assert_eq!(read.error(), "jobs.batch \"trian\" not found in namespace \"ml\"");
}

#[test]
fn a_jobset_asked_for_where_there_are_none_is_an_error() {
    let api = FakeApi::start(world);
    let error = home(&api, &[(TargetKind::JobSet, "llama")]).read().error();
    assert_eq!(error, "the server doesn't have a resource type \"jobsets\"");
}
