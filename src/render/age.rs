use crate::model::{Time, human_duration};

/// How long ago.
pub(super) fn age(at: Option<Time>, now: Option<Time>) -> String {
    match (at, now) {
        (Some(at), Some(now)) => human_duration(now.seconds() - at.seconds()),
        _ => "<unknown>".to_owned(),
    }
}

/// A time without the fraction of its second.
pub(super) fn whole(at: Time) -> String {
    Time::from_seconds(at.seconds()).to_string()
}

/// The day of a time.
pub(super) fn day(at: Time) -> String {
    whole(at).split_once('T').map_or_else(String::new, |(day, _)| day.to_owned())
}

/// The time of day, where all times are of the day that the data is of.
pub(super) fn clock(at: Time) -> String {
    let text = whole(at);
    text.split_once('T').map_or(text.clone(), |(_, time)| time.to_owned())
}
