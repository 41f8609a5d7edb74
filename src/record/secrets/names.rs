//! Names that say that what follows is a secret.

use crate::checkpoint::is_secret_name;

/// Beside those that the reader of checkpoints knows.
const PARTS: [&str; 20] = [
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "COOKIE",
    "COOKIES",
    "CRED",
    "CREDS",
    "DSN",
    "JWT",
    "KEYS",
    "OTP",
    "PAT",
    "PASSWORDS",
    "PIN",
    "PSK",
    "PW",
    "PWD",
    "SIG",
    "SIGNATURE",
    "USERPWD",
];

/// Ends of names written in one word: `PGPASSWORD`, `authtoken`.
const ENDINGS: [&str; 15] = [
    "ACCESSKEY",
    "ACCOUNTKEY",
    "APIKEY",
    "APIKEYS",
    "CONNECTIONSTRING",
    "CREDENTIAL",
    "CREDENTIALS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PRIVATEKEY",
    "SECRET",
    "SECRETKEY",
    "SECRETS",
    "TOKEN",
];

/// Whether a flag, a variable, a header or a member of that name holds a secret.
pub(in crate::record) fn names_secret(name: &str) -> bool {
    let name = name.trim_start_matches('-');
    // The shell's own: where a process runs.
    if matches!(name, "PWD" | "OLDPWD") {
        return false;
    }
    let whole = name.replace(['-', '.', '/'], "_");
    is_secret(&whole) || is_secret(&split_words(&whole))
}

fn is_secret(name: &str) -> bool {
    if is_secret_name(name) {
        return true;
    }
    let upper = name.to_ascii_uppercase();
    let joined = upper.replace('_', "");
    upper.split('_').any(|part| PARTS.contains(&part) || ENDINGS.iter().any(|ending| part.ends_with(ending)))
        || ENDINGS.iter().any(|ending| joined.ends_with(ending))
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
