use crate::model::{Time, human_duration};

/// How long ago.
pub(super) fn age(at: Option<Time>, now: Option<Time>) -> String {
    match (at, now) {
        (Some(at), Some(now)) => human_duration(now.seconds() - at.seconds()),
        _ => "<unknown>".to_owned(),
    }
}
