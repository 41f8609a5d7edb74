/// A time span as kubectl writes it: `12s`, `5m`, `3h`, `2d`; two units while the first is small: `2m30s`, `3h5m`. Rules of
/// `HumanDuration` in apimachinery's `pkg/util/duration`.
pub fn human_duration(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    let two = |big: i64, big_unit, small: i64, small_unit| match small {
        0 => format!("{big}{big_unit}"),
        small => format!("{big}{big_unit}{small}{small_unit}"),
    };
    match seconds {
        ..0 => "0s".to_owned(),
        s if s < 2 * MINUTE => format!("{s}s"),
        s if s < 10 * MINUTE => two(s / MINUTE, "m", s % MINUTE, "s"),
        s if s < 3 * HOUR => format!("{}m", s / MINUTE),
        s if s < 8 * HOUR => two(s / HOUR, "h", s % HOUR / MINUTE, "m"),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s if s < 8 * DAY => two(s / DAY, "d", s % DAY / HOUR, "h"),
        s if s < 2 * 365 * DAY => format!("{}d", s / DAY),
        s if s < 8 * 365 * DAY => two(s / (365 * DAY), "y", s % (365 * DAY) / DAY, "d"),
        s => format!("{}y", s / (365 * DAY)),
    }
}

#[cfg(test)]
mod tests {
    use super::human_duration;

    #[test]
    fn ages_are_kubectls() {
        for (seconds, text) in [
            (-5, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (150, "2m30s"),
            (600, "10m"),
            (10_799, "179m"),
            (11_100, "3h5m"),
            (90_000, "25h"),
            (200_000, "2d7h"),
            (8 * 86_400, "8d"),
            (3 * 365 * 86_400, "3y"),
        ] {
            assert_eq!(human_duration(seconds), text, "{seconds}");
        }
    }
}
