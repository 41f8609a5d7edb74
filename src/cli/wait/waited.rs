//! What is waited for and what is known of it, brought up to date by one change after the other.

use std::collections::HashMap;

use super::names::{Want, Wanted};
use super::object::Names;
use super::runs::Runs;
use crate::analysis::{Awaited, Judgement, Restarts, Settings, Subject, find, judge, progress, restarts};
use crate::cli::ExitCode;
use crate::model::{EventView, Uid, is_of_group_made_anew};
use crate::request::{Target, TargetKind};
use crate::source::cluster::{Change, ChangeKind, Interest, Watch};
use crate::source::{Filter, Intake, Resource, Snapshot};

/// All that is waited for.
pub(super) struct Waits {
    all: Vec<Waited>,
    /// What each interest of the watch is about.
    routes: Vec<Route>,
    synced: Vec<bool>,
    namespace: String,
    /// As the API takes them; empty where names were given.
    labels: String,
    early: bool,
    allow_missing: bool,
    /// The one that was decided first; of several that were when all had been seen, the first of the command line.
    first: Option<usize>,
    timed_out: bool,
    /// What is to be said to the user.
    warnings: Vec<String>,
    /// Whether an object without names was told of.
    is_warned: bool,
}

/// What an interest is about.
#[derive(Clone, Copy, Debug)]
enum Route {
    /// One object, by its name.
    Object(usize),
    /// The Events of a `LeaderWorkerSet`: nothing else tells that a group was made anew.
    Events(usize),
    /// Jobs, among which are the runs of a `CronJob`.
    Runs(usize),
    /// All of a kind with some labels.
    Labelled(TargetKind, Awaited),
}

/// One thing that is waited for.
pub(super) struct Waited {
    target: Target,
    pub(super) awaited: Awaited,
    early: bool,
    /// The interest that tells of it.
    interest: usize,
    /// The object, as it was seen last.
    seen: Intake,
    uid: Option<String>,
    /// What was begun anew before the wait.
    before: Option<Restarts>,
    /// Groups made anew since, by Events; and how often each Event was told.
    recreated: u32,
    told: HashMap<String, u32>,
    /// Of a `CronJob`.
    runs: Option<Runs>,
    pub(super) ended: Option<Ended>,
    /// Whether another object has its name by now.
    pub(super) made_anew: bool,
    /// Whether it is known not to be there any more.
    pub(super) is_gone: bool,
    /// Whether the interest that tells of it has told of it.
    is_listed: bool,
    /// Whether it was told that its last change cannot be read.
    is_unreadable: bool,
}

/// How the wait for something ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// What was waited for has come.
    Came,
    /// It failed instead.
    Failed,
    /// It cannot come any more; why.
    Otherwise(&'static str),
    /// It was deleted.
    Gone,
    /// The time was over.
    TimedOut,
}

/// Something to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// One is decided.
    Decided(usize),
    /// One was deleted.
    Gone(usize),
    /// One is not there, and is not waited for.
    Missing(Target),
    /// Nothing of these kinds has these labels.
    NoneSelected(String, String),
}

impl Ended {
    /// The worst counts: the order is that of [`Waits::code`].
    const fn code(self) -> ExitCode {
        match self {
            Self::Came => ExitCode::Success,
            Self::Failed | Self::Otherwise(_) => ExitCode::FailuresFound,
            Self::Gone => ExitCode::Error,
            Self::TimedOut => ExitCode::TimedOut,
        }
    }
}

impl Waits {
    pub(super) fn new(wanted: &Wanted, namespace: &str, early: bool, allow_missing: bool, watch: &mut Watch) -> Self {
        let mut waits = Self {
            all: Vec::new(),
            routes: Vec::new(),
            synced: Vec::new(),
            namespace: namespace.to_owned(),
            labels: String::new(),
            early,
            allow_missing,
            first: None,
            timed_out: false,
            warnings: Vec::new(),
            is_warned: false,
        };
        for (want, awaited) in &wanted.0 {
            match want {
                Want::Named(target) => waits.add(target.clone(), *awaited, watch),
                Want::Labelled(kind, labels) => {
                    waits.labels.clone_from(labels);
                    let all = Interest::all(Resource::of(*kind), Some(namespace));
                    let interest = Interest { labels: labels.clone(), ..all };
                    waits.follow(interest, Route::Labelled(*kind, *awaited), watch);
                }
            }
        }
        waits
    }

    fn follow(&mut self, interest: Interest, route: Route, watch: &mut Watch) -> usize {
        let number = watch.add(interest);
        self.routes.push(route);
        self.synced.push(false);
        number
    }

    fn add(&mut self, target: Target, awaited: Awaited, watch: &mut Watch) {
        let at = self.all.len();
        let object = Interest::named(Resource::of(target.kind), Some(&self.namespace), &target.name);
        let interest = self.follow(object, Route::Object(at), watch);
        self.all.push(Waited::new(target, awaited, self.early, interest));
        self.follow_beside(at, watch);
    }

    /// Follows what else tells of it.
    fn follow_beside(&mut self, at: usize, watch: &mut Watch) {
        let Waited { target, awaited, .. } = &self.all[at];
        let (kind, name, awaited) = (target.kind, target.name.clone(), *awaited);
        if kind == TargetKind::CronJob {
            // A run carries no label of its CronJob.
            let jobs = Interest::all(Resource::Jobs, Some(&self.namespace));
            self.follow(jobs, Route::Runs(at), watch);
        }
        if kind == TargetKind::LeaderWorkerSet && awaited == Awaited::Restarted {
            let fields = format!("involvedObject.kind=LeaderWorkerSet,involvedObject.name={name}");
            let events = Interest { fields, ..Interest::all(Resource::Events, Some(&self.namespace)) };
            self.follow(events, Route::Events(at), watch);
        }
    }

    pub(super) fn at(&self, at: usize) -> &Waited {
        &self.all[at]
    }

    /// Those that are not decided.
    pub(super) fn open(&self) -> Vec<usize> {
        (0..self.all.len()).filter(|at| self.all[*at].ended.is_none()).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether all that is there was seen.
    pub(super) fn is_synced(&self) -> bool {
        self.synced.iter().all(|synced| *synced)
    }

    /// Whether there is nothing to wait for any more.
    pub(super) fn is_over(&self, any: bool) -> bool {
        if any && self.first.is_some() {
            return true;
        }
        self.is_synced() && !self.all.is_empty() && self.all.iter().all(|waited| waited.ended.is_some())
    }

    pub(super) fn time_out(&mut self) {
        self.timed_out = true;
        for waited in self.all.iter_mut().filter(|waited| waited.ended.is_none()) {
            waited.ended = Some(Ended::TimedOut);
        }
    }

    /// How all ended: with the first one alone where one is enough, else the worst: an error, a timeout, a failure.
    pub(super) fn code(&self) -> ExitCode {
        let first = self.first.filter(|_| !self.is_over(false)).map(|at| self.all[at].ended);
        let ended: Vec<Option<Ended>> = match first {
            Some(first) if !self.timed_out => vec![first],
            _ => self.all.iter().map(|waited| waited.ended).collect(),
        };
        let codes: Vec<ExitCode> = ended.into_iter().flatten().map(Ended::code).collect();
        let worst = [ExitCode::Error, ExitCode::TimedOut, ExitCode::FailuresFound];
        match worst.into_iter().find(|code| codes.contains(code)) {
            Some(code) => code,
            None if self.timed_out => ExitCode::TimedOut,
            None => ExitCode::Success,
        }
    }

    /// Where it stands, in one line.
    pub(super) fn progress(&self) -> String {
        let open = self.open();
        let told: Vec<String> =
            open.iter().map(|at| format!("{}: {}", self.all[*at].name(), self.all[*at].progress())).collect();
        match self.all.len() {
            0 => "nothing has come yet".to_owned(),
            1 => told.join(""),
            all if told.is_empty() => format!("all {all} decided"),
            all => format!("{} of {all} decided; {}", all - open.len(), told.join("; ")),
        }
    }

    /// All that is there of an interest has been told.
    pub(super) fn synced(&mut self, interest: usize) -> Vec<News> {
        self.synced[interest] = true;
        let news = match self.routes[interest] {
            Route::Object(at) => {
                let waited = &mut self.all[at];
                if waited.is_listed || waited.ended.is_some() {
                    None
                } else if waited.uid.is_some() {
                    // It was deleted, and did not only lose its labels.
                    Some(waited.gone(at))
                } else if self.allow_missing {
                    None
                } else {
                    Some(News::Missing(waited.target.clone()))
                }
            }
            Route::Events(_) => None,
            Route::Runs(at) => {
                let chosen = self.all[at].runs.as_mut().and_then(Runs::begin);
                chosen.and_then(|object| self.set(at, &object))
            }
            Route::Labelled(..) => self.none_selected(),
        };
        self.tell_holds(interest);
        self.noted(news)
    }

    /// A kind that the server does not have yet: what may be missing is waited for. Whether that is so.
    pub(super) fn not_installed(&mut self, interest: usize) -> bool {
        let is_known = match self.routes[interest] {
            Route::Object(at) | Route::Runs(at) | Route::Events(at) => self.all[at].uid.is_some(),
            Route::Labelled(..) => self.all.iter().any(|waited| waited.interest == interest),
        };
        let may_come = self.allow_missing && !is_known;
        self.synced[interest] |= may_come;
        may_come
    }

    /// Once all kinds have been listed: that nothing of any of them has the labels.
    fn none_selected(&self) -> Option<News> {
        if self.allow_missing || !self.all.is_empty() || !self.is_synced() {
            return None;
        }
        let kinds: Vec<&str> = self
            .routes
            .iter()
            .filter_map(|route| if let Route::Labelled(kind, _) = route { Some(kind.plural()) } else { None })
            .collect();
        Some(News::NoneSelected(kinds.join(", "), self.labels.clone()))
    }

    /// Says of what is waited for that it stands still: it may do so for ever.
    fn tell_holds(&mut self, interest: usize) {
        let of_interest = |waited: &&Waited| waited.interest == interest && waited.ended.is_none();
        let holds: Vec<String> = self
            .all
            .iter()
            .filter(of_interest)
            .filter_map(|waited| Some(format!("{} {}", waited.target, waited.hold()?)))
            .collect();
        self.warnings.extend(holds);
    }

    /// What is to be said to the user, once.
    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Whether another one was made under the name of one that was deleted, or that may still be seen.
    pub(super) fn may_be_made_anew(&self, at: usize) -> bool {
        self.all[at].ended == Some(Ended::Gone) && !self.all[at].made_anew
    }

    /// Takes a change; what it decides.
    pub(super) fn changed(&mut self, change: &Change, watch: &mut Watch) -> Vec<News> {
        // What cannot be read decides nothing; the next change of it may.
        let Ok(names) = Names::of(&change.object) else {
            if !std::mem::replace(&mut self.is_warned, true) {
                let resource = change.resource.name();
                self.warnings.push(format!("warning: {resource}: an object was passed over as unreadable"));
            }
            return Vec::new();
        };
        let news = match self.routes[change.interest] {
            Route::Object(at) => self.object_changed(at, change, &names),
            Route::Events(at) => {
                // What came before the wait is no news.
                let is_new = self.synced[change.interest];
                self.all[at].take_event(change, &names, is_new);
                self.judge(at)
            }
            Route::Runs(at) => self.run_changed(at, change, &names),
            Route::Labelled(kind, awaited) => self.labelled_changed(kind, awaited, change, &names, watch),
        };
        self.noted(news)
    }

    /// Which was decided first is known only once all have been seen: of those that had ended by then it is the first of
    /// the command line, whichever list was quicker.
    fn noted(&mut self, news: Option<News>) -> Vec<News> {
        if self.first.is_none() && self.is_synced() {
            let ended = (0..self.all.len()).filter(|at| self.all[*at].ended.is_some());
            self.first = ended.min_by_key(|at| (self.all[*at].interest, &self.all[*at].target.name));
        }
        news.into_iter().collect()
    }

    /// The one that was decided first.
    pub(super) fn first(&self) -> Option<usize> {
        self.first
    }

    fn object_changed(&mut self, at: usize, change: &Change, names: &Names) -> Option<News> {
        let waited = &mut self.all[at];
        waited.is_listed = true;
        let is_there = matches!(change.kind, ChangeKind::Listed | ChangeKind::Set);
        if waited.ended == Some(Ended::Gone) && is_there {
            waited.made_anew |= waited.uid.as_ref().is_some_and(|uid| *uid != names.metadata.uid);
        }
        // The end of a run is the run's own.
        if waited.ended.is_some() || waited.runs.as_ref().is_some_and(Runs::is_chosen) {
            return None;
        }
        let is_other = waited.uid.as_ref().is_some_and(|uid| *uid != names.metadata.uid);
        match change.kind {
            ChangeKind::Listed | ChangeKind::Set if is_other => {
                waited.made_anew = true;
                Some(waited.gone(at))
            }
            ChangeKind::Listed | ChangeKind::Set => {
                waited.uid = Some(names.metadata.uid.clone());
                self.set(at, &change.object)
            }
            _ if is_other || waited.uid.is_none() => None,
            ChangeKind::Deleted => self.deleted(at, &change.object),
            ChangeKind::Missed => Some(waited.gone(at)),
        }
    }

    /// Its last state may be its end: a Job that is deleted as soon as it has ended.
    fn deleted(&mut self, at: usize, last: &[u8]) -> Option<News> {
        self.all[at].is_gone = true;
        self.set(at, last).or_else(|| Some(self.all[at].gone(at)))
    }

    fn run_changed(&mut self, at: usize, change: &Change, names: &Names) -> Option<News> {
        let waited = &mut self.all[at];
        let runs = waited.runs.as_mut().filter(|_| waited.ended.is_none())?;
        let is_gone = matches!(change.kind, ChangeKind::Deleted | ChangeKind::Missed);
        if runs.is_chosen() {
            return match change.kind {
                _ if !runs.is_it(&names.metadata.uid) => None,
                ChangeKind::Missed => Some(waited.gone(at)),
                ChangeKind::Deleted => self.deleted(at, &change.object),
                ChangeKind::Listed | ChangeKind::Set => self.set(at, &change.object),
            };
        }
        if !names.is_run_of(&waited.target.name) || is_gone {
            runs.forget(&names.metadata.uid);
            return None;
        }
        runs.take(&change.object, names).then(|| self.set(at, &change.object)).flatten()
    }

    fn labelled_changed(
        &mut self,
        kind: TargetKind,
        awaited: Awaited,
        change: &Change,
        names: &Names,
        watch: &mut Watch,
    ) -> Option<News> {
        let metadata = &names.metadata;
        let is_it = |waited: &Waited| waited.target.kind == kind && waited.target.name == metadata.name;
        if let Some(at) = self.all.iter().position(is_it) {
            let waited = &self.all[at];
            if waited.interest != change.interest {
                return None;
            }
            let is_gone = matches!(change.kind, ChangeKind::Deleted | ChangeKind::Missed);
            if !is_gone || waited.ended.is_some() {
                return self.object_changed(at, change, names);
            }
            return self.unlabelled(at, change, watch);
        }
        let joins = self.allow_missing || !self.synced[change.interest];
        if !joins || matches!(change.kind, ChangeKind::Deleted | ChangeKind::Missed) {
            return None;
        }
        let target = Target { kind, name: metadata.name.clone() };
        self.all.push(Waited::new(target, awaited, self.early, change.interest));
        let at = self.all.len() - 1;
        self.follow_beside(at, watch);
        self.object_changed(at, change, names)
    }

    /// A watch by labels tells of an object that lost them as of one that is deleted: by its name it is told which it is.
    fn unlabelled(&mut self, at: usize, change: &Change, watch: &mut Watch) -> Option<News> {
        if change.kind == ChangeKind::Deleted
            && let Some(news) = self.set(at, &change.object)
        {
            return Some(news);
        }
        let Target { kind, name } = self.all[at].target.clone();
        let object = Interest::named(Resource::of(kind), Some(&self.namespace), &name);
        self.all[at].interest = self.follow(object, Route::Object(at), watch);
        self.all[at].is_listed = false;
        None
    }

    fn set(&mut self, at: usize, object: &[u8]) -> Option<News> {
        let waited = &mut self.all[at];
        waited.seen.set(object);
        if let Some(skipped) = waited.seen.take_skipped().0.first() {
            if !std::mem::replace(&mut waited.is_unreadable, true) {
                let (name, why) = (waited.name(), &skipped.why);
                self.warnings.push(format!("warning: {name} cannot be read as it is now: {why}"));
            }
            return None;
        }
        waited.is_unreadable = false;
        self.judge(at)
    }

    fn judge(&mut self, at: usize) -> Option<News> {
        let waited = &mut self.all[at];
        if waited.ended.is_some() {
            return None;
        }
        waited.ended = waited.judged();
        waited.ended.is_some().then_some(News::Decided(at))
    }
}

impl Waited {
    fn new(target: Target, awaited: Awaited, early: bool, interest: usize) -> Self {
        let runs = (target.kind == TargetKind::CronJob).then(Runs::default);
        Self {
            target,
            awaited,
            early,
            interest,
            seen: Intake::live(Filter::default()),
            uid: None,
            before: None,
            recreated: 0,
            told: HashMap::new(),
            runs,
            ended: None,
            made_anew: false,
            is_gone: false,
            is_listed: false,
            is_unreadable: false,
        }
    }

    fn gone(&mut self, at: usize) -> News {
        self.is_gone = true;
        self.ended = Some(Ended::Gone);
        News::Gone(at)
    }

    /// `job/etl`, of a `CronJob` with its run.
    pub(super) fn name(&self) -> String {
        match self.run() {
            Some(run) => format!("{run} of {}", self.target),
            None => self.target.to_string(),
        }
    }

    /// What is judged: of a `CronJob` its run, once there is one.
    pub(super) fn subject(&self) -> Target {
        self.run().unwrap_or_else(|| self.target.clone())
    }

    fn run(&self) -> Option<Target> {
        let name = self.runs.as_ref()?.name()?.to_owned();
        Some(Target { kind: TargetKind::Job, name })
    }

    /// Whether there is something to judge.
    pub(super) fn is_there(&self) -> bool {
        !self.is_gone && (self.uid.is_some() || self.run().is_some())
    }

    /// What was seen of the object itself.
    pub(super) fn snapshot(&self) -> Snapshot {
        self.seen.snapshot()
    }

    /// Whether a snapshot holds the object, and not another one of its name.
    pub(super) fn is_in(&self, snapshot: &Snapshot) -> bool {
        let uid = self.runs.as_ref().and_then(Runs::uid).or(self.uid.as_deref()).and_then(Uid::parse);
        let Target { kind, name } = self.subject();
        uid.is_some() && find(snapshot, Some(kind), &name).is_ok_and(|subject| subject.uid() == uid.as_ref())
    }

    /// Whether another reading of it comes to the same end, or to none where the time was over.
    pub(super) fn is_borne_out_by(&self, snapshot: &Snapshot) -> bool {
        let ended = self.ended.filter(|ended| *ended != Ended::TimedOut);
        self.is_in(snapshot) && self.judged_by(snapshot) == ended
    }

    fn judged(&mut self) -> Option<Ended> {
        let snapshot = self.snapshot();
        let Target { kind, name } = self.subject();
        if let Ok(subject) = find(&snapshot, Some(kind), &name) {
            // Of Events only those are counted that came since the wait began; the object may be seen later than these.
            self.before.get_or_insert_with(|| restarts(subject));
        }
        self.judged_by(&snapshot)
    }

    fn judged_by(&self, snapshot: &Snapshot) -> Option<Ended> {
        // A CronJob itself is never decided.
        if self.runs.as_ref().is_some_and(|runs| !runs.is_chosen()) {
            return None;
        }
        let Target { kind, name } = self.subject();
        let subject = find(snapshot, Some(kind), &name).ok()?;
        let by_now = self.restarts(subject);
        let restarts = self.before.unwrap_or_else(|| restarts(subject));
        let settings = Settings { awaited: self.awaited, early: self.early, restarts };
        match (judge(subject, &settings, by_now), self.awaited) {
            (Judgement::Open, _) => None,
            (Judgement::Came, _) | (Judgement::Failed, Awaited::Failed) => Some(Ended::Came),
            (Judgement::Failed, _) => Some(Ended::Failed),
            (Judgement::Otherwise(why), _) => Some(Ended::Otherwise(why)),
        }
    }

    /// How far it has got.
    pub(super) fn progress(&self) -> String {
        if !self.is_there() {
            return "it is not there yet".to_owned();
        }
        if self.runs.as_ref().is_some_and(|runs| !runs.is_chosen()) {
            return self.hold().unwrap_or("has no run now: waiting for its next one").to_owned();
        }
        let snapshot = self.snapshot();
        let Target { kind, name } = self.subject();
        let Ok(subject) = find(&snapshot, Some(kind), &name) else { return String::new() };
        progress(subject, self.restarts(subject)).to_string()
    }

    /// That nothing goes on before somebody, or a queue, lets it.
    fn hold(&self) -> Option<&'static str> {
        if !self.is_there() {
            return None;
        }
        let snapshot = self.snapshot();
        if self.runs.as_ref().is_some_and(|runs| !runs.is_chosen()) {
            let is_suspended = snapshot.cron_jobs.iter().any(|cron_job| cron_job.suspend);
            return is_suspended.then_some("is suspended: it has no run before it is resumed");
        }
        let Target { kind, name } = self.subject();
        let subject = find(&snapshot, Some(kind), &name).ok()?;
        let stands_still = progress(subject, self.restarts(subject)).stands_still;
        stands_still.then_some("is suspended or paused: nothing goes on before it is resumed")
    }

    /// How often it was begun anew: by its own counts, and by Events since the wait began.
    fn restarts(&self, subject: Subject) -> Restarts {
        let own = restarts(subject);
        Restarts { parts: own.parts.saturating_add(self.recreated), ..own }
    }

    /// Counts how often groups were made anew. An Event that is told once more counts up; that it expires means nothing.
    fn take_event(&mut self, change: &Change, names: &Names, is_new: bool) {
        let is_there = matches!(change.kind, ChangeKind::Listed | ChangeKind::Set);
        let Ok(event) = serde_json::from_slice::<EventView>(&change.object) else { return };
        if !is_there || !is_of_group_made_anew(event.reason()) {
            return;
        }
        let before = self.told.insert(names.metadata.uid.clone(), event.count()).unwrap_or_default();
        if is_new {
            self.recreated += event.count().saturating_sub(before);
        }
    }
}
