//! Words of a command line, and the environment variables that stand in them.

use std::collections::HashMap;

use super::{Container, shown::is_secret_name};

/// Longer values are left as their reference: a path has at most 4,096 bytes.
const LONGEST_VALUE: usize = 4096;
/// All that substitution may add for one container, so that references to references stay small.
const MOST_ADDED: usize = 1 << 20;

/// Where a word stands in its container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// `command[…]`.
    Command(usize),
    /// `args[…]`.
    Args(usize),
}

/// A word as the program gets it, as far as that can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text; what cannot be replaced stays as written.
    pub(super) text: String,
    /// The byte from which on the text is not what the program gets.
    pub(super) open: Option<usize>,
    /// Where it stands.
    pub(super) at: At,
}

impl Word {
    /// An empty one.
    pub(super) fn new(at: At) -> Self {
        Self { text: String::new(), open: None, at }
    }

    /// A known one.
    pub(super) fn of(text: &str, at: At) -> Self {
        Self { text: text.to_owned(), open: None, at }
    }

    /// Appends what is not known, as it is written.
    pub(super) fn push_open(&mut self, written: &str) {
        self.open.get_or_insert(self.text.len());
        self.text.push_str(written);
    }

    /// Appends another word's text.
    pub(super) fn push_word(&mut self, other: &Self) {
        if let (None, Some(open)) = (self.open, other.open) {
            self.open = Some(self.text.len() + open);
        }
        self.text.push_str(&other.text);
    }

    /// The part behind the first `bytes`, which must end at a character.
    pub(super) fn from(&self, bytes: usize) -> Self {
        let open = self.open.map(|open| open.saturating_sub(bytes));
        Self { text: self.text[bytes..].to_owned(), open, at: self.at }
    }

    /// The part that the program gets for sure.
    pub(super) fn known(&self) -> &str {
        &self.text[..self.open.unwrap_or(self.text.len())]
    }
}

/// The variables of a container, and of a script that runs in it.
pub(super) struct Variables {
    values: HashMap<String, Option<Vec<Word>>>,
    /// Whether there are others, of which not even the names are told.
    has_others: bool,
    left: usize,
}

impl Variables {
    /// Those of `env`. A value may refer to variables before it, as the kubelet replaces them in their order
    /// (`makeEnvironmentVariables`, kubernetes `pkg/kubelet/kubelet_pods.go`); so there are no circles.
    pub(super) fn of(container: &Container) -> Self {
        let mut variables = Self { values: HashMap::new(), has_others: container.env_from, left: MOST_ADDED };
        for (name, value) in &container.env {
            let word = value.map(|value| variables.expand(value, At::Args(0)));
            variables.set(name, word.filter(|word| word.text.len() <= LONGEST_VALUE).map(|word| vec![word]));
        }
        variables
    }

    /// Sets a variable; `None` where the value is not told.
    pub(super) fn set(&mut self, name: &str, words: Option<Vec<Word>>) {
        let words = if is_secret_name(name) { None } else { words };
        self.values.insert(name.to_owned(), words);
    }

    /// Whether the variable is, or may be, set, told or not.
    pub(super) fn may_be_set(&self, name: &str) -> bool {
        self.has_others || self.values.contains_key(name)
    }

    /// The value, if it is told and there is room for it.
    pub(super) fn get(&mut self, name: &str) -> Option<Vec<Word>> {
        let words = self.values.get(name)?.as_ref()?;
        let length: usize = words.iter().map(|word| word.text.len() + 1).sum();
        self.left = self.left.checked_sub(length)?;
        Some(words.clone())
    }

    /// The text with `$(NAME)` replaced and `$$` halved, as the kubelet does; a reference to no variable stays
    /// (`Expand`, kubernetes `third_party/forked/golang/expansion/expand.go`).
    pub(super) fn expand(&mut self, text: &str, at: At) -> Word {
        let mut word = Word::new(at);
        let mut rest = text;
        while let Some(dollar) = rest.find('$') {
            word.text.push_str(&rest[..dollar]);
            rest = &rest[dollar..];
            if let Some(behind) = rest.strip_prefix("$$") {
                word.text.push('$');
                rest = behind;
                continue;
            }
            let Some(inside) = rest.strip_prefix("$(") else {
                word.text.push('$');
                rest = &rest[1..];
                continue;
            };
            let Some((name, behind)) = inside.split_once(')') else { break };
            match self.get(name).as_deref() {
                Some([value]) => word.push_word(value),
                _ => word.push_open(&rest[..name.len() + 3]),
            }
            rest = behind;
        }
        word.text.push_str(rest);
        word
    }

    /// A word of `command` or `args`, which no shell sees. Only `$(NAME)` is replaced; whether the program itself
    /// replaces `$NAME` is not known.
    pub(super) fn word(&mut self, text: &str, at: At) -> Word {
        let mut word = self.expand(text, at);
        word.open = word.text.find('$');
        word
    }
}
