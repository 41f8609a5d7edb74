//! Short words and sums, shared by all that is told.

/// The line of a message that tells most: the last one that speaks of an error in a traceback, else the first that is
/// not blank.
pub fn telling_line(message: &str) -> Option<&str> {
    let lines = || message.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines().next()?;
    if lines().nth(1).is_none() {
        return Some(first);
    }
    let speaks = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        ["error", "exception", "fatal", "panic", "failed", "killed"].iter().any(|word| lower.contains(word))
    };
    // A traceback ends with what was raised.
    let last = lines().next_back()?;
    if message.contains("Traceback (most recent call last)") && !last.starts_with("File ") {
        return lines().rev().find(speaks).or(Some(last));
    }
    lines().find(speaks).or(Some(first))
}

/// The sum from zero: that of no floats is minus zero.
pub(super) fn total(seconds: impl Iterator<Item = f64>) -> f64 {
    seconds.fold(0.0, |sum, seconds| sum + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_telling_line_is_what_was_raised() {
        for (message, line) in [
            ("", None),
            ("out of memory", Some("out of memory")),
            ("starting\nFATAL config: bad\nbye", Some("FATAL config: bad")),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 1\n    main()\nValueError: no loss",
                Some("ValueError: no loss"),
            ),
            ("\n\n one \n two", Some("one")),
        ] {
            assert_eq!(telling_line(message), line, "{message:?}");
        }
    }
}
