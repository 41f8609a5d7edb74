use crate::report::DoctorClock;
use crate::source::cluster::Exchange;

/// How far the server's clock is ahead, by all answers that tell their time. A `Date` is cut to whole seconds, and was written
/// at some time between the request and its answer. Source: RFC 9110, 6.6.1.
pub(super) fn of<'a>(exchanges: impl IntoIterator<Item = &'a Exchange>) -> Option<DoctorClock> {
    let mut bounds: Option<(i64, i64)> = None;
    for exchange in exchanges {
        let Some(date) = exchange.date.as_deref().and_then(milliseconds) else { continue };
        let took = i64::try_from(exchange.took.as_millis()).unwrap_or(i64::MAX).saturating_add(1);
        let found = (date - exchange.sent.saturating_add(took), date + 1000 - exchange.sent);
        bounds = Some(match bounds {
            // Both hold, unless a clock was set in between: then the later one does.
            Some((least, most)) if least.max(found.0) <= most.min(found.1) => (least.max(found.0), most.min(found.1)),
            _ => found,
        });
    }
    let seconds = |milliseconds: i64| std::time::Duration::from_millis(milliseconds.unsigned_abs()).as_secs_f64();
    let signed = |number: i64| if number < 0 { -seconds(number) } else { seconds(number) };
    bounds.map(|(least, most)| DoctorClock { ahead_at_least: signed(least), ahead_at_most: signed(most) })
}

/// An HTTP date: `Mon, 30 Nov 2026 09:14:31 GMT`.
fn milliseconds(date: &str) -> Option<i64> {
    Some(jiff::fmt::rfc2822::parse(date.trim()).ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// 2026-11-30T09:14:31Z
    const THEN: i64 = 1_796_030_071_000;

    fn exchange(sent: i64, took: u64, date: &str) -> Exchange {
        Exchange { sent, took: Duration::from_millis(took), date: Some(date.to_owned()) }
    }

    #[test]
    fn the_clocks_difference_is_told_as_a_bound() {
        let date = "Mon, 30 Nov 2026 09:14:31 GMT";
        let clock = |exchanges: &[Exchange]| of(exchanges).map(|clock| (clock.ahead_at_least, clock.ahead_at_most));
        // The second had half gone by, and the answer took 100 ms.
        assert_eq!(clock(&[exchange(THEN + 500, 100, date)]), Some((-0.601, 0.5)));
        // This machine is five minutes behind.
        assert_eq!(clock(&[exchange(THEN - 300_000, 99, date)]), Some((299.9, 301.0)));
        // A second answer narrows the bounds.
        assert_eq!(clock(&[exchange(THEN + 500, 100, date), exchange(THEN + 900, 20, date)]), Some((-0.601, 0.1)));
        // A clock that was set between the two.
        assert_eq!(clock(&[exchange(THEN, 9, date), exchange(THEN + 90_000, 9, date)]), Some((-90.01, -89.0)));
    }

    #[test]
    fn without_a_date_nothing_is_said_of_clocks() {
        assert_eq!(of(&[Exchange::default(), exchange(THEN, 9, "yesterday")]), None);
    }
}
