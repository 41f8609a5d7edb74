//! Secrets that are known by their form, whatever stands before them.

use std::sync::LazyLock;

use regex::Regex;

use super::{HIDDEN, Pattern, replace};

/// Forms that only credentials have: cloud keys, tokens of forges and model hubs, JSON web tokens, what an HTTP header
/// carries, private keys.
pub(super) static SHAPES: Pattern = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
        | \b(?:hf|ghp|gho|ghs|ghu|ghr|glpat|gldt|xox[abeprs]|npm|sk|rk|pypi|dapi|dop_v1|nvapi|r8|wandb_v1)[_-][A-Za-z0-9_-]{16,}
        | \bgithub_pat_[A-Za-z0-9_]{20,}
        | \bAIza[0-9A-Za-z_-]{35}
        | \bya29\.[0-9A-Za-z_-]{20,}
        | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?
        | \b(?i:bearer|basic|digest)\s+[A-Za-z0-9._~+/=-]{4,}
        | -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----(?s:.*?)(?:-----END\ [A-Z\ ]*PRIVATE\ KEY-----|\z)",
    )
    .ok()
});

/// A user and password in an address. A password may hold an `@` and a slash: all up to the last `@` goes.
pub(super) static IN_ADDRESS: Pattern =
    LazyLock::new(|| Regex::new(r#"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<user>[^\s'"@/?#]*:[^\s'"?#]*)@"#).ok());

/// What follows the question mark of an address may be a signature.
pub(super) static IN_QUERY: Pattern = LazyLock::new(|| {
    Regex::new(
        r#"(?i)(?P<name>[?&][a-z0-9_.%-]*(?:sig|signature|token|key|secret|password|passwd|pwd|credential|auth|code|jwt)[a-z0-9_.%-]*)=(?P<value>[^&\s'"]+)"#,
    )
    .ok()
});

/// The whole query of an address.
pub(super) static QUERY: Pattern =
    LazyLock::new(|| Regex::new(r#"(?P<address>[A-Za-z][A-Za-z0-9+.-]*://[^\s'"?]*)\?[^\s'"?=]*=[^\s'"]*"#).ok());

/// The text without what has the form of a secret.
pub(super) fn without_forms(text: &str) -> String {
    let mut text = text.to_owned();
    replace(&SHAPES, &mut text, |_| HIDDEN.to_owned());
    replace(&IN_ADDRESS, &mut text, |found| format!("{}://{HIDDEN}@", &found["scheme"]));
    replace(&IN_QUERY, &mut text, |found| format!("{}={HIDDEN}", &found["name"]));
    text
}

/// The text without queries of addresses: where something is, is told without them.
pub(in crate::record) fn without_queries(text: &str) -> String {
    let mut text = text.to_owned();
    replace(&QUERY, &mut text, |found| format!("{}?{HIDDEN}", &found["address"]));
    text
}
