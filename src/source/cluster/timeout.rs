use std::time::Duration;

/// A timeout that cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot read the timeout {0:?}; it takes whole seconds, or a number and a unit like 500ms, 1s, 2m or 1h30m, and 0 for none"
)]
pub struct TimeoutError(String);

/// Reads a `--request-timeout` as kubectl does: whole seconds, or a Go duration.
/// Source: client-go `tools/clientcmd/helpers.go`, `ParseTimeout`; Go `time.ParseDuration`.
pub fn parse_timeout(text: &str) -> Result<Duration, TimeoutError> {
    let whole_seconds = text.parse().ok().map(Duration::from_secs);
    whole_seconds.or_else(|| go_duration(text)).ok_or_else(|| TimeoutError(text.to_owned()))
}

fn go_duration(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    let mut sum = Duration::ZERO;
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        let unit_ends = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_ends);
        let nanoseconds_a_unit = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        sum = sum.checked_add(part(number, nanoseconds_a_unit)?)?;
        rest = after;
        if rest.is_empty() {
            return Some(sum);
        }
    }
}

fn part(number: &str, nanoseconds_a_unit: u64) -> Option<Duration> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut nanoseconds = whole.checked_mul(nanoseconds_a_unit)?;
    let mut of_unit = nanoseconds_a_unit;
    for digit in fraction.bytes() {
        of_unit /= 10;
        nanoseconds = nanoseconds.checked_add(u64::from(digit.checked_sub(b'0').filter(|d| *d < 10)?) * of_unit)?;
    }
    Some(Duration::from_nanos(nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_read_as_kubectl_reads_them() {
        for (text, milliseconds) in [
            ("0", 0),
            ("0s", 0),
            ("5", 5_000),
            ("1s", 1_000),
            ("2m", 120_000),
            ("1h30m", 5_400_000),
            ("1.5s", 1_500),
            (".5s", 500),
            ("1m0.25s", 60_250),
            ("300ms", 300),
            ("+2s", 2_000),
        ] {
            assert_eq!(parse_timeout(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        assert_eq!(parse_timeout("2us"), Ok(Duration::from_micros(2)));
        assert_eq!(parse_timeout("7ns"), Ok(Duration::from_nanos(7)));
    }

    #[test]
    fn what_is_no_timeout_is_refused_with_the_forms_there_are() {
        for text in ["", "x", "-1s", "-1", "1d", "1.5", "s", ".s", "1s2", "1.2.3s", "99999999999999h"] {
            let error = parse_timeout(text).unwrap_err();
            assert!(error.to_string().contains("1h30m"), "{error}");
        }
    }
}
