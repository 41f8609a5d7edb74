//! Programs that take a secret in a short flag, or as a word of their own.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::text::{without, word_end};
use super::{HIDDEN, Pattern, is_reference};

/// A program, and where it takes a secret.
struct Program {
    names: &'static [&'static str],
    /// Its value is the next word, or the rest of the same one.
    flags: &'static [&'static str],
    /// Words behind which the next one that is no flag is a secret: `wandb login KEY`.
    behind: &'static [&'static str],
}

/// By their manuals.
const PROGRAMS: [Program; 15] = [
    Program { names: &["curl"], flags: &["-u", "-U", "-b", "--user", "--proxy-user"], behind: &[] },
    Program {
        names: &["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump", "mariadb-admin"],
        flags: &["-p"],
        behind: &[],
    },
    Program { names: &["redis-cli", "valkey-cli", "keydb-cli", "iredis"], flags: &["-a"], behind: &[] },
    Program {
        names: &["mongo", "mongosh", "mongodump", "mongorestore", "cqlsh", "rabbitmqadmin", "sshpass", "cypher-shell"],
        flags: &["-p"],
        behind: &[],
    },
    Program {
        names: &[
            "docker", "podman", "nerdctl", "buildah", "skopeo", "crane", "oras", "helm", "regctl", "oc", "twine", "7z",
            "zip",
        ],
        flags: &["-p", "-P"],
        behind: &[],
    },
    Program { names: &["unzip", "sqlcmd", "bcp", "isql"], flags: &["-P"], behind: &[] },
    Program {
        names: &["ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami", "mosquitto_pub", "mosquitto_sub"],
        flags: &["-w", "-P"],
        behind: &[],
    },
    Program { names: &["smbclient", "lftp", "ftp"], flags: &["-U", "-u"], behind: &[] },
    Program { names: &["openssl"], flags: &["-passin", "-passout", "-pass", "-k", "-K"], behind: &[] },
    Program { names: &["wandb", "vault", "comet", "neptune", "clearml", "modal"], flags: &[], behind: &["login"] },
    Program { names: &["ngrok"], flags: &[], behind: &["authtoken", "add-authtoken"] },
    Program {
        names: &["aws"],
        flags: &[],
        behind: &["aws_access_key_id", "aws_secret_access_key", "aws_session_token"],
    },
    Program { names: &["az"], flags: &["-p"], behind: &[] },
    Program {
        names: &["etcdctl", "influx", "snowsql", "ipmitool", "http", "https", "xh"],
        flags: &["--user", "-P", "-a"],
        behind: &[],
    },
    Program { names: &["kinit", "htpasswd"], flags: &[], behind: &["-b", "-bc", "-cb", "-nb", "-nbB"] },
];

/// A word that may be the name of a program of the list, where one may stand.
pub(super) static NAME: Pattern = LazyLock::new(|| {
    let names: Vec<&str> = PROGRAMS.iter().flat_map(|program| program.names.iter().copied()).collect();
    Regex::new(&format!(r#"(?:^|[\s'"`(;|&/])(?P<name>{})[\s'"]"#, names.join("|"))).ok()
});

/// Whether the word is the program's flag, and where in it its value begins: behind it, where the next word is the value.
fn value_in(flags: &[&str], word: &str) -> Option<Range<usize>> {
    let bare = word.trim_start_matches(['"', '\'']);
    let quotes = word.len() - bare.len();
    let flag = flags.iter().find(|flag| match bare.strip_prefix(**flag) {
        Some("") => true,
        // `-pSECRET`; of long flags only `--user=SECRET`.
        Some(rest) => (flag.len() == 2) || rest.starts_with('='),
        None => false,
    })?;
    let start = quotes + flag.len();
    let start = start + usize::from(word[start..].starts_with('='));
    Some(start..word.len())
}

/// What is known of the program of a command line.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// Nothing: its name is not told.
    Nothing,
    /// It is one of the list.
    Program(usize),
    /// It is another one.
    Other,
}

/// What a word means that stands in the command line of a program.
pub(super) enum Meaning {
    Plain,
    /// The next word is a secret.
    NextIsSecret,
    /// From there on it is one.
    SecretFrom(usize),
}

impl Known {
    pub(super) fn of(word: &str) -> Self {
        let name = word.rsplit('/').next().unwrap_or_default();
        match PROGRAMS.iter().position(|program| program.names.contains(&name)) {
            Some(index) => Self::Program(index),
            None => Self::Other,
        }
    }

    /// What a word of its arguments means.
    pub(super) fn meaning(self, word: &str) -> Meaning {
        let found = match self {
            Self::Program(index) => {
                let program = &PROGRAMS[index];
                if program.behind.contains(&word) {
                    return Meaning::NextIsSecret;
                }
                value_in(program.flags, word)
            }
            // `-u ME:SECRET` is many a program's, `-u FILE` as well: see `line`.
            Self::Nothing | Self::Other => value_in(&["-p", "-P"], word).filter(|_| !word.starts_with("--")),
        };
        match found {
            None => Meaning::Plain,
            Some(value) if value.is_empty() => Meaning::NextIsSecret,
            Some(value) => Meaning::SecretFrom(value.start),
        }
    }

    pub(super) fn is_program(self) -> bool {
        matches!(self, Self::Program(_))
    }
}

/// The text of a script, or of a log that repeats one, without what known programs are given as secrets.
pub(super) fn without_their_secrets(text: &str) -> String {
    let mut text = text.to_owned();
    // Each round hides one value behind each program's name; there are seldom more than two.
    for _ in 0..8 {
        let next = without(&text, &NAME, |text, range| {
            let name = NAME.as_ref()?.captures(&text[range.clone()])?.name("name")?.as_str();
            secret_of(text, range.end - 1, Known::of(name))
        });
        if next == text {
            break;
        }
        text = next;
    }
    text
}

/// The first secret among the words behind a program's name that is not hidden yet.
fn secret_of(text: &str, from: usize, program: Known) -> Option<Range<usize>> {
    let mut at = from;
    let mut next_is_secret = false;
    loop {
        let gap = text[at..].find(|c: char| !(c.is_whitespace() && c != '\n'))?;
        at += gap;
        if let Some(rest) = text[at..].strip_prefix("\\\n").or_else(|| text[at..].strip_prefix("\\\r\n")) {
            at = text.len() - rest.len();
            continue;
        }
        // The command ends there.
        if text[at..].starts_with(['\n', ';', '|', '&']) {
            return None;
        }
        let end = word_end(text, at).max(at + text[at..].chars().next().map_or(1, char::len_utf8));
        let word = &text[at..end];
        if next_is_secret && !word.starts_with('-') {
            if !is_hidden(word) {
                return Some(at..end);
            }
            next_is_secret = false;
        }
        match program.meaning(word) {
            Meaning::Plain => {}
            Meaning::NextIsSecret => next_is_secret = true,
            Meaning::SecretFrom(start) => {
                if !is_hidden(&word[start..]) {
                    return Some(at + start..end);
                }
            }
        }
        at = end;
    }
}

fn is_hidden(word: &str) -> bool {
    word.starts_with(HIDDEN) || is_reference(word)
}
