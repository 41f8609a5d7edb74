//! Does the steps, each recorded before and after, so that whoever runs the command again goes on where it ended.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::earlier::is_made_here;
use super::object::{condition, is_being_deleted, is_over, is_set, text, uid};
use super::plan::Action;
use crate::source::cluster::{Object, RequestError, Session};

/// Why a step was not done.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) message: String,
    /// Whether going on makes no sense any more: somebody else has changed what it was about.
    pub(super) overtaken: bool,
}

impl Failure {
    fn overtaken(message: String) -> Self {
        Self { message, overtaken: true }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Self { message: error.to_string(), overtaken: false }
    }
}

/// Between two looks: at first, and at most.
const FIRST_LOOK: Duration = Duration::from_millis(100);
const LAST_LOOK: Duration = Duration::from_secs(2);

/// Does one step, waiting at most `timeout`; what is to be told of it, where it went another way than planned. `begun`
/// says whether an earlier run has begun it.
pub(super) fn perform(
    session: &Session,
    action: &Action,
    timeout: Duration,
    begun: bool,
) -> Result<Option<String>, Failure> {
    match action {
        Action::Delete { object, uid } => delete(session, object, uid),
        Action::AwaitGone { object, uid } => wait(session, timeout, || gone(session, object, uid)).map(|()| None),
        Action::Create { object, replaces, manifest } => create(session, object, replaces.as_deref(), manifest, begun),
        Action::Patch { object, body } => Ok(session.patch(object, body, false).map(|_| None)?),
        Action::AwaitSuspended { object, uid } => {
            wait(session, timeout, || suspended(session, object, uid)).map(|()| None)
        }
        Action::AwaitReplaced { object, uid } => {
            wait(session, timeout, || replaced(session, object, uid)).map(|()| None)
        }
    }
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
    let mut pause = FIRST_LOOK;
    loop {
        let Look::NotYet(what) = look()? else { return Ok(()) };
        if began.elapsed() + pause > timeout {
            let message = format!("after {} s {what}; --timeout sets how long to wait", timeout.as_secs_f64());
            return Err(Failure { message, overtaken: false });
        }
        if session.pause(pause) {
            return Err(Failure { message: format!("interrupted while {what}"), overtaken: false });
        }
        pause = (pause * 2).min(LAST_LOOK);
    }
}

fn gone(session: &Session, object: &Object, old: &str) -> Result<Look, Failure> {
    let there = session.get(object)?.filter(|there| uid(there) == old);
    Ok(there.map_or(Look::There, |there| {
        let finalizers = super::object::array(&there, "/metadata/finalizers").iter().filter_map(Value::as_str);
        let finalizers: Vec<&str> = finalizers.collect();
        let held = if finalizers.is_empty() { String::new() } else { format!(", held by {}", finalizers.join(", ")) };
        Look::NotYet(format!("{} {} is still there{held}", object.rbac_name(), object.name))
    }))
}

fn replaced(session: &Session, object: &Object, old: &str) -> Result<Look, Failure> {
    let there = session.get(object)?.filter(|there| uid(there) != old && !is_being_deleted(there));
    let missing = || Look::NotYet(format!("no new {} {} is there", object.rbac_name(), object.name));
    Ok(there.map_or_else(missing, |_| Look::There))
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
    if condition(&job_set, &["Failed", "Completed"]).is_some() || !text(&job_set, "/status/terminalState").is_empty() {
        return Err(Failure::overtaken(format!("{named} has ended meanwhile: run it again to have it made again")));
    }
    if !is_set(&job_set, "/spec/suspend") {
        return Err(Failure::overtaken(format!("{named} was resumed by somebody else meanwhile")));
    }
    if condition(&job_set, &["Suspended"]).is_none() {
        return Ok(Look::NotYet(format!("{named} has no condition Suspended: does its controller run?")));
    }
    let pods = Object { api_version: "v1".into(), resource: "pods".into(), ..object.clone() };
    let selector = format!("jobset.sigs.k8s.io/jobset-name={}", object.name);
    let pods = session.list(&pods, &[("labelSelector", &selector)])?;
    let running: Vec<&str> = pods.iter().filter(|pod| !is_over(pod)).map(super::object::name).collect();
    match running[..] {
        [] => Ok(Look::There),
        [first, ..] => Ok(Look::NotYet(format!("{} of its pods still run, pod/{first} among them", running.len()))),
    }
}
