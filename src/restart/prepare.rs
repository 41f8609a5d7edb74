//! Before the first write: whether the user may send each of them, and whether the server would take it.

use std::collections::BTreeSet;

use super::names::of_same_length;
use super::object::{set, uid};
use super::plan::{Action, Step};
use crate::model::Time;
use crate::report::{RefusalReason, RestartRefusal};
use crate::source::cluster::{ClusterError, Object, RequestError, Session};

/// Asks for the rights that the steps take. All that are missing are named at once; what could not be asked is a notice.
pub(super) fn rights(session: &Session, steps: &[Step], check: &str) -> (Option<RestartRefusal>, Vec<String>) {
    let (mut asked, mut missing, mut unknown) = (BTreeSet::new(), Vec::new(), Vec::new());
    for (verb, object) in steps.iter().flat_map(|step| step.action.rights()) {
        let right = format!("{verb} {}", object.rbac_name());
        if !asked.insert((right.clone(), object.name.clone())) {
            continue;
        }
        match session.may(verb, &object) {
            Ok(true) => {}
            Ok(false) => missing.push(right),
            Err(error) => unknown.push(format!("whether you may {right} is not known: {error}")),
        }
    }
    let namespace = steps.first().map_or("", |step| &step.action.object().namespace);
    let refusal = (!missing.is_empty()).then(|| RestartRefusal {
        reason: RefusalReason::Forbidden,
        message: format!(
            "rights are missing in namespace {namespace}: {}; ask for a Role with them, such as the ClusterRole \
             kubectl-sigapps-restart",
            missing.join(", ")
        ),
        commands: vec![check.to_owned()],
    });
    (refusal, unknown)
}

/// What the server would say to a step.
pub(super) enum Verdict {
    /// Nothing is sent in this step.
    NothingSent,
    /// It would do it.
    Accepted,
    /// It would not.
    Rejected(RequestError),
}

/// Names tried for a dry run before it is given up.
const NAMES: u64 = 3;

/// Sends a step for the server to check, and to leave everything as it is.
pub(super) fn dry_run(session: &Session, action: &Action, now: Time) -> Verdict {
    let sent = match action {
        Action::Delete { object, uid } => match session.delete(object, uid, true) {
            // A restart that is gone on with may have come so far.
            Err(error) if error.code == Some(404) => Ok(()),
            sent => sent,
        },
        Action::Patch { object, body } => session.patch(object, body, true).map(|_| ()),
        Action::Create { object, replaces, manifest } => creation(session, object, replaces.as_deref(), manifest, now),
        Action::AwaitGone { .. } | Action::AwaitSuspended { .. } | Action::AwaitReplaced { .. } => {
            return Verdict::NothingSent;
        }
    };
    sent.map_or_else(Verdict::Rejected, |()| Verdict::Accepted)
}

/// While the old object is there its name is taken: another one is checked in its place.
fn creation(
    session: &Session,
    object: &Object,
    replaces: Option<&str>,
    manifest: &serde_json::Value,
    now: Time,
) -> Result<(), RequestError> {
    let there = session.get(object)?;
    match (&there, replaces) {
        (Some(there), Some(old)) if uid(there) != old => return Ok(()),
        (None, _) | (_, None) => return session.create(object, manifest, true).map(|_| ()),
        (Some(_), Some(_)) => {}
    }
    let mut attempt = 0;
    loop {
        let trial = of_same_length(&object.name, now, attempt);
        let mut manifest = manifest.clone();
        set(&mut manifest, &["metadata", "name"], trial.clone());
        match session.create(object, &manifest, true) {
            Err(error) if error.code == Some(409) && attempt + 1 < NAMES => attempt += 1,
            sent => return sent.map(|_| ()).map_err(|error| about(error, &trial, &object.name)),
        }
    }
}

/// The error in the words of the object's own name: nobody knows the one that was tried.
fn about(mut error: RequestError, trial: &str, name: &str) -> RequestError {
    if let ClusterError::Server { message, .. } = &mut error.error {
        *message = message.replace(&format!("\"{trial}\""), &format!("\"{name}\""));
    }
    error
}
