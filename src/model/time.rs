use std::fmt;
use std::num::NonZeroU64;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::Text;

/// A moment, in microseconds; Kubernetes writes seconds (`Time`) or microseconds (`MicroTime`).
///
/// Kept as microseconds since the Unix epoch with the sign turned round, which orders alike and is never zero: an
/// optional time then takes no more room than a time, and a pod has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(NonZeroU64);

const SIGN: u64 = 1 << 63;

impl Time {
    /// A moment from whole seconds since the Unix epoch.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self::from_microseconds(seconds.saturating_mul(1_000_000))
    }

    /// A moment from nanoseconds since the Unix epoch, cut to microseconds.
    pub(super) const fn from_nanoseconds(nanoseconds: i64) -> Self {
        Self::from_microseconds(nanoseconds.div_euclid(1_000))
    }

    const fn from_microseconds(microseconds: i64) -> Self {
        // Zero only for the most negative number, some 292,000 years ago.
        match NonZeroU64::new(microseconds.cast_unsigned() ^ SIGN) {
            Some(kept) => Self(kept),
            None => Self(NonZeroU64::MIN),
        }
    }

    const fn microseconds(self) -> i64 {
        (self.0.get() ^ SIGN).cast_signed()
    }

    /// Whole seconds since the Unix epoch, the fraction cut off.
    pub const fn seconds(self) -> i64 {
        self.microseconds().div_euclid(1_000_000)
    }

    /// Whether it is told more finely than in whole seconds.
    pub(super) const fn has_fraction(self) -> bool {
        self.microseconds().rem_euclid(1_000_000) != 0
    }

    /// Seconds from `earlier` to this moment; negative where `earlier` is later.
    #[allow(clippy::cast_precision_loss)] // microseconds within 285 years are exact
    pub fn since(self, earlier: Self) -> f64 {
        self.microseconds().saturating_sub(earlier.microseconds()) as f64 / 1e6
    }

    /// This moment moved by `seconds`.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self::from_microseconds(self.microseconds().saturating_add(seconds.saturating_mul(1_000_000)))
    }

    /// Reads RFC 3339. The form every Kubernetes time has, `2026-11-30T09:12:05Z`, is read without the general parser:
    /// a dump holds a dozen a pod.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_seconds_utc(text.as_bytes())
            .or_else(|| text.parse::<jiff::Timestamp>().ok().map(|t| Self::from_microseconds(t.as_microsecond())))
    }

    fn parse_seconds_utc(b: &[u8]) -> Option<Self> {
        if b.len() != 20
            || b[4] != b'-'
            || b[7] != b'-'
            || b[10] != b'T'
            || b[13] != b':'
            || b[16] != b':'
            || b[19] != b'Z'
        {
            return None;
        }
        let number = |range: std::ops::Range<usize>| {
            b[range].iter().try_fold(0_i64, |sum, c| c.is_ascii_digit().then(|| sum * 10 + i64::from(c - b'0')))
        };
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
        // Days past the month's end and leap seconds go to the general parser.
        if !(1..=12).contains(&month) || !(1..=28).contains(&day) || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        Some(Self::from_seconds(days_from_civil(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second))
    }
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar (years start in March, so that the leap day is
/// the last day of its year).
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (153 * m + 2) / 5 + day - 1 - 719_468
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.microseconds()) {
            Ok(timestamp) => timestamp.fmt(f),
            Err(_) => f.write_str("<unknown>"),
        }
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl schemars::JsonSchema for Time {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time", "description": "RFC 3339, in UTC" })
    }
}

/// For fields that hold an optional time: absent, `null`, empty and unreadable all read as `None`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaybeTime(pub(super) Option<Time>);

impl<'de> Deserialize<'de> for MaybeTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Text::deserialize(deserializer)?.some().and_then(Time::parse)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_reading_agrees_with_the_general_parser() {
        for text in [
            "1970-01-01T00:00:00Z",
            "2024-02-28T23:59:59Z",
            "2024-02-29T23:59:59Z",
            "2024-03-01T00:00:00Z",
            "2026-11-30T09:12:05Z",
            "2100-03-01T00:00:00Z",
            "1969-12-28T12:00:00Z",
        ] {
            let expected = text.parse::<jiff::Timestamp>().unwrap().as_second();
            assert_eq!(Time::parse(text).map(Time::seconds), Some(expected), "{text}");
            assert_eq!(Time::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn fractions_and_offsets_are_read_and_nonsense_is_not() {
        assert_eq!(Time::parse("2026-11-30T09:12:05.123456Z").unwrap().to_string(), "2026-11-30T09:12:05.123456Z");
        assert_eq!(Time::parse("2026-11-30T10:12:05+01:00"), Time::parse("2026-11-30T09:12:05Z"));
        for text in ["", "yesterday", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z"] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }
}
