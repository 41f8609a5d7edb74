//! Names for what is made anew, worked out from the old name and the time: the same run gives the same names.

use serde_json::Value;

use super::object::{array, number, text};
use crate::model::Time;

/// The longest name of a Job, as its pods' labels hold it. Source: Kubernetes `pkg/apis/batch/validation`.
const LONGEST: usize = 63;
/// As Kubernetes makes its suffixes: no vowels, so no words. Source: apimachinery `pkg/util/rand`.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX: usize = 5;

/// `NAME-SUFFIX`, the name cut where it, or a name that is made of it for what `spec` describes, would be too long.
pub(super) fn with_suffix(name: &str, spec: &Value, now: Time) -> String {
    let room = LONGEST.saturating_sub(behind_the_name(spec) + SUFFIX + 1);
    // Of a name that leaves no room for another one the server says so.
    let kept: String = name.chars().take(room.max(1)).collect();
    format!("{}-{}", kept.trim_end_matches(['-', '.']), suffix(name, now, 0))
}

/// What is put behind the name of a Job or a `JobSet` at most, for its Jobs, its pods and their hosts.
/// Source: JobSet `pkg/webhooks/jobset_webhook.go`, `ValidateCreate`.
fn behind_the_name(spec: &Value) -> usize {
    let of_jobs = array(spec, "/replicatedJobs").iter().map(|job| {
        let own = text(job, "/name").len() + 1 + last_index(number(job, "/replicas").unwrap_or(1));
        match indexes(&job["template"]["spec"]) {
            // The pods of an Indexed Job are named after it, and have a suffix as all pods have.
            Some(index) => own + index + SUFFIX + 1,
            None => own,
        }
    });
    of_jobs.chain(indexes(spec)).max().unwrap_or(0)
}

/// The hosts of an Indexed Job are called `NAME-INDEX`.
/// Source: Kubernetes `pkg/apis/batch/validation/validation.go`, `validateNameAllowsCompletions`.
fn indexes(job_spec: &Value) -> Option<usize> {
    let is_indexed = text(job_spec, "/completionMode") == "Indexed";
    number(job_spec, "/completions").filter(|_| is_indexed).map(last_index)
}

/// The length of `-INDEX` for the last of so many.
fn last_index(count: i64) -> usize {
    format!("-{}", (count - 1).max(0)).len()
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
    use serde_json::json;

    use super::*;

    #[test]
    fn new_names_are_valid_and_follow_from_the_old_one_and_the_time() {
        let now = Time::from_seconds(1_796_000_000);
        for name in ["etl", "a", &"x".repeat(63), &format!("{}-{}", "y".repeat(56), "zzzzzz")] {
            let with_suffix = |now| with_suffix(name, &Value::Null, now);
            let new = with_suffix(now);
            assert!(new.len() <= 63 && new != name, "{new}");
            assert!(!new.contains("--"), "{new}");
            assert_eq!(new, with_suffix(now));
            assert_ne!(new, with_suffix(now.plus_seconds(1)));
        }
    }

    #[test]
    fn new_names_leave_room_for_what_is_put_behind_them() {
        let now = Time::from_seconds(1_796_000_000);
        let job = |mode: &str, completions: i64| json!({"completionMode": mode, "completions": completions});
        let set = |replicas: i64, job: &Value| {
            json!({"replicatedJobs": [
                {"name": "w"}, {"name": "workers", "replicas": replicas, "template": {"spec": job}}]})
        };
        for (spec, behind) in [
            (job("Indexed", 10), "-9"),
            (job("Indexed", 100_000), "-99999"),
            (job("Indexed", 0), "-0"),
            (job("NonIndexed", 10), ""),
            (json!({"completionMode": "Indexed"}), ""),
            (set(1, &job("NonIndexed", 10)), "-workers-0"),
            (set(12, &job("Indexed", 1000)), "-workers-11-999-abcde"),
            (json!({"replicatedJobs": ["x"], "completions": "x"}), "--0"),
        ] {
            assert_eq!(behind_the_name(&spec), behind.len(), "{spec}");
            let new = with_suffix(&"a".repeat(60), &spec, now);
            assert_eq!(new.len() + behind.len(), 63, "{new}{behind}");
        }
        // There is no shorter one.
        let long = json!({"replicatedJobs": [{"name": "w".repeat(60)}]});
        assert!(with_suffix("abc", &long, now).starts_with("a-"));
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
