//! Names for what is made anew, worked out from the old name and the time: the same run gives the same names.

use crate::model::Time;

/// The longest name of a Job, as its pods' labels hold it. Source: Kubernetes `pkg/apis/batch/validation`.
const LONGEST: usize = 63;
/// As Kubernetes makes its suffixes: no vowels, so no words. Source: apimachinery `pkg/util/rand`.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX: usize = 5;

/// `NAME-SUFFIX`, the name cut where it would be too long.
pub(super) fn with_suffix(name: &str, now: Time) -> String {
    let kept: String = name.chars().take(LONGEST - SUFFIX - 1).collect();
    format!("{}-{}", kept.trim_end_matches(['-', '.']), suffix(name, now, 0))
}

/// Another name of the same length, for a dry run while the name itself is taken: what is checked of a name's length
/// holds for both. The first of several tries is number 0.
pub(super) fn of_same_length(name: &str, now: Time, attempt: u64) -> String {
    let suffix = suffix(name, now, attempt + 1);
    // A name begins with a letter where it is a host's, too.
    let letters: String = suffix.chars().filter(char::is_ascii_lowercase).chain("rstvw".chars()).collect();
    let count = name.chars().count().min(SUFFIX);
    let kept: String = name.chars().take(name.chars().count() - count).collect();
    format!("{kept}{}", &letters[..count])
}

/// FNV-1a over the name, the second and the number of the try.
fn suffix(name: &str, now: Time, attempt: u64) -> String {
    let seconds = now.seconds().to_le_bytes();
    let bytes = name.bytes().chain(seconds).chain(attempt.to_le_bytes());
    let mut hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let letters = LETTERS.len() as u64;
    let mut text = String::new();
    for _ in 0..SUFFIX {
        text.push(char::from(LETTERS[usize::try_from(hash % letters).unwrap_or_default()]));
        hash /= letters;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_names_are_valid_and_follow_from_the_old_one_and_the_time() {
        let now = Time::from_seconds(1_796_000_000);
        for name in ["etl", "a", &"x".repeat(63), &format!("{}-{}", "y".repeat(56), "zzzzzz")] {
            let new = with_suffix(name, now);
            assert!(new.len() <= 63 && new != name, "{new}");
            assert!(!new.contains("--"), "{new}");
            assert_eq!(new, with_suffix(name, now));
            assert_ne!(new, with_suffix(name, now.plus_seconds(1)));
        }
    }

    #[test]
    fn names_for_a_dry_run_are_as_long_as_the_name() {
        let now = Time::from_seconds(1_796_000_000);
        for name in ["a", "etl", "train-llama-70b"] {
            let other = of_same_length(name, now, 0);
            assert_eq!(other.len(), name.len(), "{other}");
            assert!(other.chars().next().unwrap().is_ascii_lowercase(), "{other}");
            assert!(other.chars().next_back().unwrap().is_ascii_lowercase(), "{other}");
        }
        assert_ne!(of_same_length("etl", now, 0), "etl");
    }
}
