//! What may be a secret is not recorded.

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use ring::hmac;
use serde_json::Value;

use super::keep::Policy;
use crate::checkpoint::is_secret_name;

/// In the place of a secret.
pub(super) const HIDDEN: &str = "(hidden)";

/// Makes a mark of a value that is not recorded. Equal values have equal marks, so that a recording tells that something
/// changed without telling what; without the key, which is in no recording, nothing can be guessed from a mark.
pub struct Marker(hmac::Key);

/// Bytes of a key.
pub const KEY_BYTES: usize = 32;

impl Marker {
    /// With this key.
    pub fn new(key: &[u8; KEY_BYTES]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key))
    }

    /// A key that nobody knows.
    ///
    /// # Errors
    /// Where the system has no randomness to give.
    pub fn random_key() -> std::io::Result<[u8; KEY_BYTES]> {
        use ring::rand::{SecureRandom as _, SystemRandom};
        let mut key = [0; KEY_BYTES];
        SystemRandom::new().fill(&mut key).map_err(|_| std::io::Error::other("the system has no random numbers"))?;
        Ok(key)
    }

    /// The mark of a value.
    pub(super) fn mark(&self, value: &str) -> String {
        let tag = hmac::sign(&self.0, value.as_bytes());
        let mut mark = crate::model::NOT_RECORDED.to_owned();
        for byte in &tag.as_ref()[..8] {
            let _ = write!(mark, "{byte:02x}");
        }
        mark
    }
}

/// Forms that only credentials have: cloud keys, tokens of forges and model hubs, JSON web tokens, what an HTTP header
/// carries, private keys.
static SHAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
        | \b(?:hf|ghp|gho|ghs|ghu|glpat|xoxb|xoxp|npm|sk|pypi|dapi)[_-][A-Za-z0-9_-]{16,}
        | \bgithub_pat_[A-Za-z0-9_]{20,}
        | \bAIza[0-9A-Za-z_-]{35}
        | \bya29\.[0-9A-Za-z_-]{20,}
        | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?
        | \b(?i:bearer|basic)\s+[A-Za-z0-9._~+/=-]{12,}
        | -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----(?s:.*?)(?:-----END\ [A-Z\ ]*PRIVATE\ KEY-----|\z)",
    )
    .ok()
});

/// `NAME=value`, `--name=value`, `name: value`. Which of the names are secrets' is asked of each.
static ASSIGNED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?P<name>[A-Za-z][A-Za-z0-9_.-]*["']?\s*[=:]\s*)(?P<value>"[^"]*"|'[^']*'|[^\s"';&|,)}]+)"#).ok()
});

/// `--name value`. A value that begins with a dash is the next flag.
static FLAG: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?P<name>--?[A-Za-z][A-Za-z0-9_.-]*\s+)(?P<value>"[^"]*"|'[^']*'|[^\s"';&|,)}-][^\s"';&|,)}]*)"#).ok()
});

/// A user and password in an address.
static IN_ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<user>[^\s'"@/?#]*:[^\s'"?#]*)@"#).ok());

/// What follows the question mark of an address may be a signature.
static IN_QUERY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?P<name>[?&](?:[A-Za-z0-9_.-]*(?:sig|signature|token|key|secret|password|credential)[A-Za-z0-9_.-]*))=(?P<value>[^&\s]+)").ok()
});

/// A message of a controller, the kubelet or the scheduler, without what has the form of a secret.
pub(super) fn message(value: &Value, _: &Policy) -> Option<Value> {
    value.as_str().map(|text| Value::String(without_shapes(text)))
}

/// What a container said at its end: its own words, in which anything may stand.
pub(super) fn last_words(value: &Value, policy: &Policy) -> Option<Value> {
    if policy.redact && value.as_str().is_some_and(|text| !text.is_empty()) {
        return Some(HIDDEN.into());
    }
    message(value, policy)
}

/// The text without what has the form of a secret, whatever stands before it.
pub(super) fn without_shapes(text: &str) -> String {
    let mut text = text.to_owned();
    replace(&SHAPES, &mut text, |_| HIDDEN.to_owned());
    replace(&IN_ADDRESS, &mut text, |found| format!("{}://{HIDDEN}@", &found["scheme"]));
    replace(&IN_QUERY, &mut text, |found| format!("{}={HIDDEN}", &found["name"]));
    text
}

/// One word of a command line or a whole script, without the values of what is named like a secret.
pub(super) fn without_secrets(text: &str) -> String {
    let mut text = without_shapes(text);
    for pattern in [&ASSIGNED, &FLAG] {
        replace(pattern, &mut text, |found| {
            let (name, value) = (&found["name"], &found["value"]);
            let own = name.trim_end_matches(|c: char| c.is_whitespace() || "=:\"'".contains(c));
            if !names_secret(own) || is_reference(value) {
                return found[0].to_owned();
            }
            format!("{name}{HIDDEN}")
        });
    }
    text
}

fn replace(pattern: &LazyLock<Option<Regex>>, text: &mut String, with: impl Fn(&Captures) -> String) {
    let Some(pattern) = pattern.as_ref() else {
        // A pattern that does not hold is no reason to let anything through.
        HIDDEN.clone_into(text);
        return;
    };
    if let std::borrow::Cow::Owned(replaced) = pattern.replace_all(text, with) {
        *text = replaced;
    }
}

/// Whether a flag or a variable of that name holds a secret.
pub(super) fn names_secret(name: &str) -> bool {
    let name = name.trim_start_matches('-').replace(['-', '.'], "_");
    is_secret_name(&name) || is_secret_name(&split_words(&name))
}

/// `apiKey` as `api_Key`.
fn split_words(name: &str) -> String {
    let mut split = String::new();
    let mut before_is_small = false;
    for c in name.chars() {
        if before_is_small && c.is_ascii_uppercase() {
            split.push('_');
        }
        before_is_small = c.is_ascii_lowercase();
        split.push(c);
    }
    split
}

/// `$(NAME)`, `$NAME`, `${NAME}`: what it stands for is elsewhere.
pub(super) fn is_reference(value: &str) -> bool {
    let value = value.trim_matches(['"', '\'']);
    value.strip_prefix('$').is_some_and(|rest| {
        let name = rest.trim_start_matches(['(', '{']).trim_end_matches([')', '}']);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_what_is_named_like_a_secret_go_and_nothing_else() {
        for (text, is) in [
            ("--token=abc", "--token=(hidden)"),
            ("--hf-token=abc", "--hf-token=(hidden)"),
            ("--tokenizer=llama", "--tokenizer=llama"),
            ("--max-tokens=4096", "--max-tokens=4096"),
            ("--apiKey=abc", "--apiKey=(hidden)"),
            ("--token=$(HF_TOKEN)", "--token=$(HF_TOKEN)"),
            ("--save=/ckpt --password abc --lr 3e-4", "--save=/ckpt --password (hidden) --lr 3e-4"),
            ("export DB_PASSWORD='a b'; run", "export DB_PASSWORD=(hidden); run"),
            ("echo '{\"secret\": \"abc\"}'", "echo '{\"secret\": (hidden)}'"),
            ("curl -H 'Authorization: Bearer abcdefghijklmnop' x", "curl -H 'Authorization: (hidden)' x"),
            ("pip install https://me:pw@host/x", "pip install https://(hidden)@host/x"),
            ("https://a.blob/c?sig=abc&se=1", "https://a.blob/c?sig=(hidden)&se=1"),
            ("login hf_abcdefghijklmnopqrstuvwx", "login (hidden)"),
            ("AKIAABCDEFGHIJKLMNOP", "(hidden)"),
            ("gs://bucket/run", "gs://bucket/run"),
            ("s3://bucket/run@2", "s3://bucket/run@2"),
            ("$(KEY)=x", "$(KEY)=x"),
        ] {
            assert_eq!(without_secrets(text), is);
        }
    }

    #[test]
    fn equal_values_have_equal_marks_and_another_key_gives_others() {
        let (one, other) = (Marker::new(&[1; KEY_BYTES]), Marker::new(&[2; KEY_BYTES]));
        assert_eq!(one.mark("hunter2"), one.mark("hunter2"));
        assert_ne!(one.mark("hunter2"), one.mark("hunter3"));
        assert_ne!(one.mark("hunter2"), other.mark("hunter2"));
        assert!(!one.mark("hunter2").contains("hunter2"));
        assert_ne!(Marker::random_key().unwrap(), Marker::random_key().unwrap());
    }
}
