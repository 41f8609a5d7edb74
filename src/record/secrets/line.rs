//! Command lines: words that a program is given as they are, without a shell.

use super::programs::{Known, Meaning};
use super::text::without_secrets;
use super::{HIDDEN, is_reference, names_secret};

/// Reads the words of one command line, `command` before `args`.
pub(in crate::record) struct CommandLine {
    program: Known,
    /// Whether the next word is a secret, whatever it looks like.
    hides_next: bool,
    /// Whether the next word may be a user's name with a password behind it.
    is_user_next: bool,
    /// Whether the next word stands behind a `-p` of a program that is not known: a password, a port or a path.
    is_perhaps_next: bool,
    /// Whether the next word is a shell's script.
    is_script_next: bool,
}

/// Programs that run another one that is named behind them.
const BEFORE_OTHERS: [&str; 9] = ["env", "sudo", "exec", "nohup", "time", "tini", "dumb-init", "timeout", "nice"];

impl CommandLine {
    pub(in crate::record) fn new() -> Self {
        Self {
            program: Known::Nothing,
            hides_next: false,
            is_user_next: false,
            is_perhaps_next: false,
            is_script_next: false,
        }
    }

    /// The first word names the program, where the line has `command`.
    pub(in crate::record) fn begins(&mut self, command: &[String]) {
        let names = command.iter().find(|word| {
            let name = word.rsplit('/').next().unwrap_or_default();
            !BEFORE_OTHERS.contains(&name) && !word.starts_with('-') && !word.contains('=')
        });
        self.program = names.map_or(Known::Nothing, |word| Known::of(word));
    }

    /// The next word, without what is a secret in it: of one that names a secret, all behind its `=` and the whole next word.
    pub(in crate::record) fn word(&mut self, word: &str) -> String {
        let hides = std::mem::take(&mut self.hides_next);
        let is_user = std::mem::take(&mut self.is_user_next);
        let is_perhaps = std::mem::take(&mut self.is_perhaps_next);
        let is_script = std::mem::take(&mut self.is_script_next);
        // A shell's `-c` is followed by what it runs.
        self.is_script_next =
            word.len() <= 5 && word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
        let is_flag = word.starts_with('-');
        let meaning = self.program.meaning(word);
        if !is_script && !word.contains(char::is_whitespace) {
            self.hides_next = is_flag && !word.contains('=') && names_secret(word);
            self.is_user_next = matches!(word, "-u" | "-U" | "--user" | "--proxy-user");
            self.hides_next |= matches!(meaning, Meaning::NextIsSecret) && self.program.is_program();
        }
        self.is_perhaps_next = !self.program.is_program() && matches!(meaning, Meaning::NextIsSecret);
        if hides || (is_user && word.contains(':') && !is_script) || (is_perhaps && !is_path(word)) {
            return if is_reference(word) { word.to_owned() } else { HIDDEN.to_owned() };
        }
        if is_script {
            return without_secrets(word);
        }
        if let Meaning::SecretFrom(start) = meaning
            && !is_reference(&word[start..])
            && (self.program.is_program() || !is_path(&word[start..]))
        {
            return format!("{}{HIDDEN}", &word[..start]);
        }
        if let Some((name, value)) = word.split_once('=')
            && !name.contains(char::is_whitespace)
            && !name.contains("://")
            && names_secret(name)
        {
            return if is_reference(value) || value.is_empty() { word.to_owned() } else { format!("{name}={HIDDEN}") };
        }
        let user = ["-u", "-U"].into_iter().find(|flag| {
            let rest = word.strip_prefix(flag).unwrap_or_default();
            rest.contains(':') && !rest.contains("://")
        });
        if let Some(flag) = user {
            return format!("{flag}{HIDDEN}");
        }
        without_secrets(word)
    }
}

/// Whether it is a path by its beginning.
fn is_path(word: &str) -> bool {
    ["/", "./", "../", "~/"].iter().any(|begins| word.starts_with(begins))
}

/// In the place of a word that is left out. To whoever looks for checkpoints it is a variable that is not told, and not a
/// folder of that name.
pub(in crate::record) const REDACTED: &str = "$(HIDDEN)";

/// A word of which no more than the name of a flag is kept: `--` and words of small letters, as flags are named and secrets
/// are not. A short flag may have its value behind it.
pub(in crate::record) fn redacted(word: &str) -> String {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    if !is_flag_name(name) {
        return REDACTED.to_owned();
    }
    if name.len() == word.len() { word.to_owned() } else { format!("{name}={REDACTED}") }
}

fn is_flag_name(name: &str) -> bool {
    let Some(name) = name.strip_prefix("--") else { return false };
    name.split(['-', '_', '.']).all(|part| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.trim_end_matches(|c: char| c.is_ascii_digit()).bytes().all(|c| c.is_ascii_lowercase())
    })
}
