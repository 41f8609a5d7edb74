//! What may be a secret is not recorded.
//!
//! A secret is known by its name (`names`), by its form (`forms`), or by the place where a known program takes one
//! (`programs`). What has none of these cannot be told from any other word: that is what `--redact` is for.

mod forms;
mod line;
mod names;
mod programs;
mod text;

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use ring::hmac;
use serde_json::Value;

use super::keep::Policy;
pub(super) use forms::without_queries;
pub(super) use line::{CommandLine, redacted};
pub(super) use names::names_secret;
pub(super) use text::without_secrets;

/// In the place of a secret.
pub(super) const HIDDEN: &str = "(hidden)";

/// A pattern of this room; `None` would be a mistake in it, which a test would find.
type Pattern = LazyLock<Option<Regex>>;

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

/// Words of a command line that a runtime quotes where it cannot run it: `exec: "python3 -x": no such file`.
static QUOTED_COMMAND: Pattern = LazyLock::new(|| Regex::new(r#"(?P<name>\bexec:\s*)(?:"[^"]*"|'[^']*')"#).ok());

/// A message of a controller, the kubelet or the scheduler. It may repeat what a program said, or was given.
pub(super) fn message(value: &Value, policy: &Policy) -> Option<Value> {
    let mut text = without_secrets(value.as_str()?);
    if policy.redact {
        replace(&QUOTED_COMMAND, &mut text, |found| format!("{}{HIDDEN}", &found["name"]));
    }
    Some(text.into())
}

/// What a container said at its end: its own words, in which anything may stand.
pub(super) fn last_words(value: &Value, policy: &Policy) -> Option<Value> {
    if policy.redact && value.as_str().is_some_and(|text| !text.is_empty()) {
        return Some(HIDDEN.into());
    }
    message(value, policy)
}

fn replace(pattern: &Pattern, text: &mut String, with: impl Fn(&Captures) -> String) {
    let Some(pattern) = pattern.as_ref() else {
        // A pattern that does not hold is no reason to let anything through.
        HIDDEN.clone_into(text);
        return;
    };
    if let std::borrow::Cow::Owned(replaced) = pattern.replace_all(text, with) {
        *text = replaced;
    }
}

/// `$(NAME)`, `${NAME}`, `$NAME`: what it stands for is elsewhere. A word that only begins so may be a password.
pub(super) fn is_reference(value: &str) -> bool {
    let value = value.trim_matches(['"', '\'']);
    let Some(rest) = value.strip_prefix('$') else { return false };
    let inner = |open, close| rest.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    let name = inner('(', ')').or_else(|| inner('{', '}')).unwrap_or(rest);
    let is_bare = name.len() == rest.len();
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name
            .bytes()
            .all(|c| c == b'_' || c.is_ascii_digit() || c.is_ascii_uppercase() || (!is_bare && c.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests;
