//! Does the steps, each recorded before and after, so that whoever runs the command again goes on where it ended.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::earlier::is_made_here;
use super::held::{dependents, state};
use super::job_set::has_ended;
use super::object::{condition, is_being_deleted, is_over, is_set, uid};
use super::plan::Action;
use crate::source::cluster::{Object, RequestError, Session};

/// Why a step was not done.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) message: String,
    /// Whether going on makes no sense any more: somebody else has changed what it was about.
    pub(super) overtaken: bool,
    /// Whether another try may help: the server is away, or has too much to do.
    passing: bool,
}

impl Failure {
    /// Of a step that is left to be done.
    pub(super) fn open(message: String) -> Self {
        Self { message, overtaken: false, passing: false }
    }

    fn overtaken(message: String) -> Self {
        Self { message, overtaken: true, passing: false }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Self { message: error.to_string(), overtaken: false, passing: error.passing }
    }
}

/// Between two looks: at first, and at most.
const FIRST_LOOK: Duration = Duration::from_millis(100);
const LAST_LOOK: Duration = Duration::from_secs(2);
/// The same while the server is away.
const LAST_TRY: Duration = Duration::from_secs(10);

/// How long a step takes at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Waiting for the cluster.
    pub(super) wait: Duration,
    /// Trying a write again while the server is away. Before the first one has had an effect nothing is lost by an end.
    pub(super) write: Duration,
}

/// Does one step; what is to be told of it, where it went another way than planned. `begun` says whether an earlier run
/// has begun it.
pub(super) fn perform(
    session: &Session,
    action: &Action,
    patience: Patience,
    begun: bool,
) -> Result<Option<String>, Failure> {
    let timeout = patience.wait;
    match action {
        Action::Delete { object, uid } => delete(session, object, uid),
        Action::AwaitGone { object, uid } => wait(session, timeout, || gone(session, object, uid))
            .map(|()| None)
            .map_err(|failure| with_holders(session, object, uid, failure)),
        Action::Create { object, replaces, manifest } => {
            // A try without an answer may have arrived.
            let mut begun = begun;
            bear(session, patience.write, || {
                let created = create(session, object, replaces.as_deref(), manifest, begun);
                begun = true;
                created
            })
        }
        Action::Patch { object, body } => {
            bear(session, patience.write, || Ok(session.patch(object, body, false).map(|_| None)?))
        }
        Action::AwaitSuspended { object, uid } => {
            wait(session, timeout, || suspended(session, object, uid)).map(|()| None)
        }
        Action::AwaitReplaced { object, uid } => {
            wait(session, timeout, || replaced(session, object, uid)).map(|()| None)
        }
    }
}

/// What is still there, unless nobody waits any more or the server is away: then it is not asked more questions.
fn with_holders(session: &Session, object: &Object, old: &str, failure: Failure) -> Failure {
    if failure.passing || session.is_interrupted() {
        return failure;
    }
    Failure { message: failure.message + &dependents(session, object, old), ..failure }
}

/// Tries again while the server is away.
fn bear<T>(
    session: &Session,
    patience: Duration,
    mut attempt: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let began = Instant::now();
    let (mut pause, mut is_told) = (FIRST_LOOK, false);
    loop {
        match attempt() {
            Err(failure) if failure.passing && began.elapsed() + pause <= patience => {
                is_told = is_told || tell(session, &failure, patience);
                if session.pause(pause) {
                    return Err(failure);
                }
            }
            ended => return ended,
        }
        pause = (pause * 2).min(LAST_TRY);
    }
}

/// Once, so that whoever waits knows what for; true.
fn tell(session: &Session, failure: &Failure, patience: Duration) -> bool {
    session.say(&format!("{}; it is tried again, for at most {} s", failure.message, patience.as_secs_f64()));
    true
}

fn delete(session: &Session, object: &Object, old: &str) -> Result<Option<String>, Failure> {
    let Err(error) = session.delete(object, old, false) else { return Ok(None) };
    match error.code {
        Some(404) => Ok(Some("it was gone already".to_owned())),
        Some(409) => match session.get(object)? {
            Some(there) if uid(&there) == old => Err(error.into()),
            _ => Ok(Some("it was gone already".to_owned())),
        },
        _ => Err(error.into()),
    }
}

/// Creates the object, unless an earlier request for it has arrived, of this run or of the one before (`begun`).
fn create(
    session: &Session,
    object: &Object,
    replaces: Option<&str>,
    manifest: &Value,
    begun: bool,
) -> Result<Option<String>, Failure> {
    const TRIES: u32 = 2;
    let mut sent = begun;
    let mut attempt = 1;
    loop {
        if let Some(there) = other(session, object, replaces)? {
            return made(object, &there, sent);
        }
        let Err(error) = session.create(object, manifest, false) else { return Ok(None) };
        sent |= error.unclear;
        // Without a clear answer it may have been created, and a name may have been taken meanwhile: only a look tells.
        if attempt == TRIES || !(error.unclear || error.code == Some(409)) {
            let there = other(session, object, replaces)?;
            return there.map_or_else(|| Err(error.into()), |there| made(object, &there, sent));
        }
        attempt += 1;
    }
}

/// What has the name now, unless it is what is replaced.
fn other(session: &Session, object: &Object, replaces: Option<&str>) -> Result<Option<Value>, Failure> {
    Ok(session.get(object)?.filter(|there| replaces != Some(uid(there))))
}

/// What is there was created by a request of this restart, or by somebody else, who may want something else of it.
fn made(object: &Object, there: &Value, sent: bool) -> Result<Option<String>, Failure> {
    if sent && is_made_here(there) {
        return Ok(Some(format!("it is there already, with uid {}", uid(there))));
    }
    Err(Failure::overtaken(format!(
        "somebody else has made {} {} meanwhile, with uid {}: that one stays as it is, and nothing was created",
        object.rbac_name(),
        object.name,
        uid(there)
    )))
}

/// What a look found.
enum Look {
    /// What was waited for.
    There,
    /// What it still waits for.
    NotYet(String),
}

fn wait(session: &Session, timeout: Duration, mut look: impl FnMut() -> Result<Look, Failure>) -> Result<(), Failure> {
    let began = Instant::now();
    let (mut pause, mut is_told) = (FIRST_LOOK, false);
    loop {
        let (what, longest) = match look() {
            Ok(Look::There) => return Ok(()),
            Ok(Look::NotYet(what)) => (what, LAST_LOOK),
            // What is waited for goes on meanwhile.
            Err(failure) if failure.passing => {
                is_told = is_told || tell(session, &failure, timeout);
                (format!("it is still not known: {}", failure.message), LAST_TRY)
            }
            Err(failure) => return Err(failure),
        };
        if began.elapsed() + pause > timeout {
            let message = format!("after {} s {what}; --timeout sets how long to wait", timeout.as_secs_f64());
            return Err(Failure::open(message));
        }
        if session.pause(pause) {
            return Err(Failure::open(format!("interrupted while {what}")));
        }
        pause = (pause * 2).min(longest);
    }
}

fn gone(session: &Session, object: &Object, old: &str) -> Result<Look, Failure> {
    let there = session.get(object)?.filter(|there| uid(there) == old);
    Ok(there.map_or(Look::There, |there| {
        Look::NotYet(format!("{} {} is still there{}", object.rbac_name(), object.name, state(&there)))
    }))
}

fn replaced(session: &Session, object: &Object, old: &str) -> Result<Look, Failure> {
    let (resource, name) = (object.rbac_name(), &object.name);
    Ok(match session.get(object)? {
        Some(there) if uid(&there) != old && !is_being_deleted(&there) => Look::There,
        Some(there) if uid(&there) == old => {
            Look::NotYet(format!("the old {resource} {name} is still there{}", state(&there)))
        }
        _ => Look::NotYet(format!("no new {resource} {name} is there")),
    })
}

/// Source: JobSet `pkg/controllers/jobset_controller.go`: the condition comes when the Jobs are told to suspend, before
/// their pods have ended.
fn suspended(session: &Session, object: &Object, own: &str) -> Result<Look, Failure> {
    let named = format!("jobset/{}", object.name);
    let Some(job_set) = session.get(object)? else {
        return Err(Failure::overtaken(format!("{named} was deleted by somebody else meanwhile")));
    };
    if uid(&job_set) != own {
        return Err(Failure::overtaken(format!("{named} was deleted and made again by somebody else meanwhile")));
    }
    if has_ended(&job_set) {
        return Err(Failure::overtaken(format!("{named} has ended meanwhile: run it again to have it made again")));
    }
    if !is_set(&job_set, "/spec/suspend") {
        return Err(Failure::overtaken(format!("{named} was resumed by somebody else meanwhile")));
    }
    if condition(&job_set, &["Suspended"]).is_none() {
        return Ok(Look::NotYet(format!("{named} has no condition Suspended: does its controller run?")));
    }
    let pods = object.beside("v1", "pods");
    let selector = format!("jobset.sigs.k8s.io/jobset-name={}", object.name);
    let pods = session.list(&pods, &[("labelSelector", &selector)])?;
    let running: Vec<&str> = pods.iter().filter(|pod| !is_over(pod)).map(super::object::name).collect();
    match running[..] {
        [] => Ok(Look::There),
        [first, ..] => Ok(Look::NotYet(format!("{} of its pods still run, pod/{first} among them", running.len()))),
    }
}
